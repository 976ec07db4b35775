use std::collections::BTreeMap;
use std::ffi::OsString;

use super::{Flags, HubError, contexts, resolve, spares};

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
    exec: {apiVersion: client.authentication.k8s.io/v1, command: kubelogin, interactiveMode: IfAvailable}
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
        Self {
            dir,
            variables: BTreeMap::new(),
        }
    }

    fn list(mut self, names: &[&str]) -> Self {
        let paths = names.iter().map(|name| self.dir.path().join(name));
        let list = std::env::join_paths(paths).unwrap();
        self.variables.insert("KUBECONFIG".to_owned(), list);
        self
    }

    fn resolve(&self, flags: &Flags) -> Result<super::Resolved, HubError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(resolve(flags, &|name| self.variables.get(name).cloned()))
    }
}

#[test]
fn a_list_may_name_files_that_do_not_exist() {
    let files = Files::new().list(&["missing", "one", "two"]);
    let resolved = files.resolve(&Flags::default()).unwrap();
    assert_eq!(resolved.context, "hub");
    assert_eq!(resolved.config.default_namespace, "team-a");
    assert_eq!(resolved.config.cluster_url.host(), Some("hub.example"));
    assert!(!resolved.config.default_retry);
    let variable = |name: &str| files.variables.get(name).cloned();
    assert_eq!(
        contexts(&Flags::default(), &variable).unwrap(),
        ["hub", "other"]
    );
}

#[test]
fn a_list_of_missing_files_is_an_error() {
    let files = Files::new().list(&["missing"]);
    let Err(HubError::Config(text)) = files.resolve(&Flags::default()) else {
        panic!("a configuration from nowhere");
    };
    assert!(text.contains("missing"), "{text}");
}

#[test]
fn a_named_file_must_exist_and_stands_alone() {
    let files = Files::new().list(&["one"]);
    let flags = |name: &str| Flags {
        kubeconfig: Some(files.dir.path().join(name)),
        ..Flags::default()
    };
    assert_eq!(files.resolve(&flags("two")).unwrap().context, "other");
    assert!(matches!(
        files.resolve(&flags("missing")),
        Err(HubError::Config(_))
    ));
}

#[test]
fn an_unknown_context_names_the_known_ones() {
    let files = Files::new().list(&["one", "two"]);
    let flags = Flags {
        context: Some("hbu".to_owned()),
        ..Flags::default()
    };
    let error = files.resolve(&flags).err().unwrap();
    assert_eq!(error.hint().unwrap(), "it has hub, other");
}

#[test]
fn flags_win_over_files() {
    let files = Files::new().list(&["one"]);
    let flags = Flags {
        server: Some("https://10.0.0.1:8443".to_owned()),
        tls_server_name: Some("hub.internal".to_owned()),
        insecure: true,
        token: Some("two".to_owned()),
        impersonate: Some("jane".to_owned()),
        impersonate_groups: vec!["ops".to_owned()],
        impersonate_uid: Some("17".to_owned()),
        ..Flags::default()
    };
    let config = files.resolve(&flags).unwrap().config;
    assert_eq!(config.cluster_url.host(), Some("10.0.0.1"));
    assert_eq!(config.tls_server_name.as_deref(), Some("hub.internal"));
    assert!(config.accept_invalid_certs);
    assert_eq!(config.auth_info.impersonate.as_deref(), Some("jane"));
    assert_eq!(config.auth_info.impersonate_uid.as_deref(), Some("17"));
    assert_eq!(
        config.auth_info.impersonate_groups,
        Some(vec!["ops".to_owned()])
    );
}

#[test]
fn a_server_alone_is_enough() {
    let files = Files::new();
    let flags = Flags {
        server: Some("https://10.0.0.1:8443".to_owned()),
        token: Some("two".to_owned()),
        ..Flags::default()
    };
    let resolved = files.resolve(&flags).unwrap();
    assert_eq!(resolved.context, "");
    assert!(resolved.config.auth_info.token.is_some());
}

#[test]
fn a_plugin_does_not_get_what_is_piped_to_us() {
    let files = Files::new().list(&["two"]);
    let mode = |interactive| {
        let flags = Flags {
            interactive,
            ..Flags::default()
        };
        let config = files.resolve(&flags).unwrap().config;
        format!("{:?}", config.auth_info.exec.unwrap().interactive_mode)
    };
    assert_eq!(mode(true), "Some(IfAvailable)");
    assert_eq!(mode(false), "Some(Never)");
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
        ("*", "anything", true),
        ("", "hub.example", false),
    ] {
        assert_eq!(spares(list, host), spared, "{list} {host}");
    }
}
