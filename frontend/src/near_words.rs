//! Suggests words of the corpus within one typo of a word without matches: one letter differs, is
//! missing or extra, or two neighbours are swapped. One short search finds them: a regular
//! expression with an alternative for each position, narrowed by trigrams.

use crate::coordinator::Coordinator;
use crate::joined::joined;
use crate::search_request::SearchRequest;
use query::{Query, Scope};
use results::Match;
use schema::message::{Expr, Pattern, Syntax, Want};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;
use tokio::time::timeout;

const SUGGESTED_MAX: usize = 3;

/// Shorter words have many neighbours, and alternatives without a trigram.
const LETTERS: RangeInclusive<usize> = 6..=32;

const MATCHES_MAX: u64 = 100;

const TIME_MAX: Duration = Duration::from_millis(200);

/// A letter, digit, `_`, or non-ASCII. Too large for the planner to enumerate.
const LETTER: &str = r"[^\x00-/:-@\[-\^`\x7b-\x7f]";

impl Coordinator {
    /// Most frequent first. Empty if `pattern` is not a word.
    pub async fn near_words(&self, scope: &Scope, client: u64, pattern: &Pattern) -> Vec<String> {
        let found = timeout(TIME_MAX, matches(self, scope, client, pattern)).await;
        let found = found.ok().flatten().unwrap_or_default();
        most_frequent(&found, pattern)
    }
}

async fn matches(
    coordinator: &Coordinator,
    scope: &Scope,
    client: u64,
    pattern: &Pattern,
) -> Option<Vec<Match>> {
    let query = Query::new(Expr::Pattern(near(pattern)?), 0).ok()?;
    let query = query.wanting(Want::Matches, MATCHES_MAX).ok()?;
    let request = SearchRequest {
        client: client.into(),
        timeout: Some(TIME_MAX),
        ..SearchRequest::new(scope, query)
    };
    let answer = coordinator
        .search(request)
        .await
        .ok()?
        .finished()
        .await
        .ok()?;
    let read = move || answer.matches(0..answer.len());
    joined(tokio::task::spawn_blocking(read)).await.ok()
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

/// In lower case if the pattern ignores case.
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
