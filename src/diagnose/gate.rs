//! What a gate opens.

/// What passing a gate lets happen: `stage canary update member1 and member2 (1 at a time)`.
pub(super) fn opens(case: &super::case::Case<'_>, gate: &crate::rollout::Gate<'_>) -> String {
    use crate::diagnose::finding::enumerate;
    use crate::rollout::TaskTime;

    let Some(rollout) = &case.rollout else {
        return "the run go on".to_owned();
    };
    let mut stages = rollout
        .stages
        .iter()
        .skip_while(|stage| stage.status.name != gate.stage);
    let own = stages.next();
    let next = match gate.time {
        TaskTime::Before => own,
        TaskTime::After => stages.find(|stage| !stage.clusters.is_empty()),
    };
    match next {
        Some(stage) if stage.deletes => format!(
            "the run remove the placement from {}",
            enumerate(stage.clusters.iter().map(|cluster| cluster.name))
        ),
        Some(stage) if stage.clusters.is_empty() => {
            format!("stage {} pass, which has no clusters", stage.name())
        }
        Some(stage) => format!(
            "stage {} {} {} ({} at a time)",
            stage.name(),
            if matches!(gate.time, TaskTime::Before) {
                "update"
            } else {
                "begin with"
            },
            enumerate(stage.clusters.iter().map(|cluster| cluster.name)),
            stage.concurrency
        ),
        None => "the run finish".to_owned(),
    }
}
