//! Files of a commit.

use super::super::matches::{text, url};
use super::objects::{Commit, File, Lsif, Repository};
use super::shared::{TextLeft, refused};
use crate::problem::Problem;
use crate::state::Call;
use async_graphql::{Context, Object, Result};
use frontend::Document;
use schema::message::{FileRange, FileRequest};
use std::sync::atomic::Ordering;

impl File {
    pub(super) fn of(document: &Document) -> File {
        let revisions = &document.revisions;
        let repository = Repository::named(&document.package);
        File {
            commit: Commit::new(repository, &revisions.commit),
            path: document.path.clone(),
        }
    }

    pub(super) fn at(repository: Repository, revision: &str, path: &str) -> File {
        File {
            commit: Commit::new(repository, revision),
            path: path.as_bytes().to_vec(),
        }
    }

    pub(super) fn repository(&self) -> &Repository {
        &self.commit.repository
    }

    pub(super) fn package(&self) -> &[u8] {
        &self.commit.repository.package
    }

    pub(super) fn request(&self, range: FileRange) -> FileRequest {
        let Commit {
            repository,
            revision,
            ..
        } = &self.commit;
        FileRequest::new(&repository.package, &self.path, revision, range)
    }

    /// A package outside git has no revisions: any name stands for it.
    pub(super) async fn find(call: &Call, commit: Commit, path: Vec<u8>) -> Result<File, Problem> {
        let mut file = File { commit, path };
        let nothing = FileRange::Bytes {
            offset: 0,
            count: 0,
        };
        let scope = call.viewer.scope_of(file.package()).await?;
        let corpus = call.corpus(&scope);
        let Err(problem) = corpus.fetch_file(file.request(nothing)).await else {
            return Ok(file);
        };
        file.commit.revision.clear();
        match corpus.fetch_file(file.request(nothing)).await {
            Ok(found) if found.reply.commit.is_empty() => Ok(file),
            _ => Err(problem),
        }
    }

    async fn read(&self, call: &Call, bytes_max: u64) -> Result<Option<String>, Problem> {
        let range = FileRange::Bytes {
            offset: 0,
            count: bytes_max,
        };
        let scope = call.viewer.scope_of(self.package()).await?;
        let corpus = call.corpus(&scope);
        let request = self.request(range);
        let mut reply = corpus.fetch_file(request.clone()).await?.reply;
        if reply.total_bytes > bytes_max || !corpus.read_on(request, &mut reply, bytes_max).await? {
            return Ok(None);
        }
        Ok(Some(text(&reply.text)))
    }
}

#[Object(name = "GitBlob", serial)]
impl File {
    async fn path(&self) -> String {
        text(&self.path)
    }

    async fn name(&self) -> String {
        let name = self.path.rsplit(|&byte| byte == b'/').next();
        text(name.unwrap_or_default())
    }

    async fn url(&self) -> String {
        url(self.package(), &self.commit.revision, "blob", &self.path)
    }

    async fn commit(&self) -> &Commit {
        &self.commit
    }

    #[graphql(name = "repository")]
    async fn its_repository(&self) -> &Repository {
        self.repository()
    }

    #[graphql(name = "canonicalURL")]
    async fn canonical_url(&self) -> String {
        url(self.package(), &self.commit.revision, "blob", &self.path)
    }

    async fn binary(&self) -> bool {
        false
    }

    async fn is_directory(&self) -> bool {
        false
    }

    /// Null if the answer would become too large.
    async fn content(&self, ctx: &Context<'_>) -> Result<Option<String>> {
        let text: &TextLeft = ctx.data_unchecked();
        let _turn = text.turns.acquire().await?;
        let left = text.bytes.load(Ordering::Relaxed);
        let content = self.read(ctx.data_unchecked(), left);
        let content = content.await.map_err(refused)?;
        let bytes = content.as_ref().map_or(0, |content| content.len() as u64);
        let subtract = |left: u64| left.checked_sub(bytes);
        let fits = text
            .bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract);
        Ok(content.filter(|_| fits.is_ok()))
    }

    async fn lsif(&self) -> Lsif {
        Lsif(self.clone())
    }
}
