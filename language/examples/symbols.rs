//! Prints the definitions of files: `path name kind line form parent`, separated by tabs. Paths are
//! arguments, or, with `-`, come from standard input, each ended by a NUL.

use language::Language;
use language::symbols::{Parent, Symbols};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::{Duration, Instant};
use std::{env, fs};

fn main() -> io::Result<()> {
    let mut paths: Vec<Vec<u8>> = env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    if paths.first().is_some_and(|first| first == b"-") {
        let mut list = Vec::new();
        io::stdin().read_to_end(&mut list)?;
        let names = list.split(|&byte| byte == 0);
        paths = names
            .filter(|name| !name.is_empty())
            .map(<[u8]>::to_vec)
            .collect();
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let (mut bytes, mut time) = (0, Duration::ZERO);
    for path in &paths {
        let text = fs::read(std::ffi::OsStr::from_bytes(path))?;
        let begin = Instant::now();
        let symbols = Symbols::of(Language::of(path, &text), &text);
        time += begin.elapsed();
        bytes += text.len();
        print(&mut out, path, &text, &symbols)?;
    }
    out.flush()?;
    let rate = bytes as f64 / 1e6 / time.as_secs_f64();
    eprintln!("{bytes} bytes, {rate:.0} MB/s");
    Ok(())
}

fn print(out: &mut impl Write, path: &[u8], text: &[u8], symbols: &Symbols) -> io::Result<()> {
    let (mut line, mut at) = (1, 0);
    let name = |range: &std::ops::Range<u32>| {
        let name = &text[range.start as usize..range.end as usize];
        name.iter()
            .map(|&byte| if byte == b'\t' { b' ' } else { byte })
            .collect::<Vec<_>>()
    };
    for it in &symbols.definitions {
        let start = it.name.start as usize;
        line += memchr::memchr_iter(b'\n', &text[at..start]).count();
        at = start;
        let parent = match &it.parent {
            Parent::None => Vec::new(),
            Parent::Name(range) => name(range),
            Parent::Definition(index) => name(&symbols.definitions[*index as usize].name),
        };
        let form = if it.is_declaration {
            "declaration"
        } else {
            "body"
        };
        out.write_all(path)?;
        out.write_all(b"\t")?;
        out.write_all(&name(&it.name))?;
        write!(out, "\t{}\t{line}\t{form}\t", it.kind.name())?;
        out.write_all(&parent)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
