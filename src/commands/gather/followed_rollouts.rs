//! Rollouts that are followed: their states are worked out anew from what the hub tells.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::commands::gather::hubs::{FollowedHubs, FollowsHub, HubAnswer, HubNews};
use crate::commands::gather::names::label;
use crate::commands::gather::reading::SourceReading;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::{HubError, Mirror, MirrorUpdate, TimeLimit};
use crate::inventory::source::Outcome;
use crate::inventory::{Inventory, Walk};
use crate::kubefleet::ObjectRef;
use crate::report::Verdict;
use crate::words::Hint;

/// How often timers are looked at.
const TICK: Duration = Duration::from_secs(1);

/// For how long counts what was read beside what is watched.
const SETTLED_FOR: Duration = Duration::from_mins(1);

/// Rollouts that are followed on a live hub, over one mirror: what several of them ask for is watched
/// once.
pub(in crate::commands) struct FollowedRollouts<'r> {
    reading: &'r mut SourceReading,
    mirror: Mirror,
    targets: Vec<FollowedTarget>,
    with_ends: bool,
    with_prospects: bool,
    has_begun: bool,
}

struct FollowedTarget {
    object: ObjectRef,
    /// The object that was first seen under the target's name.
    uid: Option<String>,
    settled: Option<SettledRollout>,
}

/// A rollout that waits for a person, with what decides whether letting it continue helps: that is read
/// beside what is watched.
struct SettledRollout {
    verdict: Verdict,
    read_at: Instant,
    inventory: Option<Inventory>,
}

pub(in crate::commands) enum RolloutNow {
    State(Box<Status>),
    Gone(Error),
    Denied(Error),
}

impl RolloutNow {
    /// The same on one of several hubs.
    fn on_hub(self, context: &str) -> Self {
        match self {
            Self::State(status) => Self::State(Box::new(status.on_hub(context))),
            Self::Gone(error) => Self::Gone(error.on_hub(context)),
            Self::Denied(error) => Self::Denied(error.on_hub(context)),
        }
    }
}

/// What is seen of each rollout, in the order in which they were named.
pub(in crate::commands) type FollowedStates = Vec<(ObjectRef, RolloutNow)>;

/// A rollout that is followed, on one of several hubs or on one, and what is known of it.
pub(in crate::commands) struct FollowedRollout<E> {
    pub hub: Option<String>,
    pub object: ObjectRef,
    /// Its state: the last, or that with which it ended.
    pub last: Option<Box<Status>>,
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
    pub(in crate::commands) fn new(
        reading: &'r mut SourceReading,
        targets: impl IntoIterator<Item = ObjectRef>,
    ) -> Result<Self, Error> {
        let Some(hub) = reading.hub() else {
            return Err(Error::usage("cannot follow files: they do not change"));
        };
        let mirror = hub.mirror();
        let targets = targets.into_iter();
        Ok(Self {
            reading,
            mirror,
            targets: targets
                .map(|object| FollowedTarget {
                    object,
                    uid: None,
                    settled: None,
                })
                .collect(),
            with_ends: false,
            with_prospects: true,
            has_begun: false,
        })
    }

    /// Tells with each state when the stages end, or does not: only what shows it needs it.
    pub(in crate::commands) const fn with_ends(mut self, with_ends: bool) -> Self {
        self.with_ends = with_ends;
        self
    }

    /// Whether to read also what decides whether letting a rollout continue helps, where it waits for a person.
    pub(in crate::commands) const fn with_prospects(mut self, with_prospects: bool) -> Self {
        self.with_prospects = with_prospects;
        self
    }

    /// Takes the targets for gone when their uid is another.
    pub(in crate::commands) fn expect(&mut self, uid: &str) {
        for target in &mut self.targets {
            target.uid = (!uid.is_empty()).then(|| uid.to_owned());
        }
    }

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
            let now = target.unseen(&walk).unwrap_or_else(|| {
                let facts = self.reading.hub_facts(walk.run().into_iter());
                let inventory = Inventory::new(walk, self.reading.clock.now(), facts);
                let mut status = status_of(&inventory, self.with_ends);
                if self.with_prospects {
                    let moment = (inventory.now, self.with_ends);
                    status = target.hindered(status, moment, self.reading);
                }
                RolloutNow::State(Box::new(status))
            });
            let now = match &self.reading.one_of_several {
                Some(context) => now.on_hub(context),
                None => now,
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
        self.reading.take_absent()
    }

    fn end_at(&mut self, end: Option<TimeLimit>) {
        self.mirror.end_at(end);
        if let Some(hub) = self.reading.hub() {
            hub.end_at(end);
        }
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

    /// Its state, where that waits for a person: whether letting it continue helps.
    fn hindered(
        &mut self,
        status: Status,
        (now, with_ends): (Timestamp, bool),
        reading: &mut SourceReading,
    ) -> Status {
        let settled = self.settled(&status, reading).map(|seen| {
            seen.now = now;
            status_of(seen, with_ends)
        });
        let is_same = |it: &Status| it.is_hindered && it.verdict == status.verdict;
        settled.filter(is_same).unwrap_or(status)
    }

    /// What was read beside what is watched, once more after a while. `None` where the rollout does not wait
    /// for a person, or where that could not be read.
    fn settled(&mut self, status: &Status, reading: &mut SourceReading) -> Option<&mut Inventory> {
        let rests = status.verdict.waits_for_person();
        let lasts = |it: &SettledRollout| {
            it.verdict == status.verdict && it.read_at.elapsed() < SETTLED_FOR
        };
        self.settled = self.settled.take().filter(|it| rests && lasts(it));
        if rests && self.settled.is_none() {
            reading.renew();
            let inventory = reading.prospect(&self.object).ok();
            // It is read again later; what is watched tells whether the hub is there.
            reading.take_lost();
            self.settled = Some(SettledRollout {
                verdict: status.verdict,
                read_at: Instant::now(),
                inventory,
            });
        }
        self.settled.as_mut()?.inventory.as_mut()
    }

    /// That it was deleted while it was followed, or never was there.
    fn gone(&self) -> Error {
        Error::not_found(match self.uid {
            Some(_) => format!("{} was deleted", self.object),
            None => format!("{} does not exist on the hub", self.object),
        })
    }

    fn denied(&self, words: &str) -> Error {
        let why = format!("{} cannot be followed: {words}", self.object);
        Error::new(Exit::Incomplete, why).hint(
            Hint::new("following needs the verbs list and watch; check your permission:")
                .command(self.object.can_i("watch")),
        )
    }
}

fn status_of(inventory: &Inventory, with_ends: bool) -> Status {
    if with_ends {
        Status::with_ends(inventory)
    } else {
        Status::new(inventory)
    }
}
