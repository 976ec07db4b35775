//! What a user may do, and what the hub tells about itself.

use std::time::Duration;

use http::Method;
use jiff::Timestamp;
use k8s_openapi::Resource;
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::hub::error::HubError;
use crate::hub::request::answer::{self, ExpectedAnswer};
use crate::hub::request::connection::{Connection, JSON, ReadRequest};
use crate::hub::{Hub, side_by_side};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessCheck {
    /// What is done: `list`, say.
    pub verb: &'static str,
    pub group: &'static str,
    /// The resource, with `/status` behind it for the subresource.
    pub resource: String,
    /// The namespace; empty for all of them and for what has none.
    pub namespace: String,
}

/// A hub's clock against ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset {
    /// What the hub's answer says that it is, to the second.
    pub hub: Timestamp,
    pub round_trip: Duration,
}

impl Hub {
    /// Asks the hub whether the user may do each of these things, in their order.
    pub fn may(&mut self, wanted: &[AccessCheck]) -> Vec<Result<bool, HubError>> {
        let reviews = side_by_side(wanted.to_vec(), |access| {
            let connection = self.connection.clone();
            async move { review(&connection, &access).await }
        });
        self.wait("permissions", reviews)
    }

    /// Asks who the hub takes us for, beside whatever is asked meanwhile; [`Hub::whoami`] tells.
    pub fn ask_who(&mut self) {
        let connection = self.connection.clone();
        self.who = Some(self.runtime.spawn(who(connection)));
    }

    /// Who the hub takes us for; `None` where it does not say.
    pub fn whoami(&mut self) -> Result<Option<String>, HubError> {
        if self.who.is_none() {
            self.ask_who();
        }
        let Some(asked) = self.who.take() else {
            return Ok(None);
        };
        self.wait("the user", asked)
            .unwrap_or_else(|error| Err(HubError::Broken(error.to_string())))
    }

    /// Reads any path of the hub's API server as JSON, which is to be what is wanted.
    pub fn read_path<T: DeserializeOwned>(
        &mut self,
        path: &str,
        wanted: &ExpectedAnswer<'_>,
    ) -> Result<T, HubError> {
        let body = self.wait("the hub", self.connection.get(path, JSON))?;
        answer::read(wanted, &body)
    }

    pub fn read_text(&mut self, path: &str) -> Result<String, HubError> {
        let asking = Connection::asking(path, "*/*");
        let answer = self.wait("the hub", self.connection.patiently(&asking))?;
        if answer.is_page {
            let wanted = ExpectedAnswer::kind("", "text");
            return Err(answer::wrong(&wanted, &answer.body));
        }
        Ok(String::from_utf8_lossy(&answer.body).into_owned())
    }

    /// What the hub's clock says; `None` where its answers carry no date.
    pub fn clocks(&mut self) -> Result<Option<ClockOffset>, HubError> {
        self.wait("the clock", self.connection.clocks())
    }
}

async fn who(connection: Connection) -> Result<Option<String>, HubError> {
    match connection.ask(&SelfSubjectReview::default()).await {
        Ok(answer) => Ok(answer
            .status
            .and_then(|status| status.user_info?.username)
            .filter(|name| !name.is_empty())),
        Err(HubError::NotRouted(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn review(connection: &Connection, access: &AccessCheck) -> Result<bool, HubError> {
    let (resource, subresource) = access
        .resource
        .split_once('/')
        .unwrap_or((access.resource.as_str(), ""));
    let text = |text: &str| Some(text.to_owned());
    let question = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                verb: text(access.verb),
                group: text(access.group),
                resource: text(resource),
                subresource: text(subresource),
                namespace: text(&access.namespace),
                ..ResourceAttributes::default()
            }),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let answer = connection.ask(&question).await?;
    answer
        .status
        .map(|status| status.allowed)
        .ok_or_else(|| HubError::Broken("a review without an answer".to_owned()))
}

impl Connection {
    /// Posts a question that changes nothing: a review. It may be asked again like a read.
    async fn ask<T>(&self, question: &T) -> Result<T, HubError>
    where
        T: Resource + Serialize + DeserializeOwned,
    {
        let body = serde_json::to_vec(question)
            .map_err(|error| HubError::Broken(format!("the question: {error}")))?;
        let path = format!("/apis/{}/{}", T::API_VERSION, T::URL_PATH_SEGMENT);
        let asking = ReadRequest {
            method: Method::POST,
            body: &body,
            ..Self::asking(&path, JSON)
        };
        let answer = self.patiently(&asking).await?;
        answer::read(&ExpectedAnswer::kind(T::GROUP, T::KIND), &answer.body)
    }

    async fn clocks(&self) -> Result<Option<ClockOffset>, HubError> {
        let begun = std::time::Instant::now();
        let answer = self.patiently(&Self::asking("/version", JSON)).await?;
        let round_trip = begun.elapsed();
        // The clock of a proxy that answers in its place is not the hub's.
        answer::read::<Value>(&ExpectedAnswer::Version, &answer.body)?;
        let hub = answer
            .date
            .and_then(|date| jiff::fmt::rfc2822::parse(&date).ok());
        Ok(hub.map(|hub| ClockOffset {
            hub: hub.timestamp(),
            round_trip,
        }))
    }
}
