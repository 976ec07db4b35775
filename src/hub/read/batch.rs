//! Fewer requests for many questions: those that differ in a label's value or in a name alone are
//! asked together.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::source::{HubQuery, QuerySelection};
use crate::kubefleet::Concept;
use crate::kubefleet::selector::is_label_value;

/// How long the values in one selector may be together: a proxy may refuse an address of 8 KiB.
const VALUES: usize = 2000;
/// Of kinds with many or large objects for a value, so many values: they come in one page, and a
/// server prepares several pages at once.
const OF_LARGE: usize = 10;
/// Up to so many objects are asked for one by one.
const ONE_BY_ONE: usize = 8;

/// What one request, with its pages, asks for: one question, or several that differ in the value of a
/// label, or in the name, alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hub) struct BatchedRequest {
    pub first: HubQuery,
    pub more: Vec<HubQuery>,
}

impl From<HubQuery> for BatchedRequest {
    fn from(first: HubQuery) -> Self {
        let more = Vec::new();
        Self { first, more }
    }
}

impl BatchedRequest {
    /// Several questions together; `None` where there is none.
    fn of(queries: impl IntoIterator<Item = HubQuery>) -> Option<Self> {
        let mut queries = queries.into_iter();
        let first = queries.next()?;
        let more = queries.collect();
        Some(Self { first, more })
    }

    /// How it selects by labels; `None` for all objects.
    pub(in crate::hub) fn selector(&self) -> Option<String> {
        match self.first.label() {
            Some((key, first)) if !self.more.is_empty() => {
                let more = self.more.iter().filter_map(HubQuery::label);
                let values = std::iter::once(first).chain(more.map(|(_, value)| value));
                let values: Vec<_> = values.collect();
                Some(format!("{key} in ({})", values.join(",")))
            }
            _ => self.first.selector(),
        }
    }

    pub(in crate::hub) fn queries(&self) -> Vec<HubQuery> {
        let queries = std::iter::once(&self.first).chain(&self.more);
        queries.cloned().collect()
    }
}

/// What to ask for a round of questions.
pub(in crate::hub) fn asks(queries: Vec<HubQuery>) -> Vec<BatchedRequest> {
    let mut asks = Vec::new();
    let mut labelled: BTreeMap<_, BTreeSet<HubQuery>> = BTreeMap::new();
    let mut named: BTreeMap<_, BTreeSet<HubQuery>> = BTreeMap::new();
    for query in queries {
        let place = (query.kind, query.which.namespace().map(str::to_owned));
        let label = query.label().filter(|(_, value)| is_value(value));
        if let Some((key, _)) = label {
            labelled.entry((place, key)).or_default().insert(query);
        } else if let QuerySelection::Named { .. } = query.which {
            named.entry(place).or_default().insert(query);
        } else {
            asks.push(query.into());
        }
    }
    for (((kind, _), _), queries) in labelled {
        let most = match kind.concept() {
            Concept::Binding | Concept::ResourceSnapshot => OF_LARGE,
            _ => usize::MAX,
        };
        let together = chunks(queries, most).into_iter();
        asks.extend(together.filter_map(BatchedRequest::of));
    }
    for queries in named.into_values() {
        if queries.len() > ONE_BY_ONE {
            asks.extend(BatchedRequest::of(queries));
        } else {
            asks.extend(queries.into_iter().map(BatchedRequest::from));
        }
    }
    asks
}

/// Together as many as an address has room for their values.
fn chunks(queries: BTreeSet<HubQuery>, most: usize) -> Vec<Vec<HubQuery>> {
    let mut chunks: Vec<Vec<HubQuery>> = Vec::new();
    let mut length = usize::MAX;
    for query in queries {
        let value = query.label().map_or(0, |(_, value)| value.len());
        // Beside it a comma, which an address writes with three letters.
        let own = value.saturating_add(3);
        length = length.saturating_add(own);
        match chunks.last_mut() {
            Some(last) if length <= VALUES && last.len() < most => last.push(query),
            _ => {
                length = own;
                chunks.push(vec![query]);
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
        let together = BatchedRequest::of([of("a"), of("b")]).unwrap();
        assert_eq!(
            together.selector().unwrap(),
            format!("{} in (a,b)", names::PARENT_PLACEMENT)
        );
        let asked = asks(queries);
        assert_eq!(asked.len(), 4, "{asked:?}");
        for ask in [other.into(), all.into(), elsewhere.into(), together] {
            assert!(asked.contains(&ask), "{ask:?}");
        }
    }

    #[test]
    fn what_a_server_would_refuse_is_asked_alone() {
        let long = "x".repeat(64);
        for odd in ["", "a,b", "a b", "-a", "a)", &long] {
            let asked = asks(vec![of("a"), of("b"), of(odd)]);
            assert_eq!(asked.len(), 2, "{asked:?}");
            assert!(asked.contains(&of(odd).into()), "{asked:?}");
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
        assert!(matches!(asked.as_slice(), [together] if together.queries().len() == 9));
    }
}
