//! Messages filled from the shapes of the JSON API, and its options from a message.

use super::messages as to;
use crate::zoekt::links::Links;
use crate::zoekt::list;
use crate::zoekt::request::{self, SearchOptions};
use crate::zoekt::shape;
use schema::message::ListEntry;
use std::time::Duration;

fn each<A, B: From<A>>(from: Vec<A>) -> Vec<B> {
    from.into_iter().map(B::from).collect()
}

fn bytes(from: Option<shape::Bytes>) -> Vec<u8> {
    from.map_or_else(Vec::new, |it| it.0)
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl From<to::SearchOptions> for SearchOptions {
    fn from(from: to::SearchOptions) -> SearchOptions {
        let time = from.max_wall_time.map(Duration::try_from);
        SearchOptions {
            estimates: from.estimate_doc_count,
            whole: from.whole,
            chunks: from.chunk_matches,
            context_lines: request::context_lines(from.num_context_lines),
            files_max: request::limit(from.max_doc_display_count),
            matches_max: request::limit(from.max_match_display_count),
            total_max: request::limit(from.total_max_match_count),
            per_shard_max: request::limit(from.shard_max_match_count),
            per_repository_max: request::limit(from.shard_repo_max_match_count),
            timeout: time.and_then(Result::ok).filter(|time| !time.is_zero()),
        }
    }
}

impl From<shape::SearchResult> for to::SearchResponse {
    fn from(from: shape::SearchResult) -> Self {
        to::SearchResponse {
            stats: Some(from.stats.into()),
            progress: None,
            files: each(from.files),
        }
    }
}

impl From<shape::Stats> for to::Stats {
    fn from(from: shape::Stats) -> Self {
        let duration = Duration::from_nanos(from.duration);
        to::Stats {
            content_bytes_loaded: from.content_bytes_loaded as i64,
            crashes: from.crashes as i64,
            duration: prost_types::Duration::try_from(duration).ok(),
            file_count: from.file_count as i64,
            shard_files_considered: from.shard_files_considered as i64,
            files_considered: from.files_considered as i64,
            files_loaded: from.files_loaded as i64,
            files_skipped: from.files_skipped as i64,
            shards_scanned: from.shards_scanned as i64,
            shards_skipped: from.shards_skipped as i64,
            match_count: from.match_count as i64,
            flush_reason: to::FlushReason::FinalFlush.into(),
        }
    }
}

impl From<shape::FileMatch> for to::FileMatch {
    fn from(from: shape::FileMatch) -> Self {
        to::FileMatch {
            score: from.score,
            file_name: from.source.1,
            repository: from.repository,
            branches: from.branches,
            line_matches: each(from.line_matches),
            chunk_matches: each(from.chunk_matches),
            repository_id: from.repository_id,
            content: from.content.0,
            checksum: from.checksum.0,
            language: from.language,
            version: from.version,
        }
    }
}

impl From<shape::LineMatch> for to::LineMatch {
    fn from(from: shape::LineMatch) -> Self {
        to::LineMatch {
            line: from.line.0,
            line_start: from.line_start as i64,
            line_end: from.line_end as i64,
            line_number: from.line_number.into(),
            before: bytes(from.before),
            after: bytes(from.after),
            file_name: from.file_name,
            score: from.score,
            line_fragments: each(from.line_fragments),
        }
    }
}

impl From<shape::LineFragment> for to::LineFragmentMatch {
    fn from(from: shape::LineFragment) -> Self {
        to::LineFragmentMatch {
            line_offset: from.line_offset as i64,
            offset: small(from.offset),
            match_length: from.match_length as i64,
            symbol_info: from.symbol_info.map(Into::into),
        }
    }
}

impl From<shape::Symbol> for to::SymbolInfo {
    fn from(from: shape::Symbol) -> Self {
        to::SymbolInfo {
            sym: from.sym,
            kind: from.kind.to_owned(),
            parent: from.parent.to_owned(),
            parent_kind: from.parent_kind.to_owned(),
        }
    }
}

impl From<shape::ChunkMatch> for to::ChunkMatch {
    fn from(from: shape::ChunkMatch) -> Self {
        to::ChunkMatch {
            content: from.content.0,
            content_start: Some(from.content_start.into()),
            file_name: from.file_name,
            ranges: each(from.ranges),
            symbol_info: each(from.symbol_info.unwrap_or_default()),
            score: from.score,
            best_line_match: from.best_line_match,
        }
    }
}

impl From<shape::Range> for to::Range {
    fn from(from: shape::Range) -> Self {
        to::Range {
            start: Some(from.start.into()),
            end: Some(from.end.into()),
        }
    }
}

impl From<shape::Location> for to::Location {
    fn from(from: shape::Location) -> Self {
        to::Location {
            byte_offset: small(from.byte_offset),
            line_number: from.line_number,
            column: small(from.column),
        }
    }
}

impl From<shape::MinimalEntry> for to::MinimalRepoListEntry {
    fn from(from: shape::MinimalEntry) -> Self {
        to::MinimalRepoListEntry {
            has_symbols: from.has_symbols,
            branches: each(from.branches),
            index_time_unix: from.index_time_unix as i64,
        }
    }
}

impl From<shape::Branch> for to::RepositoryBranch {
    fn from(from: shape::Branch) -> Self {
        to::RepositoryBranch {
            name: from.name,
            version: from.version,
        }
    }
}

impl From<shape::RepositoryStats> for to::RepoStats {
    fn from(from: shape::RepositoryStats) -> Self {
        to::RepoStats {
            repos: from.repos as i64,
            shards: from.shards as i64,
            documents: from.documents as i64,
            content_bytes: from.content_bytes as i64,
            new_lines_count: from.new_lines_count,
            default_branch_new_lines_count: from.default_branch_new_lines_count,
        }
    }
}

pub(super) fn listed(entry: &ListEntry, links: &Links) -> to::RepoListEntry {
    let shape::Listed {
        repository, stats, ..
    } = list::listed(entry, links);
    let time = |seconds| prost_types::Timestamp { seconds, nanos: 0 };
    to::RepoListEntry {
        repository: Some(to::Repository {
            id: repository.id,
            name: repository.name,
            url: repository.url,
            branches: each(repository.branches),
            commit_url_template: repository.commit_url,
            file_url_template: repository.file_url,
            line_fragment_template: repository.line_fragment_template.to_owned(),
            has_symbols: repository.has_symbols,
            latest_commit_date: list::committed(entry).map(time),
        }),
        index_metadata: Some(to::IndexMetadata {
            index_time: Some(time(entry.indexed as i64)),
        }),
        stats: Some(stats.into()),
    }
}
