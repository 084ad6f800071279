//! Directives: each branch begins with the scopes at its `#if`. Behind `#endif`, those of the last
//! branch are open if they are as many as behind the first one, else those of the first.

use super::{Block, Branch, C, Context};
use crate::symbols::{Kind, Outline, Parent, Role, Token};

/// Bound of nesting; deeper branches are only counted.
const BRANCHES_MAX: usize = 64;

impl C {
    pub(super) fn directive(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let [meta, rest @ ..] = tokens else { return };
        match meta.text(outline)[1..].trim_ascii_start() {
            b"define" if !self.branches.are_zero() => {
                if let Some(name) = rest.first().filter(|name| name.is_word()) {
                    outline.define_in(Parent::None, name.range(), Kind::Macro);
                }
            }
            b"if" => {
                let is_zero = |it: &Token| it.role == Role::Number && it.text(outline) == b"0";
                let is_dead = rest.len() == 1 && rest.iter().all(is_zero);
                self.begin_branch(is_dead);
            }
            b"ifdef" | b"ifndef" => self.begin_branch(false),
            b"else" | b"elif" | b"elifdef" | b"elifndef" => {
                self.next_branch(meta.start, outline);
            }
            b"endif" => self.end_branch(meta.start, outline),
            _ => {}
        }
    }

    fn begin_branch(&mut self, is_dead: bool) {
        let branches = &mut self.branches;
        if branches.open.len() == BRANCHES_MAX {
            branches.deeper += 1;
            return;
        }
        branches.dead += usize::from(is_dead);
        branches.open.push(Branch {
            depth: self.scopes.len(),
            tokens: self.tokens.len(),
            brackets: self.brackets,
            is_dead,
            is_over: false,
            first: None,
        });
    }

    fn next_branch(&mut self, at: u32, outline: &mut Outline<'_>) {
        let branches = &mut self.branches;
        if branches.deeper > 0 {
            return;
        }
        let Some(mut branch) = branches.open.pop() else {
            return;
        };
        if branch.is_over {
            // Stays dead.
        } else if branch.is_dead {
            branch.is_dead = false;
            branches.dead -= 1;
        } else if self.tokens.len() < branch.tokens && self.scopes.len() == branch.depth {
            (branch.is_dead, branch.is_over) = (true, true);
            branches.dead += 1;
        } else if !branches.is_dead() {
            if self.begin() == branch.tokens {
                self.define_head(outline);
            }
            let scopes = self.scopes.get(branch.depth..).unwrap_or_default();
            let first = (self.scopes.len(), scopes);
            let first = || (first.0, first.1.to_vec());
            branch.first.get_or_insert_with(first);
            self.reopen(&branch, at, outline);
        }
        self.branches.open.push(branch);
    }

    fn end_branch(&mut self, at: u32, outline: &mut Outline<'_>) {
        let branches = &mut self.branches;
        if branches.deeper > 0 {
            branches.deeper -= 1;
            return;
        }
        let Some(branch) = branches.open.pop() else {
            return;
        };
        branches.dead -= usize::from(branch.is_dead);
        let Some((depth, scopes)) = branch.first else {
            return;
        };
        if depth == self.scopes.len() {
            return;
        }
        self.leave_to(depth - scopes.len(), at, outline);
        for mut scope in scopes {
            scope.begin = self.tokens.len();
            self.enter(scope, None, outline);
        }
    }

    fn reopen(&mut self, branch: &Branch, at: u32, outline: &mut Outline<'_>) {
        self.leave_to(branch.depth, at, outline);
        self.tokens.truncate(branch.tokens.max(self.begin()));
        while self.scopes.len() < branch.depth {
            let scope = Block {
                context: Context::Body,
                begin: self.tokens.len(),
                is_first_column: self.scopes.is_empty(),
                ..Block::default()
            };
            self.enter(scope, None, outline);
        }
        self.brackets = branch.brackets;
    }
}
