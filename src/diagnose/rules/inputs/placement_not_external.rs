//! The placement rolls its content out by itself.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::diagnose::steps;
use crate::kubefleet::Concept;
use crate::kubefleet::messages::Cause;

/// Update runs take only placements whose strategy is External; without a word it is
/// RollingUpdate. Source: updaterun/initialization.go:validatePlacement.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS102",
    name: "placement-not-external",
    severity: Severity::Error,
    reads: &[Concept::Placement],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::PlacementNotExternal { current } => Some(not_external(case, rule, current)),
            _ => None,
        })
        .collect()
}

fn not_external(case: &Case<'_>, rule: &Rule, current: &str) -> Finding {
    let object = case.placement_object();
    let placement = case.inventory.placement.present();
    let lead = format!(
        "{object} had the rollout strategy {current}, not External, {}",
        failing::when(case)
    );
    let tail = match placement.map(|placement| (placement.is_external(), placement.rollout_type()))
    {
        Some((true, _)) => ", but it has External now".to_owned(),
        Some((false, now)) if now != current => format!(", and it has {now} now"),
        _ => String::new(),
    };
    let mut finding = failing::finding(case, rule, &object, format!("{lead}{tail}."));
    if let Some(placement) = placement {
        let strategy = placement.spec.strategy.as_deref();
        let kind = strategy.map(|strategy| &strategy.kind);
        finding = finding.evidence(&object, "spec.strategy.type", kind);
        if placement.is_external() {
            return failing::just_new_run(case, finding);
        }
    }
    finding = finding.fix(
        "Set the rollout strategy of the placement to External. This cannot be undone: the type \
         cannot change again.",
        Some(steps::make_external(&object)),
    );
    failing::then_new_run(case, finding)
}
