//! Member clusters: joining the fleet, heartbeats, and applying Works.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::agent;
use super::api::{Answer, Api, Failure};
use super::conditions::{self, Condition, stamp};
use super::control::{Context, each};
use super::kinds::Kind;
use super::names;
use super::object::Object;
use super::timing::Timing;
use super::trouble::{TROUBLE, Trouble};
use super::world::World;

/// What is wrong with which cluster.
pub(crate) type Troubles = BTreeMap<String, Trouble>;

/// When each member cluster has sent its last heartbeat.
type Beats = BTreeMap<String, Instant>;

/// What is known of one generation of a Work.
struct Seen {
    /// When it was first seen.
    at: Instant,
    /// In which state nothing was left to report.
    rested: Option<State>,
}

impl Seen {
    fn now() -> Self {
        Self {
            at: Instant::now(),
            rested: None,
        }
    }
}

/// What a report on a Work depends on, but for the time.
#[derive(PartialEq, Eq)]
struct State {
    version: String,
    trouble: Option<Trouble>,
}

/// Keeps every member cluster and the status of its Works as they should be.
pub(crate) async fn control(mut context: Context) {
    let mut beats = Beats::new();
    // By UID and generation.
    let mut works: BTreeMap<(String, i64), Seen> = BTreeMap::new();
    loop {
        let (api, timing, world) = (&context.api, &context.timing, context.api.world());
        let troubles = troubles(&world, &context.shared.troubles());
        let steps = world.all(Kind::MemberCluster).map(|member| {
            let gone = troubles.get(member.name()) == Some(&Trouble::Gone);
            let last = beats.get(member.name()).copied().filter(|_| !gone);
            let world = &world;
            async move {
                let beat = live(api, timing, world, member.clone(), gone, last).await?;
                Ok((member.name().to_owned(), beat))
            }
        });
        let (alive, mut errors) = each(steps).await;
        // Who could not be written to sends its heartbeat again.
        beats = Beats::new();
        let mut due = Vec::new();
        for (name, beat) in alive {
            if let Some((last, next)) = beat {
                beats.insert(name, last);
                due.push(next);
            }
        }
        let now_seen: BTreeMap<_, _> = world
            .all(Kind::Work)
            .map(|work| {
                let key = (work.uid().to_owned(), work.generation());
                let seen = works.remove(&key).unwrap_or_else(Seen::now);
                (key, seen)
            })
            .collect();
        works = now_seen;
        let steps = world.all(Kind::Work).filter_map(|work| {
            let key = (work.uid().to_owned(), work.generation());
            let seen = works.get(&key)?;
            let cluster = work
                .namespace()
                .strip_prefix("fleet-member-")
                .unwrap_or_default();
            let state = State {
                version: work.text("/metadata/resourceVersion").to_owned(),
                trouble: troubles.get(cluster).cloned(),
            };
            if seen.rested.as_ref() == Some(&state) {
                return None;
            }
            let at = seen.at;
            Some(async move {
                let due = report(api, timing, work.clone(), state.trouble.as_ref(), at).await?;
                Ok((key, state, due))
            })
        });
        let (reports, more) = each(steps).await;
        errors.extend(more);
        for (key, state, next) in reports {
            due.extend(next);
            if next.is_none()
                && let Some(seen) = works.get_mut(&key)
            {
                seen.rested = Some(state);
            }
        }
        context.rest(due.into_iter().min(), errors).await;
    }
}

/// What was asked for stands above the annotations.
fn troubles(world: &World, asked: &Troubles) -> Troubles {
    let annotated = world.all(Kind::MemberCluster).filter_map(|member| {
        let trouble = Trouble::parse(member.annotation(TROUBLE))?;
        Some((member.name().to_owned(), trouble))
    });
    let mut all: Troubles = annotated.collect();
    all.extend(asked.clone());
    all
}

/// Lets a member cluster join, report, and leave. Gives back its last heartbeat and when the next
/// one is due; nothing for one that is silent.
#[allow(clippy::too_many_arguments)] // each is another thing
async fn live(
    api: &Api,
    timing: &Timing,
    world: &World,
    mut member: Value,
    gone: bool,
    last: Option<Instant>,
) -> Answer<Option<(Instant, Instant)>> {
    let name = member.name().to_owned();
    if member.deleting() {
        return leave(api, world, member).await.map(|()| None);
    }
    let space = names::member_namespace(&name);
    if world.get(Kind::Namespace, "", &space).is_none() {
        let namespace = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space},
        });
        match api.create(Kind::Namespace, &namespace).await {
            Ok(_) | Err(Failure::Conflict) => {}
            Err(failure) => return Err(failure),
        }
    }
    if !member.has_finalizer(names::MEMBER_FINALIZER) || member.label(names::MEMBER_NAME) != name {
        member.add_finalizer(names::MEMBER_FINALIZER);
        member.put(&["metadata", "labels", names::MEMBER_NAME], json!(name));
        member = api.update(Kind::MemberCluster, &member).await?;
    }
    if gone {
        return Ok(None);
    }
    let period = member
        .number("/spec/heartbeatPeriodSeconds")
        .and_then(|seconds| u64::try_from(seconds).ok())
        .map_or(Duration::from_mins(1), Duration::from_secs)
        .min(timing.heartbeat);
    if let Some(last) = last.filter(|last| *last + period > Instant::now()) {
        return Ok(Some((last, last + period)));
    }
    member["status"] = alive(&member, Timestamp::now());
    api.update_status(Kind::MemberCluster, &member).await?;
    let now = Instant::now();
    Ok(Some((now, now + period)))
}

/// The status of a member cluster that has just reported.
pub(crate) fn alive(member: &Value, now: Timestamp) -> Value {
    let generation = member.generation();
    let set = |mut list: Vec<Condition>, kinds: &[(&str, &str, &str)]| {
        for (kind, reason, message) in kinds {
            let condition = Condition::new(kind, ("True", reason, message), generation);
            conditions::set(&mut list, condition, now);
        }
        list
    };
    let joined = set(
        conditions::of_status(member),
        &[
            (
                "ReadyToJoin",
                "MemberClusterReadyToJoin",
                "Member cluster is ready to join the fleet",
            ),
            (
                "Joined",
                "MemberClusterJoined",
                "Member cluster has successfully joined the fleet",
            ),
        ],
    );
    let agent = set(
        conditions::of(member, "/status/agentStatus/0/conditions"),
        &[
            ("Healthy", "InternalMemberClusterHealthy", ""),
            ("Joined", "InternalMemberClusterJoined", ""),
        ],
    );
    let seen = stamp(now);
    let amounts = json!({"cpu": "8", "memory": "32Gi"});
    json!({
        "conditions": joined,
        "agentStatus": [{
            "type": "MemberAgent",
            "conditions": agent,
            "lastReceivedHeartbeat": seen,
        }],
        "properties": {
            "kubernetes-fleet.io/node-count": {"value": "2", "observationTime": seen},
        },
        "resourceUsage": {
            "allocatable": amounts,
            "available": amounts,
            "capacity": amounts,
            "observationTime": seen,
        },
    })
}

/// Makes a member cluster look as if it had been silent for a while already.
pub(crate) async fn silence(api: &Api, cluster: &str, since: Duration) -> Answer<()> {
    let mut member = api.get(Kind::MemberCluster, "", cluster).await?;
    let last = SignedDuration::try_from(since)
        .ok()
        .and_then(|since| Timestamp::now().checked_sub(since).ok())
        .unwrap_or_else(Timestamp::now);
    if let Some(agent) = member.pointer_mut("/status/agentStatus/0") {
        agent["lastReceivedHeartbeat"] = json!(stamp(last));
        api.update_status(Kind::MemberCluster, &member).await?;
    }
    Ok(())
}

// The Works go with the cluster. The namespace stays: on a hub without a controller manager
// nobody would finish its deletion.
async fn leave(api: &Api, world: &World, mut member: Value) -> Answer<()> {
    let space = names::member_namespace(member.name());
    for work in world
        .all(Kind::Work)
        .filter(|work| work.namespace() == space)
    {
        if !work.deleting() {
            api.delete(Kind::Work, work).await?;
        }
    }
    member.drop_finalizer(names::MEMBER_FINALIZER);
    api.let_go(Kind::MemberCluster, &member).await
}

/// What a member agent does about one Work.
async fn report(
    api: &Api,
    timing: &Timing,
    mut work: Value,
    trouble: Option<&Trouble>,
    seen: Instant,
) -> Answer<Option<Instant>> {
    if trouble == Some(&Trouble::Gone) {
        return Ok(None);
    }
    if work.deleting() {
        work.drop_finalizer(names::WORK_FINALIZER);
        api.let_go(Kind::Work, &work).await?;
        return Ok(None);
    }
    let applied = seen + timing.apply;
    if applied > Instant::now() {
        return Ok(Some(applied));
    }
    let slow = match trouble {
        Some(Trouble::Slow(time)) => Some(applied + *time),
        _ => None,
    };
    let over = slow.is_some_and(|at| at <= Instant::now());
    let trouble = trouble.filter(|_| !over);
    let status = agent::report(&work, trouble, Timestamp::now());
    if work.get("status") != Some(&status) {
        work["status"] = status;
        api.update_status(Kind::Work, &work).await?;
    }
    Ok(slow.filter(|_| !over))
}
