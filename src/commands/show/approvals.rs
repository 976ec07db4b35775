//! `approvals`: the gates that a person opens.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::open::hubs::{
    AllRows, FollowCall, FollowedReading, HubGap, HubRows, HubsArgs, NotReached,
};
use crate::commands::open::reading::{InputArgs, Reading};
use crate::commands::open::runs::{self, ReadDepth, Rows};
use crate::commands::open::selection::{Reach, RunSelection};
use crate::commands::open::session::Session;
use crate::commands::output::{Format, Output, age, document, names};
use crate::commands::show::watching::{self, ItemNow, ListNow, WatchArgs};
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::object::{Body, OWN_API_VERSION};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, ObjectRef, Scope};
use crate::render::style::attention;
use crate::render::table::{Cell, Column, Table};
use crate::rollout::approvals::{
    Approval, ApprovalState, ApprovalStep, answered, of_request, of_run,
};
use crate::rollout::{Phase, Rollout, TaskTime};
use crate::ui::Ui;
use crate::words::{CommandLine, Hint, enumerate};

/// List approval gates and who approved them
///
/// Prints one row per approval gate: how long it has been waiting, its state, and the approver. Hints
/// show the commands to approve, -o wide has them in a column. Approvals that KubeFleet ignores are
/// marked. There is no reject: to block
/// a rollout, stop its run.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage approvals --pending\n  \
    kubectl fleet-stage approvals example-run -o wide\n  \
    kubectl fleet-stage approvals -l team=payments --pending --watch\n  \
    kubectl fleet-stage approvals --pending --contexts eu,us\n  \
    kubectl fleet-stage approvals -A --pending -o name\n\n\
    States:\n  \
    pending      requested and not answered\n  \
    ignored      approved for an outdated generation of the request: approve again\n  \
    withheld     Approved is not True, which KubeFleet treats as no answer\n  \
    approved     KubeFleet accepts it at its next reconcile, or when a stopped run is resumed\n  \
    accepted     accepted by KubeFleet: cannot be reverted\n  \
    missing      the run waits for a request that was deleted\n  \
    foreign      the request under that name belongs to another run or stage\n  \
    not reached  the run has not requested it yet\n  \
    run over     the run ended before it was approved\n  \
    run gone     the run no longer exists")]
pub struct ApprovalsArgs {
    #[command(flatten)]
    selection: RunSelection,
    /// List only gates that need an answer: pending, ignored, or withheld
    #[arg(long)]
    pending: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    hubs: HubsArgs,
}

/// Approvals.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalList {
    /// Always `kubectl-fleet-stage/v1`.
    api_version: String,
    /// Always `ApprovalList`.
    kind: String,
    /// The approvals, by scope, namespace and run, in the order of the run's stages; of several hubs,
    /// first by hub in the order in which the hubs were named.
    items: Vec<ApprovalItem>,
    /// Kinds that could not be listed in full, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<HubGap>,
    /// The hubs that did not answer, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_reached: Vec<NotReached>,
}

/// One approval.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ApprovalItem {
    /// The context of the hub; absent if only one hub was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    hub: Option<String>,
    /// `ClusterApprovalRequest` or `ApprovalRequest`.
    kind: String,
    /// Its namespace; empty for cluster-scoped requests.
    namespace: String,
    /// The request's name; a run knows it before the request exists.
    name: String,
    /// The run.
    run: String,
    /// The placement; absent if the run is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    placement: Option<String>,
    /// The stage.
    stage: String,
    /// `before` or `after` the stage's clusters; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<TaskTime>,
    /// Its state.
    state: ApprovalState,
    /// Since when it has been pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    asked: Option<Timestamp>,
    /// When it was answered, according to the answer's own time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    answered: Option<Timestamp>,
    /// Who answered, if the answer's text says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// The program that wrote the answer, if that is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    with: Option<String>,
    /// The answer's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What a person should know about it, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// What to run, where there is something to do.
    #[serde(flatten)]
    command: Option<CommandLine>,
}

/// Lists approvals.
pub fn run(args: &ApprovalsArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let (global, hubs) = (session.global, &args.hubs);
    let is_followed = args.watch.is_on(&args.output)?;
    let contexts = &hubs.contexts;
    contexts.check_list(&args.output, args.selection.names(), global)?;
    if is_followed {
        hubs.check_watch()?;
        let call = FollowCall {
            of: contexts,
            input: Some(&args.input),
            limit: None,
            command: "approvals",
        };
        let (own, global) = (args.clone(), global.clone());
        let mut place = None;
        let followed = session.follow(&call, &mut place, move |reading, ui| {
            let (args, reach) = (own.clone(), own.selection.reach(&global, reading, ui)?);
            let look = move |reading: &mut Reading| read(&args, reading, &reach);
            Ok(Box::new(FollowedReading::new(reading, look)?))
        })?;
        let (is_several, ui) = (followed.is_several(), &mut *session.ui);
        return watching::follow(&args.watch, &args.output, followed, ui, |rows, ui| {
            let (found, table, _) = lay_out(args, rows, is_several, ui);
            let items = found.iter().map(|one| {
                // A request may be one gate's and another's answer at once.
                let (request, approval) = (object(one), &one.approval);
                let key = format!("{request} of {}, stage {}", approval.run, approval.stage);
                ItemNow::new(one.hub.clone(), key, existing(one), item(one))
            });
            Ok(ListNow {
                items: items.collect::<Result<_, _>>()?,
                table,
            })
        });
    }
    let answers = session.ask(hubs, Some(&args.input), "approvals", |reading, ui| {
        let reach = args.selection.reach(global, reading, ui)?;
        read(args, reading, &reach)
    })?;
    let (answers, listed) = answers.listed(session.ui);
    let (found, table, gaps) = lay_out(args, listed, answers.is_several(), session.ui);
    let text = match args.output.format() {
        Format::Table | Format::Wide => args.output.draw(&table, session.ui),
        Format::Name => names(&found.iter().filter_map(existing).collect::<Vec<_>>()),
        format => {
            let list = ApprovalList {
                api_version: OWN_API_VERSION.to_owned(),
                kind: "ApprovalList".to_owned(),
                items: found.iter().map(item).collect(),
                not_checked: gaps,
                not_reached: answers.not_reached.clone(),
            };
            document(&list, format)?
        }
    };
    session.ui.answer(&text);
    if matches!(args.output.format(), Format::Table | Format::Wide) {
        hints(&found, session.ui);
    }
    answers.tell(session.ui);
    Ok(answers.exit(Exit::Done))
}

/// The approvals of all hubs, as a table too, and what could not be listed.
fn lay_out(
    args: &ApprovalsArgs,
    listed: AllRows<AskedGate>,
    is_several: bool,
    ui: &Ui,
) -> (Gates, Table, Vec<HubGap>) {
    let view = GateColumns {
        hubs: is_several,
        namespaces: listed.is_everywhere,
        wide: args.output.is_wide(),
        now: listed.now,
    };
    let rows = listed.rows.into_iter();
    let found: Gates = rows.map(|(hub, gate)| AskedGate { hub, ..gate }).collect();
    let table = table(&found, &view, ui);
    (found, table, listed.gaps)
}

/// An approval that is asked for.
#[derive(Clone)]
struct AskedGate {
    /// The context of the hub, where several were asked.
    hub: Option<String>,
    /// The scope of its run.
    scope: Scope,
    approval: Approval,
}

type Gates = Vec<AskedGate>;

/// The approvals that are wanted.
fn read(
    args: &ApprovalsArgs,
    reading: &mut Reading,
    reach: &Reach,
) -> Result<HubRows<AskedGate>, Error> {
    let is_wanted = |run: &UpdateRun| args.selection.has(run);
    let runs = runs::rows(reading, reach, ReadDepth::Approvals, is_wanted, of_one)?;
    let gaps = runs.gaps.clone();
    let mut found = gather(runs, |run| {
        args.selection.takes_all() || reach.named().contains(run)
    });
    found.retain(|gate| !args.pending || gate.approval.state.needs_a_person());
    Ok(HubRows {
        none: found.is_empty().then(|| none(args, reach)),
        rows: found,
        now: reading.now,
        gaps,
        is_everywhere: reach.is_everywhere(),
    })
}

/// That there is no gate, and where there may be some.
fn none(args: &ApprovalsArgs, reach: &Reach) -> String {
    let which = if args.pending {
        "no pending gates"
    } else {
        "no gates"
    };
    let scope = match reach.named() {
        [] if args.selection.narrows() => " of the selected runs".to_owned(),
        [] if reach.is_everywhere() => String::new(),
        [] => " in this scope; use -A to list all scopes".to_owned(),
        runs => {
            let names = runs.iter().map(ToString::to_string);
            format!(" of {}", enumerate(names))
        }
    };
    format!("{which}{scope}")
}

/// The request, where it exists.
fn existing(gate: &AskedGate) -> Option<ObjectRef> {
    let exists = !matches!(
        gate.approval.state,
        ApprovalState::NotReached | ApprovalState::Missing
    );
    exists.then(|| object(gate))
}

/// The gates of a run, and its requests that belong to none of them.
fn of_one(inventory: &Inventory, rollout: &Rollout<'_>) -> Vec<Approval> {
    let mut found = of_run(rollout);
    // Others were never asked for, and never will be.
    found.retain(|approval| {
        !matches!(approval.state, ApprovalState::RunOver)
            || !inventory.approval(&approval.request).is_absent()
    });
    let seen: BTreeSet<_> = found
        .iter()
        .filter(|approval| approval.state != ApprovalState::Foreign)
        .map(|approval| approval.request.clone())
        .collect();
    let own = inventory.approvals.iter().filter(|request| {
        request.spec.run == rollout.run.meta.name && !seen.contains(&request.meta.name)
    });
    found.extend(own.map(|request| of_request(request, Some(rollout))));
    found
}

/// The gates of the runs, and the requests that belong to no run.
fn gather(runs: Rows<Vec<Approval>>, takes: impl Fn(&ObjectRef) -> bool) -> Gates {
    let runs_are_known = runs.gaps.iter().all(|gap| {
        !matches!(
            gap.what.as_str(),
            "ClusterStagedUpdateRun" | "StagedUpdateRun"
        )
    });
    let mut found: BTreeMap<ObjectRef, Vec<Approval>> = runs.runs.into_iter().collect();
    let mut strays: BTreeMap<ObjectRef, Vec<Approval>> = BTreeMap::new();
    for request in &runs.approvals {
        let Body::Approval(request) = &request.body else {
            continue;
        };
        let scope = request.object().scope();
        let run = scope.object(Concept::UpdateRun, &request.spec.run);
        if found.contains_key(&run) || !takes(&run) {
            continue;
        }
        let mut approval = of_request(request, None);
        if !runs_are_known {
            // For all that is known, the run exists.
            approval.state = answered(request);
        }
        strays.entry(run).or_default().push(approval);
    }
    found.append(&mut strays);
    let approvals = found.into_iter().flat_map(|(run, approvals)| {
        let scope = run.scope();
        let approvals = approvals.into_iter();
        approvals.map(move |approval| AskedGate {
            hub: None,
            scope: scope.clone(),
            approval,
        })
    });
    approvals.collect()
}

fn object(gate: &AskedGate) -> ObjectRef {
    let request = &gate.approval.request;
    gate.scope.object(Concept::ApprovalRequest, request)
}

/// What a person does about it: the same command that `status` gives, and `diagnose` explains.
fn command(gate: &AskedGate) -> Option<CommandLine> {
    let AskedGate {
        hub,
        scope,
        approval,
    } = gate;
    let command = match approval.step {
        ApprovalStep::Approve => scope.fleet("approve").arg(&approval.request),
        ApprovalStep::Look => scope.fleet("diagnose").arg(&approval.run),
        ApprovalStep::Wait => return None,
    };
    Some(match hub {
        Some(hub) => command.on_hub(hub),
        None => command,
    })
}

/// What is to be known about an approval.
fn note(approval: &Approval) -> Option<String> {
    let stopped = matches!(approval.phase, Some(Phase::Stopped | Phase::Stopping));
    let (name, run) = (&approval.request, &approval.run);
    Some(match approval.state {
        ApprovalState::Pending if stopped => {
            format!("{run} is stopped: an approval takes effect when the run is resumed.")
        }
        ApprovalState::Pending | ApprovalState::Accepted | ApprovalState::NotReached => {
            return None;
        }
        ApprovalState::Ignored => {
            let observed = approval
                .answer
                .as_ref()
                .and_then(|answer| answer.observed_generation);
            let carries = match observed {
                None => "without an observedGeneration".to_owned(),
                Some(observed) => {
                    format!("for generation {observed}, which is not its current generation")
                }
            };
            format!("KubeFleet ignores the approval of {name}, which was given {carries}.")
        }
        ApprovalState::Withheld => format!(
            "The Approved condition of {name} is not True. This does not reject the rollout: \
             KubeFleet treats it as no answer."
        ),
        ApprovalState::Approved if stopped => {
            format!("{run} is stopped: the approval takes effect when the run is resumed.")
        }
        ApprovalState::Approved => "KubeFleet accepts it at its next reconcile.".to_owned(),
        ApprovalState::Missing => {
            format!("{run} waits for {name}, which was deleted: KubeFleet creates it again.")
        }
        ApprovalState::Foreign => {
            format!("{name} belongs to another run or stage: {run} aborts when it reads it.")
        }
        ApprovalState::RunOver => format!("{run} has ended: approving changes nothing."),
        ApprovalState::RunGone => format!("{run} does not exist: approving changes nothing."),
        ApprovalState::NoGate => {
            format!("No gate of {run} asks for {name}: approving changes nothing.")
        }
        ApprovalState::Unknown => format!("{name} could not be read."),
    })
}

fn item(gate: &AskedGate) -> ApprovalItem {
    let (object, approval) = (object(gate), &gate.approval);
    let answer = approval.answer.as_ref();
    ApprovalItem {
        hub: gate.hub.clone(),
        kind: object.kind.name().to_owned(),
        namespace: object.namespace,
        name: object.name,
        run: approval.run.clone(),
        placement: (!approval.placement.is_empty()).then(|| approval.placement.clone()),
        stage: approval.stage.clone(),
        when: approval.time,
        state: approval.state,
        asked: approval.asked,
        answered: answer.and_then(|answer| answer.at),
        by: answer.and_then(|answer| answer.by.clone()),
        with: answer.and_then(|answer| answer.with.clone()),
        message: answer
            .map(|answer| answer.message.clone())
            .filter(|message| !message.is_empty()),
        note: note(approval),
        command: command(gate),
    }
}

/// Which columns there are, and the moment of their ages.
struct GateColumns {
    hubs: bool,
    namespaces: bool,
    wide: bool,
    now: Timestamp,
}

fn table(found: &[AskedGate], view: &GateColumns, ui: &Ui) -> Table {
    let mut columns = Vec::new();
    if view.hubs {
        columns.push(Column::shrinking("HUB", 6));
    }
    if view.namespaces {
        columns.push(Column::shrinking("NAMESPACE", 9));
    }
    columns.extend([
        Column::shrinking("RUN", 10),
        Column::shrinking("STAGE", 6),
        Column::new("WHEN"),
        Column::new("STATE"),
        Column::new("SINCE"),
        Column::ending("ANSWER", 8),
    ]);
    if view.wide {
        columns.extend([
            Column::new("PLACEMENT"),
            Column::new("REQUEST"),
            Column::new("COMMAND"),
        ]);
    }
    let mut table = Table::new(columns);
    for gate in found {
        let approval = &gate.approval;
        let state = approval.state;
        let mut cells: Vec<Cell> = Vec::new();
        if view.hubs {
            cells.push(Cell::from(gate.hub.as_ref()));
        }
        if view.namespaces {
            cells.push(Cell::from(gate.scope.namespace()));
        }
        let since = match state {
            ApprovalState::Pending | ApprovalState::Missing => approval.asked,
            _ => approval.answer.as_ref().and_then(|answer| answer.at),
        };
        cells.extend([
            Cell::from(&approval.run),
            Cell::from(&approval.stage),
            Cell::from(approval.time.map(TaskTime::as_str)),
            Cell::styled(state.describe(), attention(state.needs_a_person())),
            Cell::from(age(since, view.now)),
            Cell::from(answer(approval)),
        ]);
        if view.wide {
            let command = command(gate);
            let exists = !matches!(state, ApprovalState::NotReached);
            cells.extend([
                Cell::from(&approval.placement),
                Cell::from(exists.then_some(&approval.request)),
                Cell::from(command.map(|command| ui.invocation().command(&command))),
            ]);
        }
        table.row(cells);
    }
    table
}

/// Who answered, else what.
fn answer(approval: &Approval) -> Option<String> {
    let answer = approval.answer.as_ref()?;
    Some(match (&answer.by, &answer.with) {
        (Some(by), _) => match &answer.reason {
            Some(reason) => format!("by {by}: {reason:?}"),
            None => format!("by {by}"),
        },
        (None, Some(with)) if answer.message.is_empty() => format!("with {with}"),
        (None, Some(with)) => format!("{:?}, with {with}", answer.message),
        (None, None) if answer.message.is_empty() => return None,
        (None, None) => format!("{:?}", answer.message),
    })
}

/// How many commands are shown below a table.
const SHOWN: usize = 5;

/// Says what to do about the approvals that need a person.
fn hints(found: &[AskedGate], ui: &mut Ui) {
    for (step, state, lead) in [
        (ApprovalStep::Approve, ApprovalState::Pending, "to approve:"),
        (
            ApprovalStep::Approve,
            ApprovalState::Ignored,
            "approved for an outdated generation, which KubeFleet ignores; to fix it:",
        ),
        (
            ApprovalStep::Look,
            ApprovalState::Withheld,
            "Approved is not True, which rejects nothing; see what you can do:",
        ),
        (
            ApprovalStep::Look,
            ApprovalState::Approved,
            "approvals take effect when the run is resumed; check whether it can be:",
        ),
        (
            ApprovalStep::Look,
            ApprovalState::Pending,
            "approving is not enough, or not safe; find out why:",
        ),
    ] {
        let mut lines: Vec<_> = found
            .iter()
            .filter(|gate| gate.approval.state == state && gate.approval.step == step)
            .filter_map(command)
            .collect();
        lines.dedup();
        if lines.is_empty() {
            continue;
        }
        let more = lines.len().saturating_sub(SHOWN);
        lines.truncate(SHOWN);
        let hint = Hint::new(lead).commands(lines);
        ui.hint(if more > 0 {
            hint.text(format!("and {more} more: use -o wide to show all"))
        } else {
            hint
        });
    }
}
