//! A rendering for people.

use std::collections::HashSet;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::RenderDocument;
use super::changes::GroupChanges;
use super::document::describe;
use super::source::left_out;
use crate::commands::show::snapshots::diff::unified;
use crate::manifests::{ChangeCounts, ClusterGroup, ObjectDifference, OverrideEffect};
use crate::render::wrap::{hanging, list};
use crate::render::{self, RenderLook, escape};
use crate::words::count;

/// Names in a list, before the rest is only counted.
const NAMES: usize = 8;

/// Which clusters get the same, what overrides do there, and what changes.
pub(super) fn summary(
    rendered: &RenderDocument<'_>,
    changes: Option<&[GroupChanges]>,
    (look, diffs): (&RenderLook, bool),
) -> String {
    let rendering = &rendered.rendering;
    let mut out = String::new();
    let clusters = rendering.clusters().len();
    let head = format!(
        "{}: {} in {}",
        rendered.source.words,
        count(clusters, "cluster"),
        count(rendering.groups.len(), "group"),
    );
    if head.width() > look.width {
        hanging(&mut out, "", "  ", &head, look.width);
    } else {
        let _ = writeln!(out, "{}", look.paint.bold(&escape::line(&head)));
    }
    for fault in &rendering.faults {
        let text = format!(
            "{} ({}): {}",
            count(fault.clusters.len(), "cluster"),
            list(&fault.clusters, look.most(NAMES)),
            fault.describe()
        );
        let label = format!("{} ", look.paint.error("error:"));
        out.push('\n');
        hanging(&mut out, &label, "       ", &text, look.width);
    }
    let stopped = rendering.faults.iter().flat_map(|fault| &fault.clusters);
    let stopped: HashSet<&str> = stopped.map(String::as_str).collect();
    for (at, group) in rendering.groups.iter().enumerate() {
        out.push('\n');
        group_text(&mut out, rendered, group, &stopped, look);
        for changes in changes.into_iter().flatten().filter(|it| it.group == at) {
            changes_text(&mut out, rendered, changes, (look, diffs));
        }
    }
    let idle = rendering.idle().into_iter();
    let idle = idle.map(|(over, idle)| {
        let why = describe(&idle, rendered.source);
        format!("override {}: {why}", over.name())
    });
    let notes: Vec<_> = idle.chain(left_out(&rendered.source.left_out)).collect();
    if !notes.is_empty() {
        out.push('\n');
    }
    for text in notes {
        let label = format!("{} ", look.paint.warning("note:"));
        hanging(&mut out, &label, "      ", &text, look.width);
    }
    out
}

fn names(rendered: &RenderDocument<'_>, clusters: &[usize], look: &RenderLook) -> String {
    let names: Vec<_> = clusters.iter().map(|at| rendered.name(*at)).collect();
    list(&names, look.most(NAMES))
}

fn group_text(
    out: &mut String,
    rendered: &RenderDocument<'_>,
    group: &ClusterGroup,
    stopped: &HashSet<&str>,
    look: &RenderLook,
) {
    let effects = rendered.rendering.effects(group);
    let rendering = &rendered.rendering;
    let manifests = count(rendering.manifests(group.clusters[0]).len(), "manifest");
    let blocked = group
        .clusters
        .iter()
        .filter(|at| stopped.contains(rendered.name(**at)))
        .count();
    let what = match (blocked, effects.is_empty(), group.varies) {
        (0, true, _) => format!("{manifests}, no overrides"),
        (0, false, true) => format!("{manifests}, overridden; values depend on the cluster"),
        (0, false, false) => format!("{manifests}, overridden"),
        (some, ..) if some < group.clusters.len() => {
            format!("{manifests}, overridden; {some} get nothing new")
        }
        _ => "nothing new is applied, see the error".to_owned(),
    };
    let head = format!("{}: {what}", count(group.clusters.len(), "cluster"));
    let _ = writeln!(out, "{}", look.paint.bold(&head));
    hanging(
        out,
        "  ",
        "  ",
        &names(rendered, &group.clusters, look),
        look.width,
    );
    let most = look.most(20);
    for effect in effects.iter().take(most) {
        hanging(out, "  - ", "    ", &effect_text(effect), look.width);
    }
    if effects.len() > most {
        let more = effects.len() - most;
        let _ = writeln!(
            out,
            "    and {} (--verbose shows all)",
            count(more, "more operation")
        );
    }
}

fn effect_text(effect: &OverrideEffect) -> String {
    const LONGEST: usize = 60;
    let object = effect.object.describe();
    let rule = effect.rule;
    let by = format!("({}, rule {rule})", effect.over);
    let Some(operation) = &effect.operation else {
        return format!("{object}: deleted {by}");
    };
    let value = operation.value.as_ref().map(ToString::to_string);
    let value = match value {
        Some(value) if value.chars().count() > LONGEST => " …".to_owned(),
        Some(value) => format!(" {value}"),
        None => String::new(),
    };
    format!(
        "{object}: {} {}{value} {by}",
        operation.verb, operation.path
    )
}

/// `2 created, 1 changed`.
pub(in crate::commands) fn counts_text(counts: Option<ChangeCounts>) -> String {
    let Some(counts) = counts else {
        return "unknown: the Works were not read, or only compare (ReportDiff)".to_owned();
    };
    render::plan::counts(counts)
}

fn changes_text(
    out: &mut String,
    rendered: &RenderDocument<'_>,
    changes: &GroupChanges,
    (look, diffs): (&RenderLook, bool),
) {
    let names = names(rendered, &changes.clusters, look);
    let text = format!("{} ({names})", counts_text(changes.counts));
    hanging(out, "  now -> then: ", "    ", &text, look.width);
    for difference in &changes.differences {
        if let Some(text) = refused_text(difference) {
            let label = format!("  {} ", look.paint.warning("warning:"));
            hanging(out, &label, "    ", &text, look.width);
        }
    }
    if !diffs {
        return;
    }
    let then = rendered.source.label();
    let several = rendered.rendering.groups[changes.group].varies && changes.clusters.len() > 1;
    if several {
        let name = rendered.name(changes.clusters[0]).to_owned();
        hanging(out, "  ", "  ", &format!("shown for {name}:"), look.width);
    }
    let changes = changes.differences.iter().map(|it| &it.change);
    out.push_str(&unified(changes, ("now", &then), look.paint));
}

/// That the member cluster refuses a change.
pub(in crate::commands) fn refused_text(difference: &ObjectDifference) -> Option<String> {
    let field = difference.immutable.as_ref()?;
    Some(format!(
        "{}: {field} cannot be changed, so the member cluster refuses the object",
        difference.change.identity.describe()
    ))
}
