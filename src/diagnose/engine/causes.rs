//! Telling cause from consequence, after all rules have spoken.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use crate::diagnose::engine::direction::allow_older;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::tried::makes_a_run;
use crate::diagnose::{rules, subjects::member_findings, subjects::outlook, subjects::overrides};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::messages::essence;
use crate::problems::steps;
use crate::report::{CausedBy, Effect, FaultOrigin, Finding, Remedy, Severity, Verdict};
use crate::rollout::content::{leaving_ahead, missing_content, overtaken as overtaken_clusters};
use crate::words::{distinct, enumerate, together};

/// Values shown of a finding about many clusters.
const EVIDENCE_EACH: usize = 12;

/// Findings of the same state of the same object are one finding with all their clusters.
pub fn merge(findings: Vec<Finding>) -> Vec<Finding> {
    let mut merged: BTreeMap<_, Finding> = BTreeMap::new();
    for finding in findings {
        let key = (
            finding.code.clone(),
            finding.subject.clone(),
            finding.stage.clone(),
            finding.severity,
        );
        match merged.get_mut(&key) {
            None => {
                merged.insert(key, finding);
            }
            Some(known) => {
                let clusters = std::mem::take(&mut known.clusters);
                known.clusters = distinct(clusters.into_iter().chain(finding.clusters));
                known.root_cause |= finding.root_cause;
                if !known.message.contains(&finding.message) {
                    known.add_sentence(&finding.message);
                    if let Some(both) = both_first(&known.remedies, &finding.remedies) {
                        known.remedies.insert(0, both);
                    }
                }
                for evidence in finding.evidence {
                    if known.evidence.len() < EVIDENCE_EACH && !known.evidence.contains(&evidence) {
                        known.evidence.push(evidence);
                    }
                }
                add_steps(&mut known.remedies, finding.remedies, PartialEq::eq);
            }
        }
    }
    merged.into_values().collect()
}

/// That both reasons are resolved before a new run, where each is resolved with one.
fn both_first(known: &[Remedy], more: &[Remedy]) -> Option<Remedy> {
    const BOTH: &str = "Resolve each of the reasons before a new run.";
    let makes = |steps: &[Remedy]| steps.iter().any(starts_a_run);
    let is_said = known.first().is_some_and(|it| it.action == BOTH);
    (!is_said && makes(known) && makes(more)).then(|| Remedy::first(BOTH))
}

fn starts_a_run(step: &Remedy) -> bool {
    step.command.as_ref().is_some_and(makes_a_run)
}

/// Adds the steps for another cluster. What comes before a new run there comes before that of the first, which
/// would be made too early otherwise.
fn add_steps(
    known: &mut Vec<Remedy>,
    more: Vec<Remedy>,
    is_known: impl Fn(&Remedy, &Remedy) -> bool,
) {
    let run = more.iter().position(starts_a_run);
    for (at, remedy) in more.into_iter().enumerate() {
        if known.iter().any(|it| is_known(it, &remedy)) {
            continue;
        }
        let first_run = known.iter().position(starts_a_run);
        match first_run.filter(|_| run.is_some_and(|run| at < run)) {
            Some(first_run) => known.insert(first_run, remedy),
            None => known.push(remedy),
        }
    }
}

/// Folds consequences under their causes: a finding whose rule names another as a possible cause,
/// where that other one was made too and applies to the same clusters.
pub fn link(findings: &mut [Finding]) {
    let causes = findings.iter().map(|finding| {
        let possible = rules::find(&finding.code).map_or(&[][..], |rule| rule.caused_by);
        let candidates: Vec<_> = findings
            .iter()
            .filter(|other| possible.contains(&other.code.as_str()))
            .filter(|other| touches(other, finding))
            .filter(|other| other.code != LEFT || !is_refused(finding))
            .collect();
        let explain = explain_together(&candidates, finding);
        let causes = candidates.iter().filter(|_| explain);
        distinct(causes.map(|cause| cause.as_cause()))
    });
    let causes: Vec<Vec<CausedBy>> = causes.collect();
    for (finding, causes) in findings.iter_mut().zip(causes) {
        if !causes.is_empty() {
            finding.root_cause = false;
            finding.caused_by = causes;
        }
    }
}

/// A cluster leaves the fleet.
const LEFT: &str = "FS518";

/// Whether content is refused, which a cluster that leaves does not cause. It may cause FS501: nodes go with it.
fn is_refused(finding: &Finding) -> bool {
    finding.fault == Some(FaultOrigin::Content) && finding.code != "FS501"
}

/// What was found about one workload.
const OF_WORKLOAD: &str = "FS531";

/// Whether a finding concerns a cluster of another one, or one of the two the whole run. What was
/// seen of an object in a member cluster, or about a workload, explains that object and no other.
fn touches(cause: &Finding, consequence: &Finding) -> bool {
    let code = cause.code.as_str();
    let of_object = code == OF_WORKLOAD || member_findings::OF_OBJECTS.contains(&code);
    if of_object && cause.subject != consequence.subject {
        return false;
    }
    cause.clusters.is_empty()
        || consequence.clusters.is_empty()
        || consequence
            .clusters
            .iter()
            .any(|cluster| cause.clusters.contains(cluster))
}

/// Causes explain a consequence when they cover all its clusters together. That a cluster left also
/// explains which one came in its place.
fn explain_together(causes: &[&Finding], consequence: &Finding) -> bool {
    let replaced = |cause: &&Finding| consequence.code == "FS204" && cause.code == "FS205";
    !causes.is_empty()
        && (causes
            .iter()
            .any(|cause| cause.clusters.is_empty() || replaced(cause))
            || consequence
                .clusters
                .iter()
                .all(|cluster| causes.iter().any(|cause| cause.clusters.contains(cluster))))
}

/// The same state of many clusters is one finding: what differs only in the cluster's own object
/// (its MemberCluster, binding or Work) is told once, with all clusters. Findings that name one of
/// them as their cause name the first.
pub fn group(findings: Vec<Finding>) -> Vec<Finding> {
    let mut groups: BTreeMap<_, Vec<Finding>> = BTreeMap::new();
    let mut others = Vec::new();
    for finding in findings {
        let of_cluster = matches!(
            finding.subject.kind.as_str(),
            "MemberCluster" | "ClusterResourceBinding" | "ResourceBinding" | "Work"
        );
        if of_cluster && !finding.clusters.is_empty() {
            let causes = finding.caused_by.iter();
            let causes: Vec<_> = causes.map(|cause| cause.code.clone()).collect();
            let key = (
                finding.code.clone(),
                finding.severity,
                finding.root_cause,
                finding.stage.clone(),
                causes,
                finding.clusters.len(),
            );
            groups.entry(key).or_default().push(finding);
        } else {
            others.push(finding);
        }
    }
    let mut first_of: BTreeMap<CausedBy, CausedBy> = BTreeMap::new();
    for mut group in groups.into_values() {
        group.sort_by(|a, b| a.subject.cmp(&b.subject));
        let mut group = group.into_iter();
        let Some(mut first) = group.next() else {
            continue;
        };
        let own = first.clusters.clone();
        for other in group {
            first_of.insert(other.as_cause(), first.as_cause());
            first.clusters.extend(other.clusters);
            first.caused_by.extend(other.caused_by);
            for evidence in other.evidence {
                if first.evidence.len() < EVIDENCE_EACH {
                    first.evidence.push(evidence);
                }
            }
            let is_known = |known: &Remedy, more: &Remedy| known.command == more.command;
            add_steps(&mut first.remedies, other.remedies, is_known);
        }
        first.clusters.sort();
        first.clusters.dedup();
        let rest = first.clusters.iter();
        let rest = rest.filter(|cluster| !own.contains(cluster));
        let rest: Vec<_> = rest.map(String::as_str).collect();
        if !rest.is_empty() {
            first.message = format!(
                "{}; the same applies to {}.",
                first.message.trim_end_matches('.'),
                enumerate(rest)
            );
        }
        others.push(first);
    }
    for finding in &mut others {
        for cause in &mut finding.caused_by {
            if let Some(first) = first_of.get(cause) {
                *cause = first.clone();
            }
        }
        finding.caused_by.sort();
        finding.caused_by.dedup();
    }
    others
}

/// What a live run fails for when it is checked next.
pub const ENDS_RUN: [&str; 11] = [
    "FS111", "FS112", "FS113", "FS201", "FS202", "FS203", "FS204", "FS205", "FS206", "FS301",
    "FS302",
];

/// That its placement is being deleted.
const DELETED: &str = "FS206";

/// What to decide about before a run goes on, though it does not fail for it at once: from which severity, and
/// why. What ends the run comes first.
#[rustfmt::skip]
const BEFORE_IT_GOES_ON: [(&str, Severity, &str); 16] = [
    ("FS518", Severity::Warning, "the run fails when a cluster in its stages is gone."),
    ("FS209", Severity::Warning, "the run fails when it reaches that gate."),
    ("FS125", Severity::Error, "the run may have an older copy of its strategy."),
    ("FS701", Severity::Warning, "its content was outdated when the run was initialized."),
    ("FS803", Severity::Error, "the run does not bring that content back."),
    ("FS503", Severity::Warning, "further clusters may lack the namespace."),
    ("FS510", Severity::Warning, "the run cannot bring its content to further clusters."),
    ("FS509", Severity::Warning, "the run does not bring its content to the clusters that it names."),
    ("FS512", Severity::Warning, "the run stops at the clusters that it names."),
    ("FS508", Severity::Warning, "the run gets stuck at the clusters that it names."),
    ("FS712", Severity::Warning, "the run gets stuck at the clusters that it names."),
    ("FS530", Severity::Warning, "the run gets stuck at the clusters that it names."),
    ("FS709", Severity::Warning, "the run deletes what further clusters have."),
    ("FS711", Severity::Warning, "the run deletes what further clusters have."),
    ("FS516", Severity::Warning, "the run stalls at the clusters that it names."),
    ("FS517", Severity::Warning, "the run stalls at the clusters that it names."),
];

/// What lets a run continue once it is approved, resumed or started.
const LETS_GO_ON: [&str; 9] = [
    "FS401", "FS402", "FS403", "FS404", "FS405", "FS406", "FS601", "FS602", "FS612",
];

/// What another run has done to a run that rests.
const OVERTAKEN: [&str; 2] = ["FS703", "FS706"];

/// Whether a finding says what another run has done to a run that rests.
pub fn is_overtaken(finding: &Finding) -> bool {
    OVERTAKEN.contains(&finding.code.as_str())
}

/// A run that rests while another one is on its clusters: that is what to decide about. Letting it
/// continue comes after, and where that rolls clusters back, in the form that says so.
pub fn overtaken(findings: &mut [Finding]) {
    let causes: Vec<_> = findings
        .iter()
        .filter(|finding| finding.root_cause && OVERTAKEN.contains(&finding.code.as_str()))
        .map(Finding::as_cause)
        .collect();
    let Some(first) = causes.first() else { return };
    let step = resolve_first(&first.code, ".");
    let back = causes.iter().any(|cause| cause.code == "FS703");
    for finding in findings {
        if !LETS_GO_ON.contains(&finding.code.as_str()) && finding.code != "FS407" {
            continue;
        }
        // It is not why the run waits: nobody has let it continue. It is what to decide about.
        finding.root_cause = false;
        if back {
            mean_it(finding);
        }
        finding.remedies.insert(0, step.clone());
    }
}

/// That a finding comes first, and in the end of the sentence why.
fn resolve_first(code: &str, why: &str) -> Remedy {
    Remedy::first(format!("Resolve {code} first{why}"))
}

/// That findings come first, in one step, and why: those with the same reason together.
fn resolve_all<'b>(
    before: impl Iterator<Item = &'b (&'b str, Severity, &'b str)>,
) -> Option<Remedy> {
    let reasons = together(before.map(|(code, _, why)| (*why, *code)));
    let part = |(at, (why, codes)): (usize, &(&str, Vec<&str>))| {
        let why = match codes.len() {
            1 => (*why).to_owned(),
            _ => why.replace("it names", "they name"),
        };
        match at {
            0 => format!("Resolve {} first: {why}", enumerate(codes)),
            _ => format!("Then {}: {why}", enumerate(codes)),
        }
    };
    let parts: Vec<_> = reasons.iter().enumerate().map(part).collect();
    (!parts.is_empty()).then(|| Remedy::first(parts.join(" ")))
}

/// Steps that let a run continue which our own commands refuse unless it is said that it is meant.
fn mean_it(finding: &mut Finding) {
    for step in finding.remedies.iter_mut().filter(|it| continues(it)) {
        step.command = step.command.take().map(allow_older);
        step.effect = Effect::Disruptive;
    }
}

/// Whether a step lets a run continue.
fn continues(remedy: &Remedy) -> bool {
    remedy.is_our(&["approve", "resume", "run"])
}

/// Where a run cannot pass its next check, that is what to decide about, and nothing that lets it
/// continue helps.
pub fn order_steps(cx: &DiagnosisContext<'_>, findings: &mut [Finding]) {
    let ends = |finding: &Finding| ENDS_RUN.contains(&finding.code.as_str());
    let of_now = |finding: &&Finding| {
        finding.severity == Severity::Warning && finding.caused_by.is_empty() && ends(finding)
    };
    let mut first = distinct(findings.iter().filter(of_now).map(|it| it.code.clone()));
    let fails = cx.outlook.aborts(cx.verdict);
    if first.is_empty() {
        first.extend(fails.map(str::to_owned));
    }
    if cx.verdict == Verdict::Failed {
        order_new_runs(cx, findings);
    } else {
        order_retries(findings);
    }
    if first.is_empty() {
        return order_gates(cx, findings);
    }
    let is_explained = findings.iter().any(|it| first.contains(&it.code));
    let step = step_before_check(cx, &first, is_explained);
    // A deletion is not undone, whenever the controller notices it.
    let is_doomed = fails.is_some() || first.iter().any(|code| code == DELETED);
    let dooms: Vec<_> = findings
        .iter()
        .filter(|it| is_doomed && first.contains(&it.code))
        .flat_map(|it| match it.caused_by.as_slice() {
            [] => vec![it.code.clone()],
            causes => causes.iter().map(|cause| cause.code.clone()).collect(),
        })
        .collect();
    for finding in findings {
        finding.root_cause |= dooms.contains(&finding.code);
        let is_doomed_wait = is_doomed && finding.code == "FS407";
        if !LETS_GO_ON.contains(&finding.code.as_str()) && !is_doomed_wait {
            continue;
        }
        if is_doomed {
            finding.root_cause &= !is_explained;
            finding
                .remedies
                .retain(|remedy| !continues(remedy) && !remedy.is_our(&["stop", "wait"]));
        }
        finding.remedies.insert(0, step.clone());
    }
}

const SAME_CONTENT: &str =
    ": with the same content, a new run stalls at the clusters that it names.";

/// A new run with the content that fails already stalls where the failed one left it.
fn order_new_runs(cx: &DiagnosisContext<'_>, findings: &mut [Finding]) {
    let left = cx.troubles.iter();
    let left = left.filter(|it| it.is_written && !it.was_done);
    let left: Vec<_> = left.map(|it| it.cluster).collect();
    let is_left = |it: &Finding| it.clusters.iter().any(|name| left.contains(&name.as_str()));
    let is_of_content =
        |it: &&Finding| it.severity >= Severity::Warning && !it.root_cause && is_left(it);
    let Some(code) = findings
        .iter()
        .find(is_of_content)
        .map(|it| it.code.clone())
    else {
        return;
    };
    let step = resolve_first(&code, SAME_CONTENT);
    let starts = |it: &Finding| {
        it.remedies
            .iter()
            .any(|step| step.is_our(&["run", "retry"]))
    };
    for finding in findings.iter_mut().filter(|it| it.root_cause && starts(it)) {
        finding.remedies.insert(0, step.clone());
    }
}

/// The same where a run still lives: what is refused for its content is refused again.
fn order_retries(findings: &mut [Finding]) {
    let mut refused = findings.iter();
    let is_refused = |it: &&Finding| it.root_cause && it.fault == Some(FaultOrigin::Content);
    let Some(code) = refused.find(is_refused).map(|it| it.code.clone()) else {
        return;
    };
    let step = resolve_first(&code, SAME_CONTENT);
    for finding in findings.iter_mut().filter(|it| it.code != code) {
        let mut steps = finding.remedies.iter();
        if let Some(at) = steps.position(|step| step.is_our(&["retry"])) {
            finding.remedies.insert(at, step.clone());
        }
    }
}

/// Puts what has to be resolved before what lets a run continue.
fn order_gates(cx: &DiagnosisContext<'_>, findings: &mut [Finding]) {
    let told = |code: &str, least: Severity| {
        let mut grave = findings.iter().filter(|it| it.severity >= least);
        grave.any(|it| it.code == code)
    };
    let before = BEFORE_IT_GOES_ON.iter();
    let before = before.filter(|(code, least, _)| told(code, *least));
    let mut steps: Vec<_> = resolve_all(before).into_iter().collect();
    let rollout = cx.rollout.as_ref();
    let leaving = rollout.map(leaving_ahead).unwrap_or_default();
    let leaving: Vec<_> = leaving.into_iter().map(|(_, binding)| binding).collect();
    steps.extend(until_gone(&leaving));
    // Our own commands refuse to let it continue, or want it said that it is meant.
    let is_held = rollout
        .zip(overrides::holds_ahead(cx))
        .is_some_and(|(rollout, fault)| {
            let next = rollout.reached_next();
            fault.clusters.iter().any(|it| next.contains(&it.as_str()))
        });
    let is_hidden = told("FS125", Severity::Error);
    let is_foreign = told("FS209", Severity::Warning);
    let lacks_content = rollout.and_then(missing_content).is_some();
    let is_refused = is_held || is_hidden || is_foreign || lacks_content;
    let is_overtaken = rollout.is_some_and(|rollout| !overtaken_clusters(rollout).is_empty());
    let gates = findings.iter_mut();
    for gate in gates.filter(|it| LETS_GO_ON.contains(&it.code.as_str())) {
        gate.remedies.retain(|it| !(is_refused && continues(it)));
        if is_overtaken {
            mean_it(gate);
            let first = gate.remedies.first();
            if !first.is_some_and(|it| it.action.starts_with("Resolve ")) {
                gate.remedies.insert(0, resolve_first("FS706", "."));
            }
        }
        gate.remedies.splice(0..0, steps.iter().cloned());
    }
}

/// Bindings of clusters that a run has still to update, and that are being deleted.
pub fn until_gone(bindings: &[&Binding]) -> Option<Remedy> {
    let first = bindings.first()?.object();
    let names: Vec<_> = bindings.iter().map(|it| it.meta.name.as_str()).collect();
    let action = if let [_] = names.as_slice() {
        format!("Wait until {first} is gone: the run fails if it writes that one.")
    } else {
        let (what, are) = outlook::leaving(&names);
        format!("Wait until {what} {are} gone: the run fails if it writes one of those.")
    };
    Some(Remedy::look(
        action,
        steps::wait_until_bindings_gone(bindings),
    ))
}

/// What comes before a check that a run cannot pass: the findings that say why are resolved, or what
/// goes by itself is waited for; where no finding says why, the reason is looked up.
fn step_before_check(cx: &DiagnosisContext<'_>, first: &[String], is_explained: bool) -> Remedy {
    let when = match cx.verdict {
        Verdict::WaitingForApproval => "at the controller's next check".to_owned(),
        verdict => cx.outlook.fails_when(verdict),
    };
    let leaving = cx.outlook.until_gone();
    let untold = cx.outlook.failure().filter(|_| !is_explained);
    let (action, command) = if !leaving.is_empty() {
        let (what, are) = outlook::leaving(leaving);
        let why = "the run fails if the controller checks it before";
        (format!("Wait until {what} {are} gone: {why}."), None)
    } else if let Some(failure) = untold {
        let (why, code) = (essence(&failure.message), failure.code);
        let action = format!("Check why the run fails {when}: `{why}` ({code}).");
        (action, cx.plan_command())
    } else if first == [DELETED] && cx.outlook.aborts(cx.verdict).is_none() {
        let action = format!("Resolve {DELETED} first: the run fails when it is gone.");
        (action, None)
    } else {
        let first = enumerate(first);
        let action = format!("Resolve {first} first: otherwise the run fails {when}.");
        (action, None)
    };
    Remedy::look(action, command)
}

/// Root causes first, then by severity, code and subject.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by(precedence);
}

pub fn precedence(one: &Finding, other: &Finding) -> Ordering {
    fn key(it: &Finding) -> impl Ord {
        (
            !it.root_cause,
            Reverse(it.severity),
            &it.code,
            &it.subject,
            &it.stage,
            &it.clusters,
        )
    }
    key(one).cmp(&key(other))
}

/// A verdict that asks for an explanation has one: where linking left none, the gravest finding
/// that is not a note takes the part.
pub fn ensure_root(findings: &mut [Finding], verdict: Verdict) {
    if !verdict.wants_root_cause() || findings.iter().any(|finding| finding.root_cause) {
        return;
    }
    // What another finding explains is no root; only where all are explained by each other, one is.
    let gravest = findings
        .iter_mut()
        .filter(|finding| finding.severity != Severity::Info)
        .max_by_key(|finding| {
            (
                finding.caused_by.is_empty(),
                finding.severity,
                Reverse(finding.code.clone()),
            )
        });
    if let Some(finding) = gravest {
        finding.root_cause = true;
    }
}

#[cfg(test)]
mod tests {
    use super::{BEFORE_IT_GOES_ON, add_steps, resolve_all};
    use crate::report::Remedy;
    use crate::words::CommandLine;

    #[test]
    fn what_ends_the_run_is_resolved_first_and_equal_reasons_together() {
        let before = BEFORE_IT_GOES_ON.iter();
        let step =
            resolve_all(before.filter(|(code, ..)| ["FS516", "FS517", "FS518"].contains(code)));
        let said = "Resolve FS518 first: the run fails when a cluster in its stages is gone. Then FS516 \
                    and FS517: the run stalls at the clusters that they name.";
        assert_eq!(step.unwrap().action, said);
        assert_eq!(resolve_all([].iter()), None);
    }

    #[test]
    fn what_comes_before_a_new_run_comes_before_the_first() {
        let look = |text: &str| Remedy::look(text, None);
        let run = |name: &str| Remedy::look("Start", CommandLine::fleet("retry").arg(name));
        let actions = |more: Vec<Remedy>| {
            let mut known = vec![look("Wait for a"), run("a")];
            add_steps(&mut known, more, PartialEq::eq);
            known.into_iter().map(|it| it.action).collect::<Vec<_>>()
        };
        let own = vec![look("Wait for b"), run("a")];
        assert_eq!(actions(own), ["Wait for a", "Wait for b", "Start"]);
        let after = vec![run("a"), look("Or ask b")];
        assert_eq!(actions(after), ["Wait for a", "Start", "Or ask b"]);
        let ask = vec![look("Ask b")];
        assert_eq!(actions(ask), ["Wait for a", "Start", "Ask b"]);
    }
}
