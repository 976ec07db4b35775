//! The placement is being deleted, or has been: there is nothing left to roll out.

use super::placement_named;
use super::prelude::*;
use super::steps::of_placement;

/// How many of its bindings are shown.
const SHOWN: usize = 2;

/// `so` is the end of the sentence: what follows for the run.
pub fn placement_deleted(inventory: &Inventory, object: &ObjectRef, so: &str) -> Problem {
    // Bindings outlive their placement for as long as their content is being removed.
    let bindings = inventory.bindings.iter();
    let leaving: Vec<_> = bindings.filter(|it| it.meta.is_deleting()).collect();
    let gone = inventory.placement.is_absent();
    let what = match (gone, leaving.as_slice()) {
        (true, []) => "was deleted",
        (true, _) => "was deleted, and its bindings are now being deleted",
        (false, _) => "is being deleted",
    };
    let mut problem = Problem::new(object, format!("{object} {what}, {so}."));
    if gone {
        problem = problem.absent(object);
    } else if let Some(placement) = inventory.placement.present() {
        let meta = &placement.meta;
        problem = problem.deleted(object, meta.deleted);
        if !meta.finalizers.is_empty() {
            problem = problem.evidence(object, "metadata.finalizers", &meta.finalizers);
        }
    }
    for binding in leaving.iter().take(SHOWN) {
        problem = problem.deleted(binding.object(), binding.meta.deleted);
    }
    if inventory.policies.is_known_empty() {
        let (place, path) = placement_named(inventory, object);
        problem = problem.computed(place, &[path], format!("{object} has no policy snapshot"));
    }
    if gone {
        let left = of_placement(object, Concept::Binding);
        return problem.look_with("List what is left of it.", left);
    }
    let action = "Check what delays its deletion.";
    problem.look_with(action, object.kubectl("get").flag("-o", "yaml"))
}
