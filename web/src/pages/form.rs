//! Search form: a query and the choices for its results, as in an address.
//!
//! It keeps invalid input, for the page of an error. Its methods return related addresses.

use super::visible;
use crate::http::links::{FileAddress, encode};
use crate::http::site::Site;
use crate::search::choice::{Case, Choice, Copies, Group, Mode};
use crate::search::params::{Params, lossy};
use frontend::query::{ParsedQuery, Query, filter};
use frontend::{Coordinator, Document, Scope, SearchHandle};
use schema::message::Field;

#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    pub(super) q: String,
    pub(super) mode: Mode,
    /// `None` for the mode's default.
    pub(super) case: Option<Case>,
    pub(super) word: bool,
    pub(super) exact: bool,
    pub(super) group: Option<Group>,
    pub(super) copies: Option<Copies>,
    pub(super) filters: Vec<FormFilter>,
    /// Other parameters of the search: [`SEARCH`].
    pub(super) search: Vec<(&'static str, String)>,
    pub(super) generation: Option<String>,
    pub(super) per_page: Option<usize>,
    pub(super) per_package: Option<String>,
    pub(super) per_document: Option<String>,
    /// First line shown of results in one file; `None` for line 1.
    pub(super) from: Option<u32>,
    /// Search that the page's script follows. Other addresses omit it, since users share them.
    pub(super) run: Option<String>,
    pub(super) site: Site,
    pub(super) revisions: Vec<String>,
}

/// A page has hundreds of links with these bytes.
const MARKING_BYTES_MAX: usize = 512;

const SEARCH: [&str; 5] = ["context", "want", "limit", "total", "timeout"];

pub(super) const GROUP_DEFAULT: Group = Group::Document;

/// Name, label, and true for the chosen one.
type SelectOption = (&'static str, &'static str, bool);

fn options<C: Choice>(chosen: C) -> Vec<SelectOption> {
    let option = |&(choice, name, label): &(C, _, _)| (name, label, choice == chosen);
    C::ALL.iter().map(option).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormFilter {
    pub(super) name: &'static str,
    pub(super) typed: String,
}

impl FormFilter {
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
    pub(super) fn of(site: &Site) -> Form {
        Form {
            site: site.clone(),
            ..Form::default()
        }
    }

    /// Drops values that are not a choice.
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
            exact: params.bytes("exact") == Some(b"yes"),
            group: choice(params, "group").filter(|&group| group != GROUP_DEFAULT),
            copies: choice(params, "copies").filter(|&copies| copies != Copies::Folded),
            filters: filters.collect(),
            per_page: params.number("per_page", 0).ok().filter(|&n| n > 0),
            from: params.number("from", 0).ok().filter(|&line| line > 1),
            search: (SEARCH.into_iter())
                .filter_map(|name| Some((name, typed(name)?)))
                .collect(),
            per_package: typed("per_package"),
            per_document: typed("per_document"),
            generation: typed("generation"),
            run: typed("run"),
            site: params.site.clone(),
            revisions: Vec::new(),
        }
    }

    pub(super) fn in_revisions_of(self, query: &Query) -> Form {
        Form {
            revisions: query.revisions(),
            ..self
        }
    }

    pub(super) fn known_search(
        &self,
        coordinator: &Coordinator,
        scope: &Scope,
        parsed: &ParsedQuery,
    ) -> Option<SearchHandle> {
        let search = coordinator.get(scope, self.run.as_deref()?);
        search.filter(|search| *search.query() == parsed.query)
    }

    /// Address in the query's revision, else at the indexed commit.
    pub(super) fn address_of<'a>(&'a self, document: &'a Document) -> FileAddress<'a> {
        let address = FileAddress::of(document);
        let has = |name: &&String| document.revisions.names.contains(name);
        let named = match &self.revisions[..] {
            [one] => Some(one),
            several => several.iter().find(has),
        };
        match named {
            // Texts without a commit are of no repository.
            Some(name) if !address.revision.is_empty() => address.at(name),
            _ => address,
        }
    }

    pub(super) fn of_query(&self) -> Form {
        Form {
            q: self.q.clone(),
            mode: self.mode,
            case: self.case,
            word: self.word,
            exact: self.exact,
            ..Form::of(&self.site)
        }
    }

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

    pub(super) fn group(&self) -> Group {
        self.group.unwrap_or(GROUP_DEFAULT)
    }

    pub(super) fn group_name(&self) -> Option<&'static str> {
        self.group.map(Group::name)
    }

    /// True for the current one.
    pub(super) fn tabs(&self) -> [(&'static str, String, bool); 3] {
        [Group::Document, Group::None, Group::Package].map(|group| {
            let href = self.href_with(|form| {
                form.group = Some(group).filter(|&group| group != GROUP_DEFAULT);
                form.from = None;
            });
            (group.label(), href, group == self.group())
        })
    }

    /// The first page after a change. Users share it, so it names no running search.
    pub(super) fn href_with(&self, change: impl FnOnce(&mut Form)) -> String {
        let mut form = Form {
            run: None,
            ..self.clone()
        };
        change(&mut form);
        form.href(0)
    }

    /// Query as one text, if it was read as several words.
    pub(super) fn href_exact(&self) -> Option<String> {
        let several = self.q.split_whitespace().nth(1).is_some();
        (several && self.mode == Mode::Keyword)
            .then(|| self.href_with(|form| form.mode = Mode::Literal))
    }

    /// Parameters that decide which parts of a text match.
    pub(super) fn query_parameters(&self) -> String {
        let mode = Some(self.mode).filter(|&mode| mode != Mode::default());
        let mut parameters = format!("q={}", encode(self.q.as_bytes()));
        for (name, value) in [
            ("mode", mode.map(Choice::name)),
            ("case", self.case.map(Choice::name)),
            ("word", self.word.then_some("yes")),
            ("exact", self.exact.then_some("yes")),
        ] {
            push(&mut parameters, name, value);
        }
        parameters
    }

    /// Parameters with which a file's page marks matches; empty for a query too long to repeat in
    /// every link.
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

    /// Parameters of the search, without those of the display.
    pub(super) fn search_parameters(&self) -> String {
        let mut query = self.query_parameters();
        for FormFilter { name, typed } in &self.filters {
            push(&mut query, name, Some(typed));
        }
        for (name, typed) in &self.search {
            push(&mut query, name, Some(typed));
        }
        push(&mut query, "generation", self.generation.as_deref());
        query
    }

    pub(super) fn href(&self, page: usize) -> String {
        format!("/search?{}", self.parameters(page))
    }

    pub(super) fn parameters(&self, page: usize) -> String {
        let mut query = self.search_parameters();
        let number = |number: usize| Some(number.to_string()).filter(|_| number > 0);
        for (name, value) in [
            ("group", self.group.map(|group| group.name().to_owned())),
            ("copies", self.copies.map(|copies| copies.name().to_owned())),
            ("per_page", self.per_page.and_then(number)),
            ("per_package", self.per_package.clone()),
            ("per_document", self.per_document.clone()),
            ("from", self.from.and_then(|line| number(line as usize))),
            ("page", number(page)),
            ("run", self.run.clone()),
        ] {
            push(&mut query, name, value.as_deref());
        }
        query
    }

    pub(super) fn fields(&self) -> Vec<(String, String)> {
        let params = Params::parse(&self.parameters(0)).unwrap_or_default();
        let pairs = params.into_pairs().into_iter();
        pairs
            .map(|(name, value)| (name, lossy(Some(&value)).into_owned()))
            .collect()
    }

    pub(super) fn href_facets(&self) -> String {
        self.href(0).replacen("/search?", "/search/facets?", 1)
    }

    pub(super) fn href_copies(&self, copies: Copies) -> String {
        let copies = Some(copies).filter(|&copies| copies != Copies::Folded);
        self.href_with(|form| form.copies = copies)
    }

    pub(super) fn href_without(&self, filter: &usize) -> String {
        self.href_with(|form| drop(form.filters.remove(*filter)))
    }

    pub(super) fn in_package(&self, package: &str) -> Form {
        self.with_filters(&[(Field::Package, package)])
    }

    /// One document's matches by line.
    pub(super) fn in_document(&self, package: &str, path: &str) -> Form {
        self.with_filters(&[(Field::Package, package), (Field::Path, path)])
    }

    pub(super) fn with_filters(&self, exact: &[(Field, &str)]) -> Form {
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

    /// Independent of later indexing.
    pub(super) fn href_permanent(&self, generation: &str) -> String {
        self.href_with(|form| form.generation = Some(generation.to_owned()))
    }

    pub(super) fn href_export(&self, format: &str) -> String {
        let search = self.search_parameters();
        format!("/api/v2/export?{search}&format={format}")
    }
}

fn push(parameters: &mut String, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        parameters.push_str(&format!("&{name}={}", encode(value.as_bytes())));
    }
}

fn choice<C: Choice>(params: &Params, name: &str) -> Option<C> {
    C::parse(params.bytes(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::openapi::described::{QueryParams, ViewParams};

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
        let kept = "q=x&mode=regexp&case=no&word=yes&exact=yes&lang=c&package=p&path=s&rev=v1&branch=main&kind=tests&context=1\
            &want=count&limit=7&total=exact&timeout=9&generation=g&group=package&copies=all&per_page=5&per_package=2&per_document=3";
        // `page` is a choice of each link; programs use the others.
        let left_out = ["page", "wait", "explain", "enclosing", "cursor"];
        let names: Vec<&str> = kept
            .split('&')
            .map(|pair| pair.split('=').next().unwrap())
            .collect();
        for name in [QueryParams::NAMES, ViewParams::NAMES].concat() {
            assert!(names.contains(&name) || left_out.contains(&name), "{name}");
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
