//! Links between the pages of an answer.

use super::form::Form;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PageLink {
    pub(super) text: String,
    pub(super) href: String,
    pub(super) rel: &'static str,
    pub(super) current: bool,
    pub(super) gap: bool,
}

/// Links to neighbours, the first and last page, and those around the current one.
pub(super) fn page_links(form: &Form, page: usize, pages: usize) -> Vec<PageLink> {
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
