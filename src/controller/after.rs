//! What somebody does to the objects, and how they stand then.

use std::sync::Arc;

use crate::inventory::{Listing, Sight};
use crate::kubefleet::meta::ObjectMeta;
use crate::kubefleet::object::{Object, ObjectBody};
use crate::kubefleet::run::{RunSpec, RunState, UpdateRun};
use crate::kubefleet::{ConditionStatus, reasons};

use super::state::{State, known, set_condition};
use crate::rollout::AgentVersion;

/// What somebody does.
#[derive(Debug, Clone)]
pub enum Intervention {
    /// Approves a request, for its generation as it stands.
    Approve { request: String },
    /// Starts, stops or resumes the run.
    SetState(RunState),
    /// Deletes the run.
    Delete,
    /// Makes a run on the same placement, with the same strategy.
    NewRun {
        name: String,
        /// The index of the snapshot; `None` means the current content.
        snapshot: Option<String>,
        state: RunState,
    },
    /// Puts an object in the place of that name, or where there was none.
    Put(Box<Object>),
}

/// Why nobody can say how the objects stand after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayObstacle {
    /// What was read does not decide; what is missing.
    Unknown(String),
    /// The hub, or our own command, does not do it.
    Refused(String),
}

/// The objects as they stand after it. The update run controller has not looked yet.
pub fn after(state: &State, act: &Intervention) -> Result<State, PlayObstacle> {
    let mut state = state.clone();
    match act {
        Intervention::Approve { request } => approve(&mut state, request)?,
        Intervention::SetState(wanted) => set_state(&mut state, *wanted)?,
        Intervention::Delete => {
            let now = state.now;
            let meta = &mut state.run.meta;
            meta.deleted.get_or_insert(now);
            meta.generation = Some(next_generation(meta.generation));
        }
        Intervention::NewRun {
            name,
            snapshot,
            state: wanted,
        } => {
            let run = new_run(&state, name, (snapshot.as_deref(), *wanted))?;
            state.run = run;
            state.retried = false;
        }
        Intervention::Put(object) => put(&mut state, object)?,
    }
    Ok(state)
}

fn next_generation(generation: Option<i64>) -> i64 {
    generation.unwrap_or(0).saturating_add(1)
}

fn approve(state: &mut State, name: &str) -> Result<(), PlayObstacle> {
    let now = state.now;
    let mut requests = state.approvals.items.iter_mut();
    let Some(request) = requests.find(|it| it.meta.name == name) else {
        known(&state.approvals)
            .map_err(|_| PlayObstacle::Unknown("approval requests".to_owned()))?;
        return Err(PlayObstacle::Refused(format!(
            "there is no approval request {name}"
        )));
    };
    let request = Arc::make_mut(request);
    let written = (
        reasons::APPROVED,
        ConditionStatus::True,
        "ApprovedByUser",
        "",
    );
    let generation = request.meta.generation;
    set_condition(&mut request.status.conditions, written, generation, now);
    Ok(())
}

/// The transitions that the hub refuses.
/// Source: apis/placement/v1beta1/stageupdate_types.go:UpdateRunSpec.
fn set_state(state: &mut State, wanted: RunState) -> Result<(), PlayObstacle> {
    if state.version == AgentVersion::V01 && state.run.spec.state.is_none() {
        let why = "runs of this hub have no state";
        return Err(PlayObstacle::Refused(why.to_owned()));
    }
    let old = state.run.spec.wants();
    let refused = match wanted {
        RunState::Initialize => old != RunState::Initialize,
        RunState::Stop => old == RunState::Initialize,
        RunState::Run => false,
        RunState::Other => true,
    };
    if refused {
        let (from, to) = (word(old), word(wanted));
        return Err(PlayObstacle::Refused(format!(
            "invalid state transition: cannot transition from {from} to {to}"
        )));
    }
    if old != wanted {
        state.run.spec.state = Some(word(wanted).to_owned());
        state.run.meta.generation = Some(next_generation(state.run.meta.generation));
    }
    Ok(())
}

const fn word(state: RunState) -> &'static str {
    match state {
        RunState::Initialize => "Initialize",
        RunState::Run => "Run",
        RunState::Stop => "Stop",
        RunState::Other => "Other",
    }
}

fn new_run(
    state: &State,
    name: &str,
    (snapshot, wanted): (Option<&str>, RunState),
) -> Result<UpdateRun, PlayObstacle> {
    if wanted == RunState::Stop {
        return Err(PlayObstacle::Refused(
            "a run does not begin stopped".to_owned(),
        ));
    }
    if name == state.run.meta.name {
        return Err(PlayObstacle::Refused(format!("the run {name} exists")));
    }
    let old = &state.run;
    let spec = RunSpec {
        placement: old.spec.placement.clone(),
        snapshot_index: snapshot.unwrap_or_default().to_owned(),
        strategy: old.spec.strategy.clone(),
        state: (state.version > AgentVersion::V01).then(|| word(wanted).to_owned()),
        ..RunSpec::default()
    };
    Ok(UpdateRun::made(name, &old.meta.namespace, spec, state.now))
}

/// Puts an object in its place. What the scheduler answers is not known.
fn put(state: &mut State, object: &Object) -> Result<(), PlayObstacle> {
    let meta = object.body.meta();
    let own = meta.namespace == state.scope.namespace();
    let run = &state.run.spec;
    match &object.body {
        ObjectBody::Placement(new) if own && meta.name == run.placement => {
            let old = state.placement.present();
            if old.is_none_or(|old| old.spec.policy != new.spec.policy) {
                return Err(unscheduled());
            }
            state.placement = Sight::Present(Arc::clone(new));
        }
        ObjectBody::Strategy(new) if own && meta.name == run.strategy => {
            state.strategy = Sight::Present(Arc::clone(new));
        }
        ObjectBody::Member(new) => {
            let policies = state.policies.iter();
            let mut policies = policies.filter_map(|policy| policy.spec.policy.as_deref());
            let mut old = state.members.items.iter();
            let old = old.find(|old| old.meta.name == meta.name);
            let picked = old.is_some_and(|old| old.spec.taints == new.spec.taints)
                && policies.all(|policy| policy.affinity.is_none());
            if !picked {
                return Err(unscheduled());
            }
            replace(&mut state.members, new, |it| &it.meta);
        }
        ObjectBody::Binding(new) if own => replace(&mut state.bindings, new, |it| &it.meta),
        ObjectBody::PolicySnapshot(new) if own => replace(&mut state.policies, new, |it| &it.meta),
        ObjectBody::ResourceSnapshot(new) if own => {
            replace(&mut state.snapshots, new, |it| &it.meta);
        }
        ObjectBody::Approval(new) if own => replace(&mut state.approvals, new, |it| &it.meta),
        ObjectBody::Override(new) => replace(&mut state.overrides, new, |it| &it.meta),
        ObjectBody::Run(new) if own && meta.name == state.run.meta.name => {
            state.run = UpdateRun::clone(new);
        }
        // Nothing else is looked at.
        _ => {}
    }
    Ok(())
}

fn unscheduled() -> PlayObstacle {
    PlayObstacle::Unknown("which clusters the scheduler picks then".to_owned())
}

fn replace<T>(listing: &mut Listing<T>, new: &Arc<T>, meta: impl Fn(&T) -> &ObjectMeta) {
    let key = |it: &T| (meta(it).namespace.clone(), meta(it).name.clone());
    let wanted = key(new);
    match listing.items.binary_search_by_key(&wanted, |it| key(it)) {
        Ok(at) => {
            if let Some(old) = listing.items.get_mut(at) {
                *old = Arc::clone(new);
            }
        }
        Err(at) => listing.items.insert(at, Arc::clone(new)),
    }
}
