//! The manifest: as krew reads it, and as we write it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::contents::LICENCE;
use crate::notices;
use crate::product::{CAVEATS, HOMEPAGE, LONG, PLUGIN, SHORT, TARGETS, Target};

/// The name that krew-index wants for the file.
pub const FILE: &str = "fleet-stage.yaml";
/// The sum that stands for an archive that is not there yet. No file has it: krew installs nothing
/// by it.
pub const NO_SUM: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A manifest.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(missing_docs)] // krew documents them
pub struct Manifest {
    pub api_version: String,
    pub kind: String,
    pub metadata: Metadata,
    pub spec: Spec,
}

/// Its name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Metadata {
    pub name: String,
}

/// What is said about the plugin.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Spec {
    pub version: String,
    #[serde(default)]
    pub homepage: String,
    #[serde(default)]
    pub short_description: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub caveats: String,
    pub platforms: Vec<Platform>,
}

/// What is installed where.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Platform {
    pub selector: Selector,
    pub uri: String,
    pub sha256: String,
    pub bin: String,
    pub files: Vec<Move>,
}

/// Which machines a platform is for: those that have all these labels.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Selector {
    pub match_labels: BTreeMap<String, String>,
}

/// What is taken out of an archive: a file or a pattern, and the folder or the name it gets.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Move {
    pub from: String,
    pub to: String,
}

impl Manifest {
    /// Reads a manifest.
    pub fn parse(text: &str) -> Result<Self> {
        serde_saphyr::from_str(text).context("the manifest")
    }
}

/// The manifest of the repository, before there are archives.
pub fn template(version: &str) -> String {
    let head = "# Written by `cargo xtask gen`. No archive has a sum of zeros, and krew installs none by it:\n\
                # `cargo xtask release --manifest` writes the manifest that has the sums of the archives.\n";
    head.to_owned() + &write(version, |_| Some(NO_SUM.to_owned()))
}

/// A manifest with the platforms for whose archive there is a sum.
pub fn write(version: &str, sum: impl Fn(Target) -> Option<String>) -> String {
    let mut out = format!(
        "apiVersion: krew.googlecontainertools.github.com/v1alpha2\n\
         kind: Plugin\n\
         metadata:\n  name: {PLUGIN}\n\
         spec:\n  version: v{version}\n  homepage: {HOMEPAGE}\n  shortDescription: {SHORT}\n"
    );
    paragraphs(&mut out, "description", LONG);
    paragraphs(&mut out, "caveats", CAVEATS);
    out.push_str("  platforms:\n");
    for target in TARGETS {
        let Some(sum) = sum(target) else { continue };
        let _ = write!(
            out,
            "  - selector:\n      matchLabels:\n        os: {}\n        arch: {}\n    \
             uri: {}\n    sha256: \"{sum}\"\n    bin: {}\n    files:\n",
            target.os,
            target.arch,
            target.uri(version),
            target.binary()
        );
        for file in [&target.binary(), LICENCE, notices::FILE] {
            let _ = write!(out, "    - from: {file}\n      to: .\n");
        }
    }
    out
}

/// A text as it stands, each line a paragraph.
fn paragraphs(out: &mut String, key: &str, lines: &[&str]) {
    let _ = write!(out, "  {key}: |\n    {}\n", lines.join("\n\n    "));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::krew::rules;

    #[test]
    fn the_template_has_the_form_of_a_manifest_and_is_none() {
        let manifest = Manifest::parse(&template("0.1.0")).unwrap();
        assert_eq!(rules::broken(&manifest), Vec::<String>::new());
        assert_eq!(rules::unready(&manifest).len(), 5);
        assert_eq!(manifest.spec.description, LONG.join("\n\n") + "\n");
        assert_eq!(manifest.spec.caveats, CAVEATS.join("\n\n") + "\n");
    }

    #[test]
    fn a_manifest_has_the_platforms_that_have_archives() {
        let text = write("0.1.0", |target| {
            (target.os == "linux").then(|| "ab".repeat(32))
        });
        let manifest = Manifest::parse(&text).unwrap();
        let platforms = &manifest.spec.platforms;
        assert_eq!(platforms.len(), 2);
        assert_eq!(platforms[1].selector.match_labels["arch"], "arm64");
        assert!(
            platforms[1]
                .uri
                .ends_with("/v0.1.0/kubectl-fleet-stage_v0.1.0_linux_arm64.tar.gz")
        );
        let missing = rules::unready(&manifest);
        assert_eq!(missing.len(), 3, "{missing:?}");
        assert!(missing[0].contains("darwin/amd64"), "{missing:?}");
    }
}
