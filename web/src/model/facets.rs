//! Summaries of an answer: matches by package, language, kind and directory.

use super::bytes::readable_owned;
use super::page::{Missing, Notice, notices};
use frontend::{PackageGroup, SearchResult};
use schema::message::{DocumentKind, Facet, SpoolFacets};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a summary says about its answer.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Head)]
pub struct SummaryHead {
    pub id: String,
    pub generation: String,
    pub interpreted_as: String,
    pub notices: Vec<Notice>,
    pub complete: bool,
    /// What was not searched, and why; absent if the answer is complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub missing: Vec<Missing>,
}

/// Numbers of matches by package, language, kind and directory.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Facets {
    #[serde(flatten)]
    pub head: SummaryHead,
    /// Matches in all.
    pub total: u64,
    /// Packages with a match.
    pub packages_total: usize,
    /// Those with the most matches.
    pub packages: Vec<PackageCount>,
    pub languages: Vec<LanguageCount>,
    /// Kinds of documents with a match.
    pub kinds: Vec<KindCount>,
    /// The first directory of a path, empty if the path has none. If the query selects a directory
    /// (`path:^src/`), the first one below it (`src/lib`), or it itself.
    pub directories: Vec<DirectoryCount>,
    /// Matches in directories that are not listed.
    pub other_directories: u64,
}

/// The packages with a match.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Packages {
    #[serde(flatten)]
    pub head: SummaryHead,
    pub packages_total: usize,
    /// In the order of their best match.
    pub packages: Vec<PackageCount>,
}

macro_rules! counts {
    ($($(#[$doc:meta])* $shape:ident: $name:ident, $name_base64:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
        pub struct $shape {
            pub $name: String,
            /// Present if the name is not UTF-8.
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
    /// How many matches a package has.
    PackageCount: package, package_base64;
    /// How many matches are in documents of a language; empty if the language is unknown.
    LanguageCount: language, language_base64;
    /// How many matches are in documents below a directory.
    DirectoryCount: directory, directory_base64;
}

/// How many matches are in documents of a kind.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct KindCount {
    /// `source`, `documentation` (and configuration, and what is none of the others), `tests` (and examples and
    /// benchmarks) or `vendored` (written by others or by programs).
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
