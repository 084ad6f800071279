//! Items of a stream.

use super::matches::{self, ItemView};
use super::progress;
use super::query::StreamParams;
use crate::compat::FoundFile;
use crate::symbols::Enclosing;
use frontend::query::sourcegraph::{Search, Show};
use frontend::{Document, Match};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct StreamItems {
    pub(super) view: ItemView,
    pub(super) sent: u64,
    pub(super) sent_max: u64,
    known: HashSet<(Vec<u8>, Vec<u8>)>,
    first: HashSet<Place>,
}

/// Document, line, and start in it.
type Place = (Arc<Document>, u32, usize);

fn place(found: &Match) -> Place {
    let start = found.ranges.first().map_or(0, |range| range.start);
    (Arc::clone(&found.document), found.line, start)
}

impl StreamItems {
    pub(super) fn new(search: &Search, params: &StreamParams) -> StreamItems {
        StreamItems {
            view: ItemView {
                show: search.show,
                chunks: params.chunks,
                context: params.context,
            },
            sent: 0,
            sent_max: progress::sent_max(search, params.display),
            known: HashSet::new(),
            first: HashSet::new(),
        }
    }

    /// Items of the best matches; [`of`](Self::of) leaves these out.
    pub(super) fn first(&mut self, mut matches: Vec<Match>) -> Vec<Value> {
        matches.truncate(usize::try_from(self.sent_max).unwrap_or(usize::MAX));
        let places: Vec<Place> = matches.iter().map(place).collect();
        let mut items = Vec::new();
        while let Some(best) = matches.first() {
            let document = Arc::clone(&best.document);
            let (own, others) = matches.into_iter().partition(|it| it.document == document);
            let file = FoundFile {
                matches: own,
                total: None,
            };
            items.extend(self.of(file, &Enclosing::default()));
            matches = others;
        }
        self.first.extend(places);
        items
    }

    /// Matches to read for unsent items, at most `most`.
    pub(super) fn matches_left(&self, most: usize) -> usize {
        if !matches!(self.view.show, Show::Matches | Show::Symbols) {
            return most;
        }
        let left = usize::try_from(self.sent_max - self.sent).unwrap_or(usize::MAX);
        left.saturating_add(self.first.len()).min(most)
    }

    pub(super) fn of(&mut self, mut file: FoundFile, around: &Enclosing) -> Vec<Value> {
        if self.view.show == Show::Matches {
            let left = usize::try_from(self.sent_max.saturating_sub(self.sent));
            file.matches
                .retain(|found| !self.first.contains(&place(found)));
            file.matches.truncate(left.unwrap_or(usize::MAX));
        }
        if file.matches.is_empty() {
            return Vec::new();
        }
        let document = file.matches[0].document.clone();
        let count = file.matches.len() as u64;
        let (items, sent) = match self.view.show {
            Show::Repositories | Show::Directories => {
                let item = self.group(&document);
                let sent = u64::from(item.is_some());
                (item.into_iter().collect(), sent)
            }
            Show::Files => (vec![matches::path(&document, &file.matches)], 1),
            Show::Symbols => (
                vec![matches::symbols(&document, &file.matches, around)],
                count,
            ),
            Show::Matches if file.matches.iter().all(|found| found.is_name()) => {
                (vec![matches::path(&document, &file.matches)], count)
            }
            Show::Matches => (matches::contents(&document, file.matches, self.view), count),
        };
        self.sent += sent;
        items
    }

    fn group(&mut self, document: &Document) -> Option<Value> {
        let is_repository = self.view.show == Show::Repositories;
        let slash = document.path.iter().rposition(|&byte| byte == b'/');
        let end = slash.filter(|_| !is_repository).unwrap_or(0);
        let group = (document.package.clone(), document.path[..end].to_vec());
        let item = if is_repository {
            matches::repository(&group.0)
        } else {
            let [repository, path] = [&group.0, &group.1].map(|name| matches::text(name));
            json!({ "type": "path", "repository": repository, "path": path })
        };
        self.known.insert(group).then_some(item)
    }
}
