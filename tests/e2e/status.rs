//! What `status` shows of a rollout that goes on, and when `wait` ends.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use test_hub::{Fault, Ran, Rule, Running, waiting};

use crate::harness::until_late;
use crate::scene::{ALL, Scene, cluster_scoped, one_gate, play, three_stages};

/// The program's arguments for a run of the scene.
fn arguments(scene: &Scene, kubeconfig: &Path, command: &[&str], name: &str) -> Vec<String> {
    let named = scene.named(name);
    let words = command.iter().chain(&named).map(ToString::to_string);
    let kubeconfig = kubeconfig.to_str().unwrap().to_owned();
    let hub = ["--kubeconfig".to_owned(), kubeconfig];
    let context = ["--context".to_owned(), "hub".to_owned()];
    words.chain(hub).chain(context).collect()
}

/// The plugin, which breaks no line: the tests may run where a width is set.
fn plugin() -> Command {
    let mut plugin = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"));
    plugin.env_remove("COLUMNS");
    plugin
}

/// Starts the plugin, which goes on while the test does something.
fn start(scene: &Scene, command: &[&str], name: &str) -> Running {
    let mut plugin = plugin();
    plugin.args(arguments(scene, &scene.hub.kubeconfig, command, name));
    Running::of(&mut plugin)
}

/// The same by way of another kubeconfig; what it says is read by the test.
fn start_at(scene: &Scene, kubeconfig: &Path, command: &[&str], name: &str) -> Child {
    plugin()
        .args(arguments(scene, kubeconfig, command, name))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The lines without the time that stands before each.
fn untimed(text: &str) -> Vec<&str> {
    let rest = |line| {
        let (time, rest): (&str, &str) = str::split_once(line, "  ").unwrap();
        time.parse::<jiff::Timestamp>().unwrap();
        rest
    };
    text.lines().map(rest).collect()
}

#[test]
fn the_state_is_the_same_that_diagnose_gives() {
    play("state", |scene| {
        scene.set(&one_gate(), &ALL).run_to_gate(&scene.name);
        let word = scene.own_run();
        let json = ["-o", "json"];
        let status = scene.plugin(&["status"], &word, &json);
        let report = scene.plugin(&["diagnose"], &word, &json);
        assert_eq!(status.code, 4, "{}", status.err);
        let (mut status, report) = (status.json(), report.json());
        assert_eq!(status["verdict"], report["verdict"]);
        // Only `status` plays the run to say when its stages end.
        for stage in status["run"]["stages"].as_array_mut().unwrap() {
            stage.as_object_mut().unwrap().remove("ends");
        }
        assert_eq!(status["run"], report["run"]);
        assert_eq!(status["notChecked"], json!([]));
        let gate = &status["gates"][0];
        let request = format!("{}-before-canary", scene.name);
        assert_eq!(gate["request"], request.as_str());
        assert_eq!(gate["state"], "Pending");
        assert_eq!(status["next"], gate["command"]);

        let word = scene.placement_word();
        let placed = scene.plugin(&["status"], &word, &json).json();
        assert_eq!(placed["verdict"], report["verdict"]);
        let clusters = placed["clusters"].as_array().unwrap();
        let written: Vec<_> = clusters
            .iter()
            .map(|cluster| &cluster["writtenBy"])
            .collect();
        assert_eq!(written, [&json!(scene.name), &Value::Null, &Value::Null]);
        assert_eq!(clusters[0]["available"], "True");
        assert_eq!(clusters[0]["snapshot"], "0");
    });
}

/// Off a terminal each change is a line, and each is told once, in its order.
#[test]
fn a_rollout_is_followed_to_its_end() {
    play("follow", |scene| {
        follow(scene, &scene.hub.kubeconfig);
    });
}

/// The same while connections end, break, or are refused because they are too old.
#[test]
fn a_rollout_is_followed_through_faults() {
    let watches = |fault| Rule::new("watch=true", fault);
    let faults = [
        ("ends", vec![watches(Fault::WatchEnds { events: 1 })]),
        ("cut", vec![watches(Fault::WatchCut { events: 1 })]),
        (
            "expired",
            vec![
                watches(Fault::Expired).from(4).times(3),
                watches(Fault::WatchEnds { events: 2 }),
            ],
        ),
        (
            "busy",
            vec![
                watches(Fault::TooMany(Some(1))).times(1),
                watches(Fault::Internal).from(4).times(2),
                watches(Fault::ResetBefore).from(7).times(2),
                watches(Fault::WatchCut { events: 2 }),
            ],
        ),
    ];
    // One scope is enough: what goes wrong is below both.
    let tried = |name: &str, rules: Vec<Rule>| {
        let Some(scene) = cluster_scoped(&format!("faults-{name}")) else {
            return;
        };
        let proxy = scene.hub.proxy();
        proxy.rules(rules);
        follow(&scene, &proxy.kubeconfig());
        let faults = proxy
            .requests()
            .iter()
            .filter(|seen| seen.fault.is_some())
            .count();
        assert!(faults > 2, "{name}: {faults}");
    };
    std::thread::scope(|scope| {
        for (name, rules) in faults {
            scope.spawn(move || tried(name, rules));
        }
    });
}

/// Follows a run of a scene from before its start to its end, and approves what it asks for.
fn follow(scene: &Scene, kubeconfig: &Path) {
    scene.set(&one_gate(), &ALL).run_to_start(&scene.name);
    let command = ["status", "--watch"];
    let mut child = start_at(scene, kubeconfig, &command, &scene.own_run());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("NotStarted: "), "{first}");
    let path = scene.run_path(&scene.name);
    scene.hub.patch(&path, &json!({"spec": {"state": "Run"}}));
    let request = format!("{}-before-canary", scene.name);
    let mut told = vec![first];
    let mut approved = false;
    for line in lines {
        let line = line.unwrap();
        if line.contains(&format!("waits for approval {request}")) && !approved {
            approved = true;
            scene.approve(&request, "True", true);
        }
        told.push(line);
    }
    let code = child.wait().unwrap().code();
    let text = told.join("\n");
    assert_eq!(code, Some(0), "{text}");
    let told = untimed(&text);
    let is_verdict = |line: &&&str| line.starts_with("Progressing: ");
    let mut facts: Vec<_> = told.iter().filter(|line| !is_verdict(line)).collect();
    let all = facts.len();
    facts.sort_unstable();
    facts.dedup();
    // On a slow machine clusters are stuck for a moment, and begin once more for whoever looks.
    let is_slow = text.contains("stuck");
    assert!(
        is_slow || facts.len() == all,
        "something is told twice:\n{text}"
    );
    let at = |words: &str| {
        told.iter()
            .position(|line| line.contains(words))
            .unwrap_or_else(|| panic!("{words:?} is not in:\n{text}"))
    };
    let order = [
        at("spec.state is Run (was Initialize)"),
        at("stage staging: done"),
        at(&format!("waits for approval {request}")),
        at("WaitingForApproval: "),
        at(&format!("approval {request} is accepted")),
        at("stage canary: done"),
        at("stage prod: done"),
        at("Succeeded: "),
    ];
    assert!(order.is_sorted(), "{order:?}:\n{text}");
    assert_eq!(order[7], told.len() - 1, "{text}");
}

/// A hub that is away for a while is waited for.
#[test]
fn a_hub_that_goes_away_is_waited_for() {
    let Some(scene) = cluster_scoped("away") else {
        return;
    };
    scene.set(&one_gate(), &ALL).run_to_gate(&scene.name);
    let proxy = scene.hub.proxy();
    let command = ["wait", "--for=succeeded", "--keep-waiting"];
    let mut child = start_at(&scene, &proxy.kubeconfig(), &command, &scene.name);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut until = |words: &str| {
        let found = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains(words)));
        assert!(found.is_some(), "{words}");
    };
    until("WaitingForApproval: ");
    proxy.leave();
    until("retrying");
    scene.approve(&format!("{}-before-canary", scene.name), "True", true);
    scene.until_run(&scene.name, "Succeeded", "True", "");
    proxy.clear().unwrap();
    until("the hub answers again");
    until("condition met: succeeded");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// On a hub of any size: what it serves, what the name means, what the state is made of, and at a gate
/// what decides whether an approval helps: the placement, its policy and the member clusters.
#[test]
fn a_look_takes_few_requests() {
    let Some(scene) = cluster_scoped("requests") else {
        return;
    };
    scene.set(&one_gate(), &ALL);
    let run = format!("{}-run", scene.name);
    scene.run_to_gate(&run);
    let proxy = scene.hub.proxy();
    for (word, most) in [
        (run.clone(), 8),
        (format!("csur/{run}"), 7),
        (format!("crp/{}", scene.name), 7),
        (scene.name.clone(), 8),
    ] {
        proxy.clear().unwrap();
        let ran = scene.hub.plugin_as(&proxy.kubeconfig(), &["status", &word]);
        assert_eq!(ran.code, 4, "{}", ran.err);
        let requests = proxy.requests();
        assert!(requests.len() <= most, "{word}: {requests:#?}");
    }
}

/// One document per change, each on a line.
#[test]
fn programs_follow_documents() {
    play("documents", |scene| {
        scene.set(&three_stages(), &ALL).run(&scene.name, "Run");
        let child = start(scene, &["status", "-w", "-o", "json"], &scene.own_run());
        let Ran { code, out, err } = child.end();
        assert_eq!(code, 0, "{err}");
        let documents: Vec<Value> = out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(
            documents
                .iter()
                .all(|document| document["kind"] == "Status")
        );
        let last = documents.last().unwrap();
        assert_eq!(last["verdict"], "Succeeded");
        assert_eq!(last["run"]["done"], 3);
        let mut done: Vec<_> = documents
            .iter()
            .map(|document| document["run"]["done"].as_u64())
            .collect();
        assert!(done.is_sorted(), "{done:?}");
        done.dedup();
        assert!(done.len() > 1, "{done:?}");
    });
}

#[test]
fn a_run_that_is_deleted_is_followed_no_longer() {
    play("deleted", |scene| {
        scene.set(&one_gate(), &ALL).run_to_gate(&scene.name);
        let watching = start(scene, &["status", "-w"], &scene.own_run());
        let waiting = start(
            scene,
            &["wait", "--for=succeeded", "--keep-waiting"],
            &scene.name,
        );
        watching.until_answers("WaitingForApproval: ");
        waiting.until_says("WaitingForApproval: ");
        scene.hub.delete(&scene.run_path(&scene.name));
        for child in [watching, waiting] {
            let Ran { code, out, err } = child.end();
            assert_eq!(code, 6, "{out}\n{err}");
            assert!(err.contains("was deleted"), "{err}");
        }
    });
}

#[test]
fn a_wait_does_not_lead_to_a_gate_that_helps_nobody() {
    play("wait-lost", |scene| {
        scene.set(&one_gate(), &ALL).run_to_gate(&scene.name);
        let proxy = scene.hub.proxy();
        let wait = || {
            let command = [&["wait", "--for=succeeded"], &scene.named(&scene.name)[..]].concat();
            scene.hub.plugin_as(&proxy.kubeconfig(), &command)
        };
        let offered = wait();
        assert_eq!(offered.code, 4, "{}", offered.err);
        assert!(
            offered.err.contains("fleet-stage approve "),
            "{}",
            offered.err
        );
        // The clusters of the next stage cannot get the content any more.
        scene.forget_snapshot("0");
        // Content is not looked for before newer content has had the time to replace it.
        proxy.ahead(Duration::from_secs(61));
        let lost = wait();
        assert_eq!(lost.code, 4, "{}", lost.err);
        assert!(lost.out.contains("no longer exists"), "{}", lost.out);
        assert!(!lost.err.contains("approve"), "{}", lost.err);
        assert!(lost.err.contains("fleet-stage diagnose "), "{}", lost.err);
    });
}

#[test]
fn a_wait_ends_with_what_it_waited_for_or_with_what_keeps_it() {
    play("wait", |scene| {
        scene.set(&one_gate(), &ALL).run(&scene.name, "Initialize");
        let wait = |conditions: &str, more: &[&str]| {
            let condition = format!("--for={conditions}");
            let ran = scene.plugin(&["wait", &condition], &scene.name, more);
            (ran.code, ran.out, ran.err)
        };
        let (code, out, err) = wait("initialized", &["--timeout=10m"]);
        assert_eq!(code, 0, "{err}");
        assert!(out.starts_with("NotStarted: "), "{out}");
        // A person has to start it.
        assert_eq!(wait("succeeded", &[]).0, 8);
        let (code, _, err) = wait("stage=nope", &[]);
        assert_eq!(code, 6, "{err}");
        assert!(
            err.contains("existing stages: staging, canary, prod"),
            "{err}"
        );

        let path = scene.run_path(&scene.name);
        scene.hub.patch(&path, &json!({"spec": {"state": "Run"}}));
        let (code, _, err) = wait("stage=staging", &["--keep-waiting", "--timeout=10m"]);
        assert_eq!(code, 0, "{err}");
        assert!(err.contains("condition met: stage=staging"), "{err}");
        let (code, _, err) = wait(
            "stopped,approval=canary/before",
            &["--keep-waiting", "--timeout=10m"],
        );
        assert_eq!(code, 0, "{err}");
        assert!(
            err.contains("condition met: approval=canary/before"),
            "{err}"
        );
        let (code, _, err) = wait("succeeded", &[]);
        assert_eq!(code, 4, "{err}");
        assert!(err.contains("approve"), "{err}");
        let ((code, _, err), limit) = until_late(
            |limit| wait("succeeded", &["--keep-waiting", limit]),
            |(_, _, err)| !err.contains("no answer within"),
        );
        assert_eq!(code, 9, "{err}");
        let late = format!("did not reach succeeded within {limit}");
        assert!(err.contains(&late), "{err}");

        let child = start(
            scene,
            &["wait", "--for=succeeded", "--keep-waiting", "-o", "name"],
            &scene.name,
        );
        scene.approve(&format!("{}-before-canary", scene.name), "True", true);
        let Ran { code, out, err } = child.end();
        assert_eq!(code, 0, "{err}");
        let kind = if scene.namespaced { "" } else { "cluster" };
        let group = "placement.kubernetes-fleet.io";
        assert_eq!(
            out,
            format!("{kind}stagedupdaterun.{group}/{}\n", scene.name)
        );
        assert!(err.contains("stage prod: done"), "{err}");
        // What has happened stays met; what cannot happen any more ends with the verdict.
        for condition in ["initialized", "started", "approval=canary", "stage=prod"] {
            let (code, _, err) = wait(condition, &[]);
            assert_eq!(code, 0, "{condition}: {err}");
            assert!(err.contains("condition met"), "{condition}: {err}");
        }
        let (code, _, err) = wait("stopped", &[]);
        assert_eq!(code, 0, "{err}");
        assert!(err.contains("stopped is not met"), "{err}");
        let ran = scene.plugin(&["wait", "--for=succeeded"], "no-such-run", &[]);
        assert_eq!(ran.code, 6, "{}", ran.err);
    });
}

/// Two runs on a placement: one waits at its gate, the other was never started.
fn two_runs(scene: &Scene) -> [String; 2] {
    let runs = ["a", "b"].map(|letter| format!("{}-{letter}", scene.name));
    scene.set(&one_gate(), &ALL).run_to_gate(&runs[0]);
    scene.run_to_start(&runs[1]);
    runs
}

#[test]
fn several_runs_are_waited_for_together() {
    play("together", |scene| {
        let [a, b] = two_runs(scene);
        let both = [a.as_str(), &b];
        let proxy = scene.hub.proxy();
        let wait = |names: &[&str], more: &[&str]| {
            let words = arguments(scene, &proxy.kubeconfig(), &["wait"], names[0]);
            let ran = plugin()
                .args(words)
                .args(&names[1..])
                .args(more)
                .output()
                .unwrap();
            let text = |bytes| String::from_utf8(bytes).unwrap();
            (
                ran.status.code().unwrap(),
                text(ran.stdout),
                text(ran.stderr),
            )
        };
        // All have met it.
        let (code, out, err) = wait(&both, &["--for=initialized", "--timeout=10m"]);
        assert_eq!(code, 0, "{err}");
        let lines: Vec<_> = out.lines().collect();
        assert_eq!(lines.len(), 2, "{out}");
        assert!(
            lines[0].starts_with("WaitingForApproval: ") && lines[0].contains(&a),
            "{out}"
        );
        assert!(
            lines[1].starts_with("NotStarted: ") && lines[1].contains(&b),
            "{out}"
        );
        for run in both {
            let met = format!(" {run}: condition met: initialized\n");
            assert!(err.contains(&met), "{err}");
        }
        // What both are made of is watched once.
        let requests = proxy.requests();
        let bindings = requests.iter().map(|seen| seen.target.as_str());
        let bindings = bindings.filter(|it| it.contains("bindings") && it.contains("watch=true"));
        assert!(bindings.count() <= 1, "{requests:#?}");
        // One cannot get there without a person, however well the other is.
        let (code, out, err) = wait(&both, &["--for=approval"]);
        assert_eq!((code, out.lines().count()), (8, 2), "{out}\n{err}");
        assert!(err.contains(&format!("{b}: approval is not met")), "{err}");
        assert!(!err.contains(&format!("{a}: approval is not met")), "{err}");
        let (code, out, _) = wait(&both, &["--for=succeeded", "-o", "json"]);
        let list: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((code, &list["kind"]), (4, &json!("StatusList")), "{list:#}");
        let names: Vec<_> = (0..2)
            .map(|at| &list["items"][at]["target"]["name"])
            .collect();
        assert_eq!(names, both, "{list:#}");
        // Whoever keeps waiting waits for the other too.
        let ((code, _, err), limit) = until_late(
            |limit| wait(&both, &["--for=approval", "--keep-waiting", limit]),
            |(_, _, err)| !err.contains("no answer within"),
        );
        assert_eq!(code, 9, "{err}");
        let late = format!("{b} did not reach approval within {limit}");
        assert!(
            err.contains(&late) && !err.contains(&format!("{a} did not")),
            "{err}"
        );
        // The same run twice is one.
        let (code, out, err) = wait(&[&a, &a], &["--for=approval"]);
        assert_eq!((code, out.lines().count()), (0, 1), "{out}\n{err}");
        assert!(err.ends_with("\ncondition met: approval\n"), "{err}");
        for (names, conditions, said) in [
            ([a.as_str(), "nowhere"], "--for=initialized", "nowhere"),
            (
                both,
                "--for=initialized,stage=nope",
                "has no stage \"nope\"",
            ),
        ] {
            let (code, out, err) = wait(&names, &[conditions, "--keep-waiting"]);
            assert_eq!((code, out.as_str()), (6, ""), "{err}");
            assert!(err.contains(said), "{err}");
        }
    });
}

/// One is deleted while both are followed: that is told, and the other is followed to its end.
#[test]
fn one_of_several_runs_is_deleted() {
    play("one-deleted", |scene| {
        let [a, b] = two_runs(scene);
        let [documents, lines, waits] = [
            &["status", &b, "-w", "-o", "json"][..],
            &["status", &b, "-w"],
            &["wait", &b, "--for=succeeded", "--keep-waiting"],
        ]
        .map(|words| start(scene, words, &a));
        documents.until_answers(&format!("{b:?}"));
        lines.until_answers(&format!("{b}: NotStarted: "));
        waits.until_says(&format!("{b}: NotStarted: "));
        scene.hub.delete(&scene.run_path(&b));
        for follows in [&documents, &lines, &waits] {
            follows.until_says(&format!("{b} was deleted"));
        }
        scene.approve(&format!("{a}-before-canary"), "True", true);
        let Ran { code, out, err } = waits.end();
        assert_eq!(code, 6, "{err}");
        assert!(err.contains(&format!("{b} was deleted")), "{err}");
        assert!(err.contains(&format!(" {a}: stage prod: done")), "{err}");
        assert!(
            out.starts_with("Succeeded: ") && out.lines().count() == 1,
            "{out}"
        );
        let Ran { code, out, err } = lines.end();
        assert_eq!(code, 6, "{err}");
        assert!(err.contains(&format!("{b} was deleted")), "{err}");
        assert!(out.contains(&format!("  {b}: NotStarted: ")), "{out}");
        assert!(
            out.trim_end()
                .rsplit('\n')
                .next()
                .unwrap()
                .contains(&format!("  {a}: Succeeded: "))
        );
        let Ran { code, out, err } = documents.end();
        assert_eq!(code, 6, "{err}");
        let documents = out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let ends: Vec<_> = documents
            .map(|it| (it["target"]["name"].clone(), it["verdict"].clone()))
            .collect();
        assert!(ends.contains(&(json!(b), json!("NotStarted"))), "{ends:?}");
        assert_eq!(
            ends.last(),
            Some(&(json!(a), json!("Succeeded"))),
            "{ends:?}"
        );
    });
}

/// A terminal, by way of `script`; none where there is no such program.
fn terminal(scene: &Scene, command: &[&str], log: &std::path::Path) -> Option<Child> {
    let program = env!("CARGO_BIN_EXE_kubectl-fleet-stage");
    let line = std::iter::once(program.to_owned())
        .chain(arguments(
            scene,
            &scene.hub.kubeconfig,
            command,
            &scene.own_run(),
        ))
        .map(|word| format!("'{word}'"))
        .collect::<Vec<_>>()
        .join(" ");
    let found = Command::new("script")
        .args(["--quiet", "--flush", "--return", "--command"])
        .arg(format!("stty cols 90 rows 30; {line}"))
        .arg(log)
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if found.is_err() {
        eprintln!("skipped: there is no script(1) to make a terminal with");
    }
    found.ok()
}

#[test]
fn a_terminal_is_left_clean() {
    play("terminal", |scene| {
        scene.set(&one_gate(), &ALL).run_to_gate(&scene.name);
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("typescript");
        let Some(mut child) = terminal(scene, &["status", "--watch"], &log) else {
            return;
        };
        let drawn = || std::fs::read_to_string(&log).unwrap_or_default();
        // Drawn again, after what was drawn while it was read.
        let times = |what: &str| drawn().matches(what).count();
        waiting::until_so(drawn, || times("stage prod: not reached") >= 2);
        child.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
        let code = child.wait().unwrap().code();
        let text = drawn();
        assert_eq!(code, Some(130), "{text}");
        // The last thing is the whole state, and what is behind it is cleared.
        let last = text.rsplit("\u{1b}[J").nth(1).unwrap();
        assert!(last.contains("WaitingForApproval"), "{text}");
        assert!(last.contains("stage prod: not reached"), "{text}");
        let rest = text.rsplit("\u{1b}[J").next().unwrap();
        assert!(!rest.contains("error"), "{text}");
    });
}

/// Reads the next event of a list that is followed: its type, the item's name, and its verdict.
fn event(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> (String, String, String) {
    let line = lines.next().unwrap().unwrap();
    let event: Value = serde_json::from_str(&line).unwrap();
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    let state = text("/object/verdict").to_owned() + text("/object/state");
    (
        text("/type").to_owned(),
        text("/object/name").to_owned() + text("/object/request"),
        state,
    )
}

/// Each change of a list is an event, until the user ends it; through watches that break off too.
#[test]
fn a_list_is_followed() {
    play("listed", |scene| {
        let proxy = scene.hub.proxy();
        proxy.rules(vec![
            Rule::new("watch=true", Fault::WatchEnds { events: 1 }),
            Rule::new("watch=true", Fault::Expired).from(5).times(1),
        ]);
        scene.set(&one_gate(), &ALL).run_to_gate(&scene.name);
        let events = ["-w", "-o", "json", "--output-watch-events"];
        let runs = [&["list"], &events[..]].concat();
        let gates = [&["approvals"], &events[..]].concat();
        let mut runs = start_at(scene, &proxy.kubeconfig(), &runs, &scene.own_run());
        let mut gates = start_at(scene, &proxy.kubeconfig(), &gates, &scene.own_run());
        let mut of_runs = BufReader::new(runs.stdout.take().unwrap()).lines();
        let mut of_gates = BufReader::new(gates.stdout.take().unwrap()).lines();
        let request = format!("{}-before-canary", scene.name);
        let is = |what: &str, name: &str, state: &str| {
            (what.to_owned(), name.to_owned(), state.to_owned())
        };
        let first = event(&mut of_runs);
        assert_eq!(first, is("ADDED", &scene.name, "WaitingForApproval"));
        let first = event(&mut of_gates);
        assert_eq!(first, is("ADDED", &request, "Pending"));
        scene.approve(&request, "True", true);
        let until = |lines: &mut dyn Iterator<Item = std::io::Result<String>>, state: &str| {
            let mut lines = lines;
            loop {
                let (what, name, now) = event(&mut lines);
                assert_eq!(what, "MODIFIED", "{name} {now}");
                if now == state {
                    return;
                }
            }
        };
        until(&mut of_runs, "Succeeded");
        until(&mut of_gates, "Accepted");
        scene.hub.delete(&scene.run_path(&scene.name));
        loop {
            let (what, name, _) = event(&mut of_runs);
            assert_eq!(name, scene.name);
            if what == "DELETED" {
                break;
            }
        }
        for child in [&mut runs, &mut gates] {
            crate::write::interrupt(child.id());
            assert_eq!(child.wait().unwrap().code(), Some(130));
        }
    });
}
