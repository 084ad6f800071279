//! Starts the search of a request, and reads its [`View`]: a page of the answer.
//!
//! The JSON API and the pages start searches here. Others (`dcs`, tools of agents, suggestions)
//! call the coordinator.

use crate::problem::Problem;
use crate::search::choice::{Copies, Group};
use crate::search::cursor::{BadCursor, Cursor, Route};
use crate::search::params::{Params, Wait};
use access::LinkKeys;
use frontend::page::{
    DOCUMENTS_PER_PAGE_DEFAULT, PACKAGES_PER_PAGE_DEFAULT, PER_DOCUMENT_DEFAULT, PER_DOCUMENT_MAX,
    PER_PACKAGE_DEFAULT, PER_PACKAGE_MAX, PER_PAGE_DEFAULT, PER_PAGE_MAX, PageRange,
};
use frontend::query::{ParsedQuery, Query};
use frontend::{
    Coordinator, DocumentGroup, FacetsSoFar, Match, PackageGroup, Scope, SearchError, SearchHandle,
    SearchRequest, SearchResult, SpoolError,
};
use schema::message::Want;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Digits of a search id. Links are longer.
const ID_LEN: usize = 32;

/// Life of an execution without a client, which may come back by its id.
pub(crate) const KEEP: Duration = Duration::from_secs(30);

/// Divisor of the timeout: share of the wait for pending changes.
const WAIT_SHARE: u32 = 2;

/// The timeout of the parameters overrides that of the query. With `wait=fresh`, earlier changes
/// are indexed first, for at most half of the time.
pub(crate) async fn start(
    coordinator: &Coordinator,
    scope: &Scope,
    params: &Params,
    parsed: &ParsedQuery,
) -> Result<SearchHandle, Problem> {
    let timeout = params.timeout(coordinator.config().timeout_max)?;
    let mut timeout = timeout.or(parsed.timeout);
    let generation = params.generation()?;
    if params.wait()? == Wait::Fresh && generation.is_none() {
        timeout = Some(wait_until_fresh(coordinator, timeout).await);
    }
    let request = SearchRequest {
        client: params.search_client(),
        generation: generation.map(str::to_owned),
        timeout,
        ..SearchRequest::new(scope, parsed.query.clone())
    };
    Ok(coordinator.search(request).await?)
}

/// Returns the rest of the search's time.
pub(crate) async fn wait_until_fresh(
    coordinator: &Coordinator,
    timeout: Option<Duration>,
) -> Duration {
    let begun = Instant::now();
    let timeout = timeout.unwrap_or(coordinator.config().timeout);
    coordinator.wait_until_fresh(timeout / WAIT_SHARE).await;
    timeout.saturating_sub(begun.elapsed())
}

/// Returns true if a client's cached answer may be revalidated: nothing is pending.
pub(crate) fn may_be_known(coordinator: &Coordinator, params: &Params) -> bool {
    coordinator.pending() == 0 && params.bytes("wait") != Some(b"fresh")
}

/// Locates a backend's error in the typed query.
pub(crate) async fn finished(
    search: &SearchHandle,
    parsed: Option<&ParsedQuery>,
) -> Result<Arc<SearchResult>, Problem> {
    let finished = search.finished().await;
    finished.map_err(|error| located(error, parsed))
}

pub(crate) fn located(error: SearchError, parsed: Option<&ParsedQuery>) -> Problem {
    let located = match (error, parsed) {
        (SearchError::BadQuery(bad), Some(parsed)) => SearchError::BadQuery(parsed.locate(bad)),
        (error, _) => error,
    };
    located.into()
}

/// Matches by package, most first, and by language, kind and directory. `None` if not all matches
/// were sent. Blocks on the disk.
pub(crate) fn facets(answer: &SearchResult) -> Result<Option<FacetsSoFar>, SpoolError> {
    if matches!(answer.query().want, Want::Count | Want::Estimate) {
        return Ok(None);
    }
    let Some(others) = answer.facets()? else {
        return Ok(None);
    };
    let packages = answer.package_list(0..answer.packages())?.into_iter();
    let mut packages: Vec<_> = packages
        .map(|package| (package.name, package.total))
        .collect();
    // Stable: ties stay in the order of their best match.
    packages.sort_by_key(|(_, total)| Reverse(*total));
    Ok(Some(FacetsSoFar { packages, others }))
}

/// At the start of an id or a link.
pub(crate) fn route_of(id: &str) -> Option<u32> {
    u32::from_str_radix(id.get(..8)?, 16).ok()
}

pub(crate) fn is_link(id: &str) -> bool {
    id.len() > ID_LEN
}

/// Route of the cursor or the id, else of the query as typed.
pub(crate) fn route(view: &View, params: &Params, id: Option<&str>) -> Route {
    if let Start::Cursor(cursor) = view.start {
        return cursor.route;
    }
    let of_id = id.and_then(route_of);
    of_id.map_or_else(|| Route::of(params.bytes("q")), Route)
}

/// Identity of a query over the requested or current generation.
pub(crate) fn identity(
    coordinator: &Coordinator,
    scope: &Scope,
    params: &Params,
    query: &Query,
) -> String {
    match params.generation() {
        Ok(Some(generation)) => query.identity(scope, generation),
        _ => coordinator.identity(scope, query),
    }
}

pub(crate) fn expired() -> Problem {
    Problem::gone("the cursor has expired: its answer is no longer kept")
        .hint("search again, from the first page")
}

pub(crate) fn unknown(id: &str) -> Problem {
    Problem::missing(format!("no search has the id {id}, or it has expired")).hint("search again")
}

/// Page of an answer, and its grouping.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) start: Start,
    /// Matches, packages or documents, by `group`.
    pub(crate) per_page: usize,
    pub(crate) group: Group,
    /// Packages always list all copies.
    pub(crate) copies: Copies,
    /// Matches in each package or document.
    pub(crate) per_group: usize,
}

pub(crate) enum Items {
    Matches(Vec<Match>),
    Packages(Vec<(PackageGroup, Vec<Match>)>),
    /// Documents with their match counts, if counted. Matches are [`in_line_order`].
    Documents(Vec<(Option<u64>, Vec<Match>)>),
}

impl Items {
    pub(crate) fn matches(&self) -> Vec<&Match> {
        match self {
            Items::Matches(found) => found.iter().collect(),
            Items::Packages(packages) => packages.iter().flat_map(|(_, found)| found).collect(),
            Items::Documents(documents) => documents.iter().flat_map(|(_, found)| found).collect(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    Page(usize),
    Cursor(Cursor),
}

impl View {
    /// `group` and `copies` are the defaults.
    pub(crate) fn parse(
        params: &Params,
        links: &LinkKeys,
        group: Group,
        copies: Copies,
    ) -> Result<View, Problem> {
        let copies = params.copies(copies)?;
        let (group, copies, start) = match cursor(params, links)? {
            None => {
                let page = Start::Page(params.number("page", 0)?);
                (params.group(group)?, copies, page)
            }
            Some(cursor) => (cursor.group, cursor.copies, Start::Cursor(cursor)),
        };
        let default = match group {
            Group::None => PER_PAGE_DEFAULT,
            Group::Package => PACKAGES_PER_PAGE_DEFAULT,
            Group::Document => DOCUMENTS_PER_PAGE_DEFAULT,
        };
        let per_page = params.bounded("per_page", default, PER_PAGE_MAX)?;
        let per_package = params.bounded("per_package", PER_PACKAGE_DEFAULT, PER_PACKAGE_MAX)?;
        let per_document =
            params.bounded("per_document", PER_DOCUMENT_DEFAULT, PER_DOCUMENT_MAX)?;
        Ok(View {
            start,
            per_page,
            group,
            copies,
            per_group: match group {
                Group::Document => per_document,
                Group::None | Group::Package => per_package,
            },
        })
    }

    pub(crate) fn page(&self) -> usize {
        match self.start {
            Start::Page(page) => page,
            Start::Cursor(cursor) => cursor.offset as usize / self.per_page,
        }
    }

    pub(crate) fn items(&self, answer: &SearchResult) -> Result<usize, Problem> {
        Ok(match self.group {
            Group::None => match self.copies {
                Copies::All => answer.len(),
                Copies::Folded => answer.unique().ok_or_else(|| {
                    Problem::bad_request("copies=folded needs all matches, and limits reduce those")
                        .hint("leave out copies, or limit and want=count")
                })?,
            },
            Group::Package => answer.packages(),
            Group::Document => match self.copies {
                Copies::All => answer.documents_listed()?,
                Copies::Folded => answer.unique_documents_listed()?,
            },
        })
    }

    pub(crate) fn slice(&self, answer: &SearchResult, items: usize) -> Result<PageRange, Problem> {
        match self.start {
            Start::Page(page) => Ok(PageRange::new(items, page, self.per_page)?),
            Start::Cursor(cursor) if cursor.is_of(answer) => Ok(PageRange::from(
                items,
                cursor.offset as usize,
                self.per_page,
            )),
            Start::Cursor(_) => Err(expired()),
        }
    }

    /// Blocks on the disk.
    pub(crate) fn read(
        &self,
        answer: &SearchResult,
        range: Range<usize>,
    ) -> Result<Items, SpoolError> {
        Ok(match self.group {
            Group::None => {
                let positions = match self.copies {
                    Copies::All => (range.start as u64..range.end as u64).collect(),
                    Copies::Folded => answer.unique_positions(range)?,
                };
                Items::Matches(answer.matches_with_copies(&positions)?)
            }
            Group::Package => {
                let packages = answer.package_list(range)?.into_iter();
                let read = |package: PackageGroup| {
                    let matches = answer.matches_of(&package, self.per_group)?;
                    Ok((package, matches))
                };
                Items::Packages(packages.map(read).collect::<Result<_, SpoolError>>()?)
            }
            Group::Document => {
                let documents = match self.copies {
                    Copies::All => answer.document_list(range)?,
                    Copies::Folded => answer.unique_documents(range)?,
                };
                let documents = documents.into_iter();
                let read = |document: DocumentGroup| {
                    let first = document.first.len().min(self.per_group);
                    let mut matches = answer.matches_with_copies(&document.first[..first])?;
                    in_line_order(&mut matches);
                    Ok((document.total, matches))
                };
                Items::Documents(documents.map(read).collect::<Result<_, SpoolError>>()?)
            }
        })
    }
}

pub(crate) fn bad_cursor(bad: BadCursor) -> Problem {
    match bad {
        BadCursor::Malformed => Problem::bad_request("the cursor is malformed")
            .hint("use `next` of an earlier page, unchanged"),
        BadCursor::Unsigned => unsigned(),
    }
}

pub(crate) fn unsigned() -> Problem {
    let detail =
        "the cursor was changed, or signed with a secret that this server does not have (any more)";
    Problem::bad_request(detail).hint("search again, from the first page")
}

/// Sorts the matches of a document by line. Each context line is kept once, and not where it is a
/// match.
pub(crate) fn in_line_order(matches: &mut [Match]) {
    matches.sort_by_key(|found| (found.line, found.offset));
    let starts: Vec<u32> = matches.iter().map(|found| found.line).collect();
    let following = starts.into_iter().skip(1).chain([u32::MAX]);
    let mut next = 0;
    for (found, following) in matches.iter_mut().zip(following) {
        found.before.retain(|line| line.line >= next);
        next = next.max(found.line.saturating_add(found.lines.max(1)));
        found
            .after
            .retain(|line| line.line >= next && line.line < following);
        let last = found.after.last();
        next = last.map_or(next, |last| last.line.saturating_add(1));
    }
}

fn cursor(params: &Params, links: &LinkKeys) -> Result<Option<Cursor>, Problem> {
    let Some(text) = params.text("cursor")? else {
        return Ok(None);
    };
    let (cursor, _) = Cursor::decode(text, links).map_err(bad_cursor)?;
    if params.bytes("page").is_some() {
        let detail = "page and cursor both set where the page begins";
        return Err(Problem::bad_request(detail).hint("leave out page"));
    }
    if params.bytes("group").is_some() && params.group(cursor.group)? != cursor.group {
        let detail = "the cursor belongs to an answer with another group";
        return Err(Problem::bad_request(detail).hint("leave out group"));
    }
    if params.copies(cursor.copies)? != cursor.copies {
        let detail = "the cursor belongs to an answer with other copies";
        return Err(Problem::bad_request(detail).hint("leave out copies"));
    }
    Ok(Some(cursor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_of_a_document_ascend_and_each_line_of_context_is_there_once() {
        let context = |lines: std::ops::RangeInclusive<u32>| {
            let line = |line| frontend::ContextLine {
                line,
                text: Vec::new(),
                window: None,
            };
            lines.map(line).collect::<Vec<_>>()
        };
        let found = |line: u32, lines: u32| Match {
            line,
            lines,
            before: context(line - 2..=line - 1),
            after: context(line + lines..=line + lines + 1),
            ..Match::default()
        };
        let mut matches = [
            found(20, 1),
            found(7, 1),
            found(9, 3),
            found(10, 1),
            found(13, 1),
        ];
        in_line_order(&mut matches);
        let numbers = |lines: &[frontend::ContextLine]| -> Vec<u32> {
            lines.iter().map(|line| line.line).collect()
        };
        let shown: Vec<_> = matches
            .iter()
            .map(|found| (numbers(&found.before), found.line, numbers(&found.after)))
            .collect();
        assert_eq!(
            shown,
            [
                (vec![5, 6], 7, vec![8]),
                (vec![], 9, vec![]),
                (vec![], 10, vec![12]),
                (vec![], 13, vec![14, 15]),
                (vec![18, 19], 20, vec![21, 22]),
            ]
        );
    }

    fn parse(query: &str) -> Result<View, Problem> {
        let params = Params::parse(query).unwrap();
        View::parse(&params, &LinkKeys::default(), Group::None, Copies::All)
    }

    #[test]
    fn rejects_numbers_out_of_bounds() {
        let bad = [
            "per_page=0",
            "per_page=1001",
            "per_page=-1",
            "per_page=x",
            "per_package=11",
            "per_document=6",
            "page=-1",
            "copies=",
            "copies=none",
        ];
        for bad in bad {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let view = |query| parse(query).unwrap();
        assert_eq!(view("per_page=1000").per_page, 1000);
        assert_eq!((view("").per_page, view("group=package").per_page), (10, 5));
        let by_document = view("group=document&per_document=5");
        assert_eq!((by_document.per_page, by_document.per_group), (10, 5));
    }
}
