//! Head of a statement.

use crate::symbols::{Kind, Token};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Top,
    /// Statements, or unknown.
    Body,
    Class,
    /// Interface or named object type.
    Interface,
    Object,
    /// Object at the top of a file, whose values are fields.
    NamedObject,
    Enum,
    Component,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Value {
    #[default]
    None,
    Start,
    /// `a.b`
    Word,
    /// `<T>` before parameters.
    Generic,
    /// `(…)`, maybe parameters.
    Group,
    /// Type behind `(…):`.
    Annotation,
    Arrow,
    Other,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// Expression or member.
    #[default]
    Statement,
    Variable(Kind),
    Declaration,
    Alias,
    Case,
    /// `property int name: 1` of QML.
    Property(Kind),
    /// Defines nothing: `import`.
    Other,
}

/// Body that follows.
#[derive(Clone, Copy)]
pub(super) struct Awaited {
    pub(super) place: Place,
    pub(super) definition: Option<u32>,
    pub(super) brackets: u32,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Head {
    pub(super) form: Form,
    pub(super) name: Option<Token>,
    /// Name before the last `.`.
    pub(super) qualifier: Option<Token>,
    pub(super) definition: Option<u32>,
    pub(super) awaited: Option<Awaited>,
    pub(super) value: Value,
    /// Path that begins the value, as in `a = b.c = …`.
    pub(super) next: (Option<Token>, Option<Token>),
    pub(super) is_call: bool,
    pub(super) brackets: u32,
    pub(super) angles: u32,
    pub(super) indent: usize,
}

impl Head {
    pub(super) fn at(indent: usize) -> Head {
        Head {
            indent,
            ..Head::default()
        }
    }

    pub(super) fn is_outside_value(&self) -> bool {
        self.brackets == 0 && self.value == Value::None
    }
}
