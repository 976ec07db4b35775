//! The findings' pages: their sections, their commands in both scopes and for members, their examples,
//! their links, and that no sentence stands on many of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

use kubectl_fleet_stage::diagnose::rules;
use kubectl_fleet_stage::kubefleet::{Kind, Scope};

use super::{Page, joined, links, pages};

const SECTIONS: [&str; 7] = [
    "What it means",
    "Why it happens",
    "How to confirm",
    "How to fix",
    "How to avoid it",
    "Example",
    "See also",
];

/// The pages by code.
fn explanations() -> Vec<(&'static rules::Rule, Page)> {
    let mut found = Vec::new();
    for page in pages() {
        let name = page.name();
        let code = name
            .strip_prefix("docs/findings/")
            .and_then(|rest| rest.strip_suffix(".md"));
        if let Some(rule) = code.and_then(rules::find) {
            found.push((rule, page));
        }
    }
    assert_eq!(found.len(), rules::ALL.len());
    found
}

/// The lines of commands on a page, each whole.
fn lines(page: &Page) -> Vec<String> {
    let blocks = page.blocks();
    let shell = blocks.iter().filter(|block| block.language == "sh");
    shell
        .flat_map(joined)
        .map(|(_, line)| line.trim().to_owned())
        .collect()
}

/// What a page says of namespaces: its paragraphs that begin so.
fn in_a_namespace(page: &Page) -> String {
    let paragraphs = page.text.split("\n\n");
    let told = paragraphs.filter(|text| text.starts_with("In a namespace: "));
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn each_page_has_its_sections_in_order() {
    for (rule, page) in explanations() {
        let headings = page
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("## "));
        assert_eq!(headings.collect::<Vec<_>>(), SECTIONS, "{}", rule.code);
    }
}

fn run(arguments: &[&str], input: &[u8]) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"))
        .args(arguments)
        // What the program itself carries, not what is in this folder.
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The commands of each page's example, as they stand there, show the finding.
#[test]
fn each_example_shows_its_finding() {
    for (rule, page) in explanations() {
        let (_, example) = page.text.split_once("\n## Example\n").unwrap();
        let line = example
            .lines()
            .find(|line| line.starts_with("kubectl"))
            .unwrap();
        let expected = format!(
            "kubectl fleet-stage explain {} --example | kubectl fleet-stage diagnose -f -",
            rule.code
        );
        assert_eq!(line, expected);
        let bundle = run(&["explain", rule.code, "--example"], b"");
        let report = run(&["diagnose", "-f", "-"], bundle.as_bytes());
        let is_head = |line: &str| line.split([' ', ':']).nth(1) == Some(rule.code);
        assert!(report.lines().any(is_head), "{line}\n{report}");
    }
}

/// A sentence that is longer than this
const WORDS: usize = 7;
/// stands on no more pages than this.
const PAGES: usize = 4;

#[test]
fn no_sentence_stands_on_many_pages() {
    let mut pages_of: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (rule, page) in explanations() {
        let prose = page.prose();
        let (prose, _) = prose.split_once("\n## See also\n").unwrap();
        for paragraph in prose.split("\n\n") {
            if paragraph.starts_with("In a namespace: ") {
                continue;
            }
            let items = paragraph.replace("\n- ", "\n\n");
            for item in items.split("\n\n") {
                let words: Vec<_> = item.split_whitespace().collect();
                for sentence in words.split_inclusive(|word| word.ends_with(['.', ':', ';'])) {
                    if sentence.len() > WORDS {
                        let pages = pages_of.entry(sentence.join(" ")).or_default();
                        pages.insert(rule.code);
                    }
                }
            }
        }
    }
    pages_of.retain(|_, pages| pages.len() > PAGES);
    assert!(pages_of.is_empty(), "{pages_of:#?}");
}

/// What a line asks kubectl for.
struct Asked<'l> {
    line: &'l str,
    /// The words for kinds, as they are written.
    kinds: Vec<&'l str>,
    namespace: Option<&'l str>,
    /// Whether it is for all namespaces.
    everywhere: bool,
    /// The context of a member cluster.
    of_member: bool,
}

fn asked(line: &str) -> Option<Asked<'_>> {
    let rest = line.strip_prefix("kubectl ")?;
    if rest.starts_with("fleet-stage ") {
        return None;
    }
    let mut found = Asked {
        line,
        kinds: Vec::new(),
        namespace: None,
        everywhere: false,
        of_member: false,
    };
    let mut verb = None;
    let mut words = rest.split(' ');
    while let Some(word) = words.next() {
        match word {
            "-n" => found.namespace = words.next(),
            "--context" => found.of_member = words.next() == Some("CONTEXT_OF_MEMBER"),
            "-A" | "--all-namespaces" => found.everywhere = true,
            "-l" | "-L" | "-o" | "-p" | "-c" | "--type" | "--raw" => drop(words.next()),
            _ if word.starts_with('-') => {}
            _ => match verb {
                None => verb = Some(word),
                // The part of a command that has two words.
                Some("rollout") if word == "status" || word == "restart" => {}
                Some(
                    "get" | "describe" | "delete" | "edit" | "patch" | "label" | "annotate"
                    | "wait" | "explain" | "top" | "rollout" | "scale",
                ) if found.kinds.is_empty() => {
                    let kinds = word.split(['/', '.']).next().unwrap_or_default();
                    let kinds = if word.contains(".placement.kubernetes-fleet.io") {
                        word
                    } else {
                        kinds
                    };
                    found.kinds = kinds.split(',').collect();
                }
                _ => {}
            },
        }
    }
    Some(found)
}

/// The other scope's word for a kind that is written for cluster scope, in the same number.
fn namespaced(word: &str) -> Option<String> {
    let kind = Kind::from_word(word).filter(|kind| !kind.is_namespaced())?;
    let twin = Scope::Namespace(String::new()).find(kind.concept())?;
    if twin == kind {
        return None;
    }
    Some(if word == kind.plural() {
        twin.plural().to_owned()
    } else {
        twin.name().to_ascii_lowercase()
    })
}

#[test]
fn commands_have_their_namespaced_form() {
    let mut missing = Vec::new();
    for (rule, page) in explanations() {
        let told = in_a_namespace(&page);
        let lines = lines(&page);
        let asked: Vec<_> = lines.iter().filter_map(|line| asked(line)).collect();
        for one in &asked {
            for twin in one.kinds.iter().filter_map(|word| namespaced(word)) {
                let written = asked
                    .iter()
                    .any(|other| other.kinds.contains(&twin.as_str()));
                if !written && !told.contains(&format!("`{twin}`")) {
                    missing.push(format!("{}: {twin} for {}", rule.code, one.line));
                }
            }
        }
        for line in &lines {
            let Some(ours) = line.strip_prefix("kubectl fleet-stage ") else {
                continue;
            };
            let free = ["explain", "doctor", "version", "schema"];
            let scoped = [" -n ", " [-n NAMESPACE]", " -A", " -f "];
            let placement = ours.contains(" crp/PLACEMENT") && told.contains("`rp/PLACEMENT`");
            if !free.iter().any(|verb| ours.starts_with(verb))
                && !scoped.iter().any(|flag| ours.contains(flag))
                && !placement
            {
                missing.push(format!("{}: [-n NAMESPACE] for {line}", rule.code));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// A shell takes a line as kubectl is meant to get it: what it would expand is quoted.
#[test]
fn commands_are_quoted_for_the_shell() {
    for (rule, page) in explanations() {
        for line in lines(&page) {
            let bare = line.replace(" [-n NAMESPACE]", "");
            let outside = bare.split('\'').step_by(2).collect::<String>();
            assert!(
                !outside.contains(['[', '*', '?', '(', '{', '$', ';', '<', '>', '#']),
                "{}: {line}",
                rule.code
            );
        }
    }
}

/// Kinds on the hub that are no kinds of ours; with what is in KubeFleet's own namespaces, they are
/// all that a page asks the hub for.
const ON_THE_HUB: [&str; 6] = [
    "clusterresourceoverride",
    "resourceoverride",
    "clusterresourceenvelope",
    "resourceenvelope",
    "resourceenvelopes",
    "clusterresourceenvelopes",
];

#[test]
fn commands_for_a_member_carry_its_context() {
    let mut wrong = Vec::new();
    for (rule, page) in explanations() {
        for line in lines(&page) {
            let Some(asked) = asked(&line) else { continue };
            for word in &asked.kinds {
                let kind = Kind::from_word(word);
                if kind == Some(Kind::Work) && *word != kind.unwrap().for_kubectl() {
                    wrong.push(format!("{}: another group has {word}: {line}", rule.code));
                }
                let hub = kind.is_some()
                    || ON_THE_HUB.contains(word)
                    || line.contains(" fleet-member-")
                    || asked.namespace == Some("fleet-system");
                let ours_on_member = asked.of_member && kind.is_some();
                if (!hub && !asked.of_member) || ours_on_member {
                    wrong.push(format!("{}: {line}", rule.code));
                }
                if kind.is_some_and(Kind::is_namespaced)
                    && asked.namespace.is_none()
                    && !asked.everywhere
                {
                    wrong.push(format!("{}: no namespace: {line}", rule.code));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where KubeFleet's documentation is.
const KUBEFLEET: &str = "https://kubefleet.dev/docs/";

/// The sections of it that pages lead to, as their headings were on 2026-04-29.
const HEADINGS: &str = include_str!("kubefleet-sections.txt");

#[test]
fn links_to_kubefleet_lead_to_a_section() {
    let known: BTreeSet<_> = HEADINGS.lines().collect();
    let mut used = BTreeSet::new();
    for (rule, page) in explanations() {
        let prose = page.prose();
        for link in links(&prose)
            .into_iter()
            .filter(|link| link.contains("://"))
        {
            let section = link.strip_prefix(KUBEFLEET).unwrap_or(link);
            assert!(known.contains(section), "{}: {link}", rule.code);
            used.insert(section.to_owned());
        }
    }
    assert!(used.len() > 30, "{used:?}");
    assert_eq!(used.len(), known.len(), "some sections are not used");
}
