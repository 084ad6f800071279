//! Error responses.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A problem document (RFC 9457).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDocument {
    /// The address of a page about this kind of problem.
    #[schema(example = "/problems/bad-query")]
    pub r#type: String,
    /// The name of the kind.
    pub title: String,
    /// The status of the response.
    pub status: u16,
    /// What is wrong this time.
    pub detail: String,
    /// Where in the query, or in `filter`, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// The text of the filter that has the fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// What may help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The number of the last page, if a later one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_page: Option<usize>,
    /// Similar names of repositories, revisions, packages or files, or the ids that an ambiguous revision may mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// The newest indexed revision, or version of the package, that has the requested file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<NewestRevision>,
}

/// A revision, or a version of the package, that has the requested file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewestRevision {
    /// Its short name; empty if it is a version.
    pub rev: String,
    /// The version of the package, if the requested one is not indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package: Option<String>,
    /// The address of the file in it.
    #[schema(example = "/api/v2/file?package=project&path=src/file2.c&rev=v2.0")]
    pub link: String,
}
