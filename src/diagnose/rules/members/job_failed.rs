//! A Job that comes with the content has failed.

use std::collections::BTreeMap;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::{jobs, member_sightings};
use crate::diagnose::subjects::objects::grouped;
use crate::kubefleet::Conditions;
use crate::member::{MemberBody, MemberKind};
use crate::words::CommandLine;

/// KubeFleet waits for no Job, so that the hub says nothing of it; workloads of the same content may
/// wait for what it does. Source: workapplier/availability_tracker.go; kubernetes,
/// pkg/controller/job/job_controller.go.
pub const RULE: Rule = Rule::warning("FS923", "job-failed", Whole(check))
    .reads(&[Concept::Binding, Concept::Work])
    .caused_by(&["FS518"]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let clusters: BTreeMap<_, _> = member_sightings(cx)
        .into_iter()
        .map(|seen| (seen.failing.cluster, (seen.failing, seen.look)))
        .collect();
    let found = clusters.into_values().flat_map(|(failing, look)| {
        let jobs = jobs(cx, failing).into_iter();
        jobs.filter_map(move |wanted| {
            let MemberBody::Job(job) = &look.object(&wanted)?.body else {
                return None;
            };
            let failed = job.status.conditions.condition("Failed")?;
            let found = (failing.cluster, job, failed);
            let is_failed = failed.is_true();
            is_failed.then(|| (Subject::from(&wanted), failing, found))
        })
    });
    let groups = grouped(cx, rule, found).into_iter();
    groups
        .filter_map(|(finding, all)| {
            let (first, job, failed) = all.first()?;
            let clusters = enumerate(all.iter().map(|(cluster, ..)| *cluster));
            let mut finding = finding.severity(rule.severity).root_if(false);
            finding.message = format!(
                "{}, which the content has too, has failed on {clusters}: {}. KubeFleet does not \
                 wait for it, but pods may.",
                finding.subject, failed.reason
            );
            for (cluster, job, failed) in all.iter().take(3) {
                let path = "status.conditions[type=Failed]";
                finding = finding.evidence_in(cluster, (MemberKind::Job, &job.meta), path, *failed);
            }
            let log = CommandLine::member(*first, "logs").namespace(&job.meta.namespace);
            Some(
                finding
                    .look_with("Read its log.", log.arg(format!("job/{}", job.meta.name)))
                    .new_run(
                        cx,
                        format!(
                            "Fix Job {} on the hub, under a new name, and start a new run: a Job that \
                             has failed does not run again.",
                            job.meta.name
                        ),
                    ),
            )
        })
        .collect()
}
