//! The search form: a query and how its results are shown, as they stand in an address.
//!
//! A form keeps what the user typed, whether or not it can be understood: the page of an error shows
//! it again. Its methods return the addresses of other pages of the same query.

use super::visible;
use crate::assets;
use crate::choice::{Case, Choice, Copies, Group, Mode};
use crate::links::{FileAddress, encode};
use crate::params::{Params, lossy};
use frontend::Document;
use frontend::query::{Query, filter};
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
    /// If it is not the default.
    pub(super) group: Option<Group>,
    /// If it is not the default.
    pub(super) copies: Option<Copies>,
    pub(super) filters: Vec<FormFilter>,
    pub(super) context: Option<String>,
    pub(super) want: Option<String>,
    pub(super) limit: Option<String>,
    pub(super) total: Option<String>,
    pub(super) timeout: Option<String>,
    pub(super) generation: Option<String>,
    /// If it is not the default.
    pub(super) per_page: Option<usize>,
    pub(super) per_package: Option<String>,
    pub(super) per_document: Option<String>,
    /// The first line that is shown, of results in one file; if it is not the first of all.
    pub(super) from: Option<u32>,
    /// The id of the search that the script of the page follows. No other address has it: people share
    /// those.
    pub(super) run: Option<String>,
    /// Whether the client has a key, which it may want to give up.
    pub(super) has_key: bool,
    /// The names of the revisions that the query selects, if it names them.
    pub(super) revisions: Vec<String>,
}

/// Bytes of the parameters of a query that the links to files carry. A page has some hundred of these links.
const MARKING_BYTES_MAX: usize = 512;

/// What a page of results shows by default.
pub(super) const GROUP_DEFAULT: Group = Group::Document;

/// A link to the same results, grouped in another way.
#[derive(Clone, Debug)]
pub(super) struct Tab {
    pub(super) label: &'static str,
    pub(super) href: String,
    pub(super) current: bool,
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
            group: choice(params, "group").filter(|&group| group != GROUP_DEFAULT),
            copies: choice(params, "copies").filter(|&copies| copies != Copies::Folded),
            filters: filters.collect(),
            per_page: params.number("per_page", 0).ok().filter(|&n| n > 0),
            from: params.number("from", 0).ok().filter(|&line| line > 1),
            context: typed("context"),
            per_package: typed("per_package"),
            per_document: typed("per_document"),
            want: typed("want"),
            limit: typed("limit"),
            total: typed("total"),
            timeout: typed("timeout"),
            generation: typed("generation"),
            run: typed("run"),
            has_key: params.has_key,
            revisions: Vec::new(),
        }
    }

    /// The same, with links to the revisions that the query names.
    pub(super) fn in_revisions_of(self, query: &Query) -> Form {
        Form {
            revisions: query.revisions(),
            ..self
        }
    }

    /// Returns the address of a document: in the revision that the query names, else at the commit that was indexed.
    pub(super) fn address_of<'a>(&'a self, document: &'a Document) -> FileAddress<'a> {
        let address = FileAddress::of(document);
        let has = |name: &&String| document.revisions.names.contains(name);
        let named = match &self.revisions[..] {
            [one] => Some(one),
            several => several.iter().find(has),
        };
        match named {
            // Texts without a commit are of no repository.
            Some(name) if !address.revision.is_empty() => FileAddress {
                revision: name,
                ..address
            },
            _ => address,
        }
    }

    /// Returns the form of the query alone, without filters and choices of how to show an answer.
    pub(super) fn of_query(&self) -> Form {
        Form {
            q: self.q.clone(),
            mode: self.mode,
            case: self.case,
            word: self.word,
            ..Form::default()
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

    /// Returns how results are grouped.
    pub(super) fn group(&self) -> Group {
        self.group.unwrap_or(GROUP_DEFAULT)
    }

    /// Returns the name of the group, if it is not the default.
    pub(super) fn group_name(&self) -> Option<&'static str> {
        self.group.map(Group::name)
    }

    /// Returns links to the same results in each group.
    pub(super) fn tabs(&self) -> Vec<Tab> {
        let tab = |group: Group| Tab {
            label: group.label(),
            href: self.href_grouped(group),
            current: group == self.group(),
        };
        [Group::Document, Group::None, Group::Package]
            .map(tab)
            .to_vec()
    }

    fn href_grouped(&self, group: Group) -> String {
        let mut form = self.clone();
        form.group = Some(group).filter(|&group| group != GROUP_DEFAULT);
        (form.run, form.from) = (None, None);
        form.href(0)
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

    /// Returns the parameters that say which parts of a text match: `q=…` and how it is read.
    pub(super) fn query_parameters(&self) -> String {
        let mut parameters = format!("q={}", encode(self.q.as_bytes()));
        if self.mode != Mode::default() {
            parameters.push_str(&format!("&mode={}", self.mode.name()));
        }
        if let Some(case) = self.case {
            parameters.push_str(&format!("&case={}", case.name()));
        }
        if self.word {
            parameters.push_str("&word=yes");
        }
        parameters
    }

    /// Returns the parameters with which the page of a file marks what matches; empty without a query, and of one
    /// that is too long to stand in every link of a page.
    pub(super) fn marking_parameters(&self) -> String {
        if self.q.trim().is_empty() {
            return String::new();
        }
        let parameters = self.query_parameters();
        if parameters.len() > MARKING_BYTES_MAX {
            String::new()
        } else {
            parameters
        }
    }

    /// Returns the parameters of the query itself, encoded: what it searches for, not how it is shown.
    pub(super) fn search_parameters(&self) -> String {
        let mut query = self.query_parameters();
        let mut push = |name: &str, value: &str| {
            query.push_str(&format!("&{name}={}", encode(value.as_bytes())));
        };
        for FormFilter { name, typed } in &self.filters {
            push(name, typed);
        }
        for (name, typed) in [
            ("context", &self.context),
            ("want", &self.want),
            ("limit", &self.limit),
            ("total", &self.total),
            ("timeout", &self.timeout),
            ("generation", &self.generation),
        ] {
            if let Some(typed) = typed {
                push(name, typed);
            }
        }
        query
    }

    /// Returns the address of a page of results.
    pub(super) fn href(&self, page: usize) -> String {
        format!("/search?{}", self.parameters(page))
    }

    /// Returns the address of the events of the running search.
    pub(super) fn events_href(&self) -> String {
        format!("/search/events?{}", self.parameters(0))
    }

    fn parameters(&self, page: usize) -> String {
        let mut href = self.search_parameters();
        if let Some(group) = self.group {
            href.push_str(&format!("&group={}", group.name()));
        }
        if let Some(copies) = self.copies {
            href.push_str(&format!("&copies={}", copies.name()));
        }
        if let Some(per_page) = self.per_page {
            href.push_str(&format!("&per_page={per_page}"));
        }
        for (name, typed) in [
            ("per_package", &self.per_package),
            ("per_document", &self.per_document),
        ] {
            if let Some(typed) = typed {
                href.push_str(&format!("&{name}={}", encode(typed.as_bytes())));
            }
        }
        if let Some(from) = self.from {
            href.push_str(&format!("&from={from}"));
        }
        if page > 0 {
            href.push_str(&format!("&page={page}"));
        }
        if let Some(run) = &self.run {
            href.push_str(&format!("&run={}", encode(run.as_bytes())));
        }
        href
    }

    /// Returns the parameters as fields of a form.
    pub(super) fn fields(&self) -> Vec<(String, String)> {
        let params = Params::parse(&self.parameters(0)).unwrap_or_default();
        let pairs = params.into_pairs().into_iter();
        pairs
            .map(|(name, value)| (name, lossy(Some(&value)).into_owned()))
            .collect()
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

    /// Returns the query in one package.
    pub(super) fn in_package(&self, package: &str) -> Form {
        self.with_filters(&[(Field::Package, package)])
    }

    /// Returns the query in one document, whose page has its lines in order.
    pub(super) fn in_document(&self, package: &str, path: &str) -> Form {
        self.with_filters(&[(Field::Package, package), (Field::Path, path)])
    }

    fn with_filters(&self, exact: &[(Field, &str)]) -> Form {
        let mut form = self.clone();
        let filter = |&(field, text): &(Field, &str)| FormFilter {
            name: filter::name(field),
            typed: format!("={text}"),
        };
        form.filters.extend(exact.iter().map(filter));
        (form.group, form.run, form.from) = (None, None, None);
        (form.per_package, form.per_document) = (None, None);
        form
    }

    /// Returns the address of the same results from a line on.
    pub(super) fn href_from(&self, line: u32) -> String {
        let mut form = self.clone();
        (form.from, form.run) = (Some(line), None);
        form.href(0)
    }

    /// Returns the address of the same results over the same documents, whatever is indexed later.
    pub(super) fn href_permanent(&self, generation: &str) -> String {
        let mut form = self.clone();
        form.generation = Some(generation.to_owned());
        form.run = None;
        form.href(0)
    }

    /// Returns the address of all matches in one format.
    pub(super) fn href_export(&self, format: &str) -> String {
        format!(
            "/api/v2/export?{}&format={format}",
            self.search_parameters()
        )
    }
}

/// What every page has: the search form and the addresses of the assets.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) form: Form,
    /// Whether the page says what is wrong with the query, in the element `fault`.
    pub(super) has_fault: bool,
    pub(super) style: String,
    pub(super) script: String,
    pub(super) icon: String,
}

impl Layout {
    pub(super) fn new(form: Form) -> Layout {
        Layout {
            form,
            has_fault: false,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_filters_and_can_drop_one() {
        let filter = |name, typed: &str| FormFilter {
            name,
            typed: typed.to_owned(),
        };
        let form = Form {
            q: "x".to_owned(),
            group: Some(Group::Package),
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
            "/search?q=x&path=-a%26b/&lang=c%2B%2B&path=%28&group=package&page=1&run=7"
        );
        assert_eq!(
            form.href_without(&2),
            "/search?q=x&path=-a%26b/&lang=c%2B%2B&group=package"
        );
        let one = Form {
            q: "x".to_owned(),
            ..Form::default()
        };
        assert_eq!(
            one.in_package("-p_1").href(0),
            "/search?q=x&package=%3D-p_1"
        );
        let document = one.in_document("p", "a b").href(0);
        assert_eq!(document, "/search?q=x&package=%3Dp&path=%3Da%20b");
    }

    #[test]
    fn addresses_keep_every_parameter_of_the_query_and_of_how_it_is_shown() {
        let kept = "q=x&mode=regexp&case=no&word=yes&lang=c&package=p&path=s&rev=v1&branch=main&kind=tests&context=1\
            &want=count&limit=7&total=exact&timeout=9&generation=g&group=package&copies=all&per_page=5&per_package=2&per_document=3";
        // `page` is a choice of each link, and the others are of programs.
        let left_out = ["page", "wait", "explain", "cursor"];
        let names: Vec<&str> = kept
            .split('&')
            .map(|pair| pair.split('=').next().unwrap())
            .collect();
        for name in crate::params::QUERY.iter().chain(crate::params::VIEW) {
            assert!(names.contains(name) || left_out.contains(name), "{name}");
        }
        let params = Params::parse(kept).unwrap();
        let href = Form::new(&params).href(0);
        for pair in kept.split('&') {
            assert!(href.contains(pair), "{pair} is not in {href}");
        }
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
