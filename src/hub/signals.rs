//! Signals that ask for an end: an interrupt, a request to terminate, a closed terminal.
//!
//! A command that only reads may be ended by the process's default at any moment. One that writes
//! has to say what was done, so it minds the signals itself.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{fmt, io};

use tokio::sync::watch::{Receiver, Sender};

use crate::hub::error::HubError;
use crate::hub::{Hub, OnWait};
use crate::inventory::source::{HubQuery, QueryAnswer};

/// The next signal of these. Once it was asked for, none of them ends the process any more.
pub(super) struct SignalStream {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hang_up: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl SignalStream {
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

    pub(super) async fn next(&mut self) -> ReceivedSignal {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => ReceivedSignal(signal_hook::consts::SIGTERM),
            _ = self.hang_up.recv() => ReceivedSignal(signal_hook::consts::SIGHUP),
            _ = self.interrupt.recv() => ReceivedSignal(signal_hook::consts::SIGINT),
        }
        #[cfg(not(unix))]
        {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            ReceivedSignal(2)
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ReceivedSignal(i32);

impl ReceivedSignal {
    /// Ends the process as the signal would have.
    fn end(self) {
        #[cfg(unix)]
        let _ = signal_hook::low_level::emulate_default_handler(self.0);
        // Only where the system does not let us: as a shell tells of it.
        std::process::exit(128_i32.saturating_add(self.0));
    }
}

pub(super) type InterruptCount = Receiver<u32>;

pub(super) async fn more_than(count: &mut InterruptCount, seen: u32) {
    if count.wait_for(|now| *now > seen).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// What a signal ends beside us: the processes that we have started.
///
/// A credential plugin runs in a process group of its own, which the terminal's interrupt does not
/// reach, and a signal that ends us by default leaves us no time to end it. So the signals are
/// minded from the first plugin on, and end the process afterwards as they would have.
#[derive(Default)]
pub(super) struct ChildProcesses {
    first: OnceLock<OnWait>,
    count: Sender<u32>,
    listening: OnceLock<()>,
    stays: AtomicBool,
    started: Mutex<BTreeSet<StartedProcess>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StartedProcess {
    pub id: u32,
    /// Whether it leads a process group of its own.
    pub leads: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum EndRequest {
    Politely,
    AtOnce,
}

impl StartedProcess {
    pub(super) fn end(self, how: EndRequest) {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process, kill_process_group};
            let signal = match how {
                EndRequest::Politely => Signal::TERM,
                EndRequest::AtOnce => Signal::KILL,
            };
            let id = i32::try_from(self.id).ok().and_then(Pid::from_raw);
            // It may have ended by itself.
            let _ = match id {
                Some(id) if self.leads => kill_process_group(id, signal),
                Some(id) => kill_process(id, signal),
                None => Ok(()),
            };
        }
        #[cfg(not(unix))]
        let _ = how;
    }
}

/// What hubs have in common that are asked at the same time: a signal ends what was started for any
/// of them.
#[derive(Debug, Clone, Default)]
pub struct SharedSignals(Arc<ChildProcesses>);

impl SharedSignals {
    /// Minds the signals from now on, whichever hubs come and go.
    pub fn listen(&self) {
        let ends = Arc::clone(&self.0);
        if ends.listening.set(()).is_err() {
            return;
        }
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            if let Ok(runtime) = runtime {
                runtime.block_on(async {
                    if let Some(signals) = SignalStream::mind() {
                        ends.mind(signals).await;
                    }
                });
            }
        });
    }

    /// Minds the signals from now on: the first is told, and ends nothing.
    pub fn tell(&self, tell: impl FnOnce() + Send + 'static) {
        self.0.stay();
        let mut count = self.0.count();
        self.listen();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            if let Ok(runtime) = runtime {
                runtime.block_on(more_than(&mut count, 0));
                tell();
            }
        });
    }

    pub fn end(&self) {
        drop(self.0.end_all());
    }

    pub(super) fn ends(&self) -> Arc<ChildProcesses> {
        Arc::clone(&self.0)
    }
}

impl fmt::Debug for ChildProcesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ends").finish_non_exhaustive()
    }
}

impl ChildProcesses {
    /// Minds the signals from now on. Must be called within a Tokio runtime.
    pub(super) fn listen(self: &Arc<Self>) {
        if self.listening.set(()).is_err() {
            return;
        }
        let Some(signals) = SignalStream::mind() else {
            return;
        };
        let this = Arc::clone(self);
        tokio::spawn(async move { this.mind(signals).await });
    }

    async fn mind(&self, mut signals: SignalStream) {
        loop {
            let came = signals.next().await;
            if self.stays.load(Ordering::SeqCst) {
                self.count
                    .send_modify(|count| *count = count.saturating_add(1));
            } else {
                let _none_starts = self.end_all();
                if let Some(first) = self.first.get() {
                    first(None);
                }
                came.end();
            }
        }
    }

    /// Is told that the waiting is over before a signal ends the process.
    pub(super) fn first(&self, on_wait: OnWait) {
        // Whoever is told, the same terminal is cleared.
        let _ = self.first.set(on_wait);
    }

    /// From now on a signal does not end the process.
    pub(super) fn stay(&self) {
        self.stays.store(true, Ordering::SeqCst);
    }

    fn leave(&self) {
        self.stays.store(false, Ordering::SeqCst);
    }

    /// How many signals came since then.
    pub(super) fn count(&self) -> InterruptCount {
        self.count.subscribe()
    }

    /// Whether one that we have started may ask the user.
    pub(super) fn asks(&self) -> bool {
        let all = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().any(|started| !started.leads)
    }

    /// Starts a process that ends with us until what is returned is dropped, which ends it too. A
    /// signal that comes while it is being started ends it as well, or is told by [`SignalMark`].
    pub(super) fn start<C>(
        self: &Arc<Self>,
        spawn: impl FnOnce() -> io::Result<(C, Option<StartedProcess>)>,
    ) -> io::Result<(C, Option<WithUs>, SignalMark)> {
        let count = self.count();
        let seen = *count.borrow();
        let since = SignalMark { count, seen };
        let mut all = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        let (child, started) = spawn()?;
        all.extend(started);
        let with_us = started.map(|started| WithUs {
            ends: Arc::clone(self),
            started,
            over: false,
        });
        Ok((child, with_us, since))
    }

    /// Ends all that we have started. None is started while what is returned is held.
    fn end_all(&self) -> MutexGuard<'_, BTreeSet<StartedProcess>> {
        let all = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        for started in all.iter() {
            started.end(EndRequest::AtOnce);
        }
        all
    }
}

/// The signals that come from before a process was started on.
pub(super) struct SignalMark {
    count: InterruptCount,
    seen: u32,
}

impl SignalMark {
    pub(super) async fn signal(&mut self) {
        more_than(&mut self.count, self.seen).await;
    }
}

/// Keeps a process among those that end with us.
pub(super) struct WithUs {
    ends: Arc<ChildProcesses>,
    started: StartedProcess,
    over: bool,
}

impl WithUs {
    /// It has ended by itself.
    pub(super) fn over(mut self) {
        self.over = true;
    }

    pub(super) fn end(&self, how: EndRequest) {
        self.started.end(how);
    }
}

impl Drop for WithUs {
    fn drop(&mut self) {
        let all = &self.ends.started;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&self.started);
        if !self.over {
            self.started.end(EndRequest::AtOnce);
        }
    }
}

impl Hub {
    /// From now on a signal does not end the process: what is read ends with
    /// [`HubError::Interrupted`], and what is written is written to its end.
    pub fn mind_signals(&mut self) {
        if self.signals.is_some() {
            return;
        }
        let _inside = self.runtime.enter();
        self.ends.stay();
        self.ends.listen();
        self.signals = Some(self.ends.count());
    }

    /// Reads what became of a write, whoever interrupted it meanwhile; another signal ends that.
    pub fn read_back(&mut self, query: &HubQuery) -> QueryAnswer {
        self.bears = self.signals.as_ref().map_or(0, |count| *count.borrow());
        let answer = self.ask_again(query);
        self.bears = 0;
        answer
    }

    pub fn is_interrupted(&self) -> bool {
        self.signals
            .as_ref()
            .is_some_and(|count| *count.borrow() > 0)
    }

    /// Runs something that blocks, in a thread of its own; a signal ends the waiting, not the
    /// thread. Where signals were not minded before, they are not minded afterward.
    pub fn unless_interrupted<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, HubError> {
        let minded = self.signals.clone();
        let mut count = minded.clone().unwrap_or_else(|| {
            let _inside = self.runtime.enter();
            self.ends.stay();
            self.ends.listen();
            self.ends.count()
        });
        let signal = async move { more_than(&mut count, 0).await };
        let done = self.runtime.block_on(first_of(signal, work));
        if minded.is_none() && done.is_ok() {
            self.ends.leave();
        }
        done
    }
}

/// Runs something that blocks, where there is no hub: a signal ends the waiting, and afterward the
/// process again.
pub fn unless_interrupted<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HubError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| HubError::Config(format!("cannot wait for an answer: {error}")))?;
    let done = runtime.block_on(async {
        let signals = SignalStream::mind();
        let signal = async move {
            match signals {
                Some(mut signals) => drop(signals.next().await),
                None => std::future::pending().await,
            }
        };
        first_of(signal, work).await
    });
    #[cfg(unix)]
    for signal in [
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
        signal_hook::consts::SIGINT,
    ] {
        let always = Arc::new(AtomicBool::new(true));
        // Where the system does not let us, the signal is ignored.
        let _ = signal_hook::flag::register_conditional_default(signal, always);
    }
    done
}

/// What blocking work returns, or that a signal came first.
async fn first_of<T: Send + 'static>(
    signal: impl Future<Output = ()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HubError> {
    let (tell, told) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // Who asked may have been interrupted meanwhile.
        let _ = tell.send(work());
    });
    tokio::select! {
        biased;
        () = signal => Err(HubError::Interrupted),
        done = told => done.map_err(|_| HubError::Interrupted),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::ChildProcesses;

    #[tokio::test]
    async fn a_signal_during_the_start_of_a_process_is_told() {
        let came = async |ends: &Arc<ChildProcesses>, meanwhile: bool| {
            let ((), _, mut since) = ends
                .start(|| {
                    if meanwhile {
                        ends.count.send_modify(|count| *count += 1);
                    }
                    Ok(((), None))
                })
                .unwrap();
            timeout(Duration::from_millis(10), since.signal())
                .await
                .is_ok()
        };
        let ends = Arc::new(ChildProcesses::default());
        assert!(came(&ends, true).await);
        // The one before is not its.
        assert!(!came(&ends, false).await);
    }
}
