//! Languages that paths do not tell.

use language::Language;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotedLanguage {
    /// Canonical, or empty for none.
    pub(crate) name: String,
    /// By `.gitattributes`.
    pub(crate) is_given: bool,
}

/// `.gitattributes` has hyphens for spaces.
pub(crate) fn canonical(written: &str) -> Option<&'static str> {
    let named = Language::named(written).or_else(|| Language::named(&written.replace('-', " ")));
    named.map(|language| language.name)
}

/// Language to note, `given` by `.gitattributes` or found in the text.
pub(crate) fn noted(path: &[u8], head: &[u8], given: Option<&str>) -> Option<NotedLanguage> {
    let by_path = Language::name_of(path);
    let by_text = Language::of(path, head).map(|language| language.name);
    let name = given.or(by_text);
    (name != by_path || by_text != by_path).then(|| NotedLanguage {
        name: name.unwrap_or_default().to_owned(),
        is_given: given.is_some(),
    })
}

pub(crate) fn language_of(path: &[u8], noted: Option<&NotedLanguage>) -> Option<&'static Language> {
    match noted {
        Some(noted) => Language::named(&noted.name),
        None => Language::of_path(path),
    }
}

pub(crate) fn is_current(path: &[u8], noted: Option<(&str, bool)>, given: Option<&str>) -> bool {
    match (noted, given) {
        (Some((name, _)), Some(given)) => name == given,
        (Some((_, is_given)), None) => !is_given,
        (None, Some(given)) => Language::name_of(path) == Some(given),
        (None, None) => true,
    }
}
