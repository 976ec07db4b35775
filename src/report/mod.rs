//! The report: an interface that other programs parse. Fields are only ever added, the values of
//! enums never change their meaning, and the same objects give the same bytes.

mod compose;
mod facts;
mod finding;
mod outline;
mod shown;
mod subject;
mod type_meta;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::controller::ExpectedWrite;
use crate::words::worded;

pub(crate) use compose::composed;
pub use compose::{ComposeText, ReportParts};
pub use facts::RunFacts;
pub use finding::{CausedBy, Effect, Evidence, FaultOrigin, Finding, Remedy, Severity};
pub use outline::{
    EvidenceValue, EvidenceValues, OutlinedFinding, ReportDetail, ReportOutline, unnamed,
};
pub use shown::{ABSENT, HubAndMember, ShownValue, with_condition};
pub use subject::Subject;
pub use type_meta::TypeMeta;

/// The state of a rollout, its cause, and what to do next.
#[skip_serializing_none]
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    #[serde(flatten)]
    pub meta: TypeMeta,
    /// The context of the hub; absent if only one hub was asked.
    pub hub: Option<String>,
    /// The update run or placement that was diagnosed.
    pub target: Subject,
    /// The state of the rollout.
    pub verdict: Verdict,
    /// One sentence, true on its own.
    pub summary: String,
    /// Whose fault it is, where all root causes name the same.
    pub fault: Option<FaultOrigin>,
    /// Root causes first, then by severity, code and subject.
    pub findings: Vec<Finding>,
    /// What could not be checked, and why.
    pub not_checked: Vec<NotChecked>,
    /// The time for which the report is true: now, or the time of the bundle.
    pub as_of: Option<Timestamp>,
    /// How many findings `--min-severity` and `--suppress` left out; absent when none.
    pub left_out: Option<usize>,
    /// The update run that the verdict is about; absent for a placement without one.
    pub run: Option<RunFacts>,
    /// What the update run controller is expected to do next; absent if that is unknown.
    pub expected: Option<ExpectedWrite>,
}

impl Report {
    pub fn new(target: Subject, verdict: Verdict, summary: String) -> Self {
        Self {
            meta: TypeMeta::new("Diagnosis"),
            hub: None,
            target,
            verdict,
            summary,
            fault: None,
            findings: Vec::new(),
            not_checked: Vec::new(),
            as_of: None,
            left_out: None,
            run: None,
            expected: None,
        }
    }

    /// Takes findings in, and whose fault the verdict is.
    pub fn take(&mut self, findings: Vec<Finding>) {
        let mut roots = findings.iter().filter(|finding| finding.root_cause);
        let first = roots.next().and_then(|first| first.fault);
        self.fault = first.filter(|first| roots.all(|root| root.fault == Some(*first)));
        self.findings = findings;
    }

    /// The same where several hubs were asked: its commands lead to its own.
    #[must_use]
    pub fn on_hub(mut self, context: &str) -> Self {
        let findings = self.findings.iter_mut();
        for remedy in findings.flat_map(|finding| &mut finding.remedies) {
            remedy.command = remedy.command.take().map(|it| it.on_hub(context));
        }
        self.hub = Some(context.to_owned());
        self
    }

    pub fn about(&self) -> String {
        self.target.on_hub(self.hub.as_deref())
    }
}

worded! {
    /// The state of a rollout.
    #[derive(
        Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema,
    )]
    pub enum Verdict {
        /// All clusters are done.
        Succeeded = "Succeeded",
        /// It is progressing, and nobody needs to act.
        Progressing = "Progressing",
        /// Only a TimedWait is outstanding.
        WaitingForTimer = "WaitingForTimer",
        /// A person must approve.
        WaitingForApproval = "WaitingForApproval",
        /// Clusters do not finish.
        Stuck = "Stuck",
        /// A stop was requested, and clusters in flight are still progressing.
        Stopping = "Stopping",
        /// Stopped; it can be resumed.
        Stopped = "Stopped",
        /// Initialized, or never asked to run; also a placement that waits for its first run.
        NotStarted = "NotStarted",
        /// Not initialized yet.
        Initializing = "Initializing",
        /// Terminal: a new run is needed.
        InitializationFailed = "InitializationFailed",
        /// Terminal: a new run is needed.
        Failed = "Failed",
        /// It is being deleted.
        Deleting = "Deleting",
        /// The evidence needed was denied or is missing.
        #[default]
        Unknown = "Unknown",
    }
}

impl Verdict {
    pub const fn is_over(self) -> bool {
        matches!(
            self,
            Self::Succeeded | Self::Failed | Self::InitializationFailed
        )
    }

    /// Whether the run failed, or does not get further.
    pub const fn is_in_trouble(self) -> bool {
        matches!(
            self,
            Self::Failed | Self::InitializationFailed | Self::Stuck
        )
    }

    /// Whether a person has to let a run continue.
    pub const fn waits_for_person(self) -> bool {
        matches!(
            self,
            Self::WaitingForApproval | Self::Stopped | Self::NotStarted
        )
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

/// Something that could not be checked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct NotChecked {
    /// A kind, or what was to be read.
    pub what: String,
    /// Why it could not be checked.
    pub why: String,
    /// The object, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// The affected clusters; absent if it is not about clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<String>,
}

impl NotChecked {
    /// That values of an object were masked before anybody could compare them.
    pub fn masked(object: impl Into<Subject>) -> Self {
        Self::new("masked values", "they were masked when they were collected").about(object.into())
    }

    /// That something could not be checked, and why.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            why: why.into(),
            subject: None,
            clusters: Vec::new(),
        }
    }

    #[must_use]
    pub fn on(mut self, clusters: Vec<String>) -> Self {
        self.clusters = clusters;
        self
    }

    #[must_use]
    pub fn about(mut self, subject: Subject) -> Self {
        self.subject = Some(subject);
        self
    }

    /// What was not checked: the object, when it is one.
    pub fn name(&self) -> String {
        match &self.subject {
            Some(subject) if self.what == subject.kind => subject.to_string(),
            Some(subject) => format!("{} ({subject})", self.what),
            None => self.what.clone(),
        }
    }
}
