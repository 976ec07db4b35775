use kubectl_fleet_stage::bundle::{self, Bundle};
use kubectl_fleet_stage::inventory::source::{
    HubFacts, HubQuery, ObjectSource, Outcome, QueryAnswer,
};
use kubectl_fleet_stage::inventory::{Inventory, PlacementSurroundings, SharedSurroundings, Walk};
use kubectl_fleet_stage::kubefleet::object::Object;
use kubectl_fleet_stage::kubefleet::{Concept, Kind};

use super::{MEMBER, RUN, good, names, stdin};

fn work(namespace: &str, name: &str, binding: &str) -> String {
    format!(
        "apiVersion: placement.kubernetes-fleet.io/v1\nkind: Work\nmetadata:\n  name: {name}\n  \
         namespace: {namespace}\n  labels: {{binding: {binding}}}\n---\n"
    )
}

#[test]
fn queries_are_answered_as_a_hub_would() {
    let mut bundle = good(
        [
            work("fleet-member-a", "w1", "x"),
            work("fleet-member-a", "w2", "y"),
            work("fleet-member-b", "w1", "x"),
            RUN.to_owned(),
        ]
        .concat(),
    );
    let queries = [
        HubQuery::all(Kind::Work, ""),
        HubQuery::all(Kind::Work, "fleet-member-a"),
        HubQuery::labelled(Kind::Work, "", "binding", "x"),
        HubQuery::labelled(Kind::Work, "fleet-member-b", "binding", "x"),
        HubQuery::labelled(Kind::Work, "", "nobody", "x"),
        HubQuery::named(Kind::Work, "fleet-member-b", "w1"),
        HubQuery::named(Kind::Work, "", "w1"),
        HubQuery::named(Kind::ClusterStagedUpdateRun, "", "release"),
        HubQuery::all(Kind::MemberCluster, ""),
    ];
    for _ in 0..2 {
        let answers = bundle.answer(&queries);
        let counts: Vec<_> = answers.iter().map(|answer| answer.objects.len()).collect();
        assert_eq!(counts, [3, 2, 2, 1, 0, 1, 0, 1, 0]);
        for (answer, query) in answers.iter().zip(&queries) {
            let all = bundle
                .objects()
                .iter()
                .filter(|o| query.matches(o))
                .cloned();
            assert_eq!(*answer.objects, *all.collect::<Vec<_>>(), "{query:?}");
            assert_eq!(answer.outcome, Outcome::NotCollected);
        }
    }
    assert_eq!(bundle.objects_of(Kind::Work).len(), 3);
}

/// Reads the documents in every order and checks that the result is the same.
fn any_order(documents: &[String]) -> Bundle {
    let mut result: Option<Bundle> = None;
    let mut order: Vec<usize> = (0..documents.len()).collect();
    permute(&mut order, 0, &mut |order| {
        let bundle = bundle::read(order.iter().map(|i| stdin(&documents[*i])).collect()).unwrap();
        if let Some(first) = &result {
            assert_eq!(first.objects(), bundle.objects(), "{order:?}");
            assert_eq!(first.duplicates, bundle.duplicates, "{order:?}");
        } else {
            result = Some(bundle);
        }
    });
    result.unwrap()
}

fn permute(order: &mut Vec<usize>, from: usize, see: &mut impl FnMut(&[usize])) {
    if from == order.len() {
        see(order);
    }
    for next in from..order.len() {
        order.swap(from, next);
        permute(order, from + 1, see);
        order.swap(from, next);
    }
}

fn member(uid: &str, version: &str, created: &str, label: &str) -> String {
    format!(
        "{MEMBER}  uid: '{uid}'\n  resourceVersion: '{version}'\n  creationTimestamp: {created}\n  labels: {{v: {label}}}\n"
    )
}

fn chosen(bundle: &Bundle) -> &str {
    assert_eq!(names(bundle), ["MemberCluster member-1"]);
    bundle.objects()[0].body.meta().label("v").unwrap()
}

const OLD: &str = "2026-01-01T00:00:00Z";
const NEW: &str = "2026-01-02T00:00:00Z";

#[test]
fn equal_objects_are_one() {
    let one = member("a", "1", OLD, "same");
    let bundle = any_order(&[one.clone(), one.clone(), one]);
    assert_eq!(chosen(&bundle), "same");
    assert!(bundle.duplicates.is_empty());
}

#[test]
fn of_one_object_the_higher_resource_version_counts() {
    let bundle = any_order(&[
        member("a", "9", OLD, "nine"),
        member("a", "10", OLD, "ten"),
        member("a", "", OLD, "stripped"),
        member("a", "9", OLD, "nine"),
    ]);
    assert_eq!(chosen(&bundle), "ten");
    let [(reference, versions)] = bundle.duplicates.as_slice() else {
        panic!()
    };
    assert_eq!(
        (reference.to_string().as_str(), *versions),
        ("MemberCluster member-1", 3)
    );
}

#[test]
fn of_two_objects_the_younger_counts() {
    let bundle = any_order(&[
        member("a", "100", OLD, "old"),
        member("b", "20", NEW, "new"),
        member("b", "30", "null", "newest"),
        member("", "999", "null", "unknown"),
    ]);
    assert_eq!(chosen(&bundle), "newest");
}

#[test]
fn versions_that_nothing_orders_have_an_order() {
    any_order(&[
        member("", "", "null", "x"),
        member("", "", "null", "y"),
        member("", "", "null", "z"),
        member("", "text", "null", "z"),
    ]);
}

#[test]
fn the_newest_point_in_time_is_found_wherever_it_is() {
    let time = |text: &str| Some(text.parse().unwrap());
    let bundle = good(member("a", "1", OLD, "x"));
    assert_eq!(bundle.newest_timestamp(), time(OLD));
    let bundle = good(format!(
        "{}status:\n  agentStatus: [{{type: MemberAgent, lastReceivedHeartbeat: {NEW}}}]\n",
        member("a", "1", OLD, "x")
    ));
    assert_eq!(bundle.newest_timestamp(), time(NEW));
    let bundle = good(format!(
        "{RUN}status:\n  stagesStatus: [{{startTime: {OLD}, clusters: [{{conditions: [{{lastTransitionTime: {NEW}}}]}}]}}]\n"
    ));
    assert_eq!(bundle.newest_timestamp(), time(NEW));
    assert_eq!(good(RUN).newest_timestamp(), None);
}

/// A bundle that counts the objects that it hands out.
struct Handing<'b> {
    bundle: &'b mut Bundle,
    objects: usize,
}

impl ObjectSource for Handing<'_> {
    fn answer(&mut self, queries: &[HubQuery]) -> Vec<QueryAnswer> {
        self.answer_around(queries, None)
    }

    fn answer_around(&mut self, queries: &[HubQuery], placement: Option<&str>) -> Vec<QueryAnswer> {
        let answers = self.bundle.answer_around(queries, placement);
        self.objects += answers.iter().map(|it| it.objects.len()).sum::<usize>();
        answers
    }
}

/// Twice as many placements with as many runs each are twice the work: what a run is told by does
/// not grow with the others.
#[test]
fn all_runs_together_are_told_in_proportion() {
    let work = |placements: usize| {
        let mut text = String::new();
        for placement in 0..placements {
            for run in 0..4 {
                let run = RUN
                    .replace("release", &format!("run-{placement}-{run}"))
                    .replace("shop", &format!("shop-{placement}"));
                text.push_str(&run);
                text.push_str("---\n");
            }
            text += &MEMBER
                .replace("MemberCluster", "ClusterResourcePlacement")
                .replace("cluster.kube", "placement.kube")
                .replace("member-1", &format!("shop-{placement}"));
            text += "---\n";
        }
        let mut bundle = good(text);
        let runs = bundle.objects_of(Kind::ClusterStagedUpdateRun).to_vec();
        assert_eq!(runs.len(), 4 * placements);
        let mut source = Handing {
            bundle: &mut bundle,
            objects: 0,
        };
        for run in &runs {
            let mut walk = Walk::new(run.reference());
            walk.drive(&mut source);
            let now = "2026-01-09T02:00:00Z".parse().unwrap();
            let inventory = Inventory::new(walk, now, HubFacts::default());
            assert_eq!(inventory.runs.items.len(), 4);
        }
        source.objects
    };
    let few = work(3);
    assert_eq!(
        few,
        3 * 4 * (1 + 4 + 1),
        "the run, those beside it, and the placement"
    );
    assert_eq!(work(30), 10 * few);
}

fn around(hub: &mut Bundle, run: &str, shared: &mut SharedSurroundings) -> Inventory {
    let mut objects = hub.objects().iter().map(Object::reference);
    let run = objects.find(|it| it.kind.concept() == Concept::UpdateRun && it.name == run);
    let run = run.unwrap();
    let mut walk = Walk::new(run);
    walk.drive(hub);
    let now = "2026-01-09T02:00:00Z".parse().unwrap();
    Inventory::sharing(walk, now, HubFacts::default(), shared)
}

fn is_shared(a: &Inventory, b: &Inventory) -> bool {
    let (a, b): (&PlacementSurroundings, &PlacementSurroundings) = (a, b);
    std::ptr::eq(a, b)
}

fn runs(names: &[&str]) -> Bundle {
    let runs = names.iter().map(|name| RUN.replace("release", name));
    let mut texts: Vec<_> = runs.collect();
    texts.push(RUN.replace("release", "elsewhere").replace("shop", "other"));
    good(texts.join("---\n"))
}

#[test]
fn the_runs_on_a_placement_share_what_is_around_it() {
    let mut hub = runs(&["a", "b"]);
    let mut shared = SharedSurroundings::default();
    let [a, b, other] = ["a", "b", "elsewhere"].map(|run| around(&mut hub, run, &mut shared));
    assert!(is_shared(&a, &b));
    assert!(!is_shared(&a, &other));
    assert_eq!((a.runs.items.len(), other.runs.items.len()), (2, 1));
    assert_eq!(b.run_on("a").unwrap().meta.name, "a");
    assert!(b.run_on("elsewhere").is_none());
    let names = |inventory: &Inventory| {
        let others = inventory.other_runs();
        others.map(|run| run.meta.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (names(&a), names(&b)),
        (vec!["b".to_owned()], vec!["a".to_owned()])
    );
}

#[test]
fn who_is_answered_something_else_does_not_share() {
    let mut shared = SharedSurroundings::default();
    let before = around(&mut runs(&["a", "b"]), "a", &mut shared);
    let after = around(&mut runs(&["a", "b", "c"]), "b", &mut shared);
    assert!(!is_shared(&before, &after));
    assert_eq!(after.runs.items.len(), 3);
    // The same objects, read again: they may have changed meanwhile.
    let again = around(&mut runs(&["a", "b"]), "b", &mut shared);
    assert!(!is_shared(&before, &again));
    assert_eq!(again.runs.items.len(), 2);
}
