//! Addresses of a query with one filter more or less.
//!
//! Exact filters of a field are alternatives, so one that must stand alone replaces the others,
//! also in the text of the query.

use super::form::{Form, FormFilter};
use frontend::query::filter;
use schema::message::{Expr, Field, Filter, Reading};

pub(super) struct Narrowed<'a> {
    form: &'a Form,
    directory: Option<Vec<u8>>,
}

impl<'a> Narrowed<'a> {
    pub(super) fn new(form: &'a Form, directory: Option<Vec<u8>>) -> Narrowed<'a> {
        Narrowed { form, directory }
    }

    pub(super) fn directory(&self) -> Option<&[u8]> {
        self.directory.as_deref()
    }

    /// Query with this filter instead of alternatives or a parent directory.
    pub(super) fn only(&self, filter: &FormFilter) -> String {
        let mut form = self.form.clone();
        form.filters.retain(|other| !gives_way(other, filter));
        form.filters.push(filter.clone());
        first_page(form)
    }

    pub(super) fn others(&self, filter: &FormFilter) -> String {
        let mut form = self.form.clone();
        form.filters.push(FormFilter {
            name: filter.name,
            typed: format!("-{}", filter.typed),
        });
        first_page(form)
    }

    pub(super) fn without(&self, filter: &FormFilter) -> Option<String> {
        let at = self.form.filters.iter().position(|other| other == filter)?;
        Some(self.form.href_without(&at))
    }
}

/// True for an alternative of `filter`, or a directory above its path.
fn gives_way(other: &FormFilter, filter: &FormFilter) -> bool {
    if other.name != filter.name {
        return false;
    }
    let field = filter::field(other.name).expect("the name is that of a filter");
    match filter::parse(field, &other.typed) {
        Ok(Expr::Filter(Filter { reading, text, .. })) => match reading {
            Reading::Exact => true,
            Reading::Regexp => {
                field == Field::Path && text.ends_with('/') && filter.typed.starts_with(&text)
            }
            Reading::RegexpIgnoringCase | Reading::Glob => false,
        },
        _ => false,
    }
}

fn first_page(form: Form) -> String {
    Form { run: None, ..form }.href(0)
}

#[cfg(test)]
mod tests {
    use super::super::selected::parameter;
    use super::*;

    /// Addresses with only `filter`, excluding it, and without it.
    fn check(filters: &[(&'static str, &str)], filter: Filter) -> [String; 3] {
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
        let narrowed = Narrowed {
            form: &form,
            directory: None,
        };
        let filter = parameter(&Expr::Filter(filter)).unwrap();
        let without = narrowed.without(&filter).unwrap_or_default();
        let query = |href: String| href.trim_start_matches("/search?q=x").to_owned();
        [narrowed.only(&filter), narrowed.others(&filter), without].map(query)
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
        let [only, others, without] = check(&[("lang", "rust"), ("package", "=a")], c());
        assert_eq!(only, "&package=%3Da&lang=C%2B%2B");
        assert_eq!(others, "&lang=rust&package=%3Da&lang=-C%2B%2B");
        assert_eq!(without, "");
        let [_, _, without] = check(&[("package", "^a"), ("lang", "C++")], c());
        assert_eq!(without, "&package=%5Ea");
    }

    #[test]
    fn a_directory_takes_the_place_of_the_one_above_it() {
        let below = || filter(Field::Path, Reading::Regexp, "^src/lib/");
        let [only, others, _] = check(&[("path", "^src/"), ("path", "-^doc/")], below());
        assert_eq!(only, "&path=-%5Edoc/&path=%5Esrc/lib/");
        assert_eq!(others, "&path=%5Esrc/&path=-%5Edoc/&path=-%5Esrc/lib/");
    }
}
