//! Blame: the origin commit of each line of a file, as in `git blame`.
//!
//! Files are followed to parents, youngest commit first, and moved ones to their former names
//! (`former`). Lines also in a parent are passed on, by git's diff (Myers, with indent heuristic);
//! the rest are blamed, except on commits in `.git-blame-ignore-revs`. Unlike the blame of gix,
//! this one has bounds.
//!
//! **Invariant:** a look-up reads bounded commits and bytes in bounded time. Unresolved lines are
//! marked `or_earlier`: they come from the named commit or an earlier one.

mod former;
mod lines;
mod sliding;

pub(crate) use former::{NAMED_SCORE_MIN, path as former_path};
pub(crate) use former::{Parts, SCORE_MAX, SCORE_MIN, last_name, may_be_similar};
pub(crate) use lines::without_common_end;
pub(crate) use sliding::{best_end, indent};

use crate::commit::{self, committed_seconds};
use crate::error::{Result, refused};
use crate::objects::Objects;
use crate::tree::is_file;
use clru::CLruCache;
use gix::ObjectId;
use lines::{Lines, Passed};
use schema::message::{BlameHunk, Commit};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
pub struct BlameLimits {
    /// Now and earlier.
    pub file_bytes_max: u64,
    pub lines_max: u32,
    pub commits_max: usize,
    pub time_max: Duration,
}

impl Default for BlameLimits {
    fn default() -> BlameLimits {
        BlameLimits {
            file_bytes_max: 1 << 20,
            lines_max: 20_000,
            commits_max: 100_000,
            time_max: Duration::from_millis(1_200),
        }
    }
}

const IGNORED_FILE: &[u8] = b".git-blame-ignore-revs";

const IGNORED_BYTES_MAX: u64 = 1 << 20;

/// A parent is compared with its child, then with its own parent.
const TEXTS_MAX: NonZeroUsize = NonZeroUsize::new(16).unwrap();

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blame {
    pub commit: String,
    /// All lines, ascending.
    pub hunks: Vec<BlameHunk>,
    /// Youngest first.
    pub sources: Vec<BlameSource>,
    /// No limit was reached.
    pub complete: bool,
}

/// Commit, and the file in it with the lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlameSource {
    /// Without tags.
    pub commit: Commit,
    pub path: Vec<u8>,
    /// Parent with the file, if any, and the path there.
    pub previous: Option<(String, Vec<u8>)>,
}

/// File in a commit that lines may come from.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Suspect {
    commit: ObjectId,
    path: Rc<[u8]>,
}

struct Waiting {
    trail: Rc<Trail>,
    lines: Vec<Lines>,
}

pub(crate) struct Walk<'o, 'r> {
    objects: &'o Objects<'r>,
    limits: BlameLimits,
    deadline: Instant,
    queue: BinaryHeap<(i64, Reverse<u64>, Suspect)>,
    waiting: HashMap<Suspect, Waiting>,
    texts: CLruCache<ObjectId, Rc<Vec<u8>>>,
    found: BTreeMap<u32, BlameHunk>,
    sources: Vec<BlameSource>,
    known: HashMap<Suspect, u32>,
    ignored: HashSet<ObjectId>,
    queued: u64,
    /// True until a limit is reached.
    complete: bool,
}

/// `None` if the file is missing.
pub(crate) fn blame(
    objects: &Objects<'_>,
    commit: &gix::Object<'_>,
    path: &[&[u8]],
    limits: BlameLimits,
) -> Result<Option<Blame>> {
    let Some(trail) = Trail::of(objects, objects.tree(commit)?, path, None)? else {
        return Ok(None);
    };
    let Some(text) = objects.text(trail.file(), limits.file_bytes_max)? else {
        let most = limits.file_bytes_max;
        return Err(refused!(
            "the file has more than {most} bytes, which is the most that is blamed"
        ));
    };
    let lines = lines::count(&text);
    if lines > limits.lines_max {
        let most = limits.lines_max;
        return Err(refused!(
            "the file has {lines} lines; blame is for files of at most {most}"
        ));
    }
    let mut walk = Walk {
        objects,
        limits,
        deadline: Instant::now() + limits.time_max,
        queue: BinaryHeap::new(),
        waiting: HashMap::new(),
        texts: CLruCache::new(TEXTS_MAX),
        found: BTreeMap::new(),
        sources: Vec::new(),
        known: HashMap::new(),
        ignored: ignored(objects, commit)?,
        queued: 0,
        complete: true,
    };
    walk.texts.put(trail.file(), Rc::new(text));
    let suspect = Suspect {
        commit: commit.id,
        path: path.join(&b'/').into(),
    };
    let first = Candidate {
        suspect,
        trail: Rc::new(trail),
        seconds: committed_seconds(&commit.id, &commit.data),
    };
    walk.pass(&first, Lines::all(lines));
    walk.run()?;
    Ok(Some(Blame {
        commit: commit.id.to_string(),
        hunks: lines::joined(walk.found.into_values()),
        sources: walk.sources,
        complete: walk.complete,
    }))
}

fn ignored(objects: &Objects<'_>, commit: &gix::Object<'_>) -> Result<HashSet<ObjectId>> {
    let file = objects.entry(objects.tree(commit)?, &[IGNORED_FILE])?;
    let text = match file.filter(|(mode, _)| is_file(*mode)) {
        Some((_, id)) => objects.text(id, IGNORED_BYTES_MAX)?.unwrap_or_default(),
        None => Vec::new(),
    };
    let lines = text.split(|&byte| byte == b'\n');
    let ids = lines.map(|line| line.split(|&byte| byte == b'#').next().unwrap_or_default());
    Ok(ids
        .filter_map(|id| ObjectId::from_hex(id.trim_ascii()).ok())
        .collect())
}

struct Candidate {
    suspect: Suspect,
    trail: Rc<Trail>,
    seconds: i64,
}

impl Walk<'_, '_> {
    fn run(&mut self) -> Result<()> {
        let (mut walked, mut is_over) = (0, false);
        while let Some((_, _, suspect)) = self.queue.pop() {
            let Some(waiting) = self.waiting.remove(&suspect) else {
                continue;
            };
            is_over |= walked >= self.limits.commits_max || Instant::now() >= self.deadline;
            if is_over {
                self.blame(&suspect, None, &waiting.lines, true)?;
            } else {
                self.look(&suspect, &waiting)?;
                walked += 1;
            }
        }
        Ok(())
    }

    /// Passes lines to parents that have them, and blames the rest.
    fn look(&mut self, suspect: &Suspect, waiting: &Waiting) -> Result<()> {
        let commit = self.objects.get(suspect.commit, "the history")?;
        let mut candidates: Vec<Option<Candidate>> = Vec::new();
        let parents = self.objects.parents(&commit);
        for follows_moves in [false, true] {
            for (at, parent) in parents.iter().enumerate() {
                if candidates.get(at).is_some_and(Option::is_some) {
                    continue;
                }
                let candidate =
                    self.candidate(&commit, *parent, suspect, waiting, follows_moves)?;
                if let Some(candidate) = &candidate
                    && candidate.trail.file() == waiting.trail.file()
                {
                    self.pass(candidate, waiting.lines.clone());
                    return Ok(());
                }
                match candidates.get_mut(at) {
                    Some(known) => *known = candidate,
                    None => candidates.push(candidate),
                }
            }
        }
        let mut lines = waiting.lines.clone();
        let candidates: Vec<Candidate> = candidates.into_iter().flatten().collect();
        let is_ignored = self.ignored.contains(&suspect.commit);
        let again = candidates.iter().filter(|_| is_ignored);
        let tries = candidates.iter().enumerate().chain(again.map(|it| (0, it)));
        for (tried, (at, candidate)) in tries.enumerate() {
            let file = candidate.trail.file();
            let mut earlier = candidates[..at].iter();
            if earlier.any(|other| other.trail.file() == file) || lines.is_empty() {
                continue;
            }
            let texts = (self.text(file)?, self.text(waiting.trail.file())?);
            let (Some(before), Some(after)) = texts else {
                // An earlier text is too large. Other lines are still followed.
                return self.blame(suspect, None, &lines, true);
            };
            let pass = match tried < candidates.len() {
                true => lines::pass,
                false => lines::pass_changed,
            };
            let Passed { passed, kept } = pass(&before, &after, &lines);
            lines = kept;
            if !passed.is_empty() {
                self.pass(candidate, passed);
            }
        }
        let previous = candidates.first().map(|it| &it.suspect);
        self.blame(suspect, previous, &lines, false)
    }

    /// Perhaps by its former name.
    fn candidate(
        &self,
        commit: &gix::Object<'_>,
        parent: ObjectId,
        suspect: &Suspect,
        waiting: &Waiting,
        follows_moves: bool,
    ) -> Result<Option<Candidate>> {
        let object = self.objects.parent(commit, parent)?;
        let tree = self.objects.tree(&object)?;
        let path: Rc<[u8]> = if follows_moves {
            let trees = (tree, waiting.trail.root());
            let file = (&suspect.path[..], waiting.trail.file());
            let most = self.limits.file_bytes_max;
            let Some(path) = former::path(self.objects, trees, file, most)? else {
                return Ok(None);
            };
            path.into()
        } else {
            Rc::clone(&suspect.path)
        };
        let names: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let known = (!follows_moves).then_some(&*waiting.trail);
        let trail = Trail::of(self.objects, tree, &names, known)?;
        Ok(trail.map(|trail| Candidate {
            suspect: Suspect {
                commit: parent,
                path,
            },
            trail: Rc::new(trail),
            seconds: committed_seconds(&object.id, &object.data),
        }))
    }

    fn pass(&mut self, to: &Candidate, lines: Vec<Lines>) {
        if let Some(waiting) = self.waiting.get_mut(&to.suspect) {
            waiting.lines.extend(lines);
            return;
        }
        let next = (to.seconds, Reverse(self.queued), to.suspect.clone());
        self.queue.push(next);
        self.queued += 1;
        let trail = Rc::clone(&to.trail);
        self.waiting
            .insert(to.suspect.clone(), Waiting { trail, lines });
    }

    fn blame(
        &mut self,
        suspect: &Suspect,
        previous: Option<&Suspect>,
        lines: &[Lines],
        or_earlier: bool,
    ) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.complete &= !or_earlier;
        let source = match self.known.get(suspect) {
            Some(source) => *source,
            None => {
                let object = self.objects.get(suspect.commit, "the history")?;
                self.sources.push(BlameSource {
                    commit: commit::decode(&object.id, &object.data)?,
                    path: suspect.path.to_vec(),
                    previous: previous.map(|it| (it.commit.to_string(), it.path.to_vec())),
                });
                let source = self.sources.len() as u32 - 1;
                self.known.insert(suspect.clone(), source);
                source
            }
        };
        for lines in lines {
            let hunk = BlameHunk {
                first: lines.target + 1,
                lines: lines.count,
                source,
                source_line: lines.at + 1,
                or_earlier,
            };
            self.found.insert(lines.target, hunk);
        }
        Ok(())
    }

    fn text(&mut self, id: ObjectId) -> Result<Option<Rc<Vec<u8>>>> {
        if let Some(text) = self.texts.get(&id) {
            return Ok(Some(Rc::clone(text)));
        }
        let text = self.objects.text(id, self.limits.file_bytes_max)?;
        let text = text.map(Rc::new);
        if let Some(text) = &text {
            self.texts.put(id, Rc::clone(text));
        }
        Ok(text)
    }
}

/// Ids from the commit tree to the file.
///
/// Equal directory ids mean equal contents. So a path in a parent is followed only to the first
/// known id, mostly the first or second tree.
#[derive(Debug, PartialEq, Eq)]
struct Trail(Vec<ObjectId>);

impl Trail {
    /// `None` without a regular file. `known` is the same path below another tree.
    fn of(
        objects: &Objects<'_>,
        tree: ObjectId,
        path: &[&[u8]],
        known: Option<&Trail>,
    ) -> Result<Option<Trail>> {
        let known = known.map_or(&[][..], |known| &known.0);
        let mut ids = vec![tree];
        for (depth, name) in path.iter().enumerate() {
            let id = ids[depth];
            if known.get(depth) == Some(&id) {
                ids.extend(&known[depth + 1..]);
                break;
            }
            let Some((mode, id)) = objects.child(id, name)? else {
                return Ok(None);
            };
            let is_last = depth + 1 == path.len();
            let fits = if is_last {
                is_file(mode.kind() as u16)
            } else {
                mode.is_tree()
            };
            if !fits {
                return Ok(None);
            }
            ids.push(id);
        }
        Ok((ids.len() == path.len() + 1 && !path.is_empty()).then_some(Trail(ids)))
    }

    fn root(&self) -> ObjectId {
        self.0[0]
    }

    fn file(&self) -> ObjectId {
        *self.0.last().expect("a way has an end")
    }
}
