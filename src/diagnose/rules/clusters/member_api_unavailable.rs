//! The API server of a member cluster does not answer the member agent.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::objects;
use crate::diagnose::subjects::ownership;
use crate::kubefleet::duration;
use crate::kubefleet::messages::ManifestProblem;
use crate::rollout::ManifestTrouble;
use crate::words::CommandLine;

/// Every object of the placement fails for it, and none of them is at fault: what the agent was
/// told is in each object's condition. Source: workapplier/process.go, apply.go.
pub const RULE: Rule = Rule::error("FS528", "member-api-unavailable", Whole(check))
    .reads(&[Concept::Binding, Concept::Work])
    .caused_by(&["FS517", "FS518", "FS922"])
    .environment();

/// How many readings of one cluster are shown.
const SHOWN: usize = 3;

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let troubles = cx.troubles.iter().filter_map(|failing| {
        let manifests = failing.trouble.manifests.iter();
        let manifests: Vec<_> = manifests
            .filter(|manifest| ownership::of_manifest(manifest) == Some(rule.code))
            .collect();
        (!manifests.is_empty()).then(|| on_cluster(cx, rule, failing, &manifests))
    });
    troubles.collect()
}

fn on_cluster(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    failing: &FailingCluster<'_>,
    manifests: &[&ManifestTrouble<'_>],
) -> Finding {
    let cluster = failing.cluster;
    let objects = manifests.iter();
    let objects: BTreeSet<_> = objects.map(|manifest| manifest.describe()).collect();
    let lasting = duration::lasting(failing.lasting);
    let said = manifests
        .iter()
        .find_map(|manifest| match &manifest.problem {
            // What the agent was about to do stands before the answer.
            ManifestProblem::ApiServerUnavailable { detail } => detail
                .rsplit("manifest object: ")
                .next()
                .map(|said| said.trim_end_matches('.')),
            _ => None,
        });
    let said = said.map_or_else(String::new, |said| format!(": {said}"));
    let message = format!(
        "The API server of {cluster} does not answer its member agent: {} could not be \
         applied{lasting} ({}){said}.",
        count(objects.len(), "object"),
        enumerate(&objects)
    );
    let subject = Subject::member(cluster);
    let mut finding = objects::on_cluster(cx, rule, subject, message, failing);
    for manifest in manifests.iter().take(SHOWN) {
        let (object, path) = &manifest.source;
        finding = finding.evidence(object, path, manifest);
    }
    finding
        .look_with(
            format!(
                "Check whether the API server of {cluster} answers, and which of its checks fails."
            ),
            CommandLine::member(cluster, "get").flag("--raw", "/readyz?verbose"),
        )
        .fix(format!(
            "Restore the control plane of {cluster}, or its agent's connection to it."
        ))
        .then_continues(cx)
}
