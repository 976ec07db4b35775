//! The objects of watched queries, as they are now.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::{Watch, WatchItem, WatchNews};
use crate::hub::error::HubError;
use crate::hub::request::bounds::TimeLimit;
use crate::hub::{BEAT, PATIENCE, describe, read::queries};
use crate::inventory::source::{HubQuery, ObjectSource, Outcome, QueryAnswer, QueryRound};
use crate::kubefleet::ObjectRef;
use crate::kubefleet::object::Object;

/// What belongs together comes together: the controllers write several objects in one go.
const TOGETHER: Duration = Duration::from_millis(40);
/// Changes that do not end are looked at all the same.
const AT_LAST: Duration = Duration::from_millis(400);

/// The objects of watched queries. It answers a walk like the hub itself: what is asked for the
/// first time is watched from then on.
pub struct Mirror {
    watch: Watch,
    held: BTreeMap<HubQuery, MirroredList>,
    /// Whether something changed that nobody was told yet.
    changed: bool,
    away: Option<HubError>,
    lost: Option<HubError>,
    interrupted: bool,
    /// Until when it is waited for the first list of a query.
    end: Option<TimeLimit>,
    late: bool,
}

struct MirroredList {
    objects: BTreeMap<ObjectRef, Object>,
    outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MirrorUpdate {
    /// Objects changed, or the hub went away, or came back.
    Changed,
    Quiet,
    Interrupted,
}

impl Mirror {
    pub const fn new(watch: Watch) -> Self {
        Self {
            watch,
            held: BTreeMap::new(),
            changed: false,
            away: None,
            lost: None,
            interrupted: false,
            end: None,
            late: false,
        }
    }

    /// Until when it is waited for what is asked for the first time.
    pub const fn end_at(&mut self, end: Option<TimeLimit>) {
        self.end = end;
    }

    pub const fn is_late(&self) -> bool {
        self.late
    }

    pub const fn away(&self) -> Option<&HubError> {
        self.away.as_ref()
    }

    /// Why nothing can be followed any more.
    pub const fn lost(&self) -> Option<&HubError> {
        self.lost.as_ref()
    }

    pub const fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    /// Waits until something happens, and takes in all that happened together.
    pub fn wait(&mut self, limit: Duration) -> MirrorUpdate {
        let begun = Instant::now();
        let mut first = self.changed.then_some(begun);
        loop {
            let patience = match first {
                Some(first) if first.elapsed() >= AT_LAST => break,
                Some(_) => TOGETHER,
                None => limit.saturating_sub(begun.elapsed()),
            };
            match self.watch.next(patience) {
                WatchItem::Event(query, what) => self.take(query, what),
                WatchItem::Quiet => break,
                WatchItem::Interrupted => {
                    self.interrupted = true;
                    return MirrorUpdate::Interrupted;
                }
            }
            if self.changed {
                first.get_or_insert_with(Instant::now);
            }
        }
        if std::mem::take(&mut self.changed) {
            MirrorUpdate::Changed
        } else {
            MirrorUpdate::Quiet
        }
    }

    /// Forgets the queries that are not wanted any more.
    pub fn keep(&mut self, wanted: impl Fn(&HubQuery) -> bool) {
        let watch = &mut self.watch;
        self.held.retain(|query, _| {
            let keep = wanted(query);
            if !keep {
                watch.remove(query);
            }
            keep
        });
    }

    fn take(&mut self, query: HubQuery, what: WatchNews) {
        match what {
            WatchNews::Listed(objects) => {
                let named = objects.into_iter().map(|it| (it.reference(), it));
                let held = MirroredList {
                    objects: named.collect(),
                    outcome: Outcome::Listed,
                };
                self.held.insert(query, held);
            }
            WatchNews::Changed(object) => {
                let Some(held) = self.held.get_mut(&query) else {
                    return;
                };
                held.objects.insert(object.reference(), object);
            }
            WatchNews::Deleted(name) => {
                let Some(held) = self.held.get_mut(&query) else {
                    return;
                };
                held.objects.remove(&name);
            }
            WatchNews::Away(error) => self.away = Some(error),
            WatchNews::Back => self.away = None,
            WatchNews::Ended(error) => {
                // What is not followed any more is not known any more.
                let QueryAnswer { outcome, .. } = queries::unanswered(&error);
                if matches!(outcome, Outcome::Failed(_)) {
                    self.lost.get_or_insert(error);
                }
                let held = MirroredList {
                    objects: BTreeMap::new(),
                    outcome,
                };
                self.held.insert(query, held);
            }
        }
        self.changed = true;
    }

    fn answer_one(&self, query: &HubQuery) -> QueryAnswer {
        self.held.get(query).map_or_else(
            || queries::unanswered(&HubError::Broken("the read was interrupted".to_owned())),
            |held| QueryAnswer {
                objects: held.objects.values().cloned().collect(),
                outcome: held.outcome.clone(),
            },
        )
    }
}

impl ObjectSource for Mirror {
    fn answer(&mut self, queries: &[HubQuery]) -> Vec<QueryAnswer> {
        let already = self.changed;
        for query in queries {
            if !self.held.contains_key(query) {
                self.watch.add(query.clone());
            }
        }
        let known = |held: &BTreeMap<HubQuery, MirroredList>| {
            queries.iter().all(|query| held.contains_key(query))
        };
        let mut others = false;
        let mut word = PATIENCE;
        while !known(&self.held) && !self.interrupted && !self.late {
            match self
                .watch
                .next(self.end.map_or(word, |end| end.left().min(word)))
            {
                WatchItem::Event(query, what) => {
                    others |= !matches!(what, WatchNews::Listed(_));
                    self.take(query, what);
                }
                WatchItem::Quiet => {
                    self.late = self.end.is_some_and(|end| end.left().is_zero());
                    word = BEAT;
                    self.watch.say(Some(&describe(queries)));
                }
                WatchItem::Interrupted => self.interrupted = true,
            }
        }
        if word == BEAT {
            self.watch.say(None);
        }
        // Whoever asks gets what was listed; it is no news on top of that.
        self.changed = already || others;
        queries.iter().map(|query| self.answer_one(query)).collect()
    }

    fn answer_many(&mut self, rounds: &[QueryRound]) -> Vec<Vec<QueryAnswer>> {
        let queries = rounds.iter().flat_map(|round| &round.queries);
        let queries: Vec<_> = queries.cloned().collect();
        let mut answers = self.answer(&queries).into_iter();
        let rounds = rounds.iter();
        rounds
            .map(|round| answers.by_ref().take(round.queries.len()).collect())
            .collect()
    }
}
