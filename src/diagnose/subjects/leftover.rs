//! Works of a placement that are still being deleted in a cluster's namespace on the hub.

use crate::report::{ComposeText, Finding};
use jiff::SignedDuration;

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::work::Work;
use crate::kubefleet::{ObjectRef, duration};
use crate::problems::members::last_heard;
use crate::problems::steps;
use crate::words::{CommandLine, count};

/// What is left of a placement for one cluster.
pub struct PlacementLeftover<'i> {
    placement: ObjectRef,
    cluster: &'i str,
    first: &'i Work,
    works: Vec<&'i Work>,
    member: Option<&'i MemberCluster>,
    silent: Option<SignedDuration>,
    /// For how long the first of them has been going.
    pub lasting: SignedDuration,
}

impl<'i> PlacementLeftover<'i> {
    /// What is left for a cluster; `None` where nothing is known to be.
    pub fn of(cx: &DiagnosisContext<'i>, cluster: &'i str) -> Option<Self> {
        let inventory = cx.inventory;
        let works: Vec<&Work> = inventory
            .works
            .iter()
            .filter(|work| work.is_going_from(cluster))
            .filter(|work| inventory.is_of_placement(work))
            .collect();
        let since = works.iter().filter_map(|work| work.meta.deleted).min()?;
        let member = inventory.member(cluster);
        Some(Self {
            placement: cx.placement_object(),
            cluster,
            first: works.first()?,
            works,
            member,
            silent: member.and_then(|member| member.silent_for(cx.now())),
            lasting: cx.now().duration_since(since),
        })
    }

    pub const fn first(&self) -> &'i Work {
        self.first
    }

    /// Whether the member agent has something to do yet: only it removes KubeFleet's finalizer.
    fn waits_for_agent(&self) -> bool {
        let mut works = self.works.iter().map(|work| &work.meta);
        works.any(|meta| meta.foreign_finalizers().count() < meta.finalizers.len())
    }

    /// Whether the member agent is known to run.
    fn agent_reports(&self) -> bool {
        self.member.and_then(MemberCluster::heard).is_some() && self.silent.is_none()
    }

    /// `1 Work`, `2 Works`, with the verb.
    pub fn subject(&self) -> String {
        let verb = if self.works.len() == 1 { "is" } else { "are" };
        format!("{} for it {verb}", count(self.works.len(), "Work"))
    }

    /// Why they are still there, without the full stop.
    pub fn why(&self) -> String {
        let why = if !self.waits_for_agent() {
            "finalizers that are not KubeFleet's block it"
        } else if self.agent_reports() {
            "the content is not removed yet, and may still run there"
        } else {
            "its agent has not removed the content, which may still run there"
        };
        let agent = self.silent.map_or_else(String::new, |silent| {
            let silent = duration::describe(silent);
            format!("; the agent last reported {silent} ago")
        });
        format!("{why}{agent}")
    }

    pub fn shown(&self, mut finding: Finding) -> Finding {
        for work in self.works.iter().take(3) {
            finding = finding.deleted(work.object(), work.meta.deleted).evidence(
                work.object(),
                "metadata.finalizers",
                &work.meta.finalizers,
            );
        }
        match (self.member, self.silent) {
            (Some(member), Some(_)) => last_heard(finding, member),
            _ => finding,
        }
    }

    pub fn steps(&self, finding: Finding) -> Finding {
        let cluster = self.cluster;
        let action = format!("List what is left for {cluster}.");
        let finding = finding.look_with(action, steps::works_for(&self.placement, cluster));
        self.who_acts(finding)
    }

    /// Adds who has to act next.
    pub fn who_acts(&self, finding: Finding) -> Finding {
        if !self.waits_for_agent() {
            return finding.fix("Ask the owners of the finalizers to remove them.");
        }
        let finding = if self.agent_reports() {
            see_applied_work(finding, self.first, self.cluster)
        } else {
            finding
        };
        ask_agent(finding, self.cluster)
    }
}

/// Adds a look at what keeps the content of a Work in its member cluster: the AppliedWork goes last,
/// and waits for each object. Source: workapplier/controller.go:garbageCollectAppliedWork.
fn see_applied_work(finding: Finding, work: &Work, cluster: &str) -> Finding {
    finding.look_with(
        format!(
            "Check in {cluster} whether a finalizer blocks an object of the Work: the AppliedWork \
             lists them."
        ),
        CommandLine::member(cluster, "get")
            .arg("appliedworks")
            .arg(&work.meta.name)
            .flag("-o", "yaml"),
    )
}

/// Adds a check of the member agent, which ends the removal.
pub fn ask_agent(finding: Finding, cluster: &str) -> Finding {
    let action =
        format!("Check the agent of {cluster}: it must remove the content, then the Work.");
    finding.look_with(action, steps::member_agent(cluster))
}
