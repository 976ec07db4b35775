//! What the program is linked from: the packages of `cargo metadata`, for one platform.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::compile::cargo;
use crate::product::{NAME, Target};

/// A package that the program is made of.
#[derive(Debug, Clone)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its license, an SPDX expression.
    pub licence: Option<String>,
    /// What it says of itself.
    pub description: Option<String>,
    /// Where its source is kept.
    pub repository: Option<String>,
    /// The SHA-256 sum of the package that was downloaded.
    pub checksum: Option<String>,
    /// The folder of its source.
    pub folder: PathBuf,
    /// It ran in the compiler: a macro, or what only macros use. Nothing of it is in the program.
    pub only_builds: bool,
    /// The places in the list of what it uses.
    pub uses: Vec<usize>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    description: Option<String>,
    repository: Option<String>,
    manifest_path: PathBuf,
    targets: Vec<Kinds>,
}

#[derive(Deserialize)]
struct Kinds {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

/// The packages by name and version; the program itself is among them.
pub fn of(root: &Path, target: Target) -> Result<Vec<Component>> {
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    let platform = ["--filter-platform", target.triple];
    let metadata = crate::output(root, &cargo(), &[&arguments[..], &platform].concat())?;
    // The metadata have what any member of the workspace or any test switches on. The tree has what
    // is built for this program.
    let arguments = ["tree", "--locked", "--package", NAME, "--edges", "normal"];
    let format = [
        "--prefix",
        "none",
        "--format",
        "{p}",
        "--target",
        target.triple,
    ];
    let tree = crate::output(root, &cargo(), &[&arguments[..], &format].concat())?;
    let lock = crate::read(&root.join("Cargo.lock"))?;
    read(&metadata, &tree, &String::from_utf8_lossy(&lock))
}

fn read(metadata: &str, tree: &str, lock: &str) -> Result<Vec<Component>> {
    let metadata: Metadata = serde_json::from_str(metadata).context("cargo metadata")?;
    let built: BTreeSet<(&str, &str)> = tree.lines().filter_map(name_and_version).collect();
    let mut packages = metadata.packages;
    packages.retain(|package| built.contains(&(&package.name, &package.version)));
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    let places: BTreeMap<&str, usize> = packages
        .iter()
        .enumerate()
        .map(|(at, package)| (package.id.as_str(), at))
        .collect();
    let mut uses = vec![Vec::new(); packages.len()];
    for node in &metadata.resolve.nodes {
        let Some(&at) = places.get(node.id.as_str()) else {
            continue;
        };
        let normal = node
            .deps
            .iter()
            .filter(|edge| edge.dep_kinds.iter().any(|kind| kind.kind.is_none()));
        uses[at].extend(normal.filter_map(|edge| places.get(edge.pkg.as_str())));
        uses[at].sort_unstable();
        uses[at].dedup();
    }
    let program = packages.iter().position(|package| package.name == NAME);
    let program = program.context("cargo metadata does not know the program")?;
    let linked = linked(&packages, &uses, program);
    let checksums = checksums(lock);
    let component = |(at, package): (usize, &Package)| Component {
        name: package.name.clone(),
        version: package.version.clone(),
        // Before SPDX expressions a slash meant `OR`.
        licence: package
            .license
            .as_ref()
            .map(|text| text.replace('/', " OR ")),
        description: package
            .description
            .as_ref()
            .map(|text| text.trim().to_owned()),
        repository: package.repository.clone(),
        checksum: checksums
            .get(&(package.name.as_str(), package.version.as_str()))
            .map(|&sum| sum.to_owned()),
        folder: package
            .manifest_path
            .parent()
            .map(Path::to_owned)
            .unwrap_or_default(),
        only_builds: !linked.contains(&at),
        uses: uses[at].clone(),
    };
    Ok(packages.iter().enumerate().map(component).collect())
}

/// What a line of `cargo tree` begins with: `name v1.2.3`.
fn name_and_version(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split(' ');
    Some((words.next()?, words.next()?.strip_prefix('v')?))
}

/// What is reached from the program without going through a macro.
fn linked(packages: &[Package], uses: &[Vec<usize>], program: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([program]);
    let mut next = vec![program];
    while let Some(at) = next.pop() {
        for &used in &uses[at] {
            let mut kinds = packages[used]
                .targets
                .iter()
                .flat_map(|target| &target.kind);
            if !kinds.any(|kind| kind == "proc-macro") && found.insert(used) {
                next.push(used);
            }
        }
    }
    found
}

/// The sums in a Cargo.lock, whose form cargo fixes.
fn checksums(lock: &str) -> BTreeMap<(&str, &str), &str> {
    let mut sums = BTreeMap::new();
    for package in lock.split("[[package]]") {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key));
            line.map(|value| value.trim_matches('"'))
        };
        let named = value("name = ").zip(value("version = "));
        if let Some((named, sum)) = named.zip(value("checksum = ")) {
            sums.insert(named, sum);
        }
    }
    sums
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A program that uses a library and a macro, which uses the library and another one.
    pub(crate) fn small() -> Vec<Component> {
        let package = |name: &str, kind: &str, licence: &str| {
            serde_json::json!({
                "id": format!("{name}#1"), "name": name, "version": "1.0.0", "license": licence,
                "description": "Text\n", "repository": "https://example.com", "manifest_path":
                format!("/x/{name}/Cargo.toml"), "targets": [{"kind": [kind]}],
            })
        };
        let node = |name: &str, uses: &[(&str, Option<&str>)]| {
            let edge = |(name, kind): &(&str, Option<&str>)| serde_json::json!({"pkg": format!("{name}#1"), "dep_kinds": [{"kind": kind}]});
            let deps: Vec<_> = uses.iter().map(edge).collect();
            serde_json::json!({"id": format!("{name}#1"), "deps": deps})
        };
        let metadata = serde_json::json!({
            "packages": [
                package("shown", "proc-macro", "MIT"),
                package(NAME, "bin", "Apache-2.0"),
                package("library", "lib", "MIT/Apache-2.0"),
                package("parser", "lib", "MIT"),
                package("tester", "lib", "MIT"),
                package("switched-on-by-a-test", "lib", "MIT"),
            ],
            "resolve": {"nodes": [
                node(NAME, &[("library", None), ("shown", None), ("tester", Some("dev"))]),
                node("shown", &[("library", None), ("parser", None)]),
                node("library", &[("switched-on-by-a-test", None), ("parser", Some("build"))]),
                node("parser", &[]),
            ]},
        });
        let tree = format!(
            "{NAME} v1.0.0 (/x)\nlibrary v1.0.0\nshown v1.0.0 (proc-macro)\nlibrary v1.0.0 (*)\n\
             parser v1.0.0\n"
        );
        let lock = "version = 4\n\n[[package]]\nname = \"library\"\nversion = \"1.0.0\"\n\
             source = \"registry\"\nchecksum = \"00ff\"\n\n[[package]]\nname = \"parser\"\n\
             version = \"2.0.0\"\nchecksum = \"11\"\n";
        read(&metadata.to_string(), &tree, lock).unwrap()
    }

    #[test]
    fn what_tests_and_builds_use_is_no_part_of_the_program() {
        let components = small();
        let names: Vec<_> = components.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, [NAME, "library", "parser", "shown"]);
        let uses: Vec<_> = components.iter().map(|one| one.uses.clone()).collect();
        assert_eq!(uses, [vec![1, 3], vec![], vec![], vec![1, 2]]);
    }

    #[test]
    fn what_only_macros_use_is_not_linked() {
        let only_builds: Vec<_> = small().iter().map(|one| one.only_builds).collect();
        assert_eq!(only_builds, [false, false, true, true]);
    }

    #[test]
    fn a_sum_belongs_to_a_name_and_a_version() {
        let components = small();
        assert_eq!(components[1].checksum.as_deref(), Some("00ff"));
        assert_eq!(components[1].licence.as_deref(), Some("MIT OR Apache-2.0"));
        assert_eq!(components[2].checksum, None, "the lock has another version");
    }
}
