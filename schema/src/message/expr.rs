//! The expression of a query: a tree of patterns and filters.
//!
//! **Invariant:** the constructors make a normal form: no list of fewer than two, no list directly
//! inside one of the same kind, no double negation. So two expressions with the same meaning and order
//! are equal, and rendering and parsing an expression does not change it.

use super::codec::{ATOMS_MAX, DEPTH_MAX, MessageError, convert_enum, length, text};
use crate::trawl_capnp::{expr, filter, pattern};

/// How the text of a pattern is interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Every character matches itself.
    #[default]
    Literal,
    /// The syntax of the `regex` crate, with Unicode; `^`, `$`, `\A` and `\z` match at line boundaries. A
    /// pattern with `\n` or `(?s)` may match over several lines.
    Regexp,
}

/// A text or a regular expression to search for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The literal or the regular expression.
    pub text: String,
    /// How `text` is interpreted.
    pub syntax: Syntax,
    /// Unicode simple case folding, as ripgrep's `-i`.
    pub ignore_case: bool,
    /// A match must not touch a word character on either side, as with ripgrep's `-w`.
    pub word: bool,
    /// Search the document's path instead of its text.
    pub in_path: bool,
}

/// The property of a document that a filter tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The package's name, without version.
    Package,
    /// The path within the package.
    Path,
    /// The name of the language; always [`Reading::Exact`], ignoring case.
    Language,
    /// The part of the file name behind the last dot; always [`Reading::Exact`], ignoring case.
    Extension,
    /// The package's directory, `/`, and the path.
    Name,
    /// A revision that has the document: its name, in full or short, the beginning of its commit id, or
    /// `HEAD` for the default one. Never a regular expression.
    Revision,
    /// As [`Revision`](Self::Revision), but only branches.
    Branch,
    /// The name of a [`DocumentKind`](super::DocumentKind); always [`Reading::Exact`], ignoring case.
    Kind,
}

/// How the text of a filter is interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reading {
    /// A regular expression in the syntax of the `regex` crate, case sensitive, that matches anywhere.
    Regexp,
    /// The whole value; for a package also the name of its directory.
    Exact,
    /// A glob with `*`, `?`, `[]`, `{}` and `**`; without a `/` it matches the last component of a path.
    Glob,
    /// As [`Regexp`](Self::Regexp), in any case.
    RegexpIgnoringCase,
}

/// A condition on a document that does not read its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Filter {
    /// The property that it tests.
    pub field: Field,
    /// How `text` is interpreted.
    pub reading: Reading,
    /// The regular expression, the name or the glob.
    pub text: String,
}

/// A condition on a document. A pattern holds when it matches at least once. If the whole expression
/// holds for a document, its matches are the lines matched by the patterns that contribute to that:
/// not those below a `Not`, nor those of an alternative that does not hold. Without such lines, the
/// match is the document's path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// The document's text, or its path, matches.
    Pattern(Pattern),
    /// The filter holds.
    Filter(Filter),
    /// All of these hold; see [`all`](Self::all).
    All(Vec<Expr>),
    /// One of these holds; see [`any`](Self::any).
    Any(Vec<Expr>),
    /// This does not hold; see [`negated`](Self::negated).
    Not(Box<Expr>),
    /// This holds for a single line. It contains only patterns, none of them on the path.
    Line(Box<Expr>),
}

impl Default for Expr {
    fn default() -> Self {
        Expr::Pattern(Pattern::default())
    }
}

impl Expr {
    /// Returns an expression for which all `parts` must hold; a single part is returned unchanged.
    pub fn all(parts: impl IntoIterator<Item = Expr>) -> Expr {
        let flat = |part| match part {
            Expr::All(inner) => inner,
            other => vec![other],
        };
        let mut flat: Vec<Expr> = parts.into_iter().flat_map(flat).collect();
        match flat.len() {
            1 => flat.remove(0),
            _ => Expr::All(flat),
        }
    }

    /// Returns an expression for which one of `parts` must hold; a single part is returned unchanged.
    pub fn any(parts: impl IntoIterator<Item = Expr>) -> Expr {
        let flat = |part| match part {
            Expr::Any(inner) => inner,
            other => vec![other],
        };
        let mut flat: Vec<Expr> = parts.into_iter().flat_map(flat).collect();
        match flat.len() {
            1 => flat.remove(0),
            _ => Expr::Any(flat),
        }
    }

    /// Returns the negation.
    pub fn negated(self) -> Expr {
        match self {
            Expr::Not(inner) => *inner,
            other => Expr::Not(Box::new(other)),
        }
    }

    /// Returns the parts of an `All`, or the expression itself.
    pub fn factors(&self) -> &[Expr] {
        match self {
            Expr::All(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// Calls `each` with every pattern and filter, in order.
    pub fn for_each_atom<'a>(&'a self, each: &mut impl FnMut(&'a Expr)) {
        match self {
            Expr::Pattern(_) | Expr::Filter(_) => each(self),
            Expr::All(parts) | Expr::Any(parts) => {
                parts.iter().for_each(|part| part.for_each_atom(each));
            }
            Expr::Not(inner) | Expr::Line(inner) => inner.for_each_atom(each),
        }
    }

    /// Returns patterns and filters, in order.
    pub fn atoms(&self) -> Vec<&Expr> {
        let mut atoms = Vec::new();
        self.for_each_atom(&mut |atom| atoms.push(atom));
        atoms
    }

    /// Returns patterns, in order.
    pub fn patterns(&self) -> Vec<&Pattern> {
        let mut patterns = Vec::new();
        self.for_each_atom(&mut |atom| {
            if let Expr::Pattern(pattern) = atom {
                patterns.push(pattern);
            }
        });
        patterns
    }

    /// Whether it contains no pattern.
    pub fn is_filter(&self) -> bool {
        self.patterns().is_empty()
    }

    /// Returns its depth; a pattern alone has depth 1.
    pub fn depth(&self) -> usize {
        1 + match self {
            Expr::Pattern(_) | Expr::Filter(_) => 0,
            Expr::All(parts) | Expr::Any(parts) => {
                parts.iter().map(Expr::depth).max().unwrap_or_default()
            }
            Expr::Not(inner) | Expr::Line(inner) => inner.depth(),
        }
    }

    pub(super) fn encode(&self, mut to: expr::Builder<'_>) {
        match self {
            Expr::Pattern(pattern) => pattern.encode(to.init_pattern()),
            Expr::Filter(filter) => filter.encode(to.init_filter()),
            Expr::All(parts) => encode_list(parts, to.init_all(length(parts.len()))),
            Expr::Any(parts) => encode_list(parts, to.init_any(length(parts.len()))),
            Expr::Not(inner) => inner.encode(to.reborrow().init_not()),
            Expr::Line(inner) => inner.encode(to.reborrow().init_line()),
        }
    }

    /// Decodes an expression and checks its limits and its normal form.
    pub(super) fn decode(from: expr::Reader<'_>) -> Result<Expr, MessageError> {
        let mut atoms = 0;
        let expr = decode_within(from, DEPTH_MAX, false, &mut atoms)?;
        if atoms > ATOMS_MAX {
            return Err(MessageError::Impossible("number of patterns and filters"));
        }
        Ok(expr)
    }
}

fn encode_list(parts: &[Expr], mut to: capnp::struct_list::Builder<'_, expr::Owned>) {
    for (index, part) in (0..).zip(parts) {
        part.encode(to.reborrow().get(index));
    }
}

fn decode_within(
    from: expr::Reader<'_>,
    depth_max: usize,
    in_line: bool,
    atoms: &mut usize,
) -> Result<Expr, MessageError> {
    let bad = || MessageError::Impossible("expression");
    let within = depth_max.checked_sub(1).ok_or_else(bad)?;
    let mut list = |parts: capnp::struct_list::Reader<'_, expr::Owned>| {
        if parts.len() < 2 || parts.len() as usize > ATOMS_MAX {
            return Err(bad());
        }
        let parts = parts.iter();
        let parts = parts.map(|part| decode_within(part, within, in_line, atoms));
        parts.collect::<Result<Vec<_>, _>>()
    };
    Ok(match from.which()? {
        expr::All(parts) => match list(parts?)? {
            parts if parts.iter().any(|part| matches!(part, Expr::All(_))) => return Err(bad()),
            parts => Expr::All(parts),
        },
        expr::Any(parts) => match list(parts?)? {
            parts if parts.iter().any(|part| matches!(part, Expr::Any(_))) => return Err(bad()),
            parts => Expr::Any(parts),
        },
        expr::Not(inner) => match decode_within(inner?, within, in_line, atoms)? {
            Expr::Not(_) => return Err(bad()),
            inner => Expr::Not(Box::new(inner)),
        },
        expr::Line(_) if in_line => return Err(bad()),
        expr::Line(inner) => Expr::Line(Box::new(decode_within(inner?, within, true, atoms)?)),
        expr::Pattern(pattern) => {
            *atoms += 1;
            match Pattern::decode(pattern?)? {
                pattern if in_line && pattern.in_path => return Err(bad()),
                pattern => Expr::Pattern(pattern),
            }
        }
        expr::Filter(_) if in_line => return Err(bad()),
        expr::Filter(filter) => {
            *atoms += 1;
            Expr::Filter(Filter::decode(filter?)?)
        }
    })
}

impl Pattern {
    pub(super) fn encode(&self, mut to: pattern::Builder<'_>) {
        to.set_text(&self.text[..]);
        to.set_syntax(self.syntax.into());
        to.set_ignore_case(self.ignore_case);
        to.set_word(self.word);
        to.set_in_path(self.in_path);
    }

    pub(super) fn decode(from: pattern::Reader<'_>) -> Result<Self, MessageError> {
        Ok(Pattern {
            text: text(from.get_text()?)?,
            syntax: from.get_syntax()?.into(),
            ignore_case: from.get_ignore_case(),
            word: from.get_word(),
            in_path: from.get_in_path(),
        })
    }
}

impl Filter {
    fn encode(&self, mut to: filter::Builder<'_>) {
        to.set_field(self.field.into());
        to.set_reading(self.reading.into());
        to.set_text(&self.text[..]);
    }

    fn decode(from: filter::Reader<'_>) -> Result<Self, MessageError> {
        Ok(Filter {
            field: from.get_field()?.into(),
            reading: from.get_reading()?.into(),
            text: text(from.get_text()?)?,
        })
    }
}

convert_enum!(Syntax, pattern::Syntax: Literal, Regexp);
convert_enum!(
    Field,
    filter::Field: Package, Path, Language, Extension, Name, Revision, Branch, Kind
);
convert_enum!(Reading, filter::Reading: Regexp, Exact, Glob, RegexpIgnoringCase);
