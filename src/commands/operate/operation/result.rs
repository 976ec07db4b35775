//! What a command that writes prints for programs: the object as it is now, and what came of it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::report::Verdict;
use crate::words::{self, CommandLine};

/// What came of a write, under `result` beside the fields of the object that was written.
#[skip_serializing_none]
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WriteResult<'s> {
    /// The exit code of the command.
    exit_code: u8,
    /// The state of the run; absent if the command did not wait for its effect.
    verdict: Option<Verdict>,
    /// The same in a sentence.
    summary: Option<&'s str>,
    /// The command that comes next.
    #[serde(flatten, with = "words::as_next")]
    #[schemars(with = "words::as_next::NextFields")]
    next: Option<CommandLine>,
}

impl<'s> WriteResult<'s> {
    /// What a state says of it.
    pub fn of(status: &'s Status, next: Option<CommandLine>, exit: Exit) -> Self {
        Self {
            exit_code: exit.code(),
            verdict: Some(status.verdict),
            summary: Some(&status.summary),
            next,
        }
    }

    /// An object as kubectl prints it, with this beside its fields.
    pub fn beside(&self, mut object: Value) -> Result<Value, Error> {
        if let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            meta.remove("managedFields");
        }
        let result = serde_json::to_value(self)
            .map_err(|error| Error::failed(format!("the result cannot be written: {error}")))?;
        if let Some(fields) = object.as_object_mut() {
            fields.insert("result".to_owned(), result);
        }
        Ok(object)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::WriteResult;
    use crate::report::Verdict;
    use crate::words::CommandLine;

    #[test]
    fn an_object_keeps_its_fields_and_says_what_came_of_it() {
        let result = WriteResult {
            exit_code: 4,
            verdict: Some(Verdict::WaitingForApproval),
            summary: Some("it waits."),
            next: Some(CommandLine::fleet("approve").arg("web")),
        };
        let object = json!({"kind": "X", "metadata": {"name": "web", "managedFields": [1]}});
        let printed = result.beside(object).unwrap();
        assert_eq!(
            printed,
            json!({
                "kind": "X",
                "metadata": {"name": "web"},
                "result": {
                    "exitCode": 4,
                    "verdict": "WaitingForApproval",
                    "summary": "it waits.",
                    "next": "kubectl fleet-stage approve web",
                    "nextArgv": ["kubectl", "fleet-stage", "approve", "web"],
                }
            })
        );
        let plain = WriteResult::default().beside(json!({})).unwrap();
        assert_eq!(plain, json!({"result": {"exitCode": 0}}));
    }
}
