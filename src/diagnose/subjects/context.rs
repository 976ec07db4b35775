//! Everything that a rule may read, understood once.

use std::sync::OnceLock;

use jiff::Timestamp;

use crate::diagnose::subjects::failing_cluster::{self, FailingCluster};
use crate::diagnose::subjects::outlook::RunOutlook;
use crate::diagnose::subjects::verdict;
use crate::inventory::Inventory;
use crate::kubefleet::messages::{Cause, parse_failure};
use crate::kubefleet::placement::Placement;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Condition, Conditions, ObjectRef, reasons};
use crate::manifests::RenderFault;
use crate::plan::RunChanges;
use crate::problems::RefusalTense;
use crate::problems::steps;
use crate::report::{ComposeText, Finding, RunFacts, Verdict};
use crate::rollout::Rollout;
use crate::rollout::life;
use crate::words::CommandLine;

/// One diagnosis at work.
#[derive(Debug)]
pub struct DiagnosisContext<'i> {
    pub inventory: &'i Inventory,
    /// The run, understood; `None` for a placement without one.
    pub rollout: Option<Rollout<'i>>,
    /// The state of the rollout.
    pub verdict: Verdict,
    /// What comes next.
    pub outlook: RunOutlook,
    /// Why the run failed, when it did.
    pub failure: Option<FailureView<'i>>,
    /// What a live run fails for next, of what no rule sees by itself.
    pub foreseen: Vec<Cause>,
    /// Clusters whose binding has a failing condition.
    pub troubles: Vec<FailingCluster<'i>>,
    /// What will hold the run on clusters that it has still to reach, once somebody has asked.
    pub(super) faults_ahead: OnceLock<Vec<RenderFault>>,
    /// What the run changes on them, once somebody has asked.
    pub(super) changes_ahead: OnceLock<RunChanges>,
    /// When the controller ran into the failure: `when RUN was initialized`, `while RUN was under way`.
    pub when: String,
}

/// The text with which a run failed.
#[derive(Debug)]
pub struct FailureView<'i> {
    /// `Initialized` or `Succeeded`.
    pub condition: &'i Condition,
    /// Whether the run failed before it had done anything.
    pub initializing: bool,
    /// What the text names in the end: nested failures are followed to their own causes.
    pub causes: Vec<Cause>,
}

/// Whether the placement that was asked about is being deleted.
pub(in crate::diagnose) fn is_target_going(inventory: &Inventory) -> bool {
    inventory.target.kind.concept() == Concept::Placement && inventory.is_placement_deleting()
}

impl<'i> DiagnosisContext<'i> {
    pub fn new(inventory: &'i Inventory) -> Self {
        let rollout = Rollout::new(inventory);
        let failure = rollout.as_ref().and_then(|rollout| failure(rollout.run));
        let outlook = rollout.as_ref().map(RunOutlook::new).unwrap_or_default();
        let foreseen = if rollout.as_ref().is_some_and(Rollout::is_live) {
            foreseen(&outlook, inventory)
        } else {
            Vec::new()
        };
        let troubles = failing_cluster::failing_clusters(inventory, rollout.as_ref());
        let verdict = match &rollout {
            // What a run has brought goes with its placement.
            Some(rollout) if rollout.is_finished() && is_target_going(inventory) => {
                Verdict::Deleting
            }
            Some(rollout) => verdict::of_run(rollout),
            None => verdict::of_placement(inventory, &troubles),
        };
        let initializing = failure.as_ref().is_some_and(|failure| failure.initializing);
        let run = rollout
            .as_ref()
            .map_or(&inventory.target.name, |rollout| &rollout.run.meta.name);
        let when = if initializing {
            format!("when {run} was initialized")
        } else {
            format!("while {run} was under way")
        };
        Self {
            inventory,
            rollout,
            verdict,
            outlook,
            failure,
            foreseen,
            troubles,
            faults_ahead: OnceLock::new(),
            changes_ahead: OnceLock::new(),
            when,
        }
    }

    /// That a run was refused, and what has changed since; or that it will be.
    pub fn past<'t>(&'t self, since: &'t str) -> RefusalTense<'t> {
        match self.failure {
            Some(_) => RefusalTense::Past {
                when: &self.when,
                since,
            },
            None => RefusalTense::Now,
        }
    }

    /// The object that was asked about.
    pub fn target(&self) -> &'i ObjectRef {
        &self.inventory.target
    }

    /// Whether the run does nothing until a person or the time lets it.
    pub fn is_resting(&self) -> bool {
        let verdict = self.verdict;
        self.rollout.is_some()
            && (verdict.waits_for_person() || verdict == Verdict::WaitingForTimer)
    }

    /// The moment for which everything is judged.
    pub fn now(&self) -> Timestamp {
        self.inventory.now
    }

    pub fn run(&self) -> Option<&'i UpdateRun> {
        self.inventory.run.present()
    }

    /// What is known of the run, for documents.
    pub fn run_facts(&self) -> Option<RunFacts> {
        let rollout = self.rollout.as_ref()?;
        Some(RunFacts::new(rollout, verdict::of_run(rollout)))
    }

    /// The run as an object; the target when there is none.
    pub fn run_object(&self) -> ObjectRef {
        self.run()
            .map_or_else(|| self.target().clone(), UpdateRun::object)
    }

    /// The placement as an object, whether it exists or not.
    pub fn placement_object(&self) -> ObjectRef {
        self.object(Concept::Placement, &self.inventory.placement_name)
    }

    /// The strategy that the run names, whether it exists or not.
    pub fn strategy_object(&self) -> ObjectRef {
        let name = self.run().map_or("", |run| run.spec.strategy.as_str());
        self.object(Concept::Strategy, name)
    }

    /// An object of the target's scope.
    pub fn object(&self, concept: Concept, name: &str) -> ObjectRef {
        self.inventory.scope.object(concept, name)
    }

    /// What the text of the failure names.
    pub fn causes(&self) -> impl Iterator<Item = &Cause> {
        self.failure.iter().flat_map(|failure| &failure.causes)
    }

    /// `kubectl fleet-stage VERB [-n NAMESPACE]`.
    pub fn command(&self, verb: &'static str) -> CommandLine {
        self.inventory.scope.fleet(verb)
    }

    /// `kubectl get KIND -l LABEL=PLACEMENT [-n NAMESPACE]`: what belongs to the placement.
    pub fn of_placement(&self, concept: Concept) -> CommandLine {
        steps::of_placement(&self.placement_object(), concept)
    }

    /// Adds the look for what deletes a binding and leaves no word of itself there.
    /// Source: clusterresourceplacementeviction/controller.go:executeEviction.
    pub fn look_for_eviction(&self, finding: Finding) -> Finding {
        // The bindings of a placement that was deleted went with it.
        let is_gone = |run| life::is_of_earlier(self.inventory, run);
        if !self.inventory.scope.namespace().is_empty() || self.run().is_some_and(is_gone) {
            return finding;
        }
        let kind = "clusterresourceplacementevictions";
        let evictions = CommandLine::kubectl("get").arg(kind).flag("-o", "yaml");
        let action = "Check whether a ClusterResourcePlacementEviction deleted the binding.";
        finding.look_with(action, evictions)
    }

    /// The command that rolls out the same again, what the run pinned stays pinned: `retry` in place
    /// of a run that is stuck, else a new run.
    pub fn new_run_command(&self) -> Option<CommandLine> {
        let run = self.run()?;
        if self.inventory.is_placement_going() && run.pinned().is_some() {
            // What it pinned goes with the placement.
            let command = steps::run_from(run).flag("--snapshot", "latest");
            return Some(self.in_its_place(command));
        }
        Some(if self.verdict == Verdict::Stuck {
            run.object().fleet("retry")
        } else {
            self.in_its_place(steps::new_run(run))
        })
    }

    /// The command that rolls out the content as it is then, for a run that pinned no snapshot.
    pub fn new_content_command(&self) -> Option<CommandLine> {
        let run = self.run().filter(|run| run.pinned().is_none())?;
        Some(self.in_its_place(steps::run_from(run)))
    }

    /// A new run takes the place of one that is not over: two at once overwrite each other.
    fn in_its_place(&self, command: CommandLine) -> CommandLine {
        if self.rollout.as_ref().is_some_and(Rollout::is_live) {
            command.switch("--replace")
        } else {
            command
        }
    }

    /// The command that makes a new run on the same placement and strategy with a version of its own:
    /// that of an index, else the current content.
    pub fn fresh_run_command(&self, index: Option<&str>) -> CommandLine {
        // Only `--from` names the run that is replaced.
        let live = self.rollout.as_ref().filter(|it| it.is_live());
        if let Some(run) = live.map(|it| it.run) {
            let latest = self.inventory.latest_snapshot().map(|_| "latest");
            if let Some(index) = index.or(latest) {
                return self.in_its_place(steps::run_from(run).flag("--snapshot", index));
            }
            if run.pinned().is_none() {
                return self.in_its_place(steps::run_from(run));
            }
        }
        let spec = self.run().map(|run| &run.spec);
        let strategy = spec.map_or("STRATEGY", |spec| spec.strategy.as_str());
        let command = self.command("run");
        let command = command.flag("--placement", &self.inventory.placement_name);
        let command = command.flag("--strategy", strategy);
        match index {
            Some(index) => command.flag("--snapshot", index),
            None => command,
        }
    }

    /// The command that lists the runs on the placement with their versions.
    pub fn history_command(&self) -> CommandLine {
        self.command("history").arg(&self.inventory.placement_name)
    }

    /// Adds a look at who rolled out what.
    pub fn look_at_history(&self, finding: Finding) -> Finding {
        finding.look_with(WHICH_RUN, self.history_command())
    }

    /// The command that saves what the hub agent has logged about the run, or the placement.
    pub fn agent_log(&self) -> CommandLine {
        let name = match self.run() {
            Some(run) => run.meta.name.clone(),
            None if self.inventory.scope.is_cluster() => format!("crp/{}", self.target().name),
            None => format!("rp/{}", self.target().name),
        };
        let collect = self.command("collect").arg(name);
        collect.switch("--controller-logs")
    }

    /// The command that shows what a new run of this one would do.
    pub fn plan_command(&self) -> Option<CommandLine> {
        let spec = &self.run()?.spec;
        let plan = self.command("plan");
        let plan = plan.flag("--placement", &spec.placement);
        Some(plan.flag("--strategy", &spec.strategy))
    }

    /// Whether the scheduler has still to place the clusters of the latest policy: until then
    /// KubeFleet refuses a new run.
    pub fn awaits_scheduler(&self) -> bool {
        let inventory = self.inventory;
        let Some(policy) = inventory.latest_policy() else {
            return false;
        };
        if !policy.is_scheduled() {
            return true;
        }
        let selected: Vec<_> = inventory.staying().collect();
        let follows = |policy_of: &str| policy_of.is_empty() || policy_of == policy.meta.name;
        inventory.bindings.is_complete()
            && (!selected.iter().all(|it| follows(&it.spec.policy_snapshot))
                || policy.wanted_clusters().is_some_and(|wanted| {
                    usize::try_from(wanted).is_ok_and(|wanted| wanted != selected.len())
                }))
    }

    /// Whether KubeFleet rolls the placement out without runs: of a run, that is another matter.
    pub fn rolls_out_by_itself(&self) -> bool {
        let placement = self.inventory.placement.present();
        self.run().is_none() && placement.is_some_and(|it| !it.is_external())
    }

    /// Whether an External placement is left as its last run brought it, or as runs did that are gone: none is
    /// under way.
    pub fn is_left_alone(&self) -> bool {
        let asked = match self.verdict {
            Verdict::Succeeded => self.run().is_some(),
            Verdict::NotStarted => self.run().is_none(),
            _ => false,
        };
        let placement = self.inventory.placement.present();
        asked
            && self.inventory.runs_under_way().next().is_none()
            && placement.is_none_or(Placement::is_external)
    }

    /// Where the failure stands: `status.conditions[type=…].message`.
    pub fn failure_path(&self) -> String {
        self.failure.as_ref().map_or_else(String::new, |failure| {
            format!("status.conditions[type={}].message", failure.condition.kind)
        })
    }
}

/// What the history of a placement is looked at for.
pub const WHICH_RUN: &str = "Check which run rolled out which version.";

/// What a live run is going to fail for that no rule finds by itself: a cluster in flight that was taken
/// from it, stages that can no longer be computed, a placement or a policy that it cannot use.
fn foreseen(outlook: &RunOutlook, inventory: &Inventory) -> Vec<Cause> {
    let failure = outlook.failure();
    let causes = failure.map_or_else(Vec::new, |it| parse_failure(&it.message));
    let is_unseen = |cause: &Cause| match cause {
        Cause::Preempted { .. }
        | Cause::SortingLabelInvalid { .. }
        | Cause::ClustersInNoStage { .. }
        | Cause::ClusterInSeveralStages { .. } => true,
        Cause::PlacementNotExternal { .. }
        | Cause::PolicySnapshotNotFound
        | Cause::PolicySnapshotMultiple { .. }
        | Cause::PolicySnapshotNoIndex { .. }
        | Cause::PolicySnapshotBadClusterCount { .. } => !inventory.is_placement_going(),
        _ => false,
    };
    causes.into_iter().filter(is_unseen).collect()
}

/// Why a run failed: from its own condition, followed into stages and clusters.
fn failure(run: &UpdateRun) -> Option<FailureView<'_>> {
    let conditions = &run.status.conditions;
    let failed = |kind| {
        conditions
            .condition(kind)
            .filter(|condition| condition.is_false())
    };
    let condition = failed(reasons::SUCCEEDED).or_else(|| failed(reasons::INITIALIZED))?;
    let mut causes = Vec::new();
    collect(run, &parse_failure(&condition.message), 0, &mut causes);
    Some(FailureView {
        initializing: condition.kind == reasons::INITIALIZED,
        condition,
        causes,
    })
}

/// Follows nested failures: a stage's text holds the original one, and a failed cluster's own
/// condition does.
fn collect(run: &UpdateRun, told: &[Cause], depth: usize, causes: &mut Vec<Cause>) {
    // Texts nest once or twice; the bound is for what nobody wrote.
    if depth > 4 {
        return;
    }
    for cause in told {
        match cause {
            Cause::StageFailed { inner } | Cause::DeleteStageFailed { inner } => {
                collect(run, inner, depth + 1, causes);
            }
            Cause::ClusterFailed { cluster, stage } => {
                let text = run
                    .all_stages()
                    .filter(|status| status.name == *stage)
                    .flat_map(|status| &status.clusters)
                    .find(|status| status.name == *cluster)
                    .and_then(|status| status.conditions.condition(reasons::SUCCEEDED))
                    .filter(|condition| condition.is_false());
                match text {
                    Some(condition) => {
                        collect(run, &parse_failure(&condition.message), depth + 1, causes);
                    }
                    None if !causes.contains(cause) => causes.push(cause.clone()),
                    None => {}
                }
            }
            // Its own condition explains it better than the retry's text.
            _ if causes.contains(cause) => {}
            _ => causes.push(cause.clone()),
        }
    }
    if causes.len() > 1 {
        // Beside an abort, `the cluster updating encountered an error` is only company.
        causes.retain(|cause| *cause != Cause::ClusterUpdateError);
    }
}
