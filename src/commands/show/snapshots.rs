//! `snapshots`: the versions of a placement's content.

pub(in crate::commands) mod diff;
pub(in crate::commands) mod show;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::placement_objects::{self, PlacementObjects};
use crate::commands::gather::reading::{InputArgs, SourceReading};
use crate::commands::gather::runs;
use crate::commands::gather::session::Session;
use crate::commands::output::{Output, age, name};
use crate::contents::{self, ManifestKey, SnapshotSize};
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::{Concept, ObjectRef};
use crate::render::table::{Column, Table};
use crate::report::{NotChecked, Subject, TypeMeta};
use crate::rollout::versions::{Version, versions};
use crate::ui::Ui;
use crate::words::{CommandLine, Hint};
pub use diff::SnapshotDiff;
pub use show::SnapshotView;

/// List, show, or compare the versions of a placement
///
/// A version is a resource snapshot, which may be split over several objects. For each version the
/// list shows its size, the runs that used it, and the number of clusters on it. It also shows how
/// many more snapshots can be created before the version is pruned (revisionHistoryLimit).
#[derive(Debug, Args)]
#[command(subcommand_negates_reqs = true)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage snapshots example-placement\n  \
    kubectl fleet-stage snapshots show example-placement latest\n  \
    kubectl fleet-stage snapshots show rp/web-app 3 -n my-app-namespace -o yaml\n  \
    kubectl fleet-stage snapshots diff example-placement 1 2")]
pub struct SnapshotsArgs {
    #[command(subcommand)]
    command: Option<SnapshotsAction>,
    /// Placement or a run on it: NAME, crp/NAME, csur/NAME, or with -n rp/NAME, sur/NAME
    /// [default: at a terminal, chosen from a list]
    #[arg(value_name = "PLACEMENT", required = true)]
    #[arg(add = ArgumentKind::Targets, add = ChosenAtTerminal)]
    placement: Option<String>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Subcommand)]
enum SnapshotsAction {
    Show(show::ShowSnapshotArgs),
    Diff(diff::DiffArgs),
}

/// The versions of a placement's content.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotList {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The placement.
    placement: Subject,
    /// How many versions the placement keeps; absent if it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision_history_limit: Option<i64>,
    /// The versions, oldest first, including deleted ones that runs or clusters still name.
    items: Vec<SnapshotItem>,
    /// Kinds that could not be listed in full, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<NotChecked>,
}

/// One version.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SnapshotItem {
    /// Its index.
    index: String,
    /// Whether it is the latest.
    latest: bool,
    /// Whether it exists; a deleted version can no longer be rolled out.
    exists: bool,
    /// Whether all its objects exist.
    complete: bool,
    /// What is wrong with it, if anything.
    flaw: Option<String>,
    /// When it was created.
    created: Option<Timestamp>,
    /// How much it holds.
    #[serde(flatten)]
    size: SnapshotSize,
    /// The objects that it consists of.
    parts: Vec<String>,
    /// How many objects it consists of, if the first one says so.
    expected_parts: Option<usize>,
    /// The runs that rolled it out or will, oldest first.
    runs: Vec<String>,
    /// The clusters that should have it now.
    clusters: Vec<String>,
    /// How many more new snapshots it surely survives; 0 if the next one may delete it.
    survives: Option<u64>,
}

pub fn run(args: &SnapshotsArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let word = args.placement.as_deref();
    match (&args.command, word) {
        (None, _) => list(args, word, session),
        (Some(_), Some(word)) => Err(Error::usage(format!(
            "{word:?} must come after the subcommand"
        ))
        .hint(
            Hint::new("for example:").command(
                CommandLine::fleet("snapshots show")
                    .arg("PLACEMENT")
                    .arg("3"),
            ),
        )),
        (Some(SnapshotsAction::Show(show)), None) => show::run(args, show, session),
        (Some(SnapshotsAction::Diff(diff)), None) => diff::run(args, diff, session),
    }
}

/// The concepts of which texts are kept.
pub(in crate::commands) const KEEP: &[Concept] = &[Concept::ResourceSnapshot];

fn open(
    word: Option<&str>,
    input: &InputArgs,
    command: &'static str,
    session: &mut Session<'_>,
) -> Result<(SourceReading, ObjectRef), Error> {
    let mut reading = session.open_keeping(KEEP, input, command)?;
    let target = reading.placement_or_chosen(word, session.ui)?;
    Ok((reading, target))
}

fn list(
    args: &SnapshotsArgs,
    word: Option<&str>,
    session: &mut Session<'_>,
) -> Result<Exit, Error> {
    let (mut reading, target) = open(word, &args.input, "snapshots", session)?;
    let useful = [Concept::UpdateRun, Concept::Binding];
    let around = placement_objects::read_with_texts(&mut reading, &target, &useful)?;
    runs::warn(&around.gaps, session.ui);
    let versions = versions(&around.inventory);
    for version in &versions {
        warn(version, &target, session.ui);
    }
    if versions.is_empty() {
        session.ui.status(&match &around.inventory.snapshots.gap {
            None => format!("{target} has no resource snapshots"),
            Some(gap) => format!("the resource snapshots of {target} are unknown: {gap}"),
        });
    }
    let first_parts = versions.iter().filter_map(|version| version.parts.first());
    let list = snapshot_list(&versions, &around, &target);
    args.output.print(
        session.ui,
        |output, ui| output.draw(&table(&list.items, &around, output.is_wide()), ui),
        first_parts.map(|part| part.object()),
        || &list,
    )?;
    Ok(Exit::Done)
}

fn warn(version: &Version<'_>, placement: &ObjectRef, ui: &mut Ui) {
    if let Some(flaw) = version.flaw() {
        ui.warning(&format!(
            "snapshot {} of {placement} is incomplete: {flaw}",
            version.index
        ));
    }
}

/// The version that a user means: an index, or `latest`.
pub(in crate::commands) fn find<'v, 'i>(
    versions: &'v [Version<'i>],
    word: &str,
    placement: &ObjectRef,
) -> Result<&'v Version<'i>, Error> {
    let meant = |version: &&Version<'_>| match word {
        "latest" => version.is_latest(),
        _ => version.index == word,
    };
    if let Some(version) = versions
        .iter()
        .find(|version| version.exists() && meant(version))
    {
        return Ok(version);
    }
    let error = Error::not_found(match word {
        "latest" => format!("no snapshot of {placement} is marked as the latest"),
        _ if versions.iter().any(|version| meant(&version)) => {
            format!("snapshot {word} of {placement} no longer exists")
        }
        _ => format!("{placement} has no snapshot {word:?}"),
    });
    let there: Vec<_> = versions
        .iter()
        .filter(|version| version.exists())
        .map(|version| version.index.as_str())
        .collect();
    Err(match there.as_slice() {
        [] => error.hint("it has no snapshots"),
        [one] => error.hint(format!("existing index: {one}")),
        several => error.hint(format!("existing indexes: {}", several.join(", "))),
    })
}

fn clusters(version: &Version<'_>) -> Vec<String> {
    let mut clusters: Vec<_> = version
        .bindings
        .iter()
        .filter(|binding| !binding.only_compares())
        .map(|binding| binding.spec.cluster.clone())
        .collect();
    clusters.dedup();
    clusters
}

/// The objects of manifests as kubectl names them, one a line.
fn object_names<'m>(objects: impl Iterator<Item = &'m ManifestKey>) -> String {
    let names = objects.map(|it| name(&it.kind, &it.group, &it.name) + "\n");
    names.collect()
}

fn snapshot_list(
    versions: &[Version<'_>],
    around: &PlacementObjects,
    placement: &ObjectRef,
) -> SnapshotList {
    SnapshotList {
        meta: TypeMeta::new("SnapshotList"),
        placement: Subject::from(placement),
        revision_history_limit: around
            .inventory
            .placement
            .present()
            .map(Placement::history_limit),
        items: versions
            .iter()
            .map(|version| SnapshotItem {
                index: version.index.clone(),
                latest: version.is_latest(),
                exists: version.exists(),
                complete: version.is_complete(),
                flaw: version.flaw(),
                created: version.created(),
                size: SnapshotSize::total(around.texts_of(version).map(contents::size)),
                parts: version
                    .parts
                    .iter()
                    .map(|it| it.meta.name.clone())
                    .collect(),
                expected_parts: version.expected,
                runs: version.runs.iter().map(|it| it.meta.name.clone()).collect(),
                clusters: clusters(version),
                survives: version.survives,
            })
            .collect(),
        not_checked: around.gaps.clone(),
    }
}

fn table(items: &[SnapshotItem], around: &PlacementObjects, wide: bool) -> Table {
    let there = |it: &SnapshotItem, text: String| it.exists.then_some(text);
    let knows_clusters = around.inventory.bindings.is_complete();
    Table::of(items)
        .column(Column::new("SNAPSHOT"), |it| {
            let index = &it.index;
            match (it.exists, it.complete, it.latest) {
                (false, ..) => format!("{index} (gone)"),
                (_, false, _) => format!("{index} (incomplete)"),
                (_, _, true) => format!("{index} (latest)"),
                _ => index.clone(),
            }
        })
        .column(Column::new("AGE"), |it| {
            age(it.created, around.inventory.now)
        })
        .column(Column::number("SIZE"), |it| there(it, bytes(it.size.bytes)))
        .column(Column::number("RESOURCES"), |it| {
            there(it, it.size.resources.to_string())
        })
        .column(Column::number("CLUSTERS"), |it| {
            knows_clusters.then(|| it.clusters.len().to_string())
        })
        .column(Column::new("KEPT FOR"), |it| {
            it.survives.map(|more| format!("{more} or more"))
        })
        .column(Column::wrapping("RUNS", 10), |it| it.runs.join(", "))
        .column_if(wide, Column::new("ON"), |it| it.clusters.join(", "))
        .column_if(wide, Column::new("OBJECTS"), |it| it.parts.join(", "))
        .table()
}

/// A number of bytes for people: `340B`, `12.5KiB`.
fn bytes(bytes: usize) -> String {
    const UNITS: [&str; 3] = ["KiB", "MiB", "GiB"];
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    // In tenths, rounded.
    let mut tenths = (bytes * 10 + 512) / 1024;
    let mut units = UNITS.iter();
    let mut unit = units.next().copied().unwrap_or_default();
    while tenths >= 10_240 {
        let Some(next) = units.next() else { break };
        tenths = (tenths + 512) / 1024;
        unit = next;
    }
    if tenths.is_multiple_of(10) || tenths >= 1000 {
        format!("{}{unit}", tenths / 10)
    } else {
        format!("{}.{}{unit}", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_short() {
        for (size, text) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1KiB"),
            (1536, "1.5KiB"),
            (150_000, "146KiB"),
            (1_048_576, "1MiB"),
            (5_400_000_000, "5GiB"),
        ] {
            assert_eq!(bytes(size), text);
        }
    }
}
