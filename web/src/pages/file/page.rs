//! Page of a file, around its lines.

use super::super::form::Form;
use super::super::markdown::is_markdown;
use super::super::tree::{Place, TreeView, directory_of};
use super::super::versions::{RevisionLinks, Shown};
use super::super::{filters, visible};
use super::asked::{AskedFile, LineRange, PLAIN};
use super::marks::Marks;
use crate::http::links::{FileAddress, RepositoryAddress};
use crate::model::hex;
use crate::source::file_range::Fetched;
use askama::Template;
use frontend::DocumentRevisions;
use schema::message::FileReply;

/// A longer file is shown in part.
const WHOLE_LINES_MAX: u32 = 20_000;

/// Keeps a browser usable.
pub(super) const PAGE_BYTES_MAX: u64 = 4 << 20;

/// Lines on a page of a longer file, and those before the requested one.
const WINDOW_LINES: u32 = 5000;
const LINES_BEFORE: u32 = 1000;

const MARKS_LISTED_MAX: usize = 200;

/// Divides the rendered template. Texts cannot contain it, since `<` is escaped.
const LINES: &str = "<!-- lines -->";

#[derive(Template)]
#[template(path = "file.html")]
pub(super) struct FilePage {
    pub(super) form: Form,
    package: String,
    path: String,
    place: Place,
    language: String,
    commit: String,
    permalink: String,
    git: Option<GitLinks>,
    revisions: RevisionLinks,
    /// Differences from the named text.
    notices: Vec<String>,
    pub(super) shown: LineRange,
    pub(super) total_lines: u64,
    total_bytes: u64,
    raw: String,
    earlier: Option<String>,
    marks: Option<MarksView>,
    /// Hidden fields of a form that searches in the file.
    find: Option<Vec<(&'static str, String)>>,
    pub(super) is_rendered: bool,
    other_view: Option<String>,
    exact_href: String,
    pub(super) asked: AskedFile,
    version: Vec<u8>,
    /// Shown commit if a revision was requested.
    revision: String,
    /// See [`AskedFile::view`].
    pub(super) query: String,
    pub(super) rest: Rest,
}

#[derive(Default)]
pub(super) struct Rest {
    pub(super) later: Option<String>,
    pub(super) problem: Option<String>,
    pub(super) tree: Option<TreeView>,
    pub(super) versions: String,
    pub(super) outline: String,
}

struct GitLinks {
    commit: String,
    history: String,
    blame: String,
    has_blame: bool,
}

struct MarksView {
    total: u64,
    lines: Vec<(u32, String)>,
    more: u64,
}

pub(super) fn shown_lines(asked: &AskedFile, reply: &FileReply) -> LineRange {
    let total = reply.total_lines;
    if asked.first.is_none() && total <= WHOLE_LINES_MAX && reply.total_bytes <= PAGE_BYTES_MAX {
        return LineRange {
            first: 1,
            last: total,
        };
    }
    let around = asked.kept.lines.first.saturating_sub(LINES_BEFORE).max(1);
    let first = asked.first.unwrap_or(around);
    LineRange {
        first,
        last: first.saturating_add(WINDOW_LINES - 1).min(total),
    }
}

impl FilePage {
    pub(super) fn new(
        asked: AskedFile,
        (Fetched { package, reply }, shown, marks): (&Fetched, LineRange, &Marks),
        mut notices: Vec<String>,
        is_rendered: bool,
    ) -> FilePage {
        let query = asked.view();
        let revision = match &asked.revision[..] {
            "" => "",
            _ => &reply.commit[..],
        };
        let address = FileAddress::current(package, &asked.path).at(revision);
        let address = address.with_query(&query);
        let commit = address.at(&reply.commit);
        let problem = marks.problem.as_ref();
        notices.extend(problem.map(|problem| format!("The matches are not marked: {problem}")));
        // Directories are listed in indexed revisions only.
        let listed = match &reply.revisions[..] {
            [] => "",
            _ => &asked.revision[..],
        };
        let revisions = DocumentRevisions {
            names: reply.revisions.clone(),
            count: reply.revisions.len() as u32,
            commit: String::new(),
        };
        FilePage {
            form: asked.form.of_query(),
            package: visible::plain(package),
            path: visible::plain(&asked.path),
            place: Place::new(package, &asked.path, listed),
            language: reply.language.clone(),
            commit: filters::short_id(&reply.commit),
            git: GitLinks::new(&asked, package, reply),
            permalink: commit.show_href(asked.kept.lines.first),
            revisions: RevisionLinks::of(&revisions, address),
            notices,
            shown,
            total_lines: u64::from(reply.total_lines),
            total_bytes: reply.total_bytes,
            raw: commit.raw_href(),
            earlier: (shown.first > 1).then(|| {
                let first = shown.first.saturating_sub(WINDOW_LINES).max(1);
                address.window_href(first)
            }),
            marks: (!asked.kept.query.is_empty() && problem.is_none())
                .then(|| MarksView::new(marks, shown, address)),
            find: find_fields(&asked),
            is_rendered,
            other_view: is_markdown(&asked.path).then(|| {
                let view = if is_rendered { PLAIN } else { "" };
                address.with_query(view).show_href(0)
            }),
            exact_href: exact_href(address, reply),
            version: package.clone(),
            revision: revision.to_owned(),
            asked,
            query,
            rest: Rest::default(),
        }
    }

    pub(super) fn around_lines(&self) -> (String, String) {
        let page = self.form.site.render(self);
        let (head, end) = page.split_once(LINES).expect("the template has it");
        (head.to_owned(), end.to_owned())
    }

    fn directory(&self) -> (String, String) {
        let (package, asked) = (&self.version, &self.asked.revision);
        let directory = directory_of(&self.asked.path);
        let address = FileAddress::current(package, directory).at(asked);
        let place = Place::new(package, directory, asked);
        (place.name, address.directory_href())
    }

    pub(super) fn address(&self) -> FileAddress<'_> {
        let address = FileAddress::current(&self.version, &self.asked.path);
        address.at(&self.revision).with_query(&self.query)
    }

    /// Version at a commit, with the lines of the address.
    pub(super) fn shown<'a>(&'a self, commit: &'a str, lines: &'a str) -> Shown<'a> {
        Shown {
            address: self.address().at(&self.asked.revision),
            commit,
            lines,
        }
    }

    fn is_whole(&self) -> bool {
        self.shown.first == 1 && u64::from(self.shown.last) == self.total_lines
    }
}

/// Names a commit, or the hash of the text.
fn exact_href(address: FileAddress<'_>, reply: &FileReply) -> String {
    match &reply.commit[..] {
        "" => format!("{}&hash={}", address.show_href(0), hex(&reply.hash)),
        commit => address.at(commit).show_href(0),
    }
}

impl GitLinks {
    /// `None` outside a repository.
    fn new(asked: &AskedFile, package: &[u8], reply: &FileReply) -> Option<GitLinks> {
        let repo = str::from_utf8(package).ok();
        let repo = repo.filter(|_| !reply.commit.is_empty())?;
        let address = RepositoryAddress {
            repo,
            rev: &reply.commit,
        };
        let query = if asked.blame {
            asked.kept.query.clone()
        } else {
            asked.kept.query_with_blame()
        };
        let file = FileAddress::current(package, &asked.path).at(&asked.revision);
        let kept = asked.kept.parameters();
        Some(GitLinks {
            commit: address.commit_href(),
            history: address.history_href(&asked.path) + &kept,
            blame: file.with_query(&query).show_href(asked.kept.lines.first),
            has_blame: asked.blame,
        })
    }
}

impl MarksView {
    fn new(marks: &Marks, shown: LineRange, address: FileAddress<'_>) -> MarksView {
        let link = |line| {
            if shown.has(line) {
                (line, format!("#L{line}"))
            } else {
                (line, address.show_href(line))
            }
        };
        let lines: Vec<_> = marks.lines().take(MARKS_LISTED_MAX).map(link).collect();
        MarksView {
            total: marks.total,
            more: marks.total.saturating_sub(lines.len() as u64),
            lines,
        }
    }
}

/// `None` if a form cannot send the exact name of the file.
fn find_fields(asked: &AskedFile) -> Option<Vec<(&'static str, String)>> {
    let text = |bytes: &[u8]| {
        let text = str::from_utf8(bytes).ok()?;
        let is_kept = !text.contains(['\r', '\n', '\0']);
        is_kept.then(|| text.to_owned())
    };
    let mut fields = vec![
        ("package", text(&asked.package)?),
        ("path", text(&asked.path)?),
    ];
    if !asked.revision.is_empty() {
        fields.push(("rev", asked.revision.clone()));
    }
    if asked.blame {
        fields.push(("blame", "yes".to_owned()));
    }
    Some(fields)
}
