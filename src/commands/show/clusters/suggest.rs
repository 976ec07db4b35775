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
use crate::problems::scheduling::accepts;
use crate::rollout::near::near_miss;
use crate::rollout::placing::stages_of;
use crate::ui::Ui;
use crate::words::{CommandLine, Hint};

/// A label that would change something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LabelSuggestion {
    /// What it would do: `be selected`, `match the policy` where that picks only some of the clusters
    /// that match, or `be in stage prod of rings`.
    purpose: String,
    /// The labels, as `KEY=VALUE`.
    labels: Vec<String>,
}

impl LabelSuggestion {
    fn new(purpose: String, labels: &[(String, String)]) -> Self {
        let labels = labels.iter().map(|(key, value)| format!("{key}={value}"));
        Self {
            purpose,
            labels: labels.collect(),
        }
    }
}

/// Labels that would select a cluster, or bring it into a stage. They do nothing else to it here: a
/// cluster that is selected stays so, and is in no other stage.
pub(super) fn suggestions(
    inventory: &Inventory,
    strategies: &[Strategy],
    member: &MemberCluster,
    is_in: Option<bool>,
) -> Vec<LabelSuggestion> {
    let Some(policy) = inventory.latest_policy() else {
        return Vec::new();
    };
    if is_in == Some(false) {
        return selecting(policy, member).into_iter().collect();
    }
    let unstaged = strategies.iter().filter(|strategy| {
        let stages = stages_of(&strategy.spec, member);
        is_in == Some(true) && stages.is_some_and(|it| it.is_empty())
    });
    unstaged
        .flat_map(|strategy| {
            let stages = strategy.spec.stages.iter();
            stages.filter_map(|stage| staging(policy, strategy, stage, member))
        })
        .collect()
}

/// The labels by which the policy takes a cluster, where nothing else keeps it out.
fn selecting(policy: &PolicySnapshot, member: &MemberCluster) -> Option<LabelSuggestion> {
    let matched = |term: &LabelSelector| term.matches(&member.meta.labels) == Some(true);
    if policy.required_labels().any(matched) {
        return None;
    }
    let mut found: Vec<_> = policy
        .required_labels()
        .filter_map(|term| {
            let labels = missing(term, member)?;
            let far = near_miss(term, &member.meta.labels).is_none();
            accepts(policy, &with_labels(member, &labels)).then_some((far, labels))
        })
        .collect();
    // The term that needs the fewest; one that nearly matches goes first.
    found.sort_by_key(|(far, labels)| (*far, labels.len()));
    let (_, labels) = found.into_iter().next()?;
    let purpose = match policy.policy_type() {
        // How many are picked is another matter.
        "PickN" => "match the policy",
        _ => "be selected",
    };
    Some(LabelSuggestion::new(purpose.to_owned(), &labels))
}

/// The labels by which one stage takes a cluster.
fn staging(
    policy: &PolicySnapshot,
    strategy: &Strategy,
    stage: &Stage,
    member: &MemberCluster,
) -> Option<LabelSuggestion> {
    let labels = missing(stage.selector.as_deref()?, member)?;
    let then = with_labels(member, &labels);
    let stages = stages_of(&strategy.spec, &then)?;
    let alone = matches!(stages.as_slice(), [one] if one.name == stage.name);
    let purpose = format!("be in stage {} of {}", stage.name, strategy.meta.name);
    // It would not be taken from the placement for it.
    let stays = accepts(policy, &then) || !accepts(policy, member);
    (alone && stays).then(|| LabelSuggestion::new(purpose, &labels))
}

fn with_labels(member: &MemberCluster, labels: &[(String, String)]) -> MemberCluster {
    let mut member = member.clone();
    member.meta.labels.extend(labels.iter().cloned());
    member
}

/// The labels that a cluster lacks for a selector; `None` where labels alone do not do it.
fn missing(selector: &LabelSelector, member: &MemberCluster) -> Option<Vec<(String, String)>> {
    let mut wanted: BTreeMap<&str, &str> = BTreeMap::new();
    for (key, value) in &selector.labels {
        wanted.insert(key, value);
    }
    for requirement in &selector.expressions {
        let has = member.meta.label(&requirement.key);
        let is_wanted = wanted.contains_key(requirement.key.as_str());
        match requirement.operator.as_str() {
            "In" if !is_wanted && !requirement.values.iter().any(|it| Some(it.as_str()) == has) => {
                wanted.insert(&requirement.key, requirement.values.first()?);
            }
            "Exists" if !is_wanted && has.is_none() => {
                wanted.insert(&requirement.key, "true");
            }
            _ => {}
        }
    }
    wanted.retain(|key, value| member.meta.label(key) != Some(value));
    let labels = wanted.into_iter();
    let labels: Vec<_> = labels
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let is_met = selector.matches(&with_labels(member, &labels).meta.labels) == Some(true);
    is_met.then_some(labels)
}

/// Prints the commands that change labels, for the first clusters.
pub(super) fn suggest(items: &[ClusterItem], ui: &mut Ui) {
    const SHOWN: usize = 3;
    let mut alike: BTreeMap<&LabelSuggestion, Vec<&str>> = BTreeMap::new();
    for item in items {
        for suggestion in item.suggestions.iter().filter(|it| !it.labels.is_empty()) {
            alike.entry(suggestion).or_default().push(&item.name);
        }
    }
    for (suggestion, clusters) in alike.into_iter().take(SHOWN) {
        let lead = format!(
            "for {} to {}, set labels; whatever else selects clusters by them changes too, also runs \
             under way:",
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{selecting, staging};
    use crate::kubefleet::member::MemberCluster;
    use crate::kubefleet::object::Object;
    use crate::kubefleet::snapshot::PolicySnapshot;
    use crate::kubefleet::strategy::Strategy;

    fn policy(kind: &str, terms: &Value) -> Arc<PolicySnapshot> {
        Object::of_type(&json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterSchedulingPolicySnapshot",
            "metadata": {"name": "shop-0"},
            "spec": {"policy": {"placementType": kind, "affinity": {"clusterAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": terms}}}}},
        }))
    }

    fn member(labels: &Value, taint: Option<&str>) -> Arc<MemberCluster> {
        let taints: Vec<_> = taint
            .map(|key| json!({"key": key, "value": "a", "effect": "NoSchedule"}))
            .into_iter()
            .collect();
        Object::of_type(&json!({
            "apiVersion": "cluster.kubernetes-fleet.io/v1beta1",
            "kind": "MemberCluster",
            "metadata": {"name": "m", "labels": labels},
            "spec": {"taints": taints},
            "status": {"properties": {"node-count": {"value": "2"}}},
        }))
    }

    fn term(labels: &Value, nodes: Option<&str>) -> Value {
        let mut term = json!({"labelSelector": labels});
        if let Some(nodes) = nodes {
            let wanted = json!({"name": "node-count", "operator": "Ge", "values": [nodes]});
            term["propertySelector"] = json!({"matchExpressions": [wanted]});
        }
        term
    }

    #[test]
    fn labels_are_suggested_where_they_are_all_that_is_missing() {
        let prod = json!({"matchLabels": {"env": "prod"}});
        let eu = json!({"matchLabels": {"env": "prod", "region": "eu"}});
        let listed = json!({"matchExpressions": [
            {"key": "env", "operator": "In", "values": ["prod", "canary"]},
            {"key": "old", "operator": "DoesNotExist"},
        ]});
        let prod = |nodes| term(&prod, nodes);
        let (eu, listed) = (term(&eu, None), term(&listed, None));
        let dev = json!({"env": "dev"});
        let [old, done] = [json!({"env": "dev", "old": "1"}), json!({"env": "prod"})];
        let suggested = Some("be selected: env=prod");
        let matching = Some("match the policy: env=prod");
        for (kind, terms, labels, taint, expected) in [
            ("PickAll", vec![prod(None)], &dev, None, suggested),
            // How many are picked is another matter.
            ("PickN", vec![prod(None)], &dev, None, matching),
            // The taint or the property would keep it out all the same.
            ("PickAll", vec![prod(None)], &dev, Some("old"), None),
            ("PickAll", vec![prod(Some("3"))], &dev, None, None),
            ("PickAll", vec![prod(Some("2"))], &dev, None, suggested),
            // The term that needs the fewest.
            ("PickAll", vec![eu, prod(None)], &dev, None, suggested),
            ("PickAll", vec![listed.clone()], &dev, None, suggested),
            // A label that must not be there is not taken away.
            ("PickAll", vec![listed], &old, None, None),
            // Its labels do.
            ("PickAll", vec![prod(None)], &done, None, None),
        ] {
            let policy = policy(kind, &json!(terms));
            let found = selecting(&policy, &member(labels, taint));
            let found = found.map(|it| format!("{}: {}", it.purpose, it.labels.join(",")));
            let case = format!("{kind} {terms:?} {labels} {taint:?}");
            assert_eq!(found.as_deref(), expected, "{case}");
        }
    }

    #[test]
    fn a_stage_is_suggested_where_it_would_be_the_only_one() {
        let strategy = Object::of_type::<Strategy>(&json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterStagedUpdateStrategy",
            "metadata": {"name": "rings"},
            "spec": {"stages": [
                {"name": "canary", "labelSelector": {"matchLabels": {"ring": "1"}}},
                {"name": "prod", "labelSelector": {"matchLabels": {"env": "prod"}}},
                {"name": "rest", "labelSelector": {"matchExpressions": [
                    {"key": "env", "operator": "Exists"}]}},
            ]},
        }));
        let strategy: &Strategy = &strategy;
        let found = |policy: &PolicySnapshot, labels: &Value| {
            let member = member(labels, None);
            let stages = strategy.spec.stages.iter();
            let found = stages.filter_map(|stage| staging(policy, strategy, stage, &member));
            let found: Vec<_> = found
                .map(|it| format!("{} {:?}", it.purpose, it.labels))
                .collect();
            found.join("; ")
        };
        let any = policy("PickAll", &json!([]));
        // With env=prod it would be in the stages prod and rest.
        let both =
            r#"be in stage canary of rings ["ring=1"]; be in stage rest of rings ["env=true"]"#;
        assert_eq!(found(&any, &json!({"ring": "0"})), both);
        // With ring=1, the placement would lose it.
        let zero = term(&json!({"matchLabels": {"ring": "0"}}), None);
        let zero = policy("PickAll", &json!([zero]));
        let rest = r#"be in stage rest of rings ["env=true"]"#;
        assert_eq!(found(&zero, &json!({"ring": "0"})), rest);
    }
}
