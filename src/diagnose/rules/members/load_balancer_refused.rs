//! A Service gets no address from a load balancer, and the cluster says why.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::{self, per_object};
use crate::member::{MemberBody, MemberKind};

/// A Service of type LoadBalancer has no ingress address, and there is a warning about it.
/// Source: kubernetes, cloud-provider/controllers/service/controller.go.
pub const RULE: Rule = Rule::on_member("FS920", "load-balancer-refused", check).environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = per_object(cx, rule, |seen| {
        let MemberBody::Service(service) = &seen.object()?.body else {
            return None;
        };
        if !service.is_balanced() || !service.status.balancer.ingress.is_empty() {
            return None;
        }
        let events = member_findings::events(seen, MemberKind::Service, &service.meta);
        Some((service, *events.first()?))
    });
    found.describe(|group, mut finding| {
        let name = group
            .first()
            .map_or("", |(_, (service, _))| service.meta.name.as_str());
        finding = group.says(
            finding,
            "the load balancer controller reports an error and assigns it no address",
        );
        for (cluster, (service, event)) in group.shown() {
            finding = finding.evidence_in(
                cluster,
                (MemberKind::Service, &service.meta),
                "spec.loadBalancerClass",
                &service.spec.class,
            );
            finding = member_findings::event(finding, cluster, event);
        }
        finding
            .look_with(
                "Read the full error.",
                group.kubectl("describe").arg("service").arg(name),
            )
            .repair_there_or_on_hub(
                group,
                "Fix on the member what the error names: an address quota, a subnet, or a \
                 permission of the cloud controller.",
                "Or fix {} on the hub, or with an override for these clusters, and start a new \
                 run, if the cluster cannot provide what the Service asks for.",
            )
    })
}
