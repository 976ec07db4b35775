//! The placement selects clusters that no stage of the strategy takes.

use super::steps::label;
use super::{Problem, RefusalTense, StageMap, selector_of};
use crate::kubefleet::{Kind, ObjectRef};
use crate::report::{ComposeText, Subject};
use crate::words::{count, enumerate};

/// A stage without a selector takes no cluster. Of many clusters a controller names the first only:
/// `number` is how many there are.
pub fn no_stage(
    map: Option<&StageMap<'_>>,
    strategy: &ObjectRef,
    clusters: &[&str],
    number: usize,
    tense: RefusalTense<'_>,
) -> Problem {
    let names = if number > clusters.len() && clusters.len() > 3 {
        let first: Vec<_> = clusters.iter().take(3).copied().collect();
        format!("{} and {} more", first.join(", "), number - 3)
    } else {
        enumerate(clusters)
    };
    let since = match (tense, map) {
        (RefusalTense::Now, Some(map)) => map.near_misses() + &gone(map),
        _ => tense.since().to_owned(),
    };
    let when = tense.when();
    let one = clusters.first().filter(|_| number == 1);
    // Labels change: who is in no stage now needs one.
    let out: Vec<_> = match map.filter(|map| map.complete) {
        Some(map) => map.nowhere().map(|placed| placed.name).collect(),
        None => clusters.to_vec(),
    };
    let problem = match one {
        Some(one) => Problem::new(
            Subject::new(Kind::MemberCluster.name(), "", *one),
            format!(
                "MemberCluster {names} {} in no stage of {strategy}{when}{since}.",
                tense.is()
            ),
        ),
        None => Problem::new(
            strategy,
            format!(
                "{} {} in no stage of {strategy}{when}: {names}{since}.",
                count(number, "cluster"),
                tense.are()
            ),
        ),
    };
    let mut problem = problem.clusters(clusters.iter().copied());
    let mut selectors = String::new();
    let entry = match out.as_slice() {
        [only] => map.and_then(|map| map.only_label(only)),
        _ => None,
    };
    if let Some(map) = map {
        let stages = &map.strategy.stages;
        problem = map.evidence(problem, clusters.iter().copied(), stages);
        let listed: Vec<_> = stages
            .iter()
            .map(|stage| format!("{}: `{}`", stage.name, selector_of(stage)))
            .collect();
        selectors = format!(" ({})", listed.join("; "));
    }
    if out.is_empty() {
        return problem;
    }
    // No label helps there. Source: updaterun/initialization.go:computeRunStageStatus.
    let mut stages = map.iter().flat_map(|map| &map.strategy.stages);
    if map.is_some() && stages.all(|stage| stage.selector.is_none()) {
        let action = "Give the stages a `labelSelector`: a stage without one takes no cluster, and \
                      `labelSelector: {}` takes all.";
        return problem.fix_with(action, strategy.kubectl("edit"));
    }
    problem.fix_with(
        format!(
            "Label {} until exactly one stage selects it{selectors}. Another run that selects by \
             such a label may then fail. Or extend the strategy, or narrow the placement's policy.",
            if out.len() == 1 {
                "the cluster"
            } else {
                "each of the clusters"
            }
        ),
        label(out, entry.as_deref().unwrap_or("KEY=VALUE")).switch("--overwrite"),
    )
}

/// Bindings may outlive their clusters.
fn gone(map: &StageMap<'_>) -> String {
    let gone: Vec<_> = map
        .nowhere()
        .filter(|placed| placed.member.is_none())
        .map(|placed| placed.name)
        .collect();
    match gone.as_slice() {
        [] => String::new(),
        [one] => format!("; MemberCluster {one} does not exist"),
        _ => format!("; the MemberClusters {} do not exist", enumerate(&gone)),
    }
}
