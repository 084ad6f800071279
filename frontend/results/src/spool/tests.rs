use super::reader::FIRST_READ_BYTES;
use super::*;
use schema::frame::{FRAME_BYTES_MAX, Kind, encode};
use schema::message::SpoolManifest;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

const ID: &str = "0123456789abcdef";

fn frame(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(Kind::Batch, payload, &mut out).unwrap();
    out
}

fn config(disk_bytes_max: u64, result_memory_max: u64) -> SpoolConfig {
    SpoolConfig {
        disk_bytes_max,
        result_memory_max,
        durable: true,
        before_write: None,
    }
}

fn spool(disk_bytes_max: u64, result_memory_max: u64) -> (tempfile::TempDir, Arc<Spool>) {
    let directory = tempfile::tempdir().unwrap();
    let config = config(disk_bytes_max, result_memory_max);
    let (spool, _) = Spool::open(directory.path(), config).unwrap();
    (directory, spool)
}

#[test]
fn a_spool_without_a_directory_keeps_what_fits_in_memory() {
    let (spool, _) = Spool::open(Path::new(""), config(1 << 30, 40_000)).unwrap();
    let files = spool.create(ID, 1);
    let small = frame(&[7; 800]);
    files.append_frames(0, &small).unwrap();
    for failed in [
        files.append_frames(0, &frame(&[7; 40_000])),
        files.scratch("run-0-0").map(|_| ()),
    ] {
        let expected = matches!(failed, Err(SpoolError::NoDirectory { bytes_max: 40_000 }));
        assert!(expected, "{failed:?}");
    }
    assert_eq!(files.reader().read((0, 0)).unwrap().payload, [7; 800]);
    assert_eq!(spool.disk_bytes(), 0);
}

#[test]
fn what_was_read_is_released_while_it_is_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let config = SpoolConfig {
        durable: false,
        ..config(1 << 30, 10_000)
    };
    let (spool, _) = Spool::open(directory.path(), config).unwrap();
    let files = spool.create(ID, 1);
    let frames: Vec<_> = (0..40_u8).map(|number| frame(&[number; 984])).collect();
    let at = |number: usize| (0, number as u64 * 1000);
    let append = |numbers: std::ops::Range<usize>| {
        for frame in &frames[numbers] {
            files.append_frames(0, frame).unwrap();
        }
    };
    let check = |number: usize| {
        let mut reader = files.reader();
        assert_eq!(
            reader.read(at(number)).unwrap().payload,
            [number as u8; 984]
        );
    };
    append(0..8);
    // One chunk has frames 2 and 3, another 4 to 7.
    files.release(at(3));
    assert_eq!(spool.memory_bytes(), 6000);
    files.release(at(6));
    assert_eq!(spool.memory_bytes(), 4000);
    assert!(files.reader().read(at(3)).is_err(), "it is gone");
    append(8..12);
    assert_eq!((spool.memory_bytes(), spool.disk_bytes()), (8000, 0));
    (4..12).for_each(check);
    // The file continues after the memory.
    append(12..40);
    assert_eq!((spool.memory_bytes(), spool.disk_bytes()), (10_000, 26_000));
    files.release(at(30));
    assert_eq!(spool.memory_bytes(), 10_000);
    (4..40).for_each(check);
    files.close();
    (4..40).for_each(check);
    drop(files);
    assert_eq!((spool.memory_bytes(), spool.disk_bytes()), (0, 0));
}

fn directories(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count() - 1
}

#[test]
fn frames_of_every_length_are_read_back() {
    for result_memory_max in [0, 40_000, 1 << 30] {
        let (_directory, spool) = spool(1 << 30, result_memory_max);
        let files = spool.create(ID, 2);
        let lengths = [
            0,
            8,
            FIRST_READ_BYTES - 16,
            FIRST_READ_BYTES,
            FRAME_BYTES_MAX - 16,
        ];
        let (mut offset, mut positions) = (0, Vec::new());
        for (fill, length) in (1..).zip(lengths) {
            let bytes = frame(&vec![fill; length]);
            files.append_frames(1, &bytes).unwrap();
            positions.push((offset, fill, length));
            offset += bytes.len() as u64;
        }
        let mut reader = files.reader();
        for &(offset, fill, length) in positions.iter().rev() {
            let frame = reader.read((1, offset)).unwrap();
            assert_eq!(frame.payload, vec![fill; length]);
            assert_eq!(frame.payload.as_ptr() as usize % 8, 0, "aligned");
        }
        assert!(reader.read((1, offset)).is_err(), "behind the end");
        assert!(reader.read((0, 0)).is_err(), "nothing was written");
        assert!(reader.read((2, 0)).is_err(), "no such stream");
    }
}

#[test]
fn rejects_a_frame_that_changed_on_disk() {
    let (directory, spool) = spool(1 << 30, 0);
    let files = spool.create(ID, 1);
    files.append_frames(0, &frame(&[7; 64])).unwrap();
    let path = directory.path().join(format!("{ID}-0/0"));
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_at(&[8], 40).unwrap();
    let mut reader = files.reader();
    let corrupt = reader.read((0, 0));
    assert!(matches!(
        corrupt,
        Err(SpoolError::Corrupt { offset: 0, .. })
    ));
}

#[test]
fn rejects_a_second_frontend() {
    let (directory, _spool) = spool(1, 0);
    let second = Spool::open(directory.path(), config(1, 0));
    assert!(matches!(second, Err(SpoolError::Locked(_))));
}

#[test]
fn open_removes_unfinished_results_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    for name in [
        "0123456789abcdef-7",
        "notes",
        "0123456789ABCDEF-7",
        "0123456789abcdef",
    ] {
        fs::create_dir(directory.path().join(name)).unwrap();
    }
    let (spool, recovered) = Spool::open(directory.path(), config(1 << 20, 0)).unwrap();
    assert_eq!((directories(directory.path()), recovered.len()), (3, 0));
    spool.create(ID, 1).append_frames(0, &frame(&[])).unwrap();
    assert!(spool.sequence.load(Relaxed) > 8);
}

#[test]
fn bytes_return_to_the_budget_on_drop() {
    let (directory, spool) = spool(100, 0);
    let files = spool.create(ID, 1);
    files.append_frames(0, &frame(&[1; 64])).unwrap();
    let full = files.append_frames(0, &frame(&[1; 8]));
    assert!(matches!(full, Err(SpoolError::Full { bytes_max: 100 })));
    assert_eq!(directories(directory.path()), 1);
    drop(files);
    assert_eq!((spool.excess(100), directories(directory.path())), (0, 0));
}

#[test]
fn small_results_stay_in_memory() {
    let (directory, spool) = spool(1 << 20, 1000);
    let files = spool.create(ID, 2);
    files.append_frames(0, &frame(&[1; 64])).unwrap();
    files.append_frames(1, &frame(&[2; 64])).unwrap();
    files
        .finish(|| unreachable!("no result is on disk"))
        .unwrap();
    assert_eq!(
        (directories(directory.path()), spool.memory_bytes()),
        (0, 160)
    );
    files.append_frames(1, &frame(&[3; 2000])).unwrap();
    assert_eq!(
        (directories(directory.path()), spool.memory_bytes()),
        (1, 80)
    );
    drop(files);
    assert_eq!((spool.disk_bytes(), spool.memory_bytes()), (0, 0));
}

/// A finished result of two streams; one sent nothing.
fn finished(spool: &Arc<Spool>) -> ResultFiles {
    let files = spool.create(ID, 2);
    files.append_frames(0, &frame(&[1; 64])).unwrap();
    files.append(files.order.part(0), &[2; 64]).unwrap();
    files.append(files.order.part(2), &[2; 96]).unwrap();
    files.append(&files.facets, &[3; 2]).unwrap();
    let manifest = SpoolManifest {
        frame_bytes: files.frame_bytes_by_backend(),
        order_bytes: files.order.bytes(),
        facets_bytes: 2,
        pointers: 3,
        ..SpoolManifest::default()
    };
    files
        .finish(|| {
            let mut frame = Vec::new();
            manifest.encode(&mut frame).unwrap();
            frame
        })
        .unwrap();
    files
}

#[test]
fn finished_results_are_recovered() {
    let (directory, spool) = spool(1 << 20, 0);
    let files = finished(&spool);
    let bytes = files.held_bytes();
    drop((files, spool));
    let (spool, mut recovered) = Spool::open(directory.path(), config(1 << 20, 0)).unwrap();
    let known = recovered.pop().unwrap();
    assert_eq!((&known.id[..], known.files.held_bytes()), (ID, bytes));
    assert_eq!(spool.disk_bytes(), bytes.0);
    let mut reader = known.files.reader();
    assert_eq!(reader.read((0, 0)).unwrap().payload, [1; 64]);
    drop(reader);
    known.files.forget();
    drop(known);
    assert_eq!((directories(directory.path()), spool.disk_bytes()), (0, 0));
}

#[test]
fn damaged_results_are_not_recovered() {
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
        let (spool, recovered) = Spool::open(directory.path(), config(1 << 20, 0)).unwrap();
        assert!(recovered.is_empty(), "{name}");
        assert_eq!((directories(directory.path()), spool.disk_bytes()), (0, 0));
    }
}
