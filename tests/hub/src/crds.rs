//! The CRDs of a hub: our own, or those that KubeFleet publishes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kube::Client;
use serde_json::{Map, Value, json};

use crate::{Error, TestHub, context};

const KINDS: &str = include_str!("../crds/kinds.yaml");
const SCHEMAS: &str = include_str!("../crds/schemas.yaml");
const GROUP: &str = "placement.kubernetes-fleet.io";

/// Names the folder that holds KubeFleet's published CRDs, one folder for each version.
pub const FOLDER: &str = "FLEET_STAGE_CRDS_DIR";
/// Names the version whose published CRDs a hub gets instead of our own, or `alpha`.
pub const VERSION: &str = "FLEET_STAGE_CRDS";

/// How long the server may take to serve new kinds.
const PATIENCE: Duration = Duration::from_mins(1);

/// Which CRDs a hub has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Crds {
    /// Ours: as at KubeFleet's current main branch, as far as a client depends on it.
    Own,
    /// Ours, with staged update runs at v1alpha1 alone, which knows no `spec.state`.
    OwnAlphaOnly,
    /// KubeFleet's, of a version: `head`, `v0.3.1`.
    Published(String),
}

impl Crds {
    /// What the environment asks for; ours when it asks for nothing.
    pub fn from_environment() -> Self {
        match std::env::var(VERSION) {
            Err(_) => Self::Own,
            Ok(version) if version.is_empty() => Self::Own,
            Ok(version) if version == "alpha" => Self::OwnAlphaOnly,
            Ok(version) => Self::Published(version),
        }
    }

    /// The manifests.
    pub fn manifests(&self) -> Result<Vec<Value>, Error> {
        match self {
            Self::Own => own(false),
            Self::OwnAlphaOnly => own(true),
            Self::Published(version) => published(version),
        }
    }
}

impl TestHub {
    /// Installs CRDs on the hub, and waits until it serves them.
    pub async fn install(&self, crds: &Crds) -> Result<(), Error> {
        install(&self.client().await?, &crds.manifests()?).await
    }
}

/// Installs CRDs, and waits until they are served.
pub async fn install(client: &Client, manifests: &[Value]) -> Result<(), Error> {
    const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for manifest in manifests {
        let name = manifest["metadata"]["name"].as_str().unwrap_or_default();
        let doing = || format!("installing {name}");
        let body = serde_json::to_vec(manifest).map_err(context(doing()))?;
        let request = http::Request::post(PATH)
            .header("content-type", "application/json")
            .body(body)
            .map_err(context(doing()))?;
        client
            .request::<Value>(request)
            .await
            .map_err(context(doing()))?;
    }
    let begun = Instant::now();
    for manifest in manifests {
        let spec = &manifest["spec"];
        let version = items(&spec["versions"]).find(|version| version["storage"] == true);
        let path = format!(
            "/apis/{}/{}/{}",
            text(&spec["group"]),
            text(&version.unwrap_or(&Value::Null)["name"]),
            text(&spec["names"]["plural"])
        );
        loop {
            let request = http::Request::get(&path).body(Vec::new());
            let request = request.map_err(context(format!("asking for {path}")))?;
            match client.request::<Value>(request).await {
                Ok(_) => break,
                Err(error) if begun.elapsed() > PATIENCE => {
                    return Err(Error::Failed(format!("{path} is not served: {error}")));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }
    Ok(())
}

/// The folder of a version's published CRDs, when it is there.
pub fn published_folder(version: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(FOLDER).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/crds"),
        PathBuf::from,
    );
    Some(folder.join(version)).filter(|folder| folder.is_dir())
}

fn published(version: &str) -> Result<Vec<Value>, Error> {
    let Some(folder) = published_folder(version) else {
        return Err(Error::Missing(format!(
            "KubeFleet's published CRDs of {version} are not there; {FOLDER} names their folder"
        )));
    };
    let doing = || format!("reading {}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(context(doing()))? {
        let path = entry.map_err(context(doing()))?.path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            paths.push(path);
        }
    }
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let doing = || format!("reading {}", path.display());
            let text = std::fs::read_to_string(path).map_err(context(doing()))?;
            let mut manifest: Value = serde_saphyr::from_str(&text).map_err(context(doing()))?;
            if let Some(fields) = manifest.as_object_mut() {
                fields.remove("status");
            }
            Ok(manifest)
        })
        .collect()
}

fn own(alpha_only: bool) -> Result<Vec<Value>, Error> {
    let kinds: Vec<Value> =
        serde_saphyr::from_str(KINDS).map_err(context("reading kinds.yaml".to_owned()))?;
    let schemas: Value =
        serde_saphyr::from_str(SCHEMAS).map_err(context("reading schemas.yaml".to_owned()))?;
    kinds
        .iter()
        // The namespaced kinds of staged runs came later: a hub of that time has none.
        .filter(|kind| {
            let alpha = items(&kind["versions"]).any(|version| version == "v1alpha1");
            !alpha_only || alpha || !is_staged(kind)
        })
        .map(|kind| manifest(kind, &schemas, alpha_only))
        .collect()
}

fn manifest(kind: &Value, schemas: &Value, alpha_only: bool) -> Result<Value, Error> {
    let name = text(&kind["kind"]);
    let singular = name.to_lowercase();
    let plural = match singular.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{singular}s"),
    };
    let group = kind["group"].as_str().unwrap_or(GROUP);
    let schema_name = text(&kind["schema"]);
    let mut schema = expand(&schemas[schema_name], schemas)?;
    let fields = schema["properties"]
        .as_object_mut()
        .ok_or_else(|| Error::Failed(format!("{name} has no schema {schema_name}")))?;
    for (field, form) in [
        ("apiVersion", "string"),
        ("kind", "string"),
        ("metadata", "object"),
    ] {
        fields.insert(field.to_owned(), json!({"type": form}));
    }
    let mut versions: Vec<_> = items(&kind["versions"]).map(text).collect();
    if alpha_only && is_staged(kind) {
        versions.retain(|version| *version == "v1alpha1");
        if let Some(spec) = schema.pointer_mut("/properties/spec")
            && schema_name == "run"
        {
            if let Some(fields) = spec["properties"].as_object_mut() {
                fields.remove("state");
            }
            if let Some(spec) = spec.as_object_mut() {
                spec.remove("x-kubernetes-validations");
            }
        }
    }
    let category = kind["category"].as_str().unwrap_or("fleet-placement");
    let versions: Vec<_> = versions
        .iter()
        .enumerate()
        .map(|(place, version)| {
            let mut entry = json!({
                "name": version, "served": true, "storage": place == 0,
                "schema": {"openAPIV3Schema": schema},
            });
            if kind["status"] == true {
                entry["subresources"] = json!({"status": {}});
            }
            entry
        })
        .collect();
    Ok(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "scope": if kind["namespaced"] == true { "Namespaced" } else { "Cluster" },
            "names": {
                "kind": name, "listKind": format!("{name}List"), "singular": singular,
                "plural": plural, "shortNames": kind["short"], "categories": ["fleet", category],
            },
            "versions": versions,
        },
    }))
}

/// Whether a kind is one of staged update runs.
fn is_staged(kind: &Value) -> bool {
    ["run", "strategy", "approval"].contains(&text(&kind["schema"]))
}

/// Writes a schema out in full.
fn expand(short: &Value, all: &Value) -> Result<Value, Error> {
    let fields = match short {
        Value::String(word) => return word_of(word, all),
        Value::Object(fields) => fields,
        other => return Err(Error::Failed(format!("this is no schema: {other}"))),
    };
    let own = |key: &str| fields.get(&format!("${key}"));
    let mut schema = Map::new();
    let mut properties = Map::new();
    for (name, field) in fields.iter().filter(|(name, _)| !name.starts_with('$')) {
        properties.insert(name.clone(), expand(field, all)?);
    }
    for key in [
        "type",
        "format",
        "enum",
        "default",
        "pattern",
        "required",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
    ] {
        if let Some(value) = own(key) {
            schema.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(rules) = own("rules") {
        let rules = items(rules).map(|rule| json!({"rule": rule[0], "message": rule[1]}));
        schema.insert("x-kubernetes-validations".to_owned(), rules.collect());
    }
    if let Some(of) = own("items") {
        schema.insert("type".to_owned(), "array".into());
        schema.insert("items".to_owned(), expand(of, all)?);
    } else if let Some(of) = own("values") {
        schema.insert("type".to_owned(), "object".into());
        schema.insert("additionalProperties".to_owned(), expand(of, all)?);
    } else if own("intOrString").is_some() {
        schema.insert("x-kubernetes-int-or-string".to_owned(), true.into());
    } else if own("embedded").is_some() {
        schema.insert("type".to_owned(), "object".into());
        schema.insert("x-kubernetes-embedded-resource".to_owned(), true.into());
        schema.insert(
            "x-kubernetes-preserve-unknown-fields".to_owned(),
            true.into(),
        );
    } else if own("type").is_none() {
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
    }
    if let Some(key) = own("map") {
        schema.insert("x-kubernetes-list-type".to_owned(), "map".into());
        schema.insert("x-kubernetes-list-map-keys".to_owned(), json!([key]));
    }
    if let Some(list) = own("list") {
        schema.insert("x-kubernetes-list-type".to_owned(), list.clone());
    }
    Ok(schema.into())
}

fn word_of(word: &str, all: &Value) -> Result<Value, Error> {
    Ok(match word {
        "string" | "integer" | "boolean" => json!({"type": word}),
        "date-time" => json!({"type": "string", "format": "date-time"}),
        "strings" => json!({"type": "array", "items": {"type": "string"}}),
        "any" => json!({"x-kubernetes-preserve-unknown-fields": true}),
        _ => match word.strip_prefix('=').map(|name| &all[name]) {
            Some(definition) if !definition.is_null() => return expand(definition, all),
            _ => return Err(Error::Failed(format!("there is no schema {word}"))),
        },
    })
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
