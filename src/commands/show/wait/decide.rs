//! When a wait is over: a function of a state and of what is waited for.

use std::fmt;
use std::str::FromStr;

use jiff::SignedDuration;

use crate::diagnose::status::Status;
use crate::exit::Exit;
use crate::kubefleet::names::DELETE_STAGE;
use crate::report::Verdict;
use crate::rollout::{GateFacts, GateState, StageProgress, StageState, TaskTime};
use crate::words::existing_names;

/// The word for the stage that removes the placement, whose own name is a label.
const DELETION: &str = "deletion";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitCondition {
    Succeeded,
    Initialized,
    Started,
    Stopped,
    /// A person has to approve: anything, or something of a stage.
    Approval(Option<(String, Option<TaskTime>)>),
    /// A stage is completed, its tasks too.
    Stage(String),
}

impl FromStr for WaitCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, rest) = match text.split_once('=') {
            Some((word, rest)) => (word, Some(rest)),
            None => (text, None),
        };
        let condition = match (word, rest) {
            ("succeeded", None) => Self::Succeeded,
            ("initialized", None) => Self::Initialized,
            ("started", None) => Self::Started,
            ("stopped", None) => Self::Stopped,
            ("approval", None) => Self::Approval(None),
            ("approval", Some(gate)) if !gate.is_empty() => {
                let (stage, when) = match gate.split_once('/') {
                    None => (gate, None),
                    Some((stage, "before")) => (stage, Some(TaskTime::Before)),
                    Some((stage, "after")) => (stage, Some(TaskTime::After)),
                    Some((_, other)) => {
                        return Err(format!("{other:?} is neither before nor after"));
                    }
                };
                Self::Approval(Some((stage.to_owned(), when)))
            }
            ("stage", Some(stage)) if !stage.is_empty() => Self::Stage(stage.to_owned()),
            ("stage" | "approval", _) => return Err("the stage's name is missing".to_owned()),
            _ => {
                return Err("use succeeded, initialized, started, stopped, \
                    approval[=STAGE[/before|after]], or stage=NAME"
                    .to_owned());
            }
        };
        Ok(condition)
    }
}

impl fmt::Display for WaitCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Succeeded => f.write_str("succeeded"),
            Self::Initialized => f.write_str("initialized"),
            Self::Started => f.write_str("started"),
            Self::Stopped => f.write_str("stopped"),
            Self::Approval(None) => f.write_str("approval"),
            Self::Approval(Some((stage, None))) => write!(f, "approval={stage}"),
            Self::Approval(Some((stage, Some(when)))) => {
                write!(f, "approval={stage}/{}", when.as_str())
            }
            Self::Stage(stage) => write!(f, "stage={stage}"),
        }
    }
}

/// What to do with a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitDecision {
    Wait,
    /// This condition is met, whatever the verdict.
    Met(WaitCondition),
    /// Nothing that is waited for can happen any more, and why.
    Impossible(String),
    /// The run is over, or a person has to act.
    Over,
    /// The run has no such stage, or the stage no such approval: what is wrong, and what there is.
    Unknown(String, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitStanding {
    Waiting,
    /// A condition is met, or was: what comes after that changes nothing.
    Met,
    /// No condition is met, and nothing is waited for any more.
    Ended(Exit),
}

/// The exit code with which a wait for several runs ends, and `None` while it goes on. One that ends
/// without its condition, and not well, ends the wait for all, unless it is to be kept waiting.
pub fn together(runs: &[WaitStanding], keep_waiting: bool) -> Option<Exit> {
    let ended = runs.iter().filter_map(|run| match run {
        WaitStanding::Ended(exit) => Some(*exit),
        WaitStanding::Waiting | WaitStanding::Met => None,
    });
    let worst = Exit::worst(ended);
    let goes_on = runs.contains(&WaitStanding::Waiting) && (keep_waiting || worst == Exit::Done);
    (!goes_on).then_some(worst)
}

/// Decides. A condition that is met counts first; then what ends every wait.
pub fn decide(status: &Status, conditions: &[WaitCondition], keep_waiting: bool) -> WaitDecision {
    for condition in conditions {
        if let Some((problem, hint)) = unknown(status, condition) {
            return WaitDecision::Unknown(problem, hint);
        }
    }
    if let Some(met) = conditions
        .iter()
        .find(|condition| is_met(status, condition))
    {
        return WaitDecision::Met(met.clone());
    }
    // A run that is being deleted is waited for: it ends in not being there.
    let verdict = status.verdict;
    let needs_a_person = verdict.waits_for_person() || verdict == Verdict::Stuck;
    if verdict.is_over() || verdict == Verdict::Unknown || (needs_a_person && !keep_waiting) {
        return WaitDecision::Over;
    }
    if keep_waiting {
        return WaitDecision::Wait;
    }
    let reasons: Vec<_> = conditions
        .iter()
        .map_while(|condition| impossible(status, condition))
        .collect();
    if reasons.len() == conditions.len() && !reasons.is_empty() {
        WaitDecision::Impossible(reasons.join("; "))
    } else {
        WaitDecision::Wait
    }
}

fn is_met(status: &Status, condition: &WaitCondition) -> bool {
    let run = status.run.as_ref();
    match condition {
        WaitCondition::Succeeded => status.verdict == Verdict::Succeeded,
        WaitCondition::Initialized => run.is_some_and(|run| run.initialized),
        WaitCondition::Started => run.is_some_and(|run| run.begun),
        WaitCondition::Stopped => status.verdict == Verdict::Stopped,
        WaitCondition::Approval(which) => {
            // A stopped run takes no approval before it is resumed.
            let mut gates = status.gates.iter().filter(|gate| gate.needs_a_person());
            status.verdict == Verdict::WaitingForApproval
                && match which {
                    // A status may list no task that is open.
                    None => gates.clone().next().is_none() || gates.any(|it| is_there(status, it)),
                    Some((stage, when)) => gates.any(|gate| {
                        gate.stage == *stage
                            && (when.is_none() || *when == gate.when)
                            && is_there(status, gate)
                    }),
                }
                || which
                    .as_ref()
                    .is_some_and(|(stage, when)| is_passed(status, stage, *when))
        }
        WaitCondition::Stage(name) => {
            stage(status, name).is_some_and(|stage| stage.state.is_completed())
        }
    }
}

/// Whether the request of a gate exists, or may just not have been seen yet: another one cannot be approved.
fn is_there(status: &Status, gate: &GateFacts) -> bool {
    let lasting = gate.since.map(|since| status.as_of.duration_since(since));
    gate.state != GateState::Missing || lasting.is_some_and(|lasting| lasting < SEEN_WITHIN)
}

/// How long a request may be known from the run alone.
const SEEN_WITHIN: SignedDuration = SignedDuration::from_secs(60);

/// Whether the approvals that are meant were asked for and given already: whoever waited for the
/// question need not wait any longer.
fn is_passed(status: &Status, name: &str, when: Option<TaskTime>) -> bool {
    let Some(stage) = stage(status, name) else {
        return false;
    };
    let mut approvals = approvals(stage, when).peekable();
    approvals.peek().is_some() && approvals.all(GateFacts::is_passed)
}

fn approvals(stage: &StageProgress, when: Option<TaskTime>) -> impl Iterator<Item = &GateFacts> {
    let gates = stage.gates.iter();
    gates.filter(move |gate| gate.request.is_some() && (when.is_none() || when == gate.when))
}

/// Why a condition cannot be met any more while the run goes on.
fn impossible(status: &Status, condition: &WaitCondition) -> Option<String> {
    let stages = status.run.as_ref().map_or(&[][..], |run| &run.stages);
    match condition {
        WaitCondition::Approval(Some((name, _))) => {
            let stage = stage(status, name)?;
            match stage.state {
                StageState::Skipped => Some(format!(
                    "stage {name} has no clusters, so its gates are skipped"
                )),
                StageState::Done => Some(format!("stage {name} is completed")),
                _ => None,
            }
        }
        WaitCondition::Approval(None) => {
            let ahead = |stage: &StageProgress| {
                stage.state != StageState::Skipped
                    && approvals(stage, None).any(|gate| !gate.is_passed())
            };
            (!stages.is_empty() && !stages.iter().any(ahead)).then(|| "no gate is left".to_owned())
        }
        WaitCondition::Succeeded
        | WaitCondition::Initialized
        | WaitCondition::Started
        | WaitCondition::Stopped
        | WaitCondition::Stage(_) => None,
    }
}

fn stage<'s>(status: &'s Status, name: &str) -> Option<&'s StageProgress> {
    let stages = &status.run.as_ref()?.stages;
    stages.iter().find(|stage| {
        stage.name == name || (name == DELETION && stage.deletes && stage.name == DELETE_STAGE)
    })
}

/// What is wrong with a condition that names a stage: known as soon as the stages are.
fn unknown(status: &Status, condition: &WaitCondition) -> Option<(String, String)> {
    let (name, gate) = match condition {
        WaitCondition::Stage(name) => (name, None),
        WaitCondition::Approval(Some((name, when))) => (name, Some(when)),
        _ => return None,
    };
    let stages = &status.run.as_ref()?.stages;
    if stages.is_empty() || (name == DELETION && gate.is_none()) {
        return None;
    }
    let target = &status.target;
    let Some(stage) = stage(status, name) else {
        let names: Vec<_> = stages
            .iter()
            .map(|stage| if stage.deletes { DELETION } else { &stage.name })
            .collect();
        return Some((
            format!("{target} has no stage {name:?}"),
            existing_names("stages", name, &names),
        ));
    };
    let when = gate?;
    if approvals(stage, *when).next().is_some() {
        return None;
    }
    let side = match when {
        Some(TaskTime::Before) => " before its clusters",
        Some(TaskTime::After) => " after its clusters",
        None => "",
    };
    let with: Vec<_> = stages
        .iter()
        .flat_map(|stage| {
            let approvals = stage.gates.iter().filter(|gate| gate.request.is_some());
            let sides = approvals.filter_map(|gate| gate.when);
            sides.map(|when| format!("{}/{}", stage.name, when.as_str()))
        })
        .collect();
    let hint = if with.is_empty() {
        "none of its stages has a gate".to_owned()
    } else {
        format!("existing gates: {}", with.join(", "))
    };
    Some((
        format!("stage {name} of {target} has no approval gate{side}"),
        hint,
    ))
}

#[cfg(test)]
mod tests;
