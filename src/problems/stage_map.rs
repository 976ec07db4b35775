//! Which cluster lands in which stage of a strategy, and how that is shown.

use std::ops::Deref;

use super::prelude::*;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::strategy::{Stage, StrategySpec};
use crate::rollout::near::near_miss;
use crate::rollout::placing::StagePlacing;

/// The clusters of a placement in the stages of a strategy.
#[derive(Debug)]
pub struct StageMap<'i> {
    placing: StagePlacing<'i>,
    inventory: &'i Inventory,
    pub strategy_object: ObjectRef,
    /// Where the stages stand.
    source: (ObjectRef, &'static str),
}

impl<'i> Deref for StageMap<'i> {
    type Target = StagePlacing<'i>;

    fn deref(&self) -> &Self::Target {
        &self.placing
    }
}

impl<'i> StageMap<'i> {
    /// With the stages that the run recorded, else those of the strategy as it is now.
    pub fn recorded(inventory: &'i Inventory) -> Option<Self> {
        let run = inventory.run.present()?;
        let Some(recorded) = run.status.strategy.as_deref() else {
            return Self::now(inventory);
        };
        let strategy = inventory
            .scope
            .object(Concept::Strategy, &run.spec.strategy);
        Some(Self {
            source: (run.object(), "status.stagedUpdateStrategySnapshot"),
            ..Self::of(inventory, strategy, recorded)
        })
    }

    /// With the strategy as it is now.
    pub fn now(inventory: &'i Inventory) -> Option<Self> {
        let strategy = inventory.strategy.present()?;
        let object = inventory
            .scope
            .object(Concept::Strategy, &strategy.meta.name);
        Some(Self::of(inventory, object, &strategy.spec))
    }

    /// With the stages that stand in a strategy.
    pub fn of(inventory: &'i Inventory, strategy: ObjectRef, spec: &'i StrategySpec) -> Self {
        Self {
            placing: StagePlacing::new(inventory, spec),
            inventory,
            source: (strategy.clone(), "spec"),
            strategy_object: strategy,
        }
    }

    /// Adds what decides: the labels of clusters and the selectors of stages.
    pub fn evidence<'s, B: ComposeText>(
        &self,
        mut build: B,
        clusters: impl IntoIterator<Item = &'s str>,
        stages: impl IntoIterator<Item = &'s Stage>,
    ) -> B {
        const SHOWN: usize = 6;
        let members = clusters
            .into_iter()
            .filter_map(|name| self.inventory.member(name));
        for member in members.take(SHOWN) {
            build = build.evidence(member.object(), "metadata.labels", &member.meta.labels);
        }
        let (object, base) = &self.source;
        for stage in stages.into_iter().take(SHOWN) {
            let path = format!("{base}.stages[name={}].labelSelector", stage.name);
            build = build.evidence(object, path, stage.selector.as_deref());
        }
        build
    }

    /// The one label that puts a cluster into a stage: the one that it nearly has, or that of the only
    /// stage. `None` where there are several, or where it takes more than one label.
    pub fn only_label(&self, cluster: &str) -> Option<String> {
        let member = self.inventory.member(cluster);
        let stages = self.strategy.stages.iter();
        let selectors: Vec<_> = stages.filter_map(|it| it.selector.as_deref()).collect();
        let near = |labels: &&LabelSelector| Some(near_miss(labels, &member?.meta.labels)?.wanted);
        let near: Vec<_> = selectors.iter().filter_map(near).collect();
        let wanted = match (near.as_slice(), selectors.as_slice()) {
            ([near], _) => near.clone(),
            ([], [only]) => only.describe(),
            _ => return None,
        };
        let is_one = wanted.matches('=').count() == 1 && !wanted.contains([' ', ',', '!', '(']);
        is_one.then_some(wanted)
    }

    /// What nearly puts the clusters that are in no stage into one, in the end of a sentence.
    pub fn near_misses(&self) -> String {
        let stages: Vec<_> = self.strategy.stages.iter().collect();
        near_misses(self.nowhere().filter_map(|placed| placed.member), &stages)
    }
}

/// How many near misses a sentence tells.
const NEAR: usize = 2;

/// What nearly puts clusters into stages, in the end of a sentence: `; member3 has
/// environment=stagging, and stage staging selects environment=staging`.
pub fn near_misses<'s>(
    members: impl IntoIterator<Item = &'s MemberCluster>,
    stages: &[&Stage],
) -> String {
    let mut said = String::new();
    let mut found = 0;
    for member in members {
        let near = stages.iter().find_map(|stage| {
            let near = near_miss(stage.selector.as_deref()?, &member.meta.labels)?;
            Some((stage, near))
        });
        let Some((stage, near)) = near else { continue };
        found += 1;
        if found > NEAR {
            continue;
        }
        said = format!(
            "{said}; {} has {}, and stage {} selects {}",
            member.meta.name, near.has, stage.name, near.wanted
        );
    }
    if found > NEAR {
        said = format!("{said}; {} more are equally close", found - NEAR);
    }
    said
}

/// The selector of a stage in a sentence, as kubectl writes it.
pub fn selector_of(stage: &Stage) -> String {
    stage
        .selector
        .as_deref()
        .map_or_else(|| "no selector".to_owned(), LabelSelector::describe)
}
