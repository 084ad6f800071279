//! Messages on stderr, and their effect on the exit status.

use crate::arguments::{Arguments, Logging};
use crate::program::Program;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) struct Diagnostics {
    program: Program,
    shows_errors: AtomicBool,
    shows_ignore_errors: AtomicBool,
    /// A file or directory was not searched.
    has_errors: AtomicBool,
}

impl Diagnostics {
    pub(crate) fn new(program: Program) -> Diagnostics {
        Diagnostics {
            program,
            shows_errors: AtomicBool::new(true),
            shows_ignore_errors: AtomicBool::new(true),
            has_errors: AtomicBool::new(false),
        }
    }

    pub(crate) fn program(&self) -> Program {
        self.program
    }

    pub(crate) fn silent(&self) -> Diagnostics {
        Diagnostics {
            program: self.program,
            shows_errors: AtomicBool::new(false),
            shows_ignore_errors: AtomicBool::new(false),
            has_errors: AtomicBool::new(false),
        }
    }

    pub(crate) fn configure(&self, arguments: &Arguments) {
        let shows = !arguments.no_messages;
        self.shows_errors.store(shows, Ordering::Relaxed);
        let shows_ignore = shows && !arguments.no_ignore_messages;
        self.shows_ignore_errors
            .store(shows_ignore, Ordering::Relaxed);
        if let Some(logging) = arguments.logging {
            StderrLog::install(logging);
        }
    }

    /// Reports an error that makes the answer incomplete.
    pub(crate) fn error(&self, message: &dyn Display) {
        self.has_errors.store(true, Ordering::Relaxed);
        self.warn(message);
    }

    pub(crate) fn warn(&self, message: &dyn Display) {
        if self.shows_errors.load(Ordering::Relaxed) {
            self.print(message);
        }
    }

    /// Reports a mistake in an ignore file.
    pub(crate) fn ignore_error(&self, message: &dyn Display) {
        if self.shows_ignore_errors.load(Ordering::Relaxed) {
            self.print(message);
        }
    }

    /// Prints a message between whole writes to stdout.
    pub(crate) fn print(&self, message: &dyn Display) {
        let _stdout = io::stdout().lock();
        let written = writeln!(io::stderr().lock(), "{}: {message}", self.program.prefix());
        if let Err(error) = written {
            let is_closed = error.kind() == ErrorKind::BrokenPipe;
            process::exit(if is_closed { 0 } else { 2 });
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.has_errors.load(Ordering::Relaxed)
    }
}

/// Log of `--debug` and `--trace`, mostly the reasons for which files are left out.
struct StderrLog;

impl StderrLog {
    fn install(logging: Logging) {
        // Fails if it is installed: flags are parsed twice.
        let _ = log::set_logger(&StderrLog);
        log::set_max_level(match logging {
            Logging::Debug => log::LevelFilter::Debug,
            Logging::Trace => log::LevelFilter::Trace,
        });
    }
}

impl log::Log for StderrLog {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let file = record.file().unwrap_or("?");
        let line = record.line().unwrap_or(0);
        eprintln!(
            "{}|{}|{file}:{line}: {}",
            record.level(),
            record.target(),
            record.args()
        );
    }

    fn flush(&self) {}
}
