//! Answers look-ups, lines `REPOSITORY<TAB>REVISION`, for scripts that compare them with git.
//!
//! usage: cargo run -p git --example lookups -- ROOT
//!
//! An answer is a line with its length in bytes, then these bytes: a line with `ok` or the name of
//! an error, headers as in a commit object, the subject, a NUL and the body.

use git::{LookupError, Repositories};
use schema::message::{Commit, Signature};
use std::error::Error;
use std::io::{BufRead, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let root = std::env::args()
        .nth(1)
        .ok_or("give the directory of repositories")?;
    let repositories = Repositories::new(root.as_ref())?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (repo, rev) = line.split_once('\t').ok_or("a line has no tab")?;
        let answer = match repositories.commit(repo, rev) {
            Ok(commit) => render(&commit),
            Err(error) => format!("{}\n{error}", name(&error)).into_bytes(),
        };
        writeln!(out, "{}", answer.len())?;
        out.write_all(&answer)?;
        out.flush()?;
    }
    Ok(())
}

fn name(error: &LookupError) -> &'static str {
    match error {
        LookupError::UnknownRepository { .. } => "unknown-repository",
        LookupError::UnknownRevision { .. } => "unknown",
        LookupError::Ambiguous { .. } => "ambiguous",
        LookupError::Refused { .. } => "refused",
        LookupError::Unreadable { .. } => "unreadable",
    }
}

fn render(commit: &Commit) -> Vec<u8> {
    let mut text = format!("ok\ncommit {}\ntree {}\n", commit.id, commit.tree).into_bytes();
    for parent in &commit.parents {
        text.extend_from_slice(format!("parent {parent}\n").as_bytes());
    }
    for (role, who) in [("author", &commit.author), ("committer", &commit.committer)] {
        add(&mut text, role, who);
    }
    text.push(b'\n');
    text.extend_from_slice(&commit.subject);
    text.push(0);
    text.extend_from_slice(&commit.body);
    text
}

fn add(text: &mut Vec<u8>, role: &str, who: &Signature) {
    text.extend_from_slice(role.as_bytes());
    text.push(b' ');
    text.extend_from_slice(&who.name);
    text.extend_from_slice(b" <");
    text.extend_from_slice(&who.email);
    text.extend_from_slice(format!("> {} {}\n", who.seconds, who.offset_minutes).as_bytes());
}
