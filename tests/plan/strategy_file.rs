//! Strategies that are not applied yet: every rule that they break, and what they would do.

use std::io::Write as _;

use super::{call, kinds, plan};

const BASE: &str = include_str!("base.yaml");

const GOOD: &str = "apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: new}
spec:
  stages:
  - name: canary
    labelSelector: {matchLabels: {tier: canary}}
    maxConcurrency: 3
    afterStageTasks:
    - {type: TimedWait, waitTime: 90s}
  - name: prod
    labelSelector: {matchExpressions: [{key: tier, operator: In, values: [prod]}]}
    sortingLabelKey: order
    maxConcurrency: 100%
    beforeStageTasks:
    - {type: Approval}
";

/// The plan with a strategy from a file, for the base from standard input.
fn with(strategy: &str) -> (u8, serde_json::Value) {
    let mut file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
    file.write_all(strategy.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap();
    plan(
        &["--placement", "web", "--strategy-file", path, "-f", "-"],
        BASE,
    )
}

/// What the schema has against a strategy: where, and a word of why.
fn rejected(strategy: &str) -> Vec<String> {
    let (code, plan) = with(strategy);
    let points = plan["refusals"].as_array().unwrap().iter();
    let rejected = points.filter(|point| point["kind"] == "strategy-rejected");
    let messages: Vec<_> = rejected
        .map(|it| it["message"].as_str().unwrap().to_owned())
        .collect();
    assert!(messages.is_empty() || code == 3);
    messages
}

#[test]
fn a_good_strategy_is_planned_with() {
    let (code, plan) = with(GOOD);
    assert_eq!(code, 0, "{plan:#}");
    assert_eq!(plan["strategy"]["name"], "new");
    assert!(plan["strategyFile"].is_string());
    assert_eq!(plan["stages"][1]["concurrency"], 2);
    assert_eq!(plan["stages"][1]["clusters"][0]["turn"], 1);
    assert_eq!(plan["stages"][1]["clusters"][1]["turn"], 1);
}

#[test]
fn every_rule_of_the_schema_is_told() {
    let long = "a".repeat(64);
    let many = GOOD.replace(
        "  stages:\n",
        &format!("  stages:\n{}", "  - {name: x}\n".repeat(30)),
    );
    #[rustfmt::skip]
    let cases = [
        ("name: canary\n", "name: Canary\n", "spec.stages[0].name must be lowercase letters"),
        ("name: canary\n", "name: can-ary\n", "spec.stages[0].name must be lowercase letters"),
        ("name: canary\n", "name: ''\n", "spec.stages[0].name must be lowercase letters"),
        ("name: canary\n", &format!("name: {long}\n"), "spec.stages[0].name must have at most 63"),
        ("- name: canary\n    label", "- label", "spec.stages[0].name is missing"),
        ("name: canary\n", "name: [canary]\n", "spec.stages[0].name must be text"),
        ("maxConcurrency: 3", "maxConcurrency: 0", "spec.stages[0].maxConcurrency must be at least 1"),
        ("maxConcurrency: 3", "maxConcurrency: -1", "spec.stages[0].maxConcurrency must be at least 1"),
        ("maxConcurrency: 3", "maxConcurrency: 0%", "must be from 1% to 100%"),
        ("maxConcurrency: 3", "maxConcurrency: 101%", "must be from 1% to 100%"),
        ("maxConcurrency: 3", "maxConcurrency: 2.5%", "must be from 1% to 100%"),
        ("maxConcurrency: 3", "maxConcurrency: '3'", "a number without quotes"),
        ("maxConcurrency: 3", "maxConcurrency: 2.5", "must be a whole number"),
        ("waitTime: 90s", "waitTime: 90", "spec.stages[0].afterStageTasks[0].waitTime must be"),
        ("waitTime: 90s", "waitTime: 1d", "spec.stages[0].afterStageTasks[0].waitTime must be hours"),
        ("waitTime: 90s", "waitTime: 090s", "afterStageTasks[0].waitTime must be hours"),
        ("waitTime: 90s", "waitTime: 90ms", "afterStageTasks[0].waitTime must be hours"),
        ("waitTime: 90s", "waitTime: ''", "afterStageTasks[0].waitTime must be hours"),
        (", waitTime: 90s", "", "afterStageTasks[0].waitTime is missing"),
        ("type: TimedWait", "type: Approval", "afterStageTasks[0].waitTime must be absent"),
        ("type: TimedWait", "type: Wait", "afterStageTasks[0].type must be Approval or TimedWait"),
        ("type: TimedWait, ", "", "afterStageTasks[0].type is missing"),
        (
            "    - {type: TimedWait, waitTime: 90s}\n",
            "    - {type: TimedWait, waitTime: 90s}\n    - {type: Approval}\n    - {type: Approval}\n",
            "spec.stages[0].afterStageTasks must have at most 2 tasks",
        ),
        ("    - {type: Approval}\n", "    - {type: Approval}\n    - {type: Approval}\n", "spec.stages[1].beforeStageTasks must have at most one task"),
        ("    - {type: Approval}\n", "    - {type: TimedWait, waitTime: 1m}\n", "spec.stages[1].beforeStageTasks[0].type must be Approval"),
        ("    - {type: Approval}\n", "    - {type: Approval, waitTime: 1m}\n", "spec.stages[1].beforeStageTasks[0].waitTime must be absent"),
        ("sortingLabelKey: order", "sortingLabelKey: 7", "spec.stages[1].sortingLabelKey must be text"),
        ("{tier: canary}", "{tier: 7}", "spec.stages[0].labelSelector.matchLabels[tier] must be text"),
        (", operator: In", "", "labelSelector.matchExpressions[0].operator is missing"),
        ("values: [prod]", "values: prod", "matchExpressions[0].values must be a list"),
        ("maxConcurrency: 3", "maxConcurency: 3", "maxConcurency is not a field of a strategy; use maxConcurrency"),
        ("name: new", "name: New", "metadata.name must be lowercase letters"),
    ];
    for (from, to, expected) in cases {
        assert!(GOOD.contains(from), "{from}");
        let told = rejected(&GOOD.replacen(from, to, 1));
        assert_eq!(told.len(), 1, "{to}: {told:?}");
        assert!(told[0].contains(expected), "{to}: {told:?}");
    }
    assert!(rejected(&many)[0].contains("spec.stages must have at most 31 stages"));
    let none = GOOD.split("  stages:").next().unwrap();
    assert!(rejected(&format!("{none}  stages: {{}}\n"))[0].contains("spec.stages must be a list"));
    assert!(rejected(&format!("{none}  other: 1\n"))[0].contains("spec.stages is missing"));
    assert!(rejected(none.trim_end_matches("spec:\n"))[0].contains("spec is missing"));
}

#[test]
fn what_the_schema_allows_is_not_told() {
    for (from, to) in [
        ("maxConcurrency: 3", "maxConcurrency: 1%"),
        ("maxConcurrency: 3", "maxConcurrency: 1"),
        ("maxConcurrency: 3", "maxConcurrency:"),
        ("waitTime: 90s", "waitTime: 1h2m3.5s"),
        ("waitTime: 90s", "waitTime: 0.5h"),
        ("name: canary\n", "name: 1stage\n"),
        ("    labelSelector: {matchLabels: {tier: canary}}\n", ""),
        ("metadata: {name: new}", "metadata: {generateName: new-}"),
        (
            "metadata: {name: new}",
            "metadata: {name: new, labels: {a: b}}",
        ),
    ] {
        assert!(GOOD.contains(from), "{from}");
        if from.contains("metadata") && to.contains("generate") {
            // Objects without a name cannot be told apart in a file.
            continue;
        }
        assert_eq!(rejected(&GOOD.replacen(from, to, 1)), [""; 0], "{to}");
    }
    // The oldest version has less, and drops the rest.
    let alpha = GOOD.replace("v1beta1", "v1alpha1");
    let told = rejected(&alpha);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[0].contains("spec.stages[0].maxConcurrency is not a field"),
        "{told:?}"
    );
}

/// The controller's own rules are told beside those of the schema, and nothing twice.
#[test]
fn the_controllers_rules_are_told_once() {
    let (_, plan) = with(&GOOD.replace("waitTime: 90s", "waitTime: 0s"));
    assert_eq!(kinds(&plan, "refusals"), ["stage-tasks-invalid"]);
    let (_, plan) = with(&GOOD.replace(
        "    - {type: TimedWait, waitTime: 90s}\n",
        "    - {type: TimedWait, waitTime: 90s}\n    - {type: TimedWait, waitTime: 1s}\n",
    ));
    assert_eq!(kinds(&plan, "refusals"), ["stage-tasks-invalid"]);
    let (_, plan) = with(&GOOD.replace(
        "{type: TimedWait, waitTime: 90s}",
        "{type: TimedWait, waitTime: 1d}",
    ));
    assert_eq!(kinds(&plan, "refusals"), ["strategy-rejected"]);
    let (_, plan) = with(&GOOD.replace("maxConcurrency: 3", "maxConcurrency: many"));
    assert_eq!(kinds(&plan, "refusals"), ["strategy-rejected"]);
}

#[test]
fn files_are_read_like_manifests() {
    let mut hub = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
    hub.write_all(BASE.as_bytes()).unwrap();
    let hub = hub.path().to_str().unwrap();
    let of = |input: &str, more: &[&str]| {
        let args = ["--placement", "web", "--strategy-file", "-", "-f", hub];
        let args: Vec<_> = args.iter().chain(more).copied().collect();
        call(&args, input)
    };
    assert_eq!(of(GOOD, &[]).0, 0);
    let json = r#"{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"ClusterStagedUpdateStrategy",
        "metadata":{"name":"j"},"spec":{"stages":[{"name":"all","labelSelector":{}}]}}"#;
    assert_eq!(of(json, &[]).0, 0);
    let two = format!("{GOOD}---\n{}", GOOD.replace("name: new", "name: newer"));
    assert_eq!(of(&two, &[]).0, 2);
    assert_eq!(of(&two, &["--strategy", "newer"]).0, 0);
    let (code, _, error) = of(&two, &["--strategy", "never"]);
    assert_eq!(code, 1);
    assert!(error.contains("did you mean newer?"), "{error}");
    let (code, _, error) = of(&GOOD.replace("ClusterStaged", "Staged"), &[]);
    assert_eq!(code, 1);
    assert!(error.contains("the same scope"), "{error}");
    let (code, _, error) = of(
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n",
        &[],
    );
    assert_eq!(code, 1, "{error}");
    let (code, _, error) = of("a: [b", &[]);
    assert_eq!(code, 1, "{error}");
    let (code, ..) = call(&["--placement", "web", "-f", hub], "");
    assert_eq!(code, 2);
    let (code, ..) = call(
        &["--placement", "web", "--strategy-file", "-", "-f", "-"],
        GOOD,
    );
    assert_eq!(code, 2);
}
