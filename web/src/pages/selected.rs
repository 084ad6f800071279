//! Facet values that a query selects or excludes, by parameters or typed filters, and addresses of
//! the query with one filter more or less.
//!
//! Exact values of a field are alternatives with boxes; one that must stand alone replaces the
//! others.

use super::form::{Form, FormFilter};
use super::parts;
use crate::search::choice::Mode;
use frontend::query::filter;
use language::symbols::Kind;
use schema::message::{DocumentKind, Expr, Field, Filter, Reading};

/// Lists of values to tick. Directories are steps of a path instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ticked {
    Package,
    Language,
    Kind,
    Symbol,
}

impl Ticked {
    pub(super) const ALL: [Ticked; 4] = [
        Ticked::Package,
        Ticked::Language,
        Ticked::Kind,
        Ticked::Symbol,
    ];

    pub(super) fn field(self) -> Field {
        match self {
            Ticked::Package => Field::Package,
            Ticked::Language => Field::Language,
            Ticked::Kind | Ticked::Symbol => Field::Kind,
        }
    }

    fn of(filter: &FormFilter) -> Option<Ticked> {
        let field = filter::field(filter.name)?;
        let is_symbol = is_symbol_kind(filter.typed.trim_start_matches('-'));
        let of_field = Ticked::ALL.into_iter().rev();
        let mut of_field = of_field.filter(|it| it.field() == field);
        of_field.find(|it| *it != Ticked::Symbol || is_symbol)
    }
}

fn is_symbol_kind(name: &str) -> bool {
    DocumentKind::named(name).is_none() && Kind::bits_of(name).is_some()
}

/// Query with its [`Ticked`] filters as parameters, after the others.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    form: Form,
    pub(super) directory: Option<Vec<u8>>,
}

impl Selection {
    /// `directory` contains all matches.
    pub(super) fn new(form: &Form, directory: Option<Vec<u8>>) -> Selection {
        let mut form = Form {
            run: None,
            from: None,
            ..form.clone()
        };
        form.filters.sort_by_key(is_ticked);
        if form.mode == Mode::Keyword
            && let Some((q, typed)) = without_filters(&form)
        {
            form.q = q;
            form.filters.extend(typed);
        }
        Selection { form, directory }
    }

    /// Parameters besides the ticked values.
    pub(super) fn fields(&self) -> Vec<(String, String)> {
        let mut rest = self.form.clone();
        rest.filters.retain(|filter| !is_ticked(filter));
        rest.fields()
    }

    pub(super) fn without_all(&self, list: Ticked) -> Form {
        let mut form = self.form.clone();
        form.filters.retain(|filter| !is_exact(filter, list));
        form
    }

    /// Query with this filter instead of alternatives or a parent directory.
    pub(super) fn only(&self, filter: &FormFilter) -> String {
        self.form.href_with(|form| {
            form.filters.retain(|other| !gives_way(other, filter));
            form.filters.push(filter.clone());
        })
    }

    /// The query in another revision.
    pub(super) fn in_revision(&self, name: &str) -> String {
        let is_of_revision = |filter: &FormFilter| {
            let field = filter::field(filter.name);
            matches!(field, Some(Field::Revision | Field::Branch))
        };
        self.form.href_with(|form| {
            form.filters.retain(|filter| !is_of_revision(filter));
            form.filters.push(FormFilter {
                name: filter::name(Field::Revision),
                typed: name.to_owned(),
            });
        })
    }

    pub(super) fn others(&self, filter: &FormFilter) -> String {
        let excluded = FormFilter {
            name: filter.name,
            typed: format!("-{}", filter.typed),
        };
        self.form.href_with(|form| form.filters.push(excluded))
    }

    pub(super) fn without(&self, filter: &FormFilter) -> Option<String> {
        let at = self.form.filters.iter().position(|other| other == filter)?;
        Some(self.form.href_without(&at))
    }

    pub(super) fn by(&self, list: Ticked) -> impl Iterator<Item = &FormFilter> {
        let filters = self.form.filters.iter();
        filters.filter(move |filter| Ticked::of(filter) == Some(list))
    }

    pub(super) fn count(&self, list: Ticked) -> usize {
        let all = self.by(list);
        all.filter(|filter| is_exact(filter, list)).count()
    }

    /// Respells selected values like `values`, those of the matches: `lang:cpp` selects C++.
    pub(super) fn recognise(&mut self, list: Ticked, values: &[&str]) {
        let (mut known, mut others) = (Vec::new(), Vec::new());
        for filter in self.by(list).filter(|filter| is_exact(filter, list)) {
            let text = parsed(filter).map_or_else(String::new, |found| found.text);
            let mut named = values.iter();
            match named.find(|value| value.eq_ignore_ascii_case(&text)) {
                Some(named) => known.push(*named),
                None => others.push(filter.clone()),
            }
        }
        if known.is_empty() && others.is_empty() {
            return;
        }
        let aliases: Vec<_> = values
            .iter()
            .filter(|value| !known.contains(value))
            .collect();
        if !aliases.is_empty() {
            others.clear();
        }
        known.extend(aliases);
        let named = known.into_iter().filter_map(|value| exactly(list, value));
        let named: Vec<_> = named.chain(others).collect();
        self.form.filters.retain(|filter| !is_exact(filter, list));
        self.form.filters.extend(named);
    }
}

fn is_ticked(filter: &FormFilter) -> bool {
    Ticked::of(filter).is_some()
}

/// True for an alternative of `filter`, or a directory above its path.
fn gives_way(other: &FormFilter, filter: &FormFilter) -> bool {
    let is_of_same = other.name == filter.name && Ticked::of(other) == Ticked::of(filter);
    let Some(found) = parsed(other).filter(|_| is_of_same) else {
        return false;
    };
    let Filter {
        field,
        reading,
        text,
    } = found;
    match reading {
        Reading::Exact => true,
        Reading::Regexp => {
            field == Field::Path && text.ends_with('/') && filter.typed.starts_with(&text)
        }
        Reading::RegexpIgnoringCase | Reading::Glob => false,
    }
}

/// `None` if no parameter can select the value.
pub(super) fn exactly(list: Ticked, value: &str) -> Option<FormFilter> {
    parameter(&Expr::Filter(Filter {
        field: list.field(),
        reading: Reading::Exact,
        text: value.to_owned(),
    }))
}

pub(super) fn parameter(filter: &Expr) -> Option<FormFilter> {
    let (name, typed) = filter::typed(filter)?;
    Some(FormFilter { name, typed })
}

fn parsed(filter: &FormFilter) -> Option<Filter> {
    let field = filter::field(filter.name)?;
    match filter::parse(field, &filter.typed) {
        Ok(Expr::Filter(found)) => Some(found),
        _ if field == Field::Kind && is_symbol_kind(&filter.typed) => Some(Filter {
            field,
            reading: Reading::Exact,
            text: filter.typed.clone(),
        }),
        _ => None,
    }
}

fn is_exact(filter: &FormFilter, list: Ticked) -> bool {
    let found = parsed(filter).filter(|_| Ticked::of(filter) == Some(list));
    found.is_some_and(|found| found.reading == Reading::Exact)
}

/// Splits typed filters off a query; `None` without any, or if other terms would change their
/// meaning.
fn without_filters(form: &Form) -> Option<(String, Vec<FormFilter>)> {
    let parsed = parts::parse(form).ok()?;
    let (mut kept, mut filters) = (Vec::new(), Vec::new());
    for term in &parsed.terms {
        let typed = form.q.get(term.clone())?;
        match filters_of(form, typed) {
            Some(found) => filters.extend(found),
            None => kept.push(typed),
        }
    }
    if filters.is_empty() {
        return None;
    }
    let rest = kept.join(" ");
    let alone = parts::parse(&parts::with_text(form, &rest));
    let is_changed = alone.is_ok_and(|rest| parts::takes_more_signs_for_text(&rest, &parsed));
    (!is_changed).then_some((rest, filters))
}

/// Filters of a term: one, or alternatives.
fn filters_of(form: &Form, typed: &str) -> Option<Vec<FormFilter>> {
    let (sign, bare) = match typed.strip_prefix('-') {
        Some(bare) => ("-", bare),
        None => ("", typed),
    };
    let kind = bare.strip_prefix("kind:");
    if let Some(kind) = kind.filter(|kind| is_symbol_kind(kind)) {
        let typed = format!("{sign}{kind}");
        let name = filter::name(Field::Kind);
        return Some(vec![FormFilter { name, typed }]);
    }
    let parsed = parts::parse(&parts::with_text(form, bare)).ok()?;
    let all = match &parsed.query.expr {
        Expr::Any(all) if sign.is_empty() => &all[..],
        one => std::slice::from_ref(one),
    };
    let is_alone = all.len() == 1;
    let signed = |expr: &Expr| {
        let Expr::Filter(filter) = expr else {
            return None;
        };
        let is_listed = Ticked::ALL.iter().any(|list| list.field() == filter.field);
        let is_value = is_alone || filter.reading == Reading::Exact;
        let found = parameter(expr).filter(|_| is_listed && is_value)?;
        Some(FormFilter {
            typed: format!("{sign}{}", found.typed),
            ..found
        })
    };
    let filters: Vec<_> = all.iter().map(signed).collect::<Option<_>>()?;
    let is_of_one = filters.windows(2).all(|two| two[0].name == two[1].name);
    is_of_one.then_some(filters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(q: &str, filters: &[(&'static str, &str)], rest: &str, expected: &[&str]) {
        let selected = selected(q, filters);
        let filters = selected.form.filters.iter();
        let labels: Vec<_> = (filters.filter(|filter| is_ticked(filter)))
            .map(|filter| format!("{}={}", filter.name, filter.typed))
            .collect();
        assert_eq!(labels, expected, "{q}");
        assert_eq!(selected.form.q, rest, "{q}");
    }

    fn selected(q: &str, filters: &[(&'static str, &str)]) -> Selection {
        let filters = filters.iter().map(|(name, typed)| FormFilter {
            name,
            typed: (*typed).to_owned(),
        });
        let form = Form {
            q: q.to_owned(),
            filters: filters.collect(),
            ..Form::default()
        };
        Selection::new(&form, None)
    }

    #[test]
    fn typed_filters_are_parameters_and_the_rest_stays_as_it_is() {
        check("a  b", &[("lang", "C"), ("path", "x")], "a  b", &["lang=C"]);
        check("a lang:c b", &[], "a b", &["lang=c"]);
        check(
            "a (lang:c or lang:rust) -kind:tests",
            &[],
            "a",
            &["lang=c", "lang=rust", "kind=-tests"],
        );
        check(
            "package:^net package:=b_1",
            &[],
            "",
            &["package=^net", "package==b_1"],
        );
        check(
            "sym:a kind:type kind:source -kind:macro",
            &[],
            "sym:a",
            &["kind=type", "kind=source", "kind=-macro"],
        );
        for other in [
            "a or lang:c",
            "(lang:c or path:x)",
            "(lang:c or kind:tests)",
            "\"lang:c\"",
            "path:x",
            "-a lang:c",
        ] {
            check(other, &[], other, &[]);
        }
    }

    #[test]
    fn selected_values_are_spelled_as_those_of_the_matches() {
        let values = |q: &str, found: &[&str]| {
            let mut selected = selected(q, &[]);
            selected.recognise(Ticked::Language, found);
            let all = selected.by(Ticked::Language);
            all.map(|filter| filter.typed.clone()).collect::<Vec<_>>()
        };
        assert_eq!(values("x lang:c lang:cpp", &["C++", "C"]), ["C", "C++"]);
        assert_eq!(values("x lang:c lang:rust", &["C"]), ["C", "rust"]);
        assert_eq!(values("x -lang:c", &["Rust"]), ["-c"]);
        assert_eq!(values("x", &["C"]), [""; 0]);
    }

    fn links(filters: &[(&'static str, &str)], filter: Filter) -> [String; 3] {
        let filters = filters.iter().map(|(name, typed)| FormFilter {
            name,
            typed: (*typed).to_owned(),
        });
        let form = Form {
            q: "x".to_owned(),
            filters: filters.collect(),
            run: Some("7".to_owned()),
            ..Form::default()
        };
        let selected = Selection::new(&form, None);
        let filter = parameter(&Expr::Filter(filter)).unwrap();
        let without = selected.without(&filter).unwrap_or_default();
        let query = |href: String| href.trim_start_matches("/search?q=x").to_owned();
        [selected.only(&filter), selected.others(&filter), without].map(query)
    }

    fn filter(field: Field, reading: Reading, text: &str) -> Filter {
        Filter {
            field,
            reading,
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_filter_takes_the_place_of_its_alternatives() {
        let c = || filter(Field::Language, Reading::Exact, "C++");
        let [only, others, without] = links(&[("lang", "rust"), ("package", "=a")], c());
        assert_eq!(only, "&package=%3Da&lang=C%2B%2B");
        assert_eq!(others, "&lang=rust&package=%3Da&lang=-C%2B%2B");
        assert_eq!(without, "");
        let tests = filter(Field::Kind, Reading::Exact, "tests");
        let [only, ..] = links(&[("kind", "macro"), ("kind", "source")], tests);
        assert_eq!(only, "&kind=macro&kind=tests");
        let [_, _, without] = links(&[("package", "^a"), ("lang", "C++")], c());
        assert_eq!(without, "&package=%5Ea");
    }

    #[test]
    fn a_directory_takes_the_place_of_the_one_above_it() {
        let below = || filter(Field::Path, Reading::Regexp, "^src/lib/");
        let [only, others, _] = links(&[("path", "^src/"), ("path", "-^doc/")], below());
        assert_eq!(only, "&path=-%5Edoc/&path=%5Esrc/lib/");
        assert_eq!(others, "&path=%5Esrc/&path=-%5Edoc/&path=-%5Esrc/lib/");
    }
}
