//! Tests the backend from outside: its matches, compared with a naive scan and with ripgrep, and
//! the behaviour of its server on a connection.
//!
//! [`corpus`] generates directories of difficult files, [`query`] patterns to search in them,
//! [`filter`] filters, [`expressions`] combinations of both, and [`revisions`] gives documents
//! revisions. [`found`] runs a search and decodes its frames; [`best_first`] checks searches that
//! stop early, [`phrases`] the order of those with a phrase, [`resumed`] such that go on with an
//! answer; [`naive`] computes the expected matches, and [`wants`] which of them are sent when not
//! all are wanted. The expected matches share no code with `index` or `backend`: they have their
//! own definitions of text, lines and patterns.

mod best_first;
mod corpus;
mod expressions;
mod filter;
mod found;
mod naive;
mod oracle;
mod phrases;
mod query;
mod resumed;
mod revisions;
mod ripgrep;
mod server;
mod wants;

/// Returns a configuration with `PROPTEST_CASES` cases per property, by default `cases`.
pub(crate) fn cases(cases: u32) -> proptest::test_runner::Config {
    let config = proptest::test_runner::Config::default();
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => proptest::test_runner::Config { cases, ..config },
    }
}
