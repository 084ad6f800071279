//! Body of an error response.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Problem document (RFC 9457).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDocument {
    /// Address of a page about this kind of problem.
    #[schema(example = "/problems/bad-query")]
    pub r#type: String,
    /// Name of the kind.
    pub title: String,
    /// Status of the response.
    pub status: u16,
    /// Explanation of this occurrence.
    pub detail: String,
    /// Position in the query, or in `filter`, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// Filter with the fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Suggested remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Number of the last page, if a later one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_page: Option<usize>,
    /// Similar names, or the ids of an ambiguous revision.
    /// revision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// Newest indexed revision, or version of the package, with the requested file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<NewestRevision>,
}

/// Revision or version with the requested file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewestRevision {
    /// Short name; empty for a version.
    pub rev: String,
    /// Version of the package, if the requested one is not indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package: Option<String>,
    /// Address of the file in it.
    #[schema(example = "/api/v2/file?package=project&path=src/file2.c&rev=v2.0")]
    pub link: String,
}
