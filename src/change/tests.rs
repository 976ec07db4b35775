use std::sync::Arc;

use serde_json::{Value, json};

use super::states::{RequestedState, StateStep, step};
use super::{Change, RunWish, WriteAction, WriteCertainty, approval_message};
use crate::inventory::source::{HubFacts, HubQuery, Outcome, QueryAnswer};
use crate::inventory::{Inventory, Walk};
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::object::Object;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::tolerant::UnknownFields;
use crate::kubefleet::{Concept, ObjectRef, Scope};
use crate::rollout::{Phase, Rollout};
use crate::words::distinct;

const RUNS: &str = "/apis/placement.kubernetes-fleet.io/v1beta1/clusterstagedupdateruns";
const TEAM_RUNS: &str =
    "/apis/placement.kubernetes-fleet.io/v1beta1/namespaces/team-a/stagedupdateruns";

fn scopes() -> [Scope; 2] {
    [Scope::Cluster, Scope::Namespace("team-a".to_owned())]
}

/// An object of the API, with what a test changes in it.
fn object(scope: &Scope, concept: Concept, name: &str, more: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": scope.kind(concept).name(),
        "metadata": {
            "name": name, "uid": "2f0c1a7e-0001", "resourceVersion": "41", "generation": 3,
            "creationTimestamp": "2026-01-09T02:00:00Z",
        },
    });
    if !scope.is_cluster() {
        object["metadata"]["namespace"] = json!(scope.namespace());
    }
    merge(&mut object, more);
    object
}

fn merge(into: &mut Value, more: &Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more.clone(),
    }
}

fn run_object(scope: &Scope, more: &Value) -> Object {
    let usual = json!({"spec": {
        "placementName": "web", "stagedRolloutStrategyName": "rings", "state": "Run",
    }});
    let mut run = object(scope, Concept::UpdateRun, "web-42", &usual);
    merge(&mut run, more);
    Object::of(&run)
}

fn run(scope: &Scope, more: &Value) -> Arc<UpdateRun> {
    Arc::clone(run_object(scope, more).get().unwrap())
}

fn request_object(scope: &Scope, more: &Value) -> Object {
    let usual = json!({"spec": {"parentStageRollout": "web-42", "targetStage": "canary"}});
    let (concept, name) = (Concept::ApprovalRequest, "web-42-after-canary");
    let mut request = object(scope, concept, name, &usual);
    merge(&mut request, more);
    Object::of(&request)
}

fn request(scope: &Scope, more: &Value) -> Arc<ApprovalRequest> {
    Arc::clone(request_object(scope, more).get().unwrap())
}

fn approved(status: &str, generation: i64, message: &str) -> Value {
    json!({"metadata": {"resourceVersion": "42"}, "status": {"conditions": [{
        "type": "Approved", "status": status, "reason": "Approved", "message": message,
        "observedGeneration": generation, "lastTransitionTime": "2026-01-09T02:10:00Z",
    }]}})
}

fn wish() -> RunWish {
    RunWish {
        placement: "web".to_owned(),
        strategy: "rings".to_owned(),
        snapshot: None,
        is_current: false,
        rolled_back: None,
        state: Some("Initialize"),
        unknown: UnknownFields::new(),
    }
}

#[test]
fn fields_that_are_not_known_are_copied() {
    let scope = Scope::Cluster;
    let unknown: UnknownFields = [("deadline".to_owned(), json!({"minutes": 7}))].into();
    let wish = RunWish { unknown, ..wish() };
    let body = create(&scope, wish.clone()).request("v1beta1").body;
    assert_eq!(body["spec"]["deadline"], json!({"minutes": 7}));
    assert_eq!(body["spec"]["placementName"], json!("web"));
    let mut run = UpdateRun::default();
    run.spec.placement = "web".to_owned();
    run.spec.strategy = "rings".to_owned();
    assert_eq!(wish.differences(&run), ["spec.deadline is different"]);
    run.spec.unknown = wish.unknown.clone();
    run.spec.unknown.insert("defaulted".to_owned(), json!(1));
    assert_eq!(wish.differences(&run), [""; 0]);
}

fn create(scope: &Scope, wish: RunWish) -> Change {
    Change::create(&scope.object(Concept::UpdateRun, "web-42"), wish, false)
}

fn approve(scope: &Scope, more: &Value) -> Change {
    let at = "2026-01-09T02:11:12.987654Z".parse().unwrap();
    let message = approval_message(Some("alice"), Some("looks good"));
    Change::approve(&request(scope, more), message, at)
}

/// Every change of the state that a command makes.
fn set_state(scope: &Scope, from: &Value, to: &'static str) -> Change {
    let run = run(scope, &json!({"spec": {"state": from}}));
    Change::set_state(&run, to, "would".to_owned(), "did".to_owned())
}

#[test]
fn a_run_is_created_with_what_was_asked_for_and_no_more() {
    for (scope, path) in scopes().iter().zip([RUNS, TEAM_RUNS]) {
        let mut expected = json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": scope.kind(Concept::UpdateRun).name(),
            "metadata": {"name": "web-42"},
            "spec": {
                "placementName": "web",
                "stagedRolloutStrategyName": "rings",
                "state": "Initialize",
            },
        });
        if !scope.is_cluster() {
            expected["metadata"]["namespace"] = json!("team-a");
        }
        let request = create(scope, wish()).request("v1beta1");
        assert_eq!((request.method, request.path.as_str()), ("POST", path));
        assert_eq!(request.content_type, "application/json");
        assert_eq!(request.body, expected);
        assert!(!request.force);
        // An index, and a hub that does not implement the state.
        let old = RunWish {
            snapshot: Some("7".to_owned()),
            state: None,
            ..wish()
        };
        let request = create(scope, old.clone()).request("v1beta1");
        expected["spec"]["resourceSnapshotIndex"] = json!("7");
        expected["spec"].as_object_mut().unwrap().remove("state");
        assert_eq!(request.body, expected);
        // An index that nobody named is marked, and is no pin for what is made of the run.
        let current = RunWish {
            is_current: true,
            ..old.clone()
        };
        let body = create(scope, current.clone()).request("v1beta1").body;
        let made = Object::of_type::<UpdateRun>(&body);
        assert_eq!((made.pinned(), made.rolled_back()), (None, None));
        assert_eq!(made.spec.snapshot_index, "7");
        assert_eq!(current.differences(&made), Vec::<String>::new());
        assert_eq!(wish().differences(&made), Vec::<String>::new());
        assert_eq!(old.differences(&made).len(), 1);
        // What a rollback takes back is noted.
        let back = RunWish {
            rolled_back: Some("9".to_owned()),
            ..old
        };
        let made = Object::of_type::<UpdateRun>(&create(scope, back).request("v1beta1").body);
        assert_eq!((made.pinned(), made.rolled_back()), (Some("7"), Some("9")));
    }
}

#[test]
fn a_state_is_set_only_on_the_run_and_from_the_state_that_were_shown() {
    for (scope, path) in scopes().iter().zip([RUNS, TEAM_RUNS]) {
        for (from, to) in [
            (json!("Initialize"), "Run"),
            (json!("Run"), "Stop"),
            (json!("Stop"), "Run"),
            (Value::Null, "Run"),
        ] {
            let request = set_state(scope, &from, to).request("v1beta1");
            assert_eq!(request.method, "PATCH");
            assert_eq!(request.path, format!("{path}/web-42"));
            assert_eq!(request.content_type, "application/json-patch+json");
            let operations = json!([
                {"op": "test", "path": "/metadata/uid", "value": "2f0c1a7e-0001"},
                {"op": "test", "path": "/spec/state", "value": from},
                {"op": "add", "path": "/spec/state", "value": to},
            ]);
            assert_eq!(request.body, operations);
            assert!(!request.force);
        }
    }
}

#[test]
fn an_approval_touches_one_condition_of_the_version_that_was_shown() {
    let requests = [
        "/apis/placement.kubernetes-fleet.io/v1beta1/clusterapprovalrequests/web-42-after-canary/status",
        "/apis/placement.kubernetes-fleet.io/v1beta1/namespaces/team-a/approvalrequests/\
         web-42-after-canary/status",
    ];
    for (scope, path) in scopes().iter().zip(requests) {
        let mut expected = json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": scope.kind(Concept::ApprovalRequest).name(),
            "metadata": {"name": "web-42-after-canary", "resourceVersion": "41"},
            "status": {"conditions": [{
                "type": "Approved",
                "status": "True",
                "reason": "Approved",
                "message": "approved by alice: looks good",
                "observedGeneration": 3,
                // The API's time has whole seconds.
                "lastTransitionTime": "2026-01-09T02:11:12Z",
            }]},
        });
        if !scope.is_cluster() {
            expected["metadata"]["namespace"] = json!("team-a");
        }
        let sent = approve(scope, &json!({})).request("v1beta1");
        assert_eq!((sent.method, sent.path.as_str()), ("PATCH", path));
        assert_eq!(sent.content_type, "application/apply-patch+yaml");
        assert_eq!(sent.body, expected);
        assert!(!sent.force, "nobody's answer is taken over");
        // Another's answer was shown: it is taken over, and only that of the version shown.
        for there in [approved("True", 2, "ok"), approved("False", 3, "no")] {
            let sent = approve(scope, &there).request("v1beta1");
            assert!(sent.force);
            assert_eq!(sent.body["metadata"]["resourceVersion"], "42");
            assert_eq!(sent.body["status"], expected["status"]);
        }
        // Other conditions are none of ours.
        let others = json!({"status": {"conditions": [
            {"type": "ApprovalAccepted", "status": "False", "observedGeneration": 3},
        ]}});
        assert!(!approve(scope, &others).request("v1beta1").force);
    }
}

#[test]
fn a_deletion_names_the_object_that_was_shown() {
    for (scope, path) in scopes().iter().zip([RUNS, TEAM_RUNS]) {
        let run = run(scope, &json!({}));
        let request = Change::delete(&run).request("v1beta1");
        assert_eq!(request.method, "DELETE");
        assert_eq!(request.path, format!("{path}/web-42"));
        let preconditions = json!({"uid": "2f0c1a7e-0001"});
        let options =
            json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions});
        assert_eq!(request.body, options);
        let untouched = Change::delete_untouched(&run).request("v1beta1");
        let preconditions = json!({"uid": "2f0c1a7e-0001", "resourceVersion": "41"});
        assert_eq!(untouched.body["preconditions"], preconditions);
    }
}

#[test]
fn names_cannot_leave_their_place_in_a_path() {
    let run = ObjectRef {
        name: "../x?y#z".to_owned(),
        ..Scope::Cluster.object(Concept::UpdateRun, "")
    };
    let mut change = create(&Scope::Cluster, wish());
    change.object = run;
    change.act = WriteAction::Delete {
        uid: "u".to_owned(),
        resource_version: None,
    };
    let path = change.request("v1beta1").path;
    assert_eq!(path, format!("{RUNS}/..%2Fx%3Fy%23z"));
}

/// What was found afterwards, and what that means.
type FoundObject<'f> = (Option<Object>, WriteCertainty, &'f str);

fn check(change: &Change, found: Vec<FoundObject<'_>>) {
    for (now, happened, what) in found {
        let seen = change.happened(now.as_ref());
        assert_eq!(seen, happened, "{}: {what}", change.would);
    }
}

#[test]
fn whether_a_run_was_created_is_seen() {
    use WriteCertainty::{No, Unclear, Yes};
    for scope in &scopes() {
        let spec = |more: Value| Some(run_object(scope, &json!({"spec": more})));
        let plain = vec![
            (None, No, "it is not there"),
            (spec(json!({"state": "Initialize"})), Yes, "it is there"),
            (spec(json!({})), Yes, "it is there, and was started since"),
        ];
        check(&create(scope, wish()), plain);
        let others = [
            ("placementName", "api"),
            ("stagedRolloutStrategyName", "all"),
            ("resourceSnapshotIndex", "3"),
        ];
        let others = others.map(|(field, it)| (spec(json!({ field: it })), Unclear, field));
        check(&create(scope, wish()), others.into());
        let indexed = RunWish {
            snapshot: Some("3".to_owned()),
            ..wish()
        };
        let found = vec![
            (spec(json!({"resourceSnapshotIndex": "3"})), Yes, "the same"),
            (spec(json!({})), Unclear, "the current content"),
        ];
        check(&create(scope, indexed), found);
    }
}

#[test]
fn whether_a_state_was_set_is_seen() {
    use WriteCertainty::{No, Unclear, Yes};
    for scope in &scopes() {
        let state = |state: Value| Some(run_object(scope, &json!({"spec": {"state": state}})));
        let another = json!({"metadata": {"uid": "2f0c1a7e-0002"}, "spec": {"state": "Stop"}});
        let stopped = vec![
            (state(json!("Stop")), Yes, "it has the new state"),
            (state(json!("Run")), No, "it has the old state"),
            (state(json!("Initialize")), Unclear, "neither"),
            (state(Value::Null), Unclear, "none"),
            (Some(run_object(scope, &another)), Unclear, "another run"),
            (None, Unclear, "it is gone"),
        ];
        check(&set_state(scope, &json!("Run"), "Stop"), stopped);
        let started = vec![
            (state(Value::Null), No, "none as before"),
            (state(json!("Run")), Yes, "it has one now"),
        ];
        check(&set_state(scope, &Value::Null, "Run"), started);
    }
}

#[test]
fn whether_a_request_was_approved_is_seen() {
    use WriteCertainty::{No, Unclear, Yes};
    let ours = "approved by alice: looks good";
    let replaced = "another's answer is there, and may have replaced ours";
    for scope in &scopes() {
        let now = |more: Value| Some(request_object(scope, &more));
        let mut another = approved("True", 3, ours);
        another["metadata"]["uid"] = json!("2f0c1a7e-0002");
        let mut edited = approved("True", 3, ours);
        edited["metadata"]["generation"] = json!(4);
        let touched = json!({"metadata": {"resourceVersion": "42"}});
        let older = approved("True", 2, ours);
        let found = vec![
            (now(json!({})), No, "it is as it was"),
            (now(touched), No, "another wrote something else"),
            (now(approved("True", 3, ours)), Yes, "it is approved"),
            (now(approved("True", 3, "by bob")), Unclear, replaced),
            (now(approved("False", 3, "no")), Unclear, replaced),
            (now(older.clone()), Unclear, "another generation"),
            (now(edited), Unclear, "ours, and the request changed since"),
            (now(another), Unclear, "another request of the name"),
            (None, Unclear, "it is gone"),
        ];
        check(&approve(scope, &json!({})), found);
        // The same words from before, which did not count.
        let mut before = older;
        before["metadata"]["resourceVersion"] = json!("41");
        let ignored = (now(before.clone()), No, "the ignored answer is still there");
        check(&approve(scope, &before), vec![ignored]);
    }
}

#[test]
fn whether_a_run_was_deleted_is_seen() {
    use WriteCertainty::{No, Yes};
    for scope in &scopes() {
        let run = run(scope, &json!({}));
        let now = |more: Value| Some(run_object(scope, &json!({"metadata": more})));
        for change in [Change::delete(&run), Change::delete_untouched(&run)] {
            let leaving = now(json!({"deletionTimestamp": "2026-01-09T03:00:00Z"}));
            let another = now(json!({"uid": "2f0c1a7e-0002"}));
            let found = vec![
                (None, Yes, "it is gone"),
                (now(json!({})), No, "it is there"),
                (leaving, Yes, "it is being deleted"),
                (another, Yes, "another has its name"),
            ];
            check(&change, found);
        }
    }
}

#[test]
fn the_words_of_an_approval_name_who_and_why() {
    for (who, why, text) in [
        (Some("alice"), None, "approved by alice"),
        (Some("alice"), Some("  "), "approved by alice"),
        (Some("alice"), Some(" ok "), "approved by alice: ok"),
        (None, Some("ok"), "approved: ok"),
        (None, None, "approved"),
    ] {
        assert_eq!(approval_message(who, why), text);
    }
}

#[test]
fn a_run_that_is_another_says_in_what() {
    let spec = json!({"resourceSnapshotIndex": "3", "placementName": "api"});
    let there = run(&Scope::Cluster, &json!({ "spec": spec }));
    let said = "placement is api, not web; snapshot is 3, not the current content";
    assert_eq!(wish().differences(&there).join("; "), said);
}

#[test]
fn looking_afterwards_names_the_object() {
    let [cluster, team] = scopes();
    let look = approve(&team, &json!({})).look().to_string();
    assert_eq!(look, "kubectl fleet-stage approvals -n team-a");
    let look = create(&cluster, wish()).look().to_string();
    assert_eq!(look, "kubectl fleet-stage status web-42");
}

/// The run of a phase, with the state that it was asked for.
fn in_phase(scope: &Scope, phase: Phase, state: &str) -> Inventory {
    let condition = |kind: &str, status: &str, reason: &str| {
        json!({"type": kind, "status": status, "reason": reason, "observedGeneration": 3,
               "lastTransitionTime": "2026-01-09T02:05:00Z"})
    };
    let initialized = condition("Initialized", "True", "UpdateRunInitializedSuccessfully");
    let failed = condition("Initialized", "False", "UpdateRunInitializedFailed");
    let progressing = |status: &str, reason: &str| condition("Progressing", status, reason);
    let ended = |status: &str, reason: &str| condition("Succeeded", status, reason);
    let conditions = match phase {
        Phase::Initializing => json!([]),
        Phase::InitializationFailed => json!([failed]),
        Phase::Idle | Phase::Deleting => json!([initialized]),
        Phase::Executing => json!([initialized, progressing("True", "UpdateRunProgressing")]),
        Phase::Stopping => json!([initialized, progressing("Unknown", "UpdateRunStopping")]),
        Phase::Stopped => json!([initialized, progressing("False", "UpdateRunStopped")]),
        Phase::Succeeded => json!([initialized, ended("True", "UpdateRunSucceeded")]),
        Phase::Failed => json!([initialized, ended("False", "UpdateRunFailed")]),
    };
    let mut more = json!({"spec": {"state": state}, "status": {"conditions": conditions}});
    if phase == Phase::Deleting {
        more["metadata"] = json!({"deletionTimestamp": "2026-01-09T03:00:00Z"});
    }
    let object = run_object(scope, &more);
    let target = object.reference();
    let mut walk = Walk::shallow(target.clone());
    let query = HubQuery::object(&target);
    let answer = QueryAnswer::new([object].into(), Outcome::Listed);
    walk.absorb(vec![query], vec![answer]);
    let states = ["Initialize", "Run", "Stop"].map(str::to_owned);
    let facts = HubFacts {
        run_states: Some(states.into()),
    };
    Inventory::new(walk, "2026-01-09T04:00:00Z".parse().unwrap(), facts)
}

const WISHES: [RequestedState; 3] = [
    RequestedState::Start,
    RequestedState::Stop,
    RequestedState::Resume,
];

/// What comes of a wish, in short: the new state, `=` for what is so already, `!` for a refusal.
fn short(step: StateStep) -> String {
    match step {
        StateStep::Write(change) => match change.act {
            WriteAction::SetState { to, uid, .. } => {
                assert_eq!(uid, "2f0c1a7e-0001");
                to.to_owned()
            }
            other => panic!("{other:?}"),
        },
        StateStep::Already(what) => format!("= {what}"),
        StateStep::Refused { why, hint } => {
            assert!(!hint.lines().is_empty());
            format!("! {why}")
        }
    }
}

#[test]
fn every_phase_knows_what_each_wish_means() {
    let run = "ClusterStagedUpdateRun web-42";
    let over = |how: &str, verb: &str| format!("! {run} {how}: a finished run cannot be {verb}");
    let each_over = |how: &str| ["started", "stopped", "resumed"].map(|verb| over(how, verb));
    let deleting = format!("! {run} is being deleted");
    let starts = format!("= {run} starts as soon as it is initialized");
    let under_way = format!("= {run} is in progress");
    let not_new = format!("! {run} is stopped: resume it instead");
    let nothing = |verb: &str| format!("! {run} was not started, so there is nothing to {verb}");
    #[rustfmt::skip]
    let table = [
        // (phase, state, [start, stop, resume])
        (Phase::Initializing, "Initialize", ["Run".to_owned(), nothing("stop"), nothing("resume")]),
        (Phase::Initializing, "Run", [starts.clone(), "Stop".to_owned(), starts]),
        (Phase::Initializing, "Stop", [not_new.clone(), format!("= {run} stops as soon as it is initialized"), "Run".to_owned()]),
        (Phase::Idle, "Initialize", ["Run".to_owned(), nothing("stop"), nothing("resume")]),
        (Phase::Executing, "Run", [under_way.clone(), "Stop".to_owned(), under_way]),
        (Phase::Stopping, "Stop", [format!("! {run} is stopping: resume it instead"), format!("= {run} is stopping"), "Run".to_owned()]),
        (Phase::Stopped, "Stop", [not_new, format!("= {run} is stopped"), "Run".to_owned()]),
        (Phase::Succeeded, "Run", each_over("has succeeded")),
        (Phase::Failed, "Run", each_over("has failed")),
        (Phase::Failed, "Stop", each_over("has failed")),
        (Phase::InitializationFailed, "Run", each_over("could not be initialized")),
        (Phase::InitializationFailed, "Initialize", each_over("could not be initialized")),
        (Phase::Deleting, "Run", [deleting.clone(), deleting.clone(), deleting]),
    ];
    for (phase, state, expected) in &table {
        let inventory = in_phase(&Scope::Cluster, *phase, state);
        let rollout = Rollout::new(&inventory).unwrap();
        assert_eq!(rollout.phase, *phase);
        for (wish, expected) in WISHES.into_iter().zip(expected) {
            let means = short(step(&rollout, wish));
            assert_eq!(means, *expected, "{phase:?} {state} {wish:?}");
        }
    }
    let phases = table.map(|(phase, ..)| format!("{phase:?}"));
    assert_eq!(distinct(phases).len(), 9, "the table has every phase");
}

#[test]
fn only_what_the_server_allows_is_written() {
    let allowed = [("Initialize", "Run"), ("Run", "Stop"), ("Stop", "Run")];
    for scope in &scopes() {
        for phase in [
            Phase::Initializing,
            Phase::Idle,
            Phase::Executing,
            Phase::Stopping,
            Phase::Stopped,
        ] {
            for state in ["Initialize", "Run", "Stop"] {
                let inventory = in_phase(scope, phase, state);
                let rollout = Rollout::new(&inventory).unwrap();
                for wish in WISHES {
                    let StateStep::Write(change) = step(&rollout, wish) else {
                        continue;
                    };
                    let WriteAction::SetState { from, to, .. } = &change.act else {
                        panic!("{change:?}");
                    };
                    assert_eq!(from.as_deref(), Some(state));
                    let is_allowed = allowed.contains(&(state, *to));
                    assert!(is_allowed, "{phase:?} {wish:?}: {state} to {to}");
                    assert_eq!(change.object.namespace, scope.namespace());
                }
            }
        }
    }
}

#[test]
fn a_hub_that_ignores_the_state_is_not_written_to() {
    let mut inventory = in_phase(&Scope::Cluster, Phase::Executing, "Initialize");
    inventory.hub = HubFacts {
        run_states: Some(Vec::new()),
    };
    let rollout = Rollout::new(&inventory).unwrap();
    assert!(rollout.state_ignored);
    let run = "ClusterStagedUpdateRun web-42";
    let already =
        format!("= {run} is in progress: KubeFleet on this hub starts every run immediately");
    assert_eq!(short(step(&rollout, RequestedState::Start)), already);
    for wish in [RequestedState::Stop, RequestedState::Resume] {
        let refused = short(step(&rollout, wish));
        assert!(refused.starts_with('!'), "{refused}");
        assert!(refused.contains("ignores spec.state"), "{refused}");
    }
}
