//! Colours of source text in pages: classes of CSS, and a cache of lexer states at line starts,
//! since results show lines from the middle of files.
//!
//! A file is lexed once for all its pages and callers of a scope, by the hash of its text. Entries
//! are small: the lines that begin inside a comment or a string.
//!
//! **Invariant:** colours never fail a page nor delay it for long. Files that are too large, late
//! or many are lexed from their shown lines alone.

pub(crate) use language::lexer::{Colour, ColouredParts, Syntax};

use crate::http::blocking;
use crate::suggest::Corpus;
use frontend::cache::{Built, Cache, CacheConfig};
use frontend::{Coordinator, Document, DocumentRevisions, Scope};
use futures_util::future::join_all;
use language::lexer::LineState;
use schema::message::{FileRange, FileReply, FileRequest};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Coloured bytes of a line.
const LINE_BYTES_MAX: usize = 4096;

pub(crate) fn class(colour: Colour) -> &'static str {
    match colour {
        Colour::Comment => "c-c",
        Colour::String => "c-s",
        Colour::Number => "c-n",
        Colour::Keyword => "c-k",
        Colour::Type => "c-t",
        Colour::Meta => "c-p",
        Colour::Key => "c-f",
        Colour::Added => "c-i",
        Colour::Removed => "c-d",
    }
}

pub(crate) struct DocumentColours {
    syntax: Option<&'static Syntax>,
    /// `None`: a line continues the previous one if that was read.
    states: Option<Arc<LineStates>>,
    next: Cell<(u32, LineState)>,
}

impl DocumentColours {
    /// Colours for reading in line order. From the middle of a file, the initial state is taken for
    /// code.
    pub(crate) fn reading(language: &str) -> DocumentColours {
        DocumentColours::new(language, None)
    }

    pub(crate) fn new(language: &str, states: Option<Arc<LineStates>>) -> DocumentColours {
        let syntax = Syntax::of(language);
        let begin = syntax.map_or(LineState::Code, Syntax::begin);
        DocumentColours {
            syntax,
            states,
            next: Cell::new((1, begin)),
        }
    }

    /// Guesses whether consecutive lines begin inside a block comment: it ends before one begins,
    /// or a line begins with a star.
    pub(crate) fn guess<'t>(&self, first: u32, lines: impl Iterator<Item = &'t [u8]>) {
        let Some(syntax) = self.syntax else {
            return;
        };
        if first == 1 || self.states.is_some() || self.next.get().0 == first {
            return;
        }
        let lines = lines.map(|line| &line[..line.len().min(LINE_BYTES_MAX)]);
        if let Some(state) = syntax.guess(lines) {
            self.next.set((first, state));
        }
    }

    /// `text` is a whole line without its end.
    pub(crate) fn tokens(&self, number: u32, text: &[u8]) -> ColouredParts {
        let mut tokens = Vec::new();
        let Some(syntax) = self.syntax else {
            return tokens;
        };
        let state = match (&self.states, self.next.get()) {
            (Some(states), _) => states.at(number),
            (None, (next, state)) if next == number => state,
            (None, _) => LineState::Code,
        };
        let shown = &text[..text.len().min(LINE_BYTES_MAX)];
        let end = syntax.line(shown, state, &mut tokens);
        self.next.set((number.saturating_add(1), end));
        tokens
    }
}

/// Lexer states at the line starts of a text, as changes of the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineStates {
    /// Lines, from 1, ascending.
    changes: Vec<(u32, LineState)>,
}

impl LineStates {
    pub(crate) fn of(syntax: &Syntax, text: &[u8]) -> LineStates {
        let (mut state, mut tokens) = (syntax.begin(), Vec::new());
        let mut changes = vec![(1, state)];
        for (number, line) in (2..).zip(split_lines(text)) {
            tokens.clear();
            let next = syntax.line(line, state, &mut tokens);
            if next != state {
                changes.push((number, next));
                state = next;
            }
        }
        changes.shrink_to_fit();
        LineStates { changes }
    }

    pub(crate) fn at(&self, line: u32) -> LineState {
        let after = self.changes.partition_point(|(first, _)| *first <= line);
        let last = after.checked_sub(1).map(|last| self.changes[last].1);
        last.unwrap_or_default()
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self) + size_of_val(&self.changes[..])
    }
}

/// Strips `\n` and `\r\n`.
pub(crate) fn split_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}

/// Bytes of a lexed file: 5 ms of work.
const FILE_BYTES_MAX: u64 = 1 << 20;

const DOCUMENTS_MAX: usize = 32;

/// Keeps a page within 25 ms under load. Lexing continues for the next page.
const WAIT_MAX: Duration = Duration::from_millis(15);

/// Entries never become stale: only frees memory.
const LIFE_MAX: Duration = Duration::from_secs(3600);

/// Life of the record of an unreadable file.
const UNREAD_LIFE_MAX: Duration = Duration::from_secs(60);

/// Bytes of all entries. One takes some hundred bytes.
const KEPT_BYTES_MAX: u64 = 16 << 20;

/// Files fetched at once: at most 16 MiB.
const READ_AT_ONCE_MAX: usize = 8;

/// Files lexed or queued. More are refused.
const WAITING_MAX: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ColourKey {
    scope: [u8; 16],
    hash: Vec<u8>,
    language: String,
}

/// `None`: unreadable.
type Kept = Option<Arc<LineStates>>;

pub(crate) struct ColourCache {
    kept: Arc<Cache<Arc<ColourKey>, Kept, ()>>,
    reads: Arc<Semaphore>,
}

impl Default for ColourCache {
    fn default() -> ColourCache {
        let config = CacheConfig {
            life: LIFE_MAX,
            hard: Duration::ZERO,
            negative: UNREAD_LIFE_MAX,
            bytes_max: KEPT_BYTES_MAX,
            builds_max: WAITING_MAX,
            ..CacheConfig::new("colours")
        };
        ColourCache {
            kept: Cache::new(config, weigh),
            reads: Arc::new(Semaphore::new(READ_AT_ONCE_MAX)),
        }
    }
}

#[derive(Default)]
pub(crate) struct PageColours {
    states: HashMap<Arc<Document>, Arc<LineStates>>,
}

impl PageColours {
    pub(crate) fn of(&self, document: &Document) -> DocumentColours {
        let states = self.states.get(document).cloned();
        DocumentColours::new(&document.language, states)
    }
}

impl ColourCache {
    pub(crate) async fn of(
        &self,
        coordinator: &Arc<Coordinator>,
        scope: &Scope,
        documents: Vec<Arc<Document>>,
    ) -> PageColours {
        let deadline = Instant::now() + WAIT_MAX;
        let mut wanted: Vec<Arc<Document>> = Vec::new();
        for document in documents {
            let is_read = Syntax::of(&document.language).is_some_and(Syntax::lasts_over_lines);
            let is_read = is_read && document.change.is_none();
            if is_read && !wanted.contains(&document) && wanted.len() < DOCUMENTS_MAX {
                wanted.push(document);
            }
        }
        let found = wanted.into_iter().map(|document| async {
            let states = self.states(coordinator, scope, &document, deadline).await?;
            Some((document, states))
        });
        PageColours {
            states: join_all(found).await.into_iter().flatten().collect(),
        }
    }

    /// The beginning of a file needs no look-up.
    pub(crate) async fn of_file(
        &self,
        coordinator: &Arc<Coordinator>,
        scope: &Scope,
        (package, path): (&[u8], &[u8]),
        reply: &FileReply,
    ) -> DocumentColours {
        if reply.first_line <= 1 {
            return DocumentColours::reading(&reply.language);
        }
        let document = Arc::new(Document {
            package: package.to_vec(),
            path: path.to_vec(),
            language: reply.language.clone(),
            hash: reply.hash.clone(),
            revisions: DocumentRevisions {
                commit: reply.commit.clone(),
                ..DocumentRevisions::default()
            },
            change: None,
        });
        let found = self
            .of(coordinator, scope, vec![Arc::clone(&document)])
            .await;
        found.of(&document)
    }

    /// `None` if they are late.
    async fn states(
        &self,
        coordinator: &Arc<Coordinator>,
        scope: &Scope,
        document: &Arc<Document>,
        deadline: Instant,
    ) -> Kept {
        let key = Arc::new(ColourKey {
            scope: scope.hash(),
            hash: document.hash.clone(),
            language: document.language.clone(),
        });
        let (coordinator, scope) = (Arc::clone(coordinator), scope.clone());
        let (document, reads) = (Arc::clone(document), Arc::clone(&self.reads));
        let build = || async move {
            let _permit = reads.acquire_owned().await;
            let corpus = Corpus {
                coordinator: &coordinator,
                scope: &scope,
            };
            let text = fetch(corpus, &document).await;
            let built = match text {
                Some(text) => blocking(move || read(&document.language, &text)).await,
                None => None,
            };
            match built {
                None => Built::Negative(None),
                built => Built::Value(built),
            }
        };
        let found = self.kept.get_or_build(key, Some(deadline), build).await;
        found.ok().flatten()
    }
}

fn read(language: &str, text: &[u8]) -> Kept {
    let syntax = Syntax::of(language)?;
    Some(Arc::new(LineStates::of(syntax, text)))
}

/// `None` if the text is too large or gone.
async fn fetch(corpus: Corpus<'_>, document: &Document) -> Option<Vec<u8>> {
    let range = FileRange::Bytes {
        offset: 0,
        count: FILE_BYTES_MAX,
    };
    let commit = &document.revisions.commit;
    let request = FileRequest::new(&document.package, &document.path, commit, range);
    let mut reply = corpus.file(&request).await.ok()?;
    let is_it = reply.found && reply.hash == document.hash && reply.offset == 0;
    if !is_it || reply.total_bytes > FILE_BYTES_MAX {
        return None;
    }
    let read = corpus.read_on(request, &mut reply, FILE_BYTES_MAX).await;
    read.ok()?.then_some(reply.text)
}

fn weigh(key: &Arc<ColourKey>, kept: &Kept) -> usize {
    let states = kept.as_ref().map_or(0, |states| states.bytes());
    size_of::<ColourKey>() + key.hash.len() + key.language.len() + states
}

#[cfg(test)]
mod tests;
