//! `approvals`: the gates that a person opens.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::open::hubs::{HubMoments, HubRows};
use crate::commands::open::reading::SourceReading;
use crate::commands::open::runs::{self, ReadDepth, RunRows};
use crate::commands::open::selection::ListReach;
use crate::commands::open::session::Session;
use crate::commands::output::age;
use crate::commands::show::listing::{self, HubRow, ItemList, ListCommand, ListingArgs};
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::object::ObjectBody;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, ObjectRef, Scope};
use crate::render::style::attention;
use crate::render::table::{Cell, Column, TableOf};
use crate::rollout::approvals::{
    Approval, ApprovalState, ApprovalStep, answered, of_request, of_run,
};
use crate::rollout::{Phase, Rollout, TaskTime};
use crate::ui::Ui;
use crate::words::{CommandLine, Hint, capital, enumerate};

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
    listing: ListingArgs,
    /// List only gates that need an answer: pending, ignored, or withheld
    #[arg(long)]
    pending: bool,
}

/// Approvals.
pub type ApprovalList = ItemList<ApprovalItem>;

/// One approval.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Approval")]
pub struct ApprovalItem {
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
    listing::run(args, session)
}

/// An approval that is asked for.
#[derive(Clone)]
pub(super) struct AskedGate {
    /// The scope of its run.
    scope: Scope,
    approval: Approval,
    /// That no approval lets its run continue, where that is known.
    aborts: Option<String>,
}

impl ListCommand for ApprovalsArgs {
    const COMMAND: &'static str = "approvals";
    const NOUN: &'static str = "gate";
    type Row = AskedGate;
    type Item = ApprovalItem;

    fn flags(&self) -> &ListingArgs {
        &self.listing
    }

    fn read(
        &self,
        reading: &mut SourceReading,
        reach: &ListReach,
    ) -> Result<HubRows<AskedGate>, Error> {
        let selection = &self.listing.selection;
        let is_wanted = |run: &UpdateRun| selection.has(run);
        let runs = runs::rows(reading, reach, ReadDepth::Approvals, is_wanted, of_one)?;
        let gaps = runs.gaps.clone();
        let mut found = gather(runs, |run| {
            selection.takes_all() || reach.named().contains(run)
        });
        found.retain(|gate| !self.pending || gate.approval.state.needs_a_person());
        if reading.hub().is_none() {
            for gate in &mut found {
                see_ahead(gate, reading);
            }
        }
        Ok(HubRows {
            none: None,
            rows: found,
            now: reading.now,
            gaps,
            is_everywhere: reach.is_everywhere(),
        })
    }

    fn none(&self, _: &mut SourceReading, reach: &ListReach) -> Result<String, Error> {
        let which = if self.pending {
            "no pending gates"
        } else {
            "no gates"
        };
        let scope = match reach.named() {
            [] if self.listing.selection.narrows() => " of the selected runs".to_owned(),
            [] if reach.is_everywhere() => String::new(),
            [] => " in this scope; use -A to list all scopes".to_owned(),
            runs => {
                let names = runs.iter().map(ToString::to_string);
                format!(" of {}", enumerate(names))
            }
        };
        Ok(format!("{which}{scope}"))
    }

    /// A request may be one gate's and another's answer at once.
    fn key(gate: &AskedGate) -> String {
        let (request, approval) = (request(gate), &gate.approval);
        format!("{request} of {}, stage {}", approval.run, approval.stage)
    }

    fn namespace(gate: &AskedGate) -> &str {
        gate.scope.namespace()
    }

    fn object(gate: &AskedGate) -> Option<ObjectRef> {
        let exists = !matches!(
            gate.approval.state,
            ApprovalState::NotReached | ApprovalState::Missing
        );
        exists.then(|| request(gate))
    }

    fn item(row: &HubRow<AskedGate>) -> ApprovalItem {
        let (hub, gate) = row;
        let (object, approval) = (request(gate), &gate.approval);
        let answer = approval.answer.as_ref();
        ApprovalItem {
            hub: hub.clone(),
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
            note: gate.aborts.clone().or_else(|| note(approval)),
            command: command(row),
        }
    }

    fn columns<'t>(
        &self,
        table: TableOf<'t, HubRow<AskedGate>>,
        now: &'t HubMoments,
        ui: &'t Ui,
    ) -> TableOf<'t, HubRow<AskedGate>> {
        let wide = self.listing.output.is_wide();
        table
            .column(Column::name("RUN"), |(_, it)| &it.approval.run)
            .column(Column::shrinking("STAGE", 6), |(_, it)| &it.approval.stage)
            .column(Column::new("WHEN"), |(_, it)| {
                it.approval.time.map(TaskTime::as_str)
            })
            .column(Column::new("STATE"), |(_, it)| {
                let state = it.approval.state;
                Cell::styled(state.describe(), attention(state.needs_a_person()))
            })
            .column(Column::new("SINCE").spare(0), |(hub, it)| {
                age(since(&it.approval), now.on(hub))
            })
            .column(Column::ending("ANSWER", 8).spare(1), |(_, it)| {
                answer(&it.approval)
            })
            .column_if(wide, Column::new("PLACEMENT"), |(_, it)| {
                &it.approval.placement
            })
            .column_if(wide, Column::new("REQUEST"), |(_, it)| {
                let exists = !matches!(it.approval.state, ApprovalState::NotReached);
                exists.then_some(&it.approval.request)
            })
            .column_if(wide, Column::new("COMMAND"), |row| {
                command(row).map(|command| ui.invocation().command(&command))
            })
    }

    fn hint(found: &[HubRow<AskedGate>], ui: &mut Ui) {
        hints(found, ui);
    }
}

/// Looks whether approving helps. On a hub that takes requests for each run, which a list does not
/// send.
fn see_ahead(gate: &mut AskedGate, reading: &mut SourceReading) {
    let approval = &mut gate.approval;
    if approval.step != ApprovalStep::Approve {
        return;
    }
    let run = gate.scope.object(Concept::UpdateRun, &approval.run);
    let inventories = reading.overviews(&[run]).unwrap_or_default();
    gate.aborts = inventories
        .iter()
        .find_map(diagnose::aborts)
        .map(|why| format!("{}.", capital(&why)));
    if gate.aborts.is_some() {
        approval.step = ApprovalStep::Look;
    }
}

/// Since when it waits, or when it was answered.
fn since(approval: &Approval) -> Option<Timestamp> {
    match approval.state {
        ApprovalState::Pending | ApprovalState::Missing => approval.asked,
        _ => approval.answer.as_ref().and_then(|answer| answer.at),
    }
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
fn gather(runs: RunRows<Vec<Approval>>, takes: impl Fn(&ObjectRef) -> bool) -> Vec<AskedGate> {
    let runs_are_known = runs.gaps.iter().all(|gap| {
        !matches!(
            gap.what.as_str(),
            "ClusterStagedUpdateRun" | "StagedUpdateRun"
        )
    });
    let mut found: BTreeMap<ObjectRef, Vec<Approval>> = runs.runs.into_iter().collect();
    let mut strays: BTreeMap<ObjectRef, Vec<Approval>> = BTreeMap::new();
    for request in &runs.approvals {
        let ObjectBody::Approval(request) = &request.body else {
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
            scope: scope.clone(),
            approval,
            aborts: None,
        })
    });
    approvals.collect()
}

fn request(gate: &AskedGate) -> ObjectRef {
    let request = &gate.approval.request;
    gate.scope.object(Concept::ApprovalRequest, request)
}

/// What a person does about it: the same command that `status` gives, and `diagnose` explains.
fn command((hub, gate): &HubRow<AskedGate>) -> Option<CommandLine> {
    let AskedGate {
        scope, approval, ..
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
fn hints(found: &[HubRow<AskedGate>], ui: &mut Ui) {
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
            .filter(|(_, gate)| gate.approval.state == state && gate.approval.step == step)
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
