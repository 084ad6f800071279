//! Choices of the search form, with their names in addresses and on the page.

use utoipa::ToSchema;

pub(crate) trait Choice: Copy + PartialEq + 'static {
    /// Values, names in addresses, and labels.
    const ALL: &[(Self, &'static str, &'static str)];

    fn parse(name: &[u8]) -> Option<Self> {
        let mut all = Self::ALL.iter();
        let found = all.find(|(_, known, _)| known.as_bytes() == name);
        found.map(|(choice, ..)| *choice)
    }

    /// On the page.
    fn label(self) -> &'static str {
        self.row().2
    }

    /// In addresses.
    fn name(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> &'static (Self, &'static str, &'static str) {
        let mut all = Self::ALL.iter();
        let found = all.find(|(choice, ..)| *choice == self);
        found.expect("all choices are there")
    }
}

macro_rules! choices {
    ($($(#[$about:meta])* $choice:ident {
        $($(#[$default:ident])? $value:ident = $name:literal, $label:literal;)*
    })*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
        #[schema(rename_all = "lowercase")]
        pub(crate) enum $choice {
            $($(#[$default])? $value),*
        }

        impl Choice for $choice {
            const ALL: &[($choice, &'static str, &'static str)] =
                &[$(($choice::$value, $name, $label)),*];
        }
    )*};
}

choices! {
    /// How the query is read.
    #[derive(Default)]
    Mode {
        #[default]
        Keyword = "keyword", "Words and filters";
        Literal = "literal", "Exact text";
        Regexp = "regexp", "Regular expression";
    }

    /// Whether upper and lower case differ.
    Case {
        Auto = "auto", "Smart case";
        Yes = "yes", "Match case";
        No = "no", "Ignore case";
    }

    /// How the matches of an answer are grouped.
    #[derive(Default)]
    Group {
        #[default]
        None = "none", "By line";
        Package = "package", "By package";
        Document = "document", "By file";
    }

    /// Whether documents with the same text and the same matching lines are all shown.
    Copies {
        All = "all", "All copies";
        Folded = "folded", "Copies folded";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_names() {
        assert_eq!(Case::parse(b"no"), Some(Case::No));
        assert_eq!(Mode::parse(b"nonsense"), None);
    }
}
