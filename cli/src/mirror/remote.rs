//! Remote of a mirror: a strictly checked URL and a directory name.
//!
//! Git, curl and ssh parse URLs differently, so only unambiguous forms are accepted.

use anyhow::{Context, Result, anyhow, bail, ensure};

const URL_BYTES_MAX: usize = 2_000;
const NAME_BYTES_MAX: usize = 200;

/// URL schemes of repositories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scheme {
    /// HTTP with TLS
    Https,
    /// HTTP without TLS; can be changed in transit
    Http,
    /// Login on the server
    Ssh,
    /// Git's own protocol; can be changed in transit
    Git,
    /// Directory of this machine
    File,
}

impl Scheme {
    /// Name in URLs and in git.
    pub(crate) fn name(self) -> &'static str {
        self.name_and_port().0
    }

    fn name_and_port(self) -> (&'static str, u16) {
        match self {
            Scheme::Https => ("https", 443),
            Scheme::Http => ("http", 80),
            Scheme::Ssh => ("ssh", 22),
            Scheme::Git => ("git", 9418),
            Scheme::File => ("file", 0),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) url: String,
    pub(crate) scheme: Scheme,
    /// Lower case, IPv6 without brackets; empty for a directory.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Path below all mirrors, without `.git`.
    pub(crate) name: String,
}

const NOT_A_URL: &str =
    "not a URL; write https://HOST/PATH (or ssh://USER@HOST/PATH, file:///PATH)";

impl Remote {
    /// The default name is the last part of the path.
    pub(crate) fn parse(url: &str, name: Option<&str>, allowed: &[Scheme]) -> Result<Remote> {
        let is_short = url.len() <= URL_BYTES_MAX;
        ensure!(is_short, "a URL has at most {URL_BYTES_MAX} bytes");
        let (scheme, rest) = scheme(url, allowed)?;
        let is_plain = |letter: &char| {
            letter.is_ascii_alphanumeric() || "-._~:/@[]!$&()*+,=%".contains(*letter)
        };
        if let Some(bad) = url.chars().find(|letter| !is_plain(letter)) {
            bail!("the character {bad:?} must not stand in the URL of a repository");
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let has_path = !path.trim_matches('/').is_empty();
        ensure!(has_path, "the URL has no path");
        let (host, port) = match scheme {
            Scheme::File if authority.is_empty() => (String::new(), 0),
            Scheme::File => bail!("a directory is written file:///PATH, without a host"),
            _ => host_and_port(scheme, without_user(scheme, authority)?)?,
        };
        let last = path.trim_end_matches('/').rsplit('/').next();
        let name = name.unwrap_or(last.unwrap_or_default());
        Ok(Remote {
            url: url.to_owned(),
            scheme,
            host,
            port,
            name: checked_name(name)?,
        })
    }
}

/// Splits the scheme from the part after `://`.
fn scheme<'a>(url: &'a str, allowed: &[Scheme]) -> Result<(Scheme, &'a str)> {
    let is_word = |text: &str| {
        let letters = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
        !text.is_empty() && text.chars().all(letters)
    };
    if let Some((helper, _)) = url.split_once("::")
        && is_word(helper)
    {
        bail!("programs that a URL names (`{helper}::`) are never run");
    }
    let (word, rest) = url.split_once("://").context(NOT_A_URL)?;
    ensure!(is_word(word), NOT_A_URL);
    let all = <Scheme as clap::ValueEnum>::value_variants();
    let Some(&scheme) = all.iter().find(|scheme| scheme.name() == word) else {
        bail!(
            "the scheme `{word}` is never fetched; use https, or http, ssh, git or file with --allow-scheme"
        );
    };
    ensure!(
        allowed.contains(&scheme),
        "the scheme `{word}` is not allowed; allow it with --allow-scheme {word}"
    );
    Ok((scheme, rest))
}

/// Strips the user, which only ssh URLs have.
fn without_user(scheme: Scheme, authority: &str) -> Result<&str> {
    let Some((user, host)) = authority.rsplit_once('@') else {
        return Ok(authority);
    };
    let secret = match scheme {
        Scheme::Ssh if !user.contains(':') => None,
        Scheme::Ssh => Some("a password"),
        _ => Some("a user or a password"),
    };
    if let Some(secret) = secret {
        bail!(
            "a URL must not contain {secret}, which other local users could read; use --credentials FILE"
        );
    }
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if user.is_empty() || user.starts_with('-') || !user.chars().all(is_plain) {
        return Err(bad_host(authority));
    }
    Ok(host)
}

fn bad_host(text: &str) -> anyhow::Error {
    anyhow!(
        "`{text}` is not a host; it has letters, digits, `-` and `.`, or is an IPv6 address in brackets"
    )
}

fn host_and_port(scheme: Scheme, authority: &str) -> Result<(String, u16)> {
    let bad = || bad_host(authority);
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (address, rest) = rest.split_once(']').ok_or_else(bad)?;
        let address: std::net::Ipv6Addr = address.parse().map_err(|_| bad())?;
        let port = match rest {
            "" => None,
            _ => Some(rest.strip_prefix(':').ok_or_else(bad)?),
        };
        (address.to_string(), port)
    } else {
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        };
        let is_label = |label: &str| {
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
            !label.is_empty() && !label.starts_with('-') && label.chars().all(plain)
        };
        if host.len() > 253 || !host.split('.').all(is_label) {
            return Err(bad());
        }
        (host.to_ascii_lowercase(), port)
    };
    let Some(port) = port else {
        return Ok((host, scheme.name_and_port().1));
    };
    let number = port.parse().ok().filter(|&number: &u16| number > 0);
    let is_plain = port.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.filter(|_| is_plain);
    Ok((
        host,
        number.with_context(|| format!("`{port}` is not a port"))?,
    ))
}

/// Strips the final `.git`.
fn checked_name(name: &str) -> Result<String> {
    let short = name.strip_suffix(".git").unwrap_or(name);
    let is_part = |part: &str| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "._+-".contains(letter);
        let first = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let reserved = [".git", ".lock"].iter().any(|end| part.ends_with(end));
        part.starts_with(first) && part.chars().all(plain) && !part.ends_with('.') && !reserved
    };
    ensure!(
        short.len() <= NAME_BYTES_MAX && short.split('/').all(is_part),
        "`{name}` cannot be the name of its directory: a name has parts of ASCII letters, digits and `._+-`, \
         separated by `/`, that begin with a letter, digit or `_`; give it another one in a --list file"
    );
    Ok(short.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    fn parse(url: &str) -> Result<Remote> {
        Remote::parse(url, None, Scheme::value_variants())
    }

    #[track_caller]
    fn check(url: &str, host: &str, port: u16, name: &str) {
        let remote = parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        let found = (&*remote.host, remote.port, &*remote.name);
        assert_eq!(found, (host, port, name), "{url}");
    }

    #[test]
    fn hosts_ports_and_names_are_read_from_urls() {
        check("https://Example.org/a/b.git", "example.org", 443, "b");
        check("https://example.org:8443/b/", "example.org", 8443, "b");
        check("http://[::1]:80/x.y.git", "::1", 80, "x.y");
        check("ssh://git@example.org/~a/b", "example.org", 22, "b");
        check("git://example.org/b", "example.org", 9418, "b");
        check("file:///srv/git/b.git", "", 0, "b");
    }

    #[test]
    fn urls_that_programs_read_differently_are_refused() {
        let table = [
            ("ext::sh -c touch% /tmp/x", "never run"),
            ("ext::sh://example.org/x", "never run"),
            ("fd::17", "never run"),
            ("-oProxyCommand=touch x", "not a URL"),
            ("--upload-pack=touch x", "not a URL"),
            ("git@example.org:a/b", "not a URL"),
            ("/srv/git/b.git", "not a URL"),
            ("ftp://example.org/x", "never fetched"),
            ("ssh://-oProxyCommand=x/a", "is not a host"),
            ("ssh://-oProxyCommand@host/a", "is not a host"),
            ("ssh://user:word@host/a", "--credentials"),
            ("https://user@host/a", "--credentials"),
            ("https://a@b@c/x", "--credentials"),
            ("https://example.org\\@127.0.0.1/x", "'\\\\'"),
            ("https://example.org/x\ny", "'\\n'"),
            ("https://example.org/x?y", "'?'"),
            ("https://example.org/x#y", "'#'"),
            ("https://example.org./x", "is not a host"),
            ("https:///x", "is not a host"),
            ("https://[::1/x", "is not a host"),
            ("https://[::1]x/x", "is not a host"),
            ("https://example.org:0/x", "not a port"),
            ("https://example.org:+1/x", "not a port"),
            ("https://example.org:99999/x", "not a port"),
            ("https://example.org", "no path"),
            ("https://example.org//", "no path"),
            ("file://host/x", "without a host"),
            ("https://example.org/..", "--list"),
            ("https://example.org/-x", "--list"),
            ("https://example.org/.git", "--list"),
            ("https://example.org/a%2fb", "--list"),
        ];
        for (url, says) in table {
            let error = parse(url).expect_err(url).to_string();
            assert!(error.contains(says), "{url}: {error}");
        }
        let long = format!("https://example.org/{}", "x".repeat(2_000));
        let error = parse(&long).unwrap_err().to_string();
        assert_eq!(error, "a URL has at most 2000 bytes");
    }

    #[test]
    fn only_allowed_schemes_are_fetched() {
        for scheme in Scheme::value_variants() {
            let url = match scheme {
                Scheme::File => "file:///srv/x".to_owned(),
                _ => format!("{}://example.org/x", scheme.name()),
            };
            let name = scheme.name();
            assert_eq!(
                Remote::parse(&url, None, &[]).unwrap_err().to_string(),
                format!("the scheme `{name}` is not allowed; allow it with --allow-scheme {name}")
            );
            assert!(Remote::parse(&url, None, &[*scheme]).is_ok());
        }
    }

    #[test]
    fn names_of_directories_stay_inside() {
        let url = "https://example.org/x";
        let name = |name| Remote::parse(url, Some(name), &[Scheme::Https]).map(|it| it.name);
        for good in ["a", "a/b", "a.b+c_d-e/9", "_"] {
            assert_eq!(name(good).unwrap(), good);
        }
        assert_eq!(name("a/b.git").unwrap(), "a/b");
        for bad in [
            "", ".", "..", "../a", "a/../b", "/a", "a/", "a//b", "-a", "a/-b", ".a", "a.",
            "a.git/b", "a\nb", "a b", "a\\b", "a.lock", "é",
        ] {
            let error = name(bad).unwrap_err().to_string();
            let says = format!("`{bad}` cannot be the name of its directory: ");
            assert!(error.starts_with(&says), "{error}");
        }
    }
}
