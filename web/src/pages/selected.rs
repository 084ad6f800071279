//! Facet values that a query selects or excludes, by parameters or typed filters.
//!
//! Exact values of a field are alternatives, so each has a box that can be ticked beside others.

use super::form::{Form, FormFilter};
use super::parts;
use crate::search::choice::Mode;
use frontend::query::filter;
use schema::message::{Expr, Field, Filter, Reading};

/// Fields with values to tick. Directories are steps of a path instead.
pub(super) const TICKED: [Field; 3] = [Field::Package, Field::Language, Field::Kind];

/// Query with its [`TICKED`] filters as parameters.
#[derive(Clone, Debug)]
pub(super) struct TickedValues {
    rest: Form,
    filters: Vec<FormFilter>,
}

impl TickedValues {
    pub(super) fn of(form: &Form) -> TickedValues {
        let is_ticked = |filter: &FormFilter| {
            filter::field(filter.name).is_some_and(|field| TICKED.contains(&field))
        };
        let mut rest = Form {
            run: None,
            from: None,
            ..form.clone()
        };
        let (mut filters, others): (Vec<_>, Vec<_>) = std::mem::take(&mut rest.filters)
            .into_iter()
            .partition(is_ticked);
        rest.filters = others;
        if form.mode == Mode::Keyword
            && let Some((q, typed)) = without_filters(form)
        {
            rest.q = q;
            filters.extend(typed);
        }
        TickedValues { rest, filters }
    }

    pub(super) fn rest(&self) -> &Form {
        &self.rest
    }

    pub(super) fn form(&self) -> Form {
        let mut form = self.rest.clone();
        form.filters.extend_from_slice(&self.filters);
        form
    }

    pub(super) fn without(&self, field: Field) -> Form {
        let mut form = self.form();
        form.filters.retain(|filter| !is_exact(filter, field));
        form
    }

    /// Values, patterns and exclusions.
    pub(super) fn by(&self, field: Field) -> impl Iterator<Item = &FormFilter> {
        let name = filter::name(field);
        self.filters
            .iter()
            .filter(move |filter| filter.name == name)
    }

    pub(super) fn count(&self, field: Field) -> usize {
        let all = self.by(field);
        all.filter(|filter| is_exact(filter, field)).count()
    }

    /// Respells selected values like `values`, those of the matches: `lang:cpp` selects C++.
    pub(super) fn recognise(&mut self, field: Field, values: &[&str]) {
        let (mut known, mut others) = (Vec::new(), Vec::new());
        for filter in self.by(field).filter(|filter| is_exact(filter, field)) {
            let text = text_of(filter);
            let named = values
                .iter()
                .find(|value| value.eq_ignore_ascii_case(&text));
            match named {
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
        let named = known.into_iter().filter_map(|value| exactly(field, value));
        let named: Vec<_> = named.chain(others).collect();
        self.filters.retain(|filter| !is_exact(filter, field));
        self.filters.extend(named);
    }
}

/// `None` if no parameter can select the value.
pub(super) fn exactly(field: Field, value: &str) -> Option<FormFilter> {
    parameter(&Expr::Filter(Filter {
        field,
        reading: Reading::Exact,
        text: value.to_owned(),
    }))
}

pub(super) fn parameter(filter: &Expr) -> Option<FormFilter> {
    let (name, typed) = filter::typed(filter)?;
    Some(FormFilter { name, typed })
}

fn is_exact(filter: &FormFilter, field: Field) -> bool {
    let parsed = filter::field(filter.name).map(|named| filter::parse(named, &filter.typed));
    matches!(parsed, Some(Ok(Expr::Filter(found)))
        if found.field == field && found.reading == Reading::Exact)
}

fn text_of(filter: &FormFilter) -> String {
    let field = filter::field(filter.name).expect("the name is that of a filter");
    match filter::parse(field, &filter.typed) {
        Ok(Expr::Filter(found)) => found.text,
        _ => filter.typed.clone(),
    }
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
        let is_listed = TICKED.contains(&filter.field);
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
        let labels: Vec<_> = (selected.filters.iter())
            .map(|filter| format!("{}={}", filter.name, filter.typed))
            .collect();
        assert_eq!(labels, expected, "{q}");
        assert_eq!(selected.rest.q, rest, "{q}");
    }

    fn selected(q: &str, filters: &[(&'static str, &str)]) -> TickedValues {
        let filters = filters.iter().map(|(name, typed)| FormFilter {
            name,
            typed: (*typed).to_owned(),
        });
        TickedValues::of(&Form {
            q: q.to_owned(),
            filters: filters.collect(),
            ..Form::default()
        })
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
            selected.recognise(Field::Language, found);
            let all = selected.by(Field::Language);
            all.map(|filter| filter.typed.clone()).collect::<Vec<_>>()
        };
        assert_eq!(values("x lang:c lang:cpp", &["C++", "C"]), ["C", "C++"]);
        assert_eq!(values("x lang:c lang:rust", &["C"]), ["C", "rust"]);
        assert_eq!(values("x -lang:c", &["Rust"]), ["-c"]);
        assert_eq!(values("x", &["C"]), [""; 0]);
    }
}
