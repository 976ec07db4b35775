//! One look at many targets: what is alike is asked together, and what was read for some of them is
//! dropped before the next ones are read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::commands::gather::reading::{ReadingPlace, SourceReading};
use crate::diagnose;
use crate::error::Error;
use crate::hub::ListProgress;
use crate::inventory::source::{HubQuery, ObjectSource, Outcome, QueryAnswer, QuerySelection};
use crate::inventory::{Inventory, SharedSurroundings, Walk};
use crate::kubefleet::ObjectRef;
use crate::kubefleet::run::UpdateRun;
use crate::words::distinct;

/// Over how many clusters placements are looked at together.
const TOGETHER: usize = 2000;
const PLACEMENTS: usize = 100;

#[derive(Default)]
struct PlacementTargets {
    targets: Vec<usize>,
    /// Over how many clusters a run of theirs goes at most.
    clusters: usize,
    /// Whether a run has clusters that it has started and not finished.
    is_in_flight: bool,
}

impl SourceReading {
    /// Reads lists object by object; what comes is given away with the number of its query. The answers
    /// say how it went, and hold no objects.
    pub fn each(
        &mut self,
        queries: &[HubQuery],
        mut take: impl FnMut(usize, ListProgress),
    ) -> Vec<QueryAnswer> {
        let is_streamed = self.mirror(queries).is_none()
            && queries
                .iter()
                .all(|query| matches!(query.which, QuerySelection::All { .. }));
        if is_streamed && let ReadingPlace::Hub(hub) = &mut self.place {
            let outcomes = hub.each(queries, take);
            self.take_time();
            return outcomes.into_iter().map(QueryAnswer::none).collect();
        }
        let answers = self.answer(queries);
        for (at, answer) in answers.iter().enumerate() {
            take(at, ListProgress::Objects(answer.objects.to_vec()));
        }
        answers
    }

    /// The same where many questions differ in a label's value alone, with the number of the list
    /// that it is in.
    pub fn each_alike(
        &mut self,
        queries: &[HubQuery],
        take: impl FnMut(usize, ListProgress),
    ) -> Vec<QueryAnswer> {
        match &mut self.place {
            ReadingPlace::Hub(hub) => {
                let outcomes = hub.each_alike(queries, take);
                outcomes.into_iter().map(QueryAnswer::none).collect()
            }
            ReadingPlace::Files(_) => self.each(queries, take),
        }
    }

    /// Walks around many targets, and gives away what is known of each. Runs that are deleted
    /// meanwhile are left out.
    pub fn look_at<T>(
        &mut self,
        targets: &[ObjectRef],
        mut each: impl FnMut(&mut Self, Inventory) -> T,
    ) -> Result<Vec<T>, Error> {
        let mut found = BTreeMap::new();
        let mut versions = HashMap::new();
        self.learn_small(targets);
        let groups = self.groups(targets);
        self.walk_groups(targets, groups, |reading, at, walk| {
            if let Some(run) = walk.run() {
                versions.insert(at, (run.object(), run.meta.resource_version.clone()));
            }
            let inventory = reading.freeze(walk);
            found.insert(at, each(reading, inventory));
        })?;
        // Runs that went on while they were looked at: what was read of them does not go together
        // with what was read after it. Once more is enough.
        let torn = self.torn(&versions);
        if !torn.is_empty() {
            self.forget();
            let groups = self.groups_of(targets, torn);
            self.walk_groups(targets, groups, |reading, at, walk| {
                let gone = walk.answer(&walk.target_query()).is_some_and(|answer| {
                    answer.objects.is_empty() && answer.outcome == Outcome::Listed
                });
                if gone {
                    found.remove(&at);
                    return;
                }
                let inventory = reading.freeze(walk);
                found.insert(at, each(reading, inventory));
            })?;
        }
        Ok(found.into_values().collect())
    }

    /// Asks for what is small of all targets together: one list has most of it. Bindings, snapshots
    /// of resources, and Works come group by group.
    fn learn_small(&mut self, targets: &[ObjectRef]) {
        if self.is_offline() {
            return;
        }
        let mut queries = BTreeSet::new();
        for target in targets {
            let mut walk = Walk::new(target.clone());
            let query = walk.target_query();
            let answer = self.ask(&query);
            walk.absorb(vec![query], vec![answer]);
            queries.extend(walk.next_round());
        }
        queries.retain(|query| !query.kind.is_large());
        self.answer(&queries.into_iter().collect::<Vec<_>>());
    }

    /// Walks group by group, and drops what was read for one before the next.
    fn walk_groups(
        &mut self,
        targets: &[ObjectRef],
        groups: Vec<Vec<usize>>,
        mut take: impl FnMut(&mut Self, usize, Walk),
    ) -> Result<(), Error> {
        for group in groups {
            for (at, walk) in self.walks(targets, &group)? {
                take(self, at, walk);
            }
            self.drop_parts();
        }
        Ok(())
    }

    fn walks(
        &mut self,
        targets: &[ObjectRef],
        group: &[usize],
    ) -> Result<Vec<(usize, Walk)>, Error> {
        let group: Vec<_> = group
            .iter()
            .filter_map(|at| Some((*at, targets.get(*at)?)))
            .collect();
        let mut walks: Vec<_> = group
            .iter()
            .map(|(_, target)| Walk::new((*target).clone()))
            .collect();
        Walk::drive_all(&mut walks, self);
        let walks = group.iter().zip(walks);
        walks
            .map(|((at, target), walk)| Ok((*at, self.checked(walk, target)?)))
            .collect()
    }

    pub(super) fn freeze(&mut self, walk: Walk) -> Inventory {
        let facts = self.hub_facts(walk.run().into_iter());
        let mut inventory = Inventory::sharing(walk, self.now, facts, &mut self.shared);
        if self.sees_members() {
            inventory.looks = self.look(&diagnose::errands(&inventory));
        }
        inventory.texts = self.texts(&diagnose::texts(&inventory));
        inventory
    }

    /// Drops what is large of targets that are done with.
    fn drop_parts(&mut self) {
        if let Some(hub) = self.hub() {
            hub.drop_large();
            self.shared = SharedSurroundings::default();
        }
    }

    /// The targets that are looked at together: those on one placement, and as many placements as
    /// have not too many clusters. Files have everything at hand.
    fn groups(&mut self, targets: &[ObjectRef]) -> Vec<Vec<usize>> {
        if self.is_offline() {
            return (0..targets.len()).map(|at| vec![at]).collect();
        }
        let all = (0..targets.len()).collect();
        self.groups_of(targets, all)
    }

    fn groups_of(&mut self, targets: &[ObjectRef], which: Vec<usize>) -> Vec<Vec<usize>> {
        let mut placements: BTreeMap<ObjectRef, PlacementTargets> = BTreeMap::new();
        for at in which {
            let Some(target) = targets.get(at) else {
                continue;
            };
            let answer = self.ask(&HubQuery::object(target));
            let run = answer.all::<UpdateRun>().next();
            let placement = run.map_or_else(|| target.clone(), |run| run.placement());
            let group = placements.entry(placement).or_default();
            group.targets.push(at);
            if let Some(run) = run {
                let clusters = run.all_stages().map(|stage| stage.clusters.len()).sum();
                group.clusters = group.clusters.max(clusters);
                group.is_in_flight |= run.in_flight().next().is_some();
            }
        }
        // Works are asked for by cluster: those of placements that need some come together.
        let mut placements: Vec<_> = placements.into_values().collect();
        placements.sort_by_key(|placement| !placement.is_in_flight);
        let mut groups: Vec<(Vec<usize>, usize, usize)> = Vec::new();
        for placement in placements {
            let clusters = placement.clusters;
            match groups.last_mut() {
                Some((last, sum, count)) if *sum + clusters <= TOGETHER && *count < PLACEMENTS => {
                    last.extend(placement.targets);
                    *sum += clusters;
                    *count += 1;
                }
                _ => groups.push((placement.targets, clusters, 1)),
            }
        }
        groups.into_iter().map(|(group, ..)| group).collect()
    }

    /// The targets whose runs have another version by now.
    fn torn(&mut self, read: &HashMap<usize, (ObjectRef, String)>) -> Vec<usize> {
        let Some(hub) = self.hub() else {
            return Vec::new();
        };
        let runs = read.values();
        let mut lists = distinct(runs.map(|(run, _)| HubQuery::all(run.kind, &run.namespace)));
        if lists.len() > 1 {
            // Many namespaces: all of them were listed at once.
            for query in &mut lists {
                *query = HubQuery::all(query.kind, "");
            }
            lists.dedup();
        }
        // What cannot be read again is taken as it was read.
        let Some(now) = hub.versions_now(&lists) else {
            return Vec::new();
        };
        let is_torn = |(run, version): &(ObjectRef, String)| {
            now.get(&(run.namespace.clone(), run.name.clone())) != Some(version)
        };
        let torn = read.iter().filter(|(_, read)| is_torn(read));
        let mut torn: Vec<_> = torn.map(|(at, _)| *at).collect();
        torn.sort_unstable();
        torn
    }
}
