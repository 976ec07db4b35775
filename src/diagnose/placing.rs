//! Which cluster lands in which stage, computed as the controller does, from what is there now.

use std::collections::BTreeSet;

use super::case::Case;
use super::report::Finding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::strategy::{Stage, StrategySpec};
use crate::kubefleet::{Concept, ObjectRef};

/// The clusters of a placement and the stages that select them.
/// Source: updaterun/initialization.go:computeRunStageStatus.
#[derive(Debug)]
pub(super) struct Placing<'i> {
    /// The stages.
    pub strategy: &'i StrategySpec,
    /// The clusters, sorted by name.
    pub clusters: Vec<Placed<'i>>,
    /// Whether bindings and member clusters are all known.
    pub complete: bool,
    /// Where the stages stand.
    source: (ObjectRef, &'static str),
}

/// One cluster and the stages that select it.
#[derive(Debug)]
pub(super) struct Placed<'i> {
    /// The member cluster's name.
    pub name: &'i str,
    /// The MemberCluster, when it was seen.
    pub member: Option<&'i MemberCluster>,
    /// The stages in order; `None` when a selector or the labels cannot be read.
    pub stages: Option<Vec<&'i Stage>>,
}

impl<'i> Placing<'i> {
    /// With the stages that the run recorded, else those of the strategy as it is now.
    pub fn recorded(case: &Case<'i>) -> Option<Self> {
        let inventory = case.inventory;
        let run = inventory.run.present()?;
        match run.status.strategy.as_deref() {
            Some(recorded) => {
                let source = (run.object(), "status.stagedUpdateStrategySnapshot");
                Some(Self::new(case, recorded, source))
            }
            None => Self::now(case),
        }
    }

    /// With the strategy as it is now.
    pub fn now(case: &Case<'i>) -> Option<Self> {
        let strategy = case.inventory.strategy.present()?;
        let object = case.object(Concept::Strategy, &strategy.meta.name);
        Some(Self::new(case, &strategy.spec, (object, "spec")))
    }

    fn new(case: &Case<'i>, strategy: &'i StrategySpec, source: (ObjectRef, &'static str)) -> Self {
        let inventory = case.inventory;
        let clusters = selected_clusters(case)
            .into_iter()
            .map(|name| {
                let member = inventory.member(name);
                let stages = match member {
                    Some(member) => stages_of(strategy, member),
                    None => inventory.member_is_absent(name).then(Vec::new),
                };
                Placed {
                    name,
                    member,
                    stages,
                }
            })
            .collect();
        Self {
            strategy,
            clusters,
            complete: inventory.bindings.is_complete() && inventory.members.is_complete(),
            source,
        }
    }

    /// Adds what decides: the labels of clusters and the selectors of stages.
    pub fn evidence<'s>(
        &self,
        case: &Case<'_>,
        mut finding: Finding,
        clusters: impl IntoIterator<Item = &'s str>,
        stages: impl IntoIterator<Item = &'s Stage>,
    ) -> Finding {
        const SHOWN: usize = 6;
        let members = clusters
            .into_iter()
            .filter_map(|name| case.inventory.member(name));
        for member in members.take(SHOWN) {
            finding = finding.evidence(member.object(), "metadata.labels", labels_of(member));
        }
        for stage in stages.into_iter().take(SHOWN) {
            let path = format!(
                "{}.stages[name={}].labelSelector",
                self.source.1, stage.name
            );
            finding = finding.evidence(&self.source.0, path, selector_of(stage));
        }
        finding
    }

    /// The cluster of that name.
    pub fn cluster(&self, name: &str) -> Option<&Placed<'i>> {
        self.clusters.iter().find(|placed| placed.name == name)
    }

    /// Whether every cluster is in exactly one stage, as far as can be told with certainty.
    pub fn is_sound(&self) -> bool {
        self.complete
            && !self.clusters.is_empty()
            && self.clusters.iter().all(|placed| {
                placed
                    .stages
                    .as_ref()
                    .is_some_and(|stages| stages.len() == 1)
            })
    }

    /// Clusters that no stage selects.
    pub fn nowhere(&self) -> impl Iterator<Item = &Placed<'i>> {
        self.clusters
            .iter()
            .filter(|placed| placed.stages.as_ref().is_some_and(Vec::is_empty))
    }

    /// Clusters that several stages select, with those stages.
    pub fn twice(&self) -> impl Iterator<Item = (&Placed<'i>, &[&'i Stage])> {
        self.clusters.iter().filter_map(|placed| {
            let stages = placed.stages.as_deref()?;
            (stages.len() > 1).then_some((placed, stages))
        })
    }

    /// The clusters that a stage selects.
    pub fn of_stage(&self, name: &str) -> impl Iterator<Item = &Placed<'i>> {
        self.clusters.iter().filter(move |placed| {
            placed
                .stages
                .as_ref()
                .is_some_and(|stages| stages.iter().any(|stage| stage.name == name))
        })
    }
}

/// The clusters that the latest policy snapshot selected: their bindings say so. Where that
/// snapshot is not known for certain, all bindings count that are not being given up.
/// Source: updaterun/initialization.go:collectScheduledClusters.
pub(super) fn selected_clusters<'i>(case: &Case<'i>) -> BTreeSet<&'i str> {
    let inventory = case.inventory;
    let mut latest = inventory.latest_policies();
    let policy = match (latest.next(), latest.next()) {
        (Some(policy), None) => Some(policy.meta.name.as_str()),
        _ => None,
    };
    inventory
        .bindings
        .iter()
        .filter(|binding| !binding.is_unscheduled())
        .filter(|binding| policy.is_none_or(|policy| binding.spec.policy_snapshot == policy))
        .map(|binding| binding.spec.cluster.as_str())
        .collect()
}

/// The stages whose selector matches a cluster's labels: none where there is no selector.
fn stages_of<'i>(strategy: &'i StrategySpec, member: &MemberCluster) -> Option<Vec<&'i Stage>> {
    let mut stages = Vec::new();
    for stage in &strategy.stages {
        if let Some(selector) = stage.selector.as_deref()
            && selector.matches(&member.meta.labels)?
        {
            stages.push(stage);
        }
    }
    Some(stages)
}

/// The selector of a stage, as kubectl writes it.
pub(super) fn selector_of(stage: &Stage) -> String {
    stage
        .selector
        .as_deref()
        .map_or_else(|| "no selector".to_owned(), LabelSelector::describe)
}

/// All labels of a member cluster in one line: `environment=canary,order=1`.
fn labels_of(member: &MemberCluster) -> String {
    let labels: Vec<_> = member
        .meta
        .labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    if labels.is_empty() {
        "none".to_owned()
    } else {
        labels.join(",")
    }
}
