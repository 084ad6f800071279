//! Cycles in a graph of numbered nodes.

/// Strongly connected components of several nodes, by Tarjan's algorithm.
pub(crate) fn circles(nodes: usize, arrows: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut search = Search {
        targets: vec![Vec::new(); nodes],
        index: vec![None; nodes],
        low: vec![0; nodes],
        on_stack: vec![false; nodes],
        stack: Vec::new(),
        next: 0,
        circles: Vec::new(),
    };
    for &(from, to) in arrows {
        search.targets[from].push(to);
    }
    for node in 0..nodes {
        if search.index[node].is_none() {
            search.visit(node);
        }
    }
    search.circles
}

struct Search {
    targets: Vec<Vec<usize>>,
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next: usize,
    circles: Vec<Vec<usize>>,
}

impl Search {
    fn visit(&mut self, node: usize) {
        self.index[node] = Some(self.next);
        self.low[node] = self.next;
        self.next += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
        for target in self.targets[node].clone() {
            match self.index[target] {
                None => {
                    self.visit(target);
                    self.low[node] = self.low[node].min(self.low[target]);
                }
                Some(index) if self.on_stack[target] => {
                    self.low[node] = self.low[node].min(index);
                }
                Some(_) => {}
            }
        }
        if Some(self.low[node]) == self.index[node] {
            let start = self.stack.iter().rposition(|&other| other == node);
            let mut circle = self.stack.split_off(start.expect("it was pushed above"));
            circle
                .iter()
                .for_each(|&member| self.on_stack[member] = false);
            circle.sort_unstable();
            if circle.len() > 1 {
                self.circles.push(circle);
            }
        }
    }
}
