//! Texts of the help.

/// Query, and its matches in words.
type Example = (&'static str, &'static str);

pub(super) const SECTIONS: &[(&str, &[Example])] = &[
    (
        "Words",
        &[
            ("TCP_NODELAY", "lines with this text, anywhere in a word"),
            (
                "errno EINTR",
                "both in one file; lines with either are shown",
            ),
            ("malloc or calloc", "lines with one or the other"),
            ("malloc -free", "files with malloc and without free"),
            ("(malloc or calloc) -(free or realloc)", "parentheses group"),
            ("line:(errno EINTR)", "both on the same line"),
        ],
    ),
    (
        "Exact text",
        &[
            (
                "\"errno == EINTR\"",
                "the text with its blanks; \\\" and \\\\ within it stand for \" and \\",
            ),
            ("\"or\"", "a word that would be an operator"),
            ("word:yes err", "err, but not errno or stderr"),
        ],
    ),
    (
        "Upper and lower case",
        &[
            ("readme", "without capitals: README, Readme and readme"),
            ("ReadMe", "with a capital: exactly as it is typed"),
            (
                "case:yes readme",
                "exactly as it is typed, also without capitals",
            ),
        ],
    ),
    (
        "Regular expressions",
        &[
            (
                "/fopen\\(.*\"r\"/",
                "between slashes, within one line; as ripgrep reads them",
            ),
            ("/^#\\s*include/", "at the beginning of a line"),
            ("/colou?r/i", "i ignores case"),
            (
                "/struct \\w+ \\{\\n/",
                "an explicit \\n reaches into the next line",
            ),
        ],
    ),
];

pub(super) const KEYS: &[(&str, &str, &str)] = &[
    (
        "package",
        "package:^lib malloc",
        "in packages whose name begins with lib; -package: excludes",
    ),
    (
        "path",
        "path:^src/ main",
        "in files below src; a regular expression, or a glob such as path:src/**/*.c",
    ),
    (
        "name",
        "name:=Makefile install",
        "in files with this name; without = in names that contain it",
    ),
    ("lang", "lang:c EINTR", "in files of a language"),
    ("ext", "ext:h extern", "in files with this extension"),
    (
        "kind",
        "kind:tests EINTR",
        "in tests; also source, documentation and vendored",
    ),
    (
        "rev",
        "rev:* main",
        "in all indexed revisions of git repositories, not only the default one",
    ),
    ("branch", "branch:main main", "in a branch"),
    (
        "content",
        "type:path content:main Makefile",
        "a text within the files, where names are searched",
    ),
    ("line", "line:(a b)", "all of it on one line"),
    (
        "case",
        "case:no README",
        "no ignores case, yes does not, auto decides by capitals",
    ),
    ("word", "word:yes err", "whole words alone"),
    (
        "type",
        "type:path Makefile",
        "names of files instead of lines",
    ),
    (
        "count",
        "count:100 malloc",
        "the best 100 matches; the rest is not counted",
    ),
    ("context", "context:5 EINTR", "lines around each match"),
    ("timeout", "timeout:10s e", "how long the search may take"),
];
