//! `completion`: a script for a shell.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::error::Error;
use crate::exit::Exit;
use crate::ui::Ui;
use crate::words::{CommandLine, Hint};

/// Print a shell completion script
///
/// The script completes commands, flags, and names on the hub: runs, pending approval requests,
/// placements, and snapshots. To complete `kubectl fleet-stage` too, kubectl needs this program in
/// the PATH as kubectl_complete-fleet_stage: see --install.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage completion bash > /etc/bash_completion.d/kubectl-fleet-stage\n  \
    source <(kubectl fleet-stage completion zsh)\n  \
    kubectl fleet-stage completion kubectl --install ~/.local/bin")]
pub struct CompletionArgs {
    /// Shell, or kubectl
    #[arg(value_enum)]
    shell: Shell,
    /// With kubectl: create the files that kubectl looks for in this directory, which must be in
    /// the PATH
    #[arg(long, value_name = "DIRECTORY")]
    install: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)] // clap would print them
pub enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
    Kubectl,
}

/// The names under which kubectl asks a plugin for candidates: `kubectl fleet-stage`, and `kubectl
/// fleet stage`.
const FOR_KUBECTL: [&str; 2] = [
    "kubectl_complete-fleet_stage",
    "kubectl_complete-fleet-stage",
];

/// Prints the script for a command line, or makes the files that kubectl looks for.
pub fn run(
    args: &CompletionArgs,
    script: impl Fn(&str) -> Option<String>,
    ui: &mut Ui,
) -> Result<Exit, Error> {
    match (args.shell, &args.install) {
        (Shell::Kubectl, Some(folder)) => install(folder, ui),
        (Shell::Kubectl, None) => {
            Err(Error::usage(
                "kubectl looks for files in the PATH: set the directory with --install",
            )
            .hint(Hint::new("for example:").command(
                CommandLine::fleet("completion kubectl").flag("--install", "/usr/local/bin"),
            )))
        }
        (_, Some(_)) => Err(Error::usage(
            "--install works only with kubectl; the scripts of shells are printed",
        )),
        (shell, None) => {
            let word = shell.to_possible_value();
            let script = word.and_then(|word| script(word.get_name()));
            ui.answer(&script.unwrap_or_default());
            Ok(Exit::Done)
        }
    }
}

/// Where this program is. Where it was called through a link, that is the link: what manages
/// plugins keeps it, and moves the file behind it with each version.
fn own_path() -> std::io::Result<PathBuf> {
    let called_as = std::env::args_os().next().map(PathBuf::from);
    if let Some(called_as) = called_as {
        let is_path = called_as
            .parent()
            .is_some_and(|p| !p.as_os_str().is_empty());
        let found = if is_path {
            std::path::absolute(&called_as).ok()
        } else {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&folders)
                .map(|folder| folder.join(&called_as))
                .find(|path| path.is_absolute() && path.is_file())
        };
        if let Some(found) = found.filter(|path| path.is_file()) {
            return Ok(found);
        }
    }
    std::env::current_exe()
}

fn install(folder: &Path, ui: &mut Ui) -> Result<Exit, Error> {
    let own = own_path()
        .map_err(|error| Error::failed(format!("the path of this program is unknown: {error}")))?;
    for name in FOR_KUBECTL {
        let link = folder.join(name);
        let failed = |error: std::io::Error| {
            Error::failed(format!("{} cannot be created: {error}", link.display()))
        };
        match std::fs::symlink_metadata(&link) {
            Ok(found) if !found.is_symlink() => {
                return Err(Error::failed(format!(
                    "{} already exists and is not a link, so it is left unchanged",
                    link.display()
                )));
            }
            Ok(_) => std::fs::remove_file(&link).map_err(failed)?,
            Err(_) => {}
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(&own, &link).map_err(failed)?;
        #[cfg(not(unix))]
        std::fs::copy(&own, link.with_extension("exe")).map_err(failed)?;
        ui.status(&format!("made {}", link.display()));
    }
    Ok(Exit::Done)
}
