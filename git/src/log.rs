//! Log of a revision: commits from the youngest, all or those that changed a path.
//!
//! Order and choice are those of `git log` and `git log -- PATH`: a merge equal to one parent at
//! the path is left out, and only that parent followed. Moved files are followed. Each page
//! walks from the tip again: cursors need no memory, and pushes change no pages.

use crate::blame::former_path;
use crate::error::{Result, refused};
use crate::history::History;
use crate::repository::{Repository, Session};
use crate::tree::is_file;
use gix::ObjectId;
use schema::message::Commit;
use std::collections::HashMap;
use std::fmt::{self, Display};
use std::str::FromStr;

pub(crate) const LOG_COUNT_MAX: usize = 1_000;

/// Commits walked for a page, with those of earlier pages.
const LOG_WALKED_MAX: usize = 250_000;

const FILE_BYTES_MAX: u64 = 1 << 20;

const PATH_BYTES_MAX: usize = 4_096;

/// Continuation of a log: its tip, and the number of commits walked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogCursor {
    tip: String,
    walked: usize,
}

impl Display for LogCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.tip, self.walked)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed cursor: take `next` of the page before")]
pub struct CursorError;

impl FromStr for LogCursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<LogCursor, CursorError> {
        let (tip, walked) = text.split_once('.').ok_or(CursorError)?;
        let is_plain = walked.bytes().all(|byte| byte.is_ascii_digit());
        let walked = walked.parse().ok().filter(|_| is_plain);
        let walked = walked.ok_or(CursorError)?;
        ObjectId::from_hex(tip.as_bytes()).map_err(|_| CursorError)?;
        Ok(LogCursor {
            tip: tip.to_ascii_lowercase(),
            walked,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// Youngest first.
    pub commits: Vec<Commit>,
    /// Path in each commit; empty: as requested.
    pub paths: Vec<Vec<u8>>,
    /// Start of the next page, if any.
    pub next: Option<LogCursor>,
}

impl LogCursor {
    pub(crate) fn tip(&self) -> &str {
        &self.tip
    }
}

/// Empty for the whole repository.
pub(crate) fn split_path(path: &[u8]) -> Result<Vec<&[u8]>> {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let is_name = |name: &&[u8]| !matches!(*name, b"" | b"." | b"..");
    if path.len() > PATH_BYTES_MAX || path.contains(&0) || !names.iter().all(is_name) {
        return Err(refused!(
            "a path has at most {PATH_BYTES_MAX} bytes, no NUL, and no empty, `.` or `..` part"
        ));
    }
    Ok(names)
}

pub(crate) fn page(
    repository: &Repository,
    session: &Session<'_>,
    tip: ObjectId,
    path: &[&[u8]],
    walked: Option<&LogCursor>,
    count: usize,
) -> Result<Log> {
    let skipped = walked.map_or(0, |cursor| cursor.walked);
    let mut history = History::new(&session.objects);
    history.add(tip, "the log")?;
    let mut renames = Renames::new(path);
    let (mut commits, mut paths) = (Vec::new(), Vec::new());
    let page = |commits: &[gix::Object<'_>], paths: Vec<Vec<u8>>, next| {
        let tags = repository.tags(session)?;
        let commits = commits.iter().map(|object| tags.commit(object));
        let commits = commits.collect::<Result<_>>()?;
        Ok(Log {
            commits,
            paths,
            next,
        })
    };
    for walked in 0..LOG_WALKED_MAX {
        if walked >= skipped && commits.len() == count {
            let tip = tip.to_string();
            let next = (!history.is_done()).then_some(LogCursor { tip, walked });
            return page(&commits, paths, next);
        }
        let Some(commit) = history.next()? else {
            return page(&commits, paths, None);
        };
        let path = renames.path(commit.id);
        let names: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let names = if path.is_empty() { &[][..] } else { &names };
        let (parents, is_shown) = simplify(session, &commit, names)?;
        for parent in parents {
            if history.add(parent, &format!("commit {}", commit.id))? {
                let former = match is_shown {
                    true => renames.former(session, (&commit, names), parent)?,
                    false => None,
                };
                renames.follow(parent, former.unwrap_or_else(|| path.clone()));
            }
        }
        if is_shown && walked >= skipped {
            commits.push(commit);
            paths.push(if path == renames.asked {
                Vec::new()
            } else {
                path
            });
        }
    }
    Err(refused!(
        "the log goes on after {LOG_WALKED_MAX} commits, which is the most that one look-up walks: ask \
         for the log of an older commit"
    ))
}

struct Renames {
    asked: Vec<u8>,
    others: HashMap<ObjectId, Vec<u8>>,
}

impl Renames {
    fn new(path: &[&[u8]]) -> Renames {
        Renames {
            asked: path.join(&b'/'),
            others: HashMap::new(),
        }
    }

    fn path(&mut self, commit: ObjectId) -> Vec<u8> {
        let other = self.others.remove(&commit);
        other.unwrap_or_else(|| self.asked.clone())
    }

    fn follow(&mut self, commit: ObjectId, path: Vec<u8>) {
        if path != self.asked {
            self.others.insert(commit, path);
        }
    }

    fn former(
        &self,
        session: &Session<'_>,
        (commit, path): (&gix::Object<'_>, &[&[u8]]),
        parent: ObjectId,
    ) -> Result<Option<Vec<u8>>> {
        let objects = &session.objects;
        let tree = objects.tree(commit)?;
        let file = match path {
            [] => None,
            path => objects.entry(tree, path)?,
        };
        let Some((_, file)) = file.filter(|(mode, _)| is_file(*mode)) else {
            return Ok(None);
        };
        let before = objects.tree(&objects.parent(commit, parent)?)?;
        if objects.entry(before, path)?.is_some() {
            return Ok(None);
        }
        let now = path.join(&b'/');
        former_path(objects, (before, tree), (&now, file), FILE_BYTES_MAX)
    }
}

/// Parents to follow, and true if the path changed.
fn simplify(
    session: &Session<'_>,
    commit: &gix::Object<'_>,
    path: &[&[u8]],
) -> Result<(Vec<ObjectId>, bool)> {
    let parents = session.objects.parents(commit);
    if path.is_empty() {
        return Ok((parents, true));
    }
    let entry = session.objects.entry(session.objects.tree(commit)?, path)?;
    for parent in &parents {
        let object = session.objects.parent(commit, *parent)?;
        let tree = session.objects.tree(&object)?;
        if session.objects.entry(tree, path)? == entry {
            return Ok((vec![*parent], false));
        }
    }
    let is_shown = !parents.is_empty() || entry.is_some();
    Ok((parents, is_shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_as_it_was_printed() {
        let text = format!("{}.17", "ab".repeat(20));
        assert_eq!(text.parse::<LogCursor>().map(|it| it.to_string()), Ok(text));
        for text in [
            "",
            ".",
            "ab.1",
            "x",
            &format!("{}.+1", "ab".repeat(20)),
            &"ab".repeat(20),
        ] {
            assert_eq!(text.parse::<LogCursor>(), Err(CursorError), "{text}");
        }
    }

    #[test]
    fn a_path_has_no_dots_and_no_empty_part() {
        assert_eq!(split_path(b"a/b/").unwrap(), [b"a", b"b"]);
        assert!(split_path(b"").unwrap().is_empty());
        for path in ["/a", "a//b", "../a", "a/./b", "a\0", "a/.."] {
            assert!(split_path(path.as_bytes()).is_err(), "{path:?}");
        }
    }
}
