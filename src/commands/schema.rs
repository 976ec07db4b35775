//! `schema`: the JSON schemas of what programs parse.

use clap::{Args, ValueEnum};

use super::approvals::ApprovalList;
use super::controller_logs::ControllerLog;
use super::diagnose::DiagnosisList;
use super::doctor::Doctor;
use super::explain::{Entry, FindingList};
use super::history::HistoryView;
use super::list::RunList;
use super::plan::PlanView;
use super::snapshots::{SnapshotDiff, SnapshotList, SnapshotView};
use super::strategies::{StrategyList, StrategyView};
use super::version::About;
use crate::bundle;
use crate::diagnose::report::Report;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::render;
use crate::ui::Ui;

/// Print the JSON schema of a machine-readable output
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kubectl fleet-stage schema > diagnosis.schema.json\n  \
    kubectl fleet-stage schema diagnosis-list"
)]
pub struct SchemaArgs {
    /// What to describe
    #[arg(value_enum, default_value_t)]
    of: Described,
}

/// An output that has a schema.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum Described {
    /// The report of `diagnose -o json`
    #[default]
    Diagnosis,
    /// The reports of `diagnose --all -o json`
    DiagnosisList,
    /// The state that `status -o json` and `wait -o json` print
    Status,
    /// The plan of `plan -o json`
    Plan,
    /// The runs of `list -o json`
    RunList,
    /// The approvals of `approvals -o json`
    ApprovalList,
    /// The strategies of `strategies -o json`
    StrategyList,
    /// The strategy of `strategies show -o json`
    Strategy,
    /// What `history -o json` prints
    History,
    /// The versions of `snapshots -o json`
    SnapshotList,
    /// The version of `snapshots show -o json`
    Snapshot,
    /// What `snapshots diff -o json` prints
    SnapshotDiff,
    /// What `doctor -o json` found
    Doctor,
    /// The findings of `explain --list -o json`
    FindingList,
    /// The finding of `explain CODE -o json`
    Finding,
    /// What `version -o json` prints
    Version,
    /// The first document of what `collect` writes
    Bundle,
    /// What `collect` writes of a member cluster
    MemberObjects,
    /// What `collect --controller-logs` writes of a pod of the hub agent
    ControllerLog,
}

impl Described {
    /// The name under which `schema` knows it.
    pub fn name(self) -> String {
        self.to_possible_value()
            .map(|value| value.get_name().to_owned())
            .unwrap_or_default()
    }
}

/// The schema of an output.
pub fn schema(of: Described) -> schemars::Schema {
    match of {
        Described::Diagnosis => schemars::schema_for!(Report),
        Described::DiagnosisList => schemars::schema_for!(DiagnosisList),
        Described::Status => schemars::schema_for!(Status),
        Described::Plan => schemars::schema_for!(PlanView),
        Described::RunList => schemars::schema_for!(RunList),
        Described::ApprovalList => schemars::schema_for!(ApprovalList),
        Described::StrategyList => schemars::schema_for!(StrategyList),
        Described::Strategy => schemars::schema_for!(StrategyView),
        Described::History => schemars::schema_for!(HistoryView),
        Described::SnapshotList => schemars::schema_for!(SnapshotList),
        Described::Snapshot => schemars::schema_for!(SnapshotView),
        Described::SnapshotDiff => schemars::schema_for!(SnapshotDiff),
        Described::Doctor => schemars::schema_for!(Doctor),
        Described::FindingList => schemars::schema_for!(FindingList),
        Described::Finding => schemars::schema_for!(Entry),
        Described::Version => schemars::schema_for!(About),
        Described::Bundle => bundle::write::schema(),
        Described::MemberObjects => schemars::schema_for!(bundle::members::Document),
        Described::ControllerLog => schemars::schema_for!(ControllerLog),
    }
}

/// Prints a schema.
pub fn run(args: &SchemaArgs, ui: &mut Ui) -> Result<Exit, Error> {
    let text = render::json(&schema(args.of)).map_err(|error| Error::failed(error.to_string()))?;
    ui.answer(&text);
    Ok(Exit::Done)
}
