//! Bounds of commits: messages in a repository have any length, frames do not.

use super::lookup::Commit;
use super::signature::Signature;

/// Bytes of a name, address or tag.
const NAME_BYTES_MAX: usize = 1 << 10;

/// Bytes of a message's first paragraph, and of the rest.
const SUBJECT_BYTES_MAX: usize = 4 << 10;
const BODY_BYTES_MAX: usize = 128 << 10;

/// Parents and tags. No commit of Linux has more than 66 parents.
const PARENTS_MAX: usize = 512;
const TAGS_MAX: usize = 64;

impl Commit {
    /// Cuts long parts, and sets [`shortened`](Commit::shortened).
    pub fn shorten(&mut self) {
        let mut is_cut = self.parents.len() > PARENTS_MAX || self.tags.len() > TAGS_MAX;
        self.parents.truncate(PARENTS_MAX);
        self.tags.truncate(TAGS_MAX);
        let people = [&mut self.author, &mut self.committer];
        let names = people
            .into_iter()
            .flat_map(|Signature { name, email, .. }| [name, email])
            .chain(&mut self.tags)
            .map(|name| (name, NAME_BYTES_MAX));
        let message = [
            (&mut self.subject, SUBJECT_BYTES_MAX),
            (&mut self.body, BODY_BYTES_MAX),
        ];
        for (text, bytes_max) in names.chain(message) {
            is_cut |= cut(text, bytes_max);
        }
        self.shortened |= is_cut;
    }
}

/// Cuts text at a UTF-8 boundary. Returns true if longer.
fn cut(text: &mut Vec<u8>, bytes_max: usize) -> bool {
    if text.len() <= bytes_max {
        return false;
    }
    let is_inside = |byte: u8| byte & 0xc0 == 0x80;
    let start = (bytes_max - 3..=bytes_max).rev();
    let end = start.into_iter().find(|&end| !is_inside(text[end]));
    text.truncate(end.unwrap_or(bytes_max));
    true
}
