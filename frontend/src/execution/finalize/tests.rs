use super::*;
use crate::execution::collector::tests::spool;
use crate::execution::memory::Memory;
use results::order::{Origin, Pointer};
use results::packages::{self, PackageGroup};
use results::spool::{Spool, SpoolConfig};
use schema::message::BatchView;
use schema::message::{Batch, DocumentKind, SpoolManifest};

/// Collectors of four streams with `count` matches each (8 per document, 4 per rank) and a budget
/// of `bytes`.
fn synthetic(run: &ResultFiles, count: u32, bytes: u64) -> Vec<Collector> {
    let memory = Memory::new(bytes);
    let collector = |stream: u16| {
        let mut collector = Collector::new(stream, memory.share(bytes / 4));
        for package in 0..100_u32 {
            collector.packages.id(&package.to_le_bytes());
        }
        for n in 0..count {
            let document = n / 8;
            let scattered = u64::from(document).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let origin = Origin {
                hash: scattered ^ u64::from(stream),
                package: document % 100,
                stream,
                offset: u64::from(document) * 1024,
            };
            let rank = (scattered >> 40) as f32 + (n % 2) as f32;
            collector
                .sorter
                .push(origin.pointer(rank, n % 8 * 10, n % 8));
            if n % 20_000 == 19_999 {
                collector.mark_written();
                collector.spill_if_full(run).unwrap();
            }
        }
        collector.mark_written();
        collector.sorter.seal();
        collector
    };
    (0..4).map(collector).collect()
}

fn read(run: &ResultFiles, counts: Counts) -> (Vec<Pointer>, Vec<PackageGroup>) {
    let all = run.order.read(0..counts.pointers).unwrap();
    for start in [0, 1, 126, 500, 999] {
        let range = start.min(counts.pointers)..(start + 300).min(counts.pointers);
        let some = run.order.read(range.clone()).unwrap();
        assert_eq!(some, all[range.start as usize..range.end as usize]);
    }
    let range = 0..counts.packages as usize;
    let packages = packages::read(&run.packages, counts.packages, range).unwrap();
    (all, packages)
}

#[test]
fn order_does_not_depend_on_the_number_of_parts() {
    for (count, bytes) in [(0, 0), (1, 0), (3, 1 << 30), (300, 1 << 30), (25_000, 0)] {
        let read_with = |parts| {
            let directory = tempfile::tempdir().unwrap();
            let run = spool(directory.path(), None).create("0123456789abcdef", 4);
            let mut collectors = synthetic(&run, count, bytes);
            let counts = finalize_in(parts, &run, &mut collectors, 0).unwrap();
            assert_eq!(counts.pointers, 4 * u64::from(count));
            let lens = run.order.bytes();
            if count == 25_000 {
                let longest = lens.iter().max().unwrap() * parts as u64;
                assert!(longest < 12 * lens.iter().sum::<u64>() / 10, "{lens:?}");
            }
            read(&run, counts)
        };
        let one = read_with(1);
        assert!((2..=ORDER_PARTS_MAX).all(|parts| read_with(parts) == one));
    }
}

/// Collectors of three streams, with their frames. Hashes and ranks are few, so nearly all
/// documents tie.
fn colliding(run: &ResultFiles) -> Vec<Collector> {
    let memory = Memory::new(1 << 20);
    let mut collectors: Vec<_> = (0..3)
        .map(|stream| Collector::new(stream, memory.share(1 << 18)))
        .collect();
    let mut written = [0; 3];
    for n in 0..400_u32 {
        // Packages arrive in different orders; each document is on one stream.
        let document = n.wrapping_mul(2_654_435_761) % 100;
        let stream = (document % 3) as u16;
        let package = vec![b'a' + (document % 7) as u8];
        let batch = Batch {
            shard: 0,
            document,
            package: &package,
            path: &document.to_le_bytes(),
            language: "",
            kind: DocumentKind::Source,
            hash: &[0; 32],
            text: b"",
            lines: &[],
            ranges: &[],
            windows: &[],
            spans: &[],
            revisions: &[],
            revision_count: 0,
            commit: "",
            kinds: &[],
            change: None,
            changed_lines: &[],
        };
        let mut frame = Vec::new();
        batch.encode(&mut frame).unwrap();
        run.append_frames(stream, &frame).unwrap();
        let collector = &mut collectors[usize::from(stream)];
        let origin = Origin {
            hash: u64::from(document % 5) << 31,
            package: collector.packages.id(&package),
            stream,
            offset: written[usize::from(stream)],
        };
        written[usize::from(stream)] += frame.len() as u64;
        collector.sorter.push(origin.pointer((n % 2) as f32, n, 0));
    }
    for collector in &mut collectors {
        collector.mark_written();
        collector.sorter.seal();
    }
    collectors
}

#[test]
fn pointers_that_tie_are_in_one_part() {
    let read_with = |parts| {
        let directory = tempfile::tempdir().unwrap();
        let run = spool(directory.path(), None).create("0123456789abcdef", 3);
        let counts = finalize_in(parts, &run, &mut colliding(&run), 0).unwrap();
        let (order, packages) = read(&run, counts);
        let used = run.order.bytes().into_iter().filter(|&bytes| bytes > 0);
        assert_eq!((order.len(), used.count()), (400, parts));
        let mut reader = run.reader();
        let mut name = |pointer: &Pointer| {
            let name = |batch: &BatchView<'_>| Some((batch.package.to_vec(), batch.path.to_vec()));
            reader.batch(pointer.frame(), name)
        };
        assert!(order.is_sorted_by_key(|pointer| (pointer.tie_key(), name(pointer).unwrap())));
        (order, packages)
    };
    let one = read_with(1);
    assert!((2..=ORDER_PARTS_MAX).all(|parts| read_with(parts) == one));
}

#[test]
fn parts_are_read_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let open = || {
        let limits = SpoolConfig {
            disk_bytes_max: 1 << 30,
            result_memory_max: 0,
            durable: true,
            before_write: None,
        };
        Spool::open(directory.path(), limits).unwrap()
    };
    let (spool, _) = open();
    let run = spool.create("0123456789abcdef", 3);
    let counts = finalize_in(3, &run, &mut colliding(&run), 0).unwrap();
    let manifest = SpoolManifest {
        frame_bytes: run.frame_bytes_by_backend(),
        pointers: counts.pointers,
        order_bytes: run.order.bytes(),
        packages_bytes: run.packages.len(),
        facets_bytes: run.facets.len(),
        ..SpoolManifest::default()
    };
    let mut frame = Vec::new();
    manifest.encode(&mut frame).unwrap();
    run.finish(|| frame).unwrap();
    let before = read(&run, counts);
    drop((run, spool));
    let (_spool, recovered) = open();
    assert!(read(&recovered[0].files, counts) == before);
}
