//! A placement in the middle of a rollout, as objects: what KubeFleet would have left of it.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::objects::{
    Run as RunObject, Stage, config_map, deployment, member, namespace, strategy,
};
use crate::standin::conditions::stamp;
use crate::standin::marks::{self, Small, Stage as StageMarks};
use crate::standin::placements::{self, Parts};
use crate::standin::status::Run;
use crate::standin::world::World;
use crate::standin::{
    Kind, Object, Scope, Trouble, agent, bindings, initialize, members, names, scheduler, snapshots,
};

/// What is placed: enough that a Work has the size of a common one.
pub(super) fn content(name: &str) -> Vec<Value> {
    let settings: Vec<(String, String)> = (0..20)
        .map(|number| (format!("setting-{number:02}"), "value ".repeat(8)))
        .collect();
    let settings: Vec<(&str, &str)> = settings
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    vec![
        config_map(name, "settings", &settings),
        deployment(name, "web", "registry.invalid/checkout/web:1.4.2"),
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

/// How far the run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// In the middle of the second stage.
    Under,
    /// Before the third stage, which has to be approved.
    Gate,
    /// Over.
    Over,
}

/// A placement, and how far its run is on each cluster.
pub(super) struct Plan {
    /// The placement, its namespace and its strategy.
    pub(super) name: String,
    stand: Stand,
    /// Whether the run that everything had come from is still there.
    remembers: bool,
    pub(super) members: Vec<String>,
    /// The first stage has the members before this one, the second those before the next.
    bounds: [usize; 2],
    /// In the second stage: the first that is stuck, and the first that is not.
    stuck: [usize; 2],
    moving: usize,
}

impl Plan {
    pub(super) fn new(name: &str, clusters: usize, stuck: usize) -> Self {
        let first_stage = (clusters / 20).max(1).min(clusters);
        let bounds = [first_stage, (clusters / 2).max(first_stage)];
        let first = (bounds[0] + (bounds[1] - bounds[0]) / 2).min(bounds[1]);
        let last = (first + stuck).min(bounds[1]);
        Self {
            name: name.to_owned(),
            stand: Stand::Under,
            remembers: true,
            members: (1..=clusters)
                .map(|number| format!("cluster-{number:04}"))
                .collect(),
            bounds,
            stuck: [first, last],
            moving: (last + 4).min(bounds[1]),
        }
    }

    /// The same of one that is so far, and is the only run on its placement; one that is under way
    /// is near its end.
    pub(super) fn alone(mut self, stand: Stand) -> Self {
        let all = self.members.len();
        let stuck = self.stuck[1] - self.stuck[0];
        let (first, moving) = match stand {
            Stand::Under => (all.saturating_sub(stuck + 4).max(self.bounds[1]), all),
            Stand::Gate => (self.bounds[1], self.bounds[1]),
            Stand::Over => (all, all),
        };
        self.stuck = [first, (first + stuck).min(all)];
        self.moving = moving;
        Self {
            stand,
            remembers: false,
            ..self
        }
    }

    /// The name of the stage that a member is in, and its number.
    fn stage_of(&self, member: usize) -> (&'static str, usize) {
        let at = self.bounds.iter().filter(|bound| **bound <= member).count();
        (["canary", "early", "rest"][at], at)
    }

    /// The run that everything had come from.
    fn before(&self) -> String {
        format!("{}-1", self.name)
    }

    /// The run that is under way.
    pub(super) fn current(&self) -> String {
        format!("{}-2", self.name)
    }

    pub(super) fn stuck(&self) -> impl Iterator<Item = &str> {
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

    /// The member clusters.
    pub(super) fn members(&self, now: Timestamp) -> Vec<Value> {
        (0..self.members.len())
            .map(|index| self.member(index, now))
            .collect()
    }

    /// Every object of the placement but its content and the namespaces.
    pub(super) fn objects(
        &self,
        placement: &Value,
        members: &[Value],
        now: Timestamp,
    ) -> Vec<Value> {
        let scope = Scope::Cluster;
        let mut placement = placement.clone();
        let snapshots = [0, 1].map(|index| self.snapshot(&placement, index));
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
        world.replace(Kind::MemberCluster, members.to_vec());
        world.replace(Kind::ClusterResourcePlacement, vec![placement.clone()]);
        world.replace(Kind::ClusterSchedulingPolicySnapshot, vec![policy.clone()]);
        world.replace(Kind::ClusterResourceBinding, bindings.clone());
        world.replace(Kind::ClusterStagedUpdateStrategy, vec![strategy.clone()]);
        let (before, current) = (self.before(), self.current());
        let mut runs = vec![self.run(&current, "1", &world, now)];
        let mut requests = vec![approval(&current, "after", "canary", now)];
        if self.remembers {
            runs.push(self.run(&before, "0", &world, now));
            requests.push(approval(&before, "after", "canary", now));
            requests.push(approval(&before, "before", "rest", now));
        }
        if self.stand == Stand::Gate {
            requests.push(asked(&current, "before", "rest"));
        } else if self.stage_of(self.moving.saturating_sub(1)).1 == 2 {
            requests.push(approval(&current, "before", "rest", now));
        }
        let parts = Parts {
            policy: &policy,
            bindings: bindings.iter().collect(),
            snapshots: snapshots.iter().collect(),
        };
        if let Some(status) = placements::status(&scope, &placement, &parts, now) {
            placement["status"] = status;
        }
        let mut all = vec![placement, policy, strategy];
        all.extend(snapshots);
        all.extend(bindings);
        all.extend(works);
        all.extend(requests);
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

    fn snapshot(&self, placement: &Value, index: i64) -> Value {
        let mut content = content(&self.name);
        content.insert(0, namespace(&self.name));
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
            &self.name,
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
            Progress::NotYet => (self.before(), &snapshots[0]),
            _ => (self.current(), &snapshots[1]),
        };
        binding.add_finalizer(names::WORK_FINALIZER);
        binding["metadata"]["generation"] = json!(1);
        let spec = &mut binding["spec"];
        spec["state"] = json!("Bound");
        spec["resourceSnapshotName"] = json!(snapshot.name());
        spec["applyStrategy"] = apply_strategy();
        bindings::rollout_started(
            &mut binding,
            &run,
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
        let mut object = RunObject::new(&Scope::Cluster, name, &self.name, &self.name)
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
        let over = name == self.before() || self.stand == Stand::Over;
        let at_gate = !over && self.stand == Stand::Gate;
        let (at_stage, at) = self.stage_of(self.stuck[0]);
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
                let mut marks = Small::new(&mut cluster.conditions, 1, since);
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
                let mut marks = Small::new(&mut task.conditions, 1, now);
                if over || index < at || (index == at && !at_gate) {
                    marks.request_created();
                    marks.request_approved();
                } else if at_gate && index == at {
                    marks.request_created();
                }
            }
            let done = over || index < at;
            let mut marks = StageMarks::new(stage, 1, now);
            if started {
                marks.started();
            }
            if done {
                marks.succeeded();
            } else if at_gate {
                let message = "Not all before-stage tasks are completed, waiting for approval";
                marks.waiting(message);
            }
        }
        if over {
            if let Some(status) = &mut run.status.deletion_stage_status {
                let mut marks = StageMarks::new(status, 1, now);
                marks.started();
                marks.succeeded();
            }
            marks::run_succeeded(&mut run, now);
        } else if at_gate {
            marks::run_waiting(&mut run, "before", "rest", now);
        } else {
            let stuck: Vec<String> = self.stuck().map(str::to_owned).collect();
            if stuck.is_empty() {
                marks::run_progressing(&mut run, now);
            } else {
                marks::run_stuck(&mut run, &stuck, at_stage, now);
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

/// An approval that is asked for.
fn asked(run: &str, when: &str, stage: &str) -> Value {
    let name = format!("{run}-{when}-{stage}");
    let task = format!("{when}Stage");
    initialize::approval_request(&Scope::Cluster, run, stage, &name, &task)
}

/// An approval that was given and accepted.
fn approval(run: &str, when: &str, stage: &str, now: Timestamp) -> Value {
    let mut request = asked(run, when, stage);
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
    use super::super::objects::Placement;
    use super::*;
    use crate::standin::validate::{Position, validate};

    #[test]
    fn the_controller_would_go_on_with_the_run() {
        let plan = Plan::new("shop", 200, 10);
        let mut placement = Placement::new(&Scope::Cluster, "shop").build();
        placement["metadata"]["uid"] = json!("1");
        placement["metadata"]["generation"] = json!(1);
        let now = Timestamp::UNIX_EPOCH;
        let mut objects = plan.members(now);
        objects.extend(plan.objects(&placement, &plan.members(now), now));
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
            .get(Kind::ClusterStagedUpdateRun, "", "shop-2")
            .unwrap();
        let (position, targets) = validate(&Run::read(run), &world).unwrap();
        assert_eq!(position, Position::Stage(1));
        assert_eq!(targets.update.len(), 200);
        let before = world
            .get(Kind::ClusterStagedUpdateRun, "", "shop-1")
            .unwrap();
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
