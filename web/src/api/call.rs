//! Search that a request to the API names.

pub(super) use crate::state::Call;

use crate::http::watched::Watched;
use crate::problem::Problem;
use crate::search::cursor::{BadCursor, Cursor};
use crate::search::join::{
    self, bad_cursor, expired, finished, is_link, route_of, unknown, unsigned,
};
use frontend::query::{ParsedQuery, Query};
use frontend::{Scope, SearchClient, SearchError, SearchHandle, SearchRequest};
use schema::message::TextOrder;

impl Call {
    pub(super) fn expect(&self, known: &[&[&str]]) -> Result<(), Problem> {
        self.params.expect(known)
    }

    pub(super) fn identity(&self, scope: &Scope, query: &Query) -> String {
        join::identity(&self.coordinator, scope, &self.params, query)
    }

    pub(super) fn watched(&self, scope: &Scope) -> Watched {
        Watched::new(&self.coordinator, &self.viewer, scope)
    }

    /// Like [`join::start`], with a notice if only the default revisions are searched.
    pub(super) async fn start(
        &self,
        scope: &Scope,
        parsed: &mut ParsedQuery,
    ) -> Result<SearchHandle, Problem> {
        let coordinator = &self.coordinator;
        let search = join::start(coordinator, scope, &self.params, parsed).await?;
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
