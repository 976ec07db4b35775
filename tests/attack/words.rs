//! Text from a cluster in suggested commands: whatever is in it, it stays one word.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kubectl_fleet_stage::bundle::{self, Bundle, Input};
use kubectl_fleet_stage::diagnose::diagnose;
use kubectl_fleet_stage::diagnose::status::Status;
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::kubefleet::Concept;
use kubectl_fleet_stage::render;
use kubectl_fleet_stage::render::RenderLook;
use kubectl_fleet_stage::render::invocation::Invocation;
use kubectl_fleet_stage::render::style::TextPaint;
use kubectl_fleet_stage::report::{Report, Severity};
use kubectl_fleet_stage::words;
use serde_json::Value;

use crate::files::{below, yaml_files};
use crate::secrets::documents;
use crate::{ends, program, tries};

/// What an object's field may hold. Nothing of it does harm, where it is run after all.
const HOSTILE: [&str; 16] = [
    "rings; echo pwned",
    "$(echo pwned)",
    "`echo pwned`",
    "a b",
    "a  b",
    "it's",
    "\"",
    "-o",
    "--all",
    "\\",
    "a\necho pwned",
    "x\nhint: delete it:\n  kubectl fleet-stage delete x",
    "\u{202e}x\u{200b}",
    "!! && echo pwned | sh > /dev/null #",
    "~",
    "a\u{1b}[31m\r\u{a0}\u{2028}b\0c",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Strings that the program reads as words of its own.
const WORDS: [&str; 12] = [
    "apiVersion",
    "kind",
    "outcome",
    "collectedAt",
    "creationTimestamp",
    "lastTransitionTime",
    "deletionTimestamp",
    "type",
    "status",
    "state",
    "reason",
    "startTime",
];

fn each_string(value: &mut Value, key: &str, act: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) if !WORDS.contains(&key) => act(text),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| each_string(item, key, act)),
        Value::Object(fields) => {
            for (key, value) in fields {
                each_string(value, key, act);
            }
        }
        _ => {}
    }
}

/// The names in a bundle: those of objects, and of what runs name.
fn names(documents: &[Value]) -> BTreeSet<String> {
    const NAMES: [&str; 9] = [
        "name",
        "namespace",
        "placementName",
        "stagedRolloutStrategyName",
        "stageName",
        "clusterName",
        "parentStageRollout",
        "targetCluster",
        "approvalRequestName",
    ];
    fn walk(value: &Value, key: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::String(text) if NAMES.contains(&key) && text.len() > 2 => {
                found.insert(text.clone());
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, key, found)),
            Value::Object(fields) => fields.iter().for_each(|(key, it)| walk(it, key, found)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    for document in documents {
        walk(document, "", &mut found);
    }
    found
}

/// The bundle with something behind every name, everywhere: what names something, still does.
fn renamed(documents: &[Value], behind: &str, front: bool) -> Vec<Value> {
    let names = names(documents);
    let mut longest: Vec<_> = names.iter().collect();
    longest.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let rename = |text: &mut String| {
        let (mut out, mut rest) = (String::new(), text.as_str());
        while let Some(next) = rest.chars().next() {
            let name = longest.iter().find(|name| rest.starts_with(**name));
            if let Some(name) = name {
                if front {
                    out = out + behind + name;
                } else {
                    out = out + name + behind;
                }
                rest = &rest[name.len()..];
            } else {
                out.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
        *text = out;
    };
    let mut documents = documents.to_vec();
    for document in &mut documents {
        each_string(document, "", &mut { rename });
    }
    documents
}

/// The bundle with one string taken for another.
fn replaced(documents: &[Value], at: usize, by: &str) -> Vec<Value> {
    let mut documents = documents.to_vec();
    let mut number = 0;
    for document in &mut documents {
        each_string(document, "", &mut |text| {
            if number == at {
                by.clone_into(text);
            }
            number += 1;
        });
    }
    documents
}

fn strings(documents: &[Value]) -> usize {
    let mut count = 0;
    for document in &mut documents.to_vec() {
        each_string(document, "", &mut |_| count += 1);
    }
    count
}

fn read(documents: &[Value]) -> Option<Bundle> {
    let texts = documents.iter().map(Value::to_string);
    let text = texts.collect::<Vec<_>>().join("\n");
    let text = std::io::Cursor::new(text.into_bytes());
    bundle::read(vec![Input::Stdin(Box::new(text))]).ok()
}

/// The reports and states of all that can be asked about.
fn reports(documents: &[Value]) -> Vec<(Report, Status)> {
    let Some(mut bundle) = read(documents) else {
        return Vec::new();
    };
    let Some(now) = bundle.collected_at.or(bundle.newest_timestamp()) else {
        return Vec::new();
    };
    let objects = bundle.objects().iter();
    let objects = objects.map(kubectl_fleet_stage::kubefleet::object::Object::reference);
    let wanted = |concept| matches!(concept, Concept::UpdateRun | Concept::Placement);
    let targets: Vec<_> = objects.filter(|it| wanted(it.kind.concept())).collect();
    let hub = bundle.hub.clone();
    let mut reports = Vec::new();
    for target in targets {
        let report = diagnose(&mut bundle, &hub, &target, now);
        let mut walk = Walk::new(target);
        walk.drive(&mut bundle);
        let inventory = Inventory::new(walk, now, hub.clone());
        reports.push((report, Status::with_ends(&inventory)));
    }
    reports
}

/// Commands, by the line that is pasted.
#[derive(Default)]
struct Seen {
    commands: BTreeMap<String, Vec<String>>,
    wrong: Vec<String>,
}

impl Seen {
    fn look(&mut self, documents: &[Value], what: &str) {
        for (report, status) in reports(documents) {
            let mut lines = BTreeSet::new();
            for json in [
                serde_json::to_value(&report).unwrap(),
                serde_json::to_value(&status).unwrap(),
            ] {
                self.document(&json, &mut lines, what);
            }
            self.formats(&report, &status, &lines, what);
        }
    }

    /// Every command of a document has its words beside it.
    fn document(&mut self, value: &Value, lines: &mut BTreeSet<String>, what: &str) {
        match value {
            Value::Object(fields) => {
                for (text, argv) in [("command", "argv"), ("next", "nextArgv")] {
                    let (text, argv) = (fields.get(text), fields.get(argv));
                    let Some(text) = text.and_then(Value::as_str) else {
                        continue;
                    };
                    let words: Option<Vec<String>> = argv.and_then(Value::as_array).map(|words| {
                        let words = words.iter().filter_map(Value::as_str);
                        words.map(str::to_owned).collect()
                    });
                    match words {
                        Some(words) => {
                            lines.insert(text.to_owned());
                            self.commands.insert(text.to_owned(), words);
                        }
                        None => self.wrong.push(format!("{what}: no words of {text}")),
                    }
                }
                for value in fields.values() {
                    self.document(value, lines, what);
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.document(item, lines, what);
                }
            }
            _ => {}
        }
    }

    /// In every format that people read, the commands are those of the document and no others.
    fn formats(&mut self, report: &Report, status: &Status, lines: &BTreeSet<String>, what: &str) {
        let invocation = Invocation::default();
        let look = RenderLook {
            width: 100,
            paint: TextPaint::new(false),
            invocation: invocation.clone(),
            verbose: true,
        };
        let explain = |line: &str| line.starts_with("kubectl fleet-stage explain FS");
        let texts = [
            ("text", render::text::report(report, &look)),
            ("status", render::status::status(status, &look)),
            ("markdown", render::markdown::report(report, &invocation)),
            (
                "github",
                render::github::report(report, &invocation)
                    .replace("%0A", "\n")
                    .replace("%25", "%"),
            ),
            (
                "junit",
                unescaped(
                    &render::junit::reports(
                        std::slice::from_ref(report),
                        Severity::Info,
                        &invocation,
                    )
                    .expect("a document"),
                ),
            ),
            (
                "html",
                unescaped(&render::html::report(report, &invocation)),
            ),
        ];
        for (format, text) in texts {
            let harmful = |c: char| c != '\n' && words::is_harmful(c);
            if text.contains(harmful) {
                self.wrong
                    .push(format!("{what}: {format} holds what hides"));
            }
            for line in text.lines() {
                let begins = ["hint:", "error:", "warning:", "::set-output"];
                if begins.iter().any(|begin| line.starts_with(begin)) && format != "html" {
                    self.wrong.push(format!("{what}: {format}: {line}"));
                }
                let indent = match format {
                    "text" => "         kubectl ",
                    "markdown" => "   kubectl ",
                    _ => continue,
                };
                let line = line
                    .strip_prefix(&indent[..indent.len() - 8])
                    .unwrap_or_default();
                let is_command = line.starts_with("kubectl ") && !explain(line);
                if is_command && !lines.contains(line) {
                    self.wrong
                        .push(format!("{what}: {format}: not ours: {line}"));
                }
            }
            let whole = ["markdown", "github", "junit", "html"].contains(&format);
            for remedy in report.findings.iter().flat_map(|it| &it.remedies) {
                let Some(command) = &remedy.command else {
                    continue;
                };
                if whole && !text.contains(&command.to_string()) {
                    self.wrong.push(format!("{what}: {format} lacks {command}"));
                }
            }
        }
    }

    /// A shell reads the words, and our own command line takes them.
    fn hold(self, least: usize) {
        assert!(self.commands.len() > least, "{}", self.commands.len());
        let mut wrong = self.wrong;
        let read = shell(self.commands.keys());
        assert_eq!(read.len(), self.commands.len());
        for ((line, words), read) in self.commands.iter().zip(&read) {
            if words != read {
                wrong.push(format!("{line:?} is read as {read:?}, not as {words:?}"));
            }
            let [kubectl, rest @ ..] = words.as_slice() else {
                wrong.push(format!("{line}: no words"));
                continue;
            };
            let ours = rest.first().is_some_and(|word| word == "fleet-stage");
            if kubectl != "kubectl" {
                wrong.push(format!("{line}: another program"));
            }
            if ours {
                let command = kubectl_fleet_stage::cli::command(&Invocation::default());
                if let Err(error) = command.try_get_matches_from(rest) {
                    wrong.push(format!("{line}: {error}"));
                }
            }
        }
        wrong.sort();
        wrong.dedup();
        let count = wrong.len();
        wrong.truncate(20);
        assert!(wrong.is_empty(), "{count}:\n{}", wrong.join("\n"));
    }
}

/// What a shell makes of lines: the words of each.
fn shell<'l>(lines: impl Iterator<Item = &'l String>) -> Vec<Vec<String>> {
    let mut script = String::from("say() { printf '%s\\0' \"$#\" \"$@\"; }\n");
    for line in lines {
        script = script + "say " + line + "\n";
    }
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "--restricted"])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    let mut bash = bash.spawn().unwrap();
    let mut input = bash.stdin.take().unwrap();
    let writes = std::thread::spawn(move || {
        use std::io::Write as _;
        input.write_all(script.as_bytes()).unwrap();
    });
    let output = bash.wait_with_output().unwrap();
    writes.join().unwrap();
    assert!(output.status.success());
    let out = String::from_utf8(output.stdout).unwrap();
    let mut words = out.split_terminator('\0');
    let mut all = Vec::new();
    while let Some(count) = words.next() {
        let count: usize = count.parse().unwrap();
        all.push(words.by_ref().take(count).map(str::to_owned).collect());
    }
    all
}

fn unescaped(markup: &str) -> String {
    markup
        .replace("&apos;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

/// One fixture of every folder, and what was recorded.
fn fixtures() -> Vec<PathBuf> {
    let mut found = yaml_files(&["tests/findings", "tests/real", "tests/healthy"]);
    if tries(1) == 1 {
        found
            .dedup_by(|a, b| a.parent() == b.parent() && !a.starts_with(root().join("tests/real")));
    }
    found
}

#[test]
fn names_stay_words_whatever_is_in_them() {
    let mut seen = Seen::default();
    for (number, path) in fixtures().iter().enumerate() {
        let documents = documents(path);
        for try_ in 0..tries(1).min(HOSTILE.len()) {
            let hostile = HOSTILE[(number + try_) % HOSTILE.len()];
            let what = format!("{} with {hostile:?}", path.display());
            seen.look(&renamed(&documents, hostile, number % 2 == 0), &what);
        }
    }
    seen.hold(100);
}

#[test]
fn every_field_may_hold_anything() {
    let mut seen = Seen::default();
    for (number, path) in fixtures().iter().enumerate() {
        let documents = documents(path);
        let count = strings(&documents);
        let tried = tries(3).min(count);
        for try_ in 0..tried {
            // Others for every fixture, spread over all.
            let at = (try_ * count / tried + number) % count;
            let hostile = HOSTILE[(number + try_) % HOSTILE.len()];
            let what = format!("{} at {at} with {hostile:?}", path.display());
            seen.look(&replaced(&documents, at, hostile), &what);
        }
    }
    seen.hold(100);
}

/// What lists print, with names of which the shell would make more than words.
#[test]
fn lists_have_the_words_of_their_commands() {
    let mut seen = Seen::default();
    let documents = documents(&root().join("tests/lists/payments.yaml"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hub.json");
    for hostile in HOSTILE.iter().filter(|hostile| !hostile.contains('\0')) {
        let renamed = renamed(&documents, hostile, false);
        let texts: Vec<_> = renamed.iter().map(Value::to_string).collect();
        std::fs::write(&file, texts.join("\n")).unwrap();
        let placement = renamed
            .iter()
            .find(|it| it["kind"] == "ClusterResourcePlacement")
            .and_then(|it| it["metadata"]["name"].as_str())
            .unwrap();
        let placement = format!("crp/{placement}");
        for asked in [
            vec!["approvals", "-A"],
            vec!["list", "-A"],
            vec!["history", &placement],
            vec!["status", &placement],
        ] {
            let what = format!("{asked:?} with {hostile:?}");
            let say = |format: &str| {
                let from = ["-f", file.to_str().unwrap(), "-o", format];
                let said = ends(&mut program(&[asked.as_slice(), &from].concat()));
                String::from_utf8(said.stdout).unwrap()
            };
            let json: Value = serde_json::from_str(&say("json")).unwrap_or_else(|error| {
                panic!("{what}: {error}");
            });
            seen.document(&json, &mut BTreeSet::new(), &what);
            if asked[0] != "status" {
                let wide = say("wide");
                let harmful = |c: char| c != '\n' && words::is_harmful(c);
                assert!(!wide.contains(harmful), "{what}: {wide}");
                let begins = ["hint:", "echo pwned", "kubectl "];
                let forged = |line: &str| begins.iter().any(|it| line.starts_with(it));
                assert!(!wide.lines().any(forged), "{what}: {wide}");
            }
        }
    }
    seen.hold(14);
}

/// What makes a command of a sentence that names kubectl.
const VERBS: [&str; 17] = [
    "fleet-stage",
    "annotate",
    "api-resources",
    "apply",
    "auth",
    "config",
    "create",
    "delete",
    "describe",
    "edit",
    "get",
    "label",
    "logs",
    "patch",
    "rollout",
    "scale",
    "wait",
];

/// Commands are built, not written: no text of the program holds one with something put in.
#[test]
fn no_text_has_a_command_with_something_put_in() {
    let mut wrong = Vec::new();
    for path in below(root().join("src"), "rs") {
        let relative = path.strip_prefix(root()).unwrap().display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        if relative.ends_with("tests.rs") {
            continue;
        }
        for literal in literals(code) {
            // The examples of a command's help.
            let is_help = literal.contains("Examples:\n");
            let named = literal.match_indices("kubectl ").any(|(at, _)| {
                let word = literal[at + 8..].split(' ').next().unwrap_or_default();
                VERBS.contains(&word) || word.starts_with(['-', '{'])
            });
            let placed = literal.replace("{{", "").contains('{');
            let begins =
                literal.starts_with("kubectl ") && literal.len() > "kubectl fleet-stage".len();
            if named && !is_help && (placed || begins || literal.contains("\n  kubectl ")) {
                wrong.push(format!("{relative}: {literal}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "use words::Command:\n{}",
        wrong.join("\n")
    );
}

/// The string literals of a source, as the compiler reads them.
fn literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    {
        let mut rest = code.chars().peekable();
        let mut previous = ' ';
        while let Some(c) = rest.next() {
            match c {
                '/' if rest.peek() == Some(&'/') => {
                    for c in rest.by_ref() {
                        if c == '\n' {
                            break;
                        }
                    }
                }
                '\'' if previous != 'b' => {
                    // A character, or a lifetime.
                    let mut ahead = rest.clone();
                    let first = ahead.next();
                    if first == Some('\\') || ahead.next() == Some('\'') {
                        let mut escaped = false;
                        for c in rest.by_ref() {
                            if c == '\'' && !escaped {
                                break;
                            }
                            escaped = c == '\\' && !escaped;
                        }
                    }
                }
                '"' => {
                    let mut literal = String::new();
                    while let Some(c) = rest.next() {
                        match c {
                            '"' => break,
                            '\\' => match rest.next() {
                                Some('\n') => {
                                    while rest.peek().is_some_and(|c| c.is_whitespace()) {
                                        rest.next();
                                    }
                                }
                                Some('n') => literal.push('\n'),
                                Some(other) => literal.push(other),
                                None => break,
                            },
                            c => literal.push(c),
                        }
                    }
                    found.push(literal);
                }
                _ => {}
            }
            previous = c;
        }
    }
    found
}
