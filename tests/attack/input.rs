//! Files that are not what they seem.

use std::io::Write as _;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use kubectl_fleet_stage::bundle::{self, Bundle, Input, ReadError, ReadLimits};

use super::{ends, program, tries};

const BUNDLE: &str = "tests/real/C21-stuck-workload.yaml";

/// A bundle that was cut off or of which bytes are wrong ends with an answer or with one error.
#[test]
fn damaged_bundles_have_an_end() {
    let whole = std::fs::read(BUNDLE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bundle.yaml");
    let path = file.to_str().unwrap();
    let tries = tries(8);
    for number in 0..tries {
        let mut bytes = whole.clone();
        let at = bytes.len() * number / tries;
        match number % 3 {
            0 => bytes.truncate(at),
            1 => bytes[at] = b'{',
            _ => {
                bytes.remove(at);
            }
        }
        std::fs::File::create(&file)
            .unwrap()
            .write_all(&bytes)
            .unwrap();
        let output = ends(&mut program(&["diagnose", "-f", path]));
        let errors = String::from_utf8_lossy(&output.stderr);
        let errors = errors.lines().filter(|line| line.starts_with("error:"));
        assert!(errors.count() <= 1, "{at}");
    }
}

fn read(bytes: impl AsRef<[u8]>, limits: ReadLimits) -> Result<Bundle, ReadError> {
    let bytes = std::io::Cursor::new(bytes.as_ref().to_vec());
    bundle::read_within(vec![Input::Stdin(Box::new(bytes))], &[], limits)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn archive(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder
            .append_data(&mut header, name, content.as_slice())
            .unwrap();
    }
    builder.into_inner().unwrap()
}

const RUN: &str = "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateRun\nmetadata: {name: a}\n";

/// Texts that make much of what they say: what each begins with, repeats and ends with. `{JSON}` and
/// `{YAML}` begin a run.
#[rustfmt::skip]
const DENSE: &[(&str, &str, &str, &str)] = &[
    ("empty objects", r#"{JSON}List","items":["#, "{},", "{}]}"),
    ("named objects", r#"{JSON}List","items":["#, r#"{"metadata":{"name":"a"}},"#, "{}]}"),
    ("lists before the kind", r#"{"a":["#, "[],", "[]]}"),
    ("mappings before the kind", r#"{"a":["#, r#"{"a":0},"#, "0]}"),
    ("keys before the kind", "{", r#""a":[0],"#, r#""b":0}"#),
    ("our own document", r#"{"apiVersion":"kubectl-fleet-stage/v1","kind":"Bundle","kinds":["#, "[],", "[]]}"),
    ("our own documents", "", r#"{"apiVersion":"kubectl-fleet-stage/v1","kind":"X"}"#, ""),
    ("conditions", r#"{JSON}","metadata":{"name":"a"},"status":{"conditions":["#, "{},", "{}]}}"),
    ("stages", r#"{JSON}","metadata":{"name":"a"},"status":{"stagesStatus":["#, "{},", "{}]}}"),
    ("numbers as text", r#"{JSON}","metadata":{"name":"a","finalizers":["#, "0,", "0]}}"),
    ("YAML: flow lists", "{YAML}x:\n", "- []\n", ""),
    ("YAML: stages", "{YAML}status: {stagesStatus: [", "{},", "]}\n"),
    ("YAML: finalizers", "{YAML}spec: {}\nmetadata: {name: a, finalizers: [", "0,", "]}\n"),
    ("YAML: an anchor", "{YAML}x: &x [", "0,", "]\n"),
    ("YAML: a merged mapping", "{YAML}x:\n  <<: {", "a,", "}\n"),
    ("YAML: our own document", "apiVersion: kubectl-fleet-stage/v1\nkind: Bundle\nkinds: [", "[],", "]\n"),
    ("YAML: separators", "", "---\n", ""),
    ("YAML: short documents", "", "---\na\n", ""),
];

/// These texts, of about this size.
fn dense(size: usize) -> impl Iterator<Item = (&'static str, String)> {
    let json =
        r#"{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"ClusterStagedUpdateRun"#;
    DENSE.iter().map(move |&(what, start, again, end)| {
        let start = start.replace("{JSON}", json).replace("{YAML}", RUN);
        (what, start + &again.repeat(size / again.len()) + end)
    })
}

/// A text never makes more than its size allows, however it is written.
#[test]
fn small_texts_do_not_become_large() {
    // Beyond what any input may take.
    for ((what, text), (_, short)) in dense(1 << 20).zip(dense(600)) {
        let error = read(&text, ReadLimits::default());
        let refused = error.as_ref().is_err_and(|error| {
            let hint = error.hint.as_deref().unwrap_or_default();
            error.message.contains("of memory") && hint.contains("--max-input 256Mi")
        });
        // What takes no more than its share ends as it would if it were short.
        let short = read(&short, ReadLimits::default());
        let same =
            |a: &Result<Bundle, ReadError>, b: &Result<Bundle, ReadError>| a.is_ok() == b.is_ok();
        assert!(refused || same(&error, &short), "{what}: {error:?}");
        let dense = !matches!(
            what,
            "our own documents"
                | "YAML: flow lists"
                | "YAML: short documents"
                | "keys before the kind"
                | "YAML: a merged mapping"
        );
        assert!(refused || !dense, "{what}: {error:?}");
    }
}

/// The limit holds for all files together, whatever they are in.
#[test]
fn all_inputs_together_have_one_limit() {
    let pad = |name: usize| format!("{RUN}x: '{}{name}'\n", "x".repeat(4_000));
    let limits = ReadLimits::new(64 << 10);
    let refused = |bytes: Vec<u8>, what: &str| {
        let error = read(bytes, limits).unwrap_err();
        assert_eq!(
            error.message, "all files together have more than 64Ki, unpacked",
            "{what}"
        );
        assert!(error.hint.unwrap().contains("--max-input 256Ki"));
    };
    let members = |count: usize| -> Vec<_> {
        (0..count)
            .map(|n| (format!("{n}.yaml"), pad(n).into_bytes()))
            .collect()
    };
    assert!(read(archive(&members(10)), limits).is_ok());
    refused(archive(&members(20)), "an archive");
    refused(gzip(&archive(&members(20))), "a packed archive");
    let packed: Vec<_> = members(20)
        .into_iter()
        .map(|(name, text)| (format!("{name}.gz"), gzip(&text)))
        .collect();
    refused(archive(&packed), "packed members");
    let inner = gzip(&archive(&members(12)));
    let outer: Vec<_> = ["a.tgz", "b.tgz"]
        .map(|name| (name.to_owned(), inner.clone()))
        .into();
    refused(archive(&outer), "archives in an archive");
    refused(gzip(&vec![b' '; 10 << 20]), "a bomb");
    // Many files of a directory, most of them links to one.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("0.yaml"), pad(0)).unwrap();
    for number in 1..20 {
        let link = folder.path().join(format!("{number}.yaml"));
        std::os::unix::fs::symlink("0.yaml", link).unwrap();
    }
    let directory = || vec![Input::Path(folder.path().to_owned())];
    assert!(bundle::read_within(directory(), &[], limits).is_err());
    assert!(bundle::read_within(directory(), &[], ReadLimits::new(100 << 10)).is_ok());
    // What never ends.
    let endless = Input::Stdin(Box::new(std::io::repeat(b'#')));
    assert!(bundle::read_within(vec![endless], &[], limits).is_err());
}

/// How much memory a process had at most, in kilobytes.
fn peak(command: &mut Command) -> (u64, std::process::Output) {
    // GNU time, where it is; the limits themselves are held above.
    let mut time = Command::new("/usr/bin/time");
    time.args(["-f", "peak %M"])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("KUBECONFIG", "/nonexistent")
        .env("KUBECACHEDIR", "/dev/null");
    let output = time.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    let peak = err
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("peak "));
    (peak.unwrap().parse().unwrap(), output)
}

/// The program itself: at most ten times what it reads, beside what it is.
#[test]
fn the_program_stays_small() {
    if !std::path::Path::new("/usr/bin/time").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("input.yaml");
    let peak_of = |text: &str| {
        std::fs::write(&file, text).unwrap();
        peak(&mut program(&["list", "-A", "-f", file.to_str().unwrap()])).0
    };
    // How much of the program itself counts depends on what of its file is cached.
    let own = peak_of("apiVersion: v1\nkind: List\nitems: []\n");
    let size = tries(2) << 18;
    for (what, text) in dense(size) {
        let peak = peak_of(&text);
        let most = own + 10_000 + text.len() as u64 * 10 / 1024;
        assert!(
            peak < most.min(1 << 20),
            "{what}: {peak} KB of {}",
            text.len()
        );
    }
}
