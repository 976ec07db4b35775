//! The report: an interface that other programs parse. Fields are only ever added, the values of
//! enums never change their meaning, and the same objects give the same bytes.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::kubefleet::{ObjectRef, object::OWN_API_VERSION};
use crate::rollout::Progress;
use crate::words::Command;

/// What state a rollout is in, why, and what to do next.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Always `kubectl-fleet-stage/v1`.
    pub api_version: String,
    /// Always `Diagnosis`.
    pub kind: String,
    /// The update run or placement that was diagnosed.
    pub target: Subject,
    /// The state of the rollout.
    pub verdict: Verdict,
    /// One sentence, true on its own.
    pub summary: String,
    /// Root causes first, then by severity, code and subject.
    pub findings: Vec<Finding>,
    /// What could not be judged, and why.
    pub not_checked: Vec<NotChecked>,
    /// The moment for which the report is true: the clock, or the time of the bundle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub as_of: Option<Timestamp>,
    /// How many findings `--min-severity` and `--suppress` left out; absent when none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<usize>,
    /// The stages and clusters of the run; absent for a placement without a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
}

impl Report {
    /// An empty report about a target.
    pub fn new(target: Subject, verdict: Verdict, summary: String) -> Self {
        Self {
            api_version: OWN_API_VERSION.to_owned(),
            kind: "Diagnosis".to_owned(),
            target,
            verdict,
            summary,
            findings: Vec::new(),
            not_checked: Vec::new(),
            as_of: None,
            left_out: None,
            progress: None,
        }
    }
}

/// The state of a rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub enum Verdict {
    /// All clusters are done.
    Succeeded,
    /// It is moving, and no one needs to act.
    Progressing,
    /// Only a TimedWait is outstanding.
    WaitingForTimer,
    /// A person must approve.
    WaitingForApproval,
    /// Clusters do not finish.
    Stuck,
    /// A stop was asked for, and clusters in flight are still moving.
    Stopping,
    /// Stopped; it can be resumed.
    Stopped,
    /// Initialized, or never asked to run; also a placement that waits for its first run.
    NotStarted,
    /// Not initialized yet.
    Initializing,
    /// Terminal: a new run is needed.
    InitializationFailed,
    /// Terminal: a new run is needed.
    Failed,
    /// It is being deleted.
    Deleting,
    /// The evidence needed was denied or is missing.
    Unknown,
}

impl Verdict {
    /// The word in the report.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "Succeeded",
            Self::Progressing => "Progressing",
            Self::WaitingForTimer => "WaitingForTimer",
            Self::WaitingForApproval => "WaitingForApproval",
            Self::Stuck => "Stuck",
            Self::Stopping => "Stopping",
            Self::Stopped => "Stopped",
            Self::NotStarted => "NotStarted",
            Self::Initializing => "Initializing",
            Self::InitializationFailed => "InitializationFailed",
            Self::Failed => "Failed",
            Self::Deleting => "Deleting",
            Self::Unknown => "Unknown",
        }
    }

    /// Whether the verdict asks for an explanation: at least one finding is its root cause.
    pub const fn wants_root_cause(self) -> bool {
        !matches!(
            self,
            Self::Succeeded
                | Self::Progressing
                | Self::Stopping
                | Self::Deleting
                | Self::Initializing
                | Self::Unknown
        )
    }
}

/// How much a finding matters.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// An expected state, or a harmless oddity.
    Info,
    /// Something that will or may go wrong.
    Warning,
    /// Something that is wrong.
    Error,
}

impl Severity {
    /// The word in the report.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// An object that a finding speaks of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Subject {
    /// Its kind.
    pub kind: String,
    /// Its namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Subject {
    /// An object of any kind, also one that the walk does not read.
    pub fn new(
        kind: impl Into<String>,
        namespace: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        Self {
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl From<&ObjectRef> for Subject {
    fn from(object: &ObjectRef) -> Self {
        Self::new(
            object.kind.name(),
            object.namespace.clone(),
            object.name.clone(),
        )
    }
}

impl From<ObjectRef> for Subject {
    fn from(object: ObjectRef) -> Self {
        Self::from(&object)
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.namespace.is_empty() {
            write!(f, "{} {}", self.kind, self.name)
        } else {
            write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
        }
    }
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// `FSnnn`, stable for ever.
    pub code: String,
    /// The state seen, in kebab-case.
    pub name: String,
    /// How much it matters.
    pub severity: Severity,
    /// Whether it explains the verdict; otherwise it is a consequence or a note.
    pub root_cause: bool,
    /// The findings that explain this one.
    pub caused_by: Vec<Cause>,
    /// The object at fault.
    pub subject: Subject,
    /// The stage that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// All clusters that it applies to; empty when it concerns the whole run.
    pub clusters: Vec<String>,
    /// One sentence.
    pub message: String,
    /// What was read.
    pub evidence: Vec<Evidence>,
    /// What to do, the first first.
    pub remedies: Vec<Remedy>,
    /// The long explanation.
    pub docs: String,
}

/// A finding that explains another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Cause {
    /// Its code.
    pub code: String,
    /// Its subject.
    pub subject: Subject,
}

/// A value that was read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Evidence {
    /// The object in which it stands.
    pub object: Subject,
    /// The member cluster in which the object was seen; absent for an object of the hub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Where in the object.
    pub path: String,
    /// The value: text from the cluster, untrusted, never cut. What is absent says `absent`.
    pub value: String,
    /// Whether the value stands nowhere: it was computed from what stands under the path, or under
    /// several that are joined by `, `. Absent where it was read.
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
    pub command: Option<Command>,
    /// What the step does to the fleet.
    pub effect: Effect,
}

/// What a remedy does to the fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Effect {
    /// It only looks.
    #[serde(rename = "read-only")]
    ReadOnly,
    /// It changes something.
    #[serde(rename = "changes")]
    Changes,
    /// It deletes, restarts or takes back something.
    #[serde(rename = "disruptive")]
    Disruptive,
}

impl Effect {
    /// The word in the report.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Changes => "changes",
            Self::Disruptive => "disruptive",
        }
    }
}

/// Something that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct NotChecked {
    /// A kind, or what would have been read.
    pub what: String,
    /// Why it could not be.
    pub why: String,
    /// The object, when it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// The clusters concerned; absent when it is not about clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<String>,
}
