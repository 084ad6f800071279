//! Lines of a difference, with colours and marked words.

use super::super::visible::{self, VisibleLine};
use crate::diff::Texts;
use crate::http::links::FileAddress;
use crate::source::colours::{DocumentColours, LineStates, Syntax};
use language::diff::{DiffRow, Hunk, Section, TextDiff, WordMarks};
use std::ops::Range;
use std::sync::Arc;

const LINE_BYTES: (usize, usize) = (500, 2000);

pub(super) struct SectionView {
    pub(super) hidden: u32,
    pub(super) range: String,
    pub(super) rows: Vec<RowView>,
}

pub(super) struct RowView {
    pub(super) before: Option<Cell>,
    pub(super) after: Option<Cell>,
}

pub(super) struct Cell {
    pub(super) number: u32,
    pub(super) href: String,
    pub(super) shown: VisibleLine,
    pub(super) changed: bool,
    pub(super) ends: bool,
}

impl RowView {
    pub(super) fn class(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "",
        }
    }

    pub(super) fn sign(&self) -> char {
        match self.class() {
            "added" => '+',
            "removed" => '−',
            _ => ' ',
        }
    }

    pub(super) fn shown(&self) -> &Cell {
        let cell = self.after.as_ref().or(self.before.as_ref());
        cell.expect("a row has a line")
    }
}

pub(super) struct Painter<'d> {
    pub(super) diff: &'d TextDiff<'d>,
    colours: [DocumentColours; 2],
    sides: [FileAddress<'d>; 2],
    split: bool,
}

impl<'d> Painter<'d> {
    pub(super) fn new(
        diff: &'d TextDiff<'d>,
        texts: &Texts,
        (before, after): (FileAddress<'d>, FileAddress<'d>),
        split: bool,
    ) -> Painter<'d> {
        let syntax = Syntax::of(texts.language);
        let colours = |text: &[u8]| {
            let syntax = syntax.filter(|syntax| syntax.lasts_over_lines());
            let states = syntax.map(|syntax| Arc::new(LineStates::of(syntax, text)));
            DocumentColours::new(texts.language, states)
        };
        Painter {
            diff,
            colours: [colours(&texts.before), colours(&texts.after)],
            sides: [before, after],
            split,
        }
    }

    pub(super) fn section(&self, section: &Section, hidden: u32, rows_max: usize) -> SectionView {
        SectionView {
            hidden,
            range: range(section),
            rows: self.rows(section, rows_max),
        }
    }

    fn rows(&self, section: &Section, count_max: usize) -> Vec<RowView> {
        let hunks = &self.diff.hunks[section.hunks.clone()];
        let words: Vec<WordMarks> = hunks.iter().map(|hunk| self.diff.words(hunk)).collect();
        let mut rows = Vec::new();
        for row in self.diff.rows(section).into_iter().take(count_max) {
            let marks = |side: usize, line: u32| {
                let range = |hunk: &Hunk| [&hunk.before, &hunk.after][side].clone();
                let at = hunks.partition_point(|hunk| range(hunk).end <= line);
                let (before, after) = words.get(at)?;
                let lines = [before, after][side];
                Some(&lines[(line - range(&hunks[at]).start) as usize][..])
            };
            rows.push(match row {
                DiffRow {
                    before: Some(old),
                    after: Some(new),
                } => RowView {
                    before: Some(self.cell(0, old, None, self.split)),
                    after: Some(self.cell(1, new, None, true)),
                },
                DiffRow { before, after } => RowView {
                    before: before.map(|line| self.cell(0, line, marks(0, line), true)),
                    after: after.map(|line| self.cell(1, line, marks(1, line), true)),
                },
            });
        }
        if self.split { paired(rows) } else { rows }
    }

    fn cell(&self, side: usize, line: u32, marks: Option<&[Range<usize>]>, is_shown: bool) -> Cell {
        let text = [&self.diff.before, &self.diff.after][side][line as usize];
        let bare = text.strip_suffix(b"\n");
        let ends = bare.is_some();
        let mut bare = bare.unwrap_or(text);
        if marks.is_none() {
            bare = bare.strip_suffix(b"\r").unwrap_or(bare);
        }
        let number = line + 1;
        let shown = if is_shown {
            let coloured = self.colours[side].tokens(number, bare);
            visible::line(bare, marks.unwrap_or_default(), &coloured, LINE_BYTES)
        } else {
            VisibleLine::default()
        };
        Cell {
            number,
            href: self.sides[side].show_href(number),
            shown,
            changed: marks.is_some(),
            ends,
        }
    }
}

fn paired(rows: Vec<RowView>) -> Vec<RowView> {
    let mut paired: Vec<RowView> = Vec::new();
    // First row of the hunk with no added line.
    let mut next = 0;
    for row in rows {
        match row {
            RowView {
                before: None,
                after,
            } if next < paired.len() => {
                paired[next].after = after;
                next += 1;
            }
            RowView { after: None, .. } => paired.push(row),
            row => {
                paired.push(row);
                next = paired.len();
            }
        }
    }
    paired
}

fn range(section: &Section) -> String {
    let side = |range: &Range<u32>| match range.end - range.start {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        lines => format!("{},{lines}", range.start + 1),
    };
    format!("@@ -{} +{} @@", side(&section.before), side(&section.after))
}
