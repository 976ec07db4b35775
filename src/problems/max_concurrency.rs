//! A stage's maxConcurrency is neither a number nor a percentage.

use super::prelude::*;
use crate::kubefleet::strategy::Stage;

/// The controller looks at the number only when the stage is under way, and fails then. The stages
/// come with their places below `path` of the subject.
pub fn max_concurrency(
    subject: impl Into<Subject>,
    path: &str,
    strategy: &ObjectRef,
    stages: &[(usize, &Stage)],
    tense: RefusalTense<'_>,
) -> Problem {
    let subject = subject.into();
    let names = enumerate(stages.iter().map(|(_, stage)| stage.name.as_str()));
    let values = enumerate(
        stages
            .iter()
            .map(|(_, stage)| format!("`{}`", stage.max_concurrency)),
    );
    let message = format!(
        "The maxConcurrency {} stage {names} is neither a number nor a percentage: {values}.",
        tense.pick("of", "that the run recorded for")
    );
    let mut problem = Problem::new(subject.clone(), message);
    if let [(_, stage)] = stages {
        problem = problem.stage(&stage.name);
    }
    for (at, stage) in stages {
        let path = format!("{path}.stages[{at}].maxConcurrency");
        problem = problem.evidence(subject.clone(), path, &stage.max_concurrency);
    }
    problem.fix(format!(
        "Set the stage's maxConcurrency in the strategy {} to a whole number or a percentage, such \
         as `maxConcurrency: 1` or `maxConcurrency: 25%`.",
        strategy.name
    ))
}
