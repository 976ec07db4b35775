//! Where objects come from: the walk asks, a source answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::kubefleet::meta::ObjectMeta;
use crate::kubefleet::object::{InBody, Object};
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope, names};
use crate::member::{MemberErrand, MemberObservation};
use crate::query;
pub use crate::query::{NOT_COLLECTED, NOT_SERVED, Outcome, QuerySelection};

/// A condition on labels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Labels {
    /// A label has this value.
    Is(&'static str, String),
    /// What a user selects.
    Selected(LabelSelector),
}

impl Labels {
    /// As the API takes it.
    fn selector(&self) -> String {
        match self {
            Self::Is(key, value) => format!("{key}={value}"),
            Self::Selected(selector) => selector.describe(),
        }
    }

    fn matches(&self, meta: &ObjectMeta) -> bool {
        match self {
            Self::Is(key, value) => meta.label(key) == Some(value.as_str()),
            Self::Selected(selector) => selector.matches(&meta.labels) == Some(true),
        }
    }
}

/// One question of the walk.
pub type HubQuery = query::Query<Kind, Labels>;

impl HubQuery {
    /// Asks for this object.
    pub fn object(object: &ObjectRef) -> Self {
        Self::named(object.kind, &object.namespace, &object.name)
    }

    /// What belongs to a placement.
    pub fn of_placement(kind: Kind, placement: &ObjectRef) -> Self {
        let label = names::PARENT_PLACEMENT;
        Self::labelled(kind, &placement.namespace, label, &placement.name)
    }

    /// Asks for the objects with a label in a namespace; everywhere when it is empty.
    pub fn labelled(kind: Kind, namespace: &str, key: &'static str, value: &str) -> Self {
        Self::with_labels(kind, namespace, Labels::Is(key, value.to_owned()))
    }

    /// Asks for the snapshots that are the latest in a namespace; everywhere when it is empty.
    pub fn latest(kind: Kind, namespace: &str) -> Self {
        Self::labelled(kind, namespace, names::IS_LATEST, "true")
    }

    /// The namespace and name of the one object that is asked for.
    pub fn name_asked(&self) -> Option<String> {
        match &self.which {
            QuerySelection::Named { namespace, name } if namespace.is_empty() => Some(name.clone()),
            QuerySelection::Named { namespace, name } => Some(format!("{namespace}/{name}")),
            QuerySelection::All { .. } => None,
        }
    }

    /// The question for the placement whose objects are asked for; `None` where those of none are.
    pub fn placement_around(&self) -> Option<Self> {
        let (label, placement) = self.label()?;
        // The namespace of a Work is that of its cluster.
        if label != names::PARENT_PLACEMENT || self.kind == Kind::Work {
            return None;
        }
        let namespace = self.which.namespace().unwrap_or_default();
        let kind = Scope::of_namespace(namespace).kind(Concept::Placement);
        Some(Self::named(kind, namespace, placement))
    }

    /// The condition on labels; `None` where there is none.
    pub fn labels(&self) -> Option<&Labels> {
        match &self.which {
            QuerySelection::All { labels, .. } => labels.as_ref(),
            QuerySelection::Named { .. } => None,
        }
    }

    /// The same as the API takes it.
    pub fn selector(&self) -> Option<String> {
        self.labels().map(Labels::selector)
    }

    /// The label and the value that are asked for, where it is one label.
    pub fn label(&self) -> Option<(&'static str, &str)> {
        match self.labels()? {
            Labels::Is(key, value) => Some((*key, value.as_str())),
            Labels::Selected(_) => None,
        }
    }

    /// Whether the object is one that is asked for.
    pub fn matches(&self, object: &Object) -> bool {
        let meta = object.body.meta();
        object.kind == self.kind
            && match &self.which {
                QuerySelection::Named { namespace, name } => {
                    meta.name == *name && meta.namespace == *namespace
                }
                QuerySelection::All { namespace, labels } => {
                    namespace
                        .as_ref()
                        .is_none_or(|namespace| meta.namespace == *namespace)
                        && labels.as_ref().is_none_or(|labels| labels.matches(meta))
                }
            }
    }
}

/// What a source knows about a query.
#[derive(Debug, Clone)]
pub struct QueryAnswer {
    /// The objects it has. There may be some even when the outcome is not `Listed`. Who is answered
    /// the same twice shares them.
    pub objects: Arc<[Object]>,
    /// Whether these are all.
    pub outcome: Outcome,
}

impl QueryAnswer {
    pub const fn new(objects: Arc<[Object]>, outcome: Outcome) -> Self {
        Self { objects, outcome }
    }

    /// An answer without objects.
    pub fn none(outcome: Outcome) -> Self {
        Self::new(Arc::default(), outcome)
    }

    /// Whether nothing of what was asked for exists.
    pub fn is_known_absent(&self) -> bool {
        self.objects.is_empty() && self.outcome.gap().is_none()
    }

    /// The objects of one type.
    pub fn all<T: InBody>(&self) -> impl Iterator<Item = &Arc<T>> + Clone {
        self.objects.iter().filter_map(Object::get)
    }
}

/// What one of several walks asks next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryRound {
    /// The questions.
    pub queries: Vec<HubQuery>,
    /// The placement around which it walks, as far as it is known yet.
    pub placement: Option<String>,
}

/// The objects of one type in some answers.
pub fn all_of<T: InBody>(answers: &[QueryAnswer]) -> impl Iterator<Item = &Arc<T>> + Clone {
    answers.iter().flat_map(QueryAnswer::all)
}

/// Something that answers queries: a live hub or a bundle.
pub trait ObjectSource {
    /// Answers one round: as many answers as queries, in their order.
    fn answer(&mut self, queries: &[HubQuery]) -> Vec<QueryAnswer>;

    /// The same for what is around one placement: of all runs, those on others may be left out. A
    /// source that holds thousands of runs need not hand all of them out for each.
    fn answer_around(
        &mut self,
        queries: &[HubQuery],
        _placement: Option<&str>,
    ) -> Vec<QueryAnswer> {
        self.answer(queries)
    }

    /// Answers rounds of several walks, so that a source may ask for the same, or alike, once.
    fn answer_many(&mut self, rounds: &[QueryRound]) -> Vec<Vec<QueryAnswer>> {
        rounds
            .iter()
            .map(|round| self.answer_around(&round.queries, round.placement.as_deref()))
            .collect()
    }

    /// Looks into the member clusters themselves. Clusters that nobody asked to look into are
    /// left out, which for most sources are all; those that were to be looked into in vain say why.
    fn look(&mut self, _errands: &[MemberErrand]) -> BTreeMap<String, MemberObservation> {
        BTreeMap::new()
    }

    /// The texts of objects, where a source has them.
    fn texts(&mut self, _queries: &[HubQuery]) -> ObjectTexts {
        ObjectTexts::new()
    }
}

/// The texts of objects as JSON.
pub type ObjectTexts = BTreeMap<ObjectRef, Box<RawValue>>;

/// What is known about the hub itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HubFacts {
    /// The values that the hub's schema allows for `spec.state` of an update run; `None` when
    /// nobody looked, empty when it has no such field.
    pub run_states: Option<Vec<String>>,
}

impl HubFacts {
    /// Whether the hub is known to ignore `spec.state`, as KubeFleet 0.1 does.
    pub fn ignores_state(&self) -> bool {
        self.run_states
            .as_ref()
            .is_some_and(|states| !states.iter().any(|state| state == "Run"))
    }
}
