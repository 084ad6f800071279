//! Parses revision expressions, by gitrevisions(7), without look-ups.
//!
//! `v1.0^{commit}~3^2` is the base `v1.0` and the steps *peel to a commit*, *third ancestor*,
//! *second parent*. The parser of gix follows reflogs, has no bound and accepts less than git.

use crate::error::{LookupError, Result, refused};

/// Bounds the steps.
pub(crate) const EXPRESSION_BYTES_MAX: usize = 1_024;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Expression<'e> {
    /// `:/text`: youngest commit of all references with this message.
    Message(&'e str),
    /// Name, and steps in order.
    Name {
        /// Reference, id or its prefix, or output of `git describe`.
        base: &'e str,
        steps: Vec<Step<'e>>,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step<'e> {
    /// `^N`: parent of this number; 0 is the commit itself.
    Parent(u64),
    /// `~N`: ancestor by N first parents.
    Ancestor(u64),
    /// `^{kind}`, or `^{}` for anything but a tag.
    Peel(Peel),
    /// `^{/text}`: youngest ancestor with this message.
    Search(&'e str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peel {
    Untagged,
    Object,
    Commit,
    Tag,
    Tree,
    Blob,
}

pub(crate) fn parse(revision: &str) -> Result<Expression<'_>> {
    if revision.len() > EXPRESSION_BYTES_MAX {
        return Err(refused!(
            "a revision has at most {EXPRESSION_BYTES_MAX} bytes, this one {}",
            revision.len()
        ));
    }
    if revision.contains('\0') {
        return Err(refused!("a revision has no NUL"));
    }
    if let Some(text) = revision.strip_prefix(":/") {
        return Ok(Expression::Message(text));
    }
    refuse_sets(revision)?;
    let mut base = revision;
    let mut steps = Vec::new();
    while let Some((rest, step)) = trailing_number(base).or_else(|| trailing_peel(base)) {
        base = rest;
        steps.push(step);
    }
    if base.contains("@{") {
        return Err(refused!(
            "{revision:?} asks a reflog or the configuration of a work tree, which are not read: \
             name a branch, a tag or a commit"
        ));
    }
    steps.reverse();
    Ok(Expression::Name { base, steps })
}

/// Ranges are left to `is_range`, since `^{/a..b}` is none.
fn refuse_sets(revision: &str) -> Result<()> {
    let parents = revision.rsplit_once("^-");
    let is_set = revision.starts_with('^')
        || revision.ends_with("^@")
        || revision.ends_with("^!")
        || parents.is_some_and(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    if is_set {
        return Err(refused!(
            "{revision:?} stands for several commits: name one"
        ));
    }
    Ok(())
}

pub(crate) fn refusal_of_form(revision: &str) -> Option<LookupError> {
    let mut depth = 0_u32;
    let is_path = revision.bytes().any(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == b':' && depth == 0
    });
    if is_path {
        return Some(refused!(
            "{revision:?} names a file or a directory, not a commit"
        ));
    }
    revision
        .contains("..")
        .then(|| refused!("{revision:?} is a range of commits: name one commit"))
}

/// Splits `rest^N` and `rest~N`. N defaults to 1 and saturates.
fn trailing_number(base: &str) -> Option<(&str, Step<'_>)> {
    let before = base.trim_end_matches(|it: char| it.is_ascii_digit());
    let digits = &base[before.len()..];
    let number = if digits.is_empty() {
        1
    } else {
        digits.parse().unwrap_or(u64::MAX)
    };
    if let Some(rest) = before.strip_suffix('^') {
        return Some((rest, Step::Parent(number)));
    }
    before
        .strip_suffix('~')
        .map(|rest| (rest, Step::Ancestor(number)))
}

/// Splits `rest^{kind}` at the last `^{`, as in git.
fn trailing_peel(base: &str) -> Option<(&str, Step<'_>)> {
    let (rest, inner) = base.strip_suffix('}')?.rsplit_once("^{")?;
    let step = match inner {
        "" => Step::Peel(Peel::Untagged),
        "object" => Step::Peel(Peel::Object),
        "commit" => Step::Peel(Peel::Commit),
        "tag" => Step::Peel(Peel::Tag),
        "tree" => Step::Peel(Peel::Tree),
        "blob" => Step::Peel(Peel::Blob),
        _ => Step::Search(inner.strip_prefix('/')?),
    };
    Some((rest, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_a_base_and_steps() {
        let check = |revision: &str, expected: &str, steps: &[Step<'_>]| match parse(revision) {
            Ok(Expression::Name { base, steps: found }) => {
                assert_eq!(base, expected, "{revision}");
                assert_eq!(found, steps, "{revision}");
            }
            other => panic!("{revision}: {other:?}"),
        };
        check("HEAD", "HEAD", &[]);
        check("HEAD~25", "HEAD", &[Step::Ancestor(25)]);
        check(
            "main^^2~",
            "main",
            &[Step::Parent(1), Step::Parent(2), Step::Ancestor(1)],
        );
        check(
            "v1^{}^0",
            "v1",
            &[Step::Peel(Peel::Untagged), Step::Parent(0)],
        );
        check("v1^{/a b}", "v1", &[Step::Search("a b")]);
        check("v1^{nothing}", "v1^{nothing}", &[]);
        check("x~99999999999999999999", "x", &[Step::Ancestor(u64::MAX)]);
        check("v1.0-3-gabcdef", "v1.0-3-gabcdef", &[]);
        assert_eq!(parse(":/fix ^2").ok(), Some(Expression::Message("fix ^2")));
    }

    #[test]
    fn forms_that_are_not_one_commit_are_refused_with_the_reason() {
        for revision in ["^main", "main^@", "main^!", "main^-", "main^-2"] {
            let error = parse(revision).unwrap_err().to_string();
            assert!(error.contains("several commits"), "{revision}: {error}");
        }
        for revision in [
            "@{-1}",
            "main@{upstream}",
            "HEAD@{1}",
            "@{u}~2",
            "main@{yesterday}^{tree}",
        ] {
            let error = parse(revision).unwrap_err().to_string();
            assert!(error.contains("reflog"), "{revision}: {error}");
        }
        for (revision, part) in [
            ("a..b", "range"),
            ("a...b", "range"),
            ("HEAD:x", "file"),
            (":x", "file"),
        ] {
            let error = refusal_of_form(revision).map(|it| it.to_string());
            assert!(
                error.as_ref().is_some_and(|it| it.contains(part)),
                "{revision}: {error:?}"
            );
        }
        assert_eq!(refusal_of_form("main^{/a:b}"), None);
        assert!(parse(&"^".repeat(2_000)).is_err());
        assert!(parse("a\0b").is_err());
    }
}
