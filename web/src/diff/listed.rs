//! Changed files of two packages, by the hashes of their documents.

use super::asked::{AskedDiff, Comparison, FILES_MAX, Side, change};
use crate::problem::Problem;
use crate::search::params::lossy;
use crate::suggest::Corpus;
use futures_util::stream::{self, StreamExt};
use schema::message::{Change, ChangeKind, ListEntry, ListKind, ListRequest};
use std::collections::{BTreeMap, HashMap};

const DIRECTORIES_MAX: usize = 5000;

const AT_ONCE_MAX: usize = 8;

const PARTS_MAX: usize = 20;

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

struct Walk<'c> {
    corpus: Corpus<'c>,
    sides: [Side; 2],
    found: Vec<(Change, Vec<u8>)>,
    listed: usize,
}

pub(super) async fn compare(corpus: Corpus<'_>, asked: &AskedDiff) -> Result<Comparison, Problem> {
    let from = asked.from.as_ref().expect("packages have two sides");
    let sides = [
        indexed(corpus, from).await?,
        indexed(corpus, &asked.to).await?,
    ];
    let mut walk = Walk {
        corpus,
        sides,
        found: Vec::new(),
        listed: 0,
    };
    let more = walk.run(&asked.path).await?;
    let files = renamed(walk.found);
    let [from, to] = walk.sides;
    Ok(Comparison {
        more: more || files.len() > FILES_MAX as usize,
        files: files.into_iter().take(FILES_MAX as usize).collect(),
        from,
        to,
    })
}

async fn indexed(corpus: Corpus<'_>, side: &Side) -> Result<Side, Problem> {
    let found = corpus.versions(&side.package).await?.pop();
    let found = found.ok_or_else(|| {
        let name = lossy(Some(&side.package));
        Problem::missing(format!("no package {name} is indexed"))
    })?;
    Ok(Side {
        package: found.package,
        revision: side.revision.clone(),
    })
}

impl Walk<'_> {
    async fn run(&mut self, path: &[u8]) -> Result<bool, Problem> {
        let top = path.strip_suffix(b"/").unwrap_or(path);
        let directory = match top {
            b"" => Vec::new(),
            top => [top, b"/"].concat(),
        };
        let mut level = vec![(directory, [true; 2])];
        let mut is_first = true;
        while !level.is_empty() {
            if self.listed + level.len() > DIRECTORIES_MAX || self.found.len() > FILES_MAX as usize
            {
                return Ok(true);
            }
            self.listed += level.len();
            let lists = stream::iter(std::mem::take(&mut level)).map(|(path, are_there)| {
                let [old, new] = [0, 1].map(|at| self.list(at, path.clone(), are_there[at]));
                async { Ok::<_, Problem>([old.await?, new.await?]) }
            });
            let lists: Vec<_> = lists.buffered(AT_ONCE_MAX).collect().await;
            for pair in lists {
                let pair = pair?;
                if is_first && !top.is_empty() && pair.iter().all(BTreeMap::is_empty) {
                    self.found
                        .push((change(top, ChangeKind::Modified), Vec::new()));
                }
                is_first = false;
                self.pair(pair, &mut level);
            }
        }
        Ok(false)
    }

    async fn list(&self, side: usize, path: Vec<u8>, is_there: bool) -> Result<Entries, Problem> {
        if !is_there {
            return Ok(Entries::new());
        }
        let Side { package, revision } = &self.sides[side];
        let request = ListRequest {
            revision: revision.clone(),
            ..ListRequest::new(ListKind::Children, package, &path, 1000)
        };
        let list = self.corpus.parts(request, PARTS_MAX).await?;
        let within =
            |entry: &ListEntry| entry.path.len() > path.len() && entry.path.starts_with(&path);
        let entries = list.entries.into_iter().filter(within);
        Ok(entries.map(|entry| (entry.path, entry.hash)).collect())
    }

    fn pair(&mut self, [old, mut new]: [Entries; 2], level: &mut Vec<(Vec<u8>, [bool; 2])>) {
        let both = old.into_iter().map(|(path, hash)| {
            let other = new.remove(&path);
            (path, Some(hash), other)
        });
        let mut pairs: Vec<_> = both.collect();
        pairs.extend(new.into_iter().map(|(path, hash)| (path, None, Some(hash))));
        for (path, old, new) in pairs {
            if path.ends_with(b"/") {
                level.push((path, [old.is_some(), new.is_some()]));
                continue;
            }
            let (kind, hash) = match (old, new) {
                (Some(old), Some(new)) if old == new && !old.is_empty() => continue,
                (Some(_), Some(_)) => (ChangeKind::Modified, Vec::new()),
                (Some(old), None) => (ChangeKind::Removed, old),
                (None, new) => (ChangeKind::Added, new.unwrap_or_default()),
            };
            self.found.push((change(&path, kind), hash));
        }
    }
}

fn renamed(found: Vec<(Change, Vec<u8>)>) -> Vec<Change> {
    let mut removed: HashMap<&[u8], Vec<&[u8]>> = HashMap::new();
    for (change, hash) in &found {
        if change.kind == ChangeKind::Removed && !hash.is_empty() {
            removed.entry(hash).or_default().push(&change.path);
        }
    }
    let mut files: BTreeMap<Vec<u8>, Change> = BTreeMap::new();
    let mut gone = Vec::new();
    for (change, hash) in &found {
        let mut change = change.clone();
        let former = removed
            .get_mut(&hash[..])
            .filter(|_| change.kind == ChangeKind::Added);
        if let Some(was) = former.and_then(Vec::pop) {
            gone.push(was.to_vec());
            change.kind = ChangeKind::Renamed;
            change.was = was.to_vec();
        }
        files.insert(change.path.clone(), change);
    }
    for path in gone {
        files.remove(&path);
    }
    files.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_same_text_is_renamed() {
        let found = |path: &str, kind, hash: &str| (change(path.as_bytes(), kind), hash.into());
        let files = renamed(vec![
            found("b", ChangeKind::Removed, "1"),
            found("c", ChangeKind::Added, "1"),
            found("a", ChangeKind::Added, "1"),
            found("d", ChangeKind::Modified, ""),
            found("e", ChangeKind::Removed, ""),
            found("f", ChangeKind::Added, ""),
        ]);
        let shown = files
            .iter()
            .map(|file| (&file.path[..], file.kind, &file.was[..]));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                (&b"a"[..], ChangeKind::Added, &b""[..]),
                (b"c", ChangeKind::Renamed, b"b"),
                (b"d", ChangeKind::Modified, b""),
                (b"e", ChangeKind::Removed, b""),
                (b"f", ChangeKind::Added, b""),
            ]
        );
    }
}
