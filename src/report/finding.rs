//! Something that was found, and what it rests on.

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::subject::Subject;
use crate::words::{CommandLine, worded};

worded! {
    /// How much a finding matters.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, clap::ValueEnum,
    )]
    pub enum Severity {
        /// An expected state, or a harmless oddity.
        Info = "info",
        /// Something that will or may go wrong.
        Warning = "warning",
        /// Something that is wrong.
        Error = "error",
    }
}

worded! {
    /// Whose fault it is that a cluster or a run does not continue.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    #[schemars(rename = "Fault")]
    pub enum FaultOrigin {
        /// What is rolled out: the content, or an override of it. A rollback helps.
        Content = "content",
        /// The hub, a member cluster, or what else runs there.
        Environment = "environment",
        /// Somebody decided it, or has to decide.
        Person = "person",
    }
}

impl Severity {
    /// A warning in some case, else nothing but news.
    pub const fn warning_if(is_late: bool) -> Self {
        if is_late { Self::Warning } else { Self::Info }
    }

    /// An error in some case, else a warning.
    pub const fn error_if(is_cause: bool) -> Self {
        if is_cause { Self::Error } else { Self::Warning }
    }
}

/// A finding.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// `FSnnn`; never changes.
    pub code: String,
    /// The state seen, in kebab-case.
    pub name: String,
    /// How much it matters.
    pub severity: Severity,
    /// Whose fault it is; absent where it is unknown, or where the finding holds no cluster.
    pub fault: Option<FaultOrigin>,
    /// Whether it explains the verdict; otherwise it is a consequence or a note.
    pub root_cause: bool,
    /// The findings that explain this one.
    pub caused_by: Vec<CausedBy>,
    /// The object at fault.
    pub subject: Subject,
    /// The stage that it belongs to.
    pub stage: Option<String>,
    /// All clusters that it applies to; empty when it concerns the whole run.
    pub clusters: Vec<String>,
    /// One sentence.
    pub message: String,
    /// What was read.
    pub evidence: Vec<Evidence>,
    /// What to do, in this order.
    pub remedies: Vec<Remedy>,
    /// The long explanation.
    pub docs: String,
}

/// A finding that explains another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(rename = "Cause")]
pub struct CausedBy {
    /// Its code.
    pub code: String,
    /// Its subject.
    pub subject: Subject,
}

/// A value that was read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Evidence {
    /// The object that has it.
    pub object: Subject,
    /// The member cluster of the object; absent for an object on the hub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Where in the object.
    pub path: String,
    /// The value: text from the cluster, untrusted, never shortened. `absent` if there is none.
    pub value: String,
    /// Whether the value was computed from the values at the path, or at several paths joined by `,
    /// `. Absent if the value was read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub computed: bool,
}

impl Evidence {
    /// The path as people read it before the value: what was computed poses as no field.
    pub fn label(&self) -> String {
        if self.computed {
            format!("computed from {}:", self.path)
        } else {
            format!("{} =", self.path)
        }
    }
}

/// A step that helps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remedy {
    /// What to do, in words.
    pub action: String,
    /// The command that does it, when there is one.
    #[serde(flatten)]
    pub command: Option<CommandLine>,
    /// What the step does to the fleet.
    pub effect: Effect,
    /// Whether the step after it fails without it: where only a few are shown, both are.
    #[serde(skip)]
    pub next_needs_it: bool,
}

impl Remedy {
    /// A step of its own.
    pub fn new(
        action: impl Into<String>,
        command: impl Into<Option<CommandLine>>,
        effect: Effect,
    ) -> Self {
        Self {
            action: action.into(),
            command: command.into(),
            effect,
            next_needs_it: false,
        }
    }

    pub fn look(action: impl Into<String>, command: impl Into<Option<CommandLine>>) -> Self {
        Self::new(action, command, Effect::ReadOnly)
    }

    /// What comes before the next step, and is shown with it.
    pub fn first(action: impl Into<String>) -> Self {
        Self {
            next_needs_it: true,
            ..Self::look(action, None)
        }
    }

    /// Whether the step is one of our commands.
    pub fn is_our(&self, verbs: &[&str]) -> bool {
        let command = self.command.as_ref().filter(|command| command.is_ours());
        command.is_some_and(|it| verbs.contains(&it.verb()))
    }

    /// Whether it means nothing without the step before it.
    pub fn continues(&self) -> bool {
        self.action.starts_with("Then ")
    }

    /// The step with what it does to the fleet, unless it only looks.
    pub fn sentence(&self) -> String {
        match self.effect {
            Effect::ReadOnly => self.action.clone(),
            effect => format!("{} [{}]", self.action, effect.as_str()),
        }
    }
}

worded! {
    /// What a remedy does to the fleet.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    pub enum Effect {
        /// It only reads.
        ReadOnly = "read-only",
        /// It changes something.
        Changes = "changes",
        /// It deletes, restarts, or rolls back something.
        Disruptive = "disruptive",
    }
}

impl Finding {
    /// Marks the finding as an explanation of the verdict.
    #[must_use]
    pub fn root(self) -> Self {
        self.root_if(true)
    }

    /// Marks the finding as an explanation of the verdict when it is one.
    #[must_use]
    pub fn root_if(mut self, root: bool) -> Self {
        self.root_cause = root;
        self
    }

    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Names whose fault it is, where that is not the rule's.
    #[must_use]
    pub fn fault(mut self, fault: FaultOrigin) -> Self {
        self.fault = Some(fault);
        self
    }

    pub fn add_sentence(&mut self, sentence: &str) {
        self.message.push(' ');
        self.message.push_str(sentence);
    }

    /// Whether another finding names this one as its cause.
    pub fn explains(&self, other: &Self) -> bool {
        let mut causes = other.caused_by.iter();
        causes.any(|cause| cause.code == self.code && cause.subject == self.subject)
    }

    /// The codes of the findings that explain this one: `FS501, FS901`.
    pub fn codes_of_causes(&self) -> String {
        let mut codes: Vec<_> = self.caused_by.iter().map(|c| c.code.as_str()).collect();
        codes.dedup();
        codes.join(", ")
    }

    /// Names this finding as the cause of another.
    pub fn as_cause(&self) -> CausedBy {
        CausedBy {
            code: self.code.clone(),
            subject: self.subject.clone(),
        }
    }
}
