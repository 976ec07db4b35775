//! What the controllers know of the hub: a copy in memory, kept up to date by watches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::kinds::{Kind, Scope};
use super::names;
use super::object::Object;

type Key = (String, String);

/// All watched objects at one moment. A clone is cheap and does not change any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    kinds: BTreeMap<Kind, Arc<Objects>>,
    // The version at which an object went: the answer to an earlier write may come in later.
    gone: Arc<BTreeMap<(Kind, Key), u64>>,
    // Grows with every change.
    revision: u64,
    // The last change of anything that belongs to a placement, by its namespace and name.
    placements: Arc<BTreeMap<Key, u64>>,
    // The last change of a member cluster that is more than a heartbeat.
    members: u64,
}

/// The objects of one kind.
#[derive(Debug, Clone, Default)]
struct Objects {
    all: BTreeMap<Key, Arc<Value>>,
    // What belongs to a placement, by the placement's namespace and name.
    owned: BTreeMap<Key, BTreeSet<Key>>,
}

impl World {
    /// One object.
    pub(crate) fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Value> {
        self.kinds
            .get(&kind)?
            .all
            .get(&(namespace.to_owned(), name.to_owned()))
            .map(AsRef::as_ref)
    }

    /// All objects of a kind, by namespace and name.
    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = &Value> + use<'_> {
        self.kinds
            .get(&kind)
            .into_iter()
            .flat_map(|objects| objects.all.values().map(AsRef::as_ref))
    }

    /// The objects of a kind that belong to a placement, by namespace and name.
    pub(crate) fn of_placement<'w>(
        &'w self,
        kind: Kind,
        scope: &Scope,
        placement: &str,
    ) -> impl Iterator<Item = &'w Value> + use<'w> {
        let owner = (scope.namespace().to_owned(), placement.to_owned());
        self.kinds.get(&kind).into_iter().flat_map(move |objects| {
            let keys = objects.owned.get(&owner).into_iter().flatten();
            keys.filter_map(|key| objects.all.get(key).map(AsRef::as_ref))
        })
    }

    /// When something last changed that the controllers of an object's placement look at. Who has
    /// seen this and had nothing to do has nothing to do while it stays the same.
    pub(crate) fn revision(&self, kind: Kind, object: &Value) -> u64 {
        let own = owner(kind, object).and_then(|owner| self.placements.get(&owner).copied());
        own.unwrap_or_default().max(self.members)
    }

    /// Replaces all that is known of a kind.
    pub(crate) fn replace(&mut self, kind: Kind, objects: Vec<Value>) {
        let before = self.kinds.remove(&kind).unwrap_or_default();
        for object in before.all.values() {
            self.touch(kind, Some(object), None);
        }
        let mut new = Objects::default();
        for object in objects {
            self.touch(kind, None, Some(&object));
            new.insert(kind, object);
        }
        self.kinds.insert(kind, Arc::new(new));
    }

    /// Takes in a newer version of an object; an older one changes nothing. Says whether it did.
    pub(crate) fn upsert(&mut self, kind: Kind, object: Value) -> bool {
        let key = key(&object);
        let known = self.known(kind, &key);
        let older = |known: &Arc<Value>| version(known) >= version(&object);
        let gone = self
            .gone
            .get(&(kind, key))
            .is_some_and(|gone| *gone >= version(&object));
        if gone || known.as_ref().is_some_and(older) {
            return false;
        }
        self.touch(kind, known.as_deref(), Some(&object));
        Arc::make_mut(self.kinds.entry(kind).or_default()).insert(kind, object);
        true
    }

    /// Forgets an object, unless it was created anew since. Says whether it did.
    pub(crate) fn remove(&mut self, kind: Kind, object: &Value) -> bool {
        let key = key(object);
        let known = self
            .known(kind, &key)
            .filter(|known| version(known) <= version(object));
        if let Some(known) = &known {
            self.touch(kind, Some(known), None);
            Arc::make_mut(self.kinds.entry(kind).or_default()).remove(kind, &key);
        }
        Arc::make_mut(&mut self.gone).insert((kind, key), version(object));
        known.is_some()
    }

    fn known(&self, kind: Kind, key: &Key) -> Option<Arc<Value>> {
        self.kinds.get(&kind)?.all.get(key).cloned()
    }

    /// Notes a change of an object.
    fn touch(&mut self, kind: Kind, before: Option<&Value>, after: Option<&Value>) {
        self.revision += 1;
        if kind == Kind::MemberCluster && before.map(essence) != after.map(essence) {
            self.members = self.revision;
        }
        for object in [before, after].into_iter().flatten() {
            if let Some(owner) = owner(kind, object) {
                Arc::make_mut(&mut self.placements).insert(owner, self.revision);
            }
        }
    }
}

impl Objects {
    fn insert(&mut self, kind: Kind, object: Value) {
        let key = key(&object);
        self.remove(kind, &key);
        if let Some(owner) = owner(kind, &object) {
            self.owned.entry(owner).or_default().insert(key.clone());
        }
        self.all.insert(key, Arc::new(object));
    }

    fn remove(&mut self, kind: Kind, key: &Key) {
        let old = self.all.remove(key);
        if let Some(owner) = old.and_then(|old| owner(kind, &old))
            && let Some(keys) = self.owned.get_mut(&owner)
        {
            keys.remove(key);
        }
    }
}

/// The namespace and name of the placement that an object is, or belongs to.
fn owner(kind: Kind, object: &Value) -> Option<Key> {
    let (namespace, name) = match kind {
        Kind::ClusterResourcePlacement | Kind::ResourcePlacement => {
            (object.namespace(), object.name())
        }
        Kind::Work => (
            object.label(names::WORK_NAMESPACE),
            object.label(names::PLACEMENT),
        ),
        _ => (object.namespace(), object.label(names::PLACEMENT)),
    };
    (!name.is_empty()).then(|| (namespace.to_owned(), name.to_owned()))
}

/// What placements look at of a member cluster.
fn essence(member: &Value) -> [Option<&Value>; 4] {
    [
        "/metadata/generation",
        "/metadata/labels",
        "/metadata/deletionTimestamp",
        "/status/agentStatus/0/conditions",
    ]
    .map(|pointer| member.pointer(pointer))
}

fn key(object: &Value) -> Key {
    (object.namespace().to_owned(), object.name().to_owned())
}

// The API server's versions are numbers that grow. It promises only since Kubernetes 1.35 that
// clients may compare them; every version that this crate starts behaves so.
fn version(object: &Value) -> u64 {
    object
        .text("/metadata/resourceVersion")
        .parse()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(version: &str) -> Value {
        json!({"metadata": {"name": "a", "resourceVersion": version}})
    }

    #[test]
    fn an_older_version_changes_nothing() {
        let mut world = World::default();
        assert!(world.upsert(Kind::Work, object("10")));
        assert!(!world.upsert(Kind::Work, object("9")));
        assert!(!world.remove(Kind::Work, &object("8")));
        assert!(world.get(Kind::Work, "", "a").is_some());
        assert!(world.remove(Kind::Work, &object("11")));
        assert!(world.get(Kind::Work, "", "a").is_none());
        // The answer to a write that came before the deletion.
        assert!(!world.upsert(Kind::Work, object("10")));
        assert!(world.upsert(Kind::Work, object("12")));
    }

    #[test]
    fn a_clone_stays_as_it_was() {
        let mut world = World::default();
        world.upsert(Kind::Work, object("10"));
        let before = world.clone();
        world.remove(Kind::Work, &object("11"));
        assert_eq!(before.all(Kind::Work).count(), 1);
    }

    #[test]
    fn a_placement_changes_with_what_belongs_to_it() {
        let of = |name: &str, placement: &str, version: &str| {
            json!({"metadata": {
                "name": name,
                "resourceVersion": version,
                "labels": {names::PLACEMENT: placement},
            }})
        };
        let revision = |world: &World, name: &str| {
            let placement = json!({"metadata": {"name": name}});
            world.revision(Kind::ClusterResourcePlacement, &placement)
        };
        let mut world = World::default();
        let kind = Kind::ClusterResourceBinding;
        world.upsert(kind, of("x", "a", "1"));
        let seen = ["a", "b"].map(|name| revision(&world, name));
        world.upsert(kind, of("y", "b", "2"));
        let now = ["a", "b"].map(|name| revision(&world, name));
        assert_eq!(seen[0], now[0]);
        assert!(seen[1] < now[1]);
        // It moves from one to the other.
        world.upsert(kind, of("y", "a", "3"));
        assert_eq!(world.of_placement(kind, &Scope::Cluster, "a").count(), 2);
        assert_eq!(world.of_placement(kind, &Scope::Cluster, "b").count(), 0);
        assert!(now[1] < revision(&world, "b"));
        world.replace(kind, Vec::new());
        assert_eq!(world.of_placement(kind, &Scope::Cluster, "a").count(), 0);
    }

    #[test]
    fn a_heartbeat_changes_no_placement() {
        let member = |version: &str, beat: &str, joined: &str| {
            json!({
                "metadata": {"name": "m", "resourceVersion": version},
                "status": {"agentStatus": [{
                    "lastReceivedHeartbeat": beat,
                    "conditions": [{"type": "Joined", "status": joined}],
                }]},
            })
        };
        let mut world = World::default();
        let placement = json!({"metadata": {"name": "a"}});
        let revision = |world: &World| world.revision(Kind::ClusterResourcePlacement, &placement);
        world.upsert(Kind::MemberCluster, member("1", "1", "True"));
        let joined = revision(&world);
        assert!(world.upsert(Kind::MemberCluster, member("2", "2", "True")));
        assert_eq!(revision(&world), joined);
        world.upsert(Kind::MemberCluster, member("3", "2", "False"));
        assert!(revision(&world) > joined);
    }
}
