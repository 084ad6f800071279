//! Prints the classes of the bytes of files: `path`, a tab and the language, then a line `start end
//! class` for each run. Paths come from standard input, each ended by a NUL.

use language::Language;
use language::symbols::Symbols;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

fn main() -> io::Result<()> {
    let mut list = Vec::new();
    io::stdin().read_to_end(&mut list)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let (mut bytes, mut time) = (0, Duration::ZERO);
    for path in list.split(|&byte| byte == 0).filter(|it| !it.is_empty()) {
        let Some(language) = Language::of_path(path) else {
            continue;
        };
        let text = fs::read(OsStr::from_bytes(path))?;
        let begin = Instant::now();
        let symbols = Symbols::of(Some(language), &text);
        time += begin.elapsed();
        bytes += text.len();
        out.write_all(path)?;
        writeln!(out, "\t{}", language.name)?;
        for run in &symbols.runs {
            let (range, class) = (&run.range, run.class.name());
            writeln!(out, "{} {} {class}", range.start, range.end)?;
        }
    }
    out.flush()?;
    let rate = bytes as f64 / 1e6 / time.as_secs_f64();
    eprintln!("{bytes} bytes, {rate:.0} MB/s");
    Ok(())
}
