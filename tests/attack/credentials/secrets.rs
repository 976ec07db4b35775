//! Secrets of a kubeconfig, of flags and of plugins: whatever goes wrong, none is shown.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::server::{Answer, Asked, Papers, Server, alone, forbid};
use crate::{ends, program, tries};

/// What no output may hold.
const SECRET: &str = "S3CR3T";

/// A kubeconfig with a secret in each field that may hold one; `{}` is the server's address.
const CONFIG: &str = "apiVersion: v1
kind: Config
current-context: c
contexts:
- name: c
  context: {cluster: c, user: u}
clusters:
- name: c
  cluster:
    server: {}
    insecure-skip-tls-verify: true
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {secret: S3CR3T-extension}
users:
- name: u
  user:
FIELDS
";

/// Ways to log in.
const USERS: &[&str] = &[
    "    token: S3CR3T-token",
    "    username: jane\n    password: S3CR3T-password",
    "    token: S3CR3T-token\n    username: jane\n    password: S3CR3T-password",
    "    token: \"S3CR3T-token\\n\"",
    "    client-certificate-data: S3CR3T\n    client-key-data: S3CR3T",
    "    client-certificate-data: UzNDUjNU\n    client-key-data: UzNDUjNU",
    "    as-user-extra: {a: [S3CR3T]}",
    "    as: \"S3CR3T\\n\"",
    "    auth-provider: {name: oidc, config: {client-secret: S3CR3T, refresh-token: S3CR3T}}",
    "    auth-provider: {name: gcp, config: {access-token: S3CR3T, cmd-path: ./fails, cmd-args: S3CR3T}}",
    "    tokenFile: token",
    "    tokenFile: lines",
    EXEC_FAILS,
    EXEC_PRINTS,
    EXEC_LACKS,
    "    exec: {command: no-such-plugin, args: [S3CR3T], env: [{name: A, value: S3CR3T}], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
    "    exec: {command: ./fails, args: [S3CR3T], env: [{name: S3CR3T, value: \"S3CR3T\\0\"}], apiVersion: S3CR3T, interactiveMode: S3CR3T}",
];

const EXEC_FAILS: &str = "    exec: {command: ./fails, args: [S3CR3T], env: [{name: A, value: S3CR3T}], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, provideClusterInfo: true}";
const EXEC_PRINTS: &str = "    exec: {command: ./prints, args: [S3CR3T], env: [{name: A, value: S3CR3T}], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}";
const EXEC_LACKS: &str = "    exec: {command: ./lacks, args: [S3CR3T], env: [{name: A, value: S3CR3T}], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    put("token", "S3CR3T\n");
    put("lines", "S3CR3T\nS3CR3T\n");
    put("fails", "#!/bin/sh\necho $1 $A\nexit 3\n");
    put("prints", "#!/bin/sh\necho \"{$1: [$A\"\n");
    put(
        "lacks",
        "#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"clientKeyData\":\"'$A'\"}}'\n",
    );
    folder
}

/// The commands that are tried, with the outputs that each has.
const COMMANDS: &[&[&str]] = &[
    &["list", "-A", "-v"],
    &["doctor", "-o", "json"],
    &["diagnose", "--all", "-A", "-v", "-o", "json"],
    &["collect", "--all", "-A", "-v"],
];

fn run(command: &[&str], config: &Path, flags: &[String]) -> (String, Output) {
    let mut command: Command = program(command);
    command
        .args(flags)
        .arg("--kubeconfig")
        .arg(config)
        .arg("--request-timeout=5s")
        .env_remove("KUBECONFIG");
    let output = ends(&mut command);
    let said =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    (said.join("\n"), output)
}

/// Runs the commands on a kubeconfig, of which nothing secret may be shown.
fn keeps(folder: &Path, text: &str, flags: &[String], commands: &[&[&str]]) {
    let config = folder.join("config");
    fs::write(&config, text).unwrap();
    for command in commands {
        let (said, output) = run(command, &config, flags);
        let shown = said.contains(SECRET) || said.contains("UzNDUjNU");
        assert!(
            !shown,
            "{command:?} {flags:?} shows a secret:\n{said}\nof\n{text}"
        );
        assert!(!output.status.success(), "{command:?} {flags:?}: {said}");
    }
}

#[test]
fn no_failure_shows_what_a_kubeconfig_holds() {
    let folder = folder();
    let papers = Papers::issue();
    let servers = [
        Server::plain(forbid),
        Server::secure(papers.config(&alone(|_| {})), forbid),
        Server::secure(papers.config(&alone(|_| {})), |_| (401, String::new())),
    ];
    let addresses = [
        format!("http://jane:S3CR3T@127.0.0.1:{}", servers[0].port),
        format!("https://jane:S3CR3T@127.0.0.1:{}", servers[0].port),
        format!("https://127.0.0.1:{}", servers[1].port),
        format!("https://127.0.0.1:{}/S3CR%33T", servers[2].port).replace("/S3CR%33T", ""),
        "https://jane:S3CR3T@127.0.0.1:1".to_owned(),
        "https://jane:S3CR3T@127.0.0.1:port".to_owned(),
        "https://jane:S3CR3T @127.0.0.1".to_owned(),
        "https://S3CR3T\\".to_owned(),
    ];
    for (place, user) in USERS.iter().enumerate() {
        for (other, address) in addresses.iter().enumerate() {
            let text = CONFIG
                .replace("{}", &format!("'{address}'"))
                .replace("FIELDS", user);
            // Each pair with one of the commands, so that it takes seconds.
            let command = (place + other) % COMMANDS.len();
            keeps(folder.path(), &text, &[], &COMMANDS[command..=command]);
        }
    }
}

#[test]
fn no_mistake_in_a_kubeconfig_shows_what_it_holds() {
    let folder = folder();
    let whole = CONFIG
        .replace("{}", "'https://jane:S3CR3T@127.0.0.1:1'")
        .replace(
            "FIELDS",
            &format!("{EXEC_FAILS}\n    token: S3CR3T\n    tokenFile: token"),
        );
    let lines: Vec<&str> = whole.lines().collect();
    let command = &COMMANDS[..1];
    for (number, line) in lines.iter().enumerate() {
        let Some((key, _)) = line.split_once(": ") else {
            continue;
        };
        // Names of contexts, clusters, users and hosts are shown: errors are about them.
        if ["current-context", "- name", "  context", "    server"].contains(&key) {
            continue;
        }
        for wrong in [
            "[S3CR3T]",
            "{S3CR3T: S3CR3T}",
            "\"S3CR3T",
            "S3CR3T: S3CR3T",
            "*S3CR3T",
            "!!S3CR3T S3CR3T",
        ] {
            let changed = format!("{key}: {wrong}");
            let mut lines = lines.clone();
            lines[number] = &changed;
            let config = folder.path().join("config");
            fs::write(&config, lines.join("\n")).unwrap();
            let (said, _) = run(command[0], &config, &[]);
            assert!(!said.contains(SECRET), "{changed}:\n{said}");
        }
    }
}

#[test]
fn no_failure_shows_what_flags_hold() {
    let folder = folder();
    let flags = |all: &[&str]| {
        all.iter()
            .map(|flag| (*flag).to_owned())
            .collect::<Vec<_>>()
    };
    let text = CONFIG
        .replace("{}", "'https://127.0.0.1:1'")
        .replace("FIELDS", "    as: jane");
    for given in [
        flags(&["--token=S3CR3T"]),
        flags(&["--token=S3CR3T\n"]),
        flags(&["-s", "http://jane:S3CR3T@127.0.0.1:1", "--token=S3CR3T"]),
        flags(&["-s", "https://jane:S3CR3T@127.0.0.1:1"]),
        flags(&["-s", "jane:S3CR3T@127.0.0.1:1"]),
        flags(&["-s", "https://jane:S3CR3T@127.0.0.1:1 "]),
        flags(&["-s", "https://jane:S3CR3T@[::1"]),
        flags(&["-s", "S3CR3T://jane"]),
        flags(&["--token=S3CR3T", "--context=missing"]),
    ] {
        keeps(folder.path(), &text, &given, COMMANDS);
    }
}

/// What a hub needs to be one: everything behind it quotes.
const DISCOVERY: &str = r#"{"apiVersion":"apidiscovery.k8s.io/v2","kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"placement.kubernetes-fleet.io"},"versions":[{"version":"v1beta1","resources":[{"resource":"clusterstagedupdateruns"},{"resource":"clusterresourceplacements"},{"resource":"clusterapprovalrequests"}]}]}]}"#;

/// What the server was shown, in its own words.
fn shown(asked: &Asked) -> String {
    let shown = asked.authorization.clone().unwrap_or_default();
    format!(
        "you are {shown} ({})",
        shown.rsplit([' ', ':']).next().unwrap()
    )
}

fn late(asked: &Asked, answer: impl Fn(String) -> (u16, String)) -> (u16, String) {
    if asked.path == "/apis" {
        return (200, DISCOVERY.to_owned());
    }
    answer(shown(asked))
}

fn refused(words: String) -> (u16, String) {
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden",
        "message": words, "code": 403, "details": {"name": "x"},
    });
    (403, status.to_string())
}

/// Servers that quote who asks, at once or behind what makes them a hub.
const QUOTING: [Answer; 8] = [
    |asked| refused(shown(asked)),
    |asked| (401, shown(asked)),
    |asked| (200, shown(asked)),
    |asked| late(asked, refused),
    |asked| late(asked, |words| (401, words)),
    |asked| late(asked, |words| (200, words)),
    |asked| {
        late(asked, |words| {
            (200, format!("<html><title>{words}</title>"))
        })
    },
    |asked| {
        late(asked, |words| {
            let list = serde_json::json!({"apiVersion": words, "kind": words, "items": []});
            (200, list.to_string())
        })
    },
];

/// Whoever answers knows the token that it was shown, and may say it back.
#[test]
fn no_answer_that_quotes_a_secret_shows_it() {
    let papers = Papers::issue();
    for answer in QUOTING {
        let server = Server::secure(papers.config(&papers.signed(|_| {})), answer);
        for user in [
            "    token: S3CR3T-token",
            "    username: jane\n    password: S3CR3T-password",
        ] {
            let folder = folder();
            let text = CONFIG
                .replace("{}", &format!("'https://127.0.0.1:{}'", server.port))
                .replace("FIELDS", user);
            keeps(folder.path(), &text, &[], COMMANDS);
            assert!(!server.take().is_empty());
        }
    }
}

#[test]
fn nothing_that_goes_into_the_client_is_a_panic() {
    let folder = folder();
    let config = folder.path().join("config");
    let text = CONFIG
        .replace("{}", "'https://127.0.0.1:1'")
        .replace("FIELDS", "    as: jane");
    fs::write(&config, text).unwrap();
    let values = [
        "",
        " ",
        "\n",
        "a\nb",
        "a\r\n",
        "\u{1}",
        "\u{7f}",
        "\u{e9}",
        "\u{1f600}",
        "127.0.0.1:1",
        ":1",
        "[::1]:1",
        "[::1",
        "::1",
        "https://",
        "https://127.0.0.1:0",
        "https://127.0.0.1:99999",
        "http://127.0.0.1:1/%zz",
        "http://127.0.0.1:1/\u{e9} ",
        "https://a..b",
        "https://-",
        "https://_:1",
        "https://xn--",
        "https://127.0.0.1:1?x#y",
        "//127.0.0.1:1",
        "/",
        "@",
        "a@",
        "%",
        "https://%41:1",
    ];
    let flags = [
        "--server",
        "--token",
        "--tls-server-name",
        "--as",
        "--as-group",
        "--as-uid",
        "--user",
        "--cluster",
    ];
    for value in values.iter().take(tries(values.len())) {
        for flag in flags {
            if value.contains('\0') {
                continue;
            }
            // A name that is not known may take long to be looked up: it is not asked for.
            if flag == "--server" && (value.contains("a..b") || value.contains("xn--")) {
                continue;
            }
            let (said, _) = run(&["list", "-A"], &config, &[format!("{flag}={value}")]);
            assert!(!said.contains("OtherError"), "{flag}={value:?}: {said}");
        }
    }
}
