//! Facets of a page of results.
//!
//! Counts of an answer are exact. Those of a running search cover the matches so far, and the
//! script reloads them ([`fragment`]). Unselected values of a list are counted by a search without
//! the filters of that list.

use super::form::{Form, FormFilter};
use super::selected::{Selection, Ticked, exactly, parameter};
use super::{filters, visible};
use crate::http::blocking;
use crate::http::response::no_store;
use crate::model::symbol_counts;
use crate::problem::Problem;
use crate::search::params::Params;
use crate::search::run;
use crate::state::Call;
use askama::Template;
use axum::response::{Html, Response};
use frontend::query::selecting;
use frontend::{FacetsSoFar, Scope, SearchHandle, SearchResult, SpoolError};
use schema::message::{DocumentKind, Expr, Facet, Field, Filter, Reading, SpoolFacets};
use std::time::Duration;
use tokio::time::timeout;

const SHOWN_MAX: usize = 8;

/// The API lists more.
const LISTED_MAX: usize = 24;

/// The script repeats a request after this time.
const WAIT: Duration = Duration::from_millis(50);

/// Limit of counting unselected values, per list; after it, the list links to all values.
const WIDER_MAX: Duration = Duration::from_millis(1000);

const UNKNOWN: &str = "unknown";

#[derive(Clone, Debug, Default)]
pub(super) struct FacetsView {
    pub(super) lists: Vec<FacetList>,
    /// Parameters besides those of the boxes.
    pub(super) hidden: Vec<(String, String)>,
    /// Address of later counts, if any will follow.
    pub(super) next: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct FacetList {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) rows: Vec<FacetRow>,
    pub(super) behind: u64,
    pub(super) all: Option<String>,
}

#[derive(Template)]
#[template(path = "facets.html")]
struct Fragment {
    facets: FacetsView,
}

/// Counts of fields, without filters by them.
type Wider = Vec<(Ticked, Vec<Facet>)>;

impl FacetList {
    pub(super) fn first(&self) -> &[FacetRow] {
        &self.rows[..self.rows.len().min(SHOWN_MAX)]
    }

    pub(super) fn rest(&self) -> &[FacetRow] {
        &self.rows[self.first().len()..]
    }
}

impl FacetsView {
    /// Empty if not all matches were sent. Blocks on the disk.
    pub(super) fn of_answer(answer: &SearchResult, form: &Form) -> Result<FacetsView, SpoolError> {
        let view = FacetsView::with_wider(answer, form, &Vec::new())?;
        let has_more = view.lists.iter().any(|list| list.all.is_some());
        Ok(FacetsView {
            next: has_more.then(|| form.href_facets()),
            ..view
        })
    }

    fn with_wider(
        answer: &SearchResult,
        form: &Form,
        wider: &Wider,
    ) -> Result<FacetsView, SpoolError> {
        let Some(counts) = counts(answer)? else {
            return Ok(FacetsView::default());
        };
        let directory = answer.query().directory();
        Ok(FacetsView::new(counts, form, directory, wider))
    }

    pub(super) fn so_far(search: &SearchHandle, form: &Form) -> FacetsView {
        let with_id = Form {
            run: Some(search.id().to_owned()),
            ..form.clone()
        };
        let directory = search.query().directory();
        FacetsView {
            next: Some(with_id.href_facets()),
            ..FacetsView::new(search.facets_so_far(), form, directory, &Vec::new())
        }
    }

    fn new(
        counts: FacetsSoFar,
        form: &Form,
        directory: Option<Vec<u8>>,
        wider: &Wider,
    ) -> FacetsView {
        let mut query = Selection::new(form, directory);
        let own = Ticked::ALL.map(|list| of_list(&counts, list));
        for (list, own) in Ticked::ALL.into_iter().zip(&own) {
            query.recognise(list, &names(own).collect::<Vec<_>>());
        }
        let of_list = |(of, own): (Ticked, &Vec<Facet>)| {
            let wider = wider.iter().find(|(other, _)| *other == of);
            let all = wider.map_or(own, |(_, facets)| facets);
            list(&query, of, own, all)
        };
        let directory = |(name, count): &Facet| FacetRow::directory(&query, name, *count);
        let directories = &counts.others.directories;
        let mut lists: Vec<_> = Ticked::ALL.into_iter().zip(&own).map(of_list).collect();
        lists.push(FacetList {
            key: "path",
            title: "Directories",
            rows: directories.iter().take(LISTED_MAX).map(directory).collect(),
            behind: directories.len().saturating_sub(LISTED_MAX) as u64,
            all: None,
        });
        lists.retain(|list| !list.rows.is_empty());
        FacetsView {
            lists,
            hidden: query.fields(),
            next: None,
        }
    }
}

/// `None` without matches, or if not all were sent. Blocks on the disk.
fn counts(answer: &SearchResult) -> Result<Option<FacetsSoFar>, SpoolError> {
    if answer.is_empty() {
        return Ok(None);
    }
    run::facets(answer)
}

fn of_list(counts: &FacetsSoFar, list: Ticked) -> Vec<Facet> {
    match list {
        Ticked::Package => counts.packages.clone(),
        Ticked::Language => counts.others.languages.iter().map(named).collect(),
        Ticked::Kind => kinds(&counts.others),
        Ticked::Symbol => symbol_counts(&counts.others.symbols),
    }
}

/// Names the empty language as queries do.
fn named((name, count): &Facet) -> Facet {
    match &name[..] {
        b"" => (UNKNOWN.as_bytes().to_vec(), *count),
        name => (name.to_vec(), *count),
    }
}

fn kinds(counts: &SpoolFacets) -> Vec<Facet> {
    let kinds = DocumentKind::ALL.into_iter().zip(counts.kinds);
    let kinds = kinds.filter(|(_, count)| *count > 0);
    let mut kinds: Vec<Facet> = kinds
        .map(|(kind, count)| (kind.name().as_bytes().to_vec(), count))
        .collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    kinds
}

pub(crate) async fn fragment(call: Call) -> Result<Response, Problem> {
    let params = &call.params;
    let form = Form::new(params);
    let parsed = params.parsed()?;
    let scope = call.viewer.scope().await?;
    let search = match form.known_search(&call.coordinator, &scope, &parsed) {
        Some(search) => search,
        None => run::start(&call.coordinator, &scope, params, &parsed).await?,
    };
    let finished = timeout(WAIT, run::finished(&search, Some(&parsed))).await;
    let facets = match finished {
        Ok(answer) => {
            let answer = answer?;
            let wider = wider(&call, &scope, &form).await;
            blocking(move || FacetsView::with_wider(&answer, &form, &wider)).await?
        }
        Err(_) => FacetsView::so_far(&search, &form),
    };
    let html = params.site.render(&Fragment { facets });
    Ok(no_store(Html(html)))
}

/// Counts all values of lists with a selection.
async fn wider(call: &Call, scope: &Scope, form: &Form) -> Wider {
    let selected = Selection::new(form, None);
    let mut found = Vec::new();
    let ticked = Ticked::ALL.into_iter();
    for list in ticked.filter(|&list| selected.count(list) > 0) {
        let form = selected.without_all(list);
        let search = wider_counts(call, scope, &form);
        if let Ok(Some(counts)) = timeout(WIDER_MAX, search).await {
            found.push((list, of_list(&counts, list)));
        }
    }
    found
}

async fn wider_counts(call: &Call, scope: &Scope, form: &Form) -> Option<FacetsSoFar> {
    let mut wider = Params::parse(&form.search_parameters()).ok()?;
    wider.client = call.params.client;
    let parsed = wider.parsed().ok()?;
    let search = run::start(&call.coordinator, scope, &wider, &parsed);
    let search = search.await.ok()?;
    let answer = run::finished(&search, Some(&parsed)).await.ok()?;
    blocking(move || counts(&answer)).await.ok()?
}

fn names(facets: &[Facet]) -> impl Iterator<Item = &str> {
    facets
        .iter()
        .filter_map(|(name, _)| str::from_utf8(name).ok())
}

/// Values outside of the query's `own` are not selected.
fn list(query: &Selection, of: Ticked, own: &[Facet], all: &[Facet]) -> FacetList {
    let (key, title) = match of {
        Ticked::Package => ("package", "Packages"),
        Ticked::Language => ("lang", "Languages"),
        Ticked::Kind => ("kind", "Kinds of file"),
        Ticked::Symbol => ("symbol", "Kinds of symbol"),
    };
    let ticked = query.count(of);
    let is_listed = |filter: &&FormFilter| {
        let mut listed = names(all).filter_map(|name| exactly(of, name));
        listed.any(|other| other == **filter)
    };
    let others = query.by(of).filter(|filter| !is_listed(filter));
    let others = others.map(|filter| FacetRow::other(query, filter));
    let values = all.iter().map(|(name, count)| {
        let is_own = || names(own).any(|own| own.as_bytes() == name);
        let selected = ticked > 0 && is_own();
        FacetRow::value(query, of, (name, *count), selected, ticked)
    });
    FacetList {
        key,
        title,
        rows: others.chain(values.take(LISTED_MAX)).collect(),
        behind: all.len().saturating_sub(LISTED_MAX) as u64,
        all: (ticked > 0).then(|| query.without_all(of).href(0)),
    }
}

#[derive(Clone, Debug)]
pub(super) struct FacetRow {
    pub(super) label: String,
    /// `None` without a match, or if unknown.
    pub(super) count: Option<u64>,
    pub(super) ticks: Option<(&'static str, String)>,
    /// Queries with only these matches, and without them; `None` if no filter can express it.
    pub(super) only: Option<String>,
    pub(super) others: Option<String>,
    pub(super) selected: bool,
    /// True if `only` removes that filter.
    pub(super) removes: bool,
}

impl FacetRow {
    /// `ticked` values of the list are selected.
    fn value(
        query: &Selection,
        list: Ticked,
        (name, count): (&[u8], u64),
        selected: bool,
        ticked: usize,
    ) -> FacetRow {
        let text = str::from_utf8(name).ok().filter(|name| !name.is_empty());
        let filter = text.and_then(|text| exactly(list, text));
        let removes = selected && ticked == 1;
        let href = |filter| {
            if removes {
                query.without(filter)
            } else {
                Some(query.only(filter))
            }
        };
        FacetRow {
            label: label(list, name),
            count: Some(count),
            only: filter.as_ref().and_then(href),
            others: (filter.as_ref())
                .filter(|_| !selected)
                .map(|filter| query.others(filter)),
            ticks: filter.map(|filter| (filter.name, filter.typed)),
            selected,
            removes,
        }
    }

    /// Filter without a listed value: a pattern, an exclusion, or a value without matches.
    fn other(query: &Selection, filter: &FormFilter) -> FacetRow {
        let label = match filter.typed.strip_prefix('-') {
            Some(excluded) => format!("not {excluded}"),
            None => filter.typed.clone(),
        };
        FacetRow {
            label: visible::plain(label.as_bytes()),
            count: None,
            only: query.without(filter),
            others: None,
            ticks: Some((filter.name, filter.typed.clone())),
            selected: true,
            removes: true,
        }
    }

    /// Directory with all below it, or the direct files of the selected one.
    fn directory(query: &Selection, name: &[u8], count: u64) -> FacetRow {
        let directory = query.directory.as_deref();
        let is_selected = directory.and_then(|it| it.strip_suffix(b"/")) == Some(name);
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
        let filter = filter.and_then(|filter| parameter(&Expr::Filter(filter)));
        let without = filter.as_ref().and_then(|filter| query.without(filter));
        FacetRow {
            label,
            count: Some(count),
            ticks: None,
            selected: without.is_some(),
            removes: without.is_some(),
            others: (filter.as_ref())
                .filter(|_| without.is_none())
                .map(|filter| query.others(filter)),
            only: without.or_else(|| filter.as_ref().map(|filter| query.only(filter))),
        }
    }
}

fn label(list: Ticked, name: &[u8]) -> String {
    let kind = str::from_utf8(name).ok().and_then(DocumentKind::named);
    let label = match kind.filter(|_| list == Ticked::Kind) {
        None => return visible::plain(name),
        Some(DocumentKind::Source) => "source",
        Some(DocumentKind::Documentation) => "documentation, other",
        Some(DocumentKind::Tests) => "tests, examples",
        Some(DocumentKind::Vendored) => "vendored, generated",
    };
    label.to_owned()
}
