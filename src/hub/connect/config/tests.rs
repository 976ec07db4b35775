use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use proptest::prelude::*;

use super::proxy::spares;
use super::{ConnectionFlags, ConnectionSettings, HubError, RunningPlugin, contexts, resolve};
use crate::hub::connect::tls::Trust;
use crate::hub::request::connection::Connection;
use crate::words::Hint;

const ONE: &str = "
apiVersion: v1
kind: Config
current-context: hub
clusters:
- {name: hub, cluster: {server: 'https://hub.example:6443'}}
contexts:
- {name: hub, context: {cluster: hub, user: admin, namespace: team-a}}
users:
- {name: admin, user: {token: one}}
";
const TWO: &str = "
apiVersion: v1
kind: Config
current-context: other
clusters:
- {name: other, cluster: {server: 'https://other.example'}}
contexts:
- {name: other, context: {cluster: other, user: plugin}}
users:
- name: plugin
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: IfAvailable}
";

struct Files {
    dir: tempfile::TempDir,
    variables: BTreeMap<String, OsString>,
}

impl Files {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("one"), ONE).unwrap();
        std::fs::write(dir.path().join("two"), TWO).unwrap();
        // Where plugins are looked for.
        let path = std::env::var_os("PATH").unwrap();
        Self {
            dir,
            variables: BTreeMap::from([("PATH".to_owned(), path)]),
        }
    }

    fn list(mut self, names: &[&str]) -> Self {
        let paths = names.iter().map(|name| self.dir.path().join(name));
        let list = std::env::join_paths(paths).unwrap();
        self.variables.insert("KUBECONFIG".to_owned(), list);
        self
    }

    fn resolve(&self, flags: &ConnectionFlags) -> Result<super::ResolvedConnection, HubError> {
        let running = RunningPlugin {
            terminal: flags.interactive,
            ..RunningPlugin::default()
        };
        resolve(flags, &|name| self.variables.get(name).cloned(), &running)
    }
}

fn named(path: PathBuf) -> ConnectionFlags {
    ConnectionFlags {
        kubeconfig: Some(path),
        ..ConnectionFlags::default()
    }
}

#[test]
fn a_list_may_name_files_that_do_not_exist() {
    let files = Files::new().list(&["missing", "one", "two"]);
    let resolved = files.resolve(&ConnectionFlags::default()).unwrap();
    assert_eq!(resolved.context, "hub");
    assert_eq!(resolved.settings.namespace, "team-a");
    assert_eq!(resolved.settings.address.host(), "hub.example");
    let variable = |name: &str| files.variables.get(name).cloned();
    let known = contexts(&ConnectionFlags::default(), &variable).unwrap();
    let names: Vec<_> = known.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["hub", "other"]);
}

#[test]
fn contexts_are_alike_that_lead_to_the_same_server_as_the_same_user() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config");
    let text = "
clusters:
- {name: a, cluster: {server: 'https://hub.example/'}}
- {name: b, cluster: {server: 'https://hub.example'}}
- {name: sni, cluster: {server: 'https://hub.example', tls-server-name: other}}
contexts:
- {name: one, context: {cluster: a, user: me, namespace: shop}}
- {name: same, context: {cluster: b, user: me, namespace: bank}}
- {name: other-user, context: {cluster: b, user: you}}
- {name: other-server, context: {cluster: sni, user: me}}
- {name: nowhere, context: {cluster: c, user: me}}
";
    std::fs::write(&path, text).unwrap();
    let known = contexts(&named(path), &|_| None).unwrap();
    let place = |name: &str| {
        let known = known.iter().find(|(known, _)| known == name).unwrap();
        known.1.clone()
    };
    assert_eq!(place("one"), place("same"));
    assert_ne!(place("one"), place("other-user"));
    assert_ne!(place("one"), place("other-server"));
    assert_eq!(place("nowhere"), None);
}

#[test]
fn a_list_of_missing_files_is_an_error() {
    let files = Files::new().list(&["missing"]);
    let Err(HubError::Config(text)) = files.resolve(&ConnectionFlags::default()) else {
        panic!("a configuration from nowhere");
    };
    assert!(text.contains("missing"), "{text}");
}

#[test]
fn a_named_file_must_exist_and_stands_alone() {
    let files = Files::new().list(&["one"]);
    let resolved = |name: &str| files.resolve(&named(files.dir.path().join(name)));
    assert_eq!(resolved("two").unwrap().context, "other");
    assert!(matches!(resolved("missing"), Err(HubError::Config(_))));
}

#[test]
fn an_unknown_context_names_the_known_ones() {
    let files = Files::new().list(&["one", "two"]);
    let flags = ConnectionFlags {
        context: Some("hbu".to_owned()),
        ..ConnectionFlags::default()
    };
    let error = files.resolve(&flags).err().unwrap();
    assert_eq!(error.hint().unwrap(), Hint::new("it has hub, other"));
}

#[test]
fn flags_win_over_files() {
    let files = Files::new().list(&["one"]);
    let flags = ConnectionFlags {
        server: Some("https://10.0.0.1:8443".to_owned()),
        tls_server_name: Some("hub.internal".to_owned()),
        insecure: true,
        token: Some("two".to_owned()),
        impersonate: Some("jane".to_owned()),
        impersonate_groups: vec!["ops".to_owned()],
        impersonate_uid: Some("17".to_owned()),
        ..ConnectionFlags::default()
    };
    let settings = files.resolve(&flags).unwrap().settings;
    assert_eq!(settings.address.host(), "10.0.0.1");
    let tls = settings.tls.as_ref().unwrap();
    assert_eq!(tls.name.to_str(), "hub.internal");
    assert!(matches!(tls.trust, Trust::Any));
    let headers = settings.headers.iter();
    let headers = headers.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
    let headers: Vec<_> = headers.collect();
    let wanted = "impersonate-user: jane, impersonate-uid: 17, impersonate-group: ops";
    assert_eq!(headers.join(", "), wanted);
    assert_eq!(who(&settings), "Bearer two");
}

#[test]
fn a_server_alone_is_enough() {
    let files = Files::new();
    let flags = ConnectionFlags {
        server: Some("https://10.0.0.1:8443".to_owned()),
        token: Some("two".to_owned()),
        ..ConnectionFlags::default()
    };
    let resolved = files.resolve(&flags).unwrap();
    assert_eq!(resolved.context, "");
    assert_eq!(who(&resolved.settings), "Bearer two");
}

#[test]
fn no_proxy_names_servers() {
    for (list, host, spared) in [
        ("hub.example", "hub.example", true),
        (".example", "hub.example", true),
        ("example.com,*.example", "hub.example", true),
        ("other", "hub.example", false),
        ("10.0.0.0/8", "10.1.2.3", true),
        ("10.0.0.0/8", "11.1.2.3", false),
        ("fd00::/8, ::1", "[fd00::1]", true),
        ("hub.example:6443", "hub.example", true),
        ("b.example", "hub.example", false),
        ("*", "anything", true),
        ("*", "10.1.2.3", true),
        ("", "hub.example", false),
    ] {
        let server = format!("https://{host}:6443").parse().unwrap();
        assert_eq!(spares(list, &server), spared, "{list} {host}");
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

/// The header that says who asks.
fn who(settings: &ConnectionSettings) -> String {
    let current = runtime().block_on(settings.credentials.get(None)).unwrap();
    let header = current.header.as_ref();
    header.map_or_else(String::new, |header| header.to_str().unwrap().to_owned())
}

fn of(cluster: &str, user: &str) -> Result<ConnectionSettings, String> {
    of_flags(cluster, user, ConnectionFlags::default())
}

fn of_flags(
    cluster: &str,
    user: &str,
    mut flags: ConnectionFlags,
) -> Result<ConnectionSettings, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    let text = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {{{cluster}}}}}]\nusers: [{{name: u, user: {{{user}}}}}]\n"
    );
    std::fs::write(&path, text).unwrap();
    flags.kubeconfig = Some(path);
    let none = |_: &str| None;
    let resolved = resolve(&flags, &none, &RunningPlugin::default());
    let settings = resolved.map(|resolved| resolved.settings);
    settings.map_err(|error| format!("{error} {error:?}"))
}

const TLS: &str = "server: 'https://hub'";

// `tests/attack/credentials` compares kubeconfigs with kubectl; here is what its table lacks.
#[test]
fn rare_users_and_names_are_taken_as_kubectl_takes_them() {
    let provider = "auth-provider: {name: oidc, config: {id-token: one}}";
    assert_eq!(who(&of(TLS, provider).unwrap()), "Bearer one");
    let certificate = "client-certificate-data: '!', client-key-data: '!'";
    let plain = of("server: 'http://hub'", certificate).unwrap();
    assert!(plain.tls.is_none() && plain.headers.is_empty());
    assert_eq!(who(&plain), "");
    let said = of(&format!("{TLS}, tls-server-name: 'S3CR3T!'"), "").unwrap_err();
    let why = "not a valid name for a certificate";
    assert!(said.contains(why), "{said}");
    assert!(!said.contains("S3CR3T"), "{said}");
}

#[test]
fn a_flag_lets_a_server_be_anyone_in_spite_of_an_authority() {
    let flags = ConnectionFlags {
        insecure: true,
        ..ConnectionFlags::default()
    };
    let cluster = "server: 'https://hub', certificate-authority-data: AAAA";
    let settings = of_flags(cluster, "", flags);
    assert!(matches!(settings.unwrap().tls.unwrap().trust, Trust::Any));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]
    #[test]
    fn no_flag_is_a_panic(
        server in "(https?://)?\\PC{0,12}(:[0-9]{0,6})?",
        token in prop::option::of(any::<String>()),
        name in prop::option::of("\\PC{0,8}"),
        user in prop::option::of(any::<String>()),
        groups in prop::collection::vec(any::<String>(), 0..3),
        uid in prop::option::of(any::<String>()),
    ) {
        let flags = ConnectionFlags {
            server: Some(server),
            token,
            tls_server_name: name,
            impersonate: user,
            impersonate_groups: groups,
            impersonate_uid: uid,
            insecure: true,
            ..ConnectionFlags::default()
        };
        let runtime = runtime();
        let _inside = runtime.enter();
        if let Ok(resolved) = Files::new().resolve(&flags) {
            prop_assert!(Connection::prepare(resolved.settings, None).is_ok());
        }
    }
}
