//! Corpus as one caller sees it, and alternatives to names and words without a match: similar
//! words, packages and files, the versions of a package, and the reason for a file outside of the
//! index.
//!
//! Words of the corpus within one typo of another: one letter differs, is missing or extra, or two
//! neighbours are swapped. One short search finds them: a regular expression with an alternative
//! for each position, narrowed by trigrams.

use crate::http::rendering;
use crate::model::LeftOut;
use crate::problem::Problem;
use frontend::query::Query;
use frontend::{Coordinator, FileError, Listing, Match, Scope, SearchRequest, entry_name, similar};
use schema::message::{
    Expr, FileReply, FileRequest, ListEntry, ListKind, ListRequest, Pattern, Syntax, Want,
};
use schema::name::package_name;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;
use tokio::time::timeout;

const SIMILAR_MAX: usize = 3;

const SIBLINGS_MAX: u32 = 1000;

/// Each has about a thousand packages: enough for a distribution's packages with one first letter,
/// and a wrong name costs little.
const LISTS_MAX: usize = 4;

/// Bound of listed versions: about what a backend sends at once.
const VERSIONS_MAX: u32 = 1000;

/// Compared entries of a list of skipped files.
const SKIPPED_MAX: u32 = 100;

#[derive(Clone, Copy)]
pub(crate) struct Corpus<'a> {
    pub(crate) coordinator: &'a Coordinator,
    pub(crate) scope: &'a Scope,
}

impl Corpus<'_> {
    pub(crate) async fn file(self, request: &FileRequest) -> Result<FileReply, FileError> {
        self.coordinator.file(self.scope, request).await
    }

    pub(crate) async fn listing(self, request: &ListRequest) -> Result<Listing, FileError> {
        self.coordinator.listing(self.scope, request).await
    }

    /// Reads a list, in at most `parts_max` parts.
    pub(crate) async fn parts(
        self,
        mut request: ListRequest,
        parts_max: usize,
    ) -> Result<Listing, FileError> {
        let mut whole = Listing::default();
        for _ in 0..parts_max {
            let part = self.listing(&request).await?;
            whole.entries.extend(part.entries);
            whole.more = part.more;
            whole.unreachable = part.unreachable;
            match whole.entries.last().filter(|_| part.more) {
                Some(last) => request.after = entry_name(request.kind, last),
                None => break,
            }
        }
        Ok(whole)
    }

    /// The package itself, or all versions of a name without one, ordered by name. A package is
    /// its directory, such as `i3-wm_4.22`; users call it `i3-wm`.
    pub(crate) async fn versions(self, name: &[u8]) -> Result<Vec<ListEntry>, Problem> {
        let request = ListRequest::new(ListKind::Packages, name, b"", VERSIONS_MAX);
        let mut list = self.listing(&request).await?;
        if list.entries.iter().any(|entry| entry.package == name) {
            list.entries.retain(|entry| entry.package == name);
        }
        if list.entries.is_empty() {
            list = list.whole().map(|_| Default::default())?;
        }
        Ok(list.entries)
    }

    /// Visible packages with a similar name and the same first letter.
    pub(crate) async fn near_packages(self, name: &[u8]) -> Result<Vec<Vec<u8>>, Problem> {
        let first = &name[..name.len().min(1)];
        let request = ListRequest::new(ListKind::Packages, b"", first, u32::MAX);
        let list = self.parts(request, LISTS_MAX).await?;
        let names = list.entries.iter().map(|entry| entry.name().to_vec());
        let mut similar = similar(package_name(name), names);
        similar.truncate(SIMILAR_MAX);
        Ok(similar)
    }

    /// Similar paths in the same directory.
    pub(crate) async fn near_files(
        self,
        package: &[u8],
        path: &[u8],
    ) -> Result<Vec<Vec<u8>>, Problem> {
        let slash = path.iter().rposition(|&byte| byte == b'/');
        let (directory, name) = path.split_at(slash.map_or(0, |at| at + 1));
        let request = ListRequest::new(ListKind::Children, package, directory, SIBLINGS_MAX);
        let list = self.coordinator.list(self.scope, request).await?;
        // Only a faulty backend sends entries of other directories.
        let names = list.entries.iter();
        let names =
            names.filter_map(|entry| entry.path.strip_prefix(directory).map(<[u8]>::to_vec));
        let near = similar(name, names).into_iter().take(SIMILAR_MAX);
        Ok(near.map(|name| [directory, &name].concat()).collect())
    }

    /// Reason why the index skipped a file: a rule, or a skipped directory above it. `None` if it
    /// did not.
    pub(crate) async fn why_left_out(self, package: &[u8], path: &[u8]) -> Option<Problem> {
        let is_at_or_below = |directory: &[u8]| {
            let rest = path.strip_prefix(directory);
            rest.is_some_and(|rest| rest.is_empty() || directory.is_empty() || rest[0] == b'/')
        };
        let request = ListRequest::new(ListKind::Skipped, package, path, SKIPPED_MAX);
        let list = self.listing(&request).await.ok()?;
        let mut entries = list.entries.iter();
        let entry = entries.find(|entry| is_at_or_below(&entry.path))?;
        let [package, path] = [package, path].map(String::from_utf8_lossy);
        let words = LeftOut::from(entry).words;
        let detail = format!("{package}/{path} is not indexed: {words}");
        Some(Problem::missing(detail))
    }
}

const SUGGESTED_MAX: usize = 3;

/// Shorter words have many neighbours, and alternatives without a trigram.
const LETTERS: RangeInclusive<usize> = 6..=32;

const MATCHES_MAX: u64 = 100;

const TIME_MAX: Duration = Duration::from_millis(200);

/// A letter, digit, `_`, or non-ASCII. Too large for the planner to enumerate.
const LETTER: &str = r"[^\x00-/:-@\[-\^`\x7b-\x7f]";

impl Corpus<'_> {
    /// Returns near words, most frequent first. Empty if `pattern` is not a word.
    pub(crate) async fn near_words(self, client: u64, pattern: &Pattern) -> Vec<String> {
        let found = timeout(TIME_MAX, matches(self, client, pattern)).await;
        let found = found.ok().flatten().unwrap_or_default();
        most_frequent(&found, pattern)
    }
}

async fn matches(corpus: Corpus<'_>, client: u64, pattern: &Pattern) -> Option<Vec<Match>> {
    let query = Query::new(Expr::Pattern(near(pattern)?), 0).ok()?;
    let query = query.wanting(Want::Matches, MATCHES_MAX).ok()?;
    let request = SearchRequest {
        client: client.into(),
        timeout: Some(TIME_MAX),
        ..SearchRequest::new(corpus.scope, query)
    };
    let search = corpus.coordinator.search(request);
    let answer = search.await.ok()?.finished().await.ok()?;
    let whole = answer.clone();
    let found = rendering(&answer, move || whole.matches(0..whole.len()));
    found.await.ok()
}

fn near(pattern: &Pattern) -> Option<Pattern> {
    let word = &pattern.text[..];
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if pattern.syntax != Syntax::Literal
        || pattern.in_path
        || !LETTERS.contains(&word.len())
        || !word.bytes().all(is_letter)
    {
        return None;
    }
    let length = word.len();
    let differs = (0..length).map(|at| format!("{}{LETTER}?{}", &word[..at], &word[at + 1..]));
    let lacks = (0..=length).map(|at| format!("{}{LETTER}{}", &word[..at], &word[at..]));
    let swapped = (0..length - 1).map(|at| {
        let (one, other) = (&word[at..=at], &word[at + 1..at + 2]);
        [&word[..at], other, one, &word[at + 2..]].concat()
    });
    let alternatives: Vec<String> = differs.chain(lacks).chain(swapped).collect();
    Some(Pattern {
        text: alternatives.join("|"),
        syntax: Syntax::Regexp,
        word: true,
        ..pattern.clone()
    })
}

/// Matching words, in lower case if the pattern ignores case.
fn most_frequent(found: &[Match], pattern: &Pattern) -> Vec<String> {
    let fold = |word: &str| {
        if pattern.ignore_case {
            word.to_lowercase()
        } else {
            word.to_owned()
        }
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for found in found {
        let words = found.ranges.iter();
        let words = words.filter_map(|range| str::from_utf8(found.text.get(range.clone())?).ok());
        words.for_each(|word| *counts.entry(fold(word)).or_default() += 1);
    }
    counts.remove(&fold(&pattern.text));
    let mut words: Vec<_> = counts.into_iter().collect();
    // Stable: ties keep their order.
    words.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let words = words.into_iter().map(|(word, _)| word);
    words.take(SUGGESTED_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Pattern {
        Pattern {
            text: text.to_owned(),
            ignore_case: true,
            ..Pattern::default()
        }
    }

    #[test]
    fn each_alternative_has_one_mistake() {
        let pattern = near(&word("socket")).unwrap();
        let alternatives: Vec<_> = pattern.text.split('|').collect();
        assert_eq!(alternatives.len(), 6 + 7 + 5);
        assert_eq!(
            alternatives[2],
            format!("so{LETTER}?ket"),
            "differs, or is too much"
        );
        assert_eq!(alternatives[6 + 2], format!("so{LETTER}cket"), "is missing");
        assert_eq!(alternatives[6 + 7 + 2], "sokcet", "is swapped");
        assert!(pattern.word && pattern.ignore_case && pattern.syntax == Syntax::Regexp);
    }

    #[test]
    fn what_is_no_word_has_no_neighbours() {
        for text in [
            "short",
            "two words",
            "a.b.c.d",
            "größer_als",
            &"x".repeat(33),
        ] {
            assert_eq!(near(&word(text)), None, "{text}");
        }
        let expression = Pattern {
            syntax: Syntax::Regexp,
            ..word("socket")
        };
        assert_eq!(near(&expression), None);
    }

    #[test]
    fn the_most_frequent_words_come_first_without_the_word_itself() {
        let found = |text: &str| Match {
            text: text.as_bytes().to_vec(),
            ranges: vec![0..text.len()],
            ..Match::default()
        };
        let found = ["sockets", "Pocket", "pocket", "SOCKET", "rocket", "locket"].map(found);
        let expected = ["pocket", "locket", "rocket"];
        assert_eq!(most_frequent(&found, &word("socket")), expected);
        let sensitive = Pattern {
            ignore_case: false,
            ..word("socket")
        };
        let words = most_frequent(&found, &sensitive);
        assert_eq!(words, ["Pocket", "SOCKET", "locket"]);
    }
}
