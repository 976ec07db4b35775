//! The way in which resources are applied was changed under a run.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::run::UpdateRun;

/// The controller compares the placement's apply strategy with the one that the run recorded, at
/// every look. Its text prints both with pointers in them, so the objects are compared instead.
/// Source: updaterun/validation.go:validate.
pub const RULE: Rule = Rule::error("FS201", "apply-strategy-changed", Whole(check))
    .reads(&[Concept::Placement])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let placement = cx.placement_object();
    if cx
        .causes()
        .any(|cause| matches!(cause, Cause::ApplyStrategyChanged))
    {
        return vec![after_failure(cx, rule, &placement)];
    }
    let Some(run) = run_failure::live_run(cx) else {
        return Vec::new();
    };
    let Some(differences) = differences(cx, run).filter(|found| !found.is_empty()) else {
        return Vec::new();
    };
    let message = format!(
        "The apply strategy of {placement} differs from the one that the run recorded ({}), \
         {}.",
        enumerate(&differences),
        run_failure::will_fail(cx)
    );
    let finding = rule
        .finding(&placement, message)
        .severity(Severity::Warning);
    let finding = with_evidence(finding, cx, &placement, &differences).fix(format!(
        "Restore the apply strategy {}, if the change was a mistake.",
        run_failure::in_time(cx)
    ));
    let action =
        "Or start a new run: it uses the current apply strategy. This run cannot adopt the change.";
    vec![finding.next_run(cx, action)]
}

fn after_failure(cx: &DiagnosisContext<'_>, rule: &Rule, placement: &ObjectRef) -> Finding {
    let differences = cx.run().and_then(|run| differences(cx, run));
    let message = match &differences {
        None => format!(
            "The apply strategy of {placement} was changed while the run was under way, so the run \
             failed."
        ),
        Some(found) if found.is_empty() => format!(
            "The apply strategy of {placement} was changed while the run was under way. It is \
             restored, but the run has failed for good."
        ),
        Some(found) => format!(
            "The apply strategy of {placement} was changed while the run was under way ({}), so the \
             run failed.",
            enumerate(found)
        ),
    };
    let finding = run_failure::finding(cx, rule, placement, message);
    let finding = with_evidence(finding, cx, placement, &differences.unwrap_or_default());
    let action = "Check the placement's apply strategy, then start a new run: it records the current \
                  strategy.";
    finding.next_run(cx, action)
}

fn with_evidence(
    mut finding: Finding,
    cx: &DiagnosisContext<'_>,
    placement: &ObjectRef,
    differences: &[String],
) -> Finding {
    for difference in differences {
        let Some((field, values)) = difference.split_once(": ") else {
            continue;
        };
        let Some((recorded, live)) = values.split_once(" -> ") else {
            continue;
        };
        // Of a field that is absent, KubeFleet's default was compared.
        finding = finding
            .computed(
                cx.run_object(),
                &["status.appliedStrategy"],
                format!("{field}: {recorded}"),
            )
            .computed(placement, &["spec.strategy"], format!("{field}: {live}"));
    }
    finding
}

/// What differs, from recorded to live; `None` when either is not known.
fn differences(cx: &DiagnosisContext<'_>, run: &UpdateRun) -> Option<Vec<String>> {
    let placement = cx.inventory.placement.present()?;
    let recorded = run.status.apply_strategy.as_deref()?;
    Some(recorded.differences(&placement.apply_strategy()))
}
