//! What is at fault on some member clusters, in words.

use jiff::SignedDuration;

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::sent::SentManifest;
use crate::kubefleet::binding::{Binding, FieldDifference};
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::{ObjectRef, duration};
use crate::report::{ComposeText, Finding, HubAndMember, Subject};
use crate::rollout::overrides::selector_of;
use crate::rollout::{Health, ManifestTrouble};
use crate::words::{CommandLine, distinct, enumerate};

/// How many of the readings of one finding are shown as evidence.
const SHOWN: usize = 3;
/// What two reports of the same moment may be apart.
const SLACK: SignedDuration = SignedDuration::from_secs(60);
/// How many differing fields of one object are shown.
const FIELDS: usize = 5;

/// Whether objects of a kind become available through pods, which need a node.
pub fn has_pods(kind: &str) -> bool {
    matches!(kind, "Deployment" | "StatefulSet" | "DaemonSet")
}

#[derive(Clone, Copy)]
pub enum ComparedBinding {
    /// Changes on the member since it was applied.
    Drift,
    /// Differences between hub and member.
    Diff,
}

impl ComparedBinding {
    /// The fields: from the binding, else from the Work, with the object and where they stand.
    pub fn fields<'i>(
        self,
        cx: &DiagnosisContext<'i>,
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
            let manifests = work.status.manifests.iter();
            manifests.enumerate().find_map(|(at, status)| {
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

fn on_hub(manifest: &ManifestTrouble<'_>) -> String {
    match &manifest.envelope {
        Some(it) => format!("the envelope {} {}/{}", it.kind, it.namespace, it.name),
        None => manifest.describe(),
    }
}

/// What is at fault, and where.
pub struct AffectedObject<'a, 'i> {
    pub cx: &'a DiagnosisContext<'i>,
    /// The first object, on the first of the clusters.
    pub manifest: &'a ManifestTrouble<'i>,
    pub on: Vec<&'a FailingCluster<'i>>,
    pub all: Vec<(&'a FailingCluster<'i>, &'a ManifestTrouble<'i>)>,
}

impl<'a, 'i> AffectedObject<'a, 'i> {
    pub fn new(
        cx: &'a DiagnosisContext<'i>,
        all: Vec<(&'a FailingCluster<'i>, &'a ManifestTrouble<'i>)>,
    ) -> Option<Self> {
        let mut on: Vec<_> = all.iter().map(|(on, _)| *on).collect();
        on.dedup_by_key(|failing| failing.cluster);
        // A namespace stands for what is in it.
        let mut all = all;
        all.sort_by_key(|(_, manifest)| manifest.kind != "Namespace");
        let manifest = all.first()?.1;
        Some(Self {
            cx,
            manifest,
            on,
            all,
        })
    }

    /// Whether the run is done with the same content on other clusters, with the same overrides, and it fails on
    /// no more than these: then the clusters differ, and not what they are sent.
    pub fn runs_elsewhere(&self) -> bool {
        let Some(rollout) = &self.cx.rollout else {
            return false;
        };
        let overrides = |binding: &'i Binding| {
            let spec = &binding.spec;
            (&spec.snapshot, &spec.overrides, &spec.cluster_overrides)
        };
        let here: Vec<_> = self.on.iter().map(|on| overrides(on.binding)).collect();
        let fine = rollout.clusters().filter(|cluster| {
            let is_fine = matches!(cluster.health, Health::Fine(_));
            let has = cluster.binding.map(overrides);
            is_fine && has.is_some_and(|has| here.iter().all(|here| *here == has))
        });
        let object = Subject::from(self.manifest);
        let failing = self.cx.troubles.iter().filter(|failing| {
            let mut all = failing.trouble.manifests.iter();
            all.any(|it| Subject::from(it) == object)
        });
        let fine = fine.count();
        fine > 0 && fine >= failing.count()
    }

    /// Whether it is about more than one object.
    pub fn has_several(&self) -> bool {
        let mut all = self.all.iter();
        all.any(|(_, it)| Subject::from(*it) != self.manifest.into())
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
        let names = self.all.iter().map(|(_, manifest)| manifest.describe());
        let names: std::collections::BTreeSet<_> = names.collect();
        enumerate(names)
    }

    /// `member-1`, `member-1 and member-2`, `member-1, member-2, member-3 and 4 more`.
    pub fn clusters(&self) -> String {
        enumerate(self.on.iter().map(|failing| failing.cluster))
    }

    /// ` for 6m12s`, the longest of all, with its leading space; empty when no time is known. Of a cluster where
    /// it was so before the rollout waited for that one, it is said, and counts only where it is so of all.
    pub fn lasting(&self) -> String {
        let now = self.cx.now();
        let lasted = |failing: &FailingCluster<'_>| {
            let there = self.all.iter();
            let there = there.filter(|(on, _)| on.cluster == failing.cluster);
            let since = there.filter_map(|(_, it)| it.condition.since).min();
            since.map(|since| now.duration_since(since))
        };
        let is_older = |failing: &&FailingCluster<'_>| {
            let waited = failing.started.map(|it| now.duration_since(it));
            let waited = waited.or(failing.lasting);
            waited.is_some_and(|waited| lasted(failing) > waited.checked_add(SLACK))
        };
        let (older, newer): (Vec<_>, Vec<_>) = self.on.iter().copied().partition(is_older);
        let waited = |all: &[&FailingCluster<'_>]| {
            let waited = all.iter().filter_map(|failing| failing.lasting).max();
            duration::lasting(waited)
        };
        let Some(run) = self.cx.run().filter(|_| !older.is_empty()) else {
            return waited(&self.on);
        };
        let (before, run) = ("since before", &run.meta.name);
        if newer.is_empty() {
            let longest = older.iter().filter_map(|failing| lasted(failing)).max();
            return format!("{}, {before} {run} reached it", duration::lasting(longest));
        }
        let names = enumerate(older.iter().map(|failing| failing.cluster));
        format!("{}, on {names} {before} {run} reached it", waited(&newer))
    }

    /// `member-1, then on member-2 and member-3`: where a command for the first is to be run, one
    /// cluster after the other.
    pub fn one_by_one(&self) -> String {
        match self.on.as_slice() {
            [] | [_] => self.clusters(),
            [first, rest @ ..] => {
                let rest = enumerate(rest.iter().map(|failing| failing.cluster));
                format!("{}, then on {rest}", first.cluster)
            }
        }
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

    /// What the same content brings of a kind into the object's namespace, or as that: whoever changes it on a member
    /// cluster finds it put back.
    pub fn in_content(&self, kind: &str, is_it: impl Fn(&str) -> bool) -> Option<String> {
        let namespace = self.manifest.namespace;
        let failing = self.on.first()?;
        let mut sent = SentManifest::all(self.cx, failing).map(|it| it.manifest);
        let found = sent.find(|it| {
            let (own, name) = (&it.meta.namespace, it.meta.name.as_str());
            let is_here = own == namespace || kind == "Namespace" && name == namespace;
            it.kind == kind && is_here && is_it(name)
        });
        found.map(|it| Subject::from(it).to_string())
    }

    /// What the first of the clusters is to have: `snapshot 2`.
    pub fn content(&self) -> String {
        let index = self
            .all
            .first()
            .and_then(|(it, _)| it.binding.snapshot_index());
        index.map_or_else(|| "the hub".to_owned(), |index| format!("snapshot {index}"))
    }

    /// What to change on the hub: the object itself, or the envelope that wraps it.
    pub fn on_hub(&self) -> String {
        on_hub(self.manifest)
    }

    /// The same of all objects.
    pub fn all_on_hub(&self) -> String {
        enumerate(distinct(self.all.iter().map(|(_, it)| on_hub(it))))
    }

    /// The first object that an override changes, as far as overrides were read, the clusters for which it does, and
    /// the place of the selector.
    pub fn overridden(
        &self,
    ) -> Option<(
        &'a ManifestTrouble<'i>,
        Vec<&'i str>,
        &'i OverrideSnapshot,
        usize,
    )> {
        let known = &self.cx.inventory.overrides.items;
        let mut changed = self.all.iter().filter_map(|(failing, manifest)| {
            let identity = manifest.identity();
            failing.binding.spec.override_names().find_map(|name| {
                let over = known.iter().find(|it| it.object() == name)?;
                let at = selector_of(over, &identity)?;
                Some((*manifest, failing.cluster, over.as_ref(), at))
            })
        });
        let (manifest, cluster, over, at) = changed.next()?;
        let also = changed.filter(|(_, _, other, _)| std::ptr::eq(*other, over));
        let clusters = distinct([cluster].into_iter().chain(also.map(|it| it.1)));
        Some((manifest, clusters, over, at))
    }

    /// The paths of the fields that differ between hub and member, as far as bindings or Works name them.
    pub fn differing(&self, what: ComparedBinding) -> Vec<&str> {
        let all = self.all.iter();
        let fields = all.filter_map(|(failing, manifest)| what.fields(self.cx, failing, manifest));
        distinct(fields.flat_map(|(.., fields)| fields.iter().map(|field| field.path.as_str())))
    }

    /// Adds the fields that differ between hub and member, as far as bindings or Works name them.
    pub fn compared(&self, mut finding: Finding, what: ComparedBinding) -> Finding {
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
    pub fn on_member(&self, verb: &'static str) -> CommandLine {
        CommandLine::member(self.cluster(), verb)
    }

    /// The first of the clusters: the one that commands inspect.
    pub fn cluster(&self) -> &'i str {
        self.on.first().map_or("", |failing| failing.cluster)
    }

    /// The same about the object, in its namespace: `… -n NAMESPACE VERB KIND NAME`. Kinds of other groups may have the
    /// same name.
    pub fn kubectl(&self, verb: &'static str) -> CommandLine {
        let command = self.on_member(verb).namespace(self.manifest.namespace);
        let mut kind = self.manifest.kind.to_lowercase();
        if self.manifest.group.contains('.') {
            kind = format!("{kind}.{}", self.manifest.group);
        }
        command.arg(kind).arg(self.manifest.name)
    }
}
