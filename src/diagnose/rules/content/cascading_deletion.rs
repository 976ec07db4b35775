//! A run deletes an object with what is in it from clusters that keep the placement.

use crate::contents::ManifestKey;
use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::changes_ahead;
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::plan::CascadingDeletion;
use crate::problems::steps;
use crate::rollout::Rollout;
use crate::rollout::content::cascading_losses;
use crate::rollout::overrides::{is_deletion, origin, rules_of};
use crate::rollout::versions::Version;

/// The hub agent deletes from a cluster what the run's snapshot no longer has, and Kubernetes deletes what
/// is in a Namespace with it, whoever created that. Source: workgenerator/controller.go:syncAllWork.
pub const RULE: Rule = Rule::warning("FS711", "cascading-deletion", Live(check))
    .reads(changes_ahead::READ)
    .content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    let run = rollout.run.object();
    let losses = cascading_losses(rollout).into_iter().map(|loss| {
        let (name, deletes) = (loss.object.describe(), loss.describe());
        let why = match loss.by {
            Some(by) => format!(": override {} deletes it there", origin(by)),
            None => ", although the placement stays".to_owned(),
        };
        let mut finding = rule
            .finding(&run, format!("{} {deletes}{why}.", run.name))
            .severity(changes_ahead::severity(
                rollout,
                loss.clusters.iter().copied(),
            ))
            .clusters(loss.clusters.iter().copied())
            .snapshot_of(rollout.run)
            .index_of(loss.snapshot);
        // Where the texts of the content were read, what clusters refuse is told by itself.
        let mut refused = changes_ahead::changes_ahead(cx).refused.iter();
        let is_told = loss.by.is_some() || refused.any(|it| it.needs(&loss.object));
        if let Some(left) = left_without(rollout, &loss.object).filter(|_| !is_told) {
            finding.add_sentence(&format!(
                "{} stays in the content: without it, the run gets stuck there.",
                left.describe()
            ));
        }
        let (again, finding) = if let Some(by) = loss.by {
            let mut rules = rules_of(by).iter().enumerate();
            let finding = match rules.find(|(_, rule)| is_deletion(rule)) {
                Some((at, rule)) => {
                    let path = format!("spec.overrideSpec.policy.overrideRules[{at}].overrideType");
                    finding.evidence(by.object(), path, &rule.kind)
                }
                None => finding,
            };
            let check = "Check that the override is meant.";
            let finding = finding.look_with(check, steps::see_override(by));
            ("Correct the override", finding)
        } else if let Some(index) = rollout.run.pinned().or(outdated(rollout, &loss.object)) {
            let check = format!("Check that snapshot {index} is meant: it does not have {name}.");
            let snapshots = cx.command("snapshots").arg("diff");
            let held = loss.snapshot.index().unwrap_or_default();
            let diff = snapshots.arg(&cx.inventory.placement_name).arg(held);
            let is_pinned = rollout.run.pinned().is_some();
            let other = if is_pinned {
                "Choose another snapshot"
            } else {
                "Use the latest snapshot"
            };
            (other, finding.look_with(check, diff.arg(index)))
        } else {
            let check =
                format!("Check that {name} exists on the hub, and that the placement selects it.");
            let placement = cx.placement_object().kubectl("get").flag("-o", "yaml");
            ("Select it again", finding.look_with(check, placement))
        };
        let finding = if rollout.phase.is_halted() || cx.is_resting() {
            finding
        } else {
            let step = "Stop the run, if it is to stay.";
            finding.fix_with(step, cx.command("stop").arg(&run.name))
        };
        let action =
            format!("{again} if {name} is to stay, then start a new run in this one's place.");
        finding.new_run(cx, action)
    });
    losses.chain(created_again(cx, rule, rollout)).collect()
}

/// The same of objects that come back without what went with them.
fn created_again(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    rollout: &Rollout<'_>,
) -> impl Iterator<Item = Finding> {
    let run = rollout.run;
    changes_ahead::created_again(cx).map(move |lost| {
        let message = format!("With {}, {}.", run.meta.name, lost.describe());
        let names = || lost.clusters.iter().map(String::as_str);
        let finding = rule
            .finding(run.object(), message)
            .severity(changes_ahead::severity(rollout, names()))
            .clusters(names())
            .snapshot_of(run);
        changes_ahead::look_at_changes(cx, finding)
            .fix(CascadingDeletion::KEEP)
            .new_run(cx, "Start a new run in this one's place after that.")
    })
}

/// An object of the run's content that cannot exist without one which it deletes.
fn left_without(rollout: &Rollout<'_>, lost: &ManifestKey) -> Option<ManifestKey> {
    let own = Version::of_index(rollout.inventory, &rollout.run.status.snapshot_index);
    let mut objects = own.sent().map(ManifestKey::of_manifest);
    objects.find(|it| lost.holds(it))
}

/// The snapshot of a run, where the latest one has an object that it lacks.
fn outdated<'i>(rollout: &Rollout<'i>, object: &ManifestKey) -> Option<&'i str> {
    let index = rollout.run.status.snapshot_index.as_str();
    let latest = rollout.inventory.snapshots.iter();
    let latest = latest.filter(|it| it.is_latest());
    let mut objects = latest.flat_map(ResourceSnapshot::sent);
    let has = objects.any(|it| ManifestKey::of_manifest(it) == *object);
    has.then_some(index)
}
