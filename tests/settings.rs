//! The settings file, as the program reads it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

use std::path::Path;
use std::process::{Command, Output};

const PAYMENTS: &str = "tests/lists/payments.yaml";
const HEAD: &str = "apiVersion: kubectl-fleet-stage/v1\nkind: Settings\n";

struct Call {
    folder: tempfile::TempDir,
}

impl Call {
    /// With this file in the usual place.
    fn with(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join(".config/kubectl-fleet-stage");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("settings.yaml"), settings).unwrap();
        Self { folder }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder
            .path()
            .join(".config/kubectl-fleet-stage/settings.yaml")
    }

    fn run(&self, words: &[&str], set: &[(&str, &Path)]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"));
        command
            .args(words)
            .env_clear()
            .env("HOME", self.folder.path());
        for (name, value) in set {
            command.env(name, value);
        }
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code(), text(stdout), text(stderr))
    }
}

fn output_of_list(value: &str) -> String {
    format!(
        "{HEAD}defaults:\n- command: list\n  options:\n  - name: output\n    default: {value}\n"
    )
}

#[test]
fn a_value_is_used_where_no_flag_says_otherwise() {
    let call = Call::with(&output_of_list("name"));
    let list = ["list", "-A", "-f", PAYMENTS];
    let (code, out, _) = call.run(&list, &[]);
    assert_eq!(code, Some(0));
    let first = out.lines().next().unwrap();
    assert!(first.contains(".placement.kubernetes-fleet.io/"), "{out}");
    let (_, table, _) = call.run(&[&list[..], &["-o", "table"]].concat(), &[]);
    assert!(table.starts_with("NAMESPACE"), "{table}");
    let (_, off, _) = call.run(&list, &[("FLEET_STAGE_SETTINGS", Path::new("off"))]);
    assert_eq!(off, table);
    let help = call.run(&["list", "--help"], &[]).1;
    assert!(help.contains("[default: name]"), "{help}");
}

#[test]
fn a_file_that_is_wrong_fails_what_it_could_have_changed() {
    for (settings, why) in [
        (format!("{HEAD}default: []\n"), "line 3: unknown field"),
        (
            output_of_list("wild"),
            "--output of list: invalid value 'wild'",
        ),
        (format!("{HEAD}defaults: {{\n"), "line "),
        (String::new(), "settings.yaml: "),
    ] {
        let call = Call::with(&settings);
        let (code, out, err) = call.run(&["list", "-A", "-f", PAYMENTS], &[]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        let path = call.path().display().to_string();
        assert!(
            err.starts_with(&format!("error: settings file {path}: ")),
            "{err}"
        );
        assert!(err.contains(why), "{err}");
        assert!(err.contains("FLEET_STAGE_SETTINGS=off"), "{err}");
        for words in [
            &["version"][..],
            &["explain", "FS401"],
            &["--help"],
            &["list", "--help"],
        ] {
            assert_eq!(call.run(words, &[]).0, Some(0), "{words:?}");
        }
        let off = ("FLEET_STAGE_SETTINGS", Path::new("off"));
        assert_eq!(call.run(&["list", "-A", "-f", PAYMENTS], &[off]).0, Some(0));
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_everyone_may_change_is_not_read() {
    use std::os::unix::fs::PermissionsExt;
    let call = Call::with(&output_of_list("name"));
    std::fs::set_permissions(call.path(), std::fs::Permissions::from_mode(0o666)).unwrap();
    let (code, _, err) = call.run(&["list", "-A", "-f", PAYMENTS], &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("other users may change it"), "{err}");
    assert!(err.contains("chmod go-w"), "{err}");
}

#[test]
fn the_example_of_the_documentation_is_taken() {
    let page = include_str!("../docs/tasks/settings.md");
    let example = page.split("```yaml\n").nth(1).unwrap();
    let call = Call::with(example.split("```").next().unwrap());
    let (code, out, err) = call.run(&["list", "-A", "-f", PAYMENTS], &[]);
    assert_eq!(code, Some(0), "{err}");
    let (_, wide, _) = call.run(&["list", "-A", "-f", PAYMENTS, "-o", "wide"], &[]);
    assert_eq!(out, wide);
}

#[test]
fn a_file_that_is_named_must_exist() {
    let call = Call::with(HEAD);
    let missing = call.folder.path().join("none.yaml");
    let named = ("FLEET_STAGE_SETTINGS", missing.as_path());
    let (code, _, err) = call.run(&["list", "-A", "-f", PAYMENTS], &[named]);
    assert_eq!(code, Some(2));
    assert!(err.contains("none.yaml: it does not exist"), "{err}");
}
