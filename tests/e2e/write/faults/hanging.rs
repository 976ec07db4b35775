//! A credential plugin that hangs at each request before the write: an interrupt ends the command and
//! the plugin, and nothing is sent.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_hub::waiting;

use super::{DEEDS, Deed, Subject, is_done, tabled};
use crate::scene::Scene;
use crate::write::desk::interrupt;

/// More often than a command asks.
const MOST: usize = 80;

/// The deeds that were tried.
pub(super) type Table = BTreeSet<Deed>;

/// A folder with a plugin and a kubeconfig that runs it.
struct Plugin {
    folder: TempDir,
    kubeconfig: PathBuf,
}

impl Plugin {
    /// A plugin that gives what has expired at once, so that it is asked for each request, and hangs
    /// the how many-th time the file `hangs` says, with a process of its own that hangs too.
    fn new(kubeconfig: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = fs::read_to_string(kubeconfig).unwrap();
        let mut config: Value = serde_saphyr::from_str(&text).unwrap();
        let token = config["users"][0]["user"]["token"].as_str().unwrap();
        let credential = json!({
            "kind": "ExecCredential",
            "apiVersion": "client.authentication.k8s.io/v1",
            "status": {"token": token, "expirationTimestamp": "2020-01-01T00:00:00Z"},
        });
        let script = format!(
            "cd {}; n=$(($(cat n 2>/dev/null)+1)); echo $n > n\n\
             if [ $n = $(cat hangs) ]; then trap '' TERM INT; sleep 300 & echo $$ $! > ids; wait; sleep 300; fi\n\
             echo '{credential}'",
            folder.path().display()
        );
        config["users"][0]["user"] = json!({"exec": {
            "command": "sh",
            "args": ["-c", script],
            "apiVersion": "client.authentication.k8s.io/v1",
            "interactiveMode": "Never",
        }});
        let kubeconfig = folder.path().join("config");
        fs::write(&kubeconfig, config.to_string()).unwrap();
        Self { folder, kubeconfig }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Hangs at this request from now on.
    fn hang_at(&self, number: usize) {
        fs::write(self.at("hangs"), number.to_string()).unwrap();
        for old in ["n", "ids"] {
            // The first time there is none.
            let _ = fs::remove_file(self.at(old));
        }
    }

    /// The processes of a plugin that hangs; none before it does.
    fn hanging(&self) -> Vec<String> {
        let ids = fs::read_to_string(self.at("ids")).unwrap_or_default();
        if !ids.ends_with('\n') {
            return Vec::new();
        }
        ids.split_whitespace().map(str::to_owned).collect()
    }
}

/// Runs a deed, interrupts it when the plugin hangs, and gives its exit code and what it said.
fn interrupted(plugin: &Plugin, words: &[&str], what: &str) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"))
        .args(words)
        .args(["--context", "hub", "--request-timeout=30s", "--kubeconfig"])
        .arg(&plugin.kubeconfig)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut is_interrupted = false;
    waiting::until_so(
        || format!("{what}: it ends"),
        || {
            if !is_interrupted && !plugin.hanging().is_empty() {
                interrupt(child.id());
                is_interrupted = true;
            }
            child.try_wait().unwrap().is_some()
        },
    );
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), err)
}

/// Fails where one of these processes is left behind.
fn none_is_left(ids: &[String], what: &str) {
    for id in ids {
        let stat = || fs::read_to_string(format!("/proc/{id}/stat"));
        waiting::until_so(
            || format!("{what}: {id} is not left behind"),
            || stat().map_or(true, |stat| stat.contains(") Z ")),
        );
    }
}

/// Tries a deed with a plugin that hangs at each request in turn, until the write is done.
pub(super) fn tried(deed: Deed, scene: &Scene) {
    deed.set(scene);
    let subject: Subject = deed.prepare(scene, 0);
    let placement = format!("crp/{}", scene.name);
    let words = deed.words(scene, &subject, &placement);
    let plugin = Plugin::new(&scene.hub.kubeconfig);
    for number in 1..MOST {
        plugin.hang_at(number);
        let what = format!("{deed:?}, request {number}");
        let (code, err) = interrupted(&plugin, &words, &what);
        let hung = plugin.hanging();
        none_is_left(&hung, &what);
        assert!(!err.contains("panicked"), "{what}: {err}");
        if is_done(deed, scene, &subject, None) {
            // What hung was a read behind the write, if anything.
            assert!(!err.contains("nothing was sent"), "{what}: {err}");
            assert!(number > 2, "{what}: a plugin is asked for each request");
            return;
        }
        assert!(!hung.is_empty(), "{what}: it is not done: {err}");
        // Before a command minds signals, one ends it as it ends any other program.
        assert!(matches!(code, Some(130) | None), "{what}: {code:?}: {err}");
    }
    panic!("{deed:?} asks more often than {MOST} times");
}

/// The part of the reference.
pub(super) fn page(table: &Table) -> String {
    let text = "\n## When a credential plugin hangs\n\n\
         A credential plugin is asked before each request. It hung at each request in turn, with a \
         child process, and ignored SIGTERM. An interrupt ended the command and both processes: \
         with exit code 130, or by the signal itself if the command had not yet begun to handle \
         signals.\n\n";
    let rows = ["the plugin, at any request before the write"];
    tabled(text, "what hangs", rows, &DEEDS, |_, deed| {
        if table.contains(&deed) {
            "130, not done"
        } else {
            ""
        }
    })
}
