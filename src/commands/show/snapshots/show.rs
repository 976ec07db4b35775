//! `snapshots show`: the resources in one version.

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{SnapshotsArgs, bytes, find, object_names, open, placement_objects, warn};
use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::reading::InputArgs;
use crate::commands::gather::session::Session;
use crate::commands::output::{Format, Output, document};
use crate::contents::{self, Manifest, SecretDisplay};
use crate::error::Error;
use crate::exit::Exit;
use crate::render::table::{Column, Table};
use crate::report::{Subject, TypeMeta};
use crate::rollout::versions::versions;
use crate::words::count;

/// Show the resources in one version
///
/// -o yaml and -o json include the manifests. Values of Secrets and of anything that looks like a
/// credential are masked unless --show-secrets is set.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage snapshots show example-placement 3\n  \
    kubectl fleet-stage snapshots show example-placement latest -o yaml")]
pub(super) struct ShowSnapshotArgs {
    /// Placement or a run on it: NAME, crp/NAME, csur/NAME, or with -n rp/NAME, sur/NAME
    #[arg(required = true, add = ArgumentKind::Targets, add = ChosenAtTerminal)]
    placement: Option<String>,
    /// Snapshot: its index, or latest
    #[arg(value_name = "SNAPSHOT", default_value = "latest")]
    #[arg(add = ArgumentKind::Snapshots)]
    index: String,
    /// Show Secret values unmasked
    #[arg(long)]
    show_secrets: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: Output,
}

/// One version of a placement's content.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotView {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The placement.
    placement: Subject,
    /// The version's index.
    index: String,
    /// Whether it is the latest.
    latest: bool,
    /// Whether all its objects exist.
    complete: bool,
    /// When it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<Timestamp>,
    /// The resources in it, by kind, namespace and name.
    resources: Vec<ShownResource>,
}

/// One resource.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Resource")]
struct ShownResource {
    /// The length of its manifest as JSON, in bytes.
    bytes: usize,
    /// The paths where values were masked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    masked: Vec<String>,
    /// The manifest.
    manifest: Value,
}

pub(super) fn run(
    outer: &SnapshotsArgs,
    args: &ShowSnapshotArgs,
    session: &mut Session<'_>,
) -> Result<Exit, Error> {
    let input = args.input.or(&outer.input);
    let output = args.output.or(&outer.output);
    let (mut reading, target) = open(args.placement.as_deref(), &input, "snapshots show", session)?;
    let around = placement_objects::read_with_texts(&mut reading, &target, &[])?;
    let versions = versions(&around.inventory);
    let version = find(&versions, &args.index, &target)?;
    warn(version, &target, session.ui);
    let mut manifests = contents::manifests(around.texts_of(version));
    let text = match output.format() {
        Format::Table | Format::Wide => {
            output.draw(&table(&manifests, output.is_wide()), session.ui)
        }
        Format::Name => object_names(manifests.iter().map(|it| &it.identity)),
        format => {
            let secrets = SecretDisplay::of_flag(args.show_secrets);
            let mut masked = match secrets {
                SecretDisplay::Shown => std::collections::BTreeMap::new(),
                SecretDisplay::Masked => contents::mask(&mut manifests),
            };
            if !masked.is_empty() {
                let values = masked.values().map(Vec::len).sum();
                session.ui.status(&format!(
                    "{} masked; to show them, use --show-secrets",
                    count(values, "value")
                ));
            }
            let resources = manifests
                .into_iter()
                .enumerate()
                .map(|(at, manifest)| ShownResource {
                    bytes: manifest.bytes,
                    masked: masked.remove(&at).unwrap_or_default(),
                    manifest: manifest.value,
                })
                .collect();
            let view = SnapshotView {
                meta: TypeMeta::new("Snapshot"),
                placement: Subject::from(&target),
                index: version.index.clone(),
                latest: version.is_latest(),
                complete: version.is_complete(),
                created: version.created(),
                resources,
            };
            document(&view, format == Format::Yaml)?
        }
    };
    session.ui.answer(&text);
    Ok(Exit::Done)
}

fn table(manifests: &[Manifest], wide: bool) -> Table {
    Table::of(manifests)
        .column(Column::shrinking("KIND", 10), |it| &it.identity.kind)
        .column(Column::shrinking("NAMESPACE", 9), |it| {
            &it.identity.namespace
        })
        .column(Column::shrinking("NAME", 12), |it| &it.identity.name)
        .column(Column::number("SIZE"), |it| bytes(it.bytes))
        .column_if(wide, Column::new("API VERSION"), |it| &it.api_version)
        .table()
}
