//! The placement rolls its content out by itself.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::{Conditions, reasons};
use crate::problems::{self, Problem};
use crate::rollout::rollout_started;
use crate::rollout::sent::sent_index;

/// Update runs take only placements whose strategy is External; without a word it is
/// RollingUpdate. Source: updaterun/initialization.go:validatePlacement.
pub const RULE: Rule = Rule::refusal("FS102", "placement-not-external", check)
    .reads(&[Concept::Placement])
    .person();

fn check(cx: &DiagnosisContext<'_>, cause: &Cause) -> Option<(Problem, bool)> {
    let Cause::PlacementNotExternal { current } = cause else {
        return None;
    };

    let placement = cx.inventory.placement.present();
    let now = placement.map(|placement| (placement.is_external(), placement.rollout_type()));
    let since = match now {
        Some((true, _)) => ", but it has External now".to_owned(),
        Some((false, now)) if now != current => format!(", and it has {now} now"),
        _ => String::new(),
    };
    let object = cx.placement_object();
    let mut problem = problems::not_external(&object, placement, current, cx.past(&since));
    if cx.failure.is_none() {
        let in_time = run_failure::in_time(cx);
        for step in &mut problem.remedies {
            step.action = format!("{} To keep the run, do it {in_time}.", step.action);
        }
    }
    if let Some(rolled) = rolled_out(cx) {
        problem.message = format!("{}, and {rolled}.", problem.message.trim_end_matches('.'));
    }
    let fixed = placement.is_some_and(Placement::is_external);
    Some((problem, fixed))
}

/// To which clusters of the run KubeFleet sent its snapshot by itself, since the run began.
fn rolled_out(cx: &DiagnosisContext<'_>) -> Option<String> {
    let rollout = cx.rollout.as_ref()?;
    let index = rollout.run.status.snapshot_index.as_str();
    let begun = rollout.run.status.conditions.since(reasons::INITIALIZED)?;
    let ahead = rollout.still_to_reach().filter(|cluster| {
        cluster.binding.is_some_and(|binding| {
            let sent = binding.status.conditions.since(reasons::WORK_SYNCHRONIZED);
            sent_index(cx.inventory, binding) == Some(index)
                && rollout_started(binding).run.is_none()
                && sent.is_some_and(|sent| sent > begun)
        })
    });
    let ahead: Vec<_> = ahead.map(|it| it.name).collect();
    (!ahead.is_empty()).then(|| {
        let clusters = enumerate(ahead);
        format!("KubeFleet itself sent snapshot {index} to {clusters} without the run")
    })
}
