//! Lines around matches, with byte offsets in their lossy UTF-8.

use frontend::{ContextLine, Match};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const FRAGMENTS_MAX: usize = 2;
const LINES_MAX: usize = 3;

const LINE_BYTES_MAX: usize = 400;
const BEFORE_BYTES: usize = 100;

const MATCHES_MAX: usize = 16;

#[derive(Clone, Debug, Default)]
struct Line<'a> {
    text: &'a [u8],
    ranges: Vec<Range<usize>>,
}

#[derive(Debug, Default)]
pub(super) struct Fragment {
    text: String,
    matches: Vec<Value>,
    lines: Option<(u32, u32)>,
}

pub(super) fn of(matches: &[Match]) -> Vec<Fragment> {
    if let Some(name) = matches.first().filter(|found| found.is_name()) {
        return vec![of_path(name)];
    }
    let mut shown: BTreeSet<u32> = BTreeSet::new();
    let mut fragments = Vec::new();
    for found in matches {
        if fragments.len() == FRAGMENTS_MAX || shown.contains(&found.line) {
            continue;
        }
        let mut lines = around(found);
        lines.retain(|number, _| !shown.contains(number));
        for other in matches.iter().filter(|other| other.line != found.line) {
            for (number, line) in lines_of(other) {
                lines.entry(number).and_modify(|it| *it = line);
            }
        }
        shown.extend(lines.keys());
        fragments.push(Fragment::new(&lines));
    }
    fragments
}

fn of_path(found: &Match) -> Fragment {
    let path = &found.document.path;
    let name = path.iter().rposition(|&byte| byte == b'/');
    let name = name.map_or(0, |at| at + 1)..path.len();
    let mut ranges = found.ranges.clone();
    ranges.retain(|range| !range.is_empty() && range.end <= path.len());
    if ranges.is_empty() {
        ranges.push(name);
    }
    let mut fragment = Fragment::default();
    fragment.push(None, &Line { text: path, ranges });
    fragment
}

fn around(found: &Match) -> BTreeMap<u32, Line<'_>> {
    let mut lines: BTreeMap<_, _> = lines_of(found).take(LINES_MAX).collect();
    let nearest = found.before.last().into_iter().chain(found.after.first());
    for ContextLine { line, text, window } in nearest {
        if lines.len() < LINES_MAX && window.is_none() {
            let ranges = Vec::new();
            lines.insert(*line, Line { text, ranges });
        }
    }
    lines
}

fn lines_of(found: &Match) -> impl Iterator<Item = (u32, Line<'_>)> {
    let mut start = 0;
    let texts = found.text.split(|&byte| byte == b'\n');
    (found.line..).zip(texts).map(move |(number, text)| {
        let end = start + text.len();
        let within = |range: &Range<usize>| {
            let range = range.start.clamp(start, end)..range.end.clamp(start, end);
            (!range.is_empty()).then(|| range.start - start..range.end - start)
        };
        let ranges = found.ranges.iter().filter_map(within).collect();
        start = end + 1;
        (number, Line { text, ranges })
    })
}

impl Line<'_> {
    fn cut(&self) -> Range<usize> {
        let first = self.ranges.first().map_or(0, |range| range.start);
        let is_long = self.text.len() > LINE_BYTES_MAX;
        let start = if is_long && first > LINE_BYTES_MAX - BEFORE_BYTES {
            first - BEFORE_BYTES
        } else {
            0
        };
        let end = self.text.len().min(start + LINE_BYTES_MAX);
        let is_inside = |at: &usize| self.text.get(*at).is_some_and(|byte| byte >> 6 == 0b10);
        let boundary = |at: usize| (at..at + 4).find(|at| !is_inside(at)).unwrap_or(at);
        boundary(start)..boundary(end)
    }
}

impl Fragment {
    fn new(lines: &BTreeMap<u32, Line<'_>>) -> Fragment {
        let ends = lines.first_key_value().zip(lines.last_key_value());
        let mut fragment = Fragment {
            lines: ends.map(|((first, _), (last, _))| (*first, *last)),
            ..Fragment::default()
        };
        for (index, (number, line)) in lines.iter().enumerate() {
            fragment.text.push_str(if index > 0 { "\n" } else { "" });
            fragment.push(Some(*number), line);
        }
        fragment
    }

    fn push(&mut self, number: Option<u32>, line: &Line<'_>) {
        let cut = line.cut();
        let mut at = cut.start;
        for range in &line.ranges {
            let range = range.start.max(at)..range.end.min(cut.end);
            if range.is_empty() || self.matches.len() == MATCHES_MAX {
                continue;
            }
            self.push_text(&line.text[at..range.start]);
            let start = self.text.len();
            self.push_text(&line.text[range.clone()]);
            let (text, end) = (&self.text[start..], self.text.len());
            let mut found = json!({"text": text, "indices": [start, end]});
            if let Some(number) = number {
                found["line"] = json!(number);
            }
            self.matches.push(found);
            at = range.end;
        }
        self.push_text(&line.text[at..cut.end]);
    }

    fn push_text(&mut self, text: &[u8]) {
        self.text.push_str(&String::from_utf8_lossy(text));
    }

    pub(super) fn line_numbers(&self) -> Option<String> {
        let (first, last) = self.lines?;
        Some(format!("{first}..{last}"))
    }

    pub(super) fn json(self, object_url: &str) -> Value {
        let property = self.lines.map_or("path", |_| "content");
        let mut out = json!({
            "object_url": object_url,
            "object_type": "FileContent",
            "property": property,
            "fragment": self.text,
        });
        if let Some(line) = self.matches.first().and_then(|found| found.get("line")) {
            out["line"] = line.clone();
        }
        out["matches"] = self.matches.into();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::Document;
    use std::sync::Arc;

    fn found(line: u32, text: &[u8], ranges: &[Range<usize>]) -> Match {
        let near = |line, text: &str| ContextLine {
            line,
            text: text.as_bytes().to_vec(),
            window: None,
        };
        Match {
            line,
            lines: 1,
            text: text.to_vec(),
            ranges: ranges.to_vec(),
            before: vec![near(line - 2, "two above"), near(line - 1, "above")],
            after: vec![near(line + 1, "below"), near(line + 2, "two below")],
            ..Match::default()
        }
    }

    fn texts(matches: &[Match]) -> Vec<(String, Vec<(String, u64)>)> {
        let read = |fragment: Fragment| {
            let json = fragment.json("u");
            let text = json["fragment"].as_str().unwrap().to_owned();
            let of = |found: &Value| {
                let at = |index: usize| found["indices"][index].as_u64().unwrap() as usize;
                assert_eq!(&text[at(0)..at(1)], found["text"]);
                let line = found["line"].as_u64().unwrap_or_default();
                (found["text"].as_str().unwrap().to_owned(), line)
            };
            let matches = json["matches"].as_array().unwrap();
            (text.clone(), matches.iter().map(of).collect())
        };
        of(matches).into_iter().map(read).collect()
    }

    fn check(matches: &[Match], expected: &[(&str, &[(&str, u64)])]) {
        let expected = expected.iter().map(|(text, found)| {
            let found = found.iter().map(|(text, line)| ((*text).to_owned(), *line));
            ((*text).to_owned(), found.collect())
        });
        assert_eq!(texts(matches), expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_fragment_has_a_line_on_each_side() {
        check(
            &[found(7, "\tä fopen(x)".as_bytes(), &[4..9])],
            &[("above\n\tä fopen(x)\nbelow", &[("fopen", 7)])],
        );
    }

    #[test]
    fn bytes_that_are_not_utf_8_keep_the_offsets_right() {
        let matches = [found(7, b"\xff x\xffy z", &[2..5, 6..7])];
        let shown = "above\n\u{fffd} x\u{fffd}y z\nbelow";
        check(&matches, &[(shown, &[("x\u{fffd}y", 7), ("z", 7)])]);
    }

    #[test]
    fn two_fragments_of_the_best_matches_share_no_line() {
        let all = [
            found(7, b"one", &[0..3]),
            found(8, b"two", &[0..3]),
            found(10, b"ten", &[0..3]),
            found(90, b"far", &[0..3]),
        ];
        check(
            &all,
            &[
                ("above\none\ntwo", &[("one", 7), ("two", 8)]),
                ("above\nten\nbelow", &[("ten", 10)]),
            ],
        );
    }

    #[test]
    fn a_match_of_several_lines_is_marked_on_each() {
        let mut span = found(7, b"a b\nc\nd\ne", &[2..9]);
        span.lines = 4;
        check(&[span], &[("a b\nc\nd", &[("b", 7), ("c", 8), ("d", 9)])]);
    }

    #[test]
    fn a_long_line_is_cut_around_its_match() {
        let text = [&"ä".repeat(500)[..], "needle", &"ö".repeat(500)].concat();
        let cut = texts(&[found(7, text.as_bytes(), &[1000..1006])]);
        assert_eq!(cut[0].1, [("needle".to_owned(), 7)]);
        assert!(cut[0].0.len() < 450 && !cut[0].0.contains('\u{fffd}'));
        let many: Vec<_> = (0..300).map(|at| at..at + 1).collect();
        let cut = texts(&[found(7, &[b'x'; 300], &many)]);
        assert_eq!(cut[0].1.len(), MATCHES_MAX);
    }

    #[test]
    fn a_file_without_a_line_is_shown_by_its_path() {
        let name = |ranges: &[Range<usize>]| Match {
            document: Arc::new(Document {
                path: b"src/main.c".to_vec(),
                ..Document::default()
            }),
            text: b"src/main.c".to_vec(),
            ranges: ranges.to_vec(),
            ..Match::default()
        };
        check(&[name(&[])], &[("src/main.c", &[("main.c", 0)])]);
        check(&[name(&[0..3])], &[("src/main.c", &[("src", 0)])]);
        assert_eq!(of(&[name(&[])])[0].line_numbers(), None);
        assert!(of(&[]).is_empty());
    }
}
