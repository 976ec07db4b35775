//! The hub agent's own lines about a run: what the controller says where no condition does.
//!
//! The hub agent runs on the hub itself in most fleets, and is not to be seen where someone else
//! runs it, as on Azure.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::hub::{ExpectedAnswer, Hub, HubError};
use crate::kubefleet::names::AGENT_NAMESPACE;
use crate::kubefleet::path::encode;
use crate::report::TypeMeta;

/// The beginning of the names of its pods and of its image.
const AGENT: &str = "hub-agent";
/// How many lines of a pod are read: the newest.
const TAIL: usize = 20_000;
/// How many lines about a run are kept: the newest.
const KEPT: usize = 2_000;

/// What one pod of the hub agent logged about a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControllerLog {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The run.
    run: String,
    /// The pod.
    pod: String,
    /// The container.
    container: String,
    /// Its lines that name the run, oldest first.
    lines: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(in crate::commands) struct AgentContainer {
    pub pod: String,
    pub container: String,
}

/// The hub agent's containers; none where it does not run on the hub.
pub(in crate::commands) fn agents(hub: &mut Hub) -> Result<Vec<AgentContainer>, HubError> {
    let wanted = ExpectedAnswer::list("", "Pod");
    let path = format!("/api/v1/namespaces/{AGENT_NAMESPACE}/pods?limit=500");
    let pods = hub.read_path(&path, &wanted)?;
    Ok(of_pods(&pods))
}

fn of_pods(pods: &Value) -> Vec<AgentContainer> {
    let pods = pods["items"].as_array().into_iter().flatten();
    let mut agents = Vec::new();
    for pod in pods {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
        for container in containers {
            let image = container["image"].as_str().unwrap_or_default();
            let image = image.rsplit('/').next().unwrap_or_default();
            let own = container["name"].as_str().unwrap_or_default();
            if image.starts_with(AGENT) || own.starts_with(AGENT) {
                agents.push(AgentContainer {
                    pod: name.to_owned(),
                    container: own.to_owned(),
                });
            }
        }
    }
    agents
}

/// What the hub agent said about a run, pod by pod. `Err` says why nothing can be read.
pub(in crate::commands) fn read(hub: &mut Hub, run: &str) -> Result<Vec<ControllerLog>, String> {
    let agents = agents(hub).map_err(|error| match error {
        HubError::Forbidden(words) => format!("forbidden: {words}"),
        other => other.to_string(),
    })?;
    if agents.is_empty() {
        return Err(format!(
            "the hub agent does not run on this hub (no {AGENT} pod in {AGENT_NAMESPACE})"
        ));
    }
    let mut logs = Vec::new();
    for agent in agents {
        let read = hub.read_text(&path(&agent, TAIL));
        let AgentContainer { pod, container } = agent;
        let text = read.map_err(|error| format!("the log of {pod} cannot be read: {error}"))?;
        let lines = about(&text, run);
        logs.push(ControllerLog {
            meta: TypeMeta::new("ControllerLog"),
            run: run.to_owned(),
            pod,
            container,
            lines,
        });
    }
    Ok(logs)
}

pub(in crate::commands) fn path(agent: &AgentContainer, lines: usize) -> String {
    format!(
        "/api/v1/namespaces/{AGENT_NAMESPACE}/pods/{}/log?container={}&tailLines={lines}",
        encode(&agent.pod),
        encode(&agent.container)
    )
}

/// The lines that name a run, and not one whose name only contains its name.
fn about(text: &str, run: &str) -> Vec<String> {
    let own = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let names = |line: &str| {
        line.match_indices(run).any(|(at, found)| {
            let before = line.get(..at).and_then(|text| text.chars().next_back());
            let after = line
                .get(at + found.len()..)
                .and_then(|text| text.chars().next());
            !before.is_some_and(own) && !after.is_some_and(own)
        })
    };
    let lines: Vec<_> = text.lines().filter(|line| names(line)).collect();
    let skipped = lines.len().saturating_sub(KEPT);
    lines.into_iter().skip(skipped).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{AgentContainer, about, of_pods};
    use serde_json::json;

    #[test]
    fn only_lines_about_the_run_are_kept() {
        let text = "I reconcile updateRun=\"web-1\"\nI reconcile updateRun=\"web-10\"\n\
                    I other-web-1 is done\nE team/web-1: failed\n";
        let kept = ["I reconcile updateRun=\"web-1\"", "E team/web-1: failed"];
        assert_eq!(about(text, "web-1"), kept);
    }

    #[test]
    fn the_hub_agent_is_known_by_its_image_or_its_name() {
        let pod = |name: &str, container: &str, image: &str| {
            json!({
                "metadata": {"name": name},
                "spec": {"containers": [{"name": container, "image": image}]},
            })
        };
        let pods = json!({"items": [
            pod("fleet-7d9", "manager", "mirror.example/kubefleet/hub-agent:v0.3.1"),
            pod("hub-agent-5c", "hub-agent", "mirror.example/agents@sha256:0"),
            pod("other-1", "manager", "mirror.example/other:v1"),
        ]});
        let agents = [("fleet-7d9", "manager"), ("hub-agent-5c", "hub-agent")];
        let agents = agents.map(|(pod, container)| AgentContainer {
            pod: pod.to_owned(),
            container: container.to_owned(),
        });
        assert_eq!(of_pods(&pods), agents);
    }
}
