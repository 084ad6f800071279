//! Page of a running search, which reloads itself or follows the search by script.

use super::boxes::{BoxView, fragment, without_copies};
use super::facets::FacetsView;
use super::filters;
use super::form::Form;
use crate::http::site::Site;
use crate::search::choice::{Copies, Group};
use crate::search::following::{Best, Eta, FILES_MAX};
use crate::search::run::in_line_order;
use crate::source::colours::PageColours;
use askama::Template;
use frontend::{
    BEST_LINES_MAX, BEST_MAX, DocumentGroup, Match, Progress, SearchHandle, SearchResult,
    SpoolError,
};
use std::collections::BTreeSet;
use std::time::Duration;

#[derive(Template)]
#[template(path = "running.html")]
struct RunningPage<'a> {
    form: Form,
    facets: FacetsView,
    id: &'a str,
    /// For browsers without the script.
    follow: String,
    events: String,
    /// Page after the end of the search: this client's answer, even if it stopped the search.
    finished: String,
    progress: Progress,
    remaining: String,
    boxes: Vec<BoxView>,
}

/// Shows the proven best matches, or the best so far. Blocks on the disk.
pub(super) fn running_page(
    search: &SearchHandle,
    proven: Option<&SearchResult>,
    mut form: Form,
    page: usize,
) -> Result<String, SpoolError> {
    let facets = FacetsView::so_far(search, &form);
    // A shared address must not stop the search.
    form.run = None;
    let follow = form.href(page);
    let (boxes, _) = so_far(search, proven, &form)?;
    form.run = Some(search.id().to_owned());
    let progress = search.progress();
    let remaining = Eta::default().left(&progress);
    let page = RunningPage {
        facets,
        follow,
        events: format!("/search/events?{}", form.parameters(0)),
        finished: form.href(page),
        form: Form { run: None, ..form },
        id: search.id(),
        remaining: remaining.map_or_else(String::new, remaining_text),
        progress,
        boxes,
    };
    Ok(page.form.site.render(&page))
}

/// Best files, or best lines if the form does not group by file.
pub(super) fn wanted(form: &Form) -> Best {
    match form.group() {
        Group::Document => Best::Files,
        Group::None | Group::Package => Best::Matches,
    }
}

/// True if the answer's page folds copies: of names and limited searches they are unknown.
pub(super) fn folds(search: &SearchHandle, form: &Form) -> bool {
    let query = search.query();
    form.copies != Some(Copies::All) && query.limit == 0 && !query.names
}

/// Boxes, and true if later matches cannot change them. Blocks on the disk.
pub(super) fn so_far(
    search: &SearchHandle,
    proven: Option<&SearchResult>,
    form: &Form,
) -> Result<(Vec<BoxView>, bool), SpoolError> {
    let folds = folds(search, form);
    let proven = proven.map(|best| proven_boxes(best, form, folds));
    if let Some(boxes) = proven.transpose()?.flatten() {
        return Ok((boxes, true));
    }
    if form.group() != Group::Document {
        let best = search.top_matches();
        let boxes = one_by_one(form, &search.read(&best.pointers)?, folds);
        // The page replaces copies by other matches.
        let is_page = boxes.len() == best.pointers.len() && form.group() == Group::None;
        return Ok((boxes, best.is_final && is_page));
    }
    let best = search.best_documents(folds);
    let mut matches = search.read(&best.documents.concat())?.into_iter();
    let files = best.documents.iter().map(|lines| {
        let mut file: Vec<Match> = matches.by_ref().take(lines.len()).collect();
        in_line_order(&mut file);
        file
    });
    let boxes = by_file(form, files.filter(|file| !file.is_empty()));
    Ok((boxes, best.is_final))
}

/// Boxes of the result of [`wanted`]; `None` if folded copies change the page.
fn proven_boxes(
    best: &SearchResult,
    form: &Form,
    folds: bool,
) -> Result<Option<Vec<BoxView>>, SpoolError> {
    if form.group() != Group::Document {
        let matches = best.matches(0..best.len().min(BEST_MAX))?;
        let boxes = one_by_one(form, &matches, folds);
        let is_page = boxes.len() == matches.len() && form.group() == Group::None;
        return Ok(is_page.then_some(boxes));
    }
    let listed = best.documents_listed()?.min(FILES_MAX);
    let read = |document: DocumentGroup| {
        let first = document.first.len().min(BEST_LINES_MAX);
        let mut file = best.matches_at(&document.first[..first])?;
        in_line_order(&mut file);
        Ok(file)
    };
    let documents = best.document_list(0..listed)?.into_iter();
    let files: Vec<_> = documents.map(read).collect::<Result<_, SpoolError>>()?;
    let has_all = listed < FILES_MAX;
    let mut boxes = by_file(form, different(files, folds).into_iter());
    boxes.truncate(BEST_MAX);
    let is_page = boxes.len() == BEST_MAX || has_all;
    Ok(is_page.then_some(boxes))
}

/// Drops copies of earlier files, if `folds`.
fn different(files: Vec<Vec<Match>>, folds: bool) -> Vec<Vec<Match>> {
    let mut texts = BTreeSet::new();
    let mut is_new = |file: &Vec<Match>| {
        let first = file.first().filter(|first| !first.is_name());
        first.is_none_or(|first| texts.insert(first.document.hash.clone()))
    };
    let files = files.into_iter().filter(|file| !file.is_empty());
    files.filter(|file| !folds || is_new(file)).collect()
}

fn by_file(form: &Form, files: impl Iterator<Item = Vec<Match>>) -> Vec<BoxView> {
    let colours = PageColours::default();
    files
        .map(|file| BoxView::new(form, &file, &colours).about_file(form, &file[0]))
        .collect()
}

fn one_by_one(form: &Form, matches: &[Match], folds: bool) -> Vec<BoxView> {
    let colours = PageColours::default();
    let view = |found: &Match| BoxView::new(form, std::slice::from_ref(found), &colours);
    without_copies(matches, folds).map(view).collect()
}

pub(crate) fn match_list(matches: &[Match], site: &Site) -> String {
    fragment(one_by_one(&Form::default(), matches, true), site)
}

/// No more precise than the estimate. `running.js` shows it.
pub(super) fn remaining_text(time: Duration) -> String {
    match time.as_secs_f64().ceil() as u64 {
        0..=1 => "almost done".to_owned(),
        seconds @ ..100 => format!("about {seconds} s left"),
        seconds => format!("about {} min left", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_rounded_up_to_seconds_or_minutes() {
        for (ms, text) in [
            (0, "almost done"),
            (1000, "almost done"),
            (1001, "about 2 s left"),
            (99_000, "about 99 s left"),
            (100_000, "about 2 min left"),
            (121_000, "about 3 min left"),
        ] {
            assert_eq!(remaining_text(Duration::from_millis(ms)), text);
        }
    }
}
