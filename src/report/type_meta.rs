//! What every document begins with.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::kubefleet::object::OWN_API_VERSION;

/// The type of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TypeMeta {
    /// Always `kubectl-fleet-stage/v1`.
    api_version: &'static str,
    /// The kind of the document.
    kind: Cow<'static, str>,
}

impl TypeMeta {
    pub fn new(kind: impl Into<Cow<'static, str>>) -> Self {
        Self {
            api_version: OWN_API_VERSION,
            kind: kind.into(),
        }
    }
}
