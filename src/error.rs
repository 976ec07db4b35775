//! What a command says when it cannot do its work.

use crate::bundle::ReadError;
use crate::change::record::Told;
use crate::exit::Exit;
use crate::hub::HubError;
use crate::words::Hint;

/// What failed, what to do about it, and the exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What failed, on which object.
    pub message: String,
    /// What to do.
    pub hint: Option<Hint>,
    /// The exit code.
    pub exit: Exit,
    /// How much of what the command had done the message tells.
    pub told: Told,
}

impl Error {
    /// The operation failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            told: Told::Nothing,
            exit: Exit::Error,
        }
    }

    /// The command line was wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            told: Told::Nothing,
            exit: Exit::Usage,
        }
    }

    /// The object does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            told: Told::Nothing,
            exit: Exit::NotFound,
        }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what else to do.
    #[must_use]
    pub fn also(mut self, hint: Hint) -> Self {
        self.hint = Some(match self.hint {
            Some(first) => first.and(hint),
            None => hint,
        });
        self
    }

    /// Says that the message tells the last step of what the command had done.
    #[must_use]
    pub const fn telling(mut self, told: Told) -> Self {
        self.told = told;
        self
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        Self {
            hint: error.hint.clone().map(Hint::from),
            message: error.to_string(),
            told: Told::Nothing,
            exit: Exit::Error,
        }
    }
}

impl From<HubError> for Error {
    fn from(error: HubError) -> Self {
        Self {
            hint: error.hint().map(Hint::from),
            message: error.to_string(),
            told: Told::Nothing,
            exit: match error {
                HubError::Forbidden(_) => Exit::Incomplete,
                HubError::NotFound(_) => Exit::NotFound,
                HubError::Interrupted => Exit::Interrupted,
                HubError::OutOfTime(_) => Exit::Stuck,
                _ => Exit::Error,
            },
        }
    }
}

/// The name among `known` that `wanted` was probably meant to be.
pub fn did_you_mean<'k>(wanted: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)))
        .map(|(_, name)| name)
}
