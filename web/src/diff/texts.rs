//! Texts of changed files, within a budget.

use super::asked::{Comparison, Side};
use crate::problem::Problem;
use crate::suggest::Corpus;
use futures_util::stream::{self, StreamExt};
use language::Language;
use language::diff::is_binary;
use schema::message::{Change, ChangeKind, FileRange, FileRequest, FileSource};

const LINK: u16 = 0o120_000;
const SUBMODULE: u16 = 0o160_000;

const AT_ONCE_MAX: usize = 8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) files: usize,
    pub(crate) file_bytes: u64,
    pub(crate) bytes: usize,
}

impl Budget {
    pub(crate) const MANY: Budget = Budget {
        files: 100,
        file_bytes: 4 << 20,
        bytes: 8 << 20,
    };
    pub(crate) const ONE: Budget = Budget {
        files: 1,
        file_bytes: 8 << 20,
        bytes: 16 << 20,
    };
}

pub(crate) enum FileContent {
    Texts(Texts),
    Binary,
    Opaque(String),
}

#[derive(Default)]
pub(crate) struct Texts {
    pub(crate) before: Vec<u8>,
    pub(crate) after: Vec<u8>,
    pub(crate) language: &'static str,
}

pub(crate) async fn read(
    corpus: Corpus<'_>,
    Comparison { from, to, .. }: &Comparison,
    files: &[Change],
    budget: Budget,
) -> Vec<FileContent> {
    let files = &files[..files.len().min(budget.files)];
    let (mut contents, mut bytes) = (Vec::new(), 0);
    let reads = files
        .iter()
        .map(|file| content(corpus, (from, to), file, budget.file_bytes));
    let reads: Vec<_> = reads.collect();
    let mut reads = stream::iter(reads).buffered(AT_ONCE_MAX);
    while bytes <= budget.bytes
        && let Some(content) = reads.next().await
    {
        if let FileContent::Texts(texts) = &content {
            bytes += texts.before.len() + texts.after.len();
        }
        contents.push(content);
    }
    contents
}

async fn content(
    corpus: Corpus<'_>,
    (from, to): (&Side, &Side),
    file: &Change,
    bytes_max: u64,
) -> FileContent {
    let modes = [file.mode_before, file.mode_after];
    if modes.contains(&SUBMODULE) {
        return FileContent::Texts(submodules(file));
    }
    if modes.contains(&LINK) {
        return FileContent::Opaque("a symbolic link".to_owned());
    }
    let was = match &file.was[..] {
        b"" => &file.path,
        was => was,
    };
    let before = side(corpus, from, was, &file.before, bytes_max);
    let after = side(corpus, to, &file.path, &file.after, bytes_max);
    let texts = match file.kind {
        ChangeKind::Added => after.await.map(|after| (Vec::new(), after)),
        ChangeKind::Removed => before.await.map(|before| (before, Vec::new())),
        _ => match (before.await, after.await) {
            (Ok(before), Ok(after)) => Ok((before, after)),
            (Err(reason), _) | (_, Err(reason)) => Err(reason),
        },
    };
    match texts {
        Err(reason) => FileContent::Opaque(reason),
        Ok((before, after)) if is_binary(&before) || is_binary(&after) => FileContent::Binary,
        Ok((before, after)) => {
            let known = if after.is_empty() { &before } else { &after };
            let language = Language::of(&file.path, known).map_or("", |it| it.name);
            FileContent::Texts(Texts {
                before,
                after,
                language,
            })
        }
    }
}

fn submodules(file: &Change) -> Texts {
    let line = |mode, id: &str| match mode {
        SUBMODULE => format!("Subproject commit {id}\n").into_bytes(),
        _ => Vec::new(),
    };
    Texts {
        before: line(file.mode_before, &file.before),
        after: line(file.mode_after, &file.after),
        language: "",
    }
}

pub(crate) async fn text(
    corpus: Corpus<'_>,
    side: &Side,
    path: &[u8],
    bytes_max: u64,
) -> Result<Vec<u8>, String> {
    self::side(corpus, side, path, "", bytes_max).await
}

async fn side(
    corpus: Corpus<'_>,
    Side { package, revision }: &Side,
    path: &[u8],
    id: &str,
    bytes_max: u64,
) -> Result<Vec<u8>, String> {
    let range = FileRange::Bytes {
        offset: 0,
        count: bytes_max,
    };
    let request = FileRequest {
        source: match &revision[..] {
            "" => FileSource::TextOrOriginal,
            _ => FileSource::Original,
        },
        ..FileRequest::new(package, path, revision, range)
    };
    let reply = corpus.file(&request).await;
    let mut reply = reply.map_err(|error| Problem::from(error).document.detail)?;
    if !reply.found {
        return Err(match (&reply.reason[..], id) {
            ("", "") => "one side has no such file, or it is not indexed".to_owned(),
            ("", id) => format!("object {id} is missing, or cannot be read"),
            (reason, _) => reason.to_owned(),
        });
    }
    if reply.total_bytes > bytes_max {
        return Err(format!("too large: {} bytes", reply.total_bytes));
    }
    match corpus.read_on(request, &mut reply, bytes_max).await {
        Ok(true) => Ok(reply.text),
        _ => Err("it has changed while it was read".to_owned()),
    }
}
