//! The object that is asked for.

use crate::contents::ManifestKey;
use crate::error::Error;
use crate::kubefleet::snapshot::ManifestIdentity;

pub(super) struct WantedObject {
    kind: String,
    group: Option<String>,
    pub name: String,
    pub namespace: Option<String>,
}

impl WantedObject {
    pub fn new(word: &str, namespace: Option<&str>) -> Result<Self, Error> {
        let usage = || {
            Error::usage(format!("{word:?} does not name an object"))
                .hint("use KIND/NAME or KIND/NAMESPACE/NAME, for example deployment/web")
        };
        let (kind, name) = word.split_once('/').ok_or_else(usage)?;
        // As findings name it: its own namespace is the one that counts.
        let (namespace, name) = match name.split_once('/') {
            Some((own, name)) => (Some(own), name),
            None => (namespace, name),
        };
        if [kind, name].contains(&"") || name.contains('/') || namespace == Some("") {
            return Err(usage());
        }
        let kind = kind.to_ascii_lowercase();
        let (kind, group) = match kind.split_once('.') {
            Some((kind, group)) => (kind.to_owned(), Some(group.to_owned())),
            None => (kind, None),
        };
        Ok(Self {
            kind,
            group,
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
        })
    }

    /// The kind as it was asked for.
    pub fn word(&self) -> &str {
        &self.kind
    }

    pub fn is(&self, one: &ManifestIdentity) -> bool {
        self.names(&ManifestKey::of_manifest(one))
    }

    pub fn names(&self, one: &ManifestKey) -> bool {
        self.is_kind(&one.kind, &one.group)
            && self.name == one.name
            && self
                .namespace
                .as_deref()
                .is_none_or(|namespace| namespace == one.namespace || one.namespace.is_empty())
    }

    /// Whether a kind is the one that is asked for: by its name, its plural, or its short name.
    pub fn is_kind(&self, kind: &str, group: &str) -> bool {
        let kind = kind.to_ascii_lowercase();
        let plural = match kind.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None if kind.ends_with('s') => format!("{kind}es"),
            None => format!("{kind}s"),
        };
        let short = SHORT
            .iter()
            .any(|(short, long)| *short == self.kind && *long == kind);
        (self.kind == kind || self.kind == plural || short)
            && self.group.as_deref().is_none_or(|wanted| wanted == group)
    }
}

/// The short names that people use most.
const SHORT: [(&str, &str); 13] = [
    ("cm", "configmap"),
    ("crd", "customresourcedefinition"),
    ("deploy", "deployment"),
    ("ds", "daemonset"),
    ("hpa", "horizontalpodautoscaler"),
    ("ing", "ingress"),
    ("netpol", "networkpolicy"),
    ("ns", "namespace"),
    ("pdb", "poddisruptionbudget"),
    ("pvc", "persistentvolumeclaim"),
    ("sa", "serviceaccount"),
    ("sts", "statefulset"),
    ("svc", "service"),
];
