//! `approvals`: the gates that a person opens.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::open::reading::InputArgs;
use crate::commands::open::runs::{self, Reach, ReadDepth, Rows};
use crate::commands::open::session::Session;
use crate::commands::output::{Format, Output, age, document, names};
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::object::{Body, OWN_API_VERSION};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, ObjectRef, Scope};
use crate::render::style::attention;
use crate::render::table::{Cell, Column, Table};
use crate::report::NotChecked;
use crate::rollout::approvals::{
    Approval, ApprovalState, ApprovalStep, answered, of_request, of_run,
};
use crate::rollout::{Phase, Rollout, TaskTime};
use crate::ui::Ui;
use crate::words::{CommandLine, Hint};

/// List approval gates and who approved them
///
/// Prints one row per approval gate: how long it has been waiting, its state, the approver, and the
/// command to approve it. Approvals that KubeFleet ignores are marked. There is no reject: to block
/// a rollout, stop its run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage approvals --pending\n  \
    kubectl fleet-stage approvals example-run -o wide\n  \
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
    /// Update run whose gates to list: NAME, csur/NAME, or with -n sur/NAME
    #[arg(value_name = "RUN", conflicts_with = "all_namespaces")]
    run: Option<String>,
    /// List both scopes and all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// List only gates that need an answer: pending, ignored, or withheld
    #[arg(long)]
    pending: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: Output,
}

/// Approvals.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalList {
    /// Always `kubectl-fleet-stage/v1`.
    api_version: String,
    /// Always `ApprovalList`.
    kind: String,
    /// The approvals, by scope, namespace and run, in the order of the run's stages.
    items: Vec<ApprovalItem>,
    /// Kinds that could not be listed in full, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<NotChecked>,
}

/// One approval.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ApprovalItem {
    /// `ClusterApprovalRequest` or `ApprovalRequest`.
    kind: String,
    /// Its namespace; empty for cluster-scoped requests.
    namespace: String,
    /// The request's name; a run knows it before the request exists.
    name: String,
    /// The run.
    run: String,
    /// The placement; absent where the run is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    placement: Option<String>,
    /// The stage.
    stage: String,
    /// `before` or `after` the stage's clusters; absent where nothing tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<TaskTime>,
    /// What has become of it.
    state: ApprovalState,
    /// Since when it is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    asked: Option<Timestamp>,
    /// When it was answered, by the answer's own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    answered: Option<Timestamp>,
    /// Who answered, where the answer's text says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// The program that wrote the answer, where that is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    with: Option<String>,
    /// The answer's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What is to be known about it, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// What to run, where there is something to do.
    #[serde(flatten)]
    command: Option<CommandLine>,
}

/// Lists approvals.
pub fn run(args: &ApprovalsArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let mut reach = Reach::of(session.global, args.all_namespaces)?;
    let mut reading = session.open(&args.input, "approvals")?;
    let mut only = None;
    if let Some(word) = &args.run {
        let namespace = session.global.namespace.as_deref();
        let target = reading.target_of(Some(word), namespace, &[Concept::UpdateRun], session.ui)?;
        reach = Reach::One(target.scope());
        only = Some(target);
    }
    let is_wanted = |run: &UpdateRun| only.as_ref().is_none_or(|only| run.object() == *only);
    let runs = runs::rows(
        &mut reading,
        &reach,
        ReadDepth::Approvals,
        is_wanted,
        of_one,
    )?;
    runs.warn(session.ui);
    let gaps = runs.gaps.clone();
    let mut found = gather(runs, only.as_ref());
    found.retain(|(_, approval)| !args.pending || approval.state.needs_a_person());
    if found.is_empty() {
        let which = if args.pending {
            "no pending gates"
        } else {
            "no gates"
        };
        let scope = match (&only, reach.is_everywhere()) {
            (Some(run), _) => format!(" of {run}"),
            (None, true) => String::new(),
            (None, false) => " in this scope; use -A to list all scopes".to_owned(),
        };
        session.ui.status(&format!("{which}{scope}"));
    }
    let text = match args.output.format() {
        Format::Table | Format::Wide => {
            let table = table(
                &found,
                &reach,
                args.output.is_wide(),
                reading.now,
                session.ui,
            );
            args.output.draw(&table, session.ui)
        }
        Format::Name => {
            let exists = |approval: &Approval| {
                !matches!(
                    approval.state,
                    ApprovalState::NotReached | ApprovalState::Missing
                )
            };
            let objects: Vec<_> = found
                .iter()
                .filter(|(_, approval)| exists(approval))
                .map(|(scope, approval)| object(scope, approval))
                .collect();
            names(&objects)
        }
        format => document(&list(&found, gaps), format)?,
    };
    session.ui.answer(&text);
    if matches!(args.output.format(), Format::Table | Format::Wide) {
        hints(&found, session.ui);
    }
    Ok(Exit::Done)
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
fn gather(runs: Rows<Vec<Approval>>, only: Option<&ObjectRef>) -> Vec<(Scope, Approval)> {
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
        if found.contains_key(&run) || only.is_some_and(|only| *only != run) {
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
        approvals.map(move |approval| (scope.clone(), approval))
    });
    approvals.collect()
}

fn object(scope: &Scope, approval: &Approval) -> ObjectRef {
    scope.object(Concept::ApprovalRequest, &approval.request)
}

/// What a person does about it: the same command that `status` gives, and `diagnose` explains.
fn command(scope: &Scope, approval: &Approval) -> Option<CommandLine> {
    match approval.step {
        ApprovalStep::Approve => Some(scope.fleet("approve").arg(&approval.request)),
        ApprovalStep::Look => Some(scope.fleet("diagnose").arg(&approval.run)),
        ApprovalStep::Wait => None,
    }
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
        ApprovalState::Unknown => format!("{name} could not be read."),
    })
}

fn list(found: &[(Scope, Approval)], not_checked: Vec<NotChecked>) -> ApprovalList {
    ApprovalList {
        api_version: OWN_API_VERSION.to_owned(),
        kind: "ApprovalList".to_owned(),
        items: found.iter().map(item).collect(),
        not_checked,
    }
}

fn item((scope, approval): &(Scope, Approval)) -> ApprovalItem {
    let object = object(scope, approval);
    let answer = approval.answer.as_ref();
    ApprovalItem {
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
        command: command(scope, approval),
    }
}

fn table(found: &[(Scope, Approval)], reach: &Reach, wide: bool, now: Timestamp, ui: &Ui) -> Table {
    let mut columns = Vec::new();
    if reach.is_everywhere() {
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
    if wide {
        columns.extend([
            Column::new("PLACEMENT"),
            Column::new("REQUEST"),
            Column::new("COMMAND"),
        ]);
    }
    let mut table = Table::new(columns);
    for (scope, approval) in found {
        let state = approval.state;
        let mut cells: Vec<Cell> = Vec::new();
        if reach.is_everywhere() {
            cells.push(Cell::from(scope.namespace()));
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
            Cell::from(age(since, now)),
            Cell::from(answer(approval)),
        ]);
        if wide {
            let command = command(scope, approval);
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
fn hints(found: &[(Scope, Approval)], ui: &mut Ui) {
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
            .filter(|(_, approval)| approval.state == state && approval.step == step)
            .filter_map(|(scope, approval)| command(scope, approval))
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
