//! Objects that a run would bring where another placement has put them.

use std::collections::BTreeMap;

use super::{ObjectChanges, Plan, Warning, WarningKind};
use crate::kubefleet::work::Work;
use crate::kubefleet::{Condition, Conditions as _, ObjectRef, reasons};
use crate::report::{ComposeText, Subject};
use crate::words::{CommandLine, distinct, enumerate};

/// Clusters that are looked at: the run does not get past the first that fails.
const LOOKED_AT: usize = 3;

/// An object of another placement.
#[derive(Debug, Clone)]
pub struct PlacedObject {
    owner: ObjectRef,
    cluster: String,
    work: ObjectRef,
    object: Subject,
}

impl PlacedObject {
    /// What a Work has put into its cluster of the objects that are new there for a plan.
    /// Source: workapplier/drift_detection_takeover.go:takeOverPreExistingObject.
    pub fn of(work: &Work, plan: &Plan) -> Vec<Self> {
        let owner = work.placement();
        let owner = owner.filter(|it| Subject::from(it) != plan.placement);
        let (Some(owner), Some(cluster)) = (owner, work.cluster()) else {
            return Vec::new();
        };
        let new: Vec<_> = plan.new_on(cluster).collect();
        let placed = work.status.manifests.iter().filter_map(|manifest| {
            let applied = manifest.conditions.condition(reasons::APPLIED);
            let id = &manifest.id;
            let object = Subject::new(&id.kind, &id.namespace, &id.name);
            let is_there = applied.is_some_and(Condition::is_true);
            (is_there && new.contains(&&object)).then(|| Self {
                owner: owner.clone(),
                cluster: cluster.to_owned(),
                work: work.object(),
                object,
            })
        });
        placed.collect()
    }
}

impl Plan {
    /// The first clusters that get objects which they do not have.
    pub fn first_with_new_objects(&self) -> Vec<&str> {
        let clusters = self.stages.iter().flat_map(|stage| &stage.clusters);
        let names = clusters.map(|it| it.name.as_str());
        let new = names.filter(|name| self.new_on(name).next().is_some());
        new.take(LOOKED_AT).collect()
    }

    /// What a cluster has not got of the placement yet.
    fn new_on<'p>(&'p self, cluster: &str) -> impl Iterator<Item = &'p Subject> {
        let is_of = |it: &&ObjectChanges| it.clusters.iter().any(|name| name == cluster);
        let change = self.changes.iter().find(is_of);
        change
            .into_iter()
            .flat_map(|it| it.created.iter().chain(&it.overwritten))
    }

    /// Warns of the objects that other placements have put there.
    pub fn warn_of_placed(&mut self, placed: impl IntoIterator<Item = PlacedObject>) {
        let mut owners: BTreeMap<ObjectRef, Vec<PlacedObject>> = BTreeMap::new();
        for placed in placed {
            owners.entry(placed.owner.clone()).or_default().push(placed);
        }
        for (owner, placed) in owners {
            let Some(first) = placed.first() else {
                continue;
            };
            let PlacedObject {
                cluster,
                work,
                object,
                ..
            } = first;
            let clusters = distinct(placed.iter().map(|it| it.cluster.as_str()));
            let objects = placed.iter().map(|it| it.object.to_string());
            let message = format!(
                "{owner} has put {} on {}. KubeFleet does not {} an object for two placements: the run would be \
                 stuck there.",
                enumerate(distinct(objects)),
                enumerate(&clusters),
                if self.compares_only {
                    "compare"
                } else {
                    "apply"
                }
            );
            let path = format!(
                "status.manifestConditions[identifier.name={}].conditions[type=Applied].status",
                object.name
            );
            let trace = CommandLine::fleet("trace").arg(format!("{}/{}", object.kind, object.name));
            let trace = trace.namespace(&object.namespace).flag("--member", cluster);
            let warning = Warning::new(WarningKind::ObjectOfAnotherPlacement, &owner, message)
                .clusters(clusters)
                .evidence(work, path, "True")
                .look_with("Check which rollout put it there.", trace)
                .fix("Remove it from the content of one of the two placements first.");
            self.warnings.push(warning);
        }
        self.warnings.sort_by_key(|warning| warning.kind);
    }
}
