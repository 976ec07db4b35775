//! What cargo-deb is told in Cargo.toml: where everything lies on a Debian system.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};

use crate::compile::PROFILE;
use crate::contents::LICENCE;
use crate::notices;
use crate::product::{LINKS, LONG, MAINTAINER, NAME};

const BEGIN: &str = "# Written by `cargo xtask gen` from xtask/release/src/debian.rs.\n";
const END: &str = "# The end of what `cargo xtask gen` writes.\n";
/// The folder of the repository where a release puts the licenses of others for cargo-deb to find.
pub const NOTICES: &str = "target/packages";

/// A Cargo.toml with the table as it has to be.
pub fn into_manifest(manifest: &str) -> Result<String> {
    let parts = manifest.split_once(BEGIN);
    let (head, rest) = parts.context("Cargo.toml has no place for the Debian package")?;
    let (_, tail) = rest
        .split_once(END)
        .context("Cargo.toml: the Debian package has no end")?;
    Ok(format!("{head}{BEGIN}{}{END}{tail}", table()))
}

fn table() -> String {
    let mut out = String::from("[package.metadata.deb]\n");
    let mut value = |key: &str, value: &str| {
        let _ = writeln!(out, "{key} = {value:?}");
    };
    value("maintainer", MAINTAINER);
    value("copyright", MAINTAINER);
    value("section", "admin");
    value("priority", "optional");
    value("depends", "$auto");
    // Debian's own, and the one of Kubernetes' repository.
    value("suggests", "kubectl | kubernetes-client");
    let _ = writeln!(out, "license-file = [{LICENCE:?}, \"0\"]");
    let _ = writeln!(
        out,
        "extended-description = \"\"\"\n{}\"\"\"",
        LONG.join("\n\n")
    );
    out.push_str("assets = [\n");
    for (from, to, mode) in files() {
        let _ = writeln!(out, "    [{from:?}, {to:?}, \"{mode}\"],");
    }
    for link in LINKS {
        let _ = writeln!(
            out,
            "    {{ dest = \"usr/bin/{link}\", link_name = {NAME:?} }},"
        );
    }
    out.push_str("]\n");
    out
}

/// Where the files go. cargo-deb puts the folder in which it builds in the place of
/// `target/dist`. Elvish and PowerShell have no folder for what packages bring.
fn files() -> Vec<(String, String, &'static str)> {
    let share = |from: String, to: &str| (from, format!("usr/share/{to}"), "644");
    let completion = |file: &str| format!("completions/{file}");
    vec![
        (
            format!("target/{PROFILE}/{NAME}"),
            "usr/bin/".to_owned(),
            "755",
        ),
        share("man/*.1".to_owned(), "man/man1/"),
        share(
            completion(&format!("{NAME}.bash")),
            &format!("bash-completion/completions/{NAME}"),
        ),
        share(completion(&format!("_{NAME}")), "zsh/vendor-completions/"),
        share(
            completion(&format!("{NAME}.fish")),
            "fish/vendor_completions.d/",
        ),
        share(
            format!("{NOTICES}/{}", notices::FILE),
            &format!("doc/{NAME}/"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::SHORT;

    #[test]
    fn what_is_between_the_marks_is_replaced() {
        let text = format!("[package]\nname = \"x\"\n\n{BEGIN}old\n{END}\n[lints]\n");
        let new = into_manifest(&text).unwrap();
        assert!(new.starts_with("[package]\nname = \"x\"\n\n") && new.ends_with("\n[lints]\n"));
        assert!(!new.contains("old") && new.contains("usr/bin/kubectl_complete-fleet_stage"));
        assert_eq!(into_manifest(&new).unwrap(), new);
        assert!(into_manifest("[package]\n").is_err());
        assert!(into_manifest(&format!("{BEGIN}old\n")).is_err());
    }

    #[test]
    fn every_file_of_the_repository_is_there() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (from, to, _) in files() {
            let (folder, name) = from.rsplit_once('/').unwrap();
            let there = root.join(folder);
            let found = match name {
                "*.1" => there.join(format!("{NAME}.1")).exists(),
                name => there.join(name).exists(),
            };
            assert!(found || from.starts_with("target/"), "{from} for {to}");
        }
    }

    #[test]
    fn nothing_in_it_ends_a_string() {
        for text in LONG.iter().chain([&SHORT, &MAINTAINER]) {
            assert!(!text.contains(['"', '\\']), "{text}");
        }
    }
}
