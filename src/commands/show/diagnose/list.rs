//! The reports of several runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::kubefleet::object::OWN_API_VERSION;
use crate::report::{Report, Verdict};
use crate::words::count;

/// The reports of several runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisList {
    /// Always `kubectl-fleet-stage/v1`.
    api_version: String,
    /// Always `DiagnosisList`.
    kind: String,
    /// How many reports have which verdict; verdicts that none has are left out.
    verdicts: BTreeMap<Verdict, usize>,
    /// One report per run, by scope, namespace and name.
    items: Vec<Report>,
}

impl DiagnosisList {
    /// A list of reports.
    pub fn new(items: Vec<Report>) -> Self {
        let mut verdicts = BTreeMap::new();
        for report in &items {
            *verdicts.entry(report.verdict).or_insert(0) += 1;
        }
        Self {
            api_version: OWN_API_VERSION.to_owned(),
            kind: "DiagnosisList".to_owned(),
            verdicts,
            items,
        }
    }

    /// The reports.
    pub fn items(&self) -> &[Report] {
        &self.items
    }

    /// How many runs there are, and how they are.
    pub fn headline(&self) -> String {
        if self.items.is_empty() {
            return "no update run".to_owned();
        }
        let verdicts: Vec<_> = self
            .verdicts
            .iter()
            .map(|(verdict, count)| format!("{count} {}", verdict.as_str()))
            .collect();
        format!(
            "{}: {}",
            count(self.items.len(), "update run"),
            verdicts.join(", ")
        )
    }
}
