//! What is printed of the matches that come in, when, and in which order.
//!
//! Lines that stand by themselves are written as they come; what is printed file by file waits on a
//! [`Shelf`] until the end, unless matches come file by file as they are found.

use super::arguments::Sort;
use super::json;
use super::lines::Lines;
use super::look::{Look, What};
use super::rows;
use super::shelf::{By, Shelf};
use super::summary::Summary;
use super::tally::{Counted, Tally};
use crate::size;
use anyhow::Result;
use frontend::Match;
use std::io::{self, BufWriter, StdoutLock, Write};

/// Bytes written at once.
const BUFFER_BYTES: usize = 256 << 10;

/// See the module.
pub(super) struct Output {
    look: Look,
    writer: Writer,
    shelf: Shelf,
    /// Matches of the file that is being found.
    file: Vec<Match>,
    tally: Tally,
}

/// Standard output, and what was written to it.
struct Writer {
    look: Look,
    out: BufWriter<StdoutLock<'static>>,
    lines: Lines,
    buffer: Vec<u8>,
    counted: Counted,
    printed: u64,
}

impl Output {
    pub(super) fn new(look: Look) -> Output {
        Output {
            writer: Writer {
                out: BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock()),
                lines: Lines::new(&look),
                look: look.clone(),
                buffer: Vec::new(),
                counted: Counted::default(),
                printed: 0,
            },
            look,
            shelf: Shelf::new(),
            file: Vec::new(),
            tally: Tally::default(),
        }
    }

    pub(super) fn look(&self) -> &Look {
        &self.look
    }

    /// Takes a match. Its line must be whole when [`Look::wants_text`].
    pub(super) fn take(&mut self, found: Match) -> Result<()> {
        match self.look.what {
            What::Lines | What::Json if !self.look.is_grouped() => {
                self.tally_for_stats(&found);
                self.writer.one(&found)?;
            }
            What::Lines | What::Json if self.look.sort == Sort::None => {
                self.take_in_order(found)?
            }
            What::Lines | What::Json => self.shelf.put(&found)?,
            What::Files | What::Counts | What::MatchCounts | What::CountedTotal => {
                match self.look.over_lines {
                    true => self.tally.add_matches(&found, self.look.lines_max),
                    false => self.tally.add(&found, self.look.lines_max),
                };
            }
            What::Total | What::Nothing => {}
        }
        Ok(())
    }

    /// Writes bytes as they are.
    pub(super) fn print_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.out.write_all(bytes)
    }

    /// There is no more of the file.
    pub(super) fn end_document(&mut self) -> Result<()> {
        Ok(self.writer.document(&std::mem::take(&mut self.file))?)
    }

    /// Nothing comes for a while: lets what is written be read.
    pub(super) fn flush(&mut self) -> Result<()> {
        Ok(self.writer.out.flush()?)
    }

    pub(super) fn finish(mut self, summary: &Summary) -> Result<()> {
        self.writer.document(&std::mem::take(&mut self.file))?;
        let by = match self.look.sort {
            Sort::Path => By::Path,
            _ => By::Arrival,
        };
        let writer = &mut self.writer;
        let each = |matches: Vec<Match>| Ok::<_, anyhow::Error>(writer.document(&matches)?);
        self.shelf.for_each_document(by, each)?;
        self.writer.files(self.tally, by == By::Path)?;
        self.writer.end(summary)?;
        Ok(self.writer.out.flush()?)
    }

    /// Takes a match that comes with the others of its file.
    fn take_in_order(&mut self, found: Match) -> io::Result<()> {
        let is_next = self
            .file
            .last()
            .is_some_and(|last| last.document != found.document);
        if is_next {
            self.writer.document(&std::mem::take(&mut self.file))?;
        }
        self.file.push(found);
        Ok(())
    }

    fn tally_for_stats(&mut self, found: &Match) {
        let counted = &mut self.writer.counted;
        counted.add(Some(found));
        if self.look.stats && self.tally.add(found, 0) {
            counted.files += 1;
        }
    }
}

impl Writer {
    fn one(&mut self, found: &Match) -> io::Result<()> {
        self.lines.one(found, &mut self.buffer);
        self.write()
    }

    fn document(&mut self, matches: &[Match]) -> io::Result<()> {
        let most = usize::try_from(self.look.lines_max).unwrap_or(usize::MAX);
        if matches.is_empty() || most == 0 {
            return Ok(());
        }
        let first;
        let matches = match self.look.cuts_runs() {
            true => {
                first = rows::first(matches, self.look.lines_max);
                &first[..]
            }
            false => matches,
        };
        matches
            .iter()
            .take(most)
            .for_each(|found| self.counted.add(Some(found)));
        self.counted.files += 1;
        match self.look.what {
            What::Json => json::document(&self.look, matches, &mut self.buffer),
            _ => self.lines.document(matches, &mut self.buffer),
        }
        self.write()
    }

    fn files(&mut self, tally: Tally, by_path: bool) -> io::Result<()> {
        if tally.is_empty() || matches!(self.look.what, What::Lines | What::Json) {
            return Ok(());
        }
        for file in tally.into_files(by_path) {
            self.counted.files += 1;
            self.counted.lines += file.lines;
            self.counted.matches += file.matches;
            let count = match self.look.what {
                What::Counts => file.lines,
                _ => file.matches,
            };
            match self.look.what {
                What::CountedTotal => {}
                What::Files => self.lines.name(&file.document, &mut self.buffer),
                _ if count == 0 => {}
                _ => self.lines.count(&file.document, count, &mut self.buffer),
            }
            self.write()?;
        }
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        match self.look.what {
            What::Json => json::summary(summary, &self.counted, self.printed, &mut self.buffer),
            What::Total => writeln!(self.buffer, "{}", summary.found)?,
            What::CountedTotal if self.look.over_lines => {
                writeln!(self.buffer, "{}", self.counted.matches)?;
            }
            What::CountedTotal => writeln!(self.buffer, "{}", self.counted.lines)?,
            _ if self.look.stats => self.stats(summary)?,
            _ => {}
        }
        self.write()
    }

    fn stats(&mut self, summary: &Summary) -> io::Result<()> {
        let Counted {
            files,
            lines,
            matches,
            ..
        } = self.counted;
        let (printed, elapsed) = (self.printed, self.counted.elapsed().as_secs_f64());
        let (documents, bytes) = (summary.documents, summary.explain.verified_bytes);
        write!(
            self.buffer,
            "\n{matches} matches\n{lines} matched lines\n{files} files contained matches\n\
             {documents} files searched\n{printed} bytes printed\n{bytes} bytes verified ({})\n\
             {elapsed:.6} seconds total\n",
            size::show(bytes),
        )
    }

    fn write(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.printed += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
