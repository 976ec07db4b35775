use std::ffi::OsString;

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
    let yaml = format!("kind: ExecCredential\napiVersion: {V1}\nstatus: {{token: t}}\n");
    assert!(of(&yaml).is_ok());
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
    let other = r#"{"kind":"ExecCredential","apiVersion":"v2"}"#;
    for wrong in ["", "S3CR3T", "{", "[]", other] {
        assert!(of(wrong).is_err(), "{wrong}");
    }
}

// What of an entry kubectl refuses too is in the table of `tests/attack/credentials`.
#[test]
fn an_entry_is_checked() {
    let check = |change: &dyn Fn(&mut ExecConfig)| {
        let mut exec = exec();
        change(&mut exec);
        made(&exec, RunningPlugin::default()).map(|plugin| plugin.interactive)
    };
    assert_eq!(check(&|_| {}), Ok(false));
    let secret = || SecretString::from("S3CR3T\0");
    let wrong: [&dyn Fn(&mut ExecConfig); 5] = [
        &|exec| exec.command.clear(),
        &|exec| exec.command = "/no/such/plugin".into(),
        &|exec| exec.interactive_mode = "Sometimes".into(),
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
}

#[cfg(unix)]
mod run {
    use super::*;
    use crate::hub::error::HubError;

    fn script(text: &str) -> Result<super::super::PluginCredential, HubError> {
        let exec = ExecConfig {
            args: vec!["-c".into(), text.into()],
            env: vec![variable("SECRET", "S3CR3T")],
            provide_cluster_info: true,
            ..exec()
        };
        let running = RunningPlugin {
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
        );
        assert_eq!(given.unwrap().token.unwrap().expose_secret(), "S3CR3T");
        for (text, why) in [
            ("echo $SECRET >&2; exit 17", "failed with exit code 17"),
            ("echo $SECRET", "did not print an ExecCredential"),
            ("kill -9 $$", "was killed by a signal"),
        ] {
            let error = script(text).unwrap_err();
            let said = format!("{error} {error:?}");
            assert!(said.contains(why), "{said}");
            assert!(!said.contains("S3CR3T"), "{said}");
        }
    }
}
