//! Repositories, and their files and directories at a revision.

use super::super::matches::{text, url};
use super::super::query;
use super::file::{File, Tree};
use super::refused;
use crate::problem::Problem;
use crate::state::Call;
use async_graphql::{ComplexObject, Context, ID, Object, Result, SimpleObject};
use jiff::Timestamp;
use schema::message::ListEntry;

const REPOSITORIES_DEFAULT: usize = 1000;

#[derive(SimpleObject)]
#[graphql(name = "RepositoryConnection")]
pub(super) struct Repositories {
    nodes: Vec<Repository>,
    total_count: usize,
}

impl Repositories {
    pub(super) async fn list(
        call: &Call,
        (first, query, descending): (Option<i32>, String, bool),
    ) -> Result<Repositories, Problem> {
        let scope = call.viewer.scope().await?;
        let list = query::repositories(call.corpus(&scope), None).await?;
        let wanted = query.to_lowercase();
        let is_wanted = |it: &&ListEntry| text(&it.package).to_lowercase().contains(&wanted);
        let found = list.entries.iter().filter(is_wanted);
        let mut nodes: Vec<Repository> = found.map(Repository::of).collect();
        if descending {
            nodes.reverse();
        }
        let total_count = nodes.len();
        let first = first.map(|first| usize::try_from(first).unwrap_or(0));
        nodes.truncate(first.unwrap_or(REPOSITORIES_DEFAULT));
        Ok(Repositories { nodes, total_count })
    }
}

#[derive(Clone, Default, SimpleObject)]
#[graphql(complex)]
pub(super) struct Repository {
    #[graphql(skip)]
    pub(super) package: Vec<u8>,
    name: String,
    url: String,
    description: String,
    language: String,
    created_at: String,
    updated_at: Option<String>,
    external_repository: ExternalRepository,
    #[graphql(name = "externalURLs")]
    external_urls: Vec<ExternalLink>,
    default_branch: Option<GitRef>,
    viewer_can_administer: bool,
    key_value_pairs: Vec<KeyValuePair>,
    label: Html,
}

#[derive(Clone, Default, SimpleObject)]
struct ExternalRepository {
    id: String,
    service_type: String,
    #[graphql(name = "serviceID")]
    service_id: String,
}

#[derive(Clone, SimpleObject)]
struct ExternalLink {
    service_type: String,
    url: String,
}

#[derive(Clone, SimpleObject)]
struct GitRef {
    name: String,
    display_name: String,
}

#[derive(Clone, SimpleObject)]
struct KeyValuePair {
    key: String,
    value: Option<String>,
}

#[derive(Clone, Default, SimpleObject)]
#[graphql(name = "Markdown")]
pub(super) struct Html {
    text: String,
    html: String,
}

impl Html {
    pub(super) fn of(text: String) -> Html {
        Html {
            html: String::new(),
            text,
        }
    }
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

    pub(super) fn of(entry: &ListEntry) -> Repository {
        let seconds = i64::try_from(entry.indexed).unwrap_or_default();
        let indexed = Timestamp::from_second(seconds)
            .unwrap_or_default()
            .to_string();
        Repository {
            created_at: indexed.clone(),
            updated_at: Some(indexed),
            ..Repository::named(&entry.package)
        }
    }

    /// By name, before which a remote's address may have a host and an owner.
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
                return Ok(Some(Repository {
                    name: name.to_owned(),
                    ..Repository::of(newest)
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

    async fn commit(&self, rev: String) -> Option<Commit> {
        Some(Commit::new(self.clone(), &rev))
    }
}

#[derive(Clone)]
pub(super) struct Commit {
    pub(super) repository: Repository,
    /// Empty: the default revision.
    pub(super) revision: String,
}

impl Commit {
    pub(super) fn new(repository: Repository, revision: &str) -> Commit {
        let revision = match revision {
            "HEAD" => "",
            other => other,
        };
        Commit {
            repository,
            revision: revision.to_owned(),
        }
    }
}

#[derive(SimpleObject)]
struct Signature {
    date: String,
    person: Person,
}

#[derive(SimpleObject)]
struct Person {
    name: String,
    display_name: String,
}

#[Object(name = "GitCommit")]
impl Commit {
    async fn oid(&self) -> &str {
        &self.revision
    }

    async fn repository(&self) -> &Repository {
        &self.repository
    }

    async fn url(&self) -> String {
        let Repository { package, .. } = &self.repository;
        url(package, "", "commit", self.revision.as_bytes())
    }

    async fn subject(&self) -> &str {
        ""
    }

    async fn message(&self) -> &str {
        ""
    }

    async fn author(&self) -> Option<Signature> {
        None
    }

    #[graphql(complexity = "10 + child_complexity")]
    async fn blob(&self, ctx: &Context<'_>, path: String) -> Result<Option<File>> {
        self.file(ctx, path).await
    }

    #[graphql(complexity = "10 + child_complexity")]
    async fn file(&self, ctx: &Context<'_>, path: String) -> Result<Option<File>> {
        let path = path.trim_start_matches('/').as_bytes().to_vec();
        let found = File::find(ctx.data_unchecked(), self.clone(), path).await;
        found.map(Some).map_err(refused)
    }

    #[graphql(complexity = "10 + child_complexity")]
    async fn tree(&self, ctx: &Context<'_>, path: Option<String>) -> Result<Option<Tree>> {
        let found = Tree::list(ctx.data_unchecked(), self, path.unwrap_or_default()).await;
        found.map_err(refused)
    }
}
