//! Page numbers to ranges of matches, packages or documents.
//!
//! Pages count from 0. A page is a slice of the order or of the groups, so its cost does
//! not depend on its number.

use std::ops::Range;

pub const PER_PAGE_DEFAULT: usize = 10;

/// Maximum matches on a page: a thousand lines with context in memory.
pub const PER_PAGE_MAX: usize = 1000;

pub const PACKAGES_PER_PAGE_DEFAULT: usize = 5;

pub const PER_PACKAGE_DEFAULT: usize = 2;

pub const PER_PACKAGE_MAX: usize = 10;

pub const DOCUMENTS_PER_PAGE_DEFAULT: usize = 10;

pub const PER_DOCUMENT_DEFAULT: usize = 3;

pub const PER_DOCUMENT_MAX: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRange {
    pub page: usize,
    pub per_page: usize,
    /// Number of pages, at least one.
    pub pages: usize,
    pub range: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no page={page}: pages count from 0, and the last one is page={last}")]
pub struct PastTheEnd {
    pub page: usize,
    pub last: usize,
}

impl PageRange {
    /// Page number `page` of `total` items.
    ///
    /// # Panics
    /// If `per_page` is 0.
    pub fn new(total: usize, page: usize, per_page: usize) -> Result<PageRange, PastTheEnd> {
        let pages = total.div_ceil(per_page).max(1);
        if page >= pages {
            return Err(PastTheEnd {
                page,
                last: pages - 1,
            });
        }
        Ok(PageRange {
            page,
            ..PageRange::from(total, page * per_page, per_page)
        })
    }

    /// Page from item `start`, aligned or not.
    ///
    /// # Panics
    /// If `per_page` is 0.
    pub fn from(total: usize, start: usize, per_page: usize) -> PageRange {
        let start = start.min(total);
        PageRange {
            page: start / per_page,
            per_page,
            pages: total.div_ceil(per_page).max(1),
            range: start..total.min(start.saturating_add(per_page)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pages_cover_everything_once(total in 0_usize..300, per_page in 1_usize..50) {
            let pages = PageRange::new(total, 0, per_page).unwrap().pages;
            let mut next = 0;
            for page in 0..pages {
                let slice = PageRange::new(total, page, per_page).unwrap();
                prop_assert_eq!(slice.range.start, next);
                next = slice.range.end;
            }
            prop_assert_eq!(next, total);
            let past = PastTheEnd { page: pages, last: pages - 1 };
            prop_assert_eq!(PageRange::new(total, pages, per_page), Err(past));
        }
    }

    #[test]
    fn an_empty_list_has_only_page_0() {
        assert_eq!(PageRange::new(0, 0, 10).unwrap().range, 0..0);
        assert_eq!(PageRange::new(0, 1, 10).unwrap_err().last, 0);
        assert!(PageRange::new(5, usize::MAX, 10).is_err());
    }
}
