//! Which runs and placements of a bundle are diagnosed.

use crate::bundle::Bundle;
use crate::commands::names::{Known, form, resolve};
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::choose;
use crate::inventory::source::Outcome;
use crate::kubefleet::object::{Body, Object};
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope};

/// What errors call the objects that were read.
const PLACE: &str = "the input";

/// The run or placement that `word` means; without a word, what the bundle was collected for.
pub fn target(
    word: Option<&str>,
    namespace: Option<&str>,
    bundle: &Bundle,
    again: &str,
) -> Result<ObjectRef, Error> {
    let Some(word) = word else {
        return match &bundle.target {
            Some(target) => Ok(ObjectRef {
                kind: target.kind,
                namespace: target.namespace.clone(),
                name: target.name.clone(),
            }),
            None => Err(unnamed(bundle, namespace, again)),
        };
    };
    let objects: Vec<_> = bundle
        .objects()
        .iter()
        .filter(|object| {
            matches!(
                object.kind.concept(),
                Concept::UpdateRun | Concept::Placement
            )
        })
        .map(Object::reference)
        .collect();
    let known = Known {
        objects: &objects,
        place: PLACE,
        again,
    };
    resolve(word, namespace, &known).or_else(|error| {
        // What the collector was not allowed to see is not missing.
        match unreadable(word, namespace, bundle) {
            Some(target) if error.exit == Exit::NotFound => Ok(target),
            _ => Err(error),
        }
    })
}

/// Asks for a name, and offers what there is.
fn unnamed(bundle: &Bundle, namespace: Option<&str>, again: &str) -> Error {
    let everywhere = namespace.is_none();
    let runs = every_run(bundle, namespace, everywhere, false);
    let error = Error::usage("say which update run or placement to diagnose");
    match runs.as_slice() {
        [] => error.hint(format!("{PLACE} holds no update run; name a placement")),
        [one] => error.hint(format!(
            "{PLACE} holds one update run:\n  kubectl fleet-stage diagnose {}{again}",
            form(one)
        )),
        several => {
            let flag = match namespace {
                Some(namespace) => format!(" -n {namespace}"),
                None if several.iter().all(|run| run.namespace.is_empty()) => String::new(),
                None => " -A".to_owned(),
            };
            error.hint(format!(
                "{PLACE} holds {} update runs; all of them:\n  \
                 kubectl fleet-stage diagnose --all{flag}{again}",
                several.len()
            ))
        }
    }
}

/// An object that may well exist, though it could not be read.
fn unreadable(word: &str, namespace: Option<&str>, bundle: &Bundle) -> Option<ObjectRef> {
    let scope = Scope::of_namespace(namespace.unwrap_or_default());
    let (kind, name) = match word.split_once('/') {
        Some((kind, name)) => (Kind::from_word(kind)?, name),
        None => (scope.kind(Concept::UpdateRun), word),
    };
    let denied = matches!(
        bundle.outcome(kind),
        Outcome::Denied(_) | Outcome::Failed(_)
    );
    (denied && kind.is_namespaced() == namespace.is_some()).then(|| ObjectRef {
        kind,
        namespace: namespace.unwrap_or_default().to_owned(),
        name: name.to_owned(),
    })
}

/// The update runs of a scope or of all, by scope, namespace and name.
pub fn every_run(
    bundle: &Bundle,
    namespace: Option<&str>,
    everywhere: bool,
    active: bool,
) -> Vec<ObjectRef> {
    let scope = Scope::of_namespace(namespace.unwrap_or_default());
    let mut runs: Vec<_> = bundle
        .objects()
        .iter()
        .filter(|object| match &object.body {
            Body::Run(run) => !active || !choose::is_finished(run),
            _ => false,
        })
        .map(Object::reference)
        .filter(|run| everywhere || run.scope() == scope)
        .collect();
    runs.sort();
    runs
}

/// Says that no run was diagnosed, and where there are some.
pub fn none(bundle: &Bundle, active: bool) -> String {
    let which = if active {
        "unfinished update run"
    } else {
        "update run"
    };
    match every_run(bundle, None, true, active).len() {
        0 => format!("{PLACE} holds no {which}"),
        1 => format!("{PLACE} holds no {which} in this scope, and one in another: use -A"),
        more => format!("{PLACE} holds no {which} in this scope, and {more} in others: use -A"),
    }
}
