//! The placement's scheduling policy snapshot is not as its controller writes it.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::kubefleet::{ObjectRef, names};
use crate::problems::{Problem, RefusalTense, several_latest, without_count, without_index};

/// Several latest ones, no index, or with PickN no count of clusters: only a hand or a broken
/// write does that. Source: updaterun/initialization.go:determinePolicySnapshot,
/// utils/controller/policy_snapshot_resolver.go:LookupLatestPolicySnapshot.
pub const RULE: Rule = Rule::refusal("FS104", "policy-snapshot-inconsistent", check)
    .reads(&[Concept::PolicySnapshot])
    .environment();

fn check(cx: &DiagnosisContext<'_>, cause: &Cause) -> Option<(Problem, bool)> {
    Some(match cause {
        Cause::PolicySnapshotMultiple { count } => several(cx, *count),
        Cause::PolicySnapshotNoIndex { snapshot } => {
            let number =
                |policy: &PolicySnapshot| policy.meta.label(names::POLICY_INDEX)?.parse().ok();
            without(cx, &snapshot.name, number, |object, policy, past| {
                without_index(object, policy, past)
            })
        }
        Cause::PolicySnapshotBadClusterCount { snapshot } => {
            let number = PolicySnapshot::wanted_clusters;
            without(cx, &snapshot.name, number, |object, policy, past| {
                without_count(cx.inventory, object, policy, past)
            })
        }
        _ => return None,
    })
}

fn several(cx: &DiagnosisContext<'_>, count: Option<u32>) -> (Problem, bool) {
    let inventory = cx.inventory;
    let fixed = inventory.latest_policies().count() == 1 && inventory.policies.is_complete();
    let past = cx.past(if fixed { ", but only one is now" } else { "" });
    let count = count.and_then(|count| usize::try_from(count).ok());
    let problem = several_latest(inventory, &cx.placement_object(), count, past);
    (problem, fixed)
}

fn without(
    cx: &DiagnosisContext<'_>,
    name: &str,
    number: impl Fn(&PolicySnapshot) -> Option<i64>,
    problem: impl Fn(&ObjectRef, Option<&PolicySnapshot>, RefusalTense<'_>) -> Problem,
) -> (Problem, bool) {
    let object = cx.object(Concept::PolicySnapshot, name);
    let mut policies = cx.inventory.policies.iter();
    let now = policies.find(|policy| policy.meta.name == name);
    let fixed = now.and_then(number).is_some_and(|number| number >= 0);
    let past = cx.past(if fixed { ", but it has one now" } else { "" });
    (problem(&object, now, past), fixed)
}
