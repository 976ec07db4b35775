//! ClusterStagedUpdateStrategy and StagedUpdateStrategy.

use super::duration;
use super::messages::TaskProblem;
use super::meta::ObjectMeta;
use super::selector::LabelSelector;
use super::tolerant::model;

model! {
    /// A staged update strategy, in either scope.
    pub struct Strategy {
        pub meta: ObjectMeta = "metadata",
        pub spec: StrategySpec = "spec",
    }

    /// `spec` of a strategy, as also recorded by a run.
    pub struct StrategySpec {
        pub stages: Vec<Stage> = "stages",
        /// Tasks before the deletion stage removes the placement from clusters. Not in a release yet.
        pub before_deletion: Vec<Task> = "deleteStageTasks",
        ; pub unknown
    }

    pub struct Stage {
        pub name: String = "name",
        /// Which clusters belong to it: absent selects none, empty selects all.
        pub selector: Option<Box<LabelSelector>> = "labelSelector",
        /// The label whose whole number orders the clusters; by name where it is empty.
        pub sorting_label: String = "sortingLabelKey",
        /// How many clusters are updated at once: a count or a percentage; 1 where it is empty.
        pub max_concurrency: String = "maxConcurrency",
        /// Tasks before the first cluster.
        pub before: Vec<Task> = "beforeStageTasks",
        /// Tasks after the last cluster.
        pub after: Vec<Task> = "afterStageTasks",
        ; pub unknown
    }

    pub struct Task {
        /// `Approval` or `TimedWait`.
        pub kind: String = "type",
        /// How long a TimedWait takes: a Go duration.
        pub wait: String = "waitTime",
    }
}

impl Strategy {
    /// The stage and the task with a time that Go cannot read, and whether it is before the clusters. The API
    /// server lets such pass, and with one of them the hub agent no longer sees any strategy of the hub that is
    /// new or was changed.
    pub fn unreadable_task(&self) -> Option<(&Stage, bool, &Task)> {
        let stages = self.spec.stages.iter();
        let mut sides = stages.flat_map(|stage| [(stage, true), (stage, false)]);
        sides.find_map(|(stage, before)| {
            let (_, tasks) = stage.tasks(before);
            let task = tasks.iter().find(|task| !task.is_readable())?;
            Some((stage, before, task))
        })
    }
}

impl Task {
    /// Whether Go can read its time.
    fn is_readable(&self) -> bool {
        self.wait.is_empty() || duration::parse(&self.wait).is_some()
    }

    pub fn is_approval(&self) -> bool {
        self.kind == "Approval"
    }

    pub fn is_timed_wait(&self) -> bool {
        self.kind == "TimedWait"
    }
}

impl StrategySpec {
    /// The fields that this version does not know, where they stand below `spec`.
    pub fn unknown_fields(&self) -> Vec<String> {
        let of_stages = self.stages.iter().enumerate().flat_map(|(at, stage)| {
            let names = stage.unknown.keys();
            names.map(move |name| format!("stages[{at}].{name}"))
        });
        self.unknown.keys().cloned().chain(of_stages).collect()
    }
}

impl Stage {
    /// Its tasks before or after the clusters, and the field that has them.
    pub fn tasks(&self, before: bool) -> (&'static str, &Vec<Task>) {
        if before {
            ("beforeStageTasks", &self.before)
        } else {
            ("afterStageTasks", &self.after)
        }
    }

    /// What the controller does not take of the stage's tasks, those before the clusters first.
    /// It takes the wait time from approvals itself. Source:
    /// updaterun/initialization.go:validateBeforeStageTask, validateAfterStageTask,
    /// updaterun/controller.go:removeWaitTimeFromUpdateRunStatus.
    pub fn task_problems(&self) -> Vec<(bool, TaskProblem)> {
        let mut problems = Vec::new();
        if self.before.len() > 1 {
            problems.push((true, TaskProblem::TooMany));
        }
        for (at, task) in self.before.iter().enumerate() {
            if !task.is_approval() {
                let problem = TaskProblem::TypeNotAllowed {
                    task: u32::try_from(at).ok(),
                    task_type: task.kind.clone(),
                };
                problems.push((true, problem));
            }
        }
        let count = |kind| self.after.iter().filter(|task| task.kind == kind).count();
        for task_type in ["Approval", "TimedWait"] {
            if count(task_type) > 1 {
                let task_type = task_type.to_owned();
                problems.push((false, TaskProblem::DuplicateType { task_type }));
            }
        }
        for (at, task) in self.after.iter().enumerate() {
            if task.kind != "TimedWait" {
                continue;
            }
            let task_at = u32::try_from(at).ok();
            if task.wait.is_empty() {
                problems.push((false, TaskProblem::WaitMissing { task: task_at }));
                continue;
            }
            match duration::parse(&task.wait) {
                Some(wait) if wait.is_positive() => {}
                Some(_) => problems.push((false, TaskProblem::WaitNotPositive { task: task_at })),
                None => {
                    let wait = &task.wait;
                    let text =
                        format!("the hub agent cannot read waitTime {wait}, nor any strategy then");
                    problems.push((false, TaskProblem::Other { text }));
                }
            }
        }
        problems
    }

    /// How many clusters are updated at once, as it stands there or by default.
    pub fn at_once(&self) -> &str {
        match self.max_concurrency.trim() {
            "" => "1",
            value => value,
        }
    }

    /// How many of `clusters` clusters are updated at once; `None` when the value is invalid.
    /// Percentages are rounded down, never below one.
    /// Source: updaterun/execution.go:calculateMaxConcurrencyValue.
    pub fn concurrency(&self, clusters: usize) -> Option<usize> {
        let value = self.at_once();
        let count = match value.strip_suffix('%') {
            Some(percent) => {
                let percent: usize = percent.parse().ok()?;
                clusters.checked_mul(percent)? / 100
            }
            // Go reads it as 32 bits, or else no strategy at all.
            None => usize::try_from(value.parse::<i32>().ok()?).ok()?,
        };
        Some(count.max(1))
    }
}
