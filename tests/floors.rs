//! Arrows only go down: which module may use which.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

use crate::files;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use files::below;

/// The modules from the top down; those on one line do not know each other.
const FLOORS: &[&[&str]] = &[
    &["cli"],
    &["commands"],
    &["ui"],
    &["render", "error"],
    &["exit", "bundle", "hub", "settings"],
    &["diagnose", "change"],
    &["plan"],
    &["problems"],
    &["report"],
    &["manifests"],
    &["controller"],
    &["rollout"],
    &["inventory"],
    &["member", "contents"],
    &["kubefleet"],
    &["query"],
    &["words"],
    &["mask"],
];

/// Modules that do not know others, though these are below them.
const STRANGERS: &[(&str, &str)] = &[("ui", "hub"), ("ui", "bundle"), ("render", "hub")];

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

#[test]
fn arrows_only_go_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut up = Vec::new();
    for file in below(&root, "rs") {
        let relative = file.strip_prefix(&root).unwrap();
        let first = relative
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_string_lossy();
        let module = first.trim_end_matches(".rs");
        if matches!(module, "main" | "lib") {
            continue;
        }
        let own = floor(module).unwrap_or_else(|| panic!("{module} has no floor"));
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            for used in line.split("crate::").skip(1) {
                let used: String = used
                    .chars()
                    .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                    .collect();
                let Some(other) = floor(&used) else { continue };
                let strange = STRANGERS.contains(&(module, used.as_str()));
                let fine = other > own && !strange || used == module;
                if !fine {
                    up.push(format!(
                        "{}:{}: {module} uses {used}",
                        relative.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    assert!(
        up.is_empty(),
        "arrows that point up or across, or to a stranger:\n{}",
        up.join("\n")
    );
}

/// The rooms of modules that have some, from the bottom: each uses those below it alone.
const ROOMS: [(&str, &[&str]); 2] = [
    ("hub", &["connect", "request", "read", "watch"]),
    ("diagnose", &["subjects", "rules", "status", "engine"]),
];

#[test]
fn rooms_are_stairs() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut up = Vec::new();
    for (module, rooms) in ROOMS {
        for (floor, room) in rooms.iter().enumerate() {
            let place = src.join(module).join(room);
            let mut files = below(&place, "rs");
            files.extend(Some(place.with_extension("rs")).filter(|file| file.exists()));
            assert!(files.len() > 1, "{module}/{room} has {} files", files.len());
            let files = files
                .into_iter()
                .filter(|file| !is_for_tests(&file.to_string_lossy()));
            for file in files {
                let text = std::fs::read_to_string(&file).unwrap();
                let own = text.split("\n#[cfg(test)]").next().unwrap_or_default();
                let above = rooms.iter().skip(floor + 1);
                let used = above.filter(|other| own.contains(&format!("{module}::{other}::")));
                up.extend(used.map(|other| format!("{} uses {other}", file.display())));
            }
        }
    }
    assert!(up.is_empty(), "arrows up:\n{}", up.join("\n"));
}

/// Only the terminal's module prints, and only the binary and signals end the process.
#[test]
fn only_the_terminal_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in below(&root, "rs") {
        let relative = file.strip_prefix(&root).unwrap().display().to_string();
        let text = std::fs::read_to_string(&file).unwrap();
        for forbidden in [
            "println!",
            "eprintln!",
            "std::process::exit",
            "io::stdout",
            "io::stderr",
        ] {
            let allowed = match relative.as_str() {
                "ui.rs" => forbidden.starts_with("io::"),
                // A signal that is minded for the sake of a plugin ends the process all the same.
                "hub/signals.rs" => forbidden == "std::process::exit",
                _ => false,
            };
            assert!(
                allowed || !text.contains(forbidden),
                "{relative} uses {forbidden}"
            );
        }
    }
}

/// Where tests may look at a clock: who waits, who starts servers and says what they wrote when they do
/// not come up, what stands in for a hub, whose controllers have times of their own, and the clock itself.
const CLOCKS: [&str; 7] = [
    "src/hub/request/clock.rs",
    "tests/hub/src/waiting.rs",
    "tests/hub/src/servers.rs",
    "tests/hub/src/crds.rs",
    "tests/hub/src/fleet.rs",
    "tests/hub/src/proxy/",
    "tests/hub/src/standin/",
];

/// No test depends on how fast a machine is: it waits for what is to be seen, which
/// `test_hub::waiting` does, and does not measure. What is to be fast is a benchmark.
#[test]
fn only_who_waits_looks_at_a_clock() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let forbidden = ["Instant::now", ".elapsed()", "sleep("];
    let mut found = Vec::new();
    for file in below(root.join("tests"), "rs")
        .into_iter()
        .chain(below(root.join("src"), "rs"))
    {
        let relative = file.strip_prefix(root).unwrap().display().to_string();
        if CLOCKS.iter().any(|clock| relative.starts_with(clock)) || relative == "tests/floors.rs" {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let all_tests = relative.starts_with("tests/") || is_for_tests(&relative);
        let tests = if all_tests {
            text.as_str()
        } else {
            text.split_once("#[cfg(test)]\nmod tests {")
                .map_or("", |(_, tests)| tests)
        };
        for word in forbidden {
            for line in tests.lines().filter(|line| line.contains(word)) {
                found.push(format!("{relative}: {}", line.trim()));
            }
        }
    }
    assert!(
        found.is_empty(),
        "use test_hub::waiting:\n{}",
        found.join("\n")
    );
}

/// Whether a file of `src/` is only there for tests.
fn is_for_tests(relative: &str) -> bool {
    relative.ends_with("/tests.rs") || relative.contains("/tests/") || relative.contains("/fake_")
}

/// No file needs another that needs it, be it by way of others. What a file shares with the files
/// below it, such as its types, is its own.
#[test]
fn there_are_no_circles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut texts = BTreeMap::new();
    for file in below(&root, "rs") {
        let relative = file.strip_prefix(&root).unwrap().with_extension("");
        let mut module: Vec<_> = relative
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        if module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        if !matches!(module[0].as_str(), "main" | "lib") && !module.contains(&"tests".to_owned()) {
            texts.insert(module, std::fs::read_to_string(&file).unwrap());
        }
    }
    let edges: BTreeMap<_, _> = texts
        .iter()
        .map(|(module, text)| {
            let own = text.split("\n#[cfg(test)]").next().unwrap_or_default();
            let used: BTreeSet<_> = uses(own, module)
                .into_iter()
                .filter_map(|path| {
                    let longest = (1..=path.len()).rev().map(|end| &path[..end]);
                    longest
                        .into_iter()
                        .find(|prefix| texts.contains_key(*prefix))
                        .map(<[String]>::to_vec)
                })
                .filter(|other| !other.starts_with(module) && !module.starts_with(other))
                .collect();
            (module.clone(), used)
        })
        .collect();
    let circles: Vec<_> = edges
        .iter()
        .flat_map(|(module, used)| {
            let back = used.iter().filter(|other| reaches(&edges, other, module));
            back.map(|other| format!("{} -> {}", module.join("::"), other.join("::")))
        })
        .collect();
    assert!(circles.is_empty(), "circles:\n{}", circles.join("\n"));
}

type Module = Vec<String>;

fn reaches(edges: &BTreeMap<Module, BTreeSet<Module>>, from: &Module, to: &Module) -> bool {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(one) = next.pop() {
        if one == to {
            return true;
        }
        if seen.insert(one) {
            next.extend(&edges[one]);
        }
    }
    false
}

/// The paths that the `use` lines of a module name, from the root on.
fn uses(text: &str, module: &[String]) -> Vec<Module> {
    let mut paths = Vec::new();
    let starts = text.match_indices("use ").filter(|(at, _)| {
        let line = text[..*at].rsplit('\n').next().unwrap_or_default().trim();
        line.is_empty() || line.starts_with("pub")
    });
    for (at, word) in starts {
        let rest = &text[at + word.len()..];
        // A line of prose may begin with the word.
        if !["crate::", "super::", "self::"]
            .iter()
            .any(|root| rest.starts_with(root))
        {
            continue;
        }
        let tree = rest.split(';').next().unwrap_or_default();
        let tree: String = tree.split_whitespace().collect::<Vec<_>>().join(" ");
        let found = expand(&tree, &[]);
        paths.extend(found.iter().filter_map(|path| from_root(path, module)));
    }
    paths
}

/// The paths of a `use` tree, below what stands before it.
fn expand(tree: &str, before: &[String]) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let names = |text: &str| {
        let names = text
            .split("::")
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let names = names.map(|name| name.split(" as ").next().unwrap_or(name).to_owned());
        [before.to_vec(), names.collect()].concat()
    };
    let (Some(open), Some(close)) = (tree.find('{'), tree.rfind('}')) else {
        let mut path = names(tree);
        path.pop_if(|last| last == "self" && !before.is_empty());
        return vec![path];
    };
    let before = names(&tree[..open]);
    let mut depth = 0;
    let parts = tree[open + 1..close].split(|letter| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    });
    parts
        .filter(|part| !part.trim().is_empty())
        .flat_map(|part| expand(part, &before))
        .collect()
}

/// A path from the root on; `None` where it leads to a crate of others.
fn from_root(path: &[String], module: &[String]) -> Option<Module> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        "super" => Some([&module[..module.len().saturating_sub(ups)], &path[ups..]].concat()),
        _ => None,
    }
}

#[test]
fn the_paths_of_a_use_are_found() {
    let module = ["a", "b"].map(str::to_owned);
    let text = "use std::fmt;\npub(in crate::a) use crate::{c::{self, d as e}, f};\n    \
                use super::g::{\n    H,\n};\nuse self::i;\n";
    let found: Vec<_> = uses(text, &module)
        .into_iter()
        .map(|path| path.join("::"))
        .collect();
    assert_eq!(found, ["c", "c::d", "f", "a::g::H", "a::b::i"]);
}

/// A name is one idea: no two files of the library define a type of the same name.
#[test]
fn a_type_name_stands_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in below(&root, "rs") {
        let text = std::fs::read_to_string(&file).unwrap();
        let relative = file.strip_prefix(&root).unwrap().display();
        for (number, line) in text.lines().enumerate() {
            if let Some(name) = defined(line) {
                let place = format!("{relative}:{}", number + 1);
                places.entry(name.to_owned()).or_default().push(place);
            }
        }
    }
    let twice: Vec<_> = places
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| format!("{name}: {}", places.join(", ")))
        .collect();
    assert!(
        twice.is_empty(),
        "names of several types:\n{}",
        twice.join("\n")
    );
}

/// The type that a line defines. A type that belongs to a trait has its name from there.
fn defined(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let mut word = words.next()?;
    let is_public = word.starts_with("pub");
    while word.starts_with("pub") || word.ends_with(')') {
        word = words.next()?;
    }
    let is_alias = word == "type" && (is_public || line.starts_with("type"));
    if !is_alias && !["struct", "enum", "trait", "union"].contains(&word) {
        return None;
    }
    let name = words.next()?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
    // A macro's own variable is no name.
    Some(&name[..end.unwrap_or(name.len())]).filter(|name| !name.is_empty())
}

#[test]
fn the_type_of_a_line_is_found() {
    assert_eq!(defined("pub(in crate::hub) struct Given {"), Some("Given"));
    assert_eq!(defined("    pub enum Kind { $($variant),* }"), Some("Kind"));
    assert_eq!(defined("type Shared<'a> = &'a str;"), Some("Shared"));
    assert_eq!(defined("pub(super) struct Text(String);"), Some("Text"));
    assert_eq!(defined("    type Err = String;"), None);
    assert_eq!(defined("    struct_like: bool,"), None);
    assert_eq!(defined("/// A struct Thing"), None);
}
