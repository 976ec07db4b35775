//! Server-side apply meets fields that others manage.

use std::collections::BTreeSet;

use super::drift_found;
use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::affected::AffectedObject;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::kubefleet::messages::ManifestProblem;
use crate::rollout::ManifestTrouble;
use crate::words::capital;

/// A conflict of field managers, with `serverSideApplyConfig.force` off.
/// Source: workapplier/apply.go:serverSideApply.
pub const RULE: Rule = Rule::on_object("FS524", "apply-conflict", check).environment();

/// The field manager of KubeFleet's member agent. Source: workapplier/controller.go:workFieldManagerName.
const MEMBER_AGENT_MANAGER: &str = "work-api-agent";

/// How a conflict names the way on which autoscalers write.
const BY_SCALE: &str = "with subresource \"scale\"";

const FORCE: &str = "set serverSideApplyConfig.force: true in the placement's applyStrategy, if the hub should win \
     everywhere. This fails the current run, so start a new one.";

fn check(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    let clusters = affected.clusters();
    let mut managers: BTreeSet<_> = affected
        .all
        .iter()
        .flat_map(|(_, manifest)| match &manifest.problem {
            ManifestProblem::ApplyConflict { managers } => managers.as_slice(),
            _ => &[],
        })
        .map(String::as_str)
        .collect();
    // What it wrote by a client-side apply or a create counts as another's. It forces only where no other manager is
    // left, not even one of the status. Source: workapplier/apply.go:shouldUseForcedServerSideApply.
    let is_with_agent = managers.contains(MEMBER_AGENT_MANAGER);
    if managers.len() > 1 {
        managers.remove(MEMBER_AGENT_MANAGER);
    }
    let is_agent_alone = managers.contains(MEMBER_AGENT_MANAGER);
    let who = if managers.is_empty() {
        "others manage".to_owned()
    } else {
        let verb = by_number(managers.len(), "manages", "manage");
        format!("{} {verb}", enumerate(&managers))
    };
    finding.message = format!(
        "{} could not be applied on {clusters}: {who} some of its fields there, and server-side \
         apply does not override them.",
        affected.object()
    );
    let over_replicas = |_: &FailingCluster<'_>, manifest: &ManifestTrouble<'_>| {
        manifest.condition.message.contains(".spec.replicas")
    };
    if let Some(sent) = drift_found::scaler(affected, over_replicas) {
        finding.add_sentence(&format!(
            "The content also has {}, which sets its replicas.",
            drift_found::describe(&sent)
        ));
        return drift_found::scaled(affected, &sent, finding);
    }
    let mut all = affected.all.iter();
    let is_scaled = all.any(|(_, it)| it.condition.message.contains(BY_SCALE));
    if is_scaled {
        finding.add_sentence(
            "They were written through the subresource scale, as a HorizontalPodAutoscaler does.",
        );
        let remove = format!(
            "Remove spec.replicas from {} on the hub, if an autoscaler on the member should set it,",
            affected.on_hub()
        );
        return finding
            .roll_out(affected.cx, &remove)
            .same_content(affected.cx, format!("Or {FORCE}"));
    }
    if is_agent_alone {
        finding.add_sentence(
            "That is KubeFleet's own member agent, which wrote them without server-side apply.",
        );
    }
    let (object, on) = (affected.manifest.describe(), affected.cluster());
    let managers = match managers.len() {
        1 => enumerate(&managers),
        _ => "the other managers".to_owned(),
    };
    let action = format!("Check which fields of {object} have which manager on {on}.");
    let finding = finding.look_with(action, affected.kubectl("get").showing_field_managers());
    if is_with_agent {
        return finding.same_content(affected.cx, capital(FORCE));
    }
    finding
        .repair_there_or_on_hub(
            affected,
            format!("Make {managers} release the fields that the hub sends, on {clusters}."),
            "Or remove the fields from {} on the hub and start a new run, if the other manager \
             should keep them.",
        )
        .same_content(affected.cx, format!("Or {FORCE}"))
}
