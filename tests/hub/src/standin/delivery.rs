//! The work generator: each binding's Works, and the status that follows from them.

use jiff::Timestamp;
use serde_json::Value;

use super::api::{Answer, Api};
use super::bindings;
use super::conditions::{self, Conditions};
use super::control::{Context, Rested};
use super::kinds::{Kind, Scope};
use super::names;
use super::object::Object;
use super::world::World;

/// Keeps every binding's Works and status as they should be.
pub(crate) async fn control(mut context: Context) {
    let mut rested = Rested::default();
    loop {
        let (api, world) = (&context.api, context.api.world());
        let kinds = [Kind::ClusterResourceBinding, Kind::ResourceBinding];
        let look = |binding: Value, scope: Scope| {
            let world = &world;
            async move {
                if binding.deleting() {
                    delete(api, world, &scope, binding).await
                } else {
                    deliver(api, world, &scope, binding).await
                }
            }
        };
        let errors = rested.stir(&world, kinds, look).await;
        context.rest(None, errors).await;
    }
}

async fn deliver(api: &Api, world: &World, scope: &Scope, mut binding: Value) -> Answer<()> {
    let kind = scope.kinds().binding;
    let state = binding.text("/spec/state").to_owned();
    let snapshot = binding.text("/spec/resourceSnapshotName").to_owned();
    if !matches!(state.as_str(), "Bound" | "Unscheduled") || snapshot.is_empty() {
        return Ok(());
    }
    if world
        .get(Kind::MemberCluster, "", binding.text("/spec/targetCluster"))
        .is_none()
    {
        return Ok(());
    }
    if !binding.has_finalizer(names::WORK_FINALIZER) {
        binding.add_finalizer(names::WORK_FINALIZER);
        binding = api.update(kind, &binding).await?;
    }
    let started = conditions::of_status(&binding)
        .find("RolloutStarted")
        .is_some_and(|condition| condition.observed_generation == binding.generation());
    if state == "Bound" && !started {
        return Ok(());
    }
    let own = own_works(world, scope, &binding);
    let Some(snapshots) = parts(world, scope, &binding, &snapshot) else {
        let synced = !own.is_empty()
            && own
                .iter()
                .all(|work| work.annotation(names::WORK_SNAPSHOT) == snapshot);
        let status = if synced {
            bindings::status(&binding, &own, Timestamp::now())
        } else {
            bindings::snapshot_gone(&binding, Timestamp::now())
        };
        return write(api, kind, binding, status).await;
    };
    let mut works = Vec::new();
    for wanted in bindings::works(scope, &binding, &snapshots) {
        let known = own.iter().find(|work| work.name() == wanted.name());
        works.push(match known {
            None => api.create(Kind::Work, &wanted).await?,
            Some(known) => match bindings::changed(known, &wanted) {
                None => (*known).clone(),
                Some(new) => api.update(Kind::Work, &new).await?,
            },
        });
    }
    for old in own {
        if !works.iter().any(|work| work.name() == old.name()) {
            api.delete(Kind::Work, old).await?;
        }
    }
    let works: Vec<&Value> = works.iter().collect();
    let status = bindings::status(&binding, &works, Timestamp::now());
    write(api, kind, binding, status).await
}

async fn write(api: &Api, kind: Kind, mut binding: Value, status: Option<Value>) -> Answer<()> {
    if let Some(status) = status {
        binding["status"] = status;
        api.update_status(kind, &binding).await?;
    }
    Ok(())
}

/// The Works of a binding that are not being deleted.
fn own_works<'w>(world: &'w World, scope: &Scope, binding: &Value) -> Vec<&'w Value> {
    all_works(world, scope, binding)
        .into_iter()
        .filter(|work| !work.deleting())
        .collect()
}

fn all_works<'w>(world: &'w World, scope: &Scope, binding: &Value) -> Vec<&'w Value> {
    let namespace = names::member_namespace(binding.text("/spec/targetCluster"));
    world
        .of_placement(Kind::Work, scope, binding.label(names::PLACEMENT))
        .filter(|work| {
            work.namespace() == namespace && work.label(names::WORK_BINDING) == binding.name()
        })
        .collect()
}

/// All objects of a snapshot, the first one first; nothing while some of them are missing.
fn parts<'w>(
    world: &'w World,
    scope: &Scope,
    binding: &Value,
    name: &str,
) -> Option<Vec<&'w Value>> {
    let kind = scope.kinds().resource_snapshot;
    let first = world.get(kind, scope.namespace(), name)?;
    let index = first.label(names::RESOURCE_INDEX);
    let mut parts = vec![first];
    parts.extend(
        world
            .of_placement(kind, scope, binding.label(names::PLACEMENT))
            .filter(|part| part.label(names::RESOURCE_INDEX) == index && part.name() != name),
    );
    let wanted: usize = first
        .annotation(names::NUMBER_OF_SNAPSHOTS)
        .parse()
        .unwrap_or(1);
    (parts.len() == wanted).then_some(parts)
}

async fn delete(api: &Api, world: &World, scope: &Scope, mut binding: Value) -> Answer<()> {
    let works = all_works(world, scope, &binding);
    for work in &works {
        if !work.deleting() {
            api.delete(Kind::Work, work).await?;
        }
    }
    if !works.is_empty() {
        return Ok(());
    }
    binding.drop_finalizer(names::WORK_FINALIZER);
    binding.drop_finalizer(names::BINDING_FINALIZER);
    api.let_go(scope.kinds().binding, &binding).await
}
