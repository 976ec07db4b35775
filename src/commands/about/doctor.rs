//! `doctor`: whether the hub, the permissions and the agents are as the other commands need them.

mod checks;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::about::permissions::{self, PermissionNeed, Role};
use crate::commands::gather::global::GlobalFlags;
use crate::commands::gather::hubs::{HubAnswer, HubList, HubsArgs};
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::session::Session;
use crate::commands::output::{self, ItemFormat};
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::AccessCheck;
use crate::kubefleet::{Concept, Kind, Scope};
use crate::render::style::TextPaint;
use crate::render::{escape, wrap};
use crate::report::TypeMeta;
use crate::ui::Ui;
use crate::words::{CommandLine, worded};

/// Check the hub, permissions, controller, and member agents
///
/// Checks whether the API server is a KubeFleet hub, which kinds and versions it serves, and which
/// commands you may use. Also checks the clock difference and whether the controller and the member
/// agents report.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage doctor\n  \
    kubectl fleet-stage doctor -n my-app-namespace\n  \
    kubectl fleet-stage doctor --all-contexts\n  \
    kubectl fleet-stage doctor --rbac approver > role.yaml\n\n\
    Exit codes:\n  \
    0  all checks passed\n  \
    1  a check failed\n  \
    7  only read permissions are missing, or a hub was not reached; with --rbac, any permission of \
    the role is missing")]
pub struct DoctorArgs {
    /// Print the manifest of a role instead, and list the permissions you lack
    #[arg(long, value_name = "ROLE", value_enum)]
    rbac: Option<Role>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: ItemFormat,
    #[command(flatten)]
    hubs: HubsArgs,
}

worded! {
    /// The result of a check.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    pub enum CheckResult {
        /// As it should be.
        Ok = "ok",
        /// Worth checking.
        Warning = "warning",
        /// Something does not work.
        Failed = "failed",
        /// Could not be checked.
        Unknown = "unknown",
    }
}

impl CheckResult {
    fn paint(self, paint: TextPaint) -> String {
        let word = format!("{:<8}", self.as_str());
        match self {
            Self::Ok => paint.good(&word),
            Self::Warning | Self::Unknown => paint.warning(&word),
            Self::Failed => paint.error(&word),
        }
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorCheck {
    /// What is checked.
    pub name: String,
    /// The result.
    pub result: CheckResult,
    /// The result in words.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The command that does it, when there is one.
    #[serde(flatten)]
    pub command: Option<CommandLine>,
}

impl DoctorCheck {
    fn new(result: CheckResult, message: impl Into<String>) -> Self {
        Self {
            name: String::new(),
            result,
            message: message.into(),
            hint: None,
            command: None,
        }
    }

    fn of(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    fn command(mut self, command: CommandLine) -> Self {
        self.command = Some(command);
        self
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Whether the user may run a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowedCommand {
    /// The command.
    pub command: String,
    /// The role that allows it: `viewer`, `approver`, or `operator`.
    pub role: String,
    /// Whether it works at all.
    pub works: bool,
    /// The permissions that are missing, as `list clusterstagedupdateruns.placement…`.
    pub missing: Vec<String>,
    /// Permissions that the hub could not evaluate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// What `doctor` found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorReport {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The context of the hub; absent if only one hub was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    hub: Option<String>,
    /// The checks; later ones depend on earlier ones.
    checks: Vec<DoctorCheck>,
    /// Which commands the user may run.
    permissions: Vec<AllowedCommand>,
}

pub fn run(args: &DoctorArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let why = "it compares the role with the permissions on one hub";
    args.hubs
        .contexts
        .refuse_if(args.rbac.is_some(), "--rbac", why)?;
    if let Some(role) = args.rbac {
        session.ui.answer(&permissions::manifest::role_manifest(
            role,
            session.global.namespace.as_deref(),
        ));
        return Ok(lacks(role, session));
    }
    let scope = scope(session.global);
    let settings = checks::settings(&session.settings).of("settings");
    let clock = session.clock;
    let answers = session.ask(&args.hubs, None, "doctor", |reading, _| {
        let permissions = allowed(reading, &scope)?;
        let mut checks = vec![settings.clone()];
        checks.extend(checks::all_checks(reading, &scope, clock));
        Ok(DoctorReport {
            meta: TypeMeta::new("Doctor"),
            hub: None,
            checks,
            permissions,
        })
    })?;
    let (answers, found) = answers.take();
    let doctors: Vec<_> = found.into_iter().map(DoctorReport::of).collect();
    let own = Exit::worst(doctors.iter().map(DoctorReport::exit));
    let text = match args.output {
        ItemFormat::Json | ItemFormat::Yaml if answers.is_several() => {
            let list = HubList::new("Doctor", doctors, &answers.not_reached);
            output::document(&list, args.output == ItemFormat::Yaml)?
        }
        form => {
            let texts = doctors
                .iter()
                .map(|it| form.print(it, || text(it, session.ui)));
            texts.collect::<Result<Vec<_>, _>>()?.join("\n")
        }
    };
    session.ui.answer(&text);
    answers.tell(session.ui);
    Ok(answers.exit(own))
}

impl DoctorReport {
    /// What was found; where several hubs were asked, the commands lead to its own.
    fn of(answer: HubAnswer<Self>) -> Self {
        let HubAnswer { hub, mut found } = answer;
        if let Some(hub) = &hub {
            for check in &mut found.checks {
                check.command = check.command.take().map(|it| it.on_hub(hub));
            }
        }
        Self { hub, ..found }
    }

    fn exit(&self) -> Exit {
        let failed = |check: &DoctorCheck| check.result == CheckResult::Failed;
        // What could not be asked may be missing as well.
        // Not everyone approves and operates.
        let denied = |command: &AllowedCommand| {
            command.role == Role::Viewer.as_str()
                && (!command.missing.is_empty() || !command.unknown.is_empty())
        };
        if self.checks.iter().any(failed) {
            Exit::Error
        } else if self.permissions.iter().any(denied) {
            Exit::Incomplete
        } else {
            Exit::Done
        }
    }
}

fn scope(global: &GlobalFlags) -> Scope {
    Scope::of_namespace(global.namespace.as_deref().unwrap_or_default())
}

/// Says what of a role the user lacks. The manifest is there without a hub, too.
fn lacks(role: Role, session: &mut Session<'_>) -> Exit {
    let asked = session
        .open_within(None, "doctor")
        .and_then(|mut reading| allowed(&mut reading, &scope(session.global)));
    let commands = match asked {
        Ok(commands) => commands,
        Err(error) => {
            session.ui.warning(&format!(
                "which of these permissions you have is unknown: {}",
                error.message
            ));
            return Exit::Done;
        }
    };
    let of_role = || {
        let roles = Role::ALL.iter().filter(move |one| **one <= role);
        let names: Vec<_> = roles.map(|one| one.as_str()).collect();
        let commands = commands.iter();
        commands.filter(move |command| names.contains(&command.role.as_str()))
    };
    let missing: BTreeSet<_> = of_role().flat_map(|command| &command.missing).collect();
    let unknown: BTreeSet<_> = of_role().flat_map(|command| &command.unknown).collect();
    for (names, what) in [(&missing, "you lack"), (&unknown, "unknown")] {
        for name in names {
            session.ui.status(&format!("{what}: {name}"));
        }
    }
    if missing.is_empty() && unknown.is_empty() {
        session.ui.status(&format!(
            "you have all permissions of the role {}",
            role.as_str()
        ));
        Exit::Done
    } else {
        Exit::Incomplete
    }
}

/// Asks the hub for every permission that a command needs.
fn allowed(reading: &mut SourceReading, scope: &Scope) -> Result<Vec<AllowedCommand>, Error> {
    let every: Vec<_> = permissions::of_role(Role::Operator).into_iter().collect();
    let wanted: Vec<_> = every
        .iter()
        .map(|(verb, concept)| {
            let kind = scope.kind(*concept);
            AccessCheck {
                verb: verb.as_str(),
                group: kind.group(),
                resource: verb.resource(kind),
                namespace: namespace_of(kind, scope),
            }
        })
        .collect();
    let Some(hub) = reading.hub() else {
        return Ok(Vec::new());
    };
    let answers = hub.may(&wanted);
    if let Some(Err(error)) = answers
        .iter()
        .find(|answer| answer.as_ref().is_err_and(crate::hub::HubError::is_fatal))
    {
        return Err(error.clone().into());
    }
    let commands = permissions::ALL.iter().map(|needs| {
        let mut allowed = AllowedCommand {
            command: needs.command.to_owned(),
            role: needs.role.as_str().to_owned(),
            works: true,
            missing: Vec::new(),
            unknown: Vec::new(),
        };
        for permission in needs.permissions() {
            let asked = (permission.verb, permission.concept);
            let place = every.iter().position(|one| *one == asked);
            let kind = scope.kind(permission.concept);
            let name = format!(
                "{} {}.{}",
                permission.verb.as_str(),
                permission.verb.resource(kind),
                kind.group()
            );
            match place.and_then(|place| answers.get(place)) {
                Some(Ok(true)) => {}
                Some(Ok(false)) => {
                    allowed.works &= permission.need == PermissionNeed::Useful;
                    allowed.missing.push(name);
                }
                Some(Err(_)) | None => allowed.unknown.push(name),
            }
        }
        allowed
    });
    Ok(commands.collect())
}

/// Where a kind is read: Works in the namespaces of all members, the rest in the scope's own.
fn namespace_of(kind: Kind, scope: &Scope) -> String {
    if kind.is_namespaced() && kind.concept() != Concept::Work {
        scope.namespace().to_owned()
    } else {
        String::new()
    }
}

fn text(doctor: &DoctorReport, ui: &Ui) -> String {
    let (invocation, paint, width) = (ui.invocation(), ui.paint(), ui.width());
    let mut text = String::new();
    if let Some(hub) = &doctor.hub {
        let title = paint.bold(&escape::line(&format!("Hub {hub}")));
        let _ = writeln!(text, "{title}\n");
    }
    for check in &doctor.checks {
        let lead = format!("{:<12}{}  ", check.name, check.result.paint(paint));
        let body = match &check.hint {
            Some(hint) => format!("{}; {hint}", check.message),
            None => check.message.clone(),
        };
        wrap::hanging(&mut text, &lead, &" ".repeat(22), &body, width);
        if let Some(command) = &check.command {
            let command = paint.command(&invocation.command(command));
            let _ = writeln!(text, "{}{command}", " ".repeat(22));
        }
    }
    text.push_str("\nPermissions\n");
    for command in &doctor.permissions {
        let (result, body) = match (command.works, command.missing.is_empty()) {
            (_, true) if command.unknown.is_empty() => (CheckResult::Ok, String::new()),
            (_, true) => (
                CheckResult::Unknown,
                format!("unknown: {}", command.unknown.join(", ")),
            ),
            (true, false) => (
                CheckResult::Warning,
                format!("shows less without: {}", command.missing.join(", ")),
            ),
            (false, false) => (
                CheckResult::Failed,
                format!("needs: {}", command.missing.join(", ")),
            ),
        };
        let lead = format!("  {:<16}{}  ", command.command, result.paint(paint));
        wrap::hanging(&mut text, &lead, &" ".repeat(28), &body, width);
    }
    text
}
