//! Kinds of definitions.

const ALIAS: &str = "alias";

fn type_bits() -> u32 {
    let types = Kind::ALL.into_iter().filter(|kind| kind.is_type());
    types.fold(0, |bits, kind| bits | 1 << kind as u32)
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident: $name:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// By number.
            pub const ALL: [Kind; [$($name),*].len()] = [$(Kind::$kind),*];

            /// Name in queries.
            pub fn name(self) -> &'static str {
                [$($name),*][self as usize]
            }
        }
    };
}

kinds! {
    /// Free function.
    Function: "function";
    /// Function of a type.
    Method: "method";
    /// Macro.
    Macro: "macro";
    /// Alias.
    Type: "type";
    /// Class.
    Class: "class";
    /// Struct, record.
    Struct: "struct";
    /// Union.
    Union: "union";
    /// Enumeration.
    Enum: "enum";
    /// Interface, trait, type class.
    Interface: "interface";
    /// Module, namespace.
    Module: "module";
    /// `impl`, `extension`, `instance`.
    Implementation: "implementation";
    /// Constant.
    Constant: "constant";
    /// Global variable.
    Variable: "variable";
    /// Member.
    Field: "field";
    /// Value of an enum.
    Enumerator: "enumerator";
    /// Label, anchor.
    Label: "label";
    /// Heading.
    Section: "section";
    /// Key.
    Key: "key";
    /// Target.
    Target: "target";
    /// Selector.
    Selector: "selector";
    /// `id` of HTML.
    Id: "id";
    /// Table.
    Table: "table";
    /// Block of Terraform.
    Resource: "resource";
    /// Rule.
    Rule: "rule";
}

impl Kind {
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
