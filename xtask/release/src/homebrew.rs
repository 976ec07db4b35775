//! The formula for a Homebrew tap, which installs the archives.

use std::fmt::Write as _;

use crate::notices;
use crate::product::{HOMEPAGE, LICENCE, LINKS, NAME, SHORT, TARGETS, Target};

/// The name of the formula's file.
pub const FILE: &str = "kubectl-fleet-stage.rb";

/// A formula with the platforms for whose archive there is a sum.
pub fn write(version: &str, sum: impl Fn(Target) -> Option<String>) -> String {
    let mut out = format!(
        "# Written by `cargo xtask release --manifest`.\n\
         class KubectlFleetStage < Formula\n\
         \x20 desc \"{SHORT}\"\n  homepage \"{HOMEPAGE}\"\n  version \"{version}\"\n  license \"{LICENCE}\"\n"
    );
    for (os, block) in [("darwin", "on_macos"), ("linux", "on_linux")] {
        let mut platforms = String::new();
        for target in TARGETS.into_iter().filter(|target| target.os == os) {
            let Some(sum) = sum(target) else { continue };
            let block = if target.arch == "arm64" {
                "on_arm"
            } else {
                "on_intel"
            };
            let _ = write!(
                platforms,
                "    {block} do\n      url \"{}\"\n      sha256 \"{sum}\"\n    end\n",
                target.uri(version)
            );
        }
        if !platforms.is_empty() {
            let _ = write!(out, "\n  {block} do\n{platforms}  end\n");
        }
    }
    let _ = write!(out, "\n  def install\n    bin.install \"{NAME}\"\n");
    for link in LINKS {
        let _ = writeln!(out, "    bin.install_symlink bin/\"{NAME}\" => \"{link}\"");
    }
    let _ = write!(
        out,
        "    man1.install Dir[\"man/*.1\"]\n    \
         bash_completion.install \"completions/{NAME}.bash\" => \"{NAME}\"\n    \
         zsh_completion.install \"completions/_{NAME}\"\n    \
         fish_completion.install \"completions/{NAME}.fish\"\n    \
         doc.install \"{}\"\n  end\n\n  \
         test do\n    assert_match version.to_s, shell_output(\"#{{bin}}/{NAME} version\")\n  end\nend\n",
        notices::FILE
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_archives_that_there_are() {
        let all = write("0.1.0", |target| Some(target.triple.to_owned()));
        for target in TARGETS {
            let there = all.contains(&format!("sha256 \"{}\"", target.triple));
            assert_eq!(there, target.os != "windows", "{target:?}");
        }
        let linux = write("0.1.0", |target| {
            (target.os == "linux").then(|| "ab".repeat(32))
        });
        assert!(linux.contains("on_linux do\n    on_intel do\n") && !linux.contains("on_macos"));
        let blocks = linux.matches(" do\n").count() + linux.matches("def ").count() + 1;
        assert_eq!(
            blocks,
            linux.lines().filter(|line| line.trim() == "end").count()
        );
    }
}
