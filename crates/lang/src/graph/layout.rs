//! A layered layout: packets flow from top to bottom, one row for each distance from the sources.

/// A box of the drawing, or a point that an edge across several rows passes through.
#[derive(Debug, Clone, Default)]
pub(super) struct Vertex {
    pub(super) row: usize,
    /// Left edge and width, in pixels.
    pub(super) x: f64,
    pub(super) width: f64,
    above: Vec<usize>,
    below: Vec<usize>,
}

/// Where everything goes.
pub(super) struct Layout {
    /// Boxes first, then points.
    pub(super) vertices: Vec<Vertex>,
    /// For each edge the points that it passes through, from above.
    pub(super) paths: Vec<Vec<usize>>,
    pub(super) rows: usize,
    pub(super) width: f64,
}

/// Space between boxes.
const GAP: f64 = 24.0;
/// Points that all edges together may pass through; the others are drawn straight.
const MAX_POINTS: usize = 50_000;
/// How often rows are put in better order, down and up again.
const SWEEPS: usize = 4;

/// Lays out boxes of these widths, joined by edges from one to another.
pub(super) fn layout(widths: &[f64], edges: &[(usize, usize)]) -> Layout {
    let rows = rows(widths.len(), edges);
    let mut vertices: Vec<Vertex> =
        rows.iter().zip(widths).map(|(&row, &width)| Vertex { row, width, ..Vertex::default() }).collect();
    let paths = route(edges, &mut vertices);
    let count = rows.iter().max().map_or(0, |r| r + 1);
    let mut order: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (i, v) in vertices.iter().enumerate() {
        order[v.row].push(i);
    }
    place(&mut vertices, &order);
    for _ in 0..SWEEPS {
        sweep(&mut vertices, &mut order, |v| &v.above);
        sweep(&mut vertices, &mut order, |v| &v.below);
    }
    center(&mut vertices, &order);
    let width = vertices.iter().map(|v| v.x + v.width).fold(0.0, f64::max);
    Layout { vertices, paths, rows: count, width }
}

/// The row of each of `n` boxes: the longest way from a source, edges that close a cycle left out.
pub(super) fn rows(n: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut fed = vec![false; n];
    for &(from, to) in edges {
        next[from].push(to);
        fed[to] = true;
    }
    // Finishing times of a depth-first search, sources first, give an order without the back edges.
    let mut state = vec![0u8; n];
    let mut finished = Vec::with_capacity(n);
    let sources = (0..n).filter(|&i| !fed[i]).chain(0..n);
    for start in sources.collect::<Vec<_>>() {
        let mut stack = vec![(start, 0)];
        while let Some(&(v, k)) = stack.last() {
            if k == 0 {
                if state[v] != 0 {
                    stack.pop();
                    continue;
                }
                state[v] = 1;
            }
            let top = stack.len() - 1;
            stack[top].1 = k + 1;
            // Step k > 0 has visited neighbour k - 1; the neighbour is pushed only if it is new.
            match next[v].get(k) {
                Some(&w) if state[w] == 0 => stack.push((w, 0)),
                Some(_) => {}
                None => {
                    state[v] = 2;
                    finished.push(v);
                    stack.pop();
                }
            }
        }
    }
    let mut position = vec![0; n];
    for (i, &v) in finished.iter().rev().enumerate() {
        position[v] = i;
    }
    let mut rows = vec![0; n];
    for &v in finished.iter().rev() {
        for &w in next[v].iter().filter(|&&w| position[w] > position[v]) {
            rows[w] = rows[w].max(rows[v] + 1);
        }
    }
    rows
}

/// Adds a point for every row that an edge crosses.
fn route(edges: &[(usize, usize)], vertices: &mut Vec<Vertex>) -> Vec<Vec<usize>> {
    let boxes = vertices.len();
    let mut paths = Vec::new();
    for &(from, to) in edges {
        let (first, last) = (vertices[from].row + 1, vertices[to].row);
        let mut path = Vec::new();
        let mut before = from;
        if last > first && vertices.len() + (last - first) < boxes + MAX_POINTS {
            for row in first..last {
                let point = vertices.len();
                vertices.push(Vertex { row, width: 4.0, ..Vertex::default() });
                join(vertices, before, point);
                before = point;
                path.push(point);
            }
        }
        if last >= first {
            join(vertices, before, to);
        }
        paths.push(path);
    }
    paths
}

fn join(vertices: &mut [Vertex], above: usize, below: usize) {
    vertices[above].below.push(below);
    vertices[below].above.push(above);
}

fn middle(v: &Vertex) -> f64 {
    v.x + v.width / 2.0
}

/// Packs every row from the left.
fn place(vertices: &mut [Vertex], order: &[Vec<usize>]) {
    for row in order {
        let mut x = GAP;
        for &i in row {
            vertices[i].x = x;
            x += vertices[i].width + GAP;
        }
    }
}

/// Sorts every row by the average place of its neighbours.
fn sweep(vertices: &mut [Vertex], order: &mut [Vec<usize>], side: fn(&Vertex) -> &Vec<usize>) {
    for row in order.iter_mut() {
        let wish = |i: usize| average(vertices, side(&vertices[i])).unwrap_or_else(|| middle(&vertices[i]));
        let mut keyed: Vec<(f64, usize)> = row.iter().map(|&i| (wish(i), i)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        *row = keyed.into_iter().map(|(_, i)| i).collect();
        place(vertices, std::slice::from_ref(row));
    }
}

fn average(vertices: &[Vertex], neighbours: &[usize]) -> Option<f64> {
    let sum: f64 = neighbours.iter().map(|&i| middle(&vertices[i])).sum();
    (!neighbours.is_empty()).then(|| sum / neighbours.len() as f64)
}

/// Moves boxes right, towards the middle of what is above them, without changing their order.
fn center(vertices: &mut [Vertex], order: &[Vec<usize>]) {
    let width = vertices.iter().map(|v| v.x + v.width).fold(0.0, f64::max);
    for row in order {
        let mut right = width;
        let wishes: Vec<f64> = row
            .iter()
            .map(|&i| {
                let v = &vertices[i];
                average(vertices, &v.above).map_or(v.x, |m| m - v.width / 2.0)
            })
            .collect();
        // From the right, so that each box leaves room for those after it.
        for (&i, wish) in row.iter().zip(wishes).rev() {
            let v = &mut vertices[i];
            v.x = wish.min(right - v.width).max(v.x);
            right = v.x - GAP;
        }
    }
}
