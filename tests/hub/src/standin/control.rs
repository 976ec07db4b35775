//! What the controllers have in common: they look at everything, rest until something changes or
//! is due, and look again.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{StreamExt, stream};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::api::{Answer, Api, Failure};
use super::kinds::{Kind, Scope};
use super::members::Troubles;
use super::object::Object;
use super::timing::Timing;
use super::world::World;

/// Changes come in bursts; they are looked at together.
const BURST: Duration = Duration::from_millis(20);
/// After an error everything is looked at again.
const PAUSE: Duration = Duration::from_millis(500);
/// Everything is looked at again after this long, should a change have been missed.
const IDLE: Duration = Duration::from_secs(10);
/// So many objects are worked on at once.
const PARALLEL: usize = 8;
/// How many of the last errors are kept.
const ERRORS: usize = 50;

/// What the handle and the controllers share.
#[derive(Default)]
pub(crate) struct Shared {
    troubles: Mutex<Troubles>,
    errors: Mutex<Vec<String>>,
}

impl Shared {
    pub(crate) fn troubles(&self) -> MutexGuard<'_, Troubles> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn errors(&self) -> MutexGuard<'_, Vec<String>> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was looked at and needs nothing until something changes, by its UID.
#[derive(Default)]
pub(crate) struct Rested(BTreeMap<String, u64>);

impl Rested {
    /// Looks at all objects of these kinds but those that are at rest. Gives back the errors.
    pub(crate) async fn stir<W>(
        &mut self,
        world: &World,
        kinds: [Kind; 2],
        look: impl Fn(Value, Scope) -> W,
    ) -> Vec<String>
    where
        W: Future<Output = Answer<()>>,
    {
        let mut looks = Vec::new();
        let all = kinds
            .into_iter()
            .flat_map(|kind| world.all(kind).map(move |object| (kind, object)));
        for (kind, object) in all {
            let seen = world.revision(kind, object);
            if self.0.get(object.uid()) == Some(&seen) {
                continue;
            }
            let look = look(object.clone(), Scope::of(object.namespace()));
            looks.push(async move {
                look.await?;
                Ok((object.uid().to_owned(), seen))
            });
        }
        let (done, errors) = each(looks).await;
        // What they wrote is a later revision.
        self.0.extend(done);
        errors
    }
}

/// What a controller works with.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) api: Api,
    pub(crate) timing: Timing,
    pub(crate) shared: Arc<Shared>,
    pub(crate) changes: watch::Receiver<u64>,
}

impl Context {
    /// Notes what went wrong, and waits until there is something to do.
    pub(crate) async fn rest(&mut self, due: Option<Instant>, errors: Vec<String>) {
        let longest = if errors.is_empty() { IDLE } else { PAUSE };
        {
            let mut kept = self.shared.errors();
            kept.extend(errors);
            let surplus = kept.len().saturating_sub(ERRORS);
            kept.drain(..surplus);
        }
        let wake = due.into_iter().fold(Instant::now() + longest, Instant::min);
        tokio::select! {
            () = tokio::time::sleep_until(wake) => {}
            changed = self.changes.changed() => {
                // Without a sender there is nobody left to work for, and soon no task either.
                let pause = if changed.is_ok() { BURST } else { IDLE };
                tokio::time::sleep(pause).await;
            }
        }
    }
}

/// Works on several things at once. Conflicts are no errors: the next look sees what is there.
pub(crate) fn each<I, W, T>(work: I) -> impl Future<Output = (Vec<T>, Vec<String>)> + use<I, W, T>
where
    I: IntoIterator<Item = W>,
    W: Future<Output = Answer<T>>,
{
    let work: Vec<W> = work.into_iter().collect();
    async move {
        let mut done = Vec::new();
        let mut errors = Vec::new();
        let mut answers = stream::iter(work).buffer_unordered(PARALLEL);
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(result) => done.push(result),
                Err(Failure::Other(error)) => errors.push(error),
                Err(Failure::Conflict | Failure::NotFound) => {}
            }
        }
        (done, errors)
    }
}
