//! Making a new run: the preflight is shown, the name is looked at, the content is seen to.

mod content;
mod existing;

use super::delete::delete_for_good;
use super::planning::{self, StrategyChoice, Wish};
use super::reading::Reading;
use super::steering;
use super::writing::{self, Done, Effect, ThisRun, Writing};
use crate::change::states;
use crate::change::{Change, RunWish};
use crate::diagnose::finding::enumerate;
use crate::diagnose::report::Verdict;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::ObjectRef;
use crate::plan::{Outcome, Plan, WarningKind};
use crate::render::Look;
use crate::ui::Ui;
use crate::words::Hint;
use existing::Existing;

/// A run that is to be made.
pub(super) struct Launch {
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
    /// Whether going back to an older snapshot is wanted.
    pub allow_older: bool,
    /// What is asked before anything is sent, where something is to be asked in any case.
    pub question: Option<String>,
    /// What is done first, once that was confirmed.
    pub first: Vec<First>,
}

/// What is done before a run is made.
pub(super) enum First {
    /// A run is stopped.
    Stop(ThisRun),
    /// A run is deleted.
    Delete(ThisRun, Box<Change>),
}

impl First {
    /// The run that it is about.
    pub(super) const fn object(&self) -> &ObjectRef {
        match self {
            Self::Stop(this) | Self::Delete(this, _) => &this.object,
        }
    }
}

/// Makes a run, and waits until it is where it is to be.
pub(super) fn launch(
    launch: &Launch,
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
) -> Result<Exit, Error> {
    let existing = existing::look(launch, reading)?;
    if let Existing::Same(this) = &existing {
        ui.status(&format!(
            "{} exists and is the same: going on with it",
            this.object
        ));
        return finish(launch, this, false, reading, args, ui);
    }
    let wish = Wish {
        placement: launch.placement.clone(),
        strategy: StrategyChoice::Named(launch.strategy.clone()),
        snapshot: launch.snapshot.clone(),
        run: Some(launch.run.name.clone()),
    };
    let plan = planning::read(reading, &wish)?;
    show(launch, &plan, ui);
    guard(launch, &plan)?;
    let wanted = run_wish(launch, &plan)?;
    if let Some(question) = question(launch, &plan) {
        writing::confirm(&question, reading, args, ui)?;
    }
    for first in &launch.first {
        if let Some(exit) = prepare(first, reading, args, ui)? {
            return Ok(exit);
        }
    }
    let change = Change::create(&launch.run, wanted);
    let uid = match writing::send(&change, reading, args, ui)? {
        Done::Dry => return Ok(Exit::Done),
        Done::Written { uid } => uid,
    };
    let this = ThisRun {
        object: launch.run.clone(),
        uid,
    };
    if reading.is_interrupted() {
        return Err(writing::interrupted(&format!("{} was created", launch.run)));
    }
    // Whose answer was lost may have been made by another.
    let created = !this.uid.is_empty();
    finish(launch, &this, created, reading, args, ui)
}

/// Shows what the controller would compute.
fn show(launch: &Launch, plan: &Plan, ui: &mut Ui) {
    let look = Look {
        width: ui.width(),
        paint: ui.paint_err(),
        invocation: ui.invocation().clone(),
        verbose: false,
    };
    let settled: Vec<_> = launch.first.iter().map(First::object).cloned().collect();
    ui.picture(&planning::brief(plan, &settled, &look));
}

/// Refuses what the controller would refuse, and what would take clusters back without a word.
fn guard(launch: &Launch, plan: &Plan) -> Result<(), Error> {
    if plan.outcome == Outcome::Refused {
        let reasons: Vec<_> = plan
            .refusals
            .iter()
            .map(|one| one.message.as_str())
            .collect();
        let plan = launch.run.scope().fleet("plan");
        let plan = plan.flag("--placement", &launch.placement.name);
        let plan = plan.flag("--strategy", &launch.strategy);
        return Err(Error {
            exit: Exit::Failed,
            ..Error::failed(format!(
                "KubeFleet would refuse {}: {} Nothing was sent.",
                launch.run,
                reasons.join(" ")
            ))
        }
        .hint(
            Hint::new("see what to do about it:").command(match &launch.snapshot {
                Some(index) => plan.flag("--snapshot", index),
                None => plan,
            }),
        ));
    }
    let back: Vec<_> = plan
        .going_back()
        .map(|cluster| cluster.name.as_str())
        .collect();
    if launch.start && !launch.allow_older && !back.is_empty() {
        return Err(Error::failed(format!(
            "{} would go back to an older snapshot ({}); nothing was sent",
            enumerate(back),
            plan.snapshot.index.as_deref().unwrap_or("unknown")
        ))
        .hint(
            Hint::new("say --allow-older if that is what you want, or see rollback:").command(
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

/// What the run is to say of itself.
fn run_wish(launch: &Launch, plan: &Plan) -> Result<RunWish, Error> {
    let old = plan.starts_at_once();
    if old && !launch.start {
        return Err(Error::failed(format!(
            "{} cannot only be initialized: this hub's KubeFleet ignores spec.state and starts \
             every run at once; nothing was sent",
            launch.run
        ))
        .hint(
            Hint::new("look first with plan, then start it:").command(
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
                "a change of {} was noticed at {at} and is not in the latest snapshot yet; this \
                 hub's KubeFleet would start with the old content at once; nothing was sent",
                launch.placement
            ))
            .hint("try again in half a minute, or say --snapshot latest"));
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

/// What is asked before a run is made: a person could regret one that starts beside another, and
/// one of which not everything could be seen.
fn question(launch: &Launch, plan: &Plan) -> Option<String> {
    if launch.question.is_some() {
        return launch.question.clone();
    }
    if !launch.start {
        return None;
    }
    let name = &launch.run.name;
    let settled = |name: &str| launch.first.iter().any(|first| first.object().name == name);
    let beside = plan
        .warnings_of(WarningKind::OtherRunActive)
        .find(|beside| !settled(&beside.subject.name));
    if let Some(beside) = beside {
        return Some(format!(
            "Start {name} beside {}, which is not over?",
            beside.subject.name
        ));
    }
    (plan.outcome == Outcome::Unknown)
        .then(|| format!("Start {name}, although not everything could be checked?"))
}

/// Does what comes before; an exit code where that did not get there.
fn prepare(
    first: &First,
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
) -> Result<Option<Exit>, Error> {
    // What is done on the way is not the result that was asked for; of what would be sent, it is a
    // part.
    let quiet = Writing {
        output: args.output.filter(|_| args.is_dry()),
        wait: None,
        ..args.clone()
    };
    let exit = match first {
        First::Stop(this) => {
            let run = &this.object;
            let inventory = reading.overview(run)?;
            steering::is_this(&steering::rollout_of(&inventory, run)?, this)?;
            let steered =
                steering::steer(&inventory, run, states::Wish::Stop, reading, &quiet, ui)?;
            steering::finish(&steered, states::Wish::Stop, reading, &quiet, ui)?
        }
        First::Delete(this, change) => {
            delete_for_good(this, change, reading, &quiet, ui)?;
            Exit::Done
        }
    };
    Ok((exit != Exit::Done).then_some(exit))
}

/// How often a run is made again for its content.
const TRIES: usize = 5;

/// Waits until the run is initialized with the right content, starts it where it is to be started,
/// and follows it as far as was asked.
fn finish(
    launch: &Launch,
    this: &ThisRun,
    created: bool,
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
) -> Result<Exit, Error> {
    if args.is_dry() {
        return Ok(Exit::Done);
    }
    let run = &this.object;
    if args.returns_at_once() && (!launch.start || launch.snapshot.is_some()) {
        let did = if created { "was created" } else { "exists" };
        writing::result(run, &format!("{run} {did}"), reading, args, ui)?;
        return Ok(Exit::Done);
    }
    let mut again = None;
    let mut status = None;
    for attempt in 1..=TRIES {
        let this = again.as_ref().unwrap_or(this);
        match initialized(this, reading, args, ui)? {
            Ok(initialized) => status = Some(initialized),
            Err(failed) => {
                writing::conclude(run, &failed, reading, args, ui)?;
                return Ok(Exit::from(failed.verdict));
            }
        }
        match content::see_to(launch, this, created, reading, args, ui)? {
            content::Seen::Right => break,
            content::Seen::Again(_) if attempt == TRIES => {
                return Err(Error::failed(format!(
                    "{run} got old content {TRIES} times: the content changes faster than the hub \
                     makes snapshots; the last one was not started"
                )));
            }
            content::Seen::Again(new) => again = Some(new),
        }
    }
    if !launch.start {
        if let Some(status) = status {
            writing::conclude(run, &status, reading, args, ui)?;
        }
        return Ok(Exit::Done);
    }
    let inventory = reading.overview(run)?;
    let this = again.as_ref().unwrap_or(this);
    steering::is_this(&steering::rollout_of(&inventory, run)?, this)?;
    let wish = states::Wish::Start;
    let steered = steering::steer(&inventory, run, wish, reading, args, ui)?;
    steering::finish(&steered, wish, reading, args, ui)
}

/// Waits until a run is initialized; the inner error is the state of one that will not be.
fn initialized(
    this: &ThisRun,
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
) -> Result<Result<Box<Status>, Box<Status>>, Error> {
    let run = &this.object;
    let mut seen = |status: &Status| {
        let run = status.run.as_ref()?;
        let never = status.verdict == Verdict::InitializationFailed;
        (run.initialized || never).then_some(!never)
    };
    let wanted = "the run to be initialized";
    match writing::effect(this, wanted, reading, args, ui, &mut seen)? {
        Effect::Seen(status) => Ok(Ok(status)),
        Effect::Never(status) => Ok(Err(status)),
        Effect::Late => Err(writing::late(
            &format!("{run} was created, and is not initialized"),
            args,
        )
        .hint(Hint::new("see why:").command(run.fleet("diagnose")))),
        Effect::Gone => Err(Error::not_found(format!("{run} was deleted meanwhile"))),
        Effect::Interrupted => Err(writing::interrupted(&format!(
            "{run} was created; that it is initialized was not waited for"
        ))),
    }
}
