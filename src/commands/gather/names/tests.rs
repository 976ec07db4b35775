use super::{KnownNames, resolve};
use crate::kubefleet::{Concept, Kind, ObjectRef};

const BOTH: [Concept; 2] = [Concept::UpdateRun, Concept::Placement];

/// What words mean to a command that takes these: the object, or exit code, message and hint.
fn outcome_of(command: &'static str, words: &str, concepts: &[Concept]) -> String {
    let objects = [
        ObjectRef::new(Kind::ClusterStagedUpdateRun, "", "example-run"),
        ObjectRef::new(Kind::ClusterStagedUpdateRun, "", "both"),
        ObjectRef::new(Kind::ClusterResourcePlacement, "", "both"),
        ObjectRef::new(Kind::ClusterResourcePlacement, "", "web"),
        ObjectRef::new(Kind::StagedUpdateRun, "a", "twice"),
        ObjectRef::new(Kind::StagedUpdateRun, "b", "twice"),
        ObjectRef::new(Kind::StagedUpdateRun, "a", "once"),
        ObjectRef::new(Kind::ResourcePlacement, "a", "shop"),
    ];
    let known = KnownNames {
        objects: &objects,
        are_all: true,
        place: "the input",
        command,
        concepts,
        again: &["x.yaml".to_owned()],
    };
    let (word, namespace) = match words.split_once(" -n ") {
        Some((word, namespace)) => (word, Some(namespace)),
        None => (words, None),
    };
    match resolve(word, namespace, &known) {
        Ok(found) => found.to_string(),
        Err(error) => {
            let hint = error.hint.map_or_else(String::new, |hint| hint.to_string());
            let hint = hint.replace("\n  kubectl fleet-stage diagnose", " >");
            let hint = hint.replace("\n  kubectl fleet-stage", " >>");
            format!("{}: {} | {hint}", error.exit.code(), error.message)
        }
    }
}

/// Three lines for each case: the words, the error, and the hint.
fn are_refused(concepts: &[Concept], cases: &str) {
    let lines: Vec<_> = cases.trim().lines().map(str::trim).collect();
    let (cases, rest) = lines.as_chunks::<3>();
    assert!(rest.is_empty() && !cases.is_empty());
    for [words, error, hint] in cases {
        let found = outcome_of("diagnose", words, concepts);
        assert_eq!(found, format!("{error} | {hint}"), "{words}");
    }
}

#[test]
fn names_are_found_where_they_are_meant() {
    let both = "ClusterStagedUpdateRun both";
    for (words, wanted) in [
        ("example-run", "ClusterStagedUpdateRun example-run"),
        ("web", "ClusterResourcePlacement web"),
        ("crp/both", "ClusterResourcePlacement both"),
        ("CSUR/both", both),
        ("clusterstagedupdateruns/both", both),
        (
            "clusterstagedupdaterun.placement.kubernetes-fleet.io/both",
            both,
        ),
        ("once -n a", "StagedUpdateRun a/once"),
        ("twice -n b", "StagedUpdateRun b/twice"),
        ("sur/twice -n b", "StagedUpdateRun b/twice"),
        ("sur/once", "StagedUpdateRun a/once"),
        ("shop -n a", "ResourcePlacement a/shop"),
        ("rp/shop", "ResourcePlacement a/shop"),
    ] {
        assert_eq!(outcome_of("diagnose", words, &BOTH), wanted, "{words}");
    }
}

#[test]
fn what_is_not_clear_is_a_usage_error() {
    are_refused(
        &BOTH,
        r#"
csur/
    2: the name after / is missing

both
    2: "both" is the name of an update run and a placement
    use one of: > csur/both -f x.yaml > crp/both -f x.yaml
sur/twice
    2: StagedUpdateRun "twice" exists in 2 namespaces of the input
    use one of: > sur/twice -f x.yaml -n a > sur/twice -f x.yaml -n b
csur/both -n a
    2: a ClusterStagedUpdateRun is cluster-scoped, but -n a was set
    leave out -n, or use sur/both
crp/both -n a
    2: a ClusterResourcePlacement is cluster-scoped, but -n a was set
    leave out -n, or use rp/both
pod/x
    2: "pod" is not a resource type
    use csur/NAME or crp/NAME, or with -n sur/NAME or rp/NAME
careq/x
    2: diagnose does not accept a ClusterApprovalRequest
    use csur/NAME or crp/NAME, or with -n sur/NAME or rp/NAME
"#,
    );
}

#[test]
fn what_is_missing_is_offered_where_it_is() {
    are_refused(
        &BOTH,
        r#"
once
    6: ClusterStagedUpdateRun or ClusterResourcePlacement "once" not found in the input
    objects with this name: > sur/once -f x.yaml -n a
example-run -n a
    6: StagedUpdateRun or ResourcePlacement "example-run" not found in namespace a of the input
    objects with this name: > csur/example-run -f x.yaml
twice
    6: ClusterStagedUpdateRun or ClusterResourcePlacement "twice" not found in the input
    objects with this name: > sur/twice -f x.yaml -n a > sur/twice -f x.yaml -n b
sur/once -n b
    6: StagedUpdateRun "once" not found in namespace b of the input
    objects with this name: > sur/once -f x.yaml -n a
exmaple-run
    6: ClusterStagedUpdateRun or ClusterResourcePlacement "exmaple-run" not found in the input
    did you mean: > csur/example-run -f x.yaml
csur/web
    6: ClusterStagedUpdateRun "web" not found in the input
    objects with this name: > crp/web -f x.yaml
csur/zzz
    6: ClusterStagedUpdateRun "zzz" not found in the input
    the input has csur/example-run, csur/both, sur/twice -n a, sur/twice -n b, sur/once -n a
rp/zzz
    6: ResourcePlacement "zzz" not found in any namespace of the input
    the input has crp/both, crp/web, rp/shop -n a
"#,
    );
}

#[test]
fn a_guess_is_no_command_that_changes_another_run() {
    let found = outcome_of("approve", "exmaple-run", &[Concept::UpdateRun]);
    let missing = "6: ClusterStagedUpdateRun \"exmaple-run\" not found in the input";
    assert_eq!(found, format!("{missing} | did you mean csur/example-run?"));
}

#[test]
fn nothing_is_suggested_that_the_command_does_not_take() {
    are_refused(
        &[Concept::UpdateRun],
        r#"
web
    6: ClusterStagedUpdateRun "web" not found in the input
    a placement has this name; its update runs: >> list --placement crp/web -f x.yaml
shop
    6: ClusterStagedUpdateRun "shop" not found in the input
    a placement has this name; its update runs: >> list --placement rp/shop -f x.yaml -n a
"#,
    );
    are_refused(
        &[Concept::Placement],
        r#"
once -n a
    6: ResourcePlacement "once" not found in namespace a of the input
    an update run has this name; its placement: >> status sur/once -f x.yaml -n a
"#,
    );
}
