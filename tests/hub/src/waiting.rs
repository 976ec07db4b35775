//! Waiting: the one place where tests let time pass. They wait for what is to be seen, so that none
//! depends on how fast a machine is; what is not seen within [`HANGS`] does not come.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail
#![allow(clippy::missing_panics_doc)]

use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Whatever takes longer hangs: no machine is so slow.
pub const HANGS: Duration = Duration::from_mins(5);
/// Between two looks, at least and at most.
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(80);
/// How many looks in a row find nothing to do in a process that has nothing to do.
const LOOKS: usize = 8;

/// How long it is until the next look. The longer it lasts, the less does a moment more matter, and looks
/// take the time of what is looked at.
fn pause(begun: Instant) -> Duration {
    (begun.elapsed() / 16).clamp(PAUSE, LONGEST)
}

/// Waits until a look finds something.
pub fn until<T>(what: impl Fn() -> String, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < HANGS, "not within {HANGS:?}: {}", what());
        sleep(pause(begun));
    }
}

/// Waits until something is so.
pub fn until_so(what: impl Fn() -> String, mut is: impl FnMut() -> bool) {
    until(what, || is().then_some(()));
}

/// The same where nothing may block.
pub async fn until_async<T>(
    what: impl Fn() -> String,
    mut look: impl AsyncFnMut() -> Option<T>,
) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begun.elapsed() < HANGS, "not within {HANGS:?}: {}", what());
        tokio::time::sleep(pause(begun)).await;
    }
}

/// Lets the clock go on: the times in objects are whole seconds, and of what happened in one of them
/// nobody can say what came first.
pub fn pass(time: Duration) {
    sleep(time);
}

/// The same where nothing may block.
pub async fn pass_async(time: Duration) {
    tokio::time::sleep(time).await;
}

/// What a function answers, which must come to an end.
pub fn ends<T: Send + 'static>(what: &str, does: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = channel();
    let thread = std::thread::spawn(move || {
        let _ = tell.send(does());
    });
    match told.recv_timeout(HANGS) {
        Ok(found) => found,
        Err(RecvTimeoutError::Timeout) => panic!("it hangs: {what}"),
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(why) => std::panic::resume_unwind(why),
            Ok(()) => panic!("it says nothing: {what}"),
        },
    }
}

/// How a process ends, which it must do by itself.
pub fn ended(child: &mut Child, what: impl Fn() -> String) -> ExitStatus {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begun.elapsed() > HANGS {
            let _ = child.kill();
            panic!("it hangs: {}", what());
        }
        sleep(PAUSE);
    }
}

/// Runs a command to its end, where nobody can be asked, and what it wrote.
pub fn output(command: &mut Command) -> Output {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.stdin(Stdio::null()).spawn();
    let child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    ends(&format!("{command:?}"), move || {
        child.wait_with_output().unwrap()
    })
}

/// Waits until a process has done all that it has to do, and waits itself: for a key, an answer, or
/// the next second.
pub fn until_idle(process: u32) {
    let begun = Instant::now();
    let mut before = None;
    let mut looks = 0;
    while looks < LOOKS {
        assert!(begun.elapsed() < HANGS, "process {process} does not rest");
        let now = at_rest(process);
        looks = if now.is_some() && now == before {
            looks + 1
        } else {
            0
        };
        before = now;
        sleep(PAUSE);
    }
}

/// The processor time that each thread of a process has spent, and the signals that it has not taken
/// notice of; `None` while a thread runs.
fn at_rest(process: u32) -> Option<Vec<String>> {
    let folder = format!("/proc/{process}");
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let mut all = Vec::new();
    let threads = std::fs::read_dir(format!("{folder}/task"));
    for thread in threads.into_iter().flatten().flatten() {
        let stat = read(thread.path().join("stat"));
        let words: Vec<_> = stat.rsplit_once(") ")?.1.split(' ').collect();
        if !["S", "Z", "X"].contains(&words[0]) {
            return None;
        }
        all.push(words[11..13].join(" "));
    }
    let status = read(format!("{folder}/status").into());
    let pending = status.lines().filter(|line| line.contains("Pnd:"));
    all.extend(pending.map(str::to_owned));
    Some(all)
}
