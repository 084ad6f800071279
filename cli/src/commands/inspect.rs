//! `trawl inspect`: contents of an index. Reads no source and verifies no candidate.

mod postings;

use crate::exit::Exit;
use crate::terminal::{complain, escaped};
use crate::units;
use anyhow::{Context, Result, bail};
use index::ContentCodec;
use index::directory::Index;
use index::format::Section;
use index::manifest::hex;
use index::shard::{DocId, PackageId, Shard};
use schema::message::{Pattern, Syntax};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Show the contents of an index
///
/// Exit status: 0 success, 1 no shard has the trigram or the document, 2 error.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl inspect --index I                         shards, sections and their sizes
  trawl inspect --index I --skipped               files that were left out, with reasons
  trawl inspect --index I --packages              packages, best first
  trawl inspect --index I --verify                check every checksum
  trawl inspect --index I --document sed_4.9/sed/sed.c
  trawl inspect --index I --trigram 'an;'         the blocks that contain these three bytes
  trawl inspect --index I --trigram '\\xef\\xbb\\xbf'
  trawl inspect --index I --plan 'errno == EINTR' the trigrams that a search looks up, rarest first
  trawl inspect --index I --mode regexp --plan 'fopen\\(.*\"r\"'")]
pub(crate) struct InspectArguments {
    /// Index directory
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    /// Index directory, as with --index
    #[arg(value_name = "DIR", conflicts_with = "index")]
    #[arg(required_unless_present = "index")]
    directory: Option<PathBuf>,
    #[command(flatten)]
    subject: Subject,
    /// Syntax of PATTERN
    #[arg(long, value_enum, default_value_t = PatternMode::Literal, requires = "plan")]
    mode: PatternMode,
    /// Plan a search that ignores case
    #[arg(short, long, requires = "plan")]
    ignore_case: bool,
    /// Maximum number of rows of a long list
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with_all = WITHOUT_LIMIT)]
    limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PatternMode {
    /// Literal text: every character stands for itself
    Literal,
    /// Regular expression
    Regexp,
}

/// Part to show. The default is shards and sections.
#[derive(clap::Args)]
#[group(multiple = false)]
struct Subject {
    /// List files left out, or without symbols: PACKAGE/PATH, or the path of an entry beside
    /// packages; a tab; the reason
    #[arg(long)]
    skipped: bool,
    /// List the packages: number of documents, a tab, the name
    #[arg(long)]
    packages: bool,
    /// Verify the checksums of all shards
    #[arg(long)]
    verify: bool,
    /// Show the data of a document in the index
    #[arg(long, value_name = "PACKAGE/PATH")]
    document: Option<OsString>,
    /// Show the blocks that contain a trigram: three bytes, which may be written as \xNN
    #[arg(long, value_name = "BYTES")]
    trigram: Option<OsString>,
    /// Show the trigrams that a search for PATTERN looks up, and the number of candidates left
    #[arg(long, value_name = "PATTERN")]
    plan: Option<String>,
}

/// Output is short, or never cut.
const WITHOUT_LIMIT: [&str; 4] = ["skipped", "packages", "verify", "document"];

pub(super) fn run(arguments: &InspectArguments) -> Result<Exit> {
    let given = arguments.index.as_ref().or(arguments.directory.as_ref());
    let index = Index::open(given.context("give --index DIR")?)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let code = show(&index, arguments, &mut out)?;
    index.shards.iter().try_for_each(|shard| shard.intact())?;
    out.flush()?;
    Ok(code)
}

fn show(index: &Index, arguments: &InspectArguments, out: &mut impl Write) -> Result<Exit> {
    let (subject, limit) = (&arguments.subject, arguments.limit);
    if let Some(name) = &subject.document {
        return show_named_document(index, name, out);
    }
    if let Some(bytes) = &subject.trigram {
        return postings::show_trigram(index, bytes, limit, out);
    }
    if let Some(text) = &subject.plan {
        let syntax = match arguments.mode {
            PatternMode::Literal => Syntax::Literal,
            PatternMode::Regexp => Syntax::Regexp,
        };
        let pattern = Pattern {
            text: text.clone(),
            syntax,
            ignore_case: arguments.ignore_case,
            ..Pattern::default()
        };
        return postings::show_plan(index, pattern, limit, out);
    }
    if subject.skipped {
        for beside in &index.manifest.beside {
            let (path, reason) = (escaped(&beside.path), escaped(&beside.reason));
            writeln!(out, "{path}\t{reason}")?;
        }
    }
    if subject.packages {
        list_packages(index, out)?;
    }
    for shard in &index.shards {
        if subject.skipped {
            list_skipped(shard, out)?;
        } else if !subject.packages {
            summarize(shard, out)?;
        }
        if subject.verify {
            shard.verify()?;
            writeln!(out, "  all checksums are correct")?;
        }
    }
    Ok(Exit::Success)
}

/// Counts documents searched without `rev:`.
fn list_packages(index: &Index, out: &mut impl Write) -> Result<()> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for shard in &index.shards {
        for id in shard.live_packages() {
            let name = shard.package(id)?.directory.to_vec();
            let documents = searched(shard, id)?;
            if !counts.contains_key(&name) {
                names.push(name.clone());
            }
            *counts.entry(name).or_default() += documents;
        }
    }
    for name in names {
        writeln!(out, "{}\t{}", counts[&name], escaped(&name))?;
        if let Some(repository) = index.recorded.repository(&name) {
            for revision in &repository.revisions {
                let is_default = revision.name == repository.default;
                let default = if is_default { " (default)" } else { "" };
                let (commit, name) = (&revision.commit.id, escaped(&revision.name));
                writeln!(out, "\t{commit} {name}{default}")?;
            }
        }
    }
    Ok(())
}

fn searched(shard: &Shard, id: PackageId) -> Result<usize> {
    let package = shard.package(id)?;
    let Some(revisions) = shard.revisions() else {
        return Ok(package.documents as usize);
    };
    let documents = shard.documents_of(&package)?;
    let searched = documents.iter().filter(|id| revisions.is_default(id.0));
    Ok(searched.count())
}

fn list_skipped(shard: &Shard, out: &mut impl Write) -> Result<()> {
    for file in shard.skipped()? {
        let package = escaped(shard.package(file.package)?.directory).into_owned();
        let (path, reason) = (escaped(&file.path), escaped(&file.reason));
        writeln!(out, "{package}/{path}\t{reason}")?;
    }
    for package in shard.live_packages() {
        let package = shard.package(package)?;
        for id in shard.documents_of(&package)? {
            let document = shard.document(id)?;
            if let Some(gap) = shard.incomplete(document.text)? {
                let (name, path) = (escaped(package.directory), escaped(document.path));
                writeln!(out, "{name}/{path}\t{gap}")?;
            }
        }
    }
    Ok(())
}

fn summarize(shard: &Shard, out: &mut impl Write) -> Result<()> {
    let (live, text) = (shard.live_counts(), shard.content_bytes().max(1) as f64);
    writeln!(out, "{}", shard.path().display())?;
    writeln!(
        out,
        "  format {}, {}{}, {}, {}, {} of text ({} unique), {}",
        shard.version(),
        match shard.codec() {
            ContentCodec::Raw => String::new(),
            codec => format!("content in {}, ", codec.name()),
        },
        units::plural(live.packages.into(), "package"),
        units::plural(live.documents.into(), "document"),
        units::plural(live.blocks.into(), "block"),
        units::size(live.text_bytes),
        units::size(live.unique_bytes),
        units::plural(shard.trigram_count(), "trigram"),
    )?;
    let dead = shard.dead().len() as u64;
    if dead > 0 {
        let text = units::size(shard.content_bytes().saturating_sub(live.unique_bytes));
        let dead = units::plural(dead, "package");
        writeln!(
            out,
            "  not counted: {dead} replaced or removed, {text} of text"
        )?;
    }
    let is_there = |&section: &Section| {
        let may_be_absent = [
            Section::Decoded,
            Section::Frames,
            Section::Languages,
            Section::Symbols,
        ];
        !may_be_absent.contains(&section) || shard.section_bytes(section) > 0
    };
    let sections = Section::ALL.into_iter().filter(is_there).map(|section| {
        let name = format!("{section:?}").to_lowercase();
        (name, shard.section_bytes(section))
    });
    for (name, bytes) in sections.chain([("file".to_owned(), shard.file_bytes())]) {
        let (size, share) = (units::size(bytes), bytes as f64 / text);
        writeln!(out, "  {name:<12}{size:>12}{share:>8.4} x text")?;
    }
    Ok(())
}

fn show_named_document(index: &Index, name: &OsStr, out: &mut impl Write) -> Result<Exit> {
    let name = name.as_bytes();
    let Some(slash) = name.iter().position(|&byte| byte == b'/') else {
        bail!("--document {}: expected PACKAGE/PATH", escaped(name));
    };
    let (package, path) = (&name[..slash], &name[slash + 1..]);
    for shard in &index.shards {
        if let Some(document) = shard.find(package, path)? {
            show_document(shard, document, out)?;
            return Ok(Exit::Success);
        }
    }
    let reason = why_not(index, package, path)?;
    complain(format_args!("{}: {reason}", escaped(name)));
    Ok(Exit::found(false))
}

fn show_document(shard: &Shard, document: DocId, out: &mut impl Write) -> Result<()> {
    let package = shard.package(shard.package_of(document)?)?;
    let document = shard.document(document)?;
    let text = shard.text_entry(document.text)?;
    let copies = text.documents.len() as u64 - 1;
    let text = shard.text_range(text.blocks)?;
    let ids = document.id.0..document.id.0 + 1;
    let copies = units::plural(copies, "other document");
    let language = match shard.language(&document)? {
        "" => "unknown",
        name => name,
    };
    let class = format!("{:?}", shard.class(&document, &package)?).to_lowercase();
    let rows = [
        ("shard", shard.path().display().to_string()),
        ("document", numbers(&ids, shard.document_count())),
        ("copies", format!("{copies} in this shard")),
        ("blocks", numbers(&document.blocks, shard.block_count())),
        ("lines", document.lines.to_string()),
        ("bytes", (text.end - text.start).to_string()),
        ("language", language.to_owned()),
        ("class", class),
        ("static rank", document.static_rank.to_string()),
        ("BLAKE3", hex(document.hash)),
    ];
    let revisions = shard.revisions().map(|all| all.of(document.id.0));
    let names = revisions.iter().flat_map(|all| all.iter());
    let names: Vec<String> = names.map(|it| it.text.to_owned()).collect();
    let names = names.join(", ");
    let revisions = (!names.is_empty()).then_some(("revisions", names));
    writeln!(
        out,
        "{}/{}",
        escaped(package.directory),
        escaped(document.path)
    )?;
    for (name, value) in rows.into_iter().chain(revisions) {
        writeln!(out, "  {name:<12} {}", escaped(&value))?;
    }
    Ok(())
}

/// `17 to 20 of 0 to 99 (4)`.
fn numbers(range: &Range<u32>, count: u32) -> String {
    let last = count.saturating_sub(1);
    match range.len() {
        0 => "none".to_owned(),
        1 => format!("{} of 0 to {last}", range.start),
        many => format!(
            "{} to {} of 0 to {last} ({many})",
            range.start,
            range.end - 1
        ),
    }
}

fn why_not(index: &Index, package: &[u8], path: &[u8]) -> Result<String> {
    let mut has_package = false;
    for shard in &index.shards {
        for file in shard.skipped()? {
            if file.path == path && shard.package(file.package)?.directory == package {
                return Ok(format!("left out of the index: {}", escaped(&file.reason)));
            }
        }
        for id in shard.live_packages() {
            has_package |= shard.package(id)?.directory == package;
        }
    }
    let reason = if has_package {
        "the package has no such document"
    } else {
        "the index has no package of this name; --packages lists all"
    };
    Ok(reason.to_owned())
}
