//! Label selectors, matched as Kubernetes matches them.

use std::collections::BTreeMap;

use super::tolerant::model;

model! {
    /// A label selector. Empty, it selects everything.
    pub struct LabelSelector {
        /// Labels that must have exactly these values.
        pub labels: BTreeMap<String, String> = "matchLabels",
        /// Further requirements.
        pub expressions: Vec<Requirement> = "matchExpressions",
    }

    /// One requirement on a label.
    pub struct Requirement {
        /// The label.
        pub key: String = "key",
        /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
        pub operator: String = "operator",
        /// The values that the operator compares with.
        pub values: Vec<String> = "values",
    }
}

impl LabelSelector {
    /// Whether the labels satisfy the selector; `None` when an operator is not known or lacks its
    /// values, so that nothing can be said.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> Option<bool> {
        let mut all = self
            .labels
            .iter()
            .all(|(key, value)| labels.get(key) == Some(value));
        for requirement in &self.expressions {
            all &= requirement.matches(labels)?;
        }
        Some(all)
    }

    /// Whether it has no requirement, so that it selects everything.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.expressions.is_empty()
    }

    /// The selector as kubectl writes it: `environment=canary,order in (1,2)`.
    pub fn describe(&self) -> String {
        let labels = self
            .labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"));
        let expressions = self.expressions.iter().map(|requirement| {
            let (key, values) = (&requirement.key, requirement.values.join(","));
            match requirement.operator.as_str() {
                "In" => format!("{key} in ({values})"),
                "NotIn" => format!("{key} notin ({values})"),
                "Exists" => key.clone(),
                "DoesNotExist" => format!("!{key}"),
                other => format!("{key} {other} ({values})"),
            }
        });
        let parts: Vec<_> = labels.chain(expressions).collect();
        if parts.is_empty() {
            "every cluster".to_owned()
        } else {
            parts.join(",")
        }
    }
}

impl Requirement {
    fn matches(&self, labels: &BTreeMap<String, String>) -> Option<bool> {
        let value = labels.get(&self.key);
        let listed = value.is_some_and(|value| self.values.contains(value));
        match self.operator.as_str() {
            "In" if !self.values.is_empty() => Some(listed),
            // Kubernetes: NotIn also matches objects without the label.
            "NotIn" if !self.values.is_empty() => Some(!listed),
            "Exists" if self.values.is_empty() => Some(value.is_some()),
            "DoesNotExist" if self.values.is_empty() => Some(value.is_none()),
            _ => None,
        }
    }
}
