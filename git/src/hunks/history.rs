//! Commits of revisions, each with its message and its changed files.

use super::merges::OwnLines;
use super::{BlobCache, CHANGE_BYTES_MAX, ChangedFile, FileHunks, FileVersion, files, moves};
use crate::commit;
use crate::error::{Result, unreadable};
use crate::mailmap::Mailmap;
use crate::objects::Objects;
use crate::repository::Repository;
use crate::source::SourceRepository;
use gix::ObjectId;
use schema::message::Commit;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

const BINARY_BYTES: usize = 8_000;

/// Commits read in one look-up, which may read a bounded number.
const READ_AT_ONCE: usize = 100_000;

#[derive(Clone, Debug, Default)]
pub struct HistoryList {
    /// Each with the number of its set.
    pub commits: Vec<(ObjectId, u32)>,
    /// Numbers of the revisions that reach a commit, ascending.
    pub sets: Vec<Vec<u32>>,
    pub damaged: Vec<(ObjectId, u32, String)>,
}

#[derive(Clone, Debug)]
pub struct HistoryCommit {
    /// Without tags; people as in `.mailmap`.
    pub commit: Commit,
    pub message: Vec<u8>,
    pub files: Vec<ChangedFile>,
}

impl SourceRepository {
    /// Lists the commits that the `tips` reach and that were committed at or after `since`.
    pub fn history(&self, tips: &[ObjectId], since: Option<i64>) -> Result<HistoryList> {
        let mut graph = Graph::default();
        for tip in tips {
            graph.number(*tip);
        }
        while !graph.unread.is_empty() {
            self.repository().look_up(|session| {
                graph.read(&session.objects);
                Ok(())
            })?;
        }
        Ok(graph.list(tips, since))
    }

    pub fn mailmap(&self, commit: ObjectId) -> Arc<Mailmap> {
        let repository = self.repository();
        let read = repository.look_up(|session| {
            repository.mailmap(session, &session.objects.get(commit, "a revision")?)
        });
        read.unwrap_or_default()
    }

    pub fn changed_files(
        &self,
        id: ObjectId,
        people: &Mailmap,
        cache: &mut BlobCache,
    ) -> Result<HistoryCommit> {
        self.repository().look_up(|session| {
            let objects = &session.objects;
            let object = objects.get(id, "the history")?;
            let mut commit = commit::decode(&id, &object.data)?;
            people.correct(&mut commit);
            let before = trees_before(objects, &object)?;
            let is_merge = before.len() > 1;
            let mut files = files::changed(objects, before, objects.tree(&object)?)?;
            if !is_merge {
                moves::join(objects, &mut files, cache)?;
            }
            Ok(HistoryCommit {
                message: commit::message(&id, &object.data)?,
                commit,
                files,
            })
        })
    }

    pub fn hunks(&self, file: &ChangedFile, cache: &mut BlobCache) -> Result<FileHunks, Unchanged> {
        compare(self.repository(), file, cache)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unchanged {
    Binary,
    TooLarge(u64),
    Unreadable(String),
}

fn compare(
    repository: &Repository,
    file: &ChangedFile,
    cache: &mut BlobCache,
) -> Result<FileHunks, Unchanged> {
    let mut read = |version: Option<FileVersion>| match version {
        None => Ok(Rc::from(&b""[..])),
        Some(it) if it.is_submodule() => Ok(Rc::from(
            format!("Subproject commit {}\n", it.id).as_bytes(),
        )),
        Some(it) => text(repository, it.id, cache),
    };
    let after = read(file.after)?;
    if let [before] = file.before[..] {
        return Ok(FileHunks::between(&read(before)?, &after));
    }
    let mut own = OwnLines::default();
    for before in &file.before {
        own = own.against(&read(*before)?, &after);
    }
    Ok(own.hunks(&after))
}

fn text(
    repository: &Repository,
    id: ObjectId,
    cache: &mut BlobCache,
) -> Result<Rc<[u8]>, Unchanged> {
    let bytes_max = CHANGE_BYTES_MAX / 2;
    let read = repository.look_up(|session| {
        let text = cache.text(&session.objects, id, bytes_max)?;
        Ok(text.ok_or_else(|| session.objects.size(id).unwrap_or(u64::MAX)))
    });
    match read {
        Err(error) => Err(Unchanged::Unreadable(error.to_string())),
        Ok(Err(bytes)) => Err(Unchanged::TooLarge(bytes)),
        Ok(Ok(text)) if text[..text.len().min(BINARY_BYTES)].contains(&0) => Err(Unchanged::Binary),
        Ok(Ok(text)) => Ok(text),
    }
}

fn trees_before(objects: &Objects<'_>, commit: &gix::Object<'_>) -> Result<Vec<Option<ObjectId>>> {
    let parents = objects.parents(commit).into_iter();
    let trees = parents.map(|parent| {
        let parent = objects.parent(commit, parent)?;
        objects.tree(&parent).map(Some)
    });
    let trees: Vec<_> = trees.collect::<Result<_>>()?;
    Ok(if trees.is_empty() { vec![None] } else { trees })
}

#[derive(Default)]
struct Graph {
    numbers: HashMap<ObjectId, usize>,
    nodes: Vec<Node>,
    unread: Vec<usize>,
}

struct Node {
    id: ObjectId,
    committed: i64,
    parents: Vec<usize>,
    problem: Option<String>,
}

impl Graph {
    fn number(&mut self, id: ObjectId) -> usize {
        let next = self.nodes.len();
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.unread.push(next);
            self.nodes.push(Node {
                id,
                committed: 0,
                parents: Vec::new(),
                problem: None,
            });
        }
        number
    }

    fn read(&mut self, objects: &Objects<'_>) {
        for _ in 0..READ_AT_ONCE {
            let Some(number) = self.unread.pop() else {
                break;
            };
            let id = self.nodes[number].id;
            match read_commit(objects, id) {
                Err(error) => self.nodes[number].problem = Some(error.to_string()),
                Ok((committed, parents)) => {
                    let parents = parents.into_iter().map(|parent| self.number(parent));
                    let parents = parents.collect();
                    let node = &mut self.nodes[number];
                    (node.committed, node.parents) = (committed, parents);
                }
            }
        }
    }

    fn list(mut self, tips: &[ObjectId], since: Option<i64>) -> HistoryList {
        let mut sets = Sets::default();
        let mut of_nodes = vec![sets.number(Vec::new()); self.nodes.len()];
        for (revision, tip) in (0..).zip(tips) {
            let node = self.numbers[tip];
            of_nodes[node] = sets.union(of_nodes[node], &[revision]);
        }
        let mut children = vec![0_usize; self.nodes.len()];
        let parents = self.nodes.iter().flat_map(|node| &node.parents);
        parents.for_each(|&parent| children[parent] += 1);
        let mut ready: Vec<usize> = (0..self.nodes.len()).collect();
        ready.retain(|&node| children[node] == 0);
        let mut ordered = Vec::with_capacity(self.nodes.len());
        while let Some(number) = ready.pop() {
            ordered.push(number);
            for &parent in &self.nodes[number].parents {
                let set = sets.sets[of_nodes[number] as usize].clone();
                of_nodes[parent] = sets.union(of_nodes[parent], &set);
                children[parent] -= 1;
                if children[parent] == 0 {
                    ready.push(parent);
                }
            }
        }
        for (node, _) in (self.nodes.iter_mut().zip(&children)).filter(|(_, left)| **left > 0) {
            node.problem = Some("grafts make the commit its own ancestor".to_owned());
        }
        let looped = (0..self.nodes.len()).filter(|&node| children[node] > 0);
        ordered.extend(looped);
        // Stable: children of the same second stay before their parents.
        ordered.sort_by_key(|&node| Reverse(self.nodes[node].committed));
        let mut list = HistoryList::default();
        for number in ordered {
            let (node, set) = (&mut self.nodes[number], of_nodes[number]);
            match node.problem.take() {
                Some(problem) => list.damaged.push((node.id, set, problem)),
                None if since.is_none_or(|since| node.committed >= since) => {
                    list.commits.push((node.id, set));
                }
                None => {}
            }
        }
        list.sets = sets.sets;
        list
    }
}

fn read_commit(objects: &Objects<'_>, id: ObjectId) -> Result<(i64, Vec<ObjectId>)> {
    let object = objects.get(id, "the history")?;
    if object.kind != gix::objs::Kind::Commit {
        return Err(unreadable!(
            "{} {id} is no commit: run git fsck",
            object.kind
        ));
    }
    let committed = commit::committed_seconds(&id, &object.data);
    Ok((committed, objects.parents(&object)))
}

#[derive(Default)]
struct Sets {
    sets: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, u32>,
}

impl Sets {
    fn number(&mut self, set: Vec<u32>) -> u32 {
        let next = self.sets.len() as u32;
        let number = *self.numbers.entry(set.clone()).or_insert(next);
        if number == next {
            self.sets.push(set);
        }
        number
    }

    fn union(&mut self, set: u32, with: &[u32]) -> u32 {
        let known = &self.sets[set as usize];
        if with.iter().all(|it| known.contains(it)) {
            return set;
        }
        let mut union = [known, with].concat();
        union.sort_unstable();
        union.dedup();
        self.number(union)
    }
}
