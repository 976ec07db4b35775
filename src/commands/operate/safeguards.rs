//! What a run is not let do to the clusters that it would reach, and what is warned of.

use std::collections::BTreeSet;

use crate::change::guard::{self, AcceptedRisks, Guard};
use crate::change::preview::Preview;
use crate::commands::gather::reading::SourceReading;
use crate::commands::operate::refusal;
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::run::UpdateRun;
use crate::problems::members::TroubledMembers;
use crate::problems::{content_sent_late, namespace_undelivered_ahead, put_there, steps};
use crate::report::Finding;
use crate::rollout::content::{
    ContentLoss, GoesBack, MissingContent, emptied, failing_before, leaving_ahead, lost_content,
    missing_content, old_content, overtaken,
};
use crate::rollout::rollback::TakenBack;
use crate::rollout::{Phase, Rollout};
use crate::words::{CommandLine, Hint, capital, enumerate};

/// Refuses where these guards could not see what they need, unless that is accepted.
pub fn seen(
    guards: &[Guard],
    accepted: AcceptedRisks,
    inventory: &Inventory,
    reading: &SourceReading,
) -> Result<(), Error> {
    let unseen = guard::unseen(guards, accepted, &inventory.scope, &inventory.outcomes);
    if unseen.is_empty() {
        return Ok(());
    }
    Err(refusal::unseen(&unseen, &inventory.scope, reading))
}

/// Refuses to let a run go on of which nobody knows yet what it will do, unless that is accepted.
pub fn is_initialized(
    rollout: &Rollout<'_>,
    accepted: AcceptedRisks,
    reading: &SourceReading,
) -> Result<(), Error> {
    if rollout.phase != Phase::Initializing || accepted.older {
        return Ok(());
    }
    let run = rollout.run.object();
    let refused = reading.refused(format!(
        "{run} is not initialized yet: which snapshot its clusters would get is unknown"
    ));
    let hint = Hint::new("wait for it:").command(run.fleet("wait").joined("--for", "initialized"));
    Err(Error {
        exit: Exit::Incomplete,
        ..refused.hint(hint.text("or accept the risk with --allow-older"))
    })
}

/// Refuses to let a run reach clusters that it would block, or at which it may fail, whoever asks:
/// `None` means those that it reaches before somebody has to approve. `held` is what of
/// its content cannot be put together.
pub fn reached(
    rollout: &Rollout<'_>,
    held: &[Finding],
    (clusters, doing): (Option<&[&str]>, &str),
    reading: &SourceReading,
) -> Result<(), Error> {
    let next = rollout.reached_next();
    let clusters = clusters.unwrap_or(&next);
    if rollout.inventory.is_placement_deleting() {
        let placement = &rollout.run.spec.placement;
        let why = format!(
            "{doing} would bring content that KubeFleet removes again: {placement} is being deleted"
        );
        return Err(reading.refused(why).hint(instead(rollout)));
    }
    content(rollout, clusters, doing, reading)?;
    held_content(rollout, held, (clusters, doing), reading)?;
    bindings(rollout, (clusters, doing), reading)
}

/// Refuses what goes by a strategy that the controller may not see as it is.
pub fn sees_strategy(
    hidden: Option<String>,
    accepted: AcceptedRisks,
    reading: &SourceReading,
) -> Result<(), Error> {
    let Some(why) = hidden.filter(|_| !accepted.unseen) else {
        return Ok(());
    };
    let nothing = capital(&reading.record.nothing("sent"));
    let why = why.trim_end_matches('.');
    Err(Error::failed(format!("{why}. {nothing}"))
        .hint("correct that strategy first, or accept the risk with --allow-unseen"))
}

/// Where it is told what to do instead.
fn instead(rollout: &Rollout<'_>) -> Hint {
    Hint::new("what to do instead:").command(rollout.run.object().fleet("diagnose"))
}

/// Content that is gone, or another one by now.
fn content(
    rollout: &Rollout<'_>,
    clusters: &[&str],
    doing: &str,
    reading: &SourceReading,
) -> Result<(), Error> {
    let missing = missing_content(rollout);
    let reached = |it: &MissingContent<'_>| it.clusters.iter().any(|it| clusters.contains(it));
    let Some(missing) = missing.filter(reached) else {
        return Ok(());
    };
    let object = &missing.object;
    let names = enumerate(&missing.clusters);
    let why = match &missing.how {
        ContentLoss::Another => format!(
            "{doing} would bring content to {names} that {} was not made for: {} is another snapshot than the one \
             that it recorded",
            rollout.run.meta.name, object.name
        ),
        ContentLoss::Gone => {
            format!("{doing} would block {names}: {object} no longer exists")
        }
        ContentLoss::Incomplete(flaw) => {
            format!("{doing} would block {names}: of {object}, {flaw}")
        }
    };
    Err(reading.refused(why).hint(instead(rollout)))
}

/// An override that does not fit the content, or an envelope that cannot be opened.
fn held_content(
    rollout: &Rollout<'_>,
    held: &[Finding],
    (clusters, doing): (&[&str], &str),
    reading: &SourceReading,
) -> Result<(), Error> {
    let is_reached = |it: &&Finding| it.clusters.iter().any(|it| clusters.contains(&it.as_str()));
    let Some(held) = held.iter().find(is_reached) else {
        return Ok(());
    };
    let names = enumerate(&held.clusters);
    let how = match held.code.as_str() {
        "FS512" => "cannot be opened",
        _ => "cannot be applied",
    };
    let why = format!("{doing} would block {names}: {} {how}", held.subject);
    Err(reading.refused(why).hint(instead(rollout)))
}

/// A binding that is being deleted, and that KubeFleet may write in place of the new one.
fn bindings(
    rollout: &Rollout<'_>,
    (clusters, doing): (&[&str], &str),
    reading: &SourceReading,
) -> Result<(), Error> {
    let mut leaving = leaving_ahead(rollout);
    leaving.retain(|(cluster, _)| clusters.contains(cluster));
    let Some((cluster, binding)) = leaving.first() else {
        return Ok(());
    };
    let binding = binding.object();
    let why = format!(
        "{doing} may end {}: KubeFleet may write {binding} of {cluster}, which is being deleted",
        rollout.run.meta.name
    );
    let all: Vec<_> = leaving.iter().map(|(_, binding)| *binding).collect();
    let gone = steps::wait_until_bindings_gone(&all);
    Err(reading
        .refused(why)
        .hint(Hint::new("wait until it is gone:").commands(gone)))
}

/// Refuses what would take clusters back to an older snapshot, unless that is wanted. `doing` begins
/// the sentence.
pub fn going_back(
    back: &[GoesBack<'_>],
    rollout: &Rollout<'_>,
    doing: &str,
    accepted: AcceptedRisks,
    reading: &SourceReading,
) -> Result<(), Error> {
    let Some(first) = back.first().filter(|_| !accepted.older) else {
        return Ok(());
    };
    Err(reading
        .refused(format!(
            "{doing} would roll {} back from snapshot {} to {}, because another run rolled out the \
         newer one",
            enumerate(back.iter().map(|back| back.cluster)),
            first.holds,
            rollout.run.status.snapshot_index
        ))
        .hint(
            Hint::new("to do it all the same, use --allow-older; to see what to do instead:")
                .command(rollout.run.object().fleet("diagnose")),
        ))
}

/// What is asked of a run that removes its placement from clusters before anybody is asked again.
pub fn removes(rollout: &Rollout<'_>, verb: &str) -> Option<String> {
    let removed = rollout.removed_next();
    let name = &rollout.run.meta.name;
    (!removed.is_empty()).then(|| asked_of_removal((verb, name), &removed))
}

/// The same of some clusters.
pub fn asked_of_removal<C: AsRef<str>>((verb, run): (&str, &str), clusters: &[C]) -> String {
    let clusters = enumerate(clusters);
    format!("{verb} {run}, which removes the placement from {clusters}?")
}

/// What is asked before a run is started whose snapshot has no objects.
pub fn asked_of_emptying<C: AsRef<str>>(run: &str, clusters: &[C]) -> String {
    let clusters = enumerate(clusters);
    format!("Start {run}, which deletes everything from {clusters}?")
}

/// Refuses to open a gate of a run that ends within seconds, because a cluster ahead is being deleted.
pub fn nobody_leaves(rollout: &Rollout<'_>, reading: &SourceReading) -> Result<(), Error> {
    let mut members = TroubledMembers::ahead(rollout, |_| true);
    members.leaving.retain(|member| member.meta.is_deleting());
    let Some(why) = members.leaving_words() else {
        return Ok(());
    };
    let why = why.trim_end_matches('.');
    Err(reading.refused(why).hint(instead(rollout)))
}

/// Refuses what a script does not let a run do to the clusters that it would reach, `None` meaning all:
/// go on after another run took over those that are done, bring again what was rolled back, and delete everything for a snapshot without
/// objects that nobody named. Returns whether a person is asked.
pub fn unattended(
    rollout: &Rollout<'_>,
    clusters: Option<&[&str]>,
    (is_script, accepted): (bool, AcceptedRisks),
    reading: &SourceReading,
) -> Result<bool, Error> {
    let overtaken = lost_words(rollout).or_else(|| overtaken_words(rollout));
    let overtaken = overtaken.filter(|_| !accepted.older);
    if let Some(why) = overtaken.as_ref().filter(|_| is_script) {
        let diagnose = rollout.run.object().fleet("diagnose");
        return Err(reading.refused(why).hint(
            Hint::new("to send it all the same, use --allow-older; to see which run to continue:")
                .command(diagnose),
        ));
    }
    let run = rollout.run;
    let back = TakenBack::for_run(rollout.inventory, run).filter(|_| !accepted.older);
    if let Some(why) = back.as_ref().filter(|_| is_script) {
        let named = steps::run_in_place(run, &run.status.snapshot_index);
        return Err(unhelpful(
            &run.meta.name,
            (UnhelpfulContent::RolledBack, &why.to_string()),
            named,
            reading,
        ));
    }
    let is_named = rollout.run.pinned().is_some();
    let mut emptied = emptied(rollout);
    emptied.retain(|it| !is_named && clusters.is_none_or(|clusters| clusters.contains(it)));
    if is_script {
        empty(rollout, &emptied, reading)?;
    }
    Ok(overtaken.is_some() || back.is_some() || !emptied.is_empty())
}

/// Refuses to let a run begin with clusters from which it deletes everything, because its snapshot has
/// no objects.
pub fn empty(
    rollout: &Rollout<'_>,
    emptied: &[&str],
    reading: &SourceReading,
) -> Result<(), Error> {
    if emptied.is_empty() {
        return Ok(());
    }
    let run = rollout.run;
    let index = &run.status.snapshot_index;
    Err(would_empty(&run.meta.name, index, emptied, reading))
}

/// What a script does not do, unless somebody named the snapshot.
pub fn would_empty<C: AsRef<str>>(
    run: &str,
    index: &str,
    clusters: &[C],
    reading: &SourceReading,
) -> Error {
    let clusters = enumerate(clusters);
    reading
        .refused(format!(
            "snapshot {index} has no objects: {run} would delete everything from {clusters}"
        ))
        .hint("check what the placement selects; a script needs a run made with --snapshot")
}

/// Refuses to let a script start a run that asked for the current content and got the previous one.
pub fn outdated(rollout: &Rollout<'_>, reading: &SourceReading) -> Result<(), Error> {
    let Some(old) = old_content(rollout.inventory, rollout.run) else {
        return Ok(());
    };
    let (run, index) = (rollout.run.object(), &rollout.run.status.snapshot_index);
    let anew = steps::run_from(rollout.run).switch("--replace");
    let hint = Hint::new("to start it all the same, use --allow-older; for the current content:");
    Err(reading
        .refused(format!(
            "{run} has snapshot {index}, which lacks a change detected at {}",
            old.detected
        ))
        .hint(hint.command(anew)))
}

/// Why a run with its content helps nobody.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum UnhelpfulContent {
    RolledBack,
    /// Clusters have the name of its snapshot already, and are sent nothing.
    NameReused,
}

impl UnhelpfulContent {
    pub const fn would(self) -> &'static str {
        match self {
            Self::RolledBack => "would roll out again what was rolled back",
            Self::NameReused => "would succeed without sending it",
        }
    }

    pub fn asked(self, run: &str) -> String {
        format!("Start {run}, which {}?", self.would())
    }

    /// What to do instead; `named` is the command that names the snapshot.
    pub fn way_out(self, named: CommandLine) -> Hint {
        match self {
            Self::RolledBack => Hint::new(
                "correct the content first; to roll it out all the same, name the snapshot:",
            )
            .command(named),
            Self::NameReused => Hint::new(
                "change the content or the override once more: the next snapshot gets another name, and reaches all \
                 clusters",
            ),
        }
    }
}

/// What a script does not start unless somebody named the snapshot, as `named` does.
pub fn unhelpful(
    run: &str,
    (content, why): (UnhelpfulContent, &str),
    named: CommandLine,
    reading: &SourceReading,
) -> Error {
    let refused = reading.refused(format!("{run} {}: {why}", content.would()));
    refused.hint(content.way_out(named))
}

/// What a script does not do without being told: a run deletes what nobody may have meant.
pub fn too_far(run: &str, why: &str, reading: &SourceReading) -> Error {
    reading.refused(format!("{run} would go too far: {why}"))
}

/// What a script does not do either: a namespace goes with everything in it, and a definition of custom
/// resources with all its objects.
pub fn would_delete(run: &str, lost: &str, reading: &SourceReading) -> Error {
    too_far(run, lost, reading).hint(
        "check that it exists on the hub, that the placement brings it as before, and that no override \
         deletes it; a script needs a run made with --snapshot",
    )
}

/// What to do first where an earlier run had other overrides, which no rollback brings back.
pub fn restore_overrides(now: &UpdateRun, before: &UpdateRun) -> Option<Hint> {
    let [had, has] = [before, now].map(|run| run.override_names().collect::<BTreeSet<_>>());
    let names = |of: &BTreeSet<ObjectRef>, without: &BTreeSet<ObjectRef>| {
        enumerate(of.difference(without).map(ToString::to_string))
    };
    if had == has {
        return None;
    }
    let restore = format!(
        "restore the overrides first: {} had {}, {} has {}",
        before.meta.name,
        names(&had, &has),
        now.meta.name,
        names(&has, &had)
    );
    Some(match had.difference(&has).next() {
        Some(lost) => Hint::new(format!("{restore}; see what was there:"))
            .command(lost.kubectl("get").flag("-o", "yaml")),
        None => Hint::new(restore),
    })
}

/// What is not done once a run has come that nobody was shown.
pub fn not_alone(placement: &str, arrived: &str, reading: &SourceReading) -> Error {
    reading.refused(format!(
        "someone else created a run on {placement} in the meantime: {arrived}"
    ))
}

/// What a script does not start: Kubernetes would refuse an object, or clusters fail with it already.
pub fn would_be_stuck(run: &str, why: &str, reading: &SourceReading) -> Error {
    reading.refused(format!("{run} would be stuck: {why}"))
}

/// What a script does not do: the write makes KubeFleet check a run at once which it then aborts, and
/// until then the cause may be undone.
pub fn would_abort(run: &ObjectRef, why: &str, reading: &SourceReading) -> Error {
    let hint = Hint::new("see what can be undone before:").command(run.fleet("diagnose"));
    reading.refused(why).hint(hint)
}

/// Warns of clusters that count as done and do not have what the run brought there any more.
pub fn warn_of_lost(rollout: &Rollout<'_>, preview: &mut Preview) {
    preview.warnings(lost_words(rollout));
    preview.warnings(overtaken_words(rollout));
    let back = TakenBack::for_run(rollout.inventory, rollout.run);
    preview.warnings(back.map(|back| back.to_string()));
    let emptied = emptied(rollout);
    if !emptied.is_empty() {
        preview.warning(&format!(
            "snapshot {} has no objects: {} deletes everything from {}",
            rollout.run.status.snapshot_index,
            rollout.run.meta.name,
            enumerate(emptied)
        ));
    }
}

/// That clusters which count as done have nothing of the run any more; `None` where all have.
fn lost_words(rollout: &Rollout<'_>) -> Option<String> {
    let lost: Vec<_> = lost_content(rollout).iter().map(|it| it.0.name).collect();
    (!lost.is_empty()).then(|| {
        let lost = enumerate(lost);
        format!("{lost} lost what the run had brought: their bindings were created again")
    })
}

/// That clusters which count as done have another run's snapshot; `None` where none has.
fn overtaken_words(rollout: &Rollout<'_>) -> Option<String> {
    let overtaken = overtaken(rollout);
    let (verb, has) = match overtaken.len() {
        0 => return None,
        1 => ("counts", "has"),
        _ => ("count", "have"),
    };
    let then = if rollout.still_to_reach().next().is_some() {
        let index = &rollout.run.status.snapshot_index;
        format!(": the next clusters get snapshot {index} all the same")
    } else {
        String::new()
    };
    Some(format!(
        "{} {verb} as done, but {has} {} of another run{then}",
        enumerate(overtaken.iter().map(|it| it.cluster)),
        put_there(overtaken.iter().map(|it| it.index), [""; 0]),
    ))
}

/// Warns of clusters that leave the fleet, or whose agents are silent: of those that the run is to reach next, where
/// `None` means all, and then of those behind another gate.
pub fn warn_of_members(rollout: &Rollout<'_>, clusters: Option<&[&str]>, preview: &mut Preview) {
    let is_next = |name: &str| clusters.is_none_or(|all| all.contains(&name));
    let members = TroubledMembers::ahead(rollout, is_next);
    let ahead = rollout.still_to_reach().map(|it| it.name);
    let late = content_sent_late(rollout.inventory, ahead.filter(|name| is_next(name)));
    let late = late.map(|it| it.message);
    let now: Vec<_> = troubles(&members).collect();
    let later = TroubledMembers::ahead(rollout, |name| !is_next(name));
    let later = troubles(&later).filter(|why| !now.contains(why));
    let later: Vec<_> = later
        .map(|why| format!("after the next gate: {why}"))
        .collect();
    let failing = failing_before(rollout);
    for why in now.into_iter().chain(late).chain(failing).chain(later) {
        preview.warning(why.trim_end_matches('.'));
    }
}

/// What is wrong with clusters, whatever they are to get.
fn troubles(members: &TroubledMembers<'_>) -> impl Iterator<Item = String> {
    let leaving = members.leaving_words().into_iter();
    let silent = leaving.chain(members.silence_words());
    silent.chain(members.unhealthy_words())
}

/// Warns of what the run comes to: gates that somebody has approved already, where nobody is asked;
/// overrides that hold it, and such that it leaves out.
pub fn warn_of_ahead(rollout: &Rollout<'_>, held: &[Finding], preview: &mut Preview) {
    let gates = rollout.gates();
    preview.warnings(gates.filter_map(|gate| gate.approved_ahead_words(rollout.run)));
    let missing = missing_content(rollout).map(|it| it.describe());
    preview.warnings(missing.as_ref().map(|it| it.trim_end_matches('.')));
    preview.warnings(held.iter().map(|it| &it.message));
    let without = namespace_undelivered_ahead(rollout);
    preview.warnings(without.as_ref().map(|it| it.message.trim_end_matches('.')));
    preview.warnings(diagnose::overrides_changed(rollout.inventory));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rollout::life::tests::{inventory, member, placement, run};

    #[test]
    fn a_silent_cluster_behind_the_next_gate_is_told_apart() {
        let mut own = run("web", "0", [Some(1_100), Some(1_110), None, None]);
        let stages = own["status"]["stagesStatus"].as_array_mut().unwrap();
        stages.push(json!({"stageName": "prod", "clusters": [{"clusterName": "member-2"}]}));
        let members = [member("member-1", 8_990), member("member-2", 8_000)];
        let all = inventory(&[&[own, placement()][..], &members].concat());
        let rollout = Rollout::of(&all, all.run_on("web").unwrap());
        let told = |clusters: Option<&[&str]>| {
            let mut preview = Preview::default();
            warn_of_members(&rollout, clusters, &mut preview);
            format!("{:?}", preview.said())
        };
        let silent = "the agent of member-2 last reported 16m40s ago";
        assert!(told(None).contains(silent) && !told(None).contains("gate"));
        assert!(told(Some(&["member-1"])).contains(&format!("after the next gate: {silent}")));
        assert!(told(Some(&["member-2"])).contains(silent));
        assert!(!told(Some(&["member-2"])).contains("gate"));
    }
}
