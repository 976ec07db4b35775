//! The servers start, know their users, and end with us.

#![allow(clippy::unwrap_used, clippy::panic)] // a test

use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::ListParams;
use test_hub::{Options, TestHub, or_skip};

#[tokio::test]
async fn servers_know_their_users_and_end_with_us() {
    let options = Options {
        members: vec!["member-1".to_owned()],
        ..Options::default()
    };
    let Some(hub) = or_skip(TestHub::start(&options).await) else {
        return;
    };
    for server in ["hub", "member-1"] {
        let client = hub.client_of(server, test_hub::ADMIN).await.unwrap();
        let namespaces = Api::<Namespace>::all(client);
        let names: Vec<_> = namespaces.list(&ListParams::default()).await.unwrap().items;
        assert!(!names.is_empty());
        let client = hub.client_of(server, "user-007").await.unwrap();
        let namespaces = Api::<Namespace>::all(client);
        let error = namespaces.list(&ListParams::default()).await.unwrap_err();
        let kube::Error::Api(status) = error else {
            panic!("{error}");
        };
        assert_eq!(status.code, 403);
        assert!(
            status.message.contains("\"user-007\""),
            "{}",
            status.message
        );
    }
    let client = hub.client().await.unwrap();
    drop(hub);
    let namespaces = Api::<Namespace>::all(client);
    assert!(namespaces.list(&ListParams::default()).await.is_err());
}
