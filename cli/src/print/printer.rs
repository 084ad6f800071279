//! Prints matches: which, when, and in which order.
//!
//! Lines that stand alone are written as they come. Output in groups, one for each file, waits in a
//! [`GroupBuffer`] until the end; but with `--stream` matches come file by file, and a group is written
//! when the next file begins.

use super::counts::{FileCounts, Totals};
use super::flags::SortOrder;
use super::group_buffer::{GroupBuffer, GroupOrder};
use super::json;
use super::lines::LinePrinter;
use super::print_options::{OutputKind, PrintOptions};
use super::rows;
use super::summary::SearchSummary;
use crate::units;
use anyhow::Result;
use frontend::Match;
use std::io::{self, BufWriter, StdoutLock, Write};

/// Bytes written at once.
const BUFFER_BYTES: usize = 256 << 10;

/// Prints the matches of one search.
pub(crate) struct Printer {
    options: PrintOptions,
    writer: MatchWriter,
    groups: GroupBuffer,
    /// Matches of the current file, when they come file by file.
    current: Vec<Match>,
    counts: FileCounts,
}

/// Writes matches to standard output, and counts what it writes.
struct MatchWriter {
    options: PrintOptions,
    out: BufWriter<StdoutLock<'static>>,
    lines: LinePrinter,
    buffer: Vec<u8>,
    totals: Totals,
    printed_bytes: u64,
}

impl Printer {
    pub(crate) fn new(options: PrintOptions) -> Printer {
        Printer {
            writer: MatchWriter {
                out: BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock()),
                lines: LinePrinter::new(&options),
                options: options.clone(),
                buffer: Vec::new(),
                totals: Totals::new(),
                printed_bytes: 0,
            },
            options,
            groups: GroupBuffer::new(),
            current: Vec::new(),
            counts: FileCounts::default(),
        }
    }

    pub(crate) fn options(&self) -> &PrintOptions {
        &self.options
    }

    /// Prints a match, or keeps it until its group is printed. The line must be complete if
    /// [`PrintOptions::wants_text`].
    pub(crate) fn add(&mut self, found: Match) -> Result<()> {
        let options = &self.options;
        match options.kind {
            OutputKind::Lines | OutputKind::Json if !options.is_grouped() => {
                let totals = &mut self.writer.totals;
                totals.add(&found);
                if options.stats && self.counts.add_lines(&found, 0) {
                    totals.files += 1;
                }
                self.writer.one(&found)?;
            }
            OutputKind::Lines | OutputKind::Json if options.sort == SortOrder::None => {
                let last = self.current.last();
                if last.is_some_and(|last| last.document != found.document) {
                    self.end_document()?;
                }
                self.current.push(found);
            }
            OutputKind::Lines | OutputKind::Json => self.groups.add(&found)?,
            OutputKind::Files
            | OutputKind::LineCounts
            | OutputKind::MatchCounts
            | OutputKind::CountedTotal => {
                if options.multi_line {
                    self.counts.add_matches(&found, options.per_file_max);
                } else {
                    self.counts.add_lines(&found, options.per_file_max);
                }
            }
            OutputKind::Total | OutputKind::Nothing => {}
        }
        Ok(())
    }

    /// Prints bytes unchanged.
    pub(crate) fn print_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.out.write_all(bytes)
    }

    /// Prints the group of the current file, when matches come file by file.
    pub(crate) fn end_document(&mut self) -> Result<()> {
        Ok(self.writer.document(&std::mem::take(&mut self.current))?)
    }

    /// Flushes standard output, when no match may come for a while.
    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.writer.out.flush()?)
    }

    /// Prints groups, counts and statistics.
    pub(crate) fn finish(mut self, summary: &SearchSummary) -> Result<()> {
        self.end_document()?;
        let by_path = self.options.sort == SortOrder::Path;
        let order = if by_path {
            GroupOrder::Path
        } else {
            GroupOrder::Arrival
        };
        let writer = &mut self.writer;
        let each = |matches: Vec<Match>| Ok::<_, anyhow::Error>(writer.document(&matches)?);
        self.groups.for_each_document(order, each)?;
        if !self.options.wants_text() {
            self.writer.files(self.counts, by_path)?;
        }
        self.writer.end(summary)?;
        Ok(self.writer.out.flush()?)
    }
}

impl MatchWriter {
    fn one(&mut self, found: &Match) -> io::Result<()> {
        self.lines.one(found, &mut self.buffer);
        self.write()
    }

    fn document(&mut self, matches: &[Match]) -> io::Result<()> {
        let max = usize::try_from(self.options.per_file_max).unwrap_or(usize::MAX);
        if matches.is_empty() || max == 0 {
            return Ok(());
        }
        let cut;
        let matches = if self.options.cuts_spans() {
            cut = rows::first(matches, self.options.per_file_max);
            &cut[..]
        } else {
            matches
        };
        let printed = matches.iter().take(max);
        printed.for_each(|found| self.totals.add(found));
        self.totals.files += 1;
        match self.options.kind {
            OutputKind::Json => json::document(&self.options, matches, &mut self.buffer),
            _ => self.lines.document(matches, &mut self.buffer),
        }
        self.write()
    }

    fn files(&mut self, counts: FileCounts, by_path: bool) -> io::Result<()> {
        for file in counts.into_files(by_path) {
            self.totals.files += 1;
            self.totals.lines += file.lines;
            self.totals.matches += file.matches;
            let count = match self.options.kind {
                OutputKind::LineCounts => file.lines,
                _ => file.matches,
            };
            match self.options.kind {
                OutputKind::CountedTotal => {}
                OutputKind::Files => self.lines.name(&file.document, &mut self.buffer),
                _ if count == 0 => {}
                _ => self.lines.count(&file.document, count, &mut self.buffer),
            }
            self.write()?;
        }
        Ok(())
    }

    fn end(&mut self, summary: &SearchSummary) -> io::Result<()> {
        let totals = &self.totals;
        match self.options.kind {
            OutputKind::Json => {
                json::summary(summary, totals, self.printed_bytes, &mut self.buffer);
            }
            OutputKind::Total => writeln!(self.buffer, "{}", summary.found)?,
            OutputKind::CountedTotal if self.options.multi_line => {
                writeln!(self.buffer, "{}", totals.matches)?;
            }
            OutputKind::CountedTotal => writeln!(self.buffer, "{}", totals.lines)?,
            _ if self.options.stats => self.stats(summary)?,
            _ => {}
        }
        self.write()
    }

    fn stats(&mut self, summary: &SearchSummary) -> io::Result<()> {
        let Totals {
            files,
            lines,
            matches,
            ..
        } = self.totals;
        let (printed, elapsed) = (self.printed_bytes, self.totals.elapsed().as_secs_f64());
        let (documents, bytes) = (summary.documents, summary.index_use.verified_bytes);
        write!(
            self.buffer,
            "\n{matches} matches\n{lines} matched lines\n{files} files contained matches\n\
             {documents} files searched\n{printed} bytes printed\n{bytes} bytes verified ({})\n\
             {elapsed:.6} seconds total\n",
            units::size(bytes),
        )
    }

    fn write(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.printed_bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
