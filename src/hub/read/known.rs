//! What a command knows of a hub: nothing is asked twice.

use std::collections::HashMap;

use crate::inventory::source::{HubQuery, Outcome, QueryAnswer, QuerySelection};
use crate::kubefleet::object::Object;
use crate::kubefleet::run::UpdateRun;

/// Where in a list something is, by namespace and name or by placement.
type ListPlaces<K> = HashMap<HubQuery, HashMap<K, Vec<usize>>>;

#[derive(Default)]
pub struct KnownAnswers {
    answers: HashMap<HubQuery, QueryAnswer>,
    by_name: ListPlaces<(String, String)>,
    by_placement: ListPlaces<String>,
    /// The runs on a placement: who asks again shares them.
    around: HashMap<(HubQuery, String), QueryAnswer>,
}

impl KnownAnswers {
    pub fn insert(&mut self, query: HubQuery, answer: QueryAnswer) {
        self.forget_parts(&query);
        self.answers.insert(query, answer);
    }

    pub fn remove(&mut self, query: &HubQuery) {
        self.forget_parts(query);
        self.answers.remove(query);
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Forgets the objects of which there is most.
    pub fn drop_large(&mut self) {
        self.answers.retain(|query, _| !query.kind.is_large());
    }

    fn forget_parts(&mut self, query: &HubQuery) {
        self.by_name.remove(query);
        self.by_placement.remove(query);
        self.around.retain(|(list, _), _| list != query);
    }

    /// What is known already: asked for itself, or part of a list that was read in full. Of all
    /// runs those on the placement, where one is given.
    pub fn get(&mut self, query: &HubQuery, placement: Option<&str>) -> Option<QueryAnswer> {
        if let Some(answer) = self.answers.get(query) {
            return match placement {
                Some(placement) if is_runs(answer) => Some(self.runs_on(query, placement)?),
                _ => Some(answer.clone()),
            };
        }
        let QuerySelection::Named { namespace, name } = &query.which else {
            return None;
        };
        [namespace.as_str(), ""].iter().find_map(|place| {
            let list = HubQuery::all(query.kind, place);
            let answer = self.answers.get(&list)?;
            if answer.outcome != Outcome::Listed {
                return None;
            }
            let places = self.by_name.entry(list).or_insert_with(|| {
                index(&answer.objects, |object| {
                    let meta = object.body.meta();
                    Some((meta.namespace.clone(), meta.name.clone()))
                })
            });
            let key = (namespace.clone(), name.clone());
            Some(part(answer, places.get(&key)))
        })
    }

    fn runs_on(&mut self, query: &HubQuery, placement: &str) -> Option<QueryAnswer> {
        let key = (query.clone(), placement.to_owned());
        if let Some(answer) = self.around.get(&key) {
            return Some(answer.clone());
        }
        let answer = self.answers.get(query)?;
        let places = self
            .by_placement
            .entry(query.clone())
            .or_insert_with(|| index(&answer.objects, |object| Some(of_run(object)?.to_owned())));
        let runs = part(answer, places.get(placement));
        self.around.insert(key, runs.clone());
        Some(runs)
    }
}

/// Whether an answer is a list of runs, of which there may be thousands.
fn is_runs(answer: &QueryAnswer) -> bool {
    answer.objects.len() > 1 && answer.objects.iter().all(|object| of_run(object).is_some())
}

fn of_run(object: &Object) -> Option<&str> {
    let run = object.get::<UpdateRun>()?;
    Some(&run.spec.placement)
}

fn index<K: Eq + std::hash::Hash>(
    objects: &[Object],
    key: impl Fn(&Object) -> Option<K>,
) -> HashMap<K, Vec<usize>> {
    let mut places: HashMap<K, Vec<usize>> = HashMap::new();
    for (at, object) in objects.iter().enumerate() {
        if let Some(key) = key(object) {
            places.entry(key).or_default().push(at);
        }
    }
    places
}

fn part(answer: &QueryAnswer, places: Option<&Vec<usize>>) -> QueryAnswer {
    let places = places.into_iter().flatten();
    let objects = places.filter_map(|at| answer.objects.get(*at).cloned());
    QueryAnswer::new(objects.collect(), answer.outcome.clone())
}

#[cfg(test)]
mod tests {
    use super::{HubQuery, KnownAnswers, Outcome, QueryAnswer};
    use crate::kubefleet::object::Object;
    use crate::kubefleet::{Kind, names};
    use serde_json::json;

    const RUN: Kind = Kind::StagedUpdateRun;

    fn run(namespace: &str, name: &str, placement: &str) -> Object {
        Object::of(&json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "StagedUpdateRun",
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"placementName": placement},
        }))
    }

    fn listed(objects: Vec<Object>) -> QueryAnswer {
        QueryAnswer::new(objects.into(), Outcome::Listed)
    }

    fn seen(answer: Option<QueryAnswer>) -> Option<Vec<String>> {
        let answer = answer?;
        let names = answer.objects.iter();
        Some(names.map(|object| object.reference().to_string()).collect())
    }

    #[test]
    fn a_name_in_a_list_is_known_and_in_a_list_that_failed_it_is_not() {
        let mut known = KnownAnswers::default();
        let all = HubQuery::all(RUN, "");
        let named = |name| HubQuery::named(RUN, "shop", name);
        assert!(known.get(&named("a"), None).is_none());
        let list = vec![run("shop", "a", "web"), run("other", "b", "web")];
        known.insert(all.clone(), listed(list.clone()));
        assert_eq!(seen(known.get(&named("a"), None)).unwrap().len(), 1);
        // The one of another namespace is another.
        assert_eq!(seen(known.get(&named("b"), None)), Some(vec![]));
        let failed = Outcome::Failed("no".to_owned());
        known.insert(all, QueryAnswer::new(list.into(), failed));
        assert!(known.get(&named("a"), None).is_none());
    }

    #[test]
    fn runs_around_a_placement_are_its_own_and_shared() {
        let mut known = KnownAnswers::default();
        let all = HubQuery::all(RUN, "shop");
        let list = ["web", "db", "web"].into_iter().enumerate();
        let list = list.map(|(n, placement)| run("shop", &n.to_string(), placement));
        known.insert(all.clone(), listed(list.collect()));
        let first = known.get(&all, Some("web")).unwrap();
        assert_eq!(first.objects.len(), 2);
        let again = known.get(&all, Some("web")).unwrap();
        assert!(std::sync::Arc::ptr_eq(&first.objects, &again.objects));
        assert_eq!(known.get(&all, Some("none")).unwrap().objects.len(), 0);
        assert_eq!(known.get(&all, None).unwrap().objects.len(), 3);
        // What is read again replaces all of it.
        known.insert(all.clone(), listed(vec![]));
        assert_eq!(known.get(&all, Some("web")).unwrap().objects.len(), 0);
    }

    #[test]
    fn what_is_small_outlives_what_is_large() {
        let mut known = KnownAnswers::default();
        let of = |kind| HubQuery::labelled(kind, "", names::PARENT_PLACEMENT, "web");
        let kept = [Kind::ClusterSchedulingPolicySnapshot, RUN].map(of);
        let gone = [
            Kind::ClusterResourceBinding,
            Kind::ResourceSnapshot,
            Kind::Work,
        ]
        .map(of);
        for query in kept.iter().chain(&gone) {
            known.insert(query.clone(), QueryAnswer::none(Outcome::NotServed));
        }
        known.drop_large();
        assert!(kept.iter().all(|query| known.get(query, None).is_some()));
        assert!(gone.iter().all(|query| known.get(query, None).is_none()));
    }
}
