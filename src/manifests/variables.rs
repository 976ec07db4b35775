//! The variables that an override's values may hold.
//!
//! They are replaced in the text of the JSON, keys and all, first the name and then the labels; a
//! path is never looked at. Source: workgenerator/override.go:applyJSONPatchOverride,
//! replaceClusterLabelKeyVariables.

use serde_json::Value;

use crate::kubefleet::member::MemberCluster;

const NAME: &str = "${MEMBER-CLUSTER-NAME}";
const LABEL: &str = "${MEMBER-CLUSTER-LABEL-KEY-";

/// A value of an override, with its variables found.
#[derive(Debug, Clone)]
pub struct Template {
    value: Value,
    /// The text in which variables are replaced; absent where there are none.
    text: Option<String>,
}

impl Template {
    /// Finds the variables in a value.
    pub fn new(value: Value) -> Self {
        let text = value.to_string();
        let varies = text.contains(NAME) || text.contains(LABEL);
        Self {
            value,
            text: varies.then_some(text),
        }
    }

    /// Whether clusters may get different values.
    pub const fn varies(&self) -> bool {
        self.text.is_some()
    }

    /// The value as it is written.
    pub const fn written(&self) -> &Value {
        &self.value
    }

    /// The value for a cluster, or why there is none.
    pub fn value_for(&self, member: &MemberCluster) -> Result<Value, String> {
        let Some(text) = &self.text else {
            return Ok(self.value.clone());
        };
        let mut text = text.replace(NAME, &member.meta.name);
        while let Some(start) = text.find(LABEL) {
            let key_at = start + LABEL.len();
            let Some(length) = text[key_at..].find('}') else {
                return Err("a variable has no closing `}`".to_owned());
            };
            let key = &text[key_at..key_at + length];
            let Some(value) = member.meta.label(key) else {
                return Err(format!("the cluster has no label {key}"));
            };
            let value = value.to_owned();
            text.replace_range(start..=key_at + length, &value);
        }
        serde_json::from_str(&text).map_err(|_| "its variables do not give valid JSON".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Template;
    use crate::kubefleet::member::MemberCluster;

    fn valued(value: Value) -> Result<Value, String> {
        let mut member = MemberCluster::default();
        member.meta.name = "member-1".to_owned();
        for (key, value) in [("region", "eu"), ("example.com/tier", "gold")] {
            member.meta.labels.insert(key.to_owned(), value.to_owned());
        }
        Template::new(value).value_for(&member)
    }

    #[test]
    fn variables_are_replaced_wherever_they_are() {
        for (written, expected) in [
            (json!("${MEMBER-CLUSTER-NAME}"), json!("member-1")),
            (
                json!("${MEMBER-CLUSTER-NAME}.${MEMBER-CLUSTER-LABEL-KEY-region}.x"),
                json!("member-1.eu.x"),
            ),
            (
                json!({"a": ["${MEMBER-CLUSTER-LABEL-KEY-example.com/tier}"]}),
                json!({"a": ["gold"]}),
            ),
            (json!({"${MEMBER-CLUSTER-NAME}": 1}), json!({"member-1": 1})),
        ] {
            assert_eq!(valued(written.clone()), Ok(expected), "{written}");
        }
        // Near misses: nothing of these is a variable.
        for plain in [
            json!("${member-cluster-name}"),
            json!("$MEMBER-CLUSTER-NAME"),
            json!("${MEMBER-CLUSTER-LABEL-region}"),
            json!(6),
        ] {
            assert_eq!(valued(plain.clone()), Ok(plain));
        }
    }

    #[test]
    fn a_variable_without_a_value_says_why() {
        for (key, why) in [
            ("zone}", "the cluster has no label zone"),
            ("}", "the cluster has no label "),
            ("region", "a variable has no closing `}`"),
        ] {
            let written = json!(format!("${{MEMBER-CLUSTER-LABEL-KEY-{key}"));
            assert_eq!(valued(written), Err(why.to_owned()), "{key}");
        }
    }
}
