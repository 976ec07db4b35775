//! Resource snapshots: when a placement's content becomes a new one, and which old ones go.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::conditions::stamp;
use super::kinds::Scope;
use super::names;
use super::object::{Object, digest};
use super::timing::SnapshotDelay;

/// How many snapshots a placement keeps when it does not say.
const HISTORY: usize = 10;

/// What to do about the content as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The latest snapshot has this content. Its label may still have to say that it is the
    /// latest.
    Use { name: String, promote: bool },
    /// The content differs, but it is too early for a new snapshot. The time at which that was
    /// first seen may still have to be noted.
    Delay { name: String, note: bool },
    /// Take the label from the latest snapshot, delete old ones, create the one with this index.
    Create {
        index: i64,
        demote: Option<String>,
        prune: Vec<String>,
    },
}

/// Decides, from all objects of a placement's snapshots.
pub(crate) fn decide(
    placement: &Value,
    snapshots: &[&Value],
    content: &[Value],
    delay: Option<SnapshotDelay>,
    now: Timestamp,
) -> Decision {
    let latest = latest(snapshots);
    let hash = hash(content);
    let mut demote = None;
    if let Some(latest) = latest {
        let name = latest.name().to_owned();
        let labelled = latest.label(names::IS_LATEST) == "true";
        if latest.annotation(names::RESOURCE_HASH) == hash {
            return Decision::Use {
                name,
                promote: !labelled,
            };
        }
        if labelled {
            let noted: Option<Timestamp> = latest.annotation(names::DETECTION_TIME).parse().ok();
            if delay.is_some_and(|delay| now < due(latest, noted.unwrap_or(now), delay)) {
                return Decision::Delay {
                    name,
                    note: noted.is_none(),
                };
            }
            demote = Some(name);
        }
    }
    Decision::Create {
        index: latest.map_or(0, |latest| index(latest) + 1),
        demote,
        prune: redundant(placement, snapshots),
    }
}

fn due(latest: &Value, noted: Timestamp, delay: SnapshotDelay) -> Timestamp {
    let later = |time: Timestamp, by| {
        SignedDuration::try_from(by)
            .ok()
            .and_then(|by| time.checked_add(by).ok())
            .unwrap_or(time)
    };
    let created: Timestamp = latest
        .text("/metadata/creationTimestamp")
        .parse()
        .unwrap_or(noted);
    later(noted, delay.collect).max(later(created, delay.interval))
}

/// The first object of the latest snapshot: the labelled one, else that with the highest index.
fn latest<'s>(snapshots: &[&'s Value]) -> Option<&'s Value> {
    let first = || {
        snapshots
            .iter()
            .filter(|snapshot| !snapshot.annotation(names::RESOURCE_HASH).is_empty())
    };
    first()
        .find(|snapshot| snapshot.label(names::IS_LATEST) == "true")
        .or_else(|| first().max_by_key(|snapshot| index(snapshot)))
        .copied()
}

fn index(snapshot: &Value) -> i64 {
    snapshot.label(names::RESOURCE_INDEX).parse().unwrap_or(-1)
}

// One place is kept free for the new snapshot, so a limit of one leaves none of the old ones.
fn redundant(placement: &Value, snapshots: &[&Value]) -> Vec<String> {
    let limit = placement
        .number("/spec/revisionHistoryLimit")
        .and_then(|limit| usize::try_from(limit).ok())
        .filter(|limit| *limit > 0)
        .unwrap_or(HISTORY);
    let mut indexes: Vec<i64> = snapshots.iter().map(|snapshot| index(snapshot)).collect();
    indexes.sort_unstable_by(|one, other| other.cmp(one));
    indexes.dedup();
    let kept = &indexes[..indexes.len().min(limit - 1)];
    snapshots
        .iter()
        .filter(|snapshot| !kept.contains(&index(snapshot)))
        .map(|snapshot| snapshot.name().to_owned())
        .collect()
}

fn hash(content: &[Value]) -> String {
    digest(&Value::Array(content.to_vec()).to_string())
}

/// A snapshot of this content as one object.
pub(crate) fn build(scope: &Scope, placement: &Value, index: i64, content: &[Value]) -> Value {
    let kind = scope.kinds().resource_snapshot;
    let mut snapshot = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.name(),
        "metadata": {
            "name": names::resource_snapshot(placement.name(), index),
            "labels": {
                names::PLACEMENT: placement.name(),
                names::IS_LATEST: "true",
                names::RESOURCE_INDEX: index.to_string(),
            },
            "annotations": {
                names::RESOURCE_HASH: hash(content),
                names::NUMBER_OF_SNAPSHOTS: "1",
                names::NUMBER_OF_ENVELOPES: envelopes(content).to_string(),
            },
            "ownerReferences": [owner(scope, placement)],
        },
        "spec": {"selectedResources": content},
    });
    if let Scope::Namespace(namespace) = scope {
        snapshot.put(&["metadata", "namespace"], json!(namespace));
    }
    snapshot
}

/// The reference with which an object belongs to its placement.
pub(crate) fn owner(scope: &Scope, placement: &Value) -> Value {
    let kind = scope.kinds().placement;
    json!({
        "apiVersion": kind.api_version(),
        "kind": kind.name(),
        "name": placement.name(),
        "uid": placement.uid(),
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

fn envelopes(content: &[Value]) -> usize {
    content
        .iter()
        .filter(|object| {
            matches!(
                object.text("/kind"),
                "ClusterResourceEnvelope" | "ResourceEnvelope"
            )
        })
        .count()
}

/// Notes on a snapshot when the content was first seen to differ.
pub(crate) fn note(snapshot: &mut Value, now: Timestamp) {
    snapshot.put(
        &["metadata", "annotations", names::DETECTION_TIME],
        json!(stamp(now)),
    );
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const DELAY: SnapshotDelay = SnapshotDelay {
        collect: Duration::from_secs(15),
        interval: Duration::from_secs(30),
    };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn content(version: &str) -> Vec<Value> {
        vec![json!({"kind": "ConfigMap", "data": {"version": version}})]
    }

    fn placement(limit: Option<i64>) -> Value {
        json!({"metadata": {"name": "shop", "uid": "1"}, "spec": {"revisionHistoryLimit": limit}})
    }

    fn snapshot(index: i64, version: &str, latest: bool) -> Value {
        let mut snapshot = build(&Scope::Cluster, &placement(None), index, &content(version));
        snapshot.put(
            &["metadata", "labels", names::IS_LATEST],
            json!(latest.to_string()),
        );
        snapshot.put(&["metadata", "creationTimestamp"], json!(stamp(at(0))));
        snapshot
    }

    #[test]
    fn the_first_content_becomes_a_snapshot_at_once() {
        assert_eq!(
            decide(&placement(None), &[], &content("1"), Some(DELAY), at(0)),
            Decision::Create {
                index: 0,
                demote: None,
                prune: Vec::new()
            }
        );
    }

    #[test]
    fn a_change_waits_for_both_intervals() {
        let mut old = snapshot(0, "1", true);
        let ask = |old: &Value, second| {
            decide(
                &placement(None),
                &[old],
                &content("2"),
                Some(DELAY),
                at(second),
            )
        };
        let name = "shop-0-snapshot".to_owned();
        assert_eq!(
            ask(&old, 20),
            Decision::Delay {
                name: name.clone(),
                note: true
            }
        );
        note(&mut old, at(20));
        // 15 s after it was noticed is later than 30 s after the creation.
        assert_eq!(
            ask(&old, 34),
            Decision::Delay {
                name: name.clone(),
                note: false
            }
        );
        assert_eq!(
            ask(&old, 35),
            Decision::Create {
                index: 1,
                demote: Some(name),
                prune: Vec::new()
            }
        );
    }

    #[test]
    fn without_a_delay_a_change_becomes_a_snapshot_at_once() {
        let old = snapshot(0, "1", true);
        let decision = decide(&placement(None), &[&old], &content("2"), None, at(1));
        assert!(matches!(decision, Decision::Create { index: 1, .. }));
    }

    #[test]
    fn unchanged_content_keeps_its_snapshot() {
        let old = snapshot(0, "1", true);
        assert_eq!(
            decide(&placement(None), &[&old], &content("1"), Some(DELAY), at(1)),
            Decision::Use {
                name: "shop-0-snapshot".to_owned(),
                promote: false
            }
        );
    }

    #[test]
    fn a_limit_counts_the_new_snapshot() {
        let all: Vec<Value> = (0..3)
            .map(|index| snapshot(index, "1", index == 2))
            .collect();
        let all: Vec<&Value> = all.iter().collect();
        let pruned = |limit| match decide(&placement(Some(limit)), &all, &content("2"), None, at(1))
        {
            Decision::Create { prune, .. } => prune,
            other => panic!("{other:?}"),
        };
        assert_eq!(pruned(4), Vec::<String>::new());
        assert_eq!(pruned(3), ["shop-0-snapshot"]);
        assert_eq!(pruned(1).len(), 3);
    }
}
