//! What a run waits for.

use std::fmt;

use jiff::Timestamp;

use crate::kubefleet::duration::whole_seconds;

/// Something without which the controller does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwaitedEvent {
    /// `Approved=True` of this request, for its generation.
    Approval { request: String, generation: i64 },
    /// A timed wait.
    Timer { until: Timestamp },
    /// A cluster that is being updated, and from when on the run is called stuck.
    Cluster {
        cluster: String,
        stuck: Option<Timestamp>,
    },
    /// A binding that is being deleted.
    Removal { cluster: String },
    /// Somebody who starts, or resumes, the run.
    Start,
    /// That an error goes away; the controller tries again, ever more rarely.
    Retry(String),
}

impl AwaitedEvent {
    /// When the controller does something about it by itself.
    pub const fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Timer { until } => Some(*until),
            Self::Cluster { stuck, .. } => *stuck,
            _ => None,
        }
    }
}

impl fmt::Display for AwaitedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Approval {
                request,
                generation,
            } => write!(f, "approval {request} of generation {generation}"),
            Self::Timer { until } => write!(f, "timer until {}", whole_seconds(*until)),
            Self::Cluster { cluster, .. } => write!(f, "cluster {cluster}"),
            Self::Removal { cluster } => write!(f, "removal from cluster {cluster}"),
            Self::Start => f.write_str("spec.state Run"),
            Self::Retry(error) => write!(f, "an end of the error: {error}"),
        }
    }
}
