//! The scheduler's reasons for picking a cluster or not.

use super::pattern::{capture, contains, normalise, number};

/// A reason in `status.targetClusters[]` of a policy snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ScheduleProblem {
    /// The cluster was picked; PickN adds the scores (framework.go:resourceScheduleSucceeded*).
    Picked,
    /// PickFixed names a cluster that does not exist (framework.go:pickFixedNotFoundCluster*).
    ClusterNotFound,
    /// PickN preferred other clusters (framework.go:notPickedByScore*).
    ScoreTooLow,
    /// A filter plugin refused the cluster (framework/status.go:String), or PickFixed names one that
    /// may not be used now (framework.go:pickFixedInvalidCluster*).
    Unschedulable {
        /// What the plugin gave, one entry per reason.
        reasons: Vec<FilterReason>,
    },
    /// No known wording.
    Other {
        /// The text, white space folded.
        text: String,
    },
}

/// Why a cluster cannot take the placement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FilterReason {
    /// The cluster is leaving the fleet (clustereligibilitychecker/checker.go:IsEligible).
    LeftFleet,
    /// The member agent never reported (checker.go:IsEligible).
    AgentNotOnline,
    /// The heartbeat is too old (checker.go:IsEligible).
    NoHeartbeat {
        /// Whole minutes since the last heartbeat.
        minutes: Option<u64>,
    },
    /// The member agent has not joined (checker.go:IsEligible).
    AgentNotJoined,
    /// The member agent has not reported its health (checker.go:IsEligible).
    HealthUnknown,
    /// The member agent has been unhealthy for too long (checker.go:IsEligible).
    Unhealthy {
        /// Whole minutes since it became unhealthy.
        minutes: Option<u64>,
    },
    /// No required affinity term matches (plugins/clusteraffinity/filtering.go:Filter).
    AffinityMismatch,
    /// A taint is not tolerated (plugins/tainttoleration/filtering.go:Filter).
    Taint {
        /// Key of the taint.
        key: String,
        /// Value of the taint, often empty.
        value: String,
        /// Effect of the taint.
        effect: String,
    },
    /// A hard topology spread constraint would be violated (plugins/topologyspreadconstraints).
    TopologySpread {
        /// Topology key of the constraint.
        key: String,
    },
    /// The cluster does not report its namespaces (plugins/namespaceaffinity/filtering.go:Filter).
    NamespacesUnknown,
    /// The placement's namespace is missing there (plugins/namespaceaffinity/filtering.go:Filter).
    NamespaceMissing,
    /// The placement is already there (plugins/sameplacementaffinity/filtering.go:Filter).
    AlreadyPlaced,
    /// No known wording.
    Other { text: String },
}

type BuildRefusal = fn(&super::pattern::PatternCaptures<'_>) -> ScheduleProblem;

#[rustfmt::skip]
const DECISIONS: &[(&str, BuildRefusal)] = &[
    ("Successfully scheduled resources for placement in \"{}\"", |_| ScheduleProblem::Picked),
    ("Cluster \"{}\" is not eligible for resource placement yet: {}", |c| ScheduleProblem::Unschedulable { reasons: vec![filter_reason(c.get(1))] }),
    ("Specified cluster \"{}\" is not found", |_| ScheduleProblem::ClusterNotFound),
    ("Cluster \"{}\" does not score high enough (affinity score: {}, topology spread score: {})", |_| ScheduleProblem::ScoreTooLow),
];

/// Reads the reason of one scheduling decision.
///
/// Source: scheduler/framework/framework.go, frameworkutils.go and the filter plugins.
pub fn parse_decision(text: &str) -> ScheduleProblem {
    let text = normalise(text);
    if let Some(decision) = DECISIONS
        .iter()
        .find_map(|(template, build)| capture(template, &text).map(|found| build(&found)))
    {
        return decision;
    }
    let plugin = capture("ClusterUnschedulable, {}", &text)
        .or_else(|| capture("ClusterAlreadySelected, {}", &text));
    let listed = plugin.as_ref().map_or(text.as_str(), |found| found.get(0));
    let reasons: Vec<FilterReason> = listed.split(", ").map(filter_reason).collect();
    let unknown = reasons
        .iter()
        .all(|reason| matches!(reason, FilterReason::Other { .. }));
    if plugin.is_none() && unknown {
        return ScheduleProblem::Other { text };
    }
    ScheduleProblem::Unschedulable { reasons }
}

fn filter_reason(text: &str) -> FilterReason {
    #[rustfmt::skip]
    const PLAIN: [(&str, FilterReason); 8] = [
        ("cluster has left the fleet", FilterReason::LeftFleet),
        ("member agent not online yet", FilterReason::AgentNotOnline),
        ("member agent not joined yet", FilterReason::AgentNotJoined),
        ("health condition from member agent is not available", FilterReason::HealthUnknown),
        ("does not match with any of the required cluster affinity terms", FilterReason::AffinityMismatch),
        ("cluster has no namespace information available", FilterReason::NamespacesUnknown),
        ("target namespace does not exist on cluster", FilterReason::NamespaceMissing),
        ("already been scheduled or bounded on the cluster", FilterReason::AlreadyPlaced),
    ];
    if let Some((_, reason)) = PLAIN.iter().find(|(needle, _)| contains(text, needle)) {
        return reason.clone();
    }
    if let Some(found) = capture("{}no recent heartbeat signals{}", text) {
        return FilterReason::NoHeartbeat {
            minutes: minutes(found.get(1)),
        };
    }
    if let Some(found) = capture("{}unhealthy for a prolonged period of time{}", text) {
        return FilterReason::Unhealthy {
            minutes: minutes(found.get(1)),
        };
    }
    if let Some(found) = capture("taint {} cannot be tolerated", text) {
        let taint = found
            .get(0)
            .trim_start_matches(['&', '{'])
            .trim_end_matches('}');
        let field = |name: &str| {
            taint
                .split(' ')
                .find_map(|part| part.strip_prefix(name))
                .unwrap_or_default()
                .to_owned()
        };
        return FilterReason::Taint {
            key: field("Key:"),
            value: field("Value:"),
            effect: field("Effect:"),
        };
    }
    if let Some(found) = capture(
        "violated doNotSchedule topology spread constraint \"{}\" (max skew {})",
        text,
    ) {
        return FilterReason::TopologySpread { key: found.text(0) };
    }
    FilterReason::Other {
        text: text.trim().to_owned(),
    }
}

fn minutes(text: &str) -> Option<u64> {
    let at = text.find(|c: char| c.is_ascii_digit())?;
    number(text.get(at..)?)
}
