//! What was seen in member clusters, as a bundle carries it: one document for each cluster.
//!
//! Objects of several clusters may have one name, and Kubernetes' own kinds are not the hub's, so
//! they are wrapped:
//!
//! ```yaml
//! apiVersion: kubectl-fleet-stage/v1
//! kind: MemberObjects
//! cluster: member-2
//! outcome: looked            # or noWay, unreachable: then with a why and nothing else
//! reads:                     # what was asked; what no line covers is unknown
//! - {kind: Deployment, namespace: shop, name: web, outcome: listed}
//! - {kind: Pod, namespace: shop, labels: app=web, outcome: listed}
//! - {kind: Event, namespace: shop, outcome: denied, why: …}
//! items: […]
//! ```

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::error::FilePlace;
use crate::kubefleet::kind::group_of;
use crate::kubefleet::object::OWN_API_VERSION;
use crate::mask;
use crate::member::{
    MemberGap, MemberKind, MemberObject, MemberObservation, MemberQuery, Outcome, QuerySelection,
};

/// The kind of such a document.
pub(super) const KIND: &str = "MemberObjects";

/// Reads the documents of that kind. What is odd in one costs that, and is worth a warning.
pub(super) fn read(
    documents: Vec<(FilePlace, Value)>,
    warnings: &mut Vec<String>,
) -> BTreeMap<String, MemberObservation> {
    let mut documents = documents;
    // Of two documents about one cluster the same one counts, whatever their order.
    documents.sort_by_cached_key(|(_, fields)| fields.to_string());
    documents.dedup_by(|(_, a), (_, b)| a == b);
    let mut looks: BTreeMap<String, MemberObservation> = BTreeMap::new();
    for (place, fields) in documents {
        let cluster = text(&fields, "cluster");
        if cluster.is_empty() {
            warnings.push(format!(
                "{place}: skipped a document of kind `{KIND}` without a cluster"
            ));
            continue;
        }
        let look = parse_member(&place, &fields, warnings);
        match looks.get_mut(&cluster) {
            None => {
                looks.insert(cluster, look);
            }
            Some(known) => merge(known, look),
        }
    }
    looks
}

fn merge(known: &mut MemberObservation, other: MemberObservation) {
    if other.closed.is_some() {
        return;
    }
    known.closed = None;
    known.absorb_all(other.objects);
    for (query, outcome) in other.reads {
        match known.reads.get_mut(&query) {
            Some(first) if *first == Outcome::Listed => *first = outcome,
            Some(_) => {}
            None => {
                known.reads.insert(query, outcome);
            }
        }
    }
}

fn parse_member(
    place: &FilePlace,
    fields: &Value,
    warnings: &mut Vec<String>,
) -> MemberObservation {
    let why = || mask::prose(&text(fields, "why")).into_owned();
    match text(fields, "outcome").as_str() {
        "looked" | "" => {}
        "unreachable" => return MemberObservation::closed(MemberGap::Unreachable(why())),
        "noWay" => return MemberObservation::closed(MemberGap::NoWay(why())),
        other => {
            warnings.push(format!(
                "{place}: a document of kind `{KIND}` has an unknown outcome `{other}`, so that \
                 cluster's state is unknown"
            ));
            return MemberObservation::closed(MemberGap::NoWay(format!(
                "unknown outcome `{other}`"
            )));
        }
    }
    let mut look = MemberObservation::default();
    for entry in fields["reads"].as_array().into_iter().flatten() {
        match read_entry(entry) {
            Some((query, outcome)) => {
                look.reads.insert(query, outcome);
            }
            None => warnings.push(format!(
                "{place}: skipped an entry of a document of kind `{KIND}`: {entry}"
            )),
        }
    }
    let items = fields["items"].as_array().into_iter().flatten();
    let objects = items.filter_map(|item| {
        let api_version = text(item, "apiVersion");
        let kind = MemberKind::find(group_of(&api_version), &text(item, "kind"))?;
        // The reader is lenient: it fails on broken syntax only, and this has been read.
        let object = MemberObject::read(kind, item).ok()?;
        (!object.meta().name.is_empty()).then_some(object)
    });
    look.absorb_all(objects);
    look
}

fn read_entry(entry: &Value) -> Option<(MemberQuery, Outcome)> {
    let kind = text(entry, "kind");
    let kind = MemberKind::ALL.iter().copied().find(|k| k.name() == kind)?;
    let (name, labels, why) = (
        text(entry, "name"),
        text(entry, "labels"),
        mask::prose(&text(entry, "why")).into_owned(),
    );
    let read = entry["read"].as_u64();
    let read = read.and_then(|read| usize::try_from(read).ok());
    let word = text(entry, "outcome");
    let outcome = Outcome::of_word(&word, why, read.unwrap_or_default())?;
    let namespace = text(entry, "namespace");
    let query = match (name.is_empty(), labels.is_empty()) {
        (false, _) => MemberQuery::named(kind, &namespace, &name),
        (true, false) => MemberQuery::with_labels(kind, &namespace, labels),
        (true, true) => MemberQuery::all(kind, &namespace),
    };
    Some((query, outcome))
}

fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// A value that was masked.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct MaskEntry {
    /// The member cluster of the object; absent for an object on the hub.
    #[serde(skip_serializing_if = "String::is_empty")]
    cluster: String,
    /// The kind of the object.
    kind: &'static str,
    /// Its namespace; absent for cluster-scoped kinds.
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    /// Its name.
    name: String,
    /// Where in the object.
    path: String,
}

impl MaskEntry {
    pub(super) fn mask(
        object: &mut Value,
        cluster: &str,
        kind: &'static str,
        namespace: &str,
        name: &str,
    ) -> Vec<Self> {
        let entry = |path| Self {
            cluster: cluster.to_owned(),
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            path,
        };
        mask::mask(object).into_iter().map(entry).collect()
    }
}

/// What was read in a member cluster, in a bundle.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MemberObjects")]
pub struct MemberDocument {
    /// Always `kubectl-fleet-stage/v1`.
    api_version: &'static str,
    /// What the document is.
    kind: &'static str,
    /// The member cluster.
    cluster: String,
    /// The outcome of the reads.
    outcome: &'static str,
    /// Why the read failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    why: String,
    /// What was read, and the outcome.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reads: Vec<Value>,
    /// The objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Value>,
    /// What was masked: in which object of the cluster, and where.
    #[serde(skip)]
    pub(super) masked: Vec<MaskEntry>,
}

/// Writes what was seen in a cluster. `texts` are the objects as the server gave them; what the
/// diagnosis never reads and may hold secrets (environments, commands, the copies of the whole
/// object that kubectl and the server keep) is left out.
pub fn document(
    cluster: &str,
    look: &MemberObservation,
    texts: &BTreeMap<(MemberKind, String, String), Box<serde_json::value::RawValue>>,
    show_secrets: bool,
) -> MemberDocument {
    let mut document = MemberDocument {
        api_version: OWN_API_VERSION,
        kind: KIND,
        cluster: cluster.to_owned(),
        outcome: match &look.closed {
            None => "looked",
            Some(MemberGap::NoWay(_)) => "noWay",
            Some(MemberGap::Unreachable(_)) => "unreachable",
        },
        why: String::new(),
        reads: Vec::new(),
        items: Vec::new(),
        masked: Vec::new(),
    };
    if let Some(closed) = &look.closed {
        closed.why().clone_into(&mut document.why);
        return document;
    }
    document.reads = look.reads.iter().map(write_entry).collect();
    for ((kind, namespace, name), text) in texts {
        let Ok(mut item) = serde_json::from_str::<Value>(text.get()) else {
            continue;
        };
        if !show_secrets {
            prune(&mut item);
            let masked = MaskEntry::mask(&mut item, cluster, kind.name(), namespace, name);
            document.masked.extend(masked);
        }
        // In a list, the server leaves out what they are.
        if let Value::Object(fields) = &mut item {
            fields.insert("apiVersion".into(), json!(kind.api_version()));
            fields.insert("kind".into(), json!(kind.name()));
        }
        document.items.push(item);
    }
    document
}

fn write_entry((query, outcome): (&MemberQuery, &Outcome)) -> Value {
    let mut entry = Map::new();
    entry.insert("kind".into(), json!(query.kind.name()));
    let (namespace, more) = match &query.which {
        QuerySelection::Named { namespace, name } => (Some(namespace), Some(("name", name))),
        QuerySelection::All { namespace, labels } => {
            let labels = labels.as_ref().map(|labels| ("labels", labels));
            (namespace.as_ref(), labels)
        }
    };
    if let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) {
        entry.insert("namespace".into(), json!(namespace));
    }
    if let Some((key, value)) = more {
        entry.insert(key.into(), json!(value));
    }
    let (word, why) = outcome.word();
    entry.insert("outcome".into(), json!(word));
    if let Outcome::Cut(read) = outcome {
        entry.insert("read".into(), json!(read));
    }
    if !why.is_empty() {
        entry.insert("why".into(), json!(why));
    }
    Value::Object(entry)
}

/// Takes out what no rule reads and what often holds secrets.
fn prune(item: &mut Value) {
    if let Some(meta) = item.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.remove("managedFields");
        if let Some(annotations) = meta.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        }
    }
    let in_pod = |spec: &mut Value| {
        for key in ["containers", "initContainers", "ephemeralContainers"] {
            let containers = spec.get_mut(key).and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten() {
                if let Some(container) = container.as_object_mut() {
                    for key in ["env", "command", "args"] {
                        container.remove(key);
                    }
                }
            }
        }
    };
    if let Some(spec) = item.get_mut("spec") {
        in_pod(spec);
        // The template is in the pods, as far as it is read.
        if let Some(spec) = spec.as_object_mut()
            && spec.contains_key("selector")
        {
            spec.remove("template");
        }
    }
}
