//! Packages as repositories.

use super::addresses::{Addresses, sha};
use crate::http::links::{FileAddress, Path, package_href};
use crate::http::{rendering, response};
use crate::problem::Problem;
use crate::repositories::commit;
use crate::state::Call;
use axum::response::Response;
use frontend::query::Query;
use frontend::query::github::{self, OWNER};
use frontend::{Scope, SearchRequest};
use schema::message::{IndexedRepository, ListEntry, Want};
use schema::name::revision_name;
use serde_json::{Value, json};
use std::sync::Arc;

/// Names of the only revision outside of git.
const BRANCHES: [&str; 2] = ["main", "master"];

pub(super) fn full_name(package: &[u8]) -> String {
    let (owner, name) = owner_and_name(package);
    format!("{owner}/{name}")
}

fn owner_and_name(package: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(package).into_owned();
    let mut names = text.rsplit('/').map(str::to_owned);
    let name = names.next().unwrap_or_default();
    (names.next().unwrap_or_else(|| OWNER.to_owned()), name)
}

pub(super) fn json(addresses: &Addresses, package: &[u8]) -> Value {
    let (owner, name) = owner_and_name(package);
    let full_name = full_name(package);
    let url = addresses.repository(&full_name);
    let hash = sha(blake3::hash(package).as_bytes());
    json!({
        "id": u64::from_str_radix(&hash[..12], 16).unwrap_or_default(),
        "node_id": hash,
        "name": name,
        "full_name": full_name,
        "owner": {"login": owner, "id": 0, "type": "Organization", "site_admin": false},
        "private": false,
        "html_url": addresses.page(&package_href(package)),
        "description": null,
        "fork": false,
        "contents_url": format!("{url}/contents/{{+path}}"),
        "commits_url": format!("{url}/commits{{/sha}}"),
        "trees_url": format!("{url}/git/trees{{/sha}}"),
        "url": url,
    })
}

pub(super) async fn get(
    call: Call,
    Path((owner, name)): Path<(String, String)>,
    addresses: Addresses,
) -> Result<Response, Problem> {
    let found = Repository::find(&call, &owner, &name).await?;
    let mut out = json(&addresses, &found.entry.package);
    out["default_branch"] = found.default_branch().into();
    out["size"] = (found.entry.text_bytes / 1024).into();
    out["archived"] = false.into();
    out["disabled"] = false.into();
    Ok(response::json(&out))
}

pub(super) struct Repository {
    pub(super) entry: ListEntry,
    pub(super) scope: Scope,
    git: Option<IndexedRepository>,
}

impl Repository {
    pub(super) async fn find(call: &Call, owner: &str, name: &str) -> Result<Repository, Problem> {
        let scope = call.viewer.scope().await?;
        let full_name = format!("{owner}/{name}");
        let mut found = versions(call, &scope, owner, name).await?;
        let Some(entry) = found.pop() else {
            let problem = Problem::missing(format!("there is no repository {full_name}"));
            return Err(near(call, &scope, problem, &full_name).await);
        };
        let git = call
            .corpus(&scope)
            .indexed_repository(&entry.package)
            .await?;
        Ok(Repository { entry, scope, git })
    }

    /// Revision in the index; empty for the default.
    pub(super) fn revision<'a>(&self, rev: &'a str) -> &'a str {
        let is_only = self.git.is_none() && (BRANCHES.contains(&rev) || rev == self.id());
        if is_only || rev == "HEAD" { "" } else { rev }
    }

    /// Commit of a package outside of git.
    fn id(&self) -> String {
        sha(blake3::hash(&self.entry.package).as_bytes())
    }

    pub(super) async fn commit(&self, call: &Call, rev: &str) -> Result<String, Problem> {
        let Some(git) = &self.git else {
            let name = self.full_name();
            return match self.revision(rev) {
                "" => Ok(self.id()),
                _ => Err(Problem::missing(format!("{name} has no revision {rev}"))),
            };
        };
        let rev = self.revision(rev);
        let mut indexed = git.revisions.iter();
        let is_it = |name: &str| rev.is_empty() || revision_name(name.as_bytes()) == rev.as_bytes();
        if let Some(known) = indexed.find(|known| is_it(&known.name)) {
            return Ok(known.commit.clone());
        }
        let package = String::from_utf8_lossy(&self.entry.package);
        let found = commit(&call.coordinator, &self.scope, &package, rev).await?;
        Ok(found.id.clone())
    }

    fn default_branch(&self) -> String {
        let default = self.git.as_ref().map_or(BRANCHES[0], |git| &git.default);
        String::from_utf8_lossy(revision_name(default.as_bytes())).into_owned()
    }

    pub(super) fn full_name(&self) -> String {
        full_name(&self.entry.package)
    }

    pub(super) fn address<'a>(&'a self, path: &'a [u8], rev: &'a str) -> FileAddress<'a> {
        FileAddress::current(&self.entry.package, path).at(self.revision(rev))
    }
}

/// Prefers the exact name, then this owner below others, then a package without one.
async fn versions(
    call: &Call,
    scope: &Scope,
    owner: &str,
    name: &str,
) -> Result<Vec<ListEntry>, Problem> {
    let corpus = call.corpus(scope);
    let full_name = format!("{owner}/{name}");
    let mut found = corpus.versions(full_name.as_bytes()).await?;
    if found.is_empty() && owner == OWNER {
        found = corpus.versions(name.as_bytes()).await?;
    }
    for query in github::repository(&full_name)? {
        if found.is_empty()
            && let Some(package) = searched(call, scope, query).await?
        {
            found = corpus.versions(&package).await?;
        }
        if found.is_empty() {
            found = corpus.versions(name.as_bytes()).await?;
        }
    }
    Ok(found)
}

async fn searched(call: &Call, scope: &Scope, query: Query) -> Result<Option<Vec<u8>>, Problem> {
    let request = SearchRequest {
        client: call.params.search_client(),
        ..SearchRequest::new(scope, query.wanting(Want::Documents, 1)?)
    };
    let answer = call.coordinator.search(request).await?.finished().await?;
    let whole = Arc::clone(&answer);
    let first = rendering(&answer, move || whole.matches(0..whole.len().min(1)));
    let first = first.await?;
    Ok(first.first().map(|found| found.document.package.clone()))
}

pub(super) async fn near(call: &Call, scope: &Scope, problem: Problem, name: &str) -> Problem {
    let last = name.rsplit('/').next().unwrap_or_default();
    for name in [name, last] {
        let near = call.corpus(scope).near_packages(name.as_bytes()).await;
        let near = near.unwrap_or_default();
        let names: Vec<_> = near.iter().map(|package| full_name(package)).collect();
        if !names.is_empty() {
            return problem.hint(format!("did you mean {}?", names.join(" or ")));
        }
    }
    problem
}
