//! What clusters are sent, as their Works have it, and what became of it there.

use std::collections::BTreeSet;

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::ownership;
use crate::kubefleet::kind::group_of;
use crate::kubefleet::snapshot::{ManifestIdentity, ManifestSettings};
use crate::kubefleet::work::Work;
use crate::kubefleet::{Conditions, reasons};
use crate::member::PodHold;
use crate::report::{CausedBy, ComposeText, Finding};
use crate::rollout::ManifestTrouble;
use crate::rollout::versions::{Version, versions};
use crate::words::enumerate;

#[derive(Clone, Copy)]
pub struct SentManifest<'i> {
    pub work: &'i Work,
    /// Its place in the Work.
    at: usize,
    pub manifest: &'i ManifestIdentity,
}

impl<'i> SentManifest<'i> {
    /// Everything that a cluster is sent.
    pub fn all(
        cx: &DiagnosisContext<'i>,
        failing: &FailingCluster<'i>,
    ) -> impl Iterator<Item = Self> {
        let works = cx.inventory.works_of(failing.binding);
        works.flat_map(|work| {
            let manifests = work.spec.workload.manifests.iter().enumerate();
            manifests.map(move |(at, manifest)| SentManifest { work, at, manifest })
        })
    }

    /// The manifest of an object.
    pub fn of(
        cx: &DiagnosisContext<'i>,
        failing: &FailingCluster<'i>,
        object: &ManifestTrouble<'_>,
    ) -> Option<Self> {
        Self::all(cx, failing).find(|sent| {
            let it = sent.manifest;
            (it.kind.as_str(), group_of(&it.api_version)) == (object.kind, object.group)
                && (it.meta.namespace.as_str(), it.meta.name.as_str())
                    == (object.namespace, object.name)
        })
    }

    /// Where a field of it is in the Work.
    pub fn path(&self, field: &str) -> String {
        format!("spec.workload.manifests[{}].{field}", self.at)
    }

    pub fn settings(&self) -> Option<&'i ManifestSettings> {
        self.manifest.settings.0.as_deref()
    }

    /// Why the workload's own settings keep its pods from getting a new template, where it may have got one: another
    /// snapshot has another template, or none is left to compare with, and the run was not done there.
    pub fn pod_hold(
        &self,
        cx: &DiagnosisContext<'_>,
        failing: &FailingCluster<'_>,
    ) -> Option<PodHold> {
        let settings = self.settings()?;
        let hold = PodHold::of_settings(&self.manifest.kind, settings.paused, &settings.update)?;
        let own = failing.binding.snapshot_index()?;
        let all = versions(cx.inventory);
        let (now, others): (Vec<_>, Vec<_>) = all.iter().partition(|it| it.index == own);
        // Without overrides, which all of them get.
        let template = |version: &&Version<'_>| {
            let mut objects = version.objects();
            let object = objects.find(|it| it.key() == self.manifest.key())?;
            Some(object.settings.0.as_deref().map(|it| it.template))
        };
        let now = now.iter().find_map(template);
        let mut others_have = others
            .iter()
            .filter(|it| it.is_complete())
            .filter_map(template);
        let is_only = others.is_empty() && own != "0";
        let is_replaced = match others_have.next() {
            Some(first) => Some(first) != now || others_have.any(|it| Some(it) != now),
            // A paused Deployment that is new makes no pods at all.
            None => is_only || hold == PodHold::Paused,
        };
        (is_replaced && !failing.was_done).then_some(hold)
    }

    /// Whether the member agent has applied it.
    pub fn is_applied(&self) -> bool {
        let status = self.work.status_of(self.at);
        status.is_some_and(|it| it.conditions.is_true(reasons::APPLIED))
    }
}

/// What keeps an object from all of these clusters that the same content brings: the object's own
/// problem.
pub fn refused<'i>(
    on: &[&FailingCluster<'i>],
    is_wanted: impl Fn(&ManifestTrouble<'i>) -> bool,
) -> Option<BTreeSet<CausedBy>> {
    let own = |manifest: &ManifestTrouble<'i>| {
        let code = ownership::of_manifest(manifest).filter(|_| is_wanted(manifest))?;
        (code != "FS515").then(|| CausedBy {
            code: code.to_owned(),
            subject: manifest.into(),
        })
    };
    let manifests = on.iter().map(|failing| &failing.trouble.manifests);
    manifests.map(|all| all.iter().find_map(&own)).collect()
}

/// What follows from the troubles of other objects, which are fixed first.
pub fn caused_by(mut finding: Finding, causes: BTreeSet<CausedBy>) -> Finding {
    let codes: BTreeSet<_> = causes.iter().map(|cause| cause.code.as_str()).collect();
    finding = finding.look(format!("Resolve {} first.", enumerate(codes)));
    finding.root_cause = false;
    finding.caused_by = causes.into_iter().collect();
    finding
}
