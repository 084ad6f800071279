//! Writes a shard: joins segments in order, merges their sorted runs, lays out the sections.
//!
//! Text goes to the shard at once, sorted runs to a temporary file. Known texts are left out with
//! their blocks, also from the runs when merged. Tables (about 250 bytes a document, 12 to 16 a
//! block) stay in memory until the end; the caller bounds them by ending the shard.
//! **Invariant:** the bytes follow from the documents in order, however cut into segments; the file
//! gets its name only when it is on disk.

mod content;
mod merge;
mod page;
mod paths;
mod segment_text;
mod tables;
mod write_back;

pub(crate) use content::ContentOptions;
pub(crate) use tables::{DocumentName, NO_TAG};

use crate::builder::{Segment, SegmentBlock};
use crate::codec::ContentCodec;
use crate::file::{self, AtomicFile};
use crate::format::{
    self, BlockRecord, CODEC_RAW, CODEC_ZSTD, Extent, Header, MAGIC, PAGE_BYTES, SECTIONS_MAX,
    SINGLE, Section, VERSION, VERSION_2,
};
use crate::posting::{self, Codec, PADDING_BYTES, encode_varint};
use content::ContentWriter;
use language::definition;
use merge::{BlockNumbers, RunExtent, merge_runs};
use page::PageWriter;
use segment_text::SegmentText;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use tables::{Tables, count};
use write_back::WriteBack;
use zerocopy::{FromZeros, IntoBytes};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShardSummary {
    pub(crate) id: [u8; 32],
    pub(crate) name: String,
    pub(crate) packages: u32,
    pub(crate) documents: u32,
    /// Bytes of the documents.
    pub(crate) text_bytes: u64,
    /// Bytes of the distinct texts.
    pub(crate) unique_bytes: u64,
    pub(crate) file_bytes: u64,
    pub(crate) tags: ShardTags,
}

/// Tags of documents and skipped files, in shard order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShardTags {
    pub(crate) documents: Vec<u32>,
    pub(crate) skipped: Vec<u32>,
}

pub(crate) struct ShardWriter {
    shard: AtomicFile,
    write_back: WriteBack,
    out: PageWriter<BufWriter<File>>,
    sections: [Extent; SECTIONS_MAX],
    content: ContentWriter,
    runs_out: BufWriter<File>,
    runs: Vec<RunExtent>,
    runs_bytes: u64,
    tables: Tables,
    /// Encoded, like `skipped`.
    blocks: Vec<u8>,
    skipped: Vec<u8>,
    skipped_tags: Vec<u32>,
    content_bytes: u64,
    block_bytes: u32,
    /// Has a list of gaps.
    has_gaps: bool,
}

const WRITE_BYTES: usize = 1 << 20;

/// Name in progress.
const UNFINISHED: &str = "unfinished";

impl ShardWriter {
    pub(crate) fn create(
        directory: &Path,
        block_bytes: usize,
        content: ContentOptions,
    ) -> io::Result<Self> {
        let shard = AtomicFile::create(directory, UNFINISHED)?;
        let mut file = shard.file().try_clone()?;
        file.seek(SeekFrom::Start(PAGE_BYTES as u64))?;
        let out = PageWriter::new(BufWriter::with_capacity(WRITE_BYTES, file));
        Ok(ShardWriter {
            write_back: WriteBack::start(shard.file().try_clone()?)?,
            shard,
            out,
            sections: [Extent::default(); SECTIONS_MAX],
            content: ContentWriter::new(content, directory)?,
            runs_out: BufWriter::with_capacity(WRITE_BYTES, file::anonymous(directory)?),
            runs: Vec::new(),
            runs_bytes: 0,
            tables: Tables::default(),
            blocks: Vec::new(),
            skipped: Vec::new(),
            skipped_tags: Vec::new(),
            content_bytes: 0,
            block_bytes: block_bytes as u32,
            has_gaps: false,
        })
    }

    /// Begins a package for the documents and files that follow.
    pub(crate) fn package(&mut self, directory: &[u8], inst: f32, rdep: f32) -> io::Result<()> {
        self.tables.package(directory, inst, rdep)
    }

    pub(crate) fn skipped(&mut self, path: &[u8], reason: &str, tag: u32) {
        self.skipped_tags.push(tag);
        encode_varint(self.tables.package_number() as u64, &mut self.skipped);
        encode_varint(path.len() as u64, &mut self.skipped);
        self.skipped.extend_from_slice(path);
        encode_varint(reason.len() as u64, &mut self.skipped);
        self.skipped.extend_from_slice(reason.as_bytes());
    }

    /// Adds a document with a text number from [`segment`](Self::segment).
    pub(crate) fn document(&mut self, name: &DocumentName, text: u32) -> io::Result<()> {
        self.tables.document(name, text)
    }

    /// Appends new texts, blocks and sorted runs. Returns the text number of each document.
    pub(crate) fn segment(&mut self, segment: &Segment) -> io::Result<Vec<u32>> {
        let base = self.block_count()?;
        let text = SegmentText::new(segment)?;
        let mut texts = Vec::with_capacity(segment.documents.len());
        let (mut dropped, mut kept, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for (number, document) in segment.documents.iter().enumerate() {
            let blocks = text.blocks(number);
            let range = text.bytes(&blocks);
            let bytes = range.end - range.start;
            if let Some(known) = self.tables.find(document, bytes) {
                texts.push(known);
                push_joined(&mut dropped, blocks);
                continue;
            }
            let first_block = self.block_count()?;
            texts.push(self.tables.text(document, first_block, bytes)?);
            self.add_blocks(text.entries(blocks.clone()), range.start);
            lengths.extend(blocks.map(|block| {
                let Range { start, end } = text.bytes(&(block..block + 1));
                end - start
            }));
            self.content_bytes += bytes;
            push_joined(&mut kept, range);
        }
        (self.content).append(&text, &kept, &lengths, &mut self.out)?;
        self.write_back.written(self.out.offset());
        let blocks = BlockNumbers::new(base, count(segment.blocks.len())?, &dropped);
        for run in &segment.runs {
            self.runs_out.write_all(run)?;
            let (offset, bytes) = (self.runs_bytes, run.len() as u64);
            self.runs.push(RunExtent {
                offset,
                bytes,
                blocks: blocks.clone(),
            });
            self.runs_bytes += bytes;
        }
        Ok(texts)
    }

    /// Adds the blocks of a text that starts at `start`.
    fn add_blocks(&mut self, blocks: &[SegmentBlock], start: u64) {
        for block in blocks {
            let entry = BlockRecord {
                offset: (self.content_bytes + (block.offset - start)).into(),
                first_line: block.first_line.into(),
            };
            self.blocks.extend_from_slice(entry.as_bytes());
        }
    }

    /// Merges the sorted runs with `merge_bytes` of buffers, writes the rest and names the file.
    pub(crate) fn finish(mut self, merge_bytes: usize) -> io::Result<ShardSummary> {
        let end = BlockRecord {
            offset: self.content_bytes.into(),
            first_line: 0.into(),
        };
        let blocks = self.block_count()?;
        self.blocks.extend_from_slice(end.as_bytes());
        let frames = self.content.finish(&mut self.out)?;
        self.sections[Section::Content as usize] = Extent {
            offset: (PAGE_BYTES as u64).into(),
            bytes: (self.out.offset() - PAGE_BYTES as u64).into(),
        };
        self.write_back.all_written();
        let dictionary = self.write_postings(blocks, merge_bytes)?;
        self.section(Section::Dictionary, &dictionary)?;
        let mut tables = std::mem::take(&mut self.tables).finish()?;
        let tags = ShardTags {
            documents: std::mem::take(&mut tables.tags),
            skipped: std::mem::take(&mut self.skipped_tags),
        };
        let blocks_table = std::mem::take(&mut self.blocks);
        let skipped = std::mem::take(&mut self.skipped);
        let mut id = blake3::Hasher::new();
        id.update(&VERSION_2.to_le_bytes())
            .update(&self.block_bytes.to_le_bytes());
        for (section, bytes) in [
            (Section::Names, &tables.names[..]),
            (Section::Packages, tables.packages.as_bytes()),
            (Section::Texts, tables.texts.as_bytes()),
            (Section::Documents, tables.documents.as_bytes()),
            (Section::Shared, &tables.shared),
            (Section::Blocks, &blocks_table),
            (Section::Skipped, &skipped),
        ] {
            self.section(section, bytes)?;
            id.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        }
        // Omitted if empty, as in old shards.
        let decoded = &tables.decoded;
        if !decoded.is_empty() {
            self.section(Section::Decoded, decoded)?;
            id.update(&(decoded.len() as u64).to_le_bytes())
                .update(decoded);
        }
        if tables.counts.documents > 0 {
            let paths = paths::encode(&tables.documents, &tables.names)?;
            self.section(Section::Paths, &paths)?;
        }
        id.update(&definition::RULES.to_le_bytes());
        if !frames.is_empty() {
            self.section(Section::Frames, &frames)?;
        }
        let checksums = self.write_checksums()?;
        let mut header = Header::new_zeroed();
        header.magic = MAGIC;
        header.version = if self.has_gaps { VERSION } else { VERSION_2 }.into();
        header.block_bytes = self.block_bytes.into();
        header.id = *id.finalize().as_bytes();
        header.packages = tables.counts.packages.into();
        header.texts = tables.counts.texts.into();
        header.documents = tables.counts.documents.into();
        header.shared = tables.counts.shared.into();
        header.blocks = blocks.into();
        header.codec = match self.content.codec() {
            ContentCodec::Raw => CODEC_RAW.into(),
            ContentCodec::Zstd => CODEC_ZSTD.into(),
        };
        header.definition_rules = definition::RULES.into();
        header.content_bytes = self.content_bytes.into();
        header.text_bytes = tables.counts.text_bytes.into();
        header.file_bytes = self.out.offset().into();
        header.sections = self.sections;
        header.checksums_crc = checksums.into();
        header.crc = format::header_checksum(header.as_bytes()).into();
        self.publish(&header, tags)
    }

    fn publish(mut self, header: &Header, tags: ShardTags) -> io::Result<ShardSummary> {
        self.out.flush()?;
        self.shard.file().write_all_at(header.as_bytes(), 0)?;
        let name = shard_name(&header.id);
        self.write_back.finish()?;
        self.shard.rename(&name)?;
        Ok(ShardSummary {
            id: header.id,
            name,
            packages: header.packages.get(),
            documents: header.documents.get(),
            text_bytes: header.text_bytes.get(),
            unique_bytes: header.content_bytes.get(),
            file_bytes: header.file_bytes.get(),
            tags,
        })
    }

    fn write_postings(&mut self, blocks: u32, merge_bytes: usize) -> io::Result<Vec<u8>> {
        self.align()?;
        let start = self.out.offset();
        self.runs_out.flush()?;
        let (mut dictionary, mut encoded) = (Vec::new(), Vec::new());
        let (out, has_gaps) = (&mut self.out, &mut self.has_gaps);
        merge_runs(
            self.runs_out.get_ref(),
            &self.runs,
            merge_bytes,
            |trigram, list| {
                let payload = match *list {
                    // All blocks were left out.
                    [] => return Ok(()),
                    [block] => SINGLE | u64::from(block),
                    _ => {
                        encoded.clear();
                        let codec = posting::encode(list, blocks, &mut encoded);
                        *has_gaps |= codec == Codec::Gaps;
                        let offset = out.offset() - start;
                        out.write_all(&encoded)?;
                        offset
                    }
                };
                let entry = u64::from(trigram) << 40 | payload;
                dictionary.extend_from_slice(&entry.to_le_bytes());
                Ok(())
            },
        )?;
        self.out.write_all(&[0; PADDING_BYTES])?;
        let bytes = self.out.offset() - start;
        self.sections[Section::Postings as usize] = Extent {
            offset: start.into(),
            bytes: bytes.into(),
        };
        Ok(dictionary)
    }

    fn section(&mut self, section: Section, bytes: &[u8]) -> io::Result<()> {
        self.align()?;
        let (offset, length) = (self.out.offset(), bytes.len() as u64);
        self.sections[section as usize] = Extent {
            offset: offset.into(),
            bytes: length.into(),
        };
        self.out.write_all(bytes)
    }

    /// Writes the page checksums and returns their checksum.
    fn write_checksums(&mut self) -> io::Result<u32> {
        self.align()?;
        let table: Vec<u8> = self.out.checksums().flat_map(u32::to_le_bytes).collect();
        self.section(Section::Checksums, &table)?;
        Ok(crc32c::crc32c(&table))
    }

    fn align(&mut self) -> io::Result<()> {
        let padding = self.out.offset().next_multiple_of(8) - self.out.offset();
        self.out.write_all(&[0; 8][..padding as usize])
    }

    fn block_count(&self) -> io::Result<u32> {
        count(self.blocks.len() / size_of::<BlockRecord>())
    }
}

fn push_joined<T: PartialOrd>(ranges: &mut Vec<Range<T>>, range: Range<T>) {
    match ranges.last_mut() {
        _ if range.is_empty() => {}
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

pub(crate) fn shard_name(id: &[u8; 32]) -> String {
    format!("{}.shard", crate::manifest::hex(&id[..8]))
}
