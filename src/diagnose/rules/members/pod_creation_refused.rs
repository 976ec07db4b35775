//! The member's API server does not let a workload's pods be created.

use crate::diagnose::member_findings::per_object;
use crate::diagnose::rules::prelude::*;

/// The newest ReplicaSet, or an event about the StatefulSet or DaemonSet, says `FailedCreate`, and
/// no quota is the reason. Source: kubernetes, pkg/controller/replicaset/replica_set_utils.go.
pub const RULE: Rule = Rule::error("FS912", "pod-creation-refused", Search::Whole(check))
    .reads(&[Concept::Binding, Concept::Work])
    .caused_by(&["FS531"])
    .content();

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    per_object(
        cx,
        rule,
        |seen| {
            let refusal = seen.view(cx)?.refusal()?;
            refusal.quota().is_none().then_some(refusal)
        },
        |group, mut finding| {
            let message = group.first().map_or("", |(_, refusal)| refusal.message);
            let (why, repair) = reason(message);
            if message.contains("failed calling webhook") {
                finding.fault = Some(Blame::Environment);
            }
            finding = group.says(finding, &format!("its pods cannot be created{why}"));
            for (cluster, refusal) in group.shown() {
                finding =
                    finding.evidence_in(cluster, refusal.object, refusal.path, refusal.message);
            }
            finding
                .look_with(
                    "Read the workload's events.",
                    group
                        .kubectl("get")
                        .arg("events")
                        .flag("--field-selector", "reason=FailedCreate"),
                )
                .fix(repair)
                .then_continues(group.cx)
                .new_run(
                    group.cx,
                    format!(
                        "Or fix {} on the hub and start a new run, if the pods break the cluster's \
                         rules: this run keeps its snapshot.",
                        group.on_hub()
                    ),
                )
        },
    )
}

/// What the refusal comes down to, with a leading colon, and what to do in the cluster.
fn reason(message: &str) -> (&'static str, &'static str) {
    if message.contains("violates PodSecurity") {
        (
            ": the namespace's Pod Security level forbids them",
            "Set another level on its namespace, if the workload needs what is forbidden: the label \
             pod-security.kubernetes.io/enforce.",
        )
    } else if message.contains("serviceaccount \"") && message.contains("not found") {
        (
            ": their service account does not exist there",
            "Create the service account on the member, or add it to the placement's selectors.",
        )
    } else if message.contains("failed calling webhook") {
        (
            ": an admission webhook does not answer",
            "Fix the webhook's service on the member. Removing the webhook's registration also ends its \
             checks of every other object.",
        )
    } else if message.contains("denied the request")
        || message.contains("ValidatingAdmissionPolicy")
    {
        (
            ": an admission policy forbids them",
            "Change the policy on the member, if it should allow them.",
        )
    } else if message.contains("usage per") || message.contains("LimitRange") {
        (
            ": a LimitRange of the namespace forbids them",
            "Raise the LimitRange on the member.",
        )
    } else {
        ("", "Fix on the member what the message names.")
    }
}
