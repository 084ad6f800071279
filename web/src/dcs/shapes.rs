//! Shapes of Debian Code Search: matches, and packages with their best matches.
//!
//! Clients rely on two oddities: lines are escaped like Go's `html.EscapeString`, even in JSON, and
//! empty context lines are dropped. Bytes that are not UTF-8 become U+FFFD; `/api/v2` has them.

use frontend::PackageGroup;
use frontend::{ContextLine, Match};
use schema::name::package_name;

pub(super) const PER_PACKAGE: usize = 2;

#[derive(Debug, serde::Serialize)]
pub(super) struct MatchShape {
    package: String,
    path: String,
    line: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context_before: Vec<String>,
    context: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context_after: Vec<String>,
}

impl From<&Match> for MatchShape {
    fn from(found: &Match) -> Self {
        let package = lossy(&found.document.package);
        MatchShape {
            path: format!("{package}/{}", lossy(&found.document.path)),
            package,
            line: found.line,
            context_before: context(&found.before),
            context: escaped(&found.text),
            context_after: context(&found.after),
        }
    }
}

/// Named without its version.
#[derive(Debug, serde::Serialize)]
pub(super) struct PackageShape {
    package: String,
    results: Vec<MatchShape>,
}

impl PackageShape {
    pub(super) fn new(package: &PackageGroup, matches: &[Match]) -> Self {
        PackageShape {
            package: lossy(package_name(&package.name)),
            results: matches.iter().map(Into::into).collect(),
        }
    }
}

fn context(lines: &[ContextLine]) -> Vec<String> {
    let lines = lines.iter().filter(|line| !line.text.is_empty());
    lines.map(|line| escaped(&line.text)).collect()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn escaped(line: &[u8]) -> String {
    let mut out = String::with_capacity(line.len());
    for letter in String::from_utf8_lossy(line).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_lines_as_clients_expect() {
        let line = b"if (a < b && c > '\\'') puts(\"\xff\");";
        let expected =
            "if (a &lt; b &amp;&amp; c &gt; &#39;\\&#39;&#39;) puts(&#34;\u{fffd}&#34;);";
        assert_eq!(escaped(line), expected);
    }
}
