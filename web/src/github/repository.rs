//! Packages as repositories.

use super::addresses::{Addresses, sha};
use crate::http::links::{FileAddress, Path, encode, package_href};
use crate::http::{rendering, response};
use crate::problem::Problem;
use crate::repositories::commit;
use crate::state::{App, Call};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::Response;
use frontend::query::Query;
use frontend::query::github::{self, OWNER};
use frontend::{Scope, SearchRequest};
use jiff::Timestamp;
use schema::message::{Commit, IndexedRepository, ListEntry, Want};
use schema::name::revision_name;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Names of the only revision outside of git.
const BRANCHES: [&str; 2] = ["main", "master"];

fn full_name(package: &[u8]) -> String {
    let (owner, name) = owner_and_name(package);
    format!("{owner}/{name}")
}

pub(super) fn owner_and_name(package: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(package).into_owned();
    let mut names = text.rsplit('/').map(str::to_owned);
    let name = names.next().unwrap_or_default();
    (names.next().unwrap_or_else(|| OWNER.to_owned()), name)
}

#[derive(Serialize)]
pub(super) struct Owner {
    pub(super) login: String,
    id: u64,
    node_id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    site_admin: bool,
    url: String,
    html_url: String,
    avatar_url: &'static str,
}

impl Owner {
    pub(super) fn new(addresses: &Addresses, login: String) -> Owner {
        let hash = sha(blake3::hash(login.as_bytes()).as_bytes());
        Owner {
            id: number(&hash),
            node_id: hash,
            kind: "Organization",
            site_admin: false,
            url: addresses.api(&format!("/users/{}", encode(login.as_bytes()))),
            html_url: addresses.page("/"),
            avatar_url: "",
            login,
        }
    }
}

/// Number that a client can keep in a float.
fn number(hash: &str) -> u64 {
    u64::from_str_radix(&hash[..12], 16).unwrap_or_default()
}

/// Repository in the answer of a search.
#[derive(Serialize)]
pub(super) struct RepositoryShape {
    pub(super) id: u64,
    pub(super) node_id: String,
    pub(super) name: String,
    pub(super) full_name: String,
    pub(super) owner: Owner,
    private: bool,
    pub(super) html_url: String,
    description: Option<String>,
    fork: bool,
    branches_url: String,
    commits_url: String,
    contents_url: String,
    languages_url: String,
    tags_url: String,
    trees_url: String,
    pub(super) url: String,
}

impl RepositoryShape {
    pub(super) fn new(addresses: &Addresses, package: &[u8]) -> RepositoryShape {
        let (owner, name) = owner_and_name(package);
        let full_name = format!("{owner}/{name}");
        let url = addresses.repository(&full_name);
        let hash = sha(blake3::hash(package).as_bytes());
        RepositoryShape {
            id: number(&hash),
            node_id: hash,
            name,
            full_name,
            owner: Owner::new(addresses, owner),
            private: false,
            html_url: addresses.page(&package_href(package)),
            description: None,
            fork: false,
            branches_url: format!("{url}/branches{{/branch}}"),
            commits_url: format!("{url}/commits{{/sha}}"),
            contents_url: format!("{url}/contents/{{+path}}"),
            languages_url: format!("{url}/languages"),
            tags_url: format!("{url}/tags"),
            trees_url: format!("{url}/git/trees{{/sha}}"),
            url,
        }
    }
}

/// Repository alone or in a list.
#[derive(Serialize)]
pub(super) struct Details {
    #[serde(flatten)]
    pub(super) shape: RepositoryShape,
    pub(super) default_branch: String,
    pub(super) size: u64,
    homepage: Option<String>,
    language: Option<String>,
    visibility: &'static str,
    pub(super) created_at: String,
    pub(super) updated_at: String,
    pub(super) pushed_at: String,
    #[serde(flatten)]
    counts: BTreeMap<&'static str, u64>,
    #[serde(flatten)]
    flags: BTreeMap<&'static str, bool>,
    topics: [&'static str; 0],
    license: Option<String>,
    permissions: BTreeMap<&'static str, bool>,
}

const COUNTS: [&str; 9] = [
    "network_count",
    "subscribers_count",
    "stargazers_count",
    "watchers_count",
    "forks_count",
    "open_issues_count",
    "forks",
    "open_issues",
    "watchers",
];

const FLAGS: [&str; 8] = [
    "archived",
    "disabled",
    "has_issues",
    "has_projects",
    "has_wiki",
    "has_pages",
    "has_downloads",
    "has_discussions",
];

impl Details {
    pub(super) fn new(
        addresses: &Addresses,
        entry: &ListEntry,
        git: Option<&IndexedRepository>,
    ) -> Details {
        let seconds = i64::try_from(entry.indexed).unwrap_or_default();
        let newest = git.and_then(|git| git.revisions.first());
        let pushed = newest.map_or(seconds, |newest| newest.committed);
        let time = |seconds| {
            let time = Timestamp::from_second(seconds).unwrap_or_default();
            time.to_string()
        };
        let may = |right| (right, right == "pull");
        Details {
            shape: RepositoryShape::new(addresses, &entry.package),
            default_branch: default_branch(git),
            size: entry.text_bytes / 1024,
            homepage: None,
            language: None,
            visibility: "public",
            created_at: time(seconds),
            updated_at: time(seconds),
            pushed_at: time(pushed),
            counts: COUNTS.into_iter().map(|name| (name, 0)).collect(),
            flags: FLAGS.into_iter().map(|name| (name, false)).collect(),
            topics: [],
            license: None,
            permissions: ["admin", "push", "pull"].into_iter().map(may).collect(),
        }
    }
}

fn default_branch(git: Option<&IndexedRepository>) -> String {
    let default = git.map_or(BRANCHES[0], |git| &git.default);
    String::from_utf8_lossy(revision_name(default.as_bytes())).into_owned()
}

/// Request about a repository.
pub(super) struct Asked {
    pub(super) call: Call,
    pub(super) addresses: Addresses,
    pub(super) of: Repository,
    /// Rest of the address.
    pub(super) rest: String,
}

impl FromRequestParts<App> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let named = Path::<HashMap<String, String>>::from_request_parts(parts, app).await;
        let Path(mut named) = named?;
        let call = Call::from_request_parts(parts, app).await?;
        let Ok(addresses) = Addresses::from_request_parts(parts, app).await;
        let of = |name: &str| named.get(name).map_or("", |value| value);
        Ok(Asked {
            of: Repository::find(&call, of("owner"), of("repo")).await?,
            call,
            addresses,
            rest: named.remove("rest").unwrap_or_default(),
        })
    }
}

impl Asked {
    pub(super) fn url(&self) -> String {
        self.addresses.repository(&self.of.full_name())
    }

    pub(super) fn package(&self) -> String {
        String::from_utf8_lossy(&self.of.entry.package).into_owned()
    }
}

pub(super) async fn get(asked: Asked) -> Response {
    response::json(&asked.of.details(&asked.addresses))
}

#[derive(Clone)]
pub(super) struct Repository {
    pub(super) entry: ListEntry,
    pub(super) scope: Scope,
    pub(super) git: Option<IndexedRepository>,
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

    /// Indexed revision; empty: the default one.
    pub(super) fn revision<'a>(&self, rev: &'a str) -> &'a str {
        let is_only = self.git.is_none() && (BRANCHES.contains(&rev) || rev == self.id());
        if is_only || rev == "HEAD" { "" } else { rev }
    }

    /// Commit of a package outside of git.
    pub(super) fn id(&self) -> String {
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
        Ok(self.whole_commit(call, rev).await?.id.clone())
    }

    pub(super) async fn whole_commit(
        &self,
        call: &Call,
        rev: &str,
    ) -> Result<Arc<Commit>, Problem> {
        let package = String::from_utf8_lossy(&self.entry.package);
        commit(&call.coordinator, &self.scope, &package, self.revision(rev)).await
    }

    pub(super) fn default_branch(&self) -> String {
        default_branch(self.git.as_ref())
    }

    pub(super) fn details(&self, addresses: &Addresses) -> Details {
        Details::new(addresses, &self.entry, self.git.as_ref())
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
