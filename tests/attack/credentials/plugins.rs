//! Credential plugins that hang: they end with the command, and with all that they have started.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use test_hub::terminal::{CONTROL_C, Terminal, has_terminals};
use test_hub::waiting;

use super::server::{Asked, Papers, Server, forbid};

/// A server, and a kubeconfig whose user is a plugin.
struct Scene {
    folder: tempfile::TempDir,
    server: Server,
}

const CREDENTIAL: &str = r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"TOKEN","expirationTimestamp":"UNTIL"}}"#;

impl Scene {
    fn new(script: &str, answer: fn(&Asked) -> (u16, String)) -> Self {
        let papers = Papers::issue();
        let server = Server::secure(papers.config(&papers.signed(|_| {})), answer);
        let folder = tempfile::tempdir().unwrap();
        let plugin = folder.path().join("login");
        fs::write(
            &plugin,
            format!("#!/bin/sh\ncd {}\n{script}\n", folder.path().display()),
        )
        .unwrap();
        fs::set_permissions(&plugin, fs::Permissions::from_mode(0o755)).unwrap();
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{}', certificate-authority-data: {}}}}}]\n\
             users: [{{name: u, user: {{exec: {{command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable}}}}}}]\n",
            server.port,
            STANDARD.encode(&papers.authority)
        );
        fs::write(folder.path().join("config"), text).unwrap();
        Self { folder, server }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"));
        command
            .args(arguments)
            .arg("--kubeconfig")
            .arg(self.folder.path().join("config"))
            .env_clear()
            .env("HOME", self.folder.path())
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn ids(&self) -> PathBuf {
        self.folder.path().join("ids")
    }

    /// The processes of a plugin that hangs, once it does.
    fn hanging(&self) -> Vec<Pid> {
        let text = waiting::until(
            || "the plugin starts".to_owned(),
            || {
                fs::read_to_string(self.ids())
                    .ok()
                    .filter(|text| text.ends_with('\n'))
            },
        );
        let ids = text.split_whitespace();
        ids.map(|id| Pid::from_raw(id.parse().unwrap()).unwrap())
            .collect()
    }
}

/// Hangs, with a process of its own that hangs too, and minds no polite word.
const HANG: &str = "trap '' TERM INT HUP; sleep 300 & echo $$ $! > ids; wait; sleep 300";

fn is_there(id: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero()));
    let is_dead = stat.is_ok_and(|stat| stat.contains(") Z "));
    test_kill_process(id).is_ok() && !is_dead
}

fn none_is_left(ids: &[Pid]) {
    for id in ids {
        waiting::until_so(|| format!("{id:?} is not left behind"), || !is_there(*id));
    }
}

fn ended(child: &mut Child) -> std::process::ExitStatus {
    waiting::ended(child, || "after a signal".to_owned())
}

/// A plugin that hangs ends when a request has taken too long, which is said.
fn ends_by_the_time_limit(scene: &Scene, says: &str) {
    let mut command = scene.command(&["list", "-A", "--request-timeout=2s"]);
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains(says), "{err}");
    none_is_left(&scene.hanging());
}

#[test]
fn a_plugin_that_hangs_ends_by_the_time_limit() {
    let scene = Scene::new(HANG, forbid);
    let says = "the credential plugin login did not answer within 2s";
    ends_by_the_time_limit(&scene, says);
    assert!(scene.server.take().is_empty());
}

#[test]
fn a_plugin_that_hangs_ends_by_a_signal() {
    use std::os::unix::process::ExitStatusExt;
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let scene = Scene::new(HANG, forbid);
        let mut child = scene.command(&["list", "-A"]).spawn().unwrap();
        let ids = scene.hanging();
        kill_process(Pid::from_child(&child), signal).unwrap();
        // As without a plugin.
        assert_eq!(
            ended(&mut child).signal(),
            Some(signal.as_raw()),
            "{signal:?}"
        );
        none_is_left(&ids);
    }
}

#[test]
fn a_plugin_that_hangs_later_ends_too() {
    use std::os::unix::process::ExitStatusExt;
    // What it gives at first has expired, so that it is asked once more with the first request.
    let credential = CREDENTIAL.replace("UNTIL", "2020-01-01T00:00:00Z");
    let script = format!("if [ -e again ]; then {HANG}; fi; touch again; echo '{credential}'");
    ends_by_the_time_limit(&Scene::new(&script, forbid), "within 2s");
    let scene = Scene::new(&script, forbid);
    let mut child = scene.command(&["list", "-A"]).spawn().unwrap();
    let ids = scene.hanging();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(ended(&mut child).signal(), Some(Signal::TERM.as_raw()));
    none_is_left(&ids);
}

#[test]
fn after_a_plugin_a_signal_ends_the_command_as_ever() {
    use std::os::unix::process::ExitStatusExt;
    fn never(_: &Asked) -> (u16, String) {
        waiting::pass(waiting::HANGS);
        (200, String::new())
    }
    let credential = CREDENTIAL.replace("UNTIL", "2999-01-01T00:00:00Z");
    let scene = Scene::new(&format!("echo '{credential}'; touch ids"), never);
    let mut child = scene.command(&["list", "-A"]).spawn().unwrap();
    waiting::until_so(|| "the plugin starts".to_owned(), || scene.ids().exists());
    waiting::until_idle(child.id());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(ended(&mut child).signal(), Some(Signal::INT.as_raw()));
}

#[test]
fn a_plugin_is_asked_once_and_again_when_its_answer_is_refused() {
    fn answer(asked: &Asked) -> (u16, String) {
        match asked.authorization.as_deref() {
            Some("Bearer 1") if asked.path.starts_with("/apis/placement") => (401, String::new()),
            _ if asked.path == "/apis" => (
                200,
                r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"placement.kubernetes-fleet.io","versions":[{"groupVersion":"placement.kubernetes-fleet.io/v1beta1","version":"v1beta1"}],"preferredVersion":{"groupVersion":"placement.kubernetes-fleet.io/v1beta1","version":"v1beta1"}}]}"#
                    .to_owned(),
            ),
            _ => forbid(asked),
        }
    }
    let credential = CREDENTIAL
        .replace("TOKEN", "'$n'")
        .replace("UNTIL", "2999-01-01T00:00:00Z");
    let script = format!("n=$(($(cat n 2>/dev/null)+1)); echo $n > n; echo '{credential}'");
    let scene = Scene::new(&script, answer);
    scene.command(&["list", "-A"]).output().unwrap();
    let asked = scene.server.take();
    let tokens: Vec<_> = asked
        .iter()
        .filter_map(|asked| asked.authorization.as_deref())
        .collect();
    let calls = fs::read_to_string(scene.folder.path().join("n")).unwrap();
    assert!(
        tokens.first() == Some(&"Bearer 1") && tokens.len() > 1,
        "{asked:?}"
    );
    if tokens.contains(&"Bearer 2") {
        assert_eq!(calls.trim(), "2", "{asked:?}");
    } else {
        assert_eq!(calls.trim(), "1", "{asked:?}");
    }
}

#[test]
fn a_plugin_may_ask_at_a_terminal() {
    if !has_terminals() {
        return;
    }
    let credential = CREDENTIAL
        .replace("TOKEN", "'$word'")
        .replace("UNTIL", "2999-01-01T00:00:00Z");
    let script = format!("printf 'Password: ' >&2; read word; echo '{credential}'");
    let scene = Scene::new(&script, forbid);
    let mut terminal = Terminal::start(&scene.command(&["list", "-A"]), 80);
    terminal.until("Password: ");
    terminal.types("typed\r");
    terminal.end();
    let asked = scene.server.take();
    assert_eq!(asked[0].authorization.as_deref(), Some("Bearer typed"));

    // An interrupt reaches it like us.
    let script = format!("echo $$ > ids; printf 'Password: ' >&2; read word; {HANG}");
    let scene = Scene::new(&script, forbid);
    let mut terminal = Terminal::start(&scene.command(&["list", "-A"]), 80);
    terminal.until("Password: ");
    let ids = scene.hanging();
    terminal.types(CONTROL_C);
    terminal.end();
    none_is_left(&ids);
}
