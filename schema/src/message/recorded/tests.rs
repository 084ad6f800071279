use super::*;
use crate::message::Signature;
use proptest::prelude::*;

fn commit(digit: char) -> Commit {
    Commit {
        id: digit.to_string().repeat(40),
        tree: "2".repeat(40),
        parents: vec!["3".repeat(40)],
        committer: Signature {
            name: b"A \xff".to_vec(),
            seconds: -5,
            ..Signature::default()
        },
        subject: b"subject".to_vec(),
        tags: vec![b"v1".to_vec()],
        ..Commit::default()
    }
}

fn repository(package: &[u8], names: &[&str]) -> RecordedRepository {
    RecordedRepository {
        package: package.to_vec(),
        location: b"https://host/r.git".to_vec(),
        is_url: true,
        patterns: vec![b"v*".to_vec(), b"\xff".to_vec()],
        default: names[0].as_bytes().to_vec(),
        fetched: 5,
        indexed: 1 << 40,
        problem: "gone".to_owned(),
        revisions: (names.iter().zip('a'..))
            .map(|(name, digit)| RecordedRevision {
                name: name.as_bytes().to_vec(),
                commit: commit(digit),
            })
            .collect(),
        history: true,
        since: -1,
    }
}

fn recorded() -> Recorded {
    let source = |kind| RecordedSource {
        kind,
        location: b"/srv/\xff".to_vec(),
        patterns: vec![b"all".to_vec()],
        no_versions: kind == SourceKind::Directories,
    };
    Recorded {
        repositories: vec![
            repository(b"a", &["refs/heads/main", "refs/tags/v1"]),
            repository(b"b\xff", &["refs/heads/x"]),
        ],
        sources: vec![
            source(SourceKind::Directory),
            source(SourceKind::Directories),
            source(SourceKind::Repository),
            source(SourceKind::Repositories),
        ],
    }
}

#[test]
fn records_are_decoded_as_they_were_encoded() {
    for recorded in [recorded(), Recorded::default()] {
        let bytes = recorded.encode().unwrap();
        assert_eq!(Recorded::decode(&bytes).unwrap(), recorded);
    }
    let recorded = recorded();
    let found = recorded.repository(b"b\xff").unwrap();
    assert!(found.revision(b"refs/heads/x").is_some() && found.revision(b"x").is_none());
    assert!(recorded.repository(b"b").is_none());
}

#[test]
fn a_repository_may_have_more_revisions_than_fit_into_a_frame() {
    let mut recorded = recorded();
    recorded.repositories[0].revisions = (0..20_000)
        .map(|number| RecordedRevision {
            name: format!("refs/tags/{number:05}").into_bytes(),
            commit: commit('a'),
        })
        .collect();
    recorded.repositories[0].default = b"refs/tags/00007".to_vec();
    let bytes = recorded.encode().unwrap();
    assert!(bytes.len() > frame::FRAME_BYTES_MAX);
    assert_eq!(Recorded::decode(&bytes).unwrap(), recorded);
}

#[test]
fn every_truncation_of_records_is_noticed() {
    let bytes = recorded().encode().unwrap();
    for length in 0..bytes.len() {
        assert!(
            Recorded::decode(&bytes[..length]).is_err(),
            "cut at {length}"
        );
    }
    assert!(Recorded::decode(&[&bytes[..], &bytes].concat()).is_err());
}

#[test]
fn every_flipped_byte_of_records_is_an_error_that_names_its_frame() {
    let bytes = recorded().encode().unwrap();
    for at in 0..bytes.len() {
        let mut broken = bytes.clone();
        broken[at] ^= 0x41;
        let error = Recorded::decode(&broken).unwrap_err();
        assert!(error.offset <= at, "byte {at}: {error}");
    }
}

#[test]
fn records_out_of_order_are_an_error() {
    let mut doubled = recorded();
    doubled.repositories[1].package = b"a".to_vec();
    let mut no_default = recorded();
    no_default.repositories[0].default = b"refs/heads/gone".to_vec();
    for forged in [doubled, no_default] {
        let mut out = Vec::new();
        let totals = Totals {
            repositories: 2,
            revisions: 3,
            sources: 0,
        };
        part(&mut out, |part| totals.encode_to(part.init_totals())).unwrap();
        for repository in &forged.repositories {
            part(&mut out, |part| {
                repository.encode_to(part.init_repository())
            })
            .unwrap();
            for revision in &repository.revisions {
                part(&mut out, |part| revision.encode_to(part.init_revision())).unwrap();
            }
        }
        assert!(Recorded::decode(&out).is_err());
    }
}

proptest! {
    #[test]
    fn forged_records_never_panic(at in 0_usize..2000, byte in any::<u8>()) {
        let mut bytes = recorded().encode().unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        // Correct the checksum, so that the message is read.
        let mut start = 0;
        while let Some(header) = bytes.get(start..start + HEADER_BYTES) {
            let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
            let end = start.saturating_add(HEADER_BYTES).saturating_add(length);
            if end > bytes.len() {
                break;
            }
            let crc = crc32c::crc32c_append(
                crc32c::crc32c(&bytes[start..start + 8]),
                &bytes[start + HEADER_BYTES..end],
            );
            bytes[start + 8..start + 12].copy_from_slice(&crc.to_le_bytes());
            start = end;
        }
        let _ = Recorded::decode(&bytes);
    }
}
