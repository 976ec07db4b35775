use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use kubectl_fleet_stage::bundle::{self, Input};
use kubectl_fleet_stage::kubefleet::Kind;
use kubectl_fleet_stage::kubefleet::object::ObjectBody;

use super::{MEMBER, RUN, good, names, read, stdin};

const BOTH: [&str; 2] = ["ClusterStagedUpdateRun release", "MemberCluster member-1"];

pub(super) fn json(name: &str) -> String {
    format!(
        r#"{{"apiVersion":"cluster.kubernetes-fleet.io/v1beta1","kind":"MemberCluster","metadata":{{"name":"{name}"}}}}"#
    )
}

pub(super) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append_data(&mut header, name, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

fn list(run: &str, member: &str) -> String {
    let item = |text: &str| {
        let mut out = String::new();
        for (index, line) in text.lines().enumerate() {
            out += if index == 0 { "- " } else { "  " };
            out += line;
            out += "\n";
        }
        out
    };
    format!(
        "apiVersion: v1\nitems:\n{}{}kind: List\nmetadata:\n  resourceVersion: \"\"\n",
        item(run),
        item(member)
    )
}

#[test]
fn yaml_documents_lists_and_streams() {
    let (run, member) = (RUN, MEMBER);
    let crlf = format!("{run}---\n{member}").replace('\n', "\r\n");
    for text in [
        format!("{run}---\n{member}"),
        format!("---\n{member}---\n{run}"),
        format!("--- # the run\n{run}...\n---\t\n{member}...\n"),
        format!("# written by hand\n\n---\n{run}\n---\n# nothing\n---\n\n{member}---\n"),
        format!("%YAML 1.2\n---\n{run}...\n%YAML 1.2\n---\n{member}"),
        format!("\u{feff}{run}---\n{member}"),
        crlf,
        list(run, member),
        format!("--- {}\n---\n{run}", json("member-1")),
        format!("{}\n---\n{run}", json("member-1")),
        format!(
            "{run}---\n{{apiVersion: cluster.kubernetes-fleet.io/v1, kind: MemberCluster, metadata: {{name: member-1}}}}\n"
        ),
    ] {
        let bundle = good(&text);
        assert_eq!(names(&bundle), BOTH, "{text}");
        assert!(bundle.warnings.is_empty(), "{:?}", bundle.warnings);
    }
}

#[test]
fn markers_count_at_the_start_of_a_line_only() {
    let text =
        format!("{RUN}  note: |\n    ---\n    ...\n  other: a --- b\n  last: '---'\n---more: x\n");
    assert_eq!(names(&good(text)), &BOTH[..1]);
}

#[test]
fn json_objects_lists_streams_and_arrays() {
    let one = json("a");
    let two = json("b");
    for text in [
        format!("{one}{two}"),
        format!("{one}\n{two}\n"),
        format!("\u{feff}\r\n {one}\r\n{two}"),
        format!("[{one},{two}]"),
        format!(r#"{{"apiVersion":"v1","items":[{one},{two}],"kind":"List"}}"#),
        format!(r#"{{"items":[{one},{two}]}}"#),
        r#"{"apiVersion":"cluster.kubernetes-fleet.io/v1","kind":"MemberClusterList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}"#.to_owned(),
    ] {
        assert_eq!(names(&good(&text)), ["MemberCluster a", "MemberCluster b"], "{text}");
    }
}

#[test]
fn utf16_with_a_byte_order_mark() {
    let text = format!("\u{feff}{RUN}  note: é😀\n");
    let units: Vec<u16> = text.encode_utf16().collect();
    let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    assert_eq!(names(&good(little)), &BOTH[..1]);
    assert_eq!(names(&good(big)), &BOTH[..1]);
}

#[test]
fn packed_data_is_known_by_its_content() {
    let archive = tar(&[
        ("b/run.yaml", RUN.as_bytes()),
        ("a/member.yml.gz", &gzip(MEMBER)),
        ("a/README.md", b"# \xff"),
        ("a/._run.yaml", b"\x00\x05"),
        (".cache/run.yaml", b"{"),
    ]);
    for bytes in [
        gzip(format!("{RUN}---\n{MEMBER}")),
        [gzip(format!("{RUN}---\n")), gzip(MEMBER)].concat(),
        archive.clone(),
        gzip(&archive),
    ] {
        assert_eq!(names(&good(bytes)), BOTH);
    }
}

#[test]
fn directories_are_read_to_the_bottom() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir_all(at("deep/er")).unwrap();
    fs::create_dir_all(at(".hidden")).unwrap();
    fs::write(at("deep/er/run.yaml"), RUN).unwrap();
    fs::write(
        at("member.tgz"),
        gzip(tar(&[("m.json", json("member-1").as_bytes())])),
    )
    .unwrap();
    fs::write(at(".hidden/broken.yaml"), "{").unwrap();
    fs::write(at(".broken.yaml"), "{").unwrap();
    fs::write(at("notes.txt"), "{").unwrap();
    let bundle = bundle::read(vec![Input::Path(directory.path().into())]).unwrap();
    assert_eq!(names(&bundle), BOTH);
}

#[test]
fn several_inputs_are_one_bundle_in_any_order() {
    let one = bundle::read(vec![stdin(RUN), stdin(MEMBER)]).unwrap();
    let two = bundle::read(vec![stdin(MEMBER), stdin(RUN)]).unwrap();
    assert_eq!(names(&one), BOTH);
    assert_eq!(one.objects(), two.objects());
}

#[test]
fn plain_scalars_keep_their_characters_where_text_is_wanted() {
    let names = "y no on Off 0x1 1e3 012 1_000 1.0 1e999 true -0 +1 .5 .inf 12:30:45 2026-01-09";
    for name in names.split(' ') {
        let bundle = good(RUN.replace("release", name));
        assert_eq!(bundle.objects()[0].reference().name, name);
    }
    let text = format!("{RUN}status:\n  policyObservedClusterCount: 12\n");
    for (count, want) in [
        ("12", Some(12)),
        ("'12'", Some(12)),
        ("0x10", Some(16)),
        ("many", None),
    ] {
        let bundle = good(text.replace("12", count));
        let ObjectBody::Run(run) = &bundle.objects()[0].body else {
            panic!()
        };
        assert_eq!(run.status.policy_cluster_count, want, "{count}");
    }
}

#[test]
fn null_is_nothing_and_quoted_null_is_text() {
    let state = |value: &str| {
        let bundle = good(format!("{RUN}  state: {value}\n"));
        let ObjectBody::Run(run) = &bundle.objects()[0].body else {
            panic!()
        };
        run.spec.state.clone()
    };
    for nothing in ["null", "~", "", "Null"] {
        assert_eq!(state(nothing), None);
    }
    for text in ["'null'", "\"null\"", "!!str null", "|-\n    null"] {
        assert_eq!(state(text).as_deref(), Some("null"));
    }
    assert_eq!(state("''").as_deref(), Some(""));
}

#[test]
fn aliases_and_merge_keys_stand_for_what_they_name() {
    let bundle = good(
        "apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateRun
metadata:
  name: &name release
  labels: &base {a: base, b: base}
  annotations:
    b: own
    <<: [*base, {b: late, c: late}]
    d: own
spec:
  placementName: *name
  other: &other {<<: *base, a: more}
  again: {<<: *other}
",
    );
    let ObjectBody::Run(run) = &bundle.objects()[0].body else {
        panic!()
    };
    assert_eq!(run.spec.placement, "release");
    let found: Vec<_> = run
        .meta
        .annotations
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    assert_eq!(found, ["a=base", "b=own", "c=late", "d=own"]);
}

#[test]
fn odd_fields_cost_themselves_only() {
    for odd in [
        "name: [a]",
        "name: {a: b}",
        "labels: text",
        "labels: [1]",
        "generation: {}",
        "finalizers: x",
        "? [a, b]\n  : c",
        "? {a: b}\n  : c",
        "1: 2",
        "null: x",
        "uid: !!int 5",
        "uid: !Custom x",
        "x: !!float abc",
        "x: 1e999",
        "finalizers: [1, {a: b}, [c]]",
        "creationTimestamp: soon",
        "labels: {a: {b: c}}",
        "a: 1\n  a: 2",
    ] {
        let text = format!(
            "{RUN}---\n{MEMBER}  {odd}\n---\n{}",
            MEMBER.replace('1', "2")
        );
        let bundle = good(&text);
        assert!(
            names(&bundle).contains(&"MemberCluster member-2".to_owned()),
            "{odd}"
        );
    }
}

#[test]
fn of_equal_keys_the_last_counts_in_both_formats() {
    let yaml = good(format!("{MEMBER}  name: later\n"));
    let json = good(json("first").replace(r#""name":"first""#, r#""name":"first","name":"later""#));
    assert_eq!(names(&yaml), names(&json));
}

/// A page of a list is no whole list, wherever its metadata stands.
#[test]
fn one_page_of_several_is_not_everything() {
    use kubectl_fleet_stage::inventory::source::Outcome;

    let api = "cluster.kubernetes-fleet.io/v1beta1";
    let item = json("member-1");
    let page = |kind: &str, metadata: &str, first: bool| {
        let (kind, api) = match kind {
            "List" => ("List", "v1"),
            kind => (kind, api),
        };
        if first {
            format!(
                r#"{{"kind":"{kind}","apiVersion":"{api}","metadata":{metadata},"items":[{item}]}}"#
            )
        } else {
            format!(
                r#"{{"apiVersion":"{api}","items":[{item}],"kind":"{kind}","metadata":{metadata}}}"#
            )
        }
    };
    for (metadata, is_page) in [
        (r#"{"continue":"x","remainingItemCount":15}"#, true),
        (r#"{"remainingItemCount":15}"#, true),
        (r#"{"continue":"x"}"#, true),
        (r#"{"continue":"","resourceVersion":"7"}"#, false),
        (r#"{"remainingItemCount":0}"#, false),
        ("3", false),
    ] {
        for kind in ["List", "MemberClusterList"] {
            for first in [true, false] {
                let text = page(kind, metadata, first);
                let bundle = read(&text).unwrap();
                assert_eq!(bundle.objects().len(), 1, "{text}");
                let expected = if is_page {
                    Outcome::Cut(1)
                } else {
                    Outcome::NotCollected
                };
                assert_eq!(*bundle.outcome(Kind::MemberCluster), expected, "{text}");
            }
        }
    }
}
