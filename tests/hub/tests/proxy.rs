//! Each fault of the proxy is really produced, as a client sees it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test

use std::io::ErrorKind;
use std::sync::OnceLock;
use std::time::Duration;

use http::{Method, Request, Response, header};
use http_body_util::BodyExt;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::ListParams;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::{Value, json};
use test_hub::{Fault, FaultProxy, Options, Rule, TestHub, or_skip, waiting};
use tokio::time::timeout;

const SPACES: &str = "/api/v1/namespaces";
const WATCH: &str = "/api/v1/namespaces?watch=true";

/// The hub that all tests share: it ends with the process.
fn hub() -> Option<&'static TestHub> {
    static HUB: OnceLock<Option<TestHub>> = OnceLock::new();
    HUB.get_or_init(|| {
        // The first test to come here starts it, on a thread that runs nothing else.
        let start = || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(TestHub::start(&Options::default()))
        };
        or_skip(std::thread::scope(|scope| {
            scope.spawn(start).join().unwrap()
        }))
    })
    .as_ref()
}

/// A proxy with its client; nothing when there is no hub.
async fn proxy() -> Option<(FaultProxy, Client)> {
    let proxy = FaultProxy::start(&hub()?.kubeconfig()).unwrap();
    let client = client(&proxy).await;
    Some((proxy, client))
}

/// A client that sends everything once: its own retries would hide what it meets.
async fn client(proxy: &FaultProxy) -> Client {
    let kubeconfig = Kubeconfig::read_from(proxy.kubeconfig()).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let mut config = config.unwrap();
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

async fn send(
    client: &Client,
    method: Method,
    target: &str,
    body: &Value,
) -> Result<Response<Body>, kube::Error> {
    let body = if body.is_null() {
        Body::empty()
    } else {
        Body::from(serde_json::to_vec(body).unwrap())
    };
    let request = Request::builder()
        .method(method)
        .uri(target)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, "the-test")
        .body(body)
        .unwrap();
    client.send(request).await
}

async fn get(client: &Client, target: &str) -> Result<Response<Body>, kube::Error> {
    send(client, Method::GET, target, &Value::Null).await
}

async fn create(client: &Client, name: &str) -> Result<Response<Body>, kube::Error> {
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    send(client, Method::POST, SPACES, &space).await
}

/// The kinds of I/O errors behind an error.
fn io_kinds(error: &(dyn std::error::Error + 'static)) -> Vec<ErrorKind> {
    let mut kinds = Vec::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            kinds.push(error.kind());
        }
        cause = error.source();
    }
    kinds
}

#[tokio::test]
async fn without_rules_nothing_changes_and_all_is_written_down() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    let direct = hub().unwrap().client().await.unwrap();
    let target = "/api/v1/namespaces/kube-system?pretty=false";
    let through = get(&client, target).await.unwrap();
    let expected = get(&direct, target).await.unwrap();
    assert_eq!(through.status(), expected.status());
    let length = |answer: &Response<Body>| answer.headers()[header::CONTENT_LENGTH].clone();
    assert_eq!(length(&through), length(&expected));
    let through = through.into_body().collect().await.unwrap().to_bytes();
    let expected = expected.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(through, expected);
    create(&client, "written-down").await.unwrap();
    let missing = get(&client, "/api/v1/namespaces/none").await.unwrap();
    assert_eq!(missing.status(), 404);
    let seen = proxy.requests();
    let first = &seen[0];
    assert_eq!(
        (&first.method, first.target.as_str()),
        (&Method::GET, target)
    );
    assert_eq!(first.user_agent, "the-test");
    assert_eq!((first.status, first.bytes), (Some(200), expected.len()));
    assert_eq!(first.fault, None);
    assert!(first.ended.unwrap() >= first.started);
    let sent: Value = serde_json::from_slice(&seen[1].body).unwrap();
    assert_eq!(sent["metadata"]["name"], "written-down");
    assert_eq!(
        (&seen[1].method, seen[1].status),
        (&Method::POST, Some(201))
    );
    assert_eq!((seen.len(), seen[2].status), (3, Some(404)));
    proxy.clear().unwrap();
    assert!(proxy.requests().is_empty());
}

#[tokio::test]
async fn the_user_is_the_clients() {
    let Some((proxy, _)) = proxy().await else {
        return;
    };
    let path = proxy.kubeconfig_of("user-003").unwrap();
    let client = test_hub::client(&path, "hub").await.unwrap();
    let real = Api::<Namespace>::all(client.clone());
    let real = real.list(&ListParams::default()).await.unwrap_err();
    proxy.rules(vec![Rule::new(SPACES, Fault::Forbidden)]);
    let made = Api::<Namespace>::all(client);
    let made = made.list(&ListParams::default()).await.unwrap_err();
    // The proxy refuses in the server's own words.
    assert_eq!(real.to_string(), made.to_string());
}

#[tokio::test]
async fn a_connection_is_reset_before_the_server_acts_or_after() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    for (fault, name, there) in [
        (Fault::ResetBefore, "reset-before", 404),
        (Fault::ResetAfter, "reset-after", 200),
    ] {
        let rule = Rule::new(SPACES, fault).method(Method::POST);
        proxy.rules(vec![rule]);
        let error = create(&client, name).await.unwrap_err();
        assert_eq!(io_kinds(&error), [ErrorKind::ConnectionReset], "{error:?}");
        let read = get(&client, &format!("{SPACES}/{name}")).await.unwrap();
        assert_eq!(read.status(), there, "{name}");
    }
    assert_eq!(proxy.requests()[0].status, None);
}

#[tokio::test]
async fn a_write_is_refused_in_the_servers_words() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    create(&client, "refused").await.unwrap();
    let path = format!("{SPACES}/refused");
    let taken = create(&client, "refused").await.unwrap();
    assert_eq!(taken.status(), 409);
    for (fault, method, target, code, reason) in [
        (
            Fault::Missing,
            Method::DELETE,
            path.as_str(),
            404,
            "NotFound",
        ),
        (Fault::Conflict, Method::PUT, path.as_str(), 409, "Conflict"),
        (Fault::Conflict, Method::POST, SPACES, 409, "AlreadyExists"),
        (Fault::Invalid, Method::PUT, path.as_str(), 422, "Invalid"),
    ] {
        proxy.rules(vec![Rule::new(SPACES, fault)]);
        let answer = send(&client, method, target, &json!({})).await.unwrap();
        assert_eq!(answer.status(), code);
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let status: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(status["reason"], reason);
    }
    proxy.clear().unwrap();
    assert_eq!(get(&client, &path).await.unwrap().status(), 200);
}

#[tokio::test]
async fn what_is_held_happens_when_it_is_released() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    let direct = hub().unwrap().client().await.unwrap();
    for (fault, name, there) in [
        (Fault::Hold, "held", 404),
        (Fault::HoldAnswer, "held-answer", 200),
    ] {
        proxy.rules(vec![Rule::new(SPACES, fault).method(Method::POST)]);
        let short = Duration::from_secs(2);
        // Nobody waits for it any more, and it happens all the same.
        assert!(timeout(short, create(&client, name)).await.is_err());
        let path = format!("{SPACES}/{name}");
        assert_eq!(get(&direct, &path).await.unwrap().status(), there, "{name}");
        proxy.release();
        let is_there = async || (get(&direct, &path).await.unwrap().status() == 200).then_some(());
        waiting::until_async(|| format!("{name} is there"), is_there).await;
    }
}

#[tokio::test]
async fn the_server_goes_away_and_comes_back() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    proxy.rules(vec![Rule::new(SPACES, Fault::Leave).from(2)]);
    assert_eq!(get(&client, SPACES).await.unwrap().status(), 200);
    let error = get(&client, SPACES).await.unwrap_err();
    assert_eq!(io_kinds(&error), [ErrorKind::ConnectionReset], "{error:?}");
    let error = get(&client, "/version").await.unwrap_err();
    assert!(
        io_kinds(&error).contains(&ErrorKind::ConnectionRefused),
        "{error:?}"
    );
    proxy.clear().unwrap();
    assert_eq!(get(&client, "/version").await.unwrap().status(), 200);
    proxy.leave();
    assert!(get(&client, "/version").await.is_err());
    proxy.clear().unwrap();
    assert_eq!(get(&client, "/version").await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_connection_does_not_speak_tls() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    proxy.rules(vec![Rule::new("", Fault::TlsGarbage).times(1)]);
    let error = get(&client, "/version").await.unwrap_err();
    let text = format!("{error:?}");
    assert!(text.contains("InvalidMessage"), "{text}");
    assert_eq!(get(&client, "/version").await.unwrap().status(), 200);
    assert_eq!(proxy.requests().len(), 1);
}

#[tokio::test]
async fn refusals_are_those_of_a_server() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    for (fault, code, reason) in [
        (Fault::Unauthorized, 401, "Unauthorized"),
        (Fault::Forbidden, 403, "Forbidden"),
        (Fault::Expired, 410, "Expired"),
        (Fault::Internal, 500, "InternalError"),
    ] {
        proxy.rules(vec![Rule::new(SPACES, fault)]);
        let api = Api::<Namespace>::all(client.clone());
        let error = api.list(&ListParams::default()).await.unwrap_err();
        let kube::Error::Api(status) = error else {
            panic!("{error:?}");
        };
        assert_eq!((status.code, status.reason.as_str()), (code, reason));
    }
    for (fault, code, wait, words) in [
        (Fault::NotServed, 404, None, "404 page not found"),
        (Fault::TooMany(Some(7)), 429, Some("7"), "Too many"),
        (Fault::TooMany(None), 429, None, "Too many"),
        (Fault::Unavailable(Some(2)), 503, Some("2"), "shutting down"),
        (Fault::Page(502), 502, None, "<html>"),
        (Fault::NoJson, 200, None, "<html>"),
    ] {
        proxy.rules(vec![Rule::new(SPACES, fault)]);
        let answer = get(&client, SPACES).await.unwrap();
        assert_eq!(answer.status(), code);
        let asked = answer.headers().get(header::RETRY_AFTER);
        assert_eq!(asked.map(|value| value.to_str().unwrap()), wait);
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&body).contains(words));
    }
    assert!(proxy.requests().iter().all(|seen| seen.fault.is_some()));
}

#[tokio::test]
async fn a_body_is_cut() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    proxy.rules(vec![Rule::new(SPACES, Fault::Cut { bytes: 40 })]);
    let answer = get(&client, &format!("{SPACES}/kube-system"))
        .await
        .unwrap();
    let length = answer.headers()[header::CONTENT_LENGTH].to_str().unwrap();
    assert!(length.parse::<usize>().unwrap() > 40);
    let mut body = answer.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first.len(), 40);
    assert!(body.frame().await.unwrap().is_err());
    assert_eq!(proxy.requests()[0].bytes, 40);
}

#[tokio::test]
async fn a_list_comes_in_small_pages() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    proxy.rules(vec![Rule::new("limit=", Fault::SmallPages(1))]);
    let answer = get(&client, &format!("{SPACES}?limit=500&watch=false")).await;
    let body = answer.unwrap().into_body().collect().await.unwrap();
    let list: Value = serde_json::from_slice(&body.to_bytes()).unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    assert!(!list["metadata"]["continue"].as_str().unwrap().is_empty());
}

#[tokio::test]
async fn groups_are_listed_by_name() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    let kind = async || {
        let wanted = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        let request = http::Request::get("/apis").header("accept", wanted);
        let request = request.body(Vec::new()).unwrap();
        let list: Value = client.request(request).await.unwrap();
        list["kind"].as_str().unwrap().to_owned()
    };
    assert_eq!(kind().await, "APIGroupDiscoveryList");
    proxy.rules(vec![Rule::new("/apis", Fault::PlainDiscovery)]);
    assert_eq!(kind().await, "APIGroupList");
}

#[tokio::test]
async fn an_answer_comes_late_or_never() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    let late = Duration::from_millis(300);
    proxy.rules(vec![Rule::new(SPACES, Fault::Delay(late))]);
    assert_eq!(get(&client, SPACES).await.unwrap().status(), 200);
    let answered = async || {
        let seen = &proxy.requests()[0];
        Some(seen.ended? - seen.started)
    };
    let took = waiting::until_async(|| "the answer ends".to_owned(), answered).await;
    assert!(took >= late, "{took:?}");
    proxy.rules(vec![Rule::new(SPACES, Fault::Hang)]);
    let never = timeout(Duration::from_secs(1), get(&client, SPACES)).await;
    assert!(never.is_err());
    // Others are answered meanwhile.
    assert_eq!(get(&client, "/version").await.unwrap().status(), 200);
    assert_eq!(proxy.requests()[1].status, None);
}

#[tokio::test]
async fn a_clock_is_ahead() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    let date = async || {
        let answer = get(&client, "/version").await.unwrap();
        let date = answer.headers()[header::DATE].to_str().unwrap();
        jiff::fmt::rfc2822::parse(date).unwrap().timestamp()
    };
    let before = date().await;
    proxy.ahead(Duration::from_hours(1));
    let ahead = date().await.duration_since(before);
    assert!(ahead.as_mins() >= 59, "{ahead}");
}

/// The next frames of a body, as text, up to so many lines.
async fn lines(body: &mut Body, count: usize) -> usize {
    let mut text = String::new();
    while text.lines().count() < count {
        let frame = timeout(waiting::HANGS, body.frame()).await;
        let frame = frame.expect("it comes at once").expect("it goes on");
        text.push_str(std::str::from_utf8(frame.unwrap().data_ref().unwrap()).unwrap());
    }
    text.lines().count()
}

#[tokio::test]
async fn a_watch_is_passed_on_as_it_comes() {
    let Some((_proxy, client)) = proxy().await else {
        return;
    };
    let version = get(&client, SPACES).await.unwrap();
    let list = version.into_body().collect().await.unwrap().to_bytes();
    let list: Value = serde_json::from_slice(&list).unwrap();
    let version = list["metadata"]["resourceVersion"].as_str().unwrap();
    let target = format!("{WATCH}&resourceVersion={version}");
    let mut body = get(&client, &target).await.unwrap().into_body();
    create(&client, "watched").await.unwrap();
    assert!(lines(&mut body, 1).await >= 1);
}

#[tokio::test]
async fn a_watch_ends_breaks_or_falls_silent() {
    let Some((proxy, client)) = proxy().await else {
        return;
    };
    // There are more namespaces than that from the start.
    let events = 2;
    proxy.rules(vec![Rule::new("watch=", Fault::WatchEnds { events })]);
    let mut body = get(&client, WATCH).await.unwrap().into_body();
    assert_eq!(lines(&mut body, events).await, events);
    assert!(body.frame().await.is_none());
    proxy.rules(vec![Rule::new("watch=", Fault::WatchCut { events })]);
    let mut body = get(&client, WATCH).await.unwrap().into_body();
    assert_eq!(lines(&mut body, events).await, events);
    assert!(body.frame().await.unwrap().is_err());
    proxy.rules(vec![Rule::new("watch=", Fault::WatchSilent { events })]);
    let mut body = get(&client, WATCH).await.unwrap().into_body();
    assert_eq!(lines(&mut body, events).await, events);
    let more = timeout(Duration::from_millis(500), body.frame()).await;
    assert!(more.is_err());
    assert!(proxy.requests()[2].ended.is_none());
}
