//! Summaries of an answer: matches by package, language, kind and directory.

use super::bytes::readable_owned;
use super::page::{Missing, Notice, notices};
use frontend::{PackageGroup, SearchResult};
use schema::message::{DocumentKind, Facet, SpoolFacets};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Common head of the summaries of an answer.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Head)]
pub struct SummaryHead {
    pub id: String,
    pub generation: String,
    pub interpreted_as: String,
    pub notices: Vec<Notice>,
    pub complete: bool,
    /// Parts that were not searched, with reasons; absent if complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub missing: Vec<Missing>,
}

/// Matches by package, language, kind and directory.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Facets {
    #[serde(flatten)]
    pub head: SummaryHead,
    /// All matches.
    pub total: u64,
    /// Packages with a match.
    pub packages_total: usize,
    /// Packages with the most matches.
    pub packages: Vec<PackageCount>,
    pub languages: Vec<LanguageCount>,
    /// Kinds of documents with a match.
    pub kinds: Vec<KindCount>,
    /// First directory of a path, empty without one. If the query selects a directory
    /// (`path:^src/`), the first one below it (`src/lib`), or it itself.
    pub directories: Vec<DirectoryCount>,
    /// Matches in further directories.
    pub other_directories: u64,
}

/// Packages with a match.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Packages {
    #[serde(flatten)]
    pub head: SummaryHead,
    pub packages_total: usize,
    /// By best match.
    pub packages: Vec<PackageCount>,
}

macro_rules! counts {
    ($($(#[$doc:meta])* $shape:ident: $name:ident, $name_base64:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
        pub struct $shape {
            pub $name: String,
            /// Present if not UTF-8.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schema(nullable = false)]
            pub $name_base64: Option<String>,
            pub total: u64,
        }

        impl From<Facet> for $shape {
            fn from((name, total): Facet) -> Self {
                let ($name, $name_base64) = readable_owned(&name);
                $shape { $name, $name_base64, total }
            }
        }
    )*};
}

counts! {
    /// Matches of a package.
    PackageCount: package, package_base64;
    /// Matches in a language; empty if unknown.
    LanguageCount: language, language_base64;
    /// Matches below a directory.
    DirectoryCount: directory, directory_base64;
}

/// Matches in a kind of document.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct KindCount {
    /// `source`, `documentation` (with configuration and others), `tests` (with examples and
    /// benchmarks) or `vendored` (third-party or generated).
    pub kind: String,
    pub total: u64,
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

impl Facets {
    /// `packages` are all, in the order of their best match; `packages_max` are listed.
    pub(crate) fn new(
        answer: &SearchResult,
        head: SummaryHead,
        mut packages: Vec<PackageGroup>,
        packages_max: usize,
        facets: SpoolFacets,
    ) -> Self {
        // Stable: ties stay in the order of their best match.
        packages.sort_by_key(|package| std::cmp::Reverse(package.total));
        packages.truncate(packages_max);
        Facets {
            head,
            total: answer.len() as u64,
            packages_total: answer.packages(),
            packages: package_counts(packages),
            languages: facets.languages.into_iter().map(Into::into).collect(),
            kinds: kind_counts(facets.kinds),
            directories: facets.directories.into_iter().map(Into::into).collect(),
            other_directories: facets.other_directories,
        }
    }
}

impl Packages {
    pub(crate) fn new(head: SummaryHead, packages: Vec<PackageGroup>) -> Self {
        Packages {
            head,
            packages_total: packages.len(),
            packages: package_counts(packages),
        }
    }
}

fn package_counts(packages: Vec<PackageGroup>) -> Vec<PackageCount> {
    let count = |package: PackageGroup| PackageCount::from((package.name, package.total));
    packages.into_iter().map(count).collect()
}

fn kind_counts(kinds: [u64; DocumentKind::ALL.len()]) -> Vec<KindCount> {
    let counts = DocumentKind::ALL.into_iter().zip(kinds);
    let counts = counts.filter(|(_, total)| *total > 0);
    let count = |(kind, total): (DocumentKind, u64)| KindCount {
        kind: kind.name().to_owned(),
        total,
    };
    counts.map(count).collect()
}
