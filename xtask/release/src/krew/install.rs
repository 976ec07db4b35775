//! How krew installs: an archive is unpacked, files are moved as the manifest says, and the program
//! gets a link whose name kubectl looks for.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::manifest::{Move, Platform};
use crate::archive::{self, Entry};
use crate::checksums::sha256;

/// The files that krew would have after it: of the platform's archive, those that are named, in the
/// place they get.
pub fn files(platform: &Platform, archive: &[u8]) -> Result<Vec<Entry>> {
    let sum = sha256(archive);
    if sum != platform.sha256 {
        bail!("the archive's sum is {sum}, and not {}", platform.sha256);
    }
    let mut left = archive::read(archive)?;
    let mut installed = Vec::new();
    for file in &platform.files {
        installed.extend(moved(file, &mut left)?);
    }
    if !installed
        .iter()
        .any(|entry| entry.path == platform.bin && entry.executable)
    {
        bail!("{} is no program in the archive", platform.bin);
    }
    Ok(installed)
}

/// Takes what is moved out of the files of an archive. A name or, where no file has it, a pattern.
fn moved(file: &Move, left: &mut Vec<Entry>) -> Result<Vec<Entry>> {
    let named = left.iter().any(|entry| entry.path == file.from);
    let wanted = |entry: &Entry| {
        if named {
            entry.path == file.from
        } else {
            matches(&file.from, &entry.path)
        }
    };
    let (mut taken, kept): (Vec<_>, Vec<_>) = std::mem::take(left).into_iter().partition(wanted);
    *left = kept;
    if taken.is_empty() {
        bail!("the archive has no {}", file.from);
    }
    for entry in &mut taken {
        let name = entry.path.rsplit('/').next().unwrap_or_default();
        entry.path = match file.to.as_str() {
            "." => name.to_owned(),
            to if named => to.to_owned(),
            to => format!("{to}/{name}"),
        };
    }
    Ok(taken)
}

/// Whether a pattern, whose `*` stands for anything but `/`, fits a path.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((before, after)) => path.strip_prefix(before).is_some_and(|rest| {
            let end = rest.find('/').unwrap_or(rest.len());
            (0..=end).any(|at| rest.is_char_boundary(at) && matches(after, &rest[at..]))
        }),
    }
}

/// The name of the link for a plugin.
pub fn link(plugin: &str, os: &str) -> String {
    let ending = if os == "windows" { ".exe" } else { "" };
    format!("kubectl-{}{ending}", plugin.replace('-', "_"))
}

/// Writes the files below a folder, and gives the program's path.
pub fn write(folder: &Path, platform: &Platform, files: &[Entry]) -> Result<PathBuf> {
    for file in files {
        let path = folder.join(&file.path);
        let failed = || path.display().to_string();
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).with_context(failed)?;
        }
        std::fs::write(&path, &file.data).with_context(failed)?;
        #[cfg(unix)]
        if file.executable {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&path, mode).with_context(failed)?;
        }
    }
    Ok(folder.join(&platform.bin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::krew::manifest::{self, Manifest};

    fn archive() -> Vec<u8> {
        let entry = |path: &str, executable| Entry {
            path: path.to_owned(),
            executable,
            data: path.as_bytes().to_owned(),
        };
        let entries = [
            entry("kubectl-fleet-stage", true),
            entry("LICENSE", false),
            entry("THIRD-PARTY-LICENSES", false),
            entry("man/a.1", false),
            entry("man/b.1", false),
            entry("man/c.txt", false),
        ];
        archive::write(&entries, 0, archive::Compression::fast()).unwrap()
    }

    fn platform(archive: &[u8]) -> Platform {
        let sum = sha256(archive);
        let text = manifest::write("0.1.0", |_| Some(sum.clone()));
        Manifest::parse(&text)
            .unwrap()
            .spec
            .platforms
            .swap_remove(2)
    }

    fn names(platform: &Platform) -> Result<Vec<String>> {
        let files = files(platform, &archive())?;
        Ok(files.into_iter().map(|file| file.path).collect())
    }

    fn add(platform: &mut Platform, from: &str, to: &str) {
        let (from, to) = (from.to_owned(), to.to_owned());
        platform.files.push(Move { from, to });
    }

    #[test]
    fn what_is_named_is_installed_and_nothing_else() {
        let mut platform = platform(&archive());
        let ours = ["kubectl-fleet-stage", "LICENSE", "THIRD-PARTY-LICENSES"];
        assert_eq!(names(&platform).unwrap(), ours);
        add(&mut platform, "man/*.1", "manual");
        assert_eq!(names(&platform).unwrap()[3..], ["manual/a.1", "manual/b.1"]);
    }

    #[test]
    fn what_is_not_as_it_was_said_is_refused() {
        let good = platform(&archive());
        let mut other = good.clone();
        other.sha256 = "ab".repeat(32);
        assert!(names(&other).unwrap_err().to_string().contains("sum"));
        let mut missing = good.clone();
        add(&mut missing, "README*", ".");
        assert!(names(&missing).unwrap_err().to_string().contains("README*"));
        // A file that was moved is no longer there.
        let mut twice = good.clone();
        add(&mut twice, "LICENSE", "COPYING");
        assert!(names(&twice).unwrap_err().to_string().contains("LICENSE"));
        let mut text = good;
        text.bin = "LICENSE".to_owned();
        assert!(names(&text).unwrap_err().to_string().contains("no program"));
    }

    #[test]
    fn patterns_stay_in_a_folder() {
        assert!(matches("man/*.1", "man/a.1") && matches("*", "a") && matches("*/x*", "a/xy"));
        assert!(!matches("man/*.1", "man/b/a.1") && !matches("*", "a/b") && !matches("a", "ab"));
        assert_eq!(link("fleet-stage", "linux"), "kubectl-fleet_stage");
        assert_eq!(link("fleet-stage", "windows"), "kubectl-fleet_stage.exe");
    }
}
