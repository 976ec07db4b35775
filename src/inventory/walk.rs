//! The walk: given what is known, which questions come next. Pure, and the same for a hub and a
//! bundle; its queries are also the request budget and the permissions that a diagnosis needs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::carriers::{NamespaceCarriers, snapshot_parts, was_applied};
use super::choose::{is_finished, run_for_placement};
use super::source::{HubQuery, ObjectSource, Outcome, QueryAnswer, QueryRound};
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::messages::{BindingProblem, parse_binding_problem};
use crate::kubefleet::object::{InBody, Object, ObjectBody};
use crate::kubefleet::run::{ClusterStatus, RunState, TaskStatus, UpdateRun};
use crate::kubefleet::snapshot::{ResourceSnapshot, objects_added};
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::{Concept, Conditions, Kind, ObjectRef, Scope, names, reasons};

/// The conditions of a binding that stop a cluster when they are `False`.
pub const BLOCKING: [&str; 5] = [
    reasons::OVERRIDDEN,
    reasons::WORK_SYNCHRONIZED,
    reasons::APPLIED,
    reasons::AVAILABLE,
    reasons::DIFF_REPORTED,
];

/// Of so many clusters it is read what is in the way there: a run does not get past the first that fails.
pub const CLUSTERS_AHEAD: usize = 10;

/// A walk around one target.
#[derive(Debug)]
pub struct Walk {
    pub(super) target: ObjectRef,
    pub(super) known: BTreeMap<HubQuery, QueryAnswer>,
    depth: WalkDepth,
    /// A walk to the decision also asks for the content of a run that was initialized before this.
    content_before: Option<Timestamp>,
    /// A walk to the decision asks the same of a run that does not rest.
    is_checked_at_once: bool,
}

/// How far a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WalkDepth {
    /// To the state of the rollout.
    State,
    /// The same, and to what the controller checks before it lets a run continue for which a person
    /// has to decide.
    Decision,
    /// To everything that the controller's next write depends on.
    Prediction,
    /// To everything that may explain it.
    Reasons,
}

impl Walk {
    /// A walk around an update run or a placement.
    pub fn new(target: ObjectRef) -> Self {
        Self {
            target,
            known: BTreeMap::new(),
            depth: WalkDepth::Reasons,
            content_before: None,
            is_checked_at_once: false,
        }
    }

    /// A walk to the state alone: the run, its open approvals and the placement's bindings decide
    /// every verdict. What only explains one (Works, member clusters, snapshots, other runs) is
    /// left out.
    pub fn shallow(target: ObjectRef) -> Self {
        Self {
            depth: WalkDepth::State,
            ..Self::new(target)
        }
    }

    /// A walk to the state, and to what decides whether letting the run continue helps.
    pub fn to_decision(target: ObjectRef) -> Self {
        Self {
            depth: WalkDepth::Decision,
            ..Self::new(target)
        }
    }

    /// The same, and to whether what a run brings still exists that was initialized before a time: one
    /// request for its snapshot, and one for each override snapshot that it recorded for clusters to come.
    pub fn to_content(target: ObjectRef, initialized_before: Timestamp) -> Self {
        Self {
            content_before: Some(initialized_before),
            ..Self::to_decision(target)
        }
    }

    /// The same also of a run that moves: whether it passes its next check.
    #[must_use]
    pub const fn of_any_run(mut self) -> Self {
        self.is_checked_at_once = true;
        self
    }

    /// A walk to what the controller's next write depends on: no Works, which are one question for
    /// each cluster.
    pub fn to_prediction(target: ObjectRef) -> Self {
        Self {
            depth: WalkDepth::Prediction,
            ..Self::new(target)
        }
    }

    /// The next round of queries; empty when everything that matters has been asked.
    pub fn next_round(&self) -> Vec<HubQuery> {
        let mut round = self.needs();
        round.sort();
        round.dedup();
        round.retain(|query| !self.known.contains_key(query));
        round
    }

    /// Takes the answers to a round, in the order of its queries.
    pub fn absorb(&mut self, queries: Vec<HubQuery>, answers: Vec<QueryAnswer>) {
        let mut answers = answers.into_iter();
        for query in queries {
            // A source that answers too little has not been asked, as far as anyone can say.
            let answer = answers
                .next()
                .unwrap_or(QueryAnswer::none(Outcome::Failed("no answer".to_owned())));
            self.known.insert(query, answer);
        }
    }

    /// Takes the answers of a source. Who has a role of one namespace may not see what brings the namespace, and
    /// does without.
    fn take(&mut self, queries: Vec<HubQuery>, mut answers: Vec<QueryAnswer>) {
        let is_missed = self.is_known_absent(&self.placement_query());
        let is_of_all = |it: &HubQuery| it.kind == Kind::Work && it.selector().is_none();
        if queries.iter().any(is_of_all) {
            let brought = self.brought();
            for (_, answer) in queries
                .iter()
                .zip(&mut answers)
                .filter(|it| is_of_all(it.0))
            {
                let concerns = |it: &&Object| self.concerns(it, &brought);
                answer.objects = answer.objects.iter().filter(concerns).cloned().collect();
            }
        }
        for (query, answer) in queries.iter().zip(&mut answers) {
            let is_denied = matches!(answer.outcome, Outcome::Denied(_));
            if self.scope().is_beside(query.kind) && is_denied && !is_missed {
                answer.outcome = Outcome::NotCollected;
            }
        }
        self.absorb(queries, answers);
    }

    /// Walks a source that answers at once.
    pub fn drive(&mut self, source: &mut dyn ObjectSource) {
        loop {
            let round = self.next_round();
            if round.is_empty() {
                return;
            }
            let placement = self.placement_meant();
            let answers = source.answer_around(&round, placement.as_deref());
            self.take(round, answers);
        }
    }

    /// Walks several targets side by side: what they ask next is asked at the same time.
    pub fn drive_all(walks: &mut [Self], source: &mut dyn ObjectSource) {
        loop {
            let rounds = walks.iter().map(|walk| QueryRound {
                queries: walk.next_round(),
                placement: walk.placement_meant(),
            });
            let rounds: Vec<_> = rounds.collect();
            if rounds.iter().all(|round| round.queries.is_empty()) {
                return;
            }
            let answers = source.answer_many(&rounds);
            for ((walk, round), answers) in walks.iter_mut().zip(rounds).zip(answers) {
                walk.take(round.queries, answers);
            }
        }
    }

    /// The placement around which everything is, as far as it is known yet.
    fn placement_meant(&self) -> Option<String> {
        match self.target.kind.concept() {
            Concept::Placement => Some(self.target.name.clone()),
            _ => self.placement_name(),
        }
    }

    /// What a question was answered.
    pub fn answer(&self, query: &HubQuery) -> Option<&QueryAnswer> {
        self.known.get(query)
    }

    /// How reading each kind went; of several questions, the one that promises least.
    pub fn outcomes(&self) -> BTreeMap<Kind, Outcome> {
        let mut outcomes: BTreeMap<Kind, Outcome> = BTreeMap::new();
        for (query, answer) in &self.known {
            let outcome = answer.outcome.clone();
            let least = match outcomes.remove(&query.kind) {
                Some(other) => other.lesser(outcome),
                None => outcome,
            };
            outcomes.insert(query.kind, least);
        }
        outcomes
    }

    /// The names that were asked for, of the kinds of which no list was.
    pub fn names_asked(&self) -> BTreeMap<Kind, BTreeSet<String>> {
        let mut asked: BTreeMap<Kind, Option<BTreeSet<String>>> = BTreeMap::new();
        for query in self.known.keys() {
            let names = asked
                .entry(query.kind)
                .or_insert_with(|| Some(BTreeSet::new()));
            match (query.name_asked(), names) {
                (Some(name), Some(names)) => _ = names.insert(name),
                (None, names) => *names = None,
                (Some(_), None) => {}
            }
        }
        let named = asked.into_iter();
        named
            .filter_map(|(kind, names)| Some((kind, names?)))
            .collect()
    }

    /// The objects that were seen.
    pub fn references(&self) -> BTreeSet<ObjectRef> {
        self.known
            .values()
            .flat_map(|answer| answer.objects.iter())
            .map(Object::reference)
            .collect()
    }

    pub(super) fn scope(&self) -> Scope {
        self.target.scope()
    }

    /// Everything that is worth asking, given what is known.
    fn needs(&self) -> Vec<HubQuery> {
        let scope = self.scope();
        let namespace = scope.namespace();
        let mut needs = vec![self.target_query()];
        if self.target.kind.concept() == Concept::Placement {
            needs.push(HubQuery::all(scope.kind(Concept::UpdateRun), namespace));
        }
        let run = self.run();
        let Some(placement) = self.placement_name() else {
            return needs;
        };
        if self.target.kind.concept() == Concept::Placement
            && self.is_known_absent(&self.target_query())
        {
            return needs;
        }
        let around = scope.object(Concept::Placement, &placement);
        let label = |concept| HubQuery::of_placement(scope.kind(concept), &around);
        needs.push(label(Concept::Binding));
        if matches!(self.depth, WalkDepth::State | WalkDepth::Decision) {
            needs.extend(self.needs_of_decision(run, &around));
            return needs;
        }
        let placement_query = self.placement_query();
        needs.extend(run.into_iter().flat_map(|run| self.all_approvals(run)));
        needs.extend(run.into_iter().flat_map(|run| self.owners_of_requests(run)));
        needs.extend([
            placement_query.clone(),
            HubQuery::all(scope.kind(Concept::UpdateRun), namespace),
            label(Concept::ResourceSnapshot),
            label(Concept::PolicySnapshot),
            HubQuery::all(Kind::MemberCluster, ""),
        ]);
        if let Some(run) = run {
            let strategy = HubQuery::object(&scope.object(Concept::Strategy, &run.spec.strategy));
            let kind = scope.kind(Concept::Strategy);
            if self.is_known_absent(&strategy) && run.status.strategy.is_none() {
                needs.push(HubQuery::all(kind, namespace));
            } else if self.is_strategy_unseen(run, &strategy) {
                // The hub agent lists those of all namespaces at once.
                needs.push(HubQuery::all(kind, ""));
            }
            needs.push(strategy);
            needs.extend(self.carriers_needed(run));
            needs.extend(self.works_ahead(run));
        }
        let latest = [
            HubQuery::latest(Kind::ClusterResourceOverrideSnapshot, ""),
            HubQuery::latest(Kind::ResourceOverrideSnapshot, namespace),
        ];
        needs.extend(latest.clone());
        // One that was changed since is not the latest; one that is gone is no snapshot at all.
        let is_listed = |it: &ObjectRef| {
            let mut lists = latest.iter().filter_map(|query| self.known.get(query));
            lists.any(|list| list.objects.iter().any(|other| other.reference() == *it))
        };
        if latest.iter().all(|query| self.known.contains_key(query)) {
            let ahead = run.into_iter().flat_map(overrides_ahead);
            needs.extend(
                ahead
                    .filter(|it| !is_listed(it))
                    .map(|it| HubQuery::object(&it)),
            );
        }
        // With any override on the hub, the controller looks for the parts of a snapshot, and finds none in a
        // namespace. Source: utils/overrider/overrider.go:FetchAllMatchingOverridesForResourceSnapshot.
        if !namespace.is_empty() && self.has_parts(&label(Concept::ResourceSnapshot)) {
            needs.push(HubQuery::latest(Kind::ResourceOverrideSnapshot, ""));
        }
        if self.is_known_absent(&placement_query) {
            // Deleted, misspelt, or in the other scope?
            needs.push(HubQuery::all(Kind::ClusterResourcePlacement, ""));
            needs.push(HubQuery::all(Kind::ResourcePlacement, ""));
        }
        if self.depth == WalkDepth::Prediction {
            return needs;
        }
        for cluster in run.into_iter().flat_map(removed_clusters) {
            let cluster = names::member_namespace(cluster);
            let key = names::PARENT_PLACEMENT;
            needs.push(HubQuery::labelled(Kind::Work, &cluster, key, &placement));
        }
        for binding in self.troubled_bindings(run) {
            let cluster = names::member_namespace(&binding.spec.cluster);
            // What blocks the name belongs to a binding that is gone.
            let (key, value) = if waits_for_a_name(binding) {
                (names::PARENT_PLACEMENT, &placement)
            } else {
                (names::PARENT_BINDING, &binding.meta.name)
            };
            needs.push(HubQuery::labelled(Kind::Work, &cluster, key, value));
        }
        needs
    }

    /// What is asked beside the bindings for the state, and for what decides whether letting the run continue
    /// helps.
    fn needs_of_decision(&self, run: Option<&UpdateRun>, placement: &ObjectRef) -> Vec<HubQuery> {
        let is_deep = self.depth == WalkDepth::Decision;
        let mut needs = run.map_or_else(Vec::new, |run| self.open_approvals(run));
        // Where the placement was removed from, it is still on a cluster that left the fleet before.
        let removes = |run: &UpdateRun| {
            let mut stages = run.status.deletion_stage.iter();
            stages.any(|stage| !stage.clusters.is_empty())
        };
        let mut unselected = self.bindings().filter(|it| it.is_unscheduled());
        if run.is_some_and(|run| is_finished(run) && removes(run))
            || is_deep
                && self.target.kind.concept() == Concept::Placement
                && unselected.next().is_some()
        {
            needs.push(HubQuery::all(Kind::MemberCluster, ""));
        }
        let is_checked =
            |run: &&UpdateRun| self.is_checked_at_once && !is_finished(run) || rests(run);
        let Some(run) = run.filter(|_| is_deep).filter(is_checked) else {
            return needs;
        };
        needs.extend(self.approvals_ahead(run));
        let policies = self.scope().kind(Concept::PolicySnapshot);
        needs.extend([
            self.placement_query(),
            HubQuery::of_placement(policies, placement),
            HubQuery::all(Kind::MemberCluster, ""),
        ]);
        needs.extend(self.carriers_needed(run));
        let index = &run.status.snapshot_index;
        let since = run.status.conditions.since(reasons::INITIALIZED);
        let ahead = overrides_ahead(run);
        // An override may not fit from the beginning.
        let asks = |before| !ahead.is_empty() || since.is_none_or(|it| it < before);
        if self.content_before.is_some_and(asks) && !index.is_empty() {
            needs.extend(self.parts_of(&placement.name, index));
            let held = self.held_ahead(run).into_iter();
            needs.extend(held.flat_map(|index| self.parts_of(&placement.name, index)));
            needs.extend(self.works_ahead(run));
            needs.extend(ahead.iter().map(HubQuery::object));
        }
        needs
    }

    fn placement_query(&self) -> HubQuery {
        let name = self.placement_name().unwrap_or_default();
        HubQuery::object(&self.scope().object(Concept::Placement, &name))
    }

    /// The question for the target itself.
    pub fn target_query(&self) -> HubQuery {
        HubQuery::object(&self.target)
    }

    /// What a question has brought so far.
    fn found<'w, T: InBody>(
        &'w self,
        query: &HubQuery,
    ) -> impl Iterator<Item = &'w T> + use<'w, T> {
        let answer = self.known.get(query).into_iter();
        answer.flat_map(QueryAnswer::all::<T>).map(AsRef::as_ref)
    }

    /// The run that the verdict is about, as far as it is known yet.
    pub fn run(&self) -> Option<&UpdateRun> {
        if self.target.kind.concept() == Concept::UpdateRun {
            return self.found(&self.target_query()).next();
        }
        let scope = self.scope();
        let all = HubQuery::all(scope.kind(Concept::UpdateRun), scope.namespace());
        let runs = self.found::<UpdateRun>(&all);
        run_for_placement(runs.filter(|run| run.spec.placement == self.target.name))
    }

    /// The placement's name, as far as it is known yet.
    pub(super) fn placement_name(&self) -> Option<String> {
        if self.target.kind.concept() == Concept::UpdateRun {
            self.run().map(|run| run.spec.placement.clone())
        } else {
            self.known
                .contains_key(&self.target_query())
                .then(|| self.target.name.clone())
        }
    }

    /// The override snapshots that the run recorded for clusters that it has still to reach, and that do
    /// not exist.
    pub(super) fn gone_overrides(&self) -> Vec<ObjectRef> {
        let ahead = self.run().into_iter().flat_map(overrides_ahead);
        ahead
            .filter(|it| self.is_known_absent(&HubQuery::object(it)))
            .collect()
    }

    /// The questions for the parts of a snapshot, as far as it is known how many there are.
    fn parts_of(&self, placement: &str, index: &str) -> Vec<HubQuery> {
        let name = names::master_snapshot(placement, index);
        let first = self.scope().object(Concept::ResourceSnapshot, &name);
        snapshot_parts(&first, &self.known)
    }

    /// The first of the snapshots that clusters have which a run is to reach: what it deletes there is theirs.
    fn held_ahead(&self, run: &UpdateRun) -> BTreeSet<&str> {
        const LOOKED_AT: usize = 8;
        let ahead: BTreeSet<&str> = clusters_ahead(run).map(|it| it.name.as_str()).collect();
        let bindings = self.bindings();
        let bindings = bindings.filter(|it| ahead.contains(it.spec.cluster.as_str()));
        let held: BTreeSet<_> = bindings.filter_map(Binding::snapshot_index).collect();
        held.into_iter().take(LOOKED_AT).collect()
    }

    /// What is asked where a run rests: all Works on the first clusters that it brings objects which they do not
    /// have. Other placements may have put those there, and an earlier Work may still be going.
    fn works_ahead(&self, run: &UpdateRun) -> Vec<HubQuery> {
        if !rests(run) {
            return Vec::new();
        }
        let gets_more = |cluster: &&ClusterStatus| {
            let mut bindings = self.bindings();
            let binding = bindings.find(|it| it.spec.cluster == cluster.name);
            let held = binding.and_then(Binding::snapshot_index);
            let mut parts = held.into_iter().flat_map(|index| self.snapshots(index));
            let first = parts.next();
            let own = self.snapshots(&run.status.snapshot_index);
            held.is_some() == first.is_some()
                && !objects_added(own, first.into_iter().chain(parts)).is_empty()
        };
        let clusters = clusters_ahead(run).filter(gets_more).take(CLUSTERS_AHEAD);
        clusters
            .map(|it| HubQuery::all(Kind::Work, &names::member_namespace(&it.name)))
            .collect()
    }

    /// The parts of a snapshot that were read.
    fn snapshots(&self, index: &str) -> impl Iterator<Item = &ResourceSnapshot> {
        let known = self.known.values();
        let all = known.flat_map(QueryAnswer::all::<ResourceSnapshot>);
        let parts = all.filter(move |it| it.index() == Some(index));
        parts.map(AsRef::as_ref)
    }

    /// The kind, namespace and name of what the run's snapshot brings.
    fn brought(&self) -> BTreeSet<(&str, &str, &str)> {
        let index = self.run().map(|run| run.status.snapshot_index.as_str());
        let parts = index.into_iter().flat_map(|index| self.snapshots(index));
        let resources = parts.flat_map(ResourceSnapshot::sent);
        let names = resources.map(|it| (&*it.kind, &*it.meta.namespace, &*it.meta.name));
        names.collect()
    }

    /// Whether a Work is one of the placement, or has put into its cluster what a run brings: all others there are
    /// nobody's business.
    fn concerns(&self, object: &Object, brought: &BTreeSet<(&str, &str, &str)>) -> bool {
        let ObjectBody::Work(work) = &object.body else {
            return true;
        };
        let scope = self.scope();
        let placement = self.placement_name().unwrap_or_default();
        let is_own = work.parent() == Some((scope.namespace(), placement.as_str()));
        let mut manifests = work.status.manifests.iter().map(|it| &it.id);
        is_own || manifests.any(|id| brought.contains(&(&*id.kind, &*id.namespace, &*id.name)))
    }

    /// Whether snapshots are known to have several parts.
    fn has_parts(&self, snapshots: &HubQuery) -> bool {
        let mut all = self.found::<ResourceSnapshot>(snapshots);
        all.any(|it| it.parts().is_some_and(|parts| parts > 1))
    }

    /// Whether the controller may not see the strategy of a run, or not as it is: another one that it cannot
    /// read is a reason.
    fn is_strategy_unseen(&self, run: &UpdateRun, strategy: &HubQuery) -> bool {
        let Some(copy) = run.status.strategy.as_deref() else {
            return !run.status.conditions.is_true(reasons::INITIALIZED);
        };
        let mut known = self.found::<Strategy>(strategy);
        let has_begun = || {
            let mut clusters = run.updated_clusters();
            clusters.any(|it| it.conditions.condition(reasons::STARTED).is_some())
        };
        known.any(|it| it.spec != *copy) && !has_begun()
    }

    /// The questions for what brings the namespace to the clusters ahead, where nothing shows that it is there, or
    /// where something is refused.
    fn carriers_needed(&self, run: &UpdateRun) -> Vec<HubQuery> {
        let scope = self.scope();
        let members = self.known.get(&HubQuery::all(Kind::MemberCluster, ""));
        let Some(members) = members.filter(|_| !scope.namespace().is_empty()) else {
            return Vec::new();
        };
        let bound = self.bindings().filter(|it| was_applied(it));
        let mut seen: BTreeSet<&str> = bound.map(|it| it.spec.cluster.as_str()).collect();
        let reported = members.all::<MemberCluster>();
        let reported = reported.filter(|it| it.status.namespaces.contains_key(scope.namespace()));
        seen.extend(reported.map(|it| it.meta.name.as_str()));
        let mut failing = self.bindings();
        let mut ahead = clusters_ahead(run);
        if ahead.all(|it| seen.contains(it.name.as_str()))
            && !failing.any(|it| it.status.conditions.is_false(reasons::APPLIED))
        {
            return Vec::new();
        }
        NamespaceCarriers::queries(scope.namespace(), &self.known)
    }

    fn is_known_absent(&self, query: &HubQuery) -> bool {
        let answer = self.known.get(query);
        answer.is_some_and(QueryAnswer::is_known_absent)
    }

    /// The requests of a run, and those that its status names and the label did not find: up to
    /// KubeFleet 0.1.2 the label had another case, and a request of another run may stand in the way
    /// under that name.
    fn all_approvals(&self, run: &UpdateRun) -> Vec<HubQuery> {
        let scope = self.scope();
        let kind = scope.kind(Concept::ApprovalRequest);
        let (namespace, name) = (scope.namespace(), &run.meta.name);
        let listed = HubQuery::labelled(kind, namespace, names::TARGET_RUN, name);
        let missing = self.known.get(&listed).map(|answer| {
            let is_seen = |task: &TaskStatus| {
                let mut objects = answer.objects.iter();
                objects.any(|object| object.body.meta().name == task.approval_request)
            };
            self.approvals(run.tasks().filter(|task| !is_seen(task)))
        });
        missing.into_iter().flatten().chain([listed]).collect()
    }

    /// The questions for the other runs to which requests with the names that a run needs are made out.
    fn owners_of_requests(&self, run: &UpdateRun) -> BTreeSet<HubQuery> {
        let scope = self.scope();
        let names: BTreeSet<_> = run.tasks().map(|it| &it.approval_request).collect();
        let known = self.known.values();
        let requests = known.flat_map(QueryAnswer::all::<ApprovalRequest>);
        let others = requests.filter(|it| {
            let owner = &it.spec.run;
            names.contains(&it.meta.name) && *owner != run.meta.name && !owner.is_empty()
        });
        others
            .map(|it| HubQuery::object(&scope.object(Concept::UpdateRun, &it.spec.run)))
            .collect()
    }

    /// The requests that a run waits for now. Their names stand in its status long before they
    /// exist, and for the state only a gate that is open matters: one at a time, as a rule.
    fn open_approvals(&self, run: &UpdateRun) -> Vec<HubQuery> {
        self.approvals(run.tasks().filter(|task| is_open(task)))
    }

    /// The requests of the gates that the run comes to next, up to the first at which it will wait: one
    /// that somebody made and approved before holds nothing. Stages without clusters may be skipped.
    fn approvals_ahead(&self, run: &UpdateRun) -> Vec<HubQuery> {
        let is_ahead = |task: &&TaskStatus| {
            !is_open(task) && !task.conditions.is_true(reasons::APPROVAL_REQUEST_APPROVED)
        };
        let mut ahead = Vec::new();
        for stage in run.all_stages() {
            for query in self.approvals(stage.tasks().filter(is_ahead)) {
                let mut requests = self.found::<ApprovalRequest>(&query);
                let waits = !stage.clusters.is_empty() && !requests.any(ApprovalRequest::counts);
                ahead.push(query);
                if waits {
                    return ahead;
                }
            }
        }
        ahead
    }

    /// Their requests, which the run's status names.
    fn approvals<'t>(&self, tasks: impl Iterator<Item = &'t TaskStatus>) -> Vec<HubQuery> {
        let scope = self.scope();
        let kind = scope.kind(Concept::ApprovalRequest);
        tasks
            .filter(|task| task.is_approval() && !task.approval_request.is_empty())
            .map(|task| HubQuery::named(kind, scope.namespace(), &task.approval_request))
            .collect()
    }

    /// The placement's bindings, as far as they were read.
    fn bindings(&self) -> impl Iterator<Item = &Binding> {
        let scope = self.scope();
        let query = self.placement_name().map(|placement| {
            let placement = scope.object(Concept::Placement, &placement);
            HubQuery::of_placement(scope.kind(Concept::Binding), &placement)
        });
        let query = query.into_iter();
        query.flat_map(move |query| self.found(&query))
    }

    /// Whether the run says of a cluster that it has started it, and the cluster's binding does not: the two may
    /// have been read before and after that.
    pub fn is_ahead_of_bindings(&self) -> bool {
        let held: BTreeSet<_> = self
            .bindings()
            .filter(|it| !it.is_released())
            .map(|it| it.spec.cluster.as_str())
            .collect();
        let mut in_flight = self.run().into_iter().flat_map(UpdateRun::in_flight);
        !held.is_empty() && in_flight.any(|it| held.contains(it.name.as_str()))
    }

    /// Bindings whose Works may explain something: those with a condition that is not fulfilled,
    /// and those of clusters that the run has started and not finished.
    fn troubled_bindings(&self, run: Option<&UpdateRun>) -> Vec<&Binding> {
        let in_flight = run.into_iter().flat_map(UpdateRun::in_flight);
        let in_flight: BTreeSet<&str> = in_flight.map(|cluster| cluster.name.as_str()).collect();
        self.bindings()
            .filter(|binding| {
                BLOCKING
                    .iter()
                    .any(|kind| binding.status.conditions.is_false(kind))
                    || in_flight.contains(binding.spec.cluster.as_str())
            })
            .collect()
    }
}

/// The clusters from which a run has removed its placement: their bindings go before their Works do.
fn removed_clusters(run: &UpdateRun) -> impl Iterator<Item = &str> {
    let removal = run.status.deletion_stage.as_deref().into_iter();
    removal
        .flat_map(|stage| &stage.clusters)
        .filter(|cluster| cluster.is_done())
        .map(|cluster| cluster.name.as_str())
}

/// Whether a binding's Work cannot be written because one of the same name is still there.
fn waits_for_a_name(binding: &Binding) -> bool {
    let condition = binding.condition(reasons::WORK_SYNCHRONIZED);
    condition.is_some_and(|condition| {
        condition.is_false()
            && parse_binding_problem(&condition.message) == BindingProblem::NameTaken
    })
}

/// Whether a run that is not over waits for a person: at a gate, or to be started or resumed.
pub(super) fn rests(run: &UpdateRun) -> bool {
    run.status.conditions.is_true(reasons::INITIALIZED)
        && !is_finished(run)
        && !run.meta.is_deleting()
        && (run.spec.wants() != RunState::Run || run.tasks().any(is_open))
}

/// The override snapshots that a run which is not over recorded for clusters that it has not started.
pub(super) fn overrides_ahead(run: &UpdateRun) -> BTreeSet<ObjectRef> {
    clusters_ahead(run)
        .flat_map(ClusterStatus::override_names)
        .collect()
}

/// The clusters that a run which is not over has not started.
pub(super) fn clusters_ahead(run: &UpdateRun) -> impl Iterator<Item = &ClusterStatus> {
    let is_live = !is_finished(run) && !run.meta.is_deleting();
    let clusters = run.updated_clusters();
    clusters.filter(move |it| is_live && it.conditions.condition(reasons::STARTED).is_none())
}

/// Whether an approval was asked for and not taken yet.
fn is_open(task: &TaskStatus) -> bool {
    task.conditions.is_true(reasons::APPROVAL_REQUEST_CREATED)
        && !task.conditions.is_true(reasons::APPROVAL_REQUEST_APPROVED)
}
