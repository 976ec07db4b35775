//! What an object's size explains: one that etcd refuses is no longer written, and no condition
//! can say so.

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::problems::steps;
use crate::report::{ComposeText, Finding};
use crate::rollout::limits;

/// Adds, to a finding that the controller does not write a run's status, that the run may be too
/// large to be written.
pub fn explain(cx: &DiagnosisContext<'_>, mut finding: Finding) -> Finding {
    let Some(run) = cx.run() else {
        return finding;
    };
    let size = limits::recorded_run_size(run);
    if !limits::is_near(size) {
        return finding;
    }
    let (size, limit) = (
        limits::describe(size),
        limits::describe(limits::ETCD_REQUEST),
    );
    finding.add_sentence(&format!(
        "The run's object is now about {size}; etcd accepts {limit} by default, so its status may \
         be too large to be written."
    ));
    finding
        .computed(run.object(), &["status.stagesStatus"], size)
        .look_with(
            "Search the hub agent's log for `request is too large`.",
            steps::hub_agent(),
        )
}
