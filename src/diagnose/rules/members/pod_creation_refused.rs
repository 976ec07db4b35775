//! The member's API server does not let a workload's pods be created.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::per_object;

/// The newest ReplicaSet, or an event about the StatefulSet or DaemonSet, says `FailedCreate`, and
/// no quota is the reason. Source: kubernetes, pkg/controller/replicaset/replica_set_utils.go.
pub const RULE: Rule = Rule::on_member("FS912", "pod-creation-refused", check)
    .caused_by(&["FS518", "FS531"])
    .content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = per_object(cx, rule, |seen| {
        let refusal = seen.view(cx)?.refusal()?;
        refusal.quota().is_none().then_some(refusal)
    });
    found.describe(|group, mut finding| {
        let message = group.first().map_or("", |(_, refusal)| refusal.message);
        let (why, repair) = reason(message);
        if message.contains("failed calling webhook") {
            finding.fault = Some(FaultOrigin::Environment);
        }
        finding = group.says(finding, &format!("its pods cannot be created{why}"));
        for (cluster, refusal) in group.shown() {
            finding =
                finding.evidence_in(cluster, refusal.object, refusal.path, refusal.message);
        }
        finding = finding.look_with(
            "Read the events about pods that could not be created.",
            group
                .kubectl("get")
                .arg("events")
                .flag("--field-selector", "reason=FailedCreate"),
        );
        let content = |joint: &str| {
            format!(
                "{joint}ix {} on the hub and start a new run, if the pods break the cluster's \
                 rules.",
                group.on_hub()
            )
        };
        match repair {
            PodRepair::Cluster(repair) => finding
                .fix(repair)
                .then_continues(group.cx)
                .new_run(group.cx, content("Or f")),
            // What the content itself brings, nobody else can change for long.
            PodRepair::Content(kind, _) if let Some(own) = group.in_content(kind, |_| true) => {
                let change = format!(
                    "Fix {} or {own} on the hub, which forbids its pods, and start a new run: both are \
                     part of the content.",
                    group.on_hub()
                );
                finding.new_run(group.cx, change)
            }
            // A rule of the cluster is there for a reason.
            PodRepair::Content(_, repair) => finding
                .new_run(group.cx, content("F"))
                .fix(repair)
                .then_continues(group.cx),
        }
    })
}

/// What comes first, and what to do in the cluster.
enum PodRepair {
    Cluster(&'static str),
    /// The kind of what forbids the pods, where that is an object of their namespace, or the namespace.
    Content(&'static str, &'static str),
}

/// What the refusal comes down to, with a leading colon, and what to do in the cluster.
fn reason(message: &str) -> (String, PodRepair) {
    use PodRepair::{Cluster, Content};
    let (why, repairs) = if message.contains("violates PodSecurity") {
        (
            ": the namespace's Pod Security level forbids them",
            Content(
                "Namespace",
                "Or ask the cluster's owner for another level on its namespace, if the workload \
                 needs what is forbidden.",
            ),
        )
    } else if message.contains("serviceaccount \"") && message.contains("not found") {
        (
            ": their service account does not exist there",
            Cluster("Create the service account on the member, if it is made there."),
        )
    } else if message.contains("failed calling webhook") {
        (
            ": an admission webhook does not answer",
            Cluster("Restore the webhook's service on the member."),
        )
    } else if message.contains("denied the request")
        || message.contains("ValidatingAdmissionPolicy")
    {
        (
            ": an admission policy forbids them",
            Content(
                "",
                "Or ask the policy's owner to allow them, if the objection is wrong.",
            ),
        )
    } else if message.contains("usage per") || message.contains("LimitRange") {
        (
            ": a LimitRange of the namespace forbids them",
            Content(
                "LimitRange",
                "Or ask the cluster's owner to change the LimitRange.",
            ),
        )
    } else {
        ("", Cluster("Fix on the member what the message names."))
    };
    // A webhook's own words tell more than ours.
    let mut said = ["denied the request: ", "denied request: "].iter();
    let said = said.find_map(|words| Some(message.split_once(words)?.1));
    let said = said.map_or_else(String::new, |said| {
        format!(": {}", said.trim_end_matches('.'))
    });
    (format!("{why}{said}"), repairs)
}
