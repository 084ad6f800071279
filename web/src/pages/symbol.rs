//! Page of a name in a file: its nearest definitions, and searches for its uses.

use super::filters;
use super::form::Form;
use super::visible::{self, SHORT, VisibleLine};
use crate::http::links::FileAddress;
use crate::model::{PlaceReason, SymbolPlace, SymbolPlaces, TotalRelation, exact};
use crate::problem::Problem;
use crate::source::colours::{DocumentColours, split_lines};
use crate::source::file_range::request;
use crate::state::Call;
use crate::suggest::Corpus;
use crate::symbols::{self, SymbolRequest, SymbolTarget, pattern};
use askama::Template;
use axum::response::Html;
use frontend::query::interpreted_as;
use futures_util::future::{join, join_all};
use schema::message::{Expr, Field, FileRange, FileRequest, Role};
use schema::name::package_name;
use std::slice;

const SHOWN_MAX: usize = 5;

const SIGNATURE_LINES: u32 = 2;

#[derive(Template)]
#[template(path = "symbol.html")]
struct SymbolPage {
    form: Form,
    name: String,
    file: String,
    file_href: String,
    definitions: Vec<ShownDefinition>,
    all: Option<String>,
    is_complete: bool,
    uses: Option<SymbolPlaces>,
    searches: Vec<(String, String)>,
    word: String,
}

struct ShownDefinition {
    href: String,
    place: String,
    kind: String,
    parent: Option<String>,
    is_precise: bool,
    lines: Vec<VisibleLine>,
}

pub(crate) async fn symbol(call: Call) -> Result<Html<String>, Problem> {
    let asked = asked(&call)?;
    let scope = call.viewer.scope().await?;
    let corpus = call.corpus(&scope);
    let wants_uses = call.params.flag("uses", true)?;
    let counted = SymbolRequest {
        limit: 1,
        ..asked.clone()
    };
    let uses = async {
        if wants_uses {
            symbols::references(corpus, &counted, false).await.map(Some)
        } else {
            Ok(None)
        }
    };
    let (found, uses) = join(symbols::definitions(corpus, &asked), uses).await;
    let (found, uses) = (found?, uses?);
    let places = found.places.iter();
    let shown = places.map(|place| ShownDefinition::read(corpus, place, &found.name, &asked.file));
    let definitions = join_all(shown).await;
    let page = SymbolPage::new(&call, &asked, &found, (definitions, uses));
    Ok(Html(call.params.site.render(&page)))
}

fn asked(call: &Call) -> Result<SymbolRequest, Problem> {
    let params = &call.params;
    let target = match params.text("q")?.map(str::trim) {
        Some(name) if !name.is_empty() => SymbolTarget::Name(name.to_owned()),
        _ => {
            params.required("line")?;
            SymbolTarget::At {
                line: params.number("line", 1)?,
                column: params.number("column", 0)?,
            }
        }
    };
    Ok(SymbolRequest {
        file: request(params, FileRange::Lines { first: 1, count: 1 })?,
        target,
        limit: SHOWN_MAX,
        client: params.client,
    })
}

impl SymbolPage {
    fn new(
        call: &Call,
        asked: &SymbolRequest,
        found: &SymbolPlaces,
        (definitions, uses): (Vec<ShownDefinition>, Option<SymbolPlaces>),
    ) -> SymbolPage {
        let FileRequest { package, path, .. } = &asked.file;
        let file = FileAddress::current(package, path).at(&asked.file.revision);
        let line = match asked.target {
            SymbolTarget::At { line, .. } => line,
            SymbolTarget::Name(_) => 0,
        };
        let form = Form::of(&call.params.site);
        let search = |role| Form {
            q: interpreted_as(&Expr::Pattern(pattern(&found.name, role))),
            ..form.clone()
        };
        let is_cut = found.total > found.places.len() as u64;
        SymbolPage {
            name: visible::plain(found.name.as_bytes()),
            file: visible::plain(&[package, &b"/"[..], path].concat()),
            file_href: file.show_href(line),
            definitions,
            all: (is_cut || found.total_relation == TotalRelation::Gte)
                .then(|| search(Role::Definition).href(0)),
            is_complete: found.complete && uses.as_ref().is_none_or(|uses| uses.complete),
            uses,
            searches: searches(&search(Role::Use), &asked.file),
            word: search(Role::Any).href(0),
            form,
        }
    }
}

/// Everywhere, in the package, and in the version or revision.
fn searches(uses: &Form, file: &FileRequest) -> Vec<(String, String)> {
    let mut searches = vec![("everywhere".to_owned(), uses.href(0))];
    let Ok(package) = str::from_utf8(&file.package) else {
        return searches;
    };
    let name = str::from_utf8(package_name(&file.package)).unwrap_or(package);
    let within = |name: &str| format!("in {}", visible::plain(name.as_bytes()));
    searches.push((within(name), uses.in_package(name).href(0)));
    if name != package {
        searches.push((within(package), uses.in_package(package).href(0)));
    } else if !file.revision.is_empty() {
        let exact = [(Field::Package, name), (Field::Revision, &file.revision)];
        let here = uses.with_filters(&exact).href(0);
        searches.push(("in this revision".to_owned(), here));
    }
    searches
}

impl ShownDefinition {
    async fn read(
        corpus: Corpus<'_>,
        place: &SymbolPlace,
        name: &str,
        file: &FileRequest,
    ) -> ShownDefinition {
        let bytes = |text: &str, base64: &Option<String>| {
            exact(text, base64.as_deref()).expect("the place is of this server")
        };
        let package = bytes(&place.package, &place.package_base64);
        let path = bytes(&place.path, &place.path_base64);
        let is_near = place.reason <= PlaceReason::SamePackage;
        let revision = match &place.commit {
            Some(_) if is_near => &file.revision,
            Some(commit) => commit,
            None => "",
        };
        let range = FileRange::Lines {
            first: place.line,
            count: SIGNATURE_LINES,
        };
        let request = FileRequest::new(&package, &path, revision, range);
        let reply = corpus.file(&request).await.ok();
        let (text, language) = match reply.filter(|reply| reply.found) {
            Some(reply) => (reply.text, reply.language),
            None => (bytes(&place.text, &place.text_base64), String::new()),
        };
        let address = FileAddress::current(&package, &path).at(revision);
        let at = format!(":{}", place.line);
        ShownDefinition {
            href: address.show_href(place.line),
            place: visible::plain(&[&package, &b"/"[..], &path, at.as_bytes()].concat()),
            kind: match (&place.kind, place.declaration) {
                (Some(kind), Some(true)) => format!("declaration of a {kind}"),
                (kind, _) => kind.clone().unwrap_or_else(|| "definition".to_owned()),
            },
            parent: (place.parent.as_ref()).map(|parent| visible::plain(parent.as_bytes())),
            is_precise: place.precise,
            lines: signature(place, name, &text, &language),
        }
    }
}

fn signature(place: &SymbolPlace, name: &str, text: &[u8], language: &str) -> Vec<VisibleLine> {
    let column = place.column as usize;
    let mark = column..column + name.len();
    let colours = DocumentColours::reading(language);
    let numbers = place.line..=place.end_line.unwrap_or(u32::MAX);
    let lines = numbers.zip(split_lines(text));
    let line = |(number, text): (u32, &[u8])| {
        let is_named = number == place.line && text.get(mark.clone()) == Some(name.as_bytes());
        let marks = if is_named {
            slice::from_ref(&mark)
        } else {
            &[]
        };
        visible::line(text, marks, &colours.tokens(number, text), SHORT)
    };
    let lines = lines.filter(|(_, text)| !text.trim_ascii().is_empty());
    lines.map(line).collect()
}
