//! Stages select the same clusters.

use super::StageMap;
use super::prelude::*;
use crate::kubefleet::strategy::Stage;

/// The clusters that are in several stages, by their labels.
pub fn two_stages(map: &StageMap<'_>, tense: RefusalTense<'_>) -> Problem {
    let strategy = &map.strategy_object;
    let names = |stages: &[&Stage]| -> Vec<String> {
        stages.iter().map(|stage| stage.name.clone()).collect()
    };
    let twice: Vec<_> = map
        .twice()
        .map(|(placed, stages)| (placed.name, names(stages)))
        .collect();
    let problem = if let [(only, stages)] = twice.as_slice() {
        let stages = enumerate(stages);
        let message = format!(
            "MemberCluster {only} {} in stages {stages} of {strategy}{tense}.",
            tense.is()
        );
        Problem::new(Subject::member(only), message)
    } else {
        let listed = twice
            .iter()
            .map(|(name, stages)| format!("{name} ({})", stages.join(" + ")));
        let message = format!(
            "{} clusters {} in more than one stage of {strategy}{}: {}{}.",
            twice.len(),
            tense.are(),
            tense.when(),
            enumerate(listed),
            tense.since()
        );
        Problem::new(strategy, message)
    };
    let clusters: Vec<_> = twice.iter().map(|(name, _)| *name).collect();
    details(problem, Some(map), &clusters)
}

/// A cluster that was in several stages, although its labels do not show it.
pub fn was_in_two_stages(
    map: Option<&StageMap<'_>>,
    cluster: &str,
    tense: RefusalTense<'_>,
) -> Problem {
    let message = format!("MemberCluster {cluster} was in more than one stage{tense}.");
    details(
        Problem::new(Subject::member(cluster), message),
        map,
        &[cluster],
    )
}

fn details(mut problem: Problem, map: Option<&StageMap<'_>>, clusters: &[&str]) -> Problem {
    problem = problem.clusters(clusters.iter().copied());
    if let Some(map) = map {
        let stages = map.strategy.stages.iter().filter(|stage| {
            let mut placed = map.of_stage(stage);
            placed.any(|placed| clusters.contains(&placed.name))
        });
        problem = map.evidence(problem, clusters.iter().copied(), stages);
    }
    problem.fix(
        "Make the stages' selectors exclude each other, or relabel the clusters. An empty selector \
         (`{}`) selects every cluster.",
    )
}
