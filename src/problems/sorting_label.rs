//! A stage sorts its clusters by a label that is not a whole number on some of them.

use super::prelude::*;
use super::steps::label;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::strategy::Stage;
use crate::rollout::placing::sorting_number;
use crate::words::closest;

/// A label by which clusters cannot be sorted.
#[derive(Debug)]
pub struct SortingLabel<'i> {
    pub key: &'i str,
    pub strategy: &'i ObjectRef,
    /// The stage that sorts by it, when it is known.
    pub stage: Option<&'i Stage>,
    /// The first cluster, with its value.
    pub first: (&'i str, Option<&'i str>),
    /// All such clusters that were seen.
    pub members: Vec<&'i MemberCluster>,
}

impl SortingLabel<'_> {
    /// Whether clusters are selected by the label: the stage that sorts by it does so, or it has words on
    /// several clusters, which some other stage may do.
    pub fn selects(&self) -> bool {
        if self.members.len() > 1
            && self
                .members
                .iter()
                .all(|it| it.meta.label(self.key).is_some())
        {
            return true;
        }
        let selector = self.stage.and_then(|stage| stage.selector.as_deref());
        selector.is_some_and(|selector| {
            let mut expressions = selector.expressions.iter();
            selector.labels.contains_key(self.key) || expressions.any(|it| it.key == self.key)
        })
    }
}

/// Whether the controller cannot sort a cluster by the label.
pub fn unsorted(member: &MemberCluster, key: &str) -> bool {
    sorting_number(member, key).is_none()
}

/// A label that may be meant, with its value: its key is nearly the one that is looked for, and its
/// value a number.
fn near<'i>(member: &'i MemberCluster, key: &str) -> Option<(&'i str, &'i str)> {
    let numbers = member.meta.labels.keys();
    let numbers = numbers.filter(|key| !unsorted(member, key));
    let near = closest(key, numbers.map(String::as_str))?;
    Some((near, member.meta.label(near)?))
}

/// A controller names the first such cluster only.
pub fn sorting_label(
    inventory: &Inventory,
    unsorted_by: &SortingLabel<'_>,
    tense: RefusalTense<'_>,
) -> Problem {
    let &SortingLabel {
        key,
        stage,
        first: (cluster, value),
        ..
    } = unsorted_by;
    let own = inventory.member(cluster);
    let others = unsorted_by.members.iter().copied();
    let others: Vec<_> = others
        .filter(|member| member.meta.name != cluster)
        .collect();
    let meant = own
        .filter(|_| value.is_none())
        .and_then(|own| near(own, key));
    let by = stage.map_or_else(String::new, |stage| {
        format!(" (stage {} sorts by it)", stage.name)
    });
    let what = match value {
        None => format!("{} the label {key}{by}", tense.pick("lacks", "lacked")),
        Some(value) => {
            let digits = value.trim_start_matches(['-', '+']);
            let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
            let why = if is_number {
                "too large a number"
            } else {
                "not a whole number"
            };
            format!(
                "{} the label {key}={value}, which is {why}{by}",
                tense.has()
            )
        }
    };
    let near = meant.map_or_else(String::new, |(near, value)| {
        format!("; it has {near}={value}")
    });
    let tail = if others.is_empty() {
        String::new()
    } else {
        let have = others.iter().map(|member| match member.meta.label(key) {
            Some(value) => format!("{} ({key}={value})", member.meta.name),
            None => format!("{} (no {key})", member.meta.name),
        });
        format!("; {} cannot be sorted by it either", enumerate(have))
    };
    let (subject, whose) = if others.is_empty() {
        let member = inventory.scope.object(Concept::MemberCluster, cluster);
        (member, cluster)
    } else {
        (unsorted_by.strategy.clone(), "each of these clusters")
    };
    let message = format!("MemberCluster {cluster} {what}{tense}{near}{tail}.");
    let mut problem = Problem::new(subject, message)
        .clusters(others.iter().map(|member| member.meta.name.as_str()))
        .clusters([cluster]);
    problem.stage = stage.map(|stage| stage.name.clone());
    let names = [cluster]
        .into_iter()
        .chain(others.iter().map(|it| it.meta.name.as_str()));
    let names: Vec<_> = names.collect();
    for member in own.into_iter().chain(others).take(8) {
        let path = format!("metadata.labels[{key}]");
        problem = problem.evidence(member.object(), path, member.meta.label(key));
    }
    let number = match meant {
        Some((_, number)) if names.len() == 1 => number,
        _ => "NUMBER",
    };
    if unsorted_by.selects() {
        return problem.fix(format!(
            "Set `sortingLabelKey` to another label, or remove it to sort by name: clusters may be \
             selected by {key}."
        ));
    }
    problem.fix_with(
        format!(
            "Set the label of {whose} to a whole number. Or remove `sortingLabelKey` from the \
             stage, which then sorts by name."
        ),
        label(names, format!("{key}={number}")).switch("--overwrite"),
    )
}
