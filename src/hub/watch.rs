//! Watches: the objects of a query, and what becomes of them.
//!
//! Each query is followed by a task of its own: it lists, watches from where the list ends, and
//! goes on from the last event when a connection breaks off or falls silent. When the hub no longer
//! has what lies between, it lists again and tells the differences alone, so that no change is
//! told twice and none is left out.

mod line;
mod mirror;
mod seen;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::hub::error::HubError;
use crate::hub::read::found::ListReader;
use crate::hub::read::served::ServedVersions;
use crate::hub::request::answer::{self, ExpectedAnswer};
use crate::hub::request::bounds::ReadAllowance;
use crate::hub::request::connection::{Connection, ReadFailure, plain};
use crate::hub::signals::SignalStream;
use crate::hub::{Hub, OnWait};
use crate::inventory::source::{HubQuery, QuerySelection};
use crate::kubefleet::ObjectRef;
use crate::kubefleet::object::Object;
use crate::kubefleet::path::{parameter, path};
use line::{LineStream, WatchLine};
pub use mirror::{Mirror, MirrorUpdate};
use seen::SeenVersions;

#[derive(Debug, Clone, Copy)]
struct WatchPace {
    /// How long the server shall keep one connection.
    session: Duration,
    /// After how much silence a connection is given up: what the server ends itself needs no
    /// patience beyond that, and a connection that something in between dropped says nothing.
    silence: Duration,
    /// The pause before the second try where the server names none; it doubles each time.
    first_pause: Duration,
    longest_pause: Duration,
    /// How long a hub may be out of reach.
    give_up: Duration,
}

/// Some load balancers drop a connection silently that was idle for 240 seconds: the server ends it
/// before that.
const PACE: WatchPace = WatchPace {
    session: Duration::from_secs(200),
    silence: Duration::from_secs(215),
    first_pause: Duration::from_millis(500),
    longest_pause: Duration::from_secs(20),
    give_up: Duration::from_mins(5),
};

/// A connection that ends sooner than this without a word is no reason for haste.
const SHORT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub enum WatchNews {
    /// Its objects, in full: the first event of each query.
    Listed(Vec<Object>),
    Changed(Object),
    /// An object was deleted, or is no longer one that the query asks for.
    Deleted(ObjectRef),
    /// The hub does not answer; it is asked again and again.
    Away(HubError),
    Back,
    /// The query is followed no longer, and why.
    Ended(HubError),
}

#[derive(Debug)]
pub enum WatchItem {
    Event(HubQuery, WatchNews),
    Quiet,
    /// The user wants it to end: an interrupt, a request to terminate, or a closed terminal.
    Interrupted,
}

/// Watches of several queries, as one stream of events.
pub struct Watch {
    handle: Handle,
    connection: Connection,
    served: Arc<ServedVersions>,
    pace: WatchPace,
    tell: Sender<WatchItem>,
    told: Receiver<WatchItem>,
    tasks: Vec<(HubQuery, AbortHandle)>,
    signals: AbortHandle,
    interrupted: bool,
    /// Whether the hub has answered: what is asked later is asked again and again.
    has_listed: bool,
    on_wait: Option<OnWait>,
}

impl Hub {
    /// Watches what is asked for. From now on an interrupt is told by the mirror instead of ending the process.
    pub fn mirror(&self) -> Mirror {
        let mut watch = Watch::new(
            self.runtime.handle().clone(),
            self.connection.clone(),
            Arc::clone(&self.served),
            PACE,
        );
        self.ends.stay();
        watch.interrupted = self.is_interrupted();
        watch.on_wait = Some(Arc::clone(&self.on_wait));
        Mirror::new(watch)
    }
}

impl Watch {
    fn new(
        handle: Handle,
        connection: Connection,
        served: Arc<ServedVersions>,
        pace: WatchPace,
    ) -> Self {
        let (tell, told) = channel();
        let signals = handle.spawn(interrupts(tell.clone())).abort_handle();
        Self {
            handle,
            connection,
            served,
            pace,
            tell,
            told,
            tasks: Vec::new(),
            signals,
            interrupted: false,
            has_listed: false,
            on_wait: None,
        }
    }

    pub fn add(&mut self, query: HubQuery) {
        if self.tasks.iter().any(|(known, _)| *known == query) {
            return;
        }
        let follower = QueryFollower {
            connection: self.connection.clone(),
            served: Arc::clone(&self.served),
            query: query.clone(),
            is_later: self.has_listed,
            pace: self.pace,
            tell: self.tell.clone(),
        };
        let task = self.handle.spawn(follower.run());
        self.tasks.push((query, task.abort_handle()));
    }

    /// Watches a query no longer. What it has told already may still come.
    pub fn remove(&mut self, query: &HubQuery) {
        self.tasks.retain(|(known, task)| {
            if known == query {
                task.abort();
            }
            known != query
        });
    }

    /// Says what is waited for, or that the waiting is over.
    fn say(&self, what: Option<&str>) {
        let _inside = self.handle.enter();
        if let Some(on_wait) = &self.on_wait {
            on_wait(what);
        }
    }

    /// The next event; waits for it at most this long.
    pub fn next(&mut self, timeout: Duration) -> WatchItem {
        if self.interrupted {
            return WatchItem::Interrupted;
        }
        // Our own sender keeps the channel open.
        let item = self.told.recv_timeout(timeout);
        let item = item.unwrap_or(WatchItem::Quiet);
        self.interrupted = matches!(item, WatchItem::Interrupted);
        self.has_listed |= matches!(item, WatchItem::Event(_, WatchNews::Listed(_)));
        item
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.signals.abort();
        for (_, task) in &self.tasks {
            task.abort();
        }
    }
}

/// Tells of the first signal that asks for an end.
async fn interrupts(tell: Sender<WatchItem>) {
    let Some(mut signals) = SignalStream::mind() else {
        return;
    };
    signals.next().await;
    let _ = tell.send(WatchItem::Interrupted);
}

struct QueryFollower {
    connection: Connection,
    served: Arc<ServedVersions>,
    query: HubQuery,
    /// Whether the hub has answered other queries: a failure of the first list may pass then.
    is_later: bool,
    pace: WatchPace,
    tell: Sender<WatchItem>,
}

struct WatchPlace {
    seen: SeenVersions,
    /// From where the next watch goes on; `None` when it has to list first.
    version: Option<String>,
    listed: bool,
    reached: bool,
    away: Option<WatchLoss>,
    /// How long to wait before the next try.
    pause: Duration,
}

#[derive(Clone, Copy)]
struct WatchLoss {
    since: Instant,
    /// The second one is told.
    tries: u32,
}

impl QueryFollower {
    async fn run(self) {
        let mut place = WatchPlace {
            seen: SeenVersions::default(),
            version: None,
            listed: false,
            reached: false,
            away: None,
            pause: self.pace.first_pause,
        };
        loop {
            place.reached = false;
            let step = match place.version.take() {
                None => self.list(&mut place).await,
                Some(version) => self.session(&mut place, version).await,
            };
            let Err((error, asked)) = step else { continue };
            let passes = matches!(error, HubError::Unreachable { .. }) || error.may_pass();
            if !(place.listed || self.is_later && passes) || ends(&error) {
                self.tell(WatchNews::Ended(error));
                return;
            }
            if needs_list(&error) {
                place.version = None;
            }
            // A connection that broke is nothing to tell; a hub that takes no other is.
            if !place.reached {
                if !self.is_patient(&mut place, &error) {
                    self.tell(WatchNews::Ended(error));
                    return;
                }
                // Something in between may break watches alone: lists tell what they would.
                if place.away.is_some_and(|away| away.tries > 1) {
                    place.version = None;
                }
            }
            let longest = self.pace.longest_pause;
            sleep(asked.unwrap_or(place.pause).min(longest)).await;
            place.pause = place.pause.saturating_mul(2).min(longest);
        }
    }

    /// Whether a hub that does not answer is waited for any longer. The second time it is told.
    fn is_patient(&self, place: &mut WatchPlace, error: &HubError) -> bool {
        let away = place.away.get_or_insert(WatchLoss {
            since: Instant::now(),
            tries: 0,
        });
        away.tries = away.tries.saturating_add(1);
        if away.since.elapsed() >= self.pace.give_up {
            return false;
        }
        if away.tries == 2 {
            self.tell(WatchNews::Away(error.clone()));
        }
        true
    }

    fn reached(&self, place: &mut WatchPlace) {
        place.reached = true;
        if place.away.take().is_some_and(|away| away.tries > 1) {
            self.tell(WatchNews::Back);
        }
    }

    fn tell(&self, what: WatchNews) {
        let query = self.query.clone();
        // Who listens no longer ends this task too.
        let _ = self.tell.send(WatchItem::Event(query, what));
    }

    /// The path of the query's objects, with what narrows them.
    fn path(&self) -> Result<String, HubError> {
        let kind = self.query.kind;
        let version = self.served.version(kind).ok_or(HubError::NotServed(kind))?;
        let mut path = path(kind, version, self.query.which.namespace(), None);
        if let QuerySelection::Named { name, .. } = &self.query.which {
            parameter(&mut path, "fieldSelector", &format!("metadata.name={name}"));
        } else if let Some(labels) = self.query.selector() {
            parameter(&mut path, "labelSelector", &labels);
        }
        Ok(path)
    }

    /// Lists, and tells all objects the first time, later the differences alone.
    async fn list(&self, place: &mut WatchPlace) -> Result<(), ReadFailure> {
        let path = self.path().map_err(plain)?;
        // It may list again and again for days: each list has an allowance of its own.
        let mut connection = self.connection.clone();
        connection.budget = ReadAllowance::default();
        let listing = ListReader::new(&connection, self.query.kind, path);
        let found = listing.all().await.map_err(plain)?;
        self.reached(place);
        place.version = Some(found.resource_version);
        if place.listed {
            for what in place.seen.relist(found.objects) {
                self.tell(what);
            }
        } else {
            place.listed = true;
            place.seen.relist(found.objects.clone());
            self.tell(WatchNews::Listed(found.objects));
        }
        Ok(())
    }

    /// One connection, from a version on. Whatever ends it, the place is where to go on.
    async fn session(&self, place: &mut WatchPlace, version: String) -> Result<(), ReadFailure> {
        let begun = Instant::now();
        let mut path = self.path().map_err(plain)?;
        let session = self.pace.session.as_secs().to_string();
        for (name, value) in [
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("timeoutSeconds", &session),
            ("resourceVersion", &version),
        ] {
            parameter(&mut path, name, value);
        }
        place.version = Some(version);
        let body = self.connection.open(&path).await?;
        let mut lines = LineStream::new(self.query.kind, body);
        let mut brought = false;
        loop {
            // Whatever is no watch says so at once; who keeps quiet for a while is a hub.
            let patience = if place.reached {
                self.pace.silence
            } else {
                self.pace.first_pause
            };
            let Ok(line) = timeout(patience, lines.next()).await else {
                if !place.reached {
                    self.reached(place);
                    continue;
                }
                let silent = format!("{}s", self.pace.silence.as_secs_f64());
                return Err(plain(HubError::TimedOut(silent)));
            };
            if line.is_ok() {
                self.reached(place);
            }
            let line = match line {
                Ok(Some(line)) => line,
                // Events may have been kept from us: a list tells.
                Ok(None) if !brought && begun.elapsed() < SHORT => {
                    place.reached = false;
                    let events = ExpectedAnswer::kind("", "events");
                    return Err(plain(answer::wrong(&events, b"")));
                }
                Ok(None) => return Ok(()),
                Err(error) => return Err(plain(self.connection.discreet(error).await)),
            };
            if !matches!(line, WatchLine::Error(_)) {
                brought = true;
                place.pause = self.pace.first_pause;
            }
            let what = match line {
                WatchLine::Put(object, version) => {
                    place.version = Some(version);
                    place.seen.put(object)
                }
                WatchLine::Gone(object, version) => {
                    place.version = Some(version);
                    place.seen.remove(&object)
                }
                WatchLine::Bookmark(version) => {
                    place.version = Some(version);
                    None
                }
                WatchLine::Error(error) => {
                    return Err(plain(self.connection.discreet(error).await));
                }
            };
            if let Some(what) = what {
                self.tell(what);
            }
        }
    }
}

/// Whether asking again is of no use.
const fn ends(error: &HubError) -> bool {
    match error {
        // The hub may come back.
        HubError::Unreachable { .. } => false,
        HubError::Forbidden(_)
        | HubError::NotFound(_)
        | HubError::NotRouted(_)
        | HubError::NotServed(_) => true,
        other => other.is_fatal(),
    }
}

/// Whether only a new list helps: the hub no longer knows what was the last, or refuses it.
const fn needs_list(error: &HubError) -> bool {
    match error {
        HubError::Gone | HubError::WrongAnswer { .. } => true,
        HubError::Refused { code, .. } => !matches!(code, 429 | 500..=599),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
