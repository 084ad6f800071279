//! Filters around alternatives without parentheses: `repo:x a or b` is `repo:x (a or b)`.

use super::parser::{Node, one_or};

/// Applies filters before and after a list of alternatives to all of them.
pub(super) fn hoisted(node: Node) -> Node {
    let Node::Any(alternatives) = node else {
        return node;
    };
    let last = alternatives.len() - 1;
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    for (index, part) in alternatives.iter().enumerate() {
        let mut parts = match part {
            Node::All(parts) => parts.clone(),
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
            return Node::Any(alternatives);
        }
        inner.extend(one_or(parts, Node::All));
    }
    outer.extend(one_or(inner, Node::Any));
    one_or(outer, Node::All).unwrap_or(Node::Any(alternatives))
}

fn is_filter(node: &Node) -> bool {
    match node {
        Node::Filter(..) => true,
        Node::Pattern(_) => false,
        Node::Not(inner) => is_filter(inner),
        Node::All(parts) | Node::Any(parts) => parts.iter().all(is_filter),
    }
}

fn has_filter(node: &Node) -> bool {
    match node {
        Node::Filter(..) => true,
        Node::Pattern(_) => false,
        Node::Not(inner) => has_filter(inner),
        Node::All(parts) | Node::Any(parts) => parts.iter().any(has_filter),
    }
}
