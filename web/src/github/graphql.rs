//! `/api/graphql`: accounts, repositories and their files, as `gh repo` asks for them.

use super::account::login;
use super::addresses::{Addresses, sha};
use super::contents;
use super::repositories::{self, SEARCHED_MAX};
use super::repository::{Asked, Details, Repository};
use crate::http::graphql::{Limited, limited, run};
use crate::problem::Problem;
use crate::state::Call;
use access::KeyName;
use async_graphql::Request as Query;
use async_graphql::{Context, Enum, Error, ID, Interface, Object, Result, SimpleObject};
use axum::Extension;
use axum::extract::Request;
use axum::response::Response;
use schema::message::ListEntry;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

const BYTES_MAX: u64 = 16 << 20;
/// Counts as a long file.
const LANGUAGES_BYTES: u64 = 1 << 20;

const FIRST_MAX: usize = 100;

static SCHEMA: LazyLock<Limited<Root>> = LazyLock::new(|| limited(Root));

pub(super) async fn answer(
    call: Call,
    addresses: Addresses,
    request: Request,
) -> Result<Response, Problem> {
    let left = Left(AtomicU64::new(BYTES_MAX));
    let prepare = |query: Query| query.data(call).data(addresses).data(left);
    run(&SCHEMA, request, prepare).await
}

/// Bytes of files that the answer may still have.
struct Left(AtomicU64);

fn spend(ctx: &Context<'_>, bytes: u64) -> Result<()> {
    let Left(left) = ctx.data_unchecked();
    let subtract = |left: u64| left.checked_sub(bytes);
    let spent = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract);
    let too_much = |_| Error::new("the answer would become too large: ask for fewer files");
    spent.map(|_| ()).map_err(too_much)
}

fn refused(problem: impl Into<Problem>) -> Error {
    Error::new(super::shape::words(&problem.into()))
}

struct Root;

#[Object(name = "Query", serial)]
impl Root {
    async fn viewer(&self, ctx: &Context<'_>) -> Owner {
        Owner {
            login: viewer(ctx),
            is_viewer: true,
        }
    }

    #[graphql(complexity = "10 + child_complexity")]
    async fn repository(
        &self,
        ctx: &Context<'_>,
        owner: String,
        name: String,
        #[graphql(name = "followRenames")] _follow_renames: Option<bool>,
    ) -> Result<Repo> {
        let call: &Call = ctx.data_unchecked();
        let of = Repository::find(call, &owner, &name)
            .await
            .map_err(refused)?;
        Ok(Repo::new(ctx, of))
    }

    #[graphql(complexity = "50 + child_complexity")]
    async fn repository_owner(&self, ctx: &Context<'_>, login: String) -> Result<Option<Owner>> {
        Owner::find(ctx, login).await
    }

    #[graphql(complexity = "50 + child_complexity")]
    async fn organization(&self, ctx: &Context<'_>, login: String) -> Result<Option<Owner>> {
        Owner::find(ctx, login).await
    }

    #[graphql(complexity = "50 + child_complexity")]
    async fn user(&self, ctx: &Context<'_>, login: String) -> Result<Option<Owner>> {
        Owner::find(ctx, login).await
    }

    #[graphql(complexity = "50 + child_complexity")]
    async fn search(
        &self,
        ctx: &Context<'_>,
        query: String,
        r#type: SearchType,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Repos> {
        let SearchType::Repository = r#type else {
            return Err(Error::new("Trawl searches only repositories and code"));
        };
        let call: &Call = ctx.data_unchecked();
        let scope = call.viewer.scope().await.map_err(refused)?;
        let asked = repositories::RepositoryQuery::parse(&query).map_err(refused)?;
        let mut found = asked.found(call, &scope).await.map_err(refused)?;
        found.truncate(SEARCHED_MAX);
        Repos::new(ctx, found, first, after).await
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum SearchType {
    Repository,
    Issue,
    User,
    Discussion,
}

fn viewer(ctx: &Context<'_>) -> String {
    let key = ctx.data_opt::<KeyName>().cloned().map(Extension);
    login(key.as_ref()).to_owned()
}

struct Owner {
    login: String,
    is_viewer: bool,
}

impl Owner {
    async fn find(ctx: &Context<'_>, login: String) -> Result<Option<Owner>> {
        let is_viewer = login == viewer(ctx);
        let call: &Call = ctx.data_unchecked();
        let scope = call.viewer.scope().await.map_err(refused)?;
        let all = repositories::all(call, &scope).await.map_err(refused)?;
        let is_known = is_viewer || all.iter().any(|it| repositories::is_of(it, &login));
        Ok(is_known.then_some(Owner { login, is_viewer }))
    }
}

/// Users too.
#[Object(name = "Organization", serial)]
impl Owner {
    async fn id(&self) -> ID {
        ID(sha(blake3::hash(self.login.as_bytes()).as_bytes()))
    }

    async fn login(&self) -> &str {
        &self.login
    }

    async fn name(&self) -> &str {
        &self.login
    }

    #[graphql(complexity = "50 + child_complexity")]
    #[expect(clippy::too_many_arguments, reason = "arguments of the schema")]
    async fn repositories(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        after: Option<String>,
        #[graphql(name = "privacy")] privacy: Option<Privacy>,
        #[graphql(name = "isFork")] is_fork: Option<bool>,
        #[graphql(name = "ownerAffiliations")] _affiliations: Option<Vec<Affiliation>>,
        #[graphql(name = "orderBy")] _order_by: Option<Order>,
    ) -> Result<Repos> {
        let call: &Call = ctx.data_unchecked();
        let scope = call.viewer.scope().await.map_err(refused)?;
        let mut found = repositories::all(call, &scope).await.map_err(refused)?;
        let is_none = privacy == Some(Privacy::Private) || is_fork == Some(true);
        let is_of = |it: &ListEntry| self.is_viewer || repositories::is_of(it, &self.login);
        found.retain(|entry| !is_none && is_of(entry));
        Repos::new(ctx, found, first, after).await
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "RepositoryPrivacy")]
enum Privacy {
    Public,
    Private,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "RepositoryAffiliation")]
enum Affiliation {
    Owner,
    Collaborator,
    OrganizationMember,
}

#[derive(async_graphql::InputObject)]
#[graphql(name = "RepositoryOrder")]
struct Order {
    #[graphql(name = "field")]
    _field: OrderField,
    #[graphql(name = "direction")]
    _direction: Direction,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "RepositoryOrderField")]
enum OrderField {
    CreatedAt,
    UpdatedAt,
    PushedAt,
    Name,
    Stargazers,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "OrderDirection")]
enum Direction {
    Asc,
    Desc,
}

#[derive(SimpleObject)]
#[graphql(name = "RepositoryConnection")]
struct Repos {
    total_count: usize,
    repository_count: usize,
    nodes: Vec<Repo>,
    page_info: PageInfo,
}

#[derive(SimpleObject)]
struct PageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

impl Repos {
    /// Cursors are numbers of repositories.
    async fn new(
        ctx: &Context<'_>,
        found: Vec<ListEntry>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Repos> {
        let call: &Call = ctx.data_unchecked();
        let start = after.and_then(|after| after.parse().ok()).unwrap_or(0);
        let start = found.len().min(start);
        let first = first.map_or(FIRST_MAX, |first| usize::try_from(first).unwrap_or(0));
        let end = found.len().min(start + first.min(FIRST_MAX));
        let scope = call.viewer.scope().await.map_err(refused)?;
        let shown = repositories::load(call, &scope, &found[start..end]).await;
        let shown = shown.map_err(refused)?.into_iter();
        Ok(Repos {
            total_count: found.len(),
            repository_count: found.len(),
            nodes: shown.map(|of| Repo::new(ctx, of)).collect(),
            page_info: PageInfo {
                has_next_page: end < found.len(),
                end_cursor: Some(end.to_string()),
            },
        })
    }
}

struct Repo {
    of: Repository,
    details: Details,
}

impl Repo {
    fn new(ctx: &Context<'_>, of: Repository) -> Repo {
        let details = of.details(ctx.data_unchecked());
        Repo { of, details }
    }

    fn asked(&self, ctx: &Context<'_>) -> Asked {
        Asked {
            call: ctx.data_unchecked::<Call>().clone(),
            addresses: ctx.data_unchecked::<Addresses>().clone(),
            of: self.of.clone(),
            rest: String::new(),
        }
    }

    async fn counted(&self, ctx: &Context<'_>) -> Result<Vec<(String, u64)>> {
        spend(ctx, LANGUAGES_BYTES)?;
        let found = contents::languages_of(&self.asked(ctx)).await;
        found.map_err(refused)
    }
}

#[derive(SimpleObject)]
struct Ref {
    name: String,
    prefix: &'static str,
}

#[derive(SimpleObject)]
struct Language {
    name: String,
}

#[derive(SimpleObject)]
struct LanguageConnection {
    edges: Vec<LanguageEdge>,
    total_count: usize,
}

#[derive(SimpleObject)]
struct LanguageEdge {
    size: u64,
    node: Language,
}

#[Object(name = "Repository", serial)]
impl Repo {
    async fn id(&self) -> ID {
        ID(self.details.shape.node_id.clone())
    }

    async fn database_id(&self) -> u64 {
        self.details.shape.id
    }

    async fn name(&self) -> &str {
        &self.details.shape.name
    }

    async fn name_with_owner(&self) -> &str {
        &self.details.shape.full_name
    }

    async fn owner(&self) -> Owner {
        Owner {
            login: self.details.shape.owner.login.clone(),
            is_viewer: false,
        }
    }

    async fn description(&self) -> &str {
        ""
    }

    async fn homepage_url(&self) -> &str {
        ""
    }

    async fn url(&self) -> &str {
        &self.details.shape.html_url
    }

    async fn ssh_url(&self) -> &str {
        ""
    }

    async fn visibility(&self) -> &str {
        "PUBLIC"
    }

    async fn viewer_permission(&self) -> &str {
        "READ"
    }

    async fn is_private(&self) -> bool {
        false
    }

    async fn is_fork(&self) -> bool {
        false
    }

    async fn is_archived(&self) -> bool {
        false
    }

    async fn has_issues_enabled(&self) -> bool {
        false
    }

    async fn has_wiki_enabled(&self) -> bool {
        false
    }

    async fn created_at(&self) -> &str {
        &self.details.created_at
    }

    async fn updated_at(&self) -> &str {
        &self.details.updated_at
    }

    async fn pushed_at(&self) -> &str {
        &self.details.pushed_at
    }

    async fn disk_usage(&self) -> u64 {
        self.details.size
    }

    async fn stargazer_count(&self) -> u64 {
        0
    }

    async fn fork_count(&self) -> u64 {
        0
    }

    async fn parent(&self) -> Option<Repo> {
        None
    }

    async fn merge_commit_allowed(&self) -> bool {
        false
    }

    async fn rebase_merge_allowed(&self) -> bool {
        false
    }

    async fn squash_merge_allowed(&self) -> bool {
        false
    }

    async fn default_branch_ref(&self) -> Ref {
        Ref {
            name: self.details.default_branch.clone(),
            prefix: "refs/heads/",
        }
    }

    #[graphql(complexity = "100 + child_complexity")]
    async fn primary_language(&self, ctx: &Context<'_>) -> Result<Option<Language>> {
        let first = self.counted(ctx).await?.into_iter().next();
        Ok(first.map(|(name, _)| Language { name }))
    }

    #[graphql(complexity = "100 + child_complexity")]
    async fn languages(
        &self,
        ctx: &Context<'_>,
        #[graphql(name = "first")] _first: Option<i32>,
    ) -> Result<LanguageConnection> {
        let found = self.counted(ctx).await?.into_iter();
        let edge = |(name, size)| LanguageEdge {
            size,
            node: Language { name },
        };
        let edges: Vec<LanguageEdge> = found.map(edge).collect();
        let total_count = edges.len();
        Ok(LanguageConnection { edges, total_count })
    }

    /// `REVISION:PATH`, or a revision for its commit. Null if there is none.
    #[graphql(complexity = "50 + child_complexity")]
    async fn object(&self, ctx: &Context<'_>, expression: String) -> Result<Option<GitObject>> {
        let Some((rev, path)) = expression.split_once(':') else {
            let call = ctx.data_unchecked();
            let oid = self.of.commit(call, &expression).await;
            return Ok(oid.ok().map(|oid| GitObject::Commit(Commit { oid })));
        };
        let asked = self.asked(ctx);
        let path = path.trim_matches('/').as_bytes();
        if !path.is_empty()
            && let Ok(reply) = contents::whole(&asked, path, rev).await
        {
            spend(ctx, reply.text.len() as u64)?;
            let is_text = str::from_utf8(&reply.text).is_ok();
            return Ok(Some(GitObject::Blob(Blob {
                oid: contents::id_of(&reply),
                byte_size: reply.total_bytes,
                is_binary: !is_text,
                is_truncated: (reply.text.len() as u64) < reply.total_bytes,
                text: String::from_utf8(reply.text).ok(),
            })));
        }
        let entries = contents::children(&asked, path, rev).await;
        Ok(entries
            .ok()
            .map(|entries| GitObject::Tree(Tree::new(path, &entries))))
    }
}

#[derive(Interface)]
#[graphql(field(name = "oid", ty = "&String"))]
enum GitObject {
    Blob(Blob),
    Tree(Tree),
    Commit(Commit),
}

#[derive(SimpleObject)]
struct Blob {
    oid: String,
    byte_size: u64,
    is_binary: bool,
    is_truncated: bool,
    text: Option<String>,
}

#[derive(SimpleObject)]
struct Commit {
    oid: String,
}

#[derive(SimpleObject)]
struct Tree {
    oid: String,
    entries: Vec<Entry>,
}

#[derive(SimpleObject)]
#[graphql(name = "TreeEntry")]
struct Entry {
    name: String,
    path: String,
    r#type: &'static str,
    mode: u32,
    oid: String,
}

impl Tree {
    fn new(path: &[u8], entries: &[ListEntry]) -> Tree {
        let entry = |it: &ListEntry| {
            let path = String::from_utf8_lossy(&it.path);
            let is_directory = path.ends_with('/');
            let path = path.trim_end_matches('/');
            Entry {
                name: path.rsplit('/').next().unwrap_or_default().to_owned(),
                path: path.to_owned(),
                r#type: if is_directory { "tree" } else { "blob" },
                mode: if is_directory { 0o40000 } else { 0o100_644 },
                oid: contents::sha_of(&it.path, &it.hash),
            }
        };
        Tree {
            oid: contents::sha_of(&[path, b"/"].concat(), b""),
            entries: entries.iter().map(entry).collect(),
        }
    }
}
