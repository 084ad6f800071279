//! The kinds of documents, which part of its package each belongs to, and the names that people give them.
//!
//! Backends decide the kind of a document when it is indexed; frontends check the names that are typed.

use super::codec::convert_enum;
use crate::trawl_capnp;

/// Which part of its package a document belongs to, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DocumentKind {
    /// Source code of the package.
    #[default]
    Source,
    /// Documentation and configuration, and what is none of the others.
    Documentation,
    /// Tests, benchmarks and examples.
    Tests,
    /// Written by others or by programs: vendored, generated, minified.
    Vendored,
}

impl DocumentKind {
    /// All kinds, in their order.
    pub const ALL: [DocumentKind; 4] = [
        DocumentKind::Source,
        DocumentKind::Documentation,
        DocumentKind::Tests,
        DocumentKind::Vendored,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// Returns the kind with this name, or with this other name for it; case is ignored.
    pub fn named(name: &str) -> Option<DocumentKind> {
        let is_name = |known: &&str| known.eq_ignore_ascii_case(name);
        let mut all = DocumentKind::ALL.into_iter();
        all.find(|kind| kind.names().iter().any(is_name))
    }

    /// Its name, and other names for it.
    fn names(self) -> &'static [&'static str] {
        match self {
            DocumentKind::Source => &["source", "code"],
            DocumentKind::Documentation => &["documentation", "docs", "doc"],
            DocumentKind::Tests => &["tests", "test"],
            DocumentKind::Vendored => &["vendored", "vendor", "generated"],
        }
    }
}

convert_enum!(DocumentKind, trawl_capnp::DocumentKind: Source, Documentation, Tests, Vendored);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names_that_ignore_case() {
        for kind in DocumentKind::ALL {
            assert_eq!(DocumentKind::named(kind.name()), Some(kind));
        }
        assert_eq!(DocumentKind::named("Test"), Some(DocumentKind::Tests));
        assert_eq!(
            DocumentKind::named("DOCS"),
            Some(DocumentKind::Documentation)
        );
        assert_eq!(DocumentKind::named("tes"), None);
        assert_eq!(DocumentKind::named(""), None);
    }
}
