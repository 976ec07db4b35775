//! Secrets out of objects: what must neither be printed nor leave the hub in a bundle.
//!
//! Three things are masked: what Kubernetes itself calls secret (the data of Secrets, wherever they
//! are nested: in snapshots, Works, envelopes, annotations, overrides), values whose name says that
//! they are credentials, and texts that look like one (tokens, private keys, passwords in URLs).
//! Names and the rest of the object stay, so that it can still be explained. Sizes do not.

mod text;

use std::mem;

use serde_json::{Map, Value};

/// What stands in the place of a secret.
pub const MASK: &str = "••••";

/// A value that was masked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Masked {
    /// Where it stood: `spec.selectedResources[0].data.password`. Items of a list that have a name
    /// go by it, so that the path stays when others are added: `env[name=DB_PASSWORD].value`.
    pub path: String,
}

/// Masks every secret in an object, and says where there was one.
pub fn mask(object: &mut Value) -> Vec<Masked> {
    mask_with(object, &mut |_, _| MASK.to_owned())
}

/// The same with a replacement of the caller's for each secret, by its path and its text.
pub fn mask_with(object: &mut Value, replace: &mut dyn FnMut(&str, &str) -> String) -> Vec<Masked> {
    let mut walker = Walker {
        path: String::new(),
        found: Vec::new(),
        replace,
    };
    walker.value(object, Place::default());
    walker.found.dedup();
    walker.found
}

/// What the objects around a value say about it.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// What is below belongs to a Secret, or tells how one differs.
    of_secret: bool,
    /// Labels: names that objects are selected by, never secrets.
    labels: bool,
    /// A text that a controller wrote for people.
    prose: bool,
    /// How many texts were unpacked to come here.
    depth: usize,
}

/// Manifests in texts in manifests: deeper is nobody's configuration.
const MAX_DEPTH: usize = 4;

struct Walker<'r> {
    path: String,
    found: Vec<Masked>,
    replace: &'r mut dyn FnMut(&str, &str) -> String,
}

impl Walker<'_> {
    fn value(&mut self, value: &mut Value, place: Place) {
        match value {
            Value::Object(map) => self.mapping(map, place),
            Value::Array(items) => self.list(items, place),
            Value::String(text) => self.text(text, place),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Goes on below a path.
    fn below(&mut self, step: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str(if length == 0 {
            step.trim_start_matches('.')
        } else {
            step
        });
        visit(self);
        self.path.truncate(length);
    }

    fn list(&mut self, items: &mut [Value], place: Place) {
        // `--token` and its value may be two arguments.
        let mut after_flag = false;
        for (at, item) in items.iter_mut().enumerate() {
            let is_value = mem::take(&mut after_flag);
            let step = match item.get("name").and_then(Value::as_str) {
                Some(name) if is_plain(name) => format!("[name={name}]"),
                _ => format!("[{at}]"),
            };
            if let Value::String(text) = &*item {
                if is_value && !text.starts_with('-') {
                    self.below(&step, |this| this.whole(item));
                    continue;
                }
                after_flag = text
                    .strip_prefix("--")
                    .is_some_and(|flag| !flag.contains('=') && text::names_a_secret(flag));
            }
            self.below(&step, |this| this.value(item, place));
        }
    }

    fn mapping(&mut self, map: &mut Map<String, Value>, mut place: Place) {
        let secret = is_secret(map);
        place.of_secret |= secret || is_about_secrets(map);
        let named = ["name", "path"].iter().any(|key| {
            let name = map.get(*key).and_then(Value::as_str).unwrap_or_default();
            text::names_a_secret(name.rsplit('/').next().unwrap_or_default())
        });
        let is_patch = map.contains_key("op") && map.contains_key("path");
        for (key, value) in map.iter_mut() {
            self.below(&step(key), |this| match (key.as_str(), &mut *value) {
                ("data" | "stringData", Value::Object(data)) if secret => {
                    for (key, value) in data.iter_mut() {
                        this.below(&step(key), |this| this.whole(value));
                    }
                }
                ("data" | "stringData", _) if secret => this.whole(value),
                ("valueInHub" | "valueInMember", _) if place.of_secret || named => {
                    this.whole(value);
                }
                ("value", _) if named || (is_patch && place.of_secret) => this.credential(value),
                (LAST_APPLIED, Value::String(text)) if place.of_secret && json(text).is_none() => {
                    this.whole(value);
                }
                (_, Value::String(_) | Value::Number(_))
                    if !place.labels && text::names_a_secret(key) =>
                {
                    this.credential(value);
                }
                _ => this.value(
                    value,
                    Place {
                        labels: place.labels || matches!(key.as_str(), "labels" | "matchLabels"),
                        prose: key == "message",
                        ..place
                    },
                ),
            });
        }
    }

    /// Masks a value that is called a credential, unless it obviously is none.
    fn credential(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if text::is_harmless(text) => {}
            Value::Bool(_) => {}
            _ => self.whole(value),
        }
    }

    /// Masks a value and everything in it.
    fn whole(&mut self, value: &mut Value) {
        let secret = match &*value {
            Value::Null => return,
            Value::String(text) if text.is_empty() || text.starts_with(MASK) => return,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        *value = Value::String(self.hide(&secret));
    }

    fn hide(&mut self, secret: &str) -> String {
        self.found.push(Masked {
            path: self.path.clone(),
        });
        (self.replace)(&self.path, secret)
    }

    /// Masks what a text holds: manifests and settings in it, and what looks like a credential.
    fn text(&mut self, text: &mut String, place: Place) {
        if self.packed(text, place) {
            return;
        }
        let ranges = text::secrets(text, place.prose);
        if ranges.is_empty() {
            return;
        }
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for range in ranges {
            out.push_str(&text[end..range.start]);
            end = range.end;
            let hidden = self.hide(&text[range]);
            out.push_str(&hidden);
        }
        out.push_str(&text[end..]);
        *text = out;
    }

    /// Masks what stands in a text that is JSON, or YAML with a Secret in it. Returns whether it
    /// did: a text without secrets stays as it was written.
    fn packed(&mut self, text: &mut String, mut place: Place) -> bool {
        place.depth += 1;
        if place.depth > MAX_DEPTH {
            let doubtful = text.contains("Secret");
            if doubtful {
                let secret = mem::take(text);
                *text = self.hide(&secret);
            }
            return doubtful;
        }
        let before = self.found.len();
        if let Some(mut value) = json(text) {
            self.value(&mut value, place);
            if self.found.len() > before {
                *text = if text.contains('\n') {
                    format!("{value:#}")
                } else {
                    value.to_string()
                };
                return true;
            }
            return false;
        }
        if !(text.contains('\n') && text.contains("kind") && text.contains("Secret")) {
            return false;
        }
        let Ok(mut documents) = serde_saphyr::from_multiple::<Value>(text) else {
            // A manifest that cannot be read, a template for one: what is what, nobody can say.
            let looks_secret = |line: &str| {
                let line = line.trim().trim_start_matches("- ").trim_start();
                line.strip_prefix("kind:")
                    .is_some_and(|kind| kind.trim().trim_matches(['"', '\'']) == "Secret")
            };
            if text.lines().any(looks_secret) {
                let secret = mem::take(text);
                *text = self.hide(&secret);
                return true;
            }
            return false;
        };
        if !documents.iter().any(contains_secret) {
            return false;
        }
        for document in &mut documents {
            self.value(document, place);
        }
        if self.found.len() == before {
            return false;
        }
        let written: Result<Vec<_>, _> = documents.iter().map(serde_saphyr::to_string).collect();
        *text = match written {
            Ok(documents) => documents.join("---\n"),
            Err(_) => MASK.to_owned(),
        };
        true
    }
}

/// The annotation in which `kubectl apply` keeps the object as it was given.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A text that is a JSON object or list.
fn json(text: &str) -> Option<Value> {
    text.trim_start()
        .starts_with(['{', '['])
        .then(|| serde_json::from_str(text).ok())?
}

fn kind(map: &Map<String, Value>) -> Option<&str> {
    map.get("kind")?.as_str()
}

/// Whether a mapping is the manifest of a Secret.
fn is_secret(map: &Map<String, Value>) -> bool {
    kind(map) == Some("Secret")
        && map
            .get("apiVersion")
            .and_then(Value::as_str)
            .is_none_or(|version| version == "v1")
}

/// Whether a mapping tells of Secrets: of one object's differences, or an override of some.
fn is_about_secrets(map: &Map<String, Value>) -> bool {
    let identifier = || map.get("identifier")?.as_object().and_then(kind);
    let selects = |key: &str| {
        let selectors = map.get(key).and_then(Value::as_array).into_iter().flatten();
        let mut kinds = selectors.filter_map(|selector| kind(selector.as_object()?));
        kinds.any(|kind| kind == "Secret")
    };
    identifier() == Some("Secret")
        || selects("resourceSelectors")
        || selects("clusterResourceSelectors")
}

/// Whether there is a Secret anywhere in a value.
fn contains_secret(value: &Value) -> bool {
    match value {
        Value::Object(map) => is_secret(map) || map.values().any(contains_secret),
        Value::Array(items) => items.iter().any(contains_secret),
        _ => false,
    }
}

/// A key as a step of a path.
fn step(key: &str) -> String {
    if is_plain(key) && !key.contains('.') {
        format!(".{key}")
    } else {
        format!("[{key:?}]")
    }
}

/// Whether a name can stand in a path as it is.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !name.is_empty() && name.chars().all(plain)
}

#[cfg(test)]
mod tests;
