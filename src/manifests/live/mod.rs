//! What a placement selects on the hub now: what its next snapshot would hold.
//!
//! Source: utils/controller/resource_selector_resolver.go:gatherSelectedResource, and what the hub
//! agent watches, resourcewatcher/resource_collector.go:getWatchableResources. What is left out is in
//! `left_out.rs`; what is removed from an object, and the order of objects, in `trim.rs`.

mod left_out;
mod next_snapshot;
mod trim;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::contents::{Manifest, ManifestKey, text};
use crate::kubefleet::kind::group_of;
use crate::kubefleet::messages::SelectorProblem;
use crate::kubefleet::placement::{Placement, ResourceSelector};
use crate::kubefleet::selector::LabelSelector;
use crate::query::{Outcome, Query, QuerySelection};

pub use next_snapshot::{NextSnapshot, SnapshotPart};

use left_out::{is_disabled, was_placed, why_left_out};

/// A kind of object as an API server serves it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServedKind {
    /// Empty for the core group.
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    pub is_namespaced: bool,
    /// Whether the server prefers this version, which KubeFleet watches.
    pub is_preferred: bool,
}

impl ServedKind {
    /// Whether an object is of this kind.
    pub fn has(&self, object: &Value) -> bool {
        self.is(
            group_of(text(object, &["apiVersion"])),
            text(object, &["kind"]),
        )
    }

    /// The kinds of these objects, and those that the placement names.
    pub fn among(objects: &[Value], placement: &Placement) -> Vec<Self> {
        let mut kinds: BTreeMap<(&str, &str), Self> = BTreeMap::new();
        for object in objects {
            let api = text(object, &["apiVersion"]);
            let (group, version) = api.split_once('/').unwrap_or(("", api));
            let kind = text(object, &["kind"]);
            let found = Self {
                group: group.to_owned(),
                version: version.to_owned(),
                plural: kind.to_owned(),
                kind: kind.to_owned(),
                is_namespaced: !text(object, &["metadata", "namespace"]).is_empty(),
                is_preferred: true,
            };
            kinds.entry((group, kind)).or_insert(found);
        }
        let named = placement.spec.selectors.iter().map(|selector| {
            let known = kinds.get(&(selector.group.as_str(), selector.kind.as_str()));
            Self {
                group: selector.group.clone(),
                version: selector.version.clone(),
                plural: selector.kind.clone(),
                kind: selector.kind.clone(),
                is_namespaced: known.map_or_else(
                    || !placement.meta.namespace.is_empty(),
                    |known| known.is_namespaced,
                ),
                is_preferred: known.is_none_or(|known| known.version == selector.version),
            }
        });
        let named: BTreeSet<_> = named.collect();
        kinds.retain(|_, kind| !named.contains(kind));
        kinds.into_values().chain(named).collect()
    }

    fn is(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }
}

/// One question about any objects of the hub.
pub type LiveQuery = Query<ServedKind, LabelSelector>;

impl LiveQuery {
    /// Whether an object is one that is asked for.
    pub fn asks_for(&self, object: &Value) -> bool {
        let meta = |key| text(object, &["metadata", key]);
        let is_there = |namespace: &str| !self.kind.is_namespaced || meta("namespace") == namespace;
        self.kind.has(object)
            && match &self.which {
                QuerySelection::Named { namespace, name } => {
                    is_there(namespace) && meta("name") == name
                }
                QuerySelection::All { namespace, labels } => {
                    namespace.as_deref().is_none_or(is_there)
                        && labels
                            .as_ref()
                            .is_none_or(|labels| labels.matches(&labels_of(object)) == Some(true))
                }
            }
    }
}

/// The answer to one question.
#[derive(Debug, Clone)]
pub struct LiveAnswer {
    pub objects: Vec<Value>,
    /// Whether these are all.
    pub outcome: Outcome,
}

/// An object that a placement selects and KubeFleet does not place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    pub object: ManifestKey,
    /// Why, as a clause.
    pub why: &'static str,
}

/// What a placement selects, as far as it was asked for.
#[derive(Debug, Clone, Default)]
pub struct SelectedObjects {
    /// What has to be asked before anything can be said.
    pub needs: Vec<LiveQuery>,
    /// The objects as a snapshot has them, in its order.
    pub manifests: Vec<Manifest>,
    pub left_out: Vec<LeftOut>,
    /// The places of the placement's selectors that match nothing, as far as that could be read.
    pub unmatched: Vec<usize>,
    /// KubeFleet's own objects in the namespaces, which it placed up to 0.3, as the hub has them.
    pub of_hub: Vec<Value>,
    /// Kinds that a selector names and that are never placed.
    pub never_placed: Vec<String>,
    /// What could not be read in full, and why.
    pub gaps: BTreeSet<(String, String)>,
    /// The same as groups and kinds.
    pub unread: BTreeSet<(String, String)>,
}

/// From how many namespaces on a kind is listed everywhere at once.
const MANY: usize = 4;

/// What a placement selects. `known` are the questions that were asked so far: where some are missing,
/// they are what the result `needs`.
pub fn select(
    placement: &Placement,
    served: &[ServedKind],
    known: &BTreeMap<LiveQuery, LiveAnswer>,
) -> Result<SelectedObjects, SelectorProblem> {
    let mut gatherer = SelectionGatherer::new(placement, served, known);
    gatherer.find_namespace()?;
    for (at, selector) in placement.spec.selectors.iter().enumerate() {
        gatherer.follow(at, selector)?;
    }
    gatherer.finish()
}

struct SelectionGatherer<'g> {
    placement: &'g Placement,
    served: &'g [ServedKind],
    known: &'g BTreeMap<LiveQuery, LiveAnswer>,
    found: Vec<&'g Value>,
    /// The namespace in which namespaced kinds are selected.
    own: String,
    selected: SelectedObjects,
}

/// Where `selectionScope` names no other, a namespace comes with what it holds.
const WITH_SELECTORS: &str = "NamespaceWithResourceSelectors";
const NAMESPACE_ONLY: &str = "NamespaceOnly";

impl<'g> SelectionGatherer<'g> {
    fn new(
        placement: &'g Placement,
        served: &'g [ServedKind],
        known: &'g BTreeMap<LiveQuery, LiveAnswer>,
    ) -> Self {
        Self {
            placement,
            served,
            known,
            found: Vec::new(),
            own: placement.meta.namespace.clone(),
            selected: SelectedObjects::default(),
        }
    }

    fn is_namespaced(&self) -> bool {
        !self.placement.meta.namespace.is_empty()
    }

    /// The namespace whose objects are selected by the other selectors.
    fn find_namespace(&mut self) -> Result<(), SelectorProblem> {
        let selectors = self.placement.spec.selectors.iter();
        let mut selectors = selectors.filter(|it| is_namespace(it) && it.scope == WITH_SELECTORS);
        let Some(selector) = selectors.next().filter(|_| !self.is_namespaced()) else {
            return Ok(());
        };
        let Some(found) = self.fetch(selector)? else {
            return Ok(());
        };
        let mut found = found.into_iter();
        let found = found.find(|it| !left_out::is_reserved(text(it, &["metadata", "name"])));
        match found {
            Some(namespace) => text(namespace, &["metadata", "name"]).clone_into(&mut self.own),
            None if self.selected.gaps.is_empty() => {
                return Err(SelectorProblem::NoNamespaceSelected);
            }
            None => {}
        }
        Ok(())
    }

    fn follow(&mut self, at: usize, selector: &ResourceSelector) -> Result<(), SelectorProblem> {
        if is_disabled(&selector.group, &selector.version, &selector.kind) {
            self.selected.never_placed.push(selector.kind.clone());
            return Ok(());
        }
        if is_namespace(selector) && self.is_namespaced() {
            return Err(SelectorProblem::NamespaceInNamespacedPlacement);
        }
        let gaps = self.selected.gaps.len();
        let Some(found) = self.fetch(selector)? else {
            return Ok(());
        };
        if found.is_empty() && self.selected.gaps.len() == gaps {
            self.selected.unmatched.push(at);
        }
        let alone = [NAMESPACE_ONLY, WITH_SELECTORS].contains(&selector.scope.as_str());
        if !is_namespace(selector) || alone {
            self.take(found);
            return Ok(());
        }
        let name = |it: &&'g Value| text(it, &["metadata", "name"]);
        let reserved = found.iter().map(name).find(|it| left_out::is_reserved(it));
        if let Some(namespace) = reserved {
            return Err(SelectorProblem::NamespaceNotAllowed {
                namespace: namespace.to_owned(),
            });
        }
        // One that is being deleted goes with what it holds.
        let kept = found
            .iter()
            .filter(|it| it["metadata"]["deletionTimestamp"].is_null());
        let names: BTreeSet<_> = kept.map(name).map(str::to_owned).collect();
        self.take(found);
        self.take_content(&names);
        Ok(())
    }

    /// What namespaces hold.
    fn take_content(&mut self, namespaces: &BTreeSet<String>) {
        let kinds = self.served.iter();
        for kind in kinds.filter(|kind| kind.is_namespaced && kind.is_preferred) {
            let was_placed = was_placed(&kind.group, &kind.kind);
            if is_disabled(&kind.group, &kind.version, &kind.kind) && !was_placed {
                continue;
            }
            let found = self.in_namespaces(kind, namespaces);
            if was_placed {
                self.selected.of_hub.extend(found.into_iter().cloned());
            } else {
                self.take(found);
            }
        }
    }

    /// The objects of a kind in namespaces.
    fn in_namespaces(
        &mut self,
        kind: &ServedKind,
        namespaces: &BTreeSet<String>,
    ) -> Vec<&'g Value> {
        if namespaces.len() >= MANY {
            let all = self.ask(&LiveQuery::all(kind.clone(), ""));
            let there = |it: &&Value| namespaces.contains(text(it, &["metadata", "namespace"]));
            return all.unwrap_or_default().into_iter().filter(there).collect();
        }
        let mut found = Vec::new();
        for namespace in namespaces {
            let there = self.ask(&LiveQuery::all(kind.clone(), namespace));
            found.extend(there.unwrap_or_default());
        }
        found
    }

    /// The objects of a selector; `None` where they were not asked for yet.
    fn fetch(
        &mut self,
        selector: &ResourceSelector,
    ) -> Result<Option<Vec<&'g Value>>, SelectorProblem> {
        let kind = self.kind_of(selector)?;
        if !kind.is_namespaced && self.is_namespaced() {
            return Err(SelectorProblem::ClusterKindInNamespacedPlacement {
                resource: kind.plural.clone(),
            });
        }
        if kind.is_namespaced && self.own.is_empty() {
            // Another selector is to name the namespace, and it is not known yet.
            let selectors = self.placement.spec.selectors.iter();
            if selectors.clone().any(|it| it.scope == WITH_SELECTORS) {
                return Ok(None);
            }
            return Err(SelectorProblem::NamespacedKindInClusterPlacement {
                resource: kind.plural.clone(),
            });
        }
        let namespace = if kind.is_namespaced {
            self.own.as_str()
        } else {
            ""
        };
        let query = match (selector.name.as_str(), &selector.labels) {
            ("", None) => LiveQuery::all(kind.clone(), namespace),
            ("", Some(labels)) => {
                LiveQuery::with_labels(kind.clone(), namespace, labels.as_ref().clone())
            }
            (name, _) => LiveQuery::named(kind.clone(), namespace, name),
        };
        Ok(self.ask(&query))
    }

    fn kind_of(&self, selector: &ResourceSelector) -> Result<&'g ServedKind, SelectorProblem> {
        let wanted = |kind: &&ServedKind| {
            kind.is(&selector.group, &selector.kind) && kind.version == selector.version
        };
        let found = self.served.iter().find(wanted);
        found.ok_or_else(|| {
            let group = match selector.group.as_str() {
                "" => String::new(),
                group => format!("{group}/"),
            };
            let error = format!("{group}{} {}", selector.version, selector.kind);
            SelectorProblem::KindUnknown { error }
        })
    }

    fn ask(&mut self, query: &LiveQuery) -> Option<Vec<&'g Value>> {
        let Some(answer) = self.known.get(query) else {
            self.selected.needs.push(query.clone());
            return None;
        };
        if let Some(why) = answer.outcome.gap() {
            let what = match &query.which {
                QuerySelection::Named { name, .. } => format!("{} {name}", query.kind.kind),
                QuerySelection::All { .. } => query.kind.plural.clone(),
            };
            self.selected.gaps.insert((what, why));
            let kind = (query.kind.group.clone(), query.kind.kind.clone());
            self.selected.unread.insert(kind);
        }
        Some(answer.objects.iter().collect())
    }

    fn take(&mut self, found: Vec<&'g Value>) {
        for object in found {
            let services = self.services_for(object);
            if let Some(why) = why_left_out(object, services.as_deref()) {
                let object = ManifestKey::of(object);
                self.selected.left_out.push(LeftOut { object, why });
            } else {
                self.found.push(object);
            }
        }
    }

    /// For Endpoints, the Services beside them.
    fn services_for(&mut self, object: &Value) -> Option<Vec<&'g Value>> {
        if text(object, &["kind"]) != "Endpoints" {
            return None;
        }
        let service = self.served.iter().find(|kind| kind.is("", "Service"))?;
        let namespace = text(object, &["metadata", "namespace"]);
        let everywhere = LiveQuery::all(service.clone(), "");
        if self.known.contains_key(&everywhere) {
            return self.ask(&everywhere);
        }
        self.ask(&LiveQuery::all(service.clone(), namespace))
    }

    fn finish(mut self) -> Result<SelectedObjects, SelectorProblem> {
        self.selected.needs.sort();
        self.selected.needs.dedup();
        self.selected.left_out.sort();
        self.selected.left_out.dedup();
        if !self.selected.needs.is_empty() {
            return Ok(self.selected);
        }
        let mut seen = BTreeSet::new();
        for object in self.found {
            let manifest = trim::manifest(object);
            if !seen.insert(manifest.identity.clone()) {
                return Err(SelectorProblem::Duplicate {
                    resource: manifest.identity.describe(),
                });
            }
            self.selected.manifests.push(manifest);
        }
        self.selected.manifests.sort_by_cached_key(trim::place);
        Ok(self.selected)
    }
}

fn is_namespace(selector: &ResourceSelector) -> bool {
    selector.group.is_empty() && selector.version == "v1" && selector.kind == "Namespace"
}

fn labels_of(object: &Value) -> BTreeMap<String, String> {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    labels.filter_map(text).collect()
}

#[cfg(test)]
mod tests;
