//! Tests the backend from outside: matches against a naive scan and ripgrep, and its server.
//!
//! [`corpus`], [`query`], [`filter`] and [`revisions`] generate inputs, [`expressions`] combines
//! them. [`found`] runs searches; [`naive`] and [`wants`] compute expected matches. [`best_first`],
//! [`phrases`] and [`resumed`] test special searches.
//!
//! Expected matches share no code with `index` or `backend`.

mod best_first;
mod corpus;
mod expressions;
mod filter;
mod found;
mod histories;
mod naive;
mod oracle;
mod phrases;
mod places;
mod query;
mod resumed;
mod revisions;
mod ripgrep;
mod server;
mod wants;

/// Configuration with `PROPTEST_CASES` cases, by default `cases`.
pub(crate) fn cases(cases: u32) -> proptest::test_runner::Config {
    let config = proptest::test_runner::Config::default();
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => proptest::test_runner::Config { cases, ..config },
    }
}
