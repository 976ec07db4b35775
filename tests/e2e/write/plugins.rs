//! A credential plugin that hangs in the middle of a write: the command ends, the plugin with it, and
//! nothing was sent.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::desk::interrupt;
use super::{ALL, BEFORE, condition, gated};
use crate::scene::both;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// More often than a command asks.
const MOST: usize = 60;

/// A plugin that gives what has expired at once, so that it is asked for each request, and hangs the
/// how many-th time the file `hangs` says.
fn plugin(folder: &Path, kubeconfig: &Path) -> PathBuf {
    let text = fs::read_to_string(kubeconfig).unwrap();
    let mut config: Value = serde_saphyr::from_str(&text).unwrap();
    let users = config["users"].as_array().unwrap();
    let token = users[0]["user"]["token"].as_str().unwrap();
    let credential = json!({
        "kind": "ExecCredential",
        "apiVersion": "client.authentication.k8s.io/v1",
        "status": {"token": token, "expirationTimestamp": "2020-01-01T00:00:00Z"},
    });
    let script = format!(
        "cd {}; n=$(($(cat n 2>/dev/null)+1)); echo $n > n\n\
         if [ $n = $(cat hangs) ]; then trap '' TERM INT; sleep 300 & echo $$ $! > ids; wait; sleep 300; fi\n\
         echo '{credential}'",
        folder.display()
    );
    config["users"][0]["user"] = json!({"exec": {
        "command": "sh",
        "args": ["-c", script],
        "apiVersion": "client.authentication.k8s.io/v1",
        "interactiveMode": "Never",
    }});
    let path = folder.join("config");
    fs::write(&path, config.to_string()).unwrap();
    path
}

#[test]
fn a_plugin_that_hangs_at_any_moment_of_an_approval_sends_nothing() {
    let scenes = both("plugins");
    let Some(scene) = scenes.into_iter().find(|scene| !scene.namespaced) else {
        return;
    };
    if scene.hub.is_real() {
        eprintln!("skipped: it takes a hub of ours");
        return;
    }
    scene.set(&gated(&[(0, BEFORE)]), &ALL);
    scene.run(&scene.name, "Run");
    scene.until_waiting(&scene.name);
    let request = scene.request_path(&format!("{}-before-staging", scene.name));
    let folder = tempfile::tempdir().unwrap();
    let config = plugin(folder.path(), &scene.hub.kubeconfig);
    let at = |name: &str| folder.path().join(name);
    for number in 1..MOST {
        fs::write(at("hangs"), number.to_string()).unwrap();
        for old in ["n", "ids"] {
            let _ = fs::remove_file(at(old));
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"))
            .args([
                "approve",
                &scene.name,
                "--yes",
                "--wait=false",
                "--context",
                "hub",
            ])
            .arg("--kubeconfig")
            .arg(&config)
            .arg("--request-timeout=30s")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let mut interrupted = false;
        while child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "call {number}: it does not end");
            let hangs = fs::read_to_string(at("ids")).is_ok_and(|ids| ids.ends_with('\n'));
            if hangs && !interrupted {
                interrupt(child.id());
                interrupted = true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        let hung = fs::read_to_string(at("ids")).unwrap_or_default();
        let approved = scene.hub.read(&request).unwrap();
        let approved = !condition(&approved, "Approved").is_null();
        if hung.is_empty() {
            // It was not asked as often.
            assert_eq!((output.status.code(), approved), (Some(0), true), "{err}");
            assert!(number > 3, "a plugin is asked for each request");
            return;
        }
        // Before a command writes, a signal ends it as any other.
        let code = output.status.code();
        assert!(
            matches!(code, Some(1 | 5 | 7 | 130) | None),
            "call {number}: {code:?}: {err}"
        );
        if approved {
            // What hung was a read behind the write.
            assert!(!err.contains("nothing was sent"), "call {number}: {err}");
            return;
        }
        for id in hung.split_whitespace() {
            let until = Instant::now() + PATIENCE;
            let stat = format!("/proc/{id}/stat");
            while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
                assert!(
                    Instant::now() < until,
                    "call {number}: {id} was left behind"
                );
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
    panic!("the command asks more often than {MOST} times");
}
