//! `schema`: the JSON schemas of what programs parse.

use clap::{Args, ValueEnum};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};

use crate::bundle;
use crate::commands::about::doctor::Doctor;
use crate::commands::about::explain::{Entry, FindingList};
use crate::commands::about::version::About;
use crate::commands::open::hubs::HubList;
use crate::commands::output;
use crate::commands::show::approvals::ApprovalList;
use crate::commands::show::clusters::ClusterList;
use crate::commands::show::controller_logs::ControllerLog;
use crate::commands::show::diagnose::DiagnosisList;
use crate::commands::show::history::HistoryView;
use crate::commands::show::list::RunList;
use crate::commands::show::plan::PlanView;
use crate::commands::show::render::RenderView;
use crate::commands::show::snapshots::{SnapshotDiff, SnapshotList, SnapshotView};
use crate::commands::show::strategies::{StrategyList, StrategyView};
use crate::commands::show::trace::Trace;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::report::Report;
use crate::ui::Ui;

/// Print the JSON schema of an output
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kubectl fleet-stage schema > diagnosis.schema.json\n  \
    kubectl fleet-stage schema diagnosis-list"
)]
pub struct SchemaArgs {
    /// Output to describe
    #[arg(value_enum, default_value_t)]
    of: Described,
}

/// An output that has a schema.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum Described {
    /// Report of `diagnose -o json`
    #[default]
    Diagnosis,
    /// Reports of `diagnose --all -o json`
    DiagnosisList,
    /// State in `status -o json` and `wait -o json`
    Status,
    /// States in `status -o json` of several names or hubs
    StatusList,
    /// Plan in `plan -o json`
    Plan,
    /// Runs in `list -o json`
    RunList,
    /// Gates in `approvals -o json`
    ApprovalList,
    /// Strategies in `strategies -o json`
    StrategyList,
    /// Strategy in `strategies show -o json`
    Strategy,
    /// History in `history -o json`
    History,
    /// Versions in `snapshots -o json`
    SnapshotList,
    /// Version in `snapshots show -o json`
    Snapshot,
    /// Differences in `snapshots diff -o json`
    SnapshotDiff,
    /// Clusters in `clusters -o json`
    ClusterList,
    /// Groups of clusters in `render --summary -o json` and `render --diff -o json`
    Rendering,
    /// Path of an object in `trace -o json`
    Trace,
    /// Checks in `doctor -o json`
    Doctor,
    /// Checks in `doctor -o json` of several hubs
    DoctorList,
    /// Findings in `explain --list -o json`
    FindingList,
    /// Finding in `explain CODE -o json`
    Finding,
    /// Version in `version -o json`
    Version,
    /// First document of a bundle written by `collect`
    Bundle,
    /// Member cluster objects in a bundle
    MemberObjects,
    /// Log lines of a hub agent pod in a bundle
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
pub fn schema(described: Described) -> Schema {
    match described {
        Described::Diagnosis => of::<Report>(),
        Described::DiagnosisList => of::<DiagnosisList>(),
        Described::Status => of::<Status>(),
        Described::StatusList => of::<HubList<Status>>(),
        Described::Plan => of::<PlanView>(),
        Described::RunList => of::<RunList>(),
        Described::ApprovalList => of::<ApprovalList>(),
        Described::StrategyList => of::<StrategyList>(),
        Described::Strategy => of::<StrategyView>(),
        Described::History => of::<HistoryView>(),
        Described::SnapshotList => of::<SnapshotList>(),
        Described::Snapshot => of::<SnapshotView>(),
        Described::SnapshotDiff => of::<SnapshotDiff>(),
        Described::ClusterList => of::<ClusterList>(),
        Described::Rendering => of::<RenderView>(),
        Described::Trace => of::<Trace>(),
        Described::Doctor => of::<Doctor>(),
        Described::DoctorList => of::<HubList<Doctor>>(),
        Described::FindingList => of::<FindingList>(),
        Described::Finding => of::<Entry>(),
        Described::Version => of::<About>(),
        Described::Bundle => bundle::write::schema(generator()),
        Described::MemberObjects => of::<bundle::members::Document>(),
        Described::ControllerLog => of::<ControllerLog>(),
    }
}

fn of<T: JsonSchema>() -> Schema {
    generator().into_root_schema_for::<T>()
}

/// Schemas of what is written: what may be left out is not required.
fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
}

/// Prints a schema.
pub fn run(args: &SchemaArgs, ui: &mut Ui) -> Result<Exit, Error> {
    let text = output::json(&schema(args.of))?;
    ui.answer(&text);
    Ok(Exit::Done)
}
