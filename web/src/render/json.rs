//! Answers for programs. The order of fields is that of the structs below and never changes with
//! the data; what may differ between two searches of the same documents is in `id`, `generation`, `next`,
//! `timings`, `missing` and `explain`, and nowhere else.

use super::shapes::{GroupSchema, MatchSchema, SkippedSchema};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use frontend::Progress;
use frontend::SearchResult;
use frontend::query::Notice;
use frontend::{ContextLine, Document, Match};
use frontend::{Explain, Missing, Skipped};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;

/// A page of an answer, or of what is known of it while the search runs.
#[derive(Debug, serde::Serialize, ToSchema)]
pub(crate) struct Page<'a> {
    /// Names the search.
    pub(crate) id: &'a str,
    /// Names the documents that it is about.
    pub(crate) generation: &'a str,
    /// The cursor of what follows; none behind the last page, or while the search runs.
    pub(crate) next: Option<String>,
    /// The query as it was understood, in the query language.
    pub(crate) interpreted_as: String,
    pub(crate) notices: Vec<NoticeJson>,
    pub(crate) state: State,
    /// Whether every shard was searched to its end.
    pub(crate) complete: bool,
    /// What was not, and why.
    pub(crate) missing: Vec<MissingJson>,
    #[schema(value_type = SkippedSchema)]
    pub(crate) skipped: SkippedJson,
    /// None while the search runs.
    pub(crate) searched: Option<SearchedJson>,
    /// How many there are, wanted or not; none while the search runs.
    pub(crate) found: Option<u64>,
    /// How many there are on all pages.
    pub(crate) total: u64,
    /// Documents with a match.
    pub(crate) documents: u64,
    /// Packages with a match.
    pub(crate) packages: usize,
    /// The page's number, from 0.
    pub(crate) page: usize,
    pub(crate) per_page: usize,
    /// How many pages there are.
    pub(crate) pages: usize,
    #[serde(flatten)]
    pub(crate) results: Results,
    pub(crate) timings: Option<TimingsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<ProgressJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) explain: Option<ExplainJson>,
}

/// Something in a query that may have been meant otherwise than it was understood.
#[derive(Clone, Debug, serde::Serialize, ToSchema)]
#[schema(as = Notice)]
pub(crate) struct NoticeJson {
    /// Where in the query, in bytes.
    at: Option<usize>,
    /// How it was understood.
    reason: String,
    /// What to type for the other meaning.
    hint: Option<String>,
}

impl From<&Notice> for NoticeJson {
    fn from(notice: &Notice) -> Self {
        NoticeJson {
            at: notice.at,
            reason: notice.reason.clone(),
            hint: notice.hint.clone(),
        }
    }
}

/// All notices of a query.
pub(crate) fn notices(notices: &[Notice]) -> Vec<NoticeJson> {
    notices.iter().map(NoticeJson::from).collect()
}

/// How much was searched to its end, of all that is known of.
#[derive(Clone, Copy, Debug, serde::Serialize, ToSchema)]
#[schema(as = Searched)]
pub(crate) struct SearchedJson {
    documents: u64,
    of: u64,
}

impl From<&SearchResult> for SearchedJson {
    fn from(answer: &SearchResult) -> Self {
        SearchedJson {
            documents: answer.explain().shard_documents,
            of: answer.known().documents,
        }
    }
}

#[derive(Clone, Copy, Debug, serde::Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Running,
    Done,
}

/// A page's matches, in order or in groups.
#[derive(Debug, serde::Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Results {
    #[schema(value_type = Vec<MatchSchema>)]
    #[serde(serialize_with = "all_matches")]
    Matches(Vec<Match>),
    #[schema(value_type = Vec<GroupSchema>)]
    Groups(Vec<GroupJson>),
}

/// Matches that have something in common.
#[derive(Debug)]
pub(crate) struct GroupJson {
    pub(crate) of: GroupOf,
    /// How many there are, when that was counted.
    pub(crate) total: Option<u64>,
    pub(crate) matches: Vec<Match>,
}

/// What they have in common.
#[derive(Debug)]
pub(crate) enum GroupOf {
    Package(Vec<u8>),
    Document(Arc<Document>),
}

#[derive(Clone, Debug, serde::Serialize, ToSchema)]
#[schema(as = Missing)]
pub(crate) struct MissingJson {
    backend: String,
    reason: String,
    shards: Vec<String>,
    /// Seconds since 1970.
    since: u64,
}

impl From<&Missing> for MissingJson {
    fn from(missing: &Missing) -> Self {
        let since = missing.since.duration_since(std::time::UNIX_EPOCH);
        MissingJson {
            backend: missing.backend.clone(),
            reason: missing.reason.clone(),
            shards: missing.shards.iter().map(|id| hex(id)).collect(),
            since: since.unwrap_or_default().as_secs(),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SkippedJson(pub(crate) Skipped);

impl Serialize for SkippedJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Document<'a>(&'a frontend::SkippedDocument);
        impl Serialize for Document<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                bytes(&mut map, "package", "package_base64", &self.0.package)?;
                bytes(&mut map, "path", "path_base64", &self.0.path)?;
                map.serialize_entry("reason", &self.0.reason)?;
                map.end()
            }
        }
        let documents: Vec<_> = self.0.documents.iter().map(Document).collect();
        let mut out = serializer.serialize_struct("Skipped", 2)?;
        out.serialize_field("count", &self.0.count)?;
        out.serialize_field("documents", &documents)?;
        out.end()
    }
}

#[derive(Clone, Copy, Debug, serde::Serialize, ToSchema)]
#[schema(as = Timings)]
pub(crate) struct TimingsJson {
    queue_ms: f64,
    /// These three are parts of the stream, of the slowest backend each.
    plan_ms: f64,
    candidates_ms: f64,
    verify_ms: f64,
    stream_ms: f64,
    rank_ms: f64,
    render_ms: f64,
}

impl TimingsJson {
    /// Of a run, and of the page that was `rendered` of it.
    pub(crate) fn new(answer: &SearchResult, rendered: Duration) -> Self {
        let milliseconds = |time: Duration| time.as_micros() as f64 / 1000.0;
        let (timings, phases) = (answer.timings(), answer.phases());
        TimingsJson {
            queue_ms: milliseconds(timings.queue),
            plan_ms: phases.plan_us as f64 / 1000.0,
            candidates_ms: phases.candidates_us as f64 / 1000.0,
            verify_ms: phases.verify_us as f64 / 1000.0,
            stream_ms: milliseconds(timings.stream),
            rank_ms: milliseconds(timings.rank),
            render_ms: milliseconds(rendered),
        }
    }

    /// Names and milliseconds, in the order of time: rendering is the last.
    pub(crate) fn each(&self) -> [(&'static str, f64); 7] {
        [
            ("queue", self.queue_ms),
            ("plan", self.plan_ms),
            ("candidates", self.candidates_ms),
            ("verify", self.verify_ms),
            ("stream", self.stream_ms),
            ("rank", self.rank_ms),
            ("render", self.render_ms),
        ]
    }
}

#[derive(Clone, Debug, serde::Serialize, ToSchema)]
#[schema(as = Progress)]
pub(crate) struct ProgressJson {
    blocks_done: u64,
    blocks_total: u64,
    documents: u64,
    matches: u64,
    /// No match that is still to come has a higher rank; none until that is known.
    bound: Option<f32>,
    elapsed_ms: u64,
    /// An estimate; none while it is too early to tell.
    eta_ms: Option<u64>,
    backends: Vec<BackendJson>,
}

#[derive(Clone, Debug, serde::Serialize, ToSchema)]
#[schema(as = BackendProgress)]
struct BackendJson {
    name: String,
    blocks_done: u64,
    blocks_total: u64,
    documents: u64,
    matches: u64,
    bound: Option<f32>,
}

impl ProgressJson {
    pub(crate) fn new(progress: Progress, eta: Option<Duration>) -> Self {
        let backend = |backend: frontend::BackendProgress| BackendJson {
            name: backend.name,
            blocks_done: backend.blocks_done,
            blocks_total: backend.blocks_total,
            documents: backend.documents,
            matches: backend.matches,
            bound: Some(backend.bound).filter(|bound| bound.is_finite()),
        };
        ProgressJson {
            blocks_done: progress.blocks_done,
            blocks_total: progress.blocks_total,
            documents: progress.documents,
            matches: progress.matches,
            bound: progress.bound(),
            elapsed_ms: progress.elapsed.as_millis() as u64,
            eta_ms: eta.map(|eta| eta.as_millis() as u64),
            backends: progress.backends.into_iter().map(backend).collect(),
        }
    }
}

#[derive(Clone, Debug, serde::Serialize, ToSchema)]
#[schema(as = Explain)]
pub(crate) struct ExplainJson {
    plan: String,
    shards: u64,
    blocks: u64,
    candidates: u64,
    matched_blocks: u64,
    documents: u64,
    verified_bytes: u64,
}

impl From<&Explain> for ExplainJson {
    fn from(explain: &Explain) -> Self {
        ExplainJson {
            plan: explain.plan.clone(),
            shards: explain.shards,
            blocks: explain.blocks,
            candidates: explain.candidates,
            matched_blocks: explain.matched_blocks,
            documents: explain.documents,
            verified_bytes: explain.verified_bytes,
        }
    }
}

/// A match as JSON.
pub(crate) struct MatchJson<'a>(pub(crate) &'a Match);

/// Serializes a list of matches.
pub(crate) fn all_matches<S: Serializer>(
    matches: &[Match],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(matches.iter().map(MatchJson))
}

impl Serialize for MatchJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        bytes(
            &mut map,
            "package",
            "package_base64",
            &self.0.document.package,
        )?;
        self.rest(map)
    }
}

impl MatchJson<'_> {
    fn rest<M: SerializeMap>(&self, mut map: M) -> Result<M::Ok, M::Error> {
        let found = self.0;
        bytes(&mut map, "path", "path_base64", &found.document.path)?;
        map.serialize_entry("line", &found.line)?;
        if found.lines > 1 {
            map.serialize_entry("lines", &found.lines)?;
        }
        bytes(&mut map, "text", "text_base64", &found.text)?;
        let pair = |range: &Range<usize>| [range.start, range.end];
        map.serialize_entry("ranges", &found.ranges.iter().map(pair).collect::<Vec<_>>())?;
        let context = ContextJson {
            before: &found.before,
            after: &found.after,
        };
        map.serialize_entry("context", &context)?;
        map.serialize_entry("language", &found.document.language)?;
        map.serialize_entry("rank", &found.rank)?;
        map.serialize_entry("hash", &hex(&found.document.hash))?;
        map.serialize_entry("offset", &found.offset)?;
        window(&mut map, found.window)?;
        map.end()
    }
}

#[derive(serde::Serialize)]
struct ContextJson<'a> {
    #[serde(serialize_with = "context_lines")]
    before: &'a [ContextLine],
    #[serde(serialize_with = "context_lines")]
    after: &'a [ContextLine],
}

fn context_lines<S: Serializer>(lines: &[ContextLine], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(lines.iter().map(ContextLineJson))
}

struct ContextLineJson<'a>(&'a ContextLine);

impl Serialize for ContextLineJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("line", &self.0.line)?;
        bytes(&mut map, "text", "text_base64", &self.0.text)?;
        window(&mut map, self.0.window)?;
        map.end()
    }
}

impl Serialize for GroupJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.of {
            GroupOf::Package(name) => bytes(&mut map, "package", "package_base64", name)?,
            GroupOf::Document(document) => {
                bytes(&mut map, "package", "package_base64", &document.package)?;
                bytes(&mut map, "path", "path_base64", &document.path)?;
                map.serialize_entry("language", &document.language)?;
                map.serialize_entry("hash", &hex(&document.hash))?;
            }
        }
        map.serialize_entry("total", &self.total)?;
        let matches: Vec<_> = self.matches.iter().map(MatchJson).collect();
        map.serialize_entry("matches", &matches)?;
        map.end()
    }
}

/// Bytes as text, and exactly beside it when the text is not all there is to them.
pub(super) fn bytes<M: SerializeMap>(
    map: &mut M,
    name: &'static str,
    name_base64: &'static str,
    bytes: &[u8],
) -> Result<(), M::Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => map.serialize_entry(name, text),
        Err(_) => {
            map.serialize_entry(name, &String::from_utf8_lossy(bytes))?;
            map.serialize_entry(name_base64, &BASE64.encode(bytes))
        }
    }
}

fn window<M: SerializeMap>(map: &mut M, window: Option<frontend::Window>) -> Result<(), M::Error> {
    #[derive(serde::Serialize)]
    struct WindowJson {
        start: u64,
        line_bytes: u64,
    }
    match window {
        None => Ok(()),
        Some(frontend::Window { start, line_bytes }) => {
            map.serialize_entry("window", &WindowJson { start, line_bytes })
        }
    }
}

/// Bytes as hexadecimal digits. By hand: each match has a hash, and formatting byte by byte took a
/// seventh of a small answer's instructions.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)].into());
        out.push(DIGITS[usize::from(byte & 15)].into());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use frontend::Window;

    #[test]
    fn bytes_travel_exactly() {
        let found = Match {
            document: Arc::new(Document {
                package: b"p\xff".to_vec(),
                path: b"a/\xc3\xbc \"x\"".to_vec(),
                language: "C".to_owned(),
                hash: vec![0xab; 2],
            }),
            line: 7,
            lines: 1,
            text: b"caf\xe9".to_vec(),
            ranges: vec![0..3],
            before: vec![ContextLine {
                line: 6,
                text: b"before".to_vec(),
                window: None,
            }],
            after: vec![],
            rank: 1.1,
            offset: 10,
            window: Some(Window {
                start: 5,
                line_bytes: 5_000_000_000,
            }),
        };
        expect![[r#"{"package":"p�","package_base64":"cP8=","path":"a/ü \"x\"","line":7,"text":"caf�","text_base64":"Y2Fm6Q==","ranges":[[0,3]],"context":{"before":[{"line":6,"text":"before"}],"after":[]},"language":"C","rank":1.1,"hash":"abab","offset":10,"window":{"start":5,"line_bytes":5000000000}}"#]]
            .assert_eq(&serde_json::to_string(&MatchJson(&found)).unwrap());
    }

    #[test]
    fn several_lines_say_how_many() {
        let mut found = Match::default();
        (found.line, found.lines, found.text) = (7, 2, b"a\nb".to_vec());
        let json = serde_json::to_value(MatchJson(&found)).unwrap();
        assert_eq!((&json["line"], &json["lines"]), (&7.into(), &2.into()));
        assert_eq!(json["text"], "a\nb");
        found.lines = 1;
        assert!(
            serde_json::to_value(MatchJson(&found))
                .unwrap()
                .get("lines")
                .is_none()
        );
    }
}
