//! Which objects a command is about: a scope or all, and what is selected there.

use std::str::FromStr;

use clap::Args;

use crate::commands::gather::argument::ArgumentKind;
use crate::commands::gather::eligible;
use crate::commands::gather::reading::SourceReading;
use crate::error::Error;
use crate::inventory::source::{HubQuery, Labels, all_of};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope};
use crate::ui::Ui;

/// Where a command that lists looks, and for what.
#[derive(Debug, Clone)]
pub(in crate::commands) struct ListReach {
    /// `None` for both scopes and all namespaces.
    scope: Option<Scope>,
    /// The runs that were named, in their order.
    named: Vec<ObjectRef>,
    /// The labels that objects of a concept must have.
    labels: Option<(Concept, LabelSelector)>,
}

impl ListReach {
    /// What `-n` and `-A` ask for.
    pub fn of(namespace: Option<&str>, everywhere: bool) -> Result<Self, Error> {
        match (namespace, everywhere) {
            (Some(_), true) => Err(Error::usage("-A and -n cannot be used together")),
            (_, true) => Ok(Self::everywhere()),
            (namespace, false) => {
                let scope = Scope::of_namespace(namespace.unwrap_or_default());
                Ok(Self::one(scope))
            }
        }
    }

    pub const fn one(scope: Scope) -> Self {
        Self {
            scope: Some(scope),
            named: Vec::new(),
            labels: None,
        }
    }

    pub const fn everywhere() -> Self {
        Self {
            scope: None,
            named: Vec::new(),
            labels: None,
        }
    }

    /// This selection, with only those objects of a concept that have some labels.
    pub fn selecting(mut self, concept: Concept, labels: Option<&LabelSelector>) -> Self {
        let labels = labels.filter(|labels| !labels.is_empty());
        self.labels = labels.map(|labels| (concept, labels.clone()));
        self
    }

    /// What reads the objects of a concept: those that are named or selected.
    pub fn queries(&self, concept: Concept) -> Vec<HubQuery> {
        if concept == Concept::UpdateRun && !self.named.is_empty() {
            return self.named.iter().map(HubQuery::object).collect();
        }
        let labels = self.labels.as_ref();
        let labels = labels.filter(|(selected, _)| *selected == concept);
        let query = |kind, namespace: &str| match labels {
            Some((_, labels)) => {
                HubQuery::with_labels(kind, namespace, Labels::Selected(labels.clone()))
            }
            None => HubQuery::all(kind, namespace),
        };
        match &self.scope {
            Some(scope) => vec![query(scope.kind(concept), scope.namespace())],
            None => Kind::ALL
                .iter()
                .filter(|kind| kind.concept() == concept)
                .map(|kind| query(*kind, ""))
                .collect(),
        }
    }

    /// Every run there that is wanted, by scope, namespace and name.
    pub fn every_run(
        &self,
        reading: &mut SourceReading,
        wanted: impl Fn(&UpdateRun) -> bool,
    ) -> Result<Vec<ObjectRef>, Error> {
        let answers = reading.list_all(&self.queries(Concept::UpdateRun))?;
        let runs = all_of::<UpdateRun>(&answers).filter(|run| wanted(run));
        let mut runs: Vec<_> = runs.map(|run| run.object()).collect();
        runs.sort();
        Ok(runs)
    }

    pub const fn scope(&self) -> Option<&Scope> {
        self.scope.as_ref()
    }

    pub fn named(&self) -> &[ObjectRef] {
        &self.named
    }

    /// Whether labels leave objects out.
    pub const fn selects(&self) -> bool {
        self.labels.is_some()
    }

    /// Whether objects of several namespaces may be found.
    pub const fn is_everywhere(&self) -> bool {
        self.scope.is_none()
    }
}

/// The runs that a list is about.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::commands) struct RunSelection {
    /// Update runs: NAME, csur/NAME, or with -n sur/NAME [default: all]
    #[arg(value_name = "RUN", add = ArgumentKind::Runs(&eligible::EVERY))]
    #[arg(conflicts_with_all = ["all_namespaces", "selector", "field_selector"])]
    runs: Vec<String>,
    /// List both scopes and all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// List only runs with these labels, as kubectl takes them: KEY=VALUE, KEY!=VALUE,
    /// KEY in (A,B), KEY notin (A,B), KEY, !KEY
    #[arg(short = 'l', long, value_name = "SELECTOR", value_parser = LabelSelector::parse)]
    selector: Option<LabelSelector>,
    /// List only runs with these fields: metadata.name or metadata.namespace, with =, ==, or !=
    #[arg(long, value_name = "SELECTOR")]
    field_selector: Option<FieldSelector>,
}

impl RunSelection {
    /// Where to look, once the names are known to be names of runs.
    pub fn reach(&self, reading: &mut SourceReading, ui: &mut Ui) -> Result<ListReach, Error> {
        let reach = ListReach::of(reading.namespace(), self.all_namespaces)?;
        let mut reach = reach.selecting(Concept::UpdateRun, self.selector.as_ref());
        reach.named = reading.named_runs(&self.runs, false, ui)?;
        if let [first, rest @ ..] = reach.named.as_slice() {
            let scope = first.scope();
            let is_one = rest.iter().all(|run| run.scope() == scope);
            reach.scope = is_one.then_some(scope);
        }
        Ok(reach)
    }

    pub fn names(&self) -> &[String] {
        &self.runs
    }

    /// Whether a run has the fields that are asked for.
    pub fn has(&self, run: &UpdateRun) -> bool {
        let fields = self.field_selector.as_ref();
        fields.is_none_or(|fields| fields.matches(&run.object()))
    }

    /// Whether what belongs to no run may be shown too.
    pub fn takes_all(&self) -> bool {
        self.runs.is_empty() && !self.narrows()
    }

    /// Whether a selector leaves runs out.
    pub fn narrows(&self) -> bool {
        let labels = self.selector.as_ref();
        let fields = self.field_selector.as_ref();
        labels.is_some_and(|labels| !labels.is_empty())
            || fields.is_some_and(|fields| !fields.0.is_empty())
    }
}

/// A condition on fields. Of a custom resource the API serves these two.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FieldSelector(Vec<FieldTerm>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct FieldTerm {
    is_name: bool,
    /// Whether the field must have the value, or must not.
    wanted: bool,
    value: String,
}

impl FieldSelector {
    fn matches(&self, object: &ObjectRef) -> bool {
        self.0.iter().all(|term| {
            let field = if term.is_name {
                &object.name
            } else {
                &object.namespace
            };
            (*field == term.value) == term.wanted
        })
    }
}

impl FromStr for FieldSelector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split(',').filter(|part| !part.trim().is_empty());
        let terms = parts.map(|part| {
            let (field, wanted, value) = if let Some((field, value)) = part.split_once("!=") {
                (field, false, value)
            } else if let Some((field, value)) =
                part.split_once("==").or_else(|| part.split_once('='))
            {
                (field, true, value)
            } else {
                return Err(format!("{part:?} is not FIELD=VALUE or FIELD!=VALUE"));
            };
            let is_name = match field.trim() {
                "metadata.name" => true,
                "metadata.namespace" => false,
                other => {
                    return Err(format!(
                        "the API does not select by {other:?}, only by metadata.name and \
                         metadata.namespace"
                    ));
                }
            };
            Ok(FieldTerm {
                is_name,
                wanted,
                value: value.trim().to_owned(),
            })
        });
        terms.collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::FieldSelector;
    use crate::kubefleet::{Concept, Scope};

    #[test]
    fn fields_select_by_name_and_namespace() {
        let run = Scope::of_namespace("shop").object(Concept::UpdateRun, "web-1");
        for (text, matches) in [
            ("", true),
            ("metadata.name=web-1", true),
            ("metadata.name==web-1,", true),
            (" metadata.name = web-1 , metadata.namespace != bank", true),
            ("metadata.name=web-2", false),
            ("metadata.name!=web-1", false),
            ("metadata.namespace=shop,metadata.name!=web-2", true),
            ("metadata.namespace=", false),
        ] {
            let fields: FieldSelector = text.parse().unwrap();
            assert_eq!(fields.matches(&run), matches, "{text}");
        }
    }

    #[test]
    fn other_fields_are_refused() {
        for text in [
            "spec.placementName=web",
            "metadata.name",
            "=web",
            "name=web",
        ] {
            assert!(text.parse::<FieldSelector>().is_err(), "{text}");
        }
    }
}
