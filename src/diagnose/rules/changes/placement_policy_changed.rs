//! The scheduling policy was changed under a run.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::kubefleet::messages::Cause;
use crate::kubefleet::snapshot::PolicySnapshot;

/// Every change of the policy makes a policy snapshot with the next index, and a run is bound to
/// the one that it was computed from. Source: updaterun/validation.go:validate.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS202",
    name: "placement-policy-changed",
    severity: Severity::Error,
    reads: &[Concept::Placement, Concept::PolicySnapshot],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let placement = case.placement_object();
    let Some(run) = case.run() else {
        return Vec::new();
    };
    let recorded = run.status.policy_index.as_str();
    let latest = latest(case);
    let now = latest.and_then(PolicySnapshot::index);
    let changed = now.is_some_and(|now| !recorded.is_empty() && now != recorded);
    let named = case.causes().find_map(|cause| match cause {
        Cause::PolicyIndexChanged { latest, recorded } => Some((latest, recorded)),
        _ => None,
    });
    // Which of the two texts a run ends with is a race between scheduler and controller.
    let unscheduled = changed
        && case
            .causes()
            .any(|cause| matches!(cause, Cause::PolicyNotScheduled { .. }));
    let finding = if let Some((latest, recorded)) = named {
        let since = match now {
            Some(now) if now != latest => format!(" (now {now})"),
            _ => String::new(),
        };
        failing::finding(
            case,
            rule,
            &placement,
            format!(
                "The scheduling policy of {placement} was changed while the run was under way. \
                 The run uses policy snapshot {recorded}; the latest was {latest}{since}."
            ),
        )
    } else if unscheduled {
        failing::finding(
            case,
            rule,
            &placement,
            format!(
                "The scheduling policy of {placement} was changed while the run was under way. \
                 The run uses policy snapshot {recorded}; the latest is {}.",
                now.unwrap_or_default()
            ),
        )
    } else if changed && failing::live_run(case).is_some() {
        rule.finding(
            &placement,
            format!(
                "The scheduling policy of {placement} was changed after the run was initialized \
                 (policy snapshot {recorded}, now {}), {}.",
                now.unwrap_or_default(),
                failing::will_fail(case)
            ),
        )
        .severity(Severity::Warning)
    } else {
        return Vec::new();
    };
    vec![with_details(case, finding, latest, recorded)]
}

/// The latest policy snapshot, when there is exactly one.
fn latest<'i>(case: &Case<'i>) -> Option<&'i PolicySnapshot> {
    let mut latest = case.inventory.latest_policies();
    let first = latest.next()?;
    latest.next().is_none().then_some(first)
}

fn with_details(
    case: &Case<'_>,
    finding: Finding,
    latest: Option<&PolicySnapshot>,
    recorded: &str,
) -> Finding {
    let mut finding = finding.evidence(
        case.run_object(),
        "status.policySnapshotIndexUsed",
        recorded,
    );
    if let Some(latest) = latest {
        finding = finding.evidence(
            latest.object(),
            "metadata.labels[kubernetes-fleet.io/policy-index]",
            latest.index().unwrap_or_default(),
        );
        if !latest.is_scheduled() {
            finding = finding.look(
                format!(
                    "Wait until {} is scheduled: check its Scheduled condition.",
                    case.placement_object()
                ),
                Some(latest.object().kubectl("get").flag("-o", "yaml")),
            );
        }
    }
    failing::new_run(
        case,
        finding,
        "Start a new run: it uses the current policy and clusters.",
    )
}
