//! Kinds of documents, and their names.
//!
//! Backends decide kinds when indexing; frontends check typed names.

use super::record::record;
use crate::trawl_capnp;

record! {
    /// Kind of a document, best first.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum DocumentKind: trawl_capnp::DocumentKind {
        #[default]
        Source,
        /// Documentation, configuration, and the rest.
        Documentation,
        /// Tests, benchmarks and examples.
        Tests,
        /// Vendored, generated, or minified.
        Vendored,
    }
}

impl DocumentKind {
    pub const ALL: [DocumentKind; 4] = [
        DocumentKind::Source,
        DocumentKind::Documentation,
        DocumentKind::Tests,
        DocumentKind::Vendored,
    ];

    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// Kind by name or alias, ignoring case.
    pub fn named(name: &str) -> Option<DocumentKind> {
        let is_name = |known: &&str| known.eq_ignore_ascii_case(name);
        let mut all = DocumentKind::ALL.into_iter();
        all.find(|kind| kind.names().iter().any(is_name))
    }

    fn names(self) -> &'static [&'static str] {
        match self {
            DocumentKind::Source => &["source", "code"],
            DocumentKind::Documentation => &["documentation", "docs", "doc"],
            DocumentKind::Tests => &["tests", "test"],
            DocumentKind::Vendored => &["vendored", "vendor", "generated"],
        }
    }
}

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
