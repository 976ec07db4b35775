//! `wait`: until a run is where a script wants it, or cannot get there.

mod decide;

use std::time::{Duration, Instant};

use clap::Args;
use jiff::SignedDuration;

use crate::commands::open::following::Following;
use crate::commands::open::global::Global;
use crate::commands::open::picking;
use crate::commands::open::session::Session;
use crate::commands::show::awaiting::{self, End};
use crate::commands::show::status;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::HubError;
use crate::kubefleet::{Concept, Kind, Scope, duration};
use crate::render::escape;
use crate::render::status::verdict;
use crate::ui::Ui;
use crate::words::{CommandLine, Hint};
use decide::{Awaited, WaitDecision, decide};

/// Wait for a condition on an update run
///
/// Exits with 0 as soon as one of the conditions is met, regardless of the verdict. Otherwise exits
/// with the verdict's code as soon as the run is over or a person must act. A person must act on an
/// approval, a stuck cluster, a stopped run, or a run that was not started. Progress is printed on
/// standard error.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage wait example-run --for=succeeded --timeout 30m\n  \
    kubectl fleet-stage wait example-run --for=approval=canary/before\n  \
    kubectl fleet-stage wait example-run -n my-app-namespace --for=stage=staging,approval\n  \
    kubectl fleet-stage wait example-run --for=succeeded --keep-waiting --timeout 4h\n\n\
    Conditions:\n  \
    initialized   the stages are computed\n  \
    started       the run has started its first stage\n  \
    succeeded     the run has succeeded\n  \
    stopped       the run is stopped\n  \
    stage=NAME    the stage and the tasks after it are completed\n  \
    approval      a gate is pending; approval=STAGE, approval=STAGE/before, and \
    approval=STAGE/after name the gate, and are also met when it has passed\n\n\
    Exit codes, the same in every format:\n  \
    0  a condition is met\n  \
    3  the run failed or could not be initialized\n  \
    4  a person must approve\n  \
    5  stuck, or --timeout was reached\n  \
    6  no such run or stage, or the run was deleted\n  \
    8  stopped, or not started")]
pub struct WaitArgs {
    /// Update run: NAME, csur/NAME, or with -n sur/NAME [default: at a terminal, chosen from a
    /// list]
    #[arg(value_name = "RUN", required = true)]
    run: Option<String>,
    /// Conditions to wait for; the first one met ends the wait
    #[arg(
        long = "for",
        value_name = "CONDITION",
        required = true,
        value_delimiter = ','
    )]
    conditions: Vec<Awaited>,
    /// Time limit, such as 90s or 30m; 0 checks once [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = crate::commands::duration)]
    timeout: Option<Duration>,
    /// Keep waiting when a person must act, until the run is over or --timeout is reached
    #[arg(long)]
    keep_waiting: bool,
    /// Output format of the last state
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: WaitFormat,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum WaitFormat {
    #[default]
    Text,
    Json,
    Yaml,
    Name,
}

pub fn run(args: &WaitArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let begun = Instant::now();
    let mut reading = session.open_within(args.timeout, "wait")?;
    let namespace = session.global.namespace.as_deref();
    let target = match args.run.as_deref() {
        Some(word) => {
            reading.target_of(Some(word), namespace, &[Concept::UpdateRun], session.ui)?
        }
        None => picking::run(
            &picking::ACTIVE,
            namespace,
            &mut reading,
            session.ui,
            |said| {
                let words: Vec<_> = args.conditions.iter().map(ToString::to_string).collect();
                said.joined("--for", words.join(","))
            },
        )?,
    };
    let mut following = Following::new(&mut reading, target)?;
    let mut look = |status: &Status| {
        let decision = decide(status, &args.conditions, args.keep_waiting);
        (decision != WaitDecision::Wait).then_some(decision)
    };
    let left = args
        .timeout
        .map(|limit| limit.saturating_sub(begun.elapsed()));
    match awaiting::until(&mut following, &wanted(args), left, session.ui, &mut look)? {
        End::Decided(decision, status) => end(&decision, &status, args, session.global, session.ui),
        End::TimedOut(None) => Err(HubError::late(args.timeout.unwrap_or_default()).into()),
        End::TimedOut(Some(status)) => {
            answer(&status, args.output, session.global, session.ui)?;
            Err(timed_out(args, &status))
        }
        End::Gone => Err(following.gone()),
        End::Interrupted => {
            session
                .ui
                .status("interrupted; the run continues without this command");
            Ok(Exit::Interrupted)
        }
    }
}

/// Whether a run has succeeded, or goes no further before a person acts.
pub(in crate::commands) fn ends(status: &Status) -> bool {
    decide(status, &[Awaited::Succeeded], false) != WaitDecision::Wait
}

/// Ends a wait: with what was waited for, or without.
fn end(
    decision: &WaitDecision,
    status: &Status,
    args: &WaitArgs,
    global: &Global,
    ui: &mut Ui,
) -> Result<Exit, Error> {
    if let WaitDecision::Unknown(problem, hint) = decision {
        return Err(Error::not_found(problem).hint(hint.as_str()));
    }
    answer(status, args.output, global, ui)?;
    match decision {
        WaitDecision::Met(condition) => {
            ui.status(&format!("condition met: {condition}"));
            return Ok(Exit::Done);
        }
        WaitDecision::Impossible(why) => {
            ui.warning(&format!("{} can no longer be met: {why}", wanted(args)));
        }
        _ => ui.warning(&format!("{} is not met", wanted(args))),
    }
    if let Some(why) = status.why_no_stop() {
        ui.hint(Hint::new(why));
    }
    if let Some(next) = &status.next {
        ui.hint(Hint::new("next:").command(next.clone()));
    }
    Ok(Exit::from(status.verdict))
}

fn about(status: &Status, verb: &'static str) -> CommandLine {
    let target = &status.target;
    Scope::of_namespace(&target.namespace)
        .fleet(verb)
        .arg(&target.name)
}

fn wanted(args: &WaitArgs) -> String {
    let words: Vec<_> = args.conditions.iter().map(ToString::to_string).collect();
    words.join(" or ")
}

fn timed_out(args: &WaitArgs, status: &Status) -> Error {
    let limit = args.timeout.unwrap_or_default();
    let limit = SignedDuration::try_from(limit).unwrap_or(SignedDuration::MAX);
    let error = Error::new(
        Exit::Stuck,
        format!(
            "{} did not reach {} within {}",
            status.target,
            wanted(args),
            duration::describe(limit)
        ),
    );
    error.hint(Hint::new("see its status:").command(about(status, "status")))
}

/// Prints the last state.
fn answer(status: &Status, format: WaitFormat, global: &Global, ui: &mut Ui) -> Result<(), Error> {
    let text = match format {
        WaitFormat::Text => verdict(status) + "\n",
        WaitFormat::Name => {
            let kind = Kind::by_name(&status.target.kind);
            let plural = kind.map_or("", Kind::plural);
            let group = kind.map_or("", Kind::group);
            format!(
                "{}.{group}/{}\n",
                plural.trim_end_matches('s'),
                escape::line(&status.target.name)
            )
        }
        WaitFormat::Json => status::write(
            status,
            status::StatusFormat::Json,
            &status::look(ui, global),
        )?,
        WaitFormat::Yaml => status::write(
            status,
            status::StatusFormat::Yaml,
            &status::look(ui, global),
        )?,
    };
    ui.answer(&text);
    Ok(())
}
