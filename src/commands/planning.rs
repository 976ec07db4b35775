//! The one way in which commands get a plan: what the controller would compute for a run, and why it
//! would refuse.

use super::around::{self, Around};
use super::reading::Reading;
use crate::error::Error;
use crate::hub::HubError;
use crate::inventory::source::{HubFacts, Outcome, Query, Source};
use crate::kubefleet::{Concept, Kind, names};
use crate::plan::{self, Plan};
use crate::render;
use crate::render::text::Look;

pub(super) use crate::plan::{StrategyChoice, Wish};

/// A plan, and what it was computed from.
pub(super) struct Planned {
    /// The plan.
    pub plan: Plan,
    /// What is around the placement.
    pub around: Around,
}

/// Reads what a run would be computed from, and computes it. Fails only where the hub itself does
/// not answer or does not serve update runs: what else could not be read stands in the plan.
pub(super) fn read(reading: &mut Reading, wish: &Wish) -> Result<Plan, Error> {
    Ok(read_all(reading, wish)?.plan)
}

/// The same, with everything that was read.
pub(super) fn read_all(reading: &mut Reading, wish: &Wish) -> Result<Planned, Error> {
    let placement = &wish.placement;
    let scope = placement.scope();
    let namespace = scope.namespace();
    let strategies = scope.kind(Concept::Strategy);
    let mut first = vec![Query::named(placement.kind, namespace, &placement.name)];
    if let StrategyChoice::Named(name) = &wish.strategy {
        first.push(Query::named(strategies, namespace, name));
    }
    let answers = reading.answer(&first);
    reading.no_hub()?;
    if reading.hub().is_some()
        && let Some((query, _)) = first
            .iter()
            .zip(&answers)
            .find(|(_, answer)| answer.outcome == Outcome::NotInstalled)
    {
        return Err(HubError::NotServed(query.kind).into());
    }
    let absent = |kind: Kind| {
        let known = |answer: &crate::inventory::source::Answer| {
            answer.objects.is_empty() && answer.outcome.gap().is_none()
        };
        let mut all = first.iter().zip(&answers);
        all.any(|(query, answer)| query.kind == kind && known(answer))
    };
    let mut more = first.clone();
    more.push(Query::all(Kind::MemberCluster, ""));
    more.extend(overrides(namespace));
    if absent(strategies) {
        more.push(Query::all(strategies, namespace));
    }
    if absent(placement.kind) {
        // Misspelt, or in the other scope?
        more.push(Query::all(Kind::ClusterResourcePlacement, ""));
        more.push(Query::all(Kind::ResourcePlacement, ""));
    }
    let useful = [
        Concept::UpdateRun,
        Concept::Binding,
        Concept::ResourceSnapshot,
        Concept::PolicySnapshot,
    ];
    let mut around = around::read_more(reading, placement, &useful, &more)?;
    reading.no_hub()?;
    if around.inventory.hub.run_states.is_none()
        && let Some(hub) = reading.hub()
    {
        around.inventory.hub = HubFacts {
            run_states: hub.run_states(scope.kind(Concept::UpdateRun)).ok(),
        };
    }
    let plan = plan::compute(&around.inventory, wish);
    Ok(Planned { plan, around })
}

/// The overrides in force. A namespaced placement brings nothing of other namespaces.
fn overrides(namespace: &str) -> [Query; 2] {
    let latest = |kind, namespace| Query::labelled(kind, namespace, names::IS_LATEST, "true");
    [
        latest(Kind::ClusterResourceOverrideSnapshot, ""),
        latest(Kind::ResourceOverrideSnapshot, namespace),
    ]
}

/// A plan for people.
pub(super) fn show(plan: &Plan, look: &Look) -> String {
    render::plan::plan(plan, look)
}
