//! The facets of a page of results: how many matches each package, language, kind and directory has, with links
//! that keep only those, or all others.
//!
//! The counts of an answer are exact. While a search runs they are of what has arrived, and the script asks for
//! them again ([`fragment`]).

use super::filters;
use super::form::Form;
use super::narrowed::{Narrowed, only};
use super::visible;
use crate::join;
use crate::params::Params;
use crate::problem::Problem;
use crate::response::NO_STORE;
use crate::state::{App, blocking};
use crate::viewer::Viewer;
use askama::Template;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use frontend::query::selecting;
use frontend::{FacetsSoFar, SearchHandle, SearchResult, SpoolError};
use schema::message::{DocumentKind, Facet, Field, Filter, Reading, Want};
use std::time::Duration;

/// Values of a list that are shown at once.
const SHOWN_MAX: usize = 8;

/// Values of a list on the page. The API lists more.
const LISTED_MAX: usize = 24;

/// How long a request for the facets alone waits for its search: the script asks again.
const WAIT: Duration = Duration::from_millis(50);

/// The lists of a page; none if there are no counts.
#[derive(Clone, Debug, Default)]
pub(super) struct FacetsView {
    pub(super) lists: Vec<FacetList>,
    /// The address of the next counts, while the search runs.
    pub(super) next: Option<String>,
}

/// The values of a property, those with the most matches first.
#[derive(Clone, Debug)]
pub(super) struct FacetList {
    /// Names it among the ids of the page.
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) rows: Vec<FacetRow>,
    /// Values that are not listed.
    pub(super) behind: u64,
}

/// A value and how many matches have it.
#[derive(Clone, Debug)]
pub(super) struct FacetRow {
    pub(super) label: String,
    pub(super) count: u64,
    /// The addresses of the query with only these matches, and with all others; `None` if no filter can say
    /// it.
    pub(super) only: Option<String>,
    pub(super) others: Option<String>,
    /// Whether the query has a filter for it; then `only` is the address without that.
    pub(super) selected: bool,
}

#[derive(Template)]
#[template(path = "facets.html")]
struct Fragment {
    facets: FacetsView,
}

impl FacetList {
    pub(super) fn first(&self) -> &[FacetRow] {
        &self.rows[..self.rows.len().min(SHOWN_MAX)]
    }

    pub(super) fn rest(&self) -> &[FacetRow] {
        &self.rows[self.first().len()..]
    }
}

impl FacetsView {
    /// The facets of an answer; none if not all of its matches were sent. Blocks on the disk.
    pub(super) fn of_answer(answer: &SearchResult, form: &Form) -> Result<FacetsView, SpoolError> {
        let query = answer.query();
        if matches!(query.want(), Want::Count | Want::Estimate) || answer.is_empty() {
            return Ok(FacetsView::default());
        }
        let Some(others) = answer.facets()? else {
            return Ok(FacetsView::default());
        };
        let packages = answer.package_list(0..answer.packages())?;
        let mut packages: Vec<Facet> = packages
            .into_iter()
            .map(|package| (package.name, package.total))
            .collect();
        // Stable: packages with as many matches stay in the order of their best match.
        packages.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
        let counts = FacetsSoFar { packages, others };
        Ok(FacetsView {
            lists: lists(counts, &Narrowed::new(form, query)),
            next: None,
        })
    }

    /// What is known while a search runs.
    pub(super) fn so_far(search: &SearchHandle, form: &Form) -> FacetsView {
        let with_id = Form {
            run: Some(search.id().to_owned()),
            ..form.clone()
        };
        FacetsView {
            lists: lists(search.facets_so_far(), &Narrowed::new(form, search.query())),
            next: Some(with_id.href_facets()),
        }
    }
}

/// Shows the facets alone.
pub(crate) async fn fragment(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Response, Problem> {
    let form = Form::new(&params);
    let parsed = params.parsed()?;
    let scope = viewer.scope(&app).await?;
    let known = form.run.as_deref();
    let known = known.and_then(|id| app.coordinator.get(&scope, id));
    let search = match known.filter(|search| *search.query() == parsed.query) {
        Some(search) => search,
        None => join::start(&app, &scope, &params, &parsed).await?,
    };
    let finished = tokio::time::timeout(WAIT, join::finished(&search, Some(&parsed))).await;
    let facets = match finished {
        Ok(answer) => {
            let answer = answer?;
            blocking(move || FacetsView::of_answer(&answer, &form)).await?
        }
        Err(_) => FacetsView::so_far(&search, &form),
    };
    let html = Fragment { facets }.render().expect("a page fits in memory");
    Ok(([(header::CACHE_CONTROL, NO_STORE)], Html(html)).into_response())
}

fn lists(counts: FacetsSoFar, narrowed: &Narrowed<'_>) -> Vec<FacetList> {
    let FacetsSoFar { packages, others } = counts;
    let row =
        |field: Field| move |(name, count): &Facet| FacetRow::new(narrowed, field, name, *count);
    let kinds = DocumentKind::ALL.into_iter().zip(others.kinds);
    let kinds = kinds.filter(|(_, count)| *count > 0);
    let mut kinds: Vec<FacetRow> = kinds
        .map(|(kind, count)| {
            let row = FacetRow::new(narrowed, Field::Kind, kind.name().as_bytes(), count);
            FacetRow {
                label: kind_label(kind).to_owned(),
                ..row
            }
        })
        .collect();
    kinds.sort_by_key(|row| std::cmp::Reverse(row.count));
    let directory = |(name, count): &Facet| FacetRow::directory(narrowed, name, *count);
    let all = [
        FacetList::new("package", "Packages", &packages, row(Field::Package)),
        FacetList::new("lang", "Languages", &others.languages, row(Field::Language)),
        FacetList {
            key: "kind",
            title: "Kinds of file",
            rows: kinds,
            behind: 0,
        },
        FacetList::new("path", "Directories", &others.directories, directory),
    ];
    all.into_iter()
        .filter(|list| !list.rows.is_empty())
        .collect()
}

impl FacetList {
    fn new(
        key: &'static str,
        title: &'static str,
        facets: &[Facet],
        row: impl Fn(&Facet) -> FacetRow,
    ) -> FacetList {
        FacetList {
            key,
            title,
            rows: facets.iter().take(LISTED_MAX).map(row).collect(),
            behind: facets.len().saturating_sub(LISTED_MAX) as u64,
        }
    }
}

impl FacetRow {
    /// A value with an exact filter.
    fn new(narrowed: &Narrowed<'_>, field: Field, name: &[u8], count: u64) -> FacetRow {
        let filter = str::from_utf8(name).ok().filter(|name| !name.is_empty());
        let filter = filter.map(|name| Filter {
            field,
            reading: Reading::Exact,
            text: name.to_owned(),
        });
        let label = match name {
            b"" => "unknown".to_owned(),
            name => visible::plain(name),
        };
        FacetRow::with_filter(narrowed, label, count, filter)
    }

    /// A directory, which keeps what is below it; or the files of the directory that is selected already.
    fn directory(narrowed: &Narrowed<'_>, name: &[u8], count: u64) -> FacetRow {
        let is_selected = narrowed
            .directory()
            .is_some_and(|directory| directory.strip_suffix(b"/").is_some_and(|it| it == name));
        let text = str::from_utf8(name).ok().map(|name| match name {
            "" => "^[^/]*$".to_owned(),
            name if is_selected => format!("{}[^/]*$", selecting(name)),
            name => selecting(name),
        });
        let filter = text.map(|text| Filter {
            field: Field::Path,
            reading: Reading::Regexp,
            text,
        });
        let label = match name {
            b"" => "(files at the top)".to_owned(),
            name if is_selected => format!("(files in {}/)", visible::plain(name)),
            name => format!("{}/", visible::plain(name)),
        };
        FacetRow::with_filter(narrowed, label, count, filter)
    }

    fn with_filter(
        narrowed: &Narrowed<'_>,
        label: String,
        count: u64,
        filter: Option<Filter>,
    ) -> FacetRow {
        let filter = filter.and_then(|filter| only(&filter));
        let without = filter.as_ref().and_then(|filter| narrowed.without(filter));
        FacetRow {
            label,
            count,
            selected: without.is_some(),
            others: filter
                .as_ref()
                .filter(|_| without.is_none())
                .map(|filter| narrowed.others(filter)),
            only: without.or_else(|| filter.as_ref().map(|filter| narrowed.only(filter))),
        }
    }
}

fn kind_label(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Source => "source",
        DocumentKind::Documentation => "documentation, other",
        DocumentKind::Tests => "tests, examples",
        DocumentKind::Vendored => "vendored, generated",
    }
}
