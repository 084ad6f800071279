//! Recorded answers of a backend, damaged at every place, and garbage.
//!
//! **Invariant:** incomplete matches are never shown, and incomplete answers never claim
//! completeness.

use crate::site::{AsBackend, Site};
use schema::frame::{Kind, encode};
use schema::message::{Expr, Pattern, Progress, Search, Syntax};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use testkit::backend::{Document, Fake, Fault};

const PATH: &str = "/api/v2/search?q=arse&per_page=1000";

/// Shard 1 is on the good backend, shard 2 on the bad one.
const SHARDS: [u8; 2] = [1, 2];

/// `split` sends each match in a frame of its own.
pub(crate) fn document(number: u8, split: bool) -> Document {
    let lines: &[&[u8]] = &[b"parse", b"nothing", b"an arse", b"", b"sparse \xff"];
    Document {
        package: format!("p{number}_1").into_bytes(),
        path: format!("{number}.c").into_bytes(),
        lines: lines.iter().map(|line| line.to_vec()).collect(),
        split,
    }
}

/// The second backend's frames include PROGRESS.
struct Stage {
    site: Site,
    bad: Arc<Fake>,
    frames: Vec<Vec<u8>>,
    whole: Value,
    queries: AtomicUsize,
}

impl Stage {
    fn new() -> Stage {
        let [good, bad] = SHARDS.map(|shard| {
            let documents = (0..3).map(|number| document(shard * 10 + number, number == 1));
            let name = ["good", "bad"][usize::from(shard) - 1];
            Fake::new(name, vec![(shard, documents.collect())])
        });
        let site = Site::new(vec![good.backend(), bad.backend()]);
        let mut frames = bad.record(&Search {
            expr: Expr::Pattern(Pattern {
                text: "arse".to_owned(),
                syntax: Syntax::Literal,
                ignore_case: false,
                ..Pattern::default()
            }),
            context_lines: 2,
            shards: vec![[SHARDS[1]; 32]],
            ..Search::default()
        });
        assert_eq!(
            frames.len(),
            6,
            "three matches of the second document, and END"
        );
        let mut progress = Vec::new();
        Progress::default().encode(&mut progress).unwrap();
        frames.insert(2, progress);
        // From another site, to keep this cache empty.
        let whole = Site::new(vec![good.backend(), bad.backend()])
            .get(PATH)
            .json();
        assert_eq!(
            (&whole["complete"], &whole["total"]),
            (&json!(true), &json!(18))
        );
        Stage {
            site,
            bad,
            frames,
            whole,
            queries: AtomicUsize::new(0),
        }
    }

    /// Page with a fault of the second backend. Each has another query, since complete answers are
    /// cached.
    fn page(&self, fault: Fault) -> Value {
        self.bad.set(fault);
        let query = self.queries.fetch_add(1, Relaxed);
        self.site.get(&format!("{PATH}&path=-no{query}")).json()
    }

    /// Expects an incomplete page with the good backend's matches, and at most `kept` of the other.
    fn check_lost(&self, bytes: &[u8], kept: u64, what: &str) -> String {
        let page = self.page(Fault::Replay(bytes.to_vec()));
        self.check_incomplete(&page, kept, what)
    }

    fn check_incomplete(&self, page: &Value, kept: u64, what: &str) -> String {
        assert_eq!(page["complete"], json!(false), "{what}");
        assert_eq!(page["missing"].as_array().unwrap().len(), 1, "{what}");
        let missing = &page["missing"][0];
        assert_eq!(missing["backend"], json!("bad"), "{what}");
        assert_eq!(missing["shards"], json!(["02".repeat(32)]), "{what}");
        let shown = page["matches"].as_array().unwrap();
        let total = page["total"].as_u64().unwrap();
        assert_eq!(shown.len() as u64, total, "{what}");
        assert!((9..=9 + kept).contains(&total), "{what}: {total} of {kept}");
        let all = self.whole["matches"].as_array().unwrap();
        // In the same order, so without duplicates.
        let mut rest = all.iter();
        assert!(
            shown
                .iter()
                .all(|found| rest.any(|known| is_same(known, found))),
            "{what}"
        );
        missing["reason"].as_str().unwrap().to_owned()
    }

    fn check_whole(&self, bytes: Vec<u8>, what: &str) {
        let page = self.page(Fault::Replay(bytes));
        assert_eq!(page["complete"], json!(true), "{what}");
        assert_eq!(page["matches"], self.whole["matches"], "{what}");
        assert_eq!(page["total"], self.whole["total"], "{what}");
    }

    fn whole_within(&self, bytes: usize) -> u64 {
        let matches = [3, 1, 0, 1, 1, 3, 0];
        let mut end = 0;
        let whole = self.frames.iter().zip(matches).take_while(|(frame, _)| {
            end += frame.len();
            end <= bytes
        });
        whole.map(|(_, matches)| matches).sum()
    }
}

#[test]
fn reports_truncation_at_each_byte() {
    let stage = Stage::new();
    let all = stage.frames.concat();
    let mut reasons = [0; 2];
    for length in 0..all.len() {
        let what = format!("the first {length} of {} bytes", all.len());
        let reason = stage.check_lost(&all[..length], stage.whole_within(length), &what);
        let known = [
            "connection closed before the end of the answer",
            "malformed frame: the stream ended inside a frame",
        ];
        let which = known.iter().position(|known| *known == reason);
        reasons[which.unwrap_or_else(|| panic!("{what}: {reason}"))] += 1;
    }
    assert_eq!(reasons[0], stage.frames.len(), "between two frames");
    stage.check_whole(all, "all of it");
}

#[test]
fn reports_a_flipped_bit_at_each_byte() {
    let stage = Stage::new();
    let all = stage.frames.concat();
    for at in 0..all.len() {
        let mut bytes = all.clone();
        bytes[at] ^= 1 << (at % 8);
        stage.check_lost(
            &bytes,
            stage.whole_within(at),
            &format!("a bit of byte {at}"),
        );
    }
}

#[test]
fn reports_missing_repeated_and_reordered_frames() {
    let stage = Stage::new();
    let (frames, end) = (&stage.frames, stage.frames.len() - 1);
    for at in 0..=end {
        let mut dropped = frames.clone();
        dropped.remove(at);
        let mut twice = frames.clone();
        twice.insert(at, frames[at].clone());
        // PROGRESS is optional, and frames after END are not read.
        match at {
            2 => {
                stage.check_whole(dropped.concat(), "without PROGRESS");
                stage.check_whole(twice.concat(), "PROGRESS twice");
            }
            at => {
                stage.check_lost(&dropped.concat(), 9, &format!("without frame {at}"));
                if at == end {
                    stage.check_whole(twice.concat(), "END twice");
                } else {
                    stage.check_lost(&twice.concat(), 9, &format!("frame {at} twice"));
                }
            }
        }
        for other in at + 1..=end {
            let mut swapped = frames.clone();
            swapped.swap(at, other);
            let what = format!("frames {at} and {other} swapped");
            match (at, other) {
                (1, 2) | (2, 3) => stage.check_whole(swapped.concat(), &what),
                _ => drop(stage.check_lost(&swapped.concat(), 9, &what)),
            }
        }
    }
}

fn frame(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(kind, payload, &mut out).unwrap();
    out
}

/// Garbage, reported reason, and label of the metric.
fn garbage() -> Vec<(Vec<u8>, &'static str, &'static str)> {
    let claim = [&(u32::MAX - 7).to_le_bytes()[..], &[3, 0, 0, 0], &[0; 8]].concat();
    let mut checksum = frame(Kind::Batch, &[0; 64]);
    checksum[8] ^= 1;
    let http = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".to_vec();
    let alert = [&b"\x15\x03\x03\x00\x02\x02\x46"[..], &[0; 16]].concat();
    let out_of_place = "unexpected frame";
    vec![
        (
            http,
            "malformed frame: a frame of 1347703896 bytes",
            "frame",
        ),
        (alert, "malformed frame: a malformed", "frame"),
        (vec![0xa5; 3000], "malformed frame: a frame of", "frame"),
        (
            claim,
            "malformed frame: a frame of 4294967304 bytes",
            "frame",
        ),
        (
            checksum,
            "malformed frame: a frame with a wrong checksum",
            "checksum",
        ),
        (
            frame(Kind::Batch, &[]),
            "malformed frame: a malformed message",
            "message",
        ),
        (
            frame(Kind::End, &[0xff; 64]),
            "malformed frame: a malformed message",
            "message",
        ),
        (frame(Kind::Hello, &[7; 64]), "malformed frame: ", "message"),
        (frame(Kind::Search, &[0; 8]), out_of_place, "out_of_place"),
        (frame(Kind::Cancel, &[]), out_of_place, "out_of_place"),
        (frame(Kind::File, &[0; 8]), out_of_place, "out_of_place"),
        (frame(Kind::Manifest, &[0; 8]), out_of_place, "out_of_place"),
        (Vec::new(), "connection closed", "closed"),
    ]
}

fn counted(stage: &Stage, word: &str) -> u64 {
    let name = format!("trawl_frontend_streams_lost_total{{reason=\"{word}\"}}");
    stage.site.counter(&name)
}

#[test]
fn reports_and_counts_malformed_answers() {
    let stage = Stage::new();
    for (bytes, reason, word) in garbage() {
        let before = counted(&stage, word);
        let said = stage.check_lost(&bytes, 0, reason);
        assert!(said.starts_with(reason), "{said}, not {reason}");
        assert!(counted(&stage, word) > before, "{reason}");
        let (mut late, first) = (
            stage.frames[0].clone(),
            stage.whole_within(stage.frames[0].len()),
        );
        late.extend(bytes);
        stage.check_lost(&late, first, &format!("after a batch: {reason}"));
    }
    let half = stage.frames[0][..100].to_vec();
    for bytes in [Vec::new(), half, stage.frames[0].clone()] {
        let before = counted(&stage, "silent");
        let page = stage.page(Fault::Stall(bytes));
        let said = stage.check_incomplete(&page, 3, "silence");
        assert_eq!(said, "no data for 2.0 s");
        assert!(counted(&stage, "silent") > before);
    }
    stage.check_whole(stage.frames.concat(), "after all of this");
}

#[test]
fn reports_a_web_server_instead_of_a_backend() {
    let answer = b"HTTP/1.1 400 Bad Request\r\n\r\n";
    let address = testkit::net::serve(move |mut stream| stream.write_all(answer)).to_string();
    let good = Fake::new("good", vec![(1, vec![document(1, false)])]);
    let site = Site::new(vec![
        good.backend(),
        frontend::Backend::tcp(address.clone()),
    ]);
    let page = site.get(PATH).json();
    assert_eq!(
        (&page["complete"], &page["total"]),
        (&json!(false), &json!(3))
    );
    let missing = &page["missing"][0];
    assert_eq!(missing["backend"], json!(address));
    let reason = missing["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("malformed frame: a frame of 1347703896 bytes"),
        "{reason}"
    );
    let lost = r#"trawl_frontend_backends_lost_total{reason="frame"}"#;
    assert!(site.counter(lost) > 0);
}

/// Ignores copies, which may be incomplete.
fn is_same(one: &Value, other: &Value) -> bool {
    let alone = |found: &Value| {
        let mut found = found.clone();
        found["copies"] = Value::Null;
        found
    };
    alone(one) == alone(other)
}
