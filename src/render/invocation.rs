//! Commands as the user would type them: in the form by which the plugin was called, with the
//! flags that lead to the same hub.

use std::collections::BTreeMap;

/// How commands begin in reports, and in our own texts.
pub const CANONICAL: &str = "kubectl fleet-stage";

/// How the plugin was called.
#[derive(Debug, Clone)]
pub struct Invocation {
    program: String,
    flags: String,
    /// By member cluster, the context that leads into it.
    contexts: BTreeMap<String, String>,
}

impl Default for Invocation {
    fn default() -> Self {
        Self {
            program: CANONICAL.to_owned(),
            flags: String::new(),
            contexts: BTreeMap::new(),
        }
    }
}

impl Invocation {
    /// From the program's name, the command that the shell ran (`_` in its environment) and the
    /// flags to repeat, each with its value.
    ///
    /// kubectl starts the file `kubectl-fleet_stage` for `kubectl fleet-stage` and the file
    /// `kubectl-fleet-stage` for `kubectl fleet stage`. The second may have been called directly:
    /// only when the shell ran kubectl, it was not.
    pub fn new(called_as: &str, shell_ran: &str, flags: &[(&str, Option<&str>)]) -> Self {
        let program = match file_name(called_as) {
            "kubectl-fleet-stage" if file_name(shell_ran) == "kubectl" => "kubectl fleet stage",
            "kubectl-fleet-stage" => "kubectl-fleet-stage",
            _ => CANONICAL,
        };
        let flags = flags
            .iter()
            .filter_map(|(flag, value)| Some(format!(" {flag} {}", quote((*value)?))))
            .collect();
        Self {
            program: program.to_owned(),
            flags,
            contexts: BTreeMap::new(),
        }
    }

    /// With the contexts that lead into member clusters.
    #[must_use]
    pub fn entering(mut self, contexts: BTreeMap<String, String>) -> Self {
        self.contexts = contexts;
        self
    }

    /// The words that call the program.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// A report's command, as the user would type it.
    pub fn command(&self, command: &str) -> String {
        let Some(rest) = ours(command) else {
            return command.to_owned();
        };
        // What follows belongs to the shell, not to the program.
        let end = [" | ", " > ", " && ", " ; "]
            .iter()
            .filter_map(|shell| rest.find(shell))
            .min()
            .unwrap_or(rest.len());
        let (arguments, shell) = rest.split_at(end);
        format!("{}{arguments}{}{shell}", self.program, self.flags)
    }

    /// A command that needs no hub: without the flags that lead to it.
    pub fn offline(&self, command: &str) -> String {
        ours(command).map_or_else(
            || command.to_owned(),
            |rest| format!("{}{rest}", self.program),
        )
    }

    /// A hint of ours: a command that stands on a line of its own leads to the same hub.
    pub fn hint(&self, text: &str) -> String {
        let lines = text.split('\n').map(|line| {
            let command = line.trim_start();
            let told = !self.flags.is_empty() && command.contains(&self.flags);
            if told || ours(command).is_none_or(is_offline) {
                return self.prose(line);
            }
            let indent = &line[..line.len() - command.len()];
            format!("{indent}{}", self.command(command))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Our own text, in which commands stand as `kubectl fleet-stage …`, and those for a member as
    /// `kubectl --context CLUSTER …`.
    pub fn prose(&self, text: &str) -> String {
        let text = text.replace(CANONICAL, &self.program);
        if self.contexts.is_empty() {
            return text;
        }
        let mut pieces = text.split(CONTEXT);
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            out.push_str(CONTEXT);
            let end = piece.find([' ', '`']).unwrap_or(piece.len());
            let (cluster, rest) = piece.split_at(end);
            match self.contexts.get(cluster) {
                Some(context) => out.push_str(&quote(context)),
                None => out.push_str(cluster),
            }
            out.push_str(rest);
        }
        out
    }
}

/// How a command for a member cluster names its context.
const CONTEXT: &str = "`kubectl --context ";

/// The arguments with the space before them, when the command is one of ours.
fn ours(command: &str) -> Option<&str> {
    command
        .strip_prefix(CANONICAL)
        .filter(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Whether a command, given by its arguments, needs no hub.
fn is_offline(arguments: &str) -> bool {
    let command = arguments.split_whitespace().next();
    matches!(
        command,
        None | Some("explain" | "schema" | "version" | "completion")
    )
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .trim_end_matches(".exe")
}

/// A word that a shell reads as it is.
pub fn quote(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Invocation, quote};

    #[test]
    fn the_form_is_the_one_it_was_called_by() {
        let cases = [
            (
                "/usr/local/bin/kubectl-fleet_stage",
                "/usr/bin/kubectl",
                "kubectl fleet-stage",
            ),
            ("kubectl-fleet_stage", "", "kubectl fleet-stage"),
            (
                "/usr/local/bin/kubectl-fleet-stage",
                "/usr/bin/kubectl",
                "kubectl fleet stage",
            ),
            (
                "/usr/local/bin/kubectl-fleet-stage",
                "/usr/local/bin/kubectl-fleet-stage",
                "kubectl-fleet-stage",
            ),
            (
                "target/release/kubectl-fleet-stage",
                "",
                "kubectl-fleet-stage",
            ),
            (r"C:\bin\kubectl-fleet_stage.exe", "", "kubectl fleet-stage"),
            ("", "", "kubectl fleet-stage"),
        ];
        for (called_as, shell_ran, wanted) in cases {
            let invocation = Invocation::new(called_as, shell_ran, &[]);
            assert_eq!(invocation.program(), wanted, "{called_as} {shell_ran}");
            assert_eq!(
                invocation.command("kubectl fleet-stage stop x"),
                format!("{wanted} stop x")
            );
        }
    }

    #[test]
    fn commands_lead_to_the_same_hub() {
        let called = Invocation::new(
            "kubectl-fleet_stage",
            "",
            &[("--context", Some("the hub")), ("--as", None)],
        );
        assert_eq!(
            called.command("kubectl fleet-stage approve x -n y"),
            "kubectl fleet-stage approve x -n y --context 'the hub'"
        );
        assert_eq!(
            called.command("kubectl fleet-stage status x -o json | jq .verdict"),
            "kubectl fleet-stage status x -o json --context 'the hub' | jq .verdict"
        );
        assert_eq!(
            called.offline("kubectl fleet-stage explain FS401"),
            "kubectl fleet-stage explain FS401"
        );
        // Of a member cluster, or of another plugin: not ours to change.
        for other in ["kubectl get pods", "kubectl fleet-stages x"] {
            assert_eq!(called.command(other), other);
        }
    }

    #[test]
    fn hints_lead_to_the_same_hub() {
        let flags = [("--context", Some("hub"))];
        let called = Invocation::new("kubectl-fleet_stage", "", &flags);
        let hint = "did you mean:\n  kubectl fleet-stage delete sur/x -n y\nor see\n  \
                    kubectl fleet-stage explain FS401\n  kubectl auth can-i get pods";
        assert_eq!(
            called.hint(hint),
            "did you mean:\n  kubectl fleet-stage delete sur/x -n y --context hub\nor see\n  \
             kubectl fleet-stage explain FS401\n  kubectl auth can-i get pods"
        );
        assert_eq!(called.hint(&called.hint(hint)), called.hint(hint));
        assert_eq!(Invocation::default().hint(hint), hint);
    }

    #[test]
    fn commands_for_a_member_take_its_context() {
        let contexts = [("member-1", "the first"), ("member-2", "m2")];
        let contexts = contexts.map(|(cluster, context)| (cluster.into(), context.into()));
        let called = Invocation::default().entering(contexts.into());
        assert_eq!(
            called.prose(
                "Look: `kubectl --context member-2 -n a get pods`, `kubectl --context member-1` and \
                 `kubectl --context member-20 get nodes`."
            ),
            "Look: `kubectl --context m2 -n a get pods`, `kubectl --context 'the first'` and \
             `kubectl --context member-20 get nodes`."
        );
    }

    #[test]
    fn words_stay_words() {
        assert_eq!(quote("a-b_c/d.yaml"), "a-b_c/d.yaml");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("$HOME"), "'$HOME'");
    }
}
