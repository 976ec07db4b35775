//! Overrides with their values, and which of them apply to a cluster.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::content::SnapshotContent;
use super::variables::Template;
use crate::inventory::source::ObjectTexts;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::object::Object;
use crate::kubefleet::overrides::{OverrideRule, OverrideSnapshot};
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::rollout::overrides::{applies, matches, origin, rule_matches, rules_of, selectors};

/// A snapshot of an override, with its values.
#[derive(Debug, Clone)]
pub struct Override {
    pub snapshot: Arc<OverrideSnapshot>,
    /// The values of each rule's operations.
    values: Vec<Vec<Template>>,
}

impl Override {
    pub fn new(snapshot: Arc<OverrideSnapshot>, text: &RawValue) -> Self {
        let text: Value = serde_json::from_str(text.get()).unwrap_or_default();
        let values = snapshot.spec.content.policy.iter();
        let values = values.flat_map(|policy| &policy.rules).enumerate();
        let values = values.map(|(rule, it)| {
            let value = |operation: usize| {
                let place = format!(
                    "/spec/overrideSpec/policy/overrideRules/{rule}/jsonPatchOverrides/{operation}/value"
                );
                Template::new(text.pointer(&place).cloned().unwrap_or_default())
            };
            (0..it.patches.len()).map(value).collect()
        });
        let values = values.collect();
        Self { snapshot, values }
    }

    /// An object with its text; `None` where it is no override snapshot, or the text is missing.
    pub fn of(object: &Object, texts: &ObjectTexts) -> Option<Self> {
        Self::known(object.get()?, texts)
    }

    /// The same of a snapshot.
    pub fn known(snapshot: &Arc<OverrideSnapshot>, texts: &ObjectTexts) -> Option<Self> {
        let text = texts.get(&snapshot.object())?;
        Some(Self::new(Arc::clone(snapshot), text))
    }

    /// The snapshot as an object.
    pub fn object(&self) -> ObjectRef {
        self.snapshot.object()
    }

    /// The name of the override.
    pub fn name(&self) -> &str {
        origin(&self.snapshot)
    }

    /// Its rules, in order.
    pub fn rules(&self) -> &[OverrideRule] {
        rules_of(&self.snapshot)
    }

    pub(super) fn value(&self, rule: usize, operation: usize) -> Option<&Template> {
        self.values.get(rule)?.get(operation)
    }

    /// The order in which overrides apply.
    fn order(&self) -> (bool, &str, &str) {
        let meta = &self.snapshot.meta;
        (!meta.namespace.is_empty(), &meta.namespace, &meta.name)
    }
}

/// A cluster, and the overrides that apply to it in order.
#[derive(Debug, Clone)]
pub struct PlacedOverrides<'i> {
    pub member: &'i MemberCluster,
    /// The overrides, by their place in the list.
    pub overrides: Vec<usize>,
    /// Overrides that were recorded and do not exist any more.
    pub gone: Vec<ObjectRef>,
    /// Overrides that a run cannot use, and why: it would fail.
    pub invalid: Vec<(usize, String)>,
}

impl<'i> PlacedOverrides<'i> {
    /// The overrides that a new run chooses from, in the order in which they apply.
    pub fn applicable(
        placement: &ObjectRef,
        content: &SnapshotContent,
        overrides: &[Override],
    ) -> Vec<usize> {
        let resources: Vec<&ManifestIdentity> =
            content.items.iter().map(|item| &item.identity).collect();
        let applies = |one: &Override| {
            one.snapshot.is_latest() && applies(&one.snapshot, &placement.name, &resources)
        };
        let all = overrides.iter().enumerate();
        let mut found: Vec<_> = all
            .filter(|(_, one)| applies(one))
            .map(|(at, _)| at)
            .collect();
        found.sort_by(|a, b| overrides[*a].order().cmp(&overrides[*b].order()));
        found
    }

    /// A cluster without overrides.
    pub const fn none(member: &'i MemberCluster) -> Self {
        Self {
            member,
            overrides: Vec::new(),
            gone: Vec::new(),
            invalid: Vec::new(),
        }
    }

    /// A cluster with the overrides that a new run would choose for it, of those that are
    /// applicable.
    pub fn anew(member: &'i MemberCluster, applicable: &[usize], overrides: &[Override]) -> Self {
        let mut placed = Self::none(member);
        for at in applicable.iter().copied() {
            let one = &overrides[at];
            match matches(&one.snapshot, member) {
                Ok(true) => placed.overrides.push(at),
                Ok(false) => {}
                Err(why) => placed.invalid.push((at, why)),
            }
        }
        placed
    }

    pub fn bound(member: &'i MemberCluster, binding: &Binding, overrides: &[Override]) -> Self {
        Self::recorded(member, binding.spec.override_names(), overrides)
    }

    /// A cluster with the overrides of these names: those that a run recorded for it.
    pub fn recorded(
        member: &'i MemberCluster,
        names: impl Iterator<Item = ObjectRef>,
        overrides: &[Override],
    ) -> Self {
        let mut placed = Self::none(member);
        for name in names {
            let found = overrides.iter().position(|one| {
                let meta = &one.snapshot.meta;
                meta.name == name.name && meta.namespace == name.namespace
            });
            match found {
                Some(at) => placed.overrides.push(at),
                None => placed.gone.push(name),
            }
        }
        placed
    }
}

/// What of an override that applies to the content changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IneffectiveOverride {
    /// A selector, in words, that selects no object.
    Selector(String),
    /// A selector, in words, that names an envelope: the agent overrides what that holds, not the envelope.
    Envelope(String),
    /// A rule, from 1, that is for none of the clusters.
    Rule(usize),
}

/// What of an override changes nothing for these clusters.
pub(super) fn idle(
    one: &Override,
    content: &SnapshotContent,
    clusters: &[PlacedOverrides<'_>],
) -> Vec<IneffectiveOverride> {
    let selected: Vec<_> = content
        .items
        .iter()
        .filter_map(|item| crate::rollout::overrides::selector_of(&one.snapshot, &item.identity))
        .collect();
    let all = selectors(&one.snapshot).iter().enumerate();
    let unused = all
        .filter(|(at, _)| !selected.contains(at))
        .map(|(_, selector)| {
            let mut envelopes = content.items.iter().filter_map(|it| it.envelope.as_ref());
            let named = (&selector.kind, &one.snapshot.meta.namespace, &selector.name);
            if envelopes.any(|it| (&it.kind, &it.namespace, &it.name) == named) {
                IneffectiveOverride::Envelope(selector.describe())
            } else {
                IneffectiveOverride::Selector(selector.describe())
            }
        });
    let rules = one.rules().iter().enumerate().filter(|(_, rule)| {
        !clusters.is_empty()
            && clusters
                .iter()
                .all(|cluster| rule_matches(rule, cluster.member) == Ok(false))
    });
    let rules = rules.map(|(at, _)| IneffectiveOverride::Rule(at + 1));
    unused.chain(rules).collect()
}
