//! Commands as the user would type them: in the form by which the plugin was called, with the
//! flags that lead to the same hub.

use std::collections::BTreeMap;

use crate::words::{self, CommandLine, CommandSpelling};

/// How commands begin in reports, and in our own texts.
pub const CANONICAL: &str = "kubectl fleet-stage";

#[derive(Debug, Clone)]
pub struct Invocation {
    program: &'static [&'static str],
    /// The flags to repeat, each with its value.
    flags: Vec<String>,
    /// Those of them that name the file in which all contexts stand.
    file: Vec<String>,
    /// By member cluster, the context that leads into it.
    contexts: BTreeMap<String, String>,
}

impl Default for Invocation {
    fn default() -> Self {
        Self::new("", "", &[])
    }
}

impl Invocation {
    /// From the program's name, the command that the shell ran (`_` in its environment) and the
    /// flags to repeat, each with its value if it has one.
    ///
    /// kubectl starts the file `kubectl-fleet_stage` for `kubectl fleet-stage` and the file
    /// `kubectl-fleet-stage` for `kubectl fleet stage`. The second may have been called directly:
    /// only when the shell ran kubectl, it was not.
    pub fn new(called_as: &str, shell_ran: &str, flags: &[(&str, Option<&str>)]) -> Self {
        let program: &[&str] = match file_name(called_as) {
            "kubectl-fleet-stage" if file_name(shell_ran) == "kubectl" => {
                &["kubectl", "fleet", "stage"]
            }
            "kubectl-fleet-stage" => &["kubectl-fleet-stage"],
            _ => &["kubectl", "fleet-stage"],
        };
        let spelled = |(flag, value): &(&str, Option<&str>)| match value {
            Some(value) if value.starts_with('-') => vec![format!("{flag}={value}")],
            Some(value) => vec![(*flag).to_owned(), (*value).to_owned()],
            None => vec![(*flag).to_owned()],
        };
        let file = flags.iter().filter(|(flag, _)| *flag == "--kubeconfig");
        Self {
            program,
            flags: flags.iter().flat_map(spelled).collect(),
            file: file.flat_map(spelled).collect(),
            contexts: BTreeMap::new(),
        }
    }

    /// With the contexts that lead into member clusters.
    #[must_use]
    pub fn entering(mut self, contexts: BTreeMap<String, String>) -> Self {
        self.contexts = contexts;
        self
    }

    /// The flags that lead to the hub, as words.
    pub fn flags(&self) -> &[String] {
        &self.flags
    }

    /// The words that call the program.
    pub fn program(&self) -> String {
        self.program.join(" ")
    }

    /// A command as the user would type it: one line, quoted for the shell.
    pub fn command(&self, command: &CommandLine) -> String {
        words::line(self.words(command))
    }

    fn words(&self, command: &CommandLine) -> Vec<String> {
        let context = command.cluster().and_then(|it| self.contexts.get(it));
        command.spelled(&CommandSpelling {
            program: self.program,
            flags: match context {
                Some(_) => &self.file,
                None if command.asks_a_hub() => &self.flags,
                None => &[],
            },
            context: context.map(String::as_str),
        })
    }

    /// Our own text, in which commands stand as `kubectl fleet-stage …`.
    pub fn prose(&self, text: &str) -> String {
        text.replace(CANONICAL, &self.program())
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .trim_end_matches(".exe")
}

#[cfg(test)]
mod tests {
    use super::Invocation;
    use crate::words::CommandLine;

    #[test]
    fn the_form_is_the_one_it_was_called_by() {
        let plugin = "/usr/local/bin/kubectl-fleet-stage";
        let underscored = "/usr/local/bin/kubectl-fleet_stage";
        for (called_as, shell_ran, wanted) in [
            (underscored, "/usr/bin/kubectl", "kubectl fleet-stage"),
            ("kubectl-fleet_stage", "", "kubectl fleet-stage"),
            (plugin, "/usr/bin/kubectl", "kubectl fleet stage"),
            (plugin, plugin, "kubectl-fleet-stage"),
            ("target/kubectl-fleet-stage", "", "kubectl-fleet-stage"),
            (r"C:\bin\kubectl-fleet_stage.exe", "", "kubectl fleet-stage"),
            ("", "", "kubectl fleet-stage"),
        ] {
            let invocation = Invocation::new(called_as, shell_ran, &[]);
            assert_eq!(invocation.program(), wanted, "{called_as} {shell_ran}");
            let stop = invocation.command(&CommandLine::fleet("stop").arg("x"));
            assert_eq!(stop, format!("{wanted} stop x"));
        }
    }

    #[test]
    fn commands_lead_to_the_same_hub() {
        let called = Invocation::new("kubectl-fleet_stage", "", &[("--context", Some("the hub"))]);
        let explain = || CommandLine::fleet("explain").arg("FS401");
        for (command, wanted) in [
            (explain(), "kubectl fleet-stage explain FS401"),
            (explain().on_hub("eu"), "kubectl fleet-stage explain FS401"),
            (
                CommandLine::fleet("approve").arg("x").namespace("y"),
                "kubectl fleet-stage approve x -n y --context 'the hub'",
            ),
            (
                CommandLine::fleet("approve").arg("-o").namespace("y"),
                "kubectl fleet-stage approve -n y --context 'the hub' -- -o",
            ),
            (
                CommandLine::kubectl("edit").arg("crp").arg("x"),
                "kubectl edit crp x --context 'the hub'",
            ),
            (
                CommandLine::member("m", "get").arg("pods").on_hub("eu"),
                "kubectl --context CONTEXT_OF_m get pods",
            ),
            (
                CommandLine::member("m", "get").arg("pods").namespace("a"),
                "kubectl --context CONTEXT_OF_m -n a get pods",
            ),
        ] {
            assert_eq!(called.command(&command), wanted);
        }
        let odd = Invocation::new("", "", &[("--context", Some("-x"))]);
        let list = odd.command(&CommandLine::fleet("list"));
        assert_eq!(list, "kubectl fleet-stage list --context=-x");
    }

    #[test]
    fn of_several_hubs_each_command_leads_to_its_own() {
        let called = Invocation::new("", "", &[("--kubeconfig", Some("k"))]);
        let command = CommandLine::fleet("approve").arg("-x").namespace("y");
        let command = command.on_hub("eu");
        let wanted = "kubectl fleet-stage approve -n y --context eu --kubeconfig k -- -x";
        assert_eq!(called.command(&command), wanted);
        let wanted = "kubectl fleet-stage approve -n y --context eu -- -x";
        assert_eq!(command.to_string(), wanted);
    }

    #[test]
    fn commands_for_a_member_take_its_context() {
        let contexts = [("member-1", "the first"), ("member-2", "m2")];
        let contexts = contexts.map(|(cluster, context)| (cluster.into(), context.into()));
        let flags = [("--context", Some("hub")), ("--kubeconfig", Some("k"))];
        let called = Invocation::new("", "", &flags);
        let called = called.entering(contexts.into());
        for (cluster, flags) in [
            ("member-1", "--context 'the first' --kubeconfig k"),
            ("member-2", "--context m2 --kubeconfig k"),
            ("member-20", "--context CONTEXT_OF_member-20"),
        ] {
            let command = CommandLine::member(cluster, "get").arg("nodes");
            let wanted = format!("kubectl {flags} get nodes");
            assert_eq!(called.command(&command), wanted);
        }
    }
}
