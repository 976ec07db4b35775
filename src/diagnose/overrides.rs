//! Why overrides cannot be applied, as rendering the content shows it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::context::Context;
use super::failing_cluster::FailingCluster;
use crate::inventory::Inventory;
use crate::inventory::source::HubQuery;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::messages::BindingProblem;
use crate::kubefleet::meta::Condition;
use crate::kubefleet::overrides::{OverrideSnapshot, named};
use crate::kubefleet::reasons;
use crate::manifests::{
    Content, FailingOperation, FaultCause, Override, PlacedOverrides, Rendering,
};
use crate::report::Subject;
use crate::rollout::versions::{Version, versions};

/// Of which objects the texts are needed: the overrides that fail, and the content that they are for.
pub(super) fn texts(inventory: &Inventory) -> Vec<HubQuery> {
    // Most often none fails, and nothing has to be understood to see that.
    let may_fail = |binding: &Binding| {
        let kinds = [reasons::OVERRIDDEN, reasons::WORK_SYNCHRONIZED];
        let mut kinds = kinds.iter().filter_map(|kind| binding.current(kind));
        kinds.any(Condition::is_false)
    };
    if !inventory.bindings.iter().any(may_fail) {
        return Vec::new();
    }
    let cx = Context::new(inventory);
    let all = versions(inventory);
    let failing = cx.troubles.iter().filter(|failing| {
        let problem = failing.trouble.problem.as_ref();
        matches!(problem, Some(BindingProblem::OverrideFailed { .. }))
    });
    let wanted: BTreeSet<_> = failing
        .filter_map(|failing| seen(inventory, &all, failing))
        .flat_map(|(version, overrides)| {
            let parts = version.parts.iter().map(|part| part.object());
            parts.chain(overrides.into_iter().map(|it| it.object()))
        })
        .collect();
    wanted.iter().map(HubQuery::object).collect()
}

/// The version that a cluster is to get, and its overrides; `None` where a part of them was not seen.
fn seen<'v, 'i>(
    inventory: &'i Inventory,
    all: &'v [Version<'i>],
    failing: &FailingCluster<'_>,
) -> Option<(&'v Version<'i>, Vec<&'i Arc<OverrideSnapshot>>)> {
    let spec = &failing.binding.spec;
    let index = failing.binding.snapshot_index()?;
    let mut all = all.iter();
    let version = all.find(|version| version.index == index && version.is_complete())?;
    let overrides: Option<Vec<_>> = named(&spec.cluster_overrides, &spec.overrides)
        .map(|object| {
            let mut known = inventory.overrides.items.iter();
            known.find(|it| it.object() == object)
        })
        .collect();
    Some((version, overrides?))
}

/// The operation of this override that cannot be applied to an object for a cluster, where the texts
/// tell.
pub(super) fn operation(
    cx: &Context<'_>,
    failing: &FailingCluster<'_>,
    subject: &Subject,
    object: &str,
) -> Option<FailingOperation> {
    let texts = &cx.inventory.texts;
    let all = versions(cx.inventory);
    let (version, overrides) = seen(cx.inventory, &all, failing)?;
    let overrides: Option<Vec<_>> = overrides
        .into_iter()
        .map(|it| Some(Override::new(Arc::clone(it), texts.get(&it.object())?)))
        .collect();
    let overrides = overrides?;
    let content = Content::of_version(version, texts)?;
    let placed = PlacedOverrides::bound(failing.member?, failing.binding, &overrides);
    let placed = [placed];
    let rendering = Rendering::new(&content, &overrides, &placed);
    let mut faults = rendering.faults.into_iter();
    let fault = faults.find(|fault| fault.object.as_deref() == Some(object))?;
    match fault.cause {
        FaultCause::Operation(failing) if Subject::from(&failing.over) == *subject => Some(failing),
        _ => None,
    }
}
