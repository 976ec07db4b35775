//! Commands that list: what they say of hand-made and recorded bundles, in-process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

use crate::{calls, fixtures};
use std::ffi::OsString;
use std::path::PathBuf;

use fixtures::{whole, yaml_files};
use kubectl_fleet_stage::ui::UiEnvironment;
use serde_json::{Value, json};

const PAYMENTS: &str = "tests/lists/payments.yaml";

struct Said {
    out: String,
    err: String,
    code: u8,
}

fn say(arguments: &[&str], environment: UiEnvironment) -> Said {
    let words = std::iter::once("kubectl-fleet_stage").chain(arguments.iter().copied());
    let clock = || panic!("files tell the time");
    let (code, out, err) = calls::call(words.map(OsString::from), None, environment, clock);
    Said { out, err, code }
}

fn narrow() -> UiEnvironment {
    UiEnvironment {
        columns: Some(80),
        called_as: "kubectl-fleet_stage".into(),
        ..UiEnvironment::default()
    }
}

/// The document that a command prints.
fn document(arguments: &[&str]) -> Value {
    let words: Vec<_> = arguments.iter().copied().chain(["-o", "json"]).collect();
    let said = say(&words, narrow());
    assert_eq!(said.code, 0, "{words:?}: {}", said.err);
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

/// The same of the payments.
fn of_payments(words: &str) -> Value {
    let words: Vec<_> = words.split(' ').chain(["-f", PAYMENTS]).collect();
    document(&words)
}

/// Fields of each item, as words.
fn rows(items: &Value, names: &str) -> Vec<String> {
    let row = |item: &Value| {
        let field = |name| item.pointer(&format!("/{name}")).unwrap_or(&Value::Null);
        let words = names.split(' ').map(|name| field(name).to_string());
        words.collect::<Vec<_>>().join(" ").replace('"', "")
    };
    items.as_array().unwrap().iter().map(row).collect()
}

fn bundles() -> Vec<PathBuf> {
    let folders = [
        "examples",
        "tests/real",
        "tests/healthy",
        "tests/findings",
        "tests/lists",
    ];
    let found = yaml_files(&folders);
    assert!(found.len() > 300, "{}", found.len());
    found
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("{pointer} is no text in {value:#}"))
}

/// Alone or among others, with or without the rest of the walk: a run has one verdict, and one report.
#[test]
fn the_verdict_is_the_one_that_diagnose_gives() {
    let mut seen = 0;
    for path in bundles() {
        let file = path.to_str().unwrap();
        let list = document(&["list", "-A", "-f", file]);
        let all = document(&["diagnose", "--all", "-A", "--exit-zero", "-f", file]);
        let all = all["items"].as_array().unwrap();
        for item in list["items"].as_array().unwrap() {
            let (name, namespace) = (text(item, "/name"), text(item, "/namespace"));
            let run = if namespace.is_empty() {
                format!("csur/{name}")
            } else {
                format!("sur/{name}")
            };
            let mut words = vec!["diagnose", &run, "-f", file, "-o", "json"];
            if !namespace.is_empty() {
                words.extend(["-n", namespace]);
            }
            let said = say(&words, narrow());
            let report: Value = serde_json::from_str(&said.out).unwrap();
            assert_eq!(item["verdict"], report["verdict"], "{run} in {file}");
            let among_others = |other: &&Value| other["target"] == report["target"];
            assert_eq!(
                all.iter().find(among_others),
                Some(&report),
                "{run} in {file}"
            );
            let progress = &report["run"];
            assert_eq!(item["done"], progress["done"], "{run} in {file}");
            assert_eq!(item["total"], progress["total"], "{run} in {file}");
            seen += 1;
        }
    }
    assert!(seen > 300, "{seen}");
}

/// A bundle for each rule, and all that show no rule.
fn some_bundles() -> Vec<PathBuf> {
    let mut bundles = bundles();
    bundles.dedup_by_key(|path| {
        let folder = path.parent().and_then(|folder| folder.parent());
        let rule = folder.is_some_and(|folder| folder.ends_with("tests/findings"));
        path.parent().filter(|_| rule).unwrap_or(path).to_owned()
    });
    bundles
}

/// Whatever a hub holds, every command answers in every format, in rows that fit.
#[test]
fn every_command_answers() {
    let mut formats = ["table", "wide", "json", "table", "yaml", "name", "table"]
        .into_iter()
        .cycle();
    for path in some_bundles() {
        let file = path.to_str().unwrap();
        let list = document(&["list", "-A", "-f", file]);
        let mut placements: Vec<(String, String)> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| {
                (
                    text(item, "/namespace").into(),
                    text(item, "/placement").into(),
                )
            })
            .collect();
        placements.sort();
        placements.dedup();
        let mut commands: Vec<Vec<String>> = ["list -A", "approvals -A", "strategies -A"]
            .iter()
            .map(|words| words.split(' ').map(str::to_owned).collect())
            .collect();
        for (namespace, placement) in &placements {
            let (kind, flag) = if namespace.is_empty() {
                ("crp", vec![])
            } else {
                ("rp", vec!["-n".to_owned(), namespace.clone()])
            };
            for command in ["history", "snapshots"] {
                let words = [command.to_owned(), format!("{kind}/{placement}")];
                commands.push(words.into_iter().chain(flag.clone()).collect());
            }
        }
        for command in &commands {
            let format = formats.next().unwrap();
            let mut words: Vec<_> = command.iter().map(String::as_str).collect();
            words.extend(["-f", file, "-o", format]);
            let said = say(&words, narrow());
            // A placement that a run names need not exist, and not everyone may read all.
            let denied = said.code == 7 && said.err.contains("cannot be listed: ");
            assert!(
                denied || matches!(said.code, 0 | 6),
                "{words:?}: {}",
                said.err
            );
            if format == "table" {
                let rows = said.out.lines();
                for row in rows.filter(|row| !row.contains("kubectl fleet-stage")) {
                    assert!(row.chars().count() <= 80, "{words:?}: {row}");
                }
            }
        }
    }
}

/// However narrow the terminal is, what a row is about can be copied from it.
#[test]
fn a_name_is_never_cut() {
    let mut seen = 0;
    for path in yaml_files(&["examples", "tests/lists", "tests/real"]) {
        let file = path.to_str().unwrap();
        let list = document(&["list", "-A", "-f", file]);
        let first = list["items"].as_array().unwrap().first();
        let of_placement = first.map(|run| {
            let placement = text(run, "/placement").to_owned();
            let namespace = text(run, "/namespace").to_owned();
            ["clusters", "history"].map(|verb| {
                let mut words = vec![verb.to_owned(), placement.clone()];
                if !namespace.is_empty() {
                    words.extend(["-n".to_owned(), namespace.clone()]);
                }
                words
            })
        });
        let lists = ["list", "approvals", "strategies"];
        let lists = lists.map(|verb| vec![verb.to_owned(), "-A".to_owned()]);
        for command in lists.into_iter().chain(of_placement.into_iter().flatten()) {
            let mut words: Vec<_> = command.iter().map(String::as_str).collect();
            words.extend(["-f", file]);
            let json = [&words[..], &["-o", "json"]].concat();
            let Ok(document) = serde_json::from_str::<Value>(&say(&json, narrow()).out) else {
                continue;
            };
            let items = document.get("items").or(document.get("runs")).unwrap();
            for columns in [80, 40] {
                let environment = UiEnvironment {
                    columns: Some(columns),
                    ..narrow()
                };
                let table = say(&words, environment).out;
                for item in items.as_array().unwrap() {
                    let is_gate = words[0] == "approvals";
                    let name = text(item, if is_gate { "/run/name" } else { "/name" });
                    assert!(table.contains(name), "{words:?} in {columns}: {table}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 300, "{seen}");
}

/// Nothing of a secret is in any output, unless it was asked for.
#[test]
fn secrets_are_shown_to_those_who_ask() {
    let secrets = ["dG9rZW4t", "cGF5bWVudHM=", "pg-word", "hunter2"];
    for command in [
        vec!["snapshots", "payments"],
        vec!["snapshots", "show", "payments", "0"],
        vec!["snapshots", "diff", "payments", "0", "1"],
        vec!["snapshots", "diff", "payments", "0", "2"],
        vec!["history", "payments"],
    ] {
        for format in ["table", "wide", "json", "yaml", "name"] {
            let mut words = command.clone();
            words.extend(["-f", PAYMENTS, "-o", format]);
            let said = say(&words, narrow());
            for secret in secrets {
                assert!(!said.out.contains(secret), "{words:?}: {}", said.out);
                assert!(!said.err.contains(secret), "{words:?}: {}", said.err);
            }
        }
    }
    let asked = ["snapshots", "diff", "payments", "0", "2", "-f", PAYMENTS];
    let said = say(&[&asked[..], &["--show-secrets"]].concat(), narrow());
    assert!(
        secrets.iter().all(|secret| said.out.contains(secret)),
        "{}",
        said.out
    );
}

#[test]
fn a_version_may_be_several_objects() {
    let items = &of_payments("snapshots payments")["items"];
    // Three are kept: the next one may delete any of them.
    assert_eq!(
        rows(items, "parts resources complete survives clusters"),
        [
            "[payments-0-snapshot] 4 true 0 [member-2,member-3]",
            "[payments-1-snapshot,payments-1-0,payments-1-1] 5 true 0 [member-1]",
            "[payments-2-snapshot] 2 false 0 []",
        ]
    );
    assert_eq!(items[2]["flaw"], "1 of 2 parts exist");
    assert_eq!(items[1]["runs"], json!(["payments-2", "payments-3"]));
}

#[test]
fn differences_are_said_resource_by_resource() {
    let diff = of_payments("snapshots diff payments 0 1");
    assert_eq!(
        rows(&diff["changes"], "change name secrets"),
        [
            "changed settings differ",
            "changed web same",
            "changed gateway differ",
            "added web null",
        ]
    );
    let code = |to: &str| {
        let words = [
            "snapshots",
            "diff",
            "payments",
            "1",
            to,
            "--exit-code",
            "-f",
            PAYMENTS,
        ];
        say(&words, narrow()).code
    };
    assert_eq!((code("1"), code("0"), code("7")), (0, 3, 6));
}

#[test]
fn history_tells_what_the_bindings_tell() {
    let history = of_payments("history payments");
    assert_eq!(
        rows(&history["runs"], "verdict stillOn replacedOn"),
        [
            "Succeeded [member-2,member-3] [member-1]",
            "Succeeded [member-1] [member-2,member-3]",
            "WaitingForApproval [member-1] []",
        ]
    );
    assert_eq!(
        rows(&history["notes"], "kind run clusters"),
        [
            "PutBack payments-1 [member-2,member-3]",
            "OldContent payments-3 [member-1,member-2,member-3]",
            "SuccessReplaced payments-2 [member-2,member-3]",
            "VersionsMixed null [member-2,member-3,member-1]",
        ]
    );
    assert_eq!(
        rows(&history["clusters"], "snapshot writtenBy availableClusters"),
        ["0 payments-1 2", "1 payments-3 1"]
    );
    let canary = &history["runs"][0]["stages"][1];
    assert_eq!(canary["gates"][0]["answer"]["by"], "alice@example.com");
}

#[test]
fn a_rollback_that_was_asked_for_is_no_warning() {
    let file = "examples/cluster/rolled-back.yaml";
    let history = document(&["history", "example-placement", "-f", file]);
    assert_eq!(
        rows(&history["notes"], "kind severity run"),
        ["RolledBack info example-run-rollback"]
    );
}

#[test]
fn a_waiting_older_run_threatens() {
    let file = whole("tests/findings/FS703/fires-waiting-older-run.yaml");
    let file = file.to_str().unwrap();
    let history = document(&["history", "example-placement", "-f", file]);
    let note = &history["notes"][0];
    assert_eq!(note["kind"], "WouldGoBack");
    assert_eq!(note["command"], "kubectl fleet-stage diagnose run-1");
    assert_eq!(note["clusters"], json!(["member1"]));
}

#[test]
fn what_is_not_sent_is_on_no_cluster() {
    let file = whole("tests/findings/FS509/fires-path-missing.yaml");
    let file = file.to_str().unwrap();
    let of = |command| document(&[command, "example-placement", "-f", file]);
    for (command, key) in [("clusters", "items"), ("history", "clusters")] {
        let said = of(command);
        let mut undelivered = rows(&said[key], "undelivered");
        undelivered.sort();
        assert_eq!(undelivered, ["Unsent", "null"], "{said:#}");
        let wide = UiEnvironment {
            columns: Some(120),
            ..narrow()
        };
        let text = say(&[command, "example-placement", "-f", file], wide).out;
        assert!(text.contains("0 unsent"), "{text}");
    }
    let status = say(&["status", "crp/example-placement", "-f", file], narrow()).out;
    let words = status.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("snapshot 0, not sent because its overrides do not fit"),
        "{words}"
    );
    // What was sent and fails is there.
    let file = whole("tests/findings/FS502/fires-quota.yaml");
    let said = document(&[
        "clusters",
        "example-placement",
        "-f",
        file.to_str().unwrap(),
    ]);
    assert!(!said.to_string().contains("undelivered"), "{said:#}");
}

#[test]
fn what_is_only_compared_is_on_no_cluster() {
    let file = whole("tests/findings/FS526/fires-deployment.yaml");
    let file = file.to_str().unwrap();
    let of = |command| document(&[command, "example-placement", "-f", file]);
    let now = &of("history")["clusters"];
    assert_eq!(now[1]["undelivered"], "Compared", "{now:#}");
    assert_eq!(of("clusters")["items"][1]["undelivered"], "Compared");
    assert_eq!(of("snapshots")["items"][0]["clusters"], json!([]));
}

#[test]
fn approvals_say_what_became_of_them() {
    let list = of_payments("approvals");
    let states: Vec<_> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            let answer = &item["answer"];
            let by = answer["by"].as_str().or(answer["with"].as_str());
            (text(item, "/request"), text(item, "/state"), by)
        })
        .collect();
    assert_eq!(
        states,
        [
            ("payments-0-after-canary", "RunGone", None),
            (
                "payments-1-before-canary",
                "Accepted",
                Some("alice@example.com")
            ),
            (
                "payments-2-before-canary",
                "Accepted",
                Some("kubectl-patch")
            ),
            ("payments-3-before-canary", "Ignored", None),
        ]
    );
    let pending = &of_payments("approvals payments-3 --pending")["items"][0];
    assert_eq!(
        pending["command"],
        "kubectl fleet-stage approve payments-3-before-canary"
    );
    assert_eq!(pending["when"], "before");
}

/// Each state of a request, from what KubeFleet's rules make of it.
#[test]
fn every_state_of_an_approval_is_told() {
    for (rule, state) in [
        ("FS402", "Pending"),
        ("FS401", "Ignored"),
        ("FS403", "Withheld"),
        ("FS404", "Approved"),
        ("FS406", "Missing"),
        ("FS209", "Foreign"),
    ] {
        let files = yaml_files(&[&format!("tests/findings/{rule}")]);
        let files = files.iter().map(|path| path.to_str().unwrap());
        let told = files.filter(|file| file.contains("/fires")).any(|file| {
            let list = document(&["approvals", "-A", "-f", file]);
            rows(&list["items"], "state").iter().any(|it| it == state)
        });
        assert!(told, "{rule} shows no {state}");
    }
}

#[test]
fn where_nobody_reads_nothing_is_cut() {
    let long = say(
        &["list", "-f", "examples/cluster/rolling-back.yaml"],
        UiEnvironment::default(),
    );
    assert!(
        long.out
            .contains("example-run-rollback  example-placement  Progressing"),
        "{}",
        long.out
    );
    let cut = UiEnvironment {
        columns: Some(60),
        ..UiEnvironment::default()
    };
    let short = say(&["list", "-f", "examples/cluster/rolling-back.yaml"], cut);
    let said = "example-run-rollback  Progressing  canary  2/3   0     2m19s\n";
    assert!(short.out.ends_with(said), "{}", short.out);
    assert!(!short.out.contains("PLACEMENT"), "{}", short.out);
}

/// Commands about a placement take a run on it.
#[test]
fn a_run_stands_for_its_placement() {
    for command in [
        "history",
        "snapshots",
        "clusters",
        "snapshots show",
        "snapshots diff",
    ] {
        let call = |word: &str| {
            let words: Vec<_> = command.split(' ').chain([word, "-f", PAYMENTS]).collect();
            say(&words, narrow())
        };
        let placement = call("payments");
        for word in ["payments-2", "csur/payments-2"] {
            let run = call(word);
            assert_eq!(run.out, placement.out, "{command} {word}: {}", run.err);
            let said =
                "ClusterStagedUpdateRun payments-2 is on ClusterResourcePlacement payments\n";
            assert!(run.err.contains(said), "{command} {word}: {}", run.err);
        }
        assert_eq!(call("payments-9").code, 6, "{command}");
    }
}

/// The commands below hints.
fn suggested(text: &str) -> Vec<Vec<String>> {
    let lines = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("kubectl fleet-stage "));
    let words = lines.map(shell_words);
    words.collect()
}

/// The words of a suggested command, in which at most one is quoted.
fn shell_words(line: &str) -> Vec<String> {
    line.split(' ')
        .map(|word| word.trim_matches('\'').to_owned())
        .collect()
}

/// What a name that is not there, or is something else, leads to can be pasted.
#[test]
fn every_command_that_a_wrong_name_leads_to_can_be_run() {
    let reads = [
        "status",
        "diagnose",
        "list",
        "approvals",
        "wait --for=started",
        "history",
        "snapshots",
        "snapshots show",
        "snapshots diff",
        "clusters",
        "render",
        "strategies show",
    ];
    let mut seen = 0;
    for verb in reads {
        for word in [
            "payments",
            "paymnets",
            "payments-4",
            "crp/payments-1",
            "csur/payments",
            "sur/payments-1",
            "zzz",
        ] {
            let mut words: Vec<_> = verb.split(' ').collect();
            words.insert(
                words
                    .len()
                    .min(if verb.starts_with("wait") { 1 } else { 9 }),
                word,
            );
            words.extend(["-f", PAYMENTS]);
            let said = say(&words, narrow());
            for command in suggested(&said.err) {
                let command: Vec<_> = command.iter().map(String::as_str).collect();
                let next = say(&command, narrow());
                assert!(
                    !matches!(next.code, 2 | 6),
                    "{words:?} leads to {command:?}: {}",
                    next.err
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

/// The same objects in JSON and in YAML, and in any order, give the same answers.
#[test]
fn json_and_yaml_give_the_same() {
    let source = std::fs::read_to_string(PAYMENTS).unwrap();
    let mut objects: Vec<Value> = serde_saphyr::from_multiple(&source).unwrap();
    let header = objects.remove(0);
    objects.reverse();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    std::fs::write(folder.path().join("a.json"), list.to_string()).unwrap();
    std::fs::write(folder.path().join("b.json"), header.to_string()).unwrap();
    let file = folder.path().to_str().unwrap();
    for command in [
        vec!["list"],
        vec!["history", "payments"],
        vec!["snapshots", "payments"],
        vec!["snapshots", "show", "payments", "1"],
        vec!["snapshots", "diff", "payments", "0", "1"],
    ] {
        let of = |file| {
            let mut words = command.clone();
            words.extend(["-f", file]);
            document(&words)
        };
        assert_eq!(of(file), of(PAYMENTS), "{command:?}");
    }
}

/// How many items a command has.
fn count(words: &str) -> usize {
    of_payments(words)["items"].as_array().unwrap().len()
}

#[test]
fn runs_are_selected_and_sorted_as_kubectl_does_it() {
    let (one, two, three) = ("payments-1", "payments-2", "payments-3");
    for (arguments, runs) in [
        ("payments-2 payments-1", vec![one, two]),
        ("payments-1 csur/payments-1", vec![one]),
        ("-l !team", vec![one, two, three]),
        ("-l team", vec![]),
        (
            "--field-selector metadata.name!=payments-1",
            vec![two, three],
        ),
        ("--field-selector metadata.namespace=shop", vec![]),
        ("--sort-by age", vec![three, two, one]),
        ("--sort-by progress", vec![three, one, two]),
        ("--sort-by verdict --active", vec![three]),
        ("--sort-by name -A", vec![one, two, three]),
    ] {
        let list = of_payments(&format!("list {arguments}"));
        assert_eq!(rows(&list["items"], "name"), runs, "{arguments}");
    }
    // A request without a run is nobody's who was selected.
    assert_eq!(count("approvals -l !team"), 3);
    assert_eq!(count("approvals"), 4);
    assert_eq!(count("approvals payments-1 payments-3"), 2);
}

/// Each of several names has its own answer, and one that is not there hides none of the others.
#[test]
fn several_names_are_several_answers() {
    let (one, two) = ("payments-1", "payments-2");
    for (command, kind) in [("diagnose", "DiagnosisList"), ("status", "StatusList")] {
        let ask = |names: &[&str], more: &[&str]| {
            let words = [&[command], names, &["-f", PAYMENTS], more].concat();
            say(&words, narrow())
        };
        let named = |names: &[&str]| {
            let said = ask(names, &["-o", "json"]);
            let list: Value = serde_json::from_str(&said.out).unwrap();
            assert_eq!(list["kind"], kind, "{}", said.err);
            (rows(&list["items"], "target/name"), said)
        };
        let (items, said) = named(&[two, one, "csur/payments-2"]);
        assert_eq!(items, [two, one], "{}", said.err);
        let alone = |name| ask(&[name], &["-o", "json"]).code;
        assert_eq!(said.code, alone(one).max(alone(two)), "{}", said.err);
        // The order is that of the names, whatever is missing among them.
        let (items, said) = named(&["payments-8", two, "payments-9"]);
        assert_eq!(items, [two], "{}", said.err);
        assert_eq!(said.code, 6, "{}", said.err);
        for missing in ["payments-8", "payments-9"] {
            assert!(said.err.contains(missing), "{}", said.err);
        }
        let said = ask(&["payments-8", "payments-9"], &["-o", "json"]);
        assert_eq!((said.code, said.out.as_str()), (6, ""), "{}", said.err);
        assert!(said.err.contains("payments-9"), "{}", said.err);
        // One name is one document, as ever.
        let said = ask(&[one], &["-o", "json"]);
        assert!(!said.out.contains(kind), "{}", said.out);
        let said = ask(&[one, "crp/payments"], &[]);
        let (first, second) = (
            "ClusterStagedUpdateRun payments-1",
            "ClusterResourcePlacement",
        );
        let (first, second) = (said.out.find(first), said.out.find(second));
        assert!(first.is_some() && first < second, "{}", said.out);
    }
    let text = say(&["diagnose", one, two, "-f", PAYMENTS], narrow()).out;
    assert!(text.starts_with("2 update runs: "), "{text}");
    let text = say(&["diagnose", one, "crp/payments", "-f", PAYMENTS], narrow()).out;
    assert!(text.starts_with("2 rollouts: "), "{text}");
}

#[test]
fn what_is_diagnosed_together_is_selected_by_labels() {
    for (selector, runs, strategies) in [("!team", 3, 2), ("team", 0, 0)] {
        let diagnosed = format!("diagnose --all -l {selector} --exit-zero");
        assert_eq!(count(&diagnosed), runs, "{selector}");
        assert_eq!(count(&format!("strategies -l {selector}")), strategies);
    }
    let said = say(
        &["diagnose", "--all", "-l", "team", "-f", PAYMENTS],
        narrow(),
    );
    assert!(said.err.contains("with these labels"), "{}", said.err);
}

#[test]
fn what_cannot_be_selected_or_followed_is_refused() {
    #[rustfmt::skip]
    let cases = [
        (vec!["diagnose", "payments-1", "-l", "x"], 2, "needs --all"),
        (vec!["strategies", "-l", "x", "show", "payments"], 2, "cannot be used with show"),
        (vec!["status", "payments-1", "payments-2", "-o", "html"], 2, "one state"),
        (vec!["list", "-l", ""], 2, "is empty"),
        (vec!["list", "-l", "a=b=c"], 2, "is not a valid"),
        (vec!["list", "--field-selector", "spec.x=1"], 2, "metadata.namespace"),
        (vec!["list", "payments-1", "-A"], 2, "cannot be used with"),
        (vec!["list", "payments-1", "-l", "x"], 2, "cannot be used with"),
        (vec!["list", "payments-9"], 6, "not found"),
        (vec!["list", "--watch"], 2, "cannot be used with"),
        (vec!["list", "--output-watch-events"], 2, "needs --watch"),
        (vec!["list", "--sort-by", "size"], 2, "possible values"),
        (vec!["approvals", "payments-1", "payments-9"], 6, "not found"),
    ];
    for (arguments, code, words) in cases {
        let said = say(
            &[arguments.clone(), vec!["-f", PAYMENTS]].concat(),
            narrow(),
        );
        assert_eq!(said.code, code, "{arguments:?}: {}", said.err);
        assert!(said.err.contains(words), "{arguments:?}: {}", said.err);
    }
}
