//! Objects that lead to each other. Their fields are resolved in files of their names.

use super::shared::Html;
use async_graphql::SimpleObject;
use schema::message::{Commit as Details, IndexedRevision};
use std::sync::Arc;

#[derive(Clone, Default, SimpleObject)]
#[graphql(complex, serial)]
pub(super) struct Repository {
    #[graphql(skip)]
    pub(super) package: Vec<u8>,
    #[graphql(skip)]
    pub(super) revisions: Arc<Vec<IndexedRevision>>,
    pub(super) name: String,
    pub(super) url: String,
    pub(super) description: String,
    pub(super) language: String,
    pub(super) created_at: String,
    pub(super) updated_at: Option<String>,
    pub(super) external_repository: ExternalRepository,
    #[graphql(name = "externalURLs")]
    pub(super) external_urls: Vec<ExternalLink>,
    pub(super) is_fork: bool,
    pub(super) is_archived: bool,
    pub(super) is_private: bool,
    pub(super) mirror_info: MirrorInfo,
    pub(super) viewer_can_administer: bool,
    pub(super) key_value_pairs: Vec<KeyValuePair>,
    pub(super) label: Html,
}

#[derive(Clone, Default, SimpleObject)]
pub(super) struct ExternalRepository {
    pub(super) id: String,
    pub(super) service_type: String,
    #[graphql(name = "serviceID")]
    pub(super) service_id: String,
}

#[derive(Clone, SimpleObject)]
pub(super) struct ExternalLink {
    pub(super) service_type: String,
    pub(super) url: String,
}

#[derive(Clone, SimpleObject)]
#[graphql(name = "MirrorRepositoryInfo")]
pub(super) struct MirrorInfo {
    pub(super) cloned: bool,
    pub(super) clone_in_progress: bool,
    pub(super) clone_progress: Option<String>,
}

impl Default for MirrorInfo {
    fn default() -> MirrorInfo {
        MirrorInfo {
            cloned: true,
            clone_in_progress: false,
            clone_progress: None,
        }
    }
}

#[derive(Clone, SimpleObject)]
pub(super) struct KeyValuePair {
    pub(super) key: String,
    pub(super) value: Option<String>,
}

#[derive(Clone)]
pub(super) struct Commit {
    pub(super) repository: Repository,
    /// Empty: the default revision.
    pub(super) revision: String,
    pub(super) details: Option<Arc<Details>>,
}

#[derive(Clone)]
pub(super) struct File {
    pub(super) commit: Commit,
    pub(super) path: Vec<u8>,
}

pub(super) struct Lsif(pub(super) File);
