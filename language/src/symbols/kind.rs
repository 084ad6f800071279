//! Kinds of definitions.

const ALIAS: &str = "alias";

fn type_bits() -> u32 {
    let types = Kind::ALL.into_iter().filter(|kind| kind.is_type());
    types.fold(0, |bits, kind| bits | 1 << kind as u32)
}

/// Kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Free function.
    Function,
    /// Function of a type.
    Method,
    /// Macro.
    Macro,
    /// Alias.
    Type,
    /// Class.
    Class,
    /// Struct, record.
    Struct,
    /// Union.
    Union,
    /// Enumeration.
    Enum,
    /// Interface, trait, type class.
    Interface,
    /// Module, namespace.
    Module,
    /// `impl`, `extension`, `instance`.
    Implementation,
    /// Constant.
    Constant,
    /// Global variable.
    Variable,
    /// Member.
    Field,
    /// Value of an enum.
    Enumerator,
    /// Label, anchor.
    Label,
    /// Heading.
    Section,
    /// Key.
    Key,
    /// Target.
    Target,
    /// Selector.
    Selector,
    /// `id` of HTML.
    Id,
    /// Table.
    Table,
    /// Block of Terraform.
    Resource,
    /// Rule.
    Rule,
}

impl Kind {
    /// All kinds, by number.
    pub const ALL: [Kind; 24] = [
        Kind::Function,
        Kind::Method,
        Kind::Macro,
        Kind::Type,
        Kind::Class,
        Kind::Struct,
        Kind::Union,
        Kind::Enum,
        Kind::Interface,
        Kind::Module,
        Kind::Implementation,
        Kind::Constant,
        Kind::Variable,
        Kind::Field,
        Kind::Enumerator,
        Kind::Label,
        Kind::Section,
        Kind::Key,
        Kind::Target,
        Kind::Selector,
        Kind::Id,
        Kind::Table,
        Kind::Resource,
        Kind::Rule,
    ];

    /// Name in queries.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Function => "function",
            Kind::Method => "method",
            Kind::Macro => "macro",
            Kind::Type => "type",
            Kind::Class => "class",
            Kind::Struct => "struct",
            Kind::Union => "union",
            Kind::Enum => "enum",
            Kind::Interface => "interface",
            Kind::Module => "module",
            Kind::Implementation => "implementation",
            Kind::Constant => "constant",
            Kind::Variable => "variable",
            Kind::Field => "field",
            Kind::Enumerator => "enumerator",
            Kind::Label => "label",
            Kind::Section => "section",
            Kind::Key => "key",
            Kind::Target => "target",
            Kind::Selector => "selector",
            Kind::Id => "id",
            Kind::Table => "table",
            Kind::Resource => "resource",
            Kind::Rule => "rule",
        }
    }

    /// Bits of all kinds.
    pub const ALL_BITS: u32 = (1 << Kind::ALL.len()) - 1;

    /// Bits of the kinds with a name: `type` names all types.
    pub fn bits_of(name: &str) -> Option<u32> {
        if name == ALIAS {
            return Some(1 << Kind::Type as u32);
        }
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name)?;
        Some(match kind {
            Kind::Type => type_bits(),
            kind => 1 << kind as u32,
        })
    }

    /// Shortest list of names.
    pub fn names_of(bits: u32) -> Vec<&'static str> {
        let all_types = bits & type_bits() == type_bits();
        let mut names = Vec::new();
        for kind in Kind::ALL {
            match kind {
                _ if bits >> kind as u32 & 1 == 0 => {}
                Kind::Type if !all_types => names.push(ALIAS),
                kind if all_types && kind.is_type() && kind != Kind::Type => {}
                kind => names.push(kind.name()),
            }
        }
        names
    }

    pub(crate) fn of_function(is_method: bool) -> Kind {
        if is_method {
            Kind::Method
        } else {
            Kind::Function
        }
    }

    /// Names in queries.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Kind::ALL.into_iter().map(Kind::name).chain([ALIAS])
    }

    /// Class, struct, or the like.
    pub fn is_type(self) -> bool {
        matches!(
            self,
            Kind::Type | Kind::Class | Kind::Struct | Kind::Union | Kind::Enum | Kind::Interface
        )
    }
}
