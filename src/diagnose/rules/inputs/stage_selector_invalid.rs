//! A stage selects clusters with a selector that is not valid.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::strategy::Stage;

/// The schema does not check operators and values.
/// Source: updaterun/initialization.go:computeRunStageStatus.
pub const RULE: Rule =
    Rule::error("FS110", "stage-selector-invalid", Check::Cause(check)).reads(&[Concept::Strategy]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::StageSelectorInvalid {
            strategy,
            stage,
            error,
        } => Some(invalid(cx, rule, &strategy.name, stage, error)),
        _ => None,
    }
}

fn invalid(cx: &Context<'_>, rule: &Rule, strategy: &str, stage: &str, error: &str) -> Finding {
    let object = cx.object(Concept::Strategy, strategy);
    let find = |stages: &'_ [Stage]| {
        stages
            .iter()
            .find(|it| it.name == stage)
            .map(|it| it.selector.clone())
    };
    let recorded = cx
        .run()
        .and_then(|run| run.status.strategy.as_deref())
        .and_then(|strategy| find(&strategy.stages));
    let now = cx
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
        cx,
        rule,
        &object,
        format!(
            "The labelSelector of stage {stage} in {object} was not valid {} ({error}){tail}.",
            failing::when(cx)
        ),
    )
    .stage(stage);
    if let Some(recorded) = recorded.flatten() {
        finding = finding.evidence(
            cx.run_object(),
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
    let plan = cx
        .command("plan")
        .flag("--placement", &cx.inventory.placement_name)
        .flag("--strategy", strategy);
    finding = if changed {
        finding.look_with("Check what the current strategy computes.", plan)
    } else {
        finding.fix(
            "Fix the selector: In and NotIn take at least one value, Exists and DoesNotExist \
             none. Keys and values must be valid labels.",
        )
    };
    failing::then_new_run(cx, finding)
}
