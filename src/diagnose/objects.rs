//! Findings about single objects on member clusters: one way to write them for all rules.

use super::case::{Case, Troubled};
use super::finding::enumerate;
use super::report::{Finding, Subject, Verdict};
use super::rules::Rule;
use crate::kubefleet::duration;
use crate::kubefleet::messages::ManifestProblem;
use crate::rollout::ManifestTrouble;

/// Makes a finding for every object on a troubled cluster whose problem `matches`. Objects of the
/// same name on several clusters become one finding. `describe` gives the sentence and adds the
/// remedies.
pub(super) fn per_object(
    case: &Case<'_>,
    rule: &Rule,
    matches: impl Fn(&ManifestTrouble<'_>) -> bool,
    describe: impl Fn(&Affected<'_, '_>, Finding) -> Finding,
) -> Vec<Finding> {
    let mut groups: std::collections::BTreeMap<_, Vec<(&Troubled<'_>, &ManifestTrouble<'_>)>> =
        std::collections::BTreeMap::new();
    for troubled in &case.troubles {
        for manifest in troubled
            .trouble
            .manifests
            .iter()
            .filter(|manifest| matches(manifest))
        {
            let key = (
                manifest.kind,
                manifest.namespace,
                manifest.name,
                troubled.stage,
                troubled.explains(case.verdict),
            );
            groups.entry(key).or_default().push((troubled, manifest));
        }
    }
    groups
        .into_values()
        .filter_map(|group| {
            let (first, manifest) = *group.first()?;
            let affected = Affected {
                case,
                manifest,
                on: group.iter().map(|(on, _)| *on).collect(),
            };
            let subject = Subject::new(manifest.kind, manifest.namespace, manifest.name);
            let mut finding = rule
                .finding(subject, String::new())
                .severity(first.severity(case.verdict))
                .root_if(first.explains(case.verdict))
                .clusters(group.iter().map(|(troubled, _)| troubled.cluster));
            finding.stage = first.stage.map(str::to_owned);
            for (troubled, manifest) in group.iter().take(3) {
                let binding = troubled.binding.object();
                finding = finding
                    .condition(&binding, "status", troubled.trouble.condition)
                    .evidence(
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
            Some(describe(&affected, finding))
        })
        .collect()
}

/// An object and the clusters on which it is in trouble.
pub(super) struct Affected<'a, 'i> {
    /// The case.
    pub case: &'a Case<'i>,
    /// The object's trouble on the first of the clusters.
    pub manifest: &'a ManifestTrouble<'i>,
    /// The clusters.
    pub on: Vec<&'a Troubled<'i>>,
}

impl Affected<'_, '_> {
    /// `Deployment shop/web (wrapped in ConfigMap shop/envelope)`.
    pub fn object(&self) -> String {
        let object = self.manifest.describe();
        match &self.manifest.envelope {
            Some(envelope) => format!(
                "{object} (wrapped in {} {}/{})",
                envelope.kind, envelope.namespace, envelope.name
            ),
            None => object,
        }
    }

    /// `member-1`, `member-1 and member-2`, `member-1, member-2, member-3 and 4 more`.
    pub fn clusters(&self) -> String {
        enumerate(self.on.iter().map(|troubled| troubled.cluster))
    }

    /// ` for 6m12s`, the longest of all, with its leading space; empty when no time is known.
    pub fn lasting(&self) -> String {
        self.on
            .iter()
            .filter_map(|troubled| troubled.lasting)
            .max()
            .map_or_else(String::new, |lasting| {
                format!(" for {}", duration::describe(lasting))
            })
    }

    /// What to change on the hub: the object itself, or the envelope that wraps it.
    pub fn on_hub(&self) -> String {
        match &self.manifest.envelope {
            Some(envelope) => {
                format!(
                    "the envelope {} {}/{}",
                    envelope.kind, envelope.namespace, envelope.name
                )
            }
            None => self.manifest.describe(),
        }
    }

    /// Adds what follows a repair on the member clusters: the same run goes on by itself.
    pub fn goes_on(&self, finding: Finding) -> Finding {
        if self.case.verdict == Verdict::Stuck && self.case.run().is_some() {
            finding.look(
                "Then wait: the same run goes on by itself at the controller's next look, which may \
                 take some minutes.",
                Some(self.case.command(&format!("diagnose {}", self.case.run_object().name))),
            )
        } else {
            finding
        }
    }

    /// Adds what follows a repair of the content on the hub: a new run, for this one keeps its
    /// snapshot.
    pub fn new_run(&self, finding: Finding, repair: impl Into<String>) -> Finding {
        finding.fix(repair, self.case.new_run_command())
    }

    /// Whether the problem is that the object is not available yet.
    pub fn is_unavailable(manifest: &ManifestTrouble<'_>) -> bool {
        matches!(manifest.problem, ManifestProblem::NotAvailableYet)
    }
}
