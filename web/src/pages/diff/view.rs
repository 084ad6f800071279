//! Changed files with their lines: unified, or side by side.
//!
//! The first files are compared, as far as the bounds allow; others are links to a page of their
//! own, which has larger bounds.

use super::super::filters;
use super::super::visible::{self, VisibleLine};
use crate::diff::{Asked, Budget, Comparison, Content, Texts, read};
use crate::http::blocking;
use crate::http::links::{FileAddress, RepositoryAddress};
use crate::problem::Problem;
use crate::search::params::Params;
use crate::source::colours::{DocumentColours, LineStates, Syntax};
use crate::suggest::Corpus;
use askama::Template;
use language::diff::{Hunk, Row, Section, TextDiff, Words};
use schema::message::{Change, ChangeKind};
use std::ops::Range;
use std::sync::Arc;

/// Rows and bytes of one file among several, as on GitHub.
const FILE_ROWS_MAX: u32 = 400;
const FILE_BYTES_MAX: usize = 20_000;

/// Rows of a page.
const ROWS_MAX: u32 = 20_000;

/// Note of a file beyond the bounds.
const LEFT_OUT: &str = "not compared on this page";

const CONTEXT: u32 = 3;

/// Steps of more context; then all lines.
const CONTEXTS: [u32; 2] = [25, 200];

/// Bytes before the first mark of a longer line, and of all of it.
const LINE_BYTES: (usize, usize) = (500, 2000);

#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) split: bool,
    /// Common lines around a change.
    pub(super) context: u32,
}

#[derive(Template)]
#[template(path = "diff_files.html")]
pub(in super::super) struct DiffView {
    split: bool,
    files: Vec<FileView>,
    more: bool,
    /// Added and removed lines of the compared files.
    sums: (u32, u32),
    uncounted: usize,
}

struct FileView {
    anchor: String,
    path: String,
    was: Option<String>,
    kind: &'static str,
    /// Changed mode, such as `100644 → 100755`.
    modes: Option<String>,
    counts: Option<(u32, u32)>,
    /// Page of the file's difference alone.
    href: String,
    /// File on the newer side that has it.
    file_href: String,
    history_href: Option<String>,
    more_context: Option<String>,
    note: Option<String>,
    sections: Vec<SectionView>,
    /// Common lines after the last section.
    rest: u32,
}

struct SectionView {
    /// Common lines before it.
    hidden: u32,
    range: String,
    rows: Vec<RowView>,
}

impl FileView {
    fn is_shown(&self) -> bool {
        self.note.as_deref() != Some(LEFT_OUT)
    }
}

impl RowView {
    fn class(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "",
        }
    }

    fn sign(&self) -> char {
        match self.class() {
            "added" => '+',
            "removed" => '−',
            _ => ' ',
        }
    }

    fn shown(&self) -> &Cell {
        let cell = self.after.as_ref().or(self.before.as_ref());
        cell.expect("a row has a line")
    }
}

/// Lines side by side; in a unified view, changed lines have one side.
struct RowView {
    before: Option<Cell>,
    after: Option<Cell>,
}

struct Cell {
    number: u32,
    href: String,
    shown: VisibleLine,
    changed: bool,
    /// False without a newline at the end.
    ends: bool,
}

impl Options {
    pub(super) const PARAMETERS: &[&str] = &["view", "context"];

    pub(super) fn new(params: &Params) -> Result<Options, Problem> {
        let choices = [("unified", false), ("split", true), ("", false)];
        let context = match params.text("context")? {
            Some("all") => u32::MAX,
            _ => params.number("context", CONTEXT)?,
        };
        Ok(Options {
            split: params.choice("view", false, &choices)?,
            context,
        })
    }

    pub(super) fn parameters(self) -> String {
        let view = if self.split { "&view=split" } else { "" };
        match self.context {
            CONTEXT => view.to_owned(),
            u32::MAX => format!("{view}&context=all"),
            context => format!("{view}&context={context}"),
        }
    }

    fn with_more_context(self) -> Option<Options> {
        let larger = CONTEXTS.into_iter().find(|context| *context > self.context);
        let context = larger.unwrap_or(u32::MAX);
        (self.context < u32::MAX).then_some(Options { context, ..self })
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            split: false,
            context: CONTEXT,
        }
    }
}

impl DiffView {
    /// As on the page of a commit.
    pub(in super::super) async fn of_commit(corpus: Corpus<'_>, compared: &Comparison) -> DiffView {
        let asked = Asked {
            from: Some(compared.from.clone()).filter(|from| !from.revision.is_empty()),
            to: compared.to.clone(),
            path: Vec::new(),
            from_path: Vec::new(),
        };
        DiffView::of(corpus, &asked, compared, Options::default()).await
    }

    pub(super) async fn of(
        corpus: Corpus<'_>,
        asked: &Asked,
        compared: &Comparison,
        options: Options,
    ) -> DiffView {
        let is_one = compared.files.len() == 1 && !asked.path.is_empty();
        let budget = if is_one { Budget::ONE } else { Budget::MANY };
        let contents = read(corpus, compared, &compared.files, budget).await;
        let mut files: Vec<FileView> = (1..)
            .zip(&compared.files)
            .map(|(number, file)| FileView::new(asked, compared, options, (number, file)))
            .collect();
        let addresses = [&compared.from, &compared.to].map(|side| side.clone());
        let changes = compared.files.clone();
        let files = blocking(move || {
            let mut rows_left = ROWS_MAX;
            for ((view, content), file) in files.iter_mut().zip(contents).zip(&changes) {
                let was = if file.was.is_empty() {
                    &file.path
                } else {
                    &file.was
                };
                let sides = (addresses[0].file(was), addresses[1].file(&file.path));
                let rows_max = if is_one { ROWS_MAX } else { FILE_ROWS_MAX };
                view.fill(content, sides, options, (is_one, rows_max.min(rows_left)));
                let rows = view
                    .sections
                    .iter()
                    .map(|section| section.rows.len() as u32);
                rows_left -= rows.sum::<u32>().min(rows_left);
            }
            files
        });
        let files = files.await;
        let counts = || files.iter().filter_map(|file| file.counts);
        DiffView {
            split: options.split,
            more: compared.more,
            sums: (
                counts().map(|(added, _)| added).sum(),
                counts().map(|(_, removed)| removed).sum(),
            ),
            uncounted: files.len() - counts().count(),
            files,
        }
    }
}

impl FileView {
    fn new(
        asked: &Asked,
        Comparison { from, to, .. }: &Comparison,
        options: Options,
        (number, file): (usize, &Change),
    ) -> FileView {
        let is_there = file.kind != ChangeKind::Removed;
        let side = if is_there { to } else { from };
        let alone = match file.kind {
            ChangeKind::Renamed if file.before.is_empty() => asked.href(&file.path, &file.was),
            _ => asked.href(&file.path, b""),
        };
        let more = options.with_more_context();
        let repo = str::from_utf8(&side.package).ok();
        let repo = repo.filter(|_| !file.after.is_empty() || !file.before.is_empty());
        FileView {
            anchor: format!("d{number}"),
            path: visible::plain(&file.path),
            was: (!file.was.is_empty() && file.was != file.path).then(|| visible::plain(&file.was)),
            kind: match file.kind {
                ChangeKind::Added => "added",
                ChangeKind::Removed => "removed",
                ChangeKind::Modified => "modified",
                ChangeKind::Renamed => "renamed",
            },
            modes: modes(file),
            counts: None,
            file_href: side.file(&file.path).show_href(0),
            history_href: repo.map(|repo| {
                let rev = &side.revision;
                RepositoryAddress { repo, rev }.history_href(&file.path)
            }),
            more_context: more.map(|more| alone.clone() + &more.parameters()),
            href: alone + &options.parameters(),
            note: Some(LEFT_OUT.to_owned()),
            sections: Vec::new(),
            rest: 0,
        }
    }

    fn fill(
        &mut self,
        content: Content,
        sides: (FileAddress<'_>, FileAddress<'_>),
        options: Options,
        (is_one, rows_max): (bool, u32),
    ) {
        let texts = match content {
            Content::Texts(texts) => texts,
            Content::Binary => return self.note = Some("binary".to_owned()),
            Content::Opaque(reason) => return self.note = Some(visible::plain(reason.as_bytes())),
        };
        let diff = TextDiff::of(&texts.before, &texts.after);
        self.counts = Some(diff.counts());
        self.note = None;
        let sections = diff.sections(options.context);
        let lines = |section: &Section| section.before.len() + section.after.len();
        let rows: usize = sections.iter().map(lines).sum();
        let is_large = rows > rows_max as usize;
        if !is_one && (is_large || changed_bytes(&diff) > FILE_BYTES_MAX) {
            self.note = Some("a large difference".to_owned());
            return;
        }
        if is_large {
            self.note = Some(format!("only the first {rows_max} lines are shown"));
        }
        self.paint(
            &Painter::new(&diff, &texts, sides, options.split),
            &sections,
            rows_max,
        );
    }

    fn paint(&mut self, painter: &Painter<'_>, sections: &[Section], rows_max: u32) {
        let (mut at, mut left) = (0, rows_max as usize);
        for section in sections {
            let rows = painter.rows(section, left);
            left -= rows.len();
            self.sections.push(SectionView {
                hidden: section.after.start - at,
                range: range(section),
                rows,
            });
            at = section.after.end;
            if left == 0 {
                return;
            }
        }
        self.rest = (painter.diff.after.len() as u32).saturating_sub(at);
        if sections.is_empty() {
            (self.rest, self.more_context) = (0, None);
        }
    }
}

fn changed_bytes(diff: &TextDiff<'_>) -> usize {
    let bytes = |lines: &[&[u8]], range: &Range<u32>| -> usize {
        let lines = &lines[range.start as usize..range.end as usize];
        lines.iter().map(|line| line.len()).sum()
    };
    let of = |hunk: &Hunk| bytes(&diff.before, &hunk.before) + bytes(&diff.after, &hunk.after);
    diff.hunks.iter().map(of).sum()
}

fn modes(file: &Change) -> Option<String> {
    let (old, new) = (file.mode_before, file.mode_after);
    (old != new && old > 0 && new > 0).then(|| format!("{old:o} → {new:o}"))
}

/// `@@ -1,3 +1,4 @@`, as in git.
fn range(section: &Section) -> String {
    let side = |range: &Range<u32>| match range.end - range.start {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        lines => format!("{},{lines}", range.start + 1),
    };
    format!("@@ -{} +{} @@", side(&section.before), side(&section.after))
}

struct Painter<'d> {
    diff: &'d TextDiff<'d>,
    colours: [DocumentColours; 2],
    sides: [FileAddress<'d>; 2],
    split: bool,
}

impl<'d> Painter<'d> {
    fn new(
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

    fn rows(&self, section: &Section, count_max: usize) -> Vec<RowView> {
        let hunks = &self.diff.hunks[section.hunks.clone()];
        let words: Vec<Words> = hunks.iter().map(|hunk| self.diff.words(hunk)).collect();
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
                Row {
                    before: Some(old),
                    after: Some(new),
                } => RowView {
                    before: Some(self.cell(0, old, None, self.split)),
                    after: Some(self.cell(1, new, None, true)),
                },
                Row { before, after } => RowView {
                    before: before.map(|line| self.cell(0, line, marks(0, line), true)),
                    after: after.map(|line| self.cell(1, line, marks(1, line), true)),
                },
            });
        }
        if self.split { paired(rows) } else { rows }
    }

    /// `marks` are of a changed line.
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

/// Puts removed lines beside the added ones of their hunk.
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
