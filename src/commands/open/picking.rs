//! Choosing at the terminal what a command line leaves out: runs, gates, placements, strategies,
//! snapshots.
//!
//! Each list is read like those that the commands print, and each choice is said as the command that
//! names it. Nothing is chosen silently, also where there is one candidate only.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;

use crate::change::states::{StateStep, Wish, step};
use crate::commands::open::reading::Reading;
use crate::commands::open::runs::{self, ReadDepth};
use crate::commands::open::selection::Reach;
use crate::commands::open::{around, names};
use crate::commands::output::age;
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::HubError;
use crate::inventory::source::Source;
use crate::kubefleet::object::Body;
use crate::kubefleet::{Concept, ObjectRef, Scope};
use crate::render::style::Paint;
use crate::render::table::{Cell, Column, Sheet, Table};
use crate::report::Verdict;
use crate::rollout::approvals::of_run;
use crate::rollout::rollback;
use crate::rollout::versions::versions;
use crate::rollout::{ClusterState, Phase, Rollout, StageView};
use crate::ui::Ui;
use crate::words::{CommandLine, Hint, count};

/// The runs that a command can do something with.
pub(in crate::commands) struct Eligible {
    is: fn(&Rollout<'_>) -> bool,
    /// What tells them from others, behind "update run".
    that: &'static str,
}

/// Every run.
pub(in crate::commands) const EVERY: Eligible = Eligible {
    is: |_| true,
    that: "",
};

/// Runs that are not over.
pub(in crate::commands) const ACTIVE: Eligible = Eligible {
    is: |rollout| rollout.is_live(),
    that: " that is not over",
};

/// Runs that wait for an approval.
pub(in crate::commands) const WAITING: Eligible = Eligible {
    is: |rollout| rollout.is_live() && rollout.open_approvals().next().is_some(),
    that: " that waits for an approval",
};

/// Runs that can be started.
pub(in crate::commands) const STARTABLE: Eligible = Eligible {
    is: |rollout| can(rollout, Wish::Start),
    that: " that can be started",
};

/// Runs that can be stopped.
pub(in crate::commands) const STOPPABLE: Eligible = Eligible {
    is: |rollout| can(rollout, Wish::Stop),
    that: " that can be stopped",
};

/// Runs that can be resumed.
pub(in crate::commands) const RESUMABLE: Eligible = Eligible {
    is: |rollout| can(rollout, Wish::Resume),
    that: " that can be resumed",
};

fn can(rollout: &Rollout<'_>, wish: Wish) -> bool {
    matches!(step(rollout, wish), StateStep::Write(_))
}

/// Rows of candidates, and what each stands for.
struct Candidates<T> {
    columns: Vec<Column>,
    rows: Vec<(String, Vec<Cell>)>,
    stand_for: Vec<T>,
}

impl<T> Candidates<T> {
    fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self {
            columns: columns.into(),
            rows: Vec::new(),
            stand_for: Vec::new(),
        }
    }

    /// Adds a row; its namespace is shown where that tells candidates apart.
    fn add(&mut self, stands_for: T, namespace: &str, cells: impl Into<Vec<Cell>>) {
        self.stand_for.push(stands_for);
        self.rows.push((namespace.to_owned(), cells.into()));
    }

    /// The rows as lines of so many columns, no two of which are the same.
    fn lines(&self, width: usize) -> Vec<String> {
        let namespaces: HashSet<_> = self.rows.iter().map(|(namespace, _)| namespace).collect();
        let namespaced = namespaces.len() > 1;
        let first = namespaced.then(|| Column::shrinking("", 9));
        let columns: Vec<_> = first.iter().chain(&self.columns).copied().collect();
        let mut table = Table::new(columns);
        for (namespace, cells) in &self.rows {
            let first = namespaced.then(|| Cell::from(namespace));
            table.row(first.into_iter().chain(cells.iter().cloned()));
        }
        let text = table.draw(&Sheet {
            width: Some(width),
            paint: Paint::new(false),
            headers: false,
        });
        distinct(text.lines().map(str::to_owned), width)
    }

    /// Lets the user choose one; the first is the one at `at`.
    fn one(
        mut self,
        what: &str,
        at: usize,
        reading: &mut Reading,
        ui: &mut Ui,
    ) -> Result<T, Error> {
        let prompt = prompt(what, "type to filter, Esc leaves", ui);
        let lines = self.lines(ui.candidate_width());
        let chosen = ui.choose(&prompt, lines, at, reading.hub().as_deref());
        let chosen = chosen.map_err(interrupted)?;
        reading.renew();
        let chosen = chosen.filter(|chosen| *chosen < self.stand_for.len());
        Ok(self.stand_for.swap_remove(chosen.ok_or_else(nothing)?))
    }

    /// Lets the user choose one or more.
    fn several(self, what: &str, reading: &mut Reading, ui: &mut Ui) -> Result<Vec<T>, Error> {
        let prompt = prompt(what, "Space marks, a marks all, Esc leaves", ui);
        let lines = self.lines(ui.candidate_width());
        let chosen = ui.choose_several(&prompt, lines, reading.hub().as_deref());
        let chosen: HashSet<_> = chosen.map_err(interrupted)?.into_iter().collect();
        reading.renew();
        if chosen.is_empty() {
            return Err(nothing());
        }
        let all = self.stand_for.into_iter().enumerate();
        let marked = all.filter(|(at, _)| chosen.contains(at));
        Ok(marked.map(|(_, stands_for)| stands_for).collect())
    }
}

/// What is asked, and which keys serve where there is room to say so.
fn prompt(what: &str, keys: &str, ui: &Ui) -> String {
    let whole = format!("{what} ({keys}):");
    if whole.len() <= ui.candidate_width() {
        whole
    } else {
        format!("{what}:")
    }
}

fn nothing() -> Error {
    Error::failed("nothing chosen")
}

fn interrupted(error: HubError) -> Error {
    match error {
        HubError::Interrupted => Error {
            exit: Exit::Interrupted,
            ..Error::failed("interrupted: nothing chosen")
        },
        error => error.into(),
    }
}

/// Lines that can be told from each other, of at most so many bytes more than columns as an ellipsis
/// in each of four columns takes.
fn distinct(lines: impl IntoIterator<Item = String>, width: usize) -> Vec<String> {
    let most = width.saturating_add(8);
    let mut seen = HashSet::new();
    let lines = lines.into_iter().map(|line| {
        let mut shown = first_bytes(&line, most).to_owned();
        let mut number = 1_u32;
        while !seen.insert(shown.clone()) {
            number = number.saturating_add(1);
            let mark = format!(" #{number}");
            shown = first_bytes(&line, most.saturating_sub(mark.len())).to_owned() + &mark;
        }
        shown
    });
    lines.collect()
}

/// As many whole characters as fit into so many bytes.
fn first_bytes(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// Where candidates are looked for: files have no scope that is meant unless one is named.
fn reach(namespace: Option<&str>, reading: &Reading) -> Reach {
    if namespace.is_none() && reading.is_offline() {
        Reach::everywhere()
    } else {
        Reach::one(Scope::of_namespace(namespace.unwrap_or_default()))
    }
}

/// Says what was chosen, as a command that names it.
fn say(command: CommandLine, reading: &Reading, ui: &mut Ui) {
    let command = ui.invocation().command(&reading.again(command));
    let line = ui.paint_err().command(&command);
    ui.note(&format!("{line}\n"));
}

/// Lets the user choose a run. `command` completes the command that is then said.
pub(in crate::commands) fn run(
    eligible: &Eligible,
    namespace: Option<&str>,
    reading: &mut Reading,
    ui: &mut Ui,
    command: impl FnOnce(CommandLine) -> CommandLine,
) -> Result<ObjectRef, Error> {
    let reach = reach(namespace, reading);
    let runs = runs::read(reading, &reach, ReadDepth::Verdict, |_| true)?;
    runs.warn(ui);
    let mut rollouts = runs.rollouts();
    rollouts.retain(|(_, rollout)| (eligible.is)(rollout));
    rollouts.sort_by_key(|(_, rollout)| (!rollout.is_live(), Reverse(rollout.run.meta.created)));
    if rollouts.is_empty() {
        return Err(no_run(eligible, &reach, reading));
    }
    let mut candidates = Candidates::new([
        Column::shrinking("", 16),
        Column::new(""),
        Column::new(""),
        Column::new(""),
        Column::shrinking("", 5),
        Column::shrinking("", 9),
    ]);
    for (_, rollout) in &rollouts {
        let run = rollout.run;
        candidates.add(
            run.object(),
            &run.meta.namespace,
            [
                Cell::from(&run.meta.name),
                Cell::from(diagnose::verdict(rollout).as_str()),
                Cell::from(done(rollout)),
                Cell::from(age(run.meta.created, rollout.now)),
                Cell::from(rollout.current_stage().map(StageView::name)),
                Cell::from(&run.spec.placement),
            ],
        );
    }
    let named_alike: HashSet<_> = runs
        .placements
        .iter()
        .map(|inventory| inventory.placement_name.clone())
        .collect();
    let chosen = candidates.one("Choose an update run", 0, reading, ui)?;
    // A bare name may be that of a placement too.
    let name = if named_alike.contains(&chosen.name) {
        chosen.word()
    } else {
        chosen.name.clone()
    };
    let said = chosen.scope().fleet(reading.command()).arg(name);
    say(command(said), reading, ui);
    Ok(chosen)
}

/// How far a run has come.
fn done(rollout: &Rollout<'_>) -> String {
    let done = rollout
        .clusters()
        .filter(|cluster| cluster.state == ClusterState::Done);
    format!("{}/{}", done.count(), rollout.clusters().count())
}

/// That there is no run to choose, and where there are some.
fn no_run(eligible: &Eligible, reach: &Reach, reading: &mut Reading) -> Error {
    let error = Error::failed(format!(
        "{} holds no update run{}{}",
        reading.place(),
        eligible.that,
        in_this_scope(reach)
    ));
    let all = CommandLine::fleet("list").switch("-A");
    error.hint(Hint::new("see all update runs:").command(reading.again(all)))
}

fn in_this_scope(reach: &Reach) -> &'static str {
    if reach.is_everywhere() {
        ""
    } else {
        " in this scope"
    }
}

/// Lets the user choose among the gates that wait for a person.
pub(in crate::commands) fn gates(
    namespace: Option<&str>,
    reading: &mut Reading,
    ui: &mut Ui,
) -> Result<Vec<ObjectRef>, Error> {
    let reach = reach(namespace, reading);
    let runs = runs::read(reading, &reach, ReadDepth::Approvals, |_| true)?;
    runs.warn(ui);
    let mut candidates = Candidates::new([
        Column::shrinking("", 20),
        Column::new(""),
        Column::new(""),
        Column::new(""),
        Column::shrinking("", 9),
    ]);
    for (inventory, rollout) in &runs.rollouts() {
        for gate in of_run(rollout) {
            if !gate.state.needs_a_person() {
                continue;
            }
            let request = inventory
                .scope
                .object(Concept::ApprovalRequest, &gate.request);
            let namespace = request.namespace.clone();
            let cells = [
                Cell::from(&gate.request),
                Cell::from(gate.state.describe()),
                Cell::from(done(rollout)),
                Cell::from(age(gate.asked, reading.now)),
                Cell::from(&gate.placement),
            ];
            candidates.add(request, &namespace, cells);
        }
    }
    let what = "Choose what to approve";
    let chosen = match candidates.stand_for.len() {
        0 => {
            let error = Error::failed(format!(
                "no approval is waited for{}",
                in_this_scope(&reach)
            ));
            let all = CommandLine::fleet("approvals").switch("-A");
            return Err(error.hint(Hint::new("see all approvals:").command(all)));
        }
        1 => vec![candidates.one(what, 0, reading, ui)?],
        _ => candidates.several(what, reading, ui)?,
    };
    for request in &chosen {
        say(request.fleet("approve"), reading, ui);
    }
    Ok(chosen)
}

/// Lets the user choose a placement.
pub(in crate::commands) fn placement(
    namespace: Option<&str>,
    reading: &mut Reading,
    ui: &mut Ui,
) -> Result<ObjectRef, Error> {
    let reach = reach(namespace, reading);
    let queries = reach.queries(Concept::Placement);
    let answers = reading.answer(&queries);
    reading.listed(&queries, &answers)?;
    let runs = runs::read(reading, &reach, ReadDepth::VerdictIfListed, |_| true)?;
    let mut newest: BTreeMap<ObjectRef, (Option<Timestamp>, String, Verdict)> = BTreeMap::new();
    for (_, rollout) in &runs.rollouts() {
        let run = rollout.run;
        let placement = run.placement();
        let seen = newest.get(&placement).map(|(created, ..)| *created);
        if seen.is_none_or(|created| created < run.meta.created) {
            let verdict = diagnose::verdict(rollout);
            let last = (run.meta.created, run.meta.name.clone(), verdict);
            newest.insert(placement, last);
        }
    }
    let mut candidates = Candidates::new([
        Column::shrinking("", 12),
        Column::new(""),
        Column::new(""),
        Column::shrinking("", 8),
    ]);
    for object in answers.iter().flat_map(|answer| answer.objects.iter()) {
        let Body::Placement(placement) = &object.body else {
            continue;
        };
        let reference = object.reference();
        let last = newest.get(&reference);
        let namespace = reference.namespace.clone();
        let cells = [
            Cell::from(&reference.name),
            Cell::from(last.map_or("no run", |(.., verdict)| verdict.as_str())),
            Cell::from(age(placement.meta.created, reading.now)),
            Cell::from(last.map(|(_, run, _)| run)),
        ];
        candidates.add(reference, &namespace, cells);
    }
    if candidates.stand_for.is_empty() {
        let place = reading.place();
        return Err(Error::failed(format!(
            "{place} holds no placement{}",
            in_this_scope(&reach)
        ))
        .hint("-n NAMESPACE looks for placements in a namespace"));
    }
    candidates.one("Choose a placement", 0, reading, ui)
}

/// Lets the user choose a placement, and says it as the command's only name.
pub(in crate::commands) fn named_placement(
    namespace: Option<&str>,
    reading: &mut Reading,
    ui: &mut Ui,
) -> Result<ObjectRef, Error> {
    let chosen = placement(namespace, reading, ui)?;
    say(chosen.fleet(reading.command()), reading, ui);
    Ok(chosen)
}

/// Lets the user choose a strategy, by name.
fn strategy(scope: &Scope, reading: &mut Reading, ui: &mut Ui) -> Result<String, Error> {
    let reach = Reach::one(scope.clone());
    let queries = reach.queries(Concept::Strategy);
    let answers = reading.answer(&queries);
    reading.listed(&queries, &answers)?;
    let columns = [
        Column::shrinking("", 12),
        Column::new(""),
        Column::new(""),
        Column::ending("", 12),
    ];
    let mut candidates = Candidates::new(columns);
    for object in answers.iter().flat_map(|answer| answer.objects.iter()) {
        let Body::Strategy(strategy) = &object.body else {
            continue;
        };
        let stages = &strategy.spec.stages;
        let names: Vec<_> = stages.iter().map(|stage| stage.name.as_str()).collect();
        candidates.add(
            strategy.meta.name.clone(),
            "",
            [
                Cell::from(&strategy.meta.name),
                Cell::from(count(stages.len(), "stage")),
                Cell::from(age(strategy.meta.created, reading.now)),
                Cell::from(names.join(", ")),
            ],
        );
    }
    if candidates.stand_for.is_empty() {
        let place = reading.place();
        return Err(Error::failed(format!(
            "{place} holds no strategy{}",
            in_this_scope(&reach)
        ))
        .hint(Hint::new("see all:").command(CommandLine::fleet("strategies").switch("-A"))));
    }
    candidates.one("Choose a strategy", 0, reading, ui)
}

/// What a command line says a new run is made of.
pub(in crate::commands) struct MadeOf {
    placement: Option<ObjectRef>,
    strategy: Option<String>,
}

impl MadeOf {
    /// What these words mean in a scope.
    pub(in crate::commands) fn new(
        placement: Option<&str>,
        strategy: Option<&str>,
        scope: &Scope,
    ) -> Result<Self, Error> {
        let meant = |word: Option<&str>, concept| {
            word.map(|word| names::of_one(word, concept, scope))
                .transpose()
        };
        Ok(Self {
            placement: meant(placement, Concept::Placement)?,
            strategy: meant(strategy, Concept::Strategy)?.map(|strategy| strategy.name),
        })
    }
}

/// What a new run is made of.
pub(in crate::commands) struct Made {
    pub placement: ObjectRef,
    /// The strategy's name.
    pub strategy: String,
}

/// The placement and the strategy of a new run; of these the user chooses what was not given.
pub(in crate::commands) fn made(
    run: &ObjectRef,
    given: MadeOf,
    reading: &mut Reading,
    ui: &mut Ui,
) -> Result<Made, Error> {
    let scope = run.scope();
    let (placement, strategy) = match (given.placement, given.strategy) {
        (Some(placement), Some(strategy)) => {
            return Ok(Made {
                placement,
                strategy,
            });
        }
        given if !ui.offers_choices() => {
            let missing = if given.0.is_none() {
                "--placement"
            } else {
                "--strategy"
            };
            return Err(Error::usage(format!("{missing} is missing")));
        }
        given => given,
    };
    let namespace = (!scope.is_cluster()).then(|| scope.namespace());
    let placement = match placement {
        Some(placement) => placement,
        None => self::placement(namespace, reading, ui)?,
    };
    let strategy = match strategy {
        Some(strategy) => strategy,
        None => self::strategy(&scope, reading, ui)?,
    };
    let said = run
        .fleet(reading.command())
        .flag("--placement", &placement.name)
        .flag("--strategy", &strategy);
    say(said, reading, ui);
    Ok(Made {
        placement,
        strategy,
    })
}

/// Lets the user choose the snapshot that a placement goes back to, by its index.
pub(in crate::commands) fn snapshot(
    placement: &ObjectRef,
    reading: &mut Reading,
    ui: &mut Ui,
) -> Result<String, Error> {
    let required = [Concept::UpdateRun, Concept::ResourceSnapshot];
    let around = around::read(reading, placement, &required, &[Concept::Binding])?;
    let inventory = &around.inventory;
    let usable = rollback::destinations(inventory);
    let good = rollback::current(inventory)
        .and_then(|now| rollback::last_good(inventory, now).ok())
        .map(|good| good.index);
    let columns = [
        Column::new(""),
        Column::new(""),
        Column::new(""),
        Column::new(""),
        Column::shrinking("", 12),
    ];
    let mut candidates = Candidates::new(columns);
    let mut first = 0;
    for version in versions(inventory).iter().rev() {
        if !usable.contains(&version.index) {
            continue;
        }
        if good == Some(version.index.as_str()) {
            first = candidates.stand_for.len();
        }
        let completed = version
            .runs
            .iter()
            .map(|run| Rollout::of(inventory, run))
            .filter(|rollout| rollout.phase == Phase::Succeeded)
            .max_by_key(Rollout::ended);
        let by = completed.as_ref().map(|rollout| {
            let ago = age(rollout.ended(), reading.now).unwrap_or_default();
            format!("completed {ago} ago by {}", rollout.run.meta.name)
        });
        let mark = if version.is_latest() { "latest" } else { "" };
        candidates.add(
            version.index.clone(),
            "",
            [
                Cell::from(format!("snapshot {}", version.index)),
                Cell::from(mark),
                Cell::from(format!("on {}", count(version.bindings.len(), "cluster"))),
                Cell::from(age(version.created(), reading.now)),
                Cell::from(by.unwrap_or_else(|| "no run completed it".to_owned())),
            ],
        );
    }
    if candidates.stand_for.is_empty() {
        return Err(Error::failed(format!("{placement} has no snapshot")));
    }
    let chosen = candidates.one("Choose the snapshot to go back to", first, reading, ui)?;
    let said = placement.scope().fleet("rollback").arg(placement.word());
    say(said.flag("--to", &chosen), reading, ui);
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::{Candidates, Cell, Column, distinct};

    #[test]
    fn a_row_fits_and_keeps_what_is_unique() {
        let mut candidates = Candidates::new([
            Column::shrinking("", 12),
            Column::new(""),
            Column::shrinking("", 9),
        ]);
        for name in [
            "checkout-2026-11-22-rollback-a",
            "checkout-2026-11-22-rollback-b",
            "web",
        ] {
            let cells = [name, "WaitingForApproval", "checkout-placement"].map(Cell::from);
            candidates.add(name, "", cells);
        }
        let lines = candidates.lines(52);
        assert_eq!(
            lines,
            [
                "checkout-…ack-a  WaitingForApproval  checkout-…ement",
                "checkout-…ack-b  WaitingForApproval  checkout-…ement",
                "web              WaitingForApproval  checkout-…ement",
            ]
        );
    }

    #[test]
    fn rows_that_look_alike_are_told_apart() {
        let lines = ["one", "one", "two", "one"].map(str::to_owned);
        assert_eq!(distinct(lines, 20), ["one", "one #2", "two", "one #3"]);
        // Also where only the end differs, which does not fit.
        let lines = ["x".repeat(40) + "a", "x".repeat(40) + "b"];
        let shown = distinct(lines, 10);
        assert_eq!(shown[0].len(), 18);
        assert_eq!(shown[1].len(), 18);
        assert_ne!(shown[0], shown[1]);
        // A character is kept or left out as a whole.
        assert_eq!(distinct(["日本語日本語日本語".to_owned()], 3), ["日本語"]);
    }
}
