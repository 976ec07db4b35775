use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{
    ChangeKind, ContentChange, SecretChange, SecretDisplay, SnapshotSize, compare, is_definition,
    manifests, mask, size,
};

fn text(resources: &Value) -> Box<RawValue> {
    let snapshot =
        json!({"kind": "ClusterResourceSnapshot", "spec": {"selectedResources": resources}});
    serde_json::value::to_raw_value(&snapshot).unwrap()
}

fn config(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "shop", "name": name}, "data": {"a": "1", "value": value}})
}

fn secret(password: &str, user: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "shop", "name": "db"}, "data": {"password": password, "user": user}})
}

fn changes(before: &Value, after: &Value, secrets: SecretDisplay) -> Vec<ContentChange> {
    let (before, after) = (text(before), text(after));
    compare(
        manifests([before.as_ref()]),
        manifests([after.as_ref()]),
        secrets,
    )
}

#[test]
fn parts_make_one_version() {
    let parts = [
        text(&json!([config("b", "x")])),
        text(
            &json!([config("a", "y"), {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}]),
        ),
    ];
    let found = manifests(parts.iter().map(AsRef::as_ref));
    let names = found.iter();
    let names = names.map(|one| format!("{} {}", one.api_version, one.identity.describe()));
    let names: Vec<_> = names.collect();
    let wanted = "v1 ConfigMap shop/a, v1 ConfigMap shop/b, apps/v1 Deployment web";
    assert_eq!(names.join(", "), wanted);
    let total = SnapshotSize::total(parts.iter().map(|part| size(part)));
    let bytes: usize = found.iter().map(|one| one.bytes).sum();
    assert_eq!((total.resources, total.bytes), (3, bytes));
    assert_eq!(found[0].bytes, config("a", "y").to_string().len());
}

#[test]
fn what_is_no_snapshot_holds_nothing() {
    for odd in [
        json!(null),
        json!(5),
        json!({"spec": 5}),
        json!({"spec": {"selectedResources": {}}}),
    ] {
        let odd = serde_json::value::to_raw_value(&odd).unwrap();
        assert_eq!(size(&odd), SnapshotSize::default());
        assert!(manifests([odd.as_ref()]).is_empty());
    }
    let odd = text(&json!([5, null, {"kind": 5, "metadata": []}]));
    assert_eq!(manifests([odd.as_ref()]).len(), 3);
}

#[test]
fn only_what_differs_is_said() {
    let same = config("same", "x");
    let before = json!([same, config("changed", "x"), config("gone", "x")]);
    let after = json!([same, config("changed", "z"), config("new", "x")]);
    let found = changes(&before, &after, SecretDisplay::Masked);
    let said = found.iter();
    let said = said.map(|one| (one.kind, one.identity.name.as_str(), one.secrets));
    let wanted = [
        (ChangeKind::Changed, "changed", None),
        (ChangeKind::Removed, "gone", None),
        (ChangeKind::Added, "new", None),
    ];
    assert!(said.eq(wanted), "{found:?}");
    assert_eq!(
        found[0].diff,
        "@@ -1,7 +1,7 @@\n apiVersion: v1\n data:\n   a: \"1\"\n-  value: x\n+  value: z\n kind: ConfigMap\n metadata:\n   name: changed\n"
    );
    for (change, sign) in found[1..].iter().zip(['-', '+']) {
        let mut lines = change.diff.lines().skip(1);
        assert!(lines.all(|line| line.starts_with(sign)), "{change:?}");
    }
}

#[test]
fn a_new_api_version_is_a_change_of_the_same_object() {
    let ingress = |version: &str| json!([{"apiVersion": version, "kind": "Ingress", "metadata": {"name": "web"}}]);
    let found = changes(
        &ingress("networking.k8s.io/v1beta1"),
        &ingress("networking.k8s.io/v1"),
        SecretDisplay::Masked,
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, ChangeKind::Changed);
    assert_eq!(found[0].api_version, "networking.k8s.io/v1");
}

#[test]
fn secrets_differ_or_not_and_are_never_shown() {
    let before = json!([secret("b25l", "YWRtaW4=")]);
    let after = json!([secret("dHdv", "YWRtaW4=")]);
    let found = changes(&before, &after, SecretDisplay::Masked);
    assert_eq!(found[0].secrets, Some(SecretChange::Differ));
    let diff = &found[0].diff;
    for line in [
        "-  password: ••••\n",
        "+  password: •••• (another value)\n",
        "   user: ••••\n",
    ] {
        assert!(diff.contains(line), "{diff}");
    }
    for secret in ["b25l", "dHdv", "YWRtaW4"] {
        assert!(!diff.contains(secret), "{diff}");
    }
    let shown = &changes(&before, &after, SecretDisplay::Shown)[0];
    assert!(shown.diff.contains("+  password: dHdv\n"), "{shown:?}");
    assert_eq!(shown.secrets, None);
}

#[test]
fn a_secret_that_moved_is_the_same() {
    let pod = |env: Value| json!([{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"env": env}}]);
    let token = json!({"name": "API_TOKEN", "value": "abc"});
    let found = changes(
        &pod(json!([token])),
        &pod(json!([{"name": "NEW", "value": "1"}, token])),
        SecretDisplay::Masked,
    );
    assert_eq!(found[0].secrets, Some(SecretChange::Same));
    assert!(!found[0].diff.contains("another value"), "{found:?}");
}

#[test]
fn masking_says_what_was_masked() {
    let part = text(&json!([config("a", "x"), secret("b25l", "eA==")]));
    let mut found = manifests([part.as_ref()]);
    let masked = mask(&mut found);
    assert_eq!(masked[&1], ["data.password", "data.user"]);
    assert_eq!(masked.len(), 1);
    assert!(!found[1].value.to_string().contains("b25l"));
}

#[test]
fn a_definition_is_found_by_its_name() {
    for (name, group, kind, is_it) in [
        ("widgets.example.com", "example.com", "Widget", true),
        ("policies.example.com", "example.com", "Policy", true),
        ("ingresses.example.com", "example.com", "Ingress", true),
        ("widgets.example.com", "other.com", "Widget", false),
        ("databaseusers.x.com", "x.com", "Database", false),
        ("widgets", "", "Widget", false),
    ] {
        let definition = ("CustomResourceDefinition", name);
        let found = is_definition(definition, (group, kind));
        assert_eq!(found, is_it, "{name} {kind}");
    }
}
