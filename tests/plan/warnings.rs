//! What a person should know, and what the plan says of each cluster.

use super::refusals::{edited, replaced, without};
use super::{call, kinds, plan};
use crate::files::whole;

const ARGS: &[&str] = &["--placement", "web", "--strategy", "rolling", "-f", "-"];

fn of(more: &[&str], objects: &str) -> serde_json::Value {
    let args: Vec<_> = ARGS.iter().chain(more).copied().collect();
    let (code, plan) = plan(&args, objects);
    assert_eq!(code, 0, "{plan:#}");
    plan
}

/// The kinds of the warnings.
fn warnings(more: &[&str], objects: &str) -> String {
    let plan = of(more, objects);
    for point in plan["warnings"].as_array().unwrap() {
        assert!(
            point["message"].as_str().unwrap().ends_with('.'),
            "{point:#}"
        );
        assert!(
            point["evidence"].is_array() || point["kind"] == "namespace-not-delivered",
            "{point:#}"
        );
    }
    kinds(&plan, "warnings").join(" ")
}

/// The same of a plan for which nothing else is said.
fn warned(objects: &str) -> String {
    warnings(&[], objects)
}

fn has(text: &str, part: &str) {
    assert!(text.contains(part), "{part} is not in {text}");
}

#[test]
fn clusters_gates_and_turns_are_those_of_the_controller() {
    let plan = of(&["--run", "web-run-4"], &edited(&[]));
    assert_eq!(plan["outcome"], "Ready");
    assert_eq!(plan["snapshot"], "2");
    assert_eq!(plan["snapshotCertain"], false);
    let [canary, prod] = plan["stages"].as_array().unwrap().as_slice() else {
        panic!("{plan:#}");
    };
    assert_eq!(canary["gates"][0]["wait"], "1h30m");
    assert_eq!(canary["gates"][1]["request"], "web-run-4-after-canary");
    assert_eq!(prod["gates"][0]["request"], "web-run-4-before-prod");
    assert_eq!(canary["clusters"][0]["change"], "forward");
    assert_eq!(canary["clusters"][0]["snapshot"], "1");
    assert_eq!(canary["clusters"][0]["writtenBy"], "web-run-2");
    // By number, not by letter: 9 before 10; half of two are one.
    let names: Vec<_> = prod["clusters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["gamma", "beta"]);
    assert_eq!(prod["concurrency"], 1);
    let of = |at: usize, what: &str| prod["clusters"][at][what].clone();
    assert_eq!([of(0, "turn"), of(1, "turn")], [1, 2]);
    assert_eq!([of(0, "change"), of(1, "change")], ["new", "unchanged"]);
    assert_eq!(plan["removed"][0]["name"], "omega");
    assert_eq!(plan["removed"][0]["change"], "delete");
}

#[test]
fn what_was_only_compared_says_nothing_of_what_changes() {
    let compared = std::fs::read_to_string(whole("tests/findings/FS526/fires-deployment.yaml"));
    let compared = compared.unwrap();
    // That of the placement is the one that stands deepest.
    let applied = compared.replace("\n      type: ReportDiff", "\n      type: ClientSideApply");
    let args = "--placement example-placement --strategy example-strategy -f -";
    let args: Vec<_> = args.split(' ').collect();
    let changes = |objects: &str| {
        let plan = plan(&args, objects).1;
        let clusters = plan["changes"].as_array().unwrap().iter();
        let clusters: Vec<_> = clusters.map(|it| it["clusters"].clone()).collect();
        (clusters, kinds_of_unchecked(&plan))
    };
    for objects in [&applied, &compared] {
        let (clusters, unchecked) = changes(objects);
        assert_eq!(clusters, [serde_json::json!(["member1"])]);
        assert_eq!(unchecked, "changed objects of member2");
    }
}

#[test]
fn a_cluster_that_was_taken_back_has_not_what_its_binding_names() {
    let objects = whole("tests/findings/FS803/fires-joined-again-and-run-deleted.yaml");
    let objects = std::fs::read_to_string(objects).unwrap();
    let args = "--placement example-placement --strategy example-strategy -f -";
    let args: Vec<_> = args.split(' ').collect();
    let unchecked = |objects: &str| kinds_of_unchecked(&plan(&args, objects).1);
    assert_eq!(unchecked(&objects), "changed objects of member2");
    let written = objects.replacen("generation: 4", "generation: 2", 1);
    assert_eq!(unchecked(&written), "");
}

/// What a plan did not check, and of which clusters.
fn kinds_of_unchecked(plan: &serde_json::Value) -> String {
    let all = plan["notChecked"].as_array().unwrap().iter();
    let all = all.filter(|it| !it["clusters"].is_null());
    let all: Vec<_> = all
        .map(|it| format!("{} of {}", it["what"], it["clusters"][0]).replace('"', ""))
        .collect();
    all.join(", ")
}

#[test]
fn an_older_snapshot_takes_clusters_back() {
    let plan = of(&["--snapshot", "1"], &edited(&[]));
    assert_eq!(plan["stages"][1]["clusters"][1]["change"], "back");
    assert_eq!(plan["stages"][0]["clusters"][0]["change"], "unchanged");
    assert_eq!(plan["snapshotCertain"], true);
    assert_eq!(kinds(&plan, "warnings"), ["clusters-go-back"]);
    let message = plan["warnings"][0]["message"].as_str().unwrap();
    assert_eq!(
        message,
        "1 cluster would be rolled back from snapshot 2 (from web-run-3) to snapshot 1: beta."
    );
}

fn run(state: &str, index: &str, status: &str) -> String {
    format!(
        "{}---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateRun\n\
         metadata: {{name: other, generation: 1, creationTimestamp: '2026-03-02T08:50:00Z'}}\n\
         spec: {{placementName: web, stagedRolloutStrategyName: rolling, state: {state}}}\n\
         status:\n  resourceSnapshotIndexUsed: '{index}'\n  policySnapshotIndexUsed: '0'\n{status}",
        edited(&[])
    )
}

const INITIALIZED: &str = "  conditions:\n  - {type: Initialized, status: 'True', reason: UpdateRunInitializedSuccessfully, observedGeneration: 1}\n  \
    stagesStatus:\n  - stageName: all\n    clusters:\n    - clusterName: beta\n    - clusterName: gamma\n";

#[test]
fn another_run_that_is_not_over_is_warned_of() {
    let message = |objects: &str| {
        let plan = of(&[], objects);
        assert_eq!(kinds(&plan, "warnings"), ["other-run-active"]);
        plan["warnings"][0]["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        message(&run("Initialize", "1", INITIALIZED)),
        "ClusterStagedUpdateRun other is initialized and may be started at any time with snapshot \
         1; if it continues after this run, it rolls gamma and beta back to snapshot 1."
            .replace("gamma and beta", "beta and gamma")
    );
    assert!(message(&run("Initialize", "2", INITIALIZED)).contains("runs do not wait"));
    let gone = message(&run("Initialize", "3", INITIALIZED));
    has(&gone, "web-3-snapshot no longer exists");
    let older = of(&["--snapshot", "1"], &run("Initialize", "2", INITIALIZED));
    let mut warnings = older["warnings"].as_array().unwrap().iter();
    let other = warnings
        .find(|it| it["kind"] == "other-run-active")
        .unwrap();
    let told = other["message"].as_str().unwrap();
    has(told, "replaces this run's snapshot on beta");
    let updating = INITIALIZED.replace(
        "    - clusterName: beta\n",
        "    - clusterName: beta\n      conditions:\n      - {type: Started, status: 'True', \
         reason: ClusterUpdatingStarted, observedGeneration: 1, lastTransitionTime: '2026-03-02T09:09:00Z'}\n",
    );
    let updating = updating.replace(
        "  stagesStatus",
        "  - {type: Progressing, status: 'True', reason: UpdateRunProgressing, observedGeneration: 1}\n  stagesStatus",
    );
    let message = message(&run("Run", "1", &updating));
    has(&message, "is in progress with snapshot 1");
    has(&message, "rolls gamma back to snapshot 1");
    has(
        &message,
        "fails if this run writes a cluster that it is updating now (beta)",
    );
}

#[test]
fn runs_that_are_over_or_meant_are_not_warned_of() {
    let over = INITIALIZED.replace(
        "  stagesStatus",
        "  - {type: Succeeded, status: 'True', reason: UpdateRunSucceeded, observedGeneration: 1}\n  stagesStatus",
    );
    assert_eq!(warned(&run("Run", "1", &over)), "");
    assert_eq!(
        warnings(&["--run", "other"], &run("Initialize", "1", INITIALIZED)),
        ""
    );
}

#[test]
fn content_that_waits_for_its_snapshot_is_told() {
    let annotated = |time: &str| {
        let from = "    kubernetes-fleet.io/resource-hash: bb\n";
        let annotation = "kubernetes-fleet.io/next-resource-snapshot-candidate-detection-time";
        edited(&[(from, &format!("{from}    {annotation}: '{time}'\n"))])
    };
    let now = annotated("2026-03-02T09:09:40Z");
    assert_eq!(warned(&now), "change-delayed");
    // Who asks for a version gets it.
    assert_eq!(warnings(&["--snapshot", "latest"], &now), "");
    assert_eq!(warned(&annotated("2026-03-02T08:00:00Z")), "");
}

#[test]
fn what_the_next_snapshot_deletes_is_told() {
    let limit = |limit: &str| edited(&[("revisionHistoryLimit: 3", limit)]);
    assert_eq!(
        warnings(&["--snapshot", "1"], &limit("revisionHistoryLimit: 2")),
        "clusters-go-back snapshot-about-to-be-pruned"
    );
    assert_eq!(warned(&limit("revisionHistoryLimit: 2")), "");
    assert_eq!(
        warnings(&["--snapshot", "1"], &limit("revisionHistoryLimit: 3")),
        "clusters-go-back"
    );
    // Another run needs it; a run that pins a snapshot makes no new one.
    let other = run("Initialize", "1", INITIALIZED);
    let other = other.replace("revisionHistoryLimit: 3", "revisionHistoryLimit: 2");
    let told = of(&[], &other);
    assert_eq!(
        kinds(&told, "warnings"),
        ["other-run-active", "snapshot-about-to-be-pruned"]
    );
    let message = told["warnings"][1]["message"].as_str().unwrap();
    assert!(
        message.starts_with("other needs snapshot 1, but web keeps only 2 snapshots"),
        "{message}"
    );
    assert_eq!(warnings(&["--snapshot", "2"], &other), "other-run-active");
    // Any of them may go, not only the oldest.
    let latest = run("Initialize", "2", INITIALIZED);
    let latest = latest.replace("revisionHistoryLimit: 3", "revisionHistoryLimit: 2");
    assert_eq!(
        warned(&latest),
        "other-run-active snapshot-about-to-be-pruned"
    );
}

#[test]
fn a_new_snapshot_that_deletes_the_only_one_is_told() {
    let next = |limit: &str| {
        let created = "  creationTimestamp: '2026-03-02T08:35:00Z'\n  labels:\n    kubernetes-fleet.io/is-latest";
        let kept = ("revisionHistoryLimit: 3", limit);
        edited(&[
            kept,
            (created, "  labels:\n    kubernetes-fleet.io/is-latest"),
        ])
    };
    let told = of(&[], &next("revisionHistoryLimit: 1"));
    assert_eq!(kinds(&told, "warnings"), ["snapshot-about-to-be-pruned"]);
    let message = told["warnings"][0]["message"].as_str().unwrap();
    has(
        message,
        "the new one deletes snapshot 1, which alpha and omega have",
    );
    assert_eq!(warned(&next("revisionHistoryLimit: 2")), "");
    // No new one is made.
    let same = edited(&[("revisionHistoryLimit: 3", "revisionHistoryLimit: 1")]);
    let told = of(&["--snapshot", "2"], &same);
    assert!(
        !told.to_string().contains("the new one deletes"),
        "{told:#}"
    );
}

#[test]
fn without_the_latest_snapshot_nobody_knows_which_one_comes() {
    let without = without("  name: web-2-snapshot\n");
    let plan = of(&[], &without);
    assert!(plan["snapshot"].is_null(), "{plan:#}");
    // Members have a label with their name since KubeFleet 0.3; an older one waits for a snapshot.
    assert_eq!(kinds(&plan, "warnings"), ["snapshot-awaited"]);
    let label = "labels: {tier: canary}";
    let named = "labels: {tier: canary, kubernetes-fleet.io/member-name: alpha}";
    assert_eq!(warned(&without.replace(label, named)), "");
    // What beta would lose is not known either.
    let pinned = of(&["--snapshot", "1"], &without);
    let unknown = &pinned["notChecked"][0];
    assert_eq!(unknown["why"], "snapshot 2 is gone");
    assert_eq!(unknown["clusters"], serde_json::json!(["beta"]));
}

#[test]
fn stages_without_clusters_and_with_one_name_are_told() {
    let third = "  - name: prod\n    labelSelector";
    let with = |name: &str, tier: &str| {
        let stage = format!(
            "  - name: {name}\n    labelSelector: {{matchLabels: {{tier: {tier}}}}}\n{third}"
        );
        edited(&[(third, &stage)])
    };
    assert_eq!(warned(&with("eu", "eu")), "stage-empty");
    let said = |tier: &str| of(&[], &with("eu", tier))["warnings"][0]["message"].clone();
    assert_eq!(said("eu"), "Stage eu has no clusters and is skipped.");
    assert_eq!(
        said("canari"),
        "Stage eu has no clusters and is skipped; alpha has tier=canary, and stage eu selects \
         tier=canari."
    );
    assert_eq!(
        warned(&with("canary", "eu")),
        "stage-empty stage-name-twice"
    );
}

#[test]
fn a_hub_that_ignores_the_state_of_runs_is_told() {
    let hub = |states: &str| {
        edited(&[(
            "collectedAt:",
            &format!("hub: {{runStates: {states}}}\ncollectedAt:"),
        )])
    };
    assert_eq!(
        warned(&hub("[Initialize, Execute, Pause, Abandon]")),
        "state-ignored-by-hub"
    );
    assert_eq!(warned(&hub("[]")), "state-ignored-by-hub");
    assert_eq!(warned(&hub("[Initialize, Run, Stop]")), "");
}

#[test]
fn members_that_do_not_answer_or_leave_are_told() {
    let member = "  labels: {tier: canary}\n";
    let heartbeat = |time: &str| {
        let agent = format!(
            "{member}status:\n  agentStatus:\n  - {{type: MemberAgent, lastReceivedHeartbeat: '{time}'}}\n"
        );
        edited(&[(member, &agent)])
    };
    assert_eq!(
        warned(&heartbeat("2026-03-02T08:00:00Z")),
        "member-agent-silent"
    );
    assert_eq!(warned(&heartbeat("2026-03-02T09:09:30Z")), "");
    // Where no agent at all is heard, the fault is hardly theirs.
    let silent = heartbeat("2026-03-02T08:00:00Z");
    let other = "  labels: {tier: prod, order: '9'}\n";
    let both = |heard: &str| {
        let agent = format!(
            "{other}status:\n  agentStatus:\n  - {{type: MemberAgent, lastReceivedHeartbeat: '{heard}'}}\n"
        );
        silent.replacen(other, &agent, 1)
    };
    let first = |fleet: &str| of(&[], fleet)["warnings"][0]["message"].to_string();
    let unheard = "No member agent has reported for";
    let none = both("2026-03-02T08:00:10Z");
    assert!(first(&none).contains(unheard));
    assert!(!first(&both("2026-03-02T09:09:30Z")).contains(unheard));
    // Nothing is sent to a cluster that has it all.
    let snapshot = "  resourceSnapshotName: web-1-snapshot\nstatus:\n";
    let released = "  - type: RolloutStarted\n";
    let available = "  - {type: Available, status: 'True', reason: AllWorkAreAvailable, message: all, \
                     observedGeneration: 3, lastTransitionTime: '2026-03-02T08:31:00Z'}\n";
    let with = |fleet: &str, with: &str| {
        let at = fleet.find(snapshot).unwrap() + snapshot.len();
        let (before, after) = fleet.split_at(at);
        let after = after.replacen(released, &format!("{with}{released}"), 1);
        format!("{before}{after}")
    };
    let has = |condition: &str| with(&silent, condition);
    let pinned = ["--snapshot", "1"];
    assert_eq!(warnings(&pinned, &has(available)), "clusters-go-back");
    // Without a hub agent, no run is initialized, whatever it sends.
    assert_eq!(
        warnings(&pinned, &with(&none, available)),
        "clusters-go-back member-agent-silent"
    );
    assert_eq!(
        warnings(&pinned, &has("")),
        "clusters-go-back member-agent-silent"
    );
    let healthy = |is: &str| {
        let condition = format!(
            "lastReceivedHeartbeat: '2026-03-02T09:09:30Z', conditions: [{{type: Healthy, status: \
             '{is}', reason: MemberClusterUnhealthy, lastTransitionTime: '2026-03-02T09:00:00Z'}}]"
        );
        silent.replace("lastReceivedHeartbeat: '2026-03-02T08:00:00Z'", &condition)
    };
    let plan = of(&[], &healthy("False"));
    assert_eq!(kinds(&plan, "warnings"), ["member-cluster-unhealthy"]);
    assert!(plan["stages"][0]["ends"].is_null(), "{plan:#}");
    assert_eq!(warned(&healthy("True")), "");
    let leaving = format!("{member}  deletionTimestamp: '2026-03-02T09:00:00Z'\n");
    let plan = of(&[], &edited(&[(member, &leaving)]));
    assert_eq!(kinds(&plan, "warnings"), ["member-cluster-leaving"]);
    let step = |plan: &serde_json::Value| plan["warnings"][0]["remedies"][0]["command"].clone();
    let wait = "kubectl wait memberclusters alpha --for=delete --timeout=10m";
    assert_eq!(step(&plan), wait);
    // What has left and is not deleted is never gone.
    let left = format!(
        "{member}status:\n  conditions:\n  - {{type: Joined, status: 'False', reason: MemberClusterLeft}}\n"
    );
    let plan = of(&[], &edited(&[(member, &left)]));
    assert_eq!(kinds(&plan, "warnings"), ["member-cluster-leaving"]);
    assert!(step(&plan).is_null(), "{plan:#}");
}

#[test]
fn a_run_that_only_removes_tells_what_is_deleted() {
    let plan = of(
        &[],
        &edited(&[
            ("number-of-clusters: '3'", "number-of-clusters: '0'"),
            ("state: Bound", "state: Unscheduled"),
            ("state: Scheduled", "state: Unscheduled"),
        ]),
    );
    let changes = plan["changes"].as_array().unwrap();
    let deleted = changes.iter().map(|it| it["deleted"].as_array().unwrap());
    assert!(
        deleted.flatten().any(|it| it["kind"] == "Namespace"),
        "{plan:#}"
    );
}

/// To compare, KubeFleet becomes an owner of what is there.
#[test]
fn what_was_only_compared_goes_with_the_placement() {
    let apply = "  applyStrategy: {type: ClientSideApply, ";
    let base = edited(&[]);
    let (before, after) = base.split_once("targetCluster: omega").unwrap();
    let with = |compares: &str| {
        format!(
            "{before}targetCluster: omega{}",
            after.replacen(apply, compares, 1)
        )
    };
    let compared = with("  applyStrategy: {type: ReportDiff, ");
    assert_eq!(
        kinds(&of(&[], &compared), "warnings"),
        ["compared-objects-deleted"]
    );
    let plan = of(&[], &compared);
    let warning = &plan["warnings"][0];
    let said = warning["message"].as_str().unwrap();
    assert!(
        said.starts_with(
            "The run removes web from omega, and KubeFleet owns what it has compared there"
        ) && said.contains("Namespace web with everything in it"),
        "{said}"
    );
    let refuses = plan["summary"].as_str().unwrap();
    has(refuses, "`run --yes` refuses");
    // Without an owner, all of it stays.
    let never = compared.replace("whenToTakeOver: Always", "whenToTakeOver: Never");
    let plan = of(&[], &never);
    assert_eq!(kinds(&plan, "warnings"), [""; 0]);
    let changes = plan["changes"].as_array().unwrap();
    assert!(
        changes
            .iter()
            .all(|it| !it["clusters"].to_string().contains("omega")),
        "{plan:#}"
    );
}

/// Such a placement is there for what others bring into the namespace.
#[test]
fn a_namespace_that_goes_with_others_in_it_is_told() {
    let map =
        "  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: settings, namespace: web}\n";
    let blue = format!("{map}    data: {{colour: blue}}\n");
    let plan = of(&[], &edited(&[(&blue, "")]));
    assert_eq!(kinds(&plan, "warnings"), ["cascading-removal"]);
    let warning = &plan["warnings"][0];
    assert_eq!(
        warning["message"],
        "The run removes web from omega: Namespace web is deleted there with everything that others \
         have brought into it."
    );
    assert_eq!(warning["evidence"][0]["value"], "Unscheduled");
    // Where the placement has more in it, it is its own.
    assert_eq!(warned(&edited(&[])), "");
}

#[test]
fn a_binding_that_goes_is_told() {
    let name = "  name: web-beta-2\n";
    let going = format!("{name}  deletionTimestamp: '2026-03-02T09:00:00Z'\n");
    let plan = of(&[], &edited(&[(name, &going)]));
    assert_eq!(kinds(&plan, "warnings"), ["binding-deleted"]);
    let warning = &plan["warnings"][0];
    assert_eq!(
        warning["message"],
        "ClusterResourceBinding web-beta-2 of beta is being deleted, and a run that writes it fails."
    );
    assert_eq!(warning["clusters"], serde_json::json!(["beta"]));
    assert!(plan["stages"][1]["ends"].is_null(), "{plan:#}");
    // That of a cluster from which the placement is removed is to go.
    let name = "  name: web-omega-4\n";
    let going = format!("{name}  deletionTimestamp: '2026-03-02T09:00:00Z'\n");
    assert_eq!(warned(&edited(&[(name, &going)])), "");
}

#[test]
fn what_is_overwritten_on_a_cluster_is_told() {
    let applied = "whenToTakeOver: Always}\n  resourceSnapshotName: web-2-snapshot\n";
    let never = applied.replace("Always", "Never");
    let since = "    observedGeneration: 3\n    lastTransitionTime: '2026-03-02T08:40:00Z'\n";
    let kept = |reason: &str, error: &str| {
        let condition = format!(
            "type: Applied, status: 'False', reason: {reason}, message: 'Failed to apply the manifest \
             (error: {error})', lastTransitionTime: '2026-03-02T08:41:00Z'"
        );
        let failed = format!(
            "{since}  - {{{condition}, observedGeneration: 3}}\n  failedPlacements:\n  - {{version: \
             v1, kind: ConfigMap, namespace: web, name: settings, condition: {{{condition}}}}}\n"
        );
        edited(&[(applied, &never), (since, &failed)])
    };
    let takeover = "no ownership of the object in the member cluster; takeover is needed";
    let kept_there = kept("NotTakenOver", takeover);
    let plan = of(&[], &kept_there);
    let of_beta = |plan: &serde_json::Value| {
        let changes = plan["changes"].as_array().unwrap().iter();
        let mut beta = changes.filter(|it| it["clusters"] == serde_json::json!(["beta"]));
        beta.next().cloned().unwrap()
    };
    let beta = of_beta(&plan);
    assert_eq!(beta["counts"]["overwritten"], 1);
    assert_eq!(beta["overwritten"][0]["name"], "settings");
    let (_, text, _) = call(ARGS, &kept_there);
    let said = "1 overwritten, applied with whenToTakeOver: Never -> Always (beta)";
    has(&text, said);
    has(
        &text,
        "overwrites what exists there: ConfigMap web/settings",
    );
    // What another placement has put there is not overwritten.
    let others = with_work(&kept_there, "other", "beta", ("ConfigMap", "True"));
    let text = of(&[], &others)["warnings"].to_string();
    has(&text, "other has put ConfigMap web/settings on beta");
    // What fails for another reason is not there as somebody else's.
    let refused = kept("ManifestApplyFailed", "the object is invalid");
    let beta = of_beta(&of(&[], &refused));
    assert!(beta["overwritten"].is_null(), "{beta:#}");
    let (_, text, _) = call(ARGS, &refused);
    let said = "the same objects, applied with whenToTakeOver: Never -> Always (beta)";
    has(&text, said);
}

#[test]
fn an_object_that_others_own_is_not_deleted_when_it_leaves_the_content() {
    let since = "    observedGeneration: 3\n    lastTransitionTime: '2026-03-02T08:30:00Z'\n";
    let settings = "  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: settings, namespace: web}\n    \
        data: {colour: green}\n";
    let deleted = |kind: &str, reason: &str| {
        let condition = format!(
            "type: {kind}, status: 'False', reason: {reason}, message: failed, \
             lastTransitionTime: '2026-03-02T08:31:00Z'"
        );
        let failed = format!(
            "{since}  - {{{condition}, observedGeneration: 3}}\n  failedPlacements:\n  - {{version: \
             v1, kind: ConfigMap, namespace: web, name: settings, condition: {{{condition}}}}}\n"
        );
        let plan = of(&[], &edited(&[(settings, ""), (since, &failed)]));
        let changes = plan["changes"].as_array().unwrap().iter();
        let mut alpha = changes.filter(|it| it["clusters"][0] == "alpha");
        alpha.next().unwrap()["deleted"][0]["name"].clone()
    };
    assert_eq!(deleted("Available", "ManifestNotAvailableYet"), "settings");
    // It may be applied again until the run comes.
    assert_eq!(deleted("Applied", "ManifestApplyFailed"), "settings");
    assert!(deleted("Applied", "NotTakenOver").is_null());
}

#[test]
fn a_cluster_that_left_the_fleet_keeps_what_it_has() {
    let omega = "  name: omega\n  labels: {tier: prod, order: '11'}";
    let lost = |plan: &serde_json::Value| {
        let changes = plan["changes"].as_array().unwrap().iter();
        let mut all = changes.flat_map(|it| it["clusters"].as_array().unwrap());
        all.any(|it| it == "omega")
    };
    let there = of(&[], &edited(&[]));
    let summary = there["summary"].as_str().unwrap();
    has(summary, "remove the placement from 1 cluster");
    assert!(lost(&there), "{there:#}");
    let left = of(&[], &edited(&[(omega, &omega.replace("omega", "sigma"))]));
    let summary = left["summary"].as_str().unwrap();
    has(summary, "delete the binding of omega, which left the fleet");
    assert!(!lost(&left), "{left:#}");
}

#[test]
fn clusters_that_fail_with_what_they_would_get_are_told() {
    let beta = "    observedGeneration: 3\n    lastTransitionTime: '2026-03-02T08:40:00Z'\n";
    let says = |kind: &str, generation: u32, since: &str, fails: bool| {
        let condition = |generation: u32| {
            format!(
                "{{type: {kind}, status: 'False', reason: Failed, message: failed, \
                 observedGeneration: {generation}, lastTransitionTime: '2026-03-02T{since}Z'}}"
            )
        };
        let failed = format!(
            "  failedPlacements:\n  - {{version: v1, kind: ConfigMap, namespace: web, name: settings, \
             condition: {}}}\n",
            condition(1)
        );
        let failed = if fails { &failed } else { "" };
        let binding = format!("{beta}  - {}\n{failed}", condition(generation));
        edited(&[(beta, &binding)])
    };
    // What has just been sent is not applied either, and nothing fails.
    assert_eq!(warned(&says("Applied", 3, "09:09:00", false)), "");
    let says = |kind: &str, generation: u32, since: &str| says(kind, generation, since, true);
    let applied = says("Applied", 3, "09:09:00");
    assert_eq!(warned(&applied), "cluster-failing");
    let plan = of(&[], &applied);
    let warning = &plan["warnings"][0];
    assert_eq!(warning["clusters"], serde_json::json!(["beta"]));
    assert_eq!(
        warning["message"],
        "beta has snapshot 2 already, and it fails there: a run that brings the same content sends \
         nothing new and will stall there."
    );
    assert!(plan["stages"][1]["ends"].is_null(), "{plan:#}");
    // What is not available yet may become so; a report on an earlier generation says nothing.
    assert_eq!(warned(&says("Available", 3, "09:09:00")), "");
    assert_eq!(warned(&says("Available", 3, "08:50:00")), "cluster-failing");
    let anew = says("Available", 3, "09:09:00");
    let of_object = "observedGeneration: 1, lastTransitionTime: '2026-03-02T09:09:00Z'";
    let object_is_older = anew.replace(of_object, &of_object.replace("09:09:00", "08:50:00"));
    assert_eq!(warned(&object_is_older), "cluster-failing");
    assert_eq!(warned(&says("Applied", 2, "09:09:00")), "");
    // Other content, or another override, is sent.
    assert_eq!(warnings(&["--snapshot", "1"], &applied), "clusters-go-back");
    let snapshot = "  resourceSnapshotName: web-2-snapshot\n";
    let overridden = format!("{snapshot}  clusterResourceOverrideSnapshots: [o-0]\n");
    let another = applied.replace(snapshot, &overridden);
    assert_eq!(warned(&another), "");
}

#[test]
fn clusters_that_keep_what_others_did_are_told() {
    let beta = "    observedGeneration: 3\n    lastTransitionTime: '2026-03-02T08:40:00Z'\n";
    let external = "    type: External\nstatus:\n";
    let of_beta = "  resourceSnapshotName: web-2-snapshot\n";
    let says = |object: &str, reason: &str, apply: &str| {
        let condition = |reason: &str| {
            format!(
                "{{type: Applied, status: 'False', reason: {reason}, message: failed, observedGeneration: 3, \
                 lastTransitionTime: '2026-03-02T09:00:00Z'}}"
            )
        };
        let failed = condition("NotAllWorkHaveBeenApplied");
        let object_failed = condition(reason);
        edited(&[
            (of_beta, "  resourceSnapshotName: web-1-snapshot\n"),
            (
                beta,
                &format!(
                    "{beta}  - {failed}\n  failedPlacements:\n  - {{version: v1, {object}, condition: \
                     {object_failed}}}\n"
                ),
            ),
            (
                external,
                &format!("    type: External\n    applyStrategy: {apply}\nstatus:\n"),
            ),
        ])
    };
    let [namespace, settings] = [
        "kind: Namespace, name: web",
        "kind: ConfigMap, namespace: web, name: settings",
    ];
    let careful = "{type: ClientSideApply, whenToApply: IfNotDrifted}";
    let never = "{type: ClientSideApply, whenToTakeOver: Never}";
    let plan = of(&[], &says(settings, "NotTakenOver", never));
    let warning = &plan["warnings"][0];
    assert_eq!(warning["kind"], "cluster-failing", "{plan:#}");
    assert_eq!(warning["clusters"], serde_json::json!(["beta"]));
    assert_eq!(
        warning["message"],
        "beta fails for ConfigMap web/settings, which stays as it is there: the run will stall again."
    );
    // Each object is told with the clusters that fail for it.
    let since = "    observedGeneration: 3\n    lastTransitionTime: '2026-03-02T08:30:00Z'\n";
    let condition = "{type: Applied, status: 'False', reason: ManifestApplyFailed, message: failed, \
        observedGeneration: 3, lastTransitionTime: '2026-03-02T09:00:00Z'}";
    let failed = format!(
        "{since}  - {condition}\n  failedPlacements:\n  - {{version: v1, {namespace}, condition: {condition}}}\n"
    );
    let of_settings = says(settings, "NotTakenOver", never);
    let both = of(&[], &replaced(&of_settings, &[(since, &failed)]));
    let both = both["warnings"].to_string();
    has(&both, "beta fails for ConfigMap web/settings, which");
    has(&both, "alpha fails for Namespace web, which");
    // What differs may differ no more with other content.
    let alike = "{type: ClientSideApply, whenToTakeOver: IfNoDiff}";
    let found = "message: 'cannot take over object: configuration differences are found between the manifest \
        object and the corresponding object in the member cluster'";
    let differs = says(settings, "FailedToTakeOver", alike).replace("message: failed", found);
    let differs = of(&[], &differs);
    assert_eq!(
        differs["warnings"][0]["message"],
        "beta keeps what others did to ConfigMap web/settings: the run may stall there with other content as well."
    );
    assert!(plan["stages"][1]["ends"].is_null(), "{plan:#}");
    // A drift of what the run does not change is looked for again.
    assert_eq!(
        warned(&says(namespace, "FoundDrifts", careful)),
        "cluster-failing"
    );
    // An object that changes is applied over a drift; so is everything where the strategy says it.
    assert_eq!(warned(&says(settings, "FoundDrifts", careful)), "");
    let always = "{type: ClientSideApply, whenToApply: Always}";
    assert_eq!(warned(&says(namespace, "FoundDrifts", always)), "");
    // What only compares stalls nowhere.
    let compares = warned(&says(namespace, "FoundDrifts", "{type: ReportDiff}"));
    for kind in ["cluster-held", "cluster-failing"] {
        assert!(!compares.contains(kind), "{compares}");
    }
    // What the content itself is to blame for ends with it, where the run changes that object.
    let failed = says(settings, "ManifestApplyFailed", careful);
    assert_eq!(warned(&failed), "");
    let plan = of(&[], &says(namespace, "ManifestApplyFailed", careful));
    assert_eq!(kinds(&plan, "warnings"), ["cluster-failing"]);
    assert_eq!(
        plan["warnings"][0]["message"],
        "beta fails for Namespace web, which stays as it is there: the run may stall again."
    );
    // What was masked may differ.
    let masked = edited(&[])
        .replace("kind: ConfigMap", "kind: Secret")
        .replace("colour: blue", "colour: '••••'")
        .replace("colour: green", "colour: '••••'");
    let plan = of(&[], &masked);
    let gaps = plan["notChecked"].to_string();
    assert!(gaps.contains("masked values"), "{gaps}");
    // What it lacked comes with the run.
    let same = failed.replace("colour: blue", "colour: green");
    assert_eq!(warned(&same), "cluster-failing");
    let namespace = "  - apiVersion: v1\n    kind: Namespace\n    metadata: {name: web}\n";
    assert_eq!(warned(&same.replacen(namespace, "", 1)), "");
}

#[test]
fn a_switch_to_server_side_apply_is_told_where_it_does_not_force() {
    let external = "    type: External\nstatus:\n";
    let applied = |apply: &str| {
        let with = format!("    type: External\n    applyStrategy: {apply}\nstatus:\n");
        edited(&[(external, with.as_str())])
    };
    let careful = of(&[], &applied("{type: ServerSideApply}"));
    let warning = &careful["warnings"][0];
    assert_eq!(warning["kind"], "cluster-held", "{careful:#}");
    assert_eq!(warning["clusters"], serde_json::json!(["alpha", "beta"]));
    let forced = "{type: ServerSideApply, serverSideApplyConfig: {force: true}}";
    assert_eq!(warned(&applied(forced)), "fields-remain");
    let same = applied("{type: ServerSideApply}")
        .replace("type: ClientSideApply", "type: ServerSideApply");
    assert_eq!(warned(&same), "");
}

#[test]
fn content_that_the_last_run_took_back_is_told() {
    let ended = |name: &str, index: u32, minute: u32| {
        let over = INITIALIZED
            .replace(
                "  stagesStatus",
                &format!(
                    "  - {{type: Progressing, status: 'False', reason: UpdateRunSucceeded, \
                     observedGeneration: 1}}\n  - {{type: Succeeded, status: 'True', reason: \
                     UpdateRunSucceeded, observedGeneration: 1, lastTransitionTime: \
                     '2026-03-02T08:{minute}:30Z'}}\n  stagesStatus"
                ),
            )
            .replace(
                "    - clusterName: beta\n",
                &format!(
                    "    - clusterName: beta\n      conditions:\n      - {{type: Started, status: 'True', \
                     reason: ClusterUpdatingStarted, observedGeneration: 1, lastTransitionTime: \
                     '2026-03-02T08:{minute}:00Z'}}\n"
                ),
            );
        let other = run("Run", &index.to_string(), &over);
        let other = other.rsplit_once("\n---\n").unwrap().1;
        let other = other.replace("T08:50:00Z", &format!("T08:{}:00Z", minute - 1));
        other.replace("name: other", &format!("name: {name}"))
    };
    let hub = |first: u32, second: u32| {
        let (first, second) = (ended("one", first, 51), ended("two", second, 53));
        format!("{}---\n{first}---\n{second}", edited(&[]))
    };
    let plan = of(&[], &hub(2, 1));
    assert_eq!(kinds(&plan, "warnings"), ["snapshot-rolled-back"]);
    assert_eq!(
        plan["warnings"][0]["message"],
        "ClusterStagedUpdateRun two rolled snapshot 2 back to snapshot 1."
    );
    // The newer run waits at the gate of its first stage: it has brought nothing yet.
    let started = "Started, status: 'True', reason: ClusterUpdatingStarted, observedGeneration: 1, \
                   lastTransitionTime: '2026-03-02T08:51:00Z'";
    let waits = hub(2, 1).replace(started, "Waits, status: 'True'");
    assert_eq!(warned(&waits), "");
    // The run that brought it is deleted: the other one pins what was not the latest.
    let pins = hub(1, 1).replace(
        "rolling, state: Run}",
        "rolling, state: Run, resourceSnapshotIndex: '1'}",
    );
    let plan = of(&[], &pins);
    assert_eq!(kinds(&plan, "warnings"), ["snapshot-rolled-back"]);
    assert_eq!(
        plan["warnings"][0]["message"],
        "ClusterStagedUpdateRun two selected snapshot 1 when snapshot 2 existed, which may have been \
         rolled back."
    );
    // Who selects one snapshot after the other goes forward.
    let forward = pins.replacen(
        "resourceSnapshotIndexUsed: '1'",
        "resourceSnapshotIndexUsed: '0'",
        1,
    );
    assert_eq!(warned(&forward), "");
    let later = pins.replace("2026-03-02T08:35:00Z", "2026-03-02T08:55:00Z");
    // The bindings that name it are older than it is.
    assert_eq!(warned(&later), "snapshot-name-reused");
    // The next snapshot has the content of the one that was rolled back.
    let next = "---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterResourceSnapshot\n\
                metadata:\n  name: web-3-snapshot\n  labels: {kubernetes-fleet.io/parent-CRP: web, \
                kubernetes-fleet.io/resource-index: '3', kubernetes-fleet.io/is-latest-snapshot: 'true'}\n  \
                annotations: {kubernetes-fleet.io/resource-hash: HASH, \
                kubernetes-fleet.io/number-of-resource-snapshots: '1'}\nspec: {selectedResources: []}\n";
    let latest = "is-latest-snapshot: 'true'\n    kubernetes-fleet.io/parent-CRP: web\n    \
                  kubernetes-fleet.io/resource-index";
    assert!(pins.contains(latest));
    let pinned = hub(2, 1).replace(
        "rolling, state: Run}",
        "rolling, state: Run, resourceSnapshotIndex: '1'}",
    );
    let older = pinned.replace(latest, &latest.replace("true", "false"));
    let told = |hash: &str| of(&[], &format!("{older}{}", next.replace("HASH", hash)));
    let plan = told("bb");
    assert_eq!(
        plan["warnings"][0]["message"],
        "The content is that of snapshot 2 again: ClusterStagedUpdateRun two rolled snapshot 2 back to snapshot 1.",
        "{plan:#}"
    );
    assert!(!kinds(&told("cc"), "warnings").contains(&"snapshot-rolled-back".to_owned()));
    // Nobody brought it, it is what came last, or somebody asks for it.
    assert_eq!(warned(&hub(0, 1)), "");
    assert_eq!(warned(&hub(1, 2)), "");
    assert_eq!(warnings(&["--snapshot", "2"], &hub(2, 1)), "");
}

#[test]
fn what_is_no_longer_selected_is_in_another_snapshot() {
    let selected = "{group: '', version: v1, kind: Namespace, name: web";
    let told = |words: &[&str], to: &str| {
        let plan = of(words, &edited(&[(selected, to)]));
        let why = plan["notChecked"].as_array().into_iter().flatten();
        let why: Vec<_> = why.filter_map(|it| it["why"].as_str()).collect();
        (plan["changes"].is_array(), why.join("; "))
    };
    let (is_known, why) = told(&[], "{group: '', version: v1, kind: Namespace, name: other");
    assert!(!is_known);
    assert_eq!(
        why,
        "the next snapshot is another one than snapshot 2, because web no longer selects Namespace web"
    );
    // Somebody asks for that one, or a label may select it.
    for (words, to) in [
        (
            &["--snapshot", "2"][..],
            "{group: '', version: v1, kind: Namespace, name: other",
        ),
        (
            &[],
            "{group: '', version: v1, kind: Namespace, labelSelector: {matchLabels: {a: b}}",
        ),
        (&[], selected),
    ] {
        let (_, why) = told(words, to);
        assert!(!why.contains("no longer selects"), "{why}");
    }
    // What is in the namespace is selected with it, unless only the namespace is.
    let alone =
        "{group: '', version: v1, kind: Namespace, name: web, selectionScope: NamespaceOnly";
    assert!(told(&[], alone).1.contains("ConfigMap web/settings"));
}

#[test]
fn what_belongs_on_the_hub_is_warned_of_unless_clusters_took_it() {
    let green = "data: {colour: green}";
    let with = |api: &str, kind: &str| {
        format!(
            "{green}\n  - apiVersion: {api}\n    kind: {kind}\n    metadata: {{name: all, namespace: web}}"
        )
    };
    let own = with(
        "placement.kubernetes-fleet.io/v1beta1",
        "StagedUpdateStrategy",
    );
    let plan = of(&["--snapshot", "2"], &edited(&[(green, &own)]));
    assert_eq!(kinds(&plan, "warnings"), ["hub-object-placed"], "{plan:#}");
    assert_eq!(
        plan["warnings"][0]["message"],
        "StagedUpdateStrategy web/all is part of the content: the run is stuck at every cluster that does not \
         serve its kind."
    );
    let quiet = |content: &str, more: &[(&str, &str)]| {
        let text = edited(&[(green, content)]);
        let text = more
            .iter()
            .fold(text, |text, (from, to)| text.replace(from, to));
        assert!(more.iter().all(|(_, to)| text.contains(to)), "{text}");
        let plan = of(&["--snapshot", "2"], &text);
        let all = kinds(&plan, "warnings");
        assert!(!all.iter().any(|it| it == "hub-object-placed"), "{all:?}");
    };
    quiet(
        &with("placement.kubernetes-fleet.io/v1beta1", "ResourceEnvelope"),
        &[],
    );
    quiet(&with("example.com/v1", "StagedUpdateStrategy"), &[]);
    // A cluster has taken such an object.
    let blue = "data: {colour: blue}";
    let at = "  resourceSnapshotName: web-1-snapshot\nstatus:\n  conditions:\n";
    let applied = "  - {type: Applied, status: 'True', reason: AllWorkApplied}\n";
    let edits = [
        (blue, own.replace("green", "blue")),
        (at, format!("{at}{applied}")),
    ];
    let edits: Vec<_> = edits
        .iter()
        .map(|(from, to)| (*from, to.as_str()))
        .collect();
    quiet(&own, &edits);
}

#[test]
fn a_part_in_the_middle_is_never_created() {
    let part = |sub: u32| {
        format!(
            "---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterResourceSnapshot\n\
             metadata:\n  name: web-2-{sub}\n  labels: {{kubernetes-fleet.io/parent-CRP: web, \
             kubernetes-fleet.io/resource-index: '2'}}\n  annotations: \
             {{kubernetes-fleet.io/subindex-of-resource-snapshot: '{sub}'}}\nspec: {{selectedResources: []}}\n"
        )
    };
    let hash = "'1'\n    kubernetes-fleet.io/resource-hash: bb\n";
    let three = edited(&[(hash, &hash.replace("'1'", "'3'"))]);
    let told = |sub: u32| {
        let plan = of(&[], &format!("{three}{}", part(sub)));
        assert_eq!(
            kinds(&plan, "warnings")[0],
            "snapshot-incomplete",
            "{plan:#}"
        );
        plan["warnings"][0]["message"].as_str().unwrap().to_owned()
    };
    has(&told(0), "KubeFleet 0.3 completes it");
    has(&told(1), "cannot complete it, because web-2-1 exists");
}

/// The base as a namespaced placement.
fn namespaced() -> String {
    let mut text = edited(&[]);
    for kind in [
        "StagedUpdateRun",
        "StagedUpdateStrategy",
        "ResourcePlacement",
        "ResourceBinding",
        "ResourceSnapshot",
        "SchedulingPolicySnapshot",
    ] {
        let from = format!("kind: Cluster{kind}\nmetadata:");
        text = text.replace(&from, &format!("kind: {kind}\nmetadata:"));
        text = text.replace(
            &format!("{{kind: Cluster{kind},"),
            &format!("{{kind: {kind},"),
        );
        text = text.replace(
            &format!("kind: {kind}\nmetadata:\n"),
            &format!("kind: {kind}\nmetadata:\n  namespace: team-a\n"),
        );
    }
    text = text.replace(
        "metadata: {name: rolling",
        "metadata: {namespace: team-a, name: rolling",
    );
    text = text.replace("type: ClusterResourcePlacement", "type: ResourcePlacement");
    text.replacen(
        "kinds:\n",
        "kinds:\n- {kind: ClusterResourcePlacement, outcome: listed}\n- {kind: ClusterResourceBinding, outcome: listed}\n",
        1,
    )
}

fn carrier(selector: &str, bindings: &[(&str, &str)]) -> String {
    let mut text = format!(
        "{}---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterResourcePlacement\n\
         metadata: {{name: namespaces}}\nspec:\n  resourceSelectors:\n  - {selector}\n",
        namespaced()
    );
    for (cluster, state) in bindings {
        let more = format!(
            "---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterResourceBinding\n\
             metadata:\n  name: namespaces-{cluster}\n  labels: {{kubernetes-fleet.io/parent-CRP: namespaces}}\n\
             spec: {{state: {state}, targetCluster: {cluster}}}\n"
        );
        text.push_str(&more);
    }
    text
}

#[test]
fn clusters_without_the_namespace_are_told() {
    let clusters = |objects: &str| {
        let plan = of(&["-n", "team-a"], objects);
        let warnings = plan["warnings"].as_array().unwrap();
        let clusters = warnings
            .iter()
            .find(|it| it["kind"] == "namespace-not-delivered");
        let clusters = clusters.map(|it| it["clusters"].as_array().cloned().unwrap());
        let clusters = clusters.unwrap_or_default();
        clusters
            .iter()
            .map(|it| it.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(clusters(&namespaced()), ["alpha", "gamma", "beta"]);
    let namespace = "{group: '', version: v1, kind: Namespace, name: team-a}";
    let some = [("alpha", "Bound"), ("beta", "Scheduled")];
    assert_eq!(clusters(&carrier(namespace, &some)), ["gamma", "beta"]);
    let all = [("alpha", "Bound"), ("beta", "Bound"), ("gamma", "Bound")];
    assert_eq!(clusters(&carrier(namespace, &all)), [""; 0]);
    let other = "{group: '', version: v1, kind: Namespace, name: team-b}";
    assert_eq!(clusters(&carrier(other, &all)), ["alpha", "gamma", "beta"]);
    let by_label = "{group: '', version: v1, kind: Namespace, labelSelector: {}}";
    assert_eq!(clusters(&carrier(by_label, &all)), [""; 0]);
    // What was not read is not missing.
    let unread = namespaced().replace("- {kind: ClusterResourcePlacement, outcome: listed}\n", "");
    assert_eq!(clusters(&unread), [""; 0]);
}

#[test]
fn a_namespaced_snapshot_in_parts_fails_beside_any_override() {
    let parts = namespaced().replace(
        "number-of-resource-snapshots: '1'\n    kubernetes-fleet.io/resource-hash: bb",
        "number-of-resource-snapshots: '2'\n    kubernetes-fleet.io/resource-hash: bb",
    );
    let second = "---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ResourceSnapshot\n\
        metadata:\n  namespace: team-a\n  name: web-2-0\n  labels:\n    kubernetes-fleet.io/parent-CRP: web\n    \
        kubernetes-fleet.io/resource-index: '2'\n    kubernetes-fleet.io/is-latest-snapshot: 'true'\n  \
        annotations: {kubernetes-fleet.io/subindex-of-resource-snapshot: '0'}\n";
    let parts = format!("{parts}{second}");
    of(&["-n", "team-a"], &parts);
    let over = "---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterResourceOverrideSnapshot\n\
        metadata: {name: any-0, labels: {kubernetes-fleet.io/is-latest-snapshot: 'true'}}\n\
        spec: {overrideSpec: {clusterResourceSelectors: [], policy: {overrideRules: []}}}\n";
    let args: Vec<_> = ARGS.iter().chain(&["-n", "team-a"]).copied().collect();
    // Also one of another namespace.
    let elsewhere = over
        .replace(
            "ClusterResourceOverrideSnapshot",
            "ResourceOverrideSnapshot",
        )
        .replace("clusterResourceSelectors", "resourceSelectors")
        .replace("name: any-0", "name: any-0, namespace: team-b");
    for over in [over, elsewhere.as_str()] {
        let (code, plan) = plan(&args, &format!("{parts}{over}"));
        assert_eq!(code, 3);
        assert_eq!(kinds(&plan, "refusals"), ["snapshot-parts-not-found"]);
    }
}

#[test]
fn the_difference_is_shown_and_secrets_are_not() {
    let args: Vec<_> = ARGS.iter().chain(&["--diff"]).copied().collect();
    let (code, text, notes) = call(&args, &edited(&[]));
    assert_eq!(code, 0);
    has(&text, "snapshot 1 -> 2: 1 changed (alpha)\n");
    has(&text, "-  colour: blue\n+  colour: green\n");
    assert!(!notes.contains("masked"), "{notes}");
    let secret = edited(&[
        ("kind: ConfigMap", "kind: Secret"),
        ("data: {colour: blue}", "stringData: {key: blue}"),
        ("data: {colour: green}", "stringData: {key: green}"),
    ]);
    let (_, text, notes) = call(&args, &secret);
    assert!(!text.contains("green") && !text.contains("blue"), "{text}");
    has(&notes, "--show-secrets");
    let shown: Vec<_> = args
        .iter()
        .chain(&["--show-secrets", "-o", "yaml"])
        .copied()
        .collect();
    let (_, text, _) = call(&shown, &secret);
    assert!(text.contains("green") && text.contains("diffs:"), "{text}");
}

#[test]
fn what_an_older_agent_may_have_left_in_envelopes_is_told_by_works() {
    let object = "apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: settings, namespace: web}\n    data: ";
    let wrapped = "apiVersion: placement.kubernetes-fleet.io/v1beta1\n    kind: ResourceEnvelope\n    metadata: {name: env, \
        namespace: web}\n    data:\n      settings.yaml:\n        apiVersion: v1\n        kind: ConfigMap\n        \
        metadata: {name: settings, namespace: web}\n        data: ";
    let bound = (
        "  resourceSnapshotName: web-1-snapshot\nstatus",
        "  resourceSnapshotName: web-1-snapshot\n  \
        clusterResourceOverrideSnapshots: [fast-0]\nstatus",
    );
    // Since 0.3, members have this label: an older hub overrides envelopes as a whole.
    let newer = (
        "labels: {tier: canary}",
        "labels: {tier: canary, kubernetes-fleet.io/member-name: alpha}",
    );
    let rule = "clusterSelector: {}\n        overrideType: JSONPatch\n        jsonPatchOverrides:\n        \
        - {op: add, path: /metadata/annotations, value: {team: a}}\n";
    let (before, _) = OVERRIDE.split_once("clusterSelector:").unwrap();
    let objects = format!(
        "{}\n{before}{rule}",
        edited(&[(object, wrapped), bound, newer])
    );
    let unclear = |objects: &str| -> Vec<String> {
        let plan = of(&[], objects);
        let all = plan["notChecked"].as_array().unwrap().iter();
        let all = all.filter(|it| it["clusters"] == serde_json::json!(["alpha"]));
        all.map(|it| it["why"].to_string()).collect()
    };
    let found = unclear(&objects);
    assert_eq!(found.len(), 1, "{found:?}");
    has(&found[0], "as KubeFleet 0.3.1 or older left it");
    let work = |name: &str, manifests: &str| {
        format!(
            "\n---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: Work\nmetadata:\n  name: {name}\n  \
             namespace: fleet-member-alpha\n  labels: {{kubernetes-fleet.io/parent-CRP: web}}\nspec:\n  \
             workload:\n    manifests:\n    - {manifests}"
        )
    };
    let team = "annotations: {team: a}";
    let own = work(
        "web-work",
        &format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: web, {team}}}}}"),
    );
    let wraps = |more: &str| {
        let settings = format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: settings, namespace: web{more}}}, \
             data: {{colour: blue}}}}"
        );
        format!(
            "{objects}{own}{}",
            work("web-work-envelope-8c6d1f5c-1", &settings)
        )
    };
    assert_eq!(unclear(&wraps(", annotations: {team: a}")), [""; 0]);
    assert_eq!(unclear(&wraps("")), [""; 0]);
    // Of a cluster to which nothing is sent, nothing changes.
    let kept = replaced(
        &objects,
        &[
            (
                "resourceSnapshotName: web-1-snapshot",
                "resourceSnapshotName: web-2-snapshot",
            ),
            ("'2026-03-02T08:35:00Z'", "'2026-03-02T08:25:00Z'"),
        ],
    );
    assert_eq!(unclear(&kept), [""; 0]);
}

#[test]
fn names_that_are_nearly_right_are_offered() {
    let of = |args: &[&str]| {
        let args: Vec<_> = args.iter().chain(&["-f", "-"]).copied().collect();
        call(&args, &edited(&[]))
    };
    let (code, text, _) = of(&["--placement", "webb", "--strategy", "roling"]);
    assert_eq!(code, 3);
    has(&text, "plan --placement web --strategy roling");
    has(&text, "a similar name exists");
    let (code, text, _) = of(&[
        "--placement",
        "web",
        "--strategy",
        "rolling",
        "-n",
        "team-a",
    ]);
    assert_eq!(code, 3);
    has(&text, "ClusterResourcePlacement web has\n  that name");
    let (code, _, error) = of(&["--placement", "crp/webb", "--strategy", "rolling"]);
    assert_eq!(code, 6);
    has(&error, "did you mean: --placement crp/web");
    for strategy in ["sus/rolling", "crp/rolling", "zzz/rolling", "csus/"] {
        let (code, ..) = of(&["--placement", "web", "--strategy", strategy]);
        assert_eq!(code, 2, "{strategy}");
    }
    assert_eq!(
        of(&["--placement", "web", "--strategy", "csus/rolling"]).0,
        0
    );
}

const OVERRIDE: &str = "---\napiVersion: placement.kubernetes-fleet.io/v1beta1\n\
    kind: ClusterResourceOverrideSnapshot\nmetadata:\n  name: fast-0\n  labels:\n    \
    kubernetes-fleet.io/is-latest-snapshot: 'true'\nspec:\n  overrideSpec:\n    \
    placement: {name: web}\n    clusterResourceSelectors:\n    \
    - {group: '', version: v1, kind: Namespace, name: web}\n    \
    policy:\n      overrideRules:\n      - clusterSelector:\n          clusterSelectorTerms:\n          \
    - labelSelector: {matchExpressions: [{key: tier, operator: In, values: [prod]}]}\n";

#[test]
fn an_override_for_the_placement_that_changes_nothing_is_warned_of() {
    let with = |edits: &[(&str, &str)]| {
        let text = replaced(OVERRIDE, edits);
        warned(&format!("{}{text}", edited(&[])))
    };
    assert_eq!(with(&[]), "");
    let idle = "override-matches-nothing";
    assert_eq!(
        with(&[("name: web}\n    policy", "name: wep}\n    policy")]),
        idle
    );
    assert_eq!(
        with(&[(
            "version: v1, kind: Namespace",
            "version: v2, kind: Namespace"
        )]),
        idle
    );
    assert_eq!(with(&[("values: [prod]", "values: [nowhere]")]), idle);
    // For every placement, for another one, and not in force.
    let other = ("name: web}\n    policy", "name: wep}\n    policy");
    assert_eq!(with(&[other, ("    placement: {name: web}\n", "")]), "");
    assert_eq!(
        with(&[other, ("placement: {name: web}", "placement: {name: api}")]),
        ""
    );
    assert_eq!(with(&[other, ("'true'", "'false'")]), "");
}

#[test]
fn an_override_that_no_run_finds_is_warned_of() {
    let of = |fixture: &str, left_out: &str| {
        let path = whole(format!("tests/findings/FS707/{fixture}.yaml"));
        let text = std::fs::read_to_string(path).unwrap();
        let documents = text.split("\n---\n").filter(|it| !it.contains(left_out));
        let text = documents.collect::<Vec<_>>().join("\n---\n");
        let of = ["--placement", "web-app-placement", "-n", "my-app-namespace"];
        let args = of
            .into_iter()
            .chain(["--strategy", "web-app-strategy", "-f", "-"]);
        let args: Vec<_> = args.collect();
        kinds(&plan(&args, &text).1, "warnings")
    };
    let never = "override-never-applied".to_owned();
    assert!(of("fires-succeeded", "no such document").contains(&never));
    // Since 0.3, the first run of a placement makes the first snapshot.
    assert!(of("fires-succeeded", "kind: ResourceSnapshot\n").contains(&never));
    assert_eq!(of("quiet-other-placement", "no such document"), [""; 0]);
}

/// The base with so many clusters more in the second stage.
fn with_clusters(count: usize) -> String {
    let wanted = (count + 3).to_string();
    let mut text = edited(&[
        (
            "numberOfClusters: 3",
            &format!("numberOfClusters: {wanted}"),
        ),
        (
            "number-of-clusters: '3'",
            &format!("number-of-clusters: '{wanted}'"),
        ),
    ]);
    for at in 0..count {
        let more = format!(
            "---\napiVersion: cluster.kubernetes-fleet.io/v1beta1\nkind: MemberCluster\nmetadata: \
             {{name: store-{at:05}, labels: {{tier: prod, order: '{at}'}}}}\n---\napiVersion: \
             placement.kubernetes-fleet.io/v1beta1\nkind: ClusterResourceBinding\nmetadata: {{name: \
             web-{at}, generation: 1, labels: {{kubernetes-fleet.io/parent-CRP: web}}}}\nspec: {{state: \
             Scheduled, targetCluster: store-{at:05}, schedulingPolicySnapshotName: web-0}}\n"
        );
        text.push_str(&more);
    }
    text
}

#[test]
fn objects_that_outgrow_what_can_be_stored_are_warned_of() {
    assert_eq!(warnings(&["--run", "r"], &with_clusters(900)), "");
    assert_eq!(
        warnings(&["--run", "r"], &with_clusters(1100)),
        "placement-status-too-large policy-decisions-cut"
    );
    assert_eq!(
        warnings(&["--run", "r"], &with_clusters(3600)),
        "run-too-large placement-status-too-large policy-decisions-cut"
    );
}

/// The same with a Work of a placement, and what its agent says of an object called web or settings.
fn with_work(
    objects: &str,
    placement: &str,
    cluster: &str,
    (kind, applied): (&str, &str),
) -> String {
    let object = match kind {
        "Namespace" => "name: web",
        _ => "namespace: web, name: settings",
    };
    format!(
        "{objects}\n---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: Work\nmetadata:\n  \
         name: {placement}-work\n  namespace: fleet-member-{cluster}\n  labels:\n    \
         kubernetes-fleet.io/parent-CRP: {placement}\nspec:\n  workload:\n    manifests:\n    \
         - {{apiVersion: v1, kind: {kind}, metadata: {{{object}}}}}\nstatus:\n  \
         manifestConditions:\n  - identifier: {{ordinal: 0, kind: {kind}, {object}, version: v1}}\n    \
         conditions:\n    - {{type: Applied, status: '{applied}', reason: Applied, \
         lastTransitionTime: '2026-03-02T08:00:00Z'}}\n"
    )
}

#[test]
fn what_another_placement_has_put_there_holds_the_run() {
    let work = |placement: &str, cluster: &str, applied: &str| {
        with_work(&edited(&[]), placement, cluster, ("Namespace", applied))
    };
    let told = of(&[], &work("other", "gamma", "True"));
    let warnings = told["warnings"].as_array().unwrap();
    let kind = "object-owned-by-another-placement";
    let warning = warnings.iter().find(|it| it["kind"] == kind);
    let warning = warning.expect("a warning");
    assert_eq!(
        warning["message"],
        "ClusterResourcePlacement other has put Namespace web on gamma. KubeFleet does not apply an \
         object for two placements: the run would be stuck there."
    );
    assert_eq!(warning["code"], "FS508");
    assert_eq!(warning["clusters"], serde_json::json!(["gamma"]));
    let trace = "kubectl fleet-stage trace Namespace/web --member gamma";
    assert_eq!(warning["remedies"][0]["command"], trace);
    // A placement that only compares is held by it as well.
    let strategy = (
        "    type: External\n",
        "    type: External\n    applyStrategy: {type: ReportDiff}\n",
    );
    let compares = with_work(
        &edited(&[strategy]),
        "other",
        "gamma",
        ("Namespace", "True"),
    );
    let text = of(&[], &compares).to_string();
    has(&text, "KubeFleet does not compare an object for two");
    // Its own Work that is still being deleted has the name that the next one needs.
    let created = "  name: web-work\n  namespace: fleet-member-";
    let deleted =
        "  name: web-work\n  deletionTimestamp: '2026-03-02T08:50:00Z'\n  namespace: fleet-member-";
    let earlier = |cluster| work("web", cluster, "True").replace(created, deleted);
    let told = of(&[], &earlier("gamma"));
    let remains = "earlier-work-remains".to_owned();
    assert!(kinds(&told, "warnings").contains(&remains), "{told:#}");
    let text = told.to_string();
    assert!(
        text.contains("earlier Work for gamma is still being deleted")
            && text.contains("--for=delete"),
        "{text}"
    );
    assert!(!kinds(&of(&[], &earlier("alpha")), "warnings").contains(&remains));
    // What is not applied, what is of the placement itself, and what the cluster has already.
    for quiet in [
        work("other", "gamma", "False"),
        work("web", "gamma", "True"),
        work("other", "alpha", "True"),
    ] {
        assert!(!kinds(&of(&[], &quiet), "warnings").contains(&kind.to_owned()));
    }
}
