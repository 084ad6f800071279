//! Who may use the HTTP interfaces: other sites' pages, and clients with a key.

use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// The most that a file of keys may have: some thousand, each of which is compared for every request.
const KEYS_BYTES_MAX: u64 = 256 << 10;

/// Bytes of a key, at least: what is shorter can be guessed.
const KEY_BYTES_MIN: usize = 8;

/// The flags that `serve` and `frontend` share for access.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Access {
    /// A site whose pages may read the API, such as https://code.example.org, or * for all; give one
    /// for each
    #[arg(long = "cors-origin", value_name = "URL")]
    cors_origins: Vec<String>,
    /// Answer /api/v1 only to who has one of the keys in this file, one a line
    #[arg(long, value_name = "FILE")]
    dcs_api_keys: Option<PathBuf>,
}

impl Access {
    /// Reads the keys and checks the origins.
    pub(crate) fn options(&self) -> Result<web::Options> {
        Ok(web::Options::new(self.cors_origins.clone(), self.keys()?)?)
    }

    /// Reads the keys; none when no file is named.
    fn keys(&self) -> Result<Vec<String>> {
        let Some(path) = &self.dcs_api_keys else {
            return Ok(Vec::new());
        };
        let cannot_read = || format!("{}: the keys cannot be read", path.display());
        let bytes = std::fs::metadata(path).with_context(cannot_read)?.len();
        if bytes > KEYS_BYTES_MAX {
            let path = path.display();
            bail!("{path}: {bytes} bytes of keys, the most is {KEYS_BYTES_MAX}");
        }
        let text = std::fs::read_to_string(path).with_context(cannot_read)?;
        parse(&text).with_context(|| path.display().to_string())
    }
}

/// The keys in a file; lines that are empty or begin with `#` say nothing.
fn parse(text: &str) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let key = line.trim();
        if key.is_empty() || key.starts_with('#') {
            continue;
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            bail!("line {number}: a key has a character that no header can have");
        }
        if key.len() < KEY_BYTES_MIN {
            bail!("line {number}: a key is shorter than {KEY_BYTES_MIN} characters");
        }
        keys.push(key.to_owned());
    }
    if keys.is_empty() {
        bail!("there is no key in it: nobody could ask; leave the option out to let everybody");
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_line_is_a_key() {
        let keys = parse("# of the build robots\nfirst-key\r\n\n  second-key \n").unwrap();
        assert_eq!(keys, ["first-key", "second-key"]);
        for (text, says) in [
            ("", "no key"),
            ("# none\n", "no key"),
            ("long enough", "line 1"),
            ("first-key\nshort", "line 2: a key is shorter"),
            ("schlüssel", "no header can have"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
