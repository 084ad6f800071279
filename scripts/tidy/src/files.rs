//! Modules of a crate: files, definitions and re-exports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::{Item, UseTree, Visibility};

/// Inline modules belong to their file.
pub(crate) struct Module {
    /// Path such as `["query", "lex"]`; empty for the root.
    pub(crate) path: Vec<String>,
    /// Relative to the workspace.
    pub(crate) file: String,
    pub(crate) syntax: syn::File,
    pub(crate) children: BTreeSet<String>,
    pub(crate) defines: BTreeSet<String>,
    /// Imported or re-exported, with paths.
    pub(crate) imports: BTreeMap<String, Vec<String>>,
    pub(crate) globs: Vec<Vec<String>>,
}

/// Modules of `root/folder`, root first.
///
/// # Panics
/// If a file cannot be read or parsed.
pub(crate) fn modules(root: &Path, folder: &str) -> Vec<Module> {
    let source = ["lib.rs", "main.rs"]
        .map(|name| root.join(folder).join("src").join(name))
        .into_iter()
        .find(|file| file.exists())
        .unwrap_or_else(|| panic!("{folder}/src has no lib.rs or main.rs"));
    let directory = source.parent().expect("a file has a directory").to_owned();
    let mut modules = Vec::new();
    read(root, &source, &directory, Vec::new(), &mut modules);
    modules
}

fn read(root: &Path, file: &Path, directory: &Path, path: Vec<String>, modules: &mut Vec<Module>) {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let syntax = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut module = Module {
        file: file
            .strip_prefix(root)
            .unwrap_or(file)
            .display()
            .to_string(),
        path,
        children: BTreeSet::new(),
        defines: BTreeSet::new(),
        imports: BTreeMap::new(),
        globs: Vec::new(),
        syntax,
    };
    let mut files = Vec::new();
    for item in &module.syntax.items {
        if is_test(attributes(item)) {
            continue;
        }
        match item {
            Item::Mod(child) if child.content.is_none() => {
                let name = child.ident.to_string();
                if let Some(file) = child_file(directory, &name) {
                    files.push((name.clone(), file));
                    module.children.insert(name);
                }
            }
            Item::Use(import) => {
                let mut prefix = Vec::new();
                flatten(&import.tree, &mut prefix, &mut |path, name| match name {
                    Some(name) => drop(module.imports.insert(name, path)),
                    None => module.globs.push(path),
                });
            }
            item => module.defines.extend(name(item)),
        }
    }
    let path = module.path.clone();
    modules.push(module);
    for (name, file) in files {
        let mut path = path.clone();
        path.push(name.clone());
        read(root, &file, &directory.join(name), path, modules);
    }
}

/// `None` for included generated code.
fn child_file(directory: &Path, name: &str) -> Option<PathBuf> {
    let candidates = [
        directory.join(format!("{name}.rs")),
        directory.join(name).join("mod.rs"),
    ];
    candidates.into_iter().find(|file| file.exists())
}

/// Paths and names of a `use`; no name for `*`.
pub(crate) fn flatten(
    tree: &UseTree,
    prefix: &mut Vec<String>,
    each: &mut impl FnMut(Vec<String>, Option<String>),
) {
    let with = |prefix: &[String], last: &syn::Ident| {
        let mut path = prefix.to_vec();
        if last != "self" {
            path.push(last.to_string());
        }
        path
    };
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            flatten(&path.tree, prefix, each);
            prefix.pop();
        }
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|tree| flatten(tree, prefix, each)),
        UseTree::Name(name) => {
            let path = with(prefix, &name.ident);
            let last = path.last().cloned();
            each(path, last);
        }
        UseTree::Rename(rename) => {
            each(with(prefix, &rename.ident), Some(rename.rename.to_string()));
        }
        UseTree::Glob(_) => each(prefix.clone(), None),
    }
}

pub(crate) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut is_test = attribute.path().is_ident("test");
        if attribute.path().is_ident("cfg") {
            let _ = attribute.parse_nested_meta(|meta| {
                is_test |= meta.path.is_ident("test");
                Ok(())
            });
        }
        is_test
    })
}

pub(crate) fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

fn name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(it) => &it.ident,
        Item::Enum(it) => &it.ident,
        Item::Fn(it) => &it.sig.ident,
        Item::Macro(it) => it.ident.as_ref()?,
        Item::Mod(it) => &it.ident,
        Item::Static(it) => &it.ident,
        Item::Struct(it) => &it.ident,
        Item::Trait(it) => &it.ident,
        Item::Type(it) => &it.ident,
        Item::Union(it) => &it.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// Visible to other files, without tests.
pub(crate) fn types(module: &Module) -> Vec<String> {
    let items = module.syntax.items.iter();
    items
        .filter(|item| !is_test(attributes(item)))
        .filter_map(|item| match item {
            Item::Enum(it) => Some((&it.ident, &it.vis)),
            Item::Struct(it) => Some((&it.ident, &it.vis)),
            Item::Trait(it) => Some((&it.ident, &it.vis)),
            Item::Type(it) => Some((&it.ident, &it.vis)),
            _ => None,
        })
        .filter(|(_, visibility)| !matches!(visibility, Visibility::Inherited))
        .map(|(name, _)| name.to_string())
        .collect()
}
