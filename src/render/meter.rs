//! How far a stage has come, drawn in a few characters.

use crate::render::style::TextPaint;
use crate::render::tone::ColorTone;
use crate::rollout::{ClusterState, StageProgress};

/// How far a stage has come, in so many characters: done, in flight, stuck, and not reached.
pub(in crate::render) fn meter(stage: &StageProgress, cells: usize, paint: TextPaint) -> String {
    let total = stage.clusters.len().max(1);
    let of = |is_meant: fn(ClusterState) -> bool| {
        let clusters = stage.clusters.iter();
        clusters.filter(|it| is_meant(it.state)).count()
    };
    // What is under way is seen, however few there are of it, and so is what is left to do.
    let seen = |many: usize| {
        if many == 0 {
            0
        } else {
            (many * cells / total).max(1)
        }
    };
    let stuck = of(|state| ColorTone::of_cluster(state) == ColorTone::Bad);
    let stuck = seen(stuck).min(cells);
    let moving = seen(of(|state| state == ClusterState::Updating)).min(cells - stuck);
    let pending = seen(of(|state| state == ClusterState::NotReached));
    let pending = pending.min(1).min(cells - stuck - moving);
    let most = cells - stuck - moving - pending;
    let done = (of(|state| state == ClusterState::Done) * cells)
        .div_ceil(total)
        .min(most);
    let rest = cells - stuck - moving - done;
    [
        paint.good(&"=".repeat(done)),
        paint.hint(&">".repeat(moving)),
        paint.error(&"!".repeat(stuck)),
        paint.dim(&"-".repeat(rest)),
    ]
    .concat()
}
