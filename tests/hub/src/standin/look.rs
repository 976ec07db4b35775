//! One look of the controller at a run: what it is given, and what comes out.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::halt::{Halt, unexpected};
use super::initialize::Targets;
use super::object::Object;
use super::status::Run;
use super::timing::Timing;
use super::world::World;

/// A write that a look decides on. They are sent in order, before the status.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    /// Change these fields of a binding's spec, then say that its rollout has started.
    Rollout {
        binding: String,
        spec: Vec<(&'static str, Value)>,
    },
    DeleteBinding(String),
    CreateApproval(Value),
    AcceptApproval(String),
}

/// What comes after a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Finished,
    /// Nothing special to wait for: again at once.
    Again,
    After(Duration),
}

/// A look at a run.
pub(crate) struct Look<'w> {
    pub(crate) run: Run,
    pub(crate) world: &'w World,
    pub(crate) targets: &'w Targets,
    pub(crate) timing: &'w Timing,
    pub(crate) now: Timestamp,
    pub(crate) actions: Vec<Action>,
}

impl<'w> Look<'w> {
    /// The binding of a cluster that is to be updated.
    pub(crate) fn binding_of(
        &self,
        cluster: &str,
        stage: &str,
        while_what: &str,
    ) -> Result<&'w Value, Halt> {
        self.bindings(&self.targets.update)
            .find(|binding| binding.text("/spec/targetCluster") == cluster)
            .ok_or_else(|| {
                super::halt::abort(&unexpected(&format!(
                    "the binding for cluster `{cluster}` in stage `{stage}` is not found in the \
                     toBeUpdatedBindings map{while_what}"
                )))
            })
    }

    /// The bindings of clusters that are to be emptied.
    pub(crate) fn bindings_to_delete(&self) -> Vec<&'w Value> {
        self.bindings(&self.targets.delete).collect()
    }

    fn bindings(&self, names: &'w [String]) -> impl Iterator<Item = &'w Value> + use<'w> {
        let world = self.world;
        let kind = self.run.scope.kinds().binding;
        let namespace = self.run.scope.namespace().to_owned();
        names
            .iter()
            .filter_map(move |name| world.get(kind, &namespace, name))
    }
}
