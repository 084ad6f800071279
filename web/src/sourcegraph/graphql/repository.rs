//! Repositories and their indexed revisions.

use super::super::matches::text;
use super::super::query;
use super::objects::{Commit, Repository};
use crate::problem::Problem;
use crate::state::Call;
use async_graphql::{ComplexObject, ID, SimpleObject, Union};
use jiff::Timestamp;
use schema::message::{IndexedRevision, ListEntry, ListKind, ListRequest};
use schema::name::revision_name;
use std::collections::HashMap;
use std::sync::Arc;

const REPOSITORIES_DEFAULT: usize = 1000;

/// Each list has up to 64 references, so nested ones are refused.
const REFS_COST: usize = 16;

#[derive(SimpleObject)]
#[graphql(name = "RepositoryConnection")]
pub(super) struct Repositories {
    nodes: Vec<Repository>,
    total_count: usize,
    page_info: PageInfo,
}

#[derive(SimpleObject)]
struct PageInfo {
    end_cursor: Option<String>,
    has_next_page: bool,
}

#[derive(Default)]
pub(super) struct Wanted {
    pub(super) first: Option<i32>,
    pub(super) after: Option<String>,
    pub(super) query: String,
    pub(super) names: Option<Vec<String>>,
    pub(super) descending: bool,
}

impl Wanted {
    fn has(&self, name: &str) -> bool {
        let mut names = self.names.iter().flatten();
        let is_named = self.names.is_none() || names.any(|known| known == name);
        is_named && name.to_lowercase().contains(&self.query.to_lowercase())
    }

    fn is_behind(&self, name: &str) -> bool {
        let after = self.after.as_deref();
        after.is_none_or(|after| (name > after) != self.descending && name != after)
    }
}

#[derive(Union)]
#[graphql(name = "RepositoryRedirect")]
#[expect(clippy::large_enum_variant, reason = "nothing redirects")]
pub(super) enum FoundRepository {
    Repository(Repository),
    Redirect(Redirect),
}

#[derive(SimpleObject)]
pub(super) struct Redirect {
    url: String,
}

impl Repositories {
    pub(super) async fn list(call: &Call, wanted: &Wanted) -> Result<Repositories, Problem> {
        let scope = call.viewer.scope().await?;
        let list = query::repositories(call.corpus(&scope), None).await?;
        let mut revisions = revisions(call).await?;
        let nodes = list.entries.iter().map(|entry| {
            let revisions = revisions.remove(&entry.package);
            Repository::of(entry, revisions.unwrap_or_default())
        });
        let mut nodes: Vec<Repository> = nodes.filter(|it| wanted.has(&it.name)).collect();
        if wanted.descending {
            nodes.reverse();
        }
        let total_count = nodes.len();
        nodes.retain(|it| wanted.is_behind(&it.name));
        let first = wanted
            .first
            .map(|first| usize::try_from(first).unwrap_or(0));
        let first = first.unwrap_or(REPOSITORIES_DEFAULT);
        let has_next_page = nodes.len() > first;
        nodes.truncate(first);
        let end = nodes.last().filter(|_| has_next_page);
        Ok(Repositories {
            total_count,
            page_info: PageInfo {
                end_cursor: end.map(|it| it.name.clone()),
                has_next_page,
            },
            nodes,
        })
    }
}

async fn revisions(call: &Call) -> Result<HashMap<Vec<u8>, Vec<IndexedRevision>>, Problem> {
    let scope = call.viewer.scope().await?;
    let request = ListRequest::new(ListKind::Repositories, b"", b"", u32::MAX);
    let list = call.corpus(&scope).parts(request, query::PARTS_MAX).await?;
    let each = list.entries.into_iter();
    Ok(each
        .filter_map(|entry| Some((entry.package, entry.repository?.revisions)))
        .collect())
}

#[derive(SimpleObject)]
struct GitRef {
    name: String,
    display_name: String,
    abbrev_name: String,
    target: GitObject,
}

#[derive(SimpleObject)]
struct GitObject {
    oid: String,
    commit: Commit,
}

#[derive(SimpleObject)]
#[graphql(name = "GitRefConnection")]
struct GitRefs {
    nodes: Vec<GitRef>,
    total_count: usize,
}

impl Repository {
    pub(super) fn named(package: &[u8]) -> Repository {
        Repository {
            package: package.to_vec(),
            name: text(package),
            url: format!("/{}", crate::http::links::encode(package)),
            created_at: Timestamp::UNIX_EPOCH.to_string(),
            ..Repository::default()
        }
    }

    pub(super) fn of(entry: &ListEntry, revisions: Vec<IndexedRevision>) -> Repository {
        let seconds = i64::try_from(entry.indexed).unwrap_or_default();
        let indexed = Timestamp::from_second(seconds)
            .unwrap_or_default()
            .to_string();
        Repository {
            created_at: indexed.clone(),
            updated_at: Some(indexed),
            revisions: Arc::new(revisions),
            ..Repository::named(&entry.package)
        }
    }

    /// A host and an owner may precede the name, as in a remote's address.
    pub(super) async fn find(call: &Call, name: &str) -> Result<Option<Repository>, Problem> {
        let suffixes = name.match_indices('/').map(|(at, _)| &name[at + 1..]);
        for suffix in [name]
            .into_iter()
            .chain(suffixes)
            .filter(|it| !it.is_empty())
        {
            let scope = call.viewer.scope_with(suffix.as_bytes()).await?;
            let versions = call.corpus(&scope).versions(suffix.as_bytes()).await?;
            if let Some(newest) = versions.last() {
                let indexed = call
                    .corpus(&scope)
                    .indexed_repository(&newest.package)
                    .await?;
                let revisions = indexed.map_or(Vec::new(), |it| it.revisions);
                return Ok(Some(Repository {
                    name: name.to_owned(),
                    ..Repository::of(newest, revisions)
                }));
            }
        }
        Ok(None)
    }
}

#[ComplexObject]
impl Repository {
    async fn id(&self) -> ID {
        ID(self.name.clone())
    }

    async fn uri(&self) -> &str {
        &self.name
    }

    async fn default_branch(&self) -> Option<GitRef> {
        self.revisions.first().map(|it| self.reference(it))
    }

    #[graphql(complexity = "REFS_COST * child_complexity")]
    async fn branches(&self, first: Option<i32>, query: Option<String>) -> GitRefs {
        self.references("refs/heads/", first, &query.unwrap_or_default())
    }

    #[graphql(complexity = "REFS_COST * child_complexity")]
    async fn tags(&self, first: Option<i32>, query: Option<String>) -> GitRefs {
        self.references("refs/tags/", first, &query.unwrap_or_default())
    }

    async fn commit(&self, rev: String) -> Option<Commit> {
        Some(Commit::new(self.clone(), &rev))
    }
}

impl Repository {
    fn reference(&self, revision: &IndexedRevision) -> GitRef {
        let short = text(revision_name(revision.name.as_bytes()));
        GitRef {
            name: revision.name.clone(),
            abbrev_name: short.clone(),
            display_name: short,
            target: GitObject {
                oid: revision.commit.clone(),
                commit: Commit::new(self.clone(), &revision.name),
            },
        }
    }

    fn references(&self, start: &str, first: Option<i32>, part: &str) -> GitRefs {
        let is_wanted = |it: &&IndexedRevision| {
            it.name.starts_with(start) && it.name[start.len()..].contains(part)
        };
        let found: Vec<_> = self.revisions.iter().filter(is_wanted).collect();
        let first = first.map_or(found.len(), |first| usize::try_from(first).unwrap_or(0));
        GitRefs {
            total_count: found.len(),
            nodes: found
                .iter()
                .take(first)
                .map(|it| self.reference(it))
                .collect(),
        }
    }
}
