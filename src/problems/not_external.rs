//! The placement rolls its content out by itself.

use super::prelude::*;
use super::steps::{EXTERNAL_STAYS, make_external};
use crate::kubefleet::placement::Placement;

pub fn not_external(
    object: &ObjectRef,
    placement: Option<&Placement>,
    strategy: &str,
    tense: RefusalTense<'_>,
) -> Problem {
    let message = format!(
        "{object} {} the rollout strategy {strategy}, not External{}{tense}.",
        tense.has(),
        tense.pick("", ",")
    );
    let mut problem = Problem::new(object, message);
    if let Some(placement) = placement {
        let strategy = placement.spec.strategy.as_deref();
        let kind = strategy.map(|strategy| &strategy.kind);
        problem = problem.evidence(object, "spec.strategy.type", kind);
    }
    let action = format!("Set the rollout strategy of the placement to External. {EXTERNAL_STAYS}");
    problem.fix_with(action, make_external(object))
}
