//! When the stages of a plan end.

use serde_json::Value;

use super::refusals::edited;
use super::{call, plan};

const ARGS: &[&str] = &["--placement", "web", "--strategy", "rolling", "-f", "-"];

/// A run that is over. Its clusters took two and five minutes.
fn with_earlier_run(edits: &[(&str, &str)]) -> String {
    let cluster = |name: &str, started: &str, ended: &str| {
        format!(
            "    - clusterName: {name}\n      conditions:\n      \
             - {{type: Started, status: 'True', lastTransitionTime: '2026-03-02T{started}Z'}}\n      \
             - {{type: Succeeded, status: 'True', lastTransitionTime: '2026-03-02T{ended}Z'}}\n"
        )
    };
    format!(
        "{}\n---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateRun\n\
         metadata: {{name: web-run-2, creationTimestamp: '2026-03-02T08:25:00Z'}}\n\
         spec: {{placementName: web, stagedRolloutStrategyName: rolling, state: Run}}\n\
         status:\n  conditions:\n  - {{type: Succeeded, status: 'True', reason: UpdateRunSucceeded, \
         lastTransitionTime: '2026-03-02T08:40:00Z'}}\n  stagesStatus:\n  - stageName: all\n    \
         clusters:\n{}{}",
        edited(edits),
        cluster("alpha", "08:30:00", "08:32:00"),
        cluster("beta", "08:32:00", "08:37:00"),
    )
}

#[test]
fn stages_end_as_late_as_clusters_took_before() {
    let objects = with_earlier_run(&[]);
    let (code, json) = plan(ARGS, &objects);
    assert_eq!(code, 0, "{json:#}");
    let [canary, prod] = json["stages"].as_array().unwrap().as_slice() else {
        panic!("{json:#}");
    };
    let wanted = serde_json::json!({
        "afterStart": true, "untilApproval": "RUN-after-canary", "atLeast": "1m45s", "atMost": "5m30s",
    });
    assert_eq!(canary["ends"], wanted);
    assert_eq!(prod["ends"]["afterApproval"], "RUN-before-prod");
    assert_eq!(prod["ends"]["atLeast"], "2m");
    assert_eq!(prod["ends"]["atMost"], "5m45s");
    let (_, text, _) = call(ARGS, &objects);
    for line in [
        "|    approval due 1 to 6 min after the start",
        "|    ends 2 to 6 min after the approval",
    ] {
        assert!(text.lines().any(|it| it == line), "{text}");
    }
}

#[test]
fn nothing_is_said_where_nothing_is_known_or_the_run_stalls() {
    let ends = |objects: &str| -> Vec<_> {
        let (_, json) = plan(ARGS, objects);
        let stages = json["stages"].as_array().unwrap().iter();
        stages.map(|stage| stage.get("ends").is_some()).collect()
    };
    assert_eq!(ends(&edited(&[])), [false, false]);
    assert_eq!(ends(&with_earlier_run(&[])), [true, true]);
    // It would be refused.
    let refused = ("    type: External", "    type: RollingUpdate");
    assert_eq!(ends(&with_earlier_run(&[refused])), [false, false]);
}

#[test]
fn a_stage_without_clusters_ends_where_every_version_agrees() {
    let canary = "  labels: {tier: canary}\n";
    let ends = |labels: &str, placement: (&str, &str)| {
        let labels = format!("  labels: {{tier: prod, order: '9'{labels}}}\n");
        let (_, json) = plan(ARGS, &with_earlier_run(&[(canary, &labels), placement]));
        let ends = &json["stages"][0]["ends"];
        let warnings = json["warnings"].as_array().unwrap().iter();
        let mut empty = warnings.filter(|it| it["kind"] == "stage-empty");
        let said = empty.next().unwrap()["message"].as_str().unwrap();
        let said = said.split_once(" no clusters").unwrap().1.to_owned();
        (ends["untilApproval"].clone(), ends["atMost"].clone(), said)
    };
    let nothing = ("", "");
    // Up to 0.2, its approval is asked for; what is newer tells its name to every member cluster.
    let (until, at_most, said) = ends("", nothing);
    assert_eq!((until, at_most), ("RUN-after-canary".into(), "15s".into()));
    let tasks = "tasks (TimedWait and Approval)";
    assert_eq!(said, format!(", but its {tasks} run all the same."));
    let named = ", kubernetes-fleet.io/member-name: alpha";
    let (until, at_most, said) = ends(named, nothing);
    assert_eq!((until, at_most), (Value::Null, Value::Null));
    let skipped = format!(" and is skipped with its {tasks}");
    let until = "; up to KubeFleet 0.3.1 they run anyway.";
    assert_eq!(said, format!("{skipped}{until}"));
    // KubeFleet skips it after 0.3, which the words on a placement tell.
    let told = (
        "  - type: ClusterResourcePlacementScheduled\n",
        "  - {type: ClusterResourcePlacementWorkSynchronized, status: 'True', reason: WorkSynchronized, \
         message: Work(s) are successfully created, observedGeneration: 1}\n  \
         - type: ClusterResourcePlacementScheduled\n",
    );
    let (until, at_most, said) = ends(named, told);
    assert_eq!((until, at_most), (Value::Null, "15s".into()));
    assert_eq!(said, format!("{skipped}."));
}
