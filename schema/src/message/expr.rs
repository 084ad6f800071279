//! Expression of a query: a tree of patterns and filters.
//!
//! **Invariant:** constructors make a normal form: no list of fewer than two, no list directly
//! inside one of its kind, no double negation. So equal expressions compare equal, and survive
//! rendering and parsing.

use super::codec::{ATOMS_MAX, DEPTH_MAX, MessageError};
use super::record::{encode_records, read_from, record};
use crate::trawl_capnp::{expr, filter, pattern, place};
use std::mem::discriminant;

record! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Syntax: pattern::Syntax {
        #[default]
        Literal,
        /// Syntax of the `regex` crate, with Unicode; `^`, `$`, `\A` and `\z` match at line
        /// boundaries. With `\n` or `(?s)`, matches may span lines.
        Regexp,
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Pattern: pattern {
        pub text: String = [get_text, set_text],
        pub syntax: Syntax = [get_syntax, set_syntax],
        /// Unicode simple case folding, as ripgrep's `-i`.
        pub ignore_case: bool = [get_ignore_case, set_ignore_case],
        /// No word character may touch the match, as with ripgrep's `-w`.
        pub word: bool = [get_word, set_word],
        /// Search the path instead of the text.
        pub in_path: bool = [get_in_path, set_in_path],
        /// Restriction of its matches.
        pub place: Place = [get_place, record init_place],
    }

    /// Place of a match in its text, by the lexers of crate `language`.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Place: place {
        /// Classes of all its bytes: bit 0 code, 1 comment, 2 string, 3 text, 4 added,
        /// 5 removed. 0: any.
        pub classes: u32 = [get_classes, set_classes],
        pub role: Role = [get_role, set_role],
        /// Kinds of the definition: bit n for the kind of number n. 0: any.
        pub kinds: u32 = [get_kinds, set_kinds],
        /// Regular expression for the name of the definition around it, in any case. Empty: any.
        pub parent: String = [get_parent, set_parent],
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Role: place::Role {
        #[default]
        Any,
        /// Inside the name of a definition, or all of it with [`Pattern::word`].
        Definition,
        /// Anything but the name of a definition.
        Use,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Field: filter::Field {
        /// Package name, without version.
        Package,
        Path,
        /// Language name; always [`Reading::Exact`], ignoring case.
        Language,
        /// File name behind the last dot; always [`Reading::Exact`], ignoring case.
        Extension,
        /// Package directory, `/`, and path.
        Name,
        /// Full or short name of a revision, prefix of its commit id, or `HEAD` for the default.
        /// Never a regular expression.
        Revision,
        /// Like [`Revision`](Self::Revision), for branches.
        Branch,
        /// Name of a [`DocumentKind`](super::DocumentKind); always [`Reading::Exact`], ignoring
        /// case.
        Kind,
        /// `commit` or `diff`; always [`Reading::Exact`]. Without it neither is searched.
        Type,
        Author,
        Committer,
        Message,
        /// Committed before this time, in seconds since 1970; always [`Reading::Exact`].
        Before,
        After,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Reading: filter::Reading {
        /// Regular expression of the `regex` crate, case sensitive, matching anywhere.
        Regexp,
        /// Whole value; for a package also its directory name.
        Exact,
        /// Glob with `*`, `?`, `[]`, `{}` and `**`; without a `/` it matches the last path
        /// component.
        Glob,
        /// Like [`Regexp`](Self::Regexp), in any case.
        RegexpIgnoringCase,
    }
}

impl Place {
    /// True if every match has it.
    pub fn is_anywhere(&self) -> bool {
        *self == Place::default()
    }
}

impl Reading {
    pub fn is_regexp(self) -> bool {
        matches!(self, Reading::Regexp | Reading::RegexpIgnoringCase)
    }
}

record! {
    /// Condition on a document, without its text.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Filter: filter {
        pub field: Field = [get_field, set_field],
        pub reading: Reading = [get_reading, set_reading],
        /// Regular expression, name or glob.
        pub text: String = [get_text, set_text],
    }
}

/// Condition on a document. A pattern holds if it matches at least once. Matches are lines of
/// contributing patterns, not below a `Not` or in a failing alternative; without such lines, the
/// path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    Pattern(Pattern),
    Filter(Filter),
    /// All hold; see [`all`](Self::all).
    All(Vec<Expr>),
    /// One holds; see [`any`](Self::any).
    Any(Vec<Expr>),
    /// Does not hold; see [`negated`](Self::negated).
    Not(Box<Expr>),
    /// Holds for a single line. Contains only patterns, none on the path.
    Line(Box<Expr>),
}

impl Default for Expr {
    fn default() -> Self {
        Expr::Pattern(Pattern::default())
    }
}

impl Expr {
    /// A single part stays unchanged.
    pub fn all(parts: impl IntoIterator<Item = Expr>) -> Expr {
        Expr::joined(parts, Expr::All)
    }

    /// A single part stays unchanged.
    pub fn any(parts: impl IntoIterator<Item = Expr>) -> Expr {
        Expr::joined(parts, Expr::Any)
    }

    fn joined(parts: impl IntoIterator<Item = Expr>, list: fn(Vec<Expr>) -> Expr) -> Expr {
        let (kind, mut flat) = (discriminant(&list(Vec::new())), Vec::new());
        for part in parts {
            let is_same = discriminant(&part) == kind;
            match part {
                Expr::All(inner) | Expr::Any(inner) if is_same => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            1 => flat.remove(0),
            _ => list(flat),
        }
    }

    pub fn negated(self) -> Expr {
        match self {
            Expr::Not(inner) => *inner,
            other => Expr::Not(Box::new(other)),
        }
    }

    /// Parts of an `All`, or itself.
    pub fn factors(&self) -> &[Expr] {
        match self {
            Expr::All(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// Parts of a list, a `Not` or a `Line`; none of a pattern or filter.
    pub fn parts(&self) -> &[Expr] {
        match self {
            Expr::Pattern(_) | Expr::Filter(_) => &[],
            Expr::All(parts) | Expr::Any(parts) => parts,
            Expr::Not(inner) | Expr::Line(inner) => std::slice::from_ref(inner),
        }
    }

    /// Patterns and filters, in order.
    pub fn atoms(&self) -> Vec<&Expr> {
        match self {
            Expr::Pattern(_) | Expr::Filter(_) => vec![self],
            _ => self.parts().iter().flat_map(Expr::atoms).collect(),
        }
    }

    /// In order.
    pub fn patterns(&self) -> Vec<&Pattern> {
        match self {
            Expr::Pattern(pattern) => vec![pattern],
            _ => self.parts().iter().flat_map(Expr::patterns).collect(),
        }
    }

    pub fn is_filter(&self) -> bool {
        self.patterns().is_empty()
    }

    pub fn is_of_history(&self) -> bool {
        let mut atoms = self.atoms().into_iter();
        atoms.any(|atom| matches!(atom, Expr::Filter(it) if it.field == Field::Type))
    }

    /// 1 for a pattern alone.
    pub fn depth(&self) -> usize {
        1 + self.parts().iter().map(Expr::depth).max().unwrap_or(0)
    }

    pub(super) fn encode_to(&self, mut to: expr::Builder<'_>) {
        match self {
            Expr::Pattern(pattern) => pattern.encode_to(to.init_pattern()),
            Expr::Filter(filter) => filter.encode_to(to.init_filter()),
            Expr::All(parts) => {
                encode_records!(to.init_all, parts);
            }
            Expr::Any(parts) => {
                encode_records!(to.init_any, parts);
            }
            Expr::Not(inner) => inner.encode_to(to.init_not()),
            Expr::Line(inner) => inner.encode_to(to.init_line()),
        }
    }

    pub(super) fn decode_from(from: expr::Reader<'_>) -> Result<Expr, MessageError> {
        let mut atoms = 0;
        let expr = decode_within(from, DEPTH_MAX, false, &mut atoms)?;
        if atoms > ATOMS_MAX {
            return Err(MessageError::Impossible("number of patterns and filters"));
        }
        Ok(expr)
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
    let expr = match from.which()? {
        expr::All(parts) => Expr::All(list(parts?)?),
        expr::Any(parts) => Expr::Any(list(parts?)?),
        expr::Not(inner) => Expr::Not(Box::new(decode_within(inner?, within, in_line, atoms)?)),
        expr::Line(_) if in_line => return Err(bad()),
        expr::Line(inner) => Expr::Line(Box::new(decode_within(inner?, within, true, atoms)?)),
        expr::Pattern(pattern) => {
            *atoms += 1;
            match Pattern::decode_from(pattern?)? {
                pattern if in_line && pattern.in_path => return Err(bad()),
                pattern => Expr::Pattern(pattern),
            }
        }
        expr::Filter(_) if in_line => return Err(bad()),
        expr::Filter(filter) => {
            *atoms += 1;
            Expr::Filter(Filter::decode_from(filter?)?)
        }
    };
    let is_same = |part: &Expr| discriminant(part) == discriminant(&expr);
    if expr.parts().iter().any(is_same) {
        return Err(bad());
    }
    Ok(expr)
}

read_from!(Expr: expr);
