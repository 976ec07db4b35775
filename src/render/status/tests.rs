use super::changes::tests::{cluster, stage, status};
use super::{status as once, watched};
use crate::render::RenderLook;
use crate::render::invocation::Invocation;
use crate::render::style::TextPaint;
use crate::report::Verdict;
use crate::rollout::{ClusterState, StageState};

#[test]
fn what_is_watched_has_meters_where_there_is_room() {
    use ClusterState::{Done, NotReached as Pending, Updating};
    let clusters = |states: [ClusterState; 2]| states.map(|state| cluster("a", state)).to_vec();
    let status = status(
        Verdict::Progressing,
        vec![
            stage("staging", StageState::Done, clusters([Done, Done]), vec![]),
            stage(
                "prod",
                StageState::Updating,
                clusters([Updating, Pending]),
                vec![],
            ),
        ],
    );
    let look = |width| RenderLook {
        width,
        paint: TextPaint::new(false),
        invocation: Invocation::default(),
        verbose: false,
    };
    let text = watched(&status, &look(80));
    for row in [
        "|- [==========] stage staging: done, 2 clusters, took 2m",
        "`- [>>>>>-----] stage prod: updating, 0/2 done, 1 of 2 slots in use",
    ] {
        assert!(text.lines().any(|line| line == row), "{row}:\n{text}");
    }
    assert_eq!(watched(&status, &look(50)), once(&status, &look(50)));
    let plain: String = text
        .replace("[==========] ", "")
        .replace("[>>>>>-----] ", "");
    assert_eq!(once(&status, &look(80)), plain);
}
