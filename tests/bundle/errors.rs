use std::fs;

use kubectl_fleet_stage::bundle::{self, Input};

use super::formats::{gzip, json, tar};
use super::{MEMBER, RUN, read};

/// What is said of a text: the message with its place, and the hint.
fn said(bytes: impl AsRef<[u8]>) -> (String, String) {
    let error = read(bytes).unwrap_err();
    let message = error.to_string();
    assert!(!message.contains('\n'), "{message}");
    (message, error.hint.unwrap_or_default())
}

fn assert_said(bytes: impl AsRef<[u8]>, message: &str, hint: &str) {
    let bytes = bytes.as_ref();
    let (found, advice) = said(bytes);
    let text = String::from_utf8_lossy(bytes);
    assert!(found.contains(message), "{found}\nof {text}");
    assert!(advice.contains(hint), "{advice}\nof {text}");
    assert_eq!(hint.is_empty(), advice.is_empty(), "{advice}\nof {text}");
}

/// Texts, with the run and the member in them, and what is said of each.
fn assert_all(cases: &[(&str, &str, &str)]) {
    for (text, message, hint) in cases {
        let text = text.replace("{RUN}", RUN).replace("{MEMBER}", MEMBER);
        assert_said(text, message, hint);
    }
}

#[test]
#[rustfmt::skip]
fn broken_texts_have_a_place_in_the_file() {
    assert_all(&[
        ("{RUN}---\nx:\n\ty: 1\n", "standard input:9:", "tabs"),
        ("{RUN}\tx: 1\n", "found a tab", "tabs"),
        ("{RUN}---\nx: [a\n---\n{MEMBER}", ":8:", ""),
        ("{RUN}---\nx: [a", ":8:", "truncated"),
        ("{RUN}  a: b: c\n", "standard input:7:7: invalid YAML", "quotes"),
        ("{RUN}  a: *b\n", ":7:6: invalid YAML", ""),
        ("{RUN}  a: &b [*b]\n", ":7:10: invalid YAML: an alias", ""),
        ("{RUN}  <<: 3\n", "`<<` must name a mapping", ""),
        ("{RUN}  a: {{ .b } }: {c\n", "invalid YAML", "template"),
        ("{RUN}  a: \u{1}\n", ":7:6: invalid YAML: unexpected character", ""),
        ("...\n\n{RUN}  a: [é, ]]\n", ":9:", ""),
        ("{\"a\": 1,\n \"é\": }", "standard input:2:7: invalid JSON", ""),
        ("{RUN}---\n{\"a\": 1,\n\"b\" }", ":9:", ""),
    ]);
    assert_said(format!("{} x", json("a")), "invalid JSON", "");
}

#[test]
fn what_was_cut_off_is_no_shorter_list() {
    let list = format!(r#"{{"kind":"List","items":[{},{}]}}"#, json("a"), json("b"));
    for end in 1..list.len() {
        assert_said(&list[..end], "truncated", "again");
    }
    let yaml = format!(
        "apiVersion: v1\nitems:\n- {}- {}kind: List\n",
        RUN.trim_end().replace('\n', "\n  ") + "\n",
        MEMBER.trim_end().replace('\n', "\n  ") + "\n"
    );
    assert_eq!(read(&yaml).unwrap().objects().len(), 2);
    for end in 1..yaml.find("kind: List").unwrap() {
        assert!(read(&yaml[..end]).is_err(), "{}", &yaml[..end]);
    }
    let documents = format!("{RUN}---\n{MEMBER}");
    for end in RUN.len() + 5..documents.len() {
        match read(&documents[..end]) {
            Ok(bundle) => assert!(
                bundle.objects().len() == 2 || !bundle.warnings.is_empty(),
                "{}",
                &documents[..end]
            ),
            Err(error) => assert!(error.hint.is_some(), "{error}"),
        }
    }
    for packed in [gzip(RUN), gzip(tar(&[("a.yaml", RUN.as_bytes())]))] {
        for end in 2..packed.len() {
            assert_said(&packed[..end], "truncated", "again");
        }
    }
    let archive = tar(&[("a.yaml", RUN.as_bytes()), ("b.yaml", MEMBER.as_bytes())]);
    for end in (262..archive.len()).step_by(37) {
        assert_said(&archive[..end], "truncated", "again");
    }
}

#[test]
fn a_header_that_counts_its_objects_is_believed() {
    let header = "apiVersion: kubectl-fleet-stage/v1\nkind: Bundle\nobjects: 2\n";
    assert_said(
        format!("{header}---\n{RUN}"),
        "its header announces 2 objects, but only 1 can be read: it was truncated",
        "again",
    );
    assert!(read(format!("{header}---\n{RUN}---\n{MEMBER}")).is_ok());
}

#[test]
#[rustfmt::skip]
fn what_is_no_bundle_is_recognised() {
    assert_all(&[
        ("", "it is empty", "may have failed"),
        ("\u{feff}\r\n \t\n", "it is empty", "may have failed"),
        ("# nothing\n---\n", "only empty lists or comments", "collect"),
        ("kind: List\nitems: []\n", "only empty lists", "collect"),
        (
            "Error from server (NotFound): crp \"x\" not found\n",
            "standard input:1:1: this is an error message of kubectl: Error from server (NotFound)",
            "2>&1",
        ),
        ("\n# x\nerror: no\n{RUN}", ":3:1: this is an error message of kubectl", "2>&1"),
        ("{RUN}---\nUnable to connect to the server: x", ":8:1:", "2>&1"),
        ("No resources found in shop namespace.\n", "kubectl found nothing", "-n"),
        ("NAME   AGE\nx      1d\n", "table printed by kubectl", "-o yaml"),
        ("<!DOCTYPE html>\n<html>", "this is HTML", "login"),
        ("<html><a href='b: c'>\n</html>", "this is HTML", "login"),
        ("I1121 05:04:50.0  1 a.go:1] \"x\" a=b\nb: c\n", "this is a log", "collect"),
        ("2026-11-21T05:04:50Z INFO x\n", "this is a log", "collect"),
        ("{\"level\":\"info\",\"msg\":\"x\"}\n{}\n", "this is a log", "collect"),
        ("hello\n", "nothing in it has an apiVersion", "kubectl get"),
        ("a\0b", ":1:2: not text: it has a NUL", "kubectl get"),
    ]);
    assert_said(b"a\n d\xc3\xa9 \xff", ":2:5: not UTF-8 text", "UTF-8");
    assert_said(b"\xff\xfea\0b", "broken UTF-16", "UTF-8");
    assert_said(b"\xff\xfe\x00\xd8", "broken UTF-16", "UTF-8");
    assert_said(b"PK\x03\x04abc", "a zip archive", "unpack");
    assert_said(b"\x1f\x8b\x09\0\0\0\0\0\0\0", "damaged", "again");
    assert_said(tar(&[("a.txt", b"x")]), "no YAML or JSON files", ".yaml");
    assert_said(gzip(gzip(gzip(gzip(RUN)))), "nested too deeply", "");
}

#[test]
fn other_objects_are_counted() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n";
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n";
    assert_said(
        format!("{service}---\n{deployment}---\n{deployment}"),
        "no KubeFleet objects among 3 objects: 2 Deployment, 1 Service",
        "kubectl get",
    );
    assert!(read(format!("{service}---\n{RUN}")).is_ok());
    // Another group's kind of the same name.
    let work = "apiVersion: work.example.com/v1\nkind: Work\nmetadata: {name: x}\n";
    assert_said(work, "1 Work", "kubectl get");
}

#[test]
fn files_and_members_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let fail = |name: &str| {
        let error = bundle::read(vec![Input::Path(at(name))]).unwrap_err();
        (error.to_string(), error)
    };
    let (message, error) = fail("nowhere.yaml");
    assert!(
        message.ends_with("nowhere.yaml: no such file or directory"),
        "{message}"
    );
    assert!(error.hint.is_some());
    fs::create_dir(at("empty")).unwrap();
    fs::write(at("empty/notes.txt"), "x").unwrap();
    let (message, _) = fail("empty");
    assert!(
        message.ends_with("empty: the directory has no YAML or JSON files"),
        "{message}"
    );
    fs::create_dir(at("some")).unwrap();
    fs::write(at("some/a.yaml"), RUN).unwrap();
    fs::write(at("some/b.yaml"), "").unwrap();
    let (message, _) = fail("some");
    assert!(message.ends_with("b.yaml: it is empty"), "{message}");
    fs::write(at("x.tgz"), gzip(tar(&[("d/a.yaml", b"a:\n  - b\n  c\n")]))).unwrap();
    let (message, error) = fail("x.tgz");
    assert!(
        message.contains("x.tgz(d/a.yaml):3:3: invalid YAML"),
        "{message}"
    );
    assert_eq!((error.line, error.column), (Some(3), Some(3)));
    assert_eq!(error.place.member.as_deref(), Some("d/a.yaml"));
}

#[test]
fn what_is_passed_over_is_said() {
    let bundle = read(format!("{RUN}---\nreplicas: 3\n---\n{MEMBER}")).unwrap();
    assert_eq!(
        bundle.warnings,
        ["standard input: skipped 1 document without apiVersion and kind"]
    );
    let bundle = read(format!("{}---\n{MEMBER}", RUN.replace("name:", "title:"))).unwrap();
    assert_eq!(bundle.warnings, ["skipped 1 object without a name"]);
    let bundle = read(RUN.trim_end()).unwrap();
    assert!(
        bundle.warnings[0].contains("no line break"),
        "{:?}",
        bundle.warnings
    );
}
