//! What every command that writes has in common: it shows, asks, sends once, waits for the effect,
//! and says what is true in the end.

mod effect;
mod prompt;
mod result;

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::change::guard::AcceptedRisks;
use crate::change::record::ToldChange;
use crate::change::{Change, WriteAction, WriteCertainty};
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::session::Session;
use crate::commands::operate::refusal;
use crate::commands::operate::writing::{DryRun, ResultFormat, WriteFlags};
use crate::commands::output;
pub(in crate::commands) use crate::commands::show::rollout_wait::WaitResult;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::{AccessCheck, ChangeSending, ExpectedAnswer, Hub, HubError, SentChange};
use crate::inventory::source::{HubQuery, Outcome};
use crate::kubefleet::ObjectRef;
use crate::kubefleet::path::path;
use crate::kubefleet::run::UpdateRun;
use crate::render::RenderLook;
use crate::ui::Ui;
use crate::words::{Hint, enumerate};
pub(in crate::commands) use effect::to_continue;
pub(in crate::commands) use prompt::WriteProposal;
pub(in crate::commands) use result::WriteResult;

/// A command that writes: where it reads, how it is to write, and whom it tells.
pub struct Operation<'o> {
    pub reading: &'o mut SourceReading,
    pub args: &'o WriteFlags,
    pub ui: &'o mut Ui,
    pub verbose: bool,
    /// Whether this is a step of something larger: what comes next is told at its end.
    pub is_step: bool,
    /// When what is waited for began: the first write about a run, later by the time at prompts.
    since: Option<Instant>,
}

/// Connects to the hub, and runs a command that writes. When it fails, what it had done by then is
/// told.
pub fn operate(
    name: &'static str,
    args: &WriteFlags,
    session: &mut Session<'_>,
    act: impl FnOnce(&mut Operation<'_>) -> Result<Exit, Error>,
) -> Result<Exit, Error> {
    let mut reading = session.open_within(None, name)?;
    if let Some(hub) = reading.hub() {
        hub.mind_signals();
    }
    let mut op = Operation {
        reading: &mut reading,
        args,
        ui: session.ui,
        verbose: session.global.verbose,
        is_step: false,
        since: None,
    };
    act(&mut op).map_err(|error| completed(error, &reading))
}

/// An error with all that the command had done.
pub fn completed(error: Error, reading: &SourceReading) -> Error {
    let message = reading.record.complete(&error.message, error.told);
    Error { message, ..error }.telling(ToldChange::All)
}

/// That the user ended a command, and what is true then.
pub fn interrupted(what: &str) -> Error {
    Error::new(Exit::Interrupted, format!("interrupted: {what}")).telling(ToldChange::Last)
}

/// One run and no other of its name.
pub struct ThisRun {
    pub object: ObjectRef,
    /// Its uid; empty where it is not known.
    pub uid: String,
}

impl ThisRun {
    pub fn of(run: &UpdateRun) -> Self {
        Self {
            object: run.object(),
            uid: run.meta.uid.clone(),
        }
    }
}

pub enum ChangeOutcome {
    /// It was shown, or checked, and not done.
    Dry,
    Written {
        /// The uid of what was written; empty where the answer was lost.
        uid: String,
    },
}

impl Operation<'_> {
    pub fn look(&self) -> RenderLook {
        RenderLook {
            paint: self.ui.paint_err(),
            ..self.ui.look(false)
        }
    }

    /// This operation, written in another way.
    pub fn with<'s>(&'s mut self, args: &'s WriteFlags) -> Operation<'s> {
        Operation {
            reading: self.reading,
            args,
            ui: self.ui,
            verbose: self.verbose,
            is_step: self.is_step,
            since: self.since,
        }
    }

    /// What is left of `--timeout`: all waits for a run share it.
    fn time_left(&self) -> Option<Duration> {
        let waited = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.args.timeout.map(|limit| limit.saturating_sub(waited))
    }

    /// Does something of which nothing is said but warnings and errors.
    pub fn hushed<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let was_quiet = self.ui.hush();
        let done = act(self);
        self.ui.unhush(was_quiet);
        done
    }

    fn warn(&mut self, warnings: &[String]) {
        for warning in warnings {
            self.ui.warning(&format!("the hub's API server: {warning}"));
        }
    }

    /// Sends a change once, or shows it.
    pub fn send(&mut self, change: &Change) -> Result<ChangeOutcome, Error> {
        let hub = written_hub(self.reading)?;
        let kind = change.object.kind;
        let Some(version) = hub.served().version(kind) else {
            return Err(HubError::NotServed(kind).into());
        };
        if self.args.dry_run == DryRun::Client {
            self.show(change, version)?;
            return Ok(ChangeOutcome::Dry);
        }
        let sending = ChangeSending {
            manager: &self.args.field_manager,
            dry_run: self.args.is_dry(),
        };
        let before = self.reading.clock.now();
        let Some(hub) = self.reading.hub() else {
            return Err(unsent(self.reading));
        };
        self.since.get_or_insert_with(Instant::now);
        match hub.send(change, sending) {
            SentChange::Done(answer, warnings) if self.args.is_dry() => {
                self.warn(&warnings);
                unaltered(change, &answer, self.reading)?;
                self.ui
                    .status(&format!("would {} (checked by the server)", change.would));
                if let Some(format) = self.args.output {
                    print(&change.object, &answer, format, self.ui)?;
                }
                Ok(ChangeOutcome::Dry)
            }
            SentChange::Done(answer, warnings) => {
                self.warn(&warnings);
                let unlike = change.unlike(&answer);
                if !unlike.is_empty() {
                    return self.altered(change, &unlike);
                }
                let uid = answer["metadata"]["uid"].as_str().unwrap_or_default();
                Ok(self.done(change, uid))
            }
            SentChange::Refused(error) if !self.args.is_dry() && may_be_an_echo(&error) => {
                if self.was_done(change, before) {
                    self.ui.warning(&format!(
                        "{} shows that it was done in the meantime: somebody else did the same, or something \
                         in between sent it twice",
                        change.object
                    ));
                    return Ok(self.done(change, ""));
                }
                Err(refusal::explain(change, &error, self.reading))
            }
            SentChange::Unsent(HubError::Interrupted) => Err(unsent(self.reading)),
            SentChange::Unsent(error) => Err(not_done(change, error.into(), self.reading)),
            SentChange::Refused(error) => Err(refusal::explain(change, &error, self.reading)),
            SentChange::Doubtful(error) => self.doubtful(change, &error),
        }
    }

    fn done(&mut self, change: &Change, uid: &str) -> ChangeOutcome {
        self.reading.record.did(&change.did);
        self.ui.status(&change.did);
        ChangeOutcome::Written {
            uid: uid.to_owned(),
        }
    }

    /// Has the server check a change, and keep nothing. `taken` says that another object still has its
    /// name, which is then all that the server may find.
    pub fn rehearse(
        &mut self,
        change: &Change,
        taken: bool,
        accepted: AcceptedRisks,
    ) -> Result<(), Error> {
        let hub = written_hub(self.reading)?;
        let sending = ChangeSending {
            manager: &self.args.field_manager,
            dry_run: true,
        };
        match hub.send(change, sending) {
            SentChange::Done(answer, _) => unaltered(change, &answer, self.reading),
            SentChange::Refused(HubError::Refused {
                code: 409,
                ref reason,
                ..
            }) if taken && reason == "AlreadyExists" => Ok(()),
            SentChange::Refused(HubError::Refused {
                code: 400,
                ref message,
                ..
            }) if accepted.unseen && message.contains("does not support dry run") => Ok(()),
            SentChange::Refused(error) => Err(refusal::explain(change, &error, self.reading)),
            SentChange::Unsent(HubError::Interrupted) => Err(unsent(self.reading)),
            SentChange::Unsent(error) | SentChange::Doubtful(error) => {
                Err(not_done(change, error.into(), self.reading))
            }
        }
    }

    /// Says what became of a change that the hub answered with something else than was sent.
    fn altered(&mut self, change: &Change, unlike: &[String]) -> Result<ChangeOutcome, Error> {
        let object = &change.object;
        let unlike = unlike.join("; ");
        let look = Hint::new("check it, and the hub's mutating webhooks, before you try again:")
            .command(change.look());
        if matches!(change.act, WriteAction::Create { .. }) {
            self.reading.record.did(&change.did);
            return Err(
                Error::failed(format!("{}, but not as it was sent: {unlike}", change.did))
                    .telling(ToldChange::Last)
                    .hint(look),
            );
        }
        let query = HubQuery::object(object);
        let answer = self.reading.hub().map(|hub| hub.read_back(&query));
        let found = answer.filter(|answer| answer.outcome == Outcome::Listed);
        let what = match found.map(|answer| change.happened(answer.objects.first())) {
            Some(WriteCertainty::Yes) => return Ok(self.done(change, "")),
            Some(WriteCertainty::No) => "shows that nothing was changed",
            Some(WriteCertainty::Unclear) => "was changed in a different way",
            None => "cannot be read: the outcome is unknown",
        };
        Err(Error::failed(format!(
            "could not {}: the hub answered that it was done, but {unlike}; {object} {what}",
            change.would
        ))
        .hint(look))
    }

    /// Whether the object shows that this very change was done: that it is as wanted may be the work
    /// of somebody else, so its managed fields must name us, and no earlier moment than this one.
    fn was_done(&mut self, change: &Change, before: Timestamp) -> bool {
        let query = HubQuery::object(&change.object);
        let Some(answer) = self.reading.hub().map(|hub| hub.read_back(&query)) else {
            return false;
        };
        let now = answer.objects.first();
        let is_since =
            |time: Option<Timestamp>| time.is_some_and(|time| before.duration_since(time) <= TICK);
        let manager = self.args.field_manager.as_str();
        let meta = now.map(|object| object.body.meta());
        let is_ours = meta.is_some_and(|meta| {
            let mut writes = meta.managed.iter();
            writes.any(|write| write.manager == manager && is_since(write.time))
        });
        let is_done = match &change.act {
            WriteAction::Delete { uid, .. } => {
                meta.is_some_and(|meta| meta.uid == *uid && is_since(meta.deleted))
            }
            WriteAction::Create { .. } => is_ours && is_since(meta.and_then(|meta| meta.created)),
            WriteAction::SetState { .. } | WriteAction::Approve { .. } => is_ours,
        };
        answer.outcome == Outcome::Listed && change.happened(now) == WriteCertainty::Yes && is_done
    }

    /// Looks what became of a change whose answer was lost.
    fn doubtful(&mut self, change: &Change, error: &HubError) -> Result<ChangeOutcome, Error> {
        if self.args.is_dry() {
            return Err(not_done(change, error.clone().into(), self.reading));
        }
        let object = &change.object;
        let query = HubQuery::object(object);
        let interrupted = self.reading.is_interrupted();
        let unknown = |why: &str| {
            let exit = if interrupted {
                Exit::Interrupted
            } else {
                Exit::Error
            };
            Error::new(
                exit,
                format!(
                    "the outcome is unknown (would {}): {error}; {why}",
                    change.would
                ),
            )
            .hint(Hint::new("check it before you try again:").command(change.look()))
        };
        let answer = match self.reading.hub() {
            Some(hub) if *error != HubError::Interrupted => hub.read_back(&query),
            _ => return Err(unknown("stopped waiting for the answer")),
        };
        if answer.outcome != Outcome::Listed {
            let gap = answer.outcome.gap().unwrap_or_default();
            return Err(unknown(&format!("{object} {gap}")));
        }
        match change.happened(answer.objects.first()) {
            WriteCertainty::Yes => {
                self.ui.warning(&format!(
                    "the answer was lost ({error}), but {object} shows that it was done"
                ));
                Ok(self.done(change, ""))
            }
            // The API server's own error ends it; whatever else was lost may still get there.
            WriteCertainty::No if matches!(error, HubError::Refused { code: 500, .. }) => {
                Err(Error::failed(format!(
                    "could not {}: {error}; {object} shows that nothing was changed",
                    change.would
                ))
                .hint("try again; if it keeps failing, check the hub's API server"))
            }
            WriteCertainty::No => Err(Error::failed(format!(
                "could not {}: {error}; {object} shows that nothing was changed so far",
                change.would
            ))
            .hint(Hint::new("check it before you try again:").command(change.look()))),
            WriteCertainty::Unclear => {
                Err(unknown(&format!("{object} was changed in a different way")))
            }
        }
    }

    fn show(&mut self, change: &Change, version: &str) -> Result<(), Error> {
        self.ui.status(&format!("would {}", change.would));
        if let Some(format) = self.args.output {
            return print(&change.object, &change.document(version), format, self.ui);
        }
        let request = change.request(version);
        let body = output::json(&request.body)?;
        if !self.verbose {
            self.ui.answer(&body);
            return Ok(());
        }
        let force = if request.force { "?force=true" } else { "" };
        self.ui.answer(&format!(
            "{} {}{force}\nContent-Type: {}\n\n{body}",
            request.method, request.path, request.content_type
        ));
        Ok(())
    }

    /// Prints the result: the object as it is now, or one line.
    pub fn result(&mut self, object: &ObjectRef, line: &str) -> Result<(), Error> {
        self.result_with(object, line, &WriteResult::default())
    }

    /// The same, with what is known beside the object.
    pub fn result_with(
        &mut self,
        object: &ObjectRef,
        line: &str,
        result: &WriteResult<'_>,
    ) -> Result<(), Error> {
        let Some(format) = self.args.output else {
            self.ui.answer_line(line);
            return Ok(());
        };
        if format == ResultFormat::Name {
            self.ui.answer(&output::names([object]));
            return Ok(());
        }
        let Some(hub) = self.reading.hub() else {
            return Ok(());
        };
        let kind = object.kind;
        let version = hub.served().version(kind);
        let version = version.ok_or(HubError::NotServed(kind))?;
        let path = path(kind, version, Some(&object.namespace), Some(&object.name));
        let wanted = ExpectedAnswer::Object {
            group: kind.group(),
            kind: kind.name(),
            namespace: &object.namespace,
            name: &object.name,
        };
        match hub.read_path(&path, &wanted) {
            Ok(document) => print(object, &result.beside(document)?, format, self.ui),
            // What does not exist any more is left out.
            Err(HubError::NotFound(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Does the same to several runs, one after the other; what fails for one does not keep it from
    /// the others. The exit code is the worst.
    pub fn each<T>(
        &mut self,
        runs: &[T],
        object: impl Fn(&T) -> &ObjectRef,
        mut act: impl FnMut(&T, &mut Self) -> Result<Exit, Error>,
    ) -> Result<Exit, Error> {
        let mut worst = Exit::Done;
        for (at, run) in runs.iter().enumerate() {
            if at > 0 {
                // Time has passed: nothing that was read before is shown again.
                self.reading.forget();
                self.reading.now = self.reading.clock.now();
            }
            let left = runs.len() - at - 1;
            let before = self.reading.record.steps().len();
            self.since = None;
            let exit = match act(run, self) {
                Ok(exit) => exit,
                Err(error) if error.exit == Exit::Interrupted => {
                    let is_begun = self.reading.record.steps().len() > before;
                    let left = runs
                        .iter()
                        .skip(at + usize::from(is_begun || runs.len() == 1));
                    let left: Vec<_> = left.map(|it| object(it).name.as_str()).collect();
                    let error = completed(error, self.reading);
                    return Err(Error {
                        message: not_tried(&error.message, &left),
                        ..error
                    });
                }
                Err(error) if left == 0 => {
                    if error.exit.gravity() >= worst.gravity() {
                        return Err(error);
                    }
                    self.ui.error(&completed(error, self.reading));
                    worst
                }
                Err(error) => {
                    let exit = error.exit;
                    self.ui.error(&completed(error, self.reading));
                    exit
                }
            };
            if exit.gravity() > worst.gravity() {
                worst = exit;
            }
        }
        Ok(worst)
    }
}

/// An interrupt's words with the runs that were not tried.
fn not_tried(message: &str, left: &[&str]) -> String {
    match left {
        [] => message.to_owned(),
        left => format!("{message}; not tried: {}", enumerate(left)),
    }
}

fn print(
    object: &ObjectRef,
    document: &Value,
    format: ResultFormat,
    ui: &mut Ui,
) -> Result<(), Error> {
    let text = match format {
        ResultFormat::Name => output::names([object]),
        ResultFormat::Json => output::json(document)?,
        ResultFormat::Yaml => {
            // One document after another, as kubectl has it.
            let mark = if ui.has_answered() { "---\n" } else { "" };
            format!("{mark}{}", output::yaml(document)?)
        }
    };
    ui.answer(&text);
    Ok(())
}

/// Refuses where the hub says that a run may not be started. Where it does not say, it is tried.
pub fn may_patch(run: &ObjectRef, reading: &mut SourceReading) -> Result<(), Error> {
    let kind = run.kind;
    let access = AccessCheck {
        verb: "patch",
        group: kind.group(),
        resource: kind.plural().to_owned(),
        namespace: run.namespace.clone(),
    };
    let allowed = reading.hub().map(|hub| hub.may(&[access]));
    if !matches!(allowed.as_deref(), Some([Ok(false)])) {
        return Ok(());
    }
    Err(Error::new(
        Exit::Incomplete,
        format!(
            "could not start {run}: forbidden: patch {}; {}",
            kind.plural(),
            reading.record.nothing("changed")
        ),
    )
    .hint(refusal::grant(
        [run.can_i("patch")],
        None,
        "operator",
        &run.scope(),
    )))
}

/// By how much a hub's clock may be behind what its answers told of it.
const TICK: SignedDuration = SignedDuration::from_secs(2);

fn written_hub(reading: &mut SourceReading) -> Result<&mut Hub, Error> {
    let refused = || Error::usage("cannot write to files: -f is read-only");
    reading.hub().ok_or_else(refused)
}

/// Whether a refusal may be the answer to a second copy of the same write.
const fn may_be_an_echo(error: &HubError) -> bool {
    matches!(
        error,
        HubError::Refused {
            code: 409 | 412 | 422,
            ..
        } | HubError::NotFound(_)
    )
}

/// Fails where the server would make something else of a change. Of what is deleted it may show
/// anything.
fn unaltered(change: &Change, answer: &Value, reading: &SourceReading) -> Result<(), Error> {
    let unlike = change.unlike(answer);
    if unlike.is_empty() || matches!(change.act, WriteAction::Delete { .. }) {
        return Ok(());
    }
    Err(Error::failed(format!(
        "the hub would make something else of it (would {}): {}; {}",
        change.would,
        unlike.join("; "),
        reading.record.nothing("changed")
    ))
    .hint("check the hub's mutating webhooks"))
}

fn not_done(change: &Change, error: Error, reading: &SourceReading) -> Error {
    let message = format!(
        "could not {}: {}; {}",
        change.would,
        error.message,
        reading.record.nothing("changed")
    );
    Error { message, ..error }
}

/// That the user ended a command before a write.
pub fn unsent(reading: &SourceReading) -> Error {
    interrupted(&reading.record.nothing("sent")).telling(ToldChange::Nothing)
}
