//! What every command that writes has in common: it shows, asks, sends once, and says what is true
//! in the end.

mod prompt;

use std::time::Duration;

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::change::guard::Accepted;
use crate::change::record::Told;
use crate::change::{Change, Happened};
use crate::commands::open::following::Following;
use crate::commands::open::global::Global;
use crate::commands::open::reading::{self, Reading};
use crate::commands::operate::refusal;
use crate::commands::output;
use crate::commands::show::awaiting::{self, End};
use crate::commands::show::wait;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::{Access, Expected, HubError, Sending, Sent};
use crate::inventory::source::{Outcome, Query};
use crate::kubefleet::path::path;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{ObjectRef, duration};
use crate::render;
use crate::render::status::verdict;
use crate::ui::Ui;
use crate::words::Hint;
pub(in crate::commands) use prompt::{Shown, agree};

/// Flags of every command that writes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Writing")]
pub struct Writing {
    /// Print what would be sent (client), or let the server check it too (server), without changing
    /// anything
    #[arg(
        long,
        value_enum,
        default_value = "none",
        default_missing_value = "client",
        num_args = 0..=1,
        require_equals = true,
        value_name = "WHERE"
    )]
    pub dry_run: DryRun,
    /// Skip the confirmation; safety checks still apply
    #[arg(short, long)]
    pub yes: bool,
    /// Wait until the run is over or a person must act; --wait=false returns at once [default: wait
    /// until the change takes effect]
    #[arg(
        long,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        value_name = "BOOL"
    )]
    pub wait: Option<bool>,
    /// Time limit of the wait, such as 90s or 30m [default: 2m; with --wait no limit]
    #[arg(long, value_name = "DURATION", value_parser = crate::commands::duration)]
    pub timeout: Option<Duration>,
    /// Name under which the server records the change
    #[arg(
        long,
        value_name = "NAME",
        default_value = "kubectl-fleet-stage",
        hide_short_help = true
    )]
    pub field_manager: String,
    /// Output format of the result; with --dry-run, of what would be sent [default: one line]
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    pub output: Option<Format>,
}

/// Where a write stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum DryRun {
    /// Make the change
    None,
    /// Print the change without sending it
    Client,
    /// Send the change; the server checks it and discards it
    Server,
}

/// How the resulting object is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs)] // clap would print them
pub enum Format {
    Json,
    Yaml,
    Name,
}

/// How long a write waits for its own effect.
const EFFECT: Duration = Duration::from_mins(2);

impl Writing {
    /// Whether nothing is to be changed.
    pub const fn is_dry(&self) -> bool {
        !matches!(self.dry_run, DryRun::None)
    }

    /// Whether the command returns as soon as the write is done.
    pub fn returns_at_once(&self) -> bool {
        self.wait == Some(false)
    }

    /// Whether the run is followed to its end.
    pub fn follows(&self) -> bool {
        self.wait == Some(true)
    }
}

/// Connects to the hub, and runs a command that writes. When it fails, what it had done by then is
/// told.
pub(in crate::commands) fn command(
    name: &'static str,
    global: &Global,
    ui: &mut Ui,
    clock: fn() -> Timestamp,
    act: impl FnOnce(&mut Reading, &mut Ui) -> Result<Exit, Error>,
) -> Result<Exit, Error> {
    let mut reading = reading::open_within(None, name, global, ui, clock)?;
    if let Some(hub) = reading.hub() {
        hub.mind_signals();
    }
    act(&mut reading, ui).map_err(|error| completed(error, &reading))
}

/// An error with all that the command had done.
pub(in crate::commands) fn completed(error: Error, reading: &Reading) -> Error {
    let message = reading.record.complete(&error.message, error.told);
    Error { message, ..error }.telling(Told::All)
}

/// That the user ended a command, and what is true then.
pub(in crate::commands) fn interrupted(what: &str) -> Error {
    Error {
        exit: Exit::Interrupted,
        ..Error::failed(format!("interrupted: {what}"))
    }
    .telling(Told::Last)
}

/// One run and no other of its name.
pub(in crate::commands) struct ThisRun {
    /// Its name.
    pub object: ObjectRef,
    /// Its uid; empty where it is not known.
    pub uid: String,
}

impl ThisRun {
    /// The run that was read.
    pub(in crate::commands) fn of(run: &UpdateRun) -> Self {
        Self {
            object: run.object(),
            uid: run.meta.uid.clone(),
        }
    }
}

/// What became of a change.
pub(in crate::commands) enum Done {
    /// It was shown, or checked, and not done.
    Dry,
    /// It was done.
    Written {
        /// The uid of what was written; empty where the answer was lost.
        uid: String,
    },
}

/// Sends a change once, or shows it.
pub(in crate::commands) fn send(
    change: &Change,
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
) -> Result<Done, Error> {
    let Some(hub) = reading.hub() else {
        return Err(Error::usage("cannot write to files: -f is read-only"));
    };
    let kind = change.object.kind;
    let Some(version) = hub.served().version(kind) else {
        return Err(HubError::NotServed(kind).into());
    };
    if args.dry_run == DryRun::Client {
        show(change, version, args, ui)?;
        return Ok(Done::Dry);
    }
    let sending = Sending {
        manager: &args.field_manager,
        dry_run: args.is_dry(),
    };
    match hub.send(change, sending) {
        Sent::Done(answer) if args.is_dry() => {
            ui.status(&format!("would {} (checked by the server)", change.would));
            if let Some(format) = args.output {
                print(&change.object, &answer, format, ui)?;
            }
            Ok(Done::Dry)
        }
        Sent::Done(answer) => {
            reading.record.did(&change.did);
            ui.status(&change.did);
            let uid = answer["metadata"]["uid"].as_str().unwrap_or_default();
            Ok(Done::Written {
                uid: uid.to_owned(),
            })
        }
        Sent::Unsent(HubError::Interrupted) => Err(unsent(reading)),
        Sent::Unsent(error) => Err(not_done(change, error.into(), reading)),
        Sent::Refused(error) => Err(refusal::explain(change, &error, reading)),
        Sent::Doubtful(error) => doubtful(change, &error, reading, args, ui),
    }
}

/// Has the server check a change, and keep nothing. `taken` says that another object still has its
/// name, which is then all that the server may find.
pub(in crate::commands) fn rehearse(
    change: &Change,
    taken: bool,
    accepted: Accepted,
    reading: &mut Reading,
    args: &Writing,
) -> Result<(), Error> {
    let Some(hub) = reading.hub() else {
        return Err(Error::usage("cannot write to files: -f is read-only"));
    };
    let sending = Sending {
        manager: &args.field_manager,
        dry_run: true,
    };
    match hub.send(change, sending) {
        Sent::Done(_) => Ok(()),
        Sent::Refused(HubError::Refused {
            code: 409,
            ref reason,
            ..
        }) if taken && reason == "AlreadyExists" => Ok(()),
        Sent::Refused(HubError::Refused {
            code: 400,
            ref message,
            ..
        }) if accepted.unseen && message.contains("does not support dry run") => Ok(()),
        Sent::Refused(error) => Err(refusal::explain(change, &error, reading)),
        Sent::Unsent(HubError::Interrupted) => Err(unsent(reading)),
        Sent::Unsent(error) | Sent::Doubtful(error) => Err(not_done(change, error.into(), reading)),
    }
}

/// Refuses where the hub says that a run may not be started. Where it does not say, it is tried.
pub(in crate::commands) fn may_patch(run: &ObjectRef, reading: &mut Reading) -> Result<(), Error> {
    let kind = run.kind;
    let access = Access {
        verb: "patch",
        group: kind.group(),
        resource: kind.plural().to_owned(),
        namespace: run.namespace.clone(),
    };
    let allowed = reading.hub().map(|hub| hub.may(&[access]));
    if !matches!(allowed.as_deref(), Some([Ok(false)])) {
        return Ok(());
    }
    Err(Error {
        exit: Exit::Incomplete,
        ..Error::failed(format!(
            "could not start {run}: forbidden: patch {}; {}",
            kind.plural(),
            reading.record.nothing("changed")
        ))
    }
    .hint(refusal::grant(
        run.can_i("patch"),
        None,
        "operator",
        &run.scope(),
    )))
}

/// Says that something was not done.
fn not_done(change: &Change, error: Error, reading: &Reading) -> Error {
    let message = format!(
        "could not {}: {}; {}",
        change.would,
        error.message,
        reading.record.nothing("changed")
    );
    Error { message, ..error }
}

/// That the user ended a command before a write.
pub(in crate::commands) fn unsent(reading: &Reading) -> Error {
    interrupted(&reading.record.nothing("sent")).telling(Told::Nothing)
}

/// Looks what became of a change whose answer was lost.
fn doubtful(
    change: &Change,
    error: &HubError,
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
) -> Result<Done, Error> {
    if args.is_dry() {
        return Err(not_done(change, error.clone().into(), reading));
    }
    let object = &change.object;
    let query = Query::named(object.kind, &object.namespace, &object.name);
    let interrupted = reading.is_interrupted();
    let unknown = |why: &str| {
        let exit = if interrupted {
            Exit::Interrupted
        } else {
            Exit::Error
        };
        Error {
            exit,
            ..Error::failed(format!(
                "the outcome is unknown (would {}): {error}; {why}",
                change.would
            ))
        }
        .hint(Hint::new("check it before you try again:").command(change.look()))
    };
    let answer = match reading.hub() {
        Some(hub) if *error != HubError::Interrupted => hub.read_back(&query),
        _ => return Err(unknown("stopped waiting for the answer")),
    };
    if answer.outcome != Outcome::Listed {
        let gap = answer.outcome.gap().unwrap_or_default();
        return Err(unknown(&format!("{object} {gap}")));
    }
    match change.happened(answer.objects.first()) {
        Happened::Yes => {
            ui.warning(&format!(
                "the answer was lost ({error}), but {object} shows that it was done"
            ));
            reading.record.did(&change.did);
            ui.status(&change.did);
            Ok(Done::Written { uid: String::new() })
        }
        // The API server's own error ends it; whatever else was lost may still get there.
        Happened::No if matches!(error, HubError::Refused { code: 500, .. }) => {
            Err(Error::failed(format!(
                "could not {}: {error}; {object} shows that nothing was changed",
                change.would
            ))
            .hint("try again; if it keeps failing, check the hub's API server"))
        }
        Happened::No => Err(Error::failed(format!(
            "could not {}: {error}; {object} shows that nothing was changed so far",
            change.would
        ))
        .hint(Hint::new("check it before you try again:").command(change.look()))),
        Happened::Unclear => Err(unknown(&format!("{object} was changed in a different way"))),
    }
}

/// Prints what would be sent.
fn show(change: &Change, version: &str, args: &Writing, ui: &mut Ui) -> Result<(), Error> {
    ui.status(&format!("would {}", change.would));
    if let Some(format) = args.output {
        return print(&change.object, &change.document(version), format, ui);
    }
    let request = change.request(version);
    let body = output::json(&request.body)?;
    let force = if request.force { "?force=true" } else { "" };
    ui.answer(&format!(
        "{} {}{force}\nContent-Type: {}\n\n{body}",
        request.method, request.path, request.content_type
    ));
    Ok(())
}

fn print(object: &ObjectRef, document: &Value, format: Format, ui: &mut Ui) -> Result<(), Error> {
    let text = match format {
        Format::Name => output::names([object]),
        Format::Json => output::json(document)?,
        Format::Yaml => {
            // One document after another, as kubectl has it.
            let mark = if ui.has_answered() { "---\n" } else { "" };
            format!("{mark}{}", output::yaml(document)?)
        }
    };
    ui.answer(&text);
    Ok(())
}

/// Prints the result: the object as it is now, or one line.
pub(in crate::commands) fn result(
    object: &ObjectRef,
    line: &str,
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
) -> Result<(), Error> {
    results(&[(object.clone(), line.to_owned())], reading, args, ui)
}

/// Prints several results: the objects as they are now, of several a list, or a line for each. What
/// does not exist any more is left out.
pub(in crate::commands) fn results(
    results: &[(ObjectRef, String)],
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
) -> Result<(), Error> {
    let Some(format) = args.output else {
        for (_, line) in results {
            ui.answer(&format!("{}\n", render::escape::line(line)));
        }
        return Ok(());
    };
    if format == Format::Name {
        ui.answer(&output::names(results.iter().map(|(object, _)| object)));
        return Ok(());
    }
    let Some(hub) = reading.hub() else {
        return Ok(());
    };
    let mut documents = Vec::new();
    for (object, _) in results {
        let kind = object.kind;
        let version = hub.served().version(kind);
        let version = version.ok_or(HubError::NotServed(kind))?;
        let path = path(kind, version, Some(&object.namespace), Some(&object.name));
        let wanted = Expected::Object {
            group: kind.group(),
            kind: kind.name(),
            namespace: &object.namespace,
            name: &object.name,
        };
        match hub.read_path(&path, &wanted) {
            Ok(document) => documents.push((object, document)),
            Err(HubError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match documents.as_slice() {
        [] => Ok(()),
        [(object, document)] => print(object, document, format, ui),
        [(object, _), ..] => {
            let items: Vec<_> = documents.iter().map(|(_, document)| document).collect();
            let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": items});
            print(object, &list, format, ui)
        }
    }
}

/// Waits until a write has had its effect on a run, as `seen` tells from its state: `true` when it
/// is there, `false` when it will not come any more.
pub(in crate::commands) fn effect(
    run: &ThisRun,
    wanted: &str,
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
    seen: &mut dyn FnMut(&Status) -> Option<bool>,
) -> Result<Effect, Error> {
    let timeout = if args.follows() {
        args.timeout
    } else {
        Some(args.timeout.unwrap_or(EFFECT))
    };
    let mut following = Following::new(reading, run.object.clone())?;
    following.expect(&run.uid);
    Ok(
        match awaiting::until(&mut following, wanted, timeout, ui, seen)? {
            End::Decided(true, status) => Effect::Seen(status),
            End::Decided(false, status) => Effect::Never(status),
            End::TimedOut(_) => Effect::Late,
            End::Gone => Effect::Gone,
            End::Interrupted => Effect::Interrupted,
        },
    )
}

/// What became of a write's effect.
pub(in crate::commands) enum Effect {
    /// It is there.
    Seen(Box<Status>),
    /// It will not come any more.
    Never(Box<Status>),
    /// It was not there in time.
    Late,
    /// The run does not exist any more.
    Gone,
    /// The user did not want to wait for it.
    Interrupted,
}

/// Follows a run to its end, or until a person has to act, and prints where it got.
pub(in crate::commands) fn follow(
    run: &ThisRun,
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
) -> Result<Exit, Error> {
    let mut following = Following::new(reading, run.object.clone())?;
    following.expect(&run.uid);
    let mut decide = |status: &Status| wait::ends(status).then_some(());
    let end = awaiting::until(&mut following, "succeeded", args.timeout, ui, &mut decide)?;
    let gone = following.gone();
    let run = &run.object;
    match end {
        End::Decided((), status) => {
            conclude(run, &status, reading, args, ui)?;
            Ok(Exit::from(status.verdict))
        }
        End::TimedOut(status) => {
            if let Some(status) = status {
                conclude(run, &status, reading, args, ui)?;
            }
            Err(late(&format!("{run} is unfinished"), args))
        }
        End::Gone => Err(gone),
        End::Interrupted => {
            ui.status(&format!(
                "interrupted; {run} continues without this command"
            ));
            Ok(Exit::Interrupted)
        }
    }
}

/// Prints the state that a command ends with, and what comes next.
pub(in crate::commands) fn conclude(
    run: &ObjectRef,
    status: &Status,
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
) -> Result<(), Error> {
    result(run, &verdict(status), reading, args, ui)?;
    if let Some(next) = &status.next {
        ui.hint(Hint::new("next:").command(next.clone()));
    }
    Ok(())
}

/// That something did not happen in time.
pub(in crate::commands) fn late(what: &str, args: &Writing) -> Error {
    let limit = args.timeout.unwrap_or(EFFECT);
    let limit = SignedDuration::try_from(limit).unwrap_or(SignedDuration::MAX);
    Error {
        exit: Exit::Stuck,
        ..Error::failed(format!("{what} after {}", duration::describe(limit)))
    }
    .telling(Told::Last)
}
