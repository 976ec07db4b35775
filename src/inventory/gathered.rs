//! The answers of a walk, sorted into what they are about.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::sight::{Listing, Sight};
use super::source::{HubQuery, QueryAnswer, QuerySelection};
use crate::kubefleet::Kind;
use crate::kubefleet::object::InBody;

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

    /// Everything that was seen of a kind, by namespace and name. What was asked for by name led to other questions,
    /// and goes together with their answers: a list that came later may have it as it is after a write.
    pub fn listing<T: InBody>(&self, kind: Kind) -> Listing<T> {
        let of_kind = self.known.iter().filter(|(query, _)| query.kind == kind);
        let (named, lists): (Vec<_>, Vec<_>) =
            of_kind.partition(|(query, _)| matches!(query.which, QuerySelection::Named { .. }));
        let mut items = BTreeMap::new();
        for (_, answer) in lists.into_iter().chain(named) {
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
        Sight::new(answer.all().next(), answer.outcome.gap())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::{HubQuery, QueryAnswer, WalkAnswers};
    use crate::inventory::source::Outcome;
    use crate::kubefleet::Kind;
    use crate::kubefleet::object::Object;
    use crate::kubefleet::run::UpdateRun;

    const RUN: Kind = Kind::ClusterStagedUpdateRun;

    fn answered(version: &str) -> QueryAnswer {
        let run = json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterStagedUpdateRun",
            "metadata": {"name": "a", "resourceVersion": version},
        });
        QueryAnswer::new([Object::of(&run)].into(), Outcome::Listed)
    }

    #[test]
    fn what_was_asked_for_by_name_is_not_replaced_by_a_later_list() {
        let named = HubQuery::named(RUN, "", "a");
        let known: BTreeMap<_, _> = [
            (named, answered("1")),
            (HubQuery::all(RUN, ""), answered("2")),
        ]
        .into();
        let runs = WalkAnswers::new(&known).listing::<UpdateRun>(RUN);
        let versions = runs.items.iter();
        let versions: Vec<_> = versions.map(|run| &run.meta.resource_version).collect();
        assert_eq!(versions, ["1"]);
    }
}
