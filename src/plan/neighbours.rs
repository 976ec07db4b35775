//! Other runs on the placement, and clusters that would go back: who overtakes whom.

use crate::report::ComposeText;
use std::collections::{BTreeMap, BTreeSet};

use super::draft::PlanDraft;
use super::stages::ComputedStages;
use super::{ClusterChange, PlannedCluster, Warning, WarningKind};
use crate::kubefleet::run::{RunState, UpdateRun};
use crate::kubefleet::{Concept, Conditions, reasons};
use crate::problems::put_there;
use crate::rollout::content::missing_content;
use crate::rollout::dropped_gates::{approvals_of, dropped_gate};
use crate::rollout::rollback::{TakenBack, is_newer};
use crate::rollout::{ClusterView, Phase, Rollout};
use crate::words::{count, distinct, enumerate, said_if};

/// Warns of the clusters that the planned run takes back.
pub(super) fn going_back(draft: &mut PlanDraft<'_>, computed: &ComputedStages, then: Option<&str>) {
    let back: Vec<_> = computed
        .updated()
        .filter(|cluster| cluster.change == ClusterChange::Back)
        .collect();
    let Some(then) = then.filter(|_| !back.is_empty()) else {
        return;
    };
    let held = put_there(
        back.iter().filter_map(|it| it.snapshot.as_deref()),
        back.iter().filter_map(|it| it.written_by.as_deref()),
    );
    let message = format!(
        "{} would be rolled back from {held} to snapshot {then}: {}.",
        count(back.len(), "cluster"),
        enumerate(back.iter().map(|cluster| &cluster.name))
    );
    let mut warning = Warning::new(WarningKind::ClustersGoBack, draft.placement(), message)
        .clusters(back.iter().map(|cluster| cluster.name.as_str()));
    for cluster in back.iter().take(5) {
        if let Some(binding) = draft.inventory.binding(&cluster.name) {
            let path = "spec.resourceSnapshotName";
            warning = warning.evidence(binding.object(), path, &binding.spec.snapshot);
        }
    }
    let placement = &draft.placement().name;
    warning = warning.look_with(
        "Compare the two snapshots.",
        draft
            .inventory
            .binding(back.first().map_or("", |it| &it.name))
            .and_then(|binding| {
                let now = binding.snapshot_index()?;
                Some(
                    draft
                        .command("snapshots diff")
                        .arg(placement)
                        .arg(now)
                        .arg(then),
                )
            }),
    );
    draft.warnings.push(warning);
}

/// Warns of every other run on the placement that is not over. There is no lock: whoever writes a
/// cluster last decides its version, and a run fails only where a cluster that it is updating is
/// taken from it. Source: updaterun/execution.go:isBindingSyncedWithClusterStatus.
pub(super) fn active_runs(
    draft: &mut PlanDraft<'_>,
    computed: &ComputedStages,
    then: Option<&str>,
) {
    let inventory = draft.inventory;
    let own = draft.wish.run.as_deref();
    let others: Vec<_> = inventory
        .runs
        .iter()
        .filter(|run| Some(run.meta.name.as_str()) != own)
        .map(|run| Rollout::of(inventory, run))
        .filter(Rollout::is_live)
        .collect();
    for other in others {
        let warning = active(draft, computed, then, &other);
        draft.warnings.push(warning);
    }
}

fn active(
    draft: &PlanDraft<'_>,
    computed: &ComputedStages,
    then: Option<&str>,
    other: &Rollout<'_>,
) -> Warning {
    let run = other.run;
    let object = run.object();
    let theirs = run.status.snapshot_index.as_str();
    let planned: BTreeMap<&str, &PlannedCluster> = computed
        .updated()
        .map(|cluster| (cluster.name.as_str(), cluster))
        .collect();
    let ours = |name: &&str| planned.contains_key(*name);
    let missing = missing_content(other);
    let gets = |name: &&str| {
        missing
            .as_ref()
            .is_none_or(|it| !it.clusters.contains(name))
    };
    let reaches = other.still_to_reach().map(|cluster| cluster.name);
    let reaches: Vec<_> = reaches.filter(|name| ours(name) && gets(name)).collect();
    let in_flight = other.in_flight();
    let in_flight: Vec<_> = in_flight.map(|cluster| cluster.name).filter(ours).collect();
    let with = said_if(!theirs.is_empty(), format!(" with snapshot {theirs}"));
    let mut parts = vec![format!("{object} {}{with}", phase(other))];
    let differs = then.is_some_and(|then| then != theirs);
    if !reaches.is_empty() && differs {
        let names = enumerate(&reaches);
        let how = if then.is_some_and(|then| is_newer(then, theirs)) {
            format!("rolls {names} back to snapshot {theirs}")
        } else {
            format!("replaces this run's snapshot on {names}")
        };
        parts.push(format!("if it continues after this run, it {how}"));
    }
    // A run that is being stopped does not look which snapshot a cluster has.
    // Source: updaterun/stop.go:stopUpdatingStage.
    let is_checked = other.state_ignored || run.spec.wants() != RunState::Stop;
    if !in_flight.is_empty() && differs && is_checked {
        parts.push(format!(
            "it fails if this run writes a cluster that it is updating now ({})",
            enumerate(&in_flight)
        ));
    }
    parts.extend(
        missing
            .as_ref()
            .map(|it| it.describe().trim_end_matches('.').to_owned()),
    );
    if parts.len() == 1 {
        parts.push("runs do not wait for each other".to_owned());
    }
    let concerned = distinct(reaches.iter().chain(&in_flight).copied());
    let message = format!("{}.", parts.join("; "));
    let warning = Warning::new(WarningKind::OtherRunActive, &object, message)
        .clusters(concerned)
        .evidence(&object, "spec.state", &run.spec.state)
        .evidence(&object, run.snapshot_path(), theirs);
    let name = &run.meta.name;
    let back = then.and_then(|then| TakenBack::of(draft.inventory, then));
    if back.is_some_and(|back| back.by.meta.name == *name) {
        let held = other.in_flight().any(ClusterView::is_held);
        let (wait, look) = if held {
            let check = format!("Check what holds {name}, which goes back to snapshot {theirs}.");
            (check, "diagnose")
        } else {
            let wait = format!("Wait until {name} ends: it goes back to snapshot {theirs}.");
            (wait, "status")
        };
        return warning.look_with(wait, draft.command(look).arg(name));
    }
    let stops = !other.state_ignored && !other.blocks_stop() && missing.is_none();
    if other.phase == Phase::Executing && stops && run.spec.wants() == RunState::Run {
        let action = "Stop it first, or wait until it ends.";
        return warning.fix_with(action, draft.command("stop").arg(name));
    }
    warning
        .look_with(
            format!("Check the progress of {name}."),
            draft.command("status").arg(name),
        )
        .disrupt_with(
            "Delete it if nobody needs it. Clusters keep what they have.",
            draft.command("delete").arg(name),
        )
}

const fn phase(other: &Rollout<'_>) -> &'static str {
    match other.phase {
        Phase::Idle => "is initialized and may be started at any time",
        Phase::Stopped => "is stopped and may be resumed at any time",
        Phase::Stopping => "is being stopped",
        Phase::Initializing => "is being initialized",
        _ => "is in progress",
    }
}

/// Warns where the hub begins with every run at once.
pub(super) fn state_ignored(draft: &mut PlanDraft<'_>) {
    let inventory = draft.inventory;
    let by_runs = || {
        let runs = inventory.runs.iter();
        runs.filter(|run| Rollout::of(inventory, run).state_ignored)
            .max_by_key(|run| run.meta.created)
            .map(UpdateRun::object)
    };
    let seen = match &inventory.hub.run_states {
        Some(_) if inventory.hub.ignores_state() => None,
        _ => match by_runs() {
            Some(run) => Some(run),
            None => return,
        },
    };
    let mut warning = Warning::new(
        WarningKind::StateIgnoredByHub,
        draft.placement(),
        "KubeFleet 0.1 on this hub ignores spec.state: a run starts as soon as it is created, and \
         only deleting it stops it.",
    );
    warning = if let Some(run) = seen {
        warning.evidence(run, "spec.state", "was ignored")
    } else {
        let states = inventory.hub.run_states.as_ref();
        let words = states.map(|states| states.join(", ")).unwrap_or_default();
        let words = if words.is_empty() {
            "no such field".to_owned()
        } else {
            words
        };
        let kind = inventory.scope.kind(Concept::UpdateRun);
        let schema = inventory.scope.object(Concept::UpdateRun, kind.plural());
        warning.evidence(schema, "the values of spec.state", words)
    };
    draft.warnings.push(warning);
}

/// Warns of approvals for which the run does not wait, of those that it is made of, or that are stopped or deleted
/// first, if they have the same strategy.
pub(super) fn dropped_gates(draft: &mut PlanDraft<'_>, planned: &UpdateRun) {
    let Some(now) = approvals_of(planned) else {
        return;
    };
    let wish = draft.wish;
    let names: BTreeSet<_> = wish.in_place_of.iter().chain(&wish.made_of).collect();
    let runs = names
        .into_iter()
        .filter_map(|it| draft.inventory.run_on(it));
    for run in runs.filter(|run| run.spec.strategy == planned.spec.strategy) {
        let Some(why) = dropped_gate(run, &now) else {
            continue;
        };
        let strategy = draft.strategy_object();
        let warning = Warning::new(WarningKind::GateDropped, strategy, format!("{why}."));
        let is_over = run.status.conditions.is_true(reasons::SUCCEEDED);
        let is_from = wish.made_of.as_ref() == Some(&run.meta.name) && !is_over;
        draft.warnings.push(if is_from {
            warning.fix("Name the strategy, if that is meant.")
        } else {
            warning
        });
    }
}
