//! Changed files with their lines, as far as the bounds allow.

use super::super::filters;
use super::super::visible;
use super::painter::{Painter, SectionView};
use crate::diff::{AskedDiff, Budget, Comparison, FileContent, read};
use crate::http::blocking;
use crate::http::links::{FileAddress, RepositoryAddress};
use crate::problem::Problem;
use crate::search::params::Params;
use crate::suggest::Corpus;
use askama::Template;
use language::diff::{Hunk, Section, TextDiff};
use schema::message::{Change, ChangeKind};
use std::ops::Range;

const FILE_ROWS_MAX: u32 = 400;
const FILE_BYTES_MAX: usize = 20_000;

const ROWS_MAX: u32 = 20_000;

const LEFT_OUT: &str = "not compared on this page";

const CONTEXT: u32 = 3;

const CONTEXTS: [u32; 2] = [25, 200];

#[derive(Clone, Copy, Debug)]
pub(super) struct DiffOptions {
    pub(super) split: bool,
    pub(super) context: u32,
}

#[derive(Template)]
#[template(path = "diff_files.html")]
pub(in super::super) struct DiffView {
    split: bool,
    files: Vec<FileView>,
    more: bool,
    sums: (u32, u32),
    uncounted: usize,
}

struct FileView {
    anchor: String,
    path: String,
    was: Option<String>,
    kind: &'static str,
    modes: Option<String>,
    counts: Option<(u32, u32)>,
    href: String,
    file_href: String,
    history_href: Option<String>,
    more_context: Option<String>,
    note: Option<String>,
    sections: Vec<SectionView>,
    rest: u32,
}

impl FileView {
    fn is_shown(&self) -> bool {
        self.note.as_deref() != Some(LEFT_OUT)
    }
}

impl DiffOptions {
    pub(super) const PARAMETERS: &[&str] = &["view", "context"];

    pub(super) fn new(params: &Params) -> Result<DiffOptions, Problem> {
        let choices = [("unified", false), ("split", true), ("", false)];
        let context = match params.text("context")? {
            Some("all") => u32::MAX,
            _ => params.number("context", CONTEXT)?,
        };
        Ok(DiffOptions {
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

    fn with_more_context(self) -> Option<DiffOptions> {
        let larger = CONTEXTS.into_iter().find(|context| *context > self.context);
        let context = larger.unwrap_or(u32::MAX);
        (self.context < u32::MAX).then_some(DiffOptions { context, ..self })
    }
}

impl Default for DiffOptions {
    fn default() -> DiffOptions {
        DiffOptions {
            split: false,
            context: CONTEXT,
        }
    }
}

impl DiffView {
    pub(in super::super) async fn of_commit(corpus: Corpus<'_>, compared: &Comparison) -> DiffView {
        let asked = AskedDiff {
            from: Some(compared.from.clone()).filter(|from| !from.revision.is_empty()),
            to: compared.to.clone(),
            path: Vec::new(),
            from_path: Vec::new(),
        };
        DiffView::of(corpus, &asked, compared, DiffOptions::default()).await
    }

    pub(super) async fn of(
        corpus: Corpus<'_>,
        asked: &AskedDiff,
        compared: &Comparison,
        options: DiffOptions,
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
        asked: &AskedDiff,
        Comparison { from, to, .. }: &Comparison,
        options: DiffOptions,
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
        content: FileContent,
        sides: (FileAddress<'_>, FileAddress<'_>),
        options: DiffOptions,
        (is_one, rows_max): (bool, u32),
    ) {
        let texts = match content {
            FileContent::Texts(texts) => texts,
            FileContent::Binary => return self.note = Some("binary".to_owned()),
            FileContent::Opaque(reason) => {
                return self.note = Some(visible::plain(reason.as_bytes()));
            }
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
            let painted = painter.section(section, section.after.start - at, left);
            left -= painted.rows.len();
            self.sections.push(painted);
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
