//! Selects, orders and prints matches.
//!
//! Single lines are written immediately; groups wait in a [`GroupBuffer`] until the end. With
//! `--stream`, matches come file by file, and a group ends with its file.

use super::counts::{FileCounts, PrintedLines, Totals};
use super::fetch_lines::{LineFetcher, ReadFile, for_each_piece};
use super::group_buffer::{GroupBuffer, MEMORY_BYTES_MAX};
use super::json;
use super::lines::LinePrinter;
use super::print_options::{OutputKind, PrintOptions, SortOrder};
use super::rows;
use crate::units;
use anyhow::Result;
use frontend::{Match, Query};
use std::io::{self, BufWriter, StdoutLock, Write};
use std::time::Instant;
use web::model::ExportDone;

const BUFFER_BYTES: usize = 256 << 10;

pub(crate) struct Printer<'a> {
    writer: MatchWriter,
    fetcher: LineFetcher<'a>,
    groups: GroupBuffer,
    /// Matches of a file, if they come file by file.
    current: Vec<Match>,
    counts: FileCounts,
    /// Lines printed before, for hiding copies.
    printed: PrintedLines,
}

struct MatchWriter {
    options: PrintOptions,
    out: BufWriter<StdoutLock<'static>>,
    lines: LinePrinter,
    totals: Totals,
    started: Instant,
    printed_bytes: u64,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(options: PrintOptions, query: &'a Query) -> Printer<'a> {
        Printer {
            fetcher: LineFetcher::new(query, &options),
            writer: MatchWriter {
                out: BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock()),
                lines: LinePrinter::new(&options),
                options,
                totals: Totals::default(),
                started: Instant::now(),
                printed_bytes: 0,
            },
            groups: GroupBuffer::new(MEMORY_BYTES_MAX),
            current: Vec::new(),
            counts: FileCounts::default(),
            printed: PrintedLines::default(),
        }
    }

    pub(crate) fn options(&self) -> &PrintOptions {
        &self.writer.options
    }

    /// Missing parts come from `read`.
    pub(crate) fn add(&mut self, found: Match, read: ReadFile<'_>) -> Result<()> {
        if self.writer.options.folds && self.printed.has(&found) {
            self.writer.totals.copies = self.printed.left_out;
            return Ok(());
        }
        let found = self.fetcher.complete(found, read)?;
        let options = &self.writer.options;
        match options.kind {
            OutputKind::Lines | OutputKind::Json if !options.is_grouped() => {
                let counts_files = options.flags.stats || options.counts_at_end();
                let is_first = counts_files && self.counts.add(&found, 0, false);
                self.writer.totals.files += u64::from(is_first);
                self.writer.one(&found, read)?;
            }
            OutputKind::Lines | OutputKind::Json if options.sort == SortOrder::None => {
                let last = self.current.last();
                if last.is_some_and(|last| last.document != found.document) {
                    self.end_document(read)?;
                }
                self.current.push(found);
            }
            OutputKind::Lines | OutputKind::Json => self.groups.add(&found)?,
            OutputKind::Files
            | OutputKind::LineCounts
            | OutputKind::MatchCounts
            | OutputKind::CountedTotal => {
                let max = options.per_file_max;
                self.counts.add(&found, max, options.multi_line);
            }
            OutputKind::Total | OutputKind::Nothing => {}
        }
        Ok(())
    }

    pub(crate) fn print_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.out.write_all(bytes)
    }

    pub(crate) fn end_document(&mut self, read: ReadFile<'_>) -> Result<()> {
        self.writer
            .document(&std::mem::take(&mut self.current), read)
    }

    pub(crate) fn end_matches(&mut self, read: ReadFile<'_>) -> Result<()> {
        self.end_document(read)?;
        let by_path = self.writer.options.sort == SortOrder::Path;
        let groups = std::mem::take(&mut self.groups);
        groups.for_each_document(by_path, |matches| self.writer.document(&matches, read))
    }

    /// Called before a possible pause.
    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.writer.out.flush()?)
    }

    pub(crate) fn finish(mut self, done: &ExportDone) -> Result<()> {
        let by_path = self.writer.options.sort == SortOrder::Path;
        let writer = &mut self.writer;
        if !writer.options.wants_text() {
            writer.files(self.counts, by_path)?;
        }
        writer.end(done)?;
        Ok(writer.out.flush()?)
    }
}

impl MatchWriter {
    fn one(&mut self, found: &Match, read: ReadFile<'_>) -> Result<()> {
        self.totals.add(found);
        self.lines.one(found);
        self.write_lines(read)
    }

    fn document(&mut self, matches: &[Match], read: ReadFile<'_>) -> Result<()> {
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
            OutputKind::Json => json::document(&self.options, matches, &mut self.lines.out),
            _ => self.lines.document(matches),
        }
        self.write_lines(read)
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
                OutputKind::Files => self.lines.name(&file.document),
                _ if count == 0 => {}
                _ => self.lines.count(&file.document, count),
            }
            self.write()?;
        }
        Ok(())
    }

    fn end(&mut self, done: &ExportDone) -> io::Result<()> {
        let (totals, out) = (&self.totals, &mut self.lines.out);
        let (printed, elapsed) = (self.printed_bytes, self.started.elapsed());
        let in_files = |count| format!("{count} in {}", units::plural(totals.files, "file"));
        match self.options.kind {
            OutputKind::Json => json::summary(done, totals, elapsed, printed, out),
            OutputKind::Total => writeln!(out, "{}", done.found)?,
            OutputKind::CountedTotal if self.options.multi_line => {
                writeln!(out, "{}", totals.matches)?;
            }
            OutputKind::CountedTotal => writeln!(out, "{}", totals.lines)?,
            _ if self.options.flags.stats => {
                let seconds = elapsed.as_secs_f64();
                let bytes = done.explain.verified_bytes;
                writeln!(out, "\n{} matches", totals.matches)?;
                writeln!(out, "{} matched lines", totals.lines)?;
                writeln!(out, "{} files contained matches", totals.files)?;
                writeln!(out, "{} files searched", done.searched.documents)?;
                writeln!(out, "{printed} bytes printed")?;
                writeln!(out, "{bytes} bytes verified ({})", units::size(bytes))?;
                writeln!(out, "{seconds:.6} seconds total")?;
            }
            kind if self.options.counts_at_end() => {
                let words = match kind {
                    OutputKind::Lines => totals.in_words(done.found, self.options.limit),
                    OutputKind::Files => units::plural(totals.files, "file"),
                    OutputKind::LineCounts => in_files(units::plural(totals.lines, "line")),
                    _ => in_files(units::plural(totals.matches, "match")),
                };
                writeln!(out, "\n{words}")?;
            }
            _ => {}
        }
        self.write()
    }

    /// Fetches long lines in pieces.
    fn write_lines(&mut self, read: ReadFile<'_>) -> Result<()> {
        let mut written = 0;
        for hole in std::mem::take(&mut self.lines.holes) {
            self.out.write_all(&self.lines.out[written..hole.at])?;
            written = hole.at;
            for_each_piece(&hole.document, hole.offset, hole.bytes, read, |piece| {
                Ok(self.out.write_all(piece)?)
            })?;
        }
        self.lines.out.drain(..written);
        Ok(self.write()?)
    }

    fn write(&mut self) -> io::Result<()> {
        let bytes = &mut self.lines.out;
        self.out.write_all(bytes)?;
        self.printed_bytes += bytes.len() as u64;
        bytes.clear();
        Ok(())
    }
}
