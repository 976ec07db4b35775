//! A Service waits for the address of a load balancer.

use crate::diagnose::case::Case;
use crate::diagnose::claims;
use crate::diagnose::looks;
use crate::diagnose::objects::per_object;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;

/// A Service of type LoadBalancer is available once it has an ingress address, any other once it
/// has a cluster address. Source: workapplier/availability_tracker.go:trackServiceAvailability.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS523",
    name: "load-balancer-pending",
    severity: Severity::Error,
    reads: &[Concept::Binding, Concept::Work],
    caused_by: &looks::OF_OBJECTS,
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    per_object(
        case,
        rule,
        |manifest| claims::of_manifest(manifest) == Some(rule.code),
        |affected, mut finding| {
            let clusters = affected.clusters();
            finding.message = format!(
                "{} was applied, but has not become available on {clusters}{}: a Service of type \
                 LoadBalancer waits for its address.",
                affected.object(),
                affected.lasting()
            );
            finding = finding.look(
                format!(
                    "Inspect the Service on {clusters}: its type and the events of the load \
                     balancer controller."
                ),
                Some(affected.kubectl("describe")),
            );
            let names: Vec<_> = affected.on.iter().map(|on| on.cluster).collect();
            finding = looks::invite(case, &names, finding);
            finding = finding.fix(
                format!(
                    "Install a load balancer controller on {clusters} (the cloud's, or MetalLB), \
                     or free an address or quota."
                ),
                None,
            );
            finding = affected.goes_on(finding);
            affected.new_run(
                finding,
                format!(
                    "Or change the type of {} on the hub, or with an override for these clusters, \
                     and start a new run, if it needs no load balancer.",
                    affected.on_hub()
                ),
            )
        },
    )
}
