//! Two runs on one placement are under way at once.

use std::collections::BTreeMap;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::preemption;
use crate::inventory::choose;
use crate::kubefleet::apply::ApplyStrategy;
use crate::kubefleet::run::{RunState, UpdateRun};
use crate::rollout::content::would_go_back;
use crate::rollout::rollback::passes_over;
use crate::rollout::{Phase, Rollout};

/// There is no lock: the last writer of a binding wins, and a run fails only when a cluster that
/// it is updating is taken away. Source: updaterun/execution.go:isBindingSyncedWithClusterStatus.
pub const RULE: Rule =
    Rule::warning("FS705", "other-run-active", Run(check)).reads(&[Concept::UpdateRun]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    if rollout.phase != Phase::Executing {
        return Vec::new();
    }
    let active: Vec<_> = cx
        .inventory
        .runs_under_way()
        .filter(|run| run.meta.name != rollout.run.meta.name)
        .filter(|run| rollout.state_ignored || run.spec.wants() == RunState::Run)
        .filter(|run| !has_lost(&Rollout::of(cx.inventory, run)))
        .collect();
    if active.is_empty() {
        return Vec::new();
    }
    // A run that has lost its cluster ends by itself.
    if !preemption::lost(cx).is_empty() {
        return Vec::new();
    }
    let object = rollout.run.object();
    let others = enumerate(active.iter().map(|run| &run.meta.name));
    let verb = if active.len() == 1 { "is" } else { "are" };
    let alike = active
        .iter()
        .all(|other| write_the_same(rollout.run, other));
    let message = if alike {
        format!(
            "{others} {verb} under way on the same placement as {}, with the same snapshot {}. A \
             cluster is updated as soon as one of the runs reaches it.",
            object.name, rollout.run.status.snapshot_index
        )
    } else {
        format!(
            "{others} {verb} under way on the same placement as {}. Runs do not wait for each \
             other, and the last one to update a cluster decides its version.",
            object.name
        )
    };
    let mut finding = rule.finding(&object, message).evidence(
        &object,
        "spec.placementName",
        &cx.inventory.placement_name,
    );
    if alike {
        finding = finding.severity(Severity::Info).snapshot_of(rollout.run);
    }
    for run in active.iter().take(5) {
        let reference = run.object();
        finding = finding
            .evidence(&reference, "spec.state", &run.spec.state)
            .snapshot_of(run);
    }
    if alike {
        return vec![
            finding.look_with(
                "Let them finish, or check the gates of the other run: they do not block this one.",
                active
                    .first()
                    .map(|run| cx.command("status").arg(&run.meta.name)),
            ),
        ];
    }
    if !would_go_back(rollout).is_empty() {
        return vec![finding.look("Resolve FS703 first.")];
    }
    let all = || active.iter().copied().chain([rollout.run]);
    let back = all().find(|run| {
        let newer = |it: &UpdateRun| passes_over(cx.inventory, run, &it.status.snapshot_index);
        all().any(newer)
    });
    let others = all().filter(|run| back.is_none_or(|back| back.meta.name != run.meta.name));
    let older = others.min_by_key(|run| choose::age_key(run));
    let older = older.unwrap_or(rollout.run);
    let is_stuck = Rollout::of(cx.inventory, older).blocks_stop();
    let older = &older.meta.name;
    let instead = |verb: &str| match back {
        Some(back) => format!(
            "Let {} continue, which goes back to snapshot {}, and {verb} {older}",
            back.meta.name, back.status.snapshot_index
        ),
        None => format!("Let one of them continue and {verb} the other, usually the older one"),
    };
    vec![if rollout.state_ignored || is_stuck {
        let why = if rollout.state_ignored {
            "this hub cannot stop one".to_owned()
        } else {
            format!("{older} cannot stop while a cluster is stuck")
        };
        let delete = instead("delete");
        let action =
            format!("{delete}: deleting a run changes nothing on the clusters, and {why}.");
        finding.disrupt_with(action, cx.command("delete").arg(older))
    } else {
        let stop = instead("stop");
        finding.fix_with(format!("{stop}."), cx.command("stop").arg(older))
    }]
}

/// Whether another run has a cluster on which a run works: that one ends at its next check.
fn has_lost(rollout: &Rollout<'_>) -> bool {
    let own = Some(rollout.run.status.snapshot_index.as_str());
    let mut bindings = rollout.in_flight().filter_map(|it| it.binding);
    bindings.any(|it| it.snapshot_index() != own)
}

/// Whether two runs write the same into the bindings that both have: then neither takes a cluster
/// from the other. Source: updaterun/execution.go:isBindingSyncedWithClusterStatus.
fn write_the_same(a: &UpdateRun, b: &UpdateRun) -> bool {
    let clusters = |run: &UpdateRun| -> BTreeMap<String, (Vec<String>, Vec<String>)> {
        let stages = run.status.stages.iter();
        stages
            .flat_map(|stage| &stage.clusters)
            .map(|cluster| {
                let overrides = cluster.overrides.iter();
                let overrides = overrides.map(|it| format!("{}/{}", it.namespace, it.name));
                let writes = (overrides.collect(), cluster.cluster_overrides.clone());
                (cluster.name.clone(), writes)
            })
            .collect()
    };
    let apply = (&a.status.apply_strategy, &b.status.apply_strategy);
    let theirs = clusters(b);
    !a.status.snapshot_index.is_empty()
        && a.status.snapshot_index == b.status.snapshot_index
        && ApplyStrategy::are_alike(apply.0.as_deref(), apply.1.as_deref())
        && clusters(a)
            .iter()
            .all(|(name, writes)| theirs.get(name).is_none_or(|other| other == writes))
}
