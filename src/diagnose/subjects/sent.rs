//! What clusters are sent, as their Works have it, and what became of it there.

use std::collections::BTreeSet;

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::ownership;
use crate::kubefleet::run::{ClusterStatus, UpdateRun};
use crate::kubefleet::snapshot::{ManifestIdentity, ManifestSettings, PodTemplate};
use crate::kubefleet::work::Work;
use crate::kubefleet::{Conditions, names, reasons};
use crate::member::PodHold;
use crate::report::{CausedBy, ComposeText, Finding};
use crate::rollout::versions::{Version, versions};
use crate::rollout::{ManifestTrouble, STUCK_AFTER};
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
        let key = (object.group, object.kind, object.namespace, object.name);
        Self::all(cx, failing).find(|sent| sent.manifest.key() == key)
    }

    /// Where a field of it is in the Work.
    pub fn path(&self, field: &str) -> String {
        format!("spec.workload.manifests[{}].{field}", self.at)
    }

    pub fn settings(&self) -> Option<&'i ManifestSettings> {
        self.manifest.settings.0.as_deref()
    }

    /// Why the workload's own settings keep its pods from getting a new template, where the cluster had another one of
    /// it before, or that is not known, and the run was not done there.
    pub fn pod_hold(
        &self,
        cx: &DiagnosisContext<'_>,
        failing: &FailingCluster<'_>,
    ) -> Option<PodHold> {
        let settings = self.settings()?;
        let hold = PodHold::of_settings(&self.manifest.kind, settings.paused, &settings.update)?;
        // What held the pods would have done so from the beginning.
        let synchronized = failing
            .binding
            .status
            .conditions
            .since(reasons::WORK_SYNCHRONIZED);
        let later = failing.trouble.condition.since.zip(synchronized);
        if later.is_some_and(|(since, sent)| since.duration_since(sent) > STUCK_AFTER) {
            return None;
        }
        let is_replaced = match self.had_before(cx, failing) {
            HadBefore::SameTemplate => false,
            HadBefore::OtherTemplate | HadBefore::Unknown => true,
            // A paused Deployment that is new makes no pods at all.
            HadBefore::Nothing => hold == PodHold::Paused,
        };
        (is_replaced && !failing.was_done).then_some(hold)
    }

    /// What the cluster had of the object before: with the snapshot that the run before brought there, or, where none
    /// is known, with any other one.
    fn had_before(&self, cx: &DiagnosisContext<'_>, failing: &FailingCluster<'_>) -> HadBefore {
        let all = versions(cx.inventory);
        let own = failing.binding.snapshot_index().unwrap_or_default();
        let done = done_before(cx, failing);
        let before = done.map(|(run, _)| run.status.snapshot_index.as_str());
        let others = all.iter().filter(|it| match before {
            Some(before) => it.index == before,
            None => it.index != own,
        });
        let others: Vec<_> = others.filter(|it| it.is_complete()).collect();
        // What envelopes wrap, and what other overrides make of it, is in Works alone.
        let overrides: BTreeSet<_> = failing.binding.spec.override_names().collect();
        let is_same =
            done.is_none_or(|(_, it)| it.override_names().collect::<BTreeSet<_>>() == overrides);
        let mut now = all
            .iter()
            .filter(|it| it.index == own)
            .flat_map(Version::objects);
        let now = now.find(|it| it.key() == self.manifest.key());
        let is_gone = others.is_empty() && (before.is_some() || own != "0");
        // As the snapshots have it: the same overrides make the same of both.
        let Some(now) = now.filter(|_| is_same && !is_gone) else {
            return self.beside(cx, before);
        };
        let objects = others.iter().flat_map(|it| it.objects());
        let had = objects.filter(|it| it.key() == self.manifest.key());
        HadBefore::of(had, now)
    }

    /// The same by what other clusters still have of that snapshot.
    fn beside(&self, cx: &DiagnosisContext<'_>, before: Option<&str>) -> HadBefore {
        let works = cx.inventory.works.iter();
        let mut works = works
            .filter(|it| before.is_some() && it.meta.label(names::PARENT_SNAPSHOT_INDEX) == before);
        let found = works.find_map(|work| {
            let mut manifests = work.spec.workload.manifests.iter();
            manifests.find(|it| it.key() == self.manifest.key())
        });
        found.map_or(HadBefore::Unknown, |it| {
            HadBefore::of(std::iter::once(it), self.manifest)
        })
    }

    /// Whether the member agent has applied it.
    pub fn is_applied(&self) -> bool {
        let status = self.work.status_of(self.at);
        status.is_some_and(|it| it.conditions.is_true(reasons::APPLIED))
    }
}

/// What a cluster had of an object.
enum HadBefore {
    SameTemplate,
    OtherTemplate,
    Nothing,
    Unknown,
}

impl HadBefore {
    /// What the object was before, compared with what it is. Of several that it may have been, one that differs counts.
    fn of<'m>(
        mut before: impl Iterator<Item = &'m ManifestIdentity>,
        now: &ManifestIdentity,
    ) -> Self {
        let template = |it: &ManifestIdentity| -> PodTemplate {
            let settings = it.settings.0.as_deref();
            settings.map(|it| it.template).unwrap_or_default()
        };
        let own = template(now);
        let Some(first) = before.next() else {
            return Self::Nothing;
        };
        if template(first) == own && before.all(|it| template(it) == own) {
            Self::SameTemplate
        } else {
            Self::OtherTemplate
        }
    }
}

/// The run that was done with a cluster last, of those that brought another snapshot than it is sent now, and what it
/// recorded of the cluster.
fn done_before<'i>(
    cx: &DiagnosisContext<'i>,
    failing: &FailingCluster<'_>,
) -> Option<(&'i UpdateRun, &'i ClusterStatus)> {
    let own = failing.binding.snapshot_index()?;
    let runs = cx.inventory.runs.iter();
    let others = runs.filter(|run| run.status.snapshot_index != own && !run.only_compares());
    let done = others.filter_map(|run| {
        let mut clusters = run.updated_clusters();
        let record = clusters.find(|it| it.name == failing.cluster)?;
        let done = record.conditions.condition(reasons::SUCCEEDED)?;
        Some((done.since.filter(|_| done.is_true())?, run, record))
    });
    let last = done.max_by_key(|(ended, ..)| *ended);
    last.map(|(_, run, record)| (run, record))
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
