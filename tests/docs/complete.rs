//! Pages that list all of something: the index lists every task, the page of schemas every schema, and
//! the page about secrets every command that can show them. Commands in prose have the flags that we have.

use clap::Command;
use clap::error::ErrorKind;
use kubectl_fleet_stage::cli;
use kubectl_fleet_stage::render::invocation::Invocation;

use super::files::below;
use super::{Page, commands, in_both_scopes, links, pages};

fn page(name: &str) -> Page {
    let found = pages().into_iter().find(|page| page.name() == name);
    found.unwrap_or_else(|| panic!("{name} does not exist"))
}

/// The files in the folder of a page, by their names, and whether it links to them.
fn not_linked(from: &str, folder: &str, ending: &str) -> Vec<String> {
    let page = page(from);
    let folder = page.path.parent().unwrap().join(folder);
    let prose = page.prose();
    let linked: Vec<_> = links(&prose)
        .into_iter()
        .filter_map(|link| page.path.parent().unwrap().join(link).canonicalize().ok())
        .collect();
    below(folder, ending)
        .into_iter()
        .map(|path| path.canonicalize().unwrap())
        .filter(|path| path != &page.path && !linked.contains(path))
        .filter(|path| !path.components().any(|part| part.as_os_str() == "released"))
        .map(|path| path.display().to_string())
        .collect()
}

#[test]
fn the_index_lists_every_task() {
    let missing = not_linked("docs/README.md", "tasks", "md");
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_page_of_schemas_lists_every_schema() {
    let missing = not_linked("docs/reference/schemas/README.md", ".", "json");
    assert!(missing.is_empty(), "{missing:?}");
}

/// The commands with a flag, each with those above it.
fn with_flag(command: &Command, above: &[&str], flag: &str, found: &mut Vec<String>) {
    for sub in command.get_subcommands() {
        let path = [above, &[sub.get_name()]].concat();
        if sub.get_arguments().any(|arg| arg.get_long() == Some(flag)) {
            found.push(path.join(" "));
        }
        with_flag(sub, &path, flag, found);
    }
}

#[test]
fn the_page_about_secrets_names_every_command_that_shows_them() {
    let mut found = Vec::new();
    let command = cli::command(&Invocation::default());
    with_flag(&command, &[], "show-secrets", &mut found);
    assert!(found.len() > 3, "{found:?}");
    let text = page("docs/tasks/secrets.md").text;
    let unnamed = |name: &&String| {
        let line = |line: &str| line.contains(name.as_str()) && line.contains("--show-secrets");
        !text.lines().any(line)
    };
    let missing: Vec<_> = found.iter().filter(unnamed).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The code in the prose of a page, each piece on one line.
fn code(page: &Page) -> Vec<String> {
    let mut fenced = false;
    let mut prose = String::new();
    for line in page.text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
        .split("\n\n")
        .flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2))
        .map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// A command in prose may leave out what it needs, but has no word that the program does not take.
#[test]
fn every_command_in_prose_is_one_of_ours() {
    let command = cli::command(&Invocation::default());
    let mut seen = 0;
    let mut wrong = Vec::new();
    for page in pages() {
        for piece in code(&page) {
            if piece.contains('…') {
                continue;
            }
            let forms = in_both_scopes(&piece);
            for words in forms.iter().flat_map(|form| commands(form)) {
                seen += 1;
                let arguments = std::iter::once("kubectl-fleet-stage".to_owned()).chain(words);
                let Err(error) = command.clone().try_get_matches_from(arguments) else {
                    continue;
                };
                if !matches!(
                    error.kind(),
                    ErrorKind::MissingRequiredArgument
                        | ErrorKind::MissingSubcommand
                        | ErrorKind::DisplayHelp
                        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                        | ErrorKind::DisplayVersion
                ) {
                    wrong.push(format!("{}: {piece}\n{error}", page.name()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 40, "only {seen} commands were found");
}
