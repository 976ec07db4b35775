//! The image of a container cannot be pulled.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::{self, pods_in, status_field};
use crate::member::PodState;
use crate::member::texts::{PullProblem, pull_problem};

/// A container of the newest template waits with one of the kubelet's reasons for an image.
/// Source: kubernetes, pkg/kubelet/images/types.go.
pub const RULE: Rule = Rule::on_member("FS901", "image-not-pulled", check).content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = pods_in!(
        cx,
        rule,
        PodState::Image { reason, message, event } => (reason, message, event)
    );
    found.describe(|group, mut finding| {
        let images: BTreeSet<_> = group
            .found()
            .filter_map(|(_, (trouble, _))| trouble.container?.spec)
            .map(|container| container.image.as_str())
            .collect();
        let problems: BTreeSet<_> = group
            .found()
            .map(|(_, (_, (reason, message, _)))| pull_problem(reason, message))
            .collect();
        let what = match images.len() {
            0 => "the image".to_owned(),
            1 => format!("the image {}", enumerate(&images)),
            _ => format!("the images {}", enumerate(&images)),
        };
        let one = match problems.first() {
            Some(problem) if problems.len() == 1 => *problem,
            _ => PullProblem::Other,
        };
        if matches!(
            one,
            PullProblem::Certificate | PullProblem::RateLimit | PullProblem::Unreachable
        ) {
            finding.fault = Some(FaultOrigin::Environment);
        }
        let why = format!(
            "{what} of its {} cannot be pulled{}",
            group.containers(),
            pull_reason(one)
        );
        finding = group.says(finding, &why);
        for (cluster, (trouble, (reason, message, event))) in group.shown() {
            finding = status_field(finding, cluster, trouble, "state.waiting.reason", *reason);
            finding = member_findings::event_or_waiting(finding, cluster, trouble, *event, message);
        }
        let action = "Read the pod's events: they name the registry and its answer.";
        finding = finding.look_with(action, group.describe_pod());
        if one == PullProblem::InvalidName {
            return finding.repair_on_hub(
                group,
                "Correct the image name in {} on the hub, or with an override for these \
                 clusters, and start a new run: nothing can be pushed under this name.",
            );
        }
        finding.repair_there_or_on_hub(
            group,
            repair(one),
            "Or fix the image in {} on the hub, or with an override for these clusters, \
             and start a new run.",
        )
    })
}

const fn pull_reason(problem: PullProblem) -> &'static str {
    match problem {
        PullProblem::InvalidName => ": it is not a valid image name",
        PullProblem::NeverPull => ": it is not on the node, and imagePullPolicy is Never",
        PullProblem::Platform => ": it has no variant for the nodes' platform",
        PullProblem::Certificate => ": the registry's certificate is not trusted there",
        PullProblem::RateLimit => ": the registry's rate limit is reached",
        PullProblem::Unreachable => ": the registry does not answer there",
        PullProblem::Denied => ": the registry has no such image or denies access",
        PullProblem::NotFound => ": the registry has no such image",
        PullProblem::Other => "",
    }
}

const fn repair(problem: PullProblem) -> &'static str {
    match problem {
        PullProblem::Denied => {
            "Create a pull secret for the repository in the pods' namespace, and name it in \
             imagePullSecrets or in their service account."
        }
        PullProblem::Certificate => "Make the nodes trust the registry's certificate authority.",
        PullProblem::RateLimit => {
            "Wait until the limit is lifted, log in to the registry, or pull through a mirror."
        }
        PullProblem::Unreachable => {
            "Fix the connection from the nodes to the registry (DNS, firewall, proxy), or use a \
             mirror that they reach."
        }
        PullProblem::NeverPull => "Load the image onto the nodes, or change the imagePullPolicy.",
        PullProblem::InvalidName
        | PullProblem::Platform
        | PullProblem::NotFound
        | PullProblem::Other => {
            "Push the image under this name and tag, for the nodes' platform, where the cluster \
             pulls from."
        }
    }
}
