//! Repositories of the command line and a file.
//!
//! Lines have a URL and, after a space, an optional name. `#` begins a comment.

use super::remote::{Remote, Scheme};
use anyhow::{Context, Result, bail, ensure};
use std::collections::HashMap;
use std::path::Path;

/// About 100,000 lines.
const FILE_BYTES_MAX: u64 = 10 << 20;

/// Two with the same directory are an error.
pub(crate) fn remotes(
    urls: &[String],
    file: Option<&Path>,
    allowed: &[Scheme],
) -> Result<Vec<Remote>> {
    let mut remotes = Vec::new();
    for url in urls {
        let remote = Remote::parse(url, None, allowed).with_context(|| format!("`{url}`"))?;
        remotes.push((remote, "the command line".to_owned()));
    }
    if let Some(file) = file {
        let text = crate::cache_dir::read_small(file, "the list of repositories", FILE_BYTES_MAX)?;
        let listed = parse(&text, allowed, &file.display().to_string())?;
        ensure!(
            !listed.is_empty(),
            "{}: no repository is listed; write a URL on each line",
            file.display()
        );
        remotes.extend(listed);
    }
    check_distinct(&remotes)?;
    Ok(remotes.into_iter().map(|(remote, _)| remote).collect())
}

fn parse(text: &str, allowed: &[Scheme], file: &str) -> Result<Vec<(Remote, String)>> {
    let mut remotes = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let Some(url) = words.next() else { continue };
        let place = format!("{file}:{number}");
        let name = words.next();
        if let Some(word) = words.next() {
            bail!("{place}: `{word}` is too much; a line has a URL and a name");
        }
        let remote = Remote::parse(url, name, allowed);
        remotes.push((remote.with_context(|| format!("{place}: `{url}`"))?, place));
    }
    Ok(remotes)
}

/// File systems may ignore case.
fn check_distinct(remotes: &[(Remote, String)]) -> Result<()> {
    let mut known = HashMap::new();
    for (remote, place) in remotes {
        if let Some((other, there)) = known.insert(remote.name.to_lowercase(), (remote, place)) {
            bail!(
                "two repositories would be in `{}.git`: {} ({there}) and {} ({place}); give one of them \
                 another name in a --list file",
                remote.name,
                other.url,
                remote.url
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<Vec<String>> {
        let remotes = parse(text, &[Scheme::Https], "list")?;
        check_distinct(&remotes)?;
        let shown = remotes
            .iter()
            .map(|(it, _)| format!("{} {}", it.name, it.url));
        Ok(shown.collect())
    }

    #[test]
    fn a_line_has_a_url_and_an_optional_name() {
        let text = "# all\n\nhttps://a.org/x.git\r\n  https://a.org/y tools/why # because\n";
        let expected = ["x https://a.org/x.git", "tools/why https://a.org/y"];
        assert_eq!(list(text).unwrap(), expected);
    }

    #[test]
    fn mistakes_name_their_line() {
        let table = [
            (
                "https://a.org/x\nfile:///x",
                "list:2: `file:///x`: the scheme `file`",
            ),
            ("https://a.org/x x y", "list:1: `y` is too much"),
            (
                "https://a.org/x ../y",
                "list:1: `https://a.org/x`: `../y` cannot be",
            ),
            ("\n\next::x", "list:3: `ext::x`: programs"),
            (
                "https://a.org/x\nhttps://b.org/X",
                "(list:1) and https://b.org/X (list:2)",
            ),
        ];
        for (text, says) in table {
            let error = format!("{:#}", list(text).unwrap_err());
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
