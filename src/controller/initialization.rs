//! What a run is computed from. Mirrors updaterun/initialization.go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::failure::{Halt, UNEXPECTED, USER};
use super::reconcile::{Bindings, Reconciler};
use super::state::known;
use super::version::AgentVersion;
use crate::inventory::Sight;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::messages::TaskProblem;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::run::{ClusterStatus, NamespacedName, StageStatus, TaskStatus};
use crate::kubefleet::snapshot::{ManifestIdentity, ResourceSnapshot};
use crate::kubefleet::strategy::{Stage, StrategySpec, Task};
use crate::kubefleet::{ConditionStatus, names, reasons};
use crate::rollout::overrides::{applies, matches};
use crate::rollout::placing::sorting_number;

/// What the latest policy snapshot says.
pub(super) struct LatestPolicy {
    pub name: String,
    pub index: String,
    /// How many clusters it asks for; -1 with PickAll.
    pub clusters: i64,
}

impl Reconciler {
    /// Computes the stages and pins the content.
    /// Source: updaterun/initialization.go:initialize.
    pub(super) fn initialize(&mut self) -> Result<(), Halt> {
        let placement = self.validate_placement()?;
        let policy = self.determine_policy_snapshot()?;
        let (bindings, count) = self.collect_scheduled_clusters(&policy)?;
        let status = &mut self.state.run.status;
        status.apply_strategy = Some(Box::new(placement.apply_strategy()));
        status.policy_index.clone_from(&policy.index);
        status.policy_cluster_count = Some(count);
        self.generate_stages_by_strategy(&bindings)?;
        self.record_override_snapshots(&placement)?;
        let message = match self.state.version {
            AgentVersion::V01 => "ClusterStagedUpdateRun initialized successfully",
            _ => "The UpdateRun initialized successfully",
        };
        let reason = "UpdateRunInitializedSuccessfully";
        self.mark_run(reasons::INITIALIZED, ConditionStatus::True, reason, message);
        Ok(())
    }

    /// Source: updaterun/initialization.go:validatePlacement.
    pub(super) fn validate_placement(&self) -> Result<Arc<Placement>, Halt> {
        let placement = match &self.state.placement {
            Sight::Present(placement) => Arc::clone(placement),
            Sight::Absent => {
                return Err(self.refused("FS101", &format!("{USER}parent placement not found")));
            }
            Sight::Unknown(why) => return Err(Halt::Unknown(format!("the placement: {why}"))),
        };
        if !placement.is_external() {
            let text = format!(
                "{USER}parent placement does not have an external rollout strategy, current \
                 strategy: {}",
                placement.rollout_type()
            );
            return Err(self.refused("FS102", &text));
        }
        Ok(placement)
    }

    /// Source: updaterun/initialization.go:determinePolicySnapshot,
    /// utils/controller/policy_snapshot_resolver.go:LookupLatestPolicySnapshot.
    pub(super) fn determine_policy_snapshot(&self) -> Result<LatestPolicy, Halt> {
        known(&self.state.policies, "policy snapshots")?;
        let mut latest = self.state.policies.iter().filter(|it| it.is_latest());
        let placement = &self.state.run.spec.placement;
        let key = self.state.key(placement);
        let Some(policy) = latest.next() else {
            let text = match self.state.version {
                AgentVersion::Next => {
                    format!("no latest policy snapshot found for placement {key}")
                }
                _ => {
                    format!("no latest policy snapshot associated with the placement: `{key}`")
                }
            };
            return Err(self.refused("FS103", &text));
        };
        let more = latest.count();
        if more > 0 {
            let number = more.saturating_add(1);
            let text = match self.state.version {
                AgentVersion::Next => format!(
                    "{UNEXPECTED}multiple active policy snapshots found for placement {key}: got \
                     {number}, want 1"
                ),
                _ => format!(
                    "{UNEXPECTED}more than one ({number} in actual) latest policy snapshots \
                     associated with the placement: `{key}`"
                ),
            };
            return Err(self.refused("FS104", &text));
        }
        let name = &policy.meta.name;
        let Some(index) = policy.index().filter(|index| !index.is_empty()) else {
            let text = format!(
                "{UNEXPECTED}policy snapshot `{}` does not have a policy index label",
                self.state.key(name)
            );
            return Err(self.refused("FS104", &text));
        };
        let clusters = match (policy.policy_type(), policy.wanted_clusters()) {
            ("PickN", None) => {
                let text = format!(
                    "{UNEXPECTED}the policy snapshot `{}` doesn't have valid cluster count annotation",
                    self.state.key(name)
                );
                return Err(self.refused("FS104", &text));
            }
            (_, wanted) => wanted.unwrap_or(-1),
        };
        if !policy.is_scheduled() {
            let text = format!("policy snapshot `{name}` not fully scheduled yet");
            return Err(self.refused("FS105", &text));
        }
        Ok(LatestPolicy {
            name: name.clone(),
            index: index.to_owned(),
            clusters,
        })
    }

    /// The bindings to update and to delete, and how many clusters the run records.
    /// Source: updaterun/initialization.go:collectScheduledClusters.
    pub(super) fn collect_scheduled_clusters(
        &self,
        policy: &LatestPolicy,
    ) -> Result<(Bindings, i64), Halt> {
        known(&self.state.bindings, "bindings")?;
        let mut bindings = Bindings::default();
        for (at, binding) in self.state.bindings.iter().enumerate() {
            let is_current = binding.spec.policy_snapshot == policy.name;
            if binding.is_unscheduled() {
                bindings.deleted.push(at);
            } else if is_current {
                bindings.updated.push(at);
            } else {
                return Err(Halt::Retried(self.transient(binding)));
            }
        }
        let selected = i64::try_from(bindings.updated.len()).unwrap_or(i64::MAX);
        if selected == 0 && bindings.deleted.is_empty() {
            let text = format!(
                "no scheduled or to-be-deleted bindings found for the latest policy snapshot {}",
                self.state.key(&policy.name)
            );
            return Err(self.refused("FS106", &text));
        }
        if policy.clusters != -1 && policy.clusters != selected {
            let text = format!(
                "{UNEXPECTED}the number of selected bindings {selected} is not equal to the \
                 observed cluster count {}",
                policy.clusters
            );
            return Err(self.refused("FS107", &text));
        }
        Ok((bindings, selected))
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
    fn generate_stages_by_strategy(&mut self, bindings: &Bindings) -> Result<(), Halt> {
        let strategy = match &self.state.strategy {
            Sight::Present(strategy) => strategy.spec.clone(),
            Sight::Absent => {
                let key = self.state.key(&self.state.run.spec.strategy);
                let text = format!("{USER}referenced updateStrategy not found: `{key}`");
                return Err(self.refused("FS108", &text));
            }
            Sight::Unknown(why) => return Err(Halt::Unknown(format!("the strategy: {why}"))),
        };
        let stages = self.compute_run_stage_status(&strategy, bindings)?;
        let mut leaving = self.clusters_of(&bindings.deleted);
        leaving.sort();
        let status = &mut self.state.run.status;
        status.stages = stages;
        status.strategy = Some(Box::new(strategy));
        status.deletion_stage = Some(Box::new(StageStatus {
            name: names::DELETE_STAGE.to_owned(),
            clusters: leaving.into_iter().map(waiting).collect(),
            ..StageStatus::default()
        }));
        Ok(())
    }

    /// Source: updaterun/initialization.go:computeRunStageStatus.
    pub(super) fn compute_run_stage_status(
        &self,
        strategy: &StrategySpec,
        bindings: &Bindings,
    ) -> Result<Vec<StageStatus>, Halt> {
        known(&self.state.members, "member clusters")?;
        let selected: BTreeSet<String> = self.clusters_of(&bindings.updated).into_iter().collect();
        let mut placed = BTreeSet::new();
        let mut stages = Vec::new();
        for stage in &strategy.stages {
            self.check_tasks(stage)?;
            let members = self.members_of(stage, &selected)?;
            for member in &members {
                if !placed.insert(member.meta.name.clone()) {
                    let name = &member.meta.name;
                    let text = format!("{USER}cluster `{name}` appears in more than one stages");
                    return Err(self.refused("FS111", &text));
                }
                self.check_sorting(stage, member)?;
            }
            stages.push(self.stage_status(stage, members));
        }
        let missing: Vec<_> = selected.difference(&placed).map(String::as_str).collect();
        if !missing.is_empty() {
            let shown: Vec<_> = missing.iter().take(10).copied().collect();
            let text = format!(
                "{USER}some clusters are not placed in any stage, total {}, showing up to 10: {}",
                missing.len(),
                shown.join(", ")
            );
            return Err(self.refused("FS113", &text));
        }
        Ok(stages)
    }

    /// Source: updaterun/initialization.go:validateBeforeStageTask, validateAfterStageTask.
    fn check_tasks(&self, stage: &Stage) -> Result<(), Halt> {
        let Some((before, problem)) = stage.task_problems().into_iter().next() else {
            return Ok(());
        };
        let strategy = self.state.key(&self.state.run.spec.strategy);
        let when = if before { "before" } else { "after" };
        let text = format!(
            "{USER}the {when} stage tasks are invalid, updateStrategy: `{strategy}`, stage: {}, err: {}",
            stage.name,
            task_error(&problem)
        );
        Err(self.refused("FS109", &text))
    }

    /// The clusters of the run that a stage selects.
    fn members_of<'s>(
        &'s self,
        stage: &Stage,
        selected: &BTreeSet<String>,
    ) -> Result<Vec<&'s MemberCluster>, Halt> {
        // A selector that is not there selects nothing.
        let Some(selector) = stage.selector.as_deref() else {
            return Ok(Vec::new());
        };
        if let Some(problem) = selector.problem() {
            let strategy = self.state.key(&self.state.run.spec.strategy);
            let text = format!(
                "{USER}the stage label selector is invalid, updateStrategy: `{strategy}`, stage: \
                 {}, err: {problem}",
                stage.name
            );
            return Err(self.refused("FS110", &text));
        }
        let members = self.state.members.iter();
        Ok(members
            .filter(|member| selected.contains(&member.meta.name))
            .filter(|member| selector.matches(&member.meta.labels) == Some(true))
            .collect())
    }

    fn check_sorting(&self, stage: &Stage, member: &MemberCluster) -> Result<(), Halt> {
        let key = &stage.sorting_label;
        if sorting_number(member, key).is_some() {
            return Ok(());
        }
        let value = member.meta.label(key).unwrap_or_default();
        let name = &member.meta.name;
        let text = format!(
            "{USER}the sorting label `{key}:{value}` on cluster `{name}` is not valid: \
             strconv.Atoi: parsing \"{value}\": invalid syntax"
        );
        Err(self.refused("FS112", &text))
    }

    fn stage_status(&self, stage: &Stage, mut members: Vec<&MemberCluster>) -> StageStatus {
        members.sort_by_key(|member| {
            let number = sorting_number(member, &stage.sorting_label);
            (number, member.meta.name.clone())
        });
        let run = &self.state.run.meta.name;
        let tasks = |tasks: &[Task], when| {
            let task = |task: &Task| TaskStatus {
                kind: task.kind.clone(),
                approval_request: if task.kind == "Approval" {
                    names::approval_request(run, when, &stage.name)
                } else {
                    String::new()
                },
                conditions: Vec::new(),
            };
            tasks.iter().map(task).collect()
        };
        let clusters = members.into_iter().map(|it| waiting(it.meta.name.clone()));
        StageStatus {
            name: stage.name.clone(),
            clusters: clusters.collect(),
            before: tasks(&stage.before, "before"),
            after: tasks(&stage.after, "after"),
            ..StageStatus::default()
        }
    }

    /// Source: updaterun/initialization.go:recordOverrideSnapshots,
    /// utils/overrider/overrider.go:PickFromResourceMatchedOverridesForTargetCluster.
    fn record_override_snapshots(&mut self, placement: &Placement) -> Result<(), Halt> {
        let index = self.resource_snapshot_index(placement)?;
        self.state.run.status.snapshot_index.clone_from(&index);
        known_or_empty(self.state.overrides.gap.as_deref())?;
        let overrides: Vec<_> = self.state.overrides.items.clone();
        let overrides: Vec<_> = overrides.iter().filter(|it| it.is_latest()).collect();
        if overrides.is_empty() {
            return Ok(());
        }
        let snapshots = self.state.snapshots.items.clone();
        let parts = parts(&snapshots, &index);
        let resources: Vec<&ManifestIdentity> =
            parts.iter().flat_map(|part| &part.spec.resources).collect();
        self.check_parts(&parts)?;
        let name = &self.state.run.spec.placement;
        let chosen: Vec<_> = overrides
            .into_iter()
            .filter(|it| applies(it, name, &resources))
            .collect();
        let mut picked: BTreeMap<String, (Vec<String>, Vec<NamespacedName>)> = BTreeMap::new();
        let clusters = self.state.run.status.stages.iter();
        for cluster in clusters.flat_map(|stage| &stage.clusters) {
            let mut members = self.state.members.iter();
            let Some(member) = members.find(|member| member.meta.name == cluster.name) else {
                continue;
            };
            let entry = picked.entry(cluster.name.clone()).or_default();
            for snapshot in &chosen {
                match matches(snapshot, member) {
                    Err(problem) => {
                        return Err(self.refused("FS118", &format!("{UNEXPECTED}{problem}")));
                    }
                    Ok(false) => {}
                    Ok(true) if snapshot.meta.namespace.is_empty() => {
                        entry.0.push(snapshot.meta.name.clone());
                    }
                    Ok(true) => entry.1.push(NamespacedName {
                        name: snapshot.meta.name.clone(),
                        namespace: snapshot.meta.namespace.clone(),
                    }),
                }
            }
        }
        let stages = self.state.run.status.stages.iter_mut();
        for cluster in stages.flat_map(|stage| &mut stage.clusters) {
            if let Some((own, namespaced)) = picked.remove(&cluster.name) {
                cluster.cluster_overrides = own;
                cluster.overrides = namespaced;
            }
        }
        Ok(())
    }

    /// With overrides on the hub the parts of the snapshot are looked for; those of a namespaced
    /// placement are not found.
    /// Source: utils/controller/controller.go:FetchAllResourceSnapshotsAlongWithMaster.
    fn check_parts(&self, parts: &[&ResourceSnapshot]) -> Result<(), Halt> {
        let expected = parts.iter().find_map(|part| part.parts()).unwrap_or(1);
        let lost = !self.state.scope.namespace().is_empty() && expected > 1;
        if lost || (!parts.is_empty() && parts.len() != expected) {
            let text = "not all resource snapshot in the same index group are created";
            return Err(self.refused("FS117", text));
        }
        Ok(())
    }

    /// The index of the content: what was asked for, else the latest. Since 0.3 the controller makes
    /// a snapshot where the content has changed, which nobody can know before.
    /// Source: updaterun/initialization.go:getResourceSnapshotObjs.
    fn resource_snapshot_index(&self, placement: &Placement) -> Result<String, Halt> {
        let asked = self.state.run.spec.snapshot_index.clone();
        let snapshots = &self.state.snapshots;
        if asked.is_empty() {
            let mut latest = snapshots.iter().filter(|it| it.is_latest());
            let index = latest.find_map(|it| it.index().map(str::to_owned));
            return match index {
                Some(index) => Ok(index),
                // Which one it makes is open where those that exist were not read.
                None if self.state.version >= AgentVersion::V03 => {
                    let first = snapshots.is_known_empty() || !snapshots.items.is_empty();
                    Ok(if first { "0" } else { "" }.to_owned())
                }
                None => {
                    known(snapshots, "resource snapshots")?;
                    let key = self.state.key(&placement.meta.name);
                    Err(Halt::Retried(format!(
                        "no latest resourceSnapshots found for placement `{key}`. This might be a \
                         transient state, need retry"
                    )))
                }
            };
        }
        let number = asked.parse::<i64>().ok().filter(|number| *number >= 0);
        let Some(number) = number else {
            let text = format!(
                "{USER}invalid resource snapshot index `{asked}` provided, expected an integer >= 0"
            );
            return Err(self.refused("FS114", &text));
        };
        let parts = parts(&snapshots.items, &asked);
        let key = self.state.key(&placement.meta.name);
        if parts.is_empty() {
            if let Some(why) = &snapshots.gap {
                return Err(Halt::Unknown(format!("resource snapshots: {why}")));
            }
            let text = format!(
                "{USER}no resourceSnapshots with index `{number}` found for placement `{key}`"
            );
            let lowest = snapshots
                .iter()
                .filter_map(|it| it.index()?.parse().ok())
                .min();
            let code = match lowest {
                Some(lowest) if number < lowest => "FS116",
                _ => "FS115",
            };
            return Err(self.refused(code, &text));
        }
        if !parts.iter().any(|part| part.is_master()) {
            let text = format!("{UNEXPECTED}no master resourceSnapshot found for placement {key}");
            return Err(self.refused("FS117", &text));
        }
        Ok(asked)
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
fn known_or_empty(gap: Option<&str>) -> Result<(), Halt> {
    match gap {
        None
        | Some(crate::inventory::source::NOT_COLLECTED | crate::inventory::source::NOT_SERVED) => {
            Ok(())
        }
        Some(why) => Err(Halt::Unknown(format!("override snapshots: {why}"))),
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
