//! Where a moment stands on the drawing, in shares of its width.

use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use crate::rollout::timeline::TimeSpan;

/// Distances between marks, in seconds.
const STEPS: [i64; 20] = [
    1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
    172_800, 604_800, 2_419_200, 7_776_000,
];

/// Marks that have room beside each other.
const MARKS: i64 = 4;

/// The narrowest bar that can be seen, in hundredths of a percent.
const NARROWEST: i64 = 40;

pub(super) struct TimeScale {
    from: Timestamp,
    length: i64,
    marks: Vec<Timestamp>,
    has_days: bool,
}

impl TimeScale {
    pub fn new(from: Timestamp, until: Timestamp) -> Self {
        let length = until.duration_since(from).as_secs().max(1);
        let step = STEPS.iter().copied().find(|step| length / step <= MARKS);
        let step = step.unwrap_or(length);
        let first = (from.as_second().div_euclid(step) + 1) * step;
        let marks = (0..=MARKS)
            .filter_map(|nth| Timestamp::from_second(first + nth * step).ok())
            .filter(|mark| *mark < until);
        Self {
            from,
            length,
            marks: marks.collect(),
            has_days: length > 86_400,
        }
    }

    /// Hundredths of a percent from the beginning.
    fn share(&self, at: Timestamp) -> i64 {
        let since = at.duration_since(self.from).max(SignedDuration::ZERO);
        let share = i128::from(since.as_secs()) * 10_000 / i128::from(self.length);
        i64::try_from(share).unwrap_or(10_000).min(10_000)
    }

    /// Where a bar begins, and how wide it is.
    pub fn place(&self, span: &TimeSpan) -> (String, String) {
        let (from, until) = (self.share(span.from), self.share(span.until));
        let width = (until - from).max(NARROWEST);
        (percent(from.min(10_000 - NARROWEST)), percent(width))
    }

    pub fn grid(&self) -> Markup {
        html! {
            @for mark in &self.marks {
                @let x = percent(self.share(*mark));
                line.grid x1=(x) x2=(x) y1="0" y2="100%" {}
            }
        }
    }

    /// The marks with their times. One that stands too near an edge has no room for its words.
    pub fn axis(&self) -> Markup {
        let format = if self.has_days {
            "%b %d %H:%M"
        } else {
            "%H:%M:%S"
        };
        html! {
            svg.track width="100%" height="20" {
                (self.grid())
                @for mark in &self.marks {
                    @let share = self.share(*mark);
                    @if (800..=9_200).contains(&share) {
                        text x=(percent(share)) y="13" text-anchor="middle" {
                            (mark.strftime(format))
                        }
                    }
                }
            }
        }
    }
}

fn percent(hundredths: i64) -> String {
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::TimeScale;
    use crate::rollout::timeline::TimeSpan;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a moment")
    }

    #[test]
    fn bars_stay_inside_and_can_be_seen() {
        let scale = TimeScale::new(at(1000), at(2000));
        let place = |from, until| {
            scale.place(&TimeSpan {
                from: at(from),
                until: at(until),
                open: false,
            })
        };
        assert_eq!(place(1000, 2000), ("0.00%".into(), "100.00%".into()));
        assert_eq!(place(1250, 1500), ("25.00%".into(), "25.00%".into()));
        assert_eq!(place(1500, 1500), ("50.00%".into(), "0.40%".into()));
        assert_eq!(place(2000, 2000), ("99.60%".into(), "0.40%".into()));
    }

    #[test]
    fn marks_are_round_and_few() {
        for length in [0, 1, 7, 59, 3600, 90_000, 10_000_000, 400_000_000] {
            let scale = TimeScale::new(at(1_767_923_456), at(1_767_923_456 + length));
            assert!(scale.marks.len() <= 5, "{length}: {:?}", scale.marks);
            if (2..=10_000_000).contains(&length) {
                assert!(!scale.marks.is_empty() || length < 7, "{length}");
            }
        }
        let hour = TimeScale::new(at(1_767_923_456), at(1_767_923_456 + 3600));
        assert!(hour.marks.iter().all(|mark| mark.as_second() % 900 == 0));
    }
}
