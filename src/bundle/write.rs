//! Writing a bundle: the header, then every object as a YAML document of its own.

use std::collections::BTreeMap;

use anyhow::Context as _;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::members::{self, MaskEntry};
use crate::inventory::Walk;
use crate::inventory::source::Outcome;
use crate::kubefleet::object::OWN_API_VERSION;
use crate::kubefleet::{Kind, ObjectRef};
use crate::words::yaml;

/// The header of a bundle: what its collector could read.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Bundle")]
pub struct HeaderDocument<'h> {
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
    pub hub: HeaderHub,
    /// The outcome of reading each kind.
    kinds: Vec<KindEntry>,
    /// The values that were masked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    masked: Vec<MaskEntry>,
}

impl<'h> HeaderDocument<'h> {
    pub fn new(collected_at: Timestamp, target: &'h ObjectRef, walk: &Walk) -> Self {
        let names = walk.names_asked();
        let entry = |(kind, outcome): (&Kind, &Outcome)| {
            let (word, why) = outcome.word();
            let names = names.get(kind).into_iter().flatten();
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
        Self {
            api_version: OWN_API_VERSION,
            kind: "Bundle",
            collected_at: collected_at.to_string(),
            target: Target {
                kind: target.kind.name(),
                namespace: &target.namespace,
                name: &target.name,
            },
            objects: 0,
            hub: HeaderHub::default(),
            kinds: walk.outcomes().iter().map(entry).collect(),
            masked: Vec::new(),
        }
    }
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

/// What is known about the hub.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Hub")]
pub struct HeaderHub {
    /// The values that its schema allows for `spec.state`; absent if the schema could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_states: Option<Vec<String>>,
    /// The kinds and versions that it serves.
    pub served: Vec<String>,
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

/// The kind of the documents that hold the hub agent's lines about a run.
pub(super) const CONTROLLER_LOG: &str = "ControllerLog";

pub struct BundleContents {
    pub text: String,
    pub objects: usize,
    pub masked: usize,
}

impl BundleContents {
    /// Masks and writes objects, in the order of their kinds, namespaces and names, then what was
    /// seen in member clusters, then what the hub agent said. Fails only on a text that is no JSON.
    pub fn new(
        mut header: HeaderDocument<'_>,
        texts: BTreeMap<ObjectRef, Box<RawValue>>,
        members: &[members::MemberDocument],
        logs: Vec<Value>,
        show_secrets: bool,
    ) -> anyhow::Result<Self> {
        header.objects = texts.len();
        let mut documents = String::new();
        for (object, text) in texts {
            let mut value: Value = serde_json::from_str(text.get())
                .with_context(|| format!("{object} is not JSON"))?;
            if !show_secrets {
                let (kind, namespace) = (object.kind.name(), &object.namespace);
                let found = MaskEntry::mask(&mut value, "", kind, namespace, &object.name);
                header.masked.extend(found);
            }
            documents.push_str("---\n");
            documents.push_str(&yaml(&value)?);
        }
        for member in members {
            header.masked.extend_from_slice(&member.masked);
            documents.push_str("---\n");
            documents.push_str(&yaml(member)?);
        }
        for mut log in logs {
            if !show_secrets {
                let name = log["pod"].as_str().unwrap_or_default().to_owned();
                let found = MaskEntry::mask(&mut log, "", CONTROLLER_LOG, "", &name);
                header.masked.extend(found);
            }
            documents.push_str("---\n");
            documents.push_str(&yaml(&log)?);
        }
        let mut text = yaml(&header)?;
        text.push_str(&documents);
        Ok(Self {
            text,
            objects: header.objects,
            masked: header.masked.len(),
        })
    }
}
