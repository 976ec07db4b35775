//! A stage had no clusters and was skipped, with its gates.

use crate::diagnose::rules::prelude::*;
use crate::problems::{EmptyStage, RefusalTense, StageMap, stage_empty};
use crate::rollout::{Rollout, StageState};

pub const RULE: Rule =
    Rule::info("FS611", "stage-skipped-empty", Run(check)).reads(&[Concept::MemberCluster]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    let object = rollout.run.object();
    let recorded = StageMap::recorded(cx.inventory);
    let members = rollout
        .updated_clusters()
        .filter_map(|cluster| cx.inventory.member(cluster.name))
        .collect::<Vec<_>>();
    let stages = rollout.stages.iter().enumerate();
    stages
        .filter(|(_, stage)| stage.state == StageState::Skipped && !stage.deletes)
        .map(|(at, stage)| {
            let empty = EmptyStage {
                name: &stage.status.name,
                tasks: stage
                    .gates
                    .iter()
                    .map(|gate| gate.task.kind.as_str())
                    .collect(),
                spec: recorded.as_ref().zip(stage.spec),
            };
            let when = RefusalTense::Past {
                when: "",
                since: "",
            };
            let mut finding = rule.told(stage_empty(cx.inventory, &object, &empty, &members, when));
            for condition in &stage.status.conditions {
                finding =
                    finding.condition_at(&object, &format!("status.stagesStatus[{at}]"), condition);
            }
            finding
        })
        .collect()
}
