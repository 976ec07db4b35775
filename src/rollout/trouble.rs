//! Why the content of a binding is not on its cluster.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::STUCK_AFTER;
use super::sent::reported;
use crate::contents::ManifestKey;
use crate::inventory::{BLOCKING, Inventory};
use crate::kubefleet::binding::{Binding, Envelope};
use crate::kubefleet::kind::api_version;
use crate::kubefleet::messages::{
    BindingProblem, ManifestProblem, WorkProblem, parse_binding_problem, parse_manifest_problem,
    parse_work_problem,
};
use crate::kubefleet::override_names::NamespacedName;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::kubefleet::work::{ManifestId, Work};
use crate::kubefleet::{Condition, Conditions, ObjectRef, describe_object, reasons};

impl BindingTrouble<'_> {
    /// Whether something is named that fails: what has just been sent is not applied either.
    pub fn is_told(&self) -> bool {
        self.problem.is_some() || !self.manifests.is_empty()
    }

    /// Whether something is refused: what is not available yet may become so.
    pub fn refuses(&self) -> bool {
        self.is_told() && self.condition.kind != reasons::AVAILABLE
    }
}

/// The first condition of a binding that is `False`, understood.
#[derive(Debug)]
pub struct BindingTrouble<'i> {
    pub condition: &'i Condition,
    /// Whether the hub agent has just written the Works again, as after each of its upgrades: nothing fails yet.
    pub is_applying: bool,
    /// What the text of Overridden or WorkSynchronized says.
    pub problem: Option<BindingProblem>,
    /// What the text of Applied, Available or DiffReported says.
    pub work: Option<WorkProblem>,
    /// The objects that are at fault, from the binding and, where its list is cut or empty, from
    /// the Works.
    pub manifests: Vec<ManifestTrouble<'i>>,
}

/// One object that could not be applied, is not available, or could not be compared.
#[derive(Debug)]
pub struct ManifestTrouble<'i> {
    pub group: &'i str,
    pub version: &'i str,
    pub kind: &'i str,
    pub namespace: &'i str,
    pub name: &'i str,
    /// The envelope that wraps it, when one does.
    pub envelope: Option<Envelope>,
    /// The condition that is not fulfilled.
    pub condition: &'i Condition,
    /// What its reason and text say.
    pub problem: ManifestProblem,
    /// The object that says so, and where in it.
    pub source: (ObjectRef, String),
}

impl ManifestTrouble<'_> {
    /// The object in the reader's short form: `Deployment shop/web`.
    pub fn describe(&self) -> String {
        describe_object(self.kind, self.namespace, self.name)
    }

    /// Which object it is.
    pub fn key(&self) -> ManifestKey {
        ManifestKey {
            kind: self.kind.to_owned(),
            group: self.group.to_owned(),
            namespace: self.namespace.to_owned(),
            name: self.name.to_owned(),
        }
    }

    /// The object as a snapshot names it.
    pub fn identity(&self) -> ManifestIdentity {
        ManifestIdentity {
            api_version: api_version(self.group, self.version),
            kind: self.kind.to_owned(),
            meta: NamespacedName {
                name: self.name.to_owned(),
                namespace: self.namespace.to_owned(),
            },
            ..ManifestIdentity::default()
        }
    }
}

/// What a Work and each of its objects say, in the order in which the member agent gets there.
const OF_WORKS: [&str; 3] = [reasons::APPLIED, reasons::AVAILABLE, reasons::DIFF_REPORTED];

/// The list of failed placements is cut at this length. Source: workgenerator/controller.go.
const FAILED_LIMIT: usize = 100;

/// The first condition of a binding that is `False` about what it was sent last, understood.
pub fn binding_trouble<'i>(
    inventory: &'i Inventory,
    binding: &'i Binding,
) -> Option<BindingTrouble<'i>> {
    let condition = BLOCKING.iter().find_map(|kind| {
        reported(inventory, binding, kind).filter(|condition| condition.is_false())
    })?;
    let (mut problem, mut work, mut manifests) = (None, None, Vec::new());
    match condition.kind.as_str() {
        reasons::OVERRIDDEN | reasons::WORK_SYNCHRONIZED => {
            problem = Some(parse_binding_problem(&condition.message));
        }
        _ => {
            work = parse_work_problem(&condition.message);
            manifests = from_binding(binding);
            manifests.retain(|manifest| !is_past(inventory, binding, manifest));
            add_from_works(inventory, binding, &mut manifests);
        }
    }
    let lasts = |since: Timestamp| inventory.now.duration_since(since) > STUCK_AFTER;
    let is_applying = condition.reason == reasons::APPLY_IN_PROGRESS;
    Some(BindingTrouble {
        condition,
        is_applying: is_applying && !condition.since.is_some_and(lasts),
        problem,
        work,
        manifests,
    })
}

fn from_binding(binding: &Binding) -> Vec<ManifestTrouble<'_>> {
    let object = binding.object();
    let failed = binding.status.failed.iter().enumerate();
    failed
        .map(|(at, failed)| ManifestTrouble {
            group: &failed.group,
            version: &failed.version,
            kind: &failed.kind,
            namespace: &failed.namespace,
            name: &failed.name,
            envelope: failed.envelope.as_deref().cloned(),
            condition: &failed.condition,
            problem: parse_manifest_problem(&failed.condition.reason, &failed.condition.message),
            source: (object.clone(), format!("status.failedPlacements[{at}]")),
        })
        .collect()
}

/// Whether the Work says since then that the object is fine: the hub agent has not come to it yet.
fn is_past(inventory: &Inventory, binding: &Binding, manifest: &ManifestTrouble<'_>) -> bool {
    let failed = manifest.condition;
    let is_it = |id: &ManifestId| {
        let own = (&*id.group, &*id.kind, &*id.namespace, &*id.name);
        own == (
            manifest.group,
            manifest.kind,
            manifest.namespace,
            manifest.name,
        )
    };
    let mut works = inventory.works_of(binding);
    works.any(|work| {
        let mut manifests = work.status.manifests.iter().filter(|it| is_it(&it.id));
        manifests.any(|it| {
            let now = it.conditions.condition(&failed.kind);
            now.is_some_and(|now| now.is_true() && now.since > failed.since)
        })
    })
}

fn add_from_works<'i>(
    inventory: &'i Inventory,
    binding: &'i Binding,
    manifests: &mut Vec<ManifestTrouble<'i>>,
) {
    let known: BTreeSet<_> = manifests
        .iter()
        .map(|manifest| (manifest.kind, manifest.namespace, manifest.name))
        .collect();
    let listed = (1..FAILED_LIMIT).contains(&manifests.len());
    for work in inventory.works_of(binding) {
        // Beside a list that is whole, only what is newer adds to it.
        let observed = |it: &&Condition| it.observes(work.meta.generation);
        let mut now = of_work(work).filter(observed).peekable();
        // What the member agent said of other content says nothing of this one.
        if now.peek().is_none() || listed && !now.any(Condition::is_false) {
            continue;
        }
        for (at, status) in work.status.manifests.iter().enumerate() {
            let Some(condition) = failed_condition(&status.conditions) else {
                continue;
            };
            let id = &status.id;
            if known.contains(&(id.kind.as_str(), id.namespace.as_str(), id.name.as_str())) {
                continue;
            }
            manifests.push(ManifestTrouble {
                group: &id.group,
                version: &id.version,
                kind: &id.kind,
                namespace: &id.namespace,
                name: &id.name,
                envelope: work.envelope(),
                condition,
                problem: parse_manifest_problem(&condition.reason, &condition.message),
                source: (work.object(), format!("status.manifestConditions[{at}]")),
            });
        }
    }
}

/// The conditions of a Work as a whole.
fn of_work(work: &Work) -> impl Iterator<Item = &Condition> {
    let conditions = work.status.conditions.iter();
    conditions.filter(|condition| OF_WORKS.contains(&condition.kind.as_str()))
}

fn failed_condition(conditions: &[Condition]) -> Option<&Condition> {
    OF_WORKS
        .iter()
        .find_map(|kind| conditions.iter().find(|c| c.kind == *kind && c.is_false()))
}
