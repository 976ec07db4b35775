//! Reading and writing plain JSON objects.

use serde_json::{Map, Value, json};

/// What every Kubernetes object has.
pub(crate) trait Object {
    /// The string at a JSON pointer; empty when it is absent.
    fn text(&self, pointer: &str) -> &str;
    fn number(&self, pointer: &str) -> Option<i64>;
    fn items(&self, pointer: &str) -> &[Value];
    fn name(&self) -> &str {
        self.text("/metadata/name")
    }
    fn namespace(&self) -> &str {
        self.text("/metadata/namespace")
    }
    fn uid(&self) -> &str {
        self.text("/metadata/uid")
    }
    fn generation(&self) -> i64 {
        self.number("/metadata/generation").unwrap_or_default()
    }
    fn deleting(&self) -> bool {
        !self.text("/metadata/deletionTimestamp").is_empty()
    }
    fn label(&self, key: &str) -> &str;
    fn annotation(&self, key: &str) -> &str;
    fn has_finalizer(&self, finalizer: &str) -> bool {
        self.items("/metadata/finalizers")
            .iter()
            .any(|own| own.as_str() == Some(finalizer))
    }
    /// Puts a value at a path of object keys; whatever is not an object on the way becomes one.
    fn put(&mut self, path: &[&str], value: Value);
    fn add_finalizer(&mut self, finalizer: &str);
    fn drop_finalizer(&mut self, finalizer: &str);
}

impl Object for Value {
    fn text(&self, pointer: &str) -> &str {
        self.pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn number(&self, pointer: &str) -> Option<i64> {
        self.pointer(pointer).and_then(Value::as_i64)
    }

    fn items(&self, pointer: &str) -> &[Value] {
        self.pointer(pointer)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    fn label(&self, key: &str) -> &str {
        entry(self, "/metadata/labels", key)
    }

    fn annotation(&self, key: &str) -> &str {
        entry(self, "/metadata/annotations", key)
    }

    fn put(&mut self, path: &[&str], value: Value) {
        let mut place = self;
        for key in path {
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            place = &mut place[*key];
        }
        *place = value;
    }

    fn add_finalizer(&mut self, finalizer: &str) {
        if !self.has_finalizer(finalizer) {
            let mut all = self.items("/metadata/finalizers").to_vec();
            all.push(json!(finalizer));
            self.put(&["metadata", "finalizers"], Value::Array(all));
        }
    }

    fn drop_finalizer(&mut self, finalizer: &str) {
        let kept: Vec<Value> = self
            .items("/metadata/finalizers")
            .iter()
            .filter(|own| own.as_str() != Some(finalizer))
            .cloned()
            .collect();
        self.put(&["metadata", "finalizers"], Value::Array(kept));
    }
}

// Label keys contain slashes, which a JSON pointer would have to escape.
fn entry<'a>(object: &'a Value, pointer: &str, key: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(|map| map.get(key))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// A number of 64 hexadecimal digits that follows from the text alone. It stands where KubeFleet
/// has a SHA-256 over its own serialization, which nobody can compute from outside either.
pub(crate) fn digest(text: &str) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let part = |round: u8| {
        let mut hasher = DefaultHasher::new();
        (round, text).hash(&mut hasher);
        hasher.finish()
    };
    format!(
        "{:016x}{:016x}{:016x}{:016x}",
        part(0),
        part(1),
        part(2),
        part(3)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_paths() {
        let mut object = json!({"metadata": {"name": "a", "labels": {"x/y": "1"}}});
        assert_eq!(object.label("x/y"), "1");
        object.put(&["metadata", "annotations", "k/v"], json!("2"));
        assert_eq!(object.annotation("k/v"), "2");
        object.add_finalizer("f");
        object.add_finalizer("f");
        assert_eq!(object.items("/metadata/finalizers").len(), 1);
        object.drop_finalizer("f");
        assert!(!object.has_finalizer("f"));
    }

    #[test]
    fn a_digest_depends_on_the_text_alone() {
        assert_eq!(digest("a"), digest("a"));
        assert_ne!(digest("a"), digest("b"));
        assert_eq!(digest("a").len(), 64);
    }
}
