//! What a command does, at most.

use super::{CommandLine, FleetVerb};

/// What a command does to a fleet, at most. The order is from harmless to harmful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandClass {
    /// It reads, or only rehearses.
    Looks,
    /// It changes something that another command changes again.
    Changes,
    Destroys,
}

/// kubectl's commands that read.
const LOOKS: &str = "api-resources, api-versions, auth, can-i, cluster-info, describe, diff, \
    events, explain, get, logs, rollout history, rollout status, top, version, wait";

/// kubectl's commands that change an object and leave it in place.
const CHANGES: &str = "annotate, apply, create, edit, label, patch, rollout pause, \
    rollout resume, set, uncordon, scale";

/// Flags that make more of a command: what is deleted first, overruled, or rolled back.
const HARMFUL: &str = "--active --allow-older --allow-unseen --force --grace-period --replace";

/// What a command of these words does; one that is not known destroys. `ours` are the words after
/// `fleet-stage`, else those after `kubectl`.
pub(super) fn class(words: &[&str], ours: bool) -> CommandClass {
    let verb = words.first().copied().unwrap_or_default();
    let two = words.iter().take(2).copied().collect::<Vec<_>>().join(" ");
    let is_in = |list: &str| list.split(", ").any(|it| it == verb || it == two);
    let own = if ours {
        FleetVerb::named(verb).map_or(CommandClass::Destroys, |verb| verb.class)
    } else if is_in(LOOKS) {
        CommandClass::Looks
    } else if is_in(CHANGES) {
        CommandClass::Changes
    } else {
        CommandClass::Destroys
    };
    let flag = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    let rehearses = words
        .iter()
        .any(|word| flag(word) == "--dry-run" && *word != "--dry-run=none");
    if rehearses || own == CommandClass::Looks {
        return CommandClass::Looks;
    }
    let harmful = words.iter().any(|word| {
        HARMFUL.split(' ').any(|it| it == flag(word)) && *word != "--active=keep"
            // Whoever guards an object with a finalizer has not done with it.
            || word.contains("finalizers")
    });
    if harmful { CommandClass::Destroys } else { own }
}

impl CommandLine {
    pub fn class(&self) -> CommandClass {
        let words: Vec<_> = self.own_words().collect();
        class(&words, self.is_ours())
    }
}

#[cfg(test)]
mod tests {
    use super::CommandClass;
    use crate::words::CommandLine;

    #[test]
    fn a_command_is_what_its_worst_word_is() {
        let fleet = CommandLine::fleet;
        let kubectl = CommandLine::kubectl;
        let patch = |body: &str| kubectl("patch").args(["work", "w"]).flag("-p", body);
        #[rustfmt::skip]
        let commands = [
            (fleet("diagnose").arg("web"), CommandClass::Looks),
            (fleet("history").arg("delete"), CommandClass::Looks),
            (fleet("wait").joined("--for", "succeeded"), CommandClass::Looks),
            (fleet("snapshots diff").arg("web"), CommandClass::Looks),
            (fleet("delete").arg("web").joined("--dry-run", "server"), CommandClass::Looks),
            (fleet("approve").arg("web-after-staging"), CommandClass::Changes),
            (fleet("stop").arg("web"), CommandClass::Changes),
            (fleet("run").flag("--from", "web"), CommandClass::Changes),
            (fleet("run").flag("--from", "web").switch("--replace"), CommandClass::Destroys),
            (fleet("approve").arg("web").switch("--allow-older"), CommandClass::Destroys),
            (fleet("rollback").arg("web"), CommandClass::Destroys),
            (fleet("delete").arg("web"), CommandClass::Destroys),
            (kubectl("get").args(["pods", "delete"]), CommandClass::Looks),
            (kubectl("rollout status").arg("deployment/web"), CommandClass::Looks),
            (kubectl("rollout resume").arg("deployment/web"), CommandClass::Changes),
            (kubectl("rollout restart").arg("deployment/web"), CommandClass::Destroys),
            (kubectl("label").args(["memberclusters", "a", "b=c"]), CommandClass::Changes),
            (patch(r#"{"spec":{"replicas":1}}"#), CommandClass::Changes),
            (patch(r#"{"metadata":{"finalizers":null}}"#), CommandClass::Destroys),
            (kubectl("delete").args(["namespace", "web"]), CommandClass::Destroys),
            (kubectl("drain").arg("node-1"), CommandClass::Destroys),
            (kubectl("frobnicate").arg("x"), CommandClass::Destroys),
            (CommandLine::member("a", "delete").args(["pod", "x"]), CommandClass::Destroys),
            (CommandLine::member("a", "describe").args(["pod", "x"]), CommandClass::Looks),
        ];
        for (command, class) in commands {
            assert_eq!(command.class(), class, "{command}");
        }
    }
}
