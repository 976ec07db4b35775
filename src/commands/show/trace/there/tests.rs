use serde_json::{Value, json};

use super::{
    AppliedRecords, BothSides, ClusterMatch, ManifestKey, Outcome, WantedObject, having, listed_as,
    parsed, questions, resolve, there,
};
use crate::kubefleet::work::Work;
use crate::manifests::live::ServedKind;
use crate::member::model::{AnyObject, AppliedWork};

fn web() -> WantedObject {
    WantedObject::new("deploy/web", Some("shop")).unwrap()
}

fn work(applied: &str) -> Work {
    parsed(json!({
        "metadata": {"name": "shop-work", "namespace": "fleet-member-member-1"},
        "spec": {"workload": {"manifests": [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
            {"apiVersion": "apps/v1", "kind": "Deployment",
             "metadata": {"name": "web", "namespace": "shop"}},
        ]}},
        "status": {"manifestConditions": [{
            "identifier": {"ordinal": 1},
            "conditions": [{"type": "Applied", "status": applied}],
        }]},
    }))
    .unwrap()
}

fn applied(name: &str, uid: &str) -> AppliedWork {
    parsed(json!({
        "metadata": {"name": name},
        "spec": {"workName": name, "workNamespace": "fleet-member-member-1"},
        "status": {"appliedResources": [{
            "ordinal": 1, "group": "apps", "version": "v1", "kind": "Deployment",
            "resource": "deployments", "namespace": "shop", "name": "web", "uid": uid,
        }]},
    }))
    .unwrap()
}

fn object(owners: &[&str]) -> AnyObject {
    let owner = |name: &&str| {
        json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "AppliedWork",
               "name": name, "uid": "a"})
    };
    parsed(json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "web", "namespace": "shop", "uid": "1",
            "labels": {"app.kubernetes.io/managed-by": "Helm"},
            "annotations": {"kubernetes-fleet.io/spec-hash": "x"},
            "managedFields": [{"manager": "work-api-agent"}, {"manager": "kubectl-edit"}],
            "ownerReferences": owners.iter().map(owner).collect::<Vec<Value>>(),
        },
    }))
    .unwrap()
}

/// What differs, where the object has this owner (or is not there: `gone`; or unknown: `?`), where its AppliedWork
/// lists it with this UID, and where the Work has this state.
fn differences(owner: &str, uid: &str, work: &str) -> String {
    let wanted = web();
    let some = |word: &str| !word.is_empty();
    let object = match owner {
        "?" => vec![],
        "gone" => vec![None],
        "" => vec![Some(object(&[]))],
        owner => vec![Some(object(&[owner]))],
    };
    let record = some(uid).then(|| applied("shop-work", uid));
    let work = some(work).then(|| self::work(work));
    let resources = record.iter().flat_map(|it| {
        let resources = it.status.resources.iter();
        resources.map(move |one| (it, one))
    });
    let id = ManifestKey::of_manifest(&self::work("True").spec.workload.manifests[1]);
    let both = BothSides {
        objects: object.into_iter().map(|it| (id.clone(), it)).collect(),
        listed: resources.collect(),
        knows_listed: true,
        works: work.iter().flat_map(|it| having(it, &wanted)).collect(),
        knows_works: true,
    };
    both.differences().join("\n")
}

#[test]
fn a_member_and_a_hub_that_agree_have_no_differences() {
    for (owner, uid, work) in [
        ("shop-work", "1", "True"),
        // What could not be read is no difference.
        ("?", "1", "True"),
        ("", "", "False"),
        ("gone", "", "False"),
        ("", "", ""),
    ] {
        assert_eq!(differences(owner, uid, work), "", "{owner} {uid} {work}");
    }
}

#[test]
fn what_the_member_and_the_hub_say_differently_is_said() {
    let gone = "AppliedWork shop-work lists Deployment shop/web, but the cluster does not have it\n\
                Work shop-work reports Deployment shop/web as applied, but the cluster does not have it";
    let unlisted = "Work shop-work reports Deployment shop/web as applied, but its AppliedWork does not list it";
    let other =
        "Deployment shop/web belongs to AppliedWork other-work, not to that of Work shop-work";
    let nobodys =
        "Deployment shop/web belongs to no AppliedWork, but Work shop-work reports it as applied";
    let earlier =
        "AppliedWork shop-work lists Deployment shop/web with a UID that is not its current one";
    let unsent =
        "AppliedWork shop-work lists Deployment shop/web, but no Work shop-work on the hub has it";
    for (owner, uid, work, expected) in [
        ("gone", "1", "True", gone),
        ("shop-work", "", "True", unlisted),
        ("other-work", "1", "True", other),
        ("", "1", "True", nobodys),
        ("shop-work", "0", "True", earlier),
        ("shop-work", "1", "", unsent),
        // Another Work has it, and its agent could not apply it.
        ("other-work", "", "False", other),
    ] {
        assert_eq!(differences(owner, uid, work), expected);
    }
}

#[test]
fn applied_works_say_which_member_it_is() {
    let records = |names: &[&str], outcome: Outcome| AppliedRecords {
        context: "kind".to_owned(),
        applied: names
            .iter()
            .map(|name| {
                let mut one = applied("shop-work", "1");
                one.spec.namespace = format!("fleet-member-{name}");
                one
            })
            .collect(),
        outcome,
    };
    let denied = || Outcome::Denied("no".to_owned());
    let one = records(&["member-1", "member-1"], Outcome::Listed);
    assert_eq!(one.cluster().unwrap(), "member-1");
    assert_eq!(one.counterpart("member-1"), ClusterMatch::Sure);
    assert!(matches!(
        one.counterpart("member-2"),
        ClusterMatch::Other(_)
    ));
    for (records, code) in [
        (records(&["member-1", "member-2"], Outcome::Listed), 1),
        (records(&[], Outcome::Listed), 1),
        (records(&[], denied()), 7),
    ] {
        assert_eq!(records.cluster().unwrap_err().exit as u8, code);
    }
    let empty = records(&[], Outcome::Listed);
    assert_eq!(empty.counterpart("member-1"), ClusterMatch::Unknown);
    let unread = records(&[], denied());
    assert_eq!(unread.counterpart("member-1"), ClusterMatch::Unknown);
    let no_member = records(&[], Outcome::NotServed);
    assert!(matches!(
        no_member.counterpart("member-1"),
        ClusterMatch::Other(_)
    ));
}

#[test]
fn an_object_is_asked_for_by_what_is_known_of_it() {
    let paths = |queries: Vec<super::LiveQuery>| -> Vec<String> {
        let path = |it: super::LiveQuery| format!("{} {:?}", it.kind.plural, it.which);
        queries.into_iter().map(path).collect()
    };
    let record = applied("shop-work", "1");
    let listed = [(&record, &record.status.resources[0])];
    let id = listed_as(&record.status.resources[0]);
    let (queries, unresolved) = questions(&listed, [&id].into_iter(), &web());
    assert!(unresolved.is_none());
    let named = r#"deployments Named { namespace: "shop", name: "web" }"#;
    assert_eq!(paths(queries), [named]);

    let served = |kind: &str, plural: &str, is_namespaced, is_preferred| ServedKind {
        group: "apps".to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        is_namespaced,
        is_preferred,
    };
    let kinds = [
        served("Deployment", "deployments", true, true),
        served("Deployment", "deployments", true, false),
        served("StatefulSet", "statefulsets", true, true),
    ];
    let (queries, unresolved) = questions(&[], std::iter::empty(), &web());
    assert_eq!(queries, []);
    let queries = resolve(&unresolved.unwrap(), &web(), &kinds).unwrap();
    assert_eq!(paths(queries), [named]);
    let why = resolve(&[], &web(), &kinds).unwrap_err();
    assert_eq!(why, "its namespace is unknown: use -n");
    let why = resolve(&[], &web(), &kinds[2..]).unwrap_err();
    assert_eq!(why, "the cluster does not serve this kind");
    let cluster = WantedObject::new("ns/shop", None).unwrap();
    let kinds = [served("Namespace", "namespaces", false, true)];
    let queries = resolve(&[], &cluster, &kinds).unwrap();
    assert_eq!(queries[0].kind.plural, "namespaces");
}

#[test]
fn an_object_is_asked_for_as_findings_name_it() {
    let named = |word: &str, namespace| WantedObject::new(word, namespace).ok();
    for namespace in [None, Some("other")] {
        let wanted = named("Deployment/shop/web", namespace).unwrap();
        assert_eq!(wanted.namespace.as_deref(), Some("shop"));
        assert_eq!((wanted.word(), wanted.name.as_str()), ("deployment", "web"));
    }
    for word in ["web", "/web", "ns/", "ns//web", "ns/shop/", "ns/shop/web/x"] {
        assert!(named(word, None).is_none(), "{word}");
    }
}

#[test]
fn who_wrote_an_object_is_seen() {
    let seen = there(object(&["shop-work"]));
    assert_eq!(seen.owners[0].to_string(), "AppliedWork shop-work");
    assert_eq!(seen.managed_by.as_deref(), Some("Helm"));
    assert_eq!(seen.field_managers, ["kubectl-edit", "work-api-agent"]);
    assert!(seen.has_last_applied);
}
