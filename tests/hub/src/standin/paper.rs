//! The controller of runs on paper: objects in memory and a clock that is told, without a hub.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::bindings;
use super::conditions::{self, Condition, Conditions};
use super::execute;
use super::halt::Halt;
use super::initialize;
use super::kinds::{Kind, Scope};
use super::look::{Action, Look, Next};
use super::marks;
use super::object::Object;
use super::status::Run;
use super::timing::Timing;
use super::validate::{self, Position};
use super::world::World;

/// Objects in memory.
#[derive(Debug, Clone)]
pub struct Paper {
    world: World,
    timing: Timing,
    version: u64,
}

/// What follows from a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaperLook {
    /// The run is not looked at before somebody changes something.
    Over,
    Again,
    After(Duration),
    /// Again after a pause, because of an error.
    Retry,
}

impl Paper {
    /// These objects, with KubeFleet's own durations.
    pub fn new(objects: Vec<(Kind, Value)>) -> Self {
        let mut paper = Self {
            world: World::default(),
            timing: Timing::real(),
            version: 0,
        };
        for (kind, object) in objects {
            paper.write(kind, object);
        }
        paper
    }

    /// Creates or replaces an object.
    pub fn write(&mut self, kind: Kind, mut object: Value) {
        self.version += 1;
        object.put(
            &["metadata", "resourceVersion"],
            json!(self.version.to_string()),
        );
        self.world.upsert(kind, object);
    }

    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &Value> {
        self.world.all(kind)
    }

    /// Changes an object that exists.
    pub fn change(&mut self, kind: Kind, name: &str, change: impl FnOnce(&mut Value)) {
        if let Some(mut object) = self.world.get(kind, "", name).cloned() {
            change(&mut object);
            self.write(kind, object);
        }
    }

    pub fn remove(&mut self, kind: Kind, name: &str) {
        if let Some(mut object) = self.world.get(kind, "", name).cloned() {
            self.version += 1;
            object.put(
                &["metadata", "resourceVersion"],
                json!(self.version.to_string()),
            );
            self.world.remove(kind, &object);
        }
    }

    /// Looks at a run of the cluster scope once, up to the first write of its status.
    pub fn look(&mut self, name: &str, now: Timestamp) -> PaperLook {
        let kind = Kind::ClusterStagedUpdateRun;
        let Some(object) = self.world.get(kind, "", name).cloned() else {
            return PaperLook::Over;
        };
        let world = self.world.clone();
        let timing = self.timing.clone();
        let mut run = Run::read(&object);
        let generation = run.generation;
        run.status.observe(generation);
        let (position, targets) = match initialize::outcome(&run) {
            Some(false) => return PaperLook::Over,
            Some(true) if run.status.conditions.find("Succeeded").is_some() => {
                return PaperLook::Over;
            }
            Some(true) => match validate::validate(&run, &world) {
                Ok(found) => found,
                Err(Halt::Retry(_)) => return PaperLook::Retry,
                Err(Halt::Abort(message)) => {
                    marks::run_failed(&mut run, &message, now);
                    self.write_status(object, &run);
                    return PaperLook::Over;
                }
            },
            None => return self.initialize(object, run, &world, now),
        };
        let Position::Stage(index) = position else {
            marks::run_succeeded(&mut run, now);
            self.write_status(object, &run);
            return PaperLook::Over;
        };
        let mut look = Look {
            run,
            world: &world,
            targets: &targets,
            timing: &timing,
            now,
            actions: Vec::new(),
        };
        let Some(outcome) = execute::proceed(&mut look, index) else {
            return PaperLook::Over;
        };
        let Look { run, actions, .. } = look;
        for action in actions {
            self.act(&run, action, now);
        }
        self.write_status(object, &run);
        match outcome {
            Ok(Next::Finished) | Err(Halt::Abort(_)) => PaperLook::Over,
            Ok(Next::Again) => PaperLook::Again,
            Ok(Next::After(pause)) => PaperLook::After(pause),
            Err(Halt::Retry(_)) => PaperLook::Retry,
        }
    }

    fn initialize(
        &mut self,
        object: Value,
        mut run: Run,
        world: &World,
        now: Timestamp,
    ) -> PaperLook {
        let prepared = initialize::prepare(&mut run, world)
            .and_then(|_| initialize::named_snapshot(&run, world));
        let outcome = match &prepared {
            Ok(index) => {
                run.status.resource_snapshot_index_used.clone_from(index);
                Ok(initialize::SUCCESS)
            }
            Err(Halt::Abort(message)) => Err(message.as_str()),
            Err(Halt::Retry(_)) => return PaperLook::Retry,
        };
        initialize::conclude(&mut run, outcome, now);
        self.write_status(object, &run);
        if prepared.is_ok() {
            PaperLook::Again
        } else {
            PaperLook::Over
        }
    }

    fn write_status(&mut self, mut object: Value, run: &Run) {
        object["status"] = serde_json::to_value(&run.status).unwrap_or_default();
        self.write(Kind::ClusterStagedUpdateRun, object);
    }

    fn act(&mut self, run: &Run, action: Action, now: Timestamp) {
        let kinds = Scope::Cluster.kinds();
        match action {
            Action::Rollout { binding, spec } => self.change(kinds.binding, &binding, |binding| {
                if !spec.is_empty() {
                    for (field, value) in spec {
                        if !value.is_null() {
                            binding.put(&["spec", field], value);
                        } else if let Some(fields) = binding["spec"].as_object_mut() {
                            fields.remove(field);
                        }
                    }
                    let generation = binding.generation() + 1;
                    binding.put(&["metadata", "generation"], json!(generation));
                }
                bindings::rollout_started(binding, &run.name, &run.spec.snapshot, now);
            }),
            Action::DeleteBinding(name) => self.change(kinds.binding, &name, |binding| {
                if !binding.deleting() {
                    let now = json!(now.to_string());
                    binding.put(&["metadata", "deletionTimestamp"], now);
                }
            }),
            Action::CreateApproval(mut request) => {
                if self.world.get(kinds.approval, "", request.name()).is_none() {
                    request.put(&["metadata", "generation"], json!(1));
                    self.write(kinds.approval, request);
                }
            }
            Action::AcceptApproval(name) => self.change(kinds.approval, &name, |request| {
                conditions::accept(request, now);
            }),
        }
    }

    /// The member clusters have applied and made available what was written for this binding.
    pub fn available(&mut self, binding: &str, now: Timestamp) {
        self.change(Kind::ClusterResourceBinding, binding, |binding| {
            let mut list = conditions::of_status(binding);
            for kind in ["Overridden", "WorkSynchronized", "Applied", "Available"] {
                let condition = Condition::new(kind, ("True", kind, ""), binding.generation());
                conditions::set(&mut list, condition, now);
            }
            binding.put(&["status", "conditions"], json!(list));
        });
    }
}
