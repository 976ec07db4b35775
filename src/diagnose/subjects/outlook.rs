//! What comes next for a run. The model of the controller is asked once; verdict, findings, commands
//! and sentences take what they say of the future from here.

use jiff::{SignedDuration, Timestamp};

use crate::controller::{self, ExpectedCondition, ExpectedWrite, Prediction, RunFailure};
use crate::kubefleet::ConditionStatus;
use crate::kubefleet::duration::whole_seconds;
use crate::kubefleet::reasons;
use crate::report::Verdict;
use crate::rollout::Rollout;
use crate::words::{distinct, enumerate};

/// What comes next for a run.
#[derive(Debug, Default)]
pub struct RunOutlook {
    /// What the controller does next; `None` where what was read does not decide it.
    next: Option<Prediction>,
    /// The finding that explains why the run fails: at its next look, or at the one after a start.
    fails: Option<String>,
    /// Whether a finding says why.
    is_explained: bool,
    /// The bindings without which it does not fail, and which are being deleted.
    until_gone: Vec<String>,
    /// A write that is overdue.
    pub silence: Option<ControllerSilence>,
    /// One that is late, and may still come: where errors keep the controller from it, it tries ever more
    /// rarely.
    pub delay: Option<ControllerSilence>,
}

/// What the controller should have written, and has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerSilence {
    /// What it should have done: `accept the approval of stage canary`.
    pub deed: String,
    /// Since when it could have.
    pub since: Timestamp,
    /// By when it should have.
    pub by: Timestamp,
    /// When it last wrote on the run.
    pub last: Option<Timestamp>,
}

impl RunOutlook {
    /// What comes next for the run that an inventory is about.
    pub(in crate::diagnose) fn new(rollout: &Rollout<'_>) -> Self {
        let next = controller::predict_next(rollout.inventory).ok();
        let failure = next.as_ref().and_then(|next| next.failure.as_ref());
        let fails = failure
            .filter(|_| rollout.is_live())
            .map(|it| it.code.to_owned());
        let until_gone = fails.as_ref().map_or_else(Vec::new, |_| {
            controller::fails_until_gone(rollout.inventory)
        });
        let overdue = next.as_ref().filter(|next| next.is_overdue());
        let delay = next.as_ref().filter(|next| next.is_delayed());
        let delay = delay.and_then(|next| ControllerSilence::new(next, rollout));
        let silence = match overdue {
            Some(overdue) => ControllerSilence::of(overdue, rollout),
            None => ControllerSilence::unchecked(rollout),
        };
        Self {
            next,
            fails,
            is_explained: false,
            until_gone,
            delay: delay.filter(|_| silence.is_none()),
            silence,
        }
    }

    /// Why the run fails at its next look, or at the one after a start, in the controller's words.
    pub(in crate::diagnose) fn failure(&self) -> Option<&RunFailure> {
        self.next.as_ref()?.failure.as_ref()
    }

    /// The code of the finding that explains why the run fails, whatever a person does.
    pub fn fails(&self) -> Option<&str> {
        self.fails.as_deref()
    }

    /// Names the finding that explains why the run fails: of several, the one that the model means, or
    /// the first.
    pub(in crate::diagnose) fn explain(&mut self, codes: &[&str]) {
        let (Some(first), Some(fails)) = (codes.first(), &mut self.fails) else {
            return;
        };
        self.is_explained = true;
        if !codes.contains(&fails.as_str()) {
            (*first).clone_into(fails);
        }
    }

    /// The same where it is to be said: that a run fails which nobody has to let continue needs a
    /// reason.
    pub fn aborts(&self, verdict: Verdict) -> Option<&str> {
        self.fails()
            .filter(|_| verdict.waits_for_person() || self.is_explained)
    }

    /// When a run fails that cannot pass its next check, as the end of a sentence. The controller checks
    /// a run that waits each minute, and checks it before it checks approvals.
    /// Source: updaterun/controller.go:Reconcile.
    pub(in crate::diagnose) fn fails_when(&self, verdict: Verdict) -> String {
        let when = match verdict {
            Verdict::WaitingForApproval => "at the controller's next check, approved or not",
            Verdict::Stopped => "when it is resumed",
            Verdict::NotStarted => "when it is started",
            _ => "at the controller's next check",
        };
        let check = self.last_check(verdict);
        let check = check.map(|by| format!(", or at a check that may still come, by {by}"));
        format!("{when}{}{}", check.unwrap_or_default(), self.unless())
    }

    /// The same as the words of a summary, which no finding repeats.
    pub(in crate::diagnose) fn aborts_when(&self, verdict: Verdict) -> String {
        let when = match verdict {
            Verdict::WaitingForApproval => "at its next check, with or without an approval",
            Verdict::Stopped => "as soon as it is resumed",
            Verdict::NotStarted => "as soon as it is started",
            _ => "at its next check",
        };
        let check = self.last_check(verdict);
        let check =
            check.map(|by| format!(", or by {by}, at a check that was due before the stop"));
        format!("{when}{}{}", check.unwrap_or_default(), self.unless())
    }

    /// By when a check may come at a run that is stopped.
    fn last_check(&self, verdict: Verdict) -> Option<Timestamp> {
        let next = self.next.as_ref().filter(|_| verdict == Verdict::Stopped);
        next?.by.map(whole_seconds)
    }

    /// What may come before a run fails, as the end of a sentence.
    fn unless(&self) -> String {
        if self.until_gone.is_empty() {
            return String::new();
        }
        let (what, are) = leaving(&self.until_gone);
        format!(", unless {what} {are} gone by then")
    }

    /// The bindings that are being deleted and without which it does not fail.
    pub(in crate::diagnose) fn until_gone(&self) -> &[String] {
        &self.until_gone
    }

    /// As documents have it.
    pub(in crate::diagnose) fn expected(&self) -> Option<ExpectedWrite> {
        let mut expected = self.next.as_ref()?.expected();
        if expected.fails.is_some() {
            expected.fails.clone_from(&self.fails);
        }
        Some(expected)
    }
}

/// Bindings by name, and the verb after them.
pub(in crate::diagnose) fn leaving<N: AsRef<str> + Ord>(names: &[N]) -> (String, &'static str) {
    match names {
        [one] => (format!("binding {}", one.as_ref()), "is"),
        several => (
            format!("bindings {}", enumerate(several.iter().map(AsRef::as_ref))),
            "are",
        ),
    }
}

/// Whether the controller owes a run a write for longer than its pace explains, as far as the run, its
/// approvals and its bindings tell.
pub(in crate::diagnose) fn is_silent(rollout: &Rollout<'_>) -> bool {
    ControllerSilence::unchecked(rollout).is_some()
}

impl ControllerSilence {
    fn unchecked(rollout: &Rollout<'_>) -> Option<Self> {
        if !rollout.is_live() {
            return None;
        }
        let next = controller::predict_unchecked(rollout.inventory, rollout.run).ok()?;
        Self::of(&next, rollout)
    }

    fn of(next: &Prediction, rollout: &Rollout<'_>) -> Option<Self> {
        next.is_overdue().then(|| Self::new(next, rollout))?
    }

    fn new(next: &Prediction, rollout: &Rollout<'_>) -> Option<Self> {
        rollout.is_live().then_some(())?;
        Some(Self {
            deed: if rollout.is_current() {
                deed(next)
            } else {
                let state = rollout.run.spec.state.as_deref().unwrap_or_default();
                format!("process the change of the run to state {state}")
            },
            since: next.since?,
            by: next.by?,
            last: rollout.run.last_write(),
        })
    }

    /// For how long the write has been due.
    pub fn lasting(&self, now: Timestamp) -> SignedDuration {
        now.duration_since(self.since)
    }
}

/// What a write of the controller is about, after `to`.
fn deed(next: &Prediction) -> String {
    if next.failure.is_some() {
        return "abort the run".to_owned();
    }
    let written = &next.conditions;
    let find = |kind: &str, status: ConditionStatus| {
        written
            .iter()
            .find(|it| it.kind == kind && it.status == status.as_str())
    };
    let on_run = |kind: &str, status| find(kind, status).filter(|it| it.on == "run");
    let (yes, no) = (ConditionStatus::True, ConditionStatus::False);
    if let Some(task) = find(reasons::APPROVAL_REQUEST_APPROVED, yes) {
        return format!("accept the approval {}", side(&task.on));
    }
    if let Some(task) = find(reasons::WAIT_TIME_ELAPSED, yes) {
        return format!("end the timed wait {}", side(&task.on));
    }
    if on_run(reasons::INITIALIZED, yes).is_some() {
        return "initialize the run".to_owned();
    }
    if on_run(reasons::SUCCEEDED, yes).is_some() {
        return "complete the run".to_owned();
    }
    if on_run(reasons::PROGRESSING, no).is_some_and(|it| it.reason == reasons::RUN_STOPPED) {
        return "stop the run".to_owned();
    }
    for (kind, what) in [
        (reasons::SUCCEEDED, "note that {} finished"),
        (reasons::STARTED, "start {}"),
    ] {
        let clusters = clusters(written, kind);
        if !clusters.is_empty() {
            return what.replace("{}", &enumerate(clusters));
        }
    }
    if let Some(task) = find(reasons::APPROVAL_REQUEST_CREATED, yes) {
        return format!("request the approval {}", side(&task.on));
    }
    match find(reasons::SUCCEEDED, yes) {
        Some(stage) => format!("complete {}", stage_of(&stage.on)),
        None => "update the status of the run".to_owned(),
    }
}

/// The clusters that get a condition of a type, by name.
fn clusters<'w>(written: &'w [ExpectedCondition], kind: &str) -> Vec<&'w str> {
    let of_kind = written.iter().filter(|it| it.kind == kind);
    let names = of_kind.filter_map(|it| Some(it.on.split_once("/cluster/")?.1));
    distinct(names)
}

/// `before stage canary`, of `stage/canary/before`.
fn side(on: &str) -> String {
    let when = if on.ends_with("/before") {
        "before"
    } else {
        "after"
    };
    format!("{when} {}", stage_of(on))
}

/// `stage canary`, of what stands in it.
fn stage_of(on: &str) -> String {
    match on.split('/').nth(1) {
        Some(name) if on.starts_with("stage/") => format!("stage {name}"),
        _ => "the deletion stage".to_owned(),
    }
}
