//! Language of a document: by its name and the head of its text.
//!
//! In this order: file name, mode line of Emacs or Vim, extension, interpreter. Extensions that
//! languages share have [`rules`]: literal needles, in linguist's order of certainty.
//!
//! **Invariant:** the first [`HEAD_BYTES`] decide, in time linear in them.

mod interpreter;
mod mode;
mod rules;

use crate::path::{extension, split_name};
use crate::table::{Language, by_extension, by_whole_name, template};

/// Bytes of a text that decide its language: a licence and the first declarations.
pub const HEAD_BYTES: usize = 4 << 10;

impl Language {
    /// Language of a document. Bytes of `text` behind [`HEAD_BYTES`] have no effect.
    pub fn of(path: &[u8], text: &[u8]) -> Option<&'static Language> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let head = &text[..text.len().min(HEAD_BYTES)];
        let by_path = Language::of_path(path);
        // A patch quotes mode lines.
        if by_path.is_some_and(|it| it.name == "Diff") {
            return by_path;
        }
        by_whole_name(path)
            .or_else(|| mode::language(head))
            .or_else(|| by_extension_or_script(split_name(path).1, head, by_path))
    }
}

fn by_extension_or_script(
    name: &[u8],
    head: &[u8],
    by_path: Option<&'static Language>,
) -> Option<&'static Language> {
    let script = || interpreter::language(head);
    let extensions = [Some(name), template(name)].into_iter().flatten();
    for extension in extensions.filter_map(extension) {
        if let Some(rules) = rules::of_extension(extension) {
            let script = rules.may_be_scripts.then(script).flatten();
            return script.or_else(|| rules.language(head, by_path));
        }
        if by_extension(extension).is_some() {
            return by_path;
        }
    }
    script().or(by_path)
}

/// Language with a canonical name of this crate's tables.
fn canonical(name: &str) -> Option<&'static Language> {
    Language::all().iter().find(|it| it.name == name)
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|&byte| byte == b'\n')
}

#[cfg(test)]
mod tests;
