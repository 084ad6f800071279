//! Matches of a query in a file.
//!
//! Without an answer within [`WAIT`] the page has no marks. Matches of another text are never
//! marked.

use super::super::boxes::lines_of;
use super::asked::AskedFile;
use crate::http::rendering;
use crate::problem::Problem;
use crate::search::params::Params;
use crate::search::run;
use crate::source::file_range::Fetched;
use crate::suggest::Corpus;
use frontend::Match;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

const WAIT: Duration = Duration::from_millis(500);

const MARKED_MAX: &str = "10000";

#[derive(Default)]
pub(super) struct Marks {
    lines: BTreeMap<u32, Vec<Range<usize>>>,
    /// With and without marks.
    pub(super) total: u64,
    pub(super) problem: Option<String>,
}

pub(super) async fn find(corpus: Corpus<'_>, asked: &AskedFile, shown: &Fetched) -> Marks {
    if asked.kept.query.is_empty() {
        return Marks::default();
    }
    let found = search(corpus, asked, shown).await;
    found.unwrap_or_else(|problem| Marks {
        problem: Some(problem.document.detail),
        ..Marks::default()
    })
}

async fn search(corpus: Corpus<'_>, asked: &AskedFile, shown: &Fetched) -> Result<Marks, Problem> {
    let params = within_file(asked, shown);
    let parsed = params.parsed()?;
    let search = run::start(corpus.coordinator, corpus.scope, &params, &parsed).await?;
    let finished = timeout(WAIT, run::finished(&search, Some(&parsed))).await;
    let late = |_| Problem::unavailable("the search in this file takes too long");
    let answer = finished.map_err(late)??;
    let whole = Arc::clone(&answer);
    let found = rendering(&answer, move || whole.matches(0..whole.len())).await?;
    let is_shown = |found: &&Match| found.document.hash == shown.reply.hash;
    let mut marks = Marks::of(found.iter().filter(is_shown));
    if answer.found() > found.len() as u64 && !marks.lines.is_empty() {
        marks.total = answer.found();
    }
    Ok(marks)
}

fn within_file(asked: &AskedFile, shown: &Fetched) -> Params {
    let given = &asked.call.params;
    let exactly = |text: &[u8]| [b"=", text].concat();
    let mut pairs = vec![
        ("package", exactly(&shown.package)),
        ("path", exactly(&asked.path)),
        ("context", b"0".to_vec()),
        ("limit", MARKED_MAX.as_bytes().to_vec()),
    ];
    if !asked.revision.is_empty() {
        pairs.push(("rev", shown.reply.commit.clone().into_bytes()));
    }
    for name in ["q", "mode", "case", "word", "exact"] {
        pairs.extend(given.bytes(name).map(|value| (name, value.to_vec())));
    }
    let pairs = pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    let mut params = Params::of(pairs.collect());
    params.client = given.client;
    params
}

impl Marks {
    fn of<'a>(found: impl Iterator<Item = &'a Match>) -> Marks {
        let mut marks = Marks::default();
        for found in found.filter(|found| !found.is_name()) {
            marks.total += 1;
            if found.lines == 1 {
                let before = found.window.map_or(0, |window| window.start as usize);
                let ranges = found.ranges.iter();
                let ranges = ranges.map(|range| range.start + before..range.end + before);
                marks.add(found.line, ranges.collect());
                continue;
            }
            for (line, _, ranges) in lines_of(found) {
                marks.add(line, ranges);
            }
        }
        marks
    }

    fn add(&mut self, line: u32, ranges: Vec<Range<usize>>) {
        let marked = self.lines.entry(line).or_default();
        marked.extend(ranges);
        marked.sort_by_key(|range| (range.start, range.end));
    }

    pub(super) fn of_line(&self, line: u32) -> &[Range<usize>] {
        self.lines.get(&line).map_or(&[], Vec::as_slice)
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = u32> {
        self.lines.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::Window;

    #[test]
    fn marks_every_line_of_a_match_and_the_right_part_of_a_long_one() {
        let found = |line, lines, text: &[u8], ranges: &[Range<usize>], window| Match {
            line,
            lines,
            text: text.to_vec(),
            ranges: ranges.to_vec(),
            window,
            ..Match::default()
        };
        let window = Window {
            start: 1000,
            line_bytes: 5000,
        };
        let matches = [
            found(9, 1, b"xarse", &[1..5], Some(window)),
            found(3, 2, b"one {\ntwo", &[4..9], None),
            found(4, 1, b"two", &[0..1], None),
            found(0, 1, b"name", &[0..1], None),
        ];
        let marks = Marks::of(matches.iter());
        assert_eq!(marks.lines().collect::<Vec<_>>(), [3, 4, 9]);
        assert_eq!(marks.of_line(3), [4..5]);
        assert_eq!(marks.of_line(4), [0..1, 0..3]);
        assert_eq!(marks.of_line(9), [1001..1005]);
        assert_eq!((marks.total, marks.of_line(5)), (3, &[][..]));
    }
}
