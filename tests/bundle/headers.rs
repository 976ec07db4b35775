use kubectl_fleet_stage::bundle::Bundle;
use kubectl_fleet_stage::inventory::source::{HubQuery, ObjectSource as _, Outcome};
use kubectl_fleet_stage::kubefleet::{Kind, names};

use super::{RUN, good};

fn header(rest: &str) -> String {
    format!("apiVersion: kubectl-fleet-stage/v1\nkind: Bundle\n{rest}\n")
}

fn outcome(bundle: &Bundle, kind: Kind) -> Outcome {
    bundle.outcome(kind).clone()
}

#[test]
fn a_header_says_what_the_collector_saw() {
    let bundle = good(format!(
        "{}---\n{RUN}",
        header(
            "collectedAt: 2026-01-09T02:00:00Z
kinds:
- {kind: ClusterResourcePlacement, outcome: listed}
- {kind: ClusterResourceBinding, outcome: denied, why: no}
- {kind: StagedUpdateRun, outcome: notInstalled}
- {kind: Work, outcome: failed, why: timed out}
- {kind: ClusterResourceOverride, outcome: listed}
target: {kind: ClusterStagedUpdateRun, name: release}
hub: {runStates: [Initialize, Run, Stop], served: [works.placement.kubernetes-fleet.io/v1]}"
        )
    ));
    assert_eq!(bundle.warnings, Vec::<String>::new());
    assert_eq!(
        outcome(&bundle, Kind::ClusterResourcePlacement),
        Outcome::Listed
    );
    assert_eq!(
        outcome(&bundle, Kind::ClusterResourceBinding),
        Outcome::Denied("no".into())
    );
    assert_eq!(outcome(&bundle, Kind::StagedUpdateRun), Outcome::NotServed);
    assert_eq!(
        outcome(&bundle, Kind::Work),
        Outcome::Failed("timed out".into())
    );
    assert_eq!(outcome(&bundle, Kind::MemberCluster), Outcome::NotCollected);
    assert_eq!(
        bundle.collected_at,
        Some("2026-01-09T02:00:00Z".parse().unwrap())
    );
    let target = bundle.target.unwrap();
    assert_eq!(
        (target.kind, target.name.as_str()),
        (Kind::ClusterStagedUpdateRun, "release")
    );
    assert!(!bundle.hub.ignores_state() && bundle.hub.run_states.is_some());
}

#[test]
fn a_header_alone_is_a_bundle() {
    let bundle = good(header(
        "kinds: [{kind: ClusterStagedUpdateRun, outcome: listed}]",
    ));
    assert!(bundle.objects().is_empty());
}

#[test]
fn what_a_header_says_wrongly_is_unknown() {
    let bundle = good(header(
        "collectedAt: yesterday\nkinds: [{kind: Work, outcome: maybe}, {outcome: listed}, 5]\ntarget: [x]\nhub: 7",
    ));
    assert_eq!(outcome(&bundle, Kind::Work), Outcome::NotCollected);
    assert_eq!((bundle.collected_at, bundle.target), (None, None));
    assert_eq!(bundle.warnings.len(), 3, "{:?}", bundle.warnings);
    let bundle = good(format!(
        "apiVersion: kubectl-fleet-stage/v1\nkind: Diagnosis\nx: 1\n---\n{RUN}"
    ));
    assert_eq!(
        bundle.warnings,
        ["standard input: skipped a document of kind `Diagnosis`"]
    );
}

#[test]
fn of_a_kind_that_was_asked_for_by_name_the_others_are_unknown() {
    let (strategy, run) = (Kind::StagedUpdateStrategy, Kind::StagedUpdateRun);
    let named = |names: &str| {
        header(&format!(
            "kinds: [{{kind: StagedUpdateStrategy, outcome: listed, names: [{names}]}}, {{kind: \
             StagedUpdateRun, outcome: listed}}]"
        ))
    };
    let ask = |text: &str, query: HubQuery| good(text).answer(&[query])[0].outcome.clone();
    let one = named("shop/rings");
    let object = |name: &str| HubQuery::named(strategy, "shop", name);
    assert_eq!(ask(&one, object("rings")), Outcome::Listed);
    assert_eq!(ask(&one, object("fast")), Outcome::NotCollected);
    assert_eq!(
        ask(&one, HubQuery::all(strategy, "shop")),
        Outcome::NotCollected
    );
    assert_eq!(
        ask(&one, HubQuery::named(run, "shop", "r")),
        Outcome::Listed
    );
    let both = format!("{one}---\n{}", named("shop/fast"));
    assert_eq!(ask(&both, object("fast")), Outcome::Listed);
    assert_eq!(ask(&both, object("slow")), Outcome::NotCollected);
    let all = header("kinds: [{kind: StagedUpdateStrategy, outcome: listed}]");
    assert_eq!(
        ask(&format!("{one}---\n{all}"), object("slow")),
        Outcome::Listed
    );
}

#[test]
fn of_a_placement_that_was_not_asked_for_nothing_is_known() {
    let (binding, work) = (Kind::ClusterResourceBinding, Kind::Work);
    let text = header(
        "kinds: [{kind: ClusterResourcePlacement, outcome: listed, names: [web]}, {kind: \
         ClusterResourceBinding, outcome: listed}, {kind: Work, outcome: listed}]",
    );
    let ask = |kind, placement: &str| {
        let query = HubQuery::labelled(kind, "", names::PARENT_PLACEMENT, placement);
        good(text.clone()).answer(&[query])[0].outcome.clone()
    };
    assert_eq!(ask(binding, "web"), Outcome::Listed);
    assert_eq!(ask(binding, "shop"), Outcome::NotCollected);
    assert_eq!(ask(work, "shop"), Outcome::Listed);
}

/// All placements are listed where that of the run does not exist.
#[test]
fn a_bundle_around_one_placement_knows_nothing_around_another() {
    let kinds = "kinds: [{kind: ClusterResourcePlacement, outcome: listed}, {kind: \
                 ClusterResourceBinding, outcome: listed}]";
    let run = "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateRun\n\
               metadata: {name: a}\nspec: {placementName: web}\n";
    let ask = |target: &str, placement: &str| {
        let text = format!("{}---\n{run}", header(&format!("{target}{kinds}")));
        let kind = Kind::ClusterResourceBinding;
        let query = HubQuery::labelled(kind, "", names::PARENT_PLACEMENT, placement);
        good(text).answer(&[query])[0].outcome.clone()
    };
    for target in [A, "target: {kind: ClusterResourcePlacement, name: web}\n"] {
        assert_eq!(ask(target, "web"), Outcome::Listed, "{target}");
        assert_eq!(ask(target, "shop"), Outcome::NotCollected, "{target}");
    }
    // Of what it is for nothing tells.
    for target in ["", B] {
        assert_eq!(ask(target, "shop"), Outcome::Listed, "{target}");
    }
}

/// What two headers say together of some kinds; the same in either order.
fn together(one: &str, two: &str) -> Bundle {
    let (one, two) = (header(one), header(two));
    let bundle = good(format!("{one}---\n{two}"));
    let other = good(format!("{two}---\n{one}"));
    for kind in Kind::ALL {
        assert_eq!(bundle.outcome(*kind), other.outcome(*kind));
    }
    assert_eq!(bundle.target, other.target);
    assert_eq!(bundle.hub, other.hub);
    assert_eq!(bundle.warnings, other.warnings);
    assert_eq!(bundle.collected_at, other.collected_at);
    bundle
}

const A: &str = "target: {kind: ClusterStagedUpdateRun, name: a}\n";
const B: &str = "target: {kind: ClusterStagedUpdateRun, name: b}\n";
const N: &str = "target: {kind: StagedUpdateRun, namespace: shop, name: n}\n";

#[test]
fn together_headers_promise_what_all_of_them_do() {
    let listed =
        "kinds: [{kind: Work, outcome: listed}, {kind: ClusterResourceBinding, outcome: listed}]";
    let same = together(&format!("{A}{listed}"), &format!("{B}{listed}"));
    assert_eq!(outcome(&same, Kind::Work), Outcome::Listed);
    assert_eq!(same.target, None);

    let denied = "kinds: [{kind: Work, outcome: denied, why: no}]";
    let worse = together(&format!("{A}{listed}"), &format!("{B}{denied}"));
    assert_eq!(outcome(&worse, Kind::Work), Outcome::Denied("no".into()));
    // Its own walk reads bindings, and it does not say that it did.
    assert_eq!(
        outcome(&worse, Kind::ClusterResourceBinding),
        Outcome::NotCollected
    );

    let namespaced =
        "kinds: [{kind: Work, outcome: listed}, {kind: ResourceBinding, outcome: listed}]";
    let scopes = together(&format!("{A}{listed}"), &format!("{N}{namespaced}"));
    for kind in [
        Kind::Work,
        Kind::ClusterResourceBinding,
        Kind::ResourceBinding,
    ] {
        assert_eq!(outcome(&scopes, kind), Outcome::Listed);
    }

    let more = together(
        &format!("{A}{listed}"),
        "kinds: [{kind: MemberCluster, outcome: listed}]",
    );
    assert_eq!(outcome(&more, Kind::Work), Outcome::Listed);
    assert_eq!(more.target.unwrap().name, "a");
}

#[test]
fn together_headers_have_the_latest_clock_and_an_undisputed_hub() {
    let bundle = together(
        "collectedAt: 2026-01-09T02:00:00Z\nhub: {runStates: [Run, Stop]}",
        "collectedAt: 2026-01-09T03:00:00Z\nhub: {runStates: [Stop, Run]}",
    );
    assert_eq!(
        bundle.collected_at,
        Some("2026-01-09T03:00:00Z".parse().unwrap())
    );
    assert!(bundle.hub.run_states.is_some());
    assert_eq!(bundle.warnings.len(), 1, "{:?}", bundle.warnings);
    let bundle = together("hub: {runStates: [Run]}", "hub: {runStates: []}");
    assert_eq!(bundle.hub.run_states, None);
    assert!(bundle.warnings[0].contains("different hubs"));
}
