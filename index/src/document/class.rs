//! Class of a document: the part of its package, by path.
//!
//! Classes order documents in a package, so that a search that stops early has seen the best, and
//! are part of the static rank. Flat tables decide, worst class first: a test in a vendored library
//! is vendored.

use language::Language;
use language::path::{extension, split_name};
use language::table::is_code;

#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Class {
    #[default]
    Source,
    /// Documentation, configuration and unmatched files.
    Documentation,
    Tests,
    /// Foreign or generated: vendored, minified.
    Vendored,
}

impl Class {
    pub const ALL: [Class; 4] = [
        Class::Source,
        Class::Documentation,
        Class::Tests,
        Class::Vendored,
    ];

    /// Class that explains a static rank, given the package's part.
    pub fn of_rank(static_rank: f32, popularity: f32) -> Option<Class> {
        let explains = |class: &Class| popularity + class.share() == static_rank;
        Class::ALL.into_iter().find(explains)
    }

    pub(crate) fn in_language(self, path: &[u8], language: &str) -> Class {
        let (directories, _) = split_name(path);
        let is_by_path = matches!(self, Class::Tests | Class::Vendored)
            || is_debian_patch(directories)
            || has_component(directories, DOCUMENTATION_DIRECTORIES);
        match Language::named(language) {
            _ if is_by_path => self,
            Some(language) if language.is_code() => Class::Source,
            _ => Class::Documentation,
        }
    }

    pub fn share(self) -> f32 {
        match self {
            Class::Source => 0.30,
            Class::Documentation => 0.20,
            Class::Tests => 0.10,
            Class::Vendored => 0.0,
        }
    }
}

pub fn classify(path: &[u8]) -> Class {
    classify_as(path, None)
}

/// Like [`classify`]; the repository may say whether the file is foreign or generated.
pub fn classify_as(path: &[u8], is_foreign: Option<bool>) -> Class {
    let (directories, name) = split_name(path);
    let is_listed = || has_component(directories, VENDORED_DIRECTORIES) || is_generated(name);
    if is_debian_patch(directories) {
        return Class::Source;
    }
    if is_foreign.unwrap_or_else(is_listed) {
        return Class::Vendored;
    }
    if has_component(directories, TEST_DIRECTORIES) || is_test(name) {
        return Class::Tests;
    }
    if !has_component(directories, DOCUMENTATION_DIRECTORIES) && is_code(path) {
        return Class::Source;
    }
    Class::Documentation
}

/// False for patches, quilt copies (`.pc`) and documentation.
pub fn may_define(path: &[u8]) -> bool {
    let (directories, name) = split_name(path);
    let is_left_out = has_component(directories, &[".pc"])
        || is_debian_patch(directories)
        || Language::name_of(path) == Some("Diff")
        || has_component(directories, DOCUMENTATION_DIRECTORIES);
    let is_prose = PROSE_NAMES
        .iter()
        .any(|prose| name.starts_with(prose.as_bytes()))
        || Language::of_path(path).is_some() && !is_code(path);
    !is_left_out && !is_prose
}

#[rustfmt::skip]
const PROSE_NAMES: &[&str] = &[
    "AUTHORS", "CHANGES", "CONTRIBUTING", "COPYING", "ChangeLog", "Changes", "FAQ", "HACKING", "HISTORY", "INSTALL",
    "LICENSE", "NEWS", "README", "RELEASE", "THANKS", "TODO", "changelog", "copyright",
];

#[rustfmt::skip]
const VENDORED_DIRECTORIES: &[&str] = &[
    "vendor", "vendored", "_vendor", "third_party", "third-party", "thirdparty", "3rdparty",
    "node_modules", "bower_components", "autom4te.cache", "__pycache__", ".pc",
];

/// Output of autotools, and lock files.
#[rustfmt::skip]
const GENERATED_NAMES: &[&str] = &[
    "configure", "aclocal.m4", "Makefile.in", "config.h.in", "config.guess", "config.sub",
    "config.rpath", "ltmain.sh", "libtool.m4", "ltoptions.m4", "ltsugar.m4", "ltversion.m4",
    "lt~obsolete.m4", "depcomp", "install-sh", "missing", "mkinstalldirs", "test-driver",
    "ylwrap", "texinfo.tex", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock",
    "pnpm-lock.yaml", "Cargo.lock", "Gemfile.lock", "Pipfile.lock", "composer.lock",
    "poetry.lock", "uv.lock", "flake.lock", "go.sum",
];

/// Suffixes of generated files, ignoring case.
///
/// `*.map` only for source maps: `libfoo.map` is a handwritten linker script.
#[rustfmt::skip]
const GENERATED_ENDS: &[&str] = &[
    ".min.js", ".min.mjs", ".min.css", "-min.js", "-min.css", ".bundle.js", ".js.map", ".mjs.map",
    ".cjs.map", ".ts.map", ".css.map", ".pb.go", ".pb.gw.go", ".pb.cc", ".pb.h", "_pb.js",
    "_pb2.py", "_pb2_grpc.py", ".g.dart",
];

const GENERATED_PARTS: &[&str] = &["_generated.", ".generated.", "-generated."];

#[rustfmt::skip]
const TEST_DIRECTORIES: &[&str] = &[
    "test", "tests", "testing", "testdata", "test-data", "test_data", "testsuite", "__tests__",
    "t", "spec", "specs", "example", "examples", "sample", "samples", "bench", "benches",
    "benchmark", "benchmarks", "fixture", "fixtures",
];

const TEST_NAMES: &[&str] = &["tests.rs", "test.rs", "tests.py", "conftest.py"];

/// Stem suffixes of test files, in lower case.
const TEST_ENDS: &[&str] = &[
    "_test", "_tests", "-test", "-tests", "_spec", ".test", ".spec",
];

/// Languages that name test files after classes: `ParserTest.java`.
#[rustfmt::skip]
const TEST_CLASS_EXTENSIONS: &[&str] = &[
    "java", "kt", "scala", "groovy", "cs", "php", "swift", "m", "mm",
];

const DOCUMENTATION_DIRECTORIES: &[&str] = &["doc", "docs", "documentation", "man"];

fn has_component(directories: &[u8], names: &[&str]) -> bool {
    let mut components = directories.split(|&byte| byte == b'/');
    components.any(|it| {
        names
            .iter()
            .any(|name| it.eq_ignore_ascii_case(name.as_bytes()))
    })
}

/// Patches of a Debian package are the maintainer's own. Many have no extension or are named after
/// tests.
fn is_debian_patch(directories: &[u8]) -> bool {
    let below = directories.strip_prefix(b"debian/patches".as_slice());
    below.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
}

fn is_generated(name: &[u8]) -> bool {
    let has = |part: &&str| memchr::memmem::find(name, part.as_bytes()).is_some();
    is_one_of(name, GENERATED_NAMES)
        || GENERATED_ENDS.iter().any(|end| ends_with(name, end))
        || GENERATED_PARTS.iter().any(has)
}

fn is_test(name: &[u8]) -> bool {
    if name.starts_with(b"test_") || is_one_of(name, TEST_NAMES) {
        return true;
    }
    let Some(extension) = extension(name) else {
        return false;
    };
    let stem = &name[..name.len() - extension.len() - 1];
    // Case distinguishes a test (`ParserTest.java`) from a word (`latest.java`).
    let is_class = stem.ends_with(b"Test") || stem.ends_with(b"Tests");
    TEST_ENDS.iter().any(|end| ends_with(stem, end))
        || is_class && is_one_of(extension, TEST_CLASS_EXTENSIONS)
}

fn is_one_of(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|known| known.as_bytes() == name)
}

/// Ignores case; a name equal to `end` does not count.
fn ends_with(name: &[u8], end: &str) -> bool {
    name.len() > end.len() && name[name.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_classes() {
        use Class::{Documentation, Source, Tests, Vendored};
        #[rustfmt::skip]
        let table: &[(Class, &[&str])] = &[
            (Source, &[
                "main.c", "src/lib.rs", "include/linux/list.h", "A/B.JAVA", "x.S", "Makefile",
                "src/Makefile.am", "CMakeLists.txt", "meson.build", "debian/rules", "Dockerfile",
                "configure.ac", "Makefile.linux", "debian/patches/test_fix.patch",
                "debian/patches/01_tests", "fix.diff", "src/version.h.in", "style.css",
                "license.go", "latest.java", "libfoo.map.c", "testing.c", "contest.py",
                "src/protest.rs", "vendor.c", "configure.py",
            ]),
            (Documentation, &[
                "README", "README.md", "COPYING", "doc/example.c", "DOCS/conf.py", "po/de.po",
                "package.json", "pom.xml", "index.html", "a.yaml", "man/ls.1", "ls.1",
                "libfoo.map", "data.bin", ".gitignore", "", "debian/control",
                "debian/patches_notes", "notes.txt", "Cargo.toml",
            ]),
            (Tests, &[
                "tests/it/main.rs", "src/Test/A.java", "t/00-load.t", "spec/a_spec.rb",
                "test_parse.py", "a_test.go", "src/ParserTest.java", "a.spec.ts", "A.test.JS",
                "examples/hello.c", "benches/b.rs", "testdata/README.md", "src/tests.rs",
                "debian/tests/control", "fixtures/a.json", "doc/examples/a.c",
            ]),
            (Vendored, &[
                "vendor/a/b.go", "third_party/z/z.c", "web/node_modules/x/tests/i.js",
                ".pc/fix/src/a.c", "jquery.min.js", "a-min.js", "app.MIN.css", "app.js.map",
                "configure", "sub/Makefile.in", "api/v1.pb.go", "v1_pb2.py",
                "zz_generated.deepcopy.go", "a.generated.h", "Cargo.lock", "go.sum",
                "package-lock.json", "config.guess",
            ]),
        ];
        for (class, paths) in table {
            for path in *paths {
                assert_eq!(classify(path.as_bytes()), *class, "{path}");
            }
        }
    }

    #[test]
    fn patches_and_documentation_define_nothing() {
        for path in [
            "a.patch",
            "a.DIFF",
            "debian/patches/01_fix",
            ".pc/fix/src/a.c",
            "doc/a.c",
            "README.c",
            "ChangeLog-2019",
            "a.md",
            "ls.1",
            "po/de.po",
            "Documentation/api.txt",
        ] {
            assert!(!may_define(path.as_bytes()), "{path}");
        }
        for path in [
            "a.c",
            "git-rebase",
            "debian/rules",
            "debian/postinst",
            "tests/a.c",
            "vendor/a.c",
            "readme.rs",
        ] {
            assert!(may_define(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn what_a_repository_says_of_a_file_precedes_its_name() {
        assert_eq!(classify_as(b"main.c", Some(true)), Class::Vendored);
        assert_eq!(classify_as(b"vendor/main.c", Some(false)), Class::Source);
        assert_eq!(classify_as(b"tests/x.c", Some(false)), Class::Tests);
    }

    #[test]
    fn a_language_makes_source_of_documentation() {
        for (path, language, class) in [
            ("tool", "Python", Class::Source),
            ("a.ts", "XML", Class::Documentation),
            ("a.inc", "", Class::Documentation),
            ("doc/tool", "Python", Class::Documentation),
            ("tests/tool", "Python", Class::Tests),
            ("debian/patches/01_fix", "Text", Class::Source),
        ] {
            let path = path.as_bytes();
            assert_eq!(classify(path).in_language(path, language), class);
        }
    }

    #[test]
    fn paths_need_not_be_utf8() {
        assert_eq!(classify(b"\xff/\xfe.c"), Class::Source);
        assert_eq!(classify(b"vendor/\xff"), Class::Vendored);
    }

    #[test]
    fn classes_are_ordered_best_first() {
        assert!(Class::ALL.is_sorted());
        assert!(Class::ALL.is_sorted_by(|a, b| a.share() > b.share()));
    }

    #[test]
    fn the_static_rank_tells_the_class() {
        for popularity in [0.0, 0.1, 0.3427, 0.7267, 1e-7] {
            for class in Class::ALL {
                let rank = popularity + class.share();
                assert_eq!(Class::of_rank(rank, popularity), Some(class));
            }
        }
        assert_eq!(Class::of_rank(0.25, 0.0), None);
    }
}
