//! Matches in the shapes of the stream and of GraphQL.
//!
//! Lines and columns count from 0, columns and lengths in characters, offsets in bytes. An invalid
//! byte of a text is shown as `?`, so that offsets stay right.

use crate::http::links::encode;
use crate::search::run::in_line_order;
use crate::symbols::Enclosing;
use frontend::query::sourcegraph::Show;
use frontend::{Document, Match};
use language::symbols::Kind;
use serde_json::{Map, Value, json};

#[derive(Clone, Copy, Debug)]
pub(super) struct ItemView {
    pub(super) show: Show,
    pub(super) chunks: bool,
    pub(super) context: u32,
}

/// Text of an item. With escapes and ranges it stays below the 10 MB that clients read at once.
const ITEM_BYTES_MAX: usize = 1 << 20;

pub(super) fn repository(name: &[u8]) -> Value {
    json!({ "type": "repo", "repository": text(name) })
}

fn head(kind: &str, document: &Document) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("type".into(), kind.into());
    head.insert("path".into(), text(&document.path).into());
    head.insert("repository".into(), text(&document.package).into());
    let revisions = &document.revisions;
    if !revisions.commit.is_empty() {
        head.insert("branches".into(), revisions.names.clone().into());
        head.insert("commit".into(), revisions.commit.clone().into());
    }
    head.insert("language".into(), document.language.clone().into());
    head
}

pub(super) fn path(document: &Document, matches: &[Match]) -> Value {
    let mut item = head("path", document);
    let names = matches.iter().filter(|found| found.is_name());
    let ranges: Vec<Value> = names.flat_map(|found| ranges(found, 0, 0)).collect();
    if !ranges.is_empty() {
        item.insert("pathMatches".into(), ranges.into());
    }
    item.into()
}

pub(super) fn symbols(document: &Document, matches: &[Match], around: &Enclosing) -> Value {
    let mut item = head("symbol", document);
    let symbols = matches.iter().flat_map(|found| symbols_of(found, around));
    let shown = symbols.map(|symbol| {
        json!({
            "name": symbol.name,
            "kind": symbol.kind,
            "containerName": symbol.container,
            "url": symbol.url.trim_start_matches('/'),
            "line": symbol.line + 1,
        })
    });
    item.insert("symbols".into(), shown.collect());
    item.into()
}

pub(super) struct Symbol {
    pub(super) name: String,
    pub(super) kind: String,
    /// Name of the enclosing definition, or empty.
    pub(super) container: String,
    /// With a leading slash.
    pub(super) url: String,
    pub(super) line: u32,
    #[cfg(feature = "graphql")]
    pub(super) columns: std::ops::Range<usize>,
}

pub(super) fn symbols_of<'a>(
    found: &'a Match,
    around: &Enclosing,
) -> impl Iterator<Item = Symbol> + use<'a> {
    let container = around.at(&found.document, found.line);
    let container = container.map_or(String::new(), |it| text(&it.name));
    let kind = Kind::names_of(found.kinds).first().copied();
    let kind = kind.unwrap_or("unknown").to_ascii_uppercase();
    found.ranges.iter().map(move |range| {
        let columns = column(found, range.start)..column(found, range.end);
        let line = found.line.saturating_sub(1);
        let place = format!(
            "?L{}:{}-{}:{}",
            found.line,
            columns.start + 1,
            found.line,
            columns.end + 1
        );
        Symbol {
            name: text(&found.text[range.clone()]),
            kind: kind.clone(),
            container: container.clone(),
            url: file_url(&found.document) + &place,
            line,
            #[cfg(feature = "graphql")]
            columns,
        }
    })
}

pub(super) fn file_url(document: &Document) -> String {
    let revision = &document.revisions.commit;
    blob_url(&document.package, revision, &document.path)
}

pub(super) fn blob_url(package: &[u8], revision: &str, path: &[u8]) -> String {
    url(package, revision, "blob", path)
}

pub(super) fn url(package: &[u8], revision: &str, kind: &str, path: &[u8]) -> String {
    let (package, path) = (encode(package), encode(path));
    let at = if revision.is_empty() { "" } else { "@" };
    format!(
        "/{package}{at}{}/-/{kind}/{path}",
        encode(revision.as_bytes())
    )
}

pub(super) fn contents(document: &Document, mut matches: Vec<Match>, view: ItemView) -> Vec<Value> {
    matches.retain(|found| !found.is_name());
    in_line_order(&mut matches);
    parts(&matches)
        .into_iter()
        .map(|matches| {
            let mut item = head("content", document);
            if view.chunks {
                item.insert("hunks".into(), Value::Null);
                item.insert("chunkMatches".into(), chunks(matches, view.context).into());
            } else {
                let lines = matches.iter().flat_map(line_matches).map(|line| {
                    json!({
                        "line": line.preview,
                        "lineNumber": line.number,
                        "offsetAndLengths": line.ranges,
                    })
                });
                item.insert("lineMatches".into(), lines.collect());
            }
            item.into()
        })
        .collect()
}

fn parts(matches: &[Match]) -> Vec<&[Match]> {
    let bytes = |found: &Match| {
        let context = found.before.iter().chain(&found.after);
        let context: usize = context.map(|line| line.text.len()).sum();
        found.text.len() + context + 100 * found.ranges.len()
    };
    let (mut parts, mut start, mut size) = (Vec::new(), 0, 0);
    for (index, found) in matches.iter().enumerate() {
        size += bytes(found);
        if size > ITEM_BYTES_MAX && index > start {
            parts.push(&matches[start..index]);
            (start, size) = (index, bytes(found));
        }
    }
    parts.push(&matches[start..]);
    parts
}

struct Chunk {
    line: u32,
    offset: u64,
    column: usize,
    text: Vec<u8>,
    ranges: Vec<Value>,
    end: u32,
}

fn chunks(matches: &[Match], context: u32) -> Vec<Value> {
    let mut chunks: Vec<Chunk> = Vec::new();
    for chunk in matches.iter().map(|found| Chunk::of(found, context)) {
        match chunks.last_mut() {
            Some(last) if last.end == chunk.line && chunk.column == 0 => {
                last.text.push(b'\n');
                last.text.extend(chunk.text);
                last.ranges.extend(chunk.ranges);
                last.end = chunk.end;
            }
            _ => chunks.push(chunk),
        }
    }
    chunks.into_iter().map(Chunk::shown).collect()
}

impl Chunk {
    fn of(found: &Match, context: u32) -> Chunk {
        let first = found.line.saturating_sub(1);
        let end = first + found.lines.max(1);
        if let Some(window) = found.window {
            return Chunk {
                line: first,
                offset: found.offset + window.start,
                column: usize::try_from(window.start).unwrap_or(usize::MAX),
                text: found.text.clone(),
                ranges: ranges(found, first, found.offset),
                end: u32::MAX,
            };
        }
        let is_near = |line: u32| line + context >= found.line && line <= end + context;
        let before = found.before.iter().rev();
        let before = before.take_while(|it| it.window.is_none() && is_near(it.line));
        let mut lines: Vec<&[u8]> = before.map(|line| &line.text[..]).collect();
        lines.reverse();
        let above: u64 = lines.iter().map(|line| line.len() as u64 + 1).sum();
        let count = lines.len() as u32;
        lines.push(&found.text);
        let after = found.after.iter();
        let after = after.take_while(|it| it.window.is_none() && is_near(it.line));
        lines.extend(after.map(|line| &line.text[..]));
        Chunk {
            line: first.saturating_sub(count),
            offset: found.offset.saturating_sub(above),
            column: 0,
            end: end + lines.len() as u32 - count - 1,
            text: lines.join(&b'\n'),
            ranges: ranges(found, first, found.offset),
        }
    }

    fn shown(self) -> Value {
        json!({
            "content": text(&self.text),
            "contentStart": {"offset": self.offset, "line": self.line, "column": self.column},
            "ranges": self.ranges,
        })
    }
}

fn ranges(found: &Match, line: u32, offset: u64) -> Vec<Value> {
    let offset = offset + found.window.map_or(0, |window| window.start);
    let place = |at: usize| {
        let before = &found.text[..at.min(found.text.len())];
        let lines = before.iter().filter(|&&byte| byte == b'\n').count();
        json!({
            "offset": offset + at as u64,
            "line": line as usize + lines,
            "column": column(found, at),
        })
    };
    let ranges = found.ranges.iter();
    ranges
        .map(|range| json!({"start": place(range.start), "end": place(range.end)}))
        .collect()
}

fn column(found: &Match, at: usize) -> usize {
    let before = &found.text[..at.min(found.text.len())];
    let newline = before.iter().rposition(|&byte| byte == b'\n');
    let start = newline.map_or(0, |newline| newline + 1);
    let window = found.window.filter(|_| start == 0);
    let left_out = window.map_or(0, |window| usize::try_from(window.start).unwrap_or(0));
    left_out + text(&before[start..]).chars().count()
}

pub(super) struct LineMatch {
    pub(super) preview: String,
    pub(super) number: u32,
    /// Starts and lengths, in characters.
    pub(super) ranges: Vec<[usize; 2]>,
}

pub(super) fn line_matches(found: &Match) -> Vec<LineMatch> {
    let (mut start, mut lines) = (0, Vec::new());
    let numbered = (found.line.saturating_sub(1)..).zip(found.text.split(|&byte| byte == b'\n'));
    for (number, line) in numbered {
        let end = start + line.len();
        let clipped = found.ranges.iter().filter_map(|range| {
            let range = range.start.max(start)..range.end.min(end);
            (range.start < range.end || range.is_empty() && range.start == end && line.is_empty())
                .then(|| range.start - start..range.end - start)
        });
        let characters = |bytes: &[u8]| text(bytes).chars().count();
        let ranges = clipped.map(|range| {
            let (before, matched) = (&line[..range.start], &line[range]);
            [characters(before), characters(matched)]
        });
        lines.push(LineMatch {
            preview: text(line),
            number,
            ranges: ranges.collect(),
        });
        start = end + 1;
    }
    lines
}

pub(super) fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::{ContextLine, Window};

    fn near(line: u32, text: &str) -> ContextLine {
        ContextLine {
            line,
            text: text.as_bytes().to_vec(),
            window: None,
        }
    }

    fn found(line: u32, offset: u64, text: &[u8], ranges: &[std::ops::Range<usize>]) -> Match {
        Match {
            line,
            lines: 1 + text.iter().filter(|&&byte| byte == b'\n').count() as u32,
            offset,
            text: text.to_vec(),
            ranges: ranges.to_vec(),
            ..Match::default()
        }
    }

    fn place(offset: u64, line: u32, column: usize) -> Value {
        json!({"offset": offset, "line": line, "column": column})
    }

    #[test]
    fn offsets_are_bytes_and_columns_characters() {
        let mut first = found(3, 10, b"\xff\xc3\xbcab", &[3..4]);
        first.before = vec![near(1, "far"), near(2, "near")];
        first.after = vec![near(4, "x"), near(5, "far")];
        let chunk = &chunks(&[first], 1)[0];
        assert_eq!(chunk["content"], json!("near\n?\u{fc}ab\nx"));
        assert_eq!(chunk["contentStart"], place(5, 1, 0));
        let range = json!([{"start": place(13, 2, 2), "end": place(14, 2, 3)}]);
        assert_eq!(chunk["ranges"], range);
    }

    #[test]
    fn neighbours_share_a_chunk_and_spans_have_their_lines() {
        let span = found(1, 0, b"ab\ncd", &[1..4]);
        let next = found(3, 6, b"ef", &[0..1]);
        let far = found(5, 20, b"g", &[0..1]);
        let lines: Vec<_> = line_matches(&span);
        let lines: Vec<_> = lines.iter().map(|it| (it.number, &it.ranges[..])).collect();
        assert_eq!(lines, [(0, &[[1, 1]][..]), (1, &[[0, 1]][..])]);
        let chunks = chunks(&[span, next, far], 0);
        assert_eq!(chunks.len(), 2);
        assert_eq!(chunks[0]["content"], json!("ab\ncd\nef"));
        let range = json!({"start": place(1, 0, 1), "end": place(4, 1, 1)});
        assert_eq!(chunks[0]["ranges"][0], range);
        assert_eq!(chunks[0]["ranges"][1]["start"], place(6, 2, 0));
    }

    #[test]
    fn a_part_of_a_line_begins_at_its_place() {
        let mut part = found(2, 100, b"abc", &[1..2]);
        part.window = Some(Window {
            start: 5000,
            line_bytes: 9000,
        });
        let chunk = &chunks(&[part], 3)[0];
        assert_eq!(chunk["contentStart"], place(5100, 1, 5000));
        assert_eq!(chunk["ranges"][0]["start"], place(5101, 1, 5001));
    }

    #[test]
    fn large_items_are_split() {
        let line = vec![b'x'; ITEM_BYTES_MAX / 2];
        let matches: Vec<_> = (1..6).map(|n| found(n, 0, &line, &[0..1])).collect();
        let parts: Vec<_> = parts(&matches).iter().map(|part| part.len()).collect();
        assert_eq!(parts.iter().sum::<usize>(), 5);
        assert!(parts.iter().all(|len| (1..=2).contains(len)), "{parts:?}");
    }
}
