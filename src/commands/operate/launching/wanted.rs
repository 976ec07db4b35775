//! What is wanted: the run that is to be made, and what is done before.

use crate::change::guard::AcceptedRisks;
use crate::change::preview::Preview;
use crate::commands::operate::delete::RunDeletion;
use crate::commands::operate::operation::ThisRun;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::tolerant::UnknownFields;
use crate::rollout::Rollout;
use crate::words::{CommandLine, Hint, enumerate};

// No comment on the type: clap would print it.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(in crate::commands) struct LaunchRisks {
    /// Start even if a cluster would, or might, get an older snapshot
    #[arg(long)]
    allow_older: bool,
    /// Start even if a check cannot read what it needs
    #[arg(long)]
    allow_unseen: bool,
}

impl From<LaunchRisks> for AcceptedRisks {
    fn from(risks: LaunchRisks) -> Self {
        Self {
            older: risks.allow_older,
            unseen: risks.allow_unseen,
        }
    }
}

pub(in crate::commands) struct RunLaunch {
    pub run: ObjectRef,
    /// The placement, in the run's scope.
    pub placement: ObjectRef,
    /// The strategy, in the run's scope.
    pub strategy: String,
    /// The snapshot; `None` means the content as it is now.
    pub snapshot: Option<String>,
    pub start: bool,
    pub accepted: AcceptedRisks,
    /// What is said before the plan.
    pub preview: Preview,
    /// What is asked before anything is sent, where something is to be asked in any case.
    pub question: Option<String>,
    /// The run that it is made of, with that run's strategy.
    pub from: Option<String>,
    /// What is done first, once that was confirmed.
    pub first: Vec<LaunchPreparation>,
    /// The fields of an old run that this version does not know: they are copied.
    pub unknown: UnknownFields,
    pub diff: bool,
    /// Whether it is a rollback, which is in a hurry.
    pub takes_back: bool,
    /// The index of the newest snapshot that it takes back.
    pub rolled_back: Option<String>,
    /// How a person names the snapshot, where the command chose it.
    pub chosen: Option<Hint>,
}

pub(in crate::commands) enum LaunchPreparation {
    Stop(ThisRun),
    Delete(Box<RunDeletion>),
}

impl LaunchPreparation {
    pub(in crate::commands) const fn object(&self) -> &ObjectRef {
        match self {
            Self::Stop(this) => &this.object,
            Self::Delete(doomed) => &doomed.run.object,
        }
    }
}

impl RunLaunch {
    /// Whether the run is made and judged before another one is deleted: nobody else may be there to make
    /// one, and which content it gets is not always known before. One of its own name has to go first.
    pub(super) fn judges_before_deletion(&self) -> bool {
        self.deleted().next().is_some() && !self.replaces_its_name()
    }

    /// Whether the run is made to begin by itself: nothing is left to judge or to do before.
    pub(super) fn begins_by_itself(&self) -> bool {
        self.start && self.snapshot.is_some() && !self.judges_before_deletion()
    }

    fn deleted(&self) -> impl Iterator<Item = &RunDeletion> {
        self.first.iter().filter_map(|it| match it {
            LaunchPreparation::Delete(doomed) => Some(doomed.as_ref()),
            LaunchPreparation::Stop(_) => None,
        })
    }

    /// Whether a run is deleted for it that continues by itself.
    pub(super) fn deletes_what_goes_on(&self) -> bool {
        self.deleted().any(|doomed| doomed.goes_on)
    }

    /// Whether a run of the same name, which can still continue, is deleted first.
    pub(super) fn replaces_what_continues(&self) -> bool {
        self.replaces_its_name() && self.deleted().any(|doomed| doomed.can_continue)
    }

    /// A run of the content as it is now, which is started; nothing is done, said or asked before.
    pub(in crate::commands) fn new(
        run: ObjectRef,
        placement: ObjectRef,
        strategy: String,
        accepted: AcceptedRisks,
    ) -> Self {
        Self {
            run,
            placement,
            strategy,
            snapshot: None,
            start: true,
            accepted,
            preview: Preview::default(),
            question: None,
            from: None,
            first: Vec::new(),
            unknown: UnknownFields::new(),
            diff: false,
            takes_back: false,
            rolled_back: None,
            chosen: None,
        }
    }

    /// The placement and strategy of an old run once more, from the current content, in its place
    /// where it is to be replaced.
    pub(in crate::commands) fn again(
        old: &Rollout<'_>,
        run: &ObjectRef,
        replace: bool,
        accepted: AcceptedRisks,
    ) -> Self {
        let spec = &old.run.spec;
        let placement = old.run.placement();
        let mut launch = Self {
            unknown: spec.unknown.clone(),
            from: Some(old.run.meta.name.clone()),
            rolled_back: old.run.rolled_back().map(str::to_owned),
            ..Self::new(run.clone(), placement, spec.strategy.clone(), accepted)
        };
        if let Some(fields) = launch.copied() {
            let from = &old.run.meta.name;
            launch.preview.warning(&format!(
                "copied from {from} without knowing what they do: {fields}"
            ));
        }
        if replace {
            let doomed = RunDeletion::of(old);
            launch.preview.append(doomed.shown.clone());
            let question = format!("Delete {} and start {}?", old.run.meta.name, run.name);
            launch.question = Some(question);
            launch
                .first
                .push(LaunchPreparation::Delete(Box::new(doomed)));
        }
        launch
    }

    /// The fields that are copied without being known.
    pub(super) fn copied(&self) -> Option<String> {
        let fields = self.unknown.keys().map(|field| format!("spec.{field}"));
        (!self.unknown.is_empty()).then(|| enumerate(fields))
    }

    /// Whether a run of the same name is deleted first.
    pub(super) fn replaces_its_name(&self) -> bool {
        let mut first = self.first.iter();
        first.any(|first| {
            matches!(first, LaunchPreparation::Delete(_)) && *first.object() == self.run
        })
    }

    /// The command that makes this run, once what comes first is done.
    pub(super) fn command(&self) -> CommandLine {
        self.run
            .fleet(if self.start { "run" } else { "init" })
            .flag("--placement", &self.placement.name)
            .flag("--strategy", &self.strategy)
            .flag_of("--snapshot", self.snapshot.as_ref())
            .switch_if(self.start && self.accepted.older, "--allow-older")
            .switch_if(self.accepted.unseen, "--allow-unseen")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::RunLaunch;
    use crate::change::guard::AcceptedRisks;
    use crate::kubefleet::{Concept, Scope};

    pub(in super::super) fn launch(
        namespace: &str,
        snapshot: Option<&str>,
        start: bool,
        accepted: AcceptedRisks,
    ) -> RunLaunch {
        let scope = Scope::of_namespace(namespace);
        let run = scope.object(Concept::UpdateRun, "new");
        let placement = scope.object(Concept::Placement, "shop");
        RunLaunch {
            snapshot: snapshot.map(str::to_owned),
            start,
            ..RunLaunch::new(run, placement, "rings; rm x".to_owned(), accepted)
        }
    }

    #[test]
    fn the_command_that_completes_a_launch_makes_the_same_run() {
        let none = AcceptedRisks::default();
        let both = AcceptedRisks {
            older: true,
            unseen: true,
        };
        for (launch, wanted) in [
            (
                launch("", None, true, none),
                "kubectl fleet-stage run new --placement shop --strategy 'rings; rm x'",
            ),
            (
                launch("team-a", Some("3"), true, both),
                "kubectl fleet-stage run new --placement shop --strategy 'rings; rm x' \
                 --snapshot 3 --allow-older --allow-unseen -n team-a",
            ),
            (
                launch("", None, false, both),
                "kubectl fleet-stage init new --placement shop --strategy 'rings; rm x' \
                 --allow-unseen",
            ),
        ] {
            assert_eq!(launch.command().to_string(), wanted);
        }
    }
}
