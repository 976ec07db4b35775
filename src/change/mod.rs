//! Writes as data: what is sent, what guards it, and what it does in words.
//!
//! A change is built from what was read, shown, and sent by `hub/`; nothing here does any I/O.

pub mod guard;
pub mod names;
pub mod neighbours;
pub mod preview;
pub mod record;
pub mod states;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::object::{Object, ObjectBody};
use crate::kubefleet::path::path;
use crate::kubefleet::run::{CONTENT, CURRENT_CONTENT, ROLLED_BACK, UpdateRun};
use crate::kubefleet::tolerant::UnknownFields;
use crate::kubefleet::{Concept, ObjectRef, reasons};
use crate::mask;
use crate::words::{CommandLine, push_visible};

/// One write.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What is written.
    pub object: ObjectRef,
    /// What is done to it.
    pub act: WriteAction,
    /// What it does, as the end of "this would …".
    pub would: String,
    /// What it did, as a sentence without its full stop.
    pub did: String,
}

/// What is done to an object.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteAction {
    /// A run is created.
    Create {
        /// What it is to do.
        wish: RunWish,
    },
    /// A run's `spec.state` is set, while it still is what it was when it was shown.
    SetState {
        /// The run that was shown.
        uid: String,
        /// Its state as it was shown; `None` where it had none.
        from: Option<String>,
        /// The new state.
        to: &'static str,
    },
    /// A request is approved: `Approved` alone is applied, for the generation that was shown.
    Approve {
        /// The request that was shown.
        uid: String,
        /// The version of it that was shown: the only guard that a status subresource enforces.
        resource_version: String,
        /// The generation that was shown.
        generation: i64,
        /// The text of the condition.
        message: String,
        /// Now.
        at: Timestamp,
        /// Whether an `Approved` that someone else wrote is taken over, which was shown too.
        takes_over: bool,
    },
    /// An object is deleted, while it is the one that was shown.
    Delete {
        /// The object that was shown.
        uid: String,
        /// The version that was shown, where any change is a reason not to delete.
        resource_version: Option<String>,
    },
}

/// What a new run is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunWish {
    /// The placement, in the run's scope.
    pub placement: String,
    /// The strategy, in the run's scope.
    pub strategy: String,
    /// The snapshot's index; `None` means the current content.
    pub snapshot: Option<String>,
    /// Whether the index stands for the current content: nobody named it.
    pub is_current: bool,
    /// The index of the snapshot that it takes back.
    pub rolled_back: Option<String>,
    /// `spec.state`; `None` where the hub does not implement it.
    pub state: Option<&'static str>,
    /// The fields of an old run that this version does not know.
    pub unknown: UnknownFields,
}

/// How a change is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeRequest {
    pub method: &'static str,
    /// The path, without parameters.
    pub path: String,
    /// The form of the body.
    pub content_type: &'static str,
    pub body: Value,
    /// Whether conflicts with other writers of the same fields are overruled.
    pub force: bool,
}

/// Whether a write happened that nobody answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteCertainty {
    /// The object shows it.
    Yes,
    /// The object is as it was.
    No,
    /// The object changed in another way: it cannot be told.
    Unclear,
}

impl RunWish {
    /// What of an existing run differs from this, as `field: there, wanted`; empty when it is the
    /// same. The state is no part of it: it is what a run goes through.
    pub fn differences(&self, run: &UpdateRun) -> Vec<String> {
        let current = "the current content";
        let wanted = self.snapshot.as_deref();
        let wanted = wanted.filter(|index| !self.is_current && !index.is_empty());
        let (wanted, there) = (wanted.unwrap_or(current), run.pinned().unwrap_or(current));
        [
            ("placement", &*run.spec.placement, &*self.placement),
            ("strategy", &*run.spec.strategy, &*self.strategy),
            ("snapshot", there, wanted),
        ]
        .into_iter()
        .filter(|(_, there, wanted)| there != wanted)
        .map(|(field, there, wanted)| format!("{field} is {there}, not {wanted}"))
        .chain(self.unlike(run))
        .collect()
    }

    /// The copied fields in which an existing run differs from this. What it has besides may be the
    /// hub's own defaults.
    fn unlike<'r>(&'r self, run: &'r UpdateRun) -> impl Iterator<Item = String> + 'r {
        let there = &run.spec.unknown;
        let fields = self.unknown.iter();
        fields
            .filter(move |(field, value)| there.get(*field) != Some(*value))
            .map(|(field, _)| format!("spec.{field} is different"))
    }
}

impl Change {
    /// Creates a run. `starts` is whether it is started after that.
    pub fn create(run: &ObjectRef, wish: RunWish, starts: bool) -> Self {
        let content = match &wish.snapshot {
            Some(index) => format!("snapshot {index}"),
            None => "the current content".to_owned(),
        };
        let placement = &wish.placement;
        let does = match wish.state {
            Some("Initialize") if starts => "starts once it is initialized",
            Some("Initialize") => "does not start yet",
            _ => "starts immediately",
        };
        Self {
            object: run.clone(),
            would: format!(
                "create {run} ({content} of {placement}, strategy {}), which {does}",
                wish.strategy
            ),
            did: format!("created {run}"),
            act: WriteAction::Create { wish },
        }
    }

    pub(crate) fn set_state(run: &UpdateRun, to: &'static str, would: String, did: String) -> Self {
        Self {
            object: run.object(),
            act: WriteAction::SetState {
                uid: run.meta.uid.clone(),
                from: run.spec.state.clone(),
                to,
            },
            would,
            did,
        }
    }

    /// Approves a request as it was shown. An `Approved` entry that is there already is replaced.
    pub fn approve(request: &ApprovalRequest, message: String, at: Timestamp) -> Self {
        let object = request.object();
        let generation = request.meta.generation.unwrap_or_default();
        Self {
            would: format!("approve {object} for generation {generation}"),
            did: format!("approved {object}"),
            act: WriteAction::Approve {
                uid: request.meta.uid.clone(),
                resource_version: request.meta.resource_version.clone(),
                generation,
                message,
                at,
                takes_over: request.approved().is_some(),
            },
            object,
        }
    }

    /// Deletes a run as it was shown.
    pub fn delete(run: &UpdateRun) -> Self {
        let object = run.object();
        Self {
            would: format!("delete {object}"),
            did: format!("deleted {object}"),
            act: WriteAction::Delete {
                uid: run.meta.uid.clone(),
                resource_version: None,
            },
            object,
        }
    }

    /// Deletes a run only if nothing at all happened to it since it was shown.
    pub fn delete_untouched(run: &UpdateRun) -> Self {
        let mut change = Self::delete(run);
        change.act = WriteAction::Delete {
            uid: run.meta.uid.clone(),
            resource_version: Some(run.meta.resource_version.clone()),
        };
        change
    }

    /// What is sent for it, to this version of the API.
    pub fn request(&self, version: &str) -> ChangeRequest {
        let ObjectRef {
            kind,
            namespace,
            name,
        } = &self.object;
        let named = path(*kind, version, Some(namespace), Some(name));
        let (method, path, content_type, body) = match &self.act {
            WriteAction::Create { .. } => (
                "POST",
                path(*kind, version, Some(namespace), None),
                "application/json",
                self.document(version),
            ),
            WriteAction::SetState { uid, from, to } => (
                "PATCH",
                named,
                "application/json-patch+json",
                json!([
                    {"op": "test", "path": "/metadata/uid", "value": uid},
                    {"op": "test", "path": "/spec/state", "value": from},
                    {"op": "add", "path": "/spec/state", "value": to},
                ]),
            ),
            WriteAction::Approve { .. } => (
                "PATCH",
                format!("{named}/status"),
                "application/apply-patch+yaml",
                self.document(version),
            ),
            WriteAction::Delete { .. } => {
                ("DELETE", named, "application/json", self.document(version))
            }
        };
        let force = matches!(
            &self.act,
            WriteAction::Approve {
                takes_over: true,
                ..
            }
        );
        ChangeRequest {
            method,
            path,
            content_type,
            body,
            force,
        }
    }

    /// The object as this change writes it, and of an object that exists only what it touches.
    pub fn document(&self, version: &str) -> Value {
        let kind = self.object.kind;
        let mut metadata = json!({"name": self.object.name});
        if !self.object.namespace.is_empty() {
            metadata["namespace"] = json!(self.object.namespace);
        }
        let mut document = json!({
            "apiVersion": format!("{}/{version}", kind.group()),
            "kind": kind.name(),
            "metadata": metadata,
        });
        match &self.act {
            WriteAction::Create { wish } => {
                document["spec"] = json!({
                    "placementName": wish.placement,
                    "stagedRolloutStrategyName": wish.strategy,
                });
                for (field, value) in &wish.unknown {
                    document["spec"][field] = value.clone();
                }
                if let Some(index) = &wish.snapshot {
                    document["spec"]["resourceSnapshotIndex"] = json!(index);
                }
                if wish.is_current {
                    document["metadata"]["annotations"][CONTENT] = json!(CURRENT_CONTENT);
                }
                if let Some(index) = &wish.rolled_back {
                    document["metadata"]["annotations"][ROLLED_BACK] = json!(index);
                }
                if let Some(state) = wish.state {
                    document["spec"]["state"] = json!(state);
                }
            }
            WriteAction::SetState { uid, to, .. } => {
                document["metadata"]["uid"] = json!(uid);
                document["spec"] = json!({"state": to});
            }
            WriteAction::Approve {
                resource_version,
                generation,
                message,
                at,
                ..
            } => {
                document["metadata"]["resourceVersion"] = json!(resource_version);
                document["status"] = json!({"conditions": [{
                    "type": reasons::APPROVED,
                    "status": "True",
                    "reason": "Approved",
                    "message": message,
                    "observedGeneration": generation,
                    "lastTransitionTime": at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
                }]});
            }
            WriteAction::Delete {
                uid,
                resource_version,
            } => {
                let mut preconditions = json!({"uid": uid});
                if let Some(version) = resource_version {
                    preconditions["resourceVersion"] = json!(version);
                }
                document = json!({
                    "apiVersion": "v1",
                    "kind": "DeleteOptions",
                    "preconditions": preconditions,
                });
            }
        }
        document
    }

    /// Whether the object, read anew, shows that this was done; `None` where it does not exist.
    pub fn happened(&self, now: Option<&Object>) -> WriteCertainty {
        let body = now.map(|object| &object.body);
        let same = |uid: &str| body.is_some_and(|body| body.meta().uid == uid);
        match (&self.act, body) {
            (WriteAction::Create { .. }, None) => WriteCertainty::No,
            (WriteAction::Create { wish }, Some(ObjectBody::Run(run)))
                if wish.differences(run).is_empty() =>
            {
                WriteCertainty::Yes
            }
            (WriteAction::Delete { uid, .. }, now) => match now {
                Some(body) if same(uid) && !body.meta().is_deleting() => WriteCertainty::No,
                _ => WriteCertainty::Yes,
            },
            (WriteAction::SetState { uid, from, to }, Some(ObjectBody::Run(run))) if same(uid) => {
                match &run.spec.state {
                    Some(state) if state == to => WriteCertainty::Yes,
                    state if state == from => WriteCertainty::No,
                    _ => WriteCertainty::Unclear,
                }
            }
            (
                WriteAction::Approve {
                    uid,
                    message,
                    resource_version,
                    ..
                },
                Some(ObjectBody::Approval(request)),
            ) if same(uid) => {
                match request.approved() {
                    Some(approved)
                        if approved.is_true()
                            // Objects are read with their secrets masked.
                            && approved.message == mask::prose(message)
                            && request.counts() =>
                    {
                        WriteCertainty::Yes
                    }
                    _ if request.meta.resource_version == *resource_version => WriteCertainty::No,
                    None => WriteCertainty::No,
                    // Another answer, which may have taken the place of this one.
                    Some(_) => WriteCertainty::Unclear,
                }
            }
            _ => WriteCertainty::Unclear,
        }
    }

    /// What of the object that came back is not as it was sent: something on the way, or on the hub,
    /// changed it or took no notice.
    pub fn unlike(&self, answer: &Value) -> Vec<String> {
        let mut found = Vec::new();
        match &self.act {
            WriteAction::Create { .. } => {
                let sent = self.document("");
                differ("spec", &sent["spec"], &answer["spec"], &mut found);
                let index = "resourceSnapshotIndex";
                if sent["spec"][index].is_null() {
                    // Without one the run is for the current content.
                    let there = &answer["spec"][index];
                    if !there.is_null() && there != "" {
                        found.push(format!("spec.{index} is {there}, and was not set"));
                    }
                }
            }
            WriteAction::SetState { uid, to, .. } => {
                differ_at(answer, "metadata.uid", uid, &mut found);
                differ_at(answer, "spec.state", to, &mut found);
            }
            WriteAction::Approve { uid, .. } => {
                differ_at(answer, "metadata.uid", uid, &mut found);
                let own = |conditions: &Value| {
                    let mut all = conditions.as_array().into_iter().flatten();
                    let own = all.find(|one| one["type"] == reasons::APPROVED);
                    own.cloned().unwrap_or_default()
                };
                let sent = self.document("")["status"]["conditions"].take();
                let there = own(&answer["status"]["conditions"]);
                differ("the Approved condition", &own(&sent), &there, &mut found);
            }
            WriteAction::Delete { uid, .. } if answer["kind"] != "Status" => {
                differ_at(answer, "metadata.uid", uid, &mut found);
                if answer["metadata"]["deletionTimestamp"].is_null() {
                    found.push("metadata.deletionTimestamp is not set".to_owned());
                }
            }
            // The API server names what it deleted.
            WriteAction::Delete { uid, .. } => differ_at(answer, "details.uid", uid, &mut found),
        }
        found
    }

    /// The command that looks at the object of this change.
    pub fn look(&self) -> CommandLine {
        match self.object.kind.concept() {
            Concept::ApprovalRequest => self.object.scope().fleet("approvals"),
            _ => self.object.fleet("status"),
        }
    }
}

/// A name in which everything can be seen: it stays in the object, and others show it.
fn visible(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        push_visible(&mut out, c);
    }
    out
}

/// Where what is there lacks something of what was sent, or has it otherwise. What is there beside
/// it does not matter.
fn differ(path: &str, sent: &Value, there: &Value, found: &mut Vec<String>) {
    match sent {
        Value::Object(fields) if there.is_object() => {
            for (key, sent) in fields {
                differ(&format!("{path}.{key}"), sent, &there[key], found);
            }
        }
        sent if sent == there => {}
        sent if there.is_null() => found.push(format!("{path} is not set, but was sent as {sent}")),
        sent => found.push(format!("{path} is {there}, not {sent}")),
    }
}

/// The same at a place of an answer, with dots.
fn differ_at(answer: &Value, place: &str, sent: &str, found: &mut Vec<String>) {
    let there = answer.pointer(&format!("/{}", place.replace('.', "/")));
    differ(place, &json!(sent), there.unwrap_or_default(), found);
}

/// The text of an approval: who gave it by the hub's word, and why.
pub fn approval_message(who: Option<&str>, reason: Option<&str>) -> String {
    let by = match who {
        Some(who) => format!("approved by {}", visible(who)),
        None => "approved".to_owned(),
    };
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{by}: {reason}"),
        None => by,
    }
}

#[cfg(test)]
mod tests;
