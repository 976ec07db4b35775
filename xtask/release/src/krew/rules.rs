//! What krew and krew-index ask of a manifest.

use std::collections::BTreeSet;

use super::manifest::{Manifest, Move, NO_SUM, Platform};
use crate::product::TARGETS;

/// Names that no file on Windows can have.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];
/// The names of license files that krew-index looks for in what was installed.
const LICENCES: [&str; 4] = ["license", "licenses", "copying", "licence"];
/// How long the short description may be, so that a list has room for it.
const SHORT: usize = 50;

/// Every rule that a manifest breaks. Its archives are not looked at.
pub fn broken(manifest: &Manifest) -> Vec<String> {
    let spec = &manifest.spec;
    let name = &manifest.metadata.name;
    let mut found = Vec::new();
    let mut rule = |holds: bool, text: &str| {
        if !holds {
            found.push(text.to_owned());
        }
    };
    rule(
        manifest.api_version == "krew.googlecontainertools.github.com/v1alpha2",
        "apiVersion is krew.googlecontainertools.github.com/v1alpha2",
    );
    rule(manifest.kind == "Plugin", "kind is Plugin");
    let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    rule(
        !name.is_empty()
            && name.chars().all(kebab)
            && !name.starts_with('-')
            && !name.ends_with('-'),
        "the name has small letters, digits, and dashes between them",
    );
    rule(
        !RESERVED.contains(&name.as_str()),
        "the name can be a file's name on Windows",
    );
    rule(!name.starts_with("kube"), "the name does not repeat kube");
    rule(
        semantic(&spec.version),
        "the version is v and a semantic version",
    );
    rule(
        spec.homepage.starts_with("https://"),
        "the homepage is an https address",
    );
    rule(
        !spec.short_description.is_empty() && !spec.short_description.contains(['\n', '\r']),
        "the short description is one line",
    );
    rule(
        spec.short_description.chars().count() <= SHORT,
        "the short description has 50 characters at most",
    );
    rule(
        !spec.description.trim().is_empty(),
        "there is a description",
    );
    rule(!spec.platforms.is_empty(), "there is a platform");
    let mut seen = BTreeSet::new();
    for platform in &spec.platforms {
        let at = labels(platform);
        rule(
            seen.insert(at.clone()),
            &format!("{at}: no other platform is for the same machines"),
        );
        for text in broken_platform(platform, &spec.version) {
            rule(false, &format!("{at}: {text}"));
        }
    }
    found
}

fn broken_platform(platform: &Platform, version: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rule = |holds: bool, text: &str| {
        if !holds {
            found.push(text.to_owned());
        }
    };
    let labels = &platform.selector.match_labels;
    rule(
        labels.len() == 2 && labels.contains_key("os") && labels.contains_key("arch"),
        "the selector has os and arch",
    );
    rule(
        TARGETS.iter().any(|target| {
            labels.get("os").is_some_and(|os| os == target.os)
                && labels.get("arch").is_some_and(|arch| arch == target.arch)
        }),
        "the selector names a platform that there is",
    );
    rule(
        platform.uri.starts_with("https://"),
        "the address is an https address",
    );
    rule(
        platform.uri.contains(&format!("/{version}/")),
        "the address is that of the version",
    );
    rule(
        [".tar.gz", ".zip"]
            .iter()
            .any(|ending| platform.uri.ends_with(ending)),
        "the archive is a tar.gz or a zip",
    );
    let hexadecimal = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    rule(
        platform.sha256.len() == 64 && platform.sha256.chars().all(hexadecimal),
        "sha256 has 64 small hexadecimal digits",
    );
    rule(
        !platform.files.is_empty(),
        "files are named, or the list is left out",
    );
    rule(
        platform.files.iter().all(inside),
        "files come from the archive and go into the plugin's folder",
    );
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_lowercase();
    rule(
        platform.files.iter().any(|file| {
            let name = name(&file.from);
            let stem = name.split('.').next().unwrap_or_default();
            LICENCES.contains(&stem)
        }),
        "the licence is installed",
    );
    rule(
        platform
            .files
            .iter()
            .any(|file| installs(file, &platform.bin)),
        "bin is one of the files",
    );
    let windows = labels.get("os").is_some_and(|os| os == "windows");
    rule(
        windows
            == (platform
                .bin
                .rsplit_once('.')
                .is_some_and(|(_, end)| end == "exe")),
        "bin ends in .exe on Windows, and only there",
    );
    found
}

/// What keeps a manifest that breaks no rule from being published: each platform for which it has
/// no archive.
pub fn unready(manifest: &Manifest) -> Vec<String> {
    let ready =
        |os: &str, arch: &str| {
            manifest.spec.platforms.iter().any(|platform| {
                labels(platform) == format!("{os}/{arch}") && platform.sha256 != NO_SUM
            })
        };
    TARGETS
        .iter()
        .filter(|target| !ready(target.os, target.arch))
        .map(|target| format!("{}/{}: there is no archive for it", target.os, target.arch))
        .collect()
}

fn labels(platform: &Platform) -> String {
    let value = |key| {
        platform
            .selector
            .match_labels
            .get(key)
            .map_or("", String::as_str)
    };
    format!("{}/{}", value("os"), value("arch"))
}

/// Neither side leads out, and the target is written in its shortest form, which krew asks for.
fn inside(file: &Move) -> bool {
    let plain = |path: &str| {
        !path.is_empty() && !path.contains(['\\', ':']) && path.split('/').all(|part| part != "..")
    };
    let short = file.to == "."
        || file
            .to
            .split('/')
            .all(|part| !part.is_empty() && part != ".");
    plain(&file.from) && plain(&file.to) && !file.from.starts_with('/') && short
}

/// Whether the file gets the name `bin`.
fn installs(file: &Move, bin: &str) -> bool {
    let name = file.from.rsplit('/').next().unwrap_or_default();
    file.to == bin || (file.to == "." && name == bin)
}

/// `v1.2.3`, with what may follow.
fn semantic(version: &str) -> bool {
    let Some(version) = version.strip_prefix('v') else {
        return false;
    };
    let (core, rest) = match version.find(['-', '+']) {
        Some(at) => version.split_at(at),
        None => (version, "-0"),
    };
    let number = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && (part == "0" || !part.starts_with('0'))
    };
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '+');
    core.split('.').count() == 3
        && core.split('.').all(number)
        && rest.len() > 1
        && rest.chars().all(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::krew::manifest::write;

    fn good() -> Manifest {
        Manifest::parse(&write("0.1.0", |_| Some("ab".repeat(32)))).unwrap()
    }

    #[test]
    fn ours_is_a_good_one() {
        assert_eq!(broken(&good()), Vec::<String>::new());
        assert_eq!(unready(&good()), Vec::<String>::new());
    }

    /// Each breaks one rule, and that one is named.
    #[test]
    fn near_misses_are_refused() {
        type Change = fn(&mut Manifest);
        let changes: [(Change, &str); 24] = [
            (|m| m.api_version = "v1".into(), "apiVersion"),
            (|m| m.kind = "Plugins".into(), "kind"),
            (|m| m.metadata.name = "fleet_stage".into(), "small letters"),
            (|m| m.metadata.name = "Fleet-stage".into(), "small letters"),
            (|m| m.metadata.name = "nul".into(), "Windows"),
            (|m| m.metadata.name = "kubectl-fleet-stage".into(), "kube"),
            (|m| m.spec.version = "0.1.0".into(), "semantic"),
            (|m| m.spec.version = "v0.1".into(), "semantic"),
            (
                |m| m.spec.homepage = "http://example.com".into(),
                "homepage",
            ),
            (
                |m| m.spec.short_description = "two\nlines".into(),
                "one line",
            ),
            (|m| m.spec.short_description = "x".repeat(51), "50"),
            (|m| m.spec.description = "\n".into(), "description"),
            (|m| m.spec.platforms.clear(), "there is a platform"),
            (
                |m| m.spec.platforms[1] = m.spec.platforms[0].clone(),
                "no other platform",
            ),
            (
                |m| m.spec.platforms[0].uri = "http://example.com/v0.1.0/x.zip".into(),
                "https",
            ),
            (
                |m| m.spec.platforms[0].uri = "https://example.com/v0.2.0/x.zip".into(),
                "version",
            ),
            (
                |m| m.spec.platforms[0].uri = "https://example.com/v0.1.0/x.tar.xz".into(),
                "tar.gz",
            ),
            (
                |m| m.spec.platforms[0].sha256 = "AB".repeat(32),
                "hexadecimal",
            ),
            (|m| m.spec.platforms[0].sha256.truncate(63), "hexadecimal"),
            (
                |m| m.spec.platforms[0].files[1].to = "../x".into(),
                "plugin's folder",
            ),
            (
                |m| m.spec.platforms[0].files[1].to = "./".into(),
                "plugin's folder",
            ),
            (|m| drop(m.spec.platforms[0].files.remove(1)), "licence"),
            (
                |m| m.spec.platforms[0].bin = "fleet-stage".into(),
                "bin is one",
            ),
            (
                |m| drop(m.spec.platforms[0].selector.match_labels.remove("arch")),
                "os and arch",
            ),
        ];
        for (change, word) in changes {
            let mut manifest = good();
            change(&mut manifest);
            let broken = broken(&manifest);
            assert!(
                broken.iter().any(|text| text.contains(word)),
                "{word}: {broken:?}"
            );
        }
    }

    #[test]
    fn unknown_fields_are_refused() {
        let text = write("0.1.0", |_| Some("ab".repeat(32)));
        assert!(Manifest::parse(&text.replace("  homepage:", "  homePage:")).is_err());
    }

    #[test]
    fn versions() {
        for good in ["v0.1.0", "v1.20.3-rc.1", "v1.0.0+build"] {
            assert!(semantic(good), "{good}");
        }
        for bad in [
            "1.0.0",
            "v1.0",
            "v1.0.0.0",
            "v01.0.0",
            "v1.0.x",
            "v1.0.0-",
            "v1.0.0-ä",
        ] {
            assert!(!semantic(bad), "{bad}");
        }
    }
}
