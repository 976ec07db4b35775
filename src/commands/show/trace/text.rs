//! A trace for people.

use jiff::Timestamp;

use super::there::InMember;
use super::{ObjectTrace, TracedObject};
use crate::kubefleet::{Kind, duration};
use crate::render::escape;
use crate::render::style::TextPaint;
use crate::render::wrap::hanging;
use crate::rollout::GateFacts;
use crate::words::enumerate;

/// The way of an object, from the cluster back to the person who approved it.
pub(super) fn trace(trace: &ObjectTrace, now: Timestamp, width: usize, paint: TextPaint) -> String {
    let mut out = String::new();
    if let Some(member) = &trace.in_member {
        in_member(&mut out, (trace, member), now, (width, paint));
    }
    for (at, found) in trace.found.iter().enumerate() {
        if at > 0 || trace.in_member.is_some() {
            out.push('\n');
        }
        let head = format!("{} on {}: {}", found.object, trace.cluster, found.state);
        out.push_str(&paint.bold(&escape::line(&head)));
        out.push('\n');
        for (label, text) in lines(found, now) {
            let label = format!("  {label:<11}");
            hanging(&mut out, &label, "             ", &text, width);
        }
    }
    let is_shared = |one: &TracedObject| {
        let mut others = trace.found.iter();
        others.any(|it| it.object == one.object && it.placement != one.placement)
    };
    if trace.found.iter().any(is_shared) {
        let text = "several placements include the object; only one of them can own it";
        hanging(
            &mut out,
            &paint.warning("warning: "),
            "         ",
            text,
            width,
        );
    }
    if trace.found.is_empty() {
        if trace.in_member.is_some() {
            out.push('\n');
        }
        let (cluster, object) = (&trace.cluster, &trace.object);
        let text = if trace.misses(&[Kind::Work]) {
            format!("whether a Work of {cluster} has {object} is unknown")
        } else {
            format!("no Work of {cluster} has {object}")
        };
        out.push_str(&paint.bold(&escape::line(&text)));
        out.push('\n');
        if trace.lost.is_empty() {
            let snapshots = [Kind::ClusterResourceSnapshot, Kind::ResourceSnapshot];
            let text = if trace.misses(&snapshots) {
                "whether a snapshot on the hub has it is unknown"
            } else if trace.misses(&[Kind::Work]) {
                "no snapshot on the hub has it"
            } else {
                "no snapshot on the hub has it either"
            };
            hanging(&mut out, "  ", "  ", text, width);
        }
    }
    for lost in &trace.lost {
        let text = format!("{}: {}", lost.placement, lost.message);
        hanging(&mut out, "  ", "    ", &text, width);
    }
    out
}

fn in_member(
    out: &mut String,
    (trace, member): (&ObjectTrace, &InMember),
    now: Timestamp,
    (width, paint): (usize, TextPaint),
) {
    let (cluster, context) = (&trace.cluster, &member.context);
    let object = &trace.object;
    let head = match member.exists {
        Some(true) => format!("{object} exists in {cluster} (context {context})"),
        Some(false) => format!("{object} does not exist in {cluster} (context {context})"),
        None => format!("whether {object} exists in {cluster} (context {context}) is unknown"),
    };
    out.push_str(&paint.bold(&escape::line(&head)));
    out.push('\n');
    let mut lines = Vec::new();
    for object in &member.objects {
        lines.push(("object", object.object.to_string()));
        let ago = |at: Timestamp| format!("{} ago", duration::describe(now.duration_since(at)));
        lines.extend(object.created.map(|at| ("created", ago(at))));
        let deletion = |at| format!("requested {}, not finished", ago(at));
        lines.extend(object.deleted.map(|at| ("deletion", deletion(at))));
        let owners = object.owners.iter().map(ToString::to_string);
        lines.push(("owners", enumerate(owners)));
        lines.extend(object.managed_by.clone().map(|by| ("managed by", by)));
        if !object.field_managers.is_empty() {
            lines.push(("written by", enumerate(&object.field_managers)));
        }
        if !object.has_last_applied {
            let text = "no annotation of KubeFleet says what it applied last";
            lines.push(("note", text.to_owned()));
        }
    }
    let listing = member
        .applied_works
        .iter()
        .map(|it| it.applied_work.as_str());
    lines.push((
        "listed by",
        match member.applied_works.as_slice() {
            [] if !member.knows_applied_works => "unknown".to_owned(),
            [] => "no AppliedWork".to_owned(),
            _ => format!("AppliedWork {}", enumerate(listing)),
        },
    ));
    for (label, text) in lines {
        let label = format!("  {label:<11}");
        hanging(out, &label, "             ", &text, width);
    }
    let warning = paint.warning("warning: ");
    for text in &member.differences {
        hanging(out, &warning, "         ", text, width);
    }
}

fn lines(found: &TracedObject, now: Timestamp) -> Vec<(&'static str, String)> {
    let ago = |at: Option<Timestamp>| {
        at.map_or_else(String::new, |at| {
            format!(" {} ago", duration::describe(now.duration_since(at)))
        })
    };
    let mut lines = vec![(
        "work",
        format!("{}/{}", found.work.namespace, found.work.name),
    )];
    if let Some(envelope) = &found.envelope {
        lines.push(("envelope", envelope.to_string()));
    }
    for over in &found.overrides {
        let rules = match over.rules.as_deref() {
            None => "rules unknown".to_owned(),
            Some([one]) => format!("rule {one}"),
            Some(several) => format!(
                "rules {}",
                enumerate(several.iter().map(ToString::to_string))
            ),
        };
        lines.push(("override", format!("{} ({rules})", over.name)));
    }
    if let Some(binding) = &found.binding {
        lines.push(("binding", binding.name.clone()));
    }
    if let Some(other) = &found.not_sent {
        lines.push(("not sent", format!("{other}: the Work is older")));
    }
    let snapshot = found.snapshot.as_deref().unwrap_or("unknown");
    lines.push(("snapshot", format!("{snapshot} of {}", found.placement)));
    let Some(rollout) = &found.rollout else {
        let run = match &found.written_by {
            Some(writer) => format!("{writer}, according to the binding; no more is known of it"),
            None => "unknown: no run that still exists rolled it out".to_owned(),
        };
        lines.push(("run", run));
        return lines;
    };
    let when = match (rollout.started, rollout.ended) {
        (_, Some(ended)) => format!("done{}", ago(Some(ended))),
        (started, None) => format!("started{}", ago(started)),
    };
    lines.push((
        "run",
        format!("{}, stage {}, {when}", rollout.run, rollout.stage),
    ));
    lines.extend(
        rollout
            .gates
            .iter()
            .map(|it| ("approved", approved(it, &ago))),
    );
    lines
}

fn approved(gate: &GateFacts, ago: &dyn Fn(Option<Timestamp>) -> String) -> String {
    let answer = gate.answer.clone().unwrap_or_default();
    let by = answer.by.map_or_else(String::new, |by| format!(" by {by}"));
    let reason = answer.reason;
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    format!("gate of {}{by}{}{reason}", gate.stage, ago(answer.at))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::there::{InMember, ListedBy, ObjectThere};
    use super::super::{ObjectTrace, Subject, TypeMeta};
    use super::trace;
    use crate::kubefleet::Kind;
    use crate::render::style::TextPaint;
    use crate::report::NotChecked;

    fn traced(in_member: Option<InMember>, not_checked: Vec<NotChecked>) -> ObjectTrace {
        ObjectTrace {
            meta: TypeMeta::new("Trace"),
            object: "deploy/web".to_owned(),
            cluster: "member-1".to_owned(),
            in_member,
            found: Vec::new(),
            lost: Vec::new(),
            not_checked,
        }
    }

    fn shown(in_member: InMember) -> String {
        let traced = traced(Some(in_member), Vec::new());
        trace(&traced, Timestamp::UNIX_EPOCH, 100, TextPaint::new(false))
    }

    #[test]
    fn the_member_cluster_comes_first() {
        let object = ObjectThere {
            object: Subject::new("Deployment", "shop", "web"),
            created: None,
            deleted: None,
            owners: vec![Subject::new("AppliedWork", "", "shop-work")],
            managed_by: Some("Helm".to_owned()),
            field_managers: vec!["kubectl-edit".to_owned(), "work-api-agent".to_owned()],
            has_last_applied: true,
        };
        let text = shown(InMember {
            context: "kind-1".to_owned(),
            exists: Some(true),
            objects: vec![object],
            applied_works: vec![ListedBy {
                applied_work: "shop-work".to_owned(),
                work: Subject::new("Work", "fleet-member-member-1", "shop-work"),
            }],
            knows_applied_works: true,
            differences: vec!["AppliedWork shop-work lists it twice".to_owned()],
        });
        let expected = "deploy/web exists in member-1 (context kind-1)
  object     Deployment shop/web
  owners     AppliedWork shop-work
  managed by Helm
  written by kubectl-edit and work-api-agent
  listed by  AppliedWork shop-work
warning: AppliedWork shop-work lists it twice

no Work of member-1 has deploy/web
  no snapshot on the hub has it either
";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_could_not_be_read_is_unknown() {
        let text = shown(InMember {
            context: "kind-1".to_owned(),
            exists: None,
            objects: Vec::new(),
            applied_works: Vec::new(),
            knows_applied_works: false,
            differences: Vec::new(),
        });
        let unknown = "whether deploy/web exists in member-1 (context kind-1) is unknown";
        assert!(text.starts_with(unknown), "{text}");
        assert!(text.contains("  listed by  unknown\n"), "{text}");
    }

    #[test]
    fn what_nobody_could_list_is_not_absent() {
        let gap = |kind: Kind| NotChecked::new(kind.name(), "forbidden");
        let shown = |gaps: &[Kind]| {
            let traced = traced(None, gaps.iter().copied().map(gap).collect());
            trace(&traced, Timestamp::UNIX_EPOCH, 100, TextPaint::new(false))
        };
        let no_work = "no Work of member-1 has deploy/web";
        let no_snapshot = "no snapshot on the hub has it";
        let work = "whether a Work of member-1 has deploy/web is unknown";
        let snapshot = "whether a snapshot on the hub has it is unknown";
        for (gaps, first, second) in [
            (&[Kind::Work][..], work, no_snapshot),
            (&[Kind::Work, Kind::ClusterResourceSnapshot], work, snapshot),
            (&[Kind::ResourceSnapshot], no_work, snapshot),
        ] {
            assert_eq!(shown(gaps), format!("{first}\n  {second}\n"));
        }
    }
}
