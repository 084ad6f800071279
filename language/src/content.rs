//! Language of a document, by file name, mode line, extension or interpreter, in this order.
//!
//! **Invariant:** the first [`HEAD_BYTES`] of a text decide, in linear time.

mod interpreter;
mod mode;
mod rules;

use crate::path::{extension, split_name};
use crate::table::{Language, by_extension, by_whole_name, template};

/// Enough for a licence and the first declarations.
pub const HEAD_BYTES: usize = 4 << 10;

impl Language {
    pub fn of(path: &[u8], text: &[u8]) -> Option<&'static Language> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let head = &text[..text.len().min(HEAD_BYTES)];
        let by_path = Language::of_path(path);
        // A patch quotes mode lines.
        if by_path.is_some_and(|it| it.name == "Diff") {
            return by_path;
        }
        by_whole_name(path)
            .or_else(|| mode::language(head, text.len() < HEAD_BYTES))
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

#[cfg(test)]
mod tests;
