//! The container runtime cannot create or start a container.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::{self, pods_in, status_field};
use crate::member::PodState;

/// A container of the newest template waits with the kubelet's reason for one that cannot be made,
/// or ended as `StartError`. Source: kubernetes, pkg/kubelet/kuberuntime/kuberuntime_container.go.
pub const RULE: Rule = Rule::on_member("FS905", "container-not-started", check).content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = pods_in!(cx, rule, PodState::NotStarted { reason, message } => (reason, message));
    found.describe(|group, mut finding| {
        let reason = group
            .first()
            .map_or("", |(_, (_, (_, message)))| runtime_reason(message));
        let why = format!(
            "its {} cannot be started in {}{reason}",
            group.containers(),
            group.pods()
        );
        finding = group.says(finding, &why);
        for (cluster, (trouble, (reason, message))) in group.shown() {
            let Some(place) = trouble.container else {
                continue;
            };
            let waits = place.status.state.waiting.as_deref();
            let ends = [&place.status.state, &place.status.last];
            let mut ends = ends.into_iter().filter_map(|it| it.terminated.as_deref());
            if let Some(waits) = waits.filter(|it| it.reason == *reason) {
                finding = status_field(finding, cluster, trouble, "state.waiting", waits);
            } else if let Some(end) = ends.find(|it| it.reason == *reason && it.message == *message)
            {
                finding = member_findings::container_end(finding, cluster, trouble, end);
            }
        }
        finding
            .look_with("Inspect the pod.", group.describe_pod())
            .repair_on_hub(
                group,
                "Fix the command, the security context, or the mounts in {} on the hub, and \
                 start a new run.",
            )
    })
}

/// What the runtime's words come down to, with a leading colon.
fn runtime_reason(message: &str) -> &'static str {
    let message = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if says(&["executable file not found", "no such file or directory"]) {
        ": its command is not in the image"
    } else if says(&["runasnonroot", "run as root", "non-root"]) {
        ": it would run as root, which is not allowed"
    } else if says(&["exec format error"]) {
        ": its program is built for another platform"
    } else if says(&["permission denied"]) {
        ": it has no permission to execute or open something"
    } else {
        ""
    }
}
