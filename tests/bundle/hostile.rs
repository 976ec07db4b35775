use std::fmt::Write;

use proptest::prelude::*;
use test_hub::waiting;

use super::formats::{gzip, json, tar};
use super::{MEMBER, RUN, read};

/// Reads a text that must end with this error, or one of several.
fn refused(text: &str, why: &str) {
    let whole = text.to_owned();
    let error = waiting::ends(why, move || read(whole).unwrap_err().to_string());
    let head: String = text.chars().take(60).collect();
    let known = why.split('|').any(|why| error.contains(why));
    assert!(known, "{error}\nof {head}");
}

#[test]
fn deep_nesting_is_refused() {
    for opening in ["[", "{\"a\":", "- ", "? ", "{a: ", "- [", "&a [", "[{"] {
        refused(&opening.repeat(100_000), "standard input:1:");
    }
    let mut block = String::new();
    for depth in 0..2_000 {
        writeln!(block, "{}a:", " ".repeat(depth)).unwrap();
    }
    refused(&block, "standard input:");
    // As deep as allowed, in a field that is passed over and in one that is kept.
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    assert!(read(format!("{RUN}  x: {deep}\n")).is_ok());
    assert!(read(format!("x: {deep}\n{RUN}")).is_ok());
    assert!(read(json("a").replace(r#""a""#, &format!(r#""a","x":{deep}"#))).is_ok());
}

#[test]
fn aliases_cannot_multiply_a_text() {
    let levels = |item: &dyn Fn(&str) -> String| {
        let mut text = "a: &a {k: v}\n".to_owned();
        for (previous, next) in "abcdefghij".chars().zip("bcdefghijk".chars()) {
            let nine = vec![format!("*{previous}"); 9].join(", ");
            writeln!(text, "{next}: &{next} {}", item(&nine)).unwrap();
        }
        text + RUN
    };
    refused(
        &levels(&|nine| format!("[{nine}]")),
        "aliases repeat too much|of memory",
    );
    refused(
        &levels(&|nine| format!("{{<<: [{nine}]}}")),
        "aliases repeat too much|of memory",
    );
    let big = "y".repeat(100_000);
    let many = "*big, ".repeat(10_000);
    refused(
        &format!("{MEMBER}  uid: &big {big}\n  finalizers: [{many}]\n"),
        "aliases repeat too much|of memory",
    );
    // What a program writes that shares its values is no bomb.
    let mut shared = format!("{MEMBER}  labels: &l {{a: b, c: d}}\n");
    for number in 0..500 {
        let member = MEMBER.replace("member-1", &format!("m{number}"));
        let indented = member.trim_end().replace('\n', "\n  ");
        if number == 0 {
            shared =
                format!("apiVersion: v1\nitems:\n- {indented}\n    labels: &l {{a: b, c: d}}\n");
        } else {
            writeln!(shared, "- {indented}\n    labels: *l").unwrap();
        }
    }
    assert_eq!(read(shared + "kind: List\n").unwrap().objects().len(), 500);
}

#[test]
fn large_parts_are_read() {
    let long = "x ".repeat(500_000);
    assert!(read(format!("{RUN}  x: '{long}'\n")).is_ok());
    assert!(read(format!("{RUN}  x: {long}\n")).is_ok());
    assert!(read(format!("{RUN}  x: |\n    {long}\n")).is_ok());
    refused(&format!("{RUN}  x: \"{long}\n"), "invalid YAML");
    refused(&"---\n".repeat(100_000), "only empty lists");
    refused(&"# x\n".repeat(100_000), "only empty lists");
    refused(&"%X\n".repeat(100_000), "standard input:");
    refused(&"a:\n".repeat(100_000), "of memory");
    refused(&"[]".repeat(100_000), "only empty lists");
    refused(&"- &a b\n- *a\n".repeat(50_000), "nothing in it");
    refused(&"!a ".repeat(100_000), "standard input:1:");
    let mut many = String::new();
    for number in 0..3_000 {
        many += &MEMBER.replace("member-1", &format!("m{number}"));
        many += "---\n";
    }
    assert_eq!(read(many).unwrap().objects().len(), 3_000);
}

#[test]
fn what_is_no_text_is_refused() {
    refused(&format!("{RUN}  x: \0\n"), ":7:6: not text: it has a NUL");
    refused(&format!("{RUN}  x: \u{7f}\u{1b}[31m\n"), ":7:");
    assert!(read(b"\xc3").is_err());
    assert!(read(b"\xff\xfe").is_err());
    assert!(read([RUN.as_bytes(), b"  x: \xed\xa0\x80\n"].concat()).is_err());
    // Control characters where YAML and JSON have an escape for them are content.
    assert!(read(format!("{RUN}  x: \"\\u001b[31m\\0\"\n")).is_ok());
    assert!(read(format!("{RUN}  x: \u{202e}abc\n")).is_ok());
}

fn texts() -> Vec<Vec<u8>> {
    let header = "apiVersion: kubectl-fleet-stage/v1\nkind: Bundle\ncollectedAt: 2026-01-09T02:00:00Z\n\
                  kinds:\n- {kind: Work, outcome: listed}\ntarget: {kind: Work, name: x}\nhub: {runStates: [a]}\n";
    let rich = format!(
        "--- # x\n{header}---\n{RUN}  &a x: *a\n...\n---\n{MEMBER}  labels: &l {{a: 'b', ? c : \"d\\n\"}}\n  \
         annotations:\n    <<: *l\n    x: |-\n      y\n    z: >\n      w\nstatus:\n- 1e3\n- [0x1, null]\n"
    );
    let rich = rich.replace("  &a x: *a\n", "");
    let list = format!(r#"{{"items":[{},{}],"kind":"List"}}"#, json("a"), json("b"));
    let archive = tar(&[("a.yaml", RUN.as_bytes()), ("b.json", json("a").as_bytes())]);
    vec![
        rich.into_bytes(),
        list.into_bytes(),
        gzip(RUN),
        gzip(&archive),
        archive,
    ]
}

#[test]
fn the_texts_to_mutate_are_good() {
    for text in texts() {
        let result = read(&text);
        assert!(
            result.is_ok(),
            "{result:?} of {}",
            String::from_utf8_lossy(&text)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(bytes);
    }

    #[test]
    fn any_yaml_like_text_is_an_answer(text in "([a-c]|[-:?,&*!|>'\"%#{}<. \n\t\\[\\]]|- |: |\n  |&a|\\*a|<<: |---\n|\\.\\.\\.\n|kind: |items:){0,60}") {
        let _ = read(text);
    }

    #[test]
    fn a_mutated_bundle_is_an_answer(
        which in 0..5_usize,
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..6),
    ) {
        let mut text = texts().swap_remove(which);
        for (at, byte, edit) in edits {
            if text.is_empty() {
                break;
            }
            let at = at.index(text.len());
            match edit {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                2 => { text.remove(at); }
                _ => text.truncate(at),
            }
        }
        let _ = read(text);
    }

    #[test]
    fn an_error_has_one_line_and_a_place_in_the_text(text in "[a{}\\[\\]:,'\"\n \t*&é-]{1,40}") {
        if let Err(error) = read(&text) {
            prop_assert!(!error.to_string().contains('\n'));
            if let Some(line) = error.line {
                prop_assert!(line as usize <= text.lines().count() + 1, "{error}");
                prop_assert!(error.column.is_some_and(|column| column >= 1));
            }
        }
    }
}
