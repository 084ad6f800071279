//! `trawl index --store`: publishes an index. `--claim` shares the work.

use crate::{progress, terminal, units};
use anyhow::{Result, ensure};
use index::corpus::{Packages, Source};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use store::claims::{Claims, RENEW_EVERY};
use store::{Generation, Objects, Published, StoreError, Transfer};

/// Bounds the loss with a machine.
const CLAIMED_MAX: usize = 16;

/// Polling interval of other machines' claims.
const WAIT: Duration = Duration::from_secs(2);

/// Store to publish to.
#[derive(clap::Args)]
pub(super) struct PublishFlags {
    /// Publish the index in this store, a directory or s3://BUCKET/PREFIX, for `trawl backend
    /// --store`
    ///
    /// Without SOURCE, the index is published as it is.
    #[arg(long, value_name = "STORE")]
    pub(super) store: Option<String>,
    /// Number of backends for each shard, kept in the store [default: as before, 2 in a new store]
    #[arg(long, value_name = "N", requires = "store", value_parser = clap::value_parser!(u8).range(1..=i64::from(store::REPLICAS_MAX)))]
    pub(super) replicas: Option<u8>,
    /// Share the SOURCEs with other machines that run the same command
    ///
    /// Each machine builds packages that no other one builds and that the store does not have under
    /// their names, until the store has them all.
    #[arg(long, requires = "store", requires = "sources", conflicts_with_all = ["update", "git", "git_dir_each", "verify", "remove", "prune"])]
    pub(super) claim: bool,
}

pub(super) fn publish(flags: &PublishFlags, index: &Path, replace_versions: bool) -> Result<()> {
    let Some(url) = &flags.store else {
        return Ok(());
    };
    upload(flags, &Objects::open(url)?, index, replace_versions)
}

fn upload(flags: &PublishFlags, objects: &Objects, index: &Path, replaces: bool) -> Result<()> {
    let upload = Arc::new(Transfer::default());
    let shown = Arc::clone(&upload);
    let template = "{bar:30} {percent:>3} %  {decimal_bytes_per_sec}  uploading  {eta} left";
    let bar = progress::on_terminal(template, move |bar| {
        bar.set_length(shown.total.load(Relaxed));
        bar.set_position(shown.bytes.load(Relaxed));
    });
    let published = store::publish(objects, index, flags.replicas, replaces, &upload)?;
    drop(bar);
    terminal::report(what_was_published(&published, objects));
    Ok(())
}

fn what_was_published(published: &Published, objects: &Objects) -> String {
    let (store, number) = (objects.url(), published.generation);
    let packages = units::plural(published.packages, "package");
    let what = format!("{packages} in {}", units::plural(published.shards, "shard"));
    if !published.is_new {
        return format!("generation {number} of {store} has all of this already ({what})");
    }
    let files = units::plural(published.uploaded_files, "file");
    let size = units::size(published.uploaded_bytes);
    format!("published generation {number} of {store}: {what}; {files} uploaded, {size}")
}

/// Publishes packages until the store has all. `build` builds claimed ones into `out`.
pub(super) fn share(
    flags: &PublishFlags,
    out: &Path,
    packages: &Packages,
    replace_versions: bool,
    build: &dyn Fn(Packages) -> Result<()>,
) -> Result<()> {
    let url = flags.store.as_deref().unwrap_or_default();
    let objects = Objects::open(url)?;
    ensure!(
        !packages.sources.is_empty(),
        "--claim needs packages to share"
    );
    let (mut built, mut is_waiting) = (0, false);
    loop {
        let missing = not_published(&objects, &packages.sources)?;
        if missing.is_empty() {
            let all = units::plural(packages.sources.len() as u64, "package");
            let built = units::count(built);
            terminal::report(format_args!(
                "{url} has all of {all}; {built} were built here"
            ));
            return Ok(());
        }
        let claims = Claims::open(&objects)?;
        let mut claimed = Vec::new();
        for source in &missing {
            if claimed.len() < CLAIMED_MAX && claims.take(&source.name)? {
                claimed.push(source.clone());
            }
        }
        // Another machine may have published and released some.
        let claimed = not_published(&objects, &claimed)?;
        if claimed.is_empty() {
            claims.release()?;
            if !std::mem::replace(&mut is_waiting, true) {
                let others = units::plural(missing.len() as u64, "package");
                terminal::report(format_args!(
                    "waiting for {others} that other machines build"
                ));
            }
            std::thread::sleep(WAIT);
            continue;
        }
        is_waiting = false;
        built += claimed.len() as u64;
        let packages = Packages {
            sources: claimed,
            ..Packages::default()
        };
        let result = renewing(&claims, || {
            build(packages)?;
            upload(flags, &objects, out, replace_versions)
        });
        // Releases after errors too, so other machines need not wait.
        let released = claims.release();
        result?;
        released?;
    }
}

fn not_published(objects: &Objects, sources: &[Source]) -> Result<Vec<Source>> {
    let known: HashSet<Vec<u8>> = match Generation::current(objects) {
        Ok(generation) => {
            let live = generation.manifest.live();
            live.map(|package| package.directory.clone()).collect()
        }
        Err(StoreError::Empty(_)) => HashSet::new(),
        Err(error) => return Err(error.into()),
    };
    let is_missing = |source: &&Source| !known.contains(&source.name);
    Ok(sources.iter().filter(is_missing).cloned().collect())
}

/// Renews the claims during `work`.
fn renewing(claims: &Claims<'_>, work: impl FnOnce() -> Result<()>) -> Result<()> {
    std::thread::scope(|scope| {
        let (working, ended) = channel::<()>();
        scope.spawn(move || {
            // Ends with the sender. After a failed renewal, another machine may build the same
            // package.
            while ended.recv_timeout(RENEW_EVERY) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = claims.renew() {
                    terminal::complain(format_args!("claims cannot be renewed: {error}"));
                }
            }
        });
        let result = work();
        drop(working);
        result
    })
}
