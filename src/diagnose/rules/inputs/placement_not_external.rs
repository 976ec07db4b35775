//! The placement rolls its content out by itself.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::placement::Placement;
use crate::problems::{self, Problem};
use crate::rollout::sent::sent_without_run;

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
    if let Some(rolled) = cx.rollout.as_ref().and_then(sent_without_run) {
        problem.message = format!(
            "{}, and {}.",
            problem.message.trim_end_matches('.'),
            rolled.describe()
        );
    }
    let fixed = placement.is_some_and(Placement::is_external);
    Some((problem, fixed))
}
