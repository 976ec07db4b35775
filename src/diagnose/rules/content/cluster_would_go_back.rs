//! Going on with a run would put an older version back on clusters that another run has updated.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::back::{goes_back, replaced_or_deleted};
use crate::rollout::content::{overtaken, would_go_back};
use crate::rollout::{ClusterState, ClusterView, Phase};

/// A cluster that the run has still to reach has a later version, rolled out after the run was
/// initialized. Nothing fails when it goes back. Measured on a hub; see the decisions.
pub const RULE: Rule = Rule::warning("FS703", "cluster-would-go-back", One(check))
    .reads(&[Concept::Binding])
    .person();

/// What continues a run that has an older snapshot on purpose, as a command and as a word.
const fn on_purpose(phase: Phase) -> Option<(&'static str, &'static str)> {
    match phase {
        Phase::Idle => Some(("run", "start")),
        Phase::Stopped => Some(("resume", "resume")),
        _ => None,
    }
}

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    let (run, later) = (rollout.run, would_go_back(rollout));
    let own = &run.status.snapshot_index;
    // A run that fails at its next check takes nothing back.
    if later.is_empty() || cx.outlook.fails().is_some() {
        return None;
    }
    let object = run.object();
    let mut finding = rule
        .finding(&object, format!("{}.", goes_back(rollout, &later)))
        .root_if(cx.is_resting())
        .clusters(later.iter().map(|back| back.cluster))
        .evidence(&object, run.snapshot_path(), own);
    for back in later.iter().take(3) {
        finding = finding.written(back.binding);
    }
    if let Some(gate) = rollout.open_approvals().next() {
        finding = finding.stage(gate.stage);
    }
    finding = cx.look_at_history(finding);
    let is_done = |cluster: &ClusterView<'_>| cluster.state == ClusterState::Done;
    // Without the run, the clusters that it is done with would stay on another version.
    let brings_together = rollout.updated_clusters().any(is_done) && overtaken(rollout).is_empty();
    finding = replaced_or_deleted(cx, finding, brings_together);
    if let Some((index, (verb, continued))) = run.pinned().zip(on_purpose(rollout.phase)) {
        finding = finding.disrupt_with(
            format!("Or {continued} it, if all clusters are to get snapshot {index} all the same."),
            cx.command(verb).arg(&object.name).switch("--allow-older"),
        );
    }
    Some(finding)
}
