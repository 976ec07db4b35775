//! What to ask a member cluster: as on the hub, the questions follow from what is known.

use jiff::Timestamp;

use super::availability;
use super::kind::MemberKind;
use super::look::{MemberObservation, MemberQuery, Outcome, WantedWorkload};
use super::object::MemberBody;
use super::states::PodState;
use super::view::WorkloadView;
use crate::kubefleet::names;
use crate::words::distinct;

/// How many workloads of one cluster are read: the same cause blocks most of them.
pub const WORKLOADS_EACH: usize = 5;

/// What is worth a look in one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberErrand {
    /// The member cluster, as the hub names it.
    pub cluster: String,
    /// One of the Works for it: the member agent keeps a record under the same name, by which the
    /// cluster is told from every other.
    pub work: String,
    /// The objects that a rollout waits for there.
    pub wanted: Vec<WantedWorkload>,
    /// The Jobs that come with them: nothing waits for a Job, but pods may need what it does.
    pub jobs: Vec<WantedWorkload>,
}

/// Whether a cluster is the one that it is taken for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterMatch {
    /// Its agent's record says so.
    Sure,
    Unknown,
    /// It is another one, and how that shows.
    Other(String),
}

impl MemberObservation {
    /// Whether the cluster is the one that it is taken for: a context may lead anywhere, and the
    /// objects of another cluster are no evidence.
    pub fn identity(&self, errand: &MemberErrand) -> ClusterMatch {
        let record = errand.record();
        let found = self
            .applied_works(MemberKind::AppliedWork)
            .find(|applied| applied.meta.name == record.name);
        let own = names::member_namespace(&errand.cluster);
        match (found, self.reads.get(&record.query())) {
            (Some(applied), _) if applied.spec.namespace == own => ClusterMatch::Sure,
            (Some(applied), _) => ClusterMatch::Other(format!(
                "its AppliedWork {} belongs to {}",
                record.name, applied.spec.namespace
            )),
            (None, Some(Outcome::Listed)) => ClusterMatch::Other(format!(
                "it has no AppliedWork {}, which the member agent creates for each Work",
                record.name
            )),
            (None, Some(Outcome::NotServed)) => ClusterMatch::Other(
                "it does not serve AppliedWork, unlike every member of a fleet".to_owned(),
            ),
            (None, _) => ClusterMatch::Unknown,
        }
    }

    /// The next questions; empty when everything that matters was asked.
    pub fn next_round(&self, errand: &MemberErrand) -> Vec<MemberQuery> {
        if self.closed.is_some() || matches!(self.identity(errand), ClusterMatch::Other(_)) {
            return Vec::new();
        }
        let queries = errand
            .looked_at()
            .iter()
            .flat_map(|wanted| self.needs(wanted))
            .chain(errand.jobs.iter().map(WantedWorkload::query))
            .chain([errand.record().query()]);
        distinct(queries.filter(|query| !self.reads.contains_key(query)))
    }

    /// Everything worth asking about one object, given what is known.
    fn needs(&self, wanted: &WantedWorkload) -> Vec<MemberQuery> {
        let mut needs = vec![wanted.query()];
        let Some(object) = self.object(wanted) else {
            return needs;
        };
        if availability::is_available(object) != Some(false) {
            return needs;
        }
        let all = |kind| MemberQuery::all(kind, &wanted.namespace);
        match &object.body {
            MemberBody::Workload(workload) => {
                let labels = workload.spec.selector.describe();
                let labelled =
                    |kind| MemberQuery::with_labels(kind, &wanted.namespace, labels.clone());
                if !workload.spec.selector.is_empty() {
                    needs.push(labelled(MemberKind::Pod));
                    if wanted.kind == MemberKind::Deployment {
                        needs.push(labelled(MemberKind::ReplicaSet));
                    }
                }
                needs.push(all(MemberKind::Event));
                // It looks back without a limit: for what to ask next.
                let view = WorkloadView {
                    look: self,
                    kind: wanted.kind,
                    workload,
                    since: None,
                    now: Timestamp::MAX,
                };
                if view
                    .troubles()
                    .iter()
                    .any(|it| matches!(it.state, PodState::UnboundClaims(_)))
                {
                    needs.push(all(MemberKind::PersistentVolumeClaim));
                }
                if view.refusal().is_some_and(|it| it.quota().is_some()) {
                    needs.push(all(MemberKind::ResourceQuota));
                }
            }
            MemberBody::Service(service) if service.is_balanced() => {
                needs.push(all(MemberKind::Event));
            }
            _ => {}
        }
        needs
    }
}

impl MemberErrand {
    /// The objects that are read: at most a few.
    pub fn looked_at(&self) -> &[WantedWorkload] {
        let most = self.wanted.len().min(WORKLOADS_EACH);
        &self.wanted[..most]
    }

    /// The objects that are no longer read.
    pub fn left_out(&self) -> &[WantedWorkload] {
        &self.wanted[self.looked_at().len()..]
    }

    /// The member agent's record of the Work.
    fn record(&self) -> WantedWorkload {
        WantedWorkload {
            kind: MemberKind::AppliedWork,
            namespace: String::new(),
            name: self.work.clone(),
        }
    }
}
