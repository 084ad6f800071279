//! Repositories: all, those that a filter accepts, or those with a matching file.

use super::found;
use super::links::{LINE_FRAGMENT, Links, repository_id};
use super::names::RepositoryFilter;
use super::request::SearchOptions;
use super::sets::{self, Prepared};
use super::shape::{Branch, IndexMetadata, Listed, MinimalEntry, Repository, RepositoryStats};
use crate::http::rendering;
use crate::problem::Problem;
use crate::state::Call;
use crate::suggest::Corpus;
use frontend::SpoolError;
use frontend::query::zoekt::QueryTree;
use jiff::Timestamp;
use schema::message::{ListEntry, ListKind, ListRequest};
use schema::name::revision_name;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// `type:repo` in a query, each a search.
const SUBQUERIES_MAX: usize = 8;

/// A backend sends about a thousand entries at once.
const PARTS_MAX: usize = 100;

/// Zoekt's time of no commit.
const NEVER: &str = "0001-01-01T00:00:00Z";

#[derive(Default)]
pub(super) struct FoundRepositories {
    pub(super) entries: Vec<ListEntry>,
    pub(super) missing: u64,
}

/// Runs the subqueries of a query, and checks it.
pub(super) async fn prepare(
    call: &Call,
    mut tree: QueryTree,
    context_lines: u32,
) -> Result<Prepared, Problem> {
    let scope = call.viewer.scope().await?;
    let mut missing = 0;
    for _ in 0..SUBQUERIES_MAX {
        let Some((inner, place)) = tree.take_subquery() else {
            return sets::restricted(call, &scope, tree, context_lines, missing).await;
        };
        let inner = sets::restricted(call, &scope, inner, 0, 0).await?;
        let found = find(call, &inner).await?;
        missing += found.missing;
        place.found(found.entries.iter().map(name).collect());
    }
    let detail = format!("type:repo occurs more than {SUBQUERIES_MAX} times");
    Err(Problem::bad_request(detail))
}

pub(super) async fn find(call: &Call, prepared: &Prepared) -> Result<FoundRepositories, Problem> {
    let Prepared {
        scope,
        query: Some(zoekt),
        missing,
    } = prepared
    else {
        return Ok(FoundRepositories::default());
    };
    let corpus = call.corpus(scope);
    let mut found = all(corpus).await?;
    found.missing += missing;
    if let Some(filter) = RepositoryFilter::of(&zoekt.parsed.query.expr) {
        let filter = filter?;
        found.entries.retain(|entry| filter.accepts(entry));
        return Ok(found);
    }
    let answer = found::search(call, scope, zoekt, &SearchOptions::default()).await?;
    let whole = Arc::clone(&answer);
    let names = rendering(&answer, move || -> Result<HashSet<Vec<u8>>, SpoolError> {
        let packages = whole.package_list(0..whole.packages())?.into_iter();
        Ok(packages.map(|package| package.name).collect())
    });
    let names = names.await?;
    found.entries.retain(|entry| names.contains(&entry.package));
    found.missing += answer.missing().len() as u64;
    Ok(found)
}

pub(super) async fn all(corpus: Corpus<'_>) -> Result<FoundRepositories, Problem> {
    let [packages, repositories] = [ListKind::Packages, ListKind::Repositories]
        .map(|kind| corpus.parts(ListRequest::new(kind, b"", b"", u32::MAX), PARTS_MAX));
    let (mut packages, repositories) = (packages.await?, repositories.await?);
    let repositories = repositories.entries.into_iter();
    let mut known: HashMap<_, _> = repositories
        .map(|entry| (entry.package, entry.repository))
        .collect();
    for entry in &mut packages.entries {
        entry.repository = known.remove(&entry.package).flatten();
    }
    Ok(FoundRepositories {
        entries: packages.entries,
        missing: packages.unreachable.len() as u64,
    })
}

pub(super) async fn with_ids(
    call: &Call,
    is_wanted: impl Fn(u32) -> bool,
) -> Result<Vec<String>, Problem> {
    let scope = call.viewer.scope().await?;
    let entries = all(call.corpus(&scope)).await?.entries.into_iter();
    let wanted = entries.filter(|entry| is_wanted(id(entry)));
    Ok(wanted.map(|entry| name(&entry)).collect())
}

pub(super) fn name(entry: &ListEntry) -> String {
    String::from_utf8_lossy(&entry.package).into_owned()
}

pub(super) fn id(entry: &ListEntry) -> u32 {
    repository_id(&entry.package)
}

impl From<&ListEntry> for MinimalEntry {
    fn from(entry: &ListEntry) -> MinimalEntry {
        MinimalEntry {
            has_symbols: true,
            branches: branches(entry),
            index_time_unix: entry.indexed,
        }
    }
}

pub(super) fn stats(entry: &ListEntry) -> RepositoryStats {
    RepositoryStats {
        shards: 1,
        documents: entry.documents.into(),
        content_bytes: entry.text_bytes,
        new_lines_count: entry.lines,
        default_branch_new_lines_count: entry.lines,
        ..RepositoryStats::default()
    }
}

pub(super) fn sum(entries: &[ListEntry]) -> RepositoryStats {
    let mut sum = RepositoryStats {
        repos: entries.len() as u64,
        ..RepositoryStats::default()
    };
    for one in entries.iter().map(stats) {
        sum.shards += one.shards;
        sum.documents += one.documents;
        sum.content_bytes += one.content_bytes;
        sum.new_lines_count += one.new_lines_count;
        sum.default_branch_new_lines_count += one.default_branch_new_lines_count;
    }
    sum
}

/// The default branch first.
pub(super) fn branches(entry: &ListEntry) -> Vec<Branch> {
    let revisions = entry.repository.iter().flat_map(|it| &it.revisions);
    let branch = |revision: &schema::message::IndexedRevision| Branch {
        name: String::from_utf8_lossy(revision_name(revision.name.as_bytes())).into_owned(),
        version: revision.commit.clone(),
    };
    revisions.map(branch).collect()
}

pub(super) fn time(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds);
    time.map_or_else(|_| NEVER.to_owned(), |time| time.to_string())
}

pub(super) fn committed(entry: &ListEntry) -> Option<i64> {
    let first = entry.repository.as_ref()?.revisions.first()?;
    Some(first.committed)
}

pub(super) fn listed(entry: &ListEntry, links: &Links) -> Listed {
    Listed {
        repository: Repository {
            id: id(entry),
            name: name(entry),
            url: links.repository(&entry.package),
            branches: branches(entry),
            commit_url: match entry.repository {
                Some(_) => links.commit(&entry.package, "{{.Version}}"),
                None => String::new(),
            },
            file_url: links.file_template(&entry.package),
            line_fragment_template: LINE_FRAGMENT,
            has_symbols: true,
            latest_commit_date: committed(entry).map_or_else(|| NEVER.to_owned(), time),
            ..Repository::default()
        },
        index_metadata: IndexMetadata {
            index_time: time(entry.indexed as i64),
            ..IndexMetadata::default()
        },
        stats: stats(entry),
    }
}
