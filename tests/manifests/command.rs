//! `render`, `trace`, and `clusters`, as a user calls them.

use std::ffi::OsString;

use kubectl_fleet_stage::ui::Environment;
use serde_json::Value;

use crate::calls;

const SHOP: &str = "tests/manifests/shop.yaml";

/// One call on a file: exit code, answer, messages.
fn call_on(file: &str, args: &[&str]) -> (u8, String, String) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let file = format!("{root}{file}");
    let words = ["kubectl-fleet-stage"].iter().chain(args);
    let words = words.map(OsString::from).chain(["-f".into(), file.into()]);
    let clock = || "2026-11-21T06:00:00Z".parse().unwrap();
    calls::call(words, None, Environment::of_variables(|_| None), clock)
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
        "note: override web-eu: rule 3 is for none of the clusters",
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

/// A bundle without the Works says nothing of what they hold.
#[test]
fn works_that_were_not_collected_are_unknown() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/manifests/shop.yaml"
    ));
    let text = text.unwrap();
    let documents = text
        .split("\n---\n")
        .filter(|it| !it.contains("kind: Work\n"));
    let file = tempfile::Builder::new()
        .suffix(".yaml")
        .tempfile_in(env!("CARGO_TARGET_TMPDIR"));
    let file = file.unwrap();
    std::fs::write(file.path(), documents.collect::<Vec<_>>().join("\n---\n")).unwrap();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = file
        .path()
        .strip_prefix(root)
        .unwrap()
        .display()
        .to_string();
    let (code, out, _) = call_on(&path, &["render", "crp/shop", "--diff", "--summary"]);
    assert_eq!(code, 7, "{out}");
    assert!(
        out.contains("unknown, because the Works were not read"),
        "{out}"
    );
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
    let file = "tests/findings/FS509/fires-changed-since.yaml";
    let (code, out, err) = call_on(file, &["render", "example-run"]);
    assert_eq!(code, 3, "{out}{err}");
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [
        "error: 1 cluster (member2): ClusterResourceOverrideSnapshot replicas-0 cannot be applied to",
        "rule 1, operation 1 (add /metadata/labels/region): the cluster has no label region",
        "1 cluster: gets nothing new member2",
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

#[test]
fn an_object_is_traced_to_its_run() {
    let trace = json(&[
        "trace",
        "deploy/web",
        "-n",
        "shop",
        "--member",
        "member-1",
        "-o",
        "json",
    ]);
    let found = &trace["found"][0];
    assert_eq!(found["work"]["name"], "shop-work");
    assert_eq!(found["snapshot"], "0");
    assert_eq!(found["rollout"]["run"]["name"], "shop-1");
    assert_eq!(found["rollout"]["stage"], "canary");
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
        let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(out.contains(why), "{object}: {out}");
    }
    let (code, _, _) = call(&["trace", "web", "--member", "member-1"]);
    assert_eq!(code, 2);
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
    let (_, out, err) = call(&["clusters", "crp/shop"]);
    assert!(out.contains("no required affinity term matches"), "{out}");
    assert!(
        err.contains("kubectl label membercluster member-5 environment=canary"),
        "{err}"
    );
}
