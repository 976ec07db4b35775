//! From a word on the command line to the object that is meant.

use crate::commands::gather::eligible::{self, RunFilter};
use std::sync::Arc;

use crate::commands::gather::names::{KnownNames, resolve};
use crate::commands::gather::pickers;
use crate::commands::gather::reading::{ReadingPlace, SourceReading};
use crate::commands::gather::selection::ListReach;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::HubError;
use crate::inventory::source::{HubQuery, ObjectSource, Outcome, QueryAnswer};
use crate::kubefleet::object::Object;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope};
use crate::ui::Ui;
use crate::words::{CommandLine, Hint};

impl SourceReading {
    /// The run or placement that a user means: a name, or TYPE/NAME; without a word, what the
    /// files were collected for, else the run that is chosen at the terminal.
    pub fn target(&mut self, word: Option<&str>, ui: &mut Ui) -> Result<ObjectRef, Error> {
        self.target_of(word, &[Concept::UpdateRun, Concept::Placement], ui)
    }

    /// The runs and placements that words mean, each once; without any, as for one. A word that
    /// means nothing is noted, and hides none of the others.
    pub fn targets(&mut self, words: &[String], ui: &mut Ui) -> Result<Vec<ObjectRef>, Error> {
        if words.is_empty() {
            return Ok(vec![self.target(None, ui)?]);
        }
        self.targets_of(words, &[Concept::UpdateRun, Concept::Placement], ui)
    }

    /// The runs that words mean, each once. Each of them must be there, or where several hubs are
    /// asked, on one of them.
    pub(in crate::commands) fn runs_of(
        &mut self,
        words: &[String],
        ui: &mut Ui,
    ) -> Result<Vec<ObjectRef>, Error> {
        let runs = self.targets_of(words, &[Concept::UpdateRun], ui)?;
        if self.one_of_several.is_none() && !self.absent.is_empty() {
            return Err(self.all_absent());
        }
        Ok(runs)
    }

    fn targets_of(
        &mut self,
        words: &[String],
        concepts: &[Concept],
        ui: &mut Ui,
    ) -> Result<Vec<ObjectRef>, Error> {
        let mut targets = Vec::new();
        for word in words {
            match self.target_of(Some(word), concepts, ui) {
                Ok(target) if targets.contains(&target) => {}
                Ok(target) => targets.push(target),
                Err(error) if error.exit == Exit::NotFound => {
                    self.absent.push((word.clone(), error));
                }
                Err(error) => return Err(error),
            }
        }
        if targets.is_empty() {
            return Err(self.all_absent());
        }
        if self.one_of_several.is_some() {
            self.allowed(&targets)?;
        }
        Ok(targets)
    }

    fn all_absent(&mut self) -> Error {
        let mut absent = self.take_absent().into_iter().map(|(_, error)| error);
        let first = absent.next();
        let first = first.unwrap_or_else(|| Error::not_found("no name was given"));
        absent.fold(first, |all, error| Error {
            message: format!("{}; {}", all.message, error.message),
            hint: all.hint.or(error.hint),
            ..all
        })
    }

    /// Fails where the hub denies all of the targets.
    fn allowed(&mut self, targets: &[ObjectRef]) -> Result<(), Error> {
        let mut denied = None;
        for target in targets {
            match self.ask(&HubQuery::object(target)).outcome {
                Outcome::Denied(why) => denied = denied.or(Some((target, why))),
                _ => return Ok(()),
            }
        }
        let Some((target, why)) = denied else {
            return Ok(());
        };
        let error = Error::new(Exit::Incomplete, format!("{target} cannot be read: {why}"));
        Err(error.hint(Hint::new("check your permission:").command(target.can_i("get"))))
    }

    /// The same for a command that takes only some concepts.
    pub fn target_of(
        &mut self,
        word: Option<&str>,
        concepts: &[Concept],
        ui: &mut Ui,
    ) -> Result<ObjectRef, Error> {
        let Some(word) = word else {
            return match &self.place {
                ReadingPlace::Files(bundle) if let Some(target) = &bundle.target => {
                    Ok(target.clone())
                }
                _ if ui.offers_choices() => pickers::run(&eligible::EVERY, self, ui),
                _ => Err(self.unnamed()),
            };
        };
        let namespace = self.namespace_of(word, ui);
        let namespace = namespace.as_deref();
        let candidates = candidates(word, namespace, concepts);
        let queries: Vec<_> = candidates.iter().map(HubQuery::object).collect();
        let answers = self.answer(&queries);
        let found: Vec<_> = candidates
            .iter()
            .zip(&answers)
            .filter(|(_, answer)| !answer.objects.is_empty())
            .collect();
        if let ([(one, _)], true) = (found.as_slice(), well_formed(word, namespace)) {
            return Ok((*one).clone());
        }
        if found.is_empty() {
            self.no_hub()?;
            // What may not be read is not missing: the walk says what is known of it.
            let mut unread = candidates.iter().zip(&answers);
            let unread = unread.find(|(_, answer)| is_unread(answer));
            if let Some((target, answer)) = unread
                && well_formed(word, namespace)
            {
                self.readable(target, answer)?;
                return Ok(target.clone());
            }
            let unserved = candidates
                .iter()
                .zip(&answers)
                .filter(|(_, answer)| answer.outcome == Outcome::NotServed)
                .map(|(object, _)| object.kind);
            let unserved: Vec<_> = unserved.collect();
            if let (ReadingPlace::Hub(_), Some(kind)) = (&self.place, unserved.first())
                && unserved.len() == candidates.len()
            {
                return Err(HubError::NotServed(*kind).into());
            }
        }
        // Runs and placements are taken for each other.
        let is_near = |concept| matches!(concept, Concept::UpdateRun | Concept::Placement);
        let near = concepts.iter().copied().any(is_near);
        let everything: Vec<_> = Kind::ALL
            .iter()
            .filter(|kind| concepts.contains(&kind.concept()) || (near && is_near(kind.concept())))
            .map(|kind| HubQuery::all(*kind, ""))
            .collect();
        let mut answers = self.answer(&everything);
        if let Some(namespace) = namespace {
            // Who may not list them everywhere may list them there.
            for (query, answer) in everything.iter().zip(&mut answers) {
                if query.kind.is_namespaced() && is_unread(answer) {
                    *answer = self.ask(&HubQuery::all(query.kind, namespace));
                }
            }
        }
        let objects = answers.iter().flat_map(|answer| answer.objects.iter());
        let objects: Vec<_> = objects.map(Object::reference).collect();
        let known = KnownNames {
            objects: &objects,
            are_all: !answers.iter().any(is_unread),
            place: self.place(),
            command: self.command,
            again: &self.again,
            concepts,
        };
        let found = resolve(word, namespace, &known);
        match self.hub().and_then(|hub| hub.served().other_engine()) {
            Some(names) => found.map_err(|error| {
                error.also(Hint::new(format!(
                    "the hub also serves {names}, which this plugin version does not read"
                )))
            }),
            None => found,
        }
    }

    /// The run that a word means; without one, one of these that the user chooses.
    pub(in crate::commands) fn run_or_chosen(
        &mut self,
        word: Option<&str>,
        eligible: &RunFilter,
        ui: &mut Ui,
    ) -> Result<ObjectRef, Error> {
        match word {
            Some(word) => self.target_of(Some(word), &[Concept::UpdateRun], ui),
            None => pickers::run(eligible, self, ui),
        }
    }

    /// The runs that words mean, each once; without any, one of these that the user chooses.
    pub(in crate::commands) fn runs_or_chosen(
        &mut self,
        words: &[String],
        eligible: &RunFilter,
        ui: &mut Ui,
    ) -> Result<Vec<ObjectRef>, Error> {
        if words.is_empty() {
            return Ok(vec![pickers::run(eligible, self, ui)?]);
        }
        self.named_runs(words, false, ui)
    }

    /// The runs that words mean, each once; a word that means nothing may be passed over, and is said then.
    pub(in crate::commands) fn named_runs(
        &mut self,
        words: &[String],
        passes_over: bool,
        ui: &mut Ui,
    ) -> Result<Vec<ObjectRef>, Error> {
        let mut runs = Vec::new();
        for word in words {
            match self.target_of(Some(word), &[Concept::UpdateRun], ui) {
                Ok(run) if runs.contains(&run) => {}
                Ok(run) => runs.push(run),
                Err(error) if passes_over && error.exit == Exit::NotFound => {
                    ui.status(&error.message);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(runs)
    }

    /// The placement that a word means, by its own name or that of a run on it; without a word, one
    /// that the user chooses.
    pub(in crate::commands) fn placement_or_chosen(
        &mut self,
        word: Option<&str>,
        ui: &mut Ui,
    ) -> Result<ObjectRef, Error> {
        let Some(word) = word else {
            return pickers::named_placement(self, ui);
        };
        let kind = word
            .split_once('/')
            .and_then(|(kind, _)| Kind::from_word(kind));
        if kind.is_some_and(|kind| kind.concept() == Concept::UpdateRun) {
            let run = self.target_of(Some(word), &[Concept::UpdateRun], ui)?;
            return self.placement_of(&run, ui);
        }
        let found = self.target_of(Some(word), &[Concept::Placement], ui);
        match found {
            Err(error) if error.exit == Exit::NotFound => {
                let run = self.target_of(Some(word), &[Concept::UpdateRun], ui);
                run.map_or(Err(error), |run| self.placement_of(&run, ui))
            }
            found => found,
        }
    }

    fn placement_of(&mut self, run: &ObjectRef, ui: &mut Ui) -> Result<ObjectRef, Error> {
        let placement = self.run(run)?.placement();
        ui.status(&format!("{run} is on {placement}"));
        Ok(placement)
    }

    pub(in crate::commands) fn run(&mut self, run: &ObjectRef) -> Result<Arc<UpdateRun>, Error> {
        let answer = self.ask(&HubQuery::object(run));
        let found = answer.all::<UpdateRun>().next().cloned();
        found.ok_or_else(|| {
            let gap = answer.outcome.gap().unwrap_or_default();
            Error::failed(format!("{run} cannot be read: {gap}"))
        })
    }

    /// The object that the value of a flag means.
    pub(in crate::commands) fn target_of_flag(
        &mut self,
        (flag, word): (&str, &str),
        concept: Concept,
        ui: &mut Ui,
    ) -> Result<ObjectRef, Error> {
        let command = self.command;
        let found = self.target_of(Some(word), &[concept], ui);
        found.map_err(|error| Error {
            hint: error.hint.map(|hint| hint.with_operand_of(command, flag)),
            ..error
        })
    }

    /// The namespace to look in: that of the flag, or for a namespaced type without one the
    /// context's own, which is said. Files have no context: all their namespaces are looked at.
    fn namespace_of(&self, word: &str, ui: &mut Ui) -> Option<String> {
        if let Some(namespace) = self.namespace() {
            return Some(namespace.to_owned());
        }
        let kind = Kind::from_word(word.split_once('/')?.0)?;
        let ReadingPlace::Hub(hub) = &self.place else {
            return None;
        };
        kind.is_namespaced().then(|| {
            let namespace = hub.default_namespace.clone();
            ui.status(&format!(
                "using namespace {namespace} of the current context; to use another, set -n"
            ));
            namespace
        })
    }

    /// Asks for a name, and offers what there is.
    fn unnamed(&mut self) -> Error {
        let (place, command) = (self.place(), self.command);
        let error = Error::usage(format!(
            "{command} needs the name of an update run or placement"
        ));
        let reach = if self.namespace().is_some() {
            ListReach::one(self.scope())
        } else {
            ListReach::everywhere()
        };
        let runs = reach.every_run(self, |_| true).unwrap_or_default();
        match runs.as_slice() {
            [] => error.hint(format!("{place} has no update runs; use a placement")),
            [one] => error.hint(
                Hint::new(format!("{place} has one update run:")).command(
                    self.again(CommandLine::fleet(command).arg(one.word()))
                        .namespace(&one.namespace),
                ),
            ),
            several if command == "diagnose" => {
                let all = CommandLine::fleet("diagnose").switch("--all");
                let all = match self.namespace() {
                    Some(namespace) => all.namespace(namespace),
                    None if several.iter().all(|run| run.namespace.is_empty()) => all,
                    None => all.switch("-A"),
                };
                let lead = format!(
                    "{place} has {} update runs; to include all of them:",
                    several.len()
                );
                error.hint(Hint::new(lead).command(self.again(all)))
            }
            several => {
                let list = CommandLine::fleet("list").switch("-A");
                let lead = format!("{place} has {} update runs; list them:", several.len());
                error.hint(Hint::new(lead).command(self.again(list)))
            }
        }
    }
}

fn candidates(word: &str, namespace: Option<&str>, concepts: &[Concept]) -> Vec<ObjectRef> {
    let scope = Scope::of_namespace(namespace.unwrap_or_default());
    match word.split_once('/') {
        None => concepts
            .iter()
            .map(|concept| scope.object(*concept, word))
            .collect(),
        Some((kind, name)) => Kind::from_word(kind)
            .filter(|kind| concepts.contains(&kind.concept()))
            .filter(|kind| kind.is_namespaced() == namespace.is_some())
            .map(|kind| ObjectRef::new(kind, namespace.unwrap_or_default(), name))
            .into_iter()
            .collect(),
    }
}

/// Whether a word says what it means without a look at what there is.
fn well_formed(word: &str, namespace: Option<&str>) -> bool {
    match word.split_once('/') {
        None => !word.is_empty(),
        Some((kind, name)) => {
            !name.is_empty()
                && Kind::from_word(kind)
                    .is_some_and(|kind| kind.is_namespaced() == namespace.is_some())
        }
    }
}

/// Whether there may be more than an answer has.
const fn is_unread(answer: &QueryAnswer) -> bool {
    matches!(answer.outcome, Outcome::Denied(_) | Outcome::Failed(_))
}
