//! Files that follow from the code: written, or checked, by one walk over one list.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use kubectl_fleet_stage::commands::about::permissions::{ALL, PermissionNeed, Role, manifest};
use kubectl_fleet_stage::commands::about::schema::{DescribedOutput, schema};
use kubectl_fleet_stage::diagnose::rules;
use kubectl_fleet_stage::exit::Exit;
use kubectl_fleet_stage::kubefleet::Scope;
use kubectl_fleet_stage::render::invocation::Invocation;

/// Where the schemas of outputs stand.
pub const SCHEMAS: &str = "docs/reference/schemas";

/// Writes all generated files, or says which differ.
pub fn run(root: &Path, check: bool) -> Result<()> {
    let mut differ = Vec::new();
    for (path, content) in files(root)? {
        let full = root.join(&path);
        if std::fs::read(&full).is_ok_and(|known| known == content) {
            continue;
        }
        differ.push(path.display().to_string());
        if !check {
            if let Some(folder) = full.parent() {
                std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            }
            std::fs::write(&full, content).with_context(|| full.display().to_string())?;
        }
    }
    for path in &differ {
        crate::report(&format!(
            "{} {path}",
            if check { "differs:" } else { "wrote" }
        ));
    }
    if check && !differ.is_empty() {
        bail!("generated files are out of date: run `cargo xtask gen`");
    }
    Ok(())
}

fn files(root: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    let mut text =
        |path: &str, content: String| files.push((PathBuf::from(path), content.into_bytes()));
    text(crate::accuracy::PAGE, crate::accuracy::page(root)?);
    text("docs/reference/exit-codes.md", exit_codes());
    text("docs/reference/environment.md", environment());
    text("docs/reference/permissions.md", permissions());
    let docs = root.join("docs");
    text("docs/SUMMARY.md", crate::book::summary(&docs)?);
    text("docs/decisions/README.md", crate::book::decisions(&docs)?);
    for role in Role::ALL {
        let name = role.as_str();
        text(
            &format!("deploy/rbac/{name}.yaml"),
            manifest::everywhere(role),
        );
        text(
            &format!("deploy/rbac/namespaced/{name}.yaml"),
            manifest::in_namespace(role, None),
        );
    }
    text("deploy/rbac/namespaced/members.yaml", manifest::beside());
    text(
        "deploy/rbac/namespaced/aggregated.yaml",
        manifest::aggregated(),
    );
    for (path, picture) in crate::pictures::files(root)? {
        text(path, picture);
    }
    text("docs/reference/cli.md", cli());
    text("docs/reference/findings.md", findings());
    for of in DescribedOutput::value_variants() {
        let path = format!("{SCHEMAS}/{}.schema.json", of.name());
        let schema = serde_json::to_string_pretty(&schema(*of))?;
        text(&path, schema + "\n");
    }
    text(
        "krew-manifest.yaml",
        release::krew::manifest::template(&version()),
    );
    text("Cargo.toml", debian(root)?);
    for (shell, name) in [
        ("bash", "kubectl-fleet-stage.bash"),
        ("zsh", "_kubectl-fleet-stage"),
        ("fish", "kubectl-fleet-stage.fish"),
        ("elvish", "kubectl-fleet-stage.elv"),
        ("powershell", "_kubectl-fleet-stage.ps1"),
    ] {
        let script = kubectl_fleet_stage::cli::complete::script(shell);
        let script = script.with_context(|| format!("{shell} has no completion"))?;
        text(&format!("completions/{name}"), script);
    }
    for (name, page) in manual()? {
        files.push((PathBuf::from("man").join(name), page));
    }
    Ok(files)
}

/// The program's version.
fn version() -> String {
    let command = kubectl_fleet_stage::cli::command(&Invocation::default());
    command.get_version().unwrap_or_default().to_owned()
}

/// Cargo.toml, in which cargo-deb looks.
fn debian(root: &Path) -> Result<String> {
    let path = root.join("Cargo.toml");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    release::debian::into_manifest(&text)
}

/// The command line as it is installed by krew, in the width of a page.
fn command() -> clap::Command {
    let mut command = kubectl_fleet_stage::cli::command(&Invocation::default());
    command.build();
    command
}

/// What fits beside the margin of a manual's page.
const MANUAL_WIDTH: usize = 72;

/// A page for each command, and for each below one.
fn manual() -> Result<Vec<(String, Vec<u8>)>> {
    let root = kubectl_fleet_stage::cli::command_within(&Invocation::default(), MANUAL_WIDTH);
    let version = root.get_version().unwrap_or_default().to_owned();
    let mut root = root.disable_help_subcommand(true);
    // Before that the commands do not know their full names nor the global flags.
    root.build();
    let mut pages = Vec::new();
    let mut rest = vec![root];
    while let Some(command) = rest.pop() {
        rest.extend(command.get_subcommands().cloned());
        let name = command
            .get_bin_name()
            .unwrap_or(command.get_name())
            .replace(' ', "-");
        let usage = command.clone().render_usage().to_string();
        let page = page(command.display_name(&name).version(version.clone()), &usage)?;
        pages.push((format!("{name}.1"), page));
    }
    pages.sort();
    Ok(pages)
}

/// What clap_mangen puts before each section.
const PREAMBLE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// One page. Its synopsis is the usage line: a list of all flags would hide the arguments. It has no
/// date, as it changes with the program and not with the day.
fn page(command: clap::Command, usage: &str) -> std::io::Result<Vec<u8>> {
    let name = command.get_display_name().unwrap_or_default().to_owned();
    let version = command.get_version().unwrap_or_default().to_owned();
    let has_commands = command.has_subcommands();
    let notes = command.get_after_help().map(ToString::to_string);
    // A page has room for all flags.
    let command = command.mut_args(|argument| argument.hide_short_help(false));
    let page = clap_mangen::Man::new(command);
    let mut out = Vec::new();
    page.render_name_section(&mut out)?;
    let usage = roff(usage.trim_start_matches("Usage: "));
    out.extend_from_slice(format!(".SH SYNOPSIS\n.nf\n{usage}\n.fi\n").as_bytes());
    page.render_description_section(&mut out)?;
    page.render_options_section(&mut out)?;
    if has_commands {
        page.render_subcommands_section(&mut out)?;
    }
    let body = String::from_utf8_lossy(&out).replace(PREAMBLE, "");
    // An empty line is a space already.
    let body = body.replace("\n.br\n\n.br\n", "\n.sp\n");
    let title = format!(
        ".TH {} 1 \"\" \"kubectl-fleet-stage {version}\" \"kubectl-fleet-stage\"\n",
        roff(&name.to_uppercase())
    );
    let notes = notes.map_or_else(String::new, |notes| self::notes(&notes));
    Ok(format!("{PREAMBLE}{title}{body}{notes}").into_bytes())
}

/// What stands below the help, as it is written: examples and tables have their own lines.
fn notes(text: &str) -> String {
    let mut out = String::new();
    for part in text.split("\n\n") {
        let (heading, part) = match part.split_once(":\n") {
            Some((heading, part)) if !heading.contains('\n') => (heading, part),
            _ => ("Notes", part),
        };
        let _ = write!(
            out,
            ".SH \"{}\"\n.nf\n{}\n.fi\n",
            heading.to_uppercase(),
            roff(part)
        );
    }
    out
}

/// Text in which roff reads no command.
fn roff(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('-', "\\-");
    let lines = escaped.lines().map(|line| match line.chars().next() {
        Some('.' | '\'') => format!("\\&{line}"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn cli() -> String {
    let mut out = String::from("# Commands\n\nGenerated from the program's own definitions.\n");
    let mut root = command();
    let _ = write!(
        out,
        "\n## kubectl fleet-stage\n\n```text\n{}\n```\n",
        root.render_long_help().to_string().trim_end()
    );
    for sub in root
        .get_subcommands_mut()
        .filter(|sub| sub.get_name() != "help")
    {
        section(&mut out, sub, "kubectl fleet-stage");
    }
    trim_lines(&out)
}

/// A command, and those below it.
fn section(out: &mut String, command: &mut clap::Command, parent: &str) {
    let name = format!("{parent} {}", command.get_name());
    let help = command.render_long_help().to_string();
    let _ = write!(out, "\n## {name}\n\n```text\n{}\n```\n", help.trim_end());
    for sub in command
        .get_subcommands_mut()
        .filter(|sub| sub.get_name() != "help")
    {
        section(out, sub, &name);
    }
}

fn trim_lines(text: &str) -> String {
    let mut out: String = text
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect();
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn exit_codes() -> String {
    let mut out = String::from(
        "# Exit codes\n\nThe same in every output format.\n\n| code | meaning |\n|---|---|\n",
    );
    for exit in Exit::ALL {
        let _ = writeln!(out, "| {} | {} |", exit.code(), exit.describe());
    }
    out.push_str(
        "\n`--exit-zero` turns the codes of verdicts into 0. `--fail-on warning|error` makes a 0 into 3 \
         when a finding of at least that severity is shown. With several runs or `--all`, \
         the exit code is that of the worst report, in this order: 3, 5, 7, 4, 8, 0.\n",
    );
    out
}

fn permissions() -> String {
    let mut text = "# Permissions\n\n\
        The permissions that each command needs for cluster scope. With `-n` it needs the same permissions\n\
        for the namespaced kinds. Without a required permission, a command fails with exit code 7. Without\n\
        a useful one, it says what it could not read. `kubectl fleet-stage doctor` checks all of them, and\n\
        `doctor --rbac viewer` prints a role.\n\n\
        | command | required | useful |\n|---|---|---|\n"
        .to_owned();
    for needs in ALL {
        let of = |need: PermissionNeed| {
            let permissions = needs.permissions().filter(|one| one.need == need);
            let names: Vec<_> = permissions
                .map(|one| {
                    let kind = Scope::Cluster.kind(one.concept);
                    format!("{} {}", one.verb.as_str(), one.verb.resource(kind))
                })
                .collect();
            names.join(", ")
        };
        let line = format!(
            "| `{}` | {} | {} |\n",
            needs.command,
            of(PermissionNeed::Required),
            of(PermissionNeed::Useful)
        );
        text.push_str(&line);
    }
    text
}

fn environment() -> String {
    "# Environment\n\n| variable | effect |\n|---|---|\n\
     | `KUBECONFIG` | the kubeconfig files; missing files are skipped |\n\
     | `KUBERC` | the file that says which credential plugins may run, instead of ~/.kube/kuberc; `off`, or `KUBECTL_KUBERC=false`, for none |\n\
     | `HTTPS_PROXY`, `NO_PROXY` | the proxy for the hub, and the servers that need no proxy |\n\
     | `NO_COLOR` | if not empty: no color, unless `--color=always` |\n\
     | `CLICOLOR_FORCE` | if not empty and not `0`: color even without a terminal, unless `NO_COLOR` is set |\n\
     | `CLICOLOR` | if `0`: no color, unless `CLICOLOR_FORCE` is set |\n\
     | `TERM` | if `dumb`: no color, and on a terminal the same as `FLEET_STAGE_PLAIN` |\n\
     | `FLEET_STAGE_PLAIN` | if not empty and not `0`: plain text for a screen reader or a slow connection. Trees are indented instead of drawn, there is no color unless `--color=always`, and nothing is redrawn: `status -w` prints a line per change, and a wait is announced once |\n\
     | `KUBECACHEDIR` | kubectl's cache directory instead of `~/.kube/cache`; commands that only read remember in it for six hours which kinds a hub serves |\n\
     | `FLEET_STAGE_SETTINGS` | the [settings file](../tasks/settings.md) instead of the one in the usual place; `off` for none |\n\
     | `XDG_CONFIG_HOME` | the directory of the settings file, `kubectl-fleet-stage/settings.yaml` in it; by default `~/.config`; ignored if it is not absolute |\n\
     | `COLUMNS` | the text width, from 40 to 160, instead of the terminal's |\n\
     | `_` | the command that the shell ran: if it was kubectl, commands are printed as `kubectl fleet stage …`; otherwise the program's own path decides |\n\
     | `FLEET_STAGE_COMPLETE` | set by the completion scripts: the shell |\n\
     | `FLEET_STAGE_COMPLETE_TIMEOUT` | how long TAB waits for names from the hub, such as `5s`; by default `1200ms` |\n\n\
     `--color` takes precedence over all of them.\n"
        .to_owned()
}

fn findings() -> String {
    let mut out = String::from(
        "# Findings\n\n| code | name | severity | in one sentence |\n|---|---|---|---|\n",
    );
    for rule in rules::ALL {
        let summary = rules::explanation(rule.code).and_then(rules::summary);
        let summary = summary.unwrap_or_default();
        let _ = writeln!(
            out,
            "| [{0}](../findings/{0}.md) | {1} | {2} | {summary} |",
            rule.code,
            rule.name,
            rule.severity.as_str()
        );
    }
    out
}
