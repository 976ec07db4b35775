//! What lies between us and a hub, or on it: clocks that differ, writes that are answered by something
//! else, sent twice, or changed on the way, and a hub that is not the one that was named.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use test_hub::terminal::{Terminal, has_terminals};

use super::transport::server::{Asked, Reply, Server};
use super::{ends, program, run, said};

const RUN: &str = "example-run";
const REQUEST: &str = "example-run-before-canary";
/// The hub's clock: the moment of the example.
const DATE: &str = "Mon, 02 Mar 2026 09:10:30 GMT";
const NOW: &str = "2026-03-02T09:10:3";

/// What is answered to a write, made of the object as it stands then.
type Answer = fn(&Value) -> Reply;

/// Whether a write takes effect.
#[derive(Clone, Copy, PartialEq)]
enum Effect {
    Taken,
    Lost,
}

/// Runs a command, and checks how it ends and what it says; all that it said.
fn told(what: &str, server: &Server, words: &[&str], code: i32, saying: &str) -> String {
    let output = run(server, words);
    let told = format!("{words:?} with {what}: {}", said(&output));
    assert_eq!(output.status.code(), Some(code), "{told}");
    assert!(told.contains(saying), "{told}");
    told
}

fn dated(reply: Reply, date: &str) -> Reply {
    Reply {
        headers: format!("{}Date: {date}\r\n", reply.headers),
        ..reply
    }
}

/// The object with something else in it.
fn altered(object: &Value, alter: fn(&mut Value)) -> Reply {
    let mut object = object.clone();
    alter(&mut object);
    Reply::json(&object)
}

fn failing(status: &'static str, body: impl Into<Vec<u8>>) -> Reply {
    Reply {
        status,
        ..Reply::text(body)
    }
}

fn page(status: &'static str) -> Reply {
    Reply {
        headers: "Content-Type: text/html\r\n".to_owned(),
        ..failing(status, "<html><title>Blocked</title>")
    }
}

fn refusal(status: &'static str, code: u16, reason: &str) -> Reply {
    let body = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason,
        "message": format!("{reason}!"), "details": {"name": RUN},
    });
    failing(status, body.to_string())
}

/// The object after a write.
fn written(asked: &Asked, before: &Value) -> Value {
    let body: Value = serde_json::from_slice(&asked.body).unwrap();
    if asked.method == "POST" {
        let mut new = body;
        new["metadata"]["uid"] = json!("new");
        new["metadata"]["resourceVersion"] = json!("1");
        new["metadata"]["creationTimestamp"] = json!("2026-03-02T09:10:30Z");
        return new;
    }
    let mut now = before.clone();
    match body.as_array() {
        Some(operations) => now["spec"]["state"] = operations.last().unwrap()["value"].clone(),
        None if asked.method == "DELETE" => {
            now["metadata"]["deletionTimestamp"] = json!("2026-03-02T09:10:30Z");
        }
        None => now["status"] = body["status"].clone(),
    }
    now
}

/// A hub that keeps what is written, or not, and answers as it is told.
fn hub(effect: Effect, answer: Answer) -> Server {
    hub_of("kubectl-fleet-stage", effect, answer)
}

/// The same, where a write is this manager's.
fn hub_of(manager: &'static str, effect: Effect, answer: Answer) -> Server {
    hub_with("waiting-for-approval", manager, effect, answer)
}

/// The same with the objects of an example.
fn hub_with(example: &str, manager: &'static str, effect: Effect, answer: Answer) -> Server {
    let kept: Arc<Mutex<BTreeMap<String, Value>>> = Arc::default();
    Server::of(example, move |asked, right| {
        let path = asked.target.split('?').next().unwrap();
        let path = path.trim_end_matches("/status").to_owned();
        if asked.target.contains("watch=") {
            return None;
        }
        let mut kept = kept.lock().unwrap();
        if asked.is_write() {
            let mut new = written(asked, kept.get(&path).unwrap_or(&before(asked, right)));
            new["metadata"]["managedFields"] = json!([
                {"manager": manager, "operation": "Update", "time": "2026-03-02T09:10:30Z"}
            ]);
            if effect == Effect::Taken && !asked.target.contains("dryRun") {
                let name = new["metadata"]["name"].as_str().unwrap();
                let own = if asked.method == "POST" {
                    format!("{path}/{name}")
                } else {
                    path
                };
                kept.insert(own, new.clone());
            }
            return Some(answer(&new));
        }
        let now = kept.get(&path).cloned().unwrap_or_else(right);
        Some(dated(Reply::json(&now), DATE))
    })
}

/// The object that a write is about. Of a subresource the server of the tests knows the object.
fn before(asked: &Asked, right: &dyn Fn() -> Value) -> Value {
    if asked.method == "POST" {
        Value::Null
    } else {
        right()
    }
}

const APPROVE: &[&str] = &[
    "approve",
    REQUEST,
    "--yes",
    "--wait=false",
    "--allow-unseen",
];
const STOP: &[&str] = &["stop", RUN, "--yes", "--wait=false"];
const DELETE: &[&str] = &["delete", RUN, "--yes", "--wait=false"];

/// Answers that are not the API server's own word that nothing was done.
const UNCLEAR: [(&str, Answer); 13] = [
    ("408", |_| failing("408 Request Timeout", "")),
    ("a page with 403", |_| page("403 Forbidden")),
    ("a page with 429", |_| page("429 Too Many Requests")),
    ("a redirect", |_| Reply {
        headers: "Location: https://login.example/\r\n".to_owned(),
        ..failing("302 Found", "")
    }),
    ("words with 409", |_| failing("409 Conflict", "conflict")),
    ("a page with 404", |_| page("404 Not Found")),
    ("JSON with 401", |_| {
        failing("401 Unauthorized", "{\"error\":\"x\"}")
    }),
    ("a Status of another code", |_| {
        refusal("413 Content Too Large", 403, "Forbidden")
    }),
    ("a page with 201", |_| page("201 Created")),
    ("nothing with 204", |_| failing("204 No Content", "")),
    ("null", |_| Reply::text("null")),
    ("half of the object", |now| {
        Reply::text(now.to_string()[..60].to_owned())
    }),
    ("another object", |now| {
        altered(now, |it| it["metadata"]["name"] = json!("another"))
    }),
];

#[test]
fn what_no_api_server_said_is_looked_after() {
    for (name, answer) in UNCLEAR {
        for words in [APPROVE, STOP, DELETE, CREATE, START] {
            let server = hub(Effect::Taken, answer);
            told(name, &server, words, 0, "shows that it was done");
            let server = hub(Effect::Lost, answer);
            told(name, &server, words, 1, "nothing was changed so far");
        }
    }
}

/// Something in between has sent a write twice: the second copy is refused.
#[test]
fn the_echo_of_a_write_is_no_refusal() {
    let conflict: Answer = |_| refusal("409 Conflict", 409, "Conflict");
    for words in [APPROVE, STOP] {
        let server = hub(Effect::Taken, conflict);
        told("a conflict", &server, words, 0, "sent it twice");
        let output = run(&hub(Effect::Lost, conflict), words);
        assert_ne!(output.status.code(), Some(0), "{}", said(&output));
    }
    let exists: Answer = |_| refusal("409 Conflict", 409, "AlreadyExists");
    let output = run(&hub(Effect::Taken, exists), CREATE);
    assert!(said(&output).contains("sent it twice"), "{}", said(&output));
    assert!(!said(&output).contains("another name"), "{}", said(&output));
    let server = hub(Effect::Lost, exists);
    told("a name in use", &server, CREATE, 1, "already exists");
}

/// The same, where the object is as wanted because somebody else wrote it meanwhile.
#[test]
fn what_somebody_else_did_is_not_ours() {
    let others: Answer = |now| {
        let exists = now["metadata"]["uid"] == "new";
        let reason = if exists { "AlreadyExists" } else { "Conflict" };
        refusal("409 Conflict", 409, reason)
    };
    for words in [APPROVE, STOP, CREATE] {
        let server = hub_of("flux", Effect::Taken, others);
        let what = told("another writer", &server, words, 1, "");
        assert!(!what.contains("shows that it was done"), "{what}");
    }
}

/// A command that makes a run.
const fn making(verb: &'static str) -> [&'static str; 11] {
    [
        verb,
        "new-run",
        "--placement",
        "example-placement",
        "--strategy",
        "example-strategy",
        "--snapshot",
        "0",
        "--yes",
        "--wait=false",
        "--allow-unseen",
    ]
}

const CREATE: &[&str] = &making("init");
const START: &[&str] = &making("run");

/// What deletes first, and then creates: neither is taken for done, or not done, by what something in
/// between says of it.
#[test]
fn the_second_write_of_a_command_is_looked_after_too() {
    let resume = ["resume", RUN, "--yes", "--wait=false", "--allow-unseen"];
    let retry = [
        "retry",
        RUN,
        "--yes",
        "--wait=false",
        "--allow-unseen",
        "--allow-older",
    ];
    for (example, words, created) in [
        ("created-in-stop", &resume[..], ""),
        ("stuck-while-stopping", &retry, "example-run-2"),
    ] {
        let unclear: Answer = |now| {
            if now["metadata"]["deletionTimestamp"].is_null() {
                page("403 Forbidden")
            } else {
                Reply::json(now)
            }
        };
        let server = hub_with(example, "kubectl-fleet-stage", Effect::Taken, unclear);
        // The dry run before it is not looked after: nothing was done.
        let output = run(&server, words);
        let what = format!("{words:?}: {}", said(&output));
        if created.is_empty() {
            assert_eq!(output.status.code(), Some(0), "{what}");
            assert!(what.contains("shows that it was done"), "{what}");
        } else {
            assert_ne!(output.status.code(), Some(0), "{what}");
            assert!(what.contains("nothing was changed"), "{what}");
            let writes = |asked: &Asked| asked.is_write() && !is_rehearsal(asked);
            assert_eq!(server.count(writes), 0, "{what}");
        }
    }
}

/// Whether the server is to keep nothing.
fn is_rehearsal(asked: &Asked) -> bool {
    let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
    asked.target.contains("dryRun") || !body["dryRun"].is_null()
}

/// A success that does not show what was sent.
#[test]
fn what_was_changed_on_the_way_is_no_success() {
    let unchanged: [(&[&str], Answer); 4] = [
        (APPROVE, |now| altered(now, |it| it["status"] = json!({}))),
        (APPROVE, |now| {
            altered(now, |it| {
                it["status"]["conditions"][0]["observedGeneration"] = json!(7);
            })
        }),
        (STOP, |now| {
            altered(now, |it| it["spec"]["state"] = json!("Run"))
        }),
        (DELETE, |now| {
            altered(now, |it| it["metadata"]["deletionTimestamp"] = Value::Null)
        }),
    ];
    for (words, answer) in unchanged {
        let saying = "shows that nothing was changed";
        told("a change", &hub(Effect::Lost, answer), words, 1, saying);
        if words != DELETE {
            let words = [words, &["--dry-run=server"]].concat();
            let saying = "would make something else of it";
            told("a change", &hub(Effect::Lost, answer), &words, 1, saying);
        }
    }
    let another: Answer = |now| altered(now, |it| it["spec"]["placementName"] = json!("another"));
    let server = hub(Effect::Taken, another);
    let what = told("a change", &server, CREATE, 1, "but not as it was sent");
    assert!(what.contains("placementName is \"another\", not"), "{what}");
    assert!(!what.contains("was not created"), "{what}");
    // A Status that says it went well, of something else.
    let success: Answer =
        |_| Reply::json(&json!({"apiVersion": "v1", "kind": "Status", "status": "Success"}));
    told("a success", &hub(Effect::Lost, success), DELETE, 1, "");
    told("a success", &hub(Effect::Taken, success), DELETE, 0, "");
}

/// The near miss of all of these: a hub that does as it is told.
#[test]
fn a_write_that_came_back_as_it_was_sent_is_done() {
    for words in [APPROVE, STOP, DELETE, CREATE] {
        let server = hub(Effect::Taken, Reply::json);
        let what = told("a right answer", &server, words, 0, "");
        assert!(!what.contains("shows that"), "{what}");
        assert_eq!(server.count(Asked::is_write), 1, "{what}");
    }
}

/// What is followed is measured with the hub's clock from the first line, and that of each of several
/// hubs with its own.
#[test]
fn no_hub_is_measured_with_the_clock_of_another() {
    let hub_at = |date: &'static str| {
        Server::lying(move |asked, right| {
            let watches = asked.target.contains("watch=");
            (!watches).then(|| dated(Reply::json(&right()), date))
        })
    };
    let hubs = [
        ("a", DATE, "10m"),
        ("b", "Mon, 02 Mar 2026 11:10:30 GMT", "130m"),
    ];
    let servers = hubs.map(|(name, date, _)| (name, hub_at(date)));
    let named = |what: &str| -> Vec<Value> {
        let all = servers.iter().map(|(name, server)| {
            let inner = match what {
                "contexts" => json!({"cluster": name}),
                _ => json!({"server": server.url}),
            };
            json!({"name": name, what.trim_end_matches('s'): inner})
        });
        all.collect()
    };
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    let text = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "contexts": named("contexts"), "clusters": named("clusters"),
    });
    std::fs::write(&config, text.to_string()).unwrap();
    let output = ends(program(&["list", "--contexts", "a,b"]).env("KUBECONFIG", &config));
    for (name, _, age) in hubs {
        let text = said(&output);
        let mut rows = text.lines();
        let row = rows.find(|line| line.starts_with(&format!("{name} ")));
        assert!(
            row.is_some_and(|row| row.trim_end().ends_with(age)),
            "{text}"
        );
    }
    for (command, age) in [("list", " 130m"), ("approvals", " 123m ")] {
        let mut child = program(&[command, "--watch", "--server", &servers[1].1.url])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let lines = std::io::BufReader::new(child.stdout.take().unwrap());
        let row = std::io::BufRead::lines(lines).nth(1).unwrap().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(row.contains(age), "{row}");
    }
}

/// This machine's clock is months away from the hub's.
#[test]
fn times_are_measured_with_the_hubs_clock() {
    let server = hub(Effect::Taken, Reply::json);
    let bundle = ["-f", "examples/cluster/waiting-for-approval.yaml"];
    let now = ["--now", "2026-03-02T09:10:30Z"];
    for words in [&["list"][..], &["approvals"], &["status", RUN]] {
        let live = run(&server, words);
        let wanted = ends(program(words).args(bundle).args(now));
        let (live, wanted) = (said(&live), said(&wanted));
        let ages = |text: &str| -> Vec<String> {
            let words = text.split_whitespace();
            let is_age = |word: &&str| {
                let word = word.trim_end_matches([',', '.', ')']);
                word.ends_with(['s', 'm', 'h', 'd'])
                    && word.starts_with(|c: char| c.is_ascii_digit())
            };
            words.filter(is_age).map(str::to_owned).collect()
        };
        // A second may have passed.
        let coarse = |age: &String| {
            age.split_inclusive(char::is_alphabetic)
                .next()
                .map(str::to_owned)
        };
        let close = ages(&live)
            .iter()
            .map(coarse)
            .eq(ages(&wanted).iter().map(coarse));
        assert!(close && !ages(&wanted).is_empty(), "{live}\n{wanted}");
        assert_eq!(ages(&live).len(), ages(&wanted).len(), "{live}\n{wanted}");
    }
    run(&server, APPROVE);
    let sent = server.patched();
    let at = sent["status"]["conditions"][0]["lastTransitionTime"].as_str();
    assert!(at.unwrap().starts_with(NOW), "{sent}");
}

/// The words of the commands in a document.
fn commands_of(value: &Value, found: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if key == "argv" || key == "nextArgv" {
                    let words = value.as_array().unwrap().iter();
                    found.push(
                        words
                            .map(|word| word.as_str().unwrap().to_owned())
                            .collect(),
                    );
                } else {
                    commands_of(value, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| commands_of(item, found)),
        _ => {}
    }
}

/// Every command that is suggested leads to the same hub as the same user.
#[test]
fn suggested_commands_lead_to_the_same_hub_as_the_same_user() {
    let server = hub(Effect::Lost, |_| page("403 Forbidden"));
    let user = [
        "--as",
        "bob",
        "--as-uid",
        "7",
        "--as-group",
        "ops",
        "--as-group",
        "dev",
        "--tls-server-name",
        "hub",
        "--token",
        "very-secret-token",
    ];
    for words in [
        &["diagnose", RUN, "-o", "json"][..],
        &["diagnose", RUN, "-o", "yaml"],
        &["status", RUN, "-o", "json"],
        &["approvals", "-o", "json"],
    ] {
        let output = run(&server, &[words, &user].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        let document: Value = serde_saphyr::from_str(&text).unwrap();
        let mut commands = Vec::new();
        commands_of(&document, &mut commands);
        assert!(!commands.is_empty(), "{text}");
        let flags = [&["--server", server.url.as_str()], &user[..10]].concat();
        for words in commands {
            for flag in &flags {
                assert!(words.iter().any(|word| word == flag), "{flag}: {words:?}");
            }
            assert!(
                !words.iter().any(|it| it.contains("very-secret")),
                "{words:?}"
            );
        }
    }
    for words in [
        &["status", RUN][..],
        APPROVE,
        &["diagnose", RUN],
        &["diagnose", RUN, "-o", "markdown"],
        &["approvals"],
    ] {
        let output = run(&server, &[words, &user].concat());
        let text = said(&output);
        let commands: Vec<_> = text
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("kubectl") && !line.contains("CONTEXT_OF"))
            .filter(|line| !line.contains(" explain "))
            .collect();
        assert!(!commands.is_empty(), "{text}");
        for command in commands {
            for flag in [
                &format!("--server {}", server.url),
                "--as bob",
                "--as-uid 7",
                "--as-group ops --as-group dev",
                "--tls-server-name hub",
            ] {
                assert!(command.contains(flag), "{flag}: {command}");
            }
            assert!(!command.contains("very-secret"), "{command}");
        }
    }
}

/// An answer that was taken back is no answer.
#[test]
fn what_is_taken_back_at_the_prompt_is_no() {
    if !has_terminals() {
        return;
    }
    for (keys, is_yes) in [
        ("y\u{7f}\r", false),
        ("y\u{8}\r", false),
        ("y\u{15}\r", false),
        ("y\u{1b}[3~\r", false),
        ("yes\u{17}\r", false),
        ("\r", false),
        ("n\r", false),
        ("n\u{7f}y\r", true),
    ] {
        let server = hub(Effect::Taken, Reply::json);
        let mut command = program(&["delete", RUN, "--wait=false", "--server", &server.url]);
        command.env("TERM", "xterm");
        let mut terminal = Terminal::start(&command, 80);
        terminal.until("[y/N] ");
        terminal.types(keys);
        let (code, shown) = terminal.end();
        let done = (code, server.count(Asked::is_write));
        let wanted = if is_yes { (0, 1) } else { (1, 0) };
        assert_eq!(done, wanted, "{keys:?}: {shown}");
        assert!(
            is_yes || shown.contains("not confirmed"),
            "{keys:?}: {shown}"
        );
    }
}

#[test]
fn a_run_that_is_named_twice_is_deleted_once() {
    let server = hub(Effect::Taken, Reply::json);
    let words = [
        "delete",
        RUN,
        RUN,
        "csur/example-run",
        "--yes",
        "--wait=false",
    ];
    let what = told("one run", &server, &words, 0, "");
    assert_eq!(server.count(Asked::is_write), 1, "{what}");
}

/// A request that names a run whose gates do not name it.
fn decoy(name: &str, of: &str) -> Value {
    json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterApprovalRequest",
        "metadata": {"name": name, "uid": "d", "resourceVersion": "5", "generation": 1,
            "creationTimestamp": "2026-03-02T09:09:00Z"},
        "spec": {"parentStageRollout": of, "targetStage": "canary"}, "status": {},
    })
}

fn with_decoy(name: &'static str, of: &'static str) -> Server {
    Server::lying(move |asked, right| {
        if asked.target.contains("watch=") || asked.is_write() {
            return None;
        }
        let path = asked.target.split('?').next().unwrap();
        let mut now = right();
        if path.ends_with("/clusterapprovalrequests") {
            now["items"].as_array_mut().unwrap().push(decoy(name, of));
        } else if path.ends_with(&format!("/clusterapprovalrequests/{name}")) {
            now = decoy(name, of);
        } else {
            return None;
        }
        Some(Reply::json(&now))
    })
}

#[test]
fn a_decoy_is_never_suggested_and_never_taken_for_a_run() {
    let server = with_decoy("approve-me-first", RUN);
    let output = run(&server, &["approvals", "-o", "json"]);
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let items = list["items"].as_array().unwrap();
    let own = |name: &str| {
        items
            .iter()
            .find(|item| item["name"] == name || item["request"] == name)
    };
    let (decoy, real) = (own("approve-me-first"), own(REQUEST));
    assert!(
        decoy.is_none_or(|decoy| decoy["command"].is_null() && decoy["next"].is_null()),
        "{list}"
    );
    assert!(
        real.is_some_and(|real| real["command"].is_string()),
        "{list}"
    );
    let server = with_decoy(RUN, "another-run");
    let saying = "an approval request and an update run";
    told("a decoy", &server, &["approve", RUN, "--yes"], 2, saying);
}

/// The name is the hub's word, and stays in the object.
#[test]
fn a_user_with_control_characters_in_its_name_cannot_hide() {
    let server = Server::lying(move |asked, right| {
        if asked.target.contains("/selfsubjectreviews") {
            let mut who = right();
            who["status"]["userInfo"]["username"] = json!("eve\n\u{1b}[2Kalice\u{202e}");
            return Some(Reply::json(&who));
        }
        (asked.method == "PATCH").then(|| Reply::json(&written(asked, &right())))
    });
    run(&server, APPROVE);
    let sent = server.patched();
    let message = sent["status"]["conditions"][0]["message"].as_str().unwrap();
    assert!(!message.chars().any(char::is_control), "{message:?}");
    assert!(!message.contains('\u{202e}'), "{message:?}");
}

#[test]
fn no_file_is_read_without_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo")
        .arg(&fifo)
        .status()
        .unwrap();
    assert!(made.success());
    let config = |user: &str, cluster: &str| {
        let path = folder.path().join("config");
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: \
             {{cluster: c, user: u}}\nclusters:\n- name: c\n  cluster: {{server: \
             https://127.0.0.1:1{cluster}}}\nusers:\n- name: u\n  user: {{{user}}}\n"
        );
        std::fs::write(&path, text).unwrap();
        path
    };
    for endless in ["/dev/zero", fifo.to_str().unwrap()] {
        let file = config(&format!("tokenFile: {endless}"), "");
        let authority = format!(", certificate-authority: {endless}");
        let tokens = ends(program(&["list"]).env("KUBECONFIG", &file));
        let authorities = config("", &authority);
        let authorities = ends(program(&["list"]).env("KUBECONFIG", authorities));
        let outputs = [
            ends(program(&["list"]).env("KUBECONFIG", endless)),
            ends(&mut program(&["list", "--kubeconfig", endless])),
            ends(program(&["list"]).env("FLEET_STAGE_SETTINGS", endless)),
            tokens,
            authorities,
        ];
        for output in outputs {
            assert_ne!(output.status.code(), Some(0), "{}", said(&output));
            assert!(
                said(&output).contains("not a regular file"),
                "{}",
                said(&output)
            );
        }
    }
    // What a shell passes as a file is one.
    let shell = format!(
        "{} list --kubeconfig <(cat {})",
        env!("CARGO_BIN_EXE_kubectl-fleet-stage"),
        config("", "").display()
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &shell])
        .output()
        .unwrap();
    assert!(
        said(&output).contains("cannot reach the hub"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_home_that_cannot_be_entered_is_none() {
    let server = hub(Effect::Lost, Reply::json);
    let mut command = program(&["list", "--server", &server.url]);
    command
        .env("HOME", "/dev/null")
        .env_remove("XDG_CONFIG_HOME");
    let output = ends(&mut command);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

/// `now` of this machine, as every library of the process sees it.
const FALSE_CLOCK: &str = r"
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t) {
    int done = syscall(SYS_clock_gettime, id, t);
    if (id == CLOCK_REALTIME) t->tv_sec = -86400;
    return done;
}
";

#[test]
fn a_clock_before_1970_ends_no_command() {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (
        folder.path().join("clock.c"),
        folder.path().join("clock.so"),
    );
    std::fs::write(&source, FALSE_CLOCK).unwrap();
    let mut cc = std::process::Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source);
    if !cc.status().is_ok_and(|status| status.success()) {
        return;
    }
    let server = hub(Effect::Taken, Reply::json);
    let url = server.url.as_str();
    let bundle = "examples/cluster/waiting-for-approval.yaml";
    for (words, code) in [
        (&["list", "--server", url][..], 0),
        (&["status", RUN, "--server", url], 4),
        (&["doctor", "--server", url], 0),
        (&["approvals", "--server", url], 0),
        (&["explain", "FS401"], 0),
        (&["diagnose", RUN, "-f", bundle], 4),
        (
            &[
                "list",
                "--server",
                "https://127.0.0.1:1",
                "--insecure-skip-tls-verify",
            ],
            1,
        ),
    ] {
        let output = ends(program(words).env("LD_PRELOAD", &library));
        let found = output.status.code().unwrap();
        assert!(
            found == code || words[0] == "doctor" && found < 9,
            "{words:?}: {}",
            said(&output)
        );
        let live = said(&ends(&mut program(words)));
        let now = said(&output);
        if words.contains(&url) && words[0] == "status" {
            assert_eq!(now.lines().next(), live.lines().next(), "{words:?}");
        }
    }
}
