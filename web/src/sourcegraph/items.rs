//! Items of a stream.

use super::matches::{self, ItemView};
use super::query::StreamParams;
use crate::compat::FoundFile;
use frontend::Document;
use frontend::query::sourcegraph::{Search, Show};
use serde_json::{Value, json};
use std::collections::HashSet;

pub(super) struct StreamItems {
    pub(super) view: ItemView,
    pub(super) sent: u64,
    known: HashSet<(Vec<u8>, Vec<u8>)>,
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
            known: HashSet::new(),
        }
    }

    pub(super) fn of(&mut self, file: FoundFile) -> Vec<Value> {
        let document = file.matches[0].document.clone();
        let count = file.matches.len() as u64;
        let (items, sent) = match self.view.show {
            Show::Repositories | Show::Directories => {
                let item = self.group(&document);
                let sent = u64::from(item.is_some());
                (item.into_iter().collect(), sent)
            }
            Show::Files => (vec![matches::path(&document, &file.matches)], 1),
            Show::Symbols => (vec![matches::symbols(&document, &file.matches)], count),
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
