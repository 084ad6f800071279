//! Commits of a repository, alone and as a history.

use super::addresses::Addresses;
use super::contents::revision;
use super::paging::Page;
use super::repository::Asked;
use crate::http::links::{RepositoryAddress, encode};
use crate::http::response;
use crate::problem::Problem;
use crate::repositories::{history, problem};
use crate::search::params::Params;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use schema::message::{Change, ChangeKind, Commit, Signature};
use serde_json::{Value, json};
use std::sync::Arc;

const COMMITS_MAX: usize = 1000;

/// As on GitHub.
const FILES_MAX: u32 = 300;

pub(super) async fn list(asked: Asked) -> Result<Response, Problem> {
    let (call, page) = (&asked.call, Page::of(&asked.call.params)?);
    let range = page.range(COMMITS_MAX);
    let rev = asked.of.revision(revision(&call.params, "sha")?);
    let path = call.params.bytes("path").unwrap_or_default();
    let of_history = |name: &str, value: &[u8]| (name.to_owned(), value.to_vec());
    let mut of = Params::of(vec![
        of_history("repo", &asked.of.entry.package),
        of_history("rev", rev.as_bytes()),
        of_history("path", path),
    ]);
    let wanted = Wanted::of(&call.params)?;
    let (mut found, mut seen): (Vec<Value>, usize) = (Vec::new(), 0);
    let mut has_more = true;
    // The last page of single commits is their number for clients.
    let enough = if range.len() == 1 {
        COMMITS_MAX
    } else {
        range.end + 1
    };
    while has_more && found.len() < enough && seen < COMMITS_MAX {
        let missing = (COMMITS_MAX - seen).min(enough);
        let part = history(&call.coordinator, &call.viewer, &of, missing as u32).await?;
        seen += part.commits().len().max(1);
        let commits = part.commits().iter().filter(|it| wanted.has(it));
        found.extend(commits.map(|it| shape(&asked, it)));
        let next = part.next();
        has_more = next.is_some();
        let others = of.clone().into_pairs().into_iter();
        let others = others.filter(|(name, _)| name != "cursor").collect();
        of = Params::of(others).with("cursor", &next.unwrap_or_default());
    }
    let shown = range.start.min(found.len())..range.end.min(found.len());
    let mut response = response::json(&&found[shown]);
    let last = (range.len() == 1).then_some(found.len());
    let more = (
        found.len() > range.end,
        last.filter(|&last| last > range.end),
    );
    page.link_to(&mut response, &asked.addresses, &call.params, more);
    Ok(response)
}

struct Wanted {
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    /// In lower case.
    author: String,
    committer: String,
}

impl Wanted {
    fn of(params: &Params) -> Result<Wanted, Problem> {
        let person = |name: &str| -> Result<String, Problem> {
            Ok(params.text(name)?.unwrap_or_default().to_lowercase())
        };
        let time = |name: &str| {
            let Some(text) = params.text(name)?.filter(|text| !text.is_empty()) else {
                return Ok(None);
            };
            let time = text
                .parse()
                .or_else(|_| format!("{text}T00:00:00Z").parse());
            time.map(Some).map_err(|_| {
                let hint = "such as 2026-01-31T12:00:00Z";
                Problem::bad_request(format!("{name}={text} is not a time")).hint(hint)
            })
        };
        Ok(Wanted {
            since: time("since")?,
            until: time("until")?,
            author: person("author")?,
            committer: person("committer")?,
        })
    }

    fn has(&self, commit: &Commit) -> bool {
        let seconds = commit.committer.seconds;
        let is_of = |wanted: &str, person: &Signature| {
            let names = [&person.name, &person.email].map(|it| String::from_utf8_lossy(it));
            names.iter().any(|it| it.to_lowercase().contains(wanted))
        };
        self.since.is_none_or(|since| seconds >= since.as_second())
            && self.until.is_none_or(|until| seconds <= until.as_second())
            && is_of(&self.author, &commit.author)
            && is_of(&self.committer, &commit.committer)
    }
}

pub(super) async fn one(asked: Asked, headers: HeaderMap) -> Result<Response, Problem> {
    let commit = asked.of.whole_commit(&asked.call, &asked.rest).await?;
    let accept = headers.get(header::ACCEPT);
    let accept = accept.and_then(|accept| accept.to_str().ok());
    match accept.unwrap_or_default() {
        accept if accept.contains(".sha") => return Ok(commit.id.clone().into_response()),
        accept if accept.contains(".diff") || accept.contains(".patch") => {
            let detail = "changes of lines are not known";
            return Err(Problem::unsupported(detail).hint("ask for JSON, which lists the files"));
        }
        _ => {}
    }
    let scope = &asked.of.scope;
    let (package, id) = (asked.package(), commit.id.clone());
    let changes = &asked.call.coordinator;
    let changes = changes
        .changes(scope, package, id, String::new(), Vec::new(), FILES_MAX)
        .await;
    let changes = changes.map_err(|error| problem(error, &asked.package(), &commit.id))?;
    let files = changes.changes.iter();
    let files = files.map(|it| changed(&asked, &commit.id, it));
    let mut out = shape(&asked, &commit);
    out["files"] = files.collect();
    Ok(response::json(&out))
}

fn changed(asked: &Asked, id: &str, change: &Change) -> Value {
    let status = match change.kind {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Modified => "modified",
        ChangeKind::Renamed => "renamed",
    };
    let address = asked.of.address(&change.path, id);
    json!({
        "sha": null,
        "filename": String::from_utf8_lossy(&change.path),
        "status": status,
        "blob_url": asked.addresses.page(&address.show_href(0)),
        "raw_url": asked.addresses.page(&address.raw_href()),
        "contents_url": Addresses::contents(&asked.url(), &change.path, id),
    })
}

/// Git's object.
pub(super) async fn object(asked: Asked) -> Result<Response, Problem> {
    let commit: Arc<Commit> = asked.of.whole_commit(&asked.call, &asked.rest).await?;
    let shape = shape(&asked, &commit);
    let mut out = shape["commit"].clone();
    for name in ["sha", "node_id", "html_url", "parents"] {
        out[name] = shape[name].clone();
    }
    out["url"] = format!("{}/git/commits/{}", asked.url(), commit.id).into();
    Ok(response::json(&out))
}

pub(super) fn shape(asked: &Asked, commit: &Commit) -> Value {
    let url = asked.url();
    let repo = asked.package();
    let page = |rev: &str| {
        let address = RepositoryAddress { repo: &repo, rev };
        asked.addresses.page(&address.commit_href())
    };
    let at = |id: &str| format!("{url}/commits/{}", encode(id.as_bytes()));
    let parents = commit.parents.iter();
    let parents = parents.map(|id| json!({"sha": id, "url": at(id), "html_url": page(id)}));
    let message = match &commit.body[..] {
        [] => commit.subject.clone(),
        body => [&commit.subject[..], b"\n\n", body].concat(),
    };
    json!({
        "sha": commit.id,
        "node_id": commit.id,
        "url": at(&commit.id),
        "html_url": page(&commit.id),
        "comments_url": at(&commit.id) + "/comments",
        "commit": {
            "url": at(&commit.id),
            "author": person(&commit.author),
            "committer": person(&commit.committer),
            "message": String::from_utf8_lossy(&message),
            "tree": {"sha": commit.tree, "url": format!("{url}/git/trees/{}", commit.id)},
            "comment_count": 0,
            "verification": {
                "verified": false,
                "reason": "gpgverify_unavailable",
                "signature": null,
                "payload": null,
                "verified_at": null,
            },
        },
        "author": null,
        "committer": null,
        "parents": parents.collect::<Vec<_>>(),
    })
}

fn person(of: &Signature) -> Value {
    let date = Timestamp::from_second(of.seconds).unwrap_or_default();
    json!({
        "name": String::from_utf8_lossy(&of.name),
        "email": String::from_utf8_lossy(&of.email),
        "date": date.to_string(),
    })
}
