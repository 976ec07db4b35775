//! The placement's scheduling policy snapshot is not as its controller writes it.

use super::prelude::*;
use super::steps::wait_until_scheduled;
use crate::kubefleet::names;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::snapshot::PolicySnapshot;

fn is_latest() -> String {
    format!("metadata.labels[{}]", names::IS_LATEST)
}

/// No snapshot is marked as the latest: the placement is too young, or on its way out.
pub fn not_latest(inventory: &Inventory, object: &ObjectRef, tense: RefusalTense<'_>) -> Problem {
    let message = format!(
        "{object} {} no scheduling policy snapshot marked as the latest{tense}.",
        tense.has()
    );
    let mut problem = Problem::new(object, message);
    for policy in inventory.policies.iter().take(5) {
        let mark = policy.meta.label(names::IS_LATEST);
        problem = problem.evidence(policy.object(), is_latest(), mark);
    }
    if let (RefusalTense::Now, true) = (tense, problem.evidence.is_empty()) {
        let kind = inventory.scope.kind(Concept::PolicySnapshot);
        problem = problem.computed(object, &["metadata.name"], format!("it has no {kind}"));
    }
    let placement = inventory.placement.present();
    if placement.is_some_and(Placement::is_scheduled) && inventory.policies.is_known_empty() {
        return problem.fix(
            "Change something in the placement's spec, for example `revisionHistoryLimit`: KubeFleet \
             writes a deleted policy snapshot again only then.",
        );
    }
    let action = "Wait until the placement controller has written the snapshot and the placement is \
                  scheduled.";
    problem.look_with(action, wait_until_scheduled(object))
}

/// Several snapshots are marked: only a hand or a broken write does that.
pub fn several_latest(
    inventory: &Inventory,
    object: &ObjectRef,
    count: Option<usize>,
    tense: RefusalTense<'_>,
) -> Problem {
    let mut latest: Vec<&PolicySnapshot> = inventory.latest_policies().collect();
    latest.sort_by_key(|policy| policy.index().and_then(|index| index.parse::<u64>().ok()));
    let names = enumerate(latest.iter().map(|policy| policy.meta.name.as_str()));
    let still = match tense {
        RefusalTense::Now => format!(": {names}"),
        RefusalTense::Past { .. } if latest.len() > 1 => format!(" ({names} are now)"),
        RefusalTense::Past { .. } => String::new(),
    };
    let number = count.map_or_else(|| "Several".to_owned(), |count| count.to_string());
    let message = format!(
        "{number} scheduling policy snapshots of {object} {} marked as the \
         latest{tense}{still}.",
        tense.are()
    );
    let mut problem = Problem::new(object, message);
    for policy in latest.iter().take(6) {
        problem = problem.evidence(policy.object(), is_latest(), "true");
    }
    // The newest stays.
    latest.pop();
    let remove = |problem: Problem, which: &str, object: ObjectRef| {
        let unmark = object
            .kubectl("label")
            .arg(format!("{}=false", names::IS_LATEST));
        let action = format!("Set the label of {which} to false: nothing fixes it automatically.");
        problem.fix_with(action, unmark.switch("--overwrite"))
    };
    if latest.is_empty() {
        let any = inventory.scope.object(Concept::PolicySnapshot, "NAME");
        return remove(problem, "all but the one with the highest index", any);
    }
    for policy in latest {
        problem = remove(problem, &policy.meta.name, policy.object());
    }
    problem
}

/// The latest snapshot does not say which one it is.
pub fn without_index(
    object: &ObjectRef,
    policy: Option<&PolicySnapshot>,
    tense: RefusalTense<'_>,
) -> Problem {
    let index = object.name.rsplit_once('-');
    let index = index.map_or("INDEX", |(_, index)| index);
    let message = format!("{object} {} no index label{tense}.", tense.has());
    let mut problem = Problem::new(object, message);
    if let Some(policy) = policy {
        let path = format!("metadata.labels[{}]", names::POLICY_INDEX);
        problem = problem.evidence(object, path, policy.meta.label(names::POLICY_INDEX));
    }
    write_again(
        problem,
        object,
        "label",
        &format!("{}={index}", names::POLICY_INDEX),
    )
}

/// The latest snapshot does not say how many clusters are wanted.
pub fn without_count(
    inventory: &Inventory,
    object: &ObjectRef,
    policy: Option<&PolicySnapshot>,
    tense: RefusalTense<'_>,
) -> Problem {
    let placement = inventory.placement.present();
    let count = placement
        .and_then(|placement| placement.spec.policy.as_deref()?.count)
        .map_or_else(|| "COUNT".to_owned(), |count| count.to_string());
    let message = format!(
        "{object} {} no valid cluster count in its annotation{tense}.",
        tense.has()
    );
    let mut problem = Problem::new(object, message);
    if let Some(policy) = policy {
        let path = format!("metadata.annotations[{}]", names::NUMBER_OF_CLUSTERS);
        let value = policy.meta.annotation(names::NUMBER_OF_CLUSTERS);
        problem = problem.evidence(object, path, value);
    }
    write_again(
        problem,
        object,
        "annotate",
        &format!("{}={count}", names::NUMBER_OF_CLUSTERS),
    )
}

fn write_again(problem: Problem, object: &ObjectRef, verb: &'static str, entry: &str) -> Problem {
    problem.fix_with(
        "Write it again, as the placement controller does.",
        object.kubectl(verb).arg(entry).switch("--overwrite"),
    )
}
