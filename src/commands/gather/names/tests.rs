use super::{KnownNames, resolve};
use crate::kubefleet::{Concept, Kind, ObjectRef};

/// What a word means: the object, or exit code, message and hint.
fn outcome(word: &str, namespace: Option<&str>) -> String {
    let concepts = [Concept::UpdateRun, Concept::Placement];
    outcome_of("diagnose", word, namespace, &concepts)
}

/// The same for a command that takes these.
fn outcome_of(
    command: &'static str,
    word: &str,
    namespace: Option<&str>,
    concepts: &[Concept],
) -> String {
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

#[test]
fn names_are_found_where_they_are_meant() {
    for (word, namespace, wanted) in [
        ("example-run", None, "ClusterStagedUpdateRun example-run"),
        ("web", None, "ClusterResourcePlacement web"),
        ("crp/both", None, "ClusterResourcePlacement both"),
        ("CSUR/both", None, "ClusterStagedUpdateRun both"),
        (
            "clusterstagedupdateruns/both",
            None,
            "ClusterStagedUpdateRun both",
        ),
        (
            "clusterstagedupdaterun.placement.kubernetes-fleet.io/both",
            None,
            "ClusterStagedUpdateRun both",
        ),
        ("once", Some("a"), "StagedUpdateRun a/once"),
        ("twice", Some("b"), "StagedUpdateRun b/twice"),
        ("sur/twice", Some("b"), "StagedUpdateRun b/twice"),
        ("sur/once", None, "StagedUpdateRun a/once"),
        ("shop", Some("a"), "ResourcePlacement a/shop"),
        ("rp/shop", None, "ResourcePlacement a/shop"),
    ] {
        assert_eq!(outcome(word, namespace), wanted, "{word} {namespace:?}");
    }
}

#[test]
fn what_is_not_clear_is_a_usage_error() {
    for (word, namespace, wanted) in [
        (
            "both",
            None,
            "2: \"both\" is the name of an update run and a placement | use one of: > csur/both \
             -f x.yaml > crp/both -f x.yaml",
        ),
        (
            "sur/twice",
            None,
            "2: StagedUpdateRun \"twice\" exists in 2 namespaces of the input | use one of: > \
             sur/twice -f x.yaml -n a > sur/twice -f x.yaml -n b",
        ),
        (
            "csur/both",
            Some("a"),
            "2: a ClusterStagedUpdateRun is cluster-scoped, but -n a was set | leave out -n, or use \
             sur/both",
        ),
        (
            "crp/both",
            Some("a"),
            "2: a ClusterResourcePlacement is cluster-scoped, but -n a was set | leave out -n, or \
             use rp/both",
        ),
        (
            "pod/x",
            None,
            "2: \"pod\" is not a resource type | use csur/NAME or crp/NAME, or with -n sur/NAME or \
             rp/NAME",
        ),
        (
            "careq/x",
            None,
            "2: diagnose does not accept a ClusterApprovalRequest | use csur/NAME or crp/NAME, or \
             with -n sur/NAME or rp/NAME",
        ),
        ("csur/", None, "2: the name after / is missing | "),
    ] {
        assert_eq!(outcome(word, namespace), wanted, "{word} {namespace:?}");
    }
}

#[test]
fn what_is_missing_is_offered_where_it_is() {
    for (word, namespace, wanted) in [
        (
            "once",
            None,
            "6: ClusterStagedUpdateRun or ClusterResourcePlacement \"once\" not found in the input \
             | objects with this name: > sur/once -f x.yaml -n a",
        ),
        (
            "example-run",
            Some("a"),
            "6: StagedUpdateRun or ResourcePlacement \"example-run\" not found in namespace a of \
             the input | objects with this name: > csur/example-run -f x.yaml",
        ),
        (
            "twice",
            None,
            "6: ClusterStagedUpdateRun or ClusterResourcePlacement \"twice\" not found in the input \
             | objects with this name: > sur/twice -f x.yaml -n a > sur/twice -f x.yaml -n b",
        ),
        (
            "sur/once",
            Some("b"),
            "6: StagedUpdateRun \"once\" not found in namespace b of the input | objects with this \
             name: > sur/once -f x.yaml -n a",
        ),
        (
            "exmaple-run",
            None,
            "6: ClusterStagedUpdateRun or ClusterResourcePlacement \"exmaple-run\" not found in the \
             input | did you mean: > csur/example-run -f x.yaml",
        ),
        (
            "csur/web",
            None,
            "6: ClusterStagedUpdateRun \"web\" not found in the input | objects with this name: > \
             crp/web -f x.yaml",
        ),
        (
            "csur/zzz",
            None,
            "6: ClusterStagedUpdateRun \"zzz\" not found in the input | the input has \
             csur/example-run, csur/both, sur/twice -n a, sur/twice -n b, sur/once -n a",
        ),
        (
            "rp/zzz",
            None,
            "6: ResourcePlacement \"zzz\" not found in any namespace of the input | the input has \
             crp/both, crp/web, rp/shop -n a",
        ),
    ] {
        assert_eq!(outcome(word, namespace), wanted, "{word} {namespace:?}");
    }
}

#[test]
fn a_guess_is_no_command_that_changes_another_run() {
    assert_eq!(
        outcome_of("approve", "exmaple-run", None, &[Concept::UpdateRun]),
        "6: ClusterStagedUpdateRun \"exmaple-run\" not found in the input | did you mean \
         csur/example-run?"
    );
}

#[test]
fn nothing_is_suggested_that_the_command_does_not_take() {
    for (word, namespace, concept, wanted) in [
        (
            "web",
            None,
            Concept::UpdateRun,
            "6: ClusterStagedUpdateRun \"web\" not found in the input | a placement has this name; \
             its update runs: >> list --placement crp/web -f x.yaml",
        ),
        (
            "shop",
            None,
            Concept::UpdateRun,
            "6: ClusterStagedUpdateRun \"shop\" not found in the input | a placement has this \
             name; its update runs: >> list --placement rp/shop -f x.yaml -n a",
        ),
        (
            "once",
            Some("a"),
            Concept::Placement,
            "6: ResourcePlacement \"once\" not found in namespace a of the input | an update run \
             has this name; its placement: >> status sur/once -f x.yaml -n a",
        ),
    ] {
        assert_eq!(
            outcome_of("diagnose", word, namespace, &[concept]),
            wanted,
            "{word}"
        );
    }
}
