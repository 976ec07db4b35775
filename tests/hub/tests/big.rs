//! A large fleet, written straight to a hub.

#![allow(clippy::unwrap_used)] // a test

use serde_json::Value;
use test_hub::fleet::Fleet;
use test_hub::standin::{Kind, Scope};
use test_hub::{Crds, Options, TestHub, or_skip};

/// How many clusters, when it is not set here.
const CLUSTERS: &str = "FLEET_STAGE_TEST_CLUSTERS";

#[tokio::test]
async fn a_large_fleet_is_written_with_its_statuses() {
    let clusters = std::env::var(CLUSTERS)
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(60);
    let Some(hub) = or_skip(TestHub::start(&Options::default()).await) else {
        return;
    };
    hub.install(&Crds::from_environment()).await.unwrap();
    let fleet = Fleet::new(hub.client().await.unwrap());
    let big = fleet.big(clusters, 4).await.unwrap();
    assert_eq!(big.stuck.len(), 4);
    let run = fleet
        .get(Kind::ClusterStagedUpdateRun, &Scope::Cluster, &big.run)
        .await
        .unwrap();
    // What was written is about the objects as the API server has them.
    assert_eq!(run["metadata"]["generation"], 1);
    let stuck = &run["status"]["conditions"][1];
    assert_eq!(stuck["reason"], "UpdateRunStuck");
    let listed: usize = run["status"]["stagesStatus"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|stage| stage["clusters"].as_array().map_or(0, Vec::len))
        .sum();
    assert_eq!(listed, clusters);
    let kind = Kind::ClusterResourcePlacement;
    let placement = fleet
        .get(kind, &Scope::Cluster, &big.placement)
        .await
        .unwrap();
    let statuses = &placement["status"]["placementStatuses"];
    assert_eq!(statuses.as_array().map(Vec::len), Some(clusters));
    let work = work(&fleet, &big.stuck[0]).await;
    assert_eq!(work["metadata"]["generation"], 1);
    assert_eq!(work["status"]["conditions"][1]["status"], "False");
    let silent = self::work(&fleet, &big.stuck[3]).await;
    assert!(silent.get("status").is_none(), "{:#}", silent["status"]);
}

async fn work(fleet: &Fleet, cluster: &str) -> Value {
    let scope = Scope::Namespace(format!("fleet-member-{cluster}"));
    fleet
        .get(Kind::Work, &scope, "checkout-work")
        .await
        .unwrap()
}
