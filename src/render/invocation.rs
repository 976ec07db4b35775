//! Commands as the user would type them: in the form by which the plugin was called, with the
//! flags that lead to the same hub.

/// How the plugin was called.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    program: String,
    flags: String,
}

/// How commands begin in reports.
pub const CANONICAL: &str = "kubectl fleet-stage";

impl Invocation {
    /// From the program's name and the flags to repeat, each with its value.
    pub fn new(called_as: &str, flags: &[(&str, Option<&str>)]) -> Self {
        let file = called_as.rsplit(['/', '\\']).next().unwrap_or_default();
        let program = match file.trim_end_matches(".exe") {
            // kubectl finds this file for `kubectl fleet-stage`, and the other for `fleet stage`;
            // a shell has no way to tell, so the form that krew installs is shown.
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
        }
    }

    /// A report's command, as the user would type it.
    pub fn command(&self, command: &str) -> String {
        match command.strip_prefix(CANONICAL) {
            Some(rest) => {
                let program = if self.program.is_empty() {
                    CANONICAL
                } else {
                    &self.program
                };
                format!("{program}{rest}{}", self.flags)
            }
            None => command.to_owned(),
        }
    }
}

fn quote(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::Invocation;

    #[test]
    fn commands_lead_to_the_same_hub() {
        let called = Invocation::new(
            "/usr/local/bin/kubectl-fleet_stage",
            &[("--context", Some("the hub")), ("--as", None)],
        );
        assert_eq!(
            called.command("kubectl fleet-stage approve x -n y"),
            "kubectl fleet-stage approve x -n y --context 'the hub'"
        );
        let direct = Invocation::new("target/release/kubectl-fleet-stage", &[]);
        assert_eq!(
            direct.command("kubectl fleet-stage stop x"),
            "kubectl-fleet-stage stop x"
        );
        assert_eq!(direct.command("kubectl get x"), "kubectl get x");
    }
}
