//! API key of a server, from a file or variable: other users can read flags.

use crate::cache_dir::{read_small, user_dir};
use crate::terminal::escaped;
use anyhow::{Context, Result, bail};
use std::path::Path;

const FILE_BYTES_MAX: u64 = 64 << 10;

const VARIABLE: &str = "TRAWL_KEY";

/// Key for `url` from the named file, the variable, or the server's line in the user's file.
pub(super) fn find(file: Option<&Path>, url: &str) -> Result<Option<String>> {
    if let Some(file) = file {
        let text = read_small(file, "the key in", FILE_BYTES_MAX)?;
        let shown = || escaped(&*file.to_string_lossy()).into_owned();
        return Ok(Some(checked(&text).with_context(shown)?));
    }
    if let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
        let text = text.to_string_lossy();
        return Ok(Some(checked(&text).context(VARIABLE)?));
    }
    let own = user_dir("XDG_CONFIG_HOME", ".config").map(|directory| directory.join("trawl/keys"));
    let Some(own) = own.filter(|own| own.is_file()) else {
        return Ok(None);
    };
    let text = read_small(&own, "the keys in", FILE_BYTES_MAX)?;
    let shown = || escaped(&*own.to_string_lossy()).into_owned();
    in_list(&text, url).with_context(shown)
}

/// Each line has a URL and a key.
fn in_list(text: &str, url: &str) -> Result<Option<String>> {
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((server, key)) = line.split_once(char::is_whitespace) else {
            bail!("line {number}: expected the URL of a server and its key");
        };
        if server.trim_end_matches('/') == url.trim_end_matches('/') {
            let key = checked(key).with_context(|| format!("line {number}"))?;
            return Ok(Some(key));
        }
    }
    Ok(None)
}

/// Errors do not show the key.
fn checked(text: &str) -> Result<String> {
    let key = text.trim();
    if key.is_empty() {
        bail!("no key; `trawl key NAME` makes one for the operator of the server");
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!(
            "expected a key and nothing else; the line with a name and a hash is for the server, and the key \
             is what `trawl key NAME` prints above it"
        );
    }
    Ok(key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_sent_only_to_the_server_on_its_line() {
        let list = "# servers\n\nhttp://a:1/ key-a\nhttp://b\tkey-b \n";
        let find = |url| in_list(list, url).unwrap();
        assert_eq!(find("http://a:1").as_deref(), Some("key-a"));
        assert_eq!(find("http://b/").as_deref(), Some("key-b"));
        for other in [
            "http://a",
            "http://a:12",
            "https://b",
            "http://b.evil.example",
        ] {
            assert_eq!(find(other), None, "{other}");
        }
        let error = |list| format!("{:#}", in_list(list, "http://a").unwrap_err());
        assert!(error("#\nkey-a").contains("line 2: expected the URL"));
        assert!(error("http://a key a").contains("line 1: expected a key and nothing else"));
    }

    #[test]
    fn a_file_with_anything_but_a_key_is_refused_without_showing_it() {
        assert_eq!(checked(" a-key\r\n").unwrap(), "a-key");
        for (text, expected) in [
            ("", "no key"),
            ("\n", "no key"),
            ("robot blake3:00", "expected a key"),
            ("a-key\nb-key", "expected a key"),
            ("schlüssel", "expected a key"),
        ] {
            let error = checked(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(text.trim().is_empty() || !error.contains(text), "{error}");
        }
    }
}
