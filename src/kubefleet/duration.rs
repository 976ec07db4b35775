//! Durations as Go writes and reads them: `90s`, `2m30s`, `1h`; and moments, to the second.

use jiff::{SignedDuration, Timestamp};
use serde::Serializer;

/// Reads a Go duration. `None` when it is not one.
pub fn parse(text: &str) -> Option<SignedDuration> {
    let text = text.trim();
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(SignedDuration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = SignedDuration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let number: f64 = number.parse().ok()?;
        let unit = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        total = total.checked_add(SignedDuration::try_from_secs_f64(number * seconds).ok()?)?;
        rest = tail;
    }
    // Go counts nanoseconds in 64 bits, which is some 292 years.
    i64::try_from(total.as_nanos()).ok()?;
    Some(if negative { -total } else { total })
}

/// A moment without its fraction: the hub counts in seconds, and so do we.
pub fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// ` for 6m12s`, with its leading space; empty where the time is not known.
pub fn lasting(time: Option<SignedDuration>) -> String {
    time.map_or_else(String::new, |time| format!(" for {}", describe(time)))
}

/// Writes a duration for people, in at most two units: `45s`, `6m12s`, `3h5m`, `2d4h`.
pub fn describe(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().unsigned_abs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    if days > 0 {
        pair(days, "d", hours, "h")
    } else if hours > 0 {
        pair(hours, "h", minutes, "m")
    } else if minutes > 0 {
        pair(minutes, "m", seconds % 60, "s")
    } else {
        format!("{seconds}s")
    }
}

/// A number of units with what is left in the next smaller one, if anything is.
fn pair(big: u64, b: &str, small: u64, s: &str) -> String {
    match small {
        0 => format!("{big}{b}"),
        _ => format!("{big}{b}{small}{s}"),
    }
}

/// Writes a range of durations for people, rounded to what matters: `30 to 45 s`, `2 to 5 min`,
/// `1h10m to 2h5m`. `None` where it takes no time.
pub fn range(least: SignedDuration, most: SignedDuration) -> Option<String> {
    let (least, most) = (seconds(least), seconds(most));
    let (step, unit) = match most {
        0 => return None,
        1..=90 => (1, " s"),
        91..5_400 => (60, " min"),
        _ => (300, ""),
    };
    let write = |steps: u64| {
        if unit.is_empty() {
            let seconds = i64::try_from(steps.saturating_mul(step)).unwrap_or(i64::MAX);
            describe(SignedDuration::from_secs(seconds))
        } else {
            steps.to_string()
        }
    };
    let (from, to) = (least / step, most.div_ceil(step));
    Some(if most.saturating_sub(least) < step {
        let middle = least.midpoint(most).saturating_add(step / 2) / step;
        format!("about {}{unit}", write(middle.max(1)))
    } else if from == 0 {
        format!("up to {}{unit}", write(to))
    } else {
        format!("{} to {}{unit}", write(from), write(to))
    })
}

fn seconds(duration: SignedDuration) -> u64 {
    u64::try_from(duration.as_secs()).unwrap_or(0)
}

/// Writes a Go duration into a document: `1h5m`, `45s`, `0s`.
pub fn serialize<S: Serializer>(duration: &SignedDuration, out: S) -> Result<S::Ok, S::Error> {
    let seconds = seconds(*duration);
    let units = [
        (seconds / 3600, "h"),
        (seconds / 60 % 60, "m"),
        (seconds % 60, "s"),
    ];
    let units = units.iter().filter(|(number, _)| *number > 0);
    let text: String = units.fold(String::new(), |text, (number, unit)| {
        format!("{text}{number}{unit}")
    });
    out.serialize_str(if text.is_empty() { "0s" } else { &text })
}

/// Writes an age as kubectl's tables do: `90s`, `5m30s`, `21m`, `3h12m`, `30h`, `3d4h`, `45d`, `2y45d`.
pub fn age(duration: SignedDuration) -> String {
    let seconds = seconds(duration);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        ..120 => format!("{seconds}s"),
        120..600 => pair(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => pair(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => pair(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => pair(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::{age, describe, parse, range, serialize};
    use jiff::SignedDuration;

    #[test]
    fn reads_what_go_reads() {
        for (text, seconds) in [
            ("90s", 90),
            ("2m30s", 150),
            ("1h", 3600),
            ("0", 0),
            ("1.5h", 5400),
            ("-1m", -60),
        ] {
            let duration = SignedDuration::from_secs(seconds);
            assert_eq!(parse(text), Some(duration), "{text}");
        }
        assert_eq!(parse("250ms"), Some(SignedDuration::from_millis(250)));
        for text in ["", "5", "m", "1x", "-", "1 h", "1.2.3s"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn ranges_are_rounded_to_what_matters() {
        for (least, most, text) in [
            (0, 0, None),
            (15, 15, Some("about 15 s")),
            (15, 60, Some("15 to 60 s")),
            (0, 75, Some("up to 75 s")),
            (125, 285, Some("2 to 5 min")),
            (30, 100, Some("up to 2 min")),
            (150, 170, Some("about 3 min")),
            (600, 3_700, Some("10 to 62 min")),
            (4_200, 7_400, Some("1h10m to 2h5m")),
            (7_100, 7_200, Some("about 2h")),
            (60, 90_000, Some("up to 1d1h")),
        ] {
            let seconds = SignedDuration::from_secs;
            assert_eq!(range(seconds(least), seconds(most)).as_deref(), text);
        }
    }

    #[test]
    fn documents_have_go_durations() {
        for (seconds, text) in [(0, "0s"), (45, "45s"), (90_061, "25h1m1s"), (3_600, "1h")] {
            let duration = SignedDuration::from_secs(seconds);
            let written = serialize(&duration, serde_json::value::Serializer);
            assert_eq!(written.unwrap(), text);
            assert_eq!(parse(text), Some(duration));
        }
    }

    #[test]
    fn ages_are_kubectls() {
        for (seconds, text) in [
            (-5, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (330, "5m30s"),
            (599, "9m59s"),
            (600, "10m"),
            (1287, "21m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_520, "3h12m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (273_600, "3d4h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
            (66_960_000, "2y45d"),
            (252_288_000, "8y"),
        ] {
            assert_eq!(age(SignedDuration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn writes_at_most_two_units() {
        for (seconds, text) in [
            (0, "0s"),
            (45, "45s"),
            (372, "6m12s"),
            (3600, "1h"),
            (11_100, "3h5m"),
            (187_200, "2d4h"),
        ] {
            assert_eq!(describe(SignedDuration::from_secs(seconds)), text);
        }
    }
}
