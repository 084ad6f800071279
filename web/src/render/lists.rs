//! What a search has found in short, for programs: numbers of matches by what they have in common.

use super::json::{self, NoticeJson, bytes};
use super::shapes::{DirectoryCountSchema, LanguageCountSchema, PackageCountSchema};
use frontend::PackageGroup;
use frontend::SearchResult;
use frontend::query::Notice;
use schema::message::{Facet, SpoolFacets};
use serde::ser::{Serialize, SerializeMap, Serializer};
use utoipa::ToSchema;

/// What stands in front of a list.
#[derive(Debug, serde::Serialize, ToSchema)]
struct Head {
    id: String,
    generation: String,
    interpreted_as: String,
    notices: Vec<NoticeJson>,
    complete: bool,
}

impl Head {
    fn new(answer: &SearchResult, notices: &[Notice]) -> Head {
        Head {
            id: answer.id().to_owned(),
            generation: answer.generation().to_owned(),
            interpreted_as: answer.query().interpreted_as(),
            notices: json::notices(notices),
            complete: answer.is_complete(),
        }
    }
}

/// Numbers of matches by package, language and directory.
#[derive(Debug, serde::Serialize, ToSchema)]
#[schema(as = Facets)]
pub(crate) struct FacetsJson {
    #[serde(flatten)]
    head: Head,
    /// Matches in all.
    total: u64,
    /// Packages with a match.
    packages_total: usize,
    /// Those with the most matches.
    #[schema(value_type = Vec<PackageCountSchema>)]
    packages: Vec<Counted>,
    #[schema(value_type = Vec<LanguageCountSchema>)]
    languages: Vec<Counted>,
    /// The first directory of a path, empty when there is none.
    #[schema(value_type = Vec<DirectoryCountSchema>)]
    directories: Vec<Counted>,
    /// Matches in directories that are not listed.
    other_directories: u64,
}

impl FacetsJson {
    /// Of all packages, in the order of their best match, and at most `most` of them listed.
    pub(crate) fn new(
        answer: &SearchResult,
        notices: &[Notice],
        mut packages: Vec<PackageGroup>,
        most: usize,
        facets: SpoolFacets,
    ) -> Self {
        // Stable: those with as many matches stay in the order of their best one.
        packages.sort_by_key(|package| std::cmp::Reverse(package.total));
        packages.truncate(most);
        FacetsJson {
            head: Head::new(answer, notices),
            total: answer.len() as u64,
            packages_total: answer.packages(),
            packages: packages.into_iter().map(Counted::package).collect(),
            languages: counted(facets.languages, LANGUAGE),
            directories: counted(facets.directories, DIRECTORY),
            other_directories: facets.other_directories,
        }
    }
}

/// The packages with a match.
#[derive(Debug, serde::Serialize, ToSchema)]
#[schema(as = Packages)]
pub(crate) struct PackagesJson {
    #[serde(flatten)]
    head: Head,
    packages_total: usize,
    /// In the order of their best match.
    #[schema(value_type = Vec<PackageCountSchema>)]
    packages: Vec<Counted>,
}

impl PackagesJson {
    pub(crate) fn new(
        answer: &SearchResult,
        notices: &[Notice],
        packages: Vec<PackageGroup>,
    ) -> Self {
        PackagesJson {
            head: Head::new(answer, notices),
            packages_total: packages.len(),
            packages: packages.into_iter().map(Counted::package).collect(),
        }
    }
}

/// What a field is called, and its exact form when it is not UTF-8.
type Name = (&'static str, &'static str);

const PACKAGE: Name = ("package", "package_base64");
const LANGUAGE: Name = ("language", "language_base64");
const DIRECTORY: Name = ("directory", "directory_base64");

/// How many matches have something.
#[derive(Debug)]
struct Counted {
    what: Name,
    name: Vec<u8>,
    total: u64,
}

impl Counted {
    fn package(package: PackageGroup) -> Self {
        Counted {
            what: PACKAGE,
            name: package.name,
            total: package.total,
        }
    }
}

fn counted(facets: Vec<Facet>, what: Name) -> Vec<Counted> {
    let each = |(name, total)| Counted { what, name, total };
    facets.into_iter().map(each).collect()
}

impl Serialize for Counted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        bytes(&mut map, self.what.0, self.what.1, &self.name)?;
        map.serialize_entry("total", &self.total)?;
        map.end()
    }
}
