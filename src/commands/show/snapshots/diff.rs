//! `snapshots diff`: what differs between two versions.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{SnapshotsArgs, find, object_names, open, placement_objects, warn};
use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::reading::InputArgs;
use crate::commands::gather::session::Session;
use crate::commands::output::{Format, Output, document};
use crate::contents::{
    self, ChangeKind, ContentChange, Manifest, ManifestKey, SecretChange, SecretDisplay,
};
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::ObjectRef;
use crate::render::escape;
use crate::render::style::TextPaint;
use crate::render::table::{Column, Table};
use crate::report::{NotChecked, Subject, TypeMeta};
use crate::rollout::versions::{Version, versions};
use crate::ui::Ui;
use crate::words::enumerate;

/// Compare two versions, resource by resource
///
/// Prints a unified diff of the manifests as YAML; -o table lists the resources that differ. Values
/// of Secrets and of anything that looks like a credential are masked unless --show-secrets is set.
/// A masked value that differs is marked as changed.
#[derive(Debug, Args)]
#[command(mut_arg("output", |arg| arg.help("Output format [default: unified diff]")))]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage snapshots diff example-placement\n  \
    kubectl fleet-stage snapshots diff example-placement 1 2\n  \
    kubectl fleet-stage snapshots diff rp/web-app 1 2 -n my-app-namespace -o table\n  \
    kubectl fleet-stage snapshots diff example-placement 1 2 --exit-code > /dev/null")]
pub(super) struct DiffArgs {
    /// Placement or a run on it: NAME, crp/NAME, csur/NAME, or with -n rp/NAME, sur/NAME
    #[arg(required = true, add = ArgumentKind::Targets, add = ChosenAtTerminal)]
    placement: Option<String>,
    /// First snapshot: its index, or latest [default: the one before the second]
    #[arg(value_name = "FROM", add = ArgumentKind::Snapshots)]
    from: Option<String>,
    /// Second snapshot: its index, or latest
    #[arg(value_name = "TO", default_value = "latest")]
    #[arg(add = ArgumentKind::Snapshots)]
    to: String,
    /// Show Secret values unmasked
    #[arg(long)]
    show_secrets: bool,
    /// Exit with 3 if the versions differ, and with 7 if that is unknown
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: Output,
}

/// What differs between two versions of a placement's content.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotDiff {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The placement.
    placement: Subject,
    /// The index of the first version.
    from: String,
    /// The index of the second version.
    to: String,
    /// The resources that differ, by kind, namespace and name.
    changes: Vec<ContentChange>,
    /// Resources with values that were masked before they could be compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<NotChecked>,
}

/// The version that existed before another.
fn before<'v, 'i>(
    versions: &'v [Version<'i>],
    version: &Version<'i>,
    placement: &ObjectRef,
) -> Result<&'v Version<'i>, Error> {
    let earlier = versions.iter().take_while(|it| it.index != version.index);
    let existing = earlier.filter(|it| it.exists()).last();
    existing.ok_or_else(|| {
        let index = &version.index;
        Error::not_found(format!("{placement} has no snapshot before {index}"))
    })
}

pub(super) fn run(
    outer: &SnapshotsArgs,
    args: &DiffArgs,
    session: &mut Session<'_>,
) -> Result<Exit, Error> {
    let input = args.input.or(&outer.input);
    let output = args.output.or(&outer.output);
    let (mut reading, target) = open(args.placement.as_deref(), &input, "snapshots diff", session)?;
    let around = placement_objects::read_with_texts(&mut reading, &target, &[])?;
    let versions = versions(&around.inventory);
    let to = find(&versions, &args.to, &target)?;
    let from = match &args.from {
        Some(from) => find(&versions, from, &target)?,
        None => before(&versions, to, &target)?,
    };
    warn(from, &target, session.ui);
    warn(to, &target, session.ui);
    let secrets = SecretDisplay::of_flag(args.show_secrets);
    let old = contents::manifests(around.texts_of(from));
    let new = contents::manifests(around.texts_of(to));
    let hidden = hidden(old.iter().chain(&new));
    if !hidden.is_empty() {
        warn_of_masked(&hidden, session.ui);
    }
    let changes = contents::compare(old, new, secrets);
    let names = (from.index.as_str(), to.index.as_str());
    let text = match output.asked() {
        None => {
            let [from, to] = [names.0, names.1].map(|index| format!("snapshot {index}"));
            unified(&changes, (&from, &to), session.ui.paint())
        }
        Some(Format::Table | Format::Wide) => output.draw(&table(&changes), session.ui),
        Some(Format::Name) => object_names(changes.iter().map(|it| &it.identity)),
        Some(format) => document(
            &SnapshotDiff {
                meta: TypeMeta::new("SnapshotDiff"),
                placement: Subject::from(&target),
                from: from.index.clone(),
                to: to.index.clone(),
                changes: changes.clone(),
                not_checked: hidden.iter().map(NotChecked::masked).collect(),
            },
            format == Format::Yaml,
        )?,
    };
    session.ui.answer(&text);
    session
        .ui
        .status(&summary(&changes, names, hidden.is_empty()));
    let masked = changes.iter().filter(|change| change.secrets.is_some());
    let masked: Vec<_> = masked.collect();
    if !masked.is_empty() {
        let same = |change: &&&ContentChange| change.secrets == Some(SecretChange::Same);
        let verb = if masked.iter().all(|change| same(&change)) {
            "do not differ"
        } else {
            "differ where marked"
        };
        session.ui.status(&format!(
            "secret values are masked and {verb}; to show them, use --show-secrets"
        ));
    }
    Ok(
        match (args.exit_code, changes.is_empty(), hidden.is_empty()) {
            (true, false, _) => Exit::Failed,
            (true, true, false) => Exit::Incomplete,
            _ => Exit::Done,
        },
    )
}

/// Says that some values cannot be compared.
pub(in crate::commands) fn warn_of_masked(hidden: &BTreeSet<ManifestKey>, ui: &mut Ui) {
    let names = enumerate(hidden.iter().map(ManifestKey::describe));
    ui.warning(&format!(
        "values of {names} were masked when they were collected: whether they differ is unknown"
    ));
}

/// The resources with values that were masked before they came here, each once.
pub(in crate::commands) fn hidden<'m>(
    manifests: impl Iterator<Item = &'m Manifest>,
) -> BTreeSet<ManifestKey> {
    manifests
        .filter(|manifest| manifest.was_masked())
        .map(|manifest| manifest.identity.clone())
        .collect()
}

/// How many resources differ how.
pub fn summary(changes: &[ContentChange], (from, to): (&str, &str), certain: bool) -> String {
    if changes.is_empty() {
        let far = if certain { "" } else { ", as far as is known" };
        return format!("snapshots {from} and {to} have the same content{far}");
    }
    let parts: Vec<_> = [ChangeKind::Changed, ChangeKind::Added, ChangeKind::Removed]
        .into_iter()
        .map(|kind| {
            let number = changes.iter().filter(|change| change.kind == kind).count();
            (number, kind)
        })
        .filter(|(number, _)| *number > 0)
        .map(|(number, kind)| format!("{number} {}", kind.as_str()))
        .collect();
    format!("snapshot {from} -> {to}: {}", parts.join(", "))
}

/// The differences as `diff -u` prints them.
pub fn unified<'c>(
    changes: impl IntoIterator<Item = &'c ContentChange>,
    (from, to): (&str, &str),
    paint: TextPaint,
) -> String {
    let mut out = String::new();
    for change in changes {
        let name = escape::line(&change.identity.describe());
        let side = |version: &str, absent: bool| {
            if absent {
                "/dev/null".to_owned()
            } else {
                format!("{}: {name}", escape::line(version))
            }
        };
        let before = format!("--- {}", side(from, change.kind == ChangeKind::Added));
        let after = format!("+++ {}", side(to, change.kind == ChangeKind::Removed));
        let _ = writeln!(out, "{}\n{}", paint.bold(&before), paint.bold(&after));
        for line in change.diff.lines() {
            let line = escape::lines(line);
            let line = match line.chars().next() {
                Some('+') => paint.good(&line),
                Some('-') => paint.bad(&line),
                Some('@') => paint.command(&line),
                _ => line,
            };
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

fn table(changes: &[ContentChange]) -> Table {
    let lines = |change: &ContentChange, sign: char| {
        let lines = change.diff.lines();
        lines.filter(|line| line.starts_with(sign)).count()
    };
    Table::of(changes)
        .column(Column::new("CHANGE"), |it| it.kind.as_str())
        .column(Column::shrinking("KIND", 10), |it| &it.identity.kind)
        .column(Column::shrinking("NAMESPACE", 9), |it| {
            &it.identity.namespace
        })
        .column(Column::shrinking("NAME", 12), |it| &it.identity.name)
        .column(Column::new("LINES"), |it| {
            format!("+{} -{}", lines(it, '+'), lines(it, '-'))
        })
        .column(Column::new("SECRETS"), |it| {
            it.secrets.map(|secrets| match secrets {
                SecretChange::Same => "same",
                SecretChange::Differ => "differ",
            })
        })
        .table()
}
