//! Labels that nearly are what a selector asks for: facts to compare, not a claim that one is wrong.

use std::collections::BTreeMap;

use crate::kubefleet::selector::LabelSelector;

/// How alike two words have to be.
const CLOSE: f64 = 0.8;

/// What a cluster has and what is asked for, where nothing but near misses keeps a selector from
/// matching: `environment=stagging` for `environment=staging`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    /// The labels that the cluster has.
    pub has: String,
    /// Those that the selector asks for.
    pub wanted: String,
}

pub fn near_miss(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> Option<NearMiss> {
    let exact = selector.labels.iter();
    let exact = exact.map(|(key, value)| (key.as_str(), std::slice::from_ref(value)));
    let mut listed = Vec::new();
    for requirement in &selector.expressions {
        if requirement.operator == "In" {
            listed.push((requirement.key.as_str(), requirement.values.as_slice()));
            continue;
        }
        let alone = LabelSelector {
            expressions: vec![requirement.clone()],
            ..LabelSelector::default()
        };
        // What is to be absent is missed on purpose.
        if alone.matches(labels) != Some(true) {
            return None;
        }
    }
    let (mut has, mut wanted) = (Vec::new(), Vec::new());
    for (key, values) in exact.chain(listed) {
        let value = labels.get(key);
        if value.is_some_and(|value| values.contains(value)) {
            continue;
        }
        let by_value = value.and_then(|value| {
            let meant = values.iter().find(|wanted| is_close(value, wanted))?;
            Some((key, value, meant))
        });
        let by_key = || {
            let mut others = labels.iter();
            let (other, value) = others.find(|(other, value)| {
                *other != key && is_close_key(other, key) && values.contains(value)
            })?;
            Some((other.as_str(), value, value))
        };
        let near = by_value.or_else(by_key)?;
        has.push(format!("{}={}", near.0, near.1));
        wanted.push(format!("{key}={}", near.2));
    }
    (!has.is_empty()).then(|| NearMiss {
        has: has.join(","),
        wanted: wanted.join(","),
    })
}

/// Whether one word may be meant where the other stands. Words that differ in their numbers alone
/// are different on purpose.
fn is_close(has: &str, wanted: &str) -> bool {
    let letters = |word: &str| -> String { word.chars().filter(|c| !c.is_ascii_digit()).collect() };
    if has.is_empty() || wanted.is_empty() || letters(has) == letters(wanted) {
        return false;
    }
    let (short, long) = if has.len() < wanted.len() {
        (has, wanted)
    } else {
        (wanted, has)
    };
    has.eq_ignore_ascii_case(wanted)
        || (short.len() > 2 && long.starts_with(short))
        || strsim::normalized_damerau_levenshtein(has, wanted) >= CLOSE
}

/// The same for keys: with or without their domain they are close as well.
fn is_close_key(has: &str, wanted: &str) -> bool {
    let name = |key: &str| key.rsplit('/').next().unwrap_or_default().to_owned();
    name(has) == name(wanted) || is_close(has, wanted) || is_close(&name(has), &name(wanted))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::near_miss;
    use crate::kubefleet::selector::{LabelSelector, Requirement};

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn said(wanted: &[(&str, &str)], has: &[(&str, &str)]) -> Option<String> {
        let selector = LabelSelector {
            labels: labels(wanted),
            ..LabelSelector::default()
        };
        near_miss(&selector, &labels(has)).map(|near| format!("{} for {}", near.has, near.wanted))
    }

    #[test]
    fn keys_and_values_that_are_nearly_right_are_found() {
        let env = &[("environment", "staging")][..];
        for has in [
            ("environment", "stagging"),
            ("environment", "Staging"),
            ("environment", "stag"),
            ("environmnet", "staging"),
            ("example.com/environment", "staging"),
        ] {
            let text = format!("{}={} for environment=staging", has.0, has.1);
            assert_eq!(said(env, &[has]), Some(text));
        }
        let two = &[("environment", "staging"), ("tier", "web")][..];
        let near = said(two, &[("environment", "stagin"), ("tier", "web")]).unwrap();
        assert_eq!(near, "environment=stagin for environment=staging");
    }

    #[test]
    fn what_is_different_on_purpose_is_no_near_miss() {
        let env = &[("environment", "staging")][..];
        assert_eq!(said(env, &[("environment", "staging")]), None);
        assert_eq!(said(env, &[("environment", "production")]), None);
        assert_eq!(said(env, &[("tier", "web")]), None);
        assert_eq!(said(env, &[]), None);
        assert_eq!(said(&[("wave", "wave-1")], &[("wave", "wave-2")]), None);
        assert_eq!(said(&[("order", "1")], &[("order", "10")]), None);
        let two = &[("environment", "staging"), ("tier", "web")][..];
        let other_tier = &[("environment", "stagin"), ("tier", "db")];
        assert_eq!(said(two, other_tier), None);
        let absent = LabelSelector {
            labels: labels(&[("environment", "staging")]),
            expressions: vec![Requirement {
                key: "maintenance".to_owned(),
                operator: "DoesNotExist".to_owned(),
                values: Vec::new(),
            }],
        };
        let has = labels(&[("environment", "stagin"), ("maintenance", "yes")]);
        assert_eq!(near_miss(&absent, &has), None);
    }
}
