//! What a plan says, and what the hub then makes of the run.

use serde_json::{Value, json};
use test_hub::waiting;

use crate::gates::side;
use crate::harness::{Harness, Ran};
use crate::scene::{ALL, Scene, both, one_gate, play, stage, three_stages};

fn planned(scene: &Scene, run: &str, more: &[&str]) -> Ran {
    let run = ["--run", run, "-o", "json"];
    let words = [&["plan"], &scene.of()[..], &run, more].concat();
    scene.does(&words).ran
}

fn names(list: &Value, key: &str) -> Vec<Value> {
    let list = list.as_array().cloned().unwrap_or_default();
    list.iter().map(|one| one[key].clone()).collect()
}

/// Stages, clusters in order and approval requests: of a plan, or of a run.
fn shape(stages: &Value, keys: [&str; 5]) -> Value {
    let [stage, cluster, before, after, request] = keys;
    let stages = stages.as_array().cloned().unwrap_or_default();
    let shape = |it: &Value| {
        json!([
            it[stage],
            names(&it["clusters"], cluster),
            names(&side(it, before), request),
            names(&side(it, after), request)
        ])
    };
    stages.iter().map(shape).collect()
}

#[test]
fn a_plan_comes_true() {
    play("plan", |scene| {
        let mut stages = one_gate();
        stages[1]["afterStageTasks"] =
            json!([{"type": "TimedWait", "waitTime": "1h"}, {"type": "Approval"}]);
        // Two clusters in one stage, the higher number first by name.
        stages[2] = json!({
            "name": "rest", "sortingLabelKey": "order", "maxConcurrency": "100%",
            "labelSelector": {"matchExpressions": [
                {"key": "environment", "operator": "In", "values": ["prod", "broken"]},
            ]},
        });
        scene.set(&stages, &ALL);
        let run = format!("{}-run", scene.name);
        let plan = planned(scene, &run, &[]);
        assert_eq!(plan.code, 0, "{}{}", plan.out, plan.err);
        let plan = plan.json();
        let made = scene.run_to_start(&run);
        let keys = ["name", "name", "before", "after", "request"];
        let of_plan = shape(&plan["stages"], keys);
        let keys = [
            "stageName",
            "clusterName",
            "beforeStageTaskStatus",
            "afterStageTaskStatus",
            "approvalRequestName",
        ];
        let of_run = shape(&made["status"]["stagesStatus"], keys);
        assert_eq!(of_plan, of_run);
        let index = &made["status"]["resourceSnapshotIndexUsed"];
        assert_eq!(&plan["snapshot"], index);
        // Now there is a run that may be started, and another plan says so.
        let next = planned(scene, "another", &[]);
        let text = next.json()["warnings"].to_string();
        assert!(text.contains("other-run-active"), "{text}");
        let own = planned(scene, &run, &[]).json();
        assert!(
            !own["warnings"].to_string().contains("other-run-active"),
            "{own:#}"
        );
    });
}

#[test]
fn what_a_plan_refuses_the_hub_refuses() {
    play("unplanned", |scene| {
        scene.set(
            &[stage("first", "staging"), stage("second", "staging")],
            &ALL,
        );
        let plan = planned(scene, &scene.name, &["--snapshot", "7"]);
        assert_eq!(plan.code, 3, "{}{}", plan.out, plan.err);
        let plan = plan.json();
        let kinds = names(&plan["refusals"], "kind");
        assert_eq!(
            kinds,
            [
                "cluster-in-two-stages",
                "cluster-in-no-stage",
                "snapshot-not-found"
            ]
        );
        scene.run_of(
            &scene.name,
            "Initialize",
            &json!({"resourceSnapshotIndex": "7"}),
        );
        scene.until_run(&scene.name, "Initialized", "False", "");
    });
}

#[test]
fn a_selector_that_matches_nothing_is_said_before_the_run() {
    play("unmatched", |scene| {
        scene.set(&three_stages(), &ALL);
        let mut placement = scene.hub.read(&scene.placement_path()).unwrap();
        let mut selectors = placement["spec"]["resourceSelectors"].take();
        let misspelt = format!("{}-setings", scene.namespace);
        let (kind, namespace) = if scene.namespaced {
            ("ConfigMap", scene.namespace.as_str())
        } else {
            ("Namespace", "")
        };
        let more = json!({"group": "", "version": "v1", "kind": kind, "name": misspelt});
        selectors.as_array_mut().unwrap().push(more);
        let changed = json!({"spec": {"resourceSelectors": selectors}});
        scene.hub.patch(&scene.placement_path(), &changed);
        let warned = || {
            let plan = planned(scene, &scene.name, &[]);
            let warnings = plan.json()["warnings"].clone();
            let all = warnings.as_array().cloned().unwrap_or_default();
            let mut all = all.into_iter();
            all.find(|it| it["kind"] == "selector-matches-nothing")
        };
        let warning = warned().unwrap();
        let message = warning["message"].as_str().unwrap();
        let named = format!("v1 {kind} {misspelt}, which the hub does not have");
        assert!(message.contains(&named), "{message}");
        let mut object = json!({
            "apiVersion": "v1", "kind": kind, "metadata": {"name": misspelt},
        });
        if !namespace.is_empty() {
            object["metadata"]["namespace"] = namespace.into();
        }
        scene.hub.create(&object);
        let still = warned().map_or_else(String::new, |it| it["message"].to_string());
        assert!(!still.contains(&misspelt), "{still}");
    });
}

#[test]
fn a_plan_shows_what_changed_on_the_hub_and_the_run_brings_it() {
    play("changed", |scene| {
        scene.set(&three_stages(), &ALL);
        let plan = || planned(scene, "next", &["--diff"]).json();
        let first = plan();
        assert_eq!(first["snapshot"], "0", "{first:#}");
        assert_eq!(first["snapshotCertain"], false);
        let objects = if scene.namespaced { 1 } else { 2 };
        assert_eq!(first["changes"][0]["counts"]["created"], objects);
        scene.run(&scene.name, "Run");
        scene.until_run(&scene.name, "Succeeded", "True", "");
        let same = plan();
        assert_eq!(same["snapshot"], "0", "{same:#}");
        assert_eq!(same["snapshotCertain"], true);
        let none = &same["changes"][0]["counts"];
        assert_eq!(
            (&none["created"], &none["changed"], &none["deleted"]),
            (&json!(0), &json!(0), &json!(0))
        );
        scene.content("2");
        let next = plan();
        let content = [
            "snapshot",
            "latestSnapshot",
            "snapshotCertain",
            "snapshotCreated",
        ];
        let content = content.map(|key| next[key].clone());
        assert_eq!(
            content,
            [json!("1"), json!("0"), json!(false), Value::Null],
            "{next:#}"
        );
        assert_eq!(next["changes"][0]["counts"]["changed"], 1, "{next:#}");
        assert_eq!(next["changes"][0]["to"], "1");
        assert_eq!(next["stages"][0]["clusters"][0]["change"], "forward");
        assert!(
            next["diffs"].to_string().contains("+  version: \\\"2\\\""),
            "{}",
            next["diffs"]
        );
        let named = planned(scene, "next", &["--snapshot", "0"]).json();
        assert_eq!(named["changes"][0]["counts"]["changed"], 0);
    });
}

/// Who may not read all of a namespace learns what changes of the rest.
#[test]
fn what_may_not_be_read_is_taken_as_it_was() {
    let Some(hub) = Harness::get().filter(|hub| hub.has_our_users()) else {
        return;
    };
    let user = "user-118";
    let role = hub.plugin(&["doctor", "--rbac", "viewer"]).out;
    let mut role: Value = serde_saphyr::from_str(&role).unwrap();
    role["metadata"]["name"] = user.into();
    role["rules"].as_array_mut().unwrap().push(json!({
        "apiGroups": [""], "resources": ["namespaces", "configmaps"], "verbs": ["get", "list"],
    }));
    hub.create(&role);
    hub.create(&json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }));
    for scene in both("unread").into_iter().filter(|scene| !scene.namespaced) {
        scene.set(&three_stages(), &ALL);
        hub.create(&json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "stringData": {"a": "b"},
            "metadata": {"name": "key", "namespace": scene.namespace},
        }));
        scene.run(&scene.name, "Run");
        scene.until_run(&scene.name, "Succeeded", "True", "");
        let kubeconfig = hub.kubeconfig_of(user);
        let plan = || {
            let words = [&["plan"], &scene.of()[..], &["-o", "json"]].concat();
            hub.plugin_as(&kubeconfig, &words)
        };
        // The hub learns of roles a moment later.
        waiting::until_so(|| "the user may".to_owned(), || plan().code == 0);
        let same = plan().json();
        assert_eq!(
            (&same["snapshot"], &same["snapshotCertain"]),
            (&json!("0"), &json!(false))
        );
        scene.content("2");
        let next = plan().json();
        assert_eq!(next["snapshot"], "1", "{next:#}");
        let counts = &next["changes"][0]["counts"];
        assert_eq!(
            (&counts["changed"], &counts["deleted"]),
            (&json!(1), &json!(0)),
            "{next:#}"
        );
        assert!(
            next["notChecked"].to_string().contains(" more on the hub"),
            "{next:#}"
        );
    }
}
