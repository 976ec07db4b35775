//! What a command says when it cannot do its work.

use crate::bundle::ReadError;
use crate::change::record::ToldChange;
use crate::exit::Exit;
use crate::hub::HubError;
use crate::mask;
use crate::settings::UnusableSettings;
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
    pub told: ToldChange,
    /// What the error was made of. The message has all of it on one line.
    #[source]
    pub source: Option<anyhow::Error>,
}

impl Error {
    /// What ends with this exit code.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            exit,
            told: ToldChange::Nothing,
            source: None,
        }
    }

    /// The operation failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Error, message)
    }

    /// The command line was wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// The object does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, message)
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

    /// That it is so on one of several hubs.
    #[must_use]
    pub fn on_hub(self, hub: &str) -> Self {
        Self {
            message: format!("{hub}: {}", self.message),
            hint: self.hint.map(|hint| hint.on_hub(hub)),
            ..self
        }
    }

    /// What caused it, from the outside in. The first that the message says is left out.
    pub fn causes(&self) -> impl Iterator<Item = String> {
        let chain = self.source.iter().flat_map(|source| source.chain().skip(1));
        // A parser quotes what it does not understand.
        chain.map(|cause| mask::prose(&cause.to_string()).into_owned())
    }

    /// Says that the message tells the last step of what the command had done.
    #[must_use]
    pub const fn telling(mut self, told: ToldChange) -> Self {
        self.told = told;
        self
    }
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        let message = format!("{error:#}");
        Self {
            source: Some(error),
            ..Self::failed(message)
        }
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        let message = error.to_string();
        Self {
            hint: error.hint.clone().map(Hint::from),
            source: Some(error.into()),
            ..Self::failed(message)
        }
    }
}

impl From<UnusableSettings> for Error {
    fn from(error: UnusableSettings) -> Self {
        let hint = error.hint.clone();
        Self::usage(error.to_string()).hint(hint)
    }
}

impl From<HubError> for Error {
    fn from(error: HubError) -> Self {
        let exit = match error {
            HubError::Forbidden(_) => Exit::Incomplete,
            HubError::NotFound(_) => Exit::NotFound,
            HubError::Interrupted => Exit::Interrupted,
            HubError::OutOfTime(_) => Exit::TimeLimit,
            _ => Exit::Error,
        };
        let message = error.to_string();
        Self {
            hint: error.hint(),
            source: Some(error.into()),
            ..Self::new(exit, message)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::Context as _;

    use super::{Error, Exit};
    use crate::hub::HubError;

    fn causes(error: &Error) -> Vec<String> {
        error.causes().collect()
    }

    #[test]
    fn the_chain_is_kept_behind_a_message_that_has_all_of_it() {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let error: Error = Err::<(), _>(denied)
            .context("the folder cannot be read")
            .context("no bundle")
            .map_err(Error::from)
            .unwrap_err();
        let behind = ["the folder cannot be read", "permission denied"];
        assert_eq!(error.message, format!("no bundle: {}", behind.join(": ")));
        assert_eq!(error.exit, Exit::Error);
        assert_eq!(causes(&error), behind);
    }

    #[test]
    fn an_error_without_a_cause_names_none() {
        assert!(causes(&Error::failed("no")).is_empty());
        assert!(causes(&Error::from(anyhow::anyhow!("no"))).is_empty());
        let error = Error::from(HubError::Forbidden("no".to_owned()));
        assert!(causes(&error).is_empty());
        assert_eq!(error.exit, Exit::Incomplete);
    }

    #[test]
    fn causes_keep_no_secret() {
        let token = "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl";
        let error = Error::from(anyhow::anyhow!("{token}").context("a line"));
        let causes = causes(&error).concat();
        assert!(!causes.contains("c2lnbmF0dXJl"), "{causes}");
    }
}
