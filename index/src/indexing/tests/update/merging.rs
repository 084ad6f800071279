//! Merged shards equal those of a fresh build.

use super::*;
use crate::format::{Header, header_checksum};
use language::symbols::VERSION;
use zerocopy::{FromBytes, IntoBytes};

/// Package with all that a shard records: encodings, long lines, empty and skipped files.
fn peculiar(there: &mut There, package: &str) {
    let number = package.bytes().map(u32::from).sum::<u32>();
    let long = format!("needle {}\nx\n", "long ".repeat(4_000));
    let lines: String = (0..900)
        .map(|line| format!("{line} {}\n", line * number))
        .collect();
    there.write(package, "src/long.c", long);
    there.write(package, "src/lines.c", lines);
    there.write(package, "src/empty.c", "");
    there.write(package, "src/crlf.c", "a\r\n\r\nneedle");
    there.write(package, "tests/latin", b"na\xefve\n");
    there.write(package, "utf16.c", b"\xff\xfea\0r\0s\0e\0\n\0");
    there.write(package, "bin", b"a\0b");
    there.write(package, "odd/bin", b"\0");
    std::os::unix::fs::symlink("bin", there.path(package).join("link")).unwrap();
}

#[test]
fn merged_shards_equal_those_of_a_fresh_build() {
    let (raw, zstd) = (ContentCodec::Raw, ContentCodec::Zstd);
    for codecs in [[raw, raw], [zstd, zstd], [raw, zstd], [zstd, raw]] {
        check_merged(codecs);
    }
}

/// Adds packages in shards of alternating codecs until they are merged.
fn check_merged(codecs: [ContentCodec; 2]) {
    let mut there = There::new();
    let packages: Vec<String> = (0..9).map(|number| format!("p{number}_1")).collect();
    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
    for (name, inst) in [("p3", 0.5), ("p7", 0.75), ("p8", 0.5)] {
        let popularity = Popularity { inst, rdep: 0.125 };
        there.options.popularity.insert(name.into(), popularity);
    }
    for (number, package) in (1..).zip(&packages) {
        there.options.content = Some(codecs[(number + 1) as usize % 2]);
        peculiar(&mut there, package);
        let report = there.update(&[package]).unwrap();
        let expected = if number < 9 { (number, 0) } else { (1, 9) };
        assert_eq!((report.shards, report.merged), expected);
    }
    there.check(&packages);
    let (index, fresh) = (there.index(), there.fresh(&packages));
    assert_eq!(index.manifest, fresh.manifest);
    let read = |index: &Index| fs::read(index.shards[0].path()).unwrap();
    assert!(read(&index) == read(&fresh), "other bytes");
    let unchanged = there.update(&packages).unwrap();
    assert_eq!(unchanged.outcome, Outcome::Unchanged);
}

#[test]
fn mostly_dead_shards_are_merged_without_their_sources() {
    let mut there = There::new();
    for package in ["a_1", "b_1", "c_1"] {
        peculiar(&mut there, package);
        // Shared texts stay live.
        there.write(
            package,
            "own.c",
            format!("needle {package}\n").repeat(9_000),
        );
    }
    there.update(&["a_1", "b_1", "c_1"]).unwrap();
    fs::rename(there.path("b_1"), there.path("away")).unwrap();
    let report = there.change(&[], &removing(&["a"])).unwrap();
    assert_eq!(counts(&report), [0, 2, 1, 0], "a third is dead");
    let report = there.change(&[], &removing(&["c"])).unwrap();
    assert_eq!(counts(&report), [0, 1, 1, 1], "two thirds are dead");
    assert!(there.index().shards[0].dead().is_empty());
    fs::rename(there.path("away"), there.path("b_1")).unwrap();
    there.check(&["b_1"]);
    assert_eq!(there.index().manifest, there.fresh(&["b_1"]).manifest);
}

fn age(out: &Path) {
    let mut manifest = directory::read_manifest(out).unwrap();
    let entry = &mut manifest.shards[0];
    let (before, file) = (out.join(&entry.file), format!("{:016x}.shard", VERSION - 1));
    let mut bytes = fs::read(&before).unwrap();
    let (header, _) = Header::mut_from_prefix(&mut bytes).unwrap();
    header.symbols_version = (VERSION - 1).into();
    header.id[0] ^= 1;
    header.crc = header_checksum(header.as_bytes()).into();
    (entry.id, entry.file) = (header.id, file);
    fs::write(out.join(&entry.file), bytes).unwrap();
    fs::remove_file(before).unwrap();
    directory::write_manifest(out, &manifest.render()).unwrap();
}

#[test]
fn shards_of_older_parsers_are_upgraded() {
    let mut there = There::new();
    peculiar(&mut there, "a_1");
    there.update(&["a_1"]).unwrap();
    age(&there.path("out"));
    assert!(!there.index().shards[0].has_symbols());
    let report = there.update(&["a_1"]).unwrap();
    assert_eq!(report.outcome, Outcome::Updated);
    assert_eq!((report.upgraded, report.outdated), (1, 0));
    there.check(&["a_1"]);
    assert_eq!(there.index().manifest, there.fresh(&["a_1"]).manifest);
    let report = there.update(&["a_1"]).unwrap();
    assert_eq!((report.outcome, report.upgraded), (Outcome::Unchanged, 0));
}
