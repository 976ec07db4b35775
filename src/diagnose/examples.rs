//! The examples of the findings' pages: bundles that the program carries, packed by `build.rs`.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read as _};

use flate2::read::GzDecoder;

use crate::kubefleet::{Concept, Kind, ObjectRef, Scope};

static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/examples.gz"));

/// The bundle in which the finding is seen. Its header names the target, so that `diagnose -f -` needs
/// no argument.
pub fn example_bundle(code: &str) -> Option<String> {
    let fixture = fixture(code).ok().flatten()?;
    Some(bundle(&fixture))
}

fn fixture(code: &str) -> io::Result<Option<String>> {
    let mut packed = BufReader::new(GzDecoder::new(PACKED));
    let mut line = String::new();
    while packed.read_line(&mut line)? > 0 {
        let (known, size) = line.trim_end().split_once(' ').unwrap_or_default();
        let size: u64 = size.parse().map_err(io::Error::other)?;
        let mut next = packed.by_ref().take(size);
        if known == code {
            let mut text = String::new();
            next.read_to_string(&mut text)?;
            return Ok(Some(text));
        }
        io::copy(&mut next, &mut io::sink())?;
        line.clear();
    }
    Ok(None)
}

/// A fixture without what its test expects, and with the target that its test gives.
fn bundle(fixture: &str) -> String {
    let mut comments = fixture.lines().take_while(|line| line.starts_with('#'));
    let title = comments.next();
    let args = comments.find_map(|line| line.strip_prefix("# args: "));
    let mut out = String::with_capacity(fixture.len());
    if let Some(title) = title {
        out.push_str(title);
        out.push('\n');
    }
    let mut target = args.map(target);
    for line in fixture.lines().skip_while(|line| line.starts_with('#')) {
        out.push_str(line);
        out.push('\n');
        if line == "kind: Bundle"
            && let Some(ObjectRef {
                kind,
                namespace,
                name,
            }) = target.take()
        {
            let _ = writeln!(
                out,
                "target: {{kind: {kind}, namespace: '{namespace}', name: {name}}}"
            );
        }
    }
    out
}

/// What the words mean that follow `diagnose`.
fn target(args: &str) -> ObjectRef {
    let mut words = args.split_whitespace();
    let name = words.next().unwrap_or_default();
    let namespace = words.skip_while(|word| *word != "-n").nth(1);
    let scope = namespace.map_or(Scope::Cluster, |name| Scope::Namespace(name.to_owned()));
    let (word, name) = name.split_once('/').unwrap_or(("", name));
    let concept = Kind::from_word(word).map_or(Concept::UpdateRun, Kind::concept);
    scope.object(concept, name)
}

#[cfg(test)]
mod tests {
    use super::{bundle, example_bundle};

    #[test]
    fn a_bundle_names_its_target_and_not_what_a_test_expects() {
        let fixture = |args: &str| {
            format!(
                "# What it is.\n# args: {args}\n# verdict: Stuck\n---\nkind: Bundle\nkinds: []\n---\nkind: Bundle\n"
            )
        };
        let whole = "# What it is.\n---\nkind: Bundle\ntarget: {kind: StagedUpdateRun, namespace: 'shop', \
                     name: web}\nkinds: []\n---\nkind: Bundle\n";
        assert_eq!(bundle(&fixture("web -n shop")), whole);
        let of_placement = bundle(&fixture("crp/web --now 2026-01-01T00:00:00Z"));
        let target = "target: {kind: ClusterResourcePlacement, namespace: '', name: web}";
        assert!(of_placement.contains(target), "{of_placement}");
    }

    #[test]
    fn an_example_is_found_by_its_code() {
        for code in ["FS101", "FS501", "FS922"] {
            let example = example_bundle(code).unwrap();
            assert!(example.contains("\ntarget: {"), "{code}");
        }
        assert_eq!(example_bundle("FS100"), None);
    }
}
