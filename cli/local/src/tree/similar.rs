//! A tree with nearly the texts of another: a second work tree, clone or copy of a repository. Its
//! index begins as that of the other, whose files it shares.

use super::record::Record;
use crate::place;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Names that two roots have in common at least, and their least share of the names of each.
const COMMON_MIN: usize = 4;
const SHARE_MIN: f64 = 0.5;

/// Finds the tree with the most names in common with `root`, in the directories beside `own`.
pub(super) fn find(root: &Path, own: &Path) -> Option<PathBuf> {
    let names = names(root)?;
    let directories = fs::read_dir(own.parent()?).ok()?.flatten();
    let others = directories.map(|entry| entry.path()).filter(|it| it != own);
    let similar = others.filter_map(|directory| {
        let other = root_of(&directory)?;
        let share = share(&names, &self::names(&other)?);
        (share >= SHARE_MIN).then_some((share, directory))
    });
    let best = similar.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, directory)| directory)
}

pub(crate) fn root_of(directory: &Path) -> Option<PathBuf> {
    let mut record = File::open(place::record_in(directory)).ok()?;
    Some(Record::read_head(&mut record).ok()?.root())
}

fn names(root: &Path) -> Option<HashSet<OsString>> {
    let entries = fs::read_dir(root).ok()?.flatten();
    Some(entries.map(|entry| entry.file_name()).collect())
}

fn share(a: &HashSet<OsString>, b: &HashSet<OsString>) -> f64 {
    let common = a.intersection(b).count();
    if common < COMMON_MIN {
        return 0.0;
    }
    common as f64 / a.len().max(b.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_similar_by_the_names_in_their_roots() {
        let names = |text: &str| text.split(' ').map(OsString::from).collect();
        let share = |a, b| share(&names(a), &names(b));
        assert!(share("a b c d e", "a b c d f") > SHARE_MIN);
        assert!(share("a b c d e", "a b c d f g h i j") < SHARE_MIN);
        assert_eq!(share("src", "src"), 0.0);
    }
}
