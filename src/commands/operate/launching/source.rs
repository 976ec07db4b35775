//! What a new run is called and made of: a placement and a strategy, or another run.

use super::wanted::RunLaunch;
use crate::change::guard::AcceptedRisks;
use crate::change::names as generated;
use crate::commands::gather::names;
use crate::commands::gather::pickers::MadeOf;
use crate::commands::gather::reading::SourceReading;
use crate::commands::operate::operation::Operation;
use crate::commands::operate::steering::rollout_of;
use crate::error::Error;
use crate::kubefleet::{Concept, ObjectRef, Scope};

/// What a command line says of a new run.
#[derive(Debug, Clone, Copy)]
pub struct NewRunWords<'n> {
    pub name: Option<&'n str>,
    pub placement: Option<&'n str>,
    pub strategy: Option<&'n str>,
    /// The run whose placement and strategy it gets.
    pub from: Option<&'n str>,
    pub suffix: &'n str,
}

impl NewRunWords<'_> {
    /// The run, with a name that begins like what it is made of where none was given.
    fn object(&self, scope: &Scope) -> Result<ObjectRef, Error> {
        if let Some(name) = self.name {
            return names::of_new_run(name, scope);
        }
        let base = self.placement.or(self.from.map(generated::forward));
        let base = base.unwrap_or("run");
        let base = base.split_once('/').map_or(base, |(_, name)| name);
        let name = generated::generate(base, &[self.suffix]);
        Ok(scope.object(Concept::UpdateRun, &name))
    }
}

pub struct RunSource {
    run: ObjectRef,
    of: RunOrigin,
}

enum RunOrigin {
    Inputs {
        placement: ObjectRef,
        strategy: String,
    },
    /// The placement and strategy of a run, or another strategy.
    Run(ObjectRef, Option<String>),
}

impl RunSource {
    /// What the words of a command line mean; at a terminal, what is missing is chosen.
    pub fn new(words: NewRunWords<'_>, op: &mut Operation<'_>) -> Result<Self, Error> {
        let scope = op.reading.scope();
        let run = words.object(&scope)?;
        let given = MadeOf::new(words.placement, words.strategy, &scope)?;
        let of = if let Some(from) = words.from {
            let from = ("--from", from);
            let concept = Concept::UpdateRun;
            let old = op.reading.target_of_flag(from, concept, op.ui)?;
            RunOrigin::Run(old, given.strategy)
        } else {
            let command = run.fleet(op.reading.command());
            let (placement, strategy) = given.completed(command, op.reading, op.ui)?;
            let strategy = strategy.ok_or_else(|| Error::usage("--strategy is missing"))?;
            RunOrigin::Inputs {
                placement,
                strategy,
            }
        };
        Ok(Self { run, of })
    }

    /// The run that it is made of, where it would have to go first.
    pub fn replaces_itself(&self, replace: bool) -> Option<&ObjectRef> {
        match &self.of {
            RunOrigin::Run(old, _) if *old == self.run && !replace => Some(old),
            _ => None,
        }
    }

    pub fn launch(
        &self,
        accepted: AcceptedRisks,
        replace: bool,
        reading: &mut SourceReading,
    ) -> Result<RunLaunch, Error> {
        Ok(match &self.of {
            RunOrigin::Inputs {
                placement,
                strategy,
            } => RunLaunch::new(
                self.run.clone(),
                placement.clone(),
                strategy.clone(),
                accepted,
            ),
            RunOrigin::Run(old, strategy) => {
                let inventory = reading.overview(old)?;
                let rollout = rollout_of(&inventory, old)?;
                let mut launch = RunLaunch::again(&rollout, &self.run, replace, accepted);
                if let Some(strategy) = strategy {
                    launch.strategy.clone_from(strategy);
                    launch.from = None;
                }
                launch
            }
        })
    }
}
