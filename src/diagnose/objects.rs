//! Findings about single objects on member clusters: one way to write them for all rules.

use super::context::Context;
use super::rules::Rule;
use super::troubled::Troubled;
use crate::kubefleet::binding::FieldDifference;
use crate::kubefleet::{ObjectRef, duration};
use crate::report::{Build, Finding, HubAndMember, Subject, Verdict, WithCondition};
use crate::rollout::{ManifestTrouble, Phase};
use crate::words::{Command, enumerate};

/// How many of the readings of one finding are shown as evidence.
const SHOWN: usize = 3;

/// Makes a finding for every object on a troubled cluster whose problem `matches`. Objects of the
/// same name on several clusters become one finding. `describe` gives the sentence and adds the
/// remedies.
pub(super) fn per_object(
    cx: &Context<'_>,
    rule: &Rule,
    matches: impl Fn(&ManifestTrouble<'_>) -> bool,
    describe: impl Fn(&Affected<'_, '_>, Finding) -> Finding,
) -> Vec<Finding> {
    let subject = |manifest: &ManifestTrouble<'_>| {
        matches(manifest).then(|| Subject::new(manifest.kind, manifest.namespace, manifest.name))
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
    let mut groups: std::collections::BTreeMap<_, Vec<(&Troubled<'_>, &ManifestTrouble<'_>)>> =
        std::collections::BTreeMap::new();
    for troubled in &cx.troubles {
        for manifest in &troubled.trouble.manifests {
            let Some(subject) = subject(manifest) else {
                continue;
            };
            let key = (subject, troubled.stage, troubled.explains(cx.verdict));
            groups.entry(key).or_default().push((troubled, manifest));
        }
    }
    groups
        .into_iter()
        .filter_map(|((subject, stage, explains), group)| {
            let (first, manifest) = *group.first()?;
            let mut on: Vec<_> = group.iter().map(|(on, _)| *on).collect();
            on.dedup_by_key(|troubled| troubled.cluster);
            let affected = Affected {
                cx,
                manifest,
                on,
                all: group,
            };
            let mut finding = rule
                .finding(subject, String::new())
                .severity(first.severity(cx.verdict))
                .root_if(explains)
                .clusters(affected.on.iter().map(|troubled| troubled.cluster));
            finding.stage = stage.map(str::to_owned);
            for (_, manifest) in affected.all.iter().take(SHOWN) {
                finding = finding.evidence(
                    &manifest.source.0,
                    manifest.source.1.clone(),
                    WithCondition {
                        kind: manifest.kind,
                        namespace: manifest.namespace,
                        name: manifest.name,
                        condition: manifest.condition,
                    },
                );
            }
            for troubled in affected.on.iter().take(SHOWN) {
                finding = finding.condition(&troubled.binding.object(), troubled.trouble.condition);
            }
            Some(describe(&affected, finding))
        })
        .collect()
}

/// How many differing fields of one object are shown.
const FIELDS: usize = 5;

/// What an object is compared for.
#[derive(Clone, Copy)]
pub(super) enum Compared {
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
        troubled: &Troubled<'i>,
        manifest: &ManifestTrouble<'i>,
    ) -> Option<(ObjectRef, String, &'i [FieldDifference])> {
        let same = |kind: &str, namespace: &str, name: &str| {
            (kind, namespace, name) == (manifest.kind, manifest.namespace, manifest.name)
        };
        let status = &troubled.binding.status;
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
                return Some((troubled.binding.object(), path, fields));
            }
        }
        cx.inventory.works_of(troubled.binding).find_map(|work| {
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
pub(super) struct Affected<'a, 'i> {
    /// The case.
    pub cx: &'a Context<'i>,
    /// The first object, on the first of the clusters.
    pub manifest: &'a ManifestTrouble<'i>,
    /// The clusters, each once.
    pub on: Vec<&'a Troubled<'i>>,
    /// Every object on every cluster.
    pub all: Vec<(&'a Troubled<'i>, &'a ManifestTrouble<'i>)>,
}

impl Affected<'_, '_> {
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
        enumerate(self.on.iter().map(|troubled| troubled.cluster))
    }

    /// ` for 6m12s`, the longest of all, with its leading space; empty when no time is known.
    pub fn lasting(&self) -> String {
        self.on
            .iter()
            .filter_map(|troubled| troubled.lasting)
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
        for (troubled, manifest) in self.all.iter().take(SHOWN) {
            let Some((object, base, fields)) = what.fields(self.cx, troubled, manifest) else {
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
        let first = self.on.first().map_or("", |troubled| troubled.cluster);
        Command::member(first, verb)
    }

    /// The same about the object, in its namespace: `… -n NAMESPACE VERB KIND NAME`.
    pub fn kubectl(&self, verb: &'static str) -> Command {
        let command = self.on_member(verb).namespace(self.manifest.namespace);
        let kind = self.manifest.kind.to_lowercase();
        command.arg(kind).arg(self.manifest.name)
    }

    /// Adds what follows a repair on the member clusters: the same run continues by itself.
    pub fn goes_on(&self, finding: Finding) -> Finding {
        goes_on(self.cx, finding)
    }

    /// Adds what follows a repair of the content on the hub: a new run, for this one keeps its
    /// snapshot.
    pub fn new_run(&self, finding: Finding, repair: impl Into<String>) -> Finding {
        finding.fix_with(repair, self.cx.new_run_command())
    }
}

/// Adds what follows a repair on the member clusters: the same run continues by itself.
pub(super) fn goes_on(cx: &Context<'_>, finding: Finding) -> Finding {
    let Some(rollout) = cx.rollout.as_ref().filter(|_| cx.verdict == Verdict::Stuck) else {
        return finding;
    };
    let then = if rollout.phase == Phase::Stopping {
        "Then wait some minutes: the run stops at the controller's next check. Nothing more is \
         updated until it is resumed."
    } else {
        "Then wait some minutes: the run continues by itself at the controller's next check."
    };
    finding.look_with(then, cx.command("diagnose").arg(cx.run_object().name))
}

/// `member-1`, `member-1 and member-2`, `member-1, member-2, member-3 and 4 more`.
pub(super) fn clusters(on: &[&Troubled<'_>]) -> String {
    enumerate(on.iter().map(|troubled| troubled.cluster))
}

/// A finding about one cluster whose binding shows the trouble.
pub(super) fn on_cluster(
    cx: &Context<'_>,
    rule: &Rule,
    subject: Subject,
    message: String,
    troubled: &Troubled<'_>,
) -> Finding {
    let mut finding = on_clusters(cx, rule, subject, &[troubled]);
    finding.message = message;
    finding
}

/// A finding about clusters in one stage, with what the first of their bindings show. Its message
/// is still to be written.
fn on_clusters(cx: &Context<'_>, rule: &Rule, subject: Subject, on: &[&Troubled<'_>]) -> Finding {
    let first = on.first();
    let severity = first.map_or(rule.severity, |first| first.severity(cx.verdict));
    let explains = first.is_some_and(|first| first.explains(cx.verdict));
    let mut finding = rule
        .finding(subject, String::new())
        .severity(severity)
        .root_if(explains)
        .clusters(on.iter().map(|troubled| troubled.cluster));
    finding.stage = first.and_then(|first| first.stage).map(str::to_owned);
    for troubled in on.iter().take(SHOWN) {
        let binding = troubled.binding.object();
        finding = finding.condition(&binding, troubled.trouble.condition);
    }
    finding
}

/// Makes a finding for everything that `subject` finds at fault, from the bindings themselves: for
/// troubles that are in no object's condition.
pub(super) fn per_trouble<'a, 'i>(
    cx: &'a Context<'i>,
    rule: &Rule,
    subject: impl Fn(&Troubled<'i>) -> Option<Subject>,
    describe: impl Fn(&[&'a Troubled<'i>], Finding) -> Finding,
) -> Vec<Finding> {
    let mut groups: std::collections::BTreeMap<_, Vec<&Troubled<'_>>> =
        std::collections::BTreeMap::new();
    for troubled in &cx.troubles {
        if let Some(subject) = subject(troubled) {
            let key = (
                subject,
                troubled.stage,
                troubled.explains(cx.verdict),
                // One sentence speaks of one text.
                troubled.trouble.condition.message.as_str(),
            );
            groups.entry(key).or_default().push(troubled);
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
