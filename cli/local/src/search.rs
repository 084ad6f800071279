//! Run of a command line: its matches, files or types.

use crate::arguments::{Arguments, Binary, Buffer, Color, Mmap, Mode, Output, TextEncoding};
use crate::condition::Search;
use crate::diagnostics::Diagnostics;
use crate::haystack::{self, Haystack};
use crate::input::Input;
use crate::pattern;
use crate::program::{Outcome, Program};
use crate::session::{Selection, Session};
use crate::worker::{Detection, Printer, Worker};
use anyhow::Result;
use grep::cli::StandardStream;
use grep::matcher::LineTerminator;
use grep::printer::{
    ColorSpecs, HyperlinkConfig, HyperlinkEnvironment, JSONBuilder, PathPrinterBuilder, Standard,
    StandardBuilder, Stats, Summary, SummaryBuilder, SummaryKind, default_color_specs,
};
use grep::regex::RegexMatcher;
use grep::searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use ignore::WalkState;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use std::{env, mem, thread};
use termcolor::{BufferWriter, ColorChoice, WriteColor};

/// More threads gain nothing.
const THREADS_MAX: usize = 12;

/// Named files up to which they are mapped into memory.
const MAPPED_MAX: usize = 10;

pub(crate) fn run(
    mut arguments: Arguments,
    cache: Option<&Path>,
    diagnostics: &Diagnostics,
) -> Result<Outcome> {
    arguments.mode = match arguments.mode {
        Mode::Search(Output::CountMatches) if arguments.invert_match => Mode::Search(Output::Count),
        Mode::Search(Output::Count) if arguments.only_matching => {
            Mode::Search(Output::CountMatches)
        }
        mode => mode,
    };
    let input = Input::new(&mut arguments)?;
    let mut run = Run::new(arguments, input, diagnostics)?;
    let is_quiet = run.arguments.quiet;
    let mut session = None;
    if run.matcher.is_some() || run.arguments.mode == Mode::Files {
        let search = run.matcher.clone().map(|matcher| Search {
            matcher,
            searcher: run.searcher().into(),
        });
        let begun = Session::begin(cache, &run.arguments, &run.input, search);
        run.selection.clone_from(&begun.selection);
        session = Some(begun);
    }
    let has_match = match run.arguments.mode {
        Mode::Types => return run.types(),
        Mode::Files => run.files()?,
        Mode::Search(output) => match run.matcher.clone() {
            None => false,
            Some(matcher) if run.threads == 1 => run.search_in_order(output, matcher)?,
            Some(matcher) => run.search(output, matcher)?,
        },
    };
    if let Some(session) = session {
        session.end(run.searched.into_inner(), run.started.elapsed());
    }
    Ok(match (has_match, diagnostics.has_errors()) {
        (true, has_errors) if is_quiet || !has_errors => Outcome::Match,
        (_, true) => Outcome::Error,
        (_, false) => Outcome::NoMatch,
    })
}

struct Run<'a> {
    arguments: Arguments,
    input: Input,
    diagnostics: &'a Diagnostics,
    started: Instant,
    colors: ColorSpecs,
    color: ColorChoice,
    hyperlinks: HyperlinkConfig,
    detection: Detection,
    /// `None` if nothing can match, or without a search.
    matcher: Option<RegexMatcher>,
    heading: bool,
    is_terminal: bool,
    line_number: bool,
    with_filename: bool,
    threads: usize,
    counts: bool,
    /// Between the lines of two files.
    file_separator: Option<Vec<u8>>,
    /// Files that the index did not rule out.
    selection: Option<Arc<Selection>>,
    searched: AtomicU64,
}

impl<'a> Run<'a> {
    fn new(
        mut arguments: Arguments,
        input: Input,
        diagnostics: &'a Diagnostics,
    ) -> Result<Run<'a>> {
        let is_terminal = io::stdout().is_terminal();
        let mut colors = default_color_specs();
        colors.append(&mut arguments.colors);
        let heading = !arguments.vimgrep && arguments.heading.unwrap_or(is_terminal);
        let threads = match arguments.threads {
            _ if arguments.sort.is_some() || input.is_one_file => 1,
            Some(threads) => threads,
            None => thread::available_parallelism().map_or(1, |n| n.get().min(THREADS_MAX)),
        };
        let is_search = matches!(arguments.mode, Mode::Search(_));
        let detection = detection(&arguments);
        let is_json = arguments.mode == Mode::Search(Output::Json);
        let matcher = matcher(&arguments, &input, &detection)
            .inspect_err(|_| report_sorted(&arguments, &input, diagnostics))?;
        Ok(Run {
            started: Instant::now(),
            colors: ColorSpecs::new(&colors),
            color: match arguments.color {
                Color::Auto if !is_terminal => ColorChoice::Never,
                Color::Never => ColorChoice::Never,
                Color::Auto => ColorChoice::Auto,
                Color::Always => ColorChoice::Always,
                Color::Ansi => ColorChoice::AlwaysAnsi,
            },
            hyperlinks: hyperlinks(&mut arguments),
            matcher,
            detection,
            heading,
            is_terminal,
            line_number: line_number(&arguments, &input, is_terminal),
            with_filename: arguments
                .with_filename
                .unwrap_or(arguments.vimgrep || !input.is_one_file),
            threads,
            counts: is_search && (arguments.stats || is_json),
            file_separator: file_separator(&arguments, heading),
            selection: None,
            searched: AtomicU64::new(0),
            arguments,
            input,
            diagnostics,
        })
    }

    /// One match answers the question.
    fn ends_at_match(&self) -> bool {
        self.arguments.quiet && !self.counts
    }

    fn types(&self) -> Result<Outcome> {
        let types = haystack::types(&self.arguments)?;
        let mut out = self.stdout();
        for definition in types.definitions() {
            let globs = definition.globs().join(", ");
            writeln!(out, "{}: {globs}", definition.name())?;
        }
        out.flush()?;
        Ok(match types.definitions() {
            [] => Outcome::NoMatch,
            _ => Outcome::Match,
        })
    }

    /// Prints the paths. Returns true if there is one.
    fn files(&self) -> Result<bool> {
        let mut builder = PathPrinterBuilder::new();
        builder
            .color_specs(self.colors.clone())
            .hyperlink(self.hyperlinks.clone())
            .separator(self.arguments.path_separator)
            .terminator(if self.arguments.null { b'\0' } else { b'\n' });
        let printer = Mutex::new(builder.build(self.stdout()));
        let has_file = AtomicBool::new(false);
        let failure = Mutex::new(None);
        self.each_haystack(|haystack| {
            has_file.store(true, Ordering::Relaxed);
            if self.ends_at_match() {
                return WalkState::Quit;
            }
            let written = printer.lock().expect(UNPOISONED).write(haystack.path());
            match written {
                Ok(()) => WalkState::Continue,
                Err(error) => {
                    *failure.lock().expect(UNPOISONED) = Some(error);
                    WalkState::Quit
                }
            }
        })?;
        match failure.into_inner().expect(UNPOISONED) {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(has_file.into_inner()),
        }
    }

    /// Walks with all threads, or in the order asked for.
    fn each_haystack(&self, visit: impl Fn(&Haystack) -> WalkState + Sync) -> Result<()> {
        if self.threads == 1 {
            for haystack in self.haystacks()? {
                if visit(&haystack) == WalkState::Quit {
                    break;
                }
            }
            return Ok(());
        }
        self.walk()?.build_parallel().run(|| {
            Box::new(|step| match self.haystack(step) {
                Some(haystack) => visit(&haystack),
                None => WalkState::Continue,
            })
        });
        Ok(())
    }

    fn haystack(&self, step: Result<ignore::DirEntry, ignore::Error>) -> Option<Haystack> {
        Haystack::new(step, self.input.is_implicit, self.diagnostics)
    }

    fn haystacks(&self) -> Result<Box<dyn Iterator<Item = Haystack> + '_>> {
        let walk = self.walk()?.build();
        let haystacks = walk.filter_map(|step| self.haystack(step));
        Ok(match self.arguments.sort {
            Some(sort) if !haystack::is_walked_in_order(sort) => {
                Box::new(haystack::sorted(haystacks, sort).into_iter())
            }
            _ => Box::new(haystacks),
        })
    }

    fn walk(&self) -> Result<ignore::WalkBuilder> {
        let mut builder =
            haystack::walk(&self.arguments, &self.input, self.threads, self.diagnostics)?;
        if let Some(selection) = self.selection.clone() {
            builder.filter_entry(move |entry| selection.has(entry));
        }
        Ok(builder)
    }

    fn has_file(&self) -> Result<bool> {
        let silent = self.diagnostics.silent();
        let walk = haystack::walk(&self.arguments, &self.input, 1, &silent)?.build();
        let mut files =
            walk.filter_map(|step| Haystack::new(step, self.input.is_implicit, &silent));
        Ok(files.next().is_some())
    }

    /// Searches the files one after the other. Returns true if there is a match.
    fn search_in_order(&self, output: Output, matcher: RegexMatcher) -> Result<bool> {
        // Walks first, as ripgrep does, if the files are sorted by anything but their path.
        let haystacks = self.haystacks()?;
        let mut worker = self.worker(matcher, self.printer(output, self.stdout()))?;
        let mut totals = Totals::default();
        for haystack in haystacks {
            self.searched.fetch_add(1, Ordering::Relaxed);
            match worker.search(&haystack) {
                Ok(found) => totals.add(found.has_match, found.stats.as_ref()),
                Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
                Err(error) => self.report(&haystack, &error),
            }
            if totals.has_match && self.ends_at_match() {
                break;
            }
        }
        self.end(&totals, output, worker.output())
    }

    /// Searches files in all threads, and prints them as they are done.
    fn search(&self, output: Output, matcher: RegexMatcher) -> Result<bool> {
        let mut writer = BufferWriter::stdout(self.color);
        writer.separator(self.file_separator.clone());
        let mut worker = self.worker(matcher, self.printer(output, writer.buffer()))?;
        let totals = Mutex::new(Totals::default());
        self.walk()?.build_parallel().run(|| {
            let mut worker = worker.clone();
            let (writer, totals) = (&writer, &totals);
            Box::new(move |step| {
                let Some(haystack) = self.haystack(step) else {
                    return WalkState::Continue;
                };
                worker.output().clear();
                let found = worker.search(&haystack);
                self.searched.fetch_add(1, Ordering::Relaxed);
                let mut totals = totals.lock().expect(UNPOISONED);
                match found {
                    Ok(found) => totals.add(found.has_match, found.stats.as_ref()),
                    Err(error) => {
                        self.report(&haystack, &error);
                        return WalkState::Continue;
                    }
                }
                let is_over = totals.has_match && self.ends_at_match();
                drop(totals);
                match writer.print(worker.output()) {
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => return WalkState::Quit,
                    Err(error) => self.report(&haystack, &error),
                    Ok(()) => {}
                }
                if is_over {
                    WalkState::Quit
                } else {
                    WalkState::Continue
                }
            })
        });
        let totals = totals.into_inner().expect(UNPOISONED);
        worker.output().clear();
        let has_match = self.end(&totals, output, worker.output())?;
        // Only the statistics are left, and their reader may be gone.
        let _ = writer.print(worker.output());
        Ok(has_match)
    }

    /// Says how files were left out that the statistics do not count.
    fn write_index(&self, output: Output, out: &mut impl Write) -> io::Result<()> {
        let is_shown = output != Output::Json && self.diagnostics.program() == Program::TrawlGrep;
        match self.selection.as_ref().filter(|_| is_shown) {
            Some(selection) => writeln!(out, "index: {}", selection.kind()),
            None => Ok(()),
        }
    }

    fn report(&self, haystack: &Haystack, error: &io::Error) {
        let path = haystack.path().display();
        self.diagnostics.error(&format!("{path}: {error}"));
    }

    fn end(&self, totals: &Totals, output: Output, out: &mut impl Write) -> Result<bool> {
        let is_none_searched = self.searched.load(Ordering::Relaxed) == 0;
        let is_filtered = self.input.is_implicit && is_none_searched;
        if is_filtered && (self.selection.is_none() || !self.has_file()?) {
            self.diagnostics.error(
                &"No files were searched, which means ripgrep probably applied a filter you didn't \
                  expect.\nRunning with --debug will show why files are being skipped.",
            );
        }
        if self.counts {
            let written = write_stats(output, &totals.stats, self.started, out)
                .and_then(|()| self.write_index(output, out));
            if let Err(error) = written
                && error.kind() != ErrorKind::BrokenPipe
            {
                return Err(error.into());
            }
        }
        Ok(totals.has_match)
    }

    fn stdout(&self) -> StandardStream {
        match self.arguments.buffer {
            Buffer::Auto if self.is_terminal => grep::cli::stdout_buffered_line(self.color),
            Buffer::Line => grep::cli::stdout_buffered_line(self.color),
            Buffer::Auto | Buffer::Block => grep::cli::stdout_buffered_block(self.color),
        }
    }

    fn worker<W: WriteColor>(
        &self,
        matcher: RegexMatcher,
        printer: Printer<W>,
    ) -> Result<Worker<W>> {
        let searcher = self.searcher();
        let detection = self.detection.clone();
        Worker::new(
            &self.arguments,
            &self.input,
            matcher,
            searcher,
            printer,
            detection,
        )
    }

    fn searcher(&self) -> Searcher {
        let arguments = &self.arguments;
        let terminator = if arguments.crlf {
            LineTerminator::crlf()
        } else {
            LineTerminator::byte(if arguments.null_data { b'\0' } else { b'\n' })
        };
        let (before, after) = arguments.context.lines();
        let mut builder = SearcherBuilder::new();
        builder
            .max_matches(arguments.max_count)
            .line_terminator(terminator)
            .invert_match(arguments.invert_match)
            .line_number(self.line_number)
            .multi_line(arguments.multiline)
            .memory_map(self.mmap())
            .stop_on_nonmatch(arguments.stop_on_nonmatch)
            .passthru(arguments.context.is_passthru)
            .before_context(before)
            .after_context(after);
        match &arguments.encoding {
            TextEncoding::Auto => {}
            TextEncoding::Named(encoding) => {
                builder.encoding(Some(encoding.clone()));
            }
            TextEncoding::Disabled => {
                builder.bom_sniffing(false);
            }
        }
        builder.build()
    }

    #[expect(unsafe_code)]
    fn mmap(&self) -> MmapChoice {
        let paths = &self.input.paths;
        let are_few_files = paths.len() <= MAPPED_MAX && paths.iter().all(|path| path.is_file());
        match self.arguments.mmap {
            Mmap::Never => MmapChoice::never(),
            Mmap::Auto if !are_few_files => MmapChoice::never(),
            // SAFETY: the map is only read while the file is searched. A file that is cut meanwhile
            // ends the process, as it ends ripgrep.
            Mmap::Auto | Mmap::Always => unsafe { MmapChoice::auto() },
        }
    }

    fn printer<W: WriteColor>(&self, output: Output, out: W) -> Printer<W> {
        let kind = match output {
            Output::FilesWithoutMatch if self.arguments.quiet => SummaryKind::QuietWithoutMatch,
            _ if self.arguments.quiet => SummaryKind::QuietWithMatch,
            Output::FilesWithMatches => SummaryKind::PathWithMatch,
            Output::FilesWithoutMatch => SummaryKind::PathWithoutMatch,
            Output::Count => SummaryKind::Count,
            Output::CountMatches => SummaryKind::CountMatches,
            Output::Lines => return Printer::Standard(self.standard(out)),
            Output::Json => {
                let mut builder = JSONBuilder::new();
                builder.replacement(self.arguments.replace.clone());
                return Printer::Json(builder.build(out));
            }
        };
        Printer::Summary(self.summary(out, kind))
    }

    fn standard<W: WriteColor>(&self, out: W) -> Standard<W> {
        let arguments = &self.arguments;
        let mut builder = StandardBuilder::new();
        builder
            .byte_offset(arguments.byte_offset)
            .color_specs(self.colors.clone())
            .column(arguments.column.unwrap_or(arguments.vimgrep))
            .heading(self.heading)
            .hyperlink(self.hyperlinks.clone())
            .max_columns(arguments.max_columns)
            .max_columns_preview(arguments.max_columns_preview)
            .only_matching(arguments.only_matching)
            .path(self.with_filename)
            .path_terminator(arguments.null.then_some(b'\0'))
            .per_match(arguments.vimgrep)
            .per_match_one_line(true)
            .replacement(arguments.replace.clone())
            .separator_context(arguments.context_separator.0.clone())
            .separator_path(arguments.path_separator)
            .stats(self.counts)
            .trim_ascii(arguments.trim);
        if let Some(separator) = &arguments.field_context_separator {
            builder.separator_field_context(separator.clone());
        }
        if let Some(separator) = &arguments.field_match_separator {
            builder.separator_field_match(separator.clone());
        }
        // With several threads, the writer of their buffers prints it.
        if self.threads == 1 {
            builder.separator_search(self.file_separator.clone());
        }
        builder.build(out)
    }

    fn summary<W: WriteColor>(&self, out: W, kind: SummaryKind) -> Summary<W> {
        SummaryBuilder::new()
            .color_specs(self.colors.clone())
            .exclude_zero(!self.arguments.include_zero)
            .hyperlink(self.hyperlinks.clone())
            .kind(kind)
            .path(self.with_filename)
            .path_terminator(self.arguments.null.then_some(b'\0'))
            .separator_path(self.arguments.path_separator)
            .stats(self.counts)
            .build(out)
    }
}

/// A panic of a thread ends the process.
const UNPOISONED: &str = "no thread panics with the lock";

#[derive(Default)]
struct Totals {
    has_match: bool,
    stats: Stats,
}

impl Totals {
    fn add(&mut self, has_match: bool, stats: Option<&Stats>) {
        self.has_match |= has_match;
        if let Some(stats) = stats {
            self.stats += stats;
        }
    }
}

/// Reports the paths that cannot be walked, if files are sorted by a time: ripgrep then walks
/// before it reads the pattern.
fn report_sorted(arguments: &Arguments, input: &Input, diagnostics: &Diagnostics) {
    let is_first = |sort| !haystack::is_walked_in_order(sort);
    if arguments.sort.is_some_and(is_first)
        && let Ok(walk) = haystack::walk(arguments, input, 1, diagnostics)
    {
        for step in walk.build() {
            Haystack::new(step, input.is_implicit, diagnostics);
        }
    }
}

/// Matcher of the patterns, if they can match.
fn matcher(
    arguments: &Arguments,
    input: &Input,
    detection: &Detection,
) -> Result<Option<RegexMatcher>> {
    let is_search = matches!(arguments.mode, Mode::Search(_));
    let has_pattern = !input.patterns.is_empty() || arguments.invert_match;
    if !is_search || !has_pattern || arguments.max_count == Some(0) {
        return Ok(None);
    }
    let none = BinaryDetection::none();
    let bans_nul = detection.named != none || detection.found != none;
    pattern::matcher(arguments, &input.patterns, bans_nul).map(Some)
}

fn detection(arguments: &Arguments) -> Detection {
    let convert = BinaryDetection::convert(b'\0');
    let (named, found) = match arguments.binary {
        _ if arguments.null_data => (BinaryDetection::none(), BinaryDetection::none()),
        Binary::AsText => (BinaryDetection::none(), BinaryDetection::none()),
        Binary::SearchAndSuppress => (convert.clone(), convert),
        Binary::Auto => (convert, BinaryDetection::quit(b'\0')),
    };
    Detection { named, found }
}

fn line_number(arguments: &Arguments, input: &Input, is_terminal: bool) -> bool {
    if let Some(line_number) = arguments.line_number {
        return line_number;
    }
    match arguments.mode {
        _ if arguments.quiet => false,
        Mode::Search(Output::Json) => true,
        Mode::Search(Output::Lines) => {
            let column = arguments.column.unwrap_or(false);
            (is_terminal && !input.is_only_stdin()) || column || arguments.vimgrep
        }
        _ => false,
    }
}

fn file_separator(arguments: &Arguments, heading: bool) -> Option<Vec<u8>> {
    let has_context = !arguments.context.is_passthru && arguments.context.lines() != (0, 0);
    match arguments.mode {
        Mode::Search(Output::Lines) if heading => Some(Vec::new()),
        Mode::Search(Output::Lines) if has_context => arguments.context_separator.0.clone(),
        _ => None,
    }
}

fn hyperlinks(arguments: &mut Arguments) -> HyperlinkConfig {
    let mut environment = HyperlinkEnvironment::new();
    if let Some(host) = host(arguments.hostname_bin.as_deref()) {
        environment.host(Some(host));
    }
    if let Ok(distribution) = env::var("WSL_DISTRO_NAME") {
        environment.wsl_prefix(Some(format!("wsl$/{distribution}")));
    }
    HyperlinkConfig::new(environment, mem::take(&mut arguments.hyperlink_format))
}

/// Output of `command`; without one or any, the host name of the system.
fn host(command: Option<&Path>) -> Option<String> {
    let printed = command.and_then(|command| {
        let program = grep::cli::resolve_binary(command).ok()?;
        let output = Command::new(program).stdin(Stdio::null()).output().ok()?;
        let host = String::from_utf8(output.stdout).ok()?;
        Some(host.trim().to_owned()).filter(|host| !host.is_empty())
    });
    printed.or_else(|| grep::cli::hostname().ok()?.into_string().ok())
}

/// Writes the statistics, of files that were opened.
fn write_stats(
    output: Output,
    stats: &Stats,
    started: Instant,
    out: &mut impl Write,
) -> io::Result<()> {
    let elapsed = started.elapsed();
    if output == Output::Json {
        let summary = serde_json::json!({
            "type": "summary",
            "data": {
                "stats": stats,
                "elapsed_total": {
                    "secs": elapsed.as_secs(),
                    "nanos": elapsed.subsec_nanos(),
                    "human": format!("{:0.6}s", elapsed.as_secs_f64()),
                },
            },
        });
        return writeln!(out, "{summary}");
    }
    writeln!(
        out,
        "\n{} matches\n{} matched lines\n{} files contained matches\n{} files searched\n\
         {} bytes printed\n{} bytes searched\n{:0.6} seconds spent searching\n{:0.6} seconds total",
        stats.matches(),
        stats.matched_lines(),
        stats.searches_with_match(),
        stats.searches(),
        stats.bytes_printed(),
        stats.bytes_searched(),
        stats.elapsed().as_secs_f64(),
        elapsed.as_secs_f64(),
    )
}
