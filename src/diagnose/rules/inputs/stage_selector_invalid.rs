//! A stage selects clusters with a selector that is not valid.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::kubefleet::messages::Cause;
use crate::kubefleet::strategy::Stage;

/// The schema does not check operators and values.
/// Source: updaterun/initialization.go:computeRunStageStatus.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS110",
    name: "stage-selector-invalid",
    severity: Severity::Error,
    reads: &[Concept::Strategy],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::StageSelectorInvalid {
                strategy,
                stage,
                error,
            } => Some(invalid(case, rule, &strategy.name, stage, error)),
            _ => None,
        })
        .collect()
}

fn invalid(case: &Case<'_>, rule: &Rule, strategy: &str, stage: &str, error: &str) -> Finding {
    let object = case.object(Concept::Strategy, strategy);
    let find = |stages: &'_ [Stage]| {
        stages
            .iter()
            .find(|it| it.name == stage)
            .map(|it| it.selector.clone())
    };
    let recorded = case
        .run()
        .and_then(|run| run.status.strategy.as_deref())
        .and_then(|strategy| find(&strategy.stages));
    let now = case
        .inventory
        .strategy
        .present()
        .and_then(|strategy| find(&strategy.spec.stages));
    let changed = recorded.is_some() && now.is_some() && recorded != now;
    let tail = if changed {
        ", and it has been changed since"
    } else {
        ""
    };
    let mut finding = failing::finding(
        case,
        rule,
        &object,
        format!(
            "The labelSelector of stage {stage} in {object} was not valid {} ({error}){tail}.",
            failing::when(case)
        ),
    )
    .stage(stage);
    if let Some(recorded) = recorded.flatten() {
        finding = finding.evidence(
            case.run_object(),
            format!("status.stagedUpdateStrategySnapshot.stages[name={stage}].labelSelector"),
            recorded.as_ref(),
        );
    }
    if let Some(now) = now.flatten() {
        finding = finding.evidence(
            &object,
            format!("spec.stages[name={stage}].labelSelector"),
            now.as_ref(),
        );
    }
    let plan = case
        .command("plan")
        .flag("--placement", &case.inventory.placement_name)
        .flag("--strategy", strategy);
    finding = if changed {
        finding.look("Check what the current strategy computes.", Some(plan))
    } else {
        finding.fix(
            "Fix the selector: In and NotIn take at least one value, Exists and DoesNotExist \
             none. Keys and values must be valid labels.",
            None,
        )
    };
    failing::then_new_run(case, finding)
}
