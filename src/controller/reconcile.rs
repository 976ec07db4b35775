//! One look of the controller at one run. Mirrors updaterun/controller.go.

use schemars::JsonSchema;
use serde::Serialize;

use super::failure::{LookHalt, RunFailure, UNEXPECTED, refused};
use super::inputs::{InputFault, InputFinding, MissingInput};
use super::pace::Requeue;
use super::state::{State, is_false, is_true, set_condition};
use super::wait::AwaitedEvent;
use crate::kubefleet::run::{RunState, RunStatus, StageStatus, UpdateRun};
use crate::kubefleet::{Concept, Condition, ConditionStatus, reasons};
use crate::rollout::AgentVersion;
use crate::words::worded;

/// The controller during one look: the objects, which it changes, and what it found missing.
/// Source: updaterun/controller.go:Reconciler.
#[derive(Debug, Clone)]
pub struct Reconciler {
    pub state: State,
    /// What keeps the run from going on.
    pub waits: Vec<AwaitedEvent>,
    /// What the checks of the inputs found, in their order, and the run's status as it was then.
    pub findings: Vec<InputFinding>,
    pub recorded: Option<Box<RunStatus>>,
}

/// The bindings of a run by their place in the list: those that it updates, and those that it
/// deletes.
#[derive(Debug, Default)]
pub struct RunBindings {
    pub updated: Vec<usize>,
    pub deleted: Vec<usize>,
}

worded! {
    /// What the controller does about a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    pub enum ControllerStep {
        /// It computes the stages and pins the content.
        Initialize = "initialize",
        /// It carries the run out.
        Execute = "execute",
        /// It lets what has begun end.
        Stop = "stop",
        /// It deletes the run.
        Delete = "delete",
        /// Nothing: the run is over, or was not started.
        None = "none",
    }
}

/// How a look ended.
#[derive(Debug)]
pub struct LookResult {
    pub step: ControllerStep,
    pub requeue: Requeue,
    /// Why it gave the run up.
    pub failure: Option<RunFailure>,
}

impl LookResult {
    const fn done(step: ControllerStep) -> Self {
        Self {
            step,
            requeue: Requeue::Never,
            failure: None,
        }
    }
}

impl Reconciler {
    pub const fn new(state: State) -> Self {
        Self {
            state,
            waits: Vec::new(),
            findings: Vec::new(),
            recorded: None,
        }
    }

    /// Looks once, up to the first write of the run's status. An initialization that succeeds is
    /// written first; the same look goes on then, as another one here.
    /// Source: updaterun/controller.go:Reconcile.
    pub fn reconcile(&mut self) -> Result<LookResult, String> {
        let generation = self.generation();
        let read = self.state.run.status.clone();
        if self.state.version > AgentVersion::V01 {
            update_all_status_conditions_generation(&mut self.state.run);
        }
        if self.state.run.meta.is_deleting() {
            return Ok(self.unwritten(ControllerStep::Delete, read));
        }
        let conditions = &self.state.run.status.conditions;
        let is = |kind| is_true(conditions, kind, generation);
        let is_not = |kind| is_false(conditions, kind, generation);
        if is_not(reasons::INITIALIZED) {
            return Ok(self.unwritten(ControllerStep::None, read));
        }
        if !is(reasons::INITIALIZED) {
            return self.initialize_run(read);
        }
        if is(reasons::SUCCEEDED) || is_not(reasons::SUCCEEDED) {
            return Ok(self.unwritten(ControllerStep::None, read));
        }
        let step = self.step();
        let validated = if self.state.trusts {
            self.trust()
        } else {
            self.validate()
        };
        match validated {
            Ok((None, _)) => {
                self.record_update_run_succeeded();
                Ok(LookResult::done(step))
            }
            Ok(_) if step == ControllerStep::None => Ok(self.unwritten(step, read)),
            Ok((Some(stage), bindings)) => self.proceed(step, stage, &bindings),
            Err(halt) => self.halted_early(step, halt, read),
        }
    }

    /// A look that does not write the status.
    fn unwritten(&mut self, step: ControllerStep, read: RunStatus) -> LookResult {
        self.state.run.status = read;
        LookResult::done(step)
    }

    /// What the run asks for. Source: updaterun/controller.go:Reconcile; 0.1 executes every run.
    fn step(&self) -> ControllerStep {
        if self.state.version == AgentVersion::V01 {
            return ControllerStep::Execute;
        }
        match self.state.run.spec.wants() {
            RunState::Initialize => ControllerStep::None,
            RunState::Run | RunState::Other => ControllerStep::Execute,
            RunState::Stop => ControllerStep::Stop,
        }
    }

    fn initialize_run(&mut self, read: RunStatus) -> Result<LookResult, String> {
        let step = ControllerStep::Initialize;
        match self.initialize() {
            Ok(()) => Ok(LookResult {
                requeue: Requeue::Backoff,
                ..LookResult::done(step)
            }),
            Err(halt) => self.halted_early(step, halt, read),
        }
    }

    /// Executes or stops, and records how that ended.
    fn proceed(
        &mut self,
        step: ControllerStep,
        stage: usize,
        bindings: &RunBindings,
    ) -> Result<LookResult, String> {
        let ended = match step {
            ControllerStep::Execute if !self.is_unsupported() => self.execute(stage, bindings),
            ControllerStep::Stop => self.stop(stage, bindings),
            _ => {
                let state = self.state.run.spec.state.as_deref().unwrap_or_default();
                Err(LookHalt::Aborted(RunFailure {
                    code: "FS123",
                    message: format!("{UNEXPECTED}found unsupported updateRun state: {state}"),
                }))
            }
        };
        match ended {
            Ok((true, _)) => {
                if step == ControllerStep::Stop {
                    self.record_update_run_stopped();
                } else {
                    self.record_update_run_succeeded();
                }
                Ok(LookResult::done(step))
            }
            Ok((false, requeue)) => Ok(LookResult {
                requeue,
                ..LookResult::done(step)
            }),
            // Unlike one of a check, an error here is returned after the status is written.
            Err(halt) => self.halted(step, halt),
        }
    }

    /// An error of a check, which is returned before the status is written.
    fn halted_early(
        &mut self,
        step: ControllerStep,
        halt: LookHalt,
        read: RunStatus,
    ) -> Result<LookResult, String> {
        if matches!(halt, LookHalt::Retried(_)) {
            self.state.run.status = read;
        }
        self.halted(step, halt)
    }

    fn halted(&mut self, step: ControllerStep, halt: LookHalt) -> Result<LookResult, String> {
        match halt {
            LookHalt::Aborted(failure) => {
                match step {
                    ControllerStep::Initialize => {
                        self.record_initialization_failed(&failure.message);
                    }
                    _ => self.record_update_run_failed(&failure.message),
                }
                Ok(LookResult {
                    failure: Some(failure),
                    ..LookResult::done(step)
                })
            }
            LookHalt::Retried(why) => {
                if self.waits.is_empty() {
                    self.waits.push(AwaitedEvent::Retry(why));
                }
                Ok(LookResult {
                    requeue: Requeue::Backoff,
                    ..LookResult::done(step)
                })
            }
            LookHalt::Unknown(why) => Err(why),
        }
    }

    fn is_unsupported(&self) -> bool {
        self.state.version > AgentVersion::V01 && self.state.run.spec.wants() == RunState::Other
    }

    pub const fn generation(&self) -> Option<i64> {
        self.state.run.meta.generation
    }

    pub fn mark_run(&mut self, kind: &str, status: ConditionStatus, reason: &str, message: &str) {
        let (generation, now) = (self.generation(), self.state.now);
        let written = (kind, status, reason, message);
        let conditions = &mut self.state.run.status.conditions;
        set_condition(conditions, written, generation, now);
    }

    /// Source: updaterun/controller.go:recordUpdateRunSucceeded.
    fn record_update_run_succeeded(&mut self) {
        let reason = "UpdateRunSucceeded";
        let done = "All stages are completed";
        let well = "All stages are completed successfully";
        self.mark_run(reasons::PROGRESSING, ConditionStatus::False, reason, done);
        self.mark_run(reasons::SUCCEEDED, ConditionStatus::True, reason, well);
    }

    /// Source: updaterun/controller.go:recordUpdateRunFailed.
    fn record_update_run_failed(&mut self, message: &str) {
        let reason = "UpdateRunFailed";
        let aborted = "The stages are aborted due to a non-recoverable error";
        let no = ConditionStatus::False;
        self.mark_run(reasons::PROGRESSING, no, reason, aborted);
        self.mark_run(reasons::SUCCEEDED, no, reason, message);
    }

    /// Source: updaterun/controller.go:recordUpdateRunStopped.
    fn record_update_run_stopped(&mut self) {
        let message = "The update run has been stopped";
        let (no, reason) = (ConditionStatus::False, reasons::RUN_STOPPED);
        self.mark_run(reasons::PROGRESSING, no, reason, message);
    }

    /// Source: updaterun/initialization.go:recordInitializationFailed.
    fn record_initialization_failed(&mut self, message: &str) {
        let (no, reason) = (ConditionStatus::False, "UpdateRunInitializedFailed");
        self.mark_run(reasons::INITIALIZED, no, reason, message);
    }
}

/// The checks of the inputs.
impl Reconciler {
    pub(super) fn refuse(&mut self, fault: InputFault, text: impl Into<String>) {
        self.find(InputFinding::Fault(fault, text.into()));
    }

    pub(super) fn miss(&mut self, concept: Concept, why: &str, clusters: Vec<String>) {
        self.find(InputFinding::Missing(MissingInput {
            kind: self.state.scope.kind(concept),
            why: why.to_owned(),
            clusters,
        }));
    }

    /// Whether what decides was read.
    pub(super) fn require(&mut self, concept: Concept, known: Result<(), String>) -> bool {
        match known {
            Ok(()) => true,
            Err(why) => {
                self.miss(concept, &why, Vec::new());
                false
            }
        }
    }

    fn find(&mut self, finding: InputFinding) {
        if self.findings.is_empty() {
            self.recorded = Some(Box::new(self.state.run.status.clone()));
        }
        self.findings.push(finding);
    }

    /// What a check gave, unless the look ends there: a check that gives nothing has found why.
    pub(super) fn passed<T>(&mut self, given: Option<T>) -> Result<T, LookHalt> {
        self.halt_at_first()?;
        given.ok_or_else(|| LookHalt::Unknown("nothing was found".to_owned()))
    }

    /// Ends the look at the first of the findings, with what the run has recorded until there.
    pub(super) fn halt_at_first(&mut self) -> Result<(), LookHalt> {
        let Some(first) = self.findings.drain(..).next() else {
            return Ok(());
        };
        if let Some(recorded) = self.recorded.take() {
            self.state.run.status = *recorded;
        }
        Err(match first {
            InputFinding::Missing(missing) => LookHalt::Unknown(missing.to_string()),
            InputFinding::Fault(fault, text) if fault.is_retried() => LookHalt::Retried(text),
            InputFinding::Fault(fault, text) => refused(self.state.version, fault.code(), &text),
        })
    }
}

/// Source: updaterun/controller.go:updateAllStatusConditionsGeneration, since 0.2.
fn update_all_status_conditions_generation(run: &mut UpdateRun) {
    let generation = run.meta.generation;
    let observe = |conditions: &mut Vec<Condition>| {
        for condition in conditions {
            condition.observed_generation = generation;
        }
    };
    let status = &mut run.status;
    observe(&mut status.conditions);
    let deletion = status.deletion_stage.iter_mut().map(Box::as_mut);
    for StageStatus {
        conditions,
        before,
        after,
        clusters,
        ..
    } in status.stages.iter_mut().chain(deletion)
    {
        observe(conditions);
        let tasks = before.iter_mut().chain(after);
        for task in tasks {
            observe(&mut task.conditions);
        }
        for cluster in clusters {
            observe(&mut cluster.conditions);
        }
    }
}
