//! Who minds the signals while a question is open: the hub that is in use, or without one the process.

use crate::hub::{self, Hub, HubError};
use crate::ui::QuestionSignals;

impl QuestionSignals for Option<&Hub> {
    type Error = HubError;

    fn unless_interrupted<T: Send + 'static>(
        self,
        ask: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, HubError> {
        match self {
            Some(hub) => hub.unless_interrupted(ask),
            None => hub::unless_interrupted(ask),
        }
    }

    fn interruption() -> HubError {
        HubError::Interrupted
    }
}
