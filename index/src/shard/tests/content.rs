//! Compressed content equals raw content for any sequence of ranges.

use super::*;
use crate::codec::ENCODED_BLOCK_BYTES_MAX;
use zerocopy::little_endian::U64;

fn code(lines: u32) -> Vec<u8> {
    let line = |n: u32| format!("  value_{} = call_{}(x, {n});\n", n * n % 89, n % 7).into_bytes();
    (0..lines).flat_map(line).collect()
}

pub(super) fn compressed() -> Vec<u8> {
    let files = [FIXTURE[2], ("beta-2", "main.c", &*code(16))];
    let bytes = shard_bytes_with(&files, 256, ContentCodec::Zstd);
    let shard = open(&bytes).unwrap();
    assert!(shard.section_bytes(Section::Content) < shard.content_bytes());
    bytes
}

fn both(files: &[File<'_>], block_bytes: usize) -> [Shard; 2] {
    [ContentCodec::Raw, ContentCodec::Zstd].map(|content| {
        let shard = open(&shard_bytes_with(files, block_bytes, content)).unwrap();
        assert_eq!(shard.codec(), content);
        shard
    })
}

fn check_ranges([raw, zstd]: &[Shard; 2], points: &[u64]) {
    let cache = TextCache::default();
    for (number, &start) in points.iter().enumerate() {
        for &end in points {
            if start > end {
                assert!(zstd.text(start..end, &cache).is_err());
                continue;
            }
            let expected = raw.text(start..end, &cache).unwrap();
            let first = zstd.text(start..end, &cache).unwrap();
            let cache = if number % 3 == 0 {
                &TextCache::default()
            } else {
                &cache
            };
            let again = zstd.read_text(start..end, cache).unwrap();
            assert!(*expected == *first && *expected == *again, "{start}..{end}");
        }
    }
    let behind = raw.content_bytes() + 1;
    assert!(zstd.text(0..behind, &cache).is_err());
}

#[test]
fn every_range_has_the_text_of_raw_content() {
    let files = [FIXTURE[2], FIXTURE[5], ("beta-2", "a.c", &*code(60))];
    for block_bytes in [16, 256, 1024] {
        let shards = both(&files, block_bytes);
        let end = shards[0].content_bytes();
        let points: Vec<u64> = (0..=end).filter(|at| at % 5 == 0 || *at == end).collect();
        check_ranges(&shards, &points);
        assert_eq!(shards[0].id(), shards[1].id(), "the same documents");
        shards[1].verify().unwrap();
    }
}

#[test]
fn an_empty_shard_and_empty_texts_are_compressed() {
    for files in [&FIXTURE[..1], &FIXTURE[..2], &FIXTURE[..]] {
        let [_, zstd] = both(files, 16);
        dump(&zstd).unwrap();
        assert!(zstd.text(0..0, &TextCache::default()).unwrap().is_empty());
    }
}

#[test]
fn blocks_of_a_longer_text_share_a_dictionary() {
    let text = code(8_000);
    let shards = both(&[("p_1", "a.c", &text)], 4096);
    let zstd = &shards[1];
    let dictionary = zstd.file.entry::<U64>(Section::Frames, 0).unwrap().get();
    assert!(dictionary > 1000, "{dictionary} bytes");
    assert!(zstd.section_bytes(Section::Content) < text.len() as u64 / 2);
    let end = text.len() as u64;
    let points: Vec<u64> = (0..=end)
        .step_by(9_973)
        .chain([4095, 4096, 4097, end])
        .collect();
    check_ranges(&shards, &points);
}

/// A line too long to encode is borrowed, amid other text too.
#[test]
fn a_long_line_is_stored_as_it_is() {
    let mut text = code(40);
    let start = text.len() as u64;
    text.extend_from_slice(&b"abc ".repeat(ENCODED_BLOCK_BYTES_MAX / 3));
    text.push(b'\n');
    let end = text.len() as u64;
    text.extend_from_slice(&code(40));
    let shards = both(&[("p_1", "a.c", &text)], 256);
    let all = text.len() as u64;
    let middle = start + (1 << 19);
    check_ranges(
        &shards,
        &[
            0,
            300,
            start - 1,
            start,
            start + 7,
            middle,
            end - 1,
            end,
            end + 9,
            all,
        ],
    );
    let [_, zstd] = &shards;
    let cache = TextCache::default();
    let first = zstd.text_with(BlockId(0)).unwrap().blocks;
    let long = first.clone().find(|&block| {
        let range = zstd.text_range(block..block + 1).unwrap();
        range.end - range.start > ENCODED_BLOCK_BYTES_MAX as u64
    });
    let long = long.unwrap();
    let mut blocks = first.clone();
    let mut runs = Vec::new();
    while !blocks.is_empty() {
        let run = zstd.first_run(blocks.clone()).unwrap();
        blocks.start = run.end;
        runs.push(run);
    }
    assert_eq!(
        runs,
        [first.start..long, long..long + 1, long + 1..first.end]
    );
    let line = zstd
        .text(zstd.text_range(long..long + 1).unwrap(), &cache)
        .unwrap();
    assert!(cache.0.borrow().texts.is_empty(), "it is borrowed");
    assert!(line.starts_with(b"abc "));
}

#[test]
fn a_cache_distinguishes_shards() {
    let [one, other] = [code(40), code(41)].map(|mut text| {
        text.reverse();
        open(&shard_bytes_with(
            &[("p_1", "a.c", &text)],
            4096,
            ContentCodec::Zstd,
        ))
        .unwrap()
    });
    let cache = TextCache::default();
    let texts = [&one, &other].map(|shard| shard.text(0..20, &cache).unwrap().to_vec());
    assert_ne!(texts[0], texts[1]);
    let again = [&one, &other].map(|shard| shard.text(0..20, &cache).unwrap().to_vec());
    assert_eq!(texts, again);
}

#[test]
fn a_cache_stays_small() {
    let text = code(60_000);
    let [_, zstd] = both(&[("p_1", "a.c", &text)], 4096);
    let cache = TextCache::default();
    for start in (0..text.len() as u64 - 5000).step_by(3001) {
        let part = zstd.text(start..start + 2000, &cache).unwrap();
        assert_eq!(*part, text[start as usize..start as usize + 2000]);
    }
    let bytes = cache
        .0
        .borrow()
        .texts
        .iter()
        .map(|text| text.bytes.capacity())
        .sum::<usize>();
    assert!(bytes <= 600 << 10, "{bytes}");
    assert_eq!(*zstd.text(0..text.len() as u64, &cache).unwrap(), *text);
    drop(zstd.text(0..10, &cache).unwrap());
    let part = text.len() as u64 - 10;
    assert_eq!(zstd.text(part..part + 10, &cache).unwrap().len(), 10);
}
