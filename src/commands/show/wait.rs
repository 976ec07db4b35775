//! `wait`: until runs are where a script wants them, or cannot get there.

mod decide;

use std::time::{Duration, Instant};

use clap::Args;
use jiff::SignedDuration;

use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::followed_rollouts::{FollowedRollouts, FollowedStates};
use crate::commands::gather::hubs::{ContextsArgs, FollowCall, FollowedHubs, HubList};
use crate::commands::gather::session::Session;
use crate::commands::gather::{eligible, pickers};
use crate::commands::output;
use crate::commands::show::rollout_wait::{self, AwaitedRun, RunEnd, WaitDecider, WaitEnd};
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::HubError;
use crate::kubefleet::{Scope, duration};
use crate::render::status::verdict;
use crate::report::Verdict;
use crate::words::{CommandLine, Hint, enumerate, said_if};
use decide::{WaitCondition, WaitDecision, WaitStanding, decide, together};

/// Wait for a condition on update runs
///
/// Exits with 0 as soon as one of the conditions is met, regardless of the verdict. Of several runs,
/// each must meet one. Otherwise exits with the verdict's code as soon as a run is over or a person
/// must act, even if other runs could continue. A person must act on an approval, a stuck cluster,
/// a stopped run, or a run that was not started. Progress is printed on standard error.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage wait example-run --for=succeeded --timeout 30m\n  \
    kubectl fleet-stage wait example-run --for=approval=canary/before\n  \
    kubectl fleet-stage wait example-run -n my-app-namespace --for=stage=staging,approval\n  \
    kubectl fleet-stage wait example-run --for=succeeded --keep-waiting --timeout 4h\n  \
    kubectl fleet-stage wait web-7 search-3 --for=succeeded --timeout 1h\n  \
    kubectl fleet-stage wait example-run --for=succeeded --contexts eu,us\n\n\
    Conditions:\n  \
    initialized   the stages are computed\n  \
    started       the run has started its first stage\n  \
    succeeded     the run has succeeded\n  \
    stopped       the run is stopped\n  \
    stage=NAME    the stage and the tasks after it are completed\n  \
    approval      a gate is pending; approval=STAGE, approval=STAGE/before, and \
    approval=STAGE/after name the gate, and are also met when it has passed\n\n\
    Exit codes, the same in every format; of several runs, the most severe:\n  \
    0  a condition is met; or none can be met any more, and the run is progressing or has succeeded\n  \
    3  the run failed or could not be initialized\n  \
    4  a person must approve\n  \
    5  stuck\n  \
    6  no such run or stage, or the run was deleted\n  \
    7  one of several hubs was not reached\n  \
    8  stopped, or not started\n  \
    9  --timeout was reached")]
pub struct WaitArgs {
    /// Update runs: NAME, csur/NAME, or with -n sur/NAME [default: at a terminal, chosen from a
    /// list]
    #[arg(value_name = "RUN", required = true)]
    #[arg(add = ArgumentKind::Runs(&eligible::ACTIVE), add = ChosenAtTerminal)]
    runs: Vec<String>,
    /// Conditions to wait for; the first one met ends the wait for a run
    #[arg(long = "for", value_name = "CONDITION", value_delimiter = ',')]
    #[arg(required = true, add = ArgumentKind::Conditions)]
    conditions: Vec<WaitCondition>,
    /// Time limit for all runs together, such as 90s or 30m; 0 checks once [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = crate::commands::duration)]
    timeout: Option<Duration>,
    /// Time that a cluster may be in flight before it counts as stuck: at least the controller's limit,
    /// such as 20m [default: 5m]
    #[arg(long, value_name = "DURATION", value_parser = crate::commands::duration)]
    patience: Option<Duration>,
    /// Keep waiting when a person must act, until each run has met a condition or is over, or
    /// --timeout is reached
    #[arg(long)]
    keep_waiting: bool,
    /// Output format of the last state
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: WaitFormat,
    #[command(flatten)]
    hubs: ContextsArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum WaitFormat {
    #[default]
    Text,
    Json,
    Yaml,
    Name,
}

type WaitedRun = AwaitedRun<WaitDecision>;

pub fn run(args: &WaitArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let begun = Instant::now();
    if args.hubs.is_several() {
        args.hubs.check_names(&args.runs, session.global)?;
        args.hubs.refuse_if(
            args.output == WaitFormat::Name,
            "-o name",
            "names do not tell the hub; use -o json",
        )?;
    }
    let call = FollowCall {
        of: &args.hubs,
        input: None,
        limit: args.timeout,
        command: "wait",
    };
    let (words, conditions) = (args.runs.clone(), conditions(args, ","));
    let is_document = matches!(args.output, WaitFormat::Json | WaitFormat::Yaml);
    let mut place = None;
    let mut hubs = session.follow(&call, &mut place, move |reading, ui| {
        let runs = if words.is_empty() {
            let said = |said: CommandLine| said.joined("--for", conditions.clone());
            pickers::several(&eligible::ACTIVE, reading, ui, said)?
        } else {
            reading.runs_of(&words, ui)?
        };
        Ok(Box::new(
            FollowedRollouts::new(reading, runs)?.with_ends(is_document),
        ))
    })?;
    let left = args
        .timeout
        .map(|limit| limit.saturating_sub(begun.elapsed()));
    let (wanted, mut judge) = (conditions_in_words(args), WaitJudge(args));
    let (ended, runs) =
        rollout_wait::until_all(&mut hubs, (&wanted, left), session.ui, &mut judge)?;
    let runs = WaitedRuns { args, hubs, runs };
    match ended {
        WaitEnd::Over => runs.end(session),
        WaitEnd::TimedOut => Err(runs.late(session)?),
        WaitEnd::Interrupted => {
            session.ui.status(if runs.is_one() {
                "interrupted; the run continues without this command"
            } else {
                "interrupted; the runs continue without this command"
            });
            Ok(Exit::Interrupted)
        }
    }
}

/// Whether a run has succeeded, or goes no further before a person acts.
pub(in crate::commands) fn ends(status: &Status, patience: Option<Duration>) -> bool {
    !is_borne(status, patience)
        && decide(status, &[WaitCondition::Succeeded], false) != WaitDecision::Wait
}

/// Whether a rollout is stuck, and not for as long as someone is patient: no cluster is in flight for
/// that long.
pub(in crate::commands) fn is_borne(status: &Status, patience: Option<Duration>) -> bool {
    let Some(patience) = patience.filter(|_| status.verdict == Verdict::Stuck) else {
        return false;
    };
    let lasting = status.stuck_for();
    lasting.is_some_and(|lasting| lasting.unsigned_abs() < patience)
}

struct WaitJudge<'a>(&'a WaitArgs);

impl WaitDecider for WaitJudge<'_> {
    type Decision = WaitDecision;

    fn decide(&mut self, status: &Status) -> Option<WaitDecision> {
        let borne = is_borne(status, self.0.patience);
        let decision = decide(status, &self.0.conditions, self.0.keep_waiting || borne);
        (decision != WaitDecision::Wait).then_some(decision)
    }

    fn says(&self, decision: &WaitDecision) -> Option<String> {
        match decision {
            WaitDecision::Met(condition) => Some(format!("condition met: {condition}")),
            _ => None,
        }
    }

    fn is_over(&self, runs: &[WaitedRun], hubs: &FollowedHubs<'_, FollowedStates>) -> bool {
        // Which hub is the first to answer decides nothing.
        if !hubs.is_known() {
            return false;
        }
        let has_unknown = runs.iter().any(|run| unknown(run).is_some());
        let is_nowhere = !hubs.answers().absent().is_empty();
        let standings = standings(runs, hubs);
        has_unknown || is_nowhere || together(&standings, self.0.keep_waiting).is_some()
    }
}

/// Where each run stands, those too that may be on hubs which were not reached.
fn standings(runs: &[WaitedRun], hubs: &FollowedHubs<'_, FollowedStates>) -> Vec<WaitStanding> {
    let not_reached = hubs.answers().not_reached.iter();
    let not_reached = not_reached.map(|_| WaitStanding::Ended(Exit::Incomplete));
    let runs = runs.iter().map(|run| match &run.end {
        None => WaitStanding::Waiting,
        Some(RunEnd::Decided(WaitDecision::Met(_))) => WaitStanding::Met,
        Some(RunEnd::Decided(_)) => {
            let verdict = run.last.as_ref().map(|status| status.verdict);
            WaitStanding::Ended(verdict.map_or(Exit::Done, Exit::from))
        }
        Some(RunEnd::Gone(error) | RunEnd::Denied(error)) => WaitStanding::Ended(error.exit),
    });
    runs.chain(not_reached).collect()
}

/// That a condition names a stage or gate that a run does not have.
fn unknown(run: &WaitedRun) -> Option<Error> {
    let Some(RunEnd::Decided(WaitDecision::Unknown(problem, hint))) = &run.end else {
        return None;
    };
    let error = Error::not_found(problem).hint(hint.as_str());
    Some(match &run.hub {
        Some(hub) => error.on_hub(hub),
        None => error,
    })
}

struct WaitedRuns<'a, 'r> {
    args: &'a WaitArgs,
    hubs: FollowedHubs<'r, FollowedStates>,
    runs: Vec<WaitedRun>,
}

impl WaitedRuns<'_, '_> {
    /// Whether there is no other, so that nothing has to tell it from others.
    fn is_one(&self) -> bool {
        self.runs.len() < 2 && !self.hubs.is_several()
    }

    /// Ends a wait: with what was waited for, or without.
    fn end(mut self, session: &mut Session<'_>) -> Result<Exit, Error> {
        if let Some(error) = self.runs.iter().find_map(unknown) {
            return Err(error);
        }
        if let Some(error) = self.hubs.take_absent() {
            return Err(error);
        }
        if self.is_one() {
            for run in &mut self.runs {
                if let Some(RunEnd::Gone(error) | RunEnd::Denied(error)) = run
                    .end
                    .take_if(|end| matches!(end, RunEnd::Gone(_) | RunEnd::Denied(_)))
                {
                    return Err(error);
                }
            }
        }
        self.answer(session)?;
        for run in &self.runs {
            self.conclude(run, session);
        }
        let waiting = self.runs.iter().filter(|run| run.end.is_none());
        let waiting: Vec<_> = waiting.map(|run| run.label(&self.runs)).collect();
        if !waiting.is_empty() {
            let names = enumerate(waiting);
            session.ui.status(&format!("stopped waiting for {names}"));
        }
        self.hubs.tell(session.ui);
        let standings = standings(&self.runs, &self.hubs);
        Ok(together(&standings, false).unwrap_or(Exit::Done))
    }

    fn conclude(&self, run: &WaitedRun, session: &mut Session<'_>) {
        let (Some(RunEnd::Decided(decision)), Some(status)) = (&run.end, &run.last) else {
            return;
        };
        let lead = said_if(!self.is_one(), format!("{}: ", run.label(&self.runs)));
        let wanted = conditions_in_words(self.args);
        match decision {
            // Of several it was told when it came.
            WaitDecision::Met(_) if !self.is_one() => return,
            WaitDecision::Met(condition) => {
                session.ui.status(&format!("condition met: {condition}"));
                return;
            }
            WaitDecision::Impossible(why) => {
                let text = format!("{lead}{wanted} can no longer be met: {why}");
                session.ui.warning(&text);
            }
            _ => session.ui.warning(&format!("{lead}{wanted} is not met")),
        }
        if let Some(why) = status.why_no_stop() {
            session.ui.hint(Hint::new(why));
        }
        if let Some(next) = &status.next {
            session.ui.hint(Hint::new("next:").command(next.clone()));
        }
    }

    /// That not all runs got there in time.
    fn late(mut self, session: &mut Session<'_>) -> Result<Error, Error> {
        let limit = self.args.timeout.unwrap_or_default();
        self.hubs.give_up(limit, session.ui)?;
        let waiting: Vec<_> = self.runs.iter().filter(|run| run.end.is_none()).collect();
        if self.runs.iter().all(|run| run.last.is_none()) {
            return Err(HubError::late(limit).into());
        }
        self.answer(session)?;
        for run in &self.runs {
            self.conclude(run, session);
        }
        self.hubs.tell(session.ui);
        let Some(first) = waiting.iter().find_map(|run| run.last.as_deref()) else {
            return Err(HubError::late(limit).into());
        };
        let names = waiting.iter().map(|run| match &run.hub {
            Some(hub) => format!("{hub}: {}", run.object),
            None => run.object.to_string(),
        });
        let limit = SignedDuration::try_from(limit).unwrap_or(SignedDuration::MAX);
        let standings = standings(&self.runs, &self.hubs);
        let ended = standings.into_iter().filter_map(|run| match run {
            WaitStanding::Ended(exit) => Some(exit),
            WaitStanding::Waiting | WaitStanding::Met => None,
        });
        let exit = Exit::worst(ended.chain([Exit::TimeLimit]));
        let why = format!(
            "{} did not reach {} within {}",
            enumerate(names),
            conditions_in_words(self.args),
            duration::describe(limit)
        );
        let error = Error::new(exit, why);
        Ok(error.hint(Hint::new("see its status:").command(about(first, "status"))))
    }

    fn answer(&self, session: &mut Session<'_>) -> Result<(), Error> {
        let states = self.runs.iter().filter_map(|run| run.last.as_deref());
        let format = self.args.output;
        let as_yaml = format == WaitFormat::Yaml;
        let is_list = self.args.runs.len() > 1 || self.hubs.is_several();
        let text = match format {
            WaitFormat::Text => {
                for status in states {
                    let hub = status.hub.as_ref().map(|hub| format!("{hub}: "));
                    let hub = hub.unwrap_or_default();
                    session.ui.answer_line(&(hub + &verdict(status)));
                }
                return Ok(());
            }
            WaitFormat::Name => {
                let runs = self.runs.iter().filter(|run| run.last.is_some());
                output::names(runs.map(|run| &run.object))
            }
            WaitFormat::Json | WaitFormat::Yaml if is_list => {
                let not_reached = &self.hubs.answers().not_reached;
                let list = HubList::new("Status", states.cloned().collect(), not_reached);
                output::document(&list, as_yaml)?
            }
            WaitFormat::Json | WaitFormat::Yaml => {
                let texts = states.map(|status| output::document(status, as_yaml));
                texts.collect::<Result<_, _>>()?
            }
        };
        session.ui.answer(&text);
        Ok(())
    }
}

fn about(status: &Status, verb: &'static str) -> CommandLine {
    let target = &status.target;
    let command = Scope::of_namespace(&target.namespace)
        .fleet(verb)
        .arg(&target.name);
    match &status.hub {
        Some(hub) => command.on_hub(hub),
        None => command,
    }
}

/// The conditions, as the command line has them or in words.
fn conditions(args: &WaitArgs, joint: &str) -> String {
    let words: Vec<_> = args.conditions.iter().map(ToString::to_string).collect();
    words.join(joint)
}

fn conditions_in_words(args: &WaitArgs) -> String {
    conditions(args, " or ")
}
