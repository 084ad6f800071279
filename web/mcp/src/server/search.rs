//! `search` and `search_many`: files with their best lines, best first, then a receipt.

use super::answer::{Answer, FileBlock, LINE_BYTES_MAX, count, cut, escaped, heading};
use super::arguments::{ManyArguments, SearchArguments};
use super::call::{Call, Failure, parse, reading};
use super::nothing;
use frontend::query::ParsedQuery;
use frontend::{ContextLine, Match, SearchResult, SpoolError};
use futures_util::future::join_all;
use std::ops::Range;
use std::sync::Arc;

const QUERIES_MAX: usize = 8;

const FILES_AT_ONCE: usize = 32;

/// Files of each query of `search_many`.
const FILES_OF_EACH: usize = 40;

/// Named parts that the answer lacks.
const MISSING_NAMED_MAX: usize = 3;

impl Call {
    pub(super) async fn search(&self, arguments: SearchArguments) -> Result<String, Failure> {
        let answer = Answer::new(arguments.max_tokens)?;
        let (parsed, notes) = parse(&arguments.query, arguments.regexp)?;
        let page = arguments.page.as_deref();
        self.found(answer, &parsed, &notes, page).await
    }

    /// Answers a query with a page of its files.
    pub(super) async fn found(
        &self,
        mut answer: Answer,
        parsed: &ParsedQuery,
        notes: &[String],
        page: Option<&str>,
    ) -> Result<String, Failure> {
        let page = page.map(split_page).transpose()?;
        let generation = page.map(|(_, generation, _)| generation);
        let result = self.find(parsed, generation).await?;
        if page.is_some_and(|(_, _, query)| query != tag(&result)) {
            let wrong = "the page belongs to another query; search again without page";
            return Err(Failure::of(wrong));
        }
        answer.push_all(notes.iter().map(|note| format!("note: {note}\n")));
        let pending = match self.coordinator.pending() {
            0 => String::new(),
            some => format!("; {} not indexed yet", count(some, "change", "changes")),
        };
        if result.found() == 0 {
            let told = nothing::explained(self, parsed, &result).await;
            let receipt = receipt(&result, None, None);
            return Ok(answer.finish(&(told + &receipt + &pending)));
        }
        let offset = page.map_or(0, |(offset, ..)| offset);
        let read = move || -> Result<String, SpoolError> {
            let listed = result.unique_documents_listed()?;
            let receipt = |shown, next| receipt(&result, Some(shown), next) + &pending;
            answer.reserve(&receipt((result.found(), listed), Some(listed)));
            let (mut at, mut matches) = (offset, 0);
            'files: while at < listed {
                for file in blocks(&result, at..listed.min(at + FILES_AT_ONCE))? {
                    let Some(lines) = answer.push_file(&file) else {
                        break 'files;
                    };
                    at += 1;
                    matches += lines as u64;
                }
            }
            let next = (at < listed).then_some(at);
            Ok(answer.finish(&receipt((matches, at.saturating_sub(offset)), next)))
        };
        reading(read).await
    }

    pub(super) async fn search_many(&self, arguments: ManyArguments) -> Result<String, Failure> {
        let mut answer = Answer::new(arguments.max_tokens)?;
        let queries = &arguments.queries;
        if queries.is_empty() || queries.len() > QUERIES_MAX {
            let given = queries.len();
            return Err(Failure(format!("{given} queries; give 1 to {QUERIES_MAX}")));
        }
        let found = join_all(queries.iter().map(async |query| {
            let (parsed, _) = parse(query, false)?;
            self.find(&parsed, None).await
        }));
        let found = found.await;
        let results: Vec<_> = found.iter().flatten().cloned().collect();
        let mut tail = String::new();
        for (query, found) in queries.iter().zip(found) {
            let told = found.map(|result| receipt(&result, None, None));
            let told = told.unwrap_or_else(|mistake| mistake.0);
            tail += &format!("\n{}: {told}", escaped(query.as_bytes()));
        }
        if results.is_empty() {
            return Err(Failure::of(tail.trim_start()));
        }
        let lists = reading(move || results.iter().map(best).collect::<Result<_, _>>());
        let files = in_turns(lists.await?);
        let all = count(files.len() as u64, "file", "files");
        let receipt = |shown: usize| format!("{shown} of {all} shown{tail}");
        answer.reserve(&receipt(files.len()));
        let shown = files.iter().map_while(|file| answer.push_file(file));
        let shown = shown.count();
        Ok(answer.finish(&receipt(shown)))
    }
}

/// Splits a token of [`receipt`]: the offset, the generation and the query.
fn split_page(token: &str) -> Result<(usize, &str, &str), Failure> {
    let mut parts = token.trim().splitn(3, '-');
    let offset = parts.next().and_then(|offset| offset.parse().ok());
    match (offset, parts.next(), parts.next()) {
        (Some(offset), Some(generation), Some(query)) => Ok((offset, generation, query)),
        _ => Err(Failure(format!(
            "page {token} is not valid; pass the token of an earlier answer unchanged"
        ))),
    }
}

/// Tells queries apart.
fn tag(result: &SearchResult) -> &str {
    let identity = result.identity();
    &identity[identity.len().saturating_sub(4)..]
}

/// One line: the shown matches and files, the offset of the next, the cost, and what is missing.
fn receipt(result: &SearchResult, shown: Option<(u64, usize)>, next: Option<usize>) -> String {
    let all = count(result.found(), "match", "matches");
    let bound = if result.is_counted() { "" } else { "at least " };
    let files = count(result.documents(), "file", "files");
    let generation = result.generation();
    let mut parts = vec![match shown {
        None => format!("{bound}{all} in {files}"),
        Some((matches, shown)) => format!("{matches} of {bound}{all}, {shown} of {files}"),
    }];
    parts.extend(next.map(|at| format!("more: page={at}-{generation}-{}", tag(result))));
    let searched = count(result.explain().shard_documents, "file", "files");
    parts.push(format!("searched {searched}, generation {generation}"));
    for missing in result.missing().iter().take(MISSING_NAMED_MAX) {
        let shards = count(missing.shards.len() as u64, "shard", "shards");
        let (backend, reason) = (&missing.backend, escaped(missing.reason.as_bytes()));
        parts.push(format!("INCOMPLETE: {backend} lacks {shards} ({reason})"));
    }
    parts.extend(result.skipped().documents.first().map(|first| {
        let skipped = count(result.skipped().count, "file", "files");
        let name = heading(&first.package, &first.path);
        let reason = escaped(first.reason.as_bytes());
        format!("{skipped} skipped: {name} ({reason})")
    }));
    parts.join("; ")
}

fn blocks(result: &SearchResult, range: Range<usize>) -> Result<Vec<FileBlock>, SpoolError> {
    let groups = result.unique_documents(range)?.into_iter();
    let block = |group: frontend::DocumentGroup| {
        let matches = result.matches_with_copies(&group.first)?;
        let lines = matches.iter().filter(|it| !it.is_name());
        let mut block = FileBlock {
            lines: lines.map(line).collect(),
            total: group.total,
            ..FileBlock::default()
        };
        if let Some(first) = matches.first() {
            block.heading = heading(&first.document.package, &first.document.path);
            block.copies = first.copies.map_or(0, |it| it.count);
        }
        Ok(block)
    };
    groups.map(block).collect()
}

fn best(result: &Arc<SearchResult>) -> Result<Vec<FileBlock>, SpoolError> {
    let listed = result.unique_documents_listed()?;
    blocks(result, 0..listed.min(FILES_OF_EACH))
}

fn line(found: &Match) -> (u32, String) {
    let near =
        |line: &ContextLine| format!("{}- {}\n", line.line, cut(&line.text, 0..0, LINE_BYTES_MAX));
    let mut text: String = found.before.iter().map(near).collect();
    let mut first = found.ranges.first().cloned().unwrap_or_default();
    for (number, line) in (found.line..).zip(found.text.split(|&byte| byte == b'\n')) {
        let shown = cut(line, first.clone(), LINE_BYTES_MAX);
        text += &format!("{number}: {shown}\n");
        let next = line.len() + 1;
        first = first.start.saturating_sub(next)..first.end.saturating_sub(next);
    }
    text.extend(found.after.iter().map(near));
    (found.line, text)
}

/// Best files of all results, in turns, each once with the lines of all.
fn in_turns(lists: Vec<Vec<FileBlock>>) -> Vec<FileBlock> {
    let mut files: Vec<(usize, FileBlock)> = Vec::new();
    let ranked = lists.into_iter().map(|list| list.into_iter().enumerate());
    for (rank, file) in ranked.flatten() {
        match files.iter_mut().find(|(_, it)| it.heading == file.heading) {
            None => files.push((rank, file)),
            Some((best, same)) => {
                *best = rank.min(*best);
                // Matches of several queries may be the same lines.
                same.total = None;
                let known: Vec<u32> = same.lines.iter().map(|(line, _)| *line).collect();
                let new = file.lines.into_iter();
                same.lines
                    .extend(new.filter(|(line, _)| !known.contains(line)));
            }
        }
    }
    files.sort_by_key(|(rank, _)| *rank);
    files.into_iter().map(|(_, file)| file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_several_queries_are_merged_in_turns() {
        let file = |name: &str, lines: &[u32]| FileBlock {
            heading: name.to_owned(),
            lines: lines
                .iter()
                .map(|line| (*line, format!("{line}: x\n")))
                .collect(),
            total: Some(9),
            copies: 0,
        };
        let first = vec![file("a", &[3]), file("b", &[1])];
        let second = vec![file("c", &[7]), file("a", &[3, 2])];
        let merged = in_turns(vec![first, second]);
        let shown: Vec<_> = merged
            .iter()
            .map(|it| (&it.heading[..], it.lines.len()))
            .collect();
        assert_eq!(shown, [("a", 2), ("c", 1), ("b", 1)]);
    }

    #[test]
    fn a_page_is_split() {
        assert_eq!(split_page("20-5f3a-beef").unwrap(), (20, "5f3a", "beef"));
        for bad in ["", "x", "1-2", "x-5f3a-beef"] {
            assert!(split_page(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_line_keeps_its_number_and_the_place_of_its_match() {
        let found = Match {
            line: 7,
            text: [&[b'a'; 300][..], b"needle\nnext"].concat(),
            ranges: std::iter::once(300..306).collect(),
            ..Match::default()
        };
        let (number, text) = line(&found);
        assert_eq!(number, 7);
        assert!(
            text.starts_with("7: …a") && text.contains("needle\n8: next\n"),
            "{text}"
        );
    }
}
