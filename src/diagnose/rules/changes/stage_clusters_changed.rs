//! A stage has other clusters, or the same in another order, than when the run began.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::membership::{
    self, StageDifference, compare, is_undone_by_undoing, recorded_stage, relabel,
};
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::run::{StageStatus, UpdateRun};
use crate::kubefleet::strategy::Stage;
use crate::problems::StageMap;
use crate::problems::scheduling::not_picked;
use crate::problems::steps;
use crate::words::{CommandLine, said_if};

/// The stages are computed again at every look, from the recorded strategy and the members as they
/// are, and must come out the same. Source: updaterun/validation.go:validateUpdateStagesStatus.
pub const RULE: Rule = Rule::error("FS204", "stage-clusters-changed", Whole(check))
    .reads(&[Concept::Binding, Concept::MemberCluster])
    .caused_by(&["FS202", "FS203", "FS205", "FS518"])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(run) = cx.run() else {
        return Vec::new();
    };
    if run_failure::live_run(cx).is_some() {
        return early(cx, rule, run).into_iter().collect();
    }
    cx.causes()
        .filter_map(|cause| match cause {
            Cause::StageClusterCountChanged {
                stage_index,
                new,
                existing,
            } => {
                let text = match (existing, new) {
                    (Some(existing), Some(new)) => format!(
                        "was changed during the run: it had {} at the start and {new} at the check",
                        count(usize::try_from(*existing).unwrap_or(usize::MAX), "cluster")
                    ),
                    _ => {
                        "was changed during the run: its number of clusters differs from the start"
                            .to_owned()
                    }
                };
                let counts = existing.zip(*new);
                Some(finding(
                    cx,
                    rule,
                    run,
                    *stage_index,
                    (&text, StageChange::Count(counts)),
                ))
            }
            Cause::StageClusterChanged {
                stage_index,
                new,
                existing,
            } => {
                let text = format!(
                    "was changed during the run: the controller found {new} in the place of \
                     {existing}"
                );
                Some(finding(
                    cx,
                    rule,
                    run,
                    *stage_index,
                    (&text, StageChange::Clusters(new, existing)),
                ))
            }
            _ => None,
        })
        .collect()
}

/// What the controller will run into: the first stage that would come out different now. A cluster
/// that is only to be taken from the placement is another rule's, and so are stages that can no longer
/// be computed.
fn early(cx: &DiagnosisContext<'_>, rule: &Rule, run: &UpdateRun) -> Option<Finding> {
    let failure = cx.outlook.failure();
    if cx.inventory.is_placement_going()
        || failure.is_some_and(|it| ["FS111", "FS113"].contains(&it.code))
    {
        return None;
    }
    let unscheduled = |name: &&str| {
        let binding = cx.inventory.binding(name);
        binding.is_some_and(Binding::is_unscheduled)
    };
    let mut differ = (0..).zip(&run.status.stages).filter_map(|(at, _)| {
        let (status, spec) = membership::stage_at(run, at)?;
        let difference = compare(cx.inventory, status, spec?)?;
        let others = difference.reordered
            || !difference.came.is_empty()
            || !difference.left.iter().all(unscheduled);
        others.then_some((at, status, spec, difference))
    });
    let (index, status, spec, difference) = differ.next()?;
    // The controller fails at the first, and would at those with other clusters as well.
    let clusters = difference.clusters();
    let too: Vec<_> = differ
        .filter(|(.., other)| !other.clusters().is_subset(&clusters))
        .map(|(_, status, _, difference)| {
            let how = describe(cx, &difference);
            format!("{}{how}", status.name)
        })
        .collect();
    let had = status.clusters.len();
    let has = (had + difference.came.len()).saturating_sub(difference.left.len());
    let text = if difference.reordered {
        let order = spec.and_then(|spec| membership::reordering(cx.inventory, status, spec));
        format!(
            "was reordered during the run: {}",
            order.unwrap_or_else(|| "its clusters are the same".to_owned())
        )
    } else if had == has {
        format!(
            "has other clusters than at the run's start{}",
            describe(cx, &difference)
        )
    } else {
        format!(
            "had {} at the run's start and has {has} now{}",
            count(had, "cluster"),
            describe(cx, &difference)
        )
    };
    let also = match too.as_slice() {
        [] => String::new(),
        [one] => format!(" Stage {one} has changed, too."),
        several => format!(" Stages {} have changed, too.", enumerate(several)),
    };
    let message = format!(
        "Stage {} {text}, {}.{also}",
        status.name,
        run_failure::will_fail(cx)
    );
    let finding = rule
        .finding(subject(run, &clusters), message)
        .severity(Severity::Warning)
        .clusters(clusters.iter().copied())
        .stage(status.name.as_str());
    let finding = recorded(finding, run, index, status, spec);
    let relabel = relabel(cx, &clusters).filter(|_| too.is_empty());
    let finding = members(cx, finding, &clusters);
    let finding = if relabel.is_none() && !difference.left.is_empty() {
        finding.look_with(
            "Check why the placement selects each cluster, or does not.",
            cx.command("clusters").arg(&cx.inventory.placement_name),
        )
    } else {
        finding
    };
    Some(take_back_or_new_run(cx, finding, relabel))
}

/// What can be done before the controller has seen the change.
fn take_back_or_new_run(
    cx: &DiagnosisContext<'_>,
    finding: Finding,
    undo: Option<CommandLine>,
) -> Finding {
    let finding = if is_undone_by_undoing(cx) {
        finding.fix_with(run_failure::undo_in_time(cx), undo)
    } else {
        finding
    };
    let action = "Or start a new run: it computes its stages from the current clusters. This run cannot \
                  adopt the change.";
    finding.next_run(cx, action)
}

/// The cluster, when it is about one.
fn subject(run: &UpdateRun, clusters: &BTreeSet<&str>) -> Subject {
    match clusters.iter().collect::<Vec<_>>().as_slice() {
        [one] => Subject::member(one),
        _ => Subject::from(run.object()),
    }
}

/// What the controller found in a stage.
#[derive(Clone, Copy)]
enum StageChange<'c> {
    /// How many clusters it had and has, where the message tells.
    Count(Option<(u64, u64)>),
    /// A cluster in the place of another one.
    Clusters(&'c str, &'c str),
}

fn finding(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    run: &UpdateRun,
    index: Option<u64>,
    (text, change): (&str, StageChange<'_>),
) -> Finding {
    let at = index.and_then(|index| membership::stage_at(run, index));
    let stage = at.map(|(status, _)| status.name.as_str());
    // With the placement the bindings go, and labels may have changed again: what stands there now
    // then is not what the controller found.
    let is_same = |difference: &StageDifference<'_>| {
        let StageChange::Count(Some((existing, new))) = change else {
            return true;
        };
        let size = |clusters: &[&str]| u64::try_from(clusters.len()).unwrap_or(u64::MAX);
        difference.is_empty()
            || existing.saturating_add(size(&difference.came))
                == new.saturating_add(size(&difference.left))
    };
    let difference = at.and_then(|(status, spec)| compare(cx.inventory, status, spec?));
    let difference = difference.filter(is_same);
    let mut clusters = difference
        .as_ref()
        .map(StageDifference::clusters)
        .unwrap_or_default();
    if clusters.is_empty()
        && let StageChange::Clusters(new, existing) = change
    {
        clusters.extend([new, existing]);
    }
    let order = at.and_then(|(status, spec)| membership::reordering(cx.inventory, status, spec?));
    let reordering = order.filter(|_| difference.as_ref().is_some_and(|it| it.reordered));
    let text = reordering.as_ref().map_or_else(
        || text.to_owned(),
        |order| format!("was reordered during the run: {order}"),
    );
    let known = difference.as_ref().map(|difference| match &reordering {
        Some(_) => String::new(),
        None => describe(cx, difference),
    });
    let message = format!(
        "Stage {} {text}{}. The run failed because of this change.",
        stage.map_or_else(
            || index.map_or_else(
                || "of the run".to_owned(),
                |index| format!("number {index}")
            ),
            str::to_owned
        ),
        known.as_deref().unwrap_or_default(),
    );
    let mut finding = run_failure::finding(cx, rule, subject(run, &clusters), message)
        .clusters(clusters.iter().copied());
    finding.stage = stage.map(str::to_owned);
    if let (Some(index), Some((status, spec))) = (index, at) {
        finding = recorded(finding, run, index, status, spec);
    }
    finding = members(cx, finding, &clusters);
    if known.is_none() && !cx.inventory.placement.is_absent() {
        finding = finding
            .look_with(
                "Compare the labels of the member clusters with the stage's selector.",
                steps::show_labels(),
            )
            .look_with(
                "List the bindings of the placement to see its clusters.",
                cx.of_placement(Concept::Binding),
            );
    }
    let action = "Start a new run: it computes its stages from the current clusters. Do not change labels or \
                  membership while it runs.";
    finding.next_run(cx, action)
}

/// Adds what the run recorded of the stage.
fn recorded(
    finding: Finding,
    run: &UpdateRun,
    index: u64,
    status: &StageStatus,
    spec: Option<&Stage>,
) -> Finding {
    let finding = finding.evidence(
        run.object(),
        format!("status.stagesStatus[{index}].clusters"),
        &status.clusters,
    );
    let selector = spec.and_then(|spec| spec.selector.as_deref());
    let path = format!("status.stagedUpdateStrategySnapshot.stages[{index}].labelSelector");
    finding.known(run.object(), path, selector)
}

/// Which clusters came and left, as part of a sentence.
fn describe(cx: &DiagnosisContext<'_>, difference: &StageDifference<'_>) -> String {
    if difference.is_empty() {
        return ". Its clusters are the recorded ones again, but the run has failed for good"
            .to_owned();
    }
    if difference.reordered {
        return "; its clusters are the same, but in another order".to_owned();
    }
    let part = |names: &[&str], verb: &str| {
        (!names.is_empty()).then(|| format!("{} {verb}", enumerate(names)))
    };
    let from = |name: &&str| match recorded_stage(cx, name) {
        Some(stage) => format!("{name} of stage {stage}"),
        None => (*name).to_owned(),
    };
    let came: Vec<_> = difference.came.iter().map(from).collect();
    let came: Vec<_> = came.iter().map(String::as_str).collect();
    // The scheduler may have said why it does not pick them any more.
    let (mut left, mut why) = (difference.left.clone(), Vec::new());
    let policy = cx.inventory.latest_policy().into_iter();
    for (reason, names) in policy.flat_map(|it| not_picked(it, cx.inventory)) {
        let (own, others) = left.into_iter().partition(|it| names.contains(it));
        left = others;
        why.extend(part(&own, "left").map(|part| format!("{part}: {reason}")));
    }
    let map = StageMap::recorded(cx.inventory);
    let nowhere = |name: &str| {
        let map = map.as_ref();
        map.is_some_and(|map| map.nowhere().any(|it| it.name == name))
    };
    left.retain(|name| {
        let Some(label) = unselected(cx, name) else {
            return true;
        };
        // Then the controller names the cluster, and no stage (FS113).
        let stages = said_if(nowhere(name), ", and no stage of the run selects it");
        why.push(format!("{name} left: it {label}{stages}"));
        false
    });
    let parts = [part(&came, "joined"), part(&left, "left")].into_iter();
    let parts: Vec<_> = parts.flatten().chain(why).collect();
    format!(" ({})", parts.join("; "))
}

/// Which label of a cluster keeps the stage from selecting it in which the run recorded it.
fn unselected(cx: &DiagnosisContext<'_>, name: &str) -> Option<String> {
    let (member, binding) = (cx.inventory.member(name)?, cx.inventory.binding(name)?);
    let stage = recorded_stage(cx, name).filter(|_| !binding.is_unscheduled())?;
    let stages = &cx.run()?.status.strategy.as_deref()?.stages;
    let mut stages = stages.iter();
    let selector = stages.find(|it| it.name == stage)?.selector.as_deref()?;
    let key = selector.unmet_key(&member.meta.labels)?;
    Some(match member.meta.label(key) {
        Some(value) => format!("has {key}={value}"),
        None => format!("lacks {key}"),
    })
}

/// What became of each cluster: its labels now, or that it left.
fn members(cx: &DiagnosisContext<'_>, mut finding: Finding, clusters: &BTreeSet<&str>) -> Finding {
    let policy = cx.inventory.latest_policy();
    let decisions = policy.map_or(&[][..], |it| &it.status.decisions);
    for cluster in clusters.iter().take(3) {
        let stage = match recorded_stage(cx, cluster) {
            Some(stage) => format!("{cluster} was in stage {stage}"),
            None => format!("{cluster} was in no stage"),
        };
        finding = finding.computed(
            cx.run_object(),
            &["status.stagesStatus[].clusters[].clusterName"],
            stage,
        );
        if let Some(member) = cx.inventory.member(cluster) {
            finding = finding.evidence(member.object(), "metadata.labels", &member.meta.labels);
        }
        let decision = decisions.iter().find(|it| it.cluster == **cluster);
        if let Some((policy, decision)) = policy.zip(decision.filter(|it| !it.selected)) {
            let path = format!("status.targetClusters[clusterName={cluster}].reason");
            finding = finding.evidence(policy.object(), path, &decision.reason);
        }
    }
    finding
}
