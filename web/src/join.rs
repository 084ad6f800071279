//! How a request gets its search: started by a query, joined by an id, or resumed by a cursor.
//!
//! All interfaces go through here; none starts a search in another way, except the API of Debian Code
//! Search, whose queries have no timeout and no generation.

use crate::cursor::Cursor;
use crate::params::Params;
use crate::problem::Problem;
use crate::state::App;
use frontend::query::{ParsedQuery, Query};
use frontend::{SearchError, SearchHandle, SearchResult};
use std::sync::Arc;

/// Starts the search for a query, or joins it. The timeout is that of the parameters, else of the query.
pub(crate) async fn start(
    app: &App,
    params: &Params,
    parsed: &ParsedQuery,
) -> Result<SearchHandle, Problem> {
    let timeout = params.timeout(app.coordinator.config().timeout_max)?;
    let timeout = timeout.or(parsed.timeout);
    let generation = params.generation()?;
    let search = app
        .coordinator
        .search_within(parsed.query.clone(), generation, timeout);
    Ok(search.await?)
}

/// Waits for the answer. A fault that a backend finds in the query is located in what the user typed.
pub(crate) async fn finished(
    search: &SearchHandle,
    parsed: Option<&ParsedQuery>,
) -> Result<Arc<SearchResult>, Problem> {
    let finished = search.finished().await;
    Ok(finished.map_err(|error| match (error, parsed) {
        (SearchError::BadQuery(bad), Some(parsed)) => SearchError::BadQuery(parsed.locate(bad)),
        (error, _) => error,
    })?)
}

/// Returns the search with this id, or searches again if its result was evicted.
pub(crate) async fn by_id(app: &App, id: &str) -> Result<SearchHandle, Problem> {
    let search = app.coordinator.get_or_rerun(id).await?;
    search.ok_or_else(|| unknown(id))
}

/// Returns the search of a cursor, or searches again over the same documents.
pub(crate) async fn resume(
    app: &App,
    cursor: &Cursor,
    parsed: Option<&ParsedQuery>,
) -> Result<SearchHandle, Problem> {
    let (id, generation) = (cursor.search(), cursor.generation());
    if let Some(parsed) = parsed
        && parsed.query.identity(&generation) != id
    {
        let detail = "the cursor belongs to another query or generation";
        return Err(Problem::bad_request(detail).hint("leave out the query, or the cursor"));
    }
    let found = match app.coordinator.get_or_rerun(&id).await {
        Ok(None) => match parsed {
            None => return Err(expired()),
            Some(ParsedQuery { query, .. }) => {
                let query = query.clone();
                let search = app
                    .coordinator
                    .search_within(query, Some(&generation), None);
                search.await.map(Some)
            }
        },
        found => found,
    };
    match found {
        Ok(Some(search)) => Ok(search),
        Ok(None) | Err(SearchError::Gone { .. }) => Err(expired()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the id that a query has over the generation that the parameters name.
pub(crate) fn identity(app: &App, params: &Params, query: &Query) -> String {
    match params.generation() {
        Ok(Some(generation)) => query.identity(generation),
        _ => app.coordinator.identity(query),
    }
}

/// The problem of a cursor whose answer was evicted.
pub(crate) fn expired() -> Problem {
    Problem::gone("the cursor has expired: its answer is no longer kept")
        .hint("search again, from the first page")
}

/// The problem of an id without a search.
pub(crate) fn unknown(id: &str) -> Problem {
    Problem::missing(format!("no search has the id {id}, or it has expired")).hint("search again")
}
