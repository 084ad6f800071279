//! Words of the file that `RIPGREP_CONFIG_PATH` names, one a line.

use crate::diagnostics::Diagnostics;
use bstr::ByteSlice;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{env, fs};

pub(crate) fn words(diagnostics: &Diagnostics) -> Vec<OsString> {
    let path = env::var_os("RIPGREP_CONFIG_PATH").filter(|path| !path.is_empty());
    let Some(path) = path else { return Vec::new() };
    match fs::read(&path) {
        Ok(text) => words_of(&text),
        Err(error) => {
            let path = Path::new(&path).display();
            diagnostics.warn(&format!(
                "failed to read the file specified in RIPGREP_CONFIG_PATH: {path}: {error}"
            ));
            Vec::new()
        }
    }
}

fn words_of(text: &[u8]) -> Vec<OsString> {
    let lines = text.lines().map(ByteSlice::trim);
    let words = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    words
        .map(|word| OsStr::from_bytes(word).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_blank_lines_are_left_out() {
        let words =
            words_of(b"# Test\n--context=0\n   --smart-case  \r\n\n -u\n  #--bar\n--foo bar");
        assert_eq!(words, ["--context=0", "--smart-case", "-u", "--foo bar"]);
    }
}
