use proptest::prelude::*;
use secrecy::ExposeSecret;

use super::{Kubeconfig, KubeconfigFault, named};

const FULL: &str = "
apiVersion: v1
kind: Config
current-context: hub
preferences: {}
clusters:
- name: hub
  cluster:
    server: https://hub.example:6443
    tls-server-name: hub.internal
    insecure-skip-tls-verify: false
    certificate-authority: ca.crt
    certificate-authority-data: S3CR3T-1
    proxy-url: http://jane:S3CR3T-2@proxy:3128
    disable-compression: true
    extensions:
    - {name: other, extension: S3CR3T-3}
    - {name: client.authentication.k8s.io/exec, extension: {audience: S3CR3T-4}}
contexts:
- {name: hub, context: {cluster: hub, user: admin, namespace: team-a}}
users:
- name: admin
  user:
    token: S3CR3T-5
    tokenFile: token
    username: jane
    password: S3CR3T-6
    client-certificate: /etc/client.crt
    client-certificate-data: S3CR3T-7
    client-key: client.key
    client-key-data: S3CR3T-8
    as: john
    as-uid: '17'
    as-groups: [ops]
    as-user-extra: {reason: [S3CR3T-9]}
    auth-provider: {name: oidc, config: {id-token: S3CR3T-10, client-secret: S3CR3T-11}}
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: bin/login
      args: [--secret, S3CR3T-12]
      env: [{name: SECRET, value: S3CR3T-13}]
      interactiveMode: Never
      provideClusterInfo: true
      installHint: brew install login
";

#[test]
fn everything_is_read() {
    let mut all = Kubeconfig::parse(FULL.as_bytes()).unwrap();
    all.resolve(std::path::Path::new("/home/jane/.kube"));
    assert_eq!(all.current_context, "hub");
    let cluster = named(&all.clusters, "hub").unwrap();
    assert_eq!(cluster.server, "https://hub.example:6443");
    assert_eq!(cluster.certificate_authority, "/home/jane/.kube/ca.crt");
    assert_eq!(cluster.extensions[1].extension["audience"], "S3CR3T-4");
    assert!(cluster.disable_compression && !cluster.insecure_skip_tls_verify);
    let user = named(&all.users, "admin").unwrap();
    assert_eq!(user.token.expose_secret(), "S3CR3T-5");
    assert_eq!(user.token_file, "/home/jane/.kube/token");
    assert_eq!(user.client_certificate, "/etc/client.crt");
    assert_eq!(user.client_key, "/home/jane/.kube/client.key");
    assert_eq!(user.as_user_extra["reason"], ["S3CR3T-9"]);
    let exec = user.exec.as_ref().unwrap();
    assert_eq!(exec.command, "/home/jane/.kube/bin/login");
    assert_eq!(exec.args.len(), 2);
    assert!(exec.provide_cluster_info);
}

#[test]
fn errors_name_places_and_kinds() {
    let of = |text: &str| Kubeconfig::parse(text.as_bytes()).unwrap_err().to_string();
    for case in [
        "users: [{name: a, user: {token: [S3CR3T]}}] => users[0].user.token must be text",
        "users: S3CR3T => users must be a list",
        "users: [S3CR3T] => users[0] must be a mapping",
        "S3CR3T => must be a mapping",
        "clusters: [{name: a, cluster: {insecure-skip-tls-verify: S3CR3T}}] => clusters[0].cluster.insecure-skip-tls-verify must be true or false",
        "users: [{name: a, user: {exec: {args: [1]}}}] => users[0].user.exec.args[0] must be text",
    ] {
        let (text, why) = case.split_once(" => ").unwrap();
        assert_eq!(of(text), why, "{text}");
    }
    let syntax = Kubeconfig::parse(b"users:\n- name: a\n  user: {token: S3CR3T\n").unwrap_err();
    assert!(
        matches!(syntax, KubeconfigFault::Syntax { line: 3.., .. }),
        "{syntax}"
    );
    assert!(!syntax.to_string().contains("S3CR3T"));
    let bytes = Kubeconfig::parse(b"\xff\xfe").unwrap_err();
    assert_eq!(bytes.to_string(), "it is not UTF-8");
}

#[test]
fn nothing_is_a_kubeconfig_too() {
    for text in ["", "---\n", "null", "{}", "users:\nclusters: null\n"] {
        let read = Kubeconfig::parse(text.as_bytes()).unwrap();
        assert!(read.users.is_empty() && read.current_context.is_empty());
    }
}

#[test]
fn the_first_file_wins() {
    let one = "current-context: a\nusers: [{name: x, user: {token: one}}]";
    let two = "current-context: b\nusers: [{name: x, user: {token: two, as: john}}, {name: z}]";
    let mut all = Kubeconfig::parse(one.as_bytes()).unwrap();
    all.merge(Kubeconfig::parse(two.as_bytes()).unwrap());
    assert_eq!(all.current_context, "a");
    assert_eq!(all.users.len(), 2);
    let user = named(&all.users, "x").unwrap();
    assert_eq!(user.token.expose_secret(), "one");
    assert!(user.as_user.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn whatever_is_done_to_a_file_no_error_quotes_it(
        cuts in prop::collection::vec((0..FULL.len(), 0usize..40, "[ -~\n\t]{0,6}"), 1..4),
    ) {
        let mut text = FULL.to_owned();
        for (from, length, put) in cuts {
            let from = from.min(text.len());
            let to = from.saturating_add(length).min(text.len());
            if text.is_char_boundary(from) && text.is_char_boundary(to) {
                text.replace_range(from..to, &put);
            }
        }
        if let Err(error) = Kubeconfig::parse(text.as_bytes()) {
            let said = format!("{error} {error:?}");
            prop_assert!(!said.contains("S3CR3T"), "{said}");
        }
    }
}
