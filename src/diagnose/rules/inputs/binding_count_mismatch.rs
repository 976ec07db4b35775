//! The placement has more or fewer bindings than its policy asks for.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::names;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::problems::{scheduling, steps};
use crate::report::Shown;
use crate::rollout::placing;

/// Counted with PickN and PickFixed only.
/// Source: updaterun/initialization.go:collectScheduledClusters.
pub const RULE: Rule = Rule::error("FS107", "binding-count-mismatch", Check::Cause(check))
    .reads(&[Concept::Binding, Concept::PolicySnapshot]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::BindingCountMismatch { selected, observed } => {
            Some(mismatch(cx, rule, *selected, *observed))
        }
        _ => None,
    }
}

fn mismatch(
    cx: &Context<'_>,
    rule: &Rule,
    selected: Option<i64>,
    observed: Option<i64>,
) -> Finding {
    let object = cx.placement_object();
    let number = |value: Option<i64>| value.map_or_else(|| "?".to_owned(), |it| it.to_string());
    let lead = format!(
        "{object} had {}, but its policy asked for {} {}",
        match selected {
            Some(1) => "1 selected binding".to_owned(),
            _ => format!("{} selected bindings", number(selected)),
        },
        number(observed),
        failing::when(cx)
    );
    let inventory = cx.inventory;
    let now = placing::selected_clusters(inventory);
    let policy = inventory.latest_policies().next();
    let wanted = policy.and_then(PolicySnapshot::wanted_clusters);
    let complete = inventory.bindings.is_complete();
    let agrees = complete && wanted.is_some() && wanted == i64::try_from(now.len()).ok();
    let missing: Vec<_> = policy
        .and_then(|policy| policy.spec.policy.as_deref())
        .filter(|policy| policy.kind == "PickFixed" && complete)
        .map(|policy| {
            let absent = policy.clusters.iter();
            absent.filter(|name| !now.contains(name.as_str())).collect()
        })
        .unwrap_or_default();
    let tail = if agrees {
        ", but both numbers agree now"
    } else {
        ""
    };
    let mut finding = failing::finding(cx, rule, &object, format!("{lead}{tail}."));
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
        finding = finding.evidence(policy.object(), path, value);
    }
    for cluster in now.iter().take(6) {
        if let Some(binding) = inventory.binding(cluster) {
            finding = finding.evidence(binding.object(), "spec.state", binding.spec.state.clone());
        }
    }
    if agrees {
        return failing::just_new_run(cx, finding);
    }
    for binding in inventory
        .bindings
        .iter()
        .filter(|binding| binding.is_unscheduled() || binding.meta.is_deleting())
        .take(6)
    {
        let state = if binding.meta.is_deleting() {
            ("metadata.deletionTimestamp", binding.meta.deleted.shown())
        } else {
            ("spec.state", binding.spec.state.clone())
        };
        finding = finding.evidence(binding.object(), state.0, state.1);
    }
    let short = wanted > i64::try_from(now.len()).ok();
    let stays = policy.filter(|_| short).and_then(|policy| {
        let left_out = scheduling::left_out_for_good(policy, cx.inventory);
        let step = scheduling::not_by_waiting(&left_out)?;
        Some((policy, left_out, step))
    });
    if let (Some((policy, left_out, step)), true) = (stays, missing.is_empty()) {
        finding = scheduling::evidence(policy, cx.inventory, finding)
            .clusters(left_out.into_values().flatten())
            .fix_with(step, steps::show_labels());
    } else if missing.is_empty() {
        finding = finding.look_with(
            "List the bindings, and wait until the scheduler has created the missing ones.",
            cx.of_placement(Concept::Binding),
        );
    } else {
        finding = finding.clusters(missing).fix(
            "Join the named clusters that have no binding, or remove them from the policy's \
             `clusterNames`. List each name only once.",
        );
    }
    failing::then_new_run(cx, finding)
}
