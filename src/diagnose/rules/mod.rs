//! The rules: one file each, in one sorted list.

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::objects::per_object;
pub use crate::diagnose::subjects::rule::{Rule, RuleSearch};
use crate::diagnose::subjects::run_failure;
use crate::report::Finding;
use crate::rollout::Rollout;

/// What nearly every rule speaks of.
mod prelude {
    pub use crate::diagnose::subjects::context::DiagnosisContext;
    pub use crate::diagnose::subjects::rule::RuleSearch::{
        Approval, Live, NamedCause, One, Run, Whole,
    };
    pub use crate::diagnose::subjects::rule::{Rule, found_or};
    pub use crate::kubefleet::Concept;
    pub use crate::kubefleet::messages::Cause;
    pub use crate::report::{
        ABSENT, ComposeText, FaultOrigin, Finding, Severity, Subject, Verdict,
    };
    pub use crate::words::{by_number, count, distinct, enumerate};
}

impl Rule {
    /// Everything that the rule finds. Each cluster stands once in a finding, in the order of names.
    pub fn check(&self, cx: &DiagnosisContext<'_>) -> Vec<Finding> {
        let causes = cx.causes().chain(&cx.foreseen);
        let runs = cx.rollout.iter();
        let live = runs.clone().filter(|rollout| rollout.is_live());
        let mut findings: Vec<_> = match self.check {
            RuleSearch::Whole(check) => check(cx, self),
            RuleSearch::One(check) => check(cx, self).into_iter().collect(),
            RuleSearch::Object(check) => per_object(cx, self, check),
            RuleSearch::Run(check) => runs.flat_map(|it| check(cx, self, it)).collect(),
            RuleSearch::Live(check) => live.flat_map(|it| check(cx, self, it)).collect(),
            RuleSearch::Approval(check) => {
                let gates = live.flat_map(Rollout::open_approvals);
                gates.filter_map(|gate| check(cx, self, gate)).collect()
            }
            RuleSearch::NamedCause(check) => causes.filter_map(|it| check(cx, self, it)).collect(),
            RuleSearch::Refusal(check) => {
                let refused = causes.filter_map(|it| check(cx, it));
                let told = |(problem, fixed)| run_failure::refused(cx, self, problem, fixed);
                refused.map(told).collect()
            }
        };
        for finding in &mut findings {
            finding.clusters.sort();
            finding.clusters.dedup();
        }
        findings
    }
}

/// Declares the modules of the rules, the list of them all, and what is known of each code.
macro_rules! rules {
    ($( $area:ident { $( $code:ident $rule:ident ),* $(,)? } )*) => {
        $( mod $area { $( pub mod $rule; )* } )*

        /// Every rule, sorted by code.
        pub static ALL: &[&Rule] = &[ $( $( &$area::$rule::RULE, )* )* ];

        /// What the rule of a code is about, in one word.
        pub fn area(code: &str) -> Option<&'static str> {
            $( $( if code == stringify!($code) { return Some(stringify!($area)); } )* )*
            None
        }

        /// The long explanation of a code, in markdown.
        pub fn explanation(code: &str) -> Option<&'static str> {
            $( $( if code == stringify!($code) {
                return Some(include_str!(concat!("../../../docs/findings/", stringify!($code), ".md")));
            } )* )*
            None
        }
    };
}

// In the order of their codes: a test checks it.
rules! {
    inputs {
        FS101 placement_not_found,
        FS102 placement_not_external,
        FS103 policy_snapshot_not_found,
        FS104 policy_snapshot_inconsistent,
        FS105 placement_not_scheduled,
        FS106 no_cluster_selected,
        FS107 binding_count_mismatch,
        FS108 strategy_not_found,
        FS109 stage_tasks_invalid,
        FS110 stage_selector_invalid,
        FS111 cluster_in_two_stages,
        FS112 sorting_label_invalid,
        FS113 cluster_in_no_stage,
        FS114 snapshot_index_invalid,
        FS115 snapshot_not_found,
        FS116 snapshot_pruned,
        FS117 snapshot_incomplete,
        FS118 override_invalid,
        FS119 resource_selector_invalid,
        FS120 initialization_interrupted,
        FS121 initialization_retried,
        FS122 controller_not_responding,
        FS123 run_state_unsupported,
        FS124 failure_not_recognized,
        FS125 strategy_unreadable,
    }
    changes {
        FS201 apply_strategy_changed,
        FS202 placement_policy_changed,
        FS203 cluster_count_changed,
        FS204 stage_clusters_changed,
        FS205 cluster_left_during_run,
        FS206 placement_being_deleted,
        FS207 run_status_inconsistent,
        FS208 max_concurrency_invalid,
        FS209 approval_request_of_another_run,
    }
    bindings {
        FS301 preempted_by_another_run,
        FS302 binding_changed_in_flight,
        FS303 binding_missing,
        FS304 deletion_stage_inconsistent,
        FS305 binding_changed_after_run,
    }
    gates {
        FS401 approval_observed_generation_mismatch,
        FS402 approval_pending,
        FS403 approval_withheld,
        FS404 approval_waits_for_resume,
        FS405 approval_request_recreated,
        FS406 approval_request_missing,
        FS407 timed_wait_running,
        FS408 approval_not_yet_accepted,
    }
    clusters {
        FS501 workload_not_available,
        FS502 manifest_apply_failed,
        FS503 namespace_missing_on_member,
        FS504 kind_missing_on_member,
        FS505 drift_found,
        FS506 takeover_refused,
        FS507 object_owned_by_others,
        FS508 object_owned_by_another_placement,
        FS509 override_not_applicable,
        FS510 snapshot_gone_during_run,
        FS511 work_not_synchronized,
        FS512 envelope_content_invalid,
        FS513 manifest_invalid,
        FS514 diff_report_failed,
        FS515 work_not_processed,
        FS516 member_agent_silent,
        FS517 member_cluster_unhealthy,
        FS518 member_cluster_left,
        FS520 cluster_deletion_pending,
        FS521 cluster_stuck_unexplained,
        FS522 cluster_recovered,
        FS523 load_balancer_pending,
        FS524 apply_conflict,
        FS525 work_status_trimmed,
        FS526 differences_reported,
        FS527 removed_content_remains,
        FS528 member_api_unavailable,
        FS530 earlier_work_remains,
        FS531 needed_object_not_sent,
        FS532 content_sent_late,
    }
    life {
        FS601 run_not_started,
        FS602 run_stopped,
        FS603 stop_blocked,
        FS604 run_frozen_by_upgrade,
        FS605 state_change_not_observed,
        FS606 finished_run_edited,
        FS607 run_being_deleted,
        FS608 state_ignored_by_hub,
        FS609 strategy_differs_from_run,
        FS610 availability_not_tracked,
        FS611 stage_skipped_empty,
        FS612 stop_waits_for_removal,
        FS613 state_not_recognized,
    }
    content {
        FS701 old_content_rolled_out,
        FS702 versions_mixed,
        FS703 cluster_would_go_back,
        FS704 snapshot_about_to_be_pruned,
        FS705 other_run_active,
        FS706 done_cluster_overtaken,
        FS707 override_never_applied,
        FS708 override_matches_nothing,
        FS709 snapshot_empty,
        FS710 override_changed_during_run,
        FS711 cascading_deletion,
        FS712 change_refused_ahead,
    }
    placements {
        FS801 placement_awaits_run,
        FS802 placement_rolls_out_itself,
        FS803 cluster_without_content,
        FS804 runs_on_placement,
        FS805 content_being_removed,
    }
    members {
        FS901 image_not_pulled,
        FS902 container_crash_looping,
        FS903 container_out_of_memory,
        FS904 container_config_missing,
        FS905 container_not_started,
        FS906 probe_failing,
        FS907 init_container_running,
        FS908 pod_unschedulable,
        FS909 volume_not_bound,
        FS910 pod_setup_failing,
        FS911 pod_quota_exceeded,
        FS912 pod_creation_refused,
        FS913 readiness_gate_open,
        FS914 node_not_reporting,
        FS915 object_missing_on_member,
        FS916 rollout_held_on_member,
        FS917 old_pod_blocks_rollout,
        FS918 change_not_observed_on_member,
        FS919 available_on_member,
        FS920 load_balancer_refused,
        FS921 definition_not_accepted,
        FS922 member_not_reachable,
        FS923 job_failed,
    }
}

pub fn find(code: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.code == code)
}

pub fn named(code: &str) -> String {
    find(code).map_or_else(|| code.to_owned(), |rule| format!("{} ({code})", rule.name))
}

/// The rule of a code or a name, in any case.
pub fn search(word: &str) -> Option<&'static Rule> {
    ALL.iter()
        .copied()
        .find(|rule| rule.code.eq_ignore_ascii_case(word) || rule.name.eq_ignore_ascii_case(word))
}

/// The one sentence of an explanation: its first paragraph in bold.
pub fn summary(explanation: &str) -> Option<String> {
    let line = explanation.lines().find(|line| line.starts_with("**"))?;
    Some(line.trim_matches('*').to_owned())
}
