//! Other runs on a placement: which are there, and which came since they were shown.

use crate::inventory::Inventory;
use crate::rollout::{Phase, Rollout};
use crate::words::enumerate;

/// Another run on the placement that is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeighborRun {
    pub name: String,
    pub uid: String,
    /// Whether it updates clusters by itself, now or as soon as it is initialized.
    pub moves: bool,
    /// Where it is, for people.
    pub how: &'static str,
}

/// The runs on the placement that are not over, but for that of a name.
pub fn neighbours(inventory: &Inventory, own: &str) -> Vec<NeighborRun> {
    let runs = inventory.runs.iter().filter(|run| run.meta.name != own);
    runs.map(|run| Rollout::of(inventory, run))
        .filter(Rollout::is_live)
        .map(|rollout| NeighborRun {
            name: rollout.run.meta.name.clone(),
            uid: rollout.run.meta.uid.clone(),
            moves: moves(&rollout),
            how: how(rollout.phase),
        })
        .collect()
}

/// Whether a run that is not over updates clusters by itself.
pub fn moves(rollout: &Rollout<'_>) -> bool {
    !matches!(rollout.phase, Phase::Idle | Phase::Stopped)
        || rollout.run.spec.state.as_deref() == Some("Run")
}

/// Where a run that is not over is.
const fn how(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "initialized",
        Phase::Initializing => "being initialized",
        Phase::Stopping => "stopping",
        Phase::Stopped => "stopped",
        _ => "in progress",
    }
}

/// Those of `now` that were not shown, or did nothing when they were shown and move now. That one
/// ends or stops meanwhile is no reason to hesitate.
fn arrived<'n>(shown: &[NeighborRun], now: &'n [NeighborRun]) -> Vec<&'n NeighborRun> {
    now.iter()
        .filter(|one| {
            let known = shown.iter().find(|known| known.uid == one.uid);
            known.is_none_or(|known| one.moves && !known.moves)
        })
        .collect()
}

/// The same, named for people; `None` where none came.
pub fn arrived_words(shown: &[NeighborRun], now: &[NeighborRun]) -> Option<String> {
    let new = arrived(shown, now).into_iter();
    let words: Vec<_> = new
        .map(|one| format!("{} ({})", one.name, one.how))
        .collect();
    (!words.is_empty()).then(|| enumerate(words))
}

#[cfg(test)]
mod tests {
    use super::{NeighborRun, arrived};

    fn run(name: &str, uid: &str, moves: bool) -> NeighborRun {
        NeighborRun {
            name: name.to_owned(),
            uid: uid.to_owned(),
            moves,
            how: if moves { "in progress" } else { "stopped" },
        }
    }

    #[test]
    fn who_came_or_began_to_move_is_told() {
        let shown = [run("a", "1", true), run("b", "2", false)];
        for (now, wanted) in [
            (vec![], vec![]),
            (vec![run("a", "1", true), run("b", "2", false)], vec![]),
            // One ended, one stopped.
            (vec![run("a", "1", false)], vec![]),
            // Started meanwhile.
            (vec![run("b", "2", true)], vec!["b"]),
            // New, also under a name that was shown, and also where it does nothing yet.
            (vec![run("c", "3", true)], vec!["c"]),
            (vec![run("a", "4", true)], vec!["a"]),
            (vec![run("c", "3", false)], vec!["c"]),
        ] {
            let names: Vec<_> = arrived(&shown, &now)
                .into_iter()
                .map(|one| one.name.as_str())
                .collect();
            assert_eq!(names, wanted, "{now:?}");
        }
    }
}
