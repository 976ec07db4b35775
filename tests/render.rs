//! Reports as people see them, at three widths, with and without colour.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may fail

use kubectl_fleet_stage::bundle::{self, Input};
use kubectl_fleet_stage::diagnose::diagnose;
use kubectl_fleet_stage::diagnose::report::Report;
use kubectl_fleet_stage::kubefleet::{Kind, ObjectRef};
use kubectl_fleet_stage::render::invocation::Invocation;
use kubectl_fleet_stage::render::style::Paint;
use kubectl_fleet_stage::render::text::Look;
use kubectl_fleet_stage::render::{self, markdown, text};

fn report(file: &str, kind: Kind, namespace: &str, name: &str) -> Report {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let mut bundle = bundle::read(vec![Input::Path(path)]).unwrap();
    let hub = bundle.hub.clone();
    let now = bundle.collected_at.unwrap();
    let target = ObjectRef {
        kind,
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    diagnose(&mut bundle, &hub, &target, now)
}

fn ignored() -> Report {
    report(
        "tests/real/C05-approval-without-generation.yaml",
        Kind::ClusterStagedUpdateRun,
        "",
        "checkout-1",
    )
}

fn stuck() -> Report {
    report(
        "tests/real/N21-stuck-workload.yaml",
        Kind::StagedUpdateRun,
        "search",
        "search-1",
    )
}

fn look(width: usize, coloured: bool) -> Look {
    Look {
        width,
        paint: Paint::new(coloured),
        invocation: Invocation::new("kubectl-fleet_stage", &[("--context", Some("hub"))]),
        verbose: false,
    }
}

#[test]
fn text_at_three_widths() {
    for width in [60, 80, 120] {
        insta::assert_snapshot!(
            format!("ignored-approval-{width}"),
            text::report(&ignored(), &look(width, false))
        );
        insta::assert_snapshot!(
            format!("stuck-{width}"),
            text::report(&stuck(), &look(width, false))
        );
    }
}

#[test]
fn text_with_colour() {
    let text = text::report(&ignored(), &look(80, true));
    insta::assert_snapshot!("ignored-approval-colour", text.replace('\u{1b}', "ESC"));
}

#[test]
fn colour_changes_no_word() {
    let coloured = text::report(&stuck(), &look(80, true));
    let mut plain = String::new();
    let mut inside = false;
    for c in coloured.chars() {
        match c {
            '\u{1b}' => inside = true,
            'm' if inside => inside = false,
            _ if !inside => plain.push(c),
            _ => {}
        }
    }
    assert_eq!(plain, text::report(&stuck(), &look(80, false)));
}

#[test]
fn markdown_for_an_issue() {
    insta::assert_snapshot!(
        "ignored-approval-markdown",
        markdown::report(&ignored(), &look(80, false).invocation)
    );
}

#[test]
fn json_and_yaml_say_the_same_in_the_same_order() {
    let report = ignored();
    let json = render::json(&report).unwrap();
    insta::assert_snapshot!("ignored-approval-json", json);
    let yaml = render::yaml(&report).unwrap();
    let from_yaml: serde_json::Value = serde_saphyr::from_str(&yaml).unwrap();
    let from_json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(from_yaml, from_json);
    let keys = [
        "apiVersion:",
        "kind:",
        "target:",
        "verdict:",
        "summary:",
        "findings:",
        "notChecked:",
    ];
    let places: Vec<_> = keys
        .iter()
        .map(|key| yaml.find(&format!("\n{key}")).or(yaml.find(key)).unwrap())
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn text_from_the_cluster_is_harmless_and_wraps() {
    let mut report = stuck();
    for finding in &mut report.findings {
        finding.message = "evil \u{1b}[2J\u{202e}txet\u{200b} 日本語日本語日本語日本語日本語日本語日本語 🚀🚀 end.".to_owned();
        for evidence in &mut finding.evidence {
            evidence.value = "line one\nline two\u{7}\u{9b}31m".to_owned();
        }
    }
    report.summary = "a\u{1b}]0;title\u{7}b".to_owned();
    for text in [
        text::report(&report, &look(60, false)),
        markdown::report(&report, &look(60, false).invocation),
    ] {
        for c in text.chars() {
            assert!(c == '\n' || !c.is_control(), "{c:?} in {text}");
            assert!(!matches!(c, '\u{202e}' | '\u{200b}' | '\u{9b}'), "{c:?}");
        }
    }
    insta::assert_snapshot!("hostile-60", text::report(&report, &look(60, false)));
}

#[test]
fn a_thousand_clusters_do_not_flood_the_screen() {
    let mut report = stuck();
    report.findings[0].clusters = (0..1000).map(|at| format!("member-{at:04}")).collect();
    let short = text::report(&report, &look(80, false));
    assert!(short.contains("and 988 more (-v)"), "{short}");
    let long = text::report(
        &report,
        &Look {
            verbose: true,
            ..look(80, false)
        },
    );
    assert!(long.contains("member-0999"));
}
