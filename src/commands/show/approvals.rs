//! `approvals`: the gates that a person opens.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::commands::gather::hubs::{HubMoments, HubRows};
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::runs::{self, ReadDepth, RunRows};
use crate::commands::gather::selection::ListReach;
use crate::commands::gather::session::Session;
use crate::commands::output::age;
use crate::commands::show::listing::{self, HubRow, ItemList, ListCommand, ListingArgs};
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::object::ObjectBody;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope};
use crate::render::style::attention;
use crate::render::table::{Cell, Column, TableOf};
use crate::report::Subject;
use crate::rollout::approvals::{Approval, ApprovalStep, answered, of_request, of_run};
use crate::rollout::{GateFacts, GateState, Phase, Rollout, TaskTime};
use crate::ui::Ui;
use crate::words::{CommandLine, Hint, capital, enumerate, said_if};

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
    ignored      approved, but not for the generation of the request: approve again\n  \
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

pub type ApprovalList = ItemList<ApprovalItem>;

/// One approval.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Approval")]
pub struct ApprovalItem {
    /// The context of the hub; absent if only one hub was asked.
    hub: Option<String>,
    /// The run.
    run: Subject,
    /// The placement; absent if the run is unknown.
    placement: Option<String>,
    #[serde(flatten)]
    gate: GateFacts,
    /// What a person should know about it, in one sentence.
    note: Option<String>,
}

pub fn run(args: &ApprovalsArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    listing::run(args, session)
}

#[derive(Clone)]
pub(super) struct AskedGate {
    scope: Scope,
    approval: Approval,
    /// Why no approval lets its run simply continue, where that is known.
    obstacle: Option<String>,
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
        found.retain(|gate| !self.pending || gate.approval.gate.state.needs_a_person());
        see_ahead(&mut found, reading);
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
        format!(
            "{request} of {}, stage {}",
            approval.run, approval.gate.stage
        )
    }

    fn namespace(gate: &AskedGate) -> &str {
        gate.scope.namespace()
    }

    fn object(gate: &AskedGate) -> Option<ObjectRef> {
        let exists = !matches!(
            gate.approval.gate.state,
            GateState::NotReached | GateState::Missing
        );
        exists.then(|| request(gate))
    }

    fn item(row: &HubRow<AskedGate>) -> ApprovalItem {
        let (hub, gate) = row;
        let approval = &gate.approval;
        ApprovalItem {
            hub: hub.clone(),
            run: Subject::from(gate.scope.object(Concept::UpdateRun, &approval.run)),
            placement: (!approval.placement.is_empty()).then(|| approval.placement.clone()),
            gate: GateFacts {
                command: command(row),
                ..approval.gate.clone()
            },
            note: obstacle(gate).or_else(|| note(approval)),
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
            .column(Column::shrinking("STAGE", 6), |(_, it)| {
                &it.approval.gate.stage
            })
            .column(Column::new("WHEN"), |(_, it)| {
                it.approval.gate.when.map(TaskTime::as_str)
            })
            .column(Column::new("STATE"), |(_, it)| {
                let state = it.approval.gate.state;
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
                let exists = !matches!(it.approval.gate.state, GateState::NotReached);
                exists.then_some(it.approval.request())
            })
            .column_if(wide, Column::new("COMMAND"), |row| {
                command(row).map(|command| ui.invocation().command(&command))
            })
    }

    fn hint(found: &[HubRow<AskedGate>], ui: &mut Ui) {
        hints(found, ui);
    }
}

/// Looks whether approving helps: the runs are looked at together.
fn see_ahead(gates: &mut [AskedGate], reading: &mut SourceReading) {
    let run = |gate: &AskedGate| gate.scope.object(Concept::UpdateRun, &gate.approval.run);
    let open = |gate: &AskedGate| gate.approval.step == ApprovalStep::Approve;
    let runs: BTreeSet<_> = gates.iter().filter(|gate| open(gate)).map(run).collect();
    let runs: Vec<_> = runs.into_iter().collect();
    let inventories = runs.iter().zip(reading.overviews(&runs));
    // A run that cannot be read leaves open whether it helps.
    let ahead: BTreeMap<_, _> = inventories
        .filter_map(|(run, inventory)| {
            let inventory = inventory.ok()?;
            let aborts = diagnose::aborts(&inventory).map(|why| format!("{why}."));
            Some((run, aborts.or_else(|| diagnose::obstacle(&inventory))))
        })
        .collect();
    for gate in gates.iter_mut().filter(|gate| open(gate)) {
        gate.obstacle = ahead.get(&run(gate)).cloned().flatten();
        if gate.obstacle.is_some() {
            gate.approval.step = ApprovalStep::Look;
        }
    }
}

/// Since when it waits, or when it was answered.
fn since(approval: &Approval) -> Option<Timestamp> {
    match approval.gate.state {
        GateState::Pending | GateState::Missing => approval.gate.since,
        _ => approval.gate.answer.as_ref().and_then(|answer| answer.at),
    }
}

/// The gates of a run, and its requests that belong to none of them.
fn of_one(inventory: &Inventory, rollout: &Rollout<'_>) -> Vec<Approval> {
    let mut found = of_run(rollout);
    // Others were never asked for, and never will be.
    found.retain(|approval| {
        rollout.is_live()
            || approval.gate.state == GateState::Accepted
            || !inventory.approval(approval.request()).is_absent()
    });
    let seen: BTreeSet<_> = found
        .iter()
        .filter(|approval| approval.gate.state != GateState::Foreign)
        .map(|approval| approval.request().to_owned())
        .collect();
    let own = inventory.approvals.iter().filter(|request| {
        request.spec.run == rollout.run.meta.name && !seen.contains(&request.meta.name)
    });
    found.extend(own.map(|request| of_request(request, Some(rollout))));
    found
}

/// The gates of the runs, and the requests that belong to no run.
fn gather(runs: RunRows<Vec<Approval>>, takes: impl Fn(&ObjectRef) -> bool) -> Vec<AskedGate> {
    let kinds = [Kind::ClusterStagedUpdateRun, Kind::StagedUpdateRun];
    let is_of_runs = |what: &str| kinds.iter().any(|kind| kind.name() == what);
    let runs_are_known = !runs.gaps.iter().any(|gap| is_of_runs(&gap.what));
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
            approval.gate.state = answered(request);
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
            obstacle: None,
        })
    });
    approvals.collect()
}

fn request(gate: &AskedGate) -> ObjectRef {
    let request = gate.approval.request();
    gate.scope.object(Concept::ApprovalRequest, request)
}

/// What a person does about it: the same command that `status` gives, and `diagnose` explains.
fn command((hub, gate): &HubRow<AskedGate>) -> Option<CommandLine> {
    let AskedGate {
        scope, approval, ..
    } = gate;
    let command = match approval.step {
        ApprovalStep::Approve => scope.fleet("approve").arg(approval.request()),
        ApprovalStep::Look => scope.fleet("diagnose").arg(&approval.run),
        ApprovalStep::Wait => return None,
    };
    Some(match hub {
        Some(hub) => command.on_hub(hub),
        None => command,
    })
}

fn obstacle(gate: &AskedGate) -> Option<String> {
    gate.obstacle.as_deref().map(capital)
}

fn note(approval: &Approval) -> Option<String> {
    let stopped = approval.phase.is_some_and(Phase::is_halted);
    let (name, run) = (approval.request(), &approval.run);
    Some(match approval.gate.state {
        GateState::Pending if stopped => {
            format!("{run} is stopped: an approval takes effect when the run is resumed.")
        }
        GateState::Pending | GateState::Accepted | GateState::Done | GateState::NotReached => {
            return None;
        }
        GateState::Ignored => {
            let observed = approval
                .gate
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
        GateState::Withheld => format!(
            "The Approved condition of {name} is not True. This does not reject the rollout: \
             KubeFleet treats it as no answer."
        ),
        GateState::Approved if stopped => {
            format!("{run} is stopped: the approval takes effect when the run is resumed.")
        }
        GateState::Approved => "KubeFleet accepts it at its next reconcile.".to_owned(),
        GateState::Missing => {
            format!("{run} waits for {name}, which was deleted: KubeFleet creates it again.")
        }
        GateState::Foreign => {
            format!("{name} belongs to another run or stage: {run} aborts when it reads it.")
        }
        GateState::RunOver => format!("{run} has ended: approving changes nothing."),
        GateState::RunGone => format!("{run} does not exist: approving changes nothing."),
        GateState::NoGate => {
            format!("No gate of {run} asks for {name}: approving changes nothing.")
        }
        GateState::Unknown => format!("{name} could not be read."),
    })
}

/// Who answered, else what.
fn answer(approval: &Approval) -> Option<String> {
    let answer = approval.gate.answer.as_ref()?;
    let too_late = said_if(answer.is_too_late, "withdrawn too late: ");
    let said = match (&answer.by, &answer.with) {
        (Some(by), _) => match &answer.reason {
            Some(reason) => format!("by {by}: {reason:?}"),
            None => format!("by {by}"),
        },
        (None, Some(with)) if answer.message.is_empty() => format!("with {with}"),
        (None, Some(with)) => format!("{:?}, with {with}", answer.message),
        (None, None) if answer.message.is_empty() => return None,
        (None, None) => format!("{:?}", answer.message),
    };
    Some(format!("{too_late}{said}"))
}

/// How many commands are shown below a table.
const SHOWN: usize = 5;

fn hints(found: &[HubRow<AskedGate>], ui: &mut Ui) {
    for (step, state, lead) in [
        (ApprovalStep::Approve, GateState::Pending, "to approve:"),
        (
            ApprovalStep::Approve,
            GateState::Ignored,
            "approved, but not for its generation, which KubeFleet ignores; to fix it:",
        ),
        (
            ApprovalStep::Look,
            GateState::Withheld,
            "Approved is not True, which rejects nothing; see what you can do:",
        ),
        (
            ApprovalStep::Look,
            GateState::Approved,
            "approvals take effect when the run is resumed; check whether it can be:",
        ),
        (
            ApprovalStep::Look,
            GateState::Pending,
            "approving is not enough, or not safe; find out why:",
        ),
    ] {
        let mut lines: Vec<_> = found
            .iter()
            .filter(|(_, gate)| gate.approval.gate.state == state && gate.approval.step == step)
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
