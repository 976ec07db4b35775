//! The header of a bundle: what its collector could see.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use super::error::FilePlace;
use crate::contents::text;
use crate::inventory::source::{HubFacts, Outcome};
use crate::kubefleet::{Kind, ObjectRef};
use crate::mask;
use crate::words::distinct;

/// A header document, or what several of them say together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BundleHeader {
    pub collected_at: Option<Timestamp>,
    pub kinds: BTreeMap<Kind, Outcome>,
    /// The objects that were asked for, of the kinds that were not listed.
    pub names: BTreeMap<Kind, BTreeSet<String>>,
    pub target: Option<ObjectRef>,
    pub hub: HubFacts,
    /// How many objects the collector wrote, when it says so.
    pub objects: Option<u64>,
}

impl BundleHeader {
    /// Reads a header. What it says wrongly is unknown, and worth a warning.
    pub(super) fn read(place: &FilePlace, fields: &Value, warnings: &mut Vec<String>) -> Self {
        let mut header = Self {
            hub: HubFacts {
                run_states: strings(&fields["hub"]["runStates"]),
            },
            objects: fields["objects"].as_u64(),
            ..Self::default()
        };
        if let Some(value) = fields.get("collectedAt").filter(|value| !value.is_null()) {
            header.collected_at = value.as_str().and_then(|value| value.parse().ok());
            if header.collected_at.is_none() {
                warnings.push(format!(
                    "{place}: the bundle's collectedAt is not a time: {value}"
                ));
            }
        }
        for entry in fields["kinds"].as_array().into_iter().flatten() {
            // A kind that the walk does not read needs no outcome.
            let Some(kind) = Kind::by_name(text(entry, &["kind"])) else {
                continue;
            };
            let why = mask::prose(text(entry, &["why"])).into_owned();
            let word = text(entry, &["outcome"]);
            let outcome = Outcome::of_word(word, why, 0).unwrap_or_else(|| {
                warnings.push(format!(
                    "{place}: the bundle's header has an unknown outcome `{word}` for {kind}, \
                     which is treated as not collected"
                ));
                Outcome::NotCollected
            });
            merge_outcome(&mut header.kinds, kind, outcome);
            if let Some(names) = strings(&entry["names"]) {
                header.names.insert(kind, names.into_iter().collect());
            }
        }
        let target = &fields["target"];
        let name = text(target, &["name"]);
        if let Some(kind) = Kind::by_name(text(target, &["kind"]))
            && !name.is_empty()
        {
            header.target = Some(ObjectRef::new(kind, text(target, &["namespace"]), name));
        } else if !target.is_null() {
            warnings.push(format!(
                "{place}: the bundle's target is not an object: {target}"
            ));
        }
        header
    }

    /// What several headers say together.
    ///
    /// A kind may have been listed for one target only, so two headers that both list it cover the
    /// union of their targets, as each covers its own. A header that could not list it leaves its
    /// own target's objects unknown, and an outcome is not known per target: the kind's absent
    /// objects are then unknown altogether. The same holds for a header whose target's walk reads
    /// the kind and which does not mention it. A header for the other scope, or without a target,
    /// says nothing by its silence. The clock is the latest of theirs, for no object is younger.
    pub(super) fn merge(headers: &[Self], warnings: &mut Vec<String>) -> Self {
        let [first, rest @ ..] = headers else {
            return Self::default();
        };
        let mut all = first.clone();
        if rest.is_empty() {
            return all;
        }
        all.kinds.clear();
        for &kind in Kind::ALL {
            if !headers.iter().any(|it| it.kinds.contains_key(&kind)) {
                continue;
            }
            for header in headers {
                match header.kinds.get(&kind) {
                    Some(outcome) => merge_outcome(&mut all.kinds, kind, outcome.clone()),
                    None if header.walks(kind) => {
                        merge_outcome(&mut all.kinds, kind, Outcome::NotCollected);
                    }
                    None => {}
                }
            }
        }
        // One that listed a kind knows all of it.
        let names = all.kinds.keys().filter_map(|kind| {
            let readers = headers.iter().filter(|it| it.kinds.contains_key(kind));
            let names: Option<Vec<_>> = readers.map(|it| it.names.get(kind)).collect();
            Some((*kind, names?.into_iter().flatten().cloned().collect()))
        });
        all.names = names.collect();
        let times = || headers.iter().filter_map(|header| header.collected_at);
        all.collected_at = times().max();
        let mut targets = distinct(headers.iter().filter_map(|h| h.target.clone()));
        all.target = targets.pop().filter(|_| targets.is_empty());
        let facts = headers.iter().filter_map(|h| h.hub.run_states.clone());
        let mut facts = distinct(facts.map(|mut states| {
            states.sort();
            states
        }));
        all.hub.run_states = facts.pop().filter(|_| facts.is_empty());
        if !facts.is_empty() {
            warnings.push(
                "the bundles' headers describe different hubs, so facts about the hub are ignored"
                    .into(),
            );
        }
        all.objects = None;
        if times().min() != all.collected_at {
            let said = |time: Option<Timestamp>| time.map_or_else(String::new, |it| it.to_string());
            warnings.push(format!(
                "reading {} bundles together, collected from {} to {}",
                headers.len(),
                said(times().min()),
                said(all.collected_at)
            ));
        }
        all
    }

    /// Whether the walk of the header's target reads the kind.
    fn walks(&self, kind: Kind) -> bool {
        let target = self.target.as_ref();
        target.is_some_and(|it| it.scope().find(kind.concept()) == Some(kind))
    }
}

fn strings(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?.iter();
    Some(items.filter_map(Value::as_str).map(str::to_owned).collect())
}

/// Keeps the outcome that promises less; of two that promise as little, the same one whatever the
/// order.
pub(super) fn merge_outcome(kinds: &mut BTreeMap<Kind, Outcome>, kind: Kind, outcome: Outcome) {
    let known = kinds.entry(kind).or_insert_with(|| outcome.clone());
    *known = known.clone().lesser(outcome);
}
