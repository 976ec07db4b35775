//! A hub that is away, hangs or refuses has no candidates: the time for them ends, and nothing is
//! said.

use std::process::Command;

use test_hub::{Fault, FaultProxy, Ran, Rule};

use crate::setting::{BINARY, COMPLETE_TIMEOUT, Setting};

const LINES: [&[&str]; 3] = [
    &["approve", ""],
    &["rollback", "crp/checkout", "--to", ""],
    &["status", "-n", ""],
];

/// Asks as kubectl and as shells do.
fn ask(setting: &Setting, kubeconfig: &str, shell: Option<&str>, words: &[&str]) -> Ran {
    let mut command = match shell {
        None => Command::new(setting.bin.join("kubectl_complete-fleet_stage")),
        Some(_) => Command::new(BINARY),
    };
    setting.equip(&mut command);
    command.env_remove(COMPLETE_TIMEOUT);
    if let Some(shell) = shell {
        command
            .env("FLEET_STAGE_COMPLETE", shell)
            .args(["--", "kubectl-fleet-stage"]);
    }
    Ran::of(command.args(words).env("KUBECONFIG", kubeconfig))
}

fn assert_silent(setting: &Setting, kubeconfig: &str, what: &str) {
    for (shell, lines) in [
        (None, &LINES[..]),
        (Some("bash"), &LINES[..1]),
        (Some("zsh"), &LINES[..1]),
        (Some("fish"), &LINES[..1]),
    ] {
        for &words in lines {
            let ran = ask(setting, kubeconfig, shell, words);
            let nothing = if shell.is_none() { ":4\n" } else { "" };
            assert_eq!(ran.out, nothing, "{what}: {shell:?} {words:?}");
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{what}: {words:?}");
        }
    }
}

#[test]
fn nobody_answers() {
    let Some(setting) = Setting::get() else {
        return;
    };
    let folder = setting.folder("away");
    let config = folder.join("config");
    for server in ["https://127.0.0.1:1", "https://hub.invalid"] {
        let made = setting.run(&format!(
            "export KUBECONFIG={}; kubectl config set-cluster away --server {server} \
             && kubectl config set-context away --cluster away && kubectl config use-context away",
            config.display()
        ));
        assert_eq!(made.code, 0, "{made:?}");
        assert_silent(setting, config.to_str().unwrap(), server);
    }
    assert_silent(setting, "/nowhere", "no kubeconfig");
}

#[test]
fn the_hub_hangs_or_refuses() {
    let Some(setting) = Setting::get() else {
        return;
    };
    let faults = [
        ("hangs", Fault::Hang),
        ("is slow", Fault::Delay(test_hub::waiting::HANGS)),
        ("forbids", Fault::Forbidden),
        ("does not know us", Fault::Unauthorized),
        ("fails", Fault::Internal),
        ("is busy", Fault::TooMany(Some(30))),
        ("talks nonsense", Fault::TlsGarbage),
        ("resets", Fault::ResetBefore),
    ];
    // Mostly waiting: all at once.
    std::thread::scope(|scope| {
        for (what, fault) in faults {
            scope.spawn(move || {
                let proxy = FaultProxy::start(&setting.hub.kubeconfig()).unwrap();
                proxy.rules(vec![Rule::new("", fault)]);
                let kubeconfig = proxy.kubeconfig();
                assert_silent(setting, kubeconfig.to_str().unwrap(), what);
            });
        }
    });
}
