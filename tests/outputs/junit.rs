//! Test results: what Jenkins, GitLab and GitHub's readers take.

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{HOSTILE, about, example, examples, say};
use crate::files::whole;

/// An element as it was read.
#[derive(Debug, Default, Clone)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn of(start: &BytesStart<'_>) -> Self {
        let mut element = Self {
            name: start.name().as_ref().to_owned(),
            ..Self::default()
        };
        for attribute in start.attributes() {
            let attribute = attribute.unwrap();
            let name = attribute.key.as_ref().to_owned();
            let value = quick_xml::escape::unescape(&attribute.value)
                .unwrap()
                .into_owned();
            assert_eq!(element.attributes.insert(name, value), None);
        }
        element
    }

    fn number(&self, attribute: &str) -> usize {
        self.attributes[attribute].parse().unwrap()
    }

    fn all(&self, name: &str) -> Vec<&Element> {
        self.children
            .iter()
            .filter(|one| one.name == name)
            .collect()
    }

    fn case(&self, name: &str) -> &Element {
        let cases = self.children.iter();
        let mut found = cases.filter(|case| case.attributes["name"].starts_with(name));
        let case = found.next().unwrap_or_else(|| panic!("no case {name}"));
        assert_eq!(found.next().map(|case| &case.attributes), None);
        case
    }
}

/// Reads a document; whatever is not well-formed fails.
fn read(text: &str) -> Element {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut stack = vec![Element::default()];
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => stack.push(Element::of(&start)),
            Event::Empty(start) => stack.last_mut().unwrap().children.push(Element::of(&start)),
            Event::End(_) => {
                let element = stack.pop().unwrap();
                stack.last_mut().unwrap().children.push(element);
            }
            Event::Text(text) => {
                stack.last_mut().unwrap().text.push_str(&text);
            }
            Event::GeneralRef(name) => {
                let text = format!("&{};", &*name);
                let text = quick_xml::escape::unescape(&text).unwrap().into_owned();
                stack.last_mut().unwrap().text.push_str(&text);
            }
            Event::Decl(declaration) => {
                assert_eq!(declaration.version().unwrap().as_ref(), "1.0");
            }
            Event::Eof => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(stack.len(), 1);
    let mut root = stack.pop().unwrap();
    assert_eq!(root.children.len(), 1);
    root.children.pop().unwrap()
}

/// What the schemas that are in use allow: the names of elements and attributes, their numbers and
/// order.
fn check(document: &Element) {
    let only = |element: &Element, allowed: &[&str]| {
        for name in element.attributes.keys() {
            assert!(allowed.contains(&name.as_str()), "{}: {name}", element.name);
        }
    };
    assert_eq!(document.name, "testsuites");
    only(
        document,
        &["name", "tests", "failures", "errors", "skipped"],
    );
    let mut sums = [0, 0, 0];
    for suite in &document.children {
        assert_eq!(suite.name, "testsuite");
        only(
            suite,
            &[
                "name",
                "tests",
                "failures",
                "errors",
                "skipped",
                "time",
                "timestamp",
            ],
        );
        let timestamp = &suite.attributes["timestamp"];
        assert!(timestamp.ends_with("+00:00"), "{timestamp}");
        assert!(timestamp.parse::<jiff::Timestamp>().is_ok(), "{timestamp}");
        let mut names = BTreeSet::new();
        let mut ends = BTreeMap::from([("failure", 0), ("error", 0), ("skipped", 0)]);
        for case in &suite.children {
            assert_eq!(case.name, "testcase");
            only(case, &["classname", "name", "time"]);
            let (class, name) = (&case.attributes["classname"], &case.attributes["name"]);
            assert!(!class.is_empty() && !name.is_empty());
            assert!(names.insert((class, name)), "{class} {name} is there twice");
            let words: Vec<_> = case.children.iter().map(|one| one.name.as_str()).collect();
            for end in ["failure", "error", "skipped"] {
                *ends.get_mut(end).unwrap() += words.iter().filter(|word| **word == end).count();
            }
            match words.as_slice() {
                []
                | ["failure" | "error" | "skipped" | "system-out"]
                | ["failure" | "error", "system-out"] => {}
                other => panic!("{name}: {other:?}"),
            }
            for end in &case.children {
                only(
                    end,
                    if end.name == "skipped" {
                        &["message"]
                    } else {
                        &["type", "message"]
                    },
                );
            }
        }
        assert_eq!(suite.number("tests"), suite.children.len());
        assert_eq!(suite.number("failures"), ends["failure"]);
        assert_eq!(suite.number("errors"), ends["error"]);
        assert_eq!(suite.number("skipped"), ends["skipped"]);
        sums[0] += suite.number("tests");
        sums[1] += suite.number("failures");
        sums[2] += suite.number("errors");
    }
    let whole = ["tests", "failures", "errors"].map(|name| document.number(name));
    assert_eq!(whole, sums);
}

fn diagnose(arguments: &str) -> (Element, i32) {
    let said = say(&format!("diagnose -o junit {arguments}"));
    let document = read(&said.out);
    check(&document);
    (document, said.code)
}

#[test]
fn every_example_is_a_valid_result() {
    let mut cases = None;
    for path in examples() {
        let (document, _) = diagnose(&about(&path));
        // The cases of findings are the same, whatever was found.
        let names: Vec<_> = document.children[0]
            .children
            .iter()
            .map(|case| case.attributes.clone())
            .filter(|case| case["classname"] != "fleet-stage.not-checked")
            .map(|case| (case["classname"].clone(), case["name"].clone()))
            .collect();
        assert_eq!(
            *cases.get_or_insert(names.clone()),
            names,
            "{}",
            path.display()
        );
    }
    let (list, _) = diagnose("--all -A -f examples/cluster/rolled-back.yaml");
    assert!(list.children.len() > 1);
}

#[test]
fn a_stuck_run_fails_with_its_cause() {
    let (document, code) = diagnose(&example("cluster/stuck-workload"));
    assert_eq!(code, 5);
    let suite = &document.children[0];
    let verdict = suite.case("verdict");
    assert_eq!(verdict.all("failure")[0].attributes["type"], "Stuck");
    assert!(verdict.attributes["time"].parse::<f64>().unwrap() > 300.0);
    let causes: Vec<_> = suite
        .children
        .iter()
        .filter_map(|case| Some((case, *case.all("failure").first()?)))
        .filter(|(_, failure)| failure.text.contains("\nroot cause"))
        .collect();
    let [(case, failure)] = causes.as_slice() else {
        panic!("{causes:?}");
    };
    let code = &failure.attributes["type"];
    assert!(case.attributes["name"].starts_with(code));
    assert!(!failure.attributes["message"].is_empty());
    for part in [
        "\nevidence: ",
        "\n1. ",
        "fleet-stage diagnose",
        "\nclusters: ",
    ] {
        assert!(failure.text.contains(part), "{part}: {}", failure.text);
    }
}

#[test]
fn a_healthy_run_passes_every_case() {
    let (document, code) = diagnose(&example("cluster/succeeded"));
    assert_eq!(code, 0);
    assert!(document.number("tests") > 80);
    assert_eq!(
        (document.number("failures"), document.number("errors")),
        (0, 0)
    );
    let verdict = document.children[0].case("verdict");
    assert!(verdict.all("system-out")[0].text.starts_with("Succeeded\n"));
}

#[test]
fn a_warning_passes_unless_it_is_asked_to_fail() {
    let (waiting, code) = diagnose(&example("cluster/waiting-for-approval"));
    assert_eq!(code, 4);
    // That a person is waited for is planned.
    assert_eq!(waiting.number("failures"), 0);
    let notes = |document: &Element| {
        let cases = document.children[0].children.iter();
        cases
            .filter(|case| !case.all("system-out").is_empty())
            .count()
    };
    assert!(notes(&waiting) > 1);
    let older = format!("--all -f {HOSTILE}");
    let warnings = say(&format!("diagnose {older} -o json"));
    assert!(
        warnings.out.contains("\"warning\""),
        "the example has no warning"
    );
    let (plain, _) = diagnose(&older);
    let (strict, _) = diagnose(&format!("{older} --fail-on warning"));
    assert!(strict.number("failures") > plain.number("failures"));
}

#[test]
fn what_was_not_checked_is_skipped() {
    let mut seen = 0;
    let denied = whole("tests/findings/FS302/fires-bindings-denied.yaml");
    for path in examples().into_iter().chain([denied]) {
        let file = about(&path);
        let (document, _) = diagnose(&file);
        let said = say(&format!("diagnose {file} -o json"));
        let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let gaps = report["notChecked"].as_array().unwrap().len();
        assert_eq!(document.children[0].number("skipped"), gaps, "{file}");
        seen += gaps;
    }
    assert!(seen > 0);
}

#[test]
fn hostile_text_stays_text() {
    let (document, _) = diagnose(&format!("--all -A -f {HOSTILE}"));
    let text = format!("{document:?}");
    assert!(text.contains("<script>"), "{text}");
    assert!(text.contains("\\\\u{1b}"), "{text}");
    assert!(text.contains("]]>"), "{text}");
}
