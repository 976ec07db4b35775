//! What is seen in member clusters: what it explains, what it does not, and how a bundle carries it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

use std::collections::BTreeMap;
use std::path::Path;

use crate::files::yaml_files;
use kubectl_fleet_stage::bundle::members::document;
use kubectl_fleet_stage::bundle::{self, Bundle, Input};
use kubectl_fleet_stage::diagnose::{diagnose, errands};
use kubectl_fleet_stage::inventory::source::HubFacts;
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::kubefleet::{Kind, ObjectRef};
use kubectl_fleet_stage::member::{
    MemberErrand, MemberKind, MemberObject, MemberObservation, Outcome, QuerySelection,
    WantedWorkload,
};
use kubectl_fleet_stage::report::{Finding, Report};
use serde_json::Value;

const RUN: &str = "example-run";

fn fixture(name: &str) -> String {
    test_fixtures::read(&Path::new("tests/findings").join(name)).unwrap()
}

fn read(text: &str) -> Bundle {
    let bytes = std::io::Cursor::new(text.as_bytes().to_vec());
    bundle::read(vec![Input::Stdin(Box::new(bytes))]).unwrap()
}

fn target() -> ObjectRef {
    ObjectRef {
        kind: Kind::ClusterStagedUpdateRun,
        namespace: String::new(),
        name: RUN.to_owned(),
    }
}

fn report(text: &str) -> Report {
    let mut bundle = read(text);
    let now = bundle.collected_at.unwrap();
    diagnose(&mut bundle, &HubFacts::default(), &target(), now)
}

fn inventory(text: &str) -> Inventory {
    let mut bundle = read(text);
    let now = bundle.collected_at.unwrap();
    let mut walk = Walk::new(target());
    walk.drive(&mut bundle);
    Inventory::new(walk, now, HubFacts::default())
}

fn finding<'r>(report: &'r Report, code: &str) -> &'r Finding {
    let found = report.findings.iter().find(|finding| finding.code == code);
    found.unwrap_or_else(|| panic!("{code} is not among {:?}", codes(report)))
}

fn codes(report: &Report) -> Vec<String> {
    let code = |finding: &Finding| {
        let root = if finding.root_cause { "!" } else { "" };
        format!("{}{root}", finding.code)
    };
    report.findings.iter().map(code).collect()
}

/// The hub's part of a fixture, and the member's.
fn parts(text: &str) -> (&str, &str) {
    let at = text
        .find("---\napiVersion: kubectl-fleet-stage/v1\nkind: MemberObjects\n")
        .unwrap();
    text.split_at(at)
}

/// A second Deployment beside the first, as little available.
fn with_second_workload(text: &str) -> String {
    let entry = "  failedPlacements:\n";
    let second = "  failedPlacements:\n  - condition:\n      lastTransitionTime: '2026-03-02T09:01:01Z'\n      \
        message: Manifest is not yet available; Fleet will check again later\n      observedGeneration: 1\n      \
        reason: ManifestNotAvailableYet\n      status: 'False'\n      type: Available\n    group: apps\n    \
        kind: Deployment\n    name: other\n    namespace: test-namespace\n    version: v1\n";
    assert!(text.contains(entry));
    text.replacen(entry, second, 1)
}

#[test]
fn a_cause_explains_its_own_object_and_no_other() {
    let report = report(&with_second_workload(&fixture(
        "FS901/fires-not-found.yaml",
    )));
    assert_eq!(codes(&report), ["FS501!", "FS901!", "FS501"]);
    let unexplained = &report.findings[0];
    assert_eq!(unexplained.subject.name, "other");
    let explained = &report.findings[2];
    assert_eq!(explained.subject.name, "nginx-deployment");
    assert_eq!(explained.caused_by.len(), 1);
    assert_eq!(explained.caused_by[0].code, "FS901");
}

#[test]
fn without_a_look_nothing_is_claimed_and_the_way_is_shown() {
    let text = fixture("FS901/fires-not-found.yaml");
    let (hub, _) = parts(&text);
    let report = report(hub);
    assert_eq!(codes(&report), ["FS501!"]);
    assert!(report.not_checked.is_empty(), "{:?}", report.not_checked);
    let commands: Vec<_> = finding(&report, "FS501")
        .remedies
        .iter()
        .filter_map(|remedy| remedy.command.as_ref().map(ToString::to_string))
        .collect();
    assert!(
        commands.iter().any(|command| {
            command == "kubectl fleet-stage diagnose example-run --member-contexts-from-kubeconfig"
        }),
        "{commands:?}"
    );
}

#[test]
fn what_was_denied_is_not_checked() {
    let text = fixture("FS901/fires-not-found.yaml").replace(
        "- kind: Pod\n  labels: app=nginx\n  namespace: test-namespace\n  outcome: listed",
        "- kind: Pod\n  labels: app=nginx\n  namespace: test-namespace\n  outcome: denied\n  why: pods is forbidden",
    );
    let report = report(&text);
    let gaps: Vec<_> = report
        .not_checked
        .iter()
        .map(|gap| (gap.what.as_str(), gap.why.as_str(), gap.clusters.as_slice()))
        .collect();
    assert_eq!(
        gaps,
        [(
            "Pod",
            "forbidden: pods is forbidden",
            &["member2".to_owned()][..]
        )]
    );
}

#[test]
fn a_context_that_leads_elsewhere_is_no_evidence() {
    let text = fixture("FS901/fires-not-found.yaml").replace(
        "workNamespace: fleet-member-member2",
        "workNamespace: fleet-member-member1",
    );
    let report = report(&text);
    assert_eq!(codes(&report), ["FS501!"]);
    assert!(
        report.not_checked[0]
            .why
            .contains("belongs to another cluster than member2"),
        "{:?}",
        report.not_checked
    );
}

/// A cluster that answers from a list of objects and counts.
struct Cluster {
    objects: Vec<(MemberKind, Value)>,
    asked: usize,
}

impl Cluster {
    /// The cluster of a fixture.
    fn of(text: &str) -> Self {
        let (_, document) = parts(text);
        let document: Value = serde_saphyr::from_str(document.trim_start_matches("---\n")).unwrap();
        let items = document["items"].as_array().unwrap();
        let objects = items
            .iter()
            .map(|item| {
                let name = item["kind"].as_str().unwrap();
                let kind = MemberKind::ALL
                    .iter()
                    .find(|kind| kind.name() == name)
                    .unwrap();
                (*kind, item.clone())
            })
            .collect();
        Self { objects, asked: 0 }
    }

    /// Asks all that is worth asking.
    fn look(&mut self, errand: &MemberErrand) -> (MemberObservation, Texts) {
        let mut look = MemberObservation::default();
        let mut texts = Texts::new();
        loop {
            let round = look.next_round(errand);
            if round.is_empty() {
                return (look, texts);
            }
            for query in round {
                self.asked += 1;
                let found: Vec<_> = self
                    .objects
                    .iter()
                    .filter(|(kind, item)| {
                        let meta = &item["metadata"];
                        let own = meta["namespace"].as_str().unwrap_or_default();
                        *kind == query.kind
                            && match &query.which {
                                QuerySelection::Named { namespace, name } => {
                                    own == namespace && meta["name"] == name.as_str()
                                }
                                QuerySelection::All { namespace, labels } => {
                                    let fits = |labels: &String| {
                                        let (key, value) = labels.split_once('=').unwrap();
                                        meta["labels"][key] == value
                                    };
                                    own == namespace.as_deref().unwrap_or_default()
                                        && labels.as_ref().is_none_or(fits)
                                }
                            }
                    })
                    .collect();
                for (kind, item) in &found {
                    // As the server lists them: without what they are.
                    let mut item = item.clone();
                    let fields = item.as_object_mut().unwrap();
                    fields.remove("kind");
                    fields.remove("apiVersion");
                    let name = |field: &str| {
                        let text = item["metadata"][field].as_str().unwrap_or_default();
                        text.to_owned()
                    };
                    let text = serde_json::value::to_raw_value(&item).unwrap();
                    texts.insert((*kind, name("namespace"), name("name")), text);
                }
                let objects = found
                    .iter()
                    .map(|(kind, item)| MemberObject::read(*kind, item).unwrap())
                    .collect();
                look.absorb(query, Outcome::Listed, objects);
            }
        }
    }
}

type Texts = BTreeMap<(MemberKind, String, String), Box<serde_json::value::RawValue>>;

/// Every fixture with a look: what is asked is enough for the same findings, it is little, and a
/// bundle of it gives the same report.
#[test]
fn a_look_and_its_bundle_give_the_same_report() {
    let mut looked = 0;
    for number in 901..=921 {
        for path in yaml_files(&[&format!("tests/findings/FS{number}")]) {
            let text = std::fs::read_to_string(&path).unwrap();
            if text.contains("outcome: denied") || text.contains("fleet-member-member1") {
                continue;
            }
            let (hub, _) = parts(&text);
            let errands = errands(&inventory(hub));
            let [errand] = errands.as_slice() else {
                panic!("{}: {errands:?}", path.display());
            };
            let mut cluster = Cluster::of(&text);
            let (look, texts) = cluster.look(errand);
            assert!(
                cluster.asked <= 6,
                "{}: {} questions",
                path.display(),
                cluster.asked
            );
            let document = document("member2", &look, &texts, false);
            let again = format!("{hub}---\n{}", serde_saphyr::to_string(&document).unwrap());
            assert_eq!(
                read(&again).looks.get("member2"),
                Some(&look),
                "{}: the bundle holds what was seen",
                path.display()
            );
            let json = |report: &Report| serde_json::to_string_pretty(report).unwrap();
            assert!(
                json(&report(&text)) == json(&report(&again)),
                "{}: the reports differ",
                path.display()
            );
            looked += 1;
        }
    }
    assert!(looked > 40, "{looked} fixtures");
}

#[test]
fn secrets_of_pods_do_not_leave_the_cluster() {
    let pod = serde_json::json!({
        "metadata": {"name": "web-1", "namespace": "shop", "managedFields": [{"manager": "x"}],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{\"a\": \"hunter2\"}"}},
        "spec": {"containers": [{"name": "web", "image": "web:1", "args": ["--token", "hunter2"],
            "command": ["sh", "-c", "hunter2"], "env": [{"name": "PASSWORD", "value": "hunter2"}]}]},
        "status": {"phase": "Pending"},
    });
    let mut texts = Texts::new();
    texts.insert(
        (MemberKind::Pod, "shop".to_owned(), "web-1".to_owned()),
        serde_json::value::to_raw_value(&pod).unwrap(),
    );
    let document = document("member-1", &MemberObservation::default(), &texts, false);
    let text = serde_json::to_string(&document).unwrap();
    assert!(
        !text.contains("hunter2") && !text.contains("managedFields"),
        "{text}"
    );
    assert_eq!(document.items[0]["kind"], "Pod");
    assert_eq!(document.items[0]["apiVersion"], "v1");
    assert_eq!(document.items[0]["spec"]["containers"][0]["image"], "web:1");
}

#[test]
fn no_more_than_a_few_workloads_of_a_cluster_are_looked_at() {
    let wanted: Vec<_> = (0..7)
        .map(|number| WantedWorkload {
            kind: MemberKind::Deployment,
            namespace: "shop".to_owned(),
            name: format!("web-{number}"),
        })
        .collect();
    let errand = MemberErrand {
        cluster: "member-1".to_owned(),
        work: "crp-work".to_owned(),
        wanted,
        jobs: Vec::new(),
    };
    let round = MemberObservation::default().next_round(&errand);
    assert_eq!(round.len(), 6, "five workloads and the agent's record");
    assert_eq!(errand.left_out().len(), 2);
}

#[test]
fn odd_documents_cost_themselves_only() {
    let text = fixture("FS901/fires-not-found.yaml");
    let (hub, _) = parts(&text);
    for (odd, warning) in [
        (
            "apiVersion: kubectl-fleet-stage/v1\nkind: MemberObjects\n",
            "without a cluster",
        ),
        (
            "apiVersion: kubectl-fleet-stage/v1\nkind: MemberObjects\ncluster: member2\noutcome: maybe\n",
            "unknown outcome `maybe`",
        ),
        (
            "apiVersion: kubectl-fleet-stage/v1\nkind: MemberObjects\ncluster: member2\nreads:\n- {kind: Pod, outcome: maybe}\n",
            "skipped an entry",
        ),
        (
            "apiVersion: kubectl-fleet-stage/v1\nkind: MemberObjects\ncluster: member2\nreads: 7\nitems: [1, {kind: Pod}]\n",
            "",
        ),
    ] {
        let text = format!("{hub}---\n{odd}");
        let bundle = read(&text);
        let warnings = bundle.warnings.join("\n");
        assert!(warnings.contains(warning), "{odd}: {warnings}");
        assert_eq!(codes(&report(&text)), ["FS501!"], "{odd}");
    }
}
