//! Writes a shard: joins segments in order, merges their sorted runs, lays out the sections.
//!
//! Text goes to the shard at once, sorted runs to a temporary file. Known texts are left out with
//! their blocks, also from the runs when merged. Tables (about 250 bytes a document, 12 to 16 a
//! block) stay in memory until the end; the caller bounds them by ending the shard.
//! **Invariant:** the bytes follow from the documents in order, however cut into segments; the file
//! gets its name only when it is on disk.

mod content;
mod merge;
mod output;
mod symbols_section;
mod tables;

pub(crate) use tables::{DocumentName, NO_TAG};

use crate::builder::Segment;
use crate::codec::ContentCodec;
use crate::document::Popularity;
use crate::file::{self, AtomicFile};
use crate::format::{
    self, BlockRecord, CODEC_RAW, CODEC_ZSTD, Extent, Header, MAGIC, PAGE_BYTES, SECTIONS_MAX,
    SINGLE, Section, VERSION, VERSION_2,
};
use crate::manifest::hex;
use crate::posting::{self, Codec, PADDING_BYTES, encode_varint, push_range};
use content::ContentWriter;
use language::symbols;
use merge::{BlockNumbers, RunExtent, merge_runs};
use output::{PageWriter, WriteBack};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use symbols_section::SymbolsWriter;
use tables::{Tables, count};
use zerocopy::{FromZeros, IntoBytes};

pub(crate) struct FinishedShard {
    pub(crate) name: String,
    pub(crate) header: Header,
    /// Tags of documents, then of skipped files, in shard order.
    pub(crate) tags: Vec<u32>,
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
    symbols: SymbolsWriter,
    tables: Tables,
    /// Encoded, like `skipped`.
    blocks: Vec<u8>,
    skipped: Vec<u8>,
    skipped_tags: Vec<u32>,
    content_bytes: u64,
    block_bytes: u32,
    has_gaps: bool,
    is_history: bool,
}

const WRITE_BYTES: usize = 1 << 20;

const UNFINISHED: &str = "unfinished";

impl ShardWriter {
    pub(crate) fn create(
        directory: &Path,
        block_bytes: usize,
        codec: ContentCodec,
        jobs: usize,
        is_history: bool,
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
            content: ContentWriter::new(codec, jobs, directory)?,
            runs_out: BufWriter::with_capacity(WRITE_BYTES, file::anonymous(directory)?),
            runs: Vec::new(),
            runs_bytes: 0,
            symbols: SymbolsWriter::new(directory)?,
            tables: Tables::default(),
            blocks: Vec::new(),
            skipped: Vec::new(),
            skipped_tags: Vec::new(),
            content_bytes: 0,
            block_bytes: block_bytes as u32,
            has_gaps: false,
            is_history,
        })
    }

    pub(crate) fn package(&mut self, directory: &[u8], popularity: Popularity) -> io::Result<()> {
        self.tables.package(directory, popularity)
    }

    pub(crate) fn skipped(&mut self, path: &[u8], reason: &str, tag: u32) {
        self.skipped_tags.push(tag);
        encode_varint(self.tables.package_number() as u64, &mut self.skipped);
        encode_varint(path.len() as u64, &mut self.skipped);
        self.skipped.extend_from_slice(path);
        encode_varint(reason.len() as u64, &mut self.skipped);
        self.skipped.extend_from_slice(reason.as_bytes());
    }

    /// `text` is a number from [`segment`](Self::segment). The opaque `tag` is returned in shard
    /// order.
    pub(crate) fn document(&mut self, name: &DocumentName, text: u32, tag: u32) -> io::Result<()> {
        self.tables.document(name, text, tag)
    }

    /// Returns the text number of each document.
    pub(crate) fn segment(&mut self, segment: &Segment) -> io::Result<Vec<u32>> {
        let base = self.block_count()?;
        let mut texts = Vec::with_capacity(segment.documents.len());
        let (mut kept, mut lengths) = (Vec::new(), Vec::new());
        for document in &segment.documents {
            let blocks = document.blocks.clone();
            let text = segment.bytes(&blocks);
            let bytes = text.end - text.start;
            if let Some(known) = self.tables.find(document, bytes) {
                texts.push(known);
                continue;
            }
            let first_block = self.block_count()?;
            texts.push(self.tables.text(document, first_block, bytes)?);
            self.symbols.push(&document.symbols)?;
            for number in blocks.clone() {
                let block = &segment.blocks[number as usize];
                let entry = BlockRecord {
                    offset: (self.content_bytes + (block.offset - text.start)).into(),
                    first_line: block.first_line.into(),
                };
                self.blocks.extend_from_slice(entry.as_bytes());
                lengths.push(segment.bytes(&(number..number + 1)).end - block.offset);
            }
            self.content_bytes += bytes;
            let is_ascending = push_range(&mut kept, blocks);
            is_ascending.expect("documents are in order");
        }
        let ranges: Vec<_> = kept.iter().map(|blocks| segment.bytes(blocks)).collect();
        self.content
            .append(segment, &ranges, &lengths, &mut self.out)?;
        self.write_back.written(self.out.offset());
        let blocks = BlockNumbers::new(base, count(segment.blocks.len())?, &kept);
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

    /// Merges with `merge_bytes` of buffers, and names the file.
    pub(crate) fn finish(mut self, merge_bytes: usize) -> io::Result<FinishedShard> {
        let end = BlockRecord {
            offset: self.content_bytes.into(),
            first_line: 0.into(),
        };
        let blocks = self.block_count()?;
        self.blocks.extend_from_slice(end.as_bytes());
        let frames = self.content.finish(&mut self.out)?;
        self.end_section(Section::Content, PAGE_BYTES as u64);
        self.write_back.all_written();
        let dictionary = self.write_postings(blocks, merge_bytes)?;
        self.section(Section::Dictionary, &dictionary)?;
        let mut tables = std::mem::take(&mut self.tables);
        let [shared, decoded, languages] = tables.finish()?;
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
            (Section::Shared, &shared),
            (Section::Blocks, &blocks_table),
            (Section::Skipped, &skipped),
        ] {
            self.section(section, bytes)?;
            id.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        }
        // Omitted if empty, as in old shards.
        if !decoded.is_empty() {
            self.section(Section::Decoded, &decoded)?;
            id.update(&(decoded.len() as u64).to_le_bytes())
                .update(&decoded);
        }
        if !tables.documents.is_empty() {
            let paths = tables::encode_paths(&tables.documents, &tables.names)?;
            self.section(Section::Paths, &paths)?;
        }
        id.update(&symbols::VERSION.to_le_bytes());
        if !frames.is_empty() {
            self.section(Section::Frames, &frames)?;
        }
        if !languages.is_empty() {
            self.section(Section::Languages, &languages)?;
            id.update(&(languages.len() as u64).to_le_bytes())
                .update(&languages);
        }
        if self.is_history {
            id.update(&1_u32.to_le_bytes());
        }
        self.align()?;
        let start = self.out.offset();
        self.symbols.finish(&mut self.out)?;
        self.end_section(Section::Symbols, start);
        let checksums = self.write_checksums()?;
        let mut header = Header::new_zeroed();
        header.magic = MAGIC;
        header.version = if self.has_gaps { VERSION } else { VERSION_2 }.into();
        header.block_bytes = self.block_bytes.into();
        header.id = *id.finalize().as_bytes();
        header.packages = count(tables.packages.len())?.into();
        header.texts = count(tables.texts.len())?.into();
        header.documents = count(tables.documents.len())?.into();
        header.shared = count(shared.len() / size_of::<u32>())?.into();
        header.blocks = blocks.into();
        header.codec = match self.content.codec() {
            ContentCodec::Raw => CODEC_RAW.into(),
            ContentCodec::Zstd => CODEC_ZSTD.into(),
        };
        header.symbols_version = symbols::VERSION.into();
        header.content_bytes = self.content_bytes.into();
        let text_bytes = tables.packages.iter().map(|it| it.text_bytes.get());
        header.text_bytes = text_bytes.sum::<u64>().into();
        header.file_bytes = self.out.offset().into();
        header.sections = self.sections;
        header.is_history = u32::from(self.is_history).into();
        header.checksums_crc = checksums.into();
        header.crc = format::header_checksum(header.as_bytes()).into();
        let tags = tables.tags.into_iter().map(|(_, tag)| tag);
        let tags = tags.chain(std::mem::take(&mut self.skipped_tags)).collect();
        self.publish(header, tags)
    }

    fn publish(mut self, header: Header, tags: Vec<u32>) -> io::Result<FinishedShard> {
        self.out.flush()?;
        self.shard.file().write_all_at(header.as_bytes(), 0)?;
        let name = format!("{}.shard", hex(&header.id[..8]));
        self.write_back.finish()?;
        self.shard.rename(&name)?;
        Ok(FinishedShard { name, header, tags })
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
        self.end_section(Section::Postings, start);
        Ok(dictionary)
    }

    fn section(&mut self, section: Section, bytes: &[u8]) -> io::Result<()> {
        self.align()?;
        let start = self.out.offset();
        self.out.write_all(bytes)?;
        self.end_section(section, start);
        Ok(())
    }

    fn end_section(&mut self, section: Section, start: u64) {
        self.sections[section as usize] = Extent {
            offset: start.into(),
            bytes: (self.out.offset() - start).into(),
        };
    }

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
