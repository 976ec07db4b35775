//! What would bring a cluster in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::ClusterItem;
use crate::inventory::Inventory;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::kubefleet::strategy::{Stage, Strategy};
use crate::rollout::near::near_miss;
use crate::rollout::placing::stages_of;
use crate::ui::Ui;
use crate::words::{CommandLine, Hint};

/// A label that would change something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// What it would do: `be selected`, or `be in stage prod of rings`.
    purpose: String,
    /// The labels, as `KEY=VALUE`.
    labels: Vec<String>,
}

/// Labels that would select a cluster, or bring it into a stage.
pub(super) fn suggestions(
    inventory: &Inventory,
    strategies: &[Strategy],
    member: &MemberCluster,
    is_in: Option<bool>,
) -> Vec<Suggestion> {
    let mut found = Vec::new();
    let terms: Vec<_> = inventory
        .latest_policy()
        .into_iter()
        .flat_map(PolicySnapshot::required_labels)
        .collect();
    let matched = |term: &&LabelSelector| term.matches(&member.meta.labels) == Some(true);
    if is_in == Some(false)
        && !terms.iter().any(matched)
        && let Some(labels) = closest(terms, member)
    {
        found.push(Suggestion {
            purpose: "be selected".to_owned(),
            labels,
        });
    }
    for strategy in strategies {
        let stages = stages_of(&strategy.spec, member);
        if is_in != Some(true) || stages.is_none_or(|it| !it.is_empty()) {
            continue;
        }
        for stage in &strategy.spec.stages {
            let selector = stage.selector.as_deref();
            if let Some(labels) = selector.and_then(|it| missing(it, member)) {
                found.push(Suggestion {
                    purpose: purpose(stage, strategy),
                    labels,
                });
            }
        }
    }
    found
}

fn purpose(stage: &Stage, strategy: &Strategy) -> String {
    format!("be in stage {} of {}", stage.name, strategy.meta.name)
}

/// The labels of the term that needs the fewest; one that nearly matches goes first.
fn closest(terms: Vec<&LabelSelector>, member: &MemberCluster) -> Option<Vec<String>> {
    let mut found: Vec<_> = terms
        .into_iter()
        .filter_map(|term| {
            let far = near_miss(term, &member.meta.labels).is_none();
            Some((far, missing(term, member)?))
        })
        .collect();
    found.sort_by_key(|(far, labels)| (*far, labels.len()));
    found.into_iter().next().map(|(_, labels)| labels)
}

/// The labels that a cluster lacks for a selector; `None` where labels alone do not do it.
fn missing(selector: &LabelSelector, member: &MemberCluster) -> Option<Vec<String>> {
    let mut wanted: BTreeMap<&str, &str> = BTreeMap::new();
    for (key, value) in &selector.labels {
        wanted.insert(key, value);
    }
    for requirement in &selector.expressions {
        match requirement.operator.as_str() {
            "In" => {
                let has = member.meta.label(&requirement.key).unwrap_or_default();
                if !requirement.values.iter().any(|value| value == has) {
                    wanted.insert(&requirement.key, requirement.values.first()?);
                }
            }
            "Exists" if member.meta.label(&requirement.key).is_none() => {
                wanted.insert(&requirement.key, "true");
            }
            "Exists" => {}
            _ => return None,
        }
    }
    wanted.retain(|key, value| member.meta.label(key) != Some(value));
    let labels = wanted
        .into_iter()
        .map(|(key, value)| format!("{key}={value}"));
    Some(labels.collect())
}

/// Prints the commands that change labels, for the first clusters.
pub(super) fn suggest(items: &[ClusterItem], ui: &mut Ui) {
    const SHOWN: usize = 3;
    let mut alike: BTreeMap<&Suggestion, Vec<&str>> = BTreeMap::new();
    for item in items {
        for suggestion in item.suggestions.iter().filter(|it| !it.labels.is_empty()) {
            alike.entry(suggestion).or_default().push(&item.name);
        }
    }
    for (suggestion, clusters) in alike.into_iter().take(SHOWN) {
        let lead = format!(
            "for {} to {}, set labels:",
            crate::words::enumerate(&clusters),
            suggestion.purpose
        );
        let clusters = clusters.into_iter().take(SHOWN);
        let commands = clusters.map(|cluster| {
            CommandLine::kubectl("label")
                .arg("membercluster")
                .arg(cluster)
                .args(suggestion.labels.clone())
                .switch("--overwrite")
        });
        ui.hint(Hint::new(lead).commands(commands));
    }
}
