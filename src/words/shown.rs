//! Texts and documents that terminals and pipelines only show.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Serialize;

use super::is_harmful;

pub fn json<T: Serialize>(data: &T) -> anyhow::Result<String> {
    let text = serde_json::to_string_pretty(data)? + "\n";
    Ok(harmless(&text).into_owned())
}

pub fn json_line<T: Serialize>(data: &T) -> anyhow::Result<String> {
    let text = serde_json::to_string(data)? + "\n";
    Ok(harmless(&text).into_owned())
}

/// Data as YAML, with a newline at the end. Where it holds what a terminal or a pipeline acts on, it
/// is YAML in the form of JSON, which can spell that.
pub fn yaml<T: Serialize>(data: &T) -> anyhow::Result<String> {
    let mut text = serde_saphyr::to_string(data)?;
    if text.contains(is_hidden) || matches!(unobeyed(&text), Cow::Owned(_)) {
        return json(data);
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// What the agent of a pipeline obeys in what is printed: `##vso[…]`, `##[…]` and their like wherever
/// they stand, and a line that begins with `::`. Either is broken up, visibly.
pub fn unobeyed(text: &str) -> Cow<'_, str> {
    let broken = unmarked_text(text);
    if !broken
        .lines()
        .any(|line| line.trim_start().starts_with("::"))
    {
        return broken;
    }
    let mut out = String::with_capacity(broken.len());
    for line in broken.split_inclusive('\n') {
        let rest = line.trim_start();
        let (indent, _) = line.split_at(line.len() - rest.len());
        out.push_str(indent);
        match rest.strip_prefix("::") {
            Some(rest) => {
                out.push_str(r"\u{3a}:");
                out.push_str(rest);
            }
            None => out.push_str(rest),
        }
    }
    Cow::Owned(out)
}

/// The same where lines that begin with `::` are ours.
pub fn unmarked_text(text: &str) -> Cow<'_, str> {
    unmarked(text, r"#\u{23}")
}

/// The same for a command that begins with `##`, in the other spelling of these two.
fn unmarked<'t>(text: &'t str, spelling: &str) -> Cow<'t, str> {
    let Some(first) = mark(text) else {
        return Cow::Borrowed(text);
    };
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    let mut next = Some(first);
    while let Some(at) = next {
        let (before, marked) = rest.split_at(at);
        out.push_str(before);
        out.push_str(spelling);
        rest = marked.get(2..).unwrap_or_default();
        next = mark(rest);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Where the first command stands that begins with `##`.
fn mark(text: &str) -> Option<usize> {
    let mut all = text.match_indices('#').map(|(at, _)| at);
    all.find(|at| {
        let rest = text.get(*at..).and_then(|rest| rest.strip_prefix("##"));
        rest.is_some_and(|rest| {
            let word = |c: char| c.is_alphanumeric() || "-_.".contains(c);
            rest.trim_start_matches(word).starts_with('[')
        })
    })
}

/// A JSON document in which nothing stands that a terminal or a pipeline acts on. It is the same
/// document: all of that stands in its strings.
fn harmless(text: &str) -> Cow<'_, str> {
    let text = unmarked(text, r"#\u0023");
    if text.is_ascii() && !text.contains('\u{7f}') {
        return text;
    }
    if !text.contains(is_hidden) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Whether a document shows something else than it holds; its lines are its own.
fn is_hidden(c: char) -> bool {
    c != '\n' && is_harmful(c)
}

#[cfg(test)]
mod tests {
    use super::{harmless, is_hidden, unobeyed, yaml};

    #[test]
    fn no_pipeline_obeys_what_is_printed() {
        let harmless = "## Title\n# [x]\nstd::string fd00::1 ## [x]";
        for (given, wanted) in [
            ("", ""),
            (harmless, harmless),
            ("##vso[task.x]y", r"#\u{23}vso[task.x]y"),
            (
                "a ##[set-env x]y ##[e]",
                r"a #\u{23}[set-env x]y #\u{23}[e]",
            ),
            ("###[x]", r"##\u{23}[x]"),
            ("####vso[x]", r"###\u{23}vso[x]"),
            (
                "##VSO[x] ##teamcity[x]",
                r"#\u{23}VSO[x] #\u{23}teamcity[x]",
            ),
            (
                "::set-env name=a::b\n x\n  ::error::y",
                "\\u{3a}:set-env name=a::b\n x\n  \\u{3a}:error::y",
            ),
        ] {
            assert_eq!(unobeyed(given), wanted, "{given:?}");
            assert_eq!(unobeyed(wanted), wanted, "{given:?}");
        }
    }

    #[test]
    fn a_document_shows_what_it_holds_and_holds_the_same() {
        for text in [
            "##vso[x]\u{9b}31m\u{7f}",
            "\u{202e}a\u{e0041}",
            "日本 \n\t \u{1b}",
            "###[",
            "plain",
        ] {
            let written = serde_json::to_string_pretty(&[text]).unwrap();
            let shown = harmless(&written);
            assert!(!shown.contains(is_hidden), "{shown}");
            assert!(
                !shown.contains("##[") && !shown.contains("##vso["),
                "{shown}"
            );
            let read: Vec<String> = serde_json::from_str(&shown).unwrap();
            assert_eq!(read, [text]);
            let written = yaml(&[text]).unwrap();
            assert!(!written.contains(is_hidden), "{written}");
            assert_eq!(unobeyed(&written), written);
            let read: Vec<String> = serde_saphyr::from_str(&written).unwrap();
            assert_eq!(read, [text]);
        }
    }
}
