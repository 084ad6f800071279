//! Holes of strings: `${…}` has code in a template, and is a form in a string of a shell.

use super::super::quote::{Hole, INNER, LINES, Quote};
use super::super::syntax::Syntax;
use super::super::{LineState, Tokens};
use super::{Reader, opening};

/// Deeper holes are text.
const HOLES_MAX: usize = 8;

/// Open holes at the end of a line, and what the innermost is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holes {
    open: [OpenHole; HOLES_MAX],
    depth: u8,
    inside: Inside,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OpenHole {
    form: u8,
    /// End of code; 0 if it is a form.
    close: u8,
    pairs: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Code,
    Form(u8),
    Heredoc(u32),
}

impl Holes {
    pub(super) fn are_open(&self) -> bool {
        self.depth > 0
    }

    pub(super) fn outermost(&self) -> u8 {
        self.open[0].form
    }

    fn innermost(&mut self) -> Option<&mut OpenHole> {
        let last = usize::from(self.depth).checked_sub(1)?;
        self.open.get_mut(last)
    }

    fn push(&mut self, form: u8, close: u8) -> bool {
        let Some(hole) = self.open.get_mut(usize::from(self.depth)) else {
            return false;
        };
        *hole = OpenHole {
            form,
            close,
            pairs: 1,
        };
        self.depth += 1;
        true
    }

    fn pop(&mut self) -> Option<u8> {
        let form = self.innermost()?.form;
        self.depth -= 1;
        // Equal states have equal bytes.
        self.open[usize::from(self.depth)] = OpenHole::default();
        Some(form)
    }

    /// State at the end of a line, which ends forms of one line.
    pub(super) fn around(mut self, state: LineState, syntax: &Syntax) -> LineState {
        let lasts = |hole: &OpenHole| {
            let form = syntax.family.quotes.get(usize::from(hole.form));
            form.is_some_and(|form| form.has(LINES))
        };
        let open = &self.open[..usize::from(self.depth)];
        if open.is_empty() || !open.iter().all(lasts) {
            return match state {
                LineState::Quote { .. } if !open.is_empty() => LineState::Code,
                state => state,
            };
        }
        self.inside = match state {
            LineState::Code => Inside::Code,
            LineState::Quote { form, .. } => Inside::Form(form),
            LineState::Heredoc(end) => Inside::Heredoc(end),
            state => return state,
        };
        LineState::Hole(self)
    }
}

impl<T: Tokens> Reader<'_, T> {
    pub(super) fn go_on_inside(&mut self, holes: Holes) -> Option<LineState> {
        self.holes = Holes {
            inside: Inside::Code,
            ..holes
        };
        match holes.inside {
            Inside::Code => None,
            Inside::Form(form) => self.go_on(LineState::Quote { form, depth: 1 }),
            Inside::Heredoc(end) => self.go_on(LineState::Heredoc(end)),
        }
    }

    pub(super) fn open_hole(&mut self, form: u8, quote: &Quote) -> Option<&'static Hole> {
        let mut holes = quote.holes.iter();
        let hole = holes.find(|hole| self.rest().starts_with(hole.open.as_bytes()))?;
        let is_doubled = hole.is_brace() && self.byte(1) == b'{';
        self.at += hole.open.len() + usize::from(is_doubled);
        let is_open = !is_doubled && self.holes.push(form, hole.close);
        is_open.then_some(hole)
    }

    pub(super) fn form_of_hole(&self, hole: &Hole) -> Option<(u8, &'static Quote)> {
        let mut forms = (0..).zip(self.syntax.family.quotes);
        forms.find(|(_, quote)| quote.open == hole.open)
    }

    pub(super) fn leave_form(&mut self) -> Option<(u8, &'static Quote)> {
        let hole = self.holes.innermost().filter(|hole| hole.close == 0)?;
        let form = hole.form;
        let quote = self.syntax.family.quotes.get(usize::from(form))?;
        self.holes.pop();
        Some((form, quote))
    }

    /// Returns the form around if the hole ends.
    pub(super) fn leave_hole(&mut self, sign: u8) -> Option<(u8, &'static Quote)> {
        let next = self.byte(0);
        let hole = self.holes.innermost()?;
        let quote = self.syntax.family.quotes.get(usize::from(hole.form))?;
        let is_brace = quote.holes.first().is_some_and(Hole::is_brace);
        let is_format = is_brace
            && hole.pairs == 1
            && (sign == b':' || sign == b'!' && next.is_ascii_alphabetic());
        if sign == hole.close || is_format || is_brace && b"])".contains(&sign) {
            hole.pairs = hole.pairs.saturating_sub(1);
        } else if sign == opening(hole.close) || is_brace && b"[(".contains(&sign) {
            hole.pairs = hole.pairs.saturating_add(1);
        }
        if hole.pairs > 0 {
            return None;
        }
        let form = self.holes.pop()?;
        Some((form, quote))
    }

    pub(super) fn prefixed(&mut self, start: usize) -> Option<Option<LineState>> {
        let (syntax, prefix) = (self.syntax, &self.line[start..self.at]);
        let mut prefixes = syntax.family.prefixes.iter();
        if !prefixes.any(|known| prefix.eq_ignore_ascii_case(known.as_bytes())) {
            return None;
        }
        let rest = self.rest();
        let has_holes = prefix.iter().any(|byte| byte.eq_ignore_ascii_case(&b'f'));
        let mut forms = (0..).zip(syntax.family.quotes);
        let with_holes = forms.find(|(_, quote)| {
            let open = quote.open.strip_prefix('f').unwrap_or_default();
            has_holes && quote.has(INNER) && !open.is_empty() && rest.starts_with(open.as_bytes())
        });
        let (form, quote, bytes) = match with_holes {
            Some((form, quote)) => (form, quote, quote.open.len() - 1),
            None => {
                let (form, quote) = self.form()?;
                (form, quote, quote.open.len())
            }
        };
        self.at += bytes;
        Some(self.quoted(form, quote, start, 1))
    }
}
