//! `plan --strategy-file`: a strategy that is not applied yet.

use std::path::Path;

use serde_json::Value;

use crate::bundle::{self, Input, ReadLimits};
use crate::commands::gather::plan_inputs::StrategyChoice;
use crate::commands::gather::session::input_at;
use crate::error::Error;
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::{Concept, Scope};
use crate::plan::{GivenStrategy, schema};
use crate::ui::Ui;
use crate::words::{closest, enumerate};

/// Reads the strategy of a scope from a file; of several the one that is named.
pub(super) fn read(
    path: &Path,
    named: Option<&str>,
    scope: &Scope,
    limits: ReadLimits,
    ui: &mut Ui,
) -> Result<StrategyChoice, Error> {
    let input = input_at(path, ui)?;
    let file = match &input {
        Input::Stdin(_) => "standard input".to_owned(),
        Input::Path(path) => path.display().to_string(),
    };
    let bundle = bundle::read_within(vec![input], &[Concept::Strategy], limits)?;
    for warning in &bundle.warnings {
        ui.warning(warning);
    }
    let kind = scope.kind(Concept::Strategy);
    let namespace = scope.namespace();
    let all: Vec<_> = bundle
        .objects()
        .iter()
        .filter(|object| object.kind.concept() == Concept::Strategy)
        .collect();
    // A manifest often leaves its namespace to -n.
    let here: Vec<_> = all
        .iter()
        .filter(|object| object.kind == kind)
        .filter(|object| {
            let own = &object.body.meta().namespace;
            own == namespace || own.is_empty()
        })
        .collect();
    let names = || here.iter().map(|object| object.body.meta().name.as_str());
    let meant: Vec<_> = here
        .iter()
        .filter(|object| named.is_none_or(|named| object.body.meta().name == named))
        .collect();
    let object = match (meant.as_slice(), named) {
        ([one], _) => **one,
        ([], Some(named)) if !here.is_empty() => {
            let error = Error::failed(format!("{file} has no {kind} {named}"));
            return Err(match closest(named, names()) {
                Some(near) => error.hint(format!("did you mean {near}?")),
                None => error.hint(format!("it has {}", enumerate(names()))),
            });
        }
        ([], _) => {
            let error = Error::failed(format!("{file} has no {kind} for this placement"));
            return Err(match all.first() {
                Some(other) => error.hint(format!(
                    "it has {}; a placement and its strategy must have the same scope",
                    other.reference()
                )),
                None => error.hint(format!(
                    "use a manifest with kind: {kind}, apiVersion, and metadata.name"
                )),
            });
        }
        (_, _) => {
            return Err(
                Error::usage(format!("{file} has several strategies")).hint(format!(
                    "select one with --strategy: {}",
                    enumerate(names())
                )),
            );
        }
    };
    let Some(strategy) = object.get::<Strategy>() else {
        return Err(Error::failed(format!("{file} has no {kind}")));
    };
    let text = bundle.text(&object.reference());
    let value: Value = text
        .and_then(|text| serde_json::from_str(text.get()).ok())
        .unwrap_or_default();
    Ok(StrategyChoice::Given(Box::new(GivenStrategy {
        strategy: strategy.as_ref().clone(),
        source: file,
        violations: schema::violations(&value),
    })))
}
