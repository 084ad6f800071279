//! Addresses within the site.

use crate::render::visible;
use frontend::query::filter;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use schema::message::Field;

/// What stays as it is in a query string's value.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'/');

fn encode(bytes: &[u8]) -> String {
    percent_encode(bytes, ESCAPED).to_string()
}

/// The search form's fields: a query and how its results are to be shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    pub(crate) q: String,
    pub(crate) mode: Mode,
    /// When it is not the mode's own.
    pub(crate) case: Option<Case>,
    /// Only whole words match.
    pub(crate) word: bool,
    pub(crate) group: Group,
    pub(crate) filters: Vec<FormFilter>,
    /// As typed, when they are.
    pub(crate) want: Option<String>,
    pub(crate) limit: Option<String>,
    pub(crate) generation: Option<String>,
    /// When it is not the default.
    pub(crate) per_page: Option<usize>,
    /// The run that is looked at. Without one an answer that is incomplete would be searched for
    /// anew on every page.
    pub(crate) run: Option<String>,
}

/// A word of a choice in the form.
pub(crate) trait Choice: Copy + PartialEq + 'static {
    /// What there is to choose from, with the words of the address and of the form.
    const ALL: &[(Self, &'static str, &'static str)];

    /// What a word of an address means.
    fn of(word: &[u8]) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|(_, known, _)| known.as_bytes() == word)
            .map(|(choice, ..)| *choice)
    }

    /// The word in an address.
    fn word(self) -> &'static str {
        let mut all = Self::ALL.iter();
        let found = all.find(|(choice, ..)| *choice == self);
        found.map_or("", |(_, word, _)| word)
    }
}

/// How the text is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Keyword,
    Literal,
    Regexp,
}

impl Choice for Mode {
    const ALL: &[(Mode, &'static str, &'static str)] = &[
        (Mode::Keyword, "keyword", "Words and filters"),
        (Mode::Literal, "literal", "Exact text"),
        (Mode::Regexp, "regexp", "Regular expression"),
    ];
}

/// Whether upper and lower case differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Auto,
    Yes,
    No,
}

impl Choice for Case {
    const ALL: &[(Case, &'static str, &'static str)] = &[
        (Case::Auto, "auto", "Smart case"),
        (Case::Yes, "yes", "Match case"),
        (Case::No, "no", "Ignore case"),
    ];
}

/// What results are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Group {
    #[default]
    None,
    Package,
    Document,
}

impl Choice for Group {
    const ALL: &[(Group, &'static str, &'static str)] = &[
        (Group::None, "none", "Best lines first"),
        (Group::Package, "package", "Group by package"),
        (Group::Document, "document", "Group by file"),
    ];
}

/// An entry of a list to choose from.
pub(crate) struct OptionView {
    pub(crate) word: &'static str,
    pub(crate) label: &'static str,
    pub(crate) selected: bool,
}

fn options<C: Choice>(chosen: C) -> Vec<OptionView> {
    let option = |&(choice, word, label): &(C, &'static str, &'static str)| OptionView {
        word,
        label,
        selected: choice == chosen,
    };
    C::ALL.iter().map(option).collect()
}

/// A filter as it stands in the address, which is kept whether or not it can be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormFilter {
    /// Of the parameter.
    pub(crate) name: &'static str,
    pub(crate) typed: String,
}

impl FormFilter {
    /// The filter as it was understood.
    pub(crate) fn label(&self) -> String {
        let field = filter::field(self.name).expect("it is a filter's name");
        let label = match filter::parse(field, &self.typed) {
            Ok(filter) => filter::interpreted_as(&filter),
            Err(_) => format!("{}:{}", self.name, self.typed),
        };
        visible::plain(label.as_bytes())
    }
}

impl Form {
    /// The query as a page's title.
    pub(crate) fn title(&self) -> String {
        visible::plain(self.q.as_bytes())
    }

    pub(crate) fn modes(&self) -> Vec<OptionView> {
        options(self.mode)
    }

    pub(crate) fn cases(&self) -> Vec<OptionView> {
        options(self.case.unwrap_or(match self.mode {
            Mode::Keyword => Case::Auto,
            Mode::Literal | Mode::Regexp => Case::Yes,
        }))
    }

    pub(crate) fn groups(&self) -> Vec<OptionView> {
        options(self.group)
    }

    /// The address of the same characters as one text, when they were taken for several words.
    pub(crate) fn href_exact(&self) -> Option<String> {
        let several = self.q.split_whitespace().nth(1).is_some();
        (several && self.mode == Mode::Keyword).then(|| {
            let mut form = self.clone();
            (form.mode, form.run) = (Mode::Literal, None);
            form.href(0)
        })
    }

    /// The address of a page of results.
    pub(crate) fn href(&self, page: usize) -> String {
        let mut href = format!("/search?q={}", encode(self.q.as_bytes()));
        if self.mode != Mode::default() {
            href.push_str(&format!("&mode={}", self.mode.word()));
        }
        if let Some(case) = self.case {
            href.push_str(&format!("&case={}", case.word()));
        }
        if self.word {
            href.push_str("&word=yes");
        }
        if self.group != Group::default() {
            href.push_str(&format!("&group={}", self.group.word()));
        }
        for FormFilter { name, typed } in &self.filters {
            href.push_str(&format!("&{name}={}", encode(typed.as_bytes())));
        }
        for (name, typed) in [
            ("want", &self.want),
            ("limit", &self.limit),
            ("generation", &self.generation),
        ] {
            if let Some(typed) = typed {
                href.push_str(&format!("&{name}={}", encode(typed.as_bytes())));
            }
        }
        if let Some(per_page) = self.per_page {
            href.push_str(&format!("&per_page={per_page}"));
        }
        if page > 0 {
            href.push_str(&format!("&page={page}"));
        }
        if let Some(run) = &self.run {
            href.push_str(&format!("&run={}", encode(run.as_bytes())));
        }
        href
    }

    /// The address of the same query without one of its filters.
    pub(crate) fn href_without(&self, filter: &usize) -> String {
        let mut form = self.clone();
        form.filters.remove(*filter);
        form.run = None;
        form.href(0)
    }

    /// The address of the same query in one package, by the name of its directory, with its matches
    /// in a row.
    pub(crate) fn href_in(&self, package: &str) -> String {
        self.href_with(&[(Field::Package, package)])
    }

    /// The same for one document.
    pub(crate) fn href_in_document(&self, package: &str, path: &str) -> String {
        self.href_with(&[(Field::Package, package), (Field::Path, path)])
    }

    fn href_with(&self, exact: &[(Field, &str)]) -> String {
        let mut form = self.clone();
        let filter = |&(field, text): &(Field, &str)| FormFilter {
            name: filter::name(field),
            typed: format!("={text}"),
        };
        form.filters.extend(exact.iter().map(filter));
        (form.group, form.run) = (Group::None, None);
        form.href(0)
    }
}

/// A file at a line; at its beginning when there is none.
pub(super) fn show_href(package: &[u8], path: &[u8], line: u32) -> String {
    let (package, path) = (encode(package), encode(path));
    match line {
        0 => format!("/show?package={package}&path={path}"),
        line => format!("/show?package={package}&path={path}&line={line}#L{line}"),
    }
}

/// A file from a line on.
pub(super) fn window_href(package: &[u8], path: &[u8], first: u32) -> String {
    let (package, path) = (encode(package), encode(path));
    format!("/show?package={package}&path={path}&first={first}")
}

/// A file's bytes.
pub(super) fn file_href(package: &[u8], path: &[u8]) -> String {
    format!(
        "/api/v2/file?package={}&path={}",
        encode(package),
        encode(path)
    )
}

/// A link to a page of results, or what stands between two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageLink {
    pub(crate) text: String,
    pub(crate) href: String,
    pub(crate) rel: &'static str,
    pub(crate) current: bool,
    pub(crate) gap: bool,
}

/// Links to the first and last page, to those around the current one, and to its neighbours.
pub(crate) fn page_links(form: &Form, page: usize, pages: usize) -> Vec<PageLink> {
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
    fn the_pages_around_and_both_ends_are_linked() {
        check(0, 1, expect!["[1]"]);
        check(0, 9, expect!["[1] 2 3 4 … 9 Next ›"]);
        check(5, 12, expect!["‹ Previous 1 … 3 4 5 [6] 7 8 9 … 12 Next ›"]);
        check(11, 12, expect!["‹ Previous 1 … 9 10 11 [12]"]);
    }

    #[test]
    fn filters_go_along_and_can_be_left_out() {
        let filter = |name, typed: &str| FormFilter {
            name,
            typed: typed.to_owned(),
        };
        let form = Form {
            q: "x".to_owned(),
            group: Group::Package,
            filters: vec![
                filter("path", "-a&b/"),
                filter("lang", "c++"),
                filter("path", "("),
            ],
            run: Some("7".to_owned()),
            ..Form::default()
        };
        let labels: Vec<String> = form.filters.iter().map(FormFilter::label).collect();
        assert_eq!(labels, ["-path:a&b/", "lang:c++", "path:("]);
        assert_eq!(
            form.href(1),
            "/search?q=x&group=package&path=-a%26b/&lang=c%2B%2B&path=%28&page=1&run=7"
        );
        assert_eq!(
            form.href_without(&2),
            "/search?q=x&group=package&path=-a%26b/&lang=c%2B%2B"
        );
        let one = Form {
            q: "x".to_owned(),
            ..Form::default()
        };
        assert_eq!(one.href_in("-p_1"), "/search?q=x&package=%3D-p_1");
        let document = one.href_in_document("p", "a b");
        assert_eq!(document, "/search?q=x&package=%3Dp&path=%3Da%20b");
    }

    #[test]
    fn several_words_can_be_one_text() {
        let form = |q: &str, mode| Form {
            q: q.to_owned(),
            mode,
            ..Form::default()
        };
        let exact = form("a  b", Mode::Keyword).href_exact();
        assert_eq!(exact.as_deref(), Some("/search?q=a%20%20b&mode=literal"));
        assert_eq!(form(" a ", Mode::Keyword).href_exact(), None);
        assert_eq!(form("a b", Mode::Regexp).href_exact(), None);
        assert_eq!(Case::of(b"no"), Some(Case::No));
        assert_eq!(Mode::of(b"nonsense"), None);
    }

    #[test]
    fn every_byte_survives_an_address() {
        let form = Form {
            q: "a&b=c ü+%".to_owned(),
            mode: Mode::Regexp,
            ..Form::default()
        };
        assert_eq!(
            form.href(2),
            "/search?q=a%26b%3Dc%20%C3%BC%2B%25&mode=regexp&page=2"
        );
        assert_eq!(
            show_href(b"p_1", b"x/\xff#", 3),
            "/show?package=p_1&path=x/%FF%23&line=3#L3"
        );
    }
}
