//! `plan --diff`: what changes in the clusters, with their overrides.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::commands::gather::manifests::RenderMaterial;
use crate::commands::show::render::text::{counts_text, refused_text};
use crate::commands::show::render::{changes, note_masked};
use crate::commands::show::snapshots::diff::unified;
use crate::contents::{ContentChange, Manifest, SecretDisplay};
use crate::manifests::{
    ChangeCounts, ObjectDifference, PlacedOverrides, RenderedClusters, SnapshotContent,
};
use crate::plan::{ClusterChange, Plan, PlannedCluster, PlannedSnapshot};
use crate::render::escape;
use crate::render::style::TextPaint;
use crate::render::wrap::list;
use crate::rollout::versions::versions;
use crate::ui::Ui;
use crate::words::distinct;

const NAMED: usize = 6;

/// The changes for a group of clusters.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "VersionDiff")]
pub struct ClusterChanges {
    /// The index of the version that the clusters have.
    from: String,
    /// The index of the version that they would get.
    to: String,
    /// The clusters.
    clusters: Vec<String>,
    /// Whether the run brings it to them: where their bindings ask for it already, KubeFleet sends nothing.
    #[serde(rename = "sent")]
    is_sent: bool,
    /// How many objects change in each of them.
    counts: ChangeCounts,
    /// The resources that differ, by kind, namespace and name.
    #[serde(rename = "changes", serialize_with = "changes_alone")]
    #[schemars(with = "Vec<ContentChange>")]
    resources: Vec<ObjectDifference>,
}

/// The changes, without the fields that a member cluster refuses: the text warns of those.
fn changes_alone<S: Serializer>(all: &[ObjectDifference], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.iter().map(|it| &it.change))
}

impl ClusterChanges {
    /// What changes, as `diff -u` prints it below one line.
    pub fn text(&self, paint: TextPaint) -> String {
        let [from, to] = [&self.from, &self.to].map(|index| format!("snapshot {index}"));
        let head = format!(
            "{from} -> {}: {} ({})",
            self.to,
            counts_text(Some(self.counts)),
            list(&self.clusters, NAMED)
        );
        let mut out = paint.bold(&escape::line(&head)) + "\n";
        let unsent = (!self.is_sent).then(|| {
            format!(
                "the bindings of {} ask for this already, so the run sends nothing there; change the \
                 content or the override as well",
                list(&self.clusters, NAMED)
            )
        });
        let refused = self.resources.iter().filter_map(refused_text);
        for warning in unsent.into_iter().chain(refused) {
            out.push_str(&paint.warning("warning:"));
            out.push(' ');
            out.push_str(&escape::line(&warning));
            out.push('\n');
        }
        let changes = self.resources.iter().map(|it| &it.change);
        out + &unified(changes, (&from, &to), paint)
    }
}

/// What each cluster has in its Works, or would have with its snapshot and overrides where they are
/// not known, against what it would get.
pub fn changes(plan: &Plan, material: &RenderMaterial, show_secrets: bool) -> Vec<ClusterChanges> {
    let secrets = SecretDisplay::of_flag(show_secrets);
    let all = versions(material.inventory());
    let find = |index: &str| {
        all.iter()
            .find(|version| version.index == index && version.exists())
    };
    let clusters: Vec<_> = plan
        .stages
        .iter()
        .flat_map(|stage| &stage.clusters)
        .collect();
    let held: BTreeMap<&str, &str> = clusters
        .iter()
        .filter_map(|it| Some((it.name.as_str(), it.snapshot.as_deref()?)))
        .collect();
    let is_synced = |it: &&&PlannedCluster| it.change == ClusterChange::Unchanged && !it.rewritten;
    let synced = clusters.iter().filter(is_synced);
    let synced: BTreeSet<&str> = synced.map(|it| it.name.as_str()).collect();
    let then = clusters.iter().find_map(|it| it.new_snapshot.as_deref());
    let Some(to) = then.and_then(find) else {
        return Vec::new();
    };
    let names: Vec<_> = clusters
        .iter()
        .filter(|cluster| cluster.snapshot.is_some())
        .map(|cluster| cluster.name.clone())
        .collect();
    let content = material.content(to);
    let placed = material.place(&names, &content);
    let rendering = RenderedClusters::new(&content, &material.overrides, &placed);
    let contents: BTreeMap<&str, SnapshotContent> = distinct(held.values().copied())
        .into_iter()
        .filter_map(|index| Some((index, material.content(find(index)?))))
        .collect();
    let before = |name: &str| {
        let content = || contents.get(held.get(name)?);
        material
            .existing(name)
            .or_else(|| recorded(material, name, content()?))
    };
    let mut found = Vec::new();
    for group in changes::of(&rendering, &before, secrets) {
        let Some(counts) = group.counts.filter(|counts| !counts.is_none()) else {
            continue;
        };
        let names = group.clusters.iter();
        let names = names.map(|at| placed[*at].member.meta.name.clone());
        let (synced, written): (Vec<_>, Vec<_>) = names.partition(|name| synced.contains(&**name));
        for (names, is_sent) in [(written, true), (synced, false)] {
            let Some(first) = names.first() else { continue };
            let from = held.get(first.as_str());
            found.push(ClusterChanges {
                from: from.copied().unwrap_or_default().to_owned(),
                to: to.index.clone(),
                clusters: names,
                is_sent,
                counts,
                resources: group.differences.clone(),
            });
        }
    }
    found
}

/// What a cluster's Works hold if they are what its snapshot and its overrides give.
fn recorded(
    material: &RenderMaterial,
    name: &str,
    content: &SnapshotContent,
) -> Option<Vec<Manifest>> {
    let inventory = material.inventory();
    let placed = [PlacedOverrides::bound(
        inventory.member(name)?,
        inventory.binding(name)?,
        &material.overrides,
    )];
    let rendering = RenderedClusters::new(content, &material.overrides, &placed);
    Some(changes::manifests(&rendering, 0))
}

/// Says why there is nothing to see, and that secrets are masked.
pub(super) fn note(changes: Option<&[ClusterChanges]>, content: &PlannedSnapshot, ui: &mut Ui) {
    let Some(changes) = changes else {
        return;
    };
    if changes.is_empty() {
        ui.status(match content.requested_snapshot {
            None if content.is_next() => {
                "the snapshot does not exist yet, so its changes cannot be shown"
            }
            None => "no cluster's content changes, according to its snapshots",
            Some(_) => "no cluster's content changes",
        });
    }
    note_masked(changes.iter().flat_map(|it| &it.resources), ui);
}
