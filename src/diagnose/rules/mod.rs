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
    pub use crate::diagnose::subjects::objects::RepairPlace;
    pub use crate::diagnose::subjects::rule::{Rule, RuleSearch};
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
        let mut findings: Vec<_> = match self.check {
            RuleSearch::Whole(check) => check(cx, self),
            RuleSearch::One(check) => check(cx, self).into_iter().collect(),
            RuleSearch::Object(check) => per_object(cx, self, check),
            RuleSearch::Approval(check) => {
                let live = cx.rollout.iter().filter(|rollout| rollout.is_live());
                live.flat_map(Rollout::open_approvals)
                    .filter_map(|gate| check(cx, self, gate))
                    .collect()
            }
            RuleSearch::Cause(check) => causes.filter_map(|it| check(cx, self, it)).collect(),
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

/// Declares the modules of the rules and the list of them all.
macro_rules! rules {
    ($( $area:ident { $( $rule:ident ),* $(,)? } )*) => {
        $( mod $area { $( pub mod $rule; )* } )*

        /// Every rule, sorted by code.
        pub static ALL: &[&Rule] = &[ $( $( &$area::$rule::RULE, )* )* ];

        /// What the rule of a code is about, in one word.
        pub fn area(code: &str) -> Option<&'static str> {
            $( $( if $area::$rule::RULE.code == code { return Some(stringify!($area)); } )* )*
            None
        }
    };
}

// In the order of their codes: a test checks it.
rules! {
    inputs {
        placement_not_found,
        placement_not_external,
        policy_snapshot_not_found,
        policy_snapshot_inconsistent,
        placement_not_scheduled,
        no_cluster_selected,
        binding_count_mismatch,
        strategy_not_found,
        stage_tasks_invalid,
        stage_selector_invalid,
        cluster_in_two_stages,
        sorting_label_invalid,
        cluster_in_no_stage,
        snapshot_index_invalid,
        snapshot_not_found,
        snapshot_pruned,
        snapshot_incomplete,
        override_invalid,
        resource_selector_invalid,
        initialization_interrupted,
        initialization_retried,
        controller_not_responding,
        run_state_unsupported,
        failure_not_recognized,
        strategy_unreadable,
    }
    changes {
        apply_strategy_changed,
        placement_policy_changed,
        cluster_count_changed,
        stage_clusters_changed,
        cluster_left_during_run,
        placement_being_deleted,
        run_status_inconsistent,
        max_concurrency_invalid,
        approval_request_of_another_run,
    }
    bindings {
        preempted_by_another_run,
        binding_changed_in_flight,
        binding_missing,
        deletion_stage_inconsistent,
        binding_changed_after_run,
    }
    gates {
        approval_observed_generation_mismatch,
        approval_pending,
        approval_withheld,
        approval_waits_for_resume,
        approval_request_recreated,
        approval_request_missing,
        timed_wait_running,
        approval_not_yet_accepted,
    }
    clusters {
        workload_not_available,
        manifest_apply_failed,
        namespace_missing_on_member,
        kind_missing_on_member,
        drift_found,
        takeover_refused,
        object_owned_by_others,
        object_owned_by_another_placement,
        override_not_applicable,
        snapshot_gone_during_run,
        work_not_synchronized,
        envelope_content_invalid,
        manifest_invalid,
        diff_report_failed,
        work_not_processed,
        member_agent_silent,
        member_cluster_unhealthy,
        member_cluster_left,
        cluster_deletion_pending,
        cluster_stuck_unexplained,
        cluster_recovered,
        load_balancer_pending,
        apply_conflict,
        work_status_trimmed,
        differences_reported,
        removed_content_remains,
        member_api_unavailable,
        earlier_work_remains,
        needed_object_not_sent,
        content_sent_late,
    }
    life {
        run_not_started,
        run_stopped,
        stop_blocked,
        run_frozen_by_upgrade,
        state_change_not_observed,
        finished_run_edited,
        run_being_deleted,
        state_ignored_by_hub,
        strategy_differs_from_run,
        availability_not_tracked,
        stage_skipped_empty,
        stop_waits_for_removal,
        state_not_recognized,
    }
    content {
        old_content_rolled_out,
        versions_mixed,
        cluster_would_go_back,
        snapshot_about_to_be_pruned,
        other_run_active,
        done_cluster_overtaken,
        override_never_applied,
        override_matches_nothing,
        snapshot_empty,
        override_changed_during_run,
        cascading_deletion,
    }
    placements {
        placement_awaits_run,
        placement_rolls_out_itself,
        cluster_without_content,
        runs_on_placement,
        content_being_removed,
    }
    members {
        image_not_pulled,
        container_crash_looping,
        container_out_of_memory,
        container_config_missing,
        container_not_started,
        probe_failing,
        init_container_running,
        pod_unschedulable,
        volume_not_bound,
        pod_setup_failing,
        pod_quota_exceeded,
        pod_creation_refused,
        readiness_gate_open,
        node_not_reporting,
        object_missing_on_member,
        rollout_held_on_member,
        old_pod_blocks_rollout,
        change_not_observed_on_member,
        available_on_member,
        load_balancer_refused,
        definition_not_accepted,
        member_not_reachable,
        job_failed,
    }
}

pub fn find(code: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.code == code)
}

/// The name and the code of a finding.
pub fn named(code: &str) -> String {
    find(code).map_or_else(|| code.to_owned(), |rule| format!("{} ({code})", rule.name))
}

/// The rule of a code or a name, in any case.
pub fn search(word: &str) -> Option<&'static Rule> {
    ALL.iter()
        .copied()
        .find(|rule| rule.code.eq_ignore_ascii_case(word) || rule.name.eq_ignore_ascii_case(word))
}
