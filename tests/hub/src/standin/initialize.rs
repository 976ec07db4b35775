//! Initializing a run: everything that it is based on is read once and recorded.

use serde_json::json;

use super::conditions::{Condition, Conditions};
use super::halt::{Halt, refuse, unexpected, user};
use super::inputs;
use super::names;
use super::object::Object;
use super::stages;
use super::status::{ClusterStatus, Run, StageStatus};
use super::world::World;
use super::{conditions, kinds::Scope};

/// The names of the bindings that an initialized run works on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Targets {
    pub(crate) update: Vec<String>,
    pub(crate) delete: Vec<String>,
}

/// Records everything but the resource snapshot. What was recorded before a refusal stays in the
/// status, as with KubeFleet.
pub(crate) fn prepare(run: &mut Run, world: &World) -> Result<Targets, Halt> {
    let placement = inputs::placement(run, world)?;
    run.status.applied_strategy = Some(inputs::apply_strategy(placement));
    let policy = inputs::policy(run, world)?;
    policy
        .label(names::POLICY_INDEX)
        .clone_into(&mut run.status.policy_snapshot_index_used);
    let wanted = inputs::wanted_clusters(run, policy)?;
    run.status.policy_observed_cluster_count = wanted.unwrap_or(-1);
    inputs::scheduled(policy)?;
    let bindings = inputs::bindings(run, world, policy, wanted)?;
    run.status.policy_observed_cluster_count =
        i64::try_from(bindings.selected.len()).unwrap_or(i64::MAX);

    let strategy = world
        .get(
            run.scope.kinds().strategy,
            run.scope.namespace(),
            &run.spec.strategy,
        )
        .ok_or_else(|| {
            refuse(&user(&format!(
                "referenced updateStrategy not found: `{}`",
                run.scope.key(&run.spec.strategy)
            )))
        })?;
    run.status.staged_update_strategy_snapshot = Some(stages::record(strategy));
    match stages::compute(run, world, &bindings) {
        Ok(stages) => run.status.stages_status = stages,
        Err((halt, reached)) => {
            run.status.stages_status = reached.unwrap_or_default();
            return Err(halt);
        }
    }
    let target = |binding: &&serde_json::Value| binding.text("/spec/targetCluster").to_owned();
    let mut deleted: Vec<String> = bindings.unselected.iter().map(target).collect();
    deleted.sort();
    run.status.deletion_stage_status = Some(StageStatus {
        stage_name: names::DELETE_STAGE.to_owned(),
        clusters: deleted
            .into_iter()
            .map(|cluster_name| ClusterStatus {
                cluster_name,
                conditions: Vec::new(),
            })
            .collect(),
        ..StageStatus::default()
    });
    let named = |binding: &&serde_json::Value| binding.name().to_owned();
    Ok(Targets {
        update: bindings.selected.iter().map(named).collect(),
        delete: bindings.unselected.iter().map(named).collect(),
    })
}

/// Checks the snapshot that a run names, and gives back its index as its label has it.
pub(crate) fn named_snapshot(run: &Run, world: &World) -> Result<String, Halt> {
    let given = &run.spec.snapshot;
    let index = given
        .parse::<i64>()
        .ok()
        .filter(|index| *index >= 0)
        .ok_or_else(|| {
            refuse(&user(&format!(
                "invalid resource snapshot index `{given}` provided, expected an integer >= 0"
            )))
        })?;
    let key = run.scope.key(&run.spec.placement);
    let parts = || {
        world
            .of_placement(
                run.scope.kinds().resource_snapshot,
                &run.scope,
                &run.spec.placement,
            )
            .filter(|snapshot| snapshot.label(names::RESOURCE_INDEX) == given)
    };
    if parts().next().is_none() {
        return Err(refuse(&user(&format!(
            "no resourceSnapshots with index `{index}` found for placement `{key}`"
        ))));
    }
    parts()
        .find(|snapshot| !snapshot.annotation(names::RESOURCE_HASH).is_empty())
        .map(|first| first.label(names::RESOURCE_INDEX).to_owned())
        .ok_or_else(|| {
            refuse(&unexpected(&format!(
                "no master resourceSnapshot found for placement {key}"
            )))
        })
}

/// What an initialized run says.
pub(crate) const SUCCESS: &str = "The UpdateRun initialized successfully";
/// What it said when the run's state was ignored.
pub(crate) const OLD_SUCCESS: &str = "ClusterStagedUpdateRun initialized successfully";

/// Records that the run is initialized, with these words, or why it cannot be.
pub(crate) fn conclude(run: &mut Run, outcome: Result<&str, &str>, now: jiff::Timestamp) {
    let says = match outcome {
        Ok(message) => ("True", "UpdateRunInitializedSuccessfully", message),
        Err(message) => ("False", "UpdateRunInitializedFailed", message),
    };
    conditions::set(
        &mut run.status.conditions,
        Condition::new("Initialized", says, run.generation),
        now,
    );
}

/// Whether a run was initialized, and with which result.
pub(crate) fn outcome(run: &Run) -> Option<bool> {
    match run.status.conditions.find("Initialized")?.status.as_str() {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

/// The object with which a run asks for an approval.
pub(crate) fn approval_request(
    scope: &Scope,
    run: &str,
    stage: &str,
    name: &str,
    task_type: &str,
) -> serde_json::Value {
    let kind = scope.kinds().approval;
    let mut request = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.name(),
        "metadata": {
            "name": name,
            "labels": {
                names::TARGET_STAGE: stage,
                names::TARGET_RUN: run,
                names::TASK_TYPE: task_type,
                names::LATEST_APPROVAL: "true",
            },
        },
        "spec": {"parentStageRollout": run, "targetStage": stage},
    });
    if let Scope::Namespace(namespace) = scope {
        request.put(&["metadata", "namespace"], json!(namespace));
    }
    request
}
