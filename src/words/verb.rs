//! The verbs of this program: the one list of them, with what holds for each.

use super::CommandClass::{self, Changes, Destroys, Looks};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbGroup {
    Operate,
    InspectRuns,
    InspectPlacement,
    Explain,
    Tools,
    Hidden,
}

impl VerbGroup {
    /// Its heading in the help; empty where its verbs are not listed.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Operate => "Operate",
            Self::InspectRuns => "Inspect runs",
            Self::InspectPlacement => "Inspect a placement",
            Self::Explain => "Explain",
            Self::Tools => "Tools",
            Self::Hidden => "",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FleetVerb {
    pub name: &'static str,
    pub group: VerbGroup,
    /// What it does to a fleet, at most, without a flag that makes more of it.
    pub class: CommandClass,
    /// Whether it is about a hub: the others only tell of the program.
    pub asks_a_hub: bool,
    /// What other tools call it.
    pub synonyms: &'static [&'static str],
}

const fn verb(
    name: &'static str,
    group: VerbGroup,
    class: CommandClass,
    synonyms: &'static [&'static str],
) -> FleetVerb {
    FleetVerb {
        name,
        group,
        class,
        asks_a_hub: true,
        synonyms,
    }
}

/// A verb that tells of the program, and reaches no hub.
const fn local(name: &'static str, group: VerbGroup) -> FleetVerb {
    FleetVerb {
        asks_a_hub: false,
        ..verb(name, group, Looks, &[])
    }
}

use VerbGroup::{Explain, Hidden, InspectPlacement, InspectRuns, Operate, Tools};

/// All verbs, in the order in which the help shows them.
pub const VERBS: [FleetVerb; 28] = [
    verb("plan", Operate, Looks, &[]),
    verb("init", Operate, Changes, &[]),
    verb("run", Operate, Changes, &["apply", "create", "start"]),
    verb("approve", Operate, Changes, &["accept", "promote"]),
    verb(
        "stop",
        Operate,
        Changes,
        &["abort", "cancel", "halt", "pause"],
    ),
    verb("resume", Operate, Changes, &["continue", "unpause"]),
    verb("retry", Operate, Destroys, &["rerun", "restart"]),
    verb("rollback", Operate, Destroys, &["back", "revert", "undo"]),
    verb("delete", Operate, Destroys, &["remove", "rm"]),
    verb("wait", Operate, Looks, &[]),
    verb("list", InspectRuns, Looks, &["get", "ls", "runs"]),
    verb("status", InspectRuns, Looks, &["describe", "info", "show"]),
    verb("approvals", InspectRuns, Looks, &["gates"]),
    verb("strategies", InspectRuns, Looks, &[]),
    verb("clusters", InspectPlacement, Looks, &[]),
    verb("history", InspectPlacement, Looks, &[]),
    verb("snapshots", InspectPlacement, Looks, &[]),
    verb("render", InspectPlacement, Looks, &[]),
    verb("trace", InspectPlacement, Looks, &[]),
    verb("diagnose", Explain, Looks, &["logs", "why"]),
    local("explain", Explain),
    verb("collect", Explain, Looks, &[]),
    verb("doctor", Tools, Looks, &[]),
    local("completion", Tools),
    local("schema", Hidden),
    local("version", Hidden),
    local("options", Hidden),
    local("help", Hidden),
];

/// Words of other tools that mean a verb with a flag.
const SYNONYMS_WITH_FLAGS: [(&str, &str); 2] =
    [("follow", "status --watch"), ("watch", "status --watch")];

impl FleetVerb {
    pub fn named(name: &str) -> Option<&'static Self> {
        VERBS.iter().find(|verb| verb.name == name)
    }

    /// What a word of another tool is called here, with a flag where it needs one.
    pub fn meant_by(word: &str) -> Option<&'static str> {
        let verb = VERBS.iter().find(|verb| verb.synonyms.contains(&word));
        let flagged = || SYNONYMS_WITH_FLAGS.iter().find(|(other, _)| *other == word);
        verb.map(|verb| verb.name)
            .or_else(|| flagged().map(|(_, meant)| *meant))
    }
}
