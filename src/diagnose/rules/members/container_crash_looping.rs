//! A container ends again and again.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::member_findings::{self, pods_in};
use crate::member::PodState;
use crate::member::texts::exit_code;

/// A container of the newest template has ended, is in the kubelet's back-off, or runs once more
/// without being ready, and neither its memory nor a probe is the reason.
pub const RULE: Rule = Rule::on_member("FS902", "container-crash-looping", check).content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = pods_in!(cx, rule, PodState::Crash(ended) => ended);
    found.describe(|group, mut finding| {
        let codes: std::collections::BTreeSet<_> = group
            .found()
            .filter_map(|(_, (_, ended))| ended.and_then(|ended| ended.code))
            .collect();
        let restarts: i64 = group
            .found()
            .filter_map(|(_, (trouble, _))| trouble.container?.status.restarts)
            .max()
            .unwrap_or(0);
        let code = codes.first().filter(|_| codes.len() == 1);
        let with = code.map_or_else(String::new, |code| {
            let meaning =
                exit_code(*code).map_or_else(String::new, |meaning| format!(" ({meaning})"));
            format!(" with code {code}{meaning}")
        });
        let again = match usize::try_from(restarts) {
            Ok(restarts @ 1..) => {
                format!(", after {}", count(restarts, "restart"))
            }
            _ => String::new(),
        };
        let why = format!(
            "its {} exits{with} in {}{again}",
            group.containers(),
            group.pods()
        );
        finding = group.says(finding, &why);
        for (cluster, (trouble, ended)) in group.shown() {
            finding = member_findings::restarts(finding, cluster, trouble);
            if let Some(ended) = ended {
                finding = member_findings::container_end(finding, cluster, trouble, ended);
            }
        }
        finding = finding.look_with("Read the log from before it ended.", group.previous_logs());
        finding.repair_there_or_on_hub(
            group,
            "Fix the member, if something is missing there (a database, a permission, a \
             host name): the container restarts by itself within five minutes.",
            "Or fix {} on the hub and start a new run, if the program or its configuration \
             is wrong.",
        )
    })
}
