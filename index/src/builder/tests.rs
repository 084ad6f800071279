use super::*;
use crate::trigram::Trigram;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, PartialEq)]
struct Plain {
    text: Vec<u8>,
    blocks: Vec<(u64, u32)>,
    documents: Vec<(u32, u32)>,
    postings: BTreeMap<[u8; 3], Vec<u32>>,
}

/// Documents of a segment, numbered as in a shard: without blocks of discarded ones.
fn plain(segment: &Segment) -> Plain {
    let mut plain = Plain {
        text: Vec::new(),
        blocks: Vec::new(),
        documents: Vec::new(),
        postings: BTreeMap::new(),
    };
    let mut numbers = HashMap::new();
    for document in &segment.documents {
        let first_block = plain.blocks.len() as u32;
        let (start, range) = (plain.text.len() as u64, segment.bytes(&document.blocks));
        let copied = segment.copy(std::slice::from_ref(&range), &mut plain.text);
        copied.unwrap();
        for block in document.blocks.clone() {
            numbers.insert(block, plain.blocks.len() as u32);
            let SegmentBlock { offset, first_line } = segment.blocks[block as usize];
            plain
                .blocks
                .push((start + offset - range.start, first_line));
        }
        plain.documents.push((first_block, document.lines));
    }
    for run in &segment.runs {
        let mut reader = RunReader::new(&run[..]);
        while let Some(trigram) = reader.trigram().unwrap() {
            let mut blocks = Vec::new();
            reader.list(0, &mut blocks).unwrap();
            let kept: Vec<u32> = blocks
                .iter()
                .filter_map(|it| numbers.get(it).copied())
                .collect();
            if !kept.is_empty() {
                let key = Trigram::from_value(trigram).bytes();
                plain.postings.entry(key).or_default().extend(kept);
            }
        }
    }
    plain
}

fn expected(documents: &[Vec<u8>], block_bytes: usize) -> Plain {
    let mut plain = Plain {
        text: documents.concat(),
        blocks: Vec::new(),
        documents: Vec::new(),
        postings: BTreeMap::new(),
    };
    let mut offset = 0;
    for document in documents {
        let first_block = plain.blocks.len() as u32;
        let lines: Vec<&[u8]> = document.split_inclusive(|&byte| byte == b'\n').collect();
        let mut bytes = 0;
        for (number, line) in (1..).zip(&lines) {
            if number == 1 || bytes + line.len() > block_bytes {
                plain.blocks.push((offset, number));
                bytes = 0;
            }
            bytes += line.len();
            offset += line.len() as u64;
            for window in line.windows(3).filter(|window| !window.contains(&b'\n')) {
                let key = [0, 1, 2].map(|at| window[at].to_ascii_lowercase());
                let list = plain.postings.entry(key).or_default();
                let block = plain.blocks.len() as u32 - 1;
                if list.last() != Some(&block) {
                    list.push(block);
                }
            }
        }
        plain.documents.push((first_block, lines.len() as u32));
    }
    plain
}

fn build(documents: &[Vec<u8>], limits: Limits, piece: usize) -> Plain {
    let directory = tempfile::tempdir().unwrap();
    let mut builder = SegmentBuilder::new(limits, directory.path());
    for document in documents {
        builder.write_all(&document.repeat(2)).unwrap();
        builder.write_all(b"and an open line xyz").unwrap();
        builder.discard_document().unwrap();
        for piece in document.chunks(piece) {
            builder.write_all(piece).unwrap();
        }
        builder.finish_document(None).unwrap();
    }
    plain(&builder.finish())
}

proptest! {
    #[test]
    fn segments_equal_those_of_a_simple_implementation(
        documents in proptest::collection::vec("([abAB \r]{0,12}\n|[a-d]{0,40}){0,12}", 0..6),
        block_bytes in 1_usize..30,
        text_bytes in 1_usize..100,
        pairs in 1_usize..60,
        piece in 1_usize..50,
    ) {
        let documents: Vec<Vec<u8>> = documents.into_iter().map(String::into_bytes).collect();
        let limits = Limits { block_bytes, text_bytes, pairs };
        prop_assert_eq!(build(&documents, limits, piece), expected(&documents, block_bytes));
    }
}

#[test]
fn a_line_longer_than_memory_is_one_block() {
    let line = [b"x".repeat(5_000_000), b"abc\n".to_vec()].concat();
    let document = [b"first\n".to_vec(), line, b"last".to_vec()].concat();
    let limits = Limits {
        block_bytes: 4096,
        text_bytes: 100_000,
        pairs: 1000,
    };
    let segment = build(std::slice::from_ref(&document), limits, 65_536);
    assert_eq!(segment.blocks, [(0, 1), (6, 2), (5_000_010, 3)]);
    assert!(segment.text == document && segment.documents == [(0, 3)]);
    assert_eq!(segment.postings[b"abc"], [1]);
}

/// A pair has 20 bits for its block.
#[test]
fn a_segment_of_very_many_blocks_has_several_runs() {
    let count = (1 << 20) + 3;
    let limits = Limits {
        block_bytes: 4,
        text_bytes: 1 << 20,
        pairs: usize::MAX,
    };
    let directory = tempfile::tempdir().unwrap();
    let mut builder = SegmentBuilder::new(limits, directory.path());
    builder.write_all(b"xyz\n").unwrap();
    builder.finish_document(None).unwrap();
    for _ in 0..count / 4096 {
        builder.write_all(&b"abc\n".repeat(4096)).unwrap();
    }
    builder.write_all(&b"abc\n".repeat(count % 4096)).unwrap();
    builder.finish_document(None).unwrap();
    let segment = builder.finish();
    assert_eq!(segment.runs.len(), 2);
    let postings = plain(&segment).postings;
    assert_eq!(postings[b"xyz"], [0]);
    assert!(postings[b"abc"].iter().copied().eq(1..=count as u32));
}
