//! Which cluster lands in which stage, computed as the controller does, from what is there now.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{Inventory, Listing};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::strategy::{Stage, StrategySpec};

/// The clusters of a placement and the stages that select them.
/// Source: updaterun/initialization.go:computeRunStageStatus.
#[derive(Debug)]
pub struct StagePlacing<'i> {
    /// The stages.
    pub strategy: &'i StrategySpec,
    /// The clusters, sorted by name.
    pub clusters: Vec<ClusterStages<'i>>,
    /// Whether bindings and member clusters are all known.
    pub complete: bool,
}

#[derive(Debug)]
pub struct ClusterStages<'i> {
    pub name: &'i str,
    /// The MemberCluster, when it was seen.
    pub member: Option<&'i MemberCluster>,
    pub stages: Vec<&'i Stage>,
    /// Whether there may be more of them: a selector or the labels cannot be read.
    pub is_unclear: bool,
}

impl<'i> StagePlacing<'i> {
    /// Puts the clusters of the inventory's placement into the stages of a strategy.
    pub fn new(inventory: &'i Inventory, strategy: &'i StrategySpec) -> Self {
        let selected = selected_clusters(inventory).into_iter();
        let member = |name: &str| inventory.member(name);
        let mut placing = Self::place(selected, member, &inventory.members, strategy);
        placing.complete &= inventory.bindings.is_complete();
        placing
    }

    /// Puts clusters into the stages of a strategy.
    pub fn of(
        clusters: &'i BTreeSet<String>,
        members: &'i Listing<MemberCluster>,
        strategy: &'i StrategySpec,
    ) -> Self {
        let known = members.iter();
        let known: BTreeMap<_, _> = known.map(|it| (it.meta.name.as_str(), it)).collect();
        let clusters = clusters.iter().map(String::as_str);
        Self::place(clusters, |name| known.get(name).copied(), members, strategy)
    }

    fn place(
        clusters: impl Iterator<Item = &'i str>,
        member: impl Fn(&str) -> Option<&'i MemberCluster>,
        members: &Listing<MemberCluster>,
        strategy: &'i StrategySpec,
    ) -> Self {
        let complete = members.is_complete();
        let place = |name| {
            let member = member(name);
            let mut placed = ClusterStages {
                name,
                member,
                stages: Vec::new(),
                is_unclear: member.is_none() && !complete,
            };
            for stage in &strategy.stages {
                match member.map(|member| takes(stage, member)) {
                    Some(Some(true)) => placed.stages.push(stage),
                    Some(None) => placed.is_unclear = true,
                    Some(Some(false)) | None => {}
                }
            }
            placed
        };
        Self {
            strategy,
            clusters: clusters.map(place).collect(),
            complete,
        }
    }

    pub fn cluster(&self, name: &str) -> Option<&ClusterStages<'i>> {
        self.clusters.iter().find(|placed| placed.name == name)
    }

    /// Whether every cluster is in exactly one stage, as far as can be told with certainty.
    pub fn is_sound(&self) -> bool {
        let is_sound = |placed: &ClusterStages<'_>| !placed.is_unclear && placed.stages.len() == 1;
        self.complete && !self.clusters.is_empty() && self.clusters.iter().all(is_sound)
    }

    pub fn nowhere(&self) -> impl Iterator<Item = &ClusterStages<'i>> {
        let clusters = self.clusters.iter();
        clusters.filter(|placed| placed.stages.is_empty() && !placed.is_unclear)
    }

    /// Clusters that several stages select, with those stages.
    pub fn twice(&self) -> impl Iterator<Item = (&ClusterStages<'i>, &[&'i Stage])> {
        let twice = self.clusters.iter().filter(|it| it.stages.len() > 1);
        twice.map(|placed| (placed, placed.stages.as_slice()))
    }

    /// Clusters of which it is unknown what selects them.
    pub fn unclear(&self) -> impl Iterator<Item = &ClusterStages<'i>> {
        let clusters = self.clusters.iter();
        clusters.filter(|placed| placed.stages.is_empty() && placed.is_unclear)
    }

    /// The clusters that a stage selects. Two stages may have one name.
    pub fn of_stage(&self, stage: &Stage) -> impl Iterator<Item = &ClusterStages<'i>> {
        let selects = move |placed: &&ClusterStages<'_>| {
            let mut stages = placed.stages.iter();
            stages.any(|other| std::ptr::eq(*other, stage))
        };
        self.clusters.iter().filter(selects)
    }

    /// The same in the order of their update: by the number in the sorting label, then by name.
    /// Those that cannot be sorted come last.
    pub fn in_order(&self, stage: &Stage) -> Vec<&ClusterStages<'i>> {
        let mut clusters: Vec<_> = self.of_stage(stage).collect();
        clusters.sort_by_key(|placed| {
            let number = placed
                .member
                .and_then(|member| sorting_number(member, &stage.sorting_label));
            (number.is_none(), number, placed.name)
        });
        clusters
    }
}

/// Whether a stage's selector matches a cluster's labels: never where there is no selector.
pub fn takes(stage: &Stage, member: &MemberCluster) -> Option<bool> {
    match stage.selector.as_deref() {
        Some(selector) if selector.problem().is_some() => None,
        Some(selector) => selector.matches(&member.meta.labels),
        None => Some(false),
    }
}

/// The stages whose selector matches a cluster's labels.
pub fn stages_of<'i>(strategy: &'i StrategySpec, member: &MemberCluster) -> Option<Vec<&'i Stage>> {
    let mut stages = Vec::new();
    for stage in &strategy.stages {
        if takes(stage, member)? {
            stages.push(stage);
        }
    }
    Some(stages)
}

/// The number by which a stage sorts a cluster: 0 where it goes by name, `None` where the label is
/// missing or no whole number. Rust reads them as Go does.
pub fn sorting_number(member: &MemberCluster, key: &str) -> Option<i64> {
    if key.is_empty() {
        return Some(0);
    }
    member.meta.label(key)?.parse().ok()
}

/// The clusters that the latest policy snapshot selected: their bindings say so. Where that
/// snapshot is not known for certain, all bindings count that are not being given up.
/// Source: updaterun/initialization.go:collectScheduledClusters.
pub fn selected_clusters(inventory: &Inventory) -> BTreeSet<&str> {
    selected_bindings(inventory)
        .map(|binding| binding.spec.cluster.as_str())
        .collect()
}

/// The bindings of those clusters.
pub fn selected_bindings(inventory: &Inventory) -> impl Iterator<Item = &Binding> {
    let policy = inventory
        .latest_policy()
        .map(|policy| policy.meta.name.as_str());
    inventory
        .bindings
        .iter()
        .filter(|binding| !binding.is_unscheduled())
        .filter(move |binding| policy.is_none_or(|policy| binding.spec.policy_snapshot == policy))
}
