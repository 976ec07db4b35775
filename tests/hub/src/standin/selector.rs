//! Label selectors and durations as Kubernetes reads and prints them.

use std::time::Duration;

use serde_json::Value;

use super::object::Object;

/// Whether an object's labels match a selector. No selector matches nothing, an empty one
/// everything.
pub(crate) fn matches(selector: Option<&Value>, object: &Value) -> Result<bool, String> {
    let Some(selector) = selector.filter(|selector| !selector.is_null()) else {
        return Ok(false);
    };
    let labels = object.pointer("/metadata/labels");
    let value_of = |key: &str| labels.and_then(|labels| labels.get(key)?.as_str());
    let mut all = true;
    if let Some(wanted) = selector.get("matchLabels").and_then(Value::as_object) {
        for (key, value) in wanted {
            all &= value.as_str().is_some() && value_of(key) == value.as_str();
        }
    }
    for term in selector.items("/matchExpressions") {
        let value = value_of(term.text("/key"));
        let among = term
            .items("/values")
            .iter()
            .any(|wanted| wanted.as_str().is_some() && wanted.as_str() == value);
        all &= match term.text("/operator") {
            "In" => among,
            "NotIn" => !among,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            other => {
                return Err(format!(
                    "\"{other}\" is not a valid label selector operator"
                ));
            }
        };
    }
    Ok(all)
}

/// Reads a duration of hours, minutes and seconds such as `1h30m` or `1.5s`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text;
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let (unit, length) = if rest.starts_with("ms") {
            (0.001, 2)
        } else {
            match rest.as_bytes()[0] {
                b'h' => (3600.0, 1),
                b'm' => (60.0, 1),
                b's' => (1.0, 1),
                _ => return None,
            }
        };
        total += number * unit;
        rest = &rest[length..];
    }
    Duration::try_from_secs_f64(total).ok()
}

/// Prints a duration the way Go does: `1h0m0s`, `1m30s`, `1.5s`, `500ms`.
pub(crate) fn print_duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis == 0 {
        return "0s".to_owned();
    }
    if millis < 1000 {
        return format!("{millis}ms");
    }
    let seconds = duration.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let mut last = format!("{}", seconds % 60);
    let fraction = millis % 1000;
    if fraction > 0 {
        last.push('.');
        last.push_str(format!("{fraction:03}").trim_end_matches('0'));
    }
    match (hours, minutes) {
        (0, 0) => format!("{last}s"),
        (0, _) => format!("{minutes}m{last}s"),
        _ => format!("{hours}h{minutes}m{last}s"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_selector_is_not_an_empty_one() {
        let object = json!({"metadata": {"labels": {"env": "prod"}}});
        assert_eq!(matches(None, &object), Ok(false));
        assert_eq!(matches(Some(&json!({})), &object), Ok(true));
        let matching =
            |expression: Value| matches(Some(&json!({"matchExpressions": [expression]})), &object);
        assert_eq!(
            matching(json!({"key": "env", "operator": "In", "values": ["prod", "dev"]})),
            Ok(true)
        );
        assert_eq!(
            matching(json!({"key": "zone", "operator": "NotIn", "values": ["a"]})),
            Ok(true)
        );
        assert_eq!(
            matching(json!({"key": "zone", "operator": "Exists"})),
            Ok(false)
        );
        assert_eq!(
            matching(json!({"key": "env", "operator": "foo"})),
            Err("\"foo\" is not a valid label selector operator".to_owned())
        );
    }

    #[test]
    fn durations_are_printed_as_go_prints_them() {
        for (text, printed) in [
            ("30s", "30s"),
            ("90s", "1m30s"),
            ("1h", "1h0m0s"),
            ("1.5s", "1.5s"),
            ("0.5s", "500ms"),
            ("1h30m", "1h30m0s"),
            ("0s", "0s"),
        ] {
            assert_eq!(print_duration(duration(text).unwrap()), printed);
        }
        assert_eq!(duration("fast"), None);
        assert_eq!(duration(""), None);
        assert_eq!(duration("5"), None);
    }
}
