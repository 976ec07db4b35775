//! A run asks for a resource snapshot by something that is no index.

use super::prelude::*;

/// A word such as `newest`, a snapshot's name or a negative number.
pub fn snapshot_index(
    subject: impl Into<Subject>,
    placement: &ObjectRef,
    index: &str,
    tense: RefusalTense<'_>,
) -> Problem {
    let subject = subject.into();
    let past = subject.to_string();
    let run = tense.pick("The run", &past);
    let message = format!(
        "{run} asks for resource snapshot `{index}`, which is not a whole number of 0 or more."
    );
    Problem::new(subject, message).look_with(
        "List the existing snapshots.",
        placement.scope().fleet("snapshots").arg(&placement.name),
    )
}
