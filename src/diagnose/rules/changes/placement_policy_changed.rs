//! The scheduling policy was changed under a run.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::snapshot::PolicySnapshot;

/// Every change of the policy makes a policy snapshot with the next index, and a run is bound to
/// the one that it was computed from. Source: updaterun/validation.go:validate.
pub const RULE: Rule = Rule::error("FS202", "placement-policy-changed", One(check))
    .reads(&[Concept::Placement, Concept::PolicySnapshot])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let placement = cx.placement_object();
    let run = cx.run()?;
    let recorded = run.status.policy_index.as_str();
    let latest = cx.inventory.latest_policy();
    let now = latest.and_then(PolicySnapshot::index);
    let changed = now.is_some_and(|now| !recorded.is_empty() && now != recorded);
    let named = cx.causes().find_map(|cause| match cause {
        Cause::PolicyIndexChanged { latest, recorded } => Some((latest, recorded)),
        _ => None,
    });
    // Which of the two texts a run ends with is a race between scheduler and controller.
    let unscheduled = changed
        && cx
            .causes()
            .any(|cause| matches!(cause, Cause::PolicyNotScheduled { .. }));
    let told = match (named, now) {
        (Some((latest, recorded)), Some(now)) if now != latest => {
            Some((recorded.as_str(), format!("was {latest} (now {now})")))
        }
        (Some((latest, recorded)), _) => Some((recorded.as_str(), format!("was {latest}"))),
        (None, now) => unscheduled.then(|| (recorded, format!("is {}", now.unwrap_or_default()))),
    };
    let finding = if let Some((recorded, latest)) = told {
        let message = format!(
            "The scheduling policy of {placement} was changed while the run was under way. The \
             run uses policy snapshot {recorded}; the latest {latest}."
        );
        run_failure::finding(cx, rule, &placement, message)
    } else if changed && run_failure::live_run(cx).is_some() {
        let message = format!(
            "The scheduling policy of {placement} was changed after the run was initialized \
             (policy snapshot {recorded}, now {}), {}.",
            now.unwrap_or_default(),
            run_failure::will_fail(cx)
        );
        rule.finding(&placement, message)
            .severity(Severity::Warning)
    } else {
        return None;
    };
    Some(with_details(cx, finding, latest, recorded))
}

fn with_details(
    cx: &DiagnosisContext<'_>,
    finding: Finding,
    latest: Option<&PolicySnapshot>,
    recorded: &str,
) -> Finding {
    let mut finding = finding.evidence(cx.run_object(), "status.policySnapshotIndexUsed", recorded);
    if let Some(latest) = latest {
        let path = "metadata.labels[kubernetes-fleet.io/policy-index]";
        finding = finding.evidence(latest.object(), path, latest.index());
    }
    let action = "Start a new run: it uses the current policy and clusters.";
    finding.next_run(cx, action)
}
