//! Summaries of an answer: matches by package, language, kind and directory, and the copies of a
//! match.

use super::page::{Missing, Notice, notices};
use frontend::{PackageGroup, SearchResult};
use language::symbols::Kind;
use schema::message::{DocumentKind, Facet, SYMBOL_KINDS_MAX};
use std::cmp::Reverse;

shapes! {
    /// Common head of the summaries of an answer.
    #[schema(as = Head)]
    struct SummaryHead {
        id: String,
        generation: String,
        interpreted_as: String,
        notices: Vec<Notice>,
        complete: bool,
        /// Parts that were not searched, with reasons; absent if complete.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        missing: Vec<Missing>,
    }

    /// Matches by package, language, kind and directory.
    struct Facets {
        #[serde(flatten)]
        head: SummaryHead,
        /// All matches.
        total: u64,
        /// Packages with a match.
        packages_total: usize,
        /// Packages with the most matches.
        packages: Vec<PackageCount>,
        languages: Vec<LanguageCount>,
        /// Kinds of documents with a match.
        kinds: Vec<KindCount>,
        /// Kinds of symbols with a match, in a search for symbols. A line may define several.
        symbol_kinds: Vec<KindCount>,
        /// First directory of a path, empty without one. If the query selects a directory
        /// (`path:^src/`), the first one below it (`src/lib`), or it itself.
        directories: Vec<DirectoryCount>,
        /// Matches in further directories.
        other_directories: u64,
    }

    /// Packages with a match.
    struct Packages {
        #[serde(flatten)]
        head: SummaryHead,
        packages_total: usize,
        /// By best match.
        packages: Vec<PackageCount>,
    }

    /// Documents with the same text and matching lines.
    struct CopyList {
        #[serde(flatten)]
        head: SummaryHead,
        /// Number of documents, including the requested one.
        total: u64,
        /// Page number, from 0.
        page: u64,
        per_page: usize,
        pages: u64,
        /// By best match: folded copies show the first.
        documents: Vec<CopyDocument>,
    }

    /// Document of a list of copies.
    struct CopyDocument {
        package / package_base64: String,
        path / path_base64: String,
        language: String,
        /// Short names of the first revisions that have it, the default one first; empty outside
        /// git.
        revisions: Vec<String>,
        /// Indexed commit of the first revision.
        commit?: String,
    }

    /// Matches of a package.
    struct PackageCount {
        package / package_base64: String,
        total: u64,
    }

    /// Matches in a language; empty if unknown.
    struct LanguageCount {
        language / language_base64: String,
        total: u64,
    }

    /// Matches below a directory.
    struct DirectoryCount {
        directory / directory_base64: String,
        total: u64,
    }

    /// Matches in a kind of document, or of a kind of symbol.
    struct KindCount {
        /// `source`, `documentation` (with configuration and others), `tests` (with examples and
        /// benchmarks) or `vendored` (third-party or generated); or `function` and others.
        kind: String,
        total: u64,
    }
}

impl SummaryHead {
    pub(crate) fn new(
        answer: &SearchResult,
        id: &str,
        about_query: &[frontend::query::Notice],
    ) -> SummaryHead {
        SummaryHead {
            id: id.to_owned(),
            generation: answer.generation().to_owned(),
            interpreted_as: answer.query().interpreted_as(),
            notices: notices(about_query),
            complete: answer.is_complete(),
            missing: Missing::of(answer),
        }
    }
}

copied! {
    group: PackageGroup => PackageCount { total; package / package_base64: &group.name }
    facet: Facet => PackageCount { total: facet.1; package / package_base64: &facet.0 }
    facet: Facet => LanguageCount { total: facet.1; language / language_base64: &facet.0 }
    facet: Facet => DirectoryCount { total: facet.1; directory / directory_base64: &facet.0 }
    facet: Facet => KindCount {
        kind: String::from_utf8_lossy(&facet.0).into_owned(),
        total: facet.1
    }
    document: frontend::Document => CopyDocument {
        language,
        revisions: document.revisions.names.clone(),
        commit: Some(document.revisions.commit.clone()).filter(|commit| !commit.is_empty());
        package / package_base64, path / path_base64
    }
}

pub(crate) fn kind_counts(kinds: [u64; DocumentKind::ALL.len()]) -> Vec<KindCount> {
    let counts = DocumentKind::ALL.into_iter().zip(kinds);
    let counts = counts.filter(|(_, total)| *total > 0);
    let count = |(kind, total): (DocumentKind, u64)| KindCount {
        kind: kind.name().to_owned(),
        total,
    };
    counts.map(count).collect()
}

pub(crate) fn symbol_counts(kinds: &[u64; SYMBOL_KINDS_MAX]) -> Vec<Facet> {
    let counts = Kind::ALL.into_iter().zip(*kinds);
    let named = |(kind, count)| Some((*Kind::names_of(1 << kind as u32).first()?, count));
    let counts = counts.filter(|(_, count)| *count > 0).filter_map(named);
    let mut counts: Vec<Facet> = counts
        .map(|(name, count)| (name.as_bytes().to_vec(), count))
        .collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts
}
