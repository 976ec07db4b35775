//! How rules write their findings.

use std::collections::BTreeSet;

use super::report::{Cause, Effect, Evidence, Finding, Remedy, Severity, Subject};
use super::rules::Rule;
use super::shown::{ABSENT, Shown};
use crate::kubefleet::{Condition, ObjectRef};
use crate::words::{Class, Command};

impl Rule {
    /// A finding of this rule, with the rule's severity.
    pub fn finding(&self, subject: impl Into<Subject>, message: impl Into<String>) -> Finding {
        Finding {
            code: self.code.to_owned(),
            name: self.name.to_owned(),
            severity: self.severity,
            root_cause: false,
            caused_by: Vec::new(),
            subject: subject.into(),
            stage: None,
            clusters: Vec::new(),
            message: message.into(),
            evidence: Vec::new(),
            remedies: Vec::new(),
            docs: super::docs_url(self.code),
        }
    }
}

impl Finding {
    /// Marks the finding as an explanation of the verdict.
    #[must_use]
    pub fn root(mut self) -> Self {
        self.root_cause = true;
        self
    }

    /// Marks the finding as an explanation of the verdict when it is one.
    #[must_use]
    pub fn root_if(mut self, root: bool) -> Self {
        self.root_cause = root;
        self
    }

    /// Sets another severity than the rule's.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Sets the stage.
    #[must_use]
    pub fn stage(mut self, stage: impl Into<String>) -> Self {
        self.stage = Some(stage.into());
        self
    }

    /// Sets the clusters; they are sorted, and each stands once.
    #[must_use]
    pub fn clusters<S: Into<String>>(mut self, clusters: impl IntoIterator<Item = S>) -> Self {
        self.clusters.extend(clusters.into_iter().map(Into::into));
        self.clusters.sort();
        self.clusters.dedup();
        self
    }

    /// Adds a value that was read.
    #[must_use]
    pub fn evidence(
        self,
        object: impl Into<Subject>,
        path: impl Into<String>,
        value: impl Shown,
    ) -> Self {
        self.read(object, None, path.into(), &value)
    }

    /// Adds a value that was read in a member cluster.
    #[must_use]
    pub fn evidence_in(
        self,
        cluster: &str,
        object: impl Into<Subject>,
        path: impl Into<String>,
        value: impl Shown,
    ) -> Self {
        self.read(object, Some(cluster), path.into(), &value)
    }

    /// Adds that an object does not exist.
    #[must_use]
    pub fn absent(self, object: impl Into<Subject>) -> Self {
        self.evidence(object, "metadata.name", ABSENT)
    }

    fn read(
        mut self,
        object: impl Into<Subject>,
        cluster: Option<&str>,
        path: String,
        value: &dyn Shown,
    ) -> Self {
        let value = match value.shown() {
            empty if empty.is_empty() => ABSENT.to_owned(),
            value => value,
        };
        self.evidence.push(Evidence {
            object: object.into(),
            cluster: cluster.map(str::to_owned),
            path,
            value,
            computed: false,
        });
        self
    }

    /// Adds a value that was computed from what stands under some paths of an object.
    #[must_use]
    pub fn computed(
        self,
        object: impl Into<Subject>,
        paths: &[&str],
        value: impl Into<String>,
    ) -> Self {
        self.worked_out(object, None, paths, value.into())
    }

    /// The same of an object in a member cluster.
    #[must_use]
    pub fn computed_in(
        self,
        cluster: &str,
        object: impl Into<Subject>,
        paths: &[&str],
        value: impl Into<String>,
    ) -> Self {
        self.worked_out(object, Some(cluster), paths, value.into())
    }

    fn worked_out(
        mut self,
        object: impl Into<Subject>,
        cluster: Option<&str>,
        paths: &[&str],
        value: String,
    ) -> Self {
        self.evidence.push(Evidence {
            object: object.into(),
            cluster: cluster.map(str::to_owned),
            path: paths.join(", "),
            value,
            computed: true,
        });
        self
    }

    /// Adds a condition that was read.
    #[must_use]
    pub fn condition(self, object: &ObjectRef, base: &str, condition: &Condition) -> Self {
        let path = format!("{base}.conditions[type={}]", condition.kind);
        self.evidence(object, path, condition)
    }

    /// Adds a step that only looks.
    #[must_use]
    pub fn look(self, action: impl Into<String>, command: Option<Command>) -> Self {
        self.remedy(action, command, Effect::ReadOnly)
    }

    /// Adds a step that changes something.
    #[must_use]
    pub fn fix(self, action: impl Into<String>, command: Option<Command>) -> Self {
        self.remedy(action, command, Effect::Changes)
    }

    /// Adds a step that deletes, restarts or takes back something.
    #[must_use]
    pub fn disrupt(self, action: impl Into<String>, command: Option<Command>) -> Self {
        self.remedy(action, command, Effect::Disruptive)
    }

    /// Adds a step.
    #[must_use]
    pub fn remedy(
        mut self,
        action: impl Into<String>,
        command: Option<Command>,
        effect: Effect,
    ) -> Self {
        // A step is as harmful as its command, whatever the rule takes it for.
        let least = command.as_ref().map(Command::class);
        let effect = match (least, effect) {
            (Some(Class::Destroys), _) => Effect::Disruptive,
            (Some(Class::Changes), Effect::ReadOnly) => Effect::Changes,
            (_, effect) => effect,
        };
        let remedy = Remedy {
            action: action.into(),
            command,
            effect,
        };
        if !self.remedies.contains(&remedy) {
            self.remedies.push(remedy);
        }
        self
    }

    /// Names this finding as the cause of another.
    pub fn as_cause(&self) -> Cause {
        Cause {
            code: self.code.clone(),
            subject: self.subject.clone(),
        }
    }
}

/// Names in a sentence: `a`, `a and b`, `a, b and c`, `a, b, c and 7 more`.
pub fn enumerate<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    const SHOWN: usize = 5;
    let names: Vec<S> = names.into_iter().collect();
    let name = |at: usize| names.get(at).map_or("", AsRef::as_ref);
    match names.len() {
        0 => "none".to_owned(),
        1 => name(0).to_owned(),
        count if count <= SHOWN => {
            let first: Vec<_> = names.iter().take(count - 1).map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), name(count - 1))
        }
        count => {
            let first: Vec<_> = names.iter().take(3).map(AsRef::as_ref).collect();
            format!("{} and {} more", first.join(", "), count - 3)
        }
    }
}

/// Each once, in order.
pub fn distinct<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let once: BTreeSet<T> = items.into_iter().collect();
    once.into_iter().collect()
}

/// `1 cluster`, `2 clusters`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// The indexes that there are, in the middle of a sentence: `only index 0 exists`,
/// `existing indexes: 2, 3, 4`, `the newest of 12 indexes: 8, 9, 10, 11, 12`.
pub fn existing_indexes(indexes: impl IntoIterator<Item = String>) -> String {
    const SHOWN: usize = 5;
    let indexes: Vec<String> = indexes.into_iter().collect();
    match indexes.as_slice() {
        [] => "no index exists".to_owned(),
        [one] => format!("only index {one} exists"),
        few if few.len() <= SHOWN => format!("existing indexes: {}", few.join(", ")),
        many => {
            let skipped = many.len().saturating_sub(SHOWN);
            let newest = many.get(skipped..).unwrap_or_default();
            format!(
                "the newest of {} indexes: {}",
                many.len(),
                newest.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::existing_indexes;

    #[test]
    fn a_list_of_one_reads_as_one() {
        let says = |count: u64| existing_indexes((0..count).map(|index| index.to_string()));
        assert_eq!(says(0), "no index exists");
        assert_eq!(says(1), "only index 0 exists");
        assert_eq!(says(2), "existing indexes: 0, 1");
        assert_eq!(says(5), "existing indexes: 0, 1, 2, 3, 4");
        assert_eq!(says(7), "the newest of 7 indexes: 2, 3, 4, 5, 6");
    }
}
