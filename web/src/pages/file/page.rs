//! Page of a file, around its lines.

use super::super::filters;
use super::super::form::{Form, Layout};
use super::super::markdown::is_markdown;
use super::super::matches::RevisionsView;
use super::super::place::{Place, directory_of};
use super::super::tree::TreeView;
use super::super::visible;
use super::asked::{AskedFile, BLAME, PLAIN};
use super::marks::Marks;
use crate::http::links::{FileAddress, RepositoryAddress};
use crate::http::site::Site;
use crate::problem::Problem;
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

/// Divide the rendered template. Texts cannot contain them, since `<` is escaped.
const LINES: &str = "<!-- lines -->";
const AFTER: &str = "<!-- after -->";
const TREE: &str = "<!-- tree -->";
const OUTLINE: &str = "<!-- outline -->";

#[derive(Template)]
#[template(path = "file.html")]
pub(super) struct FilePage {
    layout: Layout,
    package: String,
    path: String,
    place: Place,
    language: String,
    commit: String,
    permalink: String,
    git: Option<GitLinks>,
    revisions: RevisionsView,
    /// Differences from the named text.
    notices: Vec<String>,
    shown: Shown,
    total_lines: u64,
    total_bytes: u64,
    raw: String,
    earlier: Option<String>,
    marks: Option<MarksView>,
    find: Option<FindForm>,
    is_rendered: bool,
    other_view: Option<String>,
    /// Without a line, and for this exact text.
    page_href: String,
    exact_href: String,
    address: FileName,
}

struct GitLinks {
    commit: String,
    history: String,
    /// Toggles the blame.
    blame: String,
    has_blame: bool,
}

struct FileName {
    package: Vec<u8>,
    path: Vec<u8>,
    revision: String,
    /// Requested; empty: the default one.
    asked: String,
    query: String,
    fragment: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) first: u32,
    pub(super) last: u32,
}

struct MarksView {
    total: u64,
    lines: Vec<(u32, String)>,
    more: u64,
}

/// Hidden fields name the file.
struct FindForm {
    hidden: Vec<(&'static str, String)>,
    q: String,
}

/// `head`, the lines, and the result of [`PageParts::end`].
pub(super) struct PageParts {
    pub(super) head: String,
    after_lines: String,
    before_tree: String,
    before_outline: String,
    end: String,
    address: FileName,
    total_lines: u32,
    pub(super) site: Site,
}

#[derive(Template)]
#[template(path = "file_after.html")]
struct After {
    later: Option<String>,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "file_tree.html")]
struct Beside {
    name: String,
    href: String,
    tree: TreeView,
}

impl Shown {
    /// All lines, or those around the requested ones.
    pub(super) fn of(asked: &AskedFile<'_>, reply: &FileReply) -> Shown {
        let total = reply.total_lines;
        if asked.first.is_none() && total <= WHOLE_LINES_MAX && reply.total_bytes <= PAGE_BYTES_MAX
        {
            return Shown {
                first: 1,
                last: total,
            };
        }
        let around = asked.lines.first.saturating_sub(LINES_BEFORE).max(1);
        let first = asked.first.unwrap_or(around);
        Shown {
            first,
            last: first.saturating_add(WINDOW_LINES - 1).min(total),
        }
    }
}

impl FilePage {
    pub(super) fn new(
        asked: &AskedFile<'_>,
        Fetched { package, reply }: &Fetched,
        shown: Shown,
        marks: &Marks,
        mut notices: Vec<String>,
        is_rendered: bool,
    ) -> FilePage {
        let name = FileName {
            package: package.clone(),
            path: asked.path.to_vec(),
            revision: if asked.revision.is_empty() {
                String::new()
            } else {
                reply.commit.clone()
            },
            asked: asked.revision.to_owned(),
            query: asked.view(),
            fragment: asked.fragment(),
        };
        let commit = name.address().at(&reply.commit);
        let problem = marks.problem.as_ref();
        notices.extend(problem.map(|problem| format!("The matches are not marked: {problem}")));
        let revisions = DocumentRevisions {
            names: reply.revisions.clone(),
            count: reply.revisions.len() as u32,
            commit: String::new(),
        };
        // Directories are listed in indexed revisions only.
        let listed = match &reply.revisions[..] {
            [] => "",
            _ => asked.revision,
        };
        FilePage {
            layout: Layout::new(Form {
                site: asked.params.site.clone(),
                ..asked.form.of_query()
            }),
            package: visible::plain(package),
            path: visible::plain(asked.path),
            place: Place::new(package, asked.path, listed),
            language: reply.language.clone(),
            commit: filters::short_id(&reply.commit),
            git: GitLinks::new(asked, package, reply),
            permalink: commit.show_href(asked.lines.first),
            revisions: (&revisions).into(),
            notices,
            shown,
            total_lines: u64::from(reply.total_lines),
            total_bytes: reply.total_bytes,
            raw: commit.raw_href(),
            earlier: (shown.first > 1).then(|| {
                let first = shown.first.saturating_sub(WINDOW_LINES).max(1);
                name.address().window_href(first)
            }),
            marks: (!asked.query().is_empty() && problem.is_none())
                .then(|| MarksView::new(marks, shown, name.address())),
            find: FindForm::new(asked),
            page_href: name.address().show_href(0),
            is_rendered,
            other_view: is_markdown(asked.path).then(|| name.other_view(is_rendered)),
            exact_href: exact_href(&name, reply),
            address: name,
        }
    }

    pub(super) fn parts(self) -> PageParts {
        let page = self.layout.form.site.render(&self);
        let (head, rest) = page.split_once(LINES).expect("the template has it");
        let (after_lines, rest) = rest.split_once(AFTER).expect("the template has it");
        let (before_tree, rest) = rest.split_once(TREE).expect("the template has it");
        let (before_outline, end) = rest.split_once(OUTLINE).expect("the template has it");
        PageParts {
            head: head.to_owned(),
            after_lines: after_lines.to_owned(),
            before_tree: before_tree.to_owned(),
            before_outline: before_outline.to_owned(),
            end: end.to_owned(),
            total_lines: self.total_lines as u32,
            address: self.address,
            site: self.layout.form.site,
        }
    }

    fn is_whole(&self) -> bool {
        self.shown.first == 1 && u64::from(self.shown.last) == self.total_lines
    }
}

/// Names a commit, or the hash of the text.
fn exact_href(name: &FileName, reply: &FileReply) -> String {
    if !reply.commit.is_empty() {
        return name.address().at(&reply.commit).show_href(0);
    }
    let hash: String = reply
        .hash
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{}&hash={hash}", name.address().show_href(0))
}

impl GitLinks {
    /// `None` outside a repository.
    fn new(asked: &AskedFile<'_>, package: &[u8], reply: &FileReply) -> Option<GitLinks> {
        let repo = str::from_utf8(package).ok();
        let repo = repo.filter(|_| !reply.commit.is_empty())?;
        let address = RepositoryAddress {
            repo,
            rev: &reply.commit,
        };
        let query = match (asked.blame, asked.query()) {
            (true, query) => query,
            (false, query) if query.is_empty() => BLAME.to_owned(),
            (false, query) => format!("{query}&{BLAME}"),
        };
        let file = FileAddress {
            package,
            path: asked.path,
            revision: asked.revision,
            query: &query,
        };
        let kept = asked.kept().parameters();
        Some(GitLinks {
            commit: address.commit_href(),
            history: address.history_href(asked.path) + &kept,
            blame: file.show_href(asked.lines.first),
            has_blame: asked.blame,
        })
    }
}

impl FileName {
    fn other_view(&self, is_rendered: bool) -> String {
        let query = if is_rendered { PLAIN } else { "" };
        FileAddress {
            query,
            ..self.address()
        }
        .show_href(0)
    }

    fn address(&self) -> FileAddress<'_> {
        FileAddress {
            package: &self.package,
            path: &self.path,
            revision: &self.revision,
            query: &self.query,
        }
    }
}

impl MarksView {
    fn new(marks: &Marks, shown: Shown, address: FileAddress<'_>) -> MarksView {
        let link = |line| {
            if (shown.first..=shown.last).contains(&line) {
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

impl FindForm {
    /// `None` if a form cannot send the exact name of the file.
    fn new(asked: &AskedFile<'_>) -> Option<FindForm> {
        let text = |bytes: &[u8]| {
            let text = str::from_utf8(bytes).ok()?;
            let is_kept = !text.contains(['\r', '\n', '\0']);
            is_kept.then(|| text.to_owned())
        };
        let mut hidden = vec![
            ("package", text(asked.package)?),
            ("path", text(asked.path)?),
        ];
        if !asked.revision.is_empty() {
            hidden.push(("rev", asked.revision.to_owned()));
        }
        if asked.blame {
            hidden.push(("blame", "yes".to_owned()));
        }
        Some(FindForm {
            hidden,
            q: asked.form.q.clone(),
        })
    }
}

impl PageParts {
    /// See [`AskedFile::view`].
    pub(super) fn query(&self) -> &str {
        &self.address.query
    }

    pub(super) fn asked_revision(&self) -> &str {
        &self.address.asked
    }

    pub(super) fn fragment(&self) -> &str {
        &self.address.fragment
    }

    /// `next` is the first line not shown.
    pub(super) fn end(
        &self,
        next: u32,
        problem: Option<Problem>,
        tree: Option<TreeView>,
        (versions, outline): (&str, &str),
    ) -> String {
        let later = next <= self.total_lines && problem.is_none();
        let after = After {
            later: later.then(|| self.address.address().window_href(next)),
            problem: problem.map(|problem| problem.detail),
        };
        let after = self.site.render(&after);
        let tree = tree.map_or_else(String::new, |tree| self.beside(tree));
        [
            &self.after_lines[..],
            &after,
            &self.before_tree,
            &tree,
            versions,
            &self.before_outline,
            outline,
            &self.end,
        ]
        .concat()
    }

    fn beside(&self, tree: TreeView) -> String {
        let FileName {
            package,
            path,
            asked,
            ..
        } = &self.address;
        let directory = directory_of(path);
        let address = FileAddress::current(package, directory).at(asked);
        let beside = Beside {
            name: Place::new(package, directory, asked).name,
            href: address.directory_href(),
            tree,
        };
        self.site.render(&beside)
    }
}
