//! What a watch has told already.

use std::collections::BTreeMap;

use super::WatchNews;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::object::Object;

/// The objects that were told, each with the version that was.
#[derive(Debug, Default)]
pub(super) struct SeenVersions {
    objects: BTreeMap<ObjectRef, SeenVersion>,
}

#[derive(Debug, PartialEq, Eq)]
struct SeenVersion {
    uid: String,
    resource_version: String,
}

impl SeenVersion {
    fn of(object: &Object) -> Self {
        let meta = object.body.meta();
        Self {
            uid: meta.uid.clone(),
            resource_version: meta.resource_version.clone(),
        }
    }

    /// Whether it is the very same version. One that has no number is always new.
    fn is(&self, other: &Self) -> bool {
        !self.resource_version.is_empty() && self == other
    }
}

impl SeenVersions {
    /// What there is to tell of an object that is new or has changed.
    pub(super) fn put(&mut self, object: Object) -> Option<WatchNews> {
        let version = SeenVersion::of(&object);
        let known = self.objects.get(&object.reference());
        if known.is_some_and(|known| known.is(&version)) {
            return None;
        }
        self.objects.insert(object.reference(), version);
        Some(WatchNews::Changed(object))
    }

    /// What there is to tell of an object that is gone.
    pub(super) fn remove(&mut self, object: &Object) -> Option<WatchNews> {
        let name = object.reference();
        self.objects.remove(&name)?;
        Some(WatchNews::Deleted(name))
    }

    /// What there is to tell of a list: the differences from what was told. What was replaced by
    /// another object of its name was deleted in between.
    pub(super) fn relist(&mut self, objects: Vec<Object>) -> Vec<WatchNews> {
        let mut gone = std::mem::take(&mut self.objects);
        let mut news = Vec::new();
        for object in objects {
            let (name, version) = (object.reference(), SeenVersion::of(&object));
            match gone.remove(&name) {
                Some(known) if known.is(&version) => {}
                Some(known) if known.uid != version.uid => {
                    news.push(WatchNews::Deleted(name.clone()));
                    news.push(WatchNews::Changed(object));
                }
                _ => news.push(WatchNews::Changed(object)),
            }
            self.objects.insert(name, version);
        }
        let mut deleted: Vec<_> = gone.into_keys().map(WatchNews::Deleted).collect();
        deleted.extend(news);
        deleted
    }
}

#[cfg(test)]
mod tests {
    use super::{SeenVersions, WatchNews};
    use crate::hub::read::found::parse_object;
    use crate::kubefleet::Kind;
    use crate::kubefleet::object::Object;

    fn run(name: &str, uid: &str, version: &str) -> Object {
        let text = format!(
            r#"{{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"ClusterStagedUpdateRun","metadata":{{"name":"{name}","uid":"{uid}","resourceVersion":"{version}"}}}}"#
        );
        let raw = serde_json::value::RawValue::from_string(text).unwrap();
        parse_object(Kind::ClusterStagedUpdateRun, raw.get()).unwrap()
    }

    fn told(news: impl IntoIterator<Item = WatchNews>) -> Vec<String> {
        let words = |what| match what {
            WatchNews::Changed(object) => {
                format!(
                    "{}@{}",
                    object.body.meta().name,
                    object.body.meta().resource_version
                )
            }
            WatchNews::Deleted(name) => format!("-{}", name.name),
            other => panic!("{other:?}"),
        };
        news.into_iter().map(words).collect()
    }

    #[test]
    fn a_list_tells_the_differences_alone() {
        let mut seen = SeenVersions::default();
        let first = vec![run("a", "1", "5"), run("b", "2", "6"), run("c", "3", "7")];
        assert_eq!(told(seen.relist(first)), ["a@5", "b@6", "c@7"]);
        let second = vec![run("a", "1", "5"), run("c", "3", "9"), run("d", "4", "8")];
        assert_eq!(told(seen.relist(second)), ["-b", "c@9", "d@8"]);
        // The same name, another object.
        let third = vec![run("a", "9", "12"), run("c", "3", "9"), run("d", "4", "8")];
        assert_eq!(told(seen.relist(third)), ["-a", "a@12"]);
    }

    #[test]
    fn nothing_is_told_twice() {
        let mut seen = SeenVersions::default();
        assert_eq!(told(seen.put(run("a", "1", "5"))), ["a@5"]);
        assert_eq!(told(seen.put(run("a", "1", "5"))), [""; 0]);
        assert_eq!(told(seen.put(run("a", "1", "6"))), ["a@6"]);
        assert_eq!(told(seen.remove(&run("a", "1", "7"))), ["-a"]);
        assert_eq!(told(seen.remove(&run("a", "1", "7"))), [""; 0]);
        // Without a version nobody can say that it is the same.
        assert_eq!(told(seen.put(run("b", "", ""))), ["b@"]);
        assert_eq!(told(seen.put(run("b", "", ""))), ["b@"]);
    }
}
