//! Help and messages speak plain English too: short, imperative where it counts, and without the words
//! that a native speaker stops at.

use std::path::Path;

use clap::Command;
use kubectl_fleet_stage::cli;
use kubectl_fleet_stage::render::invocation::Invocation;

use super::banned::banned;
use super::files::below;

/// What a first line may begin with.
const VERBS: &[&str] = &[
    "Approve", "Check", "Compare", "Create", "Delete", "Explain", "List", "Operate", "Preview",
    "Print", "Resume", "Roll", "Save", "Show", "Start", "Stop", "Try", "Wait",
];

/// The most words of a sentence.
const LONGEST: usize = 25;

/// Folders of the source whose texts are not judged here, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "kubefleet/messages",
        "quotes KubeFleet and Kubernetes as they write",
    ),
    ("diagnose", "findings have laws of their own"),
    ("mask", "names of secrets, in all languages"),
    ("member", "findings have laws of their own"),
    ("rollout", "findings have laws of their own"),
];

/// A text of the help, and where it is.
struct Help {
    place: String,
    text: String,
}

/// Every text in the help of a command and those below it.
fn texts(command: &Command, path: &str, into: &mut Vec<Help>) {
    let path = format!("{path} {}", command.get_name());
    let mut add = |what: &str, text: Option<String>| {
        into.extend(text.map(|text| Help {
            place: format!("{path}: {what}"),
            text,
        }));
    };
    add("about", command.get_about().map(ToString::to_string));
    add(
        "long about",
        command.get_long_about().map(ToString::to_string),
    );
    add("end", command.get_after_help().map(ToString::to_string));
    for argument in command.get_arguments() {
        add(
            argument.get_id().as_str(),
            argument.get_help().map(ToString::to_string),
        );
        for value in argument.get_possible_values() {
            add(value.get_name(), value.get_help().map(ToString::to_string));
        }
    }
    for sub in command.get_subcommands() {
        texts(sub, &path, into);
    }
}

fn help() -> Vec<Help> {
    let mut command = cli::command(&Invocation::default());
    command.build();
    let mut found = Vec::new();
    texts(&command, "", &mut found);
    // clap words this one.
    found.retain(|help| !help.place.contains(" help"));
    found
}

/// The sentences of a text: the first line of help is one, and so is each row of a table below it.
fn sentences(text: &str) -> Vec<&str> {
    text.split("\n\n")
        .flat_map(|part| {
            let rows = part.lines().skip(1).any(|line| line.starts_with("  "));
            let lines: Vec<_> = if rows {
                part.lines().collect()
            } else {
                vec![part]
            };
            lines
                .into_iter()
                .flat_map(|line| line.split(['[', ']']))
                .flat_map(|line| line.split(". "))
        })
        .filter(|sentence| !sentence.contains("kubectl"))
        .collect()
}

#[test]
fn help_speaks_plain_english() {
    let mut wrong = Vec::new();
    for Help { place, text } in help() {
        let found = banned(&text);
        wrong.extend((!found.is_empty()).then(|| format!("{place}: {found:?}")));
        for sentence in sentences(&text) {
            let words = sentence.split_whitespace().count();
            wrong.extend((words > LONGEST).then(|| format!("{place}: {words} words: {sentence}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_first_line_of_help_is_short_and_imperative() {
    let mut wrong = Vec::new();
    for Help { place, text } in help() {
        if place.ends_with(": about") {
            let verb = text.split([' ', ',']).next().unwrap_or_default();
            if text.len() > 60 || !VERBS.contains(&verb) || text.ends_with('.') {
                wrong.push(format!("{place}: {} characters: {text}", text.len()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn arguments_start_with_a_noun_or_a_verb_and_have_no_full_stop() {
    const FILLERS: &[&str] = &["The", "A", "Whether", "It", "They", "How", "Of"];
    let mut wrong = Vec::new();
    for Help { place, text } in help() {
        if place.ends_with("about") || place.ends_with(": end") {
            continue;
        }
        let first = text.split(' ').next().unwrap_or_default();
        let starts = text.starts_with(|c: char| c.is_uppercase() || c == '`');
        if !starts || FILLERS.contains(&first) || text.ends_with('.') {
            wrong.push(format!("{place}: {text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The text literals of a source file up to its tests.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next();
    let mut found = Vec::new();
    let mut chars = source.unwrap_or_default().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => while chars.next().is_some_and(|c| c != '\n') {},
            // A character, or a lifetime.
            '\'' => {
                let quoted = chars.next();
                if quoted == Some('\\') || chars.peek() == Some(&'\'') {
                    chars.next();
                }
            }
            '"' => {
                let mut text = String::new();
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    if c != '\\' {
                        text.push(c);
                    } else if chars.next() == Some('\n') {
                        while chars.next_if(|c| *c == ' ').is_some() {}
                    } else {
                        text.push(' ');
                    }
                }
                found.push(text);
            }
            _ => {}
        }
    }
    found
}

#[test]
fn messages_speak_plain_english() {
    assert_eq!(
        literals("let a = \"go \\\n     on\"; // \"no\"\nlet b = ['\"', 'x', '\\'']; f(\"it\\n\")"),
        ["go on", "it "]
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut seen = 0;
    let paths = below(root.clone(), "rs").into_iter();
    for path in paths.filter(|path| !path.ends_with("tests.rs")) {
        let inside = path.strip_prefix(&root).unwrap();
        if ELSEWHERE
            .iter()
            .any(|(folder, _)| inside.starts_with(folder))
        {
            continue;
        }
        for text in literals(&std::fs::read_to_string(&path).unwrap()) {
            seen += 1;
            let found = banned(&text);
            wrong.extend(
                (!found.is_empty()).then(|| format!("{}: {found:?} in {text:?}", inside.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 3000, "only {seen} texts were found");
}
