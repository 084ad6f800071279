//! Directives such as `#if`, and their branches.

use crate::symbols::is_of;

const BRANCHES_MAX: usize = 16;

pub(super) fn is_directive(text: &[u8]) -> bool {
    let words = "if elif elseif else endif end region endregion define undef pragma line nullable \
                 error warning";
    let word = text.strip_prefix(b"#");
    word.is_some_and(|word| is_of(words, word.trim_ascii()))
}

/// Depths of scopes around the branches of `#if`: those of the first count.
#[derive(Default)]
pub(super) struct Branches {
    /// Depth behind the first branch; 0 in it.
    depths: Vec<usize>,
}

impl Branches {
    /// Returns the depth to go back to.
    pub(super) fn directive(&mut self, text: &[u8], depth: usize) -> Option<usize> {
        let word = text[1..].trim_ascii();
        match word {
            b"if" if self.depths.len() < BRANCHES_MAX => self.depths.push(0),
            b"else" | b"elif" | b"elseif" => {
                let first = self.depths.last_mut()?;
                if *first > 0 {
                    return Some(*first);
                }
                *first = depth;
            }
            b"endif" | b"end" => return self.depths.pop().filter(|depth| *depth > 0),
            _ => {}
        }
        None
    }

    pub(super) fn floor(&self) -> usize {
        self.depths.iter().copied().max().unwrap_or(0)
    }
}
