//! `explain`: the long explanation of a finding.

use std::fmt::Write as _;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::gather::argument::ArgumentKind;
use crate::commands::gather::findings::near;
use crate::commands::output;
use crate::diagnose::{examples, rules};
use crate::error::Error;
use crate::exit::Exit;
use crate::render;
use crate::report::TypeMeta;
use crate::ui::Ui;
use crate::words::{CommandLine, Hint};

/// Explain a finding in detail, offline
///
/// Prints what a finding means, why it happens, and how to confirm, fix, and avoid it. Each finding
/// has an example bundle that `diagnose` can read. Explanations and examples are built in.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  kubectl fleet-stage explain FS401\n  \
    kubectl fleet-stage explain approval-pending\n  \
    kubectl fleet-stage explain FS401 --example | kubectl fleet-stage diagnose -f -\n  \
    kubectl fleet-stage explain --list")]
pub struct ExplainArgs {
    /// Code (FS401) or name (approval-pending) of a finding
    #[arg(required_unless_present = "list", value_name = "CODE|NAME")]
    #[arg(add = ArgumentKind::Codes)]
    finding: Option<String>,
    /// List all findings
    #[arg(long, conflicts_with = "finding")]
    list: bool,
    /// Print an example bundle for `diagnose -f -`
    #[arg(long, conflicts_with_all = ["list", "output"])]
    example: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: ExplainFormat,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum ExplainFormat {
    #[default]
    Text,
    Markdown,
    Json,
    Yaml,
}

/// All findings.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingList {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The findings by code.
    items: Vec<ExplainedFinding>,
}

/// A finding and its explanation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplainedFinding")]
pub struct ExplainedFinding {
    /// `FSnnn`, which never changes.
    code: &'static str,
    /// The state seen, in kebab-case.
    name: &'static str,
    /// The usual severity, which a report can change: `info`, `warning`, or `error`.
    severity: &'static str,
    /// One sentence.
    summary: String,
    /// The long explanation, as markdown; absent in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'static str>,
}

pub fn run(args: &ExplainArgs, ui: &mut Ui) -> Result<Exit, Error> {
    let Some(word) = &args.finding else {
        return list(args.output, ui);
    };
    let rule = rules::search(word).ok_or_else(|| unknown(word))?;
    if args.example {
        let example = examples::example_bundle(rule.code);
        let missing = || Error::failed(format!("{} has no example", rule.code));
        ui.answer(&example.ok_or_else(missing)?);
        return Ok(Exit::Done);
    }
    let source = match rules::explanation(rule.code) {
        Some(source) => source.to_owned(),
        None => format!("# {}: {}\n", rule.code, rule.name),
    };
    let text = match args.output {
        ExplainFormat::Text => {
            render::plain::markdown(&source, ui.width(), ui.paint(), ui.invocation())
        }
        ExplainFormat::Markdown => source,
        ExplainFormat::Json => output::json(&entry(rule, true))?,
        ExplainFormat::Yaml => output::yaml(&entry(rule, true))?,
    };
    ui.answer(&text);
    Ok(Exit::Done)
}

fn unknown(word: &str) -> Error {
    let error = Error::not_found(format!("unknown finding {word:?}"));
    let explain = || CommandLine::fleet("explain");
    match near(word) {
        Some(near) => error.hint(Hint::new("did you mean:").command(explain().arg(near))),
        None => error.hint(Hint::new("all findings:").command(explain().switch("--list"))),
    }
}

fn list(format: ExplainFormat, ui: &mut Ui) -> Result<Exit, Error> {
    let list = FindingList {
        meta: TypeMeta::new("FindingList"),
        items: rules::ALL.iter().map(|rule| entry(rule, false)).collect(),
    };
    let text = match format {
        ExplainFormat::Json => output::json(&list)?,
        ExplainFormat::Yaml => output::yaml(&list)?,
        ExplainFormat::Text | ExplainFormat::Markdown => {
            let names = list.items.iter().map(|item| item.name.len());
            let widest = names.max().unwrap_or(0);
            let room = ui.row_width().unwrap_or(usize::MAX);
            let mut text = String::new();
            for item in list.items {
                if format == ExplainFormat::Markdown {
                    let _ = writeln!(text, "- {} {}: {}", item.code, item.name, item.summary);
                    continue;
                }
                let named = format!("{}  {:widest$}", item.code, item.name);
                let whole = format!("{named}  {}", item.severity);
                let row = if whole.len() <= room { whole } else { named };
                let _ = writeln!(text, "{}", row.trim_end());
            }
            text
        }
    };
    ui.answer(&text);
    Ok(Exit::Done)
}

fn entry(rule: &rules::Rule, whole: bool) -> ExplainedFinding {
    let source = rules::explanation(rule.code);
    ExplainedFinding {
        code: rule.code,
        name: rule.name,
        severity: rule.severity.as_str(),
        summary: source.and_then(rules::summary).unwrap_or_default(),
        explanation: source.filter(|_| whole),
    }
}
