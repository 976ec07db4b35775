//! The steps: what is made for a platform, and the descriptions of what was made.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::archive::Compression;
use crate::checksums::sha256;
use crate::krew::{manifest, programs};
use crate::product::{TARGETS, Target};
use crate::{archive, components, contents, homebrew, notices, sbom};

/// What a release has for a platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The archive.
    pub archive: Vec<u8>,
    /// The list of components.
    pub sbom: String,
    /// The licenses of what is linked into the program; also in the archive.
    pub notices: String,
}

/// Makes the archive and the list of components of a program. All files get this time, in seconds
/// since 1970.
pub fn package(
    root: &Path,
    target: Target,
    program: &Path,
    time: u64,
    level: Compression,
) -> Result<Package> {
    let components = components::of(root, target)?;
    let notices = notices::of(&components)?;
    let entries = contents::of(root, target, program, &notices)?;
    let seconds = i64::try_from(time).unwrap_or(i64::MAX);
    let date =
        jiff::Timestamp::from_second(seconds).with_context(|| format!("{time} is no time"))?;
    let bytes = crate::read(program)?;
    Ok(Package {
        archive: archive::write(&entries, time, level)?,
        sbom: sbom::write(&components, target, &bytes, &date.to_string())?,
        notices,
    })
}

/// What is written from the archives of all platforms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptions {
    /// krew's manifest.
    pub manifest: String,
    /// Homebrew's formula.
    pub formula: String,
}

/// Describes the archives in a folder. That some are missing is an error, unless `incomplete` is
/// fine.
pub fn describe(folder: &Path, version: &str, incomplete: bool) -> Result<Descriptions> {
    let mut sums = BTreeMap::new();
    let mut missing = Vec::new();
    for target in TARGETS {
        let path = folder.join(target.archive(version));
        if path.exists() {
            sums.insert(target.triple, sha256(&crate::read(&path)?));
        } else {
            missing.push(format!("{}/{}", target.os, target.arch));
        }
    }
    if sums.is_empty() || !(incomplete || missing.is_empty()) {
        bail!("there is no archive for {}", missing.join(", "));
    }
    let sum = |target: Target| sums.get(target.triple).cloned();
    Ok(Descriptions {
        manifest: manifest::write(version, sum),
        formula: homebrew::write(version, sum),
    })
}

/// Has krew install each archive in a folder by a manifest.
pub fn check(root: &Path, manifest: &str, folder: &Path, version: &str) -> Result<()> {
    programs::validate(root, manifest)?;
    for target in TARGETS {
        let name = target.archive(version);
        let archive = folder.join(&name);
        if archive.exists() {
            let installed = tempfile::tempdir()?;
            programs::install(root, manifest, target, &archive, installed.path()).context(name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Entry;

    fn archive(target: Target, licence: &str) -> Vec<u8> {
        let entries = [
            Entry::new(target.binary(), true, "x"),
            Entry::new(licence, false, "x"),
            Entry::new(notices::FILE, false, "x"),
        ];
        archive::write(&entries, 0, Compression::fast()).unwrap()
    }

    #[test]
    fn a_manifest_is_written_for_all_platforms_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        for target in &TARGETS[..4] {
            let path = folder.path().join(target.archive("0.1.0"));
            std::fs::write(path, archive(*target, "LICENSE")).unwrap();
        }
        let error = describe(folder.path(), "0.1.0", false)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("there is no archive for windows/amd64"),
            "{error}"
        );
        let some = describe(folder.path(), "0.1.0", true).unwrap();
        assert_eq!(some.manifest.matches("uri:").count(), 4);

        let windows = folder.path().join(TARGETS[4].archive("0.1.0"));
        std::fs::write(&windows, archive(TARGETS[4], "LICENSE")).unwrap();
        let all = describe(folder.path(), "0.1.0", false).unwrap();
        assert_eq!(all.manifest.matches("uri:").count(), 5);
        assert!(
            all.manifest
                .contains(&sha256(&std::fs::read(&windows).unwrap()))
        );
        // Archives of another version are none of this one.
        assert!(describe(folder.path(), "0.2.0", false).is_err());
    }

    #[test]
    fn without_archives_there_is_nothing_to_describe() {
        let folder = tempfile::tempdir().unwrap();
        let error = describe(folder.path(), "0.1.0", true)
            .unwrap_err()
            .to_string();
        assert!(error.contains("darwin/arm64"), "{error}");
    }
}
