//! A Service waits for the address of a load balancer.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::affected::AffectedObject;
use crate::diagnose::subjects::member_findings;

/// A Service of type LoadBalancer is available once it has an ingress address, any other once it
/// has a cluster address. Source: workapplier/availability_tracker.go:trackServiceAvailability.
pub const RULE: Rule = Rule::on_object("FS523", "load-balancer-pending", check)
    .caused_by(&member_findings::WHY_NOT_AVAILABLE)
    .environment();

fn check(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    let clusters = affected.clusters();
    finding.message = format!(
        "{} was applied, but has not become available on {clusters}{}: a Service of type \
         LoadBalancer waits for its address.",
        affected.object(),
        affected.lasting()
    );
    let action = format!(
        "Inspect the Service on {}: its type and the events of the load balancer controller.",
        affected.cluster()
    );
    finding = finding.look_with(action, affected.kubectl("describe"));
    let names: Vec<_> = affected.on.iter().map(|on| on.cluster).collect();
    finding = member_findings::invite(affected.cx, &names, finding);
    finding.repair_there_or_on_hub(
        affected,
        format!(
            "Install a load balancer controller on {clusters} (the cloud's, or MetalLB), or free \
             an address or quota."
        ),
        "Or change the type of {} on the hub, or with an override for these clusters, and \
         start a new run, if it needs no load balancer.",
    )
}
