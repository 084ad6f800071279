//! `trawl symbols`: definitions of a file, from the HTTP API or from the file itself.

use super::api_printer::{ApiFlags, name};
use crate::exit::Exit;
use crate::terminal::{complain, escaped, escaped_json};
use anyhow::{Context, Result};
use backend::server::add_definitions;
use language::Language;
use language::symbols::Symbols;
use schema::message::FileReply;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use web::model::{FileOutline, OutlineDefinition};

/// List the definitions of a file: functions, types and others
///
/// Prints PATH:LINE:COLUMN: KIND PARENT.NAME for each, where columns are bytes from 1. With one
/// argument, reads that file of this machine, without an index. Exit status: 0 success, 1 no
/// definition, 2 error, 3 not all definitions are listed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl symbols src/main.c                  a file of this machine
  trawl symbols --index I i3-wm src/main.c  a file of an index
  trawl symbols src/main.c | grep ': method '")]
pub(crate) struct SymbolsArguments {
    #[command(flatten)]
    api: ApiFlags,
    /// Name of a package, with or without version; or a file of this machine
    #[arg(value_name = "PACKAGE|FILE", value_hint = clap::ValueHint::FilePath)]
    file: OsString,
    /// Path in the package
    #[arg(value_name = "PATH")]
    path: Option<OsString>,
    /// Revision of a git repository
    #[arg(long, value_name = "REV", requires = "path")]
    rev: Option<String>,
}

pub(super) fn run(arguments: &SymbolsArguments) -> Result<Exit> {
    let Some(path) = &arguments.path else {
        let outline = of_file(&arguments.file)?;
        let out = &mut BufWriter::new(io::stdout().lock());
        if arguments.api.json {
            writeln!(out, "{}", escaped_json(&serde_json::to_string(&outline)?))?;
        } else {
            print(&outline, arguments.file.as_bytes(), out)?;
        }
        out.flush()?;
        return Ok(exit(&outline));
    };
    let rev = arguments.rev.as_deref().unwrap_or_default();
    let parameters = [
        ("package", arguments.file.as_bytes()),
        ("path", path.as_bytes()),
        ("rev", rev.as_bytes()),
    ];
    let mut ended = Exit::Success;
    (arguments.api).show(
        "/api/v2/symbols",
        &parameters,
        |outline: FileOutline, out| {
            let package = name(&outline.package, outline.package_base64.as_deref());
            let whole = [package.as_bytes(), b"/", path.as_bytes()].concat();
            print(&outline, &whole, out)?;
            ended = exit(&outline);
            Ok(None)
        },
    )?;
    Ok(ended)
}

/// Lexes a file of this machine.
fn of_file(path: &OsStr) -> Result<FileOutline> {
    let shown = || format!("cannot read {}", escaped(path.as_bytes()));
    let text = std::fs::read(path).with_context(shown)?;
    let language = Language::of(path.as_bytes(), &text);
    let mut reply = FileReply {
        language: language.map_or("", |language| language.name).to_owned(),
        ..FileReply::default()
    };
    add_definitions(&mut reply, &text, &Symbols::of(language, &text), &[]);
    Ok(FileOutline::new(b"", reply))
}

fn print(outline: &FileOutline, path: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let path = escaped(path).replace('\n', "\\n");
    for it in &outline.definitions {
        let (line, column, kind) = (it.line, it.column + 1, &it.kind);
        writeln!(out, "{path}:{line}:{column}: {kind} {}", full_name(it))?;
    }
    Ok(())
}

/// `parent.name`
fn full_name(it: &OutlineDefinition) -> String {
    let own = name(&it.name, it.name_base64.as_deref());
    let declared = if it.declaration { " (declaration)" } else { "" };
    match &it.parent {
        Some(parent) => {
            let parent = name(parent, it.parent_base64.as_deref());
            format!("{parent}.{own}{declared}")
        }
        None => own + declared,
    }
}

fn exit(outline: &FileOutline) -> Exit {
    if let Some(reason) = &outline.missing {
        complain(format_args!("definitions are missing: {}", escaped(reason)));
    }
    Exit::found(!outline.definitions.is_empty()).if_complete(outline.complete)
}
