//! A workload was applied and does not become available.

use crate::diagnose::rules::prelude::*;
use jiff::{SignedDuration, Timestamp};

use crate::diagnose::subjects::affected::{AffectedObject, has_pods};
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::gate::halt_meanwhile;
use crate::diagnose::subjects::member_findings;
use crate::diagnose::subjects::sent::SentManifest;
use crate::kubefleet::duration;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::messages::ManifestProblem;
use crate::member::PodHold;
use crate::problems::members::all_silent_since;
use crate::report::CausedBy;
use crate::rollout::{ManifestTrouble, STUCK_AFTER};
use crate::words::CommandLine;

/// `ManifestNotAvailableYet` on anything but a Service, whose wait has another reason
/// (FS523), and an availability that could not be tracked.
/// Source: workapplier/availability_tracker.go.
pub const RULE: Rule = Rule::on_object("FS501", "workload-not-available", check)
    .caused_by(&member_findings::WHY_NOT_AVAILABLE)
    .content();

/// How long it is no news that a workload is not available yet.
const EARLY: SignedDuration = SignedDuration::from_secs(60);

fn check(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    let state = match affected.manifest.problem {
        ManifestProblem::NotAvailableYet => "has not become available",
        _ => "its availability could not be determined",
    };
    finding.message = format!(
        "{} was applied, but {state} on {}{}.",
        affected.object(),
        affected.clusters(),
        affected.lasting()
    );
    let is_early = |on: &&FailingCluster<'_>| on.lasting.is_some_and(|it| it < EARLY);
    let is_early = affected.on.iter().all(is_early);
    let was_done = affected.on.iter().all(|failing| failing.was_done);
    if was_done {
        finding.message = format!(
            "{} has been unavailable on {}{}, although {} was done there.",
            affected.object(),
            affected.clusters(),
            affected.lasting(),
            affected.cx.run_object().name
        );
    }
    if let Some(newest) = unheard_since(affected) {
        finding.add_sentence(&format!(
            "No member agent has been heard since {newest}: it may have become available."
        ));
        finding.root_cause = false;
        finding.caused_by.push(CausedBy {
            code: "FS516".to_owned(),
            subject: Subject::from(affected.cx.run_object()),
        });
        return finding
            .severity(Severity::Warning)
            .look("Resolve FS516 first: until then its state is unknown.");
    }
    if was_done && is_early {
        finding.root_cause = false;
        return finding
            .severity(Severity::Info)
            .look("Wait a minute: it may become available again.");
    }
    if was_done {
        finding = halt_meanwhile(affected.cx, finding);
    }
    let own = OwnWait::of(affected);
    if let Some((OwnWait::Held(held), sent)) = &own {
        return held_back(affected, *held, sent, finding);
    }
    if affected.runs_elsewhere() {
        finding.fault = Some(FaultOrigin::Environment);
    }
    if let Some(deadline) = fresh(affected) {
        finding.message = format!(
            "{} was applied, but {state} on {}{}; it counts as stuck from {deadline}.",
            affected.object(),
            affected.clusters(),
            affected.lasting(),
        );
        if is_early {
            finding = finding.severity(Severity::Info);
        }
        return goes_on_by_itself(affected.cx, finding);
    }
    let mut list = format!(
        "List the pods and events on {}: they show what blocks it.",
        affected.cluster()
    );
    if let Some((
        OwnWait::Until {
            field,
            seconds,
            until,
        },
        sent,
    )) = &own
    {
        finding = finding.evidence(sent.work.object(), sent.path(field), *seconds);
        let takes = if *field == MIN_READY {
            format!("has each pod be ready for {}", seconds_of(*seconds))
        } else {
            format!("allows {} without progress", seconds_of(*seconds))
        };
        finding.add_sentence(&format!(
            "Its manifest {takes} ({field}), which ends at {until} at the earliest."
        ));
        list = format!("Wait until {until}, if the pods and events show no error.");
    }
    let clusters: Vec<_> = affected.on.iter().map(|on| on.cluster).collect();
    let subject = finding.subject.clone();
    finding = member_findings::statuses(affected.cx, &subject, &clusters, finding);
    finding = without_nodes(affected, finding);
    let (causes, fields) = if has_pods(affected.manifest.kind) {
        finding = finding.look_with(
            list,
            affected
                .on_member("get")
                .namespace(affected.manifest.namespace)
                .arg("pods,events"),
        );
        (
            ": nodes, quota, pull secret, or a dependency",
            " (image, probes, requests)",
        )
    } else {
        let action = format!(
            "Inspect the {} on {}: its conditions and events show what is missing.",
            affected.manifest.kind,
            affected.cluster()
        );
        finding = finding.look_with(action, affected.kubectl("describe"));
        ("", "")
    };
    finding = member_findings::invite(affected.cx, &clusters, finding);
    finding
        .fix(format!(
            "Fix the cause on the member, if it is there{causes}."
        ))
        .then_continues(affected.cx)
        .roll_out(
            affected.cx,
            &format!("Or fix {} on the hub{fields}", affected.on_hub()),
        )
}

/// Where members have no nodes, no pod can start.
fn without_nodes(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    let members = affected.on.iter().filter_map(|failing| failing.member);
    let members: Vec<_> = members
        .filter(|member| has_pods(affected.manifest.kind) && member.nodes() == Some("0"))
        .collect();
    for member in members.iter().take(3) {
        let path = "status.properties[kubernetes-fleet.io/node-count].value";
        finding = finding.evidence(member.object(), path, "0");
    }
    if members.len() == affected.on.len() {
        finding.fault = Some(FaultOrigin::Environment);
    }
    if let Some(member) = members.first() {
        let names = members.iter().map(|it| it.meta.name.as_str());
        let (names, report) = match members.as_slice() {
            [one] => (one.meta.name.clone(), "reports"),
            _ => (enumerate(names), "report"),
        };
        finding.add_sentence(&format!(
            "{names} {report} no nodes: pods start once nodes have joined."
        ));
        finding = finding.look_with(
            "Check whether nodes have joined.",
            CommandLine::member(member.meta.name.as_str(), "get").arg("nodes"),
        );
    }
    finding
}

/// When the hub heard from a member agent last, where it heard from none since the object began to be
/// unavailable, or soon after.
fn unheard_since(affected: &AffectedObject<'_, '_>) -> Option<Timestamp> {
    const SOON: SignedDuration = SignedDuration::from_secs(60);
    let inventory = affected.cx.inventory;
    let newest = all_silent_since(inventory.members.iter(), affected.cx.now())?;
    let is_new = |on: &&FailingCluster<'_>| {
        let since = on.trouble.condition.since;
        on.blocking && since.is_some_and(|since| newest.duration_since(since) < SOON)
    };
    affected.on.iter().all(is_new).then_some(newest)
}

/// What a manifest itself says of how long it takes.
#[derive(Clone, Copy, PartialEq)]
enum OwnWait {
    /// It keeps its pods from being replaced.
    Held(PodHold),
    /// It cannot be available, or has not failed, before then.
    Until {
        field: &'static str,
        seconds: i64,
        until: Timestamp,
    },
}

const MIN_READY: &str = "spec.minReadySeconds";
const DEADLINE: &str = "spec.progressDeadlineSeconds";

impl OwnWait {
    /// What delays the object on all clusters alike, with the manifest of the first.
    fn of<'i>(affected: &AffectedObject<'_, 'i>) -> Option<(Self, SentManifest<'i>)> {
        let mut all = affected.all.iter().map(|(failing, manifest)| {
            let sent = SentManifest::of(affected.cx, failing, manifest)?;
            Some((Self::on(affected.cx, failing, manifest, &sent)?, sent))
        });
        let first = all.next()??;
        let same = |it: Option<(Self, SentManifest<'_>)>| match (it.map(|it| it.0), first.0) {
            (Some(Self::Held(one)), Self::Held(other)) => one == other,
            (Some(Self::Until { .. }), Self::Until { .. }) => true,
            _ => false,
        };
        all.all(same).then_some(first)
    }

    fn on(
        cx: &DiagnosisContext<'_>,
        failing: &FailingCluster<'_>,
        manifest: &ManifestTrouble<'_>,
        sent: &SentManifest<'_>,
    ) -> Option<Self> {
        let (settings, kind) = (sent.settings()?, manifest.kind);
        if let Some(held) = sent.pod_hold(cx, failing) {
            return Some(Self::Held(held));
        }
        // What was unavailable before says nothing of when its pods began.
        let began = failing.since?;
        let before = manifest.condition.since.is_some_and(|since| since < began);
        if before || !has_pods(kind) {
            return None;
        }
        let later = |field, seconds: Option<i64>| {
            let seconds = seconds?;
            let until = began.checked_add(SignedDuration::from_secs(seconds)).ok()?;
            (until > cx.now()).then_some(Self::Until {
                field,
                seconds,
                until,
            })
        };
        // Of a Deployment that has been complete, it says nothing.
        // Source: pkg/controller/deployment/util/deployment_util.go:DeploymentTimedOut of Kubernetes.
        let counts = kind == "Deployment" && !failing.was_done;
        let deadline = settings.deadline.filter(|_| counts);
        let deadline = deadline.filter(|it| *it > STUCK_AFTER.as_secs());
        later(MIN_READY, settings.min_ready).or_else(|| later(DEADLINE, deadline))
    }
}

fn seconds_of(seconds: i64) -> String {
    duration::describe(SignedDuration::from_secs(seconds))
}

/// The content itself keeps the pods from being replaced: no look at a cluster tells more.
fn held_back(
    affected: &AffectedObject<'_, '_>,
    held: PodHold,
    sent: &SentManifest<'_>,
    mut finding: Finding,
) -> Finding {
    finding.add_sentence(&format!("In its manifest, {}.", held.why()));
    let (field, on_hub) = (held.field(), affected.on_hub());
    let finding = finding
        .evidence(sent.work.object(), sent.path(field), held.value())
        .roll_out(
            affected.cx,
            &format!("Change {field} of {on_hub} on the hub"),
        );
    if held != PodHold::OnDelete {
        return finding;
    }
    finding.disrupt(format!(
        "Or delete the old pods on {} one by one: each replacement has the new template.",
        affected.clusters()
    ))
}

/// When the first of the clusters of a run counts as stuck, where all have had less time than that and nobody
/// has looked into them: then it is early to look for a reason.
fn fresh(affected: &AffectedObject<'_, '_>) -> Option<Timestamp> {
    let looks = &affected.cx.inventory.looks;
    affected.cx.run()?;
    let is_fresh = |on: &&FailingCluster<'_>| {
        let has_nodes = on.member.and_then(MemberCluster::nodes) != Some("0");
        // Content that was there before may have failed for long.
        let before = on.trouble.condition.since;
        let is_old = |since| affected.cx.now().duration_since(since) > STUCK_AFTER;
        !before.is_some_and(is_old)
            && on.blocking
            && !on.is_overdue()
            && has_nodes
            && !looks.contains_key(on.cluster)
    };
    let fresh: Vec<_> = affected.on.iter().copied().filter(is_fresh).collect();
    if fresh.len() < affected.on.len() {
        return None;
    }
    let first = fresh.iter().filter_map(|on| on.since).min()?;
    first.checked_add(STUCK_AFTER).ok()
}

fn goes_on_by_itself(cx: &DiagnosisContext<'_>, finding: Finding) -> Finding {
    let name = &cx.run_object().name;
    let action = "Wait: workloads take minutes to start.";
    finding.look_with(action, cx.command("status").arg(name))
}
