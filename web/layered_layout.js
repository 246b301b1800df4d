// A layout of a directed graph without cycles: parents above children.
//
// Layers by the longest way from a root; edges over several layers get a bend in each of them; within a layer things
// are ordered by the means of their neighbours, in sweeps that keep the order with the fewest crossings; then each goes
// as near to its neighbours as the others in its layer allow.

const SWEEPS = 16;

// Least squares under x[i + 1] - x[i] >= gaps[i]: what stands too close becomes one block (pool adjacent violators).
function spread(wanted, gaps) {
  const blocks = [];
  let offset = 0;
  const offsets = wanted.map((_, i) => (offset += i > 0 ? gaps[i - 1] : 0));
  wanted.forEach((x, i) => {
    blocks.push({sum: x - offsets[i], count: 1});
    while (blocks.length > 1) {
      const last = blocks[blocks.length - 1],
        before = blocks[blocks.length - 2];
      if (before.sum / before.count <= last.sum / last.count) break;
      blocks.splice(-2, 2, {sum: before.sum + last.sum, count: before.count + last.count});
    }
  });
  const result = [];
  for (const block of blocks) {
    for (let k = 0; k < block.count; ++k) result.push(block.sum / block.count + offsets[result.length]);
  }
  return result;
}

// Edges [from, to] without those that would close a cycle.
function withoutCycles(count, edges) {
  const out = Array.from({length: count}, () => []);
  edges.forEach(([from, to], e) => out[from].push([to, e]));
  const state = new Uint8Array(count),
    kept = new Set();
  for (let root = 0; root < count; ++root) {
    if (state[root] !== 0) continue;
    const stack = [[root, 0]];
    state[root] = 1;
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      if (top[1] === out[top[0]].length) {
        state[top[0]] = 2;
        stack.pop();
        continue;
      }
      const [next, e] = out[top[0]][top[1]++];
      if (state[next] === 1) continue;
      kept.add(e);
      if (state[next] === 0) {
        state[next] = 1;
        stack.push([next, 0]);
      }
    }
  }
  return edges.filter((_, e) => kept.has(e));
}

function layersOf(count, edges) {
  const layer = new Array(count).fill(0),
    numParents = new Array(count).fill(0);
  const children = Array.from({length: count}, () => []);
  for (const [from, to] of edges) {
    children[from].push(to);
    ++numParents[to];
  }
  const open = [];
  for (let v = 0; v < count; ++v) if (numParents[v] === 0) open.push(v);
  const order = [];
  while (open.length > 0) {
    const v = open.shift();
    order.push(v);
    for (const child of children[v]) {
      layer[child] = Math.max(layer[child], layer[v] + 1);
      if (--numParents[child] === 0) open.push(child);
    }
  }
  // A root goes down to its first child.
  for (const v of order.reverse()) {
    const isRoot = !edges.some(([, to]) => to === v);
    if (isRoot && children[v].length > 0) layer[v] = Math.min(...children[v].map((child) => layer[child])) - 1;
  }
  return layer;
}

function numCrossings(rows, place, down) {
  let count = 0;
  for (const row of rows) {
    const ends = row.flatMap((v) => down[v].map((to) => place[to]).sort((a, b) => a - b));
    for (let i = 0; i < ends.length; ++i) for (let j = i + 1; j < ends.length; ++j) if (ends[i] > ends[j]) ++count;
  }
  return count;
}

function orderRows(rows, up, down) {
  const place = [];
  const number = () =>
    rows.forEach((row) =>
      row.forEach((v, i) => {
        place[v] = i;
      }),
    );
  number();
  let best = rows.map((row) => [...row]),
    fewest = numCrossings(rows, place, down);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; ++sweep) {
    const isDown = sweep % 2 === 0;
    for (let r = 0; r < rows.length; ++r) {
      const row = rows[isDown ? r : rows.length - 1 - r];
      const near = isDown ? up : down;
      const mean = new Map(
        row.map((v) => [
          v,
          near[v].length === 0 ? place[v] : near[v].reduce((sum, u) => sum + place[u], 0) / near[v].length,
        ]),
      );
      row.sort((a, b) => mean.get(a) - mean.get(b) || place[a] - place[b]);
      row.forEach((v, i) => {
        place[v] = i;
      });
    }
    const now = numCrossings(rows, place, down);
    if (now < fewest) [best, fewest] = [rows.map((row) => [...row]), now];
  }
  return best;
}

// sizes: [{width, height}] of the nodes. Returns centres, for each edge that is drawn {from, to, points}, and the size.
function layeredLayout(sizes, allEdges) {
  const count = sizes.length;
  const edges = withoutCycles(count, allEdges);
  const layer = layersOf(count, edges);
  const rows = Array.from({length: Math.max(0, ...layer) + 1}, () => []);
  for (let v = 0; v < count; ++v) rows[layer[v]].push(v);
  const up = sizes.map(() => []),
    down = sizes.map(() => []);
  const link = (from, to) => {
    down[from].push(to);
    up[to].push(from);
  };
  const widths = sizes.map((size) => size.width);
  const routes = edges.map(([from, to]) => {
    const route = [from];
    for (let r = layer[from] + 1; r < layer[to]; ++r) {
      const bend = widths.length;
      widths.push(8);
      up.push([]);
      down.push([]);
      rows[r].push(bend);
      link(route[route.length - 1], bend);
      route.push(bend);
    }
    link(route[route.length - 1], to);
    route.push(to);
    return route;
  });
  const ordered = orderRows(rows, up, down);
  const x = new Array(widths.length).fill(0);
  const gaps = ordered.map((row) => row.slice(1).map((v, i) => (widths[v] + widths[row[i]]) / 2 + 18));
  ordered.forEach((row, r) =>
    spread(
      row.map(() => 0),
      gaps[r],
    ).forEach((at, i) => {
      x[row[i]] = at;
    }),
  );
  for (let pass = 0; pass < 24; ++pass) {
    for (let r = 0; r < ordered.length; ++r) {
      const index = pass % 2 === 0 ? r : ordered.length - 1 - r;
      const row = ordered[index];
      const wanted = row.map((v) => {
        const near = [...up[v], ...down[v]];
        return near.length === 0 ? x[v] : near.reduce((sum, u) => sum + x[u], 0) / near.length;
      });
      spread(wanted, gaps[index]).forEach((at, i) => {
        x[row[i]] = at;
      });
    }
  }
  return placedRows(sizes, ordered, x, widths, routes);
}

function placedRows(sizes, rows, x, widths, routes) {
  const left = Math.min(...x.map((at, v) => at - widths[v] / 2));
  const right = Math.max(...x.map((at, v) => at + widths[v] / 2));
  const y = [];
  let top = 0;
  for (const row of rows) {
    const height = Math.max(0, ...row.map((v) => (v < sizes.length ? sizes[v].height : 0)));
    for (const v of row) y[v] = top + height / 2;
    top += height + 46;
  }
  const at = (v) => ({x: x[v] - left, y: y[v]});
  return {
    centres: sizes.map((_, v) => at(v)),
    edges: routes.map((route) => ({from: route[0], to: route[route.length - 1], points: route.map(at)})),
    width: right - left,
    height: Math.max(0, top - 46),
  };
}
