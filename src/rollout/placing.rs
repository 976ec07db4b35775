//! Which cluster lands in which stage, computed as the controller does, from what is there now.

use std::collections::BTreeSet;

use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::strategy::{Stage, StrategySpec};

/// The clusters of a placement and the stages that select them.
/// Source: updaterun/initialization.go:computeRunStageStatus.
#[derive(Debug)]
pub struct Placing<'i> {
    /// The stages.
    pub strategy: &'i StrategySpec,
    /// The clusters, sorted by name.
    pub clusters: Vec<Placed<'i>>,
    /// Whether bindings and member clusters are all known.
    pub complete: bool,
}

/// One cluster and the stages that select it.
#[derive(Debug)]
pub struct Placed<'i> {
    /// The member cluster's name.
    pub name: &'i str,
    /// The MemberCluster, when it was seen.
    pub member: Option<&'i MemberCluster>,
    /// The stages in order; `None` when a selector or the labels cannot be read.
    pub stages: Option<Vec<&'i Stage>>,
}

impl<'i> Placing<'i> {
    /// Puts the clusters of the inventory's placement into the stages of a strategy.
    pub fn new(inventory: &'i Inventory, strategy: &'i StrategySpec) -> Self {
        let clusters = selected_clusters(inventory)
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
        }
    }

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

    /// Clusters of which it is unknown what selects them.
    pub fn unclear(&self) -> impl Iterator<Item = &Placed<'i>> {
        self.clusters
            .iter()
            .filter(|placed| placed.stages.is_none())
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

    /// The same in the order of their update: by the number in the sorting label, then by name.
    /// Those that cannot be sorted come last.
    pub fn in_order(&self, stage: &Stage) -> Vec<&Placed<'i>> {
        // Two stages may have one name.
        let selects = |placed: &&Placed<'_>| {
            let mut stages = placed.stages.iter().flatten();
            stages.any(|other| std::ptr::eq(*other, stage))
        };
        let mut clusters: Vec<_> = self.clusters.iter().filter(selects).collect();
        clusters.sort_by_key(|placed| {
            let number = placed
                .member
                .and_then(|member| sorting_number(member, &stage.sorting_label));
            (number.is_none(), number, placed.name)
        });
        clusters
    }
}

/// The stages whose selector matches a cluster's labels: none where there is no selector.
pub fn stages_of<'i>(strategy: &'i StrategySpec, member: &MemberCluster) -> Option<Vec<&'i Stage>> {
    let mut stages = Vec::new();
    for stage in &strategy.stages {
        let Some(selector) = stage.selector.as_deref() else {
            continue;
        };
        if selector.problem().is_some() {
            return None;
        }
        if selector.matches(&member.meta.labels)? {
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
