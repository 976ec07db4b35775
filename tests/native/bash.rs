//! TAB in a real bash: with our own script, which needs nothing else, and with kubectl's, which
//! needs the functions of bash-completion.

use crate::setting::{ROOT, Setting, missing};
use crate::typing::{APPROVAL, EQUALS, QUOTED, Typist};
use test_hub::terminal::has_terminals;

const SHELL: [&str; 4] = ["bash", "--noprofile", "--norc", "-i"];
/// Readline's command that inserts all candidates.
const ALL: &str = "\u{1b}*";
const PROMPT: &str = "PS1='$ '\nbind 'set enable-bracketed-paste off'\n";
/// Where Debian keeps bash-completion.
const FUNCTIONS: &str = "/usr/share/bash-completion/bash_completion";

fn start(setup: &str) -> Option<Typist> {
    has_terminals().then_some(())?;
    Typist::start(&SHELL, &format!("{PROMPT}{setup}"), ALL)
}

fn has_functions() -> bool {
    let has = std::path::Path::new(FUNCTIONS).exists();
    if !has {
        missing("bash-completion is not installed");
    }
    has
}

/// What the checked-in file and the printed script complete, with and without bash-completion.
#[test]
fn its_own_script_completes() {
    if Setting::get().is_none() {
        return;
    }
    let checked_in = format!("source {ROOT}/completions/kubectl-fleet-stage.bash");
    let printed = "source <(kubectl-fleet-stage completion bash)";
    let mut setups = vec![checked_in.clone(), printed.to_owned()];
    if has_functions() {
        setups.push(format!("source {FUNCTIONS}\n{checked_in}"));
    }
    for setup in setups {
        let Some(mut typist) = start(&setup) else {
            return;
        };
        typist.completes_live(&setup, "kubectl-fleet-stage");
        let lines = [
            APPROVAL,
            ("expl", "explain"),
            (
                "diagnose --member-contexts",
                "--member-contexts-from-kubeconfig",
            ),
        ];
        typist.completes(&lines, "kubectl-fleet-stage");
        typist.leave();
    }
}

/// bash takes words apart at colons and equals signs, and inserts what it is given as it is.
#[test]
fn words_that_bash_takes_apart_are_completed_whole() {
    let Some(setting) = Setting::get() else {
        return;
    };
    let contexts = setting.folder("contexts").join("config");
    let setup = format!(
        "export KUBECONFIG=$KUBECONFIG:{0}\n\
         for name in arn:aws:eks:x:cluster/one arn:aws:eks:x:cluster/two 'the other' \"it's\"; do \
         KUBECONFIG={0} kubectl config set-context \"$name\" > /dev/null; done\n\
         source {ROOT}/completions/kubectl-fleet-stage.bash",
        contexts.display()
    );
    let Some(mut typist) = start(&setup) else {
        return;
    };
    let lines = [
        (
            "list --context arn:aws:eks:x:cluster/o",
            "arn:aws:eks:x:cluster/one",
        ),
        (
            "list --context=arn:aws:eks:x:cluster/o",
            "--context=arn:aws:eks:x:cluster/one",
        ),
        ("list --context arn:a", "arn:aws:eks:x:cluster/"),
        ("list --context=h", "--context=hub"),
        ("list --context the", "the other"),
        ("list --context 'the", "the other"),
        ("list --context it", "it's"),
        ("wait checkout-2 --for stage=can", "stage=canary"),
        ("wait checkout-2 --for=stage=can", "--for=stage=canary"),
        (
            "wait checkout-2 --for stopped,stage=pr",
            "stopped,stage=prod",
        ),
        ("diagnose --suppress FS401=", "FS401="),
        // What was typed before the word is understood although it was quoted.
        ("list --context 'hub' -n tea", "team-a"),
    ];
    typist.completes(&lines, "kubectl-fleet-stage");
    // A line that goes on behind the cursor: what is there is not touched.
    let words =
        typist.tab("kubectl-fleet-stage approve checkout-2-b --yes\u{1b}b\u{1b}b\u{1b}b\u{5}");
    assert_eq!(words.last().unwrap(), "--yes", "{words:?}");
    typist.leave();
}

/// Behind whatever quote is open, the word that is inserted is the candidate.
#[test]
fn candidates_are_quoted_as_the_word_is() {
    let Some(setting) = Setting::get() else {
        return;
    };
    let setup = format!(
        "export KUBECONFIG={}\nsource {ROOT}/completions/kubectl-fleet-stage.bash",
        setting.odd_contexts("odd-bash")
    );
    let Some(mut typist) = start(&setup) else {
        return;
    };
    typist.completes(&QUOTED, "kubectl-fleet-stage");
    typist.leave();
}

#[test]
fn kubectls_own_completion_completes_both_forms() {
    if Setting::get().is_none() || !has_functions() {
        return;
    }
    let setup = format!("source {FUNCTIONS}\nsource <(kubectl completion bash)");
    let Some(mut typist) = start(&setup) else {
        return;
    };
    for form in ["kubectl fleet-stage", "kubectl fleet stage"] {
        typist.completes_live("kubectl's own", form);
        typist.completes(&[APPROVAL], form);
        typist.completes(&EQUALS, form);
        typist.lists(
            &format!("{form} approve checkout-"),
            "(canary of checkout-2",
        );
    }
    // Our script beside it leaves kubectl's own commands alone.
    typist.tab(&format!(
        "source {ROOT}/completions/kubectl-fleet-stage.bash; true "
    ));
    let found = typist.candidates("kubectl config get-con");
    assert_eq!(found, ["get-contexts"]);
    typist.leave();
}
