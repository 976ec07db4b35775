//! `schema`: the JSON schemas of what programs parse.

use clap::{Args, ValueEnum};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use crate::bundle;
use crate::commands::about::doctor::DoctorReport;
use crate::commands::about::explain::{ExplainedFinding, FindingList};
use crate::commands::about::version::PluginVersion;
use crate::commands::gather::hubs::HubList;
use crate::commands::operate::operation::WriteResult;
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
use crate::commands::show::trace::ObjectTrace;
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
    of: DescribedOutput,
}

/// An output that has a schema.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum DescribedOutput {
    /// Report of `diagnose -o json`
    #[default]
    Diagnosis,
    /// Reports of `diagnose --all -o json`
    DiagnosisList,
    /// State in `status -o json` and `wait -o json`
    Status,
    /// States in `status -o json` of several names or hubs
    StatusList,
    /// What came of a write: `result` beside the fields of the object that `run -o json` and the other
    /// commands that write print
    WriteResult,
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

impl DescribedOutput {
    /// The name under which `schema` knows it.
    pub fn name(self) -> String {
        self.to_possible_value()
            .map(|value| value.get_name().to_owned())
            .unwrap_or_default()
    }
}

pub fn schema(described: DescribedOutput) -> Schema {
    match described {
        DescribedOutput::Diagnosis => schema_of::<Report>(),
        DescribedOutput::DiagnosisList => schema_of::<DiagnosisList>(),
        DescribedOutput::Status => schema_of::<Status>(),
        DescribedOutput::StatusList => schema_of::<HubList<Status>>(),
        DescribedOutput::WriteResult => schema_of::<WriteResult<'static>>(),
        DescribedOutput::Plan => schema_of::<PlanView>(),
        DescribedOutput::RunList => schema_of::<RunList>(),
        DescribedOutput::ApprovalList => schema_of::<ApprovalList>(),
        DescribedOutput::StrategyList => schema_of::<StrategyList>(),
        DescribedOutput::Strategy => schema_of::<StrategyView>(),
        DescribedOutput::History => schema_of::<HistoryView>(),
        DescribedOutput::SnapshotList => schema_of::<SnapshotList>(),
        DescribedOutput::Snapshot => schema_of::<SnapshotView>(),
        DescribedOutput::SnapshotDiff => schema_of::<SnapshotDiff>(),
        DescribedOutput::ClusterList => schema_of::<ClusterList>(),
        DescribedOutput::Rendering => schema_of::<RenderView>(),
        DescribedOutput::Trace => schema_of::<ObjectTrace>(),
        DescribedOutput::Doctor => schema_of::<DoctorReport>(),
        DescribedOutput::DoctorList => schema_of::<HubList<DoctorReport>>(),
        DescribedOutput::FindingList => schema_of::<FindingList>(),
        DescribedOutput::Finding => schema_of::<ExplainedFinding>(),
        DescribedOutput::Version => schema_of::<PluginVersion>(),
        DescribedOutput::Bundle => schema_of::<bundle::write::HeaderDocument<'static>>(),
        DescribedOutput::MemberObjects => schema_of::<bundle::members::MemberDocument>(),
        DescribedOutput::ControllerLog => schema_of::<ControllerLog>(),
    }
}

/// The schema of what is written: what may be left out is not required.
fn schema_of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>()
}

pub fn run(args: &SchemaArgs, ui: &mut Ui) -> Result<Exit, Error> {
    let text = output::json(&schema(args.of))?;
    ui.answer(&text);
    Ok(Exit::Done)
}
