//! Member clusters on which a run would not get far.

use super::draft::PlanDraft;
use super::stages::ComputedStages;
use super::{Warning, WarningKind};
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::names;
use crate::problems::members as evidence;
use crate::report::ComposeText;

/// Warns of clusters whose agent is silent, and of those that are leaving.
pub(super) fn check(draft: &mut PlanDraft<'_>, computed: &ComputedStages) {
    let members: Vec<&MemberCluster> = computed
        .stages
        .iter()
        .flat_map(|stage| &stage.clusters)
        .filter_map(|cluster| draft.inventory.member(&cluster.name))
        .collect();
    let (leaving, staying): (Vec<&MemberCluster>, Vec<_>) =
        members.into_iter().partition(|member| member.is_leaving());
    leave(draft, &leaving);
    silent(draft, &staying);
}

fn leave(draft: &mut PlanDraft<'_>, leaving: &[&MemberCluster]) {
    let Some(first) = leaving.first() else {
        return;
    };
    let names = leaving.iter().map(|member| member.meta.name.as_str());
    let message = evidence::leaving_words(leaving);
    let mut warning =
        Warning::new(WarningKind::MemberClusterLeaving, first.object(), message).clusters(names);
    for member in leaving.iter().take(5) {
        warning = evidence::leaving(warning, member);
    }
    draft
        .warnings
        .push(warning.look("Wait until it is gone, then plan again."));
}

fn silent(draft: &mut PlanDraft<'_>, members: &[&MemberCluster]) {
    let silent = evidence::silent(members, draft.inventory.now);
    let (Some(message), Some((first, _))) = (evidence::silence_words(&silent), silent.first())
    else {
        return;
    };
    let names = silent.iter().map(|(member, _)| member.meta.name.as_str());
    let mut warning =
        Warning::new(WarningKind::MemberAgentSilent, first.object(), message).clusters(names);
    for (member, _) in silent.iter().take(5) {
        warning = evidence::last_heard(warning, member);
    }
    let name = first.meta.name.as_str();
    draft.warnings.push(warning.look_with(
        format!(
            "Check the agent in the member cluster. On the hub, its Works are in namespace {}.",
            names::member_namespace(name)
        ),
        first.object().kubectl("get").flag("-o", "yaml"),
    ));
}
