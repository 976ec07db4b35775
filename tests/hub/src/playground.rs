//! A small fleet with rollouts in the states that people ask about, for trying things out.

use std::path::Path;
use std::time::Duration;

use kube::Client;

use crate::fleet::{
    Done, Fleet, Placement, Run, Stage, annotated, config_map, deployment, member, namespace,
    strategy,
};
use crate::standin::{Scope, StandIn, TROUBLE, Timing, Trouble};
use crate::{Error, context};

/// A step of the preparation takes no longer, not even on a busy machine.
const LIMIT: Duration = crate::waiting::HANGS;
/// The label that says for what a cluster is used.
const ENVIRONMENT: &str = "environment";

/// The rollouts: the run, as the plugin's arguments name it, and the state that it is in.
pub const SIGHTS: [(&str, &str); 8] = [
    ("checkout-1", "succeeded"),
    ("checkout-2", "waits for an approval before stage canary"),
    ("shop-1", "succeeded; its content has changed since"),
    (
        "search-1",
        "was approved in a way that the controller ignores",
    ),
    ("telemetry-1", "is stuck on cluster edge-1"),
    ("gateway-1", "was stopped after stage staging"),
    ("orders-1", "could not be initialized"),
    (
        "web-1 -n team-a",
        "waits for half an hour after stage staging",
    ),
];

/// The names of the plugin in a `PATH`: kubectl finds it, and what completes it, by two each.
pub const NAMES: [&str; 4] = [
    "kubectl-fleet-stage",
    "kubectl-fleet_stage",
    "kubectl_complete-fleet-stage",
    "kubectl_complete-fleet_stage",
];

/// Commands to try there, and what they show.
pub const TO_TRY: [(&str, &str); 13] = [
    ("kubectl fleet-stage list -A", "all of them"),
    (
        "kubectl fleet-stage status checkout-2",
        "stages, clusters, gates",
    ),
    (
        "kubectl fleet-stage diagnose search-1",
        "why it is blocked, and what to do",
    ),
    (
        "kubectl fleet-stage diagnose telemetry-1",
        "which cluster, which workload",
    ),
    ("kubectl fleet-stage diagnose --all -A", "every run"),
    (
        "kubectl fleet-stage approvals -A",
        "the gates, and how to open them",
    ),
    (
        "kubectl fleet-stage history crp/checkout",
        "what was rolled out when",
    ),
    (
        "kubectl fleet-stage snapshots diff checkout 0 1",
        "what is different in it",
    ),
    ("kubectl fleet-stage approve checkout-2", "open the gate"),
    (
        "kubectl fleet-stage stop checkout-2",
        "and, while it is under way, stop it",
    ),
    ("kubectl fleet-stage resume checkout-2", "and go on"),
    (
        "kubectl annotate membercluster edge-1 test-hub/trouble-",
        "end the trouble of a cluster",
    ),
    (
        "kubectl annotate membercluster prod-1 --overwrite test-hub/trouble='slow: 30s'",
        "or cause some: gone, not-available, apply-fails: no more disk",
    ),
];

/// Puts all that the lines to try need into an empty folder: kubectl as it was built, and the plugin
/// under its names.
pub fn equip(folder: &Path, plugin: &Path) -> Result<(), Error> {
    let kubectl = crate::kubectl()?;
    let kubectl = std::path::absolute(&kubectl).unwrap_or(kubectl);
    let links = NAMES.map(|name| (plugin, name));
    for (to, name) in links.into_iter().chain([(kubectl.as_path(), "kubectl")]) {
        let at = folder.join(name);
        let failed = context(format!("making {}", at.display()));
        #[cfg(unix)]
        let made = std::os::unix::fs::symlink(to, &at);
        #[cfg(not(unix))]
        let made = std::fs::copy(to, &at).map(drop);
        made.map_err(failed)?;
    }
    Ok(())
}

/// Fills an empty hub with so many member clusters (at least 4) and every sight, and leaves a
/// stand-in at work there, at the pace of a person or another.
pub async fn fill(client: Client, members: usize, watched: Timing) -> Done<StandIn> {
    let fleet = Fleet::new(client.clone());
    // Getting there need not take as long as watching. What is stuck on the way stays stuck.
    let quick = Timing {
        stuck_after: watched.stuck_after,
        ..Timing::fast()
    };
    let standin = StandIn::start(client.clone(), quick);
    let environments = environments(members.max(4));
    for (number, environment) in &environments {
        let name = format!("{environment}-{number}");
        let order = number.to_string();
        let cluster = member(&name, &[(ENVIRONMENT, environment), ("order", &order)]);
        let cluster = if *environment == "edge" {
            annotated(cluster, TROUBLE, &Trouble::NotAvailable.to_string())
        } else {
            cluster
        };
        fleet.create(&cluster).await?;
    }
    for (number, environment) in &environments {
        fleet
            .wait_for_member(&format!("{environment}-{number}"), LIMIT)
            .await?;
    }
    tokio::try_join!(
        checkout(&fleet),
        shop(&fleet),
        search(&fleet),
        telemetry(&fleet),
        gateway(&fleet),
        orders(&fleet),
        web(&fleet),
    )?;
    standin.stop().await;
    Ok(StandIn::start(client, watched))
}

/// The last one is on the edge; a fifth of the others is for staging, a quarter canaries.
fn environments(members: usize) -> Vec<(usize, &'static str)> {
    let others = members - 1;
    let staging = (others / 5).max(1);
    let canary = (others / 4).max(1);
    let production = others - staging - canary;
    let mut all = Vec::new();
    for (environment, count) in [
        ("staging", staging),
        ("canary", canary),
        ("prod", production),
        ("edge", 1),
    ] {
        all.extend((1..=count).map(|number| (number, environment)));
    }
    all
}

/// A namespace with an application, placed on every cluster that is not on the edge.
async fn application(fleet: &Fleet, scope: &Scope, name: &str, space: &str) -> Done<()> {
    let everywhere = serde_json::json!({
        "placementType": "PickAll",
        "affinity": {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "clusterSelectorTerms": [{"labelSelector": {"matchExpressions": [
                {"key": ENVIRONMENT, "operator": "NotIn", "values": ["edge"]},
            ]}}],
        }}},
    });
    place(fleet, space, Placement::new(scope, name).policy(everywhere)).await
}

async fn place(fleet: &Fleet, space: &str, placement: Placement) -> Done<()> {
    fleet.create(&namespace(space)).await?;
    let settings = [("greeting", "hello"), ("version", "1.4.0")];
    fleet
        .create(&config_map(space, "settings", &settings))
        .await?;
    let image = format!("registry.example.com/{space}:1.4.0");
    fleet.create(&deployment(space, "app", &image)).await?;
    fleet.create(&placement.build()).await?;
    Ok(())
}

fn stages() -> [Stage; 3] {
    ["staging", "canary", "prod"].map(|name| Stage::new(name).sorted_by("order").at_once("50%"))
}

/// Starts a run of the placement and strategy of this name.
async fn start(fleet: &Fleet, scope: &Scope, name: &str, number: u32) -> Done<String> {
    start_with(fleet, scope, name, name, number).await
}

async fn start_with(
    fleet: &Fleet,
    scope: &Scope,
    name: &str,
    strategy: &str,
    number: u32,
) -> Done<String> {
    // A run that comes before its placement is scheduled fails for good.
    fleet.wait_for_scheduling(scope, name, LIMIT).await?;
    if number == 1 {
        // Moments are whole seconds: a run of the second in which its placement was created may
        // belong to an earlier placement of that name.
        crate::waiting::pass_async(std::time::Duration::from_secs(1)).await;
    }
    let run = format!("{name}-{number}");
    fleet
        .create(&Run::new(scope, &run, name, strategy).build())
        .await?;
    Ok(run)
}

async fn progress(fleet: &Fleet, scope: &Scope, run: &str, status: &str, reason: &str) -> Done<()> {
    let goal = ("Progressing", status, reason);
    fleet.wait_for_run(scope, run, goal, LIMIT).await?;
    Ok(())
}

/// Two releases: one that went through, and one that waits for its first approval.
async fn checkout(fleet: &Fleet) -> Done<()> {
    let (scope, name) = (&Scope::Cluster, "checkout");
    application(fleet, scope, name, name).await?;
    let [staging, canary, production] = stages();
    let gated = vec![staging.wait("2s"), canary.approve_before(), production];
    fleet.create(&strategy(scope, name, gated)).await?;
    let run = start(fleet, scope, name, 1).await?;
    let request = format!("{run}-before-canary");
    gate(fleet, scope, &request).await?;
    fleet.approve(scope, &request).await?;
    progress(fleet, scope, &run, "False", "UpdateRunSucceeded").await?;
    let settings = [("greeting", "good morning"), ("version", "1.5.0")];
    fleet.set_data(name, "settings", &settings).await?;
    let run = start(fleet, scope, name, 2).await?;
    gate(fleet, scope, &format!("{run}-before-canary")).await
}

/// A release that went through, and a change that no run has taken up.
async fn shop(fleet: &Fleet) -> Done<()> {
    let (scope, name) = (&Scope::Cluster, "shop");
    application(fleet, scope, name, name).await?;
    let [staging, canary, production] = stages();
    let gated = vec![staging, canary, production.approve_before()];
    fleet.create(&strategy(scope, "rings", gated)).await?;
    let run = start_with(fleet, scope, name, "rings", 1).await?;
    let request = format!("{run}-before-prod");
    gate(fleet, scope, &request).await?;
    fleet.approve(scope, &request).await?;
    progress(fleet, scope, &run, "False", "UpdateRunSucceeded").await?;
    let settings = [("greeting", "welcome"), ("version", "2.0.0")];
    fleet.set_data(name, "settings", &settings).await
}

async fn gate(fleet: &Fleet, scope: &Scope, request: &str) -> Done<()> {
    fleet
        .wait(scope.kinds().approval, scope, request, LIMIT, |_| true)
        .await?;
    Ok(())
}

/// Somebody approved, but for no generation.
async fn search(fleet: &Fleet) -> Done<()> {
    let (scope, name) = (&Scope::Cluster, "search");
    application(fleet, scope, name, name).await?;
    let [staging, canary, production] = stages();
    let gated = vec![
        staging,
        canary.approve_before(),
        production.approve_before(),
    ];
    fleet.create(&strategy(scope, name, gated)).await?;
    let run = start(fleet, scope, name, 1).await?;
    let request = format!("{run}-before-canary");
    gate(fleet, scope, &request).await?;
    fleet.approve_for_generation(scope, &request, 0).await?;
    Ok(())
}

/// The cluster at the edge does not get its workload running.
async fn telemetry(fleet: &Fleet) -> Done<()> {
    let (scope, name) = (&Scope::Cluster, "telemetry");
    place(
        fleet,
        name,
        Placement::new(scope, name).on(ENVIRONMENT, "edge"),
    )
    .await?;
    fleet
        .create(&strategy(scope, name, vec![Stage::new("edge")]))
        .await?;
    let run = start(fleet, scope, name, 1).await?;
    progress(fleet, scope, &run, "False", "UpdateRunStuck").await
}

/// Somebody stopped after the first stage.
async fn gateway(fleet: &Fleet) -> Done<()> {
    let (scope, name) = (&Scope::Cluster, "gateway");
    application(fleet, scope, name, name).await?;
    let [staging, canary, production] = stages();
    let waiting = vec![staging.wait("10m"), canary, production];
    fleet.create(&strategy(scope, name, waiting)).await?;
    let run = start(fleet, scope, name, 1).await?;
    progress(fleet, scope, &run, "False", "UpdateRunWaiting").await?;
    fleet.set_state(scope, &run, "Stop").await?;
    progress(fleet, scope, &run, "False", "UpdateRunStopped").await
}

/// The strategy forgot the production clusters.
async fn orders(fleet: &Fleet) -> Done<()> {
    let (scope, name) = (&Scope::Cluster, "orders");
    application(fleet, scope, name, name).await?;
    let [staging, canary, _] = stages();
    fleet
        .create(&strategy(scope, name, vec![staging, canary]))
        .await?;
    let run = start(fleet, scope, name, 1).await?;
    let refused = ("Initialized", "False", "UpdateRunInitializedFailed");
    fleet.wait_for_run(scope, &run, refused, LIMIT).await?;
    Ok(())
}

/// A team rolls out in its own namespace.
async fn web(fleet: &Fleet) -> Done<()> {
    let (space, name) = ("team-a", "web");
    let scope = &Scope::Namespace(space.to_owned());
    application(fleet, scope, name, space).await?;
    let [staging, canary, production] = stages();
    let waiting = vec![staging.wait("30m"), canary.approve_before(), production];
    fleet.create(&strategy(scope, name, waiting)).await?;
    let run = start(fleet, scope, name, 1).await?;
    progress(fleet, scope, &run, "False", "UpdateRunWaiting").await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_environment_has_a_cluster() {
        for members in [4, 8, 50] {
            let all = environments(members);
            assert_eq!(all.len(), members);
            for environment in ["staging", "canary", "prod", "edge"] {
                assert!(all.contains(&(1, environment)), "{members}: {environment}");
            }
        }
    }
}
