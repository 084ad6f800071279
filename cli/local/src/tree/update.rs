//! Update of a tree's index, in a process of its own: its memory is freed, and its priority low.

use super::published::Base;
use super::record::{Listing, Record, TICK_NS};
use super::similar;
use super::snapshot::Snapshot;
use super::{FAILED_REST, REST, REST_MIN, Tree};
use crate::place;
use crate::watch::{Watch, absolute};
use anyhow::{Context, Result, bail};
use index::ContentCodec;
use index::block::BLOCK_BYTES;
use index::corpus::Source;
use index::directory::IndexError;
use index::indexing::{self, BuildError, BuildOptions, Changes, Progress, Suspects};
use index::manifest::Options;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const PACKAGE: &[u8] = b"tree";

/// The least that the indexer takes.
const MEMORY_BYTES: usize = 64 << 20;

const LOWEST_PRIORITY: i32 = 19;

impl Tree {
    /// Brings the index up to date with every change before the call.
    pub(crate) fn update(&self) {
        let began = Instant::now();
        let updated = self.try_update();
        let took = began.elapsed();
        let mut state = self.state();
        let now = Instant::now();
        state.updated = now;
        state.next_update = now
            + match updated {
                Ok(()) => (took * REST).max(REST_MIN),
                Err(_) => FAILED_REST.max(took * REST),
            };
        state.problem = updated.err().map(|error| format!("{error:#}"));
    }

    fn try_update(&self) -> Result<()> {
        let (changed, was_lost) = {
            let mut state = self.state();
            state.drain();
            state.was_lost |= mem::take(&mut state.is_lost);
            state.change_times = None;
            (state.changes.begin_update(), state.was_lost)
        };
        let uncovered = self.watch().inspect_err(|_| self.unwatch());
        fs::create_dir_all(&self.directory).context("cannot create the index")?;
        let index = place::index_in(&self.directory);
        if !index.exists()
            && let Some(similar) = similar::find(&self.root, &self.directory)
        {
            // Otherwise everything is indexed.
            let _ = place::link(&place::index_in(&similar), &index);
        }
        // Files that changed within a tick of being read look unchanged.
        let is_compared = was_lost || uncovered.is_err();
        let from_ns = is_compared.then(|| self.last_began().unwrap_or(TICK_NS));
        self.run_indexer(from_ns, &changed)?;
        // The index serves comparisons.
        let uncovered = uncovered.context("compared: cannot watch")?;
        let snapshot = Snapshot::open(&index).and_then(|snapshot| {
            let exceptions = snapshot.exceptions(&self.root)?;
            Ok((snapshot, exceptions))
        });
        let (snapshot, exceptions) = snapshot.inspect_err(|_| drop(place::remove(&index)))?;
        let linked = self.publications.link(&index, &snapshot.name());
        let mut base = Base {
            root: self.root.as_os_str().as_bytes().to_vec(),
            device: self.device,
            inode: self.inode,
            index: linked.context("cannot link the index")?,
            open: exceptions.open,
            links: exceptions.links,
            texts: exceptions.texts.0,
        };
        base.open.extend(uncovered);
        let mut state = self.state();
        state.files = snapshot.files();
        state.base = Some(base);
        state.changes.end_update();
        state.was_lost = false;
        state.is_published = false;
        state.drain();
        // The next ring tries it again.
        let _ = state.publish(&self.root, &self.publications);
        if let Some(base) = &state.base {
            self.publications.retain(&base.index);
        }
        Ok(())
    }

    /// Gives the watches back.
    fn unwatch(&self) {
        let mut state = self.state();
        state.is_lost = true;
        if let Ok(watch) = Watch::new(&self.root) {
            state.watch = watch;
        }
    }

    fn last_began(&self) -> Option<i128> {
        let mut file = File::open(place::record_in(&self.directory)).ok()?;
        Some(Record::read_head(&mut file).ok()?.began_ns)
    }

    fn run_indexer<'a>(
        &self,
        from_ns: Option<i128>,
        changed: impl IntoIterator<Item = &'a Vec<u8>>,
    ) -> Result<()> {
        let mut command = Command::new("/proc/self/exe");
        command.args(["local", "index"]);
        command.args([&self.root, &self.directory]);
        command.args(from_ns.map(|from| (from - TICK_NS).to_string()));
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot index")?;
        let mut paths = Vec::new();
        for path in changed {
            paths.extend(absolute(&self.root, path).as_os_str().as_bytes());
            paths.push(0);
        }
        let input = child.stdin.take().map(|mut input| input.write_all(&paths));
        let output = child.wait_with_output().context("cannot index")?;
        if !output.status.success() || input.is_some_and(|written| written.is_err()) {
            let message = String::from_utf8_lossy(&output.stderr);
            bail!("cannot index: {}", message.trim());
        }
        Ok(())
    }
}

/// Updates the index of a tree in its directory, as `crate::index` describes.
pub(crate) fn index(
    root: PathBuf,
    directory: &Path,
    from_ns: Option<i128>,
    changed: impl Read,
) -> Result<()> {
    rustix::process::setpriority_process(None, LOWEST_PRIORITY)?;
    let began = SystemTime::now().duration_since(UNIX_EPOCH);
    let began_ns = began.map_or(0, |began| began.as_nanos() as i128);
    index_at(root, directory, from_ns, changed, began_ns)
}

pub(super) fn index_at(
    root: PathBuf,
    directory: &Path,
    from_ns: Option<i128>,
    mut changed: impl Read,
    began_ns: i128,
) -> Result<()> {
    let mut paths = Vec::new();
    changed.read_to_end(&mut paths)?;
    let paths = paths
        .split(|&byte| byte == 0)
        .filter(|path| !path.is_empty());
    let source = Source {
        directory: root,
        name: PACKAGE.to_vec(),
        is_versioned: false,
    };
    let listing = Listing::new(&source, began_ns)?;
    let index = &place::index_in(directory);
    let changes = Changes {
        suspects: Suspects {
            modified_from_ns: from_ns,
            paths: paths.map(|path| OsStr::from_bytes(path).into()).collect(),
        },
        ..Changes::default()
    };
    let options = BuildOptions {
        options: Options {
            block_bytes: BLOCK_BYTES,
            no_ignore: true,
        },
        memory_bytes: MEMORY_BYTES,
        jobs: 1,
        content: Some(ContentCodec::Zstd),
        ..BuildOptions::default()
    };
    let progress = Progress::default();
    let update = || indexing::update(vec![source.clone()], &changes, index, &options, &progress);
    match update() {
        Err(BuildError::Directory(IndexError::Locked(_))) => bail!("another process indexes it"),
        // Damaged, or of another version.
        Err(error @ (BuildError::Directory(_) | BuildError::Unusable(_))) => {
            place::remove(index)?;
            update().with_context(|| format!("after {error}"))?;
        }
        updated => drop(updated?),
    }
    listing.write(index, &place::record_in(directory))
}
