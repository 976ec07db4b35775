//! A placement whose rollout is none of an update run's business.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;

/// Update runs apply to placements with strategy External only.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS802",
    name: "placement-rolls-out-itself",
    severity: Severity::Info,
    reads: &[Concept::Placement],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    if case.run().is_some() || case.target().kind.concept() != Concept::Placement {
        return Vec::new();
    }
    let Some(placement) = case
        .inventory
        .placement
        .present()
        .filter(|p| !p.is_external())
    else {
        return Vec::new();
    };
    let object = placement.object();
    let kind = placement.rollout_type();
    vec![
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
        .fix(
            "Set `spec.strategy.type: External` to roll it out in stages. This cannot be undone.",
            None,
        ),
    ]
}
