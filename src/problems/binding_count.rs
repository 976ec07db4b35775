//! The placement has more or fewer bindings than its policy asks for.

use std::collections::BTreeSet;

use super::steps::{of_placement, see_members};
use super::{Problem, RefusalTense, scheduling};
use crate::inventory::Inventory;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::kubefleet::{Concept, ObjectRef, names};
use crate::report::{ComposeText, ShownValue};
use crate::rollout::placing;

/// Counted with PickN and PickFixed only. The numbers are those that are told: selected, wanted.
pub fn binding_count(
    inventory: &Inventory,
    object: &ObjectRef,
    told: (Option<i64>, Option<i64>),
    tense: RefusalTense<'_>,
) -> Problem {
    let number = |value: Option<i64>| value.map_or_else(|| "?".to_owned(), |it| it.to_string());
    let plural = if told.0 == Some(1) { "" } else { "s" };
    let message = format!(
        "{object} {} {} selected binding{plural}, but its policy {} {}{tense}.",
        tense.has(),
        number(told.0),
        tense.pick("asks for", "asked for"),
        number(told.1),
    );
    let mut problem = Problem::new(object, message);
    let now = placing::selected_clusters(inventory);
    let policy = inventory.latest_policies().next();
    if let Some(policy) = policy {
        let count = names::NUMBER_OF_CLUSTERS;
        let (path, value) = match policy.spec.policy.as_deref() {
            Some(spec) if spec.kind == "PickFixed" => {
                ("spec.policy.clusterNames".to_owned(), spec.clusters.shown())
            }
            _ => (
                format!("metadata.annotations[{count}]"),
                policy.meta.annotation(count).shown(),
            ),
        };
        problem = problem.evidence(policy.object(), path, value);
    }
    for binding in now.iter().filter_map(|it| inventory.binding(it)).take(6) {
        problem = problem.evidence(binding.object(), "spec.state", &binding.spec.state);
    }
    let gone = inventory.bindings.iter();
    for binding in gone.filter(|binding| binding.is_leaving()).take(6) {
        problem = if binding.meta.is_deleting() {
            problem.deleted(binding.object(), binding.meta.deleted)
        } else {
            problem.evidence(binding.object(), "spec.state", &binding.spec.state)
        };
    }
    let fixed = policy.and_then(|policy| policy.spec.policy.as_deref());
    let fixed = fixed.filter(|policy| policy.kind == "PickFixed");
    let named: Vec<_> = fixed.iter().flat_map(|it| &it.clusters).collect();
    let absent = named.iter().filter(|name| !now.contains(name.as_str()));
    let missing: Vec<&String> = absent
        .filter(|_| inventory.bindings.is_complete())
        .copied()
        .collect();
    if !missing.is_empty() {
        return problem.clusters(missing).fix(
            "Join the named clusters that have no binding, or remove them from the policy's \
             `clusterNames`. List each name only once.",
        );
    }
    let mut seen = BTreeSet::new();
    let twice = named.iter().find(|name| !seen.insert(name.as_str()));
    if let Some(twice) = twice {
        return problem.fix(format!(
            "List {twice} only once in the policy's `clusterNames`: the count has it twice."
        ));
    }
    let wanted = policy.and_then(PolicySnapshot::wanted_clusters);
    let short = wanted > i64::try_from(now.len()).ok();
    if let Some(policy) = policy.filter(|_| short) {
        let left_out = scheduling::left_out_for_good(policy, inventory);
        if let Some(step) = scheduling::not_by_waiting(&left_out) {
            return scheduling::evidence(policy, inventory, problem)
                .look_with(
                    "Compare the member clusters with the placement's policy.",
                    see_members(left_out.values().flatten().copied()),
                )
                .clusters(left_out.into_values().flatten())
                .fix(step);
        }
    }
    let action = "List the bindings: the scheduler must create the missing ones, or remove the extra ones, \
                  before a new run.";
    problem.look_with(action, of_placement(object, Concept::Binding))
}
