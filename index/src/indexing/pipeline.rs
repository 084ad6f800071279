//! The pipeline: one thread lists packages and hands out tasks, workers make segments of them, the
//! calling thread joins the segments in the order of the tasks.
//!
//! **Invariant:** every queue is bounded by the number of workers, so memory holds a few segments;
//! the result does not depend on that number.

use super::error::BuildError;
use super::options::BuildOptions;
use super::package::InputPackage;
use super::report::Progress;
use super::shard_assembly::{NewShards, ShardAssembly};
use super::task::{Task, TaskSizes, hand_out};
use super::worker::{FinishedTask, work};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

/// Writes packages to new shards, except those that are unchanged since they were recorded.
pub(super) fn write(
    packages: &[InputPackage],
    directory: &Path,
    options: &BuildOptions,
    progress: &Progress,
) -> Result<NewShards, BuildError> {
    let count = packages.len() as u64;
    progress.packages.fetch_add(count, Ordering::Relaxed);
    let mut assembly = ShardAssembly::new(directory, options);
    let sizes = TaskSizes::of(options);
    let jobs = options.jobs.max(1);
    let (task_sender, tasks) = mpsc::sync_channel::<Task>(1);
    let (finished_sender, finished) = mpsc::sync_channel::<Result<FinishedTask, BuildError>>(jobs);
    // Only the workers own the receiver: when they have ended, early or not, so does `hand_out`.
    let tasks = Arc::new(Mutex::new(tasks));
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (tasks, finished) = (tasks.clone(), finished_sender.clone());
            scope.spawn(move || work(packages, &tasks, &finished, &sizes, directory, progress));
        }
        drop(tasks);
        scope.spawn(move || {
            if let Err(error) = hand_out(packages, options, &sizes, progress, &task_sender) {
                // Nobody receives it when the build has failed already.
                let _ = finished_sender.send(Err(error));
            }
        });
        join_in_order(finished, packages, &mut assembly)
    })?;
    assembly.finish().map_err(BuildError::write(directory))
}

/// Receives segments and joins them in the order of their tasks. Segments that wait for an earlier
/// one are bounded by the number of workers, since each has one task at a time.
fn join_in_order(
    finished: mpsc::Receiver<Result<FinishedTask, BuildError>>,
    packages: &[InputPackage],
    assembly: &mut ShardAssembly<'_>,
) -> Result<(), BuildError> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for result in finished {
        let result = result?;
        waiting.insert(result.number, result);
        while let Some(result) = waiting.remove(&next) {
            let joined = assembly.join(result, packages);
            joined.map_err(BuildError::write(assembly.directory))?;
            next += 1;
        }
    }
    Ok(())
}
