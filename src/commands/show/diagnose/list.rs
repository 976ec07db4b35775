//! The reports of several runs.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::gather::hubs::{HubAnswers, NotReached};
use crate::commands::show::list::urgency;
use crate::kubefleet::{Concept, Kind};
use crate::report::{Report, TypeMeta, Verdict};
use crate::words::count;

/// The reports of several runs or placements.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisList {
    #[serde(flatten)]
    meta: TypeMeta,
    /// How many reports have which verdict; verdicts that none has are left out.
    verdicts: BTreeMap<Verdict, usize>,
    /// One report per run, by scope, namespace and name, or in the order in which they were named;
    /// of several hubs, first by hub in the order in which the hubs were named.
    items: Vec<Report>,
    /// The hubs that did not answer, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_reached: Vec<NotReached>,
    /// How many hubs answered, where several were asked.
    #[serde(skip)]
    hubs: Option<usize>,
}

impl DiagnosisList {
    pub fn new<T>(items: Vec<Report>, answers: &HubAnswers<T>) -> Self {
        let mut verdicts = BTreeMap::new();
        for report in &items {
            *verdicts.entry(report.verdict).or_insert(0) += 1;
        }
        Self {
            meta: TypeMeta::new("DiagnosisList"),
            verdicts,
            items,
            not_reached: answers.not_reached.clone(),
            hubs: answers.is_several().then_some(answers.hubs.len()),
        }
    }

    pub fn items(&self) -> &[Report] {
        &self.items
    }

    /// For people who asked for all: first what needs them.
    pub fn by_need(&self) -> Vec<&Report> {
        let mut items: Vec<_> = self.items.iter().collect();
        items.sort_by_key(|report| {
            let worst = report.findings.iter().map(|finding| finding.severity).max();
            // Where nobody has to act, what was found says what comes first.
            (urgency(report.verdict).min(5), Reverse(worst))
        });
        items
    }

    pub fn headline(&self) -> String {
        let hubs = self.hubs.map(|hubs| format!(" on {}", count(hubs, "hub")));
        let hubs = hubs.unwrap_or_default();
        if self.items.is_empty() {
            return format!("no update run{hubs}");
        }
        let verdicts: Vec<_> = self
            .verdicts
            .iter()
            .map(|(verdict, count)| format!("{count} {}", verdict.as_str()))
            .collect();
        let is_run = |report: &Report| {
            let kind = Kind::by_name(&report.target.kind);
            kind.is_some_and(|kind| kind.concept() == Concept::UpdateRun)
        };
        let what = if self.items.iter().all(is_run) {
            "update run"
        } else {
            "rollout"
        };
        format!(
            "{}{hubs}: {}",
            count(self.items.len(), what),
            verdicts.join(", ")
        )
    }
}
