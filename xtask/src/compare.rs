//! What two builds of the program answer about the same bundles: exit codes, documents, and sentences.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, bail};
use kubectl_fleet_stage::bundle::{self, Bundle, Input};
use kubectl_fleet_stage::kubefleet::ObjectRef;
use kubectl_fleet_stage::kubefleet::object::ObjectBody;
use kubectl_fleet_stage::words::brief;
use serde_json::Value;

/// What is compared.
#[derive(clap::Args)]
pub struct CompareArgs {
    /// The program as it was
    old: PathBuf,
    /// The program as it is
    new: PathBuf,
    /// Bundles, and folders of them
    #[arg(default_values = ["tests", "examples"])]
    bundles: Vec<PathBuf>,
    /// Show sentences that differ, and compare the formats for people too
    #[arg(long)]
    sentences: bool,
}

/// The formats of `diagnose` for people; JSON stands for the others.
const FORMATS: [&str; 5] = ["text", "markdown", "html", "junit", "github"];
/// Characters of a line that is shown: a page is one.
const LINE: usize = 400;
/// Values that are exact though they have spaces.
const EXACT: [&str; 3] = ["command", "path", "value"];

/// Differences, each once: how often it was found, and the first call with it.
type Found = BTreeMap<Difference, (usize, String)>;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Difference {
    /// Only words that a person reads differ.
    sentence: bool,
    at: String,
    old: String,
    new: String,
}

/// Asks both programs the same about every bundle, and reports what differs.
pub fn run(root: &Path, args: &CompareArgs) -> Result<()> {
    let mut calls = Vec::new();
    for path in crate::accuracy::bundles(root, &args.bundles)? {
        // Some of them are broken on purpose.
        let Ok(bundle) = bundle::read(vec![Input::Path(path.clone())]) else {
            continue;
        };
        for words in questions(&bundle, args.sentences) {
            calls.push((path.clone(), words));
        }
    }
    let (found, next) = (Mutex::new(Ok(Found::new())), AtomicUsize::new(0));
    let work = || {
        while let Some((path, words)) = calls.get(next.fetch_add(1, Ordering::Relaxed)) {
            let differ = ask(&args.old, path, words)
                .and_then(|old| Ok(old.differ(&ask(&args.new, path, words)?)));
            let shown = path.strip_prefix(root).unwrap_or(path).display();
            let Ok(mut found) = found.lock() else { return };
            match (found.as_mut(), differ) {
                (Ok(found), Ok(differ)) => {
                    for one in differ {
                        let first = || (0, format!("{} -f {shown}", words.join(" ")));
                        found.entry(one).or_insert_with(first).0 += 1;
                    }
                }
                (Ok(_), Err(error)) => *found = Err(error),
                (Err(_), _) => return,
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let found = found.into_inner().unwrap_or_else(|_| Ok(Found::new()))?;
    tell(&found, calls.len(), args.sentences)
}

/// Reports what was found; anything but sentences is an error.
fn tell(found: &Found, calls: usize, sentences: bool) -> Result<()> {
    for (one, (times, first)) in found {
        if sentences || !one.sentence {
            let Difference { at, old, new, .. } = one;
            crate::report(&format!(
                "{at} ({times}x, first in: {first})\n  - {old}\n  + {new}"
            ));
        }
    }
    let words = found.keys().filter(|one| one.sentence).count();
    let others = found.len() - words;
    let hint = if words > 0 && !sentences {
        " (--sentences shows them)"
    } else {
        ""
    };
    crate::report(&format!(
        "{calls} calls: {others} values and {words} sentences differ{hint}"
    ));
    if others > 0 {
        bail!("the programs differ in more than sentences");
    }
    Ok(())
}

/// Everything that can be asked about a bundle, but for its file.
fn questions(bundle: &Bundle, formats: bool) -> Vec<Vec<String>> {
    let mut asked = BTreeSet::new();
    let mut ask = |words: &[&str], namespace: &str| {
        let scope = ["-n", namespace];
        let scope = if namespace.is_empty() {
            &[]
        } else {
            &scope[..]
        };
        let words = words.iter().chain(scope).map(|word| (*word).to_owned());
        asked.insert(words.collect::<Vec<_>>());
    };
    for verb in ["list", "approvals", "strategies"] {
        ask(&[verb, "-A", "-o", "json"], "");
    }
    ask(&["diagnose", "--all", "-A", "-o", "json"], "");
    let (mut placements, mut strategies, mut plans) = (Vec::new(), Vec::new(), BTreeSet::new());
    for object in bundle.objects() {
        let target = object.reference();
        let verbs = match &object.body {
            ObjectBody::Run(run) => {
                let (placement, strategy) = (&run.spec.placement, &run.spec.strategy);
                plans.insert((
                    target.namespace.clone(),
                    placement.clone(),
                    strategy.clone(),
                ));
                &["diagnose", "status", "render", "approvals"][..]
            }
            ObjectBody::Placement(_) => {
                placements.push(target.clone());
                &[
                    "diagnose",
                    "status",
                    "render",
                    "history",
                    "snapshots",
                    "clusters",
                ]
            }
            ObjectBody::Strategy(_) => {
                strategies.push(target);
                continue;
            }
            _ => continue,
        };
        let (name, namespace) = (target.word(), target.namespace.as_str());
        for verb in verbs {
            ask(&[verb, &name, "-o", "json"], namespace);
        }
        if formats {
            ask(&["diagnose", &name], namespace);
            ask(&["status", &name], namespace);
            for format in FORMATS {
                ask(&["diagnose", &name, "-o", format, "-v"], namespace);
            }
        }
    }
    for ObjectRef {
        namespace, name, ..
    } in placements
    {
        let beside = strategies.iter().filter(|one| one.namespace == namespace);
        plans.extend(beside.map(|one| (namespace.clone(), name.clone(), one.name.clone())));
    }
    for (namespace, placement, strategy) in &plans {
        let words = [
            "plan",
            "--placement",
            placement,
            "--strategy",
            strategy,
            "-o",
            "json",
        ];
        ask(&words, namespace);
        if formats {
            ask(&words[..5], namespace);
        }
    }
    asked.into_iter().collect()
}

/// What a program did.
struct Answer {
    exit: Option<i32>,
    out: String,
    err: String,
}

fn ask(program: &Path, path: &Path, words: &[String]) -> Result<Answer> {
    let output = Command::new(program)
        .args(words)
        .arg("-f")
        .arg(path)
        .envs([("FLEET_STAGE_SETTINGS", "off"), ("COLUMNS", "80")])
        .output()
        .with_context(|| format!("starting {}", program.display()))?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ok(Answer {
        exit: output.status.code(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    })
}

impl Answer {
    fn differ(&self, other: &Self) -> Vec<Difference> {
        let mut found = Vec::new();
        let exit = |exit: Option<i32>| exit.map_or("a signal".to_owned(), |code| code.to_string());
        if self.exit != other.exit {
            let (old, new) = (exit(self.exit), exit(other.exit));
            found.push(Difference::of("exit code", old, new, false));
        }
        match [self, other].map(|answer| serde_json::from_str::<Value>(&answer.out)) {
            [Ok(old), Ok(new)] => values("", &old, &new, &mut found),
            _ => lines("output", &self.out, &other.out, &mut found),
        }
        lines("messages", &self.err, &other.err, &mut found);
        found
    }
}

impl Difference {
    fn of(at: &str, old: String, new: String, sentence: bool) -> Self {
        Self {
            sentence,
            at: at.to_owned(),
            old,
            new,
        }
    }
}

/// What differs between two documents.
fn values(at: &str, old: &Value, new: &Value, found: &mut Vec<Difference>) {
    match (old, new) {
        (Value::Object(was), Value::Object(is)) => {
            for key in was.keys().chain(is.keys()).collect::<BTreeSet<_>>() {
                match (was.get(key), is.get(key)) {
                    (Some(old), Some(new)) => values(&format!("{at}.{key}"), old, new, found),
                    (old, new) => {
                        let text = |value: Option<&Value>| {
                            value.map_or("nothing".to_owned(), ToString::to_string)
                        };
                        let at = format!("{at}.{key}");
                        found.push(Difference::of(&at, text(old), text(new), false));
                    }
                }
            }
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            for (old, new) in was.iter().zip(is) {
                values(&format!("{at}[]"), old, new, found);
            }
        }
        (Value::Array(was), Value::Array(is)) => {
            let (old, new) = (items(was), items(is));
            found.push(Difference::of(&format!("{at}[]"), old, new, false));
        }
        (old, new) if old != new => {
            let exact = EXACT.iter().any(|key| at.ends_with(&format!(".{key}")));
            let words = |value: &Value| value.as_str().is_some_and(|text| text.contains(' '));
            let sentence = !exact && words(old) && words(new);
            found.push(Difference::of(
                at,
                old.to_string(),
                new.to_string(),
                sentence,
            ));
        }
        _ => {}
    }
}

/// A list in brief: its codes where its items have some.
fn items(list: &[Value]) -> String {
    let codes: Vec<_> = list
        .iter()
        .filter_map(|item| item["code"].as_str())
        .collect();
    format!("{} items {}", list.len(), codes.join(" "))
        .trim()
        .to_owned()
}

/// The lines that only one of two texts has. A finding's code is not a matter of words.
fn lines(at: &str, old: &str, new: &str, found: &mut Vec<Difference>) {
    if old == new {
        return;
    }
    let codes = |text: &str| {
        let starts = text
            .match_indices("FS")
            .filter_map(|(at, _)| text.get(at..at + 5));
        let codes = starts.filter(|code| code[2..].bytes().all(|byte| byte.is_ascii_digit()));
        codes.collect::<Vec<_>>().join(" ")
    };
    if codes(old) != codes(new) {
        found.push(Difference::of(at, codes(old), codes(new), false));
    }
    let without = |text: &str, other: &str| {
        let other: BTreeSet<_> = other.lines().collect();
        let lines = text.lines().filter(|line| !other.contains(line));
        let lines: Vec<_> = lines.map(|line| brief(line, LINE)).collect();
        lines.join("\n    ")
    };
    let (was, is) = (without(old, new), without(new, old));
    found.push(Difference::of(at, was, is, true));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Answer, CompareArgs, Difference, lines, questions, run, values};

    fn differ(old: &Value, new: &Value) -> Vec<(String, bool)> {
        let mut found = Vec::new();
        values("", old, new, &mut found);
        found
            .into_iter()
            .map(|one| (one.at, one.sentence))
            .collect()
    }

    #[test]
    fn only_words_for_people_are_sentences() {
        let old = json!({"verdict": "Stuck", "summary": "It is stuck.", "findings": [
            {"code": "FS501", "message": "One cluster is slow.", "remedies": [{"command": "kubectl get pods"}]}]});
        assert_eq!(differ(&old, &old), []);
        for (pointer, value, at, sentence) in [
            ("/verdict", json!("Failed"), ".verdict", false),
            ("/summary", json!("It does not progress."), ".summary", true),
            ("/summary", json!(""), ".summary", false),
            (
                "/findings/0/code",
                json!("FS502"),
                ".findings[].code",
                false,
            ),
            (
                "/findings/0/message",
                json!("A cluster is slow."),
                ".findings[].message",
                true,
            ),
            (
                "/findings/0/message",
                json!(3),
                ".findings[].message",
                false,
            ),
            (
                "/findings/0/remedies/0/command",
                json!("kubectl get nodes"),
                ".findings[].remedies[].command",
                false,
            ),
            (
                "/findings/0/remedies",
                json!([]),
                ".findings[].remedies[]",
                false,
            ),
            ("/findings/0", json!({}), ".findings[].code", false),
        ] {
            let mut new = old.clone();
            *new.pointer_mut(pointer).unwrap() = value;
            let found = differ(&old, &new);
            assert!(
                found.contains(&(at.to_owned(), sentence)),
                "{pointer}: {found:?}"
            );
        }
    }

    #[test]
    fn a_list_that_lost_a_finding_is_told_by_its_codes() {
        let mut found = Vec::new();
        let old = json!({"findings": [{"code": "FS101"}, {"code": "FS501"}]});
        values(
            "",
            &old,
            &json!({"findings": [{"code": "FS501"}]}),
            &mut found,
        );
        let one = Difference::of(
            ".findings[]",
            "2 items FS101 FS501".into(),
            "1 items FS501".into(),
            false,
        );
        assert_eq!(found, [one]);
    }

    #[test]
    fn a_code_in_a_text_is_no_sentence() {
        let mut found = Vec::new();
        lines(
            "output",
            "Stuck\nerror FS501 slow",
            "Stuck\nerror FS502 slow",
            &mut found,
        );
        assert_eq!(
            found.iter().map(|one| one.sentence).collect::<Vec<_>>(),
            [false, true]
        );
        assert_eq!(found[1].old, "error FS501 slow");
    }

    #[test]
    fn exit_codes_count() {
        let answer = |exit| Answer {
            exit,
            out: "{}".to_owned(),
            err: String::new(),
        };
        let found = answer(Some(4)).differ(&answer(Some(0)));
        assert_eq!(
            found,
            [Difference::of("exit code", "4".into(), "0".into(), false)]
        );
        assert!(answer(None).differ(&answer(None)).is_empty());
    }

    #[test]
    fn a_bundle_is_asked_about_all_that_is_in_it() {
        let path = crate::root().join("examples/namespaced/succeeded.yaml");
        let bundle = super::bundle::read(vec![super::Input::Path(path)]).unwrap();
        let asked: Vec<_> = questions(&bundle, false)
            .iter()
            .map(|words| words.join(" "))
            .collect();
        for wanted in [
            "list -A -o json",
            "diagnose sur/web-app-rollout -o json -n my-app-namespace",
            "history rp/web-app-placement -o json -n my-app-namespace",
            "plan --placement web-app-placement --strategy web-app-strategy -o json -n my-app-namespace",
        ] {
            assert!(
                asked.iter().any(|one| one == wanted),
                "{wanted}: {asked:#?}"
            );
        }
        assert!(questions(&bundle, true).len() > asked.len());
    }

    /// Two programs that disagree about one thing.
    #[cfg(unix)]
    #[test]
    fn programs_are_held_against_each_other() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = std::env::temp_dir().join(format!("compare-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let program = |name: &str, script: &str| {
            let path = folder.join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let old = program("old", r#"echo '{"kind": "Words", "note": "as it was"}'"#);
        let told = program(
            "told",
            r#"echo '{"kind": "Words", "note": "in other words"}'"#,
        );
        let other = program("other", r#"echo '{"kind": "Other", "note": "as it was"}'"#);
        let compare = |new: &std::path::Path| {
            let args = CompareArgs {
                old: old.clone(),
                new: new.to_owned(),
                bundles: vec!["examples/cluster/succeeded.yaml".into()],
                sentences: false,
            };
            run(&crate::root(), &args)
        };
        assert!(compare(&old).is_ok());
        assert!(compare(&told).is_ok());
        assert!(compare(&other).is_err());
        assert!(compare(&folder.join("absent")).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
