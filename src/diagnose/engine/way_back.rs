//! The way back from content that a run is stuck with.

use crate::diagnose::engine::causes::precedence;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::report::{Effect, FaultOrigin, Finding, Remedy, Verdict};
use crate::rollout::rollback;

/// Offers the way back where a stuck run's content is at fault: whoever is called wants the service
/// first. An override is not taken back with it.
pub(in crate::diagnose) fn offer(cx: &DiagnosisContext<'_>, findings: &mut [Finding]) {
    let Some(run) = cx.run().filter(|_| cx.verdict == Verdict::Stuck) else {
        return;
    };
    let mut roots = findings.iter().filter(|it| it.root_cause);
    let is_content = roots.all(|it| it.fault == Some(FaultOrigin::Content) && it.code != "FS509");
    let mut steps = findings.iter().flat_map(|it| &it.remedies);
    let is_offered = steps.any(|it| it.is_our(&["rollback"]));
    let is_last = rollback::current(cx.inventory).is_some_and(|it| it.meta.name == run.meta.name);
    if !is_content || is_offered || !is_last || rollback::last_good(cx.inventory, run).is_err() {
        return;
    }
    let name = &run.meta.name;
    let roots = findings.iter_mut().filter(|it| it.root_cause);
    if let Some(first) = roots.min_by(|one, other| precedence(one, other)) {
        first.remedies.push(Remedy::new(
            "Or roll back with a new run, if the fix takes long.",
            cx.command("rollback")
                .arg(name)
                .joined("--active", "delete"),
            Effect::Disruptive,
        ));
    }
}
