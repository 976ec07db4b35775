use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MASK, mask, mask_with, prose, setting, value_at};

/// The value of a key after masking, where the key stands in an object of any kind.
fn masked(mut value: Value) -> (Value, Vec<String>) {
    let paths = mask(&mut value);
    (value, paths)
}

fn text(text: &str) -> String {
    let (value, _) = masked(json!({ "x": text }));
    value["x"].as_str().unwrap_or_default().to_owned()
}

/// A text whose secrets stand between « and »: as it is given, and as it is masked.
fn unmarked(text: &str) -> (String, String) {
    let parts: Vec<_> = text.split(['«', '»']).collect();
    let masked = parts.iter().enumerate();
    let masked = masked.map(|(at, part)| if at % 2 == 0 { *part } else { MASK });
    (parts.concat(), masked.collect())
}

#[test]
fn a_secret_keeps_its_keys_only() {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "db", "namespace": "shop"},
        "data": {"password": "aHVudGVyMg==", "tls.key": "eA==", "empty": ""},
        "stringData": {"user": "admin", "port": 5432}
    });
    let (value, paths) = masked(secret);
    let without = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "db", "namespace": "shop"},
        "data": {"password": MASK, "tls.key": MASK, "empty": ""},
        "stringData": {"user": MASK, "port": MASK}
    });
    assert_eq!(value, without);
    let wanted = "data.password data[\"tls.key\"] stringData.port stringData.user";
    assert_eq!(paths.join(" "), wanted);
}

#[test]
fn secrets_are_found_wherever_they_are_nested() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "c2VjcmV0"}});
    let yaml = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  a: c2VjcmV0\n";
    let list = format!("# two\nkind: ConfigMap\napiVersion: v1\n---\n{yaml}");
    let odd = "{{ if .x }}\nkind: Secret\ndata:\n  a: c2VjcmV0\n{{ end }}\n";
    let config = |text: &str| json!({"kind": "ConfigMap", "data": {"s": text}});
    let applied = "metadata.annotations[\"kubectl.kubernetes.io/last-applied-configuration\"]";
    let inside = format!("{applied}.data.a");
    #[rustfmt::skip]
    let places = [
        (json!({"spec": {"selectedResources": [{}, secret]}}), "spec.selectedResources[1].data.a"),
        (json!({"spec": {"workload": {"manifests": [secret]}}}), "spec.workload.manifests[0].data.a"),
        (json!({"kind": "ResourceEnvelope", "data": {"s.yaml": secret}}), "data[\"s.yaml\"].data.a"),
        (config(yaml), "data.s.data.a"),
        (config(&list), "data.s.data.a"),
        (config(odd), "data.s"),
        (json!({"metadata": {"annotations": {super::LAST_APPLIED: secret.to_string()}}}), &*inside),
        (json!({"kind": "Secret", "metadata": {"annotations": {super::LAST_APPLIED: "{c2VjcmV0"}}}), applied),
        (
            json!({"spec": {"overrideSpec": {
                "resourceSelectors": [{"group": "", "version": "v1", "kind": "Secret", "name": "x"}],
                "policy": {"overrideRules": [{"jsonPatchOverrides": [
                    {"op": "add", "path": "/data/a", "value": "c2VjcmV0"}]}]}}}}),
            "spec.overrideSpec.policy.overrideRules[0].jsonPatchOverrides[0].value",
        ),
        (
            json!({"status": {"driftedPlacements": [{"kind": "Secret", "observedDrifts": [
                {"path": "/data/a", "valueInHub": "c2VjcmV0"}]}]}}),
            "status.driftedPlacements[0].observedDrifts[0].valueInHub",
        ),
        (
            json!({"status": {"manifestConditions": [{"identifier": {"kind": "Secret"},
                "diffDetails": {"observedDiffs": [{"path": "/x", "valueInMember": "c2VjcmV0"}]}}]}}),
            "status.manifestConditions[0].diffDetails.observedDiffs[0].valueInMember",
        ),
    ];
    for (place, path) in places {
        let (value, paths) = masked(place.clone());
        assert_eq!(paths, [path], "{place}");
        assert!(!value.to_string().contains("c2VjcmV0"), "{value}");
        assert!(value.to_string().contains(MASK), "{value}");
    }
}

#[test]
fn names_say_what_is_a_credential() {
    let (value, _) = masked(json!({
        "env": [
            {"name": "DB_PASSWORD", "value": "hunter2"},
            {"name": "API_TOKEN_1", "value": "hunter2"},
            {"name": "AWS_SECRET_ACCESS_KEY", "value": "hunter2"},
            {"name": "TOKEN_FILE", "value": "/run/token"},
            {"name": "PWD", "value": "/app"},
            {"name": "COPY_OF_PASSWORD", "value": "$(DB_PASSWORD)"},
            {"name": "NEED_TOKEN", "value": "true"},
            {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
        ],
        "data": {"spring.datasource.password": "hunter2", "user": "admin"},
        "args": ["serve", "--token", "hunter2", "--api-key=hunter2", "--token-file", "/run/token"],
        "secretName": "web-tls",
        "automountServiceAccountToken": true,
        "metadata": {"labels": {"token": "blue"}, "annotations": {"checksum/secret": "9f86d081"}},
        "patch": {"op": "add", "path": "/spec/password", "value": "hunter2"},
    }));
    let left = value.to_string();
    assert!(!left.contains("hunter2"), "{left}");
    let kept = "/run/token\" /app $(DB_PASSWORD) \"true\" \"password\" admin serve web-tls blue 9f86d081 :true";
    for kept in kept.split(' ') {
        assert!(left.contains(kept), "{kept} is gone: {left}");
    }
}

#[test]
fn an_argument_belongs_to_the_flag_before_it_unless_that_has_its_own() {
    let own = ["serve", "--secret:a", "/run"];
    for (given, wanted) in [
        (["curl", "-u", "me:hunter2"], ["curl", "-u", "me:••••"]),
        (["serve", "--token", "hunter2"], ["serve", "--token", MASK]),
        (own, own),
        (["", own[1], own[2]], ["", own[1], own[2]]),
    ] {
        let (value, paths) = masked(json!({ "args": given }));
        assert_eq!(value, json!({ "args": wanted }));
        assert_eq!(paths.len(), usize::from(given != wanted));
    }
}

#[test]
fn texts_are_told_by_their_looks() {
    for marked in [
        "token is «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N», use it",
        "a\n«-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----»\nb",
        "«-----BEGIN PRIVATE KEY-----\nMIIE»",
        "Authorization: Bearer «abcdefgh12345678ijkl»",
        "postgres://app:«hunter2»@db:5432/x",
        "https://«ghtoken»@github.com/a/b",
        "Server=db;Password=«hunter2»;Port=1",
        "curl --token «hunter2» -v",
        "run --password='«a b»' now",
        "https://x/y?a=1&sig=«abc%2B»&b=2",
        "x «ghp_0123456789abcdefghijABCDEFGHIJ012345» y",
        "«AKIAIOSFODNN7EXAMPLE»",
        "user: a\npassword: «hunter2»\n",
        "a = 1\ndb.password = «x y»\n",
        "k:\n  secret: |\n    «one\n    two»\n  b: c\n",
        "{\"a\":{\"password\":\"«hunter2»\"}}",
    ] {
        let (given, wanted) = unmarked(marked);
        assert_eq!(text(&given), wanted);
    }
    for harmless in [
        "the bearer authentication failed for registration-of-the-cluster",
        "ssh://git@github.com/a/b",
        "https://github.com/a@b",
        "git@github.com:a/b",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "Deployment web: secret \"db\" not found",
        "a=b&c=d",
        "--token-file=/run/token",
        "tokens: 5\nsecretName: db\n",
        "kind: Deployment\nsecretRef:\n  name: Secret\n",
        "eyJ.a.b",
        "{not json",
    ] {
        assert_eq!(text(harmless), harmless);
    }
}

#[test]
fn sentences_of_controllers_stay() {
    let message = "admission denied:\nspec.token: Invalid value: it is too long";
    let (value, paths) = masked(json!({"conditions": [{"message": message}]}));
    assert_eq!(value["conditions"][0]["message"], message);
    assert!(paths.is_empty());
}

/// What a controller or a server may say; what is secret is called `canary`.
#[test]
fn secrets_in_sentences_are_found() {
    for said in [
        "DB_PASS=canaryplain",
        "serve --pass=canaryplain --x",
        "serve -password canaryplain -x",
        "serve -password \"canary plain\" -x",
        "Server=x;Pwd=canary,va)lue;Db=1",
        "SECRET_KEY_BASE: Canary12345678",
        "AZURE_CREDS=Canary12345678",
        "{\"client-key-data\": \"CANARYabcdefgh==\"}",
        "X-Api-Key: Canary12345",
        "Authorization: token CANARY0123456789",
        "curl -u admin:canary http://x",
        "curl -uadmin:canary http://x",
        "POST https://hooks.slack.com/services/T000CANARY0/B000CANARY1/XXXXXXXXCANARYXXXXXXXXXX",
        "key sk-proj-CANARYabcdefghij1234567890 is revoked",
        "error: {\"db\": {\"password\": \"canary\"}}",
        "error: \"{\\\"db\\\": {\\\"password\\\": \\\"canary\\\"}}\"",
        "the password \"canary\" was refused",
        "{Name:DB_PASSWORD,Value:canary,ValueFrom:nil,}",
        "v1.EnvVar{Name:\"DB_PASSWORD\", Value:\"canary\"}",
        "env[0].password: Invalid value: \"canary\": no",
        "map[password:canary user:x]",
        "dial postgres://user:can/ary@host/db",
        "open user:canary@tcp(127.0.0.1:3306)/db",
        "GET /x?access_token=canary&y=1: 401",
        "bad config: {\"auths\":{\"r\":{\"auth\":\"dXNlcjpjYW5hcnk=\"}}}",
        "cannot apply {\"data\":{\"x\":\"canary\"},\"kind\":\"Secret\"}",
        "kubectl create secret generic x --from-literal=password=canary",
        "mysql -uroot -pcanary db",
    ] {
        for masked in [prose(said), setting(said)] {
            let left = masked.to_lowercase();
            let is_left = left.contains("canary") || left.contains("dxnlcjp");
            assert!(!is_left, "{masked}");
            assert!(masked.contains(MASK), "{masked}");
        }
    }
    for harmless in [
        "secret \"db-1\" not found",
        "Secret: shop/db-1 is missing",
        "token: expired",
        "couldn't find key DB_PASSWORD in Secret shop/db-1",
        "Back-off pulling image \"registry.example.com/team/auth-token:1.2.3\"",
        "dial tcp token-secret:8080: connection refused",
        "Get \"https://auth.docker.io/token?scope=repository%3Ax%3Apull\": 401 Unauthorized",
        "spec.containers[0].env[0].valueFrom.secretKeyRef.key: Required value",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:web-AbCdEf",
        "the flag --token is required",
        "${TOKEN:-none}",
    ] {
        assert_eq!(prose(harmless), harmless);
    }
}

/// Forms of which the planted secrets have none.
#[test]
fn rare_forms_are_found() {
    for said in [
        "password: [canary, other]",
        "the API key: Canary1234567890",
        "Authorization: Digest username=jane17, response=canary0123456789",
        "GET /x?code=Canary0123456789abcdef",
    ] {
        let masked = setting(said).to_lowercase();
        assert!(!masked.contains("canary"), "{masked}");
    }
    for secret in [json!(["canary1", "canary2"]), json!(12_345_678)] {
        let (value, _) = masked(json!({"password": secret}));
        let left = value.to_string();
        assert!(!left.contains("canary") && !left.contains("345"), "{left}");
    }
}

#[test]
fn a_path_names_its_value() {
    assert_eq!(value_at("/spec/password", "hunter2"), MASK);
    assert_eq!(value_at("/spec/replicas", "3"), "3");
    let password = value_at("/spec/x", "a password=hunter2");
    assert_eq!(password, format!("a password={MASK}"));
}

#[test]
fn named_items_keep_their_path() {
    let env = json!([{"name": "A"}, {"name": "DB_PASSWORD", "value": "x"}, {"name": "a b", "password": "y"}]);
    let (_, paths) = masked(json!({"containers": [{"name": "web.v1", "env": env}]}));
    let env = "containers[name=web.v1].env";
    assert_eq!(paths[0], format!("{env}[name=DB_PASSWORD].value"));
    assert_eq!(paths[1..], [format!("{env}[2].password")]);
}

#[test]
fn a_replacement_sees_path_and_secret() {
    let mut value = json!({"kind": "Secret", "data": {"a": "one", "b": "two"}});
    let mut seen = Vec::new();
    let found = mask_with(&mut value, &mut |path, secret| {
        seen.push(format!("{path}={secret}"));
        format!("{MASK}!")
    });
    assert_eq!(seen, ["data.a=one", "data.b=two"]);
    assert_eq!(found.len(), 2);
    assert_eq!(value["data"]["a"], format!("{MASK}!"));
}

/// Texts of the pieces that masking looks at, in any order.
fn any_text() -> impl Strategy<Value = String> {
    "(password|token|key|auth|name|value|Cookie|Authorization|Basic |Bearer |://|@tcp\\(|@|=|:|: |, |\"|'|\\\\|\\{|\\}|\\[|\\]|map\\[     |curl -u |sshpass -p |-p|--token |-|<password>|</|<|>|Secret|data|stringData|-----BEGIN PRIVATE KEY|-----END |eyJ     |ghp_|sk-|\\$1\\$|Q~|hunter2|A1b2C3d4E5f6G7h8|é|••••|\n| |&|;|#){0,24}"
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z:=/@ \"'\n-]{0,20}".prop_map(Value::from),
        "(password|token|--secret)[=: ][a-z\"' ]{0,9}(\n [a-z: ]{0,9}){0,2}".prop_map(Value::from),
        "(kind: Secret\n|data:\n|  a: b\n|---\n){0,6}".prop_map(Value::from),
        any_text().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let key = prop_oneof![
            Just("data".to_owned()),
            Just("kind".to_owned()),
            Just("value".to_owned()),
            Just("name".to_owned()),
            Just("password".to_owned()),
            "\\PC{0,6}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn masking_twice_masks_nothing_more(value in any_value()) {
        let mut once = value;
        mask(&mut once);
        let mut twice = once.clone();
        let found = mask(&mut twice);
        prop_assert_eq!(&twice, &once);
        prop_assert!(found.is_empty(), "{:?}", found);
    }

    #[test]
    fn no_text_is_too_odd(text in any_text()) {
        for mask in [prose, setting] {
            let once = mask(&text).into_owned();
            prop_assert_eq!(mask(&once), once.as_str());
        }
    }

    #[test]
    fn data_of_a_secret_never_stays(value in "[a-z]{12,20}", key in "[a-z.]{1,8}", depth in 0usize..5) {
        let mut object = json!({"apiVersion": "v1", "kind": "Secret", "data": {key: value.clone()}});
        for level in 0..depth {
            object = if level % 2 == 0 { json!({"items": [object]}) } else { json!({"data": {"x": object.to_string()}}) };
        }
        mask(&mut object);
        prop_assert!(!object.to_string().contains(&value), "{}", object);
    }
}
