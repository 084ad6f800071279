//! gRPC service of zoekt over HTTP/2: queries, options, errors, limits of connections.

#[allow(clippy::all, dead_code, unreachable_pub)]
#[path = "../../src/zoekt/grpc/messages.rs"]
mod messages;

use crate::connections::patient;
use crate::shards;
use crate::site::{AsBackend, Site, eventually};
use crate::slow_readers::large;
use bytes::Bytes;
use frontend::Serving;
use messages::list_options::RepoListField;
use messages::q::Query;
use messages::r#type::Kind;
use messages::*;
use prost::Message;
use roaring::RoaringBitmap;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use testkit::backend::{Document, Fake, Fault};
use tokio::runtime::Runtime;
use ureq::http::{HeaderMap, Request, Response};
use web::ConnectionLimits;

const SHORT: Duration = Duration::from_millis(300);

fn site() -> Site {
    let documents = vec![
        Document::new("zoo_1.0", "src/a b.c", &["", "int needle = needle;", "x"]),
        Document::new("zoo_1.0", "src/b.c", &["needle", "needle", "(needle)"]),
        Document::new("yak", "needle.py", &["a needle"]),
    ];
    Site::new(vec![Fake::new("one", vec![(1, documents)]).backend()])
}

struct Client {
    runtime: Runtime,
    send: h2::client::SendRequest<Bytes>,
    authority: String,
}

type Answered<Out> = Result<Vec<Out>, (u32, String)>;

impl Client {
    fn new(site: &Site) -> Client {
        let runtime = Runtime::new().unwrap();
        let stream = site.connect();
        let authority = stream.peer_addr().unwrap().to_string();
        stream.set_nonblocking(true).unwrap();
        let send = runtime.block_on(async {
            let stream = tokio::net::TcpStream::from_std(stream).unwrap();
            let (send, connection) = h2::client::handshake(stream).await.unwrap();
            tokio::spawn(connection);
            send
        });
        Client {
            runtime,
            send,
            authority,
        }
    }

    fn request(&self, path: &str) -> ureq::http::request::Builder {
        Request::post(format!("http://{}{path}", self.authority))
    }

    fn send(
        &mut self,
        request: Request<()>,
        body: Option<Vec<u8>>,
    ) -> (Response<()>, Vec<u8>, HeaderMap) {
        self.runtime.block_on(async {
            let mut send = self.send.clone().ready().await.unwrap();
            let (answer, mut stream) = send.send_request(request, body.is_none()).unwrap();
            if let Some(body) = body {
                stream.send_data(body.into(), true).unwrap();
            }
            let (head, mut body) = answer.await.unwrap().into_parts();
            let mut all = Vec::new();
            while let Some(data) = body.data().await {
                let data = data.unwrap();
                body.flow_control().release_capacity(data.len()).unwrap();
                all.extend_from_slice(&data);
            }
            let trailers = body.trailers().await.unwrap().unwrap_or_default();
            (Response::from_parts(head, ()), all, trailers)
        })
    }

    fn call<Out: Message + Default>(
        &mut self,
        method: &str,
        message: &impl Message,
    ) -> Answered<Out> {
        self.call_with(method, &framed(0, &message.encode_to_vec()), &[])
    }

    fn call_with<Out: Message + Default>(
        &mut self,
        method: &str,
        body: &[u8],
        headers: &[(&str, &str)],
    ) -> Answered<Out> {
        let path = format!("/zoekt.webserver.v1.WebserverService/{method}");
        let mut request = self.request(&path);
        for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")] {
            request = request.header(name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, body, trailers) = self.send(request.body(()).unwrap(), Some(body.to_vec()));
        assert_eq!(head.status(), 200);
        assert_eq!(head.headers()["content-type"], "application/grpc");
        let status = |name| trailers.get(name).or(head.headers().get(name));
        let code = status("grpc-status").unwrap().to_str().unwrap();
        match code.parse().unwrap() {
            0 => Ok(messages(&body)),
            code => {
                let message = status("grpc-message").map_or("", |it| it.to_str().unwrap());
                Err((code, message.replace("%20", " ")))
            }
        }
    }
}

fn framed(flag: u8, message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u32).to_be_bytes();
    [&[flag], &length[..], message].concat()
}

fn messages<Out: Message + Default>(mut body: &[u8]) -> Vec<Out> {
    let mut all = Vec::new();
    while let Some((head, rest)) = body.split_first_chunk::<5>() {
        let length = u32::from_be_bytes(*head.last_chunk().unwrap()) as usize;
        all.push(Out::decode(&rest[..length]).unwrap());
        body = &rest[length..];
    }
    all
}

fn q(query: Query) -> Q {
    Q { query: Some(query) }
}

fn text(pattern: &str) -> Substring {
    Substring {
        pattern: pattern.into(),
        content: true,
        ..Substring::default()
    }
}

fn needle() -> Q {
    q(Query::Substring(text("needle")))
}

fn all(children: Vec<Q>) -> Q {
    q(Query::And(And { children }))
}

fn repositories(names: &[&str]) -> Q {
    let set = names.iter().map(|name| ((*name).to_owned(), true));
    q(Query::RepoSet(RepoSet { set: set.collect() }))
}

fn of_type(child: Q, kind: Kind) -> Q {
    q(Query::Type(Box::new(Type {
        child: Some(Box::new(child)),
        r#type: kind.into(),
    })))
}

fn head() -> Q {
    q(Query::Branch(Branch {
        pattern: "HEAD".into(),
        exact: true,
    }))
}

fn bitmap(ids: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let ids: RoaringBitmap = ids.iter().copied().collect();
    ids.serialize_into(&mut bytes).unwrap();
    bytes
}

fn request(query: Q) -> SearchRequest {
    let opts = SearchOptions {
        chunk_matches: true,
        ..SearchOptions::default()
    };
    SearchRequest {
        query: Some(query),
        opts: Some(opts),
    }
}

fn search(client: &mut Client, query: Q) -> SearchResponse {
    let answer = client.call("Search", &request(query));
    answer.unwrap().remove(0)
}

fn paths(client: &mut Client, query: Q) -> Vec<String> {
    let files = search(client, query).files.into_iter();
    let path = |file: FileMatch| String::from_utf8(file.file_name).unwrap();
    let mut paths: Vec<_> = files.map(path).collect();
    paths.sort();
    paths
}

#[test]
fn what_sourcebot_sends_is_answered_with_chunks() {
    let site = site();
    let mut client = Client::new(&site);
    let query = all(vec![
        needle(),
        head(),
        repositories(&["yak", "zoo_1.0", "elsewhere"]),
    ]);
    let opts = SearchOptions {
        chunk_matches: true,
        max_match_display_count: 100,
        total_max_match_count: 101,
        num_context_lines: 5,
        shard_max_match_count: -1,
        max_wall_time: Some(prost_types::Duration::default()),
        ..SearchOptions::default()
    };
    let request = SearchRequest {
        query: Some(query),
        opts: Some(opts),
    };
    let wrapped = StreamSearchRequest {
        request: Some(request.clone()),
    };
    let streamed = client.call::<StreamSearchResponse>("StreamSearch", &wrapped);
    let chunk = streamed.unwrap().remove(0).response_chunk.unwrap();
    let mut answer = client
        .call::<SearchResponse>("Search", &request)
        .unwrap()
        .remove(0);
    let mut stats = chunk.stats.unwrap();
    stats.duration = answer.stats.unwrap().duration;
    assert_eq!(
        (answer.stats.unwrap(), &answer.files),
        (stats, &chunk.files)
    );
    assert_eq!((stats.match_count, stats.file_count), (5, 3));
    assert!(chunk.progress.unwrap().max_pending_priority < 0.0);
    answer.files.retain(|file| file.file_name == b"src/a b.c");
    let file = &answer.files[0];
    assert_eq!((&file.repository[..], &file.language[..]), ("zoo_1.0", "C"));
    let [found] = &file.chunk_matches[..] else {
        panic!("{file:?}")
    };
    assert_eq!(found.content, b"\nint needle = needle;\nx\n");
    let starts = found.ranges.iter().map(|range| range.start.unwrap());
    let starts: Vec<_> = starts
        .map(|it| (it.byte_offset, it.line_number, it.column))
        .collect();
    assert_eq!(starts, [(5, 2, 5)]);
}

#[test]
fn repositories_are_listed_and_found_by_their_ids() {
    let site = site();
    let mut client = Client::new(&site);
    let list = |client: &mut Client, query, field: RepoListField| {
        let opts = Some(ListOptions {
            field: field.into(),
        });
        let request = ListRequest { query, opts };
        client
            .call::<ListResponse>("List", &request)
            .unwrap()
            .remove(0)
    };
    let whole = list(&mut client, None, RepoListField::UnknownUnspecified);
    let entries = whole.repos.iter().map(|it| it.repository.as_ref().unwrap());
    let entries: Vec<_> = entries.map(|it| (it.name.clone(), it.id)).collect();
    let [(yak, yak_id), (zoo, _)] = &entries[..] else {
        panic!("{entries:?}")
    };
    assert_eq!((&yak[..], &zoo[..]), ("yak", "zoo_1.0"));
    let stats = whole.stats.unwrap();
    assert_eq!((stats.repos, stats.documents), (2, 3));
    let found = list(
        &mut client,
        Some(q(Query::Substring(text("int ")))),
        RepoListField::ReposMap,
    );
    assert_eq!((found.repos.len(), found.repos_map.len()), (0, 1));
    assert!(found.repos_map.contains_key(&entries[1].1));
    let repos = bitmap(&[*yak_id, 7]);
    let ids = q(Query::RepoIds(RepoIds {
        repos: repos.clone(),
    }));
    assert_eq!(paths(&mut client, all(vec![needle(), ids])), ["needle.py"]);
    let branch = |branch: &str| BranchRepos {
        branch: branch.into(),
        repos: repos.clone(),
    };
    let list = vec![branch("HEAD")];
    let branches = q(Query::BranchesRepos(BranchesRepos { list }));
    assert_eq!(
        paths(&mut client, all(vec![needle(), branches])),
        ["needle.py"]
    );
}

#[test]
fn large_sets_of_repositories_restrict_the_search() {
    let packages = (0..100).map(|number| Document::new(&format!("p{number}"), "a.c", &["needle"]));
    let fake = Fake::new("one", vec![(1, packages.collect())]);
    fake.names_packages.store(true, SeqCst);
    let site = Site::with(vec![fake.backend()], |config| config.has_scopes = true);
    let mut client = Client::new(&site);
    for count in [33, 80, 100] {
        let names: Vec<_> = (0..count).map(|number| format!("p{number}")).collect();
        let names: Vec<_> = names.iter().map(|name| &name[..]).collect();
        let mut request = request(all(vec![needle(), repositories(&names)]));
        request.opts.as_mut().unwrap().estimate_doc_count = true;
        let answer = client.call::<SearchResponse>("Search", &request).unwrap();
        let stats = answer[0].stats.unwrap();
        assert_eq!(stats.shard_files_considered, count);
    }
    let found = all(vec![of_type(needle(), Kind::Repo), needle()]);
    let found = search(&mut client, found);
    assert_eq!(found.files.len(), 100);
}

#[test]
fn a_search_ends_within_the_time_of_its_call() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let mut client = Client::new(&site);
    let query = q(Query::Substring(text("arse")));
    let body = framed(0, &request(query).encode_to_vec());
    let answer = client.call_with::<SearchResponse>("Search", &body, &[("grpc-timeout", "400m")]);
    match answer {
        Ok(answers) => assert_eq!(answers[0].stats.unwrap().shards_skipped, 2, "{answers:?}"),
        Err((code, message)) => assert_eq!(code, 4, "{message}"),
    }
    fake.open_gate();
}

#[test]
fn faults_have_the_codes_of_grpc() {
    let site = site();
    let mut client = Client::new(&site);
    let mut refused = |query: Q| {
        client
            .call::<SearchResponse>("Search", &request(query))
            .unwrap_err()
    };
    let regexp = |regexp: &str| {
        let regexp = regexp.to_owned();
        q(Query::Regexp(Regexp {
            regexp,
            ..Regexp::default()
        }))
    };
    let (code, message) = refused(regexp("a("));
    assert_eq!(code, 3);
    assert!(message.contains("unclosed group"), "{message}");
    let (code, message) = refused(q(Query::Language(Language {
        language: "pyton".into(),
    })));
    assert!(code == 3 && message.contains("did you mean"), "{message}");
    assert_eq!(refused(Q::default()), (3, "missing query".to_owned()));
    assert_eq!(refused(all(vec![Q::default()])).0, 3);
    let repos = b"no bitmap".to_vec();
    assert_eq!(refused(q(Query::RepoIds(RepoIds { repos }))).0, 3);
    assert_eq!(refused(all(vec![regexp("x"); 65])).0, 3);
    assert_eq!(refused(all(vec![q(Query::Const(true)); 10_001])).0, 3);
    assert_eq!(refused(regexp(&"x".repeat(20_000))).0, 3);
    let deep = (0..60).fold(needle(), |inner, _| all(vec![inner]));
    assert!([3, 13].contains(&refused(deep).0));
    let only_public = vec![raw_config::Flag::OnlyPublic.into()];
    let (code, message) = refused(q(Query::RawConfig(RawConfig { flags: only_public })));
    assert!(
        code == 3 && message.contains("no file can match"),
        "{message}"
    );
    let mut code = |method: &str, body: &[u8], headers: &[(&str, &str)]| {
        let answer = client.call_with::<SearchResponse>(method, body, headers);
        answer.map_or_else(|(code, _)| code, |_| 0)
    };
    let good = framed(0, &request(needle()).encode_to_vec());
    assert_eq!(code("Search", &good, &[("grpc-timeout", "20S")]), 0);
    assert_eq!(code("Find", &good, &[]), 12);
    assert_eq!(code("Search", &good, &[("grpc-encoding", "gzip")]), 12);
    assert_ne!(code("Search", &framed(1, b"x"), &[]), 0);
    assert_ne!(code("Search", &framed(0, b"\xff\xff\xff"), &[]), 0);
    assert_ne!(code("Search", &good[..good.len() - 1], &[]), 0);
    assert_ne!(code("Search", b"", &[]), 0);
    assert_eq!(code("Search", &framed(0, &vec![0; 5 << 20]), &[]), 8);
    let announced = [&[0, 0xff, 0xff, 0xff, 0xff], &b"x"[..]].concat();
    assert_ne!(code("Search", &announced, &[]), 0);
}

#[test]
fn any_page_is_served_over_http_2() {
    let site = site();
    let mut client = Client::new(&site);
    let get = |client: &Client, path| client.request(path).method("GET").body(()).unwrap();
    for path in ["/healthz", "/search?q=needle", "/api/v2/search?q=needle"] {
        let request = get(&client, path);
        let (head, body, _) = client.send(request, None);
        assert!(head.status() == 200 && !body.is_empty(), "{path}: {head:?}");
    }
    site.frontend.drain(Serving::Draining);
    let request = get(&client, "/healthz");
    let ended = client.runtime.block_on(async {
        let Ok(mut send) = client.send.clone().ready().await else {
            return true;
        };
        let answer = send.send_request(request, true).map(|(answer, _)| answer);
        let _ = match answer {
            Ok(answer) => answer.await.map(drop),
            Err(error) => Err(error),
        };
        std::future::poll_fn(|context| send.poll_ready(context))
            .await
            .is_err()
            || client.send.clone().ready().await.is_err()
    });
    let Site {
        runtime, served, ..
    } = site;
    let limit = crate::site::PATIENCE;
    let all_ended = runtime.block_on(async { tokio::time::timeout(limit, served).await });
    assert!(all_ended.is_ok() || ended);
}

#[test]
fn a_stream_that_is_not_read_ends_its_connection() {
    let limits = ConnectionLimits {
        unread_max: SHORT,
        ..patient()
    };
    let site = Site::with_limits(vec![Fake::new("one", large()).backend()], limits);
    let clients: Vec<_> = (0..2).map(|_| Client::new(&site)).collect();
    let mut kept = Vec::new();
    for client in &clients {
        for _ in 0..32 {
            let path = "/api/v2/export?q=arse&context=0&format=text";
            let request = client.request(path).method("GET").body(()).unwrap();
            let answer = client.runtime.block_on(async {
                let mut send = client.send.clone().ready().await.ok()?;
                send.send_request(request, true).ok()?.0.await.ok()
            });
            kept.extend(answer);
        }
    }
    assert!(!kept.is_empty());
    eventually("room for another export", || {
        site.get("/api/v2/export?q=nowhere").status == 200
    });
}

#[test]
fn a_flood_of_resets_ends_the_connection() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let client = Client::new(&site);
    let refused = client.runtime.block_on(async {
        for _ in 0..100_000 {
            let Ok(mut send) = client.send.clone().ready().await else {
                return true;
            };
            let request = client
                .request("/api/v2/search?q=arse")
                .method("GET")
                .body(())
                .unwrap();
            let Ok((_, mut stream)) = send.send_request(request, false) else {
                return true;
            };
            stream.send_reset(h2::Reason::CANCEL);
        }
        false
    });
    assert!(refused);
    assert_eq!(site.get("/healthz").status, 200);
}
