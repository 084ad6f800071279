//! Executions that are shared, cancelled, refused and evicted.

use crate::shards;
use crate::site::{AsBackend, Site, eventually};
use frontend::query::QueryInput;
use frontend::{Config, Coordinator, Query, Scope, SearchClient, SearchRequest};
use schema::message::{Expr, Pattern, Syntax};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;
use testkit::backend::{Fake, Fault};
use tokio::runtime::Builder;

fn request(text: &str) -> SearchRequest {
    let text = text.to_owned();
    let (syntax, ignore_case) = (Syntax::Literal, true);
    let pattern = Pattern {
        text,
        syntax,
        ignore_case,
        ..Pattern::default()
    };
    let query = Query::new(Expr::Pattern(pattern), 2).unwrap();
    SearchRequest::new(&Scope::everything(), query)
}

#[test]
fn identical_queries_share_an_execution() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let (frontend, runtime) = (&site.frontend, &site.runtime);
    let searches: Vec<_> = (0..50)
        .map(|_| runtime.block_on(frontend.search(request("arse"))).unwrap())
        .collect();
    fake.open_gate();
    let answers: Vec<_> = searches
        .iter()
        .map(|search| runtime.block_on(search.finished()).unwrap())
        .collect();
    assert!(
        answers
            .iter()
            .all(|answer| answer.is_complete() && answer.len() == answers[0].len())
    );
    site.search("arse");
    site.get("/search?q=arse&page=2&group=package");
    assert_eq!(fake.searches.load(SeqCst), 1);
    site.search("parse");
    assert_eq!(fake.searches.load(SeqCst), 2);
}

#[test]
fn new_clients_do_not_get_incomplete_answers() {
    let fake = Fake::with("one", shards(1, 2), Fault::Hash);
    let site = Site::new(vec![fake.backend()]);
    let page = site.search("arse");
    assert_eq!(page["complete"], json!(false));
    let by_id = site.get(&format!("/api/v2/search/{}", page["id"].as_str().unwrap()));
    assert_eq!(
        by_id.json()["complete"],
        json!(false),
        "its id still finds it"
    );
    site.search("arse");
    assert_eq!(fake.searches.load(SeqCst), 2);
}

#[test]
fn cancels_when_the_last_client_leaves() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let search = site
        .runtime
        .block_on(site.frontend.search(request("arse")))
        .unwrap();
    let second = site
        .runtime
        .block_on(site.frontend.search(request("arse")))
        .unwrap();
    eventually("a search", || fake.searches.load(SeqCst) == 1);
    drop(search);
    // The only client leaves during the search.
    let other = site
        .runtime
        .block_on(site.frontend.search(request("parse")))
        .unwrap();
    eventually("another search", || fake.searches.load(SeqCst) == 2);
    drop(other);
    eventually("its cancellation at the backend", || {
        fake.broken_off.load(SeqCst) == 1
    });
    assert!(!second.is_finished(), "a client still waits");
    let id = second.id().to_owned();
    drop(second);
    eventually("cancellation at the backend", || {
        fake.broken_off.load(SeqCst) == 2
    });
    fake.set(Fault::None);
    let page = site.get(&format!("/api/v2/search/{id}")).json();
    assert_eq!(page["complete"], json!(true));
}

fn narrow_site(fake: &Arc<Fake>) -> Site {
    Site::with(vec![fake.backend()], |config| {
        (config.running_max, config.queued_max) = (1, 1);
    })
}

#[test]
fn refuses_too_many_heavy_queries() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    fake.is_costly.store(true, SeqCst);
    let site = narrow_site(&fake);
    let search = |text| site.runtime.block_on(site.frontend.search(request(text)));
    let first = search("arse").unwrap();
    eventually("the first search", || fake.searches.load(SeqCst) == 1);
    // The first query that the backend refuses as light takes the place; the other one fails.
    let others = [search("parse").unwrap(), search("int").unwrap()];
    eventually("a search without a place", || {
        others.iter().any(|search| search.is_finished())
    });
    let (lost, kept): (Vec<_>, Vec<_>) = others.iter().partition(|search| search.is_finished());
    assert_eq!((lost.len(), kept.len()), (1, 1));
    assert!(site.runtime.block_on(lost[0].finished()).is_err());
    let refused = site.get("/api/v2/search?q=script");
    assert_eq!((refused.status, refused.header("retry-after")), (503, "2"));
    assert_eq!(site.get("/search?q=script").status, 503);
    fake.open_gate();
    for search in [&first, kept[0]] {
        assert!(
            site.runtime
                .block_on(search.finished())
                .unwrap()
                .is_complete()
        );
    }
    assert_eq!(site.search("script")["complete"], json!(true));
}

#[test]
fn one_client_cannot_hold_all_slots_or_the_whole_queue() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    fake.is_costly.store(true, SeqCst);
    let site = Site::with(vec![fake.backend()], |config| {
        (config.running_max, config.queued_max) = (2, 2);
    });
    let search = |client, text| {
        let request = SearchRequest {
            client: SearchClient::from(client),
            ..request(text)
        };
        let search = site.frontend.search(request);
        site.runtime.block_on(search).unwrap()
    };
    let finished = |search: &frontend::SearchHandle| site.runtime.block_on(search.finished());
    let mut greedy = Vec::new();
    for (refused, text) in ["arse", "parse", "int"].into_iter().enumerate() {
        greedy.push(search(1, text));
        // The others are refused as light queries, and wait.
        eventually("a slot or a refusal", || {
            fake.searches.load(SeqCst) == 1 && fake.refused.load(SeqCst) == refused
        });
    }
    let modest = search(2, "script");
    eventually("a slot for another client", || {
        fake.searches.load(SeqCst) == 2
    });
    let waiting = search(2, "alert");
    // One waiting search loses its place, by order of arrival.
    eventually("a place for another client", || {
        greedy[1..].iter().any(|search| search.is_finished())
    });
    let (lost, kept): (Vec<_>, Vec<_>) =
        greedy[1..].iter().partition(|search| search.is_finished());
    assert_eq!((lost.len(), kept.len()), (1, 1));
    assert!(finished(lost[0]).is_err(), "its place is taken");
    assert!(!waiting.is_finished());
    fake.open_gate();
    for search in [&greedy[0], kept[0], &modest, &waiting] {
        assert!(finished(search).unwrap().is_complete());
    }
}

#[test]
fn light_queries_do_not_wait() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = narrow_site(&fake);
    let search = |text| site.runtime.block_on(site.frontend.search(request(text)));
    let slow = search("arse").unwrap();
    eventually("a search", || fake.searches.load(SeqCst) == 1);
    fake.set(Fault::None);
    for text in ["parse", "int", "x", "e", "s"] {
        assert_eq!(site.search(text)["complete"], json!(true), "{text}");
    }
    assert!(!slow.is_finished());
    fake.open_gate();
}

#[test]
fn stops_a_query_at_its_timeout() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    // Long enough for the second client on a busy machine.
    let timeout = Duration::from_millis(500);
    let search = |text| {
        let request = SearchRequest {
            timeout: Some(timeout),
            ..request(text)
        };
        let search = site.frontend.search(request);
        site.runtime.block_on(search).unwrap()
    };
    let answer = search("arse");
    let answer = site.runtime.block_on(answer.finished()).unwrap();
    let reason = &answer.missing()[0].reason;
    assert_eq!(reason, "the query was not done within 500ms");
    // A longer timeout extends it for all.
    let short = search("parse");
    let long = site
        .runtime
        .block_on(site.frontend.search(request("parse")));
    // A later search has reached the same timeout.
    let later = search("int");
    site.runtime.block_on(later.finished()).unwrap();
    assert!(!short.is_finished());
    fake.open_gate();
    let answer = site.runtime.block_on(long.unwrap().finished()).unwrap();
    assert!(answer.is_complete());
}

#[test]
fn timeout_includes_the_queue() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    fake.is_costly.store(true, SeqCst);
    let site = narrow_site(&fake);
    let _first = site.runtime.block_on(site.frontend.search(request("arse")));
    eventually("the first search", || fake.searches.load(SeqCst) == 1);
    // Long enough to report a costly query.
    let request = SearchRequest {
        timeout: Some(Duration::from_secs(2)),
        ..request("x")
    };
    let second = site.runtime.block_on(site.frontend.search(request));
    let second = second.unwrap();
    let answer = site.runtime.block_on(second.finished()).unwrap();
    assert!(!answer.is_complete() && answer.is_empty());
    let reason = &answer.missing()[0].reason;
    assert_eq!(reason, "the query was not admitted within 2s");
    assert_eq!(fake.searches.load(SeqCst), 1);
    fake.open_gate();
}

#[test]
fn a_query_that_is_found_heavy_before_its_task_has_run_waits_for_a_slot() {
    let fake = Fake::new("one", shards(1, 2));
    fake.is_costly.store(true, SeqCst);
    let spool = tempfile::tempdir().unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let frontend = Coordinator::start(Config::new(spool.path()), vec![fake.backend()]).unwrap();
        // First it takes no heavy slot.
        let input = QueryInput {
            q: "arse",
            limit: Some("10"),
            total: Some("estimate"),
            ..QueryInput::default()
        };
        let query = Query::parse(&input).unwrap().query;
        let request = SearchRequest::new(&Scope::everything(), query);
        let search = frontend.search(request).await.unwrap();
        // This blocks the only thread for tasks.
        eventually("a refusal", || fake.refused.load(SeqCst) == 1);
        thread::sleep(Duration::from_millis(100));
        let answer = tokio::time::timeout(Duration::from_secs(20), search.finished()).await;
        assert!(answer.expect("it is admitted").unwrap().is_complete());
    });
}

#[test]
fn cancelled_query_in_the_queue_asks_no_backend() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    fake.is_costly.store(true, SeqCst);
    let site = Site::with(vec![fake.backend()], |config| config.running_max = 1);
    let search = |text| {
        site.runtime
            .block_on(site.frontend.search(request(text)))
            .unwrap()
    };
    let first = search("arse");
    eventually("a search", || fake.searches.load(SeqCst) == 1);
    let second = search("parse");
    second.withdraw();
    let answer = site.runtime.block_on(second.finished()).unwrap();
    assert!(!answer.is_complete() && answer.is_empty());
    assert_eq!(fake.searches.load(SeqCst), 1);
    fake.open_gate();
    assert!(
        site.runtime
            .block_on(first.finished())
            .unwrap()
            .is_complete()
    );
}

fn delete(site: &Site, id: &str) -> u16 {
    let path = format!("/api/v2/search/{id}");
    let deleted = site.send(ureq::http::Method::DELETE, &path, &[]);
    assert_eq!(deleted.body.is_empty(), deleted.status == 204);
    deleted.status
}

fn started(site: &Site) -> String {
    let page = site.get("/api/v2/search?q=arse&wait=false").json();
    page["id"].as_str().unwrap().to_owned()
}

#[test]
fn nobody_can_cancel_the_search_of_another_client() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let (mine, theirs) = (started(&site), started(&site));
    assert!(mine != theirs && mine.len() == 32, "{mine} {theirs}");
    eventually("a search", || fake.searches.load(SeqCst) == 1);
    let follower = {
        let path = format!("/api/v2/search/{mine}/events");
        site.lines(&path)
    };
    assert_eq!(delete(&site, &mine), 204);
    // On every route.
    let events: Vec<String> = follower.map(Result::unwrap).collect();
    let last = events
        .iter()
        .rfind(|line| line.starts_with("data"))
        .unwrap();
    assert!(last.contains("ended by its client"), "{last}");
    assert_eq!(site.get(&format!("/api/v2/search/{mine}")).status, 410);
    assert_eq!(delete(&site, &mine), 204, "it is no error to stop again");
    // Theirs continues, even without an open request.
    assert_eq!(fake.broken_off.load(SeqCst), 0);
    fake.open_gate();
    let page = site.get(&format!("/api/v2/search/{theirs}")).json();
    assert_eq!(
        (&page["complete"], &page["id"]),
        (&json!(true), &json!(theirs))
    );
    assert_eq!(fake.searches.load(SeqCst), 1);
}

#[test]
fn deleting_a_search_cancels_it_if_nobody_else_waits() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let id = started(&site);
    eventually("a search", || fake.searches.load(SeqCst) == 1);
    assert_eq!(delete(&site, &id), 204);
    eventually("the end of the search", || {
        fake.broken_off.load(SeqCst) == 1
    });
    let page = site.get(&format!("/api/v2/search/{id}")).json();
    assert_eq!(page["complete"], json!(false));
    let reason = page["missing"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("cancelled"), "{reason}");
    assert_eq!(
        delete(&site, &id),
        204,
        "stopping a finished search is no error"
    );
    assert_eq!(delete(&site, "0123456789abcdef0123456789abcdef"), 404);
    let shown = site.get(&format!("/search?q=arse&run={id}"));
    assert!(shown.text().contains("Stopped by you"));
    fake.open_gate();
    assert_eq!(site.search("arse")["complete"], json!(true));
}

#[test]
fn addresses_that_people_share_have_no_id() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let running = site.get("/search?q=arse").text();
    let id = running.split("/api/v2/search/").nth(1).unwrap();
    let id = &id[..32];
    let shared = running
        .lines()
        .filter(|line| !line.contains("data-search-href") && !line.contains("data-next-href"));
    assert!(shared.clone().any(|line| line.contains("refresh")));
    for line in shared {
        assert!(!line.contains(id), "{line}");
    }
    fake.open_gate();
    let page = site.get(&format!("/search?q=arse&run={id}")).text();
    assert!(!page.contains(id) && !page.contains("run="), "{page}");
    let first = site.search("arse");
    let next = first["next"].as_str().unwrap();
    let second = site.get(&format!("/api/v2/search?cursor={next}")).json();
    assert_ne!(first["id"], second["id"], "a cursor makes another client");
    let other = Site::new(vec![fake.backend()]);
    let there = other.get(&format!("/api/v2/search?cursor={next}")).json();
    assert_eq!(there["matches"], second["matches"]);
}

#[test]
fn reports_allowed_methods() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let check = |method: &str, path: &str, allow: &str| {
        let method = ureq::http::Method::from_bytes(method.as_bytes()).unwrap();
        let refused = site.send(method, path, &[]);
        assert_eq!(refused.status, 405, "{path}");
        assert_eq!(refused.header("allow"), allow, "{path}");
        assert_eq!(refused.header("content-type"), "application/problem+json");
    };
    check("DELETE", "/api/v2/search", "GET,HEAD,POST");
    check("POST", "/api/v2/search/0123456789abcdef", "GET,HEAD,DELETE");
    check("OPTIONS", "/api/v2/events", "GET,HEAD");
}

#[test]
fn evicts_old_answers() {
    let fake = Fake::new("one", shards(1, 1));
    let on_disk = |config: &mut frontend::Config| config.result_memory_bytes = 0;
    let room = {
        let site = Site::with(vec![fake.backend()], on_disk);
        site.search("arse");
        site.frontend.spool_bytes()
    };
    let site = Site::with(vec![fake.backend()], |config| {
        on_disk(config);
        config.spool_bytes_max = room * 2;
    });
    for _ in 0..3 {
        for q in ["arse", "arse%20", "ars", "rse"] {
            assert_eq!(site.search(q)["complete"], json!(true), "{q}");
        }
    }
    assert!(site.spooled() <= 2, "{} answers are held", site.spooled());
}

#[test]
fn spool_is_used_by_one_process() {
    let fake = Fake::new("one", shards(1, 1));
    let site = Site::new(vec![fake.backend()]);
    site.search("nowhere");
    site.search("arse");
    assert!(site.spooled() <= 2);
    let directory = site.spool.path().to_owned();
    let second = site.runtime.block_on(async {
        frontend::Coordinator::start(frontend::Config::new(&directory), vec![fake.backend()])
    });
    let error = second.err().expect("the spool is in use");
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .to_string()
            .contains("in use")
    );
}
