//! Files, directories and trees of a repository.

use super::addresses::{Addresses, sha};
use super::repository::Repository;
use crate::http::links::Path;
use crate::http::{rendering, response};
use crate::pages;
use crate::problem::Problem;
use crate::search::params::Params;
use crate::source::file_range::REVISION_BYTES_MAX;
use crate::state::Call;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri, header};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use frontend::query::Query;
use frontend::{Document, Match, SearchRequest, SpoolError};
use schema::message::{
    Expr, Field, FileRange, FileReply, FileRequest, FileSource, Filter, ListEntry, ListKind,
    ListRequest, Reading, Want,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// As on GitHub; longer files are sent raw.
const FILE_BYTES_MAX: u64 = 1 << 20;

const ENTRIES_MAX: u32 = 1000;

const TREE_FILES_MAX: u64 = 10_000;

/// Every name in a deep path is an entry.
const TREE_BYTES_MAX: usize = 4 << 20;

const BASE64_LINE: usize = 60;

type Names = (String, String);

pub(super) async fn top(
    call: Call,
    Path((owner, name)): Path<Names>,
    addresses: Addresses,
) -> Result<Response, Problem> {
    let of = Repository::find(&call, &owner, &name).await?;
    let rev = revision(&call.params, "ref")?;
    directory(&call, &of, b"", rev, &addresses).await
}

pub(super) async fn at(
    call: Call,
    Path((owner, name, path)): Path<(String, String, String)>,
    addresses: Addresses,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let of = Repository::find(&call, &owner, &name).await?;
    let rev = revision(&call.params, "ref")?;
    let path = path.trim_end_matches('/').as_bytes();
    if wants_raw(&headers) {
        return raw(&call, &of, path, rev, method).await;
    }
    let range = FileRange::Bytes {
        offset: 0,
        count: FILE_BYTES_MAX,
    };
    let request = FileRequest {
        source: FileSource::TextOrOriginal,
        ..FileRequest::new(&of.entry.package, path, of.revision(rev), range)
    };
    let corpus = call.corpus(&of.scope);
    let mut reply = corpus.file(&request).await?;
    if !reply.found {
        if let Ok(found) = directory(&call, &of, path, rev, &addresses).await {
            return Ok(found);
        }
        reply = corpus.fetch_file(request.clone()).await?.reply;
    }
    if reply.total_bytes <= FILE_BYTES_MAX {
        corpus.read_on(request, &mut reply, FILE_BYTES_MAX).await?;
    }
    Ok(response::json(&file(&addresses, &of, path, &reply)))
}

fn wants_raw(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter();
    let mut accepts = accepts.filter_map(|accept| accept.to_str().ok());
    accepts.any(|accept| accept.contains(".raw"))
}

async fn raw(
    call: &Call,
    of: &Repository,
    path: &[u8],
    rev: &str,
    method: Method,
) -> Result<Response, Problem> {
    let uri: Uri = of.address(path, rev).raw_href().parse().map_err(|_| {
        let path = String::from_utf8_lossy(path);
        Problem::bad_request(format!("{path} is no path of a file"))
    })?;
    // Conditions are about the JSON.
    let headers = HeaderMap::new();
    pages::raw(
        State(call.app.clone()),
        call.viewer.clone(),
        method,
        uri,
        headers,
    )
    .await
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

fn file(addresses: &Addresses, of: &Repository, path: &[u8], reply: &FileReply) -> Value {
    let is_whole = reply.text.len() as u64 == reply.total_bytes;
    let (encoding, content) = if is_whole {
        ("base64", in_lines(&BASE64.encode(&reply.text)))
    } else {
        ("none", String::new())
    };
    let mut out = entry(addresses, of, path, &reply.commit, &reply.hash);
    out["type"] = "file".into();
    out["size"] = reply.total_bytes.into();
    out["encoding"] = encoding.into();
    out["content"] = content.into();
    out
}

fn in_lines(text: &str) -> String {
    let lines = text.as_bytes().chunks(BASE64_LINE);
    let lines = lines.map(|line| String::from_utf8_lossy(line).into_owned() + "\n");
    lines.collect()
}

fn entry(addresses: &Addresses, of: &Repository, path: &[u8], rev: &str, hash: &[u8]) -> Value {
    let is_directory = path.ends_with(b"/");
    let address = of.address(path, rev);
    let url = addresses.contents(&of.full_name(), path, rev);
    let html_url = addresses.page(&if is_directory {
        address.directory_href()
    } else {
        address.show_href(0)
    });
    let shown = String::from_utf8_lossy(path.strip_suffix(b"/").unwrap_or(path));
    let sha = match hash {
        [] => sha(blake3::hash(path).as_bytes()),
        hash => sha(hash),
    };
    json!({
        "name": shown.rsplit('/').next(),
        "path": shown,
        "sha": sha,
        "url": url,
        "git_url": url,
        "html_url": html_url,
        "download_url": (!is_directory).then(|| addresses.page(&address.raw_href())),
        "_links": {"self": url, "git": url, "html": html_url},
    })
}

async fn children(
    call: &Call,
    of: &Repository,
    path: &[u8],
    rev: &str,
) -> Result<Vec<ListEntry>, Problem> {
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
    let list = call.coordinator.list(&of.scope, request).await?;
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
    call: &Call,
    of: &Repository,
    path: &[u8],
    rev: &str,
    addresses: &Addresses,
) -> Result<Response, Problem> {
    let entries = children(call, of, path, rev).await?;
    let entries = entries.iter().map(|child| {
        let mut out = entry(addresses, of, &child.path, of.revision(rev), &child.hash);
        let is_directory = child.path.ends_with(b"/");
        out["type"] = if is_directory { "dir" } else { "file" }.into();
        out["size"] = if is_directory { 0 } else { child.text_bytes }.into();
        out
    });
    Ok(response::json(&entries.collect::<Vec<_>>()))
}

pub(super) async fn tree(
    call: Call,
    Path((owner, name, rev)): Path<(String, String, String)>,
    addresses: Addresses,
) -> Result<Response, Problem> {
    let of = Repository::find(&call, &owner, &name).await?;
    let rev = checked(&rev)?;
    let is_recursive = call.params.bytes("recursive").is_some();
    let (entries, is_cut) = if is_recursive {
        all_files(&call, &of, rev).await?
    } else {
        let entries = children(&call, &of, b"", rev).await?.into_iter();
        let entries: BTreeMap<_, _> = entries.map(|it| (it.path, it.hash)).collect();
        let is_cut = entries.len() >= ENTRIES_MAX as usize;
        (entries, is_cut)
    };
    let tree = entries.iter().map(|(path, hash)| {
        let out = entry(&addresses, &of, path, of.revision(rev), hash);
        let (mode, kind) = if path.ends_with(b"/") {
            ("040000", "tree")
        } else {
            ("100644", "blob")
        };
        json!({"path": out["path"], "mode": mode, "type": kind, "sha": out["sha"], "url": out["url"]})
    });
    Ok(response::json(&json!({
        "sha": rev,
        "url": addresses.repository(&of.full_name()) + "/git/trees/HEAD",
        "tree": tree.collect::<Vec<_>>(),
        "truncated": is_cut,
    })))
}

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// Files and directories; true if there are more.
async fn all_files(call: &Call, of: &Repository, rev: &str) -> Result<(Entries, bool), Problem> {
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
    let answer = call.coordinator.search(request).await?.finished().await?;
    let whole = Arc::clone(&answer);
    let read = move || with_directories(whole.matches(0..whole.len())?);
    let (entries, is_cut) = rendering(&answer, read).await?;
    if entries.is_empty() {
        return Err(missing(of, b"", rev));
    }
    let has_more = answer.found() > answer.len() as u64 || !answer.is_complete();
    Ok((entries, is_cut || has_more))
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
