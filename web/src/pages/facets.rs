//! The facets of a page of results: how many matches each package, language, kind and directory has. Boxes tick
//! several values of a list, links keep one, or all others.
//!
//! The counts of an answer are exact. While a search runs they are of what has arrived, and the script asks for
//! them again ([`fragment`]). A list of which values are ticked lacks the others at first, since they have no match in
//! the answer: the script asks for them, and [`fragment`] counts them with a search that has no filter by the list.

mod row;

use super::filters;
use super::form::{Form, FormFilter};
use super::narrowed::Narrowed;
use super::selected::{TICKED, TickedValues, exactly};
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
use frontend::{FacetsSoFar, Scope, SearchHandle, SearchResult, SpoolError};
use row::FacetRow;
use schema::message::{DocumentKind, Facet, Field, SpoolFacets, Want};
use std::time::Duration;
use tokio::time::timeout;

/// Values of a list that are shown at once.
const SHOWN_MAX: usize = 8;

/// Values of a list on the page. The API lists more.
const LISTED_MAX: usize = 24;

/// How long a request for the facets alone waits for its search: the script asks again.
const WAIT: Duration = Duration::from_millis(50);

/// How long the values that are not selected are counted, of each list. What takes longer is stopped, and the list
/// keeps a link to all values.
const WIDER_MAX: Duration = Duration::from_millis(1000);

/// What a document without a language is called, also in a query.
const UNKNOWN: &str = "unknown";

/// The lists of a page; none if there are no counts.
#[derive(Clone, Debug, Default)]
pub(super) struct FacetsView {
    pub(super) lists: Vec<FacetList>,
    /// The query without what the boxes say.
    pub(super) hidden: Vec<(String, String)>,
    /// The address of the next counts, while the search runs or values are not counted yet.
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
    /// The address of the query with every value, if some are selected.
    pub(super) all: Option<String>,
}

#[derive(Template)]
#[template(path = "facets.html")]
struct Fragment {
    facets: FacetsView,
}

/// The counts of fields without the filter by them.
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
    /// The facets of an answer; none if not all of its matches were sent. Blocks on the disk.
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

    /// What is known while a search runs.
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

/// Returns the counts of an answer; `None` if not all of its matches were sent. Blocks on the disk.
fn counts(answer: &SearchResult) -> Result<Option<FacetsSoFar>, SpoolError> {
    if matches!(answer.query().want(), Want::Count | Want::Estimate) || answer.is_empty() {
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
    // Stable: packages with as many matches stay in the order of their best match.
    packages.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
    Ok(Some(FacetsSoFar { packages, others }))
}

/// Returns the counts of a field.
fn of_field(counts: &FacetsSoFar, field: Field) -> Vec<Facet> {
    match field {
        Field::Package => counts.packages.clone(),
        Field::Language => counts.others.languages.iter().map(named).collect(),
        _ => kinds(&counts.others),
    }
}

/// A language by the name that a query has for it.
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
    let finished = timeout(WAIT, join::finished(&search, Some(&parsed))).await;
    let facets = match finished {
        Ok(answer) => {
            let answer = answer?;
            let wider = wider(&app, &scope, &params, &form).await;
            blocking(move || FacetsView::with_wider(&answer, &form, &wider)).await?
        }
        Err(_) => FacetsView::so_far(&search, &form),
    };
    let html = Fragment { facets }.render().expect("a page fits in memory");
    Ok(([(header::CACHE_CONTROL, NO_STORE)], Html(html)).into_response())
}

/// Counts the values of each list of which some are selected, without the filter by it.
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

/// Searches for the query of a form, and counts; `None` if it cannot be searched for.
async fn wider_counts(
    app: &App,
    scope: &Scope,
    params: &Params,
    form: &Form,
) -> Option<FacetsSoFar> {
    let mut wider = Params::parse(&form.search_parameters()).ok()?;
    wider.client = params.client;
    let parsed = wider.parsed().ok()?;
    let search = join::start(app, scope, &wider, &parsed).await.ok()?;
    let answer = join::finished(&search, Some(&parsed)).await.ok()?;
    blocking(move || counts(&answer)).await.ok()?
}

/// The values of a field that a list shows.
struct Values {
    field: Field,
    all: Vec<Facet>,
    /// The values that the query's matches have; all others are not selected.
    own: Vec<String>,
}

impl Values {
    /// The values of the matches, or those without the filter by the field. The filters are spelled as they are.
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
