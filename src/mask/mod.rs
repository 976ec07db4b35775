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
use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::{Map, Value};

use names::NameMeaning;

/// What stands in the place of a secret.
pub const MASK: &str = "••••";

/// What stands behind the mask of a value that is not the one it is compared with.
pub const ANOTHER: &str = " (another value)";

/// Masks what a controller, a node or a server wrote for people.
pub fn prose(text: &str) -> Cow<'_, str> {
    masked(text, true)
}

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
    if !forms::is_suspect(text) {
        return Cow::Borrowed(text);
    }
    let mut value = Value::from(text);
    let mut replace = |_: &str, _: &str| MASK.to_owned();
    let mut walker = MaskWalker::new(&mut replace);
    walker.value(
        &mut value,
        MaskPlace {
            prose,
            ..MaskPlace::default()
        },
    );
    match value {
        Value::String(value) if !walker.found.is_empty() => Cow::Owned(value),
        _ => Cow::Borrowed(text),
    }
}

/// Masks every secret in an object, and says where there was one:
/// `spec.selectedResources[0].data.password`. Items of a list that have a name go by it, so that the
/// path stays when others are added: `env[name=DB_PASSWORD].value`.
pub fn mask(object: &mut Value) -> Vec<String> {
    mask_with(object, &mut |_, _| MASK.to_owned())
}

/// The same with a replacement of the caller's for each secret, by its path and its text.
pub fn mask_with(object: &mut Value, replace: &mut dyn FnMut(&str, &str) -> String) -> Vec<String> {
    let mut walker = MaskWalker::new(replace);
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

struct MaskWalker<'r> {
    path: String,
    found: Vec<String>,
    replace: &'r mut dyn FnMut(&str, &str) -> String,
}

impl<'r> MaskWalker<'r> {
    fn new(replace: &'r mut dyn FnMut(&str, &str) -> String) -> Self {
        Self {
            path: String::new(),
            found: Vec::new(),
            replace,
        }
    }

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
        // `--token` and its value may be two arguments, and of `curl`, `-u` and its value.
        let (mut program, mut flag) = (String::new(), String::new());
        for (at, item) in items.iter_mut().enumerate() {
            let step = match item.get("name").and_then(Value::as_str) {
                Some(name) if is_plain(name) => format!("[name={name}]"),
                _ => format!("[{at}]"),
            };
            self.below(&step, |this| {
                if let Value::String(text) = item {
                    this.argument(text, &program, &flag);
                }
                this.value(item, place);
            });
            let text = item.as_str().unwrap_or_default();
            let is_short = text.len() <= LONGEST_FLAG;
            text[..if is_short { text.len() } else { 0 }].clone_into(if at == 0 {
                &mut program
            } else {
                &mut flag
            });
        }
    }

    /// Masks an argument that is the value of the flag before it.
    fn argument(&mut self, text: &mut String, program: &str, flag: &str) {
        if !flag.starts_with('-') || flag.contains(['=', ' ']) || text.starts_with('-') {
            return;
        }
        let before = format!("{program} {flag} ");
        let secrets = text::secrets(&format!("{before}{text}"), false);
        // What begins in the flag is the flag's own: `--secret:a b`.
        let Some(secret) = secrets.iter().find(|found| found.start >= before.len()) else {
            return;
        };
        let from = secret.start - before.len();
        let hidden = self.hide(&text[from..]);
        text.replace_range(from.., &hidden);
    }

    fn mapping(&mut self, map: &mut Map<String, Value>, mut place: MaskPlace) {
        let secret = is_secret(map);
        place.of_secret |= secret || is_about_secrets(map);
        let said = PAIR_NAMES.iter().find_map(|key| {
            let name = map.get(*key)?.as_str()?;
            let said = names::says(name.rsplit('/').next().unwrap_or_default());
            // What is left of a masked text is no name.
            (said != NameMeaning::Nothing && !name.contains(MASK)).then_some(said)
        });
        let said = said.unwrap_or(NameMeaning::Nothing);
        let named = matches!(said, NameMeaning::Credential | NameMeaning::SecretOrName);
        let is_patch = map.contains_key("op") && map.contains_key("path");
        // Where a value comes from is described: `secretKey` is the name of a key.
        let refers = map.contains_key("remoteRef") || map.contains_key("secretRef");
        for (key, value) in map.iter_mut() {
            let whole = match key.as_str() {
                "data" | "stringData" => secret,
                "valueInHub" | "valueInMember" => place.of_secret || named,
                "value" => is_patch && place.of_secret,
                LAST_APPLIED => {
                    place.of_secret && value.as_str().is_some_and(|text| json(text).is_none())
                }
                _ => false,
            };
            let said = match key.as_str() {
                "value" if said != NameMeaning::Nothing => said,
                _ if place.labels || refers => NameMeaning::Nothing,
                key => names::says(key),
            };
            self.below(&step(key), |this| {
                if whole {
                    return this.whole(value);
                }
                this.credential(value, said);
                this.value(
                    value,
                    MaskPlace {
                        labels: place.labels || matches!(key.as_str(), "labels" | "matchLabels"),
                        prose: PROSE.contains(&key.as_str()),
                        ..place
                    },
                );
            });
        }
    }

    /// Masks a value that is called a credential, unless it obviously is none.
    fn credential(&mut self, value: &mut Value, said: NameMeaning) {
        match value {
            Value::String(text) => match said {
                NameMeaning::Scheme | NameMeaning::Cookies => {
                    let range = text::header(text, 0, said);
                    if let Some(range) = range.filter(|it| !matches!(&text[it.clone()], "" | MASK))
                    {
                        let hidden = self.hide(&text[range.clone()]);
                        text.replace_range(range, &hidden);
                    }
                }
                _ if text::is_credential(said, text) => self.whole(value),
                _ => {}
            },
            Value::Number(number) => {
                let is_small = number.as_i64().is_some_and(|number| number.abs() < 1000);
                if said == NameMeaning::Credential && !is_small {
                    self.whole(value);
                }
            }
            Value::Array(items)
                if matches!(said, NameMeaning::Credential | NameMeaning::SecretOrName) =>
            {
                for (at, item) in items
                    .iter_mut()
                    .enumerate()
                    .filter(|(_, item)| item.is_string())
                {
                    self.below(&format!("[{at}]"), |this| {
                        this.credential(item, NameMeaning::SecretOrName);
                    });
                }
            }
            _ => {}
        }
    }

    fn whole(&mut self, value: &mut Value) {
        let secret = match value {
            Value::Null => return,
            Value::Object(map) => {
                for (key, value) in map.iter_mut() {
                    self.below(&step(key), |this| this.whole(value));
                }
                return;
            }
            Value::String(text) if text.is_empty() || values::is_masked(text) => return,
            Value::String(text) => mem::take(text),
            ref other => other.to_string(),
        };
        *value = Value::String(self.hide(&secret));
    }

    fn hide(&mut self, secret: &str) -> String {
        self.found.push(self.path.clone());
        (self.replace)(&self.path, secret)
    }

    /// Masks what a text holds: manifests and settings in it, and what looks like a credential. What
    /// is left is looked at again, so that a second time finds nothing that the first did not.
    fn text(&mut self, text: &mut String, place: MaskPlace) {
        if !forms::is_suspect(text) {
            return;
        }
        for _ in 0..MAX_ROUNDS {
            if self.packed(text, place) {
                return;
            }
            let ranges = text::secrets(text, place.prose);
            if ranges.is_empty() {
                return;
            }
            for range in ranges.into_iter().rev() {
                let hidden = self.hide(&text[range.clone()]);
                text.replace_range(range, &hidden);
            }
        }
        let secret = mem::take(text);
        *text = self.hide(&secret);
    }

    /// Masks what is in a text that is JSON, or YAML with a Secret in it; without secrets it stays as
    /// it was written. Returns whether nothing is left to look for.
    fn packed(&mut self, text: &mut String, mut place: MaskPlace) -> bool {
        place.depth += 1;
        let before = self.found.len();
        let is_secret = SECRET.as_ref().is_none_or(|secret| secret.is_match(text));
        let documents = if let Some(value) = json(text) {
            Some(vec![value])
        } else if is_secret {
            serde_saphyr::from_multiple::<Value>(text).ok()
        } else {
            return false;
        };
        // A manifest that cannot be read, a template for one: what is what, nobody can say.
        let Some(mut documents) = documents.filter(|_| place.depth <= MAX_DEPTH) else {
            if is_secret {
                let secret = mem::take(text);
                *text = self.hide(&secret);
            }
            return is_secret;
        };
        for document in &mut documents {
            self.value(document, place);
        }
        let is_json = json(text).is_some();
        if self.found.len() > before {
            let written = documents.iter().map(|document| match is_json {
                true if text.contains('\n') => Ok(format!("{document:#}")),
                true => Ok(document.to_string()),
                false => serde_saphyr::to_string(document),
            });
            let written: Result<Vec<_>, _> = written.collect();
            *text = written.map_or_else(|_| MASK.to_owned(), |documents| documents.join("---\n"));
        }
        is_json
    }
}

/// A line that begins a Secret.
static SECRET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?m)^[ -]*["']?kind["']?: *["']?Secret\b"#).ok());

/// No flag is longer.
const LONGEST_FLAG: usize = 128;

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

fn json(text: &str) -> Option<Value> {
    text.trim_start()
        .starts_with(['{', '['])
        .then(|| serde_json::from_str(text).ok())?
}

fn kind(map: &Map<String, Value>) -> Option<&str> {
    map.get("kind")?.as_str()
}

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
