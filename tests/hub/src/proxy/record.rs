//! What came by.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use http::Method;

use super::{Fault, Rule};

/// A request that came by.
#[derive(Debug, Clone)]
pub struct Seen {
    /// What is done.
    pub method: Method,
    /// The path and the query.
    pub target: String,
    /// Who the client says it is.
    pub user_agent: String,
    /// What the client sent.
    pub body: Bytes,
    /// The status that the client was told, if any.
    pub status: Option<u16>,
    /// How many bytes of the answer's body were passed on.
    pub bytes: usize,
    /// Whether it was held: before the server heard of it, or once the server had acted.
    pub held: bool,
    /// What went wrong, by a rule.
    pub fault: Option<Fault>,
    /// When the request arrived.
    pub started: Instant,
    /// When its answer ended, however it did.
    pub ended: Option<Instant>,
}

/// What the connections share.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) rules: Vec<Rule>,
    seen: BTreeMap<u64, Seen>,
    next: u64,
}

/// The state, for all connections.
#[derive(Debug, Clone, Default)]
pub(super) struct Record(Arc<Mutex<State>>);

impl Record {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A test that failed elsewhere does not make the record wrong.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.lock().seen.values().cloned().collect()
    }

    pub(super) fn clear(&self) {
        let mut state = self.lock();
        state.rules.clear();
        state.seen.clear();
    }

    /// Writes down a request. Its answer has ended when the mark is dropped.
    pub(super) fn arrived(&self, seen: Seen) -> Mark {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.seen.insert(number, seen);
        Mark {
            record: self.clone(),
            number,
        }
    }
}

/// The place of a request in the record.
pub(super) struct Mark {
    record: Record,
    number: u64,
}

impl Mark {
    fn update(&self, change: impl FnOnce(&mut Seen)) {
        if let Some(seen) = self.record.lock().seen.get_mut(&self.number) {
            change(seen);
        }
    }

    pub(super) fn answered(&self, status: u16) {
        self.update(|seen| seen.status = Some(status));
    }

    pub(super) fn held(&self) {
        self.update(|seen| seen.held = true);
    }

    pub(super) fn passed(&self, bytes: usize) {
        self.update(|seen| seen.bytes += bytes);
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.update(|seen| seen.ended = Some(Instant::now()));
    }
}
