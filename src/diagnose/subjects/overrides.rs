//! Why overrides cannot be applied, as rendering the content shows it.

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::rendered::rendered;
use crate::kubefleet::messages::BindingProblem;
use crate::manifests::{FailingOperation, FaultCause, RenderFault, WorkGenerator};
use crate::report::Subject;
use crate::rollout::versions::versions;

/// Whether an override fails on a cluster, and which generator says so: up to KubeFleet 0.3.1, the
/// text names no override.
pub(in crate::diagnose) fn refusing(failing: &FailingCluster<'_>) -> Option<WorkGenerator> {
    match failing.trouble.problem.as_ref()? {
        BindingProblem::OverrideFailed { snapshot, .. } => Some(match snapshot {
            Some(_) => WorkGenerator::Newest,
            None => WorkGenerator::Envelopes,
        }),
        _ => None,
    }
}

/// What cannot be applied on the clusters on which an override fails, as far as the texts tell.
pub(in crate::diagnose) fn faults(cx: &DiagnosisContext<'_>) -> Vec<RenderFault> {
    let mut found = Vec::new();
    let failing = cx.troubles.iter();
    let mut refusing = failing
        .filter_map(|it| Some((it, refusing(it)?)))
        .peekable();
    if refusing.peek().is_some() {
        let all = versions(cx.inventory);
        rendered(cx.inventory, &all, refusing, |rendering, _| {
            found.extend(rendering.faults.iter().cloned());
        });
    }
    found
}

/// What the controller says of an operation that failed.
pub(in crate::diagnose) struct SaidOfOperation<'s> {
    /// The override snapshot; `None` where that is unknown.
    pub over: Option<&'s Subject>,
    /// The object, in the reader's short form.
    pub object: Option<&'s str>,
    pub error: &'s str,
}

/// The operation of an override that cannot be applied for a cluster, and the objects to which it
/// cannot, where the faults tell.
pub(in crate::diagnose) fn operation<'f>(
    faults: &'f [RenderFault],
    cluster: &str,
    said: &SaidOfOperation<'_>,
) -> Option<(&'f FailingOperation, Vec<&'f str>)> {
    let mut found: Option<(&FailingOperation, Vec<&str>)> = None;
    for fault in faults {
        let FaultCause::Operation(failing) = &fault.cause else {
            continue;
        };
        let is_here = fault.clusters.iter().any(|it| it == cluster);
        if !(is_here && said.fits(failing, &fault.objects)) {
            continue;
        }
        let objects = fault.objects.iter().map(String::as_str);
        match &mut found {
            None => found = Some((failing, objects.collect())),
            Some((same, all)) if *same == failing => all.extend(objects),
            Some((same, _)) => {
                let of = |it: &FailingOperation| (it.over.clone(), it.rule, it.operation);
                // Which of two it was, the text does not say.
                if of(same) != of(failing) {
                    return None;
                }
            }
        }
    }
    found
}

impl SaidOfOperation<'_> {
    fn fits(&self, failing: &FailingOperation, objects: &[String]) -> bool {
        let is_over = |over: &Subject| Subject::from(&failing.over) == *over;
        // Where no object is named, the path is all that tells.
        let mut words = self.error.split(|c: char| c.is_whitespace() || c == '"');
        let is_object = match self.object {
            Some(object) => objects.iter().any(|it| it == object),
            None => words.any(|word| word.trim_end_matches(':') == failing.path),
        };
        self.over.is_none_or(is_over) && is_object
    }
}
