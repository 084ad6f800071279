//! Facets of a page of results: matches per package, language, kind and directory.
//!
//! Counts of an answer are exact. Those of a running search cover the matches so far, and the
//! script reloads them ([`fragment`]). A list with selected values lacks the other values, which
//! the answer filters out; [`fragment`] counts them by a search without the filters of that list.

mod row;

use super::filters;
use super::form::{Form, FormFilter};
use super::narrowed::Narrowed;
use super::selected::{TICKED, TickedValues, exactly};
use crate::http::blocking;
use crate::http::response::NO_STORE;
use crate::problem::Problem;
use crate::search::join;
use crate::search::params::Params;
use crate::state::App;
use access::Viewer;
use askama::Template;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use frontend::{FacetsSoFar, Scope, SearchHandle, SearchResult, SpoolError};
use row::FacetRow;
use schema::message::{DocumentKind, Facet, Field, SpoolFacets, Want};
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

/// Most matches first.
#[derive(Clone, Debug)]
pub(super) struct FacetList {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) rows: Vec<FacetRow>,
    pub(super) behind: u64,
    /// Query without a selection, if there is one.
    pub(super) all: Option<String>,
}

#[derive(Template)]
#[template(path = "facets.html")]
struct Fragment {
    facets: FacetsView,
}

/// Counts of fields, without filters by them.
type Wider = Vec<(Field, Vec<Facet>)>;

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
        Ok(FacetsView::new(
            counts,
            form,
            answer.query().directory(),
            wider,
        ))
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
        let mut selected = TickedValues::of(form);
        let lists = TICKED.map(|field| Values::of(&counts, field, wider, &mut selected));
        let whole = selected.form();
        let narrowed = Narrowed::new(&whole, directory);
        let directory = |(name, count): &Facet| FacetRow::directory(&narrowed, name, *count);
        let directories = &counts.others.directories;
        let mut lists: Vec<_> = (lists.into_iter())
            .map(|values| values.list(&selected, &narrowed))
            .collect();
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
            hidden: selected.rest().fields(),
            next: None,
        }
    }
}

/// `None` if not all matches were sent. Blocks on the disk.
fn counts(answer: &SearchResult) -> Result<Option<FacetsSoFar>, SpoolError> {
    if matches!(answer.query().want, Want::Count | Want::Estimate) || answer.is_empty() {
        return Ok(None);
    }
    let Some(others) = answer.facets()? else {
        return Ok(None);
    };
    let packages = answer.package_list(0..answer.packages())?;
    let mut packages: Vec<Facet> = packages
        .into_iter()
        .map(|package| (package.name, package.total))
        .collect();
    // Stable: ties stay in order of best match.
    packages.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
    Ok(Some(FacetsSoFar { packages, others }))
}

fn of_field(counts: &FacetsSoFar, field: Field) -> Vec<Facet> {
    match field {
        Field::Package => counts.packages.clone(),
        Field::Language => counts.others.languages.iter().map(named).collect(),
        _ => kinds(&counts.others),
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

pub(crate) async fn fragment(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Response, Problem> {
    let form = Form::new(&params);
    let parsed = params.parsed()?;
    let scope = viewer.scope().await?;
    let known = form.run.as_deref();
    let known = known.and_then(|id| app.coordinator.get(&scope, id));
    let search = match known.filter(|search| *search.query() == parsed.query) {
        Some(search) => search,
        None => join::start(&app.coordinator, &scope, &params, &parsed).await?,
    };
    let finished = timeout(WAIT, join::finished(&search, Some(&parsed))).await;
    let facets = match finished {
        Ok(answer) => {
            let answer = answer?;
            let wider = wider(&app, &scope, &params, &form).await;
            blocking(move || FacetsView::with_wider(&answer, &form, &wider)).await?
        }
        Err(_) => FacetsView::so_far(&search, &form),
    };
    let html = params.site.render(&Fragment { facets });
    Ok(([(header::CACHE_CONTROL, NO_STORE)], Html(html)).into_response())
}

/// Counts all values of lists with a selection.
async fn wider(app: &App, scope: &Scope, params: &Params, form: &Form) -> Wider {
    let selected = TickedValues::of(form);
    let mut found = Vec::new();
    for field in TICKED
        .into_iter()
        .filter(|&field| selected.count(field) > 0)
    {
        let form = selected.without(field);
        let search = wider_counts(app, scope, params, &form);
        if let Ok(Some(counts)) = timeout(WIDER_MAX, search).await {
            found.push((field, of_field(&counts, field)));
        }
    }
    found
}

async fn wider_counts(
    app: &App,
    scope: &Scope,
    params: &Params,
    form: &Form,
) -> Option<FacetsSoFar> {
    let mut wider = Params::parse(&form.search_parameters()).ok()?;
    wider.client = params.client;
    let parsed = wider.parsed().ok()?;
    let search = join::start(&app.coordinator, scope, &wider, &parsed)
        .await
        .ok()?;
    let answer = join::finished(&search, Some(&parsed)).await.ok()?;
    blocking(move || counts(&answer)).await.ok()?
}

struct Values {
    field: Field,
    all: Vec<Facet>,
    /// Values among the query's matches; the rest are not selected.
    own: Vec<String>,
}

impl Values {
    /// Values of the matches, or of `wider`. Filters are respelled like the values.
    fn of(
        counts: &FacetsSoFar,
        field: Field,
        wider: &Wider,
        selected: &mut TickedValues,
    ) -> Values {
        let own = of_field(counts, field);
        let names = own.iter().filter_map(|(name, _)| str::from_utf8(name).ok());
        let names: Vec<_> = names.map(str::to_owned).collect();
        selected.recognise(
            field,
            &names.iter().map(|name| &name[..]).collect::<Vec<_>>(),
        );
        let wider = wider.iter().find(|(other, _)| *other == field);
        let all = wider.map_or(own, |(_, facets)| facets.clone());
        Values {
            field,
            all,
            own: names,
        }
    }

    fn list(&self, selected: &TickedValues, narrowed: &Narrowed<'_>) -> FacetList {
        let (key, title) = match self.field {
            Field::Package => ("package", "Packages"),
            Field::Language => ("lang", "Languages"),
            _ => ("kind", "Kinds of file"),
        };
        let ticked = selected.count(self.field);
        let is_listed = |filter: &&FormFilter| {
            let names = self
                .all
                .iter()
                .filter_map(|(name, _)| str::from_utf8(name).ok());
            let mut listed = names.filter_map(|name| exactly(self.field, name));
            listed.any(|other| other == **filter)
        };
        let others = selected.by(self.field).filter(|filter| !is_listed(filter));
        let others = others.map(|filter| FacetRow::other(narrowed, filter));
        let values = self.all.iter().map(|(name, count)| {
            let is_own = || self.own.iter().any(|own| own.as_bytes() == name);
            let selected = ticked > 0 && is_own();
            FacetRow::value(narrowed, self.field, (name, *count), selected, ticked)
        });
        FacetList {
            key,
            title,
            rows: others.chain(values.take(LISTED_MAX)).collect(),
            behind: self.all.len().saturating_sub(LISTED_MAX) as u64,
            all: (ticked > 0).then(|| selected.without(self.field).href(0)),
        }
    }
}
