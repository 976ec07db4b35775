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
    Content, FailingOperation, FaultCause, Generator, Override, PlacedOverrides, Rendering,
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

/// What the controller says of an operation that failed.
pub(super) struct SaidOfOperation<'s> {
    /// The override snapshot; `None` where that is unknown.
    pub over: Option<&'s Subject>,
    /// The object, in the reader's short form.
    pub object: Option<&'s str>,
    pub error: &'s str,
    /// Who says it.
    pub generator: Generator,
}

/// The operation of an override that cannot be applied for a cluster, and the objects to which it
/// cannot, where the texts tell.
pub(super) fn operation(
    cx: &Context<'_>,
    failing: &FailingCluster<'_>,
    said: &SaidOfOperation<'_>,
) -> Option<(FailingOperation, Vec<String>)> {
    let texts = &cx.inventory.texts;
    let all = versions(cx.inventory);
    let (version, overrides) = seen(cx.inventory, &all, failing)?;
    let overrides: Option<Vec<_>> = overrides
        .into_iter()
        .map(|it| Some(Override::new(Arc::clone(it), texts.get(&it.object())?)))
        .collect();
    let overrides = overrides?;
    let content = Content::of_version(version, texts, said.generator)?;
    let placed = PlacedOverrides::bound(failing.member?, failing.binding, &overrides);
    let placed = [placed];
    let rendering = Rendering::new(&content, &overrides, &placed);
    let faults = rendering.faults.into_iter();
    let mut fitting = faults.filter_map(|fault| match fault.cause {
        FaultCause::Operation(failing) => said
            .fits(&failing, &fault.objects)
            .then_some((failing, fault.objects)),
        _ => None,
    });
    let found = fitting.next()?;
    // Which of two it was, the text does not say.
    let same = |(other, _): (FailingOperation, _)| {
        let of = |it: &FailingOperation| (it.over.clone(), it.rule, it.operation);
        of(&other) == of(&found.0)
    };
    fitting.all(same).then_some(found)
}

impl SaidOfOperation<'_> {
    fn fits(&self, failing: &FailingOperation, objects: &[String]) -> bool {
        let is_over = |over: &Subject| Subject::from(&failing.over) == *over;
        // Where no object is named, the path is all that tells.
        let mut words = self.error.split(|c: char| c.is_whitespace() || c == '"');
        let is_object = match self.object {
            Some(object) => objects.iter().any(|it| it == object),
            None => words.any(|word| word.trim_end_matches(':') == failing.path),
        };
        self.over.is_none_or(is_over) && is_object
    }
}
