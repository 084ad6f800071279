use super::*;
use crate::execution::collector::Collector;
use crate::execution::collector::tests::spool;
use crate::execution::finalize::finalize;
use crate::execution::memory::Memory;
use results::order::{Origin, TextGroup};
use results::{copies, folded};
use std::collections::BTreeMap;

/// A document: text, place in the document order, stream, and frames with their match counts.
struct Synthetic {
    text: u32,
    place: u32,
    stream: u16,
    frames: Vec<(u64, u32)>,
}

fn documents(count: u32) -> Vec<Synthetic> {
    let mut ends = [0_u64; 3];
    let document = |n: u32| {
        let scattered = n.wrapping_mul(2_654_435_761);
        let stream = (scattered >> 7) as u16 % 3;
        let end = &mut ends[usize::from(stream)];
        let frames = 1 + u32::from(n.is_multiple_of(5)) * 2;
        let frames = (0..frames).map(|frame| {
            *end += 64;
            (*end, 1 + (n + frame) % 3)
        });
        Synthetic {
            text: if n.is_multiple_of(3) {
                scattered % (1 + count / 9)
            } else {
                count + n
            },
            place: scattered & 0xf_ffff,
            stream,
            frames: frames.collect(),
        }
    };
    (0..count).map(document).collect()
}

fn collectors(run: &ResultFiles, documents: &[Synthetic], bytes: u64) -> Vec<Collector> {
    let memory = Memory::new(bytes);
    let new = |stream| Collector::new(stream, memory.share(bytes / 3));
    let mut collectors: Vec<_> = (0..3).map(new).collect();
    for document in documents {
        let collector = &mut collectors[usize::from(document.stream)];
        collector.packages.id(b"p");
        // The first frame has the best matches; all documents of a text have the same lines.
        let matches: u32 = document.frames.iter().map(|(_, matches)| matches).sum();
        let mut text = [7; 12];
        text[8..].copy_from_slice(&document.text.to_le_bytes());
        let group = TextGroup::new(&text, matches.into());
        // The first bits of the place are the score, all bits the hash.
        let rank = 1.0 + (document.place >> 8) as f32 / 4096.0;
        let hash = u64::from(!document.place);
        let mut line = 0;
        for (number, &(offset, matches)) in document.frames.iter().enumerate() {
            let origin = Origin {
                hash,
                package: 0,
                stream: document.stream,
                offset,
            };
            if number > 0 {
                let first = document.frames[0].0;
                collector.continued.push(offset, first);
            }
            for index in 0..matches {
                line += 1;
                let pointer = origin.pointer(rank, line, index);
                collector.sorter.push(pointer);
            }
            let best = origin.pointer(rank, 1, 0).score();
            let frame = (document.stream, offset);
            let pointer = DocumentPointer::new(group, best, hash, frame, number == 0);
            collector.log.push(pointer.0);
        }
        collector.mark_written();
        collector.spill_if_full(run).unwrap();
    }
    collectors
        .iter_mut()
        .for_each(|collector| collector.sorter.seal());
    collectors
}

/// Finds copies by comparing all texts. Returns the copies of each frame, and if it is folded.
fn naive(documents: &[Synthetic]) -> BTreeMap<(u16, u64), (u64, bool)> {
    let mut texts: BTreeMap<(u32, u32), Vec<&Synthetic>> = BTreeMap::new();
    for document in documents {
        let matches = document.frames.iter().map(|(_, matches)| matches).sum();
        texts
            .entry((document.text, matches))
            .or_default()
            .push(document);
    }
    let mut frames = BTreeMap::new();
    for same in texts.values() {
        let best = same.iter().map(|each| each.place).max();
        for document in same {
            for (offset, _) in &document.frames {
                let found = (same.len() as u64 - 1, Some(document.place) != best);
                frames.insert((document.stream, *offset), found);
            }
        }
    }
    frames
}

#[test]
fn each_text_is_shown_once_whatever_the_memory() {
    for (count, bytes) in [
        (0, 0),
        (1, 0),
        (40, 1 << 30),
        (60_000, 1 << 30),
        (60_000, 0),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let run = spool(directory.path(), None).create("0123456789abcdef", 3);
        let documents = documents(count);
        let expected = naive(&documents);
        let mut collectors = collectors(&run, &documents, bytes);
        let counts = finalize(&run, &mut collectors, 0).unwrap();
        let order = run.order.read(0..counts.pointers).unwrap();
        let is_shown = |at: &u64| !expected[&order[*at as usize].frame()].1;
        let shown: Vec<u64> = (0..counts.pointers).filter(is_shown).collect();
        assert_eq!(counts.unique, shown.len() as u64, "{count} documents");
        assert_eq!(counts.unique < counts.pointers, count >= 40);
        for start in (0..counts.unique).step_by(1 + count as usize / 20) {
            let end = counts.unique.min(start + 5000);
            let part = folded::positions(&run.folded, counts.pointers, start..end).unwrap();
            assert_eq!(part, shown[start as usize..end as usize]);
        }
        for (frame, (copies, _)) in expected.iter().step_by(1 + count as usize / 500) {
            let group = copies::group_of(&run, *frame).unwrap();
            assert_eq!(group.map_or(0, |group| group.documents - 1), *copies);
        }
    }
}

#[test]
fn marking_in_several_passes_marks_the_same_matches() {
    let directory = tempfile::tempdir().unwrap();
    let files = spool(directory.path(), None);
    let marked = |folded_max| {
        let run = files.create("0123456789abcdef", 3);
        let mut collectors = collectors(&run, &documents(3000), 1 << 30);
        let counts = finalize(&run, &mut collectors, 0).unwrap();
        let again = files.create("0123456789abcdef", 3);
        for (from, to) in [
            (&run.copy_frames, &again.copy_frames),
            (run.order.part(0), again.order.part(0)),
        ] {
            let mut bytes = vec![0; from.len() as usize];
            from.read_at(&mut bytes, 0, &mut Default::default())
                .unwrap();
            again.append(to, &bytes).unwrap();
        }
        let unique = mark(&again, counts.pointers, folded_max).unwrap();
        assert_eq!(unique, counts.unique);
        folded::positions(&again.folded, counts.pointers, 0..unique).unwrap()
    };
    let once = marked(FOLDED_LEN_MAX);
    assert!(marked(100) == once && marked(1) == once);
}

#[test]
fn a_damaged_file_of_copies_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let files = spool(directory.path(), None);
    let run = files.create("0123456789abcdef", 3);
    let mut collectors = collectors(&run, &documents(300), 1 << 30);
    let counts = finalize(&run, &mut collectors, 0).unwrap();
    run.close();
    for blob in [&run.folded, &run.copies, &run.copy_groups, &run.copy_frames] {
        let bytes = std::fs::read(blob.path()).unwrap();
        let mut other = bytes.clone();
        other[9] ^= 4;
        std::fs::write(blob.path(), &other).unwrap();
        let all = || {
            folded::positions(&run.folded, counts.pointers, 0..counts.unique)?;
            for document in documents(300) {
                let frame = (document.stream, document.frames[0].0);
                if let Some(group) = copies::group_of(&run, frame)? {
                    copies::frames_of(&run, group, 0..group.documents)?;
                }
            }
            Ok(())
        };
        let read: Result<(), SpoolError> = all();
        assert!(
            matches!(read, Err(SpoolError::Corrupt { .. })),
            "{:?}",
            blob.path()
        );
        std::fs::write(blob.path(), &bytes).unwrap();
    }
}
