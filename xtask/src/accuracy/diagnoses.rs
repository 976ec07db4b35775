//! How many root causes of known situations are named, and how many that are named are right.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use kubectl_fleet_stage::bundle::{self, Input};
use kubectl_fleet_stage::diagnose::rules;
use kubectl_fleet_stage::kubefleet::Kind;
use kubectl_fleet_stage::kubefleet::object::ObjectBody;

use super::situations::{Expectation, expectations, report};

/// Where situations are kept, and what they are called.
pub const ORIGINS: [(&str, &str); 4] = [
    ("tests/real", "recorded where KubeFleet's own agents ran"),
    ("tests/findings", "written for a rule"),
    ("tests/healthy", "written, nothing is wrong"),
    ("examples", "written for a guide"),
];

/// What was measured once, and cannot be counted again: the situations are known since.
const UNKNOWN: &str = "\
Unknown situations were tried too: written from KubeFleet's source alone, without the rules, and kept away from \
them.\n\n\
| November 2026 | situations | diagnosed right |\n\
|---|---|---|\n\
| first round | 41 | 40 |\n\
| second round | 26 | 24 |\n\
| third round, harder | 30 | 18 |\n";

/// Root causes, counted.
#[derive(Default, Clone, Copy)]
struct Count {
    situations: usize,
    /// That a person found in the situation.
    expected: usize,
    /// That the program names.
    named: usize,
    /// Both.
    right: usize,
}

impl Count {
    fn row(&self, name: &str) -> String {
        let share = |of: usize| match (self.right * 10_000).checked_div(of) {
            Some(share) => format!("{}.{:02} %", share / 100, share % 100),
            None => "-".to_owned(),
        };
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} |\n",
            self.situations,
            self.expected,
            self.named,
            self.right,
            share(self.named),
            share(self.expected)
        )
    }
}

fn table(first: &str, rows: &BTreeMap<String, Count>) -> String {
    let mut text = format!(
        "| {first} | situations | root causes expected | reported | correct | precision | recall |\n\
         |---|---|---|---|---|---|---|\n"
    );
    for (name, count) in rows {
        text.push_str(&count.row(name));
    }
    text
}

pub fn section(root: &Path) -> Result<String> {
    let mut origins: BTreeMap<String, Count> = BTreeMap::new();
    let mut areas: BTreeMap<String, Count> = BTreeMap::new();
    let mut scopes: BTreeMap<String, Count> = BTreeMap::new();
    let mut versions: BTreeMap<String, Count> = BTreeMap::new();
    let mut missed = String::new();
    for (folder, origin) in ORIGINS {
        for path in super::bundles(root, &[folder])? {
            let text =
                std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let version = version(&path)?;
            for situation in expectations(&text) {
                let expected: BTreeSet<&str> = roots(&situation).collect();
                let report = report(&path, &situation.args);
                let roots = report.findings.iter().filter(|finding| finding.root_cause);
                let named: BTreeSet<&str> = roots.map(|finding| finding.code.as_str()).collect();
                let all: BTreeSet<_> = expected.union(&named).copied().collect();
                let scope = if report.target.namespace.is_empty() {
                    "ClusterStagedUpdateRun"
                } else {
                    "StagedUpdateRun"
                };
                for counts in [
                    origins.entry(origin.to_owned()).or_default(),
                    scopes.entry(scope.to_owned()).or_default(),
                    versions.entry(version.to_owned()).or_default(),
                ] {
                    counts.situations += 1;
                    counts.expected += expected.len();
                    counts.named += named.len();
                    counts.right += expected.intersection(&named).count();
                }
                let mut seen = BTreeSet::new();
                for code in all {
                    let area = rules::area(code).unwrap_or("retired");
                    let counts = areas.entry(area.to_owned()).or_default();
                    counts.situations += usize::from(seen.insert(area));
                    counts.expected += usize::from(expected.contains(code));
                    counts.named += usize::from(named.contains(code));
                    counts.right += usize::from(expected.contains(code) && named.contains(code));
                }
                if expected != named {
                    let file = path.strip_prefix(root).unwrap_or(&path).display();
                    let _ = writeln!(
                        missed,
                        "- `{file}` ({}): expected {expected:?}, named {named:?}",
                        situation.args
                    );
                }
            }
        }
    }
    let misses = if missed.is_empty() {
        "Every situation is diagnosed as expected.\n".to_owned()
    } else {
        format!("Not diagnosed as expected:\n\n{missed}")
    };
    Ok(format!(
        "## Diagnoses\n\n\
         A situation is a bundle of objects and the run or placement to diagnose. For each, a person has written \
         down the findings that are its root causes. Precision is the share of reported root causes that were \
         expected. Recall is the share of expected root causes that were reported.\n\n\
         A test fails if any of these situations is diagnosed wrongly. The tables therefore show what is covered, not how \
         well unknown situations are diagnosed.\n\n\
         {UNKNOWN}\n{}\n{}\n{}\n{}\n{misses}",
        table("origin of the objects", &origins),
        table("area of the root cause", &areas),
        table("scope", &scopes),
        table("version of KubeFleet, according to the runs", &versions),
    ))
}

/// Which KubeFleet wrote a bundle's runs: those of 0.1 have no `spec.state`.
fn version(path: &Path) -> Result<&'static str> {
    let bundle = bundle::read(vec![Input::Path(path.to_owned())])
        .with_context(|| path.display().to_string())?;
    let kinds = [Kind::ClusterStagedUpdateRun, Kind::StagedUpdateRun];
    let objects = kinds.iter().flat_map(|kind| bundle.objects_of(*kind));
    let states: Vec<_> = objects
        .filter_map(|object| match &object.body {
            ObjectBody::Run(run) => Some(run.spec.state.is_some()),
            _ => None,
        })
        .collect();
    Ok(match states.as_slice() {
        [] => "no run",
        states if states.contains(&true) => "runs with a state: usually 0.2 and newer",
        _ => "runs without a state: 0.1",
    })
}

/// The codes of the root causes that are expected: those with a mark.
fn roots(situation: &Expectation) -> impl Iterator<Item = &str> {
    let findings = situation.rules.iter().filter(|(key, _)| key == "findings");
    let codes = findings.flat_map(|(_, codes)| codes.split_whitespace());
    codes.filter_map(|code| code.strip_suffix('!'))
}
