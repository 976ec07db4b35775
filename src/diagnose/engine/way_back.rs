//! The way back from content that a run is stuck with.

use std::cell::LazyCell;

use crate::diagnose::engine::causes::precedence;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::same_again;
use crate::report::{Effect, FaultOrigin, Finding, Remedy, Verdict};
use crate::rollout::sent::sent_index;
use crate::rollout::{Rollout, rollback};

/// Offers the way back where a run is stuck with its content, or has failed and left clusters failing with it:
/// whoever is called wants the service first. An override is not taken back with it.
pub fn offer(cx: &DiagnosisContext<'_>, findings: &mut [Finding]) {
    let has_failed = cx.verdict == Verdict::Failed;
    let Some(run) = cx
        .run()
        .filter(|_| has_failed || cx.verdict == Verdict::Stuck)
    else {
        return;
    };
    // A workload may not become available anywhere else either, but what worked before is known to.
    let is_new = LazyCell::new(|| same_again::changes_what_fails(cx));
    let is_content = |it: &Finding| {
        it.fault == Some(FaultOrigin::Content) && it.code != "FS509"
            || it.code == "FS501" && !has_failed && *is_new
    };
    let is_meant = |it: &Finding| {
        if has_failed {
            is_content(it) && !it.clusters.is_empty()
        } else {
            it.root_cause
        }
    };
    let mut meant = findings.iter().filter(|it| is_meant(it));
    let mut steps = findings.iter().flat_map(|it| &it.remedies);
    let is_offered = steps.any(|it| it.is_our(&["rollback"]));
    let is_last = rollback::current(cx.inventory).is_some_and(|it| it.meta.name == run.meta.name);
    let Ok(good) = rollback::last_good(cx.inventory, run) else {
        return;
    };
    // Clusters that the run has not reached would get content that nobody has asked for there.
    let ahead = cx.rollout.iter().flat_map(Rollout::still_to_reach);
    let mut held = ahead.filter_map(|it| sent_index(cx.inventory, it.binding?));
    let moves_others = held.any(|has| has != good.index);
    if !meant.all(is_content)
        || is_offered
        || !is_last
        || moves_others
        || same_again::fails_again(cx)
    {
        return;
    }
    let back = cx.command("rollback").arg(&run.meta.name);
    let back = if has_failed {
        back
    } else {
        back.joined("--active", "delete")
    };
    let meant = findings.iter_mut().filter(|it| is_meant(it));
    if let Some(first) = meant.min_by(|one, other| precedence(one, other)) {
        first.remedies.push(Remedy::new(
            "Or roll back with a new run, if the fix takes long.",
            back,
            Effect::Disruptive,
        ));
    }
}
