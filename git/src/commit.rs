//! A decoded commit.
//!
//! Names and messages stay bytes, or become UTF-8 if the commit names another encoding, as in
//! `git log`. Parents are the object's, also if a graft or shallow clone hides them.

use crate::error::{Result, unreadable};
use encoding_rs::Encoding;
use gix::ObjectId;
use gix::objs::CommitRef;
use schema::message::{Commit, Signature};
use std::borrow::Cow;

pub(crate) fn decode(id: &ObjectId, data: &[u8]) -> Result<Commit> {
    let damaged = || unreadable!("commit {id} is damaged: run git fsck");
    let commit = CommitRef::from_bytes(data, id.kind()).map_err(|_| damaged())?;
    let encoding = commit.encoding.and_then(|label| Encoding::for_label(label));
    let signature = |line: &[u8]| parse_signature(&in_utf8(encoding, line));
    let message = in_utf8(encoding, commit.message);
    let (subject, body) = split_message(&message);
    Ok(Commit {
        id: id.to_string(),
        tree: commit.tree().to_string(),
        parents: commit.parents().map(|parent| parent.to_string()).collect(),
        author: signature(commit.author),
        committer: signature(commit.committer),
        subject,
        body,
        tags: Vec::new(),
        shortened: false,
    })
}

pub(crate) fn message(id: &ObjectId, data: &[u8]) -> Result<Vec<u8>> {
    let commit = CommitRef::from_bytes(data, id.kind());
    let commit = commit.map_err(|_| unreadable!("commit {id} is damaged: run git fsck"))?;
    let encoding = commit.encoding.and_then(|label| Encoding::for_label(label));
    Ok(in_utf8(encoding, commit.message).into_owned())
}

/// Orders logs; 0 if unreadable.
pub(crate) fn committed_seconds(id: &ObjectId, data: &[u8]) -> i64 {
    let committer = gix::objs::CommitRefIter::from_bytes(data, id.kind()).committer();
    committer.map_or(0, |committer| committer.seconds().max(0))
}

fn in_utf8<'b>(encoding: Option<&'static Encoding>, bytes: &'b [u8]) -> Cow<'b, [u8]> {
    let Some(encoding) = encoding.filter(|it| *it != encoding_rs::UTF_8) else {
        return Cow::Borrowed(bytes);
    };
    match encoding.decode_without_bom_handling_and_without_replacement(bytes) {
        Some(text) => Cow::Owned(text.into_owned().into_bytes()),
        None => Cow::Borrowed(bytes),
    }
}

/// Parses `Name <address> seconds offset`. Missing parts are empty or 0.
fn parse_signature(line: &[u8]) -> Signature {
    let open = line.iter().position(|byte| *byte == b'<');
    let close = line.iter().rposition(|byte| *byte == b'>');
    let (Some(open), Some(close)) = (open, close) else {
        return Signature {
            name: line.trim_ascii().to_vec(),
            ..Signature::default()
        };
    };
    let time = String::from_utf8_lossy(&line[close + 1..]).into_owned();
    let mut time = time.split_ascii_whitespace();
    let seconds = time.next().and_then(|it| it.parse().ok()).unwrap_or(0);
    let offset: i32 = time.next().and_then(|it| it.parse().ok()).unwrap_or(0);
    Signature {
        name: line[..open].trim_ascii().to_vec(),
        email: (line.get(open + 1..close).unwrap_or_default())
            .trim_ascii()
            .to_vec(),
        seconds,
        offset_minutes: offset / 100 * 60 + offset % 100,
    }
}

/// Splits a message like `%s` and `%b` of `git log`.
fn split_message(message: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut rest = message;
    let mut subject = Vec::new();
    while !rest.is_empty() {
        let (line, next) = split_line(rest);
        let line = line.trim_ascii_end();
        if line.is_empty() && !subject.is_empty() {
            break;
        }
        if !line.is_empty() {
            if !subject.is_empty() {
                subject.push(b' ');
            }
            subject.extend_from_slice(line);
        }
        rest = next;
    }
    while !rest.is_empty() && split_line(rest).0.trim_ascii().is_empty() {
        rest = split_line(rest).1;
    }
    (subject, rest.trim_ascii_end().to_vec())
}

fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_split_as_by_git_log() {
        let check = |message: &str, subject: &str, body: &str| {
            let (it, rest) = split_message(message.as_bytes());
            assert_eq!(String::from_utf8_lossy(&it), subject);
            assert_eq!(String::from_utf8_lossy(&rest), body);
        };
        check("one\n", "one", "");
        check(
            "\n\none\ntwo \n\n\nthree\n\nfour\n\n",
            "one two",
            "three\n\nfour",
        );
        check("", "", "");
        check("one\r\n\r\ntwo", "one", "two");
    }

    #[test]
    fn a_signature_without_parts_is_read_as_far_as_it_goes() {
        let check = |line: &str, name: &str, email: &str, seconds: i64, offset_minutes: i32| {
            let signature = parse_signature(line.as_bytes());
            assert_eq!(signature.name, name.as_bytes(), "{line}");
            assert_eq!(signature.email, email.as_bytes(), "{line}");
            assert_eq!(signature.seconds, seconds, "{line}");
            assert_eq!(signature.offset_minutes, offset_minutes, "{line}");
        };
        check(
            "A B <a@b> 1700000000 +0530",
            "A B",
            "a@b",
            1_700_000_000,
            330,
        );
        check("A <a> 1 -0230", "A", "a", 1, -150);
        check("<> 7", "", "", 7, 0);
        check("nobody", "nobody", "", 0, 0);
        check("A > <", "A >", "", 0, 0);
        check("A <a> 99999999999999999999 +0000", "A", "a", 0, 0);
    }
}
