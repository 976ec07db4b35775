//! The manifest.

use std::fmt::Write as _;

use crate::contents::LICENCE;
use crate::notices;
use crate::product::{CAVEATS, HOMEPAGE, LONG, PLUGIN, SHORT, TARGETS, Target};

/// The name that krew-index wants for the file.
pub const FILE: &str = "fleet-stage.yaml";
/// The sum that stands for an archive that is not there yet. No file has it: krew installs nothing
/// by it.
pub const NO_SUM: &str = "0000000000000000000000000000000000000000000000000000000000000000";

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

    fn read(text: &str) -> serde_json::Value {
        serde_saphyr::from_str(text).unwrap()
    }

    #[test]
    fn the_template_has_no_sum_of_an_archive() {
        let template = template("0.1.0");
        assert_eq!(template.matches(NO_SUM).count(), TARGETS.len());
        let spec = &read(&template)["spec"];
        assert_eq!(spec["description"], LONG.join("\n\n") + "\n");
        assert_eq!(spec["caveats"], CAVEATS.join("\n\n") + "\n");
    }

    #[test]
    fn a_manifest_has_the_platforms_that_have_archives() {
        let text = write("0.1.0", |target| {
            (target.os == "linux").then(|| "ab".repeat(32))
        });
        let spec = &read(&text)["spec"];
        let platforms = spec["platforms"].as_array().unwrap();
        assert_eq!(platforms.len(), 2);
        assert_eq!(platforms[1]["selector"]["matchLabels"]["arch"], "arm64");
        let uri = platforms[1]["uri"].as_str().unwrap();
        assert!(uri.ends_with("/v0.1.0/kubectl-fleet-stage_v0.1.0_linux_arm64.tar.gz"));
    }
}
