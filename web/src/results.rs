//! What is on a page of an answer: matches, or packages or documents with their first ones.

use super::api;
use super::params::{Group, Start, View};
use super::problem::Problem;
use crate::render::json::{GroupJson, GroupOf, Results};
use frontend::DocumentGroup;
use frontend::PackageGroup;
use frontend::SearchResult;
use frontend::page::PageRange;
use std::sync::Arc;

/// What is on a page, and how many items there are on all pages.
pub(super) fn results(
    answer: &SearchResult,
    view: View,
) -> Result<(PageRange, usize, Results), Problem> {
    let items = items(answer, view.group)?;
    let slice = slice(answer, items, view)?;
    let range = slice.range.clone();
    let results = match view.group {
        Group::None => Results::Matches(answer.matches(range)?),
        Group::Package => {
            let packages = answer.package_list(range)?.into_iter();
            let groups = packages.map(|package| by_package(answer, package, view.per_group));
            Results::Groups(groups.collect::<Result<_, Problem>>()?)
        }
        Group::Document => {
            let documents = answer.document_list(range)?.into_iter();
            let groups = documents.map(|document| by_document(answer, &document, view.per_group));
            Results::Groups(groups.collect::<Result<_, Problem>>()?)
        }
    };
    Ok((slice, items, results))
}

/// How many items there are on all pages of an answer.
pub(super) fn items(answer: &SearchResult, group: Group) -> Result<usize, Problem> {
    Ok(match group {
        Group::None => answer.len(),
        Group::Package => answer.packages(),
        Group::Document => answer.documents_listed()?,
    })
}

/// The items that a page has of an answer.
pub(super) fn slice(answer: &SearchResult, items: usize, view: View) -> Result<PageRange, Problem> {
    match view.start {
        Start::Page(page) => Ok(PageRange::new(items, page, view.per_page)?),
        Start::Cursor(cursor) if cursor.is_of(answer) => Ok(PageRange::from(
            items,
            cursor.offset as usize,
            view.per_page,
        )),
        Start::Cursor(_) => Err(api::expired()),
    }
}

fn by_package(
    answer: &SearchResult,
    package: PackageGroup,
    most: usize,
) -> Result<GroupJson, Problem> {
    Ok(GroupJson {
        matches: answer.matches_of(&package, most)?,
        of: GroupOf::Package(package.name),
        total: Some(package.total),
    })
}

fn by_document(
    answer: &SearchResult,
    found: &DocumentGroup,
    most: usize,
) -> Result<GroupJson, Problem> {
    let matches = answer.matches_at(&found.first[..found.first.len().min(most)])?;
    Ok(GroupJson {
        of: GroupOf::Document(
            matches
                .first()
                .map_or_else(Arc::default, |first| Arc::clone(&first.document)),
        ),
        total: found.total,
        matches,
    })
}
