//! The member clusters that a rollout still needs.

use super::claims;
use super::context::Context;
use super::rules::Rule;
use super::troubled::Troubled;
use crate::kubefleet::member::MemberCluster;
use crate::report::{Build, Finding, Severity, Subject, Verdict};
use crate::rollout::{ClusterState, Health, Phase};

/// A member cluster that a rollout still needs.
pub(super) struct Needed<'i> {
    /// Its name.
    pub name: &'i str,
    /// The stage in which the run updates it; `None` without a run.
    pub stage: Option<&'i str>,
    /// The MemberCluster, when it was seen.
    pub member: Option<&'i MemberCluster>,
    /// Whether the verdict is about it, and its own agent has to do the next step.
    pub waits: bool,
    /// Whether it waits, and nothing that it reported tells why.
    pub unexplained: bool,
}

impl Needed<'_> {
    /// A finding about the cluster: an error that explains the verdict when the rollout waits for
    /// it, else a warning.
    pub fn finding(&self, rule: &Rule, message: String) -> Finding {
        let subject = Subject::new("MemberCluster", "", self.name);
        let mut finding = rule
            .finding(subject, message)
            .severity(if self.waits {
                Severity::Error
            } else {
                Severity::Warning
            })
            .root_if(self.waits)
            .clusters([self.name]);
        finding.stage = self.stage.map(str::to_owned);
        finding
    }
}

/// The clusters that an unfinished run has not completed, or those in trouble of a placement
/// without a run.
pub(super) fn needed<'i>(cx: &Context<'i>) -> Vec<Needed<'i>> {
    let trouble = |name: &str| cx.troubles.iter().find(|troubled| troubled.cluster == name);
    // What fails before the Work is written is no matter of the agent.
    let on_hub = |troubled: Option<&Troubled<'_>>| {
        troubled.is_some_and(|troubled| troubled.trouble.problem.is_some())
    };
    let unexplained = |troubled: Option<&Troubled<'_>>| {
        troubled.is_none_or(|troubled| {
            let codes = claims::of_trouble(troubled);
            codes.is_empty() || codes == ["FS515"]
        })
    };
    let stuck = cx.verdict == Verdict::Stuck;
    let Some(rollout) = &cx.rollout else {
        return cx
            .troubles
            .iter()
            .map(|troubled| {
                let waits = troubled.explains(cx.verdict) && !on_hub(Some(troubled));
                Needed {
                    name: troubled.cluster,
                    stage: None,
                    member: troubled.member,
                    waits,
                    unexplained: waits && unexplained(Some(troubled)),
                }
            })
            .collect();
    };
    if rollout.is_finished() || rollout.phase == Phase::Deleting {
        return Vec::new();
    }
    let mut needed = Vec::new();
    for stage in &rollout.stages {
        for cluster in &stage.clusters {
            if matches!(cluster.state, ClusterState::Done | ClusterState::Failed) {
                continue;
            }
            let troubled = trouble(cluster.name);
            let overdue = cluster.state == ClusterState::Stuck
                || troubled.is_some_and(|troubled| troubled.explains(cx.verdict));
            let waits = stuck
                && !stage.deletes
                && overdue
                && !matches!(cluster.health, Health::Fine(_))
                && !on_hub(troubled);
            needed.push(Needed {
                name: cluster.name,
                stage: Some(cluster.stage),
                member: cluster.member,
                waits,
                unexplained: waits && unexplained(troubled),
            });
        }
    }
    needed
}
