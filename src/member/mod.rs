//! What a rollout waits for, seen in the member cluster itself.
//!
//! KubeFleet's hub knows that an object is not available there, and not why. This floor knows which
//! of Kubernetes' own objects tell (workloads, pods, events and what they need), what to ask a
//! cluster next, and what the answers mean. Pure, and the same for a live cluster and a bundle.

pub mod availability;
mod errand;
pub mod kind;
mod look;
pub mod model;
pub mod object;
pub mod pods;
mod states;
pub mod texts;
mod troubles;
mod view;

pub use errand::{ClusterMatch, MemberErrand, WORKLOADS_EACH};
pub use kind::MemberKind;
pub use look::{
    MemberGap, MemberObservation, MemberQuery, Outcome, QuerySelection, WantedWorkload,
};
pub use object::{MemberBody, MemberObject};
pub use states::{ContainerPlace, MULTI_ATTACH, PodState, PodTrouble, Probe};
pub use troubles::{PodHold, PodRefusal};
pub use view::{WorkloadView, events_since};
