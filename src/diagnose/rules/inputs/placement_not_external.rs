//! The placement rolls its content out by itself.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::problems::steps;

/// Update runs take only placements whose strategy is External; without a word it is
/// RollingUpdate. Source: updaterun/initialization.go:validatePlacement.
pub const RULE: Rule = Rule::error("FS102", "placement-not-external", Check::Cause(check))
    .reads(&[Concept::Placement]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::PlacementNotExternal { current } => Some(not_external(cx, rule, current)),
        _ => None,
    }
}

fn not_external(cx: &Context<'_>, rule: &Rule, current: &str) -> Finding {
    let object = cx.placement_object();
    let placement = cx.inventory.placement.present();
    let lead = format!(
        "{object} had the rollout strategy {current}, not External, {}",
        failing::when(cx)
    );
    let tail = match placement.map(|placement| (placement.is_external(), placement.rollout_type()))
    {
        Some((true, _)) => ", but it has External now".to_owned(),
        Some((false, now)) if now != current => format!(", and it has {now} now"),
        _ => String::new(),
    };
    let mut finding = failing::finding(cx, rule, &object, format!("{lead}{tail}."));
    if let Some(placement) = placement {
        let strategy = placement.spec.strategy.as_deref();
        let kind = strategy.map(|strategy| &strategy.kind);
        finding = finding.evidence(&object, "spec.strategy.type", kind);
        if placement.is_external() {
            return failing::just_new_run(cx, finding);
        }
    }
    finding = finding.fix_with(
        "Set the rollout strategy of the placement to External. This cannot be undone: the type \
         cannot change again.",
        steps::make_external(&object),
    );
    failing::then_new_run(cx, finding)
}
