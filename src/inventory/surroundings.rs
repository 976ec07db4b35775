//! What is around a placement: the same for each run on it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::Timestamp;

use super::choose;
use super::gathered::WalkAnswers;
use super::sight::Listing;
use super::source::{HubQuery, QueryAnswer};
use super::walk::Walk;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::{PolicySnapshot, ResourceSnapshot};
use crate::kubefleet::{Concept, Conditions, Kind, ObjectRef, reasons};
use crate::words::{by_key, distinct};

/// What is around a placement, whichever of its runs was asked about.
#[derive(Debug, Clone)]
pub struct PlacementSurroundings {
    /// All runs on the placement, the target among them, oldest first.
    pub runs: Listing<UpdateRun>,
    /// The placement's bindings.
    pub bindings: Listing<Binding>,
    /// The placement's resource snapshots.
    pub snapshots: Listing<ResourceSnapshot>,
    /// The placement's policy snapshots.
    pub policies: Listing<PolicySnapshot>,
    pub members: Listing<MemberCluster>,
    /// The answers that all of it was read from.
    answers: Vec<(HubQuery, QueryAnswer)>,
    run_by_name: BTreeMap<String, usize>,
    under_way: Vec<usize>,
    binding_by_cluster: BTreeMap<String, Vec<usize>>,
    member_by_name: BTreeMap<String, usize>,
}

impl PlacementSurroundings {
    fn new(walk: &Walk, placement: &str) -> Self {
        let scope = walk.scope();
        let gathered = WalkAnswers::new(&walk.known);
        let mut runs = gathered.listing::<UpdateRun>(scope.kind(Concept::UpdateRun));
        runs.items.retain(|run| run.spec.placement == placement);
        runs.items
            .sort_by(|a, b| choose::age_key(a).cmp(&choose::age_key(b)));
        let bindings = gathered.listing::<Binding>(scope.kind(Concept::Binding));
        let snapshots = scope.kind(Concept::ResourceSnapshot);
        let policies = scope.kind(Concept::PolicySnapshot);
        let members = gathered.listing::<MemberCluster>(Kind::MemberCluster);
        let places = bindings.iter().enumerate();
        let binding_by_cluster = by_key(places.map(|(at, it)| (it.spec.cluster.clone(), at)));
        let names = runs.iter().map(|run| run.meta.name.clone());
        let run_by_name = names.zip(0..).collect();
        let names = members.iter().map(|member| member.meta.name.clone());
        let member_by_name = names.zip(0..).collect();
        let under_way = runs.iter().zip(0..);
        let under_way = under_way
            .filter(|(run, _)| choose::is_under_way(run))
            .map(|(_, at)| at)
            .collect();
        Self {
            run_by_name,
            under_way,
            binding_by_cluster,
            member_by_name,
            snapshots: gathered.listing(snapshots),
            policies: gathered.listing(policies),
            runs,
            bindings,
            members,
            answers: answers(walk).map(|(q, a)| (q.clone(), a.clone())).collect(),
        }
    }

    /// The bindings of clusters that the placement stays on.
    pub fn staying(&self) -> impl Iterator<Item = &Binding> + Clone {
        let bindings = self.bindings.iter();
        bindings.filter(|it| !it.is_leaving())
    }

    /// Whether another walk around the placement was answered the same: with the same objects, not
    /// with equal ones.
    fn are_those_of(&self, walk: &Walk) -> bool {
        let same = |(known, answer): &(HubQuery, QueryAnswer),
                    (query, other): (&HubQuery, &QueryAnswer)| {
            known == query
                && answer.outcome == other.outcome
                && Arc::ptr_eq(&answer.objects, &other.objects)
        };
        let mut others = answers(walk);
        let mut own = self.answers.iter();
        own.all(|own| others.next().is_some_and(|other| same(own, other)))
            && others.next().is_none()
            && walk.run().is_none_or(|run| {
                self.run_named(&run.meta.name)
                    .is_some_and(|known| std::ptr::eq(known.as_ref(), run))
            })
    }

    pub(super) fn run_named(&self, name: &str) -> Option<&Arc<UpdateRun>> {
        self.runs.items.get(*self.run_by_name.get(name)?)
    }

    pub fn run_on(&self, name: &str) -> Option<&UpdateRun> {
        self.run_named(name).map(AsRef::as_ref)
    }

    /// Whether a run was asked for and does not exist, on whichever placement.
    pub fn is_run_gone(&self, run: &ObjectRef) -> bool {
        let mut asked = self.answers.iter();
        asked.any(|(query, it)| *query == HubQuery::object(run) && it.is_known_absent())
    }

    /// The runs on the placement that have started, are not over and are not being deleted, oldest
    /// first.
    pub fn runs_under_way(&self) -> impl Iterator<Item = &UpdateRun> {
        let runs = self.under_way.iter();
        runs.filter_map(|at| self.runs.items.get(*at))
            .map(AsRef::as_ref)
    }

    /// The binding of the placement to a cluster. There may be two while one is being deleted: the
    /// one that stays is meant.
    pub fn binding(&self, cluster: &str) -> Option<&Binding> {
        self.bindings_of(cluster)
            .min_by_key(|binding| (binding.meta.is_deleting(), binding.is_unscheduled()))
    }

    pub fn bindings_of(&self, cluster: &str) -> impl Iterator<Item = &Binding> {
        self.binding_by_cluster
            .get(cluster)
            .into_iter()
            .flatten()
            .filter_map(|at| self.bindings.items.get(*at))
            .map(AsRef::as_ref)
    }

    pub fn member(&self, cluster: &str) -> Option<&MemberCluster> {
        self.members
            .items
            .get(*self.member_by_name.get(cluster)?)
            .map(AsRef::as_ref)
    }

    /// Whether a member cluster is known not to exist.
    pub fn member_is_absent(&self, cluster: &str) -> bool {
        let mut asked = self.answers.iter().map(|(query, _)| query.kind);
        self.members.is_complete()
            && asked.any(|kind| kind == Kind::MemberCluster)
            && !self.member_by_name.contains_key(cluster)
    }

    /// When a member cluster came back to which nothing has been sent since: its Works went with its
    /// namespace when it left the fleet, and what it had is there without them.
    pub fn back_without_works(&self, cluster: &str) -> Option<Timestamp> {
        let joined = self.member(cluster)?.meta.created?;
        let conditions = &self.binding(cluster)?.status.conditions;
        let synchronized = conditions.condition(reasons::WORK_SYNCHRONIZED)?;
        let failed = synchronized.is_false() && synchronized.since? < joined;
        failed.then_some(joined)
    }

    /// Whether a cluster keeps what it has when its binding goes: it left the fleet, if only for a while.
    pub fn keeps_content(&self, cluster: &str) -> bool {
        self.member_is_absent(cluster) || self.back_without_works(cluster).is_some()
    }

    /// The policy snapshots that are marked as the latest.
    pub fn latest_policies(&self) -> impl Iterator<Item = &PolicySnapshot> {
        self.policies.iter().filter(|policy| policy.is_latest())
    }

    /// The policy snapshot that decides: the one that is marked as the latest, where there is exactly one.
    pub fn latest_policy(&self) -> Option<&PolicySnapshot> {
        let mut latest = self.latest_policies();
        let first = latest.next()?;
        latest.next().is_none().then_some(first)
    }

    /// The master snapshot of a version.
    pub fn snapshot(&self, index: &str) -> Option<&ResourceSnapshot> {
        self.master(|snapshot| snapshot.index() == Some(index))
    }

    fn master(&self, is_meant: impl Fn(&ResourceSnapshot) -> bool) -> Option<&ResourceSnapshot> {
        let parts = self.snapshots.iter().filter(|it| is_meant(it));
        parts.max_by_key(|snapshot| snapshot.is_master())
    }

    /// The indexes of the versions that exist, lowest first.
    pub fn snapshot_indexes(&self) -> Vec<u64> {
        let snapshots = self.snapshots.iter();
        distinct(snapshots.filter_map(|snapshot| snapshot.index()?.parse().ok()))
    }

    /// The master snapshot of the version that is marked as the latest.
    pub fn latest_snapshot(&self) -> Option<&ResourceSnapshot> {
        self.master(ResourceSnapshot::is_latest)
    }
}

/// The answers that surroundings are read from. The question for the run itself is another one for
/// each.
fn answers(walk: &Walk) -> impl Iterator<Item = (&HubQuery, &QueryAnswer)> {
    let scope = walk.scope();
    let target = walk.target_query();
    let read = [
        scope.kind(Concept::UpdateRun),
        scope.kind(Concept::Binding),
        scope.kind(Concept::ResourceSnapshot),
        scope.kind(Concept::PolicySnapshot),
        Kind::MemberCluster,
    ];
    walk.known
        .iter()
        .filter(move |(query, _)| read.contains(&query.kind) && **query != target)
}

/// The surroundings of the placements that were looked at, for further targets on them.
#[derive(Debug, Default)]
pub struct SharedSurroundings {
    by_placement: HashMap<ObjectRef, Arc<PlacementSurroundings>>,
}

impl SharedSurroundings {
    /// What is around a placement: what is known already, where the walk was answered the same.
    pub(super) fn around(&mut self, walk: &Walk, placement: &str) -> Arc<PlacementSurroundings> {
        let key = walk.scope().object(Concept::Placement, placement);
        if let Some(known) = self.by_placement.get(&key)
            && known.are_those_of(walk)
        {
            return Arc::clone(known);
        }
        let new = Arc::new(PlacementSurroundings::new(walk, placement));
        self.by_placement.insert(key, Arc::clone(&new));
        new
    }
}
