//! From a page's number to the matches on it.
//!
//! Pages count from 0. A page is a slice of the order, so the cost of one does not depend on its
//! number. By package, packages come in the order of their best match, with their first few
//! matches and their exact count; a page is a slice of the packages then.

use crate::rank::Pointer;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Matches on a page when nobody says otherwise.
pub const PER_PAGE_DEFAULT: usize = 10;

/// Matches on a page: what one answer may hold in memory, a thousand lines with their context.
pub const PER_PAGE_MAX: usize = 1000;

/// Packages on a page when grouped and nobody says otherwise.
pub const PACKAGES_PER_PAGE_DEFAULT: usize = 5;

/// Matches of a package that are shown when grouped.
pub const PER_PACKAGE_DEFAULT: usize = 2;

/// The most matches of a package that can be shown when grouped.
pub const PER_PACKAGE_MAX: usize = 10;

/// A page of something that is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Its number.
    pub page: usize,
    /// Items on a full page.
    pub per_page: usize,
    /// Pages in all; an empty result has one.
    pub pages: usize,
    /// The items on it.
    pub range: Range<usize>,
}

/// There is no such page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no page {page}, the last one is {last}")]
pub struct PastTheEnd {
    /// What was asked for.
    pub page: usize,
    /// The last page there is.
    pub last: usize,
}

impl Slice {
    /// The page with number `page` of `total` items.
    ///
    /// # Panics
    /// When `per_page` is 0.
    pub fn new(total: usize, page: usize, per_page: usize) -> Result<Slice, PastTheEnd> {
        let pages = total.div_ceil(per_page).max(1);
        if page >= pages {
            return Err(PastTheEnd {
                page,
                last: pages - 1,
            });
        }
        let start = page * per_page;
        Ok(Slice {
            page,
            per_page,
            pages,
            range: start..total.min(start + per_page),
        })
    }
}

/// A package with matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// Its id in the run's string pool.
    pub(crate) package: u32,
    /// How many matches it has.
    pub(crate) total: u64,
    /// Where in the order its first matches are, at most [`PER_PACKAGE_MAX`].
    pub(crate) first: Vec<usize>,
}

impl Group {
    /// The matches that are shown when a package may have so many.
    pub(crate) fn shown(&self, per_package: usize) -> &[usize] {
        &self.first[..self.first.len().min(per_package)]
    }
}

/// Groups ordered pointers by package.
pub(crate) fn group(pointers: &[Pointer]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places = FxHashMap::default();
    for (index, pointer) in pointers.iter().enumerate() {
        let place = *places.entry(pointer.package()).or_insert_with(|| {
            groups.push(Group {
                package: pointer.package(),
                total: 0,
                first: Vec::new(),
            });
            groups.len() - 1
        });
        let group = &mut groups[place];
        group.total += 1;
        if group.first.len() < PER_PACKAGE_MAX {
            group.first.push(index);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::Origin;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pages_cover_everything_once(total in 0_usize..300, per_page in 1_usize..50) {
            let pages = Slice::new(total, 0, per_page).unwrap().pages;
            let mut next = 0;
            for page in 0..pages {
                let slice = Slice::new(total, page, per_page).unwrap();
                prop_assert_eq!(slice.range.start, next);
                next = slice.range.end;
            }
            prop_assert_eq!(next, total);
            let past = PastTheEnd { page: pages, last: pages - 1 };
            prop_assert_eq!(Slice::new(total, pages, per_page), Err(past));
        }
    }

    #[test]
    fn an_empty_result_has_exactly_page_0() {
        assert_eq!(Slice::new(0, 0, 10).unwrap().range, 0..0);
        assert_eq!(Slice::new(0, 1, 10).unwrap_err().last, 0);
        assert!(Slice::new(5, usize::MAX, 10).is_err());
    }

    #[test]
    fn packages_come_by_their_best_match_with_exact_counts() {
        let pointers: Vec<_> = [3, 1, 3, 2, 1, 3]
            .iter()
            .map(|&package| {
                let origin = Origin {
                    hash: 0,
                    package,
                    backend: 0,
                    offset: 0,
                };
                origin.pointer(1.0, 1, 0)
            })
            .collect();
        let groups = group(&pointers);
        let summary: Vec<_> = groups.iter().map(|g| (g.package, g.total)).collect();
        assert_eq!(summary, [(3, 3), (1, 2), (2, 1)]);
        assert_eq!(groups[0].first, [0, 2, 5]);
    }
}
