//! PATH, `-t`, `-T` and `-g`, read as in ripgrep, as query filters.
//!
//! An index knows packages, not the working directory. A PATH or a glob with a slash is a path in a
//! package, or starts with the package's name. In a work tree both are relative to the current
//! directory, and only files below it are searched. Types are ripgrep's globs.
//!
//! **Invariant:** a file is searched if and only if the last matching glob has no `!`, or if none
//! matches and all have one.

use crate::work_tree::WorkTree;
use anyhow::{Context, Result, bail, ensure};
use frontend::similar;
use ignore::types::{FileTypeDef, TypesBuilder};
use schema::message::{Expr, Field, Filter, Reading};
use std::path::{Component, Path};

/// Suggestions in an error.
const SIMILAR_MAX: usize = 3;

/// Files to search.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct FileFlags {
    /// Search only files of this type, such as c, py or rust (ripgrep's types); may be repeated
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Leave out files of this type; may be repeated
    #[arg(short = 'T', long = "type-not", value_name = "TYPE")]
    types_not: Vec<String>,
    /// Search files with a path that matches GLOB, or with !GLOB leave them out; the last match
    /// counts
    #[arg(short = 'g', long = "glob", value_name = "GLOB")]
    #[arg(allow_hyphen_values = true)]
    globs: Vec<String>,
    /// Search these files and directories: in a work tree ripgrep's paths, else paths in a package,
    /// or printed names (PACKAGE/PATH)
    #[arg(value_name = "PATH", index = 2)]
    pub(super) paths: Vec<String>,
}

impl FileFlags {
    /// `None` for all files.
    pub(super) fn expr(&self, paths: &[&str], tree: Option<&WorkTree>) -> Result<Option<Expr>> {
        let base = tree.map(WorkTree::base).transpose()?;
        let (base, paths) = match &base {
            // ripgrep's default.
            Some(base) if paths.is_empty() => (Some(&base[..]), &["."][..]),
            base => (base.as_deref(), paths),
        };
        let types = |names: &[String]| -> Result<Option<Expr>> {
            let types = names.iter().map(|name| of_type(name));
            Ok(any(types.collect::<Result<_>>()?))
        };
        let (selected, left_out) = (types(&self.types)?, types(&self.types_not)?);
        let mut parts: Vec<Expr> = of_paths(paths, base)?.into_iter().collect();
        parts.extend(selected);
        parts.extend(left_out.map(Expr::negated));
        parts.extend(of_globs(&self.globs, base)?);
        Ok((!parts.is_empty()).then(|| Expr::all(parts)))
    }
}

fn any(parts: Vec<Expr>) -> Option<Expr> {
    (!parts.is_empty()).then(|| Expr::any(parts))
}

fn filter(field: Field, reading: Reading, text: impl Into<String>) -> Expr {
    let text = text.into();
    Expr::Filter(Filter {
        field,
        reading,
        text,
    })
}

/// `None` for all files.
fn of_paths(paths: &[&str], base: Option<&str>) -> Result<Option<Expr>> {
    let mut alternatives = Vec::new();
    for path in paths {
        match of_path(path, base)? {
            Some(expr) => alternatives.push(expr),
            None => return Ok(None),
        }
    }
    Ok(any(alternatives))
}

/// `base` is the current directory in a work tree.
fn of_path(typed: &str, base: Option<&str>) -> Result<Option<Expr>> {
    let parts = components(typed, base)?;
    let Some((package, rest)) = parts.split_first() else {
        return Ok(None);
    };
    let below = |parts: &[&str]| {
        let path = parts.iter().map(|part| regex_syntax::escape(part));
        let text = format!("^{}(/|$)", path.collect::<Vec<_>>().join("/"));
        filter(Field::Path, Reading::Regexp, text)
    };
    if base.is_some() {
        return Ok(Some(below(&parts)));
    }
    let mut named = vec![filter(Field::Package, Reading::Exact, *package)];
    named.extend((!rest.is_empty()).then(|| below(rest)));
    Ok(Some(Expr::any(vec![below(&parts), Expr::all(named)])))
}

/// Components below the root of a work tree or of a package. Absolute paths become relative.
fn components<'a>(typed: &'a str, base: Option<&'a str>) -> Result<Vec<&'a str>> {
    let path = Path::new(typed);
    let relative = if path.is_absolute() {
        let here = std::env::current_dir().context("cannot find the current directory")?;
        path.strip_prefix(&here).ok()
    } else {
        Some(path)
    };
    let outside = || match base {
        Some(_) => format!("{typed}: outside of the work tree; search there, or use `trawl grep`"),
        None => format!(
            "{typed}: an index has no files outside of its packages; write the path in a package, or \
             PACKAGE/PATH as it is printed"
        ),
    };
    let base = base.unwrap_or_default().split('/');
    let mut parts: Vec<&str> = base.filter(|part| !part.is_empty()).collect();
    for part in relative.with_context(outside)?.components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str().expect("a part of a string")),
            Component::ParentDir if parts.pop().is_some() => {}
            Component::CurDir => {}
            _ => bail!(outside()),
        }
    }
    Ok(parts)
}

fn of_type(name: &str) -> Result<Expr> {
    let known = TypesBuilder::new().add_defaults().definitions();
    let Some(of_name) = known.iter().find(|known| known.name() == name) else {
        ensure!(
            name != "all",
            "the type all has no filter here; leave it out"
        );
        bail!(unknown_type(name, &known));
    };
    // One glob, as queries have few filters.
    let text = match of_name.globs() {
        [one] => one.clone(),
        several => format!("{{{}}}", several.join(",")),
    };
    Ok(filter(Field::Path, Reading::Glob, text))
}

fn unknown_type(name: &str, known: &[FileTypeDef]) -> String {
    let known = known.iter().map(FileTypeDef::name);
    let similar = similar(name.to_ascii_lowercase(), known);
    let mean = match &similar[..similar.len().min(SIMILAR_MAX)] {
        [] => String::new(),
        similar => format!(" did you mean {}?", similar.join(" or ")),
    };
    format!(
        "there is no file type {name};{mean} -g '*.EXT' selects by extension, --lang NAME by language"
    )
}

fn of_globs(globs: &[String], base: Option<&str>) -> Result<Option<Expr>> {
    let globs = globs.iter().map(|typed| Glob::parse(typed, base));
    let globs = globs.collect::<Result<Vec<_>>>()?;
    // Selecting globs exclude other files.
    let mut left = None;
    let mut starts_empty = globs.iter().any(|glob| !glob.excludes);
    for glob in &globs {
        let files = glob.files();
        left = match (left, glob.excludes) {
            (None, true) if starts_empty => None,
            (None, true) => Some(files.negated()),
            (None, false) => Some(files),
            (Some(left), true) => Some(Expr::all(vec![left, files.negated()])),
            (Some(left), false) => Some(Expr::any(vec![left, files])),
        };
        starts_empty &= left.is_none();
    }
    // Excluded directories stay excluded, despite later globs.
    let excluding = globs.iter().filter(|glob| glob.excludes);
    let directories = any(excluding.map(Glob::below).collect());
    let parts = left.into_iter().chain(directories.map(Expr::negated));
    Ok((!globs.is_empty()).then(|| Expr::all(parts)))
}

/// Syntax of `.gitignore`.
struct Glob<'a> {
    /// Excludes `!` and outer slashes.
    text: &'a str,
    excludes: bool,
    /// Matches the whole path.
    is_anchored: bool,
    /// Matches directories only.
    is_directory: bool,
    /// Directory of anchored globs in a work tree.
    base: Option<&'a str>,
}

impl<'a> Glob<'a> {
    fn parse(typed: &'a str, base: Option<&'a str>) -> Result<Glob<'a>> {
        let (excludes, text) = match typed.strip_prefix('!') {
            Some(rest) => (true, rest),
            None if typed.starts_with("\\!") => (false, &typed[1..]),
            None => (false, typed),
        };
        let is_directory = text.ends_with('/');
        let is_anchored = text.trim_end_matches('/').contains('/');
        let text = text.trim_end_matches('/');
        let text = text.strip_prefix('/').unwrap_or(text);
        ensure!(
            !text.is_empty(),
            "-g '{typed}': the glob is empty; write one such as '*.c'"
        );
        ensure!(
            excludes || !is_directory,
            "-g '{typed}' matches directories and no file; write '{text}/**' for the files below"
        );
        Ok(Glob {
            text,
            excludes,
            is_anchored,
            is_directory,
            base,
        })
    }

    fn files(&self) -> Expr {
        let Glob { text, .. } = self;
        if self.is_directory {
            return self.below();
        }
        match (self.is_anchored, text.contains('/')) {
            (false, _) => filter(Field::Path, Reading::Glob, *text),
            (true, _) if self.base.is_some() => self.anchored(text),
            // A glob without slash matches the last name.
            (true, false) => filter(Field::Name, Reading::Glob, format!("*/{text}")),
            (true, true) => self.anchored(text),
        }
    }

    /// Files below matched directories.
    fn below(&self) -> Expr {
        let text = format!("{}/**", self.text);
        if self.is_anchored {
            self.anchored(&text)
        } else {
            filter(Field::Path, Reading::Glob, format!("**/{text}"))
        }
    }

    /// Matches the path in a work tree, or the path in a package or the printed name.
    fn anchored(&self, glob: &str) -> Expr {
        let of = |field, glob: &str| filter(field, Reading::Glob, glob);
        match self.base {
            // The name begins with the package.
            Some("") => of(Field::Name, &format!("*/{glob}")),
            Some(base) => of(Field::Name, &format!("*/{}/{glob}", globset::escape(base))),
            None => Expr::any(vec![of(Field::Path, glob), of(Field::Name, glob)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::query::interpreted_as;

    fn globs(typed: &[&str]) -> Result<String> {
        let typed: Vec<String> = typed.iter().map(|&glob| glob.to_owned()).collect();
        Ok(of_globs(&typed, None)?.map_or(String::new(), |expr| interpreted_as(&expr)))
    }

    #[test]
    fn types_are_those_of_ripgrep() {
        let text = |name| interpreted_as(&of_type(name).unwrap());
        assert_eq!(text("rust"), "path:*.rs");
        assert_eq!(text("c"), "path:{*.[chH],*.[chH].in,*.cats}");
        for (unknown, says) in [
            ("pyton", "python"),
            ("rsut", "did you mean rst or rust?"),
            ("all", "leave it out"),
            ("zzzzz", "there is no file type zzzzz; -g"),
        ] {
            let error = of_type(unknown).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        // Every type must be a valid filter of a query.
        for known in TypesBuilder::new().add_defaults().definitions() {
            let expr = of_type(known.name()).unwrap();
            frontend::Query::new(expr, 0).unwrap();
        }
    }

    #[test]
    fn globs_are_read_as_lines_of_gitignore() {
        for (typed, expected) in [
            (&["*.c"][..], "path:*.c"),
            (&["*.c", "*.h"], "path:*.c or path:*.h"),
            (&["!vendor"], "-path:g:vendor -path:**/vendor/**"),
            (&["/*.c"], "name:*/*.c"),
            (&["src/**"], "path:src/** or name:src/**"),
            (&["!*.min.js", "*.js"], "path:*.js -path:**/*.min.js/**"),
            (
                &["*.js", "!*.min.js"],
                "path:*.js -path:*.min.js -path:**/*.min.js/**",
            ),
            (&[], ""),
        ] {
            assert_eq!(globs(typed).unwrap(), expected, "{typed:?}");
        }
        for (typed, says) in [("", "empty"), ("!", "empty"), ("src/", "write 'src/**'")] {
            let error = globs(&[typed]).unwrap_err().to_string();
            assert!(error.contains(says), "{typed}: {error}");
        }
    }

    #[test]
    fn in_a_work_tree_paths_and_globs_are_relative_to_the_directory() {
        let path = |path| of_path(path, Some("a/b")).map(|it| it.map(|it| interpreted_as(&it)));
        assert_eq!(path(".").unwrap().unwrap(), r"path:/^a\/b(\/|$)/c");
        assert_eq!(path("../c").unwrap().unwrap(), r"path:/^a\/c(\/|$)/c");
        assert_eq!(path("../..").unwrap(), None);
        let error = path("../../..").unwrap_err().to_string();
        assert!(error.contains("outside of the work tree"), "{error}");
        for (typed, base, expected) in [
            ("*.c", "a[b", "path:*.c"),
            ("/*.c", "a[b", "name:*/a[[]b/*.c"),
            ("src/**", "a", "name:*/a/src/**"),
            ("src/**", "", "name:*/src/**"),
        ] {
            let found = of_globs(&[typed.to_owned()], Some(base)).unwrap().unwrap();
            assert_eq!(interpreted_as(&found), expected, "{typed}");
        }
    }

    #[test]
    fn a_path_is_in_a_package_or_begins_with_its_name() {
        let text = |path| of_path(path, None).map(|expr| expr.map(|expr| interpreted_as(&expr)));
        assert_eq!(text(".").unwrap(), None);
        assert_eq!(
            text("./src/a.c").unwrap().unwrap(),
            r"path:/^src\/a\.c(\/|$)/c or (package:=src path:/^a\.c(\/|$)/c)"
        );
        assert_eq!(
            text("src/../lib/").unwrap().unwrap(),
            r"path:/^lib(\/|$)/c or package:=lib"
        );
        let here = std::env::current_dir().unwrap().join("lib");
        assert_eq!(text(here.to_str().unwrap()).unwrap(), text("lib").unwrap());
        for outside in ["..", "../x", "/nowhere/x"] {
            let error = text(outside).unwrap_err().to_string();
            assert!(error.contains("PACKAGE/PATH"), "{error}");
        }
    }
}
