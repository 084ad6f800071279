use super::reader::FIRST_READ_BYTES;
use super::*;
use schema::frame::{FRAME_BYTES_MAX, Kind, encode};
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

const ID: &str = "0123456789abcdef";

fn frame(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(Kind::Batch, payload, &mut out).unwrap();
    out
}

fn limits(disk_bytes_max: u64, result_memory_max: u64) -> SpoolConfig {
    SpoolConfig {
        disk_bytes_max,
        result_memory_max,
        durable: true,
        before_write: None,
    }
}

fn spool(disk_bytes_max: u64, result_memory_max: u64) -> (tempfile::TempDir, Arc<Spool>) {
    let directory = tempfile::tempdir().unwrap();
    let limits = limits(disk_bytes_max, result_memory_max);
    let (spool, _) = Spool::open(directory.path(), limits).unwrap();
    (directory, spool)
}

fn runs(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count() - 1
}

#[test]
fn frames_of_every_length_are_read_back() {
    for result_memory_max in [0, 40_000, 1 << 30] {
        let (_directory, spool) = spool(1 << 30, result_memory_max);
        let run = spool.run(ID, 2);
        let lengths = [
            0,
            8,
            FIRST_READ_BYTES - 16,
            FIRST_READ_BYTES,
            FRAME_BYTES_MAX - 16,
        ];
        let (mut offset, mut places) = (0, Vec::new());
        for (fill, length) in (1..).zip(lengths) {
            let bytes = frame(&vec![fill; length]);
            run.append_frames(1, &bytes).unwrap();
            places.push((offset, fill, length));
            offset += bytes.len() as u64;
        }
        let mut reader = run.reader();
        for &(offset, fill, length) in places.iter().rev() {
            let frame = reader.read((1, offset)).unwrap();
            assert_eq!(frame.payload, vec![fill; length]);
            assert_eq!(frame.payload.as_ptr() as usize % 8, 0, "aligned");
        }
        assert!(reader.read((1, offset)).is_err(), "behind the end");
        assert!(reader.read((0, 0)).is_err(), "nothing was written");
        assert!(reader.read((2, 0)).is_err(), "no such backend");
    }
}

#[test]
fn what_changed_on_disk_is_not_shown() {
    let (directory, spool) = spool(1 << 30, 0);
    let run = spool.run(ID, 1);
    run.append_frames(0, &frame(&[7; 64])).unwrap();
    let path = directory.path().join(format!("{ID}-0/0"));
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_at(&[8], 40).unwrap();
    let mut reader = run.reader();
    let corrupt = reader.read((0, 0));
    assert!(matches!(
        corrupt,
        Err(SpoolError::Corrupt { offset: 0, .. })
    ));
}

#[test]
fn a_spool_has_one_frontend() {
    let (directory, _spool) = spool(1, 0);
    let second = Spool::open(directory.path(), limits(1, 0));
    assert!(matches!(second, Err(SpoolError::Locked(_))));
}

#[test]
fn left_overs_go_and_strangers_stay() {
    let directory = tempfile::tempdir().unwrap();
    for name in [
        "0123456789abcdef-7",
        "notes",
        "0123456789ABCDEF-7",
        "0123456789abcdef",
    ] {
        fs::create_dir(directory.path().join(name)).unwrap();
    }
    let (spool, recovered) = Spool::open(directory.path(), limits(1 << 20, 0)).unwrap();
    assert_eq!((runs(directory.path()), recovered.len()), (3, 0));
    // Numbers are not given again.
    spool.run(ID, 1).append_frames(0, &frame(&[])).unwrap();
    assert!(spool.sequence.load(Relaxed) > 8);
}

#[test]
fn the_budget_holds_and_comes_back() {
    let (directory, spool) = spool(100, 0);
    let run = spool.run(ID, 1);
    run.append_frames(0, &frame(&[1; 64])).unwrap();
    let full = run.append_frames(0, &frame(&[1; 8]));
    assert!(matches!(full, Err(SpoolError::Full { bytes_max: 100 })));
    assert_eq!(runs(directory.path()), 1);
    drop(run);
    assert_eq!((spool.excess(100), runs(directory.path())), (0, 0));
}

#[test]
fn what_is_small_touches_no_disk() {
    let (directory, spool) = spool(1 << 20, 1000);
    let run = spool.run(ID, 2);
    run.append_frames(0, &frame(&[1; 64])).unwrap();
    run.append_frames(1, &frame(&[2; 64])).unwrap();
    run.finish(|| unreachable!("nothing is to be kept"))
        .unwrap();
    assert_eq!((runs(directory.path()), spool.memory_bytes()), (0, 160));
    run.append_frames(1, &frame(&[3; 2000])).unwrap();
    assert_eq!((runs(directory.path()), spool.memory_bytes()), (1, 80));
    drop(run);
    assert_eq!((spool.disk_bytes(), spool.memory_bytes()), (0, 0));
}

/// A finished run of two backends, of which one sent nothing.
fn finished(spool: &Arc<Spool>) -> ResultFiles {
    let run = spool.run(ID, 2);
    run.append_frames(0, &frame(&[1; 64])).unwrap();
    run.append(run.order.part(0), &[2; 64]).unwrap();
    run.append(run.order.part(2), &[2; 96]).unwrap();
    let manifest = SpoolManifest {
        frame_bytes: run.frame_bytes_by_backend(),
        order_bytes: run.order.bytes(),
        pointers: 3,
        ..SpoolManifest::default()
    };
    run.finish(|| {
        let mut frame = Vec::new();
        manifest.encode(&mut frame).unwrap();
        frame
    })
    .unwrap();
    run
}

#[test]
fn finished_runs_are_known_again() {
    let (directory, spool) = spool(1 << 20, 0);
    let run = finished(&spool);
    let bytes = run.held_bytes();
    drop((run, spool));
    let (spool, mut recovered) = Spool::open(directory.path(), limits(1 << 20, 0)).unwrap();
    let known = recovered.pop().unwrap();
    assert_eq!((&known.id[..], known.run.held_bytes()), (ID, bytes));
    assert_eq!(spool.disk_bytes(), bytes.0);
    let mut reader = known.run.reader();
    assert_eq!(reader.read((0, 0)).unwrap().payload, [1; 64]);
    drop(reader);
    known.run.forget();
    drop(known);
    assert_eq!((runs(directory.path()), spool.disk_bytes()), (0, 0));
}

#[test]
fn a_run_that_is_not_whole_is_not_known_again() {
    for (name, length) in [
        ("0", 79),
        ("order-0", 65),
        ("order-2", 64),
        ("manifest", 20),
        ("facets", 1),
    ] {
        let (directory, spool) = spool(1 << 20, 0);
        drop((finished(&spool), spool));
        let path = directory.path().join(format!("{ID}-0")).join(name);
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(length).unwrap();
        let (spool, recovered) = Spool::open(directory.path(), limits(1 << 20, 0)).unwrap();
        assert!(recovered.is_empty(), "{name}");
        assert_eq!((runs(directory.path()), spool.disk_bytes()), (0, 0));
    }
}
