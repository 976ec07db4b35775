//! Member clusters on which a run would not get far.

use std::collections::BTreeMap;

use super::draft::PlanDraft;
use super::stages::ComputedStages;
use super::still_failing::StillFailing;
use super::{ObjectChanges, Warning, WarningKind};
use crate::inventory::Inventory;
use crate::kubefleet::apply::ApplyStrategy;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::messages::{BindingProblem, EnvelopeProblem};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Condition, names, reasons};
use crate::problems::members::{self as evidence, TroubledMembers};
use crate::problems::{content_sent_late, namespace_undelivered, steps};
use crate::report::{ComposeText, Subject};
use crate::rollout::{ManifestTrouble, STUCK_AFTER, binding_trouble, is_written};
use crate::words::{CommandLine, by_number, capital, enumerate};

/// Warns of clusters that are leaving, and of those whose agent is silent while something is sent to
/// them.
pub(super) fn check(draft: &mut PlanDraft<'_>, computed: &ComputedStages, run: &UpdateRun) {
    let inventory = draft.inventory;
    let members = computed.updated();
    let members = members.filter_map(|cluster| inventory.member(&cluster.name));
    let reached =
        members.filter(|it| it.is_leaving() || !is_sent_nothing(inventory, run, &it.meta.name));
    // A removal needs the agent as well; a cluster that left is none of its clusters any more.
    let removed = computed.removed.iter();
    let removed = removed.filter_map(|it| inventory.member(&it.name));
    let removed = removed.filter(|it| !it.is_leaving());
    let reached = reached.chain(removed);
    let troubled = TroubledMembers::of(reached, inventory.members.iter(), inventory.now);
    leave(draft, &troubled);
    deleted_bindings(draft, computed);
    silent(draft, &troubled);
    unhealthy(draft, &troubled);
    let clusters = computed.updated().map(|cluster| cluster.name.as_str());
    if let Some(problem) = content_sent_late(inventory, clusters.clone()) {
        draft.warn(WarningKind::ContentSentLate, problem);
    }
    if let Some(problem) = namespace_undelivered(inventory, clusters) {
        draft.warn(WarningKind::NamespaceNotDelivered, problem);
    }
}

fn unhealthy(draft: &mut PlanDraft<'_>, troubled: &TroubledMembers<'_>) {
    let members = &troubled.unhealthy;
    let (Some(message), Some(first)) = (troubled.unhealthy_words(), members.first()) else {
        return;
    };
    let names = members.iter().map(|member| member.meta.name.as_str());
    let kind = WarningKind::MemberClusterUnhealthy;
    let mut warning = Warning::new(kind, first.object(), message).clusters(names);
    for member in members.iter().take(5) {
        if let Some(unhealthy) = member.unhealthy() {
            let at = "status.agentStatus[type=MemberAgent]";
            warning = warning.condition_at(&member.object(), at, unhealthy);
        }
    }
    draft.warnings.push(warning.look_with(
        "Check which health check of its API server fails.",
        CommandLine::member(&first.meta.name, "get").flag("--raw", "/healthz?verbose"),
    ));
}

/// Whether a run sends nothing to a cluster, because it has all of it.
fn is_sent_nothing(inventory: &Inventory, run: &UpdateRun, cluster: &str) -> bool {
    let mut clusters = run.updated_clusters();
    let status = clusters.find(|it| it.name == cluster);
    let binding = inventory.binding(cluster);
    binding.zip(status).is_some_and(|(binding, status)| {
        let available = binding.current(reasons::AVAILABLE);
        is_written(binding, run, status) && available.is_some_and(Condition::is_true)
    })
}

/// Warns of clusters that fail with what they have: the run would write nothing new into their bindings, or what
/// others did there may stop other content too.
pub(super) fn failing(draft: &mut PlanDraft<'_>, run: &UpdateRun, changes: &[ObjectChanges]) {
    let inventory = draft.inventory;
    let mut failing = Vec::new();
    // The clusters by the object for which they fail.
    let mut held = BTreeMap::<_, Vec<_>>::new();
    let mut again = BTreeMap::<_, Vec<_>>::new();
    for status in run.updated_clusters() {
        let binding = inventory.binding(&status.name);
        let trouble = binding.and_then(|binding| binding_trouble(inventory, binding));
        let Some((binding, trouble)) = binding.zip(trouble) else {
            continue;
        };
        let condition = trouble.condition;
        // A silent agent has not tried yet, of which another warning tells.
        let member = inventory.member(&status.name);
        if member.is_some_and(|it| it.silent_for(inventory.now).is_some()) {
            continue;
        }
        if !is_written(binding, run, status) {
            let changes = changes.iter().find(|it| it.clusters.contains(&status.name));
            let mut manifests = trouble.manifests.iter();
            if let Some(stays) = draft.still_failing.get(&status.name) {
                let alike = again.entry(stays.clone()).or_default();
                alike.push((binding, condition));
            } else if let Some(stays) =
                manifests.find(|it| stays_as_others_left_it(it, run, changes))
            {
                let alike = held.entry(stays.describe()).or_default();
                alike.push((binding, condition));
            } else if trouble.problem.as_ref().is_some_and(stays_with_any_content) {
                let stays = StillFailing {
                    object: "more than one Work of an envelope".to_owned(),
                    is_certain: true,
                };
                let alike = again.entry(stays).or_default();
                alike.push((binding, condition));
            }
            continue;
        }
        // The binding's own condition begins anew when its Works are written again.
        let objects = trouble.manifests.iter().filter_map(|it| it.condition.since);
        let Some(since) = objects.chain(condition.since).min() else {
            continue;
        };
        // What is not available yet may become so.
        let lasts = condition.kind != reasons::AVAILABLE
            || inventory.now.duration_since(since) > STUCK_AFTER;
        // What is completed is tried again, and another warning tells of it.
        let is_tried_again = matches!(
            trouble.problem,
            Some(BindingProblem::SnapshotGroupIncomplete { .. })
        );
        if lasts && trouble.is_told() && !is_tried_again {
            failing.push((binding, condition));
        }
    }
    for (kept, held) in &held {
        let message = format!(
            "{} {} what others did to {kept}: the run may stall there with other content as well.",
            enumerate(held.iter().map(|(it, _)| &it.spec.cluster)),
            by_number(held.len(), "keeps", "keep")
        );
        fail(draft, WarningKind::ClusterHeld, message, held);
    }
    for (object, again) in &again {
        let names: Vec<_> = again.iter().map(|(it, _)| &it.spec.cluster).collect();
        let message = format!("{}.", object.describe(&names));
        fail(draft, WarningKind::ClusterFailing, message, again);
    }
    let is_sent = failing.iter().all(|(binding, _)| !binding.is_unsent());
    let has = match failing.len() {
        _ if !is_sent => "should have",
        1 => "has",
        _ => "have",
    };
    // Of a binding that was changed since, no newer report comes before a run writes it.
    let is_old = failing.iter().any(|(binding, _)| binding.awaits_run());
    let fails = if is_old {
        "it failed there when they reported last"
    } else {
        "it fails there"
    };
    let message = format!(
        "{} {has} snapshot {} already, and {fails}: a run that brings the same content \
         sends nothing new and will stall there.",
        enumerate(failing.iter().map(|(it, _)| &it.spec.cluster)),
        run.status.snapshot_index
    );
    fail(draft, WarningKind::ClusterFailing, message, &failing);
}

/// Whether what keeps a binding's Works from being written is not part of the content.
const fn stays_with_any_content(problem: &BindingProblem) -> bool {
    matches!(
        problem,
        BindingProblem::Envelope {
            problem: EnvelopeProblem::SeveralWorks,
            ..
        }
    )
}

/// Whether an object of a cluster that gets something else stays as others left it there.
fn stays_as_others_left_it(
    object: &ManifestTrouble<'_>,
    run: &UpdateRun,
    changes: Option<&ObjectChanges>,
) -> bool {
    let apply = run.status.apply_strategy.as_ref();
    let stays = |apply: &ApplyStrategy| {
        !apply.is_report_diff() && !object.problem.is_overcome_by(apply, false)
    };
    let gone = changes.into_iter();
    let mut gone = gone.flat_map(|it| it.overwritten.iter().chain(&it.deleted));
    object.problem.is_by_others()
        && apply.is_some_and(|apply| stays(apply))
        && !gone.any(|it| *it == Subject::from(object))
}

/// Adds a warning about bindings that fail, with what they say.
fn fail(
    draft: &mut PlanDraft<'_>,
    kind: WarningKind,
    message: String,
    failing: &[(&Binding, &Condition)],
) {
    let Some((first, _)) = failing.first() else {
        return;
    };
    let clusters = failing.iter().map(|(it, _)| &it.spec.cluster);
    let mut warning = Warning::new(kind, first.object(), message).clusters(clusters);
    for (binding, condition) in failing.iter().take(5) {
        warning = warning.condition(&binding.object(), *condition);
    }
    let diagnose = steps::diagnose(draft.placement());
    draft
        .warnings
        .push(warning.look_with("Check why it fails first.", diagnose));
}

/// Warns of clusters where KubeFleet wrote by client-side apply what it would write by server-side apply: the API
/// server counts the first as another manager's. Source: workapplier/apply.go:shouldUseForcedServerSideApply.
pub(super) fn switched(draft: &mut PlanDraft<'_>, run: &UpdateRun) {
    let apply = run.status.apply_strategy.as_ref();
    let Some(apply) = apply.filter(|it| it.kind == "ServerSideApply") else {
        return;
    };
    let clusters = run.updated_clusters().map(|it| it.name.as_str());
    let bindings = clusters.filter_map(|it| draft.inventory.binding(it));
    let switched: Vec<_> = bindings
        .filter(|binding| {
            let had = binding.spec.apply_strategy.as_deref();
            had.is_some_and(|had| had.with_defaults().kind == "ClientSideApply")
        })
        .collect();
    let Some(first) = switched.first() else {
        return;
    };
    let names: Vec<_> = switched.iter().map(|it| it.spec.cluster.as_str()).collect();
    let (kind, what, fix) = if apply.keeps_others_fields() {
        (
            WarningKind::ClusterHeld,
            "without force cannot change those that others write too, such as a Deployment with its status",
            "Set serverSideApplyConfig.force: true in the placement's applyStrategy.",
        )
    } else {
        (
            WarningKind::FieldsRemain,
            "leaves fields in them that the hub has removed, now and later on",
            "Remove such fields on the member clusters by hand, or keep ClientSideApply.",
        )
    };
    let message = format!(
        "KubeFleet wrote objects on {} by client-side apply. Server-side apply {what}.",
        enumerate(&names)
    );
    let warning = Warning::new(kind, first.object(), message).clusters(names);
    draft.warnings.push(
        warning
            .evidence(first.object(), "spec.applyStrategy.type", "ClientSideApply")
            .fix(fix),
    );
}

fn leave(draft: &mut PlanDraft<'_>, troubled: &TroubledMembers<'_>) {
    let leaving = &troubled.leaving;
    let (Some(message), Some(first)) = (troubled.leaving_words(), leaving.first()) else {
        return;
    };
    let names = leaving.iter().map(|member| member.meta.name.as_str());
    let mut warning =
        Warning::new(WarningKind::MemberClusterLeaving, first.object(), message).clusters(names);
    for member in leaving.iter().take(5) {
        warning = evidence::leaving(warning, member);
    }
    // What has left and is not deleted is never gone.
    let going = leaving.iter().copied();
    let going: Vec<_> = going.filter(|it| it.meta.is_deleting()).collect();
    match evidence::wait_until_gone(&going, draft.inventory.now) {
        Some(step) => warning.remedies.push(step),
        None => warning = warning.look("Wait until it is gone, then plan again."),
    }
    draft.warnings.push(warning);
}

/// Warns of the bindings that go, as those of an evicted cluster do.
fn deleted_bindings(draft: &mut PlanDraft<'_>, computed: &ComputedStages) {
    let inventory = draft.inventory;
    for cluster in computed.updated() {
        let mut bindings = inventory.bindings_of(&cluster.name);
        let Some(binding) = bindings.find(|it| it.meta.is_deleting()) else {
            continue;
        };
        let object = binding.object();
        let message = format!(
            "{object} of {} is being deleted, and a run that writes it fails.",
            cluster.name
        );
        let gone = steps::wait_for(&object, "delete");
        draft.warnings.push(
            Warning::new(WarningKind::BindingDeleted, &object, message)
                .clusters([&cluster.name])
                .deleted(&object, binding.meta.deleted)
                .look_with("Wait until it is gone, then plan again.", gone),
        );
    }
}

fn silent(draft: &mut PlanDraft<'_>, troubled: &TroubledMembers<'_>) {
    let members: Vec<_> = if troubled.unheard.is_some() {
        draft.inventory.members.iter().collect()
    } else {
        troubled.silent.iter().map(|(member, _)| *member).collect()
    };
    let (Some(message), Some(first)) = (troubled.silence_words(), members.first()) else {
        return;
    };
    let names = members.iter().map(|member| member.meta.name.as_str());
    let mut warning = Warning::new(
        WarningKind::MemberAgentSilent,
        first.object(),
        capital(&message),
    )
    .clusters(names);
    for member in members.iter().take(5) {
        warning = evidence::last_heard(warning, member);
    }
    if troubled.unheard.is_some() {
        let pods = "Check whether the hub agent's pods run.";
        draft
            .warnings
            .push(warning.look_with(pods, steps::hub_agent()));
        return;
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
