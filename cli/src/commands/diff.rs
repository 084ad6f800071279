//! `trawl diff`, from the HTTP API: unified text as `git diff` prints it.

use super::api_printer::ApiFlags;
use crate::exit::Exit;
use crate::terminal::{complain, escaped};
use anyhow::Result;
use std::io::{self, IsTerminal, Write};
use web::model::{
    ChangedFileKind, Diff, DiffFile, DiffHunk, DiffLine, DiffLineKind, DiffObject,
    exact as exact_bytes,
};

const BOLD: &str = "\x1b[1m";
const CYAN: &str = "\x1b[36m";
const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
const RESET: &str = "\x1b[m";

/// Show the differences of two revisions of a repository, or of two packages
///
/// REPO@REV names a revision of a repository, and @REV one of the same repository. Prints a
/// patch in git's format. Exit status: 0 success, 1 no difference, 2 error, 3 incomplete.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl diff tools/trawl@v1.0 @main                    two revisions
  trawl diff tools/trawl@main                          the last commit of main
  trawl diff i3-wm_4.22 i3-wm_4.23 -- src              two packages, below src
  trawl diff tools/trawl@v1.0 @main --json -- src/main.rs")]
pub(crate) struct DiffArguments {
    #[command(flatten)]
    api: ApiFlags,
    /// Package, or REPO@REV
    #[arg(value_name = "A")]
    from: String,
    /// Package, REPO@REV or @REV [default: A, compared with its first parent]
    #[arg(value_name = "B")]
    to: Option<String>,
    /// File, or directory of files
    #[arg(value_name = "PATH", last = true)]
    path: Option<String>,
    /// Common lines around changed ones
    #[arg(short = 'U', long, value_name = "N", default_value = "3")]
    context: u32,
}

pub(super) fn run(arguments: &DiffArguments) -> Result<Exit> {
    let parameters = arguments.parameters();
    let parameters = parameters
        .iter()
        .map(|(name, value)| (*name, value.as_bytes()));
    let parameters: Vec<_> = parameters.collect();
    let is_terminal = io::stdout().is_terminal();
    let style = Style {
        colours: is_terminal && std::env::var_os("NO_COLOR").is_none(),
        exact: !is_terminal,
    };
    let (mut differs, mut complete) = (false, true);
    arguments
        .api
        .show("/api/v2/diff", &parameters, |part: Diff, out| {
            for file in &part.files {
                complete &= file
                    .omitted
                    .as_deref()
                    .is_none_or(|reason| reason == "binary");
                style.file(file, out)?;
            }
            differs |= !part.files.is_empty();
            complete &= part.complete;
            Ok(part.next)
        })?;
    if !complete {
        complain("some differences are left out: name a directory or a file after --");
    }
    Ok(Exit::found(differs).if_complete(complete))
}

impl DiffArguments {
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let split = |side: &str| match side.rsplit_once('@') {
            Some((package, revision)) => (package.to_owned(), revision.to_owned()),
            None => (side.to_owned(), String::new()),
        };
        let (package, from) = split(&self.from);
        let mut parameters = match self.to.as_deref().map(split) {
            None => vec![("package", package), ("to", from)],
            Some((other, to)) if other.is_empty() || (other == package && to != from) => {
                vec![("package", package), ("from", from), ("to", to)]
            }
            Some((other, to)) => vec![
                ("from", package),
                ("from_rev", from),
                ("to", other),
                ("to_rev", to),
            ],
        };
        parameters.push(("context", self.context.to_string()));
        parameters.extend(self.path.clone().map(|path| ("path", path)));
        parameters
    }
}

struct Style {
    colours: bool,
    exact: bool,
}

impl Style {
    fn file(&self, file: &DiffFile, out: &mut dyn Write) -> io::Result<()> {
        let bytes = |text: &str, exact: Option<&str>| {
            exact_bytes(text, exact).unwrap_or_else(|_| text.as_bytes().to_vec())
        };
        let path = bytes(&file.path, file.path_base64.as_deref());
        let was = file.was.as_ref();
        let was = was.map(|was| bytes(was, file.was_base64.as_deref()));
        let (old, new) = (
            quoted("a/", was.as_ref().unwrap_or(&path)),
            quoted("b/", &path),
        );
        let mut head = vec![format!("diff --git {old} {new}")];
        head.extend(modes(file));
        if let Some(was) = &was {
            let (from, to) = (quoted("", was), quoted("", &path));
            head.extend([format!("rename from {from}"), format!("rename to {to}")]);
        }
        head.extend(index(file));
        let is_there = |kind, name| {
            if file.kind == kind {
                "/dev/null".to_owned()
            } else {
                name
            }
        };
        let old = is_there(ChangedFileKind::Added, old);
        let new = is_there(ChangedFileKind::Removed, new);
        match file.omitted.as_deref() {
            Some("binary") => head.push(format!("Binary files {old} and {new} differ")),
            Some(reason) => {
                complain(format_args!("{}: {}", quoted("", &path), escaped(reason)));
                return Ok(());
            }
            None if file.hunks.is_empty() => {}
            None => {
                // Git marks the end of a name with a space.
                let tab = |name: &str| if name.contains(' ') { "\t" } else { "" };
                let (old_tab, new_tab) = (tab(&old), tab(&new));
                head.extend([format!("--- {old}{old_tab}"), format!("+++ {new}{new_tab}")]);
            }
        }
        for line in head {
            self.line(BOLD, line.as_bytes(), out)?;
        }
        file.hunks.iter().try_for_each(|hunk| self.hunk(hunk, out))
    }

    fn hunk(&self, hunk: &DiffHunk, out: &mut dyn Write) -> io::Result<()> {
        let range = |first: u32, lines: u32| match lines {
            1 => first.to_string(),
            _ => format!("{first},{lines}"),
        };
        let (old, new) = (
            range(hunk.before, hunk.before_lines),
            range(hunk.after, hunk.after_lines),
        );
        self.line(CYAN, format!("@@ -{old} +{new} @@").as_bytes(), out)?;
        for line in &hunk.lines {
            self.changed(line, out)?;
        }
        Ok(())
    }

    fn changed(&self, line: &DiffLine, out: &mut dyn Write) -> io::Result<()> {
        let (sign, colour) = match line.kind {
            DiffLineKind::Same => (b' ', ""),
            DiffLineKind::Removed => (b'-', RED),
            DiffLineKind::Added => (b'+', GREEN),
        };
        let text = exact_bytes(&line.text, line.text_base64.as_deref());
        let text = text.unwrap_or_else(|_| line.text.clone().into_bytes());
        self.line(colour, &[&[sign], &text[..]].concat(), out)?;
        if line.no_newline {
            self.line("", b"\\ No newline at end of file", out)?;
        }
        Ok(())
    }

    fn line(&self, colour: &str, text: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let (start, end) = match self.colours && !colour.is_empty() {
            true => (colour, RESET),
            false => ("", ""),
        };
        out.write_all(start.as_bytes())?;
        if self.exact {
            out.write_all(text)?;
        } else {
            out.write_all(escaped(text).as_bytes())?;
        }
        writeln!(out, "{end}")
    }
}

fn modes(file: &DiffFile) -> Vec<String> {
    let mode = |object: &Option<DiffObject>| object.as_ref().map(|object| object.mode.clone());
    let (old, new) = (mode(&file.before), mode(&file.after));
    let plain = || "100644".to_owned();
    match (file.kind, old, new) {
        (ChangedFileKind::Added, _, new) => {
            vec![format!("new file mode {}", new.unwrap_or_else(plain))]
        }
        (ChangedFileKind::Removed, old, _) => {
            vec![format!("deleted file mode {}", old.unwrap_or_else(plain))]
        }
        (_, Some(old), Some(new)) if old != new => {
            vec![format!("old mode {old}"), format!("new mode {new}")]
        }
        _ => Vec::new(),
    }
}

fn index(file: &DiffFile) -> Option<String> {
    let known = file.before.as_ref().or(file.after.as_ref())?;
    let none = "0".repeat(known.id.len());
    let id = |object: &Option<DiffObject>| object.as_ref().map_or(none.clone(), |it| it.id.clone());
    let (old, new) = (id(&file.before), id(&file.after));
    let mode = match (&file.before, &file.after) {
        (Some(old), Some(new)) if old.mode == new.mode => format!(" {}", new.mode),
        _ => String::new(),
    };
    (old != new).then(|| format!("index {old}..{new}{mode}"))
}

fn quoted(prefix: &str, path: &[u8]) -> String {
    let is_plain = |byte: &u8| (b' '..0x7f).contains(byte) && !b"\"\\".contains(byte);
    if path.iter().all(is_plain) {
        return format!("{prefix}{}", String::from_utf8_lossy(path));
    }
    let escape = |byte: &u8| match byte {
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'"' => "\\\"".to_owned(),
        b'\\' => "\\\\".to_owned(),
        byte if is_plain(byte) => char::from(*byte).to_string(),
        byte => format!("\\{byte:03o}"),
    };
    let path: String = path.iter().map(escape).collect();
    format!("\"{prefix}{path}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_as_by_git() {
        assert_eq!(quoted("a/", b"x y.c"), "a/x y.c");
        assert_eq!(quoted("a/", b"\"\n\xc3\xa4"), "\"a/\\\"\\n\\303\\244\"");
    }
}
