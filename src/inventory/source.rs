//! Where objects come from: the walk asks, a source answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::kubefleet::Kind;
use crate::kubefleet::object::Object;
use crate::member::{Errand, Look};

/// One question of the walk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Query {
    /// The kind asked for.
    pub kind: Kind,
    /// Which of its objects.
    pub which: Which,
}

/// Which objects of a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Which {
    /// The one of this name.
    Named {
        /// Its namespace; empty for cluster-scoped kinds.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// All of them, or those with a label.
    All {
        /// The namespace to look in; `None` means everywhere.
        namespace: Option<String>,
        /// A label and the value that it must have.
        label: Option<(&'static str, String)>,
    },
}

impl Query {
    /// Asks for one object.
    pub fn named(kind: Kind, namespace: &str, name: &str) -> Self {
        Self {
            kind,
            which: Which::Named {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
        }
    }

    /// Asks for every object of a kind in a namespace; everywhere when it is empty.
    pub fn all(kind: Kind, namespace: &str) -> Self {
        let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
        Self {
            kind,
            which: Which::All {
                namespace,
                label: None,
            },
        }
    }

    /// Asks for the objects with a label in a namespace; everywhere when it is empty.
    pub fn labelled(kind: Kind, namespace: &str, key: &'static str, value: &str) -> Self {
        let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
        Self {
            kind,
            which: Which::All {
                namespace,
                label: Some((key, value.to_owned())),
            },
        }
    }

    /// Whether the object is one that is asked for.
    pub fn matches(&self, object: &Object) -> bool {
        let meta = object.body.meta();
        object.kind == self.kind
            && match &self.which {
                Which::Named { namespace, name } => {
                    meta.name == *name && meta.namespace == *namespace
                }
                Which::All { namespace, label } => {
                    namespace
                        .as_ref()
                        .is_none_or(|namespace| meta.namespace == *namespace)
                        && label
                            .as_ref()
                            .is_none_or(|(key, value)| meta.label(key) == Some(value.as_str()))
                }
            }
    }
}

/// What a source knows about a query.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The objects it has. There may be some even when the outcome is not `Listed`. Who is answered
    /// the same twice shares them.
    pub objects: Arc<[Object]>,
    /// Whether these are all.
    pub outcome: Outcome,
}

impl Answer {
    /// An answer without objects.
    pub fn none(outcome: Outcome) -> Self {
        Self {
            objects: Arc::default(),
            outcome,
        }
    }
}

/// How a query went.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Answered in full: what is not among the objects does not exist.
    Listed,
    /// Forbidden, and the server's words.
    Denied(String),
    /// The API server does not serve the kind.
    NotInstalled,
    /// Nobody asked: what is not among the objects is unknown.
    NotCollected,
    /// Asked without an answer, and why.
    Failed(String),
}

/// The gap of a kind that nobody asked for.
pub const NOT_COLLECTED: &str = "not collected";

/// The gap of a kind that the API server does not serve: it has no objects.
pub const NOT_SERVED: &str = "the hub does not serve this kind";

impl Outcome {
    /// Why absent objects are unknown; `None` when they are known not to exist.
    pub fn gap(&self) -> Option<String> {
        match self {
            Self::Listed => None,
            Self::Denied(why) if why.is_empty() => Some("forbidden".to_owned()),
            Self::Denied(why) if why.starts_with("forbidden") => Some(why.clone()),
            Self::Denied(why) => Some(format!("forbidden: {why}")),
            Self::NotInstalled => Some(NOT_SERVED.to_owned()),
            Self::NotCollected => Some(NOT_COLLECTED.to_owned()),
            Self::Failed(why) => Some(format!("could not be read: {why}")),
        }
    }
}

impl Outcome {
    /// Of two outcomes the one that promises less; of two that promise as little, the same one
    /// whatever their order.
    #[must_use]
    pub fn lesser(self, other: Self) -> Self {
        const fn promise(outcome: &Outcome) -> u8 {
            match outcome {
                Outcome::Listed => 4,
                Outcome::NotInstalled => 3,
                Outcome::NotCollected => 2,
                Outcome::Denied(_) => 1,
                Outcome::Failed(_) => 0,
            }
        }
        if (promise(&other), &other) < (promise(&self), &self) {
            other
        } else {
            self
        }
    }
}

/// What one of several walks asks next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The questions.
    pub queries: Vec<Query>,
    /// The placement around which it walks, as far as it is known yet.
    pub placement: Option<String>,
}

/// Something that answers queries: a live hub or a bundle.
pub trait Source {
    /// Answers one round: as many answers as queries, in their order.
    fn answer(&mut self, queries: &[Query]) -> Vec<Answer>;

    /// The same for what is around one placement: of all runs, those on others may be left out. A
    /// source that holds thousands of runs need not hand all of them out for each.
    fn answer_around(&mut self, queries: &[Query], _placement: Option<&str>) -> Vec<Answer> {
        self.answer(queries)
    }

    /// Answers rounds of several walks, so that a source may ask for the same, or alike, once.
    fn answer_many(&mut self, rounds: &[Round]) -> Vec<Vec<Answer>> {
        rounds
            .iter()
            .map(|round| self.answer_around(&round.queries, round.placement.as_deref()))
            .collect()
    }

    /// Looks into the member clusters themselves. Clusters that nobody asked to look into are
    /// left out, which for most sources are all; those that were to be looked into in vain say why.
    fn look(&mut self, _errands: &[Errand]) -> BTreeMap<String, Look> {
        BTreeMap::new()
    }
}

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
