//! A container needs a ConfigMap or a Secret that the cluster does not have.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::{self, pods_in};
use crate::member::PodState;

/// `CreateContainerConfigError`, or a volume that cannot be mounted, with a text that names a
/// missing ConfigMap, Secret or key.
/// Source: kubernetes, pkg/kubelet/kubelet_pods.go:makeEnvironmentVariables, pkg/volume/secret.
pub const RULE: Rule = Rule::on_member("FS904", "container-config-missing", check)
    .caused_by(&["FS518", "FS531"])
    .content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = pods_in!(cx, rule, PodState::ConfigMissing { message, event } => (message, event));
    found.describe(|group, mut finding| {
        let what = group
            .first()
            .map_or_else(String::new, |(_, (_, (message, _)))| missing(message));
        finding = group.says(finding, &needs(&group.pods(), &what));
        for (cluster, (trouble, (message, event))) in group.shown() {
            finding = member_findings::event_or_waiting(finding, cluster, trouble, *event, message);
        }
        finding
            .look_with(
                "List what exists.",
                group.kubectl("get").arg("configmaps,secrets"),
            )
            .fix(
                "Create it on the member under this name, if it is made there (by an operator \
                 or by hand): the pods then start by themselves.",
            )
            .then_continues(group.cx)
            .new_run(
                group.cx,
                "Or add it to the placement's selectors, or fix its name, if it belongs to the \
                 content. Then start a new run.",
            )
    })
}

fn needs(pods: &str, what: &str) -> String {
    if what.is_empty() {
        format!("{pods} cannot start because part of their configuration is missing")
    } else {
        format!("{pods} cannot start without {what}, which is missing")
    }
}

/// What a text says is missing: `the Secret db`, `the key url in ConfigMap shop/settings`.
fn missing(message: &str) -> String {
    if let Some((_, rest)) = message.split_once("couldn't find key ") {
        let rest = rest.lines().next().unwrap_or_default();
        return format!("the key {}", rest.trim_end_matches(['.', ' ']));
    }
    for (word, kind) in [("configmap", "ConfigMap"), ("secret", "Secret")] {
        let lower = message.to_ascii_lowercase();
        for start in [format!("{word} \""), format!("{word}s \"")] {
            let Some(at) = lower.find(&start) else {
                continue;
            };
            let name = message
                .get(at + start.len()..)
                .and_then(|rest| rest.split('"').next())
                .unwrap_or_default();
            if !name.is_empty() {
                return format!("the {kind} {name}");
            }
        }
    }
    if let Some((_, key)) = message.split_once("references non-existent ") {
        let key = key.lines().next().unwrap_or_default();
        let key = key.rsplit(": ").next().unwrap_or_default();
        return format!("the key {key} of a volume");
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn what_is_missing_is_named() {
        for (message, named) in [
            ("secret \"db\" not found", "the Secret db"),
            ("configmap \"settings\" not found", "the ConfigMap settings"),
            (
                "couldn't find key url in ConfigMap shop/settings",
                "the key url in ConfigMap shop/settings",
            ),
            (
                "MountVolume.SetUp failed for volume \"tls\" : secret \"web-tls\" not found",
                "the Secret web-tls",
            ),
            (
                "MountVolume.SetUp failed for volume \"c\" : references non-existent secret key: ca.crt",
                "the key ca.crt of a volume",
            ),
            ("something else", ""),
        ] {
            assert_eq!(missing(message), named, "{message}");
        }
    }
}
