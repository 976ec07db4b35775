//! The binding of a cluster in flight was changed, and no other run did it.

use jiff::Timestamp;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::preemption::{LostCluster, lost, written_later};
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::reasons;
use crate::kubefleet::run::ClusterStatus;
use crate::report::ShownValue;
use crate::rollout::Rollout;
use crate::rollout::sent::joined_since;

/// The text is the one of a preemption, but the same check fails for any other change of the
/// binding's spec, as by the scheduler or by hand.
/// Source: updaterun/execution.go:isBindingSyncedWithClusterStatus.
pub const RULE: Rule = Rule::error("FS302", "binding-changed-in-flight", Whole(check))
    .reads(&[Concept::Binding, Concept::UpdateRun])
    .caused_by(&["FS201", "FS202", "FS205", "FS206"])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    lost(cx)
        .iter()
        .filter(|lost| lost.winner.is_none())
        .map(|lost| finding(cx, rule, lost))
        .collect()
}

fn finding(cx: &DiagnosisContext<'_>, rule: &Rule, lost: &LostCluster<'_, '_>) -> Finding {
    let LostCluster { cluster, stage, .. } = *lost;
    let subject = match (lost.binding, lost.named) {
        (Some(binding), _) => binding.object(),
        (None, Some(name)) => cx.object(Concept::Binding, name),
        (None, None) => cx.run_object(),
    };
    if let Some(binding) = lost.binding
        && is_another(cx, binding, lost)
    {
        return replaced(cx, rule, lost, binding);
    }
    let later = lost.binding.and_then(|it| written_later(cx, it));
    let off = lost.binding.map(|binding| match later {
        // What it was before is not known.
        Some(_) => Vec::new(),
        None => differences(cx, binding, cluster),
    });
    let is_race = off.as_ref().is_some_and(Vec::is_empty) && is_race(cx, cluster);
    let rejoined = rejoined(cx, lost);
    let edit = lost.binding.and_then(|it| it.meta.last_edit());
    let edit = edit.filter(|(_, write)| !write.manager.is_empty());
    let message = match &off {
        Some(_) if rejoined.is_some() => format!(
            "The binding for {cluster} was changed while the run was updating it, because {cluster} \
             left the fleet and joined again."
        ),
        None if cx.inventory.bindings.is_complete() => format!(
            "The binding for {cluster} was changed while the run was updating it, and no longer \
             exists. The writer is unknown."
        ),
        None => format!(
            "The binding for {cluster} was changed while the run was updating it. It could not be \
             read, so the writer is unknown."
        ),
        Some(_) if is_race => format!(
            "The run failed within a second of its own write to the binding for {cluster}: the controller may \
             have read the binding as it was before."
        ),
        Some(_) if let Some(later) = later => format!(
            "The binding for {cluster} was changed while the run was updating it. What was changed is unknown, \
             because {} has written it since.",
            later.meta.name
        ),
        Some(off) if off.is_empty() => format!(
            "The binding for {cluster} was changed while the run was updating it. It has the run's \
             values again, but the run has failed for good."
        ),
        Some(off) => format!(
            "The binding for {cluster} was changed while the run was updating it: {}. {}",
            enumerate(off.iter().map(|difference| difference.what.as_str())),
            edit.map_or_else(
                || "The writer is unknown.".to_owned(),
                |(_, write)| format!("Its last writer is {}.", write.manager)
            )
        ),
    };
    let message = match cx.failure {
        Some(_) => message,
        None => format!("{message} The run will fail at the controller's next check."),
    };
    let mut finding = run_failure::finding(cx, rule, &subject, message)
        .stage(stage)
        .clusters([cluster]);
    for difference in off.iter().flatten() {
        finding = match &difference.value {
            DriftedValue::Read(value) => finding.evidence(&subject, difference.path, value),
            DriftedValue::Computed(value) => finding.computed(&subject, &[difference.path], value),
        };
    }
    let started = lost
        .binding
        .and_then(|it| it.condition(reasons::ROLLOUT_STARTED));
    let mut finding = finding.condition(&subject, started);
    if let Some((at, write)) = edit {
        let path = format!("metadata.managedFields[{at}].manager");
        finding = finding.evidence(&subject, path, &write.manager);
    }
    let finding = match lost.binding {
        Some(binding) if binding.meta.is_deleting() => cx.look_for_eviction(finding),
        Some(_) if let Some(member) = rejoined => {
            finding.created(member.object(), member.meta.created)
        }
        // Nobody else did.
        Some(_) if is_race => finding,
        Some(_) => finding.look_with(
            "Check who wrote the binding: the scheduler, another controller, or a person.",
            subject
                .kubectl("get")
                .showing_field_managers(),
        ),
        // There is none to read.
        None if cx.inventory.bindings.is_complete() => cx.look_for_eviction(finding),
        None => finding.look_with(
            format!(
                "Check which run has the cluster now: the RolloutStarted message on the binding for \
                 {cluster} names it."
            ),
            cx.of_placement(Concept::Binding).flag("-o", "yaml"),
        ),
    };
    finding.next_run(
        cx,
        if cx.failure.is_some() {
            "Start a new run once nothing else writes the binding: this run has failed for good."
        } else {
            "Start a new run once nothing else writes the binding: this run cannot adopt the change."
        },
    )
}

/// The cluster, where it left the fleet and joined it again after the run had started there: the scheduler
/// takes its binding back then. Source: scheduler/framework/framework.go.
fn rejoined<'i>(
    cx: &DiagnosisContext<'i>,
    lost: &LostCluster<'_, '_>,
) -> Option<&'i MemberCluster> {
    joined_since(cx.inventory, lost.cluster, started(cx, lost.cluster)?)
}

/// When the run started to update a cluster.
fn started(cx: &DiagnosisContext<'_>, cluster: &str) -> Option<Timestamp> {
    let mut clusters = cx.rollout.iter().flat_map(Rollout::updated_clusters);
    clusters.find_map(|it| it.started.filter(|_| it.name == cluster))
}

/// Whether the run failed so soon after it had started a cluster that the controller may not have seen its own
/// write yet. Source: updaterun/execution.go:isBindingSyncedWithClusterStatus.
fn is_race(cx: &DiagnosisContext<'_>, cluster: &str) -> bool {
    let failed = cx.failure.as_ref().and_then(|it| it.condition.since);
    let took = started(cx, cluster).zip(failed);
    took.is_some_and(|(started, failed)| started.duration_until(failed).as_secs() <= 1)
}

/// Whether a binding is not the one that the run wrote: it has another name, or was created after that.
fn is_another(cx: &DiagnosisContext<'_>, binding: &Binding, lost: &LostCluster<'_, '_>) -> bool {
    let is_named = lost.named.is_none_or(|named| named == binding.meta.name);
    let started = started(cx, lost.cluster);
    !is_named || started.is_some() && binding.meta.created > started
}

/// The binding that the run wrote is gone, and there is another one.
fn replaced(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    lost: &LostCluster<'_, '_>,
    binding: &Binding,
) -> Finding {
    let object = binding.object();
    let message = format!(
        "The binding for {} was deleted while the run was updating it; {} was created instead.",
        lost.cluster, object.name
    );
    let finding = run_failure::finding(cx, rule, &object, message)
        .stage(lost.stage)
        .clusters([lost.cluster])
        .created(&object, binding.meta.created);
    cx.look_for_eviction(finding).next_run(
        cx,
        "Start a new run once nobody deletes the binding: this run has failed for good.",
    )
}

/// One thing about a binding that is not as the run wrote it.
struct BindingDrift {
    what: String,
    path: &'static str,
    value: DriftedValue,
}

/// What stands under the path, or what was made of it.
enum DriftedValue {
    Read(String),
    Computed(String),
}

fn differences(cx: &DiagnosisContext<'_>, binding: &Binding, cluster: &str) -> Vec<BindingDrift> {
    let mut found = Vec::new();
    let mut add = |what: String, path: &'static str, value: DriftedValue| {
        found.push(BindingDrift { what, path, value });
    };
    if let Some(deleted) = binding.meta.deleted {
        add(
            "it is being deleted".to_owned(),
            "metadata.deletionTimestamp",
            DriftedValue::Read(deleted.shown()),
        );
    }
    let snapshot = &binding.spec.snapshot;
    if let Some(wanted) = cx.inventory.wanted_snapshot()
        && wanted != *snapshot
    {
        let has = if snapshot.is_empty() {
            "none"
        } else {
            snapshot
        };
        add(
            format!("its snapshot is {has} instead of {wanted}"),
            "spec.resourceSnapshotName",
            DriftedValue::Read(snapshot.clone()),
        );
    }
    if binding.spec.state != "Bound" {
        add(
            format!("its state is {} instead of Bound", binding.spec.state),
            "spec.state",
            DriftedValue::Read(binding.spec.state.clone()),
        );
    }
    let status = cx
        .run()
        .into_iter()
        .flat_map(|run| &run.status.stages)
        .flat_map(|stage| &stage.clusters)
        .find(|status| status.name == cluster);
    if status.is_some_and(|status| other_overrides(status, binding)) {
        let (path, names) = if binding.spec.overrides.is_empty() {
            (
                "spec.clusterResourceOverrideSnapshots",
                binding.spec.cluster_overrides.shown(),
            )
        } else {
            (
                "spec.resourceOverrideSnapshots",
                binding.spec.overrides.shown(),
            )
        };
        add(
            "its overrides differ from the run's record".to_owned(),
            path,
            DriftedValue::Read(names),
        );
    }
    let recorded = cx
        .run()
        .and_then(|run| run.status.apply_strategy.as_deref());
    if let (Some(recorded), Some(has)) = (recorded, binding.spec.apply_strategy.as_deref()) {
        let differences = recorded.differences(has);
        if !differences.is_empty() {
            add(
                "its apply strategy differs from the run's record".to_owned(),
                "spec.applyStrategy",
                DriftedValue::Computed(differences.join("; ")),
            );
        }
    }
    let started = binding.condition(reasons::ROLLOUT_STARTED);
    if !started
        .is_some_and(|started| started.is_true() && started.observes(binding.meta.generation))
    {
        let generation = binding.meta.generation.unwrap_or(0);
        let covered = started.and_then(|started| started.observed_generation);
        add(
            match covered {
                Some(covered) if covered != generation => format!(
                    "RolloutStarted covers generation {covered}, the binding is at {generation}"
                ),
                _ => "RolloutStarted is not True for its generation".to_owned(),
            },
            "metadata.generation",
            DriftedValue::Read(binding.meta.generation.shown()),
        );
    }
    found
}

fn other_overrides(status: &ClusterStatus, binding: &Binding) -> bool {
    status.overrides != binding.spec.overrides
        || status.cluster_overrides != binding.spec.cluster_overrides
}
