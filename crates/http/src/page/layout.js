// Places the boxes of a graph in rows, so that edges lead downwards: cycles are cut, rows are longest paths, and the order within rows
// follows the neighbours (Sugiyama's method). Edges over several rows get places of their own, so that they do not cross boxes.

const ROW = 84;
const GAP = 18;

// nodes: [{width}], edges: [[from, to]]. Returns {nodes: [{x, y}], edges: [[{x, y}...]], width, height}.
export function layout(nodes, edges) {
  const forward = acyclic(nodes.length, edges);
  const row = rows(nodes.length, forward);
  const places = nodes.map((node, at) => ({ width: node.width, row: row[at] }));
  const paths = forward.map(([from, to]) => {
    const path = [from];
    for (let r = row[from] + 1; r < row[to]; r++) {
      places.push({ width: 8, row: r });
      path.push(places.length - 1);
    }
    return [...path, to];
  });
  const links = paths.flatMap(path => path.slice(1).map((to, at) => [path[at], to]));
  const levels = order(places, links);
  const width = position(places, links, levels);
  const spot = at => ({ x: places[at].x, y: places[at].row * ROW });
  return {
    nodes: nodes.map((_, at) => spot(at)),
    edges: paths.map((path, at) => (edges[at][0] === path[0] ? path : path.toReversed()).map(spot)),
    width,
    height: levels.length * ROW,
  };
}

function acyclic(count, edges) {
  const next = Array.from({ length: count }, () => []);
  edges.forEach(([from, to], at) => next[from].push([to, at]));
  const state = new Uint8Array(count);
  const turned = new Set();
  const arrivals = new Uint32Array(count);
  edges.forEach(([, to]) => arrivals[to]++);
  const starts = [...Array(count).keys()].sort((a, b) => arrivals[a] - arrivals[b]);
  for (const start of starts) {
    if (state[start]) continue;
    const stack = [[start, 0]];
    state[start] = 1;
    while (stack.length) {
      const top = stack.at(-1);
      const edge = next[top[0]][top[1]++];
      if (!edge) { state[top[0]] = 2; stack.pop(); continue; }
      if (state[edge[0]] === 1) turned.add(edge[1]);
      else if (!state[edge[0]]) { state[edge[0]] = 1; stack.push([edge[0], 0]); }
    }
  }
  return edges.map(([from, to], at) => turned.has(at) ? [to, from] : [from, to]);
}

function rows(count, edges) {
  const row = new Uint32Array(count), waits = new Uint32Array(count);
  edges.forEach(([from, to]) => { if (from !== to) waits[to]++; });
  const ready = [...Array(count).keys()].filter(at => !waits[at]);
  while (ready.length) {
    const at = ready.pop();
    for (const [from, to] of edges) {
      if (from !== at || from === to) continue;
      row[to] = Math.max(row[to], row[at] + 1);
      if (!--waits[to]) ready.push(to);
    }
  }
  return row;
}

function order(places, links) {
  const levels = [];
  places.forEach((place, at) => (levels[place.row] ??= []).push(at));
  for (let r = 0; r < levels.length; r++) levels[r] ??= [];
  const above = places.map(() => []), below = places.map(() => []);
  links.forEach(([from, to]) => { below[from].push(to); above[to].push(from); });
  const rank = [];
  const number = level => level.forEach((at, place) => { rank[at] = place; });
  levels.forEach(number);
  for (let sweep = 0; sweep < 8; sweep++) {
    const near = sweep % 2 ? below : above;
    for (const level of sweep % 2 ? levels.toReversed() : levels) {
      const middle = at => near[at].length ? near[at].reduce((sum, other) => sum + rank[other], 0) / near[at].length : rank[at];
      const key = new Map(level.map(at => [at, middle(at)]));
      level.sort((a, b) => key.get(a) - key.get(b));
      number(level);
    }
  }
  return levels;
}

// Places boxes side by side, and draws them towards their neighbours as far as there is room.
function position(places, links, levels) {
  const near = places.map(() => []);
  links.forEach(([from, to]) => { near[from].push(to); near[to].push(from); });
  for (const level of levels) {
    let x = 0;
    for (const at of level) { places[at].x = x + places[at].width / 2; x += places[at].width + GAP; }
  }
  for (let sweep = 0; sweep < 24; sweep++) {
    for (const level of sweep % 2 ? levels.toReversed() : levels) {
      const wish = level.map(at => near[at].length ? near[at].reduce((sum, other) => sum + places[other].x, 0) / near[at].length : places[at].x);
      let least = -Infinity;
      level.forEach((at, n) => {
        places[at].x = Math.max(wish[n], least + places[at].width / 2);
        least = places[at].x + places[at].width / 2 + GAP;
      });
      // Who had no room went to the right; the row as a whole goes back by as much on average.
      const drift = level.reduce((sum, at, n) => sum + places[at].x - wish[n], 0) / Math.max(1, level.length);
      level.forEach(at => { places[at].x -= drift; });
    }
  }
  const left = Math.min(...places.map(place => place.x - place.width / 2));
  places.forEach(place => { place.x -= left; });
  return Math.max(...places.map(place => place.x + place.width / 2), 1);
}
