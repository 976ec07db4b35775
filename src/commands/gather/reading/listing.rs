//! Lists of objects, and why one cannot be had.

use super::SourceReading;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::HubError;
use crate::inventory::source::{HubQuery, ObjectSource, Outcome, QueryAnswer};
use crate::kubefleet::Kind;
use crate::words::Hint;

impl SourceReading {
    /// Answers, of which at least one could be had.
    pub fn list_all(&mut self, queries: &[HubQuery]) -> Result<Vec<QueryAnswer>, Error> {
        let answers = self.answer(queries);
        self.listed(queries, &answers)?;
        Ok(answers)
    }

    /// Fails when nothing of what a command lists could be read. Files that do not mention a kind
    /// hold none of it.
    pub fn listed(&self, queries: &[HubQuery], answers: &[QueryAnswer]) -> Result<(), Error> {
        self.no_hub()?;
        let unread: Vec<_> = queries
            .iter()
            .zip(answers)
            .filter(|(_, answer)| {
                answer.objects.is_empty()
                    && !matches!(answer.outcome, Outcome::Listed | Outcome::NotCollected)
            })
            .collect();
        let Some((query, answer)) = unread.first() else {
            return Ok(());
        };
        if unread.len() < queries.len() {
            return Ok(());
        }
        let namespace = query.which.namespace().unwrap_or_default();
        let error = self.unlisted(query.kind, namespace, &answer.outcome);
        // A role of one namespace is enough for what is in it.
        let is_denied = matches!(answer.outcome, Outcome::Denied(_));
        Err(if is_denied && namespace.is_empty() {
            error.also(Hint::new(
                "if you have permissions in one namespace only, use -n NAMESPACE",
            ))
        } else {
            error
        })
    }

    /// That objects of a kind cannot be listed, as the outcome says.
    pub fn unlisted(&self, kind: Kind, namespace: &str, outcome: &Outcome) -> Error {
        let gap = outcome.gap().unwrap_or_default();
        let why = format!("{} cannot be listed: {gap}", kind.plural());
        match outcome {
            Outcome::Denied(_) => {
                let verbs = ["list", "watch"].into_iter();
                let verbs = verbs.take(if self.mirror.is_some() { 2 } else { 1 });
                let can_i = verbs.map(|verb| kind.can_i(verb).namespace(namespace));
                let hint = Hint::new("check your permission:").commands(can_i);
                Error::new(Exit::Incomplete, why).hint(hint)
            }
            Outcome::NotServed => HubError::NotServed(kind).into(),
            Outcome::NotCollected => Error::new(Exit::Incomplete, why)
                .hint("the file has none of them: add them to it, or read the hub"),
            _ => Error::failed(why),
        }
    }
}
