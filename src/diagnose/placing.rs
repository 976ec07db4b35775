//! Which cluster lands in which stage of a run's strategy, and how findings show it.

use crate::report::{Build, Finding};
use std::ops::Deref;

use super::context::Context;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::strategy::Stage;
use crate::kubefleet::{Concept, ObjectRef};
use crate::rollout::near::near_miss;
use crate::rollout::placing;

/// The clusters of the run's placement in the stages of its strategy.
#[derive(Debug)]
pub(super) struct Placing<'i> {
    placing: placing::Placing<'i>,
    /// Where the stages stand.
    source: (ObjectRef, &'static str),
}

impl<'i> Deref for Placing<'i> {
    type Target = placing::Placing<'i>;

    fn deref(&self) -> &Self::Target {
        &self.placing
    }
}

impl<'i> Placing<'i> {
    /// With the stages that the run recorded, else those of the strategy as it is now.
    pub fn recorded(cx: &Context<'i>) -> Option<Self> {
        let run = cx.inventory.run.present()?;
        match run.status.strategy.as_deref() {
            Some(recorded) => Some(Self {
                placing: placing::Placing::new(cx.inventory, recorded),
                source: (run.object(), "status.stagedUpdateStrategySnapshot"),
            }),
            None => Self::now(cx),
        }
    }

    /// With the strategy as it is now.
    pub fn now(cx: &Context<'i>) -> Option<Self> {
        let strategy = cx.inventory.strategy.present()?;
        let object = cx.object(Concept::Strategy, &strategy.meta.name);
        Some(Self {
            placing: placing::Placing::new(cx.inventory, &strategy.spec),
            source: (object, "spec"),
        })
    }

    /// Adds what decides: the labels of clusters and the selectors of stages.
    pub fn evidence<'s>(
        &self,
        cx: &Context<'_>,
        mut finding: Finding,
        clusters: impl IntoIterator<Item = &'s str>,
        stages: impl IntoIterator<Item = &'s Stage>,
    ) -> Finding {
        const SHOWN: usize = 6;
        let members = clusters
            .into_iter()
            .filter_map(|name| cx.inventory.member(name));
        for member in members.take(SHOWN) {
            finding = finding.evidence(member.object(), "metadata.labels", &member.meta.labels);
        }
        for stage in stages.into_iter().take(SHOWN) {
            let path = format!(
                "{}.stages[name={}].labelSelector",
                self.source.1, stage.name
            );
            finding = finding.evidence(&self.source.0, path, stage.selector.as_deref());
        }
        finding
    }
}

/// How many near misses a sentence tells.
const NEAR: usize = 2;

/// What nearly puts clusters into stages, in the end of a sentence: `; member3 has
/// environment=stagging, and stage staging selects environment=staging`.
pub(super) fn near_misses<'s>(
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
