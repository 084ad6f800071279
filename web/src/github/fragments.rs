//! Lines around matches, with byte offsets in their lossy UTF-8.

use frontend::Match;
use serde::Serialize;
use std::ops::Range;

const FRAGMENTS_MAX: usize = 2;
const LINES_MAX: usize = 3;

const LINE_BYTES_MAX: usize = 400;
const BEFORE_BYTES: usize = 100;

const MATCHES_MAX: usize = 16;

#[derive(Debug, Default)]
struct Line<'a> {
    /// 0 for a path.
    number: u32,
    text: &'a [u8],
    ranges: Vec<Range<usize>>,
}

#[derive(Debug, Serialize)]
pub(super) struct Fragment<'u> {
    object_url: &'u str,
    object_type: &'static str,
    property: &'static str,
    fragment: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    matches: Vec<Found>,
    #[serde(skip)]
    lines: (u32, u32),
}

#[derive(Debug, Serialize)]
struct Found {
    text: String,
    indices: [usize; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

pub(super) fn of<'u>(matches: &[Match], url: &'u str) -> Vec<Fragment<'u>> {
    if let Some(name) = matches.first().filter(|found| found.is_name()) {
        return vec![Fragment::new(url, &[of_path(name)])];
    }
    let mut shown: Vec<u32> = Vec::new();
    let mut fragments = Vec::new();
    for found in matches {
        if fragments.len() == FRAGMENTS_MAX || shown.contains(&found.line) {
            continue;
        }
        let mut lines = around(found);
        lines.retain(|line| !shown.contains(&line.number));
        let others = matches.iter().filter(|other| other.line != found.line);
        for line in others.flat_map(lines_of) {
            if let Some(same) = lines.iter_mut().find(|it| it.number == line.number) {
                *same = line;
            }
        }
        shown.extend(lines.iter().map(|line| line.number));
        fragments.push(Fragment::new(url, &lines));
    }
    fragments
}

fn of_path(found: &Match) -> Line<'_> {
    let path = &found.document.path;
    let name = path.iter().rposition(|&byte| byte == b'/');
    let name = name.map_or(0, |at| at + 1)..path.len();
    let mut ranges = found.ranges.clone();
    ranges.retain(|range| !range.is_empty() && range.end <= path.len());
    if ranges.is_empty() {
        ranges.push(name);
    }
    Line {
        number: 0,
        text: path,
        ranges,
    }
}

fn around(found: &Match) -> Vec<Line<'_>> {
    let mut lines: Vec<_> = lines_of(found).take(LINES_MAX).collect();
    let nearest = found.before.last().into_iter().chain(found.after.first());
    for near in nearest.filter(|near| near.window.is_none()) {
        if lines.len() < LINES_MAX {
            lines.push(Line {
                number: near.line,
                text: &near.text,
                ranges: Vec::new(),
            });
        }
    }
    lines.sort_by_key(|line| line.number);
    lines
}

fn lines_of(found: &Match) -> impl Iterator<Item = Line<'_>> {
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
        Line {
            number,
            text,
            ranges,
        }
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

impl<'u> Fragment<'u> {
    fn new(object_url: &'u str, lines: &[Line<'_>]) -> Fragment<'u> {
        let number = |line: Option<&Line<'_>>| line.map_or(0, |line| line.number);
        let ends = (number(lines.first()), number(lines.last()));
        let mut fragment = Fragment {
            object_url,
            object_type: "FileContent",
            property: if ends.0 == 0 { "path" } else { "content" },
            fragment: String::new(),
            line: None,
            matches: Vec::new(),
            lines: ends,
        };
        for (index, line) in lines.iter().enumerate() {
            fragment
                .fragment
                .push_str(if index > 0 { "\n" } else { "" });
            fragment.push(line);
        }
        fragment.line = fragment.matches.first().and_then(|found| found.line);
        fragment
    }

    fn push(&mut self, line: &Line<'_>) {
        let cut = line.cut();
        let mut at = cut.start;
        for range in &line.ranges {
            let range = range.start.max(at)..range.end.min(cut.end);
            if range.is_empty() || self.matches.len() == MATCHES_MAX {
                continue;
            }
            self.push_text(&line.text[at..range.start]);
            let start = self.fragment.len();
            self.push_text(&line.text[range.clone()]);
            self.matches.push(Found {
                text: self.fragment[start..].to_owned(),
                indices: [start, self.fragment.len()],
                line: Some(line.number).filter(|&number| number > 0),
            });
            at = range.end;
        }
        self.push_text(&line.text[at..cut.end]);
    }

    fn push_text(&mut self, text: &[u8]) {
        self.fragment.push_str(&String::from_utf8_lossy(text));
    }

    pub(super) fn line_numbers(&self) -> Option<String> {
        let (first, last) = self.lines;
        (first > 0).then(|| format!("{first}..{last}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::{ContextLine, Document};
    use serde_json::Value;
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
        let read = |fragment: Fragment<'_>| {
            let json = serde_json::to_value(fragment).unwrap();
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
        of(matches, "u").into_iter().map(read).collect()
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
        assert_eq!(of(&[name(&[])], "u")[0].line_numbers(), None);
        assert!(of(&[], "u").is_empty());
    }
}
