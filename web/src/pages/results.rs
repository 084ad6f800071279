//! The answer of a finished search as a page: counts, what is missing, and the matches in boxes.
//!
//! By default a page has ten different files, each with its best lines in order. An answer with one file has
//! that file's lines in order instead, a hundred at a time: that is where "more in this file" leads.

use super::boxes::{BoxView, More};
use super::facets::FacetsView;
use super::filters;
use super::form::{Form, Layout, Tab};
use super::nothing::NothingFound;
use super::page_links::{PageLink, page_links};
use super::visible;
use crate::choice::{Copies, Group};
use crate::colour_cache::PageColours;
use crate::join::{Items, View, in_line_order};
use crate::problem::Problem;
use askama::Template;
use frontend::query::Notice;
use frontend::{Document, Match, PackageGroup, SearchResult, SkippedDocument, SpoolError, metrics};
use schema::message::Want;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Skipped documents on a page. The API lists more.
const SKIPPED_MAX: usize = 100;

/// Matches of a page about one file.
const FILE_LINES_MAX: usize = 100;

#[derive(Template)]
#[template(path = "results.html")]
struct ResultsPage<'a> {
    layout: Layout,
    answer: &'a SearchResult,
    interpreted_as: String,
    facets: FacetsView,
    /// What may help, if nothing was found.
    nothing: Option<NothingFound>,
    notices: &'a [Notice],
    /// Which revisions were searched, if the query does not say it.
    of_revisions: Option<Notice>,
    /// Changed files that the answer does not have.
    pending: u64,
    /// The address that searches for the exact text, if the query was read as several words.
    exact: Option<String>,
    /// The address that searches again.
    again: String,
    /// Matches or, with `want_documents`, documents; `total` of them are on the pages.
    found: u64,
    total: u64,
    /// How many of these matches are not in folded copies, if some are folded.
    folded: Option<u64>,
    /// The address that shows copies, or folds them; if there are any.
    switch: Option<String>,
    want_documents: bool,
    want_count: bool,
    elapsed: String,
    tabs: Vec<Tab>,
    permanent: String,
    exports: Vec<(&'static str, String)>,
    page: usize,
    pages: usize,
    page_links: Vec<PageLink>,
    boxes: Vec<BoxView>,
    packages: Vec<PackageView>,
}

impl ResultsPage<'_> {
    fn skipped(&self) -> impl Iterator<Item = &SkippedDocument> {
        self.answer.skipped().documents.iter().take(SKIPPED_MAX)
    }

    fn skipped_more(&self) -> u64 {
        self.answer.skipped().count - self.skipped().count() as u64
    }

    /// What is to be known of the answer: first what the query may have meant.
    fn all_notices(&self) -> impl Iterator<Item = &Notice> {
        self.notices.iter().chain(&self.of_revisions)
    }

    /// The notice that matters most, and how many others there are; `None` without any.
    fn notices_label(&self) -> Option<(String, usize)> {
        let skipped = self.answer.skipped().count;
        let skipped = (skipped > 0).then(|| format!("{skipped} not searched completely"));
        let notices = self.notices.iter().map(|notice| notice.reason.clone());
        let revisions = (self.of_revisions.iter()).map(|_| "default revisions only".to_owned());
        let overlaps = Some(self.overlaps_label()).filter(|label| !label.is_empty());
        let mut labels = skipped
            .into_iter()
            .chain(notices)
            .chain(overlaps)
            .chain(revisions);
        Some((labels.next()?, labels.count()))
    }

    /// Says that several backends have a package; empty if none.
    fn overlaps_label(&self) -> String {
        match self.answer.overlaps().packages.len() {
            0 => String::new(),
            1 => "1 package on several backends: the newest build was searched".to_owned(),
            count => format!(
                "{} packages on several backends: the newest build of each was searched",
                filters::grouped(count as u64)
            ),
        }
    }

    /// Whether the search ended because somebody stopped it.
    fn was_stopped(&self) -> bool {
        self.answer.was_stopped()
    }
}

/// The matches of a package.
struct PackageView {
    name: String,
    total: u64,
    /// How many matches are not shown, and the address that shows them. A name that is not UTF-8 is
    /// no filter's value, so it has no such address.
    more: u64,
    more_href: Option<String>,
    boxes: Vec<BoxView>,
}

impl PackageView {
    fn new(form: &Form, package: &PackageGroup, boxes: Vec<BoxView>) -> PackageView {
        let name = str::from_utf8(&package.name).ok();
        PackageView {
            name: visible::plain(&package.name),
            total: package.total,
            more: package.total - boxes.len() as u64,
            more_href: name.map(|name| form.in_package(name).href(0)),
            boxes,
        }
    }
}

/// What a page says about its query.
pub(super) struct AboutQuery {
    pub(super) nothing: Option<NothingFound>,
    pub(super) notices: Vec<Notice>,
    pub(super) of_revisions: Option<Notice>,
    pub(super) pending: u64,
}

/// Renders a page of an answer. `first_line` is the first line of an answer with one file; `colours` finds those of
/// the documents that the page shows.
pub(super) fn finished_page(
    answer: &SearchResult,
    mut form: Form,
    mut view: View,
    first_line: u32,
    about: AboutQuery,
    colours: &dyn Fn(Vec<Arc<Document>>) -> PageColours,
) -> Result<String, Problem> {
    let started = Instant::now();
    let unique = answer.unique().filter(|&unique| unique < answer.len());
    if unique.is_none() {
        view.copies = Copies::All;
    }
    form.run = None;
    let again = Form {
        generation: None,
        ..form.clone()
    };
    // Links to other pages stay with this answer, although the next search may find more.
    let mut pages_form = form.clone();
    if !answer.is_complete() {
        pages_form.generation = Some(answer.generation().to_owned());
    }
    let slice = view.slice(answer, view.items(answer)?)?;
    let other = match view.copies {
        Copies::Folded => Copies::All,
        Copies::All => Copies::Folded,
    };
    let switches = unique.is_some() && view.group != Group::Package;
    let shown = Shown {
        answer,
        form: &form,
        all_href: form.href_copies(Copies::All),
        colours,
    };
    let is_one_file = view.group == Group::Document && slice.pages == 1 && slice.range.len() == 1;
    let (boxes, packages) = if is_one_file {
        (vec![shown.file(first_line)?], Vec::new())
    } else {
        shown.items(view.read(answer, slice.range.clone())?)?
    };
    let want = answer.query().want();
    let page = ResultsPage {
        answer,
        interpreted_as: visible::plain(answer.query().interpreted_as().as_bytes()),
        // The matches are worth showing without their counts.
        facets: FacetsView::of_answer(answer, &form).unwrap_or_default(),
        nothing: about.nothing,
        notices: &about.notices,
        of_revisions: about.of_revisions,
        pending: about.pending,
        exact: form.href_exact(),
        again: again.href(0),
        found: answer.found(),
        total: answer.len() as u64,
        folded: unique
            .filter(|_| view.copies == Copies::Folded)
            .map(|unique| unique as u64),
        switch: switches.then(|| form.href_copies(other)),
        want_documents: want == Want::Documents,
        want_count: matches!(want, Want::Count | Want::Estimate),
        // A permanent link shows the same on every frontend.
        elapsed: match form.generation {
            None => elapsed_text(answer.timings().total()),
            Some(_) => String::new(),
        },
        tabs: form.tabs(),
        permanent: form.href_permanent(answer.generation()),
        exports: EXPORTS
            .map(|(label, format)| (label, form.href_export(format)))
            .to_vec(),
        page: slice.page,
        pages: slice.pages,
        page_links: page_links(&pages_form, slice.page, slice.pages),
        boxes,
        packages,
        layout: Layout::new(form),
    };
    let html = page.render().expect("a page fits in memory");
    metrics::rendered(started);
    Ok(html)
}

/// Formats of an export, by their label on the page.
const EXPORTS: [(&str, &str); 3] = [("JSON lines", "jsonl"), ("CSV", "csv"), ("text", "text")];

/// An answer, and what links in its boxes need.
struct Shown<'a> {
    answer: &'a SearchResult,
    form: &'a Form,
    /// The address of the page that shows all copies.
    all_href: String,
    colours: &'a dyn Fn(Vec<Arc<Document>>) -> PageColours,
}

impl Shown<'_> {
    /// Boxes of a page, or packages with theirs.
    fn items(&self, items: Items) -> Result<(Vec<BoxView>, Vec<PackageView>), SpoolError> {
        let (mut boxes, mut groups) = (Vec::new(), Vec::new());
        let colours = &(self.colours)(documents(&items));
        match items {
            Items::Matches(found) => boxes = self.one_by_one(&found, colours)?,
            Items::Packages(packages) => {
                for (each, found) in &packages {
                    let boxes = self.one_by_one(found, colours)?;
                    groups.push(PackageView::new(self.form, each, boxes));
                }
            }
            Items::Documents(documents) => {
                let documents = documents.iter().filter(|(_, found)| !found.is_empty());
                for (total, found) in documents {
                    let view = BoxView::of_document(self.form, *total, found, colours);
                    boxes.push(view.with_copies(
                        self.answer,
                        &found[0],
                        self.form,
                        &self.all_href,
                    )?);
                }
            }
        }
        Ok((boxes, groups))
    }

    fn one_by_one(
        &self,
        matches: &[Match],
        colours: &PageColours,
    ) -> Result<Vec<BoxView>, SpoolError> {
        let view = |found: &Match| {
            let view = BoxView::new(self.form, std::slice::from_ref(found), colours);
            view.with_copies(self.answer, found, self.form, &self.all_href)
        };
        matches.iter().map(view).collect()
    }

    /// The box of the only file, from a line on.
    fn file(&self, first_line: u32) -> Result<BoxView, Problem> {
        // The name of a file matches in line 0.
        let from = if first_line == 1 { 0 } else { first_line };
        let by_line = self.answer.by_line(from, FILE_LINES_MAX)?;
        let mut matches = self.answer.matches_with_copies(&by_line.positions)?;
        in_line_order(&mut matches);
        let Some(last) = matches.last() else {
            return Err(no_line(first_line));
        };
        let total = self.answer.len() as u64;
        let left = total - by_line.before - matches.len() as u64;
        let colours = (self.colours)(vec![Arc::clone(&last.document)]);
        let mut view = BoxView::of_document(self.form, Some(total), &matches, &colours);
        view.more = (left > 0).then(|| More {
            count: Some(left),
            href: Some(self.form.href_from(last.line + 1)),
            continues: true,
        });
        Ok(view.with_copies(self.answer, &matches[0], self.form, &self.all_href)?)
    }
}

/// The documents of a page.
fn documents(items: &Items) -> Vec<Arc<Document>> {
    let document = |found: &Match| Arc::clone(&found.document);
    match items {
        Items::Matches(found) => found.iter().map(document).collect(),
        Items::Packages(packages) => {
            let matches = packages.iter().flat_map(|(_, found)| found);
            matches.map(document).collect()
        }
        Items::Documents(documents) => {
            let first = documents.iter().filter_map(|(_, found)| found.first());
            first.map(document).collect()
        }
    }
}

fn no_line(first_line: u32) -> Problem {
    Problem::missing(format!("no match is in line {first_line} or below it"))
        .hint("leave out from, for all matches of the file")
}

/// `42 ms`, `1.3 s`
fn elapsed_text(time: Duration) -> String {
    match time.as_millis() {
        0 => format!("{} µs", time.as_micros()),
        1..1000 => format!("{} ms", time.as_millis()),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}
