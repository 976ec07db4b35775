//! The resource snapshot resolver: reads what a placement selects, and sees to a snapshot of it.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::api::{Answer, Api, Failure};
use super::content;
use super::halt::Halt;
use super::kinds::Scope;
use super::names;
use super::object::Object;
use super::snapshots::{self, Decision};
use super::timing::Timing;
use super::world::World;

/// The index of the snapshot that stands for the content as it is now. While a new one is held
/// back, that is the old one.
pub(crate) async fn current(
    api: &Api,
    scope: &Scope,
    placement: &Value,
    world: &World,
    timing: &Timing,
) -> Answer<Result<String, Halt>> {
    let content = match content::select(api, scope, placement).await {
        Ok(content) => content,
        Err(halt) => return Ok(Err(halt)),
    };
    let kind = scope.kinds().resource_snapshot;
    let known: Vec<&Value> = world.of_placement(kind, scope, placement.name()).collect();
    let get = |name: &str| world.get(kind, scope.namespace(), name).cloned();
    let now = Timestamp::now();
    let index = |snapshot: &Value| snapshot.label(names::RESOURCE_INDEX).to_owned();
    match snapshots::decide(placement, &known, &content, timing.snapshots, now) {
        Decision::Use { name, promote } => {
            let mut snapshot = get(&name).ok_or(Failure::Conflict)?;
            if promote {
                snapshot.put(&["metadata", "labels", names::IS_LATEST], json!("true"));
                api.update(kind, &snapshot).await?;
            }
            Ok(Ok(index(&snapshot)))
        }
        Decision::Delay { name, note } => {
            let mut snapshot = get(&name).ok_or(Failure::Conflict)?;
            if note {
                snapshots::note(&mut snapshot, now);
                api.update(kind, &snapshot).await?;
            }
            Ok(Ok(index(&snapshot)))
        }
        Decision::Create {
            index: number,
            demote,
            prune,
        } => {
            if let Some(mut old) = demote.and_then(|name| get(&name)) {
                old.put(&["metadata", "labels", names::IS_LATEST], json!("false"));
                api.update(kind, &old).await?;
            }
            for old in prune.iter().filter_map(|name| get(name)) {
                api.delete(kind, &old).await?;
            }
            let new = snapshots::build(scope, placement, number, &content);
            api.create(kind, &new).await?;
            Ok(Ok(number.to_string()))
        }
    }
}
