//! A placement whose rollout is none of an update run's business.

use crate::diagnose::rules::prelude::*;
use crate::problems::steps::EXTERNAL_STAYS;

/// Update runs apply to placements with strategy External only.
pub const RULE: Rule = Rule::info(
    "FS802",
    "placement-rolls-out-itself",
    RuleSearch::One(check),
)
.reads(&[Concept::Placement])
.person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    if cx.run().is_some() || cx.target().kind.concept() != Concept::Placement {
        return None;
    }
    let placement = cx
        .inventory
        .placement
        .present()
        .filter(|p| !p.is_external())?;
    let object = placement.object();
    let kind = placement.rollout_type();
    Some(
        rule.finding(
            &object,
            format!(
                "{} has strategy {kind}: KubeFleet rolls it out by itself, and update runs do not \
                 apply to it.",
                object.name
            ),
        )
        .root()
        .evidence(
            &object,
            "spec.strategy.type",
            placement
                .spec
                .strategy
                .as_deref()
                .map(|strategy| &strategy.kind),
        )
        .fix(format!(
            "Set `spec.strategy.type: External`, if it is to be rolled out in stages. {EXTERNAL_STAYS}"
        )),
    )
}
