//! What is around a target: all of it, or what its state needs.

use jiff::{SignedDuration, Timestamp};

use super::{ReadingPlace, SourceReading};
use crate::diagnose;
use crate::error::Error;
use crate::inventory::source::{HubFacts, HubQuery, ObjectSource as _, Outcome, QueryAnswer};
use crate::inventory::{Inventory, Walk};
use crate::kubefleet::ObjectRef;
use crate::kubefleet::run::UpdateRun;
use crate::rollout;

/// After which time `status` asks whether the content of a run is still there.
const SETTLES_AFTER: SignedDuration = SignedDuration::from_mins(1);

impl SourceReading {
    /// Walks around a target and freezes what is known.
    pub fn inventory(&mut self, target: &ObjectRef) -> Result<Inventory, Error> {
        let walk = self.walk_whole(target)?;
        Ok(self.freeze(walk))
    }

    /// Walks around a target until what was read of its run goes together with the rest.
    pub fn walk_whole(&mut self, target: &ObjectRef) -> Result<Walk, Error> {
        let mut walk = self.walk(target);
        if self.is_torn(&walk) {
            // The run went on while it was looked at: what was read of it does not go together
            // with what was read after it. Once more is enough: it goes on every 15 s at most.
            if let Some(hub) = self.hub() {
                hub.forget();
            }
            walk = self.walk(target);
        }
        self.checked(walk, target)
    }

    /// What the state of a target needs, and nothing that would only explain it: fewer requests.
    /// It is not read twice: approvals and bindings that are newer than the run correct the
    /// verdict, they never contradict it.
    pub fn overview(&mut self, target: &ObjectRef) -> Result<Inventory, Error> {
        self.driven(Walk::shallow(target.clone()), target)
    }

    /// The same, and whether a run passes the check that a write makes the controller do at once.
    pub fn decision(&mut self, target: &ObjectRef) -> Result<Inventory, Error> {
        self.driven(Walk::to_decision(target.clone()).of_any_run(), target)
    }

    /// The state of a target, and whether what a person may do next helps.
    pub fn prospect(&mut self, target: &ObjectRef) -> Result<Inventory, Error> {
        let seen = self.overviews(std::slice::from_ref(target)).pop();
        seen.unwrap_or_else(|| self.overview(target))
    }

    /// The states of several targets, which are read together, and whether what a person may do next
    /// helps; of a single one also whether it passes its next check while it moves, and its content still
    /// exists. Each is an error by itself.
    pub fn overviews(&mut self, targets: &[ObjectRef]) -> Vec<Result<Inventory, Error>> {
        /// So many runs are looked at like one: what it takes is one request for each snapshot.
        const FEW: usize = 3;
        let is_few = targets.len() <= FEW || self.is_offline();
        let before = if self.hub().is_none() {
            Timestamp::MAX
        } else if is_few {
            // A snapshot is seldom gone before others had the time to come.
            self.now.checked_sub(SETTLES_AFTER).unwrap_or(self.now)
        } else {
            Timestamp::MIN
        };
        let walk = |target: &ObjectRef| Walk::to_content(target.clone(), before);
        let mut walks: Vec<_> = match targets {
            [one] => vec![walk(one).of_any_run()],
            several => several.iter().map(walk).collect(),
        };
        Walk::drive_all(&mut walks, self);
        let walks = walks.into_iter().zip(targets);
        let seen = walks.map(|(walk, target)| {
            let mut seen = self.seen(walk, target)?;
            if seen.waits() && (is_few || seen.may_fail_ahead()) {
                seen.texts = self.texts(&diagnose::texts(&seen));
            }
            Ok(seen)
        });
        seen.collect()
    }

    /// What the controller's next write depends on; what was read before is not read again.
    pub fn outlook(&mut self, target: &ObjectRef) -> Result<Inventory, Error> {
        self.driven(Walk::to_prediction(target.clone()), target)
    }

    /// Reads the content of a run with overrides or envelopes for clusters which it has still to reach.
    pub fn read_content_ahead(&mut self, inventory: &mut Inventory) {
        if inventory.may_fail_ahead() {
            inventory.texts = self.texts(&diagnose::texts(inventory));
        }
    }

    pub(in crate::commands) fn driven(
        &mut self,
        mut walk: Walk,
        target: &ObjectRef,
    ) -> Result<Inventory, Error> {
        walk.drive(self);
        self.seen(walk, target)
    }

    fn seen(&mut self, walk: Walk, target: &ObjectRef) -> Result<Inventory, Error> {
        let walk = self.checked(walk, target)?;
        let facts = self.hub_facts(walk.run().into_iter());
        Ok(Inventory::new(walk, self.now, facts))
    }

    /// Fails when the hub or the target itself could not be read.
    pub(in crate::commands::gather) fn checked(
        &self,
        walk: Walk,
        target: &ObjectRef,
    ) -> Result<Walk, Error> {
        self.no_hub()?;
        if let Some(answer) = walk.answer(&walk.target_query()) {
            self.readable(target, answer)?;
        }
        Ok(walk)
    }

    fn walk(&mut self, target: &ObjectRef) -> Walk {
        let mut walk = Walk::new(target.clone());
        walk.drive(self);
        walk
    }

    /// Whether the run changed while a live hub was read.
    fn is_torn(&mut self, walk: &Walk) -> bool {
        let (Some(hub), Some(run)) = (self.hub(), walk.run()) else {
            return false;
        };
        let query = HubQuery::named(run.object().kind, &run.meta.namespace, &run.meta.name);
        let now = hub.version_now(&query);
        now.is_some_and(|now| now != run.meta.resource_version) || walk.is_ahead_of_bindings()
    }

    /// What the hub's schema says, where the verdict about one of the runs depends on it.
    pub fn hub_facts<'r>(&mut self, mut runs: impl Iterator<Item = &'r UpdateRun>) -> HubFacts {
        match &mut self.place {
            ReadingPlace::Files(bundle) => bundle.hub.clone(),
            ReadingPlace::Hub(hub) => HubFacts {
                run_states: runs
                    .find(|run| rollout::depends_on_schema(run))
                    .and_then(|run| hub.run_states(run.object().kind).ok()),
            },
        }
    }

    /// Fails when the target itself could not be read, unless that was forbidden: then what else
    /// was read still says something.
    pub(in crate::commands::gather) fn readable(
        &self,
        target: &ObjectRef,
        answer: &QueryAnswer,
    ) -> Result<(), Error> {
        match (&self.place, &answer.outcome) {
            (ReadingPlace::Hub(_), Outcome::Failed(why)) if answer.objects.is_empty() => {
                Err(Error::failed(format!("{target} cannot be read: {why}"))
                    .hint("try again, with a longer --request-timeout if needed"))
            }
            _ => Ok(()),
        }
    }
}
