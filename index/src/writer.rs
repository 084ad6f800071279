//! Writes a shard: joins segments in order, merges their sorted runs, lays out the sections.
//!
//! Text is written to the shard at once, sorted runs to a temporary file beside it. The tables of
//! documents, paths and blocks (about 150 bytes a document and 12 a block) stay in memory until the
//! end; the size of a shard's text bounds them.
//! **Invariant:** the bytes follow from the segments alone, and the file gets its name only when all
//! of it is on the disk.

mod merge;
mod page;

use crate::builder::Segment;
use crate::file::{self, AtomicFile};
use crate::format::{
    BlockRecord, CODEC_RAW, DocumentRecord, Extent, Header, MAGIC, NAME_BYTES_MAX, PAGE_BYTES,
    PackageRecord, SINGLE, Section, VERSION,
};
use crate::posting::{self, PADDING_BYTES, encode_varint};
use merge::{RunExtent, RunMerge};
use page::PageWriter;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use zerocopy::{FromZeros, IntoBytes};

/// A finished shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShardSummary {
    pub(crate) id: [u8; 32],
    pub(crate) name: String,
    pub(crate) packages: u32,
    pub(crate) documents: u32,
    pub(crate) text_bytes: u64,
    pub(crate) file_bytes: u64,
}

/// A document's path in its package, and the part of its rank that no query changes.
#[derive(Clone, Debug)]
pub(crate) struct DocumentName {
    pub(crate) path: Vec<u8>,
    pub(crate) static_rank: f32,
}

/// A shard in progress.
pub(crate) struct ShardWriter {
    shard: AtomicFile,
    out: PageWriter<BufWriter<File>>,
    sections: [Extent; 9],
    runs_out: BufWriter<File>,
    runs: Vec<RunExtent>,
    runs_bytes: u64,
    /// The tables, encoded.
    names: Vec<u8>,
    packages: Vec<u8>,
    documents: Vec<u8>,
    blocks: Vec<u8>,
    skipped: Vec<u8>,
    text_bytes: u64,
    block_bytes: u32,
}

/// Bytes written at a time.
const WRITE_BYTES: usize = 1 << 20;

/// The name of a shard in progress.
const UNFINISHED: &str = "unfinished";

impl ShardWriter {
    /// Begins a shard in `directory`.
    pub(crate) fn create(directory: &Path, block_bytes: usize) -> io::Result<Self> {
        let shard = AtomicFile::create(directory, UNFINISHED)?;
        let mut file = shard.file().try_clone()?;
        file.seek(SeekFrom::Start(PAGE_BYTES as u64))?;
        let out = PageWriter::new(BufWriter::with_capacity(WRITE_BYTES, file));
        Ok(ShardWriter {
            shard,
            out,
            sections: [Extent::default(); 9],
            runs_out: BufWriter::with_capacity(WRITE_BYTES, file::anonymous(directory)?),
            runs: Vec::new(),
            runs_bytes: 0,
            names: Vec::new(),
            packages: Vec::new(),
            documents: Vec::new(),
            blocks: Vec::new(),
            skipped: Vec::new(),
            text_bytes: 0,
            block_bytes: block_bytes as u32,
        })
    }

    /// Begins a package. Documents and skipped files that follow belong to it.
    pub(crate) fn package(&mut self, directory: &[u8], inst: f32, rdep: f32) -> io::Result<()> {
        let entry = PackageRecord {
            name_offset: (self.names.len() as u64).into(),
            name_bytes: name_bytes(directory)?.into(),
            first_document: self.document_count()?.into(),
            inst: inst.into(),
            rdep: rdep.into(),
        };
        self.names.extend_from_slice(directory);
        self.packages.extend_from_slice(entry.as_bytes());
        Ok(())
    }

    /// Records a file of the package in progress that was skipped.
    pub(crate) fn skipped(&mut self, path: &[u8], reason: &str) {
        let package = self.packages.len() / size_of::<PackageRecord>() - 1;
        encode_varint(package as u64, &mut self.skipped);
        encode_varint(path.len() as u64, &mut self.skipped);
        self.skipped.extend_from_slice(path);
        encode_varint(reason.len() as u64, &mut self.skipped);
        self.skipped.extend_from_slice(reason.as_bytes());
    }

    /// Adds the next document of the package in progress. `document` is its entry in a segment, whose
    /// first block is `base`, as [`segment`](Self::segment) returned it.
    pub(crate) fn document(
        &mut self,
        name: &DocumentName,
        base: u32,
        document: &crate::builder::SegmentDocument,
    ) -> io::Result<()> {
        let first_block = base
            .checked_add(document.first_block)
            .ok_or_else(too_many)?;
        let entry = DocumentRecord {
            path_offset: (self.names.len() as u64).into(),
            path_bytes: name_bytes(&name.path)?.into(),
            first_block: first_block.into(),
            lines: document.lines.into(),
            static_rank: name.static_rank.into(),
            hash: document.hash,
        };
        self.document_count()?;
        self.names.extend_from_slice(&name.path);
        self.documents.extend_from_slice(entry.as_bytes());
        Ok(())
    }

    /// Appends text, blocks and sorted runs of a segment and returns the number of its first block.
    pub(crate) fn segment(&mut self, mut segment: Segment) -> io::Result<u32> {
        let base = count(self.blocks.len() / size_of::<BlockRecord>())?;
        for block in &segment.blocks {
            let entry = BlockRecord {
                offset: (self.text_bytes + block.offset).into(),
                first_line: block.first_line.into(),
            };
            self.blocks.extend_from_slice(entry.as_bytes());
        }
        if let Some(file) = &mut segment.spilled {
            self.text_bytes += io::copy(file, &mut self.out)?;
        }
        self.out.write_all(&segment.text)?;
        self.text_bytes += segment.text.len() as u64;
        for run in &segment.runs {
            self.runs_out.write_all(run)?;
            let (offset, bytes) = (self.runs_bytes, run.len() as u64);
            self.runs.push(RunExtent {
                offset,
                bytes,
                base,
            });
            self.runs_bytes += bytes;
        }
        Ok(base)
    }

    /// Merges the sorted runs with at most `merge_bytes` of buffers, writes the remaining sections and
    /// gives the file its name.
    pub(crate) fn finish(mut self, merge_bytes: usize) -> io::Result<ShardSummary> {
        let end = BlockRecord {
            offset: self.text_bytes.into(),
            first_line: 0.into(),
        };
        let blocks = count(self.blocks.len() / size_of::<BlockRecord>())?;
        self.blocks.extend_from_slice(end.as_bytes());
        self.sections[0] = Extent {
            offset: (PAGE_BYTES as u64).into(),
            bytes: self.text_bytes.into(),
        };
        let dictionary = self.write_postings(blocks, merge_bytes)?;
        self.section(Section::Dictionary, &dictionary)?;
        let take = std::mem::take::<Vec<u8>>;
        let (names, packages) = (take(&mut self.names), take(&mut self.packages));
        let (documents, blocks_table) = (take(&mut self.documents), take(&mut self.blocks));
        let skipped = take(&mut self.skipped);
        let mut id = blake3::Hasher::new();
        id.update(&VERSION.to_le_bytes())
            .update(&self.block_bytes.to_le_bytes());
        for (section, bytes) in [
            (Section::Names, &names),
            (Section::Packages, &packages),
            (Section::Documents, &documents),
            (Section::Blocks, &blocks_table),
            (Section::Skipped, &skipped),
        ] {
            self.section(section, bytes)?;
            id.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        }
        let checksums = self.write_checksums()?;
        let mut header = Header::new_zeroed();
        header.magic = MAGIC;
        header.version = VERSION.into();
        header.block_bytes = self.block_bytes.into();
        header.id = *id.finalize().as_bytes();
        header.packages = count(packages.len() / size_of::<PackageRecord>())?.into();
        header.documents = count(documents.len() / size_of::<DocumentRecord>())?.into();
        header.blocks = blocks.into();
        header.codec = CODEC_RAW.into();
        header.text_bytes = self.text_bytes.into();
        header.file_bytes = self.out.offset().into();
        header.sections = self.sections;
        header.checksums_crc = checksums.into();
        header.crc = header.checksum().into();
        self.publish(&header)
    }

    fn publish(mut self, header: &Header) -> io::Result<ShardSummary> {
        self.out.flush()?;
        self.shard.file().write_all_at(header.as_bytes(), 0)?;
        let name = shard_name(&header.id);
        self.shard.rename(&name)?;
        Ok(ShardSummary {
            id: header.id,
            name,
            packages: header.packages.get(),
            documents: header.documents.get(),
            text_bytes: header.text_bytes.get(),
            file_bytes: header.file_bytes.get(),
        })
    }

    /// Writes the section of posting lists and returns the dictionary.
    fn write_postings(&mut self, blocks: u32, merge_bytes: usize) -> io::Result<Vec<u8>> {
        self.align()?;
        let start = self.out.offset();
        self.runs_out.flush()?;
        let mut merge = RunMerge::new(self.runs_out.get_ref(), &self.runs, merge_bytes)?;
        let (mut dictionary, mut list, mut encoded) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(trigram) = merge.next(&mut list)? {
            let payload = match list[..] {
                [block] => SINGLE | u64::from(block),
                _ => {
                    encoded.clear();
                    posting::encode(&list, blocks, &mut encoded);
                    let offset = self.out.offset() - start;
                    self.out.write_all(&encoded)?;
                    offset
                }
            };
            let entry = u64::from(trigram) << 40 | payload;
            dictionary.extend_from_slice(&entry.to_le_bytes());
        }
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

    /// Writes the checksums of all pages so far and returns the checksum of that table.
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

    fn document_count(&self) -> io::Result<u32> {
        count(self.documents.len() / size_of::<DocumentRecord>())
    }
}

/// Returns the name of a shard's file.
pub(crate) fn shard_name(id: &[u8; 32]) -> String {
    format!("{}.shard", crate::manifest::hex(&id[..8]))
}

fn name_bytes(name: &[u8]) -> io::Result<u32> {
    let bytes = u32::try_from(name.len()).ok();
    let too_long = || io::Error::other(format!("a name of more than {NAME_BYTES_MAX} bytes"));
    bytes
        .filter(|&bytes| bytes <= NAME_BYTES_MAX)
        .ok_or_else(too_long)
}

fn count(count: usize) -> io::Result<u32> {
    u32::try_from(count).map_err(|_| too_many())
}

fn too_many() -> io::Error {
    io::Error::other("a shard holds at most 2^32 packages, documents and blocks")
}
