//! Page of a file with line numbers: all of it, or a part of a long file.
//!
//! The handler finds the text ([`open`]) and the query's matches ([`marks`]), and renders the parts
//! around the lines ([`page`]). The lines are rendered while they are sent ([`body`]).

mod asked;
mod body;
mod follow;
mod lines;
mod marks;
mod open;
mod outline;
mod page;

use super::form::Form;
use super::raw::is_image;
use super::tree::Place;
use super::{filters, markdown, visible};
use crate::http::links::FileAddress;
use crate::problem::Problem;
use crate::source::file_range::Fetched;
use crate::state::Call;
use crate::suggest::Corpus;
use askama::Template;
use asked::AskedFile;
pub(super) use asked::FileView;
use axum::http::header;
use axum::response::{Html, IntoResponse, Redirect, Response};
use body::{PIECE_LINES, PageBody};
use lines::{BlameColumn, LinesView, find_blame};
use open::Opened;
use page::{FilePage, shown_lines};
use schema::message::{FileRange, FileRequest};

const PAGE_LEVEL: u8 = 1;

pub(crate) async fn show(call: Call) -> Result<Response, Problem> {
    let asked = AskedFile::new(call)?;
    let call = &asked.call;
    let scope = call.viewer.scope_of(&asked.package).await?;
    let corpus = call.corpus(&scope);
    if let Some(href) = follow::redirect(corpus, &asked).await {
        return Ok(Redirect::to(&href).into_response());
    }
    let range = lines_from(asked.first.unwrap_or(1));
    let (fetched, mut notices) = match open::open(corpus, &asked, range).await? {
        Opened::File(fetched, notices) => (fetched, notices),
        Opened::Opaque(bytes) => return Ok(Html(opaque(&asked, &bytes)).into_response()),
        Opened::Directory(href) => return Ok(Redirect::to(&href).into_response()),
    };
    notices.extend(asked.moved());
    let lines_max = fetched.reply.total_lines.max(1);
    if asked.first.unwrap_or(1) > lines_max || asked.kept.lines.first > lines_max {
        let lines = filters::counted(fetched.reply.total_lines.into(), "line");
        let detail = format!("the file has {lines}");
        let hint = format!("{} shows the file", asked.address().show_href(0));
        return Err(Problem::missing(detail).hint(hint));
    }
    let shown = shown_lines(&asked, &fetched.reply);
    let fetched = from_line(corpus, &asked, fetched, shown.first).await?;
    let marks = marks::find(corpus, &asked, &fetched).await;
    let blame = blamed(corpus, &asked, &fetched, &mut notices).await;
    let rendered = rendered(corpus, &asked, &fetched).await;
    let name = (&fetched.package[..], &asked.path[..]);
    let colours = (call.colours).of_file(&call.coordinator, &scope, name, &fetched.reply);
    let view = LinesView {
        marks,
        blame,
        hit: asked.kept.lines,
        colours: colours.await,
    };
    let request = request(&asked, &fetched);
    let about = (&fetched, shown, &view.marks);
    let page = FilePage::new(asked, about, notices, rendered.is_some());
    let body = PageBody::new(request, fetched.reply, shown.last, (page, view), rendered);
    let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    Ok((html, body.send().await).into_response())
}

/// Page of a repository's file without lines: an image, or other bytes.
#[derive(Template)]
#[template(path = "opaque.html")]
struct OpaquePage {
    form: Form,
    package: String,
    path: String,
    place: Place,
    bytes: u64,
    raw: String,
    is_image: bool,
}

fn opaque(asked: &AskedFile, Fetched { package, reply }: &Fetched) -> String {
    let address = FileAddress::current(package, &asked.path).at(&reply.commit);
    let site = &asked.call.params.site;
    let page = OpaquePage {
        form: Form::of(site),
        package: visible::plain(package),
        path: visible::plain(&asked.path),
        place: Place::new(package, &asked.path, &asked.revision),
        bytes: reply.total_bytes,
        raw: address.raw_href(),
        is_image: is_image(reply),
    };
    site.render(&page)
}

/// `None` if fetched incompletely.
async fn rendered(
    corpus: Corpus<'_>,
    asked: &AskedFile,
    Fetched { package, reply }: &Fetched,
) -> Option<String> {
    let is_whole = reply.text.len() as u64 == reply.total_bytes;
    if !asked.is_rendered() || !is_whole {
        return None;
    }
    let file = FileAddress::current(package, &asked.path).at(match &asked.revision[..] {
        "" => "",
        _ => &reply.commit[..],
    });
    Some(markdown::of_file(&asked.call, corpus, file, &reply.text, PAGE_LEVEL).await)
}

/// Looks up commits on request; a failure becomes a notice.
async fn blamed(
    corpus: Corpus<'_>,
    asked: &AskedFile,
    fetched: &Fetched,
    notices: &mut Vec<String>,
) -> Option<BlameColumn> {
    if !asked.blame {
        return None;
    }
    let found = find_blame(corpus, &asked.path, asked.view(), fetched).await;
    match &found {
        Err(reason) => notices.push(format!("No blame: {reason}")),
        Ok(found) if !found.is_complete() => notices.push(
            "The commit of some lines was not found within the limits: where the date has a ≤, a line is of this commit or an earlier one"
                .to_owned(),
        ),
        Ok(_) => {}
    }
    found.ok()
}

/// Unless `fetched` begins there.
async fn from_line(
    corpus: Corpus<'_>,
    asked: &AskedFile,
    fetched: Fetched,
    first: u32,
) -> Result<Fetched, Problem> {
    if fetched.reply.first_line == first {
        return Ok(fetched);
    }
    let request = FileRequest {
        range: lines_from(first),
        ..request(asked, &fetched)
    };
    let reply = corpus.file(&request).await?;
    if !reply.found || reply.hash != fetched.reply.hash {
        return Err(Problem::unavailable(
            "the file has changed while it was read",
        ));
    }
    Ok(Fetched { reply, ..fetched })
}

fn lines_from(first: u32) -> FileRange {
    FileRange::Lines {
        first,
        count: PIECE_LINES,
    }
}

fn request(asked: &AskedFile, fetched: &Fetched) -> FileRequest {
    let revision = match &fetched.reply.commit[..] {
        "" => &asked.revision[..],
        commit => commit,
    };
    FileRequest::new(&fetched.package, &asked.path, revision, lines_from(1))
}
