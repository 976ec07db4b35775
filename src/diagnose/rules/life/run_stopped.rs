//! The run is stopped.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::back::taken_back;
use crate::diagnose::subjects::gate::check_failing;
use crate::diagnose::subjects::resting;
use crate::kubefleet::duration;
use crate::rollout::rollback::TakenBack;
use crate::rollout::{ClusterState, Phase};

/// `UpdateRunStopped` at the run's generation. A run that is created in state Stop is initialized
/// and then stopped. Source: updaterun/stop.go.
pub const RULE: Rule = Rule::info("FS602", "run-stopped", One(check)).person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx
        .rollout
        .as_ref()
        .filter(|rollout| rollout.phase == Phase::Stopped)?;
    let run = rollout.run;
    let left: Vec<_> = rollout
        .clusters()
        .filter(|cluster| cluster.state != ClusterState::Done)
        .map(|cluster| cluster.name)
        .collect();
    let since = rollout.progressing().and_then(|it| it.since);
    // A hub agent that starts anew stops it once more, and nothing else tells when it was stopped.
    let lasting = duration::lasting(since.map(|since| cx.now().duration_since(since)));
    // The summary says that it is stopped; the finding adds for how long.
    let state = resting::stopped(rollout);
    let message = match state.strip_prefix(&format!("{} is stopped", run.object())) {
        Some(rest) => format!("{} counts as stopped{lasting}{rest}", run.meta.name),
        None => state,
    };
    let mut finding = rule
        .finding(run.object(), message)
        .root()
        .clusters(left.iter().copied())
        .evidence(run.object(), "spec.state", run.spec.state.as_deref());
    if let Some(progressing) = rollout.progressing() {
        finding = finding.condition(&run.object(), progressing);
        let path = "status.conditions[type=Progressing].lastTransitionTime";
        finding = finding.known(run.object(), path, progressing.since);
    }
    for gate in rollout.gates() {
        if let (Some(since), Some(until)) = (gate.stopped_since, gate.holds_until()) {
            let (since_path, wait_path) = (gate.since_path(), gate.wait_path());
            finding = finding
                .evidence(run.object(), &since_path, since)
                .evidence(run.object(), &wait_path, gate.wait_text)
                .computed(
                    run.object(),
                    &[&since_path, &wait_path],
                    format!("the wait ends at {until}"),
                );
        }
    }
    let finding = check_failing(cx, finding);
    let removed = rollout.removed_next();
    let resume = cx.command("resume").arg(&run.meta.name);
    let finding = match TakenBack::for_run(cx.inventory, run) {
        Some(back) => taken_back(cx, finding, &back),
        None if removed.is_empty() => {
            finding.fix_with("Resume it: it continues from where it stopped.", resume)
        }
        None => finding.disrupt_with(resting::removes("Resume it", &removed), resume),
    };
    let going: Vec<_> = rollout.removals_begun().map(|it| it.name).collect();
    let keeps = match (left.len(), rollout.clusters().count()) {
        _ if !going.is_empty() => format!(
            "the removal from {} ends all the same, and the other clusters keep what they have.",
            enumerate(going)
        ),
        (0, _) => "every cluster keeps its content.".to_owned(),
        (left, all) if left == all => "this changes nothing on its clusters.".to_owned(),
        _ => "updated clusters keep the new content, the others keep the old.".to_owned(),
    };
    let delete = cx.command("delete").arg(&run.meta.name);
    Some(finding.disrupt_with(format!("Or delete it: {keeps}"), delete))
}
