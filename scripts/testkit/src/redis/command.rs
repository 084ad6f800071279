//! Commands: arrays of strings.

use std::io::{self, BufRead};

const STRINGS_MAX: usize = 64;
const BYTES_MAX: usize = 1 << 20;

/// Upper-case name.
pub(crate) struct Command {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Vec<u8>>,
}

impl Command {
    /// `None` at the end.
    pub(crate) fn read(reader: &mut impl BufRead) -> io::Result<Option<Command>> {
        let Some(count) = number(reader, b'*', STRINGS_MAX)? else {
            return Ok(None);
        };
        let mut strings = Vec::new();
        for _ in 0..count {
            let length = number(reader, b'$', BYTES_MAX)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            let mut string = vec![0; length + 2];
            reader.read_exact(&mut string)?;
            string.truncate(length);
            strings.push(string);
        }
        if strings.is_empty() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let name = String::from_utf8_lossy(&strings.remove(0)).to_uppercase();
        let arguments = strings;
        Ok(Some(Command { name, arguments }))
    }

    /// Empty if missing.
    pub(crate) fn text(&self, index: usize) -> String {
        let argument = self.arguments.get(index);
        argument.map_or_else(String::new, |it| String::from_utf8_lossy(it).into_owned())
    }
}

/// Follows `kind`.
fn number(reader: &mut impl BufRead, kind: u8, max: usize) -> io::Result<Option<usize>> {
    let mut line = Vec::new();
    if reader.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let text = line.strip_prefix(&[kind]).map(<[u8]>::trim_ascii);
    let number = text.and_then(|text| str::from_utf8(text).ok()?.parse().ok());
    let number: usize = number.ok_or(io::ErrorKind::InvalidData)?;
    if number > max {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Some(number))
}
