//! An override that matches the content cannot be used.

use super::steps::see_override;
use super::{Problem, RefusalTense, overridden};
use crate::kubefleet::ObjectRef;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::selector::LabelSelector;
use crate::report::{ABSENT, ComposeText};

/// Tells which override is at fault: a controller does not. `what` is the predicate of a sentence.
pub fn override_invalid(
    snapshot: &OverrideSnapshot,
    placement: &ObjectRef,
    what: &str,
    tense: RefusalTense<'_>,
) -> Problem {
    let object = snapshot.object();
    let subject = overridden(snapshot);
    let found = match tense {
        RefusalTense::Now => "This aborts the run.".to_owned(),
        RefusalTense::Past { when, .. } => format!("The controller found this {when}."),
    };
    let message = format!("{subject} applies to the content of {placement} and {what}. {found}");
    let problem = Problem::new(subject, message);
    let without_rules = snapshot.spec.content.policy.is_none();
    let problem = if without_rules {
        problem.evidence(&object, "spec.overrideSpec.policy", ABSENT)
    } else {
        let problems: Vec<_> = snapshot
            .cluster_labels()
            .filter_map(LabelSelector::problem)
            .collect();
        problem.computed(
            &object,
            &["spec.overrideSpec.policy.overrideRules[].clusterSelector"],
            problems.join("; "),
        )
    };
    problem
        .look_with("Inspect the override.", see_override(snapshot))
        .fix(override_repair(without_rules))
}

pub const fn override_repair(without_rules: bool) -> &'static str {
    if without_rules {
        "Give each override a `spec.policy` with its rules."
    } else {
        "Fix the `clusterSelector` of the override's rules: In and NotIn take at least one value, \
         Exists and DoesNotExist none."
    }
}
