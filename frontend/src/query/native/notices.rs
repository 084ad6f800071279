//! What was decided one way, and may have been meant the other.

use super::{Node, Notice, Parser, Syntax, keys, slashed};
use crate::query::lex::has_meta;
use crate::query::quoted;

/// What may have been meant otherwise.
impl Parser<'_> {
    pub(super) fn notice(&mut self, at: usize, reason: String, hint: Option<String>) {
        self.notices.push(Notice {
            at: Some(at),
            reason,
            hint,
        });
    }

    pub(super) fn notice_unknown(&mut self, at: usize, name: &str) {
        let mut lexer = self.lexer.clone();
        let (text, _) = lexer.word();
        let hint = match keys::near(name).filter(|_| !text.as_str().contains("::")) {
            Some(near) => format!("did you mean {near}:?"),
            None => format!("in quotes it is text for sure: {}", quoted(text.as_str())),
        };
        let reason = format!(
            "{} is searched for as text: there is no {name}: in this language",
            text.as_str()
        );
        self.notice(at, reason, Some(hint));
    }

    /// A group of one word, or one that a text stands right behind, may have been meant as text.
    pub(super) fn notice_group(&mut self, open: usize, node: &Node) {
        let is_word = matches!(node, Node::Pattern(term) if term.syntax == Syntax::Literal);
        let is_followed = !self.lexer.ends_at(self.lexer.at);
        if is_word || is_followed {
            let typed = &self.lexer.typed[open..self.lexer.at];
            let reason = format!("the parentheses of {typed} only group what is in them");
            let hint = format!("the text is {}", quoted(typed));
            self.notice(open, reason, Some(hint));
        }
    }

    /// A regular expression with more slashes than two may be a path.
    pub(super) fn notice_slashes(&mut self, at: usize) {
        let typed = &self.lexer.typed[at..self.lexer.at];
        if typed
            .replace("\\\\", "")
            .replace("\\/", "")
            .matches('/')
            .count()
            > 2
        {
            let reason = format!("{typed} is a regular expression");
            self.notice(at, reason, Some(format!("the text is {}", quoted(typed))));
        }
    }

    pub(super) fn notice_word(&mut self, at: usize, stray: Option<usize>) {
        let typed = &self.lexer.typed[at..self.lexer.at];
        if let Some(stray) = stray {
            let reason = "this ) closes nothing, and is searched for".to_owned();
            self.notice(stray, reason, None);
        }
        let is_said = self
            .notices
            .last()
            .is_some_and(|notice| notice.at == Some(at));
        let plain = typed.replace("\\\\", "");
        let classes = ["\\w", "\\s", "\\d", "\\b", "\\W", "\\S", "\\D", "\\B"];
        let mut signs = [".*", ".+"].iter().chain(&classes);
        if !is_said && signs.any(|sign| plain.contains(sign)) {
            let reason = format!("{typed} is searched for as text");
            let hint = format!("the regular expression is {}", slashed(typed));
            self.notice(at, reason, Some(hint));
        }
    }

    /// A value between slashes is a regular expression, and may have been meant as a directory.
    pub(super) fn notice_path(&mut self, at: usize, name: &str, regexp: &str) {
        let typed = &self.lexer.typed[at..self.lexer.at];
        let is_path = typed.starts_with('/') && typed.ends_with('/') && !has_meta(typed);
        if is_path && regexp == typed.trim_matches('/') {
            let reason = format!("{name}:{typed} is the regular expression {regexp}");
            let hint = format!("for a directory write {name}:(^|/){regexp}/");
            self.notice(at, reason, Some(hint));
        }
    }

    /// What begins with a slash and is no regular expression may have been meant as one.
    pub(super) fn notice_open(&mut self, at: usize, typed: &str, close: &str) {
        if typed.ends_with('/') && typed.len() > 2 {
            let reason = format!("{typed} is searched for as text");
            let regexp = slashed(typed.trim_matches('/'));
            self.notice(
                at,
                reason,
                Some(format!("the regular expression is {regexp}")),
            );
        } else if typed.contains(['*', '?', '[', '(', '|', '$']) && typed != "/*" {
            let reason = format!("{typed} is searched for as text");
            self.notice(at, reason, Some(close.to_owned()));
        }
    }
}
