//! FS510: a snapshot whose name clusters have already, of one that was deleted.

use std::collections::BTreeMap;

use super::overrides_of;
use super::prelude::*;
use crate::kubefleet::reasons;
use crate::kubefleet::run::UpdateRun;
use crate::rollout::sent::sent_namesakes;
use crate::rollout::{is_written, rollout_started};
use crate::words::by_number;

/// The clusters of a run that it has sent nothing, or will send nothing, for that reason.
pub fn name_reused_by(inventory: &Inventory, run: &UpdateRun) -> Option<Problem> {
    let clusters = run.updated_clusters().filter(|cluster| {
        let binding = inventory.binding(&cluster.name);
        // What it brought itself is a matter of the next run.
        binding.is_some_and(|binding| {
            is_written(binding, run, cluster)
                && rollout_started(binding).run.as_ref() != Some(&run.meta.name)
        })
    });
    let clusters: Vec<_> = clusters.map(|it| it.name.as_str()).collect();
    name_reused(inventory, &clusters)
}

/// Those of some clusters that a run writes nothing to, and that were sent other snapshots of the names in their
/// bindings.
pub fn name_reused(inventory: &Inventory, clusters: &[&str]) -> Option<Problem> {
    let bindings = clusters.iter().filter_map(|name| inventory.binding(name));
    let of: Vec<_> = bindings
        .filter_map(|binding| Some((binding, sent_namesakes(inventory, binding)?)))
        .collect();
    let (first, sent) = of.first()?;
    let kept: Vec<_> = of.iter().map(|(it, _)| it.spec.cluster.as_str()).collect();
    let objects: BTreeMap<_, _> = of.iter().flat_map(|(_, it)| it.now.clone()).collect();
    let of_content = |it: &&ObjectRef| it.kind.concept() == Concept::ResourceSnapshot;
    let content = objects.keys().find(of_content);
    let is_content = content.is_some();
    let subject = content.or(objects.keys().next())?;
    let (have, their) = by_number(
        kept.len(),
        ("keeps", "its binding names"),
        ("keep", "their bindings name"),
    );
    let (was, them) = by_number(objects.len(), ("was", "it"), ("were", "them"));
    let message = format!(
        "{} {have} what {}: {their} {} already, which {was} deleted and created again since, so a run with {them} \
         sends nothing there.",
        enumerate(&kept),
        match sent.by {
            Some(run) => format!("{} brought", run.meta.name),
            None => "an earlier run brought".to_owned(),
        },
        enumerate(objects.keys().map(|it| it.name.as_str())),
    );
    let mut problem = Problem::new(subject.clone(), message).clusters(kept);
    for (object, meta) in &objects {
        problem = problem.created(object.clone(), meta.created);
    }
    problem = if is_content {
        problem.snapshot_in(first)
    } else {
        overrides_of(problem, first)
    };
    if let Some(run) = sent.by {
        problem = problem.condition(&run.object(), run.condition(reasons::INITIALIZED));
    }
    Some(problem.fix(if is_content {
        "Change the content on the hub, if it is not as it was, and start a new run: the next snapshot gets another \
         name, and reaches all clusters."
    } else {
        "Change the override once more, if it is not as it was, and start a new run: its next snapshot gets another \
         name, and reaches these clusters."
    }))
}
