//! Documents with matches of a stream in arrival order, to find equal texts after all streams end.
//!
//! Nothing is sorted or compared here, since most searches have no copies. 32 bytes per frame stay
//! in memory while the budget has room, else in a file.

use super::memory::{CHUNK_LEN, Chunk, Share};
use results::order::{DocumentPointer, Pointer};
use results::spool::{
    Blob, POINTERS_A_BLOCK, PointerReader, PointerWriter, ResultFiles, SpoolError,
};
use std::mem;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct DocumentLog {
    chunks: Vec<Chunk>,
    last: Chunk,
    share: Arc<Share>,
    is_full: bool,
    file: Option<Blob>,
    in_file: u64,
}

impl DocumentLog {
    pub(crate) fn new(share: Arc<Share>) -> DocumentLog {
        DocumentLog {
            chunks: Vec::new(),
            last: Chunk::default(),
            share,
            is_full: false,
            file: None,
            in_file: 0,
        }
    }

    pub(crate) fn push(&mut self, document: DocumentPointer) {
        if self.last.pointers.len() == CHUNK_LEN {
            let next = self.share.take();
            self.is_full |= next.is_none();
            let full = mem::replace(&mut self.last, next.unwrap_or_default());
            self.chunks.push(full);
        }
        self.last.pointers.push(document.0);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(crate) fn len(&self) -> u64 {
        self.in_file + self.in_memory().count() as u64
    }

    fn in_memory(&self) -> impl Iterator<Item = &Pointer> {
        let chunks = self.chunks.iter().chain([&self.last]);
        chunks.flat_map(|chunk| &chunk.pointers)
    }

    /// Drops pointers to frames at or after `offset`.
    pub(crate) fn drop_from(&mut self, offset: u64) {
        for chunk in self.chunks.iter_mut().chain([&mut self.last]) {
            let is_before = |pointer: &Pointer| DocumentPointer(*pointer).frame().1 < offset;
            chunk.pointers.retain(is_before);
        }
    }

    /// Moves all but the last block's pointers to the file.
    pub(crate) fn spill(&mut self, name: &str, spool: &ResultFiles) -> Result<(), SpoolError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => spool.scratch(name)?,
        };
        let all = self.in_memory().count();
        let whole = all - all % POINTERS_A_BLOCK;
        let mut writer = PointerWriter::new(spool, &file);
        for pointer in self.in_memory().take(whole) {
            writer.push(pointer)?;
        }
        let written = writer.finish()?;
        let left: Vec<Pointer> = self.in_memory().skip(whole).copied().collect();
        self.file = Some(file);
        self.in_file += written;
        self.chunks.clear();
        self.last.pointers.clear();
        self.last.pointers.extend(left);
        self.is_full = false;
        Ok(())
    }

    pub(crate) fn read(
        &self,
        mut each: impl FnMut(DocumentPointer) -> Result<(), SpoolError>,
    ) -> Result<(), SpoolError> {
        if let Some(file) = &self.file {
            let mut reader = PointerReader::new(file, 0..self.in_file);
            while let block @ [_, ..] = reader.next_block()? {
                block
                    .iter()
                    .try_for_each(|pointer| each(DocumentPointer(*pointer)))?;
            }
        }
        self.in_memory()
            .try_for_each(|pointer| each(DocumentPointer(*pointer)))
    }

    pub(crate) fn clear(&mut self, spool: &ResultFiles) {
        self.chunks.clear();
        self.last = Chunk::default();
        self.in_file = 0;
        if let Some(file) = self.file.take() {
            spool.remove(&file);
        }
    }
}
