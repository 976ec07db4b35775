//! The path of every evidence entry leads, in the object that it names, to the value that it gives.

use std::collections::{BTreeMap, BTreeSet};

use kubectl_fleet_stage::kubefleet::Condition;
use kubectl_fleet_stage::kubefleet::binding::{FailedPlacement, FieldDifference};
use kubectl_fleet_stage::kubefleet::describe_object;
use kubectl_fleet_stage::kubefleet::override_names::NamespacedName;
use kubectl_fleet_stage::kubefleet::placement::ResourceSelector;
use kubectl_fleet_stage::kubefleet::run::ClusterStatus;
use kubectl_fleet_stage::kubefleet::selector::LabelSelector;
use kubectl_fleet_stage::kubefleet::strategy::Task;
use kubectl_fleet_stage::kubefleet::tolerant::{LenientRead, LenientSeed};
use kubectl_fleet_stage::kubefleet::work::ManifestStatus;
use kubectl_fleet_stage::mask;
use kubectl_fleet_stage::member::pods::{ContainerTerminated, ContainerWaiting};
use kubectl_fleet_stage::report::{
    ABSENT, Evidence, HubAndMember, ShownValue, Subject, with_condition,
};
use serde::de::DeserializeSeed;
use serde_json::Value;

use super::fixtures::{documents, text, yaml_files};
use super::{one_of_each_folder, reports, reports_of_change};

/// The objects of a bundle as they stand in the file, but for what is masked.
struct Objects {
    /// The kinds of which all objects are there.
    listed: Vec<String>,
    hub: Vec<Value>,
    members: BTreeMap<String, Vec<Value>>,
}

fn list(value: &Value, field: &str) -> Vec<Value> {
    value[field].as_array().cloned().unwrap_or_default()
}

fn version(object: &Value) -> (i64, u64) {
    let generation = object
        .pointer("/metadata/generation")
        .and_then(Value::as_i64);
    let version = text(object, "/metadata/resourceVersion")
        .parse()
        .unwrap_or_default();
    (generation.unwrap_or_default(), version)
}

impl Objects {
    fn new(text_of_file: &str) -> Self {
        let (mut hub, mut members) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
        let mut listed = Vec::new();
        for document in documents(text_of_file) {
            match text(&document, "/kind") {
                "MemberObjects" => members
                    .entry(text(&document, "/cluster").to_owned())
                    .or_default()
                    .extend(list(&document, "items")),
                "Bundle" => listed.extend(list(&document, "kinds").iter().filter_map(|kind| {
                    let listed = text(kind, "/outcome") == "listed";
                    listed.then(|| text(kind, "/kind").to_owned())
                })),
                kind if kind.ends_with("List") => hub.extend(list(&document, "items")),
                _ => hub.push(document),
            }
        }
        let mut all = hub.iter_mut().chain(members.values_mut().flatten());
        all.by_ref().for_each(|object| {
            mask::mask(object);
        });
        Self {
            listed,
            hub,
            members,
        }
    }

    fn find(&self, cluster: Option<&str>, subject: &Subject) -> Option<&Value> {
        let objects = match cluster {
            Some(cluster) => self.members.get(cluster)?,
            None => &self.hub,
        };
        let named = objects.iter().filter(|object| is_named(object, subject));
        named.max_by_key(|object| version(object))
    }
}

fn is_named(object: &Value, subject: &Subject) -> bool {
    text(object, "/kind") == subject.kind
        && text(object, "/metadata/name") == subject.name
        && text(object, "/metadata/namespace") == subject.namespace
}

/// `a.b[type=X].c` as its steps.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (inside, after) = inner.split_once(']')?;
            steps.push(match inside.split_once('=') {
                _ if inside.is_empty() => Step::Every,
                Some((field, value)) => Step::Where(field, value),
                None => Step::At(inside),
            });
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(Step::Field(&rest[..end]));
            rest = &rest[end..];
        }
        rest = match rest.strip_prefix('.') {
            Some("") => return None,
            Some(after) if !after.starts_with(['.', '[']) => after,
            Some(_) => return None,
            None => rest,
        };
    }
    Some(steps)
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Field(&'p str),
    At(&'p str),
    Where(&'p str, &'p str),
    Every,
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(yes) => Some(yes.to_string()),
        _ => None,
    }
}

impl Step<'_> {
    fn take(self, value: &Value) -> Vec<&Value> {
        match self {
            Self::Field(name) => value.get(name).into_iter().collect(),
            Self::At(key) => match value {
                Value::Array(items) => key.parse().ok().and_then(|at: usize| items.get(at)),
                other => other.get(key),
            }
            .into_iter()
            .collect(),
            Self::Where(field, wanted) => match value {
                Value::Array(items) => items
                    .iter()
                    .filter(|item| item.get(field).and_then(scalar).as_deref() == Some(wanted))
                    .collect(),
                _ => Vec::new(),
            },
            Self::Every => match value {
                Value::Array(items) => items.iter().collect(),
                Value::Object(fields) => fields.values().collect(),
                _ => Vec::new(),
            },
        }
    }
}

fn resolve<'v>(object: &'v Value, path: &str) -> Result<Vec<&'v Value>, String> {
    let steps = steps(path).ok_or("no path")?;
    let mut found = vec![object];
    for step in steps {
        found = found
            .into_iter()
            .flat_map(|value| step.take(value))
            .collect();
    }
    Ok(found)
}

fn read_as<T: LenientRead>(value: &Value) -> T {
    LenientSeed::default().deserialize(value).unwrap()
}

/// The forms in which a value may be given.
fn forms(value: &Value) -> Vec<String> {
    if let Some(scalar) = scalar(value) {
        return vec![scalar];
    }
    let mut forms = match value {
        Value::Array(_) => vec![
            read_as::<Vec<String>>(value).shown(),
            read_as::<Vec<Task>>(value).shown(),
            read_as::<Vec<ClusterStatus>>(value).shown(),
            read_as::<Vec<NamespacedName>>(value).shown(),
        ],
        _ => vec![
            read_as::<BTreeMap<String, String>>(value).shown(),
            read_as::<Condition>(value).shown(),
            read_as::<FailedPlacement>(value).shown(),
            read_as::<ResourceSelector>(value).shown(),
            read_as::<ContainerTerminated>(value).shown(),
            read_as::<ContainerWaiting>(value).shown(),
        ],
    };
    let selector = read_as::<LabelSelector>(value);
    let is_empty = value.as_object().is_some_and(|fields| {
        let empty = |field: &Value| is_empty(field);
        fields.values().all(empty)
    });
    if !selector.is_empty() || is_empty {
        forms.push(selector.shown());
    }
    let field = read_as::<FieldDifference>(value);
    for kind in ["Deployment", "Secret"] {
        forms.push(
            HubAndMember {
                kind,
                field: &field,
            }
            .shown(),
        );
    }
    let status = read_as::<ManifestStatus>(value);
    forms.extend(status.conditions.iter().map(|condition| {
        let id = &status.id;
        let object = describe_object(&id.kind, &id.namespace, &id.name);
        with_condition(&object, condition)
    }));
    forms
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// What is wrong with an entry.
fn judge(objects: &Objects, evidence: &Evidence) -> Result<(), String> {
    let Some(object) = objects.find(evidence.cluster.as_deref(), &evidence.object) else {
        let listed = evidence.cluster.is_some() || objects.listed.contains(&evidence.object.kind);
        let told = evidence.value == ABSENT && evidence.path == "metadata.name";
        return (told && listed)
            .then_some(())
            .ok_or("there is no such object".to_owned());
    };
    if evidence.computed {
        for path in evidence.path.split(", ") {
            if resolve(object, path)?.is_empty() {
                return Err(format!("computed from nothing: {path}"));
            }
        }
        return Ok(());
    }
    let found = resolve(object, &evidence.path)?;
    if evidence.value == ABSENT && found.iter().all(|value| is_empty(value)) {
        return Ok(());
    }
    let told = match found.as_slice() {
        [] => return Err("leads to nothing".to_owned()),
        // Stages may have one name.
        [one, rest @ ..] if rest.iter().all(|it| it == one) => forms(one),
        several => {
            let each: Option<Vec<_>> = several.iter().map(|value| scalar(value)).collect();
            each.map(|each| each.join(", ")).into_iter().collect()
        }
    };
    let fits = told.contains(&evidence.value);
    fits.then_some(()).ok_or(format!("is {found:?}"))
}

/// What is wrong with the evidence of all reports about a bundle, one line for each entry.
fn wrong(text: &str) -> Vec<String> {
    let objects = Objects::new(text);
    let mut wrong = Vec::new();
    for (target, report) in reports_of_change(text) {
        for finding in &report.findings {
            for evidence in &finding.evidence {
                if let Err(why) = judge(&objects, evidence) {
                    wrong.push(format!(
                        "{}, {} of {target}: {} {}\n    {why}",
                        finding.code,
                        evidence.object,
                        evidence.label(),
                        evidence.value
                    ));
                }
            }
        }
    }
    wrong
}

fn bundles() -> Vec<(String, String)> {
    yaml_files(&["tests/findings", "tests/healthy", "tests/real", "examples"])
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path.display().to_string(), text)
        })
        .collect()
}

#[test]
fn evidence_resolves() {
    let mut all = Vec::new();
    for (path, text) in bundles() {
        let wrong = wrong(&text);
        all.extend(wrong.iter().map(|wrong| format!("{path}: {wrong}")));
    }
    assert!(all.is_empty(), "{}:\n{}", all.len(), all.join("\n"));
}

/// Takes away what a path leads to; how much there was.
fn take_away(value: &mut Value, steps: &[Step<'_>]) -> usize {
    let Some((step, rest)) = steps.split_first() else {
        return 0;
    };
    let last = rest.is_empty();
    match (step, value) {
        (Step::Field(key) | Step::At(key), Value::Object(fields)) => {
            if last {
                return usize::from(fields.remove(*key).is_some());
            }
            fields
                .get_mut(*key)
                .map_or(0, |value| take_away(value, rest))
        }
        (step, Value::Array(items)) => {
            let count = items.len();
            let is = |at: usize, item: &Value| match step {
                Step::At(wanted) => wanted.parse() == Ok(at),
                Step::Where(field, wanted) => {
                    item.get(*field).and_then(scalar).as_deref() == Some(*wanted)
                }
                Step::Every => true,
                Step::Field(_) => false,
            };
            if last {
                let mut at = 0..;
                items.retain(|item| !is(at.next().unwrap(), item));
                return count - items.len();
            }
            let found = items.iter_mut().enumerate();
            let found = found.filter(|(at, item)| is(*at, item));
            found.map(|(_, item)| take_away(item, rest)).sum()
        }
        _ => 0,
    }
}

/// The bundle without what an entry points to.
fn without(documents: &[Value], evidence: &Evidence, path: &str) -> Option<String> {
    let steps = steps(path)?;
    let mut documents = documents.to_vec();
    let mut taken = 0;
    for document in &mut documents {
        let of_member = text(document, "/kind") == "MemberObjects";
        let cluster = of_member.then(|| text(document, "/cluster").to_owned());
        if cluster != evidence.cluster {
            continue;
        }
        let items = match document.get_mut("items").and_then(Value::as_array_mut) {
            Some(items) => items.iter_mut().collect(),
            None => vec![document],
        };
        let items = items
            .into_iter()
            .filter(|object| is_named(object, &evidence.object));
        taken += items.map(|object| take_away(object, &steps)).sum::<usize>();
    }
    let texts: Vec<_> = documents.iter().map(Value::to_string).collect();
    (taken > 0).then(|| texts.join("\n---\n"))
}

/// What no API server takes an object without.
const REQUIRED: [&str; 4] = [".name", ".clusterName", ".placementName", "].ready"];

/// The same for a bundle in which any field is missing that is given as evidence: a default of ours
/// is nothing that stands in an object.
#[test]
fn evidence_resolves_where_fields_are_missing() {
    let mut all = BTreeSet::new();
    let mut count = 0;
    for path in one_of_each_folder() {
        let text = std::fs::read_to_string(&path).unwrap();
        let documents = documents(&text);
        let reports = reports(&text);
        let findings = reports.iter().flat_map(|(_, report)| &report.findings);
        let mut tried = BTreeSet::new();
        for evidence in findings.flat_map(|finding| &finding.evidence) {
            for one in evidence.path.split(", ") {
                if REQUIRED.iter().any(|field| one.ends_with(field)) {
                    continue;
                }
                let key = (
                    evidence.object.clone(),
                    evidence.cluster.clone(),
                    one.to_owned(),
                );
                let Some(text) = tried
                    .insert(key)
                    .then(|| without(&documents, evidence, one))
                    .flatten()
                else {
                    continue;
                };
                count += 1;
                all.extend(wrong(&text).into_iter().map(|wrong| {
                    format!(
                        "{} without {one} of {}: {wrong}",
                        path.display(),
                        evidence.object
                    )
                }));
            }
        }
    }
    let all: Vec<_> = all.into_iter().collect();
    assert!(
        all.is_empty(),
        "{} in {count}:\n{}",
        all.len(),
        all.join("\n")
    );
    assert!(count > 400, "{count}");
}
