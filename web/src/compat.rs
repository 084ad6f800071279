//! Products whose interfaces are served (`--compat`), and files of an answer as they show them.

use crate::http::rendering;
use crate::problem::Problem;
use frontend::{DocumentGroup, Match, SearchResult, SpoolError};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Product {
    Zoekt,
    Sourcegraph,
    Github,
    /// Debian Code Search.
    Dcs,
}

const PRODUCTS: [(Product, &str); 4] = [
    (Product::Zoekt, "zoekt"),
    (Product::Sourcegraph, "sourcegraph"),
    (Product::Github, "github"),
    (Product::Dcs, "dcs"),
];

/// Set of products, written `zoekt,dcs` or `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compat(u8);

impl Default for Compat {
    fn default() -> Compat {
        Compat(u8::MAX)
    }
}

impl FromStr for Compat {
    type Err = String;

    fn from_str(text: &str) -> Result<Compat, String> {
        if text == "none" {
            return Ok(Compat(0));
        }
        let mut set = Compat(0);
        for typed in text.split(',') {
            let product = PRODUCTS.iter().find(|(_, name)| *name == typed);
            let (product, _) = product.ok_or_else(|| {
                let names = PRODUCTS.map(|(_, name)| name).join(", ");
                format!("{typed} is not a product: expected some of {names}, or none")
            })?;
            set.0 |= 1 << *product as u8;
        }
        Ok(set)
    }
}

impl fmt::Display for Compat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = |(product, _): &&(Product, &str)| self.has(*product);
        let names: Vec<_> = PRODUCTS.iter().filter(has).map(|(_, name)| *name).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join(","))
    }
}

impl Compat {
    pub(crate) fn has(self, product: Product) -> bool {
        self.0 & 1 << product as u8 != 0
    }

    pub(crate) fn products(self) -> impl Iterator<Item = Product> {
        let all = PRODUCTS.into_iter().map(|(product, _)| product);
        all.filter(move |product| self.has(*product))
    }
}

pub(crate) struct FoundFile {
    /// At least one, by line.
    pub(crate) matches: Vec<Match>,
    /// All its matches, if counted.
    pub(crate) total: Option<u64>,
}

const FILES_AT_ONCE: usize = 1024;

/// Files of an answer, read in batches, the best first.
pub(crate) struct Files {
    answer: Arc<SearchResult>,
    range: Range<usize>,
}

impl Files {
    pub(crate) fn new(answer: &Arc<SearchResult>, range: Range<usize>) -> Files {
        Files {
            answer: Arc::clone(answer),
            range,
        }
    }

    /// Files that were read.
    pub(crate) fn position(&self) -> usize {
        self.range.start
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.range.is_empty()
    }

    /// The rest, with at most `matches_max` matches.
    #[cfg(feature = "graphql")]
    pub(crate) async fn all(mut self, mut matches_max: usize) -> Result<Vec<FoundFile>, Problem> {
        let mut files = Vec::new();
        while matches_max > 0
            && let Some(batch) = self.next(matches_max).await?
        {
            matches_max -= batch.iter().map(|file| file.matches.len()).sum::<usize>();
            files.extend(batch);
        }
        Ok(files)
    }

    /// Files with at most `matches_max` matches in all; a file with more has its best. `None` at
    /// the end.
    pub(crate) async fn next(
        &mut self,
        matches_max: usize,
    ) -> Result<Option<Vec<FoundFile>>, Problem> {
        let (answer, range) = (Arc::clone(&self.answer), self.range.clone());
        let read = rendering(&self.answer, move || batch(&answer, range, matches_max)).await?;
        let (range, files) = read;
        let is_end = range.start == self.range.start;
        self.range = range;
        Ok((!is_end).then_some(files))
    }
}

/// Returns also the files that are left.
fn batch(
    answer: &SearchResult,
    range: Range<usize>,
    matches_max: usize,
) -> Result<(Range<usize>, Vec<FoundFile>), SpoolError> {
    let end = range.end.min(answer.documents_listed()?);
    let start = range.start.min(end);
    let mut documents = answer.document_list(start..end.min(start + FILES_AT_ONCE))?;
    documents.truncate(fitting(&documents, matches_max as u64));
    let matches = answer.matches_of_documents(&documents, matches_max)?;
    let left = range.start + documents.len()..end.max(range.start + documents.len());
    let totals = documents.into_iter().map(|document| document.total);
    let files = totals.zip(matches);
    let files = files.map(|(total, matches)| FoundFile { matches, total });
    let files = files.filter(|file| !file.matches.is_empty()).collect();
    Ok((left, files))
}

/// First documents with at most `matches_max` matches; at least one.
fn fitting(documents: &[DocumentGroup], matches_max: u64) -> usize {
    let mut left = Some(matches_max);
    let fits = |it: &&DocumentGroup| {
        left = left.and_then(|left| left.checked_sub(it.total.unwrap_or(0)));
        left.is_some()
    };
    documents.iter().take_while(fits).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_products_is_read_as_it_is_written() {
        for text in ["none", "zoekt", "zoekt,dcs", "zoekt,sourcegraph,github,dcs"] {
            assert_eq!(text.parse::<Compat>().unwrap().to_string(), text);
        }
        let all = Compat::default();
        assert_eq!(
            all.to_string().parse::<Compat>().unwrap().to_string(),
            all.to_string()
        );
        for bad in ["", "zoket", "zoekt,", "none,dcs"] {
            let error = bad.parse::<Compat>().unwrap_err();
            assert!(
                error.contains("expected some of zoekt, sourcegraph"),
                "{error}"
            );
        }
    }
}
