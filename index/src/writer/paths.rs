//! Path index: candidate documents by trigram of their path. Documents are grouped by
//! `PATH_GROUP_DOCUMENTS`, since neighbours share most of their path: about 8 bytes a document.

use super::tables::count;
use crate::format::{DocumentRecord, PATH_GROUP_DOCUMENTS, SINGLE};
use crate::posting::{Codec, PADDING_BYTES};
use crate::trigram::{Trigram, TrigramSet};
use std::io;

pub(super) fn encode(documents: &[DocumentRecord], names: &[u8]) -> io::Result<Vec<u8>> {
    let groups = documents.chunks(PATH_GROUP_DOCUMENTS as usize);
    let group_count = count(groups.len())?;
    let mut trigrams = TrigramSet::new();
    // `trigram << 32 | group`
    let mut pairs: Vec<u64> = Vec::new();
    for (number, group) in (0_u64..).zip(groups) {
        let mut report = |trigrams: &[Trigram]| {
            let values = trigrams.iter().map(|trigram| trigram.value());
            pairs.extend(values.map(|value| u64::from(value) << 32 | number));
        };
        for document in group {
            let start = document.path_offset.get() as usize;
            let path = &names[start..start + document.path_bytes.get() as usize];
            // A line end separates paths.
            for text in [path, b"\n"] {
                trigrams.extend(text, &mut report);
            }
        }
        trigrams.finish(report);
    }
    pairs.sort_unstable();
    let (mut dictionary, mut lists) = (Vec::new(), Vec::new());
    for pairs in pairs.chunk_by(|a, b| a >> 32 == b >> 32) {
        let groups: Vec<u32> = pairs.iter().map(|&pair| pair as u32).collect();
        let payload = match groups[..] {
            [group] => SINGLE | u64::from(group),
            _ => {
                let offset = lists.len() as u64;
                // No gap lists: a shard may have version 2.
                let codec = Codec::of(count(groups.len())?, group_count);
                codec.encode(&groups, group_count, &mut lists);
                offset
            }
        };
        let entry = pairs[0] >> 32 << 40 | payload;
        dictionary.extend_from_slice(&entry.to_le_bytes());
    }
    let mut section = count(dictionary.len() / 8)?.to_le_bytes().to_vec();
    section.extend_from_slice(&[0; 4]);
    section.extend_from_slice(&dictionary);
    section.extend_from_slice(&lists);
    section.extend_from_slice(&[0; PADDING_BYTES]);
    Ok(section)
}
