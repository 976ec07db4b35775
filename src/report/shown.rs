//! How what is in an object is given as evidence: every form at one place. A form says nothing
//! but what stands there.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::kubefleet::binding::{FailedPlacement, FieldDifference};
use crate::kubefleet::override_names::NamespacedName;
use crate::kubefleet::placement::ResourceSelector;
use crate::kubefleet::run::ClusterStatus;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::strategy::Task;
use crate::kubefleet::{Condition, describe_object};
use crate::mask;
use crate::member::pods::{ContainerTerminated, ContainerWaiting};
use crate::rollout::ManifestTrouble;

/// What is given where a field is absent, or empty: Kubernetes does not tell the two apart.
pub const ABSENT: &str = "absent";

/// A value with a form. The empty text stands for a value that is absent or empty.
pub trait ShownValue {
    fn shown(&self) -> String;
}

macro_rules! as_they_are {
    ($($scalar:ty),*) => {
        $( impl ShownValue for $scalar {
            fn shown(&self) -> String {
                self.to_string()
            }
        } )*
    };
}
as_they_are!(str, String, Cow<'_, str>, bool, i64, u64, usize, Timestamp);

impl<T: ShownValue + ?Sized> ShownValue for &T {
    fn shown(&self) -> String {
        (**self).shown()
    }
}

impl<T: ShownValue> ShownValue for Option<T> {
    fn shown(&self) -> String {
        self.as_ref().map(ShownValue::shown).unwrap_or_default()
    }
}

/// `a, b, c`.
impl<T: ShownValue> ShownValue for [T] {
    fn shown(&self) -> String {
        let items: Vec<_> = self.iter().map(ShownValue::shown).collect();
        items.join(", ")
    }
}

impl<T: ShownValue> ShownValue for Vec<T> {
    fn shown(&self) -> String {
        self.as_slice().shown()
    }
}

/// `environment=canary,order=1`, as kubectl writes labels.
impl ShownValue for BTreeMap<String, String> {
    fn shown(&self) -> String {
        let pairs: Vec<_> = self
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        pairs.join(",")
    }
}

/// `STATUS REASON: MESSAGE`.
impl ShownValue for Condition {
    fn shown(&self) -> String {
        let status = self.status.as_str();
        match (self.reason.as_str(), self.message.as_str()) {
            ("", "") => status.to_owned(),
            ("", message) => format!("{status}: {message}"),
            (reason, "") => format!("{status} {reason}"),
            (reason, message) => format!("{status} {reason}: {message}"),
        }
    }
}

/// As kubectl writes it; `{}` selects everything, and what is absent nothing.
impl ShownValue for LabelSelector {
    fn shown(&self) -> String {
        if self.is_empty() {
            "{}".to_owned()
        } else {
            self.describe()
        }
    }
}

/// `TimedWait 1h`.
impl ShownValue for Task {
    fn shown(&self) -> String {
        format!("{} {}", self.kind, self.wait).trim().to_owned()
    }
}

/// Its name, of all that is recorded about it.
impl ShownValue for ClusterStatus {
    fn shown(&self) -> String {
        self.name.clone()
    }
}

/// `NAMESPACE/NAME`.
impl ShownValue for NamespacedName {
    fn shown(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

/// `apps/v1 Deployment web`.
impl ShownValue for ResourceSelector {
    fn shown(&self) -> String {
        let group = match self.group.as_str() {
            "" => String::new(),
            group => format!("{group}/"),
        };
        let text = format!("{group}{} {} {}", self.version, self.kind, self.name);
        text.trim().to_owned()
    }
}

/// An object of a Work or a binding with one of its conditions:
/// `Deployment shop/web Applied=False REASON: MESSAGE`.
pub fn with_condition(object: &str, condition: &Condition) -> String {
    format!("{object} {}={}", condition.kind, condition.shown())
}

impl ShownValue for ManifestTrouble<'_> {
    fn shown(&self) -> String {
        with_condition(&self.describe(), self.condition)
    }
}

impl ShownValue for FailedPlacement {
    fn shown(&self) -> String {
        let object = describe_object(&self.kind, &self.namespace, &self.name);
        with_condition(&object, &self.condition)
    }
}

/// A field of an object of some kind that differs: `/spec/replicas: hub 3, member 9`; of a Secret
/// only that it does.
pub struct HubAndMember<'d> {
    pub kind: &'d str,
    pub field: &'d FieldDifference,
}

impl ShownValue for HubAndMember<'_> {
    fn shown(&self) -> String {
        let value = |value: &Option<String>| match value {
            None => ABSENT.to_owned(),
            Some(_) if self.kind == "Secret" => "(hidden)".to_owned(),
            Some(value) => mask::value_at(&self.field.path, value).into_owned(),
        };
        format!(
            "{}: hub {}, member {}",
            self.field.path,
            value(&self.field.hub),
            value(&self.field.member)
        )
    }
}

/// `REASON: MESSAGE`.
impl ShownValue for ContainerWaiting {
    fn shown(&self) -> String {
        match self.message.trim() {
            "" => self.reason.clone(),
            message => format!("{}: {message}", self.reason),
        }
    }
}

/// `Error, exit code 1, at 2026-01-09T02:00:00Z: MESSAGE`.
impl ShownValue for ContainerTerminated {
    fn shown(&self) -> String {
        let code = self.code.map(|code| format!("exit code {code}"));
        let at = self.finished.map(|at| format!("at {at}"));
        let reason = Some(self.reason.clone()).filter(|reason| !reason.is_empty());
        let parts: Vec<_> = [reason, code, at].into_iter().flatten().collect();
        match self.message.trim() {
            "" => parts.join(", "),
            message => format!("{}: {message}", parts.join(", ")),
        }
    }
}
