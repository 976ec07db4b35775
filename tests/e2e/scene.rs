//! One placement with its strategy and runs, under names of its own.

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};
use test_hub::fleet::{self, Placement, Run, Stage, config_map, deployment};
use test_hub::standin::Scope;
use test_hub::{FaultProxy, waiting};

use crate::harness::{Did, Harness, MEMBERS, Ran};

const GROUP: &str = "placement.kubernetes-fleet.io";

/// The clusters of [`MEMBERS`].
pub const ALL: [&str; 3] = [MEMBERS[0].0, MEMBERS[1].0, MEMBERS[2].0];

pub const BEFORE: &str = "beforeStageTasks";
pub const AFTER: &str = "afterStageTasks";

/// How far ahead a hub's clock is for the snapshot of a change to be due: it comes 30 s after the last one
/// by default, and commands wait for 5 s at least.
const DUE: Duration = Duration::from_secs(26);

/// A placement with its strategy and runs, all named after the scene.
pub struct Scene {
    pub hub: &'static Harness,
    pub name: String,
    pub namespace: String,
    pub namespaced: bool,
    /// What its commands go through, where the hub's clock is to be ahead.
    ahead: OnceLock<FaultProxy>,
}

/// The scenes of both scopes; none when there is no hub.
pub fn both(name: &str) -> Vec<Scene> {
    let Some(hub) = Harness::get() else {
        return Vec::new();
    };
    // A hub that lives longer than a test has seen this scene before.
    let suffix = if hub.is_real() {
        let id = std::process::id();
        format!("-{id}")
    } else {
        String::new()
    };
    let scopes = [false, true].into_iter();
    scopes
        .filter(|namespaced| !namespaced || !hub.served().is_alpha())
        .map(|namespaced| {
            let namespace = format!("e2e-{name}-{}{suffix}", if namespaced { "n" } else { "c" });
            Scene {
                hub,
                name: format!("e2e-{name}{suffix}"),
                namespace,
                namespaced,
                ahead: OnceLock::new(),
            }
        })
        .collect()
}

/// The scene in cluster scope; none when there is no hub.
pub fn cluster_scoped(name: &str) -> Option<Scene> {
    both(name).into_iter().find(|scene| !scene.namespaced)
}

/// Plays a scene in both scopes at once: most of the time is spent with waiting.
pub fn play(name: &str, scene: impl Fn(&Scene) + Sync) {
    let scenes = both(name);
    std::thread::scope(|scope| {
        for one in &scenes {
            scope.spawn(|| scene(one));
        }
    });
}

/// A stage of clusters of one environment.
pub fn stage(name: &str, environment: &str) -> Value {
    Stage::new(name).matching("environment", environment).into()
}

/// A stage for each environment.
pub fn three_stages() -> Vec<Value> {
    MEMBERS
        .iter()
        .map(|(_, environment)| stage(environment, environment))
        .collect()
}

/// Three stages with an approval at these places.
pub fn gated(gates: &[(usize, &str)]) -> Vec<Value> {
    let mut stages = three_stages();
    for (place, key) in gates {
        stages[*place][*key] = json!([{"type": "Approval"}]);
    }
    stages
}

/// Three stages with an approval before the second.
pub fn one_gate() -> Vec<Value> {
    gated(&[(1, BEFORE)])
}

impl Scene {
    fn kind(&self, cluster: &'static str, namespaced: &'static str) -> &'static str {
        if self.namespaced { namespaced } else { cluster }
    }

    fn scope(&self) -> Scope {
        Scope::of(if self.namespaced { &self.namespace } else { "" })
    }

    fn path(&self, version: &str, plural: &str, name: &str) -> String {
        let name = if name.is_empty() {
            String::new()
        } else {
            format!("/{name}")
        };
        if self.namespaced {
            format!(
                "/apis/{GROUP}/{version}/namespaces/{}/{plural}{name}",
                self.namespace
            )
        } else {
            format!("/apis/{GROUP}/{version}/{plural}{name}")
        }
    }

    /// The path of an object of staged update runs, of which a hub may serve other versions.
    fn staged_path(&self, plural: &str, name: &str) -> String {
        self.path(&self.hub.served().version, plural, name)
    }

    pub fn run_path(&self, name: &str) -> String {
        self.staged_path(
            self.kind("clusterstagedupdateruns", "stagedupdateruns"),
            name,
        )
    }

    pub fn request_path(&self, name: &str) -> String {
        self.staged_path(
            self.kind("clusterapprovalrequests", "approvalrequests"),
            name,
        )
    }

    pub fn strategy_path(&self) -> String {
        let plural = self.kind("clusterstagedupdatestrategies", "stagedupdatestrategies");
        self.staged_path(plural, &self.name)
    }

    /// The placement as a word of a command.
    pub fn placement_word(&self) -> String {
        format!("{}/{}", self.kind("crp", "rp"), self.name)
    }

    /// The run that has the scene's name, as a word of a command.
    pub fn own_run(&self) -> String {
        format!("{}/{}", self.kind("csur", "sur"), self.name)
    }

    pub fn placement_path(&self) -> String {
        let plural = self.kind("clusterresourceplacements", "resourceplacements");
        self.path("v1beta1", plural, &self.name)
    }

    /// The path of the placement's binding to a cluster, and the binding.
    pub fn a_binding(&self, cluster: &str) -> (String, Value) {
        let plural = self.kind("clusterresourcebindings", "resourcebindings");
        let all = self.path("v1beta1", plural, "");
        let list = self.hub.read(&all).unwrap();
        let mut items = list["items"].as_array().unwrap().iter();
        let binding = items.find(|binding| {
            let labels = &binding["metadata"]["labels"];
            binding["spec"]["targetCluster"] == cluster
                && labels["kubernetes-fleet.io/parent-CRP"] == self.name.as_str()
        });
        let binding = binding.unwrap().clone();
        let name = binding["metadata"]["name"].as_str().unwrap();
        (self.path("v1beta1", plural, name), binding)
    }

    fn snapshots_path(&self) -> String {
        let plural = self.kind("clusterresourcesnapshots", "resourcesnapshots");
        self.path("v1beta1", plural, "")
    }

    /// Deletes a snapshot.
    pub fn forget_snapshot(&self, index: &str) {
        let snapshots = self.snapshots_path();
        let name = format!("{}-{index}-snapshot", self.name);
        self.hub.delete(&format!("{snapshots}/{name}"));
    }

    /// An approval request of a run that is no longer there.
    pub fn leave_request(&self, request: &str, run: &str, stage: &str) {
        let mut metadata = json!({
            "name": request,
            "labels": {"kubernetes-fleet.io/targetUpdateRun": run},
        });
        if self.namespaced {
            metadata["namespace"] = json!(self.namespace);
        }
        self.hub.create(&json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": self.kind("ClusterApprovalRequest", "ApprovalRequest"),
            "metadata": metadata,
            "spec": {"parentStageRollout": run, "targetStage": stage},
        }));
    }

    /// The namespace with its content, the strategy, and the placement, scheduled.
    pub fn set(&self, stages: &[Value], clusters: &[&str]) -> &Self {
        self.content("1");
        self.strategy(stages);
        self.placement(&json!({"type": "External"}), clusters);
        self
    }

    /// Lets the second in which the placement was created pass: times are whole seconds, and of what
    /// happened in one nobody can say what came first.
    pub fn pass_a_second(&self) -> &Self {
        waiting::pass(Duration::from_secs(1));
        self
    }

    /// Lets the seconds pass in which a run was initialized: it could not be told from one that came
    /// first after a change of the content.
    pub fn pass_a_look() {
        waiting::pass(Duration::from_secs(3));
    }

    /// From now on the scene's commands wait no longer than they must for the snapshot of a change: the
    /// stand-in makes it earlier than KubeFleet, whose delays they know. Its own agents keep to these.
    pub fn snapshots_are_due(&self) {
        if !self.hub.is_real() {
            let proxy = self.ahead.get_or_init(|| self.hub.proxy());
            proxy.ahead(DUE);
        }
    }

    /// A proxy in front of the hub, with the clock by which the scene's commands go.
    pub fn proxy(&self) -> FaultProxy {
        let proxy = self.hub.proxy();
        if self.ahead.get().is_some() {
            proxy.ahead(DUE);
        }
        proxy
    }

    /// Like [`Self::set`], with a workload that does not become available on the broken cluster.
    pub fn set_stuck(&self) -> &Self {
        let (cluster, environment) = self.hub.broken();
        self.content("1");
        self.hub.create(&deployment(
            &self.namespace,
            "web",
            "registry.example/web:1",
        ));
        self.strategy(&[stage("first", environment)]);
        self.placement(&json!({"type": "External"}), &[cluster]);
        self
    }

    /// Writes the content: a ConfigMap of a version, in a namespace of its own.
    pub fn content(&self, version: &str) {
        let path = format!("/api/v1/namespaces/{}/configmaps/app", self.namespace);
        if self.hub.read(&path).is_some() {
            self.hub
                .patch(&path, &json!({"data": {"version": version}}));
            return;
        }
        self.hub.create(&fleet::namespace(&self.namespace));
        self.member_namespaces();
        let data = [("version", version)];
        self.hub.create(&config_map(&self.namespace, "app", &data));
    }

    /// A namespaced placement does not bring its namespace.
    fn member_namespaces(&self) {
        if !self.namespaced || !self.hub.is_real() {
            return;
        }
        for (member, _) in MEMBERS {
            let namespace = fleet::namespace(&self.namespace);
            let request = http::Request::post("/api/v1/namespaces")
                .header("content-type", "application/json")
                .body(serde_json::to_vec(&namespace).unwrap())
                .unwrap();
            self.hub.runtime.block_on(async {
                let client = test_hub::client(&self.hub.kubeconfig, member)
                    .await
                    .unwrap();
                client.request::<Value>(request).await.unwrap();
            });
        }
    }

    pub fn strategy(&self, stages: &[Value]) {
        self.strategy_named(&self.name, stages);
    }

    /// The same with another name.
    pub fn strategy_named(&self, name: &str, stages: &[Value]) {
        let stages = stages.iter().cloned();
        self.hub
            .create(&fleet::strategy(&self.scope(), name, stages));
    }

    pub fn placement(&self, strategy: &Value, clusters: &[&str]) {
        let policy = json!({"placementType": "PickFixed", "clusterNames": clusters});
        let mut placement = Placement::new(&self.scope(), &self.name)
            .policy(policy)
            .strategy(strategy.clone())
            .build();
        if !self.namespaced {
            placement["spec"]["resourceSelectors"][0]["name"] = json!(self.namespace);
        }
        self.hub.create(&placement);
        let kind = if self.namespaced {
            "ResourcePlacementScheduled"
        } else {
            "ClusterResourcePlacementScheduled"
        };
        self.until(&self.placement_path(), "scheduled", |placement| {
            has(placement, kind, "True")
        });
        if !self.hub.served().obeys_state {
            // There the first run does not make the first snapshot.
            self.until_latest(Option::is_some);
        }
    }

    /// Creates a run.
    pub fn run(&self, name: &str, state: &str) -> Value {
        self.run_of(name, state, &json!({}))
    }

    /// Creates a run, and waits until it waits for an approval.
    pub fn run_to_gate(&self, name: &str) -> Value {
        self.run(name, "Run");
        self.until_waiting(name)
    }

    /// Creates a run that does not start, and waits until it could.
    pub fn run_to_start(&self, name: &str) -> Value {
        self.run(name, "Initialize");
        self.until_run(name, "Initialized", "True", "")
    }

    /// Creates a run with more in its spec.
    pub fn run_of(&self, name: &str, state: &str, more: &Value) -> Value {
        let served = self.hub.served();
        let run = Run::new(&self.scope(), name, &self.name, &self.name).state(state);
        let run = if served.obeys_state {
            run
        } else {
            run.stateless()
        };
        let run = match self.latest() {
            Some(index) if served.is_alpha() => run.snapshot(&index),
            _ => run,
        };
        let mut run = run.build();
        for (key, value) in more.as_object().unwrap() {
            run["spec"][key] = value.clone();
        }
        self.hub.create(&run)
    }

    /// Waits until a run has a condition.
    pub fn until_run(&self, name: &str, condition: &str, status: &str, reason: &str) -> Value {
        let what = format!("{condition}={status} {reason}");
        self.until(&self.run_path(name), &what, |run| {
            conditions(run).any(|found| {
                found["type"] == condition
                    && found["status"] == status
                    && (reason.is_empty() || found["reason"] == reason)
            })
        })
    }

    /// Waits until a run waits for an approval.
    pub fn until_waiting(&self, name: &str) -> Value {
        self.until_run(name, "Progressing", "False", "UpdateRunWaiting")
    }

    /// Approves the gate before the second stage of a run, which ends with it.
    pub fn let_through(&self, name: &str) {
        self.approve(&format!("{name}-before-canary"), "True", true);
        self.until_run(name, "Succeeded", "True", "");
    }

    /// Waits until an object is gone, or is another than the one with this uid.
    pub fn until_gone(&self, path: &str, uid: &Value) {
        let is_other = |object: &Value| !uid.is_null() && object["metadata"]["uid"] != *uid;
        let gone = || self.hub.read(path).as_ref().is_none_or(is_other);
        waiting::until_so(|| format!("{path} is gone"), gone);
    }

    /// Waits until an object is as it should be.
    pub fn until(&self, path: &str, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        let look = || self.hub.read(path).filter(&is);
        let status = || {
            self.hub
                .read(path)
                .map(|mut object| object["status"].take())
        };
        waiting::until(|| format!("{path} is {what}: {:#}", json!(status())), look)
    }

    /// Sets the condition of an approval, with the generation or without.
    pub fn approve(&self, request: &str, status: &str, numbered: bool) {
        let path = self.request_path(request);
        let object = self.until(&path, "there", |_| true);
        let mut condition = json!({
            "type": "Approved", "status": status, "reason": "Reviewed",
            "message": "reviewed by the release team",
            "lastTransitionTime": jiff::Timestamp::now().strftime("%FT%TZ").to_string(),
        });
        if numbered {
            condition["observedGeneration"] = object["metadata"]["generation"].clone();
        }
        self.hub.patch(
            &format!("{path}/status"),
            &json!({"status": {"conditions": [condition]}}),
        );
    }

    /// Changes the content, and waits until the hub has a snapshot of it, which only a run makes it
    /// look for.
    pub fn new_content(&self, version: &str) {
        Self::pass_a_look();
        let before = self.latest();
        self.content(version);
        if !self.hub.served().obeys_state {
            self.until_latest(|index| index.is_some() && *index != before);
            return;
        }
        for attempt in 0.. {
            assert!(attempt < 100, "no new snapshot of {}", self.name);
            let probe = format!("{}-probe-{attempt}", self.name);
            self.run_to_start(&probe);
            self.hub.delete(&self.run_path(&probe));
            if self.latest() != before {
                return;
            }
            let pause = if self.hub.is_real() { 10_000 } else { 400 };
            waiting::pass(Duration::from_millis(pause));
        }
    }

    fn until_latest(&self, is: impl Fn(&Option<String>) -> bool) {
        let what = || format!("a snapshot of {}", self.name);
        waiting::until_so(what, || is(&self.latest()));
    }

    /// The index of the latest snapshot.
    fn latest(&self) -> Option<String> {
        let list = self.hub.read(&self.snapshots_path())?;
        list["items"].as_array()?.iter().find_map(|snapshot| {
            let labels = &snapshot["metadata"]["labels"];
            let own = labels["kubernetes-fleet.io/parent-CRP"] == self.name.as_str();
            let latest = labels["kubernetes-fleet.io/is-latest-snapshot"] == "true";
            let index = labels["kubernetes-fleet.io/resource-index"].as_str()?;
            (own && latest).then(|| index.to_owned())
        })
    }

    /// The flags that name an object of the scene.
    pub fn named<'s>(&'s self, name: &'s str) -> Vec<&'s str> {
        if self.namespaced {
            vec![name, "-n", &self.namespace]
        } else {
            vec![name]
        }
    }

    /// Runs a command in the scene's scope: the first word is the command, the rest are its
    /// arguments.
    pub fn does(&self, words: &[&str]) -> Did {
        let mut arguments = words.to_vec();
        if self.namespaced {
            arguments.extend(["-n", &self.namespace]);
        }
        let ran = match self.ahead.get() {
            Some(proxy) => self.hub.plugin_as(&proxy.kubeconfig(), &arguments),
            None => self.hub.plugin(&arguments),
        };
        Did {
            command: arguments.join(" "),
            ran,
        }
    }

    /// The same with a command as it is typed; none of its words has a space.
    pub fn types(&self, line: &str) -> Did {
        self.does(&line.split(' ').collect::<Vec<_>>())
    }

    /// The flags that name the scene's placement and strategy.
    pub fn of(&self) -> [&str; 4] {
        ["--placement", &self.name, "--strategy", &self.name]
    }

    /// Runs the plugin on an object of the scene.
    pub fn plugin(&self, command: &[&str], name: &str, more: &[&str]) -> Ran {
        let arguments = [command, &self.named(name), more].concat();
        self.hub.plugin(&arguments)
    }

    /// Checks what every command says of a run that stays as it is for a moment: the verdict, the
    /// exit code and the codes of `diagnose`, the same from a bundle, and the same verdict
    /// everywhere else. The codes of root causes carry a `*`.
    pub fn check(&self, name: &str, verdict: &str, code: i32, findings: &[&str]) {
        let word = format!("{}/{name}", self.kind("csur", "sur"));
        let now = jiff::Timestamp::now().to_string();
        let json = ["-o", "json", "--now", &now];
        let live = self.plugin(&["diagnose"], &word, &json);
        let report = live.json();
        let shown: Vec<_> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| {
                let root = if finding["rootCause"] == true {
                    "*"
                } else {
                    ""
                };
                format!("{}{root}", finding["code"].as_str().unwrap())
            })
            .collect();
        let scope = if self.namespaced {
            "namespaced"
        } else {
            "cluster"
        };
        assert_eq!(
            (report["verdict"].as_str().unwrap(), live.code, shown),
            (
                verdict,
                code,
                findings.iter().map(ToString::to_string).collect::<Vec<_>>()
            ),
            "{word} ({scope}): {}",
            report["summary"]
        );
        assert!(
            report["notChecked"].as_array().unwrap().is_empty(),
            "{word}: {}",
            report["notChecked"]
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bundle.yaml.gz");
        let file = file.to_str().unwrap();
        let collected = self.plugin(&["collect"], &word, &["--output-file", file]);
        assert_eq!(collected.code, 0, "{}", collected.err);
        let offline = self.plugin(&["diagnose"], &word, &[&["-f", file], &json[..]].concat());
        assert_eq!(live.out, offline.out, "{word}: live and from a bundle");
        assert_eq!(live.code, offline.code);
    }
}

impl Drop for Scene {
    /// What is over need not be listed by all that follow.
    fn drop(&mut self) {
        if self.hub.is_real() {
            return;
        }
        let runs = self.hub.read(&self.run_path("")).unwrap_or_default();
        for run in runs["items"].as_array().into_iter().flatten() {
            if run["spec"]["placementName"] == self.name.as_str() {
                let name = run["metadata"]["name"].as_str().unwrap_or_default();
                self.hub.forget(&self.run_path(name));
            }
        }
        self.hub.forget(&self.placement_path());
    }
}

fn conditions(object: &Value) -> impl Iterator<Item = &Value> {
    object["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
}

/// The condition of a type.
pub fn condition<'v>(object: &'v Value, kind: &str) -> &'v Value {
    conditions(object)
        .find(|condition| condition["type"] == kind)
        .unwrap_or(&Value::Null)
}

/// Whether an object has a condition of that type and status.
pub fn has(object: &Value, condition: &str, status: &str) -> bool {
    conditions(object).any(|found| found["type"] == condition && found["status"] == status)
}
