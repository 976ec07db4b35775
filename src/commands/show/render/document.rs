//! A rendering for programs.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::RenderDocument;
use super::changes::GroupChanges;
use super::source::ContentSource;
use crate::manifests::{ChangeCounts, IneffectiveOverride, ObjectDifference};
use crate::report::{NotChecked, Subject, TypeMeta};

/// Groups of clusters that get the same manifests, and what changes.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Rendering")]
pub struct RenderView {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The placement.
    placement: Subject,
    /// The run whose overrides are used; absent if those of a new run are used.
    run: Option<Subject>,
    /// The index of the snapshot; `live` for what the placement selects now.
    snapshot: String,
    /// Clusters that get the same manifests, apart from variables; the largest group first.
    groups: Vec<GroupItem>,
    /// Why clusters get nothing new.
    faults: Vec<FaultItem>,
    /// Parts of overrides that change nothing.
    idle: Vec<IdleItem>,
    /// What the placement selects and KubeFleet does not place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOutItem>,
    /// With --diff: what changes, in groups of clusters with the same changes.
    changes: Option<Vec<ChangesItem>>,
    /// What could not be read: clusters may get something else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<NotChecked>,
}

/// Clusters that get the same manifests.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GroupItem {
    /// The clusters.
    clusters: Vec<String>,
    /// Whether values depend on the cluster.
    varies: bool,
    /// How many manifests each cluster gets.
    manifests: usize,
    /// What overrides do, in the order in which they apply to each object.
    overrides: Vec<EffectItem>,
}

/// What one rule does to one object.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EffectItem {
    /// The object.
    object: Subject,
    /// The name of the override.
    #[serde(rename = "override")]
    over: String,
    /// The rule, from 1.
    rule: usize,
    /// `add`, `remove`, `replace`, or `delete` for the whole object.
    operation: String,
    /// The JSON pointer; absent if the object is deleted.
    path: Option<String>,
    /// The value as the override has it, with secrets masked.
    value: Option<Value>,
}

/// Why clusters get nothing new.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FaultItem {
    /// What is wrong.
    message: String,
    /// The clusters.
    clusters: Vec<String>,
}

/// A part of an override that changes nothing.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct IdleItem {
    /// The name of the override.
    #[serde(rename = "override")]
    over: String,
    /// Which part, and why.
    message: String,
}

/// An object that KubeFleet does not place.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LeftOutItem {
    /// The object.
    object: Subject,
    /// Why.
    message: String,
}

/// The changes for a group of clusters.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ChangesItem {
    /// The clusters.
    clusters: Vec<String>,
    /// How many objects change in each; absent if their Works are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<ChangeCounts>,
    /// What changes in the first of them.
    changes: Vec<ObjectDifference>,
}

impl RenderView {
    pub(super) fn new(rendered: &RenderDocument<'_>, changes: Option<&[GroupChanges]>) -> Self {
        let names = |clusters: &[usize]| {
            let names = clusters.iter().map(|at| rendered.name(*at).to_owned());
            names.collect()
        };
        let rendering = &rendered.rendering;
        let groups = rendering.groups.iter().map(|group| GroupItem {
            clusters: names(&group.clusters),
            varies: group.varies,
            manifests: rendering.manifests(group.clusters[0]).len(),
            overrides: rendering.effects(group).into_iter().map(effect).collect(),
        });
        let faults = rendering.faults.iter().map(|fault| FaultItem {
            message: fault.describe(),
            clusters: fault.clusters.clone(),
        });
        let idle = rendering.idle().into_iter().map(|(over, idle)| IdleItem {
            over: over.name().to_owned(),
            message: describe(&idle, rendered.source),
        });
        let left_out = rendered.source.left_out.iter().map(|one| LeftOutItem {
            object: Subject::from(&one.object),
            message: one.why.to_owned(),
        });
        let changes = changes.map(|changes| {
            let items = changes.iter().map(|group| ChangesItem {
                clusters: names(&group.clusters),
                counts: group.counts,
                changes: group.differences.clone(),
            });
            items.collect()
        });
        let run = rendered.material.run.as_ref();
        Self {
            meta: TypeMeta::new("Rendering"),
            placement: Subject::from(&rendered.material.placement),
            run: run.map(|run| Subject::from(run.object())),
            snapshot: rendered.source.index.clone(),
            groups: groups.collect(),
            faults: faults.collect(),
            idle: idle.collect(),
            left_out: left_out.collect(),
            changes,
            not_checked: rendered.not_checked.clone(),
        }
    }
}

fn effect(effect: crate::manifests::OverrideEffect) -> EffectItem {
    let (operation, path, value) = match effect.operation {
        None => ("delete".to_owned(), None, None),
        Some(operation) => (operation.verb, Some(operation.path), operation.value),
    };
    EffectItem {
        object: Subject::from(&effect.object),
        over: effect.over,
        rule: effect.rule,
        operation,
        path,
        value,
    }
}

/// Why a part of an override changes nothing in what is rendered.
pub(super) fn describe(idle: &IneffectiveOverride, source: &ContentSource) -> String {
    match idle {
        IneffectiveOverride::Selector(object) => format!("{} has no {object}", source.noun()),
        IneffectiveOverride::Envelope(object) => {
            format!("what {object} holds is overridden, not the envelope")
        }
        IneffectiveOverride::Rule(rule) => format!("rule {rule} selects none of the clusters"),
    }
}
