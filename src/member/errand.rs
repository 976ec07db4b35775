//! What to ask a member cluster: as on the hub, the questions follow from what is known.

use jiff::Timestamp;

use super::availability;
use super::kind::Kind;
use super::look::{Look, Outcome, Query, Wanted};
use super::model::Workload;
use super::object::Body;
use super::states::State;
use super::view::View;
use crate::kubefleet::names;

/// How many workloads of one cluster are read: the same cause blocks most of them.
pub const WORKLOADS_EACH: usize = 5;

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

impl Look {
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
                "it has no AppliedWork {}, which the member agent creates for each Work",
                record.name
            )),
            (None, Some(Outcome::NotServed)) => Identity::Other(
                "it does not serve AppliedWork, unlike every member of a fleet".to_owned(),
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
        let all = |kind| Query::all(kind, &wanted.namespace);
        match &object.body {
            Body::Workload(workload) => {
                let labels = workload.spec.selector.describe();
                let labelled = |kind| Query::with_labels(kind, &wanted.namespace, labels.clone());
                if !workload.spec.selector.is_empty() {
                    needs.push(labelled(Kind::Pod));
                    if wanted.kind == Kind::Deployment {
                        needs.push(labelled(Kind::ReplicaSet));
                    }
                }
                needs.push(all(Kind::Event));
                if waits_for_claims(self, wanted.kind, workload) {
                    needs.push(all(Kind::PersistentVolumeClaim));
                }
                if meets_quota(self, wanted.kind, workload) {
                    needs.push(all(Kind::ResourceQuota));
                }
            }
            Body::Service(service) if service.is_balanced() => needs.push(all(Kind::Event)),
            _ => {}
        }
        needs
    }
}

impl Errand {
    /// The objects that are read: at most a few.
    pub fn looked_at(&self) -> &[Wanted] {
        let most = self.wanted.len().min(WORKLOADS_EACH);
        &self.wanted[..most]
    }

    /// The objects that are no longer read.
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

/// A view that looks back without a limit: for what to ask next.
fn whole<'l>(look: &'l Look, kind: Kind, workload: &'l Workload) -> View<'l> {
    View {
        look,
        kind,
        workload,
        since: None,
        now: Timestamp::MAX,
    }
}

/// Whether pods wait for volumes, so that the claims are worth a look.
fn waits_for_claims(look: &Look, kind: Kind, workload: &Workload) -> bool {
    whole(look, kind, workload)
        .troubles()
        .iter()
        .any(|trouble| matches!(trouble.state, State::UnboundClaims { .. }))
}

/// Whether a quota keeps pods from being created, so that the quotas are worth a look.
fn meets_quota(look: &Look, kind: Kind, workload: &Workload) -> bool {
    whole(look, kind, workload)
        .refusal()
        .is_some_and(|refusal| refusal.quota().is_some())
}
