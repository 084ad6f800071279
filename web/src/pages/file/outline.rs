//! Outline beside the lines of a file: links to its definitions, nested.

use super::super::{filters, visible};
use super::asked::LineRange;
use crate::http::links::FileAddress;
use crate::http::site::Site;
use crate::model::kind_name;
use askama::Template;
use language::symbols::Kind;
use schema::message::FileDefinition;

/// Listed definitions. A header of registers has a hundred thousand.
const LISTED_MAX: usize = 2000;

/// A longer outline leaves out members and variables.
const WITH_MEMBERS_MAX: usize = 300;

const DEPTH_MAX: usize = 4;

#[derive(Template)]
#[template(path = "file_outline.html")]
struct OutlineView {
    entries: Vec<OutlineEntry>,
    missing: String,
}

struct OutlineEntry {
    name: String,
    href: String,
    symbol_href: String,
    line: u32,
    end_line: u32,
    kind: &'static str,
    sign: &'static str,
    class: &'static str,
    depth: usize,
    is_declaration: bool,
}

/// Empty without definitions. Lines outside of `shown` are on another page.
pub(super) fn render_outline(
    site: &Site,
    (definitions, missing): &(Vec<FileDefinition>, String),
    shown: LineRange,
    address: FileAddress<'_>,
) -> String {
    if definitions.is_empty() {
        return String::new();
    }
    let depths = depths(definitions);
    let has_members = definitions.len() <= WITH_MEMBERS_MAX;
    let listed = definitions.iter().zip(depths);
    let mut listed = listed.filter(|(it, _)| has_members || !is_member(it.kind));
    let entry = |(it, depth): (&FileDefinition, usize)| {
        let (sign, class) = look(it.kind);
        OutlineEntry {
            name: visible::plain(&it.name),
            href: if shown.has(it.line) {
                format!("#L{}", it.line)
            } else {
                address.show_href(it.line)
            },
            symbol_href: format!(
                "{}&line={}&column={}",
                address.symbol_href(),
                it.line,
                it.column
            ),
            line: it.line,
            end_line: it.end_line,
            kind: kind_name(it.kind),
            sign,
            class,
            depth: depth.min(DEPTH_MAX),
            is_declaration: it.is_declaration,
        }
    };
    let entries: Vec<_> = listed.by_ref().take(LISTED_MAX).map(entry).collect();
    let missing = match listed.next() {
        Some(_) => format!("The first {LISTED_MAX} are listed"),
        None => missing.clone(),
    };
    site.render(&OutlineView { entries, missing })
}

fn depths(definitions: &[FileDefinition]) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(definitions.len());
    for it in definitions {
        // Parents come first; others are of a faulty backend.
        let parent = it.parent_index.and_then(|at| depths.get(at as usize));
        depths.push(parent.map_or(0, |depth| depth + 1));
    }
    depths
}

fn kind(number: u32) -> Option<Kind> {
    Kind::ALL.get(number as usize).copied()
}

fn is_member(number: u32) -> bool {
    let members = [Kind::Field, Kind::Enumerator, Kind::Variable];
    kind(number).is_some_and(|kind| members.contains(&kind))
}

fn look(number: u32) -> (&'static str, &'static str) {
    match kind(number) {
        Some(Kind::Function | Kind::Method) => ("f", "c-f"),
        Some(kind) if kind.is_type() => ("T", "c-t"),
        Some(Kind::Macro) => ("#", "c-p"),
        Some(Kind::Module | Kind::Implementation) => ("M", "c-k"),
        Some(Kind::Constant | Kind::Enumerator) => ("c", "c-n"),
        Some(Kind::Field | Kind::Variable) => ("v", "c-s"),
        Some(Kind::Section) => ("§", "c-k"),
        _ => ("·", "c-k"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(name: &str, kind: Kind, line: u32, parent: Option<u32>) -> FileDefinition {
        FileDefinition {
            name: name.as_bytes().to_vec(),
            kind: kind as u32,
            is_declaration: line == 3,
            line,
            column: 0,
            end_line: line,
            parent: Vec::new(),
            parent_index: parent,
        }
    }

    fn render(definitions: Vec<FileDefinition>) -> String {
        let address = FileAddress::current(b"p_1", b"a.c");
        let shown = LineRange { first: 1, last: 9 };
        let found = (definitions, String::new());
        render_outline(&Site::default(), &found, shown, address)
    }

    #[test]
    fn an_outline_nests_definitions_and_leads_to_their_lines() {
        assert_eq!(render(Vec::new()), "");
        let html = render(vec![
            definition("Server", Kind::Class, 2, None),
            definition("<run>", Kind::Method, 3, Some(0)),
            definition("last", Kind::Function, 20, Some(7)),
        ]);
        for part in [
            "href=\"#L2\" title=\"class, line 2\"",
            "class=\"d1 declared\"",
            "title=\"declaration of a method, line 3\"",
            "&#60;run&#62;</a>",
            "href=\"/show?package=p_1&#38;path=a.c&#38;line=20#L20\"",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn a_long_outline_has_no_members_and_a_bound() {
        let many = |kind, count| (0..count).map(move |_| definition("x", kind, 1, None));
        let both = |fields| many(Kind::Field, fields).chain(many(Kind::Struct, 2));
        let items = |html: String| html.matches("<li").count();
        assert_eq!(items(render(both(298).collect())), 300);
        assert_eq!(items(render(both(299).collect())), 2);
        let long = render(many(Kind::Macro, LISTED_MAX + 1).collect());
        assert!(long.contains("The first 2000 are listed"));
        assert_eq!(items(long), LISTED_MAX);
    }
}
