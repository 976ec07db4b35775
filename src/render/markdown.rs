//! A report for an issue or a chat.

use std::fmt::Write as _;

use super::escape;
use super::invocation::Invocation;
use crate::diagnose::report::{Effect, Finding, Report};
use crate::rollout::ClusterState;

/// Writes a report.
pub fn report(report: &Report, invocation: &Invocation) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "## {}: {}\n",
        report.verdict.as_str(),
        text(&report.target.to_string())
    );
    let _ = writeln!(out, "{}\n", text(&report.summary));
    if let Some(progress) = &report.progress {
        let _ = writeln!(
            out,
            "| stage | state | done | clusters |\n|---|---|---|---|"
        );
        for stage in &progress.stages {
            let done = stage
                .clusters
                .iter()
                .filter(|c| c.state == ClusterState::Done)
                .count();
            let open: Vec<_> = stage
                .clusters
                .iter()
                .filter(|cluster| cluster.state != ClusterState::Done)
                .map(|cluster| format!("{} ({})", cluster.name, cluster.state.describe()))
                .collect();
            let _ = writeln!(
                out,
                "| {} | {} | {done}/{} | {} |",
                text(&stage.name),
                stage.state.describe(),
                stage.clusters.len(),
                text(&open.join(", "))
            );
        }
        out.push('\n');
    }
    for finding in &report.findings {
        self::finding(&mut out, finding, invocation);
    }
    if !report.not_checked.is_empty() {
        let _ = writeln!(out, "### Not checked\n");
        for gap in &report.not_checked {
            let what = gap
                .subject
                .as_ref()
                .map_or_else(|| gap.what.clone(), ToString::to_string);
            let clusters = if gap.clusters.is_empty() {
                String::new()
            } else {
                format!(" ({})", gap.clusters.join(", "))
            };
            let _ = writeln!(out, "- {}", text(&format!("{what}: {}{clusters}", gap.why)));
        }
        out.push('\n');
    }
    if let Some(as_of) = report.as_of {
        let _ = writeln!(out, "As of {as_of}.");
    }
    out
}

fn finding(out: &mut String, finding: &Finding, invocation: &Invocation) {
    let role = if finding.root_cause {
        ", root cause".to_owned()
    } else if finding.caused_by.is_empty() {
        String::new()
    } else {
        let causes: Vec<_> = finding
            .caused_by
            .iter()
            .map(|cause| cause.code.as_str())
            .collect();
        format!(", because of {}", causes.join(", "))
    };
    let _ = writeln!(
        out,
        "### [{}]({}) {} ({}{role})\n",
        finding.code,
        finding.docs,
        finding.name,
        finding.severity.as_str()
    );
    let _ = writeln!(out, "{}\n", text(&finding.message));
    if finding.clusters.len() > 1 {
        let _ = writeln!(out, "Clusters: {}\n", text(&finding.clusters.join(", ")));
    }
    for evidence in &finding.evidence {
        let _ = writeln!(
            out,
            "- {} {} = {}",
            text(&evidence.object.to_string()),
            code(&evidence.path),
            code(&evidence.value)
        );
    }
    out.push('\n');
    for (at, remedy) in finding.remedies.iter().enumerate() {
        let effect = if remedy.effect == Effect::Disruptive {
            " (disruptive)"
        } else {
            ""
        };
        // Our own words, with code in backquotes; names from the cluster are DNS names.
        let _ = writeln!(out, "{}. {}{effect}", at + 1, escape::line(&remedy.action));
        if let Some(command) = &remedy.command {
            let command = invocation.command(&escape::line(command));
            let _ = writeln!(out, "\n   ```sh\n   {command}\n   ```\n");
        }
    }
    out.push('\n');
}

/// Text that markdown must not read.
fn text(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in escape::line(value).chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '@'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A code span around any text.
fn code(value: &str) -> String {
    let value = escape::line(value);
    if value.is_empty() {
        return "``` \"\" ```".to_owned();
    }
    let longest = value.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if value.starts_with('`') || value.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{value}{pad}{fence}")
}
