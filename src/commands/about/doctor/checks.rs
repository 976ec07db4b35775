//! The checks of `doctor`, each a function of what the hub answers.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::Resource;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::apimachinery::pkg::version::Info;

use super::{CheckResult, DoctorCheck};
use crate::commands::gather::reading::SourceReading;
use crate::commands::show::controller_logs;
use crate::hub::{ClockOffset, ExpectedAnswer, Hub, ServedVersions};
use crate::inventory::source::{HubQuery, Outcome};
use crate::kubefleet::duration::describe;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::names::AGENT_NAMESPACE;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::{Concept, Kind, Scope};
use crate::problems::members::TroubledMembers;
use crate::problems::{steps, strategy_unreadable};
use crate::render::wrap;
use crate::settings::InForce;
use crate::words::count;

/// How far two clocks may differ: an HTTP date has whole seconds, and an answer takes its time.
const SKEW: SignedDuration = SignedDuration::from_secs(5);
/// How old a lease may be whose holder renews it every few seconds.
const LEASE: SignedDuration = SignedDuration::from_secs(60);
/// After how long a run without any condition was not noticed.
const NOTICED: SignedDuration = SignedDuration::from_secs(60);

/// The lease that it holds when it is elected.
const AGENT_LEASE: &str = "136224848560.hub.fleet.azure.com";

/// Every check, in the order in which one builds on the other.
pub(super) fn all_checks(
    reading: &mut SourceReading,
    scope: &Scope,
    clock: fn() -> Timestamp,
) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    if let Some(hub) = reading.hub() {
        checks.push(reached(hub).of("hub"));
        checks.push(identity(hub).of("identity"));
        checks.push(kinds(hub.served(), scope).of("kinds"));
        let engine = other_engine(hub.served().other_engine());
        checks.extend(engine.map(|check| check.of("engine")));
        checks.push(state(hub, scope).of("states"));
        let clocks = match hub.clocks() {
            Ok(clocks) => skew(clocks, clock()),
            Err(error) => unknown(error.to_string()),
        };
        checks.push(clocks.of("clock"));
    }
    checks.push(controller(reading, scope).of("controller"));
    checks.extend(unreadable_strategy(reading, scope).map(|check| check.of("strategies")));
    if let Some(hub) = reading.hub() {
        checks.push(logs(hub).of("agent logs"));
    }
    checks.push(members(reading).of("members"));
    checks
}

pub(super) fn settings(in_force: &InForce) -> DoctorCheck {
    let Some(path) = &in_force.path else {
        return ok("no settings file is read");
    };
    let path = path.display();
    if !in_force.exists {
        return ok(format!("there is no settings file {path}"));
    }
    let settings = &in_force.settings;
    let mut says: Vec<_> = settings
        .defaults
        .iter()
        .flat_map(|defaults| {
            let command = defaults.command.as_deref();
            let command = command.map_or_else(String::new, |command| format!("{command} "));
            let options = defaults.options.iter();
            options.map(move |value| format!("{command}--{}={}", value.name, value.default))
        })
        .collect();
    let members = settings.member_contexts.len();
    if members > 0 {
        says.push(format!("contexts of {}", count(members, "member cluster")));
    }
    let groups = settings.hub_groups.iter();
    says.extend(groups.map(|(name, hubs)| format!("hub group {name}: {}", hubs.join(", "))));
    if says.is_empty() {
        says.push("nothing is set".to_owned());
    }
    ok(format!("{path}: {}", says.join("; ")))
}

fn ok(message: impl Into<String>) -> DoctorCheck {
    DoctorCheck::new(CheckResult::Ok, message)
}

fn warning(message: impl Into<String>) -> DoctorCheck {
    DoctorCheck::new(CheckResult::Warning, message)
}

fn failed(message: impl Into<String>) -> DoctorCheck {
    DoctorCheck::new(CheckResult::Failed, message)
}

fn unknown(message: impl Into<String>) -> DoctorCheck {
    DoctorCheck::new(CheckResult::Unknown, message)
}

fn reached(hub: &mut Hub) -> DoctorCheck {
    let place = match hub.context.as_str() {
        "" => hub.url().to_owned(),
        context => format!("{} (context {context})", hub.url()),
    };
    match hub.read_path::<Info>("/version", &ExpectedAnswer::Version) {
        Ok(version) => ok(format!(
            "{place} answers, Kubernetes {}",
            version.git_version
        )),
        // The API groups were read, so that it does answer.
        Err(error) => ok(format!(
            "{place} answers, but its version is unknown: {error}"
        )),
    }
}

fn identity(hub: &mut Hub) -> DoctorCheck {
    match hub.whoami() {
        Ok(Some(name)) if name == "system:anonymous" => {
            failed("you are system:anonymous: the hub did not authenticate you")
                .hint("log in, or set --user or --token")
        }
        Ok(Some(name)) => ok(format!("you are {name}")),
        Ok(None) => {
            unknown("your identity is unknown: the API server is older than Kubernetes 1.28")
        }
        Err(error) => unknown(error.to_string()),
    }
}

fn kinds(served: &ServedVersions, scope: &Scope) -> DoctorCheck {
    if served.unknown {
        return unknown("the served kinds are unknown: you may not read them");
    }
    let missing: Vec<_> = Kind::ALL
        .iter()
        .filter(|kind| served.version(**kind).is_none())
        .collect();
    let needed = [
        scope.kind(Concept::UpdateRun),
        scope.kind(Concept::Strategy),
        scope.kind(Concept::ApprovalRequest),
        scope.kind(Concept::Placement),
        scope.kind(Concept::Binding),
        Kind::MemberCluster,
    ];
    let names: Vec<_> = missing.iter().map(|kind| kind.name()).collect();
    if let Some(kind) = needed.iter().find(|kind| missing.contains(kind)) {
        return failed(format!("the hub does not serve {kind}"))
            .hint("install or upgrade KubeFleet's CRDs on the hub");
    }
    let run = scope.kind(Concept::UpdateRun);
    let version = served.version(run).unwrap_or_default();
    if missing.is_empty() {
        return ok(format!(
            "all {} are served; {run} is read at {version}",
            Kind::ALL.len()
        ));
    }
    warning(format!(
        "{run} is read at {version}; not served: {}",
        wrap::list(&names, 5)
    ))
}

/// Whether rollouts may go on that this program does not see.
fn other_engine(names: Option<String>) -> Option<DoctorCheck> {
    let names = names?;
    Some(
        warning(format!(
            "the hub also serves {names}, which this plugin version does not read"
        ))
        .hint("rollouts of those kinds are not shown; list them with kubectl get"),
    )
}

fn state(hub: &mut Hub, scope: &Scope) -> DoctorCheck {
    match hub.run_states(scope.kind(Concept::UpdateRun)) {
        Ok(states) if states.iter().any(|state| state == "Run") => {
            ok("runs can be initialized, started, stopped, and resumed")
        }
        Ok(_) => warning(
            "KubeFleet on this hub ignores spec.state: every run starts immediately and cannot be \
             stopped",
        )
        .hint("to initialize, stop, and resume runs, upgrade the hub to KubeFleet 0.2 or later"),
        Err(error) => unknown(error.to_string()),
    }
}

pub(super) fn skew(clocks: Option<ClockOffset>, ours: Timestamp) -> DoctorCheck {
    let Some(clocks) = clocks else {
        return unknown("the hub's clock is unknown: its answers have no date");
    };
    let difference = ours.duration_since(clocks.hub);
    let trip = SignedDuration::try_from(clocks.round_trip).unwrap_or(SignedDuration::ZERO);
    if difference.abs() <= SKEW + trip {
        return ok("the hub's clock and this machine's agree");
    }
    let (slow, fast) = if difference.is_positive() {
        ("the hub's", "this machine's")
    } else {
        ("this machine's", "the hub's")
    };
    warning(format!(
        "{slow} clock is {} behind {fast}; ages and times are shown by the hub's",
        describe(difference.abs())
    ))
    .hint("synchronize the clocks")
}

/// Whether the controller of update runs is alive, as far as its lease and its runs tell.
fn controller(reading: &mut SourceReading, scope: &Scope) -> DoctorCheck {
    let now = reading.now;
    let query = HubQuery::all(scope.kind(Concept::UpdateRun), scope.namespace());
    let answer = reading.ask(&query);
    let runs = answer.all::<UpdateRun>().map(AsRef::as_ref);
    if let Some(run) = runs.clone().find(|run| is_unnoticed(run, now)) {
        return failed(format!(
            "{} is {} old and has neither finalizer nor status: no controller has processed it",
            run.object(),
            describe(run.meta.created.map_or(SignedDuration::ZERO, |created| {
                now.duration_since(created)
            }))
        ))
        .hint("check that the hub agent is running with update runs enabled");
    }
    let path = format!(
        "/apis/{}/namespaces/{AGENT_NAMESPACE}/{}/{AGENT_LEASE}",
        Lease::API_VERSION,
        Lease::URL_PATH_SEGMENT
    );
    let wanted = ExpectedAnswer::Object {
        group: Lease::GROUP,
        kind: Lease::KIND,
        namespace: AGENT_NAMESPACE,
        name: AGENT_LEASE,
    };
    let lease = reading
        .hub()
        .and_then(|hub| hub.read_path(&path, &wanted).ok());
    alive(
        lease.as_ref(),
        runs.filter_map(UpdateRun::last_write).max(),
        now,
    )
}

/// The strategy that the controller cannot read, and that hides the others from it.
fn unreadable_strategy(reading: &mut SourceReading, scope: &Scope) -> Option<DoctorCheck> {
    let query = HubQuery::all(scope.kind(Concept::Strategy), "");
    let answer = reading.ask(&query);
    let problem = answer
        .all::<Strategy>()
        .find_map(|it| strategy_unreadable(it))?;
    let message = problem.message.trim_end_matches('.');
    let check = failed(message);
    Some(check.hint("give it a time in hours, minutes and seconds, such as 36h"))
}

/// Whether the controller is alive, by its lease, or else by when it last wrote a run's status.
fn alive(lease: Option<&Lease>, wrote: Option<Timestamp>, now: Timestamp) -> DoctorCheck {
    if let Some(check) = lease.and_then(|lease| held(lease, now)) {
        return check;
    }
    match wrote.filter(|wrote| now.duration_since(*wrote) < LEASE) {
        Some(wrote) => ok(format!(
            "it last wrote a run's status {} ago",
            describe(now.duration_since(wrote))
        )),
        None => unknown(
            "whether the hub agent is alive is unknown: no readable lease, and no run changed \
             within the last minute",
        ),
    }
}

/// Whether the hub agent's own lines can be read: nothing needs them, and they tell what no
/// condition does.
fn logs(hub: &mut Hub) -> DoctorCheck {
    let agents = match controller_logs::agents(hub) {
        Ok(agents) => agents,
        Err(error) => return unknown(error.to_string()),
    };
    let Some(first) = agents.first() else {
        return unknown(format!(
            "no hub agent runs in {AGENT_NAMESPACE} on this hub, so its log is not available \
             here"
        ));
    };
    let path = controller_logs::path(first, 1);
    match hub.read_text(&path) {
        Ok(_) => ok(format!(
            "{} can be read; to collect them, use collect --controller-logs",
            first.pod
        )),
        Err(error) => unknown(error.to_string()),
    }
}

/// Whether a run has been there for a while, and no controller has touched it.
pub(super) fn is_unnoticed(run: &UpdateRun, now: Timestamp) -> bool {
    !run.is_seen()
        && run.meta.deleted.is_none()
        && run
            .meta
            .created
            .is_some_and(|created| now.duration_since(created) > NOTICED)
}

pub(super) fn held(lease: &Lease, now: Timestamp) -> Option<DoctorCheck> {
    let spec = lease.spec.as_ref()?;
    let MicroTime(renewed) = *spec.renew_time.as_ref()?;
    let holder = spec.holder_identity.as_deref().unwrap_or("nobody");
    let age = now.duration_since(renewed);
    Some(if age <= LEASE {
        ok(format!("the hub agent {holder} holds its lease"))
    } else {
        failed(format!(
            "the hub agent {holder} has not renewed its lease for {}",
            describe(age)
        ))
        .hint("find out why it is not running")
        .command(steps::hub_agent())
    })
}

fn members(reading: &mut SourceReading) -> DoctorCheck {
    let now = reading.now;
    let answer = reading.ask(&HubQuery::all(Kind::MemberCluster, ""));
    let members: Vec<_> = answer.all().map(AsRef::as_ref).collect();
    if answer.outcome != Outcome::Listed {
        let gap = answer.outcome.gap().unwrap_or_default();
        return unknown(gap);
    }
    heartbeats(&members, now)
}

pub(super) fn heartbeats(clusters: &[&MemberCluster], now: Timestamp) -> DoctorCheck {
    if clusters.is_empty() {
        return warning("no cluster has joined the fleet");
    }
    let silent: Vec<_> = clusters
        .iter()
        .filter(|member| {
            !member.is_leaving() && (member.heard().is_none() || member.silent_for(now).is_some())
        })
        .map(|member| member.meta.name.as_str())
        .collect();
    let fleet = clusters.iter().copied();
    let troubled = TroubledMembers::of(fleet.clone(), fleet, now);
    if let Some(unheard) = troubled.unheard {
        let message = format!("no member agent has reported for {}", describe(unheard));
        return warning(message)
            .hint("find out whether the hub agent runs: it receives the reports")
            .command(steps::hub_agent());
    }
    let unhealthy: Vec<_> = troubled
        .unhealthy
        .iter()
        .map(|it| it.meta.name.as_str())
        .collect();
    let leaving = troubled.leaving.iter();
    let leaving = leaving.map(|it| it.meta.name.as_str()).collect();
    let all = count(clusters.len(), "member cluster");
    let troubled = [
        (leaving, "leaving the fleet"),
        (silent, "not reporting"),
        (unhealthy, "reported as unhealthy"),
    ];
    let troubled = troubled.iter().filter(|(names, _)| !names.is_empty());
    let troubled: Vec<_> = troubled
        .map(|(names, how)| format!("{} of {all} {how}: {}", names.len(), wrap::list(names, 5)))
        .collect();
    if troubled.is_empty() {
        return ok(format!("the agents of {all} are reporting"));
    }
    warning(troubled.join("; "))
        .hint(
            "an update run stalls on a member cluster that does not report, or is unhealthy, and fails on one \
             that leaves",
        )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;
    use serde_json::json;

    use super::{
        CheckResult, ClockOffset, Lease, MemberCluster, alive, heartbeats, held, other_engine, skew,
    };
    use crate::kubefleet::object::Object;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn clocks_may_differ_by_a_little() {
        let clocks = |hub: &str| {
            Some(ClockOffset {
                hub: at(hub),
                round_trip: Duration::from_millis(200),
            })
        };
        let ours = at("2026-01-09T02:00:00Z");
        for (hub, result) in [
            ("2026-01-09T02:00:00Z", CheckResult::Ok),
            ("2026-01-09T01:59:56Z", CheckResult::Ok),
            ("2026-01-09T02:00:04Z", CheckResult::Ok),
            ("2026-01-09T01:59:30Z", CheckResult::Warning),
            ("2026-01-09T02:00:30Z", CheckResult::Warning),
        ] {
            assert_eq!(skew(clocks(hub), ours).result, result, "{hub}");
        }
        assert_eq!(skew(None, ours).result, CheckResult::Unknown);
        let behind = skew(clocks("2026-01-09T01:57:30Z"), ours).message;
        let wanted = "the hub's clock is 2m30s behind";
        assert!(behind.starts_with(wanted), "{behind}");
    }

    #[test]
    fn another_engine_is_a_warning() {
        assert!(other_engine(None).is_none());
        let other = "stagedupdateruns.rollout.kubefleet.dev".to_owned();
        let check = other_engine(Some(other)).unwrap();
        assert_eq!(check.result, CheckResult::Warning);
        let why = check.message;
        assert!(why.contains("rollout.kubefleet.dev"), "{why}");
    }

    #[test]
    fn a_lease_is_held_while_it_is_renewed() {
        let read = |spec| serde_json::from_value::<Lease>(json!({"spec": spec}));
        let lease = |renewed: &str| {
            read(json!({"holderIdentity": "hub-agent-0", "renewTime": renewed})).unwrap()
        };
        let now = at("2026-01-09T02:00:00Z");
        let fresh = held(&lease("2026-01-09T01:59:50.123456Z"), now).unwrap();
        assert_eq!(fresh.result, CheckResult::Ok);
        let old = held(&lease("2026-01-09T01:50:00.000000Z"), now).unwrap();
        assert_eq!(old.result, CheckResult::Failed);
        assert!(old.message.contains("10m"), "{}", old.message);
        assert!(held(&Lease::default(), now).is_none());
        assert!(held(&read(json!({"renewTime": null})).unwrap(), now).is_none());
    }

    #[test]
    fn where_no_agent_is_heard_the_hub_agent_is_asked_about() {
        let member = |name: &str, heard: &str| {
            let agent = json!({"type": "MemberAgent", "lastReceivedHeartbeat": heard});
            Object::of_type::<MemberCluster>(&json!({
                "apiVersion": "cluster.kubernetes-fleet.io/v1beta1", "kind": "MemberCluster",
                "metadata": {"name": name}, "status": {"agentStatus": [agent]},
            }))
        };
        let now = at("2026-01-09T02:00:00Z");
        let silent = member("a", "2026-01-09T01:40:00Z");
        let (late, fresh) = [("2026-01-09T01:40:09Z"), ("2026-01-09T01:59:50Z")]
            .map(|heard| member("b", heard))
            .into();
        let of = |other: &MemberCluster| heartbeats(&[&silent, other], now);
        assert_eq!(of(&late).message, "no member agent has reported for 19m51s");
        let one = "1 of 2 member clusters not reporting: a";
        assert_eq!(of(&fresh).message, one);
        assert_eq!(heartbeats(&[&fresh], now).result, CheckResult::Ok);
        let mut leaving = MemberCluster::clone(&fresh);
        leaving.meta.deleted = Some(now);
        let one = "1 of 2 member clusters leaving the fleet: b";
        assert_eq!(heartbeats(&[&leaving, &fresh], now).message, one);
    }

    #[test]
    fn a_lease_that_cannot_be_read_leaves_what_the_runs_tell() {
        let now = at("2026-01-09T02:00:00Z");
        assert_eq!(alive(None, None, now).result, CheckResult::Unknown);
        let wrote = Some(at("2026-01-09T01:59:30Z"));
        assert_eq!(alive(None, wrote, now).result, CheckResult::Ok);
        let long_ago = Some(at("2026-01-09T01:58:00Z"));
        assert_eq!(alive(None, long_ago, now).result, CheckResult::Unknown);
    }
}
