//! Addresses of pages, which lead to ours: `/REPO@REV/-/blob/PATH?L9`, and searches.

use super::query;
use crate::http::links::{FileAddress, decode_path, encode};
use crate::pages::{self, Form};
use crate::problem::{self, Problem};
use crate::search::params::Params;
use crate::state::Call;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use frontend::query::sourcegraph::Show;

pub(crate) fn is_search(params: &Params) -> bool {
    let query = params.bytes("q").unwrap_or_default();
    let mut words = query.split(|&byte| byte == b' ');
    params.bytes("patternType").is_some() || words.any(|word| word.starts_with(b"context:global"))
}

pub(crate) fn search_page(call: &Call) -> Response {
    match query::parse(&call.params) {
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

pub(crate) async fn page(method: Method, uri: Uri) -> Result<Response, Problem> {
    let (path, query) = (uri.path(), uri.query().unwrap_or_default());
    let split = path.split_once("/-/").filter(|_| query::is_read(&method));
    let Some((repository, rest)) = split else {
        return Err(problem::not_found(uri).await);
    };
    let repository = decode_path(repository.trim_start_matches('/'))?;
    let at = repository.iter().rposition(|&byte| byte == b'@');
    let package = &repository[..at.unwrap_or(repository.len())];
    let revision = at.map_or(&b""[..], |at| &repository[at + 1..]);
    let revision = str::from_utf8(revision);
    let revision = revision.map_err(|_| Problem::bad_request("the revision is not UTF-8"))?;
    let (kind, name) = rest.split_once('/').unwrap_or((rest, ""));
    let name = decode_path(name)?;
    let address = FileAddress::current(package, &name).at(revision);
    let href = match kind {
        _ if package.is_empty() => None,
        "blob" | "raw" if name.is_empty() => None,
        "blob" => Some(address.show_href(line(query))),
        "raw" => Some(address.raw_href()),
        "tree" => {
            let mut directory = name.clone();
            if !directory.is_empty() && !directory.ends_with(b"/") {
                directory.push(b'/');
            }
            let address = FileAddress::current(package, &directory);
            Some(address.at(revision).directory_href())
        }
        "commit" => {
            let [repo, rev] = [package, &name[..]].map(encode);
            Some(format!("/commit?repo={repo}&rev={rev}"))
        }
        "commits" => Some(format!("/log?repo={}", encode(package))),
        _ => None,
    };
    match href {
        Some(href) => Ok(self::found(&href)),
        None => Err(problem::not_found(uri).await),
    }
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
