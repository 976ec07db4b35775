//! How a look ends early: the errors of the controller, with the finding that explains each.

use crate::rollout::AgentVersion;

/// `NewUserError`. Source: utils/controller/controller.go.
pub const USER: &str = "failed to process the request due to a client error: ";
/// `NewUnexpectedBehaviorError`.
pub const UNEXPECTED: &str = "unexpected behavior which cannot be handled by the controller: ";

/// Why a look ends early.
#[derive(Debug)]
pub enum LookHalt {
    /// The run cannot continue. Source: updaterun/controller.go:errStagedUpdatedAborted.
    Aborted(RunFailure),
    /// The look is repeated, ever more rarely; what was wrong.
    Retried(String),
    /// What was read does not say what the controller does; what is missing.
    Unknown(String),
}

/// What ends a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFailure {
    /// The finding that explains it.
    pub code: &'static str,
    /// What the controller writes.
    pub message: String,
}

/// An error that aborts the run.
pub fn aborted(code: &'static str, text: &str) -> LookHalt {
    LookHalt::Aborted(RunFailure {
        code,
        message: format!("cannot continue the updateRun: {text}"),
    })
}

/// An error of the checks that initialization and validation share.
/// Source: updaterun/controller.go:errValidationFailed; 0.1 has errInitializedFailed.
pub fn refused(version: AgentVersion, code: &'static str, text: &str) -> LookHalt {
    let verb = match version {
        AgentVersion::V01 => "initialize",
        _ => "validate",
    };
    aborted(code, &format!("failed to {verb} the updateRun: {text}"))
}

/// The error of a look at several clusters.
/// Source: k8s.io/apimachinery/pkg/util/errors/errors.go:NewAggregate.
pub fn aggregate(errors: Vec<LookHalt>) -> Option<LookHalt> {
    let mut code = None;
    let mut texts: Vec<String> = Vec::new();
    for error in errors {
        let text = match error {
            LookHalt::Unknown(why) => return Some(LookHalt::Unknown(why)),
            LookHalt::Retried(text) => text,
            LookHalt::Aborted(failure) => {
                code.get_or_insert(failure.code);
                failure.message
            }
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let message = match texts.as_slice() {
        [] => return None,
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    Some(match code {
        Some(code) => LookHalt::Aborted(RunFailure { code, message }),
        None => LookHalt::Retried(message),
    })
}
