//! The one way in which commands get a plan: what the controller would compute for a run, and why it
//! would refuse.

use std::collections::{BTreeMap, BTreeSet};

use crate::commands::gather::manifests::{self, ReadOverrides};
use crate::commands::gather::placement_objects::{self, PlacementObjects};
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::selected_content;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::{HubError, ListProgress};
use crate::inventory::source::{HubFacts, HubQuery, ObjectSource, Outcome, all_of};
use crate::inventory::{Inventory, NamespaceCarriers};
use crate::kubefleet::apply::ApplyStrategy;
use crate::kubefleet::object::ObjectBody;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope, names};
use crate::manifests::live::{NextSnapshot, SelectedObjects, SnapshotPart};
use crate::plan::{self, Plan, PlanContents, ToldByWorks, WarningKind};
use crate::problems::{self, ProblemsInTheWay};
use crate::report::NotChecked;
use crate::rollout::in_the_way::{InTheWay, NewObjects};
use crate::ui::Ui;
use crate::words::enumerate;

pub(in crate::commands) use crate::plan::{PlannedRun, StrategyChoice};

pub struct PlanWithInputs {
    pub plan: Plan,
    /// What is around the placement, with the texts of the snapshots.
    pub around: PlacementObjects,
    pub overrides: ReadOverrides,
}

/// Reads what a run would be computed from, and computes it. Fails only where the hub itself does
/// not answer or does not serve update runs: what else could not be read stands in the plan.
pub fn read(reading: &mut SourceReading, wish: &PlannedRun) -> Result<PlanWithInputs, Error> {
    let placement = &wish.placement;
    let scope = placement.scope();
    let namespace = scope.namespace();
    let strategies = scope.kind(Concept::Strategy);
    let mut first = vec![HubQuery::named(placement.kind, namespace, &placement.name)];
    if let StrategyChoice::Named(name) = &wish.strategy {
        first.push(HubQuery::named(strategies, namespace, name));
    }
    // Another strategy may keep the controller from seeing this one. Who may not list them does without.
    let mut asked = first.clone();
    let mut known = BTreeMap::new();
    if !namespace.is_empty() {
        asked.extend(NamespaceCarriers::queries(namespace, &known));
    }
    asked.push(HubQuery::all(strategies, ""));
    let mut answers = reading.answer(&asked);
    let others = answers.pop();
    reading.no_hub()?;
    known.extend(asked.into_iter().zip(answers.iter().cloned()));
    if reading.hub().is_some()
        && let Some((query, _)) = first
            .iter()
            .zip(&answers)
            .find(|(_, answer)| answer.outcome == Outcome::NotServed)
    {
        return Err(HubError::NotServed(query.kind).into());
    }
    let absent = |kind: Kind| {
        let known = |answer: &crate::inventory::source::QueryAnswer| {
            answer.objects.is_empty() && answer.outcome.gap().is_none()
        };
        let mut all = first.iter().zip(&answers);
        all.any(|(query, answer)| query.kind == kind && known(answer))
    };
    let mut more = first.clone();
    more.push(HubQuery::all(Kind::MemberCluster, ""));
    if absent(strategies) {
        more.push(HubQuery::all(strategies, namespace));
    }
    if !namespace.is_empty() {
        more.extend(NamespaceCarriers::queries(namespace, &known));
    }
    if absent(placement.kind) {
        // Misspelt, or in the other scope?
        more.push(HubQuery::all(Kind::ClusterResourcePlacement, ""));
        more.push(HubQuery::all(Kind::ResourcePlacement, ""));
    }
    more.sort();
    more.dedup();
    let useful = [
        Concept::UpdateRun,
        Concept::Binding,
        Concept::ResourceSnapshot,
        Concept::PolicySnapshot,
    ];
    let texts = placement_objects::texts(reading, placement, &manifests::overrides(namespace));
    let overrides = ReadOverrides::new(&texts);
    let mut around = placement_objects::read_more(reading, placement, &useful, &more, texts)?;
    reading.no_hub()?;
    if around.inventory.hub.run_states.is_none()
        && let Some(hub) = reading.hub()
    {
        around.inventory.hub = HubFacts {
            run_states: hub.run_states(scope.kind(Concept::UpdateRun)).ok(),
        };
    }
    let others = others.filter(|_| !absent(strategies));
    let hidden = others.as_ref().and_then(|it| it.outcome.gap());
    if let Some(others) = others {
        let others = others.all::<Strategy>().cloned();
        around.inventory.strategies.items.extend(others);
    }
    let selected = selected(reading, wish, &around.inventory)?;
    let (mut gaps, mut unmatched) = (BTreeSet::new(), Vec::new());
    let (mut is_current, mut unclear) = (false, Vec::new());
    if let Some(mut selected) = selected {
        gaps = std::mem::take(&mut selected.gaps);
        unmatched = std::mem::take(&mut selected.unmatched);
        let is_read = gaps.is_empty();
        let next = NextSnapshot::of(&around.inventory, &around.texts, selected);
        unclear = next.unclear;
        is_current = is_read && next.parts.is_some() && unclear.is_empty();
        put_next_snapshot(&mut around, next.parts.unwrap_or_default());
    }
    add_overrides_elsewhere(reading, &mut around.inventory);
    let mut contents = PlanContents {
        texts: &around.texts,
        overrides: &overrides.found,
        unmatched: &unmatched,
        is_current,
        unclear: &unclear,
        works: ToldByWorks::default(),
    };
    let mut plan = plan::compute(&around.inventory, wish, &contents);
    let reused = plan.warnings_of(WarningKind::SnapshotNameReused);
    let mut unclear: Vec<_> = reused.flat_map(|it| it.clusters.clone()).collect();
    unclear.extend(plan.told_by_works.iter().cloned());
    contents.works = manifests::told_by_works(reading, placement, &unclear);
    if !contents.works.held.is_empty() {
        plan = plan::compute(&around.inventory, wish, &contents);
    }
    plan.not_checked
        .extend(hidden.map(|why| NotChecked::new(format!("other {}", strategies.plural()), why)));
    if let Some((_, why)) = gaps.first().cloned() {
        let what = enumerate(gaps.into_iter().map(|(what, _)| what));
        plan.not_checked
            .push(NotChecked::new(format!("{what} on the hub"), why));
    }
    let clusters = plan.stages.iter().flat_map(|stage| &stage.clusters);
    let clusters = clusters.map(|it| it.name.as_str());
    let new = plan::new_objects(placement.clone(), &plan.changes);
    let apply = around.inventory.placement.present();
    let apply = apply.map(Placement::apply_strategy);
    let (found, unread) = in_the_way(reading, (&new, apply.as_ref()), clusters)?;
    plan.warn_in_the_way(found, &around.inventory);
    plan.not_checked.extend(unread);
    plan.not_checked.sort();
    Ok(PlanWithInputs {
        plan,
        around,
        overrides,
    })
}

/// What is in the way in the first of some clusters that get something new, and what could not be read of it.
pub fn in_the_way<'n>(
    reading: &mut SourceReading,
    (new, apply): (&NewObjects<'_>, Option<&ApplyStrategy>),
    clusters: impl Iterator<Item = &'n str>,
) -> Result<(ProblemsInTheWay, Option<NotChecked>), Error> {
    if apply.is_some_and(ApplyStrategy::owns_nothing) {
        return Ok((ProblemsInTheWay::default(), None));
    }
    let compares_only = apply.is_some_and(ApplyStrategy::is_report_diff);
    let (mut first, mut others) = new.first_clusters(clusters);
    if reading.is_offline() {
        first.append(&mut others);
    }
    let works = first
        .iter()
        .map(|it| HubQuery::all(Kind::Work, &names::member_namespace(it)));
    let works: Vec<_> = works.collect();
    let mut placed = vec![Vec::new(); works.len()];
    let answers = reading.each(&works, |at, more| match more {
        ListProgress::Objects(objects) => {
            placed[at].extend(objects.iter().flat_map(|object| match &object.body {
                ObjectBody::Work(work) => InTheWay::of(work, new),
                _ => Vec::new(),
            }));
        }
        ListProgress::Again => placed[at].clear(),
    });
    reading.no_hub()?;
    // Files have the Works of one placement.
    let mut answers = answers.iter().filter(|_| !reading.is_offline());
    let gap = answers.find_map(|it| it.outcome.gap());
    let unread = |why: String| NotChecked::new("Works of other placements", why);
    let unread = match gap {
        Some(why) => Some(unread(why)),
        None if others.is_empty() => None,
        None => {
            let why = format!("those of the first {} clusters were read", first.len());
            let others = others.into_iter().map(str::to_owned);
            Some(unread(why).on(others.collect()))
        }
    };
    let found = placed.into_iter().flatten().collect();
    Ok((problems::in_the_way(found, compares_only), unread))
}

/// Adds the overrides of other namespaces for a placement in a namespace whose snapshots have several parts: with
/// any override on the hub, the controller looks for the parts.
/// Source: utils/overrider/overrider.go:FetchAllMatchingOverridesForResourceSnapshot.
fn add_overrides_elsewhere(reading: &mut SourceReading, inventory: &mut Inventory) {
    let is_split = |it: &ResourceSnapshot| it.parts().is_some_and(|parts| parts > 1);
    let counts = !inventory.scope.namespace().is_empty()
        && inventory.snapshots.iter().any(is_split)
        && !inventory.overrides.iter().any(OverrideSnapshot::is_latest);
    if !counts {
        return;
    }
    let latest = HubQuery::latest(Kind::ResourceOverrideSnapshot, "");
    let elsewhere = reading.answer(&[latest]);
    inventory
        .overrides
        .items
        .extend(all_of(&elsewhere).cloned());
}

/// All that the placement selects on a hub, where the run is given that; nothing for selectors that KubeFleet
/// refuses, which is told elsewhere.
fn selected(
    reading: &mut SourceReading,
    wish: &PlannedRun,
    inventory: &Inventory,
) -> Result<Option<SelectedObjects>, Error> {
    let placement = inventory.placement.present();
    let placement = placement.filter(|it| wish.snapshot.is_none() && it.is_external());
    match placement.filter(|_| reading.hub().is_some() && inventory.snapshots.is_complete()) {
        Some(placement) => Ok(selected_content::read(reading, placement)?.ok()),
        None => Ok(None),
    }
}

/// Puts a snapshot there that is still to be made.
fn put_next_snapshot(around: &mut PlacementObjects, parts: Vec<SnapshotPart>) {
    let (parts, texts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let names = parts.iter().map(ResourceSnapshot::object);
    around.texts.extend(names.zip(texts));
    if !parts.is_empty() {
        around.inventory.put_latest_snapshot(parts);
    }
}

/// The placement that a user means. One that is nowhere to be found is one more thing that the plan
/// tells, beside all the others.
pub fn placement(reading: &mut SourceReading, word: &str, ui: &mut Ui) -> Result<ObjectRef, Error> {
    let flag = ("--placement", word);
    let found = reading.target_of_flag(flag, Concept::Placement, ui);
    match found {
        Err(error) if error.exit == Exit::NotFound && !word.is_empty() && !word.contains('/') => {
            Ok(reading.scope().object(Concept::Placement, word))
        }
        other => other,
    }
}

/// The name of the strategy that a user means: a name, or TYPE/NAME in the placement's scope.
pub fn strategy(word: &str, scope: &Scope) -> Result<String, Error> {
    let kind = scope.kind(Concept::Strategy);
    let form = || format!("{}/NAME", kind.short_word());
    let Some((given, name)) = word.split_once('/') else {
        return Ok(word.to_owned());
    };
    if Kind::from_word(given) != Some(kind) {
        return Err(Error::usage(format!("{word:?} is not a {kind}"))
            .hint(format!("use NAME or {}", form())));
    }
    if name.is_empty() {
        return Err(Error::usage("the name after / is missing"));
    }
    Ok(name.to_owned())
}
