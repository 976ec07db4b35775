//! Reports as people and programs see them: at three widths, with and without color.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

#[path = "render/reports.rs"]
mod reports;
#[path = "render/status.rs"]
mod status;

use kubectl_fleet_stage::render::RenderLook;
use kubectl_fleet_stage::render::invocation::Invocation;
use kubectl_fleet_stage::render::style::TextPaint;
use kubectl_fleet_stage::render::{self, markdown, text};
use kubectl_fleet_stage::report::{CausedBy, Report, Severity};
use reports::{finding, hostile, names, run, stuck, waiting};
use unicode_width::UnicodeWidthStr;

fn look(width: usize, coloured: bool) -> RenderLook {
    RenderLook {
        width,
        paint: TextPaint::new(coloured),
        invocation: Invocation::new("kubectl-fleet_stage", "", &[("--context", Some("hub"))]),
        verbose: false,
    }
}

fn verbose(width: usize) -> RenderLook {
    RenderLook {
        verbose: true,
        ..look(width, false)
    }
}

/// The text without color.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut inside = false;
    for c in text.chars() {
        match c {
            '\u{1b}' => inside = true,
            'm' if inside => inside = false,
            _ if !inside => plain.push(c),
            _ => {}
        }
    }
    plain
}

#[test]
fn text_at_three_widths() {
    for width in [60, 80, 120] {
        let text = text::report(&stuck(), &look(width, false));
        for line in text.lines() {
            let is_command = line.starts_with("       ") || line.contains("see: kubectl");
            let words = line
                .trim_start_matches(['|', ' ', '-'])
                .matches(' ')
                .count();
            assert!(line.width() <= width || is_command || words < 2, "{line}");
        }
        insta::assert_snapshot!(format!("stuck-{width}"), text);
    }
}

#[test]
fn text_in_full() {
    insta::assert_snapshot!("stuck-verbose", text::report(&stuck(), &verbose(80)));
}

#[test]
fn text_with_open_gates_and_colour() {
    let text = text::report(&waiting(), &look(80, true));
    insta::assert_snapshot!("waiting-colour", text.replace('\u{1b}', "ESC"));
}

#[test]
fn colour_changes_no_word_and_no_line() {
    for report in [stuck(), waiting(), hostile()] {
        for width in [60, 80, 120] {
            let coloured = text::report(&report, &look(width, true));
            assert!(coloured.contains('\u{1b}'));
            assert_eq!(plain(&coloured), text::report(&report, &look(width, false)));
        }
    }
}

#[test]
fn text_from_the_cluster_is_harmless_and_wraps() {
    for text in [
        text::report(&hostile(), &look(60, false)),
        text::report(&hostile(), &verbose(60)),
        markdown::report(&hostile(), &look(60, false).invocation),
    ] {
        for c in text.chars() {
            assert!(c == '\n' || !c.is_control(), "{c:?} in {text}");
            let hidden = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            assert!(!hidden, "{c:?} in {text}");
        }
    }
    insta::assert_snapshot!("hostile-60", text::report(&hostile(), &look(60, false)));
    let invocation = look(60, false).invocation;
    insta::assert_snapshot!(
        "hostile-markdown",
        markdown::report(&hostile(), &invocation)
    );
}

#[test]
fn a_thousand_clusters_do_not_flood_the_screen() {
    let mut report = stuck();
    report.findings[0].clusters = names("member", 0..1000);
    let short = text::report(&report, &look(80, false));
    assert!(short.contains("and 988 more"), "{short}");
    assert!(short.contains("use -v to show everything"), "{short}");
    assert!(text::report(&report, &verbose(80)).contains("member-999"));
}

/// A finding whose cause was left out, or that is part of a circle, is still shown, once.
#[test]
fn no_finding_gets_lost() {
    let caused = |code: &str, cause: &str| {
        let mut finding = finding(code, "x", Severity::Error, "y");
        finding.caused_by = vec![CausedBy {
            code: cause.to_owned(),
            subject: run(),
        }];
        finding
    };
    let root = finding("FS101", "x", Severity::Error, "y");
    for findings in [
        vec![caused("FS102", "FS999")],
        vec![
            root.clone(),
            caused("FS102", "FS101"),
            caused("FS103", "FS102"),
        ],
        vec![caused("FS102", "FS103"), caused("FS103", "FS102")],
        vec![caused("FS102", "FS102")],
        vec![caused("FS102", "FS101"), root],
    ] {
        let mut report = stuck();
        report.findings = findings;
        let text = text::report(&report, &look(80, false));
        for finding in &report.findings {
            let header = format!("error {}", finding.code);
            assert_eq!(text.matches(&header).count(), 1, "{header} in {text}");
        }
    }
}

#[test]
fn markdown_for_an_issue() {
    let invocation = look(80, false).invocation;
    insta::assert_snapshot!("stuck-markdown", markdown::report(&stuck(), &invocation));
}

fn keys(text: &str, keys: &[&str]) {
    let places: Vec<_> = keys
        .iter()
        .map(|key| text.find(key).unwrap_or_else(|| panic!("{key} in {text}")))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn json_and_yaml_say_the_same_in_the_same_order() {
    let mut report: Report = stuck();
    report.left_out = Some(2);
    let json = render::json(&report).unwrap();
    let yaml = render::yaml(&report).unwrap();
    insta::assert_snapshot!("stuck-json", json);
    assert!(json.ends_with("}\n") && yaml.ends_with('\n'));
    let from_yaml: serde_json::Value = serde_saphyr::from_str(&yaml).unwrap();
    let from_json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(from_yaml, from_json);
    assert!(!json.contains("null"));
    let fields = [
        "apiVersion",
        "kind",
        "target",
        "verdict",
        "summary",
        "findings",
        "notChecked",
        "asOf",
        "leftOut",
        "run",
    ];
    keys(
        &json,
        &fields
            .map(|field| format!("\n  \"{field}\":"))
            .each_ref()
            .map(String::as_str),
    );
    keys(
        &format!("\n{yaml}"),
        &fields
            .map(|field| format!("\n{field}:"))
            .each_ref()
            .map(String::as_str),
    );
    // Commands stay as they are: the same objects give the same bytes.
    assert!(json.contains("\"kubectl fleet-stage rollback example-run\""));
}

/// What a program reads back is what was there, also of text that YAML would like to retype.
#[test]
fn odd_text_survives_json_and_yaml() {
    let mut report = hostile();
    for value in [
        "y",
        "no",
        "1_000",
        "0x1f",
        "1e3",
        "~",
        "null",
        "",
        " x ",
        "a: b",
        "# c",
        "=",
        "2026-01-09",
    ] {
        report.target.name = value.to_owned();
        let yaml: serde_json::Value =
            serde_saphyr::from_str(&render::yaml(&report).unwrap()).unwrap();
        let json: serde_json::Value =
            serde_json::from_str(&render::json(&report).unwrap()).unwrap();
        assert_eq!(yaml["target"]["name"], value);
        assert_eq!(yaml, json);
    }
}
