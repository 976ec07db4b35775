//! A report for an issue or a chat, as GitHub and most others read markdown.

use std::fmt::Write as _;

use super::invocation::Invocation;
use super::wrap::{gap_line, list};
use super::{escape, tree};
use crate::report::{
    Effect, NotChecked, OutlinedFinding, Report, ReportDetail, ReportOutline, RunFacts,
};
use crate::rollout::{ClusterState, StageProgress};
use crate::words::{CommandLine, capital};

pub fn report(report: &Report, invocation: &Invocation) -> String {
    let mut out = String::new();
    let target = text(&report.about());
    let _ = writeln!(out, "## {}: {target}\n", report.verdict.as_str());
    let outline = ReportOutline::new(report, ReportDetail::ISSUE);
    let _ = writeln!(out, "{}", prose(&outline.summary));
    if let Some(progress) = &report.run {
        table(&mut out, progress);
    }
    for finding in &outline.findings {
        self::finding(&mut out, finding, invocation);
    }
    if !report.not_checked.is_empty() {
        out.push_str("\n### Not checked\n\n");
        for gap in &report.not_checked {
            let _ = writeln!(out, "- {}", self::gap(gap));
        }
    }
    let as_of = report.as_of.map(|as_of| format!("as of {as_of}"));
    let notes: Vec<_> = outline.left_out.into_iter().chain(as_of).collect();
    if !notes.is_empty() {
        let _ = writeln!(out, "\n{}", notes.join("; "));
    }
    out
}

fn table(out: &mut String, progress: &RunFacts) {
    let head = text(&capital(&tree::content(progress)));
    let (done, total) = (progress.done, progress.total);
    let _ = writeln!(out, "\n{head}: {done}/{total} clusters done");
    if progress.stages.is_empty() {
        return;
    }
    out.push_str("\n| stage | state | done | gates | not done |\n|---|---|---|---|---|\n");
    for stage in &progress.stages {
        let _ = writeln!(
            out,
            "| {} | {} | {}/{} | {} | {} |",
            text(stage.label()),
            stage.state.describe(),
            stage.done(),
            stage.clusters.len(),
            text(&gates(stage)),
            text(&unfinished(stage))
        );
    }
}

fn gates(stage: &StageProgress) -> String {
    let open = stage.gates.iter().filter(|task| task.is_open());
    let gates: Vec<_> = open
        .map(|task| match (&task.request, task.until) {
            (_, Some(until)) => format!("{} {until}", task.kind),
            (Some(name), None) if task.is_approved() => {
                format!("{} {name}, approved", task.kind)
            }
            (Some(name), None) => format!("{} {name}", task.kind),
            (None, None) => task.kind.clone(),
        })
        .collect();
    gates.join(", ")
}

/// The clusters that are not done, by state.
fn unfinished(stage: &StageProgress) -> String {
    let groups = tree::groups(stage).into_iter();
    let groups = groups.filter_map(|(state, members)| {
        let names: Vec<_> = members.iter().map(|one| one.name.as_str()).collect();
        let group = format!("{} {}", names.len(), state.describe());
        match state {
            ClusterState::Done => None,
            ClusterState::NotReached => Some(group),
            _ => Some(format!(
                "{group}: {}",
                list(&names, ReportDetail::ISSUE.clusters)
            )),
        }
    });
    groups.collect::<Vec<_>>().join("; ")
}

fn finding(out: &mut String, finding: &OutlinedFinding<'_>, invocation: &Invocation) {
    let role = match finding.role.as_str() {
        "" => String::new(),
        role => format!(", {role}"),
    };
    let _ = writeln!(
        out,
        "\n### [{}]({}) {} ({}{})\n",
        text(&finding.code),
        finding.docs,
        text(&finding.name),
        finding.severity.as_str(),
        text(&role)
    );
    let _ = writeln!(out, "{}", prose(&finding.message));
    if finding.clusters.len() > 1 {
        let stage = match &finding.stage {
            Some(stage) => format!(" (stage {stage})"),
            None => String::new(),
        };
        let clusters = list(finding.clusters, ReportDetail::ISSUE.clusters);
        let _ = writeln!(out, "\nClusters{}: {}", text(&stage), text(&clusters));
    }
    for (at, remedy) in finding.remedies.iter().enumerate() {
        let effect = match remedy.effect {
            Effect::ReadOnly => String::new(),
            effect => format!(" (*{}*)", effect.as_str()),
        };
        let action = prose(&remedy.action);
        let gap = if at == 0 { "\n" } else { "" };
        let _ = writeln!(out, "{gap}{}. {action}{effect}", at + 1);
        if let Some(command) = &remedy.command {
            let command = invocation.command(command);
            let fence = fence(&command, 3);
            let _ = writeln!(out, "\n   {fence}sh\n   {command}\n   {fence}\n");
        }
    }
    if finding.evidence.all > 0 {
        let gap = if out.ends_with("\n\n") { "" } else { "\n" };
        let _ = writeln!(out, "{gap}Evidence:\n");
    }
    for one in &finding.evidence.shown {
        let _ = writeln!(
            out,
            "- {} {}{} {}",
            text(&one.place),
            code(&one.evidence.path),
            if one.evidence.computed {
                ": computed"
            } else {
                " ="
            },
            code(&one.value)
        );
    }
    let explain = CommandLine::fleet("explain").arg(&finding.code);
    let gap = if out.ends_with("\n\n") { "" } else { "\n" };
    let _ = writeln!(out, "{gap}See {}", code(&invocation.command(&explain)));
}

fn gap(gap: &NotChecked) -> String {
    text(&gap_line(&gap.name(), gap, ReportDetail::ISSUE.clusters))
}

/// Text with code between backquotes, of which the rest must not be read as markdown.
fn prose(value: &str) -> String {
    let value = escape::line(value);
    let parts: Vec<&str> = value.split('`').collect();
    // An odd number of backquotes does not pair: then none of them means code.
    if parts.len().is_multiple_of(2) {
        return text(&value);
    }
    let mut out = String::with_capacity(value.len());
    for (at, part) in parts.iter().enumerate() {
        if at % 2 == 0 {
            write_text(&mut out, part);
        } else if part.is_empty() {
            out.push_str("\\`\\`");
        } else {
            out.push_str(&code(part));
        }
    }
    guard_start(out)
}

/// Text that must not be read as markdown.
fn text(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    write_text(&mut out, &keep_ends(value));
    guard_start(out)
}

/// One harmless line, with the space that it begins with: it stands behind another text.
fn keep_ends(value: &str) -> String {
    let line = escape::line(value);
    if value.starts_with(' ') {
        format!(" {line}")
    } else {
        line
    }
}

/// Writes words; those of which a reader of markdown would make a link or call somebody, as code.
/// A backslash does not hinder that: links are made of what is shown.
fn write_text(out: &mut String, text: &str) {
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            out.push(' ');
        }
        if !is_live(word) {
            write_word(out, word);
            continue;
        }
        // A cell of a table ends at a bar, also in code.
        for (at, part) in word.split('|').enumerate() {
            if at > 0 {
                out.push_str("\\|");
            }
            match part {
                "" => {}
                part => out.push_str(&code(part)),
            }
        }
    }
}

/// Whether something in a word comes alive: an address, a mention, a reference to an issue or to a
/// commit.
fn is_live(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let before_digit = |mark: &str| {
        lower
            .match_indices(mark)
            .any(|(at, mark)| lower[at + mark.len()..].starts_with(|c: char| c.is_ascii_digit()))
    };
    let is_commit = |part: &str| part.len() >= 7 && part.bytes().all(|it| it.is_ascii_hexdigit());
    let mut parts = lower.split(|c: char| !c.is_ascii_alphanumeric());
    lower.contains('@')
        || lower.contains("//")
        || ["www.", "mailto:", "xmpp:"]
            .iter()
            .any(|it| lower.contains(it))
        || before_digit("#")
        || before_digit("gh-")
        || parts.any(|part| is_commit(part) && part.bytes().any(|it| it.is_ascii_digit()))
}

fn write_word(out: &mut String, word: &str) {
    for c in word.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
}

/// Keeps the beginning from being read as a list or a line.
fn guard_start(text: String) -> String {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = digits.len() < text.len() && digits.starts_with(['.', ')']);
    if is_number {
        let at = text.len() - digits.len();
        format!("{}\\{digits}", &text[..at])
    } else if text.starts_with(['-', '+', '=']) {
        format!("\\{text}")
    } else {
        text
    }
}

/// A code span around any text.
fn code(value: &str) -> String {
    let value = escape::line(value);
    if value.is_empty() {
        return "`\"\"`".to_owned();
    }
    let fence = fence(&value, 1);
    let at_edge = |c: char| value.starts_with(c) || value.ends_with(c);
    let pad = if at_edge('`') { " " } else { "" };
    format!("{fence}{pad}{value}{pad}{fence}")
}

/// More backquotes than the text has in a row.
fn fence(text: &str, least: usize) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(least.max(longest + 1))
}

#[cfg(test)]
mod tests {
    use super::{code, prose, text};

    #[test]
    fn text_means_itself() {
        for (given, wanted) in [
            ("a*b_c", "a\\*b\\_c"),
            ("<img src=x> & co", "&lt;img src=x&gt; &amp; co"),
            ("to @someone #1", "to `@someone` `#1`"),
            ("see GH-12, a/b#3", "see `GH-12,` `a/b#3`"),
            ("at HTTPS://x.test/a_b|c", "at `HTTPS://x.test/a_b`\\|`c`"),
            ("www.x.test mail:a@b.c", "`www.x.test` `mail:a@b.c`"),
            ("fixed in 0123abc", "fixed in `0123abc`"),
            ("C# member-12 defaced", "C\\# member-12 defaced"),
            ("a|b", "a\\|b"),
            ("1. one", "1\\. one"),
            ("2.5 s", "2\\.5 s"),
            ("- x", "\\- x"),
            ("member-1", "member-1"),
            ("x\u{1b}\ny", "x\\\\u{1b} y"),
        ] {
            assert_eq!(text(given), wanted);
        }
    }

    #[test]
    fn code_stays_code() {
        assert_eq!(
            prose("run `kubectl get <x>` now"),
            "run `kubectl get <x>` now"
        );
        assert_eq!(prose("odd ` one <x>"), "odd \\` one &lt;x&gt;");
        assert_eq!(prose("none ``"), "none \\`\\`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(code(""), "`\"\"`");
    }
}
