//! Lists of repositories, and their search.

use super::addresses::Addresses;
use super::paging::Page;
use super::repository::{Details, Owner, Repository, owner_and_name};
use super::search::ItemList;
use crate::http::links::Path;
use crate::http::{rendering, response};
use crate::problem::Problem;
use crate::state::Call;
use access::KeyName;
use axum::Extension;
use axum::response::Response;
use frontend::query::{Query, github};
use frontend::{Scope, SearchRequest};
use futures_util::future::try_join_all;
use schema::message::{ListEntry, ListKind, ListRequest, Want};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Replies of a list of packages, about a thousand each.
const PARTS_MAX: usize = 64;

pub(super) const SEARCHED_MAX: usize = 1000;

/// By full name.
pub(super) async fn all(call: &Call, scope: &Scope) -> Result<Vec<ListEntry>, Problem> {
    let request = ListRequest::new(ListKind::Packages, b"", b"", u32::MAX);
    let mut found = call.corpus(scope).parts(request, PARTS_MAX).await?.entries;
    found.sort_by_cached_key(|entry| owner_and_name(&entry.package));
    Ok(found)
}

/// Adds data of their git repositories.
pub(super) async fn load(
    call: &Call,
    scope: &Scope,
    entries: &[ListEntry],
) -> Result<Vec<Repository>, Problem> {
    let each = entries.iter().map(async |entry| {
        Ok(Repository {
            git: call
                .corpus(scope)
                .indexed_repository(&entry.package)
                .await?,
            entry: entry.clone(),
            scope: scope.clone(),
        })
    });
    try_join_all(each).await
}

async fn details(
    call: &Call,
    scope: &Scope,
    addresses: &Addresses,
    entries: &[ListEntry],
) -> Result<Vec<Details>, Problem> {
    let found = load(call, scope, entries).await?;
    Ok(found.iter().map(|it| it.details(addresses)).collect())
}

pub(super) async fn list(call: Call, addresses: Addresses) -> Result<Response, Problem> {
    of_owner(&call, &addresses, None).await
}

pub(super) async fn owned(
    call: Call,
    Path(owner): Path<String>,
    addresses: Addresses,
) -> Result<Response, Problem> {
    of_owner(&call, &addresses, Some(&owner)).await
}

async fn of_owner(
    call: &Call,
    addresses: &Addresses,
    owner: Option<&str>,
) -> Result<Response, Problem> {
    let page = Page::of(&call.params)?;
    let scope = call.viewer.scope().await?;
    let mut found = all(call, &scope).await?;
    found.retain(|entry| owner.is_none_or(|owner| is_of(entry, owner)));
    if let Some(owner) = owner.filter(|_| found.is_empty()) {
        return Err(no_owner(owner));
    }
    sort(call, &mut found)?;
    let shown = details(call, &scope, addresses, &found[page.range(found.len())]).await?;
    let mut response = response::json(&shown);
    page.link(&mut response, addresses, &call.params, found.len());
    Ok(response)
}

pub(super) fn is_of(entry: &ListEntry, owner: &str) -> bool {
    let (its, _) = owner_and_name(&entry.package);
    its.eq_ignore_ascii_case(owner)
}

fn no_owner(owner: &str) -> Problem {
    Problem::missing(format!("no repository belongs to {owner}"))
}

fn sort(call: &Call, found: &mut [ListEntry]) -> Result<(), Problem> {
    let sort = call.params.text("sort")?.unwrap_or_default();
    let is_by_time = ["updated", "pushed", "created"].contains(&sort);
    let order = call
        .params
        .text("order")?
        .or(call.params.text("direction")?);
    if is_by_time {
        found.sort_by_key(|entry| std::cmp::Reverse(entry.indexed));
    }
    let is_reversed = order == Some(if is_by_time { "asc" } else { "desc" });
    if is_reversed && (is_by_time || sort == "full_name") {
        found.reverse();
    }
    Ok(())
}

/// Account of an owner, or of the client itself.
pub(super) async fn owner(
    call: Call,
    key: Option<Extension<KeyName>>,
    Path(login): Path<String>,
    addresses: Addresses,
) -> Result<Response, Problem> {
    let scope = call.viewer.scope().await?;
    let found = all(&call, &scope).await?;
    let count = found.iter().filter(|entry| is_of(entry, &login)).count();
    if count == 0 && super::account::login(key.as_ref()) != login {
        return Err(no_owner(&login));
    }
    let mut out = json!(Owner::new(&addresses, login));
    out["public_repos"] = count.into();
    Ok(response::json(&out))
}

#[derive(Serialize)]
struct Item {
    #[serde(flatten)]
    details: Details,
    score: f32,
}

pub(super) async fn search(call: Call, addresses: Addresses) -> Result<Response, Problem> {
    let page = Page::of(&call.params)?;
    let q = call.params.required("q").and(call.params.text("q"))?;
    let asked = RepositoryQuery::parse(q.unwrap_or_default())?;
    let scope = call.viewer.scope().await?;
    let mut found = asked.found(&call, &scope).await?;
    sort(&call, &mut found)?;
    let total = found.len().min(SEARCHED_MAX);
    let details = details(&call, &scope, &addresses, &found[page.range(total)]).await?;
    let items = details.into_iter().map(|details| Item {
        details,
        score: 1.0,
    });
    let mut response = response::json(&ItemList {
        total_count: found.len() as u64,
        incomplete_results: false,
        items: items.collect(),
        notices: &asked.notices,
    });
    page.link(&mut response, &addresses, &call.params, total);
    Ok(response)
}

#[derive(Debug, Default)]
pub(super) struct RepositoryQuery {
    /// Parts of the name, in lower case.
    words: Vec<String>,
    owners: Vec<String>,
    names: Vec<String>,
    languages: Vec<String>,
    notices: Vec<String>,
}

/// True of each repository.
const TRUE: [&str; 7] = [
    "in:name",
    "is:public",
    "archived:false",
    "mirror:false",
    "template:false",
    "fork:true",
    "fork:false",
];

impl RepositoryQuery {
    pub(super) fn parse(q: &str) -> Result<RepositoryQuery, Problem> {
        let mut asked = RepositoryQuery::default();
        for term in q.split_whitespace() {
            let value = |qualifier: &str| {
                let value = term.strip_prefix(qualifier)?.trim_matches('"');
                Some(value.trim_start_matches('@').to_lowercase())
            };
            let owner = value("user:")
                .or_else(|| value("org:"))
                .or_else(|| value("owner:"));
            if let Some(owner) = owner {
                asked.owners.push(owner);
            } else if let Some(name) = value("repo:") {
                asked.names.push(name);
            } else if value("language:").is_some() {
                asked.languages.push(term.to_owned());
            } else if let Some((name, _)) = term.split_once(':').filter(|(name, _)| is_word(name)) {
                let is_known = TRUE.contains(&term) || name == "sort" || name == "in";
                let notice = format!("{term} is ignored: the index does not know it");
                asked.notices.extend((!is_known).then_some(notice));
            } else if term != "AND" {
                asked.words.push(term.trim_matches('"').to_lowercase());
            }
        }
        Ok(asked)
    }

    /// The nearest names first.
    pub(super) async fn found(
        &self,
        call: &Call,
        scope: &Scope,
    ) -> Result<Vec<ListEntry>, Problem> {
        let packages = self.of_languages(call, scope).await?;
        let found = all(call, scope).await?.into_iter();
        let found = found.filter(|it| {
            packages
                .as_ref()
                .is_none_or(|known| known.contains(&it.package))
        });
        let mut found: Vec<_> = found
            .filter_map(|it| Some((self.distance(&it)?, it)))
            .collect();
        found.sort_by_key(|(distance, _)| *distance);
        Ok(found.into_iter().map(|(_, entry)| entry).collect())
    }

    /// Letters of the name that the words leave; `None` if it does not match.
    fn distance(&self, entry: &ListEntry) -> Option<usize> {
        let (owner, name) = owner_and_name(&entry.package);
        let (owner, name) = (owner.to_lowercase(), name.to_lowercase());
        let full_name = format!("{owner}/{name}");
        let is_one = |of: &[String], name: &String| of.is_empty() || of.contains(name);
        let has = |word: &String| {
            let words = if word.contains('/') {
                &full_name
            } else {
                &name
            };
            words.contains(&word[..])
        };
        let is_found = is_one(&self.owners, &owner)
            && is_one(&self.names, &full_name)
            && self.words.iter().all(has);
        let letters = self.words.iter().map(String::len).sum();
        is_found.then(|| name.len().saturating_sub(letters))
    }

    /// Packages with a file in one of the languages.
    async fn of_languages(
        &self,
        call: &Call,
        scope: &Scope,
    ) -> Result<Option<BTreeSet<Vec<u8>>>, Problem> {
        if self.languages.is_empty() {
            return Ok(None);
        }
        let parsed = github::parse(&self.languages.join(" OR "))?;
        let query: Query = parsed.query.wanting(Want::Documents, 0)?;
        let request = SearchRequest {
            client: call.params.search_client(),
            ..SearchRequest::new(scope, query)
        };
        let answer = call.coordinator.search(request).await?.finished().await?;
        let whole = Arc::clone(&answer);
        let packages = rendering(&answer, move || whole.package_list(0..whole.packages()));
        let names = packages.await?.into_iter().map(|package| package.name);
        Ok(Some(names.collect()))
    }
}

fn is_word(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_owners_select_repositories() {
        let package = |name: &str| ListEntry {
            package: name.as_bytes().to_vec(),
            ..ListEntry::default()
        };
        let found =
            |q: &str, name: &str| RepositoryQuery::parse(q).unwrap().distance(&package(name));
        for (q, name, expected) in [
            ("", "acme/widget", Some(6)),
            ("WIDGET in:name", "host/acme/widget", Some(0)),
            ("wid get", "acme/widget", Some(0)),
            ("acme/wid", "acme/widget", Some(0)),
            ("widget user:Acme", "acme/widget", Some(0)),
            ("org:acme user:other", "acme/widget", Some(6)),
            ("repo:acme/widget", "acme/widget", Some(6)),
            ("owner:other", "acme/widget", None),
            ("gadget", "acme/widget", None),
            ("user:pkg", "many_1.0", Some(8)),
        ] {
            assert_eq!(found(q, name), expected, "{q}");
        }
        let asked = RepositoryQuery::parse("x stars:>10 is:public archived:false").unwrap();
        assert_eq!(
            asked.notices,
            ["stars:>10 is ignored: the index does not know it"]
        );
    }
}
