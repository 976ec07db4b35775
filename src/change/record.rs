//! What a command has done so far, and what is true of it when it fails in the middle.

/// What a command has done so far.
#[derive(Debug, Clone, Default)]
pub struct ChangeRecord {
    done: Vec<String>,
    /// Whether the run that the command makes was made, and is still there.
    pub is_made: bool,
}

/// How much of what was done an error's own words tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToldChange {
    #[default]
    Nothing,
    /// The last step.
    Last,
    All,
}

impl ChangeRecord {
    /// Adds a step: `deleted ClusterStagedUpdateRun x`.
    pub fn did(&mut self, what: &str) {
        self.done.push(what.to_owned());
    }

    /// Whether nothing was done.
    pub const fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// The steps in their order.
    pub fn steps(&self) -> &[String] {
        &self.done
    }

    /// What is true when a step did nothing: of the whole command where nothing was done before,
    /// else of the step alone. `verb` is `sent` or `changed`.
    pub fn nothing(&self, verb: &str) -> String {
        if self.is_empty() {
            format!("nothing was {verb}")
        } else {
            format!("nothing more was {verb}")
        }
    }

    /// An error's words with the steps that they do not tell.
    pub fn complete(&self, message: &str, told: ToldChange) -> String {
        let untold = match told {
            ToldChange::Nothing => self.done.as_slice(),
            ToldChange::Last => self.done.split_last().map_or(&[][..], |(_, rest)| rest),
            ToldChange::All => &[],
        };
        if untold.is_empty() {
            message.to_owned()
        } else {
            format!("{message}; already done: {}", untold.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ChangeRecord, ToldChange};

    fn record(steps: &[&str]) -> ChangeRecord {
        let mut record = ChangeRecord::default();
        for step in steps {
            record.did(step);
        }
        record
    }

    #[test]
    fn nothing_is_said_of_the_whole_command_only_where_it_is_true_of_it() {
        assert_eq!(record(&[]).nothing("sent"), "nothing was sent");
        let one = record(&["deleted a"]);
        assert_eq!(one.nothing("sent"), "nothing more was sent");
        assert_eq!(one.nothing("changed"), "nothing more was changed");
    }

    #[test]
    fn each_step_is_told_once() {
        let two = record(&["deleted a", "created b"]);
        let both = "it failed; already done: deleted a, created b";
        for (told, words) in [
            (ToldChange::Nothing, both),
            (ToldChange::Last, "it failed; already done: deleted a"),
            (ToldChange::All, "it failed"),
        ] {
            assert_eq!(two.complete("it failed", told), words);
            assert_eq!(record(&[]).complete("it failed", told), "it failed");
        }
        let one = record(&["deleted a"]);
        let told = one.complete("it failed", ToldChange::Last);
        assert_eq!(told, "it failed");
    }
}
