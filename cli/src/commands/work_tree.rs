//! Index of the work tree around the current directory, in the user's cache directory.

use super::index as index_command;
use crate::client::{Client, Place, Target};
use crate::work_tree::WorkTree;
use crate::{cache_dir, terminal, units};
use anyhow::{Context, Result};
use index::corpus::{self, SkipReason};
use index::directory::Index;
use index::indexing::{self, BuildOptions, Changes};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Client of a server or an index, which is brought up to date if it is that of a work tree.
pub(super) fn client(target: &Target) -> Result<Client> {
    match target.place()? {
        Place::Index(index) => Client::in_process(&index),
        Place::Tree(tree) => Client::in_process(&current_index(&tree)?),
        Place::Server(url) => Client::server(&url, target),
    }
}

/// Brings the index of a tree up to date, and returns its directory. `trawl serve ROOT` and
/// `trawl mcp ROOT` have the same. Only the first build prints a summary.
pub(super) fn current_index(tree: &WorkTree) -> Result<PathBuf> {
    let packages = corpus::packages(std::slice::from_ref(&tree.root), false, false)?;
    let sources = &packages.sources;
    let directory = cache_dir::index_dir(sources.iter().map(|source| &*source.directory))?;
    let (options, prune) = (BuildOptions::default(), true);
    let changes = Changes {
        prune,
        ..Changes::default()
    };
    let is_current = || indexing::is_current(sources.clone(), &changes, &directory, &options);
    let is_new = !directory.join("manifest").exists();
    let started = Instant::now();
    let updated = index_command::while_locked(|| {
        match index_command::update_silently(sources, &changes, &directory, &options) {
            // Its owner may be a server that watches the tree, or it cannot be written.
            Err(_) if is_current() => Ok(None),
            updated => updated.map(Some),
        }
    });
    let updated = updated.with_context(|| {
        let root = tree.root.to_string_lossy();
        let root = terminal::escaped(&*root);
        format!("cannot update the index of {root}; `trawl grep` needs none")
    });
    if let Some(report) = updated? {
        index_command::report_problems(&report.problems);
        if is_new {
            let elapsed = started.elapsed();
            index_command::summarize(&report, &directory, elapsed, &report.problems);
        }
    }
    Ok(directory)
}

/// Reports files of an index that could not be read. True if there are none.
pub(super) fn is_whole(index: &Path) -> Result<bool> {
    let mut unread = 0;
    for shard in Index::open(index)?.shards {
        let skipped = shard.skipped()?.into_iter();
        let reasons = skipped.filter_map(|file| SkipReason::from_words(&file.reason));
        unread += reasons.filter(SkipReason::is_unread).count() as u64;
    }
    if unread > 0 {
        let (files, index) = (units::plural(unread, "file"), index.display());
        terminal::complain(format_args!(
            "incomplete: {files} could not be read, listed by `trawl inspect --index {index} --skipped`"
        ));
    }
    Ok(unread == 0)
}
