//! A rollout that is followed: its state is worked out anew from what the hub tells.

use std::time::Duration;

use jiff::Timestamp;

use crate::commands::open::reading::Reading;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::{Hub, HubError, Mirror, News, TimeLimit};
use crate::inventory::source::{HubFacts, Outcome};
use crate::inventory::{Inventory, Walk};
use crate::kubefleet::{Kind, ObjectRef};
use crate::rollout;
use crate::words::Hint;

/// A rollout that is followed on a live hub.
pub(in crate::commands) struct Following<'r> {
    hub: &'r mut Hub,
    mirror: Mirror,
    target: ObjectRef,
    /// The object that was first seen under the target's name.
    uid: Option<String>,
    /// What the hub's schema says, once someone had to look.
    states: Option<(Kind, Option<Vec<String>>)>,
    clock: fn() -> Timestamp,
}

/// What a look brought.
pub(in crate::commands) enum Followed {
    State(Box<Status>),
    /// The target was deleted.
    Gone,
    /// The user wants it to end.
    Interrupted,
    /// The hub did not say it in time.
    Late,
}

impl<'r> Following<'r> {
    /// Follows a run or placement of the hub that is read.
    pub(in crate::commands) fn new(
        reading: &'r mut Reading,
        target: ObjectRef,
    ) -> Result<Self, Error> {
        let clock = reading.clock;
        let Some(hub) = reading.hub() else {
            return Err(Error::usage("cannot follow files: they do not change"));
        };
        let mirror = Mirror::new(hub.watch([]));
        Ok(Self {
            hub,
            mirror,
            target,
            uid: None,
            states: None,
            clock,
        })
    }

    /// Takes the target for gone when its uid is another.
    pub(in crate::commands) fn expect(&mut self, uid: &str) {
        self.uid = (!uid.is_empty()).then(|| uid.to_owned());
    }

    /// Until when it is waited for what the hub has to say; `None` for as long as its requests may
    /// take.
    pub(in crate::commands) fn end_at(&mut self, end: Option<TimeLimit>) {
        self.mirror.end_at(end);
        self.hub.end_at(end);
    }

    /// The state at this moment.
    pub(in crate::commands) fn look(&mut self) -> Result<Followed, Error> {
        let mut walk = Walk::shallow(self.target.clone());
        walk.drive(&mut self.mirror);
        if self.mirror.is_interrupted() {
            return Ok(Followed::Interrupted);
        }
        if self.mirror.is_late() {
            return Ok(Followed::Late);
        }
        if let Some(error) = self.mirror.lost() {
            return Err(error.clone().into());
        }
        self.mirror.keep(|query| walk.answer(query).is_some());
        let target = walk.answer(&walk.target_query());
        let found = target.and_then(|answer| answer.objects.first());
        match (found, target.map(|answer| &answer.outcome)) {
            (None, Some(Outcome::Listed)) => return Ok(Followed::Gone),
            (None, Some(Outcome::Denied(words))) => return Err(self.denied(words)),
            (None, Some(Outcome::NotServed)) => {
                return Err(HubError::NotServed(self.target.kind).into());
            }
            (Some(object), _) => {
                let uid = &object.body.meta().uid;
                if self.uid.get_or_insert_with(|| uid.clone()) != uid {
                    return Ok(Followed::Gone);
                }
            }
            (None, _) => {}
        }
        let facts = self.facts(&walk);
        let inventory = Inventory::new(walk, (self.clock)(), facts);
        Ok(Followed::State(Box::new(Status::new(&inventory))))
    }

    /// Waits until something changes, at most this long.
    pub(in crate::commands) fn wait(&mut self, limit: Duration) -> News {
        self.mirror.wait(limit)
    }

    /// Why the hub does not answer at the moment.
    pub(in crate::commands) const fn away(&self) -> Option<&HubError> {
        self.mirror.away()
    }

    /// That the target was deleted while it was followed, or never was there.
    pub(in crate::commands) fn gone(&self) -> Error {
        Error::not_found(match self.uid {
            Some(_) => format!("{} was deleted", self.target),
            None => format!("{} does not exist on the hub", self.target),
        })
    }

    /// What the hub's schema says, where a verdict depends on it.
    fn facts(&mut self, walk: &Walk) -> HubFacts {
        let kind = walk
            .run()
            .filter(|run| rollout::depends_on_schema(run))
            .map(|run| run.object().kind);
        let run_states = kind.and_then(|kind| {
            if self.states.as_ref().is_none_or(|(known, _)| *known != kind) {
                self.states = Some((kind, self.hub.run_states(kind).ok()));
            }
            let (_, states) = self.states.as_ref()?;
            states.clone()
        });
        HubFacts { run_states }
    }

    fn denied(&self, words: &str) -> Error {
        Error {
            exit: Exit::Incomplete,
            ..Error::failed(format!("{} cannot be followed: {words}", self.target))
        }
        .hint(
            Hint::new("following needs the verbs list and watch; check your permission:")
                .command(self.target.can_i("watch")),
        )
    }
}
