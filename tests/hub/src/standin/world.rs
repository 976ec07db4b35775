//! What the controllers know of the hub: a copy in memory, kept up to date by watches.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::kinds::{Kind, Scope};
use super::names;
use super::object::Object;

type Key = (String, String);
type Objects = BTreeMap<Key, Arc<Value>>;

/// All watched objects at one moment. A clone is cheap and does not change any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    kinds: BTreeMap<Kind, Arc<Objects>>,
    // The version at which an object went: the answer to an earlier write may come in later.
    gone: Arc<BTreeMap<(Kind, Key), u64>>,
}

impl World {
    /// One object.
    pub(crate) fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Value> {
        self.kinds
            .get(&kind)?
            .get(&(namespace.to_owned(), name.to_owned()))
            .map(AsRef::as_ref)
    }

    /// All objects of a kind, by namespace and name.
    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = &Value> + use<'_> {
        self.kinds
            .get(&kind)
            .into_iter()
            .flat_map(|objects| objects.values().map(AsRef::as_ref))
    }

    /// The objects of a kind that belong to a placement, by name.
    pub(crate) fn of_placement<'w>(
        &'w self,
        kind: Kind,
        scope: &Scope,
        placement: &str,
    ) -> impl Iterator<Item = &'w Value> + use<'w> {
        let (namespace, placement) = (scope.namespace().to_owned(), placement.to_owned());
        self.all(kind).filter(move |object| {
            object.namespace() == namespace && object.label(names::PLACEMENT) == placement
        })
    }

    /// Replaces all that is known of a kind.
    pub(crate) fn replace(&mut self, kind: Kind, objects: Vec<Value>) {
        let objects = objects
            .into_iter()
            .map(|object| (key(&object), Arc::new(object)))
            .collect();
        self.kinds.insert(kind, Arc::new(objects));
    }

    /// Takes in a newer version of an object; an older one changes nothing. Says whether it did.
    pub(crate) fn upsert(&mut self, kind: Kind, object: Value) -> bool {
        let objects = Arc::make_mut(self.kinds.entry(kind).or_default());
        let key = key(&object);
        let known = objects
            .get(&key)
            .is_some_and(|known| version(known) >= version(&object));
        let gone = self
            .gone
            .get(&(kind, key.clone()))
            .is_some_and(|gone| *gone >= version(&object));
        if known || gone {
            return false;
        }
        objects.insert(key, Arc::new(object));
        true
    }

    /// Forgets an object, unless it was created anew since. Says whether it did.
    pub(crate) fn remove(&mut self, kind: Kind, object: &Value) -> bool {
        let objects = Arc::make_mut(self.kinds.entry(kind).or_default());
        let key = key(object);
        let known = objects
            .get(&key)
            .is_some_and(|known| version(known) <= version(object));
        let changed = known && objects.remove(&key).is_some();
        Arc::make_mut(&mut self.gone).insert((kind, key), version(object));
        changed
    }
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
}
