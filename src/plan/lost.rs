//! Objects that a run deletes from clusters, and with which others go.

use std::collections::BTreeMap;

use super::changes::ObjectChanges;
use super::draft::PlanDraft;
use super::{Warning, WarningKind};
use crate::contents::what_goes_with;
use crate::inventory::Inventory;
use crate::kubefleet::Kind;
use crate::kubefleet::binding::Binding;
use crate::report::{ComposeText, Subject};
use crate::rollout::versions::Version;
use crate::words::{CommandLine, enumerate};

/// A namespace, or a definition of custom resources, that clusters lose while they keep the placement: what
/// is in it goes too, whoever put it there.
#[derive(Debug)]
pub struct CascadingDeletion {
    pub object: Subject,
    pub clusters: Vec<String>,
    /// Why it comes back, if it does.
    comes_back: Option<&'static str>,
}

impl CascadingDeletion {
    /// `compares` is whether the run only compares: then it deletes only what goes with its Work.
    pub fn of(changes: &[ObjectChanges], compares: bool) -> Vec<Self> {
        let mut all: BTreeMap<_, (&Subject, Vec<String>)> = BTreeMap::new();
        for change in changes.iter().filter(|it| it.to.is_some()) {
            let ways = [
                (&change.deleted, None),
                (&change.moved, Some("it moves to another Work")),
                (&change.recreated, Some("its API version is another one")),
            ];
            let objects = ways.into_iter();
            let objects = objects.flat_map(|(all, why)| all.iter().map(move |it| (it, why)));
            let goes = |it: &&Subject| !compares || change.with_work.contains(it);
            for (object, why) in objects.filter(|(object, _)| goes(object)) {
                if what_goes_with((&object.kind, &object.namespace)).is_some() {
                    let key = (why, &object.name, &object.kind, &object.namespace);
                    let clusters = all.entry(key).or_insert((object, Vec::new()));
                    clusters.1.extend(change.clusters.iter().cloned());
                }
            }
        }
        let all = all.into_iter();
        let all = all.map(|((comes_back, ..), (object, mut clusters))| {
            clusters.sort_unstable();
            let object = object.clone();
            Self {
                object,
                clusters,
                comes_back,
            }
        });
        all.collect()
    }

    /// What is lost, as a clause.
    pub fn describe(&self) -> String {
        let clusters = enumerate(&self.clusters);
        let with = what_goes_with((&self.object.kind, &self.object.namespace)).unwrap_or_default();
        let again = self
            .comes_back
            .map(|why| format!(" and created again, because {why}"));
        let again = again.unwrap_or_default();
        format!("{} is deleted {with} from {clusters}{again}", self.object)
    }

    /// Whether the run creates it again.
    pub const fn comes_back(&self) -> bool {
        self.comes_back.is_some()
    }

    /// What to do about one that comes back.
    pub const KEEP: &str = "Keep it where it was in the content, and in the same API version, if what goes with it \
                            is to stay.";
}

/// Warns of a namespace that goes with the placement from clusters that lose it, and in which the placement has
/// nothing of its own: what is in it is of others, such as the ResourcePlacements that it is for.
fn removed(draft: &mut PlanDraft<'_>, changes: &[&ObjectChanges]) {
    for change in changes {
        let is_bare = |it: &&Subject| {
            let mut all = change.deleted.iter();
            it.kind == "Namespace"
                && it.namespace.is_empty()
                && !all.any(|other| other.namespace == it.name)
        };
        for object in change.deleted.iter().filter(is_bare) {
            let clusters = enumerate(&change.clusters);
            let message = format!(
                "The run removes {} from {clusters}: {object} is deleted there with everything that others \
                 have brought into it.",
                draft.placement().name
            );
            let mut warning = Warning::new(WarningKind::CascadingRemoval, object.clone(), message)
                .clusters(change.clusters.iter().map(String::as_str));
            for cluster in change.clusters.iter().take(5) {
                if let Some(binding) = draft.inventory.binding(cluster) {
                    warning = warning.evidence(binding.object(), "spec.state", &binding.spec.state);
                }
            }
            draft.warnings.push(
                warning.look_with(
                    "Check which placements are in the namespace, and on which clusters.",
                    CommandLine::kubectl("get")
                        .arg(Kind::ResourcePlacement.for_kubectl())
                        .namespace(&object.name),
                ),
            );
        }
    }
}

/// Warns of objects that were there before, and go with a placement that has only compared them: to compare, KubeFleet
/// has become an owner of them. Source: workapplier/process.go:takeOverInMemberClusterObjectIfApplicable.
fn compared_only(inventory: &Inventory, placement: &str, change: &ObjectChanges) -> Warning {
    let clusters = enumerate(&change.clusters);
    let objects = enumerate(change.deleted.iter().map(Subject::with_what_goes));
    let message = format!(
        "The run removes {placement} from {clusters}, and KubeFleet owns what it has compared there, though it \
         applied nothing: where they exist, it deletes {objects}."
    );
    let first = change.deleted.first().cloned().unwrap_or_default();
    let owners = CommandLine::member(change.clusters.first().map_or("", String::as_str), "get");
    let owners = owners.arg(first.kind.to_lowercase()).arg(&first.name);
    let owners = owners
        .namespace(&first.namespace)
        .flag("-o", "jsonpath={.metadata.ownerReferences}");
    let mut warning = Warning::new(WarningKind::ComparedObjectsDeleted, first, message)
        .clusters(change.clusters.iter().map(String::as_str));
    let bindings = change.clusters.iter();
    let bindings = bindings.filter_map(|it| inventory.binding(it));
    for binding in bindings.take(5) {
        warning = warning.evidence(binding.object(), "spec.applyStrategy.type", "ReportDiff");
    }
    warning
        .look_with("Check whether an AppliedWork is among its owners.", owners)
        .fix("Remove that owner reference on the cluster first, if the object is to stay.")
}

/// Warns of what is deleted with others. A snapshot without objects is warned of by itself.
pub(super) fn check(draft: &mut PlanDraft<'_>, changes: &[ObjectChanges], then: Option<&str>) {
    let is_empty = |it: &Warning| it.kind == WarningKind::SnapshotEmpty;
    let compares = draft.inventory.compares_only();
    if draft.warnings.iter().any(is_empty) {
        return;
    }
    let removals = changes.iter().filter(|it| it.to.is_none());
    let is_compared = |change: &&ObjectChanges| {
        let mut names = change.clusters.iter();
        names.any(|it| {
            draft
                .inventory
                .binding(it)
                .is_some_and(Binding::only_compares)
        })
    };
    let (compared, owned): (Vec<_>, Vec<_>) = removals.partition(is_compared);
    let placement = draft.placement().name.clone();
    let inventory = draft.inventory;
    let compared = compared.into_iter();
    let compared = compared.map(|it| compared_only(inventory, &placement, it));
    draft.warnings.extend(compared);
    removed(draft, &owned);
    for lost in CascadingDeletion::of(changes, compares) {
        if lost.comes_back() {
            let render = draft.placement().fleet("render");
            let first = lost.clusters.first().map_or("", String::as_str);
            let render = render.flag("--member", first).switch("--diff");
            let message = format!("{}.", lost.describe());
            let warning = Warning::new(WarningKind::CascadingDeletion, lost.object, message)
                .clusters(lost.clusters)
                .look_with("Check what changes on one of these clusters.", render)
                .fix(CascadingDeletion::KEEP);
            draft.warnings.push(warning);
            continue;
        }
        let message = format!("{}, although the placement stays.", lost.describe());
        let (why, look) = if has(draft, then, &lost.object) {
            (
                "Check which override deletes it there.",
                CommandLine::kubectl("get")
                    .arg("clusterresourceoverrides,resourceoverrides")
                    .switch("-A")
                    .flag("-o", "yaml"),
            )
        } else {
            (
                "Check that it exists on the hub, and that the placement selects it.",
                draft.placement().kubectl("get").flag("-o", "yaml"),
            )
        };
        let warning = Warning::new(WarningKind::CascadingDeletion, lost.object, message)
            .clusters(lost.clusters)
            .look_with(why, look);
        draft.warnings.push(warning);
    }
}

/// Whether the snapshot that the run brings has the object.
fn has(draft: &PlanDraft<'_>, then: Option<&str>, object: &Subject) -> bool {
    let version = then.map(|index| Version::of_index(draft.inventory, index));
    version.is_some_and(|version| {
        let mut all = version.sent();
        all.any(|it| {
            let names = (&it.kind, &it.meta.namespace, &it.meta.name);
            names == (&object.kind, &object.namespace, &object.name)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_one_name_are_lost_each_by_itself() {
        let change = |cluster: &str, deleted: Vec<Subject>| ObjectChanges {
            clusters: vec![cluster.to_owned()],
            from: Some("0".to_owned()),
            to: Some("1".to_owned()),
            deleted,
            ..ObjectChanges::default()
        };
        let claim = |namespace: &str| Subject::new("PersistentVolumeClaim", namespace, "data");
        let namespace = Subject::new("Namespace", "", "data");
        let lost = CascadingDeletion::of(
            &[
                change("member-1", vec![claim("a"), claim("b"), namespace.clone()]),
                change("member-2", vec![namespace]),
            ],
            false,
        );
        let said: Vec<_> = lost.iter().map(CascadingDeletion::describe).collect();
        let of_claim = |it: &str| {
            format!(
                "PersistentVolumeClaim {it}/data is deleted with its data, unless the volume is kept, \
                 from member-1"
            )
        };
        let whole = "Namespace data is deleted with everything in it from member-1 and member-2";
        assert_eq!(said, [whole.to_owned(), of_claim("a"), of_claim("b")]);
    }
}
