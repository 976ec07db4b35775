//! A run that is to stop cannot, for clusters in flight do not finish.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::run::RunState;
use crate::rollout::{ClusterState, Phase};

/// Stopping means to start nothing new and to wait for what is in flight, without a limit.
/// KubeFleet's manual says that a stuck cluster does not keep a run from stopping; its code waits.
/// Source: updaterun/stop.go:stopUpdatingStage.
pub const RULE: Rule = Rule::error("FS603", "stop-blocked", One(check))
    .caused_by(&[
        "FS501", "FS502", "FS503", "FS504", "FS505", "FS506", "FS507", "FS508", "FS509", "FS510",
        "FS511", "FS512", "FS513", "FS514", "FS515", "FS516", "FS517", "FS518", "FS520", "FS521",
        "FS522", "FS523", "FS524", "FS525",
    ])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref().filter(|rollout| {
        rollout.phase == Phase::Stopping
            && rollout.run.spec.wants() == RunState::Stop
            && cx.verdict == Verdict::Stuck
            && rollout.removals_under_stop().is_empty()
            // What a controller that does nothing has not noticed blocks nothing.
            && cx.outlook.silence.is_none()
    })?;
    let run = rollout.run;
    let blocking: Vec<_> = rollout
        .in_flight()
        .filter(|cluster| cluster.state == ClusterState::Stuck && cluster.trouble().is_some())
        .collect();
    let blocking = if blocking.is_empty() {
        rollout.in_flight().collect()
    } else {
        blocking
    };
    let mut names: Vec<_> = blocking.iter().map(|cluster| cluster.name).collect();
    let removed: Vec<_> = rollout
        .held_removals()
        .map(|cluster| cluster.name)
        .collect();
    if names.is_empty() {
        names.clone_from(&removed);
    }
    let verb = if names.len() == 1 { "does" } else { "do" };
    let mut finding = rule
        .finding(
            run.object(),
            if names.is_empty() {
                format!("{} cannot stop because it is stuck.", run.object())
            } else if blocking.is_empty() {
                format!(
                    "{} cannot stop because the placement is not gone from {}.",
                    run.object(),
                    enumerate(&removed)
                )
            } else {
                format!(
                    "{} cannot stop because it waits for {}, which {verb} not finish.",
                    run.object(),
                    enumerate(&names)
                )
            },
        )
        .root()
        .clusters(names.iter().copied())
        .evidence(run.object(), "spec.state", "Stop");
    finding = finding.condition(&run.object(), rollout.progressing());
    for cluster in blocking.iter().take(3) {
        let path = format!(
            "status.stagesStatus[stageName={}].clusters[clusterName={}].conditions[type=Started].lastTransitionTime",
            cluster.stage, cluster.name
        );
        finding = finding.known(run.object(), path, cluster.started);
    }
    if let [first, rest @ ..] = blocking.as_slice()
        && rest.iter().all(|cluster| cluster.stage == first.stage)
    {
        finding = finding.stage(first.stage);
    }
    Some(
        finding
            .fix(
                "Fix what blocks the clusters: the run then stops by itself at the controller's \
                 next check.",
            )
            .disrupt_with(
                "Or delete the run: this works at any time, rolls nothing back, and frees \
                           the placement for a new run.",
                cx.command("delete").arg(&run.meta.name),
            ),
    )
}
