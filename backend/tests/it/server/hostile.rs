//! Invalid requests end only their own connection, and are counted.

use super::client::{Client, PATIENCE, Served, check_end};
use super::{large, small};
use metrics_exporter_prometheus::PrometheusBuilder;
use schema::frame::{Kind, encode};
use schema::message::{End, Hello, PROTOCOL, Progress};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::Builder;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost:28082\r\nUser-Agent: Mozilla/5.0\r\n\r\n";

/// Start of a TLS ClientHello: record version 3.1, with 508 bytes of version 3.3.
const CLIENT_HELLO: &[u8] =
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03abcdefghijklmnopqrstuvwxyz";

fn frame(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(kind, payload, &mut out).unwrap();
    out
}

fn claim(bytes: u32) -> Vec<u8> {
    [
        &bytes.to_le_bytes()[..],
        &[Kind::Search as u8, 0, 0, 0],
        &[0; 8],
    ]
    .concat()
}

/// Reproducible noise after the header of a frame of 64 bytes.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise: Vec<u8> = (0..bytes)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect();
    noise[..16].copy_from_slice(&claim(64));
    noise
}

/// Well-formed messages that only a backend sends.
fn replies() -> Vec<Vec<u8>> {
    let (mut hello, mut progress, mut end) = (Vec::new(), Vec::new(), Vec::new());
    let shards = Vec::new();
    let protocol = PROTOCOL;
    let updated = 0;
    Hello {
        protocol,
        shards,
        updated,
        has_repositories: false,
        indexed_repositories: 0,
        semantics: 1,
        has_views: true,
        resumes: true,
    }
    .encode(&mut hello)
    .unwrap();
    Progress::default().encode(&mut progress).unwrap();
    End::default().encode(&mut end).unwrap();
    let batch = frame(Kind::Batch, &[0; 64]);
    let manifest = frame(Kind::Manifest, &[]);
    vec![hello, progress, end, batch, manifest]
}

/// Names, bytes, and the connection's error.
fn garbage() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let whole = frame(Kind::Search, &[0; 64]);
    let changed = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let mut garbage = vec![
        ("a browser", GET.to_vec(), "too_long"),
        ("TLS", CLIENT_HELLO.to_vec(), "too_long"),
        ("noise", noise(4096), "checksum"),
        ("4 GiB", claim(u32::MAX - 7), "too_long"),
        ("longer than a request", claim(128 << 10), "too_long"),
        ("a length of no words", changed(0), "malformed"),
        ("an unknown type", frame_of_type(77), "unknown_kind"),
        ("a wrong checksum", changed(8), "checksum"),
        ("a flipped bit", changed(40), "checksum"),
        ("an empty SEARCH", frame(Kind::Search, &[]), "bad_request"),
        (
            "a FILE of ones",
            frame(Kind::File, &[0xff; 64]),
            "bad_request",
        ),
        (
            "half a frame, and the end",
            whole[..40].to_vec(),
            "truncated",
        ),
    ];
    garbage.extend(
        replies()
            .into_iter()
            .map(|reply| ("a reply", reply, "out_of_place")),
    );
    garbage
}

fn frame_of_type(kind: u8) -> Vec<u8> {
    let mut bytes = frame(Kind::Cancel, &[]);
    bytes[4] = kind;
    bytes
}

/// Connects. The task returns the connection's error.
fn connect(served: &Served) -> (UnixStream, JoinHandle<Option<&'static str>>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let backend = served.backend.clone();
    let serving = async move {
        backend
            .serve(theirs)
            .await
            .err()
            .and_then(|error| error.label())
    };
    (ours, tokio::spawn(serving))
}

async fn say(served: &Served, bytes: &[u8]) -> Option<&'static str> {
    let (mut stream, serving) = connect(served);
    // The write fails if the server stops reading.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut said = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut said))
        .await
        .expect("the connection ends");
    assert!(said.len() < 4096, "HELLO and ERROR");
    timeout(PATIENCE, serving).await.unwrap().unwrap()
}

#[test]
fn garbage_ends_its_connection_and_the_reason_is_counted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let counted = recorder.handle();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let check = || runtime.block_on(check_garbage());
    metrics::with_local_recorder(&recorder, check);
    let counted = counted.render();
    for (reason, times) in [
        ("too_long", 4),
        ("checksum", 3),
        ("out_of_place", 5),
        ("truncated", 1),
    ] {
        let line =
            format!("trawl_backend_connection_errors_total{{reason=\"{reason}\"}} {times}\n");
        assert!(counted.contains(&line), "no {line} in {counted}");
    }
}

async fn check_garbage() {
    let served = Served::start(&small(), 4);
    let (mut other, _serving) = served.connect().await;
    for (name, bytes, reason) in garbage() {
        assert_eq!(say(&served, &bytes).await, Some(reason), "{name}");
        let answer = other.search("task", other.shards()).await;
        assert_eq!(check_end(&answer).matches, 3, "beside {name}");
    }
    assert_eq!(say(&served, b"").await, None, "closing is not an error");
    assert_eq!(
        say(&served, &frame(Kind::Cancel, &[])).await,
        None,
        "a late CANCEL is not an error"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn incomplete_frame_times_out() {
    let served = Served::start(&small(), 4);
    let (mut stream, serving) = connect(&served);
    let started = Instant::now();
    // Single bytes do not extend the time.
    let trickle = async {
        for byte in frame(Kind::Search, &[0; 64]) {
            if stream.write_all(&[byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    trickle.await;
    assert_eq!(
        timeout(PATIENCE, serving).await.unwrap().unwrap(),
        Some("stalled")
    );
    let took = started.elapsed().as_secs_f64();
    assert!((4.9..9.0).contains(&took), "{took} s");
}

/// Sends other bytes during a large answer.
async fn interrupt(bytes: &[u8]) -> Option<&'static str> {
    let served = Served::start(&large(), 1);
    let (ours, serving) = connect(&served);
    let mut client = Client::new(ours);
    client.greeted().await;
    client.ask("task", client.shards()).await;
    while client.next().await.unwrap().0 != Kind::Batch {}
    client.send(bytes).await;
    timeout(PATIENCE, serving)
        .await
        .expect("the connection ends")
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_cancel_is_allowed_during_an_answer() {
    let search = frame(Kind::Search, &[0; 64]);
    for bytes in [search.clone(), replies().remove(2), frame(Kind::File, &[])] {
        assert_eq!(interrupt(&bytes).await, Some("out_of_place"));
    }
    assert_eq!(interrupt(GET).await, Some("too_long"));
    assert_eq!(interrupt(&search[..20]).await, Some("stalled"));
    assert_eq!(interrupt(&frame(Kind::Cancel, &[])).await, None);
}
