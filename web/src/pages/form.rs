//! The search form: a query and how its results are shown, as they stand in an address.
//!
//! A form keeps what the user typed, whether or not it can be understood: the page of an error shows
//! it again. Its methods return the addresses of other pages of the same query.

use super::visible;
use crate::assets;
use crate::choice::{Case, Choice, Copies, Group, Mode};
use crate::links::encode;
use crate::params::{Params, lossy};
use frontend::query::filter;
use schema::message::Field;

/// The fields of the search form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    pub(super) q: String,
    pub(super) mode: Mode,
    /// If it is not the mode's default.
    pub(super) case: Option<Case>,
    /// Only whole words match.
    pub(super) word: bool,
    pub(super) group: Group,
    /// If it is not the default.
    pub(super) copies: Option<Copies>,
    pub(super) filters: Vec<FormFilter>,
    pub(super) want: Option<String>,
    pub(super) limit: Option<String>,
    pub(super) generation: Option<String>,
    /// If it is not the default.
    pub(super) per_page: Option<usize>,
    /// The id of the search that the script of the page follows. No other address has it: people share
    /// those.
    pub(super) run: Option<String>,
    /// Whether the client has a key, which it may want to give up.
    pub(super) has_key: bool,
}

/// An option of a select element.
pub(super) struct SelectOption {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) selected: bool,
}

fn options<C: Choice>(chosen: C) -> Vec<SelectOption> {
    let option = |&(choice, name, label): &(C, &'static str, &'static str)| SelectOption {
        name,
        label,
        selected: choice == chosen,
    };
    C::ALL.iter().map(option).collect()
}

/// A filter as it stands in the address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormFilter {
    /// The name of the parameter.
    pub(super) name: &'static str,
    pub(super) typed: String,
}

impl FormFilter {
    /// Returns the filter as it is interpreted.
    pub(super) fn label(&self) -> String {
        let field = filter::field(self.name).expect("the name is that of a filter");
        let label = match filter::parse(field, &self.typed) {
            Ok(filter) => frontend::query::interpreted_as(&filter),
            Err(_) => format!("{}:{}", self.name, self.typed),
        };
        visible::plain(label.as_bytes())
    }
}

impl Form {
    /// Returns the form that the parameters fill in. Values that are not a choice are left out.
    pub(crate) fn new(params: &Params) -> Form {
        let text = |value| lossy(Some(value)).into_owned();
        let typed = |name| params.bytes(name).map(text);
        let filters = params.filters().map(|(field, _, value)| FormFilter {
            name: filter::name(field),
            typed: text(value),
        });
        Form {
            q: typed("q").unwrap_or_default(),
            mode: choice(params, "mode").unwrap_or_default(),
            case: choice(params, "case"),
            word: params.bytes("word") == Some(b"yes"),
            group: choice(params, "group").unwrap_or_default(),
            copies: choice(params, "copies").filter(|&copies| copies != Copies::Folded),
            filters: filters.collect(),
            per_page: params.number("per_page", 0).ok().filter(|&n| n > 0),
            want: typed("want"),
            limit: typed("limit"),
            generation: typed("generation"),
            run: typed("run"),
            has_key: params.has_key,
        }
    }

    /// Returns the query as a page's title.
    pub(super) fn title(&self) -> String {
        visible::plain(self.q.as_bytes())
    }

    pub(super) fn modes(&self) -> Vec<SelectOption> {
        options(self.mode)
    }

    pub(super) fn cases(&self) -> Vec<SelectOption> {
        options(self.case.unwrap_or(match self.mode {
            Mode::Keyword => Case::Auto,
            Mode::Literal | Mode::Regexp => Case::Yes,
        }))
    }

    pub(super) fn groups(&self) -> Vec<SelectOption> {
        options(self.group)
    }

    /// Returns the address that searches for the query as one text, if it was read as several words.
    pub(super) fn href_exact(&self) -> Option<String> {
        let several = self.q.split_whitespace().nth(1).is_some();
        (several && self.mode == Mode::Keyword).then(|| {
            let mut form = self.clone();
            (form.mode, form.run) = (Mode::Literal, None);
            form.href(0)
        })
    }

    /// Returns the address of a page of results.
    pub(super) fn href(&self, page: usize) -> String {
        let mut href = format!("/search?q={}", encode(self.q.as_bytes()));
        if self.mode != Mode::default() {
            href.push_str(&format!("&mode={}", self.mode.name()));
        }
        if let Some(case) = self.case {
            href.push_str(&format!("&case={}", case.name()));
        }
        if self.word {
            href.push_str("&word=yes");
        }
        if self.group != Group::default() {
            href.push_str(&format!("&group={}", self.group.name()));
        }
        if let Some(copies) = self.copies {
            href.push_str(&format!("&copies={}", copies.name()));
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

    /// Returns the address of the facets of the query.
    pub(super) fn href_facets(&self) -> String {
        self.href(0).replacen("/search?", "/search/facets?", 1)
    }

    /// Returns the address of the query with or without copies.
    pub(super) fn href_copies(&self, copies: Copies) -> String {
        let mut form = self.clone();
        form.copies = Some(copies).filter(|&copies| copies != Copies::Folded);
        form.run = None;
        form.href(0)
    }

    /// Returns the address of the query without one of its filters.
    pub(super) fn href_without(&self, filter: &usize) -> String {
        let mut form = self.clone();
        form.filters.remove(*filter);
        form.run = None;
        form.href(0)
    }

    /// Returns the address of the query in one package, ungrouped.
    pub(super) fn href_in(&self, package: &str) -> String {
        self.href_with(&[(Field::Package, package)])
    }

    /// Returns the address of the query in one document, ungrouped.
    pub(super) fn href_in_document(&self, package: &str, path: &str) -> String {
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

/// What every page has: the search form and the addresses of the assets.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) form: Form,
    pub(super) style: String,
    pub(super) script: String,
    pub(super) icon: String,
}

impl Layout {
    pub(super) fn new(form: Form) -> Layout {
        Layout {
            form,
            style: assets::address(assets::STYLE),
            script: assets::address(assets::SCRIPT),
            icon: assets::address(assets::ICON),
        }
    }
}

impl Default for Layout {
    fn default() -> Layout {
        Layout::new(Form::default())
    }
}

fn choice<C: Choice>(params: &Params, name: &str) -> Option<C> {
    C::parse(params.bytes(name)?)
}

/// A link to a page of results, or the gap between two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PageLink {
    pub(super) text: String,
    pub(super) href: String,
    pub(super) rel: &'static str,
    pub(super) current: bool,
    pub(super) gap: bool,
}

/// Returns links to the first and the last page, to the pages around the current one, and to its
/// neighbours.
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

    #[test]
    fn addresses_keep_filters_and_can_drop_one() {
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
    fn several_words_link_to_the_exact_text() {
        let form = |q: &str, mode| Form {
            q: q.to_owned(),
            mode,
            ..Form::default()
        };
        let exact = form("a  b", Mode::Keyword).href_exact();
        assert_eq!(exact.as_deref(), Some("/search?q=a%20%20b&mode=literal"));
        assert_eq!(form(" a ", Mode::Keyword).href_exact(), None);
        assert_eq!(form("a b", Mode::Regexp).href_exact(), None);
    }

    #[test]
    fn encodes_every_byte_of_the_query() {
        let form = Form {
            q: "a&b=c ü+%".to_owned(),
            mode: Mode::Regexp,
            ..Form::default()
        };
        assert_eq!(
            form.href(2),
            "/search?q=a%26b%3Dc%20%C3%BC%2B%25&mode=regexp&page=2"
        );
    }
}
