//! Rollouts that are followed: their states are worked out anew from what the hub tells.

use std::time::Duration;

use crate::commands::gather::hubs::{FollowedHubs, FollowsHub, HubAnswer, HubNews};
use crate::commands::gather::names::label;
use crate::commands::gather::reading::SourceReading;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::{CommandClock, Hub, HubError, Mirror, MirrorUpdate, TimeLimit};
use crate::inventory::source::{HubFacts, Outcome};
use crate::inventory::{Inventory, Walk};
use crate::kubefleet::ObjectRef;
use crate::rollout;
use crate::words::Hint;

/// How often timers are looked at.
const TICK: Duration = Duration::from_secs(1);

/// Rollouts that are followed on a live hub, over one mirror: what several of them ask for is watched
/// once.
pub(in crate::commands) struct FollowedRollouts<'r> {
    hub: &'r mut Hub,
    mirror: Mirror,
    targets: Vec<FollowedTarget>,
    /// The hub's context, where other hubs are followed too.
    context: Option<String>,
    absent: Vec<(String, Error)>,
    clock: CommandClock,
    with_ends: bool,
    has_begun: bool,
}

struct FollowedTarget {
    object: ObjectRef,
    /// The object that was first seen under the target's name.
    uid: Option<String>,
}

/// What is seen of a rollout.
pub(in crate::commands) enum RolloutNow {
    State(Box<Status>),
    /// The target was deleted, or never was there.
    Gone(Error),
    /// It may not be followed.
    Denied(Error),
}

/// What is seen of each rollout, in the order in which they were named.
pub(in crate::commands) type FollowedStates = Vec<(ObjectRef, RolloutNow)>;

/// A rollout that is followed, on one of several hubs or on one, and what is known of it.
pub(in crate::commands) struct FollowedRollout<E> {
    /// Its hub, where there are several.
    pub hub: Option<String>,
    pub object: ObjectRef,
    /// Its state: the last, or that with which it ended.
    pub last: Option<Box<Status>>,
    /// How it ended.
    pub end: Option<E>,
    /// The place of its hub among the hubs, and its own among the rollouts there.
    place: (usize, usize),
}

impl<E> FollowedRollout<E> {
    /// Those of a hub, each with its label where there are others, and with what the hub shows of it.
    /// What is shown for the first time is added in its place.
    pub(in crate::commands) fn of_hub<'a>(
        all: &'a mut Vec<Self>,
        shown: HubAnswer<FollowedStates>,
        hubs: &FollowedHubs<'_, FollowedStates>,
    ) -> impl Iterator<Item = (&'a mut Self, Option<String>, RolloutNow)> + use<'a, E> {
        let hub = hubs.place(shown.hub.as_deref());
        let found = all.binary_search_by_key(&(hub, 0), |rollout| rollout.place);
        let at = found.unwrap_or_else(|at| {
            let new = shown.found.iter().enumerate();
            let new = new.map(|(place, (object, _))| Self {
                hub: shown.hub.clone(),
                object: object.clone(),
                last: None,
                end: None,
                place: (hub, place),
            });
            all.splice(at..at, new);
            at
        });
        let labels: Vec<_> = all.iter().map(|it| it.label_in(all, hubs)).collect();
        let own = all.iter_mut().zip(labels).skip(at);
        let own = own.zip(shown.found);
        own.map(|((rollout, label), (_, now))| (rollout, label, now))
    }

    /// What tells it from the others.
    pub(in crate::commands) fn label(&self, among: &[Self]) -> String {
        let others = among.iter().filter(|other| other.hub == self.hub);
        let others = others.map(|other| &other.object);
        label(self.hub.as_deref(), &self.object, others)
    }

    /// The same, where there are others.
    pub(in crate::commands) fn label_in(
        &self,
        among: &[Self],
        hubs: &FollowedHubs<'_, FollowedStates>,
    ) -> Option<String> {
        (among.len() > 1 || hubs.is_several()).then(|| self.label(among))
    }
}

impl<'r> FollowedRollouts<'r> {
    /// Follows runs or placements of the hub that is read.
    pub(in crate::commands) fn new(
        reading: &'r mut SourceReading,
        targets: impl IntoIterator<Item = ObjectRef>,
    ) -> Result<Self, Error> {
        let clock = reading.clock.clone();
        let absent = reading.take_absent();
        let context = reading.one_of_several.clone();
        let Some(hub) = reading.hub() else {
            return Err(Error::usage("cannot follow files: they do not change"));
        };
        let mirror = Mirror::new(hub.watch([]));
        let targets = targets.into_iter();
        Ok(Self {
            hub,
            mirror,
            targets: targets
                .map(|object| FollowedTarget { object, uid: None })
                .collect(),
            context,
            absent,
            clock,
            with_ends: false,
            has_begun: false,
        })
    }

    /// Tells with each state when the stages end, or does not: only what shows it needs it.
    pub(in crate::commands) const fn with_ends(mut self, with_ends: bool) -> Self {
        self.with_ends = with_ends;
        self
    }

    /// Takes the targets for gone when their uid is another.
    pub(in crate::commands) fn expect(&mut self, uid: &str) {
        for target in &mut self.targets {
            target.uid = (!uid.is_empty()).then(|| uid.to_owned());
        }
    }

    /// The states at this moment.
    fn look(&mut self) -> HubNews<FollowedStates> {
        let targets = self.targets.iter();
        let walks = targets.map(|target| Walk::shallow(target.object.clone()));
        let mut walks: Vec<_> = walks.collect();
        Walk::drive_all(&mut walks, &mut self.mirror);
        if self.mirror.is_interrupted() {
            return HubNews::Interrupted;
        }
        if self.mirror.is_late() {
            return HubNews::Late;
        }
        if let Some(error) = self.mirror.lost() {
            return HubNews::Ended(error.clone().into());
        }
        self.mirror
            .keep(|query| walks.iter().any(|walk| walk.answer(query).is_some()));
        let mut seen = FollowedStates::new();
        for (target, walk) in self.targets.iter_mut().zip(walks) {
            let now = match (target.unseen(&walk), &self.context) {
                (Some(RolloutNow::Gone(error)), Some(context)) => {
                    RolloutNow::Gone(error.on_hub(context))
                }
                (Some(RolloutNow::Denied(error)), Some(context)) => {
                    RolloutNow::Denied(error.on_hub(context))
                }
                (Some(now), _) => now,
                (None, context) => {
                    let facts = facts(self.hub, &walk);
                    let inventory = Inventory::new(walk, self.clock.now(), facts);
                    let status = if self.with_ends {
                        Status::with_ends(&inventory)
                    } else {
                        Status::new(&inventory)
                    };
                    RolloutNow::State(Box::new(match context {
                        Some(context) => status.on_hub(context),
                        None => status,
                    }))
                }
            };
            seen.push((target.object.clone(), now));
        }
        HubNews::Now(seen, self.mirror.away().map(ToString::to_string))
    }
}

impl FollowsHub<FollowedStates> for FollowedRollouts<'_> {
    fn tick(&self) -> Duration {
        TICK
    }

    fn next(&mut self, limit: Duration) -> HubNews<FollowedStates> {
        let was_seen = std::mem::replace(&mut self.has_begun, true);
        if was_seen && self.mirror.wait(limit) == MirrorUpdate::Interrupted {
            return HubNews::Interrupted;
        }
        self.look()
    }

    fn absent(&mut self) -> Vec<(String, Error)> {
        std::mem::take(&mut self.absent)
    }

    fn end_at(&mut self, end: Option<TimeLimit>) {
        self.mirror.end_at(end);
        self.hub.end_at(end);
    }
}

impl FollowedTarget {
    /// Why a walk does not tell its state.
    fn unseen(&mut self, walk: &Walk) -> Option<RolloutNow> {
        let answer = walk.answer(&walk.target_query());
        let found = answer.and_then(|answer| answer.objects.first());
        match (found, answer.map(|answer| &answer.outcome)) {
            (None, Some(Outcome::Listed)) => Some(RolloutNow::Gone(self.gone())),
            (None, Some(Outcome::Denied(words))) => Some(RolloutNow::Denied(self.denied(words))),
            (None, Some(Outcome::NotServed)) => {
                let error = HubError::NotServed(self.object.kind);
                Some(RolloutNow::Denied(error.into()))
            }
            (Some(object), _) => {
                let uid = &object.body.meta().uid;
                let is_other = self.uid.get_or_insert_with(|| uid.clone()) != uid;
                is_other.then(|| RolloutNow::Gone(self.gone()))
            }
            (None, _) => None,
        }
    }

    /// That it was deleted while it was followed, or never was there.
    fn gone(&self) -> Error {
        Error::not_found(match self.uid {
            Some(_) => format!("{} was deleted", self.object),
            None => format!("{} does not exist on the hub", self.object),
        })
    }

    fn denied(&self, words: &str) -> Error {
        Error {
            exit: Exit::Incomplete,
            ..Error::failed(format!("{} cannot be followed: {words}", self.object))
        }
        .hint(
            Hint::new("following needs the verbs list and watch; check your permission:")
                .command(self.object.can_i("watch")),
        )
    }
}

/// What the hub's schema says, where a verdict depends on it.
fn facts(hub: &mut Hub, walk: &Walk) -> HubFacts {
    let run = walk.run().filter(|run| rollout::depends_on_schema(run));
    HubFacts {
        run_states: run.and_then(|run| hub.run_states(run.object().kind).ok()),
    }
}
