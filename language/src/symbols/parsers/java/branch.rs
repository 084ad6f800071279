//! Directives such as `#if`, and their branches.

const BRANCHES_MAX: usize = 16;

pub(super) fn is_directive(text: &[u8]) -> bool {
    let Some(word) = text.strip_prefix(b"#") else {
        return false;
    };
    matches!(
        word.trim_ascii(),
        b"if"
            | b"elif"
            | b"elseif"
            | b"else"
            | b"endif"
            | b"end"
            | b"region"
            | b"endregion"
            | b"define"
            | b"undef"
            | b"pragma"
            | b"line"
            | b"nullable"
            | b"error"
            | b"warning"
    )
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
