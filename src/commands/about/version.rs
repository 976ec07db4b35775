//! `version`.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::output::ItemFormat;
use crate::error::Error;
use crate::exit::Exit;
use crate::report::TypeMeta;
use crate::ui::Ui;

/// Print the version
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kubectl fleet-stage version\n  kubectl fleet-stage version -o json"
)]
pub struct VersionArgs {
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: ItemFormat,
}

/// The version of the plugin.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Version")]
pub struct PluginVersion {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The version of the plugin.
    version: &'static str,
}

pub fn run(args: &VersionArgs, ui: &mut Ui) -> Result<Exit, Error> {
    let version = PluginVersion {
        meta: TypeMeta::new("Version"),
        version: env!("CARGO_PKG_VERSION"),
    };
    let text = args.output.print(&version, || {
        format!("kubectl-fleet-stage {}\n", version.version)
    })?;
    ui.answer(&text);
    Ok(Exit::Done)
}
