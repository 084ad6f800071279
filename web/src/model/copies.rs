//! List of documents with the same text.

use super::bytes::readable_owned;
use super::facets::SummaryHead;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Documents with the same text and matching lines.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CopyList {
    #[serde(flatten)]
    pub head: SummaryHead,
    /// Number of documents, including the requested one.
    pub total: u64,
    /// Page number, from 0.
    pub page: u64,
    pub per_page: usize,
    pub pages: u64,
    /// By best match: folded copies show the first.
    pub documents: Vec<CopyDocument>,
}

/// Document of a list of copies.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CopyDocument {
    pub package: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    pub path: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    pub language: String,
    /// Short names of the first revisions that have it, the default one first; empty outside git.
    pub revisions: Vec<String>,
    /// Indexed commit of the first revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub commit: Option<String>,
}

impl From<&frontend::Document> for CopyDocument {
    fn from(document: &frontend::Document) -> Self {
        let (package, package_base64) = readable_owned(&document.package);
        let (path, path_base64) = readable_owned(&document.path);
        let commit = &document.revisions.commit;
        CopyDocument {
            package,
            package_base64,
            path,
            path_base64,
            language: document.language.clone(),
            revisions: document.revisions.names.clone(),
            commit: (!commit.is_empty()).then(|| commit.clone()),
        }
    }
}
