//! Pairs of brackets.

use crate::symbols::{Role, Token};

/// Index of the closing bracket, or the number of tokens.
pub(super) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.role {
            Role::Sign(b'(' | b'[') => depth += 1,
            Role::Sign(b')' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}
