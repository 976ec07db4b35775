//! Everything collected about one target, frozen, and the relations between the objects.

pub mod choose;
mod sight;
pub mod source;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::object::{Body, Object};
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::{PolicySnapshot, ResourceSnapshot};
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::work::Work;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope, names};
use crate::member::Look;

pub use sight::{Listing, Sight};
use source::{HubFacts, Outcome, Query};
pub use walk::{BLOCKING, Walk};

/// Everything that was collected about one target.
#[derive(Debug)]
pub struct Inventory {
    /// The update run or placement that was asked about.
    pub target: ObjectRef,
    /// The scope in which everything lives.
    pub scope: Scope,
    /// The moment for which everything is judged.
    pub now: Timestamp,
    /// What is known about the hub.
    pub hub: HubFacts,
    /// The run that the verdict is about; `Absent` for a placement without one.
    pub run: Sight<UpdateRun>,
    /// The placement's name; empty when the run is not known.
    pub placement_name: String,
    /// The placement.
    pub placement: Sight<Placement>,
    /// The run's strategy as it is now.
    pub strategy: Sight<Strategy>,
    /// Other strategies of the scope; read only when the run's own does not exist.
    pub strategies: Listing<Strategy>,
    /// All runs on the placement, the target among them, oldest first.
    pub runs: Listing<UpdateRun>,
    /// The run's approval requests, and those under the names that its status gives.
    pub approvals: Listing<ApprovalRequest>,
    /// The placement's bindings.
    pub bindings: Listing<Binding>,
    /// The placement's resource snapshots.
    pub snapshots: Listing<ResourceSnapshot>,
    /// The placement's policy snapshots.
    pub policies: Listing<PolicySnapshot>,
    /// The member clusters.
    pub members: Listing<MemberCluster>,
    /// The Works of bindings that are in flight or in trouble.
    pub works: Listing<Work>,
    /// Override snapshots of both kinds; read only for a plan.
    pub overrides: Listing<OverrideSnapshot>,
    /// Placements of both scopes; read only when the run's own does not exist.
    pub placements: Listing<Placement>,
    /// Why objects of a kind may be missing, for each kind that was asked for in vain.
    pub gaps: BTreeMap<Kind, String>,
    /// How reading each kind went; a kind that nobody asked for is left out.
    pub outcomes: BTreeMap<Kind, Outcome>,
    /// What was seen in the member clusters themselves, by cluster; empty when nobody looked.
    pub looks: BTreeMap<String, Look>,
    binding_by_cluster: BTreeMap<String, Vec<usize>>,
    member_by_name: BTreeMap<String, usize>,
    works_by_binding: BTreeMap<String, Vec<usize>>,
}

impl Inventory {
    /// Freezes what a walk has found.
    pub fn new(walk: Walk, now: Timestamp, hub: HubFacts) -> Self {
        let scope = walk.scope();
        let placement_name = walk.placement_name().unwrap_or_default();
        let chosen = walk
            .run()
            .map(|run| (run.meta.name.clone(), run.spec.strategy.clone()));
        let outcomes = walk.outcomes();
        let Walk { target, known, .. } = walk;
        let mut gaps = BTreeMap::new();
        for (query, answer) in &known {
            if let Some(gap) = answer.outcome.gap() {
                gaps.entry(query.kind).or_insert(gap);
            }
        }
        let gathered = Gathered { known, gaps: &gaps };
        let mut runs = gathered.listing(scope.kind(Concept::UpdateRun), as_run);
        let run = match &chosen {
            Some((name, _)) => runs
                .items
                .iter()
                .find(|run| run.meta.name == *name)
                .map_or(Sight::Absent, |run| Sight::Present(Arc::clone(run))),
            None if target.kind.concept() == Concept::UpdateRun => gathered.sight(
                &Query::named(target.kind, &target.namespace, &target.name),
                as_run,
            ),
            None => runs.gap.clone().map_or(Sight::Absent, Sight::Unknown),
        };
        runs.items
            .retain(|run| run.spec.placement == placement_name);
        runs.items
            .sort_by(|a, b| choose::age_key(a).cmp(&choose::age_key(b)));
        let named =
            |concept, name: &str| Query::named(scope.kind(concept), scope.namespace(), name);
        let strategies = gathered.listing(scope.kind(Concept::Strategy), as_strategy);
        let strategy = chosen.as_ref().map_or(Sight::Absent, |(_, strategy)| {
            gathered.sight(&named(Concept::Strategy, strategy), as_strategy)
        });
        let placement = if placement_name.is_empty() {
            Sight::Unknown("the run is not known".to_owned())
        } else {
            gathered.sight(&named(Concept::Placement, &placement_name), as_placement)
        };
        let mut placements = gathered.listing(Kind::ClusterResourcePlacement, as_placement);
        let namespaced = gathered.listing(Kind::ResourcePlacement, as_placement);
        placements.items.extend(namespaced.items);
        placements.gap = placements.gap.or(namespaced.gap);
        let mut overrides = gathered.listing(Kind::ClusterResourceOverrideSnapshot, as_override);
        let namespaced = gathered.listing(Kind::ResourceOverrideSnapshot, as_override);
        overrides.items.extend(namespaced.items);
        overrides.gap = overrides.gap.or(namespaced.gap);
        let bindings = gathered.listing(scope.kind(Concept::Binding), as_binding);
        let members = gathered.listing(Kind::MemberCluster, as_member);
        let works = gathered.listing(Kind::Work, as_work);
        let approvals = gathered.listing(scope.kind(Concept::ApprovalRequest), as_approval);
        let snapshots =
            gathered.listing(scope.kind(Concept::ResourceSnapshot), as_resource_snapshot);
        let policies = gathered.listing(scope.kind(Concept::PolicySnapshot), as_policy_snapshot);
        let mut this = Self {
            run,
            placement,
            strategy,
            strategies,
            runs,
            approvals,
            bindings,
            snapshots,
            policies,
            members,
            works,
            overrides,
            placements,
            placement_name,
            target,
            scope,
            now,
            hub,
            gaps,
            outcomes,
            looks: BTreeMap::new(),
            binding_by_cluster: BTreeMap::new(),
            member_by_name: BTreeMap::new(),
            works_by_binding: BTreeMap::new(),
        };
        this.index();
        this
    }

    fn index(&mut self) {
        for (at, binding) in self.bindings.items.iter().enumerate() {
            self.binding_by_cluster
                .entry(binding.spec.cluster.clone())
                .or_default()
                .push(at);
        }
        for (at, member) in self.members.items.iter().enumerate() {
            self.member_by_name.insert(member.meta.name.clone(), at);
        }
        for (at, work) in self.works.items.iter().enumerate() {
            if let Some(binding) = work.binding() {
                self.works_by_binding
                    .entry(binding.to_owned())
                    .or_default()
                    .push(at);
            }
        }
    }

    /// The binding of the placement to a cluster. There may be two while one is being deleted: the
    /// one that stays is meant.
    pub fn binding(&self, cluster: &str) -> Option<&Binding> {
        self.bindings_of(cluster)
            .min_by_key(|binding| (binding.meta.is_deleting(), binding.is_unscheduled()))
    }

    /// All bindings of the placement to a cluster.
    pub fn bindings_of(&self, cluster: &str) -> impl Iterator<Item = &Binding> {
        self.binding_by_cluster
            .get(cluster)
            .into_iter()
            .flatten()
            .filter_map(|at| self.bindings.items.get(*at))
            .map(AsRef::as_ref)
    }

    /// The member cluster of that name.
    pub fn member(&self, cluster: &str) -> Option<&MemberCluster> {
        self.members
            .items
            .get(*self.member_by_name.get(cluster)?)
            .map(AsRef::as_ref)
    }

    /// Whether a member cluster is known not to exist.
    pub fn member_is_absent(&self, cluster: &str) -> bool {
        self.members.is_complete() && !self.member_by_name.contains_key(cluster)
    }

    /// The Works of a binding, in the binding's member cluster.
    pub fn works_of(&self, binding: &Binding) -> impl Iterator<Item = &Work> {
        let cluster = binding.spec.cluster.clone();
        self.works_by_binding
            .get(&binding.meta.name)
            .into_iter()
            .flatten()
            .filter_map(|at| self.works.items.get(*at))
            .map(AsRef::as_ref)
            .filter(move |work| work.cluster() == Some(cluster.as_str()))
    }

    /// Whether a Work carries content of the placement.
    pub fn is_of_placement(&self, work: &Work) -> bool {
        work.meta.label(names::PARENT_PLACEMENT) == Some(self.placement_name.as_str())
            && work.meta.label(names::PARENT_NAMESPACE).unwrap_or_default()
                == self.scope.namespace()
    }

    /// The approval request of that name.
    pub fn approval(&self, name: &str) -> Sight<ApprovalRequest> {
        match self
            .approvals
            .items
            .iter()
            .find(|request| request.meta.name == name)
        {
            Some(request) => Sight::Present(Arc::clone(request)),
            None => self
                .approvals
                .gap
                .clone()
                .map_or(Sight::Absent, Sight::Unknown),
        }
    }

    /// The policy snapshots that are marked as the latest.
    pub fn latest_policies(&self) -> impl Iterator<Item = &PolicySnapshot> {
        self.policies.iter().filter(|policy| policy.is_latest())
    }

    /// The master snapshot of a version.
    pub fn snapshot(&self, index: &str) -> Option<&ResourceSnapshot> {
        self.snapshots
            .iter()
            .filter(|snapshot| snapshot.index() == Some(index))
            .max_by_key(|snapshot| snapshot.is_master())
    }

    /// The indexes of the versions that exist, lowest first.
    pub fn snapshot_indexes(&self) -> Vec<u64> {
        let indexes: BTreeSet<u64> = self
            .snapshots
            .iter()
            .filter_map(|snapshot| snapshot.index()?.parse().ok())
            .collect();
        indexes.into_iter().collect()
    }

    /// The master snapshot of the version that is marked as the latest.
    pub fn latest_snapshot(&self) -> Option<&ResourceSnapshot> {
        self.snapshots
            .iter()
            .filter(|snapshot| snapshot.is_latest())
            .max_by_key(|snapshot| snapshot.is_master())
    }

    /// The runs on the placement other than the one that the verdict is about, oldest first.
    pub fn other_runs(&self) -> impl Iterator<Item = &UpdateRun> {
        let own = self.run.present().map(|run| run.meta.name.clone());
        self.runs
            .iter()
            .filter(move |run| Some(&run.meta.name) != own.as_ref())
    }

    /// The name of the master snapshot that the run rolls out.
    pub fn wanted_snapshot(&self) -> Option<String> {
        let run = self.run.present()?;
        let index = &run.status.snapshot_index;
        (!index.is_empty()).then(|| names::master_snapshot(&self.placement_name, index))
    }
}

#[cfg(test)]
impl Inventory {
    /// What is around a placement, for tests: these objects and no others. Kinds of which there is
    /// none are those of which nothing is known where `complete` is not set.
    pub(crate) fn around(
        placement: &ObjectRef,
        objects: &[serde_json::Value],
        complete: bool,
        now: Timestamp,
    ) -> Self {
        let objects: Vec<_> = objects.iter().map(Object::of).collect();
        let scope = placement.scope();
        let concepts = [
            Concept::Placement,
            Concept::UpdateRun,
            Concept::ResourceSnapshot,
            Concept::Binding,
        ];
        let (mut queries, mut answers) = (Vec::new(), Vec::new());
        for concept in concepts {
            let kind = scope.kind(concept);
            queries.push(match concept {
                Concept::Placement => Query::named(kind, &placement.namespace, &placement.name),
                _ => Query::all(kind, scope.namespace()),
            });
            let found: Vec<_> = objects.iter().filter(|o| o.kind == kind).cloned().collect();
            let outcome = if complete || !found.is_empty() {
                source::Outcome::Listed
            } else {
                source::Outcome::NotCollected
            };
            answers.push(source::Answer {
                objects: found,
                outcome,
            });
        }
        let mut walk = Walk::new(placement.clone());
        walk.absorb(queries, answers);
        Self::new(walk, now, HubFacts::default())
    }
}

/// The answers of a walk, being sorted.
struct Gathered<'g> {
    known: BTreeMap<Query, source::Answer>,
    gaps: &'g BTreeMap<Kind, String>,
}

impl Gathered<'_> {
    fn listing<T>(&self, kind: Kind, pick: fn(&Object) -> Option<&Arc<T>>) -> Listing<T> {
        let mut items = BTreeMap::new();
        for answer in self
            .known
            .iter()
            .filter(|(query, _)| query.kind == kind)
            .map(|(_, answer)| answer)
        {
            for object in &answer.objects {
                if let Some(item) = pick(object) {
                    let meta = object.body.meta();
                    let name = (meta.namespace.as_str(), meta.name.as_str());
                    items.insert(name, Arc::clone(item));
                }
            }
        }
        Listing {
            items: items.into_values().collect(),
            gap: self.gaps.get(&kind).cloned(),
        }
    }

    fn sight<T>(&self, query: &Query, pick: fn(&Object) -> Option<&Arc<T>>) -> Sight<T> {
        let Some(answer) = self.known.get(query) else {
            return Sight::Unknown("not asked for".to_owned());
        };
        match answer.objects.iter().find_map(pick) {
            Some(object) => Sight::Present(Arc::clone(object)),
            None => answer.outcome.gap().map_or(Sight::Absent, Sight::Unknown),
        }
    }
}

macro_rules! pickers {
    ($( $name:ident: $variant:ident -> $ty:ty; )*) => {$(
        fn $name(object: &Object) -> Option<&Arc<$ty>> {
            match &object.body {
                Body::$variant(item) => Some(item),
                _ => None,
            }
        }
    )*};
}

pickers! {
    as_run: Run -> UpdateRun;
    as_strategy: Strategy -> Strategy;
    as_approval: Approval -> ApprovalRequest;
    as_placement: Placement -> Placement;
    as_binding: Binding -> Binding;
    as_resource_snapshot: ResourceSnapshot -> ResourceSnapshot;
    as_policy_snapshot: PolicySnapshot -> PolicySnapshot;
    as_member: Member -> MemberCluster;
    as_override: Override -> OverrideSnapshot;
    as_work: Work -> Work;
}
