//! The namespace of objects does not exist on a member cluster, or is being deleted there.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::affected::AffectedObject;
use crate::diagnose::subjects::objects::per_subject;
use crate::diagnose::subjects::sent::{self, SentManifest};
use crate::kubefleet::Kind;
use crate::kubefleet::messages::ManifestProblem;
use crate::problems::{SCOPE_VERSION, namespace_undelivered_ahead, with_delivery_steps};
use crate::rollout::{DeliveryProgress, ManifestTrouble, NamespaceDelivery};
use crate::words::CommandLine;

/// A placement in a namespace does not bring the namespace: it has to be on the member already.
/// Source: workapplier/apply.go:createManifestObject; seen on a real hub.
pub const RULE: Rule = Rule::on_member("FS503", "namespace-missing-on-member", check).content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let met = per_subject(cx, rule, namespace, describe);
    found_or(met, || to_come(cx, rule))
}

/// The same of clusters that a live run has still to reach, as far as that shows.
fn to_come(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref().filter(|rollout| rollout.is_live())?;
    let problem = namespace_undelivered_ahead(rollout)?;
    Some(rule.told(problem).severity(Severity::Warning))
}

fn namespace(manifest: &ManifestTrouble<'_>) -> Option<Subject> {
    let name = match &manifest.problem {
        ManifestProblem::NamespaceNotFound { namespace } => Some(namespace.as_str()),
        ManifestProblem::NamespaceTerminating { namespace } => namespace.as_deref(),
        _ => return None,
    };
    let name = name.unwrap_or(manifest.namespace);
    Some(Subject::new("Namespace", "", name))
}

fn describe(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    let namespace = finding.subject.name.clone();
    let clusters = affected.clusters();
    let is_missing = |manifest: &ManifestTrouble<'_>| {
        matches!(manifest.problem, ManifestProblem::NamespaceNotFound { .. })
    };
    let all = affected.all.iter();
    let mut all = all.map(|(_, manifest)| is_missing(manifest));
    let all_missing = all.clone().all(|it| it);
    let state = match (all.any(|it| it), all_missing) {
        (_, true) => "does not exist",
        (true, false) => "does not exist or is being deleted",
        (false, false) => "is being deleted",
    };
    finding.message = format!(
        "The namespace {namespace} {state} on {clusters}, so {} could not be applied there.",
        affected.objects()
    );
    for member in affected
        .on
        .iter()
        .filter_map(|failing| failing.member)
        .take(3)
    {
        // Only agents that collect namespaces report any.
        if !member.status.namespaces.is_empty()
            && !member.status.namespaces.contains_key(&namespace)
        {
            let path = format!("status.namespaces[{namespace}]");
            finding = finding.evidence(member.object(), path, ABSENT);
        }
    }
    // No other version of the content gets into a namespace that goes, or that it never brings.
    let namespaced = affected.cx.inventory.scope.namespace();
    if !all_missing || namespaced == namespace {
        finding = finding.fault(FaultOrigin::Environment);
    }
    if all_missing {
        if let Some(finding) = brought(affected, &namespace, finding.clone()) {
            return finding;
        }
    } else {
        finding = finding.look_with(
            format!(
                "Check what delays its deletion on {}: its status names the remaining objects and \
                 finalizers.",
                affected.cluster()
            ),
            affected
                .on_member("get")
                .arg("namespace")
                .arg(&namespace)
                .flag("-o", "yaml"),
        );
        let is_own = |sent: SentManifest<'_>| sent.manifest.is_namespace(&namespace);
        let mut on = affected.on.iter();
        if on.all(|failing| SentManifest::all(affected.cx, failing).any(is_own)) {
            return finding.look(
                "Then wait: the content has the namespace itself, and the agent creates it again.",
            );
        }
    }
    let on = affected.one_by_one();
    let mut create = if all_missing {
        format!("Create the namespace on {on}.")
    } else {
        format!("Create the namespace on {on}, once the old one is gone.")
    };
    if namespaced == namespace {
        create = create.replacen("Create", "Or create", 1);
        let (steps, is_awaited) = placed(affected, finding, &namespace);
        if is_awaited {
            return steps;
        }
        finding = steps;
    } else if all_missing {
        let trace = CommandLine::fleet("trace").arg(format!("namespace/{namespace}"));
        finding = finding.look_with(
            "Check whether another placement brings the namespace there, and where that stands.",
            trace.flag("--member", affected.on.first().map_or("", |it| it.cluster)),
        );
        create = format!("Create the namespace on {on}, if none does.");
    }
    finding
        .fix_with(
            create,
            affected
                .on_member("create")
                .arg("namespace")
                .arg(&namespace),
        )
        .then_continues(affected.cx)
}

/// The steps to where cluster placements bring the namespace, which a placement in it does not; and whether it came to
/// all of the clusters since it was missed there.
fn placed(
    affected: &AffectedObject<'_, '_>,
    mut finding: Finding,
    namespace: &str,
) -> (Finding, bool) {
    let clusters = affected.clusters();
    let kind = Kind::ClusterResourcePlacement;
    if let Some(delivery) = NamespaceDelivery::of(affected.cx.inventory)
        && !delivery.placements().is_empty()
    {
        let on = affected.on.iter().map(|it| it.cluster);
        let brought = |it: &&str| delivery.state(it).progress == DeliveryProgress::Applied;
        let (gone, never): (Vec<_>, Vec<_>) = on.partition(brought);
        let carrier = gone.first().and_then(|it| delivery.state(it).carrier);
        let mut is_awaited = never.is_empty();
        if let Some(carrier) = carrier {
            let name = &carrier.meta.name;
            // What failed before it came has most often only not been tried again.
            let came_later = |it: &&str| {
                let on = affected.all.iter().filter(|(on, _)| on.cluster == *it);
                delivery.applied_since(it) > on.filter_map(|(_, it)| it.condition.since).max()
            };
            let (came, gone): (Vec<_>, Vec<_>) = gone.into_iter().partition(came_later);
            is_awaited &= gone.is_empty();
            if !gone.is_empty() {
                let gone = enumerate(&gone);
                finding.add_sentence(&format!(
                    "{name} has delivered it to {gone}, so it was deleted there since."
                ));
            }
            if !came.is_empty() {
                let came = enumerate(&came);
                finding.add_sentence(&format!(
                    "{name} has delivered it to {came} since; the agent has not reported a new try."
                ));
            }
            finding = finding.look(
                "Wait: the member agents try again within 15 minutes, first the namespace, then what is in it.",
            );
        }
        let tail = "; the agent tries again within 15 minutes.";
        let finding = with_delivery_steps(finding, delivery, &never, tail);
        return (finding, is_awaited);
    }
    let action = format!(
        "Check whether a {kind} places the namespace on {clusters}; one with the rollout strategy \
         External needs an update run for that. Once it is there, the agent tries again within 15 \
         minutes."
    );
    let finding = finding.look_with(action, CommandLine::kubectl("get").arg(kind.for_kubectl()));
    let fixed = finding.fix(format!(
        "Let a {kind} select the Namespace {namespace} with `selectionScope: NamespaceOnly`, if none \
         does: a ResourcePlacement does not place its namespace. {SCOPE_VERSION}"
    ));
    (fixed, false)
}

/// Where the same content brings the namespace, or somebody has created it since: nobody has to.
fn brought(
    affected: &AffectedObject<'_, '_>,
    namespace: &str,
    mut finding: Finding,
) -> Option<Finding> {
    let is_it = |manifest: &ManifestTrouble<'_>| manifest.identity().is_namespace(namespace);
    if let Some(causes) = sent::refused(&affected.on, is_it) {
        return Some(sent::caused_by(finding, causes));
    }
    let mut is_sent = false;
    for failing in &affected.on {
        let member = failing.member;
        let is_there = member.filter(|it| it.status.namespaces.contains_key(namespace));
        let sent = SentManifest::all(affected.cx, failing)
            .find(|sent| sent.manifest.is_namespace(namespace) && sent.is_applied());
        finding = match (sent, is_there) {
            (Some(sent), _) => {
                is_sent = true;
                finding.evidence(sent.work.object(), sent.path("metadata.name"), namespace)
            }
            (None, Some(member)) => {
                let path = format!("status.namespaces[{namespace}]");
                finding.known(
                    member.object(),
                    path,
                    member.status.namespaces.get(namespace),
                )
            }
            (None, None) => return None,
        };
    }
    let state = if is_sent {
        "The content has the namespace itself, and the agent reports it as applied."
    } else {
        "The namespace exists now; the agent has not tried again yet."
    };
    finding.add_sentence(state);
    Some(finding.look_with(
        "Wait: the member agent tries again within 15 minutes.",
        affected.on_member("get").arg("namespace").arg(namespace),
    ))
}
