//! `render`, `trace`, and `clusters`, as a user calls them.

use std::ffi::OsString;
use std::path::Path;

use kubectl_fleet_stage::ui::UiEnvironment;
use serde_json::Value;

use crate::calls;
use crate::files::whole;

const SHOP: &str = "tests/manifests/shop.yaml";

/// One call on a file: exit code, answer, messages.
fn call_on(file: &str, args: &[&str]) -> (u8, String, String) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let words = ["kubectl-fleet-stage"].iter().chain(args);
    let words = words.map(OsString::from).chain(["-f".into(), file.into()]);
    let clock = || "2026-11-21T06:00:00Z".parse().unwrap();
    calls::call(words, None, UiEnvironment::of_variables(|_| None), clock)
}

fn call(args: &[&str]) -> (u8, String, String) {
    call_on(SHOP, args)
}

fn json(args: &[&str]) -> Value {
    let (code, out, err) = call(args);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn clusters_that_get_the_same_are_one_group() {
    let (code, out, _) = call(&["render", "crp/shop"]);
    assert_eq!(code, 0);
    for line in [
        "snapshot 1 (latest) of ClusterResourcePlacement shop: 4 clusters in 4 groups",
        "- Secret shop/db: deleted (no-db, rule 1)",
        "- Deployment shop/web: replace /spec/replicas 6 (web-eu, rule 1)",
        "note: override no-db: the snapshot has no v1 Secret mail",
        "note: override web-eu: rule 3 selects none of the clusters",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
}

/// The run recorded no overrides, and rolled out the version before.
#[test]
fn a_run_has_its_own_snapshot_and_overrides() {
    let view = json(&["render", "shop-1", "--summary", "-o", "json"]);
    assert_eq!(view["snapshot"], "0");
    assert_eq!(view["groups"].as_array().unwrap().len(), 1);
    assert_eq!(view["groups"][0]["overrides"], serde_json::json!([]));
}

/// Objects of the hub that are beside a bundle are what the placement selects.
#[test]
fn what_is_selected_now_needs_no_snapshot() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let live = [
        "render",
        "crp/shop",
        "--snapshot",
        "live",
        "-f",
        &format!("{root}tests/manifests/live.yaml"),
    ];
    let (code, out, err) = call(&live);
    // Files do not say that nothing is missing.
    assert_eq!(code, 7, "{err}");
    for line in [
        "what ClusterResourcePlacement shop selects now: 4 clusters in 3 groups",
        "note: override no-db: what the placement selects has no v1 Secret mail",
        "note: left out, because Kubernetes creates it in every namespace: ConfigMap",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
    let (_, out, err) = call(&[&live[..], &["--member", "member-3", "-o", "yaml"]].concat());
    assert!(out.contains("image: nginx:1.22"), "{out}");
    assert!(
        !out.contains("resourceVersion") && !out.contains("c2VjcmV0"),
        "{out}{err}"
    );
    let (_, out, _) = call(&[&live[..], &["--diff"]].concat());
    assert!(out.contains("+++ live: Deployment shop/web"), "{out}");
    let (code, _, err) = call(&live[..4]);
    assert_eq!(code, 6, "{err}");
    assert!(err.contains("none of the objects"), "{err}");
}

#[test]
fn manifests_of_one_cluster_are_a_list() {
    let list = json(&["render", "crp/shop", "--member", "member-1", "-o", "json"]);
    assert_eq!(list["kind"], "List");
    let items = list["items"].as_array().unwrap();
    let kinds: Vec<_> = items
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["Namespace", "ConfigMap", "Deployment", "ResourceQuota"]
    );
    let env = &items[2]["spec"]["template"]["spec"]["containers"][0]["env"];
    assert_eq!(env[0]["value"], "member-1");
}

#[test]
fn clusters_that_get_something_else_are_not_mixed() {
    let (code, out, err) = call(&["render", "crp/shop", "-o", "yaml"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("choose one with --member"), "{err}");
}

#[test]
fn secrets_are_masked_unless_they_are_asked_for() {
    let plain = ["render", "crp/shop", "--member", "member-2", "-o", "yaml"];
    let (_, out, err) = call(&plain);
    assert!(!out.contains("bmV3"), "{out}");
    assert!(
        err.contains("1 value masked: do not apply this output"),
        "{err}"
    );
    let (_, out, _) = call(&[&plain[..], &["--show-secrets"]].concat());
    assert!(out.contains("bmV3"), "{out}");
    for args in [
        &["render", "crp/shop", "--diff"][..],
        &["render", "crp/shop", "--diff", "-o", "json"],
        &[
            "render",
            "crp/shop",
            "--diff",
            "--between",
            "member-1,member-2",
        ],
        &[
            "plan",
            "--placement",
            "shop",
            "--strategy",
            "rings",
            "--diff",
        ],
    ] {
        let (_, out, err) = call(args);
        for secret in ["b2xk", "bmV3"] {
            assert!(
                !out.contains(secret) && !err.contains(secret),
                "{args:?}\n{out}"
            );
        }
    }
}

#[test]
fn changes_are_counted_against_the_works() {
    let view = json(&["render", "crp/shop", "--diff", "-o", "json"]);
    let changes = view["changes"].as_array().unwrap();
    let of = |cluster: &str| {
        let group = changes
            .iter()
            .find(|it| it["clusters"][0] == cluster)
            .unwrap();
        group["counts"].clone()
    };
    let counts = |created, changed, deleted| serde_json::json!({"created": created, "changed": changed, "deleted": deleted, "refused": 0});
    assert_eq!(of("member-1"), counts(1, 2, 2));
    assert_eq!(of("member-4"), counts(1, 3, 1));
    let (_, out, _) = call(&["render", "shop-1", "--diff"]);
    assert!(out.contains("now -> then: nothing changes"), "{out}");
}

/// The bundle with some of its documents changed, and its path from the root.
fn changed(change: impl Fn(&str) -> Option<String>) -> (tempfile::NamedTempFile, String) {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join(SHOP)).unwrap();
    let documents: Vec<_> = text.split("\n---\n").filter_map(change).collect();
    let file = tempfile::Builder::new()
        .suffix(".yaml")
        .tempfile_in(env!("CARGO_TARGET_TMPDIR"));
    let file = file.unwrap();
    std::fs::write(file.path(), documents.join("\n---\n")).unwrap();
    let path = file.path().strip_prefix(root).unwrap().display();
    let path = path.to_string();
    (file, path)
}

/// The same with a text replaced in the documents that have these marks.
fn replaced(marks: &[&str], from: &str, to: &str) -> (tempfile::NamedTempFile, String) {
    changed(|document| {
        if !marks.iter().all(|mark| document.contains(*mark)) {
            return Some(document.to_owned());
        }
        assert!(document.contains(from), "{document}");
        Some(document.replace(from, to))
    })
}

/// The binding of a cluster.
const OF_MEMBER_1: [&str; 2] = [
    "kind: ClusterResourceBinding\n",
    "targetCluster: member-1\n",
];

const PLAN: [&str; 5] = ["plan", "--placement", "shop", "--strategy", "rings"];

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The scheduler writes down only some of the clusters that it leaves out.
#[test]
fn the_policy_says_why_a_cluster_is_out_where_the_scheduler_does_not() {
    let (_file, path) = changed(|document| {
        let is_policy = document.contains("  targetClusters:\n");
        let at = document.find("  - clusterName: member-5\n");
        assert!(!is_policy || at.is_some(), "{document}");
        Some(match at.filter(|_| is_policy) {
            Some(at) => {
                let rest = &document[at + 4..];
                let end = rest.find("\n  - ").map_or(rest.len(), |end| end + 1);
                format!("{}{}", &document[..at], &rest[end..])
            }
            None => document.to_owned(),
        })
    });
    let (_, out, err) = call_on(&path, &["clusters", "crp/shop", "-o", "wide", "-v"]);
    assert!(
        out.contains("no required affinity term matches (needs "),
        "{out}"
    );
    assert!(
        err.contains("kubectl label membercluster member-5"),
        "{err}"
    );
}

/// By the snapshots and overrides alone, without Works.
#[test]
fn a_plan_counts_what_changes_in_each_cluster() {
    let (_, out, _) = call(&PLAN);
    let out = one_line(&out);
    for text in [
        "objects per cluster with snapshot 1: 1 created, 3 changed, 1 deleted (member-2, member-3, member-4) \
         deletes CronJob shop/report",
        "1 created, 2 changed, 2 deleted (member-1) deletes CronJob shop/report, Secret shop/db",
    ] {
        assert!(out.contains(text), "{text}\n{out}");
    }
    let plan = json(&[&PLAN[..], &["-o", "json"]].concat());
    assert_eq!(plan["changes"][0]["from"], "0");
    assert_eq!(plan["changes"][0]["to"], "1");
    assert_eq!(plan["changes"][1]["counts"]["deleted"], 2);
    let (_, out, _) = call(&[&PLAN[..], &["--snapshot", "0"]].concat());
    assert!(out.contains("(member-"), "{out}");
}

#[test]
fn a_plan_warns_of_fields_that_must_not_change() {
    let [from, to] = ["web", "shop"].map(|app| format!("matchLabels:\n          app: {app}"));
    let (_file, path) = replaced(&["name: shop-1-snapshot"], &from, &to);
    let (code, out, _) = call_on(&path, &PLAN);
    assert_eq!(code, 0);
    let out = one_line(&out);
    let warning = "warning FS712 immutable-field-changed Deployment shop/web changes in /spec/selector, \
                   which Kubernetes does not let change: the member clusters would refuse the object.";
    assert!(out.contains(warning), "{out}");
    assert!(out.contains("1 refused by Kubernetes"), "{out}");
}

/// By the content alone, before anything is sent.
#[test]
fn a_plan_warns_of_what_clusters_would_not_finish() {
    let quota = "kind: ResourceQuota\n        metadata:\n          labels:\n            app: web\n          name: shop\n";
    let settings = quota
        .replace("ResourceQuota", "ConfigMap")
        .replace("name: shop", "name: settings");
    for (mark, (from, to), warning) in [
        (
            "name: shop-1-snapshot",
            ("replicas: 2", "replicas: 2\n      paused: true"),
            "warning FS501 workload-held Deployment shop/web gets another template, and it is paused, but KubeFleet \
             waits for pods with the newest template. The run would be stuck there.",
        ),
        (
            "name: shop-1-0",
            (quota, settings.as_str()),
            "warning FS508 object-twice ConfigMap shop/settings is in the content twice, once in ResourceEnvelope",
        ),
        (
            "name: shop-1-snapshot",
            (
                "apiVersion: v1\n    data:\n      log: debug",
                "apiVersion: v2\n    data:\n      log: debug",
            ),
            "warning objects-recreated 1 object is replaced (ConfigMap shop/settings), because the API version is \
             another one. KubeFleet deletes it on the member clusters before it creates it again.",
        ),
    ] {
        let (_file, path) = replaced(&[mark], from, to);
        let (code, out, _) = call_on(&path, &PLAN);
        assert_eq!(code, 0);
        let out = one_line(&out);
        assert!(out.contains(warning), "{warning}\n{out}");
    }
}

#[test]
fn a_plan_warns_of_a_namespace_that_is_deleted() {
    let own = "kubernetes.io/metadata.name: shop\n      name: shop\n";
    let other = own.replace("shop", "other");
    let (_file, path) = replaced(&["name: shop-1-snapshot"], own, &other);
    let asked = [&PLAN[..], &["--snapshot", "1"]].concat();
    let (code, out, _) = call_on(&path, &asked);
    assert_eq!(code, 0);
    let out = one_line(&out);
    for warning in [
        "warning FS711 cascading-deletion Namespace shop is deleted with everything in it from member-1, \
         member-2, member-3 and member-4, although the placement stays.",
        "warning FS711 needed-object-deleted ConfigMap shop/settings cannot exist without Namespace shop, which the \
         run deletes. The run would be stuck there.",
    ] {
        assert!(out.contains(warning), "{warning}\n{out}");
    }
    // The next snapshot has it.
    let (_, out, _) = call(&PLAN);
    assert!(!out.contains("cascading-deletion"), "{out}");
}

#[test]
fn a_plan_warns_of_an_override_that_breaks() {
    let (right, broken) = ("path: /spec/replicas", "path: /spec/none/replicas");
    let (_file, path) = replaced(&["name: web-eu-0"], right, broken);
    let (_, out, _) = call_on(&path, &PLAN);
    let out = one_line(&out);
    for text in [
        "warning FS509 override-not-applicable ResourceOverrideSnapshot shop/web-eu-0 cannot be \
         applied to Deployment shop/web: rule 1, operation 1 (replace /spec/none/replicas)",
        "KubeFleet would send nothing new to ",
    ] {
        assert!(out.contains(text), "{text}\n{out}");
    }
}

#[test]
fn a_plan_warns_of_an_envelope_that_cannot_be_opened() {
    let own = "name: shop\n          namespace: shop";
    let other = "name: shop\n          namespace: other";
    let (_file, path) = replaced(&["name: shop-1-0\n"], own, other);
    let (_, out, _) = call_on(&path, &PLAN);
    let out = one_line(&out);
    let warning =
        "warning FS512 envelope-content-invalid ResourceEnvelope shop/quota cannot be opened";
    assert!(out.contains(warning), "{out}");
    assert!(!out.contains("FS509"), "{out}");
}

/// Where an override that a cluster has is gone, its Works tell; without them that is unknown, and the plan stands.
#[test]
fn a_plan_without_the_overrides_that_clusters_have_says_so() {
    let more = "spec:\n  clusterResourceOverrideSnapshots: [gone-0]\n";
    let gap = "changed objects: ClusterResourceOverrideSnapshot gone-0, which the cluster has, is \
               gone (member-1)";
    for has_works in [true, false] {
        let (_file, path) = changed(|document| {
            let is_own = OF_MEMBER_1.iter().all(|part| document.contains(part));
            let is_kept = has_works || !document.contains("\nkind: Work\n");
            let document = if is_own {
                document.replacen("spec:\n", more, 1)
            } else {
                document.to_owned()
            };
            is_kept.then_some(document)
        });
        let (_, out, _) = call_on(&path, &PLAN);
        let out = one_line(&out);
        assert_eq!(out.contains(gap), !has_works, "{out}");
        assert_eq!(out.contains("2 deleted (member-1)"), has_works, "{out}");
        assert!(out.contains("(member-2, member-3, member-4)"), "{out}");
    }
}

/// A bundle without the Works says nothing of what they hold.
#[test]
fn works_that_were_not_collected_are_unknown() {
    let is_work = |document: &str| document.contains("kind: Work\n");
    let (_file, path) = changed(|it| (!is_work(it)).then(|| it.to_owned()));
    let (code, out, _) = call_on(&path, &["render", "crp/shop", "--diff", "--summary"]);
    assert_eq!(code, 7, "{out}");
    assert!(out.contains("unknown: the Works were not read"), "{out}");
}

#[test]
fn a_cluster_outside_the_placement_is_rendered_and_marked() {
    let (code, out, err) = call(&["render", "crp/shop", "--member", "member-5"]);
    assert_eq!(code, 0, "{out}");
    assert!(
        err.contains("the placement does not include member-5"),
        "{err}"
    );
    let (code, _, err) = call(&["render", "crp/shop", "--member", "member-6"]);
    assert_eq!(code, 6, "{err}");
}

#[test]
fn an_override_that_breaks_is_named_and_fails() {
    let file = whole("tests/findings/FS509/fires-changed-since.yaml");
    let file = file.to_str().unwrap();
    let (code, out, err) = call_on(file, &["render", "example-run"]);
    assert_eq!(code, 3, "{out}{err}");
    let out = one_line(&out);
    for text in [
        "error: 1 cluster (member2): ClusterResourceOverrideSnapshot replicas-0 cannot be applied to",
        "rule 1, operation 1 (add /metadata/labels/region): the cluster has no label region",
        "1 cluster: nothing new is applied, see the error member2",
        "1 cluster: 2 manifests, no overrides member1",
    ] {
        assert!(out.contains(text), "{text}\n{out}");
    }
    let (code, out, err) = call_on(
        file,
        &["render", "example-run", "--member", "member2", "-o", "yaml"],
    );
    assert_eq!(code, 3, "{out}");
    assert!(
        err.contains("KubeFleet sends nothing to the cluster"),
        "{err}"
    );
}

/// What `diagnose` says of a run whose override cannot be applied. `other` is pinned beside it.
fn said_of_an_override(other: bool, edit: impl Fn(&str) -> String) -> String {
    let fixture = whole("tests/findings/FS509/fires-path-missing.yaml");
    let text = std::fs::read_to_string(fixture).unwrap();
    let over = |name: &str, path: &str| {
        serde_json::json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterResourceOverrideSnapshot",
            "metadata": {"name": format!("{name}-0"), "labels": {
                "kubernetes-fleet.io/is-latest-snapshot": "true",
                "kubernetes-fleet.io/parent-resource-override": name}},
            "spec": {"overrideSpec": {
                "clusterResourceSelectors": [
                    {"group": "", "version": "v1", "kind": "Namespace", "name": "test-namespace"}],
                "policy": {"overrideRules": [{"clusterSelector": {}, "jsonPatchOverrides": [
                    {"op": "replace", "path": path, "value": 6}]}]}}},
        })
    };
    let mut text = format!(
        "{}\n---\n{}\n",
        edit(&text),
        over("replicas", "/spec/replica")
    );
    if other {
        for indent in ["\n  - ", "\n      - "] {
            let both = format!("{indent}replicas-0{indent}other-0\n");
            text = text.replace(&format!("{indent}replicas-0\n"), &both);
        }
        text = format!("{text}---\n{}\n", over("other", "/metadata/name"));
    }
    let file = tempfile::Builder::new()
        .suffix(".yaml")
        .tempfile_in(env!("CARGO_TARGET_TMPDIR"));
    let file = file.unwrap();
    std::fs::write(file.path(), text).unwrap();
    let path = file.path().to_str().unwrap();
    let (_, out, _) = call_on(path, &["diagnose", "example-run", "-v"]);
    one_line(&out)
}

/// The fixture's text without the names that KubeFleet gives only since 0.3.1.
fn unnamed(text: &str, path: &str) -> String {
    let named = "ClusterResourceOverrideSnapshot \"replicas-0\" failed to apply on Deployment \
                 \"nginx-deployment\" in namespace \"test-namespace\": ";
    assert!(text.contains(named), "{text}");
    text.replace(named, "").replace("/spec/replica:", path)
}

/// A diagnosis names the operation as `render` does, where it has the override and the snapshot.
#[test]
fn a_diagnosis_names_the_operation_that_breaks() {
    let why = "does not fit Deployment test-namespace/nginx-deployment for member2: rule 1, \
               operation 1 (replace /spec/replica): `/spec/replica` does not exist";
    let whose = format!("ClusterResourceOverrideSnapshot replicas-0 {why}");
    let field = "spec.overrideSpec.policy.overrideRules[0].jsonPatchOverrides[0].path =";
    for other in [false, true] {
        for out in [
            said_of_an_override(other, str::to_owned),
            // An older KubeFleet names neither: the path in its text and the content tell.
            said_of_an_override(other, |text| unnamed(text, "/spec/replica:")),
        ] {
            assert!(out.contains(&whose), "{out}");
            assert!(out.contains(field), "{out}");
        }
    }
    // A path that no operation has: which override it was is unknown.
    let out = said_of_an_override(true, |text| unnamed(text, "/spec/replic:"));
    assert!(
        out.contains("An override does not fit the content for member2"),
        "{out}"
    );
    assert!(!out.contains(field), "{out}");
}

#[test]
fn an_object_is_traced_to_its_run() {
    let object = ["trace", "deploy/web", "-n", "shop"];
    let trace = json(&[&object[..], &["--member", "member-1", "-o", "json"]].concat());
    let found = &trace["found"][0];
    assert_eq!(found["work"]["name"], "shop-work");
    assert_eq!(found["snapshot"], "0");
    assert_eq!(found["rollout"]["run"]["name"], "shop-1");
    assert_eq!(found["rollout"]["stage"], "canary");
}

/// A Work may be older than what its binding names.
#[test]
fn what_was_not_sent_is_not_traced_to_who_would_send_it() {
    let traced = |from: &str, to: &str| {
        let (_file, path) = replaced(&OF_MEMBER_1, from, to);
        let words = ["trace", "deployment/shop/web", "--member", "member-1"];
        let (code, out, err) = call_on(&path, &words);
        assert_eq!(code, 0, "{err}");
        out
    };
    let reason = "reason: RolloutStarted\n";
    let started = "message: ''\n    observedGeneration: 1\n    reason: RolloutStarted\n";
    let by = |run: &str| {
        let message = format!(
            "Detected the new changes on the resources and started the rollout process, resourceSnapshotName: \
             shop-0-snapshot, updateRun: {run}"
        );
        started.replace("''", &format!("'{message}'"))
    };
    assert!(traced(reason, reason).contains("ClusterStagedUpdateRun shop-1, stage canary"));
    assert!(!traced(started, &by("shop-1")).contains("not sent"));
    let unsent = "    status: 'True'\n    type: Overridden\n";
    let out = traced(unsent, &unsent.replace("True", "False"));
    assert!(
        out.contains("not sent   snapshot 0: the Work is older"),
        "{out}"
    );
    let out = traced("shop-0-snapshot", "shop-1-snapshot");
    assert!(
        out.contains("not sent   snapshot 1: the Work is older"),
        "{out}"
    );
    assert!(
        out.contains("snapshot   0 of ClusterResourcePlacement shop"),
        "{out}"
    );
    assert!(
        out.contains("ClusterStagedUpdateRun shop-1, stage canary"),
        "{out}"
    );
}

#[test]
fn an_object_that_is_not_there_was_lost_somewhere() {
    for (object, member, why) in [
        (
            "deploy/web",
            "member-5",
            "the placement does not select member-5: no required affinity",
        ),
        (
            "resourcequota/shop",
            "member-2",
            "member-2 has snapshot 0, which does not",
        ),
        (
            "deploy/nope",
            "member-2",
            "no snapshot on the hub has it either",
        ),
    ] {
        let (code, out, _) = call(&["trace", object, "--member", member]);
        assert_eq!(code, 6);
        let out = one_line(&out);
        assert!(out.contains(why), "{object}: {out}");
    }
    let (code, _, _) = call(&["trace", "web", "--member", "member-1"]);
    assert_eq!(code, 2);
}

/// The overrides that the cluster has are looked at, as `render` does.
#[test]
fn an_object_that_an_override_deletes_is_said_to_be() {
    let (_file, path) = changed(|document| {
        let of_member = |kind: &str| {
            document.contains(&format!("kind: {kind}\n")) && document.contains("member-1")
        };
        let binding = of_member("ClusterResourceBinding");
        let work = of_member("Work") && document.contains("namespace: fleet-member-member-1");
        let spec = "spec:\n  resourceOverrideSnapshots: [{namespace: shop, name: no-db-0}]\n";
        Some(match (binding, work) {
            (true, _) => document.replacen("spec:\n", spec, 1),
            (_, true) => document.replace("name: db\n", "name: other\n"),
            _ => document.to_owned(),
        })
    });
    let (code, out, err) = call_on(&path, &["trace", "secret/db", "--member", "member-1"]);
    assert_eq!(code, 6, "{out}{err}");
    let why = "member-1 has snapshot 0, and override no-db deletes the object (rule 1)";
    assert!(one_line(&out).contains(why), "{out}");
}

#[test]
fn every_cluster_is_in_or_out_for_a_reason() {
    let list = json(&["clusters", "crp/shop", "-o", "json"]);
    let items = list["items"].as_array().unwrap();
    let selected: Vec<_> = items
        .iter()
        .map(|it| it["selected"].as_bool().unwrap())
        .collect();
    assert_eq!(selected, [true, true, true, true, false]);
    assert_eq!(items[0]["stages"]["rings"], serde_json::json!(["canary"]));
    assert_eq!(items[4]["stages"]["rings"], serde_json::json!([]));
    assert_eq!(
        items[4]["suggestions"][0]["labels"],
        serde_json::json!(["environment=canary"])
    );
    let (_, out, err) = call(&["clusters", "crp/shop", "-v"]);
    assert!(out.contains("no required affinity term matches"), "{out}");
    assert!(
        err.contains("kubectl label membercluster member-5 environment=canary"),
        "{err}"
    );
}
