//! Lists of packages and files, and texts of files.

use super::*;

#[test]
fn lists_are_decoded_as_they_were_encoded() {
    for kind in [ListKind::Packages, ListKind::Children, ListKind::Skipped] {
        check_round_trip!(
            ListRequest,
            ListRequest {
                kind,
                package: b"p_1".to_vec(),
                prefix: b"a/".to_vec(),
                after: b"\xff".to_vec(),
                count: 100,
                visible: visible(),
                revision: String::new(),
            }
        );
    }
    let entry = ListEntry {
        package: b"p_1".to_vec(),
        path: b"a/\xff".to_vec(),
        documents: 1,
        text_bytes: 1 << 40,
        lines: 1 << 33,
        language: "C".to_owned(),
        hash: vec![5; 32],
        indexed: 1_800_000_000,
        reason: "ignored".to_owned(),
        detail: ".gitignore:1:*.o".to_owned(),
        number: 9,
        is_repository: true,
        has_own_name: true,
        place: Some(ListedPlace {
            line: 3,
            column: 1,
            text: b"f()".to_vec(),
            commit: "12".repeat(20),
            documentation: b"Documentation.".to_vec(),
        }),
        repository: Some(IndexedRepository {
            default: "main".to_owned(),
            fetched: 3,
            problem: "gone".to_owned(),
            revisions: vec![
                IndexedRevision {
                    name: "refs/heads/main".to_owned(),
                    commit: "12".repeat(20),
                    committed: -1,
                    behind: Some(0),
                },
                IndexedRevision::default(),
            ],
            revision_count: 70,
        }),
    };
    check_round_trip!(
        ListReply,
        ListReply {
            entries: vec![entry, ListEntry::default()],
            more: true,
        }
    );
}

#[test]
fn files_are_decoded_as_they_were_encoded() {
    for range in [
        FileRange::Lines {
            first: 3,
            count: 10,
        },
        FileRange::Bytes {
            offset: 1 << 40,
            count: 9,
        },
    ] {
        let (package, path) = (b"p".to_vec(), b"a/b".to_vec());
        check_round_trip!(
            FileRequest,
            FileRequest {
                package,
                path,
                range,
                revision: "origin/naïve".to_owned(),
                source: FileSource::Original,
                visible: visible(),
                definitions: false,
                inside: Vec::new(),
                symbol_line: 3,
                symbol_column: 1,
            }
        );
    }
    check_round_trip!(
        FileReply,
        FileReply {
            found: true,
            offset: 10,
            first_line: 2,
            text: b"a\r\nb".to_vec(),
            total_lines: 4,
            total_bytes: 20,
            language: "C".to_owned(),
            hash: vec![5; 32],
            commit: "12".repeat(20),
            revisions: vec!["main".to_owned(), "v1.0".to_owned()],
            newest: "v0.9".to_owned(),
            from_objects: true,
            original: true,
            decoded_from: "utf-16le".to_owned(),
            lfs_pointer: "sha256:ab 12".to_owned(),
            reason: "too large".to_owned(),
            definitions: vec![FileDefinition {
                name: b"name".to_vec(),
                kind: 3,
                is_declaration: true,
                line: 2,
                column: 4,
                end_line: 9,
                parent: b"parent".to_vec(),
                parent_index: Some(0),
            }],
            definitions_missing: "too long".to_owned(),
            symbol: b"npm p 1 f().".to_vec(),
        }
    );
}
