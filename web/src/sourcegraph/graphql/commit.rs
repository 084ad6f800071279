//! Commits of a repository, their histories and directories.

use super::super::matches::{text, url};
use super::objects::{Commit, File, Repository};
use super::shared::{LookupsLeft, refused};
use crate::problem::Problem;
use crate::repositories;
use crate::state::Call;
use async_graphql::{Context, ID, Object, Result, SimpleObject};
use jiff::Timestamp;
use schema::message::{Commit as Details, ListEntry, ListKind, ListRequest, LookupOf};
use schema::message::{IndexedRevision, Signature as Signed};
use schema::name::revision_name;
use std::sync::Arc;

const PARTS_MAX: usize = 8;

const ANCESTORS_DEFAULT: u32 = 100;
const ANCESTORS_MAX: u32 = 1000;

const SHORT_ID: usize = 7;

impl Commit {
    pub(super) fn new(repository: Repository, revision: &str) -> Commit {
        let revision = match revision {
            "HEAD" => "",
            other => other,
        };
        Commit {
            repository,
            revision: revision.to_owned(),
            details: None,
        }
    }

    fn id(&self) -> &str {
        let is_it = |it: &&IndexedRevision| {
            self.revision.is_empty()
                || it.name == self.revision
                || revision_name(it.name.as_bytes()) == self.revision.as_bytes()
        };
        let known = self.repository.revisions.iter().find(is_it);
        match &self.details {
            Some(details) => &details.id,
            None => known.map_or(&self.revision, |it| &it.commit),
        }
    }

    /// `None` outside git, or if unreadable.
    async fn details(&self, ctx: &Context<'_>) -> Option<Arc<Details>> {
        let call: &Call = ctx.data_unchecked();
        let Repository { package, .. } = &self.repository;
        let (name, id) = (str::from_utf8(package).ok()?, self.id());
        if self.details.is_some() || id.is_empty() {
            return self.details.clone();
        }
        LookupsLeft::take(ctx, 1).ok()?;
        let scope = call.viewer.scope_of(package).await.ok()?;
        repositories::commit(&call.coordinator, &scope, name, id)
            .await
            .ok()
    }

    /// History of a path, this commit first.
    async fn history(&self, call: &Call, count: u32, path: String) -> Result<Vec<Commit>, Problem> {
        let package = &self.repository.package;
        let (name, id) = (text(package), self.id());
        let of = LookupOf::Log {
            revision: id.to_owned(),
            path: path.into_bytes(),
            after: Vec::new(),
            count,
        };
        let scope = call.viewer.scope_of(package).await?;
        let log = call.coordinator.log(&scope, name.clone(), of).await;
        let log = log.map_err(|error| repositories::problem(error, &name, id))?;
        let commit = |details: &Details| Commit {
            details: Some(Arc::new(details.clone())),
            ..Commit::new(self.repository.clone(), &details.id)
        };
        Ok(log.commits.iter().map(commit).collect())
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
    email: String,
    #[graphql(name = "avatarURL")]
    avatar_url: Option<String>,
}

impl Signature {
    fn of(signed: &Signed) -> Signature {
        let date = Timestamp::from_second(signed.seconds).unwrap_or_default();
        Signature {
            date: date.to_string(),
            person: Person {
                name: text(&signed.name),
                display_name: text(&signed.name),
                email: text(&signed.email),
                avatar_url: None,
            },
        }
    }
}

#[derive(SimpleObject)]
#[graphql(name = "GitCommitConnection")]
struct Commits {
    nodes: Vec<Commit>,
}

#[Object(name = "GitCommit", serial)]
impl Commit {
    async fn oid(&self) -> &str {
        self.id()
    }

    #[graphql(name = "id")]
    async fn graphql_id(&self) -> ID {
        ID(format!("{}@{}", self.repository.name, self.id()))
    }

    #[graphql(name = "abbreviatedOID")]
    async fn abbreviated_oid(&self) -> &str {
        self.id().get(..SHORT_ID).unwrap_or(self.id())
    }

    async fn repository(&self) -> &Repository {
        &self.repository
    }

    #[graphql(name = "canonicalURL")]
    async fn canonical_url(&self) -> String {
        url(&self.repository.package, "", "commit", self.id().as_bytes())
    }

    async fn url(&self) -> String {
        url(&self.repository.package, "", "commit", self.id().as_bytes())
    }

    #[graphql(complexity = 10)]
    async fn subject(&self, ctx: &Context<'_>) -> String {
        let details = self.details(ctx).await;
        details.map_or(String::new(), |it| text(&it.subject))
    }

    #[graphql(complexity = 10)]
    async fn body(&self, ctx: &Context<'_>) -> Option<String> {
        let details = self.details(ctx).await?;
        Some(text(&details.body))
    }

    #[graphql(complexity = 10)]
    async fn message(&self, ctx: &Context<'_>) -> String {
        let details = self.details(ctx).await;
        let message = |it: Arc<Details>| match &it.body[..] {
            b"" => text(&it.subject),
            body => format!("{}\n\n{}", text(&it.subject), text(body)),
        };
        details.map_or(String::new(), message)
    }

    #[graphql(complexity = "10 + child_complexity")]
    async fn author(&self, ctx: &Context<'_>) -> Option<Signature> {
        let details = self.details(ctx).await?;
        Some(Signature::of(&details.author))
    }

    #[graphql(complexity = "10 + child_complexity")]
    async fn committer(&self, ctx: &Context<'_>) -> Option<Signature> {
        let details = self.details(ctx).await?;
        Some(Signature::of(&details.committer))
    }

    #[graphql(complexity = "10 + child_complexity")]
    async fn parents(&self, ctx: &Context<'_>) -> Vec<Commit> {
        let details = self.details(ctx).await;
        let parents = details.map_or(Vec::new(), |it| it.parents.clone());
        let commit = |id: String| Commit::new(self.repository.clone(), &id);
        parents.into_iter().map(commit).collect()
    }

    #[graphql(complexity = "50 + 10 * child_complexity")]
    async fn ancestors(
        &self,
        ctx: &Context<'_>,
        first: Option<i32>,
        path: Option<String>,
    ) -> Result<Commits> {
        let first = first.map_or(ANCESTORS_DEFAULT, |first| u32::try_from(first).unwrap_or(0));
        let count = first.clamp(1, ANCESTORS_MAX);
        let path = path.unwrap_or_default();
        LookupsLeft::take(ctx, count)?;
        let nodes = self.history(ctx.data_unchecked(), count, path).await;
        Ok(Commits {
            nodes: nodes.map_err(refused)?,
        })
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

#[derive(SimpleObject)]
#[graphql(name = "GitTree")]
pub(super) struct Tree {
    path: String,
    url: String,
    entries: Vec<TreeEntry>,
}

#[derive(SimpleObject)]
struct TreeEntry {
    name: String,
    path: String,
    is_directory: bool,
    url: String,
}

impl Tree {
    pub(super) async fn list(
        call: &Call,
        commit: &Commit,
        path: String,
    ) -> Result<Option<Tree>, Problem> {
        let (package, revision) = (&commit.repository.package, &commit.revision);
        let scope = call.viewer.scope_of(package).await?;
        let mut directory = path.trim_matches('/').to_owned();
        if !directory.is_empty() {
            directory.push('/');
        }
        let kind = ListKind::Children;
        let mut request = ListRequest::new(kind, package, directory.as_bytes(), u32::MAX);
        request.revision.clone_from(revision);
        let list = call.corpus(&scope).parts(request, PARTS_MAX).await?;
        let entry = |it: &ListEntry| {
            let path = it.path.strip_suffix(b"/");
            let is_directory = path.is_some();
            let path = path.unwrap_or(&it.path);
            let name = path.rsplit(|&byte| byte == b'/').next();
            let kind = if is_directory { "tree" } else { "blob" };
            TreeEntry {
                name: text(name.unwrap_or_default()),
                path: text(path),
                is_directory,
                url: url(package, revision, kind, path),
            }
        };
        let entries: Vec<TreeEntry> = list.entries.iter().map(entry).collect();
        let path = path.trim_matches('/').to_owned();
        let url = url(package, revision, "tree", path.as_bytes());
        let tree = Tree { path, url, entries };
        Ok((!tree.entries.is_empty()).then_some(tree))
    }
}
