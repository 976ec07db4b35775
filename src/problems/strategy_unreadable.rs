//! A strategy that the hub agent cannot read, and that hides the others from it.

use super::prelude::*;
use crate::kubefleet::strategy::Strategy;

/// `None` where it can be read. The schema lets pass times that Go cannot read. The agent's cache then lists no
/// strategy: it keeps what it had, and after a restart it has none, and the controller waits for it.
/// Source: apis/placement/v1beta1/stageupdate_types.go:StageTask; client-go tools/cache/reflector.go:ListAndWatch.
pub fn strategy_unreadable(strategy: &Strategy) -> Option<Problem> {
    let (stage, before, task) = strategy.unreadable_task()?;
    let object = strategy.object();
    let message = format!(
        "The hub agent cannot read {object}: waitTime {} of stage {}. While it exists, the agent sees no \
         strategy that is new or was changed, and after its restart all update runs wait.",
        task.wait, stage.name
    );
    let (field, tasks) = stage.tasks(before);
    let path = format!("spec.stages[name={}].{field}", stage.name);
    Some(
        Problem::new(&object, message)
            .evidence(&object, path, tasks)
            .fix_with(
                "Give it a time in hours, minutes and seconds, such as 36h.",
                object.kubectl("edit"),
            ),
    )
}
