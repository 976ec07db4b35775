//! What fails with an earlier snapshot as well, because that has the same object.

use serde_json::Value;

use crate::contents::ManifestKey;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::sent::SentManifest;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::manifests::{SnapshotContent, WorkGenerator};
use crate::report::Verdict;
use crate::rollout::versions::Version;
use crate::rollout::{ManifestTrouble, rollback};

/// The objects that the run waits for, and that fail whatever else changes.
fn lasting(cx: &DiagnosisContext<'_>) -> Vec<ManifestKey> {
    let blocking = cx.troubles.iter().filter(|it| it.blocking);
    let all = blocking.flat_map(|it| it.trouble.manifests.iter().map(move |object| (it, object)));
    let lasting = all.filter(|(failing, object)| {
        let is_held = || SentManifest::of(cx, failing, object)?.pod_hold(cx, failing);
        object.problem.is_lasting() || is_held().is_some()
    });
    lasting.map(|(_, object)| object.key()).collect()
}

/// The snapshot that the run brings, and the one to which a rollback would go.
fn compared<'i>(cx: &DiagnosisContext<'i>) -> Option<(Version<'i>, Version<'i>)> {
    let run = cx.run().filter(|_| cx.verdict == Verdict::Stuck)?;
    let good = rollback::last_good(cx.inventory, run).ok()?;
    let version = |index| Some(Version::of_index(cx.inventory, index)).filter(Version::is_complete);
    Some((version(&run.status.snapshot_index)?, version(good.index)?))
}

/// Of which objects the texts are needed to know.
pub fn texts(cx: &DiagnosisContext<'_>) -> Vec<ObjectRef> {
    let both = compared(cx).filter(|_| !failing(cx).is_empty()).into_iter();
    let parts = both.flat_map(|(now, then)| [now.parts, then.parts]);
    parts.flatten().map(ResourceSnapshot::object).collect()
}

/// Whether a rollback gets stuck on an object as the run does.
pub fn fails_again(cx: &DiagnosisContext<'_>) -> bool {
    let failing = lasting(cx);
    changes(cx, &failing).is_some_and(|changes| changes.contains(&false))
}

/// Whether a rollback surely changes every object that the run waits for.
pub fn changes_what_fails(cx: &DiagnosisContext<'_>) -> bool {
    changes(cx, &failing(cx)).is_some_and(|changes| !changes.contains(&false))
}

/// The objects that the run waits for.
fn failing(cx: &DiagnosisContext<'_>) -> Vec<ManifestKey> {
    let blocking = cx.troubles.iter().filter(|it| it.blocking);
    let objects = blocking.flat_map(|it| &it.trouble.manifests);
    objects.map(ManifestTrouble::key).collect()
}

/// Which of these objects a rollback changes; `None` where there are none, or their content is not known.
fn changes(cx: &DiagnosisContext<'_>, objects: &[ManifestKey]) -> Option<Vec<bool>> {
    let ((now, then), run) = compared(cx).zip(cx.run()).filter(|_| !objects.is_empty())?;
    let generator = WorkGenerator::of_agent(cx.inventory, run).unwrap_or_default();
    let texts = &cx.inventory.texts;
    let content = |version| SnapshotContent::of_version(version, texts, generator);
    let (now, then) = content(&now).zip(content(&then))?;
    let is_changed = |object: &ManifestKey| {
        let manifests = manifests_of(&now, object);
        manifests.is_empty() || manifests != manifests_of(&then, object)
    };
    Some(objects.iter().map(is_changed).collect())
}

/// The manifests of an object: a snapshot may have it twice.
fn manifests_of<'c>(content: &'c SnapshotContent, object: &ManifestKey) -> Vec<&'c Value> {
    let items = content.items.iter().map(|it| &it.manifest);
    let own = items.filter(|it| it.identity == *object);
    own.map(|it| &it.value).collect()
}
