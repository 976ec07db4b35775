//! What is in the way of the objects that a run would bring: other placements have put them there, or an
//! earlier Work is still being deleted.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{ObjectChanges, Warning, WarningKind};
use crate::kubefleet::work::Work;
use crate::kubefleet::{Condition, Conditions as _, ObjectRef, reasons};
use crate::problems::steps;
use crate::report::{ComposeText, Subject};
use crate::words::{CommandLine, by_number, distinct, enumerate};

/// Clusters that are looked at: the run does not get past the first that fails.
const LOOKED_AT: usize = 3;

/// The changes of a placement.
#[derive(Clone, Copy)]
pub struct NewObjects<'c> {
    pub placement: &'c Subject,
    pub changes: &'c [ObjectChanges],
    /// Whether it only reports differences.
    pub compares_only: bool,
}

impl<'c> NewObjects<'c> {
    /// The first of some clusters that get objects which they do not have.
    pub fn first_clusters<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
        let new = names.filter(|name| self.on(name).next().is_some());
        new.take(LOOKED_AT).collect()
    }

    /// What a cluster has not got of the placement yet.
    fn on(&self, cluster: &str) -> impl Iterator<Item = &'c Subject> {
        let is_of = |it: &&ObjectChanges| it.clusters.iter().any(|name| name == cluster);
        let change = self.changes.iter().find(is_of).into_iter();
        change.flat_map(|it| it.created.iter().chain(&it.overwritten))
    }
}

/// Something in the way on one cluster.
#[derive(Debug, Clone)]
pub struct InTheWay {
    cluster: String,
    work: ObjectRef,
    what: FoundThere,
}

#[derive(Debug, Clone)]
enum FoundThere {
    /// An object of another placement.
    Placed { owner: ObjectRef, object: Subject },
    /// An earlier Work of this placement, whose name the next one needs.
    EarlierWork { deleted: Timestamp },
}

impl InTheWay {
    /// What a Work has put into its cluster of the objects that are new there, or that it keeps its name.
    /// Source: workapplier/drift_detection_takeover.go:takeOverPreExistingObject;
    /// workgenerator/controller.go:upsertWork.
    pub fn of(work: &Work, new: &NewObjects<'_>) -> Vec<Self> {
        let (Some(owner), Some(cluster)) = (work.placement(), work.cluster()) else {
            return Vec::new();
        };
        let objects: Vec<_> = new.on(cluster).collect();
        let on = |what| Self {
            cluster: cluster.to_owned(),
            work: work.object(),
            what,
        };
        if Subject::from(&owner) == *new.placement {
            let deleted = work.meta.deleted.filter(|_| !objects.is_empty());
            let earlier = deleted.map(|deleted| on(FoundThere::EarlierWork { deleted }));
            return earlier.into_iter().collect();
        }
        let placed = work.status.manifests.iter().filter_map(|manifest| {
            let applied = manifest.conditions.condition(reasons::APPLIED);
            let id = &manifest.id;
            let object = Subject::new(&id.kind, &id.namespace, &id.name);
            let is_there = applied.is_some_and(Condition::is_true);
            (is_there && objects.contains(&&object)).then(|| {
                let owner = owner.clone();
                on(FoundThere::Placed { owner, object })
            })
        });
        placed.collect()
    }
}

/// Warns of what is in the way.
pub fn warnings_of(found: Vec<InTheWay>, new: &NewObjects<'_>) -> Vec<Warning> {
    let mut owners: BTreeMap<ObjectRef, Vec<_>> = BTreeMap::new();
    let mut earlier = Vec::new();
    for InTheWay {
        cluster,
        work,
        what,
    } in found
    {
        match what {
            FoundThere::EarlierWork { deleted } => earlier.push((cluster, work, deleted)),
            FoundThere::Placed { owner, object } => {
                let placed = owners.entry(owner).or_default();
                placed.push((cluster, work, object));
            }
        }
    }
    let placed = owners.iter();
    let placed = placed.filter_map(|(owner, all)| owned_by(owner, all, new.compares_only));
    earlier_works(&earlier).into_iter().chain(placed).collect()
}

fn owned_by(
    owner: &ObjectRef,
    placed: &[(String, ObjectRef, Subject)],
    compares_only: bool,
) -> Option<Warning> {
    let (cluster, work, object) = placed.first()?;
    let clusters = distinct(placed.iter().map(|(cluster, ..)| cluster.as_str()));
    let objects = placed.iter().map(|(.., object)| object.to_string());
    let message = format!(
        "{owner} has put {} on {}. KubeFleet does not {} an object for two placements: the run would be \
         stuck there.",
        enumerate(distinct(objects)),
        enumerate(&clusters),
        if compares_only { "compare" } else { "apply" }
    );
    let path = format!(
        "status.manifestConditions[identifier.name={}].conditions[type=Applied].status",
        object.name
    );
    let trace = CommandLine::fleet("trace").arg(format!("{}/{}", object.kind, object.name));
    let trace = trace.namespace(&object.namespace).flag("--member", cluster);
    let warning = Warning::new(WarningKind::ObjectOfAnotherPlacement, owner, message)
        .clusters(clusters)
        .evidence(work, path, "True")
        .look_with("Check which rollout put it there.", trace);
    Some(warning.fix("Remove it from the content of one of the two placements first."))
}

fn earlier_works(earlier: &[(String, ObjectRef, Timestamp)]) -> Option<Warning> {
    let (_, first, _) = earlier.first()?;
    let clusters = distinct(earlier.iter().map(|(cluster, ..)| cluster.as_str()));
    let (work, is) = by_number(clusters.len(), ("Work", "is"), ("Works", "are"));
    let message = format!(
        "The placement's earlier {work} for {} {is} still being deleted: the run would be stuck there \
         until then.",
        enumerate(&clusters)
    );
    let mut warning = Warning::new(WarningKind::EarlierWorkRemains, first, message);
    for (_, work, deleted) in earlier {
        warning = warning.deleted(work, Some(*deleted));
    }
    let inspect = first.kubectl("get").flag("-o", "yaml");
    let warning = warning.clusters(clusters);
    let warning = warning.look_with("Check which finalizers hold it.", inspect);
    let gone = steps::wait_for(first, "delete");
    Some(warning.look_with("Wait until it is gone.", gone))
}
