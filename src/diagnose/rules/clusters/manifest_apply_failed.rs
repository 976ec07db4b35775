//! A member cluster refused an object.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::affected::{AffectedObject, has_pods};
use crate::diagnose::subjects::objects::{per_subject, rolled_out};
use crate::diagnose::subjects::ownership;
use crate::diagnose::subjects::sent::SentManifest;
use crate::kubefleet::messages::ManifestProblem;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::report::Remedy;
use crate::rollout::ManifestTrouble;
use crate::words::{after_colon, by_key};

/// `ManifestApplyFailed`, `FailedToFindObjInMemberCluster` and the like, where no other rule knows
/// the cause. Source: workapplier/process.go, apply.go.
pub const RULE: Rule = Rule::on_member("FS502", "manifest-apply-failed", check).content();

/// One finding for what refuses objects for the same reason, and for every other object.
fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let refused = |it: &&ManifestTrouble<'_>| ownership::of_manifest(it) == Some(rule.code);
    let all = cx.troubles.iter().flat_map(|it| &it.trouble.manifests);
    let mut first: BTreeMap<_, Subject> = BTreeMap::new();
    for manifest in all.filter(refused) {
        if let Some(refusal) = shared_refusal(manifest) {
            first.entry(refusal).or_insert_with(|| manifest.into());
        }
    }
    let subject = |manifest: &ManifestTrouble<'_>| {
        let shared = shared_refusal(manifest).and_then(|it| first.get(&it).cloned());
        refused(&manifest).then(|| shared.unwrap_or_else(|| manifest.into()))
    };
    per_subject(cx, rule, subject, describe)
}

/// What refuses objects whatever they are: who, where that matters, and why, without the words that
/// differ with the object.
fn shared_refusal<'m>(manifest: &'m ManifestTrouble<'_>) -> Option<(String, &'m str, String)> {
    use ManifestProblem as P;
    let who = refused_by(&manifest.problem);
    Some(match &manifest.problem {
        P::AdmissionDenied { said, .. } | P::AdmissionPolicyDenied { said, .. } => {
            let words = said.split_whitespace();
            let words = words.filter(|it| !names_object(it, manifest.name));
            (who, "", words.collect::<Vec<_>>().join(" "))
        }
        P::WebhookUnreachable { .. } | P::Forbidden { .. } => (who, "", String::new()),
        P::QuotaExceeded { .. } | P::PodSecurity { .. } => (who, manifest.namespace, String::new()),
        _ => return None,
    })
}

fn describe(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    // The same object may be refused for another reason elsewhere: what is true of most comes first.
    let all = affected.all.iter();
    let reasons = by_key(all.map(|it| (refused_by(&it.1.problem), *it)));
    let mut reasons: Vec<_> = reasons
        .into_values()
        .filter_map(|all| AffectedObject::new(affected.cx, all))
        .map(|on| (words(&on), on))
        .collect();
    reasons.sort_by_key(|(_, on)| Reverse(on.on.len()));
    let object = if affected.has_several() {
        affected.objects()
    } else {
        affected.object()
    };
    finding.message = if let [(why, _)] = reasons.as_slice() {
        format!(
            "{object} could not be applied on {}: {why}.",
            affected.clusters()
        )
    } else {
        let each: Vec<_> = reasons
            .iter()
            .map(|(why, on)| format!("on {} {why}", on.clusters()))
            .collect();
        format!("{object} could not be applied: {}.", each.join("; "))
    };
    let problems = || reasons.iter().map(|(_, on)| &on.manifest.problem);
    finding.fault = problems().map(fault).min();
    if let Some(others) = reasons.get(1..).filter(|others| !others.is_empty()) {
        let names = others.iter().flat_map(|(_, on)| &on.on);
        finding.remedies.push(Remedy::first(format!(
            "Resolve each of the reasons before a new run: otherwise it stalls at {} again.",
            enumerate(distinct(names.map(|failing| failing.cluster)))
        )));
    }
    for (_, on) in &reasons {
        finding = remedies(on, finding);
    }
    finding
}

/// What refused the object, without the words that differ with the cluster.
fn refused_by(problem: &ManifestProblem) -> String {
    use ManifestProblem as P;
    match problem {
        P::AdmissionDenied { webhook, .. } => webhook.clone(),
        P::AdmissionPolicyDenied { policy, .. } => policy.clone(),
        P::Other { text } => {
            let words = text.split(' ');
            let words = words.filter(|it| !it.contains(|c: char| c.is_ascii_digit()));
            words.collect::<Vec<_>>().join(" ")
        }
        other => describe_problem(other, false),
    }
}

/// Whether a word has a name in it, as `Deployment/shop/web` has.
fn names_object(word: &str, name: &str) -> bool {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.');
    let mut parts = word.split(|it| !is_of_name(it));
    parts.any(|it| it.trim_end_matches('.') == name)
}

/// Why the object was refused: where the texts differ, that of the first cluster, said to be of it.
fn words(affected: &AffectedObject<'_, '_>) -> String {
    let several = affected.has_several();
    let why = describe_problem(&affected.manifest.problem, several);
    let mut all = affected.all.iter();
    if all.all(|(_, it)| describe_problem(&it.problem, several) == why) {
        return why;
    }
    let first = affected.all.first();
    let cluster = first.map_or_else(|| affected.cluster(), |(failing, _)| failing.cluster);
    let refused = if several {
        "refused them"
    } else {
        "refused it"
    };
    match why.split_once(&format!(" {refused}: ")) {
        Some((who, said)) => format!("{who} {refused} (on {cluster}: {said})"),
        None => format!("{why} (the text of {cluster})"),
    }
}

fn describe_problem(problem: &ManifestProblem, several: bool) -> String {
    use ManifestProblem as P;
    let (it, violates) = if several {
        ("them", "they violate")
    } else {
        ("it", "it violates")
    };
    match problem {
        P::QuotaExceeded { quota } => format!("the ResourceQuota {quota} there is used up"),
        P::AdmissionDenied { webhook, said } => {
            format!(
                "the admission webhook {webhook} refused {it}{}",
                after_colon(said)
            )
        }
        P::AdmissionPolicyDenied { policy, said } => format!(
            "the ValidatingAdmissionPolicy {policy} refused {it}{}",
            after_colon(said)
        ),
        P::WebhookUnreachable { webhook } => {
            format!("calling the {webhook} failed")
        }
        P::PodSecurity { level } => format!("{violates} the Pod Security level {level}"),
        P::ImmutableField { field: Some(field) } => {
            format!("the field {field} of the existing object is immutable")
        }
        P::ImmutableField { field: None } => {
            "it changes an immutable field of the existing object".to_owned()
        }
        P::Forbidden { said } => {
            format!("the member's API server forbade the request: `{said}`")
        }
        P::ObjectModified => "something else changed the object there at the same time".to_owned(),
        P::Invalid { field: Some(field) } => {
            format!("the API server there finds the field {field} invalid")
        }
        P::Invalid { field: None } => "the API server there finds it invalid".to_owned(),
        P::TooLarge => "it is too large to be stored".to_owned(),
        P::LookupFailed => "the object could not be read there".to_owned(),
        P::DriftDetectionFailed => "it could not be compared with the object there".to_owned(),
        P::OwnerMissing => {
            "the object there is not owned by the AppliedWork that placed it".to_owned()
        }
        P::Other { text } if !text.is_empty() => text.trim_end_matches('.').to_owned(),
        _ => "the member agent gives no further reason".to_owned(),
    }
}

/// A configuration of webhooks that the same content brings: it may be what refuses the rest.
fn own_webhook<'i>(affected: &AffectedObject<'_, 'i>) -> Option<&'i ManifestIdentity> {
    let sent = SentManifest::all(affected.cx, affected.on.first()?);
    let mut all = sent.filter(SentManifest::is_applied).map(|it| it.manifest);
    all.find(|it| it.kind.ends_with("WebhookConfiguration"))
}

/// Whose fault it is: the content's only where no rule of the member alone refuses it.
const fn fault(problem: &ManifestProblem) -> FaultOrigin {
    use ManifestProblem as P;
    match problem {
        P::QuotaExceeded { .. }
        | P::WebhookUnreachable { .. }
        | P::Forbidden { .. }
        | P::ObjectModified
        | P::LookupFailed
        | P::DriftDetectionFailed => FaultOrigin::Environment,
        P::OwnerMissing => FaultOrigin::Person,
        _ => FaultOrigin::Content,
    }
}

/// What to do, on the member or in the content: the likelier place first. A rule of the cluster is
/// there for a reason, so that the content is changed first.
fn remedies(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    use ManifestProblem as P;
    let problem = &affected.manifest.problem;
    let clusters = affected.clusters();
    let object = affected.manifest.describe();
    let on_hub = affected.all_on_hub();
    finding = look(affected, finding);
    let own_quota = |quota: &str| affected.in_content("ResourceQuota", |it| it == quota);
    let (member, content) = match problem {
        P::QuotaExceeded { quota } if let Some(own) = own_quota(quota) => (
            None,
            Some(rolled_out(affected.cx, &format!("Raise {own} on the hub"))),
        ),
        P::QuotaExceeded { quota } => (
            Some(format!(
                "Raise the ResourceQuota {quota} on {clusters} or free some of it."
            )),
            // Objects without pods count by their number alone.
            has_pods(affected.manifest.kind).then(|| {
                rolled_out(
                    affected.cx,
                    &format!("Or lower the requests in {on_hub} on the hub"),
                )
            }),
        ),
        P::AdmissionDenied { .. } | P::AdmissionPolicyDenied { .. } | P::PodSecurity { .. } => {
            return by_rule(affected, &clusters, finding);
        }
        P::WebhookUnreachable { webhook } => (
            Some(format!(
                "Restore the service behind the {webhook} on {clusters}, or its certificate."
            )),
            None,
        ),
        P::ImmutableField { .. } => (
            None,
            Some(format!(
                "Restore the old value in {on_hub} on the hub, or rename the object, and roll it \
                 out with a new run."
            )),
        ),
        P::Forbidden { said } => (
            Some(match said.as_str() {
                "Unauthorized" => {
                    format!("Renew the credentials of the member agent on {clusters}.")
                }
                said if said.starts_with("User ") => {
                    format!("Let the member agent do that on {clusters}, by RBAC.")
                }
                _ => {
                    format!("Find out what forbids it on {clusters}: an admission plugin, or RBAC.")
                }
            }),
            None,
        ),
        P::Invalid { .. } | P::TooLarge => (
            None,
            Some(format!(
                "Fix {on_hub} on the hub, or the override that changes it, and roll it out with a \
                 new run."
            )),
        ),
        P::LookupFailed => (
            Some(format!(
                "Check the API server of {clusters} and the log of the member agent there."
            )),
            None,
        ),
        P::ObjectModified => (Some(format!("Let only one of them change {object}.")), None),
        P::OwnerMissing => (
            Some(format!(
                "Inspect the ownerReferences of {object} on {clusters}: something removed the \
                 AppliedWork from them."
            )),
            None,
        ),
        _ => (
            Some(format!(
                "Fix the cause on {clusters}, if it is there: the evidence has the full text."
            )),
            Some(format!(
                "Or fix {on_hub} on the hub and roll it out with a new run, if the cause is in the \
                 content."
            )),
        ),
    };
    if let Some(member) = member {
        finding = finding.fix(member).then_continues(affected.cx);
    }
    if let Some(content) = content {
        finding = finding.new_run(affected.cx, content);
    }
    if matches!(problem, P::ImmutableField { .. }) {
        finding = finding.replaced_there(affected);
    }
    finding
}

/// What is looked at first, and what a webhook needs that the content itself brings.
fn look(affected: &AffectedObject<'_, '_>, finding: Finding) -> Finding {
    use ManifestProblem as P;
    match &affected.manifest.problem {
        P::QuotaExceeded { quota } => finding.look_with(
            format!(
                "Check what uses up the ResourceQuota {quota} on {}.",
                affected.cluster()
            ),
            affected
                .on_member("describe")
                .namespace(affected.manifest.namespace)
                .arg("resourcequota")
                .arg(quota),
        ),
        P::WebhookUnreachable { webhook }
            if webhook.starts_with("admission")
                && let Some(own) = own_webhook(affected) =>
        {
            let it = Subject::new(&own.kind, "", &own.meta.name);
            let on_it = |verb| {
                let command = affected.on_member(verb).arg(own.kind.to_lowercase());
                command.arg(&own.meta.name)
            };
            finding
                .look_with(
                    format!(
                        "Check whether the {webhook} is of {it}, which the content itself brings."
                    ),
                    on_it("get").flag("-o", "yaml"),
                )
                .disrupt_with(
                    format!(
                        "Delete {it} on {}, if it is and its service needs what it refuses: the agent creates it \
                         again after that.",
                        affected.one_by_one()
                    ),
                    on_it("delete"),
                )
                .then_continues(affected.cx)
                .new_run(
                    affected.cx,
                    format!(
                        "Or correct {it} on the hub and start a new run: what the agent creates again may refuse \
                         the object at its next check, and does so on the next cluster."
                    ),
                )
        }
        P::ObjectModified => finding.look_with(
            format!(
                "Find what keeps changing {} on {}.",
                affected.manifest.describe(),
                affected.cluster()
            ),
            affected.kubectl("get").showing_field_managers(),
        ),
        _ => finding,
    }
}

/// A rule of the member refused the object: the content follows it, or its owner changes it.
fn by_rule(affected: &AffectedObject<'_, '_>, clusters: &str, finding: Finding) -> Finding {
    use ManifestProblem as P;
    let what = match &affected.manifest.problem {
        P::PodSecurity { .. } => {
            "the pod-security.kubernetes.io labels of the namespace".to_owned()
        }
        P::AdmissionPolicyDenied { policy, .. } => format!("the policy {policy}, or its binding,"),
        P::AdmissionDenied { webhook, .. } => format!("the rules of the webhook {webhook}"),
        _ => "the rule".to_owned(),
    };
    finding
        .roll_out(
            affected.cx,
            &format!(
                "Fix {} on the hub, or with an override for {clusters},",
                affected.all_on_hub()
            ),
        )
        .fix(format!(
            "Or ask the owner of {clusters} to change {what} there, if the objection is wrong."
        ))
        .then_continues(affected.cx)
}
