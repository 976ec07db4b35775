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

    /// A selector of member clusters. Without terms it selects every cluster.
    pub struct ClusterSelector {
        /// One of these must match.
        pub terms: Vec<ClusterSelectorTerm> = "clusterSelectorTerms",
    }

    /// One term of a selector of member clusters.
    pub struct ClusterSelectorTerm {
        /// The labels; absent matches nothing.
        pub labels: Option<Box<LabelSelector>> = "labelSelector",
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

    /// What Kubernetes does not take of it; `None` when it is valid.
    pub fn problem(&self) -> Option<String> {
        let labels = self.labels.iter().find_map(|(key, value)| {
            key_problem(key).or_else(|| {
                let invalid = !is_label_value(value);
                invalid.then(|| format!("{value:?} is not a valid label value"))
            })
        });
        labels.or_else(|| self.expressions.iter().find_map(Requirement::problem))
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

fn key_problem(key: &str) -> Option<String> {
    (!is_label_key(key)).then(|| format!("{key:?} is not a valid label key"))
}

/// Whether a text is a label's key: a name, perhaps behind a domain and a slash.
/// Source: apimachinery/pkg/util/validation/validation.go:IsQualifiedName.
fn is_label_key(key: &str) -> bool {
    let (domain, name) = match key.split_once('/') {
        Some((domain, name)) => (Some(domain), name),
        None => (None, key),
    };
    let is_domain = |domain: &str| {
        let edge =
            |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        domain.len() <= 253
            && domain.split('.').all(|part| {
                edge(part.chars().next()) && edge(part.chars().last()) && part.chars().all(inner)
            })
    };
    domain.is_none_or(is_domain) && !name.is_empty() && is_label_value(name)
}

/// Whether a text is a label's value.
/// Source: apimachinery/pkg/util/validation/validation.go:IsValidLabelValue.
fn is_label_value(value: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    value.len() <= 63
        && edge(value.chars().next())
        && edge(value.chars().last())
        && value.chars().all(inner)
}

impl Requirement {
    /// What Kubernetes does not take of it.
    fn problem(&self) -> Option<String> {
        let (key, operator) = (&self.key, &self.operator);
        let counted = match operator.as_str() {
            "In" | "NotIn" if self.values.is_empty() => {
                Some(format!("{operator} on {key:?} needs values"))
            }
            "Exists" | "DoesNotExist" if !self.values.is_empty() => {
                Some(format!("{operator} on {key:?} takes no values"))
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => None,
            _ => Some(format!("{operator:?} is not an operator")),
        };
        counted.or_else(|| key_problem(key)).or_else(|| {
            let invalid = self.values.iter().find(|value| !is_label_value(value))?;
            Some(format!("{invalid:?} is not a valid label value"))
        })
    }

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

#[cfg(test)]
mod tests {
    use super::{LabelSelector, Requirement};

    fn selector(key: &str, operator: &str, values: &[&str]) -> LabelSelector {
        LabelSelector {
            expressions: vec![Requirement {
                key: key.to_owned(),
                operator: operator.to_owned(),
                values: values.iter().map(|&value| value.to_owned()).collect(),
            }],
            ..LabelSelector::default()
        }
    }

    #[test]
    fn valid_selectors_have_no_problem() {
        for (key, operator, values) in [
            ("tier", "In", &["a", "b_1.c"][..]),
            ("example.com/tier", "NotIn", &[""]),
            ("Tier_1.x-y", "Exists", &[]),
            ("tier", "DoesNotExist", &[]),
        ] {
            assert_eq!(
                selector(key, operator, values).problem(),
                None,
                "{key} {operator}"
            );
        }
        assert_eq!(LabelSelector::default().problem(), None);
    }

    #[test]
    fn what_kubernetes_refuses_is_named() {
        let long = "a".repeat(64);
        for (key, operator, values) in [
            ("tier", "In", &[][..]),
            ("tier", "Exists", &["a"]),
            ("tier", "Equals", &["a"]),
            ("tier", "", &[]),
            ("", "Exists", &[]),
            ("-tier", "Exists", &[]),
            ("tier ", "Exists", &[]),
            ("/tier", "Exists", &[]),
            ("Example.com/tier", "Exists", &[]),
            ("a/b/c", "Exists", &[]),
            ("tier", "In", &["a", "b c"]),
            ("tier", "In", &["-a"]),
            ("tier", "In", &[&long]),
        ] {
            assert!(
                selector(key, operator, values).problem().is_some(),
                "{key} {operator}"
            );
        }
        let mut labels = LabelSelector::default();
        labels.labels.insert("tier".to_owned(), "a b".to_owned());
        assert!(labels.problem().is_some());
    }
}
