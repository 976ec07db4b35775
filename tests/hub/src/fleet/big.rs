//! Large fleets, written straight to the hub with their statuses, as KubeFleet would have left
//! them: for measurements, without waiting for a rollout over a thousand clusters.

use std::collections::BTreeMap;

use futures::StreamExt;
use futures::stream;
use jiff::Timestamp;
use serde_json::Value;

use super::objects::{Placement, namespace};
use super::plan::{Plan, Stand, content};
use super::{Done, Fleet, explain};
use crate::path_of;
use crate::standin::{Object, Scope, names};

/// So many requests are under way at once.
const PARALLEL: usize = 24;
/// The placement, its namespace and its strategy.
const NAME: &str = "checkout";

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
        for object in content(NAME) {
            self.create(&object).await?;
        }
        let plan = Plan::new(NAME, clusters, stuck);
        self.spaces(&plan).await?;
        self.fill(|now| plan.members(now)).await?;
        self.place(&plan).await?;
        Ok(Big {
            placement: NAME.to_owned(),
            run: plan.current(),
            stuck: plan.stuck().map(str::to_owned).collect(),
        })
    }

    /// Fills an empty hub with so many member clusters and placements on all of them, each with a
    /// run: of ten, two are stuck on two clusters, one waits for an approval, three are over, and
    /// the others are under way. No controller may be at work there.
    pub async fn busy(&self, placements: usize, clusters: usize) -> Done<()> {
        let healthy = Plan::new(NAME, clusters, 0);
        self.spaces(&healthy).await?;
        self.fill(|now| healthy.members(now)).await?;
        for number in 0..placements {
            let name = format!("placement-{number:04}");
            let plan = match number % 10 {
                0 | 5 => Plan::new(&name, clusters, 2).alone(Stand::Under),
                1 => Plan::new(&name, clusters, 0).alone(Stand::Gate),
                2..=4 => Plan::new(&name, clusters, 0).alone(Stand::Over),
                _ => Plan::new(&name, clusters, 0).alone(Stand::Under),
            };
            self.place(&plan).await?;
        }
        Ok(())
    }

    async fn spaces(&self, plan: &Plan) -> Done<()> {
        let names = plan.members.iter();
        let spaces = names.map(|name| namespace(&names::member_namespace(name)));
        self.each(spaces.collect(), Write::Create).await?;
        Ok(())
    }

    /// A placement and what belongs to it.
    async fn place(&self, plan: &Plan) -> Done<()> {
        let mut placement = Placement::new(&Scope::Cluster, &plan.name).build();
        placement.add_finalizer(names::PLACEMENT_FINALIZER);
        placement.add_finalizer(names::PLACEMENT_SCHEDULER_FINALIZER);
        let placement = self.create(&placement).await?;
        self.fill(|now| plan.objects(&placement, &plan.members(now), now))
            .await
    }

    /// Creates objects that are not there yet, and gives those a status that have one. Times of a
    /// status come after the creation, which takes its time: hence they are made twice.
    async fn fill(&self, objects: impl Fn(Timestamp) -> Vec<Value>) -> Done<()> {
        let is_there = |object: &Value| !object["metadata"]["uid"].is_null();
        let (there, new): (Vec<_>, Vec<_>) =
            objects(Timestamp::now()).into_iter().partition(is_there);
        let created = self.each(new, Write::Create).await?;
        let mut versions: BTreeMap<_, _> = created
            .into_iter()
            .chain(there)
            .map(|object| (key(&object), object["metadata"].clone()))
            .collect();
        let mut objects = objects(Timestamp::now());
        objects.retain(|object| object.get("status").is_some());
        for object in &mut objects {
            if let Some(metadata) = versions.remove(&key(object)) {
                object["metadata"] = metadata;
            }
        }
        self.each(objects, Write::Status).await?;
        Ok(())
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
