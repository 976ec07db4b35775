//! The words for what is in the way of the objects that a run would bring.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Problem, steps};
use crate::contents::ManifestKey;
use crate::kubefleet::{ObjectRef, reasons};
use crate::report::ComposeText;
use crate::rollout::Rollout;
use crate::rollout::in_the_way::{FoundThere, InTheWay, in_the_way_ahead};
use crate::words::{CommandLine, by_number, distinct, enumerate};

/// What is in the way on some clusters.
#[derive(Debug, Default)]
pub struct ProblemsInTheWay {
    /// Objects of other placements, one problem for each of these.
    pub placed: Vec<Problem>,
    /// Earlier Works of the placement.
    pub earlier: Option<Problem>,
}

impl ProblemsInTheWay {
    /// What they mean for the run, each without the full stop.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        let all = self.earlier.iter().chain(&self.placed);
        all.map(|it| it.message.trim_end_matches('.'))
    }
}

pub fn in_the_way(found: Vec<InTheWay>, compares_only: bool) -> ProblemsInTheWay {
    let mut owners: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let mut earlier = Vec::new();
    for InTheWay {
        cluster,
        work,
        what,
    } in found
    {
        match what {
            FoundThere::EarlierWork { deleted } => earlier.push((cluster, work, deleted)),
            FoundThere::Placed { owner, object, at } => {
                let (at, kind) = at;
                let placed = owners.entry((owner, kind)).or_default();
                placed.push((cluster, work, at, object));
            }
        }
    }
    let placed = owners.iter();
    let placed = placed.filter_map(|(owner, all)| owned_by(owner, all, compares_only));
    ProblemsInTheWay {
        placed: placed.collect(),
        earlier: earlier_works(&earlier),
    }
}

/// What is in the way on the clusters that a live run has still to reach.
pub fn problems_ahead(rollout: &Rollout<'_>) -> ProblemsInTheWay {
    in_the_way(in_the_way_ahead(rollout), rollout.only_compares())
}

fn owned_by(
    (owner, kind): &(ObjectRef, &str),
    placed: &[(String, ObjectRef, usize, ManifestKey)],
    compares_only: bool,
) -> Option<Problem> {
    let (cluster, work, at, object) = placed.first()?;
    let (has, check) = if *kind == reasons::APPLIED {
        ("has put", "Check which rollout put it there.")
    } else {
        (
            "only compares, and has taken over",
            "Check which rollout took it over.",
        )
    };
    let clusters = distinct(placed.iter().map(|(cluster, ..)| cluster.as_str()));
    let objects = placed.iter().map(|(.., object)| object.describe());
    let message = format!(
        "{owner} {has} {} on {}. KubeFleet does not {} an object for two placements: the run would be \
         stuck there.",
        enumerate(distinct(objects)),
        enumerate(&clusters),
        if compares_only { "compare" } else { "apply" }
    );
    let path = format!("status.manifestConditions[{at}].conditions[type={kind}].status");
    let trace = CommandLine::fleet("trace").arg(format!("{}/{}", object.kind, object.name));
    let trace = trace.namespace(&object.namespace).flag("--member", cluster);
    let problem = Problem::new(owner, message)
        .clusters(clusters)
        .evidence(work, path, "True");
    Some(problem.look_with(check, trace))
}

fn earlier_works(earlier: &[(String, ObjectRef, Timestamp)]) -> Option<Problem> {
    let (_, first, _) = earlier.first()?;
    let clusters = distinct(earlier.iter().map(|(cluster, ..)| cluster.as_str()));
    let (work, is) = by_number(clusters.len(), ("Work", "is"), ("Works", "are"));
    let message = format!(
        "The placement's earlier {work} for {} {is} still being deleted: the run would be stuck there \
         until then.",
        enumerate(&clusters)
    );
    let mut problem = Problem::new(first, message);
    for (_, work, deleted) in earlier {
        problem = problem.deleted(work, Some(*deleted));
    }
    let inspect = first.kubectl("get").flag("-o", "yaml");
    let problem = problem.clusters(clusters);
    let problem = problem.look_with("Check which finalizers hold it.", inspect);
    let gone = steps::wait_for(first, "delete");
    Some(problem.look_with("Wait until it is gone.", gone))
}
