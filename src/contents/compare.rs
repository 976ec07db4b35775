//! What differs between two versions, resource by resource.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

use super::{Manifest, ManifestKey, SecretDisplay};
use crate::mask::{MASK, mask_with};
use crate::words::worded;

/// Lines around a difference.
const CONTEXT: usize = 3;

worded! {
    /// What happened to a resource.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    pub enum ChangeKind {
        /// It is in the second version only.
        Added = "added",
        /// It is in the first version only.
        Removed = "removed",
        /// It is in both and differs.
        Changed = "changed",
    }
}

/// Whether the masked values are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SecretChange {
    /// All of them are the same.
    Same,
    /// At least one differs.
    Differ,
}

/// One resource that differs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ChangeItem")]
pub struct ContentChange {
    /// What happened to it.
    #[serde(rename = "change")]
    pub kind: ChangeKind,
    /// Its API version, with the group.
    // That of the second where there is one.
    pub api_version: String,
    #[serde(flatten)]
    pub identity: ManifestKey,
    /// Whether masked values in it differ; absent if nothing is masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets: Option<SecretChange>,
    /// A unified diff of its YAML.
    // Without the lines that name the files.
    pub diff: String,
}

/// The resources that differ between two versions, by kind, namespace and name.
pub fn compare(
    before: Vec<Manifest>,
    after: Vec<Manifest>,
    secrets: SecretDisplay,
) -> Vec<ContentChange> {
    let mut pairs: BTreeMap<(ManifestKey, usize), [Option<Manifest>; 2]> = BTreeMap::new();
    for (side, manifests) in [before, after].into_iter().enumerate() {
        let mut seen: HashMap<ManifestKey, usize> = HashMap::new();
        for manifest in manifests {
            // Nothing is there twice, but what a user edited by hand may be.
            let times = seen.entry(manifest.identity.clone()).or_default();
            let pair = pairs
                .entry((manifest.identity.clone(), *times))
                .or_default();
            *times += 1;
            pair[side] = Some(manifest);
        }
    }
    pairs
        .into_iter()
        .filter_map(|((identity, _), pair)| change(identity, pair, secrets))
        .collect()
}

fn change(
    identity: ManifestKey,
    pair: [Option<Manifest>; 2],
    secrets: SecretDisplay,
) -> Option<ContentChange> {
    let [before, after] = pair;
    let kind = match (&before, &after) {
        (Some(before), Some(after)) if before.value == after.value => return None,
        (Some(_), Some(_)) => ChangeKind::Changed,
        (None, _) => ChangeKind::Added,
        (Some(_), None) => ChangeKind::Removed,
    };
    let api_version = after
        .as_ref()
        .or(before.as_ref())
        .map(|manifest| manifest.api_version.clone())
        .unwrap_or_default();
    let [mut before, mut after] = [before, after].map(|manifest| manifest.map(|it| it.value));
    let secrets = match secrets {
        SecretDisplay::Shown => None,
        SecretDisplay::Masked => hide(before.as_mut(), after.as_mut()),
    };
    let [before, after] = [before, after].map(|value| value.as_ref().map(yaml).unwrap_or_default());
    let diff = TextDiff::from_lines(&before, &after)
        .unified_diff()
        .context_radius(CONTEXT)
        .to_string();
    Some(ContentChange {
        identity,
        api_version,
        kind,
        diff,
        secrets: secrets.filter(|_| kind == ChangeKind::Changed),
    })
}

/// Masks both sides, so that a value which differs can still be told from one that does not.
fn hide(before: Option<&mut Value>, after: Option<&mut Value>) -> Option<SecretChange> {
    // In the order in which they stand, for one path may have several.
    let mut known: HashMap<String, Vec<String>> = HashMap::new();
    let mut found = false;
    if let Some(before) = before {
        mask_with(before, &mut |path, secret| {
            found = true;
            known
                .entry(path.to_owned())
                .or_default()
                .push(secret.to_owned());
            MASK.to_owned()
        });
    }
    let mut differ = false;
    let mut seen: HashMap<String, usize> = HashMap::new();
    if let Some(after) = after {
        mask_with(after, &mut |path, secret| {
            found = true;
            let times = seen.entry(path.to_owned()).or_default();
            let other = known.get(path).and_then(|secrets| secrets.get(*times));
            *times += 1;
            match other {
                Some(other) if other != secret => {
                    differ = true;
                    format!("{MASK} (another value)")
                }
                _ => MASK.to_owned(),
            }
        });
    }
    found.then_some(if differ {
        SecretChange::Differ
    } else {
        SecretChange::Same
    })
}

/// A manifest as YAML.
fn yaml(value: &Value) -> String {
    let mut text = serde_saphyr::to_string(value).unwrap_or_else(|_| format!("{value:#}"));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
