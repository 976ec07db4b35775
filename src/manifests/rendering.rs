//! Content, overrides, and clusters put together: what is the same for many clusters is made once.

mod effects;
mod fault;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::content::{Item, SnapshotContent};
use super::overrides::{self, IneffectiveOverride, Override, PlacedOverrides};
use super::patch::{self, PatchVerb};
use super::variables::Template;
use super::{WorkGenerator, envelope};
use crate::contents::Manifest;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::binding::Envelope;
use crate::rollout::overrides::{is_deletion, rules_for, selector_of};
pub use effects::{OverrideEffect, PatchOperation};
pub use fault::{FailingOperation, FaultCause, RenderFault};

/// What is uncertain where envelopes are opened before overrides are applied.
pub const INSIDE_ENVELOPES: &str =
    "KubeFleet 0.3.1 and older do not apply overrides inside envelopes";

/// The rules of one override that apply to an object in a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct OverrideStep {
    over: usize,
    rules: Vec<usize>,
    broken: Option<(usize, String)>,
}

/// An object with the rules that apply to it: all clusters with the same get the same, apart from
/// variables.
#[derive(Debug)]
struct ContentForm {
    item: usize,
    steps: Vec<OverrideStep>,
    /// Whether values in it depend on the cluster.
    varies: bool,
    /// What becomes of it; absent where that depends on the cluster.
    made: Option<Result<Option<Value>, Box<FaultCause>>>,
}

/// Clusters that get the same, apart from variables.
#[derive(Debug)]
pub struct ClusterGroup {
    /// The clusters, by their place in the list.
    pub clusters: Vec<usize>,
    /// Whether values depend on the cluster.
    pub varies: bool,
    forms: Vec<usize>,
}

/// A manifest as a cluster gets it.
#[derive(Debug, Clone)]
pub struct RenderedManifest<'r> {
    /// The part of the version that it comes from.
    pub part: usize,
    /// The envelope that it comes from.
    pub envelope: Option<Envelope>,
    pub manifest: Cow<'r, Manifest>,
}

/// What each cluster gets.
#[derive(Debug)]
pub struct RenderedClusters<'i> {
    content: &'i SnapshotContent,
    overrides: &'i [Override],
    clusters: &'i [PlacedOverrides<'i>],
    forms: Vec<ContentForm>,
    /// The form of each item, for each cluster.
    rows: Vec<Vec<usize>>,
    /// Clusters that get the same, the largest group first.
    pub groups: Vec<ClusterGroup>,
    /// What stops Works.
    pub faults: Vec<RenderFault>,
}

impl<'i> RenderedClusters<'i> {
    /// Puts content, overrides, and clusters together.
    pub fn new(
        content: &'i SnapshotContent,
        overrides: &'i [Override],
        clusters: &'i [PlacedOverrides<'i>],
    ) -> Self {
        let mut this = Self {
            content,
            overrides,
            clusters,
            forms: Vec::new(),
            rows: Vec::with_capacity(clusters.len()),
            groups: Vec::new(),
            faults: Vec::new(),
        };
        this.place();
        this.group();
        this.find_faults();
        this
    }

    /// Finds the form of each item in each cluster.
    fn place(&mut self) {
        // For each item, which overrides select it.
        let selected = self.content.items.iter().map(|item| {
            let overrides = self.overrides.iter();
            overrides
                .map(|one| selector_of(&one.snapshot, &item.identity).is_some())
                .collect()
        });
        let selected: Vec<Vec<bool>> = selected.collect();
        let mut known: HashMap<(usize, Vec<OverrideStep>), usize> = HashMap::new();
        for cluster in self.clusters {
            let steps = cluster.overrides.iter().map(|over| {
                let (rules, broken) = rules_for(&self.overrides[*over].snapshot, cluster.member);
                let over = *over;
                OverrideStep {
                    over,
                    rules,
                    broken,
                }
            });
            let steps: Vec<OverrideStep> = steps
                .filter(|step| !step.rules.is_empty() || step.broken.is_some())
                .collect();
            let mut row = Vec::with_capacity(self.content.items.len());
            for (item, selected) in selected.iter().enumerate() {
                let own = steps.iter().filter(|step| selected[step.over]);
                let key = (item, own.cloned().collect());
                let next = self.forms.len();
                let form = *known.entry(key.clone()).or_insert(next);
                if form == next {
                    let (item, steps) = key;
                    self.add_form(item, steps);
                }
                row.push(form);
            }
            self.rows.push(row);
        }
    }

    fn add_form(&mut self, item: usize, steps: Vec<OverrideStep>) {
        let varies = steps.iter().any(|step| {
            let over = &self.overrides[step.over];
            step.rules.iter().any(|rule| {
                let patches = over.rules()[*rule].patches.len();
                (0..patches).any(|at| over.value(*rule, at).is_some_and(Template::varies))
            })
        });
        let mut form = ContentForm {
            item,
            steps,
            varies,
            made: None,
        };
        if !varies && (!form.steps.is_empty() || self.content.items[item].opens.is_some()) {
            let any = &self.clusters[self.rows.len()];
            form.made = Some(self.make(&form, any));
        }
        self.forms.push(form);
    }

    /// What becomes of an object in a cluster; `None` where it is deleted.
    fn make(
        &self,
        form: &ContentForm,
        cluster: &PlacedOverrides<'_>,
    ) -> Result<Option<Value>, Box<FaultCause>> {
        let item = &self.content.items[form.item];
        let mut value = item.manifest.value.clone();
        let mut deleted = false;
        for step in &form.steps {
            let over = &self.overrides[step.over];
            for rule in &step.rules {
                if is_deletion(&over.rules()[*rule]) {
                    deleted = true;
                } else {
                    let target = (!deleted).then_some(&mut value);
                    Self::apply(over, *rule, cluster, target)?;
                }
            }
            if let Some((rule, problem)) = &step.broken {
                return Err(Box::new(FaultCause::Rule {
                    over: over.object(),
                    rule: rule + 1,
                    problem: problem.clone(),
                }));
            }
        }
        if let (Some(kind), false) = (item.opens, deleted) {
            let patched = Manifest::of(value.clone(), item.manifest.bytes);
            envelope::open(&patched, kind).map_err(|why| Box::new(FaultCause::Envelope(why)))?;
        }
        Ok((!deleted).then_some(value))
    }

    /// Applies a rule. Its variables are replaced even where the object is deleted already.
    fn apply(
        over: &Override,
        rule: usize,
        cluster: &PlacedOverrides<'_>,
        mut target: Option<&mut Value>,
    ) -> Result<(), Box<FaultCause>> {
        let patches = &over.rules()[rule].patches;
        let failed = |operation: usize, why: String| {
            Box::new(FaultCause::Operation(FailingOperation {
                over: over.object(),
                rule: rule + 1,
                operation: operation + 1,
                verb: patches[operation].operator.clone(),
                path: patches[operation].path.clone(),
                why,
            }))
        };
        let mut values = Vec::with_capacity(patches.len());
        for at in 0..patches.len() {
            let value = over.value(rule, at).map(|it| it.value_for(cluster.member));
            values.push(
                value
                    .unwrap_or(Ok(Value::Null))
                    .map_err(|why| failed(at, why))?,
            );
        }
        for (at, (patch, value)) in patches.iter().zip(&values).enumerate() {
            let Some(target) = target.as_deref_mut() else {
                continue;
            };
            let Some(verb) = PatchVerb::of(&patch.operator) else {
                let why = format!("`{}` is not an operation", patch.operator);
                return Err(failed(at, why));
            };
            patch::apply(target, verb, &patch.path, value).map_err(|why| failed(at, why))?;
        }
        Ok(())
    }

    fn group(&mut self) {
        let mut groups: BTreeMap<(Vec<usize>, Vec<ObjectRef>), Vec<usize>> = BTreeMap::new();
        for (at, (row, cluster)) in self.rows.iter().zip(self.clusters).enumerate() {
            let changed = row.iter().copied();
            let changed = changed.filter(|form| !self.forms[*form].steps.is_empty());
            let key = (changed.collect(), cluster.gone.clone());
            groups.entry(key).or_default().push(at);
        }
        self.groups = groups
            .into_iter()
            .map(|((forms, _), clusters)| ClusterGroup {
                varies: forms.iter().any(|form| self.forms[*form].varies),
                clusters,
                forms,
            })
            .collect();
        self.groups
            .sort_by_key(|group| (std::cmp::Reverse(group.clusters.len()), group.clusters[0]));
    }

    fn find_faults(&mut self) {
        let mut faults: BTreeMap<(FaultCause, Option<String>), Vec<String>> = BTreeMap::new();
        for (row, cluster) in self.rows.iter().zip(self.clusters) {
            let name = &cluster.member.meta.name;
            let mut add = |cause: FaultCause, object: Option<String>| {
                faults
                    .entry((cause, object))
                    .or_default()
                    .push(name.clone());
            };
            for over in &cluster.gone {
                add(FaultCause::Gone(over.clone()), None);
            }
            for (over, problem) in &cluster.invalid {
                let over = self.overrides[*over].object();
                let problem = problem.clone();
                add(FaultCause::Override { over, problem }, None);
            }
            for (envelope, why) in &self.content.flaws {
                add(FaultCause::Envelope(why.clone()), Some(envelope.describe()));
            }
            for form in row.iter().map(|form| &self.forms[*form]) {
                let made = match &form.made {
                    Some(Err(cause)) => Err(cause.clone()),
                    None if form.varies => self.make(form, cluster).map(drop),
                    _ => Ok(()),
                };
                if let Err(cause) = made {
                    let item = &self.content.items[form.item];
                    add(*cause, Some(item.manifest.identity.describe()));
                }
            }
        }
        let mut alike: BTreeMap<(FaultCause, Vec<String>), Vec<String>> = BTreeMap::new();
        for ((cause, object), clusters) in faults {
            alike.entry((cause, clusters)).or_default().extend(object);
        }
        self.faults = alike
            .into_iter()
            .map(|((cause, clusters), objects)| RenderFault {
                cause,
                objects,
                clusters,
            })
            .collect();
    }

    pub const fn clusters(&self) -> &'i [PlacedOverrides<'i>] {
        self.clusters
    }

    pub const fn content(&self) -> &'i SnapshotContent {
        self.content
    }

    /// Whether two clusters get exactly the same.
    pub fn is_same(&self, a: usize, b: usize) -> bool {
        self.rows[a] == self.rows[b]
            && (a == b || !self.rows[a].iter().any(|form| self.forms[*form].varies))
    }

    /// The manifests of a cluster, in the order of its Works. Objects that a fault stops are left out.
    pub fn manifests(&self, cluster: usize) -> Vec<RenderedManifest<'_>> {
        let Some(row) = self.rows.get(cluster) else {
            return Vec::new();
        };
        let mut rendered = Vec::with_capacity(row.len());
        for form in row.iter().map(|form| &self.forms[*form]) {
            let item = &self.content.items[form.item];
            let value = match &form.made {
                Some(made) => made.as_ref().ok().cloned().flatten(),
                None if form.varies => self.make(form, &self.clusters[cluster]).ok().flatten(),
                None => {
                    rendered.extend(opened(item, Cow::Borrowed(&item.manifest)));
                    continue;
                }
            };
            let Some(value) = value else { continue };
            let manifest = Manifest::of(value, item.manifest.bytes);
            rendered.extend(opened(item, Cow::Owned(manifest)));
        }
        rendered
    }

    /// What of each override that applies to the content changes nothing for these clusters.
    pub fn idle(&self) -> Vec<(&Override, IneffectiveOverride)> {
        let used = |at: usize| {
            let mut clusters = self.clusters.iter();
            clusters.any(|cluster| cluster.overrides.contains(&at))
        };
        let overrides = self.overrides.iter();
        let overrides = overrides.enumerate().filter(|(at, _)| used(*at));
        overrides
            .flat_map(|(_, one)| {
                let idle = overrides::idle(one, self.content, self.clusters);
                idle.into_iter().map(move |idle| (one, idle))
            })
            .collect()
    }

    /// By which it is put together.
    pub const fn generator(&self) -> WorkGenerator {
        self.content.generator
    }

    /// Whether overrides apply to what envelopes hold, which older versions do not do.
    pub fn opens_envelopes(&self) -> bool {
        let inside = |form: &&ContentForm| {
            !form.steps.is_empty() && self.content.items[form.item].envelope.is_some()
        };
        self.content.generator == WorkGenerator::Newest
            && self.forms.iter().any(|form| inside(&form))
    }
}

fn opened<'i>(item: &'i Item, manifest: Cow<'i, Manifest>) -> Vec<RenderedManifest<'i>> {
    let rendered = |manifest| RenderedManifest {
        part: item.part,
        envelope: match item.opens {
            Some(_) => Some(envelope::named(&item.manifest)),
            None => item.envelope.clone(),
        },
        manifest,
    };
    let Some(kind) = item.opens else {
        return vec![rendered(manifest)];
    };
    let inner = envelope::open(&manifest, kind).unwrap_or_default();
    inner.into_iter().map(Cow::Owned).map(rendered).collect()
}
