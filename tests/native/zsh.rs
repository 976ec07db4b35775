//! TAB in a real zsh, with its own completion system.

use crate::setting::{ROOT, Setting, has, link};
use crate::typing::{APPROVAL, EQUALS, QUOTED, Typist};
use test_hub::terminal::has_terminals;

const SHELL: [&str; 3] = ["zsh", "-f", "-i"];
/// Bound to what inserts all candidates.
const ALL: &str = "\u{18}a";
const PROMPT: &str = "PS1='$ '; bindkey -e; unsetopt prompt_sp prompt_cr";
const INSERT: &str = "zstyle ':completion:all-matches::::' completer _all_matches _complete
    zstyle ':completion:all-matches:*' insert true
    zle -C all-matches complete-word _generic
    bindkey '^Xa' all-matches";
const INITIALIZE: &str = "autoload -Uz compinit; compinit -u -D";

fn start(before: &str, after: &str) -> Option<Typist> {
    (has("zsh") && has_terminals()).then_some(())?;
    let setup = format!("{PROMPT}\n{before}\n{INITIALIZE}\n{INSERT}\n{after}");
    Typist::start(&SHELL, &setup, ALL)
}

#[test]
fn its_own_script_completes() {
    let Some(setting) = Setting::get() else {
        return;
    };
    // Where packages put it: zsh loads it when it first completes.
    let functions = setting.folder("functions");
    let name = "_kubectl-fleet-stage";
    let script = format!("{ROOT}/completions/{name}");
    link(script.as_ref(), &functions.join(name));
    for (before, after) in [
        (String::new(), format!("source {script}")),
        (
            String::new(),
            "source <(kubectl-fleet-stage completion zsh)".to_owned(),
        ),
        (
            format!("fpath=({} $fpath)", functions.display()),
            String::new(),
        ),
    ] {
        let Some(mut typist) = start(&before, &after) else {
            return;
        };
        typist.completes_live(&format!("{before}{after}"), "kubectl-fleet-stage");
        let lines = [
            APPROVAL,
            ("wait checkout-2 --for=stage=can", "--for=stage=canary"),
            ("list --context=h", "--context=hub"),
            ("expl", "explain"),
        ];
        typist.completes(&lines, "kubectl-fleet-stage");
        typist.lists(
            "kubectl-fleet-stage approve checkout-2",
            "-- canary of checkout-2",
        );
        typist.leave();
    }
}

/// Behind whatever quote is open, the word that is inserted is the candidate.
#[test]
fn candidates_are_quoted_as_the_word_is() {
    let Some(setting) = Setting::get() else {
        return;
    };
    let setup = format!(
        "export KUBECONFIG={}\nsource {ROOT}/completions/_kubectl-fleet-stage",
        setting.odd_contexts("odd-zsh")
    );
    let Some(mut typist) = start("", &setup) else {
        return;
    };
    typist.completes(&QUOTED, "kubectl-fleet-stage");
    typist.leave();
}

#[test]
fn kubectls_own_completion_completes_both_forms() {
    if Setting::get().is_none() {
        return;
    }
    let Some(mut typist) = start("", "source <(kubectl completion zsh)") else {
        return;
    };
    for form in ["kubectl fleet-stage", "kubectl fleet stage"] {
        typist.completes_live("kubectl's own", form);
        typist.completes(&[APPROVAL], form);
        typist.completes(&EQUALS, form);
    }
    typist.leave();
}
