// A layout of a graph without directions: distances on the paper as in the graph (stress majorisation), begun by
// classical scaling with a few pivots. Components stand side by side.

const PIVOTS = 40;
const STRESS_STEPS = 80;

function distancesFrom(start, neighbours) {
  const distance = new Float64Array(neighbours.length).fill(-1);
  distance[start] = 0;
  const queue = [start];
  for (let i = 0; i < queue.length; ++i) {
    for (const next of neighbours[queue[i]]) {
      if (distance[next] >= 0) continue;
      distance[next] = distance[queue[i]] + 1;
      queue.push(next);
    }
  }
  return distance;
}

function componentsOf(neighbours) {
  const component = new Array(neighbours.length).fill(-1);
  const list = [];
  for (let v = 0; v < neighbours.length; ++v) {
    if (component[v] >= 0) continue;
    const members = [v];
    component[v] = list.length;
    for (let i = 0; i < members.length; ++i) {
      for (const next of neighbours[members[i]]) {
        if (component[next] >= 0) continue;
        component[next] = list.length;
        members.push(next);
      }
    }
    list.push(members);
  }
  return list.sort((a, b) => b.length - a.length);
}

// The two main directions of the squared distances to pivots, each far from the ones before.
function pivotStart(distances, count) {
  const far = new Float64Array(count).fill(Infinity),
    pivots = [0];
  while (pivots.length < Math.min(PIVOTS, count)) {
    const last = distances[pivots[pivots.length - 1]];
    let next = 0;
    for (let v = 0; v < count; ++v) {
      far[v] = Math.min(far[v], last[v]);
      if (far[v] > far[next]) next = v;
    }
    pivots.push(next);
  }
  const rows = Array.from({length: count}, (_, v) => pivots.map((p) => -0.5 * distances[p][v] ** 2));
  const mean = pivots.map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / count);
  for (const row of rows) {
    row.forEach((_, j) => {
      row[j] -= mean[j];
    });
    const own = row.reduce((sum, value) => sum + value, 0) / row.length;
    row.forEach((_, j) => {
      row[j] -= own;
    });
  }
  const axes = [];
  for (let axis = 0; axis < 2; ++axis) {
    let w = pivots.map((_, j) => Math.sin(1.7 * j + 1 + axis));
    for (let step = 0; step < 60; ++step) {
      for (const other of axes) {
        const dot = other.reduce((sum, value, j) => sum + value * w[j], 0);
        w = w.map((value, j) => value - dot * other[j]);
      }
      const image = new Array(w.length).fill(0);
      for (const row of rows) {
        const dot = row.reduce((sum, value, j) => sum + value * w[j], 0);
        row.forEach((value, j) => {
          image[j] += dot * value;
        });
      }
      const norm = Math.hypot(...image) || 1;
      w = image.map((value) => value / norm);
    }
    axes.push(w);
  }
  const scale = Math.sqrt(Math.max(1, pivots.length));
  return rows.map((row, v) => {
    const [x, y] = axes.map((w) => row.reduce((sum, value, j) => sum + value * w[j], 0) / scale);
    return {x: x + 1e-3 * Math.sin(v), y: y + 1e-3 * Math.cos(1.3 * v)};
  });
}

function majorise(points, distances) {
  const count = points.length;
  for (let step = 0; step < STRESS_STEPS; ++step) {
    for (let v = 0; v < count; ++v) {
      let x = 0,
        y = 0,
        total = 0;
      for (let u = 0; u < count; ++u) {
        if (u === v) continue;
        const d = distances[v][u],
          weight = 1 / (d * d);
        const dx = points[v].x - points[u].x,
          dy = points[v].y - points[u].y;
        const pull = d / Math.max(1e-6, Math.hypot(dx, dy));
        x += weight * (points[u].x + pull * dx);
        y += weight * (points[u].y + pull * dy);
        total += weight;
      }
      if (total > 0) [points[v].x, points[v].y] = [x / total, y / total];
    }
  }
}

// Turned so that most edges are level or upright: a grid stands as a grid.
function straighten(points, pairs) {
  let best = 0,
    least = Infinity;
  for (let k = 0; k < 90; ++k) {
    const angle = (k / 180) * Math.PI;
    const cost = pairs.reduce(
      (sum, [a, b]) =>
        sum + Math.abs(Math.sin(2 * (Math.atan2(points[b].y - points[a].y, points[b].x - points[a].x) - angle))),
      0,
    );
    if (cost < least - 1e-9) [best, least] = [angle, cost];
  }
  const cos = Math.cos(best),
    sin = Math.sin(best);
  return points.map(({x, y}) => ({x: x * cos + y * sin, y: y * cos - x * sin}));
}

// How far a unit of the graph must be on the paper for boxes not to meet, within reason: a few may.
function unitOf(points, width, height) {
  const wanted = [];
  for (let v = 0; v < points.length; ++v) {
    let most = 0;
    for (let u = 0; u < points.length; ++u) {
      if (u === v) continue;
      const dx = Math.abs(points[u].x - points[v].x),
        dy = Math.abs(points[u].y - points[v].y);
      most = Math.max(most, Math.min(width / Math.max(dx, 1e-3), height / Math.max(dy, 1e-3)));
    }
    wanted.push(most);
  }
  wanted.sort((a, b) => a - b);
  return Math.min(wanted[Math.floor(0.95 * (wanted.length - 1))] || width, 1.6 * Math.max(width, height));
}

function stressLayout(sizes, edges) {
  const neighbours = sizes.map(() => []);
  for (const [a, b] of edges) {
    neighbours[a].push(b);
    neighbours[b].push(a);
  }
  const width = Math.max(...sizes.map((size) => size.width)) + 16;
  const height = Math.max(...sizes.map((size) => size.height)) + 16;
  const parts = componentsOf(neighbours).map((members) => {
    const place = new Map(members.map((v, i) => [v, i]));
    const inside = members.map((v) => neighbours[v].map((u) => place.get(u)));
    const distances = inside.map((_, i) => distancesFrom(i, inside));
    let points = members.length > 2 ? pivotStart(distances, members.length) : members.map((_, i) => ({x: i, y: 0}));
    majorise(points, distances);
    points = straighten(
      points,
      inside.flatMap((list, i) => list.filter((j) => i < j).map((j) => [i, j])),
    );
    const unit = unitOf(points, width, height);
    const left = Math.min(...points.map((p) => p.x)),
      top = Math.min(...points.map((p) => p.y));
    points = points.map((p) => ({x: (p.x - left) * unit + width / 2, y: (p.y - top) * unit + height / 2}));
    return {
      members,
      points,
      width: Math.max(...points.map((p) => p.x)) + width / 2,
      height: Math.max(...points.map((p) => p.y)) + height / 2,
    };
  });
  return placedParts(sizes.length, parts, edges);
}

// In lines, about as wide as the largest one or the square root of it all.
function placedParts(count, parts, edges) {
  const area = parts.reduce((sum, part) => sum + part.width * part.height, 0);
  const most = Math.max(1.4 * Math.sqrt(area), ...parts.map((part) => part.width));
  const centres = new Array(count);
  let x = 0,
    y = 0,
    line = 0,
    width = 0;
  for (const part of parts) {
    if (x > 0 && x + part.width > most) [x, y, line] = [0, y + line, 0];
    part.members.forEach((v, i) => {
      centres[v] = {x: x + part.points[i].x, y: y + part.points[i].y};
    });
    x += part.width;
    line = Math.max(line, part.height);
    width = Math.max(width, x);
  }
  return {
    centres,
    edges: edges.map(([from, to]) => ({from, to, points: [centres[from], centres[to]]})),
    width,
    height: y + line,
  };
}
