//! What KubeFleet refuses, each refusal written once: a plan asks before a run (`has`), a diagnosis
//! after it (`had … when example-run was initialized`).

mod binding_count;
mod bindings_outdated;
mod content_sent_late;
mod in_the_way;
mod max_concurrency;
pub mod members;
mod name_reused;
mod namespace_undelivered;
mod no_cluster;
mod no_stage;
mod not_external;
mod not_scheduled;
mod override_idle;
mod override_invalid;
mod placement_deleted;
mod placement_missing;
mod policy_snapshot;
mod resource_selectors;
pub mod scheduling;
mod snapshot_awaited;
mod snapshot_empty;
mod snapshot_incomplete;
mod snapshot_index;
mod snapshot_missing;
mod snapshot_pruned_next;
mod sorting_label;
mod stage_empty;
mod stage_map;
mod stage_selector;
mod stage_tasks;
pub mod steps;
mod strategy_missing;
mod strategy_unreadable;
mod two_stages;

use crate::inventory::Inventory;
use crate::kubefleet::ObjectRef;
use crate::report::{Evidence, Finding, Remedy, Subject, composed};
use crate::words::{distinct, enumerate};

pub use binding_count::binding_count;
pub use bindings_outdated::bindings_outdated;
pub use content_sent_late::content_sent_late;
pub use in_the_way::{ProblemsInTheWay, in_the_way, problems_ahead};
pub use max_concurrency::max_concurrency;
pub use name_reused::{name_reused, name_reused_by};
pub use namespace_undelivered::{
    SCOPE_VERSION, namespace_undelivered, namespace_undelivered_ahead, with_delivery_steps,
};
pub use no_cluster::no_cluster;
pub use no_stage::no_stage;
pub use not_external::not_external;
pub use not_scheduled::{not_scheduled, scheduled_evidence, shortfall};
pub use override_idle::{
    overridden, override_matches_nothing, override_never_applied, overrides_of,
};
pub use override_invalid::{override_invalid, override_repair};
pub use placement_deleted::placement_deleted;
pub use placement_missing::{MAKE_PLACEMENT, placement_missing};
pub use policy_snapshot::{not_latest, several_latest, without_count, without_index};
pub use resource_selectors::{refused_selector, resource_selectors, selectors_refused_now};
pub use snapshot_awaited::snapshot_awaited;
pub use snapshot_empty::snapshot_empty;
pub use snapshot_incomplete::{
    ONE_OBJECT, number_of_parts, see_complete, snapshot_incomplete, snapshot_parts_not_found,
};
pub use snapshot_index::snapshot_index;
pub use snapshot_missing::{
    existing_snapshots, otherwise_written, pruned_below, snapshot_missing, snapshot_pruned,
};
pub use snapshot_pruned_next::snapshot_pruned_next;
pub use sorting_label::{SortingLabel, sorting_label, unsorted};
pub use stage_empty::{EmptyStage, stage_empty};
pub use stage_map::{StageMap, near_misses, selector_of};
pub use stage_selector::stage_selector;
pub use stage_tasks::stage_tasks;
pub use strategy_missing::strategy_missing;
pub use strategy_unreadable::strategy_unreadable;
pub use two_stages::{two_stages, was_in_two_stages};

/// What nearly every problem is made of.
mod prelude {
    pub use super::{Problem, RefusalTense};
    pub use crate::inventory::Inventory;
    pub use crate::kubefleet::{Concept, ObjectRef};
    pub use crate::report::{ComposeText, Subject};
    pub use crate::words::enumerate;
}

/// When KubeFleet refuses. It reads as the end of a sentence, before the full stop.
#[derive(Debug, Clone, Copy)]
pub enum RefusalTense<'t> {
    /// It would refuse a run that is created now.
    Now,
    /// It refused a run: `when example-run was initialized`, and what has changed since.
    Past { when: &'t str, since: &'t str },
}

impl RefusalTense<'_> {
    pub const fn pick<'w>(self, now: &'w str, past: &'w str) -> &'w str {
        match self {
            Self::Now => now,
            Self::Past { .. } => past,
        }
    }

    const fn has(self) -> &'static str {
        self.pick("has", "had")
    }

    const fn is(self) -> &'static str {
        self.pick("is", "was")
    }

    const fn are(self) -> &'static str {
        self.pick("are", "were")
    }

    /// Only the time: what has changed since comes later in the sentence.
    fn when(self) -> String {
        match self {
            Self::Now => String::new(),
            Self::Past { when, .. } => format!(" {when}"),
        }
    }

    const fn since(&self) -> &str {
        match self {
            Self::Now => "",
            Self::Past { since, .. } => since,
        }
    }
}

impl std::fmt::Display for RefusalTense<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.when(), self.since())
    }
}

/// A refusal, for a plan or a diagnosis to tell.
#[derive(Debug, Clone)]
pub struct Problem {
    pub subject: Subject,
    pub stage: Option<String>,
    pub clusters: Vec<String>,
    pub message: String,
    pub evidence: Vec<Evidence>,
    pub remedies: Vec<Remedy>,
}

impl Problem {
    pub fn new(subject: impl Into<Subject>, message: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            stage: None,
            clusters: Vec::new(),
            message: message.into(),
            evidence: Vec::new(),
            remedies: Vec::new(),
        }
    }

    /// Gives a finding, which has its message already, everything else of it.
    pub fn told_in(self, mut finding: Finding) -> Finding {
        finding.stage = self.stage;
        finding.clusters = self.clusters;
        finding.evidence.extend(self.evidence);
        finding.remedies = self.remedies;
        finding
    }
}

composed!(Problem);

/// Where a placement's name stands: in the run that is looked at, else in the placement.
fn placement_named(inventory: &Inventory, placement: &ObjectRef) -> (ObjectRef, &'static str) {
    match inventory.run.present() {
        Some(run) => (run.object(), "spec.placementName"),
        None => (placement.clone(), "metadata.name"),
    }
}

/// What clusters have of others: `snapshot 3 (from web-2)`.
pub fn put_there<I: Ord + ToString, W: Ord + AsRef<str>>(
    indexes: impl IntoIterator<Item = I>,
    writers: impl IntoIterator<Item = W>,
) -> String {
    let held = match distinct(indexes).as_slice() {
        [one] => format!("snapshot {}", one.to_string()),
        several => format!("snapshots {}", enumerate(several.iter().map(I::to_string))),
    };
    let writers = distinct(writers);
    if writers.is_empty() {
        held
    } else {
        format!("{held} (from {})", enumerate(writers))
    }
}
