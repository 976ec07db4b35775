//! MemberClusters.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::meta::{Condition, Conditions, ObjectMeta};
use super::names;
use super::reasons;
use super::tolerant::model;

model! {
    pub struct MemberCluster {
        pub meta: ObjectMeta = "metadata",
        pub spec: MemberSpec = "spec",
        pub status: MemberStatus = "status",
    }

    /// `spec` of a MemberCluster.
    pub struct MemberSpec {
        /// Seconds between two heartbeats; 60 where it is absent.
        pub heartbeat_seconds: Option<i64> = "heartbeatPeriodSeconds",
        /// Taints that keep placements away.
        pub taints: Vec<Taint> = "taints",
    }

    pub struct Taint {
        pub key: String = "key",
        pub value: String = "value",
        pub effect: String = "effect",
    }

    /// `status` of a MemberCluster.
    pub struct MemberStatus {
        /// ReadyToJoin, Joined. `Joined` stays True when the agent is gone.
        pub conditions: Vec<Condition> = "conditions",
        /// What each agent reported.
        pub agents: Vec<AgentStatus> = "agentStatus",
        /// What the property provider reported.
        pub properties: BTreeMap<String, MemberProperty> = "properties",
        /// What the agent reported of its resources.
        pub usage: ResourceUsage = "resourceUsage",
        /// The namespaces that the agent reported, when it does.
        pub namespaces: BTreeMap<String, String> = "namespaces",
    }

    /// `status.resourceUsage`: quantities by resource.
    pub struct ResourceUsage {
        pub total: BTreeMap<String, String> = "capacity",
        pub allocatable: BTreeMap<String, String> = "allocatable",
        pub available: BTreeMap<String, String> = "available",
    }

    pub struct AgentStatus {
        /// `MemberAgent`.
        pub kind: String = "type",
        /// Joined, Healthy.
        pub conditions: Vec<Condition> = "conditions",
        /// When it last reported.
        pub heartbeat: Option<Timestamp> = "lastReceivedHeartbeat",
    }

    pub struct MemberProperty {
        pub value: String = "value",
    }
}

/// The name of a capacity that the scheduler does not know.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidProperty;

impl MemberCluster {
    /// The agent that applies Works.
    pub fn agent(&self) -> Option<&AgentStatus> {
        let mut agents = self.status.agents.iter();
        agents.find(|agent| agent.kind == "MemberAgent")
    }

    /// When the agent reported last; `None` where it never did.
    pub fn heard(&self) -> Option<Timestamp> {
        self.agent()?.heartbeat
    }

    /// What the agent says, when it says that its cluster is not healthy.
    pub fn unhealthy(&self) -> Option<&Condition> {
        let conditions = &self.agent()?.conditions;
        let healthy = conditions.iter().find(|it| it.kind == reasons::HEALTHY)?;
        healthy.is_false().then_some(healthy)
    }

    /// How long the agent has been silent, when that is longer than three heartbeats and at least
    /// a minute: it has stopped reporting. Where there was never a heartbeat, since the hub agent waits for one.
    pub fn silent_for(&self, now: Timestamp) -> Option<SignedDuration> {
        let joined = self.status.conditions.condition(reasons::JOINED);
        let awaited = joined.filter(|joined| joined.is_unknown());
        let silent = now.duration_since(self.heard().or_else(|| awaited?.since)?);
        (silent > self.silence_limit()).then_some(silent)
    }

    /// Whether a heartbeat is missing, though perhaps not for so long that the agent counts as silent.
    pub fn is_late(&self, now: Timestamp) -> bool {
        self.heard()
            .is_some_and(|heard| now.duration_since(heard) / 2 > self.silence_limit() / 3)
    }

    /// After how long without a heartbeat an agent has stopped reporting.
    pub fn silence_limit(&self) -> SignedDuration {
        let period = self
            .spec
            .heartbeat_seconds
            .filter(|seconds| *seconds > 0)
            .unwrap_or(60);
        SignedDuration::from_secs(period.saturating_mul(3).max(60))
    }

    /// Whether the cluster is leaving, or has left, the fleet.
    pub fn is_leaving(&self) -> bool {
        self.meta.is_deleting() || self.status.conditions.is_false("Joined")
    }

    /// A property as policies name it: one that the provider reported, or a capacity. `None` where
    /// the cluster does not report it; fails for a name that the scheduler refuses.
    /// Source: scheduler/framework/plugins/clusteraffinity/types.go:retrievePropertyValueFrom.
    pub fn property(&self, name: &str) -> Result<Option<&str>, InvalidProperty> {
        let Some(capacity) = name.strip_prefix(names::RESOURCE_PROPERTY) else {
            let property = self.status.properties.get(name);
            return Ok(property.map(|property| property.value.as_str()));
        };
        let usage = &self.status.usage;
        let (of, resource) = match capacity.split_once('-') {
            Some((of, resource)) if !resource.is_empty() && !resource.contains('-') => {
                (of, resource)
            }
            _ => return Err(InvalidProperty),
        };
        let of = match of {
            "total" => &usage.total,
            "allocatable" => &usage.allocatable,
            "available" => &usage.available,
            _ => return Err(InvalidProperty),
        };
        Ok(of.get(resource).map(String::as_str))
    }

    /// How many nodes the property provider counted.
    pub fn nodes(&self) -> Option<&str> {
        self.status
            .properties
            .get(names::NODE_COUNT)
            .map(|property| property.value.as_str())
    }
}
