//! Looks into a member cluster: an API server of its own, in which the workload stands as a cluster
//! would have it.

use std::path::PathBuf;
use std::sync::OnceLock;

use kube::Client;
use kubectl_fleet_stage::member::MemberKind;
use serde_json::{Value, json};
use test_hub::waiting;

use crate::harness::{Harness, Ran};
use crate::scene::{ALL, Scene, one_gate, play};

/// The cluster of the stuck workload, as an API server.
struct Member {
    hub: &'static Harness,
    client: Client,
    cluster: &'static str,
}

impl Member {
    fn of(scene: &Scene) -> Self {
        let hub = scene.hub;
        let (cluster, _) = hub.broken();
        let client = hub
            .runtime
            .block_on(test_hub::client(&hub.kubeconfig, cluster))
            .unwrap();
        Self {
            hub,
            client,
            cluster,
        }
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, kube::Error> {
        let form = if method == "PATCH" {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", form)
            .body(serde_json::to_vec(body).unwrap())
            .unwrap();
        self.hub.runtime.block_on(self.client.request(request))
    }

    /// Creates an object, and its status, which the server ignores at creation.
    fn create(&self, object: &Value) -> Value {
        let path = test_hub::path_of(object, false).unwrap();
        let created = self
            .send("POST", &path, object)
            .unwrap_or_else(|error| panic!("creating {path}: {error}"));
        if object["status"].is_null() {
            return created;
        }
        let name = object["metadata"]["name"].as_str().unwrap();
        let mut status = object["status"].clone();
        if !status["observedGeneration"].is_null() {
            status["observedGeneration"] = created["metadata"]["generation"].clone();
        }
        let path = format!("{path}/{name}/status");
        self.send("PATCH", &path, &json!({"status": status}))
            .unwrap_or_else(|error| panic!("patching {path}: {error}"))
    }

    /// Serves AppliedWork, as every member of a fleet does.
    fn serve_applied_works(&self) {
        static SERVED: OnceLock<()> = OnceLock::new();
        SERVED.get_or_init(|| {
            self.create(&json!({
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": "appliedworks.placement.kubernetes-fleet.io"},
                "spec": {
                    "group": "placement.kubernetes-fleet.io",
                    "scope": "Cluster",
                    "names": {"kind": "AppliedWork", "plural": "appliedworks"},
                    "versions": [{
                        "name": "v1beta1", "served": true, "storage": true,
                        "subresources": {"status": {}},
                        "schema": {"openAPIV3Schema": {
                            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                        }},
                    }],
                },
            }));
            let path = "/apis/placement.kubernetes-fleet.io/v1beta1/appliedworks";
            let served = || self.send("GET", path, &Value::Null).is_ok();
            waiting::until_so(|| path.to_owned(), served);
        });
    }

    /// The workload as the member agent applies it, and as the cluster's controllers and kubelet
    /// would go on: its image cannot be pulled.
    fn put_workload(&self, scene: &Scene) {
        let namespace = scene.namespace.as_str();
        let owned = |owner: &Value| {
            json!([{
                "apiVersion": "apps/v1", "kind": owner["kind"], "controller": true,
                "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
            }])
        };
        let template = json!({
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]},
        });
        let spec = json!({
            "replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template,
        });
        let revision = json!({"deployment.kubernetes.io/revision": "1"});
        self.create(&json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace},
        }));
        self.serve_applied_works();
        let record = self.create(&json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "AppliedWork",
            "metadata": {"name": work(scene)},
            "spec": {
                "workName": work(scene),
                "workNamespace": format!("fleet-member-{}", self.cluster),
            },
        }));
        let owner = json!([{
            "apiVersion": record["apiVersion"], "kind": record["kind"],
            "name": record["metadata"]["name"], "uid": record["metadata"]["uid"],
            "blockOwnerDeletion": false,
        }]);
        let deployment = self.create(&json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {
                "name": "web", "namespace": namespace, "annotations": revision,
                "ownerReferences": owner,
            },
            "spec": spec,
            "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "unavailableReplicas": 1},
        }));
        let set = self.create(&json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {
                "name": "web-5d8f", "namespace": namespace, "labels": {"app": "web"},
                "annotations": revision, "ownerReferences": owned(&deployment),
            },
            "spec": spec,
            "status": {"observedGeneration": 1, "replicas": 1},
        }));
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": "web-5d8f-abcde", "namespace": namespace, "labels": {"app": "web"},
                "ownerReferences": owned(&set),
            },
            "spec": {
                "nodeName": "node-1",
                "containers": [{
                    "name": "web", "image": "registry.example/web:1",
                    "env": [{"name": "PASSWORD", "value": "hunter2"}],
                }],
            },
            "status": {
                "phase": "Pending",
                "conditions": [
                    {"type": "PodScheduled", "status": "True"},
                    {"type": "Ready", "status": "False", "reason": "ContainersNotReady",
                     "message": "containers with unready status: [web]"},
                ],
                "containerStatuses": [{
                    "name": "web", "image": "registry.example/web:1", "imageID": "", "ready": false,
                    "restartCount": 0, "started": false,
                    "state": {"waiting": {
                        "reason": "ImagePullBackOff",
                        "message": "Back-off pulling image \"registry.example/web:1\": ErrImagePull: rpc error: code = NotFound desc = failed to resolve reference \"registry.example/web:1\": registry.example/web:1: not found",
                    }},
                }],
            },
        });
        self.create(&pod);
        self.record(scene, &deployment["metadata"]["uid"]);
    }

    /// Lists the workload in the AppliedWork, as the member agent does.
    fn record(&self, scene: &Scene, uid: &Value) {
        let path = "/apis/placement.kubernetes-fleet.io/v1beta1/appliedworks";
        let path = format!("{path}/{}/status", work(scene));
        let resources = json!([{
            "ordinal": 1, "group": "apps", "version": "v1", "kind": "Deployment",
            "resource": "deployments", "namespace": scene.namespace, "name": "web", "uid": uid,
        }]);
        self.send(
            "PATCH",
            &path,
            &json!({"status": {"appliedResources": resources}}),
        )
        .unwrap_or_else(|error| panic!("patching {path}: {error}"));
    }
}

fn work(scene: &Scene) -> String {
    if scene.namespaced {
        format!("{}.{}-work", scene.namespace, scene.name)
    } else {
        format!("{}-work", scene.name)
    }
}

/// The codes of a report; those of root causes carry a `*`.
fn codes(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap();
    let code = |finding: &Value| {
        let root = if finding["rootCause"] == true {
            "*"
        } else {
            ""
        };
        format!("{}{root}", finding["code"].as_str().unwrap())
    };
    findings.iter().map(code).collect()
}

/// What was not checked: what, why and where.
fn gaps(report: &Value) -> Vec<(String, String)> {
    let gaps = report["notChecked"].as_array().unwrap().iter();
    gaps.map(|gap| {
        let text = |key: &str| gap[key].as_str().unwrap_or_default().to_owned();
        (text("what"), text("why"))
    })
    .collect()
}

/// Plays a scene whose run is stuck on the workload.
fn stuck(name: &str, scene: impl Fn(&Scene) + Sync) {
    play(name, |it| {
        it.set_stuck().run(&it.name, "Run");
        it.until_run(&it.name, "Progressing", "False", "UpdateRunStuck");
        scene(it);
    });
}

fn diagnose(scene: &Scene, more: &[&str]) -> Ran {
    scene.plugin(&["diagnose"], &scene.own_run(), more)
}

#[test]
fn a_look_into_the_cluster_finds_the_cause() {
    stuck("look", |scene| {
        let member = Member::of(scene);
        // With KubeFleet's own agents the workload is there, and nothing works on it.
        let cause = if scene.hub.is_real() {
            "FS918"
        } else {
            "FS901"
        };
        if !scene.hub.is_real() {
            member.put_workload(scene);
        }
        let without = diagnose(scene, &["-o", "json"]);
        assert_eq!(codes(&without.json()), ["FS501*"], "{}", without.out);

        let now = jiff::Timestamp::now().to_string();
        let json = ["-o", "json", "--now", &now];
        let way = format!("{0}={0}", member.cluster);
        let named = ["--member-context", &way];
        let live = diagnose(scene, &[&json[..], &named].concat());
        let report = live.json();
        let root = format!("{cause}*");
        assert_eq!(codes(&report), [root.as_str(), "FS501"], "{}", live.err);
        assert_eq!((live.code, &report["verdict"]), (5, &json!("Stuck")));
        assert_eq!(report["findings"][1]["causedBy"][0]["code"], cause);
        assert_eq!(gaps(&report), [], "{}", live.err);
        let by_name = diagnose(
            scene,
            &[&json[..], &["--member-contexts-from-kubeconfig"]].concat(),
        );
        assert_eq!(by_name.out, live.out);

        // The same from a file that was collected with a look, in which no secret is.
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bundle.yaml");
        let path = file.to_str().unwrap();
        let collected = scene.plugin(
            &["collect"],
            &scene.own_run(),
            &[&["--output-file", path], &named[..]].concat(),
        );
        assert_eq!(collected.code, 0, "{}", collected.err);
        let offline = diagnose(scene, &[&json[..], &["-f", path]].concat());
        assert!(
            live.out == offline.out,
            "live and from a bundle:\n{}",
            offline.out
        );
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("kind: MemberObjects") && !text.contains("hunter2"));
        assert_eq!(crate::published::wrong_in_bundle(&text), [""; 0]);

        // In text, the commands take the context that was given.
        let shown = diagnose(scene, &named);
        assert!(
            shown
                .out
                .contains(&format!("kubectl --context {}", member.cluster)),
            "{}",
            shown.out
        );
    });
}

/// What the decision record says that a look needs is enough.
#[test]
fn a_look_needs_no_more_than_is_written() {
    let user = "user-124";
    if Harness::get().is_some_and(|hub| !hub.has_our_users()) {
        return;
    }
    stuck("reader", |scene| {
        let member = Member::of(scene);
        member.put_workload(scene);
        let rules: Vec<_> = MemberKind::ALL
            .iter()
            .map(|kind| {
                json!({"apiGroups": [kind.group()], "resources": [kind.plural()], "verbs": [kind.verb()]})
            })
            .collect();
        let name = format!("looks-{}", scene.namespace);
        let role =
            json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
        member.create(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name}, "rules": rules,
        }));
        member.create(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": name}, "roleRef": role,
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        }));
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = kubeconfig(scene, folder.path(), user);
        let way = format!("{}=user", member.cluster);
        let more = ["--member-context", &way, "-o", "json"];
        let run = scene.own_run();
        let arguments = [&["diagnose"], &scene.named(&run)[..], &more].concat();
        // The server learns of roles a moment later.
        let report = waiting::until(
            || "nothing is missing".to_owned(),
            || {
                let report = scene.hub.plugin_as(&kubeconfig, &arguments).json();
                gaps(&report).is_empty().then_some(report)
            },
        );
        assert_eq!(codes(&report), ["FS901*", "FS501"], "{report:#}");
    });
}

/// A kubeconfig with the hub's context and others for the member.
fn kubeconfig(scene: &Scene, folder: &std::path::Path, user: &str) -> PathBuf {
    let (cluster, _) = scene.hub.broken();
    let read = std::fs::read_to_string(&scene.hub.kubeconfig).unwrap();
    let mut config: Value = serde_json::from_str(&read)
        .or_else(|_| serde_saphyr::from_str(&read))
        .unwrap();
    let token = test_hub::TestHub::token_of(user);
    let add = |config: &mut Value, list: &str, entry: Value| {
        config[list].as_array_mut().unwrap().push(entry);
    };
    add(
        &mut config,
        "users",
        json!({"name": "user", "user": {"token": token}}),
    );
    add(
        &mut config,
        "users",
        json!({"name": "stranger", "user": {"token": "x"}}),
    );
    add(
        &mut config,
        "clusters",
        json!({
            "name": "away", "cluster": {"server": "https://127.0.0.1:1"},
        }),
    );
    for (name, cluster, user) in [
        ("user", cluster, "user"),
        ("no-login", cluster, "stranger"),
        ("away", "away", "user"),
    ] {
        let context = json!({"cluster": cluster, "user": user});
        add(
            &mut config,
            "contexts",
            json!({"name": name, "context": context}),
        );
    }
    let path = folder.join("kubeconfig");
    std::fs::write(&path, config.to_string()).unwrap();
    path
}

#[test]
fn a_look_that_fails_claims_nothing() {
    if Harness::get().is_some_and(|hub| !hub.has_our_users()) {
        return;
    }
    stuck("blind", |scene| {
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = kubeconfig(scene, folder.path(), "user-125");
        let (cluster, _) = scene.hub.broken();
        let run = scene.own_run();
        let look = |context: &str, output: &str| {
            let way = format!("{cluster}={context}");
            let more = ["--member-context", &way, "-o", output];
            let arguments = [&["diagnose"], &scene.named(&run)[..], &more].concat();
            scene.hub.plugin_as(&kubeconfig, &arguments)
        };
        // (what is not checked, why)
        for (context, what, why) in [
            ("user", "Deployment", "forbidden: "),
            (
                "no-login",
                "objects in the member cluster",
                "rejected the credentials",
            ),
            ("away", "objects in the member cluster", "cannot be reached"),
            (
                "hub",
                "objects in the member cluster",
                "the context belongs to another cluster than",
            ),
        ] {
            let ran = look(context, "json");
            let report = ran.json();
            assert_eq!(codes(&report), ["FS501*"], "{context}: {}", ran.out);
            assert_eq!(ran.code, 5, "{context}");
            let gaps = gaps(&report);
            assert!(
                gaps.iter()
                    .any(|(kind, text)| kind == what && text.contains(why)),
                "{context}: {gaps:?}"
            );
        }
        let ran = look("uesr", "text");
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("did you mean user?"), "{}", ran.err);

        let more = ["--member-context", "broken-2=user"];
        let arguments = [&["diagnose"], &scene.named(&run)[..], &more].concat();
        let ran = scene.hub.plugin_as(&kubeconfig, &arguments);
        assert_eq!(ran.code, 5, "{}", ran.err);
        assert!(
            ran.err
                .contains("is not a member cluster of this fleet; did you mean broken-1?"),
            "{}",
            ran.err
        );
    });
}

/// What `trace` says of the workload of a scene.
fn trace(scene: &Scene, kubeconfig: &std::path::Path, more: &[&str]) -> Ran {
    let settings = "off".as_ref();
    trace_with(scene, (kubeconfig, settings), more)
}

fn trace_with(
    scene: &Scene,
    (kubeconfig, settings): (&std::path::Path, &std::path::Path),
    more: &[&str],
) -> Ran {
    let object = ["trace", "deploy/web", "-n", &scene.namespace, "-o", "json"];
    let hub = ["--context", "hub"];
    let words = [&object[..], more, &hub].concat();
    scene.hub.plugin_with(kubeconfig, settings, &words)
}

#[test]
fn a_trace_starts_from_the_member_cluster() {
    if Harness::get().is_some_and(Harness::is_real) {
        return;
    }
    stuck("traced", |scene| {
        let member = Member::of(scene);
        member.put_workload(scene);
        let hub = &scene.hub.kubeconfig;
        let by_context = ["--member-context", member.cluster];
        let ran = trace(scene, hub, &by_context);
        let seen = ran.json();
        assert_eq!((ran.code, &seen["cluster"]), (0, &json!(member.cluster)));
        let there = &seen["inMember"];
        assert_eq!(there["exists"], true, "{there:#}");
        assert_eq!(there["appliedWorks"][0]["appliedWork"], work(scene));
        let owner = &there["objects"][0]["owners"][0];
        assert_eq!(
            (&owner["kind"], &owner["name"]),
            (&json!("AppliedWork"), &json!(work(scene)))
        );
        let found = &seen["found"][0];
        assert_eq!(found["work"]["name"], work(scene));
        assert_eq!(found["rollout"]["run"]["name"], scene.name);
        assert!(seen["notChecked"].is_null(), "{seen:#}");
        assert_eq!(there["differences"], json!([]), "{there:#}");

        // The settings lead there too.
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("settings.yaml");
        let head = "apiVersion: kubectl-fleet-stage/v1\nkind: Settings\n";
        let text = format!("{head}memberContexts: {{{0}: {0}}}\n", member.cluster);
        std::fs::write(&settings, text).unwrap();
        let named = ["--member", member.cluster];
        let usual = trace_with(scene, (hub, &settings), &named);
        assert_eq!(usual.json(), seen, "{}", usual.err);
        // Without a context, the hub alone is read.
        assert!(trace(scene, hub, &named).json()["inMember"].is_null());

        // Somebody deletes it: the hub does not know yet.
        let path = format!(
            "/apis/apps/v1/namespaces/{}/deployments/web",
            scene.namespace
        );
        member.send("DELETE", &path, &json!({})).unwrap();
        let ran = trace(scene, hub, &by_context);
        let there = &ran.json()["inMember"];
        assert_eq!((ran.code, &there["exists"]), (0, &json!(false)));
        let object = format!("Deployment {}/web", scene.namespace);
        let name = work(scene);
        assert_eq!(
            there["differences"],
            json!([
                format!("AppliedWork {name} lists {object}, but the cluster does not have it"),
                format!(
                    "Work {name} reports {object} as applied, but the cluster does not have it"
                ),
            ])
        );

        // An object that no Work has, and that no AppliedWork lists.
        let words = ["trace", "ns/default", "--context", "hub", "-o", "json"];
        let words = [&words[..], &by_context].concat();
        let ran = scene.hub.plugin_with(hub, "off".as_ref(), &words);
        let there = &ran.json()["inMember"];
        assert_eq!(
            (ran.code, &there["exists"]),
            (6, &json!(true)),
            "{}",
            ran.err
        );
        assert_eq!(there["appliedWorks"], json!([]));
        assert_eq!(there["differences"], json!([]));
    });
}

#[test]
fn a_trace_that_cannot_look_says_so() {
    if Harness::get().is_some_and(|hub| !hub.has_our_users()) {
        return;
    }
    stuck("traceless", |scene| {
        let member = Member::of(scene);
        member.put_workload(scene);
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = kubeconfig(scene, folder.path(), "user-119");
        for (context, what, why) in [
            ("user", "AppliedWork", "forbidden: "),
            ("user", "Deployment", "forbidden: "),
            ("no-login", "objects in the member cluster", "credentials"),
            ("away", "objects in the member cluster", "cannot be reached"),
            ("hub", "objects in the member cluster", "does not lead to"),
        ] {
            let ran = trace(
                scene,
                &kubeconfig,
                &["--member", member.cluster, "--member-context", context],
            );
            assert_eq!(ran.code, 0, "{context}: {}", ran.err);
            let seen = ran.json();
            let gaps = gaps(&seen);
            assert!(
                gaps.iter()
                    .any(|(kind, text)| kind == what && text.contains(why)),
                "{context}: {gaps:?}"
            );
            let there = &seen["inMember"];
            assert!(
                there.is_null() || there["differences"] == json!([]),
                "{there:#}"
            );
            assert!(there["exists"].is_null(), "{there:#}");
        }
        // Nothing says which member it is.
        let ran = trace(scene, &kubeconfig, &["--member-context", "user"]);
        assert_eq!((ran.code, ran.out.as_str()), (7, ""), "{}", ran.err);
        assert!(
            ran.err
                .contains("the member cluster of context user is unknown"),
            "{}",
            ran.err
        );
        let ran = trace(scene, &kubeconfig, &["--member-context", "uesr"]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("did you mean user?"), "{}", ran.err);
    });
}

/// However many overrides a cluster has. What is served is remembered between calls.
#[test]
fn a_trace_is_six_requests() {
    if Harness::get().is_some_and(Harness::is_real) {
        return;
    }
    play("few", |scene| {
        scene.set(&one_gate(), &ALL[..2]);
        scene.run_to_gate(&scene.name);
        let names: Vec<_> = (0..2)
            .map(|number| format!("{}-few-{number}", scene.namespace))
            .collect();
        for name in &names {
            scene.hub.create(&json!({
                "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
                "kind": "ClusterResourceOverrideSnapshot",
                "metadata": {"name": name},
                "spec": {"overrideHash": "aGFzaA==", "overrideSpec": {
                    "clusterResourceSelectors": [
                        {"group": "", "version": "v1", "kind": "Namespace", "name": scene.namespace}],
                    "policy": {"overrideRules": [{
                        "clusterSelector": {"clusterSelectorTerms": [
                            {"labelSelector": {"matchLabels": {"environment": "staging"}}}]},
                        "jsonPatchOverrides": [
                            {"op": "add", "path": "/metadata/labels/few", "value": "x"}]}]}}},
            }));
        }
        let (path, _) = scene.a_binding("member-1");
        let spec = json!({"clusterResourceOverrideSnapshots": names});
        scene.hub.patch(&path, &json!({"spec": spec}));
        let proxy = scene.hub.proxy();
        for (object, code) in [("configmap/app", 0), ("configmap/none", 6)] {
            proxy.clear().unwrap();
            let words = [
                "trace",
                object,
                "-n",
                &scene.namespace,
                "--member",
                "member-1",
            ];
            let ran = scene.hub.plugin_as(&proxy.kubeconfig(), &words);
            assert_eq!(ran.code, code, "{}", ran.err);
            let seen = proxy.requests().into_iter().map(|seen| seen.target);
            let asked: Vec<_> = seen
                .filter(|path| path != "/api" && path != "/apis")
                .collect();
            assert!(asked.len() <= 6, "{object}: {asked:#?}");
            let of = |word: &str| asked.iter().filter(|path| path.contains(word)).count();
            if code == 0 {
                assert_eq!(of("overridesnapshots"), 1, "{asked:#?}");
                assert_eq!(of("approvalrequests"), 1, "{asked:#?}");
                assert_eq!(asked.len(), 6, "{asked:#?}");
            }
        }
    });
}
