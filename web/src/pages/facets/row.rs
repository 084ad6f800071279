//! Rows of a facet list: a value, its box, and links that keep or exclude it.

use super::super::form::FormFilter;
use super::super::narrowed::Narrowed;
use super::super::selected::{exactly, parameter};
use super::super::visible;
use frontend::query::selecting;
use schema::message::{DocumentKind, Expr, Field, Filter, Reading};

#[derive(Clone, Debug)]
pub(in super::super) struct FacetRow {
    pub(in super::super) label: String,
    /// `None` without a match, or if unknown.
    pub(in super::super) count: Option<u64>,
    pub(in super::super) ticks: Option<(&'static str, String)>,
    /// Queries with only these matches, and without them; `None` if no filter can express it.
    pub(in super::super) only: Option<String>,
    pub(in super::super) others: Option<String>,
    pub(in super::super) selected: bool,
    /// True if `only` removes that filter.
    pub(in super::super) removes: bool,
}

impl FacetRow {
    /// `ticked` values of the field are selected.
    pub(super) fn value(
        narrowed: &Narrowed<'_>,
        field: Field,
        (name, count): (&[u8], u64),
        selected: bool,
        ticked: usize,
    ) -> FacetRow {
        let text = str::from_utf8(name).ok().filter(|name| !name.is_empty());
        let filter = text.and_then(|text| exactly(field, text));
        let removes = selected && ticked == 1;
        let href = |filter| {
            if removes {
                narrowed.without(filter)
            } else {
                Some(narrowed.only(filter))
            }
        };
        FacetRow {
            label: label(field, name),
            count: Some(count),
            only: filter.as_ref().and_then(href),
            others: (filter.as_ref())
                .filter(|_| !selected)
                .map(|filter| narrowed.others(filter)),
            ticks: filter.map(|filter| (filter.name, filter.typed)),
            selected,
            removes,
        }
    }

    /// Filter without a listed value: a pattern, an exclusion, or a value without matches.
    pub(super) fn other(narrowed: &Narrowed<'_>, filter: &FormFilter) -> FacetRow {
        let label = match filter.typed.strip_prefix('-') {
            Some(excluded) => format!("not {excluded}"),
            None => filter.typed.clone(),
        };
        FacetRow {
            label: visible::plain(label.as_bytes()),
            count: None,
            only: narrowed.without(filter),
            others: None,
            ticks: Some((filter.name, filter.typed.clone())),
            selected: true,
            removes: true,
        }
    }

    /// Directory with all below it, or the direct files of the selected one.
    pub(super) fn directory(narrowed: &Narrowed<'_>, name: &[u8], count: u64) -> FacetRow {
        let is_selected = narrowed
            .directory()
            .is_some_and(|directory| directory.strip_suffix(b"/").is_some_and(|it| it == name));
        let text = str::from_utf8(name).ok().map(|name| match name {
            "" => "^[^/]*$".to_owned(),
            name if is_selected => format!("{}[^/]*$", selecting(name)),
            name => selecting(name),
        });
        let filter = text.map(|text| Filter {
            field: Field::Path,
            reading: Reading::Regexp,
            text,
        });
        let label = match name {
            b"" => "(files at the top)".to_owned(),
            name if is_selected => format!("(files in {}/)", visible::plain(name)),
            name => format!("{}/", visible::plain(name)),
        };
        let filter = filter.and_then(|filter| parameter(&Expr::Filter(filter)));
        let without = filter.as_ref().and_then(|filter| narrowed.without(filter));
        FacetRow {
            label,
            count: Some(count),
            ticks: None,
            selected: without.is_some(),
            removes: without.is_some(),
            others: (filter.as_ref())
                .filter(|_| without.is_none())
                .map(|filter| narrowed.others(filter)),
            only: without.or_else(|| filter.as_ref().map(|filter| narrowed.only(filter))),
        }
    }
}

fn label(field: Field, name: &[u8]) -> String {
    let kind = (field == Field::Kind)
        .then(|| DocumentKind::named(str::from_utf8(name).ok()?))
        .flatten();
    kind.map_or_else(|| visible::plain(name), |kind| kind_label(kind).to_owned())
}

fn kind_label(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Source => "source",
        DocumentKind::Documentation => "documentation, other",
        DocumentKind::Tests => "tests, examples",
        DocumentKind::Vendored => "vendored, generated",
    }
}
