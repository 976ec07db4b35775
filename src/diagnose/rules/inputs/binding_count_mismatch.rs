//! The placement has more or fewer bindings than its policy asks for.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::diagnose::shown::Shown;
use crate::diagnose::{failing, scheduling, steps};
use crate::kubefleet::messages::Cause;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::kubefleet::{Concept, names};
use crate::rollout::placing;

/// Counted with PickN and PickFixed only.
/// Source: updaterun/initialization.go:collectScheduledClusters.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS107",
    name: "binding-count-mismatch",
    severity: Severity::Error,
    reads: &[Concept::Binding, Concept::PolicySnapshot],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::BindingCountMismatch { selected, observed } => {
                Some(mismatch(case, rule, *selected, *observed))
            }
            _ => None,
        })
        .collect()
}

fn mismatch(case: &Case<'_>, rule: &Rule, selected: Option<i64>, observed: Option<i64>) -> Finding {
    let object = case.placement_object();
    let number = |value: Option<i64>| value.map_or_else(|| "?".to_owned(), |it| it.to_string());
    let lead = format!(
        "{object} had {}, but its policy asked for {} {}",
        match selected {
            Some(1) => "1 selected binding".to_owned(),
            _ => format!("{} selected bindings", number(selected)),
        },
        number(observed),
        failing::when(case)
    );
    let inventory = case.inventory;
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
    let mut finding = failing::finding(case, rule, &object, format!("{lead}{tail}."));
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
        return failing::just_new_run(case, finding);
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
        let left_out = scheduling::left_out_for_good(policy, case.inventory);
        let step = scheduling::not_by_waiting(&left_out)?;
        Some((policy, left_out, step))
    });
    if let (Some((policy, left_out, step)), true) = (stays, missing.is_empty()) {
        finding = scheduling::evidence(policy, case.inventory, finding)
            .clusters(left_out.into_values().flatten())
            .fix(step, Some(steps::show_labels()));
    } else if missing.is_empty() {
        finding = finding.look(
            "List the bindings, and wait until the scheduler has created the missing ones.",
            Some(case.of_placement(Concept::Binding)),
        );
    } else {
        finding = finding.clusters(missing).fix(
            "Join the named clusters that have no binding, or remove them from the policy's \
             `clusterNames`. List each name only once.",
            None,
        );
    }
    failing::then_new_run(case, finding)
}
