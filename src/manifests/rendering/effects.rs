//! What overrides do, object by object.

use serde_json::{Value, json};

use super::{ClusterGroup, RenderedClusters};
use crate::contents::ManifestKey;
use crate::manifests::content::Item;
use crate::mask;
use crate::rollout::overrides::is_deletion;

/// What one rule does to one object.
#[derive(Debug, Clone, PartialEq)]
pub struct OverrideEffect {
    pub object: ManifestKey,
    /// The override's name.
    pub over: String,
    pub rule: usize,
    /// The operation; absent where the rule deletes the object.
    pub operation: Option<PatchOperation>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PatchOperation {
    /// `add`, `remove`, or `replace`.
    pub verb: String,
    /// A JSON pointer.
    pub path: String,
    /// The value as it is written in the override, with secrets masked.
    pub value: Option<Value>,
}

impl RenderedClusters<'_> {
    /// What the overrides do in a group, object by object.
    pub fn effects(&self, group: &ClusterGroup) -> Vec<OverrideEffect> {
        let mut effects = Vec::new();
        for form in group.forms.iter().map(|form| &self.forms[*form]) {
            let item = &self.content.items[form.item];
            for step in &form.steps {
                let over = &self.overrides[step.over];
                for rule in &step.rules {
                    let effect = |operation| OverrideEffect {
                        object: item.manifest.identity.clone(),
                        over: over.name().to_owned(),
                        rule: rule + 1,
                        operation,
                    };
                    if is_deletion(&over.rules()[*rule]) {
                        effects.push(effect(None));
                        continue;
                    }
                    let patches = over.rules()[*rule].patches.iter().enumerate();
                    effects.extend(patches.map(|(at, patch)| {
                        let removes = patch.operator == "remove";
                        let value = over.value(*rule, at).filter(|_| !removes);
                        let value =
                            value.map(|value| masked_value(item, &patch.path, value.written()));
                        effect(Some(PatchOperation {
                            verb: patch.operator.clone(),
                            path: patch.path.clone(),
                            value,
                        }))
                    }));
                }
            }
        }
        effects
    }
}

/// A value of an override as it may be shown.
fn masked_value(item: &Item, path: &str, value: &Value) -> Value {
    let mut patch = json!({
        "identifier": {"kind": item.manifest.identity.kind}, "op": "add", "path": path, "value": value,
    });
    mask::mask(&mut patch);
    patch.get_mut("value").map(Value::take).unwrap_or_default()
}
