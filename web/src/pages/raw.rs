//! Raw files, at addresses that end with their names: `/raw/p/{package}/{path}` and
//! `/raw/g/{repository}/{revision}/{path}`.
//!
//! The first prefers the indexed text, the second the bytes in the repository; either falls back to
//! the other.
//!
//! **Invariant:** no browser executes a raw file: the type is text, bytes or a recognised image, it
//! is not sniffed, and the policy forbids everything.

mod body;
mod ranges;

use crate::http::links::decode_path;
use crate::http::response::REVALIDATE;
use crate::problem::{NOT_FOUND, Problem};
use crate::source::file_range::{Fetched, REVISION_BYTES_MAX, describe};
use crate::state::App;
use crate::suggest::Corpus;
use access::Viewer;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use body::{FileBody, PIECE_BYTES};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use ranges::{Selected, Verdict};
use schema::message::{FileRange, FileReply, FileRequest, FileSource};

/// Browsers only show files.
const POLICY: HeaderValue =
    HeaderValue::from_static("sandbox; default-src 'none'; frame-ancestors 'none'");

/// Foreign pages cannot embed images, nor learn their sizes.
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(crate) async fn file(
    State(app): State<App>,
    viewer: Viewer,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let is_whole = method == Method::GET && !ranges::has_conditions(&headers);
    let range = FileRange::Bytes {
        offset: 0,
        count: if is_whole { PIECE_BYTES } else { HEAD_BYTES },
    };
    let request = named(&uri, range)?;
    let scope = viewer.scope_of(&request.package).await?;
    let corpus = app.corpus(&scope);
    let Fetched { package, reply } = match corpus.fetch_file(request.clone()).await {
        Ok(fetched) => fetched,
        Err(problem) => return Err(or_why_skipped(corpus, &request, problem).await),
    };
    let request = FileRequest { package, ..request };
    let tag = ranges::tag(&reply.hash);
    match ranges::check(&headers, &tag) {
        Verdict::Send => {}
        Verdict::Failed => {
            let detail = "the file is another one than the header If-Match names";
            return Err(Problem::precondition_failed(detail));
        }
        Verdict::NotModified => {
            let mut response = StatusCode::NOT_MODIFIED.into_response();
            add_headers(response.headers_mut(), &reply, &tag);
            return Ok(response);
        }
    }
    let selected = if method == Method::GET && ranges::allow_ranges(&headers, &tag) {
        ranges::select(&headers, reply.total_bytes)
    } else {
        Selected::Whole
    };
    let total = reply.total_bytes;
    let mut about = HeaderMap::new();
    let content = Content::of(&reply);
    add_headers(&mut about, &reply, &tag);
    about.insert(header::CONTENT_TYPE, content.media_type());
    if let Some(disposition) = content.disposition(&request.path) {
        about.insert(header::CONTENT_DISPOSITION, disposition);
    }
    let body = FileBody::new((app, viewer), request, reply);
    let (status, body) = match selected {
        Selected::Whole => (StatusCode::OK, body.range(0..total)),
        Selected::One(range) => {
            about.insert(header::CONTENT_RANGE, ranges::content_range(&range, total));
            (StatusCode::PARTIAL_CONTENT, body.range(range))
        }
        Selected::Many(ranges) => {
            let media_type = about.insert(header::CONTENT_TYPE, body.multipart_type());
            let media_type = media_type.expect("inserted above");
            let body = body.multipart(&ranges, &media_type);
            (StatusCode::PARTIAL_CONTENT, body)
        }
        Selected::Unsatisfiable => return Ok(unsatisfiable(total)),
    };
    about.insert(header::CONTENT_LENGTH, HeaderValue::from(body.bytes()));
    let body = if method == Method::HEAD {
        Body::empty()
    } else {
        body.send().await?
    };
    Ok((status, about, body).into_response())
}

fn add_headers(headers: &mut HeaderMap, reply: &FileReply, tag: &HeaderValue) {
    headers.insert(header::ETAG, tag.clone());
    headers.insert(header::CACHE_CONTROL, REVALIDATE);
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(RESOURCE_POLICY, SAME_ORIGIN);
    describe(headers, reply);
}

fn unsatisfiable(total: u64) -> Response {
    let detail = format!("the file ends at byte {total}, and none of the ranges begins before it");
    let mut response = Problem::unsatisfiable_range(detail).into_response();
    let range = HeaderValue::from_str(&format!("bytes */{total}")).expect("ASCII");
    response.headers_mut().insert(header::CONTENT_RANGE, range);
    response
}

async fn or_why_skipped(corpus: Corpus<'_>, request: &FileRequest, problem: Problem) -> Problem {
    if !problem.is(&NOT_FOUND) {
        return problem;
    }
    match corpus.why_left_out(&request.package, &request.path).await {
        Some(problem) if request.source == FileSource::Original => {
            problem.hint("no backend can read it from the repository")
        }
        found => found.unwrap_or(problem),
    }
}

/// Request for the file at `/raw/p/{package}/{path}` or `/raw/g/{repository}/{revision}/{path}`.
fn named(uri: &Uri, range: FileRange) -> Result<FileRequest, Problem> {
    let ([package, path], revision, source) = if uri.path().starts_with("/raw/g/") {
        let expected = "expected /raw/g/REPOSITORY/REVISION/PATH, where %2F is a slash in the name of a repository or a \
                        revision, and HEAD the default branch";
        let [package, revision, path] = parts(uri, "/raw/g/", expected)?;
        ([package, path], revision, FileSource::Original)
    } else {
        let parts = parts(uri, "/raw/p/", "expected /raw/p/PACKAGE/PATH")?;
        (parts, "", FileSource::TextOrOriginal)
    };
    let revision = String::from_utf8(decode_path(revision)?)
        .map_err(|_| Problem::bad_request("the revision is not UTF-8"))?;
    if revision.len() > REVISION_BYTES_MAX {
        let detail = format!("the revision has more than {REVISION_BYTES_MAX} bytes");
        return Err(Problem::bad_request(detail));
    }
    let (package, path) = (decode_path(package)?, decode_path(path)?);
    Ok(FileRequest {
        source,
        ..FileRequest::new(&package, &path, &revision, range)
    })
}

/// The last part may have slashes.
fn parts<'a, const N: usize>(
    uri: &'a Uri,
    prefix: &str,
    expected: &str,
) -> Result<[&'a str; N], Problem> {
    if uri.query().is_some_and(|query| !query.is_empty()) {
        let problem = Problem::bad_request("the address of a raw file has no parameters");
        return Err(problem.hint("write %3F for a question mark in a name"));
    }
    let rest = uri.path().strip_prefix(prefix).unwrap_or_default();
    let parts: Vec<&str> = rest.splitn(N, '/').collect();
    let is_file = !parts.contains(&"") && !rest.ends_with('/');
    let parts = parts.try_into().ok().filter(|_| is_file);
    parts.ok_or_else(|| Problem::missing("the address names no file").hint(expected))
}

/// Bytes that decide: as in git, a NUL among them makes a file binary.
pub(crate) const HEAD_BYTES: u64 = 8_000;

/// Limit of file systems.
const NAME_BYTES_MAX: usize = 255;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Text,
    /// Image without active content. SVG may have scripts, so it is text.
    Image(&'static str),
    Bytes,
}

impl Content {
    pub(crate) fn of(reply: &FileReply) -> Content {
        let head = &reply.text[..reply.text.len().min(HEAD_BYTES as usize)];
        if !reply.original {
            return Content::Text;
        }
        match head {
            _ if head.starts_with(b"\x89PNG\r\n\x1a\n") => Content::Image("image/png"),
            [0xff, 0xd8, 0xff, ..] => Content::Image("image/jpeg"),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Content::Image("image/gif"),
            _ if head.starts_with(b"RIFF") && head.get(8..12) == Some(&b"WEBP"[..]) => {
                Content::Image("image/webp")
            }
            // UTF-16, which the index would decode.
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Content::Bytes,
            _ if head.contains(&0) => Content::Bytes,
            _ => Content::Text,
        }
    }

    pub(crate) fn media_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Content::Text => "text/plain; charset=utf-8",
            Content::Image(media_type) => media_type,
            Content::Bytes => "application/octet-stream",
        })
    }

    /// Header `Content-Disposition` of a saved file. Its name has no special characters of headers
    /// or file systems.
    pub(crate) fn disposition(self, path: &[u8]) -> Option<HeaderValue> {
        if self != Content::Bytes {
            return None;
        }
        let name = path.rsplit(|&byte| byte == b'/').next()?;
        let name = &name[..name.len().min(NAME_BYTES_MAX)];
        let plain = |byte: &u8| match byte {
            b'.' | b'-' | b'_' | b'+' => char::from(*byte),
            _ if byte.is_ascii_alphanumeric() => char::from(*byte),
            _ => '_',
        };
        let safe: String = name.iter().map(plain).collect();
        let safe = safe.trim_start_matches('.');
        let safe = if safe.is_empty() { "file" } else { safe };
        let mut text = format!("attachment; filename=\"{safe}\"");
        if safe.as_bytes() != name && is_harmless(name) {
            text += &format!(
                "; filename*=UTF-8''{}",
                percent_encode(name, NON_ALPHANUMERIC)
            );
        }
        Some(HeaderValue::from_str(&text).expect("the name is ASCII"))
    }
}

/// Safe to show: UTF-8, without characters that reorder or hide the rest.
fn is_harmless(name: &[u8]) -> bool {
    let text = std::str::from_utf8(name);
    let is_hidden = name.starts_with(b".");
    let is_odd = |it: char| {
        it.is_control()
            || matches!(it, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\\')
    };
    !is_hidden && text.is_ok_and(|text| !text.contains(is_odd))
}

pub(crate) fn is_image(reply: &FileReply) -> bool {
    matches!(Content::of(reply), Content::Image(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(address: &str) -> Result<FileRequest, Problem> {
        named(
            &address.parse().unwrap(),
            FileRange::Lines { first: 1, count: 1 },
        )
    }

    #[test]
    fn names_are_bytes_and_only_paths_have_slashes() {
        let name = request("/raw/p/i3-wm_4.22/src/a%ff+b%2fc").unwrap();
        assert_eq!(
            (&name.package[..], &name.path[..]),
            (&b"i3-wm_4.22"[..], &b"src/a\xff+b/c"[..])
        );
        let name = request("/raw/g/tools%2Ftrawl/feature%2fx/src/%F0.c").unwrap();
        assert_eq!(
            (&name.package[..], &name.revision[..], &name.path[..]),
            (&b"tools/trawl"[..], "feature/x", &b"src/\xf0.c"[..])
        );
    }

    #[test]
    fn a_malformed_address_is_refused_with_what_is_expected() {
        for address in ["/raw/p/a", "/raw/p/a/", "/raw/p//a", "/raw/p/a/b/"] {
            let problem = request(address).unwrap_err();
            assert_eq!(problem.kind.name, "not-found", "{address}");
            assert!(
                problem
                    .document
                    .hint
                    .unwrap()
                    .starts_with("expected /raw/p/")
            );
        }
        for address in ["/raw/g/a/b", "/raw/g/a//c", "/raw/g/a/b/c/"] {
            let problem = request(address).unwrap_err();
            assert_eq!(problem.kind.name, "not-found", "{address}");
        }
        for address in [
            "/raw/p/a/%",
            "/raw/p/a/%4",
            "/raw/p/%zz/a",
            "/raw/p/a/b?c",
            "/raw/p/a/b?download=1",
        ] {
            assert_eq!(request(address).unwrap_err().kind.name, "bad-request");
        }
        let long = format!("/raw/g/a/{}/c", "x".repeat(REVISION_BYTES_MAX + 1));
        for address in ["/raw/g/a/%ff/c", &long] {
            assert_eq!(request(address).unwrap_err().kind.name, "bad-request");
        }
    }

    fn original(bytes: &[u8]) -> Content {
        Content::of(&FileReply {
            text: bytes.to_vec(),
            original: true,
            ..FileReply::default()
        })
    }

    #[test]
    fn only_safe_images_are_shown_and_nothing_is_a_page() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0"[..], "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a\x01\0", "image/gif"),
            (b"RIFF\x01\0\0\0WEBPVP8 ", "image/webp"),
            (
                b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>",
                "text/plain; charset=utf-8",
            ),
            (
                b"<!doctype html><script>alert(1)</script>",
                "text/plain; charset=utf-8",
            ),
            (b"%PDF-1.7\n\0", "application/octet-stream"),
            (b"\xff\xfea\0", "application/octet-stream"),
            (b"RIFF\x01\0\0\0WAVE", "application/octet-stream"),
            (b"", "text/plain; charset=utf-8"),
        ] {
            assert_eq!(original(bytes).media_type(), expected, "{bytes:?}");
        }
        let indexed = Content::of(&FileReply {
            text: b"GIF89a".to_vec(),
            ..FileReply::default()
        });
        assert_eq!(indexed, Content::Text);
    }

    #[test]
    fn a_file_is_saved_under_a_safe_name() {
        let saved = |path: &[u8]| {
            let value = Content::Bytes.disposition(path).unwrap();
            value.to_str().unwrap().to_owned()
        };
        assert_eq!(saved(b"src/a.bin"), "attachment; filename=\"a.bin\"");
        assert_eq!(
            saved("d/na\u{ef}ve \".bin".as_bytes()),
            "attachment; filename=\"na__ve__.bin\"; filename*=UTF-8''na%C3%AFve%20%22%2Ebin"
        );
        // Nothing hidden or reversed.
        assert_eq!(saved(b".bashrc"), "attachment; filename=\"bashrc\"");
        assert_eq!(saved(b"..."), "attachment; filename=\"file\"");
        assert_eq!(saved(b"a\r\nx: y\xff"), "attachment; filename=\"a__x__y_\"");
        assert!(!saved("a\u{202e}fdp.exe".as_bytes()).contains("filename*"));
        assert!(Content::Text.disposition(b"a").is_none());
        assert!(saved(&[b'x'; 5000]).len() < 300);
    }
}
