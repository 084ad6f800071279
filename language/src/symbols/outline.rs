//! Definitions found so far, and open scopes.

use super::{Definition, Incomplete, Kind, Parent};
use std::ops::Range;

/// Definitions of a text. A header of registers has 300,000.
pub const DEFINITIONS_MAX: usize = 1 << 19;

/// Open scopes with a definition.
pub const SCOPES_MAX: usize = 256;

pub(super) const NAME_BYTES_MAX: usize = 255;

pub(super) struct Outline<'t> {
    pub(super) text: &'t [u8],
    definitions: Vec<Definition>,
    /// Definition of each open scope.
    scopes: Vec<Option<u32>>,
    deeper: usize,
    is_full: bool,
}

impl<'t> Outline<'t> {
    pub(super) fn new(text: &'t [u8]) -> Outline<'t> {
        Outline {
            text,
            definitions: Vec::new(),
            scopes: Vec::new(),
            deeper: 0,
            is_full: false,
        }
    }

    #[inline]
    pub(super) fn bytes(&self, range: Range<u32>) -> &'t [u8] {
        &self.text[range.start as usize..range.end as usize]
    }

    /// True if only blanks are between a byte and the begin of its line.
    pub(super) fn begins_line(&self, at: u32) -> bool {
        let before = self.bytes(0..at).iter().rev();
        let mut before = before.skip_while(|byte| matches!(byte, b' ' | b'\t'));
        before.next().is_none_or(|byte| *byte == b'\n')
    }

    /// Adds to the innermost scope with a definition. Returns the index for [`enter`](Self::enter),
    /// unless the name is empty, too long, or over several lines.
    pub(super) fn define(&mut self, name: Range<u32>, kind: Kind) -> Option<u32> {
        let parent = self.innermost();
        let parent = parent.map_or(Parent::None, Parent::Definition);
        self.define_in(parent, name, kind)
    }

    pub(super) fn declare(&mut self, name: Range<u32>, kind: Kind) -> Option<u32> {
        let definition = self.define(name, kind);
        self.set_declaration(definition);
        definition
    }

    pub(super) fn set_declaration(&mut self, definition: Option<u32>) {
        if let Some(index) = definition {
            self.definitions[index as usize].is_declaration = true;
        }
    }

    pub(super) fn define_in(
        &mut self,
        parent: Parent,
        name: Range<u32>,
        kind: Kind,
    ) -> Option<u32> {
        let bytes = self.bytes(name.clone());
        if bytes.is_empty() || bytes.len() > NAME_BYTES_MAX || bytes.contains(&b'\n') {
            return None;
        }
        if self.definitions.len() == DEFINITIONS_MAX {
            self.is_full = true;
            return None;
        }
        let end = name.end;
        self.definitions.push(Definition {
            name,
            kind,
            is_declaration: false,
            end,
            parent,
        });
        Some(self.definitions.len() as u32 - 1)
    }

    /// Adds to the scope with a name, or to the innermost.
    pub(super) fn define_of(
        &mut self,
        of: Option<Range<u32>>,
        name: Range<u32>,
        kind: Kind,
    ) -> Option<u32> {
        match of {
            Some(of) => self.define_in(Parent::Name(of), name, kind),
            None => self.define(name, kind),
        }
    }

    pub(super) fn definition(&mut self, index: u32) -> &mut Definition {
        &mut self.definitions[index as usize]
    }

    pub(super) fn enter(&mut self, definition: Option<u32>) {
        if self.scopes.len() == SCOPES_MAX {
            self.deeper += 1;
        } else {
            self.scopes.push(definition);
        }
    }

    /// Changes the innermost scope's owner.
    pub(super) fn adopt(&mut self, definition: Option<u32>) {
        if let Some(scope) = self.scopes.last_mut().filter(|it| it.is_none()) {
            *scope = definition;
        }
    }

    /// Closes the innermost scope, and its definition's body at `end`.
    pub(super) fn leave(&mut self, end: u32) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if let Some(Some(index)) = self.scopes.pop() {
            let definition = &mut self.definitions[index as usize];
            definition.end = definition.end.max(end);
        }
    }

    pub(super) fn leave_to(&mut self, depth: usize, end: u32) {
        while self.depth() > depth {
            self.leave(end);
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.scopes.len() + self.deeper
    }

    pub(super) fn innermost(&self) -> Option<u32> {
        self.scopes.iter().rev().find_map(|scope| *scope)
    }

    pub(super) fn innermost_kind(&self) -> Option<Kind> {
        let index = self.innermost()?;
        Some(self.definitions[index as usize].kind)
    }

    pub(super) fn scope_kind(&self) -> Option<Kind> {
        let index = (*self.scopes.last()?)?;
        Some(self.definitions[index as usize].kind)
    }

    pub(super) fn innermost_name(&self) -> Option<&'t [u8]> {
        let index = self.innermost()?;
        Some(self.bytes(self.definitions[index as usize].name.clone()))
    }

    pub(super) fn len(&self) -> u32 {
        self.definitions.len() as u32
    }

    /// Names the unnamed type around the definitions from `first` on.
    pub(super) fn name_parent(&mut self, first: u32, name: &Range<u32>) {
        let parent = self.innermost();
        let parent = parent.map_or(Parent::None, Parent::Definition);
        for it in &mut self.definitions[first as usize..] {
            if it.parent == parent && it.kind != Kind::Macro {
                it.parent = Parent::Name(name.clone());
            }
        }
    }

    pub(super) fn incomplete(&self) -> Option<Incomplete> {
        self.is_full.then_some(Incomplete::TooManyDefinitions)
    }

    /// Closes scopes, sorts by name, and renumbers parents.
    pub(super) fn finish(mut self) -> Vec<Definition> {
        self.leave_to(0, self.text.len() as u32);
        for it in &mut self.definitions {
            it.end = it.end.max(it.name.end);
        }
        if self.definitions.is_sorted_by_key(|it| it.name.start) {
            return self.definitions;
        }
        let mut order: Vec<u32> = (0..self.definitions.len() as u32).collect();
        order.sort_by_key(|index| self.definitions[*index as usize].name.start);
        let mut new = vec![0; order.len()];
        for (place, index) in order.iter().enumerate() {
            new[*index as usize] = place as u32;
        }
        let mut sorted: Vec<Definition> = Vec::with_capacity(order.len());
        for index in order {
            let mut definition = self.definitions[index as usize].clone();
            if let Parent::Definition(parent) = &mut definition.parent {
                *parent = new[*parent as usize];
            }
            sorted.push(definition);
        }
        sorted
    }
}
