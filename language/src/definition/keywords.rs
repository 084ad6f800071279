//! Keywords and modifiers around a name, by their part in a definition. All languages share them.

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident: $($word:literal)*;)*) => {$(
        $(#[$doc])*
        pub(super) fn $name(word: &[u8]) -> bool {
            matches!(word, $($word)|*)
        }
    )*};
}

words! {
    begins_function: b"fn" b"func" b"function" b"sub" b"proc";

    /// True if the defined name always follows.
    defines: b"def" b"defun" b"defmacro" b"trait" b"macro_rules!" b"defn" b"module" b"newtype"
        b"data" b"interface" b"package";

    /// True if the name that follows is defined only where its body opens.
    begins_body: b"class" b"struct" b"enum" b"union" b"type" b"object" b"record";

    begins_value: b"static" b"const" b"let" b"var" b"val";

    is_type_keyword: b"class" b"struct" b"enum" b"union" b"interface";

    is_modifier: b"abstract" b"async" b"class" b"const" b"crate" b"declare" b"default" b"enum"
        b"export" b"extern" b"final" b"global" b"inline" b"internal" b"local" b"open" b"override"
        b"partial" b"private" b"protected" b"pub" b"public" b"readonly" b"sealed" b"static"
        b"strict" b"typedef" b"unsafe" b"virtual";

    is_method_modifier: b"abstract" b"constexpr" b"explicit" b"final" b"inline" b"internal"
        b"override" b"private" b"protected" b"public" b"static" b"synchronized" b"virtual";
}

pub(super) const STATEMENTS: [&[u8]; 20] = [
    b"return", b"else", b"if", b"while", b"for", b"case", b"goto", b"import", b"from", b"use",
    b"echo", b"and", b"or", b"not", b"new", b"throw", b"await", b"switch", b"sizeof", b"elif",
];

/// First words of indented lines that define nothing, besides [`STATEMENTS`]. All also name
/// functions.
pub(super) const CALLS: [&[u8]; 15] = [
    b"match", b"assert", b"raise", b"unless", b"elsif", b"with", b"yield", b"delete", b"do",
    b"defer", b"go", b"catch", b"when", b"print", b"in",
];
