//! Files, directories and trees of a repository.

use super::addresses::{Addresses, sha};
use super::repository::{Asked, Repository};
use crate::http::{rendering, response};
use crate::pages;
use crate::problem::Problem;
use crate::repositories::history;
use crate::search::params::Params;
use crate::source::file_range::REVISION_BYTES_MAX;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri, header};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use frontend::query::Query;
use frontend::{Document, Match, SearchRequest, SearchResult, SpoolError};
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use schema::message::{
    Expr, Field, FileRange, FileReply, FileRequest, FileSource, Filter, ListEntry, ListKind,
    ListRequest, Reading, Want,
};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// As on GitHub; longer files are sent raw.
const FILE_BYTES_MAX: u64 = 1 << 20;

const WHOLE: FileRange = FileRange::Bytes {
    offset: 0,
    count: FILE_BYTES_MAX,
};

const ID_DIGITS: usize = 40;
const LATE_COMMITS: u32 = 100;

const ENTRIES_MAX: u32 = 1000;

const TREE_FILES_MAX: u64 = 10_000;

/// Bounds deep paths, in which every directory is an entry.
const TREE_BYTES_MAX: usize = 4 << 20;

const BASE64_LINE: usize = 60;

pub(super) async fn at(
    mut asked: Asked,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let path = std::mem::take(&mut asked.rest);
    let path = path.trim_end_matches('/');
    if path.is_empty() {
        let rev = revision(&asked.call.params, "ref")?;
        return directory(&asked, b"", rev, &headers).await;
    }
    read(&asked, path.as_bytes(), method, &headers).await
}

pub(super) async fn readme(
    asked: Asked,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let rev = revision(&asked.call.params, "ref")?;
    let directory = asked.rest.trim_matches('/').as_bytes();
    let entries = children(&asked, directory, rev).await?;
    let is_readme = |entry: &&ListEntry| {
        let name = entry.path.rsplit(|&byte| byte == b'/').next();
        let name = name.unwrap_or_default().to_ascii_lowercase();
        name == b"readme" || name.starts_with(b"readme.")
    };
    let is_last = |entry: &&ListEntry| !entry.path.to_ascii_lowercase().ends_with(b".md");
    let Some(found) = entries.iter().filter(is_readme).min_by_key(is_last) else {
        let detail = format!("{} has no README", asked.of.full_name());
        return Err(Problem::missing(detail));
    };
    read(&asked, &found.path, method, &headers).await
}

async fn read(
    asked: &Asked,
    path: &[u8],
    method: Method,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let rev = revision(&asked.call.params, "ref")?;
    if accepts(headers, ".html") {
        let problem = Problem::unsupported("files are not rendered to HTML");
        return Err(problem.hint("accept application/vnd.github.raw+json"));
    }
    if accepts(headers, ".raw") {
        return raw(asked, path, rev, method).await;
    }
    match directory(asked, path, rev, headers).await {
        Ok(found) => Ok(found),
        Err(_) => Ok(response::json(&file(
            asked,
            path,
            &whole(asked, path, rev).await?,
        ))),
    }
}

/// File with its text, unless it is long.
pub(super) async fn whole(asked: &Asked, path: &[u8], rev: &str) -> Result<FileReply, Problem> {
    let (package, rev) = (&asked.of.entry.package, asked.of.revision(rev));
    let request = FileRequest {
        source: FileSource::TextOrOriginal,
        ..FileRequest::new(package, path, rev, WHOLE)
    };
    let corpus = asked.call.corpus(&asked.of.scope);
    let mut reply = corpus.fetch_file(request.clone()).await?.reply;
    if reply.total_bytes <= FILE_BYTES_MAX {
        corpus.read_on(request, &mut reply, FILE_BYTES_MAX).await?;
    }
    Ok(reply)
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter();
    let mut accepts = accepts.filter_map(|accept| accept.to_str().ok());
    accepts.any(|accept| accept.contains(kind))
}

async fn raw(asked: &Asked, path: &[u8], rev: &str, method: Method) -> Result<Response, Problem> {
    let uri: Uri = asked
        .of
        .address(path, rev)
        .raw_href()
        .parse()
        .map_err(|_| {
            let path = String::from_utf8_lossy(path);
            Problem::bad_request(format!("{path} is no path of a file"))
        })?;
    let app = State(asked.call.app.clone());
    // Conditional headers refer to the JSON.
    let headers = HeaderMap::new();
    pages::raw(app, asked.call.viewer.clone(), method, uri, headers).await
}

pub(super) fn revision<'a>(params: &'a Params, name: &str) -> Result<&'a str, Problem> {
    checked(params.text(name)?.unwrap_or_default())
}

fn checked(rev: &str) -> Result<&str, Problem> {
    if rev.len() > REVISION_BYTES_MAX {
        let detail = format!("the revision has more than {REVISION_BYTES_MAX} bytes");
        return Err(Problem::bad_request(detail));
    }
    Ok(rev)
}

fn file(asked: &Asked, path: &[u8], reply: &FileReply) -> Value {
    let mut out = entry(asked, path, &reply.commit, &reply.hash);
    out["type"] = "file".into();
    out["size"] = reply.total_bytes.into();
    out["sha"] = id_of(reply).into();
    with_content(out, reply)
}

fn is_whole(reply: &FileReply) -> bool {
    reply.text.len() as u64 == reply.total_bytes
}

fn with_content(mut out: Value, reply: &FileReply) -> Value {
    let (encoding, content) = if is_whole(reply) {
        ("base64", in_lines(&BASE64.encode(&reply.text)))
    } else {
        ("none", String::new())
    };
    out["encoding"] = encoding.into();
    out["content"] = content.into();
    out
}

/// Git's, if the whole file is known.
pub(super) fn id_of(reply: &FileReply) -> String {
    if !is_whole(reply) || !reply.decoded_from.is_empty() {
        return sha(&reply.hash);
    }
    let mut hash = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    hash.update(format!("blob {}\0", reply.text.len()).as_bytes());
    hash.update(&reply.text);
    sha(hash.finish().as_ref())
}

fn in_lines(text: &str) -> String {
    let lines = text.as_bytes().chunks(BASE64_LINE);
    let lines = lines.map(|line| String::from_utf8_lossy(line).into_owned() + "\n");
    lines.collect()
}

fn entry(asked: &Asked, path: &[u8], rev: &str, hash: &[u8]) -> Value {
    let is_directory = path.ends_with(b"/");
    let address = asked.of.address(path, rev);
    let repository = asked.url();
    let url = Addresses::contents(&repository, path, rev);
    let html_url = asked.addresses.page(&if is_directory {
        address.directory_href()
    } else {
        address.show_href(0)
    });
    let shown = String::from_utf8_lossy(path.strip_suffix(b"/").unwrap_or(path));
    let sha = sha_of(path, hash);
    let kind = if is_directory { "trees" } else { "blobs" };
    let git_url = format!("{repository}/git/{kind}/{sha}");
    let raw = (!is_directory).then(|| asked.addresses.page(&address.raw_href()));
    json!({
        "name": shown.rsplit('/').next(),
        "path": shown,
        "sha": sha,
        "url": url,
        "git_url": git_url,
        "html_url": html_url,
        "download_url": raw,
        "_links": {"self": url, "git": git_url, "html": html_url},
    })
}

/// Directories have no hash.
pub(super) fn sha_of(path: &[u8], hash: &[u8]) -> String {
    match hash {
        [] => sha(blake3::hash(path).as_bytes()),
        hash => sha(hash),
    }
}

pub(super) async fn children(
    asked: &Asked,
    path: &[u8],
    rev: &str,
) -> Result<Vec<ListEntry>, Problem> {
    let of = &asked.of;
    let mut directory = path.to_vec();
    if !path.is_empty() {
        directory.push(b'/');
    }
    let request = ListRequest {
        revision: of.revision(rev).to_owned(),
        ..ListRequest::new(
            ListKind::Children,
            &of.entry.package,
            &directory,
            ENTRIES_MAX,
        )
    };
    let list = asked.call.coordinator.list(&of.scope, request).await?;
    let is_within = |entry: &ListEntry| {
        entry.path.len() > directory.len() && entry.path.starts_with(&directory)
    };
    let entries: Vec<_> = list.entries.into_iter().filter(is_within).collect();
    if entries.is_empty() {
        return Err(missing(of, path, rev));
    }
    Ok(entries)
}

fn missing(of: &Repository, path: &[u8], rev: &str) -> Problem {
    let path = String::from_utf8_lossy(path);
    let path = if path.is_empty() { "files" } else { &path };
    let rev = if rev.is_empty() { "HEAD" } else { rev };
    Problem::missing(format!("{} has no {path} at {rev}", of.full_name()))
}

async fn directory(
    asked: &Asked,
    path: &[u8],
    rev: &str,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let entries = children(asked, path, rev).await?;
    let rev = asked.of.revision(rev);
    let entries = entries.iter().map(|child| {
        let mut out = entry(asked, &child.path, rev, &child.hash);
        let is_directory = child.path.ends_with(b"/");
        out["type"] = if is_directory { "dir" } else { "file" }.into();
        out["size"] = if is_directory { 0 } else { child.text_bytes }.into();
        out
    });
    let entries: Vec<Value> = entries.collect();
    if !accepts(headers, ".object") {
        return Ok(response::json(&entries));
    }
    let mut out = entry(asked, &[path, b"/"].concat(), rev, b"");
    out["type"] = "dir".into();
    out["size"] = 0.into();
    out["entries"] = entries.into();
    Ok(response::json(&out))
}

/// File by an id of an earlier answer.
pub(super) async fn blob(
    asked: Asked,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (files, _) = all_files(&asked, "").await?;
    let mut files = files.iter().filter(|(_, hash)| !hash.is_empty());
    let Some((path, hash)) = files.find(|(_, hash)| sha(hash) == asked.rest) else {
        let name = asked.of.full_name();
        let problem = Problem::missing(format!("{name} has no file with the id {}", asked.rest));
        return Err(problem.hint("take the id from a search or tree"));
    };
    if accepts(&headers, ".raw") {
        return raw(&asked, path, "", method).await;
    }
    let request = FileRequest::new(&asked.of.entry.package, path, "", WHOLE);
    let corpus = asked.call.corpus(&asked.of.scope);
    let mut reply = corpus.fetch_file(request.clone()).await?.reply;
    corpus.read_on(request, &mut reply, FILE_BYTES_MAX).await?;
    let id = sha(hash);
    let url = format!("{}/git/blobs/{id}", asked.url());
    let out = json!({"sha": id, "node_id": id, "size": reply.total_bytes, "url": url});
    Ok(response::json(&with_content(out, &reply)))
}

/// Tree of a revision, or of a directory by its id.
pub(super) async fn tree(asked: Asked) -> Result<Response, Problem> {
    let named = checked(&asked.rest)?;
    let mut at = (named.to_owned(), Vec::new());
    let mut found = entries(&asked, &at).await;
    if found.is_err()
        && named.len() == ID_DIGITS
        && let Some(place) = place_of(&asked, named).await?
    {
        at = place;
        found = entries(&asked, &at).await;
    }
    let (rev, directory) = at;
    let (entries, is_cut) = found?;
    let url = asked.url();
    let tree = entries.iter().filter_map(|(path, hash)| {
        let (sha, below) = (sha_of(path, hash), path.strip_prefix(&directory[..])?);
        let (mode, kind) = if path.ends_with(b"/") {
            ("040000", "tree")
        } else {
            ("100644", "blob")
        };
        let shown = String::from_utf8_lossy(below.strip_suffix(b"/").unwrap_or(below));
        let url = format!("{url}/git/{kind}s/{sha}");
        let is_this = shown.is_empty();
        (!is_this)
            .then(|| json!({"path": shown, "mode": mode, "type": kind, "sha": sha, "url": url}))
    });
    let tree: Vec<Value> = tree.collect();
    let sha = if directory.is_empty() {
        asked.of.commit(&asked.call, &rev).await.unwrap_or(rev)
    } else {
        asked.rest.clone()
    };
    Ok(response::json(&json!({
        "url": format!("{url}/git/trees/{sha}"),
        "sha": sha,
        "tree": tree,
        "truncated": is_cut,
    })))
}

type Place = (String, Vec<u8>);

async fn entries(asked: &Asked, (rev, directory): &Place) -> Result<(Entries, bool), Problem> {
    if asked.call.params.bytes("recursive").is_some() {
        return all_files(asked, rev).await;
    }
    let path = directory.strip_suffix(b"/").unwrap_or(directory);
    let entries = children(asked, path, rev).await?.into_iter();
    let entries: Entries = entries.map(|it| (it.path, it.hash)).collect();
    let is_cut = entries.len() >= ENTRIES_MAX as usize;
    Ok((entries, is_cut))
}

/// Revision and directory of a tree's id: ours, or git's of a recent commit.
async fn place_of(asked: &Asked, id: &str) -> Result<Option<Place>, Problem> {
    let (files, _) = all_files(asked, "").await?;
    let mut directories = files.into_keys().filter(|path| path.ends_with(b"/"));
    if let Some(path) = directories.find(|path| sha_of(path, b"") == id) {
        return Ok(Some((String::new(), path)));
    }
    if asked.of.git.is_none() {
        return Ok(None);
    }
    let params = Params::of(vec![("repo".to_owned(), asked.of.entry.package.clone())]);
    let (coordinator, viewer) = (&asked.call.coordinator, &asked.call.viewer);
    let late = history(coordinator, viewer, &params, LATE_COMMITS).await?;
    let commit = late.commits().iter().find(|commit| commit.tree == id);
    Ok(commit.map(|commit| (commit.id.clone(), Vec::new())))
}

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// All files.
async fn search(asked: &Asked, rev: &str) -> Result<Arc<SearchResult>, Problem> {
    let (call, of) = (&asked.call, &asked.of);
    let Ok(package) = str::from_utf8(&of.entry.package) else {
        return Err(Problem::bad_request("the name of the package is not UTF-8"));
    };
    let filter = |field, text: &str| {
        Expr::Filter(Filter {
            field,
            reading: Reading::Exact,
            text: text.to_owned(),
        })
    };
    let mut filters = vec![filter(Field::Package, package)];
    filters.extend(
        Some(of.revision(rev))
            .filter(|rev| !rev.is_empty())
            .map(|rev| filter(Field::Revision, rev)),
    );
    let query = Query::new(Expr::all(filters), 0)?.wanting(Want::Documents, TREE_FILES_MAX)?;
    let request = SearchRequest {
        client: call.params.search_client(),
        ..SearchRequest::new(&of.scope, query)
    };
    Ok(call.coordinator.search(request).await?.finished().await?)
}

/// Files and directories; true if there are more.
async fn all_files(asked: &Asked, rev: &str) -> Result<(Entries, bool), Problem> {
    let answer = search(asked, rev).await?;
    let whole = Arc::clone(&answer);
    let read = move || with_directories(whole.matches(0..whole.len())?);
    let (entries, is_cut) = rendering(&answer, read).await?;
    if entries.is_empty() {
        return Err(missing(&asked.of, b"", rev));
    }
    let has_more = answer.found() > answer.len() as u64 || !answer.is_complete();
    Ok((entries, is_cut || has_more))
}

pub(super) async fn languages(asked: Asked) -> Result<Response, Problem> {
    let found = languages_of(&asked).await?.into_iter();
    let found: serde_json::Map<_, _> = found.map(|(name, files)| (name, files.into())).collect();
    Ok(response::json(&found))
}

/// Numbers of files, most first.
pub(super) async fn languages_of(asked: &Asked) -> Result<Vec<(String, u64)>, Problem> {
    let answer = search(asked, "").await?;
    let whole = Arc::clone(&answer);
    let matches = rendering(&answer, move || whole.matches(0..whole.len())).await?;
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for found in &matches {
        *counts.entry(&found.document.language).or_default() += 1;
    }
    counts.remove("");
    let counts = counts
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count));
    let mut counts: Vec<_> = counts.collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    Ok(counts)
}

fn with_directories(matches: Vec<Match>) -> Result<(Entries, bool), SpoolError> {
    let (mut entries, mut bytes) = (Entries::new(), 0);
    for found in matches {
        let Document { path, hash, .. } = &*found.document;
        let slashes = (0..path.len()).filter(|&at| path[at] == b'/');
        for directory in slashes.map(|at| &path[..=at]) {
            if !entries.contains_key(directory) {
                bytes += directory.len();
                entries.insert(directory.to_vec(), Vec::new());
            }
            if bytes > TREE_BYTES_MAX {
                return Ok((entries, true));
            }
        }
        bytes += path.len();
        entries.insert(path.clone(), hash.clone());
    }
    Ok((entries, false))
}
