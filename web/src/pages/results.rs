//! Page of a finished search: counts, missing parts, and matches in boxes.
//!
//! A page has ten files by default, each with its best lines. An answer with a single file lists
//! its lines in order, a hundred a page.

use super::boxes::{BoxView, CopiesView, More};
use super::facets::FacetsView;
use super::form::Form;
use super::nothing::NothingFound;
use super::{filters, visible};
use crate::problem::Problem;
use crate::search::choice::{Copies, Group};
use crate::search::run::{Items, View, in_line_order};
use crate::source::colours::PageColours;
use crate::symbols::Enclosing;
use askama::Template;
use frontend::page::PageRange;
use frontend::query::Notice;
use frontend::{Document, Match, SearchResult, SkippedDocument, SpoolError, metrics};
use schema::message::Want;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SKIPPED_MAX: usize = 100;

const FILE_LINES_MAX: usize = 100;

#[derive(Template)]
#[template(path = "results.html")]
struct ResultsPage<'a> {
    form: Form,
    answer: &'a SearchResult,
    interpreted_as: String,
    facets: FacetsView,
    about: AboutQuery,
    again: String,
    /// Matches, or documents with `want_documents`; `total` of them are on the pages.
    total: u64,
    folded: Option<u64>,
    /// Address that toggles copies.
    switch: Option<String>,
    want_documents: bool,
    want_count: bool,
    elapsed: String,
    slice: PageRange,
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

    /// Most important notice, and number of others.
    fn notices_label(&self) -> Option<(String, usize)> {
        let skipped = self.answer.skipped().count;
        let skipped = (skipped > 0).then(|| format!("{skipped} not searched completely"));
        let notices = (self.about.notices.iter()).map(|notice| notice.reason.clone());
        let revisions =
            (self.about.of_revisions.iter()).map(|_| "default revisions only".to_owned());
        let overlaps = Some(self.overlaps_label()).filter(|label| !label.is_empty());
        let mut labels = skipped
            .into_iter()
            .chain(notices)
            .chain(overlaps)
            .chain(revisions);
        Some((labels.next()?, labels.count()))
    }

    fn overlaps_label(&self) -> String {
        match self.answer.outcome.overlaps.packages.len() {
            0 => String::new(),
            1 => "1 package on several backends: the newest build was searched".to_owned(),
            count => format!(
                "{} packages on several backends: the newest build of each was searched",
                filters::grouped(count as u64)
            ),
        }
    }
}

struct PackageView {
    name: String,
    total: u64,
    /// Hidden matches. A name that is not UTF-8 cannot be a filter, so it has no address.
    more: u64,
    more_href: Option<String>,
    boxes: Vec<BoxView>,
}

pub(super) struct AboutQuery {
    /// Revisions of the one repository with matches, and the query in each.
    pub(super) versions: Vec<(String, String)>,
    pub(super) nothing: Option<NothingFound>,
    pub(super) notices: Vec<Notice>,
    /// Names the searched revisions, if the query does not.
    pub(super) of_revisions: Option<Notice>,
    /// Changed files that the answer lacks.
    pub(super) pending: u64,
}

type Colours<'a> = &'a dyn Fn(Vec<Arc<Document>>) -> PageColours;
type Definitions<'a> = &'a dyn Fn(&[&Match]) -> Enclosing;

/// `first_line` begins an answer with one file.
pub(super) fn finished_page(
    answer: &SearchResult,
    mut form: Form,
    mut view: View,
    first_line: u32,
    about: AboutQuery,
    (colours, enclosing): (Colours<'_>, Definitions<'_>),
) -> Result<String, Problem> {
    let started = Instant::now();
    let unique = answer.unique().filter(|&unique| unique < answer.len());
    if unique.is_none() {
        view.copies = Copies::All;
    }
    form.run = None;
    // Page links keep this answer, even if the next search finds more.
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
        enclosing,
    };
    let is_one_file = view.group == Group::Document && slice.pages == 1 && slice.range.len() == 1;
    let (boxes, packages) = if is_one_file {
        (vec![shown.file(first_line)?], Vec::new())
    } else {
        shown.items(view.read(answer, slice.range.clone())?)?
    };
    let want = answer.query().want;
    let page = ResultsPage {
        answer,
        interpreted_as: visible::plain(answer.query().interpreted_as().as_bytes()),
        // Matches are worth showing without counts.
        facets: FacetsView::of_answer(answer, &form).unwrap_or_default(),
        about,
        again: form.href_with(|form| form.generation = None),
        total: answer.len() as u64,
        folded: unique
            .filter(|_| view.copies == Copies::Folded)
            .map(|unique| unique as u64),
        switch: switches.then(|| form.href_copies(other)),
        want_documents: want == Want::Documents,
        want_count: matches!(want, Want::Count | Want::Estimate),
        // A permanent link shows the same on every frontend.
        elapsed: match form.generation {
            None => elapsed_text(answer.outcome.timings.total()),
            Some(_) => String::new(),
        },
        page_links: page_links(&pages_form, slice.page, slice.pages),
        slice,
        boxes,
        packages,
        form,
    };
    let html = page.form.site.render(&page);
    metrics::rendered(started);
    Ok(html)
}

struct Shown<'a> {
    answer: &'a SearchResult,
    form: &'a Form,
    all_href: String,
    colours: Colours<'a>,
    enclosing: Definitions<'a>,
}

impl Shown<'_> {
    fn items(&self, items: Items) -> Result<(Vec<BoxView>, Vec<PackageView>), SpoolError> {
        let (mut boxes, mut groups) = (Vec::new(), Vec::new());
        let colours = &(self.colours)(documents(&items));
        let enclosing = &(self.enclosing)(&items.matches());
        match items {
            Items::Matches(found) => boxes = self.one_by_one(&found, colours, enclosing)?,
            Items::Packages(packages) => {
                for (each, found) in &packages {
                    let boxes = self.one_by_one(found, colours, enclosing)?;
                    let name = str::from_utf8(&each.name).ok();
                    groups.push(PackageView {
                        name: visible::plain(&each.name),
                        total: each.total,
                        more: each.total - boxes.len() as u64,
                        more_href: name.map(|name| self.form.in_package(name).href(0)),
                        boxes,
                    });
                }
            }
            Items::Documents(documents) => {
                let documents = documents.iter().filter(|(_, found)| !found.is_empty());
                for (total, found) in documents {
                    let mut view = BoxView::of_document(self.form, *total, found, colours);
                    view.enclose(self.form, &found[0].document, enclosing);
                    boxes.push(self.with_copies(view, &found[0])?);
                }
            }
        }
        Ok((boxes, groups))
    }

    fn one_by_one(
        &self,
        matches: &[Match],
        colours: &PageColours,
        enclosing: &Enclosing,
    ) -> Result<Vec<BoxView>, SpoolError> {
        let view = |found: &Match| {
            let mut view = BoxView::new(self.form, std::slice::from_ref(found), colours);
            view.enclose(self.form, &found.document, enclosing);
            self.with_copies(view, found)
        };
        matches.iter().map(view).collect()
    }

    fn with_copies(&self, view: BoxView, found: &Match) -> Result<BoxView, SpoolError> {
        let copies = CopiesView::of(self.answer, found, (self.form, &self.all_href))?;
        Ok(BoxView { copies, ..view })
    }

    fn file(&self, first_line: u32) -> Result<BoxView, Problem> {
        // The name of a file matches in line 0.
        let from = if first_line == 1 { 0 } else { first_line };
        let by_line = self.answer.by_line(from, FILE_LINES_MAX)?;
        let mut matches = self.answer.matches_with_copies(&by_line.positions)?;
        in_line_order(&mut matches);
        let Some(last) = matches.last() else {
            let detail = format!("no match is in line {first_line} or below it");
            let hint = "leave out from, for all matches of the file";
            return Err(Problem::missing(detail).hint(hint));
        };
        let total = self.answer.len() as u64;
        let left = total - by_line.before - matches.len() as u64;
        let colours = (self.colours)(vec![Arc::clone(&last.document)]);
        let mut view = BoxView::of_document(self.form, Some(total), &matches, &colours);
        let enclosing = (self.enclosing)(&matches.iter().collect::<Vec<_>>());
        view.enclose(self.form, &matches[0].document, &enclosing);
        view.more = (left > 0).then(|| More {
            count: Some(left),
            href: Some(self.form.href_with(|form| form.from = Some(last.line + 1))),
            continues: true,
        });
        Ok(self.with_copies(view, &matches[0])?)
    }
}

fn documents(items: &Items) -> Vec<Arc<Document>> {
    let matches = items.matches().into_iter();
    matches.map(|found| Arc::clone(&found.document)).collect()
}

/// `42 ms`, `1.3 s`
fn elapsed_text(time: Duration) -> String {
    match time.as_millis() {
        0 => format!("{} µs", time.as_micros()),
        1..1000 => format!("{} ms", time.as_millis()),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PageLink {
    text: String,
    href: String,
    rel: &'static str,
    current: bool,
    gap: bool,
}

/// Links to neighbours, the first and last page, and those around the current one.
fn page_links(form: &Form, page: usize, pages: usize) -> Vec<PageLink> {
    let link = |text: &str, page: usize, rel| PageLink {
        text: text.to_owned(),
        href: form.href(page),
        rel,
        ..PageLink::default()
    };
    let mut links = Vec::new();
    if page > 0 {
        links.push(link("‹ Previous", page - 1, "prev"));
    }
    let last = pages.saturating_sub(1);
    let mut shown: Vec<usize> = (page.saturating_sub(3)..=(page + 3).min(last)).collect();
    shown.extend([0, last]);
    shown.sort_unstable();
    shown.dedup();
    for (index, &number) in shown.iter().enumerate() {
        if index > 0 && number > shown[index - 1] + 1 {
            links.push(PageLink {
                gap: true,
                ..PageLink::default()
            });
        }
        links.push(PageLink {
            current: number == page,
            ..link(&(number + 1).to_string(), number, "")
        });
    }
    if page < last {
        links.push(link("Next ›", page + 1, "next"));
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(page: usize, pages: usize, expected: Expect) {
        let text = |link: &PageLink| match (link.gap, link.current) {
            (true, _) => "…".to_owned(),
            (_, true) => format!("[{}]", link.text),
            _ => link.text.clone(),
        };
        let links = page_links(&Form::default(), page, pages);
        expected.assert_eq(&links.iter().map(text).collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn links_neighbours_and_both_ends() {
        check(0, 1, expect!["[1]"]);
        check(0, 9, expect!["[1] 2 3 4 … 9 Next ›"]);
        check(5, 12, expect!["‹ Previous 1 … 3 4 5 [6] 7 8 9 … 12 Next ›"]);
        check(11, 12, expect!["‹ Previous 1 … 9 10 11 [12]"]);
    }
}
