//! Parameters of a request in a JSON body, for queries too long for an address, and the search that
//! a request names.
//!
//! A value in a body is a string, number or boolean, or a list of these for repeated parameters.

pub(super) use crate::state::Call;

use crate::http::request_limits::read_body;
use crate::http::watched::Watched;
use crate::problem::Problem;
use crate::search::cursor::{BadCursor, Cursor};
use crate::search::params::{PARAMETERS_MAX, Params};
use crate::search::run::{
    self, bad_cursor, expired, finished, is_link, route_of, unknown, unsigned,
};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use frontend::query::{ParsedQuery, Query};
use frontend::{Scope, SearchClient, SearchError, SearchHandle, SearchRequest};
use schema::message::TextOrder;
use serde_json::Value;

impl Call {
    pub(super) fn expect(&self, known: &[&[&str]]) -> Result<(), Problem> {
        self.params.expect(known)
    }

    pub(super) fn identity(&self, scope: &Scope, query: &Query) -> String {
        run::identity(&self.coordinator, scope, &self.params, query)
    }

    pub(super) fn watched(&self, scope: &Scope) -> Watched {
        Watched::new(&self.coordinator, &self.viewer, scope)
    }

    /// Like [`run::start`], with a notice if only the default revisions are searched.
    pub(super) async fn start(
        &self,
        scope: &Scope,
        parsed: &mut ParsedQuery,
    ) -> Result<SearchHandle, Problem> {
        let coordinator = &self.coordinator;
        let search = run::start(coordinator, scope, &self.params, parsed).await?;
        let notice = coordinator.notice_of_revisions(scope, &parsed.query);
        parsed.notices.extend(notice);
        Ok(search)
    }

    /// Searches again if the result was evicted, or is an export without matches. Links stay valid
    /// on every frontend.
    pub(super) async fn by_id(&self, scope: &Scope, id: &str) -> Result<SearchHandle, Problem> {
        let search = self.export_by_id(scope, id).await?;
        if search.query().text == TextOrder::None {
            return Ok(search);
        }
        let query = search.query().clone().with_text(TextOrder::None);
        self.rerun(&search, query, id).await
    }

    /// Searches the same documents. Keeps the route, so a proxy sends the new id here.
    pub(super) async fn rerun(
        &self,
        search: &SearchHandle,
        query: Query,
        id: &str,
    ) -> Result<SearchHandle, Problem> {
        let request = SearchRequest {
            client: self.client(route_of(id).unwrap_or_default()),
            generation: Some(search.generation().to_owned()),
            ..SearchRequest::new(search.scope(), query)
        };
        Ok(self.coordinator.search(request).await?)
    }

    fn client(&self, route: u32) -> SearchClient {
        SearchClient {
            number: self.params.client,
            route,
        }
    }

    /// Like [`by_id`](Self::by_id), also for exports without matches.
    pub(super) async fn export_by_id(
        &self,
        scope: &Scope,
        id: &str,
    ) -> Result<SearchHandle, Problem> {
        if !is_link(id) {
            let search = self.coordinator.get_or_rerun(scope, id).await?;
            return search.ok_or_else(|| unknown(id));
        }
        let decoded = Cursor::decode(id, &self.options.links.current());
        let (cursor, query) = decoded.map_err(|bad| match bad {
            BadCursor::Malformed => unknown(id),
            BadCursor::Unsigned => unsigned(),
        })?;
        let search = self.search_again(scope, query, &cursor).await?;
        let answer = finished(&search, None).await?;
        cursor.is_of(&answer).then_some(search).ok_or_else(expired)
    }

    /// Returns the search of a cursor, or searches again over the same documents.
    pub(super) async fn resume(
        &self,
        scope: &Scope,
        cursor: &Cursor,
        parsed: Option<&ParsedQuery>,
    ) -> Result<SearchHandle, Problem> {
        let text = self.params.text("cursor")?.unwrap_or_default();
        let decoded = Cursor::decode(text, &self.options.links.current());
        let (_, query) = decoded.map_err(bad_cursor)?;
        if parsed.is_some_and(|parsed| parsed.query != query) {
            let detail = "the cursor belongs to another query";
            return Err(Problem::bad_request(detail).hint("leave out the query, or the cursor"));
        }
        self.search_again(scope, query, cursor).await
    }

    async fn search_again(
        &self,
        scope: &Scope,
        query: Query,
        cursor: &Cursor,
    ) -> Result<SearchHandle, Problem> {
        let request = SearchRequest {
            client: self.client(cursor.route.0),
            generation: Some(cursor.generation()),
            is_resumed: true,
            ..SearchRequest::new(scope, query)
        };
        let search = self.coordinator.search(request).await;
        search.map_err(|error| match error {
            SearchError::Gone { .. } => {
                let detail = "the cursor has expired: the index has changed, and its documents \
                              are no longer served";
                Problem::gone(detail).hint("search again, from the first page")
            }
            error => error.into(),
        })
    }
}

/// JSON escapes make up to six times the 16 KiB of a query.
pub(crate) const BODY_BYTES_MAX: usize = 128 << 10;

pub(crate) struct Posted(pub(crate) Params);

impl<S: Sync> FromRequest<S> for Posted {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let extensions = request.extensions().clone();
        let body = read_json(request, BODY_BYTES_MAX).await?;
        Ok(Posted(parse(&body)?.sent_by(&extensions)))
    }
}

/// Reads a JSON body of a request without parameters in its address.
pub(super) async fn read_json(request: Request, bytes_max: usize) -> Result<Bytes, Problem> {
    if request.uri().query().is_some_and(|query| !query.is_empty()) {
        let detail = "with POST, parameters go into the body, not the address";
        return Err(Problem::bad_request(detail));
    }
    if !is_json(request.headers()) {
        return Err(Problem::unsupported("the body must be JSON")
            .hint("send the header content-type: application/json"));
    }
    let (parts, body) = request.into_parts();
    read_body(body, bytes_max, &parts.extensions).await
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

fn parse(body: &[u8]) -> Result<Params, Problem> {
    let value = serde_json::from_slice(body)
        .map_err(|error| Problem::bad_request(format!("malformed JSON: {error}")))?;
    let Value::Object(fields) = value else {
        let detail = "the body must be an object";
        return Err(Problem::bad_request(detail).hint(r#"such as {"q": "errno"}"#));
    };
    let mut pairs = Vec::new();
    for (name, value) in fields {
        let values = match value {
            Value::Array(values) => values,
            value => vec![value],
        };
        for value in values {
            pairs.push((name.clone(), text(&name, value)?));
        }
    }
    if pairs.len() > PARAMETERS_MAX {
        let detail = format!("more than {PARAMETERS_MAX} parameters");
        return Err(Problem::bad_request(detail));
    }
    Ok(Params::of(pairs))
}

fn text(name: &str, value: Value) -> Result<Vec<u8>, Problem> {
    match value {
        Value::String(text) => Ok(text.into_bytes()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string().into_bytes()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            let detail = format!("{name}: expected a string, a number or a boolean");
            Err(Problem::bad_request(detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_parameters_of_an_address() {
        let params = parse(br#"{"q": "a\u0000b", "lang": ["C", "-Go"], "page": 2, "wait": false}"#);
        let params = params.unwrap();
        assert_eq!(params.bytes("q"), Some(&b"a\0b"[..]));
        assert_eq!(params.bytes("page"), Some(&b"2"[..]));
        assert_eq!(params.bytes("wait"), Some(&b"false"[..]));
        assert_eq!(params.filters().count(), 2);
    }

    #[test]
    fn rejects_everything_but_an_object_of_values() {
        for bad in [
            "",
            "{",
            "[]",
            "7",
            r#"{"q": null}"#,
            r#"{"q": {}}"#,
            r#"{"q": [[]]}"#,
        ] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
        let many = format!("{{\"lang\": [{}1]}}", "1,".repeat(PARAMETERS_MAX));
        assert!(parse(many.as_bytes()).is_err());
        let deep = format!("{{\"q\": {}{}}}", "[".repeat(30_000), "]".repeat(30_000));
        assert!(parse(deep.as_bytes()).is_err());
    }
}
