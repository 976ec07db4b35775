//! What goes on: runs and approval requests that are followed, and a connection that may be away.

use std::time::{Duration, Instant};

use super::SourceReading;
use crate::error::Error;
use crate::hub::{HubError, Mirror, MirrorUpdate};
use crate::inventory::source::HubQuery;
use crate::kubefleet::Concept;

/// For how long what is not followed is taken as it was read.
const FRESH: Duration = Duration::from_secs(5);

impl SourceReading {
    /// From now on runs and approval requests are followed: whoever asks for them gets them as they
    /// are then.
    pub fn follow(&mut self) -> Result<(), Error> {
        let Some(hub) = self.hub() else {
            return Err(Error::usage("cannot follow files: they do not change"));
        };
        self.mirror = Some(hub.mirror());
        Ok(())
    }

    /// Waits until something changes that is followed, at most this long.
    pub fn wait(&mut self, limit: Duration) -> MirrorUpdate {
        let Some(mirror) = &mut self.mirror else {
            return MirrorUpdate::Quiet;
        };
        let news = mirror.wait(limit);
        self.now = self.clock.now();
        if self.read_at.elapsed() >= FRESH {
            self.forget();
            self.read_at = Instant::now();
        }
        news
    }

    /// Why the hub does not answer at the moment.
    pub fn away(&self) -> Option<String> {
        let mirror = self.mirror.as_ref()?;
        mirror.away().map(ToString::to_string)
    }

    /// Why nothing can be followed any more.
    pub(super) fn lost(&self) -> Option<&HubError> {
        self.mirror.as_ref().and_then(Mirror::lost)
    }

    /// Why a read beside what is followed failed for want of a connection. It may come back.
    pub fn take_lost(&mut self) -> Option<String> {
        if self.lost().is_some() {
            return None;
        }
        let error = self.hub()?.take_lost()?;
        self.forget();
        Some(error.to_string())
    }

    /// What answers the questions, where what they ask about is followed.
    pub(in crate::commands::gather) fn mirror(
        &mut self,
        queries: &[HubQuery],
    ) -> Option<&mut Mirror> {
        let concepts = [Concept::UpdateRun, Concept::ApprovalRequest];
        let mut queries = queries.iter();
        let followed = queries.all(|query| concepts.contains(&query.kind.concept()));
        self.mirror.as_mut().filter(|_| followed)
    }
}
