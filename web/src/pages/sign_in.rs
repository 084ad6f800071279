//! Form for a key, where keys are required.
//!
//! It replaces a page that needs a key, and returns the user to it. It works without the script.
//! **Invariant:** whatever the address, it redirects to a page of this server.

use super::filters;
use super::form::Form;
use crate::http::guard::{self, SIGN_IN};
use crate::http::hosts::is_from_own_page;
use crate::http::request_limits::read_body;
use crate::http::response::NO_STORE;
use crate::http::server::{Client, IsHttps};
use crate::http::site::Site;
use crate::problem::{self, Problem};
use crate::search::params::Params;
use crate::state::App;
use access::{Access, KeyName};
use askama::Template;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use std::net::{IpAddr, Ipv4Addr};

/// A key and an address.
const FORM_BYTES_MAX: usize = 64 << 10;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    form: Form,
    /// Page to return to.
    next: String,
    fault: Option<&'static str>,
    /// Name of the client's key.
    holder: Option<String>,
    /// Browsers omit our cookie on links from other sites, but send it when the page reloads
    /// itself.
    asks_again: bool,
}

pub(crate) async fn form(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    required(&app, &parts).await?;
    let params = Params::parse(parts.uri.query().unwrap_or_default()).unwrap_or_default();
    let next = params.bytes("next").and_then(local).unwrap_or("/");
    let site = Site::of(&parts.headers, &parts.extensions);
    let holder = parts.extensions.get::<KeyName>();
    let page = SignInPage {
        holder: holder.map(|name| name.as_str().to_owned()),
        ..SignInPage::new(next, &site)
    };
    Ok(page.respond(StatusCode::OK))
}

pub(crate) async fn sign_in(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let access = required(&app, &parts).await?;
    if !is_from_own_page(&parts.headers) {
        return Err(Problem::foreign(
            "a page of another site may not send a key",
        ));
    }
    let body = read_body(body, FORM_BYTES_MAX, &parts.extensions).await?;
    let body = str::from_utf8(&body).map_err(|_| Problem::bad_request("the form is not text"))?;
    let params = Params::parse(body)?;
    let key = params.bytes("key").unwrap_or_default().trim_ascii();
    let next = params.bytes("next").and_then(local).unwrap_or("/");
    let tried = access.try_key(address(&parts), key);
    let name = tried.map_err(|seconds| {
        guard::count_refused(true);
        let detail = format!("too many wrong keys; try again in {seconds} s");
        Problem::too_many_tries(detail, seconds)
    })?;
    let signed = name.and_then(|name| Some((access.cookie_for(&name)?, name)));
    let Some((cookie, name)) = signed else {
        guard::count_refused(true);
        let site = Site {
            has_key: false,
            ..Site::of(&parts.headers, &parts.extensions)
        };
        let fault = "This key is not known here. It may have been revoked.";
        let page = SignInPage {
            fault: Some(fault),
            ..SignInPage::new(next, &site)
        };
        return Ok(page.respond(StatusCode::UNAUTHORIZED));
    };
    tracing::info!(key = name.as_str(), "signed in");
    Ok(back_to(next, &cookie, &parts))
}

pub(crate) async fn sign_out(
    State(app): State<App>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    required(&app, &parts).await?;
    Ok(back_to(SIGN_IN, "", &parts))
}

/// Fails where no key is required: the addresses of this file do not exist there.
async fn required<'a>(app: &'a App, parts: &Parts) -> Result<&'a Access, Problem> {
    match &app.options.access {
        Some(access) if access.is_required() => Ok(access),
        _ => Err(problem::not_found(parts.uri.clone()).await),
    }
}

fn address(parts: &Parts) -> IpAddr {
    let client = parts.extensions.get::<Client>();
    client.map_or(Ipv4Addr::UNSPECIFIED.into(), Client::address)
}

fn back_to(path: &str, cookie: &str, parts: &Parts) -> Response {
    let location = HeaderValue::from_str(path).expect("the address was checked");
    let head = [
        (header::LOCATION, location),
        (header::CACHE_CONTROL, NO_STORE),
    ];
    let mut response = (StatusCode::SEE_OTHER, head).into_response();
    let name = guard::cookie_name(&parts.headers);
    let is_https = parts.extensions.get::<IsHttps>().is_some();
    guard::set_cookie(response.headers_mut(), &name, cookie, is_https);
    response
}

/// Asks for a key instead of the page at `next`. `asks_again`: the page reloads itself.
pub(super) fn instead_of(
    (next, asks_again): &(String, bool),
    site: &Site,
    response: Response,
) -> Response {
    let page = SignInPage {
        asks_again: *asks_again,
        ..SignInPage::new(next, site)
    };
    let (head, _) = response.into_parts();
    let mut shown = page.respond(head.status);
    for name in [header::WWW_AUTHENTICATE, header::VARY] {
        if let Some(value) = head.headers.get(&name) {
            shown.headers_mut().append(name, value.clone());
        }
    }
    shown
}

/// Address to return to, and true for a link of another site.
pub(super) fn asked(request: &Request) -> (String, bool) {
    let path = request.uri().path_and_query();
    let path = path.map_or("/", |path| path.as_str());
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let next = local(path.as_bytes()).filter(|_| is_read).unwrap_or("/");
    let site = request.headers().get("sec-fetch-site");
    let is_from_elsewhere = is_read && site.is_some_and(|site| site == "cross-site");
    (next.to_owned(), is_from_elsewhere)
}

impl SignInPage {
    fn new(next: &str, site: &Site) -> SignInPage {
        SignInPage {
            form: Form::of(site),
            next: next.to_owned(),
            fault: None,
            holder: None,
            asks_again: false,
        }
    }

    fn respond(&self, status: StatusCode) -> Response {
        let html = Html(self.form.site.render(self));
        let mut response = (status, [(header::CACHE_CONTROL, NO_STORE)], html).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let headers = response.headers_mut();
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Accepts a path of this server. Browsers read `//host`, also with backslashes or invisible
/// characters, as another host.
fn local(address: &[u8]) -> Option<&str> {
    let address = str::from_utf8(address).ok()?;
    let is_plain = address
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_path = address.starts_with('/') && !address.starts_with("//");
    (is_plain && is_path).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_leads_back_only_to_pages_of_this_server() {
        for good in ["/", "/search?q=a%20b&x=//evil.example", "/show?path=a#L3"] {
            assert_eq!(local(good.as_bytes()), Some(good));
        }
        for bad in [
            "",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\/evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "https://evil.example/",
            "evil.example",
            "javascript:alert(1)",
            "/a\r\nset-cookie: x",
            "/é",
            " /",
        ] {
            assert_eq!(local(bad.as_bytes()), None, "{bad:?}");
        }
    }
}
