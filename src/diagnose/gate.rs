//! What a gate opens.

/// What passing a gate lets happen: `stage canary update member1 and member2 (1 at a time)`.
pub(super) fn opens(case: &super::case::Case<'_>, gate: &crate::rollout::Gate<'_>) -> String {
    use crate::diagnose::finding::enumerate;
    use crate::rollout::{TaskState, TaskTime};

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
    let after = matches!(gate.time, TaskTime::After);
    // The tasks after a stage run side by side, and all of them have to end.
    let waits = after
        && own.is_some_and(|stage| {
            stage.gates.iter().any(|other| {
                other.state == TaskState::Open
                    && other.task.is_timed_wait()
                    && other.until().is_none_or(|until| until > case.now())
            })
        });
    let what = match next {
        Some(stage) if stage.deletes => format!(
            "the run remove the placement from {}",
            enumerate(stage.clusters.iter().map(|cluster| cluster.name))
        ),
        Some(stage) if stage.clusters.is_empty() => {
            format!("stage {} pass, which has no clusters", stage.name())
        }
        Some(stage)
            if after
                && stage
                    .gates
                    .iter()
                    .any(|gate| matches!(gate.time, TaskTime::Before)) =>
        {
            format!("stage {} ask for an approval of its own", stage.name())
        }
        Some(stage) => format!(
            "stage {} {} {} ({} at a time)",
            stage.name(),
            if after { "begin with" } else { "update" },
            enumerate(stage.clusters.iter().map(|cluster| cluster.name)),
            stage.concurrency
        ),
        None => "the run finish".to_owned(),
    };
    if waits {
        format!(
            "{what}, once the timed wait of stage {} is over too",
            gate.stage
        )
    } else {
        what
    }
}

/// A wait of which only the run's own text tells: its status lists no task that is open. `None`
/// where it lists one, or where the verdict is another.
pub(super) fn unlisted(
    case: &super::case::Case<'_>,
    rule: &super::rules::Rule,
    approval: bool,
) -> Option<super::report::Finding> {
    use super::report::Verdict;

    let rollout = case.rollout.as_ref()?;
    let (verdict, what) = if approval {
        (Verdict::WaitingForApproval, "an approval")
    } else {
        (Verdict::WaitingForTimer, "a timed wait")
    };
    if case.verdict != verdict || rollout.open_gates().next().is_some() {
        return None;
    }
    let run = case.run_object();
    let name = &run.name;
    let finding = rule
        .finding(
            &run,
            format!("{name} says that it waits for stage tasks, {what} among them, and its status does not list which."),
        )
        .root()
        .condition(&run, "status", rollout.progressing()?);
    Some(finding.look(
        "Look at the approval requests of the run: its name stands in their label \
         `kubernetes-fleet.io/targetUpdateRun`.",
        Some(case.command("approvals").arg(name)),
    ))
}
