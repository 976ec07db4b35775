//! `version`.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::object::OWN_API_VERSION;
use crate::render;
use crate::ui::Ui;

/// Print the version
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kubectl fleet-stage version\n  kubectl fleet-stage version -o json"
)]
pub struct VersionArgs {
    /// The format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Yaml,
}

/// Which version of the plugin it is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Version")]
pub struct About {
    /// Always `kubectl-fleet-stage/v1`.
    api_version: &'static str,
    /// Always `Version`.
    kind: &'static str,
    /// The version of the plugin.
    version: &'static str,
}

/// Prints the version.
pub fn run(args: &VersionArgs, ui: &mut Ui) -> Result<Exit, Error> {
    let version = About {
        api_version: OWN_API_VERSION,
        kind: "Version",
        version: env!("CARGO_PKG_VERSION"),
    };
    let text = match args.output {
        Format::Text => format!("kubectl-fleet-stage {}\n", version.version),
        Format::Json => render::json(&version).map_err(|error| Error::failed(error.to_string()))?,
        Format::Yaml => render::yaml(&version).map_err(Error::failed)?,
    };
    ui.answer(&text);
    Ok(Exit::Done)
}
