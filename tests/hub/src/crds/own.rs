//! Our own CRDs, written out from `crds/*.yaml`; `crds/shared.yaml` says how those are to be read.

use serde_json::{Map, Value, json};

use super::{items, text};
use crate::{Error, context};

const SHARED: [&str; 2] = [
    include_str!("../../crds/shared.yaml"),
    include_str!("../../crds/stages.yaml"),
];
const KINDS: [&str; 10] = [
    include_str!("../../crds/updaterun.yaml"),
    include_str!("../../crds/strategy.yaml"),
    include_str!("../../crds/approvalrequest.yaml"),
    include_str!("../../crds/placement.yaml"),
    include_str!("../../crds/binding.yaml"),
    include_str!("../../crds/resourcesnapshot.yaml"),
    include_str!("../../crds/policysnapshot.yaml"),
    include_str!("../../crds/overridesnapshot.yaml"),
    include_str!("../../crds/work.yaml"),
    include_str!("../../crds/membercluster.yaml"),
];
/// The group of all kinds but those that name another.
const GROUP: &str = "placement.kubernetes-fleet.io";
/// What stores objects, where it is served.
const STORED: &str = "v1beta1";
const ALPHA: &str = "v1alpha1";

/// Of which time a hub is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Like {
    /// KubeFleet's main branch.
    Main,
    /// v0.1.2.
    Old,
    /// Before that: cluster-scoped runs, at v1alpha1.
    AlphaOnly,
}

/// All kinds.
pub(super) fn manifests(like: Like) -> Result<Vec<Value>, Error> {
    let mut shared = Map::new();
    for part in SHARED {
        shared.extend(read::<Map<String, Value>>(part)?);
    }
    let mut manifests = Vec::new();
    for family in KINDS {
        let family: Value = read(family)?;
        for (name, kind) in family["kinds"].as_object().into_iter().flatten() {
            let versions = versions(kind, like, family["staged"] == true);
            if !versions.is_empty() {
                let kind = Kind {
                    name,
                    own: kind,
                    family: &family,
                    like,
                };
                manifests.push(kind.manifest(&versions, &shared)?);
            }
        }
    }
    Ok(manifests)
}

fn read<T: serde::de::DeserializeOwned>(yaml: &str) -> Result<T, Error> {
    serde_saphyr::from_str(yaml).map_err(context("reading our CRDs".to_owned()))
}

fn versions(kind: &Value, like: Like, staged: bool) -> Vec<&str> {
    let versions = match like {
        Like::Old if kind["old"].is_array() => &kind["old"],
        _ => &kind["versions"],
    };
    let alone = staged && like == Like::AlphaOnly;
    items(versions)
        .map(text)
        .filter(|version| !alone || *version == ALPHA)
        .collect()
}

/// One kind, and what it shares with its sister in the other scope.
struct Kind<'k> {
    name: &'k str,
    own: &'k Value,
    family: &'k Value,
    like: Like,
}

impl Kind<'_> {
    fn manifest(&self, versions: &[&str], shared: &Map<String, Value>) -> Result<Value, Error> {
        let group = self.family["group"].as_str().unwrap_or(GROUP);
        let plural = text(&self.own["plural"]);
        let stored = if versions.contains(&STORED) {
            STORED
        } else {
            versions.first().copied().unwrap_or_default()
        };
        let mut entries = Vec::new();
        for version in versions {
            let mut entry = json!({
                "name": version, "served": true, "storage": *version == stored,
                "schema": {"openAPIV3Schema": self.schema(version, shared)?},
            });
            if self.own["status"] != false {
                entry["subresources"] = json!({"status": {}});
            }
            let columns = self.columns(version);
            if !columns.is_empty() {
                entry["additionalPrinterColumns"] = columns.into();
            }
            entries.push(entry);
        }
        let mut names = json!({
            "kind": self.name,
            "listKind": format!("{}List", self.name),
            "singular": self.name.to_lowercase(),
            "plural": plural,
            "categories": ["fleet", "fleet-placement"],
        });
        for (key, value) in [
            ("shortNames", &self.own["short"]),
            ("categories", &self.family["categories"]),
        ] {
            if value.is_array() {
                names[key] = value.clone();
            }
        }
        Ok(json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {
                "group": group, "scope": self.own["scope"], "names": names, "versions": entries,
            },
        }))
    }

    fn schema(&self, version: &str, shared: &Map<String, Value>) -> Result<Value, Error> {
        let mut places = vec![text(&self.own["scope"]).to_owned(), version.to_owned()];
        if self.like == Like::Old {
            places.extend(["old".to_owned(), format!("old {version}")]);
        }
        let schemas = Schemas { shared, places };
        let mut schema = schemas.expand(&self.family["schema"])?.unwrap_or_default();
        for (field, form) in [
            ("apiVersion", "string"),
            ("kind", "string"),
            ("metadata", "object"),
        ] {
            schema["properties"][field] = json!({"type": form});
        }
        Ok(schema)
    }

    fn columns(&self, version: &str) -> Vec<Value> {
        items(&self.family["columns"])
            .filter(|column| holds(&column["only"], |place| place == version))
            .map(|column| {
                let mut column = column.clone();
                column["jsonPath"] = text(&column["jsonPath"]).replace("KIND", self.name).into();
                if let Some(fields) = column.as_object_mut() {
                    fields.remove("only");
                }
                column
            })
            .collect()
    }
}

/// Whether a list of places, if any, has one that is meant.
fn holds(only: &Value, is: impl Fn(&str) -> bool) -> bool {
    only.is_null() || items(only).any(|place| is(text(place)))
}

/// What is written short, and where we are.
struct Schemas<'s> {
    shared: &'s Map<String, Value>,
    /// The scope and the version, and what is of its time; the later ones say the last word.
    places: Vec<String>,
}

impl Schemas<'_> {
    /// Writes a schema out; `None` where the field does not exist.
    fn expand(&self, short: &Value) -> Result<Option<Value>, Error> {
        let mut short = match short {
            Value::String(word) => return self.word(word).map(Some),
            Value::Object(fields) => fields.clone(),
            other => return Err(Error::Failed(format!("this is no schema: {other}"))),
        };
        let patches = short.remove("in").unwrap_or_default();
        for place in &self.places {
            merge(&mut short, &patches[place]);
        }
        let only = short.remove("only").unwrap_or_default();
        if !holds(&only, |place| self.places.iter().any(|own| own == place)) {
            return Ok(None);
        }
        let mut schema = match short.remove("use") {
            Some(used) => self.word(text(&used))?,
            None => json!({}),
        };
        if let Some(Value::Object(fields)) = short.remove("fields") {
            schema["type"] = "object".into();
            self.add_fields(&mut schema, &fields)?;
        }
        for (short_key, form, key) in [
            ("list", "array", "items"),
            ("map", "object", "additionalProperties"),
        ] {
            if let Some(of) = short.remove(short_key) {
                schema["type"] = form.into();
                schema[key] = self.expand(&of)?.unwrap_or_default();
            }
        }
        if let Some(keys) = short.remove("keys") {
            schema["x-kubernetes-list-type"] = "map".into();
            schema["x-kubernetes-list-map-keys"] = keys;
        }
        if let Some(Value::Object(rules)) = short.remove("rules") {
            let rules = rules
                .iter()
                .map(|(message, rule)| json!({"rule": rule, "message": message}));
            schema["x-kubernetes-validations"] = rules.collect();
        }
        for (key, value) in short {
            schema[key] = value;
        }
        Ok(Some(schema))
    }

    fn add_fields(&self, schema: &mut Value, fields: &Map<String, Value>) -> Result<(), Error> {
        let mut required: Vec<Value> = items(&schema["required"]).cloned().collect();
        for (name, field) in fields {
            let plain = name.trim_end_matches('!');
            if let Some(field) = self.expand(field)? {
                schema["properties"][plain] = field;
                if plain != name {
                    required.push(plain.into());
                }
            }
        }
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        Ok(())
    }

    fn word(&self, word: &str) -> Result<Value, Error> {
        if ["string", "integer", "boolean", "object"].contains(&word) {
            return Ok(json!({"type": word}));
        }
        let known = self.shared.get(word);
        let schema = known.map(|known| self.expand(known)).transpose()?.flatten();
        schema.ok_or_else(|| Error::Failed(format!("there is no schema {word}")))
    }
}

/// A merge patch.
fn merge(onto: &mut Map<String, Value>, patch: &Value) {
    for (key, value) in patch.as_object().into_iter().flatten() {
        match (onto.get_mut(key), value) {
            (_, Value::Null) => {
                onto.remove(key);
            }
            (Some(Value::Object(fields)), Value::Object(_)) => merge(fields, value),
            _ => {
                onto.insert(key.clone(), value.clone());
            }
        }
    }
}
