//! Required structure of the workspace, and its violations.

use crate::files::{self, Module};
use crate::graph;
use crate::imports::{self, Arrows};
use crate::prose::GENERATED;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

pub(crate) struct Crate {
    /// Folder; its last part is the name.
    pub(crate) name: &'static str,
    /// Workspace crates.
    pub(crate) uses: &'static [&'static str],
    /// External crates.
    pub(crate) never: &'static [&'static str],
    /// Top-level modules, highest first. Arrows point down, and never within an entry.
    pub(crate) layers: &'static [&'static str],
    /// Allowed several times.
    pub(crate) shared_names: &'static [&'static str],
}

/// HTTP and HTML belong to `web`.
const HTTP: &[&str] = &["askama", "axum", "hyper", "tower-http", "utoipa"];

/// HTTP, and git, which belongs to `git` and processes with an index.
const HTTP_AND_GIT: &[&str] = &["askama", "axum", "gix", "hyper", "tower-http", "utoipa"];

pub(crate) const CRATES: [Crate; 20] = [
    Crate {
        name: "schema",
        uses: &[],
        never: HTTP,
        layers: &["message", "frame line_text name order trawl_capnp"],
        shared_names: &[],
    },
    Crate {
        name: "schema/watched_file",
        uses: &[],
        never: HTTP_AND_GIT,
        layers: &[],
        shared_names: &[],
    },
    Crate {
        name: "schema/tls",
        uses: &["watched_file"],
        never: HTTP_AND_GIT,
        layers: &["client server", "faults files"],
        shared_names: &[],
    },
    Crate {
        name: "language",
        uses: &[],
        never: HTTP_AND_GIT,
        layers: &[
            "content symbols",
            "table",
            "lexer path",
            "name",
            "diff words",
        ],
        // Each parser of a family has its own.
        shared_names: &[
            "Branches",
            "Dialect",
            "Form",
            "Grammar",
            "Head",
            "Scopes",
            "Statement",
            "Word",
        ],
    },
    Crate {
        name: "cluster",
        uses: &[],
        never: HTTP_AND_GIT,
        layers: &["membership", "placement"],
        shared_names: &[],
    },
    Crate {
        name: "git",
        uses: &["schema"],
        never: HTTP,
        layers: &[
            "hunks",
            "repositories source",
            "changes files selection",
            "log renames",
            "blame",
            "revision tree",
            "history repository",
            "tags",
            "commit mailmap names objects references",
            "attributes expression location tracked",
            "error",
        ],
        shared_names: &[],
    },
    Crate {
        name: "index",
        uses: &["git", "language", "schema"],
        never: HTTP_AND_GIT,
        layers: &[
            "indexing",
            "corpus",
            "directory writer",
            "precise",
            "builder manifest shard",
            "filter",
            "revisions symbols",
            "change",
            "block document file format plan posting",
            "codec mapping trigram",
        ],
        shared_names: &[],
    },
    Crate {
        name: "index/store",
        uses: &["index", "schema"],
        never: HTTP_AND_GIT,
        layers: &[
            "claims maintenance node_status replica",
            "groups publish",
            "generation merge transition",
            "objects",
            "error",
        ],
        shared_names: &[],
    },
    Crate {
        name: "schema/trace",
        uses: &["schema"],
        never: HTTP_AND_GIT,
        layers: &["span", "recorder", "queue", "otlp traceparent"],
        shared_names: &[],
    },
    Crate {
        name: "backend",
        uses: &["git", "index", "language", "schema", "tls", "trace"],
        never: HTTP,
        layers: &[
            "server",
            "live lookup metrics search",
            "pack",
            "matcher",
            "rank",
        ],
        shared_names: &[],
    },
    Crate {
        name: "frontend/cache",
        uses: &["trace"],
        never: HTTP_AND_GIT,
        layers: &[
            "building",
            "shared",
            "store",
            "breaker state",
            "entry sync",
            "outcome",
        ],
        shared_names: &[],
    },
    Crate {
        name: "frontend/query",
        uses: &["language", "schema"],
        never: HTTP_AND_GIT,
        layers: &[
            "dcs github sourcegraph zoekt",
            "input",
            "checked",
            "parse render",
            "filter place",
            "revision_name",
            "completion lex re2",
            "keys source_text",
            "case date phrase regexp",
            "forms",
            "error limits scope similar",
        ],
        // Each language has its own.
        shared_names: &["Key", "Kind", "Lowering", "Node", "Options", "Value"],
    },
    Crate {
        name: "frontend/results",
        uses: &["query", "schema"],
        never: HTTP_AND_GIT,
        layers: &[
            "manifest rendered",
            "search_result",
            "copies documents folded match_stream packages",
            "facets spool",
            "matches",
            "history order outcome page parallel",
        ],
        shared_names: &[],
    },
    Crate {
        name: "frontend",
        uses: &["cache", "query", "results", "schema", "tls", "trace"],
        never: HTTP_AND_GIT,
        layers: &[
            "near_words",
            "coordinator",
            "execution metrics",
            "config",
            "hints peers recent",
            "error joined search_request secret_file",
        ],
        shared_names: &[],
    },
    Crate {
        name: "web/access",
        uses: &["frontend", "schema", "tls", "watched_file"],
        never: HTTP_AND_GIT,
        layers: &["viewer", "authorization link_secrets sender", "keys"],
        shared_names: &[],
    },
    Crate {
        name: "web/mcp",
        uses: &["frontend", "schema"],
        never: HTTP_AND_GIT,
        layers: &["absent server", "reply"],
        shared_names: &["Server"],
    },
    Crate {
        name: "web",
        uses: &[
            "access", "frontend", "language", "mcp", "schema", "tls", "trace",
        ],
        never: &["gix"],
        layers: &[
            "products",
            "api",
            "dcs github sourcegraph zoekt",
            "pages",
            "state",
            "diff symbols",
            "source",
            "repositories suggest",
            "compat search",
            "http",
            "model",
            "problem",
        ],
        // Each product has its own.
        shared_names: &[
            "Answer",
            "Found",
            "LineMatch",
            "Range",
            "Repository",
            "Symbol",
        ],
    },
    Crate {
        name: "cli/local",
        uses: &["index"],
        never: HTTP_AND_GIT,
        layers: &[
            "search service",
            "cache session",
            "tree worker",
            "condition connection watch",
            "haystack message pattern place help",
            "doorbell fields input mounts",
            "flags config",
            "diagnostics",
            "arguments program",
        ],
        shared_names: &[],
    },
    Crate {
        name: "cli/lsp",
        uses: &["language"],
        never: HTTP_AND_GIT,
        layers: &["absent server", "corpus"],
        shared_names: &[],
    },
    Crate {
        name: "cli",
        uses: &[
            "web", "frontend", "backend", "cluster", "git", "index", "language", "local", "lsp",
            "mcp", "schema", "store", "tls", "trace",
        ],
        never: &[],
        layers: &[
            "commands",
            "client config print query",
            "in_process mirror progress exit watch",
            "address placing renamed units",
            "cache_dir work_tree",
            "panics terminal",
            "allocator log",
        ],
        shared_names: &[],
    },
];

/// One per line.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let mut violations = Vec::new();
    for each in &CRATES {
        let modules = files::modules(root, each.name);
        violations.extend(check_dependencies(root, each));
        violations.extend(check_modules(each, &modules, &imports::arrows(&modules)));
        violations.extend(check_names(each, &modules));
    }
    violations
}

pub(crate) fn check_dependencies(root: &Path, each: &Crate) -> Vec<String> {
    let file = root.join(each.name).join("Cargo.toml");
    let text = std::fs::read_to_string(&file).expect("every crate has a manifest");
    let manifest: toml::Table = text.parse().expect("cargo can read it");
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    let names = dependencies.into_iter().flat_map(toml::Table::keys);
    let is_ours = |name: &str| {
        CRATES
            .iter()
            .any(|known| known.name.rsplit('/').next() == Some(name))
    };
    names
        .filter(|name| is_ours(name) && !each.uses.contains(&name.as_str()))
        .map(|name| {
            let uses = each.uses.join(", ");
            format!(
                "forbidden crate arrow: {} -> {name}; allowed: {uses}",
                each.name
            )
        })
        .chain(
            (each.never.iter())
                .filter(|never| dependencies.is_some_and(|known| known.contains_key(**never)))
                .map(|never| format!("forbidden dependency: {} -> {never}", each.name)),
        )
        .collect()
}

pub(crate) fn check_modules(each: &Crate, modules: &[Module], arrows: &Arrows) -> Vec<String> {
    let mut violations = Vec::new();
    let pairs: Vec<(usize, usize)> = arrows.keys().copied().collect();
    for circle in graph::circles(modules.len(), &pairs) {
        let mut text = format!("circle in {}:", each.name);
        for ((from, to), name) in arrows {
            if circle.contains(from) && circle.contains(to) {
                let (from, to) = (&modules[*from].file, &modules[*to].file);
                let _ = write!(text, "\n    {from} -> {to}: {name}");
            }
        }
        violations.push(text);
    }
    let layer = |module: &Module| {
        let name = module.path.first()?;
        let has = |layer: &&str| layer.split(' ').any(|known| known == name);
        each.layers.iter().position(has)
    };
    let top: BTreeSet<&String> = modules.iter().filter_map(|it| it.path.first()).collect();
    for name in top {
        if !each
            .layers
            .iter()
            .any(|layer| layer.split(' ').any(|known| known == name))
        {
            violations.push(format!("module {name} of {} is in no layer", each.name));
        }
    }
    for ((from, to), name) in arrows {
        let (from, to) = (&modules[*from], &modules[*to]);
        if from.path.first() == to.path.first() || from.path.is_empty() {
            continue;
        }
        // The root is above all layers.
        let is_down = match (layer(from), layer(to)) {
            (Some(from), Some(to)) => from < to,
            _ => false,
        };
        if !is_down {
            let (from, to) = (&from.file, &to.file);
            violations.push(format!("arrow that runs back: {from} -> {to}: {name}"));
        }
    }
    violations
}

/// Types shared between files have unique names.
pub(crate) fn check_names(each: &Crate, modules: &[Module]) -> Vec<String> {
    let mut files: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for module in modules
        .iter()
        .filter(|module| !GENERATED.contains(&&*module.file))
    {
        for name in files::types(module) {
            files.entry(name).or_default().push(&module.file);
        }
    }
    files
        .into_iter()
        .filter(|(name, files)| files.len() > 1 && !each.shared_names.contains(&name.as_str()))
        .map(|(name, files)| {
            format!(
                "{} types of {} are called {name}: {}",
                files.len(),
                each.name,
                files.join(", ")
            )
        })
        .collect()
}

pub(crate) fn picture(root: &Path, each: &Crate) -> String {
    let modules = files::modules(root, each.name);
    let mut down: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for &(from, to) in imports::arrows(&modules).keys() {
        let (from, to) = (modules[from].path.first(), modules[to].path.first());
        if let (Some(from), Some(to)) = (from, to)
            && from != to
        {
            down.entry(from).or_default().insert(to);
        }
    }
    let mut text = format!("{} -> {}\n", each.name, each.uses.join(", "));
    let in_layers = each.layers.iter().flat_map(|layer| layer.split(' '));
    for name in in_layers {
        let to = down.remove(name).unwrap_or_default();
        let to: Vec<&str> = to.into_iter().collect();
        let _ = writeln!(text, "    {name} -> {}", to.join(", "));
    }
    for (name, to) in down {
        let to: Vec<&str> = to.into_iter().collect();
        let _ = writeln!(text, "    (no layer) {name} -> {}", to.join(", "));
    }
    text
}
