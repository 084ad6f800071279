//! Commits of a repository.

use super::addresses::Addresses;
use super::contents::revision;
use super::repository::Repository;
use crate::http::links::{Path, RepositoryAddress, encode};
use crate::http::response;
use crate::problem::Problem;
use crate::repositories::history;
use crate::search::params::Params;
use crate::state::Call;
use axum::response::Response;
use jiff::Timestamp;
use schema::message::{Commit, Signature};
use serde_json::{Value, json};

const COMMITS_MAX: u32 = 1000;
const PER_PAGE_DEFAULT: u32 = 30;
const PER_PAGE_MAX: u32 = 100;

pub(super) async fn list(
    call: Call,
    Path((owner, name)): Path<(String, String)>,
    addresses: Addresses,
) -> Result<Response, Problem> {
    let of = Repository::find(&call, &owner, &name).await?;
    let params = &call.params;
    let per_page = params
        .number("per_page", PER_PAGE_DEFAULT)?
        .clamp(1, PER_PAGE_MAX);
    let page = params.number("page", 1_u32)?.max(1);
    let start = (page - 1).saturating_mul(per_page).min(COMMITS_MAX);
    let end = (start + per_page).min(COMMITS_MAX);
    let path = params.bytes("path").unwrap_or_default();
    let of_history = |name: &str, value: &[u8]| (name.to_owned(), value.to_vec());
    let mut asked = Params::of(vec![
        of_history("repo", &of.entry.package),
        of_history("rev", of.revision(revision(params, "sha")?).as_bytes()),
        of_history("path", path),
    ]);
    let mut found: Vec<Value> = Vec::new();
    loop {
        let missing = end - found.len() as u32;
        let part = history(&call.coordinator, &call.viewer, &asked, missing).await?;
        let next = part.next();
        found.extend(part.commits().iter().map(|it| commit(&addresses, &of, it)));
        match next {
            Some(next) if missing > 0 && (found.len() as u32) < end => {
                let pairs = asked.into_pairs().into_iter();
                let others = pairs.filter(|(name, _)| name != "cursor");
                asked = Params::of(others.collect()).with("cursor", &next);
            }
            _ => break,
        }
    }
    let shown = found.get(start as usize..).unwrap_or_default();
    Ok(response::json(&shown))
}

/// Reference such as `heads/main`.
pub(super) async fn reference(
    call: Call,
    Path((owner, name, reference)): Path<(String, String, String)>,
    addresses: Addresses,
) -> Result<Response, Problem> {
    let of = Repository::find(&call, &owner, &name).await?;
    let mut kinds = ["heads/", "tags/"].into_iter();
    let rev = kinds.find_map(|kind| reference.strip_prefix(kind));
    let sha = of.commit(&call, rev.unwrap_or(&reference)).await?;
    let url = addresses.repository(&of.full_name());
    Ok(response::json(&json!({
        "ref": format!("refs/{reference}"),
        "node_id": sha,
        "url": format!("{url}/git/ref/{}", encode(reference.as_bytes())),
        "object": {"type": "commit", "sha": sha, "url": format!("{url}/git/commits/{sha}")},
    })))
}

fn commit(addresses: &Addresses, of: &Repository, commit: &Commit) -> Value {
    let url = addresses.repository(&of.full_name());
    let repo = String::from_utf8_lossy(&of.entry.package);
    let page = |rev: &str| {
        let address = RepositoryAddress { repo: &repo, rev };
        addresses.page(&address.commit_href())
    };
    let at = |id: &str| format!("{url}/commits/{id}");
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
