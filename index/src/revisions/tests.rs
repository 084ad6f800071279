use super::table_file::{HEADER_BYTES, TableHeader, header_crc};
use super::*;
use proptest::prelude::*;
use schema::message::{Commit, Recorded, RecordedRepository, RecordedRevision, Signature};
use zerocopy::{FromBytes, IntoBytes};

fn object(byte: u8) -> ObjectId {
    ObjectId::new(&[byte; 20]).unwrap()
}

/// Two packages: documents 0 to 4, and 5 to 6.
fn table() -> RevisionTable {
    let mut builder = TableBuilder::new([7; 32], 7);
    let main = builder.set([&b"refs/heads/main"[..]]);
    let unused = builder.set([&b"refs/heads/unused"[..]]);
    let tags = builder.set([&b"refs/tags/v1.0"[..], b"refs/tags/v1.1"]);
    let all = builder.set([
        &b"refs/tags/v1.1"[..],
        b"refs/heads/main",
        b"refs/tags/v1.0",
        b"refs/heads/a/\xff",
    ]);
    assert_ne!(unused, main);
    builder.entry(all, object(1));
    builder.entry(main, object(2));
    builder.entry(SUPERSEDED, ObjectId::NONE);
    builder.entry(tags, ObjectId::new(&[3; 32]).unwrap());
    builder.entry(CURRENT, ObjectId::new(&[4; 8]).unwrap());
    builder.entry(main, object(5));
    builder.entry(CURRENT, ObjectId::NONE);
    builder.entry(tags, object(6));
    builder.entry(SUPERSEDED, object(7));
    builder.entry(main, object(8));
    builder.finish()
}

fn repository(package: &str, default: &str, revisions: &[(&str, &str)]) -> RecordedRepository {
    let revision = |&(name, id): &(&str, &str)| RecordedRevision {
        name: if name == "refs/heads/a/?" {
            b"refs/heads/a/\xff".to_vec()
        } else {
            name.into()
        },
        commit: Commit {
            id: id.repeat(40),
            committer: Signature {
                seconds: 5,
                ..Signature::default()
            },
            ..Commit::default()
        },
    };
    RecordedRepository {
        package: package.into(),
        default: default.into(),
        revisions: revisions.iter().map(revision).collect(),
        ..RecordedRepository::default()
    }
}

fn recorded() -> Recorded {
    let p = [
        ("refs/heads/a/?", "a"),
        ("refs/heads/main", "b"),
        ("refs/tags/v1.0", "c"),
        ("refs/tags/v1.1", "d"),
    ];
    Recorded {
        repositories: vec![
            repository("p", "refs/heads/main", &p),
            repository("q", "refs/heads/main", &p[1..2]),
        ],
        sources: Vec::new(),
    }
}

fn revisions(table: RevisionTable, recorded: &Recorded) -> Result<Revisions, TableError> {
    let documents = (0..table.documents).map(|document| u32::from(document >= 5));
    let skipped = [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
    let of_entries: Vec<_> = documents.chain(skipped).collect();
    Revisions::new(
        table,
        [9; 32],
        recorded,
        &[Some(b"p"), Some(b"q")],
        &of_entries,
    )
}

#[test]
fn a_table_is_decoded_as_it_was_encoded() {
    for table in [table(), RevisionTable::default()] {
        assert_eq!(RevisionTable::decode(&table.encode()).unwrap(), table);
    }
    let table = table();
    assert_eq!((table.documents, table.entries.len()), (7, 10));
    let all: Vec<_> = table.names(table.entries[0].set).collect();
    let expected: [&[u8]; 4] = [
        b"refs/heads/a/\xff",
        b"refs/heads/main",
        b"refs/tags/v1.0",
        b"refs/tags/v1.1",
    ];
    assert_eq!(all, expected);
    assert_eq!(
        table.names(SUPERSEDED).chain(table.names(CURRENT)).count(),
        0
    );
}

#[test]
fn the_width_of_numbers_follows_the_number_of_sets() {
    for sets in [254, 255, 65_534, 65_535] {
        let mut builder = TableBuilder::new([0; 32], sets);
        for number in 0..sets {
            let set = builder.set([format!("refs/tags/{number}").as_bytes()]);
            builder.entry(set, ObjectId::NONE);
        }
        let table = builder.finish();
        let bytes = table.encode();
        let width = match sets {
            254 => 1,
            255 | 65_534 => 2,
            _ => 4,
        };
        assert_eq!(bytes[28], width, "{sets} sets");
        assert_eq!(RevisionTable::decode(&bytes).unwrap(), table);
    }
}

#[test]
fn a_table_does_not_depend_on_the_order_in_which_sets_were_made() {
    let names: [&[u8]; 3] = [b"refs/tags/b", b"refs/heads/a", b"refs/tags/c"];
    let build = |order: [usize; 3]| {
        let mut builder = TableBuilder::new([0; 32], 3);
        let mut sets = [0; 3];
        for index in order {
            sets[index] = builder.set(names[..=index].iter().rev().copied());
        }
        for set in sets {
            builder.entry(set, ObjectId::NONE);
        }
        builder.finish().encode()
    };
    assert_eq!(build([0, 1, 2]), build([2, 0, 1]));
}

#[test]
fn every_truncation_of_a_table_is_noticed() {
    let bytes = table().encode();
    for length in 0..bytes.len() {
        assert!(
            RevisionTable::decode(&bytes[..length]).is_err(),
            "cut at {length}"
        );
    }
    assert!(RevisionTable::decode(&[&bytes[..], b"x"].concat()).is_err());
}

#[test]
fn every_flipped_byte_of_a_table_is_an_error_that_says_where() {
    let bytes = table().encode();
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut broken = bytes.clone();
            broken[at] ^= flip;
            let error = RevisionTable::decode(&broken).unwrap_err();
            assert!(error.offset <= bytes.len(), "byte {at}: {error}");
        }
    }
}

/// Forged, with correct checksums.
#[test]
fn forged_tables_are_errors() {
    let forge = |change: fn(&mut RevisionTable)| {
        let mut forged = table();
        change(&mut forged);
        RevisionTable::decode(&forged.encode()).unwrap_err()
    };
    forge(|table| table.names.swap(0, 1));
    forge(|table| table.names[1] = table.names[0].clone());
    forge(|table| table.names[0] = Box::default());
    forge(|table| table.names[0] = vec![b'a'; 5000].into());
    forge(|table| table.sets[0][0].end = 9);
    forge(|table| table.sets[0] = vec![]);
    forge(|table| table.sets[0] = vec![0..1, 1..2]);
    forge(|table| table.sets[0][0].end = 0);
    forge(|table| table.entries[0].set = 99);
    forge(|table| table.entries[0].object.length = 7);
}

#[test]
fn documents_have_the_revisions_of_their_packages() {
    let revisions = revisions(table(), &recorded()).unwrap();
    let of = |document| {
        let each = revisions.of(document).iter();
        let each =
            each.map(|it| format!("{}@{}{}", it.text, &it.commit[..2], u8::from(it.is_default)));
        each.collect::<Vec<_>>().join(" ")
    };
    let expected = [
        "main@bb1 a/\u{fffd}@aa0 v1.0@cc0 v1.1@dd0",
        "main@bb1",
        "",
        "v1.0@cc0 v1.1@dd0",
    ];
    assert_eq!([0, 1, 2, 3].map(of), expected);
    assert_eq!([4, 5, 6].map(of), ["", "main@bb1", ""]);
    let default = (0..7).filter(|&document| revisions.is_default(document));
    assert_eq!(default.collect::<Vec<_>>(), [0, 1, 4, 5, 6]);
    let indexed = (0..7).filter(|&document| revisions.is_indexed(document));
    assert_eq!(indexed.collect::<Vec<_>>(), [0, 1, 3, 4, 5, 6]);
    let skipped = [0, 1, 2].map(|number| {
        (
            revisions.is_indexed(7 + number),
            revisions.is_default(7 + number),
        )
    });
    assert_eq!(skipped, [(true, false), (false, false), (true, true)]);
}

#[test]
fn a_revision_that_is_not_recorded_is_an_error() {
    let mut gone = recorded();
    gone.repositories[0].revisions.remove(0);
    assert!(revisions(table(), &gone).is_err());
    gone.repositories.remove(0);
    assert!(revisions(table(), &gone).is_err());
}

#[test]
fn a_new_commit_or_default_changes_the_hash_of_the_records() {
    let of = |recorded: &Recorded| revisions(table(), recorded).unwrap().records;
    let before = of(&recorded());
    let mut fetched = recorded();
    fetched.repositories[0].fetched = 99;
    assert_eq!(of(&fetched), before);
    let mut pushed = recorded();
    pushed.repositories[0].revisions[1].commit.id = "e".repeat(40);
    assert_ne!(of(&pushed), before);
    let mut switched = recorded();
    switched.repositories[0].default = b"refs/tags/v1.0".to_vec();
    assert_ne!(of(&switched), before);
}

#[test]
fn short_names_have_no_prefix() {
    for (full, short, branch) in [
        ("refs/heads/a/b", "a/b", true),
        ("refs/tags/v1", "v1", false),
        ("refs/remotes/origin/x", "origin/x", true),
        ("refs/notes/x", "notes/x", false),
        ("0123456789", "0123456789", false),
    ] {
        assert_eq!(short_name(full.as_bytes()), short.as_bytes());
        assert_eq!(is_branch(full.as_bytes()), branch);
    }
}

fn correct_checksums(bytes: &mut [u8]) {
    let Ok((mut header, _)) = TableHeader::read_from_prefix(bytes) else {
        return;
    };
    let mut rest = &bytes[HEADER_BYTES..];
    for section in &mut header.sections {
        let length = usize::try_from(section.bytes.get()).unwrap_or(usize::MAX);
        if let Some(part) = rest.split_off(..length) {
            section.crc = crc32c::crc32c(part).into();
        }
    }
    header.crc = header_crc(&header).into();
    bytes[..HEADER_BYTES].copy_from_slice(header.as_bytes());
}

proptest! {
    #[test]
    fn random_tables_survive_a_round_trip_and_damage(
        sets in proptest::collection::vec(proptest::collection::vec(0_u8..40, 0..6), 1..60),
        at in any::<usize>(),
        byte in any::<u8>(),
    ) {
        let mut builder = TableBuilder::new([1; 32], (sets.len() - sets.len() / 5) as u32);
        let (mut expected, mut skipped) = (Vec::new(), Vec::new());
        for (number, set) in sets.iter().enumerate() {
            let names = set.iter().map(|name| format!("refs/tags/{name}").into_bytes());
            let mut names: Vec<_> = names.collect();
            let set = builder.set(names.iter().map(|name| &name[..]));
            if number % 5 == 4 {
                skipped.push((set, object(number as u8)));
            } else {
                builder.entry(set, object(number as u8));
                names.sort();
                names.dedup();
                expected.push(names);
            }
        }
        for (set, object) in skipped {
            builder.entry(set, object);
        }
        let table = builder.finish();
        let mut bytes = table.encode();
        let decoded = RevisionTable::decode(&bytes).unwrap();
        prop_assert_eq!(&decoded, &table);
        let documents = &decoded.entries[..decoded.documents as usize];
        let names = documents.iter().map(|entry| decoded.names(entry.set).map(<[u8]>::to_vec).collect());
        prop_assert_eq!(names.collect::<Vec<Vec<_>>>(), expected);
        // Damage with correct checksums may decode, but never panics.
        let at = at % bytes.len();
        bytes[at] = byte;
        correct_checksums(&mut bytes);
        if let Ok(decoded) = RevisionTable::decode(&bytes) {
            let _ = revisions(decoded, &recorded());
        }
    }
}
