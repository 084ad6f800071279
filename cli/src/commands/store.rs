//! `trawl store`: maintains a store of published indexes.

use crate::exit::Exit;
use crate::terminal::{self, escaped};
use crate::{progress, units};
use ::store::{Generation, Keep, Objects, StoreError};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Verify, roll back and garbage-collect a store of published indexes
///
/// `trawl index --store` publishes to a store, and `trawl backend --store` serves from it. Each
/// published state is a generation. STORE is a directory, or s3://BUCKET/PREFIX with the
/// credentials, region and endpoint of the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
/// AWS_REGION, AWS_ENDPOINT_URL).
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl store history --store s3://code/index
                                          list the generations
  trawl store verify --store /srv/store   check names, lengths and every byte
  trawl store rollback --store S 41       make generation 41 current again, as a new generation
  trawl store gc --store /srv/store --keep 10 --keep-days 7")]
pub(crate) struct StoreArguments {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(clap::Subcommand)]
enum StoreCommand {
    /// List the generations, newest first
    History {
        #[command(flatten)]
        store: StorePlace,
        /// Number of generations to show
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// Verify HEAD, all generations and their files
    ///
    /// Exit status: 0 everything is intact, 2 error, 3 something is missing or damaged.
    Verify {
        #[command(flatten)]
        store: StorePlace,
        /// Compare lengths only, without reading the files
        #[arg(long)]
        quick: bool,
    },
    /// Make an earlier generation current again
    ///
    /// It becomes a new generation with the next number, so that every machine follows. Machines
    /// that index publish their later changes, but not again the changes published since the
    /// earlier generation.
    Rollback {
        /// Store: a directory or s3://BUCKET/PREFIX
        #[arg(long, value_name = "STORE")]
        store: Option<String>,
        /// Store, unless given with --store, and number of the generation [default: the one before
        /// the current one]
        #[arg(value_names = ["STORE", "NUMBER"], num_args = 0..=2, required_unless_present = "store")]
        words: Vec<String>,
    },
    /// Remove old generations, and files that no other generation names
    ///
    /// A file that no generation names is removed when it is a day old: it may have been uploaded
    /// for a generation that is not current yet.
    Gc {
        #[command(flatten)]
        store: StorePlace,
        /// Number of the newest generations to keep
        #[arg(long, value_name = "N", default_value_t = 10)]
        keep: usize,
        /// Keep generations that are younger than this many days
        #[arg(long, value_name = "DAYS", default_value_t = 7)]
        keep_days: u32,
        /// Report the removals, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
}

/// Store, named by a flag or alone.
#[derive(clap::Args)]
struct StorePlace {
    /// Store: a directory or s3://BUCKET/PREFIX
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// Store, as with --store
    #[arg(value_name = "STORE", conflicts_with = "store")]
    #[arg(required_unless_present = "store")]
    place: Option<String>,
}

impl StorePlace {
    fn open(&self) -> Result<Objects> {
        let given = self.store.as_deref().or(self.place.as_deref());
        Ok(Objects::open(given.context("give --store STORE")?)?)
    }
}

pub(super) fn run(arguments: &StoreArguments) -> Result<Exit> {
    match &arguments.command {
        StoreCommand::History { store, limit } => history(&store.open()?, *limit),
        StoreCommand::Verify { store, quick } => verify(&store.open()?, *quick),
        StoreCommand::Rollback { store, words } => rollback(store.as_deref(), words),
        StoreCommand::Gc {
            store,
            keep,
            keep_days,
            dry_run,
        } => {
            let keep = Keep {
                count: *keep,
                age: Duration::from_secs(u64::from(*keep_days) * 86_400),
                dry_run: *dry_run,
            };
            collect(&store.open()?, keep)
        }
    }
}

fn history(objects: &Objects, limit: usize) -> Result<Exit> {
    let (current, generations) = ::store::history(objects)?;
    if generations.is_empty() {
        return Err(StoreError::Empty(objects.url()).into());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_secs());
    let shown = generations.iter().take(limit);
    for (place, (number, generation)) in shown.enumerate() {
        let mark = if Some(*number) == current { "*" } else { " " };
        let what = match generation {
            Err(error) => error.to_string(),
            Ok(generation) => {
                let before = generations.get(place + 1);
                let before = before.and_then(|(_, before)| before.as_ref().ok());
                row(generation, before, now)
            }
        };
        terminal::print(format_args!("{mark} {number:>6}  {}", escaped(&what)))?;
    }
    let hidden = generations.len().saturating_sub(limit);
    if hidden > 0 {
        let hidden = units::plural(hidden as u64, "earlier generation");
        terminal::report(format_args!("{hidden} not shown; see --limit"));
    }
    if current.is_none() {
        terminal::complain(
            "HEAD is missing or damaged: `trawl store rollback --store STORE NUMBER` replaces it",
        );
        return Ok(Exit::Success.if_complete(false));
    }
    Ok(Exit::Success)
}

fn row(generation: &Generation, before: Option<&Generation>, now: u64) -> String {
    let packages = |of: &Generation| -> BTreeSet<Vec<u8>> {
        let live = of.manifest.live();
        live.map(|package| package.directory.clone()).collect()
    };
    let names = packages(generation);
    let earlier = before.map(packages).unwrap_or_default();
    let (added, removed) = (names.difference(&earlier), earlier.difference(&names));
    format!(
        "{:>12}  {}, {} in {}  +{} -{}",
        units::age(now.saturating_sub(generation.written)),
        units::plural(names.len() as u64, "package"),
        units::size(generation.bytes()),
        units::plural(generation.manifest.shards.len() as u64, "shard"),
        units::count(added.count() as u64),
        units::count(removed.count() as u64),
    )
}

fn verify(objects: &Objects, quick: bool) -> Result<Exit> {
    let counts = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let shown = Arc::clone(&counts);
    let template = "{bar:30} {percent:>3} %  {pos} of {len} files";
    let bar = progress::on_terminal(template, move |bar| {
        bar.set_length(shown.1.load(Relaxed));
        bar.set_position(shown.0.load(Relaxed));
    });
    let verified = ::store::verify(objects, !quick, &|done, total| {
        counts.1.store(total, Relaxed);
        counts.0.store(done, Relaxed);
    })?;
    drop(bar);
    for damage in &verified.damage {
        let (object, reason) = (escaped(&damage.object), escaped(&damage.reason));
        let needed: Vec<_> = damage.generations.iter().map(u64::to_string).collect();
        let needed = match &needed[..] {
            [] => String::new(),
            [one] => format!(", needed by generation {one}"),
            some => format!(", needed by generations {}", some.join(", ")),
        };
        terminal::print(format_args!("{object}: {reason}{needed}"))?;
    }
    let what = if quick {
        "names and lengths"
    } else {
        "every byte"
    };
    terminal::report(format_args!(
        "checked {what} of {} in {} ({}): {}; {} that no generation names",
        units::plural(verified.files, "file"),
        units::plural(verified.generations, "generation"),
        units::size(verified.bytes),
        match verified.damage.len() {
            0 => "all whole".to_owned(),
            damaged => format!("{} missing or damaged", units::count(damaged as u64)),
        },
        units::plural(verified.unnamed, "file"),
    ));
    Ok(Exit::Success.if_complete(verified.damage.is_empty()))
}

fn rollback(store: Option<&str>, words: &[String]) -> Result<Exit> {
    let (store, number) = match (store, words) {
        (Some(store), []) => (store, None),
        (None, [store]) => (&store[..], None),
        (Some(store), [number]) => (store, Some(number)),
        (None, [store, number]) => (&store[..], Some(number)),
        _ => bail!("expected one store and one number of a generation"),
    };
    let number = number.map(|it| {
        it.parse()
            .with_context(|| format!("{}: expected the number of a generation", escaped(it)))
    });
    let generation: Option<u64> = number.transpose()?;
    let number = ::store::rollback(&Objects::open(store)?, generation)?;
    let from = generation.map_or("the generation before".to_owned(), |it| {
        format!("generation {it}")
    });
    terminal::report(format_args!(
        "{from} is current again, as generation {number}"
    ));
    Ok(Exit::Success)
}

fn collect(objects: &Objects, keep: Keep) -> Result<Exit> {
    let collected = ::store::collect(objects, keep)?;
    let verb = if keep.dry_run {
        "would remove"
    } else {
        "removed"
    };
    terminal::report(format_args!(
        "{verb} {} and {} ({}); kept {}, and {} younger than a day that no generation names",
        units::plural(collected.generations, "generation"),
        units::plural(collected.files, "file"),
        units::size(collected.bytes),
        units::plural(collected.kept, "generation"),
        units::plural(collected.young, "file"),
    ));
    Ok(Exit::Success)
}
