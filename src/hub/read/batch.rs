//! Fewer requests for many questions: those that differ in a label's value or in a name alone are
//! asked together.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::source::{HubQuery, Labels, QuerySelection};
use crate::kubefleet::selector::is_label_value;
use crate::kubefleet::{Concept, Kind};

/// How long the values in one selector may be together: a proxy may refuse an address of 8 KiB.
const VALUES: usize = 2000;
/// Of kinds with many or large objects for a value, so many values: they come in one page, and a
/// server prepares several pages at once.
const OF_LARGE: usize = 10;
/// Up to so many objects are asked for one by one.
const ONE_BY_ONE: usize = 8;

/// What one request, with its pages, asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hub) enum BatchedRequest {
    /// One question, as it is.
    One(HubQuery),
    /// The objects with one of these values of a label.
    Any {
        kind: Kind,
        /// Everywhere when it is empty.
        namespace: String,
        key: &'static str,
        values: Vec<String>,
    },
    /// The objects of these names in a namespace.
    Names {
        kind: Kind,
        namespace: String,
        names: BTreeSet<String>,
    },
}

impl BatchedRequest {
    /// How it selects by labels; `None` for all objects.
    pub(in crate::hub) fn selector(&self) -> Option<String> {
        match self {
            Self::Any { key, values, .. } => Some(format!("{key} in ({})", values.join(","))),
            Self::One(query) => query.selector(),
            Self::Names { .. } => None,
        }
    }

    /// The questions that it answers.
    pub(in crate::hub) fn queries(&self) -> Vec<HubQuery> {
        match self {
            Self::One(query) => vec![query.clone()],
            Self::Any {
                kind,
                namespace,
                key,
                values,
            } => values
                .iter()
                .map(|value| HubQuery::labelled(*kind, namespace, key, value))
                .collect(),
            Self::Names {
                kind,
                namespace,
                names,
            } => names
                .iter()
                .map(|name| HubQuery::named(*kind, namespace, name))
                .collect(),
        }
    }
}

/// What to ask for a round of questions.
pub(in crate::hub) fn asks(queries: Vec<HubQuery>) -> Vec<BatchedRequest> {
    let mut asks = Vec::new();
    let mut values: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    let mut names: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for query in queries {
        match query.which {
            QuerySelection::All {
                namespace,
                labels: Some(Labels::Is(key, value)),
            } if is_value(&value) => {
                let namespace = namespace.unwrap_or_default();
                let same = values.entry((query.kind, namespace, key)).or_default();
                same.insert(value);
            }
            QuerySelection::Named { namespace, name } => {
                let same = names.entry((query.kind, namespace)).or_default();
                same.insert(name);
            }
            which @ QuerySelection::All { .. } => {
                asks.push(BatchedRequest::One(HubQuery { which, ..query }));
            }
        }
    }
    for ((kind, namespace, key), values) in values {
        let most = match kind.concept() {
            Concept::Binding | Concept::ResourceSnapshot => OF_LARGE,
            _ => usize::MAX,
        };
        for values in chunks(values, most) {
            asks.push(match values.as_slice() {
                [value] => BatchedRequest::One(HubQuery::labelled(kind, &namespace, key, value)),
                _ => BatchedRequest::Any {
                    kind,
                    namespace: namespace.clone(),
                    key,
                    values,
                },
            });
        }
    }
    for ((kind, namespace), names) in names {
        if names.len() > ONE_BY_ONE {
            asks.push(BatchedRequest::Names {
                kind,
                namespace,
                names,
            });
        } else {
            let named =
                |name: &String| BatchedRequest::One(HubQuery::named(kind, &namespace, name));
            asks.extend(names.iter().map(named));
        }
    }
    asks
}

/// As many values together as an address has room for.
fn chunks(values: BTreeSet<String>, most: usize) -> Vec<Vec<String>> {
    let mut chunks: Vec<Vec<String>> = Vec::new();
    let mut length = usize::MAX;
    for value in values {
        // Beside it a comma, which an address writes with three letters.
        let own = value.len().saturating_add(3);
        length = length.saturating_add(own);
        match chunks.last_mut() {
            Some(last) if length <= VALUES && last.len() < most => last.push(value),
            _ => {
                length = own;
                chunks.push(vec![value]);
            }
        }
    }
    chunks
}

/// Whether a label may have the value: one that may not would spoil the request for all others.
fn is_value(value: &str) -> bool {
    !value.is_empty() && is_label_value(value)
}

#[cfg(test)]
mod tests {
    use super::{BatchedRequest, HubQuery, asks};
    use crate::kubefleet::{Kind, names};

    const BINDING: Kind = Kind::ClusterResourceBinding;

    fn of(placement: &str) -> HubQuery {
        HubQuery::labelled(BINDING, "", names::PARENT_PLACEMENT, placement)
    }

    #[test]
    fn values_of_one_label_are_asked_together() {
        let other = HubQuery::labelled(BINDING, "", names::PARENT_BINDING, "a");
        let elsewhere = HubQuery::labelled(Kind::Work, "x", names::PARENT_BINDING, "a");
        let all = HubQuery::all(BINDING, "");
        let queries = vec![
            of("b"),
            other.clone(),
            all.clone(),
            of("a"),
            elsewhere.clone(),
        ];
        let together = BatchedRequest::Any {
            kind: BINDING,
            namespace: String::new(),
            key: names::PARENT_PLACEMENT,
            values: vec!["a".to_owned(), "b".to_owned()],
        };
        let asked = asks(queries);
        assert_eq!(asked.len(), 4, "{asked:?}");
        for ask in [
            BatchedRequest::One(other),
            BatchedRequest::One(all),
            BatchedRequest::One(elsewhere),
            together,
        ] {
            assert!(asked.contains(&ask), "{ask:?}");
        }
    }

    #[test]
    fn what_a_server_would_refuse_is_asked_alone() {
        let long = "x".repeat(64);
        for odd in ["", "a,b", "a b", "-a", "a)", &long] {
            let asked = asks(vec![of("a"), of("b"), of(odd)]);
            assert_eq!(asked.len(), 2, "{asked:?}");
            assert!(asked.contains(&BatchedRequest::One(of(odd))), "{asked:?}");
        }
    }

    #[test]
    fn no_address_is_too_long_and_nothing_is_left_out() {
        let of = |kind, n| HubQuery::labelled(kind, "", names::TARGET_RUN, &format!("run-{n:04}"));
        // Bindings are many for one value.
        for (kind, requests) in [(Kind::ClusterApprovalRequest, 6), (BINDING, 100)] {
            let queries: Vec<_> = (0..1000).map(|n| of(kind, n)).collect();
            let asked = asks(queries.clone());
            assert_eq!(asked.len(), requests);
            let answered: Vec<_> = asked.iter().flat_map(BatchedRequest::queries).collect();
            assert_eq!(answered, queries);
        }
    }

    #[test]
    fn few_names_are_asked_one_by_one() {
        let named = |n: usize| HubQuery::named(Kind::ClusterResourcePlacement, "", &n.to_string());
        assert_eq!(asks((0..8).map(named).collect()).len(), 8);
        let asked = asks((0..9).map(named).collect());
        assert!(
            matches!(asked.as_slice(), [BatchedRequest::Names { names, .. }] if names.len() == 9)
        );
    }
}
