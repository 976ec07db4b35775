//! What is masked of what is secret, and what is masked of what is not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use kubectl_fleet_stage::mask::mask;
use serde_json::Value;

use super::{ordinary, planted};

/// The seed of everything that is made up.
const SEED: u64 = 14;

/// At least so many of a thousand secrets are masked.
const RECALL: usize = 990;
/// At most so many of a thousand harmless values are.
const WRONG: usize = 10;

/// Bundles of this repository.
const FIXTURES: &[&str] = &[
    "tests/findings",
    "tests/real",
    "tests/healthy",
    "tests/plan",
    "examples",
];

/// How many there are, and those that went wrong, by kind or place.
#[derive(Default)]
struct Count {
    all: usize,
    wrong: BTreeMap<String, usize>,
}

impl Count {
    fn wrong(&self) -> usize {
        self.wrong.values().sum()
    }

    fn share(&self) -> String {
        let wrong = self.wrong();
        let share = (self.all - wrong) * 10_000 / self.all.max(1);
        format!("{}.{:02} %", share / 100, share % 100)
    }
}

pub fn section(root: &Path) -> Result<String> {
    let planted = planted::all(SEED);
    let mut kinds: Vec<_> = planted.iter().map(|one| (&one.kind, one.place)).collect();
    kinds.sort();
    kinds.dedup();
    let mut secrets = Count::default();
    let mut missed: BTreeMap<String, usize> = BTreeMap::new();
    for one in &planted {
        secrets.all += 1;
        let mut object = one.object.clone();
        mask(&mut object);
        if one.leaks_into(&object.to_string()) {
            *secrets.wrong.entry(one.place.to_owned()).or_default() += 1;
            *missed.entry(one.kind.clone()).or_default() += 1;
            if std::env::var_os("FLEET_STAGE_MISSES").is_some() {
                crate::report(&format!(
                    "missed: {} / {}: {}\n  {}",
                    one.kind, one.place, one.object, object
                ));
            }
        }
    }
    let mut made = Count::default();
    for object in ordinary::all(SEED) {
        count(&object, "made", &mut made);
    }
    let mut kept = Count::default();
    for path in super::bundles(root, FIXTURES)? {
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap_or_default();
        for document in documents {
            count(
                &document,
                &path
                    .strip_prefix(root)
                    .unwrap_or(&path)
                    .display()
                    .to_string(),
                &mut kept,
            );
        }
    }
    for (what, count, most) in [
        ("secrets are not masked", &secrets, 1000 - RECALL),
        ("harmless values of made objects are masked", &made, WRONG),
        (
            "harmless values of recorded objects are masked",
            &kept,
            WRONG,
        ),
    ] {
        if count.wrong() * 1000 > count.all * most {
            bail!(
                "{} of {} {what}: {:?}",
                count.wrong(),
                count.all,
                count.wrong
            );
        }
    }
    Ok(write(&secrets, kinds.len(), &made, &kept, &missed))
}

fn write(
    secrets: &Count,
    kinds: usize,
    made: &Count,
    kept: &Count,
    missed: &BTreeMap<String, usize>,
) -> String {
    let mut out = format!(
        "## Masking\n\n\
         Text from clusters is masked before it is printed or saved ([what is masked](tasks/secrets.md)). Two numbers \
         measure this: the share of planted secrets that are masked, and the share of harmless values that are \
         left unchanged.\n\n\
         | what is counted | number | correct |\n|---|---|---|\n\
         | planted secrets: {kinds} combinations of a kind and a place | {} | {} masked |\n\
         | values of generated objects without secrets | {} | {} unchanged |\n\
         | values of recorded and written objects in this repository | over {} | {} unchanged |\n\n\
         The planted secrets are tokens in the formats of their issuers, and random passwords under names \
         such as `DB_PASSWORD`. They are in conditions, events, variables, arguments, annotations, ConfigMaps, Works, Secrets, \
         patches, and logs. A secret counts as masked if no 8 consecutive characters of it are left. A value \
         counts as unchanged if every character is; the data of Secrets is not counted.\n\n\
         The planted secrets are in tests/attack/planted.rs. The authors of the rules wrote them, so a \
         kind of credential that they overlooked is not counted. The values that are missed under names like \
         `*_CREDS` look like the name of a Secret: lowercase letters with dashes.\n",
        secrets.all,
        secrets.share(),
        made.all,
        made.share(),
        // Not anew for every fixture.
        kept.all / 10_000 * 10_000,
        kept.share(),
    );
    for (title, wrong) in [
        ("Secrets that are not masked, by place", &secrets.wrong),
        ("The same by kind", missed),
        ("Made values that are masked wrongly", &made.wrong),
        ("Recorded values that are masked wrongly", &kept.wrong),
    ] {
        if wrong.is_empty() {
            continue;
        }
        let _ = write!(out, "\n{title}:\n\n");
        for (what, many) in wrong {
            let _ = writeln!(out, "- {what}: {many}");
        }
    }
    out
}

/// Counts the texts of an object that are changed although they are no secrets.
fn count(object: &Value, from: &str, counted: &mut Count) {
    let mut masked = object.clone();
    mask(&mut masked);
    compare(object, &masked, from, "", counted);
}

fn compare(before: &Value, after: &Value, from: &str, path: &str, counted: &mut Count) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let is_secret = before.get("kind").and_then(Value::as_str) == Some("Secret");
            for (key, value) in before {
                if !(is_secret && matches!(key.as_str(), "data" | "stringData")) {
                    compare(
                        value,
                        after.get(key).unwrap_or(&Value::Null),
                        from,
                        &format!("{path}.{key}"),
                        counted,
                    );
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for (before, after) in before.iter().zip(after) {
                compare(before, after, from, &format!("{path}[]"), counted);
            }
        }
        (Value::Null, _) => {}
        _ => {
            counted.all += 1;
            if before != after {
                if std::env::var_os("FLEET_STAGE_MISSES").is_some() {
                    crate::report(&format!("wrong: {from} {path}: {before}\n  {after}"));
                }
                *counted
                    .wrong
                    .entry(format!("`{}`", path.trim_start_matches('.')))
                    .or_default() += 1;
            }
        }
    }
}
