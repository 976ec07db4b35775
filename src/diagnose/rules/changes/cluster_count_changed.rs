//! The number of clusters that the placement asks for was changed under a run.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::membership::is_undone_by_undoing;
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::names;
use crate::kubefleet::snapshot::PolicySnapshot;

/// Scaling a PickN placement keeps its policy snapshot and changes an annotation on it; a run is
/// bound to the number that it was computed from. Source: updaterun/validation.go:validate.
pub const RULE: Rule = Rule::error("FS203", "cluster-count-changed", One(check))
    .reads(&[
        Concept::Placement,
        Concept::PolicySnapshot,
        Concept::Binding,
    ])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let placement = cx.placement_object();
    let policy = cx.inventory.latest_policy();
    let wanted = policy.and_then(PolicySnapshot::wanted_clusters);
    let named = cx.causes().find_map(|cause| match cause {
        Cause::ClusterCountChanged { latest, recorded } => Some((*latest, *recorded)),
        _ => None,
    });
    let recorded = cx.run().and_then(|run| run.status.policy_cluster_count);
    let mut undo = None;
    let finding = if let Some((latest, recorded)) = named {
        let numbers = match (recorded, latest) {
            (Some(recorded), Some(latest)) => format!(" from {recorded} to {latest}"),
            _ => String::new(),
        };
        let since = match (wanted, latest) {
            (Some(wanted), Some(latest)) if wanted != latest => {
                format!(" (now {wanted})")
            }
            _ => String::new(),
        };
        let message = format!(
            "The number of clusters that {placement} asks for was changed{numbers}{since} while \
             the run was under way, so the run failed."
        );
        run_failure::finding(cx, rule, &placement, message)
    } else {
        let (Some(run), Some(wanted), Some(recorded), Some(policy)) =
            (run_failure::live_run(cx), wanted, recorded, policy)
        else {
            return None;
        };
        // Another policy snapshot is another matter.
        if recorded < 0
            || recorded == wanted
            || policy.index() != Some(run.status.policy_index.as_str())
        {
            return None;
        }
        if is_undone_by_undoing(cx) {
            undo = Some(format!(
                "Ask for {} again {}, if the change was a mistake.",
                count(usize::try_from(recorded).unwrap_or_default(), "cluster"),
                run_failure::in_time(cx)
            ));
        }
        let message = format!(
            "{placement} asks for {} but the run was computed for {recorded}, {}.",
            count(usize::try_from(wanted).unwrap_or_default(), "cluster"),
            run_failure::will_fail(cx)
        );
        rule.finding(&placement, message)
            .severity(Severity::Warning)
    };
    let mut finding = finding;
    let field = "status.policyObservedClusterCount";
    finding = finding.known(cx.run_object(), field, recorded);
    if let (Some(policy), Some(wanted)) = (policy, wanted) {
        let path = if policy.policy_type() == "PickN" {
            format!("metadata.annotations[{}]", names::NUMBER_OF_CLUSTERS)
        } else {
            "spec.policy.clusterNames (length)".to_owned()
        };
        finding = finding.evidence(policy.object(), path, wanted);
    }
    if let Some(undo) = undo {
        finding = finding.fix_with(undo, placement.kubectl("edit"));
    }
    let action = "Start a new run: it is computed for the current number of clusters.";
    Some(finding.next_run(cx, action))
}
