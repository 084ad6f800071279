//! Addresses of pages, which lead to ours: `/REPO@REV/-/blob/PATH?L9`, `/REPO`, and searches.

use super::query;
use crate::http::links::{FileAddress, decode_path, encode};
use crate::pages::{self, Form};
use crate::problem::{self, Problem};
use crate::search::params::Params;
use crate::state::Call;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use frontend::query::sourcegraph::{Search, Show};

pub(crate) fn is_search(params: &Params) -> bool {
    let query = params.bytes("q").unwrap_or_default();
    let mut words = query.split(|&byte| byte == b' ');
    params.bytes("patternType").is_some() || words.any(|word| word.starts_with(b"context:global"))
}

pub(crate) async fn search_page(call: &Call) -> Response {
    match search_of(call).await {
        Ok(search) => {
            let query = search.parsed.query.interpreted_as();
            let mut href = format!("/search?q={}", encode(query.as_bytes()));
            if search.show == Show::Repositories {
                href.push_str("&group=package");
            }
            found(&href)
        }
        Err(problem) => pages::problem_page(problem, Form::new(&call.params)),
    }
}

/// Search, with the repositories of its predicates.
async fn search_of(call: &Call) -> Result<Search, Problem> {
    let mut search = query::parse(&call.params)?;
    if search.predicates.is_empty() {
        return Ok(search);
    }
    search.names = None;
    let scope = call.viewer.scope().await?;
    query::narrowed(call, &scope, search).await
}

/// Page of an address that has no route.
pub(crate) async fn page(
    call: Result<Call, Problem>,
    method: Method,
    uri: Uri,
) -> Result<Response, Problem> {
    let href = match query::is_read(&method) {
        true => href(call, &uri).await?,
        false => None,
    };
    match href {
        Some(href) => Ok(found(&href)),
        None => Err(problem::not_found(uri).await),
    }
}

async fn href(call: Result<Call, Problem>, uri: &Uri) -> Result<Option<String>, Problem> {
    let split = uri.path().split_once("/-/");
    let (repository, rest) = split.unwrap_or((uri.path(), ""));
    let repository = decode_path(repository.trim_matches('/'))?;
    let at = repository.iter().rposition(|&byte| byte == b'@');
    let package = &repository[..at.unwrap_or(repository.len())];
    let revision = at.map_or(&b""[..], |at| &repository[at + 1..]);
    let revision = str::from_utf8(revision);
    let revision = revision.map_err(|_| Problem::bad_request("the revision is not UTF-8"))?;
    let (kind, name) = rest.split_once('/').unwrap_or((rest, ""));
    let name = decode_path(name)?;
    let address = FileAddress::current(package, &name).at(revision);
    Ok(match kind {
        _ if package.is_empty() => None,
        "" if split.is_none() && !is_repository(call?, package).await => None,
        "" if split.is_some() => None,
        "blob" | "raw" if name.is_empty() => None,
        "blob" => Some(address.show_href(line(uri.query().unwrap_or_default()))),
        "raw" => Some(address.raw_href()),
        "" | "symbols" => Some(directory(package, revision, b"")),
        "tree" => Some(directory(package, revision, &name)),
        "commit" => {
            let [repo, rev] = [package, &name[..]].map(encode);
            Some(format!("/commit?repo={repo}&rev={rev}"))
        }
        "commits" => Some(history(package, revision.as_bytes(), &name)),
        "branches" | "tags" => Some(history(package, b"", b"")),
        "compare" => {
            let dots = name.windows(2).rposition(|dots| dots == b"..");
            let last = dots.map_or(&b""[..], |dots| &name[dots + 2..]);
            Some(history(package, last, b""))
        }
        _ => None,
    })
}

/// False also if it cannot be looked up.
async fn is_repository(call: Call, package: &[u8]) -> bool {
    let Ok(scope) = call.viewer.scope_with(package).await else {
        return false;
    };
    let versions = call.corpus(&scope).versions(package).await;
    versions.is_ok_and(|versions| !versions.is_empty())
}

fn directory(package: &[u8], revision: &str, path: &[u8]) -> String {
    let mut directory = path.to_vec();
    if !directory.is_empty() && !directory.ends_with(b"/") {
        directory.push(b'/');
    }
    let address = FileAddress::current(package, &directory);
    address.at(revision).directory_href()
}

fn history(package: &[u8], revision: &[u8], path: &[u8]) -> String {
    let mut href = format!("/log?repo={}", encode(package));
    for (name, value) in [("rev", revision), ("path", path)] {
        if !value.is_empty() {
            href.push_str(&format!("&{name}={}", encode(value)));
        }
    }
    href
}

/// First line of `L9:6-9:12`; 0 if there is none.
fn line(query: &str) -> u32 {
    let places = query.split('&').filter_map(|part| part.strip_prefix('L'));
    let mut numbers = places.filter_map(|place| {
        let end = place.find(|letter: char| !letter.is_ascii_digit());
        place[..end.unwrap_or(place.len())].parse().ok()
    });
    numbers.next().unwrap_or(0)
}

fn found(href: &str) -> Response {
    let location = HeaderValue::from_str(href).expect("an address is encoded");
    (StatusCode::FOUND, [(header::LOCATION, location)]).into_response()
}
