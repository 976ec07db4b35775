//! The facts: one table, from which everything that describes a package is made.

use anyhow::{Context as _, Result};

/// The name of the program, of its archives, and of the Debian and the Homebrew package.
pub const NAME: &str = "kubectl-fleet-stage";
/// The name of the plugin: `kubectl fleet-stage`, and `kubectl krew install fleet-stage`.
pub const PLUGIN: &str = "fleet-stage";
/// The other names of the program. kubectl runs the first for `kubectl fleet-stage`; it asks the
/// others for completions of `kubectl fleet-stage` and of `kubectl fleet stage`.
pub const LINKS: [&str; 3] = [
    "kubectl-fleet_stage",
    "kubectl_complete-fleet_stage",
    "kubectl_complete-fleet-stage",
];
/// What it is, in the few words that a list has room for.
pub const SHORT: &str = "Operates and explains KubeFleet staged update runs";
/// What it is, for somebody who decides whether to install it. One line for each paragraph.
pub const LONG: &[&str] = &[
    "Operates KubeFleet staged update runs on a hub cluster, including those of Azure Kubernetes \
     Fleet Manager: plans, starts, approves, stops, resumes, and rolls back, and shows every write \
     before it is sent.",
    "Explains why a rollout is blocked: reads the update run, its placement, bindings, Works, \
     approval requests, and member clusters together, and explains its state, the cause with the \
     evidence, and what to do next.",
];
/// What is left to do after an installation by krew. One line for each paragraph.
pub const CAVEATS: &[&str] = &[
    "The current context must be a KubeFleet hub cluster. To check it and your permissions, run \
     `kubectl fleet-stage doctor`.",
    "For completion in kubectl, if your system supports links: \
     ln -s kubectl-fleet_stage \"${KREW_ROOT:-$HOME/.krew}/bin/kubectl_complete-fleet_stage\"",
];
/// Where it is at home.
pub const HOMEPAGE: &str = "https://github.com/kubectl-fleet-stage/kubectl-fleet-stage";
/// Its license, as SPDX names it.
pub const LICENCE: &str = "Apache-2.0";
/// Who answers for the packages.
pub const MAINTAINER: &str =
    "The kubectl-fleet-stage authors <kubectl-fleet-stage@users.noreply.github.com>";

/// A platform that a release is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Rust's name.
    pub triple: &'static str,
    /// The operating system, by Go's name.
    pub os: &'static str,
    /// The architecture, by Go's name. Debian has the same ones.
    pub arch: &'static str,
}

/// The platforms, in the order in which they are written.
pub const TARGETS: [Target; 5] = [
    target("x86_64-apple-darwin", "darwin", "amd64"),
    target("aarch64-apple-darwin", "darwin", "arm64"),
    target("x86_64-unknown-linux-gnu", "linux", "amd64"),
    target("aarch64-unknown-linux-gnu", "linux", "arm64"),
    target("x86_64-pc-windows-msvc", "windows", "amd64"),
];

const fn target(triple: &'static str, os: &'static str, arch: &'static str) -> Target {
    Target { triple, os, arch }
}

impl Target {
    /// The platform of that name, or an error that has all names.
    pub fn find(triple: &str) -> Result<Self> {
        let found = TARGETS.into_iter().find(|target| target.triple == triple);
        found.with_context(|| {
            let known = TARGETS.map(|target| target.triple).join(", ");
            format!("{triple} is none of the platforms: {known}")
        })
    }

    /// The file name of the program.
    pub fn binary(&self) -> String {
        let ending = if self.os == "windows" { ".exe" } else { "" };
        format!("{NAME}{ending}")
    }

    /// The name of what is made for it, without an ending.
    fn stem(&self, version: &str) -> String {
        format!("{NAME}_v{version}_{}_{}", self.os, self.arch)
    }

    /// The file name of its archive.
    pub fn archive(&self, version: &str) -> String {
        self.stem(version) + ".tar.gz"
    }

    /// The file name of its list of components.
    pub fn sbom(&self, version: &str) -> String {
        self.stem(version) + ".cdx.json"
    }

    /// Where its archive can be had.
    pub fn uri(&self, version: &str) -> String {
        format!(
            "{HOMEPAGE}/releases/download/v{version}/{}",
            self.archive(version)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_fit_where_they_are_shown() {
        assert!(SHORT.len() <= 50, "krew's list has no room for {SHORT:?}");
        // Homebrew: no article first, no full stop, no name of the formula first.
        assert!(!SHORT.ends_with('.') && !SHORT.starts_with("A ") && !SHORT.starts_with("The "));
        assert_eq!(NAME, format!("kubectl-{PLUGIN}"));
        assert_eq!(LINKS[0], format!("kubectl-{}", PLUGIN.replace('-', "_")));
    }

    #[test]
    fn every_platform_has_names_of_its_own() {
        for target in TARGETS {
            assert_eq!(Target::find(target.triple).unwrap(), target);
            let same = TARGETS
                .iter()
                .filter(|other| other.archive("1") == target.archive("1"));
            assert_eq!(same.count(), 1, "{target:?}");
        }
        let error = Target::find("x86_64-unknown-linux-musl")
            .unwrap_err()
            .to_string();
        assert!(error.contains("x86_64-unknown-linux-gnu"), "{error}");
        let windows = Target::find("x86_64-pc-windows-msvc").unwrap();
        assert_eq!(windows.binary(), "kubectl-fleet-stage.exe");
        assert_eq!(
            windows.archive("0.1.0"),
            "kubectl-fleet-stage_v0.1.0_windows_amd64.tar.gz"
        );
    }
}
