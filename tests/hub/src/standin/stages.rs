//! Which cluster is updated in which stage, in which order.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::halt::{Halt, refuse, user};
use super::inputs::Bindings;
use super::kinds::Kind;
use super::object::Object;
use super::selector;
use super::status::{ClusterStatus, Run, StageStatus, TaskStatus};
use super::world::World;

/// A copy of a strategy's spec as the run records it: durations printed in full, no wait time
/// beside an approval.
pub(crate) fn record(strategy: &Value) -> Value {
    let mut spec = strategy.get("spec").cloned().unwrap_or_else(|| json!({}));
    let stages = spec.get_mut("stages").and_then(Value::as_array_mut);
    for stage in stages.into_iter().flatten() {
        for tasks in ["beforeStageTasks", "afterStageTasks"] {
            let tasks = stage.get_mut(tasks).and_then(Value::as_array_mut);
            for task in tasks.into_iter().flatten() {
                let wait = selector::duration(task.text("/waitTime"));
                if let Some(fields) = task.as_object_mut() {
                    if fields.get("type") == Some(&json!("Approval")) {
                        fields.remove("waitTime");
                    } else if let Some(wait) = wait {
                        fields.insert("waitTime".to_owned(), json!(selector::print_duration(wait)));
                    }
                }
            }
        }
    }
    spec
}

/// Computes the stages from the recorded strategy. What was computed before a refusal is kept for
/// the status where the controller keeps it too: only when clusters are left over.
pub(crate) fn compute(
    run: &Run,
    world: &World,
    bindings: &Bindings<'_>,
) -> Result<Vec<StageStatus>, (Halt, Option<Vec<StageStatus>>)> {
    let selected: BTreeSet<&str> = bindings
        .selected
        .iter()
        .map(|binding| binding.text("/spec/targetCluster"))
        .collect();
    let mut placed: BTreeSet<&str> = BTreeSet::new();
    let mut stages = Vec::new();
    for stage in run.status.recorded_stages() {
        let (clusters, taken) =
            clusters(run, world, stage, &selected, &placed).map_err(|halt| (halt, None))?;
        placed.extend(taken);
        stages.push(StageStatus {
            stage_name: stage.text("/name").to_owned(),
            clusters,
            before_stage_task_status: tasks(run, stage, "before"),
            after_stage_task_status: tasks(run, stage, "after"),
            ..StageStatus::default()
        });
    }
    let missing: Vec<&str> = selected.difference(&placed).copied().collect();
    if missing.is_empty() {
        return Ok(stages);
    }
    let shown = missing[..missing.len().min(10)].join(", ");
    let halt = refuse(&format!(
        "{}, total {}, showing up to 10: {shown}",
        user("some clusters are not placed in any stage"),
        missing.len()
    ));
    Err((halt, Some(stages)))
}

fn clusters<'w>(
    run: &Run,
    world: &'w World,
    stage: &Value,
    selected: &BTreeSet<&str>,
    placed: &BTreeSet<&str>,
) -> Result<(Vec<ClusterStatus>, Vec<&'w str>), Halt> {
    let invalid = |what: &str, why: &str| {
        refuse(&user(&format!(
            "the {what} invalid, updateStrategy: `{}`, stage: {}, err: {why}",
            run.scope.key(&run.spec.strategy),
            stage.text("/name"),
        )))
    };
    before_tasks(stage.items("/beforeStageTasks"))
        .map_err(|why| invalid("before stage tasks are", &why))?;
    after_tasks(stage.items("/afterStageTasks"))
        .map_err(|why| invalid("after stage tasks are", &why))?;
    let sorting = stage.get("sortingLabelKey").and_then(Value::as_str);
    let mut found: Vec<(i64, &str)> = Vec::new();
    for cluster in world.all(Kind::MemberCluster) {
        let name = cluster.name();
        let matches = selector::matches(stage.get("labelSelector"), cluster)
            .map_err(|why| invalid("stage label selector is", &why))?;
        if !matches || !selected.contains(name) {
            continue;
        }
        if placed.contains(name) {
            return Err(refuse(&user(&format!(
                "cluster `{name}` appears in more than one stages"
            ))));
        }
        let position = match sorting {
            None => 0,
            Some(key) => sorting_number(cluster.label(key)).map_err(|why| {
                refuse(&user(&format!(
                    "the sorting label `{key}:{}` on cluster `{name}` is not valid: {why}",
                    cluster.label(key)
                )))
            })?,
        };
        found.push((position, name));
    }
    found.sort_unstable();
    let names: Vec<&str> = found.into_iter().map(|(_, name)| name).collect();
    let statuses = names
        .iter()
        .map(|name| ClusterStatus {
            cluster_name: (*name).to_owned(),
            conditions: Vec::new(),
        })
        .collect();
    Ok((statuses, names))
}

fn sorting_number(text: &str) -> Result<i64, String> {
    text.parse::<i64>().map_err(|error| {
        let why = match error.kind() {
            std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                "value out of range"
            }
            _ => "invalid syntax",
        };
        format!("strconv.Atoi: parsing \"{text}\": {why}")
    })
}

fn tasks(run: &Run, stage: &Value, when: &str) -> Vec<TaskStatus> {
    stage
        .items(&format!("/{when}StageTasks"))
        .iter()
        .map(|task| TaskStatus {
            kind: task.text("/type").to_owned(),
            approval_request_name: if task.text("/type") == "Approval" {
                format!("{}-{when}-{}", run.name, stage.text("/name"))
            } else {
                String::new()
            },
            conditions: Vec::new(),
        })
        .collect()
}

fn before_tasks(tasks: &[Value]) -> Result<(), String> {
    if tasks.len() > 1 {
        return Err("beforeStageTasks can have at most one task".to_owned());
    }
    for (index, task) in tasks.iter().enumerate() {
        let kind = task.text("/type");
        if kind != "Approval" {
            return Err(format!(
                "task {index} of type {kind} is not allowed in beforeStageTasks, allowed type: \
                 Approval"
            ));
        }
        if task.get("waitTime").is_some() {
            return Err(format!(
                "task {index} of type Approval cannot have wait duration set"
            ));
        }
    }
    Ok(())
}

fn after_tasks(tasks: &[Value]) -> Result<(), String> {
    if let [one, other] = tasks
        && one.text("/type") == other.text("/type")
    {
        return Err(format!(
            "afterStageTasks cannot have two tasks of the same type: {}",
            one.text("/type")
        ));
    }
    for (index, task) in tasks.iter().enumerate() {
        if task.text("/type") != "TimedWait" {
            continue;
        }
        match selector::duration(task.text("/waitTime")) {
            None => {
                return Err(format!(
                    "task {index} of type TimedWait has wait duration set to nil"
                ));
            }
            Some(wait) if wait.is_zero() => {
                return Err(format!(
                    "task {index} of type TimedWait has wait duration <= 0"
                ));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// How many clusters of a stage may be updated at once: a number, or a share of the stage's
/// clusters rounded down, and at least one. The oldest version has no field for it.
pub(crate) fn max_concurrency(stage: &Value, clusters: usize) -> Result<usize, String> {
    let value = match stage.get("maxConcurrency") {
        None | Some(Value::Null) => 1,
        Some(Value::String(text)) => {
            let share = text.strip_suffix('%').ok_or_else(|| {
                "invalid value for IntOrString: invalid type: string is not a percentage".to_owned()
            })?;
            let share: usize = share.parse().map_err(|_| {
                format!(
                    "invalid value for IntOrString: invalid value \"{text}\": strconv.Atoi: \
                     parsing \"{share}\": invalid syntax"
                )
            })?;
            share * clusters / 100
        }
        Some(number) => number
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
            .unwrap_or_default(),
    };
    Ok(value.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrency_is_rounded_down_and_at_least_one() {
        let of =
            |value: Value, clusters| max_concurrency(&json!({"maxConcurrency": value}), clusters);
        assert_eq!(of(json!(3), 10), Ok(3));
        assert_eq!(of(json!("50%"), 7), Ok(3));
        assert_eq!(of(json!("10%"), 7), Ok(1));
        assert_eq!(of(json!("100%"), 7), Ok(7));
        assert!(of(json!("many"), 7).is_err());
        assert_eq!(max_concurrency(&json!({}), 7), Ok(1));
    }

    #[test]
    fn a_sorting_label_is_a_whole_number() {
        assert_eq!(sorting_number("10"), Ok(10));
        assert_eq!(sorting_number("-1"), Ok(-1));
        assert_eq!(
            sorting_number(""),
            Err("strconv.Atoi: parsing \"\": invalid syntax".to_owned())
        );
        assert_eq!(
            sorting_number("99999999999999999999"),
            Err("strconv.Atoi: parsing \"99999999999999999999\": value out of range".to_owned())
        );
    }

    #[test]
    fn the_recorded_strategy_prints_durations_in_full() {
        let strategy = json!({"spec": {"stages": [{
            "name": "a",
            "afterStageTasks": [
                {"type": "TimedWait", "waitTime": "1h"},
                {"type": "Approval", "waitTime": "0s"},
            ],
        }]}});
        assert_eq!(
            record(&strategy),
            json!({"stages": [{
                "name": "a",
                "afterStageTasks": [
                    {"type": "TimedWait", "waitTime": "1h0m0s"},
                    {"type": "Approval"},
                ],
            }]})
        );
    }

    #[test]
    fn tasks_that_the_controller_refuses() {
        let wait = |time: &str| json!({"type": "TimedWait", "waitTime": time});
        assert_eq!(
            after_tasks(&[wait("0s")]),
            Err("task 0 of type TimedWait has wait duration <= 0".to_owned())
        );
        assert_eq!(
            after_tasks(&[wait("1s"), wait("2s")]),
            Err("afterStageTasks cannot have two tasks of the same type: TimedWait".to_owned())
        );
        assert_eq!(
            before_tasks(&[wait("1s")]),
            Err(
                "task 0 of type TimedWait is not allowed in beforeStageTasks, allowed type: \
                 Approval"
                    .to_owned()
            )
        );
        assert!(after_tasks(&[wait("1s"), json!({"type": "Approval"})]).is_ok());
    }
}
