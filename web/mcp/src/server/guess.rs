//! Forms of other search tools, translated to Trawl's query language.
//!
//! Words between quotes stay as they are. A translation comes with a note, so that the model learns
//! the right form.

/// Keys of others, and ours.
const KEYS: [(&str, &str); 5] = [
    ("filename", "path"),
    ("filepath", "path"),
    ("extension", "ext"),
    ("repository", "repo"),
    ("org", "repo"),
];

/// Keys of others for the name of a definition. Those lines come first here anyway.
const SYMBOLS: [&str; 3] = ["symbol", "sym", "function"];

/// Returns the query in our language, and a note on each translation.
pub(super) fn translated(typed: &str) -> (String, Vec<String>) {
    let (mut words, mut notes) = (Vec::new(), Vec::new());
    let mut rest = split(typed).into_iter();
    while let Some(word) = rest.next() {
        let translated = match word {
            "-t" | "--type" => rest.next().map(|value| format!("lang:{value}")),
            "-g" | "--glob" => rest.next().map(glob),
            "-i" | "--ignore-case" => Some("case:no".to_owned()),
            "-w" | "--word-regexp" => Some("word:yes".to_owned()),
            _ => key(word),
        };
        match translated {
            Some(ours) => {
                notes.push(format!("{word} is read as {ours}"));
                words.push(ours);
            }
            None => words.push(word.to_owned()),
        }
    }
    if notes.is_empty() {
        return (typed.to_owned(), notes);
    }
    (words.join(" "), notes)
}

/// Splits at spaces outside of quotes.
fn split(typed: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let is_end = |letter: char| {
        is_quoted ^= letter == '"';
        !is_quoted && letter.is_whitespace()
    };
    let words = typed.split(is_end);
    words.filter(|word| !word.is_empty()).collect()
}

fn glob(value: &str) -> String {
    let value = value.trim_matches(['"', '\'']);
    match value.strip_prefix('!') {
        Some(value) => format!("-path:g:{value}"),
        None => format!("path:g:{value}"),
    }
}

/// Reads a key of others, also negated or behind a parenthesis.
fn key(word: &str) -> Option<String> {
    let signs = word.len() - word.trim_start_matches(['-', '(']).len();
    let (signs, term) = word.split_at(signs);
    let (name, value) = term.split_once(':')?;
    if value.is_empty() || value.starts_with(':') {
        return None;
    }
    if SYMBOLS.contains(&name) {
        let name = value.trim_end_matches(')');
        let (name, close) = (name.trim_matches(['"', '\'']), &value[name.len()..]);
        return Some(format!("{signs}\"{name}\"w{close}"));
    }
    let (_, ours) = KEYS.iter().find(|(theirs, _)| *theirs == name)?;
    Some(format!("{signs}{ours}:{value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, expected: &str) {
        let (query, notes) = translated(typed);
        assert_eq!(query, expected, "{typed}");
        assert_eq!(notes.is_empty(), typed == expected, "{notes:?}");
    }

    #[test]
    fn forms_of_other_tools_are_translated() {
        check("foo -t rust", "foo lang:rust");
        check("-g '!test/**' foo -i", "-path:g:test/** foo case:no");
        check("filename:Makefile x", "path:Makefile x");
        check("-extension:go org:k8s", "-ext:go repo:k8s");
        check("symbol:openFile", "\"openFile\"w");
        check("(symbol:a or sym:b)", "(\"a\"w or \"b\"w)");
    }

    #[test]
    fn our_own_forms_stay() {
        for typed in [
            "/re+/ (a OR b) path:**/*.go",
            "\"filename:x -t y\" std::string",
            "malloc  free lang:c -path:test",
            "symbol::Name repository: -t",
        ] {
            check(typed, typed);
        }
    }
}
