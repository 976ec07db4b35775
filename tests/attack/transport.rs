//! What answers in the place of a hub: pages of proxies and logins, other kinds, and more than
//! anyone can read.

pub mod server;

use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use test_hub::waiting;

use super::{ends, program, run, said};
use server::{Asked, Body, Reply, Server};

const RUN: &str = "example-run";
const RUNS: &str = "/clusterstagedupdateruns";

/// An answer that is not what was asked for, made of what would be right, and what is said of it.
type Wrong = (&'static str, fn(&Value) -> String, &'static str);

#[rustfmt::skip]
const WRONG: [Wrong; 16] = [
    ("a Status that failed", |_| status("Failure", "etcd has no leader", 500), "a Status (\"etcd has no leader\")"),
    ("a Status of an object that is not there", |_| status("Failure", "not found", 404), "a Status (\"not found\")"),
    ("a Status that says it went well", |_| status("Success", "", 200), "a Status (\"Success\")"),
    ("a login page", |_| page(), "a web page (\"Sign in\")"),
    ("another kind", |right| other_kind(right), " of v1 instead of "),
    ("another group", |right| other_group(right), "other.example/v1"),
    ("a list for an object, and the other way round", |right| other_form(right), " instead of "),
    ("nothing", |_| String::new(), "nothing"),
    ("null", |_| "null".to_owned(), "with null instead of"),
    ("an array", |right| json!([right]).to_string(), "a bare array"),
    ("an empty object", |_| "{}".to_owned(), "an object without a kind"),
    ("no content", |right| without_content(right), ""),
    ("null for content", |right| null_content(right), ""),
    ("other things in it", |right| other_content(right), ""),
    ("words", |_| "try again later".to_owned(), "not JSON (\"try again later\")"),
    ("half of it", |right| half(right), "truncated or invalid JSON"),
];

fn status(status: &str, message: &str, code: u16) -> String {
    json!({
        "apiVersion": "v1", "kind": "Status", "status": status, "message": message, "code": code,
        "details": {"name": RUN},
    })
    .to_string()
}

fn page() -> String {
    "<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>".to_owned()
}

fn other_kind(right: &Value) -> String {
    let mut wrong = right.clone();
    let is_list = wrong["items"].is_array();
    wrong["kind"] = json!(if is_list {
        "ConfigMapList"
    } else {
        "ConfigMap"
    });
    wrong["apiVersion"] = json!("v1");
    wrong.to_string()
}

fn other_group(right: &Value) -> String {
    let mut wrong = right.clone();
    wrong["apiVersion"] = json!("other.example/v1");
    wrong.to_string()
}

fn other_form(right: &Value) -> String {
    if let Some(items) = right["items"].as_array() {
        return items.first().cloned().unwrap_or_default().to_string();
    }
    let kind = right["kind"].as_str().unwrap_or_default();
    json!({
        "apiVersion": right["apiVersion"], "kind": format!("{kind}List"),
        "metadata": {"resourceVersion": "1"}, "items": [right],
    })
    .to_string()
}

/// What a list or an object consists of.
fn content(right: &Value) -> &'static str {
    if right["items"].is_array() {
        "items"
    } else {
        "metadata"
    }
}

fn without_content(right: &Value) -> String {
    let mut wrong = right.clone();
    let content = content(right);
    wrong.as_object_mut().unwrap().remove(content);
    wrong.to_string()
}

/// Also without a version: with one it is how Go writes an empty list.
fn null_content(right: &Value) -> String {
    let mut wrong = right.clone();
    wrong["metadata"] = Value::Null;
    wrong[content(right)] = Value::Null;
    wrong.to_string()
}

fn other_content(right: &Value) -> String {
    let mut wrong = right.clone();
    wrong[content(right)] = if right["items"].is_array() {
        json!([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": RUN}}])
    } else {
        json!({"name": "another-run", "uid": "1", "resourceVersion": "1"})
    };
    wrong.to_string()
}

fn half(right: &Value) -> String {
    let text = right.to_string();
    text[..text.len() / 2].to_owned()
}

/// A command against a server that lies about one path.
fn lying_about(part: &'static str, wrong: fn(&Value) -> String) -> Server {
    Server::lying(move |asked, right| {
        let own = asked.method == "GET" && asked.target.contains(part);
        (own && !asked.target.contains("watch=")).then(|| Reply::text(wrong(&right())))
    })
}

/// Whether a cell of a table is tried in seconds: in each row and each column some, the whole table
/// by `make attack`. Every wrong answer to every question is a table beside the code, too.
fn is_tried(row: usize, column: usize) -> bool {
    super::tries(1) > 1 || (row + column).is_multiple_of(4)
}

/// What each command is about, and where that is read.
#[rustfmt::skip]
const ABOUT: [(&[&str], &str); 12] = [
    (&["list", "-o", "json"], "/apis"),
    (&["list", "-o", "json"], "/clusterstagedupdateruns"),
    (&["status", RUN, "-o", "json"], "/clusterstagedupdateruns/"),
    (&["diagnose", RUN, "-o", "json"], "/clusterstagedupdateruns/"),
    (&["collect", RUN], "/clusterstagedupdateruns/"),
    (&["approvals", "-o", "json"], "/clusterapprovalrequests"),
    (&["strategies", "-o", "json"], "/clusterstagedupdatestrategies"),
    (&["snapshots", "crp/example-placement", "-o", "json"], "/clusterresourcesnapshots"),
    (&["delete", RUN, "--ignore-not-found", "--yes"], "/clusterstagedupdateruns/"),
    (&["stop", RUN, "--yes"], "/clusterstagedupdateruns/"),
    // The list has the run.
    (&["approve", RUN, "--yes"], "/clusterstagedupdateruns"),
    (&["wait", RUN, "--for=succeeded", "--timeout=5s"], "/clusterstagedupdateruns/"),
];

/// The thing itself is not read: an error in the server's words, nothing on stdout, nothing sent,
/// and never that there is nothing.
#[test]
fn what_was_not_asked_for_is_never_nothing() {
    for (row, (words, part)) in ABOUT.into_iter().enumerate() {
        for (column, (name, wrong, saying)) in WRONG.into_iter().enumerate() {
            if !is_tried(row, column) {
                continue;
            }
            // The parts of discovery are lists of their own form.
            let unformed = ["no content", "null for content", "other things in it"];
            if part == "/apis" && unformed.contains(&name) {
                continue;
            }
            let server = lying_about(part, wrong);
            let output = run(&server, words);
            let what = format!("{words:?} with {name} at {part}: {}", said(&output));
            assert_eq!(output.status.code(), Some(1), "{what}");
            assert_eq!(output.stdout, b"", "{what}");
            assert!(output.stderr.starts_with(b"error: "), "{what}");
            assert!(said(&output).contains(saying), "{what}");
            assert_eq!(server.count(Asked::is_write), 0, "{what}");
        }
    }
}

/// What only explains: the verdict stands, and the report says what it could not read.
#[test]
fn what_explains_and_is_something_else_is_a_gap() {
    let about = [
        ("ClusterResourceBinding", "/clusterresourcebindings"),
        ("ClusterResourcePlacement", "/clusterresourceplacements"),
        ("ClusterApprovalRequest", "/clusterapprovalrequests"),
        ("MemberCluster", "/memberclusters"),
    ];
    for (row, (kind, part)) in about.into_iter().enumerate() {
        for (column, (name, wrong, saying)) in WRONG.into_iter().enumerate() {
            if !is_tried(row, column) {
                continue;
            }
            let server = lying_about(part, wrong);
            let output = run(&server, &["diagnose", RUN, "-o", "json"]);
            let what = format!("{name} at {part}: {}", said(&output));
            let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            let gaps = report["notChecked"].as_array().expect(&what);
            let gap = gaps.iter().find(|gap| gap["what"] == kind).expect(&what);
            assert!(gap["why"].as_str().unwrap().contains(saying), "{what}");
            assert_eq!(report["verdict"], "WaitingForApproval", "{what}");
        }
    }
}

/// The questions of `doctor`: what is answered with something else is no yes.
#[test]
fn a_check_is_not_passed_by_a_page() {
    let right = run(&Server::lying(|_, _| None), &["doctor", "-o", "json"]);
    let results = |output: &Output| -> Vec<(String, String)> {
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", said(output)));
        let checks = report["checks"].as_array().unwrap().iter();
        let word = |check: &Value, key: &str| check[key].as_str().unwrap().to_owned();
        checks
            .map(|check| (word(check, "name"), word(check, "result")))
            .collect()
    };
    let usual = results(&right);
    for (part, check) in [("/selfsubjectreviews", "identity"), ("/openapi/", "states")] {
        for (name, wrong, _) in WRONG {
            if !matches!(name, "a login page" | "null" | "a Status that failed") {
                continue;
            }
            let server = Server::lying(move |asked, right| {
                asked
                    .target
                    .contains(part)
                    .then(|| Reply::text(wrong(&right())))
            });
            let output = run(&server, &["doctor", "-o", "json"]);
            let now = results(&output);
            let fine = |all: &[(String, String)]| {
                let own = all.iter().filter(|(name, _)| name.contains(check));
                own.filter(|(_, result)| result == "ok").count()
            };
            assert!(fine(&usual) > 0, "{check}: {usual:?}");
            assert_eq!(fine(&now), 0, "{name} at {part}: {now:?}");
        }
    }
}

/// A write that is answered with something else is looked after: here it was not done.
#[test]
fn a_write_is_not_done_because_of_a_page() {
    let about = [
        &["approve", RUN, "--yes"][..],
        &["stop", RUN, "--yes"],
        &["delete", RUN, "--yes"],
        &[
            "run",
            "new-run",
            "--placement",
            "example-placement",
            "--strategy",
            "example-strategy",
            "--yes",
        ],
    ];
    for (row, words) in about.into_iter().enumerate() {
        for (column, (name, wrong, _)) in WRONG.into_iter().enumerate() {
            // A deletion is answered by a Status that says it went well.
            if !is_tried(row, column) || (words[0] == "delete" && name.ends_with("went well")) {
                continue;
            }
            let server = Server::lying(move |asked, right| {
                asked.is_write().then(|| Reply::text(wrong(&right())))
            });
            let output = run(&server, words);
            let what = format!("{words:?} with {name}: {}", said(&output));
            assert_ne!(output.status.code(), Some(0), "{what}");
            assert_eq!(output.stdout, b"", "{what}");
            let writes = server.count(Asked::is_write);
            assert!(writes <= 1, "{writes} writes: {what}");
            assert!(
                writes == 0 || said(&output).contains("nothing was changed"),
                "{what}"
            );
        }
    }
}

/// Something else each time.
fn next() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed).to_string()
}

/// Something that has no end, or nearly so.
fn endless(form: &str) -> Reply {
    match form {
        "a body" => {
            let mut begun = false;
            Reply::pieces(move || {
                let piece = if begun {
                    vec![b' '; 1 << 20]
                } else {
                    b"{".to_vec()
                };
                begun = true;
                Some(piece)
            })
        }
        "a gzip bomb" => {
            // As many spaces as no answer has, in some kilobytes.
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            std::io::Write::write_all(&mut packed, &vec![b' '; 40 << 20]).unwrap();
            Reply {
                headers: "Content-Type: application/json\r\nContent-Encoding: gzip\r\n".to_owned(),
                ..Reply::text(packed.finish().unwrap())
            }
        }
        "a header" => Reply {
            headers: format!("X: {}\r\n", "x".repeat(8 << 20)),
            ..Reply::text("{}")
        },
        "headers" => Reply {
            headers: "X: x\r\n".repeat(100_000),
            ..Reply::text("{}")
        },
        "a length" => Reply {
            headers: "Content-Length: 18446744073709551615\r\nConnection: close\r\n".to_owned(),
            body: Body::Pieces(Box::new(|| None)),
            ..Reply::text("")
        },
        "nesting" => Reply::text("[".repeat(1 << 20)),
        "an object" => {
            let stages = "{},".repeat(3 << 20);
            Reply::text(format!(
                r#"{{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"ClusterStagedUpdateRun","metadata":{{"name":"example-run","uid":"1","resourceVersion":"1"}},"status":{{"stagesStatus":[{stages}{{}}]}}}}"#
            ))
        }
        "pages" => Reply::json(&json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterStagedUpdateRunList",
            "metadata": {"resourceVersion": "1", "continue": next()},
            "items": [],
        })),
        "objects" => {
            let object = r#"{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"ClusterStagedUpdateRun","metadata":{"name":"x"}},"#;
            let mut items = object.repeat(200_000);
            items.pop();
            Reply::text(format!(
                r#"{{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"ClusterStagedUpdateRunList","metadata":{{"resourceVersion":"1","continue":"{}"}},"items":[{items}]}}"#,
                next()
            ))
        }
        "items" => {
            let mut items = "0,".repeat(10 << 20);
            items.pop();
            Reply::text(format!(
                r#"{{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"ClusterStagedUpdateRunList","metadata":{{"resourceVersion":"1"}},"items":[{items}]}}"#
            ))
        }
        "drops" => Reply::pieces(|| {
            waiting::pass(Duration::from_millis(100));
            Some(b" ".to_vec())
        }),
        other => panic!("{other}"),
    }
}

/// How many bytes are read at most of anything but a list, and what stands in buffers then.
const MOST: usize = 64 << 20;
/// How much memory a command may take at most, in KiB of its address space.
const MEMORY: u64 = 2 << 20;

/// Whatever a hub sends, a command ends soon, in little memory, and says why.
#[test]
fn nothing_is_read_without_an_end() {
    #[rustfmt::skip]
    let cases = [
        ("a body", &["list"][..], "/apis", "is larger than 16 MiB"),
        ("a body", &["list"], RUNS, "an object is larger than 4 MiB"),
        ("a body", &["status", RUN], RUNS, "is larger than 16 MiB"),
        ("a gzip bomb", &["list"], RUNS, "an object is larger than 4 MiB"),
        ("a gzip bomb", &["list"], "/apis", "is larger than 16 MiB"),
        ("a header", &["list"], RUNS, "not HTTP"),
        ("headers", &["list"], RUNS, "not HTTP"),
        ("a length", &["list"], RUNS, "error: "),
        ("nesting", &["list"], RUNS, "JSON"),
        ("an object", &["status", RUN], RUNS, "an object is larger than 4 MiB"),
        ("pages", &["list", "--request-timeout=0"], RUNS, "has more than 5000 pages"),
        ("pages", &["list", "--request-timeout=1s"], RUNS, "no answer within 1s"),
        ("pages", &["wait", RUN, "--for=succeeded", "--timeout=1s"], RUNS, "no answer within --timeout (1s)"),
        ("objects", &["list", "--request-timeout=0"], RUNS, "more than 1 GiB"),
        ("items", &["list"], RUNS, "instead of ClusterStagedUpdateRun"),
        ("drops", &["list", "--request-timeout=1s"], RUNS, "no answer within 1s"),
        ("drops", &["list", "--request-timeout=1s"], "/apis", "no answer within 1s"),
    ];
    for (form, words, part, saying) in cases {
        let server = Server::lying(move |asked, _| {
            let single = !asked.target.contains(&format!("{RUNS}?"));
            let own = asked.target.contains(part) && !asked.target.contains("watch=");
            // `wait` reads the run itself before it lists.
            let spared = form == "pages" && part == RUNS && single;
            (own && !spared && !(part == "/apis" && asked.target != "/apis")).then(|| endless(form))
        });
        let mut command = std::process::Command::new("sh");
        let plain = program(words);
        let script = format!("ulimit -v {MEMORY}; exec \"$@\"");
        command.args(["-c", &script, "sh"]).arg(plain.get_program());
        command
            .args(plain.get_args())
            .args(["--server", &server.url]);
        command
            .env("KUBECONFIG", "/nonexistent")
            .env("KUBECACHEDIR", "/dev/null")
            .stdin(std::process::Stdio::null());
        let output = ends(&mut command);
        let what = format!("{words:?} with {form} at {part}: {}", said(&output));
        let late = words.contains(&"--timeout=1s");
        assert_eq!(
            output.status.code(),
            Some(if late { 9 } else { 1 }),
            "{what}"
        );
        assert!(said(&output).contains(saying), "{what}");
        assert_eq!(output.stdout, b"", "{what}");
        // It does not read on, and what it has not read stands in buffers.
        assert!(server.sent() <= MOST, "{}: {what}", server.sent());
    }
}

/// A list that has no items is `null` where Go wrote it.
#[test]
fn an_empty_list_may_be_null() {
    let server = lying_about(RUNS, |right| {
        let mut empty = right.clone();
        empty["items"] = Value::Null;
        empty.to_string()
    });
    let output = run(&server, &["list", "-o", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}
