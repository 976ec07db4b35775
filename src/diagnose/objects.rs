//! Findings about single objects on member clusters: one way to write them for all rules.

use std::collections::BTreeMap;

use super::context::Context;
use super::failing_cluster::FailingCluster;
use super::ownership;
use super::rules::Rule;
use crate::kubefleet::binding::FieldDifference;
use crate::kubefleet::{ObjectRef, duration};
use crate::report::{Compose, Finding, HubAndMember, Subject, Verdict, WithCondition};
use crate::rollout::{ManifestTrouble, Phase};
use crate::words::{Command, enumerate};

/// How many of the readings of one finding are shown as evidence.
const SHOWN: usize = 3;

/// Makes a finding for every object on a troubled cluster that the rule owns. Objects of the same
/// name on several clusters become one finding. `describe` gives the sentence and adds the remedies.
pub(super) fn per_object(
    cx: &Context<'_>,
    rule: &Rule,
    describe: impl Fn(&Affected<'_, '_>, Finding) -> Finding,
) -> Vec<Finding> {
    let subject = |manifest: &ManifestTrouble<'_>| {
        (ownership::of_manifest(manifest) == Some(rule.code))
            .then(|| Subject::new(manifest.kind, manifest.namespace, manifest.name))
    };
    per_subject(cx, rule, subject, describe)
}

/// Makes a finding for everything that `subject` finds at fault, with all objects and clusters
/// that it concerns.
pub(super) fn per_subject(
    cx: &Context<'_>,
    rule: &Rule,
    subject: impl Fn(&ManifestTrouble<'_>) -> Option<Subject>,
    describe: impl Fn(&Affected<'_, '_>, Finding) -> Finding,
) -> Vec<Finding> {
    let all = cx.troubles.iter().flat_map(|failing| {
        let manifests = failing.trouble.manifests.iter();
        manifests.map(move |manifest| (failing, manifest))
    });
    let found = all.filter_map(|(on, manifest)| Some((subject(manifest)?, on, (on, manifest))));
    grouped(cx, rule, found)
        .into_iter()
        .filter_map(|(mut finding, all)| {
            let affected = Affected::new(cx, all)?;
            for (_, manifest) in affected.all.iter().take(SHOWN) {
                let (object, path) = &manifest.source;
                let value = WithCondition {
                    kind: manifest.kind,
                    namespace: manifest.namespace,
                    name: manifest.name,
                    condition: manifest.condition,
                };
                finding = finding.evidence(object, path, value);
            }
            for failing in affected.on.iter().take(SHOWN) {
                let object = failing.binding.object();
                finding = finding.condition(&object, failing.trouble.condition);
            }
            Some(describe(&affected, finding))
        })
        .collect()
}

/// One finding, still without words, for what is at fault for one subject, in one stage, and
/// explains the verdict or does not.
pub(super) fn grouped<'a, 'i: 'a, X>(
    cx: &Context<'_>,
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
        .map(|((subject, stage, explains), (on, all))| {
            let severity = on.first().map(|first| first.severity(cx.verdict));
            let mut finding = rule
                .finding(subject, String::new())
                .severity(severity.unwrap_or(rule.severity))
                .root_if(explains)
                .clusters(on.iter().map(|failing| failing.cluster));
            finding.stage = stage.map(str::to_owned);
            (finding, all)
        })
        .collect()
}

/// How many differing fields of one object are shown.
const FIELDS: usize = 5;

#[derive(Clone, Copy)]
pub enum Compared {
    /// Changes on the member since it was applied.
    Drift,
    /// Differences between hub and member.
    Diff,
}

impl Compared {
    /// The fields: from the binding, else from the Work, with the object and where they stand.
    fn fields<'i>(
        self,
        cx: &Context<'i>,
        failing: &FailingCluster<'i>,
        manifest: &ManifestTrouble<'i>,
    ) -> Option<(ObjectRef, String, &'i [FieldDifference])> {
        let same = |kind: &str, namespace: &str, name: &str| {
            (kind, namespace, name) == (manifest.kind, manifest.namespace, manifest.name)
        };
        let status = &failing.binding.status;
        let (list, lists) = match self {
            Self::Drift => (
                &status.drifted,
                ("driftedPlacements", "observedDrifts", "driftDetails"),
            ),
            Self::Diff => (
                &status.diffed,
                ("diffedPlacements", "observedDiffs", "diffDetails"),
            ),
        };
        let own = list
            .iter()
            .position(|entry| same(&entry.kind, &entry.namespace, &entry.name));
        if let Some((at, entry)) = own.and_then(|at| Some((at, list.get(at)?))) {
            let fields = match self {
                Self::Drift => &entry.drifts,
                Self::Diff => &entry.diffs,
            };
            if !fields.is_empty() {
                let path = format!("status.{}[{at}].{}", lists.0, lists.1);
                return Some((failing.binding.object(), path, fields));
            }
        }
        cx.inventory.works_of(failing.binding).find_map(|work| {
            work.status
                .manifests
                .iter()
                .enumerate()
                .find_map(|(at, status)| {
                    let id = &status.id;
                    let fields = match self {
                        Self::Drift => &status.drift.as_deref()?.drifts,
                        Self::Diff => &status.diff.as_deref()?.diffs,
                    };
                    let path = format!("status.manifestConditions[{at}].{}.{}", lists.2, lists.1);
                    (same(&id.kind, &id.namespace, &id.name) && !fields.is_empty())
                        .then(|| (work.object(), path, fields.as_slice()))
                })
        })
    }
}

/// What is at fault, and where.
pub struct Affected<'a, 'i> {
    pub cx: &'a Context<'i>,
    /// The first object, on the first of the clusters.
    pub manifest: &'a ManifestTrouble<'i>,
    pub on: Vec<&'a FailingCluster<'i>>,
    pub all: Vec<(&'a FailingCluster<'i>, &'a ManifestTrouble<'i>)>,
}

impl<'a, 'i> Affected<'a, 'i> {
    pub(super) fn new(
        cx: &'a Context<'i>,
        all: Vec<(&'a FailingCluster<'i>, &'a ManifestTrouble<'i>)>,
    ) -> Option<Self> {
        let manifest = all.first()?.1;
        let mut on: Vec<_> = all.iter().map(|(on, _)| *on).collect();
        on.dedup_by_key(|failing| failing.cluster);
        Some(Self {
            cx,
            manifest,
            on,
            all,
        })
    }

    /// `Deployment shop/web (wrapped in ConfigMap shop/envelope)`.
    pub fn object(&self) -> String {
        let object = self.manifest.describe();
        match &self.manifest.envelope {
            Some(envelope) => format!(
                "{object} (wrapped in {} {}/{})",
                envelope.kind, envelope.namespace, envelope.name
            ),
            None => object,
        }
    }

    /// The names of all objects, each once: `Deployment shop/web and Service shop/web`.
    pub fn objects(&self) -> String {
        let names: std::collections::BTreeSet<_> = self
            .all
            .iter()
            .map(|(_, manifest)| manifest.describe())
            .collect();
        enumerate(names)
    }

    /// `member-1`, `member-1 and member-2`, `member-1, member-2, member-3 and 4 more`.
    pub fn clusters(&self) -> String {
        enumerate(self.on.iter().map(|failing| failing.cluster))
    }

    /// ` for 6m12s`, the longest of all, with its leading space; empty when no time is known.
    pub fn lasting(&self) -> String {
        self.on
            .iter()
            .filter_map(|failing| failing.lasting)
            .max()
            .map_or_else(String::new, |lasting| {
                format!(" for {}", duration::describe(lasting))
            })
    }

    /// Whether the object can be deleted without taking other objects or data with it.
    pub fn is_replaceable(&self) -> bool {
        !matches!(
            self.manifest.kind,
            "Namespace"
                | "CustomResourceDefinition"
                | "PersistentVolumeClaim"
                | "PersistentVolume"
                | "MemberCluster"
        )
    }

    /// What to change on the hub: the object itself, or the envelope that wraps it.
    pub fn on_hub(&self) -> String {
        match &self.manifest.envelope {
            Some(envelope) => {
                format!(
                    "the envelope {} {}/{}",
                    envelope.kind, envelope.namespace, envelope.name
                )
            }
            None => self.manifest.describe(),
        }
    }

    /// Adds the fields that differ between hub and member, as far as bindings or Works name them.
    pub fn compared(&self, mut finding: Finding, what: Compared) -> Finding {
        for (failing, manifest) in self.all.iter().take(SHOWN) {
            let Some((object, base, fields)) = what.fields(self.cx, failing, manifest) else {
                continue;
            };
            for (at, field) in fields.iter().enumerate().take(FIELDS) {
                finding = finding.evidence(
                    &object,
                    format!("{base}[{at}]"),
                    HubAndMember {
                        kind: manifest.kind,
                        field,
                    },
                );
            }
        }
        finding
    }

    /// `kubectl --context CONTEXT VERB` in the first of the clusters.
    pub fn on_member(&self, verb: &'static str) -> Command {
        Command::member(self.cluster(), verb)
    }

    /// The first of the clusters: the one that commands inspect.
    pub fn cluster(&self) -> &'i str {
        self.on.first().map_or("", |failing| failing.cluster)
    }

    /// The same about the object, in its namespace: `… -n NAMESPACE VERB KIND NAME`.
    pub fn kubectl(&self, verb: &'static str) -> Command {
        let command = self.on_member(verb).namespace(self.manifest.namespace);
        let kind = self.manifest.kind.to_lowercase();
        command.arg(kind).arg(self.manifest.name)
    }
}

/// Where a repair takes effect.
pub trait Repair: Sized {
    /// Adds what follows a repair on the member clusters: the same run continues by itself.
    #[must_use]
    fn then_continues(self, cx: &Context<'_>) -> Self;

    /// Adds a repair of the content on the hub, which needs a new run: this one keeps its snapshot.
    #[must_use]
    fn new_run(self, cx: &Context<'_>, repair: impl Into<String>) -> Self;
}

impl Repair for Finding {
    fn then_continues(self, cx: &Context<'_>) -> Self {
        let Some(rollout) = cx.rollout.as_ref().filter(|_| cx.verdict == Verdict::Stuck) else {
            return self;
        };
        let then = if rollout.phase == Phase::Stopping {
            "Then wait some minutes: the run stops at the controller's next check. Nothing more is \
             updated until it is resumed."
        } else {
            "Then wait some minutes: the run continues by itself at the controller's next check."
        };
        self.look_with(then, cx.command("diagnose").arg(cx.run_object().name))
    }

    fn new_run(self, cx: &Context<'_>, repair: impl Into<String>) -> Self {
        self.fix_with(repair, cx.new_run_command())
    }
}

/// `member-1`, `member-1 and member-2`, `member-1, member-2, member-3 and 4 more`.
pub(super) fn clusters(on: &[&FailingCluster<'_>]) -> String {
    enumerate(on.iter().map(|failing| failing.cluster))
}

/// A finding about one cluster whose binding shows the trouble.
pub(super) fn on_cluster(
    cx: &Context<'_>,
    rule: &Rule,
    subject: Subject,
    message: String,
    failing: &FailingCluster<'_>,
) -> Finding {
    let mut finding = on_clusters(cx, rule, subject, &[failing]);
    finding.message = message;
    finding
}

/// A finding about clusters in one stage, with what the first of their bindings show. Its message
/// is still to be written.
fn on_clusters(
    cx: &Context<'_>,
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
    for failing in on.iter().take(SHOWN) {
        let binding = failing.binding.object();
        finding = finding.condition(&binding, failing.trouble.condition);
    }
    finding
}

/// Makes a finding for everything that `subject` finds at fault, from the bindings themselves: for
/// troubles that are in no object's condition.
pub(super) fn per_trouble<'a, 'i>(
    cx: &'a Context<'i>,
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
                // One sentence speaks of one text.
                failing.trouble.condition.message.as_str(),
            );
            groups.entry(key).or_default().push(failing);
        }
    }
    groups
        .into_iter()
        .map(|((subject, ..), on)| {
            let finding = on_clusters(cx, rule, subject, &on);
            describe(&on, finding)
        })
        .collect()
}
