//! Signals that ask for an end: an interrupt, a request to terminate, a closed terminal.
//!
//! A command that only reads may be ended by the process's default at any moment. One that writes
//! has to say what was done, so it minds the signals itself.

use tokio::sync::watch::{Receiver, channel};

use super::Hub;
use super::error::HubError;
use crate::inventory::source::{Answer, Query};

/// The next signal of these. Once it was asked for, none of them ends the process any more.
pub(super) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hang_up: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    /// Minds the signals from now on; `None` where the system does not let us.
    pub(super) fn mind() -> Option<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Some(Self {
                terminate: signal(SignalKind::terminate()).ok()?,
                hang_up: signal(SignalKind::hangup()).ok()?,
                interrupt: signal(SignalKind::interrupt()).ok()?,
            })
        }
        #[cfg(not(unix))]
        Some(Self {})
    }

    /// Waits for one.
    pub(super) async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// How many signals came so far.
pub(super) type Count = Receiver<u32>;

/// Waits until more signals came than these.
pub(super) async fn more_than(count: &mut Count, seen: u32) {
    if count.wait_for(|now| *now > seen).await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl Hub {
    /// From now on a signal does not end the process: what is read ends with
    /// [`HubError::Interrupted`], and what is written is written to its end.
    pub fn mind_signals(&mut self) {
        if self.signals.is_some() {
            return;
        }
        let (tell, told) = channel(0);
        let _inside = self.runtime.enter();
        let Some(mut signals) = Signals::mind() else {
            return;
        };
        self.runtime.spawn(async move {
            loop {
                signals.next().await;
                tell.send_modify(|count: &mut u32| *count = count.saturating_add(1));
            }
        });
        self.signals = Some(told);
    }

    /// Reads what became of a write, whoever interrupted it meanwhile; another signal ends that.
    pub fn read_back(&mut self, query: &Query) -> Answer {
        self.bears = self.signals.as_ref().map_or(0, |count| *count.borrow());
        let answer = self.ask_again(query);
        self.bears = 0;
        answer
    }

    /// Whether the user wants it to end.
    pub fn is_interrupted(&self) -> bool {
        self.signals
            .as_ref()
            .is_some_and(|count| *count.borrow() > 0)
    }

    /// Runs something that blocks, in a thread of its own; a signal ends the waiting, not the
    /// thread.
    pub fn unless_interrupted<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, HubError> {
        let (tell, told) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            // Who asked may have been interrupted meanwhile.
            let _ = tell.send(work());
        });
        let count = self.signals.clone();
        self.runtime.block_on(async move {
            let signal = async {
                match count {
                    Some(mut count) => more_than(&mut count, 0).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = signal => Err(HubError::Interrupted),
                done = told => done.map_err(|_| HubError::Interrupted),
            }
        })
    }
}
