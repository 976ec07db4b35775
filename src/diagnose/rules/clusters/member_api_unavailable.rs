//! The API server of a member cluster does not answer the member agent.

use std::collections::BTreeSet;

use crate::diagnose::claims;
use crate::diagnose::objects;
use crate::diagnose::rules::prelude::*;
use crate::diagnose::troubled::Troubled;
use crate::kubefleet::duration;
use crate::kubefleet::messages::ManifestProblem;
use crate::rollout::ManifestTrouble;
use crate::words::Command;

/// Every object of the placement fails for it, and none of them is at fault: what the agent was
/// told is in each object's condition. Source: workapplier/process.go, apply.go.
pub const RULE: Rule = Rule::error("FS528", "member-api-unavailable", Check::Whole(check))
    .reads(&[Concept::Binding, Concept::Work])
    .caused_by(&["FS517", "FS922"]);

/// How many readings of one cluster are shown.
const SHOWN: usize = 3;

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    cx.troubles
        .iter()
        .filter_map(|troubled| {
            let failing: Vec<_> = troubled
                .trouble
                .manifests
                .iter()
                .filter(|manifest| claims::of_manifest(manifest) == Some(rule.code))
                .collect();
            (!failing.is_empty()).then(|| on_cluster(cx, rule, troubled, &failing))
        })
        .collect()
}

fn on_cluster(
    cx: &Context<'_>,
    rule: &Rule,
    troubled: &Troubled<'_>,
    failing: &[&ManifestTrouble<'_>],
) -> Finding {
    let cluster = troubled.cluster;
    let objects: BTreeSet<_> = failing.iter().map(|manifest| manifest.describe()).collect();
    let lasting = troubled.lasting.map_or_else(String::new, |lasting| {
        format!(" for {}", duration::describe(lasting))
    });
    let said = failing.iter().find_map(|manifest| match &manifest.problem {
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
    let subject = Subject::new("MemberCluster", "", cluster);
    let mut finding = objects::on_cluster(cx, rule, subject, message, troubled);
    for manifest in failing.iter().take(SHOWN) {
        finding = finding.evidence(
            &manifest.source.0,
            manifest.source.1.clone(),
            format!(
                "{} {}={} {}: {}",
                manifest.describe(),
                manifest.condition.kind,
                manifest.condition.status.as_str(),
                manifest.condition.reason,
                manifest.condition.message
            ),
        );
    }
    finding
        .look_with(
            format!(
                "Check whether the API server of {cluster} answers, and which of its checks fails."
            ),
            Command::member(cluster, "get").flag("--raw", "/readyz?verbose"),
        )
        .fix(format!(
            "Restore the control plane of {cluster}, or its agent's connection to it."
        ))
        .then_continues(cx)
}
