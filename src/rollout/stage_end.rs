//! When a stage ends, as documents and people have it.

use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::kubefleet::duration;

/// When a stage is expected to end: the least and the most time that it takes, if each cluster takes as
/// long as clusters of the placement took before. It counts from the document's `asOf`, unless it
/// counts from an approval or the start of the run.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StageEnd {
    /// Whether it counts from the start of the run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub after_start: bool,
    /// The approval request from whose approval it counts.
    pub after_approval: Option<String>,
    /// The approval request that the stage asks for then; absent if the stage ends then.
    pub until_approval: Option<String>,
    /// The least time, as a Go duration.
    #[serde(serialize_with = "duration::serialize")]
    #[schemars(with = "String")]
    pub at_least: SignedDuration,
    /// The most time, as a Go duration.
    #[serde(serialize_with = "duration::serialize")]
    #[schemars(with = "String")]
    pub at_most: SignedDuration,
}

impl StageEnd {
    /// The range of two ends that count from the same; `None` if they do not.
    pub fn between(early: &Self, late: &Self) -> Option<Self> {
        let is_alike = early.after_approval == late.after_approval
            && early.after_start == late.after_start
            && early.until_approval == late.until_approval;
        is_alike.then(|| Self {
            at_least: early.at_least.min(late.at_least),
            at_most: early.at_most.max(late.at_most),
            ..late.clone()
        })
    }

    /// For people: `ends in 2 to 5 min`, `ends 2 to 5 min after the approval`. `None` where it ends at
    /// the controller's next look.
    pub fn describe(&self) -> Option<String> {
        let verb = match self.until_approval {
            Some(_) => "approval due",
            None => "ends",
        };
        let from = match (&self.after_approval, &self.until_approval) {
            (Some(_), Some(_)) => Some("the previous approval"),
            (Some(_), None) => Some("the approval"),
            (None, _) => self.after_start.then_some("the start"),
        };
        match (duration::range(self.at_least, self.at_most), from) {
            (Some(range), Some(from)) => Some(format!("{verb} {range} after {from}")),
            (Some(range), None) => Some(format!("{verb} in {range}")),
            (None, Some(from)) => Some(format!("{verb} right after {from}")),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_counts_from_what_comes_before() {
        let name = |name: &str| Some(name.to_owned());
        let end = StageEnd {
            at_least: SignedDuration::from_mins(2),
            at_most: SignedDuration::from_mins(5),
            ..StageEnd::default()
        };
        let said = |after_start, after: Option<String>, until: Option<String>| {
            let end = StageEnd {
                after_start,
                after_approval: after,
                until_approval: until,
                ..end.clone()
            };
            end.describe().unwrap()
        };
        assert_eq!(said(false, None, None), "ends in 2 to 5 min");
        assert_eq!(said(true, None, None), "ends 2 to 5 min after the start");
        assert_eq!(said(false, None, name("b")), "approval due in 2 to 5 min");
        assert_eq!(
            said(false, name("a"), None),
            "ends 2 to 5 min after the approval"
        );
        let both = said(false, name("a"), name("b"));
        assert_eq!(both, "approval due 2 to 5 min after the previous approval");
        // At the next look: there is nothing to wait for.
        assert_eq!(StageEnd::default().describe(), None);
    }

    #[test]
    fn ends_that_count_from_different_things_are_no_range() {
        let after = StageEnd {
            after_start: true,
            ..StageEnd::default()
        };
        assert_eq!(StageEnd::between(&StageEnd::default(), &after), None);
    }
}
