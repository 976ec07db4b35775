//! Everything collected about one target, frozen, and the relations between the objects.

mod carriers;
pub mod choose;
mod gathered;
mod sight;
pub mod source;
mod surroundings;
mod walk;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use jiff::Timestamp;

use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::binding::Binding;
#[cfg(test)]
use crate::kubefleet::object::Object;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::{ManifestIdentity, ResourceSnapshot};

use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::work::Work;
use crate::kubefleet::{Concept, Condition, Kind, ObjectRef, Scope, names, reasons};
use crate::member::MemberObservation;

pub use carriers::{NamespaceCarriers, carrying, was_applied};
use gathered::WalkAnswers;
pub use sight::{Listing, Sight};
use source::{HubFacts, HubQuery, ObjectTexts, Outcome};
pub use surroundings::{PlacementSurroundings, SharedSurroundings};
pub use walk::{BLOCKING, CLUSTERS_AHEAD, Walk};

/// Everything that was collected about one target. What is the same for every run on its placement
/// is in its [`PlacementSurroundings`], whose fields are read as if they were its own.
#[derive(Debug)]
pub struct Inventory {
    /// The update run or placement.
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
    pub placement: Sight<Placement>,
    /// The run's strategy as it is now.
    pub strategy: Sight<Strategy>,
    /// Strategies of the scope. Others than the run's own are read only where the controller may not have seen
    /// that one as it is.
    pub strategies: Listing<Strategy>,
    /// The run's approval requests, and those under the names that its status gives.
    pub approvals: Listing<ApprovalRequest>,
    /// The Works of bindings that are in flight or in trouble.
    pub works: Listing<Work>,
    /// Override snapshots of both kinds; read only for a plan.
    pub overrides: Listing<OverrideSnapshot>,
    /// Override snapshots that the run recorded for clusters that it has still to reach, and that do not
    /// exist.
    pub gone_overrides: Vec<ObjectRef>,
    /// Placements of both scopes; read only when the run's own does not exist, or to find what brings a namespace.
    pub placements: Listing<Placement>,
    /// What brings a namespaced placement's namespace to clusters, where that was read.
    pub carriers: Option<NamespaceCarriers>,
    /// Why objects of a kind may be missing, for each kind that was asked for in vain.
    pub gaps: BTreeMap<Kind, String>,
    /// How reading each kind went; a kind that nobody asked for is left out.
    pub outcomes: BTreeMap<Kind, Outcome>,
    /// What was seen in the member clusters themselves, by cluster; empty when nobody looked.
    pub looks: BTreeMap<String, MemberObservation>,
    /// The texts of the objects of which a rule needs all; most often none.
    pub texts: ObjectTexts,
    surroundings: Arc<PlacementSurroundings>,
    works_by_binding: BTreeMap<String, Vec<usize>>,
}

impl Deref for Inventory {
    type Target = PlacementSurroundings;

    fn deref(&self) -> &PlacementSurroundings {
        &self.surroundings
    }
}

impl Inventory {
    /// Puts a newer version of the content there, of which these are the parts: no other is the latest then.
    pub fn put_latest_snapshot(&mut self, parts: impl IntoIterator<Item = ResourceSnapshot>) {
        let snapshots = &mut Arc::make_mut(&mut self.surroundings).snapshots.items;
        for snapshot in snapshots.iter_mut().filter(|it| it.is_latest()) {
            let labels = &mut Arc::make_mut(snapshot).meta.labels;
            labels.insert(names::IS_LATEST.to_owned(), "false".to_owned());
        }
        snapshots.extend(parts.into_iter().map(Arc::new));
    }

    /// Whether the placement does not exist, or is about not to.
    pub fn is_placement_going(&self) -> bool {
        self.placement.is_absent() || self.is_placement_deleting()
    }

    /// Whether the placement exists, and is being deleted.
    pub fn is_placement_deleting(&self) -> bool {
        let placement = self.placement.present();
        placement.is_some_and(|it| it.meta.is_deleting())
    }

    /// Freezes what a walk has found.
    pub fn new(walk: Walk, now: Timestamp, hub: HubFacts) -> Self {
        Self::sharing(walk, now, hub, &mut SharedSurroundings::default())
    }

    /// Whether the run is not over and waits: for a person, at a gate or to be started or resumed, or for a time.
    pub fn waits(&self) -> bool {
        let waits = |it: &Condition| it.reason == reasons::RUN_WAITING;
        self.run.present().is_some_and(|run| {
            walk::rests(run) || run.condition(reasons::PROGRESSING).is_some_and(waits)
        })
    }

    /// Whether what a run brings to clusters that it has still to reach is more than its snapshot: it recorded
    /// overrides for them, or the snapshot has envelopes, which KubeFleet opens there.
    pub fn may_fail_ahead(&self) -> bool {
        self.run.present().is_some_and(|run| {
            !walk::overrides_ahead(run).is_empty()
                || self.has_envelopes(&run.status.snapshot_index)
                    && walk::clusters_ahead(run).next().is_some()
        })
    }

    /// Whether the placement only compares (`ReportDiff`): nothing of it is applied.
    pub fn compares_only(&self) -> bool {
        let placement = self.placement.present();
        placement.is_some_and(|it| it.apply_strategy().is_report_diff())
    }

    /// A strategy that keeps the hub agent from seeing others, where those were read.
    pub fn unreadable_strategy(&self) -> Option<&Strategy> {
        let mut strategies = self.strategies.iter();
        strategies.find(|it| it.unreadable_task().is_some())
    }

    /// Whether it shows that a cluster has the namespace: the placement's content was applied there, or the
    /// agent says so, as some do.
    pub fn shows_namespace(&self, cluster: &str) -> bool {
        let member = self.member(cluster);
        let namespaces = member.map(|member| &member.status.namespaces);
        self.binding(cluster).is_some_and(was_applied)
            || namespaces.is_some_and(|all| all.contains_key(self.scope.namespace()))
    }

    /// Whether a version of the content has envelopes, as far as it was seen.
    pub fn has_envelopes(&self, index: &str) -> bool {
        let parts = self.snapshots.iter();
        let mut parts = parts.filter(|part| part.index() == Some(index));
        parts.any(|part| {
            let mut resources = part.spec.resources.iter();
            resources.any(ManifestIdentity::is_envelope)
        })
    }

    /// The same for one of many targets: what is around a placement is put together once.
    pub fn sharing(
        walk: Walk,
        now: Timestamp,
        hub: HubFacts,
        shared: &mut SharedSurroundings,
    ) -> Self {
        let scope = walk.scope();
        let placement_name = walk.placement_name().unwrap_or_default();
        let chosen = walk
            .run()
            .map(|run| (run.meta.name.clone(), run.spec.strategy.clone()));
        let outcomes = walk.outcomes();
        let surroundings = shared.around(&walk, &placement_name);
        let mut gone_overrides = walk.gone_overrides();
        let Walk { target, known, .. } = walk;
        let gathered = WalkAnswers::new(&known);
        let run = match &chosen {
            Some((name, _)) => Sight::new(surroundings.run_named(name), None),
            None if target.kind.concept() == Concept::UpdateRun => {
                gathered.sight(&HubQuery::object(&target))
            }
            None => {
                let gap = gathered.gaps.get(&scope.kind(Concept::UpdateRun));
                Sight::new(None, gap.cloned())
            }
        };
        let named =
            |concept, name: &str| HubQuery::named(scope.kind(concept), scope.namespace(), name);
        let strategies = gathered.listing(scope.kind(Concept::Strategy));
        let strategy = chosen.as_ref().map_or(Sight::Absent, |(_, strategy)| {
            gathered.sight(&named(Concept::Strategy, strategy))
        });
        let placement = if placement_name.is_empty() {
            Sight::Unknown("the run is unknown".to_owned())
        } else {
            gathered.sight(&named(Concept::Placement, &placement_name))
        };
        let mut placements = gathered.listing(Kind::ClusterResourcePlacement);
        let namespaced = gathered.listing(Kind::ResourcePlacement);
        placements.add(namespaced);
        let mut overrides: Listing<OverrideSnapshot> =
            gathered.listing(Kind::ClusterResourceOverrideSnapshot);
        let namespaced = gathered.listing(Kind::ResourceOverrideSnapshot);
        overrides.add(namespaced);
        // A bundle may have the latest ones alone: one that KubeFleet keeps was not collected.
        gone_overrides.retain(|gone| {
            let mut seen = overrides.items.iter().map(|it| &it.meta);
            !seen.any(|it| {
                it.namespace == gone.namespace && names::keeps_override(&gone.name, &it.name)
            })
        });
        let works = gathered.listing::<Work>(Kind::Work);
        let approvals = gathered.listing(scope.kind(Concept::ApprovalRequest));
        let mut works_by_binding: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, work) in works.items.iter().enumerate() {
            if let Some(binding) = work.binding() {
                let works = works_by_binding.entry(binding.to_owned()).or_default();
                works.push(at);
            }
        }
        let namespace = scope.namespace();
        let carriers = (!namespace.is_empty()).then(|| NamespaceCarriers::of(namespace, &known));
        Self {
            carriers: carriers.flatten(),
            run,
            placement,
            strategy,
            strategies,
            approvals,
            works,
            overrides,
            gone_overrides,
            placements,
            placement_name,
            scope,
            now,
            hub,
            gaps: gathered.gaps,
            outcomes,
            looks: BTreeMap::new(),
            texts: ObjectTexts::new(),
            surroundings,
            works_by_binding,
            target,
        }
    }

    /// The Works of a binding, in the binding's member cluster.
    pub fn works_of(&self, binding: &Binding) -> impl Iterator<Item = &Work> + Clone {
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
        work.parent() == Some((self.scope.namespace(), &self.placement_name))
    }

    pub fn approval(&self, name: &str) -> Sight<ApprovalRequest> {
        let mut approvals = self.approvals.items.iter();
        let found = approvals.find(|request| request.meta.name == name);
        Sight::new(found, self.approvals.gap.clone())
    }

    /// The runs on the placement other than the one that the verdict is about, oldest first.
    pub fn other_runs(&self) -> impl Iterator<Item = &UpdateRun> {
        let own = self.run.present().map(|run| run.meta.name.clone());
        self.runs
            .iter()
            .filter(move |run| Some(&run.meta.name) != own.as_ref())
    }

    /// Whether anybody asked for the objects of a concept in the target's scope: a list that nobody asked
    /// for has no gap, and is not complete.
    pub fn has_asked_for(&self, concept: Concept) -> bool {
        self.outcomes.contains_key(&self.scope.kind(concept))
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
            Concept::ClusterOverrideSnapshot,
            Concept::OverrideSnapshot,
            Concept::MemberCluster,
        ];
        let (mut queries, mut answers) = (Vec::new(), Vec::new());
        for concept in concepts {
            let kind = scope.kind(concept);
            let found: Vec<_> = objects.iter().filter(|o| o.kind == kind).cloned().collect();
            // Without any, whether clusters exist is another question.
            if concept == Concept::MemberCluster && found.is_empty() {
                continue;
            }
            queries.push(match concept {
                Concept::Placement => HubQuery::named(kind, &placement.namespace, &placement.name),
                _ => HubQuery::all(kind, scope.namespace()),
            });
            let outcome = if complete || !found.is_empty() {
                source::Outcome::Listed
            } else {
                source::Outcome::NotCollected
            };
            answers.push(source::QueryAnswer::new(found.into(), outcome));
        }
        let mut walk = Walk::new(placement.clone());
        walk.absorb(queries, answers);
        Self::new(walk, now, HubFacts::default())
    }
}
