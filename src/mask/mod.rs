//! Secrets out of text from clusters: what must neither be printed nor leave a hub in a bundle.
//!
//! Masked is what Kubernetes itself calls secret (the data of Secrets, wherever they are nested: in
//! snapshots, Works, envelopes, annotations, overrides), values whose name says that they are
//! credentials (`names.rs`), and texts that look like one (`forms.rs`). Names and the rest of the
//! object stay, so that it can still be explained. Sizes do not.
//!
//! What was masked stays as it is when it is masked again: a bundle of masked objects is diagnosed
//! like the hub that it was collected from.

mod forms;
mod names;
mod text;
mod values;

use std::borrow::Cow;
use std::mem;

use serde_json::{Map, Value};

use names::Says;

/// What stands in the place of a secret.
pub const MASK: &str = "••••";

/// What stands behind the mask of a value that is not the one it is compared with.
pub const ANOTHER: &str = " (another value)";

/// Masks what a controller, a node or a server wrote for people.
pub fn prose(text: &str) -> Cow<'_, str> {
    masked(text, true)
}

/// Masks the value of a setting.
pub fn setting(text: &str) -> Cow<'_, str> {
    masked(text, false)
}

/// Masks a value whose place is known as a path: the field of an object, or a JSON pointer.
pub fn value_at<'t>(path: &str, value: &'t str) -> Cow<'t, str> {
    if names_a_credential(path) {
        return Cow::Borrowed(MASK);
    }
    setting(value)
}

fn names_a_credential(path: &str) -> bool {
    names::names_a_credential(path.rsplit('/').next().unwrap_or_default())
}

fn masked(text: &str, prose: bool) -> Cow<'_, str> {
    if !text::is_suspect(text) {
        return Cow::Borrowed(text);
    }
    let mut value = text.to_owned();
    let mut replace = |_: &str, _: &str| MASK.to_owned();
    let mut walker = Walker {
        path: String::new(),
        found: Vec::new(),
        replace: &mut replace,
    };
    let place = MaskPlace {
        prose,
        ..MaskPlace::default()
    };
    walker.text(&mut value, place);
    if walker.found.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(value)
    }
}

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
    walker.value(object, MaskPlace::default());
    walker.found.dedup();
    walker.found
}

/// What the objects around a value say about it.
#[derive(Debug, Clone, Copy, Default)]
struct MaskPlace {
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
    fn value(&mut self, value: &mut Value, place: MaskPlace) {
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

    fn list(&mut self, items: &mut [Value], place: MaskPlace) {
        // `--token` and its value may be two arguments.
        let mut after_flag = false;
        let (mut of_curl, mut after_user) = (false, false);
        for (at, item) in items.iter_mut().enumerate() {
            let is_value = mem::take(&mut after_flag);
            let step = match item.get("name").and_then(Value::as_str) {
                Some(name) if is_plain(name) => format!("[name={name}]"),
                _ => format!("[{at}]"),
            };
            if let Value::String(text) = &mut *item {
                if is_value && !text.starts_with('-') {
                    self.below(&step, |this| this.credential(item, Says::Credential));
                    continue;
                }
                if mem::take(&mut after_user) {
                    if let Some((user, password)) = text.split_once(':')
                        && !values::is_harmless(password)
                    {
                        let password = password.to_owned();
                        let user = user.to_owned();
                        self.below(&step, |this| {
                            *text = format!("{user}:{}", this.hide(&password));
                        });
                    }
                    continue;
                }
                after_user =
                    of_curl && matches!(text.as_str(), "-u" | "--user" | "-U" | "--proxy-user");
                of_curl |= text.ends_with("curl");
                after_flag = text.strip_prefix('-').is_some_and(|flag| {
                    let is_name =
                        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
                    flag.chars().all(is_name)
                        && names::names_a_credential(flag.trim_start_matches('-'))
                });
            }
            self.below(&step, |this| this.value(item, place));
        }
    }

    fn mapping(&mut self, map: &mut Map<String, Value>, mut place: MaskPlace) {
        let secret = is_secret(map);
        place.of_secret |= secret || is_about_secrets(map);
        let said = PAIR_NAMES.iter().find_map(|key| {
            let name = map.get(*key)?.as_str()?;
            // What is left of a masked text is no name.
            if name.contains(MASK) {
                return None;
            }
            let said = names::says(name.rsplit('/').next().unwrap_or_default());
            (said != Says::Nothing).then_some(said)
        });
        let said = said.unwrap_or(Says::Nothing);
        let named = matches!(said, Says::Credential | Says::SecretOrName);
        let is_patch = map.contains_key("op") && map.contains_key("path");
        // Where a value comes from is described: `secretKey` is the name of a key.
        let refers = map.contains_key("remoteRef") || map.contains_key("secretRef");
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
                ("value", _) if is_patch && place.of_secret => this.whole(value),
                ("value", Value::String(_) | Value::Number(_)) if said != Says::Nothing => {
                    this.credential(value, said);
                    this.value(value, place);
                }
                (LAST_APPLIED, Value::String(text)) if place.of_secret && json(text).is_none() => {
                    this.whole(value);
                }
                (_, Value::String(_) | Value::Number(_)) if !place.labels && !refers => {
                    this.credential(value, names::says(key));
                    let prose = PROSE.contains(&key.as_str());
                    this.value(value, MaskPlace { prose, ..place });
                }
                (_, Value::Array(items)) if !place.labels && names_a_credential(key) => {
                    for (at, item) in items.iter_mut().enumerate() {
                        this.below(&format!("[{at}]"), |this| {
                            if item.is_string() {
                                this.credential(item, Says::SecretOrName);
                            }
                            this.value(item, place);
                        });
                    }
                }
                _ => this.value(
                    value,
                    MaskPlace {
                        labels: place.labels || matches!(key.as_str(), "labels" | "matchLabels"),
                        prose: PROSE.contains(&key.as_str()),
                        ..place
                    },
                ),
            });
        }
    }

    /// Masks a value that is called a credential, unless it obviously is none.
    fn credential(&mut self, value: &mut Value, said: Says) {
        match value {
            Value::String(text) => match said {
                Says::Scheme | Says::Cookies => {
                    if let Some(range) = text::header(text, 0, said) {
                        let secret = text[range.clone()].to_owned();
                        if !values::is_masked(&secret) {
                            text.replace_range(range, &self.hide(&secret));
                        }
                    }
                }
                _ if text::is_credential(said, text) => self.whole(value),
                _ => {}
            },
            Value::Number(number) => {
                let is_small = number.as_i64().is_some_and(|number| number.abs() < 1000);
                if said == Says::Credential && !is_small {
                    self.whole(value);
                }
            }
            _ => {}
        }
    }

    /// Masks a value and everything in it.
    fn whole(&mut self, value: &mut Value) {
        let secret = match &*value {
            Value::Null => return,
            Value::String(text) if text.is_empty() || values::is_masked(text) => return,
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

    /// Masks what a text holds: manifests and settings in it, and what looks like a credential. What
    /// is left is looked at again, so that a second time finds nothing that the first did not.
    fn text(&mut self, text: &mut String, place: MaskPlace) {
        if !text::is_suspect(text) {
            return;
        }
        for _ in 0..MAX_ROUNDS {
            if !self.once(text, place) {
                return;
            }
        }
        let secret = mem::take(text);
        *text = self.hide(&secret);
    }

    /// Returns whether something was found.
    fn once(&mut self, text: &mut String, place: MaskPlace) -> bool {
        if let Some(found) = self.packed(text, place) {
            return found;
        }
        let ranges = text::secrets(text, place.prose);
        if ranges.is_empty() {
            return false;
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
        true
    }

    /// Masks what stands in a text that is JSON, or YAML with a Secret in it, and says whether it
    /// did: a text without secrets stays as it was written. `None` for any other text.
    fn packed(&mut self, text: &mut String, mut place: MaskPlace) -> Option<bool> {
        place.depth += 1;
        if place.depth > MAX_DEPTH {
            if !text.contains("Secret") {
                return None;
            }
            let secret = mem::take(text);
            *text = self.hide(&secret);
            return Some(false);
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
            }
            return Some(false);
        }
        if !(text.contains('\n') && text.contains("kind") && text.contains("Secret")) {
            return None;
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
                return Some(false);
            }
            return None;
        };
        if !documents.iter().any(contains_secret) {
            return None;
        }
        for document in &mut documents {
            self.value(document, place);
        }
        if self.found.len() == before {
            return None;
        }
        let written: Result<Vec<_>, _> = documents.iter().map(serde_saphyr::to_string).collect();
        *text = match written {
            Ok(documents) => documents.join("---\n"),
            Err(_) => MASK.to_owned(),
        };
        Some(true)
    }
}

/// Keys whose values are the names of what stands beside them as `value`.
const PAIR_NAMES: &[&str] = &["name", "path", "key", "header", "option", "variable"];

/// Keys whose values were written for people.
const PROSE: &[&str] = &[
    "message",
    "reason",
    "description",
    "summary",
    "note",
    "error",
];

/// How often a text is looked at.
const MAX_ROUNDS: usize = 4;

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
