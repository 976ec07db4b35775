//! Each reason for a refusal, and beside it a near miss on which nothing is said.

use super::{kinds, plan};

const BASE: &str = include_str!("base.yaml");
const ARGS: &[&str] = &["--placement", "web", "--strategy", "rolling", "-f", "-"];

/// The base with some of it replaced. What is to be replaced must be there.
pub fn edited(edits: &[(&str, &str)]) -> String {
    replaced(BASE, edits)
}

/// The same of another text.
pub fn replaced(text: &str, edits: &[(&str, &str)]) -> String {
    edits.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

/// The base without the object that holds a text.
pub fn without(part: &str) -> String {
    let documents: Vec<_> = BASE.split("\n---\n").collect();
    let kept: Vec<_> = documents
        .iter()
        .filter(|it| !it.contains(part))
        .copied()
        .collect();
    assert_eq!(kept.len() + 1, documents.len(), "{part}");
    kept.join("\n---\n")
}

/// The refusals on some objects. None of them leaves anything undecided.
fn refusals(more: &[&str], objects: &str) -> Vec<String> {
    let args: Vec<_> = ARGS.iter().chain(more).copied().collect();
    let (code, plan) = plan(&args, objects);
    let refusals = kinds(&plan, "refusals");
    let gaps = plan["notChecked"].as_array().unwrap().iter();
    let gaps: Vec<_> = gaps.filter(|it| it["what"] != "changed objects").collect();
    assert!(gaps.is_empty(), "{plan:#}");
    assert_eq!(code, if refusals.is_empty() { 0 } else { 3 }, "{plan:#}");
    for point in plan["refusals"].as_array().unwrap() {
        let message = point["message"].as_str().unwrap();
        assert!(message.ends_with('.'), "{message}");
        let first = message.chars().next().unwrap();
        assert!(
            !first.is_lowercase() || message.starts_with("spec"),
            "{message}"
        );
        assert!(
            point["evidence"].is_array() || point["code"] == "FS114",
            "{point:#}"
        );
        assert!(point["remedies"].is_array(), "{point:#}");
    }
    refusals
}

const PART_MISSING: (&str, &str) = (
    "number-of-resource-snapshots: '1'\n    kubernetes-fleet.io/resource-hash: aa",
    "number-of-resource-snapshots: '2'\n    kubernetes-fleet.io/resource-hash: aa",
);
const SELECTORS_INVALID: (&str, &str) = (
    "    status: 'True'\n    reason: SchedulingPolicyFulfilled\n    observedGeneration: 1",
    "    status: 'False'\n    reason: InvalidResourceSelectors\n    observedGeneration: 1",
);

/// Objects with edits, what is asked for, and the refusal that follows.
#[allow(clippy::type_complexity)]
#[rustfmt::skip]
const CASES: &[(&str, &[(&str, &str)], &[&str], &str)] = &[
    ("all is well", &[], &[], ""),
    ("rolls out itself", &[("    type: External", "    type: RollingUpdate")], &[], "placement-not-external"),
    ("is being deleted", &[("  name: web\n  generation: 1\n  fin", "  name: web\n  generation: 1\n  deletionTimestamp: '2026-03-02T09:00:00Z'\n  fin")], &[], "placement-being-deleted"),
    ("no latest policy", &[("is-latest-snapshot: 'true'\n    kubernetes-fleet.io/parent-CRP: web\n    kubernetes-fleet.io/policy", "is-latest-snapshot: 'false'\n    kubernetes-fleet.io/parent-CRP: web\n    kubernetes-fleet.io/policy")], &[], "policy-snapshot-not-found"),
    ("policy without index", &[("    kubernetes-fleet.io/policy-index: '0'\n", "")], &[], "policy-snapshot-without-index"),
    ("policy without count", &[("    kubernetes-fleet.io/number-of-clusters: '3'\n", "")], &[], "policy-snapshot-without-count"),
    ("policy with an odd count", &[("number-of-clusters: '3'", "number-of-clusters: 'three'")], &[], "policy-snapshot-without-count"),
    ("without a count where none is needed", &[("    kubernetes-fleet.io/number-of-clusters: '3'\n", ""), ("placementType: PickN", "placementType: PickAll")], &[], ""),
    ("scheduled for an older generation", &[("  name: web-0\n  generation: 1", "  name: web-0\n  generation: 2")], &[], "placement-not-scheduled"),
    ("not scheduled: fewer bindings follow from it", &[("  name: web-0\n  generation: 1", "  name: web-0\n  generation: 2"), ("number-of-clusters: '3'", "number-of-clusters: '4'")], &[], "placement-not-scheduled"),
    ("a binding of an older policy", &[("  state: Scheduled\n  targetCluster: gamma\n  schedulingPolicySnapshotName: web-0", "  state: Bound\n  targetCluster: gamma\n  schedulingPolicySnapshotName: web-9")], &[], "binding-outdated"),
    ("one of an older policy that is given up", &[("  targetCluster: omega\n  schedulingPolicySnapshotName: web-0", "  targetCluster: omega\n  schedulingPolicySnapshotName: web-9")], &[], ""),
    ("more wanted than bound", &[("number-of-clusters: '3'", "number-of-clusters: '4'")], &[], "binding-count-mismatch"),
    ("no binding but one to remove", &[("number-of-clusters: '3'", "number-of-clusters: '0'"), ("state: Bound", "state: Unscheduled"), ("state: Scheduled", "state: Unscheduled")], &[], ""),
    ("two approvals before a stage", &[("    - {type: Approval}\n---", "    - {type: Approval}\n    - {type: Approval}\n---")], &[], "stage-tasks-invalid"),
    ("a wait before a stage", &[("    - {type: Approval}\n---", "    - {type: TimedWait, waitTime: 1m}\n---")], &[], "stage-tasks-invalid"),
    ("a wait without time", &[(", waitTime: 1h30m", "")], &[], "stage-tasks-invalid"),
    ("a wait that Go cannot hold", &[("1h30m", "5000000h")], &[], "stage-tasks-invalid"),
    ("a wait of nothing", &[("1h30m", "0s")], &[], "stage-tasks-invalid"),
    ("a short wait", &[("1h30m", "1s")], &[], ""),
    ("two waits after a stage", &[("    - {type: Approval}\n  - name: prod", "    - {type: TimedWait, waitTime: 1m}\n  - name: prod")], &[], "stage-tasks-invalid"),
    ("an approval with a time, which the controller takes away", &[("    - {type: Approval}\n  - name", "    - {type: Approval, waitTime: 1m}\n  - name")], &[], ""),
    ("a selector without values", &[("{matchLabels: {tier: canary}}", "{matchExpressions: [{key: tier, operator: In, values: []}]}")], &[], "stage-selector-invalid"),
    ("a selector with a key that is none", &[("{matchLabels: {tier: canary}}", "{matchLabels: {tier: canary, 'a b': c}}")], &[], "stage-selector-invalid"),
    ("a selector with values", &[("{matchLabels: {tier: canary}}", "{matchExpressions: [{key: tier, operator: In, values: [canary]}]}")], &[], ""),
    ("every cluster in the first stage", &[("{matchLabels: {tier: canary}}", "{}")], &[], "cluster-in-two-stages"),
    ("every cluster in the only stage", &[("{matchLabels: {tier: canary}}", "{}"), ("    labelSelector: {matchLabels: {tier: prod}}\n    sortingLabelKey: order\n", "")], &[], ""),
    ("a word to sort by", &[("order: '9'", "order: last")], &[], "sorting-label-invalid"),
    ("nothing to sort by", &[(", order: '9'", "")], &[], "sorting-label-invalid"),
    ("a negative number to sort by", &[("order: '9'", "order: '-9'")], &[], ""),
    ("a word on a cluster that is given up", &[("order: '11'", "order: last")], &[], ""),
    ("in no stage", &[("tier: prod, order: '9'", "tier: test, order: '9'")], &[], "cluster-in-no-stage"),
    ("a cluster that is given up, in no stage", &[("tier: prod, order: '11'", "tier: test")], &[], ""),
    ("a stage without selector selects none", &[("    labelSelector: {matchLabels: {tier: canary}}\n", "")], &[], "cluster-in-no-stage"),
    ("a number that is none", &[("50%", "half")], &[], "max-concurrency-invalid"),
    ("a whole number", &[("50%", "7")], &[], ""),
    ("an index that is a word", &[], &["--snapshot", "newest"], "snapshot-index-invalid"),
    ("an index below zero", &[], &["--snapshot=-1"], "snapshot-index-invalid"),
    ("an index that is too high", &[], &["--snapshot", "3"], "snapshot-not-found"),
    ("an index with a zero before it", &[], &["--snapshot", "02"], "snapshot-not-found"),
    ("an index that was deleted", &[], &["--snapshot", "0"], "snapshot-pruned"),
    ("an index that exists", &[], &["--snapshot", "1"], ""),
    ("the latest", &[], &["--snapshot", "latest"], ""),
    ("a part is missing", &[PART_MISSING], &["--snapshot", "1"], "snapshot-incomplete"),
    ("a part of another is missing", &[PART_MISSING], &["--snapshot", "2"], ""),
    ("the first part is missing", &[("    kubernetes-fleet.io/resource-hash: bb\n", "")], &[], "snapshot-incomplete"),
    ("selectors that are not valid", &[SELECTORS_INVALID], &[], "resource-selector-invalid"),
    ("selectors that are not valid, which an index does not need", &[SELECTORS_INVALID], &["--snapshot", "2"], ""),
];

#[test]
fn every_reason_is_told_and_no_near_miss() {
    for (name, edits, args, expected) in CASES {
        let told = refusals(args, &edited(edits)).join(" ");
        assert_eq!(told, *expected, "{name}");
    }
}

#[test]
fn objects_that_are_missing_are_told() {
    for (part, refusal) in [
        ("kind: ClusterStagedUpdateStrategy\n", "strategy-not-found"),
        (
            "kind: ClusterResourcePlacement\nmetadata",
            "placement-not-found",
        ),
        (
            "kind: ClusterSchedulingPolicySnapshot\nmetadata",
            "policy-snapshot-not-found",
        ),
        // A cluster without its MemberCluster is in no stage.
        ("  name: gamma\n  labels", "cluster-in-no-stage"),
        ("  name: omega\n  labels", ""),
        ("web-gamma-3", "binding-count-mismatch"),
    ] {
        assert_eq!(refusals(&[], &without(part)).join(" "), refusal, "{part}");
    }
}

#[test]
fn the_name_of_another_policy_snapshot_makes_two() {
    let second = BASE
        .split("\n---\n")
        .find(|it| it.contains("name: web-0"))
        .unwrap();
    let second = second
        .replace("name: web-0", "name: web-1")
        .replace("policy-index: '0'", "policy-index: '1'");
    assert_eq!(
        refusals(&[], &format!("{BASE}---\n{second}")),
        ["policy-snapshots-several"]
    );
    let older = second.replace("is-latest-snapshot: 'true'", "is-latest-snapshot: 'false'");
    assert_eq!(refusals(&[], &format!("{BASE}---\n{older}")), [""; 0]);
}

#[test]
fn nothing_selected_and_nothing_given_up() {
    let bindings: Vec<_> = BASE
        .split("\n---\n")
        .filter(|it| !it.contains("kind: ClusterResourceBinding\nmetadata"))
        .collect();
    let none = bindings
        .join("\n---\n")
        .replace("number-of-clusters: '3'", "number-of-clusters: '0'");
    assert_eq!(refusals(&[], &none), ["no-cluster-selected"]);
}

const OVERRIDE: &str = "---\napiVersion: placement.kubernetes-fleet.io/v1beta1\n\
    kind: ClusterResourceOverrideSnapshot\nmetadata:\n  name: fast-0\n  labels:\n    \
    kubernetes-fleet.io/is-latest-snapshot: 'true'\nspec:\n  overrideSpec:\n    \
    clusterResourceSelectors:\n    - {group: '', version: v1, kind: Namespace, name: web}\n    \
    policy:\n      overrideRules:\n      - clusterSelector:\n          clusterSelectorTerms:\n          \
    - labelSelector: {matchExpressions: [{key: tier, operator: In}]}\n";

#[test]
fn overrides_that_cannot_be_used_stop_a_run() {
    let with = |edits: &[(&str, &str)]| {
        let text = replaced(OVERRIDE, edits);
        refusals(&[], &format!("{BASE}{text}"))
    };
    assert_eq!(with(&[]), ["override-invalid"]);
    assert_eq!(
        with(&[("    policy:\n", "    nothing:\n")]),
        ["override-invalid"]
    );
    let near: [&[(&str, &str)]; 6] = [
        &[("operator: In}", "operator: In, values: [prod]}")],
        &[("operator: In}", "operator: Exists}")],
        &[("'true'", "'false'")],
        &[("name: web}", "name: other}")],
        &[(
            "    clusterResourceSelectors",
            "    placement: {name: other}\n    clusterResourceSelectors",
        )],
        // The rule before it takes every cluster.
        &[(
            "      overrideRules:\n",
            "      overrideRules:\n      - clusterSelector: {clusterSelectorTerms: []}\n",
        )],
    ];
    for edits in near {
        assert_eq!(with(edits), [""; 0], "{edits:?}");
    }
}

#[test]
fn everything_is_told_at_once() {
    let all = edited(&[
        ("    type: External", "    type: RollingUpdate"),
        ("order: '9'", "order: last"),
        ("{tier: canary}\n---", "{tier: canary, order: '1'}\n---"),
        (
            "{matchLabels: {tier: canary}}",
            "{matchLabels: {tier: none}}",
        ),
        ("50%", "half"),
        ("1h30m", "0s"),
    ]);
    assert_eq!(
        refusals(&["--snapshot", "7"], &all),
        [
            "placement-not-external",
            "stage-tasks-invalid",
            "sorting-label-invalid",
            "cluster-in-no-stage",
            "snapshot-not-found",
            "max-concurrency-invalid"
        ]
    );
}

#[test]
fn more_than_ten_clusters_are_named() {
    let mut text = BASE.replace("number-of-clusters: '3'", "number-of-clusters: '15'");
    for at in 10..22 {
        let more = format!(
            "---\napiVersion: cluster.kubernetes-fleet.io/v1beta1\nkind: MemberCluster\nmetadata: {{name: far-{at}}}\n\
             ---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterResourceBinding\n\
             metadata:\n  name: web-far-{at}\n  labels: {{kubernetes-fleet.io/parent-CRP: web}}\n\
             spec: {{state: Scheduled, targetCluster: far-{at}, schedulingPolicySnapshotName: web-0}}\n"
        );
        text.push_str(&more);
    }
    let (code, plan) = plan(ARGS, &text);
    assert_eq!(code, 3);
    let clusters = plan["refusals"][0]["clusters"].as_array().unwrap();
    assert_eq!(clusters.len(), 12, "{clusters:?}");
    assert_eq!(plan["unplaced"].as_array().unwrap().len(), 12);
}

/// What was denied or left out is said, and leaves the plan undecided where it decides.
#[test]
fn silence_is_no_plan() {
    for (kind, decides) in [
        ("ClusterResourcePlacement", true),
        ("ClusterResourceBinding", true),
        ("ClusterResourceSnapshot", true),
        ("ClusterSchedulingPolicySnapshot", true),
        ("ClusterStagedUpdateStrategy", true),
        ("MemberCluster", true),
        ("ClusterStagedUpdateRun", false),
        ("ClusterResourceOverrideSnapshot", false),
        ("ResourceOverrideSnapshot", false),
    ] {
        let object = format!("kind: {kind}\nmetadata");
        let kept: Vec<_> = BASE
            .split("\n---\n")
            .filter(|it| !it.contains(&object))
            .collect();
        let kept = kept.join("\n---\n");
        let line = format!("- {{kind: {kind}, outcome: listed}}\n");
        let denied = kept.replace(
            &line,
            &format!("- {{kind: {kind}, outcome: denied, message: no}}\n"),
        );
        let (code, undecided) = plan(ARGS, &denied);
        assert_eq!(code, 7, "{kind} {undecided:#}");
        assert!(
            undecided["notChecked"].to_string().contains(kind),
            "{undecided:#}"
        );
        let left_out = kept.replace(&line, "");
        let (code, open) = plan(ARGS, &left_out);
        assert_eq!(code, if decides { 7 } else { 0 }, "{kind} {open:#}");
        assert!(open["notChecked"].to_string().contains(kind), "{open:#}");
    }
}
