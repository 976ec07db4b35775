//! The strategy is not, or no longer, what the run recorded.

use crate::diagnose::rules::prelude::*;
use crate::inventory::Sight;
use crate::kubefleet::strategy::{Stage, StrategySpec, Task};
use crate::kubefleet::{ObjectRef, duration};
use crate::rollout::Rollout;

/// A run works from its own copy of the strategy; later edits reach new runs only.
/// Source: updaterun/initialization.go:generateStagesByStrategy.
pub const RULE: Rule =
    Rule::info("FS609", "strategy-differs-from-run", Run(check)).reads(&[Concept::Strategy]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    // A new run in the place of one that has failed takes the strategy as it is.
    let has_failed = cx.verdict == Verdict::Failed;
    if !rollout.is_live() && !has_failed {
        return Vec::new();
    }
    let run = rollout.run;
    let Some(recorded) = run.status.strategy.as_deref() else {
        return Vec::new();
    };
    let object = cx.object(Concept::Strategy, &run.spec.strategy);
    match &cx.inventory.strategy {
        Sight::Unknown(_) => Vec::new(),
        // A new run says itself that there is none.
        Sight::Absent if has_failed => Vec::new(),
        Sight::Absent => vec![
            rule.finding(
                &object,
                format!(
                    "{object} no longer exists. This run continues with its own copy, but a new run \
                     would fail."
                ),
            )
            .absent(&object)
            .fix("Create the strategy again before the next run."),
        ],
        Sight::Present(live) => {
            let differences = differences(recorded, &live.spec);
            if differences.is_empty() {
                return Vec::new();
            }
            let uses = if has_failed {
                "a new run takes it as it is now"
            } else {
                "the run uses its copy"
            };
            let differ = enumerate(&differences);
            let message = format!("{object} differs from the run's copy ({differ}); {uses}.");
            let finding = rule.finding(&object, message);
            let of_run = (run.object(), "status.stagedUpdateStrategySnapshot");
            let finding = first_difference(finding, &of_run, recorded, &live.spec);
            let finding = first_difference(finding, &(object, "spec"), &live.spec, recorded);
            if cx.inventory.unreadable_strategy().is_some() {
                let first = "Resolve FS125 first: a new run may get an older copy, too.";
                return vec![finding.look(first)];
            }
            if has_failed {
                let plan = cx.plan_command();
                return vec![finding.look_with("Check what a new run would do now.", plan)];
            }
            vec![finding.fix_with(
                "Start a new run instead, if it should use the current strategy.",
                cx.new_run_command(),
            )]
        }
    }
}

/// What stands in a strategy where it differs from another: its first field that does, else its
/// stages.
fn first_difference(
    finding: Finding,
    (object, base): &(ObjectRef, &str),
    own: &StrategySpec,
    other: &StrategySpec,
) -> Finding {
    let pairs = own.stages.iter().zip(&other.stages);
    let different = pairs
        .filter(|(own, other)| own.name == other.name)
        .find_map(|(own, other)| Some((own, *stage_differences(own, other).first()?)));
    let Some((stage, field)) = different else {
        return finding.evidence(object, format!("{base}.stages[].name"), stage_names(own));
    };
    let path = format!("{base}.stages[name={}].{field}", stage.name);
    match field {
        "labelSelector" => finding.evidence(object, path, stage.selector.as_deref()),
        "sortingLabelKey" => finding.evidence(
            object,
            path,
            Some(&stage.sorting_label).filter(|it| !it.is_empty()),
        ),
        "maxConcurrency" => finding.evidence(
            object,
            path,
            Some(&stage.max_concurrency).filter(|it| !it.is_empty()),
        ),
        _ => {
            let tasks = if field == "beforeStageTasks" {
                &stage.before
            } else {
                &stage.after
            };
            if tasks.is_empty() {
                return finding.evidence(object, path, ABSENT);
            }
            let kinds = tasks.iter().map(|task| match task.wait.as_str() {
                "" => task.kind.clone(),
                wait => format!("{} {wait}", task.kind),
            });
            let tasks: Vec<_> = kinds.collect();
            finding.computed(object, &[&path], format!("tasks: {}", tasks.join(", ")))
        }
    }
}

/// What differs, stage by stage. Values that mean the same are the same: the API server and the
/// controller write durations and defaults each in their own way.
fn differences(recorded: &StrategySpec, live: &StrategySpec) -> Vec<String> {
    if stage_names(recorded) != stage_names(live) {
        return vec!["its stages or their order differ".to_owned()];
    }
    let stages = recorded.stages.iter().zip(&live.stages);
    stages
        .flat_map(|(recorded, live)| {
            stage_differences(recorded, live)
                .into_iter()
                .map(|field| format!("{field} of stage {}", live.name))
        })
        .collect()
}

fn stage_names(spec: &StrategySpec) -> Vec<&String> {
    spec.stages.iter().map(|stage| &stage.name).collect()
}

fn stage_differences(recorded: &Stage, live: &Stage) -> Vec<&'static str> {
    let same_before = same_tasks(&recorded.before, &live.before);
    let same_after = same_tasks(&recorded.after, &live.after);
    let same = [
        ("labelSelector", recorded.selector == live.selector),
        (
            "sortingLabelKey",
            recorded.sorting_label == live.sorting_label,
        ),
        ("maxConcurrency", recorded.at_once() == live.at_once()),
        ("beforeStageTasks", same_before),
        ("afterStageTasks", same_after),
    ];
    let differ = same.into_iter().filter(|(_, is_same)| !is_same);
    differ.map(|(field, _)| field).collect()
}

fn same_tasks(recorded: &[Task], live: &[Task]) -> bool {
    recorded.len() == live.len()
        && recorded.iter().zip(live).all(|(recorded, live)| {
            recorded.kind == live.kind
                && (recorded.wait == live.wait
                    || duration::parse(&recorded.wait).is_some()
                        && duration::parse(&recorded.wait) == duration::parse(&live.wait))
        })
}
