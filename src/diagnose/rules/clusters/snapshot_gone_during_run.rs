//! The resource snapshot that a cluster should get does not exist, or not wholly.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::objects::{clusters, per_binding_problem};
use crate::kubefleet::messages::BindingProblem;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{names, reasons};
use crate::problems::steps::restart_hub_agent;
use crate::problems::{name_reused_by, number_of_parts};
use crate::rollout::AgentVersion;
use crate::rollout::content::{ContentLoss, missing_content};
use crate::rollout::versions::{Version, created_twice};
use crate::words::existing_indexes;

/// The text stands under `Overridden` although no override is concerned: the snapshot is read
/// first. Source: workgenerator/controller.go:syncAllWork.
pub const RULE: Rule = Rule::error("FS510", "snapshot-gone-during-run", Whole(check))
    .reads(&[Concept::Binding, Concept::ResourceSnapshot])
    .caused_by(&["FS518"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let subject = |failing: &FailingCluster<'_>, problem: &BindingProblem| {
        // A binding that was given up before a run reached it names none.
        let named = Some(&failing.binding.spec.snapshot).filter(|it| !it.is_empty())?;
        let name = match problem {
            BindingProblem::SnapshotGroupIncomplete {
                snapshot: Some(name),
            } => name.rsplit('/').next().unwrap_or(name),
            _ => named,
        };
        Some(cx.object(Concept::ResourceSnapshot, name).into())
    };
    let met = per_binding_problem(cx, rule, subject, |_, problem, on, mut finding| {
        let clusters = clusters(on);
        let name = finding.subject.name.clone();
        let snapshots = &cx.inventory.snapshots;
        let present = snapshots.iter().any(|snapshot| snapshot.meta.name == name);
        let incomplete = matches!(problem, BindingProblem::SnapshotGroupIncomplete { .. });
        finding.message = if incomplete {
            format!(
                "Parts of the resource snapshot {name} do not exist, so {clusters} cannot get its \
                 content."
            )
        } else {
            format!("The resource snapshot {name} for {clusters} was not found when it was needed.")
        };
        let subject = finding.subject.clone();
        let index = names::snapshot_index(&name).unwrap_or_default();
        let is_back = !incomplete && Version::of_index(cx.inventory, index).is_complete();
        if present {
            finding = finding.evidence(subject, "metadata.name", &name);
        } else if snapshots.is_complete() {
            finding = finding.absent(subject);
            if let Some(placement) = cx.inventory.placement.present() {
                let indexes = cx.inventory.snapshot_indexes();
                let others = existing_indexes(indexes.iter().map(u64::to_string));
                finding = finding.computed(placement.object(), &["metadata.name"], others);
            }
        }
        finding = if is_back {
            finding.add_sentence("It exists now, but the hub agent does not try again by itself.");
            given_up(cx, finding)
        } else if is_made_again(cx) {
            made_again(cx, finding)
        } else {
            on_what_exists(cx, finding)
        };
        if let Some(placement) = cx.inventory.placement.present()
            && !present
            && names::snapshot_index(&name).is_some()
        {
            finding = finding
                .evidence(
                    placement.object(),
                    "spec.revisionHistoryLimit",
                    placement.spec.revision_history_limit,
                )
                .fix(
                    "Raise the placement's revisionHistoryLimit, if newer content can prune a \
                     snapshot that a slow run still needs.",
                );
        }
        finding
    });
    found_or(met, || {
        to_come(cx, rule).or_else(|| {
            let reused = name_reused_by(cx.inventory, cx.run()?)?;
            Some(rule.told(reused).severity(Severity::Warning))
        })
    })
}

/// What is not found is not looked for again, and a run with the same snapshot sends nothing new.
/// Source: workgenerator/controller.go:Reconcile.
fn given_up(cx: &DiagnosisContext<'_>, finding: Finding) -> Finding {
    finding
        .fix(restart_hub_agent(
            ": it then tries again, and the run continues.",
        ))
        .fix_with(
            "Or change the content on the hub, then start a new run, which gets a new snapshot.",
            cx.new_content_command(),
        )
}

/// Whether a run without an index has a snapshot made, which gets the index of the one that was the latest.
fn is_made_again(cx: &DiagnosisContext<'_>) -> bool {
    cx.inventory.snapshots.is_complete()
        && cx.inventory.latest_snapshot().is_none()
        && cx
            .run()
            .is_some_and(|run| run.pinned().is_none() && makes_snapshots(cx, run))
}

/// Source: v0.2.2 updaterun/initialization.go:getResourceSnapshotObjs.
fn makes_snapshots(cx: &DiagnosisContext<'_>, run: &UpdateRun) -> bool {
    AgentVersion::of(cx.inventory, run) >= AgentVersion::V03
}

/// A new run has it made again, and sends nothing to the clusters whose bindings name it already.
fn made_again(cx: &DiagnosisContext<'_>, finding: Finding) -> Finding {
    let own = &cx.run_object().name;
    finding
        .fix_with(
            "Create it again, if the content is as it was: initialize a run, for which KubeFleet does so, and \
             delete that run afterwards.",
            cx.command("init").flag("--from", own),
        )
        .fix(format!(
            "Then restart the hub agent: it does not try again by itself, and {own} continues then."
        ))
}

/// The same of clusters that a live run has still to reach.
fn to_come(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let run = cx.rollout.as_ref()?.run;
    let missing = missing_content(cx.rollout.as_ref()?)?;
    if missing.object.kind.concept() != Concept::ResourceSnapshot {
        return None;
    }
    let (subject, clusters) = (missing.object, enumerate(&missing.clusters));
    let name = &subject.name;
    let run_name = &run.meta.name;
    let message = match &missing.how {
        ContentLoss::Another => format!(
            "{name} is another snapshot than the one that {run_name} recorded: {clusters} would get \
             content that this run was not made for."
        ),
        ContentLoss::Gone => format!(
            "The resource snapshot {name} no longer exists, so {clusters} cannot receive the \
             content of {run_name}."
        ),
        ContentLoss::Incomplete(flaw) => format!(
            "Of the resource snapshot {name}, {flaw}, so {clusters} cannot receive the content of \
             {run_name}."
        ),
    };
    let mut finding = rule
        .finding(&subject, message)
        .severity(Severity::Warning)
        .clusters(missing.clusters)
        .snapshot_of(run);
    if missing.how == ContentLoss::Another {
        finding = finding.condition(&run.object(), run.condition(reasons::INITIALIZED));
        if let Some(placement) = cx.inventory.placement.present() {
            finding = finding.created(placement.object(), placement.meta.created);
        }
    } else if missing.how == ContentLoss::Gone {
        finding = finding.absent(&subject);
    } else {
        let parts = Version::of_index(cx.inventory, &run.status.snapshot_index).parts;
        for part in parts.into_iter().take(5) {
            finding = number_of_parts(finding, part);
        }
    }
    let finding = finding.look_with(
        "List the existing versions.",
        cx.command("snapshots").arg(&cx.inventory.placement_name),
    );
    Some(on_what_exists(cx, finding))
}

/// A new run on the newest snapshot; where none is the latest, KubeFleet makes one of the current
/// content, and completes one that lacks parts.
/// Source: utils/controller/resource_snapshot_resolver.go:GetOrCreateResourceSnapshot.
fn on_what_exists(cx: &DiagnosisContext<'_>, finding: Finding) -> Finding {
    let latest = cx.inventory.latest_snapshot().and_then(|it| it.index());
    let own = &cx.run_object().name;
    let mut others = cx.inventory.runs_under_way();
    let brings =
        |it: &&UpdateRun| it.meta.name != *own && Some(it.status.snapshot_index.as_str()) == latest;
    if let Some(other) = others.find(brings) {
        let (other, index) = (&other.meta.name, &other.status.snapshot_index);
        let action = format!("Delete {own}: {other} is under way, and brings snapshot {index}.");
        return finding.disrupt_with(action, cx.command("delete").arg(own));
    }
    let latest = latest.map(|index| Version::of_index(cx.inventory, index));
    if latest.as_ref().is_some_and(Version::is_complete) {
        let step = "Start a new run on an existing snapshot; latest is the newest.";
        finding.fix_with(step, cx.fresh_run_command(Some("latest")))
    } else if let Some(latest) = latest {
        finding.fix(if created_twice(&latest.parts).is_some() {
            "Change the content on the hub, then start a new run without --snapshot: KubeFleet cannot \
             complete the latest one."
        } else {
            "Start a new run without --snapshot: since KubeFleet 0.3, that completes the latest one. \
             Before, the content has to change first."
        })
    } else {
        let finding = if cx.run().is_some_and(|run| !makes_snapshots(cx, run)) {
            finding.fix(
                "Change the content on the hub, so that KubeFleet makes a snapshot: up to KubeFleet 0.2.2 a \
                 run without an index waits for one.",
            )
        } else {
            finding
        };
        let advice = "Start a new run on the current content, if that is as it was: the new snapshot gets the same index, \
                      so clusters that have that receive nothing.";
        finding.fix_with(advice, cx.fresh_run_command(None))
    }
}
