//! Definitions around the matches of a page.
//!
//! **Invariant:** a match without an answer has none: no page fails for them.

use super::definitions_of;
use crate::model::Results;
use crate::suggest::Corpus;
use frontend::{Coordinator, Document, Match, SearchHandle};
use futures_util::stream::{self, StreamExt};
use schema::message::{FileDefinition, FileRange, FileRequest};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

const READ_AT_ONCE_MAX: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Enclosing(HashMap<Arc<Document>, Vec<FileDefinition>>);

impl Enclosing {
    /// Waits up to `wait` for each file.
    pub(crate) async fn of(corpus: Corpus<'_>, matches: &[&Match], wait: Duration) -> Enclosing {
        let mut lines: HashMap<_, BTreeSet<u32>> = HashMap::new();
        let is_in_file = |found: &&&Match| !found.is_name() && found.document.change.is_none();
        for found in matches.iter().filter(is_in_file) {
            let of_document = lines.entry(Arc::clone(&found.document)).or_default();
            of_document.insert(found.line);
        }
        let files = lines.into_iter().map(async |(document, lines)| {
            let nothing = FileRange::Lines { first: 1, count: 1 };
            let (package, path) = (&document.package, &document.path);
            let request = FileRequest {
                inside: lines.into_iter().collect(),
                ..FileRequest::new(package, path, &document.revisions.commit, nothing)
            };
            let known = timeout(wait, definitions_of(corpus, request, &document.hash)).await;
            Some((Arc::clone(&document), known.ok()??.0))
        });
        let files = stream::iter(files).buffer_unordered(READ_AT_ONCE_MAX);
        Enclosing(files.filter_map(async |file| file).collect().await)
    }

    /// `matches` are all of the results.
    pub(crate) fn mark(&self, results: &mut Results<'_>, matches: &[&Match]) {
        let shown: Vec<_> = match results {
            Results::Matches(matches) => matches.iter_mut().collect(),
            Results::Groups(groups) => (groups.iter_mut()).flat_map(|it| &mut it.matches).collect(),
        };
        for (shown, found) in shown.into_iter().zip(matches) {
            let around = self.at(&found.document, found.line);
            shown.enclosing = around.map(Into::into);
        }
    }

    /// Innermost definition with the line below its name.
    pub(crate) fn at(&self, document: &Document, line: u32) -> Option<&FileDefinition> {
        let mut around = self.0.get(document)?.iter().rev();
        around.find(|it| it.line < line && line <= it.end_line)
    }
}

/// Blocks.
pub(crate) fn enclosing(
    coordinator: &Arc<Coordinator>,
    search: &SearchHandle,
    wait: Duration,
) -> impl Fn(&[&Match]) -> Enclosing + use<> {
    let coordinator = Arc::clone(coordinator);
    let (scope, runtime) = (search.scope().clone(), Handle::current());
    move |matches| {
        let (coordinator, scope) = (&coordinator, &scope);
        let corpus = Corpus { coordinator, scope };
        runtime.block_on(Enclosing::of(corpus, matches, wait))
    }
}
