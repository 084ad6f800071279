//! Search of one file at a time.

use crate::arguments::Arguments;
use crate::haystack::{self, Haystack};
use crate::input::Input;
use anyhow::Result;
use grep::cli::{CommandReaderBuilder, DecompressionReader, DecompressionReaderBuilder};
use grep::printer::{JSON, Standard, Stats, Summary};
use grep::regex::RegexMatcher;
use grep::searcher::{BinaryDetection, Searcher, Sink};
use ignore::overrides::Override;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use termcolor::WriteColor;

/// Detection of binary files: named ones, and those found by walking.
#[derive(Clone)]
pub(crate) struct Detection {
    pub(crate) named: BinaryDetection,
    pub(crate) found: BinaryDetection,
}

#[derive(Clone)]
pub(crate) enum Printer<W> {
    Standard(Standard<W>),
    Summary(Summary<W>),
    Json(JSON<W>),
}

impl<W: WriteColor> Printer<W> {
    pub(crate) fn output(&mut self) -> &mut W {
        match self {
            Printer::Standard(printer) => printer.get_mut(),
            Printer::Summary(printer) => printer.get_mut(),
            Printer::Json(printer) => printer.get_mut(),
        }
    }
}

pub(crate) struct Found {
    pub(crate) has_match: bool,
    /// Present if the printer counts.
    pub(crate) stats: Option<Stats>,
}

#[derive(Clone)]
pub(crate) struct Worker<W> {
    matcher: RegexMatcher,
    searcher: Searcher,
    printer: Printer<W>,
    detection: Detection,
    preprocessor: Option<PathBuf>,
    preprocessed: Override,
    decompression: Option<DecompressionReaderBuilder>,
}

impl<W: WriteColor> Worker<W> {
    pub(crate) fn new(
        arguments: &Arguments,
        input: &Input,
        matcher: RegexMatcher,
        searcher: Searcher,
        printer: Printer<W>,
        detection: Detection,
    ) -> Result<Worker<W>> {
        let preprocessor = arguments.pre.as_deref();
        let decompression = arguments.search_zip.then(|| {
            let mut builder = DecompressionReaderBuilder::new();
            builder.async_stderr(true);
            builder
        });
        Ok(Worker {
            matcher,
            searcher,
            printer,
            detection,
            preprocessor: preprocessor.map(grep::cli::resolve_binary).transpose()?,
            preprocessed: haystack::preprocessed(arguments, input)?,
            decompression,
        })
    }

    pub(crate) fn output(&mut self) -> &mut W {
        self.printer.output()
    }

    pub(crate) fn search(&mut self, haystack: &Haystack) -> io::Result<Found> {
        let detection = match haystack.is_named() {
            true => self.detection.named.clone(),
            false => self.detection.found.clone(),
        };
        self.searcher.set_binary_detection(detection);
        let path = haystack.path();
        if haystack.is_stdin() {
            self.read(path, io::stdin().lock())
        } else if let Some(command) = self.preprocessor_of(path) {
            self.preprocess(path, command)
        } else if let Some(reader) = self.decompressed(path) {
            let mut reader = reader?;
            let found = self.read(path, &mut reader);
            let closed = reader.close();
            let found = found?;
            closed?;
            Ok(found)
        } else {
            self.open(path)
        }
    }

    fn preprocessor_of(&self, path: &Path) -> Option<Command> {
        let is_for =
            self.preprocessed.is_empty() || !self.preprocessed.matched(path, false).is_ignore();
        let program = self.preprocessor.as_ref().filter(|_| is_for)?;
        let mut command = Command::new(program);
        command.arg(path);
        Some(command)
    }

    fn decompressed(&self, path: &Path) -> Option<io::Result<DecompressionReader>> {
        let builder = self.decompression.as_ref()?;
        let is_packed = builder.get_matcher().has_command(path);
        is_packed.then(|| builder.build(path).map_err(io::Error::from))
    }

    fn preprocess(&mut self, path: &Path, mut command: Command) -> io::Result<Found> {
        command.stdin(Stdio::from(File::open(path)?));
        let started = CommandReaderBuilder::new()
            .async_stderr(true)
            .build(&mut command);
        let mut reader = started.map_err(|error| {
            io::Error::other(format!(
                "preprocessor command could not start: '{command:?}': {error}"
            ))
        })?;
        let found = self.read(path, &mut reader).map_err(|error| {
            io::Error::other(format!(
                "preprocessor command failed: '{command:?}': {error}"
            ))
        });
        let closed = reader.close();
        let found = found?;
        closed?;
        Ok(found)
    }

    fn open(&mut self, path: &Path) -> io::Result<Found> {
        self.run(path, Source::<io::Empty>::Path(path))
    }

    fn read(&mut self, path: &Path, reader: impl Read) -> io::Result<Found> {
        self.run(path, Source::Reader(reader))
    }

    fn run(&mut self, path: &Path, source: Source<'_, impl Read>) -> io::Result<Found> {
        let (searcher, matcher) = (&mut self.searcher, &self.matcher);
        let (has_match, stats) = match &mut self.printer {
            Printer::Standard(printer) => {
                let mut sink = printer.sink_with_path(matcher, path);
                source.search(searcher, matcher, &mut sink)?;
                (sink.has_match(), sink.stats().cloned())
            }
            Printer::Summary(printer) => {
                let mut sink = printer.sink_with_path(matcher, path);
                source.search(searcher, matcher, &mut sink)?;
                (sink.has_match(), sink.stats().cloned())
            }
            Printer::Json(printer) => {
                let mut sink = printer.sink_with_path(matcher, path);
                source.search(searcher, matcher, &mut sink)?;
                (sink.has_match(), Some(sink.stats().clone()))
            }
        };
        Ok(Found { has_match, stats })
    }
}

/// Text of a file: its own, or that of a command.
enum Source<'a, R> {
    Path(&'a Path),
    Reader(R),
}

impl<R: Read> Source<'_, R> {
    fn search(
        self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        sink: impl Sink<Error = io::Error>,
    ) -> io::Result<()> {
        match self {
            Source::Path(path) => searcher.search_path(matcher, path, sink),
            Source::Reader(reader) => searcher.search_reader(matcher, reader, sink),
        }
    }
}
