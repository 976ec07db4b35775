//! Large fleets, written straight to the hub with their statuses, as KubeFleet would have left
//! them: for measurements, without waiting for a rollout over a thousand clusters.

use std::collections::BTreeMap;

use futures::StreamExt;
use futures::stream;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::objects::{
    Placement, Run as RunObject, Stage, config_map, deployment, member, namespace, strategy,
};
use super::{Done, Fleet, explain};
use crate::path_of;
use crate::standin::conditions::stamp;
use crate::standin::marks::{self, Small, Stage as StageMarks};
use crate::standin::placements::{self, Parts};
use crate::standin::status::Run;
use crate::standin::world::World;
use crate::standin::{
    Kind, Object, Scope, Trouble, agent, bindings, initialize, members, names, scheduler, snapshots,
};

/// So many requests are under way at once.
const PARALLEL: usize = 24;
/// The placement, its namespace and its strategy.
const NAME: &str = "checkout";
/// The run that everything had come from, and the one that is under way.
const BEFORE: &str = "checkout-1";
const CURRENT: &str = "checkout-2";

/// A large fleet in the middle of a rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Big {
    /// The name of the placement.
    pub placement: String,
    /// The name of the run that is under way, in cluster scope.
    pub run: String,
    /// The clusters that do not finish.
    pub stuck: Vec<String>,
}

impl Fleet {
    /// Fills an empty hub with so many member clusters, and a run in the middle of them that is
    /// stuck on some: half of those have a workload that does not become available, a quarter
    /// refuses an object, and of a quarter the agent is gone. No controller may be at work there.
    pub async fn big(&self, clusters: usize, stuck: usize) -> Done<Big> {
        self.create(&namespace(NAME)).await?;
        for object in content() {
            self.create(&object).await?;
        }
        let mut placement = Placement::new(&Scope::Cluster, NAME).build();
        placement.add_finalizer(names::PLACEMENT_FINALIZER);
        placement.add_finalizer(names::PLACEMENT_SCHEDULER_FINALIZER);
        let placement = self.create(&placement).await?;
        let plan = Plan::new(clusters, stuck);
        let spaces: Vec<Value> = plan
            .members
            .iter()
            .map(|name| namespace(&names::member_namespace(name)))
            .collect();
        self.each(spaces, Write::Create).await?;
        // Times of a status come after the creation, which takes its time: hence twice.
        let mut objects = plan.objects(&placement, Timestamp::now());
        objects.retain(|object| key(object) != key(&placement));
        let created = self.each(objects, Write::Create).await?;
        let mut versions: BTreeMap<_, _> = created
            .into_iter()
            .map(|object| (key(&object), object["metadata"].clone()))
            .collect();
        versions.insert(key(&placement), placement["metadata"].clone());
        let mut objects = plan.objects(&placement, Timestamp::now());
        objects.retain(|object| object.get("status").is_some());
        for object in &mut objects {
            if let Some(metadata) = versions.remove(&key(object)) {
                object["metadata"] = metadata;
            }
        }
        self.each(objects, Write::Status).await?;
        Ok(Big {
            placement: NAME.to_owned(),
            run: CURRENT.to_owned(),
            stuck: plan.stuck().map(str::to_owned).collect(),
        })
    }

    async fn each(&self, objects: Vec<Value>, write: Write) -> Done<Vec<Value>> {
        let sent = objects.into_iter().map(|object| async move {
            let what = format!("write {} {}", object.text("/kind"), object.name());
            let path = path_of(&object, false)?;
            let answer = match write {
                Write::Create => self.api.create_at(&path, &object).await,
                Write::Status => self.api.update_status_at(&path, &object).await,
            };
            answer.map_err(explain(&what))
        });
        let mut sent = stream::iter(sent).buffer_unordered(PARALLEL);
        let mut written = Vec::new();
        while let Some(answer) = sent.next().await {
            written.push(answer?);
        }
        Ok(written)
    }
}

#[derive(Clone, Copy)]
enum Write {
    Create,
    Status,
}

fn key(object: &Value) -> (String, String, String) {
    (
        object.text("/kind").to_owned(),
        object.namespace().to_owned(),
        object.name().to_owned(),
    )
}

/// What is placed: enough that a Work has the size of a common one.
fn content() -> Vec<Value> {
    let settings: Vec<(String, String)> = (0..20)
        .map(|number| (format!("setting-{number:02}"), "value ".repeat(8)))
        .collect();
    let settings: Vec<(&str, &str)> = settings
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    vec![
        config_map(NAME, "settings", &settings),
        deployment(NAME, "web", "registry.invalid/checkout/web:1.4.2"),
    ]
}

/// Where the rollout stands on a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Done,
    Stuck(usize),
    Moving,
    NotYet,
}

/// Who is where.
struct Plan {
    members: Vec<String>,
    /// The first stage has the members before this one, the second those before the next.
    bounds: [usize; 2],
    /// In the second stage: the first that is stuck, and the first that is not.
    stuck: [usize; 2],
    moving: usize,
}

impl Plan {
    fn new(clusters: usize, stuck: usize) -> Self {
        let first_stage = (clusters / 20).max(1).min(clusters);
        let bounds = [first_stage, (clusters / 2).max(first_stage)];
        let first = (bounds[0] + (bounds[1] - bounds[0]) / 2).min(bounds[1]);
        let last = (first + stuck).min(bounds[1]);
        Self {
            members: (1..=clusters)
                .map(|number| format!("cluster-{number:04}"))
                .collect(),
            bounds,
            stuck: [first, last],
            moving: (last + 4).min(bounds[1]),
        }
    }

    fn stuck(&self) -> impl Iterator<Item = &str> {
        self.members[self.stuck[0]..self.stuck[1]]
            .iter()
            .map(String::as_str)
    }

    fn progress(&self, index: usize) -> Progress {
        let [first, last] = self.stuck;
        if index < first {
            Progress::Done
        } else if index < last {
            Progress::Stuck(index - first)
        } else if index < self.moving {
            Progress::Moving
        } else {
            Progress::NotYet
        }
    }

    /// When the rollout came to a cluster: what is stuck has been so for a while.
    fn since(&self, index: usize, now: Timestamp) -> Timestamp {
        match self.progress(index) {
            Progress::Stuck(_) => before(now, 12),
            _ => now,
        }
    }

    fn trouble(&self, index: usize) -> Option<Trouble> {
        match self.progress(index) {
            Progress::Stuck(number) => Some(match number % 4 {
                0 | 1 => Trouble::NotAvailable,
                2 => Trouble::ApplyFails(
                    "admission webhook \"policy.example.com\" denied the request: too many \
                     replicas"
                        .to_owned(),
                ),
                _ => Trouble::Gone,
            }),
            _ => None,
        }
    }

    /// Every object but the placement's content and the namespaces.
    fn objects(&self, placement: &Value, now: Timestamp) -> Vec<Value> {
        let scope = Scope::Cluster;
        let mut placement = placement.clone();
        let members: Vec<Value> = (0..self.members.len())
            .map(|index| self.member(index, now))
            .collect();
        let snapshots = [0, 1].map(|index| Self::snapshot(&placement, index));
        let mut policy = match scheduler::snapshot(&scope, &placement, None) {
            scheduler::Snapshot::New(policy) | scheduler::Snapshot::Changed(policy) => policy,
            scheduler::Snapshot::Current => Value::Null,
        };
        policy["metadata"]["generation"] = json!(1);
        let listed: Vec<&Value> = members.iter().collect();
        let decision = scheduler::decide(&placement, &listed, &[]);
        if let Some(status) = scheduler::status(&policy, &decision, now) {
            policy["status"] = status;
        }
        let created =
            scheduler::reconcile(&scope, &placement, policy.name(), &decision, &[]).create;
        let mut bindings = Vec::new();
        let mut works = Vec::new();
        for (index, binding) in created.into_iter().enumerate() {
            let (binding, work) = self.deliver(index, binding, &snapshots, now);
            bindings.push(binding);
            works.push(work);
        }
        let strategy = self.strategy();
        let mut world = World::default();
        world.replace(Kind::MemberCluster, members.clone());
        world.replace(Kind::ClusterResourcePlacement, vec![placement.clone()]);
        world.replace(Kind::ClusterSchedulingPolicySnapshot, vec![policy.clone()]);
        world.replace(Kind::ClusterResourceBinding, bindings.clone());
        world.replace(Kind::ClusterStagedUpdateStrategy, vec![strategy.clone()]);
        let runs = [
            self.run(BEFORE, "0", &world, now),
            self.run(CURRENT, "1", &world, now),
        ];
        let parts = Parts {
            policy: &policy,
            bindings: bindings.iter().collect(),
            snapshots: snapshots.iter().collect(),
        };
        if let Some(status) = placements::status(&scope, &placement, &parts, now) {
            placement["status"] = status;
        }
        let mut all = members;
        all.extend([placement, policy, strategy]);
        all.extend(snapshots);
        all.extend(bindings);
        all.extend(works);
        all.extend([BEFORE, CURRENT].map(|run| approval(run, "after", "canary", now)));
        all.push(approval(BEFORE, "before", "rest", now));
        all.extend(runs);
        all
    }

    fn member(&self, index: usize, now: Timestamp) -> Value {
        let wave = match index {
            index if index < self.bounds[0] => "1",
            index if index < self.bounds[1] => "2",
            _ => "3",
        };
        let name = &self.members[index];
        let region = ["north", "south", "west"][index % 3];
        let mut member = member(name, &[("wave", wave), ("region", region)]);
        member.put(&["metadata", "labels", names::MEMBER_NAME], json!(name));
        member.add_finalizer(names::MEMBER_FINALIZER);
        member["metadata"]["generation"] = json!(1);
        member["status"] = members::alive(&member, now);
        if self.trouble(index) == Some(Trouble::Gone) {
            let long_ago = before(now, 20);
            member["status"]["agentStatus"][0]["lastReceivedHeartbeat"] = json!(stamp(long_ago));
        }
        member
    }

    fn snapshot(placement: &Value, index: i64) -> Value {
        let mut content = content();
        content.insert(0, namespace(NAME));
        content[1]["data"]["version"] = json!(format!("1.4.{index}"));
        let mut snapshot = snapshots::build(&Scope::Cluster, placement, index, &content);
        let latest = (index == 1).to_string();
        snapshot.put(&["metadata", "labels", names::IS_LATEST], json!(latest));
        snapshot
    }

    fn strategy(&self) -> Value {
        let limit = self.moving - self.stuck[0];
        let stage = |name: &str, wave: &str| Stage::new(name).matching("wave", wave);
        strategy(
            &Scope::Cluster,
            NAME,
            vec![
                stage("canary", "1").at_once("20%").approve_after(),
                stage("early", "2").at_once(limit.max(1)),
                stage("rest", "3").at_once("25%").approve_before(),
            ],
        )
    }

    /// A binding with its Work, as the rollout has left them.
    fn deliver(
        &self,
        index: usize,
        mut binding: Value,
        snapshots: &[Value; 2],
        now: Timestamp,
    ) -> (Value, Value) {
        let progress = self.progress(index);
        let now = self.since(index, now);
        let (run, snapshot) = match progress {
            Progress::NotYet => (BEFORE, &snapshots[0]),
            _ => (CURRENT, &snapshots[1]),
        };
        binding.add_finalizer(names::WORK_FINALIZER);
        binding["metadata"]["generation"] = json!(1);
        let spec = &mut binding["spec"];
        spec["state"] = json!("Bound");
        spec["resourceSnapshotName"] = json!(snapshot.name());
        spec["applyStrategy"] = apply_strategy();
        bindings::rollout_started(
            &mut binding,
            run,
            snapshot.label(names::RESOURCE_INDEX),
            now,
        );
        let mut work = bindings::works(&Scope::Cluster, &binding, &[snapshot]).remove(0);
        work["metadata"]["generation"] = json!(1);
        let trouble = self.trouble(index);
        let silent = trouble == Some(Trouble::Gone) || progress == Progress::Moving;
        if !silent {
            work["status"] = agent::report(&work, trouble.as_ref(), now);
        }
        if let Some(status) = bindings::status(&binding, &[&work], now) {
            binding["status"] = status;
        }
        (binding, work)
    }

    /// A run over the whole fleet: the first one is over, the second one as far as it got.
    fn run(&self, name: &str, snapshot: &str, world: &World, now: Timestamp) -> Value {
        let mut object = RunObject::new(&Scope::Cluster, name, NAME, NAME)
            .snapshot(snapshot)
            .build();
        object.add_finalizer(names::RUN_FINALIZER);
        object["metadata"]["generation"] = json!(1);
        let mut run = Run::read(&object);
        if initialize::prepare(&mut run, world).is_err() {
            return object;
        }
        snapshot.clone_into(&mut run.status.resource_snapshot_index_used);
        initialize::conclude(&mut run, Ok(initialize::SUCCESS), now);
        let over = name == BEFORE;
        let mut number = 0;
        for (index, stage) in run.status.stages_status.iter_mut().enumerate() {
            let mut started = false;
            for cluster in &mut stage.clusters {
                let (progress, since) = if over {
                    (Progress::Done, now)
                } else {
                    (self.progress(number), self.since(number, now))
                };
                number += 1;
                let mut marks = Small::cluster(cluster, 1, since);
                if progress != Progress::NotYet {
                    started = true;
                    marks.started();
                }
                if progress == Progress::Done {
                    marks.succeeded();
                }
            }
            for task in stage
                .before_stage_task_status
                .iter_mut()
                .chain(&mut stage.after_stage_task_status)
            {
                if over || index == 0 {
                    let mut marks = Small::task(task, 1, now);
                    marks.request_created();
                    marks.request_approved();
                }
            }
            let done = over || index == 0;
            let mut marks = StageMarks {
                status: stage,
                generation: 1,
                now,
            };
            if started {
                marks.started();
            }
            if done {
                marks.succeeded();
            }
        }
        if over {
            if let Some(status) = &mut run.status.deletion_stage_status {
                let mut marks = StageMarks {
                    status,
                    generation: 1,
                    now,
                };
                marks.started();
                marks.succeeded();
            }
            marks::run_succeeded(&mut run, now);
        } else {
            let stuck: Vec<String> = self.stuck().map(str::to_owned).collect();
            if stuck.is_empty() {
                marks::run_progressing(&mut run, now);
            } else {
                marks::run_stuck(&mut run, &stuck, "early", now);
            }
        }
        object["status"] = json!(run.status);
        object
    }
}

fn before(now: Timestamp, minutes: i64) -> Timestamp {
    now.checked_sub(SignedDuration::from_mins(minutes))
        .unwrap_or(now)
}

fn apply_strategy() -> Value {
    json!({
        "type": "ClientSideApply",
        "comparisonOption": "PartialComparison",
        "whenToApply": "Always",
        "whenToTakeOver": "Always",
    })
}

/// An approval that was given and accepted.
fn approval(run: &str, when: &str, stage: &str, now: Timestamp) -> Value {
    let name = format!("{run}-{when}-{stage}");
    let task = format!("{when}Stage");
    let mut request = initialize::approval_request(&Scope::Cluster, run, stage, &name, &task);
    let condition = |kind: &str, reason: &str| {
        json!({
            "type": kind, "status": "True", "reason": reason, "message": "",
            "observedGeneration": 1, "lastTransitionTime": stamp(now),
        })
    };
    request["status"] = json!({"conditions": [
        condition("Approved", "ApprovedByHand"),
        condition("ApprovalAccepted", "ApprovalRequestApprovalAccepted"),
    ]});
    request
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standin::validate::{Position, validate};

    #[test]
    fn the_controller_would_go_on_with_the_run() {
        let plan = Plan::new(200, 10);
        let mut placement = Placement::new(&Scope::Cluster, NAME).build();
        placement["metadata"]["uid"] = json!("1");
        placement["metadata"]["generation"] = json!(1);
        let objects = plan.objects(&placement, Timestamp::UNIX_EPOCH);
        let mut world = World::default();
        for kind in Kind::ALL {
            let own = objects
                .iter()
                .filter(|object| object.text("/kind") == kind.name());
            world.replace(kind, own.cloned().collect());
        }
        assert_eq!(world.all(Kind::MemberCluster).count(), 200);
        assert_eq!(world.all(Kind::Work).count(), 200);
        let run = world
            .get(Kind::ClusterStagedUpdateRun, "", CURRENT)
            .unwrap();
        let (position, targets) = validate(&Run::read(run), &world).unwrap();
        assert_eq!(position, Position::Stage(1));
        assert_eq!(targets.update.len(), 200);
        let before = world.get(Kind::ClusterStagedUpdateRun, "", BEFORE).unwrap();
        let (position, _) = validate(&Run::read(before), &world).unwrap();
        assert_eq!(position, Position::Done);
        assert_eq!(plan.stuck().count(), 10);
        let silent = world
            .all(Kind::Work)
            .filter(|work| work.get("status").is_none());
        assert_eq!(silent.count(), 2 + 4);
        let message = run["status"]["conditions"][1]["message"].as_str().unwrap();
        assert!(
            message.contains("waiting for cluster-0056, cluster-0057, cluster-0058... cluster(s)"),
            "{message}"
        );
    }
}
