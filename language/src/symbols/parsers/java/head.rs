//! Head of a statement.

use crate::symbols::{Kind, Token};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// `Type name`, or only modifiers so far.
    #[default]
    Plain,
    Type(Kind),
    Function,
    Value(Kind),
    Case,
    /// Defines nothing: `import`.
    Other,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Head {
    pub(super) form: Form,
    pub(super) name: Option<Token>,
    /// Name before the last `.`.
    pub(super) qualifier: Option<Token>,
    pub(super) definition: Option<u32>,
    /// True behind a type, or a word in its place.
    pub(super) has_type: bool,
    pub(super) is_call: bool,
    pub(super) is_accessor: bool,
    pub(super) in_value: bool,
    /// True behind a word such as `private`.
    pub(super) is_member: bool,
    pub(super) is_static: bool,
    pub(super) is_record: bool,
    pub(super) is_final: bool,
    pub(super) kind: Option<Kind>,
    pub(super) brackets: u32,
    pub(super) angles: u32,
    /// Brackets around the last `new`, plus 1.
    pub(super) created: u32,
    pub(super) indent: usize,
    pub(super) tick: Option<u32>,
}

impl Head {
    pub(super) fn is_function(&self) -> bool {
        self.is_call || self.is_accessor
    }

    pub(super) fn is_outside(&self) -> bool {
        self.brackets == 0 && self.angles == 0
    }

    pub(super) fn close_bracket(&mut self) {
        self.brackets = self.brackets.saturating_sub(1);
        if self.brackets + 1 < self.created {
            self.created = 0;
        }
    }

    pub(super) fn at(indent: usize) -> Head {
        Head {
            indent,
            ..Head::default()
        }
    }

    pub(super) fn next_name(&mut self) {
        *self = Head {
            form: self.form,
            has_type: true,
            is_member: self.is_member,
            is_static: self.is_static,
            is_final: self.is_final,
            kind: self.kind,
            indent: self.indent,
            ..Head::default()
        };
    }
}
