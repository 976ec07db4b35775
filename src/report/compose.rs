//! How everything that is told is put together: findings, points of a plan, and problems of both.

use jiff::Timestamp;

use super::finding::{Effect, Evidence, Finding, Remedy};
use super::shown::{ABSENT, ShownValue};
use super::subject::Subject;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::kubefleet::{Condition, ObjectRef, names, reasons};
use crate::words::{CommandClass, CommandLine};

#[derive(Debug)]
pub struct ReportParts<'p> {
    pub stage: &'p mut Option<String>,
    pub clusters: &'p mut Vec<String>,
    pub evidence: &'p mut Vec<Evidence>,
    pub remedies: &'p mut Vec<Remedy>,
}

/// Something that is told with evidence and remedies.
pub trait ComposeText: Sized {
    fn parts(&mut self) -> ReportParts<'_>;

    #[must_use]
    fn stage(mut self, stage: impl Into<String>) -> Self {
        *self.parts().stage = Some(stage.into());
        self
    }

    #[must_use]
    fn clusters<S: Into<String>>(mut self, clusters: impl IntoIterator<Item = S>) -> Self {
        let clusters = clusters.into_iter().map(Into::into);
        self.parts().clusters.extend(clusters);
        self
    }

    #[must_use]
    fn evidence(
        self,
        object: impl Into<Subject>,
        path: impl Into<String>,
        value: impl ShownValue,
    ) -> Self {
        self.witness(read(object.into(), path.into(), &value))
    }

    #[must_use]
    fn snapshot_of(self, run: &UpdateRun) -> Self {
        let index = &run.status.snapshot_index;
        self.evidence(run.object(), run.snapshot_path(), index)
    }

    #[must_use]
    fn snapshot_in(self, binding: &Binding) -> Self {
        let snapshot = &binding.spec.snapshot;
        self.evidence(binding.object(), "spec.resourceSnapshotName", snapshot)
    }

    /// Adds which snapshot a binding has, and which run wrote it.
    #[must_use]
    fn written(self, binding: &Binding) -> Self {
        let written = binding.condition(reasons::ROLLOUT_STARTED);
        let with_snapshot = self.snapshot_in(binding);
        with_snapshot.condition(&binding.object(), written)
    }

    #[must_use]
    fn index_of(self, snapshot: &ResourceSnapshot) -> Self {
        let path = format!("metadata.labels[{}]", names::RESOURCE_INDEX);
        self.evidence(snapshot.object(), path, snapshot.index())
    }

    /// Adds a value that was read in a member cluster.
    #[must_use]
    fn evidence_in(
        self,
        cluster: &str,
        object: impl Into<Subject>,
        path: impl Into<String>,
        value: impl ShownValue,
    ) -> Self {
        self.witness(Evidence {
            cluster: Some(cluster.to_owned()),
            ..read(object.into(), path.into(), &value)
        })
    }

    /// Adds that an object does not exist.
    #[must_use]
    fn absent(self, object: impl Into<Subject>) -> Self {
        self.evidence(object, "metadata.name", ABSENT)
    }

    /// Adds a value that was computed from what stands under some paths of an object.
    #[must_use]
    fn computed(
        self,
        object: impl Into<Subject>,
        paths: &[&str],
        value: impl Into<String>,
    ) -> Self {
        self.witness(worked_out(object.into(), paths, value.into()))
    }

    /// The same of an object in a member cluster.
    #[must_use]
    fn computed_in(
        self,
        cluster: &str,
        object: impl Into<Subject>,
        paths: &[&str],
        value: impl Into<String>,
    ) -> Self {
        self.witness(Evidence {
            cluster: Some(cluster.to_owned()),
            ..worked_out(object.into(), paths, value.into())
        })
    }

    /// Adds a value that was read, where there is one.
    #[must_use]
    fn known(
        self,
        object: impl Into<Subject>,
        path: impl Into<String>,
        value: Option<impl ShownValue>,
    ) -> Self {
        match value {
            Some(value) => self.evidence(object, path, value),
            None => self,
        }
    }

    #[must_use]
    fn created(self, object: impl Into<Subject>, at: Option<Timestamp>) -> Self {
        self.known(object, "metadata.creationTimestamp", at)
    }

    #[must_use]
    fn deleted(self, object: impl Into<Subject>, since: Option<Timestamp>) -> Self {
        self.known(object, "metadata.deletionTimestamp", since)
    }

    /// Adds a condition of an object's status, where there is one.
    #[must_use]
    fn condition<'c>(
        self,
        object: &ObjectRef,
        condition: impl Into<Option<&'c Condition>>,
    ) -> Self {
        self.condition_at(object, "status", condition)
    }

    /// Adds the generation of an object that a condition of its status is about.
    #[must_use]
    fn observed(self, object: impl Into<Subject>, condition: &Condition) -> Self {
        let kind = &condition.kind;
        let path = format!("status.conditions[type={kind}].observedGeneration");
        self.evidence(object, path, condition.observed_generation)
    }

    /// Adds a condition that stands deeper in an object, where there is one.
    #[must_use]
    fn condition_at<'c>(
        self,
        object: &ObjectRef,
        base: &str,
        condition: impl Into<Option<&'c Condition>>,
    ) -> Self {
        let Some(condition) = condition.into() else {
            return self;
        };
        let path = format!("{base}.conditions[type={}]", condition.kind);
        self.evidence(object, path, condition)
    }

    /// Adds when the status of an object was written last.
    #[must_use]
    fn last_noted(self, object: impl Into<Subject>, at: Timestamp) -> Self {
        let last = format!("the newest lastTransitionTime of all conditions is {at}");
        self.computed(object, &["status"], last)
    }

    #[must_use]
    fn witness(mut self, evidence: Evidence) -> Self {
        self.parts().evidence.push(evidence);
        self
    }

    #[must_use]
    fn look(self, action: impl Into<String>) -> Self {
        self.remedy(action, None, Effect::ReadOnly)
    }

    #[must_use]
    fn look_with(self, action: impl Into<String>, command: impl Into<Option<CommandLine>>) -> Self {
        self.remedy(action, command, Effect::ReadOnly)
    }

    /// Adds a step that changes something.
    #[must_use]
    fn fix(self, action: impl Into<String>) -> Self {
        self.remedy(action, None, Effect::Changes)
    }

    #[must_use]
    fn fix_with(self, action: impl Into<String>, command: impl Into<Option<CommandLine>>) -> Self {
        self.remedy(action, command, Effect::Changes)
    }

    /// Adds a step that deletes, restarts or takes back something.
    #[must_use]
    fn disrupt(self, action: impl Into<String>) -> Self {
        self.remedy(action, None, Effect::Disruptive)
    }

    #[must_use]
    fn disrupt_with(
        self,
        action: impl Into<String>,
        command: impl Into<Option<CommandLine>>,
    ) -> Self {
        self.remedy(action, command, Effect::Disruptive)
    }

    /// Adds a step, once.
    #[must_use]
    fn remedy(
        mut self,
        action: impl Into<String>,
        command: impl Into<Option<CommandLine>>,
        effect: Effect,
    ) -> Self {
        let command = command.into();
        // A step is as harmful as its command, whatever the rule takes it for.
        let effect = match (command.as_ref().map(CommandLine::class), effect) {
            (Some(CommandClass::Destroys), _) => Effect::Disruptive,
            (Some(CommandClass::Changes), Effect::ReadOnly) => Effect::Changes,
            (Some(CommandClass::Looks), _) => Effect::ReadOnly,
            (_, effect) => effect,
        };
        let remedy = Remedy::new(action, command, effect);
        let remedies = self.parts().remedies;
        if !remedies.contains(&remedy) {
            remedies.push(remedy);
        }
        self
    }
}

fn read(object: Subject, path: String, value: &dyn ShownValue) -> Evidence {
    let value = value.shown();
    Evidence {
        object,
        cluster: None,
        path,
        value: if value.is_empty() {
            ABSENT.to_owned()
        } else {
            value
        },
        computed: false,
    }
}

fn worked_out(object: Subject, paths: &[&str], value: String) -> Evidence {
    Evidence {
        object,
        cluster: None,
        path: paths.join(", "),
        value,
        computed: true,
    }
}

/// Has something with fields of these names be put together.
macro_rules! composed {
    ($name:ident $(<$of:ident>)?) => {
        impl $(<$of>)? $crate::report::ComposeText for $name $(<$of>)? {
            fn parts(&mut self) -> $crate::report::ReportParts<'_> {
                $crate::report::ReportParts {
                    stage: &mut self.stage,
                    clusters: &mut self.clusters,
                    evidence: &mut self.evidence,
                    remedies: &mut self.remedies,
                }
            }
        }
    };
}
pub(crate) use composed;

composed!(Finding);
