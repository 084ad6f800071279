//! Section SYMBOLS of a shard in progress: encoded symbols wait in a temporary file, since content
//! goes to the shard first.

use crate::file;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

pub(super) struct SymbolsWriter {
    file: BufWriter<File>,
    /// End of the symbols of each text in `file`.
    ends: Vec<u64>,
}

impl SymbolsWriter {
    pub(super) fn new(directory: &Path) -> io::Result<SymbolsWriter> {
        Ok(SymbolsWriter {
            file: BufWriter::new(file::anonymous(directory)?),
            ends: Vec::new(),
        })
    }

    pub(super) fn push(&mut self, symbols: &[u8]) -> io::Result<()> {
        self.file.write_all(symbols)?;
        let end = self.ends.last().copied().unwrap_or(0) + symbols.len() as u64;
        self.ends.push(end);
        Ok(())
    }

    pub(super) fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        let first = (self.ends.len() as u64 + 1) * size_of::<u64>() as u64;
        out.write_all(&first.to_le_bytes())?;
        for end in &self.ends {
            out.write_all(&(first + end).to_le_bytes())?;
        }
        self.file.flush()?;
        let file = self.file.get_mut();
        file.rewind()?;
        let copied = io::copy(file, out)?;
        if copied != self.ends.last().copied().unwrap_or(0) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}
