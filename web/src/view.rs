//! Which part of an answer a client looks at, and how it is grouped.

use crate::choice::Group;
use crate::cursor::Cursor;
use crate::join;
use crate::params::Params;
use crate::problem::Problem;
use frontend::page::{
    DOCUMENTS_PER_PAGE_DEFAULT, PACKAGES_PER_PAGE_DEFAULT, PER_DOCUMENT_DEFAULT, PER_DOCUMENT_MAX,
    PER_PACKAGE_DEFAULT, PER_PACKAGE_MAX, PER_PAGE_DEFAULT, PER_PAGE_MAX, PageRange,
};
use frontend::{DocumentGroup, Match, PackageGroup, SearchResult, SpoolError};
use std::ops::Range;

/// Which part of an answer a client looks at, and how it is grouped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) start: Start,
    /// Items on a page: matches, packages or documents, by `group`.
    pub(crate) per_page: usize,
    pub(crate) group: Group,
    /// Matches of a package or a document.
    pub(crate) per_group: usize,
}

/// The matches of a page, or of any other range of items.
pub(crate) enum Items {
    Matches(Vec<Match>),
    Packages(Vec<(PackageGroup, Vec<Match>)>),
    /// Documents with how many matches each has, if that was counted.
    Documents(Vec<(Option<u64>, Vec<Match>)>),
}

/// Where a page begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    Page(usize),
    Cursor(Cursor),
}

impl View {
    /// Reads the view from a request's parameters.
    pub(crate) fn parse(params: &Params) -> Result<View, Problem> {
        let (group, start) = match cursor(params)? {
            None => (params.group()?, Start::Page(params.number("page", 0)?)),
            Some(cursor) => (cursor.group, Start::Cursor(cursor)),
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
            per_group: match group {
                Group::Document => per_document,
                Group::None | Group::Package => per_package,
            },
        })
    }

    /// The page's number; rounded down if the page begins at a cursor.
    pub(crate) fn page(&self) -> usize {
        match self.start {
            Start::Page(page) => page,
            Start::Cursor(cursor) => cursor.offset as usize / self.per_page,
        }
    }

    /// Counts the items on all pages of an answer.
    pub(crate) fn items(&self, answer: &SearchResult) -> Result<usize, Problem> {
        Ok(match self.group {
            Group::None => answer.len(),
            Group::Package => answer.packages(),
            Group::Document => answer.documents_listed()?,
        })
    }

    /// Returns the range of `items` on the page.
    pub(crate) fn slice(&self, answer: &SearchResult, items: usize) -> Result<PageRange, Problem> {
        match self.start {
            Start::Page(page) => Ok(PageRange::new(items, page, self.per_page)?),
            Start::Cursor(cursor) if cursor.is_of(answer) => Ok(PageRange::from(
                items,
                cursor.offset as usize,
                self.per_page,
            )),
            Start::Cursor(_) => Err(join::expired()),
        }
    }

    /// Reads a range of the items. Blocks on the disk.
    pub(crate) fn read(
        &self,
        answer: &SearchResult,
        range: Range<usize>,
    ) -> Result<Items, SpoolError> {
        Ok(match self.group {
            Group::None => Items::Matches(answer.matches(range)?),
            Group::Package => {
                let packages = answer.package_list(range)?.into_iter();
                let read = |package: PackageGroup| {
                    let matches = answer.matches_of(&package, self.per_group)?;
                    Ok((package, matches))
                };
                Items::Packages(packages.map(read).collect::<Result<_, SpoolError>>()?)
            }
            Group::Document => {
                let documents = answer.document_list(range)?.into_iter();
                let read = |document: DocumentGroup| {
                    let first = document.first.len().min(self.per_group);
                    Ok((document.total, answer.matches_at(&document.first[..first])?))
                };
                Items::Documents(documents.map(read).collect::<Result<_, SpoolError>>()?)
            }
        })
    }
}

/// Returns the cursor at which the page begins.
fn cursor(params: &Params) -> Result<Option<Cursor>, Problem> {
    let Some(text) = params.text("cursor")? else {
        return Ok(None);
    };
    let cursor = Cursor::decode(text).ok_or_else(|| {
        Problem::bad_request("the cursor is malformed")
            .hint("use `next` of an earlier page, unchanged")
    })?;
    if params.bytes("page").is_some() {
        let detail = "page and cursor both set where the page begins";
        return Err(Problem::bad_request(detail).hint("leave out page"));
    }
    if params.bytes("group").is_some() && params.group()? != cursor.group {
        let detail = "the cursor belongs to an answer with another group";
        return Err(Problem::bad_request(detail).hint("leave out group"));
    }
    Ok(Some(cursor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> Result<View, Problem> {
        View::parse(&Params::parse(query).unwrap())
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
