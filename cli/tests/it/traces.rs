//! Traces of a query. A failing collector is not noticed.

use crate::home::{Home, Server};
use crate::http::{get, get_with};
use crate::proxy::{NextCut, Proxy};
use crate::{WAIT_MAX, poll};
use serde_json::{Value, json};
use std::io::{self, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use testkit::net::{self, HttpRequest};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

/// No trace shows it.
const PRIVATE: &str = "hunter2secret";

/// Searches until one is slow: on a busy machine few are.
const SEARCHES_MAX: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Takes,
    Hangs,
    Babbles,
    /// Overload.
    Refuses,
}

struct Collector {
    address: String,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl Collector {
    fn start(mode: Mode) -> Collector {
        let bodies = Arc::<Mutex<Vec<Value>>>::default();
        let received = Arc::clone(&bodies);
        let address = net::serve(move |stream| serve(stream, mode, &received)).to_string();
        Collector { address, bodies }
    }

    fn flag(&self) -> String {
        format!("--traces http://{}", self.address)
    }

    fn text(&self) -> String {
        json!(*self.bodies.lock().unwrap()).to_string()
    }

    fn spans(&self) -> Vec<Span> {
        let bodies = self.bodies.lock().unwrap();
        let resources = bodies.iter().flat_map(|body| each(&body["resourceSpans"]));
        let spans = resources.flat_map(|resource| {
            let about = attributes(&resource["resource"]);
            let scopes = each(&resource["scopeSpans"]);
            let spans = scopes.flat_map(|scope| each(&scope["spans"]));
            spans.map(move |span| Span {
                service: text(&about["service.name"]),
                name: text(&span["name"]),
                trace: text(&span["traceId"]),
                id: text(&span["spanId"]),
                parent: text(&span["parentSpanId"]),
                begun: text(&span["startTimeUnixNano"]).parse().unwrap(),
                ended: text(&span["endTimeUnixNano"]).parse().unwrap(),
                attributes: attributes(span),
                failed: span["status"]["code"] == 2,
            })
        });
        spans.collect()
    }

    /// Waits until each name has its count.
    fn trace(&self, trace: &str, expected: &[(&str, usize)]) -> Vec<Span> {
        let found = || {
            let spans = self.spans().into_iter();
            spans.filter(|span| span.trace == trace).collect::<Vec<_>>()
        };
        let has = |spans: &[Span], name: &str| spans.iter().filter(|it| it.name == name).count();
        let started = Instant::now();
        loop {
            let spans = found();
            if expected
                .iter()
                .all(|(name, count)| has(&spans, name) == *count)
            {
                return spans;
            }
            assert!(started.elapsed() < WAIT_MAX, "{expected:?}: {spans:#?}");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

fn serve(mut stream: TcpStream, mode: Mode, received: &Mutex<Vec<Value>>) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(asked) = HttpRequest::read(&mut reader)? {
        let body = serde_json::from_slice(&asked.body).unwrap();
        received.lock().unwrap().push(body);
        let answer = match mode {
            Mode::Takes => "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
            Mode::Refuses => "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n",
            Mode::Babbles => "\0\x01\x02 not HTTP\r\n\r\n",
            Mode::Hangs => continue,
        };
        stream.write_all(answer.as_bytes())?;
        if mode == Mode::Babbles {
            break;
        }
    }
    Ok(())
}

#[derive(Clone, Debug)]
struct Span {
    service: String,
    name: String,
    trace: String,
    id: String,
    parent: String,
    begun: u64,
    ended: u64,
    attributes: Value,
    failed: bool,
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn attributes(of: &Value) -> Value {
    let pairs = each(&of["attributes"]).map(|pair| {
        let value = pair["value"].as_object().unwrap().values().next().unwrap();
        (text(&pair["key"]), value.clone())
    });
    Value::Object(pairs.collect())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

/// Sets a sampled parent.
fn search(server: &Server, q: &str, trace: &str) -> Value {
    let path = format!("/api/v2/search?q={q}");
    let parent = format!("00-{trace}-{CALLER}-01");
    get_with(&server.address, &path, &[("traceparent", &parent)]).json()
}

fn index(home: &Home, name: &str) {
    home.write(
        &format!("{name}_1/a.c"),
        format!("char *password = \"{PRIVATE}\";\n"),
    );
    home.ok(&format!("index --index I{name} {name}_1"));
}

#[test]
fn a_query_is_one_trace_over_a_frontend_and_two_backends() {
    let home = Home::new();
    let collector = Collector::start(Mode::Takes);
    let backends = ["a", "b"].map(|name| {
        index(&home, name);
        home.start(&format!("backend --index I{name} {}", collector.flag()))
    });
    let mut frontend = home.start(&format!(
        "frontend --backend {} --backend {} --spool spool --slow-query 0 {}",
        backends[0].address,
        backends[1].address,
        collector.flag()
    ));
    let page = search(&frontend, PRIVATE, TRACE);
    assert_eq!(page["total"], 2, "{page}");
    let spans = collector.trace(
        TRACE,
        &[
            ("GET /api/v2/search", 1),
            ("parse", 1),
            ("search", 1),
            ("stream", 2),
            ("backend search", 2),
            ("queue", 2),
            ("plan", 2),
            ("candidates", 2),
            ("verify", 2),
            ("finalize", 1),
            ("render", 1),
        ],
    );
    let [request] = named(&spans, "GET /api/v2/search")[..] else {
        panic!("one request")
    };
    assert_eq!(request.parent, CALLER);
    assert_eq!(request.service, "trawl-frontend");
    assert_eq!(request.attributes["http.response.status_code"], "200");
    let [search_span] = named(&spans, "search")[..] else {
        panic!("one search")
    };
    assert_eq!(search_span.attributes["trawl.matches"], "2");
    assert_eq!(search_span.attributes["trawl.complete"], true);
    let hash = text(&search_span.attributes["trawl.query.hash"]);
    assert_eq!(hash.len(), 16, "{hash}");
    for (names, parent) in [
        (&["parse", "search", "render"][..], &request.id),
        (&["stream", "finalize", "admission"], &search_span.id),
    ] {
        for child in names.iter().flat_map(|name| named(&spans, name)) {
            assert_eq!(&child.parent, parent, "{child:?}");
        }
    }
    let streams = named(&spans, "stream");
    for (backend, stream) in backends.iter().map(|backend| {
        let address = &backend.address;
        let mut streams = streams.iter();
        let of_it = streams.find(|it| it.attributes["trawl.backend"] == **address);
        (backend, of_it.expect("a stream of each backend"))
    }) {
        assert_eq!(stream.attributes["trawl.stream.kind"], "first");
        assert_eq!(stream.attributes["trawl.stream.result"], "end");
        assert_eq!(stream.attributes["trawl.shards"], "1");
        assert_eq!(stream.attributes["trawl.matches"], "1");
        assert_ne!(stream.attributes["trawl.bytes"], "0");
        assert!(!stream.failed);
        let answers = named(&spans, "backend search");
        let answers: Vec<_> = answers.iter().filter(|it| it.parent == stream.id).collect();
        let [answer] = answers[..] else {
            panic!("{}: {spans:#?}", backend.address)
        };
        assert_eq!(answer.service, "trawl-backend");
        assert_eq!(answer.attributes["trawl.matches"], "1");
        for name in ["queue", "plan", "candidates", "verify"] {
            let parts = named(&spans, name);
            assert!(parts.iter().any(|part| part.parent == answer.id), "{name}");
        }
    }
    for span in &spans {
        assert!(span.begun <= span.ended, "{span:?}");
    }
    assert!(!collector.text().contains(PRIVATE));
    let log = poll("the line of the slow query", WAIT_MAX, || {
        let log = frontend.log();
        log.contains("slow query").then_some(log)
    });
    let line = log.lines().find(|line| line.contains("slow query"));
    assert!(line.unwrap().contains(TRACE), "{log}");
    // Its trace links to the shared answer.
    let other = "1af7651916cd43dd8448eb211c80319c";
    search(&frontend, PRIVATE, other);
    let spans = collector.trace(other, &[("GET /api/v2/search", 1), ("search", 0)]);
    let shared = named(&spans, "GET /api/v2/search")[0];
    assert_eq!(shared.attributes["trawl.search.shared"], true);
    // Operators can enable query texts.
    frontend.process.signal("TERM");
    frontend.process.wait(WAIT_MAX);
    let frontend = home.start(&format!(
        "frontend --backend {} --spool full --log-queries full {}",
        backends[0].address,
        collector.flag()
    ));
    search(&frontend, PRIVATE, &TRACE.replace('0', "2"));
    poll("the text of the query", WAIT_MAX, || {
        collector.text().contains(PRIVATE).then_some(())
    });
}

/// Backends behind proxies, and their frontend.
struct Replicas {
    backends: [Server; 2],
    proxies: [Proxy; 2],
    next_cut: NextCut,
    frontend: Server,
    collector: Collector,
    _home: Home,
}

impl Replicas {
    fn start() -> Replicas {
        let home = Home::new();
        let collector = Collector::start(Mode::Takes);
        let line = |number| format!("wanted {number}\n");
        home.write("p_1/a.c", (0..3000).map(line).collect::<String>());
        home.ok("index --index I p_1");
        let backend = format!("backend --index I {}", collector.flag());
        let backends = [(); 2].map(|()| home.start(&backend));
        let next_cut = NextCut::default();
        let proxies = backends
            .each_ref()
            .map(|backend| Proxy::cutting(&backend.address, &next_cut));
        let frontend = home.start(&format!(
            "frontend --backend {} --backend {} --spool spool {}",
            proxies[0].address,
            proxies[1].address,
            collector.flag()
        ));
        Replicas {
            backends,
            proxies,
            next_cut,
            frontend,
            collector,
            _home: home,
        }
    }

    fn search(&self, number: usize) -> String {
        let trace = format!("{:032x}", 0x7ace_0000 + number);
        let page = search(&self.frontend, &format!("wanted+-path:no{number}"), &trace);
        assert_eq!(page["complete"], true, "{page}");
        assert_eq!(page["total"], 3000);
        trace
    }
}

#[test]
fn a_stream_that_goes_on_elsewhere_is_in_the_same_trace() {
    let replicas = Replicas::start();
    *replicas.next_cut.lock().unwrap() = Some(3);
    let trace = replicas.search(0);
    let spans = replicas.collector.trace(
        &trace,
        &[("search", 1), ("stream", 2), ("backend search", 2)],
    );
    let [first, second] = named(&spans, "stream")[..] else {
        panic!("{spans:#?}")
    };
    let (first, resumed) = if first.failed {
        (first, second)
    } else {
        (second, first)
    };
    assert_eq!(first.attributes["trawl.stream.kind"], "first");
    assert!(first.failed, "{first:?}");
    assert_eq!(resumed.attributes["trawl.stream.kind"], "resumed");
    assert_eq!(resumed.attributes["trawl.stream.result"], "end");
    let count = |span: &Span| -> u64 { text(&span.attributes["trawl.matches"]).parse().unwrap() };
    assert_eq!(count(first) + count(resumed), 3000);
    assert_eq!(first.parent, resumed.parent);
    for stream in [first, resumed] {
        let answers = named(&spans, "backend search");
        assert!(
            answers.iter().any(|it| it.parent == stream.id),
            "{spans:#?}"
        );
    }
}

#[test]
fn a_race_against_a_slow_backend_is_in_the_same_trace() {
    let replicas = Replicas::start();
    let hedged = (0..SEARCHES_MAX).find_map(|number| {
        // The preferred backend is stopped, and probably asked again.
        let trace = replicas.search(2 * number);
        let spans = replicas.collector.trace(&trace, &[("stream", 1)]);
        let preferred = &named(&spans, "stream")[0].attributes["trawl.backend"];
        let mut proxies = replicas.proxies.iter();
        let at = proxies.position(|it| *preferred == *it.address);
        let slow = &replicas.backends[at.unwrap()].process;
        slow.signal("STOP");
        let trace = replicas.search(2 * number + 1);
        slow.signal("CONT");
        let spans = replicas.collector.trace(&trace, &[("search", 1)]);
        let is_hedged = |it: &Span| it.attributes["trawl.stream.kind"] == "hedged";
        let hedged = spans.iter().find(|it| is_hedged(it))?.clone();
        Some((hedged, spans))
    });
    let (hedged, spans) = hedged.expect("one of the searches is slow");
    assert_eq!(hedged.attributes["trawl.stream.result"], "end");
    let streams = named(&spans, "stream");
    let slow = streams
        .iter()
        .find(|it| it.attributes["trawl.stream.kind"] == "first");
    let slow = slow.expect("the stream of the slow backend");
    assert_eq!(slow.attributes["trawl.stream.result"], "slower");
    assert_eq!(slow.parent, hedged.parent);
}

#[test]
fn a_collector_that_fails_delays_and_changes_nothing() {
    let nowhere = TcpListener::bind("127.0.0.1:0").unwrap();
    let down = nowhere.local_addr().unwrap().to_string();
    drop(nowhere);
    for mode in [
        Some(Mode::Hangs),
        Some(Mode::Babbles),
        Some(Mode::Refuses),
        None,
    ] {
        let home = Home::new();
        index(&home, "a");
        let address = mode.map_or(down.clone(), |mode| Collector::start(mode).address);
        let mut server = home.start(&format!("serve --index Ia --traces http://{address}"));
        let begun = Instant::now();
        for number in 0..50 {
            let page = search(&server, &format!("{PRIVATE}+-path:no{number}"), TRACE);
            assert_eq!(page["total"], 1, "{page}");
        }
        // A hanging collector takes 5 s.
        let elapsed = begun.elapsed();
        assert!(elapsed < Duration::from_secs(20), "{mode:?}: {elapsed:?}");
        poll("spans that are dropped", WAIT_MAX, || {
            let metrics = get(&server.address, "/metrics");
            let dropped = "trawl_traces_dropped_total{reason=\"collector\"} ";
            let mut lines = metrics.text().lines();
            lines.any(|line| line.starts_with(dropped)).then_some(())
        });
        let warning = "the collector of traces does not take spans";
        let log = server.log_with(warning);
        assert_eq!(log.matches(warning).count(), 1, "{log}");
        search(&server, "more", TRACE);
        let begun = Instant::now();
        server.process.signal("TERM");
        assert!(server.process.wait(WAIT_MAX).success());
        let elapsed = begun.elapsed();
        assert!(elapsed < Duration::from_secs(15), "{mode:?}: {elapsed:?}");
        server.check_no_panic();
    }
}

#[test]
fn what_waits_is_sent_at_the_end_and_with_a_share_of_0_nothing_is() {
    for (share, sends) in [("1", true), ("0", false)] {
        let home = Home::new();
        index(&home, "a");
        let collector = Collector::start(Mode::Takes);
        let flag = collector.flag();
        let mut server = home.start(&format!("serve --index Ia {flag} --traces-sample {share}"));
        search(&server, PRIVATE, TRACE);
        server.process.signal("TERM");
        assert!(server.process.wait(WAIT_MAX).success());
        let spans = collector.spans();
        let is_in_process = |span: &Span| span.service == "trawl" && span.trace == TRACE;
        assert!(spans.iter().all(is_in_process), "{spans:?}");
        assert_eq!(
            !named(&spans, "backend search").is_empty(),
            sends,
            "{spans:?}"
        );
        assert_eq!(spans.is_empty(), !sends);
    }
}

#[test]
fn only_routes_of_people_and_programs_are_traced_and_none_by_a_malformed_header() {
    let home = Home::new();
    index(&home, "a");
    let collector = Collector::start(Mode::Takes);
    let mut server = home.start(&format!("serve --index Ia {}", collector.flag()));
    for path in ["/healthz", "/readyz", "/metrics"] {
        get(&server.address, path);
    }
    let bad = format!("00-{TRACE}-{CALLER}-01-x");
    get_with(&server.address, "/help", &[("traceparent", &bad)]);
    server.process.signal("TERM");
    assert!(server.process.wait(WAIT_MAX).success());
    let spans = collector.spans();
    let [help] = &spans[..] else {
        panic!("{spans:#?}")
    };
    assert_eq!((&*help.name, &*help.parent), ("GET /help", ""));
    assert_ne!(help.trace, TRACE);
}

#[test]
fn a_wrong_address_or_share_is_an_error_at_the_start() {
    let home = Home::new();
    index(&home, "a");
    for (flags, says) in [
        (
            "--traces localhost:4318",
            "expected a URL, such as http://127.0.0.1:4318",
        ),
        (
            "--traces http://127.0.0.1:1 --traces-sample 2",
            "not a number from 0 to 1",
        ),
    ] {
        let run = home.run(&format!("serve --index Ia --listen 127.0.0.1:0 {flags}"));
        run.check(flags, 2, &[says]);
    }
}
