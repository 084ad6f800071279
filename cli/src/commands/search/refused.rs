//! Rejects unsupported ripgrep flags, and suggests alternatives.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

struct Refused {
    short: Option<char>,
    long: &'static str,
    takes_value: bool,
    instead: &'static str,
}

macro_rules! refused {
    ($($short:literal $long:literal $takes_value:literal $instead:expr;)*) => {
        &[$(Refused {
            short: if $short == ' ' { None } else { Some($short) },
            long: $long,
            takes_value: $takes_value,
            instead: $instead,
        }),*]
    };
}

const AT_BUILD: &str = "files were selected when the index was built; see `trawl index --help`, \
                        and `trawl skipped` for the files that were left out";
const LINES: &str =
    "a pattern with \\n or (?s) matches over several lines without it; leave it out";
const REGEXP: &str = "there are no look-around and no back references; write several words, which must all \
                      be in a file, or exclude one: 'malloc -free'";
const PIPE: &str = "pass the output to another program, such as sed or cut";

/// A space means no short name; `true` takes a value.
const REFUSED: &[Refused] = refused! {
    'v' "invert-match" false "an index finds lines that match; to leave out files with a word, write it \
                              with a dash: 'malloc -free'";
    ' ' "files-without-match" false "exclude the word from other words or filters: -l 'lang:c -malloc'";
    'U' "multiline" false LINES;
    ' ' "multiline-dotall" false "write (?s) at the start of the pattern";
    'P' "pcre2" false REGEXP;
    ' ' "engine" true REGEXP;
    ' ' "auto-hybrid-regex" false REGEXP;
    'x' "line-regexp" false "write ^ and $: -e '^(?:PATTERN)$'";
    'f' "file" true "write each pattern with -e";
    'r' "replace" true PIPE;
    ' ' "files" false "write a filter that matches every path: trawl search 'path:.'";
    ' ' "type-list" false "types are ripgrep's; an unknown one names those with a similar name";
    ' ' "type-add" true "write -g GLOB for each glob of the type";
    ' ' "type-clear" true "write -g GLOB for each glob of the type";
    ' ' "iglob" true "write a regular expression: --path '(?i)NAME'";
    ' ' "glob-case-insensitive" false "write a regular expression: --path '(?i)NAME'";
    '.' "hidden" false "hidden files are in the index; leave it out";
    'u' "unrestricted" false AT_BUILD;
    ' ' "no-ignore" false AT_BUILD;
    ' ' "no-ignore-vcs" false AT_BUILD;
    ' ' "no-ignore-parent" false AT_BUILD;
    ' ' "no-ignore-dot" false AT_BUILD;
    ' ' "ignore-file" true AT_BUILD;
    'L' "follow" false AT_BUILD;
    'a' "text" false AT_BUILD;
    ' ' "binary" false AT_BUILD;
    'z' "search-zip" false AT_BUILD;
    'E' "encoding" true AT_BUILD;
    ' ' "max-filesize" true AT_BUILD;
    ' ' "pre" true AT_BUILD;
    'd' "max-depth" true "write a glob: -g '/*/*' is for files in directories of a package's top directory";
    'M' "max-columns" true PIPE;
    ' ' "trim" false PIPE;
    ' ' "passthru" false "write -C N for N lines around each match";
    'b' "byte-offset" false "--json has absolute_offset";
    'p' "pretty" false "write --color=always --heading";
    ' ' "sortr" true "write --sort path";
    ' ' "context-separator" true PIPE;
    'j' "threads" true "a search runs on all processors; leave it out";
    ' ' "mmap" false "leave it out";
    ' ' "line-buffered" false "write --stream to get matches as they are found";
};

#[derive(Debug)]
pub(super) struct RefusedFlags;

impl Args for RefusedFlags {
    fn augment_args(command: Command) -> Command {
        let command = REFUSED.iter().fold(command, |command, refused| {
            let action = if refused.takes_value {
                ArgAction::Append
            } else {
                ArgAction::Count
            };
            let flag = Arg::new(refused.long).long(refused.long);
            let flag = flag.action(action).hide(true);
            command.arg(match refused.short {
                Some(short) => flag.short(short),
                None => flag,
            })
        });
        // ripgrep's `--files` has no query.
        let names = REFUSED.iter().map(|refused| refused.long);
        command.mut_arg("query", |query| query.required_unless_present_any(names))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RefusedFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_given = |refused: &&Refused| {
            if refused.takes_value {
                matches.contains_id(refused.long)
            } else {
                matches.get_count(refused.long) > 0
            }
        };
        let Some(refused) = REFUSED.iter().find(is_given) else {
            return Ok(RefusedFlags);
        };
        let short = refused.short.map(|short| format!("-{short}, "));
        let name = format!("{}--{}", short.unwrap_or_default(), refused.long);
        let text = format!("{name} does not work on an index: {}\n", refused.instead);
        Err(clap::Error::raw(ErrorKind::UnknownArgument, text))
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), clap::Error> {
        Ok(())
    }
}
