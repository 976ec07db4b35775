//! Several hubs at once: two that answer, and one each that is slow, is gone, denies, and is no hub.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};
use test_hub::fleet::{Fleet, Run};
use test_hub::screen::Screen;
use test_hub::standin::Scope;
use test_hub::terminal::{CONTROL_C, Terminal, has_terminals};
use test_hub::{Crds, Fault, FaultProxy, Options, Rule, TestHub, waiting};

use crate::harness::{Ran, until_late};
use crate::scene::{ALL, Scene, cluster_scoped, one_gate};

/// A user of the hub who may do nothing.
const NOBODY: &str = "user-120";
/// How long a hub may take.
const LIMIT: Duration = Duration::from_secs(10);

/// The contexts of one kubeconfig.
struct Hubs {
    scene: Scene,
    /// A run that waits on the first hub, and whose namesake on the other never began.
    run: String,
    /// A run that only the first hub has.
    only: String,
    folder: tempfile::TempDir,
    slow: FaultProxy,
    other: &'static TestHub,
}

/// The second hub, which all tests share: nothing is done there but what they do.
fn other_hub(scene: &Scene) -> &'static TestHub {
    static OTHER: OnceLock<TestHub> = OnceLock::new();
    let start = async {
        let other = TestHub::start(&Options::default()).await?;
        other.install(&Crds::from_environment()).await?;
        Ok::<_, test_hub::Error>(other)
    };
    OTHER.get_or_init(|| scene.hub.runtime.block_on(start).unwrap())
}

impl Hubs {
    fn start(name: &str) -> Option<Self> {
        let scene = cluster_scoped(name)?;
        let (hub, _) = scene.hub.own.as_ref()?;
        let other = other_hub(&scene);
        scene.set(&one_gate(), &ALL);
        let name = format!("{}-1", scene.name);
        scene.run_to_gate(&name);
        let only = format!("{}-only", scene.name);
        scene.run(&only, "Initialize");
        let slow = scene.hub.proxy();
        slow.rules(vec![Rule::new("/apis", Fault::Hang)]);
        let folder = tempfile::tempdir().unwrap();
        let this = Self {
            run: name,
            only,
            slow,
            folder,
            other,
            scene,
        };
        let read = |path: PathBuf| -> Value {
            serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
        };
        let of = |config: &Value, cluster: &str| {
            let clusters = config["clusters"].as_array().unwrap();
            let found = clusters.iter().find(|it| it["name"] == cluster).unwrap();
            found["cluster"].clone()
        };
        let own = read(hub.kubeconfig());
        let user = |config: &Value| config["users"][0]["user"].clone();
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "gone",
            "clusters": [
                {"name": "eu", "cluster": of(&own, "hub")},
                {"name": "us", "cluster": of(&read(this.other.kubeconfig()), "hub")},
                {"name": "slow", "cluster": of(&read(this.slow.kubeconfig()), "proxy")},
                {"name": "gone", "cluster": {"server": "https://127.0.0.1:1"}},
                {"name": "member", "cluster": of(&own, "broken-1")},
            ],
            "users": [
                {"name": "admin", "user": user(&own)},
                {"name": "nobody", "user": user(&read(hub.kubeconfig_of(NOBODY)))},
                {"name": "slow", "user": user(&read(this.slow.kubeconfig()))},
            ],
            "contexts": [
                {"name": "eu", "context": {"cluster": "eu", "user": "admin"}},
                {"name": "eu-again", "context": {"cluster": "eu", "user": "admin"}},
                {"name": "us", "context": {"cluster": "us", "user": "admin"}},
                {"name": "denied", "context": {"cluster": "eu", "user": "nobody"}},
                {"name": "slow", "context": {"cluster": "slow", "user": "slow"}},
                {"name": "gone", "context": {"cluster": "gone", "user": "admin"}},
                {"name": "member", "context": {"cluster": "member", "user": "admin"}},
            ],
        });
        fs::write(this.kubeconfig(), config.to_string()).unwrap();
        let settings = "apiVersion: kubectl-fleet-stage/v1\nkind: Settings\n\
            hubGroups:\n  prod: [eu, us]\n  typo: [eu, uss]\n  eu-again: [us]\n  none: []\n";
        fs::write(this.settings(), settings).unwrap();
        this.create_there(&this.run);
        Some(this)
    }

    /// Creates a run on the second hub, where nothing becomes of it.
    fn create_there(&self, name: &str) {
        let run = Run::new(&Scope::Cluster, name, &self.scene.name, &self.scene.name);
        self.scene.hub.runtime.block_on(async {
            let client = self.other.client().await.unwrap();
            let fleet = Fleet::new(client).discover().await;
            let run = run.state("Initialize").build();
            fleet.create(&run).await.unwrap();
        });
    }

    fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    fn settings(&self) -> PathBuf {
        self.folder.path().join("settings.yaml")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"));
        command
            .args(arguments)
            .arg("--kubeconfig")
            .arg(self.kubeconfig())
            .env("FLEET_STAGE_SETTINGS", self.settings())
            .env("NO_COLOR", "1");
        command
    }

    /// Starts the plugin, which goes on while the test does something.
    fn begin(&self, arguments: &[&str]) -> Begun {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap()).lines();
        let err = BufReader::new(child.stderr.take().unwrap()).lines();
        Begun { child, out, err }
    }

    /// Deletes a run of the second hub.
    fn delete_there(&self, name: &str) {
        let path = self.scene.run_path(name);
        self.scene.hub.runtime.block_on(async {
            let request = http::Request::delete(path).body(Vec::new()).unwrap();
            let client = self.other.client().await.unwrap();
            client.request::<Value>(request).await.unwrap();
        });
    }

    fn plugin(&self, arguments: &[&str]) -> Ran {
        let hub = self.scene.hub;
        hub.plugin_with(&self.kubeconfig(), &self.settings(), arguments)
    }
}

/// The plugin, while it runs.
struct Begun {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
    err: Lines<BufReader<ChildStderr>>,
}

impl Begun {
    /// The next document that it prints.
    fn document(&mut self) -> Value {
        let line = self.out.next().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Waits until it says something.
    fn says(&mut self, words: &str) {
        let mut said = Vec::new();
        for line in &mut self.err {
            let line = line.unwrap();
            if line.contains(words) {
                return;
            }
            said.push(line);
        }
        panic!("{words:?} is not in {said:#?}");
    }

    fn interrupt(mut self) {
        crate::write::interrupt(self.child.id());
        let ended = waiting::ended(&mut self.child, || "after an interrupt".to_owned());
        assert_eq!(ended.code(), Some(130));
    }
}

/// An event: what happened, on which hub, and to which run.
fn event(event: &Value) -> (&str, &str, &str) {
    let text = |pointer| event.pointer(pointer).and_then(Value::as_str).unwrap();
    let name = if event["object"]["request"].is_null() {
        "/object/name"
    } else {
        "/object/request"
    };
    (text("/type"), text("/object/hub"), text(name))
}

#[test]
fn several_hubs_are_followed_each_by_itself() {
    let Some(hubs_here) = Hubs::start("hubs-followed") else {
        return;
    };
    lists_are_followed(&hubs_here);
    a_hub_that_dies_holds_nobody_up(&hubs_here);
    beside_each_other(
        &hubs_here,
        &[
            a_run_is_waited_for_on_each_hub,
            what_is_drawn_is_left_as_it_was,
        ],
    );
    states_are_followed(&hubs_here);
}

/// Does what changes nothing on the hubs. Most of the time is spent with waiting for those that do not answer.
fn beside_each_other(hubs_here: &Hubs, looks: &[fn(&Hubs)]) {
    std::thread::scope(|scope| {
        for look in looks {
            scope.spawn(move || look(hubs_here));
        }
    });
}

/// The events of all hubs are one stream; one that hangs and one that is gone delay neither them nor
/// the end.
fn lists_are_followed(hubs_here: &Hubs) {
    let run = hubs_here.run.as_str();
    let events = ["-w", "-o", "json", "--output-watch-events", "--contexts"];
    let words = [&["list", run], &events[..], &["us,gone,slow,eu"]].concat();
    let mut list = hubs_here.begin(&words);
    let first = [list.document(), list.document()];
    let mut first = first.each_ref().map(event);
    first.sort_unstable();
    assert_eq!(first, [("ADDED", "eu", run), ("ADDED", "us", run)]);
    list.interrupt();

    let words = [&["list", &hubs_here.only], &events[..], &["us,gone,eu"]].concat();
    let mut list = hubs_here.begin(&words);
    assert_eq!(event(&list.document()), ("ADDED", "eu", &*hubs_here.only));
    list.says("not found on us");
    list.says("not reached: gone: ");
    list.interrupt();

    let mut list = hubs_here.begin(&["list", "-w", "--contexts", "eu,us"]);
    let titles = list.out.next().unwrap().unwrap();
    assert!(titles.starts_with("HUB "), "{titles}");
    list.interrupt();

    let words = [&["approvals", run, "--pending"], &events[..], &["prod"]].concat();
    let mut gates = hubs_here.begin(&words);
    let gate = gates.document();
    let request = format!("{run}-before-canary");
    assert_eq!(event(&gate), ("ADDED", "eu", &*request));
    let command = gate["object"]["command"].as_str().unwrap();
    assert!(command.contains(" --context eu"), "{command}");
    gates.says("has no such gate");
    gates.interrupt();
}

/// It is told, the others are followed meanwhile, and it comes back.
fn a_hub_that_dies_holds_nobody_up(hubs_here: &Hubs) {
    hubs_here.slow.rules(Vec::new());
    let events = ["-w", "-o", "json", "--output-watch-events"];
    let own = ["--placement", &hubs_here.scene.name];
    let words = [&["list", "--contexts", "slow,us"], &own[..], &events].concat();
    let mut list = hubs_here.begin(&words);
    let all: Vec<_> = (0..3).map(|_| list.document()).collect();
    let all: BTreeSet<_> = all.iter().map(event).collect();
    let (run, only) = (&*hubs_here.run, &*hubs_here.only);
    let wanted = [("slow", run), ("slow", only), ("us", run)];
    assert_eq!(all, wanted.map(|(hub, run)| ("ADDED", hub, run)).into());
    hubs_here.slow.leave();
    list.says("slow: cannot reach the hub");
    let new = format!("{run}-new");
    hubs_here.create_there(&new);
    assert_eq!(event(&list.document()), ("ADDED", "us", &*new));
    hubs_here.delete_there(&new);
    loop {
        let what = list.document();
        if event(&what) == ("DELETED", "us", &new) {
            break;
        }
        assert_eq!(event(&what), ("MODIFIED", "us", &*new));
    }
    hubs_here.slow.clear().unwrap();
    list.says("slow: the hub answers again");
    list.interrupt();

    // One that will not answer any more is left: its rows were not deleted.
    let refused = Rule::new("watch=true", Fault::Unauthorized);
    hubs_here.slow.rules(vec![refused]);
    let mut list = hubs_here.begin(&words);
    list.says("not reached: slow: ");
    hubs_here.create_there(&new);
    let mut seen = BTreeSet::new();
    while !seen.contains(&("us".to_owned(), new.clone())) {
        let what = list.document();
        let (what, hub, name) = event(&what);
        assert_eq!(what, "ADDED", "{hub} {name}");
        seen.insert((hub.to_owned(), name.to_owned()));
    }
    hubs_here.delete_there(&new);
    list.interrupt();
    let follow = ["--for=approval", "--contexts=slow,us", "--keep-waiting"];
    let ran = hubs_here.plugin(&[&["wait", only], &follow[..]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (7, ""), "{}", ran.err);
    hubs_here.slow.rules(Vec::new());
}

fn a_run_is_waited_for_on_each_hub(hubs_here: &Hubs) {
    let (run, only) = (hubs_here.run.as_str(), hubs_here.only.as_str());
    let wait = |words: &[&str]| hubs_here.plugin(&[&["wait"], words].concat());
    let wait_late = |contexts: &str, unread: &str| {
        until_late(
            |limit| wait(&[run, "--for=approval", contexts, limit]),
            |ran| !ran.err.contains(unread),
        )
    };
    let (ran, limit) = wait_late("--contexts=prod", "no answer within");
    assert_eq!(ran.code, 9, "{}", ran.err);
    let met = format!(" eu: {run}: condition met: approval\n");
    assert!(ran.err.contains(&met), "{}", ran.err);
    let late = format!("us: ClusterStagedUpdateRun {run} did not reach approval within {limit}");
    assert!(ran.err.contains(&late), "{}", ran.err);
    let lines: Vec<_> = ran.out.lines().collect();
    assert!(
        lines[0].starts_with("eu: WaitingForApproval: "),
        "{}",
        ran.out
    );
    assert!(lines[1].starts_with("us: "), "{}", ran.out);
    // A run is waited for where it is, and has to be somewhere.
    let ran = wait(&[only, "--for=initialized", "--contexts=us,eu", "-o", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(hubs(&ran.json(), "items"), ["eu"], "{}", ran.err);
    assert!(ran.err.contains("not found on us"), "{}", ran.err);
    for names in [&["nowhere"][..], &[run, "nowhere"]] {
        let ran = wait(&[names, &["--for=approval", "--contexts=prod"]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (6, ""), "{}", ran.err);
        assert!(ran.err.contains("nowhere"), "{}", ran.err);
    }
    // Of a hub that was not reached nobody knows whether the run gets there.
    for keep in [&[][..], &["--keep-waiting"]] {
        let ran = wait(&[&[run, "--for=approval", "--contexts=eu,gone"], keep].concat());
        assert_eq!(ran.code, 7, "{}", ran.err);
        assert!(ran.err.contains("not reached: gone: "), "{}", ran.err);
    }
    hubs_here.slow.rules(vec![Rule::new("/apis", Fault::Hang)]);
    let (ran, limit) = wait_late("--contexts=eu,slow", "eu: no answer within");
    assert_eq!(ran.code, 9, "{}", ran.err);
    assert!(ran.out.starts_with("eu: WaitingForApproval"), "{}", ran.out);
    let missing = format!("not reached: slow: no answer within --timeout ({limit})");
    assert!(ran.err.contains(&missing), "{}", ran.err);
    let ran = wait(&[run, "--for=approval", "--contexts=eu", "-o", "name"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    hubs_here.slow.rules(Vec::new());
}

/// On a terminal too, what was not reached is there at the end.
fn what_is_drawn_is_left_as_it_was(hubs_here: &Hubs) {
    if !has_terminals() {
        return;
    }
    let (run, only) = (hubs_here.run.as_str(), hubs_here.only.as_str());
    let list = ["list", run, "-w", "--contexts=gone,us,eu"];
    let status = ["status", run, only, "-w", "--contexts=gone,eu"];
    let wait = ["wait", run, only, "--for=succeeded", "--keep-waiting"];
    let wait = [&wait[..], &["--contexts=gone,eu"]].concat();
    let (runs, interrupted) = ("waiting for succeeded: 0 of 2 runs done", "interrupted; ");
    for (words, drawn, left) in [
        (&list[..], "eu   ", ["\neu   ", "\nus   "]),
        (
            &status,
            "eu: Cluster",
            ["  eu: Cluster", "stage prod: not reached"],
        ),
        (&wait, runs, [" eu: ", interrupted]),
    ] {
        let mut terminal = Terminal::start(&hubs_here.command(words), 100);
        terminal.until("not reached: gone");
        terminal.until(drawn);
        terminal.types(CONTROL_C);
        let (code, shown) = terminal.end();
        let mut screen = Screen::new(100);
        screen.write(&shown);
        let text = screen.text().join("\n");
        assert_eq!(code, 130, "{text}");
        assert_eq!(text.matches("not reached: gone").count(), 1, "{text}");
        for words in left {
            assert!(text.contains(words), "{words:?}:\n{text}");
        }
        assert!(!text.contains(runs), "{text}");
    }
}

fn states_are_followed(hubs_here: &Hubs) {
    let run = hubs_here.run.as_str();
    let words = ["status", run, "-w", "--contexts"];
    let mut states = hubs_here.begin(&[&words[..], &["us,eu", "-o", "json"]].concat());
    let first = [states.document(), states.document()];
    let mut first = first.map(|state| state["hub"].as_str().unwrap().to_owned());
    first.sort_unstable();
    assert_eq!(first, ["eu", "us"]);
    states.interrupt();
    // It ends with the runs, and with what is known of the hubs.
    let mut states = hubs_here.begin(&[&words[..], &["gone,us,eu"]].concat());
    states.says("not reached: gone: ");
    let approve = ["approve", run, "--context", "eu", "--yes", "--wait=false"];
    assert_eq!(hubs_here.plugin(&approve).code, 0);
    hubs_here.delete_there(run);
    let told = states.out.by_ref().map(Result::unwrap).collect::<Vec<_>>();
    let last = told.last().unwrap();
    assert!(
        last.contains(&format!("  eu: {run}: Succeeded: ")),
        "{told:#?}"
    );
    states.says(&format!("us: ClusterStagedUpdateRun {run} was deleted"));
    assert_eq!(states.child.wait().unwrap().code(), Some(7), "{told:#?}");
}

fn hubs<'v>(list: &'v Value, field: &str) -> Vec<&'v str> {
    let items = list[field].as_array().into_iter().flatten();
    let mut hubs: Vec<_> = items.map(|item| item["hub"].as_str().unwrap()).collect();
    hubs.dedup();
    hubs
}

fn why<'v>(list: &'v Value, hub: &str) -> &'v str {
    let mut all = list["notReached"].as_array().unwrap().iter();
    let one = all.find(|one| one["hub"] == hub).unwrap();
    one["why"].as_str().unwrap()
}

#[test]
fn several_hubs_are_one_answer() {
    let Some(hubs_here) = Hubs::start("hubs") else {
        return;
    };
    beside_each_other(
        &hubs_here,
        &[
            reports_name_their_hub,
            lists_have_a_column,
            |hubs_here| one_that_does_not_answer_is_a_line(hubs_here, "--timeout"),
            |hubs_here| one_that_does_not_answer_is_a_line(hubs_here, "--request-timeout"),
            one_that_denies_a_name_is_a_line,
            several_names_are_looked_for_on_each,
            names_are_checked_before_anything_is_asked,
        ],
    );
    all_contexts_are_those_of_hubs(&hubs_here);
}

fn reports_name_their_hub(hubs_here: &Hubs) {
    let run = hubs_here.run.as_str();
    for (command, kind) in [("diagnose", "Diagnosis"), ("status", "Status")] {
        let ran = hubs_here.plugin(&[command, run, "--contexts", "prod", "-o", "json"]);
        let list = ran.json();
        assert_eq!(ran.code, 4, "{list:#} {}", ran.err);
        assert_eq!(list["kind"], format!("{kind}List"));
        assert_eq!(hubs(&list, "items"), ["eu", "us"], "{list:#}");
        assert_eq!(list["items"][0]["kind"], kind);
        assert_eq!(list["items"][0]["verdict"], "WaitingForApproval");
        let approve = format!("approve {run}-before-canary --context eu");
        assert!(ran.out.contains(&approve), "{command}: {}", ran.out);
        assert_eq!(list.get("notReached"), None);
        let text = hubs_here.plugin(&[command, run, "--contexts", "us,eu,us"]);
        let (eu, us) = (
            format!("  eu: ClusterStagedUpdateRun {run}\n"),
            "  us: Cluster",
        );
        let (eu, us) = (text.out.find(&eu), text.out.find(us));
        assert!(us.is_some() && us < eu, "{}", text.out);
        assert!(text.out.contains(&approve), "{}", text.out);
    }
    // One of them is enough where a name is looked for.
    let ran = hubs_here.plugin(&[
        "status",
        &hubs_here.only,
        "--contexts",
        "prod",
        "-o",
        "json",
    ]);
    assert_eq!(hubs(&ran.json(), "items"), ["eu"], "{}", ran.err);
    assert!(ran.err.contains("not found on us"), "{}", ran.err);
    assert_eq!(ran.code, 8, "{}", ran.err);
    let ran = hubs_here.plugin(&["status", "csur/nowhere", "--contexts", "prod"]);
    assert_eq!((ran.code, ran.out.as_str()), (6, ""), "{}", ran.err);
    assert!(ran.err.contains("hubs eu and us"), "{}", ran.err);
    let ran = hubs_here.plugin(&["doctor", "--contexts", "prod"]);
    assert!(
        ran.out.contains("Hub eu\n") && ran.out.contains("\nHub us\n"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("hub group prod: eu, us"), "{}", ran.out);
}

fn lists_have_a_column(hubs_here: &Hubs) {
    let run = hubs_here.run.as_str();
    let both = ["--contexts", "us,eu"];
    let ran = hubs_here.plugin(&[&["list", run, "-o", "json"], &both[..]].concat());
    let list = ran.json();
    assert_eq!(
        (ran.code, list["kind"].as_str()),
        (0, Some("RunList")),
        "{}",
        ran.err
    );
    assert_eq!(hubs(&list, "items"), ["us", "eu"], "{list:#}");
    let ran = hubs_here.plugin(&[&["list", run, "--sort-by", "verdict"], &both[..]].concat());
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let lines: Vec<_> = ran.out.lines().map(words).collect();
    assert_eq!(lines[0][..2], ["HUB", "NAME"], "{}", ran.out);
    let rows: Vec<_> = lines[1..].iter().map(|row| &row[..2]).collect();
    assert_eq!(rows, [["eu", run], ["us", run]], "{}", ran.out);

    let pending = ["approvals", "--pending"];
    let ran = hubs_here.plugin(&[&pending[..], &both[..], &["-o", "json"]].concat());
    let list = ran.json();
    assert_eq!(
        (ran.code, list["kind"].as_str()),
        (0, Some("ApprovalList")),
        "{}",
        ran.err
    );
    let approve = format!("approve {run}-before-canary --context eu");
    let items = list["items"].as_array().unwrap();
    let mut of_run = items.iter().filter(|item| item["run"]["name"] == run);
    let command = of_run.next().unwrap()["command"].as_str().unwrap();
    assert!(command.contains(&approve), "{list:#}");
    assert!(
        ran.err.contains("us: no pending gates in this scope"),
        "{}",
        ran.err
    );
    let ran = hubs_here.plugin(&[&["approvals", run, "-o", "wide"], &both[..]].concat());
    assert!(
        ran.out.starts_with("HUB ") && ran.out.contains("\neu "),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains(&approve) && ran.err.contains(&approve),
        "{}",
        ran.err
    );

    // A hub that denies or is gone costs nothing but its own rows.
    for command in ["list", "approvals"] {
        let names = "gone,us,denied";
        let ran = hubs_here.plugin(&[command, "--contexts", names, "-o", "json"]);
        let list = ran.json();
        assert_eq!(ran.code, 7, "{list:#} {}", ran.err);
        assert_eq!(hubs(&list, "notReached"), ["gone", "denied"], "{list:#}");
        for refused in [["-o", "name"].as_slice(), &["--watch", "--timeout=9s"]] {
            let ran = hubs_here.plugin(&[&[command, "--contexts", "eu"], refused].concat());
            assert_eq!(ran.code, 2, "{}", ran.err);
        }
    }
}

fn one_that_does_not_answer_is_a_line(hubs_here: &Hubs, flag: &str) {
    let limit = format!("{}s", LIMIT.as_secs());
    let all = ["diagnose", "--all", "-o", "json", "--contexts"];
    let names = "gone,slow,us,denied,member";
    let ran = hubs_here.plugin(&[&all[..], &[names, flag, &limit]].concat());
    let list = ran.json();
    assert_eq!(ran.code, 7, "{list:#} {}", ran.err);
    assert_eq!(hubs(&list, "items"), ["us"], "{list:#}");
    let missing = ["gone", "slow", "denied", "member"];
    assert_eq!(hubs(&list, "notReached"), missing, "{list:#}");
    assert!(why(&list, "gone").contains("cannot reach"), "{list:#}");
    assert!(why(&list, "slow").contains("no answer within"), "{list:#}");
    assert!(why(&list, "denied").contains("forbidden"), "{list:#}");
    assert!(
        why(&list, "member").contains("not a KubeFleet hub"),
        "{list:#}"
    );
    for hub in missing {
        let line = format!("warning: not reached: {hub}: ");
        assert!(ran.err.contains(&line), "{}", ran.err);
    }
    let may_i = "auth can-i list clusterstagedupdateruns.placement.kubernetes-fleet.io \
        --context denied";
    assert!(ran.err.contains(may_i), "{}", ran.err);
}

fn one_that_denies_a_name_is_a_line(hubs_here: &Hubs) {
    for command in ["diagnose", "status"] {
        let words = [command, &hubs_here.run, "-o", "json", "--contexts"];
        let ran = hubs_here.plugin(&[&words[..], &["denied,eu,gone"]].concat());
        let list = ran.json();
        assert_eq!(ran.code, 7, "{list:#} {}", ran.err);
        assert_eq!(hubs(&list, "items"), ["eu"], "{list:#}");
        assert_eq!(hubs(&list, "notReached"), ["denied", "gone"], "{list:#}");
        assert!(why(&list, "denied").contains("forbidden"), "{list:#}");
        for wanted in ["auth can-i get", "config view --minify --context gone"] {
            assert!(ran.err.contains(wanted), "{wanted}: {}", ran.err);
        }
    }
}

fn several_names_are_looked_for_on_each(hubs_here: &Hubs) {
    let (run, only) = (hubs_here.run.as_str(), hubs_here.only.as_str());
    for command in ["diagnose", "status"] {
        let ask = |names: &[&str]| {
            let more = ["--contexts", "eu,us", "-o", "json"];
            hubs_here.plugin(&[&[command], names, &more].concat())
        };
        let ran = ask(&[run, only]);
        let list = ran.json();
        assert_eq!(list["items"].as_array().unwrap().len(), 3, "{list:#}");
        let said = format!("{only} is not found on us");
        assert!(ran.err.contains(&said), "{}", ran.err);
        assert_eq!(ran.code, 4, "{}", ran.err);
        let ran = ask(&[run, only, "nowhere"]);
        assert_eq!(ran.json()["items"].as_array().unwrap().len(), 3);
        assert!(ran.err.contains("nowhere"), "{}", ran.err);
        assert_eq!(ran.code, 4, "{}", ran.err);
    }
}

fn all_contexts_are_those_of_hubs(hubs_here: &Hubs) {
    hubs_here.slow.rules(Vec::new());
    let ran = hubs_here.plugin(&["doctor", "--all-contexts", "-o", "json"]);
    let list = ran.json();
    assert_eq!(ran.code, 7, "{list:#} {}", ran.err);
    assert_eq!(
        hubs(&list, "items"),
        ["denied", "eu", "slow", "us"],
        "{list:#}"
    );
    assert_eq!(hubs(&list, "notReached"), ["gone"], "{list:#}");
    for wanted in [
        "eu-again is left out, because it leads to the same hub and user as eu",
        "not KubeFleet hubs: member",
    ] {
        assert!(ran.err.contains(wanted), "{wanted}: {}", ran.err);
    }
}

fn names_are_checked_before_anything_is_asked(hubs_here: &Hubs) {
    for (names, wanted) in [
        ("deneid", "did you mean denied?"),
        ("typo", "the hub group \"typo\" contains \"uss\""),
        (
            "eu-again",
            "both a context of the kubeconfig and a hub group",
        ),
        ("none", "is empty"),
        ("us,", "an empty name"),
    ] {
        let ran = hubs_here.plugin(&["doctor", "--contexts", names]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains(wanted), "{names}: {}", ran.err);
    }
}
