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

/// The outputs that have a schema, each with the type of what is written there.
macro_rules! described {
    ($( $(#[$of:meta])* $output:ident = $written:ty, )*) => {
        #[derive(Debug, Clone, Copy, Default, ValueEnum)]
        pub enum DescribedOutput { $( $(#[$of])* $output, )* }

        pub fn schema(described: DescribedOutput) -> Schema {
            match described { $( DescribedOutput::$output => schema_of::<$written>(), )* }
        }
    };
}

described! {
    /// Report of `diagnose -o json`
    #[default]
    Diagnosis = Report,
    /// Reports of `diagnose --all -o json`
    DiagnosisList = DiagnosisList,
    /// State in `status -o json` and `wait -o json`
    Status = Status,
    /// States in `status -o json` of several names or hubs
    StatusList = HubList<Status>,
    /// What came of a write: `result` beside the fields of the object that `run -o json` and the other
    /// commands that write print
    WriteResult = WriteResult<'static>,
    /// Plan in `plan -o json`
    Plan = PlanView,
    /// Runs in `list -o json`
    RunList = RunList,
    /// Gates in `approvals -o json`
    ApprovalList = ApprovalList,
    /// Strategies in `strategies -o json`
    StrategyList = StrategyList,
    /// Strategy in `strategies show -o json`
    Strategy = StrategyView,
    /// History in `history -o json`
    History = HistoryView,
    /// Versions in `snapshots -o json`
    SnapshotList = SnapshotList,
    /// Version in `snapshots show -o json`
    Snapshot = SnapshotView,
    /// Differences in `snapshots diff -o json`
    SnapshotDiff = SnapshotDiff,
    /// Clusters in `clusters -o json`
    ClusterList = ClusterList,
    /// Groups of clusters in `render --summary -o json` and `render --diff -o json`
    Rendering = RenderView,
    /// Path of an object in `trace -o json`
    Trace = ObjectTrace,
    /// Checks in `doctor -o json`
    Doctor = DoctorReport,
    /// Checks in `doctor -o json` of several hubs
    DoctorList = HubList<DoctorReport>,
    /// Findings in `explain --list -o json`
    FindingList = FindingList,
    /// Finding in `explain CODE -o json`
    Finding = ExplainedFinding,
    /// Version in `version -o json`
    Version = PluginVersion,
    /// First document of a bundle written by `collect`
    Bundle = bundle::write::HeaderDocument<'static>,
    /// Member cluster objects in a bundle
    MemberObjects = bundle::members::MemberDocument,
    /// Log lines of a hub agent pod in a bundle
    ControllerLog = ControllerLog,
}

impl DescribedOutput {
    /// The name under which `schema` knows it.
    pub fn name(self) -> String {
        self.to_possible_value()
            .map(|value| value.get_name().to_owned())
            .unwrap_or_default()
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
