//! One call of a tool: its view of the corpus, its searches, and its failure.

use super::guess;
use frontend::query::{BadQuery, ParsedQuery, Query, QueryInput};
use frontend::{Coordinator, Scope, SearchError, SearchRequest, SearchResult, joined};
use schema::message::{Expr, Field, Want};
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

/// Time limit of a search that helps to understand another.
pub(super) const HELP_MAX: Duration = Duration::from_millis(400);

/// Error that the model reads.
#[derive(Debug)]
pub(super) struct Failure(pub(super) String);

#[derive(Clone)]
pub(super) struct Call {
    pub(super) coordinator: Arc<Coordinator>,
    pub(super) scope: Scope,
    /// Number of the caller, or 0.
    pub(super) client: u64,
}

/// Parses a query, also in the forms of other tools. Returns notes on readings that its writer may
/// not expect.
pub(super) fn parse(typed: &str, regexp: bool) -> Result<(ParsedQuery, Vec<String>), Failure> {
    if regexp {
        return Ok((parsed(typed, Some("regexp"), &[])?, Vec::new()));
    }
    let (query, mut notes) = guess::translated(typed);
    let parsed = parsed(&query, None, &[])?;
    notes.extend(parsed.notices.iter().map(|notice| match &notice.hint {
        Some(hint) => format!("{} ({hint})", notice.reason),
        None => notice.reason.clone(),
    }));
    Ok((parsed, notes))
}

/// Parses a query and filters, without context lines unless it asks for them.
pub(super) fn parsed(
    q: &str,
    mode: Option<&str>,
    filters: &[(Field, &str)],
) -> Result<ParsedQuery, Failure> {
    let mut input = QueryInput::default();
    (input.q, input.mode, input.filters, input.context) = (q, mode, filters, Some("0"));
    Ok(Query::parse(&input)?)
}

impl Call {
    /// Searches the current index, or `generation`. Dropping the future stops the search.
    pub(super) async fn find(
        &self,
        parsed: &ParsedQuery,
        generation: Option<&str>,
    ) -> Result<Arc<SearchResult>, Failure> {
        let request = SearchRequest {
            client: self.client.into(),
            timeout: parsed.timeout,
            is_resumed: generation.is_some(),
            generation: generation.map(str::to_owned),
            ..SearchRequest::new(&self.scope, parsed.query.clone())
        };
        let search = self.coordinator.search(request).await?;
        let answer = search.finished().await.map_err(|error| match error {
            SearchError::BadQuery(bad) => parsed.locate(bad).into(),
            other => Failure::from(other),
        })?;
        if answer.is_unavailable() {
            return Err(Failure::of("no backend answers; try again"));
        }
        Ok(answer)
    }

    /// Counts the matches of an expression; `None` if that takes long.
    pub(super) async fn count(&self, expr: Expr, names: bool) -> Option<u64> {
        let query = Query::new(expr, 0).ok()?;
        let query = if names { query.of_names() } else { query };
        let request = SearchRequest {
            client: self.client.into(),
            timeout: Some(HELP_MAX),
            ..SearchRequest::new(&self.scope, query.wanting(Want::Count, 0).ok()?)
        };
        let counted = async {
            let search = self.coordinator.search(request).await.ok()?;
            search.finished().await.ok()
        };
        let answer = tokio::time::timeout(HELP_MAX, counted).await.ok()??;
        answer.is_complete().then(|| answer.found())
    }
}

/// Reads results away from the runtime's workers, as that may block on the disk.
pub(super) async fn reading<T: Send + 'static, E: Display + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Failure> {
    let read = joined(tokio::task::spawn_blocking(work)).await;
    read.map_err(|error| Failure(format!("cannot read the result: {error}")))
}

impl Failure {
    pub(super) fn of(error: impl Display) -> Failure {
        Failure(error.to_string())
    }
}

impl From<BadQuery> for Failure {
    fn from(bad: BadQuery) -> Failure {
        let place = match (bad.at, &bad.filter) {
            (Some(at), None) => format!("the query at byte {at}: "),
            _ => String::new(),
        };
        let hint = bad.hint.map_or(String::new(), |hint| format!("; {hint}"));
        Failure(format!("{place}{}{hint}", bad.reason))
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Failure {
        match error {
            SearchError::BadQuery(bad) => bad.into(),
            other => Failure::of(other),
        }
    }
}
