//! The backend from outside: what it finds, compared with a naive scan and with ripgrep, and how
//! its server behaves on a connection.
//!
//! [`corpus`] makes directories of hostile files, [`query`] things to look for in them, [`filter`]
//! filters on them and [`expressions`] what is said with both;
//! [`wants`] says what is to be found when not everything is wanted;
//! [`naive`] says what there is to be found, and [`found`] what the backend's frames say. The
//! oracle shares no code with `index` or `backend`: it has its own idea of what is text, what is a
//! line, and what a pattern means.

mod corpus;
mod expressions;
mod filter;
mod found;
mod naive;
mod oracle;
mod query;
mod ripgrep;
mod server;
mod wants;

/// How many cases a property gets: `PROPTEST_CASES`, or `cases`.
pub(crate) fn cases(cases: u32) -> proptest::test_runner::Config {
    let config = proptest::test_runner::Config::default();
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => proptest::test_runner::Config { cases, ..config },
    }
}
