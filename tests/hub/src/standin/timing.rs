//! How fast the stand-in is.

use std::time::Duration;

/// All durations of the controllers.
///
/// Only waiting is shortened. The clock itself is the true one: every time in a status, a
/// heartbeat or an annotation is the moment at which it was written, so that whoever computes with
/// such times (ages, time since a heartbeat) computes with honest ones.
///
/// That also holds for the wait between two stages. It takes as long as the strategy declares, and
/// a test declares a short one. `timed_wait_divisor` is for strategies that have to declare a long
/// one: the wait then ends early, its `WaitTimeElapsed` has the true time, and the strategy keeps
/// the declared duration. Until then a countdown computed from the declared duration is too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// Between two looks at a run whose clusters are being updated.
    pub look: Duration,
    /// Between two looks at a run that waits for an approval.
    pub gate_look: Duration,
    /// After how long a cluster that does not finish makes its run stuck.
    pub stuck_after: Duration,
    /// A timed wait takes this part of its declared duration.
    pub timed_wait_divisor: u32,
    /// How new resource snapshots are held back; nothing creates them at once.
    pub snapshots: Option<SnapshotDelay>,
    /// Between two heartbeats of a member cluster; its own period when that is shorter.
    pub heartbeat: Duration,
    /// How long a member cluster takes to apply a Work.
    pub apply: Duration,
}

/// How long a change of a placement's content is held back before it becomes a new resource
/// snapshot. Runs that come in between take the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotDelay {
    /// Since the change was noticed.
    pub collect: Duration,
    /// Since the latest snapshot was created.
    pub interval: Duration,
}

impl Timing {
    /// KubeFleet's own durations.
    pub fn real() -> Self {
        Self {
            look: Duration::from_secs(15),
            gate_look: Duration::from_mins(1),
            stuck_after: Duration::from_mins(5),
            timed_wait_divisor: 1,
            snapshots: Some(SnapshotDelay {
                collect: Duration::from_secs(15),
                interval: Duration::from_secs(30),
            }),
            heartbeat: Duration::from_secs(15),
            apply: Duration::from_millis(200),
        }
    }

    /// For tests: everything in fractions of a second, snapshots at once.
    pub fn fast() -> Self {
        Self {
            look: Duration::from_millis(150),
            gate_look: Duration::from_millis(600),
            stuck_after: Duration::from_secs(2),
            timed_wait_divisor: 1,
            snapshots: None,
            heartbeat: Duration::from_secs(5),
            apply: Duration::ZERO,
        }
    }

    /// For people who try things out: fast enough to watch, slow enough to step in.
    pub fn playground() -> Self {
        Self {
            look: Duration::from_secs(2),
            gate_look: Duration::from_secs(5),
            stuck_after: Duration::from_secs(15),
            timed_wait_divisor: 1,
            snapshots: Some(SnapshotDelay {
                collect: Duration::from_secs(15),
                interval: Duration::from_secs(30),
            }),
            heartbeat: Duration::from_secs(15),
            apply: Duration::from_secs(12),
        }
    }
}
