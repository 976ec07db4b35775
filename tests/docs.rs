//! The pages: every command in them is one of ours, every link leads somewhere, every YAML can be read,
//! and they speak plain English.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

use crate::{banned, files};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[path = "docs/complete.rs"]
mod complete;
#[path = "docs/explanations.rs"]
mod explanations;
#[path = "docs/words.rs"]
mod words;

use banned::banned;
use files::below;
use kubectl_fleet_stage::cli;
use kubectl_fleet_stage::kubefleet::Kind;
use kubectl_fleet_stage::render::invocation::Invocation;

/// A page and its text.
struct Page {
    path: PathBuf,
    text: String,
}

/// A fenced block, and the line of its fence.
struct Block<'p> {
    language: &'p str,
    line: usize,
    text: Vec<&'p str>,
}

/// Every page that people read.
fn pages() -> Vec<Page> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = vec![
        root.join("README.md"),
        root.join("ARCHITECTURE.md"),
        root.join("CONTRIBUTING.md"),
        root.join("CHANGELOG.md"),
        root.join("SECURITY.md"),
        root.join("examples/README.md"),
    ];
    // The table of contents of the site is no page.
    let pages = below(root.join("docs"), "md").into_iter();
    paths.extend(pages.filter(|path| !path.ends_with("SUMMARY.md")));
    paths.sort();
    let read = |path: PathBuf| Page {
        text: std::fs::read_to_string(&path).unwrap(),
        path,
    };
    paths.into_iter().map(read).collect()
}

impl Page {
    fn name(&self) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = self.path.strip_prefix(root).unwrap();
        path.to_string_lossy().into_owned()
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        let mut open: Option<Block<'_>> = None;
        for (at, line) in self.text.lines().enumerate() {
            match (&mut open, line.trim_start().strip_prefix("```")) {
                (None, Some(language)) => {
                    open = Some(Block {
                        language,
                        line: at + 1,
                        text: Vec::new(),
                    });
                }
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (Some(block), None) => block.text.push(line),
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{}: a block is not closed", self.name());
        blocks
    }

    /// The text outside of fenced blocks and code.
    fn prose(&self) -> String {
        let mut fenced = false;
        let mut prose = String::new();
        for line in self.text.lines() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            } else if !fenced {
                for (at, piece) in line.split('`').enumerate() {
                    prose.push_str(if at % 2 == 0 { piece } else { "code" });
                }
                prose.push('\n');
            }
        }
        prose
    }

    /// The anchors of the headings, as GitHub makes them.
    fn anchors(&self) -> BTreeSet<String> {
        let mut fenced = false;
        let mut anchors = BTreeSet::new();
        for line in self.text.lines() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            } else if let Some(heading) = line.strip_prefix('#').filter(|_| !fenced) {
                let heading = heading.trim_start_matches('#').trim().to_lowercase();
                let kept = heading
                    .chars()
                    .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
                anchors.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
            }
        }
        anchors
    }
}

/// The lines of a block, those that end in a backslash joined with the next.
fn joined(block: &Block<'_>) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (at, line) in block.text.iter().enumerate() {
        let (text, more) = match line.strip_suffix('\\') {
            Some(text) => (text, true),
            None => (*line, false),
        };
        match lines.last_mut().filter(|_| goes_on) {
            Some((_, last)) => {
                last.push(' ');
                last.push_str(text.trim_start());
            }
            None => lines.push((block.line + at + 1, text.to_owned())),
        }
        goes_on = more;
    }
    lines
}

/// What comes before one of our commands on a line.
const LEADS: [&str; 6] = ["", "$ ", "- ", "- run: ", "if ", "source <("];

/// Our commands on a line, as a shell would split them up to the end of each. A variable is a word.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = line.trim_start();
    let mut first = true;
    while let Some((before, after)) = split_at_command(rest) {
        let lead = if first {
            LEADS.contains(&before)
        } else {
            before.trim_end().ends_with(['|', '&', ';', '('])
        };
        let (words, left) = words(after);
        if lead {
            found.push(words);
        }
        rest = left;
        first = false;
    }
    found
}

fn split_at_command(text: &str) -> Option<(&str, &str)> {
    let forms = ["kubectl fleet-stage ", "kubectl-fleet-stage "];
    let (at, form) = forms
        .iter()
        .filter_map(|form| Some((text.find(form)?, form)))
        .min()?;
    Some((&text[..at], &text[at + form.len()..]))
}

/// The words up to the end of a command, and what follows.
fn words(text: &str) -> (Vec<String>, &str) {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.char_indices();
    let mut end = text.len();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '|' | '&' | ';' | '>' | '<' | ')') => {
                // Which stream it is that goes elsewhere.
                word = word.filter(|word| c != '>' || word != "2");
                end = at;
                break;
            }
            (None, '#') if word.is_none() => {
                end = at;
                break;
            }
            // Its value is not known here, and stands for one word.
            (None | Some('"'), '$') => {
                let rest = &text[at + 1..];
                let length = match rest.strip_prefix('{') {
                    Some(inner) => inner.find('}').map_or(rest.len(), |at| at + 2),
                    None if rest.starts_with(['@', '?', '!', '#']) => 1,
                    None => rest
                        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                        .unwrap_or(rest.len()),
                };
                let value = if rest.starts_with('@') { "" } else { "1" };
                word.get_or_insert_default().push_str(value);
                for _ in 0..rest[..length].chars().count() {
                    chars.next();
                }
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words.retain(|word| !word.is_empty());
    (words, &text[end..])
}

#[test]
fn lines_are_split_as_a_shell_does() {
    let split = |line| {
        commands(line)
            .into_iter()
            .map(|words| words.join("·"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        split("kubectl fleet-stage approve \"$RUN\" --reason \"it is good\" --yes || code=$?"),
        ["approve·1·--reason·it is good·--yes"]
    );
    assert_eq!(
        split(
            "  - kubectl fleet-stage collect x-${Y} \"$@\" | kubectl fleet-stage diagnose -f - # all"
        ),
        ["collect·x-1", "diagnose·-f·-"]
    );
    assert_eq!(
        split("if kubectl fleet-stage list -A 2>/dev/null; then"),
        ["list·-A"]
    );
    assert_eq!(split("echo kubectl fleet-stage list"), Vec::<String>::new());
    assert_eq!(split("kubectl get pods"), Vec::<String>::new());
}

/// A line as it is for cluster scope, and as it is for a namespace where it says how.
fn in_both_scopes(line: &str) -> Vec<String> {
    const FLAG: &str = " [-n NAMESPACE]";
    if line.contains(FLAG) {
        vec![line.replace(FLAG, ""), line.replace(FLAG, " -n NAMESPACE")]
    } else {
        vec![line.to_owned()]
    }
}

/// Every command in a block of a page is one that the program takes.
#[test]
fn every_command_is_one_of_ours() {
    let command = cli::command(&Invocation::default());
    let mut seen = 0;
    let mut wrong = Vec::new();
    for page in pages() {
        for block in page.blocks() {
            if !matches!(block.language, "sh" | "console" | "yaml") {
                continue;
            }
            for (line, text) in joined(&block) {
                let forms = in_both_scopes(&text);
                for words in forms.iter().flat_map(|form| commands(form)) {
                    seen += 1;
                    let arguments = std::iter::once("kubectl-fleet-stage".to_owned()).chain(words);
                    if let Err(error) = command.clone().try_get_matches_from(arguments)
                        && error.use_stderr()
                    {
                        wrong.push(format!("{}:{line}: {text}\n{error}", page.name()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 150, "only {seen} commands were found");
}

/// The entries for k9s: each is for one kind, on a key that nothing else there has, and runs a command
/// of ours on what is selected.
#[test]
fn the_entries_for_k9s_are_ours() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/integrations/k9s-plugins.yaml");
    let file: serde_json::Value =
        serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let command = cli::command(&Invocation::default());
    let mut keys = BTreeSet::new();
    for (name, entry) in file["plugins"].as_object().unwrap() {
        let scopes = entry["scopes"].as_array().unwrap();
        let [scope] = &scopes[..] else {
            panic!("{name}: {scopes:?}");
        };
        let kind = Kind::ALL
            .iter()
            .find(|kind| scope == kind.plural())
            .unwrap_or_else(|| panic!("{name}: {scope} is no kind"));
        let key = entry["shortCut"].as_str().unwrap();
        assert!(keys.insert((scope.as_str().unwrap(), key)), "{name}: {key}");
        let line = entry["args"][1].as_str().unwrap();
        let found = commands(line);
        assert!(!found.is_empty(), "{name}: {line}");
        assert_eq!(line.contains("$NAMESPACE"), kind.is_namespaced(), "{name}");
        for words in found {
            // What writes without a question of its own: k9s asks.
            let asks = words[0] != "stop" || entry["confirm"] == true;
            assert!(asks, "{name}: {line}");
            let arguments = std::iter::once("kubectl-fleet-stage".to_owned()).chain(words);
            let parsed = command.clone().try_get_matches_from(arguments);
            assert!(parsed.is_ok(), "{name}: {}", parsed.unwrap_err());
        }
    }
    assert!(keys.len() >= 12, "{keys:?}");
}

/// The targets of the links in a text: `[words](target)`.
fn links(prose: &str) -> Vec<&str> {
    prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .collect()
}

/// A link inside leads to a file, and to a heading of it.
#[test]
fn every_link_leads_somewhere() {
    let pages = pages();
    let mut wrong = Vec::new();
    for page in &pages {
        let prose = page.prose();
        for link in links(&prose) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                page.path.clone()
            } else {
                page.path.parent().unwrap().join(file)
            };
            let Ok(target) = target.canonicalize() else {
                wrong.push(format!("{}: {link} does not exist", page.name()));
                continue;
            };
            let there = pages.iter().find(|other| other.path == target);
            if !anchor.is_empty() && !there.is_some_and(|page| page.anchors().contains(anchor)) {
                wrong.push(format!("{}: {link} names no heading", page.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A page that no other page leads to is not found by anyone.
#[test]
fn every_page_can_be_reached() {
    let pages = pages();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut reached = BTreeSet::from([root.join("README.md")]);
    let mut next = vec![root.join("README.md")];
    while let Some(path) = next.pop() {
        let Some(page) = pages.iter().find(|page| page.path == path) else {
            continue;
        };
        for link in links(&page.prose()) {
            let file = link.split('#').next().unwrap_or_default();
            if let Ok(target) = page.path.parent().unwrap().join(file).canonicalize() {
                if target.is_dir() {
                    let files = std::fs::read_dir(target).unwrap();
                    reached.extend(files.map(|entry| entry.unwrap().path()));
                } else if reached.insert(target.clone()) {
                    next.push(target);
                }
            }
        }
    }
    let lost: Vec<_> = pages
        .iter()
        .filter(|page| !reached.contains(&page.path))
        .map(Page::name)
        .collect();
    assert!(lost.is_empty(), "no page leads to {lost:?}");
}

#[test]
fn every_yaml_can_be_read() {
    for page in pages() {
        for block in page.blocks() {
            if block.language != "yaml" {
                continue;
            }
            let text = block.text.join("\n");
            let read: Result<serde_json::Value, _> = serde_saphyr::from_str(&text);
            let place = format!("{}:{}", page.name(), block.line);
            assert!(read.is_ok_and(|value| value.is_object()), "{place}");
        }
    }
}

#[test]
fn pages_speak_plain_english() {
    let mut wrong = Vec::new();
    for page in pages() {
        let found = banned(&page.prose());
        wrong.extend((!found.is_empty()).then(|| format!("{}: {found:?}", page.name())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A browser shows nothing of a picture that is not well-formed.
#[test]
fn pictures_are_well_formed() {
    let pictures = below(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures"),
        "svg",
    );
    assert!(!pictures.is_empty());
    for path in pictures {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut reader = quick_xml::Reader::from_str(&text);
        let mut elements = 0;
        loop {
            match reader.read_event() {
                Ok(quick_xml::events::Event::Eof) => break,
                Ok(_) => elements += 1,
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
        assert!(elements > 10, "{}", path.display());
    }
}
