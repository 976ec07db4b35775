//! The answers of a walk, sorted into what they are about.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::sight::{Listing, Sight};
use super::source::{HubQuery, QueryAnswer};
use crate::kubefleet::Kind;
use crate::kubefleet::object::InBody;

/// The answers of a walk.
pub(super) struct WalkAnswers<'g> {
    known: &'g BTreeMap<HubQuery, QueryAnswer>,
    /// Why objects of a kind may be missing.
    pub gaps: BTreeMap<Kind, String>,
}

impl<'g> WalkAnswers<'g> {
    pub fn new(known: &'g BTreeMap<HubQuery, QueryAnswer>) -> Self {
        let mut gaps = BTreeMap::new();
        for (query, answer) in known {
            if let Some(gap) = answer.outcome.gap() {
                gaps.entry(query.kind).or_insert(gap);
            }
        }
        Self { known, gaps }
    }

    /// Everything that was seen of a kind, by namespace and name.
    pub fn listing<T: InBody>(&self, kind: Kind) -> Listing<T> {
        let mut items = BTreeMap::new();
        for answer in self
            .known
            .iter()
            .filter(|(query, _)| query.kind == kind)
            .map(|(_, answer)| answer)
        {
            for object in answer.objects.iter() {
                if let Some(item) = object.get() {
                    let meta = object.body.meta();
                    let name = (meta.namespace.as_str(), meta.name.as_str());
                    items.insert(name, Arc::clone(item));
                }
            }
        }
        Listing {
            items: items.into_values().collect(),
            gap: self.gaps.get(&kind).cloned(),
        }
    }

    /// What a question for one object has found.
    pub fn sight<T: InBody>(&self, query: &HubQuery) -> Sight<T> {
        let Some(answer) = self.known.get(query) else {
            return Sight::Unknown("not requested".to_owned());
        };
        match answer.all().next() {
            Some(object) => Sight::Present(Arc::clone(object)),
            None => answer.outcome.gap().map_or(Sight::Absent, Sight::Unknown),
        }
    }
}
