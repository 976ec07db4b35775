//! The objects of a version as the work generator meets them.

use serde_json::value::RawValue;

use super::WorkGenerator;
use super::envelope::{self, EnvelopeKind};
use crate::contents::{self, Manifest, ManifestKey};
use crate::inventory::source::ObjectTexts;
use crate::kubefleet::binding::Envelope;
use crate::kubefleet::override_names::NamespacedName;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::rollout::versions::Version;

/// One object.
#[derive(Debug, Clone)]
pub struct Item {
    /// Which part of the version it is in; the first is 0.
    pub part: usize,
    pub envelope: Option<Envelope>,
    pub manifest: Manifest,
    /// How overrides select it.
    pub identity: ManifestIdentity,
    /// What it is opened as after its overrides were applied.
    pub(super) opens: Option<EnvelopeKind>,
}

/// The texts of the parts of a version; `None` where one is missing.
pub fn texts_of<'t>(version: &Version<'_>, texts: &'t ObjectTexts) -> Option<Vec<&'t RawValue>> {
    let parts = version.parts.iter();
    let texts = parts.map(|part| texts.get(&part.object()).map(AsRef::as_ref));
    texts.collect()
}

/// The objects of a version, in order.
#[derive(Debug, Clone, Default)]
pub struct SnapshotContent {
    /// The objects.
    pub items: Vec<Item>,
    /// The envelopes that cannot be opened, and why.
    pub(super) flaws: Vec<(ManifestKey, String)>,
    pub(super) generator: WorkGenerator,
}

impl SnapshotContent {
    /// The content of a version, of which these are the parts in order.
    pub fn new<'t>(
        parts: impl IntoIterator<Item = &'t RawValue>,
        generator: WorkGenerator,
    ) -> Self {
        let parts = parts.into_iter().map(contents::in_order);
        Self::of_parts(parts, generator)
    }

    /// The content of a version; `None` where a part is missing, or its text.
    pub fn of_version(
        version: &Version<'_>,
        texts: &ObjectTexts,
        generator: WorkGenerator,
    ) -> Option<Self> {
        if !version.is_complete() {
            return None;
        }
        Some(Self::new(texts_of(version, texts)?, generator))
    }

    /// The same of manifests that were read already.
    pub fn of_parts(
        parts: impl IntoIterator<Item = Vec<Manifest>>,
        generator: WorkGenerator,
    ) -> Self {
        let mut content = Self {
            generator,
            ..Self::default()
        };
        for (part, manifests) in parts.into_iter().enumerate() {
            for manifest in manifests {
                content.take(part, manifest);
            }
        }
        content
    }

    /// Whether a part of it comes from an envelope.
    pub fn has_envelopes(&self) -> bool {
        self.items.iter().any(|item| item.envelope.is_some())
    }

    fn take(&mut self, part: usize, manifest: Manifest) {
        let kind = EnvelopeKind::of(&manifest, self.generator);
        match kind {
            Some(kind) if self.generator == WorkGenerator::Newest => {
                match envelope::open(&manifest, kind) {
                    Ok(opened) => {
                        let name = envelope::named(&manifest);
                        let opened = opened.into_iter();
                        self.items
                            .extend(opened.map(|it| item(part, Some(name.clone()), it, None)));
                    }
                    Err(why) => self.flaws.push((manifest.identity, why)),
                }
            }
            opens => self.items.push(item(part, None, manifest, opens)),
        }
    }
}

fn item(
    part: usize,
    envelope: Option<Envelope>,
    manifest: Manifest,
    opens: Option<EnvelopeKind>,
) -> Item {
    let identity = ManifestIdentity {
        api_version: manifest.api_version.clone(),
        kind: manifest.identity.kind.clone(),
        meta: NamespacedName {
            name: manifest.identity.name.clone(),
            namespace: manifest.identity.namespace.clone(),
        },
        ..ManifestIdentity::default()
    };
    Item {
        part,
        envelope,
        manifest,
        identity,
        opens,
    }
}
