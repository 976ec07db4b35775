//! The member clusters that a rollout still needs.

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::rule::Rule;
use crate::kubefleet::member::MemberCluster;
use crate::report::{ComposeText, Finding, Severity, Subject, Verdict};
use crate::rollout::{ClusterState, Health, Phase, comes_next};

/// A member cluster that a rollout still needs.
pub struct NeededMember<'i> {
    pub name: &'i str,
    /// The stage in which the run updates it; `None` without a run.
    pub stage: Option<&'i str>,
    /// Whether the run removes the placement from it.
    pub is_removal: bool,
    /// The MemberCluster, when it was seen.
    pub member: Option<&'i MemberCluster>,
    /// Whether the verdict is about it, and its own agent has to do the next step.
    pub waits: bool,
    /// Whether the run comes to another gate before the cluster.
    pub is_behind_gate: bool,
}

impl NeededMember<'_> {
    /// A finding about the cluster: an error that explains the verdict when the rollout waits for
    /// it, else a warning.
    pub fn finding(&self, rule: &Rule, message: String) -> Finding {
        let mut finding = rule
            .finding(Subject::member(self.name), message)
            .severity(Severity::error_if(self.waits))
            .root_if(self.waits)
            .clusters([self.name]);
        finding.stage = self.stage.map(str::to_owned);
        finding
    }

    /// The same of what makes a run stall there: before that, somebody is asked who can look again.
    pub fn stalls(&self, rule: &Rule, message: String) -> Finding {
        let mut finding = self.finding(rule, message);
        if self.is_behind_gate {
            finding
                .add_sentence("The run asks for another approval before it comes to the cluster.");
            finding = finding.severity(Severity::Info);
        }
        finding
    }
}

/// The clusters that an unfinished run has not completed, or those in trouble of a placement
/// without a run.
pub fn needed<'i>(cx: &DiagnosisContext<'i>) -> Vec<NeededMember<'i>> {
    let trouble = |name: &str| cx.troubles.iter().find(|failing| failing.cluster == name);
    // What fails before the Work is written is no matter of the agent.
    let on_hub = |failing: Option<&FailingCluster<'_>>| {
        failing.is_some_and(|failing| failing.trouble.problem.is_some())
    };
    let stuck = cx.verdict == Verdict::Stuck;
    let Some(rollout) = &cx.rollout else {
        let troubles = cx.troubles.iter().map(|failing| {
            let waits = failing.explains(cx.verdict) && !on_hub(Some(failing));
            NeededMember {
                name: failing.cluster,
                stage: None,
                is_removal: false,
                member: failing.member,
                waits,
                is_behind_gate: false,
            }
        });
        return troubles.collect();
    };
    if rollout.is_finished() || rollout.phase == Phase::Deleting {
        return Vec::new();
    }
    let is_next = comes_next(rollout);
    let mut needed = Vec::new();
    for stage in &rollout.stages {
        for cluster in &stage.clusters {
            if matches!(cluster.state, ClusterState::Done | ClusterState::Failed) {
                continue;
            }
            let failing = trouble(cluster.name);
            let overdue = cluster.state == ClusterState::Stuck
                || failing.is_some_and(|failing| failing.explains(cx.verdict));
            // A removal never counts as stuck, but without the agent it does not end.
            let silent = || cluster.member?.silent_for(cx.now());
            let waits = if stage.deletes {
                overdue && silent().is_some()
            } else {
                stuck && overdue && !matches!(cluster.health, Health::Fine(_)) && !on_hub(failing)
            };
            needed.push(NeededMember {
                name: cluster.name,
                stage: Some(cluster.stage),
                is_removal: stage.deletes,
                member: cluster.member,
                waits,
                is_behind_gate: !is_next(cluster.name),
            });
        }
    }
    needed
}
