//! What was seen in one member cluster.
//!
//! As on the hub, nobody's answer is taken for granted: an object that was not found is missing only
//! where somebody asked for it and was answered.

use std::collections::BTreeMap;

use super::kind::MemberKind;
use super::model::{AppliedWork, Event, Quota, VolumeClaim, Workload};
use super::object::{MemberBody, MemberObject};
use super::pods::Pod;
use crate::query;
pub use crate::query::{Outcome, QuerySelection};

/// One object that a rollout waits for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WantedWorkload {
    pub kind: MemberKind,
    /// Its namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    pub name: String,
}

/// One question to a member cluster, with labels as kubectl's `-l` takes them. Of events only those
/// that warn are asked for.
pub type MemberQuery = query::Query<MemberKind, String>;

/// What was seen in one member cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemberObservation {
    /// Why nothing could be seen at all.
    pub closed: Option<MemberGap>,
    /// What was asked, and how it was answered.
    pub reads: BTreeMap<MemberQuery, Outcome>,
    /// What was found, by kind, namespace and name.
    pub objects: Vec<MemberObject>,
}

/// Why nothing of a member cluster could be seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemberGap {
    /// There is no way in: no context, or one that is of no use.
    NoWay(String),
    /// Its API server does not answer.
    Unreachable(String),
}

impl MemberGap {
    /// Why, in words.
    pub fn why(&self) -> &str {
        match self {
            Self::NoWay(why) | Self::Unreachable(why) => why,
        }
    }
}

macro_rules! finders {
    ($( $(#[$doc:meta])* $all:ident: $variant:ident -> $ty:ty; )*) => {
        impl MemberObservation {$(
            $(#[$doc])*
            pub fn $all(&self, kind: MemberKind) -> impl Iterator<Item = &$ty> {
                self.of_kind(kind).filter_map(|object| match &object.body {
                    MemberBody::$variant(body) => Some(&**body),
                    _ => None,
                })
            }
        )*}
    };
}

finders! {
    workloads: Workload -> Workload;
    claims: Claim -> VolumeClaim;
    quotas: Quota -> Quota;
    events: Event -> Event;
    pods: Pod -> Pod;
    /// The records of Works.
    applied_works: Applied -> AppliedWork;
}

impl MemberObservation {
    /// A cluster of which nothing could be seen.
    pub fn closed(why: MemberGap) -> Self {
        Self {
            closed: Some(why),
            ..Self::default()
        }
    }

    /// Takes the answer to a question. What was seen before is replaced.
    pub fn absorb(&mut self, query: MemberQuery, outcome: Outcome, found: Vec<MemberObject>) {
        self.reads.insert(query, outcome);
        self.absorb_all(found);
    }

    /// Takes objects, of which somebody says that they are there.
    pub fn absorb_all(&mut self, found: impl IntoIterator<Item = MemberObject>) {
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

    pub fn of_kind(&self, kind: MemberKind) -> impl Iterator<Item = &MemberObject> {
        self.objects
            .iter()
            .filter(move |object| object.kind == kind)
    }

    /// The object itself.
    pub fn object(&self, wanted: &WantedWorkload) -> Option<&MemberObject> {
        self.of_kind(wanted.kind).find(|object| {
            let meta = object.meta();
            meta.name == wanted.name && meta.namespace == wanted.namespace
        })
    }

    /// Whether the object is known not to exist.
    pub fn is_missing(&self, wanted: &WantedWorkload) -> bool {
        self.object(wanted).is_none() && self.reads.get(&wanted.query()) == Some(&Outcome::Listed)
    }

    /// The kinds of which objects may be missing, and why.
    pub fn gaps(&self) -> impl Iterator<Item = (MemberKind, String)> {
        self.reads.iter().filter_map(|(query, outcome)| {
            let gap = match outcome {
                Outcome::NotServed => "the cluster does not serve this kind".to_owned(),
                other => other.gap()?,
            };
            Some((query.kind, gap))
        })
    }
}

/// What objects are sorted by.
fn key(object: &MemberObject) -> (MemberKind, &str, &str) {
    let meta = object.meta();
    (object.kind, &meta.namespace, &meta.name)
}

impl WantedWorkload {
    /// The question for the object itself.
    pub fn query(&self) -> MemberQuery {
        MemberQuery::named(self.kind, &self.namespace, &self.name)
    }
}
