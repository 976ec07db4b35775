//! `approve`: opens the gates that a run waits at, exactly as they were shown.

mod preview;
mod select;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::Timestamp;

use crate::change::guard::{self, AcceptedRisks};
use crate::change::record::ToldChange;
use crate::change::{Change, approval_message};
use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::selection::ListReach;
use crate::commands::gather::session::Session;
use crate::commands::gather::{eligible, pickers};
use crate::commands::operate::operation::{
    Operation, ThisRun, WaitResult, WriteProposal, WriteResult, interrupted, operate, to_continue,
};
use crate::commands::operate::writing::WriteFlags;
use crate::commands::operate::{changed_objects, safeguards};
use crate::diagnose::{self, status::Status};
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::{Hub, HubError};
use crate::inventory::source::{HubQuery, ObjectSource};
use crate::inventory::{Inventory, Walk};
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::{Concept, ObjectRef};
use crate::report::Verdict;
use crate::rollout::approvals::Approval;
use crate::rollout::{Rollout, TaskTime};
use crate::words::{Hint, by_number, enumerate};
pub(in crate::commands) use preview::{moves, removal_lines, stage_lines};
use select::{ApprovalChoice, ApprovalSelection};

/// Approve a pending gate
///
/// Finds the pending approval request, shows what approving it starts and what still fails in the
/// stage, and asks for confirmation. Then approves exactly the generation that was shown and waits
/// until KubeFleet accepts it. If KubeFleet ignores an approval because its observedGeneration does
/// not match, approving again fixes it. An approval that KubeFleet has already accepted is left as
/// it is. There is no reject: to block a rollout, stop its run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage approve example-run-after-canary\n  \
    kubectl fleet-stage approve example-run --stage canary --reason \"checked the dashboards\"\n  \
    kubectl fleet-stage approve example-run -n my-app-namespace --all --yes\n  \
    kubectl fleet-stage approve example-run-after-canary --dry-run -o yaml\n\n\
    Exit codes:\n  \
    0  approved and accepted, now or before; with --wait, succeeded\n  \
    1  nothing to approve, not confirmed, refused, or changed since it was shown\n  \
    3  the run failed\n  \
    4  with --wait: a person must approve another gate\n  \
    5  with --wait: stuck\n  \
    6  no such request or run\n  \
    7  forbidden, or a check could not read what it needs\n  \
    8  with --wait: the run was stopped\n  \
    9  approved, but not accepted in time; with --wait, --timeout was reached")]
pub struct ApproveArgs {
    /// Approval requests or update runs: NAME, careq/NAME, csur/NAME, or with -n areq/NAME, sur/NAME
    /// [default: at a terminal, chosen from a list]
    #[arg(value_name = "REQUEST|RUN", required = true)]
    #[arg(add = ArgumentKind::Requests, add = ChosenAtTerminal)]
    targets: Vec<String>,
    /// Approve only the gates of this stage
    #[arg(long, value_name = "STAGE", add = ArgumentKind::Stages)]
    stage: Option<String>,
    /// Approve only the gate before or after the stage's clusters
    #[arg(long, value_name = "WHEN", value_parser = task_time())]
    task: Option<TaskTime>,
    /// Approve all pending gates of each run
    #[arg(long)]
    all: bool,
    /// Record why, together with your user name, in the approval
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Approve even if clusters would, or might, get an older snapshot, were taken over by another run, or lose a
    /// namespace
    #[arg(long)]
    allow_older: bool,
    /// Approve even if a check cannot read what it needs
    #[arg(long)]
    allow_unseen: bool,
    #[command(flatten)]
    writing: WriteFlags,
}

/// On which side of the stage's clusters a gate is.
fn task_time() -> impl TypedValueParser<Value = TaskTime> {
    let sides = [TaskTime::Before, TaskTime::After];
    let words = PossibleValuesParser::new(sides.map(TaskTime::as_str));
    words.map(|word| match word.as_str() {
        "before" => TaskTime::Before,
        _ => TaskTime::After,
    })
}

/// How long a reason may be: the condition's text has room for more, tables have not.
const LONGEST_REASON: usize = 1024;

pub fn run(args: &ApproveArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    if args
        .reason
        .as_ref()
        .is_some_and(|text| text.len() > LONGEST_REASON)
    {
        return Err(Error::usage(format!(
            "--reason is longer than {LONGEST_REASON} bytes"
        )));
    }
    operate("approve", &args.writing, session, |op| act(args, op))
}

fn act(args: &ApproveArgs, op: &mut Operation<'_>) -> Result<Exit, Error> {
    if let Some(hub) = op.reading.hub() {
        hub.ask_who();
    }
    let mut chosen = Vec::new();
    if args.targets.is_empty() {
        let targets = if args.stage.is_some() || args.task.is_some() || args.all {
            let waiting = &eligible::WAITING;
            vec![op.reading.run_or_chosen(None, waiting, op.ui)?]
        } else {
            pickers::gates(op.reading, op.ui)?
        };
        chosen.extend(targets.into_iter().map(|target| (target, None)));
    }
    // The runs of the scope are read in any case, and tell which of the words are runs.
    let scope = op.reading.scope();
    let mut runs = Vec::new();
    if args.targets.iter().any(|word| !word.contains('/')) {
        let all = ListReach::one(scope.clone()).every_run(op.reading, |_| true);
        runs.extend(all.unwrap_or_default());
    }
    // All names are known before the first gate is shown.
    for word in &args.targets {
        let concepts = [Concept::ApprovalRequest, Concept::UpdateRun];
        let found = op.reading.target_of(Some(word), &concepts, op.ui);
        // A request that does not exist yet: the run that will ask for it says what it waits for.
        let found = match found {
            Ok(target) => (target, None),
            Err(error) => {
                let (request, run) = select::of_a_run(word, op.reading).ok_or(error)?;
                (request, Some(run))
            }
        };
        let run = runs.iter().find(|run| run.name == *word);
        if let Some(run) = run.filter(|run| **run != found.0) {
            return Err(Error::usage(format!(
                "{word} is an approval request, and an update run has the same name"
            ))
            .hint(
                Hint::new("name its kind:")
                    .command(scope.fleet("approve").arg(found.0.word()))
                    .command(scope.fleet("approve").arg(run.word())),
            ));
        }
        if !chosen.contains(&found) {
            chosen.push(found);
        }
    }
    op.each(
        &chosen,
        |(target, _)| target,
        |(target, known), op| of_target(args, target, known.clone(), op),
    )
}

/// Approves a request, or what a run waits for.
fn of_target(
    args: &ApproveArgs,
    target: &ObjectRef,
    known: Option<ObjectRef>,
    op: &mut Operation<'_>,
) -> Result<Exit, Error> {
    let by_name = target.kind.concept() == Concept::ApprovalRequest;
    if by_name && (args.stage.is_some() || args.task.is_some() || args.all) {
        return Err(Error::usage(format!(
            "--stage, --task, and --all select gates of a run, but {target} is an approval request"
        )));
    }
    let run = match known {
        Some(run) => run,
        None if by_name => run_of(target, op.reading)?,
        None => target.clone(),
    };
    let mut who = None;
    let look = op.look();
    let (inventory, selection) = op.agree(&mut |reading| {
        let mut proposal = preview_approval(args, target, &run, &mut who, reading)?;
        if proposal.question.is_ok() {
            let (inventory, selection) = &mut proposal.what;
            let opened = Rollout::new(inventory).map(|it| preview::opened(&it, &*selection));
            let opened: Vec<_> = opened.into_iter().flatten().map(str::to_owned).collect();
            if !opened.is_empty() {
                let preview = &mut proposal.preview;
                let seen = (&mut *preview, &mut *reading);
                let mut shown = changed_objects::show(&run, Some(&opened), &look, seen);
                if let Some(run) = inventory.run.present()
                    && let Err(error) =
                        shown.go_too_far(run, (args.writing.yes, accepted_risks(args)), reading)
                {
                    proposal.question = Err(error);
                }
                inventory.overrides.items = shown.overrides;
                preview.warnings(diagnose::overrides_changed(inventory));
            }
        }
        Ok(proposal)
    })?;
    let Some(rollout) = Rollout::new(&inventory) else {
        return Err(select::without_run(target, &run, &inventory));
    };
    let who = who.as_ref().and_then(|who| who.as_ref().ok()?.as_deref());
    let message = approval_message(who, args.reason.as_deref());
    let at = op.reading.clock.now();
    let changes = changes(&selection, &message, at, &inventory)?;
    approve(&changes, op)?;
    if op.args.is_dry() {
        for approval in selection.given.iter().chain(&selection.taken) {
            let request = approval.request();
            op.ui.status(&format!("{request} is already approved"));
        }
        return Ok(Exit::Done);
    }
    let exit = accepted(&selection, &rollout, op)?;
    if exit == Exit::Done && op.args.follows() {
        let this = ThisRun::of(rollout.run);
        return op.follow(&this);
    }
    Ok(exit)
}

/// Who approves, by the hub's word, as far as it says so; or why it does not.
type ApproverIdentity = Result<Option<String>, HubError>;

/// What is shown before anything is approved, and what is asked.
fn preview_approval(
    args: &ApproveArgs,
    target: &ObjectRef,
    run: &ObjectRef,
    who: &mut Option<ApproverIdentity>,
    reading: &mut SourceReading,
) -> Result<WriteProposal<(Inventory, ApprovalSelection)>, Error> {
    let by_name = target.kind.concept() == Concept::ApprovalRequest;
    let inventory = look(run, by_name.then_some(target), reading)?;
    let Some(rollout) = Rollout::new(&inventory) else {
        return Err(select::without_run(target, run, &inventory));
    };
    let choice = ApprovalChoice {
        request: by_name.then_some(target.name.as_str()),
        stage: args.stage.as_deref(),
        task: args.task,
        all: args.all,
    };
    let selection = select::select(&rollout, &choice)?;
    let aborts = diagnose::aborts(&inventory);
    let held = diagnose::held_ahead(&inventory);
    let mut preview = preview::preview_of(&rollout, &selection, (aborts.as_deref(), &held));
    let mut question = Ok(None);
    if !selection.write.is_empty() {
        let who = who.get_or_insert_with(|| reading.hub().map_or(Ok(None), Hub::whoami));
        if let Err(why) = who {
            preview.warning(&format!(
                "the hub does not say who you are ({why}); the approval will not name an approver"
            ));
        }
        let accepted = accepted_risks(args);
        let guarded =
            safeguards::seen(guard::APPROVE, accepted, &inventory, reading).and_then(|()| {
                let unattended = (args.writing.yes, accepted);
                preview::guard(&rollout, (&selection, &held), unattended, reading)
            });
        let at_once = aborts.as_deref().filter(|_| !rollout.phase.is_halted());
        question = match at_once {
            Some(why) if args.writing.yes || guarded.is_err() => {
                let why = format!("{why}; an approval makes it do so at once");
                Err(safeguards::would_abort(run, &why, reading))
            }
            _ => guarded.map(|()| Some(ask(&selection, who, aborts.is_some().then_some(run)))),
        };
    }
    drop(rollout);
    Ok(WriteProposal {
        preview,
        question,
        what: (inventory, selection),
    })
}

fn ask(
    selection: &ApprovalSelection,
    who: &ApproverIdentity,
    aborts: Option<&ObjectRef>,
) -> String {
    let what = match selection.write.as_slice() {
        [one] => one.request().to_owned(),
        several => format!("these {}", several.len()),
    };
    let as_whom = who.as_ref().ok().and_then(Option::as_ref);
    let as_whom = as_whom.map_or_else(String::new, |who| format!(" as {who}"));
    let aborts = aborts.map_or_else(String::new, |run| {
        format!(", although KubeFleet aborts {}", run.name)
    });
    format!("Approve {what}{as_whom}{aborts}?")
}

fn run_of(request: &ObjectRef, reading: &mut SourceReading) -> Result<ObjectRef, Error> {
    let query = HubQuery::object(request);
    let answer = reading.ask(&query);
    let Some(found) = answer.all::<ApprovalRequest>().next() else {
        let why = answer.outcome.gap();
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        return Err(
            Error::new(Exit::Incomplete, format!("{request} cannot be read{why}")).hint(
                Hint::new("a request is approved only after it was read; check your permission:")
                    .command(request.can_i("get")),
            ),
        );
    };
    Ok(request.scope().object(Concept::UpdateRun, &found.spec.run))
}

/// Reads what the approval is about: the run, the request, the placement with its policy and bindings,
/// its runs, its content, and the member clusters: newer content may have replaced its own, and labels
/// may have moved a cluster to another stage.
fn look(
    run: &ObjectRef,
    request: Option<&ObjectRef>,
    reading: &mut SourceReading,
) -> Result<Inventory, Error> {
    let mut queries = vec![HubQuery::all(run.kind, run.scope().namespace())];
    queries.extend(request.map(HubQuery::object));
    let answers = reading.answer(&queries);
    let mut walk = Walk::to_content(run.clone(), Timestamp::MAX);
    walk.absorb(queries, answers);
    let mut inventory = reading.driven(walk, run)?;
    reading.read_content_ahead(&mut inventory);
    Ok(inventory)
}

fn changes(
    selection: &ApprovalSelection,
    message: &str,
    at: Timestamp,
    inventory: &Inventory,
) -> Result<Vec<Change>, Error> {
    let requests = selection.write.iter().map(Approval::request);
    requests
        .map(|name| {
            let request = inventory.approval(name);
            let Some(request) = request.present() else {
                return Err(Error::failed(format!("{name} cannot be read")));
            };
            shown_in_full(request)?;
            Ok(Change::approve(request, message.to_owned(), at))
        })
        .collect()
}

const fn accepted_risks(args: &ApproveArgs) -> AcceptedRisks {
    AcceptedRisks {
        older: args.allow_older,
        unseen: args.allow_unseen,
    }
}

fn approve(changes: &[Change], op: &mut Operation<'_>) -> Result<(), Error> {
    for (place, change) in changes.iter().enumerate() {
        let rest = || {
            let rest = changes.iter().skip(place + 1);
            let names: Vec<_> = rest.map(|change| change.object.name.as_str()).collect();
            if names.is_empty() {
                String::new()
            } else {
                format!("; not sent: {}", names.join(", "))
            }
        };
        op.send(change).map_err(|error| {
            let message = format!("{}{}", error.message, rest());
            Error { message, ..error }
        })?;
        if !op.args.is_dry() && op.reading.is_interrupted() {
            let what = format!("{} was approved{}", change.object, rest());
            return Err(interrupted(&what));
        }
    }
    Ok(())
}

/// Refuses to approve what does not carry what guards the write.
fn shown_in_full(request: &ApprovalRequest) -> Result<(), Error> {
    let meta = &request.meta;
    if meta.resource_version.is_empty() || meta.generation.is_none() || meta.uid.is_empty() {
        return Err(Error::failed(format!(
            "{} has no generation, uid, or resourceVersion, so it cannot be approved safely",
            request.object()
        )));
    }
    Ok(())
}

/// Waits until KubeFleet has accepted the approvals, and says what is true then.
fn accepted(
    selection: &ApprovalSelection,
    rollout: &Rollout<'_>,
    op: &mut Operation<'_>,
) -> Result<Exit, Error> {
    let run = rollout.run.object();
    let scope = run.scope();
    let waiting: Vec<&str> = selection
        .write
        .iter()
        .chain(&selection.given)
        .map(Approval::request)
        .collect();
    let taken = selection.taken.iter().map(Approval::request);
    let meant = if waiting.is_empty() {
        taken.collect()
    } else {
        waiting.clone()
    };
    let Some(one) = meant.first() else {
        return Ok(Exit::Done);
    };
    let (are, were) = by_number(meant.len(), ("is", "was"), ("are", "were"));
    let names = enumerate(&meant);
    let object = scope.object(Concept::ApprovalRequest, one);
    if waiting.is_empty() {
        let given = given(&selection.taken);
        let line = format!("{names} {were} already approved and accepted{given}");
        op.result(&object, &line)?;
        return Ok(Exit::Done);
    }
    if rollout.phase.is_halted() {
        let effect = diagnose::aborts(rollout.inventory)
            .unwrap_or_else(|| format!("the approval takes effect when {run} is resumed"));
        let line = format!("{names} {are} approved; {effect}");
        op.result(&object, &line)?;
        op.ui.hint(to_continue(rollout.inventory, &run));
        return Ok(Exit::Done);
    }
    if op.args.returns_at_once() {
        let line = format!("{names} {are} approved");
        op.result(&object, &line)?;
        return Ok(Exit::Done);
    }
    let mut seen = |status: &Status| {
        let taken = waiting.iter().all(|request| is_taken(status, request));
        let is_at_rest = status.verdict == Verdict::Stopped;
        (taken || status.is_over() || is_at_rest).then_some(taken)
    };
    let effect = op.effect(
        &ThisRun::of(rollout.run),
        "the approval to be accepted",
        &mut seen,
    )?;
    match effect {
        WaitResult::Decided(true, status) => {
            let line = format!("{names} {are} approved and accepted");
            // Of a run that is followed, the result is where it gets.
            if !op.args.follows() || op.args.output.is_none() {
                let result = WriteResult::of(&status, status.next.clone(), Exit::Done);
                op.result_with(&object, &line, &result)?;
            }
            if !op.args.follows() {
                if !op.ui.was_told(&status.summary) {
                    op.ui.status(&status.summary);
                }
                if let Some(next) = &status.next {
                    op.ui.hint(Hint::new("next:").command(next.clone()));
                }
            }
            Ok(Exit::Done)
        }
        WaitResult::Decided(false, status) => Err(Error::new(
            Exit::from(status.verdict),
            format!(
                "{names} {are} approved, but {run} has {}: {}",
                if status.is_over() { "ended" } else { "stopped" },
                status.summary
            ),
        )
        .telling(ToldChange::All)),
        WaitResult::TimedOut(_) => Err(op
            .late(&format!(
                "{names} {are} approved, but KubeFleet has not accepted it"
            ))
            .telling(ToldChange::All)
            .hint(Hint::new("find out why:").command(run.fleet("diagnose")))),
        WaitResult::Gone(_) => Err(Error::not_found(format!(
            "{names} {are} approved, but {run} was deleted in the meantime"
        ))
        .telling(ToldChange::All)),
        WaitResult::Interrupted => Err(interrupted(&format!(
            "{names} {are} approved; stopped waiting for KubeFleet to accept it"
        ))
        .telling(ToldChange::All)),
    }
}

/// Who gave the approvals that were taken, and when.
fn given(taken: &[Approval]) -> String {
    let [approval] = taken else {
        return String::new();
    };
    let Some(answer) = &approval.gate.answer else {
        return String::new();
    };
    let by = answer.by.as_ref().map(|by| format!(" by {by}"));
    let at = answer.at.map(|at| format!(" at {at}"));
    format!("{}{}", by.unwrap_or_default(), at.unwrap_or_default())
}

/// Whether the run has passed the gate of a request.
fn is_taken(status: &Status, request: &str) -> bool {
    let stages = status.run.iter().flat_map(|run| &run.stages);
    let mut gates = stages.flat_map(|stage| &stage.gates);
    gates.any(|gate| gate.request.as_deref() == Some(request) && gate.is_passed())
}
