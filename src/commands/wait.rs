//! `wait`: until a run is where a script wants it, or cannot get there.

mod decide;

use std::time::{Duration, Instant};

use clap::Args;
use jiff::{SignedDuration, Timestamp};

use super::following::{Following, Look};
use super::global::Global;
use super::reading::{self, Input};
use super::status;
use crate::diagnose::report::Verdict;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::News;
use crate::kubefleet::{Concept, Kind, Scope, duration};
use crate::render::escape;
use crate::render::status::{beginning, changes, line, verdict};
use crate::ui::{Progress, Ui};
use decide::{Condition, Decision, decide};

/// Wait until an update run has got somewhere, or cannot get there
///
/// Ends with 0 as soon as one of the conditions is met, whatever the verdict. Otherwise it ends as
/// soon as a person has to act (an approval, a stuck cluster, a stopped run, one that was not
/// started) or the run is over, with that verdict's exit code. What happens meanwhile is told on
/// standard error.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage wait example-run --for=succeeded --timeout 30m\n  \
    kubectl fleet-stage wait example-run --for=approval=canary/before\n  \
    kubectl fleet-stage wait example-run -n my-app-namespace --for=stage=staging,approval\n  \
    kubectl fleet-stage wait example-run --for=succeeded --keep-waiting --timeout 4h\n\n\
    Conditions:\n  \
    initialized   the stages are computed\n  \
    started       the run has begun with its first stage\n  \
    succeeded     the run has succeeded\n  \
    stopped       the run is stopped\n  \
    stage=NAME    the stage is completed, with the tasks after it\n  \
    approval      a person has to approve something now; approval=STAGE,\n                \
    approval=STAGE/before and approval=STAGE/after name the gate, and are\n                \
    also met when it was passed already\n\n\
    Exit codes, the same in every format:\n  \
    0  a condition is met\n  \
    3  the run failed or could not be initialized\n  \
    4  a person must approve\n  \
    5  stuck, or --timeout was reached\n  \
    6  no such run or stage, or the run was deleted\n  \
    8  stopped, or not started")]
pub struct WaitArgs {
    /// The update run: a name, or TYPE/NAME such as csur/x, with -n sur/x
    #[arg(value_name = "RUN")]
    run: String,
    /// What to wait for: the first of these that is met
    #[arg(
        long = "for",
        value_name = "CONDITION",
        required = true,
        value_delimiter = ','
    )]
    conditions: Vec<Condition>,
    /// How long to wait at most, such as 90s or 30m; 0 only looks [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    timeout: Option<Duration>,
    /// Go on waiting while a person has to act: end only when the run is over, or after --timeout
    #[arg(long)]
    keep_waiting: bool,
    /// How the last state is printed
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Yaml,
    Name,
}

/// How often timers are looked at.
const TICK: Duration = Duration::from_secs(1);
/// How often something is said off a terminal.
const MINUTE: Duration = Duration::from_mins(1);

/// Waits.
pub fn run(
    args: &WaitArgs,
    global: &Global,
    ui: &mut Ui,
    clock: fn() -> Timestamp,
) -> Result<Exit, Error> {
    let begun = Instant::now();
    let mut reading = reading::open(&Input::default(), "wait", global, ui, clock)?;
    let namespace = global.namespace.as_deref();
    let target = reading.target_of(Some(&args.run), namespace, &[Concept::UpdateRun], ui)?;
    let mut following = Following::new(&mut reading, target, clock)?;
    let mut talk = Talk::new(args, ui);
    let mut last: Option<Status> = None;
    loop {
        let status = match following.look() {
            Ok(Look::State(status)) => *status,
            Ok(Look::Gone) => {
                talk.end();
                return Err(following.gone());
            }
            Ok(Look::Interrupted) => return Ok(interrupted(&mut talk, ui)),
            Err(error) => {
                talk.end();
                return Err(error);
            }
        };
        let away = following.away().map(ToString::to_string);
        talk.tell(last.as_ref(), &status, away.as_deref(), ui);
        let decision = decide(&status, &args.conditions, args.keep_waiting);
        if decision != Decision::Wait {
            talk.end();
            return end(&decision, &status, args, global, ui);
        }
        let left = args
            .timeout
            .map(|limit| limit.saturating_sub(begun.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            talk.end();
            answer(&status, args.output, global, ui)?;
            return Err(timed_out(args, &status));
        }
        last = Some(status);
        if following.wait(left.map_or(TICK, |left| left.min(TICK))) == News::Interrupted {
            return Ok(interrupted(&mut talk, ui));
        }
    }
}

fn interrupted(talk: &mut Talk, ui: &mut Ui) -> Exit {
    talk.end();
    ui.status("interrupted; the run goes on without this command");
    Exit::Interrupted
}

/// Ends a wait: with what was waited for, or without.
fn end(
    decision: &Decision,
    status: &Status,
    args: &WaitArgs,
    global: &Global,
    ui: &mut Ui,
) -> Result<Exit, Error> {
    if let Decision::Unknown(problem, hint) = decision {
        return Err(Error::not_found(problem).hint(hint));
    }
    answer(status, args.output, global, ui)?;
    match decision {
        Decision::Met(condition) => {
            ui.status(&format!("condition met: {condition}"));
            return Ok(Exit::Done);
        }
        Decision::Impossible(why) => {
            ui.warning(&format!("{} cannot be met any more: {why}", wanted(args)));
        }
        _ => ui.warning(&format!("{} is not met", wanted(args))),
    }
    let stopping = status.run.as_ref().and_then(|run| run.state.as_deref()) == Some("Stop");
    if status.verdict == Verdict::Stuck && stopping {
        let command = format!(
            "kubectl fleet-stage delete {}{}",
            status.target.name,
            flag(status)
        );
        let command = ui.invocation().command(&command);
        ui.hint(&format!(
            "a stuck cluster keeps the run from stopping: mend it, or give the run up:\n  {command}"
        ));
    }
    if let Some(next) = &status.next {
        let command = ui.invocation().command(next);
        ui.hint(&format!("next:\n  {command}"));
    }
    Ok(Exit::from(status.verdict))
}

fn flag(status: &Status) -> String {
    Scope::of_namespace(&status.target.namespace).flag()
}

fn wanted(args: &WaitArgs) -> String {
    let words: Vec<_> = args.conditions.iter().map(ToString::to_string).collect();
    words.join(" or ")
}

fn timed_out(args: &WaitArgs, status: &Status) -> Error {
    let limit = args.timeout.unwrap_or_default();
    let limit = SignedDuration::try_from(limit).unwrap_or(SignedDuration::MAX);
    let error = Error {
        exit: Exit::Stuck,
        ..Error::failed(format!(
            "{} did not get to {} within {}",
            status.target,
            wanted(args),
            duration::describe(limit)
        ))
    };
    error.hint(format!(
        "see where it stands:\n  kubectl fleet-stage status {}{}",
        status.target.name,
        flag(status)
    ))
}

/// Prints the last state.
fn answer(status: &Status, format: Format, global: &Global, ui: &mut Ui) -> Result<(), Error> {
    let text = match format {
        Format::Text => verdict(status) + "\n",
        Format::Name => {
            let kind = Kind::by_name(&status.target.kind);
            let plural = kind.map_or("", Kind::plural);
            let group = kind.map_or("", Kind::group);
            format!(
                "{}.{group}/{}\n",
                plural.trim_end_matches('s'),
                escape::line(&status.target.name)
            )
        }
        Format::Json => status::write(status, status::Format::Json, &status::look(ui, global))?,
        Format::Yaml => status::write(status, status::Format::Yaml, &status::look(ui, global))?,
    };
    ui.answer(&text);
    Ok(())
}

/// What is said while it is waited.
struct Talk {
    wanted: String,
    progress: Progress,
    /// When something was said last.
    said: Instant,
    away: bool,
}

impl Talk {
    fn new(args: &WaitArgs, ui: &Ui) -> Self {
        Self {
            wanted: wanted(args),
            progress: ui.progress(),
            said: Instant::now(),
            away: false,
        }
    }

    fn tell(&mut self, last: Option<&Status>, status: &Status, away: Option<&str>, ui: &mut Ui) {
        let mut lines = match last {
            Some(last) => changes(last, status),
            None => beginning(status),
        };
        let terminal = self.progress.is_visible();
        let short = format!("waiting for {}: {}", self.wanted, line(status));
        if lines.is_empty() && !terminal && self.said.elapsed() >= MINUTE {
            lines.push(short.clone());
        }
        if let Some(away) = away.filter(|_| !self.away) {
            lines.push(format!("{away}; trying again"));
        } else if self.away && away.is_none() {
            lines.push("the hub answers again".to_owned());
        }
        self.away = away.is_some();
        if !lines.is_empty() {
            self.progress.clear();
            self.said = Instant::now();
        }
        for line in lines {
            ui.status(&format!("{}  {line}", status.as_of));
        }
        self.progress.show(&short);
    }

    fn end(&mut self) {
        self.progress.clear();
    }
}
