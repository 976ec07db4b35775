//! The pages: what is in them. How a browser shows them is tested in `tests/browser`.

use super::{HOSTILE, about, example, examples, say};

fn page(arguments: &str) -> String {
    let said = say(&format!("{arguments} -o html --exit-zero"));
    assert_eq!(said.code, 0, "{arguments:?}: {}", said.err);
    said.out
}

/// The page without its style sheet.
fn content(page: &str) -> String {
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, tail) = rest.split_once("</style>").unwrap();
    // An element a line, for people who compare.
    format!("{head}{tail}").replace("><", ">\n<")
}

#[test]
fn every_example_is_a_page_that_needs_nothing() {
    for path in examples() {
        let file = path.to_str().unwrap();
        for command in ["diagnose", "status"] {
            let page = page(&format!("{command} {}", about(&path)));
            assert!(
                page.starts_with("<!DOCTYPE html><html lang=\"en\">"),
                "{file}"
            );
            for word in [
                "<script", "<link", "<img", "<iframe", " style=", " on", "src=", "@import",
            ] {
                let elements = content(&page);
                let inside = elements.lines().filter(|line| line.starts_with('<'));
                let tags = inside.map(|line| line.split('>').next().unwrap_or_default());
                assert!(
                    !tags.clone().any(|tag| tag.contains(word)),
                    "{file}: {word}"
                );
            }
            assert!(page.contains("default-src 'none'"));
            assert_eq!(page.matches("<h1").count(), 1, "{file}");
        }
    }
}

#[test]
fn the_same_objects_give_the_same_page() {
    let arguments = format!("diagnose {}", example("cluster/stuck-workload"));
    assert_eq!(page(&arguments), page(&arguments));
}

#[test]
fn a_page_has_the_findings_the_timeline_and_the_stages() {
    insta::assert_snapshot!(
        "stuck",
        content(&page(&format!(
            "diagnose {}",
            example("cluster/stuck-workload")
        )))
    );
    insta::assert_snapshot!(
        "waiting",
        content(&page(&format!(
            "status {}",
            example("cluster/waiting-for-approval")
        )))
    );
}

#[test]
fn ids_are_there_once_and_every_link_inside_leads_to_one() {
    let page = page("diagnose --all -A -f examples/cluster/rolling-back.yaml");
    let values = |start: &str| -> Vec<String> {
        let parts = page.split(start).skip(1);
        parts
            .map(|part| part.split('"').next().unwrap().to_owned())
            .collect()
    };
    let mut ids = values(" id=\"");
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all);
    let inside = values("href=\"#").into_iter();
    for target in inside.chain(values("aria-labelledby=\"")) {
        for word in target.split(' ') {
            assert!(ids.iter().any(|id| id == word), "{target}");
        }
    }
}

#[test]
fn hostile_text_stays_text() {
    let page = page(&format!("diagnose --all -A -f {HOSTILE}"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(page.contains("&lt;svg onload=alert(4)&gt;"));
    assert!(!page.contains("<script") && !page.contains("<svg onload") && !page.contains("<img"));
    assert!(
        !page
            .chars()
            .any(|c| (c.is_control() && c != '\n') || c == '\u{202e}')
    );
}

#[test]
fn a_page_does_not_follow() {
    let said = say("status x --watch -o html");
    assert_eq!(said.code, 2, "{}", said.err);
}
