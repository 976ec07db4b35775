//! The one place that writes: each change is sent once, and what became of it is told apart.

use http::{Request, header};
use serde_json::{Value, json};

use crate::change::Change;
use crate::hub::Hub;
use crate::hub::error::HubError;
use crate::hub::read::found::wanted_object;
use crate::hub::request::answer;
use crate::hub::request::connection::{Connection, WriteAnswer};
use crate::hub::signals::more_than;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::path::encode;

#[derive(Debug, Clone, Copy)]
pub struct ChangeSending<'s> {
    /// The name under which the server records what we write.
    pub manager: &'s str,
    pub dry_run: bool,
}

#[derive(Debug)]
pub enum SentChange {
    /// It was done; what the server answered, and what it warns of.
    Done(Value, Vec<String>),
    /// The server refused it: nothing was changed.
    Refused(HubError),
    /// It never got to the server: nothing was changed.
    Unsent(HubError),
    /// It may have been done: the answer was lost.
    Doubtful(HubError),
}

impl Hub {
    /// Sends a change, once. An interrupt does not break it off; a second one gives up waiting for
    /// the answer.
    pub fn send(&mut self, change: &Change, sending: ChangeSending<'_>) -> SentChange {
        let kind = change.object.kind;
        if self.is_interrupted() {
            return SentChange::Unsent(HubError::Interrupted);
        }
        let Some(version) = self.served.version(kind) else {
            return SentChange::Unsent(HubError::NotServed(kind));
        };
        let request = change.request(version);
        let mut parameters = vec![format!("fieldManager={}", encode(sending.manager))];
        if request.force {
            parameters.push("force=true".to_owned());
        }
        if sending.dry_run {
            parameters.push("dryRun=All".to_owned());
        }
        let mut body = request.body.clone();
        if request.method == "DELETE" {
            // The server looks at no parameters where a deletion has a body.
            parameters.clear();
            if sending.dry_run {
                body["dryRun"] = json!(["All"]);
            }
        }
        let url = if parameters.is_empty() {
            request.path.clone()
        } else {
            format!("{}?{}", request.path, parameters.join("&"))
        };
        let connection = self.connection.clone();
        let count = self.signals.clone();
        let body = body.to_string();
        let object = change.object.clone();
        let sent = self.wait("the hub's answer", async move {
            let give_up = async {
                match count {
                    Some(mut count) => more_than(&mut count, 1).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                sent = connection.write(&request, &url, body, &object) => sent,
                () = give_up => SentChange::Doubtful(HubError::Interrupted),
            }
        });
        // What was read of anything may be old now.
        self.forget();
        sent
    }
}

impl Connection {
    /// Sends a write, once and within the time limit.
    async fn write(
        &self,
        change: &crate::change::ChangeRequest,
        url: &str,
        body: String,
        object: &ObjectRef,
    ) -> SentChange {
        let request = Request::builder()
            .method(change.method)
            .uri(url)
            .header(header::CONTENT_TYPE, change.content_type)
            .body(body.into_bytes());
        let request = match request {
            Ok(request) => request,
            Err(error) => return SentChange::Unsent(HubError::Broken(error.to_string())),
        };
        let mut told = Vec::new();
        let body = match self.exchange(request).await {
            Ok(WriteAnswer::Answered { body, warnings }) => {
                told = warnings;
                Ok(body)
            }
            Ok(WriteAnswer::Refused(error)) => return SentChange::Refused(error),
            Ok(WriteAnswer::Unclear(error)) => return SentChange::Doubtful(error),
            Err(error) => Err(error),
        };
        let answer = body.and_then(|body| {
            let wanted = wanted_object(object.kind, &object.namespace, &object.name);
            if change.method == "DELETE" {
                answer::confirms_deletion(&wanted, &body)
            } else {
                answer::read(&wanted, &body)
            }
        });
        match answer {
            Ok(answer) => SentChange::Done(answer, told),
            Err(
                error @ (HubError::Unreachable { .. }
                | HubError::Tls { .. }
                | HubError::Credentials(_)
                | HubError::Interrupted),
            ) => SentChange::Unsent(error),
            Err(error) => SentChange::Doubtful(error),
        }
    }
}
