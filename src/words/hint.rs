//! What to do, in sentences and commands.

use std::fmt;

use super::{CommandLine, quote};

/// What to do: sentences, and commands that each stand on a line of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint(Vec<HintLine>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HintLine {
    /// A sentence. Text from a cluster may be in it: it is one line, whatever it holds.
    Text(String),
    Command(CommandLine),
}

impl Hint {
    pub fn new(text: impl Into<String>) -> Self {
        Self(vec![HintLine::Text(text.into())])
    }

    #[must_use]
    pub fn command(mut self, command: CommandLine) -> Self {
        self.0.push(HintLine::Command(command));
        self
    }

    #[must_use]
    pub fn commands(self, commands: impl IntoIterator<Item = CommandLine>) -> Self {
        commands.into_iter().fold(self, Self::command)
    }

    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(HintLine::Text(text.into()));
        self
    }

    #[must_use]
    pub fn on_hub(self, context: &str) -> Self {
        let lines = self.0.into_iter().map(|line| match line {
            HintLine::Command(command) => HintLine::Command(command.on_hub(context)),
            HintLine::Text(text) => HintLine::Text(text),
        });
        Self(lines.collect())
    }

    /// Names what its commands of a verb are about as the value of a flag: they would be other
    /// commands with it alone.
    #[must_use]
    pub fn with_operand_of(self, verb: &str, flag: &str) -> Self {
        let mut lines: Vec<HintLine> = Vec::new();
        for line in self.0 {
            match (line, lines.last_mut()) {
                (HintLine::Command(command), Some(HintLine::Text(text)))
                    if command.verb() == verb =>
                {
                    let operand = quote(command.operand(0).unwrap_or_default());
                    let comma = if text.ends_with(':') { "" } else { "," };
                    let scope = command.namespace_flag();
                    *text = format!("{text}{comma} {flag} {operand}{scope}");
                }
                (line, _) => lines.push(line),
            }
        }
        Self(lines)
    }

    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub fn lines(&self) -> &[HintLine] {
        &self.0
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&Self> for Hint {
    fn from(hint: &Self) -> Self {
        hint.clone()
    }
}

/// As reports have it; on a terminal, commands lead to the hub that was asked.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, line) in self.0.iter().enumerate() {
            let gap = if at == 0 { "" } else { "\n" };
            match line {
                HintLine::Text(text) => write!(f, "{gap}{text}")?,
                HintLine::Command(command) => write!(f, "{gap}  {command}")?,
            }
        }
        Ok(())
    }
}
