//! What was seen in one member cluster, and what to ask it next.
//!
//! As on the hub, the questions follow from what is known and nobody's answer is taken for granted:
//! an object that was not found is missing only where somebody asked for it and was answered.

use std::collections::BTreeMap;

use super::kind::Kind;
use super::model::{Applied, Budget, Claim, Definition, Event, Quota, Service, Workload};
use super::object::{Body, Object};
use super::pods::Pod;
use super::{availability, troubles};
use crate::kubefleet::names;

/// How many workloads of one cluster are looked at: the same cause holds up most of them.
pub const WORKLOADS_EACH: usize = 5;

/// One object that a rollout waits for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wanted {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What is worth a look in one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errand {
    /// The member cluster, as the hub names it.
    pub cluster: String,
    /// One of the Works for it: the member agent keeps a record under the same name, by which the
    /// cluster is told from every other.
    pub work: String,
    /// The objects that a rollout waits for there.
    pub wanted: Vec<Wanted>,
}

/// Whether a cluster is the one that it is taken for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// Its agent's record says so.
    Sure,
    /// Nobody can say.
    Unknown,
    /// It is another one, and how that shows.
    Other(String),
}

/// One question to a member cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Query {
    /// The kind asked for.
    pub kind: Kind,
    /// The namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Which of its objects.
    pub which: Which,
}

/// Which objects of a kind in a namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Which {
    /// The one of this name.
    Named(String),
    /// Those with these labels, as kubectl's `-l` takes them.
    Labelled(String),
    /// Events that warn; all objects of any other kind.
    All,
}

/// How a question was answered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// In full: what is not among the objects does not exist.
    Listed,
    /// Only so many objects were read.
    Cut(usize),
    /// Forbidden, and the server's words.
    Denied(String),
    /// The cluster does not serve the kind.
    NotServed,
    /// Not answered, and why.
    Failed(String),
}

impl Outcome {
    /// Why absent objects are unknown; `None` when they are known not to exist.
    pub fn gap(&self) -> Option<String> {
        match self {
            Self::Listed => None,
            Self::Cut(read) => Some(format!("only the first {read} were read")),
            Self::Denied(why) if why.is_empty() => Some("forbidden".to_owned()),
            Self::Denied(why) if why.starts_with("forbidden") => Some(why.clone()),
            Self::Denied(why) => Some(format!("forbidden: {why}")),
            Self::NotServed => Some("the cluster does not serve this kind".to_owned()),
            Self::Failed(why) => Some(format!("could not be read: {why}")),
        }
    }
}

/// What was seen in one member cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Look {
    /// Why nothing could be seen at all.
    pub closed: Option<Closed>,
    /// What was asked, and how it was answered.
    pub reads: BTreeMap<Query, Outcome>,
    /// What was found, by kind, namespace and name.
    pub objects: Vec<Object>,
}

/// Why nothing of a member cluster could be seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closed {
    /// There is no way in: no context, or one that is of no use.
    NoWay(String),
    /// Its API server does not answer.
    Unreachable(String),
}

impl Closed {
    /// Why, in words.
    pub fn why(&self) -> &str {
        match self {
            Self::NoWay(why) | Self::Unreachable(why) => why,
        }
    }
}

macro_rules! finders {
    ($( $(#[$doc:meta])* $one:ident, $all:ident: $variant:ident -> $ty:ty; )*) => {
        impl Look {$(
            $(#[$doc])*
            pub fn $all(&self, kind: Kind) -> impl Iterator<Item = &$ty> {
                self.of_kind(kind).filter_map($one)
            }
        )*}

        $(
            fn $one(object: &Object) -> Option<&$ty> {
                match &object.body {
                    Body::$variant(body) => Some(body),
                    _ => None,
                }
            }
        )*
    };
}

finders! {
    /// The workloads of a kind.
    workload, workloads: Workload -> Workload;
    /// The Services.
    service, services: Service -> Service;
    /// The CustomResourceDefinitions.
    definition, definitions: Definition -> Definition;
    /// The PodDisruptionBudgets.
    budget, budgets: Budget -> Budget;
    /// The claims.
    claim, claims: Claim -> Claim;
    /// The quotas.
    quota, quotas: Quota -> Quota;
    /// The events.
    event, events: Event -> Event;
    /// The pods.
    pod, pods: Pod -> Pod;
    /// The records of Works.
    applied, applied_works: Applied -> Applied;
}

impl Look {
    /// A cluster of which nothing could be seen.
    pub fn closed(why: Closed) -> Self {
        Self {
            closed: Some(why),
            ..Self::default()
        }
    }

    /// Takes the answer to a question. What was seen before is replaced.
    pub fn absorb(&mut self, query: Query, outcome: Outcome, found: Vec<Object>) {
        self.reads.insert(query, outcome);
        self.absorb_all(found);
    }

    /// Takes objects, of which somebody says that they are there.
    pub fn absorb_all(&mut self, found: impl IntoIterator<Item = Object>) {
        for object in found {
            match self
                .objects
                .binary_search_by(|known| key(known).cmp(&key(&object)))
            {
                Ok(at) => self.objects[at] = object,
                Err(at) => self.objects.insert(at, object),
            }
        }
    }

    /// The objects of a kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Object> {
        self.objects
            .iter()
            .filter(move |object| object.kind == kind)
    }

    /// The object itself.
    pub fn object(&self, wanted: &Wanted) -> Option<&Object> {
        self.of_kind(wanted.kind).find(|object| {
            let meta = object.meta();
            meta.name == wanted.name && meta.namespace == wanted.namespace
        })
    }

    /// Whether the object is known not to exist.
    pub fn is_missing(&self, wanted: &Wanted) -> bool {
        self.object(wanted).is_none() && self.reads.get(&wanted.query()) == Some(&Outcome::Listed)
    }

    /// Whether the cluster is the one that it is taken for: a context may lead anywhere, and the
    /// objects of another cluster are no evidence.
    pub fn identity(&self, errand: &Errand) -> Identity {
        let record = errand.record();
        let found = self
            .applied_works(Kind::AppliedWork)
            .find(|applied| applied.meta.name == record.name);
        let own = names::member_namespace(&errand.cluster);
        match (found, self.reads.get(&record.query())) {
            (Some(applied), _) if applied.spec.namespace == own => Identity::Sure,
            (Some(applied), _) => Identity::Other(format!(
                "its AppliedWork {} belongs to {}",
                record.name, applied.spec.namespace
            )),
            (None, Some(Outcome::Listed)) => Identity::Other(format!(
                "it has no AppliedWork {}, which the member agent keeps for each Work",
                record.name
            )),
            (None, Some(Outcome::NotServed)) => Identity::Other(
                "it does not serve AppliedWork, as every member of a fleet does".to_owned(),
            ),
            (None, _) => Identity::Unknown,
        }
    }

    /// The next questions; empty when everything that matters was asked.
    pub fn next_round(&self, errand: &Errand) -> Vec<Query> {
        if self.closed.is_some() || matches!(self.identity(errand), Identity::Other(_)) {
            return Vec::new();
        }
        let mut round: Vec<_> = errand
            .looked_at()
            .iter()
            .flat_map(|wanted| self.needs(wanted))
            .chain([errand.record().query()])
            .filter(|query| !self.reads.contains_key(query))
            .collect();
        round.sort();
        round.dedup();
        round
    }

    /// Everything worth asking about one object, given what is known.
    fn needs(&self, wanted: &Wanted) -> Vec<Query> {
        let mut needs = vec![wanted.query()];
        let Some(object) = self.object(wanted) else {
            return needs;
        };
        if availability::is_available(object) != Some(false) {
            return needs;
        }
        let all = |kind| Query {
            kind,
            namespace: wanted.namespace.clone(),
            which: Which::All,
        };
        match &object.body {
            Body::Workload(workload) => {
                let labels = workload.spec.selector.describe();
                let labelled = |kind| Query {
                    kind,
                    namespace: wanted.namespace.clone(),
                    which: Which::Labelled(labels.clone()),
                };
                if !workload.spec.selector.is_empty() {
                    needs.push(labelled(Kind::Pod));
                    if wanted.kind == Kind::Deployment {
                        needs.push(labelled(Kind::ReplicaSet));
                    }
                }
                needs.push(all(Kind::Event));
                if troubles::waits_for_claims(self, wanted.kind, workload) {
                    needs.push(all(Kind::PersistentVolumeClaim));
                }
                if troubles::meets_quota(self, wanted.kind, workload) {
                    needs.push(all(Kind::ResourceQuota));
                }
            }
            Body::Service(service) if service.is_balanced() => needs.push(all(Kind::Event)),
            _ => {}
        }
        needs
    }

    /// The kinds of which objects may be missing, and why.
    pub fn gaps(&self) -> impl Iterator<Item = (Kind, String)> {
        self.reads
            .iter()
            .filter_map(|(query, outcome)| Some((query.kind, outcome.gap()?)))
    }
}

/// What objects are sorted by.
fn key(object: &Object) -> (Kind, &str, &str) {
    let meta = object.meta();
    (object.kind, &meta.namespace, &meta.name)
}

impl Errand {
    /// The objects that are looked at: not more than a few.
    pub fn looked_at(&self) -> &[Wanted] {
        let most = self.wanted.len().min(WORKLOADS_EACH);
        &self.wanted[..most]
    }

    /// The objects that are not looked at any more.
    pub fn left_out(&self) -> &[Wanted] {
        &self.wanted[self.looked_at().len()..]
    }

    /// The member agent's record of the Work.
    fn record(&self) -> Wanted {
        Wanted {
            kind: Kind::AppliedWork,
            namespace: String::new(),
            name: self.work.clone(),
        }
    }
}

impl Wanted {
    /// The question for the object itself.
    pub fn query(&self) -> Query {
        Query {
            kind: self.kind,
            namespace: self.namespace.clone(),
            which: Which::Named(self.name.clone()),
        }
    }
}
