//! Arrows between files of a crate, from use to definition.
//!
//! Re-exports are followed: using `peers::Peer`, re-exported from `peers/peer.rs`, is an arrow to
//! the latter.

use crate::files::{self, Module};
use std::collections::{BTreeMap, HashMap};
use syn::visit::{self, Visit};

/// Re-exports followed.
const DEPTH_MAX: usize = 8;

/// File indices, with an example name.
pub(crate) type Arrows = BTreeMap<(usize, usize), String>;

pub(crate) fn arrows(modules: &[Module]) -> Arrows {
    let by_path: HashMap<&[String], usize> = (modules.iter().enumerate())
        .map(|(index, module)| (&module.path[..], index))
        .collect();
    let mut arrows = Arrows::new();
    for (from, module) in modules.iter().enumerate() {
        let mut paths = Paths::default();
        paths.visit_file(&module.syntax);
        for (depth, path) in paths.found {
            let target = resolve(modules, &by_path, from, depth, &path, 0);
            if let Some(to) = target.filter(|&to| to != from) {
                arrows.entry((from, to)).or_insert_with(|| path.join("::"));
            }
        }
    }
    arrows
}

/// Module that defines `path` in module `from`, `depth` inline modules deep.
fn resolve(
    modules: &[Module],
    by_path: &HashMap<&[String], usize>,
    from: usize,
    mut depth: usize,
    path: &[String],
    hops: usize,
) -> Option<usize> {
    let mut at = modules[from].path.clone();
    let mut rest = path;
    let first = rest.first()?.as_str();
    match first {
        "crate" => {
            at.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|segment| segment == "super") {
                if depth > 0 {
                    depth -= 1;
                } else {
                    at.pop()?;
                }
                rest = &rest[1..];
            }
        }
        name if modules[from].children.contains(name) => {}
        _ => return None,
    }
    let mut module = *by_path.get(&at[..])?;
    while let Some((segment, after)) = rest.split_first() {
        let this = &modules[module];
        if this.children.contains(segment) {
            at.push(segment.clone());
            module = *by_path.get(&at[..])?;
            rest = after;
        } else if this.defines.contains(segment) || hops == DEPTH_MAX {
            return Some(module);
        } else if let Some(target) = this.imports.get(segment) {
            let target: Vec<String> = target.iter().chain(after).cloned().collect();
            // Other crates count as defined here.
            let local = resolve(modules, by_path, module, 0, &target, hops + 1);
            return Some(local.unwrap_or(module));
        } else {
            let all = this.globs.iter().find_map(|glob| {
                let target: Vec<String> = glob.iter().chain(rest).cloned().collect();
                let found = resolve(modules, by_path, module, 0, &target, hops + 1)?;
                let defines = modules[found].defines.contains(segment);
                defines.then_some(found)
            });
            return Some(all.unwrap_or(module));
        }
    }
    Some(module)
}

/// Paths with the depth of inline modules.
#[derive(Default)]
struct Paths {
    depth: usize,
    found: Vec<(usize, Vec<String>)>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !files::is_test(files::attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !files::is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.depth += 1;
        visit::visit_item_mod(self, module);
        self.depth -= 1;
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        // Users of the name have the arrow.
        if !matches!(import.vis, syn::Visibility::Inherited) {
            return;
        }
        let (depth, found) = (self.depth, &mut self.found);
        files::flatten(&import.tree, &mut Vec::new(), &mut |path, _| {
            found.push((depth, path));
        });
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        let segments: Vec<String> = segments.collect();
        if segments.len() > 1 {
            self.found.push((self.depth, segments));
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        // Anything like a path in a macro counts.
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in flat(call.tokens.clone()) {
            match token {
                proc_macro2::TokenTree::Ident(ident) if colons == 2 || path.is_empty() => {
                    path.push(ident.to_string());
                    colons = 0;
                    continue;
                }
                proc_macro2::TokenTree::Punct(punct) if punct.as_char() == ':' && colons < 2 => {
                    colons += 1;
                    continue;
                }
                token => {
                    let found = std::mem::take(&mut path);
                    if found.len() > 1 {
                        self.found.push((self.depth, found));
                    }
                    if let proc_macro2::TokenTree::Ident(ident) = token {
                        path.push(ident.to_string());
                    }
                    colons = 0;
                }
            }
        }
        if path.len() > 1 {
            self.found.push((self.depth, path));
        }
        visit::visit_macro(self, call);
    }
}

fn flat(tokens: proc_macro2::TokenStream) -> Vec<proc_macro2::TokenTree> {
    let mut all = Vec::new();
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Group(group) => {
                all.extend(flat(group.stream()));
                // Ends a path.
                all.push(proc_macro2::Punct::new(',', proc_macro2::Spacing::Alone).into());
            }
            token => all.push(token),
        }
    }
    all
}
