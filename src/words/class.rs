//! What a command does, at most.

use super::CommandLine;

/// What a command does to a fleet, at most. The order is from harmless to harmful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It reads, or only rehearses.
    Looks,
    /// It changes something that another command changes again.
    Changes,
    /// It deletes, restarts, forces or rolls back.
    Destroys,
}

/// Our own commands that read.
const OUR_LOOKS: [&str; 20] = [
    "approvals",
    "clusters",
    "collect",
    "completion",
    "diagnose",
    "doctor",
    "explain",
    "help",
    "history",
    "list",
    "options",
    "plan",
    "render",
    "schema",
    "snapshots",
    "status",
    "strategies",
    "trace",
    "version",
    "wait",
];

/// Our own commands that change what a run does.
const OUR_CHANGES: [&str; 5] = ["approve", "init", "resume", "run", "stop"];

/// kubectl's commands that read.
const LOOKS: [&str; 16] = [
    "api-resources",
    "api-versions",
    "auth",
    "can-i",
    "cluster-info",
    "describe",
    "diff",
    "events",
    "explain",
    "get",
    "logs",
    "rollout history",
    "rollout status",
    "top",
    "version",
    "wait",
];

/// kubectl's commands that change an object and leave it in place.
const CHANGES: [&str; 11] = [
    "annotate",
    "apply",
    "create",
    "edit",
    "label",
    "patch",
    "rollout pause",
    "rollout resume",
    "set",
    "uncordon",
    "scale",
];

/// Flags that make more of a command: what is deleted first, overruled, or rolled back.
const HARMFUL: [&str; 6] = [
    "--active",
    "--allow-older",
    "--allow-unseen",
    "--force",
    "--grace-period",
    "--replace",
];

/// What a command of these words does; one that is not known destroys. `ours` are the words after
/// `fleet-stage`, else those after `kubectl`.
pub(super) fn class(words: &[&str], ours: bool) -> Class {
    let verb = words.first().copied().unwrap_or_default();
    let two = words.iter().take(2).copied().collect::<Vec<_>>().join(" ");
    let is_in = |list: &[&str]| list.contains(&verb) || list.contains(&two.as_str());
    let (looks, changes): (&[&str], &[&str]) = if ours {
        (&OUR_LOOKS, &OUR_CHANGES)
    } else {
        (&LOOKS, &CHANGES)
    };
    let flag = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    let rehearses = words
        .iter()
        .any(|word| flag(word) == "--dry-run" && *word != "--dry-run=none");
    if rehearses || is_in(looks) {
        return Class::Looks;
    }
    let harmful = words.iter().any(|word| {
        HARMFUL.contains(&flag(word).as_str()) && *word != "--active=keep"
            // Whoever guards an object with a finalizer has not done with it.
            || word.contains("finalizers")
    });
    if is_in(changes) && !harmful {
        Class::Changes
    } else {
        Class::Destroys
    }
}

impl CommandLine {
    /// What it does, at most.
    pub fn class(&self) -> Class {
        let words: Vec<_> = self.own_words().collect();
        class(&words, self.is_ours())
    }
}

#[cfg(test)]
mod tests {
    use super::Class;
    use crate::words::CommandLine;

    #[test]
    fn a_command_is_what_its_worst_word_is() {
        let fleet = CommandLine::fleet;
        let kubectl = CommandLine::kubectl;
        let patch = |body: &str| kubectl("patch").args(["work", "w"]).flag("-p", body);
        for (command, class) in [
            (fleet("diagnose").arg("web"), Class::Looks),
            (fleet("history").arg("delete"), Class::Looks),
            (fleet("wait").joined("--for", "succeeded"), Class::Looks),
            (fleet("snapshots diff").arg("web"), Class::Looks),
            (
                fleet("delete").arg("web").joined("--dry-run", "server"),
                Class::Looks,
            ),
            (fleet("approve").arg("web-after-staging"), Class::Changes),
            (fleet("stop").arg("web"), Class::Changes),
            (
                fleet("run").arg("NEW").flag("--from", "web"),
                Class::Changes,
            ),
            (
                fleet("run")
                    .arg("NEW")
                    .flag("--from", "web")
                    .switch("--replace"),
                Class::Destroys,
            ),
            (
                fleet("approve").arg("web").switch("--allow-older"),
                Class::Destroys,
            ),
            (fleet("rollback").arg("web"), Class::Destroys),
            (fleet("delete").arg("web"), Class::Destroys),
            (kubectl("get").args(["pods", "delete"]), Class::Looks),
            (
                kubectl("rollout status").arg("deployment/web"),
                Class::Looks,
            ),
            (
                kubectl("rollout resume").arg("deployment/web"),
                Class::Changes,
            ),
            (
                kubectl("rollout restart").arg("deployment/web"),
                Class::Destroys,
            ),
            (
                kubectl("label").args(["memberclusters", "a", "b=c"]),
                Class::Changes,
            ),
            (patch(r#"{"spec":{"replicas":1}}"#), Class::Changes),
            (
                patch(r#"{"metadata":{"finalizers":null}}"#),
                Class::Destroys,
            ),
            (
                kubectl("delete").args(["namespace", "web"]),
                Class::Destroys,
            ),
            (kubectl("drain").arg("node-1"), Class::Destroys),
            (kubectl("frobnicate").arg("x"), Class::Destroys),
            (
                CommandLine::member("a", "delete").args(["pod", "x"]),
                Class::Destroys,
            ),
            (
                CommandLine::member("a", "describe").args(["pod", "x"]),
                Class::Looks,
            ),
        ] {
            assert_eq!(command.class(), class, "{command}");
        }
    }
}
