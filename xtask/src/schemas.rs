//! The guard of the schemas: programs that read our outputs keep working with the next version.
//!
//! The schemas of the last release are kept; whatever they promise, the present ones must promise
//! too. Only a new `apiVersion` begins anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::generate::SCHEMAS;

/// Documents that are read again, by this version or a later one: they may ask for nothing more.
const READ_AGAIN: [&str; 3] = ["bundle", "member-objects", "controller-log"];

/// The schemas of the last release, for the `apiVersion` of now.
fn released(root: &Path) -> PathBuf {
    let version = kubectl_fleet_stage::kubefleet::object::OWN_API_VERSION;
    let version = version.rsplit('/').next().unwrap_or(version);
    root.join(SCHEMAS).join("released").join(version)
}

/// Compares with the last release, or makes the present schemas those of a release.
pub fn run(root: &Path, release: bool) -> Result<()> {
    let (folder, kept) = (root.join(SCHEMAS), released(root));
    if release {
        std::fs::create_dir_all(&kept).with_context(|| kept.display().to_string())?;
        for name in names(&folder)? {
            let to = kept.join(&name);
            std::fs::copy(folder.join(&name), &to).with_context(|| to.display().to_string())?;
        }
    }
    let mut broken = Vec::new();
    for name in names(&kept)? {
        let short = name.trim_end_matches(".schema.json");
        let old = read(&kept.join(&name))?;
        match read(&folder.join(&name)) {
            Ok(new) => broken.extend(
                breaks(&old, &new, READ_AGAIN.contains(&short))
                    .into_iter()
                    .map(|text| format!("{short}{text}")),
            ),
            Err(_) => broken.push(format!("{short}: the schema is gone")),
        }
    }
    if broken.is_empty() {
        return Ok(());
    }
    for text in &broken {
        crate::report(text);
    }
    bail!(
        "a released schema promises more: programs would break that read this output. Keep the \
         promise, or begin a new apiVersion"
    )
}

/// The schemas in a folder; none when there is no folder.
fn names(folder: &Path) -> Result<Vec<String>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut names = release::files(folder)?;
    names.retain(|name| name.ends_with(".schema.json"));
    Ok(names)
}

fn read(path: &Path) -> Result<Value> {
    let text = std::fs::read(path).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&text).with_context(|| path.display().to_string())
}

/// What an old schema promises and a new one does not.
pub fn breaks(old: &Value, new: &Value, read_again: bool) -> Vec<String> {
    let mut look = Look {
        roots: (old, new),
        read_again,
        seen: BTreeSet::new(),
        found: Vec::new(),
    };
    look.compare(": ", old, new);
    look.found
}

struct Look<'s> {
    roots: (&'s Value, &'s Value),
    read_again: bool,
    /// Pairs of definitions that are compared already: they may be recursive.
    seen: BTreeSet<(String, String)>,
    found: Vec<String>,
}

impl<'s> Look<'s> {
    fn compare(&mut self, at: &str, old: &'s Value, new: &'s Value) {
        let named = |schema: &Value| schema["$ref"].as_str().map(str::to_owned);
        if let (Some(a), Some(b)) = (named(old), named(new))
            && !self.seen.insert((a, b))
        {
            return;
        }
        let (old, new) = (resolve(self.roots.0, old), resolve(self.roots.1, new));
        if let Some(values) = values(old) {
            let known = self::values(new);
            for value in values {
                if !known.as_ref().is_some_and(|known| known.contains(&value)) {
                    self.say(at, &format!("the value {value} is gone"));
                }
            }
            return;
        }
        for word in ["type", "format", "const", "pattern"] {
            if !same(&old[word], &new[word]) {
                let text = format!("{word} was {}, and is {}", old[word], new[word]);
                self.say(at, &text);
            }
        }
        for word in ["anyOf", "oneOf"] {
            self.branches(at, word, old, new);
        }
        self.properties(at, old, new);
        for (word, mark) in [("items", "[]"), ("additionalProperties", ".*")] {
            match (old.get(word), new.get(word)) {
                (Some(old), Some(new)) => self.compare(&below(at, mark), old, new),
                (Some(old), None) if old.is_object() => {
                    self.say(&below(at, mark), "is not described any more");
                }
                (None, Some(Value::Bool(false))) => {
                    self.say(at, "other properties are not allowed any more");
                }
                _ => {}
            }
        }
    }

    fn properties(&mut self, at: &str, old: &'s Value, new: &'s Value) {
        let (was, is) = (required(old), required(new));
        for (name, property) in old["properties"].as_object().into_iter().flatten() {
            let at = below(at, &format!(".{name}"));
            let Some(now) = new["properties"].get(name) else {
                self.say(&at, "the property is gone");
                continue;
            };
            if was.contains(name.as_str()) && !is.contains(name.as_str()) {
                self.say(&at, "was always there, and may be absent now");
            }
            self.compare(&at, property, now);
        }
        if self.read_again {
            for name in is.difference(&was) {
                let at = below(at, &format!(".{name}"));
                self.say(&at, "is required now: older documents lack it");
            }
        }
    }

    /// Alternatives: each old one must be among the new ones.
    fn branches(&mut self, at: &str, word: &str, old: &'s Value, new: &'s Value) {
        let list = |schema: &'s Value| schema[word].as_array().map_or(&[][..], Vec::as_slice);
        let (was, is) = (list(old), list(new));
        for branch in was {
            let fits = is.iter().any(|now| {
                let mut inner = Look {
                    roots: self.roots,
                    read_again: self.read_again,
                    seen: self.seen.clone(),
                    found: Vec::new(),
                };
                inner.compare(at, branch, now);
                inner.found.is_empty()
            });
            if !fits {
                self.say(at, &format!("an alternative of {word} is gone or changed"));
            }
        }
        if is.len() > was.len() {
            self.say(
                at,
                &format!("{word} has alternatives that readers do not know"),
            );
        }
    }

    fn say(&mut self, at: &str, what: &str) {
        let at = at.trim_end_matches(": ");
        self.found.push(format!("{at}: {what}"));
    }
}

fn below(at: &str, mark: &str) -> String {
    format!("{}{mark}", at.trim_end_matches(": "))
}

/// The definition that a reference leads to.
fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let path = schema["$ref"]
        .as_str()
        .and_then(|path| path.strip_prefix('#'));
    path.and_then(|path| root.pointer(path)).unwrap_or(schema)
}

/// The values of an enumeration, however it is written.
fn values(schema: &Value) -> Option<Vec<String>> {
    let written = |value: &Value| value.to_string();
    if let Some(values) = schema["enum"].as_array() {
        return Some(values.iter().map(written).collect());
    }
    let branches = schema["oneOf"].as_array()?;
    let mut values = Vec::new();
    for branch in branches {
        match (branch.get("const"), self::values(branch)) {
            (Some(value), _) => values.push(written(value)),
            (None, Some(more)) => values.extend(more),
            (None, None) => return None,
        }
    }
    Some(values)
}

fn required(schema: &Value) -> BTreeSet<&str> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

/// Whether two words of a schema say the same, in any order.
fn same(a: &Value, b: &Value) -> bool {
    let set = |value: &Value| match value {
        Value::Array(values) => values.iter().map(Value::to_string).collect(),
        value => BTreeSet::from([value.to_string()]),
    };
    set(a) == set(b)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::breaks;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "kind": {"type": "string"},
                "count": {"type": "integer", "format": "uint"},
                "note": {"type": ["string", "null"]},
                "verdict": {"$ref": "#/$defs/Verdict"},
                "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
                "cause": {"anyOf": [{"$ref": "#/$defs/Item"}, {"type": "null"}]},
            },
            "required": ["kind", "items"],
            "$defs": {
                "Verdict": {"oneOf": [
                    {"type": "string", "const": "Good", "description": "It is well."},
                    {"type": "string", "enum": ["Bad", "Worse"]},
                ]},
                "Item": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "of": {"$ref": "#/$defs/Item"}},
                    "required": ["name"],
                },
            },
        })
    }

    fn changed(change: impl FnOnce(&mut Value)) -> Vec<String> {
        let mut new = schema();
        change(&mut new);
        breaks(&schema(), &new, false)
    }

    #[test]
    fn more_is_no_break() {
        assert_eq!(breaks(&schema(), &schema(), true), [""; 0]);
        let found = changed(|new| {
            new["properties"]["extra"] = json!({"type": "string"});
            new["properties"]["kind"]["description"] = json!("other words");
            new["required"] = json!(["items", "kind", "count"]);
            new["$defs"]["Verdict"] = json!({"enum": ["Worse", "Bad", "Good", "Best"]});
            new["$defs"]["Item"]["properties"]["more"] = json!({"type": "boolean"});
        });
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn another_name_of_a_definition_is_no_break() {
        let text = schema().to_string().replace("/Item", "/Thing");
        let text = text.replace("\"Item\"", "\"Thing\"");
        let new = serde_json::from_str(&text).unwrap_or_default();
        assert_eq!(breaks(&schema(), &new, false), [""; 0]);
    }

    #[test]
    fn every_kind_of_break_is_named() {
        let remove = |value: &mut Value, key: &str| {
            value.as_object_mut().map(|fields| fields.remove(key));
        };
        for (found, wanted) in [
            (
                changed(|new| remove(&mut new["properties"], "count")),
                ".count: the property is gone",
            ),
            (
                changed(|new| new["required"] = json!(["kind"])),
                ".items: was always there, and may be absent now",
            ),
            (
                changed(|new| new["properties"]["kind"]["type"] = json!("integer")),
                ".kind: type was \"string\", and is \"integer\"",
            ),
            (
                changed(|new| new["properties"]["kind"]["type"] = json!(["string", "null"])),
                ".kind: type was \"string\", and is [\"string\",\"null\"]",
            ),
            (
                changed(|new| new["properties"]["note"]["type"] = json!("string")),
                ".note: type was [\"string\",\"null\"], and is \"string\"",
            ),
            (
                changed(|new| new["$defs"]["Verdict"]["oneOf"][1]["enum"] = json!(["Bad"])),
                ".verdict: the value \"Worse\" is gone",
            ),
            (
                changed(|new| remove(&mut new["$defs"]["Item"]["properties"], "name")),
                ".items[].name: the property is gone",
            ),
            (
                changed(|new| new["properties"]["cause"]["anyOf"] = json!([{"type": "null"}])),
                ".cause: an alternative of anyOf is gone or changed",
            ),
            (
                changed(|new| remove(&mut new["properties"]["count"], "format")),
                ".count: format was \"uint\", and is null",
            ),
            (
                changed(|new| new["additionalProperties"] = json!(false)),
                ": other properties are not allowed any more",
            ),
        ] {
            assert!(
                found.iter().any(|text| text == wanted),
                "{wanted}: {found:?}"
            );
        }
    }

    #[test]
    fn what_is_read_again_may_not_ask_for_more() {
        let mut new = schema();
        new["required"] = json!(["kind", "items", "count"]);
        assert_eq!(breaks(&schema(), &new, false), [""; 0]);
        assert_eq!(
            breaks(&schema(), &new, true),
            [".count: is required now: older documents lack it"]
        );
    }

    /// The schemas that are kept are those of real outputs: a change of one of them is seen.
    #[test]
    fn the_kept_schemas_are_guarded() {
        let root = crate::root();
        let kept = super::released(&root);
        let names = super::names(&kept).unwrap_or_default();
        assert!(names.iter().any(|name| name == "diagnosis.schema.json"));
        for name in names {
            let old = super::read(&kept.join(&name)).unwrap_or_default();
            assert_eq!(breaks(&old, &old, true), [""; 0], "{name}");
            let properties = old["properties"].as_object();
            for property in properties.into_iter().flatten().map(|(name, _)| name) {
                let mut new = old.clone();
                if let Some(fields) = new["properties"].as_object_mut() {
                    fields.remove(property);
                }
                assert_eq!(breaks(&old, &new, false).len(), 1, "{name}: {property}");
            }
        }
    }
}
