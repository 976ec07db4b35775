//! The controller of update runs: when it looks at a run, and what it writes then.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::api::{Answer, Api, Failure};
use super::bindings;
use super::conditions::{self, Conditions};
use super::control::{Context, each};
use super::execute;
use super::halt::Halt;
use super::initialize::{self, Targets};
use super::kinds::{Kind, Scope};
use super::look::{Action, Look, Next};
use super::marks;
use super::names;
use super::object::Object;
use super::resolve;
use super::status::Run;
use super::timing::Timing;
use super::validate::{self, Position};
use super::world::World;

/// The first pause after an error; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// The longest pause is this many times the pause between two looks.
const LONGEST_PAUSE: u32 = 66;

/// An update run: its kind, namespace and name.
type Key = (Kind, String, String);

/// When a run is looked at next.
struct Due {
    at: Instant,
    failures: u32,
}

/// Which runs are to be looked at, and when.
#[derive(Default)]
pub(crate) struct Runs {
    due: BTreeMap<Key, Due>,
    seen: BTreeMap<Key, (String, i64)>,
    approvals: BTreeMap<Key, Approval>,
}

/// What was last seen of an approval request.
#[derive(Clone, PartialEq, Eq)]
struct Approval {
    run: String,
    approved: bool,
    accepted: bool,
}

/// What follows from a look.
enum Outcome {
    Done,
    Again,
    After(Duration),
    /// Again after a pause, and a longer one each time.
    Retry(Option<String>),
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Conflict | Failure::NotFound => Self::Retry(None),
            Failure::Other(text) => Self::Retry(Some(text)),
        }
    }
}

/// Looks at every run when it is due.
pub(crate) async fn control(mut context: Context) {
    let mut runs = Runs::default();
    loop {
        let errors = runs.pass(&context.api, &context.timing).await;
        let next = runs.due.values().map(|due| due.at).min();
        context.rest(next, errors).await;
    }
}

impl Runs {
    async fn pass(&mut self, api: &Api, timing: &Timing) -> Vec<String> {
        let world = &api.world();
        self.notice(world);
        let now = Instant::now();
        let due: Vec<Key> = self
            .due
            .iter()
            .filter(|(_, due)| due.at <= now)
            .map(|(key, _)| key.clone())
            .collect();
        let looks = due.into_iter().map(|key| async move {
            let outcome = match world.get(key.0, &key.1, &key.2) {
                None => Outcome::Done,
                Some(object) => match look(api, timing, world, object.clone()).await {
                    Ok(outcome) | Err(outcome) => outcome,
                },
            };
            Ok((key, outcome))
        });
        let (outcomes, _) = each(looks).await;
        let mut errors = Vec::new();
        for (key, outcome) in outcomes {
            if let Outcome::Retry(Some(error)) = &outcome {
                errors.push(error.clone());
            }
            self.plan(key, &outcome, timing);
        }
        errors
    }

    fn plan(&mut self, key: Key, outcome: &Outcome, timing: &Timing) {
        let failures = self.due.get(&key).map_or(0, |due| due.failures);
        let (pause, failures) = match outcome {
            Outcome::Done => {
                self.due.remove(&key);
                return;
            }
            Outcome::After(pause) => (*pause, 0),
            Outcome::Again | Outcome::Retry(_) => {
                let longest = timing.look * LONGEST_PAUSE;
                let pause = FIRST_PAUSE.saturating_mul(1 << failures.min(24));
                (pause.min(longest), failures + 1)
            }
        };
        let at = Instant::now() + pause;
        self.due.insert(key, Due { at, failures });
    }

    /// Finds what has changed: new runs, runs with another spec, approvals given or taken away.
    fn notice(&mut self, world: &World) {
        let mut wake: BTreeSet<Key> = BTreeSet::new();
        let mut seen = BTreeMap::new();
        for kind in [Kind::ClusterStagedUpdateRun, Kind::StagedUpdateRun] {
            for run in world.all(kind) {
                let key = key(kind, run);
                let state = (run.uid().to_owned(), run.generation());
                if self.seen.get(&key) != Some(&state) {
                    wake.insert(key.clone());
                }
                seen.insert(key, state);
            }
        }
        self.seen = seen;
        let mut approvals = BTreeMap::new();
        for (kind, run) in [
            (Kind::ClusterApprovalRequest, Kind::ClusterStagedUpdateRun),
            (Kind::ApprovalRequest, Kind::StagedUpdateRun),
        ] {
            for request in world.all(kind) {
                let given = conditions::of_status(request);
                let state = Approval {
                    run: request.text("/spec/parentStageRollout").to_owned(),
                    approved: given.is_true("Approved", request.generation()),
                    accepted: given.is_true("ApprovalAccepted", request.generation()),
                };
                let key = key(kind, request);
                let before = self.approvals.remove(&key);
                if before.is_some_and(|before| before.approved != state.approved) {
                    wake.insert((run, key.1.clone(), state.run.clone()));
                }
                approvals.insert(key, state);
            }
            for ((_, namespace, _), gone) in &self.approvals {
                if !gone.accepted && namespace.is_empty() == (run == Kind::ClusterStagedUpdateRun) {
                    wake.insert((run, namespace.clone(), gone.run.clone()));
                }
            }
        }
        self.approvals = approvals;
        for key in wake.into_iter().filter(|key| self.seen.contains_key(key)) {
            let failures = self.due.get(&key).map_or(0, |due| due.failures);
            let at = Instant::now();
            self.due.insert(key, Due { at, failures });
        }
    }
}

fn key(kind: Kind, object: &Value) -> Key {
    (
        kind,
        object.namespace().to_owned(),
        object.name().to_owned(),
    )
}

/// One look at a run. An error is an outcome that came early.
async fn look(
    api: &Api,
    timing: &Timing,
    world: &World,
    mut object: Value,
) -> Result<Outcome, Outcome> {
    let scope = Scope::of(object.namespace());
    if object.deleting() {
        return Ok(delete(api, &scope, world, object).await?);
    }
    if !object.has_finalizer(names::RUN_FINALIZER) {
        object.add_finalizer(names::RUN_FINALIZER);
        // The controller writes the whole spec, with every field: that raises the generation of
        // a run that does not name a snapshot.
        if object.pointer("/spec/resourceSnapshotIndex").is_none() {
            object.put(&["spec", "resourceSnapshotIndex"], json!(""));
        }
        object = api.update(scope.kinds().run, &object).await?;
    }
    let mut run = Run::read(&object);
    if !api.served.obeys_state {
        "Run".clone_into(&mut run.spec.state);
        // The oldest version has no field for it.
        if run.status.resource_snapshot_index_used.is_empty() {
            run.status
                .resource_snapshot_index_used
                .clone_from(&run.spec.snapshot);
        }
    }
    let generation = run.generation;
    run.status.observe(generation);
    let mut writer = Writer {
        api,
        kind: scope.kinds().run,
        object,
    };
    let (position, targets) = match initialize::outcome(&run) {
        Some(false) => return Ok(Outcome::Done),
        Some(true) => {
            if run.status.conditions.find("Succeeded").is_some() {
                return Ok(Outcome::Done);
            }
            match validate::validate(&run, world) {
                Ok(found) => found,
                Err(halt) => return writer.fail(run, halt).await,
            }
        }
        None => {
            let targets = initialize(&mut writer, &mut run, world, timing).await?;
            let Some(targets) = targets else {
                return Ok(Outcome::Done);
            };
            (Position::Stage(0), targets)
        }
    };
    let Position::Stage(index) = position else {
        marks::run_succeeded(&mut run, Timestamp::now());
        writer.write(&run).await?;
        return Ok(Outcome::Done);
    };
    proceed(&mut writer, run, index, &targets, world, timing).await
}

/// Does what the run's state asks for.
#[allow(clippy::too_many_arguments)] // each is another thing
async fn proceed(
    writer: &mut Writer<'_>,
    run: Run,
    index: usize,
    targets: &Targets,
    world: &World,
    timing: &Timing,
) -> Result<Outcome, Outcome> {
    let mut look = Look {
        run,
        world,
        targets,
        timing,
        now: Timestamp::now(),
        actions: Vec::new(),
    };
    let Some(outcome) = execute::proceed(&mut look, index) else {
        return Ok(Outcome::Done);
    };
    let Look { run, actions, .. } = look;
    for action in actions {
        writer.act(&run, action).await?;
    }
    writer.write(&run).await?;
    Ok(match outcome {
        Ok(Next::Finished) | Err(Halt::Abort(_)) => Outcome::Done,
        Ok(Next::Again) => Outcome::Again,
        Ok(Next::After(pause)) => Outcome::After(pause),
        Err(Halt::Retry(_)) => Outcome::Retry(None),
    })
}

/// Initializes a run. Without targets it was refused, and says so.
async fn initialize(
    writer: &mut Writer<'_>,
    run: &mut Run,
    world: &World,
    timing: &Timing,
) -> Result<Option<Targets>, Outcome> {
    let prepared = match initialize::prepare(run, world) {
        Ok(targets) if run.spec.snapshot.is_empty() => {
            match current_snapshot(writer.api, run, world, timing).await? {
                Ok(index) => Ok((targets, index)),
                Err(halt) => Err(halt),
            }
        }
        Ok(targets) => initialize::named_snapshot(run, world).map(|index| (targets, index)),
        Err(halt) => Err(halt),
    };
    let now = Timestamp::now();
    match prepared {
        Ok((targets, index)) => {
            run.status.resource_snapshot_index_used = index;
            let success = if writer.api.served.obeys_state {
                initialize::SUCCESS
            } else {
                initialize::OLD_SUCCESS
            };
            initialize::conclude(run, Ok(success), now);
            writer.write(run).await?;
            Ok(Some(targets))
        }
        Err(Halt::Retry(why)) => Err(Outcome::Retry(Some(why))),
        Err(Halt::Abort(message)) => {
            initialize::conclude(run, Err(&message), now);
            writer.write(run).await?;
            Ok(None)
        }
    }
}

/// The index of the snapshot for a run that names none.
async fn current_snapshot(
    api: &Api,
    run: &Run,
    world: &World,
    timing: &Timing,
) -> Answer<Result<String, Halt>> {
    let kinds = run.scope.kinds();
    let name = &run.spec.placement;
    if api.served.obeys_state {
        let placement = world.get(kinds.placement, run.scope.namespace(), name);
        let placement = placement.ok_or(Failure::Conflict)?;
        return resolve::current(api, &run.scope, placement, world, timing).await;
    }
    // An old hub takes what the controller of placements has made.
    let latest = world
        .of_placement(kinds.resource_snapshot, &run.scope, name)
        .find(|snapshot| snapshot.label(names::IS_LATEST) == "true");
    Ok(latest.map_or_else(
        || {
            Err(Halt::Retry(format!(
                "no latest resourceSnapshots found for placement `{}`. This might be a transient \
                 state, need retry",
                run.scope.key(name)
            )))
        },
        |snapshot| Ok(snapshot.label(names::RESOURCE_INDEX).to_owned()),
    ))
}

/// Deletes the approval requests of a run, then lets it go.
async fn delete(api: &Api, scope: &Scope, world: &World, mut run: Value) -> Answer<Outcome> {
    let kinds = scope.kinds();
    let own: Vec<&Value> = world
        .all(kinds.approval)
        .filter(|request| {
            request.namespace() == scope.namespace()
                && request.label(names::TARGET_RUN) == run.name()
        })
        .collect();
    for request in own {
        api.delete(kinds.approval, request).await?;
    }
    if run.has_finalizer(names::RUN_FINALIZER) {
        run.drop_finalizer(names::RUN_FINALIZER);
        api.let_go(kinds.run, &run).await?;
    }
    Ok(Outcome::Done)
}

/// Writes what a look at one run decided.
struct Writer<'a> {
    api: &'a Api,
    kind: Kind,
    object: Value,
}

impl Writer<'_> {
    async fn write(&mut self, run: &Run) -> Answer<()> {
        let status = serde_json::to_value(&run.status)
            .map_err(|error| Failure::Other(format!("cannot write a status: {error}")))?;
        if self.object.get("status") == Some(&status) {
            return Ok(());
        }
        self.object["status"] = status;
        self.object = self.api.update_status(self.kind, &self.object).await?;
        Ok(())
    }

    async fn fail(&mut self, mut run: Run, halt: Halt) -> Result<Outcome, Outcome> {
        match halt {
            Halt::Retry(_) => Ok(Outcome::Retry(None)),
            Halt::Abort(message) => {
                marks::run_failed(&mut run, &message, Timestamp::now());
                self.write(&run).await?;
                Ok(Outcome::Done)
            }
        }
    }

    async fn act(&self, run: &Run, action: Action) -> Answer<()> {
        let kinds = run.scope.kinds();
        let namespace = run.scope.namespace();
        match action {
            Action::Rollout { binding, spec } => self.roll_out(run, &binding, spec).await,
            Action::DeleteBinding(name) => {
                let binding = json!({"metadata": {"name": name, "namespace": namespace}});
                self.api.delete(kinds.binding, &binding).await
            }
            Action::CreateApproval(request) => {
                match self.api.create(kinds.approval, &request).await {
                    Ok(_) | Err(Failure::Conflict) => Ok(()),
                    Err(failure) => Err(failure),
                }
            }
            Action::AcceptApproval(name) => {
                let mut request = self.api.get(kinds.approval, namespace, &name).await?;
                conditions::accept(&mut request, Timestamp::now());
                self.api.update_status(kinds.approval, &request).await?;
                Ok(())
            }
        }
    }

    // Scheduler and work generator write the same object: a conflict here is no reason to look at
    // the whole run again.
    async fn roll_out(
        &self,
        run: &Run,
        name: &str,
        spec: Vec<(&'static str, Value)>,
    ) -> Answer<()> {
        let kind = run.scope.kinds().binding;
        let mut tries = 0;
        loop {
            match self.roll_out_once(kind, run, name, &spec).await {
                Err(Failure::Conflict) if tries < 5 => tries += 1,
                done => return done,
            }
        }
    }

    async fn roll_out_once(
        &self,
        kind: Kind,
        run: &Run,
        name: &str,
        spec: &[(&'static str, Value)],
    ) -> Answer<()> {
        let mut binding = self.api.get(kind, run.scope.namespace(), name).await?;
        if !spec.is_empty() {
            for (field, value) in spec {
                if !value.is_null() {
                    binding.put(&["spec", field], value.clone());
                } else if let Some(fields) = binding["spec"].as_object_mut() {
                    fields.remove(*field);
                }
            }
            binding = self.api.update(kind, &binding).await?;
        }
        bindings::rollout_started(
            &mut binding,
            &run.name,
            &run.spec.snapshot,
            Timestamp::now(),
        );
        self.api.update_status(kind, &binding).await?;
        Ok(())
    }
}
