//! Filters around alternatives without parentheses: `repo:x a or b` is `repo:x (a or b)`.

use super::tree::{Tree, one_or};

pub(super) fn hoisted(node: Tree) -> Tree {
    let Tree::Any(alternatives) = node else {
        return node;
    };
    let last = alternatives.len() - 1;
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    for (index, part) in alternatives.iter().enumerate() {
        let mut parts = match part {
            Tree::All(parts) => parts.clone(),
            part => vec![part.clone()],
        };
        if index == 0 {
            let first = parts.iter().position(|part| !is_filter(part));
            outer.extend(parts.drain(..first.unwrap_or(0)));
        }
        if index == last {
            let end = parts.iter().rposition(|part| !is_filter(part));
            outer.extend(parts.drain(end.map_or(parts.len(), |end| end + 1)..));
        }
        if parts.iter().any(has_filter) {
            return Tree::Any(alternatives);
        }
        inner.extend(one_or(parts, Tree::All));
    }
    outer.extend(one_or(inner, Tree::Any));
    one_or(outer, Tree::All).unwrap_or(Tree::Any(alternatives))
}

fn is_filter(node: &Tree) -> bool {
    match node {
        Tree::Filter(..) | Tree::Repositories(..) => true,
        Tree::Pattern(_) => false,
        Tree::Not(inner) => is_filter(inner),
        Tree::All(parts) | Tree::Any(parts) => parts.iter().all(is_filter),
    }
}

fn has_filter(node: &Tree) -> bool {
    match node {
        Tree::Filter(..) | Tree::Repositories(..) => true,
        Tree::Pattern(_) => false,
        Tree::Not(inner) => has_filter(inner),
        Tree::All(parts) | Tree::Any(parts) => parts.iter().any(has_filter),
    }
}
