//! Text of commits and their changes: `package@id path:number:+line`.

use query::date_shown;
use schema::line_text::LineText;
use schema::message::{BatchView, ChangedLine, CommitChange};

const ID_DIGITS: usize = 8;

/// `package@id` of a commit, `package@id path` of its change of a file.
pub fn commit_name(package: &[u8], commit: &str, path: &[u8]) -> Vec<u8> {
    let id = commit.as_bytes();
    let short = &id[..id.len().min(ID_DIGITS)];
    let mut name = [package, b"@", short].concat();
    if path != id {
        name.push(b' ');
        name.extend_from_slice(path);
    }
    name
}

/// Date, author and subject, each behind a tab, on one line.
pub fn about_commit(change: &CommitChange) -> Vec<u8> {
    let date = date_shown(change.committer.seconds).into_bytes();
    let parts = [&date, &change.author.name, &change.subject];
    let mut about: Vec<u8> = parts
        .into_iter()
        .flat_map(|it| [b"\t", &it[..]].concat())
        .collect();
    for byte in about
        .iter_mut()
        .filter(|byte| matches!(**byte, b'\n' | b'\r'))
    {
        *byte = b' ';
    }
    about
}

pub fn shown_place(number: u32, changed: Option<ChangedLine>) -> (u32, &'static [u8]) {
    match changed {
        None => (number, b""),
        Some(ChangedLine {
            number,
            is_added: true,
        }) => (number, b"+"),
        Some(ChangedLine { number, .. }) => (number, b"-"),
    }
}

pub(crate) fn begin(text: &mut LineText, batch: &BatchView<'_>) {
    match batch.change() {
        None => text.begin(batch.package, batch.path),
        Some(change) => {
            let name = commit_name(batch.package, batch.commit, batch.path);
            text.begin_named(&[&name], &about_commit(&change));
        }
    }
}
