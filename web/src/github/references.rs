//! Branches, tags and other references.

use super::commits;
use super::paging::Page;
use super::repository::Asked;
use crate::http::links::encode;
use crate::http::response;
use crate::problem::Problem;
use crate::repositories::problem;
use axum::response::Response;
use frontend::LookupError;
use serde_json::{Value, json};

const HEADS: &str = "refs/heads/";
const TAGS: &str = "refs/tags/";

const PART: u32 = 1000;
const PARTS_MAX: usize = 20;

struct Reference {
    /// Such as `refs/heads/main`.
    name: String,
    id: String,
}

/// References with this start. Packages outside of git have one branch.
async fn all(asked: &Asked, start: &str) -> Result<Vec<Reference>, Problem> {
    let Some(git) = &asked.of.git else {
        let name = format!("{HEADS}{}", asked.of.default_branch());
        let id = asked.of.id();
        let found = vec![Reference { name, id }].into_iter();
        return Ok(found.filter(|it| it.name.starts_with(start)).collect());
    };
    let (mut found, mut after) = (Vec::new(), Vec::new());
    for _ in 0..PARTS_MAX {
        let list = &asked.call.coordinator;
        let list = list.references(&asked.of.scope, asked.package(), after, PART);
        let list = match list.await {
            Ok(list) => list,
            Err(LookupError::NoRepositories) => {
                let indexed = git.revisions.iter();
                found.extend(indexed.map(|it| (it.name.clone(), it.commit.clone())));
                break;
            }
            Err(error) => return Err(problem(error, &asked.package(), "")),
        };
        let names = list.references.iter();
        let names = names.map(|it| {
            (
                String::from_utf8_lossy(&it.name).into_owned(),
                it.id.clone(),
            )
        });
        found.extend(names);
        match list.references.last().filter(|_| list.more) {
            Some(last) => after = last.name.clone(),
            None => break,
        }
    }
    let found = found.into_iter().map(|(name, id)| Reference { name, id });
    Ok(found.filter(|it| it.name.starts_with(start)).collect())
}

async fn listed(
    asked: &Asked,
    start: &str,
    shape: impl Fn(&Reference) -> Value,
) -> Result<Response, Problem> {
    let page = Page::of(&asked.call.params)?;
    let found: Vec<Value> = all(asked, start).await?.iter().map(shape).collect();
    Ok(page.answer(&found, &asked.addresses, &asked.call.params))
}

fn named(asked: &Asked, start: &str, it: &Reference) -> Value {
    let url = format!("{}/commits/{}", asked.url(), it.id);
    let name = it.name.strip_prefix(start).unwrap_or(&it.name);
    json!({"name": name, "commit": {"sha": it.id, "url": url}})
}

pub(super) async fn branches(asked: Asked) -> Result<Response, Problem> {
    let shape = |it: &Reference| {
        let mut out = named(&asked, HEADS, it);
        out["protected"] = false.into();
        out
    };
    listed(&asked, HEADS, shape).await
}

pub(super) async fn branch(asked: Asked) -> Result<Response, Problem> {
    let url = format!("{}/branches/{}", asked.url(), encode(asked.rest.as_bytes()));
    let commit = if asked.of.git.is_some() {
        let commit = asked.of.whole_commit(&asked.call, &asked.rest).await?;
        commits::shape(&asked, &commit)
    } else {
        json!({"sha": asked.of.commit(&asked.call, &asked.rest).await?})
    };
    Ok(response::json(&json!({
        "name": asked.rest,
        "commit": commit,
        "protected": false,
        "protection": {"enabled": false},
        "protection_url": format!("{url}/protection"),
        "_links": {"self": url, "html": asked.addresses.page("/")},
    })))
}

pub(super) async fn tags(asked: Asked) -> Result<Response, Problem> {
    let shape = |it: &Reference| {
        let mut out = named(&asked, TAGS, it);
        for kind in ["zipball", "tarball"] {
            out[format!("{kind}_url")] = format!("{}/{kind}/{}", asked.url(), it.name).into();
        }
        out["node_id"] = it.id.clone().into();
        out
    };
    listed(&asked, TAGS, shape).await
}

/// References whose names begin with the rest of the address.
pub(super) async fn matching(asked: Asked) -> Result<Response, Problem> {
    let start = format!("refs/{}", asked.rest);
    listed(&asked, &start, |it| shape(&asked, &it.name, &it.id)).await
}

/// Reference such as `heads/main`.
pub(super) async fn one(asked: Asked) -> Result<Response, Problem> {
    let mut kinds = ["heads/", "tags/"].into_iter();
    let rev = kinds.find_map(|kind| asked.rest.strip_prefix(kind));
    let sha = asked.of.commit(&asked.call, rev.unwrap_or(&asked.rest));
    let sha = sha.await?;
    Ok(response::json(&shape(
        &asked,
        &format!("refs/{}", asked.rest),
        &sha,
    )))
}

fn shape(asked: &Asked, name: &str, sha: &str) -> Value {
    let url = asked.url();
    let short = name.strip_prefix("refs/").unwrap_or(name);
    json!({
        "ref": name,
        "node_id": sha,
        "url": format!("{url}/git/refs/{}", encode(short.as_bytes())),
        "object": {"type": "commit", "sha": sha, "url": format!("{url}/git/commits/{sha}")},
    })
}
