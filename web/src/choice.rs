//! The choices in the search form, with their names in addresses and on the page.

use utoipa::ToSchema;

/// A value that a user chooses from a list.
pub(crate) trait Choice: Copy + PartialEq + 'static {
    /// Every value, with its name in addresses and its label in the form.
    const ALL: &[(Self, &'static str, &'static str)];

    /// Returns the value with this name.
    fn parse(name: &[u8]) -> Option<Self> {
        let mut all = Self::ALL.iter();
        let found = all.find(|(_, known, _)| known.as_bytes() == name);
        found.map(|(choice, ..)| *choice)
    }

    /// Returns the name in addresses.
    fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        let found = all.find(|(choice, ..)| *choice == self);
        found.map_or("", |(_, name, _)| name)
    }
}

/// How the query is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Mode {
    #[default]
    Keyword,
    Literal,
    Regexp,
}

impl Choice for Mode {
    const ALL: &[(Mode, &'static str, &'static str)] = &[
        (Mode::Keyword, "keyword", "Words and filters"),
        (Mode::Literal, "literal", "Exact text"),
        (Mode::Regexp, "regexp", "Regular expression"),
    ];
}

/// Whether upper and lower case differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Case {
    Auto,
    Yes,
    No,
}

impl Choice for Case {
    const ALL: &[(Case, &'static str, &'static str)] = &[
        (Case::Auto, "auto", "Smart case"),
        (Case::Yes, "yes", "Match case"),
        (Case::No, "no", "Ignore case"),
    ];
}

/// How the matches of an answer are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Group {
    #[default]
    None,
    Package,
    Document,
}

impl Choice for Group {
    const ALL: &[(Group, &'static str, &'static str)] = &[
        (Group::None, "none", "Best lines first"),
        (Group::Package, "package", "Group by package"),
        (Group::Document, "document", "Group by file"),
    ];
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
