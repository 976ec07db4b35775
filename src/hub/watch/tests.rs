use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::{Mirror, MirrorUpdate, Watch, WatchItem, WatchNews, WatchPace};
use crate::hub::fake_server::{FakeServer, ServerReply};
use crate::hub::read::served::ServedVersions;
use crate::hub::request::bounds::TimeLimit;
use crate::inventory::source::{HubQuery, ObjectSource as _, Outcome};
use crate::kubefleet::Kind;

fn run(name: &str, uid: &str, version: u32) -> String {
    format!(
        r#"{{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"ClusterStagedUpdateRun","metadata":{{"name":"{name}","uid":"{uid}","resourceVersion":"{version}"}}}}"#
    )
}

fn list(version: u32, items: &[String]) -> ServerReply {
    let items = items.join(",");
    list_of("ClusterStagedUpdateRun", version, &items)
}

fn list_of(kind: &str, version: u32, items: &str) -> ServerReply {
    let body = format!(
        r#"{{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"{kind}List","metadata":{{"resourceVersion":"{version}"}},"items":[{items}]}}"#
    );
    answer(200, &body)
}

fn answer(code: u16, body: &str) -> ServerReply {
    ServerReply::Whole(code, "", body.to_owned())
}

/// What most watches begin with.
fn first_list() -> ServerReply {
    list(10, &[run("a", "1", 5)])
}

fn event(kind: &str, object: &str) -> String {
    format!(r#"{{"type":"{kind}","object":{object}}}"#)
}

/// The run of the first list has changed.
fn changed(version: u32) -> String {
    event("MODIFIED", &run("a", "1", version))
}

fn bookmark(version: u32) -> String {
    event(
        "BOOKMARK",
        &format!(r#"{{"metadata":{{"resourceVersion":"{version}"}}}}"#),
    )
}

fn gone() -> String {
    event(
        "ERROR",
        r#"{"kind":"Status","code":410,"reason":"Expired"}"#,
    )
}

const PACE: WatchPace = WatchPace {
    session: Duration::from_secs(200),
    silence: Duration::from_millis(600),
    first_pause: Duration::from_millis(10),
    longest_pause: Duration::from_millis(50),
    give_up: test_hub::waiting::HANGS,
};

struct FakeHub {
    runtime: Runtime,
    server: FakeServer,
}

impl FakeHub {
    fn new(replies: Vec<ServerReply>) -> Self {
        Self {
            runtime: Runtime::new().unwrap(),
            server: FakeServer::new(replies),
        }
    }

    fn watch(&self, queries: &[HubQuery]) -> Watch {
        self.watch_at(PACE, queries)
    }

    fn watch_at(&self, pace: WatchPace, queries: &[HubQuery]) -> Watch {
        let _inside = self.runtime.enter();
        let connection = self.server.connection();
        let mut served = ServedVersions::default();
        served.unknown = true;
        let handle = self.runtime.handle().clone();
        let mut watch = Watch::new(handle, connection, Arc::new(served), pace);
        for query in queries {
            watch.add(query.clone());
        }
        watch
    }
}

fn all() -> HubQuery {
    HubQuery::all(Kind::ClusterStagedUpdateRun, "")
}

/// The events in short: `=a@1` listed, `a@2` changed, `-a` deleted.
fn told(watch: &mut Watch, count: usize) -> Vec<String> {
    let mut told = Vec::new();
    for _ in 0..count {
        let WatchItem::Event(_, what) = watch.next(test_hub::waiting::HANGS) else {
            break;
        };
        let named = |object: &crate::kubefleet::object::Object| {
            let meta = object.body.meta();
            format!("{}@{}", meta.name, meta.resource_version)
        };
        told.push(match what {
            WatchNews::Listed(objects) => {
                let names: Vec<_> = objects.iter().map(named).collect();
                format!("={}", names.join(","))
            }
            WatchNews::Changed(object) => named(&object),
            WatchNews::Deleted(name) => format!("-{}", name.name),
            WatchNews::Away(error) => format!("away: {error}"),
            WatchNews::Back => "back".to_owned(),
            WatchNews::Ended(error) => format!("ended: {error}"),
        });
    }
    told
}

fn quiet(watch: &mut Watch) -> bool {
    matches!(watch.next(Duration::from_millis(100)), WatchItem::Quiet)
}

#[test]
fn a_watch_lists_and_goes_on_from_there() {
    let hub = FakeHub::new(vec![
        first_list(),
        ServerReply::Silent(vec![
            event("ADDED", &run("b", "2", 11)),
            changed(12),
            event("DELETED", &run("b", "2", 13)),
        ]),
    ]);
    let mut watch = hub.watch(&[all()]);
    assert_eq!(told(&mut watch, 4), ["=a@5", "b@11", "a@12", "-b"]);
    let path = "/apis/placement.kubernetes-fleet.io/v1beta1/clusterstagedupdateruns";
    assert_eq!(hub.server.asked(), format!("{path}?limit=500"));
    assert_eq!(
        hub.server.asked(),
        format!("{path}?watch=true&allowWatchBookmarks=true&timeoutSeconds=200&resourceVersion=10")
    );
}

#[test]
fn one_object_and_labels_are_selected_by_the_server() {
    let named = HubQuery::named(Kind::StagedUpdateRun, "team-a", "x");
    let label = HubQuery::labelled(Kind::ResourceBinding, "team-a", "a/b", "c");
    let by_name = "stagedupdateruns?fieldSelector=metadata.name%3Dx";
    for (query, wanted, limit) in [
        (named, by_name, 500),
        (label, "resourcebindings?labelSelector=a%2Fb%3Dc", 5000),
    ] {
        let hub = FakeHub::new(vec![list_of(query.kind.name(), 10, "")]);
        let mut watch = hub.watch(&[query]);
        assert_eq!(told(&mut watch, 1), ["="]);
        let base = "/apis/placement.kubernetes-fleet.io/v1beta1/namespaces/team-a";
        assert_eq!(hub.server.asked(), format!("{base}/{wanted}&limit={limit}"));
        let watch = format!("{base}/{wanted}&watch=true");
        assert!(hub.server.asked().starts_with(&watch));
    }
}

/// Whatever ends a connection, the next one begins behind what was told.
#[test]
fn a_connection_that_ends_is_resumed() {
    for end in [
        ServerReply::Lines(vec![changed(12), bookmark(20)]),
        ServerReply::Silent(vec![changed(12), bookmark(20)]),
        ServerReply::Cut(vec![changed(12), bookmark(20), changed(21)]),
    ] {
        let hub = FakeHub::new(vec![
            first_list(),
            end,
            ServerReply::Silent(vec![
                changed(21),
                // Sent again after the resumption: no news.
                changed(21),
                changed(22),
            ]),
        ]);
        let mut watch = hub.watch(&[all()]);
        // What arrives before a cut is chance, and a connection that was kept may end by itself.
        let gap = |told: &String| told.starts_with("away: ") || told == "back";
        let news = std::iter::from_fn(|| told(&mut watch, 1).pop());
        let news: Vec<_> = news.filter(|told| !gap(told)).take(4).collect();
        assert_eq!(news, ["=a@5", "a@12", "a@21", "a@22"]);
        hub.server.asked();
        hub.server.asked();
        assert!(hub.server.asked().ends_with("&resourceVersion=20"));
        assert!(quiet(&mut watch));
    }
}

/// 410, as an event or as the answer: list again, and tell the differences alone.
#[test]
fn what_was_missed_is_told_once() {
    for expired in [
        ServerReply::Lines(vec![changed(11), gone()]),
        answer(410, r#"{"kind":"Status","message":"too old"}"#),
        answer(400, r#"{"kind":"Status","message":"invalid"}"#),
    ] {
        let again = [run("a", "1", 11), run("c", "9", 28), run("d", "4", 29)];
        let hub = FakeHub::new(vec![
            list(10, &[run("a", "1", 5), run("b", "2", 6), run("c", "3", 7)]),
            expired.clone(),
            list(30, &again),
            ServerReply::Silent(vec![event("MODIFIED", &run("d", "4", 31))]),
        ]);
        let mut watch = hub.watch(&[all()]);
        let mut news = told(&mut watch, 7);
        assert_eq!(news.remove(0), "=a@5,b@6,c@7");
        // Before or after the break: once.
        let at = news.iter().position(|line| line == "a@11").unwrap();
        news.remove(at);
        assert_eq!(news, ["-b", "-c", "c@28", "d@29", "d@31"]);
        assert!(quiet(&mut watch));
    }
}

#[test]
fn a_hub_that_asks_for_patience_gets_it() {
    let busy = |code| ServerReply::Whole(code, "Retry-After: 0\r\n", "{}".to_owned());
    let hub = FakeHub::new(vec![
        busy(503),
        first_list(),
        busy(429),
        ServerReply::Silent(vec![changed(11)]),
    ]);
    let mut watch = hub.watch(&[all()]);
    assert_eq!(told(&mut watch, 2), ["=a@5", "a@11"]);
}

#[test]
fn a_hub_that_is_away_is_told_and_waited_for() {
    let hub = FakeHub::new(vec![
        first_list(),
        answer(500, ""),
        answer(500, ""),
        // What watches do not tell, a list does.
        list(10, &[run("a", "1", 8)]),
        ServerReply::Silent(vec![changed(11)]),
    ]);
    let mut watch = hub.watch(&[all()]);
    let away = "away: the hub answered 500: Internal Server Error";
    assert_eq!(told(&mut watch, 5), ["=a@5", away, "back", "a@8", "a@11"]);

    let broken = vec![answer(500, ""); 100];
    let first = [first_list()];
    let hub = FakeHub::new(first.into_iter().chain(broken).collect());
    let give_up = Duration::from_millis(400);
    let mut watch = hub.watch_at(WatchPace { give_up, ..PACE }, &[all()]);
    let ended = "ended: the hub answered 500: Internal Server Error";
    assert_eq!(told(&mut watch, 3), ["=a@5", away, ended]);
    assert!(quiet(&mut watch));
}

#[test]
fn what_stays_refused_ends_a_watch() {
    let refused = |code| answer(code, r#"{"kind":"Status","message":"no"}"#);
    for (code, words) in [
        (401, "the hub rejected the credentials: no"),
        (403, "forbidden: no"),
        (404, "the hub does not serve the requested resource: no"),
    ] {
        let hub = FakeHub::new(vec![refused(code)]);
        let mut watch = hub.watch(&[all()]);
        assert_eq!(told(&mut watch, 1), [format!("ended: {words}")]);
        let hub = FakeHub::new(vec![list(10, &[]), refused(code)]);
        let mut watch = hub.watch(&[all()]);
        let ended = format!("ended: {words}");
        assert_eq!(told(&mut watch, 2), ["=", ended.as_str()]);
    }
}

/// A hub that restarts while one more query is asked has answered others: it is waited for.
#[test]
fn a_query_that_comes_later_is_patient() {
    let busy = ServerReply::Whole(503, "Retry-After: 0\r\n", "{}".to_owned());
    let replies = [first_list(), ServerReply::Silent(vec![changed(11)])].into_iter();
    let again = [list(20, &[run("a", "1", 15)]), ServerReply::Silent(vec![])];
    let replies = replies.chain(vec![busy; 12]).chain(again);
    let hub = FakeHub::new(replies.collect());
    let mut watch = hub.watch(&[all()]);
    assert_eq!(told(&mut watch, 2), ["=a@5", "a@11"]);
    let _inside = hub.runtime.enter();
    watch.add(HubQuery::latest(Kind::ClusterStagedUpdateRun, ""));
    let away = "away: the hub answered 503: {}";
    assert_eq!(told(&mut watch, 3), [away, "back", "=a@15"]);
}

/// A web page, an answer of another kind, and a stream that ends at once are no watch. What a list
/// tells is told.
#[test]
fn what_is_no_watch_is_made_up_for_by_lists() {
    let page = |body| answer(200, body);
    for bad in [
        page("<html><title>Log in</title></html>\n"),
        page(r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no"}"#),
        page(""),
        ServerReply::Lines(vec![
            event("ADDED", &run("b", "2", 11)).replace("Cluster", ""),
        ]),
        ServerReply::Lines(Vec::new()),
    ] {
        let hub = FakeHub::new(vec![
            first_list(),
            bad.clone(),
            list(20, &[run("a", "1", 15)]),
            bad.clone(),
            bad.clone(),
            list(30, &[run("a", "1", 25)]),
        ]);
        let mut watch = hub.watch(&[all()]);
        // The second bad answer comes instead of a list.
        let news = told(&mut watch, 2);
        assert_eq!(news, ["=a@5", "a@15"]);
    }
}

/// However long a hub asks for patience: no pause grows beyond all bounds.
#[test]
fn a_hub_that_is_busy_for_ever_ends_nothing() {
    let busy = answer(429, "{}");
    let mut replies = vec![first_list()];
    replies.extend(vec![busy; 2]);
    for _ in 0..80 {
        // Each time one more pause, and none of them brings anything.
        replies.push(ServerReply::Lines(vec![gone()]));
        replies.push(first_list());
    }
    replies.push(ServerReply::Silent(vec![changed(11)]));
    let hub = FakeHub::new(replies);
    let mut watch = hub.watch(&[all()]);
    let mut news = told(&mut watch, 2);
    if news[1].starts_with("away") {
        news = told(&mut watch, 2);
    }
    assert_eq!(news.last().unwrap(), "a@11");
}

#[test]
fn a_mirror_does_not_wait_for_ever() {
    let hub = FakeHub::new(vec![ServerReply::Silent(Vec::new())]);
    let mut mirror = Mirror::new(hub.watch(&[]));
    mirror.end_at(Some(TimeLimit::after(Duration::from_millis(50))));
    let answers = mirror.answer(&[all()]);
    assert!(mirror.is_late());
    assert!(matches!(answers[0].outcome, Outcome::Failed(_)));
}

#[test]
fn several_queries_are_one_stream() {
    let other = HubQuery::labelled(Kind::ClusterStagedUpdateRun, "", "a", "b");
    let hub = FakeHub::new(vec![list(10, &[]), list(10, &[])]);
    let mut watch = hub.watch(&[all(), other.clone(), all()]);
    let mut queries = Vec::new();
    for _ in 0..2 {
        let WatchItem::Event(query, _) = watch.next(test_hub::waiting::HANGS) else {
            panic!("too few events");
        };
        queries.push(query);
    }
    queries.sort();
    let mut wanted = vec![all(), other];
    wanted.sort();
    assert_eq!(queries, wanted);
}

#[test]
fn a_mirror_answers_with_what_is_true_now() {
    let hub = FakeHub::new(vec![
        first_list(),
        ServerReply::Silent(vec![
            event("ADDED", &run("b", "2", 11)),
            event("DELETED", &run("a", "1", 12)),
        ]),
    ]);
    let mut mirror = Mirror::new(hub.watch(&[]));
    let first = mirror.answer(&[all()]);
    assert_eq!(first[0].outcome, Outcome::Listed);
    assert_eq!(first[0].objects.len(), 1);
    let mut names = Vec::new();
    for _ in 0..10 {
        let answer = mirror.answer(&[all()]);
        let objects = answer[0].objects.iter();
        names = objects.map(|it| it.body.meta().name.clone()).collect();
        if names == ["b"] {
            break;
        }
        assert_eq!(mirror.wait(test_hub::waiting::HANGS), MirrorUpdate::Changed);
    }
    assert_eq!(names, ["b"]);
    mirror.keep(|_| false);
    assert_eq!(mirror.wait(Duration::from_millis(50)), MirrorUpdate::Quiet);
}

#[test]
fn a_mirror_knows_what_it_cannot_know() {
    let refused = |code| answer(code, "{}");
    let hub = FakeHub::new(vec![refused(403)]);
    let mut mirror = Mirror::new(hub.watch(&[]));
    let answers = mirror.answer(&[all()]);
    assert!(matches!(answers[0].outcome, Outcome::Denied(_)));
    assert!(mirror.lost().is_none());

    // Followed no longer: what was read is not true any more.
    let hub = FakeHub::new(vec![first_list(), refused(401)]);
    let mut mirror = Mirror::new(hub.watch(&[]));
    assert_eq!(mirror.answer(&[all()])[0].objects.len(), 1);
    assert_eq!(mirror.wait(test_hub::waiting::HANGS), MirrorUpdate::Changed);
    assert!(mirror.answer(&[all()])[0].objects.is_empty());
    assert!(mirror.lost().is_some());
}
