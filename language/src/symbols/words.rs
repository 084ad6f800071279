//! Tables such as `meaning: word word; meaning: word`. Later words win.

use super::Kind;
use fnv::FnvHashMap;

#[derive(Default)]
pub(super) struct Words<T>(FnvHashMap<&'static [u8], T>);

impl<T: Copy> Words<T> {
    pub(super) fn of(tables: &[&'static str], meaning: fn(&str) -> T) -> Words<T> {
        let rows = tables.iter().flat_map(|table| table.split(';'));
        let rows = rows.filter_map(|row| row.trim().split_once(": "));
        let words = rows.flat_map(|(of, row)| {
            row.split_whitespace()
                .map(move |it| (it.as_bytes(), meaning(of)))
        });
        Words(words.collect())
    }

    pub(super) fn get(&self, word: &[u8]) -> Option<T> {
        self.0.get(word).copied()
    }
}

pub(super) fn kind(name: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name)
}
