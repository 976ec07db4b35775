//! A stage had no clusters and was skipped, with its gates.

use crate::diagnose::rules::prelude::*;
use crate::problems::near_misses;
use crate::problems::steps;
use crate::rollout::StageState;

/// A stage without clusters runs none of its tasks either: nobody is asked, nothing is waited for.
/// Up to KubeFleet 0.3.1 its tasks were run. Source: updaterun/execution.go:execute.
pub const RULE: Rule = Rule::info("FS611", "stage-skipped-empty", Search::Whole(check))
    .reads(&[Concept::MemberCluster]);

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = &cx.rollout else {
        return Vec::new();
    };
    rollout
        .stages
        .iter()
        .enumerate()
        .filter(|(_, stage)| stage.state == StageState::Skipped && !stage.deletes)
        .map(|(at, stage)| {
            let name = stage.status.name.as_str();
            let tasks: Vec<_> = stage
                .gates
                .iter()
                .map(|gate| gate.task.kind.as_str())
                .collect();
            let gates = if tasks.is_empty() {
                String::new()
            } else {
                format!(" with its tasks ({})", enumerate(&tasks))
            };
            let members = || {
                let clusters = rollout.updated_clusters();
                clusters.filter_map(|cluster| cx.inventory.member(cluster.name))
            };
            let spec: Vec<_> = stage.spec.into_iter().collect();
            let near = near_misses(members(), &spec);
            let mut finding = rule
                .finding(
                    rollout.run.object(),
                    format!("Stage {name} had no clusters and was skipped{gates}{near}."),
                )
                .stage(name);
            for condition in &stage.status.conditions {
                finding = finding.condition_at(
                    &rollout.run.object(),
                    &format!("status.stagesStatus[{at}]"),
                    condition,
                );
            }
            if let Some(selector) = stage.spec.and_then(|spec| spec.selector.as_deref()) {
                finding = finding.evidence(
                    rollout.run.object(),
                    format!("status.stagedUpdateStrategySnapshot.stages[{at}].labelSelector"),
                    selector,
                );
            }
            for member in members().take(6) {
                let of_member = near_misses([member], &spec);
                if !of_member.is_empty() {
                    finding =
                        finding.evidence(member.object(), "metadata.labels", &member.meta.labels);
                }
            }
            finding.look_with(
                "Compare the labels of the clusters with its selector, if clusters should be in it.",
                steps::show_labels(),
            )
        })
        .collect()
}
