//! Damaged, forged and truncated shards; exhaustive, since a shard is small.

use super::*;
use crate::format::version_1::HeaderOne;
use crate::format::{self, Header, PAGE_BYTES};
use crate::plan::DocumentQuery;
use zerocopy::{FromBytes, IntoBytes};

fn assert_names_the_page(error: &ShardError, at: usize) {
    let page = (at / PAGE_BYTES * PAGE_BYTES) as u64;
    match error {
        ShardError::Corrupt { path, offset, .. } => {
            assert_eq!(
                (path.as_path(), *offset),
                (Path::new(NAME), page),
                "byte {at}: {error}"
            );
        }
        // Magic, or a later version.
        ShardError::NotAShard(path) => assert!(at < 8 && path == Path::new(NAME), "byte {at}"),
        ShardError::Newer { path, .. } => {
            assert!(
                (8..12).contains(&at) && path == Path::new(NAME),
                "byte {at}"
            );
        }
        ShardError::Io { .. } | ShardError::Changed { .. } | ShardError::Revisions { .. } => {
            panic!("byte {at}: nothing was read")
        }
    }
}

#[test]
fn detects_every_truncation_at_open() {
    let bytes = shard_bytes(&FIXTURE, 16);
    for length in 0..bytes.len() {
        let error = open(&bytes[..length]).err();
        let told = match error {
            Some(ShardError::NotAShard { .. }) => length < 8,
            Some(ShardError::Corrupt { offset, .. }) => offset == length as u64,
            _ => false,
        };
        assert!(told, "cut at {length}: {error:?}");
    }
    let longer = [&bytes[..], b"\0"].concat();
    assert!(matches!(open(&longer), Err(ShardError::Corrupt { .. })));
}

/// Checksums cover padding too.
#[test]
fn detects_every_changed_byte_at_open_or_by_verify() {
    let bytes = shard_bytes(&FIXTURE, 16);
    let checksums = open(&bytes).unwrap().file.header.extent(Section::Checksums);
    let mut broken = bytes.clone();
    for at in 0..bytes.len() {
        for pattern in [0x01, 0x80, 0xff] {
            broken[at] ^= pattern;
            match open(&broken) {
                Ok(shard) => {
                    assert!(at >= PAGE_BYTES, "byte {at} is checked at open");
                    for error in [shard.verify().unwrap_err(), dump(&shard).unwrap_err()] {
                        if at < checksums.start as usize {
                            assert_names_the_page(&error, at);
                        } else {
                            let said = error.to_string();
                            assert!(said.contains("checksum of the checksums"), "{at}: {said}");
                        }
                    }
                }
                Err(error) => assert_names_the_page(&error, at),
            }
            broken[at] = bytes[at];
        }
    }
}

fn several_pages() -> Vec<u8> {
    several_pages_of(ContentCodec::Raw)
}

fn several_pages_of(content: ContentCodec) -> Vec<u8> {
    let text: Vec<u8> = (0..900_u32)
        .flat_map(|line| format!("line {line} of {}\n", line * line % 97).into_bytes())
        .collect();
    let files = [("p_1", "a.c", &*text), ("p_1", "b.c", b"line\n")];
    shard_bytes_with(&files, 256, content)
}

fn answers(shard: &Shard) -> Result<Vec<(Candidates, Vec<u8>)>, ShardError> {
    let mut answers = Vec::new();
    for pattern in ["line 8", "of 9[0-6]", "(13|17) of", "nowhere", "line"] {
        let candidates = candidates(shard, pattern)?;
        let Candidates::Blocks(blocks) = &candidates else {
            panic!("{pattern} says something")
        };
        let mut text = Vec::new();
        for &block in blocks {
            let first = shard.text_with(BlockId(block))?.documents.start;
            let document = shard.document(DocId(first))?;
            text.extend_from_slice(document.path);
            let range = shard.text_range(block..block + 1)?;
            text.extend_from_slice(&shard.text(range, &TextCache::default())?);
        }
        answers.push((candidates, text));
    }
    Ok(answers)
}

#[test]
fn a_damaged_page_gives_an_error_or_is_not_read() {
    check_damaged_pages(&several_pages());
    check_damaged_pages(&several_pages_of(ContentCodec::Zstd));
}

fn check_damaged_pages(bytes: &[u8]) {
    let intact = answers(&open(bytes).unwrap()).unwrap();
    let checksums = open(bytes)
        .unwrap()
        .file
        .header
        .extent(Section::Checksums)
        .start as usize;
    assert!(checksums > 5 * PAGE_BYTES, "some pages");
    for at in (PAGE_BYTES..checksums).step_by(61) {
        let mut broken = bytes.to_vec();
        broken[at] ^= 0x10;
        let shard = open(&broken).unwrap();
        match answers(&shard) {
            Ok(same) => assert_eq!(same, intact, "byte {at}"),
            Err(error) => assert_names_the_page(&error, at),
        }
        assert_names_the_page(&shard.verify().unwrap_err(), at);
    }
}

#[test]
fn only_the_page_that_is_read_is_checked() {
    let mut bytes = several_pages();
    bytes[2 * PAGE_BYTES] ^= 1;
    let shard = open(&bytes).unwrap();
    assert_eq!(shard.document(DocId(1)).unwrap().path, b"b.c");
    let texts = &TextCache::default();
    assert_eq!(*shard.text(0..10, texts).unwrap(), *b"line 0 of ");
    assert!(shard.text(0..4096, texts).is_ok(), "all of page 1");
    for _ in 0..2 {
        let error = shard.text(4000..4097, texts).unwrap_err();
        assert_names_the_page(&error, 2 * PAGE_BYTES);
    }
    let said = shard.verify().unwrap_err().to_string();
    assert_eq!(
        said,
        "some.shard: damaged at byte 8192 (checksum): remove it and build the index again with `trawl index`"
    );
}

/// Corrects the checksums, as an attacker would.
pub(super) fn forge(bytes: &mut [u8], checksums: &Range<u64>, is_version_1: bool) {
    let (pages, table) = bytes.split_at_mut(checksums.start as usize);
    for (page, checksum) in pages[PAGE_BYTES..]
        .chunks(PAGE_BYTES)
        .zip(table.chunks_exact_mut(4))
    {
        checksum.copy_from_slice(&crc32c::crc32c(page).to_le_bytes());
    }
    let checksums_crc = crc32c::crc32c(table).into();
    if is_version_1 {
        let mut header = HeaderOne::read_from_prefix(bytes).unwrap().0;
        header.checksums_crc = checksums_crc;
        header.crc = format::header_checksum(header.as_bytes()).into();
        bytes[..PAGE_BYTES].copy_from_slice(header.as_bytes());
    } else {
        let mut header = Header::read_from_prefix(bytes).unwrap().0;
        header.checksums_crc = checksums_crc;
        header.crc = format::header_checksum(header.as_bytes()).into();
        bytes[..PAGE_BYTES].copy_from_slice(header.as_bytes());
    }
}

/// Checksums stop accidents, not attackers: wrong answers, but no panic.
#[test]
fn a_forged_shard_does_not_panic() {
    let shards = [
        shard_bytes(&FIXTURE, 16),
        golden::example_of_version_1(),
        content::compressed(),
    ];
    for bytes in shards {
        let is_version_1 = bytes[8] == 1;
        let checksums = checksums(&bytes);
        let meaningful = (12..360).chain(PAGE_BYTES..bytes.len());
        for at in meaningful {
            for value in [0x00, 0x01, 0x02, 0x7f, 0x80, 0xff] {
                let mut forged = bytes.clone();
                forged[at] = value;
                forge(&mut forged, &checksums, is_version_1);
                if let Ok(shard) = open(&forged) {
                    let _ = (read_all(&shard), shard.verify());
                }
            }
        }
    }
}

/// Undetected by checksums: the error has the file and the frame's offset; other blocks are intact.
#[test]
fn a_frame_that_cannot_be_decoded_is_named() {
    let bytes = content::compressed();
    let (shard, checksums) = (open(&bytes).unwrap(), checksums(&bytes));
    let content = shard.file.header.extent(Section::Content).start;
    let cache = TextCache::default();
    let mut frames = 0;
    for block in 0..shard.block_count() {
        let stored = shard.stored_text(block..block + 1).unwrap();
        let text = shard.text_range(block..block + 1).unwrap();
        if stored.end - stored.start == text.end - text.start {
            continue;
        }
        frames += 1;
        let start = (content + stored.start) as usize;
        for at in [start, start + 1, start + 5] {
            let mut forged = bytes.clone();
            // Frame magic, or type of its first block.
            forged[at] ^= 0x06;
            forge(&mut forged, &checksums, false);
            let forged = open(&forged).unwrap();
            let Err(error) = forged.text(text.clone(), &TextCache::default()) else {
                assert!(at > start + 1, "the magic number is wrong");
                continue;
            };
            let expected = format!(
                "some.shard: damaged at byte {start} (a compressed block): remove it and build the index again with \
                 `trawl index`"
            );
            assert_eq!(error.to_string(), expected);
            for other in (0..shard.block_count()).filter(|&other| other != block) {
                let range = shard.text_range(other..other + 1).unwrap();
                let intact = shard.text(range.clone(), &cache).unwrap();
                let read = forged.text(range, &TextCache::default()).unwrap();
                assert_eq!(*read, *intact);
            }
        }
    }
    assert!(frames > 1, "{frames}");
}

fn checksums(bytes: &[u8]) -> Range<u64> {
    let shard = open(bytes).unwrap();
    shard.file.header.extent(Section::Checksums)
}

/// Like [`dump`] and [`answers`], without assertions on validity.
fn read_all(shard: &Shard) -> Result<(), ShardError> {
    let everything = "(main|int)[^x]*(a|b;|inly)";
    let mut filters = Filters::default();
    add(
        &mut filters,
        Predicate::package(NamePattern::Regexp("a")).unwrap(),
        false,
    );
    add(
        &mut filters,
        Predicate::path(NamePattern::Regexp("x")).unwrap(),
        true,
    );
    let _ = candidates(shard, everything);
    let _ = filtered(shard, everything, &filters);
    let _ = filtered(shard, ".", &filters);
    for entry in 0..shard.trigram_count() as u32 {
        let _ = shard.blocks_with(shard.trigram(entry)?);
    }
    for id in (0..shard.document_count()).map(DocId) {
        let _ = (shard.document(id).map(drop), shard.static_rank_bound(id));
        let _ = shard.is_accepted(&filters, id);
    }
    let query = DocumentQuery::Block(plan("main|int", true).unwrap());
    for filters in [&filters, &Filters::default()] {
        let _ = shard.document_candidates(&query, &[], filters, &|| false);
    }
    let texts = TextCache::default();
    for block in 0..shard.block_count() {
        let _ = shard.text_with(BlockId(block)).map(drop);
        let range = shard.text_range(block..block + 1);
        let _ = range.map(|range| shard.text(range, &texts).map(|text| text.len()));
    }
    let _ = shard.find(b"beta-2", b"README");
    for dead in [vec![0], vec![1], vec![0, 1], vec![2]] {
        let _ = shard
            .with_dead(dead)
            .map(|shard| filtered(&shard, everything, &filters).map(drop));
    }
    for id in (0..shard.package_count()).map(PackageId) {
        let package = shard.package(id);
        let _ = package.map(|package| shard.documents_of(&package).map(drop));
    }
    shard.skipped().map(drop)
}

fn opened(there: &Path) -> (Shard, PathBuf) {
    let path = there.join("some.shard");
    fs::write(&path, several_pages()).unwrap();
    (Shard::open(&path).unwrap(), path)
}

fn truncate(path: &Path, bytes: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_len(bytes).unwrap();
}

/// After truncation an answer is correct or an error with its offset.
#[test]
fn truncation_while_open_is_reported_with_its_offset() {
    let bytes = several_pages();
    let intact = answers(&open(&bytes).unwrap()).unwrap();
    let step = PAGE_BYTES / 2 + 17;
    for (number, bytes) in (0..bytes.len()).step_by(step).enumerate() {
        let there = tempfile::tempdir().unwrap();
        let (shard, path) = opened(there.path());
        if number % 2 == 0 {
            assert_eq!(answers(&shard).unwrap(), intact);
        }
        let text = shard.text(0..20, &TextCache::default()).unwrap();
        truncate(&path, bytes as u64);
        let _ = text.to_vec();
        let said = shard.intact().unwrap_err().to_string();
        let expected = format!(
            "{}: damaged at byte {bytes} (the file was cut or its disk failed while it was in use)",
            path.display()
        );
        assert!(said.starts_with(&expected), "{said}");
        for error in [
            shard.verify().unwrap_err(),
            shard.with_dead(vec![0]).err().unwrap(),
            shard.skipped().unwrap_err(),
            answers(&shard).unwrap_err(),
        ] {
            assert!(matches!(error, ShardError::Corrupt { .. }), "{error}");
        }
        assert!(shard.is_damaged());
    }
}

#[test]
fn writing_to_an_open_shard_is_reported() {
    let there = tempfile::tempdir().unwrap();
    let (shard, path) = opened(there.path());
    let before = std::time::SystemTime::UNIX_EPOCH;
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(before).unwrap();
    assert!(matches!(shard.verify(), Err(ShardError::Changed { .. })));
    drop(shard);
    let shard = Shard::open(&path).unwrap();
    shard.verify().unwrap();
    fs::write(&path, several_pages()).unwrap();
    assert!(matches!(answers(&shard), Err(ShardError::Changed { .. })));
    Shard::open(&path).unwrap().verify().unwrap();
}

/// Other shards keep working, and the next generation reuses them.
#[test]
fn reopen_replaces_a_truncated_shard() {
    let there = tempfile::tempdir().unwrap();
    let out = index(there.path(), &FIXTURE, 16, 1);
    let before = Index::open(&out).unwrap().shards;
    let path = before[0].path().to_owned();
    let bytes = fs::read(&path).unwrap();
    truncate(&path, 4096);
    let everything = plan("main|ve", true).unwrap();
    assert!(before[0].candidates(&everything).is_err());
    assert!(before[1].candidates(&everything).is_ok());
    assert!(Index::reopen(&out, &before, None).is_err());
    fs::write(&path, bytes).unwrap();
    let after = Index::reopen(&out, &before, None).unwrap().shards;
    assert!(before[0].candidates(&everything).is_err());
    assert!(after[0].candidates(&everything).is_ok());
    assert!(Arc::ptr_eq(&before[1], &after[1]), "it was whole");
}

#[test]
fn a_later_version_is_rejected_with_advice() {
    let mut bytes = shard_bytes(&FIXTURE, 16);
    bytes[8] = 4;
    let error = open(&bytes).err().unwrap();
    assert!(matches!(error, ShardError::Newer { version: 4, .. }));
    assert_eq!(
        error.to_string(),
        "some.shard: a shard of format 4; this version of Trawl reads formats 1 to 3: update Trawl, or \
         build the index again"
    );
}

#[test]
fn rejects_files_that_are_no_shard() {
    let there = tempfile::tempdir().unwrap();
    let path = there.path().join("x.shard");
    for bytes in [&b""[..], b"TRAWL", b"#!/bin/sh\n", &[0; 8192]] {
        fs::write(&path, bytes).unwrap();
        let error = Shard::open(&path).err().unwrap();
        assert!(matches!(error, ShardError::NotAShard { .. }));
        let expected = format!(
            "{}: not a shard of a Trawl index: remove it and build the index again with `trawl \
             index`",
            path.display()
        );
        assert_eq!(error.to_string(), expected);
    }
    let error = Shard::open(&there.path().join("none.shard")).err().unwrap();
    assert!(
        matches!(error, ShardError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    );
}

#[test]
fn detects_swapped_shards() {
    let there = tempfile::tempdir().unwrap();
    let out = index(there.path(), &FIXTURE, 16, 1);
    let manifest = Index::open(&out).unwrap().manifest;
    let [first, second] = [0, 1].map(|shard| out.join(&manifest.shards[shard].file));
    let other = out.join("other");
    fs::rename(&first, &other).unwrap();
    fs::rename(&second, &first).unwrap();
    fs::rename(&other, &second).unwrap();
    match Index::open(&out).err() {
        Some(directory::IndexError::Swapped(path)) => assert_eq!(path, first),
        other => panic!("{other:?}"),
    }
    fs::remove_file(out.join(MANIFEST)).unwrap();
    assert!(matches!(
        Index::open(&out).err(),
        Some(directory::IndexError::NotAnIndex { .. })
    ));
}
