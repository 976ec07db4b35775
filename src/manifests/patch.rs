//! One operation of an override on one manifest.
//!
//! KubeFleet's library speaks a dialect of RFC 6902: indexes may be negative, `+1` and `01` are
//! indexes, and what precedes the first slash is not looked at. Empty steps are refused on admission.
//! Source: github.com/evanphx/json-patch/v5@v5.9.11/patch.go:findObject, partialDoc, partialArray.

use serde_json::Value;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchVerb {
    /// Adds a field, or an item before the one of that index.
    Add,
    /// Removes what exists.
    Remove,
    /// Replaces what exists.
    Replace,
}

impl PatchVerb {
    /// The verb of this name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "add" => Some(Self::Add),
            "remove" => Some(Self::Remove),
            "replace" => Some(Self::Replace),
            _ => None,
        }
    }
}

/// Applies an operation, or says why it cannot be: ``/spec/x does not exist``.
pub fn apply(
    document: &mut Value,
    verb: PatchVerb,
    path: &str,
    value: &Value,
) -> Result<(), String> {
    let Some((_, path)) = path.split_once('/') else {
        return Err("the path does not start with a slash".to_owned());
    };
    let (steps, last) = match path.rsplit_once('/') {
        Some((steps, last)) => (Some(steps), last),
        None => (None, path),
    };
    let steps = steps.into_iter().flat_map(|steps| steps.split('/'));
    let steps = steps.map(decode);
    let last = decode(last);
    let mut at = String::new();
    let mut here = document;
    for step in steps {
        if step.is_empty() {
            return Err("the path has an empty step".to_owned());
        }
        let next = match here {
            Value::Object(map) => map.get_mut(&step).ok_or_else(|| missing(&at, &step))?,
            Value::Array(items) => {
                let index = index(&at, &step, items.len(), items.len())?;
                items.get_mut(index).ok_or_else(|| missing(&at, &step))?
            }
            other => return Err(no_container(&at, other)),
        };
        at.push('/');
        at.push_str(&encode(&step));
        here = next;
    }
    match here {
        Value::Object(map) => {
            let exists = map.contains_key(&last);
            match verb {
                PatchVerb::Remove if exists => drop(map.remove(&last)),
                PatchVerb::Replace | PatchVerb::Add if verb == PatchVerb::Add || exists => {
                    map.insert(last, value.clone());
                }
                _ => return Err(missing(&at, &last)),
            }
        }
        Value::Array(items) => {
            let count = items.len();
            match verb {
                PatchVerb::Add if last == "-" => items.push(value.clone()),
                PatchVerb::Add => items.insert(index(&at, &last, count, count + 1)?, value.clone()),
                PatchVerb::Remove => drop(items.remove(index(&at, &last, count, count)?)),
                PatchVerb::Replace => items[index(&at, &last, count, count)?] = value.clone(),
            }
        }
        other => return Err(no_container(&at, other)),
    }
    Ok(())
}

fn decode(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

fn encode(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}

/// An index into a list of so many items, of which `places` can be meant.
fn index(at: &str, step: &str, items: usize, places: usize) -> Result<usize, String> {
    let Ok(number) = step.parse::<i64>() else {
        let step = encode(step);
        return Err(format!(
            "`{at}` is a list, and `{step}` is not the index of an item"
        ));
    };
    let counted = usize::try_from(number.unsigned_abs()).ok();
    let index = if number < 0 {
        counted.and_then(|back| places.checked_sub(back))
    } else {
        counted.filter(|index| *index < places)
    };
    index.ok_or_else(|| {
        let items = match items {
            0 => "the list is empty".to_owned(),
            1 => "the list has 1 item".to_owned(),
            more => format!("the list has {more} items"),
        };
        format!("`{at}/{}` does not exist: {items}", encode(step))
    })
}

fn missing(at: &str, step: &str) -> String {
    format!("`{at}/{}` does not exist", encode(step))
}

fn no_container(at: &str, value: &Value) -> String {
    let what = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) | Value::Object(_) => "a container",
    };
    format!("`{at}` is {what}, not an object or a list")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{PatchVerb, apply};

    fn patched(verb: &str, path: &str) -> Result<Value, String> {
        let mut document = json!({
            "a": {"b/c": 1, "m~n": 2, "null": null}, "list": [10, 20, 30], "empty": [], "text": "x",
        });
        apply(
            &mut document,
            PatchVerb::of(verb).unwrap(),
            path,
            &json!("new"),
        )?;
        Ok(document)
    }

    /// What KubeFleet's library makes of each, as it was run on the same document.
    #[test]
    fn operations_are_those_of_the_library() {
        for (verb, path, pointer, expected) in [
            ("add", "/a/x", "/a/x", json!("new")),
            ("add", "/a/b~1c", "/a/b~1c", json!("new")),
            ("replace", "/a/m~0n", "/a/m~0n", json!("new")),
            ("replace", "/a/null", "/a/null", json!("new")),
            ("add", "/list/1", "/list", json!([10, "new", 20, 30])),
            ("add", "/list/3", "/list", json!([10, 20, 30, "new"])),
            ("add", "/list/-", "/list", json!([10, 20, 30, "new"])),
            ("add", "/list/-1", "/list", json!([10, 20, 30, "new"])),
            ("add", "/list/-4", "/list", json!(["new", 10, 20, 30])),
            ("add", "/list/01", "/list", json!([10, "new", 20, 30])),
            ("add", "/list/+1", "/list", json!([10, "new", 20, 30])),
            ("add", "/empty/0", "/empty", json!(["new"])),
            ("remove", "/list/-1", "/list", json!([10, 20])),
            ("remove", "/list/0", "/list", json!([20, 30])),
            ("remove", "/a/m~0n", "/a", json!({"b/c": 1, "null": null})),
            ("replace", "/list/-3", "/list", json!(["new", 20, 30])),
            ("add", "a/b", "/b", json!("new")),
        ] {
            let document = patched(verb, path).unwrap();
            assert_eq!(document.pointer(pointer), Some(&expected), "{verb} {path}");
        }
    }

    #[test]
    fn what_cannot_be_applied_says_why() {
        #[rustfmt::skip]
        let cases = [
            ("add", "/b/x", "`/b` does not exist"),
            ("remove", "/a/x", "`/a/x` does not exist"),
            ("replace", "/a/x", "`/a/x` does not exist"),
            ("add", "/list/4", "`/list/4` does not exist: the list has 3 items"),
            ("add", "/list/-5", "`/list/-5` does not exist: the list has 3 items"),
            ("replace", "/list/3", "`/list/3` does not exist: the list has 3 items"),
            ("remove", "/empty/0", "`/empty/0` does not exist: the list is empty"),
            ("remove", "/list/-", "`/list` is a list, and `-` is not the index of an item"),
            ("add", "/list/x/y", "`/list` is a list, and `x` is not the index of an item"),
            ("add", "/text/x", "`/text` is a text, not an object or a list"),
            ("add", "/a/null/x", "`/a/null` is null, not an object or a list"),
            ("add", "", "the path does not start with a slash"),
            ("add", "/a//x", "the path has an empty step"),
            ("add", "a", "the path does not start with a slash"),
        ];
        for (verb, path, why) in cases {
            assert_eq!(patched(verb, path), Err(why.to_owned()), "{verb} {path}");
        }
    }
}
