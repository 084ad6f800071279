//! Unescaped text with the places of its pieces in the input, to locate errors.
//!
//! **Invariant:** the pieces of a text begin at 0 and ascend, unless it is empty.

use super::error::BadQuery;
use super::regexp::check_syntax;
use schema::message::{Expr, Pattern};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SourceText {
    text: String,
    pieces: Vec<(usize, usize)>,
}

impl SourceText {
    pub(super) fn plain(at: usize, text: &str) -> SourceText {
        let mut out = SourceText::default();
        out.push(at, text);
        out
    }

    pub(super) fn push(&mut self, at: usize, part: &str) {
        if self.text.is_empty() || self.at(self.text.len()) != at {
            self.pieces.push((self.text.len(), at));
        }
        self.text.push_str(part);
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn at(&self, offset: usize) -> usize {
        let next = self.pieces.partition_point(|&(start, _)| start <= offset);
        let (start, typed) = match next.checked_sub(1) {
            Some(index) => self.pieces[index],
            None => (0, 0),
        };
        typed + (offset - start)
    }

    pub(super) fn without_prefix(self, prefix: char) -> SourceText {
        let mut out = SourceText::default();
        let letters = self.text.char_indices();
        let skipped = usize::from(self.text.starts_with(prefix));
        for (offset, letter) in letters.skip(skipped) {
            out.push(self.at(offset), letter.encode_utf8(&mut [0; 4]));
        }
        out
    }

    /// Moves offsets in `outer` to those of its input.
    pub(super) fn within(self, outer: &SourceText) -> SourceText {
        let mut out = SourceText::default();
        for (offset, letter) in self.text.char_indices() {
            let at = outer.at(self.at(offset));
            out.push(at, letter.encode_utf8(&mut [0; 4]));
        }
        out
    }

    /// Canonical form of a regular expression: `/` unescaped, no trailing backslash (possible in a
    /// comment), so the closing slash is unambiguous.
    pub(super) fn into_regexp(self) -> SourceText {
        let mut out = SourceText::default();
        let mut escaped = false;
        for (offset, letter) in self.text.char_indices() {
            if escaped && letter != '/' {
                out.push(self.at(offset - 1), "\\");
            }
            if escaped || letter != '\\' {
                out.push(self.at(offset), letter.encode_utf8(&mut [0; 4]));
                escaped = false;
            } else {
                escaped = true;
            }
        }
        if escaped {
            let last = self.text.len() - 1;
            out.push(self.at(last), "\\");
            if check_syntax(&self.text).is_ok() {
                out.push(self.at(last) + 1, "\n");
            }
        }
        out
    }
}

/// Atoms of an expression with their sources. Equal atoms have equal errors, so
/// the first stands for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SourceMap(Vec<AtomSource>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct AtomSource {
    atom: Expr,
    text: SourceText,
    /// The parameter, if the atom comes from one.
    filter: Option<String>,
}

impl AtomSource {
    fn has_forms(&self) -> bool {
        matches!(&self.atom, Expr::Pattern(pattern) if pattern.text != self.text.as_str())
    }
}

impl SourceMap {
    pub(super) fn add(&mut self, atom: &Expr, text: SourceText, parameter: Option<&str>) {
        self.0.push(AtomSource {
            atom: atom.clone(),
            text,
            filter: parameter.map(str::to_owned),
        });
    }

    /// Literals that are searched for in [other forms](super::forms), too.
    pub(super) fn with_forms(&self) -> impl Iterator<Item = &SourceText> {
        let sources = self.0.iter().filter(|source| source.has_forms());
        sources.map(|source| &source.text)
    }

    pub(super) fn locate(&self, expr: &Expr, bad: BadQuery) -> BadQuery {
        let atoms = expr.atoms();
        let atom = bad.atom.and_then(|index| atoms.get(index));
        let source = atom.and_then(|atom| self.0.iter().find(|source| is_same(&source.atom, atom)));
        let Some(source) = source else { return bad };
        let at = bad.at.filter(|_| !source.has_forms()).unwrap_or_default();
        BadQuery {
            at: Some(source.text.at(at)),
            filter: source.filter.clone(),
            atom: None,
            ..bad
        }
    }
}

/// Compares atoms, but not places: restrictions beside an atom set its place.
fn is_same(a: &Expr, b: &Expr) -> bool {
    match (a, b) {
        (Expr::Pattern(a), Expr::Pattern(b)) => {
            let of = |it: &Pattern| (it.syntax, it.ignore_case, it.word, it.in_path);
            a.text == b.text && of(a) == of(b)
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_offsets_to_the_input() {
        let mut text = SourceText::default();
        text.push(3, "ab");
        text.push(5, "c");
        text.push(7, "ü");
        text.push(10, "d");
        assert_eq!(text.as_str(), "abcüd");
        let typed_at: Vec<usize> = [0, 2, 3, 5, 6].map(|offset| text.at(offset)).into();
        assert_eq!(typed_at, [3, 5, 7, 10, 11]);
        assert_eq!(SourceText::default().at(0), 0);
    }

    #[test]
    fn regular_expressions_have_a_canonical_form() {
        let check = |typed: &str, text: &str| {
            let regexp = SourceText::plain(0, typed).into_regexp();
            assert_eq!(regexp.as_str(), text, "{typed}");
            assert_eq!(regexp.clone().into_regexp().as_str(), text);
            regexp
        };
        check(r"a\.b", r"a\.b");
        let regexp = check(r"a\/b\\/c", r"a/b\\/c");
        assert_eq!(regexp.at(2), 3);
        check(r"a\", r"a\");
        check(r"(?x)a #\", "(?x)a #\\\n");
    }
}
