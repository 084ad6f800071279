//! Differences of two revisions, packages, directories or files.

use super::call::Call;
use super::openapi::described as doc;
use crate::diff::{AskedDiff, Budget, FileContent, Side, Texts, compare, read};
use crate::http::{blocking, response};
use crate::model::{
    ChangedFile, Diff, DiffFile, DiffHunk, DiffLine, DiffLineKind, DiffObject, DiffSide,
    readable_owned,
};
use crate::problem::Problem;
use crate::search::params::{NEXT, position};
use axum::response::Response;
use language::diff::{DiffRow, Section, TextDiff};
use schema::message::Change;
use std::ops::Range;

const LINES_MAX: usize = 20_000;

const CONTEXT: u32 = 3;

/// Compare two revisions of a repository, or two packages.
#[utoipa::path(
    get, path = "/api/v2/diff", operation_id = "diff", tag = "repositories",
    params(doc::DiffParams),
    responses((status = 200, description = "Files that differ, with their changed lines", body = Diff), doc::Any, doc::Repositories)
)]
pub(crate) async fn diff(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::DiffParams::NAMES])?;
    let asked = AskedDiff::new(&call.params)?;
    let context = call.params.number("context", CONTEXT)?;
    let after = call.params.position("after", NEXT)?;
    let scope = asked.scope(&call.viewer).await?;
    let corpus = call.corpus(&scope);
    let compared = compare(corpus, &asked).await?;
    let first = compared
        .files
        .partition_point(|file| !after.is_empty() && file.path <= after);
    let files = &compared.files[first..];
    let budget = if files.len() == 1 {
        Budget::ONE
    } else {
        Budget::MANY
    };
    let contents = read(corpus, &compared, files, budget).await;
    let last = contents.len().checked_sub(1).map(|last| &files[last]);
    let next = last.filter(|_| contents.len() < files.len());
    let next = next.map(|last| position(&last.path));
    let changes = files[..contents.len()].to_vec();
    let files = blocking(move || {
        let mut lines_left = LINES_MAX;
        let pairs = changes.iter().zip(contents);
        pairs
            .map(|(change, content)| file(change, content, context, &mut lines_left))
            .collect()
    });
    Ok(response::json(&Diff {
        from: shown(&compared.from),
        to: shown(&compared.to),
        files: files.await,
        complete: !compared.more,
        next,
    }))
}

fn shown(side: &Side) -> DiffSide {
    let (package, package_base64) = readable_owned(&side.package);
    DiffSide {
        package,
        package_base64,
        commit: Some(side.revision.clone()).filter(|commit| !commit.is_empty()),
    }
}

fn file(change: &Change, content: FileContent, context: u32, lines_left: &mut usize) -> DiffFile {
    let ChangedFile {
        path,
        path_base64,
        kind,
        ..
    } = change.into();
    let (was, was_base64) = match &change.was[..] {
        b"" => (None, None),
        was => {
            let (was, exact) = readable_owned(was);
            (Some(was), exact)
        }
    };
    let object = |id: &str, mode: u16| {
        (mode > 0).then(|| DiffObject {
            id: id.to_owned(),
            mode: format!("{mode:06o}"),
        })
    };
    let mut file = DiffFile {
        path,
        path_base64,
        kind,
        was,
        was_base64,
        before: object(&change.before, change.mode_before),
        after: object(&change.after, change.mode_after),
        added: None,
        removed: None,
        omitted: None,
        hunks: Vec::new(),
    };
    match content {
        FileContent::Binary => file.omitted = Some("binary".to_owned()),
        FileContent::Opaque(reason) => file.omitted = Some(reason),
        FileContent::Texts(texts) => fill(&mut file, &texts, context, lines_left),
    }
    file
}

fn fill(file: &mut DiffFile, texts: &Texts, context: u32, lines_left: &mut usize) {
    let diff = TextDiff::of(&texts.before, &texts.after);
    let (added, removed) = diff.counts();
    (file.added, file.removed) = (Some(added), Some(removed));
    let sections = diff.sections(context);
    let lines = |section: &Section| section.before.len() + section.after.len();
    let lines: usize = sections.iter().map(lines).sum();
    if lines > *lines_left {
        file.omitted = Some("more lines than an answer has: ask for this file alone".to_owned());
        return;
    }
    *lines_left -= lines;
    file.hunks = sections
        .iter()
        .map(|section| hunk(&diff, section))
        .collect();
}

fn hunk(diff: &TextDiff<'_>, section: &Section) -> DiffHunk {
    let first = |range: &Range<u32>| range.start + u32::from(!range.is_empty());
    DiffHunk {
        before: first(&section.before),
        before_lines: section.before.len() as u32,
        after: first(&section.after),
        after_lines: section.after.len() as u32,
        lines: lines(diff, section),
    }
}

fn lines(diff: &TextDiff<'_>, section: &Section) -> Vec<DiffLine> {
    let hunks = &diff.hunks[section.hunks.clone()];
    let words = hunks.iter().map(|hunk| diff.words(hunk));
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (old, new) in words {
        before.extend(old);
        after.extend(new);
    }
    let (mut before, mut after) = (before.into_iter(), after.into_iter());
    let line = |row: DiffRow| match (row.before, row.after) {
        (_, Some(new)) if row.before.is_some() => {
            line(diff.after[new as usize], DiffLineKind::Same, None)
        }
        (None, Some(new)) => line(diff.after[new as usize], DiffLineKind::Added, after.next()),
        (old, _) => {
            let old = old.expect("a row has a line") as usize;
            line(diff.before[old], DiffLineKind::Removed, before.next())
        }
    };
    diff.rows(section).into_iter().map(line).collect()
}

fn line(text: &[u8], kind: DiffLineKind, words: Option<Vec<Range<usize>>>) -> DiffLine {
    let bare = text.strip_suffix(b"\n");
    let (shown, text_base64) = readable_owned(bare.unwrap_or(text));
    let words = words.unwrap_or_default().into_iter();
    DiffLine {
        kind,
        text: shown,
        text_base64,
        words: words
            .map(|word| (word.start as u32, word.end as u32))
            .collect(),
        no_newline: bare.is_none(),
    }
}
