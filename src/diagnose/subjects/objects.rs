//! Findings about single objects on member clusters: one way to write them for all rules.

use std::collections::BTreeMap;

use crate::diagnose::subjects::affected::AffectedObject;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::overrides;
use crate::diagnose::subjects::ownership;
use crate::diagnose::subjects::rule::Rule;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::messages::BindingProblem;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::problems::{self, steps};
use crate::report::{ComposeText, FaultOrigin, Finding, Subject, Verdict};
use crate::rollout::overrides::{selector_of, selectors, selectors_path, successor};
use crate::rollout::sent::sent_namesakes;
use crate::rollout::{ManifestTrouble, Phase};
use crate::words::{CommandLine, enumerate};

/// How many of the readings of one finding are shown as evidence.
const SHOWN: usize = 3;

/// Makes a finding for every object on a troubled cluster that the rule owns. Objects of the same
/// name on several clusters become one finding. `describe` gives the sentence and adds the remedies.
pub fn per_object(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    describe: impl Fn(&AffectedObject<'_, '_>, Finding) -> Finding,
) -> Vec<Finding> {
    let subject = |manifest: &ManifestTrouble<'_>| {
        (ownership::of_manifest(manifest) == Some(rule.code)).then(|| manifest.into())
    };
    per_subject(cx, rule, subject, describe)
}

/// Makes a finding for everything that `subject` finds at fault, with all objects and clusters
/// that it concerns.
pub fn per_subject(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    subject: impl Fn(&ManifestTrouble<'_>) -> Option<Subject>,
    describe: impl Fn(&AffectedObject<'_, '_>, Finding) -> Finding,
) -> Vec<Finding> {
    let all = cx.troubles.iter().flat_map(|failing| {
        let manifests = failing.trouble.manifests.iter();
        manifests.map(move |manifest| (failing, manifest))
    });
    let found = all.filter_map(|(on, manifest)| Some((subject(manifest)?, on, (on, manifest))));
    grouped(cx, rule, found)
        .into_iter()
        .filter_map(|(mut finding, all)| {
            let affected = AffectedObject::new(cx, all)?;
            for (_, manifest) in affected.all.iter().take(SHOWN) {
                let (object, path) = &manifest.source;
                finding = finding.evidence(object, path, manifest);
            }
            let finding = describe(&affected, conditions(&affected.on, finding));
            Some(with_override(&affected, finding))
        })
        .collect()
}

/// Adds the override that changes the object, or one that did, where the content is at fault.
pub fn with_override(affected: &AffectedObject<'_, '_>, finding: Finding) -> Finding {
    if finding.fault != Some(FaultOrigin::Content) {
        return finding;
    }
    match outdated_override(affected) {
        Some(outdated) => made_with(affected, outdated, finding),
        None => overridden(affected, finding),
    }
}

fn overridden(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    let Some((manifest, clusters, over, at)) = affected.overridden() else {
        return finding;
    };
    let origin = problems::overridden(over).to_string();
    let object = manifest.describe();
    let it = if affected.has_several() {
        &object
    } else {
        "it"
    };
    let path = format!("{}[{at}]", selectors_path(over));
    finding.add_sentence(&format!(
        "{origin} changes {it} for {}.",
        enumerate(clusters)
    ));
    finding = finding
        .evidence(over.object(), path, selectors(over).get(at))
        .look_with(
            format!("Check {origin} first. If the value comes from it, correct it, not {object}."),
            steps::see_override(over),
        );
    finding.remedies.rotate_right(1);
    finding
}

/// An override that was deleted or changed after a cluster had got content with it: the cluster, the snapshot with
/// which the content was made, and the one that the override has now.
type OutdatedOverride<'i> = (&'i str, ObjectRef, Option<&'i OverrideSnapshot>);

/// Adds it, and that the content is not made again.
fn made_with(
    affected: &AffectedObject<'_, '_>,
    (cluster, was, now): OutdatedOverride<'_>,
    mut finding: Finding,
) -> Finding {
    let (how, step) = match now {
        Some(now) if now.meta.name == was.name => (
            "which was deleted and created again since: a run with it sends nothing new".to_owned(),
            "Change the override once more, if the fault came from it, and start a new run: its next snapshot gets \
             another name.",
        ),
        Some(now) => (
            format!(
                "of which {} is the latest now: only a new run makes it again",
                now.meta.name
            ),
            "Start a new run, which takes the override as it is now, if the fault came from it.",
        ),
        None => (
            "whose override is gone: only a new run makes it again".to_owned(),
            "Start a new run, which goes without that override, if the fault came from it.",
        ),
    };
    finding.add_sentence(&format!(
        "The content for {cluster} was made with {was}, {how}."
    ));
    finding = match now {
        Some(now) => finding.created(now.object(), now.meta.created),
        None => finding.absent(was),
    };
    finding = finding.fix_with(step, affected.cx.new_run_command());
    finding.remedies.rotate_right(1);
    finding
}

/// The first override of the affected clusters that is not as it was when their content was made.
fn outdated_override<'i>(affected: &AffectedObject<'_, 'i>) -> Option<OutdatedOverride<'i>> {
    affected.all.iter().find_map(|(failing, manifest)| {
        let (was, now) = outdated_of(affected.cx, failing, &manifest.identity())?;
        Some((failing.cluster, was, now))
    })
}

fn outdated_of<'i>(
    cx: &DiagnosisContext<'i>,
    failing: &FailingCluster<'i>,
    object: &ManifestIdentity,
) -> Option<(ObjectRef, Option<&'i OverrideSnapshot>)> {
    let inventory = cx.inventory;
    // A run that brings another one is what makes the content again.
    let run = cx.run().map(UpdateRun::updated_clusters);
    let recorded = run.and_then(|mut all| all.find(|it| it.name == failing.cluster));
    let keeps = |name: &ObjectRef| {
        recorded.is_none_or(|recorded| recorded.override_names().any(|it| it == *name))
    };
    let names = failing.binding.spec.override_names().filter(keeps);
    let mut names = names.peekable();
    names.peek()?;
    let again = sent_namesakes(inventory, failing.binding).map(|it| it.now);
    let again: Vec<_> = again.unwrap_or_default();
    let mut outdated = names.filter_map(|name| {
        let latest = &inventory.overrides.items;
        let created_again = again.iter().any(|(it, _)| *it == name);
        let now = if created_again {
            latest
                .iter()
                .map(AsRef::as_ref)
                .find(|it| it.object() == name)
        } else {
            successor(latest, &name.namespace, &name.name)
        };
        let is_meant = match now {
            Some(now) => selector_of(now, object).is_some(),
            None => overrides::is_deleted(inventory, &(&name).into()),
        };
        is_meant.then_some((name, now))
    });
    outdated.next()
}

/// One finding, still without words, for what is at fault for one subject, in one stage, and
/// explains the verdict or does not.
pub fn grouped<'a, 'i: 'a, X>(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    found: impl Iterator<Item = (Subject, &'a FailingCluster<'i>, X)>,
) -> Vec<(Finding, Vec<X>)> {
    let mut groups: BTreeMap<_, (Vec<&FailingCluster<'_>>, Vec<X>)> = BTreeMap::new();
    for (subject, failing, one) in found {
        let key = (subject, failing.stage, failing.explains(cx.verdict));
        let group = groups.entry(key).or_default();
        group.0.push(failing);
        group.1.push(one);
    }
    groups
        .into_iter()
        .map(|((subject, ..), (on, all))| (on_clusters(cx, rule, subject, &on), all))
        .collect()
}

/// A repair of the content, and that it is rolled out: a run keeps its snapshot.
pub fn rolled_out(cx: &DiagnosisContext<'_>, repair: &str) -> String {
    let keeps = match cx.run() {
        Some(_) => ": this one keeps its snapshot",
        None => "",
    };
    format!("{repair} and roll it out with a new run{keeps}.")
}

/// A repair of the content where no update run is needed.
const BY_ITSELF: &str = "Correct the content on the hub, if that is the cause: KubeFleet rolls a change of \
     this placement out by itself.";

/// What follows a repair, by where it takes effect.
impl Finding {
    /// Adds what follows a repair on the member clusters: the same run continues by itself.
    pub(crate) fn then_continues(self, cx: &DiagnosisContext<'_>) -> Self {
        let continues = cx.verdict == Verdict::Stuck && cx.outlook.fails().is_none();
        let Some(rollout) = cx.rollout.as_ref().filter(|_| continues) else {
            return self;
        };
        // Source: workapplier/backoff.go; updaterun/controller.go:Reconcile, execution.go:execute.
        let then = if rollout.phase == Phase::Stopping {
            "Then wait: the run stops by itself, and updates nothing more until it is resumed. \
             KubeFleet's agents check at growing intervals, each up to 17 minutes."
        } else if rollout.current_stage().is_some_and(|it| it.deletes) {
            "Then wait: the run continues by itself. The controller checks a deletion stage every 15 s."
        } else if rollout.state_ignored {
            "Then wait: the run continues by itself. KubeFleet's agents check at growing intervals, \
             each up to 17 minutes."
        } else {
            "Then wait: the run continues by itself. KubeFleet's agents check at growing intervals, \
             each up to 17 minutes. Once the cluster is healthy, stop and resume the run to make the \
             controller check at once."
        };
        self.look_with(then, cx.command("diagnose").arg(cx.run_object().name))
    }

    /// Adds a repair of the content on the hub, which needs a new run, unless KubeFleet rolls out changes by
    /// itself.
    pub(crate) fn new_run(self, cx: &DiagnosisContext<'_>, repair: impl Into<String>) -> Self {
        let repair = repair.into();
        if cx.rolls_out_by_itself() {
            return self.fix(BY_ITSELF);
        }
        match cx.run().and_then(|run| run.pinned()) {
            Some(index) => self.fix(format!(
                "{repair} {} pinned snapshot {index}: a run without --snapshot brings all that the hub \
                 has by then.",
                cx.run_object().name
            )),
            None => self.fix_with(repair, cx.new_content_command()),
        }
    }

    /// The same for an object, which stands for the `{}` in the words.
    pub(crate) fn repair_on_hub(self, affected: &AffectedObject<'_, '_>, words: &str) -> Self {
        self.new_run(affected.cx, words.replace("{}", &affected.on_hub()))
    }

    /// Adds a repair on the member clusters, and the one of the object on the hub that may be made instead.
    pub(crate) fn repair_there_or_on_hub(
        self,
        affected: &AffectedObject<'_, '_>,
        there: impl Into<String>,
        on_hub: &str,
    ) -> Self {
        let there = self.fix(there).then_continues(affected.cx);
        there.repair_on_hub(affected, on_hub)
    }

    /// The same for a repair that does not say how it gets to the clusters.
    pub(crate) fn roll_out(self, cx: &DiagnosisContext<'_>, repair: &str) -> Self {
        self.new_run(cx, rolled_out(cx, repair))
    }

    /// Adds that the object is deleted where that is possible, so that KubeFleet creates its own.
    pub(crate) fn replaced_there(self, affected: &AffectedObject<'_, '_>) -> Self {
        if !affected.is_replaceable() || affected.has_several() {
            return self;
        }
        let action = format!(
            "Or delete {} on {}, if nothing else needs it and a gap of up to 15 minutes is acceptable: the \
             agent then creates its own.",
            affected.manifest.describe(),
            affected.one_by_one()
        );
        // What was there before belongs to somebody.
        let ours = ownership::of_manifest(affected.manifest) != Some("FS506");
        self.disrupt_with(action, ours.then(|| affected.kubectl("delete")))
            .then_continues(affected.cx)
    }

    /// Adds that the member rejects the manifest itself, and what helps then.
    /// Source: workapplier/drift_detection_takeover.go:partialDiffBetweenManifestAndInMemberClusterObjects.
    pub(crate) fn manifest_rejected(mut self, affected: &AffectedObject<'_, '_>) -> Self {
        self.add_sentence(
            "The API server there rejects the manifest as invalid, so that all fields were compared.",
        );
        self.fault = Some(FaultOrigin::Content);
        self.repair_on_hub(
            affected,
            "Fix {} on the hub until the API server there accepts it, or rename the object where a field \
             is immutable, and roll it out with a new run.",
        )
        .replaced_there(affected)
    }

    /// Adds a repair of how the content is applied, which needs a new run with the same content.
    pub(crate) fn same_content(self, cx: &DiagnosisContext<'_>, repair: impl Into<String>) -> Self {
        self.fix_with(repair, cx.new_run_command())
    }

    /// Adds the step after what ends a run: a new one takes its place.
    pub(crate) fn next_run(mut self, cx: &DiagnosisContext<'_>, action: impl Into<String>) -> Self {
        if cx.awaits_scheduler() {
            self = self.look_with(
                "Check whether the scheduler has placed the clusters: plan shows no refusal then.",
                cx.plan_command(),
            );
        }
        self.fix_with(action, cx.new_run_command())
    }
}

/// `member-1`, `member-1 and member-2`, `member-1, member-2, member-3 and 4 more`.
pub fn clusters(on: &[&FailingCluster<'_>]) -> String {
    enumerate(on.iter().map(|failing| failing.cluster))
}

/// Lists the placement's Works for some clusters: in one namespace where it is one cluster.
pub fn list_works(cx: &DiagnosisContext<'_>, on: &[&FailingCluster<'_>]) -> CommandLine {
    match on {
        [one] => steps::works_for(&cx.placement_object(), one.cluster),
        _ => steps::works_of(&cx.placement_object()),
    }
}

/// A finding about one cluster whose binding shows the trouble.
pub fn on_cluster(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    subject: Subject,
    message: String,
    failing: &FailingCluster<'_>,
) -> Finding {
    let mut finding = on_clusters(cx, rule, subject, &[failing]);
    finding.message = message;
    conditions(&[failing], finding)
}

/// A finding about clusters in one stage, still without words.
fn on_clusters(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    subject: Subject,
    on: &[&FailingCluster<'_>],
) -> Finding {
    let first = on.first();
    let severity = first.map_or(rule.severity, |first| first.severity(cx.verdict));
    let explains = first.is_some_and(|first| first.explains(cx.verdict));
    let mut finding = rule
        .finding(subject, String::new())
        .severity(severity)
        .root_if(explains)
        .clusters(on.iter().map(|failing| failing.cluster));
    finding.stage = first.and_then(|first| first.stage).map(str::to_owned);
    finding
}

/// Adds what the first bindings show.
fn conditions(on: &[&FailingCluster<'_>], finding: Finding) -> Finding {
    on.iter().take(SHOWN).fold(finding, |finding, failing| {
        finding.condition(&failing.binding.object(), failing.trouble.condition)
    })
}

/// A text without the name of the cluster that it is about.
fn without_name(text: &str, cluster: &str) -> String {
    let words = text.split(' ').filter(|word| *word != cluster);
    words.collect::<Vec<_>>().join(" ")
}

/// Makes a finding for what keeps Works from being written, where the rule speaks of that. `describe` is
/// given the first of the clusters, and what its binding says.
pub fn per_binding_problem<'a, 'i>(
    cx: &'a DiagnosisContext<'i>,
    rule: &Rule,
    subject: impl Fn(&FailingCluster<'i>, &BindingProblem) -> Option<Subject>,
    describe: impl Fn(
        &'a FailingCluster<'i>,
        &'a BindingProblem,
        &[&'a FailingCluster<'i>],
        Finding,
    ) -> Finding,
) -> Vec<Finding> {
    let own = |failing: &FailingCluster<'i>| {
        let problem = failing.trouble.problem.as_ref()?;
        let is_own = ownership::of_binding(problem) == rule.code;
        is_own.then(|| subject(failing, problem))?
    };
    per_trouble(cx, rule, own, |on, finding| {
        let first = on.first().copied();
        match first.and_then(|first| Some((first, first.trouble.problem.as_ref()?))) {
            Some((first, problem)) => describe(first, problem, on, finding),
            None => finding,
        }
    })
}

/// Makes a finding for everything that `subject` finds at fault, from the bindings themselves: for
/// troubles that are in no object's condition.
pub fn per_trouble<'a, 'i>(
    cx: &'a DiagnosisContext<'i>,
    rule: &Rule,
    subject: impl Fn(&FailingCluster<'i>) -> Option<Subject>,
    describe: impl Fn(&[&'a FailingCluster<'i>], Finding) -> Finding,
) -> Vec<Finding> {
    let mut groups: BTreeMap<_, Vec<&FailingCluster<'_>>> = BTreeMap::new();
    for failing in &cx.troubles {
        if let Some(subject) = subject(failing) {
            let key = (
                subject,
                failing.stage,
                failing.explains(cx.verdict),
                // One sentence speaks of one text, whichever cluster it names.
                without_name(&failing.trouble.condition.message, failing.cluster),
            );
            groups.entry(key).or_default().push(failing);
        }
    }
    let groups = groups.into_iter().map(|((subject, ..), on)| {
        let finding = on_clusters(cx, rule, subject, &on);
        describe(&on, conditions(&on, finding))
    });
    groups.collect()
}
