//! What an envelope holds.

use serde_json::Value;

use super::WorkGenerator;
use crate::contents::{Manifest, ManifestKey};
use crate::kubefleet::binding::Envelope;
use crate::kubefleet::kind::PLACEMENT_GROUP;

/// An object that is not sent to clusters: what it holds is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvelopeKind {
    /// ClusterResourceEnvelope.
    Cluster,
    /// ResourceEnvelope.
    Namespaced,
    /// A ConfigMap of KubeFleet 0.0, whose values are manifests as text.
    ConfigMap,
}

const ANNOTATION: &str = "kubernetes-fleet.io/envelope-configmap";

impl EnvelopeKind {
    /// What kind of envelope an object is for a generator, if any.
    pub fn of(manifest: &Manifest, generator: WorkGenerator) -> Option<Self> {
        let ManifestKey { kind, group, .. } = &manifest.identity;
        match (group.as_str(), kind.as_str()) {
            (PLACEMENT_GROUP, "ClusterResourceEnvelope") => Some(Self::Cluster),
            (PLACEMENT_GROUP, "ResourceEnvelope") => Some(Self::Namespaced),
            ("", "ConfigMap") if generator == WorkGenerator::ConfigMaps => {
                let annotations = manifest.value.pointer("/metadata/annotations")?;
                let marked = annotations.get(ANNOTATION)?.as_str()?;
                (!marked.is_empty()).then_some(Self::ConfigMap)
            }
            _ => None,
        }
    }
}

pub fn named(manifest: &Manifest) -> Envelope {
    Envelope {
        kind: manifest.identity.kind.clone(),
        namespace: manifest.identity.namespace.clone(),
        name: manifest.identity.name.clone(),
    }
}

/// The manifests in an envelope, in the order of their Work: from the last JSON text to the first.
pub fn open(manifest: &Manifest, kind: EnvelopeKind) -> Result<Vec<Manifest>, String> {
    let data = manifest.value.get("data").and_then(Value::as_object);
    let mut opened = Vec::new();
    for (key, value) in data.into_iter().flatten() {
        let value = match (kind, value) {
            (EnvelopeKind::ConfigMap, Value::String(text)) => serde_saphyr::from_str(text)
                .map_err(|_| format!("the value of `{key}` is not a manifest"))?,
            (_, value) => value.clone(),
        };
        let text = value.to_string();
        let inner = Manifest::of(value, text.len());
        if inner.identity.kind.is_empty() {
            return Err(format!("the value of `{key}` is not a manifest"));
        }
        check(&manifest.identity.namespace, &inner.identity, kind)
            .map_err(|problem| format!("{} {problem}", inner.identity.describe()))?;
        opened.push((text, inner));
    }
    opened.sort_by(|(a, _), (b, _)| b.cmp(a));
    Ok(opened.into_iter().map(|(_, inner)| inner).collect())
}

fn check(namespace: &str, inner: &ManifestKey, kind: EnvelopeKind) -> Result<(), String> {
    let there = inner.namespace.as_str();
    match kind {
        EnvelopeKind::Cluster if !there.is_empty() => {
            Err("has a namespace, and a ClusterResourceEnvelope takes none that has".to_owned())
        }
        EnvelopeKind::Namespaced if there.is_empty() => {
            Err("has no namespace, and a ResourceEnvelope takes none without".to_owned())
        }
        EnvelopeKind::Namespaced | EnvelopeKind::ConfigMap
            if !there.is_empty() && there != namespace =>
        {
            Err(format!("is not in the envelope's namespace {namespace}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{EnvelopeKind, WorkGenerator, open};
    use crate::contents::Manifest;

    fn envelope(kind: &str, namespace: &str, data: &Value) -> Manifest {
        let group = "placement.kubernetes-fleet.io/v1beta1";
        let api = if kind == "ConfigMap" { "v1" } else { group };
        let meta = json!({"name": "e", "namespace": namespace,
            "annotations": {"kubernetes-fleet.io/envelope-configmap": "true"}});
        let value = json!({"apiVersion": api, "kind": kind, "metadata": meta, "data": data});
        Manifest::of(value, 0)
    }

    fn opened(kind: &str, namespace: &str, data: &Value) -> Result<Vec<String>, String> {
        let manifest = envelope(kind, namespace, data);
        let kind = EnvelopeKind::of(&manifest, WorkGenerator::ConfigMaps).unwrap();
        let manifests = open(&manifest, kind)?;
        Ok(manifests.iter().map(|it| it.identity.describe()).collect())
    }

    fn role(name: &str, namespace: &str) -> Value {
        let mut meta = json!({"name": name});
        if !namespace.is_empty() {
            meta["namespace"] = namespace.into();
        }
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta})
    }

    #[test]
    fn what_is_inside_comes_from_the_last_text_to_the_first() {
        let data = json!({"1.yaml": role("a", "shop"), "2.yaml": role("b", "shop")});
        let roles = ["Role shop/b", "Role shop/a"].map(str::to_owned).to_vec();
        assert_eq!(opened("ResourceEnvelope", "shop", &data), Ok(roles));
        let text = json!({"x": "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n"});
        let service = vec!["Service web".to_owned()];
        assert_eq!(opened("ConfigMap", "shop", &text), Ok(service));
        assert_eq!(opened("ResourceEnvelope", "shop", &json!(null)), Ok(vec![]));
    }

    #[test]
    fn what_does_not_belong_inside_is_refused() {
        for (kind, there, why) in [
            ("ClusterResourceEnvelope", "shop", "takes none that has"),
            ("ResourceEnvelope", "", "takes none without"),
            (
                "ResourceEnvelope",
                "other",
                "is not in the envelope's namespace shop",
            ),
        ] {
            let is_wide = kind.starts_with("Cluster");
            let namespace = if is_wide { "" } else { "shop" };
            let error = opened(kind, namespace, &json!({"x": role("a", there)})).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        let inner = json!({"x": role("a", "")});
        assert!(opened("ClusterResourceEnvelope", "", &inner).is_ok());
        assert!(opened("ResourceEnvelope", "shop", &json!({"x": "text"})).is_err());
    }

    /// A ConfigMap without the annotation, or a kind of that name from elsewhere, is sent as it is.
    #[test]
    fn other_objects_are_not_envelopes() {
        let mut plain = envelope("ConfigMap", "shop", &json!({}));
        plain.value["metadata"]["annotations"] =
            json!({"kubernetes-fleet.io/envelope-configmap": ""});
        assert_eq!(EnvelopeKind::of(&plain, WorkGenerator::ConfigMaps), None);
        let marked = envelope("ConfigMap", "shop", &json!({}));
        assert_eq!(EnvelopeKind::of(&marked, WorkGenerator::Newest), None);
        let other =
            json!({"apiVersion": "x.io/v1", "kind": "ResourceEnvelope", "metadata": {"name": "e"}});
        let other = Manifest::of(other, 0);
        assert_eq!(EnvelopeKind::of(&other, WorkGenerator::Newest), None);
    }
}
