//! `plan --diff`: what of the content changes for the clusters.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::open::around::Around;
use crate::commands::open::planning::Wish;
use crate::commands::show::snapshots::ChangeItem;
use crate::commands::show::snapshots::diff::{item, summary, unified};
use crate::commands::show::snapshots::show::texts;
use crate::contents::{self, Change, Secrets};
use crate::plan::Plan;
use crate::render::escape;
use crate::render::style::Paint;
use crate::render::wrap::list;
use crate::rollout::versions::versions;
use crate::ui::Ui;

/// Clusters that are named.
const NAMED: usize = 6;

/// What changes for the clusters that have one version now.
pub(super) struct Changes {
    from: String,
    to: String,
    clusters: Vec<String>,
    resources: Vec<Change>,
}

/// What changes for the clusters that have one version now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionDiff {
    /// The index of the version that the clusters have.
    from: String,
    /// The index of the version that they would get.
    to: String,
    /// The clusters.
    clusters: Vec<String>,
    /// The resources that differ, by kind, namespace and name.
    changes: Vec<ChangeItem>,
}

impl VersionDiff {
    pub(super) fn new(changes: &Changes) -> Self {
        Self {
            from: changes.from.clone(),
            to: changes.to.clone(),
            clusters: changes.clusters.clone(),
            changes: changes.resources.iter().map(item).collect(),
        }
    }
}

impl Changes {
    /// What changes, as `diff -u` prints it below one line.
    pub(super) fn text(&self, paint: Paint) -> String {
        let names = (self.from.as_str(), self.to.as_str());
        let [from, to] = [names.0, names.1].map(|index| format!("snapshot {index}"));
        let head = format!(
            "{} ({})",
            summary(&self.resources, names, true),
            list(&self.clusters, NAMED)
        );
        format!(
            "{}\n{}",
            paint.bold(&escape::line(&head)),
            unified(&self.resources, (&from, &to), paint)
        )
    }
}

/// Compares every version that clusters have with the one that they would get.
pub(super) fn changes(plan: &Plan, around: &Around, show_secrets: bool) -> Vec<Changes> {
    let mut held: BTreeMap<(u64, &str), Vec<String>> = BTreeMap::new();
    let mut then = None;
    for cluster in plan.stages.iter().flat_map(|stage| &stage.clusters) {
        let (Some(now), Some(next)) = (&cluster.snapshot_now, &cluster.snapshot_then) else {
            continue;
        };
        then = Some(next);
        if now != next {
            let key = (now.parse().unwrap_or(u64::MAX), now.as_str());
            held.entry(key).or_default().push(cluster.name.clone());
        }
    }
    let all = versions(&around.inventory);
    let find = |index: &str| {
        all.iter()
            .find(|version| version.index == index && version.exists())
    };
    let secrets = if show_secrets {
        Secrets::Shown
    } else {
        Secrets::Masked
    };
    held.into_iter()
        .filter_map(|((_, from), clusters)| {
            let to = then?;
            let (before, after) = (find(from)?, find(to)?);
            Some(Changes {
                from: from.to_owned(),
                to: to.clone(),
                clusters,
                resources: contents::compare(
                    contents::manifests(texts(before, around)),
                    contents::manifests(texts(after, around)),
                    secrets,
                ),
            })
        })
        .collect()
}

/// Says why there is nothing to see, and that secrets are masked.
pub(super) fn note(changes: Option<&[Changes]>, wish: &Wish, ui: &mut Ui) {
    let Some(changes) = changes else {
        return;
    };
    if changes.is_empty() {
        let also = if wish.snapshot.is_none() {
            ", according to its snapshots"
        } else {
            ""
        };
        ui.status(&format!("no cluster's content changes{also}"));
    }
    if changes
        .iter()
        .flat_map(|change| &change.resources)
        .any(|change| change.secrets.is_some())
    {
        ui.status("secret values are masked; to show them, use --show-secrets");
    }
}
