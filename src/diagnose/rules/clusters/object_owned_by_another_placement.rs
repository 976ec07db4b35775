//! Two placements place the same object on a member cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::contents::what_goes_with;
use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::affected::AffectedObject;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::objects::per_subject;
use crate::diagnose::subjects::ownership;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::messages::ManifestProblem;
use crate::kubefleet::work::Work;
use crate::kubefleet::{Condition, Conditions, Kind, ObjectRef, Scope, names, reasons};
use crate::problems::problems_ahead;
use crate::rollout::versions::Version;
use crate::rollout::{ManifestTrouble, overrides};

/// The object's owner is the AppliedWork of another Work: whoever placed it first keeps it.
/// Source: workapplier/drift_detection_takeover.go:takeOverPreExistingObject,
/// apply.go:validateOwnerReferences.
pub const RULE: Rule =
    Rule::on_member("FS508", "object-owned-by-another-placement", check).person();

/// One finding for each object; what is in a namespace of the same owner is told with that.
fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let mut clusters: BTreeMap<Subject, BTreeSet<(&str, Vec<&str>)>> = BTreeMap::new();
    for failing in &cx.troubles {
        for manifest in &failing.trouble.manifests {
            if is_of_others(cx, failing, manifest) {
                let known = clusters.entry(manifest.into()).or_default();
                known.insert((failing.cluster, owners(manifest).collect()));
            }
        }
    }
    let first = |manifest: &ManifestTrouble<'_>| {
        let own = clusters.get(&manifest.into());
        let namespace = Subject::new("Namespace", "", manifest.namespace);
        let has_namespace = own.is_some() && clusters.get(&namespace) == own;
        let is_meant = ownership::of_manifest(manifest) == Some(rule.code);
        is_meant.then(|| {
            if has_namespace {
                namespace
            } else {
                manifest.into()
            }
        })
    };
    let met = per_subject(cx, rule, first, describe);
    found_or(met, || to_come(cx, rule))
}

/// The same of clusters that a live run has still to reach.
fn to_come(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = &cx.rollout else {
        return Vec::new();
    };
    let placed = problems_ahead(rollout).placed.into_iter();
    let finding = |problem| {
        let finding = rule.told(problem).severity(Severity::Warning);
        finding
            .fix("Remove it from this placement's content first, if the other placement should keep it.")
            .new_run(cx, "Start a new run in this one's place after that.")
            .disrupt(
                "Or remove it from the other placement's selectors, if this placement should have it. This \
                 deletes it (a Namespace with everything in it) on all clusters of the other placement before \
                 this one applies it.",
            )
    };
    placed.map(finding).collect()
}

/// Whether another placement has the object on a cluster.
fn is_of_others(
    cx: &DiagnosisContext<'_>,
    failing: &FailingCluster<'_>,
    manifest: &ManifestTrouble<'_>,
) -> bool {
    ownership::of_manifest(manifest) == Some(RULE.code) && !is_own(cx, failing, manifest)
}

fn describe(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    let clusters = affected.clusters();
    if affected
        .all
        .iter()
        .all(|(failing, manifest)| is_own(affected.cx, failing, manifest))
    {
        return earlier(affected, finding);
    }
    let owners: BTreeSet<_> = affected
        .all
        .iter()
        .flat_map(|(_, manifest)| owners(manifest))
        .collect();
    // An AppliedWork has the name of its Work.
    let by = if owners.is_empty() {
        String::new()
    } else {
        format!(" (AppliedWork {})", enumerate(&owners))
    };
    let other = owners.first().and_then(|owner| placement(affected, owner));
    let whose = other.as_ref().map_or_else(
        || "another placement".to_owned(),
        |other| Subject::from(other).to_string(),
    );
    let objects = distinct(affected.all.iter().map(|(_, it)| Subject::from(*it)));
    let (belongs, it) = by_number(objects.len(), ("belongs", "it"), ("belong", "them"));
    let others = match objects.len().saturating_sub(1) {
        0 => String::new(),
        others => format!(" and {} in it", count(others, "object")),
    };
    finding.message = format!(
        "{}{others} {belongs} to {whose}{by} on {clusters}, so this placement cannot apply {it} there.",
        affected.object()
    );
    let namespace = names::member_namespace(affected.cluster());
    finding = match owners.first() {
        Some(_) if let Some(other) = &other => finding.look_with(
            format!(
                "Check whether {} still selects it. If that is being deleted, wait: this placement gets the \
                 object then.",
                Subject::from(other)
            ),
            other.kubectl("get").flag("-o", "yaml"),
        ),
        Some(owner) => finding.look_with(
            "Read on the hub which placement it is: the labels of the Work have its name and namespace.",
            ObjectRef::new(Kind::Work, &namespace, owner)
                .kubectl("get")
                .switch("--show-labels"),
        ),
        None => finding.look_with(
            format!(
                "Check which AppliedWork owns it on {}: the Work of that name on the hub has the \
                 placement in its labels.",
                affected.cluster()
            ),
            affected
                .kubectl("get")
                .flag("-o", "jsonpath={.metadata.ownerReferences[*].name}"),
        ),
    };
    let with = what_goes_with((affected.manifest.kind, affected.manifest.namespace));
    let with = with.map_or_else(String::new, |with| {
        format!(", {},", with.trim_end_matches(','))
    });
    let content = content(affected);
    let ours = ours(affected);
    let deleted = match ours.as_slice() {
        [] => beside(affected, &content),
        ours => format!(
            " On {}, where this placement has it, that run deletes it{}.",
            enumerate(ours),
            with.trim_end_matches(',')
        ),
    };
    let mut parts = content.objects().map(Subject::from);
    let is_all = content.is_complete() && ours.is_empty() && parts.all(|it| objects.contains(&it));
    let run = affected.cx.run().filter(|_| is_all);
    finding = match run {
        Some(run) => finding.disrupt_with(
            format!(
                "Delete {}, if the other placement should keep it: this placement brings nothing else.",
                run.meta.name
            ),
            affected.cx.command("delete").arg(&run.meta.name),
        ),
        None => finding.new_run(
            affected.cx,
            format!(
                "Remove {} from this placement's content and start a new run, if the other placement \
                 should keep it: it stays as it is on {clusters}.{deleted}",
                affected.on_hub()
            ),
        ),
    };
    finding
        .disrupt(format!(
            "Or remove it from the other placement's selectors, if this placement should have it. \
             This deletes it{with} on all clusters of the other placement before this one applies \
             it."
        ))
        .then_continues(affected.cx)
}

fn content<'i>(affected: &AffectedObject<'_, 'i>) -> Version<'i> {
    let binding = affected.on.first().map(|it| it.binding);
    let index = binding.and_then(Binding::snapshot_index);
    Version::of_index(affected.cx.inventory, index.unwrap_or_default())
}

/// What goes with a namespace that is no longer selected: the objects in it that are this placement's.
fn beside(affected: &AffectedObject<'_, '_>, content: &Version<'_>) -> String {
    let is_refused = |object: &Subject| {
        affected.on.iter().all(|failing| {
            let mut refused = failing.trouble.manifests.iter();
            refused.any(|it| is_of_others(affected.cx, failing, it) && Subject::from(it) == *object)
        })
    };
    let parts = content.objects().map(Subject::from);
    let manifest = affected.manifest.identity();
    let inside = parts.filter(|it| manifest.is_namespace(&it.namespace));
    match inside.filter(|it| !is_refused(it)).count() {
        0 => String::new(),
        others => format!(
            " That run deletes {} in it, which came with its selector.",
            count(others, "other object")
        ),
    }
}

/// The clusters where the object is this placement's: they have the same snapshot, which is applied, and no override
/// that deletes anything there.
fn ours<'i>(affected: &AffectedObject<'_, 'i>) -> Vec<&'i str> {
    let has = affected
        .on
        .first()
        .and_then(|it| it.binding.snapshot_index());
    let is_failing = |it: &&Binding| {
        let mut all = affected.all.iter();
        all.any(|(failing, _)| failing.binding.meta.name == it.meta.name)
    };
    let bindings = affected.cx.inventory.bindings.iter();
    let ours = bindings.filter(|it| it.snapshot_index() == has && !is_failing(it));
    let applied = |it: &&Binding| it.current(reasons::APPLIED).is_some_and(Condition::is_true);
    let deletes = |it: &&Binding| {
        let inventory = affected.cx.inventory;
        let member = inventory.member(&it.spec.cluster);
        member.is_some_and(|member| {
            let names = it.spec.override_names();
            overrides::deleting(inventory, names, member)
                .next()
                .is_some()
        })
    };
    let ours = ours.filter(applied).filter(|it| !it.only_compares());
    let ours = ours.filter(|it| !deletes(it));
    ours.map(|it| it.spec.cluster.as_str()).collect()
}

/// The AppliedWorks that own an object, by name.
fn owners<'m>(manifest: &'m ManifestTrouble<'_>) -> impl Iterator<Item = &'m str> {
    let owners = match &manifest.problem {
        ManifestProblem::AlreadyOwnedByOthers { owners } => owners.as_slice(),
        _ => &[],
    };
    let owners = owners.iter().filter(|owner| owner.kind == "AppliedWork");
    owners.map(|owner| owner.name.as_str())
}

/// Whether the other owner has the name of a Work of this placement: the AppliedWork was deleted and
/// created again, or the object has moved from one Work of the placement to another.
fn is_own(
    cx: &DiagnosisContext<'_>,
    failing: &FailingCluster<'_>,
    manifest: &ManifestTrouble<'_>,
) -> bool {
    let named = failing
        .trouble
        .work
        .as_ref()
        .and_then(|it| it.work.as_deref());
    let works = cx.inventory.works_of(failing.binding);
    let own: BTreeSet<_> = works
        .map(|work| work.meta.name.as_str())
        .chain(named)
        .collect();
    let mut owners = owners(manifest).peekable();
    owners.peek().is_some() && owners.all(|owner| own.iter().any(|work| is_beside(work, owner)))
}

/// Whether two Works are of one placement: they have one name, or are for envelopes of it. One for an envelope that it
/// no longer has is gone soon. Source: workgenerator/envelope.go:buildNewWorkForEnvelopeCR.
fn is_beside(work: &str, other: &str) -> bool {
    let own = names::envelope_of_work(work).map_or(work, |(own, _)| own);
    let beside = names::envelope_of_work(other).map(|(beside, _)| beside);
    work == other || beside == Some(own)
}

/// The placement whose Work has the name of an owner: as the Work says, where it was read, else as its name says.
fn placement(affected: &AffectedObject<'_, '_>, owner: &str) -> Option<ObjectRef> {
    let mut works = affected.cx.inventory.works.iter();
    let work =
        works.find(|work| work.meta.name == owner && work.cluster() == Some(affected.cluster()));
    let Some(work) = work else {
        let (namespace, name) = names::placement_of_work(owner)?;
        return Some(Scope::of_namespace(namespace).object(Concept::Placement, name));
    };
    work.placement()
}

/// The Work that owns an object, where it is one of those that the placement has now and applies it.
fn sent_by<'i>(affected: &AffectedObject<'_, 'i>) -> Option<&'i Work> {
    let (failing, manifest) = affected.all.first()?;
    let mut works = affected.cx.inventory.works_of(failing.binding);
    works.find(|work| {
        let applied = work.status.manifests.iter().any(|it| {
            let named = (&*it.id.kind, &*it.id.namespace, &*it.id.name);
            named == (manifest.kind, manifest.namespace, manifest.name)
                && it.conditions.is_true(reasons::APPLIED)
        });
        applied && !work.meta.is_deleting() && owners(manifest).any(|it| it == work.meta.name)
    })
}

/// The object belongs to this placement, under an owner that is gone, or that is to let go of it.
fn earlier(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    let (object, clusters) = (affected.object(), affected.clusters());
    let named = affected.on.first().and_then(|it| it.trouble.work.as_ref());
    let named = named.and_then(|it| it.work.as_deref());
    let which = if owners(affected.manifest).any(|owner| Some(owner) == named) {
        "an earlier"
    } else {
        "another"
    };
    if let Some(owner) = sent_by(affected) {
        finding.message = format!(
            "{object} comes to {clusters} twice, and belongs to Work {}: the other Work of this placement cannot \
             apply it. It is in the content by itself and in an envelope, or in two envelopes.",
            owner.meta.name
        );
        let labels = owner.object().kubectl("get").switch("--show-labels");
        return finding
            .look_with(
                "Check of which envelope that Work is: its labels name it, unless it is the placement's own.",
                labels,
            )
            .new_run(
                affected.cx,
                format!("Remove {object} from one of the two places and start a new run."),
            );
    }
    finding.message = format!(
        "{object} on {clusters} is still owned by {which} AppliedWork of this placement, so the \
         current AppliedWork cannot apply it."
    );
    finding
        .look_with(
            "Compare the uid of the owner with that of the AppliedWork.",
            affected
                .kubectl("get")
                .flag("-o", "jsonpath={.metadata.ownerReferences}"),
        )
        .look_with(
            "List the AppliedWorks. The cluster's garbage collector deletes an object when its owner no \
             longer exists.",
            affected
                .on_member("get")
                .arg("appliedworks.placement.kubernetes-fleet.io"),
        )
        .fix(format!(
            "Remove that owner reference from {object}, if its owner is not in the list."
        ))
        .then_continues(affected.cx)
}

#[cfg(test)]
mod tests {
    use super::is_beside;

    #[test]
    fn works_of_one_placement_are_known_by_their_names() {
        for (work, other, is_it) in [
            ("web-work", "web-work", true),
            ("web-work-envelope-00ff", "web-work-envelope-11aa", true),
            ("web-work", "web-work-envelope-3f2c1d60-aa11", true),
            ("web-work", "shop-work", false),
            ("web-work-envelope-00ff", "shop-work-envelope-00ff", false),
            ("web-envelope-a-work", "web-envelope-b-work", false),
        ] {
            assert_eq!(is_beside(work, other), is_it, "{work} {other}");
        }
    }
}
