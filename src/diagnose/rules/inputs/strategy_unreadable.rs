//! The hub agent cannot read a strategy, and sees no other one because of it.

use crate::diagnose::rules::prelude::*;

/// The schema lets pass times that Go cannot read. The agent's cache then lists no strategy: it keeps what it
/// had, and after a restart it has none, and the controller waits for it.
/// Source: apis/placement/v1beta1/stageupdate_types.go:StageTask; client-go tools/cache/reflector.go:ListAndWatch.
pub const RULE: Rule = Rule::error("FS125", "strategy-unreadable", RuleSearch::One(check))
    .reads(&[Concept::Strategy])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let strategy = cx.inventory.unreadable_strategy()?;
    let (stage, field, task) = strategy.unreadable_task()?;
    let object = strategy.object();
    let message = format!(
        "The hub agent cannot read {object}: waitTime {} of stage {}. While it exists, the agent sees no \
         strategy that is new or was changed, and after its restart all update runs wait.",
        task.wait, stage.name
    );
    let tasks = match field {
        "beforeStageTasks" => &stage.before,
        _ => &stage.after,
    };
    let path = format!("spec.stages[name={}].{field}", stage.name);
    let is_waiting =
        cx.failure.is_none() && cx.run().is_some_and(|run| run.status.strategy.is_none());
    Some(
        rule.finding(&object, message)
            .root_if(is_waiting)
            .evidence(&object, path, tasks)
            .fix_with(
                "Give it a time in hours, minutes and seconds, such as 36h.",
                object.kubectl("edit"),
            ),
    )
}
