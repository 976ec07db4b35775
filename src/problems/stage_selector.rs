//! A stage selects clusters with a selector that is not valid.

use super::prelude::*;

/// The schema does not check operators and values.
pub fn stage_selector(
    strategy: &ObjectRef,
    stage: &str,
    error: &str,
    tense: RefusalTense<'_>,
) -> Problem {
    let message = format!(
        "The labelSelector of stage {stage} in {strategy} {} not valid{} ({error}){}.",
        tense.is(),
        tense.when(),
        tense.since()
    );
    Problem::new(strategy, message).stage(stage).fix(
        "Fix the selector: In and NotIn take at least one value, Exists and DoesNotExist none. \
         Keys and values must be valid labels.",
    )
}
