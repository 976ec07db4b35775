//! What a run releases is sent to clusters only at the work generator's next try.

use super::prelude::*;
use super::steps::try_at_once;
use crate::kubefleet::{duration, reasons};
use crate::rollout::LOOK_EVERY;
use crate::rollout::sent::awaited_since;

/// The clusters, of these, for which that holds once a run releases them.
pub fn content_sent_late<'c>(
    inventory: &Inventory,
    clusters: impl Iterator<Item = &'c str>,
) -> Option<Problem> {
    let late = clusters.filter_map(|cluster| {
        let binding = inventory.binding(cluster).filter(|it| it.awaits_run())?;
        Some((binding, awaited_since(inventory, cluster)?))
    });
    let late: Vec<_> = late
        .filter(|(_, awaited)| awaited.pause(inventory.now) > LOOK_EVERY)
        .collect();
    let (first, awaited) = late.iter().min_by_key(|(_, awaited)| awaited.since)?;
    let names = late.iter().map(|(binding, _)| &binding.spec.cluster);
    let pause = duration::describe(awaited.pause(inventory.now));
    let message = format!(
        "What the run sends to {} may come up to {pause} later: {awaited}.",
        enumerate(names.clone())
    );
    let mut problem = Problem::new(first.object(), message).clusters(names.cloned());
    for (binding, _) in late.iter().take(3) {
        let object = binding.object();
        let released = binding.condition(reasons::ROLLOUT_STARTED);
        let released = released.and_then(|it| it.observed_generation);
        let path = "status.conditions[type=RolloutStarted].observedGeneration";
        problem = problem.known(&object, path, released);
        problem = problem.evidence(&object, "metadata.generation", binding.meta.generation);
    }
    Some(problem.fix(try_at_once()))
}
