//! Making a new run: the preflight is shown, the name is looked at, the content is seen to.

mod content;
mod existing;
mod start;

use crate::change::guard::{self, Accepted};
use crate::change::neighbours::{Neighbour, arrived, neighbours};
use crate::change::preview::Preview;
use crate::change::record::{Record, Told};
use crate::change::states;
use crate::change::{Change, RunWish};
use crate::commands::open::around::Around;
use crate::commands::open::manifests::{Material, Works};
use crate::commands::open::planning::{self, Planned, PlannedRun, StrategyChoice};
use crate::commands::open::reading::Reading;
use crate::commands::operate::delete::{Doomed, delete_for_good};
use crate::commands::operate::operation::{
    Done, Operation, Proposal, ThisRun, WriteEffect, interrupted, may_patch,
};
use crate::commands::operate::steering;
use crate::commands::operate::writing::{DryRun, Writing};
use crate::commands::show::plan::diff;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::{Concept, ObjectRef};
use crate::plan::{Plan, PlanOutcome, WarningKind};
use crate::render::Look;
use crate::render::style::Paint;
use crate::report::Verdict;
use crate::rollout::Rollout;
use crate::words::{CommandLine, Hint, enumerate};
use existing::ExistingRun;
pub(in crate::commands) use start::start;

// No comment on the type: clap would print it.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(in crate::commands) struct Risks {
    /// Start even if a cluster would, or might, get an older snapshot
    #[arg(long)]
    allow_older: bool,
    /// Start even if a check cannot read what it needs
    #[arg(long)]
    allow_unseen: bool,
}

impl From<Risks> for Accepted {
    fn from(risks: Risks) -> Self {
        Self {
            older: risks.allow_older,
            unseen: risks.allow_unseen,
        }
    }
}

/// A run that is to be made.
pub(in crate::commands) struct Launch {
    /// Its name.
    pub run: ObjectRef,
    /// The placement, in the run's scope.
    pub placement: ObjectRef,
    /// The strategy, in the run's scope.
    pub strategy: String,
    /// The snapshot; `None` means the content as it is now.
    pub snapshot: Option<String>,
    /// Whether it is started too.
    pub start: bool,
    /// What the user takes the responsibility for.
    pub accepted: Accepted,
    /// What is said before the plan.
    pub preview: Preview,
    /// What is asked before anything is sent, where something is to be asked in any case.
    pub question: Option<String>,
    /// What is done first, once that was confirmed.
    pub first: Vec<First>,
    /// Whether it is shown how the objects change.
    pub diff: bool,
}

/// What is done before a run is made.
pub(in crate::commands) enum First {
    /// A run is stopped.
    Stop(ThisRun),
    /// A run is deleted.
    Delete(Box<Doomed>),
}

impl First {
    /// The run that it is about.
    pub(in crate::commands) const fn object(&self) -> &ObjectRef {
        match self {
            Self::Stop(this) => &this.object,
            Self::Delete(doomed) => &doomed.run.object,
        }
    }
}

impl Launch {
    /// The placement and strategy of an old run once more, from the current content, in its place
    /// where it is to be replaced.
    pub(in crate::commands) fn again(
        old: &Rollout<'_>,
        run: &ObjectRef,
        replace: bool,
        risks: Risks,
    ) -> Self {
        let spec = &old.run.spec;
        let mut launch = Self {
            run: run.clone(),
            placement: run.scope().object(Concept::Placement, &spec.placement),
            strategy: spec.strategy.clone(),
            snapshot: None,
            start: true,
            accepted: risks.into(),
            preview: Preview::default(),
            question: None,
            first: Vec::new(),
            diff: false,
        };
        if replace {
            let doomed = Doomed::of(old);
            launch.preview.append(doomed.shown.clone());
            let question = format!("Delete {} and start {}?", old.run.meta.name, run.name);
            launch.question = Some(question);
            launch.first.push(First::Delete(Box::new(doomed)));
        }
        launch
    }

    /// Whether a run of the same name is deleted first.
    fn replaces_its_name(&self) -> bool {
        let mut first = self.first.iter();
        first.any(|first| matches!(first, First::Delete(_)) && *first.object() == self.run)
    }

    /// The command that makes this run, once what comes first is done.
    fn command(&self) -> CommandLine {
        let mut command = self
            .run
            .fleet(if self.start { "run" } else { "init" })
            .flag("--placement", &self.placement.name)
            .flag("--strategy", &self.strategy);
        if let Some(index) = &self.snapshot {
            command = command.flag("--snapshot", index);
        }
        if self.start && self.accepted.older {
            command = command.switch("--allow-older");
        }
        if self.accepted.unseen {
            command = command.switch("--allow-unseen");
        }
        command
    }
}

/// A run that is to be made, as it was shown.
enum Offer {
    /// It exists: it is gone on with.
    Same(Launch, ThisRun),
    /// It is made.
    New {
        launch: Launch,
        /// What it says of itself; `None` where it was refused.
        wish: Option<RunWish>,
        /// The other runs on the placement.
        beside: Vec<Neighbour>,
    },
}

/// How far a launch has got.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Got {
    /// The run does not exist, or does not exist any more.
    Nothing,
    /// The run was made.
    Made,
}

/// Makes a run, and waits until it is where it is to be. What is wanted is worked out from what was
/// read, each time anew.
pub(in crate::commands) fn launch(
    wanted: &mut dyn FnMut(&mut Reading) -> Result<Launch, Error>,
    op: &mut Operation<'_>,
) -> Result<Exit, Error> {
    let look = op.look();
    let offered = op.agree(&mut |reading| offer(wanted(reading)?, &look, reading))?;
    match offered {
        Offer::Same(launch, this) => {
            let mut got = Got::Made;
            finish(&launch, &this, None, &mut got, op)
        }
        Offer::New {
            launch,
            wish,
            beside,
        } => {
            let Some(wish) = wish else {
                return Err(Error::failed(format!("{} was refused", launch.run)));
            };
            let mut got = Got::Nothing;
            make(&launch, wish, &beside, &mut got, op)
                .map_err(|error| midway(error, &launch, got, &op.reading.record))
        }
    }
}

/// Works out what is shown of a run that is to be made.
fn offer(mut launch: Launch, look: &Look, reading: &mut Reading) -> Result<Proposal<Offer>, Error> {
    if let ExistingRun::Same(this) = existing::look(&launch, reading)? {
        let mut preview = Preview::default();
        preview.status(&format!(
            "{} already exists with the same spec: continuing with it",
            this.object
        ));
        return Ok(Proposal {
            preview,
            question: Ok(None),
            what: Offer::Same(launch, this),
        });
    }
    let Planned {
        plan,
        around,
        overrides,
    } = plan(&launch, reading)?;
    let beside = neighbours(&around.inventory, &launch.run.name);
    let mut preview = std::mem::take(&mut launch.preview);
    show(&launch, &plan, look, &mut preview);
    let placement = launch.placement.clone();
    let mut material = Material::new(placement, around, overrides, false);
    if launch.diff {
        material.read_works(reading, Works::Of(&[]));
        reading.no_hub()?;
        differences(&plan, &material, look.paint, &mut preview);
    }
    let around = &material.around;
    preview.neighbours(&beside);
    let wish =
        guard(&launch, &plan, around, reading).and_then(|()| run_wish(&launch, &plan, reading));
    let (question, wish) = match wish {
        Ok(wish) => (Ok(question(&launch, &plan)), Some(wish)),
        Err(error) => (Err(error), None),
    };
    Ok(Proposal {
        preview,
        question,
        what: Offer::New {
            launch,
            wish,
            beside,
        },
    })
}

/// What the controller would compute.
fn plan(launch: &Launch, reading: &mut Reading) -> Result<Planned, Error> {
    let wish = PlannedRun {
        placement: launch.placement.clone(),
        strategy: StrategyChoice::Named(launch.strategy.clone()),
        snapshot: launch.snapshot.clone(),
        run: Some(launch.run.name.clone()),
    };
    planning::read(reading, &wish)
}

/// Does what comes first, makes the run, and goes on with it.
fn make(
    launch: &Launch,
    wish: RunWish,
    beside: &[Neighbour],
    got: &mut Got,
    op: &mut Operation<'_>,
) -> Result<Exit, Error> {
    let starts = launch.start && wish.state == Some("Initialize");
    let change = Change::create(&launch.run, wish);
    if !launch.first.is_empty() && !op.args.is_dry() {
        rehearse(launch, &change, starts, op)?;
    }
    for first in &launch.first {
        prepare(first, op)?;
    }
    if !launch.first.is_empty() && !op.args.is_dry() {
        still(launch, beside, op.reading)?;
    }
    if op.args.dry_run == DryRun::Server && launch.replaces_its_name() {
        op.rehearse(&change, true, launch.accepted)?;
        op.ui
            .status(&format!("would {} (checked by the server)", change.would));
        return Ok(Exit::Done);
    }
    let uid = match op.send(&change)? {
        Done::Dry => return Ok(Exit::Done),
        Done::Written { uid } => uid,
    };
    *got = Got::Made;
    let this = ThisRun {
        object: launch.run.clone(),
        uid,
    };
    if op.reading.is_interrupted() {
        return Err(interrupted(&format!("{} was created", launch.run)));
    }
    finish(launch, &this, Some(beside), got, op)
}

/// Has the server check each step before the first one is done: what comes first cannot be taken
/// back when the run is refused then.
fn rehearse(
    launch: &Launch,
    change: &Change,
    starts: bool,
    op: &mut Operation<'_>,
) -> Result<(), Error> {
    for first in &launch.first {
        let step = match first {
            First::Stop(this) => {
                let inventory = op.reading.overview(&this.object)?;
                let rollout = steering::rollout_of(&inventory, &this.object)?;
                match states::step(&rollout, states::Wish::Stop) {
                    states::StateStep::Write(change) => *change,
                    _ => continue,
                }
            }
            First::Delete(doomed) => doomed.change.clone(),
        };
        op.rehearse(&step, false, launch.accepted)?;
    }
    let taken = launch.replaces_its_name();
    op.rehearse(change, taken, launch.accepted)?;
    if starts {
        may_patch(&launch.run, op.reading)?;
    }
    Ok(())
}

/// That what was shown of the placement still holds, after what came first took its time.
fn still(launch: &Launch, beside: &[Neighbour], reading: &mut Reading) -> Result<(), Error> {
    reading.forget();
    let Planned { plan, around, .. } = plan(launch, reading)?;
    guard(launch, &plan, &around, reading)?;
    // What this command stopped does nothing, unless somebody resumed it.
    let shown: Vec<_> = beside
        .iter()
        .cloned()
        .map(|one| {
            let mut first = launch.first.iter();
            let settled = first.any(|first| first.object().name == one.name);
            Neighbour {
                moves: one.moves && !settled,
                ..one
            }
        })
        .collect();
    let now = neighbours(&around.inventory, &launch.run.name);
    alone(launch, &shown, &now, reading)
}

/// Refuses where a run has come that was not shown.
fn alone(
    launch: &Launch,
    shown: &[Neighbour],
    now: &[Neighbour],
    reading: &Reading,
) -> Result<(), Error> {
    let new = arrived(shown, now);
    if new.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = new
        .iter()
        .map(|one| format!("{} ({})", one.name, one.how))
        .collect();
    Err(Error::failed(format!(
        "someone else started a run on {} in the meantime: {}; {}",
        launch.placement,
        enumerate(names),
        reading.record.nothing("sent")
    )))
}

/// An error before the run was made, with what is missing and the command that completes it.
fn midway(error: Error, launch: &Launch, got: Got, record: &Record) -> Error {
    if got == Got::Made || record.is_empty() {
        return error;
    }
    let message = record.complete(&error.message, error.told);
    let message = format!("{message}; {} was not created", launch.run);
    Error { message, ..error }
        .telling(Told::All)
        .also(Hint::new("complete it with:").command(launch.command()))
}

/// Shows what the controller would compute.
fn show(launch: &Launch, plan: &Plan, look: &Look, preview: &mut Preview) {
    let settled: Vec<_> = launch.first.iter().map(First::object).cloned().collect();
    let plain = look.plain();
    preview.picture(
        planning::brief(plan, &settled, look),
        &planning::brief(plan, &settled, &plain),
    );
    for cluster in plan.clusters() {
        let has = cluster.snapshot_now.as_ref();
        let how = has.map_or_else(
            || "without content".to_owned(),
            |index| format!("at snapshot {index}"),
        );
        preview.fact(format!("cluster {}", cluster.name), how, "");
    }
}

/// Shows how the objects change.
fn differences(plan: &Plan, material: &Material, paint: Paint, preview: &mut Preview) {
    let changes = diff::changes(plan, material, false);
    let text = |paint| changes.iter().map(|it| it.text(paint)).collect::<String>();
    if changes.is_empty() {
        preview.status("no cluster's objects change");
    } else {
        preview.picture(text(paint), &text(Paint::new(false)));
    }
}

/// Refuses what the controller would refuse, what could not be checked, and what would take clusters
/// back without a word.
fn guard(launch: &Launch, plan: &Plan, around: &Around, reading: &Reading) -> Result<(), Error> {
    let nothing = reading.record.nothing("sent");
    if plan.outcome == PlanOutcome::Refused {
        let reasons: Vec<_> = plan
            .refusals
            .iter()
            .map(|one| one.message.as_str())
            .collect();
        let plan = launch.run.scope().fleet("plan");
        let plan = plan.flag("--placement", &launch.placement.name);
        let plan = plan.flag("--strategy", &launch.strategy);
        return Err(Error::new(
            Exit::Failed,
            format!(
                "KubeFleet would refuse {}: {} {}.",
                launch.run,
                reasons.join(" "),
                capital(&nothing)
            ),
        )
        .hint(
            Hint::new("see the remedies:").command(match &launch.snapshot {
                Some(index) => plan.flag("--snapshot", index),
                None => plan,
            }),
        ));
    }
    let guards = if launch.start {
        guard::LAUNCH
    } else {
        guard::INIT
    };
    steering::seen(guards, launch.accepted, &around.inventory, reading)?;
    if plan.outcome == PlanOutcome::Unknown && !launch.accepted.unseen {
        let missing: Vec<_> = plan
            .not_checked
            .iter()
            .map(|gap| format!("{}: {}", gap.what, gap.why))
            .collect();
        return Err(Error::new(
            Exit::Incomplete,
            format!(
                "what KubeFleet would do with {} is unknown ({}); {nothing}",
                launch.run,
                enumerate(missing)
            ),
        )
        .hint("or accept the risk with --allow-unseen"));
    }
    let back: Vec<_> = plan
        .going_back()
        .map(|cluster| cluster.name.as_str())
        .collect();
    if launch.start && !launch.accepted.older && !back.is_empty() {
        return Err(Error::failed(format!(
            "{} would get an older snapshot ({}); {nothing}",
            enumerate(back),
            plan.snapshot.index.as_deref().unwrap_or("unknown")
        ))
        .hint(
            Hint::new("to do that, use --allow-older, or roll back:").command(
                launch
                    .run
                    .scope()
                    .fleet("rollback")
                    .arg(launch.placement.word()),
            ),
        ));
    }
    Ok(())
}

pub(in crate::commands) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

/// What the run is to say of itself.
fn run_wish(launch: &Launch, plan: &Plan, reading: &Reading) -> Result<RunWish, Error> {
    let nothing = reading.record.nothing("sent");
    let old = plan.starts_at_once();
    if old && !launch.start {
        return Err(Error::failed(format!(
            "{} cannot be initialized without starting it: KubeFleet on this hub ignores spec.state \
             and starts every run immediately; {nothing}",
            launch.run
        ))
        .hint(
            Hint::new("preview it with plan, then start it:").command(
                launch
                    .run
                    .fleet("run")
                    .flag("--placement", &launch.placement.name)
                    .flag("--strategy", &launch.strategy),
            ),
        ));
    }
    let latest = launch.snapshot.as_deref() == Some("latest");
    let mut snapshot = match &launch.snapshot {
        Some(_) if latest => plan.snapshot.index.clone(),
        Some(index) => Some(index.clone()),
        None => None,
    };
    if old && snapshot.is_none() {
        // It begins before anyone can look which content it got.
        if let Some(at) = plan.snapshot.change_detected {
            return Err(Error::failed(format!(
                "the latest snapshot of {} lacks a change detected at {at}; KubeFleet on this hub \
                 would immediately start with the old content; {nothing}",
                launch.placement
            ))
            .hint("try again in 30s, or use --snapshot latest"));
        }
        snapshot.clone_from(&plan.snapshot.latest);
    }
    let certain = snapshot.is_some();
    Ok(RunWish {
        placement: launch.placement.name.clone(),
        strategy: launch.strategy.clone(),
        snapshot,
        state: match (old, launch.start && certain) {
            (true, _) => None,
            (false, true) => Some("Run"),
            (false, false) => Some("Initialize"),
        },
    })
}

/// What is asked before a run is made: a person could regret one that starts beside another.
fn question(launch: &Launch, plan: &Plan) -> Option<String> {
    if launch.question.is_some() || !launch.start {
        return launch.question.clone();
    }
    let name = &launch.run.name;
    let settled = |name: &str| launch.first.iter().any(|first| first.object().name == name);
    let beside = plan
        .warnings_of(WarningKind::OtherRunActive)
        .find(|beside| !settled(&beside.subject.name))?;
    Some(format!(
        "Start {name} while {} is unfinished?",
        beside.subject.name
    ))
}

/// Does what comes before.
fn prepare(first: &First, op: &mut Operation<'_>) -> Result<(), Error> {
    // What is done on the way is not the result that was asked for; of what would be sent, it is a
    // part.
    let quiet = Writing {
        output: op.args.output.filter(|_| op.args.is_dry()),
        wait: None,
        ..op.args.clone()
    };
    let op = &mut op.with(&quiet);
    match first {
        First::Stop(this) => {
            let run = &this.object;
            if !op.reading.record.is_empty() {
                op.reading.forget();
            }
            let inventory = op.reading.overview(run)?;
            steering::is_this(&steering::rollout_of(&inventory, run)?, this)?;
            let steered = steering::steer(&inventory, run, states::Wish::Stop, op)?;
            let exit = steering::finish(&steered, states::Wish::Stop, op)?;
            if exit != Exit::Done {
                return Err(
                    Error::new(exit, format!("{run} was asked to stop but did not stop"))
                        .telling(Told::Last),
                );
            }
        }
        First::Delete(doomed) => {
            doomed.is_as_shown(op.reading)?;
            delete_for_good(&doomed.run, &doomed.change, op)?;
        }
    }
    Ok(())
}

/// How often a run is made again for its content.
const TRIES: usize = 5;

/// Waits until the run is initialized with the right content, starts it where it is to be started,
/// and follows it as far as was asked. `beside` are the runs that were shown beside one that this
/// command created.
fn finish(
    launch: &Launch,
    this: &ThisRun,
    beside: Option<&[Neighbour]>,
    got: &mut Got,
    op: &mut Operation<'_>,
) -> Result<Exit, Error> {
    if op.args.is_dry() {
        return Ok(Exit::Done);
    }
    let run = &this.object;
    // Whose answer was lost may have been made by another.
    let created = beside.is_some() && !this.uid.is_empty();
    if op.args.returns_at_once() && (!launch.start || launch.snapshot.is_some()) {
        let did = if created { "was created" } else { "exists" };
        op.result(run, &format!("{run} {did}"))?;
        return Ok(Exit::Done);
    }
    let mut again = None;
    let mut status = None;
    for attempt in 1..=TRIES {
        let this = again.as_ref().unwrap_or(this);
        match initialized(this, op)? {
            Ok(initialized) => status = Some(initialized),
            Err(failed) => {
                op.conclude(run, &failed)?;
                return Ok(Exit::from(failed.verdict));
            }
        }
        match content::see_to(launch, this, created, got, op)? {
            content::ContentSeen::Right => break,
            content::ContentSeen::Again(_) if attempt == TRIES => {
                return Err(Error::failed(format!(
                    "{run} got old content {TRIES} times, because the content changes faster than \
                     the hub creates snapshots; the last run was not started"
                )));
            }
            content::ContentSeen::Again(new) => again = Some(new),
        }
    }
    if !launch.start {
        if let Some(mut status) = status {
            // It was computed just now: nothing has changed since.
            status.next = Some(run.fleet("run"));
            op.conclude(run, &status)?;
        }
        return Ok(Exit::Done);
    }
    let this = again.as_ref().unwrap_or(this);
    start(this, launch.accepted, beside, op)
}

/// Waits until a run is initialized; the inner error is the state of one that will not be.
fn initialized(
    this: &ThisRun,
    op: &mut Operation<'_>,
) -> Result<Result<Box<Status>, Box<Status>>, Error> {
    let run = &this.object;
    let mut seen = |status: &Status| {
        let run = status.run.as_ref()?;
        let never = status.verdict == Verdict::InitializationFailed;
        (run.initialized || never).then_some(!never)
    };
    let wanted = "the run to be initialized";
    match op.effect(this, wanted, &mut seen)? {
        WriteEffect::Seen(status) => Ok(Ok(status)),
        WriteEffect::Never(status) => Ok(Err(status)),
        WriteEffect::Late => Err(op
            .late(&format!("{run} was created but is not initialized"))
            .hint(Hint::new("find out why:").command(run.fleet("diagnose")))),
        WriteEffect::Gone => Err(Error::not_found(format!(
            "{run} was created but was deleted in the meantime"
        ))
        .telling(Told::Last)),
        WriteEffect::Interrupted => Err(interrupted(&format!(
            "{run} was created; stopped waiting for it to be initialized"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Got, Launch, midway};
    use crate::change::guard::Accepted;
    use crate::change::preview::Preview;
    use crate::change::record::Told;
    use crate::kubefleet::{Concept, Scope};

    fn launch(namespace: &str, snapshot: Option<&str>, start: bool, accepted: Accepted) -> Launch {
        let scope = Scope::of_namespace(namespace);
        Launch {
            run: scope.object(Concept::UpdateRun, "new"),
            placement: scope.object(Concept::Placement, "shop"),
            strategy: "rings; rm x".to_owned(),
            snapshot: snapshot.map(str::to_owned),
            start,
            accepted,
            preview: Preview::default(),
            question: None,
            first: Vec::new(),
            diff: false,
        }
    }

    #[test]
    fn the_command_that_completes_a_launch_makes_the_same_run() {
        let none = Accepted::default();
        let both = Accepted {
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

    #[test]
    fn a_failure_in_the_middle_tells_what_is_done_and_what_is_not() {
        let launch = launch("", None, true, Accepted::default());
        let failed = || crate::error::Error::failed("it was forbidden").hint("ask");
        let mut record = crate::change::record::Record::default();
        let error = midway(failed(), &launch, Got::Nothing, &record);
        assert_eq!(error.message, "it was forbidden");
        record.did("deleted old");
        let error = midway(failed(), &launch, Got::Made, &record);
        assert_eq!(
            (error.message.as_str(), error.told),
            ("it was forbidden", Told::Nothing)
        );
        let error = midway(failed(), &launch, Got::Nothing, &record);
        assert_eq!(
            error.message,
            "it was forbidden; already done: deleted old; ClusterStagedUpdateRun new was not \
             created"
        );
        let hint = error.hint.unwrap().to_string();
        assert!(
            hint.starts_with("ask\ncomplete it with:\n  kubectl fleet-stage run new "),
            "{hint}"
        );
        assert_eq!(error.told, Told::All);
    }
}
