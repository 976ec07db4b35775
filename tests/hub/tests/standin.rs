//! The stand-in on a real API server: the life of a run, in both scopes, each part in seconds.

#![allow(clippy::unwrap_used)] // a test

use std::time::Duration;

use serde_json::{Value, json};
use test_hub::fleet::{
    Done, Fleet, Placement, Run, Stage, config_map, deployment, member, namespace, strategy,
};
use test_hub::standin::{Kind, Scope, SnapshotDelay, StandIn, Timing, Trouble};
use test_hub::{Crds, Options, TestHub, or_skip, waiting};

/// Nothing here takes longer.
const LIMIT: Duration = waiting::HANGS;
/// What should not happen has this long to happen.
const MOMENT: Duration = Duration::from_millis(1500);

const INITIALIZED: (&str, &str, &str) = ("Initialized", "True", "UpdateRunInitializedSuccessfully");
const WAITING: (&str, &str, &str) = ("Progressing", "False", "UpdateRunWaiting");
const STUCK: (&str, &str, &str) = ("Progressing", "False", "UpdateRunStuck");
const STOPPED: (&str, &str, &str) = ("Progressing", "False", "UpdateRunStopped");
const SUCCEEDED: (&str, &str, &str) = ("Succeeded", "True", "UpdateRunSucceeded");
const FAILED: (&str, &str, &str) = ("Succeeded", "False", "UpdateRunFailed");

/// A corner of the fleet for one scenario: member clusters, a placement and its content.
struct Corner {
    fleet: Fleet,
    scope: Scope,
    name: String,
}

impl Corner {
    /// One cluster for staging, two for production in an order that is not that of their names.
    async fn new(fleet: &Fleet, scope: Scope, name: &str) -> Done<Self> {
        let corner = Self {
            fleet: fleet.clone(),
            scope,
            name: name.to_owned(),
        };
        let clusters = [
            ("dev", "staging", "1"),
            ("one", "prod", "3"),
            ("two", "prod", "2"),
        ];
        for (cluster, environment, order) in clusters {
            let labels = [
                ("corner", name),
                ("environment", environment),
                ("order", order),
            ];
            fleet
                .create(&member(&corner.cluster(cluster), &labels))
                .await?;
        }
        fleet.create(&namespace(name)).await?;
        fleet
            .create(&config_map(name, "settings", &[("version", "1")]))
            .await?;
        fleet
            .create(&deployment(name, "web", "registry.invalid/web:1"))
            .await?;
        let placement = Placement::new(&corner.scope, name).on("corner", name);
        fleet.create(&placement.build()).await?;
        corner.scheduled(3).await?;
        Ok(corner)
    }

    fn cluster(&self, short: &str) -> String {
        format!("{}-{short}", self.name)
    }

    fn kind(&self, cluster: Kind, namespaced: Kind) -> Kind {
        match self.scope {
            Scope::Cluster => cluster,
            Scope::Namespace(_) => namespaced,
        }
    }

    async fn scheduled(&self, clusters: usize) -> Done<()> {
        let kind = self.kind(Kind::ClusterResourcePlacement, Kind::ResourcePlacement);
        let wish = |placement: &Value| {
            placement["status"]["conditions"][0]["status"] == "True"
                && placement["status"]["placementStatuses"]
                    .as_array()
                    .map(Vec::len)
                    == Some(clusters)
        };
        self.fleet
            .wait(kind, &self.scope, &self.name, LIMIT, wish)
            .await?;
        Ok(())
    }

    async fn strategy(&self, stages: Vec<Stage>) -> Done<()> {
        let object = strategy(&self.scope, &self.name, stages);
        self.fleet.create(&object).await?;
        Ok(())
    }

    fn run(&self, run: &str) -> Run {
        Run::new(&self.scope, run, &self.name, &self.name)
    }

    async fn create(&self, run: Run) -> Done<()> {
        self.fleet.create(&run.build()).await?;
        Ok(())
    }

    async fn reaches(&self, run: &str, goal: (&str, &str, &str)) -> Done<Value> {
        self.fleet.wait_for_run(&self.scope, run, goal, LIMIT).await
    }

    async fn request(&self, name: &str) -> Done<Value> {
        let kind = self.kind(Kind::ClusterApprovalRequest, Kind::ApprovalRequest);
        self.fleet
            .wait(kind, &self.scope, name, LIMIT, |_| true)
            .await
    }

    async fn has_snapshot(&self, name: &str) -> Done<()> {
        let kind = Kind::ClusterResourceSnapshot;
        self.fleet
            .wait(kind, &self.scope, name, LIMIT, |_| true)
            .await?;
        Ok(())
    }

    async fn set_state(&self, run: &str, state: &str) -> Done<()> {
        self.fleet.set_state(&self.scope, run, state).await?;
        Ok(())
    }
}

fn two_stages() -> Vec<Stage> {
    vec![Stage::new("staging"), Stage::new("prod").sorted_by("order")]
}

fn message(object: &Value, kind: &str) -> String {
    object["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == kind)
        .and_then(|condition| condition["message"].as_str())
        .unwrap_or_default()
        .to_owned()
}

fn condition_times<'v>(object: &'v Value, stage: usize, cluster: usize, kind: &str) -> &'v str {
    object["status"]["stagesStatus"][stage]["clusters"][cluster]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == kind)
        .and_then(|condition| condition["lastTransitionTime"].as_str())
        .unwrap_or_default()
}

/// From initialization to success, through a gate that is opened wrongly first.
async fn life(fleet: Fleet, scope: Scope, name: &'static str) -> Done<()> {
    let corner = Corner::new(&fleet, scope, name).await?;
    corner
        .strategy(vec![
            Stage::new("staging").wait("1s"),
            Stage::new("prod")
                .sorted_by("order")
                .approve_before()
                .approve_after(),
        ])
        .await?;
    let run = format!("{name}-run");
    corner.create(corner.run(&run).state("Initialize")).await?;
    let object = corner.reaches(&run, INITIALIZED).await?;
    let status = &object["status"];
    assert_eq!(status["policySnapshotIndexUsed"], "0");
    assert_eq!(status["resourceSnapshotIndexUsed"], "0");
    assert_eq!(status["policyObservedClusterCount"], 3);
    assert_eq!(status["appliedStrategy"]["type"], "ClientSideApply");
    assert_eq!(
        status["deletionStageStatus"],
        json!({"stageName": "kubernetes-fleet.io/deleteStage", "clusters": []})
    );
    let prod = &status["stagesStatus"][1];
    assert_eq!(prod["clusters"][0]["clusterName"], corner.cluster("two"));
    assert_eq!(prod["clusters"][1]["clusterName"], corner.cluster("one"));
    let request = format!("{run}-before-prod");
    assert_eq!(
        prod["beforeStageTaskStatus"][0]["approvalRequestName"],
        request.as_str()
    );
    // The spec is written with every field, which makes it the second generation.
    assert_eq!(object["metadata"]["generation"], 2);

    corner.set_state(&run, "Run").await?;
    let before = "The updateRun is waiting for before-stage tasks in stage prod to complete";
    let at_gate = |run: &Value| message(run, "Progressing") == before;
    let runs = corner.kind(Kind::ClusterStagedUpdateRun, Kind::StagedUpdateRun);
    let waiting = fleet
        .wait(runs, &corner.scope, &run, LIMIT, at_gate)
        .await?;
    assert_eq!(waiting["metadata"]["generation"], 3);
    let asked = corner.request(&request).await?;
    let labels = &asked["metadata"]["labels"];
    assert_eq!(labels["kubernetes-fleet.io/targetUpdateRun"], run.as_str());
    assert_eq!(labels["kubernetes-fleet.io/targetUpdatingStage"], "prod");
    assert_eq!(labels["kubernetes-fleet.io/taskType"], "beforeStage");
    assert_eq!(
        labels["kubernetes-fleet.io/isLatestUpdateRunApproval"],
        "true"
    );
    assert_eq!(
        asked["spec"],
        json!({"parentStageRollout": run, "targetStage": "prod"})
    );
    let wait = &waiting["status"]["stagesStatus"][0]["afterStageTaskStatus"][0];
    assert_eq!(
        wait["conditions"][0]["reason"],
        "AfterStageTaskWaitTimeElapsed"
    );

    // An approval for another generation changes nothing, and nobody is told.
    fleet
        .approve_for_generation(&corner.scope, &request, 7)
        .await?;
    waiting::pass_async(MOMENT).await;
    let ignored = corner.request(&request).await?;
    assert_eq!(
        ignored["status"]["conditions"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(fleet_run(&corner, &run).await?["status"], waiting["status"]);

    fleet.approve(&corner.scope, &request).await?;
    let after = format!("{run}-after-prod");
    corner.request(&after).await?;
    let accepted = corner.request(&request).await?;
    assert_eq!(
        message(&accepted, "ApprovalAccepted"),
        "The approval request has been approved and cannot be reverted"
    );
    fleet.approve(&corner.scope, &after).await?;
    let done = corner.reaches(&run, SUCCEEDED).await?;
    assert_eq!(message(&done, "Progressing"), "All stages are completed");
    // One after the other, in the order of the label.
    assert!(
        condition_times(&done, 1, 0, "Succeeded") <= condition_times(&done, 1, 1, "Started"),
        "{:#}",
        done["status"]["stagesStatus"][1]
    );
    delivered(&corner, &run).await
}

async fn fleet_run(corner: &Corner, run: &str) -> Done<Value> {
    let kind = corner.kind(Kind::ClusterStagedUpdateRun, Kind::StagedUpdateRun);
    corner.fleet.get(kind, &corner.scope, run).await
}

/// What the placement, a Work and the member cluster say afterwards.
async fn delivered(corner: &Corner, run: &str) -> Done<()> {
    let prefix = match corner.scope {
        Scope::Cluster => "ClusterResourcePlacement",
        Scope::Namespace(_) => "ResourcePlacement",
    };
    let kind = corner.kind(Kind::ClusterResourcePlacement, Kind::ResourcePlacement);
    let available = format!("{prefix}Available");
    let placement = corner
        .fleet
        .wait(kind, &corner.scope, &corner.name, LIMIT, |placement| {
            !message(placement, &available).is_empty()
        })
        .await?;
    assert_eq!(placement["status"]["observedResourceIndex"], "0");
    let first = &placement["status"]["placementStatuses"][0]["conditions"][1];
    assert_eq!(
        first["message"],
        format!(
            "Detected the new changes on the resources and started the rollout process, \
             resourceSnapshotIndex: , updateRun: {run}"
        )
    );
    let work = match &corner.scope {
        Scope::Cluster => format!("{}-work", corner.name),
        Scope::Namespace(namespace) => format!("{namespace}.{}-work", corner.name),
    };
    let space = Scope::Namespace(format!("fleet-member-{}", corner.cluster("one")));
    let work = corner.fleet.get(Kind::Work, &space, &work).await?;
    assert_eq!(
        message(&work, "Available"),
        "All of the applied manifests are available"
    );
    let member = corner.cluster("one");
    let member = corner
        .fleet
        .get(Kind::MemberCluster, &Scope::Cluster, &member)
        .await?;
    assert!(member["status"]["agentStatus"][0]["lastReceivedHeartbeat"].is_string());
    Ok(())
}

/// A run stops when what is under way is done, and goes on where it stood.
async fn stop(fleet: Fleet, standin: &StandIn) -> Done<()> {
    let corner = Corner::new(&fleet, Scope::Cluster, "stop").await?;
    corner.strategy(two_stages()).await?;
    standin.trouble(&corner.cluster("dev"), Trouble::NotAvailable);
    corner.create(corner.run("stop-run")).await?;
    corner
        .reaches("stop-run", ("Progressing", "True", "UpdateRunProgressing"))
        .await?;
    corner.set_state("stop-run", "Stop").await?;
    // The run itself says so, too, until it has been stuck for too long.
    let kind = Kind::ClusterStagedUpdateRun;
    let stopping = |run: &Value| {
        let stage = &run["status"]["stagesStatus"][0]["conditions"][0];
        stage["reason"] == "StageUpdatingStopping"
    };
    fleet
        .wait(kind, &corner.scope, "stop-run", LIMIT, stopping)
        .await?;
    standin.recover(&corner.cluster("dev"));
    let stopped = corner.reaches("stop-run", STOPPED).await?;
    let stages = &stopped["status"]["stagesStatus"];
    assert_eq!(stages[0]["conditions"][0]["reason"], "StageUpdatingStopped");
    assert_eq!(
        stages[0]["clusters"][0]["conditions"][1]["type"],
        "Succeeded"
    );
    assert!(stages[1].get("conditions").is_none());
    corner.set_state("stop-run", "Run").await?;
    corner.reaches("stop-run", SUCCEEDED).await?;
    // The API server refuses what cannot be.
    let back = fleet
        .set_state(&Scope::Cluster, "stop-run", "Initialize")
        .await;
    assert!(
        back.unwrap_err()
            .to_string()
            .contains("cannot transition from Run to Initialize")
    );
    Ok(())
}

/// A cluster that does not finish makes its run stuck, also one that is to stop.
async fn stuck(fleet: Fleet, standin: &StandIn) -> Done<()> {
    let corner = Corner::new(&fleet, Scope::Cluster, "stuck").await?;
    corner.strategy(two_stages()).await?;
    let cluster = corner.cluster("dev");
    standin.trouble(&cluster, Trouble::NotAvailable);
    corner.create(corner.run("stuck-run")).await?;
    let object = corner.reaches("stuck-run", STUCK).await?;
    assert_eq!(
        message(&object, "Progressing"),
        "The updateRun is stuck waiting for stuck-dev cluster(s) in stage staging to finish \
         updating, please check placement status for potential errors"
    );
    corner.set_state("stuck-run", "Stop").await?;
    corner.reaches("stuck-run", STUCK).await?;
    standin.recover(&cluster);
    corner.reaches("stuck-run", STOPPED).await?;
    corner.set_state("stuck-run", "Run").await?;
    corner.reaches("stuck-run", SUCCEEDED).await?;

    // An agent that is gone says nothing, and its heartbeat grows old.
    standin
        .silence(&cluster, Duration::from_mins(10))
        .await
        .unwrap();
    fleet
        .set_data("stuck", "settings", &[("version", "2")])
        .await?;
    waiting::pass_async(DELAY.interval).await;
    corner
        .create(corner.run("stuck-probe").state("Initialize"))
        .await?;
    corner.reaches("stuck-probe", INITIALIZED).await?;
    waiting::pass_async(DELAY.collect).await;
    corner.create(corner.run("stuck-again")).await?;
    let object = corner.reaches("stuck-again", STUCK).await?;
    assert_eq!(object["status"]["resourceSnapshotIndexUsed"], "1");
    let space = Scope::Namespace(format!("fleet-member-{cluster}"));
    let work = fleet.get(Kind::Work, &space, "stuck-work").await?;
    assert_ne!(
        work["status"]["conditions"][0]["observedGeneration"],
        work["metadata"]["generation"]
    );
    Ok(())
}

/// Another run takes a cluster over while it is being updated.
async fn preempted(fleet: Fleet, standin: &StandIn) -> Done<()> {
    let scope = Scope::Namespace("taken".to_owned());
    let corner = Corner::new(&fleet, scope.clone(), "taken").await?;
    corner.strategy(two_stages()).await?;
    standin.trouble(
        &corner.cluster("dev"),
        Trouble::ApplyFails("no more disk".to_owned()),
    );
    corner.create(corner.run("taken-one")).await?;
    let first = corner.reaches("taken-one", INITIALIZED).await?;
    assert_eq!(first["status"]["resourceSnapshotIndexUsed"], "0");
    fleet
        .set_data("taken", "settings", &[("version", "2")])
        .await?;
    // The first run after the change only notes it; see `delayed`.
    corner
        .create(corner.run("taken-probe").state("Initialize"))
        .await?;
    corner.reaches("taken-probe", INITIALIZED).await?;
    waiting::pass_async(DELAY.interval + DELAY.collect).await;
    corner.create(corner.run("taken-two")).await?;
    let lost = corner.reaches("taken-one", FAILED).await?;
    let text = message(&lost, "Succeeded");
    assert!(
        text.starts_with(
            "cannot continue the updateRun: failed to process the request due to a client error: \
             the binding of the updating cluster `taken-dev` in the stage `staging` is not \
             up-to-date with the desired status, please check the status of binding \
             `taken/taken-taken-dev-"
        ),
        "{text}"
    );
    let winner = fleet_run(&corner, "taken-two").await?;
    assert_eq!(winner["status"]["resourceSnapshotIndexUsed"], "1");
    let bindings = corner.kind(Kind::ClusterResourceBinding, Kind::ResourceBinding);
    let name = text
        .split('`')
        .nth(5)
        .and_then(|name| name.split('/').nth(1))
        .unwrap();
    let reported = |binding: &Value| binding["status"]["failedPlacements"].is_array();
    let binding = fleet.wait(bindings, &scope, name, LIMIT, reported).await?;
    let failed = &binding["status"]["failedPlacements"][0]["condition"];
    assert_eq!(
        failed["message"],
        "Failed to apply the manifest (error: failed to apply the manifest: failed to create \
         manifest object: error returned by the API server: no more disk)"
    );
    Ok(())
}

/// The first run after a change rolls the old content out, and says nothing about it.
async fn delayed(fleet: Fleet) -> Done<()> {
    let corner = Corner::new(&fleet, Scope::Cluster, "late").await?;
    corner.strategy(two_stages()).await?;
    corner.create(corner.run("late-one")).await?;
    corner.reaches("late-one", SUCCEEDED).await?;
    waiting::pass_async(DELAY.interval).await;
    fleet
        .set_data("late", "settings", &[("version", "2")])
        .await?;
    corner.create(corner.run("late-two")).await?;
    let old = corner.reaches("late-two", SUCCEEDED).await?;
    assert_eq!(old["status"]["resourceSnapshotIndexUsed"], "0");
    let kind = Kind::ClusterResourceSnapshot;
    let detected = "kubernetes-fleet.io/next-resource-snapshot-candidate-detection-time";
    let snapshot = fleet.get(kind, &Scope::Cluster, "late-0-snapshot").await?;
    assert!(snapshot["metadata"]["annotations"][detected].is_string());
    waiting::pass_async(DELAY.collect).await;
    corner.create(corner.run("late-three")).await?;
    let new = corner.reaches("late-three", SUCCEEDED).await?;
    assert_eq!(new["status"]["resourceSnapshotIndexUsed"], "1");
    let snapshot = fleet.get(kind, &Scope::Cluster, "late-1-snapshot").await?;
    let labels = &snapshot["metadata"]["labels"];
    assert_eq!(labels["kubernetes-fleet.io/is-latest-snapshot"], "true");
    let settings = &snapshot["spec"]["selectedResources"][1];
    assert_eq!(settings["data"]["version"], "2");
    Ok(())
}

/// Runs that cannot be initialized, with KubeFleet's words.
async fn refused(fleet: Fleet) -> Done<()> {
    let corner = Corner::new(&fleet, Scope::Cluster, "no").await?;
    corner.strategy(two_stages()).await?;
    let scope = &corner.scope;
    let rolling = Placement::new(scope, "no-rolling")
        .on("corner", "no")
        .rolling();
    fleet.create(&rolling.build()).await?;
    let nowhere = Placement::new(scope, "no-where").on("corner", "nowhere");
    fleet.create(&nowhere.build()).await?;
    let strategies = [
        strategy(scope, "no-prod", vec![Stage::new("staging")]),
        strategy(
            scope,
            "no-twice",
            vec![
                Stage::new("staging"),
                Stage::new("all").matching("corner", "no"),
            ],
        ),
        strategy(
            scope,
            "no-order",
            vec![
                Stage::new("all")
                    .matching("corner", "no")
                    .sorted_by("corner"),
            ],
        ),
        strategy(
            scope,
            "no-time",
            vec![Stage::new("all").matching("corner", "no").wait("0s")],
        ),
    ];
    fleet.create_all(&strategies).await?;
    let user = "failed to process the request due to a client error: ";
    let cases: [(&str, &str, &str, String); 9] = [
        (
            "no-such",
            "no",
            "",
            format!("{user}parent placement not found"),
        ),
        (
            "no-rolling",
            "no",
            "",
            format!(
                "{user}parent placement does not have an external rollout strategy, current \
                 strategy: RollingUpdate"
            ),
        ),
        (
            "no-where",
            "no",
            "",
            "no scheduled or to-be-deleted bindings found for the latest policy snapshot \
             /no-where-0"
                .to_owned(),
        ),
        (
            "no",
            "no-such",
            "",
            format!("{user}referenced updateStrategy not found: `/no-such`"),
        ),
        (
            "no",
            "no-prod",
            "",
            format!(
                "{user}some clusters are not placed in any stage, total 2, showing up to 10: \
                 no-one, no-two"
            ),
        ),
        (
            "no",
            "no-twice",
            "",
            format!("{user}cluster `no-dev` appears in more than one stages"),
        ),
        (
            "no",
            "no-order",
            "",
            format!(
                "{user}the sorting label `corner:no` on cluster `no-dev` is not valid: \
                 strconv.Atoi: parsing \"no\": invalid syntax"
            ),
        ),
        (
            "no",
            "no-time",
            "",
            format!(
                "{user}the after stage tasks are invalid, updateStrategy: `/no-time`, stage: \
                 all, err: task 0 of type TimedWait has wait duration <= 0"
            ),
        ),
        (
            "no",
            "no",
            "7",
            format!("{user}no resourceSnapshots with index `7` found for placement `/no`"),
        ),
    ];
    for (number, (placement, strategy, snapshot, why)) in cases.iter().enumerate() {
        let name = format!("no-run-{number}");
        let mut run = Run::new(scope, &name, placement, strategy).state("Initialize");
        if !snapshot.is_empty() {
            run = run.snapshot(snapshot);
        }
        corner.create(run).await?;
        let refused = ("Initialized", "False", "UpdateRunInitializedFailed");
        let object = corner.reaches(&name, refused).await?;
        assert_eq!(
            message(&object, "Initialized"),
            format!("cannot continue the updateRun: failed to validate the updateRun: {why}")
        );
    }
    Ok(())
}

/// Clusters that the policy no longer selects lose their content in the deletion stage; a run
/// that is deleted takes its requests with it; one whose placement goes away fails.
async fn removal(fleet: Fleet) -> Done<()> {
    let corner = Corner::new(&fleet, Scope::Cluster, "gone").await?;
    corner.strategy(two_stages()).await?;
    corner.create(corner.run("gone-one")).await?;
    corner.reaches("gone-one", SUCCEEDED).await?;
    let placements = Kind::ClusterResourcePlacement;
    let policy = json!({
        "placementType": "PickAll",
        "affinity": {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "clusterSelectorTerms": [{"labelSelector": {
                "matchLabels": {"corner": "gone"},
                "matchExpressions": [{"key": "order", "operator": "In", "values": ["1", "2"]}],
            }}],
        }}},
    });
    fleet
        .change(placements, &Scope::Cluster, "gone", |placement| {
            placement["spec"]["policy"] = policy.clone();
        })
        .await?;
    corner.scheduled(2).await?;
    corner.create(corner.run("gone-two")).await?;
    let done = corner.reaches("gone-two", SUCCEEDED).await?;
    assert_eq!(done["status"]["policySnapshotIndexUsed"], "1");
    let deleted = &done["status"]["deletionStageStatus"]["clusters"][0];
    assert_eq!(deleted["clusterName"], corner.cluster("one"));
    assert_eq!(deleted["conditions"][1]["type"], "Succeeded");
    let space = Scope::Namespace(format!("fleet-member-{}", corner.cluster("one")));
    assert!(fleet.get(Kind::Work, &space, "gone-work").await.is_err());

    let gated = strategy(
        &Scope::Cluster,
        "gone-gated",
        vec![Stage::new("staging"), Stage::new("prod").approve_before()],
    );
    fleet.create(&gated).await?;
    for run in ["gone-three", "gone-four"] {
        corner
            .create(Run::new(&Scope::Cluster, run, "gone", "gone-gated"))
            .await?;
        corner.request(&format!("{run}-before-prod")).await?;
        corner.reaches(run, WAITING).await?;
    }
    let runs = Kind::ClusterStagedUpdateRun;
    fleet.delete(runs, &Scope::Cluster, "gone-three").await?;
    gone(&fleet, runs, "gone-three").await;
    gone(
        &fleet,
        Kind::ClusterApprovalRequest,
        "gone-three-before-prod",
    )
    .await;
    fleet.delete(placements, &Scope::Cluster, "gone").await?;
    gone(&fleet, placements, "gone").await;
    let failed = corner.reaches("gone-four", FAILED).await?;
    let text = message(&failed, "Succeeded");
    let prefix = "cannot continue the updateRun: failed to validate the updateRun: ";
    // The policy snapshots go a moment before the placement does.
    let parts = [
        "parent placement not found",
        "no latest policy snapshot found for placement /gone",
    ];
    assert!(
        text.starts_with(prefix) && parts.iter().any(|part| text.ends_with(part)),
        "{text}"
    );
    Ok(())
}

async fn gone(fleet: &Fleet, kind: Kind, name: &str) {
    let look = async || fleet.get(kind, &Scope::Cluster, name).await.err();
    waiting::until_async(|| format!("{name} is gone"), look).await;
}

/// Changes of content are held back this long.
const DELAY: SnapshotDelay = SnapshotDelay {
    collect: Duration::from_secs(1),
    interval: Duration::from_secs(2),
};

/// A hub; none when a test has to be skipped, which it says.
async fn hub(crds: &Crds) -> Option<TestHub> {
    let started = async {
        let hub = TestHub::start(&Options::default()).await?;
        hub.install(crds).await?;
        Ok(hub)
    };
    or_skip(started.await)
}

/// The stand-in and a corner on an old hub, where the controller of placements makes snapshots.
async fn old(hub: &TestHub) -> Done<(StandIn, Corner)> {
    let client = hub.client().await?;
    let standin = StandIn::start(client.clone(), Timing::fast());
    let fleet = Fleet::new(client).discover().await;
    let corner = Corner::new(&fleet, Scope::Cluster, "old").await?;
    corner.strategy(two_stages()).await?;
    corner.has_snapshot("old-0-snapshot").await?;
    Ok((standin, corner))
}

/// A hub of KubeFleet 0.1: whatever a run's state is, it is executed, with the latest snapshot,
/// which the controller of placements makes.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_hub_executes_every_run_at_once() {
    let Some(hub) = hub(&Crds::OwnAlphaOnly).await else {
        return;
    };
    let (standin, corner) = old(&hub).await.unwrap();
    corner
        .create(corner.run("old-one").state("Initialize").snapshot("0"))
        .await
        .unwrap();
    let done = corner.reaches("old-one", SUCCEEDED).await.unwrap();
    assert_eq!(done["apiVersion"], "placement.kubernetes-fleet.io/v1alpha1");
    assert_eq!(done["spec"].get("state"), None);
    let changed = [("version", "2")];
    corner
        .fleet
        .set_data("old", "settings", &changed)
        .await
        .unwrap();
    corner.has_snapshot("old-1-snapshot").await.unwrap();
    corner
        .create(corner.run("old-two").snapshot("0"))
        .await
        .unwrap();
    corner.reaches("old-two", SUCCEEDED).await.unwrap();
    assert!(standin.errors().is_empty(), "{:#?}", standin.errors());
}

/// KubeFleet 0.1.2 has the field, with other words, and does the same. A run that names no snapshot
/// gets the latest.
#[tokio::test(flavor = "multi_thread")]
async fn a_hub_of_v0_1_2_does_not_obey_the_state() {
    let Some(hub) = hub(&Crds::OwnOld).await else {
        return;
    };
    let (standin, corner) = old(&hub).await.unwrap();
    let refused = corner.create(corner.run("old-one").state("Run")).await;
    assert!(refused.is_err(), "{refused:?}");
    for state in ["Initialize", "Pause"] {
        let name = format!("old-{}", state.to_lowercase());
        corner.create(corner.run(&name).state(state)).await.unwrap();
        let done = corner.reaches(&name, SUCCEEDED).await.unwrap();
        assert_eq!(done["apiVersion"], "placement.kubernetes-fleet.io/v1beta1");
        assert_eq!(done["status"]["resourceSnapshotIndexUsed"], "0");
    }
    assert!(standin.errors().is_empty(), "{:#?}", standin.errors());
}

// One hub, one stand-in: the scenarios run beside each other, each in its corner of the fleet.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_lives_as_with_kubefleet() {
    let Some(hub) = hub(&Crds::from_environment()).await else {
        return;
    };
    let client = hub.client().await.unwrap();
    let timing = Timing {
        snapshots: Some(DELAY),
        ..Timing::fast()
    };
    let standin = StandIn::start(client.clone(), timing);
    let fleet = Fleet::new(client);
    let team = Scope::Namespace("life-team".to_owned());
    let (one, two, three, four, five, six, seven, eight) = tokio::join!(
        life(fleet.clone(), Scope::Cluster, "life"),
        life(fleet.clone(), team, "life-team"),
        stop(fleet.clone(), &standin),
        stuck(fleet.clone(), &standin),
        preempted(fleet.clone(), &standin),
        delayed(fleet.clone()),
        refused(fleet.clone()),
        removal(fleet.clone()),
    );
    let failures: Vec<String> = [
        ("life", one),
        ("life, namespaced", two),
        ("stop", three),
        ("stuck", four),
        ("preempted", five),
        ("delayed", six),
        ("refused", seven),
        ("removal", eight),
    ]
    .into_iter()
    .filter_map(|(name, done)| Some(format!("{name}: {}", done.err()?)))
    .collect();
    assert!(
        failures.is_empty(),
        "{failures:#?}\n{:#?}",
        standin.errors()
    );
    assert!(standin.errors().is_empty(), "{:#?}", standin.errors());
    standin.stop().await;
}
