//! The release script of the page for shells, as it stands there.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;
use test_hub::standin::Trouble;

use super::{LIMIT, act, index_of};
use crate::scene::{ALL, Scene, one_gate, play, stage, three_stages};

/// A folder to run the script in, with a kubectl that knows our plugin and leads to the hub.
pub(super) struct Job {
    folder: tempfile::TempDir,
}

impl Job {
    fn new(scene: &Scene) -> Self {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ci/shell.md");
        let page = std::fs::read_to_string(page).unwrap();
        let script = page
            .split("```sh\n")
            .find(|block| block.starts_with("#!/bin/sh\n# release.sh"))
            .and_then(|block| block.split("```").next())
            .unwrap();
        let job = Self::without_script(scene);
        job.write("release.sh", script);
        job
    }

    /// Nothing but a kubectl, which applies nothing.
    pub(super) fn without_script(scene: &Scene) -> Self {
        let scope = if scene.namespaced {
            format!("-n {}", scene.namespace)
        } else {
            String::new()
        };
        let kubectl = format!(
            "#!/bin/sh\n[ \"$1\" = apply ] && exit 0\n[ \"$1\" = fleet-stage ] || exit 97\nshift\n\
             exec '{}' \"$@\" {scope} --kubeconfig '{}' --context hub\n",
            env!("CARGO_BIN_EXE_kubectl-fleet-stage"),
            scene.hub.kubeconfig.display()
        );
        let job = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        job.write("kubectl", &kubectl);
        job
    }

    /// Writes a program into the folder.
    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a program of the folder; its exit code, and all it said.
    pub(super) fn run(&self, words: &[&str], variables: &[(&str, &str)]) -> (i32, String) {
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(words)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", format!("{}:{path}", self.folder.path().display()))
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (
            output.status.code().unwrap_or(-1),
            String::from_utf8_lossy(&said).into_owned(),
        )
    }

    /// Runs the script; its exit code, and all it said.
    fn release(&self, scene: &Scene, strategy: &str, run: &str) -> (i32, String) {
        let words = ["release.sh", &scene.name, strategy, run];
        self.run(&words, &[("LIMIT", "4m"), ("PATIENCE", "1s")])
    }
}

#[test]
fn a_release_goes_through_and_can_be_repeated() {
    play("guide-pipe", |scene| {
        scene.set(&three_stages(), &ALL);
        let job = Job::new(scene);
        let run = format!("{}-1", scene.name);
        let (code, said) = job.release(scene, "no-such-strategy", &run);
        assert_eq!(code, 3, "{said}");
        assert!(scene.hub.read(&scene.run_path(&run)).is_none(), "{said}");
        for _ in 0..2 {
            let (code, said) = job.release(scene, &scene.name, &run);
            assert_eq!(code, 0, "{said}");
            assert!(said.contains(&format!("{run}: released")), "{said}");
        }
        scene.new_content("2");
        let (code, said) = job.release(scene, &scene.name, &format!("{}-2", scene.name));
        assert_eq!(code, 0, "{said}");
        // A release that never starts leaves the one before it alone.
        let next = format!("{}-3", scene.name);
        let (code, said) = job.release(scene, "no-such-strategy", &next);
        assert_eq!(code, 3, "{said}");
        for name in [next.clone(), format!("{next}-back")] {
            assert!(scene.hub.read(&scene.run_path(&name)).is_none(), "{said}");
        }
    });
}

#[test]
fn a_release_waits_for_an_approval() {
    play("guide-pipe-gate", |scene| {
        scene.set(&one_gate(), &ALL);
        let job = Job::new(scene);
        let run = format!("{}-1", scene.name);
        for _ in 0..2 {
            let (code, said) = job.release(scene, &scene.name, &run);
            assert_eq!(code, 4, "{said}");
        }
        act(scene, &["approve", &run, "--yes"]).ends(0);
        let (code, said) = job.release(scene, &scene.name, &run);
        assert_eq!(code, 0, "{said}");
    });
}

/// A release that is stuck is diagnosed and taken back.
#[test]
fn a_release_that_is_stuck_goes_back() {
    play("guide-pipe-stuck", |scene| {
        let Some((_, standin)) = &scene.hub.own else {
            eprintln!("skipped: nothing gets stuck on demand on this hub");
            return;
        };
        // A cluster of its own: nobody else is to be in trouble.
        let cluster = format!("guide-{}", if scene.namespaced { "n" } else { "c" });
        scene.hub.create(&json!({
            "apiVersion": "cluster.kubernetes-fleet.io/v1beta1",
            "kind": "MemberCluster",
            "metadata": {"name": cluster, "labels": {"environment": cluster}},
            "spec": {
                "identity": {"kind": "User", "name": cluster, "apiGroup": "rbac.authorization.k8s.io"},
                "heartbeatPeriodSeconds": 15,
            },
        }));
        scene.set(&[stage("only", &cluster)], &[&cluster]);
        let job = Job::new(scene);
        let runs = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        let [first, second] = &runs;
        let (code, said) = job.release(scene, &scene.name, first);
        assert_eq!(code, 0, "{said}");
        scene.new_content("2");
        let back = format!("{second}-back");
        standin.trouble(
            &cluster,
            Trouble::ApplyFails("the object is not valid".to_owned()),
        );
        let (code, said) = std::thread::scope(|scope| {
            let job = scope.spawn(|| job.release(scene, &scene.name, second));
            // What was wrong was in the new content.
            scene.until(&scene.run_path(&back), "made", |_| true);
            standin.recover(&cluster);
            job.join().unwrap()
        });
        assert_eq!(code, 5, "{said}");
        assert!(said.contains(&format!("{back}: exited with 0")), "{said}");
        assert_eq!(index_of(scene, &back), "0");
        let diagnosis = job.path(&format!("diagnosis-{second}.md"));
        let diagnosis = std::fs::read_to_string(diagnosis).unwrap();
        assert!(diagnosis.contains("FS502"), "{diagnosis}");
        let bundle = job.path(&format!("bundle-{second}.yaml.gz"));
        let bundle = bundle.to_str().unwrap();
        act(scene, &["diagnose", second, "-f", bundle]).ends(5);
        act(scene, &["wait", &back, "--for=succeeded", LIMIT]).ends(0);
        // The same attempt once more does not bring it back.
        let (code, said) = job.release(scene, &scene.name, second);
        assert_eq!(code, 3, "{said}");
        assert!(said.contains(&format!("rolled back by {back}")), "{said}");
        assert!(scene.hub.read(&scene.run_path(second)).is_none(), "{said}");
    });
}
