use serde_json::{Value, json};

use super::{ApprovalChoice, select};
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::source::{HubFacts, HubQuery, Outcome, QueryAnswer};
use crate::inventory::{Inventory, Sight, Walk};
use crate::kubefleet::object::Object;
use crate::rollout::{Rollout, TaskTime};

const GROUP: &str = "placement.kubernetes-fleet.io/v1beta1";

/// A condition by its type, status and reason.
fn condition(words: &str) -> Value {
    let words: Vec<_> = words.split(' ').collect();
    json!({"type": words[0], "status": words[1], "reason": words[2], "observedGeneration": 1,
           "lastTransitionTime": "2026-01-09T02:05:00Z"})
}

#[derive(Clone, Copy, PartialEq)]
enum RequestAnswer {
    Pending,
    Ignored,
    Approved,
    Accepted,
    NotAsked,
    Deleted,
    Unreadable,
    Foreign,
}

/// A run with one stage and an approval before it, and two behind: KubeFleet's own validation lets
/// only one be there, and nothing depends on that.
fn inventory(states: [RequestAnswer; 3]) -> Inventory {
    let names = [
        "web-before-canary",
        "web-after-canary",
        "web-after-canary-2",
    ];
    let task = |place: usize| {
        let created = condition("ApprovalRequestCreated True StageTaskApprovalRequestCreated");
        let approved = condition("ApprovalRequestApproved True StageTaskApprovalRequestApproved");
        let conditions = match states[place] {
            RequestAnswer::NotAsked => json!([]),
            RequestAnswer::Accepted => json!([created, approved]),
            _ => json!([created]),
        };
        json!({"type": "Approval", "approvalRequestName": names[place], "conditions": conditions})
    };
    let run = Object::of(&json!({
        "apiVersion": GROUP, "kind": "ClusterStagedUpdateRun",
        "metadata": {"name": "web", "uid": "u", "generation": 1},
        "spec": {"placementName": "p", "stagedRolloutStrategyName": "s", "state": "Run"},
        "status": {
            "conditions": [
                condition("Initialized True UpdateRunInitializedSuccessfully"),
                condition("Progressing False UpdateRunWaiting"),
            ],
            "stagedUpdateStrategySnapshot": {"stages": [{"name": "canary"}]},
            "stagesStatus": [{
                "stageName": "canary",
                "clusters": [{"clusterName": "member-1", "conditions": [
                    condition("Started True ClusterUpdatingStarted"),
                    condition("Succeeded True ClusterUpdatingSucceeded"),
                ]}],
                "beforeStageTaskStatus": [task(0)],
                "afterStageTaskStatus": [task(1), task(2)],
                "conditions": [condition("Progressing False StageUpdatingWaiting")],
            }],
        },
    }));
    let target = run.reference();
    let mut walk = Walk::shallow(target.clone());
    let mut known = vec![(
        HubQuery::named(target.kind, "", &target.name),
        vec![run],
        Outcome::Listed,
    )];
    for (state, name) in states.into_iter().zip(names) {
        let mut request = json!({
            "apiVersion": GROUP, "kind": "ClusterApprovalRequest",
            "metadata": {"name": name, "uid": name, "generation": 1, "resourceVersion": "7"},
            "spec": {"parentStageRollout": "web", "targetStage": "canary"},
        });
        let mut approved = condition("Approved True Approved");
        let accepted = condition("ApprovalAccepted True ApprovalRequestApprovalAccepted");
        let conditions = match state {
            RequestAnswer::Approved => json!([approved]),
            RequestAnswer::Accepted => json!([approved, accepted]),
            RequestAnswer::Ignored => {
                approved["observedGeneration"] = json!(0);
                json!([approved])
            }
            _ => json!([]),
        };
        request["status"] = json!({"conditions": conditions});
        if state == RequestAnswer::Foreign {
            request["spec"]["parentStageRollout"] = json!("another");
        }
        let request = Object::of(&request);
        let query = HubQuery::named(request.kind, "", name);
        let (objects, outcome) = match state {
            RequestAnswer::NotAsked | RequestAnswer::Deleted => (Vec::new(), Outcome::Listed),
            RequestAnswer::Unreadable => (Vec::new(), Outcome::Denied("no, not you".to_owned())),
            _ => (vec![request], Outcome::Listed),
        };
        known.push((query, objects, outcome));
    }
    for (query, objects, outcome) in known {
        walk.absorb(vec![query], vec![QueryAnswer::new(objects.into(), outcome)]);
    }
    let now = "2026-01-09T04:00:00Z".parse().unwrap();
    Inventory::new(walk, now, HubFacts::default())
}

const EVERYTHING: ApprovalChoice<'static> = ApprovalChoice {
    request: None,
    stage: None,
    task: None,
    all: false,
};

const fn named(request: &str) -> ApprovalChoice<'_> {
    ApprovalChoice {
        request: Some(request),
        ..EVERYTHING
    }
}

const fn in_canary(task: Option<TaskTime>) -> ApprovalChoice<'static> {
    ApprovalChoice {
        stage: Some("canary"),
        task,
        ..EVERYTHING
    }
}

/// What is to be written, was given, and was taken; or why nothing is.
fn chosen(
    states: [RequestAnswer; 3],
    choice: &ApprovalChoice<'_>,
) -> Result<[Vec<String>; 3], Error> {
    let inventory = inventory(states);
    let rollout = Rollout::new(&inventory).unwrap();
    let selection = select(&rollout, choice)?;
    Ok([&selection.write, &selection.given, &selection.taken]
        .map(|list| list.iter().map(|one| one.request().to_owned()).collect()))
}

#[test]
fn one_of_several_is_named_or_all_are_meant() {
    use RequestAnswer::{Accepted, Approved, Ignored, Pending};
    let both = [Accepted, Pending, Ignored];
    let error = chosen(both, &EVERYTHING).unwrap_err();
    let why = "ClusterStagedUpdateRun web has 2 pending gates";
    assert_eq!(error.message, why);
    let hint = error.hint.unwrap().to_string();
    assert!(hint.contains("approve web-after-canary\n"), "{hint}");
    assert!(hint.contains("approve web-after-canary-2"), "{hint}");
    // Narrowed to the same two, it is the same.
    assert!(chosen(both, &in_canary(Some(TaskTime::After))).is_err());
    let all = ApprovalChoice {
        all: true,
        ..EVERYTHING
    };
    let names = ["web-after-canary", "web-after-canary-2"].map(str::to_owned);
    assert_eq!(chosen(both, &all).unwrap()[0], names);
    let one = chosen(both, &named("web-after-canary-2")).unwrap();
    assert_eq!(one[0], names[1..]);
    // One that is given already is not asked for again.
    let [write, given, _] = chosen([Accepted, Approved, Pending], &EVERYTHING).unwrap();
    assert_eq!((write, given), (names[1..].to_vec(), Vec::new()));
    let [write, given, _] = chosen([Accepted, Approved, Accepted], &EVERYTHING).unwrap();
    assert_eq!((write, given), (Vec::new(), names[..1].to_vec()));
}

#[test]
fn what_stands_in_the_way_is_said() {
    use RequestAnswer::{Accepted, Deleted, Foreign, NotAsked, Pending, Unreadable};
    let not_asked = "has not requested the approval after stage canary yet";
    let unread = "(forbidden: no, not you), so it is not approved";
    for (state, exit, words) in [
        (NotAsked, Exit::Error, not_asked),
        (Deleted, Exit::Error, "deleted: KubeFleet creates it again"),
        (Foreign, Exit::Error, "belongs to another run or stage"),
        (Unreadable, Exit::Incomplete, unread),
    ] {
        let error = chosen([Accepted, state, Accepted], &EVERYTHING).unwrap_err();
        assert!(error.message.contains(words), "{}", error.message);
        assert_eq!(error.exit, exit, "{words}");
        assert!(error.hint.is_some());
    }
    assert_eq!(chosen([Accepted; 3], &EVERYTHING).unwrap()[2].len(), 3);
    let error = chosen([Pending, NotAsked, NotAsked], &named("stray")).unwrap_err();
    assert!(error.message.contains("has no gate with the request stray"));
}

#[test]
fn what_is_accepted_already_is_no_error_where_it_is_named() {
    use RequestAnswer::{Accepted, NotAsked, Pending};
    let before = in_canary(Some(TaskTime::Before));
    let [write, _, taken] = chosen([Accepted, Pending, NotAsked], &before).unwrap();
    assert!(write.is_empty());
    assert_eq!(taken, ["web-before-canary"]);
}

#[test]
fn a_skipped_stage_has_no_gates() {
    let mut inventory = inventory([RequestAnswer::NotAsked; 3]);
    let Sight::Present(run) = &mut inventory.run else {
        panic!("no run");
    };
    let stage = &mut std::sync::Arc::make_mut(run).status.stages[0];
    stage.clusters.clear();
    stage.conditions[0].reason = "StageUpdatingSkippedNoClusters".to_owned();
    let rollout = Rollout::new(&inventory).unwrap();
    let why = select(&rollout, &in_canary(None)).unwrap_err().message;
    let wanted = "no approval gate at stage canary: the stage has no clusters";
    assert!(why.contains(wanted), "{why}");
}
