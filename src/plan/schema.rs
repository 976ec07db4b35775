//! The rules that the API server has for a strategy, for one that is not applied yet.
//!
//! Source: the schema of clusterstagedupdatestrategies and stagedupdatestrategies at HEAD, which is
//! that of v0.3 but for the pattern of waits.

use serde_json::{Map, Value};

use super::SchemaViolation;
use crate::kubefleet::selector::is_domain;
use crate::words::closest;

/// The most stages that a strategy may have.
const STAGES: usize = 31;
/// The longest name of a stage.
const STAGE_NAME: usize = 63;

/// Every rule that a strategy breaks, in the order of its text.
pub fn violations(strategy: &Value) -> Vec<SchemaViolation> {
    let mut check = SchemaCheck {
        found: Vec::new(),
        is_alpha: strategy
            .get("apiVersion")
            .and_then(Value::as_str)
            .is_some_and(|version| version.ends_with("/v1alpha1")),
    };
    check.strategy(strategy);
    check.found
}

struct SchemaCheck {
    found: Vec<SchemaViolation>,
    /// The oldest version has neither tasks before a stage nor a number of clusters at once.
    is_alpha: bool,
}

impl SchemaCheck {
    fn broken(&mut self, path: &str, value: Option<&Value>, rule: impl Into<String>) {
        self.found.push(SchemaViolation {
            path: path.to_owned(),
            value: value.map(print_value).unwrap_or_default(),
            rule: rule.into(),
        });
    }

    fn strategy(&mut self, strategy: &Value) {
        let meta = strategy.get("metadata");
        let name = |field: &str| meta?.get(field)?.as_str().filter(|name| !name.is_empty());
        if name("name").or_else(|| name("generateName")).is_none() {
            self.broken("metadata.name", None, "is missing");
        }
        if let Some(name) = name("name")
            && !is_domain(name)
        {
            self.broken(
                "metadata.name",
                Some(&Value::from(name)),
                "must be lowercase letters, digits, - and ., at most 253 characters",
            );
        }
        if let Some(root) = strategy.as_object() {
            self.fields(
                root,
                "",
                &["apiVersion", "kind", "metadata", "spec", "status"],
            );
        }
        let spec = self.required(strategy.get("spec"), "spec");
        let Some(spec) = spec.and_then(|spec| self.mapping(spec, "spec")) else {
            return;
        };
        self.fields(spec, "spec.", &["stages", "deleteStageTasks"]);
        self.tasks(spec, "spec", "deleteStageTasks");
        let stages = self.required(spec.get("stages"), "spec.stages");
        let Some(stages) = stages.and_then(|stages| self.list(stages, "spec.stages")) else {
            return;
        };
        self.at_most(stages, "spec.stages", STAGES, "stages");
        for (at, stage) in stages.iter().enumerate() {
            self.stage(stage, &format!("spec.stages[{at}]"));
        }
    }

    fn stage(&mut self, stage: &Value, path: &str) {
        let Some(stage) = self.mapping(stage, path) else {
            return;
        };
        let prefix = format!("{path}.");
        let fields = [
            "name",
            "labelSelector",
            "sortingLabelKey",
            "afterStageTasks",
            "maxConcurrency",
            "beforeStageTasks",
        ];
        let known = if self.is_alpha {
            &fields[..4]
        } else {
            &fields[..]
        };
        self.fields(stage, &prefix, known);
        self.name(stage.get("name"), &format!("{path}.name"));
        if let Some(selector) = present(stage.get("labelSelector")) {
            self.selector(selector, &format!("{path}.labelSelector"));
        }
        if let Some(key) = present(stage.get("sortingLabelKey")) {
            self.text(key, &format!("{path}.sortingLabelKey"));
        }
        if self.is_alpha {
            self.tasks(stage, path, "afterStageTasks");
            return;
        }
        if let Some(number) = present(stage.get("maxConcurrency")) {
            self.concurrency(number, &format!("{path}.maxConcurrency"));
        }
        self.tasks(stage, path, "beforeStageTasks");
        self.tasks(stage, path, "afterStageTasks");
    }

    fn name(&mut self, name: Option<&Value>, path: &str) {
        let Some(name) = self.required(name, path) else {
            return;
        };
        let Some(text) = self.text(name, path) else {
            return;
        };
        if text.chars().count() > STAGE_NAME {
            let rule = format!("must have at most {STAGE_NAME} characters");
            self.broken(path, Some(name), rule);
        }
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        if text.is_empty() || !text.chars().all(is_plain) {
            self.broken(
                path,
                Some(name),
                "must be lowercase letters and digits only",
            );
        }
    }

    fn selector(&mut self, selector: &Value, path: &str) {
        let Some(selector) = self.mapping(selector, path) else {
            return;
        };
        self.fields(
            selector,
            &format!("{path}."),
            &["matchLabels", "matchExpressions"],
        );
        if let Some(labels) = present(selector.get("matchLabels")) {
            let path = format!("{path}.matchLabels");
            for (key, value) in self.mapping(labels, &path).into_iter().flatten() {
                self.text(value, &format!("{path}[{key}]"));
            }
        }
        let Some(all) = present(selector.get("matchExpressions")) else {
            return;
        };
        let path = format!("{path}.matchExpressions");
        for (at, one) in self.list(all, &path).into_iter().flatten().enumerate() {
            let path = format!("{path}[{at}]");
            let Some(requirement) = self.mapping(one, &path) else {
                continue;
            };
            self.fields(
                requirement,
                &format!("{path}."),
                &["key", "operator", "values"],
            );
            for field in ["key", "operator"] {
                let path = format!("{path}.{field}");
                if let Some(value) = self.required(requirement.get(field), &path) {
                    self.text(value, &path);
                }
            }
            if let Some(values) = present(requirement.get("values")) {
                let path = format!("{path}.values");
                for (at, value) in self.list(values, &path).into_iter().flatten().enumerate() {
                    self.text(value, &format!("{path}[{at}]"));
                }
            }
        }
    }

    fn concurrency(&mut self, number: &Value, path: &str) {
        let rule = match number {
            Value::Number(number) if number.is_i64() || number.is_u64() => {
                if number.as_u64().is_some_and(|number| number >= 1) {
                    return;
                }
                "must be at least 1"
            }
            Value::String(text) => match text.strip_suffix('%') {
                Some(percent) if is_percent(percent) => return,
                Some(_) => "must be from 1% to 100%, in whole percent",
                None => "must be a percentage such as 25%, or a number without quotes",
            },
            _ => "must be a whole number, or a percentage such as 25%",
        };
        self.broken(path, Some(number), rule);
    }

    fn tasks(&mut self, stage: &Map<String, Value>, path: &str, field: &str) {
        let Some(tasks) = present(stage.get(field)) else {
            return;
        };
        let path = format!("{path}.{field}");
        let before = field == "beforeStageTasks";
        let Some(tasks) = self.list(tasks, &path) else {
            return;
        };
        self.at_most(tasks, &path, if before { 1 } else { 2 }, "tasks");
        for (at, task) in tasks.iter().enumerate() {
            self.task(task, &format!("{path}[{at}]"), before);
        }
    }

    fn task(&mut self, task: &Value, path: &str, before: bool) {
        let Some(task) = self.mapping(task, path) else {
            return;
        };
        self.fields(task, &format!("{path}."), &["type", "waitTime"]);
        let wait = present(task.get("waitTime"));
        let wait_path = format!("{path}.waitTime");
        if let Some(wait) = wait
            && let Some(text) = self.text(wait, &wait_path)
            && !(is_wait(text) || self.is_alpha && text == "0")
        {
            let rule = "must be hours, minutes, and seconds, such as 1h30m or 90s";
            self.broken(&wait_path, Some(wait), rule);
        }
        let kind_path = format!("{path}.type");
        let Some(kind) = self.required(task.get("type"), &kind_path) else {
            return;
        };
        match (self.text(kind, &kind_path), wait) {
            (Some("TimedWait"), _) if before => self.broken(
                &kind_path,
                Some(kind),
                "must be Approval: a TimedWait is allowed only after a stage",
            ),
            (Some("TimedWait"), None) if !self.is_alpha => {
                self.broken(&wait_path, None, "is missing: a TimedWait needs it");
            }
            (Some("Approval"), Some(wait)) if !self.is_alpha => {
                self.broken(
                    &wait_path,
                    Some(wait),
                    "must be absent: an Approval has none",
                );
            }
            (None | Some("TimedWait" | "Approval"), _) => {}
            (Some(_), _) => self.broken(&kind_path, Some(kind), "must be Approval or TimedWait"),
        }
    }

    /// Fields that the schema does not have, and that look like one that it has. Others may be of a
    /// newer version: they are named in a warning.
    fn fields(&mut self, mapping: &Map<String, Value>, prefix: &str, known: &[&str]) {
        for (field, value) in mapping {
            if known.contains(&field.as_str()) {
                continue;
            }
            let rule = match closest(field, known.iter().copied()) {
                Some(meant) => format!("is not a field of a strategy; use {meant}"),
                None if self.is_alpha => "is not a field of a strategy".to_owned(),
                None => continue,
            };
            self.broken(&format!("{prefix}{field}"), Some(value), rule);
        }
    }

    fn at_most(&mut self, list: &[Value], path: &str, most: usize, what: &str) {
        if list.len() > most {
            let number = Value::from(format!("{} {what}", list.len()));
            let rule = match most {
                1 => "must have at most one task".to_owned(),
                _ => format!("must have at most {most} {what}"),
            };
            self.broken(path, Some(&number), rule);
        }
    }

    fn required<'v>(&mut self, value: Option<&'v Value>, path: &str) -> Option<&'v Value> {
        let value = present(value);
        if value.is_none() {
            self.broken(path, None, "is missing");
        }
        value
    }

    fn mapping<'v>(&mut self, value: &'v Value, path: &str) -> Option<&'v Map<String, Value>> {
        self.read((value, path), value.as_object(), "must be a mapping")
    }

    fn list<'v>(&mut self, value: &'v Value, path: &str) -> Option<&'v Vec<Value>> {
        self.read((value, path), value.as_array(), "must be a list")
    }

    fn text<'v>(&mut self, value: &'v Value, path: &str) -> Option<&'v str> {
        let rule = "must be text: put it in quotes";
        self.read((value, path), value.as_str(), rule)
    }

    /// What a value is read as, which the rule says where it cannot be.
    fn read<T>(&mut self, (value, path): (&Value, &str), read: Option<T>, rule: &str) -> Option<T> {
        if read.is_none() {
            self.broken(path, Some(value), rule);
        }
        read
    }
}

/// The server takes `null` for a field that is not there.
fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

fn print_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_percent(text: &str) -> bool {
    let digits = !text.is_empty() && text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit());
    digits && !text.starts_with('0') && text.parse::<u8>().is_ok_and(|number| number <= 100)
}

/// `1h`, `1h30m`, `0.5s`; no leading zeros, no other units.
fn is_wait(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let whole = digits(rest);
        if whole == 0 || (whole > 1 && rest.starts_with('0')) {
            return false;
        }
        rest = &rest[whole..];
        if let Some(fraction) = rest.strip_prefix('.') {
            let length = digits(fraction);
            if length == 0 {
                return false;
            }
            rest = &fraction[length..];
        }
        let Some(next) = rest.strip_prefix(['s', 'm', 'h']) else {
            return false;
        };
        rest = next;
    }
    !text.is_empty()
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}
