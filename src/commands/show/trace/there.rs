//! What the member cluster itself has: the object, and the AppliedWorks that list it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeSeed;
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::wanted::WantedObject;
use crate::commands::gather::reading::SourceReading;
use crate::contents::ManifestKey;
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::meta::Condition;
use crate::kubefleet::tolerant::{LenientRead, LenientSeed};
use crate::kubefleet::work::Work;
use crate::kubefleet::{Conditions, names, reasons};
use crate::manifests::live::{LiveQuery, ServedKind};
use crate::member::model::{AnyObject, AppliedResource, AppliedWork};
use crate::member::{ClusterMatch, MemberGap, MemberKind};
use crate::query::{Outcome, QuerySelection};
use crate::report::{NotChecked, Subject};
use crate::words::{distinct, enumerate};

/// What the member cluster has.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InMember {
    /// The kubeconfig context that leads to it.
    pub context: String,
    /// Whether the object exists there; absent if that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exists: Option<bool>,
    /// The object; several if no namespace was given.
    pub objects: Vec<ObjectThere>,
    /// The AppliedWorks that list it.
    pub applied_works: Vec<ListedBy>,
    /// Whether these are all of them; if not, `notChecked` says why.
    pub knows_applied_works: bool,
    /// Where the member cluster and the hub's Works differ.
    pub differences: Vec<String>,
}

/// An object in the member cluster.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectThere {
    /// The object.
    pub object: Subject,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// When its deletion was requested.
    pub deleted: Option<Timestamp>,
    /// Its owners.
    pub owners: Vec<Subject>,
    /// The label `app.kubernetes.io/managed-by`.
    pub managed_by: Option<String>,
    /// The field managers that have written it; KubeFleet's is `work-api-agent`.
    pub field_managers: Vec<String>,
    /// Whether it has KubeFleet's annotations about the last applied content.
    pub has_last_applied: bool,
}

/// An AppliedWork that lists the object.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedBy {
    /// The AppliedWork.
    pub applied_work: String,
    /// The Work on the hub.
    pub work: Subject,
}

/// The AppliedWorks of a cluster: they tell which member it is, and what its agent applied.
pub(super) struct AppliedRecords {
    pub context: String,
    applied: Vec<AppliedWork>,
    outcome: Outcome,
}

/// What is known of a member cluster and of the hub's Works for it.
#[derive(Default)]
struct BothSides<'s> {
    /// What was looked for; `None` where the cluster does not have it.
    objects: BTreeMap<ManifestKey, Option<AnyObject>>,
    /// What the AppliedWorks list, and whether these are all.
    listed: Vec<(&'s AppliedWork, &'s AppliedResource)>,
    knows_listed: bool,
    /// The Works that have the object, and whether these are all.
    works: Vec<(&'s Work, ManifestKey, bool)>,
    knows_works: bool,
}

/// What KubeFleet notes on the objects that it applies.
const NOTES: [&str; 2] = [
    "kubernetes-fleet.io/spec-hash",
    "kubernetes-fleet.io/last-applied-configuration",
];

impl AppliedRecords {
    /// Reads them, where a context is to lead to them; fails where it leads to another cluster than
    /// the one that was named.
    pub fn read(
        reading: &mut SourceReading,
        context: Option<&str>,
        member: Option<&str>,
    ) -> Result<Option<Self>, MemberGap> {
        let (Some(hub), Some(context)) = (reading.hub(), context) else {
            return Ok(None);
        };
        let kind = MemberKind::AppliedWork;
        let kind = ServedKind {
            group: kind.group().to_owned(),
            version: kind.version().to_owned(),
            kind: kind.name().to_owned(),
            plural: kind.plural().to_owned(),
            is_namespaced: false,
            is_preferred: true,
        };
        let reader = hub.member_objects(context)?;
        let answers = reader.answer(&[LiveQuery::all(kind, "")]);
        let mut records = Self {
            context: context.to_owned(),
            applied: Vec::new(),
            outcome: Outcome::NotCollected,
        };
        for answer in answers {
            if let Outcome::Failed(why) = answer.outcome {
                return Err(MemberGap::Unreachable(why));
            }
            records.outcome = answer.outcome;
            records
                .applied
                .extend(answer.objects.into_iter().filter_map(parsed));
        }
        match member.map(|member| (member, records.counterpart(member))) {
            Some((member, ClusterMatch::Other(how))) => Err(MemberGap::NoWay(format!(
                "context {context} does not lead to {member}: {how}"
            ))),
            _ => Ok(Some(records)),
        }
    }

    /// The members whose AppliedWorks these are.
    fn owners(&self) -> Vec<&str> {
        let prefix = names::MEMBER_NAMESPACE_PREFIX;
        let applied = self.applied.iter();
        distinct(applied.filter_map(|it| it.spec.namespace.strip_prefix(prefix)))
    }

    pub fn cluster(&self) -> Result<String, Error> {
        let owners = self.owners();
        let (exit, why) = match (owners.as_slice(), self.outcome.gap()) {
            ([one], _) => return Ok((*one).to_owned()),
            ([], Some(gap)) => (
                Exit::Incomplete,
                format!("its AppliedWorks cannot be read: {gap}"),
            ),
            ([], None) => (Exit::Error, "it has no AppliedWork".to_owned()),
            (several, _) => {
                let several = enumerate(several);
                (Exit::Error, format!("it has AppliedWorks of {several}"))
            }
        };
        let error = Error::failed(format!(
            "the member cluster of context {} is unknown: {why}",
            self.context
        ));
        Err(Error { exit, ..error }.hint("name the member cluster with --member"))
    }

    /// Whether the context leads to this member.
    pub fn counterpart(&self, cluster: &str) -> ClusterMatch {
        let owners = self.owners();
        match (owners.contains(&cluster), self.outcome.gap()) {
            (true, _) => ClusterMatch::Sure,
            (false, None) if !owners.is_empty() => {
                ClusterMatch::Other(format!("its AppliedWorks belong to {}", enumerate(owners)))
            }
            (false, _) if self.outcome == Outcome::NotServed => ClusterMatch::Other(
                "it does not serve AppliedWork, unlike every member of a fleet".to_owned(),
            ),
            (false, _) => ClusterMatch::Unknown,
        }
    }

    /// Looks for the object in the cluster, and compares what is there with the Works.
    pub fn compare(
        &self,
        reading: &mut SourceReading,
        (wanted, cluster): (&WantedObject, &str),
        (works, knows_works): (&[impl AsRef<Work>], bool),
        gaps: &mut Vec<NotChecked>,
    ) -> InMember {
        let gap = |what: &str, why: String| NotChecked::new(what, why).on(vec![cluster.to_owned()]);
        if let Some(why) = self.outcome.gap() {
            gaps.push(gap(MemberKind::AppliedWork.name(), why));
        }
        let own = names::member_namespace(cluster);
        let applied = self.applied.iter().filter(|it| it.spec.namespace == own);
        let listed: Vec<_> = applied
            .flat_map(|applied| applied.status.resources.iter().map(move |it| (applied, it)))
            .filter(|(_, resource)| wanted.names(&listed_as(resource)))
            .collect();
        let works: Vec<_> = works
            .iter()
            .flat_map(|work| having(work.as_ref(), wanted))
            .collect();
        let ids = works.iter().map(|(_, id, _)| id);
        let (mut queries, unresolved) = questions(&listed, ids, wanted);
        let is_sure = self.counterpart(cluster) == ClusterMatch::Sure;
        if !is_sure && self.outcome == Outcome::Listed {
            let why = "it has no AppliedWork that says which member it is";
            gaps.push(gap(
                &format!("whether context {} leads to {cluster}", self.context),
                why.to_owned(),
            ));
        }
        let gaps_before = gaps.len();
        let mut objects = BTreeMap::new();
        match reading.hub().map(|hub| hub.member_objects(&self.context)) {
            Some(Ok(reader)) => {
                if let Some(namespaces) = unresolved {
                    let served = reader.kinds_served().map_err(|error| error.to_string());
                    match served.and_then(|served| resolve(&namespaces, wanted, &served)) {
                        Ok(more) => queries.extend(more),
                        Err(why) => gaps.push(gap(wanted.word(), why)),
                    }
                }
                let answers = reader.answer(&queries);
                for (query, answer) in queries.into_iter().zip(answers) {
                    let ServedKind { kind, group, .. } = query.kind;
                    if let Some(why) = answer.outcome.gap() {
                        gaps.push(gap(&kind, why));
                    } else if let QuerySelection::Named { namespace, name } = query.which {
                        let id = ManifestKey {
                            kind,
                            group,
                            namespace,
                            name,
                        };
                        let mut found = answer.objects.into_iter();
                        objects.insert(id, found.find_map(parsed::<AnyObject>));
                    }
                }
            }
            Some(Err(closed)) => gaps.push(gap(
                "objects in the member cluster",
                closed.why().to_owned(),
            )),
            None => {}
        }
        let is_there = objects.values().any(Option::is_some);
        let exists = (is_there || gaps.len() == gaps_before).then_some(is_there);
        let both = BothSides {
            objects,
            listed,
            knows_listed: self.outcome == Outcome::Listed,
            works,
            knows_works,
        };
        InMember {
            context: self.context.clone(),
            exists,
            differences: if is_sure {
                both.differences()
            } else {
                Vec::new()
            },
            knows_applied_works: both.knows_listed,
            applied_works: both.listed.iter().map(|(it, _)| ListedBy::of(it)).collect(),
            objects: both.objects.into_values().flatten().map(there).collect(),
        }
    }
}

/// What to ask for where the plural is not known, by what the cluster serves; why nothing can be
/// asked, otherwise.
fn resolve(
    namespaces: &[String],
    wanted: &WantedObject,
    served: &[ServedKind],
) -> Result<Vec<LiveQuery>, String> {
    let kinds = served
        .iter()
        .filter(|kind| kind.is_preferred && wanted.is_kind(&kind.kind, &kind.group));
    let kinds: Vec<_> = kinds.collect();
    if kinds.is_empty() {
        return Err("the cluster does not serve this kind".to_owned());
    }
    let mut queries = Vec::new();
    for kind in kinds {
        if !kind.is_namespaced {
            queries.push(LiveQuery::named(kind.clone(), "", &wanted.name));
            continue;
        }
        if namespaces.is_empty() {
            return Err("its namespace is unknown: use -n".to_owned());
        }
        let named = |it: &String| LiveQuery::named(kind.clone(), it, &wanted.name);
        queries.extend(namespaces.iter().map(named));
    }
    Ok(queries)
}

/// What to ask for: an AppliedWork says how an object is called there, of any other the cluster has
/// to be asked first, and these are the namespaces where it may be.
fn questions<'i>(
    listed: &[(&AppliedWork, &AppliedResource)],
    ids: impl Iterator<Item = &'i ManifestKey>,
    wanted: &WantedObject,
) -> (Vec<LiveQuery>, Option<Vec<String>>) {
    let queries = listed.iter().map(|(_, it)| {
        let kind = ServedKind {
            group: it.group.clone(),
            version: it.version.clone(),
            kind: it.kind.clone(),
            plural: it.resource.clone(),
            is_namespaced: !it.namespace.is_empty(),
            is_preferred: true,
        };
        LiveQuery::named(kind, &it.namespace, &it.name)
    });
    let known: Vec<_> = listed.iter().map(|(_, it)| listed_as(it)).collect();
    let others: Vec<_> = ids.filter(|id| !known.contains(id)).collect();
    let unresolved = (known.is_empty() || !others.is_empty()).then(|| {
        let namespaces = others.iter().map(|id| id.namespace.clone());
        let namespaces = namespaces.chain(wanted.namespace.clone());
        distinct(namespaces.filter(|it| !it.is_empty()))
    });
    (distinct(queries), unresolved)
}

/// The manifests of a Work that are the object, and whether the agent reports them as applied.
fn having<'w>(
    work: &'w Work,
    wanted: &WantedObject,
) -> impl Iterator<Item = (&'w Work, ManifestKey, bool)> {
    let manifests = work.spec.workload.manifests.iter().enumerate();
    let manifests = manifests.filter(|(_, it)| wanted.is(it));
    manifests.map(move |(at, manifest)| {
        (
            work,
            ManifestKey::of_manifest(manifest),
            is_applied(work, at),
        )
    })
}

fn is_applied(work: &Work, at: usize) -> bool {
    let status = work.status_of(at);
    let applied = status.and_then(|it| it.conditions.condition(reasons::APPLIED));
    applied.is_some_and(Condition::is_true)
}

fn listed_as(resource: &AppliedResource) -> ManifestKey {
    ManifestKey {
        kind: resource.kind.clone(),
        group: resource.group.clone(),
        namespace: resource.namespace.clone(),
        name: resource.name.clone(),
    }
}

fn parsed<T: LenientRead>(value: Value) -> Option<T> {
    LenientSeed::<T>::default().deserialize(value).ok()
}

fn there(object: AnyObject) -> ObjectThere {
    let meta = object.meta;
    let managers = meta.managers.iter().map(|it| it.manager.clone());
    ObjectThere {
        object: Subject::new(object.kind, meta.namespace, meta.name),
        created: meta.created,
        deleted: meta.deleted,
        owners: meta
            .owners
            .iter()
            .map(|owner| Subject::new(&owner.kind, "", &owner.name))
            .collect(),
        managed_by: meta.labels.get("app.kubernetes.io/managed-by").cloned(),
        field_managers: distinct(managers.filter(|it| !it.is_empty())),
        has_last_applied: NOTES.iter().any(|it| meta.annotations.contains_key(*it)),
    }
}

impl ListedBy {
    fn of(applied: &AppliedWork) -> Self {
        let spec = &applied.spec;
        Self {
            applied_work: applied.meta.name.clone(),
            work: Subject::new("Work", &spec.namespace, &spec.work),
        }
    }
}

impl BothSides<'_> {
    /// What the hub's Works and the member cluster say differently, and no more than that.
    fn differences(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (work, id, is_applied) in &self.works {
            let (name, object) = (&work.meta.name, id.describe());
            let lists = |(it, resource): &&(&AppliedWork, &AppliedResource)| {
                it.spec.work == *name && listed_as(resource) == *id
            };
            let is_listed = self.listed.iter().any(|it| lists(&it));
            if *is_applied && self.knows_listed && !is_listed {
                found.push(format!(
                    "Work {name} reports {object} as applied, but its AppliedWork does not list it"
                ));
            }
            match self.objects.get(id) {
                Some(None) if *is_applied => found.push(format!(
                    "Work {name} reports {object} as applied, but the cluster does not have it"
                )),
                Some(Some(there)) => found.extend(
                    owned_otherwise(there, name, *is_applied)
                        .map(|by| format!("{object} belongs to {by}")),
                ),
                _ => {}
            }
        }
        for (applied, resource) in &self.listed {
            let id = listed_as(resource);
            let (name, object) = (&applied.meta.name, id.describe());
            let has = |(work, other, _): &(&Work, ManifestKey, bool)| {
                work.meta.name == applied.spec.work && *other == id
            };
            if self.knows_works && !self.works.iter().any(has) {
                found.push(format!(
                    "AppliedWork {name} lists {object}, but no Work {} on the hub has it",
                    applied.spec.work
                ));
            }
            match self.objects.get(&id) {
                Some(None) => found.push(format!(
                    "AppliedWork {name} lists {object}, but the cluster does not have it"
                )),
                Some(Some(there)) if is_another(resource, there) => found.push(format!(
                    "AppliedWork {name} lists {object} with a UID that is not its current one"
                )),
                _ => {}
            }
        }
        distinct(found)
    }
}

fn is_another(resource: &AppliedResource, there: &AnyObject) -> bool {
    let (listed, own) = (&resource.uid, &there.meta.uid);
    !listed.is_empty() && !own.is_empty() && listed != own
}

/// The AppliedWorks that own an object where the Work's own does not.
fn owned_otherwise(object: &AnyObject, work: &str, is_applied: bool) -> Option<String> {
    let record = MemberKind::AppliedWork;
    let owners = object.meta.owners.iter();
    let owners =
        owners.filter(|it| it.kind == record.name() && it.api_version.starts_with(record.group()));
    let owners: Vec<_> = owners.map(|it| it.name.as_str()).collect();
    if owners.contains(&work) {
        return None;
    }
    match owners.as_slice() {
        [] => is_applied.then(|| format!("no AppliedWork, but Work {work} reports it as applied")),
        owners => Some(format!(
            "AppliedWork {}, not to that of Work {work}",
            enumerate(owners)
        )),
    }
}

#[cfg(test)]
mod tests;
