//! The placement has more or fewer bindings than its policy asks for.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::problems::{Problem, binding_count};
use crate::words::said_if;

/// Counted with PickN and PickFixed only.
/// Source: updaterun/initialization.go:collectScheduledClusters.
pub const RULE: Rule = Rule::refusal("FS107", "binding-count-mismatch", check)
    .reads(&[Concept::Binding, Concept::PolicySnapshot])
    .environment();

fn check(cx: &DiagnosisContext<'_>, cause: &Cause) -> Option<(Problem, bool)> {
    let Cause::BindingCountMismatch { selected, observed } = cause else {
        return None;
    };

    let inventory = cx.inventory;
    // Each binding counts, also a second one for a cluster while the first is being deleted.
    let selected_now = inventory.bindings.iter().filter(|it| !it.is_unscheduled());
    let now = i64::try_from(selected_now.count()).ok();
    let policy = inventory.latest_policies().next();
    let wanted = policy.and_then(PolicySnapshot::wanted_clusters);
    let agrees = inventory.bindings.is_complete() && wanted.is_some() && wanted == now;
    let past = cx.past(said_if(agrees, "; both numbers agree now"));
    let object = cx.placement_object();
    let problem = binding_count(inventory, &object, (*selected, *observed), past);
    Some((problem, agrees))
}
