//! Several hubs at once: two that answer, and one each that is slow, is gone, denies, and is no hub.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_hub::fleet::{Fleet, Run};
use test_hub::standin::Scope;
use test_hub::{Crds, Fault, FaultProxy, Options, Rule, TestHub};

use crate::harness::{MEMBERS, Ran};
use crate::scene::{Scene, both, three_stages};

/// A user of the hub who may do nothing.
const NOBODY: &str = "user-128";
/// How long a hub may take.
const LIMIT: Duration = Duration::from_secs(3);
/// What a command may take beside that on a busy machine.
const SLACK: Duration = Duration::from_secs(8);

/// The contexts of one kubeconfig.
struct Hubs {
    scene: Scene,
    /// A run that waits on the first hub, and whose namesake on the other never began.
    run: String,
    /// A run that only the first hub has.
    only: String,
    folder: tempfile::TempDir,
    slow: FaultProxy,
    // The second hub ends with this.
    other: TestHub,
}

impl Hubs {
    fn start() -> Option<Self> {
        let scene = both("hubs").into_iter().find(|scene| !scene.namespaced)?;
        let (hub, _) = scene.hub.own.as_ref()?;
        let runtime = &scene.hub.runtime;
        let other = runtime
            .block_on(async {
                let other = TestHub::start(&Options::default()).await?;
                other.install(&Crds::from_environment()).await?;
                Ok::<_, test_hub::Error>(other)
            })
            .unwrap();
        let mut stages = three_stages();
        stages[1]["beforeStageTasks"] = json!([{"type": "Approval"}]);
        scene.set(&stages, &MEMBERS.map(|(name, _)| name));
        let name = format!("{}-1", scene.name);
        scene.run(&name, "Run");
        scene.until_run(&name, "Progressing", "False", "UpdateRunWaiting");
        let only = format!("{}-only", scene.name);
        scene.run(&only, "Initialize");
        let run = Run::new(&Scope::Cluster, &name, &scene.name, &scene.name);
        runtime.block_on(async {
            let fleet = Fleet::new(other.client().await.unwrap()).discover().await;
            fleet
                .create(&run.state("Initialize").build())
                .await
                .unwrap();
        });
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
        Some(this)
    }

    fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    fn settings(&self) -> PathBuf {
        self.folder.path().join("settings.yaml")
    }

    fn plugin(&self, arguments: &[&str]) -> Ran {
        let hub = self.scene.hub;
        hub.plugin_with(&self.kubeconfig(), &self.settings(), arguments)
    }
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
    let Some(hubs_here) = Hubs::start() else {
        return;
    };
    reports_name_their_hub(&hubs_here);
    lists_have_a_column(&hubs_here);
    one_that_does_not_answer_is_a_line(&hubs_here);
    one_that_denies_a_name_is_a_line(&hubs_here);
    several_names_are_looked_for_on_each(&hubs_here);
    all_contexts_are_those_of_hubs(&hubs_here);
    names_are_checked_before_anything_is_asked(&hubs_here);
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
    let mut of_run = items.iter().filter(|item| item["run"] == run);
    let command = of_run.next().unwrap()["command"].as_str().unwrap();
    assert!(command.ends_with(&approve), "{list:#}");
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
        for refused in [["-o", "name"].as_slice(), &["--watch"]] {
            let ran = hubs_here.plugin(&[&[command, "--contexts", "eu"], refused].concat());
            assert_eq!(ran.code, 2, "{}", ran.err);
        }
    }
}

fn one_that_does_not_answer_is_a_line(hubs_here: &Hubs) {
    let limit = format!("{}s", LIMIT.as_secs());
    for flag in ["--timeout", "--request-timeout"] {
        let begun = Instant::now();
        let all = ["diagnose", "--all", "-o", "json", "--contexts"];
        let names = "gone,slow,us,denied,member";
        let ran = hubs_here.plugin(&[&all[..], &[names, flag, &limit]].concat());
        let took = begun.elapsed();
        assert!(took < LIMIT + SLACK, "{flag}: {took:?}");
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
