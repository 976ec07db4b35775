//! What a run is computed from. Mirrors updaterun/initialization.go.

use std::collections::{BTreeMap, BTreeSet};
use std::ptr;
use std::sync::Arc;

use super::failure::{LookHalt, UNEXPECTED, USER};
use super::inputs::InputFault;
use super::reconcile::{Reconciler, RunBindings};
use super::state::known;
use crate::inventory::source::{NOT_COLLECTED, NOT_SERVED};
use crate::inventory::{Listing, Sight};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::messages::TaskProblem;
use crate::kubefleet::override_names::NamespacedName;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::run::{ClusterStatus, StageStatus, TaskStatus};
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::snapshot::{ManifestIdentity, PolicySnapshot, ResourceSnapshot};
use crate::kubefleet::strategy::{Stage, StrategySpec, Task};
use crate::kubefleet::{Concept, ConditionStatus, names, reasons};
use crate::rollout::AgentVersion;
use crate::rollout::overrides::{applies, matches};
use crate::rollout::placing::{ClusterStages, StagePlacing, sorting_number};
use crate::rollout::versions::created_twice;

/// What the latest policy snapshot says.
pub(super) struct LatestPolicy {
    pub name: String,
    pub index: String,
    /// How many clusters it asks for; -1 with PickAll.
    pub clusters: i64,
    pub is_scheduled: bool,
}

impl Reconciler {
    /// Computes the stages and pins the content.
    /// Source: updaterun/initialization.go:initialize.
    pub(super) fn initialize(&mut self) -> Result<(), LookHalt> {
        self.compute();
        self.halt_at_first()?;
        let message = match self.state.version {
            AgentVersion::V01 => "ClusterStagedUpdateRun initialized successfully",
            _ => "The UpdateRun initialized successfully",
        };
        let reason = "UpdateRunInitializedSuccessfully";
        self.mark_run(reasons::INITIALIZED, ConditionStatus::True, reason, message);
        Ok(())
    }

    /// The same without an end at the first fault: each check finds what it can.
    pub(super) fn compute(&mut self) {
        let placement = self.validate_placement();
        if let Some(placement) = &placement {
            let strategy = placement.apply_strategy();
            self.state.run.status.apply_strategy = Some(Box::new(strategy));
        }
        // What belongs to a placement that was not read may have been.
        let is_absent = self.state.placement.is_absent();
        let mut bindings = RunBindings::default();
        if !is_absent {
            let policy = self.determine_policy_snapshot();
            if let Some(policy) = &policy {
                self.state.run.status.policy_index.clone_from(&policy.index);
            }
            let (found, count) = self.collect_scheduled_clusters(policy.as_ref());
            self.state.run.status.policy_cluster_count = Some(count);
            bindings = found;
        }
        self.generate_stages_by_strategy(&bindings);
        if let Some(index) = self.resource_snapshot_index(is_absent) {
            self.state.run.status.snapshot_index.clone_from(&index);
            self.record_override_snapshots(&index);
        }
    }

    /// Source: updaterun/initialization.go:validatePlacement.
    pub(super) fn validate_placement(&mut self) -> Option<Arc<Placement>> {
        let placement = match &self.state.placement {
            Sight::Present(placement) => Arc::clone(placement),
            Sight::Absent => {
                let text = format!("{USER}parent placement not found");
                self.refuse(InputFault::PlacementMissing, text);
                return None;
            }
            Sight::Unknown(why) => {
                let unknown = Err(why.clone());
                self.require(Concept::Placement, unknown);
                return None;
            }
        };
        if !placement.is_external() {
            let text = format!(
                "{USER}parent placement does not have an external rollout strategy, current \
                 strategy: {}",
                placement.rollout_type()
            );
            self.refuse(InputFault::NotExternal, text);
        }
        Some(placement)
    }

    /// The policy snapshot that decides, where there is exactly one.
    /// Source: updaterun/initialization.go:determinePolicySnapshot,
    /// utils/controller/policy_snapshot_resolver.go:LookupLatestPolicySnapshot.
    pub(super) fn determine_policy_snapshot(&mut self) -> Option<LatestPolicy> {
        if !self.require(Concept::PolicySnapshot, known(&self.state.policies)) {
            return None;
        }
        let latest = self.state.policies.items.iter();
        let latest: Vec<_> = latest.filter(|it| it.is_latest()).cloned().collect();
        let [policy] = latest.as_slice() else {
            self.refuse_latest(latest.len());
            return None;
        };
        self.check_policy(policy);
        Some(LatestPolicy {
            name: policy.meta.name.clone(),
            index: policy.index().unwrap_or_default().to_owned(),
            clusters: policy.wanted_clusters().unwrap_or(-1),
            is_scheduled: policy.is_scheduled(),
        })
    }

    /// There is no latest policy snapshot, or more than one.
    /// Source: utils/controller/policy_snapshot_resolver.go:LookupLatestPolicySnapshot.
    fn refuse_latest(&mut self, number: usize) {
        let key = self.state.key(&self.state.run.spec.placement);
        let is_next = self.state.version == AgentVersion::Next;
        if number > 0 {
            let text = if is_next {
                format!(
                    "{UNEXPECTED}multiple active policy snapshots found for placement {key}: got \
                     {number}, want 1"
                )
            } else {
                format!(
                    "{UNEXPECTED}more than one ({number} in actual) latest policy snapshots \
                     associated with the placement: `{key}`"
                )
            };
            return self.refuse(InputFault::SeveralPolicies(number), text);
        }
        if !self.state.policies.is_complete() {
            let why = "none of those that were read is the latest";
            return self.miss(Concept::PolicySnapshot, why, Vec::new());
        }
        let text = if is_next {
            format!("no latest policy snapshot found for placement {key}")
        } else {
            format!("no latest policy snapshot associated with the placement: `{key}`")
        };
        self.refuse(InputFault::PolicyMissing, text);
    }

    /// Source: updaterun/initialization.go:determinePolicySnapshot.
    fn check_policy(&mut self, policy: &PolicySnapshot) {
        let name = &policy.meta.name;
        let key = self.state.key(name);
        if policy.index().is_none_or(str::is_empty) {
            let text =
                format!("{UNEXPECTED}policy snapshot `{key}` does not have a policy index label");
            self.refuse(InputFault::PolicyWithoutIndex, text);
        }
        let is_counted = policy.wanted_clusters().is_some_and(|it| it >= 0);
        if policy.policy_type() == "PickN" && !is_counted {
            let text = format!(
                "{UNEXPECTED}the policy snapshot `{key}` doesn't have valid cluster count annotation"
            );
            self.refuse(InputFault::PolicyWithoutCount, text);
        }
        if !policy.is_scheduled() {
            let text = format!("policy snapshot `{name}` not fully scheduled yet");
            self.refuse(InputFault::NotScheduled, text);
        }
    }

    /// The bindings to update and to delete, and how many clusters the run records. Without a policy
    /// snapshot all bindings count that are not being given up.
    /// Source: updaterun/initialization.go:collectScheduledClusters.
    pub(super) fn collect_scheduled_clusters(
        &mut self,
        policy: Option<&LatestPolicy>,
    ) -> (RunBindings, i64) {
        let is_known = self.require(Concept::Binding, known(&self.state.bindings));
        let (mut bindings, mut outdated) = (RunBindings::default(), Vec::new());
        for (at, binding) in self.state.bindings.items.iter().enumerate() {
            if binding.is_unscheduled() {
                bindings.deleted.push(at);
            } else if policy.is_none_or(|policy| binding.spec.policy_snapshot == policy.name) {
                bindings.updated.push(at);
            } else {
                outdated.push(Arc::clone(binding));
            }
        }
        let selected = i64::try_from(bindings.updated.len()).unwrap_or(i64::MAX);
        if let Some(policy) = policy.filter(|_| is_known) {
            if outdated.is_empty() {
                self.check_count(policy, selected, bindings.deleted.is_empty());
            } else {
                let text = outdated.first().map(|it| self.transient(it));
                let fault = InputFault::OutdatedBindings(outdated);
                self.refuse(fault, text.unwrap_or_default());
            }
        }
        (bindings, selected)
    }

    /// Source: updaterun/initialization.go:collectScheduledClusters.
    fn check_count(&mut self, policy: &LatestPolicy, selected: i64, none_deleted: bool) {
        let wanted = policy.clusters;
        if !policy.is_scheduled {
            // How many there are follows from that.
        } else if selected == 0 && none_deleted {
            let text = format!(
                "no scheduled or to-be-deleted bindings found for the latest policy snapshot {}",
                self.state.key(&policy.name)
            );
            self.refuse(InputFault::NoCluster, text);
        } else if wanted >= 0 && wanted != selected {
            let text = format!(
                "{UNEXPECTED}the number of selected bindings {selected} is not equal to the \
                 observed cluster count {wanted}"
            );
            self.refuse(InputFault::ClusterCount { selected, wanted }, text);
        }
    }

    fn transient(&self, binding: &Binding) -> String {
        format!(
            "binding `{}` with old policy snapshot `{}` has state {}, we might observe a transient \
             state, need retry",
            self.state.key(&binding.meta.name),
            self.state.key(&binding.spec.policy_snapshot),
            binding.spec.state
        )
    }

    /// Source: updaterun/initialization.go:generateStagesByStrategy.
    fn generate_stages_by_strategy(&mut self, bindings: &RunBindings) {
        let mut leaving = self.clusters_of(&bindings.deleted);
        leaving.sort();
        let leaving = leaving.into_iter().map(waiting).collect();
        let strategy = match &self.state.strategy {
            Sight::Present(strategy) => Some(strategy.spec.clone()),
            Sight::Absent => {
                let key = self.state.key(&self.state.run.spec.strategy);
                let text = format!("{USER}referenced updateStrategy not found: `{key}`");
                self.refuse(InputFault::StrategyMissing, text);
                None
            }
            Sight::Unknown(why) => {
                let unknown = Err(why.clone());
                self.require(Concept::Strategy, unknown);
                None
            }
        };
        if let Some(strategy) = strategy {
            let stages = self.compute_run_stage_status(&strategy, bindings);
            self.state.run.status.stages = stages;
            self.state.run.status.strategy = Some(Box::new(strategy));
        }
        let strategy = self.state.run.status.strategy.as_deref();
        let tasks = strategy.map_or(&[][..], |strategy| &strategy.before_deletion);
        self.state.run.status.deletion_stage = Some(Box::new(StageStatus {
            name: names::DELETE_STAGE.to_owned(),
            clusters: leaving,
            after: self.task_statuses(tasks, "after", "delete-stage"),
            ..StageStatus::default()
        }));
    }

    /// Source: updaterun/initialization.go:computeRunStageStatus.
    pub(super) fn compute_run_stage_status(
        &mut self,
        strategy: &StrategySpec,
        bindings: &RunBindings,
    ) -> Vec<StageStatus> {
        self.require(Concept::MemberCluster, known(&self.state.members));
        let selected: BTreeSet<String> = self.clusters_of(&bindings.updated).into_iter().collect();
        // Lent to what is placed, while the checks note what they find.
        let members = std::mem::take(&mut self.state.members);
        let placing = StagePlacing::of(&selected, &members, strategy);
        let mut stages = Vec::new();
        for (at, stage) in strategy.stages.iter().enumerate() {
            self.check_tasks(at, stage);
            self.check_selector(at, stage);
            self.check_clusters(at, &placing);
            let clusters = placing.in_order(stage).into_iter();
            stages.push(self.stage_status(stage, clusters.map(|it| it.name.to_owned())));
        }
        self.check_places(&placing, &members);
        drop(placing);
        self.state.members = members;
        stages
    }

    /// Source: updaterun/initialization.go:validateBeforeStageTask, validateAfterStageTask.
    fn check_tasks(&mut self, at: usize, stage: &Stage) {
        let strategy = self.state.key(&self.state.run.spec.strategy);
        for (before, problem) in stage.task_problems() {
            let when = if before { "before" } else { "after" };
            let text = format!(
                "{USER}the {when} stage tasks are invalid, updateStrategy: `{strategy}`, stage: {}, err: {}",
                stage.name,
                task_error(&problem)
            );
            let fault = InputFault::Task {
                stage: at,
                before,
                problem,
            };
            self.refuse(fault, text);
        }
    }

    /// Source: updaterun/initialization.go:computeRunStageStatus.
    fn check_selector(&mut self, at: usize, stage: &Stage) {
        let Some(problem) = stage.selector.as_deref().and_then(LabelSelector::problem) else {
            return;
        };
        let strategy = self.state.key(&self.state.run.spec.strategy);
        let text = format!(
            "{USER}the stage label selector is invalid, updateStrategy: `{strategy}`, stage: {}, \
             err: {problem}",
            stage.name
        );
        self.refuse(InputFault::Selector { stage: at, problem }, text);
    }

    /// Whether the clusters of a stage are in no stage before it, and can be sorted.
    /// Source: updaterun/initialization.go:computeRunStageStatus.
    fn check_clusters(&mut self, at: usize, placing: &StagePlacing<'_>) {
        let Some(stage) = placing.strategy.stages.get(at) else {
            return;
        };
        let key = &stage.sorting_label;
        let members = || {
            let placed = placing.of_stage(stage);
            placed.filter_map(|placed| Some((placed, placed.member?)))
        };
        let is_unsorted = |member: &MemberCluster| sorting_number(member, key).is_none();
        let mut is_sorted = true;
        for (placed, member) in members() {
            let name = placed.name;
            let is_first = placed.stages.first().is_some_and(|it| ptr::eq(*it, stage));
            if !is_first {
                let text = format!("{USER}cluster `{name}` appears in more than one stages");
                self.refuse(InputFault::TwoStages, text);
            }
            if is_sorted && is_unsorted(member) {
                is_sorted = false;
                let value = member.meta.label(key).unwrap_or_default();
                let text = format!(
                    "{USER}the sorting label `{key}:{value}` on cluster `{name}` is not valid: \
                     strconv.Atoi: parsing \"{value}\": invalid syntax"
                );
                let clusters = members().filter(|(_, member)| is_unsorted(member));
                let clusters = clusters.map(|(placed, _)| placed.name.to_owned()).collect();
                self.refuse(
                    InputFault::Sorting {
                        stage: at,
                        clusters,
                    },
                    text,
                );
            }
        }
    }

    /// Whether each cluster is in a stage. Source: updaterun/initialization.go:computeRunStageStatus.
    fn check_places(&mut self, placing: &StagePlacing<'_>, members: &Listing<MemberCluster>) {
        let names = |placed: &ClusterStages<'_>| placed.name.to_owned();
        let nowhere: Vec<_> = placing.nowhere().map(names).collect();
        if !nowhere.is_empty() {
            let shown: Vec<_> = nowhere.iter().take(10).map(String::as_str).collect();
            let text = format!(
                "{USER}some clusters are not placed in any stage, total {}, showing up to 10: {}",
                nowhere.len(),
                shown.join(", ")
            );
            self.refuse(InputFault::NoStage(nowhere), text);
        }
        let unseen = placing.unclear().filter(|placed| placed.member.is_none());
        let unseen: Vec<_> = unseen.map(names).collect();
        if let Some(why) = members.gap.as_ref().filter(|_| !unseen.is_empty()) {
            self.miss(Concept::MemberCluster, why, unseen);
        }
    }

    fn task_statuses(&self, tasks: &[Task], when: &str, stage: &str) -> Vec<TaskStatus> {
        let run = &self.state.run.meta.name;
        let task = |task: &Task| TaskStatus {
            kind: task.kind.clone(),
            approval_request: if task.is_approval() {
                names::approval_request(run, when, stage)
            } else {
                String::new()
            },
            conditions: Vec::new(),
        };
        tasks.iter().map(task).collect()
    }

    fn stage_status(&self, stage: &Stage, clusters: impl Iterator<Item = String>) -> StageStatus {
        let tasks = |tasks, when| self.task_statuses(tasks, when, &stage.name);
        StageStatus {
            name: stage.name.clone(),
            clusters: clusters.map(waiting).collect(),
            before: tasks(&stage.before, "before"),
            after: tasks(&stage.after, "after"),
            ..StageStatus::default()
        }
    }

    /// Source: updaterun/initialization.go:recordOverrideSnapshots,
    /// utils/overrider/overrider.go:PickFromResourceMatchedOverridesForTargetCluster.
    fn record_override_snapshots(&mut self, index: &str) {
        self.require(
            Concept::OverrideSnapshot,
            known_or_empty(&self.state.overrides),
        );
        let overrides = self.state.overrides.items.iter();
        let overrides: Vec<_> = overrides.filter(|it| it.is_latest()).cloned().collect();
        if overrides.is_empty() {
            return;
        }
        let snapshots = self.state.snapshots.items.clone();
        let parts = parts(&snapshots, index);
        let resources: Vec<&ManifestIdentity> =
            parts.iter().flat_map(|part| &part.spec.resources).collect();
        self.check_parts(&parts);
        let name = &self.state.run.spec.placement;
        let chosen = overrides.into_iter();
        let chosen: Vec<_> = chosen.filter(|it| applies(it, name, &resources)).collect();
        for (snapshot, problem, clusters) in self.pick_overrides(&chosen) {
            let text = format!("{UNEXPECTED}{problem}");
            let fault = InputFault::Override {
                snapshot,
                problem,
                clusters,
            };
            self.refuse(fault, text);
        }
    }

    /// Records which cluster gets which overrides. Returns those that cannot be used, why, and for
    /// which clusters.
    fn pick_overrides(&mut self, chosen: &[Arc<OverrideSnapshot>]) -> Vec<InvalidOverride> {
        let mut invalid: Vec<InvalidOverride> = Vec::new();
        let members = self.state.members.iter();
        let members: BTreeMap<_, _> = members.map(|it| (it.meta.name.as_str(), it)).collect();
        let stages = self.state.run.status.stages.iter_mut();
        for cluster in stages.flat_map(|stage| &mut stage.clusters) {
            let Some(member) = members.get(cluster.name.as_str()) else {
                continue;
            };
            for snapshot in chosen {
                match matches(snapshot, member) {
                    Err(problem) => note_invalid(&mut invalid, snapshot, problem, &cluster.name),
                    Ok(false) => {}
                    Ok(true) if snapshot.meta.namespace.is_empty() => {
                        cluster.cluster_overrides.push(snapshot.meta.name.clone());
                    }
                    Ok(true) => cluster.overrides.push(NamespacedName {
                        name: snapshot.meta.name.clone(),
                        namespace: snapshot.meta.namespace.clone(),
                    }),
                }
            }
        }
        invalid
    }

    /// With overrides on the hub the parts of the snapshot are looked for; those of a namespaced
    /// placement are not found.
    /// Source: utils/controller/controller.go:FetchAllResourceSnapshotsAlongWithMaster.
    fn check_parts(&mut self, parts: &[&ResourceSnapshot]) {
        let expected = parts.iter().find_map(|part| part.parts()).unwrap_or(1);
        let fault = if !self.state.scope.namespace().is_empty() && expected > 1 {
            InputFault::PartsNotFound
        } else if !parts.is_empty() && parts.len() != expected {
            InputFault::SnapshotIncomplete
        } else {
            return;
        };
        let text = "not all resource snapshot in the same index group are created";
        self.refuse(fault, text);
    }

    /// The index of the content: what was asked for, else the latest. Since 0.3 the controller makes
    /// a snapshot where the content has changed, which nobody can know before.
    /// Source: updaterun/initialization.go:getResourceSnapshotObjs.
    fn resource_snapshot_index(&mut self, is_placement_absent: bool) -> Option<String> {
        let asked = self.state.run.spec.snapshot_index.clone();
        let placement = &self.state.run.spec.placement;
        let key = self.state.key(placement);
        if asked.is_empty() {
            return self.latest_index(is_placement_absent, &key);
        }
        let number = asked.parse::<i64>().ok().filter(|number| *number >= 0);
        let Some(number) = number else {
            let text = format!(
                "{USER}invalid resource snapshot index `{asked}` provided, expected an integer >= 0"
            );
            self.refuse(InputFault::IndexInvalid, text);
            return None;
        };
        if is_placement_absent {
            return None;
        }
        let snapshots = &self.state.snapshots;
        let parts = parts(&snapshots.items, &asked);
        if !parts.is_empty() {
            if !parts.iter().any(|part| part.is_master()) {
                let text =
                    format!("{UNEXPECTED}no master resourceSnapshot found for placement {key}");
                self.refuse(InputFault::SnapshotIncomplete, text);
            }
            return Some(asked);
        }
        if let Some(why) = snapshots.gap.clone() {
            self.miss(Concept::ResourceSnapshot, &why, Vec::new());
            return None;
        }
        let indexes = snapshots.iter().filter_map(|it| it.index()?.parse().ok());
        let fault = match indexes.min() {
            Some(lowest) if number < lowest => InputFault::SnapshotPruned,
            _ => InputFault::SnapshotMissing,
        };
        let text =
            format!("{USER}no resourceSnapshots with index `{number}` found for placement `{key}`");
        self.refuse(fault, text);
        None
    }

    /// Source: utils/controller/resource_snapshot_resolver.go:GetOrCreateResourceSnapshot.
    fn latest_index(&mut self, is_placement_absent: bool, key: &str) -> Option<String> {
        let snapshots = &self.state.snapshots;
        let latest = snapshots.items.iter().find(|it| it.is_latest());
        let index = latest.and_then(|it| it.index().map(str::to_owned));
        if let Some(index) = index
            .as_deref()
            .filter(|_| self.state.version >= AgentVersion::V03)
        {
            let parts = parts(&snapshots.items, index);
            let twice = created_twice(&parts).filter(|_| snapshots.is_complete());
            if let Some(twice) = twice {
                let (kind, name) = (
                    self.state.scope.kind(Concept::ResourceSnapshot),
                    &twice.meta.name,
                );
                let text = format!("{} \"{name}\" already exists", kind.plural());
                self.refuse(InputFault::PartExists, text);
                return None;
            }
        }
        if index.is_some() || is_placement_absent {
            return index;
        }
        if self.state.version >= AgentVersion::V03 {
            // Which one it makes is open where those that exist were not read.
            let first = snapshots.is_known_empty() || !snapshots.items.is_empty();
            return first.then(|| "0".to_owned());
        }
        if !self.require(Concept::ResourceSnapshot, known(&self.state.snapshots)) {
            return None;
        }
        let text = format!(
            "no latest resourceSnapshots found for placement `{key}`. This might be a transient \
             state, need retry"
        );
        self.refuse(InputFault::SnapshotAwaited, text);
        None
    }
}

/// An override that cannot be used, why, and for which clusters.
type InvalidOverride = (Arc<OverrideSnapshot>, String, Vec<String>);

fn note_invalid(
    invalid: &mut Vec<InvalidOverride>,
    snapshot: &Arc<OverrideSnapshot>,
    problem: String,
    cluster: &str,
) {
    let mut known = invalid.iter_mut();
    let known = known.find(|it| Arc::ptr_eq(&it.0, snapshot) && it.1 == problem);
    if let Some((_, _, clusters)) = known {
        clusters.push(cluster.to_owned());
    } else {
        invalid.push((Arc::clone(snapshot), problem, vec![cluster.to_owned()]));
    }
}

/// The objects of one version of the content.
fn parts<'s>(snapshots: &'s [Arc<ResourceSnapshot>], index: &str) -> Vec<&'s ResourceSnapshot> {
    let snapshots = snapshots.iter().map(AsRef::as_ref);
    snapshots
        .filter(|it: &&ResourceSnapshot| it.index() == Some(index))
        .collect()
}

/// Overrides that nobody put into a file do not exist.
fn known_or_empty<T>(listing: &Listing<T>) -> Result<(), String> {
    match listing.gap.as_deref() {
        None | Some(NOT_COLLECTED | NOT_SERVED) => Ok(()),
        Some(why) => Err(why.to_owned()),
    }
}

fn waiting(name: String) -> ClusterStatus {
    ClusterStatus {
        name,
        ..ClusterStatus::default()
    }
}

/// The controller's words for what is wrong with a task.
fn task_error(problem: &TaskProblem) -> String {
    let at = |task: &Option<u32>| task.unwrap_or_default();
    match problem {
        TaskProblem::TooMany => "beforeStageTasks can have at most one task".to_owned(),
        TaskProblem::TypeNotAllowed { task, task_type } => format!(
            "task {} of type {task_type} is not allowed in beforeStageTasks, allowed type: Approval",
            at(task)
        ),
        TaskProblem::WaitNotAllowed { task } => {
            format!(
                "task {} of type Approval cannot have wait duration set",
                at(task)
            )
        }
        TaskProblem::DuplicateType { task_type } => {
            format!("afterStageTasks cannot have two tasks of the same type: {task_type}")
        }
        TaskProblem::WaitMissing { task } => {
            format!(
                "task {} of type TimedWait has wait duration set to nil",
                at(task)
            )
        }
        TaskProblem::WaitNotPositive { task } => {
            format!("task {} of type TimedWait has wait duration <= 0", at(task))
        }
        TaskProblem::Other { text } => text.clone(),
    }
}
