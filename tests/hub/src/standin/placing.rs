//! The controllers of placements: policy snapshots, scheduling, bindings, the status.

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::api::{Answer, Api, Failure};
use super::control::{Context, Rested};
use super::halt::Halt;
use super::kinds::{Kind, Scope};
use super::names;
use super::object::Object;
use super::placements::{self, Parts};
use super::resolve;
use super::scheduler;
use super::timing::Timing;
use super::world::World;

/// Keeps every placement's policy snapshots, bindings and status as they should be.
pub(crate) async fn control(mut context: Context) {
    let mut rested = Rested::default();
    loop {
        let (api, timing, world) = (&context.api, &context.timing, context.api.world());
        // Nobody tells when the content changes.
        let always = !api.served.obeys_state;
        if always {
            rested = Rested::default();
        }
        let kinds = [Kind::ClusterResourcePlacement, Kind::ResourcePlacement];
        let look = |placement: Value, scope: Scope| {
            let world = &world;
            async move {
                if placement.deleting() {
                    delete(api, world, &scope, placement).await
                } else {
                    place(api, world, &scope, placement.clone()).await?;
                    snapshot(api, timing, world, &scope, &placement).await
                }
            }
        };
        let errors = rested.stir(&world, kinds, look).await;
        let again = always.then(|| Instant::now() + timing.look);
        context.rest(again, errors).await;
    }
}

/// On an old hub it is the controller of placements that makes the resource snapshots.
async fn snapshot(
    api: &Api,
    timing: &Timing,
    world: &World,
    scope: &Scope,
    placement: &Value,
) -> Answer<()> {
    if api.served.obeys_state {
        return Ok(());
    }
    match resolve::current(api, scope, placement, world, timing).await? {
        Err(Halt::Abort(why) | Halt::Retry(why)) => Err(Failure::Other(why)),
        Ok(_) => Ok(()),
    }
}

async fn place(api: &Api, world: &World, scope: &Scope, mut placement: Value) -> Answer<()> {
    let kinds = scope.kinds();
    let missing = [
        names::PLACEMENT_FINALIZER,
        names::PLACEMENT_SCHEDULER_FINALIZER,
    ]
    .into_iter()
    .filter(|finalizer| !placement.has_finalizer(finalizer))
    .collect::<Vec<_>>();
    if !missing.is_empty() {
        for finalizer in missing {
            placement.add_finalizer(finalizer);
        }
        placement = api.update(kinds.placement, &placement).await?;
    }
    let name = placement.name().to_owned();
    let policy = policy(api, world, scope, &placement).await?;
    let bindings: Vec<&Value> = world.of_placement(kinds.binding, scope, &name).collect();
    let policy = schedule(api, world, scope, &placement, policy, &bindings).await?;
    let parts = Parts {
        policy: &policy,
        bindings,
        snapshots: world
            .of_placement(kinds.resource_snapshot, scope, &name)
            .collect(),
    };
    if let Some(status) = placements::status(scope, &placement, &parts, Timestamp::now()) {
        placement["status"] = status;
        api.update_status(kinds.placement, &placement).await?;
    }
    Ok(())
}

/// The policy snapshot that stands for the placement's policy.
async fn policy(api: &Api, world: &World, scope: &Scope, placement: &Value) -> Answer<Value> {
    let kind = scope.kinds().policy_snapshot;
    let known: Vec<&Value> = world.of_placement(kind, scope, placement.name()).collect();
    let latest = scheduler::latest(&known);
    match (scheduler::snapshot(scope, placement, latest), latest) {
        (scheduler::Snapshot::Current, Some(latest)) => Ok(latest.clone()),
        (scheduler::Snapshot::Current, None) => Err(Failure::Conflict),
        (scheduler::Snapshot::Changed(new), _) => api.update(kind, &new).await,
        (scheduler::Snapshot::New(new), latest) => {
            if let Some(latest) = latest {
                let mut old = latest.clone();
                old.put(&["metadata", "labels", names::IS_LATEST], json!("false"));
                api.update(kind, &old).await?;
            }
            api.create(kind, &new).await
        }
    }
}

#[allow(clippy::too_many_arguments)] // each is another thing
async fn schedule(
    api: &Api,
    world: &World,
    scope: &Scope,
    placement: &Value,
    mut policy: Value,
    bindings: &[&Value],
) -> Answer<Value> {
    let kinds = scope.kinds();
    let members: Vec<&Value> = world.all(Kind::MemberCluster).collect();
    let bound: Vec<&str> = bindings
        .iter()
        .filter(|binding| binding.text("/spec/state") != "Unscheduled")
        .map(|binding| binding.text("/spec/targetCluster"))
        .collect();
    let decision = scheduler::decide(placement, &members, &bound);
    let changes = scheduler::reconcile(scope, placement, policy.name(), &decision, bindings);
    for binding in &changes.create {
        api.create(kinds.binding, binding).await?;
    }
    for binding in &changes.update {
        api.update(kinds.binding, binding).await?;
    }
    if let Some(status) = scheduler::status(&policy, &decision, Timestamp::now()) {
        policy["status"] = status;
        policy = api.update_status(kinds.policy_snapshot, &policy).await?;
    }
    Ok(policy)
}

async fn delete(api: &Api, world: &World, scope: &Scope, mut placement: Value) -> Answer<()> {
    let kinds = scope.kinds();
    let name = placement.name().to_owned();
    for kind in [kinds.policy_snapshot, kinds.resource_snapshot] {
        for snapshot in world.of_placement(kind, scope, &name) {
            api.delete(kind, snapshot).await?;
        }
    }
    for binding in world.of_placement(kinds.binding, scope, &name) {
        if !binding.deleting() {
            api.delete(kinds.binding, binding).await?;
        }
    }
    placement.drop_finalizer(names::PLACEMENT_FINALIZER);
    placement.drop_finalizer(names::PLACEMENT_SCHEDULER_FINALIZER);
    api.let_go(kinds.placement, &placement).await
}
