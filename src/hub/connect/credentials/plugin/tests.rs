use std::ffi::OsString;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::{Plugin, RunningPlugin, answer};
use crate::hub::connect::credentials::policy::PluginPolicy;
use crate::hub::connect::kubeconfig::{ExecConfig, ExecVariable};

const V1: &str = "client.authentication.k8s.io/v1";

fn exec() -> ExecConfig {
    ExecConfig {
        command: "sh".to_owned(),
        api_version: V1.to_owned(),
        interactive_mode: "IfAvailable".to_owned(),
        ..ExecConfig::default()
    }
}

fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn variable(name: &str, value: impl Into<SecretString>) -> ExecVariable {
    ExecVariable {
        name: name.to_owned(),
        value: value.into(),
        ..ExecVariable::default()
    }
}

fn made(exec: &ExecConfig, running: RunningPlugin) -> Result<Plugin, String> {
    Plugin::new(
        exec,
        json!({"server": "https://hub"}),
        &PluginPolicy::All,
        running,
        &environment,
    )
}

#[test]
fn an_answer_is_read_by_kubectls_rules() {
    let of = |text: &str| answer(text.as_bytes(), V1);
    let status = |status: &str| {
        of(&format!(
            r#"{{"kind":"ExecCredential","apiVersion":"{V1}","status":{status}}}"#
        ))
    };
    let given = status(r#"{"token":"t","expirationTimestamp":"2030-01-02T03:04:05Z"}"#).unwrap();
    assert_eq!(given.token.unwrap().expose_secret(), "t");
    assert_eq!(given.until.unwrap().to_string(), "2030-01-02T03:04:05Z");
    let given = status(r#"{"clientCertificateData":"c","clientKeyData":"k"}"#).unwrap();
    assert!(given.token.is_none() && given.certificate.is_some());
    // YAML is as good.
    assert!(
        of(&format!(
            "kind: ExecCredential\napiVersion: {V1}\nstatus: {{token: t}}\n"
        ))
        .is_ok()
    );
    for wrong in [
        "{}",
        "null",
        r#"{"token":""}"#,
        r#"{"token":17}"#,
        r#"{"clientCertificateData":"c"}"#,
        r#"{"token":"t","clientKeyData":"k"}"#,
        r#"{"token":"t","expirationTimestamp":"S3CR3T"}"#,
        r#""S3CR3T""#,
    ] {
        let why = status(wrong).unwrap_err();
        assert!(!why.contains("S3CR3T"), "{why}");
    }
    for wrong in [
        "",
        "S3CR3T",
        "{",
        "[]",
        r#"{"kind":"ExecCredential","apiVersion":"v2"}"#,
    ] {
        assert!(of(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn an_entry_is_checked() {
    let check = |change: &dyn Fn(&mut ExecConfig)| {
        let mut exec = exec();
        change(&mut exec);
        made(&exec, RunningPlugin::default()).map(|plugin| plugin.interactive)
    };
    assert_eq!(check(&|_| {}), Ok(false));
    assert_eq!(
        check(&|exec| exec.interactive_mode = "Never".into()),
        Ok(false)
    );
    let beta = "client.authentication.k8s.io/v1beta1";
    assert_eq!(
        check(&|exec| {
            exec.api_version = beta.into();
            exec.interactive_mode.clear();
        }),
        Ok(false)
    );
    let secret = || SecretString::from("S3CR3T\0");
    let wrong: [&dyn Fn(&mut ExecConfig); 10] = [
        &|exec| exec.command.clear(),
        &|exec| exec.command = "no-such-plugin".into(),
        &|exec| exec.command = "/no/such/plugin".into(),
        &|exec| exec.api_version.clear(),
        &|exec| exec.api_version = "client.authentication.k8s.io/v1alpha1".into(),
        &|exec| exec.interactive_mode.clear(),
        &|exec| exec.interactive_mode = "Sometimes".into(),
        &|exec| exec.interactive_mode = "Always".into(),
        &|exec| exec.args = vec![secret()],
        &|exec| exec.env = vec![variable("A=B", secret())],
    ];
    for (place, change) in wrong.iter().enumerate() {
        let why = check(change).expect_err(&place.to_string());
        assert!(!why.contains("S3CR3T"), "{why}");
    }
    let terminal = RunningPlugin {
        terminal: true,
        ..RunningPlugin::default()
    };
    assert!(made(&exec(), terminal).unwrap().interactive);
    let mut hinted = exec();
    hinted.command = "no-such-plugin".into();
    hinted.install_hint = "brew install it".into();
    assert!(
        made(&hinted, RunningPlugin::default())
            .unwrap_err()
            .contains("brew install it")
    );
}

#[cfg(unix)]
mod run {
    use super::*;
    use crate::hub::error::HubError;

    fn script(
        text: &str,
        limit: Option<Duration>,
    ) -> Result<super::super::PluginCredential, HubError> {
        let exec = ExecConfig {
            args: vec!["-c".into(), text.into()],
            env: vec![variable("SECRET", "S3CR3T")],
            provide_cluster_info: true,
            ..exec()
        };
        let running = RunningPlugin {
            limit,
            quiet: true,
            ..RunningPlugin::default()
        };
        let plugin = made(&exec, running).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(plugin.run())
    }

    #[test]
    fn it_is_told_what_it_needs_and_nothing_of_it_is_shown() {
        let given = script(
            r#"test -n "$KUBERNETES_EXEC_INFO" || exit 3
            case "$KUBERNETES_EXEC_INFO" in *https://hub*) ;; *) exit 4;; esac
            echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'$SECRET'"}}'"#,
            None,
        );
        assert_eq!(given.unwrap().token.unwrap().expose_secret(), "S3CR3T");
        for (text, why) in [
            (
                "echo $SECRET; echo $SECRET >&2; exit 17",
                "failed with exit code 17",
            ),
            ("echo $SECRET", "did not print an ExecCredential"),
            ("kill -9 $$", "was killed by a signal"),
        ] {
            let error = script(text, None).unwrap_err();
            let said = format!("{error} {error:?}");
            assert!(said.contains(why), "{said}");
            assert!(!said.contains("S3CR3T"), "{said}");
        }
    }

    #[test]
    fn one_that_hangs_ends_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ids");
        let text = format!(
            "trap '' TERM; sleep 300 & echo $$ $! > {}; wait; sleep 300",
            file.display()
        );
        let error = script(&text, Some(Duration::from_secs(1))).unwrap_err();
        assert!(
            error.to_string().contains("did not answer within 1s"),
            "{error}"
        );
        let ids = std::fs::read_to_string(file).unwrap();
        for id in ids.split_whitespace() {
            let id = rustix::process::Pid::from_raw(id.parse().unwrap()).unwrap();
            // A zombie whose parent has ended is gone as soon as someone has waited for it.
            let gone = || rustix::process::test_kill_process(id).is_err() || is_zombie(id);
            test_hub::waiting::until_so(|| format!("{id:?} is not left behind"), gone);
        }
    }

    fn is_zombie(id: rustix::process::Pid) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero()));
        stat.is_ok_and(|stat| stat.contains(") Z "))
    }
}
