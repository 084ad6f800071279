//! Repositories, files and directories at a revision, and places of their names (`lsif`). One file,
//! since the objects lead to each other.

use super::super::matches::{text, url};
use super::super::query;
use super::shared::{Range, TextLeft, refused};
use crate::model::SymbolPlace;
use crate::problem::Problem;
use crate::state::Call;
use crate::symbols::{self, SymbolRequest, SymbolTarget};
use async_graphql::{ComplexObject, Context, ID, Object, Result, SimpleObject};
use frontend::Document;
use jiff::Timestamp;
use schema::message::{FileRange, FileRequest, ListEntry, ListKind, ListRequest};
use std::sync::atomic::Ordering;

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
#[graphql(complex, serial)]
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

#[Object(name = "GitCommit", serial)]
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

const PARTS_MAX: usize = 8;

#[derive(Clone)]
pub(super) struct File {
    commit: Commit,
    path: Vec<u8>,
}

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
        } = &self.commit;
        FileRequest::new(&repository.package, &self.path, revision, range)
    }

    /// Looks the file up. A directory has no revisions: any stands for its files.
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

#[derive(SimpleObject)]
#[graphql(name = "GitTree")]
pub(super) struct Tree {
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
        Ok((!entries.is_empty()).then_some(Tree { entries }))
    }
}

const PLACES_MAX: usize = 100;

pub(super) struct Lsif(pub(super) File);

#[derive(SimpleObject)]
struct LocationConnection {
    nodes: Vec<Place>,
}

#[derive(SimpleObject)]
struct Place {
    resource: File,
    range: Range,
    url: String,
}

#[derive(SimpleObject)]
struct Hover {
    markdown: Html,
    range: Option<Range>,
}

#[Object(name = "GitBlobLSIFData", serial)]
impl Lsif {
    #[graphql(complexity = "50 + child_complexity")]
    async fn definitions(
        &self,
        ctx: &Context<'_>,
        line: i32,
        character: i32,
    ) -> Result<LocationConnection> {
        let found = self.places(ctx.data_unchecked(), (line, character), false);
        self.connection(found.await.map_err(refused)?)
    }

    #[graphql(complexity = "50 + child_complexity")]
    async fn references(
        &self,
        ctx: &Context<'_>,
        line: i32,
        character: i32,
    ) -> Result<LocationConnection> {
        let found = self.places(ctx.data_unchecked(), (line, character), true);
        self.connection(found.await.map_err(refused)?)
    }

    #[graphql(complexity = "50 + child_complexity")]
    async fn hover(&self, ctx: &Context<'_>, line: i32, character: i32) -> Result<Option<Hover>> {
        let found = self.places(ctx.data_unchecked(), (line, character), false);
        let found = found.await.map_err(refused)?;
        Ok(found.first().map(|place| Hover {
            markdown: Html::of(shown(place)),
            range: None,
        }))
    }
}

impl Lsif {
    /// Places of the name; none if there is no name. `character` counts UTF-16 units.
    async fn places(
        &self,
        call: &Call,
        (line, character): (i32, i32),
        uses: bool,
    ) -> Result<Vec<SymbolPlace>, Problem> {
        let (Ok(line), Ok(character)) = (u32::try_from(line), usize::try_from(character)) else {
            return Ok(Vec::new());
        };
        let line = line.saturating_add(1);
        let file = self.0.request(FileRange::Lines {
            first: line,
            count: 1,
        });
        let scope = call.viewer.scope().await?;
        let corpus = call.corpus(&scope);
        let text = corpus.fetch_file(file.clone()).await?.reply.text;
        let request = SymbolRequest {
            file,
            target: SymbolTarget::At {
                line,
                column: bytes(&text, character),
            },
            limit: PLACES_MAX,
            client: call.params.client,
        };
        let found = match uses {
            true => symbols::references(corpus, &request, true).await,
            false => symbols::definitions(corpus, &request).await,
        };
        match found {
            Ok(found) => Ok(found.places),
            Err(problem) if problem.is_about_file() => Ok(Vec::new()),
            Err(problem) => Err(problem),
        }
    }

    fn connection(&self, places: Vec<SymbolPlace>) -> Result<LocationConnection> {
        let here = self.0.repository();
        let nodes = places.into_iter().map(|place| {
            let repository = if place.package.as_bytes() == self.0.package() {
                here.clone()
            } else {
                Repository::named(place.package.as_bytes())
            };
            let revision = place.commit.clone().unwrap_or_default();
            let line = place.line.saturating_sub(1);
            let columns = columns(&place);
            let (package, path) = (place.package.as_bytes(), place.path.as_bytes());
            let column = columns.start + 1;
            let at = format!("?L{}:{column}", place.line);
            Place {
                url: url(package, &revision, "blob", path) + &at,
                resource: File::at(repository, &revision, &place.path),
                range: Range::on_line(line, columns),
            }
        });
        Ok(LocationConnection {
            nodes: nodes.collect(),
        })
    }
}

fn bytes(line: &[u8], character: usize) -> u32 {
    let line = String::from_utf8_lossy(line);
    let (mut units, mut bytes) = (0, 0);
    for letter in line.chars().take_while(|letter| *letter != '\n') {
        if units >= character {
            break;
        }
        units += letter.len_utf16();
        bytes += letter.len_utf8();
    }
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn columns(place: &SymbolPlace) -> std::ops::Range<usize> {
    let [start, end] = place.ranges.first().copied().unwrap_or_default();
    let units = |end: usize| {
        let text = place.text.get(..end).unwrap_or(&place.text);
        text.encode_utf16().count()
    };
    let text_start = usize::try_from(place.column).unwrap_or_default();
    let left_out = text_start.saturating_sub(start);
    left_out + units(start)..left_out + units(end)
}

fn shown(place: &SymbolPlace) -> String {
    let code = place.text.trim().replace("```", "'''");
    let mut markdown = format!("```\n{code}\n```\n");
    if let Some(documentation) = &place.documentation {
        markdown.push_str(documentation);
    }
    markdown + &format!("\n{}/{}:{}", place.package, place.path, place.line)
}
