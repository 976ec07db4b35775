//! What the plugin makes of a hub that fails: the exit code, the words, how often it asks, and no
//! verdict that nothing supports.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};
use test_hub::{Fault, FaultProxy, Rule, Seen, waiting};

use crate::harness::Ran;
use crate::scene::{ALL, Scene, cluster_scoped, one_gate};

const RUNS: &str = "/clusterstagedupdateruns";
const BINDINGS: &str = "/clusterresourcebindings";
const REQUESTS: &str = "/clusterapprovalrequests";
const SNAPSHOTS: &str = "/clusterresourcesnapshots";
const STRATEGIES: &str = "/clusterstagedupdatestrategies";

/// The commands that read, with what each is about, and how they end on the scene, saying what.
const ABOUT: [(&str, &str, i32, &str); 8] = [
    ("diagnose", RUNS, 4, "WaitingForApproval"),
    ("collect", RUNS, 0, "UpdateRunWaiting"),
    ("status", RUNS, 4, "WaitingForApproval"),
    ("list", RUNS, 0, "WaitingForApproval"),
    ("history", RUNS, 0, "WaitingForApproval"),
    ("approvals", REQUESTS, 0, "-before-canary"),
    ("snapshots", SNAPSHOTS, 0, "-0-snapshot"),
    ("strategies", STRATEGIES, 0, "canary"),
];

/// Does something for each of these. Most of the time is spent with waiting: each has a proxy of its own.
fn for_each<T: Sync>(all: &[T], what: impl Fn(&Bad, &T) + Sync) {
    std::thread::scope(|scope| {
        let what = &what;
        for one in all {
            scope.spawn(move || {
                if let Some(bad) = Bad::hub() {
                    what(&bad, one);
                }
            });
        }
    });
}

/// Does something for each command that reads.
fn beside_each_other(what: impl Fn(&Bad, &str) + Sync) {
    let commands = ABOUT.iter().map(|about| about.0).chain(["doctor"]);
    let commands: Vec<_> = commands.collect();
    for_each(&commands, |bad, command| what(bad, command));
}

/// A run that waits for an approval, and so stays as it is.
fn waiting() -> Option<&'static Scene> {
    static SCENE: OnceLock<Option<Scene>> = OnceLock::new();
    SCENE
        .get_or_init(|| {
            let scene = cluster_scoped("faults")?;
            scene.set(&one_gate(), &ALL);
            scene.run_to_gate(&scene.name);
            Some(scene)
        })
        .as_ref()
}

/// A hub behind a proxy, and what was done through it.
struct Bad {
    scene: &'static Scene,
    proxy: FaultProxy,
}

/// A command through the proxy.
struct Tried {
    ran: Ran,
    requests: Vec<Seen>,
}

impl Tried {
    fn said(&self) -> String {
        format!("{}\n{}", self.ran.out, self.ran.err)
    }

    /// When requests for a path were sent.
    fn times(&self, part: &str) -> Vec<Instant> {
        let requests = self.requests.iter();
        let matching = requests.filter(|seen| seen.target.contains(part));
        matching.map(|seen| seen.started).collect()
    }
}

impl Bad {
    fn hub() -> Option<Self> {
        let scene = waiting()?;
        let proxy = scene.hub.proxy();
        Some(Self { scene, proxy })
    }

    /// Runs a command under these rules; it never writes.
    fn run(&self, command: &str, rules: Vec<Rule>) -> Tried {
        self.proxy.clear().unwrap();
        self.proxy.rules(rules);
        self.run_as_it_is(command)
    }

    fn run_as_it_is(&self, command: &str) -> Tried {
        self.run_with(command, &[])
    }

    fn run_with<'w>(&'w self, command: &'w str, more: &[&'w str]) -> Tried {
        let run = format!("csur/{}", self.scene.name);
        let placement = format!("crp/{}", self.scene.name);
        let mut arguments = match command {
            "approvals" => vec!["approvals", &run, "-o", "json"],
            "history" | "snapshots" => vec![command, &placement, "-o", "json"],
            "collect" => vec!["collect", &run],
            "diagnose" => vec!["diagnose", &run, "-o", "json"],
            "status" => vec!["status", &run, "-o", "json"],
            "wait" => vec!["wait", &run, "--for=succeeded", "-o", "json"],
            other => vec![other, "-o", "json"],
        };
        arguments.push("--request-timeout=6s");
        arguments.extend(more);
        let ran = self
            .scene
            .hub
            .plugin_as(&self.proxy.kubeconfig(), &arguments);
        let requests = self.proxy.requests();
        for seen in &requests {
            let question = seen.method == Method::POST && seen.target.contains("/selfsubject");
            assert!(
                seen.method == Method::GET || question,
                "{command} writes: {seen:?}"
            );
        }
        Tried { ran, requests }
    }
}

/// Checks how a command ended, and that it gave no verdict when it failed.
fn check(what: &str, tried: &Tried, code: i32, words: &str) {
    let said = tried.said();
    assert_eq!(tried.ran.code, code, "{what}: {said}");
    assert!(
        said.contains(words),
        "{what} does not say {words:?}: {said}"
    );
    assert!(!said.contains("panicked"), "{what}: {said}");
    if code == 1 {
        assert_eq!(tried.ran.out, "", "{what} fails and answers");
        assert!(tried.ran.err.starts_with("error: "), "{what}: {said}");
    }
}

#[test]
fn nothing_works() {
    beside_each_other(|_, command| nothing_works_for(command));
}

fn nothing_works_for(command: &str) {
    let bytes = 20;
    let faults = [
        (Fault::Leave, "cannot reach the hub at https://127.0.0.1:"),
        (Fault::TlsGarbage, "no secure connection to the hub"),
        (Fault::ResetBefore, "the connection was closed"),
        (Fault::ResetAfter, "the connection was closed"),
        (Fault::Unauthorized, "rejected the credentials"),
        (Fault::NotServed, "does not serve the requested resource"),
        (Fault::TooMany(None), "the hub answered 429: Too many"),
        (Fault::TooMany(Some(1)), "the hub answered 429: Too many"),
        (Fault::TooMany(Some(3600)), "the hub answered 429: Too many"),
        (Fault::Internal, "the hub answered 500: Internal error"),
        (Fault::Unavailable(None), "the hub answered 503: apiserver"),
        (Fault::Page(502), "the hub answered 502: Bad Gateway"),
        (Fault::NoJson, "answered with a web page"),
        (Fault::Cut { bytes }, "the hub's answer is invalid"),
        (Fault::Hang, "no answer within 6s"),
    ];
    let parts: Vec<_> = faults.chunks(5).collect();
    for_each(&parts, |bad, part| {
        for (fault, words) in *part {
            let what = format!("{command} with {fault:?}");
            let tried = bad.run(command, vec![Rule::new("", fault.clone())]);
            check(&what, &tried, 1, words);
            let count = tried.requests.len();
            assert!(count <= 5, "{what}: {count} requests");
        }
    });
}

#[test]
fn nobody_listens() {
    beside_each_other(|bad, command| {
        bad.proxy.leave();
        let tried = bad.run_as_it_is(command);
        check(command, &tried, 1, "cannot reach the hub at");
        assert!(tried.said().contains("kubectl config view --minify"));
    });
}

#[test]
fn everything_is_forbidden() {
    beside_each_other(|bad, command| {
        let tried = bad.run(command, vec![Rule::new("", Fault::Forbidden)]);
        check(command, &tried, 7, "forbidden");
        if matches!(command, "diagnose" | "status") && !tried.ran.out.is_empty() {
            assert_eq!(tried.ran.json()["verdict"], "Unknown", "{command}");
        }
    });
}

/// What a command is about cannot be read.
#[test]
fn the_main_thing_cannot_be_read() {
    beside_each_other(|bad, command| {
        for (_, path, ..) in ABOUT.iter().filter(|about| about.0 == command) {
            cannot_be_read(bad, command, path);
        }
    });
}

fn cannot_be_read(bad: &Bad, command: &str, path: &str) {
    let bytes = 20;
    for (fault, code, words) in [
        (Fault::Forbidden, 7, "forbidden"),
        (Fault::Unauthorized, 1, "rejected the credentials"),
        (Fault::NotServed, 1, "does not serve"),
        (Fault::Internal, 1, "500"),
        (Fault::Unavailable(Some(3600)), 1, "503"),
        (Fault::Cut { bytes }, 1, "the hub's answer is invalid"),
        (Fault::NoJson, 1, "answered with a web page"),
        (Fault::Hang, 1, "no answer within 6s"),
        (Fault::Leave, 1, "cannot reach the hub"),
    ] {
        let what = format!("{command} with {fault:?}");
        let tried = bad.run(command, vec![Rule::new(path, fault.clone())]);
        check(&what, &tried, code, words);
        if code == 7 && matches!(command, "diagnose" | "status") {
            let report = tried.ran.json();
            assert_eq!(report["verdict"], "Unknown", "{what}");
            assert!(gaps(&report).contains(&"ClusterStagedUpdateRun".to_owned()));
        }
    }
}

/// The kinds that a report says were not checked.
fn gaps(report: &Value) -> Vec<String> {
    let gaps = report["notChecked"].as_array().into_iter().flatten();
    gaps.map(|gap| gap["what"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_bindings_cannot_be_read() {
    let Some(bad) = Bad::hub() else { return };
    let usual = bad.run("diagnose", Vec::new());
    assert_eq!(usual.ran.code, 4, "{}", usual.said());
    let usual = usual.ran.json();
    let kind = "ClusterResourceBinding".to_owned();
    assert!(!gaps(&usual).contains(&kind));
    let bytes = 20;
    let faults = [
        (Fault::Forbidden, "is forbidden: User"),
        (Fault::NotServed, "does not serve"),
        (Fault::Internal, "the hub answered 500"),
        (Fault::TooMany(Some(3600)), "the hub answered 429"),
        (Fault::Expired, "the list expired on the hub"),
        (Fault::Cut { bytes }, "the hub's answer is invalid"),
        (Fault::NoJson, "answered with a web page"),
        (Fault::ResetBefore, "the connection was closed"),
        (Fault::Hang, "no answer within 6s"),
    ];
    for_each(&faults, |bad, (fault, words)| {
        let rules = vec![Rule::new(BINDINGS, fault.clone())];
        let what = format!("diagnose with {fault:?}");
        let tried = bad.run("diagnose", rules.clone());
        check(&what, &tried, 4, words);
        let report = tried.ran.json();
        // The run itself was read: what it says of itself holds.
        assert_eq!(report["verdict"], usual["verdict"], "{what}");
        assert!(gaps(&report).contains(&kind), "{what}: {report:#}");
        let what = format!("collect with {fault:?}");
        let tried = bad.run("collect", rules);
        if *fault == Fault::NotServed {
            assert_eq!(tried.ran.code, 0, "{what}: {}", tried.ran.err);
        } else {
            check(&what, &tried, 7, words);
            let warning = "the bundle is missing ClusterResourceBinding";
            assert!(tried.ran.err.contains(warning), "{what}");
        }
    });
    // Without the hub there is nothing to say, however much was read before.
    let faults = [
        (Fault::Leave, "cannot reach the hub"),
        (Fault::Unauthorized, "rejected the credentials"),
    ];
    for_each(&faults, |bad, (fault, words)| {
        for command in ["diagnose", "collect"] {
            let tried = bad.run(command, vec![Rule::new(BINDINGS, fault.clone())]);
            check(&format!("{command} with {fault:?}"), &tried, 1, words);
        }
    });
}

/// The hub was busy, and then it was silent until the time was up: that it was busy tells more.
#[test]
fn what_the_hub_said_last_is_told() {
    let Some(bad) = Bad::hub() else { return };
    let rules = vec![
        Rule::new(RUNS, Fault::Internal).times(1),
        Rule::new(RUNS, Fault::Hang),
    ];
    let tried = bad.run("status", rules);
    let words = "the hub answered 500: Internal error";
    check("status", &tried, 1, words);
    assert_eq!(tried.requests.last().unwrap().status, None);
}

#[test]
fn what_passes_is_waited_for() {
    beside_each_other(|bad, command| {
        for (_, path, code, words) in ABOUT.iter().filter(|about| about.0 == command) {
            passes(bad, command, path, *code, words);
        }
    });
}

fn passes(bad: &Bad, command: &str, path: &str, code: i32, words: &str) {
    for (fault, pause) in [
        (Fault::TooMany(Some(1)), Duration::from_secs(1)),
        (Fault::Unavailable(Some(1)), Duration::from_secs(1)),
        (Fault::Internal, Duration::from_millis(200)),
        (Fault::Page(504), Duration::from_millis(200)),
        (Fault::ResetBefore, Duration::from_millis(200)),
        (Fault::Cut { bytes: 20 }, Duration::from_millis(200)),
    ] {
        let what = format!("{command} with {fault:?}");
        let tried = bad.run(command, vec![Rule::new(path, fault.clone()).times(2)]);
        check(&what, &tried, code, words);
        let faults = tried.requests.iter().filter(|seen| seen.fault.is_some());
        let targets: Vec<_> = faults.map(|seen| seen.target.clone()).collect();
        assert_eq!(targets.len(), 2, "{what}: {targets:?}");
        let times = tried.times(&targets[0]);
        for pair in times.windows(2).take(2) {
            assert!(
                pair[1] - pair[0] >= pause,
                "{what}: {:?}",
                pair[1] - pair[0]
            );
        }
    }
}

#[test]
fn who_asks_for_too_much_patience_gets_none() {
    let Some(bad) = Bad::hub() else { return };
    let rule = Rule::new("/apis", Fault::TooMany(Some(3600)));
    let tried = bad.run("list", vec![rule]);
    check("list", &tried, 1, "429");
    assert_eq!(tried.requests.len(), 1);
}

#[test]
fn a_slow_hub_is_no_broken_hub() {
    let Some(bad) = Bad::hub() else { return };
    let late = Duration::from_millis(300);
    let tried = bad.run("diagnose", vec![Rule::new("", Fault::Delay(late))]);
    check("diagnose", &tried, 4, "WaitingForApproval");
    assert_eq!(gaps(&tried.ran.json()), Vec::<String>::new());
}

/// Servers before Kubernetes 1.27 know no other form.
#[test]
fn a_server_that_lists_its_groups_by_name_is_understood() {
    beside_each_other(|bad, command| {
        let usual = bad.run(command, Vec::new());
        let tried = bad.run(command, vec![Rule::new("/apis", Fault::PlainDiscovery)]);
        assert_eq!(tried.ran.code, usual.ran.code, "{:?}", tried.ran);
        if let Some((_, _, code, words)) = ABOUT.iter().find(|about| about.0 == command) {
            check(command, &tried, *code, words);
        }
        for version in ["placement", "cluster"] {
            let path = format!("/apis/{version}.kubernetes-fleet.io/v1beta1");
            let asked = |tried: &Tried| tried.requests.iter().any(|seen| seen.target == path);
            assert!(asked(&tried) && !asked(&usual), "{command}: {path}");
        }
    });
}

/// How often a list names the run of the scene.
fn listed(bad: &Bad, tried: &Tried) -> usize {
    tried
        .ran
        .out
        .matches(&format!("{:?}", bad.scene.name))
        .count()
}

#[test]
fn a_list_is_read_to_its_end() {
    let Some(bad) = Bad::hub() else { return };
    // One more run, so that there are pages.
    let second = format!("{}-second", bad.scene.name);
    bad.scene.run(&second, "Initialize");
    let usual = bad.run("list", Vec::new());
    assert_eq!(usual.ran.code, 0, "{}", usual.said());
    let pages = || Rule::new("limit=", Fault::SmallPages(1));
    let expired = || Rule::new("continue=", Fault::Expired);
    for (what, rules) in [
        ("pages", vec![pages()]),
        ("a page that is too old", vec![expired().times(1), pages()]),
        ("pages that are always too old", vec![expired(), pages()]),
    ] {
        let tried = bad.run("list", rules);
        check(what, &tried, 0, &second);
        assert_eq!(listed(&bad, &tried), listed(&bad, &usual), "{what}");
        assert!(
            tried.times("continue=").len() > usize::from(what != "pages"),
            "{what}"
        );
    }
    for (size, pages) in [("1", true), ("0", false)] {
        let size = format!("--chunk-size={size}");
        bad.proxy.clear().unwrap();
        bad.proxy.rules(Vec::new());
        let tried = bad.run_with("list", &[&size]);
        check(&size, &tried, 0, &second);
        assert_eq!(listed(&bad, &tried), listed(&bad, &usual), "{size}");
        for part in [format!("{RUNS}?limit=1"), "continue=".to_owned()] {
            assert_eq!(!tried.times(&part).is_empty(), pages, "{size}: {part}");
        }
    }
    // A page that is missing is a gap, and no shorter list.
    let rules = vec![Rule::new("continue=", Fault::Internal), pages()];
    let tried = bad.run("list", rules);
    check("a page that fails", &tried, 1, "500");
}

#[test]
fn a_watch_that_breaks_is_gone_on_with() {
    let Some(bad) = Bad::hub() else { return };
    for fault in [
        Fault::WatchEnds { events: 0 },
        Fault::WatchCut { events: 0 },
        Fault::WatchSilent { events: 0 },
        Fault::Internal,
        Fault::Expired,
    ] {
        let what = format!("wait with {fault:?}");
        let tried = bad.run("wait", vec![Rule::new("watch=", fault.clone())]);
        // The run waits for a person: that is seen from the list already.
        check(&what, &tried, 4, "WaitingForApproval");
    }
    let tried = bad.run("wait", vec![Rule::new("", Fault::Hang)]);
    check(
        "wait with a hub that hangs",
        &tried,
        1,
        "no answer within 6s",
    );
}

#[test]
fn a_change_is_seen_however_often_the_watch_breaks() {
    for (name, fault) in [
        ("watch-ends", Fault::WatchEnds { events: 1 }),
        ("watch-cut", Fault::WatchCut { events: 1 }),
    ] {
        let Some(scene) = cluster_scoped(name) else {
            return;
        };
        scene.set(&one_gate(), &ALL);
        scene.run_to_start(&scene.name);
        let proxy = scene.hub.proxy();
        proxy.rules(vec![Rule::new("watch=", fault)]);
        let arguments = [
            "wait",
            &scene.name,
            "--for=approval",
            "--keep-waiting",
            "--timeout=10m",
        ];
        let ran = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| scene.hub.plugin_as(&proxy.kubeconfig(), &arguments));
            let watches = |seen: &Seen| seen.target.contains("watch=");
            let watched = || proxy.requests().iter().any(watches);
            waiting::until_so(|| "somebody watches".to_owned(), watched);
            let path = scene.run_path(&scene.name);
            scene.hub.patch(&path, &json!({"spec": {"state": "Run"}}));
            waiting.join().unwrap()
        });
        assert_eq!(ran.code, 0, "{name}: {}\n{}", ran.out, ran.err);
        // Each watch goes on where the last one broke: there are several, and one list.
        let seen = proxy.requests();
        let count = |part: &str| {
            let runs = seen.iter().filter(|seen| seen.target.contains(RUNS));
            runs.filter(|seen| seen.target.contains(part)).count()
        };
        assert!(count("watch=") > 1, "{name}: {}", count("watch="));
        assert_eq!(count("limit="), 1, "{name}");
    }
}
