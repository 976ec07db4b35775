//! Why a look at an update run cannot go on, in the controllers' words.

/// A reason not to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Halt {
    /// The run is over; the text becomes the message of a condition.
    Abort(String),
    /// Nothing is recorded but what was reached; the controller looks again, ever more rarely.
    Retry(String),
}

const ABORTED: &str = "cannot continue the updateRun";
const VALIDATION: &str = "failed to validate the updateRun";

/// Wraps a text as a mistake of the user.
pub(crate) fn user(text: &str) -> String {
    format!("failed to process the request due to a client error: {text}")
}

/// Wraps a text as something that the controller did not expect.
pub(crate) fn unexpected(text: &str) -> String {
    format!("unexpected behavior which cannot be handled by the controller: {text}")
}

/// The run is over.
pub(crate) fn abort(text: &str) -> Halt {
    Halt::Abort(format!("{ABORTED}: {text}"))
}

/// The run is over because what it is based on is not valid, or not any more.
pub(crate) fn refuse(text: &str) -> Halt {
    abort(&format!("{VALIDATION}: {text}"))
}

/// Several reasons as one, as the API machinery joins them: each text once, in brackets when
/// there are several.
pub(crate) fn join(halts: Vec<Halt>) -> Option<Halt> {
    let aborts = halts.iter().any(|halt| matches!(halt, Halt::Abort(_)));
    let mut texts: Vec<String> = Vec::new();
    for Halt::Abort(text) | Halt::Retry(text) in halts {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let text = match texts.as_slice() {
        [] => return None,
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    Some(if aborts {
        Halt::Abort(text)
    } else {
        Halt::Retry(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_abort_ends_the_run_and_texts_are_told_once() {
        let joined = join(vec![
            Halt::Retry("b".to_owned()),
            abort("a"),
            Halt::Retry("b".to_owned()),
        ]);
        assert_eq!(
            joined,
            Some(Halt::Abort(
                "[b, cannot continue the updateRun: a]".to_owned()
            ))
        );
        assert_eq!(join(Vec::new()), None);
        assert_eq!(
            join(vec![Halt::Retry("b".to_owned())]),
            Some(Halt::Retry("b".to_owned()))
        );
    }
}
