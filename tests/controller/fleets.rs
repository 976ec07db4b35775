//! Small fleets at random.

use serde_json::{Value, json};
use test_hub::standin::Kind;

/// Random numbers that are the same for the same seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1))
    }

    /// A number below the limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit.max(1)
    }

    pub fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    pub fn pick<'t, T>(&mut self, among: &'t [T]) -> &'t T {
        let at = self.below(among.len() as u64);
        &among[usize::try_from(at).unwrap()]
    }
}

const API: &str = "placement.kubernetes-fleet.io/v1beta1";
const PARTS: [&str; 3] = ["canary", "staging", "prod"];

/// The objects of a fleet with one run, `run`, of the placement `shop`.
pub fn fleet(dice: &mut Dice) -> Vec<(Kind, Value)> {
    let clusters: Vec<String> = (1..=1 + dice.below(5)).map(|n| format!("m{n}")).collect();
    let mut objects = vec![(Kind::ClusterResourcePlacement, placement(dice))];
    objects.push((Kind::ClusterStagedUpdateStrategy, strategy(dice)));
    objects.push((Kind::ClusterStagedUpdateRun, run(dice)));
    objects.extend((0..3).map(|index| (Kind::ClusterResourceSnapshot, snapshot(index))));
    let mut scheduled = 0;
    for cluster in &clusters {
        objects.push((Kind::MemberCluster, member(dice, cluster)));
        let binding = binding(dice, cluster);
        scheduled += u64::from(binding["spec"]["state"] != "Unscheduled");
        if !dice.percent(3) {
            objects.push((Kind::ClusterResourceBinding, binding));
        }
    }
    objects.push((
        Kind::ClusterSchedulingPolicySnapshot,
        policy(dice, scheduled),
    ));
    objects
}

fn object(kind: &str, name: &str, labels: &Value) -> Value {
    json!({
        "apiVersion": API, "kind": kind,
        "metadata": {
            "name": name, "generation": 1, "labels": labels,
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
    })
}

fn placement(dice: &mut Dice) -> Value {
    let mut placement = object("ClusterResourcePlacement", "shop", &json!({}));
    let kind = if dice.percent(98) {
        "External"
    } else {
        "RollingUpdate"
    };
    placement["spec"] = json!({"strategy": {"type": kind}, "resourceSelectors": []});
    placement
}

fn strategy(dice: &mut Dice) -> Value {
    let mut strategy = object("ClusterStagedUpdateStrategy", "steps", &json!({}));
    let all = dice.percent(15);
    let stages: Vec<Value> = PARTS
        .iter()
        .enumerate()
        .filter(|(at, _)| !all || *at == 0)
        .filter(|(at, _)| *at == 0 || !dice.percent(4))
        .map(|(_, part)| *part)
        .collect::<Vec<_>>()
        .into_iter()
        .map(|part| stage(dice, part, all))
        .collect();
    strategy["spec"] = json!({"stages": stages});
    strategy
}

fn stage(dice: &mut Dice, part: &str, all: bool) -> Value {
    let mut stage = json!({"name": part});
    stage["labelSelector"] = if all || dice.percent(2) {
        json!({})
    } else {
        json!({"matchLabels": {"part": part}})
    };
    if dice.percent(30) {
        stage["sortingLabelKey"] = json!("order");
    }
    stage["maxConcurrency"] = dice
        .pick(&[
            json!(1),
            json!(2),
            json!("50%"),
            json!("100%"),
            json!("34%"),
        ])
        .clone();
    if dice.percent(25) {
        stage["beforeStageTasks"] = json!([{"type": "Approval"}]);
    }
    let mut after = Vec::new();
    if dice.percent(25) {
        after.push(json!({"type": "Approval"}));
    }
    if dice.percent(25) {
        let wait = dice.pick(&["30s", "1m", "2m30s", "4m"]);
        after.push(json!({"type": "TimedWait", "waitTime": wait}));
    }
    stage["afterStageTasks"] = json!(after);
    stage
}

fn run(dice: &mut Dice) -> Value {
    let mut run = object("ClusterStagedUpdateRun", "run", &json!({}));
    let index = if dice.percent(96) {
        *dice.pick(&["0", "1", "2"])
    } else {
        *dice.pick(&["7", "x", "-1"])
    };
    run["metadata"]["finalizers"] = json!(["kubernetes-fleet.io/stagedupdaterun-finalizer"]);
    run["spec"] = json!({
        "placementName": "shop", "stagedRolloutStrategyName": "steps",
        "resourceSnapshotIndex": index,
        "state": if dice.percent(75) { "Run" } else { "Initialize" },
    });
    if dice.percent(2) {
        run["spec"]["stagedRolloutStrategyName"] = json!("none");
    }
    run
}

fn snapshot(index: u32) -> Value {
    let mut snapshot = object(
        "ClusterResourceSnapshot",
        &format!("shop-{index}-snapshot"),
        &json!({
            "kubernetes-fleet.io/parent-CRP": "shop",
            "kubernetes-fleet.io/resource-index": index.to_string(),
            "kubernetes-fleet.io/is-latest-snapshot": (index == 2).to_string(),
        }),
    );
    snapshot["metadata"]["annotations"] = json!({
        "kubernetes-fleet.io/resource-hash": "h",
        "kubernetes-fleet.io/number-of-resource-snapshots": "1",
    });
    snapshot["spec"] = json!({"selectedResources": []});
    snapshot
}

pub fn member(dice: &mut Dice, name: &str) -> Value {
    let order = if dice.percent(97) {
        dice.below(4).to_string()
    } else {
        "first".to_owned()
    };
    let part = dice.pick(&PARTS);
    let labels = json!({"part": part, "order": order, "kubernetes-fleet.io/member-name": name});
    let mut member = object("MemberCluster", name, &labels);
    member["apiVersion"] = json!("cluster.kubernetes-fleet.io/v1beta1");
    member["spec"] = json!({});
    member
}

/// The apply strategy of a placement that sets none.
fn apply_strategy() -> Value {
    json!({
        "type": "ClientSideApply", "comparisonOption": "PartialComparison",
        "whenToApply": "Always", "whenToTakeOver": "Always",
    })
}

fn binding(dice: &mut Dice, cluster: &str) -> Value {
    let mut binding = object(
        "ClusterResourceBinding",
        &format!("shop-{cluster}"),
        &json!({"kubernetes-fleet.io/parent-CRP": "shop"}),
    );
    let old = dice.percent(2);
    binding["spec"] = json!({
        "targetCluster": cluster,
        "schedulingPolicySnapshotName": if old { "shop-0" } else { "shop-1" },
        "state": "Scheduled",
    });
    if dice.percent(70) {
        let index = dice.below(3);
        let state = if dice.percent(10) {
            "Unscheduled"
        } else {
            "Bound"
        };
        binding["spec"]["state"] = json!(state);
        binding["spec"]["resourceSnapshotName"] = json!(format!("shop-{index}-snapshot"));
        binding["spec"]["applyStrategy"] = apply_strategy();
        let applied = !dice.percent(6);
        let condition = |kind: &str, well: bool| {
            json!({
                "type": kind, "status": if well { "True" } else { "False" },
                "reason": if well { kind } else { "Broken" }, "message": "",
                "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z",
            })
        };
        binding["status"] = json!({"conditions": [
            condition("RolloutStarted", true),
            condition("Applied", applied),
            condition("Available", applied),
        ]});
    }
    binding
}

fn policy(dice: &mut Dice, scheduled: u64) -> Value {
    let mut policy = object(
        "ClusterSchedulingPolicySnapshot",
        "shop-1",
        &json!({
            "kubernetes-fleet.io/parent-CRP": "shop",
            "kubernetes-fleet.io/policy-index": "1",
            "kubernetes-fleet.io/is-latest-snapshot": "true",
        }),
    );
    policy["spec"] = json!({"policyHash": "aA=="});
    if dice.percent(30) {
        let wanted = scheduled + u64::from(dice.percent(5));
        policy["spec"]["policy"] = json!({"placementType": "PickN", "numberOfClusters": wanted});
        policy["metadata"]["annotations"] =
            json!({"kubernetes-fleet.io/number-of-clusters": wanted.to_string()});
    }
    let done = if dice.percent(98) { "True" } else { "False" };
    policy["status"] = json!({"conditions": [{
        "type": "Scheduled", "status": done, "reason": "R", "message": "",
        "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z",
    }]});
    policy
}
