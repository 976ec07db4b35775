//! Label selectors, matched as Kubernetes matches them.

use std::collections::BTreeMap;

use super::tolerant::model;

model! {
    /// A label selector. Empty, it selects everything.
    #[derive(Eq, PartialOrd, Ord, Hash)]
    pub struct LabelSelector {
        /// Labels that must have exactly these values.
        pub labels: BTreeMap<String, String> = "matchLabels",
        /// Further requirements.
        pub expressions: Vec<Requirement> = "matchExpressions",
    }

    #[derive(Eq, PartialOrd, Ord, Hash)]
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

    pub struct ClusterSelectorTerm {
        /// The labels; absent in an override, it matches nothing.
        pub labels: Option<Box<LabelSelector>> = "labelSelector",
        /// The properties, such as a capacity, that a cluster needs as well.
        pub properties: Option<Box<PropertySelector>> = "propertySelector",
    }

    /// `propertySelector` of a term.
    pub struct PropertySelector {
        pub expressions: Vec<PropertyRequirement> = "matchExpressions",
    }

    pub struct PropertyRequirement {
        pub name: String = "name",
        /// `Gt`, `Ge`, `Eq`, `Ne`, `Lt` or `Le`.
        pub operator: String = "operator",
        pub values: Vec<String> = "values",
    }
}

impl LabelSelector {
    /// Reads a selector as `kubectl -l` takes it: `tier=web,env!=dev,zone in (a,b),canary,!old`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut selector = Self::default();
        for part in parts(text)? {
            let requirement = Requirement::parse(part)?;
            selector.expressions.push(requirement);
        }
        match selector.problem() {
            Some(problem) => Err(problem),
            None => Ok(selector),
        }
    }

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

    /// The key of the first requirement that the labels surely do not satisfy.
    pub fn unmet_key(&self, labels: &BTreeMap<String, String>) -> Option<&str> {
        let mut own = self.labels.iter();
        let own = own.find(|(key, value)| labels.get(*key) != Some(*value));
        let mut expressions = self.expressions.iter();
        let mut other = || expressions.find(|it| it.matches(labels) == Some(false));
        let own = own.map(|(key, _)| key.as_str());
        own.or_else(|| other().map(|it| it.key.as_str()))
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
        let labels = self.labels.iter();
        let labels = labels.map(|(key, value)| format!("{key}={value}"));
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

/// The requirements of a selector: commas in parentheses are between values.
fn parts(text: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let (mut start, mut open) = (0, false);
    for (at, c) in text.char_indices() {
        match (c, open) {
            ('(', false) => open = true,
            (')', true) => open = false,
            ('(' | ')', _) => return Err(format!("a parenthesis too many in {text:?}")),
            (',', false) => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if open {
        return Err(format!("a parenthesis is not closed in {text:?}"));
    }
    parts.push(text[start..].trim());
    if parts == [""] {
        return Ok(Vec::new());
    }
    Ok(parts)
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
    domain.is_none_or(is_domain) && !name.is_empty() && is_label_value(name)
}

/// Whether a text is a domain, as which the API server takes an object's name too.
pub fn is_domain(text: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.len() <= 253
        && text.split('.').all(|part| {
            edge(part.chars().next()) && edge(part.chars().last()) && part.chars().all(inner)
        })
}

/// Whether a text is a label's value, which may be empty.
/// Source: apimachinery/pkg/util/validation/validation.go:IsValidLabelValue.
pub fn is_label_value(value: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    value.len() <= 63
        && edge(value.chars().next())
        && edge(value.chars().last())
        && value.chars().all(inner)
}

impl Requirement {
    fn new(key: &str, operator: &str, values: &str) -> Self {
        let values = values.split(',').map(|value| value.trim().to_owned());
        Self {
            key: key.trim().to_owned(),
            operator: operator.to_owned(),
            values: values.collect(),
        }
    }

    fn bare(key: &str, operator: &str) -> Self {
        Self {
            values: Vec::new(),
            ..Self::new(key, operator, "")
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        if let Some((head, values)) = text.split_once('(') {
            let values = values.strip_suffix(')');
            let words: Vec<_> = head.split_whitespace().collect();
            return match (words.as_slice(), values) {
                ([key, "in"], Some(values)) => Ok(Self::new(key, "In", values)),
                ([key, "notin"], Some(values)) => Ok(Self::new(key, "NotIn", values)),
                _ => Err(format!("{text:?} is not KEY in (A,B) or KEY notin (A,B)")),
            };
        }
        if let Some((key, value)) = text.split_once("!=") {
            return Ok(Self::new(key, "NotIn", value));
        }
        if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
            return Ok(Self::new(key, "In", value));
        }
        Ok(match text.strip_prefix('!') {
            Some(key) => Self::bare(key, "DoesNotExist"),
            None => Self::bare(text, "Exists"),
        })
    }

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
    fn what_kubectl_takes_is_read() {
        let labels = [("tier", "web"), ("env", "prod"), ("canary", "")];
        let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let labels = labels.into_iter().collect();
        for (text, matches) in [
            ("", true),
            ("tier=web", true),
            ("tier==web", true),
            ("tier = web , env != dev", true),
            ("tier!=web", false),
            ("env in (prod,dev)", true),
            ("env in ( dev )", false),
            ("env notin (dev, test),tier", true),
            ("canary", true),
            ("canary=", true),
            ("!canary", false),
            ("!other,other notin (a)", true),
            ("other", false),
            ("tier=web,tier=db", false),
        ] {
            let selector = LabelSelector::parse(text).unwrap();
            assert_eq!(selector.matches(&labels), Some(matches), "{text}");
            if !selector.is_empty() {
                let again = LabelSelector::parse(&selector.describe());
                assert_eq!(again, Ok(selector), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_selector_is_refused() {
        for text in [
            "tier=web,",
            ",",
            "tier=we b",
            "a=b=c",
            "tier in web",
            "tier in (a",
            "tier in (a))",
            "tier of (a)",
            "in (a)",
            "tier>1",
            "=web",
            "!",
            "tier (a,b)",
            "tier in ((a))",
            "tier in (a) b",
        ] {
            assert!(LabelSelector::parse(text).is_err(), "{text}");
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
            let problem = selector(key, operator, values).problem();
            assert_eq!(problem, None, "{key} {operator}");
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
            let problem = selector(key, operator, values).problem();
            assert!(problem.is_some(), "{key} {operator}");
        }
        let mut labels = LabelSelector::default();
        labels.labels.insert("tier".to_owned(), "a b".to_owned());
        assert!(labels.problem().is_some());
    }
}
