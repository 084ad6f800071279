//! Ids of headings, made of their words as GitHub does, so that tables of contents lead there.

/// Comes before the ids, which must not be those of the page.
const PREFIX: &str = "md-";

/// Returns the id of a heading.
pub(super) fn of(heading: &str) -> String {
    let characters = heading.chars().filter_map(character);
    format!("{PREFIX}{}", characters.collect::<String>())
}

/// Returns the fragment that leads to a heading; empty if none is named.
pub(super) fn fragment(heading: &str) -> String {
    if heading.is_empty() {
        String::new()
    } else {
        format!("#{}", of(heading))
    }
}

fn character(character: char) -> Option<char> {
    match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ if character.is_alphanumeric() => character.to_lowercase().next(),
        _ => None,
    }
}
