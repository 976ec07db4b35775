//! One object of each name, whatever the order in which several were read.

use std::cmp::Reverse;
use std::collections::HashMap;

use jiff::Timestamp;

use crate::kubefleet::object::Object;
use crate::kubefleet::scope::ObjectRef;

/// Sorts objects by kind, namespace and name, and keeps one of each. Returns the names of which
/// there were different versions, and how many.
pub(super) fn resolve(objects: &mut Vec<Object>) -> Vec<(ObjectRef, usize)> {
    objects.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut duplicates = Vec::new();
    if !objects.is_sorted_by(|a, b| key(a) < key(b)) {
        let mut kept = Vec::with_capacity(objects.len());
        let mut group: Vec<Object> = Vec::new();
        for object in std::mem::take(objects) {
            if group
                .first()
                .is_some_and(|first| key(first) != key(&object))
            {
                kept.extend(best(std::mem::take(&mut group), &mut duplicates));
            }
            group.push(object);
        }
        kept.extend(best(group, &mut duplicates));
        *objects = kept;
    }
    duplicates
}

pub(super) fn key(object: &Object) -> (crate::kubefleet::Kind, &str, &str) {
    let meta = object.body.meta();
    (object.kind, &meta.namespace, &meta.name)
}

/// The version of an object to believe: of one object (same uid) the one with the higher resource
/// version, of two (deleted and created again) the younger, and else any, but always the same.
fn best(mut group: Vec<Object>, duplicates: &mut Vec<(ObjectRef, usize)>) -> Option<Object> {
    if group.len() < 2 {
        return group.pop();
    }
    // The text of an object orders versions that nothing else does, and finds the equal ones.
    let mut versions: Vec<(String, Object)> = group
        .into_iter()
        .map(|object| (format!("{object:?}"), object))
        .collect();
    versions.sort_by(|(a, _), (b, _)| a.cmp(b));
    versions.dedup_by(|(a, _), (b, _)| a == b);
    if let [(_, first), _, ..] = versions.as_slice() {
        duplicates.push((first.reference(), versions.len()));
    }
    // An object's age is that of its uid, also for a version from which the age was stripped.
    let mut ages: HashMap<String, Option<Timestamp>> = HashMap::new();
    for (_, object) in &versions {
        let meta = object.body.meta();
        let age = ages.entry(meta.uid.clone()).or_default();
        *age = (*age).max(meta.created);
    }
    versions
        .into_iter()
        .min_by_key(|(text, object)| {
            let meta = object.body.meta();
            Reverse((
                ages.get(&meta.uid).copied().flatten(),
                meta.uid.clone(),
                meta.resource_version.parse::<u128>().ok(),
                text.clone(),
            ))
        })
        .map(|(_, object)| object)
}
