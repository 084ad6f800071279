use super::*;
use crate::execution::finalize::finalize;
use crate::execution::memory::Memory;
use crate::execution::sorter::{RUNS_MAX, Source};
use results::spool::{Spool, SpoolConfig};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub(crate) fn spool(directory: &std::path::Path, fail_at: Option<usize>) -> Arc<Spool> {
    let writes = AtomicUsize::new(0);
    let limits = SpoolConfig {
        disk_bytes_max: 1 << 30,
        result_memory_max: 0,
        durable: false,
        before_write: Some(Arc::new(move || {
            match Some(writes.fetch_add(1, Relaxed)) >= fail_at && fail_at.is_some() {
                true => Err(std::io::ErrorKind::StorageFull.into()),
                false => Ok(()),
            }
        })),
    };
    Spool::open(directory, limits).unwrap().0
}

fn pointers(stream: u16, count: u32) -> impl Iterator<Item = Pointer> {
    (0..count).map(move |n| {
        let scattered = n.wrapping_mul(2_654_435_761);
        let origin = Origin {
            hash: u64::from(scattered) << 24 | u64::from(n) << 1 | u64::from(stream),
            package: 0,
            stream,
            offset: u64::from(n) * 8,
        };
        origin.pointer((scattered % 97) as f32, n + 1, 0)
    })
}

fn collectors(run: &ResultFiles, bytes: u64, count: u32) -> Result<Vec<Collector>, SpoolError> {
    let memory = Memory::new(bytes);
    (0..2_u16)
        .map(|stream| {
            let mut collector = Collector::new(stream, memory.share(bytes));
            collector.packages.id(b"p");
            for (n, pointer) in pointers(stream, count).enumerate() {
                collector.sorter.push(pointer);
                if n % 1000 == 999 {
                    collector.mark_written();
                    collector.spill_if_full(run)?;
                }
            }
            collector.mark_written();
            assert_eq!(collector.matches, u64::from(count));
            collector.sorter.seal();
            Ok(collector)
        })
        .collect()
}

/// Merged order of `count` pointers per stream with a budget of `bytes`, and the number of runs.
fn order(bytes: u64, count: u32) -> (Vec<Pointer>, usize) {
    let directory = tempfile::tempdir().unwrap();
    let run = spool(directory.path(), None).create("0123456789abcdef", 2);
    let mut collectors = collectors(&run, bytes, count).unwrap();
    let runs = collectors
        .iter()
        .map(|collector| collector.sorter.written_runs)
        .sum();
    let counts = finalize(&run, &mut collectors, 0).unwrap();
    assert_eq!(
        (counts.pointers, counts.packages),
        (2 * u64::from(count), 1)
    );
    let order = run.order.read(0..counts.pointers).unwrap();
    for (at, len) in [(0, 1), (126, 2), (1000, 300), (2 * u64::from(count) - 1, 1)] {
        let part = run.order.read(at..at + len).unwrap();
        assert_eq!(part, order[at as usize..][..len as usize]);
    }
    (order, runs)
}

#[test]
fn order_does_not_depend_on_the_memory_budget() {
    let count = 60_000;
    let (expected, runs) = order(1 << 30, count);
    assert_eq!(runs, 0);
    let is_sorted = |pair: &[Pointer]| pair[0].spool_order() != pair[1].spool_order();
    assert!(expected.windows(2).all(is_sorted), "each once");
    let (some, few_runs) = order(1 << 20, count);
    let (none, many_runs) = order(0, count);
    assert!(
        0 < few_runs && few_runs < many_runs,
        "{few_runs}, {many_runs}"
    );
    assert!(some == expected && none == expected);
}

#[test]
fn merges_runs_when_there_are_too_many() {
    let directory = tempfile::tempdir().unwrap();
    let run = spool(directory.path(), None).create("0123456789abcdef", 2);
    let count = (RUNS_MAX as u32 + 3) * 17_000;
    let collectors = collectors(&run, 0, count).unwrap();
    let on_disk = |source: &Source<'_>| matches!(source, Source::Disk(_));
    let runs: Vec<_> = collectors[0].sorter.sources().filter(on_disk).collect();
    assert!(runs.len() < RUNS_MAX / 2);
    let lens = runs.iter().map(|run| run.len()).sum::<u64>();
    assert_eq!(lens + collectors[0].len() as u64, u64::from(count));
}

#[test]
fn returns_an_error_whichever_write_fails() {
    for fail_at in 0.. {
        let directory = tempfile::tempdir().unwrap();
        let run = spool(directory.path(), Some(fail_at)).create("0123456789abcdef", 2);
        let done = collectors(&run, 0, 20_000)
            .and_then(|mut collectors| finalize(&run, &mut collectors, 0).map(drop));
        match done {
            Ok(()) => {
                assert!(fail_at > 10, "{fail_at} writes");
                break;
            }
            Err(error) => assert!(matches!(error, SpoolError::Io { .. }), "{error}"),
        }
    }
}
