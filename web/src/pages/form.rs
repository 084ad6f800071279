//! Search form: a query and the choices for its results, as in an address.
//!
//! It keeps invalid input, for the page of an error. Its methods return related addresses.

use super::visible;
use crate::http::assets;
use crate::http::links::{FileAddress, encode};
use crate::http::site::Site;
use crate::search::choice::{Case, Choice, Copies, Group, Mode};
use crate::search::params::{Params, lossy};
use frontend::Document;
use frontend::query::{Query, filter};
use schema::message::Field;

#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    pub(super) q: String,
    pub(super) mode: Mode,
    /// `None` for the mode's default.
    pub(super) case: Option<Case>,
    pub(super) word: bool,
    /// `None` for the default.
    pub(super) group: Option<Group>,
    /// `None` for the default.
    pub(super) copies: Option<Copies>,
    pub(super) filters: Vec<FormFilter>,
    pub(super) context: Option<String>,
    pub(super) want: Option<String>,
    pub(super) limit: Option<String>,
    pub(super) total: Option<String>,
    pub(super) timeout: Option<String>,
    pub(super) generation: Option<String>,
    /// `None` for the default.
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

pub(super) const GROUP_DEFAULT: Group = Group::Document;

#[derive(Clone, Debug)]
pub(super) struct Tab {
    pub(super) label: &'static str,
    pub(super) href: String,
    pub(super) current: bool,
}

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
            ..Form::default()
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

    /// Query as one text, if it was read as several words.
    pub(super) fn href_exact(&self) -> Option<String> {
        let several = self.q.split_whitespace().nth(1).is_some();
        (several && self.mode == Mode::Keyword).then(|| {
            let mut form = self.clone();
            (form.mode, form.run) = (Mode::Literal, None);
            form.href(0)
        })
    }

    /// Parameters that decide which parts of a text match.
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

    pub(super) fn href(&self, page: usize) -> String {
        format!("/search?{}", self.parameters(page))
    }

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
        let mut form = self.clone();
        form.copies = Some(copies).filter(|&copies| copies != Copies::Folded);
        form.run = None;
        form.href(0)
    }

    pub(super) fn href_without(&self, filter: &usize) -> String {
        let mut form = self.clone();
        form.filters.remove(*filter);
        form.run = None;
        form.href(0)
    }

    pub(super) fn in_package(&self, package: &str) -> Form {
        self.with_filters(&[(Field::Package, package)])
    }

    /// One document's matches by line.
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

    pub(super) fn href_from(&self, line: u32) -> String {
        let mut form = self.clone();
        (form.from, form.run) = (Some(line), None);
        form.href(0)
    }

    /// Independent of later indexing.
    pub(super) fn href_permanent(&self, generation: &str) -> String {
        let mut form = self.clone();
        form.generation = Some(generation.to_owned());
        form.run = None;
        form.href(0)
    }

    pub(super) fn href_export(&self, format: &str) -> String {
        format!(
            "/api/v2/export?{}&format={format}",
            self.search_parameters()
        )
    }
}

/// Search form and assets of a page.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) form: Form,
    /// True if the element `fault` explains a fault of the query.
    pub(super) has_fault: bool,
    pub(super) style: String,
    pub(super) script: String,
    pub(super) icon: String,
}

impl Layout {
    /// Empty form.
    pub(super) fn of(site: &Site) -> Layout {
        Layout::new(Form {
            site: site.clone(),
            ..Form::default()
        })
    }

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
        // `page` is a choice of each link; programs use the others.
        let left_out = ["page", "wait", "explain", "cursor"];
        let names: Vec<&str> = kept
            .split('&')
            .map(|pair| pair.split('=').next().unwrap())
            .collect();
        for name in crate::search::params::QUERY
            .iter()
            .chain(crate::search::params::VIEW)
        {
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
