//! Writing a bundle: the header, then every object as a YAML document of its own.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::members;
use crate::inventory::Walk;
use crate::inventory::source::Outcome;
use crate::kubefleet::object::OWN_API_VERSION;
use crate::kubefleet::{Kind, ObjectRef};
use crate::mask;
use crate::words::yaml;

/// What a collector could see.
#[derive(Debug, Clone)]
pub struct NewHeader {
    collected_at: Timestamp,
    target: ObjectRef,
    outcomes: BTreeMap<Kind, Outcome>,
    /// The names that were asked for, of the kinds that were not listed.
    names: BTreeMap<Kind, BTreeSet<String>>,
    /// The values that the hub's schema allows for `spec.state`; `None` when nobody could look.
    pub run_states: Option<Vec<String>>,
    /// The kinds and versions that the hub serves.
    pub served: Vec<String>,
}

impl NewHeader {
    /// A header for what was collected around a target.
    pub fn new(collected_at: Timestamp, target: ObjectRef, walk: &Walk) -> Self {
        Self {
            collected_at,
            target,
            outcomes: walk.outcomes(),
            names: walk.names_asked(),
            run_states: None,
            served: Vec::new(),
        }
    }

    fn kinds(&self) -> Vec<KindEntry> {
        let entry = |(kind, outcome): (&Kind, &Outcome)| {
            let (word, why) = outcome.word();
            let names = self.names.get(kind).into_iter().flatten();
            KindEntry {
                kind: kind.name(),
                outcome: match outcome {
                    // As the first bundles have it.
                    Outcome::NotServed => "notInstalled",
                    _ => word,
                },
                names: names.cloned().collect(),
                why: why.to_owned(),
            }
        };
        self.outcomes.iter().map(entry).collect()
    }
}

/// The header of a bundle: what its collector could read.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Bundle")]
struct HeaderDocument<'h> {
    /// Always `kubectl-fleet-stage/v1`.
    api_version: &'static str,
    /// Always `Bundle`.
    kind: &'static str,
    /// When the objects were read. A diagnosis of the bundle uses this time.
    collected_at: String,
    /// What it was collected for.
    target: Target<'h>,
    /// How many objects of the hub follow.
    objects: usize,
    /// What is known about the hub.
    hub: HeaderHub<'h>,
    /// The outcome of reading each kind.
    kinds: Vec<KindEntry>,
    /// The values that were masked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    masked: Vec<MaskEntry>,
}

/// The JSON schema of a bundle's header.
pub fn schema(generator: schemars::SchemaGenerator) -> schemars::Schema {
    generator.into_root_schema_for::<HeaderDocument<'_>>()
}

/// An update run or a placement.
#[derive(Serialize, JsonSchema)]
struct Target<'h> {
    /// Its kind.
    kind: &'static str,
    /// Its namespace; absent for cluster-scoped kinds.
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'h str,
    /// Its name.
    name: &'h str,
}

impl<'h> From<&'h ObjectRef> for Target<'h> {
    fn from(object: &'h ObjectRef) -> Self {
        Self {
            kind: object.kind.name(),
            namespace: &object.namespace,
            name: &object.name,
        }
    }
}

/// What is known about the hub.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Hub")]
struct HeaderHub<'h> {
    /// The values that its schema allows for `spec.state`; absent if the schema could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_states: Option<&'h [String]>,
    /// The kinds and versions that it serves.
    served: &'h [String],
}

/// The outcome of reading a kind.
#[derive(Serialize, JsonSchema)]
struct KindEntry {
    /// The kind.
    kind: &'static str,
    /// `listed`, `denied`, `notInstalled`, `failed` or `notCollected`.
    outcome: &'static str,
    /// The objects that were asked for, as NAME or NAMESPACE/NAME; absent if the kind was listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    /// Why the read failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    why: String,
}

/// A value that was masked.
#[derive(Serialize, JsonSchema)]
struct MaskEntry {
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

/// The kind of the documents that hold the hub agent's lines about a run.
pub(super) const CONTROLLER_LOG: &str = "ControllerLog";

/// A bundle, ready to be written.
pub struct BundleContents {
    text: String,
    objects: usize,
    masked: usize,
}

impl BundleContents {
    /// Masks and writes objects, in the order of their kinds, namespaces and names, then what was
    /// seen in member clusters, then what the hub agent said. Fails only on a text that is no JSON.
    pub fn new(
        header: &NewHeader,
        texts: BTreeMap<ObjectRef, Box<RawValue>>,
        members: &[members::MemberDocument],
        logs: Vec<Value>,
        show_secrets: bool,
    ) -> anyhow::Result<Self> {
        let objects = texts.len();
        let mut masked = Vec::new();
        let mut documents = String::new();
        for (object, text) in texts {
            let mut value: Value = serde_json::from_str(text.get())
                .with_context(|| format!("{object} is not JSON"))?;
            if !show_secrets {
                for found in mask::mask(&mut value) {
                    masked.push(MaskEntry {
                        cluster: String::new(),
                        kind: object.kind.name(),
                        namespace: object.namespace.clone(),
                        name: object.name.clone(),
                        path: found.path,
                    });
                }
            }
            documents.push_str("---\n");
            documents.push_str(&yaml(&value)?);
        }
        for member in members {
            for (kind, namespace, name, found) in &member.masked {
                masked.push(MaskEntry {
                    cluster: member.cluster().to_owned(),
                    kind: kind.name(),
                    namespace: namespace.clone(),
                    name: name.clone(),
                    path: found.path.clone(),
                });
            }
            documents.push_str("---\n");
            documents.push_str(&yaml(member)?);
        }
        for mut log in logs {
            if !show_secrets {
                let name = log["pod"].as_str().unwrap_or_default().to_owned();
                for found in mask::mask(&mut log) {
                    masked.push(MaskEntry {
                        cluster: String::new(),
                        kind: CONTROLLER_LOG,
                        namespace: String::new(),
                        name: name.clone(),
                        path: found.path,
                    });
                }
            }
            documents.push_str("---\n");
            documents.push_str(&yaml(&log)?);
        }
        let count = masked.len();
        let document = HeaderDocument {
            api_version: OWN_API_VERSION,
            kind: "Bundle",
            collected_at: header.collected_at.to_string(),
            target: Target::from(&header.target),
            objects,
            hub: HeaderHub {
                run_states: header.run_states.as_deref(),
                served: &header.served,
            },
            kinds: header.kinds(),
            masked,
        };
        let mut text = yaml(&document)?;
        text.push_str(&documents);
        Ok(Self {
            text,
            objects,
            masked: count,
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many objects are in it.
    pub const fn objects(&self) -> usize {
        self.objects
    }

    /// How many values were masked.
    pub const fn masked(&self) -> usize {
        self.masked
    }
}
