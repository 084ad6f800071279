//! Shapes of zoekt's JSON API. Every field is present, with an empty list or object where zoekt has
//! `null` or nothing: some clients need that.

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

pub(super) type Templates = BTreeMap<String, String>;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&Base64Display::new(&self.0, &STANDARD))
    }
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Empty {}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct SearchResult {
    #[serde(flatten)]
    pub(super) stats: Stats,
    /// Written before the rest.
    #[serde(skip)]
    pub(super) files: Vec<FileMatch>,
    #[serde(rename = "RepoURLs")]
    pub(super) urls: Templates,
    pub(super) line_fragments: Templates,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Stats {
    pub(super) content_bytes_loaded: u64,
    pub(super) index_bytes_loaded: u64,
    pub(super) crashes: u64,
    pub(super) duration: u64,
    pub(super) file_count: u64,
    pub(super) shard_files_considered: u64,
    pub(super) files_considered: u64,
    pub(super) files_loaded: u64,
    pub(super) files_skipped: u64,
    pub(super) shards_scanned: u64,
    pub(super) shards_skipped: u64,
    pub(super) shards_skipped_filter: u64,
    pub(super) match_count: u64,
    pub(super) ngram_matches: u64,
    pub(super) ngram_lookups: u64,
    pub(super) wait: u64,
    pub(super) match_tree_construction: u64,
    pub(super) match_tree_search: u64,
    pub(super) regexps_considered: u64,
    pub(super) flush_reason: u64,
}

#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct FileMatch {
    pub(super) file_name: String,
    pub(super) repository: String,
    pub(super) sub_repository_name: &'static str,
    pub(super) sub_repository_path: &'static str,
    pub(super) version: String,
    pub(super) language: String,
    pub(super) debug: &'static str,
    pub(super) branches: Vec<String>,
    pub(super) line_matches: Vec<LineMatch>,
    pub(super) chunk_matches: Vec<ChunkMatch>,
    pub(super) content: Bytes,
    pub(super) checksum: Bytes,
    pub(super) score: f64,
    pub(super) repository_priority: f64,
    #[serde(rename = "RepositoryID")]
    pub(super) repository_id: u32,
    /// Package and path, which need not be UTF-8.
    #[serde(skip)]
    pub(super) source: (Vec<u8>, Vec<u8>),
}

#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ChunkMatch {
    pub(super) debug_score: &'static str,
    pub(super) content: Bytes,
    pub(super) ranges: Vec<Range>,
    /// As long as the ranges, if any is a symbol.
    pub(super) symbol_info: Option<Vec<Symbol>>,
    pub(super) file_name: bool,
    pub(super) content_start: Location,
    pub(super) score: f64,
    pub(super) best_line_match: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Range {
    pub(super) start: Location,
    pub(super) end: Location,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Location {
    pub(super) byte_offset: u64,
    pub(super) line_number: u32,
    /// In code points, from 1.
    pub(super) column: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Symbol {
    pub(super) sym: String,
    pub(super) kind: &'static str,
    pub(super) parent: &'static str,
    pub(super) parent_kind: &'static str,
}

#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct LineMatch {
    pub(super) line: Bytes,
    pub(super) line_start: u64,
    pub(super) line_end: u64,
    pub(super) line_number: u32,
    pub(super) before: Option<Bytes>,
    pub(super) after: Option<Bytes>,
    pub(super) file_name: bool,
    pub(super) score: f64,
    pub(super) debug_score: &'static str,
    pub(super) line_fragments: Vec<LineFragment>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct LineFragment {
    pub(super) line_offset: u64,
    pub(super) offset: u64,
    pub(super) match_length: u64,
    pub(super) symbol_info: Option<Symbol>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ListAnswer {
    pub(super) list: RepositoryList,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct RepositoryList {
    pub(super) repos: Vec<Listed>,
    pub(super) repos_map: BTreeMap<u32, MinimalEntry>,
    pub(super) crashes: u64,
    pub(super) stats: RepositoryStats,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct MinimalEntry {
    pub(super) has_symbols: bool,
    pub(super) branches: Vec<Branch>,
    pub(super) index_time_unix: u64,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Listed {
    pub(super) repository: Repository,
    pub(super) index_metadata: IndexMetadata,
    pub(super) stats: RepositoryStats,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Repository {
    #[serde(rename = "TenantID")]
    pub(super) tenant: u32,
    #[serde(rename = "ID")]
    pub(super) id: u32,
    pub(super) name: String,
    #[serde(rename = "URL")]
    pub(super) url: String,
    pub(super) metadata: Empty,
    pub(super) source: &'static str,
    pub(super) branches: Vec<Branch>,
    pub(super) sub_repo_map: Empty,
    #[serde(rename = "CommitURLTemplate")]
    pub(super) commit_url: String,
    #[serde(rename = "FileURLTemplate")]
    pub(super) file_url: String,
    pub(super) line_fragment_template: &'static str,
    pub(super) raw_config: Empty,
    pub(super) rank: u32,
    pub(super) index_options: &'static str,
    pub(super) has_symbols: bool,
    pub(super) tombstone: bool,
    pub(super) latest_commit_date: String,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Branch {
    pub(super) name: String,
    pub(super) version: String,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct IndexMetadata {
    pub(super) index_format_version: u32,
    pub(super) index_feature_version: u32,
    pub(super) index_min_reader_version: u32,
    pub(super) index_time: String,
    #[serde(rename = "PlainASCII")]
    pub(super) plain_ascii: bool,
    pub(super) language_map: Empty,
    pub(super) zoekt_version: &'static str,
    #[serde(rename = "ID")]
    pub(super) id: &'static str,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct RepositoryStats {
    pub(super) repos: u64,
    pub(super) shards: u64,
    pub(super) documents: u64,
    pub(super) index_bytes: u64,
    pub(super) content_bytes: u64,
    pub(super) new_lines_count: u64,
    pub(super) default_branch_new_lines_count: u64,
    pub(super) other_branches_new_lines_count: u64,
}
